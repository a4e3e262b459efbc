/* found.c - faults that public bug reports pointed to, and the promises made
 * then.
 *
 *     found [CASE...]
 *
 * We tried public bug reports about other timer libraries here. The reports led
 * to faults of version 1.1.0. Each fault has a case in this file. The remaining
 * cases test the promises made at the same time: overdue timers behind a
 * limited call (13), memory after tw_trim and in a reserve (14), and timers
 * moved down ahead of time (16). The cases do not measure time. work.c counts
 * the basic blocks that a limited call and a postpone execute.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

/* ----------------------------------------------------- wheel and timers --- */

/* A timer with its tick and its number in the order of starts. */
typedef struct ticket {
    tw_timer timer; /* first: a pointer to the timer is a pointer to the
                     * ticket */
    uint64_t tick;
    uint64_t order;
    bool any_place; /* postponed: any place in its tick */
} ticket;

#define TICKETS 20000

static timingwheel tw;
static heap memory;
static ticket tickets[TICKETS];
static uint64_t starts;     /* since set_up */
static uint64_t last_tick;  /* of the last fired timer */
static uint64_t last_order; /* of the tick's last timer with a fixed place */
static size_t misplaced;    /* timers fired out of order */
static size_t fired_tickets;

static char fired[64]; /* names of fired timers, since the last clear */
static size_t fired_count;

static void set_up(uint32_t wheel_size, uint64_t tick)
{
    static const heap fresh;
    static const ticket none;
    tw_config config = {0};
    memory = fresh;
    config.wheel_size = wheel_size;
    config.tick = tick;
    config.alloc_context = &memory;
    CHECK(tw_init(&tw, &config) == TW_OK);
    for (size_t i = 0; i < TICKETS; i++)
        tickets[i] = none;
    starts = last_tick = last_order = 0;
    misplaced = fired_tickets = fired_count = 0;
    fired[0] = '\0';
}

static void tear_down(void)
{
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
    CHECK(memory.blocks == 0 && memory.bytes == 0 && memory.strays == 0);
}

static tw_stats stats(void)
{
    tw_stats now;
    tw_get_stats(&tw, &now);
    return now;
}

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_below(uint64_t limit)
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % limit;
}

static tw_timer *idle_timers(size_t count)
{
    tw_timer *timers = (tw_timer *)calloc(count, sizeof(*timers));
    if (timers == NULL)
        abort();
    return timers;
}

/* Counts a timer as misplaced unless it fires in its tick, behind the timers of
 * the tick that were started before. */
static void on_ticket(timingwheel *wheel, tw_timer *timer)
{
    ticket *self = TW_OWNER(timer, ticket, timer);
    bool is_same = self->tick == last_tick;
    bool has_place = !self->any_place;
    fired_tickets++;
    misplaced += tw_now(wheel) != self->tick || self->tick < last_tick ||
                 (is_same && has_place && self->order < last_order);
    if (!is_same || has_place)
        last_order = has_place ? self->order : 0;
    last_tick = self->tick;
}

static void start_ticket(size_t i, uint64_t tick)
{
    ticket *self = &tickets[i];
    if (!tw_is_pending(&self->timer))
        tw_timer_init(&self->timer, on_ticket);
    CHECK(tw_start(&tw, &self->timer, tick) == TW_OK);
    self->tick = tick;
    self->order = ++starts;
    self->any_place = false;
}

static void postpone_ticket(size_t i, uint64_t tick)
{
    CHECK(tw_postpone(&tw, &tickets[i].timer, tick) == TW_OK);
    tickets[i].tick = tick;
    tickets[i].any_place = true;
}

/* Checks that every pending timer fires, in its tick and in order. */
static void fire_tickets(uint64_t until)
{
    size_t pending = tw_count(&tw), before = fired_tickets;
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, until) == pending);
    CHECK(fired_tickets - before == pending);
    CHECK(misplaced == 0);
    CHECK(tw_count(&tw) == 0);
}

/* A timer with a letter as its name. */
typedef struct letter {
    tw_timer timer;
    char name;
    bool again; /* restarts overdue in its callback */
} letter;

static letter letters[26];

static void on_letter(timingwheel *wheel, tw_timer *timer)
{
    letter *self = TW_OWNER(timer, letter, timer);
    if (fired_count < sizeof(fired) - 1) {
        fired[fired_count++] = self->name;
        fired[fired_count] = '\0';
    }
    if (self->again)
        CHECK(tw_start(wheel, timer, tw_now(wheel)) == TW_OK);
}

static tw_timer *start_letter(char name, uint64_t deadline)
{
    letter *self = &letters[name - 'a'];
    if (!tw_is_pending(&self->timer))
        tw_timer_init(&self->timer, on_letter);
    self->name = name;
    self->again = false;
    CHECK(tw_start(&tw, &self->timer, deadline) == TW_OK);
    return &self->timer;
}

/* True if a limited call fires exactly the timers of `names`, in order. */
static bool limited_fires(uint64_t now, size_t limit, const char *names)
{
    fired_count = 0;
    fired[0] = '\0';
    tw_advance_clock_limit(&tw, now, limit);
    if (strcmp(fired, names) != 0)
        printf("# fired \"%s\", not \"%s\"\n", fired, names);
    return strcmp(fired, names) == 0;
}

