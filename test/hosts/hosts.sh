#!/bin/sh
# hosts.sh - programs that people run, with their timers on timingwheel.h: the
# host's own tests of timers, and the speed of its timers, each with the host
# unchanged and with our adapter in place. Prints TAP and a table of figures.
# Run from the top of the repository.
#
#     test/hosts/hosts.sh [OPTION] [HOST...]
#
#     without an option  the tests of timers, and the benchmarks
#     --tests            the tests of timers alone, for `make check`
#     --all              every test of the host, and the benchmarks
#
# Each folder with a host.sh is a host. Without a HOST, all hosts run.
# test/hosts/README.md says what a host.sh defines.
#
# Each host is built from Debian's source package (get-sources.sh), in one
# folder and twice: unchanged first, then with our files in place. The first
# programs are kept in .build/hosts/HOST/before, the second ones in
# .build/hosts/HOST/after.
#
# A test passes if the test passes with our files, at the third attempt at the
# latest: the tests measure real time, and a busy machine spoils real time. With
# --all, some tests fail for want of a network, or because the user is root. A
# test that fails in the unchanged host too is no failure.
#
# SPDX-License-Identifier: MIT
set -u

mode=
case ${1:-} in
--*)
    mode=$1
    shift
    ;;
esac
# shellcheck disable=SC2034
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
unset MAKEFLAGS MAKELEVEL MFLAGS

top=$PWD
hosts=$top/.build/hosts
sources=$hosts/sources
build=$hosts # where tap.sh keeps what a command said
rm -rf "$hosts"
mkdir -p "$hosts"
# shellcheck disable=SC1091
. test/lib/tap.sh

# -------------------------------------------------------- for every host.sh ---

# Configures a host that uses cmake, from $source to $build/work. Tests alone
# need no optimiser, which takes long.
configure_with_cmake() { # OPTION...
    if [ "$mode" = --tests ]; then
        set -- "$@" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1
    else
        set -- "$@" -DCMAKE_BUILD_TYPE=Release
    fi
    cmake -S "$source" -B "$build/work" "$@"
}

row() { # MEASURE BEFORE AFTER
    printf '%-9s %-38s %14s %14s\n' "$host" "$@" >>"$hosts/table"
}

median() { # of the lines of standard input that begin with NAME
    awk -F '|' -v name="$1" '$1 == name { print $2 }' | sort -g |
        awk '{ line[NR] = $1 } END { print line[int((NR + 1) / 2)] }'
}

# Measures before and after in turns. COMMAND FOLDER ARGUMENT... prints lines
# "MEASURE|NUMBER". Adds a row for each measure, with the medians.
compare_medians() { # RUNS COMMAND ARGUMENT...
    runs=$1 command=$2
    shift 2
    rm -f "$build"/figures.*
    for _ in $(seq "$runs"); do
        for turn in before after; do
            "$command" "$turn" "$@" >>"$build/figures.$turn" || return
        done
    done
    cut -d '|' -f 1 "$build/figures.before" | awk '!seen[$0]++' |
        while read -r name; do
            row "$name" "$(median "$name" <"$build/figures.before")" \
                "$(median "$name" <"$build/figures.after")"
        done
}

# ------------------------------------------------------------ the host runs ---

attempt() { # FOLDER NAME
    for _ in 1 2 3; do
        run_test "$1" "$2" >"$build/said" 2>&1 </dev/null && return
    done
    return 1
}

# Runs every test before and after. `before` and `after` count the tests that
# passed.
compare() {
    number=0 before=0 after=0
    list_tests >"$build/tests"
    while read -r name; do
        number=$((number + 1))
        same=
        if attempt before "$name"; then
            before=$((before + 1))
        elif [ "$mode" = --all ]; then
            same=', which fails without our files as well'
        fi
        if attempt after "$name"; then
            after=$((after + 1))
            pass "$host: its test $name"
        elif [ -n "$same" ]; then
            pass "$host: its test $name$same"
        else
            fail "$host: its test $name" "$build/said"
        fi
    done <"$build/tests"
    [ "$after" != 0 ] || fail "$host: a test passes"
    row 'tests passed' "$before of $number" "$after of $number"
}

build_both() {
    configure && make_programs before && place && make_programs after
}

# Prints the first program or header of the host's needs that is not there.
missing() {
    for program in $programs; do
        have "$program" || echo "$program is missing"
    done
    for header in $headers; do
        echo "#include <$header>" | gcc -E - >/dev/null 2>&1 ||
            echo "the header $header is missing"
    done
}

run_host() {
    host_title="$host with its timers on timingwheel.h"
    lacks=$(missing | head -n 1)
    # shellcheck disable=SC2086,SC2154
    for source in "$sources"/$version; do :; done
    if [ -n "$lacks" ]; then
        skip "$host_title" "$lacks"
    elif ! [ -d "$source" ]; then
        skip "$host_title" "this Debian has another version than $version"
    elif ! build_both >"$build/log" 2>&1; then
        tail -n 25 "$build/log" >"$build/said"
        fail "$host_title: compiles" "$build/said"
    else
        compare
        more_tests
        [ "$mode" = --tests ] || bench
    fi
}

# Defaults of what a host.sh may leave out.
defaults() {
    programs=gcc headers=
    more_tests() { :; }
    bench() { :; }
}

all_hosts() {
    for file in test/hosts/*/host.sh; do
        basename "$(dirname "$file")"
    done
}

packages() { # HOST...
    for host; do
        # shellcheck disable=SC1090,SC2154
        . "$top/test/hosts/$host/host.sh" && echo "$package"
    done
}

# shellcheck disable=SC2046
[ $# != 0 ] || set -- $(all_hosts)
printf '%-9s %-38s %14s %14s\n' host '' before after >"$hosts/table"
# shellcheck disable=SC2046
if ! test/hosts/get-sources.sh "$sources" $(packages "$@") >"$hosts/log" 2>&1
then
    tail -n 5 "$hosts/log" | sed 's/^/# /'
    skip "$*" 'the source packages cannot be had'
else
    for host; do
        build=$hosts/$host adapter=$top/test/hosts/$host
        mkdir -p "$build/before" "$build/after"
        defaults
        # shellcheck disable=SC1091
        . "$adapter/host.sh"
        run_host
    done
fi
sed 's/^/# /' "$hosts/table"
tap_end
