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
uint64_t known_share_of(uint64_t left, uint64_t passed, uint64_t span);
uint64_t known_share_of(uint64_t left, uint64_t passed, uint64_t span)
{
    ASSERT(left >= TWI_LARGE && passed < span);
    seen_passed = passed, seen_span = span;
    shares++;
    return 7;
}

void known_move_down(timingwheel *of, const twi_wheel *wheel, uint64_t step,
                     uint64_t most);
void known_move_down(timingwheel *of, const twi_wheel *wheel, uint64_t step,
                     uint64_t most)
{
    uint64_t end = step << wheel->shift;
    uint64_t own = (step - 1) << wheel->shift;
    ASSERT(of == &tw && most == 7);
    ASSERT(own <= tw.clock && tw.clock < end);
    ASSERT(seen_span - seen_passed == end - tw.clock);                   /* r */
    ASSERT(seen_passed == tw.clock - (tw.began < own ? own : tw.began)); /* d */
    moves++;
}

/* A wheel of level LEVEL, any clock and any beginning of the call: a large
 * bucket of the wheel's next step moves the share of the time passed in the
 * clock's own step. A wheel whose next step is beyond 64 bits is left alone. */
void move_ahead(void)
{
    static twi_wheel wheel;
    static twi_bucket buckets[4];
    set_size(1);
    tw.clock = nondet_u64();
    tw.began = nondet_u64();
    ASSUME(tw.began <= tw.clock);
    wheel.shift = LEVEL;
    wheel.buckets = buckets;
    tw.wheels[LEVEL] = &wheel;
    uint64_t end = ((tw.clock >> LEVEL) + 1) << LEVEL;
    for (unsigned i = 0; i < 4; i++)
        buckets[i].at_most = nondet_u32();
    size_t in_next = buckets[((tw.clock >> LEVEL) + 1) & 3].at_most;
    twi_move_ahead(&tw);
    ASSERT(moves == shares);
    ASSERT(shares == (in_next >= TWI_LARGE && end != 0));
    if (end == 0) {
        ASSERT(tw.ahead_at == UINT64_MAX);
        REACHED("the end of time");
    } else {
        ASSERT(tw.ahead_at == (shares == 0 ? end : tw.clock));
        REACHED("a step");
    }
}
