/* operations.h - random operations on a wheel and on the oracle, side by side.
 *
 * random.c and fuzz.c share this file. Each gives the source of numbers,
 * draw(), and says what happens after a failure, give_up(). A round sets up a
 * wheel with drawn settings and takes drawn steps. Callbacks take steps, too.
 * Each step compares all that the wheel shows with the oracle.
 *
 * With -fsanitize-coverage=trace-pc, each call is bounded in basic blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_FILL
#include "heap.h"

static unsigned large; /* a bucket with more timers moves ahead of time */
#define TWI_LARGE large
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include "oracle.h"

#define ITEMS 1024
#define TRACE 48
#define CALM_LEVELS 4 /* wheels above wheel 0 in use in calm rounds */

/* Returns a number from 0 to below - 1; any 64 bits if `below` is 0. */
static uint64_t draw(uint64_t below);

/* Does not return. */
static void give_up(void);

typedef struct item {
    uint32_t id;
    bool silent; /* without a callback */
    tw_timer timer;
} item;

/* How to draw a deadline. */
enum delay {
    DELAY_TINY,      /* some ticks */
    DELAY_BORDER,    /* near the border of a step of some wheel */
    DELAY_MAGNITUDE, /* of any magnitude */
    DELAY_EVEN,      /* evenly over some turns of wheel 0 */
    DELAY_SAME,      /* the last deadline again */
    DELAY_NEAR,      /* near the deadline of a second timer */
    DELAY_PAST,      /* now, or passed */
    DELAY_END,       /* near the end of time */
    DELAY_BLOCK,     /* in one block of ticks, with many timers */
    DELAYS
};

/* What a round is like. */
typedef struct settings {
    uint64_t tick, start;
    uint32_t wheel_size;
    uint32_t items;
    size_t max_pending;
    unsigned steps;
    unsigned failing;        /* of 16 allocations, how many fail */
    unsigned active;         /* of 8 callbacks, how many take steps */
    unsigned silent;         /* of 8 timers, how many have no callback */
    unsigned far;            /* of 64 advances, how many go far */
    uint64_t block;          /* length of a block in ticks */
    bool calm;               /* only start and advance: the work is judged */
    unsigned delays[DELAYS]; /* weights */
} settings;

typedef struct trace_entry {
    const char *what;
    unsigned depth;
    uint32_t id;
    uint64_t a, b, clock;
} trace_entry;

static struct {
    timingwheel tw;
    oracle oracle;
    heap heap;
    settings s;
    item *items[ITEMS];
    unsigned long long step;  /* of the round */
    unsigned long long total; /* operations of all rounds */
    unsigned depth;           /* of callbacks */
    unsigned calls_left;      /* callbacks that may still take steps */
    uint64_t last_deadline, block_start;
    uint64_t horizon; /* tw_reserve: no start up to here may fail */
    bool reserved;
    uint64_t cascaded;
    unsigned long long unchecked; /* work since the last full check */
    unsigned long long check_every;
    uint32_t poll_fired;
    /* Work of the running call */
    size_t attempts, attempts_allowed; /* allocations */
    uint64_t blocks, blocks_allowed;
    bool counting;
    uint64_t began_with;     /* timers pending before the call */
    size_t wheels;           /* before the call */
    uint64_t emptied_passed; /* buckets emptied by cancels: passed so far */
    trace_entry trace[TRACE];
    unsigned long long traced;
} run;

/* -------------------------------------------------------------- failures -- */

static void print_trace(void)
{
    const settings *s = &run.s;
    printf("# wheel_size %u, tick %" PRIu64 ", start %" PRIu64
           ", %u timers, max_pending %zu, large %u, failing %u of 16%s\n",
           s->wheel_size, s->tick, s->start, s->items, s->max_pending, large,
           s->failing, s->calm ? ", calm" : "");
    unsigned long long i = run.traced > TRACE ? run.traced - TRACE : 0;
    for (; i < run.traced; i++) {
        const trace_entry *e = &run.trace[i % TRACE];
        printf("# %*s%s timer %u, %" PRIu64 ", %" PRIu64 " (clock %" PRIu64
               ")\n",
               (int)(2 * e->depth), "", e->what, e->id, e->a, e->b, e->clock);
    }
}

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_trace();
    printf("# step %llu: ", run.step);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    run.counting = false;
    give_up();
}

