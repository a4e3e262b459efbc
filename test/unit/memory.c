/* memory.c - lack of memory, and use of memory.
 *
 * Each scenario runs many times. In run n, the nth call of TW_MALLOC fails,
 * once alone and once with all later calls. A plain list beside the wheel holds
 * the timers that must be pending. Every step compares the wheel with the list.
 *
 *     memory [--quick | CASE...]
 *
 * --quick is for valgrind and sanitizers: a quarter of the cases.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#define TWI_LARGE_TIMERS few /* timers that never cascade */
static unsigned few;
#include "../../timingwheel.h"

#include "../lib/tap.h"

/* --------------------------------------------------- the wheel and the list */

#define ITEMS 300

/* A timer, and the expected state of the timer. */
typedef struct item {
    tw_timer timer; /* first: a pointer to the timer points to the item */
    bool pending;
    bool loose;      /* may fire at any place within its tick */
    bool deferred;   /* started overdue in a callback: fires in the next call */
    bool refused;    /* a start failed; settle tries again */
    uint64_t wanted; /* the deadline of the failed start */
    uint64_t due;    /* the tick in which the timer must fire */
    uint64_t rank;   /* as `due`, but 0 if started overdue */
    uint64_t order;  /* number of starts before the timer's start */
    uint64_t period; /* the callback starts the timer again after this ... */
    unsigned rounds; /* ... this many times */
} item;

static heap memory;
static timingwheel tw;
static uint64_t tick;
static item items[ITEMS];
static size_t pending;
static uint64_t starts;
static uint64_t furthest; /* latest deadline of a start in a callback */

/* The running call of tw_advance_clock. */
static struct {
    bool running;
    uint64_t clock;       /* before the call */
    uint64_t now;         /* the argument of the call */
    uint64_t target;      /* the last tick of the call */
    uint64_t began_after; /* number of starts before the call */
    uint64_t reached;     /* the clock at the last firing */
    const item *last;
    uint64_t last_rank;
    uint64_t last_order;
    bool last_loose;
} call;

/* Turns: a turn for each call that left due timers, and for the running call. A
 * turn has the overdue timers started before `overdue_until`, and then the
 * timers with ticks up to `due_until`. A timer that left a tick from
 * `stale_tick` on may blur the turns. */
static struct {
    struct {
        uint64_t overdue_until;
        uint64_t due_until;
    } turns[4];
    unsigned turn_count;
    uint64_t last_overdue; /* starts up to the last overdue start */
    uint64_t stale_tick;   /* the earliest such tick; UINT64_MAX: none */
    bool loose;            /* the turns are blurred */
} left;

/* For the last line of the output. */
static size_t injected; /* runs in which an allocation failed */
static size_t refusals; /* failed allocations in all runs */

static uint64_t random_state;

/* Call at most once per expression: the order of two calls is undefined. */
static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static void on_fire(timingwheel *wheel, tw_timer *timer);

static void begin(uint32_t wheel_size, uint64_t tick_length, uint64_t start)
{
    static const heap empty_heap;
    static const item idle;
    memory = empty_heap;
    tw_config config = {tick_length, start, wheel_size, 0, &memory};
    CHECK(tw_init(&tw, &config) == TW_OK);
    tick = tick_length;
    pending = 0;
    starts = 0;
    furthest = UINT64_MAX;
    call.running = false;
    memset(&left, 0, sizeof(left));
    left.stale_tick = UINT64_MAX;
    left.turn_count = 1;
    random_state = 88172645463325252U;
    for (int i = 0; i < ITEMS; i++) {
        items[i] = idle;
        tw_timer_init(&items[i].timer, on_fire);
    }
}

static void end(void)
{
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
    CHECK(memory.blocks == 0);
    CHECK(memory.bytes == 0);
    CHECK(memory.strays == 0);
}

static uint64_t tick_of(uint64_t deadline)
{
    return deadline / tick + (deadline % tick != 0);
}

/* Compares the wheel with the list, and the wheel's memory with the heap. */
static void check_all(void)
{
    uint64_t earliest = UINT64_MAX, deadline = UINT64_MAX;
    tw_stats stats;
    for (int i = 0; i < ITEMS; i++) {
        const item *it = &items[i];
        CHECK(tw_is_pending(&it->timer) == it->pending);
        if (it->pending && it->due < earliest)
            earliest = it->due;
    }
    CHECK(tw_count(&tw) == pending);
    CHECK(tw_next_deadline(&tw, &deadline) == (pending != 0));
    CHECK(pending == 0 || deadline / tick <= earliest);
    tw_get_stats(&tw, &stats);
    CHECK(stats.bytes_held == memory.bytes);
    CHECK(stats.bytes_used <= stats.bytes_held);
    CHECK(tw_check(&tw));
}

/* ---------------------------------------------- steps, each checked at once */

/* Notes a pending timer that leaves its tick without firing. */
static void note_stale(const item *it)
{
    if (it->pending && it->rank < left.stale_tick)
        left.stale_tick = it->rank;
}

/* Notes that the item is pending until `deadline`. */
static void note_start(item *it, uint64_t deadline, bool loose)
{
    CHECK(tw_deadline(&it->timer) == deadline);
    note_stale(it);
    pending += !it->pending;
    it->pending = true;
    it->refused = false;
    it->loose = loose;
    it->due = tick_of(deadline);
    it->order = starts++;
    it->rank = it->due <= tw_now(&tw) / tick ? 0 : it->due;
    if (it->rank == 0)
        left.last_overdue = starts;
    it->deferred = call.running && it->rank == 0;
}

