/* operations.c - proofs of cancel, postpone and start of timingwheel.h, with
 * all that they do to buckets, marks and the delay queue: on any well-formed
 * state of two small wheels, of the shapes that run.sh names; see state.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "state.h"

/* The chunk that is operated on: the first bucket's own, or the other one. */
static unsigned target(enum shape shape)
{
    if (shape == INSTEAD)
        return OWN;
    if (shape == ALONE || shape == GONE)
        return 0;
    return nondet_bool() ? OWN : 0;
}

/* The timer of slot k of the first bucket's own chunk, or of the other one. */
static void cancel_at(unsigned n, unsigned k)
{
    for (unsigned i = 0; i < TWI_SLOTS; i++) {
        if (i != k)
            continue;
        if (n == 0)
            ASSERT(tw_cancel(&tw, &timers[0][i]));
        else
            ASSERT(tw_cancel(&tw, &timers[OWN][i]));
        return;
    }
}

/* A pending timer is cancelled whose slot is not taken back: it is gone, and
 * nothing else is. */
static void prove_cancel(const struct marking *marking, enum shape shape0,
                         enum shape shape1)
{
    any_state(marking, shape0, shape1);
    unsigned n = target(shape0), k = any_below(TWI_SLOTS);
    unsigned m = any_below(CHUNKS), j = any_below(TWI_SLOTS);
    bool has_other = is_there(m, j) && (m != n || j != k);
    ASSUME(is_there(n, k));
    uint64_t other = deadline_at(m, j);
    size_t count = tw.count;
    cancel_at(n, k);
    show_well_formed();
    ASSERT(tw.count == count - 1 && !is_there(n, k));
    ASSERT(!has_other || (is_there(m, j) && deadline_at(m, j) == other));
    show_head_is_earliest();
    REACHED("the end");
}

/* Slot k of the first bucket's own chunk, or of the other one. */
static tw_timer **slot_at(unsigned n, unsigned k)
{
    for (unsigned i = 0; i < TWI_SLOTS; i++)
        if (i == k)
            return &chunk_at(n == 0 ? 0 : OWN)->slots[i];
    return NULL;
}

/* The last slot was given by the first bucket: where one of that is taken back
 * the timer in it is gone, and nothing else is; or nothing changes. */
static void prove_take_back(const struct marking *marking, enum shape shape0,
                            enum shape shape1)
{
    any_state(marking, shape0, shape1);
    unsigned n = target(shape0), k = any_below(TWI_SLOTS);
    unsigned m = any_below(CHUNKS), j = any_below(TWI_SLOTS);
    bool is_other = m != n || j != k, has_other = is_there(m, j);
    ASSUME(is_there(n, k));
    tw.last_home = BUCKET(0, 0);
    bool is_taken_back = twi_take_back(&tw, slot_at(n, k));
    tw.count -= is_taken_back; /* as tw_cancel does */
    show_well_formed();
    ASSERT(is_there(n, k) != is_taken_back);
    ASSERT(!is_other || is_there(m, j) == has_other);
    show_head_is_earliest();
    if (is_taken_back)
        REACHED("taken back");
    else
        REACHED("not taken back");
}

/* None is taken back where the bucket is its wheel's first one. */
static void prove_watched(const struct marking *marking, enum shape shape0,
                          enum shape shape1)
{
    any_state(marking, shape0, shape1);
    unsigned n = target(shape0), k = any_below(TWI_SLOTS);
    ASSUME(is_there(n, k));
    tw.last_home = BUCKET(0, 0);
    ASSERT(!twi_take_back(&tw, slot_at(n, k)));
    REACHED("the end");
}

/* The same timer is postponed. */
static int postpone_at(unsigned n, unsigned k, uint64_t deadline)
{
    for (unsigned i = 0; i < TWI_SLOTS; i++)
        if (i == k)
            return n == 0 ? tw_postpone(&tw, &timers[0][i], deadline)
                          : tw_postpone(&tw, &timers[OWN][i], deadline);
    return TW_EINVAL;
}

/* A pending timer is postponed, or asked for the same deadline: it stays where
 * it is, and no other has another deadline. */
static void prove_postpone(const struct marking *marking, enum shape shape0,
                           enum shape shape1)
{
    any_state(marking, shape0, shape1);
    unsigned n = target(shape0), k = any_below(TWI_SLOTS);
    unsigned m = any_below(CHUNKS), j = any_below(TWI_SLOTS);
    bool is_other = m != n || j != k, has_other = is_there(m, j);
    ASSUME(is_there(n, k));
    uint64_t other = deadline_at(m, j), deadline = any_tick();
    size_t count = tw.count;
    ASSUME(deadline >= deadline_at(n, k));
    ASSERT(postpone_at(n, k, deadline) == TW_OK);
    show_well_formed();
    ASSERT(tw.count == count);
    ASSERT(is_there(n, k) && deadline_at(n, k) == deadline);
    ASSERT(is_there(m, j) == has_other);
    ASSERT(!is_other || deadline_at(m, j) == other);
    show_head_is_earliest();
    REACHED("the end");
}

