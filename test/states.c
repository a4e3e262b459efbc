/* states.c - every state that a small wheel can get into, and all that can be
 * done from there.
 *
 *     states [--quick | --full] [CASE...]
 *
 * Without --full most cases stop after some hundred thousand transitions, with
 * it only the widest do; --quick is for sanitizers and valgrind. A case says
 * how many states it has found, and whether these are all there are.
 *
 * A breadth-first search over the library as it is shipped. From each state
 * that it has found it tries every start, cancel and (where the case says
 * "postponed", or has crowds or every slot) postpone, and every advance, with
 * a limit or without, and poll: from a tick before the clock to `reach` ticks
 * after it, which is as far as the third wheel, or the second. In each callback
 * that this runs it tries one after the other: nothing, start the timer again
 * after one of `delay`, cancel another, start another after one of them; in
 * calls that go to the first tick that is due, to the one after or as far as
 * possible. In calls to any other tick callbacks do nothing (they do in the
 * case "every slot"). Groups are as many as the case says; no more than one
 * callback of a timer acts in a call.
 *
 * The oracle (oracle.h) judges each of these steps: exact tick
 * and order, clock, count, timer states, next deadline, and tw_check. A state
 * is kept as the step that led to it first, and found again by taking the
 * steps from the beginning; so a failure comes with the shortest way to it.
 *
 * Two wheels are in the same state if they differ by nothing but
 *  - a shift of the clock by a whole turn of the coarsest wheel in use,
 *  - the names of the timers,
 *  - how far back ticks are that have passed, but for their order,
 *  - memory that holds no timer, counters, the arrangement of the delay queue,
 *  - except where a case says "every slot": how many slots of a chunk are free
 *    or have been vacated, as long as the same one has room or has not.
 * States are told apart by 64 bits of hash.
 *
 * Buckets of few timers never cascade, so each case is played with timers of
 * three kinds: single ones; crowds of 6 that are started together and act
 * alike, more than a bucket keeps; and single ones in a chunk of their own,
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
#include "../timingwheel.h"
#include "oracle.h"
#include "tap.h"

#define GROUPS 3  /* timers, or crowds of them, at most                      */
#define CROWD 6   /* timers in one                                           */
#define TIMERS (GROUPS * CROWD)
#define FILLERS (TWI_SLOTS - 1)
#define DELAYS 4  /* that callbacks choose from, at most                     */
#define USED_LEVELS 5
#define NO_STATE UINT32_MAX

enum kind { SINGLE, CROWDS, OWN_CHUNKS };