/* The three ways to start a timer. */
typedef enum way { START, WITHIN, POSTPONE } way;

static int start_by(way how, item *it, uint64_t deadline, uint64_t latest)
{
    if (how == WITHIN)
        return tw_start_within(&tw, &it->timer, deadline, latest);
    if (how == POSTPONE)
        return tw_postpone(&tw, &it->timer, deadline);
    return tw_start(&tw, &it->timer, deadline);
}

/* The state that a start without memory must not change. A failed reserve must
 * not change the memory either. */
typedef struct remains {
    tw_timer timer;
    size_t count, blocks, bytes, failures;
    uint64_t next, now;
} remains;

static remains take_remains(const item *it)
{
    remains r = {it->timer,    tw_count(&tw),   memory.blocks,
                 memory.bytes, memory.failures, 0,
                 tw_now(&tw)};
    (void)tw_next_deadline(&tw, &r.next);
    return r;
}

static void check_remains(const remains *r, const item *it)
{
    remains is = take_remains(it);
    CHECK(is.failures > r->failures); /* an allocation failed */
    CHECK(is.timer.place == r->timer.place);
    CHECK(is.timer.deadline == r->timer.deadline);
    CHECK(is.timer.callback == r->timer.callback);
    CHECK(is.count == r->count);
    CHECK(is.next == r->next && is.now == r->now);
    CHECK(tw_check(&tw));
}

static void begin_timer(way how, item *it, uint64_t deadline, uint64_t latest)
{
    remains was = take_remains(it);
    int status = start_by(how, it, deadline, latest);
    if (status == TW_ENOMEM) {
        check_remains(&was, it);
        if (memory.for_ever) {
            it->refused = true;
            it->wanted = deadline;
            return;
        }
        status = start_by(how, it, deadline, latest); /* memory is back */
    }
    CHECK(status == TW_OK);
    note_start(it, how == WITHIN ? tw_deadline(&it->timer) : deadline,
               how == WITHIN);
}

static void start(item *it, uint64_t deadline)
{
    begin_timer(START, it, deadline, deadline);
}

static void postpone(item *it, uint64_t deadline)
{
    uint64_t before = tw_deadline(&it->timer);
    if (!it->pending || deadline < before ||
        (deadline > before && tick_of(before) <= tw_now(&tw) / tick)) {
        begin_timer(POSTPONE, it, deadline, deadline);
        return;
    }
    CHECK(tw_postpone(&tw, &it->timer, deadline) == TW_OK);
    if (deadline == before)
        return;
    note_stale(it);
    it->due = tick_of(deadline);
    it->rank = it->due;
    it->loose = true;
}

static void cancel(item *it)
{
    size_t calls = memory.calls;
    CHECK(tw_cancel(&tw, &it->timer) == it->pending);
    CHECK(memory.calls == calls);
    note_stale(it);
    pending -= it->pending;
    it->pending = false;
    it->refused = false;
}

/* Returns the turn in which a timer fires. */
static unsigned turn_of(const item *it)
{
    unsigned i = 0;
    while (i < left.turn_count &&
           (it->rank == 0 ? it->order >= left.turns[i].overdue_until
                          : it->rank > left.turns[i].due_until))
        i++;
    return i;
}

/* Returns the first turn that has a timer, or the last turn. */
static unsigned first_turn(void)
{
    unsigned first = left.turn_count - 1;
    for (int i = 0; i < ITEMS; i++)
        if (items[i].pending && turn_of(&items[i]) < first)
            first = turn_of(&items[i]);
    return first;
}

/* Removes the turns before number `first`. */
static void drop_turns(unsigned first)
{
    left.turn_count -= first;
    for (unsigned i = 0; i < left.turn_count && first != 0; i++)
        left.turns[i] = left.turns[first + i];
}

/* Returns true if `it` may fire directly after the last timer of the call. */
static bool is_in_turn(const item *it)
{
    if (call.last == NULL || left.loose)
        return true;
    if (turn_of(it) != 0)
        return turn_of(it) == first_turn();
    return call.last_rank < it->rank ||
           (call.last_rank == it->rank &&
            (call.last_loose || it->loose || call.last_order < it->order));
}

/* Notes that a timer fired. Checks that the timer was due, and its turn. */
static void note_fired(item *it)
{
    uint64_t clock = call.reached / tick, now = tw_now(&tw);
    unsigned turn = turn_of(it);
    uint64_t latest = left.loose  ? call.target
                      : turn == 0 ? 0
                                  : left.turns[turn - 1].due_until;
    CHECK(it->pending && !it->deferred);
    CHECK(it->due <= call.target);
    if (it->due > clock)
        call.reached = it->due * tick;
    else if (now > call.reached && now <= latest * tick &&
             left.stale_tick <= latest)
        call.reached = now; /* waited for a timer that left its tick */
    CHECK(now == call.reached);
    CHECK(is_in_turn(it));
    CHECK(left.loose || turn == first_turn());
    drop_turns(turn);
    call.last = it;
    call.last_rank = it->rank;
    call.last_order = it->order;
    call.last_loose = it->loose;
    it->pending = false;
    pending--;
}

/* For callbacks and visitors: starts the timer again. */
static void start_again(item *it)
{
    uint64_t deadline = tw_after(tw_now(&tw), it->period);
    if (it->rounds == 0)
        return;
    it->rounds--;
    start(it, deadline < furthest ? deadline : furthest);
}

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    item *it = TW_OWNER(timer, item, timer);
    CHECK(wheel == &tw);
    note_fired(it);
    start_again(it);
}

