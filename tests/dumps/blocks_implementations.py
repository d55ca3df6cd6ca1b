# SPDX-License-Identifier: BSL-1.0
"""The implementations that make_blocks.py dumps: PyTorch's modules and autograd, JAX, plain NumPy; and their mistakes.

Each function from `activation` to `block` takes (g, fmt, says, …), where g gives the inputs, fmt is the stored
format, and says the conventions of attest.json; it returns what the case holds. `does` replaces some of `says` in what
the implementation does; `change` and `spoil` put a mistake into a module, or into the tensors afterwards.
"""
import copy
import re
import types

import make  # sets the environment of every library (one thread, x64) before it is imported
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from make import DTYPE, Recorder, to_torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import jax
import jax.numpy as jnp

TORCH = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16}


# --- Inputs -----------------------------------------------------------------------------------------------------------

class Source(np.random.Generator):
    """Where inputs come from. digits: of which format they have the digits: few take little space in the file."""

    def __init__(self, seed, digits):
        super().__init__(np.random.PCG64(seed))
        self.digits, self.coarse = digits, digits == "f16"


def draw(g, shape, fmt, mean=0.0, spread=1.0):
    """A tensor with the digits that the case asks for, of those that its format has."""
    return to_torch((mean + spread * g.standard_normal(shape)).astype(DTYPE[g.digits]).astype(DTYPE[fmt]))


def few_digits(g, shape, fmt, mean=0.0, spread=1.0):
    """Multiples of 1/8 that every format holds: weights that the file stores in little space."""
    drawn = np.clip(np.round((mean + spread * g.standard_normal(shape)) * 8), -32, 32) / 8
    return to_torch(drawn.astype(DTYPE[fmt]))


def random_mask(g, shape, keep=0.7, dead=()):
    return torch.from_numpy(make.random_mask(g, shape, keep, dead))


def leaf(t):
    return t.clone().requires_grad_()


def ran(run):
    """Run twice, once recorded: the result, and which operators ran (each once). Both runs must have the same bits."""
    with Recorder() as recorder:
        seen = run()
    made = run()
    same = lambda a, b: torch.equal(torch.nan_to_num(a, 7.0), torch.nan_to_num(b, 7.0))
    assert seen.keys() == made.keys() and all(same(seen[n], made[n]) for n in made), "the recorder changed the result"
    skip = ("view", "expand", "transpose", "_unsafe_view", "detach", "empty", "unsqueeze", "squeeze", "slice", "alias",
            "select", "t", "permute", "clone", "empty_like", "zeros_like", "new_empty_strided", "copy_", "as_strided",
            "new_zeros", "slice_backward", "select_backward", "ones_like", "zeros", "scalar_tensor")
    return made, " ".join(dict.fromkeys(op for op in recorder.ops if op not in skip))


def differentiated(run, leaves, dout):
    """out of `run`, and by autograd the gradient of every leaf, as `d` + its name."""
    def both():
        out = run()
        out = out if isinstance(out, dict) else {"out": out}
        grads = torch.autograd.grad(out["out"], list(leaves.values()), dout)
        return {n: t.detach() for n, t in out.items()} | {"d" + n: g for n, g in zip(leaves, grads)}
    return ran(both)


class Made:
    """What a case holds: inputs and candidates by name, what attest.json says, and how it was made."""

    def __init__(self, tensors, says, path, library="torch"):
        self.tensors, self.says, self.path, self.library = tensors, says, path, library


# --- Element-wise, norms, softmax -------------------------------------------------------------------------------------

EDGES = [0.0, -0.0, 1.0, -1.0, -3.75, -3.8125, -3.78125, -3.796875, -3.84375, 3.8125, -8.0, 8.0, 40.0, -40.0,
         2.0 ** -30, -2.0 ** -30]


def sigmoid_gelu(x):
    return x * torch.sigmoid(1.702 * x)


GELU = {"erf": F.gelu, "tanh": lambda x: F.gelu(x, approximate="tanh"), "sigmoid": sigmoid_gelu}


def activation(g, fmt, says, does=None):
    """nn.ReLU, nn.GELU, and x sigmoid(1.702 x), with their gradients."""
    does = says | (does or {})
    x = leaf(torch.cat([torch.tensor(EDGES, dtype=TORCH[fmt]), draw(g, (16,), fmt, 0, 3)]).reshape(2, 16))
    dout = few_digits(g, x.shape, fmt)
    dout[:, ::5] = 1
    module = {"erf": nn.GELU(), "tanh": nn.GELU("tanh"), "sigmoid": sigmoid_gelu}
    run = nn.ReLU() if does["op"] == "relu" else module[does["gelu"]]
    made, path = differentiated(lambda: run(x), {"x": x}, dout)
    return Made({"x": x, "dout": dout, **made}, says, f"torch {run.__class__.__name__}; operators: {path}")


