/* offer.c - proofs of how a wheel of timingwheel.h finds its first bucket: in a
 * wheel of 4 buckets, of up to one chunk each.
 *
 * SPDX-License-Identifier: MIT
 */
#define CHUNKS 4
#include "buckets.h"

#define BUCKETS 4
#define OWN 2 /* the clock, and the bucket that it is in                    */

static struct {
    twi_wheel wheel;
    uint64_t marks[1];
} whole;
static twi_wheel *const wheel = &whole.wheel;
static twi_wheel other;
static twi_bucket buckets[BUCKETS];

/* A wheel, whose buckets have timers, or dead slots only, or none; those with
 * slots in use have a mark. Another wheel is in the delay queue as well. */
static void make_wheel(void)
{
    make_none();
    set_size(1);
    wheel->buckets = buckets;
    wheel->progress = TWI_SORTED;
    tw.clock = OWN;
    whole.marks[0] = any_below(1 << BUCKETS);
    for (unsigned i = 0; i < BUCKETS; i++) {
        unsigned first = any_below(TWI_SLOTS), end = any_below(TWI_SLOTS + 1);
        ASSUME(first <= end);
        twi_reset(&buckets[i]);
        if (nondet_bool())
            make_chain(&buckets[i], i, 1, first, end);
        if (twi_is_empty(&buckets[i]))
            continue;
        buckets[i].earliest = buckets[i].latest =
            OWN + ((i - OWN) & (BUCKETS - 1));
        ASSUME((whole.marks[0] >> i & 1) != 0);
    }
    tw.chunks = tw.in_use + 1;
    tw.queued = 2;
    tw.queue[0] = wheel;
    wheel->queue_index = 0;
    wheel->earliest = tw.next = tw.clock;
    tw.queue[1] = &other;
    other.queue_index = 1;
    other.level = 5;
    other.earliest = nondet_u64();
    ASSUME(other.earliest > tw.clock);
}

/* True if a bucket has a timer. */
static bool has_timers(unsigned i)
{
    bool has = false;
    for (unsigned k = 0; k < TWI_SLOTS; k++)
        has = has || live[i][k];
    return has;
}

/* The first bucket with a timer, from the clock's own on, is the wheel's first,
 * and its front slot has a timer; the wheel is in the delay queue by it. If no
 * bucket has a timer the wheel has left the delay queue. No timer is lost. */
void offer(void)
{
    make_wheel();
    twi_offer(&tw, wheel);
    unsigned i = any_below(CHUNKS), k = any_below(TWI_SLOTS);
    unsigned own = twi_index_of(&tw, wheel, tw.clock);
    ASSERT(wheel->progress == TWI_UNTOUCHED);
    if (wheel->queue_index == TWI_UNQUEUED) {
        ASSERT(!has_timers(i));
        ASSERT(whole.marks[0] == 0 && tw.queued == 1);
        REACHED("no timer");
        return;
    }
    unsigned first = (unsigned)(wheel->first - buckets);
    ASSERT(first < BUCKETS && has_timers(first));
    ASSERT(*wheel->first->front != NULL);
    ASSERT(wheel->earliest == wheel->first->earliest);
    ASSERT(tw.queue[wheel->queue_index] == wheel && tw.queued == 2);
    ASSERT(!twi_is_before(tw.queue[1], tw.queue[0]));
    ASSERT(tw.next == tw.queue[0]->earliest);
    if (has_timers(i)) {
        ASSERT(((first - own) & (BUCKETS - 1)) <= ((i - own) & (BUCKETS - 1)));
        ASSERT((whole.marks[0] >> i & 1) != 0);
    }
    if (live[i][k]) {
        ASSERT(is_in(&buckets[i], &chunks[i]->slots[k]));
        ASSERT(chunks[i]->slots[k] == &timers[i][k]);
    }
    REACHED("the end");
}
