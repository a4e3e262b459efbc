#!/bin/sh
# prove.sh - proofs of timingwheel.h: properties that hold for all inputs, not
# only for the inputs of a test. Prints TAP. Run from the top of the repository.
#
#     test/prove/prove.sh [PATTERN]
#
# - CBMC: functions of the header on any state within a bound. The case names
#   the bound. The proofs are in all remaining files; see prove.h. Every check
#   of CBMC is on, including the wrapping of unsigned numbers. Proofs of numbers
#   that wrap on purpose leave the wrapping out: the quick look for a wheel, and
#   the numbers of chunks.
# - WP of Frama-C: contracts of functions that multiply and divide, in
#   arithmetic.c.
# - EVA of Frama-C: seeded operations in four data models without an alarm, in
#   eva.c. OPERATIONS is the number per model, by default 60. 1,000 operations
#   take minutes.
#
# If CBMC is not installed, get-cbmc.sh takes CBMC from Debian 13. Frama-C is
# the packages frama-c-base, why3 and z3. Missing tools are skipped with a
# warning. With PATTERN only the cases with matching names are run.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/prove
folder=test/prove
pattern=${1:-}
operations=${OPERATIONS:-60}

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

# Empty for numbers that wrap on purpose.
wrapping=--unsigned-overflow-check

# Every property holds, each REACHED fails, and there is at least one REACHED.
is_proved() {
    grep -q '^\*\* [0-9]* of [0-9]* failed' "$1" || return
    grep '^\[.*: [A-Z]*$' "$1" | grep -v ': SUCCESS$' |
        grep -v 'reached: .*: FAILURE$'
    grep 'reached: .*: SUCCESS$' "$1"
    grep -q 'reached: .*: FAILURE$' "$1" || echo 'nothing is reached'
}

# Loops run up to `unwind` times, except these.
unwind=13
loops=set_size.0:65,make_bitmap.0:65,twi_expect_large.0:65
no_cbmc=
cbmc=$(command -v cbmc || echo .build/cbmc/cbmc)
goto_cc=${cbmc%cbmc}goto-cc
goto_instrument=${cbmc%cbmc}goto-instrument

# True if $prove_name is wanted, and CBMC is installed or can be fetched.
can_prove() {
    wanted "$prove_name" || return 1
    if [ -z "$no_cbmc" ] && ! have "$goto_cc"; then
        "$folder/get-cbmc.sh" >"$build/get-cbmc.log" 2>&1 ||
            no_cbmc="cbmc is missing ($(tail -n 1 "$build/get-cbmc.log"))"
    fi
    [ -n "$no_cbmc" ] || return 0
    skip "$prove_name" "$no_cbmc"
    return 1
}

# Judges a proof by the log of CBMC.
judge_proof() {
    expect_nothing "$prove_name" is_proved "$build/log"
    [ -s "$build/said" ] || grep -q '^\*\* ' "$build/log" ||
        tail -n 3 "$build/log" | sed 's/^/# /'
}

# prove NAME FILE FUNCTION [OPTION...]
prove() {
    prove_name="cbmc: $1" prove_file=$2 prove_function=$3
    shift 3
    can_prove || return
    # shellcheck disable=SC2086
    "$cbmc" $checks $wrapping --unwind $((unwind + 1)) \
        --unwindset "$loops" "$@" \
        --function "$prove_function" "$folder/$prove_file.c" \
        >"$build/log" 2>&1
    judge_proof
}

# Replaces functions that CBMC cannot analyse; see known.h.
known='--replace-calls twi_chunk_of:known_chunk_of
    --replace-calls twi_slot_of:known_slot_of'
known_provide='--replace-calls twi_provide:known_provide'
known_slabs='--replace-calls twi_sweep:known_sweep
    --replace-calls twi_add_slab:known_add_slab'
also_known=

# replaced FILE FUNCTION REPLACEMENTS [DEFINITION...]
# shellcheck disable=SC2086
replaced() {
    replaced_file=$1 replaced_function=$2 replaced_calls=$3
    shift 3
    "$goto_cc" "$@" -o "$build/file.goto" --function "$replaced_function" \
        "$folder/$replaced_file.c" >"$build/log" 2>&1 &&
        "$goto_instrument" $replaced_calls \
            "$build/file.goto" "$build/known.goto" >"$build/log" 2>&1
}

