/* placement.c - proofs of the arithmetic of timingwheel.h that decides on the
 * wheel and bucket of a timer: for all inputs of 64 bits and every wheel size.
 *
 * SPDX-License-Identifier: MIT
 *
 * A proof is a function without arguments. The proof makes an arbitrary state,
 * limited only by the proof's assumptions. Then the proof calls a function of
 * the header, and asserts the results. CBMC searches for values against an
 * assertion, or against a bounds, pointer, overflow, conversion, shift or
 * unwinding check. CBMC either finds such values, or has proved their absence.
 *
 * If the assumptions contradict each other, no assertion can fail. REACHED is a
 * false assertion, at every place that a proof must reach. A proof stands if
 * every REACHED fails, and every real assertion holds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#ifndef __CPROVER__
extern void __CPROVER_assume(bool);
extern void __CPROVER_assert(bool, const char *);
#endif
extern uint64_t nondet_u64(void);
extern uint32_t nondet_u32(void);

#define ASSUME(expr) __CPROVER_assume(expr)
#define ASSERT(expr) __CPROVER_assert((expr), #expr)
#define REACHED(where) __CPROVER_assert(false, "reached: " where)

/* Any number below `limit`. */
static unsigned any_below(unsigned limit)
{
    unsigned number = nondet_u32();
    ASSUME(number < limit);
    return number;
}

static timingwheel tw;

/* Sets the fields that tw_init derives from a wheel size. */
static void set_size(unsigned bits)
{
    tw.size_bits = bits;
    tw.bucket_mask = (UINT32_C(2) << bits) - 1;
}

/* How many steps of 2^shift ticks `tick` is ahead of the clock's own step. */
static uint64_t steps_ahead(uint64_t tick, unsigned shift)
{
    return shift < 64 ? (tick >> shift) - (tw.clock_tick >> shift) : 0;
}

#ifndef SIZE_BITS
#define SIZE_BITS 1
#endif

/* The bits; with the compiler's instruction and with the portable code. */
void bits(void)
{
    uint64_t word = nondet_u64();
    ASSUME(word != 0);
    unsigned highest = twi_highest_bit(word);
    uint64_t lowest = word & ~(word - 1);
    ASSERT(highest < 64 && word >> highest == 1);
    ASSERT((word & lowest) != 0 && (lowest & (lowest - 1)) == 0);
    ASSERT((word & (lowest - 1)) == 0);
    REACHED("the end");
}

/* Makes any clock, and any number of wheels. */
static unsigned present;
static void make_wheels(void)
{
    static twi_wheel wheels[64];
    unsigned levels = (64 + SIZE_BITS - 1) / SIZE_BITS;
    set_size(SIZE_BITS);
    tw.clock_tick = nondet_u64();
    present = any_below(levels + 1);
    for (unsigned i = 0; i < levels; i++) {
        wheels[i].shift = i * SIZE_BITS;
        wheels[i].finer = i == 0 ? &tw.missing : &wheels[i - 1];
    }
    for (unsigned bit = 0; bit < 64; bit++)
        tw.wheel_by_bit[bit] =
            bit / SIZE_BITS < present ? &wheels[bit / SIZE_BITS] : &tw.missing;
    tw.missing.shift = present * SIZE_BITS;
    tw.missing.finer = present == 0 ? &tw.missing : &wheels[present - 1];
}

/* Any wheels, clock and tick ahead of the clock. The window of the wheel holds
 * the tick. In the next coarser wheel the tick would be in the clock's own step
 * or in the following step. In the wheel itself the tick is further ahead,
 * unless the wheel is the finest. So the wheel is the finest that reaches the
 * tick, and no timer starts in a wheel's own or following step. If the wheel is
 * missing, so is every wheel that reaches the tick. */
void wheel(void)
{
    make_wheels();
    uint64_t tick = nondet_u64();
    ASSUME(tick > tw.clock_tick);
    const twi_wheel *found = twi_wheel_for(&tw, tick);
    if (found == &tw.missing) {
        ASSERT(present * SIZE_BITS < 64);
        ASSERT(present == 0 || steps_ahead(tick, present * SIZE_BITS) >= 2);
        REACHED("a missing wheel");
        return;
    }
    ASSERT(found->shift < present * SIZE_BITS);
    ASSERT(steps_ahead(tick, found->shift) <= tw.bucket_mask);
    ASSERT(steps_ahead(tick, found->shift + SIZE_BITS) <= 1);
    if (found->shift > 0) {
        ASSERT(steps_ahead(tick, found->shift) >= 2);
        REACHED("a coarse wheel");
    }
    REACHED("the end");
}

/* While the clock moves on, a tick does not get a coarser wheel. */
void fall(void)
{
    make_wheels();
    uint64_t tick = nondet_u64(), later = nondet_u64();
    ASSUME(tw.clock_tick <= later && later < tick);
    unsigned before = twi_wheel_for(&tw, tick)->shift;
    tw.clock_tick = later;
    ASSERT(twi_wheel_for(&tw, tick)->shift <= before);
    REACHED("the end");
}

/* Any wheel, and two ticks in its window. Ticks of one bucket belong to one
 * step. While the clock moves on to a tick, the tick stays in the window. */
void bucket(void)
{
    static twi_bucket buckets[2u << 12];
    twi_wheel wheel = {0};
    set_size(SIZE_BITS);
    tw.clock_tick = nondet_u64();
    wheel.shift = any_below((64 + SIZE_BITS - 1) / SIZE_BITS) * SIZE_BITS;
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
