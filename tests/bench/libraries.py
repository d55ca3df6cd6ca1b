# SPDX-License-Identifier: BSL-1.0
"""The libraries that peers.py and scaling.py measure: compiled for this processor into build/bench, and again when a source is newer."""
import ctypes
import os
import subprocess
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parents[1]
SIZE, DOUBLE, INT, POINTER, TEXT = ctypes.c_size_t, ctypes.c_double, ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p

# What to link: the first of these that works. Arb is a part of FLINT since its version 3; before, Debian calls it flint-arb.
SOURCES = {
    "fast": ("fast/peers.cpp", [[]]),
    "oracle": ("oracle/peers.cpp", [[]]),
    "boost": ("others/boost.cpp", [[]]),
    "arb": ("others/arb.cpp", [["-Wl,-z,defs", *names, "-lgmp"] for names in (["-lflint"], ["-lflint-arb", "-lflint"], ["-larb", "-lflint"])]),
}
FUNCTIONS = {
    "attest_kernels": (TEXT, []),
    "attest_peak": (DOUBLE, [DOUBLE]),
    "attest_attention": (DOUBLE, [POINTER] * 4 + [SIZE, SIZE, INT]),
    "attest_heads": (DOUBLE, [POINTER] * 3 + [SIZE] * 3 + [ctypes.c_uint]),
    "attest_products": (DOUBLE, [POINTER] * 3 + [SIZE, SIZE]),
    "eigen_attention": (DOUBLE, [POINTER] * 4 + [SIZE, SIZE]),
    "fixed_attention": (DOUBLE, [INT, INT] + [POINTER] * 4 + [SIZE]),
    "attest_certified": (DOUBLE, [POINTER, SIZE, INT] + [POINTER] * 3),
    "attest_limits": (DOUBLE, [POINTER, TEXT, INT]),
    "attest_check": (DOUBLE, [POINTER, POINTER, TEXT, POINTER]),
    "boost_attention": (DOUBLE, [POINTER] * 4 + [SIZE] * 3),
    "arb_version_text": (TEXT, []),
    "arb_attention": (DOUBLE, [POINTER] * 4 + [SIZE] * 3 + [INT, INT, POINTER]),
}


class Tensors(ctypes.Structure):
    """As oracle/peers.cpp takes them: q, k and v of n × d."""
    _fields_ = [("n", SIZE), ("d", SIZE), ("type", INT), ("q", POINTER), ("k", POINTER), ("v", POINTER)]


def is_new(path):
    """Whether a library is newer than all that it was compiled from."""
    try:
        sources = path.with_suffix(".d").read_text(encoding="utf-8").replace("\\\n", " ").split(": ", 1)[1].split()
        return all(os.path.getmtime(source) < path.stat().st_mtime for source in sources)
    except (OSError, IndexError):
        return False


def compiled(name, compiler):
    """The library's path, or nothing and why."""
    source, ways = SOURCES[name]
    path = ROOT / "build" / "bench" / f"{name}-{os.path.basename(compiler)}.so"
    if is_new(path):
        return path, ""
    path.parent.mkdir(parents=True, exist_ok=True)
    for link in ways:
        command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-std=c++20", f"-I{ROOT / 'include'}", str(BENCH / source), "-o", str(path), "-pthread",
                   "-MMD", "-MF", str(path.with_suffix(".d")), *link]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode == 0:
            return path, ""
    return None, next((line for line in run.stderr.splitlines() if "error" in line), f"{compiler} gave {run.returncode}")


def load(path):
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in FUNCTIONS.items():
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    return library
