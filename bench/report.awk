# SPDX-License-Identifier: MIT
#
# report.awk - prints the tables of cells.tsv (see summary.awk). With README.md
# as second file: prints this file, with new tables between the lines
# <!-- begin NAME --> and <!-- end NAME -->.
#
#     awk -v machine=TEXT -f report.awk cells.tsv [README.md]
#
# Fails if two engines did not fire the same timers, or if the wheel wakes its
# loop more often than a heap.

BEGIN {
    FS = "\t"
    all = "wheel heap4 heap4_lazy heap2 rbtree list timeout radix libuv" \
        " libevent libev glib"
    rows = "wheel wheel-late " substr(all, 7) " mailbox mutex waiting"
    some = "wheel heap4_lazy libuv libevent timeout"
    most = "hold expire restart postpone cancel startstop burst sparse trace"
    table("peers", "ns_per_operation", "hold restart postpone", some)
    table("longest", "max", "calls-minute", some)
    table("engines", "ns_per_operation", most, all)
    table("faster", "ns_per_operation", most, all)
    table("wakeups", "wakeups/fired", most, all)
    table("bytes", "bytes_per_timer", "hold sparse", all)
    table("floors", "floor_ns", "expire postpone", "wheel")
    table("objects", "ns_per_operation", "hold restart cancel", all)
    table("libraries", "ns_per_operation", "callback-restart" \
        " callback-postpone", "wheel heap4 heap4_lazy libev libuv libevent glib")
    table("turns", "phase_turn", "callback-restart", "libev glib")
    table("calls", "p50 p99 p99.9 p99.99 max moved most_moved fired_with_most",
        "calls-minute calls-hour calls-idle limit")
    table("threads", "rate ns_per_operation loop_ns longest_us",
        "post-64 post-1024 shard")
    table("pages", "ns_per_operation floor_ns",
        "expire-small-pages expire-huge-pages")
    split("100 1000 10000 100000 1000000 10000000 100000000 asyncio-http" \
        " http-proxy 1 2 4", inputs, " ")
}

# A table with a column per engine, or else with a column per figure.
function table(name, figures, workloads, engines)
{
    parts[++part_count] = name
    figure_of[name] = figures
    workloads_of[name] = workloads
    if (engines != "")
        engines_of[name] = engines
}

NR == 1 {
    for (i = 1; i <= NF; i++)
        column[i] = $i
    next
}

FNR == NR {
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
    for (i = 5; i <= NF; i++)
        if ($i != "-")
            figure[key, column[i]] = $i
    if (!objects[$3]++ && $3 != 0)
        sizes = sizes " " $3
    same = $1 SUBSEP $2 SUBSEP $3
    if (same in sum && $6 != "-" && $6 != sum[same])
        fail($1 " " $2 ": " $4 " did not fire what the others fired")
    if ($6 != "-")
        sum[same] = $6
    next
}

/^<!-- end / { skip = 0 }
!skip { print }
/^<!-- begin / {
    skip = 1
    split($0, words, " ")
    print_part(words[3])
}

function fail(message)
{
    print "bench: " message > "/dev/stderr"
    failed = 1
}

function short(n)
{
    return n ~ /[^0-9]/ || n < 1000 ? n : n < 1000000 ? n / 1000 " k" : \
        n / 1000000 " M"
}

# Returns a figure as text: calls in us, "wakeups/fired" as a quotient.
function text(key, name,    pair, value)
{
    if (split(name, pair, "/") == 2 && (key, pair[2]) in figure &&
        figure[key, pair[2]] >= 1000)
        return sprintf("%.3f", figure[key, pair[1]] / figure[key, pair[2]])
    if (!((key, name) in figure))
        return ""
    value = figure[key, name]
    if (name ~ /^(p[0-9]|max|phase_turn)/)
        return sprintf("%.2f", value / 1000)
    return sprintf(name ~ /with_most|most_moved|bytes/ || value >= 100 ? \
        "%.0f" : name == "moved" ? "%.2f" : "%.1f", value)
}

