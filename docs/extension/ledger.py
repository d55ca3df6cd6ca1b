# SPDX-License-Identifier: BSL-1.0
"""The ledger of claims, `attest claims --json`, on the pages.

    ```{claims} A046-A049 E003
    ```
        a table of those claims: id, what the lecture says, whether that is right.

    ```{ledger}
    ```
        all of them, with filters (static/filter.js) and, folded, all that is known of each. The page that links of claims lead to.

    ```{errata} A
    ```
        those of a lecture whose text is wrong or imprecise, with the correction and the proof.

    {claim}`A047`   {claims-of}`wrong`
        a link to a claim; how many claims have that text or status.

What is held: a page in lectures/ names each claim of its document once, in order; every claim stands on another page as well, but for those that no program can check.
"""

import html
import json
import re

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

import program
import sources

logger = logging.getLogger(__name__)

LEDGER_PAGE = "ledger"
LECTURES = "lectures/"

# A table of more rows is folded, but beside the lectures.
LONG = 10

# A word and a sign: the verdict is told apart without its colour.
SIGNS = {"correct": "✓", "imprecise": "≈", "wrong": "✗", "not checkable": "–"}


def load(app):
    app.attest_ledger = {claim["id"]: claim for claim in json.loads(program.ask(app, ["claims", "--json"]))}


def expand(ledger, text):
    """Ids, and ranges of ids of one document: "A046-A049 E003"."""
    ids = []
    for word in text.split():
        match = re.fullmatch(r"([A-Z])(\d{3})(?:-([A-Z])(\d{3}))?", word)
        if not match or (match[3] and match[3] != match[1]):
            raise ValueError(f"{word!r} is neither an id, such as A047, nor a range, such as A046-A049")
        last = int(match[4] or match[2])
        ids += [f"{match[1]}{number:03}" for number in range(int(match[2]), last + 1)]
    unknown = [name for name in ids if name not in ledger]
    if unknown:
        raise ValueError(f"there is no claim {unknown[0]}")
    return ids