static void begin_call(uint64_t now)
{
    call.running = true;
    call.clock = call.reached = tw_now(&tw);
    call.now = now;
    call.target = (now > call.clock ? now : call.clock) / tick;
    call.began_after = starts;
    call.last = NULL;
    for (unsigned i = 0; i < left.turn_count; i++)
        if (left.turns[i].due_until > call.target)
            left.turns[i].due_until = call.target;
    if (left.last_overdue > left.turns[left.turn_count - 1].overdue_until) {
        if (left.turn_count == 4)
            left.loose = true;
        else
            left.turn_count++;
    }
    left.turns[left.turn_count - 1].overdue_until = starts;
    left.turns[left.turn_count - 1].due_until = call.target;
    for (int i = 0; i < ITEMS; i++)
        items[i].deferred = false;
}

enum end { FINISHED, CUT_SHORT, POLLED };

/* Checks that a finished call leaves no due timer. */
static void end_call(enum end end)
{
    bool due = false;
    call.running = false;
    for (int i = 0; i < ITEMS; i++)
        due |= items[i].pending && !items[i].deferred &&
               items[i].due <= call.target;
    CHECK(end != FINISHED || !due);
    if (due)
        CHECK(tw_wait(&tw, call.now, 1000) == 0);
    else if (end == FINISHED)
        CHECK(tw_now(&tw) == (call.now > call.clock ? call.now : call.clock));
    if (end == FINISHED) {
        left.loose = false;
        drop_turns(left.turn_count - 1);
        if (left.stale_tick <= call.target)
            left.stale_tick = call.target + 1;
    } else if (end == CUT_SHORT && first_turn() != 0) {
        unsigned first = first_turn();
        left.loose |= left.stale_tick <= left.turns[first - 1].due_until;
        drop_turns(first);
    }
    check_all();
}

static void advance(uint64_t now)
{
    begin_call(now);
    (void)tw_advance_clock(&tw, now);
    end_call(FINISHED);
}

/* The limit also counts slots of cancelled timers. */
static void advance_limited(uint64_t now, size_t limit)
{
    uint64_t stop = tw.handled + limit;
    if (limit == 0) {
        CHECK(tw_advance_clock_limit(&tw, now, limit) == 0);
        return;
    }
    begin_call(now);
    CHECK(tw_advance_clock_limit(&tw, now, limit) <= limit);
    CHECK(tw.handled <= stop);
    bool is_cut = tw.handled == tw.handled_limit || tw.handled_limit != stop;
    end_call(is_cut ? CUT_SHORT : FINISHED);
}

static bool poll(uint64_t now)
{
    begin_call(now);
    item *it = (item *)tw_poll(&tw, now);
    if (it != NULL)
        note_fired(it);
    end_call(it != NULL ? POLLED : FINISHED);
    return it != NULL;
}

static void visit_drained(tw_timer *timer, void *context)
{
    item *it = TW_OWNER(timer, item, timer);
    CHECK(it->pending);
    CHECK(tw_timer_state(timer) == TW_IDLE);
    it->pending = false;
    pending--;
    ++*(size_t *)context;
    start_again(it);
}

static void drain(void)
{
    size_t visits = 0;
    left.last_overdue = 0;
    drop_turns(left.turn_count - 1);
    CHECK(tw_drain(&tw, visit_drained, &visits) == visits);
    check_all();
}

/* A trim may allocate memory to move timers into. Without memory, the timers
 * stay. */
static void trim(void)
{
    size_t bytes = memory.bytes;
    tw_trim(&tw);
    CHECK(memory.bytes <= bytes);
    CHECK(pending != 0 || memory.bytes == 0);
    check_all();
}

static void reserve(size_t timers, uint64_t horizon)
{
    remains was = take_remains(&items[0]);
    int status = tw_reserve(&tw, timers, horizon);
    if (status == TW_ENOMEM) {
        check_remains(&was, &items[0]);
        CHECK(memory.blocks == was.blocks && memory.bytes == was.bytes);
        if (memory.for_ever)
            return;
        status = tw_reserve(&tw, timers, horizon);
    }
    CHECK(status == TW_OK);
    check_all();
}

/* Memory is back. Starts all refused timers, and fires all timers. */
static void settle(void)
{
    heap_fail(&memory, 0, false);
    for (int i = 0; i < ITEMS; i++)
        if (items[i].refused)
            start(&items[i], items[i].wanted);
    check_all();
    for (int i = 0; i < ITEMS; i++)
        CHECK(!items[i].refused);
    for (int i = 0; i < 20 && pending != 0; i++)
        advance(UINT64_MAX);
    CHECK(pending == 0);
}

/* ---------------------------------------------------------------- injection */

typedef void scenario(void);

/* Runs a scenario. The nth allocation fails. Returns false if the scenario has
 * fewer allocations. */
static bool run_with_failure(scenario *play, uint32_t size, uint64_t length,
                             uint64_t from, size_t nth, bool for_ever)
{
    begin(size, length, from);
    heap_fail(&memory, nth, for_ever);
    play();
    size_t failures = memory.failures;
    settle();
    end();
    injected += failures != 0;
    refusals += failures;
    return failures != 0;
}

/* Lets each allocation of a scenario fail, in wheels of several sizes, once
 * with few and once with many buckets that cascade. */
