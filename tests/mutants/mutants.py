#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Changes the formulas and gradients in many small ways, and tells which changes no proof and no test notices.

    python3 tests/mutants/mutants.py --jobs 2                               all mutants: hours
    python3 tests/mutants/mutants.py --sample 60 --seed 1 --time-limit 240  some of them, evenly over the headers
    python3 tests/mutants/mutants.py --list --only formula/rope             their names; nothing is run

README.md says what the words mean. Exit: 0; 1 if fewer were killed than asked; 2 if something is wrong without any mutant; 130 if
interrupted, after a report on those done.
"""

import argparse
import json
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.dont_write_bytecode = True  # nothing is written beside the sources
from judge import HEADERS, Broken, Judge  # noqa: E402
from operators import mutants_of  # noqa: E402

EQUIVALENT = Path(__file__).resolve().with_name("equivalent.txt")
OUTCOMES = ["stillborn", "equivalent", "own proof", "other proof", "test", "survived"]


def equivalents(mutants):
    """{name: (same or rounding, argument)} from equivalent.txt; each line must name one mutant."""
    names, found = {mutant.key for mutant in mutants}, {}
    for number, line in enumerate(EQUIVALENT.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            name, _, reason = line.rpartition(" | ")
            kind, _, argument = reason.partition(": ")
            if name not in names or name in found or kind not in ("same", "rounding") or not argument:
                raise Broken(f"equivalent.txt, line {number}: no such mutant, or it stands there twice, or has no argument: {line}")
            found[name] = kind, argument
    return found


def evenly(mutants, seed):
    """One of each header in turn, by chance which."""
    chance, rows = random.Random(seed), {}
    for mutant in mutants:
        rows.setdefault(mutant.file, []).append(mutant)
    files = sorted(rows)
    chance.shuffle(files)
    for file in files:
        chance.shuffle(rows[file])
    return [rows[file][n] for n in range(max(map(len, rows.values()), default=0)) for file in files if n < len(rows[file])]


def report(results, options):
    """Prints the table and what no proof noticed. Whether enough was killed."""
    count = Counter((mutant.file, outcome) for mutant, outcome, *_ in results)
    total = Counter(outcome for _, outcome, *_ in results)
    print("".join(f"{word:>12}" for word in ["mutants", *OUTCOMES]) + "  header")
    for file in sorted({mutant.file for mutant, *_ in results}):
        row = [count[file, word] for word in OUTCOMES]
        print("".join(f"{n:12}" for n in [sum(row), *row]) + f"  {file}")
    print("".join(f"{n:12}" for n in [len(results), *(total[word] for word in OUTCOMES)]) + "  all\n")

    counted = len(results) - total["stillborn"] - total["equivalent"]
    by_proofs = total["own proof"] + total["other proof"]
    enough = True
    for title, killed, asked in [("proofs alone", by_proofs, options.proofs_at_least),
                                 ("proofs and tests", by_proofs + total["test"], options.all_at_least)]:
        percent = 100 * killed / max(counted, 1)
        enough = enough and percent >= asked
        print(f"killed by {title}: {killed} of {counted}, {percent:.1f} % (asked: {asked:g} %)")
    limits = sum(why in ("timeout", "memory") for *_, why, _ in results)
    print(f"among these by a limit of time or memory: {limits}")
    for outcome, title in [("survived", "survived"), ("test", "killed by tests alone")]:
        print(f"\n{title}: {total[outcome]}")
        for mutant, word, by, *_ in results:
            if word == outcome:
                print(f"  {mutant.file}:{mutant.line}:{mutant.column}: {mutant.change} {by and f'({by})'}\n      {mutant.text}")
    return enough


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", metavar="REGEX", default="", help="mutants whose name, as --list prints it, matches")
    parser.add_argument("--list", action="store_true", help="print operators and names of the mutants, run nothing")
    parser.add_argument("--sample", type=int, metavar="N", help="so many, evenly over the headers")
    parser.add_argument("--seed", default="1", help="which ones")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", default=float("inf"), help="begin none after that")
    parser.add_argument("--equivalent", action="store_true", help="run those of equivalent.txt: none may die that is the same")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--proofs-at-least", type=float, metavar="PERCENT", default=90)
    parser.add_argument("--all-at-least", type=float, metavar="PERCENT", default=98)
    parser.add_argument("--compile-limit", type=float, metavar="SECONDS", default=120)
    parser.add_argument("--run-limit", type=float, metavar="SECONDS", default=60)
    options = parser.parse_args()
    begun = time.monotonic()

    files = sorted(str(path.relative_to(HEADERS)) for room in ("formula", "gradient") for path in (HEADERS / room).glob("*.hpp"))
    mutants = [mutant for file in files for mutant in mutants_of(HEADERS / file, file)]
    argued = equivalents(mutants)
    chosen = [m for m in mutants if re.search(options.only, m.key) and (m.key in argued or not options.equivalent)]
    if options.sample is not None:
        chosen = evenly(chosen, options.seed)[:options.sample]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.operator:10} {mutant.key}")
        return 0
    if not chosen:
        raise Broken("there is no such mutant")

    results, interrupted = [], False
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C
    with tempfile.TemporaryDirectory(prefix="attest-mutants-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        judge = Judge(options.compiler, folder, options.compile_limit, options.run_limit)

        def run(mutant):
            now = time.monotonic()
            if mutant.key in argued and not options.equivalent:
                return mutant, "equivalent", "", argued[mutant.key][1], 0.0
            return (mutant, *judge.judge(mutant), time.monotonic() - now) if now - begun < options.time_limit else None

        try:
            if options.sample is None:  # of a sample, those that are needed, as soon as they are
                needed = {source for file in {mutant.file for mutant in chosen} for _, source in judge.asked(file)}
                for done in as_completed([pool.submit(judge.baseline, source) for source in sorted(needed)]):
                    done.result()
            for done in as_completed([pool.submit(run, mutant) for mutant in chosen]):
                if done.result():
                    results.append(done.result())
                    mutant, outcome, by, why, seconds = results[-1]
                    progress = f"[{len(results)}/{len(chosen)}] {outcome}, {by or why} ({seconds:.1f} s): {mutant.key}"
                    print(progress, file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            judge.processes.stop()
            pool.shutdown(cancel_futures=True)

    results.sort(key=lambda result: (result[0].file, result[0].line, result[0].column, result[0].change))
    enough = report(results, options)
    if options.equivalent:
        enough = all(outcome == "survived" for mutant, outcome, *_ in results if argued[mutant.key][0] == "same")
    if options.json:
        rows = [{"name": m.key, "file": m.file, "line": m.line, "column": m.column, "operator": m.operator, "change": m.change,
                 "text": m.text, "outcome": outcome, "by": by, "why": why, "seconds": round(seconds, 2)}
                for m, outcome, by, why, seconds in results]
        Path(options.json).write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 130 if interrupted else 0 if enough else 1


if __name__ == "__main__":
    try:
        code = main()
    except Broken as broken:
        print(f"mutants: {broken}", file=sys.stderr)
        code = 2
    sys.exit(code)
