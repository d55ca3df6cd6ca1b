# SPDX-License-Identifier: BSL-1.0
"""How scores are distributed, and what softmax makes of scores that lie far apart."""

from draw_style import INK, MARKERS, SERIES, SMALL, figure, frame, grid, line, number, plain, powers, say


def lengths_axis(axes):
    axes.set_xscale("log", base=2)
    axes.set_xticks([1, 4, 16, 64, 256])
    axes.minorticks_off()
    plain(axes.xaxis)
    axes.set_xlabel("d_{k}", labelpad=2)


def saturation(data):
    all_ = data["saturation"]
    d = all_["d_k"]
    fig, (left, right) = figure(330, 2)
    frame(fig, 44, 36, 14, 50, wspace=0.24)
    for axes in (left, right):
        grid(axes)
        lengths_axis(axes)
        axes.set_xlim(1, 256)
    left.set_title("the greater weight, α_{1}")
    for series, key in enumerate(("unscaled", "scaled")):
        line(left, d, all_["greatest"][key], series)
        line(right, d, all_["gradient"][key], series)
    line(right, d, all_["gradient"]["scaled_by_raw"], 2)
    left.set_ylim(0.5, 1.02)
    plain(left.yaxis, 1)
    say(left, 18, 0.93, "unscaled", )
    say(left, 40, 0.745, "scaled")
    right.set_title("α_{1} α_{2}, the derivative's factor")
    right.set_yscale("log")
    right.set_ylim(1e-8, 1)
    right.set_yticks([1, 1e-2, 1e-4, 1e-6, 1e-8])
    powers(right.yaxis)
    say(right, 1.3, 0.33, "scaled, by the scaled score")
    say(right, 1.3, 1.4e-2, "scaled, by the raw score")
    say(right, 7, 1.5e-5, "unscaled")
    at = d.index(64)
    for axes, key in ((left, "greatest"), (right, "gradient")):
        for series, name in enumerate(("unscaled", "scaled", "scaled_by_raw")[: 2 if axes is left else 3]):
            axes.plot([64], [all_[key][name][at]], marker=MARKERS[series], markersize=7, color=SERIES[series], markeredgecolor=INK)
    figures = all_["gradient"]
    return fig, "Saturation of softmax as queries and keys grow longer", (
        f"Two panels over d_k from 1 to 256, for two keys whose raw scores differ by √d_k, a standard deviation of q · k. Left: the greater weight; unscaled it rises from {number(all_['greatest']['unscaled'][0], 5)} "
        f"towards 1, at d_k = 64, where the scores are 8 and 0, it is {number(all_['greatest']['unscaled'][at], 5)}; scaled by 1/√d_k it stays at {number(all_['greatest']['scaled'][at], 5)}. "
        f"Right, with a logarithmic axis: the factor α1 α2 of the derivative; unscaled it falls to {number(figures['unscaled'][at], 9)} at d_k = 64 and {figures['unscaled'][-1]:.2e} at 256; scaled it stays at "
        f"{number(figures['scaled'][at], 6)}, and the derivative by the raw score, which has the scale for another factor, is {number(figures['scaled_by_raw'][at], 7)} at 64.")


def score_distribution(data):
    all_ = data["score_distribution"]
    s = all_["s"]
    fig, (left, right) = figure(350, 2)
    frame(fig, 44, 36, 62, 50, wspace=0.24)
    left.set_title("density")
    right.set_title("the same, logarithmic")
    for axes in (left, right):
        grid(axes)
        axes.set_xlabel("scaled score q · k / √d_{k}", labelpad=2)
        for series, curve in enumerate(all_["curves"]):
            line(axes, s, curve["density"], series)
        axes.plot(s, all_["normal"], color=INK, linewidth=1.2)
    left.set_xlim(0, 3)
    left.set_ylim(0, 1.2)
    right.set_xlim(0, 6)
    right.set_ylim(1e-7, 3)
    right.set_yscale("log")
    right.set_yticks([1, 1e-2, 1e-4, 1e-6])
    powers(right.yaxis)
    plain(left.yaxis)
    plain(left.xaxis)
    plain(right.xaxis)
    for curve in all_["curves"]:
        say(right, 6.1, curve["density"][-1] * (0.75 if curve["d_k"] < 64 else 0.6), ("d_{k} = " if curve["d_k"] == 1 else "") + str(curve["d_k"]), va="center_baseline", clip_on=False)
    say(right, 4.05, 1.2e-6, "normal", ha="right")
    say(left, 0.2, 1.02, "d_{k} = 1")
    say(left, 0.08, 0.62, "4")
    say(left, 1.02, 0.3, "16, 64 and normal")
    first, last = all_["curves"][0], all_["curves"][-1]
    return fig, "How scaled scores are distributed", (
        "The density of q · k / √d_k for queries and keys with independent standard normal components, for d_k = 1, 4, 16 and 64, and the normal curve, for positive scores; the other half is its mirror. All have the variance 1. "
        f"For d_k = 1 there is a pole at 0 and a heavy tail: the mean of the fourth power is {number(first['kurtosis'], 1)}, of the normal curve 3, and for d_k = 64 {number(last['kurtosis'], 3)}. On a linear axis the curves for 16 and 64 "
        "are hardly told from the normal one; on a logarithmic axis their tails, too, are heavier than the normal ones.")


