/* states.c - every state of small wheels, and every step from each state.
 *
 *     states [--quick | --full | --complete] [CASE...]
 *
 * --full searches further, in three minutes. --complete takes an hour, and
 * searches two timers on three wheels of 4 to the end. --quick is for
 * sanitizers and valgrind. Each case prints the number of states and of steps,
 * and says if the search came to its end.
 *
 * The search is breadth-first, over the library as shipped. From each state,
 * the search tries every start, cancel and, in the cases "postponed", postpone.
 * The search also tries every advance, advance with a limit, and poll. Ticks go
 * from the tick before the clock to `reach` ticks after the clock, or to the
 * reach of the coarsest wheel. Each callback tries every action: nothing, start
 * the timer again after a `delay`, cancel another timer, or start another timer
 * after a `delay`. Callbacks act in calls to the first due tick, to the next
 * tick, and to the last tick. In the cases "every slot", callbacks act in every
 * call. At most one callback of a timer acts in a call.
 *
 * The oracle (oracle.h) judges each step: exact tick and order, clock, count,
 * timer states, next deadline, and tw_check. A second oracle judges how many
 * timers the step moves (see "work of a step"). A state is stored as the first
 * step to the state. To enter a state, the search takes all steps from the
 * beginning. So a failure prints the shortest way.
 *
 * Two wheels have the same state if they differ only by
 *  - a shift of the clock by a whole bucket of the coarsest wheel, or, in the
 *    case "whole turns", by two whole turns,
 *  - the names of the timers,
 *  - the age of passed ticks, except for the order of these ticks,
 *  - memory without timers, counters, the arrangement of the delay queue, the
 *    division of overdue timers into chunks, and the numbers of chunks,
 *  - the times of moving ahead, if no bucket can be large, or if the times
 *    belong to an earlier step,
 *  - caches (see twi_clear_caches).
 * If two ways lead to a state, the way with the stricter oracle counts. States
 * are compared by a hash of 64 bits. A test checks these rules: the search
 * enters a sample of states by a second way. Both ways must lead to the same
 * states.
 *
 * To have fewer states, the wheels are tidied after each step: see enum
 * tidiness. A `sparing` case also leaves out steps:
 *  - Only an idle timer is started into the bucket of another timer. A pending
 *    timer gets there by a cancel and a start.
 *  - The clock moves by one tick if no bucket comes up. Calls go to the ticks
 *    at which callbacks act. A longer call equals two calls.
 *  - A timer is postponed right before the call in which its bucket comes up,
 *    because nothing reads its deadline earlier. Two timers are postponed to
 *    ticks at most a turn of the finest wheel apart.
 * A case of its own finds the same states with and without these steps.
 *
 * A bucket of few timers fires in place and never cascades. Each case sets the
 * limit. With a limit of 0 or 1, two or three timers cascade. A group is one
 * timer, or six timers that start together and act alike. A chunk has 4 slots.
 * In the cases "moved ahead", a bucket of more than two chunks is large, and
 * two groups of six make such a bucket.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/arena.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#define TWI_CHUNK_BYTES (8 * sizeof(void *)) /* 4 slots */
#define TWI_LARGE_TIMERS few        /* a bucket of few timers never cascades, */
#define TWI_LARGE_CHUNKS few_chunks /* unless the bucket has more chunks */
#define TWI_BATCH 1 /* least number of chunks moved ahead at a time */
static unsigned few, few_chunks;
#include "../../timingwheel.h"
#include "../lib/oracle.h"
#include "../lib/tap.h"

#define GROUPS 3  /* most groups of a case */
#define MEMBERS 6 /* most timers in a group */
#define TIMERS (GROUPS * MEMBERS)
#define VAIN (TIMERS + 32) /* most wake-ups in vain to expect */
#define DELAYS 4           /* most delays of a callback */
#define NO_STATE UINT32_MAX
#define TWINS 1000 /* most states to enter by a second way */

/* The preprocessor takes the variable `few` for 0. If the header has defined
 * another value, `few` has no effect. */
#if TWI_LARGE_TIMERS == 0
#define FEW_CAN_BE_SET true
#else
#define FEW_CAN_BE_SET false
#endif

enum kind { OF_ONE, OF_SIX }; /* how many timers in a group */

/* How wheels are tidied after each step. An empty bucket is like a bucket that
 * was never used, without a mark. No slot can be taken back. A bucket has no
 * dead slots, and its timers begin a chunk. If no finer wheel reads the latest
 * tick of a bucket, the latest tick is the last tick of the step, unless the
 * latest and the earliest tick are equal. */
enum tidiness {
    TIDY,
    AS_LEFT /* not tidied */
};

/* What a case explores. */
typedef struct search {
    uint32_t size;   /* of a wheel */
    unsigned wheels; /* number of wheels */
    unsigned groups;
    enum kind kind;
    unsigned few;       /* timers that a bucket keeps: TWI_LARGE_TIMERS */
    bool ahead;         /* is a bucket of three chunks large? */
    int soonest;        /* the earliest deadline of a start, in ticks from */
                        /* the clock: below 1, timers start overdue */
    int reach;          /* the longest delay and advance, in ticks */
    unsigned postponed; /* groups that may be postponed at a time */
    bool reserved;      /* are all wheels there from the start? */
    bool whole_turns;   /* do states differ by the clock's bucket in the */
                        /* coarsest wheel? */
    enum tidiness tidiness;
    bool sparing;       /* does the search leave out steps? */
    bool every_target;  /* do callbacks act at every target? */
    unsigned limits;    /* number of limits to try */
    unsigned delays;    /* number of entries in `delay` */
    int delay[DELAYS];  /* of timers that callbacks start */
    unsigned most;      /* hundred thousands of transitions; 0: no limit */
    unsigned most_full; /* as `most`, with --full */
    bool complete;      /* no `most` with --complete? */
} search;

enum step_kind {
    STEP_START,
    STEP_CANCEL,
    STEP_POSTPONE,
    STEP_ADVANCE,
    STEP_LIMITED,
    STEP_POLL
};

/* A step. Times are relative to the clock. */
typedef struct step {
    uint8_t kind;
    uint8_t group; /* STEP_LIMITED: the limit */
    int8_t time;
    uint8_t acting;         /* do callbacks choose, or do nothing? */
    uint8_t picks[GROUPS];  /* the actions of callbacks */
    int8_t put_off[GROUPS]; /* postponed before to this time; 0: not */
} step;

/* A state, stored as the way to the state. */
typedef struct state {
    uint64_t hash;
    uint32_t parent;
    uint32_t lenient; /* bits of the timers that may take any place in */
                      /* their tick */
    step step;
} state;

/* The saved memory, to be restored at the same addresses. */
static arena_memory saved_arena;

/* The wheel, the oracle, and the running call. */
static const search *play;
static timingwheel tw, saved_tw;
static tw_timer timers[TIMERS], saved_timers[TIMERS];
static oracle model, saved_model;
static oracle_entry saved_entries[TIMERS];
static oracle_timer saved_model_timers[TIMERS];
static uint64_t saved_stale[VAIN];
static size_t saved_stale_count;
static unsigned members;      /* timers in a group */
static unsigned ring;         /* buckets of a wheel: two turns */
static bool cascades;         /* can a bucket cascade? */
static bool has_overdue;      /* can timers be started overdue? */
static uint64_t moved_at[64]; /* wheel->moved_at when the step began */
static uint64_t steps_ahead;  /* steps that moved timers ahead */
static uint64_t steps_moved;  /* steps that moved timers */
static step now_doing;
static size_t call_fired;
static bool has_acted[TIMERS];   /* in this call */
static int action_of[GROUPS];    /* in this call; -1: not chosen yet */
static unsigned options[GROUPS]; /* number of actions to choose from */
static unsigned choices;         /* made in this call */
static unsigned choices_given;   /* number of prescribed choices */

static state *states;
static uint32_t state_count, state_capacity;
static uint32_t *table; /* by hash: a state, or NO_STATE */
static uint32_t table_size;
static uint32_t expanding; /* the state whose steps the search tries */
static uint64_t transitions, all_states, all_transitions;

