#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Make every dump of this folder again: real attention implementations, on seeded inputs, written as cases of attest.

    make.py [FOLDER]          (make.sh first makes the environment with the pinned versions, then calls this)

Each case is one entry of the table below. An implementation is a function of a problem `p` (q, k, v in layout bhnd and
in the stored format, and the conventions p.does that it follows); it returns the tensors it computed and its path.
A wrong dump is a case whose implementation *does* something else than its attest.json *says*, or one of the functions
whose first words are "The mistake"; its inputs are drawn as those of the right ones.

The printed table compares each `out` with an evaluation in long double: the greatest distance in ULP of the stored
format, and its ratio to a rough first-order limit of the declared arithmetic. It is for a human eye; it proves nothing.
"""
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # the same order of every sum
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"

import io
import json
import platform
import sys
import zipfile
import zlib
from pathlib import Path

import jax
import jaxlib
import ml_dtypes
import numpy
import numpy as np
import onnx
import onnxruntime
import scipy
import scipy.special
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right
from torch.utils._python_dispatch import TorchDispatchMode

torch.set_num_threads(1)
np.seterr(all="ignore")  # -inf - -inf, 0/0 and overflow are what some of the wrong dumps are about

BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPE = {"f64": np.dtype("f8"), "f32": np.dtype("f4"), "f16": np.dtype("f2"), "bf16": BF16}
MANTISSA = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
LEAST_EXPONENT = {"f64": -1074, "f32": -149, "f16": -24, "bf16": -133}
VERSIONS = {module.__name__: module.__version__
            for module in (numpy, torch, jax, jaxlib, onnxruntime, onnx, scipy, ml_dtypes)}

PLATFORM = f"{platform.system()} {platform.machine()}, {torch.backends.cpu.get_cpu_capability()}, one thread"


# --- The inputs -------------------------------------------------------------------------------------------------------

class Problem:
    """Inputs in layout bhnd and in the stored format, and what the implementation does."""

    def __init__(self, q, k, v, mask, does):
        self.q, self.k, self.v, self.mask, self.does = q, k, v, mask, does
        self.n_q, self.n_k, self.d_k = q.shape[-2], k.shape[-2], q.shape[-1]

    def scale(self):
        return number(self.does["scale"]) if "scale" in self.does else 1 / np.sqrt(self.d_k)

    def keep(self):
        """The keys that may be seen, as a bool table broadcastable to the scores, or None if all may be."""
        keep = None
        if self.mask is not None and self.mask.dtype.kind in "biu":
            keep = self.mask.astype(bool)
            keep = ~keep if self.does.get("mask-polarity", "keep") == "drop" else keep
        causal = causal_table(self.n_q, self.n_k, self.does.get("causal", "none"), self.does.get("diagonal", 0))
        if causal is not None:
            keep = causal if keep is None else keep & causal
        return keep

    def bias(self):
        return self.mask if self.mask is not None and self.mask.dtype.kind == "f" else None


def number(x):
    """A number of attest.json: a JSON number, an exact decimal, or a hex float."""
    return float.fromhex(x) if isinstance(x, str) and x.startswith("0x") else float(x)


def causal_table(n_q, n_k, alignment, diagonal=0):
    if alignment == "none":
        return None
    offset = n_k - n_q if alignment == "bottom-right" else 0
    return np.arange(n_k)[None, :] <= np.arange(n_q)[:, None] + offset + diagonal


def draw(g, shape, fmt, mean=0.0, spread=1.0):
    drawn = mean + spread * g.standard_normal(shape)
    return drawn.astype(np.float64 if fmt == "f64" else np.float32).astype(DTYPE[fmt])


def random_mask(g, shape, keep=0.7, dead=()):
    """True with probability `keep`; rows in `dead` see nothing, every other row sees at least one key."""
    mask = g.random(shape) < keep
    mask[..., 0] |= ~mask.any(-1)
    mask[..., list(dead), :] = False
    return mask


def additive_mask(g, n_q, n_k, heads):
    """ALiBi-like finite biases, a different slope for each head, and -inf on about a quarter of the keys."""
    slope = 2.0 ** -np.arange(1, heads + 1)
    bias = -slope[:, None, None] * np.abs(np.arange(n_q)[:, None] - np.arange(n_k)[None, :])
    bias = np.where(random_mask(g, (heads, n_q, n_k), 0.75), bias, -np.inf)
    return bias[None].astype(np.float32)


def increasing(g, shape_q, shape_k, fmt):
    """Keys in the order of increasing scores, so that a running maximum moves in every block: q near 1, k_j grows."""
    q = draw(g, shape_q, fmt, 1.0, 0.05)
    k = draw(g, shape_k, fmt, 0.0, 0.05)
    return q, (k + np.linspace(-4, 4, shape_k[-2])[:, None]).astype(DTYPE[fmt])


def repeated(g, shape_q, shape_k, fmt):
    """One token repeated: all keys of a head are equal, and so are all scores of a row."""
    one = draw(g, shape_k[:-2] + (1, shape_k[-1]), fmt)
    return draw(g, shape_q, fmt), np.ascontiguousarray(np.broadcast_to(one, shape_k))


# --- The implementations: attention -----------------------------------------------------------------------------------

def expand_heads(p):
    """k and v with as many heads as q: h reads floor(h H_kv / H); `gqa: tile` is the mistake h mod H_kv."""
    if p.q.ndim < 3 or p.q.shape[-3] == p.k.shape[-3]:
        return p.k, p.v
    group = p.q.shape[-3] // p.k.shape[-3]
    if p.does.get("gqa") == "tile":
        reps = [1] * p.k.ndim
        reps[-3] = group
        return np.tile(p.k, reps), np.tile(p.v, reps)
    return np.repeat(p.k, group, axis=-3), np.repeat(p.v, group, axis=-3)


def numpy_plain(p):
    """The textbook: scores, softmax with the maximum subtracted, product; every intermediate in the stored format."""
    k, v = expand_heads(p)
    raw = p.q @ np.swapaxes(k, -1, -2)
    scores = raw * raw.dtype.type(p.scale())
    if p.bias() is not None:
        scores = scores + p.bias()
    if p.keep() is not None:
        scores = np.where(p.keep(), scores, raw.dtype.type(-np.inf))
    axis = p.does.get("softmax-axis", -1)
    top = scores.max(axis=axis, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=axis, keepdims=True)
    weights = weights / total
    lse = (top + np.log(total))[..., 0] if axis == -1 else None
    made = {"raw_scores": raw, "scores": scores, "weights": weights, "lse": lse, "out": weights @ v}
    return made, "plain NumPy, matmul by OpenBLAS"


def numpy_mask_after_softmax(p):
    """The mistake: softmax over all keys, the mask multiplied in afterwards, rows not renormalised."""
    scores = p.q @ np.swapaxes(p.k, -1, -2) * p.q.dtype.type(p.scale())
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True) * p.keep()
    return {"out": weights @ p.v}, "plain NumPy"


def numpy_no_maximum(p):
    """The mistake: softmax without subtracting the maximum; exp overflows to inf and inf/inf is NaN."""
    weights = np.exp(p.q @ np.swapaxes(p.k, -1, -2) * p.q.dtype.type(p.scale()))
    return {"out": weights / weights.sum(-1, keepdims=True) @ p.v}, "plain NumPy"


def numpy_lse_base_2(p):
    """The mistake: log-sum-exp in bits, as kernels keep it inside (exp2, log2), not converted back to natural units."""
    made, path = numpy_plain(p)
    return {"lse": made["lse"] * made["lse"].dtype.type(np.log2(np.e)), "out": made["out"]}, path


def numpy_blockwise(p, block=8):
    """Flash-like: a block of keys at a time, running maximum and denominator, the accumulator rescaled each time."""
    one = p.q.dtype.type
    rows = p.q.shape[:-1]
    top = np.full(rows, -np.inf, p.q.dtype)
    total = np.zeros(rows, p.q.dtype)
    acc = np.zeros(rows + (p.v.shape[-1],), p.q.dtype)
    for at in range(0, p.n_k, block):
        scores = p.q @ np.swapaxes(p.k[..., at:at + block, :], -1, -2) * one(p.scale())
        new_top = np.maximum(top, scores.max(-1))
        shrink = np.exp(top - new_top)
        weights = np.exp(scores - new_top[..., None])
        total = total * shrink + weights.sum(-1)
        acc = acc * shrink[..., None] + weights @ p.v[..., at:at + block, :]
        top = new_top
    made = {"lse": top + np.log(total), "out": acc / total[..., None]}
    return made, f"blockwise NumPy, {block} keys a block, running maximum"


class Recorder(TorchDispatchMode):
    """The names of the operators that really ran: this is how the path of torch is known, not by what was asked for."""

    def __init__(self):
        super().__init__()
        self.ops = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ops.append(func._schema.name.removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


def to_torch(a):
    bits = np.array(a, order="C")
    return torch.from_numpy(bits.view(np.uint16)).view(torch.bfloat16) if a.dtype == BF16 else torch.from_numpy(bits)


def from_torch(t):
    t = t.contiguous()
    return t.view(torch.uint16).numpy().view(BF16) if t.dtype == torch.bfloat16 else t.numpy()


def torch_path(run):
    """Run twice, once under the recorder; the operators, and the same bits from both runs."""
    with Recorder() as recorder:
        seen = run()
    made = run()
    assert torch.equal(torch.nan_to_num(seen, 7.0), torch.nan_to_num(made, 7.0)), "the recorder changed the result"
    skip = ("view", "expand", "transpose", "_unsafe_view", "detach", "empty", "unsqueeze", "slice", "alias")
    return made, [op for op in recorder.ops if op not in skip]


def torch_sdpa(p, backend, reduced=False, mask=None):
    q, k, v = (to_torch(x) for x in (p.q, p.k, p.v))
    how = {"scale": number(p.does["scale"])} if "scale" in p.does else {}
    how["enable_gqa"] = p.q.shape[-3] != p.k.shape[-3]
    if p.does.get("causal") == "top-left" and p.mask is None and "diagonal" not in p.does:
        how["is_causal"] = True
    elif mask is not None:
        how["attn_mask"] = mask
    elif p.keep() is not None:
        how["attn_mask"] = torch.from_numpy(p.keep().copy())
    elif p.bias() is not None:
        how["attn_mask"] = torch.from_numpy(p.bias().copy())
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(reduced)  # despite its name, for the CPU as well
    with sdpa_kernel(backend):
        out, ops = torch_path(lambda: F.scaled_dot_product_attention(q, k, v, **how))
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    fused = "_scaled_dot_product_flash_attention_for_cpu" in ops
    assert fused == (backend == SDPBackend.FLASH_ATTENTION), ops
    name = "fused flash kernel for CPU" if fused else "plain path (math)"
    return {"out": from_torch(out)}, f"torch scaled_dot_product_attention, {name}; operators: {' '.join(ops)}"


def torch_math(p):
    """f32 and f64 as they are; 16-bit inputs are converted to f32 first, and the output is rounded once."""
    return torch_sdpa(p, SDPBackend.MATH)


def torch_lower_right(p):
    """The plain path, bottom-right by torch's own bias object."""
    return torch_sdpa(p, SDPBackend.MATH, mask=causal_lower_right(p.n_q, p.n_k))


