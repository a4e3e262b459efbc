/* states.c - every state that a small wheel can get into, and all that can be
 * done from there.
 *
 *     states [--quick | --full] [CASE...]
 *
 * --full searches further, mostly to the end; --quick is for sanitizers and
 * valgrind. A case says how many states it has found, whether these are all
 * there are, and how many steps it has tried.
 *
 * A breadth-first search over the library as it is shipped. From each state
 * that it has found it tries every start, cancel and (where the case says
 * "postponed") postpone, and every advance, with a limit or without, and poll:
 * to each tick from one before the clock to `reach` after it, which in most
 * cases is as far as the wheels reach. In each callback that this runs it
 * tries one after the other: nothing, start the timer again after one of
 * `delay`, cancel another, start another after one of them; in calls that go
 * to the first tick that is due, to the one after or as far as possible. In
 * calls to any other tick callbacks do nothing (they do in the case "every
 * slot"). No more than one callback of a timer acts in a call.
 *
 * The oracle (oracle.h) judges each of these steps: exact tick
 * and order, clock, count, timer states, next deadline, and tw_check. A state
 * is kept as the step that led to it first, and found again by taking the
 * steps from the beginning; so a failure comes with the shortest way to it.
 *
 * Two wheels are in the same state if they differ by nothing but
 *  - a shift of the clock by a whole bucket of the coarsest wheel (by a whole
 *    turn of it, where the case says "whole turns"),
 *  - the names of the timers,
 *  - how far back ticks are that have passed, but for their order,
 *  - memory that holds no timer, counters, the arrangement of the delay queue,
 *  - except where a case says "every slot": how many slots of a chunk are free
 *    or have been vacated, as long as the same one has room or has not,
 *  - what is known only of buckets that may cascade, where none does.
 * Where two ways lead to one state and the oracle is stricter after one of
 * them, that one counts. States are told apart by 64 bits of hash. That all
 * this is so is measured: of states that were met again by another way, a
 * sample is entered by that way too, and a case says how many of these came to
 * other states; more than a few mean that the list above has to be looked at.
 *
 * A bucket of few timers fires in place and never cascades. What is few is set
 * by each case: 5 timers, 1, or 0, so that two or three
 * timers cascade. They also are crowds of 6 that are started together and act
 * alike, more than a bucket keeps; or single ones in a chunk of their own,
 * since a bucket of two chunks cascades as well.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *arena_take(size_t size);
static void arena_give(void *pointer);

#define TW_STATIC
#define TW_MALLOC(size, context) ((void)(context), arena_take(size))
#define TW_FREE(pointer, context) ((void)(context), arena_give(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#define TWI_CROWD few /* a bucket of so few timers never cascades            */
static unsigned few;
#include "../timingwheel.h"
#include "oracle.h"
#include "tap.h"

#define GROUPS 3  /* timers, or crowds of them, at most                      */
#define CROWD 6   /* timers in one                                           */
#define TIMERS (GROUPS * CROWD)
#define FILLERS (TWI_SLOTS - 1)
#define DELAYS 4  /* that callbacks choose from, at most                     */
#define NO_STATE UINT32_MAX
#define TWINS 1000 /* states entered a second time by another way, at most   */

/* A variable counts as 0 here; what the header defines over it does not. */
#if TWI_CROWD == 0
#define FEW_CAN_BE_SET true
#else
#define FEW_CAN_BE_SET false
#endif

enum kind { SINGLE, CROWDS, OWN_CHUNKS };

/* What is explored. */
typedef struct search {
    uint32_t size;      /* of a wheel                                        */
    unsigned wheels;    /* how many of them                                  */
    unsigned groups;
    enum kind kind;
    unsigned few;       /* timers that a bucket keeps: TWI_CROWD             */
    int soonest;        /* the earliest deadline of a start, in ticks from   */
                        /* the clock: below 1 there are overdue timers       */
    int reach;          /* the longest delay and advance, in ticks           */
    unsigned postponed; /* timers or crowds that may be postponed at a time  */
    bool reserved;      /* are all wheels there from the start?              */
    bool whole_turns;   /* does it matter which bucket of the coarsest wheel */
                        /* is the clock's?                                   */
    bool every_slot;    /* does the place in a chunk tell states apart?      */
    bool every_target;  /* do callbacks act whatever the target?             */
    unsigned limits;    /* that are tried                                    */
    unsigned delays;    /* how many of these there are                       */
    int delay[DELAYS];  /* of timers that callbacks start                    */
    unsigned most;      /* hundred thousands of transitions; 0: no limit     */
    unsigned most_full; /* the same with --full                              */
} search;

enum step_kind {
    STEP_START,
    STEP_CANCEL,
    STEP_POSTPONE,
    STEP_ADVANCE,
    STEP_LIMITED,
    STEP_POLL
};

/* One step; times are relative to the clock. */
typedef struct step {
    uint8_t kind;
    uint8_t group; /* STEP_LIMITED: the limit                                */
    int8_t time;
    uint8_t acting;         /* do callbacks choose, or do nothing?           */
    uint8_t picks[GROUPS];  /* what they chose                               */
} step;