# prove_known NAME FILE FUNCTION [DEFINITION...]: as prove, with known.h.
# shellcheck disable=SC2086
prove_known() {
    prove_name="cbmc: $1" prove_file=$2 prove_function=$3
    shift 3
    can_prove || return
    replaced "$prove_file" "$prove_function" "$known $also_known" "$@" &&
        "$cbmc" $checks $wrapping --unwind $((unwind + 1)) \
            --unwindset "$loops" "$build/known.goto" >"$build/log" 2>&1
    judge_proof
}

prove 'highest and lowest bit, every number' placement bits
prove 'highest and lowest bit in portable code, every number' \
    placement bits -DPROVE_PORTABLE
prove 'level of a tick, every size, clock and tick' placement level
prove 'no timer gets into the next step, every size, level, clock and tick' \
    placement next_step
prove 'level falls while the clock moves on, every size, tick and two clocks' \
    placement fall
prove 'bucket of a tick, every size, level, clock and two ticks' \
    placement bucket
prove 'window moves with the clock, every size, level, clock and tick' \
    placement window
prove 'end of a wheel, every size, level, clock and tick' placement end_of
wrapping=
prove 'quick look for the wheel, every size, level, tick and two clocks' \
    placement quick
wrapping=--unsigned-overflow-check
prove 'roundest tick of a window, every window' placement roundest
prove 'next deadline and wait, every clock and tick, ticks of 1 and 1024' \
    placement wait
prove 'begin of a call, every clock and time' placement begin
prove 'end of a call, every clock and time' placement end
for size_bits in 1 5 7; do
    buckets=$((2 << size_bits))
    prove "first mark of $buckets buckets, every bitmap and clock" \
        wheels find_mark -DSIZE_BITS=$size_bits
    prove_known "mark comes and goes, every bitmap of $buckets and bucket" \
        wheels mark -DSIZE_BITS=$size_bits
done
heaps='every heap up to' unwind=6
prove "delay queue, earlier bucket, $heaps 5" queue earlier -DQUEUED=5
prove "delay queue, later bucket, $heaps 4" queue later -DQUEUED=4
prove "delay queue, wheel leaves, $heaps 4" queue unqueue -DQUEUED=4

unwind=13
prove 'memory is aligned and inside, 0..1024 bytes, every odd start' \
    chunks allocate
prove 'chunk of a slot, every slot' chunks chunk_of
prove 'slot of a timer, every slot, sorted or not' chunks slot_of
wrapping= # numbers of chunks do
small=-DTWI_CHUNK_BYTES=64 # chunks of 4 slots
prove_known 'unused chunk is taken, lists up to 2' chunks take_chunk
also_known=$known_provide
prove_known 'slot behind all others, every bucket of 2 chunks' chunks push_back
prove_known 'slot in front of all others, every bucket of 2 chunks' \
    chunks push_front
prove_known 'first slot, every empty bucket' chunks push_empty
prove_known 'timer is cancelled, every bucket of 1 and 2 chunks' chunks cancel
also_known=
prove_known 'front slot leaves, every bucket of 1 and 2 chunks' chunks pop_front
prove_known 'last slot leaves, every bucket of 1 and 2 chunks' chunks pop_back
prove_known 'dead slots leave the front, every bucket of 3 small chunks' \
    chunks skip_dead $small
prove_known 'bucket is cut off, every bucket of 3 chunks' chunks cut_off
prove_known 'chunk without a timer leaves, every bucket of 1 to 3 chunks' \
    chunks dead
prove_known 'last chunk of overdue timers stays, every bucket of 2 chunks' \
    chunks dead_overdue
for most in 1 2; do
    prove_known "bucket of 1 to 3 chunks is large above the limit of $most" \
        chunks large -DTWI_LARGE_CHUNKS=$most
