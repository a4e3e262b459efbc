#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - runs test programs that print TAP and merges what they print.
#
#     test/run.sh PROGRAM...
#     LIMIT=1800 KEEP=.build/said test/run.sh PROGRAM... + PROGRAM...
#
# As many run at a time as there are processors, or JOBS; those behind a `+`
# begin when all in front of it have ended. The output is one TAP stream, in the
# order of the programs whichever ends first: every result, renumbered, the name
# of its program in front, and the plan last; after it stands the plain line
# `N passed, N failed`. A program that crashes, fails without having said which
# case, runs another number of cases than it planned, or takes longer than LIMIT
# seconds counts as one failed test of its own. What each program prints is kept
# in the folder KEEP, if that is set. Exits with 1 if a test failed or none ran.

jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}
mark='@run.sh@' # begins the lines that show_all adds for merge
kept=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$kept"' EXIT

# run_one PROGRAM: keeps what it says, and how it ended: its status, how many
# seconds it took, and how many of a processor.
cat >"$kept/run_one" <<'END'
said=${0%/*}/${1##*/}
[ ! -e "${0%/*}/stopped" ] || exit 255 # ends xargs
began=$(date +%s)
${LIMIT:+timeout -k 10 "$LIMIT"} "$1" >"$said" 2>&1 </dev/null &
echo $! >"$said.pid"
wait $!
status=$?
rm "$said.pid"
times >"$said.times"
used=$(awk -F '[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }' \
    "$said.times")
echo "$status $(($(date +%s) - began)) $used" >"$said.new"
mv "$said.new" "$said.end"
END

run_all() {
    group=
    for program in "$@" +; do
        if [ "$program" != + ]; then
            group="$group $program"
            continue
        fi
        # shellcheck disable=SC2086
        [ -z "$group" ] || printf '%s\n' $group |
            xargs -n 1 -P "$jobs" sh "$kept/run_one"
        group=
    done
    : >"$kept/all.end"
}

# Shows what every program said; before it which that is, and after it how it
# ended.
show_all() {
    for program; do
        [ "$program" != + ] || continue
        said=$kept/${program##*/}
        printf "%s begin %s\n" "$mark" "${program##*/}"
        until [ -e "$said.end" ] || [ -e "$kept/all.end" ]; do
            sleep 0.1
        done
        [ -e "$said.end" ] || echo '129 0 0' >"$said.end" # its runner died
        cat "$said"
        # A crash may have left half a line behind.
        printf '\n%s end %s\n' "$mark" "$(cat "$said.end")"
    done
}

# result STATUS NAME: prints one line of the merged stream and counts it.
result() {
    number=$((number + 1))
    [ "$1" = ok ] || failed=$((failed + 1))
    printf '%s %d - %s\n' "$1" "$number" "$2"
}

# case_result STATUS LINE: a result line of the program that is running.
case_result() {
    ran=$((ran + 1))
    [ "$1" = ok ] || said_why=yes
    name=${2#"$1"}
    name=${name# }
    case $name in [0-9]*) name=${name#"${name%%[!0-9]*}"} ;; esac
    name=${name# }
    name=${name#- }
    result "$1" "$program: ${name:-case $ran}"
}

begin() {
    program=$1 planned='' ran=0 said_why=''
    printf '# %s ...\n' "$program"
}

# end STATUS SECONDS USED: judges the program that has just ended.
end() {
    if [ -n "${LIMIT:-}" ] && [ "$1" = 124 ]; then
        result 'not ok' "$program: stopped after $LIMIT s"
    elif [ "$1" -gt 128 ]; then
        result 'not ok' "$program: killed by signal $(($1 - 128))"
    elif [ "$1" -ne 0 ] && [ -z "$said_why" ]; then
        result 'not ok' "$program: exited with $1, but no case failed"
    elif [ "$planned" != "$ran" ]; then
        result 'not ok' "$program: ran $ran of ${planned:-unplanned} cases"
    fi
    printf '# %s: %s s, of a processor %s s\n' "$program" "$2" "$3"
    program=
}

# Reads what show_all prints. The loop is the shell's own, not awk's, so that
# every line is passed on at once.
# shellcheck disable=SC2086
merge() {
    number=0 failed=0 program=
    while IFS= read -r line; do
        case $line in
        "$mark begin "*) begin "${line#"$mark begin "}" ;;
        "$mark end "*) end ${line#"$mark end "} ;;
        'not ok' | 'not ok '*) case_result 'not ok' "$line" ;;
        ok | 'ok '*) case_result ok "$line" ;;
        1..[0-9]*) planned=${line#1..} planned=${planned%%[!0-9]*} ;;
        '#'*) printf '%s\n' "$line" ;;
        '') ;;
        *) printf '# %s\n' "$line" ;;
        esac
    done
    if [ -n "$program" ]; then
        end 129 0 0
    fi
    printf '1..%d\n%d passed, %d failed\n' "$number" \
        $((number - failed)) "$failed"
    [ "$failed" -eq 0 ] && [ "$number" -gt 0 ]
}

# A program that runs in the background does not notice Ctrl-C by itself.
# shellcheck disable=SC2317
stop() {
    trap - INT TERM
    : >"$kept/stopped"
    cat "$kept"/*.pid 2>/dev/null | xargs kill 2>/dev/null
    wait "$running"
    exit 130
}

export LIMIT
[ $# = 0 ] || run_all "$@" &
running=$!
trap stop INT TERM
show_all "$@" | merge
