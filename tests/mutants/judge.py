# SPDX-License-Identifier: BSL-1.0
"""Compiles proofs and tests, with the headers as they are or with one of them changed, and says which of them notice."""

import functools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / "include" / "attest"
# The limits of proofs/CMakeLists.txt.
LIMITS = {"gcc": ["-fconstexpr-ops-limit=2000000000", "-fconstexpr-loop-limit=50000000", "-fconstexpr-depth=2048"],
          "clang": ["-fconstexpr-steps=500000000", "-fconstexpr-depth=2048"]}
MEMORY_IN_KIB = 4_000_000
# What compilers say first when a proof fails. If they say anything else, the mutant is no C++ program, and nobody has noticed it.
FAILED_PROOF = re.compile(r"'constexpr' expansion of|static assertion|constant expression|non-constant|non-'constexpr'|"
                          r"'?constexpr'? (loop|evaluation|call)")
NO_MEMORY = re.compile(r"out of memory|bad_alloc|Killed|virtual memory exhausted|cannot allocate", re.I)


class Broken(Exception):
    """Something is wrong without any mutant."""


class Processes:
    """Commands in process groups of their own, so that a compiler's children end with it."""

    def __init__(self):
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def run(self, command, seconds):
        """(exit code, output); the code is None if it took longer. No process gets more than MEMORY_IN_KIB."""
        limited = ["sh", "-c", f'ulimit -v {MEMORY_IN_KIB} 2>/dev/null; exec "$@"', "sh", *map(str, command)]
        with self.lock:
            if self.stopped:
                raise KeyboardInterrupt
            process = subprocess.Popen(limited, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, errors="replace", start_new_session=True, env={**os.environ, "LC_ALL": "C"})
            self.running.add(process)
        try:
            output = process.communicate(timeout=seconds)[0]
            if self.stopped:  # it was ended, and says nothing about the mutant
                raise KeyboardInterrupt
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            self.end(process)

    def end(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.running.discard(process)

    def stop(self):
        """Ends all, and begins no other."""
        with self.lock:
            self.stopped = True
            for process in list(self.running):
                self.end(process)


class Judge:
    """`folder`: where everything is written, and the sources are copied to, so that they may be edited meanwhile.
    The limits are in seconds; a source that needs long without a mutant gets more."""

    def __init__(self, compiler, folder, compile_limit, run_limit):
        self.folder, self.processes = Path(folder).resolve(), Processes()
        self.compile_limit, self.run_limit = compile_limit, run_limit
        self.include_folder, self.proofs, self.tests = (self.folder / "copy" / name for name in ("include", "proofs", "tests"))
        for part in ["include", "proofs", "tests/formula", "tests/gradient"]:
            shutil.copytree(ROOT / part, self.folder / "copy" / part)
        for source in [*ROOT.glob("tests/*.hpp"), *ROOT.glob("tests/*.cpp")]:
            shutil.copy(source, self.tests)
        self.command = [compiler, "-std=c++20", "-O0", "-w", "-Wfatal-errors"]
        self.include_folders = [self.include_folder, self.folder / "copy", self.tests]
        self.include = [word for folder in self.include_folders for word in ("-I", folder)]
        self.limits = LIMITS["clang" if "clang" in self.processes.run([compiler, "--version"], 60)[1] else "gcc"]
        self.concepts = {header.stem for room in ("formula", "gradient")
                         for header in (self.include_folder / "attest" / room).glob("*.hpp")}
        self.sources = sorted([*self.proofs.glob("**/*.cpp"), *self.tests.glob("*/*.cpp")])
        self.locks = {source: threading.Lock() for source in self.sources}
        self.baselines = {}  # source: (why it fails or None, seconds)
        self.catch_lock = threading.Lock()

    def name(self, source):
        return str(source.relative_to(self.folder / "copy"))

    @functools.lru_cache(maxsize=None)
    def includes(self, source):
        """All files of the project that a file includes, directly or not."""
        found = set()
        for name in re.findall(r'^\s*#include "([^"]+)"', source.read_text(encoding="utf-8"), re.M):
            for folder in (source.parent, *self.include_folders):
                if (folder / name).is_file():
                    found |= {(folder / name).resolve()} | self.includes((folder / name).resolve())
                    break
        return found

    def concept(self, proof):
        """The header it is about: softmax of softmax.cpp and of softmax_rows.cpp, but mask_extras of mask_extras.cpp."""
        return max((name for name in self.concepts if f"{proof.stem}_".startswith(f"{name}_")), key=len, default="")

    def asked(self, file):
        """(word, source) of all that can notice a change of the header: own proofs, other ones, tests; cheap ones first."""
        header, (room, concept) = self.include_folder / "attest" / file, Path(file).with_suffix("").parts
        cost = lambda source: self.baselines.get(source, (None, source.stat().st_size / 2000))[1]
        able = sorted((source for source in self.sources if header in self.includes(source)), key=cost)
        proofs = [source for source in able if source.is_relative_to(self.proofs)]
        in_room = lambda proof: (proof.parent.name == "gradient") == (room == "gradient")
        own = sorted((proof for proof in proofs if self.concept(proof) == concept), key=in_room, reverse=True)
        tests = sorted((source for source in able if source.parent == self.tests / room), key=lambda t: t.stem != concept)
        other = [proof for proof in proofs if proof not in own]
        return [(word, source) for word, some in [("own proof", own), ("other proof", other), ("test", tests)] for source in some]

    @functools.lru_cache(maxsize=None)
    def catch(self):
        """What every test needs: a precompiled header, and a main function. (Catch2 3 brings that in a library, 2 does not.)"""
        first, main, version = (self.folder / name for name in ("first.hpp", "main.o", "version.cpp"))
        first.write_text('#include "catch.hpp"\n#include <boost/multiprecision/cpp_bin_float.hpp>\n')
        version.write_text("#if !__has_include(<catch2/catch_all.hpp>)\n#error\n#endif\n")
        libraries = ["-lCatch2Main", "-lCatch2"] if self.processes.run([*self.command, "-E", version], 60)[0] == 0 else [main]
        commands = [["-x", "c++-header", first, "-o", f"{first}.gch"]]
        if main in libraries:
            commands.append(["-c", self.tests / "main.cpp", "-o", main])
        for command in commands:
            code, output = self.processes.run([*self.command, *self.include, *command], 600)
            if code != 0:
                raise Broken(f"Catch2 and Boost.Multiprecision do not compile:\n{output}")
        return ["-include", first], libraries

    def compiled(self, command, seconds):
        """None if it compiles, else why not."""
        code, output = self.processes.run([*self.command, *command], seconds)
        if code in (None, 0):
            return None if code == 0 else "timeout"
        before, _, behind = output.partition("error: ")
        message = behind.partition("\n")[0]
        if NO_MEMORY.search(output):
            return "memory"
        return f"refuted: {message}" if FAILED_PROOF.search(before + message) else f"no program: {message}"

    def verdict(self, source, folder, overlay=()):
        """None if a proof or a test holds, else why not."""
        longer = 4 * self.baselines.get(source, (None, 0))[1]
        seconds = max(longer, self.compile_limit)
        if source.is_relative_to(self.proofs):
            return self.compiled([*self.limits, "-fsyntax-only", *overlay, *self.include, source], seconds)
        with self.catch_lock:
            first, libraries = self.catch()
        program = Path(folder) / "test"
        failed = self.compiled([*overlay, *first, *self.include, source, *libraries, "-o", program], seconds)
        if failed:
            return failed
        code = self.processes.run([program, "--abort"], max(longer, self.run_limit))[0]
        return None if code == 0 else "timeout" if code is None else "failed" if code > 0 else "crashed"

    def baseline(self, source):
        """Once for each source: it must hold with the headers as they are."""
        with self.locks[source]:
            if source not in self.baselines:
                with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                    begun = time.monotonic()
                    self.baselines[source] = self.verdict(source, folder), time.monotonic() - begun
        if self.baselines[source][0]:
            raise Broken(f"{self.name(source)} does not hold without any mutant: {self.baselines[source][0]}")

    def judge(self, mutant):
        """(outcome, the source that noticed, why)"""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            changed, alone = Path(folder) / "attest" / mutant.file, Path(folder) / "alone.cpp"
            changed.parent.mkdir(parents=True)
            changed.write_text(mutant.source, encoding="utf-8")
            alone.write_text(f'#include "attest/{mutant.file}"\n')
            overlay = ["-I", folder]  # in front of the other folders
            why = self.compiled(["-fsyntax-only", *overlay, *self.include, alone], self.compile_limit)
            if why:
                return "stillborn", "", why
            for word, source in self.asked(mutant.file):
                self.baseline(source)
                why = self.verdict(source, folder, overlay)
                if why:
                    return "stillborn" if why.startswith("no program") else word, self.name(source), why
        return "survived", "", ""
