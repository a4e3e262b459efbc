/* random.c - random operations on the library and on the oracle, side by side.
 *
 *     random [--seed S] [--operations N] [--quick] [--round R] [CASE...]
 *
 * A case is a row of rounds. A round sets up a wheel with random settings and
 * habits, and takes a few thousand steps: start, postpone, cancel, advance and
 * so on. Callbacks take the same kinds of steps. Every step compares all
 * results of the library with the oracle (oracle.h), and runs tw_check. A round
 * depends only on the seed, its case and its number. A failure repeats with
 * --seed, --round and the name of its case.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAP_FILL /* shows reads of uninitialised memory */
#include "../lib/heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#define TWI_LARGE_TIMERS few /* a bucket of `few` timers never cascades */
#define TWI_LARGE_CHUNKS few_chunks /* unless it has more chunks */
#define TWI_BATCH batch /* least number of chunks to move ahead at a time */
static unsigned few, few_chunks, batch;
#include "../../timingwheel.h"
#include "../lib/oracle.h"
#include "../lib/tap.h"

#ifndef RANDOM_CHECK_EVERY /* least steps between two calls of tw_check */
#define RANDOM_CHECK_EVERY(buckets_per_wheel) 1
#endif

/* A user's struct with a timer. Callbacks find the struct by TW_OWNER. */
typedef struct item {
    uint32_t id;
    tw_timer timer;
} item;

/* How allocations of a round succeed. */
typedef enum memory_mode {
    MEMORY_PLENTY,  /* every allocation succeeds */
    MEMORY_FAILING, /* some fail, now and then all for a while */
    MEMORY_RESERVED /* tw_reserve first. Then all fail, and */
                    /* only tw_reserve may try to allocate */
} memory_mode;

/* How to choose a deadline. A round draws a weight for each way. */
enum delay {
    DELAY_TINY,  /* some ticks */
    DELAY_SPAN,  /* around the span of a wheel */
    DELAY_LOG,   /* of any magnitude */
    DELAY_EVEN,  /* evenly over a few turns of the first wheel */
    DELAY_SAME,  /* the last deadline again */
    DELAY_NEAR,  /* near the deadline of a second timer */
    DELAY_PAST,  /* now, or passed */
    DELAY_END,   /* near the end of time */
    DELAY_BLOCK, /* in a few blocks ahead; only with large buckets */
    DELAYS
};

enum operation {
    OP_START,
    OP_WITHIN,
    OP_POSTPONE,
    OP_CANCEL,
    OP_REPLACE,
    OP_ADVANCE,
    OP_LIMIT,
    OP_POLL,
    OP_DRAIN,
    OP_FOREACH,
    OP_TRIM,
    OP_RESERVE,
    OPERATIONS
};

/* The habits of a round. */
typedef struct habits {
    uint32_t wheel_size;
    uint64_t tick;
    uint64_t start;
    uint32_t items;
    size_t max_pending;
    unsigned steps;
    unsigned check_every; /* steps between two calls of tw_check */
    unsigned active;      /* of 8 callbacks, how many do something */
    unsigned calm_after;  /* callbacks per call until all do nothing */
    unsigned far;         /* of 64 advances, how many jump far */
    uint64_t horizon;     /* no deadline is beyond */
    bool silent;          /* some timers have no callback */
    memory_mode memory;
    bool scarce;    /* hardly any allocation succeeds */
    bool forgetful; /* the caches are cleared before every step */
    uint64_t block; /* ticks of a block with many timers; 0: no block */
    unsigned delays[DELAYS];
    unsigned operations[OPERATIONS];
} habits;

typedef struct trace_entry {
    unsigned step;
    unsigned depth;
    const char *what;
    uint32_t id;
    uint64_t a;
    uint64_t b;
    uint64_t clock;
} trace_entry;

#define TRACE_LENGTH 40
#define NO_ITEM UINT32_MAX

/* The options of the command line. */
static struct {
    uint64_t seed;
    uint64_t operations;
    uint64_t round;
    bool one_round;
} options = {1, 3000000, 0, false};

/* The running round. */
static struct {
    timingwheel tw;
    oracle oracle;
    oracle_moves moves; /* for rounds with plenty of memory */
    habits habits;
    item **items;
    uint64_t random;
    uint64_t last_deadline;
    uint64_t last_now;
    const char *case_name;
    uint64_t round;
    unsigned step;
    unsigned depth;       /* callbacks and visitors around the step */
    unsigned call_fired;  /* callbacks of the running call */
    size_t fired;         /* timers that the running call has fired */
    uint64_t all_fired;   /* since the round began */
    unsigned char *marks; /* by timer: an enum mark, for a visit */
    bool visiting;        /* inside tw_foreach */
    bool draining;        /* inside tw_drain */
    jmp_buf failed;
} m;

static uint64_t operations_done;
static trace_entry trace_ring[TRACE_LENGTH];
static uint64_t trace_count;

static unsigned fail_of_16; /* how many of 16 allocations fail */

/* -------------------------------------------------- randomness and trace -- */

/* splitmix64 */
static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t random_bits(void)
{
    m.random += UINT64_C(0x9e3779b97f4a7c15);
    return scramble(m.random);
}

/* 0 .. limit-1 */
static uint32_t below(uint32_t limit)
{
    return (uint32_t)(((random_bits() >> 32) * limit) >> 32);
}

static bool chance(unsigned of, unsigned in)
{
    return below(in) < of;
}

/* A number of any magnitude. */
static uint64_t random_log(void)
{
    unsigned bits = below(65);
    return bits == 0 ? 0 : random_bits() >> (64 - bits);
}

/* Draws an index with the given weights. */
static unsigned random_choice(const unsigned *weights, unsigned count)
{
    unsigned sum = 0, i;
    for (i = 0; i < count; i++)
        sum += weights[i];
    unsigned left = below(sum);
    for (i = 0; left >= weights[i]; i++)
        left -= weights[i];
    return i;
}

static void trace(const char *what, uint32_t id, uint64_t a, uint64_t b)
{
    trace_entry *entry = &trace_ring[trace_count++ % TRACE_LENGTH];
    entry->step = m.step;
    entry->depth = m.depth;
    entry->what = what;
    entry->id = id;
    entry->a = a;
    entry->b = b;
    entry->clock = m.oracle.now;
    operations_done++;
}

