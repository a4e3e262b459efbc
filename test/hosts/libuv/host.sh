# host.sh - libuv 1.44, whose heap of timers timer.c replaces.
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154

package=libuv1
version='libuv1-1.44.*'
programs='gcc cmake make'

export UV_RUN_AS_ROOT=1 # or libuv's tests refuse root

place() {
    cp "$top/timingwheel.h" "$adapter/timer.c" "$source/src"
}

configure() { # as C99, which the wheel needs
    sed -i 's/CMAKE_C_STANDARD 90/CMAKE_C_STANDARD 99/' \
        "$source/CMakeLists.txt" && configure_with_cmake
}

make_programs() { # FOLDER
    targets=uv_run_tests_a
    [ "$mode" = --tests ] || targets="$targets uv_run_benchmarks_a"
    # shellcheck disable=SC2086
    make -s -C "$build/work" $targets &&
        (cd "$build/work" && cp $targets "$build/$1")
}

list_tests() {
    case $mode in
    --all) wanted=. ;;
    *) wanted=timer ;;
    esac
    "$build/before/uv_run_tests_a" --list | awk '{ print $1 }' | grep "$wanted"
}

run_test() { # FOLDER NAME: some tests read files beside the source
    (cd "$source" && timeout 120 "$build/$1/uv_run_tests_a" "$2")
}

# Prints the seconds of processor time for the 10 million timers of libuv's own
# benchmark. The benchmark sleeps for most of the ten seconds that it reports.
million_timers() { # FOLDER
    sh -c '"$0" million_timers million_timers && times' \
        "$build/$1/uv_run_benchmarks_a" 2>/dev/null |
        awk -F '[ms ]+' 'NR == 2 {
            printf "%.1f\n", $1 * 60 + $2 + $3 * 60 + $4 }'
}

bench() {
    before=$(million_timers before)
    after=$(million_timers after)
    row 'benchmark million_timers, s' "$before" "$after"
    expect 'libuv: its benchmark runs' test -n "$before" -a -n "$after"
}