/* A state that has been found: how to get there. */
typedef struct state {
    uint64_t hash;
    uint32_t parent;
    uint32_t lenient; /* timers that may take any place in their tick, a bit */
                      /* each                                                */
    step step;
} state;

/* Memory that can be put back as it was, at the same addresses. */
static union {
    unsigned char bytes[1 << 16];
    uint64_t align;
} arena, saved_arena;
static size_t arena_used, saved_arena_used;

static void *arena_take(size_t size)
{
    size_t start = arena_used;
    arena_used = (start + size + 63) / 64 * 64;
    if (arena_used > sizeof(arena.bytes))
        abort();
    return arena.bytes + start;
}

static void arena_give(void *pointer)
{
    (void)pointer;
}

/* The wheel, the oracle, and what the running call does. */
static const search *play;
static timingwheel tw, saved_tw;
static tw_timer timers[TIMERS], saved_timers[TIMERS];
static tw_timer fillers[FILLERS];
static oracle model, saved_model;
static oracle_entry saved_entries[TIMERS];
static oracle_timer saved_model_timers[TIMERS];
static uint64_t saved_stale[TIMERS];
static size_t saved_stale_count;
static unsigned members; /* timers in a group                                */
static bool cascades;    /* can there be so many in a bucket?                */
static step now_doing;
static size_t call_fired;
static bool has_acted[TIMERS];       /* in this call                         */
static int action_of[GROUPS];        /* in this call; -1: not chosen yet     */
static unsigned options[GROUPS];     /* that the callbacks had to choose from */
static unsigned choices;             /* made in this call                    */
static unsigned choices_given;       /* of these, how many are prescribed    */

static state *states;
static uint32_t state_count, state_capacity;
static uint32_t *table; /* by hash: a state, or NO_STATE                     */
static uint32_t table_size;
static uint32_t expanding; /* the state whose steps are being tried          */
static uint64_t transitions, all_states, all_transitions;

/* Other ways to states, as state.parent and .step tell them; and what the
 * states after one come to. */
static struct twin {
    uint32_t index;
    uint32_t parent;
    step step;
} twins[TWINS];
static uint64_t twins_met;
static bool summing;
static uint64_t sum_after;

/* ------------------------------------------------------------- failures -- */

static void print_step(const step *taken)
{
    static const char *const names[] = {"start", "cancel", "postpone",
                                        "advance", "advance, limit", "poll"};
    printf("#   %s %d, time %d", names[taken->kind], taken->group, taken->time);
    if (taken->acting)
        printf(", callbacks choose %d %d %d", taken->picks[0], taken->picks[1],
               taken->picks[2]);
    printf("\n");
}

static void print_way(uint32_t index)
{
    if (states[index].parent == NO_STATE)
        return;
    print_way(states[index].parent);
    print_step(&states[index].step);
}

/* Fails the case and tells the way to where it happened. */
static bool expect_at(bool holds, const char *what, int line)
{
    if (holds)
        return true;
    if (tap_failed_checks == 0) {
        printf("# wheels of %" PRIu32 ", from the start:\n", play->size);
        print_way(expanding);
        print_step(&now_doing);
        printf("#   which leads to clock %" PRIu64 "\n", tw_now(&tw));
    }
    return tap_check(false, what, __FILE__, line);
}

#define EXPECT(expr) expect_at((expr), #expr, __LINE__)

/* A sentence of the oracle's, or NULL. */
static bool expect_no_fault(const char *fault, int line)
{
    return expect_at(fault == NULL, fault == NULL ? "" : fault, line);
}

#define EXPECT_RIGHT(expr) expect_no_fault((expr), __LINE__)

/* ------------------------------------------------------------ operations -- */

static uint64_t time_from_clock(int time)
{
    return tw_now(&tw) + (uint64_t)(int64_t)time;
}

/* A timer of OWN_CHUNKS is preceded by so many others, which are cancelled at
 * once, that its chunk is full. */
static int start_timer(tw_timer *timer, uint64_t deadline)
{
    if (play->kind != OWN_CHUNKS)
        return tw_start(&tw, timer, deadline);
    for (unsigned i = 0; i < FILLERS; i++)
        EXPECT(tw_start(&tw, &fillers[i], deadline) == TW_OK);
    int status = tw_start(&tw, timer, deadline);
    for (unsigned i = 0; i < FILLERS; i++)
        EXPECT(tw_cancel(&tw, &fillers[i]));
    return status;
}

static void start_one(unsigned id, uint64_t deadline)
{
    EXPECT(start_timer(&timers[id], deadline) == TW_OK);
    oracle_start(&model, id, deadline, false);
}

static void cancel_one(unsigned id)
{
    EXPECT(tw_cancel(&tw, &timers[id]) == oracle_cancel(&model, id));
}

static void postpone_one(unsigned id, uint64_t deadline)
{
    EXPECT(tw_postpone(&tw, &timers[id], deadline) == TW_OK);
    oracle_postpone(&model, id, deadline);
}

/* What a callback can do: nothing; start its timer again after one of the
 * delays; and to each other group: cancel, or start after one of them. */
static unsigned action_count(void)
{
    return 1 + play->delays + (play->groups - 1) * (1 + play->delays);
}

