#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Make the dumps of the folder blocks/ again: norms, activations, positions, multi-head attention, layers and stacks.

    make_blocks.py [FOLDER]          (make.sh calls it after make.py; dumps go into FOLDER/blocks)

Each case is one entry of the table below; `run` makes its tensors with a real implementation (PyTorch's modules and
autograd, JAX, or plain NumPy). What make.py says of its wrong dumps holds here too: a wrong dump *does* something else
than its attest.json *says*, its name begins with `wrong-`, and `does` in provenance.json tells what.

After a case is written it is read again and compared with reference.py, an evaluation at 200 bits: each right dump must
agree with it, each wrong one must be far from it, and so must the lines of expected.txt with further options. An f32 or
bf16 dump whose elements are all correctly rounded is `right`, else `undecided`. The limits of that comparison are
those of `GUARD` and only keep a mistake of this script out of the folder; `attest check` knows nothing of them.
"""
import copy
import io
import json
import re
import sys
import types
import zipfile
import zlib
from pathlib import Path

import make  # sets the environment of every library (one thread, x64) before it is imported
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from make import BF16, DTYPE, LEAST_EXPONENT, MANTISSA, PLATFORM, VERSIONS, Recorder, from_torch, to_torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import jax
import jax.numpy as jnp
import reference
import safetensors
import safetensors.torch

TORCH = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16}


# --- Inputs -----------------------------------------------------------------------------------------------------------

class Source(np.random.Generator):
    """Where inputs come from. coarse: with 11 bits, which take little space; so in wrong dumps."""

    def __init__(self, seed, coarse):
        super().__init__(np.random.PCG64(seed))
        self.coarse = coarse


def draw(g, shape, fmt, mean=0.0, spread=1.0):
    """Tensors with all the digits that the format has."""
    drawn = mean + spread * g.standard_normal(shape)
    return to_torch((drawn.astype(np.float16) if g.coarse else drawn).astype(DTYPE[fmt]))


def few_digits(g, shape, fmt, mean=0.0, spread=1.0):
    """Multiples of 1/32 that every format holds: weights that the file stores in little space."""
    drawn = np.clip(np.round((mean + spread * g.standard_normal(shape)) * 32), -128, 128) / 32
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

EDGES = [0.0, -0.0, 1.0, -1.0, -3.75, -3.8125, -3.78125, -3.796875, -3.84375, 3.8125, -8.0, 8.0, 40.0, -40.0, 2.0 ** -30,
         -2.0 ** -30]

def sigmoid_gelu(x):
    return x * torch.sigmoid(1.702 * x)


GELU = {"erf": F.gelu, "tanh": lambda x: F.gelu(x, approximate="tanh"), "sigmoid": sigmoid_gelu}


def activation(g, fmt, says, does=None):
    """nn.ReLU, nn.GELU, and x sigmoid(1.702 x), with their gradients."""
    does = says | (does or {})
    x = leaf(torch.cat([torch.tensor(EDGES, dtype=TORCH[fmt]), draw(g, (24,), fmt, 0, 3)]).reshape(2, 20))
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


def bool_mask(g, fmt, b, h, n, m): return random_mask(g, (b, 1, n, m))
def dead_row(g, fmt, b, h, n, m): return random_mask(g, (b, 1, n, m), dead=(2,))
def dropped(g, fmt, b, h, n, m): return ~random_mask(g, (b, h, n, m))


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
                             ("linear1.bias", ffn + "b_1"), ("linear2.weight", ffn + "w_2"), ("linear2.bias", ffn + "b_2")):
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


def parameter(module, name):
    return module.get_parameter(name)


def transposed(name, block=None):
    """The mistake: one square weight transposed. block: which third of an in_proj_weight."""
    def change(m):
        p = parameter(m, name)
        part = p.data if block is None else p.data.chunk(3)[block]
        part.copy_(part.T.clone())
    return change


def reordered(name, order):
    """The mistake: the blocks of in_proj in another order."""
    def change(m):
        for kind in ("weight", "bias"):
            p = parameter(m, name + kind)
            parts = p.data.clone().chunk(3)
            p.data = torch.cat([parts[i] for i in order])
    return change


def heads_swapped(name, heads):
    """The mistake: heads 0 and 1 change places before out_proj (the same as two groups of its columns)."""
    def change(m):
        p = parameter(m, name)
        blocks = list(p.data.clone().chunk(heads, 1))
        blocks[0], blocks[1] = blocks[1], blocks[0]
        p.data = torch.cat(blocks, 1)
    return change


def zeroed(*names):
    """The mistake: biases left out."""
    def change(m):
        for name in names:
            parameter(m, name).data.zero_()
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
    def __init__(self, d, ff, activate, d_out=None, dtype=None):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d, ff, dtype=dtype), nn.Linear(ff, d_out or d, dtype=dtype)
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


def multi_head(g, fmt, says, *, d=8, batch=1, n=None, m=None, kdim=None, bias=True, weights=False, mask=None, grads="all",
               fast=False, change=None, inverted=False, spoil=None):
    """nn.MultiheadAttention. m: cross-attention to a memory of that length; kdim: the memory's width;
    weights: also dumped; mask: padding, bool, per-head, float, dead or causal; grads: all, inputs or none;
    change: alters the module that runs, not the dumped weights; inverted: the mask that runs is the opposite."""
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
    if inverted:
        how = {key: ~t if isinstance(t, torch.Tensor) and t.dtype == torch.bool else t for key, t in how.items()}

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
            made, path = ran(lambda: {n: t for n, t in run().items()})
    else:
        made, path = differentiated(run, leaves, dout)
    parameter_grads = parameter_gradients(made, acting)
    tensors = {"x": x, **({"memory": memory} if m else {}), **named(module, parameter_grads, says), **stored, **made}
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


def block(g, fmt, says, *, d=8, ff=16, batch=1, n=None, m=None, bias=False, layers=2, final_norm=True, eps=1e-5, spread=1.0, grads="none",
          stages=False, fast=False, padding=False, norms=None, change=None, acting_causal=None, inverted=False,
          spoil=None, memory_is_x=False):
    """nn.TransformerEncoderLayer, …DecoderLayer, and stacks of them, by the op that `says` names.

    bias: whether linear layers and norms have one; grads: none, inputs, first (inputs and parameters of layer 0) or all; stages: intermediates by hooks;
    fast: torch's fused kernel of the encoder layer; padding: key padding masks; norms: the textbook norm for nn.LayerNorm;
    change: alters the module that runs, not the dumped weights."""
    op, heads, dtype = says["op"], says["heads"], TORCH[fmt]
    n = n or (4 if g.coarse else 5)
    m = m or n + 1
    decoder, stack = op.startswith("decoder"), op in ("encoder", "decoder")
    activate = "relu" if says["activation"] == "relu" else "gelu" if says["gelu"] == "erf" else GELU[says["gelu"]]
    kind = nn.TransformerDecoderLayer if decoder else nn.TransformerEncoderLayer
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
    return Made(tensors, says, f"torch nn.{type(module).__name__}, {'eval: fused encoder kernel' if fast else 'train: plain path'}"
                               f"; operators: {path}")


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


# --- The table --------------------------------------------------------------------------------------------------------

CASES = []


def case(name, run, fmts, says, note, *, does=None, bf16="bf16", store="npz", leaves_out=None, **how):
    """One dump for each stored format in `fmts`. says: attest.json; does: what the implementation does instead;
    bf16: the arithmetic declared for bf16; leaves_out: a pattern of names that do not go into the file; the rest goes to `run`."""
    for fmt in fmts.split():
        CASES.append(dict(name=f"{name}-{fmt}", run=run, fmt=fmt, says=says, does=does, note=note, store=store, how=how,
                          leaves_out=leaves_out,
                          arithmetic=bf16 if fmt == "bf16" else fmt))


BOTH, ALL = "f64 f32", "f64 f32 bf16"
STORED_F32 = "bf16+f32"  # computed in f32, stored once

# Activations
RELU = {"op": "relu"}
case("torch-relu", activation, ALL, RELU, "nn.ReLU; 0, -0, large; the slope at 0 is 0", bf16=STORED_F32)
for form in ("erf", "tanh", "sigmoid"):
    case(f"torch-gelu-{form}", activation, ALL if form != "sigmoid" else BOTH, {"op": "gelu", "gelu": form},
         "x sigmoid(1.702 x)" if form == "sigmoid" else f"nn.GELU, {form}; 0, large, near -3.8", bf16=STORED_F32)
case("jax-gelu-tanh", jax_gelu, "f64", {"op": "gelu", "gelu": "tanh"}, "jax.nn.gelu, its default form")

# Norms
NORM = {"op": "layer_norm", "eps": "1e-5", "eps-placement": "variance", "variance": "biased"}
RMS = {"op": "rms_norm", "eps": 1e-6, "eps-placement": "variance"}
case("torch-layer-norm", layer_norm, ALL, NORM, "nn.LayerNorm with gamma and beta, all gradients", shape=(2, 5, 12),
     bf16=STORED_F32)
case("torch-layer-norm-plain", layer_norm, "f64", NORM | {"eps": "1e-3"}, "nn.LayerNorm, elementwise_affine=False, eps 1e-3",
     affine=False, spread=0.1)
case("torch-layer-norm-mean-1000", layer_norm, BOTH, NORM, "nn.LayerNorm, mean 1000, spread 1", mean=1000)
case("torch-layer-norm-small", layer_norm, "f64", NORM, "nn.LayerNorm, variance near eps; one row is constant", spread=0.003,
     constant_row=True)
case("torch-layer-norm-names", layer_norm, "f64", NORM | {"names": "torch"}, "the same module under its own names", shape=(3, 7))
case("numpy-layer-norm-unbiased", layer_norm, BOTH, NORM | {"variance": "unbiased"}, "variance over d - 1", kind="numpy")
case("numpy-layer-norm-std", layer_norm, BOTH, NORM | {"eps-placement": "std", "eps": "1e-3"}, "sigma + eps", kind="numpy",
     spread=0.1)
case("torch-layer-norm-annotated", layer_norm, "f64", NORM | {"eps-placement": "std", "variance": "unbiased", "eps": "1e-6"},
     "sigma + eps, variance over d - 1, as in The Annotated Transformer; autograd", kind="textbook")
case("torch-rms-norm", layer_norm, ALL, RMS, "nn.RMSNorm with its gradients; eps is a JSON number", bf16=STORED_F32)
case("torch-rms-norm-plain", layer_norm, "f64", RMS | {"eps": "0x1p-10"}, "nn.RMSNorm without gamma; eps as a hex float",
     affine=False, spread=0.02)

# Softmax with its gradient
SOFTMAX = {"op": "softmax", "axis": -1}
case("torch-softmax-gradient", softmax, BOTH, SOFTMAX, "last axis, with dx")
case("torch-softmax-gradient-axis-1", softmax, "f64", SOFTMAX | {"axis": 1}, "axis 1 of [2,3,5], with dx")
case("jax-softmax-gradient", softmax, "f64", SOFTMAX, "jax.nn.softmax in f64, with dx", kind="jax")

# Scores
for kind in ("additive", "bilinear", "dot", "scaled"):
    case(f"torch-score-{kind}", score, BOTH if kind == "additive" else "f64", {"op": "score", "score": kind},
         "n_q 5, n_k 7" + (", d_q 6, d_k 4" if kind == "bilinear" else ""))

# Attention with gradients
ATTENTION = {"op": "attention", "score": "scaled", "causal": "none", "empty-row": "zero", "layout": "bhnd"}
TOP_LEFT, BOTTOM_RIGHT = {"causal": "top-left"}, {"causal": "bottom-right"}
KEEP, DROP = {"mask-polarity": "keep"}, {"mask-polarity": "drop"}
case("torch-math-gradients", attention, ALL, ATTENTION, "plain path; n_q 5, n_k 7, d_k 4, d_v 6", shape=(5, 7, 4, 6),
     bf16=STORED_F32)
case("torch-fused-gradients", attention, BOTH, ATTENTION, "fused path, its own backward kernel", path="fused")
case("torch-fused-gradients-top-left", attention, "f64", ATTENTION | TOP_LEFT, "fused path, is_causal=True, n_q 5, n_k 7",
     path="fused")
case("torch-math-gradients-bottom-right", attention, "f64", ATTENTION | BOTTOM_RIGHT, "by an explicit mask, not in the dump",
     shape=(7, 5, 3, 3))
case("torch-math-gradients-dead-row", attention, BOTH, ATTENTION | KEEP, "bool mask; row 2 sees no key: out and dq are 0",
     mask=dead_row)
case("torch-fused-gradients-dead-row", attention, "f64", ATTENTION | KEEP, "the same on the fused path", mask=dead_row,
     path="fused")
case("torch-math-gradients-float-mask", attention, BOTH, ATTENTION, "float mask per head, with -inf, and its gradient dmask",
     mask=float_mask)
case("torch-math-gradients-scale", attention, "f64", ATTENTION | {"scale": "0.3"}, "scale 0.3", shape=(5, 5, 3, 3))
case("torch-math-gradients-gqa", attention, BOTH, ATTENTION, "4 heads read 2: dk and dv are sums", heads=4, kv_heads=2,
     shape=(4, 5, 3, 3))
case("torch-gradients-softcap", attention, BOTH, ATTENTION | {"softcap": "2"} | TOP_LEFT, "2 tanh(s/2), then the mask; autograd",
     path="textbook", shape=(5, 5, 3, 3))
case("jax-gradients-softcap", attention, "f64", ATTENTION | {"softcap": "1.5"}, "softcap 1.5 in JAX", path="jax")
case("torch-flex-softcap-window", attention, "f64", ATTENTION | {"softcap": "2", "window": 3} | TOP_LEFT,
     "flex_attention with score_mod and mask_mod; forward alone", path="flex", shape=(7, 7, 3, 3))
case("torch-gradients-window", attention, "f64", ATTENTION | {"window": 3} | BOTTOM_RIGHT, "3 keys, self included; n_q 5, n_k 7",
     path="textbook")
case("torch-gradients-window-both", attention, "f64", ATTENTION | {"window": "2,1"}, "2 keys to the left, 1 to the right",
     path="textbook", shape=(6, 6, 3, 3))
case("torch-gradients-window-no-causal", attention, "f64", ATTENTION | {"window": 2}, "W = 2 without causal: |i - j| < 2",
     path="textbook", shape=(6, 6, 3, 3))
case("torch-gradients-sink", attention, "f64", ATTENTION, "an attention sink per head", path="textbook", sink=True)
case("torch-gradients-alibi", attention, "f64", ATTENTION | {"position": "alibi"} | BOTTOM_RIGHT, "ALiBi, slopes in the case",
     path="textbook", alibi=[0.5, 0.125])
case("torch-gradients-alibi-3-heads", attention, "f64", ATTENTION | {"position": "alibi"},
     "ALiBi, 3 heads, slopes 2^-4, 2^-8, 2^-2 by its author's rule", path="textbook", heads=3, shape=(5, 5, 3, 3),
     alibi=[2.0 ** -4, 2.0 ** -8, 2.0 ** -2], slopes=False)
case("torch-gradients-rope", attention, "f64", ATTENTION | {"position": "rope", "rope-pairing": "half", "rope-base": 10000},
     "q and k rotated at positions 0, 1, …", path="textbook", shape=(5, 5, 4, 4))
case("torch-gradients-dropout", attention, "f64", ATTENTION | {"dropout-p": "0.25"}, "dropout with its mask, True = kept",
     path="textbook", kept=True)
case("torch-gradients-lengths", attention, "f64", ATTENTION, "k_lengths: 7 and 4 keys", path="textbook", batch=2, lengths=[7, 4])

# Positions
ROPE = {"op": "rope", "rope-pairing": "interleaved", "rope-base": 10000, "position-offset": 0}
HALF = ROPE | {"rope-pairing": "half"}
case("torch-rope-interleaved", rope, ALL, ROPE, "complex multiplication, as in Llama's reference code", bf16=STORED_F32)
case("torch-rope-half", rope, BOTH, HALF, "rotate_half, as in GPT-NeoX")
case("torch-rope-interleaved-offset", rope, "f64", ROPE | {"position-offset": 1000, "rope-base": 500000},
     "offset 1000, base 500000")
case("torch-rope-half-partial", rope, BOTH, HALF | {"rope-dim": 4}, "the first 4 of 8 components")
case("torch-rope-half-positions", rope, "f64", HALF, "positions in the case, heads", positions=[3, 0, 7, 7, 100],
     shape=(2, 2, 5, 6))
SINE = {"op": "sinusoidal", "length": 7, "d-model": 8}
case("numpy-sinusoidal", sinusoidal, BOTH, SINE, "the paper's table")
case("numpy-sinusoidal-exp", sinusoidal, "f64", SINE, "rates by exp(-log(10000) 2i/d), as in PyTorch's tutorial", kind="exp")
case("numpy-sinusoidal-odd", sinusoidal, "f64", SINE | {"d-model": 5}, "d_model 5: 3 sines, 2 cosines")
LEARNED = {"op": "learned_position", "position-offset": 0}
case("torch-learned-position", learned_position, ALL, LEARNED, "nn.Embedding, 5 of 9 positions", bf16=STORED_F32)
case("torch-learned-position-offset", learned_position, "f64", LEARNED | {"position-offset": 2}, "from position 2")

# Feed-forward
FFN = {"op": "feed_forward", "activation": "relu", "weight-layout": "in_out"}
FFN_TORCH = {"op": "feed_forward", "activation": "gelu", "gelu": "erf", "names": "torch"}
case("torch-ffn-relu", feed_forward, BOTH, FFN, "attest's names, in_out; every gradient")
case("torch-ffn-relu-out-in", feed_forward, "f64", FFN | {"weight-layout": "out_in"}, "attest's names, out_in", grads="inputs")
case("torch-ffn-gelu", feed_forward, BOTH, FFN_TORCH, "PyTorch's names; every gradient", shape=(5, 12), ff=16)
case("torch-ffn-gelu-tanh", feed_forward, "f64", FFN_TORCH | {"gelu": "tanh"}, "PyTorch's names; safetensors in f64",
     store="safetensors", shape=(5, 8))
case("torch-ffn-gelu", feed_forward, "bf16", FFN_TORCH, "PyTorch's names; native bf16", store="safetensors")

# Multi-head attention
MHA = {"op": "multi_head_attention", "heads": 2, "causal": "none", "names": "torch"}
OWN = {"op": "multi_head_attention", "heads": 4, "causal": "none", "weight-layout": "in_out"}
case("torch-mha", multi_head, BOTH, MHA, "self-attention, every gradient, weights per head", weights=True)
case("torch-mha", multi_head, "bf16", MHA, "self-attention, every gradient; native bf16", store="safetensors")
case("torch-mha-mean", multi_head, "f64", MHA | {"weights": "mean", "heads": 3}, "d_model 12, 3 heads, weights averaged", d=12,
     weights=True, grads="none")
case("torch-mha-cross", multi_head, "f64", MHA, "memory of another length and width (kdim = vdim = 6): q_proj_weight, …", m=7,
     kdim=6)
case("torch-mha-cross-same", multi_head, "f64", MHA, "memory of the same width: in_proj_weight", m=7, grads="inputs")
case("torch-mha-no-bias", multi_head, "f64", MHA | {"heads": 4}, "bias=False, 4 heads", bias=False)
case("torch-mha-padding", multi_head, "f64", MHA | DROP, "key_padding_mask, True = padding", mask="padding", grads="inputs", batch=2)
case("torch-mha-mask", multi_head, "f64", MHA | DROP, "bool attn_mask [n,n]", mask="bool", grads="inputs", weights=True)
case("torch-mha-mask-per-head", multi_head, "f64", MHA | DROP, "bool attn_mask [b H,n,n], here [b,H,n,n]", mask="per-head",
     grads="inputs", batch=2)
case("torch-mha-dead-row", multi_head, "f64", MHA | DROP | {"empty-row": "zero"}, "row 2 sees no key: out is b_o", mask="dead")
case("torch-mha-float-mask", multi_head, "f64", MHA, "float attn_mask", mask="float", grads="inputs")
case("torch-mha-causal", multi_head, BOTH, MHA | TOP_LEFT, "is_causal=True", mask="causal", grads="inputs")
case("torch-mha-nbd", multi_head, "f64", MHA | {"layout": "nbd"}, "batch_first=False, cross", m=6, grads="inputs", weights=True,
     batch=2)
case("torch-mha-fast", multi_head, "f64", MHA, "eval without gradients: the fused kernel", fast=True, bias=True, batch=2)
case("torch-own-mha-gqa", own_multi_head, "f64", OWN | {"kv-heads": 2}, "attest's names; 4 heads read 2, H d_k = d_model")
case("torch-own-mha-unequal", own_multi_head, "f64", OWN | {"heads": 2}, "attest's names; H d_k = 10, d_model 7", d=7, d_k=5,
     bias=False)
case("torch-own-mha-rope", own_multi_head, "f64", OWN | TOP_LEFT | {"heads": 2, "position": "rope", "rope-pairing": "interleaved",
     "rope-base": 10000}, "RoPE inside, causal; attest's names", d=8, d_k=4, bias=False)

# Layers
ENCODER_LAYER = {"op": "encoder_layer", "heads": 2, "norm": "post", "eps": "1e-5", "eps-placement": "variance",
                 "variance": "biased", "activation": "relu", "causal": "none", "names": "torch"}
DECODER_LAYER = ENCODER_LAYER | {"op": "decoder_layer", "causal": "top-left"}
PRE, GELU_ERF = {"norm": "pre"}, {"activation": "gelu", "gelu": "erf"}
WIDE = dict(d=12, ff=32)
case("torch-encoder-layer-post-relu", block, "f64", ENCODER_LAYER, "every gradient", grads="all", bias=True, batch=2)
case("torch-encoder-layer-post-relu", block, "f32", ENCODER_LAYER, "every gradient; bias=False", grads="all")
case("torch-encoder-layer-post-gelu", block, "f64", ENCODER_LAYER | GELU_ERF | {"heads": 3}, "d_model 12, 3 heads, d_ff 32",
     **WIDE, grads="inputs", n=7, bias=True)
case("torch-encoder-layer-pre-relu", block, "f64", ENCODER_LAYER | PRE, "every intermediate; bias=False", stages=True, grads="inputs")
case("torch-encoder-layer-pre-gelu", block, BOTH, ENCODER_LAYER | PRE | GELU_ERF, "gradient of x; bias=False", grads="inputs")
case("torch-encoder-layer-post-gelu-tanh", block, "f64", ENCODER_LAYER | GELU_ERF | {"gelu": "tanh"}, "every intermediate",
     stages=True)
for norm in ("post", "pre"):
    case(f"torch-encoder-layer-fast-{norm}", block, BOTH if norm == "post" else "f64", ENCODER_LAYER | {"norm": norm},
         "eval without gradients: the fused kernel", fast=True, bias=True)
case("torch-encoder-layer-fast-gelu", block, "f64", ENCODER_LAYER | GELU_ERF, "the fused kernel with GELU", fast=True, bias=True)
case("torch-encoder-layer-padding", block, "f64", ENCODER_LAYER | DROP, "src_key_padding_mask", padding=True, grads="inputs", batch=2)
case("torch-encoder-layer-causal", block, "f64", ENCODER_LAYER | PRE | TOP_LEFT, "causal, as in a decoder-only model",
     grads="inputs")
NAMES = {"names": "attest", "weight-layout": "in_out"}
case("torch-encoder-layer-names", block, "f64", ENCODER_LAYER | NAMES, "attest's names, in_out, every gradient",
     grads="all")
case("torch-encoder-layer-annotated", block, "f64",
     ENCODER_LAYER | PRE | NAMES | {"eps": "1e-6", "eps-placement": "std", "variance": "unbiased"},
     "the textbook norm (sigma + eps, unbiased) in nn.TransformerEncoderLayer", norms=(1e-6, "std", "unbiased"), grads="inputs")
case("torch-encoder-layer", block, "bf16", ENCODER_LAYER | GELU_ERF, "native bf16", store="safetensors", stages=True, bias=True, batch=2)
case("torch-encoder-layer-npz", block, "bf16", ENCODER_LAYER | PRE, "bf16 in .npz")
case("torch-decoder-layer-post-relu", block, "f64", DECODER_LAYER, "every gradient; bias=False", grads="all")
case("torch-decoder-layer-post-relu", block, "f32", DECODER_LAYER, "gradients of the inputs; bias=False", grads="inputs")
case("torch-decoder-layer-post-gelu", block, "f64", DECODER_LAYER | GELU_ERF, "every intermediate", stages=True)
case("torch-decoder-layer-pre-relu", block, "f64", DECODER_LAYER | PRE, "every intermediate", stages=True)
case("torch-decoder-layer-pre-gelu", block, "f64", DECODER_LAYER | PRE | GELU_ERF | {"heads": 3},
     "d_model 12, 3 heads, d_ff 20; bias=False", d=12, ff=16, grads="inputs")
case("torch-decoder-layer-padding", block, "f64", DECODER_LAYER | DROP, "padding in target and memory, causal", padding=True,
     grads="inputs", batch=2)
case("torch-decoder-layer-not-causal", block, "f64", DECODER_LAYER | {"causal": "none"} | NAMES, "attest's names; no causal mask")
case("torch-decoder-layer", block, "bf16", DECODER_LAYER | PRE, "native bf16", store="safetensors", bias=True)

# Stacks
ENCODER, DECODER = ENCODER_LAYER | {"op": "encoder"}, DECODER_LAYER | {"op": "decoder"}
case("torch-encoder-pre", block, "f64", ENCODER | PRE | GELU_ERF, "nn.TransformerEncoder, 2 layers and final norm",
     grads="inputs", batch=2)
case("torch-encoder-post", block, "f32", ENCODER | GELU_ERF, "2 layers and final norm; gradient of x", grads="inputs")
case("torch-encoder-post", block, "f64", ENCODER, "2 layers, no final norm; gradients of layer 0 and of x", final_norm=False,
     grads="first")
case("torch-encoder-stages", block, "f64", ENCODER | PRE, "2 layers and final norm, every intermediate", stages=True)
case("torch-decoder-pre", block, "f64", DECODER | PRE | GELU_ERF, "nn.TransformerDecoder, 2 layers and final norm",
     grads="inputs")
case("torch-decoder-pre", block, "f32", DECODER | PRE, "2 layers and final norm")
case("torch-decoder-post", block, "f64", DECODER, "2 layers and final norm; gradients of cross-attention and norms of layer 0, and of the inputs",
     grads="first", leaves_out=r"layers.0.(self|linear).*grad")


# Wrong dumps. Weights
def put(name, change):
    """The mistake: another value of a candidate, from all tensors."""
    def spoil(tensors):
        tensors[name] = change(tensors)
    return spoil


def swap(a, b):
    def spoil(tensors):
        tensors[a], tensors[b] = tensors[b], tensors[a]
    return spoil


PLAIN = dict(grads="none")
FORWARD = "dout|d[a-z][a-z_0-9]*"
for at, letter in enumerate("qkv"):
    case(f"wrong-mha-w-{letter}-transposed", multi_head, "f64", MHA, f"w_{letter} transposed, square",
         change=transposed("in_proj_weight", at), bias=False, **PLAIN)
case("wrong-mha-w-o-transposed", multi_head, "f64", MHA, "w_o transposed, square", change=transposed("out_proj.weight"), bias=False, **PLAIN)
case("wrong-mha-heads-swapped", multi_head, "f64", MHA, "heads 0 and 1 change places before w_o",
     change=heads_swapped("out_proj.weight", 2), bias=False, **PLAIN)
case("wrong-mha-bias-dropped", multi_head, "f64", MHA, "b_q, b_k, b_v left out", change=zeroed("in_proj_bias"), **PLAIN)
case("wrong-mha-out-bias-dropped", multi_head, "f64", MHA, "b_o left out", change=zeroed("out_proj.bias"), **PLAIN)
case("wrong-mha-kqv", multi_head, "f64", MHA, "in_proj read in the order k, q, v", change=reordered("in_proj_", (1, 0, 2)), **PLAIN)
case("wrong-mha-qvk", multi_head, "f64", MHA, "in_proj read in the order q, v, k", change=reordered("in_proj_", (0, 2, 1)), **PLAIN)
case("wrong-mha-polarity", multi_head, "f64", MHA | KEEP, "True = may not be seen, where True = may be seen is declared",
     mask="bool", bias=False, **PLAIN)
case("wrong-mha-mask-batch-major", multi_head, "f64", MHA | DROP, "masks of b samples and H heads laid out in the other order",
     mask="batch-major", batch=2, bias=False, **PLAIN)
case("wrong-mha-causal-missing", multi_head, "f64", MHA | TOP_LEFT, "causal not applied", bias=False, **PLAIN)
case("wrong-mha-batch-second", multi_head, "f64", MHA | {"layout": "nbd"}, "attends across the batch; batch = n",
     batch=4, n=4, change=attribute("batch_first", True), bias=False, **PLAIN)
case("wrong-mha-dead-row-nan", multi_head, "f64", MHA | DROP | {"empty-row": "zero"},
     "row 2 sees no key, weights are asked for: softmax gives NaN, and NaN gets into the gradients of all weights", mask="dead",
     weights=True, bias=False)
case("wrong-mha-gradient-bias", multi_head, "f64", MHA, "in_proj_bias.grad averaged over the batch, not summed", batch=2, leaves_out=".*weight.grad|dx",
     spoil=put("in_proj_bias.grad", lambda t: t["in_proj_bias.grad"] / 2))
case("wrong-mha-gradient-transposed", multi_head, "f64", MHA, "out_proj.weight.grad transposed, square", bias=False, leaves_out="in_proj.*grad|dx",
     spoil=put("out_proj.weight.grad", lambda t: t["out_proj.weight.grad"].T))
case("wrong-own-mha-scale", own_multi_head, "f64", OWN | {"heads": 2}, "1/d_k for 1/sqrt(d_k)", d=8, d_k=4, bias=False,
     does={"scale": 0.25}, leaves_out=FORWARD)
case("wrong-own-mha-gqa-tile", own_multi_head, "f64", OWN | {"kv-heads": 2}, "head h reads key-value head h mod 2",
     does={"gqa": "tile"}, d=8, d_k=2, bias=False, leaves_out=FORWARD)
case("wrong-ffn-w-1-transposed", feed_forward, "f64", FFN, "w_1 transposed, d_ff = d_model", ff=8,
     change=transposed("linear1.weight"), grads="inputs", leaves_out=FORWARD)
case("wrong-ffn-w-2-transposed", feed_forward, "f64", FFN_TORCH, "linear2.weight transposed, d_ff = d_model", ff=8,
     change=transposed("linear2.weight"), grads="inputs", leaves_out=FORWARD)
case("wrong-ffn-bias-dropped", feed_forward, "f64", FFN, "b_1 left out", change=zeroed("linear1.bias"), grads="inputs", leaves_out=FORWARD)
case("wrong-ffn-gelu-tanh", feed_forward, "f64", FFN_TORCH, "the tanh form where erf is declared", does={"gelu": "tanh"},
     grads="inputs")

# Wrong dumps. Element-wise, norms, positions
case("wrong-gelu-tanh", activation, "f64", {"op": "gelu", "gelu": "erf"}, "the tanh form where erf is declared",
     does={"gelu": "tanh"})
case("wrong-gelu-sigmoid", activation, "f64", {"op": "gelu", "gelu": "tanh"}, "the sigmoid form where tanh is declared",
     does={"gelu": "sigmoid"})
SMALL = dict(spread=0.01)
case("wrong-layer-norm-eps", layer_norm, "f64", NORM, "eps 1e-6", does={"eps": "1e-6"}, **SMALL, leaves_out=FORWARD)
case("wrong-layer-norm-std", layer_norm, "f64", NORM, "sigma + eps for sqrt(sigma^2 + eps)", does={"eps-placement": "std"},
     kind="textbook", **SMALL, leaves_out=FORWARD)
case("wrong-layer-norm-unbiased", layer_norm, "f64", NORM, "variance over d - 1", does={"variance": "unbiased"}, kind="textbook",
     **SMALL, leaves_out=FORWARD)
case("wrong-layer-norm-dgamma", layer_norm, "f64", NORM, "dgamma of the last row alone, not summed over the batch",
     spoil=put("dgamma", lambda t: (t["dout"] * (t["out"] - t["beta"]) / t["gamma"])[-1, -1]), leaves_out="dx|dbeta")
case("wrong-layer-norm-dx", layer_norm, "f64", NORM, "dx without the mean of gamma dout taken off",
     spoil=put("dx", lambda t: t["dx"] + (t["gamma"] * t["dout"]).mean(-1, keepdim=True)), leaves_out="dgamma|dbeta")
case("wrong-rms-norm-eps", layer_norm, "f64", RMS, "eps 1e-5 where 1e-6 is declared", does={"eps": "1e-5"}, **SMALL, leaves_out=FORWARD)
case("wrong-rope-pairing", rope, "f64", HALF, "interleaved pairs where halves are declared", does={"rope-pairing": "interleaved"}, leaves_out=FORWARD)
case("wrong-rope-base", rope, "f64", HALF, "base 1000", does={"rope-base": 1000}, leaves_out=FORWARD)
case("wrong-rope-offset", rope, "f64", ROPE | {"position-offset": 3}, "offset forgotten", does={"position-offset": 0}, leaves_out=FORWARD)
case("wrong-rope-angles-f32", rope, "f64", ROPE | {"position-offset": 1000}, "angles computed in f32", does={"angles": "f32"}, leaves_out=FORWARD)
case("wrong-rope-dx", rope, "f64", ROPE, "dx rotated on, not back", opposite=True)
case("wrong-sinusoidal-exponent", sinusoidal, "f64", SINE, "exponent c/d for 2 floor(c/2)/d", kind="exponent")
case("wrong-sinusoidal-concatenated", sinusoidal, "f64", SINE, "sines, then cosines", kind="concatenated")
case("wrong-learned-position", learned_position, "f64", LEARNED, "positions begin at 2", does={"position-offset": 2})

# Wrong dumps. Attention and softmax
case("wrong-score-additive", score, "f64", {"op": "score", "score": "additive"}, "W_1 q + W_2 k for W_1 k + W_2 q", swap=True)
case("wrong-softmax-dx", softmax, "f64", SOFTMAX, "dx = weights dout, without the sum over the row", missing_term=True)
case("wrong-gradients-swapped", attention, "f64", ATTENTION, "dk and dv change places", spoil=swap("dk", "dv"), path="fused", leaves_out="dq")
case("wrong-gradients-no-d", attention, "f64", ATTENTION, "dS = P dP, without D_i",
     spoil=lambda t: t.update(without_d(t)))
case("wrong-gradients-scale", attention, "f64", ATTENTION, "dq without the scale",
     spoil=put("dq", lambda t: t["dq"] * 3 ** 0.5), leaves_out="d[kv]")
case("wrong-gradients-nan", attention, "f64", ATTENTION | KEEP, "row 2 sees no key: dq, dk, dv are NaN, out is right",
     mask=dead_row, spoil=lambda t: t.update(nan_gradients(t)))
case("wrong-gradients-gqa", attention, "f64", ATTENTION, "dk of the last head of each group, not the sum", heads=4, kv_heads=2,
     shape=(4, 5, 3, 3), spoil=lambda t: t.update(last_of_group(t)))
case("wrong-gradients-dmask", attention, "f64", ATTENTION, "dmask of the wrong sign", mask=float_mask,
     spoil=put("dmask", lambda t: -t["dmask"]), leaves_out="d[qkv]")
case("wrong-softcap-after-mask", attention, "f64", ATTENTION | {"softcap": "2"} | TOP_LEFT, "mask, then cap: masked scores are -2",
     does={"cap-after-mask": True}, path="textbook", shape=(5, 5, 3, 3), leaves_out=FORWARD)
case("wrong-window-short", attention, "f64", ATTENTION | {"window": 3} | BOTTOM_RIGHT, "2 keys for 3", does={"window": 2},
     path="textbook", leaves_out=FORWARD)
case("wrong-gqa-tile", attention, "f64", ATTENTION, "head h reads key-value head h mod 2", does={"gqa": "tile"},
     path="textbook", heads=4, kv_heads=2, shape=(4, 5, 3, 3), leaves_out=FORWARD)

# Wrong dumps. Layers and stacks
for norm, other in (("post", True), ("pre", False)):
    case(f"wrong-encoder-layer-{norm}", block, "f64", ENCODER_LAYER | {"norm": norm}, f"{norm}-norm declared, the other done",
         change=attribute("norm_first", other))
case("wrong-encoder-layer-heads-swapped", block, "f64", ENCODER_LAYER, "heads 0 and 1 change places before w_o",
     change=heads_swapped("self_attn.out_proj.weight", 2))
case("wrong-encoder-layer-w-1", block, "f64", ENCODER_LAYER | PRE, "linear1.weight transposed, d_ff = d_model", ff=8,
     change=transposed("linear1.weight"))
case("wrong-encoder-layer-w-v", block, "f64", ENCODER_LAYER, "w_v transposed", change=transposed("self_attn.in_proj_weight", 2))
case("wrong-encoder-layer-gelu", block, "f64", ENCODER_LAYER | GELU_ERF, "the tanh form where erf is declared",
     change=attribute("activation", GELU["tanh"]))
case("wrong-encoder-layer-eps", block, "f64", ENCODER_LAYER | PRE, "eps 1e-6 in norm1; x has a small variance", spread=0.01,
     change=attribute("norm1.eps", 1e-6))
case("wrong-encoder-layer-residual", block, "f64", ENCODER_LAYER | PRE, "the residual is taken from the normed x",
     change=residual_from_normed)
case("wrong-encoder-layer-norm-reused", block, "f64", ENCODER_LAYER, "norm1 in place of norm2",
     change=attribute("norm2", lambda m: m.norm1))
case("wrong-encoder-layer-biases", block, "f64", ENCODER_LAYER, "all biases of attention left out",
     bias=True, change=zeroed("self_attn.in_proj_bias", "self_attn.out_proj.bias"))
case("wrong-encoder-layer-polarity", block, "f64", ENCODER_LAYER | DROP, "the padding mask inverted", padding=True, inverted=True, batch=2)
case("wrong-encoder-layer-causal", block, "f64", ENCODER_LAYER | TOP_LEFT, "causal not applied", acting_causal="none")
case("wrong-encoder-layer-gradient", block, "f64", ENCODER_LAYER | NAMES, "norm1.dgamma and norm2.dgamma change places", grads="all",
     spoil=swap("norm1.dgamma", "norm2.dgamma"), leaves_out=".*dw_.*|dx")
case("wrong-encoder-layer-dx", block, "f64", ENCODER_LAYER | PRE, "dx without the residual's share", grads="inputs",
     spoil=put("dx", lambda t: t["dx"] - t["dout"]))
case("wrong-encoder-layer-stage-attention", block, "f64", ENCODER_LAYER,
     "w_o transposed; first bad stage self_attn.out, all later ones follow from it", stages=True,
     change=transposed("self_attn.out_proj.weight"))
case("wrong-encoder-layer-stage-ffn", block, "f64", ENCODER_LAYER | PRE,
     "linear2.weight transposed, d_ff = d_model; first bad stage ffn.out, the later one follows from it", stages=True, ff=8, change=transposed("linear2.weight"))
case("wrong-encoder-layer-stage-norm1", block, "f64", ENCODER_LAYER,
     "norm2 in place of norm1; first bad stage norm1.out, all later ones follow from it", stages=True,
     change=attribute("norm1", lambda m: copy.deepcopy(m.norm2)))
case("wrong-encoder-layer-stage-alone", block, "f64", ENCODER_LAYER,
     "self_attn.out was dumped without its bias, and out is right; first bad stage self_attn.out", stages=True, bias=True,
     spoil=put("self_attn.out", lambda t: t["self_attn.out"] - t["self_attn.out_proj.bias"]))
case("wrong-decoder-layer-norm", block, "f64", DECODER_LAYER, "post-norm declared, pre-norm done",
     change=attribute("norm_first", True))
case("wrong-decoder-layer-causal", block, "f64", DECODER_LAYER, "self-attention sees the future", acting_causal="none")
case("wrong-decoder-layer-memory", block, "f64", DECODER_LAYER, "cross-attention reads x, not the memory", memory_is_x=True, m=4)
case("wrong-decoder-layer-cross-transposed", block, "f64", DECODER_LAYER | PRE, "w_k of cross-attention transposed",
     change=transposed("multihead_attn.in_proj_weight", 1))
case("wrong-decoder-layer-attention-swapped", block, "f64", DECODER_LAYER, "weights of self- and cross-attention change places",
     change=lambda m: (lambda a, b: (setattr(m, "self_attn", b), setattr(m, "multihead_attn", a)))(m.self_attn, m.multihead_attn))
case("wrong-decoder-layer-stage-cross", block, "f64", DECODER_LAYER | PRE,
     "cross-attention's heads change places; first bad stage cross_attn.out, all later ones follow from it", stages=True,
     change=heads_swapped("multihead_attn.out_proj.weight", 2))
case("wrong-encoder-norm-missing", block, "f64", ENCODER | PRE, "final norm left out, 1 layer", layers=1, change=attribute("norm", None))
case("wrong-encoder-order", block, "f64", ENCODER, "layer 1 before layer 0",
     change=attribute("layers", lambda m: nn.ModuleList(reversed(list(m.layers)))))
case("wrong-decoder-norm-missing", block, "f64", DECODER | PRE, "final norm left out, 1 layer", layers=1, change=attribute("norm", None))


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


# The command line wins over attest.json: the same files under another declaration.
AGAIN = [
    ("wrong-gelu-tanh-f64.npz", "right", "--gelu tanh"), ("torch-gelu-erf-f64.npz", "wrong", "--gelu tanh"),
    ("wrong-gelu-sigmoid-f64.npz", "right", "--gelu sigmoid"),
    ("wrong-layer-norm-eps-f64.npz", "right", "--eps 1e-6"), ("wrong-layer-norm-std-f64.npz", "right", "--eps-placement std"),
    ("wrong-layer-norm-unbiased-f64.npz", "right", "--variance unbiased"),
    ("torch-layer-norm-f64.npz", "wrong", "--variance unbiased"), ("torch-layer-norm-f64.npz", "wrong", "--eps 1e-6"),
    ("wrong-rope-pairing-f64.npz", "right", "--rope-pairing interleaved"),
    ("wrong-rope-base-f64.npz", "right", "--rope-base 1000"), ("wrong-rope-offset-f64.npz", "right", "--position-offset 0"),
    ("torch-rope-half-partial-f64.npz", "wrong", "--rope-dim 8"),
    ("wrong-learned-position-f64.npz", "right", "--position-offset 2"),
    ("wrong-mha-polarity-f64.npz", "right", "--mask-polarity drop"), ("torch-mha-mask-f64.npz", "wrong", "--mask-polarity keep"),
    ("wrong-mha-causal-missing-f64.npz", "right", "--causal none"), ("wrong-own-mha-scale-f64.npz", "right", "--scale 0.25"),
    ("torch-mha-no-bias-f64.npz", "wrong", "--heads 2"), ("wrong-ffn-gelu-tanh-f64.npz", "right", "--gelu tanh"),
    ("torch-ffn-relu-f64.npz", "wrong", "--activation gelu"), ("wrong-ffn-w-1-transposed-f64.npz", "wrong", "--weight-layout out_in"),
    ("wrong-window-short-f64.npz", "right", "--window 2"),
    ("torch-gradients-softcap-f64.npz", "wrong", "--softcap 3"),
    ("wrong-encoder-layer-post-f64.npz", "right", "--norm pre"), ("wrong-encoder-layer-pre-f64.npz", "right", "--norm post"),
    ("torch-encoder-layer-post-relu-f64.npz", "wrong", "--norm pre"),
    ("wrong-encoder-layer-gelu-f64.npz", "right", "--gelu tanh"), ("wrong-encoder-layer-causal-f64.npz", "right", "--causal none"),
    ("wrong-decoder-layer-causal-f64.npz", "right", "--causal none"), ("wrong-decoder-layer-norm-f64.npz", "right", "--norm pre"),
    ("torch-encoder-pre-f64.npz", "wrong", "--norm post"),
]


# --- Running a case ---------------------------------------------------------------------------------------------------

def array(t):
    a = from_torch(t.detach().clone()) if isinstance(t, torch.Tensor) else np.asarray(t)
    return np.ascontiguousarray(a)


def write_npz(path, arrays, texts):
    """What numpy.savez_compressed writes but for a fixed date, no ZIP64 fields (make.py's dumps have them), and texts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in [(n + ".npy", a) for n, a in arrays.items()] + list(texts.items()):
            if not isinstance(data, str):
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, data, allow_pickle=False)
                data = buffer.getvalue()
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, data, compresslevel=9)


