#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# dump_torch.sh ATTEST FOLDER [PYTHON]: the commands of docs/guides/pytorch.md on what its script writes, and their exit status.
# 77, "skipped", where there is no Python with NumPy, PyTorch and safetensors.
set -u
program=$1 folder=$2 python=${3:-python3}
here=$(cd "$(dirname "$0")" && pwd)
script=$here/dump_torch.py
. "$here/expect.sh"

command -v "$python" >/dev/null || { echo "attest: skipped, there is no $python"; exit 77; }
rm -rf "$folder" && mkdir -p "$folder" || exit 1
"$python" "$script" "$folder"
case $? in
    0) ;;
    77) exit 77 ;;
    *) echo "dump_torch.py failed"; exit 1 ;;
esac
cd "$folder" || exit 1
failed=0

expect 0 attest check attention.safetensors
expect 0 attest check attention.npz --op attention --causal top-left --arithmetic f32
expect 0 attest check declared.npz
expect 0 attest check bits.npz --bf16 all --op attention --causal top-left --arithmetic bf16+f32
expect 0 attest check stages.safetensors
expect 0 attest check gradients.safetensors
expect 0 attest check layer.safetensors
expect 1 attest check cache.safetensors
expect 0 attest check cache.safetensors --causal top-left
expect 2 attest check attention.npz
expect 3 attest check layer.safetensors --arithmetic f32
exit $failed