/* Second ways to states, in the form of state.parent and state.step. */
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
    for (unsigned group = 0; group < GROUPS; group++)
        if (taken->put_off[group] != 0)
            printf("#   postpone %u, time %d\n", group, taken->put_off[group]);
    static const char *const names[] = {"start",   "cancel",         "postpone",
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

/* Fails the case, and prints the way to the failure. */
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

/* Fails the case if the oracle reports a fault. NULL is no fault. */
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

/* What a step does to timers, for the section "work of a step". */
static struct {
    unsigned placed; /* timers started or postponed */
    struct {
        uint64_t tick;
        bool postponed;
    } places[2 * TIMERS + GROUPS];
    uint64_t postponed;            /* number of postpones */
    bool touched[TIMERS];          /* started, postponed or cancelled */
    uint64_t moved;                /* moves of timers */
    uint64_t clock;                /* after the step */
    unsigned levels_after[TIMERS]; /* after the step; only if `ahead` */
} work;

static void note_place(unsigned id, uint64_t deadline, bool postponed)
{
    work.places[work.placed].tick = deadline;
    work.places[work.placed++].postponed = postponed;
    work.postponed += postponed;
    work.touched[id] = true;
}

static void start_one(unsigned id, uint64_t deadline)
{
    EXPECT(tw_start(&tw, &timers[id], deadline) == TW_OK);
    oracle_start(&model, id, deadline, false);
    note_place(id, deadline, false);
}

static void cancel_one(unsigned id)
{
    EXPECT(tw_cancel(&tw, &timers[id]) == oracle_cancel(&model, id));
    work.touched[id] = true;
}

static void postpone_one(unsigned id, uint64_t deadline)
{
    EXPECT(tw_postpone(&tw, &timers[id], deadline) == TW_OK);
    oracle_postpone(&model, id, deadline);
    note_place(id, deadline, true);
}

/* Returns the number of actions of a callback. Action 0 is nothing. The next
 * actions start the timer again after each delay. The rest cancels another
 * group, or starts another group after each delay. */
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

/* Returns the action of a group. The first callback of a group in a call
 * chooses for the whole group. */
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
           oracle_wait(&model, found, next, tw_now(&tw), 7));
}