def run_case(c, folder):
    """Makes the tensors of a case and writes its file; the same name and table give the same file."""
    seed = zlib.crc32(c["name"].encode())
    wrong = c["name"].startswith("wrong-")
    g = Source(seed, wrong)
    given = {"does": c["does"]} if c["does"] else {}
    made = c["run"](g, c["fmt"], c["says"], **given, **c["how"])
    made.tensors = {n: t for n, t in made.tensors.items() if not c["leaves_out"] or not re.fullmatch(c["leaves_out"], n)}
    arrays = {n: array(t) for n, t in made.tensors.items()}
    says = c["says"] | {"arithmetic": c["arithmetic"]}
    versions = {k: v for k, v in (VERSIONS | {"safetensors": safetensors.__version__}).items()
                if k.startswith(made.library) or k == c["store"]}
    provenance = {"what": c["note"], "verdict": "wrong" if wrong else "right",
                  **({"did_instead": c["does"] or c["note"]} if wrong else {}), "implementation": c["run"].__name__, "path": made.path,
                  "seed": seed, "versions": versions}

    file = folder / f"{c['name']}.{c['store']}"
    if c["store"] == "npz":
        write_npz(file, arrays, {"attest.json": json.dumps(says) + "\n",
                                 "provenance.json": json.dumps(provenance) + "\n"})
    else:
        safetensors.torch.save_file({n: to_torch(a) if a.dtype == BF16 else torch.from_numpy(a) for n, a in arrays.items()},
                                    file, {"attest": json.dumps(says), "provenance": json.dumps(provenance)})
    return file, made.path


