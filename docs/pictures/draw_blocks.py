# SPDX-License-Identifier: BSL-1.0
"""Diagrams of blocks: what is computed from what, and in which shapes."""

import matplotlib
from matplotlib.patches import FancyBboxPatch

from draw_style import INK, SERIES, SMALL, TEXT, canvas, say

FILL = {"attention": 0, "network": 2, "norm": 1, "weights": 3}


def box(axes, x, y, text, width=150, height=44, kind=None):
    """A box around its middle. Kinds differ in colour and in what is written."""
    face = "none" if kind is None else (*matplotlib.colors.to_rgb(SERIES[FILL[kind]]), 0.3)
    axes.add_patch(FancyBboxPatch((x - width / 2, y - height / 2), width, height, boxstyle="round,pad=0,rounding_size=6", facecolor=face, edgecolor=INK, linewidth=1.2))
    lines = text.split("\n")
    for place, one in enumerate(lines):
        say(axes, x, y + 19 * (place - (len(lines) - 1) / 2), one, ha="center", va="center_baseline")


def plus(axes, x, y):
    axes.add_patch(matplotlib.patches.Circle((x, y), 13, facecolor="none", edgecolor=INK, linewidth=1.2))
    axes.plot([x - 7, x + 7], [y, y], color=INK, linewidth=1.6)
    axes.plot([x, x], [y - 7, y + 7], color=INK, linewidth=1.6)


def path(axes, *points, dashes="-"):
    """A line with corners, and a head at its end."""
    xs, ys = zip(*points)
    axes.plot(xs[:-1], ys[:-1], color=INK, linewidth=1.4, linestyle=dashes)
    axes.annotate("", points[-1], points[-2], arrowprops=dict(arrowstyle="-|>", color=INK, linewidth=1.4, mutation_scale=11, shrinkA=0, shrinkB=0, linestyle=dashes))


def shape(axes, x, y, text):
    say(axes, x, y, text, va="center_baseline")


def post_norm(axes, x, top, sublayer, kind, norm, source="x", result="a", around=-104):
    """LN(x + f(x)), upwards: what goes in at the bottom. Returns the y of its end."""
    y = top + 296
    say(axes, x, y + 14, source, ha="center", va="center_baseline", fontsize=TEXT)
    path(axes, (x, y), (x, y - 54))
    box(axes, x, y - 76, sublayer, kind=kind)
    path(axes, (x, y - 98), (x, y - 126))
    plus(axes, x, y - 139)
    path(axes, (x, y - 24), (x + around, y - 24), (x + around, y - 139), (x - 13 if around < 0 else x + 13, y - 139))
    path(axes, (x, y - 152), (x, y - 180))
    box(axes, x, y - 202, norm, kind="norm")
    path(axes, (x, y - 224), (x, y - 256))
    say(axes, x, y - 268, result, ha="center", va="center_baseline", fontsize=TEXT)


def pre_norm(axes, x, top, sublayer, kind, norm, source="x", result="a", around=-104):
    """x + f(LN(x))."""
    y = top + 296
    say(axes, x, y + 14, source, ha="center", va="center_baseline", fontsize=TEXT)
    path(axes, (x, y), (x, y - 54))
    box(axes, x, y - 76, norm, kind="norm")
    path(axes, (x, y - 98), (x, y - 128))
    box(axes, x, y - 150, sublayer, kind=kind)
    path(axes, (x, y - 172), (x, y - 200))
    plus(axes, x, y - 213)
    path(axes, (x, y - 24), (x + around, y - 24), (x + around, y - 213), (x - 13 if around < 0 else x + 13, y - 213))
    path(axes, (x, y - 226), (x, y - 256))
    say(axes, x, y - 268, result, ha="center", va="center_baseline", fontsize=TEXT)


