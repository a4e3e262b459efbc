#!/bin/sh
# SPDX-License-Identifier: MIT
#
# plot.sh DIRECTORY - draws the plots from DIRECTORY/cells.tsv, by gnuplot.
set -eu

cd "$(dirname "$0")"
results=$1
cells=$results/cells.tsv

# "processor, cores, system; compiler; date, seed, runs" without the compiler.
machine=$(sed 's/;.*;/;/' "$results/machine.txt")

# draw FILE KIND WORKLOAD N UNIT TITLE: no file if there are no such cells.
draw() {
    commands=$(awk -v kind="$2" -v workload="$3" -v n="$4" -v unit="$5" \
        -v title="$6" -v machine="$machine" -f plot.awk "$cells")
    [ -n "$commands" ] || return 0
    echo "$commands" | gnuplot | awk -f svg.awk >"$results/$1.svg"
}

rm -f "$results"/*.svg
draw hold lines hold 0 'nanoseconds per timer' \
    'A timer fires and starts again'
draw expire lines expire 0 'nanoseconds per timer' \
    'Start all timers, then let all timers fire'
draw restart lines restart 0 'nanoseconds per timer' \
    'Cancel a random timer and start it again, while time passes'
draw postpone lines postpone 0 'nanoseconds per timer' \
    'Postpone a random timer, while time passes'
draw sparse lines sparse 0 'nanoseconds per timer' \
    'A timer fires and starts again: delays from 1 us to 1 h, ticks of 1 ns'
# calls: the largest number of timers that was run.
size=$(awk -F '\t' '$1 == "calls-minute" && $2 > n { n = $2 }
    END { print n + 0 }' "$cells")
case $size in
*000000) count="${size%000000} million" ;;
*) count=$size ;;
esac
draw calls calls calls-minute "$size" 'microseconds per call' \
    "One call that moves the clock by 1 ms; $count timers fire within a minute"

# Event loops, the wheel and the best heap. README.md shows event-loops.svg.
awk -F '\t' '$4 ~ /^(wheel|heap4|libev|libuv|libevent|glib)$/' "$cells" \
    >"$results/loops"
cells=$results/loops
draw callback-restart lines callback-restart 0 'nanoseconds per timer' \
    'Cancel a random timer and start it again, in a callback'
draw callback-postpone lines callback-postpone 0 'nanoseconds per timer' \
    'Postpone a random timer, in a callback'
draw event-loops bars callback-restart 100000 '' \
    'Cancel a random one of 100,000 timers and start it again'
rm -f "$results/loops"
