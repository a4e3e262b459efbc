/* states.c - every step from every state of small wheels.
 *
 *     .build/states [--quick | --full | --complete] [CASE...]
 *
 * A breadth-first search. From each state found, the search tries each start,
 * postpone, cancel, advance, limited advance, poll, drain and trim of a case,
 * judged by oracle.h. Two states are the same if all fields of the wheel are
 * equal, seen from the clock, and the timers were started in the same order. A
 * state is reached by repeating the steps that led there. A failure prints
 * these steps, which are the shortest way. The search ends when all states are
 * found, or after a number of steps: 300,000 for each case, 3 million with
 * --full, a billion with --complete. At most 4 million states are kept.
 *
 * SPDX-License-Identifier: MIT
 */
#include "operations.h"
#include "../lib/tap.h"

#define MOST_STATES 4000000

enum callbacks {
    DO_NOTHING,
    START_AGAIN,
    START_OVERDUE,
    CANCEL_NEXT,
    CALLBACKS
};

typedef struct search {
    const char *name;
    uint32_t wheel_size;
    uint32_t timers;
    uint64_t longest; /* delay in ticks */
    enum callbacks callbacks;
    unsigned few, large;
    bool postpones, no_memory; /* after the first wheel */
} search;

static const search searches[] = {
    {"two timers, wheel_size 2", 2, 2, 9, DO_NOTHING, 12, 512, false, false},
    {"two timers, wheel_size 4", 4, 2, 18, DO_NOTHING, 12, 512, false, false},
    {"three timers", 2, 3, 6, DO_NOTHING, 12, 512, false, false},
    {"postponed", 2, 2, 9, DO_NOTHING, 12, 512, true, false},
    {"postponed, three timers", 2, 3, 5, DO_NOTHING, 12, 512, true, false},
    {"postponed, moving down", 2, 2, 9, DO_NOTHING, 0, 512, true, false},
    {"moving down", 2, 3, 6, DO_NOTHING, 1, 512, false, false},
    {"moving ahead", 4, 3, 12, DO_NOTHING, 1, 2, false, false},
    {"postponed, moving ahead", 2, 3, 6, DO_NOTHING, 1, 2, true, false},
    {"without memory", 2, 2, 9, DO_NOTHING, 12, 512, true, true},
    {"without memory, moving down", 2, 3, 5, DO_NOTHING, 0, 512, true, true},
    {"callbacks start again", 2, 2, 6, START_AGAIN, 12, 512, true, false},
    {"callbacks start overdue", 2, 3, 5, START_OVERDUE, 1, 512, true, false},
    {"callbacks cancel", 2, 3, 5, CANCEL_NEXT, 1, 2, true, false},
};

/* A state is the state before and a step. */
typedef struct node {
    uint32_t parent;
    uint32_t step;
} node;

static const search *current;
static node *nodes;
static uint32_t node_count;
static uint64_t *seen; /* a hash set of states */
static size_t seen_size;
static uint64_t budget = 300000;

static void give_up(void)
{
    printf("not ok %zu - %s\n", tap_case_index + 1, tap_case_name);
    exit(1);
}

static void in_callback(uint32_t id)
{
    uint32_t next = (id + 1) % run.s.items;
    if (current->callbacks == START_AGAIN && id == 0)
        start(id, tw_after(run.oracle.now, 3));
    else if (current->callbacks == START_OVERDUE && id == 0)
        start(next, run.oracle.now);
    else if (current->callbacks == CANCEL_NEXT)
        cancel(next);
}

static bool no_memory(void)
{
    return current->no_memory && run.heap.blocks != 0;
}

/* ---------------------------------------------------------------- states -- */

static uint64_t hash;

static void add(uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
}

/* Adds a tick as the distance to the clock; all passed ticks are equal. */
static void add_tick(uint64_t tick)
{
    add(tick == UINT64_MAX          ? tick
        : tick <= run.tw.clock_tick ? 0
                                    : tick - run.tw.clock_tick);
}

static void add_bucket(const twi_bucket *bucket)
{
    add_tick(bucket->quiet_tick);
    add(bucket->bound);
    for (twi_link *link = bucket->ring.next; link != &bucket->ring;
         link = link->next)
        add(item_of(twi_timer_of(link))->id);
    add(ITEMS);
}

static void add_wheel(const twi_wheel *wheel)
{
    uint32_t buckets = run.tw.bucket_mask + 1;
    add(wheel->queue_index);
    add_tick(wheel->quiet_tick);
    add_tick(wheel->large_tick);
    for (uint32_t i = 0; i < (buckets + 63) / 64; i++)
        add(wheel->marks[i]);
    for (uint32_t i = 0; i < buckets; i++)
        if (!twi_is_empty(&wheel->buckets[i])) {
            add(i);
            add_bucket(&wheel->buckets[i]);
        }
}

/* Returns a number for the state of the wheel. The clock counts up to a whole
 * turn of the coarsest wheel. */
