#!/bin/sh
# run.sh - proofs of timingwheel.h: what holds for all inputs, not only for
# those that a test thinks of. Prints TAP. Run from the top of the repository.
#
#     test/prove/run.sh [PATTERN]
#
# - CBMC: functions of the header on any state within the bound that the case
#   names, in placement.c, queue.c, chunks.c, wheels.c and operations.c; see
#   prove.h. Every check that CBMC has is on, wrapping of unsigned numbers
#   included.
# - WP of Frama-C: contracts of what multiplies and divides, in arithmetic.c.
# - EVA of Frama-C: seeded operations in four data models without an alarm, in
#   eva.c. OPERATIONS is how many a model, by default 60; 1,000 take minutes.
#
# CBMC is taken from Debian 13 where it is not installed (get-cbmc.sh); Frama-C
# is the packages frama-c-base, why3 and z3. What cannot be had is skipped,
# loudly. With PATTERN only the cases whose names match it are run.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/prove
folder=test/prove
pattern=${1:-}
operations=${OPERATIONS:-60}

rm -rf "$build"
mkdir -p "$build"
. test/tap.sh

wanted() {
    case $1 in
    *"$pattern"*) ;;
    *) return 1 ;;
    esac
}

# ------------------------------------------------------------------ CBMC ---

checks='--bounds-check --pointer-check --pointer-overflow-check
    --pointer-primitive-check --signed-overflow-check --unsigned-overflow-check
    --conversion-check --div-by-zero-check --undefined-shift-check
    --unwinding-assertions --drop-unused-functions --slice-formula'

# options_of FUNCTION: the checks, except that twi_start_at_once and
# twi_free_slots wrap once, on purpose; and where it is the quicker way, nothing
# is simplified before it is solved.
options_of() {
    case $1 in
    start | room) echo "$checks" | sed 's/--unsigned-overflow-check//' ;;
    start_in_new_chunk | queue_down) echo "$checks --no-sat-preprocessor" ;;
    *) echo "$checks" ;;
    esac
}

# Every property holds, but each REACHED fails; and there is one of these.
is_proved() {
    grep -q '^\*\* [0-9]* of [0-9]* failed' "$1" || return
    grep '^\[.*: [A-Z]*$' "$1" | grep -v ': SUCCESS$' |
        grep -v 'reached: .*: FAILURE$'
    grep 'reached: .*: SUCCESS$' "$1"
    grep -q 'reached: .*: FAILURE$' "$1" || echo 'nothing is reached'
}

no_cbmc=
cbmc=$(command -v cbmc || echo .build/cbmc/cbmc)
goto_cc=${cbmc%cbmc}goto-cc
goto_instrument=${cbmc%cbmc}goto-instrument

# Is $prove_name wanted, and is CBMC there for it, or can be had?
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

# By the log that CBMC has written.
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
    prove_options=$(options_of "$prove_function")
    # shellcheck disable=SC2086
    "$cbmc" $prove_options --unwind 14 "$@" --function "$prove_function" \
        "$folder/$prove_file.c" >"$build/log" 2>&1
    judge_proof
}

# What CBMC does not see through is replaced by what is known of it: known.h.
known='--replace-calls twi_chunk_of:known_chunk_of
    --replace-calls twi_tail:known_tail
    --replace-calls twi_free_slots:known_free_slots
    --replace-calls twi_has_room:known_has_room
    --replace-calls twi_has_one_chunk:known_has_one_chunk
    --replace-calls twi_prefetch_few:known_prefetch_few'

# And in operations.c: state.h.
known_state="$known
    --replace-calls twi_wheel_of:known_wheel_of
    --replace-calls twi_find_mark:known_find_mark
    --replace-calls twi_prefetch:known_prefetch
    --replace-calls tw_start:known_start"

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
    prove_options=$(options_of "$prove_function")
    replaced "$prove_file" "$prove_function" "$known" "$@" &&
        "$cbmc" $prove_options --unwind 14 --unwindset twi_reclaim.1:65 \
            "$build/known.goto" >"$build/log" 2>&1
    judge_proof
}

# prove_state NAME FUNCTION MARKS [DEFINITION...]: in operations.c, with known.h
# and state.h. Chunks have 5 slots there: with 13 it takes up to ten times as
# long, or does not end.
# shellcheck disable=SC2086
prove_state() {
    prove_name="cbmc: $1" prove_function=$2 prove_marks=$3
    shift 3
    can_prove || return
    prove_options=$(options_of "$prove_function")
    replaced operations "$prove_function" "$known_state" \
        '-DTWI_CHUNK_BYTES=(8 * sizeof(void *))' "-DMARKED=$prove_marks" "$@" &&
        "$cbmc" $prove_options --unwind 14 --unwindset "$state_loops" \
            "$build/known.goto" >"$build/log" 2>&1
    judge_proof
}

# How often these run with two wheels of two buckets.
state_loops=twi_queue_up.0:2,twi_queue_down.0:2,twi_find_next.0:3

prove 'highest and lowest bit, every number' placement bits
prove 'highest and lowest bit in portable code, every number' \
    placement bits -DPROVE_PORTABLE
prove 'finest wheel for a tick, every size, clock and tick' placement level
prove 'bucket of a tick, every size, level, clock and two ticks' \
    placement bucket
prove 'window moves with the clock, every size, level, clock and tick' \
    placement window
prove 'roundest tick of a window, every window' placement roundest
prove 'next deadline and wait, every clock and tick, ticks of 1 and 1024' \
    placement wait