def norm_placement(_):
    fig, axes = canvas(430)
    for x, title, formula, draw in ((178, "post-norm", "LN(x + f(x))", post_norm), (490, "pre-norm", "x + f(LN(x))", pre_norm)):
        say(axes, x, 24, title, ha="center", fontsize=TEXT + 1)
        say(axes, x, 48, formula, ha="center", fontsize=TEXT)
        draw(axes, x, 66, "sublayer f", "attention", "layer norm LN", result="out")
    say(axes, 320, 420, "the direct path passes the norm in post-norm, and nothing in pre-norm", ha="center")
    return fig, "Where the layer norm stands: post-norm and pre-norm", (
        "Two block diagrams, read from the bottom upwards. Post-norm, LN(x + f(x)): x goes into the sublayer and around it; both meet in a sum, and the layer norm "
        "follows the sum. Pre-norm, x + f(LN(x)): x goes into the "
        "layer norm, then into the sublayer, and around both; the sum is what comes out. So in a post-norm block the direct path passes a layer norm; in a pre-norm block "
        "it passes nothing.")


def column(axes, x, bottom, steps, around=-118, width=186):
    """Post-norm sublayers one above the other: (sublayer, kind, norm). Returns where each sublayer's box is, and the top end."""
    y, boxes = bottom, []
    for sublayer, kind, norm in steps:
        path(axes, (x, y), (x, y - 44))
        box(axes, x, y - 68, sublayer, width, 48, kind)
        boxes.append(y - 68)
        path(axes, (x, y - 92), (x, y - 112))
        plus(axes, x, y - 125)
        path(axes, (x, y - 18), (x + around, y - 18), (x + around, y - 125), (x - 13 if around < 0 else x + 13, y - 125))
        path(axes, (x, y - 138), (x, y - 156))
        box(axes, x, y - 174, norm, width, 36, "norm")
        y -= 192
    path(axes, (x, y), (x, y - 28))
    return boxes, y - 28


def encoder_block(data):
    shapes = data["blocks"]
    fig, axes = canvas(500)
    x, bottom = 190, 462
    boxes, end = column(axes, x, bottom, (("multi-head\nself-attention", "attention", "layer norm 1"), ("feed-forward\nnetwork", "network", "layer norm 2")))
    say(axes, x, bottom + 16, "X", ha="center", va="center_baseline", fontsize=TEXT)
    say(axes, x, end - 12, "out", ha="center", va="center_baseline", fontsize=TEXT)
    for y, text in ((bottom + 16, "n × d_{model}"), (boxes[0] - 10, "H heads, each n × d_{k} and n × d_{v};"), (boxes[0] + 12, "weights n × n"),
                    (boxes[0] - 57, "X + MHA(X): n × d_{model}"), (boxes[0] - 106, "a: n × d_{model}"), (boxes[1] - 10, "n × d_{model} → n × d_{ff}"),
                    (boxes[1] + 12, "→ n × d_{model}, token by token"), (boxes[1] - 57, "a + FFN(a): n × d_{model}"), (end - 12, "n × d_{model}")):
        shape(axes, x + 118, y, text)
    return fig, "An encoder layer, and its shapes", (
        "A post-norm encoder layer, read from the bottom upwards, with shapes beside it. X, n × d_model, goes into multi-head self-attention, whose heads are n × d_k and "
        "n × d_v with weights n × n, and around it; the "
        "sum goes through layer norm 1 and gives a, n × d_model. That goes into the feed-forward network, n × d_model to n × d_ff and back, token by token, and around "
        "it; the sum goes through layer norm 2. Between "
        f"the steps every shape is n × d_model, in the original base model with d_model = {shapes['d_model']}.")


