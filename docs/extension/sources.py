# SPDX-License-Identifier: BSL-1.0
"""Parts of the project's own sources, as they stand there.

    ```{lines} include/attest/formula/softmax.hpp
    :docs:
    constexpr auto softmax(const X& x, const Visible& visible
    ```
        the definition whose first line holds that text (each line of the content names one), up to the brace that closes it; with :docs: from its comment on.

    ```{part} proofs/softmax.cpp shift
    ```
        what stands between the markers `// [shift]` and `// [/shift]` (`# [shift]` in Python and shell).

    ```{proof} A047
    ```
        where the claim is settled, found through the ledger: the part that is marked with its id, or else its `settle(…)` with the comment above.

A text or marker that is not there exactly once, or a file that is missing, is an error of the page.
"""

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

OPENING, CLOSING = "({[", ")}]"


def root_of(env):
    return Path(env.app.config.attest_root)


class NotFound(Exception):
    """What a page asks for is not there; the message says what and where."""


def read_source(env, path):
    file = root_of(env) / path
    if not file.is_file():
        raise NotFound(f"there is no file {path}")
    env.note_dependency(str(file))
    return file.read_text(encoding="utf-8").splitlines()


def without_strings(line):
    """Brackets in strings, characters and comments do not count."""
    return re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", line)


def end_of_definition(lines, first):
    """The line at which the brackets that open on line `first` are closed and a `;` or `}` ends the definition."""
    depth = 0
    for index in range(first, len(lines)):
        code = without_strings(lines[index])
        depth += sum(code.count(c) for c in OPENING) - sum(code.count(c) for c in CLOSING)
        if depth == 0 and code.rstrip().endswith((";", "}")):
            return index
    raise NotFound("its brackets are not closed")


def begin_of_definition(lines, index):
    """Up over `template`, `requires` and attributes, which belong to the line below."""
    while index > 0 and re.match(r"\s*(template\b|requires\b|\[\[|friend\b)", lines[index - 1]):
        index -= 1
    return index


def begin_of_comment(lines, index):
    while index > 0 and lines[index - 1].lstrip().startswith("//") and not lines[index - 1].lstrip().startswith("// ["):
        index -= 1
    return index


def definition(lines, text, docs, path):
    found = [i for i, line in enumerate(lines) if text in line and not line.lstrip().startswith("//")]
    if len(found) != 1:
        raise NotFound(f"{path} has {len(found)} lines with the text {text!r}; one was expected")
    first = begin_of_definition(lines, found[0])
    last = end_of_definition(lines, found[0])
    if docs:
        first = begin_of_comment(lines, first)
    return first, last


def part(lines, name, path):
    mark = "#" if path.endswith((".py", ".sh", ".txt", ".yml")) else "//"
    opening, closing = f"{mark} [{name}]", f"{mark} [/{name}]"
    at = [i for i, line in enumerate(lines) if line.strip() == opening]
    until = [i for i, line in enumerate(lines) if line.strip() == closing]
    if len(at) != 1 or len(until) != 1 or until[0] <= at[0] + 1:
        raise NotFound(f"{path} has no part between {opening} and {closing}")
    return at[0] + 1, until[0] - 1


def settled_at(env, claim):
    """Lines of the proof of a claim: its marked part, or its settle()."""
    path = claim["source"].rsplit(":", 1)[0]
    lines = read_source(env, path)
    try:
        return (path, lines, *part(lines, claim["id"], path))
    except NotFound:
        pass
    quoted = f'"{claim["id"]}"'
    found = [i for i, line in enumerate(lines) if f"settle({quoted}" in line or (line.rstrip().endswith("settle(") and lines[i + 1].lstrip().startswith(quoted))]
    if len(found) != 1:
        raise NotFound(f"{path} has no settle(\"{claim['id']}\", …)")
    first = found[0]
    while first > 0 and not lines[first].lstrip().startswith(("const entry", "constexpr entry", "static const entry")) and lines[first - 1].strip():
        first -= 1
    return path, lines, begin_of_comment(lines, first), end_of_definition(lines, found[0])


def dedent(lines):
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


def shown(directive, path, text, first, language="cpp"):
    """The code below a line that says where it stands."""
    block = nodes.literal_block(text, text, language=language)
    caption = nodes.caption("", "", nodes.literal("", f"{path}:{first + 1}"))
    box = nodes.container("", caption, block, literal_block=True, classes=["literal-block-wrapper", "source-lines"])
    directive.set_source_info(block)
    return box


class Lines(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec = {"docs": directives.flag}

    def run(self):
        path = self.arguments[0]
        try:
            lines = read_source(self.env, path)
            spans = [definition(lines, text.strip(), "docs" in self.options, path) for text in self.content if text.strip()]
            if not spans:
                raise NotFound("its content names no line")
        except NotFound as error:
            raise self.error(str(error))
        return [shown(self, path, "\n\n".join(dedent(lines[a : b + 1]) for a, b in spans), spans[0][0])]


class Part(SphinxDirective):
    required_arguments = 2

    def run(self):
        path, name = self.arguments
        try:
            lines = read_source(self.env, path)
            first, last = part(lines, name, path)
        except NotFound as error:
            raise self.error(str(error))
        language = {".py": "python", ".sh": "sh", ".c": "c", ".txt": "text", ".json": "json"}.get(Path(path).suffix, "cpp")
        return [shown(self, path, dedent(lines[first : last + 1]), first, language)]


class Proof(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        result = []
        for name in self.arguments[0].split():
            claim = self.env.app.attest_ledger.get(name)
            if claim is None:
                raise self.error(f"there is no claim {name}")
            try:
                path, lines, first, last = settled_at(self.env, claim)
            except NotFound as error:
                raise self.error(str(error))
            result.append(shown(self, path, dedent(lines[first : last + 1]), first))
        return result


class Answer(SphinxDirective):
    """The answer of an exercise: what its content says, and the part `exercise N` of tests/docs/exercises/PAGE.cpp, which the tests compile and run.

    An answer without code that a test runs names why:  :by: the words above say all
    """

    required_arguments = 1
    has_content = True
    option_spec = {"by": directives.unchanged_required}

    def run(self):
        details = nodes.container(classes=["answer"])
        details += nodes.raw("", "<details><summary>Answer</summary>", format="html")
        self.state.nested_parse(self.content, self.content_offset, details)
        if "by" not in self.options:
            path = f"tests/docs/exercises/{self.env.docname.rsplit('/', 1)[-1]}.cpp"
            try:
                lines = read_source(self.env, path)
                first, last = part(lines, f"exercise {self.arguments[0]}", path)
            except NotFound as error:
                raise self.error(str(error))
            details += shown(self, path, dedent(lines[first : last + 1]), first)
        details += nodes.raw("", "</details>", format="html")
        return [details]


def file_of_the_project(app, env, node, content):
    """A link to a page that is none of the docs, such as tests/dumps/README.md, is told by its name."""
    target = node.get("reftarget", "")
    path = Path(app.srcdir, env.docname, "..", target).resolve() if target else None
    if path is None or not path.exists() or root_of(env).resolve() not in path.parents:
        return None
    return nodes.literal("", str(path.relative_to(root_of(env).resolve())))


def setup(app):
    app.add_config_value("attest_root", "", "env")
    app.connect("missing-reference", file_of_the_project)
    for name, directive in (("lines", Lines), ("part", Part), ("proof", Proof), ("answer", Answer)):
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
