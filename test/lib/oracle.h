/* oracle.h - the wheel's contract in its most obvious form: a sorted list.
 *
 * Timers are known by number. Pending timers stand in an array. Overdue timers
 * come first, by start. Then come all remaining timers, by the tick of their
 * deadline and by start. Timers must fire in the order of the array, with one
 * exception: timers that a limited call has left due fire before timers that
 * were started overdue since. The oracle knows nothing of the inside of the
 * library, except for the bounds on moved timers at the end. A test applies
 * every operation to the wheel and to the oracle. Functions that judge return
 * NULL, or a sentence about the fault.
 *
 * The oracles of recorder.h, memory.c and exhaustive.c are independent on
 * purpose: a misreading of the contract would have to be made in each.
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

/* The expected state of a timer, as visible from outside. */
typedef struct oracle_timer {
    uint64_t deadline;   /* the expected tw_deadline */
    uint64_t tick_index; /* of the entry; if pending */
    uint64_t sequence;   /* starts before the entry's own; if pending */
    tw_state state;
} oracle_timer;

/* A pending timer. Tick 0 means overdue: the tick of any timer that is not
 * overdue was ahead of the clock at the start. */
typedef struct oracle_entry {
    uint64_t tick_index; /* the deadline in ticks, rounded up; 0: overdue */
    uint64_t sequence;
    uint32_t id;
    bool any_place; /* postponed or slack: any place in its tick */
} oracle_entry;

/* Ticks, ascending, each once. */
typedef struct oracle_ticks {
    uint64_t *ticks;
    size_t count;
    size_t capacity;
} oracle_ticks;

typedef struct oracle_moves oracle_moves;

/* One turn. First fire the overdue timers with a sequence below
 * `overdue_until`. Then fire timers of ticks up to `due_until`. */
typedef struct oracle_turn {
    uint64_t overdue_until;
    uint64_t due_until;
} oracle_turn;

typedef struct oracle {
    uint64_t tick;         /* time units per tick */
    uint64_t now;          /* the clock, in time units */
    uint64_t call_now;     /* the `now` of the running call */
    uint64_t target;       /* the last tick to fire in the running call */
    bool in_call;          /* a call is running */
    bool finished;         /* the last call has fired every due timer */
    uint64_t sequence;     /* number of starts */
    uint64_t before_call;  /* starts before the running call, or the last */
    oracle_turn turns[4];  /* turns of calls that left timers due, and of */
                           /* the running call */
    unsigned turn_count;   /* at least 1 */
    uint64_t last_overdue; /* starts up to the last overdue start; 0 if */
                           /* none */
    bool loose;            /* the oracle does not know the turns */
    size_t count;          /* timers pending */
    oracle_entry *entries; /* pending timers, in firing order */
    oracle_timer *timers;  /* all timers, by number */
    oracle_ticks stale;    /* ticks of timers cancelled, postponed or moved, */
                           /* each of which may cause one useless wake-up */
    unsigned stale_calls;  /* the same for overdue timers: number of calls */
                           /* to finish before useless wake-ups must end */
    oracle_moves *moves;   /* bound on the timers that a call moves; may */
                           /* be NULL */
} oracle;

static inline void *oracle_memory(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes);
    if (memory == NULL)
        abort();
    return memory;
}

/* Sets up an oracle for the timers 0 to timers - 1, all idle. */
static inline void oracle_init(oracle *o, uint64_t tick, uint64_t start,
                               size_t timers)
{
    memset(o, 0, sizeof(*o));
    o->tick = tick;
    o->now = start;
    o->finished = true;
    o->turn_count = 1;
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
}

/* ---------------------------------------------------------------- ticks -- */

/* The tick of a deadline, rounded up. */
static inline uint64_t oracle_tick_of(const oracle *o, uint64_t deadline)
{
    return deadline / o->tick + (deadline % o->tick != 0);
}

/* The time of a tick; UINT64_MAX if the time is beyond 64 bits. */
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