def sensitivity(data):
    all_ = data["sensitivity"]
    fig, axes = figure(330)
    frame(fig, 48, 36, 16, 52)
    grid(axes)
    line(axes, all_["difference"], all_["product"], 0)
    for place, mark in enumerate(all_["marked"]):
        x, y = mark["difference"], mark["product"]
        axes.plot([x], [y], marker=MARKERS[place], markersize=9, color=SERIES[1], markeredgecolor=INK, linestyle="none")
        offset, align = {8.0: ((-4, 16), "center"), 1.0: ((14, -2), "left"), 0.0: ((0, 12), "center")}[x]
        digits = 9 if y < 0.01 else 6 if y < 0.25 else 2
        axes.annotate(f"{x:g} apart: {number(y, digits)}", (x, y), offset, textcoords="offset points", ha=align, color=INK, fontsize=SMALL)
    axes.set_title("α_{1} α_{2}, the factor of the score's derivative")
    axes.set_xlabel("difference of the two scores", labelpad=2)
    axes.set_xlim(-10, 10)
    axes.set_ylim(0, 0.285)
    axes.set_yticks([0, 0.05, 0.1, 0.15, 0.2, 0.25])
    plain(axes.xaxis)
    plain(axes.yaxis)
    eight, one, tie = all_["marked"]
    return fig, "What a score's derivative has for a factor", (
        f"A bell-shaped curve: α1 α2 = α1 (1 − α1) against the difference of two scores, from −10 to 10. It is greatest at a tie, {number(tie['product'], 2)}. Marked are the lectures' differences: 1, the scaled scores, with "
        f"{number(one['product'], 6)}, and 8, the raw ones, with {number(eight['product'], 9)}, {one['product'] / eight['product']:.0f} times less.")


def variance_growth(data):
    all_ = data["variance_growth"]
    d, measured = all_["d_k"], all_["measured"]
    fig, axes = figure(350)
    frame(fig, 50, 36, 150, 50)
    grid(axes)
    lengths_axis(axes)
    axes.set_yscale("log")
    names = {"raw": "q · k: d_{k}", "scaled": "q · k / √d_{k}: 1", "by_d": "q · k / d_{k}: 1 / d_{k}"}
    for series, (key, text) in enumerate(names.items()):
        line(axes, d, all_[key], series)
        axes.plot(d, [m[key] for m in measured], linestyle="none", marker=MARKERS[series], markersize=7, color=SERIES[series], markeredgecolor=INK)
        say(axes, 300, all_[key][-1], text, va="center_baseline", clip_on=False, fontsize=SMALL + 1)
    axes.set_xlim(0.9, 280)
    axes.set_ylim(2e-3, 500)
    axes.set_yticks([1e-2, 1e-1, 1, 10, 100])
    powers(axes.yaxis)
    axes.set_title("variance of the score")
    return fig, "The variance of scores grows with their length, unless they are scaled", (
        f"The variance of three scores against d_k from 1 to 256, both axes logarithmic. q · k: d_k, up to 256. q · k / √d_k: 1 throughout. q · k / d_k: 1/d_k, down to {all_['by_d'][-1]:.5f}. Marks beside the lines are "
        f"measured variances of {all_['pairs']} random pairs each; for d_k = 256 they are {number(measured[-1]['raw'], 1)}, {number(measured[-1]['scaled'], 3)} and {number(measured[-1]['by_d'], 5)}.")


PICTURES = {"saturation": saturation, "score_distribution": score_distribution, "sensitivity": sensitivity, "variance_growth": variance_growth}
