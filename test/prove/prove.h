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

/* Memory for one wheel, if the proof has set memory_left. */
static void *prove_allocate(size_t size);

#define TW_MALLOC(size, context) ((void)(context), prove_allocate(size))
#define TW_FREE(pointer, context) ((void)(context), (void)(pointer))
#ifndef TWI_FEW
#define TWI_FEW 1 /* so that two timers are many */
#endif
#define TWI_LARGE 2
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#ifndef __CPROVER__
extern void __CPROVER_assume(bool);
extern void __CPROVER_assert(bool, const char *);
extern bool __CPROVER_same_object(const void *, const void *);
#endif
extern uint64_t nondet_u64(void);
extern uint32_t nondet_u32(void);
extern bool nondet_bool(void);

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

/* Begins a function that replaces a function of the header, see prove.sh. */
#define REPLACES(type, name, ...) \
    type name(__VA_ARGS__);       \
    type name(__VA_ARGS__)

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

#define MEMORY_BYTES 2048
static size_t memory_left; /* 0: none */
static unsigned char memory[MEMORY_BYTES];

static void *prove_allocate(size_t size)
{
    return size <= memory_left ? memory + MEMORY_BYTES - memory_left : NULL;
}

#endif
