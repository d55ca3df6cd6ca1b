# SPDX-License-Identifier: BSL-1.0
"""How all pictures look, and what becomes of Matplotlib's SVG: ink is currentColor, series colours are variables, ids are the picture's own."""

import io
import re
import xml.etree.ElementTree as tree

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)
from matplotlib.patches import Rectangle  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

WIDTH = 640  # px; one unit of the drawing
INK = "#010203"  # stands for currentColor
# Okabe and Ito's colours, which eyes of every kind tell apart.
SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
DASHES = ["-", (0, (6, 2.5)), (0, (1.5, 1.8)), (0, (7, 2, 1.5, 2))]
MARKERS = ["o", "s", "^", "D"]
SMALL, TEXT = 15, 16  # px at full width: still legible at 360 px

matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "attest", "figure.dpi": 72, "savefig.transparent": True,
    "font.family": "sans-serif", "font.size": TEXT, "axes.titlesize": TEXT, "axes.labelsize": TEXT, "xtick.labelsize": SMALL, "ytick.labelsize": SMALL,
    "axes.titlelocation": "left", "axes.titlepad": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 1, "lines.linewidth": 2,
    "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "axes.titlecolor": INK, "xtick.color": INK, "ytick.color": INK,
    "hatch.color": INK, "hatch.linewidth": 0.8, "path.simplify": True, "path.simplify_threshold": 0.2, "axes.unicode_minus": True,
})


def figure(height, columns=1, rows=1, **options):
    """A figure as wide as the text, `height` px high, and its axes."""
    return plt.subplots(rows, columns, figsize=(WIDTH / 72, height / 72), **options)


def canvas(height):
    """A figure whose coordinates are px, y downwards: for diagrams."""
    fig = plt.figure(figsize=(WIDTH / 72, height / 72))
    axes = fig.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    return fig, axes


def cell(axes, x, y, side, share, text="", masked=False, series=0, height=None, size=SMALL, hatch=None):
    """A square of a heat map: opacity says the share of the greatest value; hatched: masked."""
    height = height or side
    kind = dict(facecolor="none", hatch="////") if masked else dict(facecolor=(*matplotlib.colors.to_rgb(SERIES[series]), 0.55 * share), hatch=hatch)
    axes.add_patch(Rectangle((x, y), side, height, edgecolor=INK, linewidth=0.8, **kind))
    if text:
        axes.text(x + side / 2, y + height / 2, text, ha="center", va="center_baseline", fontsize=size, color=INK)


def frame(fig, left, top, right, bottom, **gaps):
    """Margins in px."""
    width, height = fig.get_size_inches() * 72
    fig.subplots_adjust(left=left / width, right=1 - right / width, top=1 - top / height, bottom=bottom / height, **gaps)


def power(x):
    """10^k as text for a tick, with markup that `finish` turns into raised digits."""
    import math
    k = round(math.log10(x))
    if abs(math.log10(x) - k) > 1e-9:
        return ""
    return {0: "1", 1: "10", -1: "0.1"}.get(k, "10^{%s}" % str(k).replace("-", "−"))


def powers(axis):
    axis.set_major_formatter(FuncFormatter(lambda x, _: power(x)))
    axis.set_minor_formatter(FuncFormatter(lambda x, _: ""))


def plain(axis, digits=None):
    axis.set_major_formatter(FuncFormatter(lambda x, _: (f"{x:g}" if digits is None else f"{x:.{digits}f}").replace("-", "−")))
    axis.set_minor_formatter(FuncFormatter(lambda x, _: ""))


def number(x, digits):
    return f"{x:.{digits}f}".replace("-", "−")


def line(axes, x, y, series, **options):
    """A line of a series: colour and dashes say which."""
    return axes.plot(x, y, color=SERIES[series], linestyle=DASHES[series], solid_capstyle="butt", dash_capstyle="butt", **options)


def say(axes, x, y, text, series=None, **options):
    """Text in the plane; in a series' colour only its mark is, since ink is easier to read."""
    options.setdefault("fontsize", SMALL)
    return axes.text(x, y, text, color=INK, **options)


def grid(axes, **options):
    axes.grid(True, color=INK, alpha=0.15, linewidth=0.8, **options)
    axes.set_axisbelow(True)


SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def finish(fig, name, title, description):
    """The figure as SVG text that can stand inside an HTML page."""
    raw = io.StringIO()
    fig.savefig(raw, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(fig)
    tree.register_namespace("", SVG)
    root = tree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", raw.getvalue(), count=1))
    _, _, width, height = root.get("viewBox").split()
    drop(root)
    keep_ids_in_use(root, name)
    for element in root.iter():
        restyle(element)
        if element.tag == f"{{{SVG}}}text":
            raise_and_lower(element)
    while unwrap(root):
        pass
    root.attrib.clear()
    root.attrib.update({
        "viewBox": f"0 0 {float(width):g} {float(height):g}", "width": f"{float(width):g}", "role": "img",
        "aria-labelledby": f"{name}-title {name}-desc",
        "style": "max-width:100%;height:auto;color:inherit;font-family:var(--attest-picture-font,sans-serif);stroke-linejoin:round;stroke-linecap:butt",
    })
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = tree.Element(f"{{{SVG}}}{tag}", {"id": f"{name}-{tag}"})
        element.text = re.sub(r"[_^]\{([^}]*)\}", r"\1", text) if tag == "title" else text
        root.insert(place, element)
    for element in root.iter():
        if element.tag != f"{{{SVG}}}tspan":
            element.tail = "\n"
            if element.text is not None and not element.text.strip():
                element.text = None
    return tree.tostring(root, encoding="unicode").strip() + "\n"


def drop(root):
    """Metadata, and the style that would be the whole page's."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style") or child.tag.endswith("}RDF"):
                parent.remove(child)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{{{SVG}}}defs" and len(child) == 0:
                parent.remove(child)


def keep_ids_in_use(root, name):
    """Other ids go; those begin with the picture's name and are counted."""
    used = {}
    for element in root.iter():
        for value in element.attrib.values():
            for target in re.findall(r"url\(#([^)]*)\)", value) + re.findall(r"^#(.*)$", value):
                used.setdefault(target, f"{name}-{len(used)}")
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old in used:
            element.set("id", used[old])
        link = element.attrib.pop(f"{{{XLINK}}}href", None)
        if link is not None:
            element.set("href", "#" + used[link[1:]] if link.startswith("#") else link)
        for key, value in list(element.attrib.items()):
            if "url(#" in value:
                element.set(key, re.sub(r"url\(#([^)]*)\)", lambda m: f"url(#{used[m.group(1)]})", value))


def restyle(element):
    for key in ("style", "fill", "stroke"):
        value = element.get(key)
        if value is None:
            continue
        value = value.replace(INK, "currentColor")
        for i, colour in enumerate(SERIES):
            value = value.replace(colour, f"var(--attest-series-{i + 1},{colour})")
        if key == "style":
            # The page says which font; the size is the picture's. (Matplotlib 3.6 writes one declaration, 3.10 one for each part.)
            value = re.sub(r"font: (?:[a-z]+ )*([\d.]+)px [^;]*", r"font-size: \1px", value)
            value = re.sub(r"(-?\d+\.\d{3,})", lambda m: f"{float(m.group(1)):.3g}", value)
            value = re.sub(r"; *", ";", re.sub(r": *", ":", value))
            value = ";".join(part for part in value.split(";") if part not in ("stroke-linejoin:miter", "stroke-linecap:butt") and not part.startswith("font-family:"))
            if not value:
                del element.attrib[key]
                continue
        element.set(key, value)
    if (element.get("transform") or "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for key in ("d", "x", "y", "transform", "width", "height", "points"):
        if element.get(key) is not None and not element.tag.endswith("}image"):
            element.set(key, shorter(element.get(key)))
    for key in [key for key in element.attrib if key.startswith("{")]:
        del element.attrib[key]


def shorter(value):
    value = re.sub(r"-?\d+\.\d+", lambda m: f"{float(m.group(0)):.2f}".rstrip("0").rstrip("."), value)
    value = value.replace("-0 ", "0 ")
    value = re.sub(r"\s*([MLCQZ])\s*", r"\1", value.replace("\n", " ")).strip()
    value = re.sub(r"M(\S+) (\S+)L\1 \2(?=M|$)", r"M\1 \2h0", value)  # a dot
    return re.sub(r"(M\S+ )(\S+)L(\S+) \2(?=M|$)", r"\1\2H\3", value)  # a dash


def raise_and_lower(element):
    """Markup of text: x_{i} and 10^{3}. Sizes are of the text around."""
    parts = re.split(r"([_^])\{([^}]*)\}", element.text or "")
    if len(parts) == 1:
        return
    element.text = parts[0] or None
    back = 0.0
    for mark, small, after in zip(parts[1::3], parts[2::3], parts[3::3]):
        shift = 0.25 if mark == "_" else -0.38  # em of the text around
        span = tree.SubElement(element, f"{{{SVG}}}tspan", {"dy": f"{(shift + back) / 0.75:.3g}em", "font-size": "75%"})
        span.text = small
        back = -shift
        if after:
            rest = tree.SubElement(element, f"{{{SVG}}}tspan", {"dy": f"{back:.3g}em"})
            rest.text = after
            back = 0.0


def unwrap(root):
    """Groups that say nothing are taken away; true if there was one."""
    found = False
    for parent in list(root.iter()):
        for place, child in reversed(list(enumerate(list(parent)))):
            if child.tag == f"{{{SVG}}}g" and not child.attrib:
                parent.remove(child)
                for grandchild in reversed(list(child)):
                    parent.insert(place, grandchild)
                found = True
    return found
