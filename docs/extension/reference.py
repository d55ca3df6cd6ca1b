# SPDX-License-Identifier: BSL-1.0
"""The reference: every public name of a room of headers, with its declaration and comment as they stand in the source.

    ```{reference} formula
    ```
        a section for each header of include/attest/formula, in it an entry for each name that is not in a namespace `detail`.

Doxygen tells which names there are and where; what is shown is read from the headers. Files NAME-inl.hpp are no headers of their own and are left out.
"""

import html
import re
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from sources import CLOSING, OPENING, end_of_definition, read_source, root_of, without_strings

SETTINGS = """
INPUT = {root}/include/attest
EXCLUDE_PATTERNS = *-inl.hpp
EXCLUDE_SYMBOLS = detail detail::* *::detail *::detail::*
RECURSIVE = YES
FILE_PATTERNS = *.hpp
OUTPUT_DIRECTORY = {output}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
QUIET = YES
WARNINGS = NO
"""

# Kinds of members; what is not here (defines, friends that only befriend) has no entry.
KINDS = {"function", "variable", "typedef", "enum", "concept"}
CLASSES = {"class", "struct", "union", "concept"}


class Name:
    """A public name: where it is declared, and the names that are members of it."""

    def __init__(self, kind, name, file, line):
        self.kind, self.name, self.file, self.line = kind, name, file, line
        self.members = []


