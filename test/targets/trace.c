/* trace.c - a seeded run over the whole interface, condensed into two hashes,
 * to compare machines.
 *
 *     trace [OPERATIONS]          prints `promised HASH detailed HASH`
 *
 * The first hash covers everything determined by the contract in the header:
 * times and order of firing, states, counts, results. The first hash must be
 * the same on every machine. The second hash also covers details beyond the
 * contract: the place of postponed timers within a tick, early next deadlines,
 * and the number of cascades. The details depend on the number of pointers in a
 * chunk. Machines with pointers of one size must have the same second hash.
 *
 * TRACE_SMALL makes the program fit 8 KB of memory. TRACE_OPERATIONS is the
 * number of operations if the command line gives none.
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#define TW_STATIC
#include "../../timingwheel.h"

#ifdef __AVR__
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#else
#include <stdio.h>
#endif

#ifdef TRACE_SMALL
#define TIMERS 10
#define EPOCH 150 /* operations on one wheel */
#else
#define TIMERS 96
#define EPOCH 3000
#endif
#ifndef TRACE_OPERATIONS
#define TRACE_OPERATIONS 1000000
#endif

typedef struct item {
    tw_timer timer;
    bool loose; /* postponed or started with a window: any place in its tick */
} item;

static timingwheel wheel;
static item items[TIMERS];
static uint64_t unit;      /* the wheel's tick */
static uint64_t operation; /* number of the running operation */
static bool in_parts;      /* a limited advance: calls may end anywhere */
static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);
static uint64_t promised = 1, detailed = 1;

/* The timers fired for one tick: strict timers in order, loose timers in any
 * order. */
static uint64_t group_tick, group_strict, group_loose;

static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t draw(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    return scramble(random_state);
}

static uint64_t draw_below(uint64_t bound)
{
    return (draw() >> 16) % bound;
}

static void note_detail(uint64_t value)
{
    detailed = scramble(detailed * 31 + value);
}

static void note(uint64_t value)
{
    promised = scramble(promised * 31 + value);
    note_detail(value);
}

/* Notes a status. The number does not depend on the width of an int. */
static void note_status(int status)
{
    note((uint64_t)(status + 16));
}

static void end_group(void)
{
    if (group_strict != 0 || group_loose != 0) {
        note(group_tick);
        note(group_strict);
        note(group_loose);
    }
    group_strict = 0;
    group_loose = 0;
}

static uint64_t tick_of(uint64_t deadline)
{
    return deadline / unit + (deadline % unit != 0);
}

static item *item_of(tw_timer *timer)
{
    return TW_OWNER(timer, item, timer);
}

static uint64_t number_of(const item *it)
{
    return (uint64_t)(it - items) + 1;
}

/* Notes that `it` has fired. */
static void note_fired(timingwheel *tw, const item *it)
{
    uint64_t tick = tick_of(tw_deadline(&it->timer));
    uint64_t mark = scramble(number_of(it) ^ scramble(tw_now(tw)));
    mark = scramble(mark ^ (uint64_t)tw_timer_state(&it->timer));
    if (tick != group_tick)
        end_group();
    group_tick = tick;
    if (it->loose)
        group_loose += mark;
    else
        group_strict = scramble(group_strict * 31 + mark);
    note_detail(mark);
}

/* The action of a callback depends on the timer and the time only. It does not
 * depend on earlier callbacks, whose order within the tick may be open. The
 * callback touches a second timer only if the order of both is determined. */
static void on_fire(timingwheel *tw, tw_timer *timer)
{
    item *it = item_of(timer);
    note_fired(tw, it);
    uint64_t chance =
        scramble(operation ^ scramble(number_of(it) ^ scramble(tw_now(tw))));
    uint64_t later = tw_after(tw_now(tw), unit + ((chance >> 8) & 1023));
    item *other = &items[(chance >> 24) % TIMERS];
    bool settled = !it->loose && !other->loose && other != it;
    /* At the end of time, a timer started again is overdue at once, for
     * ever. */
    bool at_end = tw_now(tw) > UINT64_MAX - 4096;
    switch (at_end ? 7 : chance % 8) {
    case 0:
    case 1:
        (void)tw_start(tw, timer, later);
        break;
    case 2:
        if (settled && tw_cancel(tw, &other->timer))
            group_strict += 5;
        break;
    case 3:
        if (settled && tw_is_pending(&other->timer))
            (void)tw_start(tw, &other->timer, later);
        break;
    case 4:
        if (!in_parts)
            (void)tw_start(tw, timer, tw_now(tw) - tw_now(tw) % 7);
        break;
    default:
        break;
    }
    if (tw_advance_clock(tw, later) != 0 || tw_poll(tw, later) != NULL)
        group_strict += 7; /* both must be refused */
}

