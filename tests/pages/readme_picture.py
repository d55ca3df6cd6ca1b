#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""readme_picture.py README.md FOLDER: whether the pictures that the README shows say what those of the docs say that were drawn now. Compared are the descriptions, which hold the numbers;
the lines differ from one version of Matplotlib to another."""

import re
import sys
from pathlib import Path


def description(path):
    return re.search(r"<desc[^>]*>(.*?)</desc>", path.read_text(encoding="utf-8"), re.DOTALL)[1]


readme, folder = Path(sys.argv[1]), Path(sys.argv[2])
shown = re.findall(r"!\[[^\]]+\]\(([^)]+\.svg)\)", readme.read_text(encoding="utf-8"))
faults = 0
for picture in shown:
    committed = readme.parent / picture
    drawn = folder / committed.name
    if description(committed) != description(drawn):
        print(f"{picture} says: {description(committed)}\n{drawn} says: {description(drawn)}\nDraw it again: docs/pictures/draw.py --alone {committed.stem} DATA.json > {picture}")
        faults += 1
print(f"{len(shown)} pictures: {faults} faults")
sys.exit(1 if faults or not shown else 0)
