/* oracle.h - what a wheel must do, in the most obvious form: two sorted lists.
 *
 * Timers are numbers. The timers that wait for their tick stand in one list, by
 * tick and then in start order. Overdue timers stand in the other list, in
 * start order. A test applies every operation to the wheel and to the oracle,
 * and reports each timer that the wheel fires. The oracle knows nothing of
 * wheels and buckets. Functions that judge return NULL, or what is wrong.
 *
 * A limited call leaves one thing that the oracle cannot always tell: whether
 * the wheel still has a bucket of cancelled or postponed timers to pass. Then
 * `unsure` is set, and the test must make one unlimited call for the oracle's
 * `now` before anything else.
 *
 * Include timingwheel.h first.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct oracle_timer {
    uint64_t deadline; /* the expected tw_deadline */
    uint64_t tick;     /* the deadline in ticks, rounded up */
    uint64_t start;    /* number of the start, from 0 */
    uint64_t started;  /* the clock at the start, in ticks */
    tw_state state;
    bool is_overdue;  /* in the list of overdue timers */
    bool any_place;   /* postponed: fires at any place within its tick */
    bool left_behind; /* by a drain that threw: due, at any place */
} oracle_timer;

#define ORACLE_LEFT 4096

typedef struct oracle {
    uint64_t tick;        /* time units per tick */
    uint64_t now;         /* the clock in time units */
    uint64_t clock;       /* the clock in ticks */
    uint64_t starts;      /* number of starts */
    uint64_t fired;       /* number of timers fired */
    oracle_timer *timers; /* all timers, by number */
    uint32_t *waiting;    /* by tick and start, the last to fire first */
    size_t waiting_count;
    uint32_t *overdue; /* by start */
    size_t overdue_count;

    /* The call in progress, or the call that its limit stopped */
    bool open;              /* there is such a call */
    bool surely;            /* the wheel cannot have ended the call */
    uint64_t target;        /* the last tick to fire */
    uint64_t target_now;    /* the clock at the end */
    uint64_t overdue_until; /* overdue timers of earlier starts fire */
    bool in_call;           /* a call is running */
    bool own;               /* the older call, if any, is finished */
    uint64_t own_now;       /* the argument of the running call */
    bool has_left_behind;   /* a drain threw, and no call has ended since */
    bool unsure;            /* see above */
    uint64_t unsure_now;

    /* The ticks that timers left without firing, the first at the end: each may
     * wake the loop once */
    size_t left_count;
    bool left_full;  /* more ticks than there is room for */
    uint64_t leaves; /* number of ticks left so far */
    uint64_t until;  /* a postponed timer may wake the loop up to this tick */
    uint64_t left[ORACLE_LEFT];
} oracle;

static inline void oracle_init(oracle *o, uint64_t tick, uint64_t start,
                               size_t timers)
{
    memset(o, 0, offsetof(oracle, left));
    o->tick = tick;
    o->now = start;
    o->clock = o->target = start / tick;
    o->timers = (oracle_timer *)calloc(timers, sizeof *o->timers);
    o->waiting = (uint32_t *)calloc(timers, 2 * sizeof *o->waiting);
    if (o->timers == NULL || o->waiting == NULL)
        abort();
    o->overdue = o->waiting + timers;
}

static inline void oracle_free(oracle *o)
{
    free(o->timers);
    free(o->waiting);
}

static inline uint64_t oracle_tick_of(const oracle *o, uint64_t deadline)
{
    return deadline / o->tick + (deadline % o->tick != 0);
}

static inline bool oracle_is_pending(const oracle *o, uint32_t id)
{
    return o->timers[id].state == TW_PENDING;
}

static inline size_t oracle_pending(const oracle *o)
{
    return o->waiting_count + o->overdue_count;
}

/* ----------------------------------------------- ticks that timers left -- */