static void note_fired(unsigned id)
{
    EXPECT_RIGHT(oracle_fire(&model, id, tw_now(&tw)));
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

/* A call with a limit may stop early: after `limit` handled timers, or after
 * slots of cancelled timers. */
static void advance_limited(uint64_t now, size_t limit)
{
    uint64_t cascaded = tw.cascaded, stop = tw.handled + limit, next = 0;
    oracle_begin(&model, now);
    EXPECT(tw_advance_clock_limit(&tw, now, limit) == call_fired);
    uint64_t handled = call_fired + (tw.cascaded - cascaded);
    EXPECT(handled <= limit);
    bool done = oracle_first_due(&model) == NULL &&
                (!tw_next_deadline(&tw, &next) || next > model.target) &&
                tw_now(&tw) == model.target;
    done |= handled < limit && tw.handled_limit == stop;
    EXPECT_RIGHT(done ? oracle_finish(&model)
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
    model.in_call = false;
}

static void advance(uint64_t now)
{
    oracle_begin(&model, now);
    EXPECT(tw_advance_clock(&tw, now) == call_fired);
    EXPECT_RIGHT(oracle_finish(&model));
}

/* Returns the bucket of a pending timer. */
static const twi_bucket *bucket_of(const tw_timer *timer)
{
    return twi_chunk_of(twi_slot_of(timer))->bucket;
}

static bool is_aside(const tw_timer *timer)
{
    const twi_bucket *bucket = bucket_of(timer);
    return bucket >= tw.outside && bucket < tw.outside + TWI_OUTSIDE_BUCKETS;
}

/* Returns true if the first two timers are in the same bucket. */
static bool share_bucket(void)
{
    return tw_is_pending(&timers[0]) && tw_is_pending(&timers[1]) &&
           bucket_of(&timers[0]) == bucket_of(&timers[1]);
}

/* The position of a timer that is postponed right before a call. */
static struct {
    uintptr_t place;
    uint64_t earliest; /* of the timer's bucket */
    bool is_ahead;     /* of the second timer in the bucket? */
} before_call[GROUPS];

static tw_timer *first_timer_in(const twi_bucket *bucket)
{
    tw_timer **slot = bucket->front;
    while (*slot == NULL)
        slot = twi_next_slot(slot);
    return *slot;
}

/* Postpones timers right before the step. */
static void put_off_groups(void)
{
    for (unsigned group = 0; group < play->groups; group++) {
        tw_timer *timer = &timers[group];
        if (now_doing.put_off[group] == 0)
            continue;
        postpone_one(group, time_from_clock(now_doing.put_off[group]));
        judge_next();
        before_call[group].place = timer->place;
        before_call[group].earliest = bucket_of(timer)->earliest;
        before_call[group].is_ahead =
            share_bucket() && first_timer_in(bucket_of(timer)) == timer;
    }
}

/* Returns true if the call has not looked at a timer postponed before the call.
 * A postpone before the next call leads to the same state. A timer that kept
 * its place may have been looked at on the way to a timer behind. */
static bool has_overlooked(void)
{
    for (unsigned id = 0; id < play->groups; id++)
        if (now_doing.put_off[id] != 0 &&
            before_call[id].place == timers[id].place &&
            before_call[id].earliest == bucket_of(&timers[id])->earliest &&
            !before_call[id].is_ahead)
            return true;
    return false;
}

/* Takes the step now_doing on the wheel and on the oracle. */
static void take_step(void)
{
    uint64_t time = time_from_clock(now_doing.time);
    work.placed = 0;
    work.postponed = 0;
    memset(work.touched, 0, sizeof(work.touched));
    put_off_groups();
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

static uint64_t hash; /* of the wheel's state */
static uint32_t lenient;
static uint64_t structure; /* the hash of the wheel without the oracle */
static uint8_t name_of[GROUPS];
static uint8_t names;

static void add(uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9fb21c651e98df25);
    hash ^= hash >> 29;
}

/* Ticks too far in the past for any further step. Only the order of passed
 * ticks matters: a passed tick counts as its rank, from the clock down. */
static uint64_t passed[TIMERS];
static size_t passed_count;

static void note_passed(uint64_t tick)
{
    size_t at = 0;
    if (tick + 1 >= tw.clock_tick)
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
    if (!twi_is_empty(bucket))
        for (tw_timer **slot = bucket->front; slot != bucket->back;
             slot = twi_next_slot(slot))
            if (*slot != NULL)
                return true;
    return false;
}

static void find_passed(void)
{
    passed_count = 0;
    for (size_t i = 0; i < model.count; i++)
        note_passed(timers[model.entries[i].id].deadline);
}

/* Returns a tick relative to the clock, or 512 plus the rank if passed. */
static uint64_t relative(uint64_t tick)
{
    uint64_t rank = 0;
    if (tick + 1 >= tw.clock_tick)
        return tick - tw.clock_tick;
    while (rank < passed_count && passed[rank] != tick)
        rank++;
    return 512 + rank;
}

/* Returns a timer's number. Groups are numbered as the hash meets them. */
static unsigned canonical(const tw_timer *timer)
{
    unsigned id = (unsigned)(timer - timers);
    uint8_t *name = &name_of[id / members];
    if (*name == 0)
        *name = ++names;
    return *name * MEMBERS + id % members;
}

/* Returns the bucket from which the buckets of a wheel are numbered: the bucket
 * of the clock's own step, or 0 in the case "whole turns". */
static unsigned origin_of(unsigned level)
{
    return play->whole_turns
               ? 0
               : (unsigned)(tw.clock_tick >> level * tw.size_bits) % ring;
}

/* Hashes the slots of a bucket, from the first to the last. The place of the
 * first slot decides the places of all slots in chunks. */
static void add_slots(const twi_bucket *bucket)
{
    if (play->tidiness == AS_LEFT)
        add((uintptr_t)bucket->front % TWI_CHUNK_BYTES);
    if (play->tidiness == AS_LEFT && play->ahead && bucket->back != NULL)
        for (const twi_chunk *chunk = twi_chunk_of(
                 twi_is_empty(bucket) ? bucket->back - 1 : bucket->front);
             chunk != NULL; chunk = chunk->next)
            add(chunk->number); /* moving ahead depends on numbers */
    for (tw_timer **slot = bucket->front; slot != bucket->back;
         slot = twi_next_slot(slot))
        if (*slot != NULL)
            add((canonical(*slot) * 1024 + relative((*slot)->deadline)) * 2 +
                ((*slot)->place & TWI_SORTED_BIT));
        else if (play->tidiness == AS_LEFT)
            add(1);
}

/* Returns the earliest deadline in a bucket. */
static uint64_t earliest_in(const twi_bucket *bucket)
{
    uint64_t earliest = UINT64_MAX;
    for (tw_timer **slot = bucket->front; slot != bucket->back;
         slot = twi_next_slot(slot))
        if (*slot != NULL && (*slot)->deadline < earliest)
            earliest = (*slot)->deadline;
    return earliest;
}

static bool is_due_at(uint64_t tick)
{
    for (size_t i = 0; i < model.count; i++)
        if (model.entries[i].tick_index == tick)
            return true;
    return false;
}

/* A bucket's `earliest` may be too early in three cases: the oracle knows a
 * timer that left the tick, a timer of the tick was moved ahead and is still
 * due, or a limited call left the tick unfinished. */
static void judge_mark(const twi_bucket *bucket)
{
    uint64_t earliest = earliest_in(bucket);
    if (bucket->earliest == earliest || !EXPECT(bucket->earliest < earliest))
        return;
    EXPECT(oracle_ticks_have(&model.stale, bucket->earliest) ||
           (play->ahead && is_due_at(bucket->earliest)) ||
           (!model.finished && bucket->earliest <= tw.clock_tick));
}

/* Calls `visit` for every bucket with slots in use, or with a chunk. */
static void each_bucket(void (*visit)(const twi_bucket *bucket, unsigned where))
{
    for (unsigned level = 0; level < play->wheels; level++) {
        unsigned origin = origin_of(level), where = level * ring;
        if (tw.wheels[level] == NULL)
            continue;
        for (unsigned i = 0; i < ring; i++) {
            const twi_bucket *bucket =
                &tw.wheels[level]->buckets[(origin + i) % ring];
            if (bucket->back != NULL)
                visit(bucket, where + i);
        }
    }
    for (unsigned i = 0; i < TWI_OUTSIDE_BUCKETS; i++)
        if (play->tidiness == AS_LEFT ? !twi_is_empty(&tw.outside[i])
                                      : has_timers(&tw.outside[i]))
            visit(&tw.outside[i], play->wheels * ring + i);
}

static void add_bucket(const twi_bucket *bucket, unsigned where)
{
    bool in_wheel = where < play->wheels * ring;
    const twi_wheel *wheel = in_wheel ? tw.wheels[where / ring] : NULL;
    if (twi_is_empty(bucket) && play->tidiness != AS_LEFT)
        return;
    add(where * 4 + 1 + !twi_is_empty(bucket));
    add_slots(bucket);
    if (!in_wheel && play->tidiness == AS_LEFT)
        add(relative(bucket->earliest));
    if (!in_wheel)
        return;
    if (has_timers(bucket))
        judge_mark(bucket);
    add(relative(bucket->earliest));
    add(relative(bucket->latest));
    if (play->tidiness == AS_LEFT)
        add(tw.last_slot != NULL && tw.last_slot + 1 == bucket->back);
    if (bucket == wheel->first)
        add(wheel->progress);
}

/* Notes ticks at which a wake-up in vain is allowed from now on. */
static void expect_vain(const twi_bucket *bucket, unsigned where)
{
    if (where < play->wheels * ring && bucket->earliest <= bucket->latest)
        oracle_ticks_add(&model.stale, bucket->earliest);
}

/* Hashes the marks of a wheel. A marked bucket may be empty. */
static void add_marks(unsigned level)
{
    uint64_t marks = twi_marks(tw.wheels[level])[0];
    unsigned origin = origin_of(level);
    add((marks >> origin | marks << (ring - origin)) & ((1U << ring) - 1));
}

/* Hashes the progress of moving ahead in a wheel. A wheel without a large
 * bucket may get a large bucket later in the step. */
static void add_ahead(const twi_wheel *wheel)
{
    uint64_t own_step = tw.clock_tick >> wheel->shift << wheel->shift;
    if (wheel->moved_at > own_step) {
        add(tw.clock_tick - wheel->moved_at + 2);
        add(wheel->behind);
    }
    if (!wheel->may_have_large)
        return;
    add(7 + wheel->level);
    add(tw.ahead_at <= tw.clock_tick ? 0 : tw.ahead_at - tw.clock_tick);
}

/* Hashes the existing wheels, and the position of the clock in a bucket of the
 * coarsest wheel, or in two turns. */
static void add_wheels(void)
{
    uint64_t span = 1, wheels = 0;
    for (unsigned level = 0; level < play->wheels; level++) {
        wheels = wheels * 2 + (tw.wheels[level] != NULL);
        if (tw.wheels[level] == NULL)
            continue;
        add_marks(level);
        if (tw.wheels[level]->queue_index != TWI_UNQUEUED)
            add(relative(tw.wheels[level]->queue_tick));
        add_ahead(tw.wheels[level]);
    }
    EXPECT(tw.wheels[play->wheels] == NULL);
    for (unsigned level = 1; level < play->wheels; level++)
        span *= play->size;
    if (play->whole_turns)
        span *= ring;
    add(wheels);
    add(tw.clock_tick % span);
}

/* Returns the number of overdue timers (with `slots_too`: slots) that fire in a
 * turn or earlier. */
static unsigned overdue_in_turn(unsigned turn, bool slots_too)
{
    const twi_bucket *overdue = &tw.outside[TWI_OVERDUE];
    unsigned count = 0;
    if (!twi_is_empty(overdue))
        for (tw_timer **slot = overdue->front;
             slot != overdue->back &&
             twi_is_before_position(slot, tw.turns[turn].overdue_until);
             slot = twi_next_slot(slot))
            count += slots_too || *slot != NULL;
    return count;
}

/* Hashes the turns: timers left by limited calls fire before timers that start
 * overdue from now on. */
static void add_left(void)
{
    if (!has_overdue)
        return;
    add(tw.turn_count);
    for (unsigned i = 0; i < tw.turn_count; i++) {
        uint64_t until = tw.turns[i].due_until;
        add(overdue_in_turn(i, play->tidiness == AS_LEFT));
        add(until < tw.clock_tick ? 0 : until - tw.clock_tick + 1);
    }
    if (play->tidiness == AS_LEFT)
        add(tw.has_outside);
}

/* Returns the turn in which the wheel fires the oracle's entry `at`. */
static unsigned turn_in_wheel(size_t at)
{
    unsigned turn = 0;
    uint64_t tick = model.entries[at].tick_index;
    while (turn < tw.turn_count &&
           (tick == 0 ? at >= overdue_in_turn(turn, false)
                      : tick > tw.turns[turn].due_until))
        turn++;
    return turn;
}

/* Checks that wheel and oracle agree on the order of overdue and due timers,
 * if the oracle knows the order. */
static void judge_left(void)
{
    if (model.loose)
        return;
    for (size_t i = 0; i < model.count; i++)
        for (size_t j = i + 1;
             model.entries[i].tick_index == 0 && j < model.count; j++)
            if (model.entries[j].tick_index != 0)
                EXPECT((turn_in_wheel(i) <= turn_in_wheel(j)) ==
                       (oracle_turn_of(&model, &model.entries[i]) <=
                        oracle_turn_of(&model, &model.entries[j])));
}

/* Hashes the timers that must fire before the entry `at`, in the same tick. */
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
    add_left();
    each_bucket(add_bucket);
    structure = hash;
    for (size_t i = 0; i < model.count; i++)
        add_order(i);
}

/* -------------------------------------------------------------- tidying -- */

/* Moves the timers of a bucket to the beginning of the first chunk. Numbers the
 * chunks from 0. */
static void tidy_slots(twi_bucket *bucket)
{
    tw_timer *kept[TIMERS];
    unsigned count = 0;
    for (tw_timer **slot = bucket->front; slot != bucket->back;
         slot = twi_next_slot(slot))
        if (*slot != NULL)
            kept[count++] = *slot;
    tw_timer **slot = twi_chunk_of(bucket->front)->slots, **last = slot;
    bucket->front = slot;
    for (unsigned i = 0; i < count; i++, slot = twi_next_slot(slot)) {
        last = slot;
        twi_chunk_of(slot)->number = i / TWI_SLOTS;
        kept[i]->place = (uintptr_t)slot | (kept[i]->place & TWI_SORTED_BIT);
        *slot = kept[i];
    }
    twi_truncate(&tw, bucket, last);
}

/* A bucket without timers gives its chunks back. */
static void empty_bucket(twi_bucket *bucket)
{
    if (bucket->back == NULL)
        return;
    twi_free_chunks(
        &tw,
        twi_chunk_of(twi_is_empty(bucket) ? bucket->back - 1 : bucket->front),
        twi_last_chunk(bucket));
    tw.buckets_used--;
    bucket->front = bucket->back = NULL;
}

static void tidy_bucket(twi_wheel *wheel, uint32_t index)
{
    twi_bucket *bucket = &wheel->buckets[index];
    bool is_sorted = wheel->first == bucket && wheel->progress == TWI_SORTED;
    tidy_slots(bucket);
    if ((!cascades || wheel->level == play->wheels - 1) && !is_sorted &&
        bucket->latest != bucket->earliest)
        bucket->latest = bucket->earliest | ((UINT64_C(1) << wheel->shift) - 1);
}

static void tidy_wheel(twi_wheel *wheel)
{
    bool first_has_timers = has_timers(wheel->first);
    for (uint32_t i = 0; i < ring; i++) {
        if (has_timers(&wheel->buckets[i])) {
            tidy_bucket(wheel, i);
            continue;
        }
        empty_bucket(&wheel->buckets[i]);
        if (&wheel->buckets[i] != wheel->first ||
            wheel->queue_index == TWI_UNQUEUED)
            twi_clear_bucket(wheel, &wheel->buckets[i]);
    }
    if (wheel->queue_index != TWI_UNQUEUED && !first_has_timers)
        twi_requeue(&tw, wheel);
}

static void tidy(void)
{
    if (play->tidiness == AS_LEFT)
        return;
    twi_bucket *overdue = &tw.outside[TWI_OVERDUE];
    unsigned before[TWI_TURNS];
    twi_clear_caches(&tw);
    for (unsigned i = 0; i < tw.turn_count; i++)
        before[i] = overdue_in_turn(i, false);
    for (unsigned i = 0; i < tw.turn_count; i++)
        tw.turns[i].overdue_until = before[i];
    tw.has_outside = has_timers(overdue);
    if (tw.has_outside) {
        tidy_slots(overdue);
    } else {
        empty_bucket(overdue);
        tw.turns[0] = tw.turns[tw.turn_count - 1];
        tw.turn_count = 1;
    }
    for (unsigned level = 0; level < play->wheels; level++)
        if (tw.wheels[level] != NULL)
            tidy_wheel(tw.wheels[level]);
}

/* ------------------------------------------------------ work of a step ---
 * How many timers may a step move? The bound follows from the state before the
 * step, and from the starts and postpones of the step:
 *
 *   - Timers move only out of buckets that the clock enters or passes, and out
 *     of the next bucket of each wheel.
 *   - A small bucket never cascades, nor a sorted bucket, nor a bucket of one
 *     tick. A bucket goes on moving if earlier calls have begun to move it.
 *   - A timer leaves a bucket once. Therefore a timer moves at most once per
 *     wheel, and once more for each postpone.
 *   - Out of the next bucket, a call moves a share of the bucket's chunks: the
 *     share of the time that has passed. */

#define NO_LEVEL 64 /* not pending, or outside of the wheels */

/* Returns the wheel of a timer. */
static unsigned level_of(const tw_timer *timer)
{
    if (!tw_is_pending(timer))
        return NO_LEVEL;
    const twi_bucket *bucket = bucket_of(timer);
    for (unsigned level = 0; level < play->wheels; level++)
        if (tw.wheels[level] != NULL && bucket >= tw.wheels[level]->buckets &&
            bucket < tw.wheels[level]->buckets + ring)
            return level;
    return NO_LEVEL;
}

/* Returns the bucket of a block, or NULL if the wheel does not hold the block.
 * The bucket may be empty, and may still have the span of cancelled timers. */
static const twi_bucket *bucket_at(unsigned level, uint64_t block)
{
    const twi_wheel *wheel = tw.wheels[level];
    if (wheel == NULL || block - (tw.clock_tick >> wheel->shift) >= ring)
        return NULL;
    return &wheel->buckets[block % ring];
}

/* Counts the slots of a bucket. */
static oracle_block timers_in(const twi_bucket *bucket, uint64_t *slots)
{
    oracle_block found = oracle_no_block;
    if (bucket == NULL)
        return found;
    found.first = bucket->earliest;
    found.last = bucket->latest;
    for (tw_timer **slot = bucket->front; slot != bucket->back;
         slot = twi_next_slot(slot)) {
        found.count += *slot != NULL;
        ++*slots;
    }
    return found;
}

/* Adds the timers that may come into a block in the step: from coarser wheels,
 * by a postpone, or by a start. Returns their number. */
static unsigned add_incoming(oracle_block *found, unsigned level,
                             uint64_t block)
{
    unsigned shift = level * tw.size_bits, count = 0;
    for (size_t i = 0; i < model.count; i++) {
        const tw_timer *timer = &timers[model.entries[i].id];
        if (timer->deadline >> shift != block || is_aside(timer) ||
            (level_of(timer) <= level &&
             timer->deadline <= bucket_of(timer)->latest))
            continue;
        oracle_block_add(found, timer->deadline, 1);
        count++;
    }
    for (unsigned i = 0; i < work.placed; i++) {
        uint64_t tick = work.places[i].tick;
        if (tick >> shift != block ||
            (!work.places[i].postponed && block < (tw.clock_tick >> shift) + 2))
            continue;
        oracle_block_add(found, tick, 1);
        count++;
    }
    return count;
}

/* Returns true if earlier calls have begun to move a bucket down or ahead. */
static bool has_begun(unsigned level, uint64_t block)
{
    const twi_wheel *wheel = tw.wheels[level];
    if (block == (work.clock >> wheel->shift) + 1)
        return wheel->moved_at > (block - 1) << wheel->shift;
    return wheel->first == bucket_at(level, block) &&
           wheel->progress == TWI_CASCADING;
}

/* Returns how many timers a step may move out of a bucket. */
static uint64_t moves_out_of(unsigned level, uint64_t block)
{
    const twi_bucket *bucket = bucket_at(level, block);
    uint64_t slots = 0;
    oracle_block found = timers_in(bucket, &slots);
    unsigned incoming = add_incoming(&found, level, block);
    slots += incoming;
    if (bucket != NULL && has_begun(level, block))
        return found.count;
    if (bucket != NULL && bucket == tw.wheels[level]->first &&
        tw.wheels[level]->progress == TWI_SORTED && incoming == 0)
        return 0;
    bool is_small = found.count <= TWI_LARGE_TIMERS &&
                    slots <= (TWI_LARGE_CHUNKS - 1) * TWI_SLOTS + 1;
    return is_small || found.first >= found.last ? 0 : found.count;
}

static uint64_t moves_allowed(void)
{
    uint64_t allowed = work.postponed;
    for (size_t i = 0; i < model.count; i++) {
        const tw_timer *timer = &timers[model.entries[i].id];
        allowed +=
            !is_aside(timer) && timer->deadline > bucket_of(timer)->latest;
    }
    for (unsigned level = 1; level < play->wheels; level++) {
        unsigned shift = level * tw.size_bits;
        uint64_t last = (work.clock >> shift) + 1;
        for (uint64_t block = tw.clock_tick >> shift; block <= last; block++)
            allowed += moves_out_of(level, block);
    }
    return allowed;
}

/* Returns how many timers a step may move out of the next bucket of a wheel. */
static uint64_t ahead_allowed(unsigned level, uint64_t block)
{
    const twi_wheel *wheel = tw.wheels[level];
    const twi_bucket *bucket = bucket_at(level, block);
    uint64_t from = (block - 1) << wheel->shift, behind = 0, chunks = 0;
    oracle_block found = oracle_no_block;
    if (twi_is_empty(bucket))
        return 0;
    for (const twi_chunk *chunk = twi_chunk_of(bucket->front); chunk != NULL;
         chunk = chunk->next)
        chunks++;
    unsigned incoming = add_incoming(&found, level, block);
    if (incoming != 0)
        chunks += incoming / TWI_SLOTS + 1;
    if (wheel->moved_at > from) {
        from = wheel->moved_at;
        behind = wheel->behind;
    } else if (chunks <= TWI_LARGE_CHUNKS) {
        return 0;
    }
    uint64_t span = (block << wheel->shift) - from;
    if (behind > chunks)
        behind = chunks;
    uint64_t share = (chunks - behind) * (work.clock - from);
    return (behind + (share + span - 1) / span) * TWI_SLOTS;
}

/* Returns how many timers the step has moved out of a bucket to finer wheels,
 * and that the step has not touched otherwise. */
static uint64_t moved_ahead(unsigned level, uint64_t block)
{
    const twi_bucket *bucket = bucket_at(level, block);
    uint64_t count = 0;
    for (tw_timer **slot = bucket->front; slot != bucket->back;
         slot = twi_next_slot(slot))
        count += *slot != NULL && !work.touched[*slot - timers] &&
                 work.levels_after[*slot - timers] < level;
    return count;
}

/* Notes what the step has done. The wheel is as the step has left the wheel. */
static void note_work(void)
{
    work.moved = tw.cascaded - saved_tw.cascaded;
    work.clock = tw.clock_tick;
    EXPECT(tw.handled - saved_tw.handled == call_fired + work.moved);
    steps_moved += work.moved != 0;
    if (play->ahead && work.moved != 0)
        for (unsigned id = 0; id < play->groups * members; id++)
            work.levels_after[id] = level_of(&timers[id]);
}

/* Judges what note_work has noted. The wheel is as before the step, except that
 * a failure shows the clock after the step. */
static void judge_work(void)
{
    if (work.moved == 0)
        return;
    bool is_right = work.moved <= moves_allowed();
    for (unsigned level = 1; play->ahead && level < play->wheels; level++) {
        uint64_t block = (work.clock >> level * tw.size_bits) + 1;
        if (bucket_at(level, block) != NULL)
            is_right &=
                moved_ahead(level, block) <= ahead_allowed(level, block);
    }
    if (!is_right)
        tw.now = work.clock;
    EXPECT_RIGHT(is_right ? NULL : "the step moves more timers than allowed");
}

/* ------------------------------------------------ judging and going back -- */

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
    judge_left();
}

