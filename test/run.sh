#!/bin/sh
# run.sh - runs commands that print TAP, JOBS at a time, and sums up.
#
#     test/run.sh <LIST              each line of LIST is: NAME COMMAND...
#     LIMIT=1800 KEEP=FOLDER test/run.sh <LIST
#
# Prints a line for each command that has ended, then up to three failed cases
# of each, with the command that runs the case alone, and at last the names of
# all failed cases. The last line is `N passed, N failed`. A command counts as
# one failed case if the command crashes, fails without a failed case, runs
# another number of cases than planned, or takes longer than LIMIT seconds
# (120). The folder KEEP keeps what each command prints. An interrupt or SIGTERM
# ends all commands. The exit status is 1 if a case failed or no case ran.
#
# SPDX-License-Identifier: MIT
set -u
export LIMIT="${LIMIT:-120}"

# run_one FOLDER NUMBER: runs the command in one line of the list.
run_one() {
    line=$(sed -n "$2p" "$1/list")
    said=$1/${line%% *} began=$(date +%s)
    export COMMAND="${line#* }"
    ! command -v timeout >/dev/null || limited="timeout -k 10 $LIMIT"
    # shellcheck disable=SC2086
    ${limited:-} sh -c "$COMMAND" >"$said" 2>&1 </dev/null &
    trap 'kill $!; exit 255' TERM # timeout passes it on to all its children
    echo $$ >"$said.pid"
    wait $!
    status=$?
    rm "$said.pid"
    awk -f test/lib/judge.awk -v name="${line%% *}" -v status=$status \
        -v seconds=$(($(date +%s) - began)) -v result="$said.result" "$said"
}

if [ "${1:-}" = --one ]; then
    run_one "$2" "$3"
    exit 0 # any other status ends xargs
fi
kept=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$kept"' EXIT
mkdir -p "$kept"
rm -f "$kept"/*.result "$kept"/*.pid
cat >"$kept/list"
began=$(date +%s)
awk '{ print NR }' "$kept/list" >"$kept/numbers"
xargs -n 1 -P "${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}" \
    sh "$0" --one "$kept" <"$kept/numbers" &
trap 'kill $! $(cat "$kept"/*.pid); wait; echo interrupted; exit 130' \
    INT TERM HUP
wait $!
while read -r name _; do # the result is missing if a runner was killed
    cat "$kept/$name.result" 2>/dev/null || echo "not ok - $name: did not end"
done <"$kept/list" | awk -v began="$began" -v ended="$(date +%s)" '
    /^count / { passed += $2; skipped += $3; next }
    /^(not ok|more) - / {
        failed++
        names = names "    " substr($0, index($0, "- ") + 2) "\n"
    }
    !/^more - / { print }
    END {
        if (failed > 1)
            printf "failed:\n%s", names
        printf "%d s, %d skipped\n", ended - began, skipped
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0 || passed == 0
    }'
