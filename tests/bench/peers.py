#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Attention in double beside its peers: one process, one thread, interleaved, the best of so many rounds.

    tests/bench/peers.py [--n 1024] [--d 64] [--rounds 15] [--compiler g++]

Needs NumPy; PyTorch and Eigen are measured where they are found. NumPy's OpenBLAS picks its kernel for the processor: the variables that would forbid that
are taken out of the environment first.
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time

CLEAN = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
if any(os.environ.get(name) != value for name, value in CLEAN.items()) or {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"} & set(os.environ):
    kept = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    os.execve(sys.executable, [sys.executable, *sys.argv], {**kept, **CLEAN})

try:
    import numpy as np
except ImportError:
    sys.exit("peers.py: skipped, there is no NumPy for this Python")
try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def library(compiler):
    path = os.path.join(tempfile.mkdtemp(), "peers.so")
    subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", "-std=c++20", "-I" + os.path.join(ROOT, "include"),
                    os.path.join(ROOT, "tests/bench/fast/peers.cpp"), "-o", path], check=True)
    loaded = ctypes.CDLL(path)
    for name in ("attest_peak", "attest_attention", "attest_products", "eigen_attention", "fixed_attention"):
        if hasattr(loaded, name):
            getattr(loaded, name).restype = ctypes.c_double
    loaded.attest_kernels.restype = ctypes.c_char_p
    return loaded


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def numpy_attention(q, k, v):
    s = q @ k.T
    s *= 1 / np.sqrt(q.shape[1])
    s -= s.max(axis=1, keepdims=True)
    np.exp(s, out=s)
    out = s @ v
    out /= s.sum(axis=1, keepdims=True)
    return out


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--n", type=int, default=1024)
    options.add_argument("--d", type=int, default=64)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    options = options.parse_args()
    n, d = options.n, options.d
    peers = library(options.compiler)
    random = np.random.default_rng(1)
    q, k, v = (random.standard_normal((n, d)) for _ in range(3))
    out = np.empty((n, d))
    flops = 4.0 * n * n * d
    size_n, size_d = ctypes.c_size_t(n), ctypes.c_size_t(d)
    results = {}

    def attest(threads, causal):
        return lambda: (peers.attest_attention(pointer(q), pointer(k), pointer(v), pointer(out), size_n, size_d, threads, causal), out)

    def two_products():
        s = q @ k.T
        return s @ v

    runs = {
        "the processor's peak, same flops": lambda: (peers.attest_peak(ctypes.c_double(flops)), None),
        "attest's two products alone": lambda: (peers.attest_products(pointer(q), pointer(k), pointer(out), size_n, size_d), None),
        "NumPy's two products alone": lambda: (timed(two_products)[0], None),
        "attest": attest(1, 0),
        "attest, 2 threads": attest(2, 0),
        "attest, causal": attest(1, 1),
        "NumPy": lambda: timed(numpy_attention, q, k, v),
    }
    if torch is not None:
        tensors = [torch.from_numpy(x).reshape(1, 1, n, d) for x in (q, k, v)]
        def sdpa():
            with torch.no_grad():
                return torch.nn.functional.scaled_dot_product_attention(*tensors).numpy().reshape(n, d)
        runs["PyTorch's sdpa"] = lambda: timed(sdpa)
    if hasattr(peers, "eigen_attention"):
        runs["Eigen, dynamic"] = lambda: (peers.eigen_attention(pointer(q), pointer(k), pointer(v), pointer(out), size_n, size_d), out)

    expected = numpy_attention(q, k, v)
    for round_ in range(options.rounds):
        for name, run in runs.items():
            seconds, value = run()
            results[name] = min(results.get(name, np.inf), seconds)
            if round_ == 0 and value is not None and "causal" not in name:
                assert np.allclose(value, expected, rtol=1e-10, atol=1e-12), name

    peak, numpy_time = results["the processor's peak, same flops"], results["NumPy"]
    versions = f"NumPy {np.__version__}" + (f", PyTorch {torch.__version__}" if torch is not None else "")
    print(f"double, one head, n = {n}, d = {d}, kernels {peers.attest_kernels().decode()}, {versions}; best of {options.rounds}, interleaved\n")
    print("| | ms | GFLOP/s | of the peak's time | of NumPy's |\n|---|---|---|---|---|")
    for name, seconds in results.items():
        rate = flops / seconds / 1e9
        print(f"| {name} | {seconds * 1e3:.2f} | {rate:.1f} | {seconds / peak:.2f} | {seconds / numpy_time:.2f} |")

    print("\n| fixed n = d | attest | Eigen | attest of Eigen |\n|---|---|---|---|")
    for size in (4, 8, 16, 32, 64):
        repeats = max(1, 4_000_000 // size ** 3)
        best = [np.inf, np.inf]
        small = [np.ascontiguousarray(random.standard_normal((size, size))) for _ in range(3)]
        for _ in range(options.rounds):
            for eigen in (0, 1):
                seconds = peers.fixed_attention(size, eigen, *map(pointer, small), pointer(out), ctypes.c_size_t(repeats)) / repeats
                best[eigen] = min(best[eigen], seconds if seconds > 0 else np.inf)
        print(f"| {size} | {best[0] * 1e9:.0f} ns | {best[1] * 1e9:.0f} ns | {best[0] / best[1]:.2f} |")


if __name__ == "__main__":
    main()
