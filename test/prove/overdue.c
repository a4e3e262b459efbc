/* overdue.c - proofs of the positions of overdue timers in timingwheel.h. The
 * further proofs are of the choice of the next due timer, while timers are
 * overdue or stuck.
 *
 * SPDX-License-Identifier: MIT
 */
#define CHUNKS 2
#include "buckets.h"

static twi_bucket *const overdue = &tw.outside[TWI_OVERDUE];
static twi_bucket *const stuck = &tw.outside[TWI_STUCK];
static tw_timer *stuck_slots[2];
static twi_wheel wheel0;

/* Any slots of any two chunks of a bucket, whose numbers may wrap. Slot `a` is
 * before the position of slot `b` exactly if `a` stands before `b`. */
void position(void)
{
    make_none();
    make_chain(overdue, 0, 2, 0, TWI_SLOTS);
    unsigned i = any_below(2), j = any_below(2);
    unsigned k = any_below(TWI_SLOTS), l = any_below(TWI_SLOTS);
    tw_timer **a = &chunks[i]->slots[k], **b = &chunks[j]->slots[l];
    bool is_before = i < j || (i == j && k < l);
    ASSERT(twi_is_before_position(a, twi_position(b)) == is_before);
    ASSERT(twi_is_before_position(a, twi_position(b) + 1) ==
           (is_before || a == b));
    REACHED("the end");
}

/* Makes any overdue and stuck timers, and any head of the delay queue. An
 * earlier call has left any turn, up to the position `until`. */
static void make_aside(size_t until)
{
    unsigned count = any_below(3), first = any_below(TWI_SLOTS);
    unsigned end = 1 + any_below(TWI_SLOTS);
    make_none();
    if (count == 2)
        make_chain(overdue, 0, 2, first, end);
    ASSUME(count != 1 || first <= end);
    if (count == 1)
        make_chain(overdue, 0, 1, first, end);
    tw.turn_count = 1;
    tw.turns[0].overdue_until = until;
    if (count != 0) { /* `until` is not behind the last timer */
        size_t behind = twi_position(overdue->back - 1) + 1;
        ASSUME(behind - until < SIZE_MAX / 4);
        ASSUME(until - twi_position(overdue->front) + SIZE_MAX / 4 <
               SIZE_MAX / 2);
    }
    if (nondet_bool()) {
        stuck->front = stuck_slots;
        stuck->back = stuck_slots + 1;
        stuck->earliest = nondet_u64();
    }
    tw.next_tick = UINT64_MAX;
    if (nondet_bool()) {
        tw.queued = 1;
        tw.queue[0] = &wheel0;
        tw.next_tick = nondet_u64();
    }
    tw.clock_tick = nondet_u64();
    tw.turns[0].due_until = nondet_u64();
    tw.has_outside = true;
}

/* True if anything is due by a tick, apart from overdue timers. */
static bool is_due_by(uint64_t tick)
{
    return (tw.queued != 0 && tw.next_tick <= tick) ||
           (!twi_is_empty(stuck) && stuck->earliest <= tick);
}

/* Any call begins. All timers that are overdue at the beginning have a turn.
 * Timers that become overdue later in the call have none. If timers became
 * overdue since the earlier call, the timers that the earlier call left due
 * come first. */
void begin_overdue(void)
{
    make_aside((size_t)nondet_u64());
    uint64_t target = nondet_u64(), due_until = tw.turns[0].due_until;
    size_t until = tw.turns[0].overdue_until;
    twi_add_turn(&tw, target);
    const twi_turn *last = &tw.turns[tw.turn_count - 1];
    unsigned i = any_below(2), k = any_below(TWI_SLOTS);
    bool is_any = !twi_is_empty(overdue);
    ASSERT(tw.turn_count == 1 || tw.turn_count == 2);
    ASSERT(last->due_until == target);
    ASSERT(!is_any ||
           last->overdue_until == twi_position(overdue->back - 1) + 1);
    ASSERT(is_any || last->overdue_until == until);
    if (is_any && is_in(overdue, &chunks[i]->slots[k]))
        ASSERT(
            twi_is_before_position(&chunks[i]->slots[k], last->overdue_until));
    ASSERT((tw.turn_count == 2) == (last->overdue_until != until));
    if (tw.turn_count == 1) {
        REACHED("one turn");
        return;
    }
    ASSERT(tw.turns[0].overdue_until == until);
    ASSERT(tw.turns[0].due_until == (due_until < target ? due_until : target));
    REACHED("two turns");
}

/* Any call that has begun: the source of the next timer, and the order of
 * sources. Nothing is due exactly if there is no timer of three kinds: overdue
 * since before the call, stuck with a tick up to the target, or in a wheel with
 * a tick up to the target. */
void find_due(void)
{
    make_aside((size_t)nondet_u64());
    uint64_t target = nondet_u64();
    twi_add_turn(&tw, target);
    bool is_overdue =
        twi_is_overdue_before(&tw, tw.turns[tw.turn_count - 1].overdue_until);
    bool is_first = twi_is_overdue_before(&tw, tw.turns[0].overdue_until);
    bool is_left = is_due_by(tw.turns[0].due_until);
    enum twi_source source = twi_find_source_slow(&tw);
    ASSERT((source == TWI_NOT_DUE) == (!is_overdue && !is_due_by(target)));
    ASSERT((source == TWI_BY_OVERDUE) ==
           (is_first || (is_overdue && !is_left)));
    if (source == TWI_BY_STUCK) {
        ASSERT(!twi_is_empty(stuck) && stuck->earliest <= target);
        ASSERT(stuck->earliest <= tw.next_tick);
        REACHED("stuck");
    } else if (source == TWI_BY_WHEEL) {
        ASSERT(tw.queued != 0 && tw.next_tick <= target);
        ASSERT(twi_is_empty(stuck) || tw.next_tick < stuck->earliest);
        REACHED("in a wheel");
    } else if (source == TWI_BY_OVERDUE) {
        REACHED("overdue");
    } else {
        ASSERT(tw.turn_count == 1);
        ASSERT(tw.has_outside ==
               (!twi_is_empty(overdue) || !twi_is_empty(stuck)));
        REACHED("nothing");
    }
}