/* True if a series of polls returns exactly the timers of `names`, in order. */
static bool polls_give(uint64_t now, const char *names)
{
    for (; *names != '\0'; names++) {
        tw_timer *timer = tw_poll(&tw, now);
        if (timer == NULL || TW_OWNER(timer, letter, timer)->name != *names) {
            printf("# not \"%s\"\n", names);
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------- found outside --- */

/* Has a cascade put one timer in front of a few timers in the same bucket. */
static void put_one_in_front(size_t others)
{
    set_up(256, 1);
    start_ticket(0, 65536);
    start_ticket(1, 67594);
    for (size_t i = 2; i < 14; i++)
        start_ticket(i, 95536 + i * 1000);
    tw_advance_clock(&tw, 65000);
    for (size_t i = 0; i < others; i++)
        start_ticket(14 + i, 67584 + i);
    tw_advance_clock(&tw, 65536);
}

static void count_small_bucket(void)
{
    const size_t most = sizeof(void *) > 4 ? 200 : 90; /* can be sorted */
    for (size_t others = 1; others <= most; others += 11) {
        put_one_in_front(others);
        uint64_t cascaded = stats().cascaded;
        CHECK(tw_advance_clock(&tw, 67584) == 1);
        CHECK(stats().cascaded == cascaded);
        fire_tickets(200000);
        tear_down();
    }
}

static void count_no_bucket(void)
{
    put_one_in_front(4);
    CHECK(stats().buckets != 0);
    for (size_t i = 0; i < 18; i++)
        tw_cancel(&tw, &tickets[i].timer);
    CHECK(stats().pending == 0 && stats().buckets == 0);
    tear_down();
}

/* Brings up a large bucket, and handles all its timers with limited calls.
 * Returns the number of calls. */
static size_t calls_for_large(size_t limit, size_t keep_one_in, size_t n)
{
    size_t calls = 0;
    set_up(256, 1);
    for (size_t i = 0; i < n; i++)
        start_ticket(i, 262144 + (i ? 1 + i * 7919 % 60000 : 0));
    for (size_t i = 0; i < n; i++)
        if (i % keep_one_in != 0)
            tw_cancel(&tw, &tickets[i].timer);
    do {
        tw_stats was = stats();
        size_t handled = tw_advance_clock_limit(&tw, 330000, limit);
        handled += (size_t)(stats().cascaded - was.cascaded);
        CHECK(handled <= limit);
        CHECK(handled == limit || keep_one_in > 1 || tw_count(&tw) == 0);
        calls++;
    } while (tw_count(&tw) != 0 && calls < 10 * n);
    CHECK(misplaced == 0);
    CHECK(fired_tickets == (n + keep_one_in - 1) / keep_one_in);
    tear_down();
    return calls;
}

/* Each call handles as many timers as its limit: counting costs no call. */
static void limit_calls(void)
{
    const size_t n = 6000;
    for (size_t keep = 1; keep <= 12; keep += 11) {
        size_t all = n / keep;
        CHECK(calls_for_large(SIZE_MAX, keep, n) == 1);
        for (size_t limit = 1; limit <= 100; limit *= 10)
            CHECK(calls_for_large(limit, keep, n) <=
                  (3 * all + n / 12) / limit + 3);
    }
}

static void never_ends_the_loop(void)
{
    static const uint64_t ticks[] = {2, 3, 10, 1000, UINT64_MAX / 2 + 2};
    for (size_t i = 0; i < sizeof(ticks) / sizeof(*ticks); i++) {
        uint64_t next = 7, beyond = UINT64_MAX;
        unsigned turns = 0;
        set_up(256, ticks[i]);
        if (UINT64_MAX % ticks[i] == 0)
            beyond = UINT64_MAX / ticks[i] * ticks[i] - 1; /* not beyond */
        start_letter('a', beyond);
        bool is_reached = beyond != UINT64_MAX;
        while (tw_next_deadline(&tw, &next) && turns < 10) {
            tw_advance_clock(&tw, next);
            turns++;
        }
        CHECK(turns == (is_reached ? 1 : 0));
        CHECK(tw_count(&tw) == (is_reached ? 0 : 1));
        CHECK(is_reached || next == 7);
        tear_down();
    }
}

static void never_wakes_nobody(void)
{
    uint64_t next = 7;
    set_up(256, 10);
    start_letter('a', UINT64_MAX);
    CHECK(!tw_next_deadline(&tw, &next) && next == 7);
    CHECK(tw_wait(&tw, 0, 12345) == 12345);
    CHECK(tw_wait(&tw, 0, UINT64_MAX) == UINT64_MAX);
    start_letter('b', 95);
    CHECK(tw_next_deadline(&tw, &next) && next == 100);
    CHECK(tw_wait(&tw, 30, 12345) == 70);
    CHECK(limited_fires(100, SIZE_MAX, "b"));
    CHECK(!tw_next_deadline(&tw, &next) && next == 100);
    start_letter('c', 50); /* overdue */
    CHECK(tw_next_deadline(&tw, &next) && next <= 100);
    CHECK(tw_wait(&tw, 100, 5) == 0);
    CHECK(limited_fires(100, SIZE_MAX, "c"));
    start_letter('d', UINT64_MAX - 5); /* the last tick, 2^64 - 6 */
    CHECK(tw_next_deadline(&tw, &next));
    CHECK(next == UINT64_MAX / 10 * 10 && tw_wait(&tw, next - 4, 9) == 4);
    CHECK(limited_fires(UINT64_MAX, SIZE_MAX, "d"));
    CHECK(!tw_next_deadline(&tw, &next) && tw_count(&tw) == 1);
    CHECK(tw_wait(&tw, UINT64_MAX, 9) == 9);
    CHECK(tw_cancel(&tw, &letters[0].timer));
    tear_down();
}

/* Starts two timers in a far bucket. The bucket comes up, is sorted, and waits
 * for its last timer. */
static void sort_far_bucket(void)
{
    start_ticket(0, 3 << 24);
    start_ticket(1, (4 << 24) - 5);
    tw_advance_clock(&tw, (3 << 24) + 1);
}

static void postpone_beside_sorted_bucket(void)
{
    static timingwheel before;
    uint64_t now = (3 << 24) + 1;
    size_t written = 0;
    set_up(256, 1);
    sort_far_bucket();
    for (size_t i = 2; i < 1000; i++)
        start_ticket(i, now + 30000 + i % 3 * 1000000);
    for (unsigned round = 0; round < 50; round++) {
        tw_advance_clock(&tw, ++now);
        memcpy(&before, &tw, sizeof(tw));
        for (size_t i = 2; i < 1000; i++) {
            tw_timer was = tickets[i].timer;
            postpone_ticket(i, now + 30000 + i % 3 * 1000000);
            written += was.place != tickets[i].timer.place;
        }
        CHECK(memcmp(&before, &tw, sizeof(tw)) == 0);
    }
    CHECK(written == 0 && stats().cascaded == 0);
    postpone_ticket(1, (4 << 24) + 5);
    CHECK(stats().cascaded == 0);
    fire_tickets(UINT64_C(5) << 24);
    tear_down();
}

static void moved_is_unsound(void)
{
    static timingwheel copy;
    set_up(256, 1);
    start_letter('a', 0);
    start_letter('b', 10);
    memcpy(&copy, &tw, sizeof(tw));
    CHECK(tw_check(&tw) && !tw_check(&copy));
    CHECK(limited_fires(10, SIZE_MAX, "ab"));
    tear_down();
}

/* ------------------------------------------------------ small functions --- */

struct session {
    char before[5];
    tw_timer idle, second;
    int after;
};

static const struct session *look(const tw_timer *timer)
{
    return TW_OWNER(timer, const struct session, idle);
}

static const struct session *look_at_second(const tw_timer *timer)
{
    const struct session *session =
        TW_OWNER(timer, const struct session, second);
    return session;
}

static void owner_of_const(void)
{
    static struct session session;
    session.after = 7;
    const struct session *constant = &session;
    CHECK(look(&session.idle) == &session);
    CHECK(look(&constant->idle)->after == 7);
    CHECK(look_at_second(&constant->second) == constant);
    CHECK(TW_OWNER(&session.idle, const struct session, idle) == constant);
    TW_OWNER(&session.second, struct session, second)->after = 8;
    CHECK(session.after == 8);
}

static void remaining(void)
{
    static const uint64_t ticks[] = {1, 10};
    CHECK(tw_remaining(NULL, 5) == 0);
    for (size_t i = 0; i < 2; i++) {
        tw_timer *a = &letters[0].timer;
        set_up(256, ticks[i]);
        tw_timer_init(a, on_letter);
        CHECK(tw_remaining(a, 0) == 0);
        start_letter('a', 105);
        CHECK(tw_remaining(a, 0) == 105 && tw_remaining(a, 5) == 100);
        CHECK(tw_remaining(a, 104) == 1 && tw_remaining(a, 105) == 0);
        CHECK(tw_remaining(a, 106) == 0 && tw_remaining(a, UINT64_MAX) == 0);
        CHECK(tw_postpone(&tw, a, 205) == TW_OK);
        CHECK(tw_remaining(a, 5) == 200);
        CHECK(tw_cancel(&tw, a) && tw_remaining(a, 5) == 0);
        start_letter('a', 300);
        CHECK(limited_fires(300, SIZE_MAX, "a") && tw_remaining(a, 5) == 0);
        start_letter('a', 100); /* overdue */
        CHECK(tw_remaining(a, 300) == 0 && tw_remaining(a, 90) == 10);
        start_letter('a', UINT64_MAX);
        CHECK(tw_remaining(a, 0) == UINT64_MAX);
        CHECK(tw_remaining(a, UINT64_MAX - 1) == 1);
        CHECK(tw_drain(&tw, NULL, NULL) == 1 && tw_remaining(a, 0) == 0);
        tear_down();
    }
}

/* ------------------------------------- promise 13: overdue and limited --- */

static void overdue_starves_nobody(void)
{
    for (size_t limit = 1; limit <= 9; limit++)
        for (size_t busy = 1; busy <= 9; busy += 4) {
            uint64_t now = 0;
            set_up(256, 1);
            for (size_t i = 0; i < busy; i++)
                start_letter((char)('a' + i), 1);
            for (size_t i = 0; i < busy; i++)
                letters[i].again = true;
            tw_timer *victim = start_letter('v', 5);
            while (tw_is_pending(victim) && now < 100)
                tw_advance_clock_limit(&tw, ++now, limit);
            CHECK(tw_timer_state(victim) == TW_FIRED);
            CHECK(now <= 5 + (busy + limit) / limit + busy);
            CHECK(tw_now(&tw) >= 5 && tw_count(&tw) == busy);
            tear_down();
        }
}

static void overdue_starves_no_poll(void)
{
    uint64_t now = 0;
    set_up(256, 1);
    start_letter('a', 1);
    start_letter('b', 1);
    tw_timer *victim = start_letter('v', 5);
    while (tw_is_pending(victim) && now < 100) {
        tw_timer *timer = tw_poll(&tw, ++now);
        if (timer != NULL && timer != victim)
            CHECK(tw_start(&tw, timer, 0) == TW_OK);
    }
    CHECK(tw_timer_state(victim) == TW_FIRED && now <= 12);
    tear_down();
}

static void left_before_overdue_since(void)
{
    set_up(256, 1);
    start_letter('a', 10);
    start_letter('b', 10);
    start_letter('c', 12);
    start_letter('d', 25);
    CHECK(limited_fires(20, 1, "a"));
    start_letter('x', 0);
    start_letter('y', 3);
    CHECK(tw_wait(&tw, 20, 9) == 0);
    CHECK(limited_fires(20, SIZE_MAX, "bcxy"));
    CHECK(limited_fires(30, SIZE_MAX, "d"));
    tear_down();
}

/* Overdue timers left by a limited call keep their place, too. */
static void left_overdue_first(void)
{
    set_up(256, 1);
    tw_advance_clock(&tw, 100);
    start_letter('a', 1);
    start_letter('b', 2);
    start_letter('c', 101);
    CHECK(limited_fires(110, 1, "a"));
    start_letter('x', 0);
    CHECK(limited_fires(110, 1, "b"));
    start_letter('y', 0);
    CHECK(limited_fires(110, 1, "c"));
    CHECK(limited_fires(110, SIZE_MAX, "xy"));
    tear_down();
}

/* A finished call leaves nothing, and overdue timers fire first again. */
static void finished_leaves_nothing(void)
{
    set_up(256, 1);
    start_letter('a', 10);
    start_letter('b', 11);
    CHECK(limited_fires(20, 1, "a"));
    CHECK(limited_fires(20, SIZE_MAX, "b"));
    start_letter('c', 25);
    start_letter('x', 0);
    CHECK(limited_fires(30, SIZE_MAX, "xc"));
    tear_down();
}

/* A timer that becomes due after a limited call does not count as left by
 * it. */
static void due_later_is_not_left(void)
{
    set_up(256, 1);
    start_letter('a', 10);
    start_letter('b', 11);
    start_letter('c', 25);
    CHECK(limited_fires(20, 1, "a"));
    start_letter('x', 0);
    CHECK(limited_fires(30, SIZE_MAX, "bxc"));
    tear_down();
}

static void several_generations(void)
{
    set_up(256, 1);
    for (char name = 'a'; name <= 'e'; name++)
        start_letter(name, 10);
    start_letter('f', 15);
    CHECK(limited_fires(12, 1, "a"));
    start_letter('p', 0);
    CHECK(limited_fires(12, 1, "b"));
    start_letter('q', 0);
    CHECK(limited_fires(12, 1, "c"));
    start_letter('r', 0);
    CHECK(limited_fires(12, 2, "de"));
    CHECK(limited_fires(12, 1, "p"));
    start_letter('s', 0);
    CHECK(limited_fires(20, 2, "qr"));
    CHECK(limited_fires(20, 1, "s"));
    CHECK(limited_fires(20, SIZE_MAX, "f"));
    tear_down();
}

/* The second call leaves a timer that became due after the first call. */
static void due_in_a_later_generation(void)
{
    set_up(256, 1);
    for (char name = 'a'; name <= 'c'; name++)
        start_letter(name, 10);
    start_letter('e', 15);
    CHECK(limited_fires(10, 1, "a"));
    start_letter('x', 0);
    CHECK(limited_fires(20, 1, "b")); /* leaves c, x and e */
    start_letter('y', 0);
    CHECK(limited_fires(20, SIZE_MAX, "cxey"));
    tear_down();
}

/* Each generation of overdue timers is left by a limited call in turn. */
static void overdue_generations(void)
{
    set_up(256, 1);
    for (unsigned round = 0; round < 100; round++) {
        start_letter('a', 0);
        start_letter('b', 0);
        start_letter('c', 0);
        CHECK(limited_fires(0, 1, "a"));
        start_letter('d', 0);
        CHECK(limited_fires(0, 1, "b"));
        start_letter('a', 0);
        CHECK(limited_fires(0, 2, "cd"));
        start_letter('e', 0);
        CHECK(limited_fires(0, SIZE_MAX, "ae"));
    }
    tear_down();
}

static void left_is_cancelled(void)
{
    set_up(256, 1);
    start_letter('a', 10);
    tw_timer *b = start_letter('b', 10);
    start_letter('c', 12);
    CHECK(limited_fires(11, 1, "a"));
    start_letter('x', 0);
    CHECK(tw_cancel(&tw, b));
    CHECK(limited_fires(11, SIZE_MAX, "x"));
    CHECK(limited_fires(12, SIZE_MAX, "c"));
    tear_down();
}

static void left_before_overdue_poll(void)
{
    set_up(256, 1);
    start_letter('a', 10);
    start_letter('b', 10);
    start_letter('c', 11);
    CHECK(polls_give(20, "a"));
    start_letter('x', 0);
    CHECK(polls_give(20, "b"));
    start_letter('y', 0);
    CHECK(polls_give(20, "cxy"));
    CHECK(tw_poll(&tw, 20) == NULL);
    start_letter('d', 25);
    start_letter('z', 0);
    CHECK(polls_give(30, "zd"));
    tear_down();
}

/* ---------------------------------------------------- promise 14: trim --- */

#define MANY 1000000

/* The bytes that a trim may leave: 1.5 times the bytes of packed chunks, plus
 * the wheels. Each bucket may have one partly filled chunk. */
static size_t most_after_trim(size_t pending, size_t buckets)
{
    size_t chunks = pending / TWI_SLOTS + buckets + 2;
    return chunks * TWI_CHUNK_BYTES * 3 / 2 +
           stats().wheels * (2 * 256 * sizeof(twi_bucket) + 1024);
}

static void trim_few_of_a_million(void)
{
    tw_timer *timers = idle_timers(MANY);
    size_t kept = 0;
    set_up(256, 1);
    for (size_t i = 0; i < MANY; i++)
        tw_start(&tw, &timers[i], 3600000 + i % 60000);
    for (size_t i = 0; i < MANY; i++)
        if (i % 3060 != 0)
            tw_cancel(&tw, &timers[i]);
    kept = tw_count(&tw);
    CHECK(kept == 327);
    tw_trim(&tw);
    tw_stats left = stats();
    CHECK(tw_check(&tw) && left.pending == kept);
    CHECK(left.bytes_held == memory.bytes);
    CHECK(left.bytes_held <= most_after_trim(kept, left.buckets));
    for (size_t i = 0; i < MANY; i += 3060)
        tw_start(&tw, &timers[i], tw_deadline(&timers[i]) + 1);
    tw_trim(&tw);
    left = stats();
    CHECK(tw_check(&tw) && left.pending == kept);
    CHECK(left.bytes_held <= most_after_trim(kept, left.buckets));
    CHECK(tw_advance_clock(&tw, 4000000) == kept);
    tear_down();
    free(timers);
}

/* Starts many timers in `spread` ticks, and cancels all except one in
 * `keep`. */
static void start_survivors(uint64_t spread, size_t keep)
{
    for (size_t i = 0; i < TICKETS; i++)
        start_ticket(i, 70000 + random_below(spread));
    for (size_t i = 0; i < TICKETS; i++)
        if (i % keep != 0)
            tw_cancel(&tw, &tickets[i].timer);
}

static void trim_survivors_spread(void)
{
    static const size_t keep[] = {1, 2, 3, 12, 100, TICKETS};
    static const uint64_t spreads[] = {1, 500, 70000, 10000000};
    random_state = 3;
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 4; j++) {
            set_up(256, 1);
            start_survivors(spreads[j], keep[i]);
            tw_trim(&tw);
            tw_stats left = stats();
            CHECK(left.bytes_held <=
                  most_after_trim(left.pending, left.buckets));
            tw_trim(&tw);
            CHECK(stats().bytes_held == left.bytes_held);
            fire_tickets(20000000);
            tear_down();
        }
}

static void trim_without_memory(void)
{
    random_state = 4;
    for (size_t fail = 1; fail <= 12; fail++) {
        set_up(256, 1);
        start_survivors(10000, 20);
        size_t pending = tw_count(&tw), bytes = memory.bytes;
        heap_fail(&memory, fail, true);
        tw_trim(&tw);
        CHECK(memory.bytes <= bytes && tw_count(&tw) == pending);
        CHECK(stats().bytes_held == memory.bytes);
        heap_fail(&memory, 0, false);
        fire_tickets(100000);
        tw_trim(&tw);
        CHECK(memory.bytes == 0);
        tear_down();
    }
}

static void trim_of_nothing(void)
{
    random_state = 5;
    set_up(256, 1);
    tw_trim(&tw);
    start_survivors(100000, TICKETS);
    tw_cancel(&tw, &tickets[0].timer);
    tw_trim(&tw);
    CHECK(memory.bytes == 0 && stats().bytes_held == 0 && stats().wheels == 0);
    start_survivors(100000, 50);
    tw_drain(&tw, NULL, NULL);
    tw_trim(&tw);
    CHECK(memory.bytes == 0);
    start_ticket(0, 0);
    tw_advance_clock(&tw, 0);
    tw_trim(&tw);
    CHECK(memory.bytes == 0);
    tear_down();
}

/* Overdue timers, sorted buckets and the buckets of all wheels keep their
 * order. */
static void trim_keeps_the_order(void)
{
    random_state = 6;
    for (size_t limit = 0; limit < 40; limit += 3) {
        set_up(16, 1);
        for (size_t i = 0; i < 4000; i++)
            start_ticket(i, 1000 + random_below(1000));
        for (size_t i = 0; i < 4000; i++)
            if (i % 7 != 0)
                tw_cancel(&tw, &tickets[i].timer);
        for (size_t i = 4000; i < 4200; i++)
            start_ticket(i, random_below(1u << 20) + 1);
        tw_advance_clock_limit(&tw, 1500, limit * 10);
        tw_trim(&tw);
        fire_tickets(1u << 21);
        tear_down();
    }
}

/* Starts overdue timers, a timer left due, and two timers that become overdue
 * later. */
static void trim_keeps_overdue_order(void)
{
    set_up(256, 1);
    for (size_t i = 0; i < 5000; i++)
        start_ticket(i, 0);
    for (size_t i = 0; i < 5000; i++)
        if (i % 500 != 0)
            tw_cancel(&tw, &tickets[i].timer);
    start_letter('a', 0);
    start_letter('b', 10);
    tw_advance_clock_limit(&tw, 10, 3);
    start_letter('x', 0);
    tw_trim(&tw);
    CHECK(tw_check(&tw));
    start_letter('y', 0);
    for (unsigned calls = 0; calls < 1000 && tw_count(&tw) != 0; calls++) {
        tw_advance_clock_limit(&tw, 10, 3);
        tw_trim(&tw);
    }
    CHECK(strcmp(fired, "abxy") == 0);
    CHECK(fired_tickets == 10 && misplaced == 0);
    tear_down();
}

static void trim_drops_a_reserve(void)
{
    set_up(256, 1);
    CHECK(tw_reserve(&tw, 10000, 1000000) == TW_OK);
    size_t reserved = stats().bytes_held;
    start_ticket(0, 500);
    tw_trim(&tw);
    CHECK(stats().bytes_held < reserved / 50);
    heap_fail(&memory, 1, true);
    CHECK(tw_start(&tw, &letters[25].timer, 900000) == TW_ENOMEM);
    heap_fail(&memory, 0, false);
    CHECK(tw_reserve(&tw, 10000, 1000000) == TW_OK);
    CHECK(stats().bytes_held <= reserved + reserved / 2);
    fire_tickets(1000);
    tear_down();
}

/* ------------------------------------------------- promise 14: reserve --- */

static size_t wheel_bytes(size_t wheels, size_t size)
{
    return wheels * (2 * size * sizeof(twi_bucket) + 2 * size / 8 +
                     sizeof(twi_wheel) + 64 + TWI_CHUNK_BYTES);
}

static void reserve_bytes(void)
{
    for (size_t n = 1; n <= 100000; n *= 10)
        for (unsigned bits = 1; bits <= 12; bits++)
            for (unsigned reach = 0; reach <= 64; reach += 16) {
                uint64_t horizon =
                    reach == 64 ? UINT64_MAX : UINT64_C(1) << reach;
                set_up(1u << bits, 1);
                CHECK(tw_reserve(&tw, n, horizon) == TW_OK);
                CHECK(stats().bytes_held == memory.bytes);
                CHECK(memory.bytes <=
                      wheel_bytes(stats().wheels, 1u << bits) + 150 * n + 4096);
                CHECK(stats().wheels <= reach / bits + 1);
                tear_down();
            }
}

static void reserve_one(void)
{
    set_up(256, 1);
    CHECK(tw_reserve(&tw, 1, UINT64_MAX) == TW_OK);
    CHECK(memory.bytes <= 140000);
    tear_down();
    set_up(16, 1);
    CHECK(tw_reserve(&tw, 1, UINT64_MAX) == TW_OK);
    CHECK(memory.bytes <= 24000);
    tear_down();
}

/* A pattern of restarts of reserved timers. `tick` chooses the tick of each
 * restart. The clock may move between two restarts. */
typedef struct pattern {
    const char *name;
    uint64_t (*tick)(size_t i, uint64_t now, size_t n);
    unsigned every; /* restarts per call; 0: no call */
    uint64_t by;    /* ticks per call; 0: to the next deadline */
} pattern;

#define HORIZON (UINT64_C(1) << 32)

static uint64_t own_bucket(size_t i, uint64_t now, size_t n)
{
    (void)n;
    uint64_t k = i % 500 + 2, level = i / 500 % 4;
    return now + (k << level * 8);
}

static uint64_t one_bucket(size_t i, uint64_t now, size_t n)
{
    (void)n;
    return (((now >> 16) + 3) << 16) + i * 7919 % 65536;
}

static uint64_t one_tick(size_t i, uint64_t now, size_t n)
{
    (void)n;
    return now + 1000 + i % 2 * 100000;
}

static uint64_t always_overdue(size_t i, uint64_t now, size_t n)
{
    (void)n;
    return i % 3 == 0 ? now + 300 + i % 1000 : now;
}

static uint64_t any_magnitude(size_t i, uint64_t now, size_t n)
{
    (void)i, (void)n;
    return now + (random_below(HORIZON / 2) >> random_below(30));
}

/* Each timer one tick later: buckets of up to a few hundred timers are
 * sorted. */
static uint64_t one_after_another(size_t i, uint64_t now, size_t n)
{
    return now + 600 + i % n;
}

static uint64_t next_steps(size_t i, uint64_t now, size_t n)
{
    (void)n;
    return now + 2 * 256 + i * 31 % 512;
}

static const pattern patterns[] = {
    {"each in a bucket of its own", own_bucket, 0, 0},
    {"each in a bucket of its own, the clock moves", own_bucket, 7, 1},
    {"all in one bucket", one_bucket, 0, 0},
    {"all in one bucket that is moved ahead", one_bucket, 100, 97},
    {"all in one tick", one_tick, 50, 3},
    {"overdue", always_overdue, 0, 0},
    {"overdue, and fired", always_overdue, 5, 1},
    {"any magnitude", any_magnitude, 0, 0},
    {"any magnitude, the next fires", any_magnitude, 20, 0},
    {"sorted", one_after_another, 3, 0},
    {"sorted and moved on", next_steps, 2, 1},
    {"cascaded", next_steps, 90, 40},
};

/* No start, cancel or call fails or allocates. Drains in between. */
static void play_reserved(const pattern *play, uint32_t wheel_size, size_t n,
                          size_t restarts, tw_timer *timers)
{
    size_t failed = 0;
    uint64_t now = 0;
    set_up(wheel_size, wheel_size == 16 ? 3 : 1);
    CHECK(tw_reserve(&tw, n, HORIZON) == TW_OK);
    size_t calls = memory.calls;
    heap_fail(&memory, 1, true);
    for (size_t i = 0; i < restarts; i++) {
        tw_timer *timer = &timers[i * 5 % n];
        uint64_t deadline = play->tick(i, now, n);
        if (deadline > HORIZON - 300)
            deadline = HORIZON - i % 1000;
        failed += tw_start(&tw, timer, deadline) != TW_OK;
        if (i % 11 == 0 && deadline < HORIZON - 300)
            failed += tw_postpone(&tw, timer, timer->deadline + 300) != TW_OK;
        if (play->every != 0 && i % play->every == 0) {
            uint64_t next = now + play->by;
            if (play->by == 0)
                (void)tw_next_deadline(&tw, &next);
            if (next > now && next < HORIZON / 2)
                now = next;
            tw_advance_clock_limit(&tw, now, i % 64 == 0 ? 3 : SIZE_MAX);
        }
        if (i % (restarts / 3) == restarts / 4)
            tw_drain(&tw, NULL, NULL);
    }
    if (!CHECK(failed == 0 && memory.calls == calls))
        printf("# %s, %u timers: %u failed\n", play->name, (unsigned)n,
               (unsigned)failed);
    size_t pending = tw_count(&tw);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, HORIZON * 2) == pending);
    CHECK(memory.calls == calls);
    tear_down();
}