/* Inserts a tick at a position. */
static inline void oracle_ticks_insert(oracle_ticks *set, size_t at,
                                       uint64_t tick_index)
{
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

static inline void oracle_ticks_add(oracle_ticks *set, uint64_t tick_index)
{
    size_t at = oracle_ticks_position(set, tick_index);
    if (at == set->count || set->ticks[at] != tick_index)
        oracle_ticks_insert(set, at, tick_index);
}

/* Removes the first `count` ticks. */
static inline void oracle_ticks_drop(oracle_ticks *set, size_t count)
{
    if (count == 0)
        return;
    set->count -= count;
    memmove(set->ticks, set->ticks + count, set->count * sizeof(*set->ticks));
}

/* ------------------------------------------------------- pending timers -- */

/* The position of the entry with a tick and a sequence, or the position to
 * insert such an entry. */
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

/* True if the timer was started overdue in the running call, and so fires in
 * the next call. */
static inline bool oracle_is_deferred(const oracle *o,
                                      const oracle_entry *entry)
{
    return o->in_call && entry->tick_index == 0 &&
           entry->sequence >= o->before_call;
}

static inline size_t oracle_find(const oracle *o, uint32_t id)
{
    return oracle_position(o, o->timers[id].tick_index, o->timers[id].sequence);
}

static inline void oracle_moves_place(oracle_moves *m, uint64_t tick_index);
static inline void oracle_moves_postpone(oracle_moves *m, uint64_t from,
                                         uint64_t to);

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

/* Removes a timer that leaves its tick without firing. The tick may still wake
 * the loop, once. */
static inline oracle_entry oracle_leave(oracle *o, uint32_t id)
{
    oracle_entry entry = oracle_remove(o, id);
    if (entry.tick_index != 0)
        oracle_ticks_add(&o->stale, entry.tick_index);
    else if (oracle_is_deferred(o, &entry))
        o->stale_calls = 2;
    else if (o->stale_calls == 0)
        o->stale_calls = 1;
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
    if (entry.tick_index <= oracle_clock(o))
        entry.tick_index = 0;
    entry.sequence = o->sequence++;
    if (entry.tick_index == 0)
        o->last_overdue = o->sequence;
    entry.id = id;
    entry.any_place = any_place && entry.tick_index != 0;
    if (o->moves != NULL)
        oracle_moves_place(o->moves, entry.tick_index);
    oracle_insert(o, entry);
    o->timers[id].deadline = deadline;
}

/* True if tw_postpone to `deadline` must succeed, because the timer moves later
 * or stays. In all remaining cases tw_postpone is tw_start. */
static inline bool oracle_is_later(const oracle *o, uint32_t id,
                                   uint64_t deadline)
{
    uint64_t before = o->timers[id].deadline;
    return oracle_is_pending(o, id) &&
           (deadline == before ||
            (deadline > before && oracle_tick_of(o, before) > oracle_clock(o)));
}

static inline void oracle_postpone(oracle *o, uint32_t id, uint64_t deadline)
{
    if (!oracle_is_later(o, id, deadline)) {
        oracle_start(o, id, deadline, false);
        return;
    }
    if (deadline == o->timers[id].deadline)
        return;
    oracle_entry entry = oracle_leave(o, id);
    uint64_t from = entry.tick_index;
    entry.tick_index = oracle_tick_of(o, deadline);
    entry.any_place = true;
    if (o->moves != NULL)
        oracle_moves_postpone(o->moves, from, entry.tick_index);
    oracle_insert(o, entry);
    o->timers[id].deadline = deadline;
}

static inline bool oracle_cancel(oracle *o, uint32_t id)
{
    if (!oracle_is_pending(o, id))
        return false;
    oracle_leave(o, id);
    o->timers[id].state = TW_CANCELLED;
    return true;
}

/* tw_drain begins. It empties every bucket, so no stale tick is left. */
static inline void oracle_begin_drain(oracle *o)
{
    o->stale.count = 0;
    o->stale_calls = 0;
    o->turns[0] = o->turns[o->turn_count - 1];
    o->turn_count = 1;
    o->last_overdue = 0;
}

/* tw_drain has visited a timer. */
static inline void oracle_drain(oracle *o, uint32_t id)
{
    oracle_remove(o, id);
    o->timers[id].state = TW_IDLE;
}

/* Judges the deadline that tw_start_within has chosen. The deadline must be in
 * the window. If part of the window is ahead of the clock, the deadline must be
 * ahead of the clock, too. The tick must be a multiple of the highest power of
 * the wheel size that has a multiple in the window. */
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

/* The number of the turn in which an entry fires. */
static inline unsigned oracle_turn_of(const oracle *o,
                                      const oracle_entry *entry)
{
    unsigned i = 0;
    while (i < o->turn_count &&
           (entry->tick_index == 0
                ? entry->sequence >= o->turns[i].overdue_until
                : entry->tick_index > o->turns[i].due_until))
        i++;
    return i;
}

/* Drops the turns before turn `first`. */
static inline void oracle_drop_turns(oracle *o, unsigned first)
{
    if (first == 0)
        return;
    o->turn_count -= first;
    for (unsigned i = 0; i < o->turn_count; i++)
        o->turns[i] = o->turns[first + i];
}

/* Drops turns without timers, except the last turn. If a timer has left without
 * firing, the library may not know yet that a turn is over. */
static inline void oracle_drop_empty_turns(oracle *o)
{
    unsigned first = o->turn_count - 1;
    for (size_t i = 0; i < o->count; i++) {
        unsigned turn = oracle_turn_of(o, &o->entries[i]);
        first = turn < first ? turn : first;
    }
    if (first != 0 && (o->stale_calls != 0 ||
                       (o->stale.count != 0 &&
                        o->stale.ticks[0] <= o->turns[first - 1].due_until)))
        o->loose = true;
    oracle_drop_turns(o, first);
}

static inline void oracle_begin(oracle *o, uint64_t now)
{
    o->call_now = now;
    o->target = now / o->tick;
    if (o->target < oracle_clock(o))
        o->target = oracle_clock(o);
    o->in_call = true;
    o->finished = false;
    o->before_call = o->sequence;
    for (unsigned i = 0; i < o->turn_count; i++)
        if (o->turns[i].due_until > o->target)
            o->turns[i].due_until = o->target;
    if (o->last_overdue > o->turns[o->turn_count - 1].overdue_until) {
        if (o->turn_count == 4)
            o->loose = true;
        else
            o->turn_count++;
    }
    o->turns[o->turn_count - 1].overdue_until = o->sequence;
    o->turns[o->turn_count - 1].due_until = o->target;
}

/* The first timer that the running call must fire, or NULL. */
static inline const oracle_entry *oracle_first_due(const oracle *o)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->entries[i].tick_index > o->target)
            break;
        if (!oracle_is_deferred(o, &o->entries[i]))
            return &o->entries[i];
    }
    return NULL;
}