#define REQUIRE(expr)                                       \
    do {                                                    \
        if (!(expr))                                        \
            fail("line %d: not true: %s", __LINE__, #expr); \
    } while (0)

static void judge(const char *fault)
{
    if (fault != NULL)
        fail("%s", fault);
}

static void trace(const char *what, uint32_t id, uint64_t a, uint64_t b)
{
    trace_entry e = {what, run.depth, id, a, b, run.oracle.now};
    run.trace[run.traced++ % TRACE] = e;
}

/* ----------------------------------------------------------------- bounds -- */

/* Called in each basic block, if compiled so. */
#if defined(__clang__)
__attribute__((no_sanitize("coverage")))
#elif defined(__GNUC__) && __GNUC__ >= 12
__attribute__((no_sanitize_coverage))
#endif
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (run.counting && ++run.blocks > run.blocks_allowed)
        fail("a call takes more than %" PRIu64 " basic blocks",
             run.blocks_allowed);
}

static bool refuses(void)
{
    if (++run.attempts > run.attempts_allowed)
        fail("more than %zu allocations in one call", run.attempts_allowed);
    return run.s.failing != 0 && draw(16) < run.s.failing;
}

static unsigned size_bits(void)
{
    unsigned bits = 1;
    while ((UINT32_C(2) << bits) <= run.s.wheel_size)
        bits++;
    return bits;
}

/* The number of wheels that 64 bits can need. */
static unsigned levels(void)
{
    return (64 + size_bits() - 1) / size_bits();
}

/* Promise 16 in calm rounds. A call that moves the clock by d ticks, to r ticks
 * before the step of a large bucket, moves the share d / (d + r) of the
 * bucket. Buckets that are not large move when they come up. A loop that slept
 * through the step before pays for a bucket in one call, but for one bucket of
 * each wheel only. Timers moved in such a call have come late to their new
 * bucket: shares count from that call, and the finer wheels' own steps pay
 * later. */
static struct {
    uint64_t since;                /* the last such call */
    bool slept[CALM_LEVELS];       /* through the step before this one */
    size_t left_over[CALM_LEVELS]; /* share of this step's bucket */
} calm;

static void check_calm(uint64_t from, size_t timers, uint64_t moved)
{
    uint64_t clock = run.oracle.clock, passed = clock - from;
    uint64_t allowed = 0;
    for (unsigned i = 0; i < CALM_LEVELS; i++) {
        uint64_t shift = (i + 1) * size_bits(), own = from >> shift << shift;
        uint64_t next = own + (UINT64_C(1) << shift);
        uint64_t span = next - (calm.since > own ? calm.since : own);
        size_t share =
            passed >= span ? timers : (size_t)(timers * passed / span) + 1;
        if (clock >= next) {
            calm.slept[i] = share >= timers / 2;
            calm.left_over[i] = calm.slept[i] ? 0 : share;
        }
        allowed += large + share + calm.left_over[i];
    }
    if (moved <= 2 * allowed)
        return;
    unsigned i = 0;
    while (i < CALM_LEVELS && !calm.slept[i])
        i++;
    if (i == CALM_LEVELS)
        fail("a call over %" PRIu64 " ticks moves %" PRIu64 " of %zu timers, "
             "more than %" PRIu64,
             passed, moved, timers, 2 * allowed);
    for (calm.slept[i] = false; i-- != 0;)
        calm.slept[i] = true;
    calm.since = clock;
}

/* ----------------------------------------------------------------- checks -- */

static void check_timer(uint32_t id)
{
    const oracle_timer *t = &run.oracle.timers[id];
    const tw_timer *timer = &run.items[id]->timer;
    REQUIRE(tw_timer_state(timer) == t->state);
    REQUIRE(tw_is_pending(timer) == (t->state == TW_PENDING));
    REQUIRE(tw_deadline(timer) == t->deadline);
    REQUIRE(tw_remaining(timer, run.oracle.now) ==
            (t->state == TW_PENDING && t->deadline > run.oracle.now
                 ? t->deadline - run.oracle.now
                 : 0));
}

/* Checks all that costs the same for each wheel. */
static void check_quickly(void)
{
    uint64_t deadline = 0, now = run.oracle.now;
    REQUIRE(tw_count(&run.tw) == oracle_pending(&run.oracle));
    REQUIRE(tw_now(&run.tw) == now);
    if (run.oracle.unsure)
        return;
    bool found = tw_next_deadline(&run.tw, &deadline);
    judge(oracle_next(&run.oracle, found, deadline));
    uint64_t longest = run.step % 3 == 0 ? 1000 : UINT64_MAX;
    uint64_t expected = !found || deadline > now ? longest : 0;
    if (found && deadline > now && deadline - now < longest)
        expected = deadline - now;
    REQUIRE(tw_wait(&run.tw, now, longest) == expected);
}

