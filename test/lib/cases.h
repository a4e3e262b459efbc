/* cases.h - a timingwheel `tw`, the timers a to z, and a crowd of numbered
 * timers, for the tests of the contract.
 *
 * A case begins with set_up() and ends with tear_down(). start('a', 100) starts
 * timer a. FIRES(100, "ab") advances the clock to 100, and checks that timer a
 * fired, then timer b, and no other timer. Each timer of the crowd checks its
 * tick and its place in the order when it fires.
 *
 * Includes the header with its implementation, and the heap of heap.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CASES_H
#define CASES_H

#include "heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "random.h"
#include "tap.h"

#include <limits.h>

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static heap memory;
static timingwheel tw;

/* ------------------------------------------------------- the timers a to z */

typedef struct item {
    tw_timer timer;
    char name;
    void (*act)(void); /* in the callback; may be NULL */
} item;

static item items[26];

/* The timers fired in the last call. */
static char fired[64];
static size_t fired_count;

static inline item *named(char name)
{
    return &items[name - 'a'];
}

static inline tw_timer *timer_of(char name)
{
    return &named(name)->timer;
}

static inline void on_fire(timingwheel *wheel, tw_timer *timer)
{
    item *self = TW_OWNER(timer, item, timer);
    if (CHECK(wheel == &tw && fired_count < sizeof fired - 1)) {
        fired[fired_count++] = self->name;
        fired[fired_count] = '\0';
    }
    if (self->act != NULL)
        self->act();
}

/* ------------------------------------------------------------------- crowd */

#define CROWD 5000

typedef struct numbered {
    tw_timer timer;
    uint64_t tick;  /* the tick in which the timer must fire */
    uint64_t order; /* the number of the timer's start, from 1 */
    bool any_place; /* postponed: any place in its tick */
} numbered;

static numbered crowd[CROWD];
static bool crowd_is_idle; /* since set_up */
static uint64_t tick_length;
static uint64_t starts;     /* of crowd timers */
static uint64_t last_tick;  /* of the last fired timer */
static uint64_t last_order; /* of the tick's last timer with a fixed place */
static size_t misplaced;    /* timers fired in a wrong tick or place */

static inline uint64_t tick_of(uint64_t deadline)
{
    return deadline / tick_length + (deadline % tick_length != 0);
}

static inline void on_numbered(timingwheel *wheel, tw_timer *timer)
{
    numbered *self = TW_OWNER(timer, numbered, timer);
    bool is_same = self->tick == last_tick;
    misplaced += tw_now(wheel) / tick_length != self->tick ||
                 self->tick < last_tick ||
                 (is_same && !self->any_place && self->order < last_order);
    if (!is_same || !self->any_place)
        last_order = self->any_place ? 0 : self->order;
    last_tick = self->tick;
}

static inline int start_numbered(size_t i, uint64_t deadline)
{
    int status = tw_start(&tw, &crowd[i].timer, deadline);
    crowd_is_idle = false;
    if (status == TW_OK) {
        crowd[i].tick = tick_of(deadline);
        crowd[i].order = ++starts;
        crowd[i].any_place = false;
    }
    return status;
}

static inline int postpone_numbered(size_t i, uint64_t deadline)
{
    int status = tw_postpone(&tw, &crowd[i].timer, deadline);
    if (status == TW_OK) {
        crowd[i].tick = tick_of(deadline);
        crowd[i].any_place = true;
    }
    return status;
}

/* Checks that every pending timer fires by `now`, in its tick and in order. */
static inline void fire_all(uint64_t now)
{
    size_t pending = tw_count(&tw);
    CHECK(tw_check(&tw));
    CHECK_EQUAL(tw_advance_clock(&tw, now), pending);
    CHECK(misplaced == 0 && tw_count(&tw) == 0);
}

/* The random number below `limit` that belongs to i. */
static inline uint64_t scatter(uint64_t i, uint64_t limit)
{
    uint64_t state = i;
    return random_below(&state, limit);
}

/* ------------------------------------------- beginning and end of cases --- */

/* Begins a case with a fresh timingwheel and idle timers. */
static inline void set_up_with(uint64_t tick, uint64_t clock,
                               uint32_t wheel_size, size_t max_pending)
{
    static heap empty_heap;
    static item idle;
    static numbered none;
    tw_config config = {tick, clock, wheel_size, max_pending, &memory};
    memory = empty_heap;
    CHECK_EQUAL(tw_init(&tw, &config), TW_OK);
    for (int i = 0; i < 26; i++) {
        items[i] = idle;
        items[i].name = (char)('a' + i);
        tw_timer_init(&items[i].timer, on_fire);
    }
    for (size_t i = 0; i < CROWD && !crowd_is_idle; i++) {
        crowd[i] = none;
        tw_timer_init(&crowd[i].timer, on_numbered);
    }
    crowd_is_idle = true;
    tick_length = tick;
    starts = last_tick = last_order = 0;
    misplaced = 0;
    fired_count = 0;
    fired[0] = '\0';
}

static inline void set_up(void)
{
    set_up_with(1, 0, 0, 0);
}

/* Ends a case: the timingwheel is sound and gives all memory back. */
static inline void tear_down(void)
{
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
    CHECK_EQUAL(memory.blocks, 0);
    CHECK_EQUAL(memory.bytes, 0);
    CHECK_EQUAL(memory.strays, 0);
}

/* ------------------------------------------------------- steps of the cases */

static inline int start(char name, uint64_t deadline)
{
    return tw_start(&tw, timer_of(name), deadline);
}

static inline int postpone(char name, uint64_t deadline)
{
    return tw_postpone(&tw, timer_of(name), deadline);
}

static inline bool cancel(char name)
{
    return tw_cancel(&tw, timer_of(name));
}

static inline tw_state state_of(char name)
{
    return tw_timer_state(timer_of(name));
}

/* Starts timers a, b and so on. */
static inline void start_each(const uint64_t *deadlines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_EQUAL(start((char)('a' + i), deadlines[i]), TW_OK);
}

#define START_EACH(...)                         \
    start_each((const uint64_t[]){__VA_ARGS__}, \
               LENGTH(((const uint64_t[]){__VA_ARGS__})))

static inline bool advance_fires(uint64_t now, const char *expected, int line)
{
    fired_count = 0;
    fired[0] = '\0';
    size_t count = tw_advance_clock(&tw, now);
    if (strcmp(fired, expected) == 0 && count == fired_count && tw_check(&tw))
        return true;
    printf("# line %d: fired \"%s\", not \"%s\"\n", line, fired, expected);
    return false;
}

#define FIRES(now, expected) CHECK(advance_fires((now), (expected), __LINE__))

static inline tw_stats stats(void)
{
    tw_stats s;
    tw_get_stats(&tw, &s);
    return s;
}

#endif
