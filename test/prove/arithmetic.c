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
/*@ requires \valid_read(tw) && 1 <= tw->tick_length;
    assigns \nothing;
    behavior one:
        assumes tw->tick_length == 1;
        ensures \result == deadline;
    behavior more:
        assumes tw->tick_length > 1;
        ensures never_early: \result * tw->tick_length >= deadline;
        ensures first: (\result - 1) * tw->tick_length < deadline; */
static inline uint64_t twi_tick_of(const timingwheel *tw, uint64_t deadline);

/* The proof `bits` in placement.c shows this property of the highest bit. */
/*@ requires bits != 0;
    assigns \nothing;
    ensures below: \result < 64;
    ensures small: bits < 0x100000000 ==> \result <= 31; */
static inline unsigned twi_highest_bit(uint64_t bits);

/* The clock in ticks is the last tick whose time is not after `now`. */
/*@ requires \valid_read(tw) && 1 <= tw->tick_length;
    assigns \nothing;
    ensures reached: \result * tw->tick_length <= now;
    ensures last: (\result + 1) * tw->tick_length > now; */
static inline uint64_t twi_tick_reached(const timingwheel *tw, uint64_t now);

/* Steps of the next proof. */
/*@ lemma bound: \forall integer a, b, most;
        0 <= a <= most && 0 <= b <= most ==> 0 <= a * b <= most * most;
    lemma up: \forall integer number, span; number >= 0 && span > 0 ==>
        number <= (number + span - 1) / span * span < number + span;
    lemma parts: \forall integer left, span; left >= 0 && span > 0 ==>
        left == left / span * span + left % span && 0 <= left % span < span &&
        left / span >= 0;
    lemma whole: \forall integer left, passed, span;
        left >= 0 && 0 <= passed < span ==>
        0 <= left / span * passed <= left;
    lemma fits: \forall integer left, passed, span;
        left >= 0 && 0 <= passed < span < 0x100000000 ==>
        0 <= left % span * passed <= 0xFFFFFFFE * 0xFFFFFFFE;
    lemma times: \forall integer left, passed, span, a, b;
        left == a * span + b ==>
        left * passed == a * passed * span + b * passed;
    lemma product: \forall integer left, passed, span;
        left >= 0 && span > 0 ==> left * passed ==
        left / span * passed * span + left % span * passed;
    lemma rest: \forall integer left, passed, span;
        left >= 0 && 0 <= passed < span ==> left % span * passed <=
        (left % span * passed + span - 1) / span * span <
        left % span * passed + span;
    lemma share: \forall integer left, passed, span;
        left >= 0 && 0 <= passed < span ==> left * passed <=
        (left / span * passed + (left % span * passed + span - 1) / span) *
            span < left * passed + span; */

/* timers * passed / span, rounded up. Nothing wraps, although timers * passed
 * may be above 64 bits. */
/*@ requires timers <= 0x200000000 && passed < span < 0x100000000;
    assigns \nothing;
    ensures up: \result * span >= timers * passed;
    ensures least: \result * span < timers * passed + span; */
static uint64_t twi_share_of(uint64_t timers, uint64_t passed, uint64_t span);

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
