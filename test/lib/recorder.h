/* recorder.h - a wheel and a sorted list side by side, for the tests.
 *
 * A `world` holds a wheel and an oracle. The oracle is a list of the pending
 * timers, sorted by tick and start order. Every operation goes to both. Each
 * callback compares the timer with the head of the list. Every call compares
 * count, next deadline and clock, and runs tw_check. RECORDER_CHECK_EVERY = n
 * runs tw_check, the slowest part, after every nth call only, and at the end.
 * A test only plays a scenario. The case fails if any timer was early, late,
 * lost, fired twice or out of order.
 *
 *     world w;
 *     probe a = {0};
 *     world_open(&w, 10, 4, 0);       tick 10, 4 buckets per wheel, clock 0
 *     world_start(&w, &a, 25);
 *     world_advance(&w, 29);          fires nothing, or the case fails
 *     world_advance(&w, 30);
 *     CHECK(a.fired == 1);
 *     world_close(&w);                fails if memory has leaked
 *
 * Include recorder.h instead of timingwheel.h. recorder.h includes the
 * implementation, with heap.h as the allocator. The oracle is independent of
 * oracle.h on purpose: a mistake in either oracle does not hide in both.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#ifndef RECORDER_CHECK_EVERY
#define RECORDER_CHECK_EVERY 1
#endif

/* New memory is rubbish: a wheel that expects zeros shows a fault. */
#define HEAP_FILL
#include "heap.h"

#define TW_STATIC

/* First the declarations alone, then the code, as in a program that includes
 * the header in several places. */
#include "../../timingwheel.h"
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

/* ---------------------------------------------------------------- types --- */

typedef struct world world;
typedef struct probe probe;

/* A timer with its expected and its past firings. */
struct probe {
    tw_timer timer;        /* first: same address as the probe */
    world *world;          /* the world of the last start */
    probe *prev, *next;    /* neighbours in the oracle's list */
    uint64_t tick;         /* the tick in which the timer is due */
    uint64_t rank;         /* as `tick`, but 0 if started overdue */
    uint64_t order;        /* starts in the world before the timer's start */
    uint64_t from_call;    /* the first call that may fire the timer */
    bool pending;          /* in the oracle's list */
    bool loose;            /* may take any place within its tick */
    unsigned fired;        /* number of firings */
    uint64_t fired_at;     /* the clock at the last firing */
    uint64_t fired_as;     /* position in firing order, from 1 */
    void (*then)(probe *); /* a further action of the callback */
    probe *other;          /* for `then` */
    uint64_t value;        /* for `then` */
};

struct world {
    timingwheel wheel;
    heap memory;
    uint64_t tick;              /* time units per tick */
    uint64_t clock;             /* expected result of tw_now */
    uint64_t target;            /* the argument of the call in progress */
    uint64_t call;              /* number of the call in progress or last */
    uint64_t target_tick;       /* the last tick that the call fires */
    uint64_t fired;             /* timers fired so far */
    uint64_t starts;            /* timers started so far */
    uint64_t before_call;       /* `starts` at the begin of the call */
    struct {                    /* a turn for each call that left due timers, */
        uint64_t overdue_until; /* and for the running call: first overdue */
        uint64_t due_until;     /* timers of an order below the first field, */
    } turns[4];                 /* then timers of ticks up to the second */
    unsigned turn_count;        /* at least 1 */
    uint64_t last_overdue;      /* starts up to the last overdue start */
    uint64_t stale_tick;        /* earliest tick left by a timer since calls */
                                /* passed the tick; UINT64_MAX: none */
    bool loose;                 /* a timer that left may blur the turns */
    size_t count;               /* timers in the list */
    size_t disturbed;   /* cancelled, postponed or moved while pending */
    size_t wakes;       /* calls made by world_sleep */
    size_t idle_wakes;  /* calls by world_sleep that fired nothing */
    size_t deep;        /* largest count for which tw_check runs */
    size_t compared;    /* comparisons since world_open */
    bool inside;        /* a call is in progress */
    bool stale;         /* the next deadline may be too early */
    probe *head, *tail; /* the oracle: sorted by rank, start order */
};

/* ------------------------------------------------------------ the oracle -- */

static inline uint64_t recorder_ceil(uint64_t deadline, uint64_t tick)
{
    return deadline / tick + (deadline % tick != 0);
}

