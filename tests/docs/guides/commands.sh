#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# commands.sh GUIDES: every command `attest …` in a block of shell in the guides is one that a script of this folder runs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
failed=0
seen=0
for page in "$1"/*.md; do
    commands=$(awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside && /^attest / { sub(/ *#.*/, ""); print }' "$page")
    while IFS= read -r command; do
        [ -n "$command" ] || continue
        seen=$((seen + 1))
        if ! grep -rqF --include='*.sh' --exclude=commands.sh -- "$command" "$here"; then
            echo "$page: no script of $here runs: $command"
            failed=1
        fi
    done <<END
$commands
END
done
echo "$seen commands"
[ $seen -gt 0 ] || failed=1
exit $failed
