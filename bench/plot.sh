#!/bin/sh
# SPDX-License-Identifier: MIT
#
# plot.sh DIRECTORY - draws one SVG per workload from DIRECTORY/medians.tsv: ns
# per operation over the number of timers, one line per engine.
set -eu
cd "$1"

for workload in hold expire restart postpone startstop burst sparse \
    still-restart still-postpone; do
    lines=
    for engine in wheel heap4 heap2 rbtree list libev libuv libevent glib; do
        awk -F '\t' -v w="$workload" -v e="$engine" \
            '$1 == w && $3 == e { print $2, $4 }' medians.tsv |
            sort -n >"$workload.$engine.dat"
        case $engine in
        wheel) style='lw 3.5 pt 7 lc rgb "#d33682"' ;;
        heap4) style='lw 2 pt 5 lc rgb "#268bd2"' ;;
        heap2) style='lw 1.5 pt 4 lc rgb "#6c9fc4"' ;;
        rbtree) style='lw 1.5 pt 9 lc rgb "#859900"' ;;
        list) style='lw 1.5 pt 13 lc rgb "#b58900"' ;;
        libev) style='lw 1.5 pt 6 lc rgb "#2aa198"' ;;
        libuv) style='lw 1.5 pt 8 lc rgb "#6c71c4"' ;;
        libevent) style='lw 1.5 pt 10 lc rgb "#cb4b16"' ;;
        glib) style='lw 1.5 pt 12 lc rgb "#586e75"' ;;
        esac
        [ ! -s "$workload.$engine.dat" ] ||
            lines="${lines:+$lines, }'$workload.$engine.dat' \
with linespoints title '$engine' $style"
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
