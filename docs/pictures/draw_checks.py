# SPDX-License-Identifier: BSL-1.0
"""What checks say: distances beside limits, and the rungs of the ladder."""

from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from draw_style import DASHES, INK, MARKERS, SERIES, SMALL, TEXT, WIDTH, canvas, figure, frame, grid, number, powers, say

NAN = float("nan")
FLOOR = 2.0 ** -7  # distances are told to 1/64 ULP; 0 stands at half of that


def strokes(axes, xs, ys, shape, series, width, cap="butt", **options):
    """One path for many marks, each through the points (factor of x, factor of y): far shorter than a mark for each."""
    px, py = [], []
    for x, y in zip(xs, ys):
        px += [x * fx for fx, _ in shape] + [NAN]
        py += [y * fy for _, fy in shape] + [NAN]
    drawn, = axes.plot(px, py, color=SERIES[series], linewidth=width, solid_capstyle=cap, **options)
    drawn.get_path().should_simplify = False


def ulp_errors(data):
    all_ = data["ulp_errors"]
    f32, bf16 = all_["f32"], all_["bf16"]
    fig, panels = figure(800, rows=2)
    frame(fig, 62, 38, 20, 54, hspace=0.32)
    dot, dash, wedge = ((1, 1), (1, 1)), (-1, 1), (-1, 0, 1)
    for axes, case, title, reach in ((panels[0], f32, f"{all_['dump']}: {f32['elements']} elements, f32", 1.09),
                                     (panels[1], bf16, f"a plain kernel, {all_['n_k']} keys: {bf16['elements']} elements, bf16+f32", 1.05)):
        grid(axes)
        axes.set_xscale("log")
        axes.set_yscale("log")
        has_expected = any(e < c for e, c in zip(case["expected"], case["certain"]))
        strokes(axes, case["size"], [max(y, FLOOR) for y in case["ulp"]], dot, 0, 3.4, "round", alpha=0.75)
        strokes(axes, case["size"], case["certain"], [(reach ** t, 1) for t in dash], 1, 1.5)
        if has_expected:
            strokes(axes, case["size"], case["expected"], [(reach ** t, 1.25 ** abs(t)) for t in wedge], 2, 1.3)
        axes.set_title(title)
        powers(axes.xaxis)
        powers(axes.yaxis)
        # The key: each mark once more, larger, and its name.
        keys = [(1, "–", "certain limit" + ("" if has_expected else ", here the expected one, too"))]
        keys += [(2, "v", "expected limit")] if has_expected else []
        keys += [(0, "•", "distance of an element in ULP")]
        for place, (series, mark, text) in enumerate(keys):
            y = 0.93 - 0.085 * place
            left = 0.42 if has_expected else 0.36
            if mark == "•":
                axes.plot([left], [y], transform=axes.transAxes, marker="o", markersize=5, color=SERIES[0], linestyle="none")
            elif mark == "v":
                axes.plot([left - 0.014, left, left + 0.014], [y + 0.012, y - 0.012, y + 0.012], transform=axes.transAxes, color=SERIES[2], linewidth=1.6)
            else:
                axes.plot([left - 0.018, left + 0.018], [y, y], transform=axes.transAxes, color=SERIES[1], linewidth=2)
            say(axes, left + 0.03, y, text, transform=axes.transAxes, va="center_baseline")
        farthest = case["farthest"]
        axes.annotate(f"{number(farthest['ulp'], 2)} ULP", (abs(farthest["exact"]), farthest["ulp"]), (9, -4), textcoords="offset points", color=INK, fontsize=SMALL)
    panels[0].set_ylim(4e-3, 1e8)
    panels[0].set_yticks([1e-2, 1, 1e2, 1e4, 1e6, 1e8])
    panels[1].set_ylim(4e-3, 3e4)
    panels[1].set_yticks([1e-2, 1, 1e2, 1e4])
    panels[1].set_xlabel("|exact value|", labelpad=2)
    share = max(u / c for u, c in zip(f32["ulp"], f32["certain"]))
    tighter = sorted(e / c for e, c in zip(bf16["expected"], bf16["certain"]))
    return fig, "How far off elements are, and how far off they may be", (
        f"Two panels with logarithmic axes: distances in ULP, and limits, over the size of the exact value. Above: the {f32['elements']} elements of the shipped dump "
        f"{all_['dump']}, judged in f32: {f32['correctly_rounded']} are correctly "
        f"rounded, the farthest is {number(f32['farthest']['ulp'], 2)} ULP off, at {f32['farthest']['exact']:.4g}, where {f32['farthest']['certain']:.3g} are allowed; "
        f"nowhere do errors reach more than {100 * share:.1f} % of the certain limit. The "
        f"nearer an exact value is to 0, the more ULP are its errors and its limits. Below: a plain kernel with {all_['n_k']} keys, judged in bf16+f32: the expected "
        f"limit lies below the certain one, at {100 * tighter[0]:.0f} to "
        f"{100 * tighter[-1]:.0f} % of it; the farthest element is {number(bf16['farthest']['ulp'], 2)} ULP off. A distance of 0, to 1/64 ULP, is drawn at 1/128.")