/* Returns when a tick begins, in time units; UINT64_MAX if beyond 64 bits. */
static inline uint64_t recorder_time(uint64_t index, uint64_t tick)
{
    return index > UINT64_MAX / tick ? UINT64_MAX : index * tick;
}

static inline void oracle_insert(world *w, probe *p, uint64_t tick, bool loose)
{
    probe *before = w->tail;
    p->tick = tick;
    p->rank = tick <= w->clock / w->tick ? 0 : tick;
    while (before != NULL && before->rank > p->rank)
        before = before->prev;
    p->loose = loose;
    p->pending = true;
    p->prev = before;
    p->next = before == NULL ? w->head : before->next;
    *(p->prev == NULL ? &w->head : &p->prev->next) = p;
    *(p->next == NULL ? &w->tail : &p->next->prev) = p;
    p->order = w->starts++;
    if (p->rank == 0)
        w->last_overdue = w->starts;
    w->count++;
}

static inline void oracle_remove(world *w, probe *p)
{
    *(p->prev == NULL ? &w->head : &p->prev->next) = p->next;
    *(p->next == NULL ? &w->tail : &p->next->prev) = p->prev;
    p->pending = false;
    w->count--;
}

/* Returns the first timer that the call must still fire by `now`, or NULL. */
static inline probe *oracle_due(const world *w, uint64_t now)
{
    uint64_t limit = (now > w->clock ? now : w->clock) / w->tick;
    for (probe *p = w->head; p != NULL && p->tick <= limit; p = p->next)
        if (p->from_call <= w->call)
            return p;
    return NULL;
}

/* Returns the turn in which `p` fires. */
static inline unsigned oracle_turn_of(const world *w, const probe *p)
{
    unsigned i = 0;
    while (i < w->turn_count &&
           (p->rank == 0 ? p->order >= w->turns[i].overdue_until
                         : p->rank > w->turns[i].due_until))
        i++;
    return i;
}

/* Returns the first turn that has a timer, or the last turn. */
static inline unsigned oracle_first_turn(const world *w)
{
    unsigned first = w->turn_count - 1;
    for (const probe *p = w->head; p != NULL && first != 0; p = p->next)
        if (oracle_turn_of(w, p) < first)
            first = oracle_turn_of(w, p);
    return first;
}

/* Removes the turns before number `first`. */
static inline void oracle_drop_turns(world *w, unsigned first)
{
    w->turn_count -= first;
    for (unsigned i = 0; i < w->turn_count && first != 0; i++)
        w->turns[i] = w->turns[first + i];
}

/* Returns true if no timer of the call must fire before `p`. Timers that were
 * postponed or have a window may take any place within their tick. Each turn
 * ends before the next turn. */
static inline bool oracle_in_turn(const world *w, const probe *p)
{
    for (const probe *q = w->head; q != NULL && q != p; q = q->next) {
        if (q->from_call > w->call)
            continue;
        if (q->rank == 0 && p->rank != 0 &&
            (w->loose || oracle_turn_of(w, p) < oracle_turn_of(w, q)))
            continue;
        if (q->rank < p->rank || (!q->loose && !p->loose))
            return false;
    }
    return w->loose || oracle_turn_of(w, p) == oracle_first_turn(w);
}

/* A call begins. */
static inline void oracle_begin(world *w, uint64_t now)
{
    w->call++;
    w->target = now;
    w->target_tick = (now > w->clock ? now : w->clock) / w->tick;
    w->before_call = w->starts;
    for (unsigned i = 0; i < w->turn_count; i++)
        if (w->turns[i].due_until > w->target_tick)
            w->turns[i].due_until = w->target_tick;
    if (w->last_overdue > w->turns[w->turn_count - 1].overdue_until) {
        if (w->turn_count == 4)
            w->loose = true;
        else
            w->turn_count++;
    }
    w->turns[w->turn_count - 1].overdue_until = w->starts;
    w->turns[w->turn_count - 1].due_until = w->target_tick;
}

/* A call ends, and no timer is left due. */
static inline void oracle_finish(world *w)
{
    w->loose = false;
    oracle_drop_turns(w, w->turn_count - 1);
    if (w->stale_tick <= w->target_tick)
        w->stale_tick = w->target_tick + 1;
}

/* A call ends, and timers may be left due. */
static inline void oracle_stop(world *w)
{
    unsigned first = oracle_first_turn(w);
    if (first != 0)
        w->loose |= w->stale_tick <= w->turns[first - 1].due_until;
    oracle_drop_turns(w, first);
}

