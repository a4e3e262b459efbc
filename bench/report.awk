# SPDX-License-Identifier: MIT
#
# report.awk - cells.tsv (see summary.awk) in, table.md out. With only=NAME the
# output is the part of this name, without a heading. Fails if two engines did
# not fire the same, or if the wheel woke its loop more often than a heap.

BEGIN {
    FS = "\t"
    engine_count = split("wheel heap4 heap2 rbtree list timeout radix", engines,
        " ")
    for (i = 1; i <= engine_count; i++)
        known[engines[i]]
    library_count = split("libev libuv libevent glib", libraries, " ")
    for (i = 1; i <= library_count; i++)
        known[libraries[i]]
    known["wheel-late"]
    known["mailbox"]
    known["mutex"]
    workload_count = split("hold expire restart postpone startstop burst" \
        " sparse", workloads, " ")
    most_sizes = split("100 1000 10000 100000 1000000 10000000 100000000",
        sizes, " ")
}

/^#/ { next }

{
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
    seen[key]
    ns[key] = $8
    checksum[key] = $11
    n = split($12, pairs, " ")
    for (i = 1; i <= n; i++) {
        split(pairs[i], pair, "=")
        more[key, pair[1]] = pair[2]
    }
    same = $1 SUBSEP $2 SUBSEP $3 SUBSEP $5
    if ($11 != "" && same in first && first[same] != $11)
        fail($1 " " $2 ": " $4 " did not fire what the others fired")
    first[same] = $11
    if (!($4 in known)) {
        known[$4]
        engines[++engine_count] = $4
    }
    present[$1]
    inputs[$1, $2]
    if ($1 == "trace" && !(($1, $2) in noted)) {
        noted[$1, $2]
        traces[++trace_count] = $2
    }
}

# ---------------------------------------------------------------- helpers ---

function fail(message)
{
    print "bench: " message > "/dev/stderr"
    failed = 1
}

# Prints a paragraph in lines of at most 98 characters.
function say(text,    count, word, i, line)
{
    count = split(text, word, " ")
    for (i = 1; i <= count; i++) {
        if (line != "" && length(line) + length(word[i]) > 97) {
            print line
            line = ""
        }
        line = line (line == "" ? "" : " ") word[i]
    }
    print line "\n"
}

# Begins a part of the report. Returns true if the part is wanted.
function part(name, heading)
{
    if (only != "")
        return only == name
    print "\n## " heading "\n"
    return 1
}

function cell(workload, input, engine, object)
{
    return workload SUBSEP input SUBSEP (object + 0) SUBSEP engine
}

# Returns the ns of a cell, or an empty string.
function figure(key)
{
    return key in seen ? sprintf("%.1f", ns[key]) : ""
}

function short_number(n)
{
    if (n >= 1000000)
        return n / 1000000 " M"
    return n >= 1000 ? n / 1000 " k" : n
}

# Prints the head of a table, of column names with | between them.
function head(columns,    rule)
{
    print "| " columns " |"
    rule = "| " columns " |"
    gsub(/[^|]+/, "---", rule)
    print rule
}

# Returns the engines of a list that have a cell in one of the workloads.
function used(list, count, result, names,    i, w, s, n, any, name)
{
    n = 0
    split(names, name, " ")
    for (i = 1; i <= count; i++) {
        any = 0
        for (w in name)
            for (s = 1; s <= most_sizes; s++)
                any = any || cell(name[w], sizes[s], list[i]) in seen
        if (any)
            result[++n] = list[i]
    }
    return n
}

function join_names(list, n,    i, line)
{
    for (i = 1; i <= n; i++)
        line = line (i > 1 ? " | " : "") list[i]
    return line
}

# ------------------------------------------------------------------ parts ---

function print_ratios(    w, s, row, heap, wheel, columns, any)
{
    if (!part("ratios", "heap4 against the wheel"))
        return
    say("ns per operation of heap4 / wheel, and **how many times faster the" \
        " wheel is**:")
    columns = "workload"
    for (s = 1; s <= most_sizes; s++)
        if (cell("hold", sizes[s], "heap4") in seen)
            columns = columns " | " short_number(sizes[s])
    head(columns)
    for (w = 1; w <= workload_count; w++) {
        row = "| " workloads[w] " |"
        any = 0
        for (s = 1; s <= most_sizes; s++) {
            if (!(cell("hold", sizes[s], "heap4") in seen))
                continue
            row = row " " against(workloads[w], sizes[s]) " |"
            any = any || against(workloads[w], sizes[s]) != ""
        }
        if (any)
            print row
    }
    for (i = 1; i <= trace_count; i++)
        print "\nTrace " traces[i] ": " against("trace", traces[i]) \
            ", in ns per call."
}