static uint64_t number_of_state(void)
{
    timingwheel *tw = &run.tw;
    const twi_wheel *wheel;
    unsigned level = 0;
    hash = 1;
    for (; (wheel = wheel_at(tw, level)) != NULL; level++)
        add_wheel(wheel);
    unsigned bits = (level + 1) * tw->size_bits + 1;
    add(level);
    add(tw->clock_tick & ((UINT64_C(1) << bits) - 1));
    for (unsigned i = 0; i < TWI_LISTS; i++)
        add_bucket(&tw->lists[i]);
    add(tw->unfinished);
    if (tw->unfinished) {
        add_tick(tw->target_time);
        add(tw->clock_tick - twi_tick_reached(tw, tw->clock_time));
    }
    add(tw->missing.queue_index);
    add_tick(tw->missing.quiet_tick);
    add_tick(tw->ahead_tick);
    add_tick(tw->work_tick);
    for (uint32_t id = 0; id < run.s.items; id++) {
        const oracle_timer *t = &run.oracle.timers[id];
        uint64_t older = 0;
        for (uint32_t i = 0; i < run.s.items; i++)
            older += oracle_is_pending(&run.oracle, i) &&
                     run.oracle.timers[i].start < t->start;
        add(t->state == TW_PENDING);
        if (t->state == TW_PENDING) {
            add(older * 4 + (t->any_place ? 2 : 0) + (t->is_overdue ? 1 : 0));
            add(t->deadline - tw->clock_tick);
        }
    }
    return hash | 1;
}

/* Returns true if the state was not in the set. */
static bool is_new(uint64_t state)
{
    size_t i = (size_t)(state >> 8) & (seen_size - 1);
    for (; seen[i] != 0; i = (i + 1) & (seen_size - 1))
        if (seen[i] == state)
            return false;
    seen[i] = state;
    return true;
}

/* ----------------------------------------------------------------- steps -- */

#define DELAYS 6

/* Takes the step of a number. Returns false if there is no such step. */
static bool take_step(uint32_t step)
{
    uint64_t now = run.oracle.now, longest = current->longest;
    uint64_t delays[DELAYS] = {0, 1, 2, 3, longest / 2 + 1, longest};
    uint32_t timers = run.s.items, kinds = current->postpones ? 2 : 1;
    if (step < DELAYS * timers * kinds) {
        uint32_t id = step / DELAYS % timers;
        if (step / DELAYS < timers)
            start(id, now + delays[step % DELAYS]);
        else if (run.oracle.timers[id].state == TW_PENDING)
            postpone(id, now + delays[step % DELAYS]);
        return true;
    }
    step -= DELAYS * timers * kinds;
    if (step < timers) {
        cancel(step);
        return true;
    }
    step -= timers;
    if (step < DELAYS) {
        advance(now + delays[step]);
        return true;
    }
    switch (step - DELAYS) {
    case 0:
        advance_limit(now + 1, 1);
        return true;
    case 1:
        advance_limit(now + longest, 1);
        return true;
    case 2:
        advance_limit(now + longest, 2);
        return true;
    case 3:
        (void)poll_timer(now + longest / 2);
        return true;
    case 4:
        drain();
        return true;
    case 5:
        trim();
        return true;
    default:
        return false;
    }
}

/* Begins with an empty wheel, and takes the steps to a state. */
static void go_to(uint32_t number)
{
    uint32_t path[64];
    unsigned length = 0;
    for (; number != 0; number = nodes[number].parent)
        path[length++] = nodes[number].step;
    REQUIRE(length < 60);
    for (uint32_t id = 0; id < run.s.items; id++)
        run.items[id] = make_item(id, false);
    set_up();
    while (length-- != 0)
        (void)take_step(path[length]);
}

static void run_search(void)
{
    uint64_t steps = 0;
    uint32_t at = 0;
    current = &searches[tap_case_index];
    few = current->few;
    large = current->large;
    run.s.tick = 1;
    run.s.start = 0;
    run.s.wheel_size = current->wheel_size;
    run.s.items = current->timers;
    run.s.in_callback = in_callback;
    run.s.refuses = no_memory;
    memset(seen, 0, seen_size * sizeof *seen);
    node_count = 1;
    for (; at < node_count && steps < budget; at++)
        for (uint32_t step = 0, more = 1; more != 0; step++) {
            go_to(at);
            more = take_step(step);
            check_quickly();
            if (more != 0 && node_count < MOST_STATES &&
                is_new(number_of_state())) {
                node added = {at, step};
                nodes[node_count++] = added;
            }
            tear_down();
            steps++;
        }
    printf("# %" PRIu32 " states, %" PRIu64 " steps%s\n", node_count, steps,
           node_count == MOST_STATES ? ", the most that fit"
           : at == node_count        ? ": all states"
                                     : "");
}

int main(int argc, char **argv)
{
    tap_case cases[sizeof searches / sizeof *searches];
    static const struct {
        const char *option;
        uint64_t budget;
    } budgets[] = {{"--quick", 10000},
                   {"--full", 3000000},
                   {"--complete", UINT64_C(1000000000)}};
    for (size_t i = 0; i < 3 && argc > 1; i++)
        if (strcmp(argv[1], budgets[i].option) == 0) {
            budget = budgets[i].budget;
            argv++, argc--;
        }
    for (seen_size = 1024; seen_size < budget && seen_size < 2 * MOST_STATES;)
        seen_size *= 2;
    seen = (uint64_t *)calloc(seen_size, sizeof *seen);
    nodes = (node *)malloc(MOST_STATES * sizeof *nodes);
    if (seen == NULL || nodes == NULL)
        return 2;
    nodes[0].parent = nodes[0].step = 0;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        cases[i].name = searches[i].name;
        cases[i].run = run_search;
    }
    int status = TAP_RUN(cases, argc, argv);
    free(seen);
    free(nodes);
    return status;
}
