# SPDX-License-Identifier: BSL-1.0
# Read by the scripts beside it, which set program and failed: expect STATUS COMMAND runs a command and says so where its exit status is another one.
attest() { "$program" "$@"; }
expect() {
    wanted=$1
    shift
    "$@" >report.txt 2>&1
    got=$?
    [ $got -eq "$wanted" ] && return
    echo "exit status $got, expected $wanted: $*"
    cat report.txt
    failed=1
}
