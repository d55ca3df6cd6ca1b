#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs a command, and prints as JSON its exit status, seconds, seconds of the processor's time, and the most memory in bytes that it, or a program that it ran, had at once.

    measured.py COMMAND…

A process inherits, on Linux, the greatest size of the one that started it: so large processes start this small one.
"""
import json
import os
import subprocess
import sys
import time


def run(command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return {"status": process.returncode, "seconds": time.perf_counter() - start, "processor": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss * unit, "error": error}


def run_from_small_process(command):
    return json.loads(subprocess.run([sys.executable, "-S", "-E", __file__, *command], check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1:])))