static void check_fully(void)
{
    tw_stats stats;
    run.unchecked = 0;
    tw_get_stats(&run.tw, &stats);
    REQUIRE(stats.pending == oracle_pending(&run.oracle));
    REQUIRE(stats.fired == run.oracle.fired);
    REQUIRE(stats.wheels == run.heap.blocks && stats.bytes == run.heap.bytes);
    REQUIRE(stats.wheels <= levels() && run.heap.strays == 0);
    REQUIRE(stats.buckets <= stats.pending);
    REQUIRE(tw_check(&run.tw));
    for (uint32_t id = 0; id < run.s.items; id++)
        check_timer(id);
    run.check_every = 1 + stats.wheels * run.s.wheel_size / 4 + run.s.items / 4;
}

static uint64_t cascaded(void)
{
    return run.tw.cascaded;
}

/* --------------------------------------------------------------- deadlines -- */

/* Returns the ticks of a step of some wheel. */
static uint64_t draw_step(void)
{
    bool near = run.s.calm || draw(8) != 0;
    uint64_t shift = draw(near ? 3 : levels()) * size_bits();
    return shift < 64 ? UINT64_C(1) << shift : UINT64_C(1) << 63;
}

static uint64_t draw_magnitude(void)
{
    uint64_t shift = draw(64);
    return draw(0) >> shift;
}

/* Returns the time of a tick, or a little before or after. */
static uint64_t time_of(uint64_t tick)
{
    if (tick > UINT64_MAX / run.s.tick)
        return UINT64_MAX - draw(3);
    return tick * run.s.tick - (run.s.tick > 1 ? draw(2 * run.s.tick) : 0);
}

static uint64_t draw_deadline(void)
{
    const oracle *o = &run.oracle;
    unsigned sum = 0, kind = 0;
    for (unsigned i = 0; i < DELAYS; i++)
        sum += run.s.delays[i];
    unsigned at = (unsigned)draw(sum);
    while (at >= run.s.delays[kind])
        at -= run.s.delays[kind++];
    uint64_t step, clock = o->clock, size = run.s.wheel_size;
    switch (kind) {
    case DELAY_TINY:
        return time_of(tw_after(clock, 1 + draw(4)));
    case DELAY_BORDER:
        step = draw_step();
        return time_of(
            tw_after((clock / step + draw(2 * size + 2)) * step, draw(3)) - 1);
    case DELAY_MAGNITUDE:
        return tw_after(o->now, draw_magnitude());
    case DELAY_EVEN:
        return time_of(tw_after(clock, draw(size * 4)));
    case DELAY_SAME:
        return run.last_deadline;
    case DELAY_NEAR:
        return o->timers[draw(run.s.items)].deadline + draw(3) - 1;
    case DELAY_PAST:
        return draw(2) == 0 ? o->now : o->now - (o->now < 100 ? 0 : draw(100));
    case DELAY_END:
        return UINT64_MAX - draw_magnitude() / 2;
    default:
        if (run.block_start <= clock)
            run.block_start = tw_after(clock, draw(3 * size * draw_step()));
        return time_of(tw_after(run.block_start, draw(run.s.block)));
    }
}

static uint64_t draw_now(void)
{
    const oracle *o = &run.oracle;
    const oracle_timer *first = oracle_first(o);
    uint64_t deadline = o->now, step;
    switch (draw(run.s.far != 0 && draw(64) < run.s.far ? 8 : 6)) {
    case 0:
        (void)tw_next_deadline(&run.tw, &deadline);
        return deadline + (draw(4) == 0 ? draw(3) - (deadline != 0) : 0);
    case 1:
        return tw_after(o->now, draw(3 * run.s.tick));
    case 2:
        step = draw_step();
        if (step > (uint64_t)run.s.wheel_size * run.s.wheel_size)
            step = run.s.wheel_size;
        return time_of(tw_after(o->clock / step * step, step) - draw(2));
    case 3:
        return tw_after(o->now, draw(run.s.wheel_size) * run.s.tick);
    case 4:
        return o->now - (o->now < 1000 ? 0 : draw(1000));
    case 5: /* to the timer that fires after some others */
        if (first == NULL)
            return o->now;
        return o->timers[o->waiting[draw(o->waiting_count)]].deadline;
    case 6:
        return tw_after(o->now, draw_magnitude());
    default:
        return first == NULL ? o->now : first->deadline;
    }
}

/* -------------------------------------------------------------- operations -- */

static void on_fire(timingwheel *tw, tw_timer *timer);