PYTHON = make.platform.python_implementation() + " " + make.platform.python_version()
# In a right dump every element is this near to the exact one, relative to the greatest of its tensor; a wrong one is not.
GUARD = {"f64": 2.0 ** -38, "f32": 2.0 ** -13, "bf16": 2.0 ** -3}
GUARD_WRONG = 2.0 ** -26


def read(file):
    """A written file again: arrays and what it says."""
    if file.suffix == ".safetensors":
        with safetensors.safe_open(file, "pt") as f:
            return {n: array(f.get_tensor(n)) for n in f.keys()}, json.loads(f.metadata()["attest"], parse_float=str)
    with zipfile.ZipFile(file) as z:
        says = json.loads(z.read("attest.json"), parse_float=str)
    with np.load(file) as z:
        members = {n: z[n] for n in z.files if not n.endswith(".json")}
    return {n: a.view(BF16) if a.dtype.kind == "V" else a for n, a in members.items()}, says


def judged(members, says):
    """Of each candidate: its format, and what reference.distance() says."""
    expected = reference.Case(members, says).expected()
    assert expected, "nothing to compare"
    whole = max(map(reference.biggest, expected.values()))
    result = {}
    for name, want in expected.items():
        got = members[name]
        assert got.shape == want.shape, (name, got.shape, want.shape)
        fmt = {v: k for k, v in DTYPE.items()}[got.dtype]
        result[name] = (fmt, *reference.distance(got, want, MANTISSA[fmt], LEAST_EXPONENT[fmt], whole))
    return result