static void inject(scenario *play, uint64_t length, uint64_t from)
{
    static const uint32_t sizes[] = {2, 4, 16, 256};
    for (int i = 0; i < 16; i++) {
        uint32_t size = sizes[i / 4];
        bool for_ever = i % 2 != 0;
        size_t nth = 1;
        few = i / 2 % 2 != 0 ? 5 : (unsigned)(TWI_SORT_CHUNKS * TWI_SLOTS);
        while (run_with_failure(play, size, length, from, nth, for_ever))
            nth++;
        CHECK(nth > 1); /* else no allocation could fail */
    }
    few = (unsigned)(TWI_SORT_CHUNKS * TWI_SLOTS);
}

/* ---------------------------------------------------------------- scenarios */

/* One timer in each wheel, then all wake-ups in turn. */
static void play_starts(void)
{
    for (unsigned i = 0; i < 40; i++) {
        start(&items[i], tw_now(&tw) + (UINT64_C(3) << i));
        check_all();
    }
    for (unsigned i = 0; i < 40 && pending != 0; i++) {
        uint64_t deadline = 0;
        CHECK(tw_next_deadline(&tw, &deadline));
        advance(deadline);
    }
}

static void starts_across_wheels(void)
{
    inject(play_starts, 1, 0);
    inject(play_starts, 10, 123456789);
}

static void starts_at_the_end_of_time(void)
{
    inject(play_starts, 1, UINT64_MAX - (UINT64_C(1) << 42));
}

static void play_restarts(void)
{
    for (unsigned i = 0; i < 20; i++)
        start(&items[i], tw_now(&tw) + 5 + i);
    for (unsigned round = 0; round < 20; round++)
        for (unsigned i = 0; i < 20; i++)
            start(&items[i],
                  tw_now(&tw) + 1 + (UINT64_C(7) << ((round + 3 * i) % 30)));
    check_all();
    advance(tw_now(&tw) + 500);
}

static void restarts(void)
{
    inject(play_restarts, 1, 0);
}

/* Large buckets of coarse wheels, which cascade before the clock arrives. */
static void play_cascades(void)
{
    for (unsigned i = 0; i < ITEMS; i++)
        start(&items[i], 3000 + i * 7 % 1900);
    for (uint64_t now = 2900; now < 5000; now += 1 + random_below(60))
        advance(now);
}

static void cascades(void)
{
    inject(play_cascades, 1, 0);
    inject(play_cascades, 3, 0);
}

static void play_jump(void)
{
    for (unsigned i = 0; i < ITEMS; i++)
        start(&items[i], 1 + random_below(UINT64_C(1) << (i % 40)));
    advance(UINT64_C(1) << 41);
}

static void one_jump(void)
{
    inject(play_jump, 1, 0);
}

/* Callbacks that start their timers again, into every wheel. */
static void play_callbacks(void)
{
    for (unsigned i = 0; i < 60; i++) {
        items[i].period = 1 + (UINT64_C(5) << (i % 16));
        items[i].rounds = 6;
        start(&items[i], 1 + i * 11);
    }
    for (uint64_t now = 10; now < 20000; now += now / 2)
        advance(now);
}

static void callbacks_that_start(void)
{
    inject(play_callbacks, 1, 0);
}

/* Callbacks that start their timers for now: overdue, for the next call. */
static void play_rearmed_for_now(void)
{
    for (unsigned i = 0; i < 60; i++) {
        items[i].rounds = 3;
        start(&items[i], 100 + i);
    }
    for (int i = 0; i < 6; i++)
        advance(500);
}

static void callbacks_that_start_for_now(void)
{
    inject(play_rearmed_for_now, 1, 0);
}

static void play_windows(void)
{
    for (unsigned i = 0; i < 80; i++) {
        uint64_t early = 1 + random_below(UINT64_C(1) << (1 + i % 36));
        begin_timer(WITHIN, &items[i], early, early + random_below(early));
    }
    check_all();
    for (unsigned i = 0; i < 36; i++)
        advance(UINT64_C(1) << i);
}

static void windows(void)
{
    inject(play_windows, 1, 0);
}

static void play_postpone_earlier(void)
{
    for (unsigned i = 0; i < 40; i++)
        start(&items[i], UINT64_C(1) << 40);
    for (unsigned bit = 40; bit-- > 2;)
        for (unsigned i = 0; i < 4; i++)
            postpone(&items[(bit + 9 * i) % 40], (UINT64_C(1) << bit) + i);
    check_all();
    advance(1000);
}

static void postponed_earlier(void)
{
    inject(play_postpone_earlier, 1, 0);
}

/* Idle time-outs: often postponed, and moved when the bucket comes up. */
static void play_postpone_later(void)
{
    for (unsigned i = 0; i < 100; i++)
        start(&items[i], 300 + i);
    for (uint64_t now = 0; now < 4000; now += 40) {
        advance(now);
        for (unsigned i = 0; i < 10; i++) {
            item *it = &items[random_below(100)];
            postpone(it, now + 300 + random_below(1000));
        }
        check_all();
    }
}

static void postponed_later(void)
{
    inject(play_postpone_later, 1, 0);
}

/* All timers of a large bucket are postponed before the bucket comes up. */
static void play_postpone_all(void)
{
    for (unsigned i = 0; i < 100; i++)
        start(&items[i], 3000 + i);
    for (unsigned i = 0; i < 100; i++)
        postpone(&items[i], (UINT64_C(1) << (12 + i % 20)) + i);
    for (unsigned i = 11; i < 34; i++)
        advance(UINT64_C(1) << i);
}

static void postponed_altogether(void)
{
    inject(play_postpone_all, 1, 0);
}

static void play_burst(void)
{
    for (unsigned i = 0; i < ITEMS; i++)
        start(&items[i], 700);
    advance(699);
    advance(700);
    for (unsigned i = 0; i < ITEMS; i++)
        start(&items[i], 90000);
    advance(90000);
}

