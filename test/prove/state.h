/* state.h - any well-formed state of small wheels, for operations.c.
 *
 * SPDX-License-Identifier: MIT
 *
 * There are WHEELS wheels of SIZE buckets at the levels LEVELS, and two chunks
 * that are nobody's own; run.sh gives them 5 slots. Which buckets have a mark,
 * which of them is the first of its wheel, and what chunks the first two
 * buckets have (a `shape`) is set by each case, so that CBMC knows where
 * pointers lead. What slots are in use, which timers they hold, all ticks,
 * deadlines, numbers and flags are arbitrary as far as `well_formed` lets them
 * be.
 */
#ifndef STATE_H
#define STATE_H

#include "prove.h"

#ifndef SIZE_BITS
#define SIZE_BITS 1
#endif
#ifndef WHEELS
#define WHEELS 2
#endif
#ifndef LEVELS
#define LEVELS 0, 1
#endif
#define SIZE (1U << SIZE_BITS)
#define OWN (WHEELS * SIZE) /* chunks that are a bucket's own               */
#define CHUNKS (OWN + 2)    /* and two others                               */
#ifndef WIDEST
#define WIDEST 3 /* slots in use, wherever they are */
#endif
#define TICKS 64  /* that there are   */
#define LONGEST 2 /* chunks in a list */

static const unsigned levels[] = {LEVELS};

/* Each an object of its own, for CBMC to tell them apart. (It does not know an
 * address of the first element of an array again that has been a number: so own
 * chunks stand in a struct, and not first.) */
static twi_wheel wheel0, wheel1;
static struct {
    twi_chunk room; /* of the wheel, if it were there                       */
    twi_chunk own[SIZE];
} room0, room1;
static twi_bucket buckets0[SIZE], buckets1[SIZE];
#define WHEEL(w) ((w) == 0 ? &wheel0 : &wheel1)
#define OWN_AT(w, i) (&((w) == 0 ? room0.own : room1.own)[i])
#define BUCKET(w, i) (&((w) == 0 ? buckets0 : buckets1)[i])

static uint64_t marks[2];
static twi_chunk extra0, extra1;
static tw_timer timers[CHUNKS][TWI_SLOTS]; /* one for each slot             */
static tw_timer fresh;                     /* one more, to be started       */
static twi_bucket *const owed = &tw.aside[TWI_OWED];

/* Own chunks first, wheel by wheel. */
static inline twi_chunk *chunk_at(unsigned n)
{
    if (n < OWN)
        return OWN_AT(n / SIZE, n % SIZE);
    return n == OWN ? &extra0 : &extra1;
}

#define KNOWN_CHUNKS CHUNKS
#include "known.h"

/* What is known of twi_find_mark, where one bucket has a mark or none. CBMC
 * takes this one, and those of known.h. */
bool known_find_mark(const timingwheel *whose, const twi_wheel *wheel,
                     uint32_t *index);
bool known_find_mark(const timingwheel *whose, const twi_wheel *wheel,
                     uint32_t *index)
{
    (void)whose;
    for (uint32_t i = 0; i < SIZE; i++)
        if (wheel->marks[0] == UINT64_C(1) << i) {
            *index = i;
            return true;
        }
    if (wheel->marks[0] != 0)
        NEVER("one bucket has a mark");
    return false;
}

/* And what only reads, of which wheels.c shows what. */
void known_prefetch(const twi_chunk *chunk);
void known_prefetch(const twi_chunk *chunk)
{
    ASSERT(chunk == NULL || chunk->end <= TWI_SLOTS);
}

/* And twi_wheel_of. */
twi_wheel *known_wheel_of(twi_chunk *own);
twi_wheel *known_wheel_of(twi_chunk *own)
{
    for (unsigned n = 0; n < OWN; n++)
        if (own == chunk_at(n))
            return WHEEL(n / SIZE);
    NEVER("it is an own chunk");
    return NULL;
}