done
unwind=6
prove_known 'bucket is taken over, every two buckets up to 2 small chunks' \
    chunks append $small -DCHUNKS=4
unwind=13
prove_known 'chunk fetched ahead is only read' chunks prefetch
unwind=5
for swept in 1 2 3; do
    prove_known "sweep finds a dead chunk, 3 small chunks, from chunk $swept" \
        slabs sweep $small -DSWEPT=$swept
done
also_known=$known_slabs
prove_known 'chunks are provided, every bucket of 2 small chunks' \
    chunks provide $small -DCHUNKS=2
also_known=
prove_known 'first bucket is found, every 2 of 4 buckets with a small chunk' \
    offer offer $small
unwind=13
also_known='--replace-calls twi_slot_below:known_slot_below
    --replace-calls twi_requeue:known_requeue'
unwind=5
prove_known 'timers move down, every bucket of 1 and 2 chunks of 2 slots' \
    down down -DTWI_CHUNK_BYTES=48
unwind=13
also_known=
prove_known 'position of an overdue timer, every 2 slots and numbers' \
    overdue position
prove_known 'call begins with overdue timers, every bucket of 2 small chunks' \
    overdue begin_overdue $small
prove_known 'what is due first, every bucket of 2 small chunks' \
    overdue find_due $small

# --------------------------------------------------------------- Frama-C ---

export WHY3CONFIG="$PWD/$build/why3.conf"
no_frama_c=
have frama-c || no_frama_c='frama-c is missing (frama-c-base)'

all_proved() {
    frama-c -wp -wp-rte -warn-unsigned-overflow -wp-prover z3 \
        -wp-timeout 30 -wp-par 1 -wp-fct "$1" -cpp-extra-args=-U__GNUC__ \
        "$folder/arithmetic.c" >"$build/log" 2>&1
    cat "$build/log"
    awk '/Proved goals:/ { proved = $(NF - 2); all = $NF }
        END { exit !(all > 1 && proved == all) }' "$build/log"
}

# contract FUNCTION NAME
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
contract twi_share_of 'share of what is left, every time passed and span'
contract tw_after 'tw_after, every clock and delay'
contract tw_next_period 'tw_next_period, every time and period'

# analyse MODEL [OPTION...]. A start that needs a chunk calls itself once. EVA
# must follow the call. Without following, EVA assumes any result of the call.
analyse() {
    analyse_model=$1
    shift
    frama-c -eva -eva-slevel 10000000 -eva-plevel 5000 -eva-no-results \
        -eva-unroll-recursive-calls 2 \
        -absolute-valid-range 0x10000-0x7ffff -machdep "$analyse_model" \
        -cpp-extra-args="-U__GNUC__ -DOPERATIONS=$operations $*" \
        "$folder/eva.c" >"$build/log" 2>&1
    grep -v superposing "$build/log" | tail -n 25
}

# No alarm, no open assertion, and EVA got to the end.
no_alarm() {
    analyse "$@"
    grep -q '^ *0 alarms generated' "$build/log" &&
        grep -q 'Frama_C_show_each_end' "$build/log" &&
        grep -q 'Assertions *[1-9][0-9]* valid *0 unknown *0 invalid' \
            "$build/log"
}

an_alarm() {
    analyse "$@"
    grep -q '^ *[1-9][0-9]* alarms* generated' "$build/log"
}

# eva CHECK NAME MODEL [OPTION...]
eva() {
    eva_check=$1 eva_name="eva: $2"
    shift 2
    wanted "$eva_name" || return
    if [ -n "$no_frama_c" ]; then
        skip "$eva_name" "$no_frama_c"
        return
    fi
    expect "$eva_name" "$eva_check" "$@"
}

for model in gcc_x86_64 gcc_x86_32 gcc_x86_16; do
    eva no_alarm "$operations operations, $model, no alarm" "$model"
done
eva an_alarm 'a fault put in on purpose gives an alarm' gcc_x86_64 -DBREAK
operations=$((2 * operations)) # many starts are refused
eva no_alarm "$operations operations, msvc_x86_64, memory scarce, no alarm" \
    msvc_x86_64 -DSCARCE

tap_end
