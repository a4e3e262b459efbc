/* down.c - proofs of how timers of timingwheel.h move down to finer wheels: no
 * timer is lost, timers keep their order, and a call moves no more than it may.
 *
 * SPDX-License-Identifier: MIT
 *
 * The functions that find a slot below, and the first bucket of a wheel, have
 * proofs of their own. Here twi_slot_below is replaced by known_slot_below: the
 * first timer that moves gets the first of the slots `below`, and so on, until
 * memory runs out. In the header each of these slots is in front of the timers
 * of its tick. So timers keep their order if they move from the back, and no
 * timer passes another.
 */
#ifndef CHUNKS /* -DCHUNKS=3 takes three minutes */
#define CHUNKS 2
#endif
#define BUCKETS 4
#include "buckets.h"

#define STEP_NUMBER 5
#define STEP_SHIFT 8

static twi_bucket *const home = &buckets[STEP_NUMBER & (BUCKETS - 1)];

static tw_timer *below[CHUNKS * TWI_SLOTS];
static unsigned moved;      /* slots of `below` that are taken */
static unsigned most_moved; /* no memory for more */
static bool is_first_found; /* twi_requeue was called */

tw_timer **known_slot_below(timingwheel *home_of, const twi_wheel *from,
                            const twi_bucket *bucket, uint64_t tick);
tw_timer **known_slot_below(timingwheel *home_of, const twi_wheel *from,
                            const twi_bucket *bucket, uint64_t tick)
{
    (void)home_of, (void)tick;
    ASSERT(from == wheel && bucket == home);
    if (moved == most_moved)
        return NULL;
    return &below[moved++];
}

void known_requeue(timingwheel *home_of, twi_wheel *of);
void known_requeue(timingwheel *home_of, twi_wheel *of)
{
    (void)home_of;
    ASSERT(of == wheel && twi_is_empty(home) && !is_first_found);
    is_first_found = true;
}

/* A wheel with any timers in one bucket of up to CHUNKS chunks. */
static void make_wheel(unsigned count)
{
    unsigned first = any_below(TWI_SLOTS), end = 1 + any_below(TWI_SLOTS);
    ASSUME(count > 1 || first < end);
    make_none();
    set_size(1);
    tw.tick = 1;
    tw.last_slot = NULL;
    wheel->buckets = buckets;
    wheel->level = 1;
    wheel->shift = STEP_SHIFT;
    wheel->first = nondet_bool() ? home : &buckets[0];
    for (unsigned i = 0; i < BUCKETS; i++)
        twi_init_bucket(&buckets[i]);
    make_chain(home, 0, count, first, end);
    forget_others(count);
    whole.marks[0] = any_below(1 << BUCKETS);
    ASSUME((whole.marks[0] >> (home - buckets) & 1) != 0);
    tw.handled = nondet_u64();
    tw.handled_limit = nondet_u64();
    tw.cascaded = nondet_u64();
    ASSUME(tw.handled <= tw.handled_limit);
}

/* How many timers stood behind slot k of chunk i. */
static unsigned timers_behind(unsigned i, unsigned k)
{
    unsigned count = 0;
    for (unsigned j = 0; j < CHUNKS; j++)
        for (unsigned l = 0; l < TWI_SLOTS; l++)
            count += live[j][l] && (j > i || (j == i && l > k));
    return count;
}

/* Any timer that was pending has moved down, behind all timers that stood
 * behind it; or it is where it was, and so are all before it. */
static void check_timers(void)
{
    unsigned i = any_below(CHUNKS), k = any_below(TWI_SLOTS);
    if (!live[i][k])
        return;
    unsigned behind = timers_behind(i, k);
    if (behind < moved) {
        ASSERT(below[behind] == &timers[i][k]);
        ASSERT(timers[i][k].place == (uintptr_t)&below[behind]);
        REACHED("a timer that has moved");
    } else {
        ASSERT(is_in(home, &chunks[i]->slots[k]));
        ASSERT(chunks[i]->slots[k] == &timers[i][k]);
        ASSERT(timers[i][k].place == (uintptr_t)&chunks[i]->slots[k]);
        REACHED("a timer that stays");
    }
}

/* A bucket moves down, up to a number of chunks, up to the limit of the call,
 * and while there is memory. */
static void prove_down(unsigned count)
{
    make_wheel(count);
    size_t chunks_left = nondet_u64(), most_chunks = chunks_left;
    uint64_t limit = tw.handled_limit - tw.handled, cascaded = tw.cascaded;
    ASSUME(most_chunks != 0);
    moved = 0, is_first_found = false;
    most_moved = any_below(CHUNKS * TWI_SLOTS + 1);
    enum twi_moved result =
        twi_move_down(&tw, wheel, STEP_NUMBER, &chunks_left);
    unsigned left = check_bucket(home);
    check_counts(left, left != 0);
    check_timers();
    ASSERT(moved <= limit && tw.handled <= tw.handled_limit);
    ASSERT(moved <= most_chunks * TWI_SLOTS || most_chunks > CHUNKS);
    ASSERT(tw.cascaded - cascaded == moved);
    bool is_marked = whole.marks[0] >> (home - buckets) & 1;
    if (result == TWI_MOVED_ALL) {
        ASSERT(twi_is_empty(home));
        ASSERT(is_first_found == (wheel->first == home));
        ASSERT(is_first_found || !is_marked);
        REACHED("all");
        return;
    }
    ASSERT(!twi_is_empty(home) && !is_first_found && is_marked);
    if (result == TWI_NO_MEMORY) {
        ASSERT(moved == most_moved);
        REACHED("no memory");
    } else if (chunks_left == 0) {
        ASSERT(count - left >= most_chunks);
        REACHED("enough chunks");
    } else {
        ASSERT(tw.handled == tw.handled_limit);
        REACHED("the limit");
    }
}

void down(void)
{
    prove_down(1 + any_below(CHUNKS));
}
