#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Attention in double, its certified values and its limits beside their peers: one process, one thread, interleaved, the best of so many rounds.

    tests/bench/peers.py [--only double,certified,slow,fixed,threads,scaling] [--n 1024] [--d 64] [--rounds 15] [--compiler g++]
                         [--attest build/test/attest] [--json FILE] [--plot FILE.svg]

Needs NumPy; PyTorch, Eigen, Arb, mpmath and Matplotlib are used where they are found. Seconds are those of the processor's time that this process takes (of two
threads against one: of the clock at the wall), so that what runs beside it counts only for what it does to the caches. NumPy's OpenBLAS picks its kernel for the
processor: the variables that would forbid that are taken out of the environment first.
"""
import argparse
import ctypes
import json
import os
import platform
import sys
import time

CLEAN = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
if any(os.environ.get(name) != value for name, value in CLEAN.items()) or {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"} & set(os.environ):
    kept = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    os.execve(sys.executable, [sys.executable, *sys.argv], {**kept, **CLEAN})

try:
    import numpy as np
except ImportError:
    sys.exit("peers.py: skipped, there is no NumPy for this Python")
sys.dont_write_bytecode = True  # nothing is written beside the sources
import scaling  # noqa: E402
from libraries import Tensors, compiled, load  # noqa: E402

SECTIONS = ("double", "certified", "slow", "fixed", "threads", "scaling")
F64, F32, BF16 = 0, 1, 3  # attest::dtype
ROWS = {"Arb": 256, "Boost": 4, "mpmath": 2}  # of how many rows a slow one is measured
WANTED = {"Arb": 30, "mpmath": 1000}  # so many times as long as certified f64
skipped = []


def optional(module):
    try:
        return __import__(module)
    except ImportError:
        skipped.append(f"no {module}")
        return None


def timed(function, *arguments):
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def numpy_attention(q, k, v):
    s = q @ k.T
    s *= 1 / np.sqrt(q.dtype.type(q.shape[1]))
    s -= s.max(axis=1, keepdims=True)
    np.exp(s, out=s)
    out = s @ v
    out /= s.sum(axis=1, keepdims=True)
    return out


class Case:
    """Inputs in three formats, what attest makes of them, and what was measured: {section: {name: a function that gives seconds and a value to compare, or None}}."""

    def __init__(self, n, d, libraries):
        self.n, self.d, self.libraries = n, d, libraries
        self.flops = 4.0 * n * n * d
        random = np.random.default_rng(1)
        self.q, self.k, self.v = qkv = [random.standard_normal((n, d)) for _ in range(3)]
        single = [x.astype(np.float32) for x in qkv]
        self.memory = {F64: qkv, F32: single, BF16: [np.ascontiguousarray(x.view(np.uint32) >> 16).astype(np.uint16) for x in single]}
        self.tensors = {type_: Tensors(n, d, type_, *(x.ctypes.data for x in memory)) for type_, memory in self.memory.items()}
        self.out = np.empty((n, d))
        self.expected = numpy_attention(*qkv)
        self.settled = {}  # shares by rung: rules, double, double-double, higher
        self.runs = {}

    def address(self, type_):
        return ctypes.addressof(self.tensors[type_])

    def double_path(self, function="attest_attention", *more):
        run = getattr(self.libraries["fast"], function)
        return lambda: (run(*(x.ctypes.data for x in (self.q, self.k, self.v, self.out)), self.n, self.d, *more), self.out)

    def add_double(self, torch):
        fast, q, k, v = self.libraries["fast"], self.q, self.k, self.v

        def two_products():
            s = q @ k.T
            return s @ v

        self.runs["double"] = runs = {
            "the processor's peak, same flops": lambda: (fast.attest_peak(self.flops), None),
            "attest's two products alone": lambda: (fast.attest_products(q.ctypes.data, k.ctypes.data, self.out.ctypes.data, self.n, self.d), None),
            "NumPy's two products alone": lambda: (timed(two_products)[0], None),
            "attest": self.double_path("attest_attention", 0),
            "attest, causal": lambda: (self.double_path("attest_attention", 1)()[0], None),
            "NumPy": lambda: timed(numpy_attention, q, k, v),
        }
        if torch is not None:
            torch.set_num_threads(1)
            stacks = [torch.from_numpy(x).reshape(1, 1, self.n, self.d) for x in (q, k, v)]

            def sdpa():
                with torch.inference_mode():
                    return torch.nn.functional.scaled_dot_product_attention(*stacks).numpy().reshape(self.n, self.d)

            runs["PyTorch's sdpa"] = lambda: timed(sdpa)
        if hasattr(fast, "eigen_attention"):
            runs["Eigen, dynamic"] = self.double_path("eigen_attention")
        else:
            skipped.append("no Eigen")

    def certified(self, name, inputs, target):
        settled, higher = (ctypes.c_size_t * 4)(), ctypes.c_double()

        def run():
            seconds = self.libraries["oracle"].attest_certified(self.address(inputs), self.n, target, self.out.ctypes.data, settled, ctypes.addressof(higher))
            self.settled[name] = [count / (self.n * self.d) for count in settled]
            return seconds, self.out if inputs == F64 else None

        return run

    def add_certified(self):
        oracle = self.libraries["oracle"]

        def check(type_, arithmetic):
            candidate, passed = np.ascontiguousarray(numpy_attention(*self.memory[type_])), ctypes.c_int()

            def run():
                seconds = oracle.attest_check(self.address(type_), candidate.ctypes.data, arithmetic, ctypes.addressof(passed))
                assert passed.value == 1, "NumPy's attention should pass"
                return seconds, None

            return run

        self.runs["certified"] = {name: self.certified(name, inputs, target) for name, inputs, target in (
            ("certified f32, inputs f32", F32, F32), ("certified f32, inputs bf16", BF16, F32), ("certified bf16, inputs bf16", BF16, BF16),
            ("certified f64, inputs f64", F64, F64))}
        self.runs["certified"] |= {
            "limits f32, certain alone": lambda: (oracle.attest_limits(self.address(F32), b"f32", 0), None),
            "limits f32, certain and expected": lambda: (oracle.attest_limits(self.address(F32), b"f32", 1), None),
            "all of check, f32": check(F32, b"f32"),
            "all of check, f64": check(F64, b"f64"),
        }

    def add_slow(self, mpmath):
        n, d, pointers = self.n, self.d, [x.ctypes.data for x in (self.q, self.k, self.v)]
        self.runs["slow"] = runs = {}
        if arb := self.libraries.get("arb"):
            rows, settled, out = min(n, ROWS["Arb"]), ctypes.c_size_t(), np.empty((n, d))

            def balls(bits, by_dots):
                seconds = arb.arb_attention(*pointers, out.ctypes.data, n, d, rows, bits, by_dots, ctypes.addressof(settled))
                return seconds * n / rows, out[:rows]

            # The least precision that settles all of the sample.
            self.bits = next(bits for bits in range(64, 1 << 12, 8) if balls(bits, 0) and settled.value == rows * d)
            for name, by_dots in (("arb_mat_mul", 0), ("arb_dot", 1)):
                runs[f"Arb {arb.arb_version_text().decode()}, {self.bits} bits, {name}"] = lambda by_dots=by_dots: balls(self.bits, by_dots)
        if boost := self.libraries.get("boost"):
            few, in_boost = min(n, ROWS["Boost"]), np.empty((n, d))
            runs["Boost cpp_bin_float_50"] = lambda: (boost.boost_attention(*pointers, in_boost.ctypes.data, n, d, few) * n / few, in_boost[:few])
        if mpmath is not None:
            mpmath.mp.prec = 113
            some = min(n, ROWS["mpmath"])
            numbers = lambda matrix: [list(map(mpmath.mpf, row)) for row in matrix.tolist()]
            keys, columns = numbers(self.k), numbers(self.v.T)

            def rows_of_mpmath():
                out = []
                for row in numbers(self.q[:some]):
                    query = [x / mpmath.sqrt(d) for x in row]
                    scores = [mpmath.fdot(query, key) for key in keys]
                    greatest = max(scores)
                    weights = [mpmath.exp(score - greatest) for score in scores]
                    total = mpmath.fsum(weights)
                    out.append([float(mpmath.fdot(weights, column) / total) for column in columns])
                return np.array(out)

            def run():
                seconds, value = timed(rows_of_mpmath)
                return seconds * n / some, value

            runs[f"mpmath {mpmath.__version__} on {mpmath.libmp.BACKEND}, 113 bits"] = run

    def measure(self, rounds):
        """The least seconds of each run, and whether it gives attention at all."""
        best = {}
        for round_ in range(rounds):
            for section, runs in self.runs.items():
                for name, run in runs.items():
                    seconds, value = run()
                    if seconds <= 0:
                        sys.exit(f"peers.py: {name} failed")
                    best[section, name] = min(best.get((section, name), np.inf), seconds)
                    if round_ == 0 and value is not None and section != "slow":
                        assert np.allclose(value, self.expected, rtol=1e-10, atol=1e-12), name
                    elif round_ == 0 and value is not None:  # of the certified values, one ULP at most; Arb the same
                        exact = self.expected_exactly()[:len(value)]
                        assert np.allclose(value, exact, rtol=2.3e-16, atol=0) and (not name.startswith("Arb") or np.array_equal(value, exact)), name
        for section, name, same in (("double", "attest", "attest"), ("certified", "certified f64, inputs f64", "certified f64")):  # measured twice
            if (section, name) in best and ("path", same) in best:
                best[section, name] = best["path", same] = min(best[section, name], best["path", same])
        return best

    def expected_exactly(self):
        if not hasattr(self, "exact"):
            self.certified("certified f64, inputs f64", F64, F64)()
            self.exact = self.out.copy()
        return self.exact


def table(title, columns, rows):
    """Prints a table; columns: {title: text of a row}."""
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(text(row) for text in columns.values())} |", flush=True)


def shown(key, pattern="{}", times=1):
    """The text of a row's figure; nothing if it has none."""
    return lambda row: "" if row.get(key) is None else pattern.format(row[key] if times == 1 else row[key] * times)