def decoder_block(data):
    fig, axes = canvas(700)
    x, bottom = 330, 660
    steps = (("self-attention,\ncausal mask", "attention", "layer norm 1"), ("cross-attention", "attention", "layer norm 2"), ("feed-forward\nnetwork", "network", "layer norm 3"))
    boxes, end = column(axes, x, bottom, steps, around=118)
    say(axes, x, bottom + 16, "X: n × d_{model}", ha="center", va="center_baseline", fontsize=TEXT)
    say(axes, x, end - 12, "out: n × d_{model}", ha="center", va="center_baseline", fontsize=TEXT)
    box(axes, 92, boxes[1] + 130, "memory:\nencoder's output\nm × d_{model}", 156, 74)
    path(axes, (92, boxes[1] + 93), (92, boxes[1]), (x - 93, boxes[1]))
    say(axes, 84, boxes[1] - 14, "keys, values", ha="left", fontsize=SMALL)
    say(axes, x + 10, boxes[1] + 40, "queries", fontsize=SMALL)
    for y, text in ((boxes[0], "weights n × n"), (boxes[0] - 106, "a: n × d_{model}"), (boxes[1], "weights n × m"),
                    (boxes[1] - 106, "c: n × d_{model}"), (boxes[2] - 10, "n × d_{ff}"), (boxes[2] + 12, "inside")):
        shape(axes, x + 132, y, text)
    return fig, "A decoder layer with cross-attention, and its shapes", (
        "A post-norm decoder layer, read from the bottom upwards. The target's tokens X, n × d_model, go through self-attention under a causal mask, weights n × n, a sum "
        "with X, and layer norm 1, which gives a. In "
        "cross-attention the queries come from a, keys and values from the memory, the encoder's output, m × d_model, which enters from the left; its weights are n × m. "
        "Sum with a and layer norm 2 give c. The feed-forward network, a sum "
        f"with c and layer norm 3 give the result, n × d_model; d_model is {data['blocks']['d_model']} in the original base model.")


def multi_head(data):
    shapes = data["blocks"]
    fig, axes = canvas(560)
    x = 320
    d_model, heads, d_k, concat = (shapes[key] for key in ("d_model", "heads", "d_k", "concat"))
    box(axes, x, 530, f"X: n × {d_model}", 180, 40)
    places = (84, 262, 556)
    for at, name in zip(places, ("1", "2", str(heads))):
        path(axes, (x, 510), (x, 488), (at, 488), (at, 456))
        box(axes, at, 430, f"W_{{Q,{name}}}, W_{{K,{name}}}, W_{{V,{name}}}", 156, 52, "weights")
        path(axes, (at, 404), (at, 362))
        say(axes, at + 8, 388, f"n × {d_k}")
        box(axes, at, 336, f"attention\nhead {name}", 156, 52, "attention")
        path(axes, (at, 310), (at, 254))
        say(axes, at + 8, 288, f"n × {d_k}")
        axes.add_patch(matplotlib.patches.Rectangle((at - 78, 210), 156, 44, facecolor=(*matplotlib.colors.to_rgb(SERIES[0]), 0.12), edgecolor=INK, linewidth=1))
        say(axes, at, 232, f"columns of {name}", ha="center", va="center_baseline")
    for y in (430, 336, 232):
        say(axes, (places[1] + places[2]) / 2, y, "…", ha="center", va="center_baseline", fontsize=TEXT + 4)
    axes.add_patch(matplotlib.patches.Rectangle((6, 210), 628, 44, facecolor="none", edgecolor=INK, linewidth=1.2))
    say(axes, 6, 200, f"concat: n × H·d_{{v}} = n × {heads}·{d_k} = n × {concat}")
    path(axes, (x, 210), (x, 148))
    box(axes, x, 122, f"W_{{O}}: {concat} × {d_model}", 180, 52, "weights")
    path(axes, (x, 96), (x, 60))
    box(axes, x, 36, f"n × {d_model}", 180, 40)
    return fig, "Multi-head attention, and its shapes", (
        f"A diagram, read from the bottom upwards, with d_model = {d_model} and H = {heads} heads. X, n × {d_model}, is multiplied by the matrices W_Q, W_K and W_V of "
        f"each head, {d_model} × {d_k} each, which gives three matrices of "
        f"n × {d_k}. Each head's attention gives n × {d_k}. Side by side they are n × {heads}·{d_k} = n × {concat}; W_O, {concat} × {d_model}, mixes them into the "
        f"result, n × {d_model}. Heads 1, 2 and {heads} are drawn.")


PICTURES = {"norm_placement": norm_placement, "encoder_block": encoder_block, "decoder_block": decoder_block, "multi_head": multi_head}
