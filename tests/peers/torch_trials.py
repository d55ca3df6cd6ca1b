#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Real kernels before attest: PyTorch's scaled_dot_product_attention on the CPU, plain and fused, forward and backward.

    torch_trials.py [--attest PROGRAM] [--runs N] [--keep FOLDER]

Every case is one problem (a format, inputs, a shape) through one path of PyTorch: out, and dq, dk, dv by its own autograd. It is written as .safetensors and given
to `attest check`, which may answer exact or consistent; undecided is right where nothing can be judged (it is counted, and told). Anything else is a false fail: exit 1.
A line of the table counts the runs of one path, format and family of inputs; --runs (default 3) is how many there are, each with other numbers and another shape.
--keep FOLDER keeps the cases there. Without PyTorch it says so and exits with 77 (skipped).

What each path does, as its operators tell (the names that ran are looked at, not what was asked for):

- fused: the flash kernel for CPU; scores and sums in f32; 16-bit weights are stored before the products with v and dout, and dS before those with q and k: X+f32.
  Its backward stores dk and dv in the 16-bit format after every 32 queries, which X+f32 does not allow: with more queries `inaccurate` is right for them. Such a
  verdict is no false fail if dv is what that makes of it, computed here in double (at most 1 in 100 elements differs, and more do without those stores).
- plain: 16-bit inputs are converted to f32, and everything is f32 until the last store of each output: X+f32.
- plain, reduced: q and k times sqrt(scale), scores, weights and all gradients are stored in 16 bits: X.
- spelled out: matmul, softmax and matmul of one's own, with autograd, in the format of the inputs: X, or f32.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the same order of every sum
try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:
    print("skipped: no PyTorch (2.3 or newer)")
    sys.exit(77)

torch.set_num_threads(1)

FORMATS = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
SAFETENSORS = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16"}
# heads, queries, keys, d
SHAPES = [(2, 16, 16, 16), (1, 33, 33, 64), (1, 64, 64, 32), (1, 7, 300, 16), (1, 1, 683, 64), (1, 100, 5, 8)]


# --- Inputs -----------------------------------------------------------------------------------------------------------

def normal(random, shape, mean=0.0, spread=1.0):
    return mean + spread * torch.randn(shape, generator=random, dtype=torch.float64)


def repeat_rows(x, period):
    return x[..., torch.arange(x.shape[-2]) % min(period, x.shape[-2]), :]


def family(name, random, heads, n_q, n_k, d):
    """q, k, v, dout in float64, before they are rounded to the stored format."""
    q, k, v, dout = (normal(random, (1, heads, n, d)) for n in (n_q, n_k, n_k, n_q))
    if name == "q = 0":
        q = torch.zeros_like(q)
    elif name == "repeated tokens":
        k, v = repeat_rows(k, 3), repeat_rows(v, 3)
    elif name == "one token":
        k, v = repeat_rows(k, 1), repeat_rows(v, 1)
    elif name == "v mean 4":
        v = normal(random, v.shape, 4, 0.25)
    elif name == "k = v":
        v = k
    elif name == "logits 10":
        q = 10 * q
    elif name == "logits 100":
        q = 100 * q
    elif name == "spread 1e-3":  # keys that differ in their last component alone
        k[..., :-1] = k[..., :1, :-1]
        q[..., -1] = 1e-3 * math.sqrt(d)
    elif name == "k, v, dout mean 4":
        k, v, dout = (normal(random, x.shape, 4, 0.25) for x in (k, v, dout))
    return q, k, v, dout


FAMILIES = ["normal", "causal", "q = 0", "repeated tokens", "one token", "v mean 4", "k = v", "logits 10", "logits 100", "spread 1e-3", "k, v, dout mean 4"]


# --- The paths --------------------------------------------------------------------------------------------------------

class Recorder(TorchDispatchMode):
    """The names of the operators that really ran."""

    def __init__(self):
        super().__init__()
        self.ops = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ops.add(func._schema.name.removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


def sdpa(backend, reduced=False):
    def run(q, k, v, causal):
        torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(reduced)  # despite its name, for the CPU as well
        try:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        finally:
            torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    return run


def spelled_out(q, k, v, causal):
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.mT
    if causal:
        hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -math.inf)
    return torch.softmax(scores, -1) @ v


FUSED = "_scaled_dot_product_flash_attention_for_cpu"
# name, function, whether the fused operator must have run, arithmetic for a format
PATHS = [
    ("fused", sdpa(SDPBackend.FLASH_ATTENTION), True, lambda f: f if f == "f32" else f + "+f32"),
    ("plain", sdpa(SDPBackend.MATH), False, lambda f: f if f == "f32" else f + "+f32"),
    ("plain, reduced", sdpa(SDPBackend.MATH, True), False, lambda f: None if f == "f32" else f),
    ("spelled out", spelled_out, False, lambda f: f),
]


def forward_and_backward(path, is_fused, inputs, causal):
    q, k, v, dout = inputs
    q, k, v = (x.detach().clone().requires_grad_() for x in (q, k, v))
    with Recorder() as recorder:
        out = path(q, k, v, causal)
        dq, dk, dv = torch.autograd.grad(out, (q, k, v), dout)
    if (FUSED in recorder.ops) != is_fused or (FUSED + "_backward" in recorder.ops) != is_fused:
        raise RuntimeError(f"another path ran than was asked for: {sorted(recorder.ops)}")
    return {"out": out.detach(), "dq": dq, "dk": dk, "dv": dv}


# --- Cases and checks -------------------------------------------------------------------------------------------------

