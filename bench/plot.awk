# SPDX-License-Identifier: MIT
#
# plot.awk - cells.tsv (see summary.awk) in, commands for gnuplot out, for one
# plot. `kind` is lines (ns over the number of timers, one line per engine), calls
# (quantiles of one call) or bars (one bar per engine). Each line has its name at
# its end. `workload`, `title`, `unit` and `machine` say what to draw; `n` is the
# number of timers in calls and bars.

BEGIN {
    FS = "\t"
    name["wheel"] = "timingwheel.h";      colour["wheel"] = "#d33682"
    name["wheel-late"] = "not moved ahead"; colour["wheel-late"] = "#c9709b"
    name["heap4"] = "4-ary heap";         colour["heap4"] = "#268bd2"
    name["heap2"] = "binary heap";        colour["heap2"] = "#7fa8c9"
    name["rbtree"] = "red-black tree";    colour["rbtree"] = "#6f8000"
    name["list"] = "linked lists";        colour["list"] = "#a67c00"
    name["timeout"] = "timeout.c";        colour["timeout"] = "#cb4b16"
    name["radix"] = "powers of two";      colour["radix"] = "#8d6fd1"
    name["libev"] = "libev";              colour["libev"] = "#2aa198"
    name["libuv"] = "libuv";              colour["libuv"] = "#6f8000"
    name["libevent"] = "libevent";        colour["libevent"] = "#cb4b16"
    name["glib"] = "GLib";                colour["glib"] = "#a67c00"
    name["waiting"] = "only waiting";     colour["waiting"] = "#768390"
    split("p50 p99 p99.9 p99.99 max", quantile, " ")
}

$1 == workload && $3 == 0 {
    if (kind == "lines")
        add($4, $2, $8)
    else if (kind == "bars" && $2 == n)
        add($4, 0, $8)
    else if (kind == "calls" && $2 == n)
        add_calls($4, $12)
}

function add(engine, x, y)
{
    if (!(engine in points))
        engines[++engine_count] = engine
    point_x[engine, ++points[engine]] = x
    point_y[engine, points[engine]] = y
    if (least == "" || y < least)
        least = y
    if (y > most)
        most = y
    if (first_x == "" || x + 0 < first_x)
        first_x = x + 0
    if (x + 0 > last_x)
        last_x = x + 0
}

function add_calls(engine, text,    count, pairs, pair, i, value)
{
    count = split(text, pairs, " ")
    for (i = 1; i <= count; i++) {
        split(pairs[i], pair, "=")
        value[pair[1]] = pair[2]
    }
    for (i = 1; i <= 5; i++)
        add(engine, i, value[quantile[i]] / 1000)
    for (i = 1; i <= 5 && engine == "wheel"; i++)
        add("waiting", i, value["idle_" quantile[i]] / 1000)
}

function name_of(engine)
{
    return engine in name ? name[engine] : engine
}

function colour_of(engine)
{
    return engine in colour ? colour[engine] : "#768390"
}

# Returns the nearest of 1, 2, 5, 10, 20 ... not above y (or not below).
function round_down(y,    power)
{
    power = 10 ^ int(log(y) / log(10) + 100) / 10 ^ 100
    if (y >= 5 * power)
        return 5 * power
    return y >= 2 * power ? 2 * power : power
}

function round_up(y,    below)
{
    below = round_down(y)
    if (below * 0.999 <= y && y <= below * 1.001)
        return below
    return below * (below ~ /^0*\.?0*2/ ? 2.5 : 2)
}

function with_commas(y,    text)
{
    text = y < 999 ? sprintf("%.4g", y) : sprintf("%.0f", y)
    while (match(text, /[0-9][0-9][0-9][0-9](,|$)/))
        text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
    return text
}

# Sorts the points of each engine by x, and the engines by their last y.
function sort_all(    e, i, j, engine, x, y, last, k)
{
    for (e = 1; e <= engine_count; e++) {
        engine = engines[e]
        for (i = 2; i <= points[engine]; i++)
            for (j = i; j > 1 && point_x[engine, j - 1] + 0 > \
                 point_x[engine, j] + 0; j--) {
                x = point_x[engine, j]; y = point_y[engine, j]
                point_x[engine, j] = point_x[engine, j - 1]
                point_y[engine, j] = point_y[engine, j - 1]
                point_x[engine, j - 1] = x; point_y[engine, j - 1] = y
            }
    }
    for (i = 2; i <= engine_count; i++)
        for (j = i; j > 1 && last_y(engines[j - 1]) > last_y(engines[j]); j--) {
            k = engines[j]; engines[j] = engines[j - 1]; engines[j - 1] = k
        }
}

function last_y(engine)
{
    return point_y[engine, points[engine]] + 0
}

function begin_plot(height)
{
    print "set terminal svg size 720," height " font 'sans-serif,13'"
    print "set encoding utf8"
    printf "set label 1 \"%s\" at screen 0.02,%.3f left font ',15'\n", title,
        1 - 22 / height
    printf "set label 2 \"%s\" at screen 0.02,%.3f left font ',10'\n", machine,
        12 / height
    print "unset key"
    print "set border 3 lw 0.7"
    print "set style line 100 lc rgb 'gray' lw 0.5 dt solid"
}