/* Judges whether the entry at `at` may fire first. */
static inline const char *oracle_judge_turn(const oracle *o, size_t at)
{
    const oracle_entry *entry = &o->entries[at];
    if (entry->tick_index > o->target)
        return "fired early";
    if (oracle_is_deferred(o, entry))
        return "fired in the call in which it was started for the past";
    for (size_t i = 0; i < at; i++) {
        const oracle_entry *before = &o->entries[i];
        if (oracle_is_deferred(o, before))
            continue;
        if (before->tick_index == 0 && entry->tick_index != 0 &&
            (o->loose || oracle_turn_of(o, entry) < oracle_turn_of(o, before)))
            continue;
        if (before->tick_index < entry->tick_index)
            return before->tick_index == 0
                       ? "fired before an overdue timer"
                       : "fired before a timer of an earlier tick";
        if (!before->any_place && !entry->any_place)
            return entry->tick_index == 0
                       ? "fired before an overdue timer that was started first"
                       : "fired before a timer of its tick that was started "
                         "first";
    }
    for (size_t i = at + 1; i < o->count && !o->loose; i++)
        if (oracle_turn_of(o, &o->entries[i]) < oracle_turn_of(o, entry))
            return "fired before a timer that an earlier call has left due";
    return NULL;
}

/* The library fires a timer, with its clock at `now`. If an overdue timer had
 * to wait for an earlier turn, the clock may have moved on, to the tick of a
 * cancelled or moved timer. */
static inline const char *oracle_fire(oracle *o, uint32_t id, uint64_t now)
{
    if (!oracle_is_pending(o, id))
        return "fired without being pending";
    const char *wrong = oracle_judge_turn(o, oracle_find(o, id));
    if (wrong != NULL)
        return wrong;
    oracle_entry entry = oracle_remove(o, id);
    if (entry.tick_index > oracle_clock(o))
        o->now = entry.tick_index * o->tick;
    unsigned turn = oracle_turn_of(o, &entry);
    if (now > o->now &&
        ((o->loose && now <= o->target * o->tick) ||
         (turn != 0 && now <= o->turns[turn - 1].due_until * o->tick)))
        o->now = now;
    oracle_drop_turns(o, turn);
    o->timers[id].state = TW_FIRED;
    return NULL;
}

