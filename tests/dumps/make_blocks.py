#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Make the dumps of the folder blocks/ again: norms, activations, positions, multi-head attention, layers and stacks.

    make_blocks.py [FOLDER]          (make.sh calls it after make.py; dumps go into FOLDER/blocks)

Each case is one entry of the table below; a function of blocks_implementations.py makes its tensors. A wrong dump
*does* something else than its attest.json *says*: its name begins with `wrong-`, and provenance.json tells what it did.

Each written file is read again and compared with blocks_reference.py, an evaluation at 200 bits: a right dump must
agree with it, a wrong one must be far from it, and so must the lines of expected.txt with further options. An f32 or
bf16 dump of softmax, scores or attention is `right`; of another block if all its elements are correctly rounded, else `undecided`. The limits of that comparison only
keep a mistake of this script out of the folder; `attest check` knows nothing of them.
"""
import io
import json
import re
import sys
import zipfile
import zlib
from pathlib import Path

import make
import blocks_reference as reference
import numpy as np
import safetensors
import safetensors.torch
import torch
import torch.nn as nn
from blocks_implementations import (
    GELU, Source, activation, attention, attribute, block, dead_row, feed_forward, float_mask, heads_swapped, jax_gelu,
    last_of_group, layer_norm, learned_position, multi_head, nan_gradients, own_multi_head, put, reordered,
    residual_from_normed, rope, score, sinusoidal, softmax, swap, transposed, without_d, zeroed)
from make import BF16, DTYPE, LEAST_EXPONENT, MANTISSA, PLATFORM, VERSIONS, from_torch, to_torch


# --- The table --------------------------------------------------------------------------------------------------------

CASES = []


def case(name, run, fmts, says, note, *, does=None, bf16="bf16", store="npz", leaves_out=None, digits="f32", **how):
    """One dump for each stored format in `fmts`. says: attest.json; does: what the implementation does instead;
    bf16: the arithmetic declared for bf16; leaves_out: a pattern of names that do not go into the file; digits: those
    of x, q, k, v, memory (wrong dumps have those of f16); the rest goes to `run`."""
    for fmt in fmts.split():
        CASES.append(dict(name=f"{name}-{fmt}", run=run, fmt=fmt, says=says, does=does, note=note, store=store, how=how,
                          leaves_out=leaves_out, digits=digits, arithmetic=bf16 if fmt == "bf16" else fmt))


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
case("torch-layer-norm", layer_norm, ALL, NORM, "nn.LayerNorm with gamma and beta, all gradients", digits="f64",
     shape=(2, 5, 12), bf16=STORED_F32)
case("torch-layer-norm-plain", layer_norm, "f64", NORM | {"eps": "1e-3"},
     "nn.LayerNorm, elementwise_affine=False, eps 1e-3", affine=False, spread=0.1)
case("torch-layer-norm-mean-1000", layer_norm, BOTH, NORM, "nn.LayerNorm, mean 1000, spread 1", mean=1000)
case("torch-layer-norm-small", layer_norm, "f64", NORM, "nn.LayerNorm, variance near eps; one row is constant",
     spread=0.003, constant_row=True)
case("torch-layer-norm-names", layer_norm, "f64", NORM | {"names": "torch"}, "the same module under its own names",
     shape=(3, 7))
case("numpy-layer-norm-unbiased", layer_norm, BOTH, NORM | {"variance": "unbiased"}, "variance over d - 1",
     kind="numpy")
case("numpy-layer-norm-std", layer_norm, BOTH, NORM | {"eps-placement": "std", "eps": "1e-3"}, "sigma + eps",
     kind="numpy", spread=0.1)
case("torch-layer-norm-annotated", layer_norm, "f64",
     NORM | {"eps-placement": "std", "variance": "unbiased", "eps": "1e-6"},
     "sigma + eps, variance over d - 1, as in The Annotated Transformer; autograd", kind="textbook")
case("torch-rms-norm", layer_norm, ALL, RMS, "nn.RMSNorm with its gradients; eps is a JSON number", digits="f64",
     bf16=STORED_F32)
case("torch-rms-norm-plain", layer_norm, "f64", RMS | {"eps": "0x1p-10"},
     "nn.RMSNorm without gamma; eps as a hex float", affine=False, spread=0.02)

# Softmax with its gradient
SOFTMAX = {"op": "softmax", "axis": -1}
case("torch-softmax-gradient", softmax, BOTH, SOFTMAX, "last axis, with dx", digits="f64")
case("torch-softmax-gradient-axis-1", softmax, "f64", SOFTMAX | {"axis": 1}, "axis 1 of [2,3,5], with dx")
case("jax-softmax-gradient", softmax, "f64", SOFTMAX, "jax.nn.softmax in f64, with dx", kind="jax")

# Scores
for kind in ("additive", "bilinear", "dot", "scaled"):
    case(f"torch-score-{kind}", score, BOTH if kind == "additive" else "f64", {"op": "score", "score": kind},
         "n_q 5, n_k 7" + (", d_q 6, d_k 4" if kind == "bilinear" else ""), digits="f64")

# Attention with gradients
ATTENTION = {"op": "attention", "score": "scaled", "causal": "none", "empty-row": "zero", "layout": "bhnd"}
TOP_LEFT, BOTTOM_RIGHT = {"causal": "top-left"}, {"causal": "bottom-right"}
KEEP, DROP = {"mask-polarity": "keep"}, {"mask-polarity": "drop"}
case("torch-math-gradients", attention, ALL, ATTENTION, "plain path; n_q 5, n_k 7, d_k 4, d_v 6", digits="f64",
     shape=(5, 7, 4, 6), bf16=STORED_F32)
case("torch-fused-gradients", attention, BOTH, ATTENTION, "fused path, its own backward kernel", digits="f64",
     path="fused")
case("torch-fused-gradients-top-left", attention, "f64", ATTENTION | TOP_LEFT,
     "fused path, is_causal=True, n_q 5, n_k 6", path="fused")
case("torch-math-gradients-bottom-right", attention, "f64", ATTENTION | BOTTOM_RIGHT,
     "by an explicit mask, not in the dump; the first 2 rows see nothing", shape=(7, 5, 3, 3), heads=1)
case("torch-math-gradients-dead-row", attention, BOTH, ATTENTION | KEEP,
     "bool mask; row 2 sees no key: out and dq are 0", mask=dead_row)
case("torch-fused-gradients-dead-row", attention, "f64", ATTENTION | KEEP, "the same on the fused path", mask=dead_row,
     path="fused")
case("torch-math-gradients-float-mask", attention, BOTH, ATTENTION,
     "float mask per head, with -inf, and its gradient dmask", mask=float_mask)
case("torch-math-gradients-scale", attention, "f64", ATTENTION | {"scale": "0.3"}, "scale 0.3", shape=(5, 5, 3, 3),
     heads=1)
case("torch-math-gradients-gqa", attention, BOTH, ATTENTION, "4 heads read 2: dk and dv are sums", heads=4, kv_heads=2,
     shape=(4, 5, 3, 3))
case("torch-gradients-softcap", attention, BOTH, ATTENTION | {"softcap": "2"} | TOP_LEFT,
     "2 tanh(s/2), then the mask; autograd", path="textbook", shape=(5, 5, 3, 3))
case("jax-gradients-softcap", attention, "f64", ATTENTION | {"softcap": "1.5"}, "softcap 1.5 in JAX", path="jax",
     heads=1)
case("torch-flex-softcap-window", attention, "f64", ATTENTION | {"softcap": "2", "window": 3} | TOP_LEFT,
     "flex_attention with score_mod and mask_mod; forward alone", path="flex", shape=(7, 7, 3, 3))
case("torch-gradients-window", attention, "f64", ATTENTION | {"window": 3} | BOTTOM_RIGHT,
     "3 keys, self included; n_q 5, n_k 6", path="textbook")
case("torch-gradients-window-both", attention, "f64", ATTENTION | {"window": "2,1"},
     "2 keys to the left, 1 to the right", path="textbook", shape=(6, 6, 3, 3), heads=1)
case("torch-gradients-window-no-causal", attention, "f64", ATTENTION | {"window": 2},
     "W = 2 without causal: |i - j| < 2", path="textbook", shape=(6, 6, 3, 3), heads=1)
case("torch-gradients-sink", attention, "f64", ATTENTION, "an attention sink per head", path="textbook", sink=True)
case("torch-gradients-alibi", attention, "f64", ATTENTION | {"position": "alibi"} | BOTTOM_RIGHT,
     "ALiBi, slopes in the case", path="textbook", alibi=[0.5, 0.125])
case("torch-gradients-alibi-3-heads", attention, "f64", ATTENTION | {"position": "alibi"},
     "ALiBi, 3 heads, slopes 2^-4, 2^-8, 2^-2 by its author's rule", path="textbook", heads=3, shape=(5, 5, 3, 3),
     alibi=[2.0 ** -4, 2.0 ** -8, 2.0 ** -2], slopes=False)
case("torch-gradients-rope", attention, "f64",
     ATTENTION | {"position": "rope", "rope-pairing": "half", "rope-base": 10000},
     "q and k rotated at positions 0, 1, …", path="textbook", shape=(5, 5, 4, 4), heads=1)
case("torch-gradients-dropout", attention, "f64", ATTENTION | {"dropout-p": "0.25"},
     "dropout with its mask, True = kept", path="textbook", kept=True, heads=1)
case("torch-gradients-lengths", attention, "f64", ATTENTION, "k_lengths: 6 and 4 keys", path="textbook", batch=2,
     lengths=[6, 4], heads=1)

# Positions
ROPE = {"op": "rope", "rope-pairing": "interleaved", "rope-base": 10000, "position-offset": 0}
HALF = ROPE | {"rope-pairing": "half"}
case("torch-rope-interleaved", rope, ALL, ROPE, "complex multiplication, as in Llama's reference code", digits="f64",
     bf16=STORED_F32)
case("torch-rope-half", rope, BOTH, HALF, "rotate_half, as in GPT-NeoX", digits="f64")
case("torch-rope-interleaved-offset", rope, "f64", ROPE | {"position-offset": 1000, "rope-base": 500000},
     "offset 1000, base 500000")
case("torch-rope-half-partial", rope, BOTH, HALF | {"rope-dim": 4}, "the first 4 of 8 components")
case("torch-rope-half-positions", rope, "f64", HALF, "positions in the case, heads", positions=[3, 0, 7, 7, 100],
     shape=(2, 2, 5, 6))
SINE = {"op": "sinusoidal", "length": 7, "d-model": 8}
case("numpy-sinusoidal", sinusoidal, BOTH, SINE, "the paper's table")
case("numpy-sinusoidal-exp", sinusoidal, "f64", SINE, "rates by exp(-log(10000) 2i/d), as in PyTorch's tutorial",
     kind="exp")
case("numpy-sinusoidal-odd", sinusoidal, "f64", SINE | {"d-model": 5}, "d_model 5: 3 sines, 2 cosines")
LEARNED = {"op": "learned_position", "position-offset": 0}
case("torch-learned-position", learned_position, ALL, LEARNED, "nn.Embedding, 5 of 9 positions", bf16=STORED_F32)
case("torch-learned-position-offset", learned_position, "f64", LEARNED | {"position-offset": 2}, "from position 2")

# Feed-forward
FFN = {"op": "feed_forward", "activation": "relu", "weight-layout": "in_out"}
FFN_TORCH = {"op": "feed_forward", "activation": "gelu", "gelu": "erf", "names": "torch"}
case("torch-ffn-relu", feed_forward, BOTH, FFN, "attest's names, in_out; every gradient", digits="f64")
case("torch-ffn-relu-out-in", feed_forward, "f64", FFN | {"weight-layout": "out_in"}, "attest's names, out_in",
     grads="inputs")
case("torch-ffn-gelu", feed_forward, "f64", FFN_TORCH, "PyTorch's names; every gradient", shape=(5, 12), ff=16)
case("torch-ffn-gelu-tanh", feed_forward, "f64", FFN_TORCH | {"gelu": "tanh"}, "PyTorch's names; safetensors in f64",
     store="safetensors", shape=(5, 8), grads="inputs")
case("torch-ffn-gelu", feed_forward, "bf16", FFN_TORCH, "PyTorch's names; native bf16", store="safetensors")

# Multi-head attention
MHA = {"op": "multi_head_attention", "heads": 2, "causal": "none", "names": "torch"}
OWN = {"op": "multi_head_attention", "heads": 4, "causal": "none", "weight-layout": "in_out"}
case("torch-mha", multi_head, BOTH, MHA, "self-attention, every gradient, weights per head", digits="f64", weights=True)
case("torch-mha", multi_head, "bf16", MHA, "self-attention, every gradient; native bf16", store="safetensors")
case("torch-mha-mean", multi_head, "f64", MHA | {"weights": "mean", "heads": 3},
     "d_model 12, 3 heads, weights averaged", d=12, weights=True, grads="none")
case("torch-mha-cross", multi_head, "f64", MHA,
     "memory of another length and width (kdim = vdim = 6): q_proj_weight, …", m=7, kdim=6)
case("torch-mha-cross-same", multi_head, "f64", MHA, "memory of the same width: in_proj_weight", m=7, grads="inputs")
case("torch-mha-no-bias", multi_head, "f64", MHA | {"heads": 4}, "bias=False, 4 heads", bias=False, grads="inputs")
case("torch-mha-padding", multi_head, "f64", MHA | DROP, "key_padding_mask, True = padding", mask="padding",
     grads="inputs", batch=2)
case("torch-mha-mask", multi_head, "f64", MHA | DROP, "bool attn_mask [n,n]", mask="bool", grads="inputs", weights=True)
case("torch-mha-mask-per-head", multi_head, "f64", MHA | DROP, "bool attn_mask [b H,n,n], here [b,H,n,n]",
     mask="per-head", grads="inputs", batch=2)
case("torch-mha-dead-row", multi_head, "f64", MHA | DROP | {"empty-row": "zero"}, "row 2 sees no key: out is b_o",
     mask="dead", leaves_out=".*(weight|_bias).grad")
case("torch-mha-float-mask", multi_head, "f64", MHA, "float attn_mask", mask="float", grads="inputs")
case("torch-mha-causal", multi_head, BOTH, MHA | TOP_LEFT, "is_causal=True", mask="causal", grads="inputs")
case("torch-mha-nbd", multi_head, "f64", MHA | {"layout": "nbd"}, "batch_first=False, cross", m=6, grads="inputs",
     batch=2)
case("torch-mha-fast", multi_head, "f64", MHA, "eval without gradients: the fused kernel", fast=True, bias=True,
     batch=2)
case("torch-own-mha-gqa", own_multi_head, "f64", OWN | {"kv-heads": 2},
     "attest's names; 4 heads read 2, H d_k = d_model", d=8, d_k=2)
case("torch-own-mha-unequal", own_multi_head, "f64", OWN | {"heads": 2}, "attest's names; H d_k = 10, d_model 7", d=7,
     d_k=5, bias=False, leaves_out="d[wb]_.")
case("torch-own-mha-rope", own_multi_head, "f64",
     OWN | TOP_LEFT | {"heads": 2, "position": "rope", "rope-pairing": "interleaved", "rope-base": 10000},
     "RoPE inside, causal; attest's names", d=8, d_k=4, bias=False, leaves_out="d[wb]_.")

# Layers
ENCODER_LAYER = {"op": "encoder_layer", "heads": 2, "norm": "post", "eps": "1e-5", "eps-placement": "variance",
                 "variance": "biased", "activation": "relu", "causal": "none", "names": "torch"}
DECODER_LAYER = ENCODER_LAYER | {"op": "decoder_layer", "causal": "top-left"}
PRE, GELU_ERF = {"norm": "pre"}, {"activation": "gelu", "gelu": "erf"}
case("torch-encoder-layer-post-relu", block, "f64", ENCODER_LAYER, "every gradient", grads="all", bias=True, batch=2,
     digits="f64")
case("torch-encoder-layer-post-relu", block, "f32", ENCODER_LAYER,
     "gradients of x and of what is not attention; bias=False", grads="all", leaves_out="self_attn.*grad")
case("torch-encoder-layer-post-gelu", block, "f64", ENCODER_LAYER | GELU_ERF | {"heads": 3},
     "d_model 12, 3 heads, d_ff 32", d=12, ff=32, grads="inputs")
case("torch-encoder-layer-pre-relu", block, "f64", ENCODER_LAYER | PRE, "every intermediate; bias=False", stages=True,
     grads="inputs")
case("torch-encoder-layer-pre-gelu", block, "f64", ENCODER_LAYER | PRE | GELU_ERF, "gradient of x; bias=False",
     grads="inputs")
case("torch-encoder-layer-post-gelu-tanh", block, "f64", ENCODER_LAYER | GELU_ERF | {"gelu": "tanh"},
     "every intermediate", stages=True)
case("torch-encoder-layer-fast-post", block, BOTH, ENCODER_LAYER, "eval without gradients: the fused kernel", fast=True,
     bias=True)
case("torch-encoder-layer-fast-pre", block, "f64", ENCODER_LAYER | PRE | GELU_ERF, "the fused kernel, pre-norm, GELU",
     fast=True, bias=True)
case("torch-encoder-layer-padding", block, "f64", ENCODER_LAYER | DROP, "src_key_padding_mask", padding=True,
     grads="inputs", batch=2)
case("torch-encoder-layer-causal", block, "f64", ENCODER_LAYER | PRE | TOP_LEFT, "causal, as in a decoder-only model",
     grads="inputs")
NAMES = {"names": "attest", "weight-layout": "in_out"}
case("torch-encoder-layer-names", block, "f64", ENCODER_LAYER | NAMES, "attest's names, in_out, every gradient",
     grads="all")
case("torch-encoder-layer-annotated", block, "f64",
     ENCODER_LAYER | PRE | NAMES | {"eps": "1e-6", "eps-placement": "std", "variance": "unbiased"},
     "the textbook norm (sigma + eps, unbiased) in nn.TransformerEncoderLayer", norms=(1e-6, "std", "unbiased"),
     grads="inputs")
case("torch-encoder-layer", block, "bf16", ENCODER_LAYER | GELU_ERF, "native bf16", store="safetensors", stages=True,
     bias=True, batch=2)
case("torch-encoder-layer-npz", block, "bf16", ENCODER_LAYER | PRE, "bf16 in .npz")
case("torch-decoder-layer-post-relu", block, "f64", DECODER_LAYER, "every gradient; bias=False", grads="all",
     digits="f64")
case("torch-decoder-layer-post-relu", block, "f32", DECODER_LAYER, "gradients of the inputs; bias=False",
     grads="inputs")
case("torch-decoder-layer-post-gelu", block, "f64", DECODER_LAYER | GELU_ERF, "with biases; gradients of the inputs",
     grads="inputs", bias=True)
case("torch-decoder-layer-pre-relu", block, "f64", DECODER_LAYER | PRE, "every intermediate", stages=True)
case("torch-decoder-layer-pre-gelu", block, "f64", DECODER_LAYER | PRE | GELU_ERF | {"heads": 3},
     "d_model 12, 3 heads, d_ff 16; bias=False", d=12, ff=16, grads="inputs")
case("torch-decoder-layer-padding", block, "f64", DECODER_LAYER | DROP, "padding in target and memory, causal",
     padding=True, batch=2)
case("torch-decoder-layer-not-causal", block, "f64", DECODER_LAYER | {"causal": "none"} | NAMES,
     "attest's names; no causal mask")
case("torch-decoder-layer", block, "bf16", DECODER_LAYER | PRE, "native bf16", store="safetensors", bias=True)

# Stacks
ENCODER, DECODER = ENCODER_LAYER | {"op": "encoder"}, DECODER_LAYER | {"op": "decoder"}
case("torch-encoder-pre", block, "f64", ENCODER | PRE | GELU_ERF, "nn.TransformerEncoder, 2 layers and final norm",
     grads="inputs", batch=2)
case("torch-encoder-post", block, "f32", ENCODER | GELU_ERF, "2 layers and final norm")
case("torch-encoder-post", block, "f64", ENCODER, "2 layers, no final norm; gradients of layer 0 and of x",
     final_norm=False, grads="first")
case("torch-encoder-stages", block, "f64", ENCODER | PRE, "2 layers and final norm, every intermediate", stages=True,
     n=4)
case("torch-decoder-pre", block, "f64", DECODER | PRE | GELU_ERF, "nn.TransformerDecoder, 2 layers and final norm",
     grads="inputs")
case("torch-decoder-pre", block, "f32", DECODER | PRE, "2 layers and final norm")
case("torch-decoder-post", block, "f64", DECODER,
     "2 layers and final norm; gradients of cross-attention and norms of layer 0, and of the inputs", grads="first",
     leaves_out=r"layers.0.(self|linear).*grad")


# Wrong dumps. Weights
PLAIN = dict(grads="none")
FORWARD = "dout|d[a-z][a-z_0-9]*"
for at, letter in enumerate("qkv"):
    case(f"wrong-mha-w-{letter}-transposed", multi_head, "f64", MHA, f"w_{letter} transposed, square",
         change=transposed("in_proj_weight", at), bias=False, **PLAIN)
case("wrong-mha-w-o-transposed", multi_head, "f64", MHA, "w_o transposed, square", change=transposed("out_proj.weight"),
     bias=False, **PLAIN)
case("wrong-mha-heads-swapped", multi_head, "f64", MHA, "heads 0 and 1 change places before w_o",
     change=heads_swapped("out_proj.weight", 2), bias=False, **PLAIN)
case("wrong-mha-bias-dropped", multi_head, "f64", MHA, "b_q, b_k, b_v left out", change=zeroed("in_proj_bias"), **PLAIN)
case("wrong-mha-out-bias-dropped", multi_head, "f64", MHA, "b_o left out", change=zeroed("out_proj.bias"), **PLAIN)
case("wrong-mha-qvk", multi_head, "f64", MHA, "in_proj read in the order q, v, k",
     change=reordered("in_proj_", (0, 2, 1)), **PLAIN)
case("wrong-mha-polarity", multi_head, "f64", MHA | KEEP,
     "True = may not be seen, where True = may be seen is declared", mask="bool", bias=False, **PLAIN)
case("wrong-mha-mask-batch-major", multi_head, "f64", MHA | DROP,
     "masks of b samples and H heads laid out in the other order", mask="batch-major", batch=2, bias=False, **PLAIN)
case("wrong-mha-causal-missing", multi_head, "f64", MHA | TOP_LEFT, "causal not applied", bias=False, **PLAIN)
case("wrong-mha-batch-second", multi_head, "f64", MHA | {"layout": "nbd"}, "attends across the batch; batch = n",
     batch=4, n=4, change=attribute("batch_first", True), bias=False, **PLAIN)
case("wrong-mha-dead-row-nan", multi_head, "f64", MHA | DROP | {"empty-row": "zero"},
     "row 2 sees no key, weights are asked for: softmax gives NaN, and NaN gets into the gradients of all weights",
     mask="dead", weights=True, bias=False)
case("wrong-mha-gradient-bias", multi_head, "f64", MHA, "in_proj_bias.grad averaged over the batch, not summed",
     batch=2, leaves_out=".*weight.grad|dx", spoil=put("in_proj_bias.grad", lambda t: t["in_proj_bias.grad"] / 2))
case("wrong-mha-gradient-transposed", multi_head, "f64", MHA, "out_proj.weight.grad transposed, square", bias=False,
     leaves_out="in_proj.*grad|dx", spoil=put("out_proj.weight.grad", lambda t: t["out_proj.weight.grad"].T))
case("wrong-own-mha-scale", own_multi_head, "f64", OWN | {"heads": 2}, "1/d_k for 1/sqrt(d_k)", d=8, d_k=4, bias=False,
     does={"scale": 0.25}, leaves_out=FORWARD)
case("wrong-own-mha-gqa-tile", own_multi_head, "f64", OWN | {"kv-heads": 2}, "head h reads key-value head h mod 2",
     does={"gqa": "tile"}, d=8, d_k=2, bias=False, leaves_out=FORWARD)
case("wrong-ffn-w-1-transposed", feed_forward, "f64", FFN, "w_1 transposed, d_ff = d_model", ff=8,
     change=transposed("linear1.weight"), grads="inputs", leaves_out=FORWARD)
case("wrong-ffn-gelu-tanh", feed_forward, "f64", FFN_TORCH, "the tanh form where erf is declared",
     does={"gelu": "tanh"}, grads="inputs")

# Wrong dumps. Element-wise, norms, positions
case("wrong-gelu-tanh", activation, "f64", {"op": "gelu", "gelu": "erf"}, "the tanh form where erf is declared",
     does={"gelu": "tanh"})
case("wrong-gelu-sigmoid", activation, "f64", {"op": "gelu", "gelu": "tanh"}, "the sigmoid form where tanh is declared",
     does={"gelu": "sigmoid"})
case("wrong-layer-norm-eps", layer_norm, "f64", NORM, "eps 1e-6", does={"eps": "1e-6"}, spread=0.01, leaves_out=FORWARD)
case("wrong-layer-norm-std", layer_norm, "f64", NORM, "sigma + eps for sqrt(sigma^2 + eps)",
     does={"eps-placement": "std"}, kind="textbook", spread=0.01, leaves_out=FORWARD)
case("wrong-layer-norm-unbiased", layer_norm, "f64", NORM, "variance over d - 1", does={"variance": "unbiased"},
     kind="textbook", spread=0.01, leaves_out=FORWARD)
case("wrong-layer-norm-dgamma", layer_norm, "f64", NORM, "dgamma of the last row alone, not summed over the batch",
     spoil=put("dgamma", lambda t: (t["dout"] * (t["out"] - t["beta"]) / t["gamma"])[-1, -1]), leaves_out="dx|dbeta")
case("wrong-layer-norm-dx", layer_norm, "f64", NORM, "dx without the mean of gamma dout taken off",
     spoil=put("dx", lambda t: t["dx"] + (t["gamma"] * t["dout"]).mean(-1, keepdim=True)), leaves_out="dgamma|dbeta")
case("wrong-rms-norm-eps", layer_norm, "f64", RMS, "eps 1e-5 where 1e-6 is declared", does={"eps": "1e-5"}, spread=0.01,
     leaves_out=FORWARD)
case("wrong-rope-pairing", rope, "f64", HALF, "interleaved pairs where halves are declared",
     does={"rope-pairing": "interleaved"}, leaves_out=FORWARD)
case("wrong-rope-base", rope, "f64", HALF, "base 1000", does={"rope-base": 1000}, leaves_out=FORWARD)
case("wrong-rope-offset", rope, "f64", ROPE | {"position-offset": 3}, "offset forgotten", does={"position-offset": 0},
     leaves_out=FORWARD)
case("wrong-rope-angles-f32", rope, "f64", ROPE | {"position-offset": 1000}, "angles computed in f32",
     does={"angles": "f32"}, leaves_out=FORWARD)
case("wrong-rope-dx", rope, "f64", ROPE, "dx rotated on, not back", opposite=True)
case("wrong-sinusoidal-exponent", sinusoidal, "f64", SINE, "exponent c/d for 2 floor(c/2)/d", kind="exponent")
case("wrong-sinusoidal-concatenated", sinusoidal, "f64", SINE, "sines, then cosines", kind="concatenated")
case("wrong-learned-position", learned_position, "f64", LEARNED, "positions begin at 2", does={"position-offset": 2})

# Wrong dumps. Attention and softmax
case("wrong-score-additive", score, "f64", {"op": "score", "score": "additive"}, "W_1 q + W_2 k for W_1 k + W_2 q",
     swap=True)
case("wrong-softmax-dx", softmax, "f64", SOFTMAX, "dx = weights dout, without the sum over the row", missing_term=True)
case("wrong-gradients-swapped", attention, "f64", ATTENTION, "dk and dv change places", spoil=swap("dk", "dv"),
     path="fused", leaves_out="dq")
case("wrong-gradients-no-d", attention, "f64", ATTENTION, "dS = P dP, without D_i",
     spoil=lambda t: t.update(without_d(t)))
case("wrong-gradients-scale", attention, "f64", ATTENTION, "dq without the scale",
     spoil=put("dq", lambda t: t["dq"] * 3 ** 0.5), leaves_out="d[kv]")
case("wrong-gradients-nan", attention, "f64", ATTENTION | KEEP, "row 2 sees no key: its dq and all of dk are NaN, out is right",
     mask=dead_row, spoil=lambda t: t.update(nan_gradients(t)))
case("wrong-gradients-gqa", attention, "f64", ATTENTION, "dk of the last head of each group, not the sum", heads=4,
     kv_heads=2, shape=(4, 5, 3, 3), spoil=lambda t: t.update(last_of_group(t)))
case("wrong-gradients-dmask", attention, "f64", ATTENTION, "dmask of the wrong sign", mask=float_mask,
     spoil=put("dmask", lambda t: -t["dmask"]), leaves_out="d[qkv]")
case("wrong-softcap-after-mask", attention, "f64", ATTENTION | {"softcap": "2"} | TOP_LEFT,
     "mask, then cap: masked scores are -2", does={"cap-after-mask": True}, path="textbook", shape=(5, 5, 3, 3),
     leaves_out=FORWARD)
case("wrong-window-short", attention, "f64", ATTENTION | {"window": 3} | BOTTOM_RIGHT, "2 keys for 3",
     does={"window": 2}, path="textbook", leaves_out=FORWARD)
case("wrong-gqa-tile", attention, "f64", ATTENTION, "head h reads key-value head h mod 2", does={"gqa": "tile"},
     path="textbook", heads=4, kv_heads=2, shape=(4, 5, 3, 3), leaves_out=FORWARD)

# Wrong dumps. Layers and stacks
for norm, other in (("post", True), ("pre", False)):
    case(f"wrong-encoder-layer-{norm}", block, "f64", ENCODER_LAYER | {"norm": norm},
         f"{norm}-norm declared, the other done", change=attribute("norm_first", other))
case("wrong-encoder-layer-heads-swapped", block, "f64", ENCODER_LAYER, "heads 0 and 1 change places before w_o",
     change=heads_swapped("self_attn.out_proj.weight", 2))
case("wrong-encoder-layer-w-1", block, "f64", ENCODER_LAYER | PRE, "linear1.weight transposed, d_ff = d_model", ff=8,
     change=transposed("linear1.weight"))
case("wrong-encoder-layer-gelu", block, "f64", ENCODER_LAYER | GELU_ERF, "the tanh form where erf is declared",
     change=attribute("activation", GELU["tanh"]))
case("wrong-encoder-layer-eps", block, "f64", ENCODER_LAYER | PRE, "eps 1e-6 in norm1; x has a small variance",
     spread=0.01, change=attribute("norm1.eps", 1e-6))
case("wrong-encoder-layer-residual", block, "f64", ENCODER_LAYER | PRE, "the residual is taken from the normed x",
     change=residual_from_normed)
case("wrong-encoder-layer-norm-reused", block, "f64", ENCODER_LAYER, "norm1 in place of norm2",
     change=attribute("norm2", lambda m: m.norm1))
case("wrong-encoder-layer-polarity", block, "f64", ENCODER_LAYER | DROP, "the padding mask inverted", padding=True,
     inverted=True, batch=2)
case("wrong-encoder-layer-gradient", block, "f64", ENCODER_LAYER | NAMES, "norm1.dgamma and norm2.dgamma change places",
     grads="all", spoil=swap("norm1.dgamma", "norm2.dgamma"), leaves_out=".*dw_.*|dx")
case("wrong-encoder-layer-dx", block, "f64", ENCODER_LAYER | PRE, "dx without the residual's share", grads="inputs",
     spoil=put("dx", lambda t: t["dx"] - t["dout"]))
case("wrong-encoder-layer-stage-attention", block, "f64", ENCODER_LAYER,
     "w_o transposed; first bad stage self_attn.out, all later ones follow from it", stages=True,
     change=transposed("self_attn.out_proj.weight"))
case("wrong-encoder-layer-stage-ffn", block, "f64", ENCODER_LAYER | PRE,
     "linear2.weight transposed, d_ff = d_model; first bad stage ffn.out, the later one follows from it", stages=True,
     ff=8, change=transposed("linear2.weight"))
case("wrong-encoder-layer-stage-alone", block, "f64", ENCODER_LAYER,
     "self_attn.out was dumped without its bias, and out is right; first bad stage self_attn.out", stages=True,
     bias=True, spoil=put("self_attn.out", lambda t: t["self_attn.out"] - t["self_attn.out_proj.bias"]))
case("wrong-decoder-layer-norm", block, "f64", DECODER_LAYER, "post-norm declared, pre-norm done",
     change=attribute("norm_first", True))
case("wrong-decoder-layer-causal", block, "f64", DECODER_LAYER, "self-attention sees the future", acting_causal="none")
case("wrong-decoder-layer-memory", block, "f64", DECODER_LAYER, "cross-attention reads x, not the memory",
     memory_is_x=True, m=4)
case("wrong-decoder-layer-cross-transposed", block, "f64", DECODER_LAYER | PRE, "w_k of cross-attention transposed",
     change=transposed("multihead_attn.in_proj_weight", 1))
case("wrong-decoder-layer-stage-cross", block, "f64", DECODER_LAYER | PRE,
     "cross-attention's heads change places; first bad stage cross_attn.out, all later ones follow from it",
     stages=True, change=heads_swapped("multihead_attn.out_proj.weight", 2))
case("wrong-encoder-norm-missing", block, "f64", ENCODER | PRE, "final norm left out, 1 layer", layers=1,
     change=attribute("norm", None))
case("wrong-decoder-norm-missing", block, "f64", DECODER | PRE, "final norm left out, 1 layer", layers=1,
     change=attribute("norm", None))


# The command line wins over attest.json: the same files under another declaration.
AGAIN = [
    ("wrong-gelu-tanh-f64.npz", "right", "--gelu tanh"),
    ("torch-gelu-erf-f64.npz", "wrong", "--gelu tanh"),
    ("wrong-gelu-sigmoid-f64.npz", "right", "--gelu sigmoid"),
    ("wrong-layer-norm-eps-f64.npz", "right", "--eps 1e-6"),
    ("wrong-layer-norm-std-f64.npz", "right", "--eps-placement std"),
    ("wrong-layer-norm-unbiased-f64.npz", "right", "--variance unbiased"),
    ("torch-layer-norm-f64.npz", "wrong", "--variance unbiased"),
    ("torch-layer-norm-f64.npz", "wrong", "--eps 1e-6"),
    ("wrong-rope-pairing-f64.npz", "right", "--rope-pairing interleaved"),
    ("wrong-rope-base-f64.npz", "right", "--rope-base 1000"),
    ("wrong-rope-offset-f64.npz", "right", "--position-offset 0"),
    ("torch-rope-half-partial-f64.npz", "wrong", "--rope-dim 8"),
    ("wrong-learned-position-f64.npz", "right", "--position-offset 2"),
    ("wrong-mha-polarity-f64.npz", "right", "--mask-polarity drop"),
    ("torch-mha-mask-f64.npz", "wrong", "--mask-polarity keep"),
    ("wrong-mha-causal-missing-f64.npz", "right", "--causal none"),
    ("wrong-own-mha-scale-f64.npz", "right", "--scale 0.25"),
    ("torch-mha-no-bias-f64.npz", "wrong", "--heads 2"),
    ("wrong-ffn-gelu-tanh-f64.npz", "right", "--gelu tanh"),
    ("torch-ffn-relu-f64.npz", "wrong", "--activation gelu"),
    ("wrong-ffn-w-1-transposed-f64.npz", "wrong", "--weight-layout out_in"),
    ("wrong-window-short-f64.npz", "right", "--window 2"),
    ("torch-gradients-softcap-f64.npz", "wrong", "--softcap 3"),
    ("wrong-encoder-layer-post-f64.npz", "right", "--norm pre"),
    ("wrong-encoder-layer-pre-f64.npz", "right", "--norm post"),
    ("torch-encoder-layer-post-relu-f64.npz", "wrong", "--norm pre"),
    ("wrong-encoder-layer-gelu-f64.npz", "right", "--gelu tanh"),
    ("wrong-decoder-layer-causal-f64.npz", "right", "--causal none"),
    ("wrong-decoder-layer-norm-f64.npz", "right", "--norm pre"),
    ("torch-encoder-pre-f64.npz", "wrong", "--norm post"),
]


# --- Running a case ---------------------------------------------------------------------------------------------------

def array(t):
    a = from_torch(t.detach().clone()) if isinstance(t, torch.Tensor) else np.asarray(t)
    return np.ascontiguousarray(a)


def write_npz(path, arrays, texts):
    """What numpy.savez_compressed writes, with a fixed date, without ZIP64 fields (make.py's have them), with texts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in [(n + ".npy", a) for n, a in arrays.items()] + list(texts.items()):
            if not isinstance(data, str):
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, data, allow_pickle=False)
                data = buffer.getvalue()
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, data, compresslevel=9)


