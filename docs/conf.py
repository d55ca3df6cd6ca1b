# SPDX-License-Identifier: BSL-1.0
# Sphinx's settings. What differs from one build to another (the program, the folder of pictures, …) comes from docs/CMakeLists.txt.
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here / "extension"))

project = "attest"
author = "the attest authors"
copyright = "the attest authors, BSL-1.0"  # noqa: A001
language = "en"

extensions = ["myst_parser", "katex", "sources", "program", "ledger", "pictures", "quiz", "reference", "tables", "theme"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["pictures/*.md"]
nitpicky = True

attest_root = str(here.parent)

html_theme = "furo"
html_title = "attest"
html_static_path = ["static"]
html_css_files = ["attest.css"]
html_js_files = [("quiz.js", {"defer": "defer"}), ("filter.js", {"defer": "defer"})]
html_show_search_summary = False  # it would be fetched, which a page opened from a file may not
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "xcode"
pygments_dark_style = "github-dark"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00558c", "color-brand-content": "#00558c"},
    "dark_css_variables": {"color-brand-primary": "#7cc4f5", "color-brand-content": "#7cc4f5"},
}