/* The call has ended, and every due timer has fired. */
static inline const char *oracle_finish(oracle *o)
{
    if (oracle_first_due(o) != NULL)
        return "a timer that was due has not fired";
    if (o->now < o->call_now)
        o->now = o->call_now;
    o->in_call = false;
    o->finished = true;
    o->loose = false;
    oracle_drop_turns(o, o->turn_count - 1);
    o->stale_calls -= o->stale_calls != 0;
    size_t passed = 0;
    while (passed < o->stale.count && o->stale.ticks[passed] <= oracle_clock(o))
        passed++;
    oracle_ticks_drop(&o->stale, passed);
    return NULL;
}

/* The call has ended at the reading `now`, and timers may be left due. The
 * clock may be ahead of the last timer fired, because cascades have ticks, too.
 * But the clock must not have passed a timer that is still due. */
static inline const char *oracle_stop(oracle *o, uint64_t now)
{
    const oracle_entry *first = oracle_first_due(o);
    if (now < o->now || (now > o->now && now > o->call_now))
        return "the clock is not between the last timer fired and the target";
    if (now > o->now && now % o->tick != 0 &&
        (now != o->call_now || first != NULL))
        return "the clock does not stand at a tick";
    for (size_t i = 0; i < o->count && now > o->now; i++)
        if (o->entries[i].tick_index != 0 &&
            o->entries[i].tick_index < now / o->tick)
            return "the clock has passed a timer that was due";
    o->now = now;
    o->in_call = false;
    oracle_drop_empty_turns(o);
    return NULL;
}

/* --------------------------------------------------------- next deadline -- */

/* Judges tw_next_deadline. A deadline later than the first timer is always
 * wrong, and so is a deadline later than the clock while a timer is overdue. An
 * early deadline is right in two cases. A timer has left the tick of the
 * deadline. Or the deadline is at the clock, and the last call is not finished:
 * the call may still have to move a postponed timer. A tick beyond 64 bits is
 * no deadline. */
static inline const char *oracle_judge_next(const oracle *o, bool found,
                                            uint64_t deadline)
{
    uint64_t exact = o->count == 0 ? 0 : o->entries[0].tick_index;
    bool is_out_of_reach = exact > UINT64_MAX / o->tick;
    if (o->count == 0 || !found)
        return found == (o->count != 0 && !is_out_of_reach)
                   ? NULL
                   : "next deadline: wrong result";
    uint64_t latest = exact == 0 ? o->now : oracle_time_of(o, exact);
    uint64_t tick_index = deadline / o->tick;
    if (deadline > latest)
        return "the next deadline is too late";
    if (exact != 0 && !is_out_of_reach && deadline == latest)
        return NULL;
    if (deadline % o->tick != 0)
        return "the next deadline is not a tick";
    if (exact == 0 || oracle_ticks_have(&o->stale, tick_index))
        return NULL;
    if (tick_index <= oracle_clock(o) && o->stale_calls != 0)
        return NULL;
    if (tick_index == oracle_clock(o) && !o->finished)
        return NULL;
    return "the next deadline is too early";
}

/* The expected tw_wait, computed from the result of tw_next_deadline. */
static inline uint64_t oracle_wait(const oracle *o, bool found, uint64_t next,
                                   uint64_t now, uint64_t longest)
{
    if (!found)
        return longest;
    if (next / o->tick <= oracle_clock(o) || next <= now)
        return 0;
    return next - now < longest ? next - now : longest;
}

/* ------------------------------------------------------- moved timers ---
 * Two bounds limit the timers that calls move while no allocation fails. The
 * second bound stands below ("moves down").
 *
 * Promise 16 limits the timers that all calls move, from the end of a finished
 * call to the end of the next finished call. The bound follows from the
 * contract and from a fact about wheels. At each level above 0 the ticks fall
 * into blocks of wheel_size^level ticks, and a timer at a level waits with the
 * timers of its block. Timers move only
 *
 *   - out of a block that the clock has entered or passed, or
 *   - out of the next block, in proportion to the time passed.
 *
 * This part counts placements: the ticks ahead of the clock for which timers
 * were started or postponed. A placement stays when its timer is cancelled,
 * because a cancelled timer still takes room in a bucket. So the bound on a
 * share is a share of all placements of a block.
 *
 * When the clock enters block s - 1, block s has `base` placements. When the
 * clock is at c in block s - 1, at most base * (start of s - c) / step + rest
 * placements are left to move. `rest` covers buckets with few timers, which
 * need not move, and the rounding of batches. When the clock enters block s,
 * the timers left become the level's `own`. Each timer of `own` may move once,
 * in any call. The timer may land in a block s of a finer level: `late` counts
 * such timers.
 *
 * A share is rounded up to whole chunks in each call. What a limit keeps a call
 * from moving, a later call moves. So each call that did not finish allows one
 * chunk more.
 *
 * The first block of each block of the next level is exempt: its timers move
 * down from the next level at the same time. All of `base` may be left then. */

