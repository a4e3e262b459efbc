#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - runs test programs that print TAP and merges what they print.
#
#     test/run.sh PROGRAM...
#
# As many run at a time as there are processors, or JOBS. The output is one TAP
# stream, in the order of the programs whichever ends first: every result,
# renumbered, the name of its program in front, and the plan last; after it
# stands the plain line `N passed, N failed`. A program that crashes, fails
# without having said which case, or runs another number of cases than it
# planned counts as one failed test of its own. Exits with 1 if a test failed or
# none ran.

jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}
mark='@run.sh@' # begins the lines that show_all adds for merge
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT

# run_one NUMBER PROGRAM: keeps what it says, and how it ended.
cat >"$kept/run_one" <<'END'
"$2" >"${0%/*}/$1" 2>&1 </dev/null
echo $? >"${0%/*}/$1.new"
mv "${0%/*}/$1.new" "${0%/*}/$1.end"
END

run_all() {
    number=0
    for program; do
        number=$((number + 1))
        printf '%d\n%s\n' "$number" "$program"
    done | xargs -n 2 -P "$jobs" sh "$kept/run_one"
}

# Shows what every program said; before it which that is, and after it how it
# ended.
show_all() {
    number=0
    for program; do
        number=$((number + 1))
        until [ -e "$kept/$number.end" ]; do
            sleep 0.1
        done
        printf "%s begin %s\n" "$mark" "${program##*/}"
        cat "$kept/$number"
        # A crash may have left half a line behind.
        printf '\n%s end %d\n' "$mark" "$(cat "$kept/$number.end")"
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
    program=$1 planned= ran=0 said_why=
}

# end STATUS: judges the program that has just ended.
end() {
    if [ "$1" -gt 128 ]; then
        result 'not ok' "$program: killed by signal $(($1 - 128))"
    elif [ "$1" -ne 0 ] && [ -z "$said_why" ]; then
        result 'not ok' "$program: exited with $1, but no case failed"
    elif [ "$planned" != "$ran" ]; then
        result 'not ok' "$program: ran $ran of ${planned:-unplanned} cases"
    fi
    program=
}

# Reads what show_all prints. The loop is the shell's own, not awk's, so that
# every line is passed on at once.
merge() {
    number=0 failed=0 program=
    while IFS= read -r line; do
        case $line in
        "$mark begin "*) begin "${line#"$mark begin "}" ;;
        "$mark end "*) end "${line#"$mark end "}" ;;
        'not ok' | 'not ok '*) case_result 'not ok' "$line" ;;
        ok | 'ok '*) case_result ok "$line" ;;
        1..[0-9]*) planned=${line#1..} planned=${planned%%[!0-9]*} ;;
        '#'*) printf '%s\n' "$line" ;;
        '') ;;
        *) printf '# %s\n' "$line" ;;
        esac
    done
    if [ -n "$program" ]; then
        end 129
    fi
    printf '1..%d\n%d passed, %d failed\n' "$number" \
        $((number - failed)) "$failed"
    [ "$failed" -eq 0 ] && [ "$number" -gt 0 ]
}

[ $# = 0 ] || run_all "$@" &
show_all "$@" | merge