static void print_trace(void)
{
    uint64_t i = trace_count > TRACE_LENGTH ? trace_count - TRACE_LENGTH : 0;
    printf("# the last operations, oldest first (indented: in a callback):\n"
           "#   step       clock  operation\n");
    for (; i < trace_count; i++) {
        const trace_entry *entry = &trace_ring[i % TRACE_LENGTH];
        printf("#  %5u %11" PRIu64 "  %*s%s", entry->step, entry->clock,
               (int)entry->depth * 4, "", entry->what);
        if (entry->id != NO_ITEM)
            printf(" timer %" PRIu32, entry->id);
        printf(" %" PRIu64 " %" PRIu64 "\n", entry->a, entry->b);
    }
}

static void print_state(uint32_t id)
{
    if (id != NO_ITEM) {
        const oracle_timer *timer = &m.oracle.timers[id];
        printf("# timer %" PRIu32 ": state %d, deadline %" PRIu64
               "; expected state %d, deadline %" PRIu64 "\n",
               id, (int)tw_timer_state(&m.items[id]->timer),
               tw_deadline(&m.items[id]->timer), (int)timer->state,
               timer->deadline);
    }
    printf("# clock %" PRIu64 ", expected %" PRIu64
           "; pending %lu, expected %lu\n",
           tw_now(&m.tw), m.oracle.now, (unsigned long)tw_count(&m.tw),
           (unsigned long)m.oracle.count);
}

/* Prints how to repeat the running round. */
static void print_repeat(void)
{
    printf("# buckets per wheel %" PRIu32 ", tick %" PRIu64 ", start %" PRIu64
           ", timers %" PRIu32 ", max_pending %lu\n",
           m.habits.wheel_size, m.habits.tick, m.habits.start, m.habits.items,
           (unsigned long)m.habits.max_pending);
    print_trace();
    printf("# to repeat: random --seed %" PRIu64 " --round %" PRIu64 " '%s'\n",
           options.seed, m.round, m.case_name);
    fflush(stdout);
}

/* Prints the fault and how to repeat the round, and leaves the round. */
static void fail(uint32_t id, const char *format, ...)
{
    va_list arguments;
    printf("# step %u: ", m.step);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    print_state(id);
    print_repeat();
    longjmp(m.failed, 1);
}

/* A crash, or the end of an endless loop by a signal. The program is lost, and
 * prints as much as it can. */
static void on_signal(int number)
{
    signal(number, SIG_DFL);
    printf("# step %u: signal %d\n", m.step, number);
    print_repeat();
    raise(number);
}

/* A sanitizer's handler prints more, and stays. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGSEGV, SIGABRT, SIGFPE,
                                  SIGILL,  SIGINT,  SIGTERM};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        void (*before)(int) = signal(numbers[i], on_signal);
        if (before != SIG_DFL)
            signal(numbers[i], before);
    }
}

/* Fails if the oracle found something wrong. */
static void judge(const char *wrong, uint32_t id)
{
    if (wrong != NULL)
        fail(id, "%s", wrong);
}

/* ---------------------------------------------------------------- memory -- */

static bool heap_refuses(void)
{
    return fail_of_16 != 0 && chance(fail_of_16, 16);
}

/* ------------------------------------------------------------- deadlines -- */