#define ORACLE_LEVELS 64

/* Which buckets never cascade: buckets of at most `timers` timers, unless they
 * have more than `slots` slots, or, if their step has more than 256 ticks, more
 * than `chunk` timers. Dead slots count as slots. */
typedef struct oracle_small {
    uint64_t timers;
    uint64_t slots;
    uint64_t chunk;
} oracle_small;

/* The placements in one block. */
typedef struct oracle_block {
    uint64_t count;
    uint64_t first; /* tick; UINT64_MAX: none */
    uint64_t last;  /* tick; 0: none */
} oracle_block;

static const oracle_block oracle_no_block = {0, UINT64_MAX, 0};

typedef struct oracle_level {
    uint64_t base;        /* placements in the next block, at the time when */
                          /* the clock entered the block before */
    uint64_t own;         /* timers left when the clock entered their block */
    oracle_block entered; /* the clock's own block */
    oracle_block next;    /* the block behind */
} oracle_level;

struct oracle_moves {
    unsigned bits;       /* log2 of wheel_size */
    unsigned top;        /* the coarsest level that can have had a timer */
    uint64_t rest;       /* timers of a block that may stay, not moved ahead */
    uint64_t above;      /* timers that a call may move above its share */
    uint64_t unfinished; /* calls since the last finished call */
    uint64_t clock;      /* in ticks, at the end of the last finished call */
    uint64_t cascaded;   /* by the wheel, at that time */
    uint64_t pool;       /* timers of all `own` that have yet to move */
    oracle_small small;  /* buckets that never cascade */
    uint64_t now;        /* the clock, in ticks, at the end of the last call */
    uint64_t moved;      /* by the wheel, at that time */
    uint64_t down;       /* moves that are allowed and have yet to be made */
    oracle_ticks placed; /* ticks ahead of the clock, sorted */
    oracle_level levels[ORACLE_LEVELS];
};

static inline void oracle_moves_init(oracle_moves *m, uint32_t wheel_size,
                                     uint64_t clock, uint64_t rest,
                                     uint64_t above, oracle_small small)
{
    oracle_ticks placed = m->placed;
    memset(m, 0, sizeof(*m));
    m->placed = placed;
    m->placed.count = 0;
    while (wheel_size >> m->bits != 1)
        m->bits++;
    m->rest = rest;
    m->above = above;
    m->clock = m->now = clock;
    m->small = small;
}

/* Adds a placement. A tick can be in `placed` more than once. A timer starts at
 * a level only if its block is two or more blocks ahead of the clock. */
static inline void oracle_moves_place(oracle_moves *m, uint64_t tick_index)
{
    if (tick_index <= m->clock)
        return;
    oracle_ticks_insert(
        &m->placed, oracle_ticks_position(&m->placed, tick_index), tick_index);
    for (; (m->top + 1) * m->bits < 64; m->top++) {
        unsigned shift = (m->top + 1) * m->bits;
        if ((tick_index >> shift) - (m->clock >> shift) < 2)
            break;
        m->levels[m->top + 1].entered = oracle_no_block;
        m->levels[m->top + 1].next = oracle_no_block;
    }
}

/* Placements in ticks from `first` to `last`. */
static inline uint64_t oracle_moves_count(const oracle_moves *m, uint64_t first,
                                          uint64_t last)
{
    if (first > last)
        return 0;
    size_t end = last == UINT64_MAX
                     ? m->placed.count
                     : oracle_ticks_position(&m->placed, last + 1);
    return end - oracle_ticks_position(&m->placed, first);
}

static inline uint64_t oracle_moves_block(const oracle_moves *m, unsigned shift,
                                          uint64_t block)
{
    uint64_t first = block << shift;
    if (first >> shift != block) /* beyond 64 bits */
        return 0;
    return oracle_moves_count(m, first, first | ((UINT64_C(1) << shift) - 1));
}

