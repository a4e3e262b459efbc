/* cascade.c - proofs of how timers of timingwheel.h leave a bucket of a coarse
 * wheel.
 *
 * SPDX-License-Identifier: MIT
 *
 * The deadlines are arbitrary. The bucket is of one fixed step, so that CBMC
 * knows the bucket's address. The proofs of placement.c are for every step. The
 * functions known_NAME replace functions of the header, see prove.sh.
 */
#include "prove.h"

#define SIZE_BITS 2
#define STEPS (1u << SIZE_BITS)   /* wheel size */
#define FINE (1 * SIZE_BITS)      /* shift of wheel 1 */
#define COARSE (2 * SIZE_BITS)    /* shift of wheel 2 */
#define STEP UINT64_C(5)          /* of the bucket */
#define FIRST (STEP << COARSE)    /* tick of that step */
#define HOME (STEP % (2 * STEPS)) /* index of the bucket */
#define TIMERS 3

static twi_wheel fine, coarse;
static twi_bucket fine_buckets[2 * STEPS], coarse_buckets[2 * STEPS];
static uint64_t fine_marks[1], coarse_marks[1];
static twi_bucket *const from = &coarse_buckets[HOME];
static twi_bucket *const below = &fine_buckets[STEP % 2 * STEPS];
static tw_timer t0, t1, t2, finer;
static tw_timer *const timers[TIMERS] = {&t0, &t1, &t2};
static bool has_left[TIMERS]; /* has left `from`, not to the wheel below */
static unsigned moved_down, requeued;

static bool is_of_step(const tw_timer *timer)
{
    return timer->deadline >> COARSE == STEP;
}

static void make_wheel(twi_wheel *wheel, twi_bucket *buckets, uint64_t *marks,
                       unsigned shift)
{
    wheel->buckets = buckets;
    wheel->marks = marks;
    wheel->shift = shift;
    wheel->queue_tick = UINT64_MAX;
    tw.wheels[shift / SIZE_BITS] = wheel;
    for (unsigned i = 0; i < 2 * STEPS; i++)
        twi_empty_ring(&buckets[i]);
}

static void add_timer(tw_timer *timer, twi_bucket *bucket)
{
    twi_link *last = bucket->ring.prev;
    timer->link.prev = last;
    timer->link.next = &bucket->ring;
    last->next = bucket->ring.prev = &timer->link;
    timer->state = TW_PENDING;
    bucket->at_most++;
}

/* Up to three timers in `from`, each perhaps postponed. */
static void make_state(unsigned count, uint64_t earliest)
{
    set_size(SIZE_BITS);
    tw.tick_length = 1;
    tw.budget = nondet_u32();
    make_wheel(&fine, fine_buckets, fine_marks, FINE);
    make_wheel(&coarse, coarse_buckets, coarse_marks, COARSE);
    for (unsigned i = 0; i < TIMERS; i++) {
        timers[i]->deadline = nondet_u64();
        ASSUME(timers[i]->deadline >= earliest);
        has_left[i] = i >= count;
        if (i < count)
            add_timer(timers[i], from);
    }
    coarse.queue_tick = earliest;
    from->not_before = count == 0 ? UINT64_MAX : earliest;
}

/* Replaces twi_index_of: the bucket of a tick of the step, in wheel 1. */
REPLACES(uint32_t, known_index_of, const timingwheel *of,
         const twi_wheel *wheel, uint64_t tick)
{
    ASSERT(of == &tw && wheel == &fine && tick >> COARSE == STEP);
    size_t index = 0;
    for (unsigned i = 1; i < STEPS; i++)
        if ((tick >> FINE) % STEPS == i)
            index = i;
    return STEP % 2 * STEPS + index;
}

/* Replaces twi_bucket_of: the bucket of the step, in wheel 2. */
REPLACES(twi_bucket *, known_bucket_of, const timingwheel *of,
         const twi_wheel *wheel, uint64_t tick)
{
    ASSERT(of == &tw && wheel == &coarse && tick >> COARSE == STEP);
    return from;
}

/* Replaces twi_place_again: the timer leaves, and goes to another step. */
REPLACES(void, known_place_again, timingwheel *of, tw_timer *timer)
{
    ASSERT(of == &tw && !is_of_step(timer));
    for (unsigned i = 0; i < TIMERS; i++)
        has_left[i] |= timer == timers[i];
    twi_unlink(&timer->link);
    of->budget--;
    of->cascaded++;
}

/* Replaces twi_queue_set; see queue.c. */
REPLACES(void, known_queue_set, timingwheel *of, twi_wheel *wheel,
         uint64_t tick)
{
    ASSERT(of == &tw);
    wheel->queue_tick = tick;
}

/* Replaces twi_requeue. */
REPLACES(void, known_requeue, timingwheel *of, twi_wheel *wheel)
{
    ASSERT(of == &tw && wheel == &coarse && twi_is_empty(from));
    requeued++;
}

/* Replaces twi_move_down in the proof of twi_take_coarse. */
REPLACES(void, known_move_down, timingwheel *of, const twi_wheel *wheel,
         uint64_t step, uint64_t most)
{
    ASSERT(of == &tw && wheel == &coarse);
    ASSERT(step == STEP && most == UINT64_MAX);
    moved_down++;
}

