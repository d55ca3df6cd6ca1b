# SPDX-License-Identifier: BSL-1.0
"""What has to be mended in the theme, as Debian packages it, so that pages opened from a file work, and with a screen reader too.

- Its style sheet asks a web server for normalize.css, and its script is a module, which a browser does not load from a file: both are put together here.
- Its dark colours are there only for those who ask for them with the button; those whose system is dark get half of them (Debian 12 loses a media query).
- Headings of the navigation have no level; boxes that scroll (code, tables) cannot be reached from the keyboard.
"""

import re
from pathlib import Path

from sphinx.util import logging

logger = logging.getLogger(__name__)

SERVER_ROOT = Path("/usr/share")  # where /javascript/… of a style sheet lies on a Debian machine


def bundle_styles(path):
    def content(match):
        file = SERVER_ROOT / match[1].lstrip("/")
        if not file.is_file():
            logger.warning("%s imports %s, and there is no %s", path.name, match[1], file)
            return ""
        return file.read_text(encoding="utf-8")

    text = re.sub(r'@import\s+(?:url\()?"?(/[^")]+)"?\)?;', content, path.read_text(encoding="utf-8"))
    dark = re.search(r'\bbody\[data-theme="?dark"?\]\s*(\{\s*--[^}]*\})', text)
    if dark and "prefers-color-scheme" not in text:
        text += '\n@media not print { @media (prefers-color-scheme: dark) { body:not([data-theme="light"]) ' + dark[1] + " } }\n"
    path.write_text(text, encoding="utf-8")


def bundle_script(path):
    def content(match):
        # A script that is no module defines its name globally.
        return (path.parent / match[2]).read_text(encoding="utf-8") + f"\n// {match[1]} is above.\n"

    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'^import (\w+) from "\./([^"]+)";\n', content, text, flags=re.MULTILINE), encoding="utf-8")


def mend_files(app, error):
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    for path in static.glob("styles/*.css"):
        bundle_styles(path)
    for path in static.glob("scripts/furo.js"):
        bundle_script(path)


def reachable(text):
    text = re.sub(r'(<div class="highlight">)<pre>', r'\1<pre tabindex="0">', text)
    return text.replace('<div class="table-wrapper docutils container">', '<div class="table-wrapper docutils container" tabindex="0" role="group" aria-label="table">')


def mend_page(_app, _page, _template, context, _doctree):
    if "body" in context:
        context["body"] = reachable(context["body"])
    for name in ("furo_navigation_tree",):
        if name in context:
            context[name] = re.sub(r'role="heading"(?! aria-level)', 'role="heading" aria-level="2"', context[name])


def setup(app):
    app.connect("build-finished", mend_files)
    app.connect("html-page-context", mend_page, priority=900)  # after the theme's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}