def order_metadata(file):
    """safetensors writes the texts in an order that changes from run to run: put them in the order of their names."""
    data = file.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(len(text).to_bytes(8, "little") + text + data[end:])


def run_case(c, folder):
    """Makes the tensors of a case and writes its file; the same name and table give the same file."""
    seed = zlib.crc32(c["name"].encode())
    wrong = c["name"].startswith("wrong-")
    g = Source(seed, "f16" if wrong else c["digits"])
    given = {"does": c["does"]} if c["does"] else {}
    made = c["run"](g, c["fmt"], c["says"], **given, **c["how"])
    arrays = {n: array(t) for n, t in made.tensors.items() if not re.fullmatch(c["leaves_out"] or "", n)}
    says = c["says"] | {"arithmetic": c["arithmetic"]}
    versions = {k: v for k, v in (VERSIONS | {"safetensors": safetensors.__version__}).items()
                if k.startswith(made.library) or k == c["store"]}
    provenance = {"what": c["note"], "verdict": "wrong" if wrong else "right",
                  **({"did_instead": c["does"] or c["note"]} if wrong else {}),
                  "implementation": c["run"].__name__, "path": made.path.split(";")[0] if wrong else made.path,
                  "seed": seed, "versions": versions}
    file = folder / f"{c['name']}.{c['store']}"
    if c["store"] == "npz":
        write_npz(file, arrays, {"attest.json": json.dumps(says) + "\n",
                                 "provenance.json": json.dumps(provenance) + "\n"})
    else:
        texts = {"attest": json.dumps(says), "provenance": json.dumps(provenance)}
        safetensors.torch.save_file({n: to_torch(a) for n, a in arrays.items()}, file, texts)
        order_metadata(file)
    return file


