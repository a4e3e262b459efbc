/* wheels.c - proofs of the marks that timingwheel.h keeps of a wheel's buckets,
 * in a wheel of 2^SIZE_BITS steps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#define WORDS (4096 / 64)

#ifndef SIZE_BITS
#define SIZE_BITS 8
#endif

/* A wheel, followed by the wheel's marks, and buckets. At most one bucket has a
 * chunk. */
static struct {
    twi_wheel wheel;
    uint64_t marks[WORDS];
} whole;
static twi_wheel *const wheel = &whole.wheel;
static uint64_t *const marks = whole.marks;
static twi_bucket buckets[2 << SIZE_BITS]; /* two turns */
static twi_chunk chunk;

static inline twi_chunk *chunk_at(unsigned n)
{
    (void)n;
    return &chunk;
}

#define KNOWN_CHUNKS 1
#include "known.h"

static bool is_marked(uint32_t index)
{
    return (marks[index / 64] >> (index % 64) & 1) != 0;
}

/* Makes an arbitrary bitmap for a wheel of 2^size_bits steps. */
static void make_bitmap(unsigned size_bits)
{
    set_size(size_bits);
    ASSERT(twi_marks(wheel) == marks);
    for (uint32_t word = 0; word < WORDS; word++) {
        marks[word] = 0;
        if (word * 64 <= tw.bucket_mask)
            marks[word] = nondet_u64();
    }
#if SIZE_BITS < 5
    ASSUME(marks[0] >> (2 << SIZE_BITS) == 0);
#endif
}

static uint32_t ahead_of_clock(uint32_t index)
{
    uint32_t own = twi_index_of(&tw, wheel, tw.clock_tick);
    return (index + tw.bucket_mask + 1 - own) & tw.bucket_mask;
}

static void check_first(uint32_t first)
{
    uint32_t other = any_below(tw.bucket_mask + 1);
    ASSERT(first <= tw.bucket_mask);
    ASSERT(is_marked(first));
    if (is_marked(other))
        ASSERT(ahead_of_clock(first) <= ahead_of_clock(other));
}

/* Any level, clock and bitmap. The bit found is set, and no set bit is nearer
 * to the clock, going round. If no bit is found, no bit is set. */
void find_mark(void)
{
    uint32_t first;
    make_bitmap(SIZE_BITS);
    wheel->shift = any_below(64);
    tw.clock_tick = nondet_u64();
    if (twi_find_mark(&tw, wheel, &first)) {
        check_first(first);
        REACHED("the end, one found");
    } else {
        ASSERT(!is_marked(any_below(tw.bucket_mask + 1)));
        REACHED("the end, none found");
    }
}

/* Any empty bucket loses its mark and its span, and keeps its chunk. */
static void prove_unmark(uint32_t index)
{
    twi_bucket *bucket = &buckets[index];
    if (nondet_bool())
        bucket->front = bucket->back = &chunk.slots[any_below(TWI_SLOTS)];
    bucket->earliest = nondet_u64();
    bucket->latest = nondet_u64();
    bool has_chunk = bucket->back != NULL;
    twi_clear_bucket(wheel, bucket);
    ASSERT(!is_marked(index));
    ASSERT(bucket->earliest == UINT64_MAX && bucket->latest == 0);
    ASSERT(twi_is_empty(bucket));
    ASSERT(bucket->back == (has_chunk ? chunk.slots : NULL));
    if (has_chunk) {
        ASSERT(chunk.number == 0);
        REACHED("the end, with a chunk");
    } else {
        REACHED("the end, without one");
    }
}

/* Any bitmap and bucket, marked or unmarked: the marks of all remaining buckets
 * stay. */
void mark(void)
{
    make_bitmap(SIZE_BITS);
    wheel->buckets = buckets;
    uint32_t index = any_below(tw.bucket_mask + 1);
    uint32_t other = any_below(tw.bucket_mask + 1);
    ASSUME(index != other);
    bool was_marked = is_marked(other);
    if (nondet_bool()) {
        twi_mark(wheel, index);
        ASSERT(is_marked(index));
        REACHED("the end, marked");
    } else {
        prove_unmark(index);
    }
    ASSERT(is_marked(other) == was_marked);
}