static void reserve_lasts(void)
{
    static const size_t counts[] = {1, 2, 11, 100, 1000, 3000};
    tw_timer *timers = idle_timers(3000);
    random_state = 7;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
        for (size_t j = 0; j < 6; j++)
            for (uint32_t size = 2; size <= 4096; size *= size < 16 ? 8 : 16)
                play_reserved(&patterns[i], size, counts[j],
                              size == 256 ? 100000 : 10000, timers);
    free(timers);
}

/* Each timer is alone in its chunk, and all chunks are in one bucket. Then the
 * bucket is sorted or cascades. */
static void reserve_lasts_alone(void)
{
    static const size_t counts[] = {1, 13, 60, 100, 900, 960, 961, 3000};
    static const uint64_t spans[] = {1, 256, 65536};
    random_state = 9;
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < 3; j++) {
            uint64_t now = 0;
            set_up(256, 1);
            CHECK(tw_reserve(&tw, counts[i], HORIZON) == TW_OK);
            size_t calls = memory.calls;
            heap_fail(&memory, 1, true);
            for (unsigned round = 0; round < 4; round++) {
                uint64_t begin = ((now >> 16) + 3) << 16;
                for (size_t k = 0; k < counts[i]; k++)
                    for (unsigned slot = 0; slot < TWI_SLOTS; slot++)
                        start_ticket(k, begin + random_below(spans[j]));
                while (tw_next_deadline(&tw, &now))
                    tw_advance_clock_limit(&tw, now, round == 0 ? 5 : SIZE_MAX);
                CHECK(fired_tickets == counts[i] * (round + 1));
            }
            CHECK(misplaced == 0 && memory.calls == calls);
            tear_down();
        }
}