static item *item_of(tw_timer *timer)
{
    return (item *)(void *)((char *)timer - offsetof(item, timer));
}

static tw_timer *timer_of(uint32_t id)
{
    return &run.items[id]->timer;
}

/* Gives a number a new item, at a new address. */
static void new_item(uint32_t id)
{
    item *old = run.items[id], *new_one = (item *)calloc(1, sizeof *new_one);
    if (new_one == NULL)
        abort();
    new_one->id = id;
    new_one->silent = draw(8) < run.s.silent;
    tw_timer_init(&new_one->timer, new_one->silent ? NULL : on_fire);
    run.items[id] = new_one;
    if (old != NULL)
        memset(old, 0x5a, sizeof *old);
    free(old);
}

static uint32_t draw_id(void)
{
    return (uint32_t)draw(run.s.items);
}

/* Before an operation that may create wheels. */
static void allow_allocations(size_t most)
{
    run.attempts = 0;
    run.attempts_allowed = most;
    run.heap.failures = 0;
}

/* Judges the status of a start. Returns true if the timer has started. */
static bool check_status(int status, uint32_t id, uint64_t deadline)
{
    const oracle *o = &run.oracle;
    bool refused = run.heap.failures != 0;
    if (!oracle_is_pending(o, id) && run.s.max_pending != 0 &&
        oracle_pending(o) >= run.s.max_pending) {
        REQUIRE(status == TW_EFULL);
        return false;
    }
    if (refused) {
        REQUIRE(status == TW_ENOMEM);
        REQUIRE(oracle_tick_of(o, deadline) > o->clock);
        REQUIRE(!run.reserved || deadline > run.horizon);
        return false;
    }
    REQUIRE(status == TW_OK);
    return true;
}

static void start(uint32_t id, uint64_t deadline)
{
    trace("start", id, deadline, 0);
    allow_allocations(levels());
    int status = tw_start(&run.tw, timer_of(id), deadline);
    if (check_status(status, id, deadline))
        oracle_start(&run.oracle, id, deadline);
    run.last_deadline = deadline;
}

static void op_start(void)
{
    uint32_t id = draw_id();
    start(id, draw_deadline());
    check_timer(id);
}

/* Starts many timers, most of them for near ticks. */
static void op_start_many(void)
{
    uint64_t deadline = draw_deadline(), width = draw(2) * draw(20);
    for (uint64_t count = 1 + draw(run.s.calm ? 300 : 40); count != 0; count--)
        start(draw_id(), tw_after(deadline, draw(width + 1)));
}

static void op_within(void)
{
    uint32_t id = draw_id();
    uint64_t earliest = draw_deadline();
    uint64_t latest = tw_after(earliest, draw_magnitude());
    uint64_t deadline = oracle_within(&run.oracle, earliest, latest);
    trace("start_within", id, earliest, latest);
    allow_allocations(levels());
    int status = tw_start_within(&run.tw, timer_of(id), earliest, latest);
    if (check_status(status, id, deadline))
        oracle_start(&run.oracle, id, deadline);
    check_timer(id);
}

static void op_postpone(void)
{
    uint32_t id = draw_id();
    uint64_t deadline = draw_deadline();
    bool writes = oracle_postpones(&run.oracle, id, deadline);
    trace("postpone", id, deadline, writes);
    allow_allocations(writes ? 0 : levels());
    int status = tw_postpone(&run.tw, timer_of(id), deadline);
    if (check_status(status, id, deadline))
        oracle_postpone(&run.oracle, id, deadline);
    check_timer(id);
}

static void cancel(uint32_t id)
{
    trace("cancel", id, 0, 0);
    allow_allocations(0);
    REQUIRE(tw_cancel(&run.tw, timer_of(id)) == oracle_cancel(&run.oracle, id));
    check_timer(id);
}

static void op_cancel(void)
{
    cancel(draw_id());
}

static void op_cancel_many(void)
{
    uint32_t id = draw_id();
    for (uint64_t count = draw(run.s.items); count != 0; count--)
        cancel(id = (id + 1) % run.s.items);
}

static void op_move(void)
{
    uint32_t id = draw_id();
    item *from = run.items[id], *to = (item *)malloc(sizeof *to);
    if (to == NULL)
        abort();
    tw_timer_init(&to->timer, NULL);
    to->id = id;
    to->silent = from->silent;
    trace("move", id, 0, 0);
    allow_allocations(0);
    tw_move(&run.tw, &from->timer, &to->timer);
    REQUIRE(tw_timer_state(&from->timer) ==
            (oracle_is_pending(&run.oracle, id) ? TW_IDLE
                                                : run.oracle.timers[id].state));
    memset(from, 0x5a, sizeof *from);
    free(from);
    run.items[id] = to;
    check_timer(id);
}