static void act(unsigned group, unsigned member, unsigned action)
{
    uint64_t now = tw_now(&tw);
    if (action == 0)
        return;
    if (--action < play->delays) {
        start_one(group * members + member,
                  now + (uint64_t)play->delay[action]);
        return;
    }
    action -= play->delays;
    unsigned other = group + 1 + action / (1 + play->delays);
    unsigned id = other % play->groups * members + member;
    action %= 1 + play->delays;
    if (action == 0)
        cancel_one(id);
    else
        start_one(id, now + (uint64_t)play->delay[action - 1]);
}

/* The first callback of a group in a call chooses for all of it. */
static unsigned choose(unsigned group)
{
    if (action_of[group] < 0) {
        if (choices >= choices_given)
            now_doing.picks[choices] = 0;
        options[choices] = action_count();
        action_of[group] = now_doing.picks[choices++];
    }
    return (unsigned)action_of[group];
}

static void judge_next(void)
{
    uint64_t next = 0;
    bool found = tw_next_deadline(&tw, &next);
    EXPECT_RIGHT(oracle_judge_next(&model, found, next));
    EXPECT(tw_wait(&tw, tw_now(&tw), 7) ==
           oracle_wait(&model, next, tw_now(&tw), 7));
}

static void note_fired(unsigned id)
{
    EXPECT_RIGHT(oracle_fire(&model, id));
    EXPECT(!tw_is_pending(&timers[id]));
    EXPECT(tw_now(&tw) == model.now);
    EXPECT(tw_count(&tw) == model.count);
    call_fired++;
}

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    unsigned id = (unsigned)(timer - timers);
    EXPECT(wheel == &tw);
    note_fired(id);
    judge_next();
    if (!now_doing.acting || has_acted[id] || tap_failed_checks != 0)
        return;
    has_acted[id] = true;
    act(id / members, id % members, choose(id / members));
    EXPECT(tw_count(&tw) == model.count);
    judge_next();
}

/* A call with a limit may stop early, if it has handled as many timers. */
static void advance_limited(uint64_t now, size_t limit)
{
    uint64_t cascaded = tw.cascaded, next = 0;
    oracle_begin(&model, now);
    EXPECT(tw_advance_clock_limit(&tw, now, limit) == call_fired);
    uint64_t handled = call_fired + (tw.cascaded - cascaded);
    EXPECT(handled <= limit);
    bool done = oracle_first_due(&model) == NULL &&
                (!tw_next_deadline(&tw, &next) || next > model.target) &&
                tw_now(&tw) == model.target;
    EXPECT_RIGHT(handled < limit || done ? oracle_finish(&model)
                                         : oracle_stop(&model, tw_now(&tw)));
}

static void poll(uint64_t now)
{
    oracle_begin(&model, now);
    const tw_timer *timer = tw_poll(&tw, now);
    if (timer == NULL) {
        EXPECT_RIGHT(oracle_finish(&model));
        return;
    }
    note_fired((unsigned)(timer - timers));
    EXPECT_RIGHT(oracle_stop(&model, tw_now(&tw)));
}

/* Where no bucket is too small to cascade, no timer is moved twice in a tick:
 * finer wheels cascade first. */
static void advance(uint64_t now)
{
    uint64_t cascaded = tw.cascaded, starts = model.sequence, next = 0;
    size_t pending = model.count;
    bool one_tick = tw_next_deadline(&tw, &next) && next == now;
    oracle_begin(&model, now);
    EXPECT(tw_advance_clock(&tw, now) == call_fired);
    EXPECT_RIGHT(oracle_finish(&model));
    if (one_tick && few == 0 && model.sequence == starts)
        EXPECT(tw.cascaded - cascaded <= pending);
}

/* Takes the step now_doing, with the wheel and with the oracle. */
static void take_step(void)
{
    uint64_t time = time_from_clock(now_doing.time);
    unsigned first = now_doing.group * members;
    call_fired = 0;
    choices = 0;
    memset(has_acted, 0, sizeof(has_acted));
    for (unsigned i = 0; i < GROUPS; i++)
        action_of[i] = -1;
    switch (now_doing.kind) {
    case STEP_ADVANCE:
        advance(time);
        return;
    case STEP_LIMITED:
        advance_limited(time, now_doing.group);
        return;
    case STEP_POLL:
        poll(time);
        return;
    default:
        break;
    }
    for (unsigned id = first; id < first + members; id++)
        if (now_doing.kind == STEP_START)
            start_one(id, time);
        else if (now_doing.kind == STEP_CANCEL)
            cancel_one(id);
        else
            postpone_one(id, time);
}

/* ------------------------------------------------------- what is a state -- */

static uint64_t hash; /* of the state that is being looked at               */
static uint32_t lenient;
static uint8_t name_of[GROUPS];
static uint8_t names;

static void add(uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9fb21c651e98df25);
    hash ^= hash >> 29;
}

/* Of a tick that is further back than any that can still be asked for, only the
 * order matters: what is `passed` is told by its rank from the clock down. */
static uint64_t passed[TIMERS + 2 * TWI_ASIDES];
static size_t passed_count;

static void note_passed(uint64_t tick)
{
    size_t at = 0;
    if (tick + 1 >= tw.clock)
        return;
    while (at < passed_count && passed[at] > tick)
        at++;
    if (at < passed_count && passed[at] == tick)
        return;
    memmove(passed + at + 1, passed + at,
            (passed_count - at) * sizeof(*passed));
    passed[at] = tick;
    passed_count++;
}