function against(workload, input,    heap, wheel)
{
    heap = cell(workload, input, "heap4")
    wheel = cell(workload, input, "wheel")
    if (!(heap in seen && wheel in seen))
        return ""
    return sprintf("%.1f / %.1f **%.2f**", ns[heap], ns[wheel],
        ns[heap] / ns[wheel])
}

# A table of one figure, engines against workloads and sizes.
function print_engines(name, heading, text, what, names,    w, s, i, n, list,
    row, any, count, input, value)
{
    n = used(engines, engine_count, list, names)
    if (n == 0 || !part(name, heading))
        return
    say(text)
    head("workload | N | " join_names(list, n))
    count = split(names, wanted, " ")
    for (w = 1; w <= count; w++)
        for (s = 1; s <= most_sizes + trace_count; s++) {
            input = s <= most_sizes ? sizes[s] : traces[s - most_sizes]
            row = "| " wanted[w] " | " \
                (s <= most_sizes ? short_number(input) : input) " |"
            any = ""
            for (i = 1; i <= n; i++) {
                value = value_of(what, cell(wanted[w], input, list[i]))
                any = any value
                row = row " " value " |"
            }
            if (any != "")
                print row
        }
}

# Returns a figure of a cell as text: ns, woken (wake-ups per fired timer) or
# bytes (per timer).
function value_of(what, key)
{
    if (!(key in seen))
        return ""
    if (what == "ns")
        return sprintf("%.1f", ns[key])
    if (what == "bytes")
        return sprintf("%.0f", more[key, "bytes_per_timer"])
    if (more[key, "fired"] < 1000)
        return ""
    return sprintf("%.3f", more[key, "wakeups"] / more[key, "fired"])
}

function print_floors(    s, columns, expire, postpone)
{
    if (!part("floors", "Floors"))
        return
    say("ns for the memory alone. expire: a timer's memory written, then" \
        " prefetched, read and called. postpone: a random timer's memory read" \
        " and written.")
    for (s = 1; s <= most_sizes; s++)
        if (cell("expire", sizes[s], "wheel") in seen) {
            columns = columns " | " short_number(sizes[s])
            expire = expire floor_of("expire", sizes[s])
            postpone = postpone floor_of("postpone", sizes[s])
        }
    head("workload" columns)
    print "| expire |" expire
    print "| postpone |" postpone
}

function floor_of(workload, input,    key)
{
    key = cell(workload, input, "wheel")
    return sprintf(" %.1f |", more[key, "floor_ns"])
}

# The engines that are libraries.
function print_libraries(    w, s, i, n, list, count, wanted, wheel, row, any)
{
    if (!part("libraries", "Timers of event loops"))
        return
    say("Called as in a callback, while the clock stands: ns per operation," \
        " and **how many times faster the wheel is**:")
    n = used(libraries, library_count, list, "callback-restart startstop")
    head("workload | N | wheel | heap4 | " join_names(list, n))
    list[0] = "heap4"
    count = split("startstop callback-restart callback-postpone", wanted, " ")
    for (w = 1; w <= count; w++)
        for (s = 1; s <= most_sizes; s++) {
            wheel = cell(wanted[w], sizes[s], "wheel")
            row = "| " wanted[w] " | " short_number(sizes[s]) " | " \
                figure(wheel) " |"
            any = ""
            for (i = 0; i <= n; i++) {
                row = row " " times(wanted[w], sizes[s], list[i]) " |"
                if (i > 0)
                    any = any times(wanted[w], sizes[s], list[i])
            }
            if (any != "")
                print row
        }
}

# Returns the figure of an engine, and how many times the wheel's figure it is.
function times(workload, input, engine,    key, wheel)
{
    key = cell(workload, input, engine)
    wheel = cell(workload, input, "wheel")
    if (!(key in seen && wheel in seen))
        return ""
    return sprintf("%.1f **%.1f**", ns[key], ns[key] / ns[wheel])
}

function print_turns(    s, i, n, list, row, any, value)
{
    if (!part("turns", "One turn of an event loop"))
        return
    say("After callback-restart, with N timers pending and none due, in" \
        " us:")
    n = used(libraries, library_count, list, "callback-restart")
    head("N | " join_names(list, n))
    for (s = 1; s <= most_sizes; s++) {
        row = "| " short_number(sizes[s]) " |"
        any = 0
        for (i = 1; i <= n; i++) {
            value = more[cell("callback-restart", sizes[s], list[i]),
                "phase_turn"]
            row = row (value == "" ? " |" : sprintf(" %.1f |", value / 1000))
            any = any || value != ""
        }
        if (any)
            print row
    }
}