/* ------------------------------------------- promise 14: many restarts --- */

/* The most bytes per timer under many restarts, beside the wheels. */
static size_t restart_bytes(size_t n, size_t restarts, uint64_t span)
{
    tw_timer *timers = idle_timers(n);
    size_t most = 0;
    uint64_t now = 0;
    set_up(256, 1);
    for (size_t i = 0; i < restarts; i++) {
        tw_start(&tw, &timers[i < n ? i : random_below(n)],
                 now + 1 + random_below(span));
        if (i % 100 == 0)
            tw_advance_clock(&tw, ++now);
        if (memory.bytes > most)
            most = memory.bytes;
    }
    most -= wheel_bytes(stats().wheels, 256);
    CHECK(tw_check(&tw));
    tear_down();
    free(timers);
    return most / n;
}

static void restarts_stay_small(void)
{
    random_state = 8;
    CHECK(restart_bytes(1000, 2000000, 60000) <= 160);
    CHECK(restart_bytes(100000, 2000000, 60000) <= 48);
}

/* --------------------------------------------------------- promise 16 --- */

/* A large bucket, in the wheel with steps of 2^shift ticks. The clock is at 0,
 * and the bucket begins four steps later. */
typedef struct large_bucket {
    unsigned shift;
    size_t count;
    uint64_t begin;  /* first tick of the bucket */
    uint64_t before; /* first tick of the bucket before */
    uint64_t ticks;  /* ticks that have timers */
} large_bucket;