def torch_math_reduced(p):
    """16-bit inputs stay 16-bit: q and k times sqrt(scale), scores and weights are all stored in 16 bits."""
    made, path = torch_sdpa(p, SDPBackend.MATH, reduced=True)
    return made, path + "; allow_fp16_bf16_reduction_math_sdp(True)"


def torch_flash(p):
    """Scores and sums in f32; with 16-bit inputs, unnormalised weights stored in 16 bits before the product with v."""
    return torch_sdpa(p, SDPBackend.FLASH_ATTENTION)


def torch_flash_lse(p):
    """The fused operator called by its own name, which hands out its log-sum-exp as well (in f32 for 16-bit inputs)."""
    q, k, v = (to_torch(x) for x in (p.q, p.k, p.v))
    causal = p.does.get("causal") == "top-left"
    out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal)
    assert torch.equal(out, to_torch(torch_flash(p)[0]["out"]))
    return {"out": from_torch(out), "lse": lse.numpy()}, "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu"


def torch_bf16_on_f32(p):
    """The mistake: f32 tensors, but computed in bf16, as under autocast, and converted back."""
    q, k, v = (torch.from_numpy(x.copy()) for x in (p.q, p.k, p.v))
    with torch.autocast("cpu", dtype=torch.bfloat16), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        out, ops = torch_path(lambda: F.scaled_dot_product_attention(q, k, v))
    path = "torch scaled_dot_product_attention under autocast to bf16; operators: " + " ".join(ops)
    return {"out": from_torch(out.float())}, path


