#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# prints.sh FILE PROGRAM: the program succeeds, and prints the file.
printed=$("$2") || { echo "$2 fails"; exit 1; }
[ "$printed" = "$(cat "$1")" ] && exit 0
echo "$2 prints something else than $1:"
echo "$printed"
exit 1