/* A tick within the window of the first wheel, for its first bucket. */
static void assume_for_first_bucket(uint64_t tick)
{
    ASSUME((tick >> wheel0.shift) % SIZE == 0);
    ASSUME((tick >> wheel0.shift) - (tw.clock >> wheel0.shift) < SIZE);
}

/* A bucket with its own chunk gets a timer: behind all others, where it is open
 * and may be empty, or, where it is clear, back from the last slot of its line.
 */
static void prove_fill(const struct marking *marking, enum shape shape1,
                       bool in_front)
{
    any_state(marking, ALONE, shape1);
    twi_bucket *bucket = BUCKET(0, 0);
    uint64_t tick = any_tick();
    unsigned m = any_below(CHUNKS), j = any_below(TWI_SLOTS);
    bool has_other = is_there(m, j);
    ASSUME(in_front ? twi_is_clear(bucket) : known_has_room(bucket));
    ASSUME(tick > tw.clock);
    assume_for_first_bucket(tick);
    fresh.deadline = tick;
    if (in_front)
        twi_open(bucket, bucket->head, TWI_NEAR_SLOTS);
    twi_mark(&wheel0, 0);
    wheel0.one_marked = !in_front && !twi_is_queued(&wheel0); /* as callers */
    wheel0.reach = wheel0.one_marked ? 0 : wheel0.reach;      /* of it do   */
    twi_account(&tw, &wheel0, 0, tick);
    twi_fill_slot(in_front ? twi_slot_in_front(bucket) : bucket->room++,
                  &fresh);
    tw.count++;
    show_well_formed();
    ASSERT(tw_is_pending(&fresh) && (!has_other || is_there(m, j)));
    show_head_is_earliest();
    REACHED("the end");
}

/* An idle timer is started where that is all there is to do, or nothing
 * changes. */
static void prove_start(const struct marking *marking, enum shape shape0,
                        enum shape shape1)
{
    any_state(marking, shape0, shape1);
    unsigned m = any_below(CHUNKS), j = any_below(TWI_SLOTS);
    uint64_t deadline = any_tick();
    size_t count = tw.count;
    bool has_other = is_there(m, j);
    fresh.place = TW_IDLE;
    twi_bucket *full = NULL;
    bool is_started = twi_start_at_once(&tw, &fresh, deadline, &full);
    ASSERT(tw.count == count);
    ASSERT(is_started || full == NULL || !known_has_room(full));
    tw.count += is_started; /* as tw_start does */
    show_well_formed();
    ASSERT(!has_other || is_there(m, j));
    ASSERT(tw_is_pending(&fresh) == is_started);
    ASSERT(!is_started || fresh.deadline == deadline);
    show_head_is_earliest();
    if (is_started)
        REACHED("started");
    else
        REACHED("not started");
}

/* An idle timer is started into a full bucket ahead of the clock's own, not
 * before its wheel's earliest timer: another chunk takes it in. */
static void prove_start_in_new_chunk(const struct marking *marking,
                                     enum shape shape0, enum shape shape1)
{
    any_state(marking, shape0, shape1);
    twi_bucket *bucket = BUCKET(0, 0);
    uint64_t tick = any_tick();
    unsigned m = any_below(CHUNKS), j = any_below(TWI_SLOTS);
    size_t count = tw.count;
    bool has_other = is_there(m, j);
    ASSUME(!known_has_room(bucket) && !is_empty(bucket));
    ASSUME(tick >= wheel0.earliest);
    ASSUME(!twi_same_step(tick, tw.clock, wheel0.shift));
    assume_for_first_bucket(tick);
    fresh.place = TW_IDLE;
    ASSERT(twi_start_in_new_chunk(&tw, &fresh, tick, bucket) == TW_OK);
    show_well_formed();
    ASSERT(tw.count == count + 1 && tw_is_pending(&fresh));
    ASSERT(fresh.deadline == tick && (!has_other || is_there(m, j)));
    show_head_is_earliest();
    REACHED("the end");
}

/* ------------------------------------------------------ as run.sh says --- */

#ifndef SHAPE
#define SHAPE ALONE, ALONE
#endif
#ifndef SHAPE1
#define SHAPE1 ALONE
#endif
#ifndef FRONT
#define FRONT false
#endif
#ifndef MARKED
#define MARKED \
    {3, 3},    \
    {          \
        0, 1   \
    }
#endif
static const struct marking marked = {MARKED, false};

void cancel(void)
{
    prove_cancel(&marked, SHAPE);
}

void take_back(void)
{
    prove_take_back(&marked, SHAPE);
}

void watched(void)
{
    prove_watched(&marked, SHAPE);
}

void postpone(void)
{
    prove_postpone(&marked, SHAPE);
}

void fill(void)
{
    static const struct marking swapped = {MARKED, true};
    prove_fill(&swapped, SHAPE1, FRONT);
}

void start(void)
{
    prove_start(&marked, SHAPE);
}

void start_in_new_chunk(void)
{
    prove_start_in_new_chunk(&marked, SHAPE);
}
