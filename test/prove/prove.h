/* prove.h - what the proofs of timingwheel.h have in common; see prove.sh.
 *
 * SPDX-License-Identifier: MIT
 *
 * A proof is a function without arguments. It makes a state of which nothing is
 * known but what it assumes, calls one function of the header, and asserts what
 * must hold afterwards. CBMC looks for values that break an assertion, or a
 * bounds, pointer, overflow, conversion, shift or unwinding check; it finds
 * some or there are none.
 *
 * Where assumptions contradict each other nothing is left to be broken. So each
 * place that a proof must get to holds REACHED, an assertion that is false: the
 * proof stands if every REACHED fails and nothing else does.
 */
#ifndef PROVE_H
#define PROVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that runs out at any time. What is got at once is at most one block,
 * whose start is as odd as the proof wants it. */
static void *prove_allocate(size_t size);
static void prove_free(void *pointer);

#define TW_MALLOC(size, context) ((void)(context), prove_allocate(size))
#define TW_FREE(pointer, context) ((void)(context), prove_free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#ifdef PROVE_PORTABLE /* what the header has for other compilers */
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

/* What tw_init makes of a wheel size. */
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
