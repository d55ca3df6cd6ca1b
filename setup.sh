#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Installs what attest is built with, from the distribution's own packages. ./setup.sh --help
set -euo pipefail

needs="g++ >= 12 (or clang++ >= 16), CMake >= 3.25, Ninja, Boost >= 1.81 (headers), range-v3, Catch2, CLI11, nlohmann-json >= 3.11, fmt >= 9, libzip; MPFR and FLINT (with Arb) for one test each, Highway for SIMD"

help() {
    cat <<EOF
Usage: ./setup.sh [--clang] [--docs] [--browser]
Installs what attest is built with and is not there yet, on Debian 12 and newer and Ubuntu 24.04 and newer; removes nothing.
  --clang   also the newest clang++ of the distribution, with libc++ and the sanitizers' runtime (for the presets "clang" and "asan")
  --docs    also what the docs are built with: Sphinx with MyST and furo, KaTeX and Node.js, Matplotlib, Doxygen (for the preset "docs")
  --browser also what tries the built docs: Chromium, its driver, Selenium; and axe, which checks accessibility, into build/axe (from PyPI; the rest is Debian's)
  --help    this text
With BOOST_ROOT=FOLDER in the environment (an unpacked Boost >= 1.81), Boost is taken from there, by this script and by CMake.
Needed: $needs.
EOF
}

say() { echo "setup.sh: $*"; }
fail() { echo "setup.sh: $*" >&2; exit 1; }

want_clang= want_docs= want_browser=
for argument in "$@"; do
    case $argument in
        --clang) want_clang=1 ;;
        --docs) want_docs=1 ;;
        --browser) want_browser=1 ;;
        --help | -h) help; exit 0 ;;
        *) help >&2; exit 2 ;;
    esac
done

# The distribution.
unsupported() { fail "$1 is not one that this script knows (Debian >= 12, Ubuntu >= 24.04); install these yourself: $needs"; }
[ -r /etc/os-release ] || unsupported "this system"
. /etc/os-release
command -v apt-get >/dev/null || unsupported "${PRETTY_NAME:-this system}"
release=${VERSION_ID:-99} # Debian's testing and unstable have no number
case ${ID:-} in
    debian) [ "${release%%.*}" -ge 12 ] || unsupported "$PRETTY_NAME" ;;
    ubuntu) [ "${release%%.*}" -ge 24 ] || unsupported "$PRETTY_NAME" ;;
    *) unsupported "${PRETTY_NAME:-this system}" ;;
esac

missing=()
installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
need_package() { installed "$1" || missing+=("$1"); }
newer() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; } # is $2 at least $1?
version_of() { "$@" 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+|^[0-9]+$' | head -n 1 || true; }
need_program() { # package, program, least version, how to ask it
    local found=
    if command -v "$2" >/dev/null; then found=$(version_of "${@:4}"); fi
    [ -n "$found" ] && newer "$3" "$found" || missing+=("$1")
}

need_program g++ g++ 12 g++ -dumpfullversion
need_program cmake cmake 3.25 cmake --version
need_program ninja-build ninja 1.10 ninja --version
need_program pkgconf pkg-config 0.29 pkg-config --version # for one test: attest.pc
need_program python3 python3 3.11 python3 --version        # for tests/mutants
for package in librange-v3-dev catch2 libcli11-dev nlohmann-json3-dev libfmt-dev libzip-dev libmpfr-dev libflint-dev libhwy-dev; do need_package $package; done
if [ "$ID" = debian ] && [ "${release%%.*}" = 12 ]; then need_package libflint-arb-dev; fi # a part of FLINT since its version 3

if [ -n "$want_docs" ]; then
    need_program nodejs node 18 node --version
    for package in python3-sphinx python3-myst-parser furo libjs-katex python3-matplotlib doxygen; do need_package $package; done
fi
if [ -n "$want_browser" ]; then
    case $ID in # Ubuntu's packages of Chromium only fetch a snap
        debian) for package in chromium chromium-driver python3-selenium python3-pip; do need_package $package; done ;;
        *) want_browser=
            say "--browser: only Debian packages Chromium; the test of the built docs will be skipped" ;;
    esac
fi

