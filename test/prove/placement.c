/* placement.c - proofs of where timingwheel.h puts a tick, and of how long it
 * says to wait: for all inputs of 64 bits. What divides is in arithmetic.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

/* Index of the highest and of the lowest bit; run with the compiler's
 * instructions and with the portable code. */
void bits(void)
{
    uint64_t word = nondet_u64();
    ASSUME(word != 0);
    unsigned highest = twi_highest_bit(word);
    unsigned lowest = twi_lowest_bit(word);
    ASSERT(highest < 64 && word >> highest == 1);
    ASSERT(lowest < 64 && (word >> lowest & 1) == 1);
    ASSERT((word & ((UINT64_C(1) << lowest) - 1)) == 0);
    REACHED("the end");
}

/* Any wheel size, any clock, any tick ahead of it: the level exists, its window
 * holds the tick, and that of the finer wheel does not. */
void level(void)
{
    unsigned size_bits = any_below(12) + 1;
    set_size(size_bits);
    tw.clock = nondet_u64();
    uint64_t tick = nondet_u64();
    ASSUME(tick > tw.clock);
    unsigned found = twi_level_of(&tw, tick);
    ASSERT(found < TWI_LEVELS && found * size_bits < 64);
    unsigned shift = found * size_bits;
    uint64_t steps = (tick >> shift) - (tw.clock >> shift);
    ASSERT(steps <= tw.size_mask);
    if (found > 0) {
        shift -= size_bits;
        ASSERT((tick >> shift) - (tw.clock >> shift) > tw.size_mask);
        REACHED("a coarse wheel");
    }
    REACHED("the end");
}

/* Any wheel of any size, and two ticks in its window: the bucket is as many
 * ahead of the clock's own as there are steps, going round, and one bucket does
 * not get ticks of two turns. */
void bucket(void)
{
    twi_wheel wheel = {0};
    set_size(any_below(12) + 1);
    wheel.shift = any_below(64);
    tw.clock = nondet_u64();
    uint64_t a = nondet_u64(), b = nondet_u64();
    ASSUME(a >= tw.clock && b >= tw.clock);
    uint64_t step = tw.clock >> wheel.shift;
    uint64_t ahead = (a >> wheel.shift) - step;
    ASSUME(ahead <= tw.size_mask);
    ASSUME((b >> wheel.shift) - step <= tw.size_mask);
    uint32_t own = twi_index_of(&tw, &wheel, tw.clock);
    uint32_t index = twi_index_of(&tw, &wheel, a);
    ASSERT(index <= tw.size_mask);
    ASSERT(index == ((own + ahead) & tw.size_mask));
    if (index == twi_index_of(&tw, &wheel, b)) {
        ASSERT(a >> wheel.shift == b >> wheel.shift);
        REACHED("one bucket");
    }
    REACHED("the end");
}

/* Any window, moved on with the clock: a tick in it that the clock has not
 * passed is still in it. */
void window(void)
{
    set_size(any_below(12) + 1);
    unsigned shift = any_below(64);
    uint64_t before = nondet_u64(), now = nondet_u64(), tick = nondet_u64();
    ASSUME(before <= now && now <= tick);
    ASSUME((tick >> shift) - (before >> shift) <= tw.size_mask);
    ASSERT((tick >> shift) - (now >> shift) <= tw.size_mask);
    REACHED("the end");
}

/* Any window: no tick in it is rounder than the one taken. */
void roundest(void)
{
    uint64_t low = nondet_u64(), high = nondet_u64(), other = nondet_u64();
    ASSUME(low <= high && low <= other && other <= high);
    uint64_t taken = twi_roundest(low, high);
    ASSERT(low <= taken && taken <= high);
    /* The lowest bit set in a number; 0, the roundest of all, has none. */
    uint64_t round = taken & ~(taken - (taken != 0));
    uint64_t other_round = other & ~(other - (other != 0));
    ASSERT(taken == 0 || (other != 0 && other_round <= round));
    REACHED("the end");
}

/* Any wheel, clock and tick, not before what the wheel waits for: where the
 * quick look says that the wheel is the one for the tick, it is the finest
 * whose window holds it, and the tick is ahead of the clock. It says so of all
 * ticks a step ahead or more and less than a turn but for a step, unless a turn
 * is beyond 64 bits. */
void quick(void)
{
    twi_wheel wheel = {0};
    unsigned size_bits = any_below(12) + 1;
    set_size(size_bits);
    wheel.level = any_below(TWI_LEVELS);
    ASSUME(wheel.level * size_bits < 64);
    wheel.shift = wheel.level * size_bits; /* as twi_add_wheel makes them */
    wheel.step = UINT64_C(1) << wheel.shift;
    wheel.near_turn = wheel.step * (tw.size_mask - 1);
    tw.clock = nondet_u64();
    wheel.earliest = nondet_u64();
    uint64_t tick = nondet_u64();
    ASSUME(tw.clock <= wheel.earliest && wheel.earliest <= tick);
    uint64_t steps = (tick - tw.clock) >> wheel.shift;
    if (twi_is_wheel_for(&tw, &wheel, tick)) {
        ASSERT(tick > tw.clock);
        ASSERT(twi_level_of(&tw, tick) == wheel.level);
        REACHED("it is");
    } else {
        ASSERT(steps == 0 || steps >= tw.size_mask ||
               UINT64_MAX >> wheel.shift < tw.size_mask);
        REACHED("it is not, or not surely");
    }
}