/* tw_start is what tw_postpone must not come to. */
int known_start(timingwheel *wheels, tw_timer *timer, uint64_t deadline);
int known_start(timingwheel *wheels, tw_timer *timer, uint64_t deadline)
{
    (void)wheels;
    (void)timer;
    (void)deadline;
    ASSERT(false);
    return TW_EINVAL;
}

/* --------------------------------------------------------- well-formed --- */

/* What holds in every state is written once: assumed before, shown after. */
static bool is_assumed;
#define HOLDS(expr)       \
    do {                  \
        if (is_assumed)   \
            ASSUME(expr); \
        else              \
            ASSERT(expr); \
    } while (0)

/* What has been met in the lists; and how many slots of each chunk are free and
 * still count in it, as the last chunk of a bucket that is open. */
static unsigned met_chunks, met_timers, free_in[CHUNKS];
static bool is_unused[CHUNKS]; /* it was met among those given back         */

/* Ticks are only compared, and told apart by steps, here: few bits will do.
 * What is calculated with them is proved for all 64 in placement.c. */
static inline uint64_t any_tick(void)
{
    return nondet_u64() % TICKS;
}

static inline bool is_empty(const twi_bucket *bucket)
{
    return bucket->head == NULL ||
           (bucket->head->next == NULL &&
            bucket->head->live % TWI_WATCHED == known_free_slots(bucket));
}

static inline bool is_marked(unsigned w, uint32_t i)
{
    return (marks[w] >> i & 1) != 0;
}

/* Is a chunk in a list of timers? An own one that is free says so itself. */
static inline bool is_in_use(unsigned n)
{
    return n < OWN ? chunk_at(n)->live != 0 : !is_unused[n];
}

/* How many steps a bucket is ahead of the clock's own. */
static inline uint32_t ahead(unsigned w, uint32_t i)
{
    uint32_t own = (uint32_t)((tw.clock >> WHEEL(w)->shift) % SIZE);
    return (i + SIZE - own) % SIZE;
}

static inline bool is_first(unsigned w, uint32_t i)
{
    return twi_is_queued(WHEEL(w)) && WHEEL(w)->first == i;
}

/* The last chunk of a list, and the room behind its timers. Only in a wheel can
 * a bucket be open; that of the first bucket is watched then. */
static void tail_is_well_formed(const twi_bucket *bucket, unsigned level,
                                bool first)
{
    const twi_chunk *tail = known_tail(bucket);
    const unsigned free_slots = known_free_slots(bucket);
    HOLDS(tail->next == NULL);
    if (free_slots != 0) {
        HOLDS(level < TWI_LEVELS && tail->end == TWI_SLOTS);
        HOLDS(tail->live % TWI_WATCHED >= free_slots);
        HOLDS(!first || tail->live >= TWI_WATCHED);
    }
    met_timers -= free_slots;
    for (unsigned n = 0; n < CHUNKS; n++)
        free_in[n] = tail == chunk_at(n) ? free_slots : free_in[n];
}

/* A list of chunks at home where `level` and `index` say, in the `first` bucket
 * of a wheel or not. */
static void list_is_well_formed(const twi_bucket *bucket, unsigned level,
                                uint32_t index, bool first)
{
    const twi_chunk *prev = NULL, *chunk = bucket->head;
    for (unsigned i = 0; i < LONGEST && chunk != NULL; i++) {
        HOLDS(chunk->prev == prev);
        HOLDS(chunk->level == level);
        HOLDS(level >= TWI_LEVELS || chunk->bucket == index);
        HOLDS(chunk->live % TWI_WATCHED != 0);
        HOLDS(chunk->live < TWI_WATCHED || (first && chunk->next == NULL));
        met_timers += chunk->live % TWI_WATCHED;
        met_chunks++;
        prev = chunk;
        chunk = chunk->next;
    }
    HOLDS(chunk == NULL && (bucket->room == NULL) == (prev == NULL));
    if (prev == NULL)
        return;
    HOLDS(known_tail(bucket) == prev);
    tail_is_well_formed(bucket, level, first);
}

