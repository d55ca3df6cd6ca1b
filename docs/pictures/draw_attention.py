# SPDX-License-Identifier: BSL-1.0
"""Heat maps of weights, masks and the Jacobian of softmax, and where outputs lie."""

from draw_style import INK, SERIES, SMALL, TEXT, canvas, cell, figure, frame, grid, number, plain, say


def heat_map(axes, left, top, side, weights, visible, digits, title):
    n_q, n_k = len(weights), len(weights[0])
    say(axes, left - 72, top - 40, title)
    say(axes, left - 8, top - 10, "key", ha="right")
    for j in range(n_k):
        say(axes, left + (j + 0.5) * side, top - 10, str(j + 1), ha="center")
    for i in range(n_q):
        say(axes, left - 8, top + (i + 0.5) * side, f"query {i + 1}", ha="right", va="center_baseline")
        for j in range(n_k):
            cell(axes, left + j * side, top + i * side, side, weights[i][j], number(weights[i][j], digits) if visible[i][j] else "", masked=not visible[i][j])


def attention_heat_maps(data):
    maps = data["attention_heat_maps"]["maps"]
    fig, axes = canvas(596)
    for place, one in enumerate(maps):
        n = len(one["weights"])
        heat_map(axes, (78, 406)[place % 2], (66, 338)[place // 2], 90 if n == 2 else 54, one["weights"], one["visible"], 5 if n == 2 else 3, one["name"])
    cell(axes, 8, 569, 18, 0, masked=True)
    say(axes, 34, 584, "masked: weight exactly 0. The fuller the colour, the greater the weight")
    first, second, third, fourth = (one["weights"] for one in maps)
    row = ", ".join(number(x, 3) for x in fourth[3])
    return fig, "Attention weights of four small examples", (
        f"Four heat maps of attention weights, a row for each query, a column for each key; each row adds to 1. Q = K = I with two components: {number(first[0][0], 5)} on "
        f"the diagonal, {number(first[0][1], 5)} beside it. Queries and keys (1, 1) and (1, −1): {number(second[0][0], 5)} and {number(second[0][1], 5)}. The same under a "
        f"causal mask: the first query gives its first key the weight {number(third[0][0], 0)}, and the masked cell is hatched. Four tokens, (1, 0), (0, 1), (1, 1) and "
        f"(1, −1), under a causal mask: six "
        f"cells above the diagonal are hatched; the last row is {row}.")


def output_geometry(data):
    geometry = data["output_geometry"]
    (v1, v2), (z1, z2), (alpha, _) = geometry["v"], geometry["z"], geometry["weights"]
    fig, axes = figure(400)
    frame(fig, 44, 38, 20, 36)
    grid(axes)
    axes.plot([v1[0], v2[0]], [v1[1], v2[1]], color=SERIES[2], linewidth=2.5)
    points = (("v_{1}", v1, 1, "s"), ("v_{2}", v2, 1, "s"), ("z_{1}", z1, 0, "o"), ("z_{2}", z2, 0, "o"))
    for text, (x, y), series, marker in points:
        axes.plot([x], [y], marker=marker, markersize=9, color=SERIES[series], markeredgecolor=INK, linestyle="none", clip_on=False)
        digits = 5 if text[0] == "z" else 0
        axes.annotate(f"{text} = ({number(x, digits)}, {number(y, digits)})", (x, y), (12, 4), textcoords="offset points", color=INK, fontsize=TEXT)
    first, second = number(alpha[0], 5), number(alpha[1], 5)
    say(axes, 1.95, 1.7, f"z_{{1}} = {first} v_{{1}} + {second} v_{{2}}", fontsize=TEXT)
    say(axes, 1.95, 1.4, f"z_{{2}} = {second} v_{{1}} + {first} v_{{2}}", fontsize=TEXT)
    axes.set_xlim(0, 3.6)
    axes.set_ylim(0, 3.15)
    axes.set_title("second component, over the first")
    plain(axes.xaxis)
    plain(axes.yaxis)
    return fig, "Outputs lie between the values", (
        f"The plane with the values v1 = (2, 0) and v2 = (0, 3), a segment between them, and both outputs of the example Q = K = I on it: z1 = ({number(z1[0], 5)}, "
        f"{number(z1[1], 5)}), "
        f"nearer to v1, with the weights {first} and {second}; z2 = ({number(z2[0], 5)}, {number(z2[1], 5)}), nearer to v2, with the weights exchanged.")


def gradient_flow(data):
    flow = data["gradient_flow"]
    scores, weights, jacobian = flow["scores"], flow["weights"], flow["jacobian"]
    n, side, height, left, top = len(scores), 98, 52, 142, 112
    fig, axes = canvas(top + n * height + 52)
    greatest = max(abs(x) for row in jacobian for x in row)
    say(axes, left + n * side / 2, 22, "∂α_{j} / ∂z_{l} = α_{j} (δ_{jl} − α_{l})", ha="center", fontsize=TEXT + 1)
    say(axes, left - 10, 58, "score z_{l}", ha="right")
    say(axes, left - 10, 80, "weight α_{l}", ha="right")
    for i in range(n):
        say(axes, left + (i + 0.5) * side, 58, number(scores[i], 1), ha="center")
        say(axes, left + (i + 0.5) * side, 80, number(weights[i], 5), ha="center")
        say(axes, left - 10, top + (i + 0.5) * height, f"α_{{{i + 1}}} = {number(weights[i], 5)}", ha="right", va="center_baseline")
        for j in range(n):
            negative = jacobian[i][j] < 0
            cell(axes, left + j * side, top + i * height, side, (abs(jacobian[i][j]) / greatest) ** 0.5, number(jacobian[i][j], 5), series=1 if negative else 0, height=height, size=SMALL)
    for place, (series, text) in enumerate(((0, "positive: the diagonal"), (1, "negative: everything else"))):
        cell(axes, left + place * 230, top + n * height + 18, 18, 1, series=series)
        say(axes, left + place * 230 + 26, top + n * height + 32, text)
    return fig, "The Jacobian of softmax", (
        f"A 5 by 5 heat map of the Jacobian of softmax for the scores {', '.join(number(x, 1) for x in scores)}, whose weights are "
        f"{', '.join(number(x, 5) for x in weights)}. The diagonal is "
        f"positive, {', '.join(number(jacobian[i][i], 5) for i in range(n))}; all other elements are negative, the greatest in size {number(jacobian[1][2], 5)}, between "
        f"the second and the third. "
        f"Every row and every column adds to 0. Beside the second weight, {number(weights[1], 2)}, the others hardly act on each other: "
        f"{number(jacobian[0][3], 5)} between the first and the fourth.")


def causal_alignment(data):
    alignment = data["causal_alignment"]
    n_q, n_k, side = alignment["n_q"], alignment["n_k"], 44
    fig, axes = canvas(238)
    for left, key, title in ((78, "top_left", "top left: j ≤ i"), (410, "bottom_right", "bottom right: j ≤ i + n_{k} − n_{q}")):
        say(axes, left - 72, 22, title, fontsize=TEXT)
        say(axes, left - 8, 56, "key", ha="right")
        for j in range(n_k):
            say(axes, left + (j + 0.5) * side, 56, str(j), ha="center")
        for i in range(n_q):
            say(axes, left - 8, 66 + (i + 0.5) * side, f"query {i}", ha="right", va="center_baseline")
            for j in range(n_k):
                visible = alignment[key][i][j]
                cell(axes, left + j * side, 66 + i * side, side, 0.8 if visible else 0, "1" if visible else "", masked=not visible, size=TEXT)
    say(axes, 10, 226, "1: query i may see key j; hatched: masked")
    counts = {key: ", ".join(str(sum(row)) for row in alignment[key]) for key in ("top_left", "bottom_right")}
    return fig, "Two causal masks for three queries and five keys", (
        f"Two grids of 3 queries by 5 keys. Top left: queries 0, 1 and 2 see the first {counts['top_left']} keys. Bottom right: they see the first "
        f"{counts['bottom_right']}, so that the last query "
        f"sees all keys. What is masked is hatched.")


PICTURES = {"attention_heat_maps": attention_heat_maps, "output_geometry": output_geometry, "gradient_flow": gradient_flow, "causal_alignment": causal_alignment}
