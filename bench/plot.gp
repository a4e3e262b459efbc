# SPDX-License-Identifier: MIT
#
# plot.gp - draws the time per fired timer against the number of timers.
#
#     gnuplot -c plot.gp DATA OUTPUT light|dark 'NAME...'
#
# A line of DATA is a number of timers, and the ns of each engine in NAMES. The
# name of an engine stands at the end of its line.

dark = ARG3 eq 'dark'
paper = dark ? '#0d1117' : '#ffffff'
ink = dark ? '#e6edf3' : '#1f2328'
rule = dark ? '#30363d' : '#d1d9e0'
colours = dark ? '#ff6ac1 #6cb6ff #f0883e #56d4bc' : '#d01c7d #0b5cad #b54708 #0f7b6c'

set terminal svg size 720,380 font 'sans-serif,14' background paper
set output ARG2
set lmargin 9; set rmargin 16; set tmargin 3; set bmargin 3.5
set label 100 'Nanoseconds until a timer has fired and started again' \
    at graph 0, screen 0.94 font ',15' textcolor rgb ink
set border 3 lc rgb ink
set tics nomirror scale 0.5 textcolor rgb ink
set grid ytics lc rgb rule lt 1
set logscale xy
set xlabel 'timers pending' textcolor rgb ink
set format y '%.0f'
set ytics (20, 50, 100, 200, 500, 1000, 2000, 5000)
set xtics ('100' 1e2, '1,000' 1e3, '10,000' 1e4, '100,000' 1e5, '1 million' 1e6, '10 million' 1e7)
set xrange [90:*] noextend
unset key
last(e) = system(sprintf("awk '$%d != \"NaN\" { l = $1 \" \" $%d } END { print l }' '%s'", e + 1, e + 1, ARG1))
do for [e = 1:words(ARG4)] {
    set label e word(ARG4, e) at first real(word(last(e), 1)), first real(word(last(e), 2)) \
        offset 1,0 textcolor rgb word(colours, e)
}
plot for [e = 1:words(ARG4)] ARG1 using 1:(column(e + 1)) with linespoints \
    lc rgb word(colours, e) pt 7 ps 0.5 lw (e == 1 ? 3 : 1.7)
