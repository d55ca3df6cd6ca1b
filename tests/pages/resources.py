#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""resources.py FOLDER: whether the built pages load anything from elsewhere. Reads every HTML, CSS, JavaScript and SVG file of the folder; links that a reader may follow are no
resources. Says each fault and exits with 1, or says what was read."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

# Elements that load what an attribute names.
LOADING = {
    ("script", "src"), ("img", "src"), ("img", "srcset"), ("source", "src"), ("source", "srcset"), ("iframe", "src"), ("embed", "src"), ("object", "data"), ("video", "src"),
    ("video", "poster"), ("audio", "src"), ("track", "src"), ("input", "src"), ("image", "href"), ("image", "xlink:href"), ("use", "href"), ("use", "xlink:href"), ("body", "background"),
    ("form", "action"),
}  # fmt: skip
# Relations of <link> that load nothing.
HARMLESS = {"canonical", "author", "license", "next", "prev", "index", "search", "genindex"}
ELSEWHERE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
IN_STYLES = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:[a-z]+:)?//[^"')\s]+)""", re.IGNORECASE)
IN_SCRIPTS = re.compile(r"""(?:fetch|importScripts|import|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\s*\(\s*["'`]((?:[a-z]+:)?//[^"'`]+)""")


class Page(HTMLParser):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.found = []
        self.links = 0
        self.inside = None

    def handle_starttag(self, tag, attributes):
        if tag in ("style", "script"):
            self.inside = tag
        relation = dict(attributes).get("rel", "") or ""
        for name, value in attributes:
            if value is None:
                continue
            loads = (tag, name) in LOADING or (tag == "link" and name == "href" and not set(relation.split()) & HARMLESS)
            if loads and ELSEWHERE.match(value):
                self.found.append(f"<{tag} {name}={value!r}>")
            elif loads and name in ("src", "href", "data") and not re.match(r"data:|#", value) and not (self.folder / re.split("[?#]", value)[0]).exists():
                self.found.append(f"<{tag} {name}={value!r}>, which is not there")
            if name == "style":
                self.found += IN_STYLES.findall(value)
            self.links += tag == "a" and name == "href"

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = None

    def handle_data(self, data):
        if self.inside == "style":
            self.found += IN_STYLES.findall(data)
        elif self.inside == "script":
            self.found += IN_SCRIPTS.findall(data)


def missing_resources(path, text):
    """What a style sheet names and is not there; an address that begins with / would be asked of a web server."""
    for target in re.findall(r"""(?:url\(\s*["']?|@import\s+["'])([^"')\s]+)""", text):
        if not re.match(r"[a-z]+:|//|#", target) and (target.startswith("/") or not (path.parent / target.partition("?")[0].partition("#")[0]).exists()):
            yield f"{target}, which is not there"


def faults_in(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".css":
        return IN_STYLES.findall(text) + list(missing_resources(path, text))
    if path.suffix == ".js":
        return IN_SCRIPTS.findall(text)
    page = Page(path.parent)
    page.feed(text)
    return page.found


def missing_targets(folder):
    """Links between the pages that lead to no file or no place in it."""
    ids = {}

    def ids_of(path):
        if path not in ids:
            ids[path] = set(re.findall(r'\bid="([^"]+)"', path.read_text(encoding="utf-8")))
        return ids[path]

    for path in sorted(folder.rglob("*.html")):
        for link in set(re.findall(r'<a\b[^>]*\bhref="([^"]+)"', path.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", link):
                continue
            target, _, place = link.partition("#")
            target = target.partition("?")[0]
            file = (path.parent / target).resolve() if target else path.resolve()
            if not file.exists():
                yield f"{path.relative_to(folder)}: {link}: no such file"
            elif place and file.suffix == ".html" and place not in ids_of(file):
                yield f"{path.relative_to(folder)}: {link}: no such place"


def main():
    folder = Path(sys.argv[1]).resolve()
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in {".html", ".css", ".js", ".svg"}]
    faults = [f"{path.relative_to(folder)}: loads {fault}" for path in files for fault in faults_in(path)]
    faults += missing_targets(folder)
    for fault in faults:
        print(fault)
    pages = sum(path.suffix == ".html" for path in files)
    print(f"{len(files)} files, {pages} of them pages: {len(faults)} faults")
    return 1 if faults or pages == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
