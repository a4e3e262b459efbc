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
    uint64_t lowest = word & (~word + 1);
    ASSERT(highest < 64 && word >> highest == 1);
    ASSERT((word & lowest) != 0 && (lowest & (lowest - 1)) == 0);
    ASSERT((word & (lowest - 1)) == 0);
    REACHED("the end");
}

/* Makes any wheel size and any clock. */
static void make_clock(void)
{
    set_size(SIZE_BITS);
    tw.clock_tick = nondet_u64();
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
    ASSUME(tick > tw.clock_tick);
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
    ASSUME(tw.clock_tick <= later && later < tick);
    unsigned before = twi_level_of(&tw, tick);
    tw.clock_tick = later;
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
    ASSUME(a >= tw.clock_tick && b >= tw.clock_tick);
    ASSUME(steps_ahead(a, wheel.shift) <= tw.bucket_mask);
    ASSUME(steps_ahead(b, wheel.shift) <= tw.bucket_mask);
    const twi_bucket *of_a = twi_bucket_of(&tw, &wheel, a);
    ASSERT(of_a - buckets <= tw.bucket_mask);
    ASSERT((of_a == twi_bucket_of(&tw, &wheel, b)) ==
           (a >> wheel.shift == b >> wheel.shift));
    ASSUME(tw.clock_tick <= later && later <= a);
    tw.clock_tick = later;
    ASSERT(steps_ahead(a, wheel.shift) <= tw.bucket_mask);
    REACHED("the end");
}

/* Any two wheels, any clock, and any tick ahead of the clock: if the table
 * names a wheel for the tick, the wheel is the right one. The table names none
 * if the clock decides between a wheel and the next finer one, or if the wheel
 * has gone. */
void certain(void)
{
    twi_wheel wheel = {0}, other = {0};
    make_wheel(&wheel);
    make_wheel(&other);
    ASSUME(wheel.shift != other.shift);
    twi_set_wheel(&tw, wheel.shift / SIZE_BITS, &wheel);
    twi_set_wheel(&tw, other.shift / SIZE_BITS, &other);
    uint64_t tick = nondet_u64();
    ASSUME(tick > tw.clock_tick);
    unsigned bit = twi_highest_bit(tick - tw.clock_tick);
    unsigned shift = twi_level_of(&tw, tick) * SIZE_BITS;
    const twi_wheel *found = tw.certain[bit];
    ASSERT(found == NULL || found->shift == shift);
    if (found == &wheel) {
        twi_set_wheel(&tw, wheel.shift / SIZE_BITS, NULL);
        ASSERT(tw.certain[bit] == NULL);
        REACHED("certain");
    } else if (shift == wheel.shift) {
        ASSERT(found == NULL && bit != 0 && bit % SIZE_BITS == 0);
        REACHED("not certain");
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
           (other != 0 && (other & (~other + 1)) <= (taken & (~taken + 1))));
    REACHED("the end");
}