def jax_gelu(g, fmt, says):
    x = draw(g, (3, 8), fmt, 0, 2).numpy()
    dout = few_digits(g, x.shape, fmt).numpy()
    out, back = jax.vjp(jax.jit(lambda x: jax.nn.gelu(x, approximate=says["gelu"] == "tanh")), jnp.asarray(x))
    return Made({"x": x, "dout": dout, "out": out, "dx": back(jnp.asarray(dout))[0]}, says, "jax.nn.gelu, jax.vjp",
                "jax")


class TextbookNorm(nn.Module):
    """gamma (x - mean) / sqrt(var + eps) + beta, or / (std + eps); var by n or n - 1. Parameters named as torch's."""

    def __init__(self, d, eps, placement="variance", variance="biased", dtype=None):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d, dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(d, dtype=dtype))
        self.eps, self.placement, self.unbiased = eps, placement, variance == "unbiased"

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        variance = x.var(-1, keepdim=True, unbiased=self.unbiased)
        root = torch.sqrt(variance + self.eps) if self.placement == "variance" else torch.sqrt(variance) + self.eps
        return self.weight * centred / root + self.bias


def layer_norm(g, fmt, says, does=None, *, shape=(2, 3, 8), mean=0.0, spread=1.0, affine=True, kind="module",
               constant_row=False, spoil=None):
    """A norm over the last axis with gradients. kind: torch's module, the textbook formula under autograd, or numpy."""
    does = says | (does or {})
    rms, eps, d = does["op"] == "rms_norm", make.number(does["eps"]), shape[-1]
    x = draw(g, shape, fmt, mean, spread)
    if constant_row:
        x[0, 0] = 1.5
    gamma, beta = draw(g, (d,), fmt, 1, 0.5), draw(g, (d,), fmt, 0, 0.5)
    dout = few_digits(g, shape, fmt)
    if kind == "numpy":
        x_, gamma_, beta_ = (t.numpy() for t in (x, gamma, beta))
        out = numpy_layer_norm(x_, gamma_, beta_, does, eps)
        return Made({"x": x, "gamma": gamma, "beta": beta, "out": out}, says, "plain NumPy", "numpy")
    if kind == "textbook":
        module = TextbookNorm(d, eps, does["eps-placement"], does["variance"], TORCH[fmt])
    elif rms:
        module = nn.RMSNorm(d, eps=eps, elementwise_affine=affine, dtype=TORCH[fmt])
    else:
        module = nn.LayerNorm(d, eps=eps, elementwise_affine=affine, dtype=TORCH[fmt])
    leaves = {"x": leaf(x)}
    if affine:
        module.weight.data = gamma
        leaves["gamma"] = module.weight
        if not rms:
            module.bias.data = beta
            leaves["beta"] = module.bias
    made, path = differentiated(lambda: module(leaves["x"]), leaves, dout)
    tensors = {**leaves, "dout": dout, **made}
    if says.get("names") == "torch":
        to = {"gamma": "weight", "beta": "bias", "dgamma": "weight.grad", "dbeta": "bias.grad"}
        tensors = {to.get(n, n): t for n, t in tensors.items()}
    if spoil:
        spoil(tensors)
    return Made(tensors, says, f"torch {type(module).__name__}; operators: {path}")


def numpy_layer_norm(x, gamma, beta, does, eps):
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).sum(-1, keepdims=True) / (x.shape[-1] - (does["variance"] == "unbiased"))
    one = x.dtype.type
    root = np.sqrt(variance + one(eps)) if does["eps-placement"] == "variance" else np.sqrt(variance) + one(eps)
    return centred / root * gamma + beta


def softmax(g, fmt, says, *, shape=(2, 3, 5), kind="torch", missing_term=False):
    """softmax along an axis and its gradient; missing_term: dx = weights * dout, without the sum over the row."""
    axis = says["axis"]
    x, dout = draw(g, shape, fmt, 0, 2), draw(g, shape, fmt)
    if kind == "jax":
        out, back = jax.vjp(jax.jit(lambda x: jax.nn.softmax(x, axis)), jnp.asarray(x.numpy()))
        return Made({"x": x, "dout": dout, "out": out, "dx": back(jnp.asarray(dout.numpy()))[0]}, says,
                    "jax.nn.softmax, jax.vjp", "jax")
    x = leaf(x)
    made, path = differentiated(lambda: torch.softmax(x, axis), {"x": x}, dout)
    if missing_term:
        made["dx"] = made["out"] * dout
    return Made({"x": x, "dout": dout, **made}, says, f"torch.softmax; operators: {path}")


# --- Scores and attention ---------------------------------------------------------------------------------------------