static uint64_t saturating_product(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* wheel_size^k ticks for some k, give or take a tick or a unit. */
static uint64_t random_span(void)
{
    uint64_t ticks = 1;
    for (unsigned k = below(8); k > 0; k--)
        ticks = saturating_product(ticks, m.habits.wheel_size);
    if (ticks < UINT64_MAX)
        ticks += below(3);
    ticks -= ticks != 0;
    uint64_t units = saturating_product(ticks, m.habits.tick);
    return chance(1, 4) && units != 0 && units != UINT64_MAX
               ? units - 1 + 2 * below(2)
               : units;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a < b ? 0 : a - b;
}

/* Around the deadline of some timer, pending or not. */
static uint64_t random_near(void)
{
    uint64_t other = m.oracle.timers[below(m.habits.items)].deadline;
    switch (below(4)) {
    case 0:
        return tw_after(other, m.habits.tick);
    case 1:
        return minus(other, m.habits.tick);
    case 2:
        return tw_after(other, 1);
    default:
        return other;
    }
}

static uint64_t random_past(void)
{
    uint64_t back[] = {0, 1, m.habits.tick, 0, 0};
    back[3] = saturating_product(below(100), m.habits.tick);
    back[4] = random_log();
    return minus(m.oracle.now, back[below(5)]);
}

static uint64_t random_deadline(void)
{
    uint64_t deadline, now = m.oracle.now, tick = m.habits.tick;
    if (m.depth != 0 && m.oracle.in_call && chance(1, 8))
        now = m.oracle.call_now;
    switch (random_choice(m.habits.delays, DELAYS)) {
    case DELAY_TINY:
        deadline = tw_after(now, random_bits() % (4 * tick));
        break;
    case DELAY_SPAN:
        deadline = tw_after(now, random_span());
        break;
    case DELAY_LOG:
        deadline = tw_after(now, random_log());
        break;
    case DELAY_EVEN:
        deadline =
            tw_after(now, random_bits() % (3 * tick * m.habits.wheel_size));
        break;
    case DELAY_SAME:
        deadline = m.last_deadline;
        break;
    case DELAY_NEAR:
        deadline = random_near();
        break;
    case DELAY_PAST:
        deadline = random_past();
        break;
    case DELAY_BLOCK:
        deadline = tw_after(
            now,
            (2 * m.habits.block + random_bits() % (2 * m.habits.block)) * tick);
        break;
    default:
        deadline = UINT64_MAX - (chance(1, 2) ? 0 : below(3) * tick);
        break;
    }
    if (deadline > m.habits.horizon)
        deadline = minus(m.habits.horizon, below(3) * tick);
    return m.last_deadline = deadline;
}

/* Draws the next reading of the clock. */
static uint64_t random_now(void)
{
    uint64_t now = m.oracle.now, tick = m.habits.tick, next = now;
    if (m.habits.block != 0 && !chance(1, 200))
        return tw_after(now, random_bits() %
                                 (m.habits.block * tick / (8 + below(56)) + 2));
    if (chance(m.habits.far, 64))
        return chance(1, 2) ? tw_after(now, random_log())
                            : tw_after(now, random_span());
    (void)tw_next_deadline(&m.tw, &next);
    switch (below(12)) {
    case 0:
        return now;
    case 1:
        return tw_after(now, random_bits() % tick);
    case 2:
        return tw_after(now, random_bits() % (10 * tick));
    case 3:
        return tw_after(now, random_bits() % (tick * m.habits.wheel_size));
    case 4:
        return minus(now, random_log());
    case 5:
    case 6:
        return m.habits.far == 0 && minus(next, now) >> 40 != 0 ? now : next;
    case 7:
        return m.habits.far == 0 && minus(next, now) >> 40 != 0
                   ? now
                   : minus(next, 1);
    case 8:
        return m.last_now;
    default:
        return tw_after(now, tick);
    }
}

/* --------------------------------------------------------------- judging -- */

static item *item_of(tw_timer *timer)
{
    return TW_OWNER(timer, item, timer);
}

/* Checks the visible state of a timer. */
static void check_timer(uint32_t id)
{
    const tw_timer *timer = &m.items[id]->timer;
    const oracle_timer *expected = &m.oracle.timers[id];
    if (tw_timer_state(timer) != expected->state)
        fail(id, "the state of a timer is wrong");
    if (tw_is_pending(timer) != (expected->state == TW_PENDING))
        fail(id, "tw_is_pending is wrong");
    if (tw_deadline(timer) != expected->deadline)
        fail(id, "tw_deadline is wrong");
}

static void check_next(void)
{
    uint64_t next = 42, now = m.oracle.now, longest = UINT64_MAX;
    bool found = tw_next_deadline(&m.tw, &next);
    const char *wrong = oracle_judge_next(&m.oracle, found, next);
    if (wrong != NULL)
        fail(NO_ITEM, "%s: found %d, %" PRIu64 ", exact %" PRIu64, wrong, found,
             next,
             m.oracle.count == 0
                 ? 0
                 : oracle_time_of(&m.oracle, m.oracle.entries[0].tick_index));
    if (!found && next != 42)
        fail(NO_ITEM, "tw_next_deadline wrote, though nothing is pending");
    if (chance(1, 2)) {
        now = chance(1, 4) ? minus(now, random_log())
                           : tw_after(now, random_log());
        longest = random_log();
    }
    uint64_t wait = tw_wait(&m.tw, now, longest);
    if (wait != oracle_wait(&m.oracle, found, next, now, longest))
        fail(NO_ITEM,
             "tw_wait(%" PRIu64 ", %" PRIu64 ") is %" PRIu64
             ", expected %" PRIu64,
             now, longest, wait,
             oracle_wait(&m.oracle, found, next, now, longest));
}

/* Checks all results that are valid at any moment. */
static void check_summary(void)
{
    if (tw_count(&m.tw) != m.oracle.count)
        fail(NO_ITEM, "tw_count is wrong");
    if (tw_now(&m.tw) != m.oracle.now)
        fail(NO_ITEM, "tw_now is wrong");
    check_next();
}

static void check_stats(void)
{
    tw_stats stats;
    tw_get_stats(&m.tw, &stats);
    if (stats.pending != m.oracle.count || stats.fired != m.all_fired)
        fail(NO_ITEM, "tw_get_stats: pending or fired is wrong");
    if (stats.bytes_used > stats.bytes_held ||
        (stats.bytes_held == 0) != (heap_by_default.blocks == 0))
        fail(NO_ITEM, "tw_get_stats: bytes are wrong");
}

static void add_drawn(const char *line, void *context)
{
    const char *holds = strstr(line, "] holds ");
    const char *aside = strstr(line, "in no wheel: ");
    if (strlen(line) > 100)
        fail(NO_ITEM, "tw_dump: a line is too long");
    if (holds != NULL)
        *(uint64_t *)context += strtoull(holds + 8, NULL, 10);
    if (aside != NULL)
        *(uint64_t *)context += strtoull(aside + 13, NULL, 10);
}

/* Every timer is drawn somewhere. */
static void check_drawing(void)
{
    uint64_t drawn = 0;
    tw_dump(&m.tw, add_drawn, &drawn);
    if (drawn != m.oracle.count)
        fail(NO_ITEM, "tw_dump: a timer is drawn twice or not at all");
}

static void check_all_timers(void)
{
    for (uint32_t id = 0; id < m.habits.items; id++)
        check_timer(id);
}

/* After every step. */
static void check_step(void)
{
    check_summary();
    if (m.step % m.habits.check_every == 0 && !tw_check(&m.tw))
        fail(NO_ITEM, "tw_check is false");
    if (m.habits.items <= 64 || m.step % m.habits.check_every == 0)
        check_all_timers();
    if (m.step % 64 == 0)
        check_stats();
    if (m.step % 256 == 0)
        check_drawing();
}

/* The state before a call that may be refused. A refused call must not change
 * it. */
typedef struct snapshot {
    uint64_t failed;
    size_t live;
    uint64_t next;
    bool found;
} snapshot;

static snapshot look(void)
{
    snapshot b = {heap_by_default.failures, heap_by_default.blocks, 0, false};
    if (m.habits.memory != MEMORY_PLENTY)
        b.found = tw_next_deadline(&m.tw, &b.next);
    return b;
}

/* Checks a call that returned TW_ENOMEM: an allocation failed, nothing
 * changed. */
static void check_no_memory(const snapshot *b, uint32_t id)
{
    uint64_t next = 0;
    if (heap_by_default.failures == b->failed)
        fail(id, "TW_ENOMEM, though no allocation failed");
    bool found = tw_next_deadline(&m.tw, &next);
    if (found != b->found || next != b->next)
        fail(id, "a refused call has changed the next deadline");
    if (id != NO_ITEM)
        check_timer(id);
    if (!m.draining && tw_count(&m.tw) != m.oracle.count)
        fail(id, "a refused call has changed tw_count");
}

static bool is_full(uint32_t id)
{
    return m.habits.max_pending != 0 && !oracle_is_pending(&m.oracle, id) &&
           m.oracle.count >= m.habits.max_pending;
}

/* Judges the status of a start or postpone. Returns true for a start. */
static bool check_status(int status, const snapshot *b, uint32_t id)
{
    if (m.visiting || is_full(id)) {
        if (status != (m.visiting ? TW_EBUSY : TW_EFULL))
            fail(id, "status %d, though it had to be refused", status);
        check_timer(id);
        return false;
    }
    if (status == TW_ENOMEM) {
        check_no_memory(b, id);
        return false;
    }
    if (status != TW_OK)
        fail(id, "status %d", status);
    return true;
}

/* ------------------------------------------------------------ operations -- */

static void do_start(uint32_t id)
{
    uint64_t deadline = random_deadline();
    snapshot b = look();
    trace("start", id, deadline, 0);
    int status = tw_start(&m.tw, &m.items[id]->timer, deadline);
    if (check_status(status, &b, id))
        oracle_start(&m.oracle, id, deadline, false);
    check_timer(id);
}

static void do_within(uint32_t id)
{
    uint64_t earliest = random_deadline();
    uint64_t latest =
        tw_after(earliest, chance(1, 2) ? random_log() : random_span());
    tw_timer *timer = &m.items[id]->timer;
    if (latest > m.habits.horizon)
        latest = m.habits.horizon;
    snapshot b = look();
    trace("start_within", id, earliest, latest);
    if (check_status(tw_start_within(&m.tw, timer, earliest, latest), &b, id)) {
        uint64_t chosen = tw_deadline(timer);
        judge(oracle_judge_window(&m.oracle, earliest, latest, chosen,
                                  m.habits.wheel_size),
              id);
        bool has_tick =
            oracle_tick_of(&m.oracle, earliest) <= latest / m.habits.tick;
        oracle_start(&m.oracle, id, chosen, has_tick);
    }
    check_timer(id);
}

static void do_postpone(uint32_t id)
{
    uint64_t deadline = random_deadline();
    if (chance(1, 2) && deadline < m.oracle.timers[id].deadline) {
        deadline = tw_after(m.oracle.timers[id].deadline, random_span());
        if (deadline > m.habits.horizon)
            deadline = m.habits.horizon;
    }
    snapshot b = look();
    trace("postpone", id, deadline, 0);
    bool is_later = oracle_is_later(&m.oracle, id, deadline);
    int status = tw_postpone(&m.tw, &m.items[id]->timer, deadline);
    if (is_later) {
        if (status != TW_OK)
            fail(id, "status %d from postponing to a later time", status);
        oracle_postpone(&m.oracle, id, deadline);
    } else if (check_status(status, &b, id)) {
        oracle_postpone(&m.oracle, id, deadline);
    }
    check_timer(id);
}

static void do_cancel(uint32_t id)
{
    uint64_t asked = heap_by_default.calls;
    trace("cancel", id, 0, 0);
    bool expected = oracle_cancel(&m.oracle, id);
    if (tw_cancel(&m.tw, &m.items[id]->timer) != expected)
        fail(id, "tw_cancel did not answer %d", (int)expected);
    if (heap_by_default.calls != asked)
        fail(id, "tw_cancel has allocated");
    check_timer(id);
}

static void on_fire(timingwheel *tw, tw_timer *timer);

/* Creates a timer. Some timers have no callback, and are only marked fired. */
static void new_item(uint32_t id)
{
    static const oracle_timer idle = {0, 0, 0, TW_IDLE};
    item *new = (item *)malloc(sizeof(item));
    if (new == NULL)
        abort();
    new->id = id;
    tw_timer_init(&new->timer,
                  m.habits.silent && chance(1, 12) ? NULL : on_fire);
    m.items[id] = new;
    m.oracle.timers[id] = idle;
}

/* Cancels a timer and frees its memory. A new timer takes its number. */
static void do_replace(uint32_t id)
{
    if (oracle_is_pending(&m.oracle, id))
        do_cancel(id);
    trace("replace", id, 0, 0);
    free(m.items[id]);
    new_item(id);
    check_timer(id);
}

/* Notes the timers without a callback that have fired, turn by turn. Leaves out
 * `self`, the timer of the running callback. */
static void note_silent(uint32_t self)
{
    oracle *o = &m.oracle;
    unsigned turn = 0;
    for (size_t i = 0; m.habits.silent && turn <= o->turn_count;) {
        if (i == o->count) {
            turn++;
            i = 0;
            continue;
        }
        uint32_t id = o->entries[i].id;
        if (id == self || oracle_turn_of(o, &o->entries[i]) > turn ||
            tw_timer_state(&m.items[id]->timer) != TW_FIRED) {
            i++;
            continue;
        }
        if (m.items[id]->timer.callback != NULL)
            fail(id, "fired without its callback being called");
        unsigned turns = o->turn_count;
        judge(oracle_fire(o, id, tw_now(&m.tw)), id);
        m.fired++;
        m.all_fired++;
        if (o->turn_count != turns) /* the turns have new numbers now */
            i = turn = 0;
    }
}

static void act(uint32_t self);

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    uint32_t id = item_of(timer)->id;
    if (tw != &m.tw || m.items[id] != item_of(timer))
        fail(NO_ITEM, "a callback was called with the wrong arguments");
    if (!m.oracle.in_call)
        fail(id, "fired outside of a call");
    trace("FIRE", id, m.oracle.timers[id].deadline, 0);
    note_silent(id);
    judge(oracle_fire(&m.oracle, id, tw_now(&m.tw)), id);
    m.fired++;
    m.all_fired++;
    check_timer(id);
    check_summary();
    if (++m.call_fired > m.habits.calm_after || !chance(m.habits.active, 8))
        return;
    m.depth++;
    for (unsigned actions = 1 + below(3); actions > 0; actions--)
        act(id);
    m.depth--;
}