def in_html(text):
    """A text of the ledger, with `code` in it."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def sentence_case(text):
    """A capital for a word, not for a symbol such as α_11 or z_1."""
    word = text.split()[0].rstrip(",:")
    return text[0].upper() + text[1:] if re.fullmatch(r"[a-z]{3,}", word) else text


def verdict_html(claim):
    word = claim["text"]
    return f'<span class="verdict {word.replace(" ", "-")}"><span aria-hidden="true">{SIGNS[word]}</span> {word}</span>'


def link_to(name, root):
    return f'<a class="claim" href="{root}{LEDGER_PAGE}.html#{name}">{name}</a>'


def root_from(docname):
    return "../" * docname.count("/")


class Claims(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        ledger = self.env.app.attest_ledger
        try:
            ids = expand(ledger, self.arguments[0])
        except ValueError as error:
            raise self.error(str(error))
        named = self.env.attest_named.setdefault(self.env.docname, [])
        named += [(name, self.lineno) for name in ids]
        root = root_from(self.env.docname)
        rows = "".join(
            f"<tr><td>{link_to(name, root)}</td><td>{in_html(ledger[name]['statement'])}</td><td>{verdict_html(ledger[name])}</td></tr>"
            for name in ids
        )
        head = '<thead><tr><th scope="col">Claim</th><th scope="col">What is said</th><th scope="col">Is it right?</th></tr></thead>'
        table = f'<div class="table-wrapper docutils container"><table class="docutils claims">{head}<tbody>{rows}</tbody></table></div>'
        if len(ids) > LONG and not self.env.docname.startswith(LECTURES):
            verdicts = [ledger[name]["text"] for name in ids]
            parts = ", ".join(f"{verdicts.count(word)} {word}" for word in SIGNS if word in verdicts)
            table = f"<details><summary>{len(ids)} statements of the lectures: {parts}</summary>{table}</details>"
        return [nodes.raw("", table, format="html")]


class placeholder(nodes.General, nodes.Element):
    """Made HTML once all pages are read: which pages name a claim is known only then."""


class Ledger(SphinxDirective):
    def run(self):
        return [placeholder(kind="ledger")]


def facts_of(claim):
    """What `attest explain` tells, as a list of term and description."""
    rows = [
        ("Instead", claim["correction"]),
        (f"Value ({claim['value_is']})" if claim["value_is"] else "Value", claim["value"]),
        ("Checked", claim["details"]),
        ("Error", claim["error"]),
        ("Tests", ", ".join(claim["tests"]) or None),
        ("Stands in", claim["source"]),
    ]
    return "".join(f"<dt>{term}</dt><dd>{in_html(text)}</dd>" for term, text in rows if text)


def pages_of(env, name):
    """Pages beside the lectures that name a claim, by title."""
    found = [doc for doc, named in env.attest_named.items() if not doc.startswith(LECTURES) and any(name == other for other, _ in named)]
    return sorted(found, key=lambda doc: env.titles[doc].astext())


def ledger_html(env, ledger):
    columns = ("Claim", "What is said", "Text", "Status", "Method", "Page")
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    rows = []
    for name, claim in ledger.items():
        pages = ", ".join(f'<a href="{doc}.html">{html.escape(env.titles[doc].astext())}</a>' for doc in pages_of(env, name)) or "–"
        data = f'data-document="{name[0]}" data-text="{claim["text"]}" data-status="{claim["status"]}"'
        details = f'<details><summary>{in_html(claim["statement"])}</summary><dl>{facts_of(claim)}</dl></details>'
        rows.append(
            f'<tr id="{name}" {data}><th scope="row">{name}</th><td>{details}</td><td>{verdict_html(claim)}</td>'
            f"<td>{claim['status']}</td><td>{claim['method']}</td><td>{pages}</td></tr>"
        )

    def choice(label, key, values):
        options = "".join(f"<option>{value}</option>" for value in values)
        return f'<label>{label} <select data-filter="{key}"><option value="">all</option>{options}</select></label>'

    def in_order(key):
        return list(dict.fromkeys(claim[key] for claim in ledger.values()))

    # Hidden until the script runs: without JavaScript there is the whole table, and no filter that does nothing.
    filters = (
        '<form class="ledger-filter" hidden role="search" aria-label="Filter the claims">'
        '<label>Words <input type="search" data-filter="words" autocomplete="off"></label>'
        + choice("Document", "document", sorted({name[0] for name in ledger}))
        + choice("Text", "text", in_order("text"))
        + choice("Status", "status", in_order("status"))
        + f'<output role="status">{len(ledger)} of {len(ledger)} claims</output></form>'
    )
    return (
        f'{filters}<div class="table-wrapper ledger-table" tabindex="0" role="region" aria-label="Claims">'
        f'<table class="docutils ledger"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


class Errata(SphinxDirective):
    """By claim: what is said, what is true instead, the numbers, and the lines that prove it, folded."""

    required_arguments = 1

    def run(self):
        ledger = self.env.app.attest_ledger
        document = self.arguments[0]
        chosen = [claim for name, claim in ledger.items() if name[0] == document and claim["text"] in ("wrong", "imprecise")]
        if not chosen:
            raise self.error(f"no claim of a document {document!r} is wrong or imprecise")
        return [node for claim in chosen for node in self.entry(claim)]

    def entry(self, claim):
        root = root_from(self.env.docname)
        # The ledger's text refers to its field.
        instead = (claim["correction"] or "").replace("`value`", claim["value_is"] or "the value")
        settled = (claim["details"] or "what is said above").replace("`value`", claim["value_is"] or "the value")
        if not settled.startswith(claim["method"]):
            settled = f"{claim['method']}: {settled}"
        value = f"<dt>{html.escape(sentence_case(claim['value_is'] or 'value'))}</dt><dd>{html.escape(claim['value'])}</dd>" if claim["value"] else ""
        text = (
            f'<section class="erratum"><p>{link_to(claim["id"], root)} {verdict_html(claim)}</p><dl><dt>Says</dt><dd>{in_html(claim["statement"])}</dd>'
            f"<dt>Instead</dt><dd>{in_html(instead)}</dd>{value}"
            f"<dt>Settled by</dt><dd>{in_html(settled)}</dd></dl>"
        )
        result = [nodes.raw("", text, format="html")]
        if claim["status"] != "not checkable":
            try:
                path, lines, first, last = sources.settled_at(self.env, claim)
            except sources.NotFound as error:
                raise self.error(str(error))
            result.append(nodes.raw("", "<details><summary>The proof</summary>", format="html"))
            result.append(sources.shown(self, path, sources.dedent(lines[first : last + 1]), first))
            result.append(nodes.raw("", "</details>", format="html"))
        result.append(nodes.raw("", "</section>", format="html"))
        return result


class Claim(SphinxRole):
    def run(self):
        if self.text not in self.env.app.attest_ledger:
            message = self.inliner.reporter.error(f"there is no claim {self.text!r}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        self.env.attest_named.setdefault(self.env.docname, []).append((self.text, self.lineno))
        return [nodes.raw("", link_to(self.text, root_from(self.env.docname)), format="html")], []


class ClaimsOf(SphinxRole):
    def run(self):
        claims = self.env.app.attest_ledger.values()
        number = len(claims) if self.text == "all" else sum(self.text in (claim["text"], claim["status"]) for claim in claims)
        if number == 0:
            message = self.inliner.reporter.error(f"no claim has the text or status {self.text!r}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        return [nodes.Text(str(number))], []


def begin(app, env, _docnames):
    if not hasattr(env, "attest_named"):
        env.attest_named = {}
    load(app)


def purge(_app, env, docname):
    getattr(env, "attest_named", {}).pop(docname, None)


def merge(_app, env, docnames, other):
    for doc in docnames:
        if doc in other.attest_named:
            env.attest_named[doc] = other.attest_named[doc]


def check(app, env):
    """The pages of the lectures name every claim once, in order; other pages name every claim that can be checked."""
    ledger = app.attest_ledger
    for doc, named in env.attest_named.items():
        if not doc.startswith(LECTURES):
            continue
        ids = [name for name, _ in named]
        if not ids:
            continue
        wanted = [name for name in ledger if name[0] == ids[0][0]]
        if ids != wanted:
            place = next((i for i, (a, b) in enumerate(zip(ids, wanted)) if a != b), min(len(ids), len(wanted)))
            raise ExtensionError(f"{doc}: names {(ids + ['nothing'])[place]} where {(wanted + ['nothing'])[place]} comes next")
    elsewhere = {name for doc, named in env.attest_named.items() if not doc.startswith(LECTURES) for name, _ in named}
    missing = [name for name, claim in ledger.items() if claim["status"] != "not checkable" and name not in elsewhere]
    if missing:
        logger.warning("%d claims stand on no page of a concept: %s", len(missing), " ".join(missing))
    return []


def fill(app, doctree, docname):
    for node in list(doctree.findall(placeholder)):
        node.replace_self(nodes.raw("", ledger_html(app.env, app.attest_ledger), format="html"))


def setup(app):
    app.add_node(placeholder)
    for name, directive in (("claims", Claims), ("ledger", Ledger), ("errata", Errata)):
        app.add_directive(name, directive)
    app.add_role("claim", Claim())
    app.add_role("claims-of", ClaimsOf())
    app.connect("env-before-read-docs", begin)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("env-check-consistency", lambda app, env: check(app, env))
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
