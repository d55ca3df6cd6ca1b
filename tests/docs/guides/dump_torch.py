#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What docs/guides/pytorch.md shows, in one script: dump_torch.py FOLDER writes the cases into FOLDER. dump_torch.sh judges them.

Exit status 77, "skipped", where NumPy, PyTorch or safetensors are not installed.
"""
import sys

try:
    # [imports]
    import json
    import zipfile

    import numpy
    import torch
    from safetensors.torch import save_file
    from torch.nn.functional import scaled_dot_product_attention
    # [/imports]
except ImportError as error:
    print(f"attest: skipped, {error}")
    sys.exit(77)

import os

os.chdir(sys.argv[1])
torch.manual_seed(7)
torch.set_num_threads(1)


# [inputs]
def inputs(dtype, *, requires_grad=False):
    """Two batches of 4 heads; 24 queries and as many keys of 16 components."""
    return [torch.randn(2, 4, 24, 16, dtype=dtype, requires_grad=requires_grad) for _ in range(3)]
# [/inputs]


# [save]
def save(path, case, **says):
    """The tensors, and what they claim to be: the op, its conventions, the arithmetic."""
    save_file({name: t.detach().contiguous().clone() for name, t in case.items()}, path, metadata={"attest": json.dumps(says)})
# [/save]


# [attention]
q, k, v = inputs(torch.bfloat16)
out = scaled_dot_product_attention(q, k, v, is_causal=True)
save("attention.safetensors", {"q": q, "k": k, "v": v, "out": out}, op="attention", causal="top-left", arithmetic="bf16+f32")
# [/attention]

# [npz_bf16]
bits = {"q": q, "k": k, "v": v, "out": out}
numpy.savez("bits.npz", **{name: t.view(torch.int16).numpy() for name, t in bits.items()})
# [/npz_bf16]

# [npz]
q, k, v = inputs(torch.float32)
out = scaled_dot_product_attention(q, k, v, is_causal=True)
numpy.savez("attention.npz", q=q.numpy(), k=k.numpy(), v=v.numpy(), out=out.numpy())
# [/npz]

# [declare]
numpy.savez("declared.npz", q=q.numpy(), k=k.numpy(), v=v.numpy(), out=out.numpy())
with zipfile.ZipFile("declared.npz", "a") as file:
    file.writestr("attest.json", '{"op": "attention", "causal": "top-left", "arithmetic": "f32"}')
# [/declare]


# [stages]
def my_attention(q, k, v):
    raw = q @ k.mT
    hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    scores = (raw * q.shape[-1] ** -0.5).masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1)
    return {"raw_scores": raw, "scores": scores, "weights": weights, "lse": scores.logsumexp(-1), "out": weights @ v}


case = {"q": q, "k": k, "v": v, **my_attention(q, k, v)}
save("stages.safetensors", case, op="attention", causal="top-left", arithmetic="f32")
# [/stages]

# [gradients]
q, k, v = inputs(torch.float32, requires_grad=True)
dout = torch.randn(2, 4, 24, 16)
out = scaled_dot_product_attention(q, k, v, is_causal=True)
out.backward(dout)
case = {"q": q, "k": k, "v": v, "out": out, "dout": dout, "dq": q.grad, "dk": k.grad, "dv": v.grad}
save("gradients.safetensors", case, op="attention", causal="top-left", arithmetic="f32")
# [/gradients]

# [module]
layer = torch.nn.TransformerEncoderLayer(32, nhead=4, dim_feedforward=64, dropout=0, batch_first=True, dtype=torch.float64)
x = torch.randn(2, 10, 32, dtype=torch.float64, requires_grad=True)
out = layer(x)
dout = torch.randn_like(out)
out.backward(dout)
case = {"x": x, "out": out, "dout": dout, "dx": x.grad, **dict(layer.named_parameters())}
case |= {name + ".grad": p.grad for name, p in layer.named_parameters()}
save("layer.safetensors", case, op="encoder_layer", names="torch", heads=4, arithmetic="f64")
# [/module]

q, k, v = inputs(torch.float32)

# A mistake to look at: the mask of is_causal is top-left, and with a cache one wants bottom-right.
# [wrong]
last = q[:, :, -5:]  # 5 queries, 24 keys
out = scaled_dot_product_attention(last, k, v, is_causal=True)
save("cache.safetensors", {"q": last, "k": k, "v": v, "out": out}, op="attention", causal="bottom-right", arithmetic="f32")
# [/wrong]
