# SPDX-License-Identifier: BSL-1.0
"""Draws the docs' pictures: draw.py DATA.json FOLDER writes FOLDER/NAME.svg for each. draw.py --names prints the names; draw.py --alone NAME DATA.json writes a picture that stands
alone, as the README's does, with ink for light and for dark."""

import json
import pathlib
import sys

import draw_attention
import draw_blocks
import draw_checks
import draw_layers
import draw_scores
from draw_style import finish

# A name, and a function from the data to a figure, a title and a description.
PICTURES = {name: draw for module in (draw_attention, draw_scores, draw_layers, draw_checks, draw_blocks) for name, draw in module.PICTURES.items()}


# In a page it has the page's ink.
INK_OF_ITS_OWN = "<style>svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}</style>"


def alone(name, file):
    drawn, title, description = PICTURES[name](json.loads(pathlib.Path(file).read_text(encoding="utf-8")))
    return finish(drawn, name, title, description).replace("</desc>", "</desc>" + INK_OF_ITS_OWN, 1)


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--alone":
        print(alone(*arguments[1:]), end="")
        return 0
    if arguments == ["--names"]:
        print("\n".join(PICTURES))
        return 0
    if len(arguments) < 2:
        print("usage: draw.py DATA.json FOLDER [NAME…]", file=sys.stderr)
        return 2
    data = json.loads(pathlib.Path(arguments[0]).read_text(encoding="utf-8"))
    folder = pathlib.Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments[2:] or PICTURES:
        drawn, title, description = PICTURES[name](data)
        (folder / f"{name}.svg").write_text(finish(drawn, name, title, description), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