/* Asserts that `timer` is next in a ring. Returns the timer's link. */
static twi_link *check_next(twi_link *link, tw_timer *timer)
{
    ASSERT(link->next == &timer->link);
    ASSERT(timer->link.prev == link);
    return &timer->link;
}

static void check_end(twi_link *link, twi_bucket *bucket)
{
    ASSERT(link->next == &bucket->ring && bucket->ring.prev == link);
    if (link == &bucket->ring)
        ASSERT(bucket->at_most == 0 && bucket->not_before == UINT64_MAX);
    else
        ASSERT(bucket->at_most != 0);
}

/* Up to `most` timers of the next step move down, the last in start order
 * first. Each stands in the bucket of its tick, before timers started in the
 * finer wheel, and in start order. The bounds, marks and keys are sound. */
void down(void)
{
    tw.clock_tick = FIRST - 1;
    make_state(TIMERS, FIRST);
    finer.deadline = FIRST + any_below(2); /* started in wheel 1, if at all */
    bool has_finer = nondet_bool();
    if (has_finer) {
        add_timer(&finer, below);
        below->not_before = fine.queue_tick = finer.deadline;
        fine_marks[0] = UINT64_C(1) << (below - fine_buckets);
    }
    tw.busy_tick = nondet_u64();
    ASSUME(tw.busy_tick <= fine.queue_tick);
    uint64_t most = nondet_u32(), budget = tw.budget;
    uint64_t handled = budget < most ? budget : most;
    handled = handled < TIMERS ? handled : TIMERS;
    twi_move_down(&tw, &coarse, STEP, most);
    ASSERT(tw.budget == budget - handled && tw.cascaded == handled);
    twi_link *link = &from->ring;
    for (unsigned i = 0; i < TIMERS; i++) {
        ASSERT(has_left[i] ==
               (i >= TIMERS - handled && !is_of_step(timers[i])));
        if (i < TIMERS - handled)
            link = check_next(link, timers[i]);
    }
    check_end(link, from);
    for (unsigned b = 0; b < STEPS; b++) {
        uint64_t earliest = UINT64_MAX;
        link = &below[b].ring;
        for (unsigned i = 0; i < TIMERS; i++) {
            uint64_t tick = timers[i]->deadline;
            if (i < TIMERS - handled || tick >> FINE != (FIRST >> FINE) + b)
                continue;
            link = check_next(link, timers[i]);
            earliest = tick < earliest ? tick : earliest;
        }
        if (has_finer && b == 0) {
            link = check_next(link, &finer);
            earliest = finer.deadline < earliest ? finer.deadline : earliest;
        }
        check_end(link, &below[b]);
        ASSERT(below[b].not_before == earliest);
        if (link != &below[b].ring) {
            ASSERT(fine.queue_tick <= earliest && tw.busy_tick <= earliest);
            ASSERT(below[b].at_most < TWI_LARGE ||
                   fine.large_tick >> FINE >= (FIRST >> FINE) + b);
            ASSERT((fine_marks[0] >> (STEP % 2 * STEPS + b) & 1) != 0);
            REACHED("a bucket below");
        }
    }
}

/* The bucket of the clock's own step comes up, with up to three timers; more
 * than TWI_FEW are many. The first due timer fires. The key becomes the
 * earliest of the others. A postponed timer is placed again. */
void take_coarse(void)
{
    tw.clock_tick = FIRST + any_below(1u << COARSE);
    unsigned count = any_below(TIMERS + 1);
    make_state(count, tw.clock_tick);
    unsigned stop = count < TWI_FEW ? count : TWI_FEW;
    for (unsigned i = stop; i-- > 0;)
        stop = is_of_step(timers[i]) ? stop : i;
    const tw_timer *fired = twi_take_coarse(&tw, &coarse);
    uint64_t earliest = UINT64_MAX;
    unsigned due = TIMERS;
    for (unsigned i = count; i-- > 0;)
        due = timers[i]->deadline == tw.clock_tick ? i : due;
    if (stop < count) {
        bool is_postponed = !is_of_step(timers[stop]);
        ASSERT(fired == NULL);
        ASSERT(moved_down == !is_postponed && has_left[stop] == is_postponed);
        REACHED("many, or postponed");
    } else if (due == TIMERS) {
        ASSERT(fired == NULL);
        REACHED("none is due");
    } else {
        ASSERT(fired == timers[due]);
        has_left[due] = true;
        REACHED("one fires");
    }
    twi_link *link = &from->ring;
    for (unsigned i = 0; i < TIMERS; i++)
        if (!has_left[i]) {
            uint64_t tick = timers[i]->deadline;
            link = check_next(link, timers[i]);
            earliest = tick < earliest ? tick : earliest;
        }
    ASSERT(link->next == &from->ring && from->ring.prev == link);
    ASSERT(requeued == (link == &from->ring));
    if (stop == count) {
        ASSERT(from->not_before == earliest);
        ASSERT(requeued != 0 || coarse.queue_tick == earliest);
    }
}