static bool has_timers(const twi_bucket *bucket)
{
    for (const twi_chunk *chunk = bucket->head; chunk != NULL;
         chunk = chunk->next)
        for (unsigned i = chunk->first; i < chunk->end; i++)
            if (chunk->slots[i] != NULL)
                return true;
    return false;
}

static void find_passed(void)
{
    passed_count = 0;
    for (size_t i = 0; i < model.count; i++)
        note_passed(model.entries[i].tick_index);
    for (unsigned i = 0; i < TWI_ASIDES; i++)
        if (has_timers(&tw.aside[i])) {
            note_passed(tw.aside[i].earliest);
            if (!tw.unsorted[i])
                note_passed(tw.aside[i].latest);
        }
}

/* A tick as it is seen from the clock. */
static uint64_t relative(uint64_t tick)
{
    uint64_t rank = 0;
    if (tick + 1 >= tw.clock)
        return tick - tw.clock;
    while (rank < passed_count && passed[rank] != tick)
        rank++;
    return 512 + rank;
}

/* Groups are named in the order in which they are met. */
static unsigned canonical(const tw_timer *timer)
{
    unsigned id = (unsigned)(timer - timers);
    uint8_t *name = &name_of[id / members];
    if (*name == 0)
        *name = ++names;
    return *name * CROWD + id % members;
}

/* Only cascading uses the room in front. How overdue timers are divided among
 * chunks is sorting's affair, which goes by the bits of their ticks. */
static void add_chunk(const twi_chunk *chunk, bool in_wheel)
{
    bool uses_front = in_wheel && cascades;
    bool is_own = chunk->ordinal == 0;
    if (in_wheel)
        add(chunk->live);
    else if (is_own || (chunk->prev != NULL && chunk->prev->ordinal == 0))
        add(2U + is_own);
    if (play->every_slot)
        add(chunk->first * 64U + chunk->end);
    else if (in_wheel || play->kind == CROWDS)
        add((chunk->end == TWI_SLOTS) +
            (uses_front && chunk->first == 0 && chunk->end != 0
                 ? 2U << (chunk->slots[0] == NULL)
                 : 0U));
    for (unsigned i = chunk->first; i < chunk->end; i++) {
        const tw_timer *timer = chunk->slots[i];
        if (timer != NULL)
            add(canonical(timer) * 1024 + relative(timer->deadline));
        else if (play->every_slot)
            add(1);
    }
}

/* A bucket's place in the delay queue may be earlier than its timers, if one
 * has left that was there: the oracle has to know of it already. */
static void judge_mark(const twi_bucket *bucket)
{
    uint64_t earliest = UINT64_MAX;
    for (const twi_chunk *chunk = bucket->head; chunk != NULL;
         chunk = chunk->next)
        for (unsigned i = chunk->first; i < chunk->end; i++)
            if (chunk->slots[i] != NULL &&
                chunk->slots[i]->deadline < earliest)
                earliest = chunk->slots[i]->deadline;
    if (bucket->earliest == earliest || !EXPECT(bucket->earliest < earliest))
        return;
    EXPECT(oracle_ticks_have(&model.stale, bucket->earliest) ||
           oracle_ticks_have(&model.late, bucket->earliest) ||
           (model.unfinished && bucket->earliest <= tw.clock));
}

/* The step of the clock on the coarsest wheel, which is where its buckets are
 * numbered from unless the case minds whole turns. */
static uint64_t coarsest_step(void)
{
    return tw.clock >> (play->wheels - 1) * tw.size_bits;
}

/* Calls `visit` for every bucket with a chunk. */
static void each_bucket(void (*visit)(const twi_bucket *bucket, unsigned where))
{
    for (unsigned level = 0; level < play->wheels; level++) {
        unsigned origin = 0, where = level * play->size;
        if (tw.wheels[level] == NULL)
            continue;
        if (level == play->wheels - 1 && !play->whole_turns)
            origin = (unsigned)coarsest_step();
        for (unsigned i = 0; i < play->size; i++) {
            const twi_bucket *bucket =
                &tw.wheels[level]->buckets[(origin + i) % play->size];
            if (bucket->head != NULL)
                visit(bucket, where + i);
        }
    }
    for (unsigned i = 0; i < TWI_ASIDES; i++)
        if (has_timers(&tw.aside[i]))
            visit(&tw.aside[i], play->wheels * play->size + i);
}

static void add_bucket(const twi_bucket *bucket, unsigned where)
{
    bool in_wheel = where < play->wheels * play->size;
    bool unsorted =
        !in_wheel && tw.unsorted[where - play->wheels * play->size];
    if (!has_timers(bucket)) {
        add_chunk(bucket->head, in_wheel);
        return;
    }
    judge_mark(bucket);
    add(where * 4 + 2 + unsorted);
    add(relative(bucket->earliest));
    if (in_wheel ? cascades : !unsorted)
        add(relative(bucket->latest));
    for (const twi_chunk *chunk = bucket->head; chunk != NULL;
         chunk = chunk->next)
        add_chunk(chunk, in_wheel);
}