/* The earliest tick of the bucket that a chunk is in. */
static uint64_t earliest_at_home(const twi_chunk *chunk)
{
    for (unsigned w = 0; w < WHEELS; w++)
        if (chunk->level == levels[w])
            return BUCKET(w, chunk->bucket % SIZE)->earliest;
    return owed->earliest;
}

/* Slots in use hold their timers, which know their place, or nothing. */
static void chunk_is_well_formed(unsigned n)
{
    const twi_chunk *chunk = chunk_at(n);
    unsigned live = 0;
    if (!is_in_use(n))
        return;
    uint64_t earliest = earliest_at_home(chunk);
    HOLDS(free_in[n] <= chunk->end && chunk->end <= TWI_SLOTS);
    const unsigned end = chunk->end - free_in[n];
    HOLDS(chunk->first <= end);
    for (unsigned k = 0; k < TWI_SLOTS; k++) {
        bool is_fresh = chunk->slots[k] == &fresh;
        const tw_timer *timer = is_fresh ? &fresh : &timers[n][k];
        if (k < chunk->first || k >= end || chunk->slots[k] == NULL)
            continue;
        HOLDS(chunk->slots[k] == timer);
        HOLDS((is_fresh ? fresh.place : timers[n][k].place) ==
              (uintptr_t)&chunk->slots[k]);
        HOLDS((is_fresh ? fresh.deadline : timers[n][k].deadline) >= earliest);
        live++;
    }
    HOLDS(chunk->live % TWI_WATCHED == live + free_in[n]);
}

static void bucket_is_well_formed(unsigned w, uint32_t i)
{
    const twi_bucket *bucket = BUCKET(w, i);
    const twi_chunk *own = OWN_AT(w, i);
    const unsigned shift = WHEEL(w)->shift;
    list_is_well_formed(bucket, levels[w], i, is_first(w, i));
    HOLDS(own->ordinal == 0 && own->bucket == i);
    HOLDS(own->live == 0 || own->level == levels[w] ||
          own->level == TWI_LEVELS + TWI_OWED);
    if (bucket->head == NULL) /* it is lent */
        HOLDS(own->live != 0 && own->level == TWI_LEVELS + TWI_OWED);
    HOLDS(is_marked(w, i) || twi_is_clear(bucket));
    if (twi_is_clear(bucket)) {
        HOLDS(is_empty(bucket));
        HOLDS(bucket->earliest == UINT64_MAX && bucket->latest == 0);
        return;
    }
    HOLDS(tw.clock <= bucket->earliest);
    HOLDS((bucket->earliest >> shift) % SIZE == i);
    HOLDS((bucket->earliest >> shift) - (tw.clock >> shift) < SIZE);
    HOLDS(twi_same_step(bucket->earliest, bucket->latest, shift) ||
          (twi_same_step(bucket->earliest, tw.clock, shift) &&
           !known_has_room(bucket)));
}

static void wheel_is_well_formed(unsigned w)
{
    const twi_wheel *wheel = WHEEL(w);
    for (uint32_t i = 0; i < SIZE; i++)
        bucket_is_well_formed(w, i);
    HOLDS(marks[w] >> SIZE == 0 && twi_is_queued(wheel) == (marks[w] != 0));
    HOLDS(wheel->reach <=
          (wheel->one_marked ? 0 : twi_reach_of(&tw, wheel)));
    HOLDS(twi_is_queued(wheel) || wheel->earliest == UINT64_MAX);
    if (!twi_is_queued(wheel))
        return;
    HOLDS(wheel->first < SIZE);
    for (uint32_t i = 0; i < SIZE; i++) {
        HOLDS(!is_marked(w, i) || ahead(w, wheel->first) <= ahead(w, i));
        HOLDS(!is_marked(w, i) || !wheel->one_marked || wheel->first == i);
        if (wheel->first != i)
            continue;
        HOLDS(is_marked(w, i) && !is_empty(BUCKET(w, i)));
        HOLDS(wheel->earliest == BUCKET(w, i)->earliest);
    }
    HOLDS(wheel->queue_index < tw.queued);
    HOLDS(tw.queue[wheel->queue_index].wheel == wheel);
    HOLDS(tw.queue[wheel->queue_index].tick == wheel->earliest);
}

