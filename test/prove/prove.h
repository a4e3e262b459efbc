/* prove.h - the common part of the proofs of timingwheel.h; see prove.sh.
 *
 * SPDX-License-Identifier: MIT
 *
 * A proof is a function without arguments. The proof makes an arbitrary state,
 * limited only by the proof's assumptions. Then the proof calls one function of
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

/* The allocator. Memory may run out at any time. At most one block is allocated
 * at once, and the proof chooses the alignment of the block. */
static void *prove_allocate(size_t size);
static void prove_free(void *pointer);

#define TW_MALLOC(size, context) ((void)(context), prove_allocate(size))
#define TW_FREE(pointer, context) ((void)(context), prove_free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#ifdef PROVE_PORTABLE /* the header's code for other compilers */
#undef __GNUC__
#undef __clang__
#endif
#include "../../timingwheel.h"

#ifndef __CPROVER__
extern void __CPROVER_assume(bool);
extern void __CPROVER_assert(bool, const char *);
extern bool __CPROVER_same_object(const void *, const void *);
extern size_t __CPROVER_POINTER_OFFSET(const void *);
#endif
extern uint64_t nondet_u64(void);
extern uint32_t nondet_u32(void);
extern bool nondet_bool(void);

#define ASSUME(expr) __CPROVER_assume(expr)
#define ASSERT(expr) __CPROVER_assert((expr), #expr)
#define REACHED(where) __CPROVER_assert(false, "reached: " where)
#define NEVER(what) __CPROVER_assert(false, what)

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
    for (unsigned i = 0; i < 64; i++)
        tw.level_of[i] = (uint8_t)(i / bits);
}

#define MEMORY_BYTES 1536
static size_t memory_offset; /* of the block in the memory */
static size_t memory_got;    /* bytes of the block; 0: not allocated */
static unsigned char memory[MEMORY_BYTES];

static void *prove_allocate(size_t size)
{
    if (nondet_bool() || memory_got != 0 || size > MEMORY_BYTES - memory_offset)
        return NULL;
    memory_got = size;
    return memory + memory_offset;
}

static void prove_free(void *pointer)
{
    ASSERT(memory_got != 0);
    ASSERT((unsigned char *)pointer == memory + memory_offset);
    memory_got = 0;
}

#endif
