/* placement.c - proofs of where timingwheel.h puts a tick, and of the time to
 * wait, for all inputs of 64 bits. The proofs of divisions are in arithmetic.c.
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

/* Makes any wheel size and any clock. Returns log2 of the size. */
static unsigned make_clock(void)
{
    unsigned size_bits = any_below(12) + 1;
    set_size(size_bits);
    tw.clock_tick = nondet_u64();
    return size_bits;
}

/* Makes a wheel of any size and level, with the fields that twi_add_wheel sets,
 * and any clock. */
static void make_wheel(twi_wheel *wheel)
{
    unsigned size_bits = make_clock();
    wheel->level = any_below(TWI_LEVELS);
    ASSUME(wheel->level * size_bits < 63); /* the proof `level` shows: no wheel
                                            * has more */
    wheel->shift = wheel->level * size_bits;
    wheel->step = UINT64_C(1) << wheel->shift;
    wheel->min_ahead = wheel->level == 0 ? 1 : 2 * wheel->step;
}

/* How many steps of 2^shift ticks `tick` is ahead of the clock's own step. */
static uint64_t steps_ahead(uint64_t tick, unsigned shift)
{
    return shift < 64 ? (tick >> shift) - (tw.clock_tick >> shift) : 0;
}

/* Any size, clock and tick ahead of the clock. The level exists, and the window
 * of the level's wheel holds the tick. In the next coarser wheel the tick would
 * be in the clock's own step or in the following step. In the wheel of the
 * level the tick is further ahead, unless the level is 0. No second level has
 * both properties. */
void level(void)
{
    unsigned size_bits = make_clock();
    uint64_t tick = nondet_u64();
    ASSUME(tick > tw.clock_tick);
    unsigned found = twi_level_of(&tw, tick);
    ASSERT(found < TWI_LEVELS && found * size_bits < 63);
    unsigned shift = found * size_bits;
    ASSERT(steps_ahead(tick, shift) <= tw.bucket_mask);
    ASSERT(steps_ahead(tick, shift + size_bits) <= 1);
    if (found > 0) {
        ASSERT(steps_ahead(tick, shift) >= 2);
        REACHED("a coarse wheel");
    }
    REACHED("the end");
}

/* Any size, clock and tick placed in a wheel above 0. The tick's bucket is
 * neither the bucket of the clock's own step nor the following bucket. */
void next_step(void)
{
    twi_wheel wheel = {0};
    make_wheel(&wheel);
    uint64_t tick = nondet_u64();
    ASSUME(tick > tw.clock_tick && wheel.level > 0);
    ASSUME(twi_level_of(&tw, tick) == wheel.level);
    uint32_t own = twi_index_of(&tw, &wheel, tw.clock_tick);
    uint32_t index = twi_index_of(&tw, &wheel, tick);
    ASSERT(index != own && index != ((own + 1) & tw.bucket_mask));
    REACHED("the end");
}

/* Any size, tick, and two clocks before the tick: while the clock moves on, the
 * level of the tick does not rise. */
void fall(void)
{
    (void)make_clock();
    uint64_t tick = nondet_u64(), later = nondet_u64();
    ASSUME(tw.clock_tick <= later && later < tick);
    unsigned before = twi_level_of(&tw, tick);
    tw.clock_tick = later;
    ASSERT(twi_level_of(&tw, tick) <= before);
    REACHED("the end");
}

/* Any wheel of any size, and two ticks in its window. Count the steps from the
 * clock to the tick: the bucket is as many buckets ahead of the clock's bucket,
 * going round. All ticks of a bucket belong to one step. */
void bucket(void)
{
    twi_wheel wheel = {0};
    (void)make_clock();
    wheel.shift = any_below(64);
    uint64_t a = nondet_u64(), b = nondet_u64();
    ASSUME(a >= tw.clock_tick && b >= tw.clock_tick);
    uint64_t ahead = steps_ahead(a, wheel.shift);
    ASSUME(ahead <= tw.bucket_mask);
    ASSUME(steps_ahead(b, wheel.shift) <= tw.bucket_mask);
    uint32_t own = twi_index_of(&tw, &wheel, tw.clock_tick);
    uint32_t index = twi_index_of(&tw, &wheel, a);
    ASSERT(index <= tw.bucket_mask);
    ASSERT(index == ((own + ahead) & tw.bucket_mask));
    if (index == twi_index_of(&tw, &wheel, b)) {
        ASSERT(a >> wheel.shift == b >> wheel.shift);
        REACHED("one bucket");
    }
    REACHED("the end");
}

/* Any window, moved on with the clock. A tick in the window stays in the window
 * until the clock has passed the tick. */
void window(void)
{
    (void)make_clock();
    unsigned shift = any_below(64);
    uint64_t later = nondet_u64(), tick = nondet_u64();
    ASSUME(tw.clock_tick <= later && later <= tick);
    ASSUME(steps_ahead(tick, shift) <= tw.bucket_mask);
    tw.clock_tick = later;
    ASSERT(steps_ahead(tick, shift) <= tw.bucket_mask);
    REACHED("the end");
}

/* Any window: no tick in the window is rounder than the chosen tick. */
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

/* Any wheel, clock and tick not behind the clock: the wheel is too fine for the
 * tick exactly from the end on. */