def torch_f16_scale_late(p):
    """The mistake: q.k stored in f16 before the scale is applied; it overflows to inf, and inf - inf is NaN."""
    q, k, v = (to_torch(x) for x in (p.q, p.k, p.v))
    return {"out": from_torch(torch.softmax(q @ k.mT * p.scale(), -1) @ v)}, "torch matmul, mul, softmax, matmul in f16"


def jax_attention(p):
    """jax.nn.dot_product_attention, its own layout is bnhd. 16-bit weights are stored before the product with v."""
    q, k, v = (jax.numpy.asarray(np.swapaxes(x, 1, 2)) for x in (p.q, p.k, p.v))
    how = {"scale": number(p.does["scale"])} if "scale" in p.does else {}
    how["is_causal"] = p.does.get("causal") == "top-left"
    if p.mask is not None:
        how["mask" if p.bias() is None else "bias"] = jax.numpy.asarray(p.keep() if p.bias() is None else p.mask)
    run = lambda q, k, v: jax.nn.dot_product_attention(q, k, v, implementation="xla", **how)
    compiled = p.q.dtype != np.float16  # the CPU refuses the f16 product JAX asks for; JAX falls back only outside jit
    out = (jax.jit(run) if compiled else run)(q, k, v)
    path = "jax.nn.dot_product_attention, implementation xla, CPU, " + ("jit" if compiled else "no jit")
    return {"out": np.swapaxes(np.asarray(out), 1, 2)}, path


def onnx_session(nodes, inputs, constants=()):
    """A session of ONNX Runtime for a graph from named arrays to `out`."""
    element = {n: helper.np_dtype_to_tensor_dtype(a.dtype) for n, a in inputs.items()}
    values = [helper.make_tensor_value_info(n, element[n], a.shape) for n, a in inputs.items()]
    out = helper.make_tensor_value_info("out", next(iter(element.values())), None)
    graph = helper.make_graph(nodes, "attention", values, [out], list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    model.ir_version = 11
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def onnx_attention(p):
    """The one operator Attention of opset 23."""
    inputs = {"q": p.q, "k": p.k, "v": p.v}
    if p.keep() is not None and p.mask is not None:
        inputs["mask"] = np.ascontiguousarray(p.keep())
    node = helper.make_node("Attention", list(inputs), ["out"], scale=float(p.scale()))
    return {"out": onnx_session([node], inputs)}, "ONNX Runtime, operator Attention (opset 23), CPU"


def onnx_graph(p):
    """A graph of primitive operators: MatMul, Mul, Add, Softmax, MatMul."""
    nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
             helper.make_node("MatMul", ["q", "kt"], ["raw"]),
             helper.make_node("Mul", ["raw", "scale"], ["scores"]),
             helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
             helper.make_node("MatMul", ["weights", "v"], ["out"])]
    scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [float(p.scale())])
    path = "ONNX Runtime, graph of Transpose MatMul Mul Softmax MatMul, CPU"
    return {"out": onnx_session(nodes, {"q": p.q, "k": p.k, "v": p.v}, [scale])}, path


# --- The implementations: softmax -------------------------------------------------------------------------------------

def numpy_softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True), "plain NumPy"


def scipy_softmax(x, axis):
    return scipy.special.softmax(x, axis=axis), "scipy.special.softmax"


def torch_softmax(x, axis):
    return from_torch(torch.softmax(to_torch(x), axis)), "torch.softmax"


def jax_softmax(x, axis):
    """In f32 at least, as jax.nn.dot_product_attention does it."""
    wide = jax.numpy.promote_types(x.dtype, np.float32)
    run = jax.jit(lambda x: jax.nn.softmax(x.astype(wide), axis).astype(x.dtype))
    path = "jax.nn.softmax, CPU, jit" + ("" if wide == x.dtype else ", on x converted to f32")
    return np.asarray(run(jax.numpy.asarray(x))), path


def jax_softmax_16(x, axis):
    """As it comes: x - max, exp, the denominator and the quotient are each rounded to the 16 bits."""
    return np.asarray(jax.jit(lambda x: jax.nn.softmax(x, axis))(jax.numpy.asarray(x))), "jax.nn.softmax, CPU, jit"


def onnx_softmax(x, axis):
    node = helper.make_node("Softmax", ["x"], ["out"], axis=axis)
    return onnx_session([node], {"x": x}), "ONNX Runtime, operator Softmax, CPU"


# --- The table --------------------------------------------------------------------------------------------------------

CASES = []


def attention(name, run, fmt, note, shape=None, *, heads=(1, 2), kv_heads=None, q=(0, 1), k=(0, 1), v=(0, 1),
              inputs=None, mask=None, says=None, does=None, dump=("out",), arithmetic="default", store="V2",
              options=None, fortran=(), bare=False, compress=True):
    """One dump of attention.

    shape (n_q, n_k, d_k, d_v); heads: the dimensions before them; q, k, v: mean and spread of each; inputs: another way
    to draw q and k; mask: function of (g, n_q, n_k); says: conventions in attest.json; does: what the implementation
    does instead; dump: the outputs kept; store: how bf16 is written; bare: no text members at all."""
    CASES.append(dict(locals(), op="attention"))


def softmax(name, run, fmt, note, shape, *, axis=-1, does=None, spread=3.0, arithmetic="default", store="V2",
            options=None):
    """One dump of softmax; does: the axis that the implementation takes instead."""
    CASES.append(dict(locals(), op="softmax"))