/* Ticks at which a wake-up in vain is to be expected from here on. */
static void expect_vain(const twi_bucket *bucket, unsigned where)
{
    (void)where;
    if (has_timers(bucket))
        oracle_ticks_add(&model.stale, bucket->earliest);
}

/* The buckets that a wheel has marked; some of them may be empty. */
static void add_marks(unsigned level)
{
    uint64_t marks = tw.wheels[level]->marks[0];
    unsigned origin = 0;
    if (level == play->wheels - 1 && !play->whole_turns)
        origin = (unsigned)coarsest_step() % play->size;
    add((marks >> origin | marks << (play->size - origin)) &
        ((1U << play->size) - 1));
}

/* The wheels that there are, and where the clock is in a bucket of the coarsest
 * one, or in a turn of it. */
static void add_wheels(void)
{
    uint64_t span = 1, wheels = 0;
    for (unsigned level = 0; level < play->wheels; level++) {
        wheels = wheels * 2 + (tw.wheels[level] != NULL);
        if (tw.wheels[level] != NULL)
            add_marks(level);
    }
    EXPECT(tw.wheels[play->wheels] == NULL);
    for (unsigned level = 0; level < play->wheels - !play->whole_turns; level++)
        span *= play->size;
    add(wheels);
    add(tw.clock % span);
}

/* Which timers of its tick have to fire before a pending one. */
static void add_order(size_t at)
{
    const oracle_entry *entry = &model.entries[at];
    unsigned name = canonical(&timers[entry->id]);
    lenient |= (uint32_t)entry->any_place << name;
    if (entry->any_place)
        return;
    for (size_t i = at; i-- > 0;) {
        const oracle_entry *before = &model.entries[i];
        if (before->tick_index != entry->tick_index)
            break;
        if (!before->any_place)
            add(name * 64 + canonical(&timers[before->id]));
    }
}

static void hash_state(void)
{
    memset(name_of, 0, sizeof(name_of));
    names = 0;
    hash = 0;
    lenient = 0;
    find_passed();
    add_wheels();
    each_bucket(add_bucket);
    for (size_t i = 0; i < model.count; i++)
        add_order(i);
}

static void judge_rest(void)
{
    EXPECT(tw_check(&tw));
    EXPECT(tw_count(&tw) == model.count);
    EXPECT(tw_now(&tw) == model.now);
    for (unsigned id = 0; id < play->groups * members; id++) {
        EXPECT(tw_timer_state(&timers[id]) == model.timers[id].state);
        EXPECT(tw_deadline(&timers[id]) == model.timers[id].deadline);
    }
    judge_next();
}

/* ------------------------------------------------------- save and revert -- */

static void save(void)
{
    size_t count = play->groups * members;
    saved_arena_used = arena_used;
    memcpy(&saved_arena, &arena, arena_used);
    memcpy(saved_timers, timers, count * sizeof(*timers));
    saved_tw = tw;
    saved_model = model;
    saved_stale_count = model.stale.count;
    memcpy(saved_stale, model.stale.ticks, sizeof(saved_stale));
    memcpy(saved_entries, model.entries, model.count * sizeof(oracle_entry));
    memcpy(saved_model_timers, model.timers, count * sizeof(oracle_timer));
}

/* All that the oracle still has to know of the past is what can be seen. */
static void forget_the_past(void)
{
    model.unfinished = false;
    model.stale.count = 0;
    model.late.count = 0;
    each_bucket(expect_vain);
}

static void revert(void)
{
    oracle_ticks stale = model.stale, late = model.late;
    size_t count = play->groups * members;
    arena_used = saved_arena_used;
    memcpy(&arena, &saved_arena, arena_used);
    memcpy(timers, saved_timers, count * sizeof(*timers));
    tw = saved_tw;
    model = saved_model;
    model.stale = stale;
    model.stale.count = saved_stale_count;
    memcpy(model.stale.ticks, saved_stale, sizeof(saved_stale));
    model.late = late;
    model.late.count = 0;
    memcpy(model.entries, saved_entries, model.count * sizeof(oracle_entry));
    memcpy(model.timers, saved_model_timers, count * sizeof(oracle_timer));
}

/* The clock starts short of 2^32, at a whole turn of every wheel. */
static void begin(void)
{
    tw_config config = {0, 0, 0, 0, NULL};
    config.start = (UINT64_C(1) << 32) - 64;
    config.wheel_size = play->size;
    arena_used = 0;
    EXPECT(tw_init(&tw, &config) == TW_OK);
    if (play->reserved)
        EXPECT(tw_reserve(&tw, play->groups * members,
                          config.start + (uint64_t)play->reach) == TW_OK);
    for (unsigned i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_fire);
    for (unsigned i = 0; i < FILLERS; i++)
        tw_timer_init(&fillers[i], NULL);
    oracle_free(&model);
    oracle_init(&model, 1, config.start, TIMERS);
    for (uint64_t i = 0; i < TIMERS; i++)
        oracle_ticks_add(&model.stale, i); /* has room for all */
    model.stale.count = 0;
}

