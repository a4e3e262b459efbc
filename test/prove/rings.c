/* rings.c - proofs of the rings of timingwheel.h, on any two rings of up to
 * three timers, and of the search for the first bucket with timers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prove.h"

#define TIMERS 3

static twi_bucket rings[2];
static tw_timer t0, t1, t2;
static tw_timer *const timers[TIMERS] = {&t0, &t1, &t2};
static unsigned home[TIMERS]; /* ring of each timer; 2: in no ring */

/* Links the timers in the order of their numbers. */
static void make_rings(void)
{
    for (unsigned r = 0; r < 2; r++)
        twi_empty_ring(&rings[r]);
    for (unsigned i = 0; i < TIMERS; i++) {
        home[i] = any_below(3);
        for (unsigned r = 0; r < 2; r++)
            if (home[i] == r) {
                twi_link *last = rings[r].ring.prev;
                timers[i]->link.prev = last;
                timers[i]->link.next = &rings[r].ring;
                last->next = rings[r].ring.prev = &timers[i]->link;
                timers[i]->state = TW_PENDING;
                rings[r].at_most++;
                rings[r].not_before = 0;
            }
    }
}

/* Asserts that a ring holds exactly the timers whose home is the ring, in the
 * order of their numbers, and that an empty ring has no bounds left. */
static void check_ring(unsigned r)
{
    twi_link *link = &rings[r].ring;
    for (unsigned i = 0; i < TIMERS; i++)
        if (home[i] == r) {
            ASSERT(link->next == &timers[i]->link);
            ASSERT(timers[i]->link.prev == link);
            link = &timers[i]->link;
        }
    ASSERT(link->next == &rings[r].ring && rings[r].ring.prev == link);
    if (link == &rings[r].ring) {
        ASSERT(rings[r].at_most == 0 && rings[r].not_before == UINT64_MAX);
        REACHED("an empty ring");
    } else {
        REACHED("a ring with timers");
    }
}

/* Any timer leaves. */
void leave(void)
{
    make_rings();
    unsigned i = any_below(TIMERS);
    ASSUME(home[i] < 2);
    twi_unlink(&timers[i]->link);
    home[i] = 2;
    check_ring(0);
    check_ring(1);
}

/* The last timer, which is in no ring, enters at the back of a ring. */
void enter(void)
{
    make_rings();
    unsigned r = any_below(2);
    ASSUME(home[2] == 2);
    twi_push_back(&tw, timers[2], &rings[r]);
    ASSERT(twi_is_pending(timers[2]));
    home[2] = r;
    check_ring(0);
    check_ring(1);
}

/* All timers of one ring go behind the timers of the other. */
void append(void)
{
    make_rings();
    for (unsigned i = 0; i < TIMERS; i++)
        for (unsigned j = 0; j < i; j++)
            ASSUME(home[j] != 1 || home[i] != 0);
    bool is_empty = twi_is_empty(&rings[1]);
    rings[0].not_before = 0, rings[0].at_most = 1;
    ASSUME(!is_empty || !twi_is_empty(&rings[0]));
    twi_append_ring(&rings[1], &rings[0]);
    for (unsigned i = 0; i < TIMERS; i++)
        home[i] = home[i] == 1 ? 0 : home[i];
    check_ring(0);
    check_ring(1);
}

/* A timer, pending or not, moves to another struct. */
void move(void)
{
    static tw_timer moved;
    make_rings();
    timers[1]->deadline = nondet_u64();
    uint64_t deadline = timers[1]->deadline;
    bool was_pending = home[1] != 2;
    tw_move(&tw, timers[1], &moved);
    ASSERT(moved.deadline == deadline);
    ASSERT(twi_is_pending(&moved) == was_pending);
    ASSERT(!twi_is_pending(timers[1]));
    if (!was_pending)
        return;
    ASSERT(moved.link.next->prev == &moved.link);
    ASSERT(moved.link.prev->next == &moved.link);
    tw_move(&tw, &moved, timers[1]); /* so that check_ring finds the timer */
    ASSERT(!twi_is_pending(&moved));
    check_ring(0);
    check_ring(1);
}

#ifndef SIZE_BITS
#define SIZE_BITS 1
#endif
#define BUCKETS (2u << SIZE_BITS)
static twi_bucket buckets[BUCKETS];
static uint64_t marks[(BUCKETS + 63) / 64], before[(BUCKETS + 63) / 64];

static bool is_marked(const uint64_t *of, uint32_t index)
{
    return (of[index / 64] >> (index % 64) & 1) != 0;
}

/* Any marks and clock; each bucket with timers has its mark. The bucket found
 * has timers, and no bucket nearer to the clock has, going round. Only marks of
 * empty buckets are cleared. */
void skip(void)
{
    twi_wheel wheel = {0};
    set_size(SIZE_BITS);
    wheel.buckets = buckets;
    wheel.marks = marks;
    wheel.shift = any_below(64);
    tw.clock_tick = nondet_u64();
    for (uint32_t i = 0; i < BUCKETS; i++) {
        bool has_timer = nondet_bool(), has_mark = has_timer || nondet_bool();
        buckets[i].ring.next = has_timer ? &t0.link : &buckets[i].ring;
        marks[i / 64] |= (uint64_t)has_mark << (i % 64);
    }
    for (unsigned i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        before[i] = marks[i];
    const twi_bucket *found = twi_clear_emptied(&tw, &wheel);
    uint32_t i = any_below(BUCKETS);
    uint32_t own = (uint32_t)(tw.clock_tick >> wheel.shift & tw.bucket_mask);
    ASSERT(is_marked(before, i) || !is_marked(marks, i));
    if (!twi_is_empty(&buckets[i]))
        ASSERT(is_marked(marks, i));
    if (found == NULL) {
        ASSERT(twi_is_empty(&buckets[i]) && !is_marked(marks, i));
        REACHED("none");
        return;
    }
    uint32_t first = (uint32_t)(found - buckets);
    ASSERT(first < BUCKETS && !twi_is_empty(found));
    if (((i - own) & tw.bucket_mask) < ((first - own) & tw.bucket_mask)) {
        ASSERT(twi_is_empty(&buckets[i]) && !is_marked(marks, i));
        REACHED("a bucket passed over");
    }
}
