/* oracle.h - the wheel's contract in its most obvious form: a sorted list.
 *
 * Timers are known by number. The pending ones stand in an array in the order
 * in which they have to fire: by the tick of their deadline, then by start.
 * Nothing here knows how the library works inside. A test does everything
 * twice, to the wheel and to the oracle, and the oracle says what is wrong:
 * functions that judge return NULL, or a sentence.
 *
 * Include timingwheel.h first.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a timer has to look like from outside. */
typedef struct oracle_timer {
    uint64_t deadline;   /* as tw_deadline has to tell it                    */
    uint64_t tick_index; /* the deadline in ticks, rounded up; if pending    */
    uint64_t sequence;   /* how many starts came before its own; if pending  */
    tw_state state;
} oracle_timer;

/* A pending timer. */
typedef struct oracle_entry {
    uint64_t tick_index;
    uint64_t sequence;
    uint32_t id;
    bool any_place; /* postponed or slack: anywhere within its tick          */
    bool deferred;  /* started overdue in a callback: not in this call       */
    bool either;    /* deferred, but it may fire in this call all the same   */
} oracle_entry;

/* Ticks, ascending, each once. */
typedef struct oracle_ticks {
    uint64_t *ticks;
    size_t count;
    size_t capacity;
} oracle_ticks;

typedef struct oracle {
    uint64_t tick;         /* time units per tick                            */
    uint64_t now;          /* the clock, in time units                       */
    uint64_t call_now;     /* what the running call was given                */
    uint64_t target;       /* the last tick that it fires                    */
    bool in_call;          /* is one running?                                */
    bool unfinished;       /* did the last one stop early?                   */
    bool marked;           /* has it an entry that is deferred?              */
    bool refused;          /* for the test to set: memory, in this call      */
    uint64_t sequence;     /* starts so far                                  */
    size_t count;          /* timers pending                                 */
    oracle_entry *entries; /* these, in firing order                         */
    oracle_timer *timers;  /* all timers, by number                          */
    oracle_ticks stale;    /* ticks of timers cancelled, postponed or moved, */
                           /* at each of which one wake-up may be in vain    */
    oracle_ticks late;     /* the same, for timers that only the next call   */
                           /* would have fired                               */
} oracle;

static inline void *oracle_memory(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes);
    if (memory == NULL)
        abort();
    return memory;
}

/* For timers 0 .. timers-1, all of them idle. */
static inline void oracle_init(oracle *o, uint64_t tick, uint64_t start,
                               size_t timers)
{
    memset(o, 0, sizeof(*o));
    o->tick = tick;
    o->now = start;
    o->entries =
        (oracle_entry *)oracle_memory(NULL, timers * sizeof(*o->entries));
    o->timers =
        (oracle_timer *)oracle_memory(NULL, timers * sizeof(*o->timers));
    memset(o->timers, 0, timers * sizeof(*o->timers));
}

static inline void oracle_free(oracle *o)
{
    free(o->entries);
    free(o->timers);
    free(o->stale.ticks);
    free(o->late.ticks);
}

/* ---------------------------------------------------------------- ticks -- */

/* The tick of a deadline: never before it. */
static inline uint64_t oracle_tick_of(const oracle *o, uint64_t deadline)
{
    return deadline / o->tick + (deadline % o->tick != 0);
}

/* The time of a tick; UINT64_MAX if that is beyond 64 bits. */
static inline uint64_t oracle_time_of(const oracle *o, uint64_t tick_index)
{
    return tick_index > UINT64_MAX / o->tick ? UINT64_MAX
                                             : tick_index * o->tick;
}

/* The clock in ticks. */
static inline uint64_t oracle_clock(const oracle *o)
{
    return o->now / o->tick;
}

static inline size_t oracle_ticks_position(const oracle_ticks *set,
                                           uint64_t tick_index)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->ticks[middle] < tick_index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool oracle_ticks_have(const oracle_ticks *set,
                                     uint64_t tick_index)
{
    size_t at = oracle_ticks_position(set, tick_index);
    return at < set->count && set->ticks[at] == tick_index;
}

