# judge.awk - reads what one command of run.sh has printed. Prints a line for
# the command. Writes the number of passed cases and the failed cases to the
# file RESULT. Variables: name, status, seconds, result. The environment
# has COMMAND and LIMIT. A line `# case: NAME` says which case comes.
#
# SPDX-License-Identifier: MIT

# Returns the command that runs one case of a test program, or the whole script.
function alone(case_name) {
    command = ENVIRON["COMMAND"]
    seed = ENVIRON["SEED"]
    if (command !~ /^\.build\/[a-z0-9_]*$/)
        return (seed != "" ? "SEED=" seed " " : "") command
    gsub("'", "'\\''", case_name)
    return "make -s " command " && " command \
        (case_name != "" && plan != 1 ? " '" case_name "'" : "")
}

# Shows at most the last 40 lines before the failure, and three failures.
function fail(what, case_name) {
    if (++failed > 3) {
        failures = failures "more - " name ": " what "\n"
        return
    }
    failures = failures "not ok - " name ": " what "\n"
    for (i = noted > 40 ? noted - 39 : 1; i <= noted; i++)
        failures = failures notes[i] "\n"
    failures = failures "#   alone: " alone(case_name) "\n"
    noted = 0
}

BEGIN {
    plan = "no number"
}

/^1\.\.[0-9]/ {
    plan = substr($1, 4) + 0
    next
}

/^(not )?ok( |$)/ {
    ran++
    case_name = $0
    sub(/^(not )?ok *[0-9]* *-? */, "", case_name)
    if (/^not/)
        fail(case_name, case_name)
    else if (/# SKIP/)
        skips = skips "*** SKIPPED: " name ": " case_name " ***\n"
    else
        passed++
    if (/# SKIP/)
        skipped++
    noted = 0
    running = ""
    next
}

/^\*\*\* SKIPPED/ {
    next
}

/^# case: / {
    running = substr($0, 9)
    next
}

NF > 0 && said[ran + 0, $0]++ < 3 {
    notes[++noted] = /^#/ ? $0 : "# " $0
}

END {
    inside = running != "" ? ", in: " running : ""
    if (status == 124 && ENVIRON["LIMIT"] != "")
        fail("took longer than " ENVIRON["LIMIT"] " s" inside, running)
    else if (status > 128)
        fail("killed by signal " status - 128 inside, running)
    else if (status != 0 && failed == 0)
        fail("exited with " status ", but no case failed" inside, running)
    else if (status == 0 && plan != ran + 0)
        fail("ran " ran + 0 " of " plan " cases", "")
    printf "%-4s %5d cases %5d s  %s\n", failed ? "FAIL" : "ok", ran, \
        seconds, name
    printf "count %d %d\n%s%s", passed, skipped, skips, failures >result
}