/* amount * part / whole, rounded up; at most `amount`. */
static inline uint64_t oracle_share(uint64_t amount, uint64_t part,
                                    uint64_t whole)
{
    double share = (double)amount * ((double)part / (double)whole) + 1;
    return share < (double)amount ? (uint64_t)share : amount;
}

static inline uint64_t oracle_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The largest number of timers of the next block that may still be at this
 * level. */
static inline uint64_t oracle_moves_left(const oracle_moves *m, unsigned level,
                                         uint64_t late)
{
    unsigned shift = level * m->bits;
    uint64_t next = (m->clock >> shift) + 1, base = m->levels[level].base;
    if (base == 0 || next % (UINT64_C(1) << m->bits) == 0)
        return base;
    uint64_t ahead = (next << shift) - m->clock;
    return oracle_least(base, oracle_share(base, ahead, UINT64_C(1) << shift) +
                                  m->rest + late);
}

/* The largest number of timers that may move out of the next block, while the
 * clock stays in its block of a level. */
static inline uint64_t oracle_moves_share(const oracle_moves *m, unsigned level,
                                          uint64_t clock, uint64_t late)
{
    unsigned shift = level * m->bits;
    uint64_t next = (clock >> shift) + 1, base = m->levels[level].base;
    if (base == 0 || next % (UINT64_C(1) << m->bits) == 0)
        return base;
    uint64_t left = oracle_moves_left(m, level, late);
    uint64_t share =
        oracle_share(left, clock - m->clock, (next << shift) - m->clock);
    return oracle_least(base, share + m->above + late +
                                  m->unfinished * m->small.chunk);
}

/* The clock enters a block of a level. Returns the largest number of timers
 * that may move out of the passed blocks and out of the next block. */
static inline uint64_t oracle_moves_enter(oracle_moves *m, unsigned level,
                                          uint64_t clock, uint64_t late)
{
    unsigned shift = level * m->bits;
    uint64_t before = m->clock >> shift, block = clock >> shift, most = 0;
    uint64_t left = oracle_moves_left(m, level, late);
    oracle_level *l = &m->levels[level];
    uint64_t start = block << shift;
    if (block == before + 1) {
        l->own = oracle_least(left, oracle_moves_block(m, shift, block));
    } else {
        most += left;
        most += oracle_moves_count(m, (before + 2) << shift, start - 1);
        l->own = oracle_moves_block(m, shift, block);
    }
    m->pool += l->own;
    l->base = oracle_moves_block(m, shift, block + 1);
    if ((block + 1) % (UINT64_C(1) << m->bits) == 0)
        return most + l->base;
    return most + oracle_least(l->base, oracle_share(l->base, clock - start,
                                                     UINT64_C(1) << shift) +
                                            m->above + m->rest + late + l->own +
                                            m->unfinished * m->small.chunk);
}

/* A call is finished. Timers have moved `moved` times since the last finished
 * call. */
static inline const char *oracle_judge_ahead(oracle_moves *m, uint64_t clock,
                                             uint64_t moved)
{
    unsigned levels = m->top + 1;
    uint64_t late = 0, most = 0, own = 0;
    if (clock > m->clock) /* postponed timers of the ticks passed */
        most = oracle_moves_count(m, m->clock + 1, clock);
    for (unsigned level = levels; --level != 0;) {
        unsigned shift = level * m->bits;
        if (clock >> shift == m->clock >> shift)
            most += oracle_moves_share(m, level, clock, late);
        else
            most += oracle_moves_enter(m, level, clock, late);
        late += m->levels[level].own;
    }
    for (unsigned level = 1; level < levels; level++)
        own += m->levels[level].own;
    uint64_t above = moved > most ? moved - most : 0;
    if (above > m->pool)
        return "more timers have moved than the time that has passed allows";
    m->pool = oracle_least(m->pool - above, own);
    m->clock = clock;
    m->unfinished = 0;
    size_t passed = oracle_ticks_position(&m->placed, clock);
    while (passed < m->placed.count && m->placed.ticks[passed] == clock)
        passed++;
    oracle_ticks_drop(&m->placed, passed);
    return NULL;
}

/* --------------------------------------------------------- moves down ---
 * A small bucket never cascades, a bucket of one tick never cascades, and a
 * timer moves at most once per wheel. This bound counts allowed moves:
 *
 *   - one for each placement of a block, when the block becomes the next block
 *     of its level, unless the block is small or has one tick
 *   - one for each postpone, because a postponed timer is placed again
 *
 * A start cannot enter the clock's own block of a level, or the next block. A
 * postponed timer may come from a coarser level into such a block. So the block
 * counts this placement, unless the earlier tick of the timer is in the block,
 * too. */

