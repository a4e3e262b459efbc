#!/bin/sh
# hosts.sh - libuv and libevent with their timers on timingwheel.h, beside the
# same libraries as they are: their own tests of timers, and their timers'
# speed. Prints TAP and ends with a comparison. Run from the top of the
# repository.
#
#     test/hosts/hosts.sh          the tests of timers, and a benchmark of each
#     test/hosts/hosts.sh --tests  the tests of timers alone, for `make check`
#     test/hosts/hosts.sh --all    every test that they have, and the benchmarks
#
# Each is built twice from Debian's source package (get-sources.sh), with cmake
# and in one folder: as it is, and, after our file has taken the place of
# theirs, again. The programs of the first time are kept in .build/hosts/before,
# those of the second in .build/hosts/after.
#
# A test passes if it does so with our file, in the third attempt at the latest:
# they measure real time, which a busy machine spoils. Of --all, some want a
# network or a user who is not root, and fail with either: what fails with our
# file alone is a failure.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/hosts
mode=${1:-}
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
unset MAKEFLAGS MAKELEVEL MFLAGS
export UV_RUN_AS_ROOT=1 # or libuv's tests refuse root, whom CI may be

rm -rf "$build"
mkdir -p "$build/before" "$build/after"
. test/lib/tap.sh
top=$PWD/$build

libuv=$build/sources/libuv1-1.44.2
libevent=$build/sources/libevent-2.1.12-stable

# --------------------------------------------------------------- building ---

place_libuv() {
    cp timingwheel.h test/hosts/libuv/timer.c "$libuv/src"
}

# struct event gets room for a timer. Two functions of event.c walk over the
# heap's array by themselves, and are sent to that of all events; a third looks
# whether that array is a heap, and is left with the empty one.
place_libevent() {
    cp timingwheel.h test/hosts/libevent/minheap-internal.h "$libevent" &&
        sed -i 's/^.*} ev_timeout_pos;$/& ev_uint64_t ev_room[4];/' \
            "$libevent/include/event2/event_struct.h" &&
        sed -i -e '/^event_base_assert_ok_nolock_/,/^}/b' \
            -e 's/timeheap\.n\>/timeheap.all_n/' \
            -e 's/timeheap\.p\[/timeheap.all[/' "$libevent/event.c"
}

# Tests alone want no more than to be compiled soon.
configure() { # HOST, FOLDER OF ITS SOURCE, OPTION...
    configure_name=$1 configure_source=$2
    shift 2
    if [ "$mode" = --tests ]; then
        set -- "$@" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1
    else
        set -- "$@" -DCMAKE_BUILD_TYPE=Release
    fi
    cmake -S "$configure_source" -B "$build/$configure_name" "$@"
}

configure_libuv() { # which is C90, and the wheel is not
    sed -i 's/CMAKE_C_STANDARD 90/CMAKE_C_STANDARD 99/' \
        "$libuv/CMakeLists.txt" && configure libuv "$libuv"
}

configure_libevent() {
    configure libevent "$libevent" -DEVENT__LIBRARY_TYPE=STATIC \
        -DEVENT__DISABLE_OPENSSL=ON
}

make_libuv() { # FOLDER
    targets=uv_run_tests_a
    [ "$mode" = --tests ] || targets="$targets uv_run_benchmarks_a"
    # shellcheck disable=SC2086
    make -s -C "$build/libuv" $targets &&
        (cd "$build/libuv" && cp $targets "$top/$1")
}

make_libevent() { # FOLDER
    # shellcheck disable=SC2086
    make -s -C "$build/libevent" regress &&
        cp "$build/libevent/bin/regress" "$build/$1" &&
        gcc -std=c99 -O2 $warnings -isystem "$build/libevent/include" \
            -isystem "$libevent/include" -o "$build/$1/timers" \
            test/hosts/libevent/timers.c \
            "$build/libevent/lib/libevent_core.a" \
            "$build/libevent/lib/libevent_pthreads.a" -pthread
}

build_both() { # HOST
    "configure_$1" && "make_$1" before && "place_$1" && "make_$1" after
}

# ------------------------------------------------------------------ tests ---

tests_of_libuv() {
    case $mode in
    --all) wanted=. ;;
    *) wanted=timer ;;
    esac
    "$build/before/uv_run_tests_a" --list | awk '{ print $1 }' | grep "$wanted"
}

