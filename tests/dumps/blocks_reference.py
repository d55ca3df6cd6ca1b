# SPDX-License-Identifier: BSL-1.0
"""What a case of the blocks should hold, by the textbook formulas at 200 bits (mpmath), gradients by reverse mode.

This is how make_blocks.py looks at its own dumps before they are committed: it reads a written case as `attest check`
would (tensors and the conventions of attest.json) and shares no code with the implementations that were dumped. A leaf
is a member of the file, in the file's own layout and names; every formula below is made of the primitives of `Var`, so
the gradient of a member is what reverse mode gives, and no gradient formula is written down here.
"""
import math

import mpmath
import numpy as np
from mpmath import mp, mpf

mp.prec = 200

EXP, LOG, SQRT, TANH, ERF, SIN, COS = (
    np.frompyfunc(f, 1, 1)
    for f in (mpmath.exp, mpmath.log, mpmath.sqrt, mpmath.tanh, mpmath.erf, mpmath.sin, mpmath.cos))
EXACT = np.frompyfunc(lambda x: mpf(float(x)), 1, 1)  # f64 holds every format that a dump stores


def table(a):
    """An array of mpf from an array of floats or numbers, exactly; also of rank 0."""
    return np.array(EXACT(np.asarray(a)), dtype=object)


def summed_to(g, shape):
    """The gradient of something that was broadcast."""
    while g.ndim > len(shape):
        g = np.asarray(g.sum(0), dtype=object)
    for axis, length in enumerate(shape):
        if length == 1 and g.shape[axis] != 1:
            g = np.asarray(g.sum(axis, keepdims=True), dtype=object)
    return np.asarray(g, dtype=object).reshape(shape)


class Var:
    """A tensor, and how gradients flow from it to what it was made of."""

    def __init__(self, value, parents=()):
        self.value, self.parents, self.grad = np.asarray(value, dtype=object), parents, None

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)

    def __add__(self, b):
        b = var(b)
        return Var(self.value + b.value, ((self, lambda g: g), (b, lambda g: g)))

    def __sub__(self, b):
        b = var(b)
        return Var(self.value - b.value, ((self, lambda g: g), (b, lambda g: -g)))

    def __mul__(self, b):
        b = var(b)
        return Var(self.value * b.value, ((self, lambda g: g * b.value), (b, lambda g: g * self.value)))

    def __truediv__(self, b):
        b = var(b)
        return Var(self.value / b.value, ((self, lambda g: g / b.value),
                                          (b, lambda g: -g * self.value / (b.value * b.value))))

    def __rsub__(self, a):
        return var(a) - self

    def __rtruediv__(self, a):
        return var(a) / self

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, b):
        return Var(self.value @ b.value, ((self, lambda g: g @ np.swapaxes(b.value, -1, -2)),
                                          (b, lambda g: np.swapaxes(self.value, -1, -2) @ g)))

    def __getitem__(self, index):
        def back(g):
            whole = np.full(self.shape, mpf(0), dtype=object)
            np.add.at(whole, index, g)
            return whole
        return Var(self.value[index], ((self, back),))

    def reshape(self, *shape):
        return Var(self.value.reshape(*shape), ((self, lambda g: g.reshape(self.shape)),))

    def swapaxes(self, a, b):
        return Var(self.value.swapaxes(a, b), ((self, lambda g: g.swapaxes(a, b)),))

    def sum(self, axis=-1):
        kept = np.asarray(self.value.sum(axis, keepdims=True), dtype=object)
        return Var(kept, ((self, lambda g: g + np.full(self.shape, mpf(0), dtype=object)),))

    def mean(self):
        return self.sum() / self.shape[-1]

    def map(self, f, slope):
        """f element by element; slope takes x and f(x)."""
        value = np.asarray(f(self.value), dtype=object)
        return Var(value, ((self, lambda g: g * slope(self.value, value)),))

    def exp(self): return self.map(EXP, lambda x, y: y)
    def log(self): return self.map(LOG, lambda x, y: 1 / x)
    def sqrt(self): return self.map(SQRT, lambda x, y: 1 / (2 * y))
    def tanh(self): return self.map(TANH, lambda x, y: 1 - y * y)
    def erf(self): return self.map(ERF, lambda x, y: EXP(-x * x) * (2 / mpmath.sqrt(mp.pi)))

    def where(self, keep, other=0):
        """This where `keep`, the constant elsewhere; no gradient there."""
        keep = np.broadcast_to(keep, np.broadcast_shapes(keep.shape, self.shape))
        return Var(np.where(keep, self.value, mpf(other)), ((self, lambda g: np.where(keep, g, mpf(0))),))

    def backward(self, seed):
        order, seen = [], set()

        def visit(v):  # depth first; the graphs of a stack are a few hundred deep
            if id(v) not in seen:
                seen.add(id(v))
                for parent, _ in v.parents:
                    visit(parent)
                order.append(v)
        visit(self)
        self.grad = seed
        for v in reversed(order):
            if v.grad is not None:
                for parent, back in v.parents:
                    g = summed_to(np.asarray(back(v.grad), dtype=object), parent.shape)
                    parent.grad = g if parent.grad is None else parent.grad + g