#define LARGE 9000 /* timers in the large bucket */
#define BATCH ((TWI_BATCH + 2) * TWI_SLOTS)

static large_bucket start_large_bucket(uint32_t size, unsigned shift,
                                       uint64_t ticks)
{
    large_bucket large = {shift, LARGE, UINT64_C(4) << shift,
                          UINT64_C(3) << shift, ticks};
    set_up(size, 1);
    for (size_t i = 0; i < large.count; i++)
        start_ticket(i, large.begin + random_below(ticks));
    return large;
}

/* Makes `parts` calls at equal distances through the step before the bucket.
 * Calls `visit` after each. */
static void walk_to(const large_bucket *large, unsigned parts,
                    void (*visit)(const large_bucket *))
{
    uint64_t step = large->begin - large->before;
    for (unsigned i = 0; i < parts; i++) {
        tw_advance_clock(&tw, large->before + step * i / parts);
        if (visit != NULL)
            visit(large);
    }
}

/* Each call moves at most its share of the timers left, plus a batch. All calls
 * together move nearly all timers before the step begins. */
static void moves_its_share(const large_bucket *large, unsigned parts)
{
    uint64_t step = large->begin - large->before, before = stats().cascaded,
             last = 0;
    size_t left = large->count;
    for (unsigned i = 0; i < parts; i++) {
        uint64_t now = large->before + step * i / parts;
        uint64_t passed = now - (i == 0 ? now : last);
        tw_advance_clock(&tw, now);
        size_t moved = (size_t)(stats().cascaded - before);
        double share = (double)left * (double)passed /
                       (double)(passed + large->begin - now);
        CHECK((double)moved <= share + BATCH);
        before += moved;
        left -= moved < left ? moved : left;
        last = now;
    }
    CHECK(left <= large->count / parts + BATCH);
}