/* Begins a call of `now` for both. */
static void begin_call(const char *what, uint64_t now, uint64_t limit)
{
    trace(what, NO_ITEM, now, limit);
    m.fired = 0;
    m.call_fired = 0;
    m.last_now = now;
    oracle_begin(&m.oracle, now);
}

/* Judges how many timers a call has moved. The call has ended. */
static void judge_moves(void)
{
    judge(oracle_judge_moves(&m.oracle, m.tw.cascaded), NO_ITEM);
}

/* Ends a call that has handled every due timer. */
static void finish_call(void)
{
    judge(oracle_finish(&m.oracle), NO_ITEM);
    judge_moves();
}

static void do_advance(void)
{
    uint64_t now = random_now();
    begin_call("advance", now, 0);
    size_t fired = tw_advance_clock(&m.tw, now);
    note_silent(NO_ITEM);
    finish_call();
    if (fired != m.fired)
        fail(NO_ITEM, "tw_advance_clock says %lu fired, not %lu",
             (unsigned long)fired, (unsigned long)m.fired);
}

static size_t random_limit(void)
{
    static const size_t limits[] = {0, 1, 1, 2, 3, 5, 10, SIZE_MAX};
    return limits[below(8)];
}

/* Advances with a limit. Returns true if no due timer is left. (tw_get_stats
 * visits every bucket, and would take a fifth of the time.) */
