# SPDX-License-Identifier: BSL-1.0
"""Positions, activations, layer norm and residual connections."""

import math

import matplotlib
import numpy

from draw_style import INK, MARKERS, SERIES, SMALL, WIDTH, figure, frame, grid, line, number, plain, plt, powers, say


def sinusoidal(data):
    all_ = data["sinusoidal"]
    n, d = all_["n"], all_["d"]
    fig, (upper, lower) = figure(640, rows=2, gridspec_kw={"height_ratios": (1, 0.8)})
    frame(fig, 54, 38, 116, 54, hspace=0.36)
    # Opacity says the value, from −1 (nothing) to 1: that is told apart without colour. An image inside the SVG: 2048 rectangles would be longer.
    image = numpy.empty((d, n, 4))
    blue = (0, 0x72 / 255, 0xB3 / 255)  # no series' colour: an image can't follow the page's, so the key beside it must not either
    image[..., :3] = blue
    image[..., 3] = (numpy.array(all_["table"]).T + 1) / 2
    upper.imshow(image, aspect="auto", interpolation="none", extent=(-0.5, n - 0.5, d - 0.5, -0.5))
    upper.set_title("component c, over the position t")
    upper.set_yticks([0, 8, 16, 24, 31])
    for side in ("top", "right"):
        upper.spines[side].set_visible(True)
    for place, (opacity, text) in enumerate(((1, "1"), (0.75, "0.5"), (0.5, "0"), (0.25, "−0.5"), (0, "−1"))):
        upper.add_patch(matplotlib.patches.Rectangle((1.04, 0.86 - 0.14 * place), 0.05, 0.14, transform=upper.transAxes, clip_on=False, linewidth=0.8, edgecolor=INK,
                                                     facecolor=(*blue, opacity)))
        say(upper, 1.11, 0.93 - 0.14 * place, text, transform=upper.transAxes, va="center_baseline")
    grid(lower)
    ends = {}
    for series, curve in enumerate(all_["curves"]):
        line(lower, range(n), curve["values"], series, linewidth=1.8)
        ends[curve["component"]] = curve["values"][-1]
    for component, value in ends.items():
        say(lower, n + 0.5, value + {0: 0.08, 8: -0.08}.get(component, 0), f"c = {component}", va="center_baseline")
    lower.set_title("four components, over the position t")
    lower.set_xlabel("position t", labelpad=2)
    lower.set_ylim(-1.08, 1.08)
    lower.set_yticks([-1, 0, 1])
    plain(lower.yaxis)
    for axes in (upper, lower):
        axes.set_xticks([0, 16, 32, 48, 63])
        axes.set_xlim(-0.5, n - 0.5)
    at = {curve["component"]: curve["values"] for curve in all_["curves"]}
    return fig, "Sinusoidal positions", (
        f"Above, a heat map of PE(t, c) for {n} positions and {d} components; the fuller the colour, the greater the value. The first components alternate within a few "
        f"positions; towards the last ones they hardly "
        f"change: even ones stay near 0, odd ones near 1. Below, four components as curves. Components 0 and 1 are a sine and a cosine of the same period, 2π positions; "
        f"component 8 is a sine ten times as slow, component 16 a hundred times. At the last position, {n - 1}, they are {', '.join(number(at[c][-1], 3) for c in at)}.")


def arrow(axes, to, colour, dashes="-", width=2.2):
    axes.annotate("", to, (0, 0), arrowprops=dict(arrowstyle="-|>", color=colour, linestyle=dashes, linewidth=width, mutation_scale=13, shrinkA=0, shrinkB=0))