static void burst(void)
{
    inject(play_burst, 1, 0);
}

static void play_overdue_in_order(void)
{
    for (unsigned i = 0; i < 200; i++)
        start(&items[i], i / 3);
    check_all();
    advance(0);
}

static void overdue_in_order(void)
{
    inject(play_overdue_in_order, 1, 1000);
}

/* Overdue timers fire in start order, whatever their deadlines. */
static void play_overdue_out_of_order(void)
{
    for (unsigned i = 0; i < 100; i++)
        start(&items[i], random_below(1000));
    start(&items[100], 1100);
    check_all();
    advance(1000);
    for (unsigned i = 0; i < 200; i++)
        start(&items[i], 900 - i);
    advance(1200);
}

static void overdue_out_of_order(void)
{
    inject(play_overdue_out_of_order, 1, 1000);
    inject(play_overdue_out_of_order, 7, 1001);
}

/* For some numbers, all chunks are full and no memory is left. */
static unsigned overdue_items;

static void play_overdue_and_full(void)
{
    for (unsigned i = 0; i < overdue_items; i++)
        start(&items[i], 900 - i);
    advance_limited(1000, 20);
    advance_limited(1000, 20);
    advance(1000);
}

static void overdue_with_memory_full(void)
{
    for (overdue_items = 60; overdue_items <= 180; overdue_items += 15)
        inject(play_overdue_and_full, 1, 1000);
}

static void play_limited(void)
{
    for (unsigned i = 0; i < ITEMS; i++)
        start(&items[i], 1 + random_below(5000));
    for (int i = 0; i < 40; i++) {
        advance_limited(2500, 1 + (size_t)i % 7);
        item *it = &items[random_below(ITEMS)];
        start(it, tw_now(&tw) + random_below(3000));
    }
    for (int i = 0; i < 20; i++)
        advance_limited(6000, 64);
}

static void limited(void)
{
    inject(play_limited, 1, 0);
}

static void play_polls(void)
{
    for (unsigned i = 0; i < 150; i++)
        start(&items[i], 1 + random_below(3000));
    for (uint64_t now = 0; now < 3000; now += 100)
        while (poll(now))
            continue;
}

static void polls(void)
{
    inject(play_polls, 1, 0);
}

static void play_drains(void)
{
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 60; i++) {
            items[i].rounds = 1;
            items[i].period = 1 + (UINT64_C(3) << (i % 30));
            start(&items[i], tw_now(&tw) + random_below(70000));
        }
        drain();
        advance(tw_now(&tw) + 100);
        drain();
        trim();
    }
}

static void drains(void)
{
    inject(play_drains, 1, 0);
}

static void play_trims(void)
{
    for (unsigned round = 0; round < 12; round++) {
        for (unsigned i = 0; i < 90; i++)
            start(&items[i],
                  tw_now(&tw) + 1 + random_below(UINT64_C(1) << (2 + round)));
        for (unsigned i = 0; i < 90; i += 1 + round % 3)
            cancel(&items[i]);
        trim();
        advance(tw_now(&tw) + 50);
        trim();
    }
}

static void trims(void)
{
    inject(play_trims, 1, 0);
}

/* A few timers are postponed far, and need another wheel when their bucket
 * comes up. Without memory for the wheel, the timers wait in the bucket's own
 * chunk. Meanwhile a trim must keep the chunk, the bucket must work without the
 * chunk, and later the timers move on. */
static void postpone_a_few_far(void)
{
    for (unsigned i = 0; i < 5; i++)
        start(&items[i], 3);
    for (unsigned i = 0; i < 5; i++)
        postpone(&items[i], 100000 + i);
    advance(3);
    trim();
}

static void play_stuck_in_own_chunk(void)
{
    postpone_a_few_far();
    for (unsigned i = 10; i < ITEMS; i++)
        start(&items[i], tw_now(&tw) + 1 + i);
    cancel(&items[2]);
    for (unsigned i = 1; i < 12; i++)
        advance(UINT64_C(1) << i);
    trim();
    advance(100003);
}

static void stuck_in_own_chunk(void)
{
    inject(play_stuck_in_own_chunk, 1, 0);
}

static void play_stuck_and_drained(void)
{
    postpone_a_few_far();
    start(&items[20], tw_now(&tw) + 16);
    drain();
    trim();
    start(&items[21], tw_now(&tw) + 16);
    advance(tw_now(&tw) + 16);
}

static void stuck_and_drained(void)
{
    inject(play_stuck_and_drained, 1, 0);
}

static void play_reserves(void)
{
    start(&items[0], 77);
    for (unsigned i = 0; i < 20; i++) {
        reserve(10 * i, UINT64_C(1) << (2 * i));
        start(&items[i + 1], UINT64_C(1) << (2 * i));
    }
    reserve(6000, 1000); /* needs several slabs */
    trim();
    reserve(5000, UINT64_MAX);
    advance(1000);
}

static void reserves(void)
{
    inject(play_reserves, 1, 0);
}

/* Returns a random time after the clock, at most `horizon`. */
static uint64_t random_clock(uint64_t horizon, uint64_t part)
{
    uint64_t now = tw_now(&tw);
    uint64_t room = now < horizon ? horizon - now : 0;
    uint64_t ahead = random_below(room / part + 2);
    return now + (ahead < room ? ahead : room);
}