static inline void oracle_ticks_add(oracle_ticks *set, uint64_t tick_index)
{
    size_t at = oracle_ticks_position(set, tick_index);
    if (at < set->count && set->ticks[at] == tick_index)
        return;
    if (set->count == set->capacity) {
        set->capacity = set->capacity * 2 + 16;
        set->ticks = (uint64_t *)oracle_memory(
            set->ticks, set->capacity * sizeof(*set->ticks));
    }
    memmove(set->ticks + at + 1, set->ticks + at,
            (set->count - at) * sizeof(*set->ticks));
    set->ticks[at] = tick_index;
    set->count++;
}

/* Takes out the first `count`. */
static inline void oracle_ticks_drop(oracle_ticks *set, size_t count)
{
    if (count == 0)
        return;
    set->count -= count;
    memmove(set->ticks, set->ticks + count, set->count * sizeof(*set->ticks));
}

/* ------------------------------------------------------- pending timers -- */

/* Where the entry of that tick and start stands, or would. */
static inline size_t oracle_position(const oracle *o, uint64_t tick_index,
                                     uint64_t sequence)
{
    size_t low = 0, high = o->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const oracle_entry *entry = &o->entries[middle];
        if (entry->tick_index < tick_index ||
            (entry->tick_index == tick_index && entry->sequence < sequence))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool oracle_is_pending(const oracle *o, uint32_t id)
{
    return o->timers[id].state == TW_PENDING;
}

static inline size_t oracle_find(const oracle *o, uint32_t id)
{
    return oracle_position(o, o->timers[id].tick_index, o->timers[id].sequence);
}

static inline void oracle_insert(oracle *o, oracle_entry entry)
{
    size_t at = oracle_position(o, entry.tick_index, entry.sequence);
    memmove(o->entries + at + 1, o->entries + at,
            (o->count - at) * sizeof(*o->entries));
    o->entries[at] = entry;
    o->count++;
    o->timers[entry.id].tick_index = entry.tick_index;
    o->timers[entry.id].sequence = entry.sequence;
    o->timers[entry.id].state = TW_PENDING;
}

static inline oracle_entry oracle_remove(oracle *o, uint32_t id)
{
    size_t at = oracle_find(o, id);
    oracle_entry entry = o->entries[at];
    o->count--;
    memmove(o->entries + at, o->entries + at + 1,
            (o->count - at) * sizeof(*o->entries));
    return entry;
}

/* Where nothing is pending nothing can wake the loop in vain. */
static inline void oracle_forget_if_empty(oracle *o)
{
    if (o->count != 0)
        return;
    o->stale.count = 0;
    o->late.count = 0;
}

/* The timer leaves its tick otherwise than by firing: that tick may still wake
 * the loop, once. */
static inline oracle_entry oracle_leave(oracle *o, uint32_t id)
{
    oracle_entry entry = oracle_remove(o, id);
    oracle_ticks_add(entry.deferred ? &o->late : &o->stale, entry.tick_index);
    return entry;
}

/* -------------------------------------------- start, cancel and postpone -- */

static inline void oracle_start(oracle *o, uint32_t id, uint64_t deadline,
                                bool any_place)
{
    oracle_entry entry;
    if (oracle_is_pending(o, id))
        oracle_leave(o, id);
    entry.tick_index = oracle_tick_of(o, deadline);
    entry.sequence = o->sequence++;
    entry.id = id;
    entry.any_place = any_place;
    entry.deferred = o->in_call && entry.tick_index <= oracle_clock(o);
    entry.either = false;
    o->marked |= entry.deferred;
    oracle_insert(o, entry);
    o->timers[id].deadline = deadline;
}

/* Would tw_postpone be nothing but a store? */
static inline bool oracle_is_later(const oracle *o, uint32_t id,
                                   uint64_t deadline)
{
    return oracle_is_pending(o, id) && deadline >= o->timers[id].deadline;
}

/* A timer that was started overdue in a callback belongs to the next call. If
 * it is then postponed to a tick that this call still reaches, this call has to
 * fire it. Postponed to the very tick that is being fired it waits all the
 * same; only where memory was refused it need not. */
static inline void oracle_postpone(oracle *o, uint32_t id, uint64_t deadline)
{
    if (!oracle_is_later(o, id, deadline)) {
        oracle_start(o, id, deadline, false);
        return;
    }
    oracle_entry entry = oracle_leave(o, id);
    entry.tick_index = oracle_tick_of(o, deadline);
    entry.any_place = true;
    if (entry.tick_index > oracle_clock(o))
        entry.deferred = false;
    entry.either = o->refused && entry.tick_index == oracle_clock(o);
    oracle_insert(o, entry);
    o->timers[id].deadline = deadline;
}

static inline bool oracle_cancel(oracle *o, uint32_t id)
{
    if (!oracle_is_pending(o, id))
        return false;
    oracle_leave(o, id);
    o->timers[id].state = TW_CANCELLED;
    oracle_forget_if_empty(o);
    return true;
}

/* tw_drain begins: it empties every bucket, so nothing stale is left. */
static inline void oracle_begin_drain(oracle *o)
{
    o->stale.count = 0;
    o->late.count = 0;
    o->unfinished = false;
}

/* One timer has been drained. */
static inline void oracle_drain(oracle *o, uint32_t id)
{
    oracle_remove(o, id);
    o->timers[id].state = TW_IDLE;
}

/* Is `chosen` a right choice for tw_start_within? It has to be in the window,
 * ahead of the clock where the window is, and a multiple of the highest power
 * of the wheel size that the window holds a multiple of. */
static inline const char *oracle_judge_window(const oracle *o,
                                              uint64_t earliest,
                                              uint64_t latest, uint64_t chosen,
                                              uint32_t wheel_size)
{
    uint64_t low = oracle_tick_of(o, earliest), high = latest / o->tick;
    uint64_t tick_index = oracle_tick_of(o, chosen);
    if (low > high)
        return chosen == earliest ? NULL : "without a tick: not earliest";
    if (chosen < earliest || chosen > latest || tick_index > high)
        return "the chosen deadline is outside of the window";
    if (high <= oracle_clock(o))
        return NULL;
    if (low <= oracle_clock(o))
        low = oracle_clock(o) + 1;
    if (tick_index < low)
        return "the chosen deadline has passed, others in the window have not";
    uint64_t step = 1;
    while (step <= UINT64_MAX / wheel_size &&
           high - high % (step * wheel_size) >= low)
        step *= wheel_size;
    return tick_index % step == 0 ? NULL : "there is a rounder tick";
}

/* -------------------------------------------------------------- advancing ---
 * A call is oracle_begin, oracle_fire for each timer that the library fires,
 * and oracle_finish, or oracle_stop for one that may have stopped early. */

static inline void oracle_begin(oracle *o, uint64_t now)
{
    o->call_now = now;
    o->target = now / o->tick;
    if (o->target < oracle_clock(o))
        o->target = oracle_clock(o);
    o->in_call = true;
    o->refused = false;
    for (size_t i = 0; i < o->late.count; i++)
        oracle_ticks_add(&o->stale, o->late.ticks[i]);
    o->late.count = 0;
    for (size_t i = 0; o->marked && i < o->count; i++)
        o->entries[i].deferred = false;
    o->marked = false;
}

/* The first timer that the running call has to fire, or NULL. */
static inline const oracle_entry *oracle_first_due(const oracle *o)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->entries[i].tick_index > o->target)
            break;
        if (!o->entries[i].deferred)
            return &o->entries[i];
    }
    return NULL;
}

