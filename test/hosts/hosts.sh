#!/bin/sh
# hosts.sh - two libraries that people run, with their timers on timingwheel.h:
# the host's own tests. Prints TAP; run from the top of the repository.
#
#     test/hosts/hosts.sh [HOST...]          the host's tests of timers
#     test/hosts/hosts.sh --all [HOST...]    every test of the host
#
# Each host is built from Debian's source package (get-sources.sh), in one
# folder and twice: first unchanged, then with HOST/HOST.patch and the adapter
# in HOST/. The programs are in .build/hosts/HOST/before and .../after. A second
# run builds only what has changed; `make clean` removes everything. JOBS=8
# lets make compile eight files at a time, instead of two.
#
# A test has three attempts, because a busy machine disturbs tests in real time.
# A test that fails with the adapter also runs in the unchanged host. A test
# that fails in both counts as skipped: some tests need a network, and some
# refuse root.
#
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2086,SC2154
set -u

mode=
if [ "${1:-}" = --all ]; then
    mode=$1
    shift
fi
wanted_hosts=${*:-libuv libevent}
unset MAKEFLAGS MAKELEVEL MFLAGS

top=$PWD
hosts=$top/.build/hosts
build=$hosts # where tap.sh keeps the output of a command
mkdir -p "$hosts"
# shellcheck disable=SC1091
. test/lib/tap.sh

# Sets the host's package, the pattern of the source's folder, and the folder of
# the adapter in the source.
describe() {
    case $host in
    libuv) package=libuv1 version='libuv1-1.44.*' folder=src ;;
    libevent) package=libevent version='libevent-2.1.12-*' folder=. ;;
    esac
}

make_target() { # TARGET
    make -s -j${JOBS:-2} -C "$build/built" "$1"
}

# ------------------------------------------------------------------ libuv ---

export UV_RUN_AS_ROOT=1 # or libuv's tests refuse root

libuv_configure() {
    sed -i 's/CMAKE_C_STANDARD 90/CMAKE_C_STANDARD 99/' \
        "$source/CMakeLists.txt" &&
        cmake -S "$source" -B "$build/built" -DCMAKE_BUILD_TYPE=None \
            -DCMAKE_C_FLAGS=-O1
}

libuv_make() { # FOLDER
    make_target uv_run_tests_a &&
        cp "$build/built/uv_run_tests_a" "$build/$1"
}

libuv_list() {
    wanted=timer
    [ "$mode" != --all ] || wanted=.
    "$build/before/uv_run_tests_a" --list | awk '{ print $1 }' | grep "$wanted"
}

libuv_run() { # FOLDER NAME: some tests read files beside the source
    (cd "$source" && timeout 120 "$build/$1/uv_run_tests_a" "$2")
}

# --------------------------------------------------------------- libevent ---

libevent_configure() {
    cmake -S "$source" -B "$build/built" -DEVENT__LIBRARY_TYPE=STATIC \
        -DEVENT__DISABLE_OPENSSL=ON -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS=-O1
}

libevent_make() { # FOLDER
    make_target regress && cp "$build/built/bin/regress" "$build/$1"
}

libevent_list() {
    "$build/before/regress" --list-tests | grep -v 'Off by default' |
        grep -o '[a-zA-Z]*/[a-zA-Z0-9_]*$' |
        if [ "$mode" = --all ]; then
            cat
        else
            grep 'heap/\|time\|active_\(by\|later\)\|/event_\|many_ev\|loopexit'
        fi
}

libevent_run() { # FOLDER NAME
    (cd "$build/$1" && timeout 120 ./regress "$2")
}

# -------------------------------------------------------------- every host ---

# Copies the header and the adapter. The first time, also patches the source.
place() {
    cp "$top/timingwheel.h" "$adapter"/*.[ch] "$source/$folder" || return
    [ ! -e "$adapter/$host.patch" ] || [ -e "$build/patched" ] ||
        patch -d "$source" -p1 <"$adapter/$host.patch" || return
    touch "$build/patched"
}

build_both() {
    if ! [ -e "$ready" ]; then
        mkdir -p "$build/before" "$build/built" && ("${host}_configure") &&
            "${host}_make" before && touch "$ready" || return
    fi
    rm -rf "$build/after" && mkdir "$build/after" && place &&
        "${host}_make" after
}

attempt() { # FOLDER NAME
    for _ in 1 2 3; do
        "${host}_run" "$1" "$2" >"$build/said" 2>&1 </dev/null && return
    done
    return 1
}

# Runs every test of the host.
run_tests() {
    passed=0
    "${host}_list" >"$build/tests"
    while read -r name; do
        if attempt after "$name"; then
            passed=$((passed + 1))
            pass "$host: its test $name"
        elif cp "$build/said" "$build/why" && attempt before "$name"; then
            fail "$host: its test $name" "$build/why"
        else
            STRICT='' skip "$host: its test $name" 'fails without us as well'
        fi
    done <"$build/tests"
    [ "$passed" != 0 ] || fail "$host: a test passes"
}

# Prints the programs that are missing.
missing() {
    for program in gcc patch cmake; do
        have "$program" || echo "$program is missing"
    done
}

# Unpacks the source, unless the unchanged host is built already.
get_source() {
    ready=$build/before/ready
    [ -e "$ready" ] || {
        rm -rf "$build"
        test/hosts/get-sources.sh "$build/source" "$package" \
            >"$hosts/$host.log" 2>&1 || return
    }
    for source in "$build/source"/$version; do :; done
}

run_host() {
    title="$host with its timers on timingwheel.h"
    lacks=$(missing | head -n 1)
    if [ -n "$lacks" ]; then
        skip "$title" "$lacks"
    elif ! get_source; then
        tail -n 5 "$hosts/$host.log" | sed 's/^/# /'
        skip "$title" 'the source package cannot be had'
    elif ! [ -d "$source" ]; then
        skip "$title" "this Debian has another version than $version"
    elif ! build_both >"$hosts/$host.log" 2>&1; then
        tail -n 25 "$hosts/$host.log" >"$hosts/said"
        fail "$title: compiles" "$hosts/said"
    else
        run_tests
    fi
}

for host in $wanted_hosts; do
    build=$hosts/$host adapter=$top/test/hosts/$host
    describe
    run_host
done
tap_end