static void save(void)
{
    size_t count = play->groups * members;
    saved_arena.used = arena.used;
    memcpy(&saved_arena.room, &arena.room, arena.used);
    memcpy(saved_timers, timers, count * sizeof(*timers));
    saved_tw = tw;
    saved_model = model;
    saved_stale_count = model.stale.count;
    memcpy(saved_stale, model.stale.ticks, sizeof(saved_stale));
    memcpy(saved_entries, model.entries, model.count * sizeof(oracle_entry));
    memcpy(saved_model_timers, model.timers, count * sizeof(oracle_timer));
}

/* Returns true if a bucket has dead slots. */
static bool has_dead(const twi_bucket *bucket)
{
    if (!twi_is_empty(bucket))
        for (tw_timer **slot = bucket->front; slot != bucket->back;
             slot = twi_next_slot(slot))
            if (*slot == NULL)
                return true;
    return false;
}

/* Copies the turns of the wheel to the oracle. A dead slot of an overdue timer
 * may stand for a timer that started later. */
static void learn_left(void)
{
    unsigned left = overdue_in_turn(tw.turn_count - 1, false), overdue = 0;
    while (overdue < model.count && model.entries[overdue].tick_index == 0)
        overdue++;
    bool may_have_newer = overdue > left || has_dead(&tw.outside[TWI_OVERDUE]);
    model.last_overdue = may_have_newer ? model.sequence : 0;
    model.turn_count = tw.turn_count;
    for (unsigned i = 0; i < tw.turn_count; i++) {
        unsigned count = overdue_in_turn(i, false);
        model.turns[i].overdue_until =
            count == 0 ? 0 : model.entries[count - 1].sequence + 1;
        model.turns[i].due_until = tw.turns[i].due_until;
    }
    if (!may_have_newer)
        model.turns[tw.turn_count - 1].overdue_until = model.sequence;
    model.loose = false;
}

