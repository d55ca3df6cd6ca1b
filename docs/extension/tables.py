# SPDX-License-Identifier: BSL-1.0
"""Tables of what was measured.

    ```{dumps} tests/dumps/expected.txt
    ```
        the shipped dumps that are right: for each what the program says of its outputs, asked now. `:folded:` hides it until it is asked for.

    ```{speed} docs/speed.json double certified
    ```
        figures that tests/bench/peers.py --json wrote: some of its sections, a table for each.
"""

import html
import json
import shlex
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

import program
from sources import root_of


def table(columns, rows, numbers_from=1):
    """HTML of a table; columns from the given one on are numbers."""
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    lines = []
    for first, *others in rows:
        cells = "".join(f'<td{" class=number" if i + 1 >= numbers_from else ""}>{html.escape(str(cell))}</td>' for i, cell in enumerate(others))
        lines.append(f'<tr><th scope="row">{html.escape(str(first))}</th>{cells}</tr>')
    return nodes.raw(
        "", f'<div class="table-wrapper docutils container"><table class="docutils figures"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>', format="html"
    )


def of_three(x):
    """Three significant digits, a number from JSON or the text of one that is not finite."""
    if isinstance(x, str) or x is None:
        return x or "–"
    return f"{x:.3g}" if x < 1e5 else f"{x:.2e}"


class Dumps(SphinxDirective):
    required_arguments = 1
    option_spec = {"folded": directives.flag}

    def run(self):
        expected = root_of(self.env) / self.arguments[0]
        self.env.note_dependency(str(expected))
        folder = Path(self.arguments[0]).parent
        rows = []
        for line in expected.read_text(encoding="utf-8").splitlines():
            words = shlex.split(line, comments=True)
            if len(words) < 2 or words[1] != "right" or words[0].startswith("wrong-"):
                continue
            try:
                report = json.loads(program.ask(self.env.app, ["check", str(folder / words[0]), *words[2:], "--json"]))
            except ValueError as error:
                raise self.error(str(error))
            for output in report["outputs"]:
                if output["elements"] == 0:
                    continue
                rows.append(
                    (
                        f"{words[0].rsplit('.', 1)[0]}: {output['name']}",
                        output["arithmetic"],
                        output["elements"],
                        f"{100 * output['exact'] / output['elements']:.1f} %",
                        of_three(output["rms_ulp"]),
                        of_three(output["max_ulp"]),
                        "–" if output["limit_share"] is None else f"{100 * output['limit_share']:.1f} %",
                        output["verdict"],
                    )
                )
        columns = ("Output", "Arithmetic", "Elements", "Correctly rounded", "rms, ULP", "Greatest, ULP", "Of its certain limit", "Verdict")
        if "folded" in self.options:
            opening, closing = f"<details><summary>{len(rows)} outputs</summary>", "</details>"
            return [nodes.raw("", opening, format="html"), table(columns, rows), nodes.raw("", closing, format="html")]
        return [table(columns, rows)]


def milliseconds(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-4 else f"{1e9 * seconds:.0f} ns"


def ratio(x):
    return "–" if x is None else f"{x:.2f}" if x < 100 else f"{x:.0f}"


# By section of peers.py: the columns, and what of an entry stands in each.
SPEED = {
    "double": (("Attention in double", "Time", "Of NumPy's", "Of the peak's"), lambda e: (e["name"], milliseconds(e["seconds"]), ratio(e["of NumPy"]), ratio(e["of peak"]))),
    "certified": (
        ("Certified", "Time", "Of the double path's", "Settled in double", "in double-double"),
        lambda e: (e["name"], milliseconds(e["seconds"]), ratio(e["of double"]), *((f"{100 * e['settled'][i]:.2f} %" for i in (1, 2)) if e["settled"] else ("–", "–"))),
    ),
    "slow": (("The same values by", "Time", "Of certified f64's"), lambda e: (e["name"], milliseconds(e["seconds"]), ratio(e["of certified"]))),
    "fixed": (("n = d", "attest", "Eigen", "Of Eigen's"), lambda e: (e["n = d"], milliseconds(e["seconds"]), milliseconds(e["Eigen"]), ratio(e["of Eigen"]))),
}


class Speed(SphinxDirective):
    required_arguments = 1
    optional_arguments = 8

    def run(self):
        file = root_of(self.env) / self.arguments[0]
        self.env.note_dependency(str(file))
        figures = json.loads(file.read_text(encoding="utf-8"))
        load = max(figures["load before"][0], figures["load after"][0])
        said = f"{figures['header']}; n = {figures['n']}, d = {figures['d']}; load average at most {load:.1f} before and after."
        result = [nodes.paragraph("", said)]
        for section in self.arguments[1:]:
            if section not in SPEED or section not in figures:
                raise self.error(f"{self.arguments[0]} has no section {section}, or it has no table here")
            columns, row = SPEED[section]
            result.append(table(columns, [row(entry) for entry in figures[section]]))
        return result


def setup(app):
    app.add_directive("dumps", Dumps)
    app.add_directive("speed", Speed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
