/* placement.c - proofs of the arithmetic of timingwheel.h that decides on the
 * wheel and bucket of a timer: for all inputs of 64 bits and every wheel size.
 * The proofs of divisions are in arithmetic.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#ifndef SIZE_BITS
#define SIZE_BITS 1
#endif

/* The bits; with the compiler's instruction and with the portable code. */
void bits(void)
{
    uint64_t word = nondet_u64();
    ASSUME(word != 0);
    unsigned highest = twi_highest_bit(word);
    uint64_t lowest = twi_lowest_bit(word);
    ASSERT(highest < 64 && word >> highest == 1);
    ASSERT((word & lowest) != 0 && (lowest & (lowest - 1)) == 0);
    ASSERT((word & (lowest - 1)) == 0);
    REACHED("the end");
}

/* Makes any wheel size and any clock. */
static void make_clock(void)
{
    set_size(SIZE_BITS);
    tw.clock = nondet_u64();
}

/* Makes a wheel of any level that twi_level_of can return. */
static void make_wheel(twi_wheel *wheel)
{
    make_clock();
    unsigned level = any_below(TWI_LEVELS);
    ASSUME(level * tw.size_bits < 64);
    wheel->shift = level * tw.size_bits;
}

/* Any size, clock and tick ahead of the clock. The level exists, and the
 * window of the level's wheel holds the tick. In the next coarser wheel the
 * tick would be in the clock's own step or in the following step. In the wheel
 * of the level the tick is further ahead, unless the level is 0. So the level
 * is the finest, and no timer starts in a wheel's own or following step. */
void level(void)
{
    make_clock();
    uint64_t tick = nondet_u64();
    ASSUME(tick > tw.clock);
    unsigned found = twi_level_of(&tw, tick), shift = found * tw.size_bits;
    ASSERT(found < TWI_LEVELS && shift < 64);
    ASSERT(steps_ahead(tick, shift) <= tw.bucket_mask);
    ASSERT(steps_ahead(tick, shift + tw.size_bits) <= 1);
    if (found > 0) {
        ASSERT(steps_ahead(tick, shift) >= 2);
        REACHED("a coarse wheel");
    }
    REACHED("the end");
}

/* While the clock moves on, the level of a tick does not rise. */
void fall(void)
{
    make_clock();
    uint64_t tick = nondet_u64(), later = nondet_u64();
    ASSUME(tw.clock <= later && later < tick);
    unsigned before = twi_level_of(&tw, tick);
    tw.clock = later;
    ASSERT(twi_level_of(&tw, tick) <= before);
    REACHED("the end");
}

/* Any wheel, and two ticks in its window. Ticks of one bucket belong to one
 * step. While the clock moves on to a tick, the tick stays in the window. */
void bucket(void)
{
    static twi_bucket buckets[2u << 12];
    twi_wheel wheel = {0};
    make_wheel(&wheel);
    wheel.buckets = buckets;
    uint64_t a = nondet_u64(), b = nondet_u64(), later = nondet_u64();
    ASSUME(a >= tw.clock && b >= tw.clock);
    ASSUME(steps_ahead(a, wheel.shift) <= tw.bucket_mask);
    ASSUME(steps_ahead(b, wheel.shift) <= tw.bucket_mask);
    const twi_bucket *of_a = twi_bucket_of(&tw, &wheel, a);
    ASSERT(of_a - buckets <= tw.bucket_mask);
    ASSERT((of_a == twi_bucket_of(&tw, &wheel, b)) ==
           (a >> wheel.shift == b >> wheel.shift));
    ASSUME(tw.clock <= later && later <= a);
    tw.clock = later;
    ASSERT(steps_ahead(a, wheel.shift) <= tw.bucket_mask);
    REACHED("the end");
}

/* The wheel of any start, the clock at that start, a later clock, and a tick
 * that the short way of tw_start accepts: the wheel is the right one. The
 * short way accepts every tick from two steps ahead of the clock on, of which
 * the wheel was the right one before. */
void remember(void)
{
    twi_wheel wheel = {0};
    make_wheel(&wheel);
    tw.units = 1;
    tw.max_pending = SIZE_MAX;
    uint64_t later = nondet_u64(), tick = nondet_u64(), first = nondet_u64();
    ASSUME(first > tw.clock);
    ASSUME(twi_level_of(&tw, first) * tw.size_bits == wheel.shift);
    twi_remember_wheel(&tw, &wheel);
    ASSERT(tw.last_wheel == &wheel);
    ASSUME(tw.clock <= later);
    bool was_right =
        tick > later && twi_level_of(&tw, tick) * tw.size_bits == wheel.shift;
    tw.clock = later;
    if (tick < tw.last_end && tick > later && tick - later >= tw.last_ahead) {
        ASSERT(twi_level_of(&tw, tick) * tw.size_bits == wheel.shift);
        REACHED("accepted");
    } else if (was_right) {
        ASSERT(tick - later < UINT64_C(2) << wheel.shift || tick == UINT64_MAX);
        REACHED("not accepted");
    }
}

/* Any window: no tick in the window is rounder than the chosen tick. */
void roundest(void)
{
    uint64_t low = nondet_u64(), high = nondet_u64(), other = nondet_u64();
    ASSUME(low <= high && low <= other && other <= high);
    uint64_t taken = twi_roundest(low, high);
    ASSERT(low <= taken && taken <= high);
    ASSERT(taken == 0 ||
           (other != 0 && twi_lowest_bit(other) <= twi_lowest_bit(taken)));
    REACHED("the end");
}

/* Any clock moved to any later tick, or to the tick at which the clock stands,
 * in ticks of any power of two: the clock in ticks is the clock in time units,
 * rounded down, and never goes back. */
void leap(void)
{
    tw.units = UINT64_C(1) << any_below(64);
    uint64_t before = tw.now = nondet_u64(), target = nondet_u64();
    tw.clock = twi_tick_reached(&tw, tw.now);
    uint64_t tick = nondet_u64();
    ASSUME(before <= target && tick <= twi_tick_reached(&tw, target));
    ASSUME(tick > tw.clock ||
           (tick == tw.clock && tw.now == tw.clock * tw.units));
    twi_leap(&tw, tick);
    ASSERT(tw.clock >= tick && tw.now >= before && tw.now <= target);
    ASSERT(tw.clock == twi_tick_reached(&tw, tw.now));
    REACHED("the end");
}