def score(g, fmt, says, *, swap=False):
    """The score functions of the lectures in torch's operators; swap: W_1 q + W_2 k for W_1 k + W_2 q."""
    n_q, n_k, d_q, d_k, a = 5, 7, (4, 6)[says["score"] == "bilinear"], 4, 3
    q, k = draw(g, (2, n_q, d_q), fmt), draw(g, (2, n_k, d_k), fmt)
    tensors = {"q": q, "k": k}
    if says["score"] == "bilinear":
        tensors["w"] = draw(g, (d_q, d_k), fmt)
        run = lambda: q @ tensors["w"] @ k.mT
    elif says["score"] == "additive":
        tensors |= {"w1": draw(g, (a, d_k), fmt), "w2": draw(g, (a, d_q), fmt), "b": draw(g, (a,), fmt)}
        w1, w2 = (tensors["w2"], tensors["w1"]) if swap else (tensors["w1"], tensors["w2"])
        run = lambda: torch.tanh((q @ w2.T)[:, :, None, :] + (k @ w1.T)[:, None, :, :]) @ tensors["b"]
    else:
        run = lambda: q @ k.mT * (1 if says["score"] == "dot" else d_k ** -0.5)
    made, path = ran(lambda: {"scores": run()})
    return Made({**tensors, **made}, says, f"torch; operators: {path}")


def repeat_heads(t, group, tile=False):
    return t.repeat(1, group, 1, 1) if tile else t.repeat_interleave(group, 1)


def textbook(q, k, v, does, mask=None, sink=None, alibi=None, kept=None, lengths=None):
    """Attention by the formula on [b, h, n, d], differentiable; no empty rows. Knobs of `does` beyond the contract's
    conventions: gqa=tile, cap-after-mask. Mask: bool, True = seen, or float, added."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    i, j = torch.arange(n_q)[:, None], torch.arange(n_k)[None, :]
    if q.shape[1] != k.shape[1]:
        group = q.shape[1] // k.shape[1]
        k, v = (repeat_heads(t, group, does.get("gqa") == "tile") for t in (k, v))
    if does.get("position") == "rope":
        offset = int(does.get("position-offset", 0))
        q, k = (rope_torch(t, does, torch.arange(t.shape[-2]) + offset) for t in (q, k))
    s = q @ k.mT * float(does.get("scale", q.shape[-1] ** -0.5))
    shift = n_k - n_q if does.get("causal") == "bottom-right" else 0
    keep = torch.ones(n_q, n_k, dtype=bool)
    if does.get("causal", "none") != "none":
        keep = keep & (j <= i + shift)
    if "window" in does:
        left, comma, right = str(does["window"]).partition(",")
        left, right = (int(left), int(right)) if comma else (int(left) - 1, int(left) - 1)
        keep = keep & (j >= i + shift - left)
        keep = keep & (j <= i + shift + right) if comma or does.get("causal", "none") == "none" else keep
    if mask is not None and mask.dtype == torch.bool:
        keep = keep & mask
    if lengths is not None:
        keep = keep & (j < lengths[:, None, None, None])
    cap = does.get("softcap")
    if cap and not does.get("cap-after-mask"):
        s = float(cap) * torch.tanh(s / float(cap))
    if mask is not None and mask.dtype != torch.bool:
        s = s + mask
    if does.get("position") == "alibi":
        s = s - alibi[:, None, None] * abs(i + shift - j)
    s = s.masked_fill(~keep, -torch.inf)
    if cap and does.get("cap-after-mask"):
        s = float(cap) * torch.tanh(s / float(cap))
    if sink is not None:
        s = torch.cat([s, sink[:, None, None].expand(*s.shape[:-1], 1)], -1)
    w = torch.softmax(s, -1)[..., :n_k]
    w = w if kept is None else w * kept / (1 - float(does["dropout-p"]))
    return w @ v


def attention(g, fmt, says, does=None, *, shape=None, heads=2, kv_heads=None, batch=1, mask=None, path="math",
              sink=False, alibi=None, slopes=True, kept=False, lengths=None, spoil=None):
    """Attention with the gradients of q, k, v (and of a float mask). shape (n_q, n_k, d_k, d_v).

    path: torch's scaled_dot_product_attention by its plain or its fused path, the textbook formula under autograd in
    torch or JAX, or torch's flex_attention (which has no gradient on the CPU). spoil: changes gradients afterwards."""
    n_q, n_k, d_k, d_v = shape or ((4, 5, 3, 3) if g.coarse else (5, 6, 3, 3))
    does = says | (does or {})
    kv = kv_heads or heads
    q, k, v = (leaf(draw(g, s, fmt)) for s in ((batch, heads, n_q, d_k), (batch, kv, n_k, d_k), (batch, kv, n_k, d_v)))
    dout = few_digits(g, (batch, heads, n_q, d_v), fmt)
    leaves, extra = {"q": q, "k": k, "v": v}, {}
    if mask is not None:
        mask = mask(g, fmt, batch, heads, n_q, n_k)
        extra["mask"] = mask
        if mask.dtype != torch.bool:
            leaves["mask"] = extra["mask"] = mask = leaf(mask)
    seen = ~mask if mask is not None and mask.dtype == torch.bool and does.get("mask-polarity") == "drop" else mask
    if sink:
        extra["sink"] = draw(g, (heads,), fmt)
    if alibi is not None:
        alibi = torch.tensor(alibi, dtype=TORCH[fmt])
        if slopes:  # else the case rests on the author's rule
            extra["alibi_slopes"] = alibi
    if kept:
        extra["dropout_mask"] = random_mask(g, (batch, heads, n_q, n_k))
    if lengths is not None:
        extra["k_lengths"] = torch.tensor(lengths)
    how = dict(mask=seen, sink=extra.get("sink"), alibi=alibi, kept=extra.get("dropout_mask"),
               lengths=extra.get("k_lengths"))
    library = "torch"
    if path == "textbook":
        made, ops = differentiated(lambda: textbook(q, k, v, does, **how), leaves, dout)
        path = f"the formula in torch, autograd; operators: {ops}"
    elif path == "flex":
        made, path = flex(q.detach(), k.detach(), v.detach(), does)
    elif path == "jax":
        made, path, library = *jax_softcap(q, k, v, dout, does), "jax"
    else:
        made, path = sdpa(leaves, dout, seen, does, path)
    tensors = {**leaves, **extra, "dout": dout, **made}
    if "dq" not in made:
        del tensors["dout"]
    if spoil:
        spoil(tensors)
    return Made(tensors, says, path, library)