tests_of_libevent() {
    if [ "$mode" = --all ]; then
        "$build/before/regress" --list-tests | grep -v 'Off by default' |
            grep -o '[a-zA-Z]*/[a-zA-Z0-9_]*$'
        return
    fi
    echo heap/randomized
    echo thread/no_events
    for name in active_by_fd active_later common_timeout event_foreach \
        event_once event_pending event_remove_timeout fork loopexit \
        loopexit_multiple many_events many_events_slow_add \
        persistent_active_timeout persistent_timeout \
        persistent_timeout_jump simpletimeout; do
        echo "main/$name"
    done
    for name in bufferevent_timeout bufferevent_timeout_pair \
        bufferevent_timeout_filter bufferevent_timeout_filter_pair; do
        echo "bufferevent/$name"
    done
}

test_libuv() { # FOLDER, NAME: some read files that are beside the source
    (cd "$libuv" && timeout 120 "$top/$1/uv_run_tests_a" "$2")
}

test_libevent() { # FOLDER, NAME
    (cd "$build/$1" && timeout 120 ./regress "$2")
}

# attempt HOST FOLDER NAME
attempt() {
    for _ in 1 2 3; do
        "test_$1" "$2" "$3" >"$build/said" 2>&1 </dev/null && return
    done
    return 1
}

# compare HOST: every test before and after. Counts what passed in `before` and
# `after`.
compare() {
    number=0 before=0 after=0
    "tests_of_$1" >"$build/tests.$1"
    while read -r name; do
        number=$((number + 1))
        same=
        if attempt "$1" before "$name"; then
            before=$((before + 1))
        elif [ "$mode" = --all ]; then
            same=', which fails without our file as well'
        fi
        if attempt "$1" after "$name"; then
            after=$((after + 1))
            pass "$1: its test $name"
        elif [ -n "$same" ]; then
            pass "$1: its test $name$same"
        else
            fail "$1: its test $name" "$build/said"
        fi
    done <"$build/tests.$1"
    [ "$after" != 0 ] || fail "$1: a test passes"
    row "$1" 'tests passed' "$before of $number" "$after of $number"
}

# ------------------------------------------------------------- benchmarks ---

row() {
    printf '%-9s %-38s %14s %14s\n' "$@" >>"$build/table"
}

# Seconds of processor time that the 10 million timers of libuv's own benchmark
# take. Most of the ten seconds that it reports itself it sleeps.
million_timers() { # FOLDER
    sh -c '"$0" million_timers million_timers && times' \
        "$build/$1/uv_run_benchmarks_a" 2>/dev/null |
        awk -F '[ms ]+' 'NR == 2 {
            printf "%.1f\n", $1 * 60 + $2 + $3 * 60 + $4 }'
}

bench_libuv() {
    before=$(million_timers before)
    after=$(million_timers after)
    row libuv 'benchmark million_timers, s' "$before" "$after"
    expect 'libuv: its benchmark runs' test -n "$before" -a -n "$after"
}

bench_libevent() {
    expect 'libevent: a million events, as it is' "$build/before/timers"
    sed '$d' "$build/said" >"$build/before.txt"
    expect 'libevent: a million events, each once and in order' \
        "$build/after/timers"
    sed '$d' "$build/said" >"$build/after.txt"
    paste -d / "$build/before.txt" "$build/after.txt" |
        while IFS=/ read -r first second; do
            row libevent "a million events, ${first% *}, s" \
                "${first##* }" "${second##* }"
        done
}

# --------------------------------------------------------------- the hosts ---

host() { # NAME, FOLDER OF ITS SOURCE
    if ! [ -d "$2" ]; then
        skip "$1 with its timers on timingwheel.h" \
            "this Debian has another version than ${2##*/}"
        return
    fi
    if ! build_both "$1" >"$build/log.$1" 2>&1; then
        tail -n 25 "$build/log.$1" >"$build/said"
        fail "$1 compiles with its timers on timingwheel.h" "$build/said"
        return
    fi
    compare "$1"
    [ "$mode" = --tests ] || "bench_$1"
}

: >"$build/table"
row host '' before after
if ! have cmake || ! have gcc; then
    skip 'libuv and libevent' 'cmake or gcc is missing'
elif ! test/hosts/get-sources.sh "$build/sources" libuv1 libevent \
    >"$build/log" 2>&1; then
    tail -n 5 "$build/log" | sed 's/^/# /'
    skip 'libuv and libevent' 'their source packages cannot be had'
else
    host libuv "$libuv"
    host libevent "$libevent"
fi
sed 's/^/# /' "$build/table"
tap_end
