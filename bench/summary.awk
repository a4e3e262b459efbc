# SPDX-License-Identifier: MIT
#
# summary.awk - the runs of one cell, a JSON object per line, become one line per
# engine: workload, input, object, engine, rounds, operations, runs, ns per
# operation (median, least, most), checksum, and all other figures as name=value.
# Each value is the median of the runs, but the least of the maxima. Fails if the
# checksums differ.

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

# Sorts and returns the value at a part (0 = least, 0.5 = median, 1 = most).
function quantile(engine, name, part,    n, i, j, x, sorted, middle)
{
    n = runs[engine]
    for (i = 1; i <= n; i++) {
        x = values[engine, name, i]
        for (j = i - 1; j > 0 && sorted[j] > x; j--)
            sorted[j + 1] = sorted[j]
        sorted[j + 1] = x
    }
    middle = 1 + part * (n - 1)
    if (middle == int(middle))
        return sorted[middle]
    return (sorted[int(middle)] + sorted[int(middle) + 1]) / 2
}

function note(engine, name, value)
{
    if (value == "")
        return
    values[engine, name, runs[engine]] = value
    if (!((engine, name) in seen)) {
        seen[engine, name]
        names[engine] = names[engine] " " name
    }
}

function note_phases(engine,    text, n, i, part, words)
{
    text = $0
    if (!sub(/.*"phases": \{/, "", text))
        return
    sub(/\}.*/, "", text)
    gsub(/"|:/, "", text)
    n = split(text, part, ", ")
    for (i = 1; i <= n; i++) {
        split(part[i], words, " ")
        note(engine, "phase_" words[1], words[2] + 0)
    }
}

{
    engine = field("engine")
    if (!(engine in runs))
        engines[++engine_count] = engine
    runs[engine]++
    rounds[engine] = field("rounds")
    operations[engine] = field("operations")
    checksum[engine] = field("checksum")
    if (NR > 1 && field("checksum") != first_checksum)
        failed = engine
    first_checksum = NR == 1 ? field("checksum") : first_checksum
    note(engine, "ns", field("ns_per_operation"))
    n = split("floor_ns fired wakeups bytes_per_timer timer_bytes calls p50" \
        " p99 p99.9 p99.99 max idle_p50 idle_p99 idle_p99.9 idle_p99.99" \
        " idle_max moved most_moved fired_with_most rate loop_ns longest_us",
        wanted, " ")
    for (i = 1; i <= n; i++)
        note(engine, wanted[i], field(wanted[i]))
    note_phases(engine)
}

END {
    for (e = 1; e <= engine_count; e++) {
        engine = engines[e]
        printf "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%.2f\t%.2f\t%.2f\t%s\t", workload,
            input, object, engine, rounds[engine], operations[engine],
            runs[engine], quantile(engine, "ns", 0.5),
            quantile(engine, "ns", 0), quantile(engine, "ns", 1),
            checksum[engine]
        separator = ""
        n = split(names[engine], name, " ")
        for (i = 2; i <= n; i++) {
            value = quantile(engine, name[i], name[i] ~ /max$/ ? 0 : 0.5)
            if (value != 0) {
                printf "%s%s=%.10g", separator, name[i], value
                separator = " "
            }
        }
        print ""
    }
    if (failed != "") {
        print "bench: " workload " " input ": " failed " and " engines[1] \
            " did not fire the same timers at the same ticks" > "/dev/stderr"
        exit 1
    }
}