def sdpa(leaves, dout, mask, does, path):
    q, k, v = (leaves[n] for n in "qkv")
    causal = does.get("causal", "none")
    if causal == "bottom-right":
        mask = torch.from_numpy(make.causal_table(q.shape[-2], k.shape[-2], causal))
    how = dict(attn_mask=mask, is_causal=causal == "top-left", enable_gqa=q.shape[1] != k.shape[1])
    if "scale" in does:
        how["scale"] = float(does["scale"])
    run = lambda: F.scaled_dot_product_attention(q, k, v, **how)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION if path == "fused" else SDPBackend.MATH):
        made, ops = differentiated(run, leaves, dout)
    assert ("_scaled_dot_product_flash_attention_for_cpu" in ops) == (path == "fused"), ops
    return made, f"torch scaled_dot_product_attention, {path} path; operators: {ops}"


def flex(q, k, v, does):
    window, cap = int(does["window"]), float(does["softcap"])
    seen = create_block_mask(lambda b, h, i, j: (j <= i) & (j > i - window), None, None, q.shape[-2], k.shape[-2],
                             device="cpu")
    run = lambda: {"out": flex_attention(q, k, v, lambda s, *_: cap * torch.tanh(s / cap), seen)}
    return run(), "torch flex_attention, not compiled, CPU"


def jax_softcap(q, k, v, dout, does):
    cap = float(does["softcap"])

    def run(q, k, v):
        s = cap * jnp.tanh(q @ jnp.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5 / cap)
        return jax.nn.softmax(s, -1) @ v

    out, back = jax.vjp(jax.jit(run), *(jnp.asarray(t.detach().numpy()) for t in (q, k, v)))
    dq, dk, dv = back(jnp.asarray(dout.numpy()))
    return {"out": out, "dq": dq, "dk": dk, "dv": dv}, "the formula in JAX, jit, jax.vjp"


def dead_row(g, fmt, b, h, n, m):
    return random_mask(g, (b, 1, n, m), dead=(2,))


def float_mask(g, fmt, b, h, n, m):
    drawn = draw(g, (h, n, m), fmt)
    drawn[~random_mask(g, (h, n, m), 0.8)] = -torch.inf
    return drawn


# --- Positions --------------------------------------------------------------------------------------------------------

def rope_angles(does, positions, d, dtype):
    theta = float(does.get("rope-base", 10000)) ** (-torch.arange(0, d, 2, dtype=dtype) / d)
    return positions.to(dtype)[..., None] * theta


