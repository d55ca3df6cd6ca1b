#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# choosing.sh ATTEST ROOT: try.sh prints try.txt.
set -u
program=$1
attest() { "$program" "$@"; }
cd "$2" || exit 1
printed=$(. tests/docs/guides/try.sh)
[ "$printed" = "$(cat tests/docs/guides/try.txt)" ] && exit 0
echo "try.sh prints something else than try.txt:"
echo "$printed"
exit 1
