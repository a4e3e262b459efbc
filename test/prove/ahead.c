/* ahead.c - a proof of how timingwheel.h moves buckets down ahead of time; the
 * share is in arithmetic.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#ifndef LEVEL
#define LEVEL 1
#endif

/* Replace functions that twi_move_ahead calls. */
static uint64_t seen_passed, seen_span;
static unsigned shares, moves;
REPLACES(uint64_t, known_share_of, uint64_t left, uint64_t passed,
         uint64_t span)
{
    ASSERT(left >= TWI_LARGE && passed < span);
    seen_passed = passed, seen_span = span;
    shares++;
    return 7;
}

REPLACES(void, known_move_down, timingwheel *of, const twi_wheel *wheel,
         uint64_t step, uint64_t most)
{
    uint64_t end = step << wheel->shift;
    uint64_t own = (step - 1) << wheel->shift;
    ASSERT(of == &tw && most == 7);
    ASSERT(own <= tw.clock_tick && tw.clock_tick < end);
    ASSERT(seen_span - seen_passed == end - tw.clock_tick); /* r */
    ASSERT(seen_passed ==
           tw.clock_tick - (tw.clock_time < own ? own : tw.clock_time)); /* d */
    moves++;
}

/* A wheel of level LEVEL, any clock and any beginning of the call: a large
 * bucket of the wheel's next step moves the share of the time passed in the
 * clock's own step. A wheel whose next step is beyond 64 bits is left alone.
 * While there may be a large bucket, a call of the next step looks again. */
void move_ahead(void)
{
    static twi_wheel wheel;
    static twi_bucket buckets[4];
    set_size(1);
    tw.tick_length = 1;
    tw.clock_tick = nondet_u64();
    tw.clock_time = nondet_u64();
    ASSUME(tw.clock_time <= tw.clock_tick);
    wheel.shift = LEVEL;
    wheel.buckets = buckets;
    wheel.large_tick = nondet_u64();
    tw.wheels[LEVEL] = &wheel;
    uint64_t end = ((tw.clock_tick >> LEVEL) + 1) << LEVEL;
    for (unsigned i = 0; i < 4; i++)
        buckets[i].at_most = nondet_u32();
    size_t in_next = buckets[((tw.clock_tick >> LEVEL) + 1) & 3].at_most;
    ASSUME(in_next < TWI_LARGE || wheel.large_tick >= end);
    twi_move_ahead(&tw);
    ASSERT(moves == shares);
    ASSERT(shares == (in_next >= TWI_LARGE && end != 0));
    if (end == 0 || wheel.large_tick < end) {
        ASSERT(tw.ahead_tick == UINT64_MAX);
        REACHED("nothing");
    } else {
        ASSERT(tw.ahead_tick == (shares == 0 ? end : tw.clock_tick));
        REACHED("a step");
    }
}
