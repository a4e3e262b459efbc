/* operations.h - operations on a wheel and on the oracle, side by side.
 *
 * Each operation does the same to both, and compares all that the wheel shows
 * with the oracle. Includers set up a round by set_up(), with settings in
 * `run.s`, and say what callbacks and visitors do, which allocations fail, and
 * what happens after a failure. rounds.h makes random rounds of the operations.
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
#include "../lib/heap.h"

static unsigned large = 512; /* a bucket with as many timers moves ahead */
static unsigned few = 12;    /* a bucket with more timers moves down to fire */
#define TWI_LARGE large
#define TWI_FEW few
#define TWI_CROWD (large + few)
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include "../lib/inside.h"
#include "oracle.h"

#define ITEMS 1024
#define TRACE 48
#define CALM_TICKS 3 /* of a call in calm rounds */

/* Does not return. */
static void give_up(void);

typedef struct item {
    uint32_t id;
    tw_timer timer;
} item;

/* What a round is like. */
typedef struct settings {
    uint64_t tick, start;
    uint32_t wheel_size;
    uint32_t items;
    size_t max_pending;
    bool calm; /* only starts and full calls: promise 10 is judged */
    void (*in_callback)(uint32_t id);
    void (*in_visitor)(uint32_t id); /* may be NULL */
    bool (*refuses)(void);           /* an allocation; may be NULL */
    bool (*throws)(void);            /* a callback or visitor; only in C++ */
} settings;

typedef struct trace_entry {
    const char *what;
    unsigned depth;
    uint32_t id;
    uint64_t a, b, clock;
} trace_entry;

static struct {
    timingwheel tw;
    struct oracle oracle;
    struct heap heap;
    settings s;
    item *items[ITEMS];
    unsigned long long step;  /* of the round */
    unsigned long long total; /* operations of all rounds */
    unsigned depth;           /* of callbacks and visitors */
    uint64_t horizon;         /* tw_reserve: no start up to here allocates */
    bool reserved;
    unsigned long long check_every; /* steps until a full check */
    /* The running call */
    size_t attempts, attempts_allowed; /* allocations */
    uint64_t began_with;               /* timers pending before the call */
    bool has_failed;                   /* an allocation of the round */
    uint64_t vain; /* calls of the round that the loop woke for, for nothing */
    uint64_t cascaded; /* before the call */
    trace_entry trace[TRACE];
    unsigned long long traced;
} run;

/* The timers that were pending when a visit began, in the oracle's order. */
static struct {
    uint32_t ids[ITEMS], position[ITEMS];
    uint64_t starts[ITEMS];
    bool visited[ITEMS]; /* by number */
    size_t count, visits;
    uint64_t began; /* starts before the visit */
    bool drains, active;
} visit;

/* -------------------------------------------------------------- failures -- */

static void print_trace(void)
{
    const settings *s = &run.s;
    printf("# wheel_size %u, tick %" PRIu64 ", start %" PRIu64
           ", %u timers, max_pending %zu, few %u, large %u%s\n",
           s->wheel_size, s->tick, s->start, s->items, s->max_pending, few,
           large, s->calm ? ", calm" : "");
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
    give_up();
}