# The same in pages of 4 KiB and in huge pages, with floors.
function print_pages(    s, small, huge)
{
    if (!part("pages", "Huge pages"))
        return
    say("expire in pages of 4 KiB / with" \
        " `GLIBC_TUNABLES=glibc.malloc.hugetlb=1`, ns per timer:")
    head("N | wheel | floor")
    for (s = 1; s <= most_sizes; s++) {
        small = cell("expire-small-pages", sizes[s], "wheel")
        huge = cell("expire-huge-pages", sizes[s], "wheel")
        if (small in seen && huge in seen)
            printf "| %s | %.1f / %.1f | %.1f / %.1f |\n",
                short_number(sizes[s]), ns[small], ns[huge],
                more[small, "floor_ns"], more[huge, "floor_ns"]
    }
}

# Restart and cancel in small and large objects.
function print_objects(    w, s, o, count, wanted, object, n, list, bare)
{
    if (!part("objects", "Restart and cancel against wheels of linked lists"))
        return
    count = split("object-restart object-cancel", wanted, " ")
    split("0 96 512", object, " ")
    list[1] = "wheel"; list[2] = "list"; list[3] = "timeout"
    for (i = 1; i <= 3; i++)
        for (s = 1; s <= most_sizes; s++)
            if (cell(wanted[1], sizes[s], list[i]) in seen) {
                bare = bare (i > 1 ? ", " : "") list[i] " " \
                    more[cell(wanted[1], sizes[s], list[i]), "timer_bytes"]
                break
            }
    say("ns per operation. *bare*: an object is a timer and nothing else (" \
        bare " bytes). Cancel is two figures if the engine has work left when" \
        " the clock passes: cancel + pass.")
    head("workload | N | bare: wheel | list | timeout | 96 bytes: wheel |" \
        " list | timeout | 512 bytes: wheel | list | timeout")
    for (w = 1; w <= count; w++)
        for (s = 1; s <= most_sizes; s++)
            print_object_row(wanted[w], sizes[s], object, list)
}

function print_object_row(workload, input, object, list,    o, i, row, any)
{
    row = "| " workload " | " short_number(input) " |"
    for (o = 1; o <= 3; o++)
        for (i = 1; i <= 3; i++) {
            any = any figure(cell(workload, input, list[i], object[o]))
            row = row " " \
                in_parts(cell(workload, input, list[i], object[o])) " |"
        }
    if (any != "")
        print row
}

function in_parts(key)
{
    if (more[key, "phase_pass"] < 0.5)
        return figure(key)
    return sprintf("%.1f + %.1f", more[key, "phase_cancel"],
        more[key, "phase_pass"])
}

# Five cells of a table, in us.
function quantiles(key, prefix,    i, name, line)
{
    split("p50 p99 p99.9 p99.99 max", name, " ")
    for (i = 1; i <= 5; i++)
        line = line sprintf(" %.2f |", more[key, prefix name[i]] / 1000)
    return line
}

function print_calls(    w, s, i, n, count, wanted, list, key)
{
    if (!part("calls", "Times of single calls"))
        return
    say("calls-*: one `tw_advance_clock` that moves the clock by a tick." \
        " limit: one `tw_advance_clock_limit` with a limit of 64. Wall clock" \
        " in us: medians of the runs, and the least maximum. *waiting*: as" \
        " many loops that only wait for the wheel's p50. *moved*: timers moved" \
        " without firing, per call and in the call that moved the most;" \
        " *fired*: in the same call.")
    head("workload | N | engine | p50 | p99 | p99.9 | p99.99 | max | moved" \
        " per call | moved at most | fired")
    count = split("calls-minute calls-hour calls-idle limit", wanted, " ")
    n = split("wheel wheel-late", list, " ")
    for (i = 2; i <= engine_count; i++)
        list[++n] = engines[i]
    for (w = 1; w <= count; w++)
        for (s = 1; s <= most_sizes; s++) {
            for (i = 1; i <= n; i++) {
                key = cell(wanted[w], sizes[s], list[i])
                if (key in seen)
                    printf "| %s | %s | %s |%s%s\n", wanted[w],
                        short_number(sizes[s]), list[i], quantiles(key, ""),
                        moved(key, list[i])
            }
            key = cell(wanted[w], sizes[s], "wheel")
            if (key in seen)
                printf "| %s | %s | *waiting* |%s  |  |  |\n", wanted[w],
                    short_number(sizes[s]), quantiles(key, "idle_")
        }
}

