#!/bin/sh
# gdb.sh - test/gdb/timingwheel.py in gdb, without a hand on the keyboard: what
# it shows of the wheels and timers of toy.c. Prints TAP; run from the top of
# the repository.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/gdb
. test/lib/tap.sh
rm -rf "$build"
mkdir -p "$build"

# shows EXPRESSION TEXT...: does gdb print it so?
shows() {
    expression=$1
    shift
    gdb -nx -batch -ex 'set debuginfod enabled off' \
        -ex 'source test/gdb/timingwheel.py' -ex 'set print pretty on' \
        -ex 'break look' -ex run -ex up -ex "print $expression" \
        "$build/toy" >"$build/printed" 2>&1 || return
    # shellcheck disable=SC2016
    sed -n '/^\$1 = /,$p' "$build/printed" |
        sed 's/^\$1 = //; s/0x[0-9a-f]* //' >"$build/shown"
    printf '%s\n' "$@" | diff - "$build/shown" && return
    cat "$build/printed"
    return 1
}

# Can gdb run a program here, and Python in itself?
gdb_works() {
    gdb -nx -batch -ex 'python print("has Python")' -ex run "$build/toy" \
        >"$build/tried" 2>&1
    grep -q '^has Python' "$build/tried" &&
        grep -q 'exited normally' "$build/tried"
}

# CC may hold options too.
# shellcheck disable=SC2086
expect 'toy.c compiles' ${CC:-cc} -std=c99 -g -O0 -o "$build/toy" test/gdb/toy.c
if ! have gdb || ! gdb_works; then
    skip 'timers and wheels in gdb' 'gdb is missing, or cannot run a program'
    tap_end
    exit
fi
expect 'a timer that is pending' shows 'timers[1]' \
    'pending (one of 2 from tick 9), deadline 9, callback <on_fire>'
expect 'a timer whose bucket is sorted, and fires' shows 'sorted[1]' \
    'pending (one of 2 from tick 10), deadline 10, callback <on_fire>'
expect 'a timer that has fired' shows 'timers[0]' \
    'fired, deadline 1, callback <on_fire>'
expect 'a timer that was cancelled' shows 'timers[3]' \
    'cancelled, deadline 11, callback <on_fire>'
expect 'a timer that is overdue, without a callback' shows 'timers[7]' \
    'pending (one of 1 from tick 0), deadline 0, callback 0x0'
expect 'a timer that was never started' shows idle \
    'idle, deadline 0, callback 0x0'
expect 'a timer that was overwritten' shows broken \
    'pending (in no bucket: overwritten?), deadline 0, callback 0x0'
expect 'a wheel' shows toy \
    'clock 4 (tick 4, of 1 time units), 5 pending, 1 fired = {' \
    '  wheel 0 = 1 from tick 9,' \
    '  wheel 1 = 2 from tick 9, 2 from tick 13,' \
    '  queue = wheel 1 at tick 9, wheel 0 at tick 9' '}'
expect 'a wheel with many timers in a bucket, and one overdue' shows large \
    'clock 70000 (tick 70000, of 1 time units), 20 pending, 40 fired = {' \
    '  wheel 1 = empty,' '  wheel 2 = 19 from tick 210000,' \
    '  queue = wheel 2 at tick 210000,' '  overdue = 1' '}'
expect 'a wheel that was destroyed' shows destroyed 'not set up, or destroyed'
expect 'its fields, if asked for' shows '/r toy.count' 5
tap_end