RUNGS = (("double", "double", 0, None), ("double_double", "double-double", 1, "///"), ("real", "higher precision", 2, "..."), ("decided", "decided by a rule", 3, "xxx"))


def share_of(part, whole):
    """In per cent, and never rounded to none or all."""
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if 99.9 < percent < 100:
        return "> 99.9 %"
    return f"{percent:.0f} %" if percent in (0, 100) else f"{percent:.1f} %"


def swatch(axes, x, y, width, height, series, hatch):
    axes.add_patch(Rectangle((x, y), width, height, facecolor=(*to_rgb(SERIES[series]), 0.45), hatch=hatch, edgecolor=INK, linewidth=0.9))


def short_name(dump):
    return dump.removeprefix("blocks/").removesuffix(".npz")


def decimal(x):
    mantissa, exponent = f"{x:.1e}".split("e")
    return f"{mantissa} · 10^{{{number(int(exponent), 0)}}}"


def ladder(data):
    all_ = data["ladder"]
    height, width, left = 690, 600, 20
    fig, axes = canvas(height)
    say(axes, left, 26, "Which rung settled how many elements", fontsize=TEXT)
    for place, case in enumerate(all_["cases"]):
        top = 62 + place * 98
        say(axes, left, top, f"{short_name(case['dump'])}, {case['output']}: {case['elements']} elements, {case['type']}")
        x, key_x = left, left
        for key, text, series, hatch in RUNGS:
            if case[key] == 0:
                continue
            part = width * case[key] / case["elements"]
            swatch(axes, x, top + 9, part, 22, series, hatch)
            swatch(axes, key_x, top + 39, 22, 16, series, hatch)
            say(axes, key_x + 30, top + 53, f"{text} {share_of(case[key], case['elements'])}")
            x, key_x = x + part, key_x + 270
    widths = all_["widths"][:3]
    lower = fig.add_axes((left / WIDTH, 46 / height, width / WIDTH, 160 / height))
    grid(lower, axis="x")
    lower.set_xscale("log")
    lower.set_xlim(1e-62, 1)
    lower.set_ylim(len(widths) - 0.4, -1.1)
    lower.set_yticks([])
    lower.spines["left"].set_visible(False)
    for place, rung in enumerate(widths):
        series = place if place < 3 else 2
        lower.plot([1, rung["relative_radius"]], [place, place], color=SERIES[series], linewidth=3, solid_capstyle="butt", linestyle=DASHES[series])
        lower.plot([rung["relative_radius"]], [place], marker=MARKERS[series], markersize=8, color=SERIES[series], markeredgecolor=INK)
        beyond = rung["relative_radius"] < 1e-40
        name = RUNGS[place][1] if place < 2 else f"{rung['bits']} bits"
        say(lower, rung["relative_radius"] * (1e2 if beyond else 1e-2), place - (0.32 if beyond else 0), f"{name}: {decimal(rung['relative_radius'])}",
            ha="left" if beyond else "right", va="center_baseline")
    for half in all_["half_ulp"]:
        lower.plot([half["relative"]] * 2, [-0.62, len(widths) - 0.4], color=INK, linewidth=1.2, linestyle=(0, (2, 2)))
        say(lower, half["relative"], -0.75, f"½ ULP {half['format']}", ha="center" if half["format"] == "f32" else "right")
    lower.set_title("Radius over value of the weight 0.66976… on three rungs")
    lower.set_xticks([1e-60, 1e-45, 1e-30, 1e-15, 1])
    powers(lower.xaxis)
    lower.minorticks_off()
    told = "; ".join(f"{short_name(case['dump'])}, {case['output']}, {case['elements']} elements in {case['type']}: " + ", ".join(f"{case[key]} {text}" for key, text, _, _ in RUNGS if case[key])
                     for case in all_["cases"])
    return fig, "The ladder of precision: which rung settles what", (
        f"Above, a bar for each of four shipped dumps, divided by the rung that settled the elements: {told}. Below, how wide the proved enclosure of the weight 0.66976 "
        f"of the lectures' example is, relative to it, on a logarithmic axis: "
        + ", ".join(f"{rung['relative_radius']:.1e} with {rung['bits']} bits" for rung in widths)
        + f". Half a ULP is {all_['half_ulp'][0]['relative']:.1e} in f32, which a double and a radius settles here with room to spare, and "
        f"{all_['half_ulp'][1]['relative']:.1e} in f64, for which it is not enough.")


PICTURES = {"ulp_errors": ulp_errors, "ladder": ladder}