/* A pending timer leaves its tick without firing. */
static inline void oracle_disturb(world *w, const probe *p)
{
    w->disturbed++;
    w->stale = true;
    if (p->rank < w->stale_tick)
        w->stale_tick = p->rank;
}

/* Checks that the wheel was right to fire `p`. */
static inline void oracle_fired(world *w, probe *p)
{
    if (!CHECK(p->pending)) /* no longer in the list: fired twice */
        return;
    CHECK(p->from_call <= w->call);
    CHECK(oracle_in_turn(w, p));
    if (p->tick > w->clock / w->tick) {
        CHECK(p->tick <= w->target / w->tick); /* never early */
        w->clock = p->tick * w->tick;
    }
    unsigned turn = oracle_turn_of(w, p);
    uint64_t now = tw_now(&w->wheel);
    if (now > w->clock &&
        ((w->loose && now <= w->target_tick * w->tick) ||
         (turn != 0 && now <= w->turns[turn - 1].due_until * w->tick)))
        w->clock = now; /* waited for a timer that left its tick */
    oracle_drop_turns(w, turn);
    CHECK(tw_now(&w->wheel) == w->clock);
    CHECK(!tw_is_pending(&p->timer));
    CHECK(tw_timer_state(&p->timer) == TW_FIRED);
    oracle_remove(w, p);
    p->fired++;
    p->fired_at = w->clock;
    p->fired_as = ++w->fired;
}

static inline void recorder_callback(timingwheel *tw, tw_timer *timer)
{
    probe *p = TW_OWNER(timer, probe, timer);
    CHECK(tw == &p->world->wheel);
    oracle_fired(p->world, p);
    if (p->then != NULL)
        p->then(p); /* may free p */
}

/* Compares every result of the wheel with the list. */
static inline void world_compare(world *w)
{
    uint64_t next = 12345;
    bool some = tw_next_deadline(&w->wheel, &next);
    CHECK(tw_count(&w->wheel) == w->count);
    CHECK(tw_now(&w->wheel) == w->clock);
    if (!some) { /* the clock can reach no pending timer */
        CHECK(w->head == NULL || w->head->tick > UINT64_MAX / w->tick);
        CHECK(next == 12345);
        CHECK(tw_wait(&w->wheel, w->clock, 777) == 777);
    } else if (CHECK(w->head != NULL)) {
        uint64_t due = recorder_time(w->head->tick, w->tick);
        uint64_t wait = tw_wait(&w->wheel, w->clock, UINT64_MAX);
        bool is_due = w->head->tick <= w->clock / w->tick;
        CHECK(next <= due || (is_due && next <= w->clock));
        CHECK(w->stale || is_due || next == due);
        CHECK(w->stale || w->head->tick <= UINT64_MAX / w->tick);
        CHECK(!is_due || wait == 0);
        CHECK(wait == (next > w->clock ? next - w->clock : 0));
    }
    if (++w->compared % RECORDER_CHECK_EVERY == 0 && w->count <= w->deep)
        CHECK(tw_check(&w->wheel));
}

/* ---------------------------------------------------------- operations ---- */

static inline void world_open_limited(world *w, uint64_t tick, uint32_t size,
                                      uint64_t start, size_t max_pending)
{
    memset(w, 0, sizeof *w);
    tw_config config = {tick, start, size, max_pending, NULL};
    config.alloc_context = &w->memory;
    w->tick = tick;
    w->clock = start;
    w->deep = 64;
    w->stale_tick = UINT64_MAX;
    w->turn_count = 1;
    CHECK(tw_init(&w->wheel, &config) == TW_OK);
    world_compare(w);
}

static inline void world_open(world *w, uint64_t tick, uint32_t size,
                              uint64_t start)
{
    world_open_limited(w, tick, size, start, 0);
}

/* Destroys the wheel. Pending timers become idle, and no block may leak. */
static inline void world_close(world *w)
{
    CHECK(tw_check(&w->wheel));
    tw_destroy(&w->wheel);
    while (w->head != NULL) {
        probe *p = w->head;
        oracle_remove(w, p);
        CHECK(tw_timer_state(&p->timer) == TW_IDLE);
    }
    CHECK(w->memory.blocks == 0 && w->memory.strays == 0);
}

static inline void world_adopt(world *w, probe *p)
{
    if (p->world != NULL)
        return;
    p->world = w;
    tw_timer_init(&p->timer, recorder_callback);
}