static bool advance_some(uint64_t now, size_t limit)
{
    uint64_t cascaded = m.tw.cascaded, stop = m.tw.handled + limit;
    begin_call("advance_limit", now, limit);
    size_t fired = tw_advance_clock_limit(&m.tw, now, limit);
    note_silent(NO_ITEM);
    cascaded = m.tw.cascaded - cascaded;
    if (fired != m.fired)
        fail(NO_ITEM, "tw_advance_clock_limit says %lu fired, not %lu",
             (unsigned long)fired, (unsigned long)m.fired);
    if (fired > limit || cascaded > limit - fired)
        fail(NO_ITEM, "the limit was exceeded: %lu fired, %" PRIu64 " cascaded",
             (unsigned long)fired, cascaded);
    /* Chunks of cancelled timers count towards the limit. */
    if (fired + cascaded < limit && m.tw.handled_limit == stop) {
        finish_call();
        return true;
    }
    judge(oracle_stop(&m.oracle, tw_now(&m.tw)), NO_ITEM);
    judge_moves();
    if (oracle_first_due(&m.oracle) != NULL &&
        tw_wait(&m.tw, now, UINT64_MAX) != 0)
        fail(NO_ITEM, "tw_wait is not 0, though something is left");
    return false;
}

static void do_limit(void)
{
    uint64_t now = random_now();
    size_t limit = random_limit();
    if (limit == 0) {
        trace("advance_limit", NO_ITEM, now, limit);
        if (tw_advance_clock_limit(&m.tw, now, 0) != 0)
            fail(NO_ITEM, "limit 0 has fired");
        return;
    }
    bool to_the_end = chance(1, 2);
    for (unsigned calls = 0; !advance_some(now, limit) && to_the_end; calls++) {
        if (calls == 100000)
            fail(NO_ITEM, "limited calls do not come to an end");
        check_step();
    }
}

/* Polls once; true if a timer came out. */
static bool poll_once(uint64_t now)
{
    begin_call("poll", now, 0);
    tw_timer *timer = tw_poll(&m.tw, now);
    if (timer == NULL) {
        finish_call();
        return false;
    }
    uint32_t id = item_of(timer)->id;
    trace("polled", id, m.oracle.timers[id].deadline, 0);
    judge(oracle_fire(&m.oracle, id, tw_now(&m.tw)), id);
    m.all_fired++;
    m.oracle.in_call = false;
    judge_moves();
    check_timer(id);
    return true;
}

/* Polls once, or until no timer is due, with starts in between. */
static void do_poll(void)
{
    uint64_t now = random_now();
    bool all = chance(1, 2);
    for (unsigned polls = 0; poll_once(now) && all && polls < 100; polls++) {
        check_step();
        if (chance(1, 8))
            do_start(below(m.habits.items));
    }
}

/* Makes the calls that are forbidden inside a callback or visitor. */
static void do_refused(void)
{
    trace("refused", NO_ITEM, 0, 0);
    if (tw_advance_clock(&m.tw, random_log()) != 0 ||
        tw_advance_clock_limit(&m.tw, random_log(), 3) != 0 ||
        tw_poll(&m.tw, random_log()) != NULL)
        fail(NO_ITEM, "advanced inside of a callback");
    tw_trim(&m.tw);
    tw_destroy(&m.tw);
    if (!m.draining && tw_count(&m.tw) != m.oracle.count)
        fail(NO_ITEM, "a refused call has changed tw_count");
    if (tw_now(&m.tw) != m.oracle.now)
        fail(NO_ITEM, "a refused call has changed tw_now");
}

enum mark { MARK_NONE, MARK_EXPECTED, MARK_VISITED };

/* Marks the pending timers, to be visited. Returns their number. */
static size_t mark_pending(void)
{
    for (uint32_t id = 0; id < m.habits.items; id++)
        m.marks[id] =
            oracle_is_pending(&m.oracle, id) ? MARK_EXPECTED : MARK_NONE;
    return m.oracle.count;
}

static void check_marks(size_t expected, size_t answered)
{
    for (uint32_t id = 0; id < m.habits.items; id++)
        if (m.marks[id] == MARK_EXPECTED)
            fail(id, "was not visited");
    if (expected != answered)
        fail(NO_ITEM, "%lu were visited, %lu expected", (unsigned long)answered,
             (unsigned long)expected);
}

static uint32_t visited_id(tw_timer *timer, void *context)
{
    uint32_t id = item_of(timer)->id;
    if (context != (void *)&m)
        fail(id, "a visitor was called with the wrong context");
    if (m.marks[id] != MARK_EXPECTED)
        fail(id, "was visited twice, or without being pending");
    m.marks[id] = MARK_VISITED;
    return id;
}

static void on_each(tw_timer *timer, void *context)
{
    uint32_t id = visited_id(timer, context);
    check_timer(id);
    m.depth++;
    if (chance(1, 16))
        do_start(below(m.habits.items));
    if (chance(1, 16))
        do_refused();
    if (chance(1, 8))
        do_cancel(id);
    m.depth--;
}

static void do_foreach(void)
{
    trace("foreach", NO_ITEM, 0, 0);
    size_t expected = mark_pending();
    m.visiting = true;
    size_t visited = tw_foreach(&m.tw, on_each, &m);
    m.visiting = false;
    check_marks(expected, visited);
    if (m.oracle.in_call && m.depth > 0)
        check_summary();
}