/* Takes all steps from the beginning to a state. */
static void go_to(uint32_t index)
{
    if (states[index].parent == NO_STATE) {
        begin();
        return;
    }
    go_to(states[index].parent);
    forget_the_past();
    now_doing = states[index].step;
    choices_given = GROUPS;
    take_step();
    judge_rest();
}

/* ---------------------------------------------------------------- search -- */

static void *memory(void *old, size_t bytes)
{
    return oracle_memory(old, bytes);
}

static void grow_table(void)
{
    table_size = table_size == 0 ? 1024 : table_size * 2;
    table = (uint32_t *)memory(table, table_size * sizeof(*table));
    memset(table, 0xff, table_size * sizeof(*table));
    for (uint32_t i = 0; i < state_count; i++) {
        uint32_t at = (uint32_t)states[i].hash & (table_size - 1);
        while (table[at] != NO_STATE)
            at = (at + 1) & (table_size - 1);
        table[at] = i;
    }
}

/* A state has been met again: keeps a sample of these, each as likely. */
static void note_twin(uint32_t index, uint32_t parent)
{
    uint64_t at = ++twins_met;
    if (at > TWINS)
        at = 1 + (twins_met * UINT64_C(0x9fb21c651e98df25) >> 20) % twins_met;
    if (at > TWINS || states[index].lenient != lenient)
        return;
    twins[at - 1].index = index;
    twins[at - 1].parent = parent;
    twins[at - 1].step = now_doing;
}

static void add_state(uint32_t parent)
{
    if (state_count == state_capacity) {
        state_capacity = state_capacity * 2 + 1024;
        states = (state *)memory(states, state_capacity * sizeof(*states));
    }
    states[state_count].hash = hash;
    states[state_count].parent = parent;
    states[state_count].lenient = lenient;
    states[state_count].step = now_doing;
    if (++state_count > table_size / 2)
        grow_table();
}

/* The wheel is in a state: notes it if it is new, or was met only where the
 * oracle was more lenient. */
static void note_state(uint32_t parent)
{
    uint32_t at = (uint32_t)hash & (table_size - 1);
    for (; table[at] != NO_STATE; at = (at + 1) & (table_size - 1)) {
        state *known = &states[table[at]];
        if (known->hash != hash)
            continue;
        if ((known->lenient & ~lenient) == 0) {
            note_twin(table[at], parent);
            return;
        }
        if (table[at] > expanding && (lenient & ~known->lenient) == 0) {
            known->parent = parent;
            known->lenient = lenient;
            known->step = now_doing;
            return;
        }
    }
    table[at] = state_count;
    add_state(parent);
}

/* The next combination of what the callbacks of the step choose. */
static bool choose_next(void)
{
    while (choices > 0) {
        choices--;
        if (++now_doing.picks[choices] < options[choices]) {
            choices_given = choices + 1;
            return true;
        }
        now_doing.picks[choices] = 0;
    }
    return false;
}

/* Tries a step from the state that is saved, with every choice. */
static void try_step(enum step_kind kind, unsigned group, int time, bool acting)
{
    memset(&now_doing, 0, sizeof(now_doing));
    now_doing.kind = (uint8_t)kind;
    now_doing.group = (uint8_t)group;
    now_doing.time = (int8_t)time;
    now_doing.acting = acting;
    choices_given = 0;
    do {
        take_step();
        judge_rest();
        hash_state();
        transitions++;
        if (tap_failed_checks != 0)
            return;
        if (summing)
            sum_after += (hash ^ hash >> 31) * UINT64_C(0x9fb21c651e98df25);
        else
            note_state(expanding);
        revert();
    } while (choose_next());
}

static unsigned others_postponed(unsigned group)
{
    unsigned count = 0;
    for (size_t i = 0; i < model.count; i++)
        count += model.entries[i].any_place &&
                 model.entries[i].id / members != group;
    return (count + members - 1) / members;
}

static void try_group(unsigned group)
{
    const tw_timer *timer = &timers[group * members];
    bool pending = tw_is_pending(timer);
    bool may_postpone = others_postponed(group) < play->postponed;
    int later = pending ? (int)(int64_t)(timer->deadline - tw_now(&tw)) : 0;
    for (int time = play->soonest; time <= play->reach; time++) {
        try_step(STEP_START, group, time, false);
        /* To postpone to earlier is to start: one of these will do. */
        if (may_postpone && (pending ? time >= later - 1 : time == 1))
            try_step(STEP_POSTPONE, group, time, false);
    }
    try_step(STEP_CANCEL, group, 0, false);
}

/* Do callbacks act in a call with that target? If not with every one, then
 * with the first that fires something, the one after, and the last. */
static bool acts_at(int time)
{
    if (play->every_target || time == play->reach)
        return true;
    if (model.count == 0)
        return false;
    int due = (int)(int64_t)(model.entries[0].tick_index - tw_now(&tw));
    due = due < 0 ? 0 : due;
    return time == due || time == due + 1;
}

/* Limits are such that they cut a crowd in the middle, and nowhere else. Where
 * nothing comes up calls do no more than move the clock, and one with a limit
 * is tried for the clock's own tick only. */