/* Does to the list what tw_start does to the wheel. A timer that a callback
 * starts overdue does not fire in the running call. */
static inline void oracle_start(world *w, probe *p, uint64_t deadline,
                                bool loose)
{
    uint64_t tick = recorder_ceil(deadline, w->tick);
    bool now = w->inside && tick > w->clock / w->tick;
    if (p->pending) {
        oracle_disturb(w, p);
        oracle_remove(w, p);
    }
    p->from_call = now ? w->call : w->call + 1;
    oracle_insert(w, p, tick, loose);
}

static inline int world_start(world *w, probe *p, uint64_t deadline)
{
    world_adopt(w, p);
    int status = tw_start(&w->wheel, &p->timer, deadline);
    if (status == TW_OK) {
        oracle_start(w, p, deadline, false);
        CHECK(tw_deadline(&p->timer) == deadline);
    }
    CHECK(tw_is_pending(&p->timer) == p->pending);
    if (!w->inside)
        world_compare(w);
    return status;
}

/* Starts a timer, and checks that the start succeeds. */
static inline void world_add(world *w, probe *p, uint64_t deadline)
{
    CHECK(world_start(w, p, deadline) == TW_OK);
}

static inline void world_within(world *w, probe *p, uint64_t earliest,
                                uint64_t latest)
{
    world_adopt(w, p);
    if (!CHECK(tw_start_within(&w->wheel, &p->timer, earliest, latest) ==
               TW_OK))
        return;
    uint64_t chosen = tw_deadline(&p->timer);
    bool boundary = recorder_ceil(earliest, w->tick) <= latest / w->tick;
    CHECK(boundary || chosen == earliest);
    CHECK(!boundary || (chosen >= earliest &&
                        recorder_ceil(chosen, w->tick) <= latest / w->tick));
    oracle_start(w, p, chosen, true);
    if (!w->inside)
        world_compare(w);
}

static inline void world_postpone(world *w, probe *p, uint64_t deadline)
{
    world_adopt(w, p);
    uint64_t before = tw_deadline(&p->timer);
    bool same = p->pending && deadline == before;
    bool lazy = p->pending && deadline > before &&
                recorder_ceil(before, w->tick) > w->clock / w->tick;
    if (!CHECK(tw_postpone(&w->wheel, &p->timer, deadline) == TW_OK))
        return;
    CHECK(tw_deadline(&p->timer) == deadline);
    if (!same)
        oracle_start(w, p, deadline, lazy);
    if (!w->inside)
        world_compare(w);
}

static inline bool world_cancel(world *w, probe *p)
{
    tw_state before = tw_timer_state(&p->timer);
    bool was = tw_cancel(&w->wheel, &p->timer);
    CHECK(was == p->pending);
    CHECK(tw_timer_state(&p->timer) == (was ? TW_CANCELLED : before));
    if (p->pending) {
        oracle_disturb(w, p);
        oracle_remove(w, p);
    }
    if (!w->inside)
        world_compare(w);
    return was;
}

static inline size_t world_advance(world *w, uint64_t now)
{
    uint64_t before = w->fired;
    oracle_begin(w, now);
    w->inside = true;
    size_t fired = tw_advance_clock(&w->wheel, now);
    w->inside = false;
    CHECK(fired == w->fired - before);
    CHECK(oracle_due(w, now) == NULL); /* never late */
    oracle_finish(w);
    if (now > w->clock)
        w->clock = now;
    world_compare(w);
    return fired;
}

/* Makes one limited call, which handles at most `limit` timers. The clock must
 * not pass a timer that is left due. */
static inline size_t world_limited(world *w, uint64_t now, size_t limit)
{
    uint64_t before = w->fired;
    tw_stats was, is;
    tw_get_stats(&w->wheel, &was);
    uint64_t stop = w->wheel.handled + limit;
    if (limit != 0) /* limit 0 does nothing */
        oracle_begin(w, now);
    w->inside = true;
    size_t fired = tw_advance_clock_limit(&w->wheel, now, limit);
    w->inside = false;
    tw_get_stats(&w->wheel, &is);
    uint64_t reached = tw_now(&w->wheel);
    CHECK(fired == w->fired - before);
    CHECK(is.fired - was.fired == fired);
    CHECK(fired + (is.cascaded - was.cascaded) <= limit);
    CHECK(reached >= w->clock && (reached <= now || reached == w->clock));
    w->clock = reached;
    if (oracle_due(w, now) != NULL)
        CHECK(tw_wait(&w->wheel, now, UINT64_MAX) == 0);
    /* The limit also counts slots of cancelled timers. */
    if (limit != 0 && fired + (is.cascaded - was.cascaded) < limit &&
        w->wheel.handled_limit == stop) {
        CHECK(oracle_due(w, now) == NULL);
        oracle_finish(w);
    } else if (limit != 0) {
        oracle_stop(w);
    }
    if (fired + (is.cascaded - was.cascaded) == limit && w->count != 0)
        w->stale = true; /* a bucket may be left half cascaded */
    world_compare(w);
    return fired;
}

