#!/bin/sh
# mutate.sh - what `make mutate` runs: changes timingwheel.h line by line, and
# looks whether the tests notice. Prints TAP. Run it from the top.
#
#     test/mutate/mutate.sh              the bugs, then every mutant
#     test/mutate/mutate.sh --bugs       the bugs of bugs.py only
#     test/mutate/mutate.sh --sample K [--seed S]   every K-th mutant only, from
#                                        the S-th on
#     test/mutate/mutate.sh --only NAME  the mutants of one function only
#     test/mutate/mutate.sh --listed     those of survivors.txt only
#     test/mutate/mutate.sh --log FILE   also what became of each, into FILE
#     test/mutate/mutate.sh --resume FILE   goes on where the run that wrote
#                                        FILE has ended
#
# LEAST in mutate.py is the share of mutants that have to be killed. Every other
# mutant has to stand in survivors.txt, with the reason why no test can notice
# the mutant. What the fast tests do not kill goes through the slow tests and
# the sanitizers. A sample runs the fast tests only and trusts the list: the
# sample fails if fewer than LEAST are killed or listed. Survivors that are not
# listed are shown as comments.
# JOBS is how many processes work at it, by default one a core.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/mutate
mkdir -p "$build"
. test/lib/tap.sh

for tool in python3 tcc gcc clang; do
    if ! have "$tool"; then
        skip 'mutants of timingwheel.h' "$tool is missing"
        tap_end
        exit
    fi
done

jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}

# Its lines come one by one, and are passed on at once.
{
    python3 -B test/mutate/mutate.py --jobs "$jobs" "$@"
    echo "exit $?"
} | {
    while IFS= read -r line; do
        case $line in
        'pass '*) pass "${line#pass }" ;;
        'fail '*) fail "${line#fail }" ;;
        'exit 0') ;;
        'exit '*) fail "mutate.py ends with ${line#exit }" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
    tap_end
}