static void ahead_share(void)
{
    static const unsigned parts[] = {2, 3, 10, 64, 200};
    random_state = 10;
    for (size_t i = 0; i < 5; i++)
        for (unsigned level = 1; level <= 2; level++) {
            large_bucket large =
                start_large_bucket(256, 8 * level, UINT64_C(1) << 8 * level);
            moves_its_share(&large, parts[i]);
            fire_tickets(large.begin * 2);
            tear_down();
        }
}

/* The longest call of a busy loop is short, however many timers are pending. */
static void ahead_longest_call(void)
{
    uint64_t before = 0, longest = 0, now = 0;
    random_state = 11;
    set_up(256, 1);
    for (size_t i = 0; i < TICKETS; i++)
        start_ticket(i, 200000 + random_below(65536));
    for (; now < 300000; now += 16) {
        size_t count = tw_advance_clock(&tw, now);
        uint64_t moved = stats().cascaded - before;
        before += moved;
        if (moved + count > longest)
            longest = moved + count;
    }
    CHECK(fired_tickets == TICKETS && misplaced == 0);
    CHECK(longest <= 4 * BATCH);
    tear_down();
}

static void between_start(const large_bucket *large)
{
    for (size_t i = 0; i < 40; i++)
        start_ticket(large->count + (size_t)starts % (TICKETS - large->count),
                     large->begin + random_below(large->ticks));
}

static void between_cancel(const large_bucket *large)
{
    for (size_t i = 0; i < 40; i++)
        tw_cancel(&tw, &tickets[random_below(large->count)].timer);
}

/* Postpones within the step, and beyond the step. */
static void between_postpone(const large_bucket *large)
{
    for (size_t i = 0; i < 40; i++) {
        ticket *some = &tickets[random_below(large->count)];
        uint64_t later = some->tick + random_below(2 * large->ticks);
        if (tw_is_pending(&some->timer) && later > some->tick)
            postpone_ticket((size_t)(some - tickets), later);
    }
}

static void between_restart(const large_bucket *large)
{
    for (size_t i = 0; i < 40; i++)
        start_ticket((size_t)random_below(large->count),
                     large->begin + random_below(large->ticks));
}

static void between_all(const large_bucket *large)
{
    between_start(large);
    between_restart(large);
    between_postpone(large);
    between_cancel(large);
    CHECK(tw_check(&tw));
}

/* Few ticks, and therefore many equal deadlines. Timers start before, during
 * and after the moves of the bucket. */
static void keeps_order(void (*visit)(const large_bucket *))
{
    static const uint32_t sizes[] = {16, 256};
    random_state = 12;
    for (size_t i = 0; i < 2; i++)
        for (unsigned parts = 3; parts <= 60; parts *= 4) {
            uint64_t ticks = sizes[i] < 256 ? 10 : 50;
            unsigned shift = sizes[i] < 256 ? 8 : 16;
            large_bucket large = start_large_bucket(sizes[i], shift, ticks);
            walk_to(&large, parts, visit);
            CHECK(stats().cascaded > LARGE / 4);
            tw_advance_clock(&tw, large.begin - 1);
            visit(&large);
            tw_advance_clock(&tw, large.begin);
            for (size_t j = 0; j < 60; j++)
                start_ticket(TICKETS - 1 - j, large.begin + 1 + j % ticks);
            fire_tickets(large.begin * 4);
            tear_down();
        }
}