/* Reduces the oracle's knowledge of the past to the state of the wheel. */
static void forget_the_past(void)
{
    model.finished = true;
    model.stale.count = 0;
    model.stale_calls = has_dead(&tw.outside[TWI_OVERDUE]);
    learn_left();
    each_bucket(expect_vain);
    for (uint32_t i = 0; i < tw.queued; i++)
        oracle_ticks_add(&model.stale, tw.queue[i]->queue_tick);
}

static void revert(void)
{
    oracle_ticks stale = model.stale;
    size_t count = play->groups * members;
    arena.used = saved_arena.used;
    memcpy(&arena.room, &saved_arena.room, arena.used);
    memcpy(timers, saved_timers, count * sizeof(*timers));
    tw = saved_tw;
    model = saved_model;
    model.stale = stale;
    model.stale.count = saved_stale_count;
    memcpy(model.stale.ticks, saved_stale, sizeof(saved_stale));
    memcpy(model.entries, saved_entries, model.count * sizeof(oracle_entry));
    memcpy(model.timers, saved_model_timers, count * sizeof(oracle_timer));
}

/* Makes an empty wheel. The clock starts shortly before 2^32, at a whole turn
 * of every wheel. */
static void begin(void)
{
    tw_config config = {0, 0, 0, 0, NULL};
    config.start = (UINT64_C(1) << 32) - 64;
    config.wheel_size = play->size;
    arena.used = 0;
    EXPECT(tw_init(&tw, &config) == TW_OK);
    if (play->reserved) /* the first step of a wheel is two steps ahead */
        EXPECT(tw_reserve(&tw, play->groups * members, /* of the clock */
                          config.start + (UINT64_C(2) << (play->wheels - 1) *
                                                             tw.size_bits)) ==
               TW_OK);
    for (unsigned level = 0; play->reserved && level < play->wheels; level++)
        EXPECT(tw.wheels[level] != NULL);
    for (unsigned i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_fire);
    oracle_free(&model);
    oracle_init(&model, 1, config.start, TIMERS);
    for (uint64_t i = 0; i < VAIN; i++)
        oracle_ticks_add(&model.stale, i); /* make room for all */
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
    tidy();
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

/* Notes a second way to a state, if the sample takes the way. All ways have the
 * same probability. */
static void note_twin(uint32_t index, uint32_t parent)
{
    if (states[index].lenient != lenient)
        return;
    uint64_t at = ++twins_met;
    if (at > TWINS)
        at = 1 + (twins_met * UINT64_C(0x9fb21c651e98df25) >> 20) % twins_met;
    if (at > TWINS)
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

/* Notes the state of the wheel, if the state is new, or if the oracle was more
 * lenient before. */
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

/* Chooses the next combination of callbacks' actions. Returns false at the
 * end. */
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

/* The states at rest of a search, by hash, to compare two searches. */
static struct {
    bool wanted;
    uint64_t *hashes; /* 0: none */
    uint32_t count, capacity;
    uint64_t sum;
} rest;

/* Returns true if no postponed timer is left to look at, in any bucket. */
static bool is_at_rest(void)
{
    for (size_t i = 0; i < model.count; i++) {
        const tw_timer *timer = &timers[model.entries[i].id];
        const twi_bucket *bucket = bucket_of(timer);
        if (model.entries[i].any_place && !is_aside(timer) &&
            (timer->deadline > bucket->latest ||
             earliest_in(bucket) != bucket->earliest ||
             (!cascades && share_bucket())))
            return false;
    }
    return true;
}

static void add_rest(uint64_t value)
{
    uint32_t at = (uint32_t)value & (rest.capacity - 1);
    for (; rest.hashes[at] != 0; at = (at + 1) & (rest.capacity - 1))
        if (rest.hashes[at] == value)
            return;
    rest.hashes[at] = value;
    rest.count++;
    rest.sum += value;
}

static void grow_rest(void)
{
    uint64_t *old = rest.hashes;
    uint32_t capacity = rest.capacity;
    rest.capacity = capacity == 0 ? 1024 : capacity * 2;
    rest.hashes =
        (uint64_t *)memory(NULL, rest.capacity * sizeof(*rest.hashes));
    memset(rest.hashes, 0, rest.capacity * sizeof(*rest.hashes));
    rest.count = 0;
    rest.sum = 0;
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i] != 0)
            add_rest(old[i]);
    free(old);
}