/* May the entry at `at` fire before all others? */
static inline const char *oracle_judge_turn(const oracle *o, size_t at)
{
    const oracle_entry *entry = &o->entries[at];
    if (entry->tick_index > o->target)
        return "fired early";
    if (entry->deferred && !entry->either)
        return "fired in the call in which it was started for the past";
    for (size_t i = 0; i < at; i++) {
        const oracle_entry *before = &o->entries[i];
        if (before->deferred)
            continue;
        if (before->tick_index < entry->tick_index)
            return "fired before a timer of an earlier tick";
        if (!before->any_place && !entry->any_place)
            return "fired before a timer of its tick that was started first";
    }
    return NULL;
}

/* The library fires a timer. */
static inline const char *oracle_fire(oracle *o, uint32_t id)
{
    if (!oracle_is_pending(o, id))
        return "fired without being pending";
    const char *wrong = oracle_judge_turn(o, oracle_find(o, id));
    if (wrong != NULL)
        return wrong;
    oracle_entry entry = oracle_remove(o, id);
    if (entry.tick_index > oracle_clock(o))
        o->now = entry.tick_index * o->tick;
    o->timers[id].state = TW_FIRED;
    oracle_forget_if_empty(o);
    return NULL;
}

/* The call has ended, with everything done. */
static inline const char *oracle_finish(oracle *o)
{
    if (oracle_first_due(o) != NULL)
        return "a timer that was due has not fired";
    if (o->now < o->call_now)
        o->now = o->call_now;
    o->in_call = false;
    o->unfinished = false;
    size_t passed = 0;
    while (passed < o->stale.count &&
           o->stale.ticks[passed] <= oracle_clock(o))
        passed++;
    oracle_ticks_drop(&o->stale, passed);
    return NULL;
}

