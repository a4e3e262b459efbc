#!/bin/sh
# cost.sh - counts the instructions per operation of each kind in cost.c under
# callgrind, and compares the counts with the record in cost.txt. A count more
# than 5 % above the record fails. The counts are the same in every run.
# Instructions are not time: bench/ measures times. Prints TAP. Run from the top
# of the repository.
#
#     test/cost/cost.sh             compares
#     test/cost/cost.sh --record    writes cost.txt anew, after a wanted change
#     HEADER=/path/to/timingwheel.h test/cost/cost.sh --print
#
# The record holds for one compiler and machine, and is skipped on any other.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
record=test/cost/cost.txt
build=.build/cost
mkdir -p "$build"

# count KIND: prints tenths of an instruction per operation.
count() {
    operations=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect=measured "$build/cost" "$1" 2>"$build/said") &&
        awk -v operations="$operations" '/Collected :/ { sum = $NF }
            END { if (sum > 0 && operations > 0)
                      printf "%d\n", sum * 10 / operations }' "$build/said"
}

compiler="gcc $(gcc -dumpversion 2>/dev/null) $(uname -m)"
if ! have gcc || ! have valgrind; then
    skip 'instructions per operation' 'gcc or valgrind is missing'
    tap_end
    exit
fi
header=$(realpath "${HEADER:-timingwheel.h}")
gcc -std=c99 -O2 -g "-DHEADER=\"$header\"" -o "$build/cost" test/cost/cost.c ||
    exit 1
for kind in $("$build/cost"); do
    echo "$kind $(count "$kind")"
done >"$build/now"
case ${1:-} in
--print) exec cat "$build/now" ;;
--record)
    {
        echo '# Tenths of an instruction per operation.' \
            'test/cost/cost.sh --record renews this file.'
        echo "# $compiler"
        cat "$build/now"
    } >"$record"
    exit
    ;;
esac
if ! grep -qxF "# $compiler" "$record"; then
    skip 'instructions per operation' "$record is not of $compiler"
    tap_end
    exit
fi
while read -r kind now; do
    before=$(sed -n "s/^$kind //p" "$record")
    echo "# $kind: ${now:-not counted}, on record ${before:-nothing}"
    expect "instructions per $kind are at most 5 % above the record" \
        test "$((${now:-9999999} * 100))" -le "$((${before:-0} * 105))"
done <"$build/now"
tap_end