def rope_rotation(data):
    all_ = data["rope_rotation"]
    fig = plt.figure(figsize=(WIDTH / 72, 640 / 72))
    side = 286
    for place, turned in enumerate(all_["turned"]):
        axes = fig.add_axes(((16 + place * 322) / WIDTH, 1 - (46 + side) / 640, side / WIDTH, side / 640))
        axes.set_xlim(-1.3, 1.3)
        axes.set_ylim(-1.3, 1.3)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(f"m = {turned['m']:g}, n = {turned['n']:g}: m − n = {turned['m'] - turned['n']:g}")
        axes.add_patch(matplotlib.patches.Circle((0, 0), 1, facecolor="none", edgecolor=INK, alpha=0.35, linewidth=0.8))
        for key, series, dashes in (("q", 0, "-"), ("k", 1, (0, (5, 2)))):
            before, after = all_[key], turned[key]
            axes.plot([0, before[0]], [0, before[1]], color=INK, linewidth=1, alpha=0.6, linestyle=(0, (1, 2)))
            arrow(axes, after, SERIES[series], dashes)
            size = math.hypot(*after)
            say(axes, after[0] * (1 + 0.14 / size), after[1] * (1 + 0.14 / size), f"{key}_{{{'m' if key == 'q' else 'n'}}}", ha="center", va="center_baseline")
            say(axes, before[0] * (1 + 0.12 / math.hypot(*before)), before[1] * (1 + 0.12 / math.hypot(*before)) - (0.05 if key == "q" else 0), key, ha="center", va="center_baseline")
        start, end = (math.degrees(math.atan2(turned[key][1], turned[key][0])) for key in ("k", "q"))
        low, high = sorted((start, start + (end - start + 180) % 360 - 180))
        axes.add_patch(matplotlib.patches.Arc((0, 0), 0.62, 0.62, theta1=low, theta2=high, color=INK, linewidth=1))
        axes.set_xlabel("")
        say(axes, 0, -1.27, f"q_{{m}} · k_{{n}} = {number(turned['product'], 5)}", ha="center")
    axes = fig.add_axes((54 / WIDTH, 54 / 640, (WIDTH - 74) / WIDTH, 176 / 640))
    grid(axes)
    line(axes, all_["curve"]["difference"], all_["curve"]["cosine"], 0)
    first = all_["turned"][0]
    apart = first["m"] - first["n"]
    axes.plot([apart], [first["cosine"]], marker=MARKERS[0], markersize=9, color=SERIES[1], markeredgecolor=INK, linestyle="none")
    axes.annotate(f"m − n = {apart:g}: {number(first['cosine'], 5)}", (apart, first["cosine"]), (18, 3), textcoords="offset points", color=INK, fontsize=SMALL)
    axes.set_title("cosine of the angle between q_{m} and k_{n}")
    axes.set_xlabel("m − n", labelpad=2)
    axes.set_xlim(-40, 40)
    axes.set_ylim(-1.08, 1.2)
    axes.set_yticks([-1, 0, 1])
    plain(axes.xaxis)
    plain(axes.yaxis)
    second = all_["turned"][1]
    return fig, "RoPE sees positions through their difference alone", (
        f"A pair of components of a query and of a key, turned by {number(all_['theta'], 1)} radians for each position. Left: positions m = {first['m']:g} and n = "
        f"{first['n']:g}; right: {second['m']:g} and {second['n']:g}. Both "
        f"arrows point elsewhere, but the angle between them is the same, and so is their product, {number(first['product'], 5)}. Below: the cosine of the angle against "
        f"m − n, a wave with the period 2π/θ, about "
        f"{2 * math.pi / all_['theta']:.0f} positions; at m − n = {apart:g} it is {number(first['cosine'], 5)}.")


def relu_gelu(data):
    all_ = data["relu_gelu"]
    fig, (upper, lower) = figure(560, rows=2)
    frame(fig, 58, 36, 150, 50, hspace=0.34)
    for axes in (upper, lower):
        grid(axes)
        plain(axes.xaxis)
    line(upper, all_["x"], all_["gelu"], 0)
    line(upper, all_["x"], all_["relu"], 1)
    least = all_["least"]
    upper.plot([least["x"]], [least["gelu"]], marker=MARKERS[0], markersize=8, color=SERIES[0], markeredgecolor=INK, linestyle="none")
    upper.annotate(f"GELU's least: {number(least['gelu'], 5)}\nat {number(least['x'], 5)}", (least["x"], least["gelu"]), (-3.8, 0.95), color=INK, fontsize=SMALL,
                   arrowprops=dict(arrowstyle="-", color=INK, linewidth=0.8, shrinkB=5))
    upper.annotate("ReLU", (0.85, 0.85), (0.1, 1.75), color=INK, fontsize=SMALL, ha="right", arrowprops=dict(arrowstyle="-", color=INK, linewidth=0.8))
    at = min(range(len(all_["x"])), key=lambda i: abs(all_["x"][i] - 0.75))
    upper.annotate("GELU", (all_["x"][at], all_["gelu"][at]), (1.6, 0.25), color=INK, fontsize=SMALL, arrowprops=dict(arrowstyle="-", color=INK, linewidth=0.8))
    upper.set_title("ReLU and GELU (erf form)")
    upper.set_xlim(-4, 3)
    upper.set_ylim(-0.4, 3)
    upper.set_yticks([0, 1, 2, 3])
    plain(upper.yaxis)
    lower.set_title("|other form − erf form|, over |x|")
    lower.set_yscale("log")
    for series, form in enumerate(all_["forms"]):
        size = [abs(y) for y in form["difference"]]
        line(lower, all_["positive"], size, series)
        lower.plot([form["farthest"]], [abs(form["greatest"])], marker=MARKERS[series], markersize=8, color=SERIES[series], markeredgecolor=INK, linestyle="none")
        say(lower, 6.15, size[-1] * (2 if form["name"] == "tanh" else 1), f"{form['name']} form", va="center_baseline")
    tanh, sigmoid = all_["forms"]
    lower.annotate(number(abs(sigmoid["greatest"]), 8), (sigmoid["farthest"], abs(sigmoid["greatest"])), (0, 9), textcoords="offset points", ha="left", color=INK, fontsize=SMALL)
    lower.annotate(number(abs(tanh["greatest"]), 10), (tanh["farthest"], abs(tanh["greatest"])), (8, 6), textcoords="offset points", ha="left", color=INK, fontsize=SMALL)
    lower.set_xlim(0, 6)
    lower.set_ylim(1e-8, 0.3)
    lower.set_yticks([1e-2, 1e-4, 1e-6, 1e-8])
    powers(lower.yaxis)
    return fig, "ReLU, GELU, and GELU's other forms", (
        f"Above: ReLU, a kink at 0, and GELU, smooth, below ReLU and least at x = {number(least['x'], 5)}, where it is {number(least['gelu'], 5)}. Below, with a "
        f"logarithmic axis: how far the tanh form and the sigmoid form "
        f"are from the erf form. The tanh form is at most {abs(tanh['greatest']):.4e} off, at |x| = {number(tanh['farthest'], 4)}, and is equal to it at some points "
        f"between; the sigmoid form at most "
        f"{number(abs(sigmoid['greatest']), 6)}, at |x| = {number(sigmoid['farthest'], 4)}.")