static tw_timer *slots[TWI_DRAINED + 1];
static twi_wheel wheel0;

/* Anything pending: a head of the delay queue, timers aside, or not, or all of
 * them cancelled. Returns whether there is something, and the earliest tick of
 * it. */
static bool make_pending(uint64_t *first)
{
    bool found = false;
    *first = UINT64_MAX;
    tw.next = UINT64_MAX;
    tw.count = nondet_bool();
    tw.has_asides = nondet_bool();
    if (nondet_bool()) {
        tw.queued = 1;
        tw.queue[0] = &wheel0;
        *first = tw.next = nondet_u64();
        found = true;
    }
    for (unsigned i = 0; i < TWI_DRAINED; i++) {
        if (nondet_bool())
            continue;
        uint64_t tick = nondet_u64();
        tw.aside[i].front = &slots[i];
        tw.aside[i].room = &slots[i + 1];
        tw.aside[i].earliest = tick;
        *first = tick < *first ? tick : *first;
        tw.has_asides = found = true;
    }
    ASSUME(found || tw.count == 0); /* not while draining */
    return tw.count != 0;
}

/* What the two functions must say about ticks of that length. */
static void check_wait(uint64_t tick)
{
    static const timingwheel none = {0};
    uint64_t first, deadline = nondet_u64(), left_alone = deadline;
    tw = none;
    tw.tick = tick;
    uint64_t last_tick = UINT64_MAX / tick;
    tw.clock = nondet_u64();
    ASSUME(tw.clock <= last_tick);
    bool found = make_pending(&first);
    uint64_t now = nondet_u64(), longest = nondet_u64();
    uint64_t sleep = tw_wait(&tw, now, longest);
    bool told = tw_next_deadline(&tw, &deadline);
    ASSERT(told == found);
    ASSERT(sleep <= longest);
    if (!found) {
        ASSERT(deadline == left_alone && sleep == longest);
        REACHED("nothing pending");
    } else if (first > last_tick) {
        ASSERT(deadline == UINT64_MAX && sleep == longest);
        REACHED("beyond 64 bits");
    } else if (first <= tw.clock || deadline <= now) {
        ASSERT(deadline == first * tw.tick && sleep == 0);
        REACHED("due");
    } else {
        ASSERT(deadline == first * tw.tick);
        ASSERT(sleep == longest || sleep == deadline - now);
        ASSERT(sleep <= deadline - now);
        REACHED("later");
    }
}

/* Any clock, pending timers and sleep asked for: the time to wait ends exactly
 * when the first deadline does, and never beyond `longest`. */
void wait(void)
{
    static const uint64_t ticks[] = {1, 1024};
    for (unsigned i = 0; i < sizeof(ticks) / sizeof(*ticks); i++)
        check_wait(ticks[i]);
}

/* Any clock, head of the delay queue and timers aside, and a target: whether
 * anything is due by it. Overdue timers are none before they are owed. */
void due(void)
{
    uint64_t first, target = nondet_u64();
    (void)make_pending(&first);
    const twi_bucket *stuck = &tw.aside[TWI_STUCK];
    tw.clock = nondet_u64();
    ASSUME(tw.clock <= target && tw.clock <= tw.next);
    ASSUME(tw.aside[TWI_OWED].earliest <= tw.clock);
    bool in_wheels = tw.queued != 0 && tw.next <= target;
    bool is_stuck = !twi_is_empty(stuck) && stuck->earliest <= target;
    bool is_owed = !twi_is_empty(&tw.aside[TWI_OWED]);
    ASSERT(twi_is_due(&tw, target) == (in_wheels || is_stuck || is_owed));
    for (unsigned i = 0; i < TWI_DRAINED; i++)
        ASSERT(tw.has_asides || twi_is_empty(&tw.aside[i]));
    REACHED("the end");
}

/* Any call that leaves nothing to do: the clock is where it was to go, and does
 * not go back in time units either. */
void end(void)
{
    uint64_t now = nondet_u64(), target = nondet_u64(), before = nondet_u64();
    tw.now = before;
    tw.quick_after = nondet_u64();
    ASSUME(tw.quick_after >= before);
    twi_end(&tw, now, target);
    ASSERT(tw.clock == target);
    ASSERT(tw.now >= now && tw.now >= before);
    ASSERT(tw.now == now || tw.now == before);
    ASSERT(tw.quick_after >= tw.now);
    REACHED("the end");
}