function moved(key, engine)
{
    if (engine !~ /^wheel/ || key ~ /^limit/)
        return "  |  |  |"
    return sprintf(" %.2f | %d | %d |", more[key, "moved"],
        more[key, "most_moved"], more[key, "fired_with_most"])
}

function print_threads(    i, f, t, count, threads, flight, key, row)
{
    if (!part("threads", "Posts of several threads"))
        return
    head("producers | in flight | | million posts per second | ns per post," \
        " producer | ns per post, loop | longest turn of the loop, us")
    split("64 1024", flight, " ")
    count = split("1 2 4", threads, " ")
    for (f = 1; f <= 2; f++)
        for (t = 1; t <= count; t++) {
            print_thread_row(threads[t], flight[f], "mailbox")
            print_thread_row(threads[t], flight[f], "mutex")
        }
    if (cell("shard", 1, "wheel") in seen)
        printf "\nshard: %.1f million timers per second with one thread," \
            " %.1f with two threads:\n**%.2f** times as many.\n",
            rate("shard", 1, "wheel"), rate("shard", 2, "wheel"),
            rate("shard", 2, "wheel") / rate("shard", 1, "wheel")
}

function rate(workload, threads, engine)
{
    return more[cell(workload, threads, engine), "rate"]
}

function print_thread_row(threads, flight, engine,    key)
{
    key = cell("post-" flight, threads, engine)
    if (key in seen)
        printf "| %d | %d | %s | %.0f | %.1f | %.1f | %.0f |\n", threads,
            flight, engine, more[key, "rate"], ns[key], more[key, "loop_ns"],
            more[key, "longest_us"]
}

# The mailbox in one line.
function print_mailbox(    t, threads, box, lock)
{
    if (!part("mailbox", "The mailbox in one line"))
        return
    split("1 2 4", threads, " ")
    for (t = 1; t <= 3; t++) {
        box = box (t > 1 ? t == 3 ? " and " : ", " : "") \
            sprintf("%.0f", rate("post-64", threads[t], "mailbox"))
        lock = lock (t > 1 ? t == 3 ? " and " : ", " : "") \
            sprintf("%.0f", rate("post-64", threads[t], "mutex"))
    }
    print "Timers from other threads: " box " million posts per second with" \
        " 1, 2 and 4 producers; " lock " million with a mutex around the wheel."
}

# A cancelled or postponed timer may cause a wake-up, as the contract says.
function check_wakeups(    w, s, wheel, heap)
{
    for (w = 1; w <= workload_count; w++)
        for (s = 1; s <= most_sizes; s++) {
            wheel = cell(workloads[w], sizes[s], "wheel")
            heap = cell(workloads[w], sizes[s], "heap4")
            if (workloads[w] ~ /^(hold|expire|burst|sparse)$/ &&
                heap in seen && more[wheel, "wakeups"] > more[heap, "wakeups"])
                fail(workloads[w] " " sizes[s] \
                    ": the wheel wakes its loop more often")
        }
}

END {
    if (only == "")
        print "# Results\n\n" machine
    else if (only == "machine")
        print machine "."
    if ("hold" in present)
        print_ratios()
    print_engines("engines", "All engines", "ns per operation:", "ns",
        "hold expire restart postpone startstop burst sparse trace")
    print_engines("wakeups", "Wake-ups", "Wake-ups of the loop per fired" \
        " timer, if at least 1,000 timers fire:", "woken",
        "hold expire restart postpone sparse trace")
    print_engines("bytes", "Memory", "Bytes per timer: the timer, and the" \
        " timer's share of the structure:", "bytes", "hold sparse")
    if ("expire" in present)
        print_floors()
    if ("callback-restart" in present || "callback-postpone" in present)
        print_libraries()
    if ("callback-restart" in present)
        print_turns()
    if ("object-restart" in present)
        print_objects()
    if ("calls-minute" in present || "limit" in present)
        print_calls()
    if ("post-64" in present) {
        print_threads()
        print_mailbox()
    }
    if ("expire-huge-pages" in present)
        print_pages()
    check_wakeups()
    if (!failed && only == "")
        print "\nAll engines fired the same timers at the same ticks. Engines" \
            " with a clock of their own had these timers pending."
    exit failed
}