static void try_calls(void)
{
    unsigned half = (members + 1) / 2;
    uint64_t next = 0;
    bool found = tw_next_deadline(&tw, &next);
    for (int time = -1; time <= play->reach; time++) {
        bool acting = acts_at(time);
        try_step(STEP_ADVANCE, 0, time, acting);
        bool idle = !found || next > time_from_clock(time > 0 ? time : 0);
        if (idle && time != 0)
            continue;
        for (unsigned i = 1; i <= play->limits; i++)
            try_step(STEP_LIMITED, i * half, time, acting);
        try_step(STEP_POLL, 0, time, false);
    }
}

/* A group that cannot be told from one before it need not be tried. */
static bool is_like_another(unsigned group)
{
    for (unsigned id = group * members; id < (group + 1) * members; id++)
        if (tw_is_pending(&timers[id]))
            return false;
    for (unsigned other = 0; other < group; other++) {
        bool idle = true;
        for (unsigned i = 0; i < members; i++)
            idle = idle && !tw_is_pending(&timers[other * members + i]);
        if (idle)
            return true;
    }
    return false;
}

/* Tries every step from the state that the wheel is in. */
static void try_steps(uint32_t index)
{
    hash_state();
    EXPECT(hash == states[index].hash && lenient == states[index].lenient);
    forget_the_past();
    save();
    for (unsigned group = 0; group < play->groups; group++)
        if (!is_like_another(group) && tap_failed_checks == 0)
            try_group(group);
    if (tap_failed_checks == 0)
        try_calls();
}

static void expand(uint32_t index)
{
    expanding = index;
    go_to(index);
    try_steps(index);
}

/* How long a search may go on: what the command line asked for. One that is
 * cut short has tried everything from the states that are the fewest steps
 * away. */
static enum { QUICK, USUAL, FULL } effort = USUAL;

/* Does all that is sampled come to the same, whichever way it is entered? Those
 * are passed over whose own way has been replaced by a stricter one. */
static void compare_twins(void)
{
    unsigned compared = 0, differing = 0;
    summing = true;
    unsigned most = effort == QUICK ? TWINS / 50 : TWINS;
    for (unsigned i = 0; i < most && i < twins_met; i++) {
        const struct twin *twin = &twins[i];
        if (tap_failed_checks != 0)
            break;
        sum_after = 0;
        expand(twin->index);
        uint64_t sum = sum_after;
        sum_after = 0;
        expanding = twin->parent;
        go_to(twin->parent);
        forget_the_past();
        now_doing = twin->step;
        choices_given = GROUPS;
        take_step();
        judge_rest();
        hash_state();
        if (lenient != states[twin->index].lenient ||
            hash != states[twin->index].hash)
            continue;
        try_steps(twin->index);
        compared++;
        differing += sum_after != sum;
    }
    summing = false;
    printf("# %u of them entered by two ways: %u came to other states\n",
           compared, differing);
}

static uint64_t most_transitions(void)
{
    unsigned most = effort == FULL ? play->most_full : play->most;
    if (effort == QUICK)
        return 50000;
    return most == 0 ? UINT64_MAX : most * UINT64_C(100000);
}

static void explore(const search *what)
{
    uint32_t done = 0;
    if (what->few != 5 && !FEW_CAN_BE_SET) {
        printf("# *** SKIPPED: the header does not let TWI_CROWD be set\n");
        return;
    }
    play = what;
    few = what->few;
    cascades = what->kind != SINGLE || few < what->groups;
    members = what->kind == CROWDS ? CROWD : 1;
    state_count = 0;
    table_size = 0;
    transitions = 0;
    twins_met = 0;
    expanding = 0;
    grow_table();
    begin();
    hash_state();
    note_state(NO_STATE);
    while (done < state_count && tap_failed_checks == 0 &&
           transitions < most_transitions())
        expand(done++);
    printf("# %" PRIu32 " states, %s; %" PRIu64 " transitions from %" PRIu32
           " of them\n", state_count, done == state_count ? "all there are"
           : "and there are more", transitions, done);
    all_states += state_count;
    all_transitions += transitions;
    if (what->kind != CROWDS)
        compare_twins();
}

/* ----------------------------------------------------------------- cases -- */

static void made_on_demand(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 5, .soonest = -1,
        .reach = 4, .whole_turns = true, .limits = 2, .delays = 1,
        .delay = {1},
    };
    explore(&what);
}

static void in_place_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 5, .soonest = -1,
        .reach = 4, .reserved = true, .postponed = 2, .limits = 2,
        .delays = 2, .delay = {-1, 1},
    };
    explore(&what);
}

static void cascading_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 0, .soonest = -1,
        .reach = 4, .reserved = true, .postponed = 2, .limits = 3,
        .delays = 1, .delay = {1}, .most = 10, .most_full = 0,
    };
    explore(&what);
}

static void two_cascade_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 1, .soonest = -1,
        .reach = 4, .reserved = true, .limits = 3, .delays = 2,
        .delay = {0, 1}, .most = 5, .most_full = 0,
    };
    explore(&what);
}

static void chunks_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .kind = OWN_CHUNKS, .few = 5,
        .soonest = -1, .reach = 4, .reserved = true, .limits = 3, .delays = 1,
        .delay = {1}, .most = 5, .most_full = 0,
    };
    explore(&what);
}

