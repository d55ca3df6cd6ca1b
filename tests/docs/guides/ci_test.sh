#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# ci_test.sh ATTEST ROOT FOLDER: ci.sh on right, undecided, wrong and broken dumps.
set -u
program=$1 root=$2 folder=$3
script=$root/tests/docs/guides/ci.sh
rm -rf "$folder" && mkdir -p "$folder/bin" "$folder/dumps" && cd "$folder" || exit 1
ln -s "$program" bin/attest || exit 1
PATH=$folder/bin:$PATH
export PATH
failed=0
expect() { # status, a text in the output
    sh "$script" >output.txt 2>&1
    got=$?
    [ $got -eq "$1" ] && grep -qF -- "$2" output.txt && return
    echo "exit status $got, expected $1 and the text: $2"
    cat output.txt
    failed=1
}

cp "$root/tests/dumps/torch-flash-f32.npz" "$root/tests/dumps/numpy-f32-stages.npz" dumps/
expect 0 "every case passes"
[ "$(grep -c '"verdict":"consistent"' verdicts.jsonl)" -eq 2 ] || { echo "verdicts.jsonl has not a line for each case"; failed=1; }
cp "$root/tests/dumps/blocks/torch-gelu-erf-f32.npz" dumps/
expect 0 "some cases are undecided"
cp "$root/tests/dumps/wrong-no-scale-f32.npz" dumps/
expect 1 "wrong-no-scale-f32.npz: attention wrong"
cp "$root/tests/dumps/broken/truncated.npz" dumps/
expect 2 "truncated.npz: "
exit $failed