static void ahead_started(void)
{
    keeps_order(between_start);
}

static void ahead_cancelled(void)
{
    keeps_order(between_cancel);
}

static void ahead_postponed(void)
{
    keeps_order(between_postpone);
}

static void ahead_restarted(void)
{
    keeps_order(between_restart);
}

static void ahead_all_at_once(void)
{
    keeps_order(between_all);
}

/* Moving ahead counts towards the limit and is continued by later calls. */
static void ahead_limited(void)
{
    static const size_t limits[] = {1, 7, 100, 1000};
    random_state = 13;
    for (size_t i = 0; i < 4; i++) {
        large_bucket large = start_large_bucket(256, 16, 50);
        uint64_t before = 0, now = large.before;
        for (unsigned calls = 0; calls < 400; calls++) {
            now = large.before + (large.begin - 1 - large.before) * calls / 400;
            CHECK(tw_advance_clock_limit(&tw, now, limits[i]) == 0);
            uint64_t moved = stats().cascaded - before;
            CHECK(moved <= limits[i]);
            CHECK(tw_now(&tw) == now);
            before += moved;
            if (calls % 50 == 0)
                between_start(&large);
        }
        CHECK(before >= (limits[i] < 100 ? 300 * limits[i] : LARGE / 2));
        fire_tickets(large.begin * 2);
        tear_down();
    }
}

/* Due timers fire before timers are moved ahead, within the limit. */
static void ahead_after_due(void)
{
    random_state = 14;
    large_bucket large = start_large_bucket(256, 16, 65536);
    uint64_t due = (large.before + large.begin) / 2;
    for (size_t i = 0; i < 30; i++)
        start_ticket(large.count + i, due);
    uint64_t before = stats().cascaded;
    CHECK(tw_advance_clock_limit(&tw, due, 30) == 30);
    CHECK(stats().cascaded == before);
    CHECK(tw_advance_clock_limit(&tw, due, 30) == 0);
    CHECK(stats().cascaded - before <= 30);
    fire_tickets(large.begin * 2);
    tear_down();
}

static void ahead_without_memory(void)
{
    random_state = 15;
    for (size_t fail = 1; fail <= 40; fail += 3)
        for (unsigned ever = 0; ever < 2; ever++) {
            large_bucket large =
                start_large_bucket(256, 16, 50 + fail % 2 * 65000);
            heap_fail(&memory, fail, ever != 0);
            walk_to(&large, 50, NULL);
            CHECK(tw_check(&tw) && tw_count(&tw) == LARGE);
            if (fail % 2 == 0)
                heap_fail(&memory, 0, false);
            fire_tickets(large.begin * 2);
            heap_fail(&memory, 0, false);
            tear_down();
        }
}

/* Clocks that jump over the step before, into the step, over the step, or by
 * half a step at a time. */
static void ahead_jumps(void)
{
    random_state = 16;
    for (unsigned kind = 0; kind < 6; kind++)
        for (unsigned moved = 0; moved < 2; moved++) {
            large_bucket large = start_large_bucket(256, 16, 65536);
            uint64_t half = (large.begin - large.before) / 2;
            if (moved != 0)
                tw_advance_clock(&tw, large.before + half / 3);
            if (kind == 1)
                tw_advance_clock(&tw, large.begin - 1);
            if (kind == 2)
                tw_advance_clock(&tw, large.begin + half);
            if (kind == 3)
                for (unsigned i = 0; i < 8; i++)
                    tw_advance_clock(&tw, large.before - half + i * half);
            if (kind == 4)
                tw_advance_clock(&tw, large.before + half);
            if (kind == 5)
                tw_advance_clock(&tw, large.begin + 3 * half);
            if (kind == 4)
                tw_advance_clock(&tw, 1000); /* backwards */
            fire_tickets(UINT64_MAX);
            tear_down();
        }
}

static void ahead_at_the_end_of_time(void)
{
    tw_config config = {0};
    random_state = 17;
    for (unsigned level = 1; level < 8; level++) {
        uint64_t step = UINT64_C(1) << 8 * level;
        set_up(256, 1);
        config.start = UINT64_MAX - 6 * step + 1;
        if (level == 7)
            config.start = UINT64_C(250) << 56;
        config.alloc_context = &memory;
        tw_init(&tw, &config);
        for (size_t i = 0; i < LARGE; i++)
            start_ticket(i, UINT64_MAX - random_below(step));
        for (unsigned i = 0; i < 60; i++)
            tw_advance_clock(&tw, UINT64_MAX - 2 * step + 1 + step / 60 * i);
        CHECK(stats().cascaded > LARGE / 2);
        fire_tickets(UINT64_MAX);
        tear_down();
    }
}

static void count_visited(tw_timer *timer, void *context)
{
    (void)timer;
    ++*(size_t *)context;
}

static void ahead_trim(void)
{
    random_state = 18;
    for (unsigned parts = 4; parts < 40; parts += 7) {
        large_bucket large = start_large_bucket(256, 16, 50);
        between_cancel(&large);
        for (unsigned i = 0; i < parts; i++) {
            tw_advance_clock(&tw, large.before +
                                      (large.begin - large.before) * i / parts);
            tw_trim(&tw);
            tw_stats left = stats();
            CHECK(tw_check(&tw));
            CHECK(left.bytes_held <=
                  most_after_trim(left.pending, left.buckets));
            between_start(&large);
        }
        fire_tickets(large.begin * 2);
        tear_down();
    }
}

/* tw_trim packs a bucket with new chunks at its front and at its back. Then the
 * bucket gets enough timers to be large. */
static void ahead_packed(void)
{
    uint64_t begin = 4 * 65536 + 3 * 256, now = 0, before = 0, longest = 0;
    set_up(256, 1);
    for (size_t i = 0; i < 450; i++)
        start_ticket(i, begin + i % 256); /* will be put in front */
    for (size_t i = 450; i < 8450; i++)
        start_ticket(i, begin + 2560 + i * 7 % 50000);
    for (; now < 4 * 65536; now += 50)
        tw_advance_clock(&tw, now);
    for (size_t i = 8450; i < 8850; i++)
        start_ticket(i, begin + i % 256); /* behind */
    for (size_t i = 450; i < 8450; i++)
        tw_cancel(&tw, &tickets[i].timer);
    tw_trim(&tw);
    for (size_t i = 8850; i < 14850; i++)
        start_ticket(i, begin + i % 256);
    for (now = 4 * 65536; now < begin + 256; now++) {
        before = stats().cascaded;
        tw_advance_clock(&tw, now);
        if (stats().cascaded - before > longest)
            longest = stats().cascaded - before;
    }
    CHECK(misplaced == 0 && tw_count(&tw) == 0);
    CHECK(longest <= 2 * BATCH);
    tear_down();
}

