#!/bin/sh
# prove.sh - proofs of timingwheel.h: properties that hold for all inputs, not
# only for the inputs of a test. Prints TAP. Run from the top of the repository.
#
#     test/prove/prove.sh [PATTERN]
#
# - CBMC: functions of the header on any state within a bound. The table below
#   names the bound. The proofs are in the file of the table; see prove.h. Every
#   check of CBMC is on. The check of wrapping unsigned numbers is off where
#   numbers wrap on purpose.
# - WP of Frama-C: contracts of functions that multiply and divide, in
#   arithmetic.c.
#
# If CBMC is not installed, get-cbmc.sh takes it from Debian 13. Frama-C is the
# packages frama-c-base, why3 and z3. Missing tools are skipped with a warning.
# With PATTERN only the cases with matching names are run.
#
# NOT PROVED: whole calls over filled wheels (the searches and the fuzzer try
# these); which timer twi_take_next takes; where twi_place_again places a timer;
# the share of a span of 2^32 ticks or more; more timers, wheels or buckets than
# the bounds say; heaps of more than five wheels; callbacks that start, cancel
# or throw; tw_drain, tw_foreach and tw_trim; the mailbox; the time taken.
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
    --conversion-check --div-by-zero-check --undefined-shift-check
    --unwinding-assertions --drop-unused-functions --slice-formula'
wrapping=--unsigned-overflow-check
sizes='1 2 3 4 5 6 7 8 9 10 11 12'
heaps='-DQUEUED=1,-DQUEUED=2,-DQUEUED=3,-DQUEUED=4,-DQUEUED=5'

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

# replace_calls FUNCTION...: compiles a proof that calls known_FUNCTION in place
# of each twi_FUNCTION.
# shellcheck disable=SC2086
replace_calls() {
    calls=
    for call in "$@"; do
        calls="$calls --replace-calls twi_$call:known_$call"
    done
    proof_source=$build/replaced
    "${cbmc%cbmc}goto-cc" $proof_defines --function "$proof_function" \
        -o "$build/goto" "$folder/$proof_file.c" &&
        "${cbmc%cbmc}goto-instrument" $calls "$build/goto" "$proof_source"
}

# Runs a proof of the table. Prints what is not proved.
# shellcheck disable=SC2086
run_proof() {
    proof_source=$folder/$proof_file.c
    case $proof_function in
    down) replace_calls index_of place_again queue_set ;;
    take_coarse) replace_calls bucket_of place_again queue_set requeue \
        move_down ;;
    move_ahead) replace_calls share_of move_down ;;
    limit) replace_calls take_next append_ring ;;
    wait) replace_calls last_wheel ;;
    esac >"$build/goto.log" 2>&1 || cat "$build/goto.log"
    # On one path CBMC knows the places in the heap, which takes a tenth.
    case $proof_function in
    set | go) proof_options="$proof_options --paths lifo" ;;
    esac
    "$cbmc" $checks $proof_options $proof_defines \
        --function "$proof_function" "$proof_source" \
        >"$build/log" 2>&1
    is_proved "$build/log"
}

# The table: FILE FUNCTION BOUND BITS WHAT. A loop runs up to BOUND - 1 times.
# BITS is a list of log2 of the wheel size, or -, or a macro. A proof
# runs once per item. A + after the bound turns the check of wrapping on.
while read -r proof_file proof_function bound items what; do
    name="cbmc: $what"
    wanted "$name" || continue
    [ -z "$no_cbmc" ] || {
        skip "$name" "$no_cbmc"
        continue
    }
    proof_options="--unwind ${bound%+}"
    [ "$bound" = "${bound%+}" ] || proof_options="$proof_options $wrapping"
    [ "$items" != every ] || items=$(echo "$sizes" | tr ' ' ,)
    for item in $(echo "$items" | tr , ' '); do
        case $item in
        -) proof_defines= ;;
        -D*) proof_defines=$item ;;
        *) proof_defines=-DSIZE_BITS=$item ;;
        esac
        expect_nothing "$name ($item)" run_proof
    done
done <<END
placement bits 65+ -,-DTWI_PORTABLE highest and lowest bit, every number
placement level 65+ every finest wheel of a tick, every clock and tick
placement fall 65+ every level falls while the clock moves, every tick
placement bucket 65+ every bucket and window of two ticks, every level and clock
placement certain 65+ every certain wheel of tw_start, every clock and tick
placement roundest 65+ - roundest tick of a window, every window
queue set 8+ $heaps a key changes, every heap of that size
queue go 8+ $heaps a wheel goes, every heap of that size
queue enter 8+ $heaps a wheel comes, every heap of that size
queue last 65 - the wheel of the last tick, any timers
rings leave 5+ - a timer leaves, any two rings of up to 3 timers
rings enter 5+ - a timer enters, any two rings of up to 3 timers
rings append 5+ - a ring is appended, any two rings of up to 3 timers
rings move 5+ - a timer moves to another struct, any two rings
rings skip 9 1,2 first bucket with timers, every mark and clock
cascade down 9 - moving down keeps start order, any 3 timers
cascade take_coarse 9 -DTWI_FEW=1,-DTWI_FEW=2 a bucket comes up, any 3 timers
ahead move_ahead 65 -DLEVEL=1,-DLEVEL=8,-DLEVEL=63 moving ahead, every clock
wait wait 6 -,-DTICK=1024 time to wait, every clock, key and sleep
wait idle 6 - a call that moves only the clock, every sound state
wait limit 6 - a limit and an unfinished call, 2 timers in each call
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
