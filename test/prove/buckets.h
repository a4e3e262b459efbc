/* buckets.h - an arbitrary bucket of up to CHUNKS chunks, and the invariants of
 * a bucket. Arbitrary are the first and the last slot, the cancelled timers,
 * and the numbers of the chunks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BUCKETS_H
#define BUCKETS_H

#include "prove.h"

#ifndef CHUNKS
#define CHUNKS 3 /* at most 4 */
#endif

/* Each chunk is an object of its own, so that CBMC can tell the chunks apart.
 * CBMC places objects at multiples of TWI_CHUNK_BYTES and more, as the library
 * does with chunks. */
static twi_chunk chunk0, chunk1, chunk2, chunk3, spare;
static twi_chunk *const chunks[] = {&chunk0, &chunk1, &chunk2, &chunk3};

static inline twi_chunk *chunk_at(unsigned n)
{
    return n < CHUNKS ? chunks[n] : &spare;
}

#ifdef BUCKETS /* of one wheel, at most 64 */
static struct {
    twi_wheel wheel;
    uint64_t marks[1];
} whole;
static twi_wheel *const wheel = &whole.wheel;
static twi_bucket buckets[BUCKETS];
#endif

#define KNOWN_CHUNKS (CHUNKS + 1)
#include "known.h"

static tw_timer timers[CHUNKS][TWI_SLOTS]; /* at first each in the slot
                                            * [i][k] */
static bool live[CHUNKS][TWI_SLOTS];       /* true: pending at first */
static size_t numbers[CHUNKS];             /* of the chunks at first */

/* Makes a bucket of the chunks from..from + count - 1. In use are the slots
 * from `front` of the first chunk to before `end` of the last chunk. Each slot
 * in use has a timer or is dead. */
static void make_chain(twi_bucket *bucket, unsigned from, unsigned count,
                       unsigned front, unsigned end)
{
    unsigned last = from + count - 1;
    for (unsigned i = from; i <= last; i++) {
        twi_chunk *chunk = chunks[i];
        numbers[i] = (size_t)nondet_u64();
        if (i != from)
            ASSUME(numbers[i] - numbers[i - 1] - 1 < SIZE_MAX / 64);
        chunk->number = numbers[i];
        chunk->bucket = bucket;
        chunk->prev = i == from ? NULL : chunks[i - 1];
        chunk->next = i == last ? NULL : chunks[i + 1];
        for (unsigned k = 0; k < TWI_SLOTS; k++) {
            bool is_used = (i != from || k >= front) && (i != last || k < end);
            live[i][k] = is_used && nondet_bool();
            chunk->slots[k] = live[i][k] ? &timers[i][k] : NULL;
            timers[i][k].place =
                live[i][k] ? (uintptr_t)&chunk->slots[k] : TW_FIRED;
        }
    }
    bucket->front = &chunks[from]->slots[front];
    bucket->back = chunks[last]->slots + end;
    tw.in_use += count;
    tw.buckets_used++;
}

/* Makes a wheel with one unused chunk, `spare`, and CHUNKS chunks in no
 * bucket. */
static void make_none(void)
{
    static const timingwheel none = {0};
    tw = none;
    tw.unused = &spare;
    tw.chunks = KNOWN_CHUNKS;
    for (unsigned i = 0; i < CHUNKS; i++) {
        chunks[i]->bucket = NULL;
        for (unsigned k = 0; k < TWI_SLOTS; k++)
            live[i][k] = false;
    }
    for (unsigned i = 0; i < TWI_OUTSIDE_BUCKETS; i++)
        twi_init_bucket(&tw.outside[i]);
}

/* Leaves only `used` chunks and `spare` in the count of chunks, as if the
 * remaining chunks had been freed. So the unused chunks are exactly the list
 * tw.unused. */
static inline void forget_others(unsigned used)
{
    tw.chunks = used + 1;
}

/* True if a slot is in use by a bucket. */
static bool is_in(const twi_bucket *bucket, tw_timer *const *slot)
{
    const twi_chunk *chunk = twi_chunk_of(slot);
    return chunk->bucket == bucket &&
           (chunk->prev != NULL || slot >= bucket->front) &&
           (chunk->next != NULL || slot < bucket->back);
}

/* Asserts that the chunks of a bucket are linked in order of their numbers, and
 * that the bucket's first and last slot are in the first and last chunk.
 * Returns the number of chunks. */
static inline unsigned check_bucket(const twi_bucket *bucket)
{
    unsigned count = 0;
    const twi_chunk *last = NULL;
    if (bucket->back == NULL) {
        ASSERT(bucket->front == NULL);
        return 0;
    }
    for (const twi_chunk *chunk = twi_chunk_of(bucket->front); chunk != NULL;
         chunk = chunk->next) {
        ASSERT(chunk->bucket == bucket && chunk->prev == last);
        ASSERT(last == NULL || chunk->number - last->number - 1 < SIZE_MAX / 2);
        last = chunk;
        count++;
    }
    ASSERT(last == twi_chunk_of(bucket->back - 1));
    ASSERT(count > 1 ? bucket->back > last->slots
                     : bucket->front <= bucket->back);
    return count;
}

/* Asserts that the chunks in buckets are counted, and that the rest is
 * unused. */
static inline void check_counts(unsigned used, unsigned homes)
{
    unsigned unused = 0;
    for (const twi_chunk *chunk = tw.unused; chunk != NULL;
         chunk = chunk->next) {
        ASSERT(chunk->bucket == NULL);
        unused++;
    }
    ASSERT(tw.in_use == used && tw.buckets_used == homes);
    ASSERT(tw.in_use + unused == tw.chunks);
}

/* Asserts for an arbitrary timer that was pending: the timer is in the same
 * slot as before, and `bucket` uses the slot. Leaves out the timer of the slot
 * `left`. Chunks with timers keep their order. */
static inline void check_kept(const twi_bucket *bucket, tw_timer *const *left)
{
    unsigned i = any_below(CHUNKS), k = any_below(TWI_SLOTS);
    if (!live[i][k] || &chunks[i]->slots[k] == left)
        return;
    ASSERT(is_in(bucket, &chunks[i]->slots[k]));
    ASSERT(chunks[i]->slots[k] == &timers[i][k]);
    ASSERT(timers[i][k].place == (uintptr_t)&chunks[i]->slots[k]);
    unsigned j = any_below(CHUNKS);
    if (i < j && live[j][any_below(TWI_SLOTS)])
        ASSERT(chunks[j]->number - chunks[i]->number - 1 < SIZE_MAX / 2);
}

#endif
