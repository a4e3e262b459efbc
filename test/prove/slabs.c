/* slabs.c - proofs of the slabs of timingwheel.h, and of the sweep that finds
 * chunks without a timer in them: in one slab of up to SLAB_CHUNKS chunks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#define SLAB_CHUNKS 3

/* The slab as the library lays it out: its head, in place of chunk 0, and its
 * chunks behind. */
static twi_chunk slab_memory[1 + SLAB_CHUNKS];
static twi_slab *const slab = (twi_slab *)(void *)slab_memory;

static inline twi_chunk *chunk_at(unsigned n)
{
    return &slab_memory[1 + n];
}

#define KNOWN_CHUNKS SLAB_CHUNKS
#include "known.h"

static tw_timer timers[SLAB_CHUNKS][TWI_SLOTS];
static bool live[SLAB_CHUNKS][TWI_SLOTS];
static twi_bucket *const home = &tw.outside[TWI_STUCK];

/* In which order the chunks stand in the bucket. (CBMC does not get far with a
 * pointer to any chunk of an array.) */
static const unsigned order[SLAB_CHUNKS] = {2, 0, 1};

/* A slab of which `count` chunks are in one bucket, in that order, and the
 * others are unused; the sweep has got to chunk `swept`. */
static void make_slab(unsigned count, unsigned swept)
{
    static const timingwheel none = {0};
    tw = none;
    slab->next = NULL;
    slab->chunks = SLAB_CHUNKS;
    tw.slabs = slab;
    tw.chunks = SLAB_CHUNKS;
    tw.in_use = count;
    tw.buckets_used = count != 0;
    tw.count = nondet_u32();
    tw.reserved = nondet_u32();
    tw.swept = swept == 0 ? NULL : slab;
    tw.swept_chunks = swept;
    unsigned first = any_below(TWI_SLOTS);
    unsigned end = 1 + any_below(TWI_SLOTS);
    ASSUME(count > 1 || first <= end);
    twi_init_bucket(home);
    for (unsigned i = 0; i < SLAB_CHUNKS; i++) {
        twi_chunk *chunk = chunk_at(order[i]);
        bool is_used = i < count;
        chunk->bucket = is_used ? home : NULL;
        chunk->number = i;
        chunk->prev = i == 0 ? NULL : chunk_at(order[i - 1]);
        chunk->next = NULL;
        if (i != 0 && is_used)
            chunk_at(order[i - 1])->next = chunk;
        for (unsigned k = 0; k < TWI_SLOTS; k++) {
            bool is_in = is_used && (i != 0 || k >= first) &&
                         (i + 1 != count || k < end);
            live[order[i]][k] = is_in && nondet_bool();
            chunk->slots[k] = live[order[i]][k] ? &timers[order[i]][k] : NULL;
        }
        if (!is_used) {
            chunk->next = tw.unused;
            tw.unused = chunk;
        }
        if (is_used && i == 0)
            home->front = chunk->slots + first;
        if (is_used && i + 1 == count)
            home->back = chunk->slots + end;
    }
}

/* Chunks with a timer are in the bucket, which is in order, and begins and ends
 * before and behind all timers. Chunks that have left are unused. */
static void check_slab(void)
{
    unsigned used = 0, unused = 0;
    const twi_chunk *last = NULL;
    for (const twi_chunk *chunk =
             home->back == NULL ? NULL : twi_chunk_of(home->front);
         chunk != NULL; chunk = chunk->next) {
        ASSERT(chunk->bucket == home && chunk->prev == last);
        ASSERT(last == NULL || chunk->number > last->number);
        last = chunk;
        used++;
    }
    ASSERT(last == (home->back == NULL ? NULL : twi_chunk_of(home->back - 1)));
    for (const twi_chunk *chunk = tw.unused; chunk != NULL;
         chunk = chunk->next) {
        ASSERT(chunk->bucket == NULL);
        unused++;
    }
    ASSERT(used == tw.in_use && used + unused == tw.chunks);
    ASSERT(tw.buckets_used == (home->back != NULL));
    unsigned n = any_below(SLAB_CHUNKS), k = any_below(TWI_SLOTS);
    if (!live[n][k])
        return;
    ASSERT(chunk_at(n)->bucket == home);
    ASSERT(chunk_at(n)->slots[k] == &timers[n][k]);
    ASSERT(chunk_at(n)->prev != NULL || home->front <= &chunk_at(n)->slots[k]);
    ASSERT(chunk_at(n)->next != NULL || &chunk_at(n)->slots[k] < home->back);
}

/* The sweep looks at one chunk, which leaves its bucket if it has no timer. A
 * longer sweep does the same again. */
static void prove_sweep(unsigned swept)
{
    make_slab(SLAB_CHUNKS, swept);
    unsigned n = swept % SLAB_CHUNKS;
    bool has_timers = false;
    for (unsigned k = 0; k < TWI_SLOTS; k++)
        has_timers = has_timers || live[n][k];
    twi_sweep(&tw, 1, 1);
    check_slab();
    ASSERT(tw.swept == slab && tw.swept_chunks == n + 1);
    ASSERT((chunk_at(n)->bucket == NULL) == !has_timers);
    if (has_timers)
        REACHED("the chunk stays");
    else
        REACHED("the chunk leaves");
}

#ifndef SWEPT
#define SWEPT 0 /* the chunk that is looked at; each has a proof */
#endif

void sweep(void)
{
    prove_sweep(SWEPT);
}