/* Frees a timer that is not pending, and takes a new one in its place. */
static void op_replace(void)
{
    uint32_t id = draw_id();
    if (oracle_is_pending(&run.oracle, id))
        return;
    trace("free", id, 0, 0);
    new_item(id);
    run.oracle.timers[id].state = TW_IDLE;
    run.oracle.timers[id].deadline = 0;
}

static void op_reserve(void)
{
    uint64_t horizon = draw_deadline();
    trace("reserve", 0, horizon, 0);
    allow_allocations(levels());
    int status = tw_reserve(&run.tw, horizon);
    REQUIRE(status == (run.heap.failures != 0 ? TW_ENOMEM : TW_OK));
    if (status == TW_OK && (!run.reserved || horizon > run.horizon))
        run.horizon = horizon;
    run.reserved = run.reserved || status == TW_OK;
}

static void op_trim(void)
{
    trace("trim", 0, 0, 0);
    allow_allocations(0);
    tw_trim(&run.tw);
    run.reserved = false;
    REQUIRE(oracle_pending(&run.oracle) != 0 || run.heap.blocks == 0);
}

/* Calls that a callback must not make do nothing. */
static void op_refused(void)
{
    size_t blocks = run.heap.blocks;
    trace("refused calls", 0, 0, 0);
    REQUIRE(tw_advance_clock(&run.tw, UINT64_MAX) == 0);
    REQUIRE(tw_advance_clock_limit(&run.tw, UINT64_MAX, 9) == 0);
    REQUIRE(tw_poll(&run.tw, UINT64_MAX) == NULL);
    tw_trim(&run.tw);
    tw_destroy(&run.tw);
    REQUIRE(run.heap.blocks == blocks);
}

/* ---------------------------------------------------------------- visiting -- */

/* The timers that were pending when a visit began, in the oracle's order. */
static struct {
    uint32_t ids[ITEMS], position[ITEMS];
    uint64_t starts[ITEMS];
    bool visited[ITEMS]; /* by number */
    size_t count, visits;
    bool drains, active;
} visit;

static void visit_begin(bool drains)
{
    const oracle *o = &run.oracle;
    visit.count = visit.visits = 0;
    visit.drains = drains;
    visit.active = true;
    for (size_t i = o->waiting_count; i-- != 0;)
        visit.ids[visit.count++] = o->waiting[i];
    for (size_t i = 0; i < o->overdue_count; i++)
        visit.ids[visit.count++] = o->overdue[i];
    memset(visit.visited, 0, sizeof visit.visited);
    for (uint32_t i = 0; i < visit.count; i++) {
        visit.position[visit.ids[i]] = i;
        visit.starts[i] = o->timers[visit.ids[i]].start;
    }
}

/* True if the timer at a position has not left since the visit began. */
static bool visit_is_left(size_t i)
{
    const oracle_timer *t = &run.oracle.timers[visit.ids[i]];
    return t->state == TW_PENDING && t->start == visit.starts[i] &&
           !visit.visited[visit.ids[i]];
}

static void take_steps(unsigned count);

static void on_visit(tw_timer *timer, void *context)
{
    oracle *o = &run.oracle;
    uint32_t id = item_of(timer)->id;
    const oracle_timer *t = &o->timers[id];
    bool counting = run.counting;
    run.counting = false;
    trace("visited", id, t->deadline, 0);
    REQUIRE(context == &visit && timer == timer_of(id));
    size_t at = visit.position[id];
    REQUIRE(at < visit.count && visit.ids[at] == id && visit_is_left(at));
    for (size_t i = at; !t->any_place && i-- != 0;) {
        const oracle_timer *older = &o->timers[visit.ids[i]];
        if (!older->any_place && older->tick == t->tick && visit_is_left(i))
            fail("timer %u of the same tick must be visited first",
                 visit.ids[i]);
        if (older->is_overdue == t->is_overdue && older->tick == t->tick &&
            !older->any_place && visit.visited[visit.ids[i]])
            break;
    }
    visit.visited[id] = true;
    visit.visits++;
    if (visit.drains) {
        oracle_leave(o, id, TW_IDLE);
        check_timer(id);
        run.depth++;
        if (run.s.active != 0 && run.calls_left != 0 && draw(8) == 0) {
            run.calls_left--;
            take_steps(1);
        }
        run.depth--;
    } else if (draw(16) == 0) {
        REQUIRE(tw_cancel(&run.tw, timer) && oracle_cancel(o, id));
        if (draw(2) == 0)
            op_replace();
    }
    run.counting = counting;
}

