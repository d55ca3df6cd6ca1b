# SPDX-License-Identifier: BSL-1.0
"""What checks say: distances beside limits, and the rungs of the ladder."""

import math

from matplotlib.patches import Rectangle

from draw_style import INK, MARKERS, SERIES, SMALL, figure, frame, grid, number, powers, say


def spread(case, key, names):
    """Of elements in order of size: what is drawn of a limit, a tenth of a decade at a time."""
    bins = {}
    for size, value in zip(case["size"], case[key]):
        bins.setdefault(math.floor(10 * math.log10(size)), []).append(value)
    x = [10 ** ((place + 0.5) / 10) for place in sorted(bins)]
    return x, [names(bins[place]) for place in sorted(bins)]


def ulp_errors(data):
    all_ = data["ulp_errors"]
    fig, panels = figure(760, rows=2)
    frame(fig, 62, 38, 20, 54, hspace=0.3)
    titles = (f"f32: {all_['dump'].removesuffix('.npz')}, {all_['f32']['elements']} elements", f"bf16+f32: a plain kernel, {all_['n_k']} keys, {all_['bf16']['elements']} elements")
    for axes, key, title in zip(panels, ("f32", "bf16"), titles):
        case = all_[key]
        grid(axes)
        axes.set_xscale("log")
        axes.set_yscale("log")
        floor = 2.0 ** -7  # distances are told to 1/64 ULP: 0 stands at half of that
        axes.plot(case["size"], [max(y, floor) for y in case["ulp"]], linestyle="none", marker=MARKERS[0], markersize=3, color=SERIES[0], alpha=0.6, markeredgewidth=0)
        axes.plot(case["size"], case["certain"], linestyle="none", marker="_", markersize=7, color=SERIES[1], markeredgewidth=1.4)
        if any(e < c for e, c in zip(case["expected"], case["certain"])):
            axes.plot(case["size"], case["expected"], linestyle="none", marker="x", markersize=5, color=SERIES[2], markeredgewidth=1.2)
        axes.set_title(title)
        powers(axes.xaxis)
        powers(axes.yaxis)
    panels[1].set_xlabel("|exact value|", labelpad=2)
    return fig, "", ""


def share(part, whole):
    """In per cent, and never rounded to none or all."""
    percent = 100 * part / whole
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if 99.9 < percent < 100:
        return "> 99.9 %"
    return f"{percent:.0f} %" if percent in (0, 100) else f"{percent:.1f} %"


def ladder(data):
    all_ = data["ladder"]
    fig, axes = figure(400)
    return fig, "", ""


PICTURES = {"ulp_errors": ulp_errors, "ladder": ladder}