/* Acts on a timer that tw_drain has visited, or will never visit. */
static void act_while_draining(uint32_t self)
{
    uint32_t other = below(m.habits.items);
    if (m.marks[other] == MARK_EXPECTED)
        other = self;
    switch (below(5)) {
    case 0:
        do_start(self);
        break;
    case 1:
        do_start(m.habits.max_pending == 0 ? other : self);
        break;
    case 2:
        do_cancel(other);
        break;
    case 3:
        do_replace(other);
        break;
    default:
        do_refused();
        break;
    }
}

static void on_drain(tw_timer *timer, void *context)
{
    uint32_t id = visited_id(timer, context);
    trace("drained", id, 0, 0);
    oracle_drain(&m.oracle, id);
    check_timer(id);
    m.depth++;
    if (chance(1, 4))
        act_while_draining(id);
    m.depth--;
}

static void do_drain(void)
{
    trace("drain", NO_ITEM, 0, 0);
    size_t expected = mark_pending();
    bool outside = !m.oracle.in_call;
    oracle_begin_drain(&m.oracle);
    m.draining = true;
    if (outside && chance(1, 4)) {
        for (uint32_t id = 0; id < m.habits.items; id++)
            if (m.marks[id] == MARK_EXPECTED) {
                oracle_drain(&m.oracle, id);
                m.marks[id] = MARK_VISITED;
            }
        check_marks(expected, tw_drain(&m.tw, NULL, NULL));
    } else {
        check_marks(expected, tw_drain(&m.tw, on_drain, &m));
    }
    m.draining = false;
    check_summary();
}

static void do_trim(void)
{
    trace("trim", NO_ITEM, 0, 0);
    tw_trim(&m.tw);
    if (m.oracle.count == 0 && heap_by_default.blocks != 0)
        fail(NO_ITEM, "tw_trim kept memory though nothing is pending");
}

static void do_reserve(void)
{
    size_t timers = below(100);
    uint64_t horizon = chance(1, 2) ? random_deadline() : random_log();
    uint64_t asked = heap_by_default.calls;
    snapshot b = look();
    trace("reserve", NO_ITEM, timers, horizon);
    int status = tw_reserve(&m.tw, timers, horizon);
    if (status == TW_ENOMEM) {
        check_no_memory(&b, NO_ITEM);
        if (heap_by_default.blocks != b.live)
            fail(NO_ITEM, "a refused tw_reserve has taken or freed memory");
    } else if (status != TW_OK) {
        fail(NO_ITEM, "tw_reserve answers %d", status);
    }
    if (m.habits.memory == MEMORY_RESERVED)
        heap_by_default.calls = asked;
}

/* The action of a callback, mostly on its own timer. */
static void act(uint32_t self)
{
    uint32_t id = chance(1, 2) ? self : below(m.habits.items);
    switch (below(32)) {
    case 0:
        do_foreach();
        break;
    case 1:
        do_refused();
        break;
    case 2:
    case 3:
        do_replace(id);
        break;
    case 4:
        do_reserve();
        break;
    case 5:
        if (chance(1, 16))
            do_drain();
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        do_cancel(below(m.habits.items));
        break;
    default:
        if (chance(1, 3))
            do_postpone(below(m.habits.items));
        else if (chance(1, 6))
            do_within(id);
        else
            do_start(id);
        break;
    }
}

static void do_operation(enum operation operation)
{
    uint32_t id = below(m.habits.items);
    switch (operation) {
    case OP_START:
        do_start(id);
        break;
    case OP_WITHIN:
        do_within(id);
        break;
    case OP_POSTPONE:
        do_postpone(id);
        break;
    case OP_CANCEL:
        do_cancel(id);
        break;
    case OP_REPLACE:
        do_replace(id);
        break;
    case OP_ADVANCE:
        do_advance();
        break;
    case OP_LIMIT:
        do_limit();
        break;
    case OP_POLL:
        do_poll();
        break;
    case OP_DRAIN:
        do_drain();
        break;
    case OP_FOREACH:
        do_foreach();
        break;
    case OP_TRIM:
        do_trim();
        break;
    default:
        do_reserve();
        break;
    }
}

/* ---------------------------------------------------------------- rounds -- */

/* Near 0, 2^31, 2^32, 2^63 or 2^64, on either side. */
static uint64_t random_start(void)
{
    static const unsigned bits[] = {31, 32, 63};
    unsigned place = below(5);
    uint64_t away = random_log() >> below(64);
    if (place == 0)
        return away >> 2;
    if (place == 1)
        return UINT64_MAX - (away >> 1);
    uint64_t middle = UINT64_C(1) << bits[place - 2];
    away %= middle;
    return chance(1, 3) ? middle + away : middle - 1 - away;
}

/* Draws weights near the usual weights, with large differences between
 * rounds. */
static void draw_weights(unsigned *weights, const unsigned *usual,
                         unsigned count)
{
    static const unsigned tenths[] = {0, 5, 10, 10, 10, 40};
    unsigned sum = 0;
    while (sum == 0)
        for (unsigned i = 0; i < count; i++)
            sum += weights[i] = usual[i] * tenths[below(6)];
}

/* Habits for thousands of timers in few blocks, and a clock that seldom
 * jumps. */
static void draw_large_buckets(void)
{
    habits *h = &m.habits;
    h->tick = chance(1, 2) ? 1 : 7;
    h->wheel_size = 16U << below(4);
    h->block = h->wheel_size;
    if (chance(1, 2) && h->wheel_size <= 64)
        h->block *= h->wheel_size;
    h->active = below(3);
    h->far = chance(3, 4) ? 0 : 1;
    h->max_pending = 0;
    h->items = 4000 + below(4000);
    few = 12 + below(12);
    few_chunks = 2 + below(3);
    batch = 1 + below(2);
    for (unsigned i = 0; i < DELAYS; i++)
        h->delays[i] = chance(1, 2);
    h->delays[DELAY_END] = 0;
    h->delays[DELAY_BLOCK] = 100;
    h->operations[OP_START] = 2000;
    h->operations[OP_ADVANCE] = 60;
    h->operations[OP_POSTPONE] = below(300);
    h->operations[OP_CANCEL] = chance(1, 4) ? 2000 : below(300);
    h->operations[OP_TRIM] = below(10);
    h->operations[OP_WITHIN] = below(50);
    h->operations[OP_LIMIT] = chance(1, 4) ? 10 : 0;
    h->operations[OP_POLL] = chance(1, 4) ? 10 : 0;
}