/* A random step with deadlines up to `horizon`, on one of `most` timers. */
static void random_step(size_t most, uint64_t horizon)
{
    item *it = &items[random_below(most)];
    uint64_t now = tw_now(&tw);
    uint64_t room = now < horizon ? horizon - now : 0;
    uint64_t part = 1 + random_below(64);
    uint64_t deadline = now + random_below(room + 1) / part;
    switch (random_below(12)) {
    case 0:
        cancel(it);
        break;
    case 1:
        begin_timer(WITHIN, it, deadline,
                    deadline + (now + room - deadline) / 9);
        break;
    case 2:
        postpone(it, deadline);
        break;
    case 3:
        advance(random_clock(horizon, 64));
        break;
    case 4:
        advance_limited(random_clock(horizon, 8), (size_t)part % 9);
        break;
    case 5:
        (void)poll(random_clock(horizon, 32));
        break;
    case 6:
        start(it, random_below(now + 1)); /* overdue */
        break;
    case 7:
        it->rounds = (unsigned)random_below(3);
        it->period = random_below(room / 16 + 1);
        break;
    default:
        start(it, deadline);
    }
}

/* Trims and drains often, so that the wheel allocates again and again. */
static void play_mix(void)
{
    for (int i = 0; i < 600; i++) {
        random_step(120, 1000000);
        if (i % 20 == 19)
            trim();
        if (i % 100 == 99)
            drain();
    }
    check_all();
}

static void mix(void)
{
    inject(play_mix, 1, 0);
}

static void play_short_mix(void)
{
    random_state = 1234567;
    for (int i = 0; i < 600; i++) {
        random_step(150, 3000);
        if (i % 20 == 19)
            trim();
    }
}

static void mix_within_few_wheels(void)
{
    inject(play_short_mix, 1, 0);
}

static void play_long_mix(void)
{
    random_state = 7654321;
    for (int i = 0; i < 600; i++) {
        random_step(100, UINT64_C(1) << 50);
        if (i % 40 == 39)
            trim();
    }
}

static void mix_with_long_ticks(void)
{
    inject(play_long_mix, 1000, 777);
}

/* --------------------------------------------------------- after tw_reserve */

/* No pattern of use may exhaust a reserve. */
static void use_reserve(uint32_t size, uint64_t length, size_t most,
                        uint64_t horizon, void (*use)(size_t, uint64_t))
{
    begin(size, length, 0);
    CHECK(tw_reserve(&tw, most, horizon) == TW_OK);
    size_t calls = memory.calls;
    furthest = horizon;
    heap_fail(&memory, 1, true);
    use(most, horizon);
    check_all();
    CHECK(memory.calls == calls); /* no call of TW_MALLOC */
    CHECK(memory.failures == 0);
    settle();
    end();
}

static void use_reserves(void (*use)(size_t, uint64_t))
{
    static const uint32_t sizes[] = {2, 4, 64, 256, 4096};
    static const uint64_t horizons[] = {10, 300, 70000, UINT64_C(1) << 40};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++) {
            use_reserve(sizes[i], 1, ITEMS, horizons[j], use);
            use_reserve(sizes[i], 7, 60, horizons[j], use);
            use_reserve(sizes[i], 1, 1, horizons[j], use);
        }
}

static void use_at_random(size_t most, uint64_t horizon)
{
    for (int i = 0; i < 1000; i++)
        random_step(most, horizon);
}

static void reserve_and_anything(void)
{
    use_reserves(use_at_random);
}

/* Fills chunks and leaves one timer in each, for as many chunks as possible. */
static void use_with_holes(size_t most, uint64_t horizon)
{
    for (size_t kept = 0; kept < most; kept++) {
        for (size_t i = kept; i < most; i++)
            start(&items[i], 1 + horizon / 2);
        for (size_t i = kept + 1; i < most; i++)
            cancel(&items[i]);
    }
    for (size_t i = 0; i < most; i++)
        start(&items[i], 1 + i * horizon / most);
    advance(horizon / 2);
}

static void reserve_and_holes(void)
{
    use_reserves(use_with_holes);
}

/* Every timer in a bucket of its own. Then all pending timers move again. */
static void use_spread(size_t most, uint64_t horizon)
{
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < most; i++)
            start(&items[i],
                  horizon / (1 + i % 64) + i % (horizon / 8 + 1) * (i % 2));
    check_all();
    for (uint64_t now = 1; now < horizon; now += now / 3 + 1)
        advance(now);
}

static void use_spread_within(size_t most, uint64_t horizon)
{
    use_spread(most, horizon - horizon / 8 - 1);
}

static void reserve_and_spread(void)
{
    use_reserves(use_spread_within);
}

/* Overdue timers in the wrong order, with the whole reserve in use. */
static void use_overdue(size_t most, uint64_t horizon)
{
    advance(horizon);
    for (size_t i = 0; i < most; i++)
        start(&items[i], horizon - i % (horizon + 1));
    advance(horizon);
    for (size_t i = 0; i < most; i++)
        start(&items[i], random_below(horizon));
    advance_limited(horizon, most / 2);
    advance(horizon);
}

static void reserve_and_overdue(void)
{
    use_reserves(use_overdue);
}

/* Periodic timers for the whole time, postponed now and then. */
static void use_periods(size_t most, uint64_t horizon)
{
    for (size_t i = 0; i < most; i++) {
        items[i].period = horizon / 16;
        items[i].rounds = 7;
        start(&items[i], i % (horizon / 4 + 1));
    }
    for (int i = 0; i < 8; i++) {
        advance(horizon / 16 * (uint64_t)i);
        for (size_t j = 0; j < most; j += 3)
            if (items[j].pending)
                postpone(&items[j], horizon - j % (horizon / 2));
        check_all();
    }
}

