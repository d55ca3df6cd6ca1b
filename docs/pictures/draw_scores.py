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
    fig, (upper, lower) = figure(540, rows=2)
    frame(fig, 54, 36, 176, 50, hspace=0.34)
    for axes in (upper, lower):
        grid(axes)
        lengths_axis(axes)
        axes.set_xlim(1, 256)
    upper.set_xlabel("")
    upper.set_title("the greater weight, α_{1}")
    for series, key in enumerate(("unscaled", "scaled")):
        line(upper, d, all_["greatest"][key], series)
        line(lower, d, all_["gradient"][key], series)
        say(upper, 280, all_["greatest"][key][-1], key, va="center_baseline")
    line(lower, d, all_["gradient"]["scaled_by_raw"], 2)
    upper.set_ylim(0.5, 1.03)
    plain(upper.yaxis, 1)
    lower.set_title("α_{1} α_{2}, the factor of the derivative")
    lower.set_yscale("log")
    lower.set_ylim(1e-8, 1)
    lower.set_yticks([1, 1e-2, 1e-4, 1e-6, 1e-8])
    powers(lower.yaxis)
    for key, text in (("unscaled", "unscaled"), ("scaled", "scaled"), ("scaled_by_raw", "scaled, by raw score")):
        say(lower, 280, all_["gradient"][key][-1], text, va="center_baseline")
    at = d.index(64)
    for axes, key in ((upper, "greatest"), (lower, "gradient")):
        for series, name in enumerate(("unscaled", "scaled", "scaled_by_raw")[: 2 if axes is upper else 3]):
            axes.plot([64], [all_[key][name][at]], marker=MARKERS[series], markersize=7, color=SERIES[series], markeredgecolor=INK)
    figures = all_["gradient"]
    return fig, "Saturation of softmax as queries and keys grow longer", (
        f"Two panels over d_k from 1 to 256, for two keys whose raw scores differ by √d_k, a standard deviation of q · k; marked is d_k = 64. Above: the greater weight; "
        f"unscaled it rises from {number(all_['greatest']['unscaled'][0], 5)} "
        f"towards 1, at d_k = 64, where the scores are 8 and 0, it is {number(all_['greatest']['unscaled'][at], 5)}; scaled by 1/√d_k it stays at "
        f"{number(all_['greatest']['scaled'][at], 5)}. "
        f"Below, with a logarithmic axis: the factor α1 α2 of the derivative; unscaled it falls to {number(figures['unscaled'][at], 9)} at d_k = 64 and "
        f"{figures['unscaled'][-1]:.2e} at 256; scaled it stays at "
        f"{number(figures['scaled'][at], 6)}, and the derivative by the raw score, which has the scale for another factor, is {number(figures['scaled_by_raw'][at], 7)} at 64.")


def score_distribution(data):
    all_ = data["score_distribution"]
    s = all_["s"]
    fig, (upper, lower) = figure(600, rows=2)
    frame(fig, 54, 36, 96, 52, hspace=0.3)
    upper.set_title("density of q · k / √d_{k}")
    lower.set_title("the same, with a logarithmic axis")
    for axes in (upper, lower):
        grid(axes)
        for series, curve in enumerate(all_["curves"]):
            for sign in (1, -1) if axes is upper else (1,):
                line(axes, [sign * x for x in s], curve["density"], series)
        for sign in (1, -1) if axes is upper else (1,):
            axes.plot([sign * x for x in s], all_["normal"], color=INK, linewidth=1.2)
        plain(axes.xaxis)
    lower.set_xlabel("scaled score", labelpad=2)
    upper.set_xlim(-4, 4)
    upper.set_ylim(0, 1.1)
    plain(upper.yaxis)
    lower.set_xlim(0, 6)
    lower.set_ylim(2e-9, 3)
    lower.set_yscale("log")
    lower.set_yticks([1, 1e-2, 1e-4, 1e-6, 1e-8])
    powers(lower.yaxis)
    at = min(range(len(s)), key=lambda i: abs(s[i] - 0.7))
    peak = [curve["density"][0] for curve in all_["curves"]]
    nearest = min(range(len(s)), key=lambda i: abs(all_["curves"][0]["density"][i] - 0.85))
    for text, x, y, level in (("d_{k} = 1", s[nearest], 0.85, 0.85), ("4", 0.02, peak[1], 0.62), ("16, 64 and normal", s[at], all_["normal"][at], 0.42)):
        upper.annotate(text, (x, y), (1.5, level), va="center", color=INK, fontsize=SMALL, arrowprops=dict(arrowstyle="-", color=INK, linewidth=0.8, shrinkA=2, shrinkB=1))
    for curve in all_["curves"]:
        say(lower, 6.1, curve["density"][-1], f"d_{{k}} = {curve['d_k']}", va="center_baseline")
    say(lower, 6.1, all_["normal"][-1], "normal", va="center_baseline")
    first, last = all_["curves"][0], all_["curves"][-1]
    return fig, "How scaled scores are distributed", (
        "The density of q · k / √d_k for queries and keys with independent standard normal components, for d_k = 1, 4, 16 and 64, and the normal curve. All are "
        "symmetric, and have the variance 1. "
        f"For d_k = 1 there is a pole at 0 and a heavy tail: the mean of the fourth power is {number(first['kurtosis'], 1)}, of the normal curve 3, and for d_k = 64 "
        f"{number(last['kurtosis'], 3)}. On a linear axis the curves for 16 and 64 "
        "are hardly told from the normal one; on a logarithmic axis their tails, too, are heavier than the normal ones.")


