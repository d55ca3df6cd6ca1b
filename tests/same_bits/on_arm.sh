#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# The same bits on AArch64, with NEON: cross-compiled and emulated. Some minutes; needs the packages g++-aarch64-linux-gnu and qemu-user.
#   tests/same_bits/on_arm.sh [OPTION OF THE COMPILER …]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for program in aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v $program >/dev/null || { echo "on_arm.sh: skipped, there is no $program (packages g++-aarch64-linux-gnu and qemu-user)"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Headers of libraries that are the same on all processors; those of this machine's C library, beside them, are not.
mkdir "$work/include"
for library in boost range concepts meta std hwy; do
    if [ -e /usr/include/$library ]; then ln -s /usr/include/$library "$work/include/$library"; fi
done
aarch64-linux-gnu-g++ -std=c++20 -O2 -static -pthread -Wno-psabi "$@" -I "$here/../../include" -I "$work/include" "$here/main.cpp" -o "$work/same_bits"
got=$(qemu-aarch64 "$work/same_bits") expected=$(cat "$here/hash.txt")
if [ "$got" != "$expected" ]; then
    echo "on_arm.sh: the hash is $got, not $expected" >&2
    exit 1
fi
echo "on_arm.sh: the same bits, $got"