/* A heap of the wheels with timers. */
static void queue_is_well_formed(void)
{
    uint32_t queued = 0;
    for (unsigned w = 0; w < WHEELS; w++)
        queued += twi_is_queued(WHEEL(w));
    HOLDS(tw.queued == queued);
    for (uint32_t i = 1; i < WHEELS; i++)
        HOLDS(i >= queued ||
              !twi_is_before(tw.queue[i], tw.queue[(i - 1) / 2]));
}

/* What the next start may rely on: the bucket of a deadline that is ahead of
 * the clock; and the next cancel: a bucket that there is. */
static void notes_are_well_formed(void)
{
    const twi_bucket *bucket = BUCKET(0, 0);
    const unsigned shift = WHEEL(0)->shift;
    HOLDS(tw.usual == NULL || tw.usual == WHEEL(0) || tw.usual == WHEEL(1));
    HOLDS(tw.usual_above ==
          (tw.usual == NULL ? UINT64_MAX : twi_before_turn(tw.usual)));
    HOLDS(tw.span_above == UINT64_MAX || tw.span_above == tw.usual_above);
    bool is_home = tw.last_home == NULL;
    for (unsigned w = 0; w < WHEELS; w++)
        for (uint32_t i = 0; i < SIZE; i++)
            is_home |= tw.last_home == BUCKET(w, i);
    HOLDS(is_home);
    if (tw.recent_home == NULL || tw.recent_clock != tw.clock)
        return;
    HOLDS(tw.recent_home == bucket);
    HOLDS(bucket->earliest <= tw.recent && tw.recent <= bucket->latest);
    HOLDS(tw.clock < tw.recent && (tw.recent >> shift) % SIZE == 0);
    HOLDS((tw.recent >> shift) - (tw.clock >> shift) < SIZE);
}

/* The chunks given back. */
static void unused_is_well_formed(void)
{
    const twi_chunk *chunk = tw.unused;
    for (unsigned i = 0; i < CHUNKS - OWN && chunk != NULL; i++) {
        HOLDS(chunk->ordinal != 0);
        for (unsigned n = OWN; n < CHUNKS; n++)
            is_unused[n] |= chunk == chunk_at(n);
        met_chunks++;
        chunk = chunk->next;
    }
    HOLDS(chunk == NULL);
}

static void well_formed(void)
{
    met_chunks = 0;
    met_timers = 0;
    for (unsigned n = 0; n < CHUNKS; n++) {
        free_in[n] = 0;
        is_unused[n] = false;
    }
    for (unsigned w = 0; w < WHEELS; w++)
        wheel_is_well_formed(w);
    list_is_well_formed(owed, TWI_LEVELS + TWI_OWED, 0, false);
    HOLDS(tw.nonempty_aside == (owed->head != NULL));
    HOLDS(owed->head == NULL || owed->earliest <= owed->latest);
    queue_is_well_formed();
    notes_are_well_formed();
    unused_is_well_formed();
    unsigned chunks = CHUNKS;
    for (unsigned n = 0; n < CHUNKS; n++) {
        chunk_is_well_formed(n);
        chunks -= n < OWN && !is_in_use(n); /* free, in no list */
    }
    HOLDS(met_chunks == chunks);
    HOLDS(met_timers == tw.count);
}

static void assume_well_formed(void)
{
    is_assumed = true;
    well_formed();
}

static void show_well_formed(void)
{
    is_assumed = false;
    well_formed();
}