void end_of(void)
{
    twi_wheel wheel = {0};
    make_wheel(&wheel);
    uint64_t tick = nondet_u64(), end = twi_end_of_reach(&tw, &wheel);
    ASSUME(tick >= tw.clock_tick);
    bool is_within = steps_ahead(tick, wheel.shift + tw.size_bits) <= 1;
    ASSERT(end > tw.clock_tick || end == UINT64_MAX);
    ASSERT(is_within == (tick < end || end == UINT64_MAX));
    if (is_within)
        REACHED("within");
    else
        REACHED("beyond");
}

/* Any wheel, the clock when reach_end was set, a later clock, and a tick not
 * before the first tick of the wheel. If the quick look accepts the wheel, the
 * level of the tick is the wheel's level, and the tick is ahead of the clock.
 * The quick look accepts every tick between two bounds. The tick is at least
 * min_ahead ticks ahead of the clock, and at most half of all ticks. The tick
 * is before reach_end. */
void quick(void)
{
    twi_wheel wheel = {0};
    make_wheel(&wheel);
    wheel.reach_end = twi_end_of_reach(&tw, &wheel);
    uint64_t later = nondet_u64(), tick = nondet_u64();
    wheel.queue_tick = nondet_u64();
    ASSUME(tw.clock_tick <= later);
    ASSUME(later <= wheel.queue_tick && wheel.queue_tick <= tick);
    tw.clock_tick = later;
    uint64_t ahead = tick - later;
    if (twi_is_wheel_for(&tw, &wheel, tick)) {
        ASSERT(tick > tw.clock_tick);
        ASSERT(twi_level_of(&tw, tick) == wheel.level);
        REACHED("it is");
    } else {
        ASSERT(ahead < wheel.min_ahead || tick >= wheel.reach_end ||
               ahead > UINT64_MAX / 2);
        REACHED("it is not, or not surely");
    }
}

static tw_timer *slots[TWI_DRAINED + 1];
static twi_wheel wheel0;

/* Makes any state of the delay queue's head, of overdue and of stuck timers.
 * All timers may have been cancelled. Returns whether a timer is pending, and
 * stores the earliest tick. */
static bool make_pending(uint64_t *first)
{
    bool found = false;
    *first = UINT64_MAX;
    tw.next_tick = UINT64_MAX;
    tw.count = nondet_bool();
    tw.has_outside = nondet_bool();
    if (nondet_bool()) {
        tw.queued = 1;
        tw.queue[0] = &wheel0;
        *first = tw.next_tick = nondet_u64();
        found = true;
    }
    for (unsigned i = 0; i < TWI_DRAINED; i++) {
        if (nondet_bool())
            continue;
        uint64_t tick = nondet_u64();
        tw.outside[i].front = &slots[i];
        tw.outside[i].back = &slots[i + 1];
        tw.outside[i].earliest = tick;
        *first = tick < *first ? tick : *first;
        tw.has_outside = found = true;
    }
    ASSUME(found || tw.count == 0); /* not while draining */
    return tw.count != 0;
}

/* Checks tw_wait and tw_next_deadline with ticks of the length `tick`. */
static void check_wait(uint64_t tick)
{
    static const timingwheel none = {0};
    uint64_t first, deadline = nondet_u64(), left_alone = deadline;
    tw = none;
    tw.tick = tick;
    uint64_t last_tick = UINT64_MAX / tick;
    tw.now = nondet_u64();
    tw.clock_tick = tw.now / tick;
    bool found = make_pending(&first);
    uint64_t now = nondet_u64(), longest = nondet_u64();
    uint64_t sleep = tw_wait(&tw, now, longest);
    bool told = tw_next_deadline(&tw, &deadline);
    ASSERT(told == (found && first <= last_tick));
    ASSERT(sleep <= longest);
    if (!told) {
        ASSERT(deadline == left_alone && sleep == longest);
        if (!found)
            REACHED("nothing pending");
        else if (tick != 1)
            REACHED("beyond 64 bits");
        return;
    }
    ASSERT(deadline == first * tw.tick);
    if (first <= tw.clock_tick || deadline <= now) {
        ASSERT(sleep == 0);
        REACHED("due");
    } else {
        ASSERT(sleep == longest || sleep == deadline - now);
        ASSERT(sleep <= deadline - now);
        REACHED("later");
    }
}

/* Any clock, pending timers and sleep asked for: the time to wait ends exactly
 * when the first deadline does, and never beyond `longest`. */
void wait(void)
{
    check_wait(1);
    check_wait(1024);
}

/* Any call with nothing left to fire, without a wheel in the delay queue. The
 * clock in ticks becomes the target. The clock in time units does not go
 * back. */
void end(void)
{
    uint64_t now = nondet_u64(), target = nondet_u64(), before = nondet_u64();
    tw.now = before;
    tw.ahead_at = nondet_u64();
    tw.count = nondet_u32();
    twi_end_call(&tw, now, target);
    ASSERT(tw.clock_tick == target);
    ASSERT(tw.now >= now && tw.now >= before);
    ASSERT(tw.now == now || tw.now == before);
    REACHED("the end");
}

/* Any beginning of a call without overdue or stuck timers. The target is not
 * behind the clock. A target ahead of the clock is the tick of `now`. */
void begin(void)
{
    uint64_t now = nondet_u64();
    tw.tick = 1024;
    tw.clock_tick = nondet_u64();
    uint64_t target = twi_begin_call(&tw, now, nondet_u32());
    ASSERT(target >= tw.clock_tick);
    ASSERT(target == tw.clock_tick || target == now / 1024);
    ASSERT(tw.turns[0].due_until == target);
    REACHED("the end");
}