# Boost: 1.81 or newer. Debian 12 has it beside its default 1.74; the two cannot both be installed.
boost_at() { # the version of the headers in a folder, as 108100, or nothing
    local header
    for header in "$1/boost/version.hpp" "$1/include/boost/version.hpp"; do
        if [ -r "$header" ]; then awk '$1 == "#define" && $2 == "BOOST_VERSION" {print $3; exit}' "$header"; return; fi
    done
}
readable() { echo "$(($1 / 100000)).$(($1 / 100 % 1000))"; }
if [ -n "${BOOST_ROOT:-}" ]; then
    boost=$(boost_at "$BOOST_ROOT")
    [ -n "$boost" ] || fail "BOOST_ROOT=$BOOST_ROOT has no boost/version.hpp"
    [ "$boost" -ge 108100 ] || fail "BOOST_ROOT=$BOOST_ROOT has Boost $(readable "$boost"); 1.81 or newer is needed"
else
    boost=$(boost_at /usr/local)
    { [ -n "$boost" ] && [ "$boost" -ge 108100 ]; } || boost=$(boost_at /usr)
    if [ -z "$boost" ]; then
        if [ "$ID" = debian ] && [ "${release%%.*}" = 12 ]; then missing+=(libboost1.81-dev); else missing+=(libboost-dev); fi
    elif [ "$boost" -lt 108100 ]; then
        owner=$(dpkg-query -S /usr/include/boost/version.hpp 2>/dev/null | cut -d: -f1 || true)
        {
            echo "setup.sh: the headers of Boost $(readable "$boost") are installed (${owner:-/usr/include/boost}); attest needs 1.81 or newer, and the two packages exclude each other."
            echo "  Either remove the old one yourself (apt-get remove ${owner:-libboost-dev}) and run this again: libboost1.81-dev then takes its place;"
            echo "  or unpack a newer Boost anywhere and say where, here and to CMake: export BOOST_ROOT=FOLDER (or cmake -DBOOST_ROOT=FOLDER)."
        } >&2
        exit 1
    fi
fi

root() { if [ "$(id -u)" = 0 ]; then env DEBIAN_FRONTEND=noninteractive "$@"; else sudo env DEBIAN_FRONTEND=noninteractive "$@"; fi; }
updated=
update() {
    [ -z "$updated" ] || return 0
    updated=1
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null || fail "not root, and there is no sudo; as root: apt-get install ${missing[*]:-clang}"
    root apt-get update -qq || say "apt-get update failed; going on with the package lists that are here"
}

# Clang: whatever clang++ >= 16 has its libc++ and its sanitizers is enough; otherwise the newest pair of the distribution.
if [ -n "$want_clang" ]; then
    have=
    for number in $(seq 40 -1 16); do
        if command -v clang++-$number >/dev/null && installed libc++-$number-dev && installed libc++abi-$number-dev && installed libclang-rt-$number-dev; then
            have=$number
            break
        fi
    done
    if [ -z "$have" ]; then
        update
        for number in $(seq 40 -1 16); do
            # apt-cache show is content if it knows one of several packages, so each is asked for alone.
            if apt-cache show clang-$number >/dev/null 2>&1 && apt-cache show libc++-$number-dev >/dev/null 2>&1; then
                have=$number
                for package in clang-$number libc++-$number-dev libc++abi-$number-dev libclang-rt-$number-dev; do need_package $package; done
                break
            fi
        done
        [ -n "$have" ] || fail "no clang of version 16 or newer among the packages of $PRETTY_NAME"
    fi
fi

# axe is one file, axe.min.js, and no package of Debian has it; a package of PyPI does. Without it the pages are tried all the same, but for accessibility.
axe_package=axe-playwright-python==0.1.8
get_axe() {
    local folder
    [ -n "$want_browser" ] && [ ! -e build/axe/axe.min.js ] || return 0
    folder=$(mktemp -d)
    if /usr/bin/python3 -m pip download -q --no-deps --only-binary=:all: -d "$folder" "$axe_package" 2>"$folder/log" \
        && /usr/bin/python3 -m zipfile -e "$folder"/*.whl "$folder" && mkdir -p build/axe && cp "$folder"/*/axe.min.js build/axe/; then
        say "build/axe/axe.min.js, of $axe_package"
    else
        say "could not fetch $axe_package: the built docs will be tried without the accessibility checker"
    fi
    rm -rf "$folder"
}

if [ ${#missing[@]} -eq 0 ]; then
    get_axe
    say "everything is installed already"
    exit 0
fi
say "installing ${missing[*]}"
update
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! root apt-get install -qq -y --no-remove --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    fail "apt-get could not install them (above is why); nothing was removed"
fi
get_axe
say "done"