SQUARE, WIDE, TALL = (12, 12, 16, 16), (7, 13, 8, 8), (13, 7, 8, 8)
LONG = (7, 96, 8, 8)
MORE_KEYS = (9, 40, 16, 16)
BOTTOM_RIGHT, TOP_LEFT = {"causal": "bottom-right"}, {"causal": "top-left"}
BNHD = {"layout": "bnhd"}
STAGES = ("raw_scores", "scores", "weights", "lse", "out")


def some_mask(g, n_q, n_k):
    return random_mask(g, (2, 1, n_q, n_k))


def dead_rows(g, n_q, n_k):
    return random_mask(g, (1, 1, n_q, n_k), dead=(0, 4))


def padding(g, n_q, n_k):
    return (np.arange(n_k)[None, :] >= np.array([[n_k - 3], [n_k - 6]]))[:, None, None, :]


def bias_mask(g, n_q, n_k):
    return additive_mask(g, n_q, n_k, 3)


attention("numpy-f64", numpy_plain, "f64", "rank 2, one head; the textbook formula", (16, 16, 8, 8), heads=())
attention("numpy-f64-bare", numpy_plain, "f64",
          "as numpy.savez writes it: no attest.json, all said on the command line", WIDE, heads=(), says=TOP_LEFT,
          bare=True, compress=False, options="--op attention --causal top-left --arithmetic f64")
attention("numpy-f64-nonsquare", numpy_plain, "f64", "n_q, n_k, d_k, d_v all different; k in Fortran order",
          (5, 13, 6, 3), heads=(2,), fortran=("k",))
attention("numpy-f64-stages", numpy_plain, "f64", "every stage dumped; bottom-right, so -inf in scores", WIDE,
          heads=(2,), says=BOTTOM_RIGHT, dump=STAGES)
attention("numpy-f64-logits-1e4", numpy_plain, "f64", "all scores near 1e4, differences of about 1", WIDE, heads=(2,),
          q=(60, 1), k=(60, 0.02))
attention("numpy-f32", numpy_plain, "f32", "batch 2 x heads 3", SQUARE, heads=(2, 3), compress=False)
attention("numpy-f32-stages", numpy_plain, "f32", "every stage dumped; top-left, 13 queries and 7 keys", TALL,
          heads=(2,), says=TOP_LEFT, dump=STAGES)
attention("numpy-f32-empty-nan", numpy_plain, "f32", "two rows see no key, and softmax of -inf alone is NaN", WIDE,
          heads=(1, 3), mask=dead_rows, says={"empty-row": "nan"})
attention("numpy-f32-uint8-mask", numpy_plain, "f32", "uint8 mask of 0 and 1, 1 = keep", WIDE, heads=(2, 1),
          mask=lambda *a: some_mask(*a).astype("u1"), says={"mask-polarity": "keep"})
attention("numpy-f32-blockwise", numpy_blockwise, "f32",
          "32 blocks, scores increasing with the key: each block rescales", (8, 256, 8, 8), heads=(),
          inputs=increasing, dump=("lse", "out"))
attention("numpy-f32-gqa", numpy_plain, "f32", "batch 2, 6 heads read 2 key-value heads", WIDE, heads=(2, 6),
          kv_heads=2)
attention("numpy-f32-logits-1e4", numpy_plain, "f32",
          "all scores near 1e4, differences of about 1: far off, and right", MORE_KEYS, heads=(2,), q=(50, 1),
          k=(50, 0.02))

attention("torch-math-f64", torch_math, "f64", "plain path", WIDE, heads=(1, 2))
attention("torch-flash-f64", torch_flash, "f64", "fused path", WIDE, heads=(1, 2))
attention("torch-math-f32", torch_math, "f32", "plain path: q and k are each multiplied by sqrt(scale)", SQUARE)
attention("torch-flash-f32", torch_flash, "f32", "fused path, batch 2 x heads 3", SQUARE, heads=(2, 3), compress=False)
attention("torch-flash-f32-two-blocks", torch_flash, "f32", "560 keys, more than one block of the fused kernel (512)",
          (5, 560, 4, 4), heads=(1, 1))
attention("torch-math-f32-nbd", torch_math, "f32", "sequence first", WIDE, heads=(3,), says={"layout": "nbd"})
attention("torch-flash-f32-scale", torch_flash, "f32", "scale 0.3 as a string; no format holds it", WIDE,
          says={"scale": "0.3"})
attention("torch-math-f32-scale-hex", torch_math, "f32", "scale given as a hex float", WIDE,
          says={"scale": "0x1.8p-3"})
attention("torch-flash-f32-top-left", torch_flash, "f32", "is_causal=True, 7 queries and 13 keys", WIDE, says=TOP_LEFT)
attention("torch-flash-f32-top-left-tall", torch_flash, "f32", "is_causal=True, 13 queries and 7 keys", TALL,
          says=TOP_LEFT)
attention("torch-flash-f32-bottom-right", torch_flash, "f32", "by an explicit mask, which is not in the dump", WIDE,
          says=BOTTOM_RIGHT)
attention("torch-math-f32-lower-right", torch_lower_right, "f32", "torch.nn.attention.bias.causal_lower_right", WIDE,
          says=BOTTOM_RIGHT)
attention("torch-math-f32-bottom-right-tall", torch_math, "f32",
          "13 queries, 7 keys: the first 6 rows see nothing, are 0", TALL, says=BOTTOM_RIGHT)
attention("torch-math-f32-mask", torch_math, "f32", "bool mask, True = keep; two rows see no key and are 0", WIDE,
          mask=dead_rows, says={"empty-row": "zero"})
attention("torch-flash-f32-mask", torch_flash, "f32", "bool mask, True = keep; two rows see no key and are 0", WIDE,
          mask=dead_rows, says={"empty-row": "zero"})
attention("torch-flash-f32-padding", torch_flash, "f32", "key padding [b,1,1,n_k], True = padding", WIDE, heads=(2, 2),
          mask=padding, says={"mask-polarity": "drop"})
attention("torch-math-f32-integer-mask", torch_math, "f32", "int64 mask of 0 and 1, 1 = drop", WIDE, heads=(2, 2),
          mask=lambda *a: 1 - some_mask(*a).astype("i8"), says={"mask-polarity": "drop"})
attention("torch-flash-f32-bias", torch_flash, "f32", "float mask: slopes for each head, and -inf", WIDE, heads=(1, 3),
          mask=bias_mask)
