#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Make every dump of this folder again: real attention implementations, on seeded inputs, written as cases of attest.

    make.py [OUTPUT_FOLDER]          (make.sh makes the environment with the pinned versions first, then calls this)

Each case is one line of the table CASES. An implementation is a function of a problem `p` (q, k, v in layout bhnd, in the stored
format, and the conventions p.does that it follows) which returns the tensors it computed and the path it took. A wrong dump is a
case whose implementation *does* something else than its attest.json *says*; nothing else differs between the two kinds.

At the end a table compares each `out` with an evaluation in long double: the greatest distance in ULP of the stored format, and its
ratio to a rough first-order limit of the declared arithmetic. It is there for a human eye, decides nothing, and proves nothing.
"""
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # one thread: the same order of every sum
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
import ml_dtypes
import numpy as np
import onnx
import onnxruntime
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
VERSIONS = {"numpy": np.__version__, "torch": torch.__version__, "jax": jax.__version__, "jaxlib": jax.lib.__version__,
            "onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__, "scipy": scipy.__version__,
            "ml_dtypes": ml_dtypes.__version__}


# --- The inputs ------------------------------------------------------------------------------------------------------------------

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
    return (mean + spread * g.standard_normal(shape)).astype(np.float32 if fmt != "f64" else np.float64).astype(DTYPE[fmt])


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
    """Keys in the order of increasing scores, so that a running maximum moves in every block: q along 1, k_j growing with j."""
    q = draw(g, shape_q, fmt, 1.0, 0.05)
    k = draw(g, shape_k, fmt, 0.0, 0.05)
    return q, (k + np.linspace(-4, 4, shape_k[-2])[:, None]).astype(DTYPE[fmt])


# --- The implementations: attention -----------------------------------------------------------------------------------------------

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
    return {"raw_scores": raw, "scores": scores, "weights": weights, "lse": lse, "out": weights @ v}, "plain NumPy, matmul by OpenBLAS"


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
    """The mistake: log-sum-exp in bits, as flash kernels keep it inside (exp2, log2), not converted back to natural units."""
    made, path = numpy_plain(p)
    return {"lse": made["lse"] * made["lse"].dtype.type(np.log2(np.e)), "out": made["out"]}, path


def numpy_blockwise(p, block=8):
    """Flash-like: one block of keys at a time, running maximum and denominator, the accumulator rescaled in each block."""
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
    return {"lse": top + np.log(total), "out": acc / total[..., None]}, f"blockwise NumPy, {block} keys a block, running maximum"


class Recorder(TorchDispatchMode):
    """The names of the operators that really ran: this is how the path of torch is known, not by what was asked for."""

    def __init__(self):
        super().__init__()
        self.ops = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ops.append(func._schema.name.removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


def to_torch(a):
    return torch.from_numpy(np.ascontiguousarray(a).view(np.uint16).copy()).view(torch.bfloat16) if a.dtype == BF16 else torch.from_numpy(a.copy())


def from_torch(t):
    return t.contiguous().view(torch.uint16).numpy().view(BF16) if t.dtype == torch.bfloat16 else t.contiguous().numpy()


def torch_path(run):
    """Run twice, once under the recorder; the operators, and the same bits from both runs."""
    with Recorder() as recorder:
        seen = run()
    made = run()
    assert torch.equal(torch.nan_to_num(seen, 7.0), torch.nan_to_num(made, 7.0)), "the recorder changed the result"
    skip = ("view", "expand", "transpose", "_unsafe_view", "detach", "empty", "unsqueeze", "squeeze", "slice", "_reshape_alias", "alias")
    return made, [op for op in recorder.ops if op not in skip]


def torch_sdpa(p, backend, reduced=False):
    q, k, v = (to_torch(x) for x in (p.q, p.k, p.v))
    how = {"scale": number(p.does["scale"])} if "scale" in p.does else {}
    how["enable_gqa"] = p.q.shape[-3] != p.k.shape[-3]
    if p.does.get("causal") == "top-left" and p.mask is None and "diagonal" not in p.does:
        how["is_causal"] = True
    elif p.does.get("causal") == "bottom-right" and p.does.get("use", "") == "causal_lower_right":
        how["attn_mask"] = causal_lower_right(p.n_q, p.n_k)
    elif p.keep() is not None:
        how["attn_mask"] = torch.from_numpy(np.ascontiguousarray(np.broadcast_to(p.keep(), p.keep().shape)))
    elif p.bias() is not None:
        how["attn_mask"] = torch.from_numpy(p.bias().copy())
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(reduced)  # despite its name it governs the plain path on the CPU as well
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


def torch_math_reduced(p):
    """16-bit inputs stay 16-bit: q and k times sqrt(scale), scores and weights are all stored in 16 bits."""
    made, path = torch_sdpa(p, SDPBackend.MATH, reduced=True)
    return made, path + "; allow_fp16_bf16_reduction_math_sdp(True)"


def torch_flash(p):
    """Scores and sums in f32; for 16-bit inputs the unnormalised weights are stored in 16 bits before the product with v."""
    return torch_sdpa(p, SDPBackend.FLASH_ATTENTION)


def torch_flash_lse(p):
    """The fused operator called by its own name, which hands out its log-sum-exp as well (always f32 for 16-bit inputs)."""
    q, k, v = (to_torch(x) for x in (p.q, p.k, p.v))
    out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, p.does.get("causal") == "top-left")
    assert torch.equal(out, to_torch(torch_flash(p)[0]["out"]))
    return {"out": from_torch(out), "lse": lse.numpy()}, "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu"


def torch_bf16_on_f32(p):
    """The mistake: f32 tensors, but computed in bf16, as under autocast, and converted back."""
    q, k, v = (torch.from_numpy(x.copy()) for x in (p.q, p.k, p.v))
    with torch.autocast("cpu", dtype=torch.bfloat16), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        out, ops = torch_path(lambda: F.scaled_dot_product_attention(q, k, v))
    return {"out": from_torch(out.float())}, "torch scaled_dot_product_attention under autocast to bf16; operators: " + " ".join(ops)


def torch_f16_scale_late(p):
    """The mistake: q.k stored in f16 before the scale is applied; it overflows to inf, and inf - inf is NaN."""
    q, k, v = (to_torch(x) for x in (p.q, p.k, p.v))
    return {"out": from_torch(torch.softmax(q @ k.mT * p.scale(), -1) @ v)}, "torch matmul, mul, softmax, matmul in f16"


def jax_attention(p):
    """jax.nn.dot_product_attention, jitted; its own layout is bnhd. 16-bit weights are stored before the product with v."""
    q, k, v = (jax.numpy.asarray(np.swapaxes(x, 1, 2)) for x in (p.q, p.k, p.v))
    how = {"scale": number(p.does["scale"])} if "scale" in p.does else {}
    how["is_causal"] = p.does.get("causal") == "top-left"
    if p.mask is not None:
        how["mask" if p.bias() is None else "bias"] = jax.numpy.asarray(p.keep() if p.bias() is None else p.mask)
    out = jax.jit(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, implementation="xla", **how))(q, k, v)
    return {"out": np.swapaxes(np.asarray(out), 1, 2)}, "jax.nn.dot_product_attention, implementation xla, jit, CPU"


def onnx_session(nodes, inputs, constants=()):
    """A session of ONNX Runtime for a graph from named arrays to `out`."""
    values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in inputs.items()]
    out = helper.make_tensor_value_info("out", helper.np_dtype_to_tensor_dtype(next(iter(inputs.values())).dtype), None)
    model = helper.make_model(helper.make_graph(nodes, "g", values, [out], list(constants)), opset_imports=[helper.make_opsetid("", 23)])
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
    node = helper.make_node("Attention", list(inputs), ["out"], is_causal=int(p.does.get("causal") == "top-left"), scale=float(p.scale()))
    return {"out": onnx_session([node], inputs)}, "ONNX Runtime, operator Attention (opset 23), CPU"


def onnx_graph(p):
    """A graph of primitive operators: MatMul, Mul, Add, Softmax, MatMul."""
    nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", ["q", "kt"], ["raw"]),
             helper.make_node("Mul", ["raw", "scale"], ["scores"]), helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
             helper.make_node("MatMul", ["weights", "v"], ["out"])]
    scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [float(p.scale())])
    return {"out": onnx_session(nodes, {"q": p.q, "k": p.k, "v": p.v}, [scale])}, "ONNX Runtime, Transpose MatMul Mul Softmax MatMul, CPU"


# --- The implementations: softmax -------------------------------------------------------------------------------------------------

def numpy_softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True), "plain NumPy"


def scipy_softmax(x, axis):
    return scipy.special.softmax(x, axis=axis), "scipy.special.softmax"


def torch_softmax(x, axis):
    return from_torch(torch.softmax(to_torch(x), axis)), "torch.softmax"


def jax_softmax(x, axis):
    return np.asarray(jax.jit(lambda x: jax.nn.softmax(x, axis))(x)), "jax.nn.softmax, jit, CPU"


def onnx_softmax(x, axis):
    return onnx_session([helper.make_node("Softmax", ["x"], ["out"], axis=axis)], {"x": x}), "ONNX Runtime, operator Softmax, CPU"


# --- The table --------------------------------------------------------------------------------------------------------------------

CASES = []


def attention(name, run, fmt, note, *, shape=None, heads=(2, 3), kv_heads=None, says=None, does=None, mask=None, dump=("out",), options="",
              arithmetic="default", store="V2", inputs=None, q=(0, 1), k=(0, 1), v=(0, 1), keep_mask=True, fortran=(), bare=False, compress=True):
    """One dump of attention. shape = (n_q, n_k, d_k, d_v); q, k, v = (mean, spread); mask = function of (g, n_q, n_k) or None."""
    CASES.append(dict(locals(), op="attention"))


def softmax(name, run, fmt, note, *, shape, axis=-1, does=None, arithmetic="default", store="V2", options="", spread=3.0):
    CASES.append(dict(locals(), op="softmax"))


SQUARE, WIDE, TALL = (12, 12, 16, 16), (7, 13, 16, 16), (13, 7, 16, 16)
BR, TL = {"causal": "bottom-right"}, {"causal": "top-left"}
ALL = ("raw_scores", "scores", "weights", "lse", "out")
some_mask = lambda g, n_q, n_k: random_mask(g, (2, 1, n_q, n_k))
dead_rows = lambda g, n_q, n_k: random_mask(g, (1, 1, n_q, n_k), dead=(0, 4))
padding = lambda g, n_q, n_k: (np.arange(n_k)[None, :] >= np.array([[n_k - 3], [n_k - 6]]))[:, None, None, :]
bias_mask = lambda g, n_q, n_k: additive_mask(g, n_q, n_k, 3)

attention("numpy-f64", numpy_plain, "f64", "rank 2, one head; the textbook formula", shape=(16, 16, 8, 8), heads=())
attention("numpy-f64-bare", numpy_plain, "f64", "as numpy.savez writes it: no attest.json, all said on the command line", shape=WIDE, heads=(),
          says=TL, bare=True, options="--op attention --causal top-left --arithmetic f64")
attention("numpy-f64-nonsquare", numpy_plain, "f64", "n_q, n_k, d_k, d_v all different; k in Fortran order", shape=(5, 13, 6, 3), heads=(2,), fortran=("k",))
attention("numpy-f64-stages", numpy_plain, "f64", "every stage dumped; bottom-right, so -inf in scores", shape=WIDE, says=BR, dump=ALL, heads=(2,))
attention("numpy-f64-logits-1e4", numpy_plain, "f64", "scores up to about 1e4", shape=WIDE, q=(0, 50), k=(0, 50))
attention("numpy-f32", numpy_plain, "f32", "batch 2 x heads 3", shape=SQUARE)
attention("numpy-f32-stages", numpy_plain, "f32", "raw_scores, scores, weights, lse and out; top-left", shape=TALL, says=TL, dump=ALL, heads=(2,))
attention("numpy-f32-empty-nan", numpy_plain, "f32", "two rows see no key, and softmax of -inf alone is NaN", shape=WIDE, mask=dead_rows,
          says={"empty-row": "nan"}, heads=(1, 3))
attention("numpy-f32-blockwise", numpy_blockwise, "f32", "32 blocks, scores increasing with the key, so each block rescales", shape=(8, 256, 8, 8), heads=(),
          inputs=increasing, dump=("lse", "out"))
attention("numpy-f32-gqa", numpy_plain, "f32", "6 heads read 2 key-value heads", shape=WIDE, heads=(2, 6), kv_heads=2)
attention("numpy-f32-logits-1e4", numpy_plain, "f32", "scores up to about 1e4: thousands of ULP off, and right", shape=(9, 40, 16, 8), q=(0, 50), k=(0, 50))

attention("torch-math-f64", torch_math, "f64", "plain path", shape=WIDE)
attention("torch-flash-f64", torch_flash, "f64", "fused path", shape=WIDE)
attention("torch-math-f32", torch_math, "f32", "plain path: q and k are each multiplied by sqrt(scale)", shape=SQUARE)
attention("torch-flash-f32", torch_flash, "f32", "fused path", shape=SQUARE)
attention("torch-flash-f32-two-blocks", torch_flash, "f32", "600 keys, more than one block of the fused kernel (512)", shape=(5, 600, 8, 8), heads=(1, 1))
attention("torch-math-f32-nbd", torch_math, "f32", "sequence first", shape=WIDE, heads=(3,), says={"layout": "nbd"})
attention("torch-flash-f32-scale", torch_flash, "f32", "scale 0.3, which no format holds", shape=WIDE, says={"scale": 0.3})
attention("torch-math-f32-scale-hex", torch_math, "f32", "scale given as a hex float", shape=WIDE, says={"scale": "0x1.8p-3"})
attention("torch-flash-f32-top-left", torch_flash, "f32", "is_causal=True with 7 queries, 13 keys", shape=WIDE, says=TL)
attention("torch-flash-f32-top-left-tall", torch_flash, "f32", "is_causal=True with 13 queries, 7 keys", shape=TALL, says=TL)
attention("torch-flash-f32-bottom-right", torch_flash, "f32", "by an explicit mask, which is not in the dump", shape=WIDE, says=BR)
attention("torch-math-f32-lower-right", torch_math, "f32", "torch.nn.attention.bias.causal_lower_right", shape=WIDE, says=BR, does={"use": "causal_lower_right"})
attention("torch-math-f32-bottom-right-tall", torch_math, "f32", "13 queries, 7 keys: the first 6 rows see nothing and are 0", shape=TALL, says=BR)
attention("torch-math-f32-mask", torch_math, "f32", "bool mask, True = keep, two rows see no key: plain path gives 0", shape=WIDE, mask=dead_rows, says={"empty-row": "zero"})
attention("torch-flash-f32-mask", torch_flash, "f32", "bool mask, True = keep, two rows see no key: fused path gives 0", shape=WIDE, mask=dead_rows, says={"empty-row": "zero"})
attention("torch-flash-f32-padding", torch_flash, "f32", "key padding [b,1,1,n_k], True = padding", shape=WIDE, mask=padding, says={"mask-polarity": "drop"})
attention("torch-math-f32-integer-mask", torch_math, "f32", "int64 mask of 0 and 1, 1 = drop", shape=WIDE, mask=lambda *a: 1 - some_mask(*a).astype("i8"), says={"mask-polarity": "drop"})
attention("torch-flash-f32-bias", torch_flash, "f32", "float mask: slopes for each head and -inf", shape=WIDE, mask=bias_mask)
attention("torch-math-f32-bias", torch_math, "f32", "float mask: slopes for each head and -inf", shape=WIDE, mask=bias_mask)
attention("torch-flash-f32-logits-100", torch_flash, "f32", "scores up to about 100: exp underflows", shape=(9, 40, 16, 8 + 8), q=(0, 5), k=(0, 6))
attention("torch-math-f32-logits-1e4", torch_math, "f32", "scores up to about 1e4", shape=WIDE, q=(0, 50), k=(0, 50))
attention("torch-flash-f32-one-key", torch_flash, "f32", "softmax over one key: out is v", shape=(3, 1, 16, 16))
attention("torch-flash-f32-q-zero", torch_flash, "f32", "q = 0: out is the mean of v", shape=(2, 200, 16, 16), heads=(1, 1), q=(0, 0))
attention("torch-flash-f32-mean-4", torch_flash, "f32", "v = 4 +- 0.05", shape=(7, 96, 16, 16), heads=(1, 2), v=(4, 0.05))
attention("torch-flash-f32-gqa", torch_flash, "f32", "enable_gqa, 6 heads read 2", shape=WIDE, heads=(1, 6), kv_heads=2)

attention("torch-math-bf16", torch_math, "bf16", "plain path: converted to f32, rounded once at the end", shape=SQUARE, options="--bf16 all")
attention("torch-flash-bf16", torch_flash_lse, "bf16", "fused path: weights stored in bf16, lse in f32", shape=(33, 48, 16, 16), heads=(1, 2), says={}, dump=("out", "lse"), store="u2", options="--bf16 q,k,v,out")
attention("torch-math-reduced-bf16", torch_math_reduced, "bf16", "plain path without conversion: scaled q and k, scores, weights all in bf16", shape=(9, 24, 16, 16), arithmetic="bf16", store="u2", options="--bf16 all")
attention("torch-flash-bf16-undeclared", torch_flash, "bf16", "arithmetic not declared; arrays as int16", shape=WIDE, arithmetic=None, store="i2", options="--bf16 all")
attention("torch-flash-bf16-top-left", torch_flash, "bf16", "is_causal=True, 40 queries and keys", shape=(40, 40, 16, 16), heads=(1, 2), says=TL, options="--bf16 all")
attention("torch-flash-bf16-logits-100", torch_flash, "bf16", "scores up to about 100", shape=(9, 40, 16, 16), q=(0, 5), k=(0, 6), store="u2", options="--bf16 all")
attention("torch-flash-bf16-one-key", torch_flash, "bf16", "softmax over one key: out is v, exactly", shape=(3, 1, 16, 16), options="--bf16 all")
attention("torch-flash-bf16-q-zero", torch_flash, "bf16", "q = 0, 683 keys, v with mean 2: equal weights round alike", shape=(1, 683, 16, 16), heads=(1, 1), q=(0, 0), v=(2, 1), options="--bf16 all")
attention("torch-math-reduced-bf16-q-zero", torch_math_reduced, "bf16", "the same, with normalised weights 1/683 stored in bf16: a bias of the whole row", shape=(1, 683, 16, 16), heads=(1, 1), q=(0, 0), v=(2, 1), arithmetic="bf16+f32", store="u2", options="--bf16 all")
attention("torch-flash-bf16-repeated", torch_flash, "bf16", "96 times the same token as key", shape=(7, 96, 16, 16), heads=(1, 2), inputs="repeated", options="--bf16 all")
attention("torch-flash-bf16-mean-4", torch_flash, "bf16", "v = 4 +- 0.05", shape=(7, 96, 16, 16), heads=(1, 2), v=(4, 0.05), store="u2", options="--bf16 all")
attention("torch-math-f16", torch_math, "f16", "plain path: converted to f32, rounded once at the end", shape=SQUARE)
attention("torch-flash-f16", torch_flash, "f16", "fused path: weights stored in f16", shape=(33, 48, 16, 16), heads=(1, 2))
attention("torch-flash-f16-undeclared", torch_flash, "f16", "arithmetic not declared", shape=WIDE, arithmetic=None)
attention("torch-math-reduced-f16", torch_math_reduced, "f16", "plain path without conversion", shape=(9, 24, 16, 16), arithmetic="f16")

attention("jax-f32", jax_attention, "f32", "layout bnhd", shape=WIDE, says={"layout": "bnhd"})
attention("jax-f64", jax_attention, "f64", "layout bnhd; JAX does its softmax in f32 whatever the inputs", shape=WIDE, says={"layout": "bnhd"}, arithmetic="f32")
attention("jax-f32-top-left", jax_attention, "f32", "is_causal=True, 7 queries, 13 keys", shape=WIDE, says={"layout": "bnhd", **TL})
attention("jax-bf16", jax_attention, "bf16", "layout bnhd; weights stored in bf16", shape=WIDE, says={"layout": "bnhd"}, options="--bf16 all")
attention("jax-bf16-gqa", jax_attention, "bf16", "4 heads read 2, scale 0.125", shape=WIDE, heads=(2, 4), kv_heads=2, says={"layout": "bnhd", "scale": 0.125}, store="u2", options="--bf16 all")
attention("jax-f16", jax_attention, "f16", "layout bnhd", shape=WIDE, says={"layout": "bnhd"})
attention("jax-f32-mask", jax_attention, "f32", "bool mask without empty rows", shape=WIDE, mask=some_mask, says={"layout": "bnhd"})
attention("onnxruntime-f32", onnx_attention, "f32", "the operator Attention", shape=WIDE)
attention("onnxruntime-f32-mask", onnx_attention, "f32", "the operator Attention with a bool mask", shape=WIDE, mask=some_mask)
attention("onnxruntime-graph-f32", onnx_graph, "f32", "a graph of MatMul, Mul, Softmax, MatMul; d_v != d_k", shape=(7, 13, 16, 5))

softmax("numpy-softmax-f64", numpy_softmax, "f64", "last axis", shape=(6, 33))
softmax("scipy-softmax-f64-axis-0", scipy_softmax, "f64", "axis 0 of a [9,4,5] tensor", shape=(9, 4, 5), axis=0)
softmax("numpy-softmax-f32-axis-1", numpy_softmax, "f32", "axis 1 of a [4,9,5] tensor", shape=(4, 9, 5), axis=1)
softmax("torch-softmax-f32", torch_softmax, "f32", "last axis, values up to about 100", shape=(8, 100), spread=30)
softmax("torch-softmax-bf16", torch_softmax, "bf16", "last axis, 300 classes", shape=(6, 300), options="--bf16 all")
softmax("torch-softmax-f16-axis-2", torch_softmax, "f16", "axis -2", shape=(3, 17, 6), axis=-2)
softmax("jax-softmax-f32", jax_softmax, "f32", "last axis", shape=(8, 65))
softmax("jax-softmax-bf16", jax_softmax, "bf16", "last axis", shape=(8, 65), store="u2", options="--bf16 all")
softmax("onnxruntime-softmax-f32", onnx_softmax, "f32", "last axis", shape=(8, 65))

attention("wrong-no-scale-f32", torch_math, "f32", "scale left out", shape=WIDE, does={"scale": 1.0})
attention("wrong-no-scale-bf16", torch_flash, "bf16", "scale left out", shape=WIDE, does={"scale": 1.0}, options="--bf16 all")
attention("wrong-scale-1-over-d-f64", numpy_plain, "f64", "1/d_k for 1/sqrt(d_k)", shape=WIDE, does={"scale": 1 / 16})
attention("wrong-softmax-axis-f32", numpy_plain, "f32", "softmax over the queries", shape=WIDE, does={"softmax-axis": -2})
attention("wrong-mask-polarity-f32", torch_flash, "f32", "True taken as drop", shape=WIDE, mask=some_mask, does={"mask-polarity": "drop"})
attention("wrong-causal-top-left-f32", torch_flash, "f32", "is_causal=True where bottom-right is declared", shape=WIDE, says=BR, does=TL)
attention("wrong-causal-off-by-one-f32", torch_math, "f32", "each row sees one future key", shape=SQUARE, says=TL, does={"diagonal": 1})
attention("wrong-causal-self-lost-f64", numpy_plain, "f64", "each row loses its own key; row 0 becomes NaN", shape=SQUARE, says=TL, does={"diagonal": -1}, heads=(2,))
attention("wrong-mask-after-softmax-f32", numpy_mask_after_softmax, "f32", "masked after softmax, not renormalised", shape=WIDE, mask=some_mask)
attention("wrong-gqa-tile-f32", numpy_plain, "f32", "head h reads key-value head h mod 2", shape=WIDE, heads=(2, 6), kv_heads=2, does={"gqa": "tile"})
attention("wrong-no-maximum-f32", numpy_no_maximum, "f32", "exp overflows, inf/inf is NaN", shape=WIDE, q=(0, 10), k=(0, 10))
attention("wrong-scale-late-f16", torch_f16_scale_late, "f16", "q.k overflows f16 before it is scaled: NaN", shape=WIDE, q=(0, 120), k=(0, 120), arithmetic="f16")
attention("wrong-bf16-inside-f32", torch_bf16_on_f32, "f32", "f32 tensors computed in bf16, f32 declared", shape=WIDE)
attention("wrong-empty-row-mean-f32", jax_attention, "f32", "JAX fills masked scores with a large negative number: an empty row becomes the mean of v", shape=WIDE, mask=dead_rows, says={"layout": "bnhd", "empty-row": "zero"})
attention("wrong-lse-base-2-f32", numpy_lse_base_2, "f32", "lse in bits; out is right", shape=WIDE, dump=("lse", "out"))
softmax("wrong-softmax-op-axis-f32", torch_softmax, "f32", "axis -2 for axis -1", shape=(3, 9, 9), does=-2)

# The command line wins: the same wrong files, judged by the convention that they follow.
AGAIN = [("wrong-causal-top-left-f32", "right", "--causal top-left", "the command line wins over attest.json"),
         ("wrong-mask-polarity-f32", "right", "--mask-polarity drop", "the command line wins over attest.json"),
         ("wrong-no-scale-f32", "right", "--scale 1", "the command line wins over attest.json"),
         ("torch-flash-f32-top-left", "wrong", "--causal bottom-right", "a right dump under the other convention")]


# --- Running a case ---------------------------------------------------------------------------------------------------------------

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
    if c["inputs"] == "repeated":
        k = np.ascontiguousarray(np.broadcast_to(k[..., :1, :], k.shape))
    elif c["inputs"]:
        q, k = c["inputs"](g, heads + (n_q, d_k), kv + (n_k, d_k), fmt)
    mask = c["mask"](g, n_q, n_k) if c["mask"] else None
    says = c["says"] or {}
    made, path = c["run"](unsqueezed(Problem(q, k, v, mask, {**says, **(c["does"] or {})}), c["run"]))
    made = {name: made[name].reshape(heads + made[name].shape[made[name].ndim - (1 if name == "lse" else 2):]) for name in c["dump"]}
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
    """The array as it goes into the file: in the declared layout, bf16 as V2, u2 or i2, perhaps in Fortran order."""
    if name in ("q", "k", "v", "out"):
        layout = says.get("layout", "bhnd")
        a = np.swapaxes(a, 1, 2) if layout == "bnhd" else np.swapaxes(a, 0, 1) if layout == "nbd" else a
    a = np.ascontiguousarray(a)
    if a.dtype == BF16 and c["store"] != "V2":
        a = a.view(c["store"])
    return np.asfortranarray(a) if name in c.get("fortran", ()) else a


def write_npz(path, arrays, texts, compress):
    """What numpy.savez writes, ZIP64 fields included, but with a fixed date, and with text members beside the arrays."""
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
    c["verdict"] = "wrong" if c["name"].startswith("wrong-") else "right"
    tensors, made, exact, says, path = (run_softmax if c["op"] == "softmax" else run_attention)(c)
    declared = default_arithmetic(c["fmt"]) if c["arithmetic"] == "default" else c["arithmetic"]
    texts = {}
    if not c.get("bare"):
        says_all = {"op": c["op"], **says, **({"arithmetic": declared} if declared else {})}
        texts["attest.json"] = json.dumps(says_all, indent=1) + "\n"
    library = next(lib for lib in ("numpy", "scipy", "torch", "jax", "onnx") if c["run"].__name__.startswith(lib))
    texts["provenance.json"] = json.dumps({
        "what": c["note"], "implementation": c["run"].__name__, "path": path, "seed": c["seed"], "verdict": c["verdict"],
        "did_instead": {} if c["does"] is None else c["does"] if isinstance(c["does"], dict) else {"axis": c["does"]},
        "versions": {k: v for k, v in VERSIONS.items() if k.startswith(library) or k in ("numpy", "ml_dtypes") or (library, k) == ("jax", "jaxlib")},
        "python": platform.python_implementation() + " " + platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}, {torch.backends.cpu.get_cpu_capability()}, one thread",
        "environment": "the virtual environment that tests/dumps/make.sh makes"}, indent=1) + "\n"
    arrays = {n: stored(n, a, c, says) for n, a in tensors.items()}
    file = folder / (c["name"] + ".npz")
    write_npz(file, arrays, {} if c.get("bare") else texts, c.get("compress", True))
    return summary(c, made, exact, declared, file)


# --- The eye's check: long double, and a rough limit ------------------------------------------------------------------------------

LD = np.longdouble


def exact_attention(p):
    k, v = expand_heads(Problem(p.q, p.k, p.v, p.mask, {}))
    q, k, v = (x.astype(np.float64).astype(LD) for x in (p.q, k, v))
    scale = LD(str(p.does["scale"])) if "scale" in p.does and not str(p.does["scale"]).startswith("0x") else \
        LD(p.scale()) if "scale" in p.does else 1 / np.sqrt(LD(p.d_k))
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
            "_": dict(size=size, distance=distance, alpha=alpha, v=v, terms=p.d_k, scores=np.where(np.isneginf(scores), 0, scores))}


def exact_softmax(x, axis):
    x = np.moveaxis(x.astype(np.float64).astype(LD), axis, -1)
    e = np.exp(x - x.max(-1, keepdims=True))
    alpha = e / e.sum(-1, keepdims=True)
    return {"out": np.moveaxis(alpha, -1, axis), "_": dict(axis=axis, alpha=alpha, distance=x.max(-1, keepdims=True) - x)}


def ulp(x, fmt):
    x = np.abs(np.where(np.isfinite(x), x, 0)).astype(LD)
    _, exponent = np.frexp(x)
    return np.ldexp(LD(1), np.where(x == 0, LEAST_EXPONENT[fmt], np.maximum(exponent - MANTISSA[fmt], LEAST_EXPONENT[fmt])))


def rough_limit(e, out, fmt, arithmetic):
    """First order: errors of scores and exp through alpha |v - o|, stored weights through alpha |v|, sums, and the final store."""
    wide, _, inner = arithmetic.partition("+")
    u = LD(2.0) ** -MANTISSA[inner or ("f32" if wide in ("f16", "bf16") else wide)]
    u16 = LD(2.0) ** -MANTISSA[wide] if wide in ("f16", "bf16") else LD(0)
    pure = u16 if not inner else LD(0)
    n = e["alpha"].shape[-1]
    rel = (2 if arithmetic == "f64" else 8) * u + e["distance"] * 2 * u
    if "v" in e:
        rel = rel + ((e["terms"] + 5) * u + 2 * pure) * e["size"] + (2 * u + pure) * abs(e["scores"])
        rel = np.expm1(2 * rel) / 2
        apart = abs(e["v"][..., None, :, :] - out[..., :, None, :])
        hull = np.where(e["alpha"][..., None] > 0, apart, 0).max(-2)
        mean = np.einsum("...ij,...jd->...id", e["alpha"], abs(e["v"]))
        limit = np.minimum(np.einsum("...ij,...ijd->...id", e["alpha"] * rel, apart), hull) + (u16 + 2 * n * u) * mean + n * u * abs(out)
    else:
        alpha = e["alpha"]
        limit = np.moveaxis(alpha * (rel + (alpha * rel).sum(-1, keepdims=True) + (n + 2) * u + pure), -1, e["axis"])
    return limit + ulp(abs(out) + limit, fmt) / 2


def summary(c, made, exact, declared, file):
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
    return dict(name=c["name"], verdict=c["verdict"], arithmetic=declared or "-", ulp=worst["out"], ratio=float(ratio), others=others,
                bytes=file.stat().st_size, options=c["options"], note=c["note"])


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    (folder / "broken").mkdir(parents=True, exist_ok=True)
    print(f"{'case':34} {'class':6} {'arithmetic':10} {'max ULP':>12} {'/rough limit':>13} {'bytes':>6}  other outputs, max ULP")
    rows = []
    for c in CASES:
        rows.append(make(c, folder))
        print("{name:34} {verdict:6} {arithmetic:10} {ulp:12.6g} {ratio:13.3g} {bytes:6}  {others}".format(**rows[-1]), flush=True)
    width = max(len(r["name"]) for r in rows) + 4
    lines = [f"{r['name'] + '.npz':{width}}  {r['verdict']}  {r['options']:48}  # {r['note']}" for r in rows]
    lines += [f"{name + '.npz':{width}}  {verdict}  {options:48}  # {note}" for name, verdict, options, note in AGAIN]
    head = "# file, verdict class (right: exit status 0, wrong: 1), further options of `attest check`, comment. Written by make.py; a file may stand in several lines.\n"
    (folder / "expected.txt").write_text(head + "\n".join(lines) + "\n")
    whole = (folder / "numpy-f32.npz").read_bytes()
    (folder / "broken" / "truncated.npz").write_bytes(whole[:len(whole) // 2])
    print(f"{len(rows)} dumps, {sum(r['bytes'] for r in rows)} bytes, the largest {max(r['bytes'] for r in rows)}")


if __name__ == "__main__":
    main()
