# SPDX-License-Identifier: MIT
#
# plot.gp - draws the plots from cells.tsv (see summary.awk).
#
#     gnuplot -c plot.gp RESULTS 'LINE ABOUT THE MACHINE'

cells = ARG1.'/cells.tsv'
set terminal svg size 720,400 font 'sans-serif,13' background 'white'
set label 1 ARG2 at screen 0.02,0.03 font ',9'
set lmargin at screen 0.12; set bmargin at screen 0.2; set tmargin at screen 0.88
set key outside right center reverse Left samplen 1.5
set border 3
set grid ytics lc rgb '#d1d9e0' lt 1
set tics nomirror scale 0.5
set logscale xy
set format y '%.10g'

# The engines, their names and their colours.
engines = 'wheel wheel-late heap4 heap4_lazy heap2 rbtree list timeout radix libev libuv libevent glib waiting'
names = '"timingwheel.h" "not moved ahead" "4-ary heap" "lazy heap" "binary heap" "red-black tree" "linked lists" timeout.c "powers of two" libev libuv libevent GLib "only waiting"'
colours = '#d33682 #c9709b #268bd2 #0b3c5d #7fa8c9 #6f8000 #a67c00 #cb4b16 #8d6fd1 #2aa198 #84a59d #e09f3e #9c6644 #768390'
loops = 'wheel heap4 heap4_lazy libev libuv libevent glib'

# Prints the numbers of the engines that have a cell of the workload, of those
# in `list`.
chosen(workload, list) = system(sprintf("awk -v all='%s' -v list=' %s ' '$1 == \"%s\" && $3 == 0 { seen[$4] } END { n = split(all, e); for (i = 1; i <= n; i++) if (e[i] in seen && index(list, \" \" e[i] \" \")) print i }' %s", engines, list, workload, cells))
# Prints the most timers of a workload, up to `limit`.
most(workload, limit) = system(sprintf("awk '$1 == \"%s\" && $2 > n && $2 <= %d { n = $2 } END { print n }' %s", workload, limit, cells))
# Prints "timers ns" of one engine.
line(workload, e) = sprintf("< awk '$1 == \"%s\" && $3 == 0 && $4 == \"%s\" { print $2, $7 }' %s | sort -n", workload, word(engines, int(e)), cells)
# Prints "1 us" to "5 us": the quantiles of one engine with n timers.
calls(n, e) = sprintf("< awk 'NR == 1 { while ($(++i) != \"p50\") { } } $1 == \"calls-minute\" && $2 == %s && $4 == \"%s\" { for (q = 0; q < 5; q++) print q + 1, $(i + q) / 1000 }' %s", n, word(engines, int(e)), cells)

array lines[7] = ['hold', 'expire', 'restart', 'postpone', 'sparse', 'callback-restart', 'callback-postpone']
array titles[7] = ['A timer fires and starts again', \
    'Start all timers, then let all timers fire', \
    'Cancel a random timer and start it again, while time passes', \
    'Postpone a random timer, while time passes', \
    'A timer fires and starts again: delays from 1 us to 1 h, ticks of 1 ns', \
    'Cancel a random timer and start it again, in a callback', \
    'Postpone a random timer, in a callback']

set xtics ('100' 1e2, '1,000' 1e3, '10,000' 1e4, '100,000' 1e5, '1 million' 1e6, '10 million' 1e7)
set xrange [90:*]
set xlabel 'timers pending'
set ylabel 'nanoseconds per timer'
do for [k = 1:7] {
    shown = chosen(lines[k], k > 5 ? loops : engines)
    if (strlen(shown) > 0) {
        set output ARG1.'/'.lines[k].'.svg'
        set label 2 titles[k] at screen 0.02,0.95 font ',15'
        plot for [e in shown] line(lines[k], e) using 1:2 with linespoints \
            lc rgb word(colours, int(e)) pt 7 ps 0.4 lw (e == 1 ? 3 : 1.5) title word(names, int(e))
    }
}

shown = chosen('calls-minute', 'wheel wheel-late heap4 heap4_lazy timeout radix waiting')
if (strlen(shown) > 0) {
    n = most('calls-minute', 1e9)
    set output ARG1.'/calls.svg'
    set label 2 'One call that moves the clock by 1 ms; '.n.' timers fire within a minute' at screen 0.02,0.95 font ',15'
    set ylabel 'microseconds per call'
    set xlabel 'share of calls that take at most this time'
    unset logscale x
    set xrange [0.9:5.1]
    set xtics ('half' 1, '99 %%' 2, '99.9 %%' 3, '99.99 %%' 4, 'all' 5)
    plot for [e in shown] calls(n, e) using 1:2 with linespoints \
        lc rgb word(colours, int(e)) pt 7 ps 0.4 lw (e == 1 ? 3 : 1.5) title word(names, int(e))
}

shown = chosen('callback-restart', loops)
if (strlen(shown) > 0) {
    set output ARG1.'/event-loops.svg'
    n = int(most('callback-restart', 1e5))
    set label 2 sprintf('Cancel a random one of %d timers and start it again, ns', n) at screen 0.02,0.95 font ',15'
    unset key; unset xlabel; unset ylabel; unset ytics; unset grid
    unset logscale; set border 1; set yrange [0:*]
    set xrange [0.5:words(shown) + 0.5]
    set xtics ('' 0)
    do for [k = 1:words(shown)] { set xtics add (word(names, int(word(shown, k))) k) }
    set boxwidth 0.7; set style fill solid noborder
    plot for [k = 1:words(shown)] line('callback-restart', word(shown, k)) using (k):($1 == n ? $2 : NaN) \
        with boxes lc rgb word(colours, int(word(shown, k))), \
        for [k = 1:words(shown)] line('callback-restart', word(shown, k)) \
        using (k):($1 == n ? $2 : NaN):(sprintf('%.0f', $2)) with labels offset 0,0.7
}