def var(a):
    return a if isinstance(a, Var) else Var(np.array(a, dtype=object) if isinstance(a, mpf) else table(a))


def concat(parts, axis=-1):
    ends = np.cumsum([0] + [p.shape[axis] for p in parts])
    take = lambda at: lambda g: np.take(g, np.arange(ends[at], ends[at + 1]), axis)
    return Var(np.concatenate([p.value for p in parts], axis), tuple((p, take(i)) for i, p in enumerate(parts)))


# --- Formulas ---------------------------------------------------------------------------------------------------------

def number(text):
    return mpf(float.fromhex(text)) if str(text).startswith("0x") else mpf(str(text))


def keep_of(case, prefix, n_q, n_k, causal):
    """Which keys may be seen: bool mask, causal, window, lengths; and the float mask, if it is one."""
    says = case.says
    keep, added = np.ones((n_q, n_k), bool), None
    mask = case.plain.get(prefix + "mask")
    if mask is not None and mask.dtype.kind == "f":
        leaf = case.leaf(prefix + "mask")
        keep = keep & ~np.isneginf(mask)
        added = leaf.where(~np.isneginf(mask))
    elif mask is not None:
        keep = keep & (mask.astype(bool) != (says.get("mask-polarity", "keep") == "drop"))
    i, j = np.arange(n_q)[:, None], np.arange(n_k)[None, :]
    shift = n_k - n_q if causal == "bottom-right" else 0
    if causal != "none":
        keep = keep & (j <= i + shift)
    if "window" in says:
        left, comma, right = str(says["window"]).partition(",")
        left, right = (int(left), int(right)) if comma else (int(left) - 1, int(left) - 1)
        keep = keep & (j >= i + shift - left)
        if causal == "none" or comma:
            keep = keep & (j <= i + shift + right)
    if "k_lengths" in case.plain:
        keep = keep & (j < case.plain["k_lengths"].reshape(-1, 1, 1, 1))
    return keep, added, shift


def alibi_slopes(heads):
    """The author's rule for any number of heads."""
    power = 2 ** int(math.log2(heads))
    first = [mpf(2) ** (mpf(-8) * (h + 1) / power) for h in range(power)]
    return first + [mpf(2) ** (mpf(-8) * (h + 1) / (2 * power)) for h in range(0, 2 * (heads - power), 2)]