/* -------------------------------------------------------------- states --- */

/* The last chunk of a bucket is that one, or there is none. In a wheel it may
 * be open. */
static void set_room(twi_bucket *bucket, twi_chunk *tail, unsigned level)
{
    twi_set_tail(bucket, tail);
    if (tail == NULL || level >= TWI_LEVELS || nondet_bool())
        return;
    bucket->room = tail->slots + tail->end;
    tail->end = TWI_SLOTS;
}

/* A list of `one` and `two`, either of which may be NULL. */
static void link_list(twi_bucket *bucket, twi_chunk *one, twi_chunk *two,
                      unsigned level, uint32_t index)
{
    twi_chunk *list[2] = {one, two};
    bucket->head = one != NULL ? one : two;
    set_room(bucket, two != NULL ? two : one, level);
    bucket->earliest = any_tick();
    bucket->latest = any_tick();
    if (nondet_bool())
        twi_clear_span(bucket);
    for (unsigned i = 0; i < 2; i++) {
        if (list[i] == NULL)
            continue;
        list[i]->next = i == 0 ? two : NULL;
        list[i]->prev = i == 0 ? NULL : one;
        list[i]->level = (uint8_t)level;
        list[i]->bucket = (uint16_t)index;
    }
}

/* Any slots, in use or not; what is not may hold what it held. */
static void any_slots(unsigned n)
{
    twi_chunk *chunk = chunk_at(n);
    chunk->ordinal = n >= OWN;
    chunk->live = (uint8_t)any_below(TWI_WATCHED + TWI_SLOTS + 1);
    chunk->first = (uint8_t)any_below(TWI_SLOTS + 1);
    chunk->end = (uint8_t)any_below(TWI_SLOTS + 1);
    ASSUME(chunk->end < chunk->first + WIDEST + 1U);
    for (unsigned k = 0; k < TWI_SLOTS; k++) {
        chunk->slots[k] = nondet_bool() ? &timers[n][k] : NULL;
        timers[n][k].place = (uintptr_t)&chunk->slots[k];
        timers[n][k].deadline = any_tick();
    }
}

/* Which chunks a bucket has: its own, another, in what order; and whether its
 * own is free or lent when it is not there. */
enum shape {
    ALONE,
    BEHIND,
    IN_FRONT,
    INSTEAD,
    LENT,
    GONE
};

static void any_list(unsigned w, uint32_t i, enum shape shape, twi_chunk *extra)
{
    twi_bucket *bucket = BUCKET(w, i);
    twi_chunk *own = OWN_AT(w, i);
    const unsigned level = levels[w];
    own->bucket = (uint16_t)i;
    own->level = (uint8_t)level;
    if (shape == ALONE)
        link_list(bucket, own, NULL, level, i);
    else if (shape == BEHIND)
        link_list(bucket, own, extra, level, i);
    else if (shape == IN_FRONT)
        link_list(bucket, extra, own, level, i);
    else if (shape == GONE)
        link_list(bucket, NULL, NULL, level, i);
    else
        link_list(bucket, extra, NULL, level, i);
    if (shape == INSTEAD)
        own->live = 0;
    if (shape == LENT || shape == GONE) {
        link_list(owed, owed->head, own, TWI_LEVELS + TWI_OWED, i);
        tw.nonempty_aside = 1;
    }
}

static void any_wheel(unsigned w, uint64_t marked, uint32_t first)
{
    twi_wheel *wheel = WHEEL(w);
    wheel->own = OWN_AT(w, 0);
    wheel->buckets = BUCKET(w, 0);
    wheel->marks = &marks[w];
    wheel->tw = &tw;
    wheel->level = levels[w];
    wheel->shift = levels[w] * SIZE_BITS;
    marks[w] = marked;
    wheel->queue_index = TWI_UNQUEUED; /* see any_queue */
    wheel->earliest = marked == 0 ? UINT64_MAX : any_tick();
    wheel->reach = any_tick();
    wheel->one_marked = nondet_bool();
    wheel->first = first;
    tw.wheels[levels[w]] = wheel;
}