def write_case(file, tensors, settings):
    """A .safetensors file, by hand: eight bytes of length, a JSON header, the bytes."""
    header, data = {"__metadata__": {"attest": json.dumps(settings)}}, []
    at = 0
    for name, x in tensors.items():
        raw = x.contiguous().view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": SAFETENSORS[x.dtype], "shape": list(x.shape), "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def stored_between_blocks(tensors, causal):
    """Whether dv is what storing it after every 32 queries makes of it, and not what one sum does."""
    q, k, dout = (tensors[name].double() for name in ("q", "k", "dout"))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    weights = torch.softmax(scores, -1).to(tensors["dv"].dtype).double()

    def differ(block):
        dv = torch.zeros_like(tensors["dv"])
        for first in range(0, q.shape[-2], block):
            rows = slice(first, first + block)
            dv = (dv.double() + weights[..., rows, :].transpose(-1, -2) @ dout[..., rows, :]).to(dv.dtype)
        return (dv != tensors["dv"]).sum().item()

    return differ(32) <= tensors["dv"].numel() // 100 and differ(32) < differ(q.shape[-2])


def number(x):
    return float(x) if isinstance(x, (int, float)) else float("nan") if x is None else float(x)


class Line:
    def __init__(self):
        self.verdicts = collections.Counter()
        self.share = collections.defaultdict(float)

    def text(self):
        counts = " ".join(f"{self.verdicts[v]:6}" for v in VERDICTS)
        return counts + "  " + " ".join(f"{name} {self.share[name]:.2f}" for name in ("out", "dq", "dk", "dv"))


VERDICTS = ["exact", "consistent", "undecided", "suspicious", "inaccurate", "wrong"]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--attest", default="attest", help="the program (default: attest, from PATH)")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("--only", default="", help="families or paths with this in their name")
    given = options.parse_args()
    program = shutil.which(given.attest)
    if program is None:
        print(f"{given.attest}: no such program; build attest, and give --attest PROGRAM", file=sys.stderr)
        return 2

    print(f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}; the numbers after the verdicts: greatest ULP distance over the expected limit there")
    print(f"{'path':15} {'arithmetic':9} {'inputs':18} " + " ".join(f"{v[:6]:>6}" for v in VERDICTS))
    fails, between, total, seed = 0, 0, collections.Counter(), 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for path_name, path, is_fused, arithmetic_of in PATHS:
            for format_name, dtype in FORMATS.items():
                arithmetic = arithmetic_of(format_name)
                if arithmetic is None:
                    continue
                for name in FAMILIES:
                    if given.only not in name and given.only not in path_name:
                        continue
                    line = Line()
                    for run in range(given.runs):
                        seed += 1
                        random = torch.Generator().manual_seed(seed)
                        heads, n_q, n_k, d = SHAPES[(seed if run else 0) % len(SHAPES)]
                        causal = name == "causal"
                        if causal:
                            n_k = n_q
                        inputs = [x.to(dtype) for x in family(name, random, heads, n_q, n_k, d)]
                        made = forward_and_backward(path, is_fused, inputs, causal)
                        tensors = dict(zip(("q", "k", "v", "dout"), inputs)) | made
                        settings = {"op": "attention", "arithmetic": arithmetic} | ({"causal": "top-left"} if causal else {})
                        file = folder / f"torch-{path_name}-{arithmetic}-{name}-{run}.safetensors".replace(" ", "-").replace(",", "").replace("=", "is")
                        write_case(file, tensors, settings)
                        done = subprocess.run([program, "check", str(file), "--json"], capture_output=True, text=True)
                        if done.returncode not in (0, 1, 3):
                            print(f"  TROUBLE: {file.name}: exit {done.returncode}: {done.stderr.strip()} {done.stdout.strip()}")
                            fails += 1
                            continue
                        result = json.loads(done.stdout)
                        line.verdicts[result["verdict"]] += 1
                        for output in result["outputs"]:
                            limit = number(output.get("expected_limit_ulp_at_worst"))
                            if limit > 0:
                                line.share[output["name"]] = max(line.share[output["name"]], number(output["max_ulp"]) / limit)
                        bad = {output["name"] for output in result["outputs"] if output.get("verdict") in ("suspicious", "inaccurate", "wrong")}
                        if done.returncode == 1 and is_fused and dtype != torch.float32 and bad <= {"dk", "dv"} and stored_between_blocks(tensors, causal):
                            between += 1
                            print(f"  {file.name}, {n_q} queries: {' and '.join(sorted(bad))} stored after every 32 queries, which {arithmetic} does not allow")
                        elif done.returncode == 1:
                            fails += 1
                            for output in result["outputs"]:
                                print(f"  FAILS: {file.name}, {heads} x {n_q} x {n_k} x {d}: {output['name']} {output.get('verdict', '')}, {output['outside_certain']} outside certain, "
                                      f"{output.get('outside_expected')} expected, of {output['elements']}; {output['max_ulp']} ulp of {output.get('expected_limit_ulp_at_worst')} "
                                      f"and {output['certain_limit_ulp_at_worst']}; {output.get('worst')}")
                        if not given.keep:
                            file.unlink()
                    total.update(line.verdicts)
                    print(f"{path_name:15} {arithmetic:9} {name:18} {line.text()}", flush=True)
    print(f"{sum(total.values())} runs: " + ", ".join(f"{total[v]} {v}" for v in VERDICTS) + f"; {between} that store dk and dv after every 32 queries, {fails} fails")
    return 1 if fails else 0


if __name__ == "__main__":
    sys.exit(main())
