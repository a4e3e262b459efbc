/* prove.h - the common part of the proofs of timingwheel.h; see prove.sh.
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
#ifndef PROVE_H
#define PROVE_H

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
static inline unsigned any_below(unsigned limit)
{
    unsigned number = nondet_u32();
    ASSUME(number < limit);
    return number;
}

static timingwheel tw;

/* Sets the fields that tw_init derives from a wheel size. */
static inline void set_size(unsigned bits)
{
    tw.size_bits = bits;
    tw.bucket_mask = (UINT32_C(2) << bits) - 1;
}

/* How many steps of 2^shift ticks `tick` is ahead of the clock's own step. */
static inline uint64_t steps_ahead(uint64_t tick, unsigned shift)
{
    return shift < 64 ? (tick >> shift) - (tw.clock_tick >> shift) : 0;
}

#endif
