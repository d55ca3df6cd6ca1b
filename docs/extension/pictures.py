# SPDX-License-Identifier: BSL-1.0
"""Pictures that docs/pictures makes, inlined, so that they take the page's colours.

    ```{picture} saturation
    The caption.
    ```
"""

from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Picture(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        file = Path(self.env.app.config.attest_pictures, f"{name}.svg")
        if not file.is_file():
            raise self.error(f"docs/pictures makes no picture {name}")
        if not self.content:
            raise self.error(f"the picture {name} has no caption")
        self.env.note_dependency(str(file))
        caption = nodes.container(classes=["caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        # A wide picture scrolls in its own box on a narrow screen, instead of being too small to read.
        opening = f'<figure class="picture"><div class="drawing" tabindex="0" role="group" aria-label="picture">{file.read_text(encoding="utf-8")}</div><figcaption>'
        return [nodes.raw("", opening, format="html"), caption, nodes.raw("", "</figcaption></figure>", format="html")]


def setup(app):
    app.add_config_value("attest_pictures", "", "env")
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
