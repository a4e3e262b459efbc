#!/bin/sh
# proofs.sh - proofs of timingwheel.h: properties that hold for all inputs, not
# only for the inputs of a test. Prints TAP. Run from the top of the repository.
#
#     test/proofs/proofs.sh [PATTERN]
#
# CBMC judges the functions that place a timer, in placement.c, with every check
# that it has. If CBMC is not installed, get-cbmc.sh takes it from Debian 13;
# without CBMC the cases are skipped with a warning. With PATTERN only the cases
# with matching names are run.
#
# NOT PROVED: divisions (too hard for CBMC), rings, the delay queue, whole calls
# (the searches and the fuzzer try these); the mailbox; the time taken.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/proofs
folder=test/proofs
pattern=${1:-}

rm -rf "$build"
mkdir -p "$build"
. test/lib/tap.sh

wanted() {
    case $1 in
    *"$pattern"*) ;;
    *) return 1 ;;
    esac
}

checks='--bounds-check --pointer-check --pointer-overflow-check
    --pointer-primitive-check --signed-overflow-check
    --unsigned-overflow-check --conversion-check --div-by-zero-check
    --undefined-shift-check --unwind 66 --unwinding-assertions
    --drop-unused-functions --slice-formula'
sizes=1,2,3,4,5,6,7,8,9,10,11,12

cbmc=$(command -v cbmc || echo .build/cbmc/cbmc)
no_cbmc=
if ! have "$cbmc"; then
    "$folder/get-cbmc.sh" >"$build/get-cbmc.log" 2>&1 ||
        no_cbmc="cbmc is missing ($(tail -n 1 "$build/get-cbmc.log"))"
fi

# Every property holds, each REACHED fails, and there is at least one REACHED.
is_proved() {
    grep -q '^\*\* [0-9]* of [0-9]* failed' "$1" || tail -n 3 "$1"
    grep '^\[.*: [A-Z]*$' "$1" | grep -v ': SUCCESS$' |
        grep -v 'reached: .*: FAILURE$'
    grep 'reached: .*: SUCCESS$' "$1"
    grep -q 'reached: .*: FAILURE$' "$1" || echo 'nothing is reached'
}

# Runs a proof of the table. Prints what is not proved.
# shellcheck disable=SC2086
run_proof() {
    "$cbmc" $checks $proof_defines --function "$proof_function" \
        "$folder/placement.c" >"$build/log" 2>&1
    is_proved "$build/log"
}

# The table: FUNCTION BITS WHAT. BITS is a list of log2 of the wheel size, or -,
# or a macro. A proof runs once per item.
while read -r proof_function items what; do
    name="cbmc: $what"
    wanted "$name" || continue
    [ -z "$no_cbmc" ] || {
        skip "$name" "$no_cbmc"
        continue
    }
    [ "$items" != every ] || items=$sizes
    for item in $(echo "$items" | tr , ' '); do
        case $item in
        -) proof_defines= ;;
        -D*) proof_defines=$item ;;
        *) proof_defines=-DSIZE_BITS=$item ;;
        esac
        expect_nothing "$name ($item)" run_proof
    done
done <<END
bits -,-DTWI_PORTABLE highest and lowest bit, every number
wheel every the wheel of a tick, any wheels, clock and tick
fall every no coarser wheel while the clock moves, every tick
bucket every bucket and window of two ticks, every level and clock
roundest - roundest tick of a window, every window
END

tap_end