static void draw_habits(uint32_t wheel_size, memory_mode memory, bool many,
                        bool large)
{
    static const uint64_t ticks[] = {1, 1, 2, 3, 7, 10, 1000, 4096, 1000000};
    static const unsigned delays[DELAYS] = {6, 5, 4, 6, 4, 4, 3, 1, 0};
    static const unsigned usual[OPERATIONS] = {90, 20, 40, 25, 5, 80,
                                               20, 15, 1,  2,  1, 1};
    habits *h = &m.habits;
    memset(h, 0, sizeof(*h));
    h->wheel_size = wheel_size;
    h->tick = ticks[below(9)];
    h->start = random_start();
    h->items = many ? 1000 + below(3000) : 1 + below(1U << (1 + below(5)));
    h->max_pending = chance(1, 8) ? 1 + below(h->items) : 0;
    h->steps = many ? 20000 : 200 + below(1800);
    h->check_every = many ? 1000 : wheel_size > 256 && chance(3, 4) ? 16 : 1;
    if (h->check_every < RANDOM_CHECK_EVERY(wheel_size))
        h->check_every = RANDOM_CHECK_EVERY(wheel_size);
    h->active = below(9);
    h->calm_after = many ? 5000 : 1 + below(200);
    h->far = chance(1, 2) ? 0 : 1U << below(6);
    h->horizon = UINT64_MAX;
    h->silent = !many && chance(3, 4);
    h->memory = memory;
    few = TWI_SORT_CHUNKS * TWI_SLOTS;
    if (chance(1, 2))
        few = below(chance(1, 2) ? TWI_SLOTS : few);
    few_chunks = chance(1, 2) ? TWI_SORT_CHUNKS : 2 + below(8);
    batch = chance(1, 2) ? 1 : 1 + below(16);
    h->scarce = memory == MEMORY_FAILING && !many && chance(1, 2);
    h->forgetful = chance(1, 4);
    if (h->scarce) {
        h->items = 20 + below(45);
        few = below(4);
    }
    draw_weights(h->delays, delays, DELAYS);
    draw_weights(h->operations, usual, OPERATIONS);
    if (many) {
        h->operations[OP_START] += 2000;
        h->operations[OP_FOREACH] = h->operations[OP_DRAIN] = 1;
    }
    if (large)
        draw_large_buckets();
}

/* Sets up the wheel and the timers. */
static void begin_round(void)
{
    const habits *h = &m.habits;
    tw_config config = {0, 0, 0, 0, NULL};
    config.tick = h->tick == 1 ? below(2) : h->tick;
    config.start = h->start;
    config.wheel_size =
        h->wheel_size == TW_DEFAULT_WHEEL_SIZE ? 0 : h->wheel_size;
    config.max_pending = h->max_pending;
    memset(&m.tw, 0x5a, sizeof(m.tw));
    memset(&heap_by_default, 0, sizeof(heap_by_default));
    heap_by_default.refuses = heap_refuses;
    fail_of_16 = 0;
    oracle_init(&m.oracle, h->tick, h->start, h->items);
    m.items = (item **)oracle_memory(NULL, h->items * sizeof(*m.items));
    m.marks = (unsigned char *)oracle_memory(NULL, h->items);
    for (uint32_t id = 0; id < h->items; id++)
        new_item(id);
    if (h->memory == MEMORY_PLENTY) {
        uint64_t rest = TWI_SLOTS * (few_chunks + batch + 3) + few;
        uint64_t most = TWI_SLOTS * (batch + 2) + few;
        oracle_small small = {few, TWI_SLOTS * (few_chunks - 1) + 1, TWI_SLOTS};
        m.oracle.moves = &m.moves;
        oracle_moves_init(&m.moves, h->wheel_size, oracle_clock(&m.oracle),
                          rest, most, small);
    }
    m.step = 0;
    m.depth = 0;
    m.all_fired = 0;
    m.visiting = false;
    m.draining = false;
    m.last_deadline = h->start;
    m.last_now = h->start;
    trace_count = 0;
    if (tw_init(&m.tw, &config) != TW_OK)
        fail(NO_ITEM, "tw_init fails");
    if (heap_by_default.calls != 0)
        fail(NO_ITEM, "tw_init has allocated");
}

/* From here on no allocation may be needed. */
static void reserve_all(void)
{
    habits *h = &m.habits;
    h->horizon =
        tw_after(h->start, chance(1, 2) ? random_log() : random_span());
    trace("reserve", NO_ITEM, h->items, h->horizon);
    if (tw_reserve(&m.tw, h->items, h->horizon) != TW_OK)
        fail(NO_ITEM, "tw_reserve fails");
    heap_by_default.calls = 0;
    fail_of_16 = 16;
    h->operations[OP_TRIM] = 0;
    h->operations[OP_START] += 1;
}

/* Memory fails now and then, or always for some time. With `scarce` memory
 * nearly always fails, and wheels and chunks are missing for long. */
static void change_memory(void)
{
    static const unsigned rates[] = {0, 1, 4, 8, 16, 16};
    static const unsigned scarce[] = {8, 14, 15, 15, 16, 16};
    if (m.habits.memory == MEMORY_FAILING && chance(1, 20))
        fail_of_16 = (m.habits.scarce ? scarce : rates)[below(6)];
}

/* Fires every timer that the clock can reach. Callbacks do nothing from now
 * on. */
static void fire_the_rest(void)
{
    m.habits.calm_after = 0;
    begin_call("advance", UINT64_MAX, 0);
    size_t fired = tw_advance_clock(&m.tw, UINT64_MAX);
    note_silent(NO_ITEM);
    finish_call();
    if (fired != m.fired)
        fail(NO_ITEM, "tw_advance_clock says %lu fired, not %lu",
             (unsigned long)fired, (unsigned long)m.fired);
    check_step();
}

/* Destroys the wheel. Pending timers become idle. */
static void end_round(void)
{
    if (chance(1, 2))
        fire_the_rest();
    fail_of_16 = 0;
    check_all_timers();
    tw_destroy(&m.tw);
    for (uint32_t id = 0; id < m.habits.items; id++) {
        if (oracle_is_pending(&m.oracle, id))
            m.oracle.timers[id].state = TW_IDLE;
        check_timer(id);
    }
    if (heap_by_default.blocks != 0)
        fail(NO_ITEM, "tw_destroy leaks");
    for (uint32_t id = 0; id < m.habits.items; id++)
        free(m.items[id]);
    free(m.items);
    free(m.marks);
    oracle_free(&m.oracle);
}

