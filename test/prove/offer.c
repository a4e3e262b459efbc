/* offer.c - proofs of how a wheel of timingwheel.h finds its first bucket. The
 * wheel has 4 buckets, and two buckets may have a chunk.
 *
 * SPDX-License-Identifier: MIT
 */
#define CHUNKS 2
#define BUCKETS 4
#include "buckets.h"

#define OWN 2 /* the clock, and the index of the clock's bucket */

/* The index of the only bucket that may hold chunk i. */
#define BUCKET_OF(i) (2 * (i) + 1)

/* Makes a wheel whose buckets have timers, only dead slots, or nothing. A
 * bucket with slots in use has a mark. The delay queue holds no further
 * wheel. */
static void make_wheel(void)
{
    make_none();
    set_size(1);
    wheel->buckets = buckets;
    wheel->progress = TWI_SORTED;
    tw.clock_tick = OWN;
    whole.marks[0] = any_below(1 << BUCKETS);
    for (unsigned i = 0; i < BUCKETS; i++)
        twi_init_bucket(&buckets[i]);
    for (unsigned i = 0; i < CHUNKS; i++) {
        twi_bucket *bucket = &buckets[BUCKET_OF(i)];
        unsigned first = any_below(TWI_SLOTS), end = any_below(TWI_SLOTS + 1);
        ASSUME(first <= end);
        if (nondet_bool())
            make_chain(bucket, i, 1, first, end);
        if (twi_is_empty(bucket))
            continue;
        bucket->earliest = bucket->latest =
            OWN + ((BUCKET_OF(i) - OWN) & (BUCKETS - 1));
        ASSUME((whole.marks[0] >> BUCKET_OF(i) & 1) != 0);
    }
    tw.chunks = tw.in_use + 1;
    tw.queued = 1;
    tw.queue[0] = wheel;
    wheel->queue_index = 0;
    wheel->queue_tick = tw.next_tick = tw.clock_tick;
}

/* True if chunk i has a timer. */
static bool has_timers(unsigned i)
{
    bool has = false;
    for (unsigned k = 0; k < TWI_SLOTS; k++)
        has = has || live[i][k];
    return has;
}

/* Finds the first bucket with a timer, from the clock's bucket on. The front
 * slot of this bucket has a timer, and the bucket's earliest tick is the
 * wheel's key in the delay queue. If no bucket has a timer, the wheel has left
 * the delay queue. No timer is lost. */
void offer(void)
{
    make_wheel();
    twi_requeue(&tw, wheel);
    unsigned i = any_below(CHUNKS), k = any_below(TWI_SLOTS);
    unsigned own = twi_index_of(&tw, wheel, tw.clock_tick);
    ASSERT(wheel->progress == TWI_UNTOUCHED);
    if (wheel->queue_index == TWI_UNQUEUED) {
        ASSERT(!has_timers(i));
        ASSERT(whole.marks[0] == 0 && tw.queued == 0);
        REACHED("no timer");
        return;
    }
    unsigned first = (unsigned)(wheel->first - buckets);
    ASSERT(first == BUCKET_OF(0) || first == BUCKET_OF(1));
    ASSERT(has_timers(first / 2));
    ASSERT(*wheel->first->front != NULL);
    ASSERT(wheel->queue_tick == wheel->first->earliest);
    ASSERT(tw.queue[0] == wheel && tw.queued == 1);
    ASSERT(wheel->queue_index == 0 && tw.next_tick == wheel->queue_tick);
    if (has_timers(i)) {
        ASSERT(((first - own) & (BUCKETS - 1)) <=
               ((BUCKET_OF(i) - own) & (BUCKETS - 1)));
        ASSERT((whole.marks[0] >> BUCKET_OF(i) & 1) != 0);
    }
    if (live[i][k]) {
        ASSERT(is_in(&buckets[BUCKET_OF(i)], &chunks[i]->slots[k]));
        ASSERT(chunks[i]->slots[k] == &timers[i][k]);
    }
    REACHED("the end");
}