static void forget_rest(void)
{
    free(rest.hashes);
    memset(&rest, 0, sizeof(rest));
}

/* Notes the hashed state as the result of the step. */
static void note_where_it_led(void)
{
    if (summing) {
        sum_after += (hash ^ hash >> 31) * UINT64_C(0x9fb21c651e98df25);
        return;
    }
    note_state(expanding);
    if (!rest.wanted || !is_at_rest())
        return;
    if (rest.count >= rest.capacity / 2)
        grow_rest();
    add_rest(structure);
}

static int8_t put_off[GROUPS]; /* for step.put_off */

/* Counts the step if the step moved timers ahead. */
static void note_ahead(void)
{
    for (unsigned level = 0; level < play->wheels; level++)
        if (tw.wheels[level] != NULL &&
            tw.wheels[level]->moved_at > moved_at[level]) {
            steps_ahead++;
            return;
        }
}

/* Tries a step from the saved state, with every action of callbacks. */
static void try_step(enum step_kind kind, unsigned group, int time, bool acting)
{
    if (tap_failed_checks != 0)
        return;
    memset(&now_doing, 0, sizeof(now_doing));
    now_doing.kind = (uint8_t)kind;
    now_doing.group = (uint8_t)group;
    now_doing.time = (int8_t)time;
    now_doing.acting = acting;
    memcpy(now_doing.put_off, put_off, sizeof(put_off));
    choices_given = 0;
    for (unsigned level = 0; level < play->wheels; level++)
        moved_at[level] =
            tw.wheels[level] == NULL ? 0 : tw.wheels[level]->moved_at;
    do {
        take_step();
        note_work();
        judge_rest();
        note_ahead();
        bool overlooked = has_overlooked();
        tidy();
        hash_state();
        transitions++;
        if (tap_failed_checks != 0)
            return;
        if (!overlooked)
            note_where_it_led();
        revert();
        judge_work();
    } while (tap_failed_checks == 0 && choose_next());
}

/* Returns true if a wheel holds the tick. The coarsest wheel always holds ticks
 * up to a turn of steps ahead. In the case "whole turns", the wheel may hold
 * ticks up to two turns ahead. */
static bool in_window(int time)
{
    unsigned shift = (play->wheels - 1) * tw.size_bits;
    uint64_t tick = time_from_clock(time);
    if (time <= 0)
        return true;
    return play->whole_turns
               ? twi_level_of(&tw, tick) < play->wheels
               : (tick >> shift) - (tw.clock_tick >> shift) <= play->size;
}

static unsigned others_postponed(unsigned group)
{
    unsigned count = 0;
    for (size_t i = 0; i < model.count; i++)
        count += model.entries[i].any_place &&
                 model.entries[i].id / members != group;
    return (count + members - 1) / members;
}

/* Returns true if a timer started for `tick` enters this bucket. */
static bool would_join(const twi_bucket *bucket, uint64_t tick)
{
    if (tick <= tw.clock_tick)
        return false;
    const twi_wheel *wheel = tw.wheels[twi_level_of(&tw, tick)];
    return wheel != NULL &&
           bucket == &wheel->buckets[twi_index_of(&tw, wheel, tick)];
}

/* Returns true if nothing reads the deadline before the bucket comes up. */
static bool may_wait(const tw_timer *timer)
{
    return play->sparing && !is_aside(timer) && timer->deadline > tw.clock_tick;
}

static bool is_worth_postponing(const tw_timer *timer, int time)
{
    int later = (int)(int64_t)(timer->deadline - tw_now(&tw));
    if (!tw_is_pending(timer))
        return time == 1;
    /* To postpone to an earlier tick is to start: try a single tick. */
    return time == later - 1 || (time >= later && !may_wait(timer));
}

static void try_group(unsigned group)
{
    const tw_timer *timer = &timers[group * members];
    bool may_postpone = others_postponed(group) < play->postponed;
    bool moves = play->sparing && tw_is_pending(timer) && !is_aside(timer);
    for (int time = play->soonest; time <= play->reach; time++) {
        if (!in_window(time))
            break;
        if (!moves || would_join(bucket_of(timer), time_from_clock(time)))
            try_step(STEP_START, group, time, false);
        if (may_postpone && is_worth_postponing(timer, time))
            try_step(STEP_POSTPONE, group, time, false);
    }
    try_step(STEP_CANCEL, group, 0, false);
}

static int first_due(void)
{
    int due = play->reach + 1;
    if (model.count != 0)
        due = (int)(int64_t)(model.entries[0].tick_index - tw_now(&tw));
    return due < 0 ? 0 : due;
}

static bool is_last(int time)
{
    return time == play->reach || !in_window(time + 1);
}

/* Returns true if callbacks act in a call to that time: at every time, or at
 * the first due tick, the next tick, and the last tick. */
static bool acts_at(int time)
{
    int due = first_due();
    return play->every_target || is_last(time) || time == due ||
           time == due + 1;
}

/* Tries calls to a time: an advance, advances with limits, and a poll. A limit
 * cuts a group only in the middle. */
static void try_call(int time, bool limited)
{
    unsigned half = (members + 1) / 2;
    bool acting = acts_at(time);
    try_step(STEP_ADVANCE, 0, time, acting);
    for (unsigned i = 1; limited && i <= play->limits; i++)
        try_step(STEP_LIMITED, i * half, time, acting);
    if (limited)
        try_step(STEP_POLL, 0, time, false);
}

/* Tries all calls. If no bucket comes up, calls only move the clock, and limits
 * are tried only for the clock's own tick. */
static void try_calls(void)
{
    uint64_t next = 0;
    bool found = tw_next_deadline(&tw, &next);
    for (int time = -1; time <= play->reach; time++) {
        if (!in_window(time))
            break;
        uint64_t target = time_from_clock(time > 0 ? time : 0);
        bool idle = !found || next > target;
        if (play->sparing && (idle ? time > 1 : next != target) && time > 0 &&
            !acts_at(time))
            continue;
        try_call(time, !idle || time == 0);
    }
}

/* Returns true if a timer waits in a bucket that comes up at `tick`. */
static bool comes_up(const tw_timer *timer, uint64_t tick)
{
    return tw_is_pending(timer) && may_wait(timer) &&
           bucket_of(timer)->earliest == tick;
}

/* Tries calls to the tick at which postponed timers come up. A limited call may
 * leave part of a bucket outside of the wheels, and the next call looks at that
 * part at any target. Therefore limited calls go further, too. */
static void try_call_put_off(int due)
{
    bool shared = share_bucket();
    try_call(due, true);
    while (shared && ++due <= play->reach && in_window(due))
        for (unsigned i = 1; i <= play->limits; i++)
            try_step(STEP_LIMITED, i, due, acts_at(due));
}

/* Tries calls to the next tick at which a bucket comes up, after postponing one
 * or more timers of the bucket, from `group` on. */