static inline void oracle_leave_tick(oracle *o, uint64_t tick)
{
    o->leaves++;
    if (o->left_count == ORACLE_LEFT) {
        o->left_full = true;
        return;
    }
    size_t i = o->left_count++;
    for (; i > 0 && tick > o->left[i - 1]; i--)
        o->left[i] = o->left[i - 1];
    o->left[i] = tick;
}

/* Forgets the ticks up to the clock. */
static inline void oracle_pass_ticks(oracle *o)
{
    while (o->left_count != 0 && o->left[o->left_count - 1] <= o->clock)
        o->left_count--;
}

/* ------------------------------------------------------------ operations -- */

static inline bool oracle_is_before(const oracle_timer *a,
                                    const oracle_timer *b)
{
    return a->tick < b->tick || (a->tick == b->tick && a->start < b->start);
}

/* The position in `waiting` of a timer, or the position to insert the timer. */
static inline size_t oracle_position(const oracle *o, const oracle_timer *t)
{
    size_t low = 0, high = o->waiting_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (oracle_is_before(t, &o->timers[o->waiting[middle]]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline void oracle_insert(oracle *o, uint32_t id)
{
    size_t at = oracle_position(o, &o->timers[id]);
    memmove(o->waiting + at + 1, o->waiting + at,
            (o->waiting_count++ - at) * sizeof *o->waiting);
    o->waiting[at] = id;
}

static inline void oracle_remove(oracle *o, uint32_t id)
{
    size_t at = 0;
    if (o->timers[id].is_overdue) {
        while (o->overdue[at] != id)
            at++;
        memmove(o->overdue + at, o->overdue + at + 1,
                (--o->overdue_count - at) * sizeof *o->overdue);
    } else {
        at = oracle_position(o, &o->timers[id]);
        memmove(o->waiting + at, o->waiting + at + 1,
                (--o->waiting_count - at) * sizeof *o->waiting);
    }
}

static inline void oracle_leave(oracle *o, uint32_t id, tw_state state)
{
    oracle_remove(o, id);
    if (!o->timers[id].is_overdue)
        oracle_leave_tick(o, o->timers[id].tick);
    o->timers[id].state = state;
}

static inline void oracle_start(oracle *o, uint32_t id, uint64_t deadline)
{
    oracle_timer *t = &o->timers[id];
    if (t->state == TW_PENDING)
        oracle_leave(o, id, TW_IDLE);
    t->deadline = deadline;
    t->tick = oracle_tick_of(o, deadline);
    t->start = o->starts++;
    t->started = o->clock;
    t->state = TW_PENDING;
    t->any_place = t->left_behind = false;
    t->is_overdue = t->tick <= o->clock;
    if (t->is_overdue)
        o->overdue[o->overdue_count++] = id;
    else
        oracle_insert(o, id);
}

/* The deadline that tw_start_within takes. */
static inline uint64_t oracle_within(const oracle *o, uint64_t earliest,
                                     uint64_t latest)
{
    uint64_t low = oracle_tick_of(o, earliest), high = latest / o->tick;
    if (low > high)
        return earliest;
    if (low <= o->clock && high > o->clock)
        low = o->clock + 1;
    unsigned bit = 0;
    while (bit < 63 && low != 0 && ((high >> bit >> 1) << bit << 1) >= low)
        bit++;
    return low == 0 ? 0 : (high >> bit << bit) * o->tick;
}

/* True if tw_postpone must only write the deadline. */
static inline bool oracle_postpones(const oracle *o, uint32_t id,
                                    uint64_t deadline)
{
    const oracle_timer *t = &o->timers[id];
    return t->state == TW_PENDING && deadline >= t->deadline &&
           (t->tick > o->clock || deadline == t->deadline);
}

static inline void oracle_postpone(oracle *o, uint32_t id, uint64_t deadline)
{
    oracle_timer *t = &o->timers[id];
    uint64_t tick = oracle_tick_of(o, deadline);
    if (!oracle_postpones(o, id, deadline)) {
        oracle_start(o, id, deadline);
    } else if (deadline != t->deadline) {
        oracle_remove(o, id);
        if (tick != t->tick)
            oracle_leave_tick(o, t->tick);
        /* A bucket has at most as many ticks as lay before it at the start. */
        uint64_t until = tw_after(t->tick, t->tick - t->started);
        o->until = until > o->until ? until : o->until;
        t->deadline = deadline;
        t->tick = tick;
        t->any_place = true;
        oracle_insert(o, id);
    }
}

static inline bool oracle_cancel(oracle *o, uint32_t id)
{
    if (!oracle_is_pending(o, id))
        return false;
    oracle_leave(o, id, TW_CANCELLED);
    return true;
}

/* A drain threw before it visited the timer. The timer takes any place within
 * its tick; if it is due, before or among the overdue timers of the next call,
 * or of the call in progress. */
static inline void oracle_leave_behind(oracle *o, uint32_t id)
{
    oracle_timer *t = &o->timers[id];
    oracle_remove(o, id);
    o->leaves++; /* may wake the loop, too */
    t->is_overdue = false;
    t->any_place = o->has_left_behind = true;
    if (t->tick <= o->clock) {
        t->tick = o->clock;
        t->left_behind = true;
    }
    oracle_insert(o, id);
}

/* ----------------------------------------------------------------- calls -- */

static inline const oracle_timer *oracle_first(const oracle *o)
{
    return o->waiting_count == 0 ? NULL
                                 : &o->timers[o->waiting[o->waiting_count - 1]];
}

/* True if the first overdue timer belongs to the call. */
static inline bool oracle_has_overdue(const oracle *o)
{
    return o->open && o->overdue_count != 0 &&
           o->timers[o->overdue[0]].start < o->overdue_until;
}

/* True if a timer of the call is due. */
static inline bool oracle_is_due(const oracle *o)
{
    return oracle_has_overdue(o) || (o->open && o->waiting_count != 0 &&
                                     oracle_first(o)->tick <= o->target);
}

static inline void oracle_begin(oracle *o)
{
    uint64_t target = o->own_now / o->tick;
    o->target = target < o->clock ? o->clock : target;
    o->target_now = o->own_now < o->now ? o->now : o->own_now;
    o->overdue_until = o->starts;
    o->open = o->own = true;
}

static inline void oracle_end(oracle *o)
{
    o->clock = o->target;
    o->now = o->target_now;
    o->open = o->surely = o->has_left_behind = false;
    oracle_pass_ticks(o);
}

/* A call begins. */
static inline void oracle_call(oracle *o, uint64_t now)
{
    o->in_call = true;
    o->own_now = now;
    o->own = false;
    if (!o->open)
        oracle_begin(o);
}

/* If the older call has fired all, begins the own call. */
static inline void oracle_turn(oracle *o)
{
    if (o->own || oracle_is_due(o))
        return;
    oracle_end(o);
    oracle_begin(o);
}

/* True if no timer that was started before `t` for the same tick is waiting,
 * except postponed timers. */
static inline bool oracle_is_oldest(const oracle *o, const oracle_timer *t)
{
    for (size_t i = o->waiting_count; i-- != 0 && !t->any_place;) {
        const oracle_timer *other = &o->timers[o->waiting[i]];
        if (other == t)
            return true;
        if (!other->any_place)
            return false;
    }
    return true;
}

/* The wheel fires a timer. */
static inline const char *oracle_fire(oracle *o, uint32_t id)
{
    oracle_timer *t = &o->timers[id];
    if (!o->in_call)
        return "a timer fires outside of a call";
    if (t->state != TW_PENDING)
        return "a timer fires that is not pending";
    oracle_turn(o);
    if (t->left_behind) {
        /* at any place */
    } else if (oracle_has_overdue(o)) {
        if (o->overdue[0] != id)
            return "a timer fires before an overdue timer";
    } else if (t->is_overdue) {
        return "an overdue timer fires in the call that it was started in, or "
               "before timers of the older call";
    } else if (t->tick > o->target) {
        return "a timer fires early";
    } else if (t->tick != oracle_first(o)->tick) {
        return "a timer fires before a timer of an earlier tick";
    } else if (!oracle_is_oldest(o, t)) {
        return "a timer fires before an older timer of its tick";
    } else if (t->tick > o->clock) {
        o->clock = t->tick;
        o->now = t->tick * o->tick;
    }
    oracle_remove(o, id);
    t->state = TW_FIRED;
    o->fired++;
    return NULL;
}

/* A call that its limit stopped has left the wheel's clock at `now`. A poll
 * that returns a timer of the older call has not ended that call. */
static inline const char *oracle_stop(oracle *o, bool polled, bool moved,
                                      uint64_t now)
{
    if (!o->own && !oracle_is_due(o)) {
        if (now > o->target_now ||
            (now == o->target_now && !moved && o->now < now)) {
            oracle_turn(o);
        } else if (now == o->target_now && !polled) {
            o->unsure = true;
            o->unsure_now = now;
            oracle_turn(o);
        }
    }
    uint64_t latest = o->target_now;
    if (oracle_has_overdue(o))
        latest = o->now;
    else if (oracle_is_due(o))
        latest = oracle_first(o)->tick <= o->clock
                     ? o->now
                     : oracle_first(o)->tick * o->tick;
    if (now < o->now || now > latest)
        return "a limited call leaves the clock at a wrong time";
    o->now = now;
    o->clock = now / o->tick;
    o->surely = polled || oracle_is_due(o) || now < o->target_now;
    return NULL;
}

/* A call has returned, with the wheel's clock at `now`. `complete`: nothing may
 * be left. `polled`: a call of tw_poll. `moved`: the call has moved timers. */
static inline const char *oracle_return(oracle *o, bool complete, bool polled,
                                        bool moved, uint64_t now)
{
    bool unsure = o->unsure;
    o->in_call = o->unsure = false;
    if (!complete)
        return oracle_stop(o, polled, moved, now);
    if (unsure && !o->own && now == o->unsure_now && now == o->now) {
        /* The call before had not begun, and its time is forgotten. */
        if (oracle_has_overdue(o))
            return "an overdue timer has not fired";
        o->target = o->clock;
        o->target_now = o->now;
        oracle_end(o);
        return NULL;
    }
    oracle_turn(o);
    if (oracle_is_due(o))
        return "a due timer has not fired";
    oracle_end(o);
    return o->now == now ? NULL : "the clock is wrong after a call";
}

/* ------------------------------------------------------------ waking up -- */

/* Judges an answer of tw_next_deadline. */
static inline const char *oracle_next(const oracle *o, bool found,
                                      uint64_t deadline)
{
    const oracle_timer *first = oracle_first(o);
    bool reachable = first != NULL && first->tick <= UINT64_MAX / o->tick;
    bool is_due = first != NULL && first->tick <= o->clock;
    if (o->has_left_behind && found && deadline <= o->now)
        return NULL;
    if (o->overdue_count != 0 || is_due)
        return found && deadline <= o->now ? NULL
                                           : "tw_next_deadline is after the "
                                             "clock though timers are due";
    if (oracle_is_due(o) && found && deadline <= o->now)
        return NULL; /* a limited call has stopped while a bucket cascades */
    if (oracle_pending(o) == 0)
        return found ? "tw_next_deadline has an answer without timers" : NULL;
    if (reachable && (!found || deadline > first->tick * o->tick))
        return "tw_next_deadline is late";
    if (!found || (reachable && deadline == first->tick * o->tick) ||
        o->left_full || deadline / o->tick <= o->until)
        return NULL;
    if (o->left_count == 0 || deadline / o->tick < o->left[o->left_count - 1])
        return "tw_next_deadline is early though no timer has left its tick";
    return NULL;
}

#endif
