# host.sh - FRRouting 8.4, whose heap of timers thread_timers.c replaces.
#
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2034,SC2154

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
        sed -i 's/^PREDECL_HEAP(thread_timer_list);/#include "thread_timers.h"/' \
            "$source/lib/thread.h" &&
        sed -i -f "$adapter/thread.sed" "$source/lib/thread.c"
}

configure() {
    flags=-O2
    [ "$mode" != --tests ] || flags='-O0 -g0'
    mkdir -p "$build/work" && cd "$source" && ./bootstrap.sh &&
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

make_programs() { # FOLDER
    make -s -j2 -C "$build/work" lib/libfrr.la \
        tests/lib/test_timer_correctness tests/lib/test_timer_performance &&
        cp "$build/work"/tests/lib/.libs/test_timer_* \
            "$build/work/lib/.libs/libfrr.so.0" "$build/$1" &&
        compile "$1" cancel && compile "$1" load &&
        compile "$1" bench
}

run_with_library() { # FOLDER NAME ARGUMENT...
    folder=$1 program=$2
    shift 2
    LD_LIBRARY_PATH=$build/$folder timeout 120 "$build/$folder/$program" "$@"
}

list_tests() {
    echo test_timer_correctness
    echo test_timer_performance
}

run_test() { # FOLDER NAME
    run_with_library "$1" "$2"
}

more_tests() {
    run_with_library before cancel >"$build/before.txt" 2>&1
    run_with_library after cancel >"$build/after.txt" 2>&1
    row 'cancelled by argument' "$(words_2_to_4 <"$build/before.txt")" \
        "$(words_2_to_4 <"$build/after.txt")"
    expect 'frr: thread_cancel_event cancels all 200 timers' \
        run_with_library after cancel
    expect 'frr: 10,000 timers in real time, none early, none lost' \
        run_with_library after load
}

words_2_to_4() {
    cut -d ' ' -f 2-4 | tr -d ,
}

# Prints the two figures of FRRouting's own benchmark as "MEASURE|NUMBER".
own_benchmark() { # FOLDER
    run_with_library "$1" test_timer_performance |
        sed -n 's/^\([A-Z][a-z]*\) \([0-9]*\) .* \([0-9.]*\) seconds\.$/\1 \2, s|\3/p'
}

bench() {
    expect 'frr: its own benchmark runs' compare_medians 5 own_benchmark
    expect 'frr: schedules, cancels and fires' \
        compare_medians 3 run_with_library bench
    expect 'frr: 10,000 timers in real time' \
        compare_medians 3 run_with_library load
    expect 'frr: 1,000 timers in real time' \
        compare_medians 3 run_with_library load 1000
}