static void op_foreach(void)
{
    if (visit.active)
        return;
    trace("foreach", 0, 0, 0);
    visit_begin(false);
    size_t visits = tw_foreach(&run.tw, on_visit, &visit);
    REQUIRE(visits == visit.count && visit.visits == visits);
    visit.active = false;
}

static void op_drain(void)
{
    if (visit.active)
        return;
    trace("drain", 0, 0, 0);
    visit_begin(true);
    size_t visits = tw_drain(&run.tw, on_visit, &visit);
    REQUIRE(visits == visit.visits);
    for (size_t i = 0; i < visit.count; i++)
        REQUIRE(!visit_is_left(i));
    visit.active = false;
}

/* ------------------------------------------------------------------- calls -- */

static bool has_fired_silently(uint32_t id)
{
    return run.items[id]->silent && tw_timer_state(timer_of(id)) == TW_FIRED;
}

/* Reports to the oracle the timers without a callback that have fired. */
static void settle(void)
{
    oracle *o = &run.oracle;
    for (bool again = run.s.silent != 0; again;) {
        again = false;
        bool due = oracle_is_due(o), overdue = oracle_has_overdue(o);
        if (o->overdue_count != 0 && (overdue || !due)) {
            uint32_t id = o->overdue[0];
            again = has_fired_silently(id);
            if (again)
                judge(oracle_fire(o, id));
            continue;
        }
        uint64_t tick = oracle_first(o) != NULL ? oracle_first(o)->tick : 0;
        for (size_t i = o->waiting_count; i-- != 0 && !again;) {
            uint32_t id = o->waiting[i];
            if (o->timers[id].tick != tick)
                break;
            again = has_fired_silently(id);
            if (again)
                judge(oracle_fire(o, id));
        }
    }
}

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    bool counting = run.counting;
    run.counting = false;
    uint32_t id = item_of(timer)->id;
    REQUIRE(tw == &run.tw && id < run.s.items && timer == timer_of(id));
    trace("fires", id, run.oracle.timers[id].deadline, 0);
    settle();
    judge(oracle_fire(&run.oracle, id));
    REQUIRE(tw_now(tw) == run.oracle.now);
    REQUIRE(tw_timer_state(timer) == TW_FIRED);
    if (run.calls_left != 0 && draw(8) < run.s.active) {
        run.calls_left--;
        run.depth++;
        size_t attempts = run.attempts, allowed = run.attempts_allowed;
        take_steps(1 + (unsigned)draw(2));
        if (draw(3) == 0)
            start(id, draw_deadline());
        run.attempts = attempts;
        run.attempts_allowed = allowed + levels();
        run.depth--;
    }
    run.counting = counting;
}

/* Before a call. Sets the bounds on the call's work. */
static void call_begin(void)
{
    size_t pending = oracle_pending(&run.oracle);
    run.calls_left = 20;
    allow_allocations((pending + 30) * (pending + 30));
    run.cascaded = cascaded();
    run.blocks = 0;
    run.blocks_allowed = 100000000;
    run.wheels = run.heap.blocks;
    run.began_with = pending;
    run.counting = true;
}

/* Judges the work of a call. A call may pass each bucket emptied by cancels,
 * in 16 basic blocks. Each timer moves down once per wheel, and once
 * for each postpone. Timers that find no memory are tried again at each of
 * their ticks. */
static void check_work(uint64_t fired)
{
    uint64_t moved = cascaded() - run.cascaded, timers = run.began_with + 80;
    uint64_t most = timers * (run.heap.failures != 0 ? timers : levels() + 1);
    if (moved > most)
        fail("a call moves %" PRIu64 " timers, more than %" PRIu64, moved,
             most);
    uint64_t allowed = 500 + 40 * levels() +
                       (fired + moved + 1) * (200 + run.s.wheel_size / 8) +
                       200 * run.s.wheel_size * (run.heap.blocks - run.wheels);
    uint64_t over = run.blocks > allowed ? run.blocks - allowed : 0;
    if (run.emptied_passed + over / 16 > run.oracle.leaves)
        fail("a call takes %" PRIu64 " basic blocks, more than %" PRIu64,
             run.blocks, allowed);
    run.emptied_passed += over / 16;
}

static void call_end(bool complete, bool polled, uint64_t moved)
{
    run.counting = false;
    settle();
    judge(oracle_return(&run.oracle, complete, polled, moved != 0,
                        tw_now(&run.tw)));
}