static void crowds_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .kind = CROWDS, .few = 5,
        .soonest = -1, .reach = 4, .reserved = true, .postponed = 2,
        .limits = 3, .delays = 2, .delay = {0, 1}, .most = 3, .most_full = 40,
    };
    explore(&what);
}

static void every_slot(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 2, .few = 0, .soonest = -1,
        .reach = 2, .reserved = true, .postponed = 2, .every_slot = true,
        .every_target = true, .limits = 3, .delays = 1, .delay = {1},
        .most = 3, .most_full = 100,
    };
    explore(&what);
}

static void three_in_place(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 3, .few = 5, .soonest = -1,
        .reach = 2, .reserved = true, .postponed = 3, .limits = 2,
        .delays = 1, .delay = {1}, .most = 5, .most_full = 0,
    };
    explore(&what);
}

static void three_cascading(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 3, .few = 0, .soonest = -1,
        .reach = 2, .reserved = true, .limits = 3, .delays = 1, .delay = {1},
        .most = 5, .most_full = 0,
    };
    explore(&what);
}

static void three_postponed(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 3, .few = 0, .soonest = -1,
        .reach = 2, .reserved = true, .postponed = 3, .limits = 3,
        .delays = 1, .delay = {1}, .most = 3, .most_full = 300,
    };
    explore(&what);
}

static void three_crowds(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 3, .kind = CROWDS, .few = 5,
        .soonest = -1, .reach = 2, .reserved = true, .postponed = 3,
        .limits = 3, .delays = 1, .delay = {1}, .most = 3, .most_full = 40,
    };
    explore(&what);
}

static void three_on_three(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 3, .few = 1, .soonest = 1,
        .reach = 4, .reserved = true, .limits = 3, .delays = 1, .delay = {1},
        .most = 8, .most_full = 100,
    };
    explore(&what);
}

static void in_place_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5, .soonest = -1,
        .reach = 13, .reserved = true, .limits = 2, .delays = 1, .delay = {5},
        .most = 5, .most_full = 0,
    };
    explore(&what);
}

static void cascading_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 0, .soonest = -1,
        .reach = 13, .reserved = true, .limits = 3, .delays = 1, .delay = {5},
        .most = 8, .most_full = 150,
    };
    explore(&what);
}

static void far_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5, .soonest = 1,
        .reach = 24, .reserved = true, .limits = 1, .delays = 1, .delay = {5},
        .most = 3, .most_full = 30,
    };
    explore(&what);
}

static void crowds_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .kind = CROWDS, .few = 5,
        .soonest = -1, .reach = 16, .reserved = true, .postponed = 2,
        .limits = 3, .delays = 2, .delay = {0, 5}, .most = 3, .most_full = 20,
    };
    explore(&what);
}

static void one_postponed_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5, .soonest = 1,
        .reach = 13, .reserved = true, .postponed = 1, .limits = 1,
        .delays = 1, .delay = {5}, .most = 5, .most_full = 60,
    };
    explore(&what);
}

static void cascading_postponed_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 0, .soonest = 1,
        .reach = 13, .reserved = true, .postponed = 1, .limits = 1,
        .delays = 1, .delay = {5}, .most = 5, .most_full = 60,
    };
    explore(&what);
}

static void postponed_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5, .soonest = 1,
        .reach = 13, .reserved = true, .postponed = 2, .limits = 1,
        .delays = 1, .delay = {5}, .most = 3, .most_full = 100,
    };
    explore(&what);
}

static const tap_case cases[] = {
    {"wheels of 2, made on demand, two timers, whole turns", made_on_demand},
    {"wheels of 2, two timers, in place, postponed", in_place_on_2},
    {"wheels of 2, two timers, cascading, postponed", cascading_on_2},
    {"wheels of 2, two timers, two of them cascading", two_cascade_on_2},
    {"wheels of 2, two timers in chunks of their own", chunks_on_2},
    {"wheels of 2, two crowds, postponed", crowds_on_2},
    {"two wheels of 2, two timers, cascading, postponed, every slot",
     every_slot},
    {"two wheels of 2, three timers, in place, postponed", three_in_place},
    {"two wheels of 2, three timers, cascading", three_cascading},
    {"two wheels of 2, three timers, cascading, postponed", three_postponed},
    {"two wheels of 2, three crowds, postponed", three_crowds},
    {"wheels of 2, three timers, cascading", three_on_three},
    {"wheels of 4, two timers, in place", in_place_on_4},
    {"wheels of 4, two timers, cascading", cascading_on_4},
    {"wheels of 4, two timers, in place, far", far_on_4},
    {"wheels of 4, two crowds, postponed", crowds_on_4},
    {"wheels of 4, two timers, in place, one postponed", one_postponed_on_4},
    {"wheels of 4, two timers, cascading, one postponed",
     cascading_postponed_on_4},
    {"wheels of 4, two timers, in place, postponed", postponed_on_4},
};

int main(int argc, char **argv)
{
    bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
    if (full || (argc > 1 && strcmp(argv[1], "--quick") == 0)) {
        effort = full ? FULL : QUICK;
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    int status = TAP_RUN(cases, argc, argv);
    printf("# %" PRIu64 " states, %" PRIu64 " transitions in all\n", all_states,
           all_transitions);
    oracle_free(&model);
    free(states);
    free(table);
    return status;
}