# Labels at the ends of the lines, at least `gap` of the height apart. A line that
# ends inside of the plot has its label there.
function label_lines(bottom, top, gap,    e, i, n, place, moved, ends)
{
    for (e = 1; e <= engine_count; e++) {
        if (point_x[engines[e], points[engines[e]]] + 0 < last_x) {
            label(engines[e], point_x[engines[e], points[engines[e]]] "," \
                last_y(engines[e]) " offset 0.7,0")
            continue
        }
        ends[++n] = engines[e]
        place[n] = (log(last_y(ends[n])) - log(bottom)) / \
            (log(top) - log(bottom))
    }
    for (i = 1; i <= 200; i++)
        for (e = 2; e <= n; e++)
            if (place[e] - place[e - 1] < gap) {
                moved = (gap - (place[e] - place[e - 1])) / 2
                place[e] += moved
                place[e - 1] -= moved
            }
    for (e = 1; e <= n; e++)
        label(ends[e], sprintf("graph 1.02,%.4f", place[e]))
}

function label(engine, place)
{
    printf "set label \"%s\" at %s left textcolor rgb '%s'\n",
        name_of(engine), place, colour_of(engine)
}

function data_and_plot(    e, i, engine, line)
{
    for (e = engine_count; e >= 1; e--) {
        engine = engines[e]
        print "$data" e " << END"
        for (i = 1; i <= points[engine]; i++)
            print point_x[engine, i], point_y[engine, i]
        print "END"
        line = line (line == "" ? "plot " : ", ") "$data" e \
            " with linespoints lc rgb '" colour_of(engine) "' pt 7 ps 0.4 lw " \
            (engine == "wheel" ? 3 : 1.5) \
            (engine ~ /^(waiting|wheel-late)$/ ? " dt 2" : "")
    }
    print line
}

function y_axis(    y, bottom, top, line, step)
{
    bottom = round_down(least)
    top = round_up(most)
    for (y = bottom; y <= top * 1.001; y = round_up(y * 1.01))
        if (top < 1500 * bottom || sprintf("%e", y) ~ /^1.0/)
            line = line (line == "" ? "" : ", ") "'" with_commas(y) "' " y
    print "set logscale y"
    print "set yrange [" bottom ":" top "]"
    print "set ytics (" line ") nomirror scale 0.5"
    print "set label \"" unit "\" at screen 0.018,0.54 center rotate by 90"
    print "set grid ytics ls 100"
    label_lines(bottom, top, 0.052)
}

function margins()
{
    print "set lmargin at screen 0.125"
    print "set rmargin at screen 0.80"
    print "set tmargin at screen 0.88"
    print "set bmargin at screen 0.20"
}

function plot_lines()
{
    begin_plot(400)
    margins()
    print "set logscale x"
    print "set xrange [" first_x * 0.8 ":*]"
    print "set xtics ('100' 1e2, '1,000' 1e3, '10,000' 1e4, '100,000' 1e5," \
        " '1 million' 1e6, '10 million' 1e7) nomirror scale 0.5"
    print "set xlabel 'timers pending'"
    y_axis()
    data_and_plot()
}

function plot_calls()
{
    begin_plot(400)
    margins()
    print "set xrange [0.9:5.05]"
    print "set xtics ('half' 1, '99 %%' 2, '99.9 %%' 3, '99.99 %%' 4, 'all' 5)" \
        " nomirror scale 0.5"
    print "set xlabel 'share of calls that take at most this time'"
    y_axis()
    data_and_plot()
}

function plot_bars(    e, wheel, height)
{
    height = 90 + 34 * engine_count
    begin_plot(height)
    print "set lmargin at screen 0.17"
    print "set rmargin at screen 0.97"
    printf "set tmargin at screen %.3f\n", 1 - 44 / height
    printf "set bmargin at screen %.3f\n", 34 / height
    print "set xrange [0:" most * 1.4 "]"
    print "set yrange [0.4:" engine_count + 0.6 "]"
    print "unset xtics"
    print "unset border"
    print "set style fill solid noborder"
    wheel = point_y["wheel", 1]
    print "$bars << END"
    for (e = 1; e <= engine_count; e++)
        printf "%s %d \"%s\" \"%s\"\n", point_y[engines[e], 1],
            engine_count - e + 1, name_of(engines[e]),
            bar_label(engines[e], wheel)
    print "END"
    print "set ytics scale 0"
    print "plot $bars using (0):2:(0):1:($2-0.36):($2+0.36):ytic(3) with" \
        " boxxyerror lc rgb '#8a9bb0', $bars using (strcol(3) eq '" \
        name_of("wheel") "' ? 0 : NaN):2:(0):1:($2-0.36):($2+0.36) with" \
        " boxxyerror lc rgb '" colour_of("wheel") "', $bars using" \
        " 1:2:4 with labels left offset 0.6,0"
}

function bar_label(engine, wheel,    y)
{
    y = point_y[engine, 1]
    if (engine == "wheel")
        return sprintf("%.0f ns", y)
    return sprintf("%.0f ns (%.1f times)", y, y / wheel)
}

END {
    sort_all()
    if (engine_count == 0)
        exit 0
    if (kind == "bars")
        plot_bars()
    else if (kind == "calls")
        plot_calls()
    else
        plot_lines()
}
