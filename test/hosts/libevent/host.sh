# host.sh - libevent 2.1.12, whose heap of timeouts minheap-internal.h replaces.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154

package=libevent
version='libevent-2.1.12-*'
programs='gcc cmake make'

# struct event gets room for a timer. Two functions of event.c walk over the
# heap's array: these functions get the array of all events instead. A third
# function checks that the array is a heap: this function keeps the empty array.
place() {
    cp "$top/timingwheel.h" "$adapter/minheap-internal.h" "$source" &&
        sed -i 's/^.*} ev_timeout_pos;$/& ev_uint64_t ev_room[4];/' \
            "$source/include/event2/event_struct.h" &&
        sed -i -e '/^event_base_assert_ok_nolock_/,/^}/b' \
            -e 's/timeheap\.n\>/timeheap.all_n/' \
            -e 's/timeheap\.p\[/timeheap.all[/' "$source/event.c"
}

configure() {
    configure_with_cmake -DEVENT__LIBRARY_TYPE=STATIC \
        -DEVENT__DISABLE_OPENSSL=ON
}

make_programs() { # FOLDER
    # shellcheck disable=SC2086
    make -s -C "$build/work" regress &&
        cp "$build/work/bin/regress" "$build/$1" &&
        gcc -std=c99 -O2 $warnings -isystem "$build/work/include" \
            -isystem "$source/include" -o "$build/$1/timers" \
            "$adapter/timers.c" "$build/work/lib/libevent_core.a" \
            "$build/work/lib/libevent_pthreads.a" -pthread
}

list_tests() {
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

run_test() { # FOLDER NAME
    (cd "$build/$1" && timeout 120 ./regress "$2")
}

bench() {
    expect 'libevent: a million events, as it is' "$build/before/timers"
    sed '$d' "$build/said" >"$build/before.txt"
    expect 'libevent: a million events, each once and in order' \
        "$build/after/timers"
    sed '$d' "$build/said" >"$build/after.txt"
    paste -d / "$build/before.txt" "$build/after.txt" |
        while IFS=/ read -r first second; do
            row "a million events, ${first% *}, s" \
                "${first##* }" "${second##* }"
        done
}
