# SPDX-License-Identifier: BSL-1.0
"""Math rendered when the pages are built: KaTeX, run by node, gives HTML for the eye and MathML for a screen reader. The pages need no JavaScript for it.

Settings: katex_folder, which holds katex.js, katex.min.css and fonts/; node_program.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util import logging

logger = logging.getLogger(__name__)

STYLE_FOLDER = "katex"


class Katex:
    """One node process, asked formula by formula."""

    def __init__(self, node, script):
        server = Path(__file__).with_name("katex_server.js")
        self.process = subprocess.Popen(
            [node, str(server), str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.known = {}

    def render(self, tex, display):
        """HTML of a formula; ValueError with KaTeX's own message if it is not one."""
        key = (tex, display)
        if key not in self.known:
            self.process.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
            if not line:
                raise ExtensionError("KaTeX's process ended; its message stands above")
            self.known[key] = json.loads(line)
        answer = self.known[key]
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["html"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def katex_of(app):
    if not hasattr(app, "attest_katex"):
        app.attest_katex = Katex(app.config.node_program, Path(app.config.katex_folder, "katex.js").resolve())
    return app.attest_katex


def rendered(translator, node, display):
    tex = node.astext()
    try:
        return katex_of(translator.builder.app).render(tex, display)
    except ValueError as error:
        logger.warning("a formula that KaTeX refuses: %s: %s", tex, error, location=node)
        return ""


def visit_math(translator, node):
    translator.body.append(f'<span class="math">{rendered(translator, node, False)}</span>')
    raise nodes.SkipNode


def visit_math_block(translator, node):
    # A long formula scrolls in its own box, on the keyboard too, and the page does not.
    translator.body.append(f'<div class="math" tabindex="0" role="group" aria-label="formula">{rendered(translator, node, True)}</div>')
    raise nodes.SkipNode


def copy_styles(app):
    """KaTeX's style sheet and fonts."""
    source, target = Path(app.config.katex_folder), Path(app.outdir, "_static", STYLE_FOLDER)
    target.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source / "fonts", target / "fonts", dirs_exist_ok=True)
    # Debian has not every format of font that the style sheet names; a browser would complain.
    styles = re.sub(
        r'url\((fonts/[^)]*)\) format\("[^"]*"\),?',
        lambda match: match[0] if (target / match[1]).exists() else "",
        (source / "katex.min.css").read_text(encoding="utf-8"),
    )
    (target / "katex.min.css").write_text(re.sub(r",(?=[;}])", "", styles), encoding="utf-8")


def finished(app, _error):
    if hasattr(app, "attest_katex"):
        app.attest_katex.close()


def setup(app):
    app.add_config_value("katex_folder", "/usr/share/javascript/katex", "env")
    app.add_config_value("node_program", "node", "env")
    app.add_html_math_renderer("katex", (visit_math, None), (visit_math_block, None))
    app.add_css_file(f"{STYLE_FOLDER}/katex.min.css")
    app.connect("builder-inited", lambda app: copy_styles(app) if app.builder.format == "html" else None)
    app.connect("build-finished", finished)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
