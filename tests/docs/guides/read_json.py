#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What docs/guides/report.md shows: attest check --json CASE... | read_json.py"""
# [read]
import json
import sys

for line in sys.stdin:
    case = json.loads(line)
    if "error" in case:
        print(case["case"], "in trouble:", case["error"])
        continue
    for output in case["outputs"]:
        outside = output["outside_certain"] or output["outside_expected"]
        print(f"{case['case'].split('/')[-1]:34} {output['name']:4} {output['verdict']:11} {outside:4} of {output['elements']} outside")
# [/read]