attention("torch-math-f32-bias", torch_math, "f32", "float mask: slopes for each head, and -inf", WIDE, heads=(1, 3),
          mask=bias_mask)
attention("torch-flash-f32-logits-100", torch_flash, "f32", "scores up to about +-100: exp underflows", MORE_KEYS,
          heads=(1, 2), q=(0, 5), k=(0, 6))
attention("torch-math-f32-logits-1e4", torch_math, "f32", "scores up to about +-1e4", WIDE, q=(0, 60), k=(0, 60))
attention("torch-math-f32-logits-offset", torch_math, "f32", "all scores near 1e4, differences of about 1", MORE_KEYS,
          heads=(1, 1), q=(50, 1), k=(50, 0.02))
attention("torch-flash-f32-one-key", torch_flash, "f32", "softmax over one key: out is v", (3, 1, 16, 16))
attention("torch-flash-f32-q-zero", torch_flash, "f32", "q = 0: out is the mean of v", (2, 100, 16, 16), heads=(1, 1),
          q=(0, 0))
attention("torch-flash-f32-repeated", torch_flash, "f32", "96 times the same key", LONG, heads=(1, 2), inputs=repeated)
attention("torch-flash-f32-mean-4", torch_flash, "f32", "v = 4 +- 0.05", LONG, heads=(1, 2), v=(4, 0.05))
attention("torch-flash-f32-gqa", torch_flash, "f32", "enable_gqa, 6 heads read 2", WIDE, heads=(1, 6), kv_heads=2)

attention("torch-math-bf16", torch_math, "bf16", "plain path: converted to f32, rounded once at the end", SQUARE,
          heads=(2, 3), store="|V2")
attention("torch-flash-bf16", torch_flash, "bf16", "fused path: weights stored in bf16", (33, 48, 16, 16),
          heads=(1, 2), store="u2", options="--bf16 q,k,v,out")
attention("torch-math-reduced-bf16", torch_math_reduced, "bf16",
          "no conversion: scaled q and k, scores, weights in bf16", (9, 24, 16, 16), q=(0, 2), k=(0, 2),
          arithmetic="bf16", store="u2")
attention("torch-flash-bf16-undeclared", torch_flash, "bf16", "arithmetic not declared; arrays as int16", WIDE,
          arithmetic=None, store="i2")
attention("torch-math-reduced-bf16-undeclared", torch_math_reduced, "bf16",
          "arithmetic not declared; only `bf16` holds it", (9, 24, 16, 16), heads=(1, 2), q=(0, 2), k=(0, 2),
          arithmetic=None)
attention("torch-flash-bf16-top-left", torch_flash, "bf16", "is_causal=True, 40 queries and keys", (40, 40, 16, 16),
          heads=(1, 2), says=TOP_LEFT)
attention("torch-flash-bf16-bottom-right", torch_flash, "bf16", "by an explicit mask; 7 queries, 13 keys", WIDE,
          says=BOTTOM_RIGHT, store="u2")
attention("torch-flash-bf16-logits-100", torch_flash, "bf16", "scores up to about +-100", MORE_KEYS, heads=(1, 2),
          q=(0, 5), k=(0, 6), store="u2")
attention("torch-flash-bf16-one-key", torch_flash, "bf16", "softmax over one key: out is v, exactly", (3, 1, 16, 16))
attention("torch-flash-bf16-q-zero", torch_flash, "bf16", "q = 0, 683 keys, v with mean 2", (1, 683, 8, 8),
          heads=(1, 1), q=(0, 0), v=(2, 1))
attention("torch-math-reduced-bf16-q-zero", torch_math_reduced, "bf16",
          "q = 0: 683 times the same rounding of 1/683; scores are exact", (1, 683, 8, 8), heads=(1, 1), q=(0, 0),
          v=(2, 1), store="u2")
attention("torch-flash-bf16-repeated", torch_flash, "bf16", "96 times the same key", LONG, heads=(1, 2),
          inputs=repeated)
attention("torch-flash-bf16-mean-4", torch_flash, "bf16", "v = 4 +- 0.05", LONG, heads=(1, 2), v=(4, 0.05), store="u2")
attention("torch-math-f16", torch_math, "f16", "plain path: converted to f32, rounded once at the end", SQUARE)
attention("torch-flash-f16", torch_flash, "f16", "fused path: weights stored in f16", (33, 48, 16, 16), heads=(1, 2))
attention("torch-flash-f16-undeclared", torch_flash, "f16", "arithmetic not declared", WIDE, arithmetic=None)
attention("torch-math-reduced-f16", torch_math_reduced, "f16", "no conversion: scaled q and k, scores, weights in f16",
          (9, 24, 16, 16), q=(0, 2), k=(0, 2), arithmetic="f16")

attention("jax-f32", jax_attention, "f32", "layout bnhd, batch 2 x heads 3", WIDE, heads=(2, 3), says=BNHD)
attention("jax-f64", jax_attention, "f64", "JAX does its softmax in f32 whatever the inputs: f32 is declared", WIDE,
          heads=(1, 2), says=BNHD, arithmetic="f32")
attention("jax-f32-top-left", jax_attention, "f32", "is_causal=True, 7 queries and 13 keys", WIDE,
          says={**BNHD, **TOP_LEFT})
attention("jax-f32-mask", jax_attention, "f32", "bool mask, no empty row", WIDE, heads=(2, 2), mask=some_mask,
          says=BNHD)
attention("jax-bf16", jax_attention, "bf16", "normalised weights stored in bf16", WIDE, says=BNHD)
attention("jax-bf16-gqa", jax_attention, "bf16", "4 heads read 2; scale 0.1 as a JSON number", WIDE, heads=(2, 4),
          kv_heads=2, says={**BNHD, "scale": 0.1}, store="u2")
attention("jax-f16", jax_attention, "f16", "normalised weights stored in f16", WIDE, says=BNHD)
attention("onnxruntime-f32", onnx_attention, "f32", "the operator Attention", WIDE)
attention("onnxruntime-f32-mask", onnx_attention, "f32", "the operator Attention with a bool mask", WIDE, heads=(2, 2),
          mask=some_mask)