/* A span of time, mostly short, now and then of any size. */
static uint64_t draw_span(unsigned most_bits)
{
    unsigned bits = 1 + (unsigned)draw_below(most_bits);
#ifndef TRACE_SMALL
    if (draw_below(64) == 0)
        bits = 1 + (unsigned)draw_below(64);
#else
    if (draw_below(64) == 0)
        bits = 39 + (unsigned)draw_below(2);
#endif
    return draw() >> (64 - bits);
}

#ifdef TRACE_SMALL
#define NEAR_BITS 10
#else
#define NEAR_BITS 20
#endif

static item *draw_item(void)
{
    return &items[draw_below(TIMERS)];
}

/* A deadline ahead, or rarely a deadline that has passed. */
static uint64_t draw_deadline(void)
{
    uint64_t now = tw_now(&wheel);
    uint64_t span = draw_span(NEAR_BITS);
    if (draw_below(16) == 0)
        return span < now ? now - span : now;
    return tw_after(now, span);
}

static void start_one(void)
{
    item *it = draw_item();
    int status = tw_start(&wheel, &it->timer, draw_deadline());
    if (status == TW_OK)
        it->loose = false;
    note_status(status);
}

static void start_within(void)
{
    item *it = draw_item();
    uint64_t earliest = draw_deadline();
    uint64_t latest = tw_after(earliest, draw_span(8));
    int status = tw_start_within(&wheel, &it->timer, earliest, latest);
    if (status == TW_OK)
        it->loose = true;
    note_status(status);
    note(tw_deadline(&it->timer));
}

static void postpone_one(void)
{
    item *it = draw_item();
    uint64_t span = draw_span(NEAR_BITS);
    uint64_t deadline = tw_after(tw_deadline(&it->timer), span);
    if (draw_below(8) == 0)
        deadline = draw_deadline();
    int status = tw_postpone(&wheel, &it->timer, deadline);
    if (status == TW_OK)
        it->loose = true;
    note_status(status);
}

static void cancel_one(void)
{
    note(tw_cancel(&wheel, &draw_item()->timer));
}

static void advance(uint64_t now)
{
    uint64_t fired = tw_advance_clock(&wheel, now);
    end_group();
    note(fired);
}

static void advance_some(void)
{
    uint64_t now = tw_now(&wheel);
    if (draw_below(32) == 0)
        advance(now - now / 3); /* backwards */
    else
        advance(tw_after(now, draw_span(NEAR_BITS - 6)));
}

/* The contract leaves open where a limited call stops, but not which timers all
 * calls together fire. (A call may have passed only slots of cancelled
 * timers.) */
static void advance_in_parts(void)
{
    uint64_t now = tw_after(tw_now(&wheel), draw_span(NEAR_BITS - 4));
    size_t limit = 1 + (size_t)draw_below(5);
    uint64_t fired = 0;
    in_parts = true;
    do {
        size_t now_fired = tw_advance_clock_limit(&wheel, now, limit);
        note_detail(now_fired);
        note_detail(tw_now(&wheel));
        fired += now_fired;
    } while (tw_now(&wheel) != now || tw_wait(&wheel, now, 1) == 0);
    in_parts = false;
    end_group();
    note(fired);
}

/* Advances to the earliest deadline; the wheel may tell an earlier time. */
static void advance_to_next(void)
{
    uint64_t told = 0, exact = UINT64_MAX;
    bool found = tw_next_deadline(&wheel, &told);
    note(found);
    if (!found)
        return;
    for (unsigned i = 0; i < TIMERS; i++) {
        uint64_t tick = tick_of(tw_deadline(&items[i].timer));
        uint64_t time = tick > UINT64_MAX / unit ? UINT64_MAX : tick * unit;
        if (tw_is_pending(&items[i].timer) && time < exact)
            exact = time;
    }
    note(told <= (exact < tw_now(&wheel) ? tw_now(&wheel) : exact));
    note(exact);
    note_detail(told);
    note_detail(tw_wait(&wheel, tw_now(&wheel), 1000));
    if (exact < UINT64_MAX / 2 || draw_below(8) == 0)
        advance(exact);
}

static void poll_some(void)
{
    uint64_t now = tw_after(tw_now(&wheel), draw_span(NEAR_BITS - 6));
    for (uint64_t calls = draw_below(8); calls != 0; calls--) {
        tw_timer *timer = tw_poll(&wheel, now);
        if (timer == NULL)
            break;
        note_fired(&wheel, item_of(timer));
    }
    end_group();
    note(tw_now(&wheel));
}

