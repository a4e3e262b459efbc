# SPDX-License-Identifier: MIT
#
# summary.awk - the runs of one cell, a JSON object per line, become one line of
# cells.tsv per engine. Each figure is the median of the runs; max is the least
# of the runs, because all runs make the same calls. Figures that an engine does
# not have are "-". Fails if the checksums differ. With head=1, prints the first
# line of cells.tsv.
#
# The pseudo engine "waiting" has the times of loops that only wait for the
# wheel's median: the noise of the machine.

BEGIN {
    OFS = "\t"
    count = split("ns_per_operation least most floor_ns fired wakeups" \
        " bytes_per_timer timer_bytes p50 p99 p99.9 p99.99 max moved" \
        " most_moved fired_with_most phase_cancel phase_pass phase_turn rate" \
        " loop_ns longest_us", columns, " ")
    if (head) {
        line = "workload input object engine runs checksum"
        for (i = 1; i <= count; i++)
            line = line " " columns[i]
        gsub(/ /, OFS, line)
        print line
        exit
    }
}

{
    gsub(/[{}" ]/, "")
    n = split($0, pairs, ",")
    for (i = 1; i <= n; i++) {
        split(pairs[i], pair, ":")
        run[pair[1]] = pair[2]
    }
    engine = run["engine"]
    if (!runs[engine]++)
        engines[++engine_count] = engine
    if (engine == "wheel" && "idle_p50" in run && !runs["waiting"])
        engines[++engine_count] = "waiting"
    runs["waiting"] = runs["wheel"]
    for (name in run) {
        note(engine, name, run[name])
        if (engine == "wheel" && sub(/^idle_/, "", name))
            note("waiting", name, run["idle_" name])
    }
    if (checksum != "" && run["checksum"] != checksum)
        failed = engine
    checksum = run["checksum"]
    sums[engine] = checksum
    delete run
}

# Keeps the values of a figure sorted.
function note(engine, name, value,    i)
{
    for (i = runs[engine]; i > 1 && sorted[engine, name, i - 1] > value + 0; i--)
        sorted[engine, name, i] = sorted[engine, name, i - 1]
    sorted[engine, name, i] = value + 0
}

function figure(engine, name,    n, at)
{
    n = runs[engine]
    at = int((n + 1) / 2)
    if (name ~ /^(least|most)$/) {
        at = name == "least" ? 1 : n
        name = "ns_per_operation"
    }
    if (name == "max")
        at = 1
    return sorted[engine, name, at] ? sprintf("%.6g", sorted[engine, name, at]) : "-"
}

END {
    for (e = 1; e <= engine_count; e++) {
        engine = engines[e]
        line = workload OFS input OFS object OFS engine OFS runs[engine] OFS \
            (engine in sums && sums[engine] != "" ? sums[engine] : "-")
        for (i = 1; i <= count; i++)
            line = line OFS figure(engine, columns[i])
        print line
    }
    if (failed != "") {
        print "bench: " workload " " input ": " failed " and " engines[1] \
            " did not fire the same timers at the same ticks" > "/dev/stderr"
        exit 1
    }
}