attention("onnxruntime-graph-f32", onnx_graph, "f32", "a graph of MatMul, Mul, Softmax, MatMul; d_v != d_k",
          (7, 13, 16, 5))

softmax("numpy-softmax-f64", numpy_softmax, "f64", "last axis", (6, 33))
softmax("scipy-softmax-f64-axis-0", scipy_softmax, "f64", "axis 0 of [9,4,5]", (9, 4, 5), axis=0)
softmax("numpy-softmax-f32-axis-1", numpy_softmax, "f32", "axis 1 of [4,9,5]", (4, 9, 5), axis=1)
softmax("torch-softmax-f32", torch_softmax, "f32", "last axis, values up to about +-100", (8, 100), spread=30)
softmax("torch-softmax-bf16", torch_softmax, "bf16", "last axis, 300 classes", (6, 300))
softmax("torch-softmax-f16-axis-minus-2", torch_softmax, "f16",
        "axis -2 of [3,17,6]: exp is stored in f16 before it is divided", (3, 17, 6), axis=-2, arithmetic="f16")
softmax("jax-softmax-f32", jax_softmax, "f32", "last axis; arithmetic not declared", (8, 65), arithmetic=None)
softmax("jax-softmax-bf16", jax_softmax, "bf16", "computed in f32, rounded once", (8, 65), store="u2")
softmax("open-jax-softmax-bf16", jax_softmax_16, "bf16", "x - max, exp and the denominator are each stored in bf16",
        (8, 65), arithmetic="bf16", store="u2")
softmax("onnxruntime-softmax-f32", onnx_softmax, "f32", "last axis", (8, 65))

attention("wrong-no-scale-f32", torch_math, "f32", "scale left out", WIDE, does={"scale": 1.0})
attention("wrong-no-scale-bf16", torch_flash, "bf16", "scale left out", WIDE, does={"scale": 1.0})
attention("wrong-scale-1-over-d-f64", numpy_plain, "f64", "1/d_k for 1/sqrt(d_k)", WIDE, heads=(2,),
          does={"scale": 1 / 8})
attention("wrong-softmax-axis-f32", numpy_plain, "f32", "softmax over the queries", WIDE, does={"softmax-axis": -2})
attention("wrong-mask-polarity-f32", torch_flash, "f32", "True taken as drop", WIDE, heads=(2, 2), mask=some_mask,
          does={"mask-polarity": "drop"})
attention("wrong-causal-top-left-f32", torch_flash, "f32", "is_causal=True where bottom-right is declared", WIDE,
          says=BOTTOM_RIGHT, does=TOP_LEFT)
attention("wrong-causal-off-by-one-f32", torch_math, "f32", "each row sees one future key", SQUARE, says=TOP_LEFT,
          does={"diagonal": 1})
attention("wrong-causal-self-lost-bf16", torch_math, "bf16", "each row loses its own key", SQUARE, says=TOP_LEFT,
          does={"diagonal": -1}, store="u2")
attention("wrong-mask-after-softmax-f32", numpy_mask_after_softmax, "f32", "masked after softmax, not renormalised",
          WIDE, heads=(2, 2), mask=some_mask)
attention("wrong-gqa-tile-f32", numpy_plain, "f32", "head h reads key-value head h mod 2", WIDE, heads=(1, 6),
          kv_heads=2, does={"gqa": "tile"})
attention("wrong-no-maximum-f32", numpy_no_maximum, "f32", "exp overflows, inf/inf is NaN", WIDE, q=(0, 10), k=(0, 10))
attention("wrong-scale-late-f16", torch_f16_scale_late, "f16", "q.k overflows f16 before it is scaled: NaN", WIDE,
          q=(0, 120), k=(0, 120), arithmetic="f16")
attention("wrong-bf16-inside-f32", torch_bf16_on_f32, "f32", "f32 tensors computed in bf16; f32 is declared", WIDE)
attention("wrong-empty-row-mean-f32", jax_attention, "f32",
          "JAX masks by a large negative number: an empty row is a mean of v", WIDE, mask=dead_rows,
          says={**BNHD, "empty-row": "zero"})
attention("wrong-lse-base-2-f32", numpy_lse_base_2, "f32", "lse in bits; out is right", WIDE, dump=("lse", "out"))
attention("wrong-lse-fast-exp-bf16", torch_flash_lse, "bf16",
          "the fused kernel's 16-bit exp is good to 2^-13: lse in f32 is not", (9, 16, 8, 8), heads=(1, 2), q=(0, 0.1),
          dump=("lse", "out"))
softmax("wrong-softmax-op-axis-f32", torch_softmax, "f32", "axis -2 for axis -1", (3, 9, 9), does=-2)

# The command line wins over attest.json: the same files under another declaration.
AGAIN = [
    ("wrong-causal-top-left-f32", "right", "--causal top-left", "the convention it follows; the command line wins"),
    ("wrong-mask-polarity-f32", "right", "--mask-polarity drop", "the convention it follows; the command line wins"),
    ("wrong-no-scale-f32", "right", "--scale 1", "the scale it used; the command line wins"),
    ("torch-flash-f32-top-left", "wrong", "--causal bottom-right", "a right dump under the other convention"),
    ("torch-math-reduced-bf16", "wrong", "--bf16 all --arithmetic bf16+f32", "its scores were stored in bf16"),
    ("jax-f64", "wrong", "--arithmetic f64", "its softmax was computed in f32"),
]


# --- Running a case ---------------------------------------------------------------------------------------------------

def default_arithmetic(fmt):
    return fmt if fmt in ("f64", "f32") else fmt + "+f32"


def run_attention(c):
    g = np.random.default_rng(c["seed"])
    n_q, n_k, d_k, d_v = c["shape"]
    heads, fmt = tuple(c["heads"]), c["fmt"]
    kv = heads[:-1] + (c["kv_heads"],) if c["kv_heads"] else heads
    q = draw(g, heads + (n_q, d_k), fmt, *c["q"])
    k = draw(g, kv + (n_k, d_k), fmt, *c["k"])
    v = draw(g, kv + (n_k, d_v), fmt, *c["v"])
    if c["inputs"]:
        q, k = c["inputs"](g, q.shape, k.shape, fmt)
    mask = c["mask"](g, n_q, n_k) if c["mask"] else None
    says = c["says"] or {}
    made, path = c["run"](unsqueezed(Problem(q, k, v, mask, {**says, **(c["does"] or {})}), c["run"]))
    made = {name: made[name].reshape(heads + made[name].shape[-1 if name == "lse" else -2:]) for name in c["dump"]}
    exact = exact_attention(Problem(q, k, v, mask, says))
    tensors = {"q": q, "k": k, "v": v, **({} if mask is None else {"mask": mask}), **made}
    return tensors, made, exact, says, path


