#!/bin/sh
# cost.sh - counts the instructions of each kind of operation under callgrind,
# which is exact and the same in every run, and compares them with the figures
# on record in cost.txt: more than 5 % above fails. Prints TAP; run from the top
# of the repository.
#
#     test/cost/cost.sh             compares
#     test/cost/cost.sh --record    writes test/cost/cost.txt anew
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
record=test/cost/cost.txt
build=.build/cost
mkdir -p "$build"

# count KIND: hundredths of an instruction per operation; fails if it cannot.
count() {
    operations=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect="measured_$1" "$build/cost" "$1" \
        2>"$build/said") || return 1
    collected=$(sed -n 's/.*Collected : *//p' "$build/said")
    [ "${collected:-0}" -gt 0 ] && [ "$operations" -gt 0 ] &&
        echo $((collected * 100 / operations))
}

# decimal HUNDREDTHS
decimal() {
    printf '%d.%02d' $(($1 / 100)) $(($1 % 100))
}

# compare KIND: with the record.
compare() {
    name="instructions per $1 are at most 5 % above the record"
    if ! now=$(count "$1"); then
        fail "$name" "$build/said"
        return
    fi
    before=$(sed -n "s/^$1 //p" "$record" | tr -d .)
    echo "# $1: $(decimal "$now"), on record $(decimal "${before:-0}")"
    if [ -n "$before" ] && [ $((now * 100)) -le $((before * 105)) ]; then
        pass "$name"
    else
        fail "$name"
    fi
}

compiler="gcc $(gcc -dumpversion 2>/dev/null | cut -d. -f1) $(uname -m)"
if ! have gcc || ! have valgrind; then
    skip 'the cost of an operation' 'gcc or valgrind is missing'
    tap_end
    exit
fi
gcc -std=c99 -O2 -g -o "$build/cost" test/cost/cost.c || exit 1
kinds=$("$build/cost")
if [ "${1:-}" = --record ]; then
    {
        echo '# instructions per operation;' \
            'test/cost/cost.sh --record renews it'
        echo "compiler $compiler"
        for kind in $kinds; do
            now=$(count "$kind") || exit 1
            echo "$kind $(decimal "$now")"
        done
    } >"$build/record" && cp "$build/record" "$record"
    exit
fi
on_record=$(sed -n 's/^compiler //p' "$record" 2>/dev/null)
if [ "$on_record" != "$compiler" ]; then
    skip 'the cost of an operation' \
        "this is $compiler, the record is of ${on_record:-nothing}"
else
    for kind in $kinds; do
        compare "$kind"
    done
fi
tap_end
