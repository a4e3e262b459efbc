#!/bin/sh
# prove.sh - proofs of timingwheel.h: properties that hold for all inputs, not
# only for the inputs of a test. Prints TAP. Run from the top of the repository.
#
#     test/prove/prove.sh [PATTERN]
#
# - CBMC: functions of the header that place a timer, in placement.c, with every
#   check of CBMC.
# - WP of Frama-C: contracts of functions that multiply and divide, in
#   arithmetic.c.
#
# If CBMC is not installed, get-cbmc.sh takes it from Debian 13. Frama-C is the
# packages frama-c-base, why3 and z3. Missing tools are skipped with a warning.
# With PATTERN only the cases with matching names are run.
#
# NOT PROVED: rings, the delay queue, whole calls (the searches and the fuzzer
# try these); the share of a span of 2^32 ticks or more; the mailbox; the time
# taken.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/prove
folder=test/prove
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

# ------------------------------------------------------------------ CBMC ---

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

# --------------------------------------------------------------- Frama-C ---

export WHY3CONFIG="$PWD/$build/why3.conf"
no_frama_c=
have frama-c || no_frama_c='frama-c is missing (frama-c-base)'

all_proved() {
    goals=-wp-fct=$1
    [ "$1" != lemmas ] || goals=-wp-prop=@lemma
    frama-c -wp -wp-rte -warn-unsigned-overflow -wp-prover z3 \
        -wp-timeout 30 -wp-par 1 "$goals" -cpp-extra-args=-U__GNUC__ \
        "$folder/arithmetic.c" >"$build/log" 2>&1
    cat "$build/log"
    awk '/Proved goals:/ { proved = $(NF - 2); all = $NF }
        END { exit !(all > 1 && proved == all) }' "$build/log"
}

# contract FUNCTION NAME, or: contract lemmas NAME
contract() {
    wanted "wp: $2" || return
    if [ -n "$no_frama_c" ] || ! have why3 || ! have z3; then
        skip "wp: $2" "${no_frama_c:-why3 or z3 is missing}"
        return
    fi
    [ -e "$WHY3CONFIG" ] ||
        why3 config detect -C "$WHY3CONFIG" >"$build/why3.log" 2>&1
    expect "wp: $2" all_proved "$1"
}

contract twi_tick_of 'tick of a deadline, every tick length and deadline'
contract twi_tick_reached 'tick that the clock has reached, every clock'
contract lemmas 'lemmas of the share'
contract twi_share_of 'share of a bucket, every span below 2^32'
contract tw_after 'tw_after, every clock and delay'
contract tw_next_period 'tw_next_period, every time and period'

tap_end