def read_names(app):
    """By header: its public names in the order of the file."""
    root = str(root_of(app.env))
    with tempfile.TemporaryDirectory() as output:
        settings = Path(output, "Doxyfile")
        settings.write_text(SETTINGS.format(root=root, output=output), encoding="utf-8")
        done = subprocess.run([app.config.doxygen_program, str(settings)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise ExtensionError(f"doxygen failed: {done.stdout}")
        found = {}
        for file in sorted(Path(output, "xml").glob("*.xml")):
            for compound in ElementTree.parse(file).getroot().iter("compounddef"):
                read_compound(compound, found)
    by_header = {}
    for name in found.values():
        by_header.setdefault(name.file.removeprefix(root + "/"), []).append(name)
    for names in by_header.values():
        names.sort(key=lambda name: name.line)
        nest(names)
    return by_header


def is_public(qualified):
    return qualified.startswith("attest::") and "detail" not in qualified.split("::") and "@" not in qualified


def read_compound(compound, found):
    kind, scope = compound.get("kind"), compound.findtext("compoundname")
    if kind in CLASSES and is_public(scope) and compound.get("prot", "public") == "public":
        add(found, kind, re.sub(r"^attest::", "", scope), compound.find("location"))
    if kind not in {"namespace", "class", "struct"} or not is_public(scope + "::"):
        return
    for member in compound.iter("memberdef"):
        if member.get("kind") in KINDS and member.get("prot") == "public" and "@" not in member.findtext("name"):
            qualified = f"{scope}::{member.findtext('name')}"
            add(found, member.get("kind"), re.sub(r"^attest::", "", qualified), member.find("location"))


def add(found, kind, name, location):
    if location is None or not location.get("file").endswith(".hpp"):
        return
    key = (location.get("file"), int(location.get("line")), name)
    found.setdefault(key, Name(kind, name, *key[:2]))


def nest(names):
    """Members go below their class."""
    classes = {name.name: name for name in names if name.kind in CLASSES}
    for name in list(names):
        parent = classes.get(name.name.rsplit("::", 1)[0]) if "::" in name.name else None
        if parent is not None and parent is not name:
            parent.members.append(name)
            names.remove(name)


def declaration_of(lines, line):
    """The lines of a declaration, without what it is defined by, and its comment."""
    first = line - 1
    while first > 0:
        above = lines[first - 1].strip()
        if not above.startswith(("//", "#")):
            above = without_strings(above).strip()  # a comment may stand behind its `;`
        if not above or above.startswith(("//", "#")) or above.endswith((";", "}", "{", ":")):
            break
        first -= 1
    comment = first
    while comment > 0 and lines[comment - 1].lstrip().startswith("///"):
        comment -= 1
    margin = len(lines[first]) - len(lines[first].lstrip())
    text, depth = [], 0
    for index in range(first, min(first + 20, len(lines))):
        code = without_strings(lines[index])
        cut = None
        for at, character in enumerate(code):
            # Not what it is defined by: a body, the initialisers of a constructor, and where it is a variable its value.
            starts_initialisers = character == ":" and ")" in code[:at] + "".join(text) and code[at - 1 : at] != ":" and code[at + 1 : at + 2] != ":"
            if depth == 0 and (character in "{;" or starts_initialisers):
                cut = at
                break
            depth += character in OPENING
            depth -= character in CLOSING
        if cut is not None:
            text.append(lines[index][margin : cut if code == lines[index] or cut <= len(code) else None].rstrip())
            break
        text.append(lines[index][margin:].rstrip())
    comment_lines = [re.sub(r"^\s*/// ?", "", part) for part in lines[comment:first]]
    after = re.search(r"///< ?(.*)", lines[line - 1])
    if after:
        comment_lines.append(after[1])
    return "\n".join(part for part in text if part.strip()), comment_lines


def inline(text):
    """Text with `code` and *emphasis* in it."""
    result = []
    for part in re.split(r"(`[^`]+`|(?<![\w*])\*[a-zA-Z][^*`]*\*(?![\w*]))", text):
        if len(part) > 2 and part[0] == part[-1] == "`":
            result.append(nodes.literal("", part[1:-1]))
        elif len(part) > 2 and part[0] == part[-1] == "*":
            result.append(nodes.emphasis("", part[1:-1]))
        elif part:
            result.append(nodes.Text(part))
    return result


def description(lines):
    """Our comments: paragraphs, lists of `- `, blocks between ``` and blocks that are indented."""
    result, paragraph, items = [], [], None

    def flush():
        nonlocal paragraph, items
        if paragraph:
            result.append(nodes.paragraph("", "", *inline(" ".join(paragraph))))
        if items:
            result.append(nodes.bullet_list("", *(nodes.list_item("", nodes.paragraph("", "", *inline(" ".join(item)))) for item in items)))
        paragraph, items = [], None

    index = 0
    while index < len(lines):
        line = lines[index]
        if line.startswith("```"):
            flush()
            end = next((i for i in range(index + 1, len(lines)) if lines[i].startswith("```")), len(lines))
            text = "\n".join(lines[index + 1 : end])
            result.append(nodes.literal_block(text, text, language="cpp", force=True))
            index = end
        elif not line.strip():
            flush()
        elif re.match(r"\s{4}", line) and not paragraph and not items:
            block = [line]
            while index + 1 < len(lines) and re.match(r"\s{4}", lines[index + 1]):
                index += 1
                block.append(lines[index])
            text = "\n".join(part[4:] for part in block)
            result.append(nodes.literal_block(text, text, language="text"))
        elif line.startswith("|"):
            flush()
            block = [line]
            while index + 1 < len(lines) and lines[index + 1].startswith("|"):
                index += 1
                block.append(lines[index])
            text = "\n".join(part for part in block if not re.fullmatch(r"[|: -]+", part))
            result.append(nodes.literal_block(text, text, language="text"))
        elif line.lstrip().startswith("- "):
            if items is None:
                flush()
                items = []
            items.append([line.lstrip()[2:]])
        elif items is not None:
            items[-1].append(line.strip())
        else:
            paragraph.append(line.strip())
        index += 1
    flush()
    return result


def head_of(lines):
    """The comment of the file, after `/// \\file`."""
    at = next((i for i, line in enumerate(lines) if line.strip() == "/// \\file"), None)
    if at is None:
        return []
    end = at + 1
    while end < len(lines) and lines[end].startswith("///"):
        end += 1
    return [re.sub(r"^/// ?", "", line) for line in lines[at + 1 : end]]


class Reference(SphinxDirective):
    required_arguments = 1

    def run(self):
        app = self.env.app
        if not hasattr(app, "attest_names"):
            app.attest_names = read_names(app)
        room = self.arguments[0]
        headers = [header for header in sorted(app.attest_names) if header.split("/")[2] == room]
        if not headers:
            raise self.error(f"include/attest/{room} has no public name")
        return [self.header(header) for header in headers]

    def header(self, header):
        lines = read_source(self.env, header)
        title = header.removeprefix("include/")
        section = nodes.section(ids=[re.sub(r"[^a-z0-9]+", "-", title.lower())], names=[title])
        section += nodes.title("", "", nodes.literal("", f"<{title}>"))
        section += description(head_of(lines))
        for name in self.env.app.attest_names[header]:
            section += self.entry(name, lines)
        return section

    def entry(self, name, lines):
        declaration, comment = declaration_of(lines, name.line)
        made = re.match(r"\s*ATTEST_RULE\w*\((\w+),", lines[name.line - 1])
        if made:  # a rule of shapes, which a macro defines: its sentence is what one looks for
            name.name = f"rules::{made[1]}"
            declaration = "\n".join(line.strip() for line in lines[name.line - 1 : end_of_definition(lines, name.line - 1) + 1])
        if name.kind == "enum":  # its values are what one looks for
            declaration = "\n".join(lines[name.line - 1 : end_of_definition(lines, name.line - 1) + 1])
        box = nodes.container(classes=["api-entry"])
        anchor = re.sub(r"[^A-Za-z0-9_]+", "-", f"{name.name}-{name.line}")
        box += nodes.raw("", f'<p class="api-name" id="{anchor}"><code>{html.escape(name.name)}</code> <span>{name.kind}</span></p>', format="html")
        block = nodes.literal_block(declaration, declaration, language="cpp", force=True)  # half a definition need not be C++
        self.set_source_info(block)
        box += block
        box += description(comment)
        for member in name.members:
            box += self.entry(member, lines)
        return box


def setup(app):
    app.add_config_value("doxygen_program", "doxygen", "env")
    app.add_directive("reference", Reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