PYTHON = make.platform.python_implementation() + " " + make.platform.python_version()
# Relative to the greatest of its tensor, each element of a right dump is this near to the exact one.
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
    # Softmax, scores and attention have limits in every arithmetic; the other blocks not yet.
    derived = any(part in name for part in ("softmax", "score", "math-gradients", "fused-gradients", "gradients-softcap"))
    return "right" if fmt == "f64" or exact or derived else "undecided"


def settings(options):
    words = options.split()
    return {key.removeprefix("--"): value for key, value in zip(words[::2], words[1::2])}


HEAD = """# file, class (right: exit status 0, wrong: 1, undecided: 3), further options of `attest check`, # comment
# Written by make_blocks.py. A file may stand in several lines. In [ ]: candidates that are off, computed from the
# inputs alone, and the greatest distance of any element from its exact value (elements that are 0 left out).
"""


def expected(lines):
    """expected.txt, as make.py writes it, with one class more."""
    made = ", ".join(f"{n} {v}" for n, v in (VERSIONS | {"safetensors": safetensors.__version__}).items())
    width = max(len(name) for name, *_ in lines) + 1
    row = lambda name, kind, options, note: f"{name:{width}} {kind:9}  {options:26}  # {note}\n"
    return HEAD + f"# {PYTHON}, {made}\n# on {PLATFORM}\n" + "".join(row(*line) for line in lines)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent).resolve() / "blocks"
    folder.mkdir(parents=True, exist_ok=True)
    only, lines, total = sys.argv[2:], [], 0
    for c in CASES:
        if only and c["name"] not in only:
            continue
        file = run_case(c, folder)
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
        off = f"off: {', '.join(bad) if len(bad) < 4 else f'{len(bad)} of {len(result)}'}; " if bad else ""
        lines.append((file.name, kind, options, f"{c['note']} [{off}{ulps:.3g} ULP]"))
    if only:
        return
    for name, kind, options in AGAIN:
        members, says = read(folder / name)
        off = max(r[-1] for r in judged(members, says | settings(options)).values())
        assert off < GUARD["f64"] if kind == "right" else off > GUARD_WRONG, (name, options, off)
        meant = "the convention it follows" if name.startswith("wrong-") and kind == "right" else "another declaration"
        lines.append((name, kind, options, meant + "; the command line wins"))
    (folder / "expected.txt").write_text(expected(lines))
    print(f"{len({line[0] for line in lines})} dumps, {total} bytes")
    for stray in sorted(f.name for f in folder.iterdir() if f.suffix in (".npz", ".safetensors")
                        and f.name not in {line[0] for line in lines}):
        print(f"not made by this script: {stray}")


if __name__ == "__main__":
    main()