def layer_norm_epsilon(data):
    all_ = data["layer_norm_epsilon"]
    fig, axes = figure(360)
    frame(fig, 54, 36, 30, 54)
    grid(axes)
    axes.set_xscale("log")
    for series, key in enumerate(("in_root", "beside")):
        line(axes, all_["sigma"], all_[key], series)
        axes.plot([m["sigma"] for m in all_["marked"]], [m[key] for m in all_["marked"]], linestyle="none", marker=MARKERS[series], markersize=8, color=SERIES[series], markeredgecolor=INK)
    small = all_["marked"][-1]
    axes.annotate(f"ε in the root: {number(small['in_root'], 6)} at 10^{{−3}}", (small["sigma"], small["in_root"]), (14, -8), textcoords="offset points", color=INK, fontsize=SMALL)
    axes.annotate(f"ε beside σ: {number(small['beside'], 6)} at 10^{{−3}}", (small["sigma"], small["beside"]), (-14, 16), textcoords="offset points", color=INK, fontsize=SMALL)
    axes.set_title("x̂_{1} of the row (σ, −σ), with ε = 10^{−5}")
    axes.set_xlabel("σ", labelpad=2)
    axes.set_xlim(1e-6, 10)
    axes.set_ylim(-0.04, 1.2)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xticks([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10])
    powers(axes.xaxis)
    plain(axes.yaxis)
    rows = "; ".join(f"at σ = {m['sigma']:g} they are {number(m['in_root'], 6)} and {number(m['beside'], 6)}" for m in all_["marked"])
    return fig, "Two places of ε in layer normalisation", (
        f"The first component of the normalised row (σ, −σ) against σ from 10⁻⁶ to 10, on a logarithmic axis, with ε = 10⁻⁵ in the root and beside σ. Both rise from 0 to "
        f"1 like a step; with ε in the root the step is at "
        f"σ = √ε, about 0.003, with ε beside σ at σ = ε. ε in the root and beside σ: {rows}.")


def residual(data):
    all_ = data["residual"]
    fig, axes = figure(360)
    frame(fig, 44, 36, 172, 52)
    grid(axes)
    axes.plot([-4, 4], [1, 1], color=INK, linewidth=1.2)
    for series, (key, text) in enumerate((("minus_tanh", "f = −tanh x"), ("plus_tanh", "f = tanh x"), ("minus_nine_tenths", "f = −0.9 x"))):
        line(axes, all_["x"], all_[key], series)
        shift = {"minus_tanh": -0.1, "plus_tanh": 0.1}.get(key, 0)
        say(axes, 4.12, all_[key][-1] + shift, text, va="center_baseline")
    axes.plot([0], [all_["at_zero"]], marker=MARKERS[0], markersize=9, color=SERIES[0], markeredgecolor=INK, linestyle="none", clip_on=False)
    axes.annotate(f"{all_['at_zero']:g} at x = 0", (0, all_["at_zero"]), (-0.9, 0.3), ha="right", color=INK, fontsize=SMALL, arrowprops=dict(arrowstyle="-", color=INK, linewidth=0.8, shrinkB=6))
    axes.annotate("“at least 1”", (-2.7, 1), (-3.7, 1.4), color=INK, fontsize=SMALL, arrowprops=dict(arrowstyle="-", color=INK, linewidth=0.8))
    axes.set_title("1 + f′(x), the slope of x + f(x)")
    axes.set_xlabel("x", labelpad=2)
    axes.set_xlim(-4, 4)
    axes.set_ylim(-0.06, 2.1)
    axes.set_yticks([0, 0.5, 1, 1.5, 2])
    plain(axes.xaxis)
    plain(axes.yaxis)
    return fig, "The slope of a residual connection may be less than 1", (
        f"1 + f′(x) for three sublayers f of one component, from −4 to 4, and the line at 1, which a lecture says is the least. For f = tanh x the slope is above 1, up "
        f"to {max(all_['plus_tanh']):g} at 0; for f = −tanh x it "
        f"is below 1 everywhere and {all_['at_zero']:g} at x = 0, where nothing of the gradient passes; for f = −0.9 x it is {number(all_['minus_nine_tenths'][0], 1)} "
        f"throughout.")


PICTURES = {"sinusoidal": sinusoidal, "rope_rotation": rope_rotation, "relu_gelu": relu_gelu, "layer_norm_epsilon": layer_norm_epsilon, "residual": residual}
