// SPDX-License-Identifier: BSL-1.0
// Formulas to HTML and MathML: node katex_server.js KATEX.js. One JSON object a line comes in, {"tex": …, "display": …}, and one goes out, {"html": …} or {"error": …}.
"use strict";

const katex = require(process.argv[2]);
const lines = require("readline").createInterface({ input: process.stdin });

lines.on("line", (line) => {
    const { tex, display } = JSON.parse(line);
    let answer;
    try {
        // strict: what KaTeX would let pass with a warning on a console that nobody reads is an error of the page.
        answer = { html: katex.renderToString(tex, { displayMode: display, throwOnError: true, strict: "error", output: "htmlAndMathml" }) };
    } catch (error) {
        answer = { error: error.message };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
});
