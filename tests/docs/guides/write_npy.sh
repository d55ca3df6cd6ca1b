#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# write_npy.sh ATTEST FOLDER [CC]: compiles write_npy.c, runs it, and judges what it writes. Its inputs must be those of kernel/, kernel_bf16/ and kernel_wrong/, which
# docs/guides/c_kernel.md shows the reports of. 77, "skipped", where there is no C compiler.
set -u
program=$1 folder=$2 compiler=${3:-cc}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/expect.sh"

command -v "$compiler" >/dev/null || { echo "attest: skipped, there is no C compiler $compiler"; exit 77; }
rm -rf "$folder" && mkdir -p "$folder/kernel" "$folder/kernel_bf16" "$folder/kernel_wrong" && cd "$folder" || exit 1
"$compiler" -std=c99 -pedantic -Wall -Wextra -Werror -O1 "$here/write_npy.c" -lm -o write_npy || exit 1
./write_npy kernel && ./write_npy kernel_bf16 bf16 && ./write_npy kernel_wrong wrong || exit 1

failed=0
for case in kernel kernel_bf16 kernel_wrong; do
    for name in q k v; do
        cmp "$case/$name.npy" "$here/$case/$name.npy" || failed=1
    done
done

expect 0 attest inspect kernel
expect 0 attest check kernel --op attention --causal top-left --arithmetic f32
expect 0 attest check kernel_bf16 --bf16 all --op attention --causal top-left --arithmetic bf16+f32
expect 1 attest check kernel_wrong --op attention --causal top-left --arithmetic f32
expect 2 attest check kernel
printf "%s" '{"op": "attention", "causal": "top-left", "arithmetic": "f32"}' >kernel/attest.json
expect 0 attest check kernel kernel
expect 2 attest check kernel_bf16 --op attention
exit $failed