static void run_round(void)
{
    begin_round();
    if (m.habits.memory == MEMORY_RESERVED)
        reserve_all();
    unsigned at_the_end = 0;
    /* Once the clock has nowhere to go a round has little left to show. */
    while (m.step < m.habits.steps && at_the_end < 100) {
        m.step++;
        change_memory();
        if (m.habits.forgetful)
            twi_clear_caches(&m.tw);
        do_operation(
            (enum operation)random_choice(m.habits.operations, OPERATIONS));
        check_step();
        at_the_end += m.oracle.now == UINT64_MAX;
        if (m.habits.memory == MEMORY_RESERVED && heap_by_default.calls != 0)
            fail(NO_ITEM, "allocates in spite of tw_reserve");
    }
    end_round();
}

/* ----------------------------------------------------------------- cases -- */

/* The rounds of a case. */
typedef struct case_plan {
    const char *name;
    uint32_t wheel_size; /* 0: any */
    unsigned share;      /* of 1000 operations, how many */
    memory_mode memory;
    bool many;  /* thousands of timers */
    bool large; /* thousands of timers in few blocks */
} case_plan;

static const case_plan plans[] = {
    {"random: wheels of 2 buckets", 2, 100, MEMORY_PLENTY, false, false},
    {"random: wheels of 4 buckets", 4, 100, MEMORY_PLENTY, false, false},
    {"random: wheels of 8 buckets", 8, 115, MEMORY_PLENTY, false, false},
    {"random: wheels of 16 buckets", 16, 90, MEMORY_PLENTY, false, false},
    {"random: wheels of 32 buckets", 32, 80, MEMORY_PLENTY, false, false},
    {"random: wheels of 64 buckets", 64, 80, MEMORY_PLENTY, false, false},
    {"random: wheels of 128 buckets", 128, 50, MEMORY_PLENTY, false, false},
    {"random: wheels of 256 buckets", 256, 50, MEMORY_PLENTY, false, false},
    {"random: wheels of 512 buckets", 512, 30, MEMORY_PLENTY, false, false},
    {"random: wheels of 1024 buckets", 1024, 20, MEMORY_PLENTY, false, false},
    {"random: wheels of 2048 buckets", 2048, 10, MEMORY_PLENTY, false, false},
    {"random: wheels of 4096 buckets", 4096, 5, MEMORY_PLENTY, false, false},
    {"random: thousands of timers", 0, 60, MEMORY_PLENTY, true, false},
    {"random: large buckets", 0, 60, MEMORY_PLENTY, true, true},
    {"random: allocations that fail", 0, 100, MEMORY_FAILING, false, false},
    {"random: allocations that fail, thousands of timers", 0, 20,
     MEMORY_FAILING, true, false},
    {"random: nothing allocated after tw_reserve", 0, 30, MEMORY_RESERVED,
     false, false},
};

#define PLANS (sizeof(plans) / sizeof(*plans))

/* Draws mostly small wheels: small wheels cascade most, and tw_check is
 * fastest. */
static uint32_t any_wheel_size(void)
{
    return UINT32_C(2) << (chance(3, 4) ? below(6) : below(9));
}

/* Runs a round of a plan by number. Returns false if the round failed. */
static bool run_planned(const case_plan *plan, uint64_t number)
{
    m.case_name = plan->name;
    m.round = number;
    m.random = scramble(scramble(options.seed + 1) + number * PLANS +
                        (uint64_t)(plan - plans));
    draw_habits(plan->wheel_size != 0 ? plan->wheel_size : any_wheel_size(),
                plan->memory, plan->many, plan->large);
    if (setjmp(m.failed) != 0)
        return false;
    run_round();
    return true;
}

static void run_plan(const case_plan *plan)
{
    static uint64_t number; /* static, for setjmp's sake */
    uint64_t until =
        operations_done + options.operations / 1000 * plan->share + 1;
    if (options.one_round) {
        CHECK(run_planned(plan, options.round));
        return;
    }
    for (number = 0; operations_done < until; number++)
        if (!CHECK(run_planned(plan, number)))
            return;
}

static void run_case(void)
{
    run_plan(&plans[tap_case_index]);
}

static int run_cases(int argc, char **argv)
{
    tap_case cases[PLANS];
    for (size_t i = 0; i < PLANS; i++) {
        cases[i].name = plans[i].name;
        cases[i].run = run_case;
    }
    return TAP_RUN(cases, argc, argv);
}

/* ---------------------------------------------------------- command line -- */

static int usage(void)
{
    fprintf(stderr, "usage: random [--seed S] [--operations N] [--quick] "
                    "[--round R] [CASE...]\n");
    return 2;
}

/* Removes the options from the arguments. Returns false for a wrong option. */
static bool parse_options(int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        uint64_t *value = NULL;
        char *end;
        if (strcmp(argv[i], "--quick") == 0) {
            options.operations = 2000000;
            continue;
        }
        if (strcmp(argv[i], "--seed") == 0)
            value = &options.seed;
        if (strcmp(argv[i], "--operations") == 0)
            value = &options.operations;
        if (strcmp(argv[i], "--round") == 0) {
            value = &options.round;
            options.one_round = true;
        }
        if (value == NULL) {
            if (argv[i][0] == '-')
                return false;
            argv[kept++] = argv[i];
            continue;
        }
        if (++i == *argc)
            return false;
        *value = strtoull(argv[i], &end, 0);
        if (*end != '\0' || end == argv[i])
            return false;
    }
    *argc = kept;
    return true;
}

int main(int argc, char **argv)
{
    if (!parse_options(&argc, argv))
        return usage();
    printf("# seed %" PRIu64 ", %" PRIu64 " operations\n", options.seed,
           options.operations);
    fflush(stdout);
    catch_signals();
    clock_t began = clock();
    int status = run_cases(argc, argv);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    printf("# %" PRIu64 " operations in %.1f s: %.0f a second\n",
           operations_done, seconds,
           (double)operations_done / (seconds > 0 ? seconds : 1e-9));
    return status;
}
