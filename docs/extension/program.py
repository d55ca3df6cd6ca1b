# SPDX-License-Identifier: BSL-1.0
"""What the program says, asked while the pages are built.

    ```{attest} check tests/dumps/wrong-no-scale-f32.npz
    :status: 1
    ```
        its output as text. :status: is the exit status that is expected (0 unless said); another one is an error of the page. :from: and :to: show
        only the lines from the first that holds the one text to the first after it that holds the other.

    ```{worked} trace --op attention --q "1 0; 0 1" …
    ```
        its output with --format markdown, as part of the page.

    {value}`A047`
        the numbers of a claim, in the text.
"""

import os
import re
import shlex
import subprocess

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sources import root_of


def ask(env_or_app, arguments, status=0):
    """Standard output and error of `attest ARGUMENTS`, run in the project's root; ValueError if the exit status is another one."""
    config = env_or_app.config
    asked = [config.attest_program, *arguments]
    done = subprocess.run(
        asked,
        cwd=config.attest_root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"},
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    if done.returncode != status:
        raise ValueError(f"attest {shlex.join(arguments)}: exit status {done.returncode}, expected {status}: {done.stdout.strip()}")
    return done.stdout


def kept(text):
    """Without the line of seconds, which differs from run to run, and the one of the build."""
    lines = [line for line in text.splitlines() if " s for the exact values, " not in line and "compiled with this program" not in line]
    return "\n".join(lines).rstrip("\n")


def excerpt(text, start, end):
    lines = text.splitlines()
    if start is not None:
        at = next((i for i, line in enumerate(lines) if start in line), None)
        if at is None:
            raise ValueError(f"no line of the output holds {start!r}")
        lines = lines[at:]
    if end is not None:
        at = next((i for i, line in enumerate(lines) if end in line), None)
        if at is None:
            raise ValueError(f"no line of the output holds {end!r}")
        lines = lines[: at + 1]
    return "\n".join(lines)


class Attest(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"status": directives.nonnegative_int, "from": directives.unchanged_required, "to": directives.unchanged_required}

    def run(self):
        arguments = self.arguments[0].replace("\n", " ")
        try:
            output = kept(ask(self.env.app, shlex.split(arguments), self.options.get("status", 0)))
            output = excerpt(output, self.options.get("from"), self.options.get("to"))
        except ValueError as error:
            raise self.error(str(error))
        text = f"$ attest {arguments}\n{output}"
        block = nodes.literal_block(text, text, language="text", classes=["attest-output"])
        self.set_source_info(block)
        return [block]


def with_matrices(text):
    """Tables of matrices, which any reader of Markdown shows, as matrices."""

    def matrix(match):
        name, size, rounded = match[1], match[2].replace("×", r" \times "), bool(match[3])
        rows = [[cell.strip().strip("$") for cell in row.strip("| ").split("|")[1:]] for row in match[4].strip().splitlines()]
        inside = r" \\ ".join(" & ".join(row) for row in rows)
        return f"$$\n{name} {chr(92) + 'approx' if rounded else '='} \\begin{{pmatrix}} {inside} \\end{{pmatrix}} \\qquad {size}\n$$\n"

    return re.sub(r"^\$([^$\n]+)\$ is (\d+×\d+)(, rounded \(≈\))?:\n\n\|   \|.*\n\|---\|.*\n((?:\|.*\n?)+)", matrix, text, flags=re.MULTILINE)


class Worked(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        arguments = self.arguments[0].replace("\n", " ")
        try:
            output = ask(self.env.app, [*shlex.split(arguments), "--format", "markdown"])
        except ValueError as error:
            raise self.error(str(error))
        box = nodes.container(classes=["worked"])
        text = f"$ attest {arguments}"
        box += nodes.literal_block(text, text, language="text", classes=["attest-output"])
        # Its headings are none of the page's.
        lines = [f"**{line.lstrip('#').strip()}**" if line.startswith("#") else line for line in with_matrices(output).splitlines()]
        self.state.nested_parse(lines, self.content_offset, box, match_titles=False)
        return [box]


class Value(SphinxRole):
    def run(self):
        claim = self.env.app.attest_ledger.get(self.text)
        if claim is None or claim["value"] is None:
            message = self.inliner.reporter.error(f"there is no value of a claim {self.text!r}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        return [nodes.inline("", claim["value"], classes=["value"])], []


def setup(app):
    app.add_config_value("attest_program", "", "env")
    app.add_directive("attest", Attest)
    app.add_directive("worked", Worked)
    app.add_role("value", Value())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