def verdict(name, result):
    """right, wrong or undecided; stops where a dump is not what its name says."""
    off = max(relative for *_, relative in result.values())
    fmt = next(iter(result.values()))[0]
    if name.startswith("wrong-"):
        assert off > GUARD_WRONG, f"{name} is too near: {result}"
        return "wrong"
    assert off < GUARD[fmt], f"{name} is too far: {result}"
    exact = all(most <= 0.5 for _, most, *_ in result.values())
    return "right" if fmt == "f64" or exact else "undecided"


def settings(options):
    words = options.split()
    return {key.removeprefix("--"): value for key, value in zip(words[::2], words[1::2])}


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent).resolve() / "blocks"
    folder.mkdir(parents=True, exist_ok=True)
    only, rows, lines, total = sys.argv[2:], [], [], 0
    for c in CASES:
        if only and c["name"] not in only:
            continue
        file, path = run_case(c, folder)
        members, says = read(file)
        result = judged(members, says)
        kind = verdict(c["name"], result)
        options = "--bf16 all" if c["fmt"] == "bf16" and c["store"] == "npz" else ""
        worst = max(result, key=lambda n: result[n][-1])
        ulps = max(shown for _, _, shown, _ in result.values())
        bad = [n for n, (*_, off) in result.items() if off > GUARD_WRONG] if kind == "wrong" else []
        print(f"{c['name']:44} {kind:9} {file.stat().st_size:6}  max ULP {ulps:<10.4g} relative "
              f"{result[worst][-1]:<10.3g} ({worst}; {len(result)} candidates)", flush=True)
        total += file.stat().st_size
        lines.append((file.name, kind, options, c["note"]))
        rows.append(f"| `{file.name}` | {kind} | {says['op']} | {says['arithmetic']} | {c['note']} | "
                    f"{path.split(';')[0]} | {ulps:.3g} | {', '.join(f'`{n}`' for n in bad)} |\n")
    if only:
        return
    for name, kind, options in AGAIN:
        members, says = read(folder / name)
        off = max(r[-1] for r in judged(members, says | settings(options)).values())
        assert off < GUARD["f64"] if kind == "right" else off > GUARD_WRONG, (name, options, off)
        lines.append((name, kind, options, "the convention it follows; the command line wins" if name.startswith("wrong-") and
                      kind == "right" else "under another declaration; the command line wins"))
    width = max(len(name) for name, *_ in lines) + 1
    (folder / "expected.txt").write_text(
        "# file, verdict class (right: exit status 0, wrong: 1, undecided: 3), further options of `attest check`, # comment\n"
        "# Written by make_blocks.py. A file may stand in several lines.\n"
        + "".join(f"{name:{width}} {kind:9}  {options:26}  # {note}\n" for name, kind, options, note in lines))
    (folder / "README.md").write_text(README + "".join(rows))
    print(f"{len(rows)} dumps, {total} bytes")
    for stray in sorted(f.name for f in folder.iterdir() if f.suffix in (".npz", ".safetensors")
                        and f.name not in {line[0] for line in lines}):
        print(f"not made by this script: {stray}")


README = f"""# Dumps of the blocks

Written by make_blocks.py with {PYTHON}, {', '.join(f'{n} {v}' for n, v in VERSIONS.items())}, safetensors {safetensors.__version__} on
{PLATFORM}. What is here and how it is checked stands in the README of the folder above.

`max ULP` is the greatest distance of any candidate element from its exact value (200 bits), in ULP of the stored
format; it is large wherever a value is near 0 (values that are 0, such as the gradient of b_k, are left out). The last column names the candidates that are off, computed from the inputs alone.

| dump | class | op | declared | what | implementation | max ULP | off |
|---|---|---|---|---|---|---|---|
"""

if __name__ == "__main__":
    main()