# Prints a row, after the head of the table if the row is the first one.
function print_row(row,    rule)
{
    if (head != "") {
        rule = head
        gsub(/[^|]+/, "---", rule)
        print "| " head " |\n|" rule "|"
    }
    head = ""
    print "| " row " |"
}

# Finds the engines that have a cell of the table, and the head of the table.
function begin_table(name,    key, part, e)
{
    split("", used)
    for (key in figure) {
        split(key, part, SUBSEP)
        if (index(" " workloads_of[name] " ", " " part[1] " ") &&
            index(figure_of[name] "/", part[5] "/") == 1 &&
            (part[3] != 0) == (name == "objects"))
            used[part[4]]
    }
    split(workloads_of[name], workload, " ")
    split(name == "objects" ? sizes : 0, object, " ")
    split(name in engines_of ? engines_of[name] : rows, engine, " ")
    split(figure_of[name], figures, " ")
    head = "workload N" (name == "objects" ? " bytes" : "")
    if (name == "faster")
        head = head " wheel faster"
    else if (name in engines_of)
        for (e = 1; e in engine; e++)
            head = head (engine[e] in used ? " " engine[e] : "")
    else
        head = head " engine " figure_of[name]
    gsub(/ /, " | ", head)
}

# Prints a row with the figure of each engine.
function row_of_engines(row, key, name,    e, any)
{
    for (e = 1; e in engine; e++)
        if (engine[e] in used) {
            any = any text(key SUBSEP engine[e], name)
            row = row " | " text(key SUBSEP engine[e], name)
        }
    if (any != "")
        print_row(row)
}

# Prints a row per engine, with the figures of the engine.
function rows_of_figures(first, key,    e, n, row, any)
{
    for (e = 1; e in engine; e++) {
        any = ""
        row = first " | " engine[e]
        for (n = 1; n in figures; n++) {
            any = any text(key SUBSEP engine[e], figures[n])
            row = row " | " text(key SUBSEP engine[e], figures[n])
        }
        if (any != "")
            print_row(row)
    }
}

# Prints a row with the engines that are at least 5 % faster than the wheel.
function row_of_faster(row, key,    e, ns, ours, list)
{
    ours = text(key SUBSEP "wheel", "ns_per_operation")
    for (e = 1; e in engine; e++) {
        ns = text(key SUBSEP engine[e], "ns_per_operation")
        if (ns != "" && ns + 0 < 0.95 * ours)
            list = list (list == "" ? "" : ", ") engine[e] " " ns
    }
    if (list != "")
        print_row(row " | " ours " | " list)
}

function print_part(name,    w, i, o, row, key)
{
    if (name == "machine")
        print machine "."
    begin_table(name)
    for (w = 1; w in workload; w++)
        for (i = 1; i in inputs; i++)
            for (o = 1; o in object; o++) {
                key = workload[w] SUBSEP inputs[i] SUBSEP object[o]
                row = workload[w] " | " short(inputs[i]) \
                    (name == "objects" ? " | " object[o] : "")
                if (name == "faster")
                    row_of_faster(row, key)
                else if (name in engines_of)
                    row_of_engines(row, key, figure_of[name])
                else
                    rows_of_figures(row, key)
            }
}

# A cancelled or postponed timer may cause a wake-up.
function check_wakeups(    key, part, heap)
{
    for (key in figure) {
        split(key, part, SUBSEP)
        heap = part[1] SUBSEP part[2] SUBSEP part[3] SUBSEP "heap4" SUBSEP part[5]
        if (part[1] ~ /^(hold|expire|burst|sparse)$/ && part[4] == "wheel" &&
            part[5] == "wakeups" && heap in figure && figure[key] > figure[heap])
            fail(part[1] " " part[2] ": the wheel wakes its loop more often")
    }
}

END {
    if (FNR == NR) {
        for (i = 1; i <= part_count; i++) {
            print "\n## " parts[i] "\n"
            print_part(parts[i])
        }
    }
    check_wakeups()
    exit failed
}
