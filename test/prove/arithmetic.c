/* arithmetic.c - contracts of what multiplies and divides in timingwheel.h, for
 * Frama-C's WP, which proves them for all inputs of 64 bits; see run.sh.
 *
 * SPDX-License-Identifier: MIT
 *
 * The numbers in a contract are those of mathematics, without a limit.
 */
#include "../../timingwheel.h"

/* The tick of a deadline is the first whose time is not before it. */
/*@ requires \valid_read(tw) && 1 <= tw->tick <= UINT64_MAX / 2;
    assigns \nothing;
    ensures never_early: \result * tw->tick >= deadline;
    ensures first: (\result - 1) * tw->tick < deadline; */
static inline uint64_t twi_tick_of(const timingwheel *tw, uint64_t deadline);

/* The time of a tick is exact, without wrapping, up to the last whose time is
 * within 64 bits; saturated beyond it. */
/*@ requires \valid_read(tw) && tw->tick >= 1;
    assigns \nothing;
    ensures exact: tick * tw->tick <= UINT64_MAX ==>
        \result == tick * tw->tick;
    ensures saturated: tick * tw->tick > UINT64_MAX ==>
        \result == UINT64_MAX; */
static inline uint64_t twi_time_of(const timingwheel *tw, uint64_t tick);

/* A sum, or saturated. */
/*@ assigns \nothing;
    ensures exact: now + delay <= UINT64_MAX ==> \result == now + delay;
    ensures saturated: now + delay > UINT64_MAX ==> \result == UINT64_MAX; */
TW_DEF uint64_t tw_after(uint64_t now, uint64_t delay);

/* The first previous + k * period above now, k at least 1; or saturated. */
/*@ requires \valid(missed);
    assigns *missed;
    ensures above: \result > now || \result == UINT64_MAX;
    ensures phase: period > 0 ==>
        \result == previous + (*missed + 1) * period ||
        (\result == UINT64_MAX &&
         previous + (*missed + 1) * period > UINT64_MAX);
    ensures first: period > 0 && *missed > 0 ==>
        previous + *missed * period <= now;
    ensures zero: period == 0 ==>
        \result == previous + *missed + 1 ||
        (\result == UINT64_MAX && previous + *missed == UINT64_MAX); */
TW_DEF uint64_t tw_next_period(uint64_t previous, uint64_t period, uint64_t now,
                               uint64_t *missed);

#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