/* The wheels with timers, in this or that order. */
static void any_queue(bool is_swapped)
{
    for (unsigned i = 0; i < WHEELS; i++) {
        twi_wheel *wheel = WHEEL(i ^ (unsigned)is_swapped);
        if (*wheel->marks == 0)
            continue;
        wheel->queue_index = tw.queued;
        tw.queue[tw.queued].wheel = wheel;
        tw.queue[tw.queued].tick = wheel->earliest;
        tw.queued++;
    }
}

static void any_usual(void)
{
    if (nondet_bool())
        return;
    tw.usual = WHEEL(nondet_bool());
    tw.usual_above = twi_before_turn(tw.usual);
    if (nondet_bool())
        tw.span_above = tw.usual_above;
}

/* Which buckets of the wheels have a mark, which of these is the first, and
 * whether the second wheel is before the first in the delay queue. */
struct marking {
    unsigned marks[2];
    unsigned first[2];
    bool is_swapped;
};

/* The first two buckets of the first wheel have these shapes, others ALONE. */
static void any_state(const struct marking *marking, enum shape shape0,
                      enum shape shape1)
{
    static const timingwheel none = {0};
    const enum shape shape[2] = {shape0, shape1};
    tw = none;
    set_size(SIZE_BITS);
    set_tick(1);
    tw.clock = tw.now = any_tick() / 4;
    tw.count = any_below(CHUNKS * TWI_SLOTS + 1);
    tw.most = SIZE_MAX;
    for (unsigned n = 0; n < CHUNKS; n++)
        any_slots(n);
    for (unsigned w = 0; w < WHEELS; w++) {
        any_wheel(w, marking->marks[w], marking->first[w]);
        for (uint32_t i = 0; i < SIZE; i++)
            any_list(w, i, w == 0 && i < 2 ? shape[i] : ALONE,
                     i == 0 ? &extra0 : &extra1);
    }
    for (unsigned e = 0; e < 2; e++) {
        if (shape[e] != ALONE && shape[e] != GONE)
            continue;
        chunk_at(OWN + e)->next = tw.unused;
        tw.unused = chunk_at(OWN + e);
    }
    any_queue(marking->is_swapped);
    twi_note_plain(&tw);
    any_usual();
    tw.recent = any_tick();
    tw.recent_clock = any_tick();
    tw.recent_home = nondet_bool() ? BUCKET(0, 0) : NULL;
    assume_well_formed();
}

/* -------------------------------------------------------------- timers --- */

/* Whether the timer of slot k of chunk n is in it, when last looked at. */
static bool is_there(unsigned n, unsigned k)
{
    bool found = false;
    for (unsigned i = 0; i < CHUNKS; i++)
        for (unsigned j = 0; j < TWI_SLOTS; j++)
            found |= i == n && j == k && is_in_use(i) &&
                     chunk_at(i)->first <= j &&
                     j < chunk_at(i)->end - free_in[i] &&
                     chunk_at(i)->slots[j] == &timers[i][j];
    return found;
}

static uint64_t deadline_at(unsigned n, unsigned k)
{
    uint64_t deadline = 0;
    for (unsigned i = 0; i < CHUNKS; i++)
        for (unsigned j = 0; j < TWI_SLOTS; j++)
            deadline = i == n && j == k ? timers[i][j].deadline : deadline;
    return deadline;
}

/* The head of the delay queue is not later than any bucket. */
static void show_head_is_earliest(void)
{
    for (unsigned w = 0; w < WHEELS; w++)
        for (uint32_t i = 0; i < SIZE; i++)
            ASSERT(
                is_empty(BUCKET(w, i)) ||
                (tw.queued != 0 && tw.queue[0].tick <= BUCKET(w, i)->earliest));
}

#endif