def unsqueezed(p, run):
    """torch's fused kernel, JAX and ONNX want rank 4; NumPy takes any rank."""
    if not run.__name__.startswith(("torch", "jax", "onnx")):
        return p
    lift = lambda x: x.reshape((1,) * (4 - x.ndim) + x.shape)
    return Problem(lift(p.q), lift(p.k), lift(p.v), p.mask, p.does)


def run_softmax(c):
    g = np.random.default_rng(c["seed"])
    x = draw(g, c["shape"], c["fmt"], 0, c["spread"])
    out, path = c["run"](x, c["axis"] if c["does"] is None else c["does"])
    says = {} if c["axis"] == -1 else {"axis": c["axis"]}
    return {"x": x, "out": out}, {"out": out}, exact_softmax(x, c["axis"]), says, path


def stored(name, a, c, says):
    """The array as it goes into the file: in the declared layout, bf16 as <V2, |V2, u2 or i2, in C or Fortran order."""
    if name in ("q", "k", "v", "out"):
        layout = says.get("layout", "bhnd")
        a = np.swapaxes(a, 1, 2) if layout == "bnhd" else np.swapaxes(a, 0, 1) if layout == "nbd" else a
    a = np.ascontiguousarray(a)
    if a.dtype == BF16 and c["store"] != "V2":  # ml_dtypes itself writes the descriptor '<V2'
        a = a.view(c["store"])
    return np.asfortranarray(a) if name in c.get("fortran", ()) else a


def write_npz(path, arrays, texts, compress):
    """What numpy.savez writes, ZIP64 fields included, but with a fixed date and with text members beside the arrays."""
    how = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", how) as z:
        for name, data in [(n + ".npy", a) for n, a in arrays.items()] + list(texts.items()):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = how
            with z.open(info, "w", force_zip64=True) as member:
                if isinstance(data, str):
                    member.write(data.encode())
                else:
                    buffer = io.BytesIO()
                    np.lib.format.write_array(buffer, data, allow_pickle=False)
                    member.write(buffer.getvalue())


def make(c, folder):
    c["seed"] = zlib.crc32(c["name"].encode())
    if c["options"] is None:
        c["options"] = "--bf16 all" if c["fmt"] == "bf16" else ""
    c["verdict"] = next((w for w in ("wrong", "open") if c["name"].startswith(w + "-")), "right")
    tensors, made, exact, says, path = (run_softmax if c["op"] == "softmax" else run_attention)(c)
    declared = default_arithmetic(c["fmt"]) if c["arithmetic"] == "default" else c["arithmetic"]
    texts = {}
    if not c.get("bare"):
        says_all = {"op": c["op"], **says, **({"arithmetic": declared} if declared else {})}
        texts["attest.json"] = json.dumps(says_all, indent=1) + "\n"
    library = next(lib for lib in ("numpy", "scipy", "torch", "jax", "onnx") if c["run"].__name__.startswith(lib))
    texts["provenance.json"] = json.dumps({
        "what": c["note"], "implementation": c["run"].__name__, "path": path, "seed": c["seed"],
        "verdict": c["verdict"],
        "did_instead": {} if c["does"] is None else c["does"] if isinstance(c["does"], dict) else {"axis": c["does"]},
        "versions": {k: v for k, v in VERSIONS.items() if k.startswith(library) or k in ("numpy", "ml_dtypes")},
        "python": platform.python_implementation() + " " + platform.python_version(),
        "platform": PLATFORM,
        "environment": "the virtual environment that tests/dumps/make.sh makes"}, indent=1) + "\n"
    arrays = {n: stored(n, a, c, says) for n, a in tensors.items()}
    file = folder / (c["name"] + ".npz")
    write_npz(file, arrays, {} if c.get("bare") else texts, c.get("compress", True))
    return summary(c, made, exact, declared, file, path)


# --- The eye's check: long double, and a rough limit ------------------------------------------------------------------

LD = np.longdouble


def exact_number(x):
    return LD(number(x)) if str(x).startswith("0x") else LD(str(x))


def exact_attention(p):
    k, v = expand_heads(Problem(p.q, p.k, p.v, p.mask, {}))
    q, k, v = (x.astype(np.float64).astype(LD) for x in (p.q, k, v))
    scale = exact_number(p.does["scale"]) if "scale" in p.does else 1 / np.sqrt(LD(p.d_k))
    raw = np.einsum("...id,...jd->...ij", q, k)
    scores = raw * scale
    if p.bias() is not None:
        scores = scores + p.bias().astype(LD)
    if p.keep() is not None:
        scores = np.where(p.keep(), scores, LD(-np.inf))
    top = scores.max(-1, keepdims=True)
    empty = np.isneginf(top)
    weights = np.exp(scores - np.where(empty, 0, top))
    total = weights.sum(-1, keepdims=True)
    fill = LD(np.nan if p.does.get("empty-row") == "nan" else 0)
    alpha = np.where(empty, fill, weights / np.where(empty, 1, total))
    out = np.where(empty, fill, np.einsum("...ij,...jd->...id", alpha, v))
    size = np.einsum("...id,...jd->...ij", abs(q), abs(k)) * scale
    distance = np.where(np.isneginf(scores), 0, np.where(empty, 0, top) - scores)
    return {"raw_scores": raw, "scores": scores, "weights": alpha, "lse": (top + np.log(total))[..., 0], "out": out,
            "_": dict(size=size, distance=distance, alpha=alpha, v=v, terms=p.d_k,
                      scores=np.where(np.isneginf(scores), 0, scores))}