/* The call has ended, perhaps with something left, at the reading `now`. The
 * clock may be ahead of the last timer fired, for cascades have their ticks
 * too, but no timer may be left behind it. */
static inline const char *oracle_stop(oracle *o, uint64_t now)
{
    const oracle_entry *first = oracle_first_due(o);
    if (now < o->now || (now > o->now && now > o->call_now))
        return "the clock is not between the last timer fired and the target";
    if (now > o->now && now % o->tick != 0 &&
        (now != o->call_now || first != NULL))
        return "the clock does not stand at a tick";
    if (now > o->now && first != NULL && first->tick_index < now / o->tick)
        return "the clock has passed a timer that was due";
    o->now = now;
    o->in_call = false;
    o->unfinished = true;
    return NULL;
}

/* --------------------------------------------------------- next deadline -- */

/* Is what tw_next_deadline says right? Later than the first timer is always
 * wrong. Earlier is right where a timer has left that tick; at the clock, while
 * a call has something left to do; and before it inside a call, where overdue
 * timers may be out of order. */
static inline const char *oracle_judge_next(const oracle *o, bool found,
                                            uint64_t deadline)
{
    if (!found || o->count == 0)
        return found == (o->count != 0) ? NULL : "next deadline: wrong result";
    uint64_t exact = o->entries[0].tick_index;
    if (deadline == oracle_time_of(o, exact))
        return NULL;
    if (deadline > oracle_time_of(o, exact))
        return "the next deadline is too late";
    if (deadline % o->tick != 0)
        return "the next deadline is not a tick";
    uint64_t tick_index = deadline / o->tick;
    if (oracle_ticks_have(&o->stale, tick_index) ||
        oracle_ticks_have(&o->late, tick_index))
        return NULL;
    if (o->in_call ? tick_index <= oracle_clock(o)
                   : o->unfinished && tick_index == oracle_clock(o))
        return NULL;
    return "the next deadline is too early";
}

/* What tw_wait has to answer, given what tw_next_deadline says. Where the
 * next timer is out of the clock's reach there is nothing to wake up for. */
static inline uint64_t oracle_wait(const oracle *o, uint64_t next,
                                   uint64_t now, uint64_t longest)
{
    if (o->count == 0)
        return longest;
    if (o->entries[0].tick_index > UINT64_MAX / o->tick && next == UINT64_MAX)
        return longest;
    if (next / o->tick <= oracle_clock(o) || next <= now)
        return 0;
    return next - now < longest ? next - now : longest;
}

#endif
