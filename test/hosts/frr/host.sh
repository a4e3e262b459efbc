# host.sh - FRRouting 8.4, whose heap of timers thread_timers.c replaces.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154

package=frr
version='frr-8.4.*'
programs='gcc make autoconf automake libtoolize bison flex pkg-config'
headers='libyang/libyang.h json-c/json.h readline/readline.h gelf.h'

daemons='zebra bgpd ripd ripngd ospfd ospf6d ldpd nhrpd eigrpd babeld watchfrr
    isisd pimd pim6d pbrd staticd fabricd vrrpd pathd bfdd ospfapi ospfclient'

# thread.c walks over its heap in five places. Three functions have another
# version in thread_timers.c. The other places call functions of that file.
place() {
    cp "$top/timingwheel.h" "$adapter/thread_timers.h" \
        "$adapter/thread_timers.c" "$source/lib" &&
        sed -i 's/^PREDECL_HEAP(thread_timer.*/#include "thread_timers.h"/' \
            "$source/lib/thread.h" &&
        sed -i -f "$adapter/thread.sed" "$source/lib/thread.c"
}

configure() {
    flags=-O2
    [ "$mode" != --tests ] || flags='-O0 -g0'
    mkdir -p "$build/work" && cd "$source" && ./bootstrap.sh || return
    # shellcheck disable=SC2046,SC2086
    cd "$build/work" &&
        "$source/configure" $(printf -- '--disable-%s ' $daemons) \
            --disable-doc --disable-capabilities CFLAGS="$flags"
    configured=$?
    cd "$top" || return
    return "$configured"
}

# Compiles a program of ours with libfrr.
compile() { # FOLDER NAME
    # shellcheck disable=SC2086
    gcc -std=gnu11 -O2 $warnings -Wno-unused-parameter -Wno-conversion \
        -D_GNU_SOURCE -DHAVE_CONFIG_H -isystem "$build/work" \
        -isystem "$source" -isystem "$source/lib" -isystem "$source/include" \
        -o "$build/$1/$2" "$adapter/$2.c" "$build/$1/libfrr.so.0" -ldl
}

# Compiles thread.c for run_rounded.
compile_rounded() {
    sed -f "$adapter/rounded.sed" "$source/lib/thread.c" \
        >"$build/work/lib/rounded.c" &&
        gcc -std=gnu11 -fms-extensions -O2 -w -shared -fPIC -DHAVE_CONFIG_H \
            -I "$build/work" -I "$source/lib/assert" -I "$source" \
            -I "$source/include" -I "$source/lib" \
            -o "$build/before/librounded.so" "$build/work/lib/rounded.c"
}

make_programs() { # FOLDER
    make -s -j2 -C "$build/work" lib/libfrr.la \
        tests/lib/test_timer_correctness tests/lib/test_timer_performance &&
        cp "$build/work"/tests/lib/.libs/test_timer_* \
            "$build/work/lib/.libs/libfrr.so.0" "$build/$1" &&
        for program in cancel exact load bench; do
            compile "$1" $program || return
        done
    [ "$1" != before ] || compile_rounded
}

run_with_library() { # FOLDER NAME ARGUMENT...
    folder=$1 program=$2
    shift 2
    timeout 120 env LD_LIBRARY_PATH="$build/$folder" \
        LD_PRELOAD="${preload:-}" "$build/$folder/$program" "$@"
}

# The unchanged host, except that the wait for a timer is rounded up.
run_rounded() { # NAME ARGUMENT...
    preload=$build/before/librounded.so
    run_with_library before "$@"
    preload=
}

list_tests() {
    echo test_timer_correctness
    echo test_timer_performance
}

# A lost timer ends the program without a word and without an error.
run_test() { # FOLDER NAME
    run_with_library "$1" "$2" | tee "$build/last" &&
        grep -q 'output match\|^Removing' "$build/last"
}

# Prints the number before UNIT in standard input.
number_of() { # UNIT
    sed "s/.* \([0-9]*\) $1.*/\1/"
}

more_tests() {
    row 'cancelled by argument, of 200' \
        "$(run_with_library before cancel | number_of 'of 200')" \
        "$(run_with_library after cancel | number_of 'of 200')"
    row 'polls in 20 s of a moved clock' \
        "$(run_with_library before exact | number_of polls)" \
        "$(run_with_library after exact | number_of polls)"
    row '  the heap, its wait rounded up' \
        "$(run_rounded exact | number_of polls)" ''
    expect 'frr: thread_cancel_event cancels all 200 timers' \
        run_with_library after cancel
    expect 'frr: 2,000 timers, each once, in time, with few polls' \
        run_with_library after exact --few-polls
    expect 'frr: 10,000 timers in real time, none early, none lost' \
        run_with_library after load
}

# Prints the two figures of FRRouting's own benchmark as "MEASURE|NUMBER".
own_benchmark() { # FOLDER
    run_with_library "$1" test_timer_performance |
        sed -n 's/^\([A-Z].*\) random .* \([0-9.]*\) seconds\.$/\1, s|\2/p' |
        grep .
}

# Adds rows for the heap with its wait rounded up.
bench_rounded() { # TIMERS
    run_rounded load "$1" >"$build/rounded.txt" || return
    while IFS='|' read -r measure number; do
        row "  heap, rounded up: ${measure#*, }" "$number" ''
    done <"$build/rounded.txt"
}

bench() {
    expect 'frr: its own benchmark runs' compare_medians 5 own_benchmark
    expect 'frr: schedules, cancels and fires' \
        compare_medians 3 run_with_library bench
    for timers in 10000 1000; do
        expect "frr: $timers timers in real time" \
            compare_medians 3 run_with_library load $timers
        expect "frr: $timers timers in real time, heap rounded up" \
            bench_rounded $timers
    done
}