static void advance(uint64_t now)
{
    uint64_t fired = run.oracle.fired, clock = run.oracle.clock;
    trace("advance", 0, now, 0);
    oracle_call(&run.oracle, now);
    call_begin();
    size_t count = tw_advance_clock(&run.tw, now);
    call_end(true, false, 0);
    REQUIRE(count == run.oracle.fired - fired);
    check_work(count);
    if (run.s.calm)
        check_calm(clock, run.began_with, cascaded() - run.cascaded);
}

/* A limited call may leave the oracle unsure. */
static void resolve(void)
{
    if (run.oracle.unsure)
        advance(run.oracle.now);
}

static void op_advance(void)
{
    advance(draw_now());
}

/* Looks every few ticks. Now and then sleeps for a while, or up to the step of
 * some wheel in which the first timer is due. */
static void op_advance_calmly(void)
{
    const oracle_timer *first = oracle_first(&run.oracle);
    uint64_t clock = run.oracle.clock, ticks = 1 + draw(3);
    if (draw(100) == 0 && first != NULL) {
        uint64_t step = draw_step(), from = first->tick / step * step;
        ticks = from > clock ? from - clock : draw(3 * step);
    }
    advance(tw_after(run.oracle.now, ticks * run.s.tick));
}

static void op_limit(void)
{
    uint64_t now = draw_now(), fired = run.oracle.fired;
    size_t limit = (size_t)(draw(4) == 0 ? draw(40) : draw(5));
    trace("advance_limit", 0, now, limit);
    if (limit == 0) {
        REQUIRE(tw_advance_clock_limit(&run.tw, now, 0) == 0);
        return;
    }
    oracle_call(&run.oracle, now);
    call_begin();
    size_t count = tw_advance_clock_limit(&run.tw, now, limit);
    uint64_t moved = cascaded() - run.cascaded;
    if (count + moved > limit)
        fail("%zu timers fired and %" PRIu64 " moved, more than the limit",
             count, moved);
    call_end(count + moved < limit, false, moved);
    REQUIRE(count == run.oracle.fired - fired);
    check_work(count);
    resolve();
}

static void op_poll(void)
{
    uint64_t now = draw_now();
    trace("poll", 0, now, 0);
    oracle_call(&run.oracle, now);
    call_begin();
    tw_timer *timer = tw_poll(&run.tw, now);
    run.counting = false;
    if (timer != NULL) {
        uint32_t id = item_of(timer)->id;
        REQUIRE(id < run.s.items && timer == timer_of(id));
        trace("polled", id, run.oracle.timers[id].deadline, 0);
        judge(oracle_fire(&run.oracle, id));
    }
    call_end(timer == NULL, true, 0);
    check_work(timer != NULL);
    resolve();
}

/* ------------------------------------------------------------------ rounds -- */

/* An operation, with its weight outside of calls, in callbacks and visitors,
 * and in calm rounds. */
typedef struct operation {
    void (*run)(void);
    unsigned outside, inside, calm;
} operation;

static const operation operations[] = {
    {op_start, 24, 24, 1},        /* */
    {op_start_many, 2, 0, 2},     /* */
    {op_within, 4, 4, 0},         /* */
    {op_postpone, 10, 10, 0},     /* */
    {op_cancel, 8, 8, 0},         /* */
    {op_cancel_many, 1, 1, 0},    /* */
    {op_move, 2, 2, 0},           /* */
    {op_replace, 2, 2, 0},        /* */
    {op_reserve, 1, 1, 0},        /* */
    {op_foreach, 1, 1, 0},        /* */
    {op_drain, 1, 1, 0},          /* */
    {op_refused, 0, 1, 0},        /* */
    {op_advance, 10, 0, 0},       /* */
    {op_limit, 8, 0, 0},          /* */
    {op_poll, 6, 0, 0},           /* */
    {op_trim, 1, 0, 0},           /* */
    {op_advance_calmly, 0, 0, 99} /* */
};
#define OPERATIONS (sizeof operations / sizeof *operations)

/* The weights of a round: outside and inside. */
static unsigned weights[2][OPERATIONS], weight_sum[2];

static void draw_weights(bool is_calm)
{
    weight_sum[0] = weight_sum[1] = 0;
    for (size_t i = 0; i < OPERATIONS; i++) {
        unsigned usual = draw(4) == 0 ? (unsigned)draw(10) : 3;
        const operation *o = &operations[i];
        weights[0][i] = is_calm ? o->calm : o->outside * usual + (i == 0);
        weights[1][i] = o->inside * usual + (i == 0);
        weight_sum[0] += weights[0][i];
        weight_sum[1] += weights[1][i];
    }
}