def double_table(case, best):
    peak, numpy_time = best["double", "the processor's peak, same flops"], best["double", "NumPy"]
    rows = []
    for (section, name), seconds in best.items():
        if section == "double":
            share = (case.n + 1) / (2 * case.n) if "causal" in name else 1  # what it sees
            rows.append({"name": name, "seconds": seconds, "GFLOP/s": case.flops * share / seconds / 1e9, "of peak": seconds / (peak * share),
                         "of NumPy": seconds / numpy_time})
    table(f"**Double path**, one head, n = {case.n}, d = {case.d}",
          {"": shown("name"), "ms": shown("seconds", "{:.2f}", 1e3), "GFLOP/s": shown("GFLOP/s", "{:.1f}"), "of the peak's time": shown("of peak", "{:.2f}"),
           "of NumPy's": shown("of NumPy", "{:.2f}")}, rows)
    return rows


def certified_table(case, best):
    path, rows = best["path", "attest"], []
    for (section, name), seconds in best.items():
        if section == "certified":
            row = {"name": name, "seconds": seconds, "of double": seconds / path}
            if name in case.settled:
                by_rules, in_double, in_two, higher = case.settled[name]
                row |= {"in double": in_double, "in double-double": in_two, "higher": by_rules + higher}
            rows.append(row)
    table(f"**Certified values and radii, limits, and all of a check**; the double path takes {path * 1e3:.2f} ms; wanted: {0.999:.1%} settled on the first rung, for f64 in double-double",
          {"": shown("name"), "ms": shown("seconds", "{:.1f}", 1e3), "of the double path's": shown("of double", "{:.1f}"), "settled in double": shown("in double", "{:.2%}"),
           "in double-double": shown("in double-double", "{:.2%}"), "in higher precision": shown("higher", "{:.2%}")}, rows)
    return rows


