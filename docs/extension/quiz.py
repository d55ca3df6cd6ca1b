# SPDX-License-Identifier: BSL-1.0
"""A question with answers to choose from.

    ```{quiz} If d_k = 64, what is the scaling denominator?
    - [x] √64 = 8 | Var(q·k) = d_k, so the standard deviation is √64.
    - [ ] 64      | That is the variance …
    ```

One answer is marked as right; what stands after the bar is told when it is chosen (static/quiz.js). Without JavaScript all of it can be unfolded.
"""

import html
import re

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Quiz(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self):
        answers = []
        for line in self.content:
            match = re.fullmatch(r"- \[( |x)\] (.+?) \| (.+)", line.strip())
            if not match:
                raise self.error(f"expected '- [x] ANSWER | WHY' or '- [ ] ANSWER | WHY', not {line!r}")
            answers.append((match[1] == "x", match[2].strip(), match[3].strip()))
        if sum(right for right, _, _ in answers) != 1:
            raise self.error("one answer has to be right")
        number = self.env.new_serialno("quiz")
        name = f"quiz-{self.env.docname.replace('/', '-')}-{number}"
        choices = "".join(
            f'<label><input type="radio" name="{name}" data-right="{str(right).lower()}" data-why="{html.escape(why)}"> {html.escape(answer)}</label>'
            for right, answer, why in answers
        )
        told = "".join(f"<li>{'Right' if right else 'Not right'}: {html.escape(answer)}. {html.escape(why)}</li>" for right, answer, why in answers)
        text = (
            f'<form class="quiz"><fieldset><legend>{html.escape(self.arguments[0])}</legend>{choices}</fieldset>'
            f'<output role="status"></output></form><details class="quiz-answers"><summary>All answers</summary><ul>{told}</ul></details>'
        )
        return [nodes.raw("", text, format="html")]


def setup(app):
    app.add_directive("quiz", Quiz)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