static void sum_up(tw_timer *timer, void *context)
{
    uint64_t *sum = (uint64_t *)context;
    *sum += scramble(number_of(item_of(timer)) ^ tw_deadline(timer));
}

static void visit_or_drain(void)
{
    uint64_t sum = 0;
    if (draw_below(8) == 0)
        note(tw_drain(&wheel, sum_up, &sum));
    else
        note(tw_foreach(&wheel, sum_up, &sum));
    note(sum);
}

static void tidy(void)
{
#ifndef TRACE_SMALL
    if (draw_below(4) == 0)
        note_status(tw_reserve(&wheel, TIMERS, draw_deadline()));
#endif
    tw_trim(&wheel);
    uint64_t period = draw_span(8); /* drawn in this order on every machine */
    uint64_t now = draw();
    note(tw_next_period(tw_now(&wheel), period, now, NULL));
}

/* Sets up a new wheel with a random size, tick and clock. */
static void new_wheel(void)
{
    static const uint32_t sizes[] = {2, 4, 16, 64, 256, 1024};
    tw_config config = {0, 0, 0, 0, NULL};
    tw_destroy(&wheel);
#ifdef TRACE_SMALL
    config.wheel_size = 16;
#else
    config.wheel_size = sizes[draw_below(6)];
#endif
    (void)sizes;
    unit = draw_below(2) == 0 ? 1 : 1 + draw_below(12);
    config.tick = unit;
    config.start = draw();
    config.start >>= draw_below(64);
    if (draw_below(4) == 0)
        config.start = UINT64_MAX - draw_below(100000);
    if (draw_below(4) == 0)
        config.max_pending = TIMERS - TIMERS / 4;
    note_status(tw_init(&wheel, &config));
}

static void operate(void)
{
    uint64_t chance = draw_below(128);
    if (chance < 44)
        start_one();
    else if (chance < 52)
        start_within();
    else if (chance < 64)
        postpone_one();
    else if (chance < 76)
        cancel_one();
    else if (chance < 98)
        advance_some();
    else if (chance < 106)
        advance_in_parts();
    else if (chance < 114)
        advance_to_next();
    else if (chance < 124)
        poll_some();
    else if (chance < 127)
        visit_or_drain();
    else
        tidy();
}

/* Notes the visible state, after every operation. */
static void look(void)
{
    item *it = draw_item();
    note(tw_count(&wheel));
    note(tw_now(&wheel));
    note(tw_deadline(&it->timer));
    note((uint64_t)tw_timer_state(&it->timer));
    if (operation % 64 == 0) {
        tw_stats stats;
        tw_get_stats(&wheel, &stats);
        note(stats.fired);
        note(stats.pending);
        note_detail(stats.cascaded);
        note_detail(stats.wheels);
        note_detail(stats.buckets);
        note(tw_check(&wheel));
    }
}

static void put(char c)
{
#ifdef __AVR__
    UCSR0B |= 1 << TXEN0;
    while ((UCSR0A & (1 << UDRE0)) == 0)
        ;
    UCSR0A |= 1 << TXC0;
    UDR0 = (uint8_t)c;
    while ((UCSR0A & (1 << TXC0)) == 0)
        ;
#else
    putchar(c);
#endif
}

static void put_hash(const char *name, uint64_t hash)
{
    while (*name != '\0')
        put(*name++);
    for (int shift = 60; shift >= 0; shift -= 4)
        put("0123456789abcdef"[(hash >> shift) & 15]);
}

static uint64_t operations_wanted(int argc, char **argv)
{
    uint64_t wanted = 0;
    if (argc < 2)
        return TRACE_OPERATIONS;
    for (const char *digit = argv[1]; *digit != '\0'; digit++)
        wanted = wanted * 10 + (uint64_t)(*digit - '0');
    return wanted;
}

static void run(uint64_t operations)
{
    for (unsigned i = 0; i < TIMERS; i++)
        tw_timer_init(&items[i].timer, on_fire);
    for (operation = 0; operation < operations; operation++) {
        if (operation % EPOCH == 0)
            new_wheel();
        operate();
        look();
    }
    tw_destroy(&wheel);
}

#ifdef __AVR__
int main(void)
{
    char *none = NULL;
    run(operations_wanted(0, &none));
#else
int main(int argc, char **argv)
{
    run(operations_wanted(argc, argv));
#endif
    put_hash("promised ", promised);
    put_hash(" detailed ", detailed);
    put('\n');
#ifdef __AVR__
    cli(); /* to sleep without interrupts ends the simulation */
    sleep_mode();
#endif
    return 0;
}