/* Makes limited calls until no timer is due at `now`. Returns false if the
 * calls do not end. */
static inline bool world_finish(world *w, uint64_t now, size_t limit)
{
    size_t patience = 100 + 200 * (w->count + 1);
    for (; patience > 0; patience--) {
        world_limited(w, now, limit);
        if (w->clock >= now && tw_wait(&w->wheel, now, 1) != 0)
            return true;
        if (w->count == 0 && w->clock >= now)
            return true;
    }
    return CHECK(patience != 0); /* false: no end */
}

static inline probe *world_poll(world *w, uint64_t now)
{
    oracle_begin(w, now);
    probe *p = (probe *)(void *)tw_poll(&w->wheel, now);
    if (p != NULL) {
        oracle_fired(w, p);
        w->stale = w->count != 0; /* the next call looks at the bucket */
    } else {
        CHECK(oracle_due(w, now) == NULL);
        oracle_finish(w);
        if (now > w->clock)
            w->clock = now;
    }
    world_compare(w);
    return p;
}

/* Works like a loop: sleeps until the next deadline, and advances, up to
 * `until`. A wake-up may fire nothing at most once for each timer that was
 * cancelled, postponed or moved. */
static inline void world_sleep(world *w, uint64_t until)
{
    uint64_t next;
    while (tw_next_deadline(&w->wheel, &next) && next <= until) {
        w->wakes++;
        if (world_advance(w, next) == 0)
            w->idle_wakes++;
        if (!CHECK(w->idle_wakes <= w->disturbed))
            break;
    }
    world_advance(w, until);
}

/* Fires every timer that a clock can reach. Returns true if none is left. */
static inline bool world_exhaust(world *w)
{
    while (w->head != NULL && w->head->tick <= UINT64_MAX / w->tick) {
        size_t count = w->count;
        uint64_t due = recorder_time(w->head->tick, w->tick);
        world_advance(w, due > w->clock ? due : w->clock);
        if (!CHECK(w->count < count)) /* else no end */
            return false;
    }
    return w->count == 0;
}

/* ------------------------------------------------------------- random ----- */

/* splitmix64: small, and the same on every machine. */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t draw_below(uint64_t *state, uint64_t bound)
{
    return draw(state) % bound;
}

/* Returns a number of random length, so that every wheel gets timers. */
static inline uint64_t draw_length(uint64_t *state, unsigned bits)
{
    return draw(state) >> (63 - draw_below(state, bits));
}

/* A random operation on one of `count` probes. Deadlines are at most about
 * 2^bits units before or after the clock. */
static inline void world_random(world *w, probe *probes, size_t count,
                                uint64_t *seed, unsigned bits)
{
    probe *p = &probes[draw_below(seed, count)];
    uint64_t ahead = tw_after(w->clock, draw_length(seed, bits));
    uint64_t next;
    switch (draw_below(seed, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
        world_add(w, p, ahead);
        break;
    case 4:
        world_add(w, p, w->clock - draw_below(seed, w->clock / 2 + 1) / 2);
        break;
    case 5:
        world_within(w, p, ahead, tw_after(ahead, draw_length(seed, bits)));
        break;
    case 6:
        world_postpone(w, p,
                       tw_after(p->pending ? tw_deadline(&p->timer) : ahead,
                                draw_length(seed, bits)));
        break;
    case 7:
        world_postpone(w, p, ahead);
        break;
    case 8:
        world_cancel(w, p);
        break;
    case 9:
        world_advance(w, ahead);
        break;
    case 10:
        if (tw_next_deadline(&w->wheel, &next))
            world_advance(w, next);
        break;
    default:
        world_limited(w, ahead, (size_t)draw_below(seed, 5));
        break;
    }
}

#endif
