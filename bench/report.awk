# SPDX-License-Identifier: MIT
#
# report.awk - results.jsonl in; the tables of table.md out, and the medians as
# a table for gnuplot in the file named by `medians`, those of single calls in
# the file named by `calls`. Fails if two engines did not fire the same, or if
# the wheel woke its loop more often than a heap.

function field(name,    at, value)
{
    at = index($0, "\"" name "\": ")
    if (at == 0)
        return ""
    value = substr($0, at + length(name) + 4)
    if (substr(value, 1, 1) == "\"")
        return substr(value, 2, index(substr(value, 2), "\"") - 1)
    return value + 0
}

# The phases, as "fill 16.0, hold 30.1".
function phases(    text, n, i, part, words, list)
{
    text = $0
    sub(/.*"phases": \{/, "", text)
    sub(/\}.*/, "", text)
    gsub(/"|:/, "", text)
    n = split(text, part, ", ")
    for (i = 1; i <= n; i++) {
        split(part[i], words, " ")
        list = list sprintf("%s%s %.1f", i > 1 ? ", " : "", words[1], words[2])
    }
    return list
}

function fail(message)
{
    print "bench: " message > "/dev/stderr"
    failed = 1
}

{
    engine = field("engine")
    input = field("input")
    place = field("workload") SUBSEP input
    rounds = field("rounds")
    key = place SUBSEP engine

    same = place SUBSEP rounds
    if (!(same in checksum)) {
        checksum[same] = field("checksum")
        first[same] = engine
    } else if (checksum[same] != field("checksum")) {
        fail(field("workload") " " input ": " engine " and " first[same] \
             " did not fire the same timers at the same ticks")
    }
    if (!(place in seen)) {
        seen[place] = 1
        if (!(input in rank))
            rank[input] = (input ~ /^[0-9]+$/) ? input + 0 : 0
        places[++place_count] = place
        if (field("workload") !~ /-pages$|^calls-/)
            column[input]
    }
    # Of two cells with the same engine the one with more rounds counts.
    if (rounds < most[key])
        next
    if (rounds > most[key])
        count[key] = 0
    most[key] = rounds
    ns[key, ++count[key]] = field("ns_per_operation")
    floor_ns[key, count[key]] = field("floor_ns")
    woken[key] = field("wakeups_per_fired")
    fired[key] = field("fired")
    bytes[key] = field("bytes_per_timer")
    detail[key] = phases()
    turn[key, count[key]] = field("turn")
    if (field("calls") != "") {
        limit[key, count[key]] = quantiles("")
        idle[key, count[key]] = quantiles("idle_")
    }
    if (field("workload") ~ /^calls-/) {
        for (i = 1; i <= 5; i++) {
            call[key, i, count[key]] = field(quantile[i])
            wait[key, i, count[key]] = field("idle_" quantile[i])
        }
        moved[key] = field("moved")
        most_moved[key] = field("most_moved")
        beside[key] = field("fired_with_most")
    }
}

BEGIN {
    split("p50 p99 p99.9 p99.99 max", quantile, " ")
}

# A row of a table: how long calls took.
function quantiles(prefix)
{
    return "| " field(prefix "p50") " | " field(prefix "p99") " | " \
        field(prefix "p99.9") " | " field(prefix "p99.99") " | " \
        field(prefix "max") " |"
}

# The median of the first count[key] of values[key, ...].
function median(values, key)
{
    return median_of(values, key, count[key])
}

# The median of values[key, 1] to values[key, n].
function median_of(values, key, n,    i, j, x, sorted)
{
    for (i = 1; i <= n; i++) {
        x = values[key, i]
        for (j = i - 1; j > 0 && sorted[j] > x; j--)
            sorted[j + 1] = sorted[j]
        sorted[j + 1] = x
    }
    return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

function short_number(n)
{
    if (n >= 1000000)
        return n / 1000000 " M"
    return n >= 1000 ? n / 1000 " k" : n
}

function figure(key)
{
    return key in count ? sprintf("%.1f", median(ns, key)) : ""
}

function ratio(place,    wheel, heap)
{
    wheel = place SUBSEP "wheel"
    heap = place SUBSEP "heap4"
    if (!(wheel in count) || !(heap in count))
        return ""
    return sprintf("%.1f / %.1f **%.2f**", median(ns, heap),
                   median(ns, wheel), median(ns, heap) / median(ns, wheel))
}

function sort_sizes(    i, j, input)
{
    for (input in column) {
        if (rank[input] == 0)
            continue
        for (i = size_count++; i > 0 && rank[sizes[i]] > rank[input]; i--)
            sizes[i + 1] = sizes[i]
        sizes[i + 1] = input
    }
}

# By workload and size, whenever they were measured; traces and limit last.
function sort_places(    i, j, w, place, order)
{
    for (w = 1; w <= workload_count; w++)
        order[workloads[w]] = w
    order["trace"] = w
    order["limit"] = w + 1
    order["still-restart"] = w + 2
    order["still-postpone"] = w + 3
    order["expire-small-pages"] = w + 4
    order["calls-minute"] = w + 5
    order["calls-hour"] = w + 6
    order["calls-idle"] = w + 7
    for (i = 2; i <= place_count; i++) {
        place = places[i]
        for (j = i; j > 1 && comes_before(place, places[j - 1], order); j--)
            places[j] = places[j - 1]
        places[j] = place
    }
}

function comes_before(a, b, order,    one, two)
{
    split(a, one, SUBSEP)
    split(b, two, SUBSEP)
    if (one[1] != two[1])
        return order[one[1]] < order[two[1]]
    return rank[one[2]] < rank[two[2]]
}

function print_ratios(    w, i, line, rule, any)
{
    line = "| workload |"
    rule = "|---|"
    for (i = 1; i <= size_count; i++) {
        line = line " " short_number(sizes[i]) " |"
        rule = rule "---|"
    }
    print "ns per operation of heap4 / wheel, and **how many times faster the" \
        " wheel is**:\n"
    print line "\n" rule
    for (w = 1; w <= workload_count; w++) {
        line = "| " workloads[w] " |"
        any = 0
        for (i = 1; i <= size_count; i++) {
            cell = ratio(workloads[w] SUBSEP sizes[i])
            any = any || cell != ""
            line = line " " cell " |"
        }
        if (any)
            print line
    }
    for (i = 1; i <= place_count; i++) {
        split(places[i], part, SUBSEP)
        if (part[1] == "trace")
            print "\nTrace " part[2] ": " ratio(places[i]) ", in ns per call"
    }
}

function print_all(    w, i, e, place, line, key)
{
    print "\nns per operation of all engines, wake-ups per fired timer (of" \
        " the wheel and heap4; - where fewer than 1,000 fire), and bytes per" \
        " timer with its share of the structure:\n"
    line = "| workload | N |"
    for (e = 1; e <= engine_count; e++)
        line = line " " engines[e] " |"
    print line " wake-ups | bytes | phases of the wheel (last run) |"
    gsub(/[^|]+/, "---", line)
    print line "---|---|---|"
    for (i = 1; i <= place_count; i++) {
        place = places[i]
        split(place, part, SUBSEP)
        if (part[1] ~ /^still-|-pages$|^calls-/)
            continue
        line = "| " part[1] " | " \
            (rank[part[2]] ? short_number(rank[part[2]]) : part[2]) " |"
        for (e = 1; e <= engine_count; e++)
            line = line " " figure(place SUBSEP engines[e]) " |"
        key = place SUBSEP "wheel"
        line = line " " wakeups(key)
        if ((place SUBSEP "heap4") in count)
            line = line " / " wakeups(place SUBSEP "heap4")
        line = line " | " sprintf("%.0f", bytes[key])
        if ((place SUBSEP "heap4") in count)
            line = line " / " sprintf("%.0f", bytes[place SUBSEP "heap4"])
        print line " | " detail[key] " |"
    }
}

# The engines that are libraries; a workload without one of them has no row.
function print_libraries(    w, i, e, place, line, any)
{
    for (w = 1; w <= still_count; w++)
        for (i = 1; i <= size_count; i++) {
            place = stills[w] SUBSEP sizes[i]
            line = "| " stills[w] " | " short_number(sizes[i]) " | " \
                figure(place SUBSEP "wheel") " | " times(place, "heap4") " |"
            any = 0
            for (e = 1; e <= library_count; e++) {
                line = line " " times(place, libraries[e]) " |"
                any = any || (place SUBSEP libraries[e]) in count
            }
            if (any && !headed++)
                print_libraries_head()
            if (any)
                print line
        }
}

function print_libraries_head(    e, line)
{
    print "\nTimers of event loops, called as in a callback while the clock" \
        " stands: ns per operation, and **how many times faster the wheel" \
        " is**:\n"
    line = "| workload | N | wheel | heap4 |"
    for (e = 1; e <= library_count; e++)
        line = line " " libraries[e] " |"
    print line
    gsub(/[^|]+/, "---", line)
    print line
}

# The figure of an engine, and how many times as long as the wheel it takes.
function times(place, engine,    key, wheel)
{
    key = place SUBSEP engine
    wheel = place SUBSEP "wheel"
    if (!(key in count) || !(wheel in count))
        return ""
    return sprintf("%s **%.1f**", figure(key),
                   median(ns, key) / median(ns, wheel))
}

# What the starts of some of them leave to the loop.
function print_turns(    i, e, key, cell, row, lines)
{
    for (i = 1; i <= place_count; i++) {
        split(places[i], part, SUBSEP)
        row = ""
        for (e = 1; e <= library_count; e++) {
            key = places[i] SUBSEP libraries[e]
            cell = part[1] == "still-restart" && key in count ? \
                sprintf("%.1f", median(turn, key) / 1000) : ""
            row = row " " cell " |"
        }
        if (row ~ /[0-9]/)
            lines = lines "\n| " short_number(rank[part[2]]) " |" row
    }
    if (lines == "")
        return
    print "\nOne turn of these loops after still-restart, with N pending and" \
        " none due, in us:\n"
    row = "| N |"
    for (e = 1; e <= library_count; e++)
        row = row " " libraries[e] " |"
    print row
    gsub(/[^|]+/, "---", row)
    print row lines
}

# The same in pages of 4 KiB and in huge ones, and their floors.
function print_pages(    i, small, huge, line)
{
    for (i = 1; i <= place_count; i++) {
        split(places[i], part, SUBSEP)
        small = places[i] SUBSEP "wheel"
        huge = "expire-huge-pages" SUBSEP part[2] SUBSEP "wheel"
        if (part[1] == "expire-small-pages" && huge in count)
            line = line sprintf("\n| %s | %.1f / %.1f | %.1f / %.1f |",
                short_number(rank[part[2]]), median(ns, small),
                median(ns, huge), median(floor_ns, small),
                median(floor_ns, huge))
    }
    if (line != "")
        print "\nexpire in pages of 4 KiB / with" \
            " `GLIBC_TUNABLES=glibc.malloc.hugetlb=1`, ns per timer:\n\n" \
            "| N | wheel | floor |\n|---|---|---|" line
}

function wakeups(key)
{
    if (fired[key] < 1000)
        return "-"
    return sprintf("%.3f", woken[key])
}

# What touching the memory of a workload costs in the same run.
function print_floors(workload, what,    i, key, line)
{
    for (i = 1; i <= place_count; i++) {
        key = places[i] SUBSEP "wheel"
        split(key, part, SUBSEP)
        if (part[1] == workload && key in count)
            line = line (line == "" ? "" : ", ") \
                sprintf("%s %.1f", short_number(rank[part[2]]),
                        median(floor_ns, key))
    }
    if (line != "")
        print "\nFloor of " workload ", in ns (" what "): " line
}

function print_limits(    i, j, key)
{
    for (i = 1; i <= place_count; i++) {
        key = places[i] SUBSEP "wheel"
        split(key, part, SUBSEP)
        if (part[1] != "limit")
            continue
        print "\nOne call of `tw_advance_clock_limit(..., 64)` with " \
            short_number(rank[part[2]]) " timers pending, wall clock in ns," \
            " a line per run:\n\n| p50 | p99 | p99.9 | p99.99 | max |\n" \
            "|---|---|---|---|---|"
        for (j = 1; j <= count[key]; j++)
            print limit[key, j]
        print "\nAs many loops that only wait for the p50:\n\n" \
            "| p50 | p99 | p99.9 | p99.99 | max |\n|---|---|---|---|---|"
        for (j = 1; j <= count[key]; j++)
            print idle[key, j]
    }
}

# A quantile of all runs: the median; of the maxima the least, because all runs
# make the same calls.
function call_time(values, key, q,    i, least)
{
    if (q < 5)
        return median_of(values, key SUBSEP q, count[key])
    least = values[key, q, 1]
    for (i = 2; i <= count[key]; i++)
        if (values[key, q, i] < least)
            least = values[key, q, i]
    return least
}

# Five cells of a table, in us.
function call_cells(values, key,    q, line)
{
    for (q = 1; q <= 5; q++)
        line = line sprintf(" %.2f |", call_time(values, key, q) / 1000)
    return line
}

function print_calls(    i, e, key, head)
{
    for (i = 1; i <= place_count; i++) {
        split(places[i], part, SUBSEP)
        if (part[1] !~ /^calls-/)
            continue
        if (!head++)
            print "\nOne call of `tw_advance_clock` that moves the clock by" \
                " a tick, wall clock in us: medians of the runs, and the" \
                " least maximum. *waiting*: as many loops that only wait for" \
                " the wheel's p50. *moved*: timers moved without firing, per" \
                " call and in the call that moved the most; *fired*: in the" \
                " same call.\n\n" \
                "| workload | N | engine | p50 | p99 | p99.9 | p99.99 | max" \
                " | moved per call | moved at most | fired |\n" \
                "|---|---|---|---|---|---|---|---|---|---|---|"
        for (e = 1; e <= all_count; e++) {
            key = places[i] SUBSEP all[e]
            if (key in count)
                printf "| %s | %s | %s |%s %.2f | %d | %d |\n", part[1],
                    short_number(rank[part[2]]), all[e],
                    call_cells(call, key), moved[key], most_moved[key],
                    beside[key]
        }
        key = places[i] SUBSEP "wheel"
        if (key in count)
            printf "| %s | %s | *waiting* |%s  |  |  |\n", part[1],
                short_number(rank[part[2]]), call_cells(wait, key)
    }
}

# For the plot: workload, N, engine, number of the quantile, ns.
function write_calls(    i, e)
{
    printf "" > calls
    for (i = 1; i <= place_count; i++) {
        if (places[i] !~ /^calls-/)
            continue
        for (e = 1; e <= all_count; e++)
            write_call(places[i], all[e], all[e], call)
        write_call(places[i], "wheel", "waiting", wait)
    }
}

function write_call(place, engine, name, values,    q, key)
{
    key = place SUBSEP engine
    split(place, part, SUBSEP)
    for (q = 1; q <= 5 && key in count; q++)
        printf "%s\t%s\t%s\t%d\t%.0f\n", part[1], part[2], name, q,
            call_time(values, key, q) > calls
}

# Postponed and cancelled timers may leave a wake-up behind: that is promised.
function check_wakeups(    i, wheel, heap)
{
    for (i = 1; i <= place_count; i++) {
        split(places[i], part, SUBSEP)
        wheel = places[i] SUBSEP "wheel"
        heap = places[i] SUBSEP "heap4"
        if (part[1] ~ /^(hold|expire|burst|sparse)$/ && heap in count &&
            woken[wheel] > woken[heap])
            fail(part[1] " " part[2] ": the wheel wakes its loop more often")
    }
}

function write_medians(    i, e, key)
{
    for (i = 1; i <= place_count; i++) {
        split(places[i], part, SUBSEP)
        for (e = 1; e <= all_count; e++) {
            key = places[i] SUBSEP all[e]
            if (key in count)
                printf "%s\t%s\t%s\t%.3f\n", part[1], part[2], all[e],
                    median(ns, key) > medians
        }
    }
}

END {
    workload_count = split("hold expire restart postpone startstop burst" \
                           " sparse", workloads, " ")
    engine_count = split("wheel heap4 heap2 rbtree list", engines, " ")
    library_count = split("libev libuv libevent glib", libraries, " ")
    all_count = split("wheel wheel-late heap4 heap2 rbtree list libev libuv" \
                      " libevent glib", all, " ")
    still_count = split("startstop still-restart still-postpone", stills, " ")
    sort_sizes()
    sort_places()
    write_medians()
    write_calls()
    print machine "\n"
    if (size_count > 0) {
        print_ratios()
        print_all()
    }
    print_floors("expire", "the memory of a timer touched once to write" \
        " and once, prefetched, to read and call")
    print_floors("postpone", "a random timer's memory read and written")
    print_libraries()
    print_turns()
    print_pages()
    print_limits()
    print_calls()
    check_wakeups()
    if (!failed)
        print "\nAll engines fired the same timers at the same ticks; those" \
            " with a clock of their own had them pending for these."
    exit failed
}