/* Moves that the placements of a block may make out of the block. */
static inline uint64_t oracle_moves_of(const oracle_moves *m, unsigned shift,
                                       const oracle_block *block)
{
    uint64_t count = block->count;
    bool is_small = count <= m->small.timers && count <= m->small.slots &&
                    (count <= m->small.chunk || shift <= 8);
    return is_small || block->first >= block->last ? 0 : count;
}

static inline void oracle_block_add(oracle_block *block, uint64_t tick_index,
                                    uint64_t count)
{
    if (tick_index < block->first)
        block->first = tick_index;
    if (tick_index > block->last)
        block->last = tick_index;
    block->count += count;
}

static inline void oracle_moves_postpone(oracle_moves *m, uint64_t from,
                                         uint64_t to)
{
    oracle_moves_place(m, to);
    m->down++;
    for (unsigned level = 1; level <= m->top; level++) {
        unsigned shift = level * m->bits;
        uint64_t own = m->now >> shift, block = to >> shift;
        if (block > own + 1)
            continue;
        oracle_level *l = &m->levels[level];
        oracle_block *entered = block == own ? &l->entered : &l->next;
        uint64_t before = oracle_moves_of(m, shift, entered);
        oracle_block_add(entered, to, from >> shift != block);
        m->down += oracle_moves_of(m, shift, entered) - before;
    }
}

/* The clock enters a block of a level: moves are allowed out of all blocks from
 * the second ahead of the last clock to the next ahead of the clock. */
static inline void oracle_moves_down(oracle_moves *m, unsigned level,
                                     uint64_t clock)
{
    unsigned shift = level * m->bits;
    uint64_t before = m->now >> shift, own = clock >> shift;
    oracle_level *l = &m->levels[level];
    if (own == before)
        return;
    l->entered = own == before + 1 ? l->next : oracle_no_block;
    l->next = oracle_no_block;
    if (before + 2 > UINT64_MAX >> shift)
        return;
    size_t at = oracle_ticks_position(&m->placed, (before + 2) << shift);
    while (at < m->placed.count && m->placed.ticks[at] >> shift <= own + 1) {
        oracle_block found = oracle_no_block;
        uint64_t block = m->placed.ticks[at] >> shift;
        while (at < m->placed.count && m->placed.ticks[at] >> shift == block)
            oracle_block_add(&found, m->placed.ticks[at++], 1);
        m->down += oracle_moves_of(m, shift, &found);
        if (block == own)
            l->entered = found;
        else if (block == own + 1)
            l->next = found;
    }
}

/* After a finished call, only these moves are still to come: out of each
 * level's own block and next block, and of `postponed` timers. */
static inline void oracle_moves_forget(oracle_moves *m, uint64_t postponed)
{
    uint64_t most = postponed;
    for (unsigned level = 1; level <= m->top; level++) {
        unsigned shift = level * m->bits;
        most += oracle_moves_of(m, shift, &m->levels[level].entered);
        most += oracle_moves_of(m, shift, &m->levels[level].next);
    }
    m->down = oracle_least(m->down, most);
}

/* A call has ended, for the oracle too. The wheel has moved timers `cascaded`
 * times since tw_init. */
static inline const char *oracle_judge_moves(oracle *o, uint64_t cascaded)
{
    oracle_moves *m = o->moves;
    uint64_t clock = oracle_clock(o), moved, postponed = 0;
    if (m == NULL)
        return NULL;
    for (unsigned level = 1; level <= m->top; level++)
        oracle_moves_down(m, level, clock);
    m->now = clock;
    moved = cascaded - m->moved;
    m->moved = cascaded;
    if (moved > m->down)
        return "timers of a small bucket have moved, or timers moved twice";
    m->down -= moved;
    if (!o->finished) {
        m->unfinished++;
        return NULL;
    }
    if (m->down != 0) {
        for (size_t i = 0; i < o->count; i++)
            postponed += o->entries[i].any_place;
        oracle_moves_forget(m, postponed);
    }
    moved = cascaded - m->cascaded;
    m->cascaded = cascaded;
    return oracle_judge_ahead(m, clock, moved);
}

#endif
