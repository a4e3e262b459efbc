/* slabs.c - proofs of the slabs of timingwheel.h, and of the sweep that finds
 * chunks without a timer. The proofs use one slab of SLAB_CHUNKS chunks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#define SLAB_CHUNKS 3

/* The slab in the library's layout: the head, in place of chunk 0, and then the
 * chunks. */
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

/* The order of the chunks in the bucket. (CBMC cannot cope with a pointer to
 * any chunk of an array.) */
static const unsigned order[SLAB_CHUNKS] = {2, 0, 1};

/* Makes a slab with `count` chunks in one bucket, in the order `order`. The
 * remaining chunks are unused. The sweep has visited `swept` chunks. */
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

/* Asserts that chunks with a timer are in the bucket. The bucket is in order,
 * begins before all timers and ends behind all timers. All remaining chunks are
 * unused. */
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

/* The sweep visits one chunk. A chunk without a timer leaves its bucket. A
 * longer sweep repeats the same step. */
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
#define SWEPT 0 /* chunks swept before; each number has a proof */
#endif

void sweep(void)
{
    prove_sweep(SWEPT);
}
