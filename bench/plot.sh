#!/bin/sh
# SPDX-License-Identifier: MIT
#
# plot.sh DIRECTORY - draws one SVG per workload from DIRECTORY/medians.tsv: ns
# per operation over the number of timers, one line per engine. calls.svg, from
# DIRECTORY/calls.tsv, shows the quantiles of one call in calls-minute.
set -eu
cd "$1"

# style ENGINE: how gnuplot draws the line of an engine, or of loops that only
# wait.
style() {
    case $1 in
    wheel) echo 'lw 3.5 pt 7 lc rgb "#d33682"' ;;
    wheel-late) echo 'lw 1.5 pt 6 dt 2 lc rgb "#d33682"' ;;
    heap4) echo 'lw 2 pt 5 lc rgb "#268bd2"' ;;
    heap2) echo 'lw 1.5 pt 4 lc rgb "#6c9fc4"' ;;
    rbtree) echo 'lw 1.5 pt 9 lc rgb "#859900"' ;;
    list) echo 'lw 1.5 pt 13 lc rgb "#b58900"' ;;
    libev) echo 'lw 1.5 pt 6 lc rgb "#2aa198"' ;;
    libuv) echo 'lw 1.5 pt 8 lc rgb "#6c71c4"' ;;
    libevent) echo 'lw 1.5 pt 10 lc rgb "#cb4b16"' ;;
    glib) echo 'lw 1.5 pt 12 lc rgb "#586e75"' ;;
    waiting) echo 'lw 2 pt 1 dt 3 lc rgb "#657b83"' ;;
    esac
}

for workload in hold expire restart postpone startstop burst sparse \
    still-restart still-postpone; do
    lines=
    for engine in wheel heap4 heap2 rbtree list libev libuv libevent glib; do
        awk -F '\t' -v w="$workload" -v e="$engine" \
            '$1 == w && $3 == e { print $2, $4 }' medians.tsv |
            sort -n >"$workload.$engine.dat"
        [ ! -s "$workload.$engine.dat" ] ||
            lines="${lines:+$lines, }'$workload.$engine.dat' \
with linespoints title '$engine' $(style $engine)"
    done
    [ -z "$lines" ] || gnuplot <<PLOT
set terminal svg size 640,360 font 'sans-serif,12' background rgb 'white'
set output '$workload.svg'
set title '$workload: ns per operation'
set xlabel 'timers pending'
set logscale xy
set xtics ('100' 1e2, '1 k' 1e3, '10 k' 1e4, '100 k' 1e5, '1 M' 1e6, \\
    '10 M' 1e7, '100 M' 1e8)
set offsets graph 0.03, graph 0.03
set key outside right
set grid
set yrange [1:*]
plot $lines
PLOT
    rm -f "$workload".*.dat
done

[ -e calls.tsv ] || exit 0

# The largest number of timers that calls-minute was run with.
size=$(awk -F '\t' '$1 == "calls-minute" && $2 > n { n = $2 }
    END { print n }' calls.tsv)
case $size in
*000000) pending="${size%000000} M" ;;
*) pending=$size ;;
esac
lines=
for engine in wheel heap4 wheel-late waiting; do
    awk -F '\t' -v n="$size" -v e="$engine" \
        '$1 == "calls-minute" && $2 == n && $3 == e { print $4, $5 / 1000 }' \
        calls.tsv >"calls.$engine.dat"
    [ ! -s "calls.$engine.dat" ] ||
        lines="${lines:+$lines, }'calls.$engine.dat' \
with linespoints title '$engine' $(style $engine)"
done
[ -z "$lines" ] || gnuplot <<PLOT
set terminal svg size 640,360 font 'sans-serif,12' background rgb 'white'
set output 'calls.svg'
set title 'calls-minute: us per call, $pending timers'
set xlabel 'quantile of all calls'
set logscale y
set xrange [0.8:5.2]
set xtics ('50 %%' 1, '99 %%' 2, '99.9 %%' 3, '99.99 %%' 4, 'max' 5)
set ytics ('0.1' 1e-1, '1' 1e0, '10' 1e1, '100' 1e2, '1,000' 1e3, \\
    '10,000' 1e4, '100,000' 1e5)
set key outside right
set grid
plot $lines
PLOT
rm -f calls.*.dat
