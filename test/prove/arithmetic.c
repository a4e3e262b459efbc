/* arithmetic.c - contracts of the functions in timingwheel.h that multiply and
 * divide. Frama-C's WP proves the contracts for all inputs of 64 bits; see
 * prove.sh.
 *
 * SPDX-License-Identifier: MIT
 *
 * The numbers in a contract are mathematical numbers, without a limit.
 */
#include "../../timingwheel.h"

/* The tick of a deadline is the first tick whose time is not before the
 * deadline. */
/*@ requires \valid_read(tw) && 1 <= tw->units;
    assigns \nothing;
    ensures never_early: \result * tw->units >= deadline;
    ensures first: (\result - 1) * tw->units < deadline; */
static inline uint64_t twi_tick_of(const timingwheel *tw, uint64_t deadline);

/* The proof `bits` in placement.c shows this property of the highest bit. */
/*@ requires bits != 0;
    assigns \nothing;
    ensures below: \result < 64;
    ensures small: bits < 0x100000000 ==> \result <= 31; */
static inline unsigned twi_highest_bit(uint64_t bits);

/* The clock in ticks is the last tick whose time is not after `now`. */
/*@ requires \valid_read(tw) && 1 <= tw->units;
    assigns \nothing;
    ensures reached: \result * tw->units <= now;
    ensures last: (\result + 1) * tw->units > now; */
static inline uint64_t twi_tick_reached(const timingwheel *tw, uint64_t now);

/* left * passed / span, rounded up, if the span is below 2^32. No wraps. */
/*@ requires left <= 0x100000000 && passed < span;
    assigns \nothing;
    ensures up: span < 0x100000000 ==> \result * span >= left * passed;
    ensures least: span < 0x100000000 && \result > 0 ==>
        (\result - 1) * span < left * passed;
    ensures part: span < 0x100000000 ==> \result <= left; */
static uint64_t twi_share_of(uint64_t left, uint64_t passed, uint64_t span);

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
