#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# What docs/guides/choosing.md shows: all alignments of a causal mask, one after the other.
# [try]
for causal in none top-left bottom-right; do
    printf '%-13s ' "$causal"
    attest check tests/dumps/wrong-causal-top-left-f32.npz --causal "$causal" | head -n 1
done
# [/try]