static void reserve_and_periods(void)
{
    use_reserves(use_periods);
}

static void reserve_on_top_of_timers(void)
{
    begin(16, 1, 0);
    for (unsigned i = 0; i < 100; i++)
        start(&items[i], 1 + random_below(100000));
    advance(20000);
    CHECK(tw_reserve(&tw, ITEMS, 200000) == TW_OK);
    furthest = 200000;
    heap_fail(&memory, 1, true);
    for (int i = 0; i < 5000; i++)
        random_step(ITEMS, 200000);
    CHECK(memory.failures == 0);
    settle();
    end();
}

/* --------------------------------------------------------- how much is used */

#define MILLION 1000000

static tw_timer *million;

static void begin_million(void)
{
    begin(0, 1, 0);
    million = (tw_timer *)malloc(MILLION * sizeof *million);
    for (size_t i = 0; i < MILLION; i++)
        tw_timer_init(&million[i], NULL);
}

static void end_million(void)
{
    tw_trim(&tw);
    CHECK(tw_count(&tw) != 0 || memory.bytes == 0); /* all memory is back */
    end();
    free(million);
}

/* A million pending timers, at random within 2^bits ticks. */
static void spread_million(unsigned bits, bool log_uniform)
{
    begin_million();
    for (size_t i = 0; i < MILLION; i++) {
        unsigned b = log_uniform ? 1 + (unsigned)random_below(bits) : bits;
        uint64_t deadline = 1 + random_below(UINT64_C(1) << b);
        CHECK(tw_start(&tw, &million[i], deadline) == TW_OK);
    }
    size_t bytes = memory.bytes + MILLION * sizeof *million;
    if (!CHECK(bytes <= (size_t)48 * MILLION))
        printf("# %lu bytes\n", (unsigned long)bytes);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, UINT64_MAX) == MILLION);
    end_million();
}

static void million_within_a_minute(void)
{
    spread_million(16, false);
}

static void million_one_per_tick(void)
{
    spread_million(20, false);
}

static void million_within_days(void)
{
    spread_million(32, false);
}

static void million_within_ages(void)
{
    spread_million(60, false);
}

static void million_of_all_lengths(void)
{
    spread_million(60, true);
}

/* Half of a million timers fire. The memory still fits the pending timers. */
static void million_half_fired(void)
{
    begin_million();
    for (size_t i = 0; i < MILLION; i++)
        tw_start(&tw, &million[i], 1 + random_below(60000));
    size_t bytes = memory.bytes;
    tw_advance_clock(&tw, 30000);
    CHECK(memory.bytes <= bytes + bytes / 20);
    CHECK(memory.bytes + MILLION * sizeof *million <= (size_t)48 * MILLION);
    for (size_t i = 0; i < MILLION; i++)
        tw_cancel(&tw, &million[i]);
    CHECK(tw_count(&tw) == 0);
    end_million();
}

/* Cancelled timers leave nothing behind until their deadlines. */
static void cancel_leaves_nothing(void)
{
    begin(0, 1, 0);
    tw_timer timer = TW_TIMER_INIT(NULL);
    CHECK(tw_start(&tw, &timer, 30000) == TW_OK);
    CHECK(tw_cancel(&tw, &timer));
    size_t calls = memory.calls;
    for (int i = 0; i < MILLION; i++) {
        tw_start(&tw, &timer, 30000);
        tw_cancel(&tw, &timer);
    }
    CHECK(memory.calls == calls);
    CHECK(tw_count(&tw) == 0);
    end();
}

/* A thousand requests under way, each answered before its time-out. */
static void requests_do_not_grow(void)
{
    static tw_timer requests[1000];
    static const tw_timer idle;
    size_t bytes = 0;
    begin(0, 1, 0);
    for (int i = 0; i < 1000; i++)
        requests[i] = idle;
    for (uint64_t i = 0; i < 3 * MILLION; i++) {
        tw_timer *timer = &requests[random_below(1000)];
        (void)tw_cancel(&tw, timer);
        CHECK(tw_start(&tw, timer, i / 16 + 30000) == TW_OK);
        if (i % 16 == 0)
            (void)tw_advance_clock(&tw, i / 16);
        if (i == 3 * MILLION / 2) /* every bucket has had timers */
            bytes = memory.bytes;
    }
    CHECK(memory.bytes <= 1000 * 64 + 64 * 1024);
    CHECK(memory.bytes <= bytes + bytes / 8); /* does not grow with time */
    end();
}

/* The clock reads 17. The timer with deadline 15 is due at 20: a later deadline
 * is one store, though 15 has passed. */
static void postponed_within_the_tick(void)
{
    tw_timer a = TW_TIMER_INIT(NULL);
    begin(0, 10, 0);
    CHECK(tw_start(&tw, &a, 15) == TW_OK);
    CHECK(tw_advance_clock(&tw, 17) == 0);
    heap_fail(&memory, 1, true);
    CHECK(tw_postpone(&tw, &a, UINT64_C(60000000)) == TW_OK);
    heap_fail(&memory, 0, false);
    CHECK(tw_advance_clock(&tw, 59999999) == 0);
    CHECK(tw_advance_clock(&tw, 60000000) == 1);
    end();
}