static void try_put_off(unsigned group, uint64_t tick, bool any)
{
    if (group == play->groups) {
        if (any)
            try_call_put_off((int)(int64_t)(tick - tw.clock_tick));
        return;
    }
    const tw_timer *timer = &timers[group * members];
    try_put_off(group + 1, tick, any);
    if (!comes_up(timer, tick))
        return;
    int time = 1 + (int)(int64_t)(timer->deadline - tw.clock_tick);
    int most = play->reach, near = (int)play->size;
    if (any) {
        time = time < put_off[0] - near ? put_off[0] - near : time;
        most = most < put_off[0] + near ? most : put_off[0] + near;
    }
    for (; time <= most && in_window(time); time++) {
        put_off[group] = (int8_t)time;
        try_put_off(group + 1, tick, true);
    }
    put_off[group] = 0;
}

/* Returns true if an earlier group is idle like this group. Trying the earlier
 * group is enough. */
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

/* Tries every step from the state of the wheel. */
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
    uint64_t next = 0;
    if (play->sparing && play->postponed != 0 && tap_failed_checks == 0 &&
        tw_next_deadline(&tw, &next))
        try_put_off(0, next, false);
}

static void expand(uint32_t index)
{
    expanding = index;
    go_to(index);
    try_steps(index);
}

/* The length of a search, from the command line. A search that is cut short has
 * tried every step from the nearest states. */
static enum { QUICK, USUAL, FULL, COMPLETE } effort = USUAL;

/* Checks that each sampled state leads to the same states by both ways. Skips a
 * state whose way was replaced by a stricter way. */
static void compare_twins(void)
{
    unsigned compared = 0, differing = 0;
    summing = true;
    unsigned most = effort == QUICK   ? TWINS / 50
                    : effort == USUAL ? TWINS / 10
                                      : TWINS;
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
        tidy();
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
    EXPECT(differing == 0);
}

static uint64_t most_transitions(void)
{
    unsigned most = effort >= FULL ? play->most_full : play->most;
    if (effort == QUICK)
        return 50000;
    if (effort == COMPLETE && play->complete)
        return UINT64_MAX;
    return most == 0 ? UINT64_MAX : most * UINT64_C(100000);
}

/* Makes an empty wheel, and notes its state. Returns false if the case cannot
 * run. */
static bool begin_search(const search *what)
{
    if (what->few != 5 && !FEW_CAN_BE_SET) {
        printf("# *** SKIPPED: TWI_LARGE_TIMERS cannot be set\n");
        return false;
    }
    play = what;
    few = what->few;
    few_chunks = what->ahead ? 2 : TWI_SORT_CHUNKS;
    ring = 2 * what->size;
    has_overdue = what->soonest < 1;
    for (unsigned i = 0; i < what->delays; i++)
        has_overdue |= what->delay[i] < 1;
    steps_ahead = 0;
    steps_moved = 0;
    cascades = what->kind != OF_ONE || few < what->groups;
    members = what->kind == OF_SIX ? MEMBERS : 1;
    state_count = 0;
    table_size = 0;
    transitions = 0;
    twins_met = 0;
    expanding = 0;
    memset(&now_doing, 0, sizeof(now_doing));
    grow_table();
    begin();
    hash_state();
    note_state(NO_STATE);
    return true;
}

static void explore(const search *what)
{
    uint32_t done = 0;
    if (!begin_search(what))
        return;
    while (done < state_count && tap_failed_checks == 0 &&
           transitions < most_transitions())
        expand(done++);
    printf("# %" PRIu32 " states, %s; %" PRIu64 " transitions from %" PRIu32
           " of them\n",
           state_count,
           done == state_count ? "all there are" : "and there are more",
           transitions, done);
    printf("# in %" PRIu64 " of them timers were moved\n", steps_moved);
    EXPECT(steps_moved != 0 || effort == QUICK ||
           (!cascades && what->postponed == 0));
    if (what->ahead) {
        printf("# in %" PRIu64 " of them timers were moved ahead\n",
               steps_ahead);
        EXPECT(steps_ahead != 0 || effort == QUICK);
    }
    all_states += state_count;
    all_transitions += transitions;
    compare_twins();
}

/* ----------------------------------------------------------------- cases -- */

/* Several fields share a line, to keep the cases short. */
/* clang-format off */

static void made_on_demand(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 5, .soonest = -1,
        .reach = 6, .whole_turns = true, .limits = 2, .delays = 1, .delay = {1},
        .most = 5, .most_full = 0,
    };
    explore(&what);
}

static void in_place_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 5,
        .soonest = -1, .reach = 6, .reserved = true, .postponed = 2,
        .limits = 2, .delays = 2, .delay = {-1, 1}, .most = 5,
    };
    explore(&what);
}

static void cascading_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 0, .soonest = -1,
        .reach = 6, .reserved = true, .postponed = 2, .limits = 3, .delays = 1,
        .delay = {1}, .most = 6, .most_full = 0,
    };
    explore(&what);
}

static void two_cascade_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 1, .soonest = -1,
        .reach = 8, .reserved = true, .limits = 3, .delays = 2, .delay = {0, 1},
        .most = 5, .most_full = 0,
    };
    explore(&what);
}

static void groups_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .kind = OF_SIX, .few = 5,
        .soonest = -1, .reach = 8, .reserved = true, .postponed = 2,
        .limits = 3, .delays = 2, .delay = {0, 1}, .most = 3, .most_full = 40,
    };
    explore(&what);
}

static void every_slot(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 2, .few = 0, .tidiness = AS_LEFT,
        .soonest = -1, .reach = 4, .reserved = true, .postponed = 2,
        .every_target = true, .limits = 3, .delays = 1, .delay = {1}, .most = 3,
        .most_full = 60,
    };
    explore(&what);
}

static void every_slot_in_place(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .few = 5, .tidiness = AS_LEFT,
        .soonest = -1, .reach = 8, .reserved = true, .postponed = 2,
        .limits = 2, .delays = 1, .delay = {1}, .most = 4, .most_full = 60,
    };
    explore(&what);
}

static void every_slot_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 1, .tidiness = AS_LEFT,
        .soonest = 1, .reach = 12, .reserved = true, .postponed = 2,
        .limits = 2, .delays = 1, .delay = {8}, .most = 4, .most_full = 60,
    };
    explore(&what);
}

static void three_in_place(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 3, .few = 5,
        .soonest = -1, .reach = 4, .reserved = true, .postponed = 3,
        .limits = 2, .delays = 1, .delay = {1}, .most = 3, .most_full = 100,
    };
    explore(&what);
}

static void three_cascading(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 3, .few = 0,
        .soonest = -1, .reach = 4, .reserved = true, .limits = 3, .delays = 1,
        .delay = {1}, .most = 4, .most_full = 100,
    };
    explore(&what);
}

static void three_postponed(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 3, .few = 0,
        .soonest = -1, .reach = 4, .reserved = true, .postponed = 3,
        .limits = 3, .delays = 1, .delay = {1}, .most = 3, .most_full = 100,
    };
    explore(&what);
}

static void three_groups(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 3, .kind = OF_SIX, .few = 5,
        .soonest = -1, .reach = 4, .reserved = true, .postponed = 3,
        .limits = 3, .delays = 1, .delay = {1}, .most = 3, .most_full = 40,
    };
    explore(&what);
}

/* Two groups of six in a bucket are moved ahead. */
static void groups_ahead_on_2(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 2, .kind = OF_SIX, .few = 5,
        .ahead = true, .soonest = -1, .reach = 9, .reserved = true,
        .postponed = 1, .limits = 3, .delays = 1, .delay = {1}, .most = 4,
        .most_full = 40,
    };
    explore(&what);
}

static void groups_ahead_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 2, .groups = 2, .kind = OF_SIX, .few = 5,
        .ahead = true, .soonest = 5, .reach = 12, .reserved = true,
        .postponed = 1, .limits = 2, .delays = 1, .delay = {8}, .most = 4,
        .most_full = 30,
    };
    explore(&what);
}

/* Some of three groups of six are moved ahead. The rest is sorted. */
static void three_groups_ahead(void)
{
    static const search what = {
        .size = 4, .wheels = 2, .groups = 3, .kind = OF_SIX, .few = 8,
        .ahead = true, .soonest = 8, .reach = 11, .reserved = true,
        .limits = 2, .delays = 1, .delay = {8}, .most = 4, .most_full = 30,
    };
    explore(&what);
}