/* What is explored. */
typedef struct search {
    uint32_t size;       /* of a wheel                                       */
    unsigned groups;
    enum kind kind;
    int reach;           /* the longest delay and advance, in ticks          */
    bool postpones;      /* is postponing among the steps?                   */
    bool every_slot;     /* does the place in a chunk tell states apart?     */
    bool every_target;   /* do callbacks act whatever the target?            */
    unsigned delays;     /* how many of these there are                      */
    int delay[DELAYS];   /* of timers that callbacks start                   */
    unsigned most;       /* hundred thousands of transitions; 0: no limit    */
    unsigned most_full;  /* the same with --full                             */
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
static unsigned members; /* timers in a group                                */
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

static void advance(uint64_t now)
{
    oracle_begin(&model, now);
    EXPECT(tw_advance_clock(&tw, now) == call_fired);
    EXPECT_RIGHT(oracle_finish(&model));
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

static void find_passed(void)
{
    passed_count = 0;
    for (size_t i = 0; i < model.count; i++)
        note_passed(model.entries[i].tick_index);
    for (unsigned i = 0; i < TWI_ASIDES; i++)
        if (tw.aside[i].head != NULL) {
            note_passed(tw.aside[i].earliest);
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

static void add_chunk(const twi_chunk *chunk)
{
    if (play->every_slot)
        add(chunk->first * 64U + chunk->end);
    else
        add((chunk->end == TWI_SLOTS) + 2U * (chunk->first == 0));
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

/* Calls `visit` for every bucket with timers in it. */
static void each_bucket(void (*visit)(const twi_bucket *bucket, unsigned where))
{
    for (unsigned level = 0; level < USED_LEVELS; level++)
        for (unsigned i = 0; tw.wheels[level] != NULL && i < play->size; i++)
            if (tw.wheels[level]->buckets[i].head != NULL)
                visit(&tw.wheels[level]->buckets[i], level * play->size + i);
    for (unsigned i = 0; i < TWI_ASIDES; i++)
        if (tw.aside[i].head != NULL)
            visit(&tw.aside[i], USED_LEVELS * play->size + i);
}

static void add_bucket(const twi_bucket *bucket, unsigned where)
{
    judge_mark(bucket);
    add(where * 2 + 1);
    add(relative(bucket->earliest));
    add(relative(bucket->latest));
    for (const twi_chunk *chunk = bucket->head; chunk != NULL;
         chunk = chunk->next)
        add_chunk(chunk);
}

/* Ticks at which a wake-up in vain is to be expected from here on. */
static void expect_vain(const twi_bucket *bucket, unsigned where)
{
    (void)where;
    oracle_ticks_add(&model.stale, bucket->earliest);
}

/* The wheels that there are, and where the clock is in a turn of the coarsest,
 * the third at least. */
static void add_wheels(void)
{
    uint64_t turn = (uint64_t)play->size * play->size * play->size;
    uint64_t span = 1, wheels = 0;
    for (unsigned level = 0; level < TWI_LEVELS; level++) {
        if (level < USED_LEVELS)
            span *= play->size;
        if (tw.wheels[level] == NULL)
            continue;
        EXPECT(level < USED_LEVELS);
        wheels |= UINT64_C(1) << level;
        turn = span > turn ? span : turn;
    }
    add(wheels);
    add(tw.clock % turn);
}

static void hash_state(void)
{
    memset(name_of, 0, sizeof(name_of));
    names = 0;
    hash = 0;
    find_passed();
    add_wheels();
    add(tw.unsorted[TWI_OWED] && tw.aside[TWI_OWED].head != NULL);
    each_bucket(add_bucket);
    for (size_t i = 0; i < model.count; i++)
        add(canonical(&timers[model.entries[i].id]) * 2 +
            model.entries[i].any_place);
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
    model.late = late;
    memcpy(model.entries, saved_entries, model.count * sizeof(oracle_entry));
    memcpy(model.timers, saved_model_timers, count * sizeof(oracle_timer));
    forget_the_past();
}

/* The clock starts short of 2^32, at a whole turn of every wheel. */
static void begin(void)
{
    tw_config config = {0, 0, 0, 0, NULL};
    config.start = (UINT64_C(1) << 32) - 64;
    config.wheel_size = play->size;
    arena_used = 0;
    EXPECT(tw_init(&tw, &config) == TW_OK);
    for (unsigned i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_fire);
    for (unsigned i = 0; i < FILLERS; i++)
        tw_timer_init(&fillers[i], NULL);
    oracle_free(&model);
    oracle_init(&model, 1, config.start, TIMERS);
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

/* The wheel is in a state: notes it if it is new. */
static void note_state(uint32_t parent)
{
    uint32_t at = (uint32_t)hash & (table_size - 1);
    for (; table[at] != NO_STATE; at = (at + 1) & (table_size - 1))
        if (states[table[at]].hash == hash)
            return;
    table[at] = state_count;
    if (state_count == state_capacity) {
        state_capacity = state_capacity * 2 + 1024;
        states = (state *)memory(states, state_capacity * sizeof(*states));
    }
    states[state_count].hash = hash;
    states[state_count].parent = parent;
    states[state_count].step = now_doing;
    if (++state_count > table_size / 2)
        grow_table();
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
        note_state(expanding);
        revert();
    } while (choose_next());
}

static void try_group(unsigned group)
{
    const tw_timer *timer = &timers[group * members];
    bool pending = tw_is_pending(timer);
    int later = pending ? (int)(int64_t)(timer->deadline - tw_now(&tw)) : 0;
    for (int time = -1; time <= play->reach; time++) {
        try_step(STEP_START, group, time, false);
        /* To postpone to earlier is to start: one of these will do. */
        if (play->postpones && (pending ? time >= later - 1 : time == 1))
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
    return time == (due < 0 ? 0 : due) || time == due + 1;
}

/* Limits are such that they cut a crowd in the middle, and nowhere else. */
static void try_calls(void)
{
    unsigned half = (members + 1) / 2;
    for (int time = -1; time <= play->reach; time++) {
        bool acting = acts_at(time);
        try_step(STEP_ADVANCE, 0, time, acting);
        try_step(STEP_LIMITED, half, time, acting);
        try_step(STEP_LIMITED, 3 * half - (half == 1), time, acting);
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

static void expand(uint32_t index)
{
    expanding = index;
    go_to(index);
    hash_state();
    EXPECT(hash == states[index].hash);
    save();
    revert();
    for (unsigned group = 0; group < play->groups; group++)
        if (!is_like_another(group) && tap_failed_checks == 0)
            try_group(group);
    if (tap_failed_checks == 0)
        try_calls();
}

/* How long a search may go on: what the command line asked for. One that is
 * cut short has tried everything from the states that are the fewest steps
 * away. */
static enum { QUICK, USUAL, FULL } effort = USUAL;

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
    play = what;
    members = what->kind == CROWDS ? CROWD : 1;
    state_count = 0;
    table_size = 0;
    transitions = 0;
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
}

/* ----------------------------------------------------------------- cases -- */

static void singles_of_2(void)
{
    static const search what = {2, 2, SINGLE, 4, false, false, false,
                                2, {-1, 1}, 0, 0};
    explore(&what);
}

static void chunks_of_2(void)
{
    static const search what = {2, 2, OWN_CHUNKS, 4, false, false, false,
                                2, {0, 1}, 0, 0};
    explore(&what);
}

static void crowds_of_2(void)
{
    static const search what = {2, 2, CROWDS, 4, true, false, false,
                                2, {0, 1}, 5, 80};
    explore(&what);
}

static void every_slot_of_2(void)
{
    static const search what = {2, 2, SINGLE, 4, true, true, true,
                                2, {0, 1}, 5, 80};
    explore(&what);
}

static void postponed_of_2(void)
{
    static const search what = {2, 2, SINGLE, 4, true, false, false,
                                2, {0, 1}, 5, 300};
    explore(&what);
}

static void postponed_chunks_of_2(void)
{
    static const search what = {2, 2, OWN_CHUNKS, 4, true, false, false,
                                2, {0, 1}, 5, 80};
    explore(&what);
}

static void singles_of_4(void)
{
    static const search what = {4, 2, SINGLE, 13, false, false, false,
                                2, {0, 5}, 5, 0};
    explore(&what);
}

static void chunks_of_4(void)
{
    static const search what = {4, 2, OWN_CHUNKS, 16, false, false, false,
                                2, {0, 5}, 5, 80};
    explore(&what);
}

static void crowds_of_4(void)
{
    static const search what = {4, 2, CROWDS, 16, true, false, false,
                                2, {0, 5}, 5, 80};
    explore(&what);
}

static void three_singles(void)
{
    static const search what = {2, 3, SINGLE, 2, false, false, false,
                                1, {1}, 0, 0};
    explore(&what);
}

static void three_chunks(void)
{
    static const search what = {2, 3, OWN_CHUNKS, 2, false, false, false,
                                1, {1}, 5, 0};
    explore(&what);
}

static void three_on_three(void)
{
    static const search what = {2, 3, OWN_CHUNKS, 4, false, false, false,
                                1, {0}, 5, 80};
    explore(&what);
}

static void three_crowds(void)
{
    static const search what = {2, 3, CROWDS, 2, true, false, false,
                                1, {1}, 5, 80};
    explore(&what);
}

static const tap_case cases[] = {
    {"wheels of 2, two single timers", singles_of_2},
    {"wheels of 2, two timers in chunks of their own", chunks_of_2},
    {"wheels of 2, two crowds", crowds_of_2},
    {"wheels of 2, two timers, every slot", every_slot_of_2},
    {"wheels of 2, two timers, postponed", postponed_of_2},
    {"wheels of 2, two timers in chunks of their own, postponed",
     postponed_chunks_of_2},
    {"wheels of 4, two single timers", singles_of_4},
    {"wheels of 4, two timers in chunks of their own", chunks_of_4},
    {"wheels of 4, two crowds", crowds_of_4},
    {"two wheels of 2, three timers", three_singles},
    {"two wheels of 2, three timers in chunks of their own", three_chunks},
    {"two wheels of 2, three crowds", three_crowds},
    {"wheels of 2, three timers in chunks of their own", three_on_three},
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