for size_bits in 1 6 8; do
    prove "first mark of a wheel of 2^$size_bits, every bitmap and clock" \
        wheels find_mark -DSIZE_BITS=$size_bits --unwindset make_bitmap.0:65
done
heaps='every heap up to'
prove "delay queue, entry moves up, $heaps 5" queue queue_up -DQUEUED=5
prove_known "delay queue, earlier bucket, $heaps 5" queue offer -DQUEUED=5
prove "delay queue, entry moves down, $heaps 4" queue queue_down -DQUEUED=4
prove "delay queue, entry leaves, $heaps 4" queue queue_remove -DQUEUED=4
prove_known "delay queue, later bucket, $heaps 3" queue offer_later -DQUEUED=3
prove 'memory is aligned and inside, 0..1024 bytes, every odd start' \
    chunks allocate
prove 'chunk of a slot, every slot' chunks chunk_of
prove 'room of a bucket, every slot' chunks room
prove_known 'unused chunk is taken, lists up to 2' chunks take_chunk
prove_known 'chunk joins a list of 0..2, or memory is out' chunks add_chunk
prove_known 'open chunk joins a list of 1..2' chunks add_open
prove_known 'chunk leaves a list of 1..3' chunks release_chunk
prove_known 'slot behind or in front, every chunk, lists of 1..2' chunks slots
prove 'bucket is opened, from every slot on' chunks open_bucket
prove_known 'bucket is closed, every last chunk, lists of 1..3' \
    chunks close_bucket
prove_known 'list joins a list, 0..2 chunks each, 3 in all' chunks append
prove 'chunk fetched ahead is only read' chunks prefetch
prove 'bucket fetched ahead is only read, lists of 1..2' chunks prefetch_few
prove 'wheel of an own chunk, wheels of 4' wheels wheel_of

# Two wheels of two buckets. Their marks and which are first in them; then the
# shapes of the two buckets of the first wheel, as in state.h.
both='{3,3},{0,1}' later='{3,2},{1,1}'
prove_state 'cancel, the first bucket' cancel "$both" -DSHAPE=ALONE,ALONE
prove_state 'cancel, the only bucket' cancel '{1,2},{0,1}' -DSHAPE=ALONE,ALONE
prove_state 'cancel, of two chunks' cancel "$both" -DSHAPE=BEHIND,GONE
prove_state 'cancel, of two chunks of a later bucket' \
    cancel "$later" -DSHAPE=BEHIND,ALONE
prove_state 'cancel, own chunk free' cancel "$both" -DSHAPE=INSTEAD,ALONE
prove_state 'slot taken back, own chunk alone' \
    take_back "$later" -DSHAPE=ALONE,ALONE
prove_state 'slot taken back, of two chunks' \
    take_back "$later" -DSHAPE=BEHIND,ALONE
prove_state 'slot taken back, own chunk free' \
    take_back "$later" -DSHAPE=INSTEAD,ALONE
prove_state 'no slot taken back of the first bucket' \
    watched "$both" -DSHAPE=BEHIND,GONE
prove_state 'postpone, the first bucket' postpone "$both" -DSHAPE=ALONE,ALONE
prove_state 'postpone, own chunk lent' postpone "$later" -DSHAPE=LENT,ALONE
prove_state 'bucket filled, of a wheel with timers' fill '{2,3},{1,1}'
prove_state 'bucket filled, the first one' fill '{1,3},{0,1}'
prove_state 'bucket filled, before the first one' \
    fill '{2,3},{1,1}' -DLEVELS=1,2
prove_state 'bucket filled from the back, of an empty wheel' \
    fill '{0,3},{0,1}' -DFRONT=true
prove_state 'start at once' start "$both" -DSHAPE=ALONE,ALONE
prove_state 'start at once, for a deadline as before' \
    start '{1,2},{0,1}' -DSHAPE=ALONE,ALONE
prove_state 'start in a new chunk, of the first bucket' \
    start_in_new_chunk '{1,1},{0,0}' -DSHAPE=INSTEAD,ALONE
prove_state 'start in a new chunk, of a later bucket' \
    start_in_new_chunk "$later" -DSHAPE=INSTEAD,ALONE

# These two take more than six minutes each: LONG=1 asks for them.
if [ -n "${LONG:-}" ]; then
    prove_state 'cancel, own chunk lent' cancel "$later" -DSHAPE=GONE,ALONE
    prove_state 'cancel, own chunk lent beside another' \
        cancel "$both" -DSHAPE=LENT,ALONE
fi

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
contract twi_time_of 'time of a tick, every tick length and tick'
contract tw_after 'tw_after, every clock and delay'
contract tw_next_period 'tw_next_period, every time and period'

# analyse MODEL [OPTION...]
analyse() {
    analyse_model=$1
    shift
    frama-c -eva -eva-slevel 10000000 -eva-plevel 5000 -eva-no-results \
        -absolute-valid-range 0x10000-0x7ffff -machdep "$analyse_model" \
        -cpp-extra-args="-U__GNUC__ -DOPERATIONS=$operations $*" \
        "$folder/eva.c" >"$build/log" 2>&1
    grep -v superposing "$build/log" | tail -n 25
}

# No alarm, no assertion left open, and it got to the end.
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
operations=$((2 * operations)) # where so many starts are refused
eva no_alarm "$operations operations, msvc_x86_64, memory scarce, no alarm" \
    msvc_x86_64 -DSCARCE

tap_end