#define REQUIRE(expr)                                       \
    do {                                                    \
        if (!(expr))                                        \
            fail("line %d: not true: %s", __LINE__, #expr); \
    } while (0)

/* The same, with both values. */
static inline void require_equal(uint64_t got, uint64_t expected,
                                 const char *what, int line)
{
    if (got != expected)
        fail("line %d: %s is %" PRIu64 ", expected %" PRIu64, line, what, got,
             expected);
}

#define REQUIRE_EQUAL(got, expected) \
    require_equal((uint64_t)(got), (uint64_t)(expected), #got, __LINE__)

/* In C++, callbacks and visitors throw. CATCH makes a call, and returns true if
 * the call has thrown. */
#ifdef __cplusplus
struct thrown {
};

#define CATCH(call)                \
    ([&]() {                       \
        try {                      \
            (void)(call);          \
        } catch (const thrown &) { \
            return true;           \
        }                          \
        return false;              \
    }())
#define MAY_THROW()                                   \
    do {                                              \
        if (run.s.throws != NULL && run.s.throws()) { \
            trace("throws", 0, 0, 0);                 \
            throw thrown();                           \
        }                                             \
    } while (0)
#else
#define CATCH(call) ((void)(call), false)
#define MAY_THROW() ((void)0)
#endif

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

/* ---------------------------------------------------------------- bounds -- */

static bool allocation_fails(void)
{
    if (++run.attempts > run.attempts_allowed)
        fail("more than %zu allocations in one call", run.attempts_allowed);
    bool fails = run.s.refuses != NULL && run.s.refuses();
    run.has_failed |= fails;
    return fails;
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

/* Promise 10 in calm rounds, where each call moves the clock by at most
 * CALM_TICKS, and timers lie in two wheels above wheel 0 at most. Once two
 * steps of the coarser one have passed, a call moves at most that fraction of
 * all timers, and a bucket or two of each wheel that were not large. */
static void check_calm(uint64_t moved)
{
    uint64_t size = run.s.wheel_size;
    uint64_t share = 2 * CALM_TICKS * run.began_with / size;
    uint64_t most = share + 4 * (large + TWI_BATCH + 2);
    bool is_settled = run.oracle.clock - run.s.start / run.s.tick >=
                      2 * size * (size == 16 ? size : 1);
    if (is_settled && moved > most)
        fail("a call moves %" PRIu64 " timers, more than %" PRIu64, moved,
             most);
}

/* ---------------------------------------------------------------- checks -- */

static void check_timer(uint32_t id)
{
    const oracle_timer *t = &run.oracle.timers[id];
    const tw_timer *timer = &run.items[id]->timer;
    REQUIRE_EQUAL(tw_timer_state(timer), t->state);
    REQUIRE_EQUAL(tw_is_pending(timer), t->state == TW_PENDING);
    REQUIRE_EQUAL(tw_deadline(timer), t->deadline);
    REQUIRE(tw_remaining(timer, run.oracle.now) ==
            (t->state == TW_PENDING && t->deadline > run.oracle.now
                 ? t->deadline - run.oracle.now
                 : 0));
}

/* Checks all that costs the same for each wheel. */
static void check_quickly(void)
{
    uint64_t deadline = 0, now = run.oracle.now;
    REQUIRE_EQUAL(tw_count(&run.tw), oracle_pending(&run.oracle));
    REQUIRE_EQUAL(tw_now(&run.tw), now);
    if (run.oracle.unsure)
        return;
    bool found = tw_next_deadline(&run.tw, &deadline);
    judge(oracle_next(&run.oracle, found, deadline));
    uint64_t longest = run.step % 3 == 0 ? 1000 : UINT64_MAX;
    uint64_t expected = !found || deadline > now ? longest : 0;
    if (found && deadline > now && deadline - now < longest)
        expected = deadline - now;
    uint64_t wait = tw_wait(&run.tw, now, longest);
    if (oracle_is_due(&run.oracle)) /* in an unfinished call */
        expected = 0;
    else if (run.oracle.open && found && deadline <= run.oracle.target_now &&
             wait == 0)
        return; /* early, for timers that have left */
    REQUIRE_EQUAL(wait, expected);
}

static void check_fully(void)
{
    tw_stats stats;
    tw_get_stats(&run.tw, &stats);
    REQUIRE_EQUAL(stats.pending, oracle_pending(&run.oracle));
    REQUIRE_EQUAL(stats.fired, run.oracle.fired);
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

/* ------------------------------------------------------------ operations -- */

static void on_fire(timingwheel *tw, tw_timer *timer);

static item *item_of(tw_timer *timer)
{
    return TW_OWNER(timer, item, timer);
}

static tw_timer *timer_of(uint32_t id)
{
    return &run.items[id]->timer;
}

static item *make_item(uint32_t id)
{
    item *made = (item *)malloc(sizeof *made);
    if (made == NULL)
        abort();
    made->id = id;
    tw_timer_init(&made->timer, on_fire);
    return made;
}

/* Frees an item, and makes sure that nobody uses the item any more. */
static void free_item(item *old)
{
    memset(old, 0x5a, sizeof *old);
    free(old);
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
    if (!oracle_is_pending(o, id) && run.s.max_pending != 0 &&
        oracle_pending(o) >= run.s.max_pending) {
        REQUIRE_EQUAL(-status, -TW_EFULL);
        return false;
    }
    REQUIRE_EQUAL(-status, -TW_OK);
    REQUIRE(run.attempts == 0 || oracle_tick_of(o, deadline) > o->clock);
    REQUIRE(run.attempts == 0 || !run.reserved || deadline > run.horizon);
    return true;
}

/* After a start. A timer that waits for memory takes any place in its tick. */
static void check_started(uint32_t id)
{
    oracle_timer *t = &run.oracle.timers[id];
    t->any_place |= run.has_failed && t->tick > run.oracle.clock &&
                    twi_wheel_for(&run.tw, t->tick) == &run.tw.missing;
    check_timer(id);
}

/* True if the timer is the only one that is due next, and no bucket has more
 * than few timers, so that the answers are exact as soon as it leaves. */
static bool is_exact_without(uint32_t id)
{
    const oracle *o = &run.oracle;
    const oracle_timer *t = &o->timers[id];
    uint64_t next;
    return t == oracle_first(o) && o->overdue_count == 0 && !visit.active &&
           !o->has_left_behind && !run.has_failed && o->waiting_count <= few &&
           tw_next_deadline(&run.tw, &next) && next == t->tick * o->tick;
}

static void check_exact(bool is_exact)
{
    const oracle *o = &run.oracle;
    const oracle_timer *first = oracle_first(o);
    uint64_t next = 0;
    for (size_t i = 0; i < o->waiting_count; i++)
        is_exact = is_exact && !o->timers[o->waiting[i]].any_place;
    if (!is_exact || o->overdue_count != 0)
        return;
    bool found = tw_next_deadline(&run.tw, &next);
    if (first == NULL || first->tick > UINT64_MAX / o->tick)
        REQUIRE(!found);
    else
        REQUIRE_EQUAL(next, first->tick * o->tick);
}

/* Calls `at` with a deadline, or `after` with the same time as a delay. */
static int call_either(int (*at)(timingwheel *, tw_timer *, uint64_t),
                       int (*after)(timingwheel *, tw_timer *, uint64_t,
                                    uint64_t),
                       uint32_t id, uint64_t deadline)
{
    uint64_t now = run.oracle.now;
    return deadline % 3 == 0 && deadline >= now
               ? after(&run.tw, timer_of(id), now, deadline - now)
               : at(&run.tw, timer_of(id), deadline);
}

static void start(uint32_t id, uint64_t deadline)
{
    trace("start", id, deadline, 0);
    allow_allocations(levels());
    bool is_exact = is_exact_without(id);
    int status = call_either(tw_start, tw_start_after, id, deadline);
    if (!check_status(status, id, deadline))
        return;
    oracle_start(&run.oracle, id, deadline);
    check_started(id);
    check_exact(is_exact);
}

static inline void start_within(uint32_t id, uint64_t earliest, uint64_t latest)
{
    uint64_t deadline = oracle_within(&run.oracle, earliest, latest);
    trace("start_within", id, earliest, latest);
    allow_allocations(levels());
    int status = tw_start_within(&run.tw, timer_of(id), earliest, latest);
    if (check_status(status, id, deadline))
        oracle_start(&run.oracle, id, deadline);
    check_started(id);
}

static inline void postpone(uint32_t id, uint64_t deadline)
{
    bool writes = oracle_postpones(&run.oracle, id, deadline);
    trace("postpone", id, deadline, writes);
    allow_allocations(writes ? 0 : levels());
    int status = call_either(tw_postpone, tw_postpone_after, id, deadline);
    if (check_status(status, id, deadline))
        oracle_postpone(&run.oracle, id, deadline);
    check_started(id);
}

static inline void cancel(uint32_t id)
{
    trace("cancel", id, 0, 0);
    allow_allocations(0);
    bool is_exact = is_exact_without(id);
    REQUIRE_EQUAL(tw_cancel(&run.tw, timer_of(id)),
                  oracle_cancel(&run.oracle, id));
    check_timer(id);
    check_exact(is_exact);
}

static inline void move(uint32_t id)
{
    item *from = run.items[id], *to = make_item(id);
    bool pending = oracle_is_pending(&run.oracle, id);
    trace("move", id, 0, 0);
    allow_allocations(0);
    tw_move(&run.tw, &from->timer, &to->timer);
    REQUIRE(tw_timer_state(&from->timer) ==
            (pending ? TW_IDLE : run.oracle.timers[id].state));
    free_item(from);
    run.items[id] = to;
    check_timer(id);
}

/* Frees a timer that is not pending, and takes a new one in its place. */
static inline void replace(uint32_t id)
{
    if (oracle_is_pending(&run.oracle, id))
        return;
    trace("free", id, 0, 0);
    free_item(run.items[id]);
    run.items[id] = make_item(id);
    run.oracle.timers[id].state = TW_IDLE;
    run.oracle.timers[id].deadline = 0;
}

static inline void reserve(uint64_t horizon)
{
    trace("reserve", 0, horizon, 0); /* also places timers that wait */
    allow_allocations(levels() + oracle_pending(&run.oracle));
    int status = tw_reserve(&run.tw, horizon);
    REQUIRE(status == TW_OK || (status == TW_ENOMEM && run.heap.failures != 0));
    if (status == TW_OK && (!run.reserved || horizon > run.horizon))
        run.horizon = horizon;
    run.reserved = run.reserved || status == TW_OK;
}

static inline void trim(void)
{
    trace("trim", 0, 0, 0);
    allow_allocations(0);
    tw_trim(&run.tw);
    run.reserved = false;
    REQUIRE(oracle_pending(&run.oracle) != 0 || run.heap.blocks == 0);
}

static size_t looks; /* of the running tw_find */

static bool is_wanted(const tw_timer *timer, void *wanted)
{
    looks++;
    REQUIRE(tw_is_pending(timer));
    return timer == wanted;
}

static inline void find(uint32_t id)
{
    tw_timer *timer = timer_of(id);
    size_t pending = oracle_pending(&run.oracle);
    trace("find", id, 0, 0);
    looks = 0;
    tw_timer *found = tw_find(&run.tw, is_wanted, timer);
    if (oracle_is_pending(&run.oracle, id))
        REQUIRE(found == timer && looks <= pending);
    else
        REQUIRE(found == NULL && looks == pending);
}

/* Calls that a callback must not make do nothing. */
static inline void refused_calls(void)
{
    size_t blocks = run.heap.blocks;
    trace("refused calls", 0, 0, 0);
    REQUIRE_EQUAL(tw_advance_clock(&run.tw, UINT64_MAX), 0);
    REQUIRE_EQUAL(tw_advance_clock_limit(&run.tw, UINT64_MAX, 9), 0);
    REQUIRE(tw_poll(&run.tw, UINT64_MAX) == NULL);
    tw_trim(&run.tw);
    tw_destroy(&run.tw);
    REQUIRE_EQUAL(run.heap.blocks, blocks);
}

/* -------------------------------------------------------------- visiting -- */

static void visit_begin(bool drains)
{
    const oracle *o = &run.oracle;
    visit.count = visit.visits = 0;
    visit.drains = drains;
    visit.began = o->starts;
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

static void on_visit(tw_timer *timer, void *context)
{
    oracle *o = &run.oracle;
    uint32_t id = item_of(timer)->id;
    const oracle_timer *t = &o->timers[id];
    trace("visited", id, t->deadline, 0);
    REQUIRE(context == &visit && timer == timer_of(id));
    size_t at = visit.position[id];
    REQUIRE(at < visit.count && visit.ids[at] == id && visit_is_left(at));
    for (size_t i = at; !t->any_place && i-- != 0;) {
        const oracle_timer *older = &o->timers[visit.ids[i]];
        if (older->tick != t->tick && !t->is_overdue)
            break;
        if (older->any_place || older->tick != t->tick)
            continue;
        if (visit_is_left(i))
            fail("timer %u of the same tick must be visited first",
                 visit.ids[i]);
        if (visit.visited[visit.ids[i]])
            break;
    }
    visit.visited[id] = true;
    visit.visits++;
    if (visit.drains) {
        oracle_leave(o, id, TW_IDLE);
        check_timer(id);
        uint64_t next; /* timers that await a visit wake nobody */
        REQUIRE(run.depth != 0 || o->open || o->starts != visit.began ||
                !tw_next_deadline(&run.tw, &next));
    }
    run.depth++;
    if (run.s.in_visitor != NULL)
        run.s.in_visitor(id);
    run.depth--;
    MAY_THROW();
}

static inline void foreach_timer(void)
{
    trace("foreach", 0, 0, 0);
    visit_begin(false);
    size_t visits = 0;
    if (!CATCH(visits = tw_foreach(&run.tw, on_visit, &visit)))
        REQUIRE(visits == visit.count && visit.visits == visits);
    visit.active = false;
}

static void end_call(void);

static inline void drain(void)
{
    if (run.s.throws != NULL && run.depth == 0 && run.oracle.open &&
        !run.oracle.surely)
        end_call(); /* the timers left belong to the call that is unfinished */
    trace("drain", 0, 0, 0);
    visit_begin(true);
    size_t visits = 0;
    bool has_thrown = CATCH(visits = tw_drain(&run.tw, on_visit, &visit));
    REQUIRE(has_thrown || visits == visit.visits);
    for (size_t i = 0; i < visit.count; i++) {
        REQUIRE(has_thrown || !visit_is_left(i));
        if (visit_is_left(i))
            oracle_leave_behind(&run.oracle, visit.ids[i]);
    }
    visit.active = false;
}

/* ----------------------------------------------------------------- calls -- */

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    uint32_t id = item_of(timer)->id;
    REQUIRE(tw == &run.tw && id < run.s.items && timer == timer_of(id));
    trace("fires", id, run.oracle.timers[id].deadline, 0);
    judge(oracle_fire(&run.oracle, id));
    REQUIRE_EQUAL(tw_now(tw), run.oracle.now);
    REQUIRE_EQUAL(tw_timer_state(timer), TW_FIRED);
    run.depth++;
    size_t attempts = run.attempts, allowed = run.attempts_allowed;
    run.s.in_callback(id);
    run.attempts = attempts;
    run.attempts_allowed = allowed + levels();
    run.depth--;
    MAY_THROW();
}

/* Before a call. Sets the bounds on the call's work. */
static void call_begin(void)
{
    size_t pending = oracle_pending(&run.oracle);
    allow_allocations((pending + 30) * (pending + 30));
    run.cascaded = cascaded();
    run.began_with = pending;
}

/* Judges the work of a call. Each timer moves down once per wheel, and once for
 * each postpone. Timers that find no memory are tried again at each of their
 * ticks. */
static void check_work(void)
{
    uint64_t moved = cascaded() - run.cascaded, timers = run.began_with + 80;
    uint64_t most = timers * (run.has_failed ? timers : levels() + 1);
    if (moved > most)
        fail("a call moves %" PRIu64 " timers, more than %" PRIu64, moved,
             most);
}

static void call_end(bool complete, bool polled, uint64_t moved)
{
    judge(oracle_return(&run.oracle, complete, polled, moved != 0,
                        tw_now(&run.tw)));
}

static inline void advance(uint64_t now)
{
    uint64_t fired = run.oracle.fired;
    uint64_t next;
    trace("advance", 0, now, 0);
    bool is_due = tw_next_deadline(&run.tw, &next) && next <= now;
    oracle_call(&run.oracle, now);
    call_begin();
    size_t count = 0;
    bool has_thrown = CATCH(count = tw_advance_clock(&run.tw, now));
    call_end(!has_thrown, has_thrown, 0);
    REQUIRE(has_thrown || count == run.oracle.fired - fired);
    check_work();
    run.vain += is_due && run.oracle.fired == fired;
    if (run.vain > run.oracle.leaves)
        fail("more calls for nothing than timers that left: %" PRIu64,
             run.vain);
    if (run.s.calm)
        check_calm(cascaded() - run.cascaded);
}

/* Ends the call that may be unfinished. Nothing throws. */
static void end_call(void)
{
    bool (*throws)(void) = run.s.throws;
    run.s.throws = NULL;
    advance(run.oracle.now);
    run.s.throws = throws;
}

/* A limited call may leave the oracle unsure. */
static void resolve(void)
{
    if (run.oracle.unsure)
        end_call();
}

static inline void advance_limit(uint64_t now, size_t limit)
{
    uint64_t fired = run.oracle.fired;
    trace("advance_limit", 0, now, limit);
    if (limit == 0) {
        REQUIRE_EQUAL(tw_advance_clock_limit(&run.tw, now, 0), 0);
        return;
    }
    oracle_call(&run.oracle, now);
    call_begin();
    size_t count = 0;
    bool has_thrown =
        CATCH(count = tw_advance_clock_limit(&run.tw, now, limit));
    uint64_t moved = cascaded() - run.cascaded;
    if (count + moved > limit)
        fail("%zu timers fired and %" PRIu64 " moved, more than the limit",
             count, moved);
    if (has_thrown)
        call_end(false, true, 0);
    else
        call_end(count + moved < limit, false, moved);
    REQUIRE(has_thrown || count == run.oracle.fired - fired);
    check_work();
    resolve();
}

/* Returns true if a timer was due. */
static inline bool poll_timer(uint64_t now)
{
    trace("poll", 0, now, 0);
    oracle_call(&run.oracle, now);
    call_begin();
    tw_timer *timer = tw_poll(&run.tw, now);
    if (timer != NULL) {
        uint32_t id = item_of(timer)->id;
        REQUIRE(id < run.s.items && timer == timer_of(id));
        trace("polled", id, run.oracle.timers[id].deadline, 0);
        judge(oracle_fire(&run.oracle, id));
    }
    call_end(timer == NULL, true, 0);
    check_work();
    resolve();
    return timer != NULL;
}

/* ---------------------------------------------------------------- rounds -- */

/* Begins a round with the settings run.s and items that exist. */
static void set_up(void)
{
    const settings *s = &run.s;
    run.step = run.traced = 0;
    run.depth = 0;
    run.reserved = run.has_failed = false;
    run.vain = 0;
    run.check_every = 1;
    visit.active = false;
    memset(&run.heap, 0, sizeof run.heap);
    run.heap.refuses = allocation_fails;
    tw_config config = {s->tick, s->start, s->wheel_size, s->max_pending,
                        &run.heap};
    REQUIRE_EQUAL(tw_init(&run.tw, &config), TW_OK);
    oracle_init(&run.oracle, s->tick, s->start, s->items);
}

static void tear_down(void)
{
    check_fully();
    tw_destroy(&run.tw);
    REQUIRE(run.heap.blocks == 0 && run.heap.strays == 0);
    oracle_free(&run.oracle);
    for (uint32_t id = 0; id < run.s.items; id++) {
        free_item(run.items[id]);
        run.items[id] = NULL;
    }
}

#endif