def slow_table(case, best):
    certified, rows = best["path", "certified f64"], []
    for (section, name), seconds in best.items():
        if section == "slow":
            library = name.split()[0]
            rows.append({"name": name, "seconds": seconds, "rows measured": min(case.n, ROWS[library]), "of certified": seconds / certified, "wanted": WANTED.get(library)})
    table(f"**Certified f64 beside other ways to that many digits**: it takes {certified * 1e3:.1f} ms for {case.n} rows; the others are measured on some rows, and scaled",
          {"": shown("name"), "rows measured": shown("rows measured"), f"s for {case.n} rows": shown("seconds", "{:.2f}"), "of certified f64's": shown("of certified", "{:.1f}"),
           "wanted at least": shown("wanted")}, rows)
    return rows


def fixed_table(library, rounds):
    random, rows = np.random.default_rng(1), []
    for size in (4, 8, 16, 32, 64):
        repeats = max(1, 16_000_000 // size ** 3)
        best, out = [np.inf, np.inf], np.empty((size, size))
        small = [random.standard_normal((size, size)) for _ in range(3)]
        for _ in range(rounds):
            for eigen in (0, 1):
                seconds = library.fixed_attention(size, eigen, *(x.ctypes.data for x in (*small, out)), repeats) / repeats
                best[eigen] = min(best[eigen], seconds if seconds > 0 else np.inf)
                assert np.allclose(out, numpy_attention(*small), rtol=1e-12, atol=1e-14)
        row = {"n = d": size, "seconds": best[0]}
        rows.append(row | ({"Eigen": best[1], "of Eigen": best[0] / best[1]} if best[1] < np.inf else {}))
    table("**Fixed n = d**, double", {"n = d": shown("n = d"), "attest": shown("seconds", "{:.0f} ns", 1e9), "Eigen": shown("Eigen", "{:.0f} ns", 1e9),
                                      "attest of Eigen's": shown("of Eigen", "{:.2f}")}, rows)
    return rows


def threads_table(library, n, d, rounds):
    rows = []
    for heads in (1, 8):
        stacks = [np.random.default_rng(1).standard_normal((heads, n, d)) for _ in range(3)]
        wall, processor = {1: np.inf, 2: np.inf}, {1: np.inf, 2: np.inf}
        for _ in range(rounds):
            for threads in wall:
                start = time.process_time()
                wall[threads] = min(wall[threads], library.attest_heads(*(x.ctypes.data for x in stacks), heads, n, d, threads))
                processor[threads] = min(processor[threads], time.process_time() - start)
        rows.append({"heads": heads, "one thread": wall[1], "two threads": wall[2], "speed-up": wall[1] / wall[2], "wanted": 1.8,
                     "processor time": processor[2] / processor[1]})
    table(f"**Two threads against one**, double path, n = {n}, d = {d}, by the clock at the wall ({os.cpu_count()} processors)",
          {"heads": shown("heads"), "one thread": shown("one thread", "{:.2f} ms", 1e3), "two threads": shown("two threads", "{:.2f} ms", 1e3),
           "speed-up": shown("speed-up", "{:.2f}"), "wanted at least": shown("wanted"), "processor's time, of two threads by that of one": shown("processor time", "{:.2f}")}, rows)
    return rows


def scaling_table(d, paths, program):
    if program is None:
        skipped.append("no program attest (--attest)")
    rows = []

    def noted():
        for row in scaling.table(d, paths, program):
            rows.append(row)
            yield row

    table(f"**Scaling**, d = {d}, a fresh process each; where some rows are measured, the others are scaled from what these take beyond an eighth of them",
          {"": shown("kind"), "n": shown("n"), "rows measured": shown("rows"), "best of": shown("repeats"), "ms": shown("seconds", "{:.1f}", 1e3),
           "ns per n² d": shown("ns per n² d", "{:.3f}"), "higher precision, ms": shown("higher", "{:.0f}", 1e3), "MB at most": shown("peak", "{:.1f}", 1e-6),
           "bytes per n d": shown("bytes per n d", "{:.0f}")}, noted())
    return rows


def plot(file, header, results):
    if not (matplotlib := optional("matplotlib")):
        return
    matplotlib.use("svg")
    import matplotlib.pyplot as pyplot
    groups = {"double": ("double path and peers", ""), "certified": ("certified values, limits, check", "//"), "slow": ("other ways to many digits", "xx")}
    rows = [(row["name"], row["seconds"] * 1e3, group) for group in groups for row in results.get(group, [])][::-1]
    if not rows:
        skipped.append("no plot: it shows the sections double, certified and slow")
        return
    figure, axes = pyplot.subplots(figsize=(10, 1 + 0.32 * len(rows)), layout="constrained")
    seen = set()
    for at, (name, ms, group) in enumerate(rows):
        title, hatch = groups[group]
        axes.barh(at, ms, hatch=hatch, color={"": "0.75", "//": "white", "xx": "0.9"}[hatch], edgecolor="black", label=None if group in seen else title)
        seen.add(group)
        axes.annotate(f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s", (ms, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows], fontsize=8)
    axes.set_xscale("log")
    axes.margins(x=0.15, y=0.02)
    axes.set_xlabel("time in milliseconds, one thread, logarithmic (shorter is faster)")
    axes.set_title(f"Attention of one head, n = {results['n']}, d = {results['d']}", fontsize=11)
    figure.supxlabel(f"{header}; load average {load_average()}", fontsize=6)
    axes.legend(*(reversed(x) for x in axes.get_legend_handles_labels()), loc="upper right", fontsize=8)
    figure.savefig(file)
    print(f"\nplotted: {file}")


def processor_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def load_average():
    return " ".join(f"{x:.1f}" for x in os.getloadavg())


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default=",".join(SECTIONS), help="sections, separated by commas")
    options.add_argument("--n", type=int, default=1024)
    options.add_argument("--d", type=int, default=64)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    options.add_argument("--attest", metavar="PROGRAM", help="for scaling: the program, whose `attest check` of files is measured too")
    options.add_argument("--json", metavar="FILE", help="all figures")
    options.add_argument("--plot", metavar="FILE.svg", help="a chart of all times at one n")
    options = options.parse_args()
    sections = options.only.split(",")
    if unknown := set(sections) - set(SECTIONS):
        sys.exit(f"peers.py: no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")

    paths = {}
    for name, wanted in (("fast", True), ("oracle", {"certified", "slow", "scaling"} & set(sections)), ("arb", "slow" in sections), ("boost", "slow" in sections)):
        if wanted:
            paths[name], why = compiled(name, options.compiler)
            if paths[name] is None and name in ("fast", "oracle"):
                sys.exit(f"peers.py: {why}")
            if paths[name] is None:
                skipped.append(f"no {name}: {why}")
    libraries = {name: load(path) for name, path in paths.items() if path is not None}

    torch = optional("torch") if "double" in sections else None
    mpmath = optional("mpmath") if "slow" in sections else None
    case = Case(options.n, options.d, libraries)
    if "double" in sections:
        case.add_double(torch)
    if "certified" in sections:
        case.add_certified()
    if "slow" in sections:
        case.add_slow(mpmath)
    if {"certified", "slow"} & set(sections):  # what the others are compared with
        case.runs["path"] = {"attest": case.double_path("attest_attention", 0), "certified f64": case.certified("certified f64, inputs f64", F64, F64)}

    versions = f"NumPy {np.__version__}" + (f", PyTorch {torch.__version__}" if torch is not None else "")
    header = f"{processor_name()}, kernels {libraries['fast'].attest_kernels().decode()}, {versions}; one thread, best of {options.rounds}, interleaved"
    results = {"header": header, "n": options.n, "d": options.d, "load before": os.getloadavg()}
    print(f"{header}; load average {load_average()}", flush=True)
    best = case.measure(options.rounds) if case.runs else {}
    if "double" in sections:
        results["double"] = double_table(case, best)
    if "certified" in sections:
        results["certified"] = certified_table(case, best)
    if "slow" in sections:
        results["slow"] = slow_table(case, best)
    if "fixed" in sections:
        results["fixed"] = fixed_table(libraries["fast"], options.rounds)
    if "threads" in sections:
        results["threads"] = threads_table(libraries["fast"], options.n, options.d, options.rounds)
    if "scaling" in sections:
        results["scaling"] = scaling_table(options.d, paths, options.attest)
    results["load after"] = os.getloadavg()
    busy = max(results["load before"][0], results["load after"][0]) > 1.5
    print(f"\nload average {load_average()} in the end" + (": other programs ran beside this one, and the figures are worse than they could be" if busy else ""))
    if options.plot:
        plot(options.plot, header, results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    if skipped:
        print("\nskipped: " + "; ".join(skipped))


if __name__ == "__main__":
    main()