static void take_steps(unsigned count)
{
    bool inside = run.depth != 0;
    for (; count != 0; count--) {
        unsigned at = (unsigned)draw(weight_sum[inside]);
        size_t i = 0;
        while (at >= weights[inside][i])
            at -= weights[inside][i++];
        run.total++;
        operations[i].run();
    }
}

static uint64_t draw_tick(void)
{
    static const uint64_t ticks[] = {1, 1, 1, 1, 3, 10, 1000};
    uint64_t i = draw(9);
    return i < 7 ? ticks[i] : i == 7 ? UINT64_C(1) << draw(40) : 1 + draw(999);
}

static uint64_t draw_start(uint64_t tick)
{
    static const uint64_t bases[] = {0, UINT64_C(1) << 32, UINT64_C(1) << 63};
    uint64_t i = draw(6), off = draw(3000) * tick;
    if (i < 3)
        return bases[i] + draw(2) * draw(100);
    return i == 3 ? draw(0) >> draw(20) : i == 4 ? 0 - 1 - off : 0 - off * 100;
}

/* Hundreds of timers in blocks of near ticks, and a clock that seldom leaps. */
static void draw_calm(settings *s)
{
    s->calm = true;
    s->start = draw(2) == 0 ? 0 : draw(0) >> (1 + draw(40));
    s->wheel_size = UINT32_C(16) << draw(4);
    s->items = (uint32_t)(ITEMS / 2 + draw(ITEMS / 2));
    s->steps = 4000;
    s->max_pending = 0;
    s->failing = s->active = 0;
    s->block = 1 + draw(s->wheel_size * 2);
    large = 4 + (unsigned)draw(4);
    memset(s->delays, 0, sizeof s->delays);
    s->delays[DELAY_BLOCK] = 1;
    memset(&calm, 0, sizeof calm);
    calm.since = s->start / s->tick;
}

static void draw_settings(settings *s)
{
    memset(s, 0, sizeof *s);
    s->tick = draw_tick();
    s->start = draw_start(s->tick);
    s->wheel_size = UINT32_C(2) << (draw(3) == 0 ? draw(12) : draw(6));
    s->items = (uint32_t)(draw(3) != 0 ? 1 + draw(30) : 1 + draw(ITEMS / 2));
    s->max_pending = draw(6) == 0 ? 1 + draw(s->items) : 0;
    s->steps = 500 + (unsigned)draw(2000);
    s->failing = draw(3) == 0 ? 1 + (unsigned)draw(16) : 0;
    s->active = (unsigned)(draw(2) * draw(8));
    s->silent = draw(6) == 0 ? (unsigned)draw(9) : 0;
    s->far = (unsigned)(draw(2) * draw(20));
    s->block = 1 + draw(s->wheel_size * (1 + draw(8)));
    large = draw(2) == 0 ? 512 : 4 + (unsigned)draw(30);
    for (unsigned i = 0; i < DELAYS; i++)
        s->delays[i] = draw(3) == 0 ? 0 : (unsigned)draw(8);
    s->delays[DELAY_TINY]++;
    s->delays[DELAY_END] = draw(4) == 0 ? 1 : 0;
    if (draw(8) == 0)
        draw_calm(s);
    draw_weights(s->calm);
}

/* Plays one round. */
static void play_round(void)
{
    settings *s = &run.s;
    draw_settings(s);
    run.step = run.traced = run.unchecked = 0;
    run.depth = 0;
    run.reserved = false;
    run.emptied_passed = 0;
    run.block_start = run.last_deadline = 0;
    run.check_every = 1;
    visit.active = false;
    memset(&run.heap, 0, sizeof run.heap);
    run.heap.refuses = refuses;
    for (uint32_t id = 0; id < s->items; id++)
        new_item(id);
    tw_config config = {s->tick, s->start, s->wheel_size, s->max_pending,
                        &run.heap};
    REQUIRE(tw_init(&run.tw, &config) == TW_OK);
    oracle_init(&run.oracle, s->tick, s->start, s->items);
    for (; run.step < s->steps; run.step++) {
        take_steps(1);
        check_quickly();
        if (++run.unchecked >= run.check_every)
            check_fully();
    }
    check_fully();
    tw_destroy(&run.tw);
    REQUIRE(run.heap.blocks == 0 && run.heap.strays == 0);
    oracle_free(&run.oracle);
    for (uint32_t id = 0; id < s->items; id++) {
        free(run.items[id]);
        run.items[id] = NULL;
    }
}

#endif
