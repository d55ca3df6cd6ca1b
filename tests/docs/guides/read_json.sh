#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# read_json.sh ATTEST ROOT [PYTHON]: read_json.py prints read_json.txt, which docs/guides/report.md shows; and that page's table of keys names each key of the JSON, and no other.
# 77, "skipped", where there is no Python.
set -u
program=$1 root=$2 python=${3:-python3}
command -v "$python" >/dev/null || { echo "attest: skipped, there is no $python"; exit 77; }
attest() { "$program" "$@"; }
cd "$root" || exit 1
failed=0
printed=$(attest check --json tests/dumps/wrong-causal-*-f32.npz tests/dumps/wrong-lse-base-2-f32.npz | python3 tests/docs/guides/read_json.py) || failed=1
if [ "$printed" != "$(cat tests/docs/guides/read_json.txt)" ]; then
    echo "read_json.py prints something else than read_json.txt:"
    echo "$printed"
    failed=1
fi

attest check --json --rows sample:4 --bf16 all tests/dumps/wrong-lse-fast-exp-bf16.npz | "$python" -c '
import json, re, sys

def keys(value, name=""):
    if isinstance(value, dict) and name != "conventions" and name != "sample" and name != "outputs[].first_outside":
        return set().union(*(keys(v, f"{name}.{k}" if name else k) for k, v in value.items()))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return set().union(*(keys(v, name + "[]") for v in value))
    return {name}

page = open("docs/guides/report.md", encoding="utf-8").read()
section = page[page.index("## In JSON"):]
rows = [line.split("|") for line in section.splitlines() if line.startswith("| ") and not line.startswith("| in the report")]
said = set().union(*(re.findall(r"`([^`]+)`", row[2]) for row in rows)) | {"attest", "mistakes", "seconds.diagnose"}
there = keys(json.loads(sys.stdin.read()))
for key in sorted(there ^ said):
    print("not on the page:" if key in there else "not in the JSON:", key)
sys.exit(there != said)
' || failed=1
exit $failed
