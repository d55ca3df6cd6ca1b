#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# paths.sh ROOT: every file of the project that a guide names between backquotes is there. A * stands for anything, as in a shell; names with <…> are patterns.
cd "$1" || exit 1
failed=0
seen=0
for path in $(cat docs/guides/*.md | grep -oE '`(include|tests|proofs|docs|tools|cmake)/[^ `]+`' | tr -d '`' | sort -u); do
    case $path in *'<'*) continue ;; esac
    seen=$((seen + 1))
    for found in $path; do
        [ -e "$found" ] && continue
        case $found in
            docs/*/*) ;;
            docs/*) [ -e "tests/$found.cpp" ] && continue ;; # an entry of ctest
        esac
        echo "a guide names $path, which is not there"
        failed=1
        break
    done
done
echo "$seen names of files"
[ $seen -gt 0 ] || failed=1
exit $failed
