#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""How time and memory grow with n: one fresh process for each kind and n. peers.py --only scaling prints the table; this is its process:

    scaling.py KIND N ROWS D LIBRARY      KIND: double, f32, f64 (certified values and radii)

Of long sequences some rows are measured, and an eighth of them, of `attest check` by --rows sample:ROWS: so what does not depend on their number is not scaled.
Certified values are timed without what the few elements take that climb to higher precision; that stands beside them.
"""
import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import measured
from libraries import Tensors, load

SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384)
PAIRS = {"double": 1 << 28, "f32": 1 << 24, "f64": 1 << 23, "check": 1 << 22}  # of query and key, at most: beyond, so many rows are measured
NAMES = {"double": "double path", "f32": "certified f32", "f64": "certified f64", "check": "attest check, f32"}
TYPES = {"f64": 0, "f32": 1}


def status(key):
    """A figure of /proc/self/status in bytes; without that the greatest so far, for all."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key + ":"))
    except OSError:
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def forget_peak():
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass


def inputs(n, d, kind):
    random = np.random.default_rng(1)
    return [random.standard_normal((n, d), dtype=np.float32 if kind == "f32" else np.float64) for _ in range(3)]


def seconds_of_all(run, n, rows):
    """What all n rows take, and how often that was measured, from run(rows), the seconds of so many. Of some rows the others are known by what an eighth of them takes."""
    few, best, spent, rounds = rows // 8, {}, 0, 0
    while rounds < 1 or (rounds < 3 and spent < 8) or (rounds < 9 and spent < 2):
        for some in (few, rows) if rows < n else (rows,):
            seconds = run(some)
            best[some] = min(best.get(some, seconds), seconds)
            spent += seconds
        rounds += 1
    others = (n - rows) * (best[rows] - best[few]) / (rows - few) if rows < n else 0
    return {"seconds": best[rows] + others, "repeats": rounds}


def process(kind, n, rows, d, path):
    library = load(path)
    before = status("VmRSS")
    tensors, out, settled, higher = inputs(n, d, kind), np.zeros((n, d)), (ctypes.c_size_t * 4)(), ctypes.c_double()
    pointers = [x.ctypes.data for x in tensors]
    forget_peak()
    if kind == "double":
        run = lambda _: library.attest_attention(*pointers, out.ctypes.data, n, d, 0)
    else:
        described = Tensors(n, d, TYPES[kind], *pointers)

        def run(rows):
            seconds = library.attest_certified(ctypes.addressof(described), rows, TYPES[kind], out.ctypes.data, settled, ctypes.addressof(higher))
            return seconds - higher.value

    print(json.dumps({**seconds_of_all(run, n, rows), "higher": higher.value, "peak": status("VmHWM") - before}))


def check_of_file(program, n, rows, d, folder):
    """attest check of a float32 candidate in a file, NumPy's, made some rows at a time."""
    q, k, v = inputs(n, d, "f32")
    out = np.empty_like(v)
    for i in range(0, n, 256):
        s = q[i:i + 256] @ k.T / np.sqrt(np.float32(d))
        e = np.exp(s - s.max(axis=1, keepdims=True))
        out[i:i + 256] = e @ v / e.sum(axis=1, keepdims=True)
    path, peaks = Path(folder) / "case.npz", []
    np.savez(path, q=q, k=k, v=v, out=out)

    def run(rows):
        command = [program, "check", str(path), "--op", "attention", "--arithmetic", "f32", *(["--rows", f"sample:{rows}"] if rows < n else [])]
        one = measured.run_from_small_process(command)
        if one["status"] != 0:
            raise RuntimeError(f"{' '.join(command)}: status {one['status']}: {one['error']}")
        peaks.append(one["peak"])
        return one["processor"]

    return {**seconds_of_all(run, n, rows), "peak": max(peaks)}


def table(d, libraries, program):
    """A row for each kind and n."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, most in PAIRS.items():
            for n in SIZES:
                rows = min(n, most // n)
                if kind == "check":
                    if program is None:
                        continue
                    one = check_of_file(program, n, rows, d, folder)
                else:
                    command = [sys.executable, __file__, kind, str(n), str(rows), str(d), str(libraries["fast" if kind == "double" else "oracle"])]
                    one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                yield {"kind": NAMES[kind], "n": n, "rows": rows, **one, "ns per n² d": one["seconds"] / (n * n * d) * 1e9, "bytes per n d": one["peak"] / (n * d)}


if __name__ == "__main__":
    process(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5])