def rotated(x, says, positions, dimensions=None):
    """RoPE on rows [.., n, d] at positions [n] or [b, n]."""
    d = int(dimensions or says.get("rope-dim") or x.shape[-1])
    base = number(says.get("rope-base", 10000))
    theta = np.array([base ** (-mpf(2 * i) / d) for i in range(d // 2)], dtype=object)
    angle = table(positions)[..., None] * theta
    angle = angle[:, None] if angle.ndim == 3 and x.ndim == 4 else angle  # positions [b, n] for all heads
    cos, sin = Var(COS(angle)), Var(SIN(angle))
    if says.get("rope-pairing", "interleaved") == "interleaved":
        first, second = x[..., 0:d:2], x[..., 1:d:2]
    else:
        first, second = x[..., 0:d // 2], x[..., d // 2:d]
    a, b = first * cos - second * sin, first * sin + second * cos
    if says.get("rope-pairing", "interleaved") == "interleaved":
        pairs = concat([a.reshape(*a.shape, 1), b.reshape(*b.shape, 1)])
        whole = pairs.reshape(*x.shape[:-1], d)
    else:
        whole = concat([a, b])
    return whole if d == x.shape[-1] else concat([whole, x[..., d:]])


def attention(case, q, k, v, prefix="", causal="none"):
    """q, k, v as [.., heads, n, d] or [n, d]; returns every stage."""
    says, stages = case.says, {}
    n_q, n_k = q.shape[-2], k.shape[-2]
    if q.ndim > 2 and q.shape[-3] != k.shape[-3]:
        group = np.arange(q.shape[-3]) // (q.shape[-3] // k.shape[-3])
        k, v = k[..., group, :, :], v[..., group, :, :]
    if says.get("position") == "rope":
        offset = int(says.get("position-offset", 0))
        at = case.plain.get("positions")
        q = rotated(q, says, np.arange(n_q) + offset if at is None else at)
        k = rotated(k, says, np.arange(n_k) + offset if at is None else at)
    raw = scores_of(case, q, k)
    stages["raw_scores"] = raw
    scale = mpf(1) if says.get("score", "scaled") != "scaled" else (
        number(says["scale"]) if "scale" in says else 1 / mpmath.sqrt(q.shape[-1]))
    scores = raw * scale
    if "softcap" in says:
        cap = number(says["softcap"])
        scores = (scores / cap).tanh() * cap
    keep, added, shift = keep_of(case, prefix, n_q, n_k, causal)
    if added is not None:
        scores = scores + added
    if says.get("position") == "alibi":
        heads = q.shape[-3] if q.ndim > 2 else 1
        slopes = case.leaf("alibi_slopes") if "alibi_slopes" in case.plain else Var(np.array(alibi_slopes(heads)))
        distance = np.abs(np.arange(n_q)[:, None] + shift - np.arange(n_k)[None, :])
        scores = scores - slopes.reshape(-1, 1, 1) * distance
    keep = np.broadcast_to(keep, np.broadcast_shapes(keep.shape, scores.shape))
    top = np.where(keep, scores.value, mpf("-inf")).max(-1, keepdims=True)
    sink = case.leaf("sink").reshape(-1, 1, 1) if "sink" in case.plain else None
    if sink is not None:
        top = np.maximum(top, sink.value)
    empty = top == mpf("-inf")
    weights = (scores - Var(np.where(empty, mpf(0), top))).where(keep).exp().where(keep)
    total = weights.sum()
    if sink is not None:
        total = total + (sink - Var(top)).exp()
    stages["lse"] = Var(np.where(empty, mpf("-inf"), (LOG(np.where(empty, mpf(1), total.value)) + top))[..., 0])
    stages["scores"] = Var(np.where(keep, scores.value, mpf("-inf")))
    weights = weights / (total + Var(np.where(empty, mpf(1), mpf(0))))
    stages["weights"] = weights
    if "dropout_mask" in case.plain:
        weights = weights.where(case.plain["dropout_mask"].astype(bool)) * (1 / (1 - number(says["dropout-p"])))
    stages["out"] = weights @ v
    return stages


def scores_of(case, q, k):
    kind = case.says.get("score", "scaled")
    if kind == "bilinear":
        return q @ case.leaf("w") @ k.swapaxes(-1, -2)
    if kind == "additive":  # b . tanh(W_1 k + W_2 q)
        hidden_k, hidden_q = k @ case.leaf("w1").swapaxes(0, 1), q @ case.leaf("w2").swapaxes(0, 1)
        spread = lambda x, at: x.reshape(*x.shape[:at], 1, *x.shape[at:])
        both = spread(hidden_q, hidden_q.ndim - 1) + spread(hidden_k, hidden_k.ndim - 2)
        scores = (both.tanh() * case.leaf("b")).sum()
        return scores.reshape(*scores.shape[:-1])
    return q @ k.swapaxes(-1, -2)


def linear(case, x, w, b):
    y = x @ case.weight(w)
    return y + case.leaf(b) if case.has(b) else y


def multi_head(case, x, memory, prefix, causal):
    heads = int(case.says["heads"])
    kv_heads = int(case.says.get("kv-heads", heads))
    split = lambda y, h: y.reshape(*y.shape[:-1], h, y.shape[-1] // h).swapaxes(-2, -3)
    q = split(linear(case, x, prefix + "w_q", prefix + "b_q"), heads)
    k = split(linear(case, memory, prefix + "w_k", prefix + "b_k"), kv_heads)
    v = split(linear(case, memory, prefix + "w_v", prefix + "b_v"), kv_heads)
    stages = attention(case, q, k, v, prefix, causal)
    together = stages["out"].swapaxes(-2, -3)
    together = together.reshape(*together.shape[:-2], -1)
    return {**stages, "out": linear(case, together, prefix + "w_o", prefix + "b_o")}


def mean_of_heads(weights):
    swapped = weights.swapaxes(-3, -1)
    return (swapped.sum() / swapped.shape[-1]).swapaxes(-3, -1).reshape(*weights.shape[:-3], *weights.shape[-2:])


def norm(case, x, prefix="", rms=False):
    says = case.says
    centred = x if rms else x - x.mean()
    variance = (centred * centred).mean()
    if says.get("variance") == "unbiased":
        variance = variance * (mpf(x.shape[-1]) / (x.shape[-1] - 1))
    eps = number(says.get("eps", "1e-5"))
    root = (variance + eps).sqrt() if says.get("eps-placement", "variance") == "variance" else variance.sqrt() + eps
    y = centred / root
    y = y * case.leaf(prefix + "gamma") if case.has(prefix + "gamma") else y
    return y + case.leaf(prefix + "beta") if case.has(prefix + "beta") else y


def relu(x):
    return x.where(np.asarray(x.value > 0, dtype=bool))


def gelu(x, form):
    if form == "erf":
        return x * ((x * (1 / mpmath.sqrt(2))).erf() + 1) * mpf("0.5")
    if form == "tanh":
        inner = (x + x * x * x * mpf("0.044715")) * mpmath.sqrt(2 / mp.pi)
        return x * (inner.tanh() + 1) * mpf("0.5")
    return x / ((x * mpf("-1.702")).exp() + 1)


def feed_forward(case, x, prefix=""):
    hidden = linear(case, x, prefix + "w_1", prefix + "b_1")
    kind = case.says.get("activation", "relu")
    hidden = relu(hidden) if kind == "relu" else gelu(hidden, case.says.get("gelu", "erf"))
    return linear(case, hidden, prefix + "w_2", prefix + "b_2")


def layer(case, x, memory, prefix, stages):
    """An encoder layer, or a decoder layer if there is a memory."""
    def self_attention(y): return multi_head(case, y, y, prefix + "self_attn.", case.says.get("causal", "none"))["out"]
    def cross_attention(y): return multi_head(case, y, memory, prefix + "cross_attn.", "none")["out"]
    def ffn(y): return feed_forward(case, y, prefix + "ffn.")

    parts = [("self_attn", self_attention)] + ([("cross_attn", cross_attention)] if memory is not None else [])
    for at, (name, sublayer) in enumerate(parts + [("ffn", ffn)], 1):
        named = f"{prefix}norm{at}"
        if case.says.get("norm", "post") == "pre":
            normed = stages[named + ".out"] = norm(case, x, named + ".")
            made = stages[f"{prefix}{name}.out"] = sublayer(normed)
            x = x + made
        else:
            made = stages[f"{prefix}{name}.out"] = sublayer(x)
            x = stages[named + ".out"] = norm(case, x + made, named + ".")
    return x


def sinusoidal(n, d):
    angle = lambda t, c: t / mpf(10000) ** (mpf(2 * (c // 2)) / d)
    return Var(np.array([[(mpmath.cos if c % 2 else mpmath.sin)(angle(t, c)) for c in range(d)] for t in range(n)],
                        dtype=object))


# --- Reading a case ---------------------------------------------------------------------------------------------------

TORCH_ATTENTION = {"w_o": "out_proj.weight", "b_o": "out_proj.bias"}
TORCH_LEAF = {"w_1": "linear1.weight", "b_1": "linear1.bias", "w_2": "linear2.weight", "b_2": "linear2.bias",
              "gamma": "weight", "beta": "bias"}
STREAMS = ("x", "memory", "q", "k", "v", "out", "dout")


class Case:
    """The members of a file under attest's names and in its layout; every leaf is a member as the file holds it."""

    def __init__(self, members, says):
        self.plain, self.says, self.leaves, self.made = members, says, {}, {}

    def torch_name(self, name):
        """PyTorch's name of a weight, and which third of it, or None if it is not part of something stacked."""
        prefix, _, leaf = name.rpartition(".")
        prefix = prefix + "." if prefix else ""
        attention = prefix.replace("cross_attn.", "multihead_attn.")
        third = {"q": 0, "k": 1, "v": 2}.get(leaf[-1])
        if leaf[:2] in ("w_", "b_") and third is not None:
            kind = "weight" if leaf[0] == "w" else "bias"
            if leaf[0] == "w" and attention + "q_proj_weight" in self.plain:
                return f"{attention}{leaf[-1]}_proj_weight", None
            return f"{attention}in_proj_{kind}", third
        if leaf in TORCH_ATTENTION:
            return attention + TORCH_ATTENTION[leaf], None
        if leaf in TORCH_LEAF:
            return prefix.replace("ffn.", "") + TORCH_LEAF[leaf], None
        return name, None

    def stored(self, name):
        return self.torch_name(name) if self.says.get("names") == "torch" else (name, None)

    def has(self, name):
        return self.stored(name)[0] in self.plain

    def member(self, name):
        if name not in self.leaves:
            self.leaves[name] = Var(table(self.plain[name]))
        return self.leaves[name]

    def leaf(self, name):
        """The named tensor as attest means it (weights in the file's own orientation)."""
        if name not in self.made:
            member, third = self.stored(name)
            made = self.member(member)
            if third is not None:
                length = made.shape[0] // 3
                made = made[third * length:(third + 1) * length]
            self.made[name] = self.relaid(made) if name in STREAMS else made
        return self.made[name]

    def weight(self, name):
        """The named weight so that x is multiplied by it from the right."""
        out_in = self.says.get("names") == "torch" or self.says.get("weight-layout") == "out_in"
        return self.leaf(name).swapaxes(0, 1) if out_in else self.leaf(name)

    def relaid(self, x):
        layout = self.says.get("layout", "bhnd")
        return x.swapaxes(-2, -3) if layout == "bnhd" else x.swapaxes(0, 1) if layout == "nbd" else x

    def outputs(self):
        """Everything that the op computes, under attest's names."""
        op, says = self.says["op"], self.says
        x = self.leaf("x") if self.has("x") else None
        stages = {}
        if op == "attention":
            q, k, v = (self.leaf(n) for n in "qkv")
            stages = attention(self, q, k, v, "", says.get("causal", "none"))
        elif op == "score":
            raw = scores_of(self, self.leaf("q"), self.leaf("k"))
            scaled = says.get("score", "scaled") == "scaled"
            scale = number(says["scale"]) if "scale" in says else 1 / mpmath.sqrt(self.leaf("k").shape[-1])
            stages["scores"] = raw * scale if scaled else raw
        elif op == "softmax":
            axis = int(says.get("axis", -1))
            moved = x.swapaxes(axis, -1)
            e = (moved - Var(moved.value.max(-1, keepdims=True))).exp()
            stages["out"] = (e / e.sum()).swapaxes(axis, -1)
        elif op == "multi_head_attention":
            memory = self.leaf("memory") if self.has("memory") else x
            stages = multi_head(self, x, memory, "", says.get("causal", "none"))
            if says.get("weights") == "mean":
                stages["weights"] = mean_of_heads(stages["weights"])
        elif op == "sinusoidal":
            stages["out"] = sinusoidal(int(says["length"]), int(says["d-model"]))
        elif op == "learned_position":
            offset = int(says.get("position-offset", 0))
            stages["out"] = x + self.leaf("table")[offset:offset + x.shape[-2]]
        elif op == "rope":
            offset = int(says.get("position-offset", 0))
            at = self.plain.get("positions")
            stages["out"] = rotated(x, says, np.arange(x.shape[-2]) + offset if at is None else at)
        elif op in ("layer_norm", "rms_norm"):
            stages["out"] = norm(self, x, "", op == "rms_norm")
        elif op in ("relu", "gelu"):
            stages["out"] = relu(x) if op == "relu" else gelu(x, says.get("gelu", "erf"))
        elif op == "feed_forward":
            stages["out"] = feed_forward(self, x)
        elif op in ("encoder_layer", "decoder_layer"):
            stages["out"] = layer(self, x, self.leaf("memory") if op[0] == "d" else None, "", stages)
        elif op in ("encoder", "decoder"):
            at = 0
            while self.has(f"layers.{at}.self_attn.w_o"):
                x = layer(self, x, self.leaf("memory") if op[0] == "d" else None, f"layers.{at}.", stages)
                stages[f"layers.{at}.out"] = x
                at += 1
            stages["out"] = norm(self, x, "norm.") if self.has("norm.gamma") else x
        else:
            raise ValueError(op)
        return {n: self.relaid(s) if n.rpartition(".")[2] == "out" else s for n, s in stages.items()}

    def gradient_of(self, name):
        """The member that this is the gradient of, or None."""
        if self.says.get("names") == "torch" and name.endswith(".grad"):
            return name.removesuffix(".grad")
        prefix, dot, last = name.rpartition(".")
        base = prefix + dot + last[1:]
        return base if last[0] == "d" and name != "dout" and base in self.plain else None

    def expected(self):
        """Of every member that is a candidate: what it should be, as an array of mpf."""
        outputs = self.outputs()
        if "dout" in self.plain:
            outputs["out"].backward(table(self.plain["dout"]))
        made = {}
        for name in self.plain:
            base = self.gradient_of(name)
            if base is not None:
                made[name] = self.member(base).grad
            elif name in outputs:
                made[name] = outputs[name].value
        return made


def ulp(x, mantissa, least):
    return mpf(2) ** max(mpmath.mag(x) - mantissa, least) if x != 0 else mpf(2) ** least


def distance(got, want, mantissa, least, whole):
    """Greatest distance in ULP of the stored format; the same without elements that are 0 or next to it (the gradient
    of b_k is: a shift of a row's scores changes nothing); and relative to the tensor's greatest element, or to 2^-10 of
    `whole`, the greatest of the case, if that is more. NaN is inf."""
    greatest = max(biggest(want), whole * mpf(2) ** -10)
    most, shown, relative = mpf(0), mpf(0), mpf(0)
    for g, w in zip(got.flat, want.flat, strict=True):
        g = mpf(float(g))
        if g == w:
            continue
        error = abs(g - w) if mpmath.isfinite(g) and mpmath.isfinite(w) else mpf("inf")
        most = max(most, error / ulp(w, mantissa, least) if error < mpf("inf") else error)
        if abs(w) > whole * mpf(2) ** -120:
            shown = max(shown, error / ulp(w, mantissa, least) if error < mpf("inf") else error)
        relative = max(relative, error / greatest if error < mpf("inf") else error)
    return float(most), float(shown), float(relative)


def biggest(want):
    return max((abs(w) for w in want.flat if mpmath.isfinite(w)), default=mpf(0))