def sensitivity(data):
    all_ = data["sensitivity"]
    fig, axes = figure(330)
    frame(fig, 56, 36, 20, 54)
    grid(axes)
    line(axes, all_["difference"], all_["product"], 0)
    for place, mark in enumerate(all_["marked"]):
        x, y = mark["difference"], mark["product"]
        axes.plot([x], [y], marker=MARKERS[place], markersize=9, color=SERIES[1], markeredgecolor=INK, linestyle="none")
        offset, align = {8.0: ((46, 30), "right"), 1.0: ((14, -2), "left"), 0.0: ((0, 12), "center")}[x]
        digits = 9 if y < 0.01 else 6 if y < 0.25 else 2
        axes.annotate(f"{x:g} apart: {number(y, digits)}", (x, y), offset, textcoords="offset points", ha=align, color=INK, fontsize=SMALL)
    axes.set_title("α_{1} α_{2}, the factor of the score's derivative")
    axes.set_xlabel("difference of the two scores", labelpad=2)
    axes.set_xlim(-10, 10)
    axes.set_ylim(0, 0.285)
    axes.set_xticks([-10, -5, 0, 5, 10])
    axes.set_yticks([0, 0.05, 0.1, 0.15, 0.2, 0.25])
    plain(axes.xaxis)
    plain(axes.yaxis)
    eight, one, tie = all_["marked"]
    return fig, "What a score's derivative has for a factor", (
        f"A bell-shaped curve: α1 α2 = α1 (1 − α1) against the difference of two scores, from −10 to 10. It is greatest at a tie, {number(tie['product'], 2)}. Marked are "
        f"the lectures' differences: 1, the scaled scores, with "
        f"{number(one['product'], 6)}, and 8, the raw ones, with {number(eight['product'], 9)}, {one['product'] / eight['product']:.0f} times less.")


def variance_growth(data):
    all_ = data["variance_growth"]
    d, measured = all_["d_k"], all_["measured"]
    fig, axes = figure(350)
    frame(fig, 54, 36, 168, 50)
    grid(axes)
    lengths_axis(axes)
    axes.set_yscale("log")
    names = {"raw": "q · k: d_{k}", "scaled": "q · k / √d_{k}: 1", "by_d": "q · k / d_{k}: 1 / d_{k}"}
    for series, (key, text) in enumerate(names.items()):
        line(axes, d, all_[key], series)
        axes.plot(d, [m[key] for m in measured], linestyle="none", marker=MARKERS[series], markersize=7, color=SERIES[series], markeredgecolor=INK)
        say(axes, 300, all_[key][-1], text, va="center_baseline")
    axes.set_xlim(0.9, 280)
    axes.set_ylim(2e-3, 500)
    axes.set_yticks([1e-2, 1e-1, 1, 10, 100])
    powers(axes.yaxis)
    axes.set_title("variance of the score")
    return fig, "The variance of scores grows with their length, unless they are scaled", (
        f"The variance of three scores against d_k from 1 to 256, both axes logarithmic. q · k: d_k, up to 256. q · k / √d_k: 1 throughout. q · k / d_k: 1/d_k, down to "
        f"{all_['by_d'][-1]:.5f}. Marks beside the lines are "
        f"measured variances of {all_['pairs']} random pairs each; for d_k = 256 they are {number(measured[-1]['raw'], 1)}, {number(measured[-1]['scaled'], 3)} and "
        f"{number(measured[-1]['by_d'], 5)}.")


PICTURES = {"saturation": saturation, "score_distribution": score_distribution, "sensitivity": sensitivity, "variance_growth": variance_growth}