def rope_torch(x, does, positions):
    """interleaved: complex multiplication, as in Llama's reference code; half: rotate_half, as in GPT-NeoX."""
    d = int(does.get("rope-dim", x.shape[-1]))
    wide = torch.float32 if does.get("angles") == "f32" or x.dtype != torch.float64 else torch.float64
    angles = rope_angles(does, positions, d, wide)
    part, rest = x[..., :d], x[..., d:]
    if does.get("rope-pairing", "interleaved") == "interleaved":
        turn = torch.polar(torch.ones_like(angles), angles)
        pairs = torch.view_as_complex(part.to(torch.promote_types(wide, x.dtype)).reshape(*part.shape[:-1], d // 2, 2))
        part = torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
    else:
        cos, sin = (torch.cat([f(angles), f(angles)], -1).to(x.dtype) for f in (torch.cos, torch.sin))
        half = torch.cat([-part[..., d // 2:], part[..., :d // 2]], -1)
        part = part * cos + half * sin
    return torch.cat([part, rest], -1)


def rope(g, fmt, says, does=None, *, shape=(2, 5, 8), positions=None, opposite=False):
    """RoPE and its gradient; opposite: the gradient is rotated the same way again, not back."""
    does = says | (does or {})
    x, dout = leaf(draw(g, shape, fmt)), few_digits(g, shape, fmt)
    at = torch.arange(shape[-2]) + int(does.get("position-offset", 0)) if positions is None else torch.tensor(positions)
    run = lambda: rope_torch(x, does, at)
    made, path = differentiated(run, {"x": x}, dout)
    if opposite:
        made["dx"] = rope_torch(dout, does, at)
    extra = {} if positions is None else {"positions": at}
    how = "complex multiplication" if does["rope-pairing"] == "interleaved" else "rotate_half"
    return Made({"x": x, **extra, "dout": dout, **made}, says, f"torch, {how}; operators: {path}")


def sinusoidal(g, fmt, says, *, kind="power"):
    """The table. kind: by power, by exp of a logarithm as in PyTorch's tutorial; the rest are mistakes."""
    n, d = says["length"], says["d-model"]
    t, c = np.arange(n)[:, None], np.arange(d)
    exponent = c / d if kind == "exponent" else 2 * (c // 2) / d
    rate = np.exp(-exponent * np.log(10000.0)) if kind == "exp" else 10000.0 ** -exponent
    table = np.where(c % 2, np.cos(t * rate), np.sin(t * rate))
    if kind == "concatenated":
        table = np.concatenate([table[:, 0::2], table[:, 1::2]], -1)
    return Made({"out": table.astype(DTYPE[fmt])}, says, "plain NumPy, in f64, rounded once", "numpy")


def learned_position(g, fmt, says, does=None):
    """nn.Embedding at positions offset + 0, 1, …, added."""
    does = says | (does or {})
    x, embedding = draw(g, (2, 5, 6), fmt), nn.Embedding(9, 6, dtype=TORCH[fmt])
    embedding.weight.data = draw(g, (9, 6), fmt)
    out = x + embedding(torch.arange(5) + int(does.get("position-offset", 0)))
    return Made({"x": x, "table": embedding.weight, "out": out}, says, "torch nn.Embedding and add")


# --- Modules of torch: parameters, names, mistakes --------------------------------------------------------------------

def fill(g, module, fmt):
    """Every parameter drawn anew: gains near 1 and biases not 0, so that nothing hides."""
    for name, p in module.named_parameters():
        if p.ndim == 2:
            p.data = few_digits(g, p.shape, fmt, 0, 1.2 * p.shape[1] ** -0.5)
        else:
            p.data = few_digits(g, p.shape, fmt, 1.0 if "norm" in name and name.endswith("weight") else 0.0, 0.4)


def torch_names(module, grads):
    """Parameters under PyTorch's names, and their gradients as NAME.grad."""
    named = {n: p.detach() for n, p in module.named_parameters()}
    return named | {n + ".grad": g for n, g in grads.items()}


def attest_names(module, grads, weight_layout):
    """The same under attest's names, gradients as prefix + `d` + name; weights are transposed to in_out unless told."""
    ffn = "" if isinstance(module, FeedForward) else "ffn."

    def renamed(name, t):
        name = name.replace("multihead_attn.", "cross_attn.")
        for theirs, ours in (("out_proj.weight", "w_o"), ("out_proj.bias", "b_o"), ("linear1.weight", ffn + "w_1"),
                             ("linear1.bias", ffn + "b_1"), ("linear2.weight", ffn + "w_2"),
                             ("linear2.bias", ffn + "b_2")):
            name = name.replace(theirs, ours)
        name = re.sub(r"(norm\d?\.)weight$", r"\1gamma", name)
        name = re.sub(r"(norm\d?\.)bias$", r"\1beta", name)
        parts = {name: t}
        if "in_proj" in name:
            where, kind = re.fullmatch(r"(.*)in_proj_(w|b).*", name).groups()
            parts = {f"{where}{kind}_{c}": part for c, part in zip("qkv", t.chunk(3))}
        return {n: part.T if part.ndim == 2 and weight_layout == "in_out" else part for n, part in parts.items()}

    made = {}
    for name, p in module.named_parameters():
        made |= renamed(name, p.detach())
    for name, g in grads.items():
        made |= {re.sub(r"([^.]+)$", r"d\1", n): part for n, part in renamed(name, g).items()}
    return made


def transposed(name, block=None):
    """The mistake: one square weight transposed. block: which third of an in_proj_weight."""
    def change(m):
        p = m.get_parameter(name)
        part = p.data if block is None else p.data.chunk(3)[block]
        part.copy_(part.T.clone())
    return change


def reordered(name, order):
    """The mistake: the blocks of in_proj in another order."""
    def change(m):
        for kind in ("weight", "bias"):
            p = m.get_parameter(name + kind)
            parts = p.data.clone().chunk(3)
            p.data = torch.cat([parts[i] for i in order])
    return change


def heads_swapped(name, heads):
    """The mistake: heads 0 and 1 change places before out_proj (the same as two groups of its columns)."""
    def change(m):
        p = m.get_parameter(name)
        blocks = list(p.data.clone().chunk(heads, 1))
        blocks[0], blocks[1] = blocks[1], blocks[0]
        p.data = torch.cat(blocks, 1)
    return change


def zeroed(*names):
    """The mistake: biases left out."""
    def change(m):
        for name in names:
            m.get_parameter(name).data.zero_()
    return change


def attribute(name, value):
    """Another value of an attribute: norm_first, eps, activation, norm; a callable gets the module."""
    def change(m):
        where, _, last = name.rpartition(".")
        setattr(m.get_submodule(where), last, value(m) if callable(value) and last != "activation" else value)
    return change


def residual_from_normed(m):
    """The mistake: pre-norm, but the residual stream is the normed one: LN(x) + f(LN(x))."""
    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        y = self.norm1(src)
        y = y + self._sa_block(y, src_mask, src_key_padding_mask)
        y = self.norm2(y)
        return y + self._ff_block(y)
    m.forward = types.MethodType(forward, m)


def eager_norms(m, fmt, eps, placement, variance):
    """Every LayerNorm of a module replaced by the textbook formula with another epsilon and variance."""
    for name, sub in list(m.named_modules()):
        if isinstance(sub, nn.LayerNorm):
            norm = TextbookNorm(sub.normalized_shape[0], eps, placement, variance, TORCH[fmt])
            where, _, last = name.rpartition(".")
            setattr(m.get_submodule(where), last, norm)


# --- Feed-forward and multi-head attention ----------------------------------------------------------------------------

class FeedForward(nn.Module):
    def __init__(self, d, ff, activate, dtype=None):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d, ff, dtype=dtype), nn.Linear(ff, d, dtype=dtype)
        self.activate = activate

    def forward(self, x):
        return self.linear2(self.activate(self.linear1(x)))


def named(module, grads, says):
    if says.get("names") == "torch":
        return torch_names(module, grads)
    return attest_names(module, grads, says.get("weight-layout", "in_out"))


def parameter_gradients(made, module):
    """Takes out of `made` what differentiated() made of the parameters: `d` + PyTorch's name."""
    return {n: made.pop("d" + n) for n, _ in module.named_parameters() if "d" + n in made}


def feed_forward(g, fmt, says, does=None, *, shape=(5, 8), ff=12, grads="all", change=None, spoil=None):
    does = says | (does or {})
    activate = F.relu if does["activation"] == "relu" else GELU[does["gelu"]]
    module = FeedForward(shape[-1], ff, activate, dtype=TORCH[fmt])
    fill(g, module, fmt)
    acting = copy.deepcopy(module)
    if change:
        change(acting)
    x, dout = leaf(draw(g, shape, fmt)), few_digits(g, shape, fmt)
    leaves = {"x": x} | (dict(acting.named_parameters()) if grads == "all" else {})
    made, path = differentiated(lambda: acting(x), leaves, dout)
    tensors = {"x": x, **named(module, parameter_gradients(made, acting), says), "dout": dout, **made}
    if spoil:
        spoil(tensors)
    return Made(tensors, says, f"torch Linear, activation, Linear; operators: {path}")


def multi_head(g, fmt, says, *, d=8, batch=1, n=None, m=None, kdim=None, bias=True, weights=False, mask=None,
               grads="all", fast=False, change=None, spoil=None):
    """nn.MultiheadAttention. m: cross-attention to a memory of that length; kdim: the memory's width;
    weights: also dumped; mask: padding, bool, per-head, float, dead or causal; grads: all, inputs or none;
    fast: torch's fused kernel; change: alters the module that runs, not the dumped weights; spoil: the tensors."""
    heads, sequence_first = says["heads"], says.get("layout") == "nbd"
    n = n or (4 if g.coarse else 5)
    module = nn.MultiheadAttention(d, heads, bias=bias, kdim=kdim, vdim=kdim, batch_first=not sequence_first,
                                   dtype=TORCH[fmt])
    fill(g, module, fmt)
    acting = copy.deepcopy(module)
    if change:
        change(acting)
    turned = lambda t: t.transpose(0, 1).contiguous() if sequence_first else t
    x = leaf(turned(draw(g, (batch, n, d), fmt)))
    memory = leaf(turned(draw(g, (batch, m, kdim or d), fmt))) if m else x
    dout = few_digits(g, x.shape, fmt)
    stored, how = multi_head_mask(g, fmt, mask, batch, heads, n, m or n)

    def run():
        out, alpha = acting(x, memory, memory, need_weights=bool(weights),
                            average_attn_weights=says.get("weights") == "mean", **how)
        return {"out": out} | ({"weights": alpha} if weights else {})

    leaves = {"x": x} | ({"memory": memory} if m else {}) | (dict(acting.named_parameters()) if grads == "all" else {})
    if fast:
        acting.eval()
        with torch.no_grad():
            made, path = ran(run)
        assert "_native_multi_head_attention" in path, path
    elif grads == "none":
        with torch.no_grad():
            made, path = ran(run)
    else:
        made, path = differentiated(run, leaves, dout)
    tensors = {"x": x, **({"memory": memory} if m else {}), **named(module, parameter_gradients(made, acting), says),
               **stored, **made}
    if "dx" in made:
        tensors["dout"] = dout
    if spoil:
        spoil(tensors)
    return Made(tensors, says, f"torch nn.MultiheadAttention; operators: {path}")


def multi_head_mask(g, fmt, kind, b, h, n, m):
    """The mask as the case holds it, and the arguments of nn.MultiheadAttention (where True = may not be seen)."""
    if kind == "padding":
        lengths = m - 1 - torch.arange(b)
        drop = torch.arange(m)[None, :] >= lengths[:, None]
        return {"mask": drop[:, None, None, :]}, {"key_padding_mask": drop}
    if kind in ("bool", "dead"):
        drop = ~random_mask(g, (n, m), dead=(2,) if kind == "dead" else ())
        return {"mask": drop}, {"attn_mask": drop}
    if kind == "per-head":
        drop = ~random_mask(g, (b, h, n, m))
        return {"mask": drop}, {"attn_mask": drop.reshape(b * h, n, m)}
    if kind == "batch-major":  # the mistake: the mask of sample and head (s, h) meets (h, s)
        drop = ~random_mask(g, (b, h, n, m))
        return {"mask": drop}, {"attn_mask": drop.transpose(0, 1).reshape(b * h, n, m)}
    if kind == "float":
        added = draw(g, (n, m), fmt)
        return {"mask": added}, {"attn_mask": added}
    if kind == "causal":
        return {}, {"attn_mask": nn.Transformer.generate_square_subsequent_mask(n, dtype=TORCH[fmt]), "is_causal": True}
    return {}, {}


def own_multi_head(g, fmt, says, does=None, *, d=12, batch=1, n=5, d_k=3, bias=True):
    """Multi-head attention by the formula, in attest's names: fewer key-value heads, RoPE inside, other scales."""
    does = says | (does or {})
    heads, kv = says["heads"], says.get("kv-heads", says["heads"])
    shapes = {"w_q": (d, heads * d_k), "w_k": (d, kv * d_k), "w_v": (d, kv * d_k), "w_o": (heads * d_k, d)}
    if bias:
        shapes |= {"b_q": (heads * d_k,), "b_k": (kv * d_k,), "b_v": (kv * d_k,), "b_o": (d,)}
    w = {name: leaf(few_digits(g, s, fmt, 0, 0.4)) for name, s in shapes.items()}
    x = leaf(draw(g, (batch, n, d), fmt))
    dout = few_digits(g, x.shape, fmt)
    b = lambda name: w[name] if bias else 0
    split = lambda t, h: t.reshape(batch, n, h, d_k).transpose(1, 2)

    def run():
        q, k, v = (split(x @ w["w_" + c] + b("b_" + c), h) for c, h in (("q", heads), ("k", kv), ("v", kv)))
        together = textbook(q, k, v, does).transpose(1, 2).reshape(batch, n, heads * d_k)
        return together @ w["w_o"] + b("b_o")

    made, path = differentiated(run, {"x": x, **w}, dout)
    return Made({"x": x, **w, "dout": dout, **made}, says, f"the formula in torch, autograd; operators: {path}")


# --- Layers and stacks ------------------------------------------------------------------------------------------------

STAGE = {"self_attn": "self_attn", "multihead_attn": "cross_attn", "norm1": "norm1", "norm2": "norm2", "norm3": "norm3",
         "linear2": "ffn"}


def block(g, fmt, says, *, d=8, ff=16, batch=1, n=None, m=None, bias=False, layers=2, final_norm=True, spread=1.0,
          grads="none", stages=False, fast=False, padding=False, norms=None, change=None, acting_causal=None,
          inverted=False, memory_is_x=False, spoil=None):
    """nn.TransformerEncoderLayer, …DecoderLayer, and stacks of them, by the op that `says` names.

    bias: of linear layers and norms; grads: none, inputs, first (inputs and parameters of layer 0) or all;
    stages: intermediates too, by hooks; fast: torch's fused kernel of the encoder layer; padding: key padding masks;
    norms: the textbook norm in place of nn.LayerNorm. Mistakes: change alters the module that runs, not the dumped
    weights; acting_causal and inverted: other masks; memory_is_x: cross-attention to x; spoil: changes the tensors."""
    op, heads, dtype = says["op"], says["heads"], TORCH[fmt]
    n = n or (4 if g.coarse else 5)
    m = m or n + 1
    decoder, stack = op.startswith("decoder"), op in ("encoder", "decoder")
    activate = "relu" if says["activation"] == "relu" else "gelu" if says["gelu"] == "erf" else GELU[says["gelu"]]
    kind = nn.TransformerDecoderLayer if decoder else nn.TransformerEncoderLayer
    eps = float(says["eps"])
    module = kind(d, heads, ff, 0.0, activate, layer_norm_eps=eps, batch_first=True, norm_first=says["norm"] == "pre",
                  bias=bias, dtype=dtype)
    if stack:
        norm = nn.LayerNorm(d, eps, bias=bias, dtype=dtype) if final_norm else None
        module = (nn.TransformerDecoder(module, layers, norm) if decoder
                  else nn.TransformerEncoder(module, layers, norm, enable_nested_tensor=False))
    if norms:
        eager_norms(module, fmt, *norms)
    fill(g, module, fmt)
    acting = copy.deepcopy(module)
    if change:
        change(acting)
    acting.train(not fast)
    x = leaf(draw(g, (batch, n, d), fmt, 0, spread))
    memory = leaf(draw(g, (batch, m, d), fmt)) if decoder else None
    dout = few_digits(g, x.shape, fmt)
    inputs = {"x": x} | ({"memory": memory} if decoder else {})
    stored, how = block_masks(says, decoder, stack, batch, n, m, dtype, padding, acting_causal, inverted)
    seen = {}
    if stages:
        for name, sub in acting.named_modules():
            prefix, _, last = name.rpartition(".")
            if last in STAGE:
                named_stage = f"{prefix}.{STAGE[last]}.out".lstrip(".")
                sub.register_forward_hook(lambda _, __, out, at=named_stage: seen.__setitem__(
                    at, (out[0] if isinstance(out, tuple) else out).detach()))

    def run():
        out = acting(x, x if memory_is_x else memory, **how) if decoder else acting(x, **how)
        return {**seen, "out": out}

    leaves = dict(inputs)
    if grads in ("all", "first"):
        leaves |= {k: p for k, p in acting.named_parameters() if grads == "all" or k.startswith("layers.0.")}
    if grads == "none":
        with torch.set_grad_enabled(not fast):
            made, path = ran(lambda: {k: t.detach() for k, t in run().items()})
    else:
        made, path = differentiated(run, leaves, dout)
    assert ("_transformer_encoder_layer_fwd" in path) == fast, path
    tensors = {**inputs, **named(module, parameter_gradients(made, acting), says), **stored, **made}
    if grads != "none":
        tensors["dout"] = dout
    if spoil:
        spoil(tensors)
    way = "eval: fused encoder kernel" if fast else "train: plain path"
    return Made(tensors, says, f"torch nn.{type(module).__name__}, {way}; operators: {path}")


def block_masks(says, decoder, stack, batch, n, m, dtype, padding, acting_causal, inverted):
    """Members self_attn.mask and cross_attn.mask (True = padding), and torch's arguments."""
    stored, how = {}, {}
    causal = says.get("causal", "none") if acting_causal is None else acting_causal
    if causal == "top-left":
        square = nn.Transformer.generate_square_subsequent_mask(n, dtype=dtype)
        how |= {"tgt_mask": square, "tgt_is_causal": True} if decoder else (
            {"mask" if stack else "src_mask": square, "is_causal": True})
    if padding:
        drop = lambda length: torch.arange(length)[None, :] >= (length - 1 - torch.arange(batch))[:, None]
        flip = lambda t: ~t if inverted else t
        stored["self_attn.mask"] = drop(n)[:, None, None, :]
        if decoder:
            stored["cross_attn.mask"] = drop(m)[:, None, None, :]
        how |= ({"tgt_key_padding_mask": flip(drop(n)), "memory_key_padding_mask": flip(drop(m))} if decoder
                else {"src_key_padding_mask": flip(drop(n))})
        if causal == "top-left":  # torch warns where a bool mask meets a float one
            how["tgt_mask" if decoder else "src_mask"] = torch.ones(n, n, dtype=bool).triu(1)
    return stored, how


# --- Mistakes in gradients --------------------------------------------------------------------------------------------

def put(name, change):
    """The mistake: another value of a candidate, from all tensors."""
    def spoil(tensors):
        tensors[name] = change(tensors)
    return spoil


def swap(a, b):
    def spoil(tensors):
        tensors[a], tensors[b] = tensors[b], tensors[a]
    return spoil


def without_d(t):
    """Attention's gradient with dS = P dP."""
    scale = t["q"].shape[-1] ** -0.5
    p = torch.softmax(t["q"] @ t["k"].mT * scale, -1)
    ds = p * (t["dout"] @ t["v"].mT)
    return {"dq": ds @ t["k"] * scale, "dk": ds.mT @ t["q"] * scale}


def nan_gradients(t):
    """The gradients that softmax and autograd give where a row of scores is all -inf; out is repaired afterwards."""
    q, k, v = (leaf(t[n].detach()) for n in "qkv")
    s = q @ k.mT * q.shape[-1] ** -0.5 + torch.where(t["mask"], 0.0, -torch.inf)
    out = torch.nan_to_num(torch.softmax(s, -1), 0.0) @ v
    return dict(zip(("dq", "dk", "dv"), torch.autograd.grad(out, (q, k, v), t["dout"])))


def last_of_group(t):
    """The gradient of the keys of two heads a group, of the second head alone."""
    q, k, v = (t[n].detach() for n in "qkv")
    wide = leaf(repeat_heads(k, 2))
    out = F.scaled_dot_product_attention(q, wide, repeat_heads(v, 2))
    return {"dk": torch.autograd.grad(out, wide, t["dout"])[0][:, 1::2]}