static void ahead_foreach_and_drain(void)
{
    random_state = 19;
    large_bucket large = start_large_bucket(256, 16, 65536);
    for (unsigned i = 0; i < 10; i++) {
        size_t visited = 0;
        tw_advance_clock(&tw,
                         large.before + (large.begin - large.before) * i / 10);
        CHECK(tw_foreach(&tw, count_visited, &visited) == LARGE);
        CHECK(visited == LARGE);
    }
    CHECK(tw_drain(&tw, NULL, NULL) == LARGE && tw_check(&tw));
    CHECK(tw_wait(&tw, 0, 99) == 99);
    for (size_t i = 0; i < LARGE; i++)
        start_ticket(i, large.begin + random_below(50));
    fire_tickets(large.begin * 2);
    tear_down();
}

/* A loop that sleeps for tw_wait wakes once per distinct tick. */
static void ahead_wakes_nobody(void)
{
    static bool seen[70000];
    random_state = 20;
    for (unsigned level = 1; level <= 2; level++) {
        uint64_t step = UINT64_C(1) << 8 * level, now = 0;
        size_t distinct = 0, wakes = 0, idle = 0;
        large_bucket large = start_large_bucket(256, 8 * level, step);
        for (size_t i = 0; i < 300; i++) /* keep the loop busy before */
            start_ticket(large.count + i, 1 + i * large.begin / 300);
        memset(seen, 0, sizeof(seen));
        for (size_t i = 0; i < large.count; i++) {
            distinct += !seen[tickets[i].tick - large.begin];
            seen[tickets[i].tick - large.begin] = true;
        }
        while (tw_count(&tw) != 0 && wakes < TICKETS) {
            now += tw_wait(&tw, now, UINT64_MAX);
            idle += tw_advance_clock(&tw, now) == 0;
            wakes++;
        }
        CHECK(stats().cascaded > 0);
        CHECK(idle == 0 && misplaced == 0);
        CHECK(wakes == distinct + 300);
        tear_down();
    }
}

/* Small buckets are left alone. */
static void ahead_not_large(void)
{
    random_state = 21;
    set_up(256, 1);
    for (size_t i = 0; i < 900; i++)
        start_ticket(i, 1024 + random_below(256));
    for (uint64_t now = 0; now < 1024; now += 5)
        tw_advance_clock(&tw, now);
    CHECK(stats().cascaded == 0 || sizeof(void *) < 8);
    fire_tickets(2000);
    tear_down();
}

static const tap_case cases[] = {
    {"cascade: a small bucket with a timer put in front does not move",
     count_small_bucket},
    {"tw_get_stats: counts no bucket after all timers were cancelled",
     count_no_bucket},
    {"promise 13: each call for a large bucket handles as many as its limit",
     limit_calls},
    {"promise 7: a tick beyond 64 bits ends the loop of the synopsis",
     never_ends_the_loop},
    {"promise 7: a tick beyond 64 bits never wakes the loop",
     never_wakes_nobody},
    {"promise 13: overdue timers that restart themselves starve no timer",
     overdue_starves_nobody},
    {"promise 13: polled timers that restart overdue starve no timer",
     overdue_starves_no_poll},
    {"promise 11: a postpone beside a sorted bucket far ahead is one store",
     postpone_beside_sorted_bucket},
    {"tw_check: is false for a moved wheel", moved_is_unsound},
    {"TW_OWNER: returns a const struct for a const timer", owner_of_const},
    {"tw_remaining: returns deadline - now, at least 0, of a pending timer",
     remaining},
    {"promise 13: due timers left fire before timers overdue since",
     left_before_overdue_since},
    {"promise 13: overdue timers left fire before due timers left",
     left_overdue_first},
    {"promise 13: after a finished call overdue timers fire first again",
     finished_leaves_nothing},
    {"promise 13: timers due later count as not left by the call",
     due_later_is_not_left},
    {"promise 13: timers left by several limited calls fire in turn",
     several_generations},
    {"promise 13: timers left by a second limited call fire in its turn",
     due_in_a_later_generation},
    {"promise 13: overdue timers left by several calls fire in turn",
     overdue_generations},
    {"promise 13: a cancelled timer that was left does not fire",
     left_is_cancelled},
    {"promise 13: timers left by tw_poll fire before later overdue timers",
     left_before_overdue_poll},
    {"promise 14: trim: 327 timers of a million keep little memory",
     trim_few_of_a_million},
    {"promise 14: trim: timers in up to thousands of buckets keep little "
     "memory",
     trim_survivors_spread},
    {"promise 14: trim: without memory all timers stay", trim_without_memory},
    {"promise 14: trim: without pending timers no memory is held",
     trim_of_nothing},
    {"promise 14: trim: timers keep their order", trim_keeps_the_order},
    {"promise 14: trim: overdue timers keep their order",
     trim_keeps_overdue_order},
    {"promise 14: trim: frees a reserve", trim_drops_a_reserve},
    {"promise 14: reserve: takes the wheels, 150 bytes per timer and 4 KB",
     reserve_bytes},
    {"promise 14: reserve: one timer up to 2^64 - 1 takes little memory",
     reserve_one},
    {"promise 14: reserve: 100,000 restarts neither fail nor allocate",
     reserve_lasts},
    {"promise 14: reserve: holds with each timer alone in its chunk",
     reserve_lasts_alone},
    {"promise 14: memory of 2 million restarts is bounded",
     restarts_stay_small},
    {"promise 16: a call moves its share of a large bucket", ahead_share},
    {"promise 16: the longest call of a busy loop is short",
     ahead_longest_call},
    {"promise 16: timers started meanwhile keep the order", ahead_started},
    {"promise 16: timers cancelled meanwhile do not fire", ahead_cancelled},
    {"promise 16: timers postponed meanwhile fire in time", ahead_postponed},
    {"promise 16: timers restarted meanwhile fire in order", ahead_restarted},
    {"promise 16: all of these meanwhile keep the order", ahead_all_at_once},
    {"promise 16: moves count towards the limit", ahead_limited},
    {"promise 16: due timers fire before timers move", ahead_after_due},
    {"promise 16: timers fire in time if memory runs out meanwhile",
     ahead_without_memory},
    {"promise 16: timers fire in time if the clock jumps", ahead_jumps},
    {"promise 16: timers move ahead up to 2^64 - 1", ahead_at_the_end_of_time},
    {"promise 16: tw_trim meanwhile keeps little memory", ahead_trim},
    {"promise 16: a bucket that grows large after tw_trim moves ahead",
     ahead_packed},
    {"promise 16: tw_foreach and tw_drain meanwhile see every timer",
     ahead_foreach_and_drain},
    {"promise 16: moves alone never wake the loop", ahead_wakes_nobody},
    {"promise 16: a bucket that can be sorted does not move", ahead_not_large},
};

TAP_MAIN(cases)