/* After a peak in every wheel, an idle timingwheel gives all memory back. */
static void trim_after_a_peak(void)
{
    begin(0, 1, 0);
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < ITEMS; i++)
            start(&items[i], tw_now(&tw) + 1 + random_below(UINT64_C(1) << 30));
        if (round % 2 == 0)
            drain();
        else
            advance(tw_now(&tw) + (UINT64_C(1) << 30));
        CHECK(pending == 0);
        tw_trim(&tw);
        CHECK(memory.blocks == 0);
    }
    end();
}

/* A timer that stays keeps no more than its own slab. */
static void trim_around_a_timer(void)
{
    begin_million();
    tw_start(&tw, &million[0], 50000);
    for (size_t i = 1; i < MILLION; i++)
        tw_start(&tw, &million[i], 1 + random_below(60000));
    size_t bytes = memory.bytes;
    for (size_t i = 1; i < MILLION; i++)
        tw_cancel(&tw, &million[i]);
    tw_trim(&tw);
    CHECK(memory.bytes < bytes / 100);
    CHECK(tw_next_deadline(&tw, &(uint64_t){0}));
    CHECK(tw_poll(&tw, 50000) == &million[0]);
    end_million();
}

static void two_heaps(void)
{
    static const heap empty_heap;
    heap second_heap = empty_heap;
    timingwheel second;
    tw_timer a = TW_TIMER_INIT(NULL), b = TW_TIMER_INIT(NULL);
    tw_config config = {1, 0, 0, 0, &second_heap};
    begin(0, 1, 0);
    CHECK(tw_init(&second, &config) == TW_OK);
    heap_fail(&memory, 1, true);
    CHECK(tw_start(&tw, &a, 50) == TW_ENOMEM);
    CHECK(tw_start(&second, &b, 50) == TW_OK); /* has its own heap */
    CHECK(memory.bytes == 0 && second_heap.bytes > 0);
    heap_fail(&memory, 0, false);
    CHECK(tw_start(&tw, &a, 50) == TW_OK);
    tw_destroy(&second);
    CHECK(second_heap.blocks == 0 && second_heap.strays == 0);
    CHECK(tw_advance_clock(&tw, 50) == 1);
    end();
}

static const tap_case cases[] = {
    {"out of memory: starts across wheels are refused or fire in time",
     starts_across_wheels},
    {"out of memory: starts at the end of time", starts_at_the_end_of_time},
    {"out of memory: restarts of pending timers", restarts},
    {"out of memory: cascades", cascades},
    {"out of memory: one jump over many wheels", one_jump},
    {"out of memory: callbacks that start timers", callbacks_that_start},
    {"out of memory: callbacks that start timers for now",
     callbacks_that_start_for_now},
    {"out of memory: tw_start_within", windows},
    {"out of memory: postponed to earlier", postponed_earlier},
    {"out of memory: postponed to later, again and again", postponed_later},
    {"out of memory: a bucket of postponed timers", postponed_altogether},
    {"out of memory: postponed when the deadline has passed, but not its tick",
     postponed_within_the_tick},
    {"out of memory: bursts", burst},
    {"out of memory: overdue starts in order", overdue_in_order},
    {"out of memory: overdue starts out of order", overdue_out_of_order},
    {"out of memory: overdue starts and nothing to sort with",
     overdue_with_memory_full},
    {"out of memory: limited advances", limited},
    {"out of memory: polls", polls},
    {"out of memory: drains whose visitors start timers", drains},
    {"out of memory: trims", trims},
    {"out of memory: timers that cannot move stay in their bucket's chunk",
     stuck_in_own_chunk},
    {"out of memory: timers that cannot move can be drained",
     stuck_and_drained},
    {"out of memory: tw_reserve", reserves},
    {"out of memory: a mix of everything", mix},
    {"out of memory: a mix within few wheels", mix_within_few_wheels},
    {"out of memory: a mix with long ticks", mix_with_long_ticks},
    {"reserve: anything at random", reserve_and_anything},
    {"reserve: buckets full of holes", reserve_and_holes},
    {"reserve: every timer in a bucket of its own", reserve_and_spread},
    {"reserve: overdue timers that have to be sorted", reserve_and_overdue},
    {"reserve: periodic and postponed timers", reserve_and_periods},
    {"reserve: on top of pending timers", reserve_on_top_of_timers},
    {"bytes: a million timers within 2^16 ticks", million_within_a_minute},
    {"bytes: a million timers, about one a tick", million_one_per_tick},
    {"bytes: a million timers within 2^32 ticks", million_within_days},
    {"bytes: a million timers within 2^60 ticks", million_within_ages},
    {"bytes: a million timers of all lengths", million_of_all_lengths},
    {"bytes: a million timers, half of them fired", million_half_fired},
    {"bytes: a million starts and cancels take nothing", cancel_leaves_nothing},
    {"bytes: a million answered requests do not take more",
     requests_do_not_grow},
    {"trim: all memory is freed after each peak", trim_after_a_peak},
    {"trim: one timer keeps little memory", trim_around_a_timer},
    {"heap: each wheel uses its own heap", two_heaps},
};

int main(int argc, char **argv)
{
    static char *quick[] = {"",
                            "memory: starts",
                            "memory: cascades",
                            "memory: one jump",
                            "memory: limited",
                            "memory: polls",
                            "memory: drains",
                            "memory: tw_start_within",
                            "memory: postponed"};
    few = (unsigned)(TWI_SORT_CHUNKS * TWI_SLOTS);
    if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
        argc = sizeof(quick) / sizeof(*quick);
        argv = quick;
    }
    int failed = TAP_RUN(cases, argc, argv);
    printf("# %lu failures injected; %lu allocations refused in all\n",
           (unsigned long)injected, (unsigned long)refusals);
    return failed;
}