static void groups_ahead_every_slot(void)
{
    static const search what = {
        .size = 2, .wheels = 2, .groups = 2, .kind = OF_SIX, .few = 5,
        .ahead = true, .tidiness = AS_LEFT, .soonest = 1, .reach = 5,
        .reserved = true, .postponed = 1, .limits = 2, .delays = 1,
        .delay = {1}, .most = 3, .most_full = 30,
    };
    explore(&what);
}

/* Groups of six are sorted in place, over two chunks. */
static void three_runs(void)
{
    static const search what = {
        .size = 4, .wheels = 2, .groups = 3, .kind = OF_SIX, .few = 40,
        .soonest = 1, .reach = 11, .reserved = true, .postponed = 1,
        .limits = 3, .delays = 1, .delay = {1}, .most = 3,
        .most_full = 40,
    };
    explore(&what);
}

static void three_on_three(void)
{
    static const search what = {
        .size = 2, .wheels = 3, .groups = 3, .few = 1,
        .soonest = 1, .reach = 8, .reserved = true, .limits = 3, .delays = 1,
        .delay = {1}, .most = 4, .most_full = 100,
    };
    explore(&what);
}

static void in_place_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5,
        .soonest = -1, .reach = 20, .reserved = true, .limits = 2, .delays = 1,
        .delay = {8}, .most = 3, .most_full = 150,
    };
    explore(&what);
}

static void cascading_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 0,
        .soonest = -1, .reach = 20, .reserved = true, .limits = 3, .delays = 1,
        .delay = {8}, .most = 4, .most_full = 200,
    };
    explore(&what);
}

static void far_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5,
        .soonest = 1, .reach = 40, .reserved = true, .limits = 1, .delays = 1,
        .delay = {8}, .most = 3, .most_full = 30,
    };
    explore(&what);
}

static void groups_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .kind = OF_SIX, .few = 5,
        .soonest = -1, .reach = 20, .reserved = true,
        .postponed = 2, .limits = 3, .delays = 2, .delay = {0, 8}, .most = 3,
        .most_full = 20,
    };
    explore(&what);
}

static void one_postponed_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5,
        .soonest = 1, .reach = 20, .reserved = true, .postponed = 1,
        .limits = 1, .delays = 1, .delay = {8}, .most = 5, .most_full = 30,
    };
    explore(&what);
}

static void cascading_postponed_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 0,
        .soonest = 1, .reach = 20, .reserved = true, .postponed = 2,
        .sparing = true, .limits = 1, .delays = 1, .delay = {8}, .most = 5,
        .most_full = 100, .complete = true,
    };
    explore(&what);
}

static void postponed_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5,
        .soonest = 1, .reach = 20, .reserved = true, .postponed = 2,
        .sparing = true, .limits = 1, .delays = 1, .delay = {8}, .most = 3,
        .most_full = 60, .complete = true,
    };
    explore(&what);
}

/* Every tick up to 63 ahead. In the coarsest of three wheels of 4, these ticks
 * are in three or four buckets. */
static void all_ticks_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 0,
        .soonest = 1, .reach = 63, .reserved = true, .sparing = true,
        .limits = 2, .delays = 1, .delay = {8}, .most = 3, .most_full = 60,
        .complete = true,
    };
    explore(&what);
}

static void in_place_every_tick_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 5,
        .soonest = 1, .reach = 63, .reserved = true, .sparing = true,
        .limits = 2, .delays = 1, .delay = {8}, .most = 3, .most_full = 30,
        .complete = true,
    };
    explore(&what);
}

static void far_postponed_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 0,
        .soonest = 1, .reach = 63, .reserved = true, .sparing = true,
        .postponed = 2, .limits = 1, .delays = 1, .delay = {8}, .most = 3,
        .most_full = 40, .complete = true,
    };
    explore(&what);
}

static void two_cascade_on_4(void)
{
    static const search what = {
        .size = 4, .wheels = 3, .groups = 2, .few = 1,
        .soonest = 1, .reach = 12, .reserved = true, .sparing = true,
        .postponed = 2, .limits = 2, .delays = 1, .delay = {8}, .most = 3,
        .most_full = 100, .complete = true,
    };
    explore(&what);
}

/* Checks that the steps left out by `sparing` lose no state. */
static void compare_sparing(unsigned how_few)
{
    search what = {
        .size = 2, .wheels = 3, .groups = 2, .soonest = 1,
        .reserved = true, .postponed = 2, .limits = 2, .delays = 1,
        .delay = {3},
    };
    what.few = how_few;
    what.reach = effort >= FULL ? 8 : effort == USUAL && how_few == 0 ? 5 : 4;
    if (how_few == 5 && what.reach > 5)
        what.reach = 5; /* see README.md */
    if (effort == QUICK) {
        what.wheels = 2;
        what.reach = 3;
    }
    rest.wanted = true;
    explore(&what);
    uint64_t sum = rest.sum;
    uint32_t count = rest.count;
    forget_rest();
    rest.wanted = true;
    what.sparing = true;
    explore(&what);
    printf("# %" PRIu32 " at rest, and %" PRIu32 "\n", count, rest.count);
    EXPECT(rest.count == count && rest.sum == sum);
    forget_rest();
}

/* clang-format on */

static void sparing_cascading(void)
{
    compare_sparing(0);
}

static void sparing_two_cascading(void)
{
    compare_sparing(1);
}

static void sparing_in_place(void)
{
    compare_sparing(5);
}

static const tap_case cases[] = {
    {"wheels of 2, made on demand, two timers, whole turns", made_on_demand},
    {"wheels of 2, two timers, in place, postponed", in_place_on_2},
    {"wheels of 2, two timers, cascading, postponed", cascading_on_2},
    {"wheels of 2, two timers, two of them cascading", two_cascade_on_2},
    {"wheels of 2, two groups of six, postponed", groups_on_2},
    {"two wheels of 2, two timers, cascading, postponed, every slot",
     every_slot},
    {"wheels of 2, two timers, in place, postponed, every slot",
     every_slot_in_place},
    {"wheels of 4, two timers, two of them cascading, postponed, every slot",
     every_slot_on_4},
    {"two wheels of 2, three timers, in place, postponed", three_in_place},
    {"two wheels of 2, three timers, cascading", three_cascading},
    {"two wheels of 2, three timers, cascading, postponed", three_postponed},
    {"two wheels of 2, three groups of six, postponed", three_groups},
    {"two wheels of 4, three groups of six, sorted in place", three_runs},
    {"wheels of 2, two groups of six, moved ahead, postponed",
     groups_ahead_on_2},
    {"two wheels of 4, two groups of six, moved ahead, postponed",
     groups_ahead_on_4},
    {"two wheels of 4, three groups of six, moved ahead", three_groups_ahead},
    {"two wheels of 2, two groups of six, moved ahead, every slot",
     groups_ahead_every_slot},
    {"wheels of 2, three timers, cascading", three_on_three},
    {"wheels of 4, two timers, in place", in_place_on_4},
    {"wheels of 4, two timers, cascading", cascading_on_4},
    {"wheels of 4, two timers, in place, far", far_on_4},
    {"wheels of 4, two groups of six, postponed", groups_on_4},
    {"wheels of 4, two timers, in place, one postponed", one_postponed_on_4},
    {"wheels of 4, two timers, cascading, postponed", cascading_postponed_on_4},
    {"wheels of 4, two timers, two of them cascading, postponed",
     two_cascade_on_4},
    {"wheels of 4, two timers, in place, every tick", in_place_every_tick_on_4},
    {"wheels of 4, two timers, cascading, every tick", all_ticks_on_4},
    {"wheels of 4, two timers, cascading, postponed, every tick",
     far_postponed_on_4},
    {"wheels of 4, two timers, in place, postponed", postponed_on_4},
    {"steps that are left out lose no state: cascading", sparing_cascading},
    {"steps that are left out lose no state: two cascading",
     sparing_two_cascading},
    {"steps that are left out lose no state: in place", sparing_in_place},
};

int main(int argc, char **argv)
{
    static const char *const options_of[] = {"--quick", "", "--full",
                                             "--complete"};
    for (unsigned i = QUICK; i <= COMPLETE; i++)
        if (argc > 1 && strcmp(argv[1], options_of[i]) == 0) {
            effort = i;
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