def exact_softmax(x, axis):
    x = np.moveaxis(x.astype(np.float64).astype(LD), axis, -1)
    e = np.exp(x - x.max(-1, keepdims=True))
    alpha = e / e.sum(-1, keepdims=True)
    hidden = dict(axis=axis, alpha=alpha, distance=x.max(-1, keepdims=True) - x)
    return {"out": np.moveaxis(alpha, -1, axis), "_": hidden}


def ulp(x, fmt):
    x = np.abs(np.where(np.isfinite(x), x, 0)).astype(LD)
    _, exponent = np.frexp(x)
    least = LEAST_EXPONENT[fmt]
    return np.ldexp(LD(1), np.where(x == 0, least, np.maximum(exponent - MANTISSA[fmt], least)))


def rough_limit(e, out, fmt, arithmetic):
    """First order: scores and exp through alpha |v - o|, stored weights through alpha |v|, sums, the final store."""
    wide, _, inner = arithmetic.partition("+")
    u = LD(2.0) ** -MANTISSA[inner or ("f32" if wide in ("f16", "bf16") else wide)]
    u16 = LD(2.0) ** -MANTISSA[wide] if wide in ("f16", "bf16") else LD(0)
    pure = u16 if not inner else LD(0)
    n = e["alpha"].shape[-1]
    rel = (2 if arithmetic == "f64" else 8) * u + e["distance"] * 2 * u
    tiny = 4 * LD(2.0) ** LEAST_EXPONENT[inner or wide] * e["alpha"].max(-1, keepdims=True)  # where exp is subnormal
    if "v" in e:
        rel = rel + ((e["terms"] + 5) * u + 2 * pure) * e["size"] + (2 * u + pure) * abs(e["scores"])
        rel = np.expm1(2 * rel) / 2
        apart = abs(e["v"][..., None, :, :] - out[..., :, None, :])
        hull = np.where(e["alpha"][..., None] > 0, apart, 0).max(-2)
        mean = np.einsum("...ij,...jd->...id", e["alpha"], abs(e["v"]))
        moved = np.minimum(np.einsum("...ij,...ijd->...id", e["alpha"] * rel, apart), hull)
        limit = moved + (u16 + 2 * n * u) * mean + n * u * abs(out) + tiny * abs(e["v"]).sum(-2)[..., None, :]
    else:
        alpha = e["alpha"]
        rel = rel + (alpha * rel).sum(-1, keepdims=True) + (n + 2) * u + pure
        limit = np.moveaxis(alpha * rel + tiny, -1, e["axis"])
    return limit + ulp(abs(out) + limit, fmt) / 2


def summary(c, made, exact, declared, file, path):
    worst, ratio = {}, LD(0)
    for name, got in made.items():
        fmt = {v: k for k, v in DTYPE.items()}[got.dtype]
        want = exact[name]
        got = got.astype(np.float64).astype(LD)
        error = np.where((got == want) | (np.isnan(got) & np.isnan(want)), LD(0), abs(got - want))
        error = np.where(np.isnan(error), LD(np.inf), error)
        worst[name] = float((error / ulp(want, fmt)).max())
        if name == "out":
            limit = rough_limit(exact["_"], want, fmt, declared or default_arithmetic(fmt))
            ratio = np.where(error == 0, 0, error / limit).max()
    others = " ".join(f"{n}={w:.3g}" for n, w in worst.items() if n != "out")
    return dict(name=c["name"], verdict=c["verdict"], fmt=c["fmt"], arithmetic=declared or "-", path=path.split(";")[0],
                ulp=worst["out"], ratio=float(ratio), others=others, bytes=file.stat().st_size, options=c["options"],
                note=c["note"])


def expected(rows):
    """expected.txt: file, verdict class, options, comment. An open case stands in it as a comment."""
    head = ("# file, verdict class (right: exit status 0, wrong: 1), further options of `attest check`, # comment\n"
            "# Written by make.py. A file may stand in several lines. What is open stands behind a #.\n")
    lines = [(r["name"], r["verdict"], r["options"], r["note"]) for r in rows] + AGAIN
    width = max(len(name) for name, *_ in lines) + 4
    row = lambda name, verdict, options, note: f"{name + '.npz':{width}}  {verdict}  {options:50}  # {note}\n"
    return head + "".join(("# " if line[1] == "open" else "") + row(*line) for line in lines)


def readme(text, rows):
    """The README with the part below its marker written anew."""
    marker = "<!-- below: written by make.py -->\n"
    made = ", ".join([f"{platform.python_implementation()} {platform.python_version()}"]
                     + [f"{name} {version}" for name, version in VERSIONS.items()])
    head = ("| dump | class | stored | declared | implementation | what | max ULP |\n"
            "|---|---|---|---|---|---|---|\n")
    row = "| `{name}` | {verdict} | {fmt} | {arithmetic} | {path} | {note} | {ulp:.3g} |\n"
    table = head + "".join(row.format(**r) for r in rows)
    return text.split(marker)[0] + marker + f"\nMade with {made} on {PLATFORM}.\n\n" + table


def main():
    here = Path(__file__).resolve().parent
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here
    (folder / "broken").mkdir(parents=True, exist_ok=True)
    line = "{name:34} {verdict:6} {arithmetic:10} {ulp:>12.6} {ratio:>12.3} {bytes:>6}  {others}"
    print(line.format(name="case", verdict="class", arithmetic="arithmetic", ulp="maxULP", ratio="lim", bytes="bytes",
                      others="lim: max error of out / rough limit; other outputs, max ULP"))
    rows = []
    for c in CASES:
        rows.append(make(c, folder))
        print(line.format(**rows[-1]), flush=True)
    (folder / "expected.txt").write_text(expected(rows))
    (folder / "README.md").write_text(readme((here / "README.md").read_text(), rows))
    whole = (folder / "numpy-f32.npz").read_bytes()
    (folder / "broken" / "truncated.npz").write_bytes(whole[:len(whole) // 2])
    print(f"{len(rows)} dumps, {sum(r['bytes'] for r in rows)} bytes, the largest {max(r['bytes'] for r in rows)}")
    for stray in sorted({f.stem for f in folder.glob("*.npz")} - {r["name"] for r in rows}):
        print(f"not made by this script: {stray}.npz")


if __name__ == "__main__":
    main()
