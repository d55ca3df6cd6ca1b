#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What compiling takes: each public header alone, as tests/headers has it, and each proof; seconds of the processor's time and the compiler's greatest memory.

    tests/bench/compile_time.py [--compiler g++] [--repeat 3] [--only TEXT] [--json FILE]

Medians of so many runs, without optimisation, which is how both are compiled. --only: those whose name has TEXT in it. Interrupted, it reports on
those that are done. Exit status 1 if one does not compile.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is written beside the sources
import measured  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
INCLUDE, PROOFS = ROOT / "include", ROOT / "proofs"


def limits_of_proofs(compiler):
    """What the build of the proofs lets the compiler do."""
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    name = "Clang" if "clang" in version else "GNU"
    text = (PROOFS / "CMakeLists.txt").read_text(encoding="utf-8")
    return version.splitlines()[0], re.search(name + r'"\)\s*target_compile_options\(attest_proofs PRIVATE ([^)]*)\)', text)[1].split()


def sources(folder):
    """(what it is, name, file): a file of two lines for each header, and the proofs."""
    for header in sorted(INCLUDE.rglob("*.hpp")):
        name = str(header.relative_to(INCLUDE))
        file = Path(folder) / (name.replace("/", "-") + ".cpp")
        file.write_text(f"#include <{name}>\n#include <{name}>\n", encoding="utf-8")
        yield "header", name, file
    for proof in sorted([*PROOFS.glob("*.cpp"), *PROOFS.glob("gradient/*.cpp")]):
        yield "proof", str(proof.relative_to(ROOT)), proof


def compiled(compiler, flags, file, folder, repeat):
    runs = [measured.run([compiler, "-std=c++20", "-O0", f"-I{INCLUDE}", *flags, "-c", str(file), "-o", str(Path(folder) / "object.o")]) for _ in range(repeat)]
    bad = next((run for run in runs if run["status"] != 0), None)
    if bad is not None:
        print(f"does not compile: {file}\n{bad['error'][:2000]}", file=sys.stderr)
    return {"seconds": statistics.median(run["processor"] for run in runs), "peak": statistics.median(run["peak"] for run in runs), "compiles": bad is None}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--only", default="", metavar="TEXT")
    options.add_argument("--json", metavar="FILE", help="all figures")
    options = options.parse_args()
    version, limits = limits_of_proofs(options.compiler)
    rows, before = [], os.getloadavg()
    with tempfile.TemporaryDirectory() as folder:
        try:
            for kind, name, file in sources(folder):
                if options.only in name:
                    rows.append({"kind": kind, "name": name, **compiled(options.compiler, limits if kind == "proof" else [], file, folder, options.repeat)})
                    if sys.stderr.isatty():
                        print(f"\r{len(rows)} {name:70}", end="", file=sys.stderr)
        except KeyboardInterrupt:
            print(f"interrupted: after {len(rows)}")
    print(f"{version}, -std=c++20 -O0 (proofs: {' '.join(limits)}); medians of {options.repeat}; load average {before[0]:.1f}, in the end {os.getloadavg()[0]:.1f}")
    for kind in ("header", "proof"):
        of_kind = sorted((row for row in rows if row["kind"] == kind), key=lambda row: -row["seconds"])
        if not of_kind:
            continue
        print(f"\n| {kind} | s | MB at most |\n|---|---|---|")
        for row in of_kind:
            print(f"| {row['name']} | {row['seconds']:.2f} | {row['peak'] / 1e6:.0f} |" + ("" if row["compiles"] else " does not compile"))
        print(f"| all {len(of_kind)} | {sum(row['seconds'] for row in of_kind):.1f} | {max(row['peak'] for row in of_kind) / 1e6:.0f} |")
    if options.json:
        Path(options.json).write_text(json.dumps({"compiler": version, "load before": before, "load after": os.getloadavg(), "rows": rows}, indent=1), encoding="utf-8")
    return 0 if all(row["compiles"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
