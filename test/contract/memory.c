/* memory.c - promise 9: a static pool, and timers that wait because allocations
 * fail, one after the other or all.
 *
 *     memory [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/heap.h"

/* In place of the heap, if there is one: a pool of wheels without gaps. */
static unsigned char *pool;
static size_t pool_left;

static void *pool_malloc(size_t size, void *context)
{
    if (pool == NULL)
        return heap_malloc(size, context);
    return size > pool_left ? NULL : pool + (pool_left -= size);
}

#undef TW_MALLOC
#undef TW_FREE
#define TW_MALLOC(size, context) pool_malloc((size), (context))
#define TW_FREE(pointer, context) \
    (pool == NULL ? heap_free((pointer), (context)) : (void)(pointer))

#include "cases.h"
#include "../lib/random.h"

/* The random number below `limit` that belongs to i. */
static uint64_t scatter(uint64_t i, uint64_t limit)
{
    return random_below(&i, limit);
}

/* A static pool of n wheels, aligned for uint64_t, serves wheel_size^n ticks,
 * whatever the clock. Then TW_MALLOC has no byte left. */
static void static_pool(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2) {
        size_t bytes = TW_WHEEL_BYTES(size);
        uint64_t reach = size;
        CHECK(bytes % sizeof(uint64_t) == 0);
        for (size_t n = 1; n <= 3; n++, reach *= size) {
            unsigned char *block = (unsigned char *)malloc(n * bytes + 64);
            if (!CHECK(block != NULL))
                return;
            for (size_t offset = 0; offset < 64; offset += sizeof(uint64_t)) {
                uint64_t clock = scatter(offset + n, 4 * reach);
                set_up_with(1, clock, size, 0);
                LET('C', clock + reach);
                LET('R', reach);
                pool = block + offset;
                pool_left = n * bytes;
                memset(block, 0x5a, n * bytes + 64);
                RUN("start a C; start c C+R");
                CHECK(pool_left == 0 || stats().wheels < n);
                RUN("start b C; advance C: a b; advance C+R: c");
                for (size_t i = 0; i < 64; i++)
                    CHECK_EQUAL(block[i < offset ? i : i + n * bytes], 0x5a);
                tear_down();
                pool = NULL;
            }
            free(block);
        }
    }
}

/* ------------------------------------------------ allocations that fail --- */

#define CROWD 4000

static tw_timer crowd[CROWD];
static size_t misplaced; /* timers that did not fire at their deadline */

static void on_crowd(timingwheel *wheel, tw_timer *timer)
{
    misplaced += tw_now(wheel) != tw_deadline(timer);
}

static void set_up_crowd(uint64_t clock, uint32_t wheel_size)
{
    set_up_with(1, clock, wheel_size, 0);
    for (size_t i = 0; i < CROWD; i++)
        tw_timer_init(&crowd[i], on_crowd);
    misplaced = 0;
}

static void start(size_t i, uint64_t deadline)
{
    CHECK_EQUAL(tw_start(tw, &crowd[i], deadline), TW_OK);
}

/* One timer in each wheel, restarts, and all wake-ups in turn. */
static void play_starts(void)
{
    for (unsigned i = 0; i < 60; i++)
        start(i, tw_now(tw) + (UINT64_C(3) << i));
    for (unsigned i = 0; i < 60; i++)
        start(i * 7 % 60, tw_now(tw) + (UINT64_C(7) << i));
    for (unsigned i = 0; i < 30; i++) {
        uint64_t next = tw_now(tw);
        (void)tw_next_deadline(tw, &next);
        (void)tw_advance_clock(tw, next);
    }
}

/* 200 timers at any distance, some of them restarted, postponed, cancelled or
 * moved. */
static void play_changes(void)
{
    for (uint64_t i = 0, state = 1; i < 600; i++) {
        uint64_t deadline = tw_after(tw_now(tw), random_magnitude(&state));
        tw_timer *timer = &crowd[random_below(&state, 200)];
        if (i < 200 || i % 4 == 0)
            start(i < 200 ? i : i % 200, deadline);
        else if (i % 4 == 1)
            CHECK_EQUAL(tw_postpone(tw, timer, deadline), TW_OK);
        else if (i % 4 == 2)
            (void)tw_cancel(tw, timer);
        else if (tw_is_pending(timer) && !tw_is_pending(&crowd[200 + i]))
            tw_move(tw, timer, &crowd[200 + i]);
        if (i % 16 == 0)
            (void)tw_advance_clock(tw, tw_after(tw_now(tw), i * i));
    }
}

/* A large bucket that moves ahead, in a far wheel, and timers that start
 * meanwhile. */
static void play_large_bucket(void)
{
    const uint64_t far = UINT64_C(1) << 48;
    for (size_t i = 0; i < 600; i++)
        start(i, far + scatter(i, 3000));
    for (uint64_t now = far - (far >> 2); now < far; now += far >> 8) {
        (void)tw_advance_clock_limit(tw, now, 200);
        start(600 + (size_t)(now >> 40) % 100, far + scatter(now, 3000));
    }
}

typedef struct row {
    const char *name;
    void (*play)(void);
    uint64_t clock;
} row;

static const row rows[] = {
    {"promise 9: starts in all wheels, an allocation fails", play_starts, 0},
    {"promise 9: the same with a clock far from 0", play_starts, 123456789},
    {"promise 9: 200 timers in order and on time, an allocation fails",
     play_changes, 0},
    {"promise 9: a large bucket, an allocation fails", play_large_bucket, 0},
};

/* In run n, the nth allocation fails, once alone and once with all later ones,
 * so that run 1 has no memory at all. Timers start and fire in time and in
 * order all the same. */
static void run_row(void)
{
    static const uint32_t sizes[] = {2, 4, 16, 256};
    for (size_t i = 0; i < 2 * LENGTH(sizes); i++) {
        size_t nth = 1;
        for (bool has_failed = true; has_failed; nth++) {
            set_up_crowd(rows[tap_case_index].clock, sizes[i / 2]);
            heap_fail(memory, nth, i % 2 != 0);
            rows[tap_case_index].play();
            has_failed = memory->failures != 0;
            CHECK_EQUAL(stats().bytes, memory->bytes);
            if (nth % 2 == 0)
                heap_fail(memory, 0, false);
            size_t pending = tw_count(tw);
            CHECK(tw_check(tw));
            CHECK_EQUAL(tw_advance_clock(tw, UINT64_MAX), pending);
            CHECK(misplaced == 0 && tw_count(tw) == 0);
            tear_down();
        }
        CHECK(nth > 2); /* an allocation could fail */
    }
}

/* While timers wait for memory, a tick at which one of them is due costs at
 * most one attempt to allocate, and moves each of them at most once. */
static void waiting_tries_once(void)
{
    const size_t count = CROWD;
    uint64_t now;
    set_up_crowd(0, 0);
    for (size_t i = 0; i < count; i += 2)
        start(i, 100);
    heap_fail(memory, 1, true);
    for (size_t i = 0; i < count; i++)
        (void)(i % 2 == 0 ? tw_postpone : tw_start)(tw, &crowd[i],
                                                    1000000 + 1000 * i);
    size_t before = memory->failures;
    CHECK(tw_advance_clock(tw, 100) == 0 && memory->failures <= before + 1);
    for (size_t i = 0; i < 2 * count && tw_next_deadline(tw, &now); i++) {
        size_t tried = memory->failures, pending = tw_count(tw);
        uint64_t moved = stats().cascaded;
        CHECK(tw_advance_clock(tw, now) <= 1);
        CHECK(memory->failures - tried <= 1);
        CHECK(stats().cascaded - moved <= pending);
    }
    CHECK(misplaced == 0 && tw_count(tw) == 0);
    tear_down();
}

/* ----------------------------------------------- calls in the allocator --- */

static bool is_inside; /* TW_MALLOC */
static size_t accepted;

static void visit_nothing(tw_timer *timer, void *context)
{
    (void)timer, (void)context;
}

/* Makes each call that needs or moves timers, and refuses no memory. */
static bool calls_back(void)
{
    if (is_inside)
        return false;
    is_inside = true;
    static const uint64_t deadlines[] = {60, 100000000, 0}; /* in a wheel, in
                                            no wheel yet, and overdue */
    for (size_t i = 0; i < LENGTH(deadlines); i++)
        accepted += tw_start(tw, timer_of('p'), deadlines[i]) != TW_EBUSY;
    accepted += tw_start(tw, timer_of('a'), 70) != TW_EBUSY; /* pending */
    accepted += tw_postpone(tw, timer_of('p'), 60) != TW_EBUSY;
    accepted += tw_postpone(tw, timer_of('a'), 70) != TW_EBUSY;
    accepted += tw_cancel(tw, timer_of('a'));
    tw_move(tw, timer_of('a'), timer_of('p'));
    accepted += tw_start_within(tw, timer_of('p'), 60, 64) != TW_EBUSY;
    accepted += tw_start_after(tw, timer_of('p'), 0, 60) != TW_EBUSY;
    accepted += tw_postpone_after(tw, timer_of('a'), 0, 70) != TW_EBUSY;
    accepted += tw_reserve(tw, 100000000) == TW_OK;
    accepted += tw_advance_clock(tw, 50) != 0;
    accepted += tw_advance_clock_limit(tw, 50, 1) != 0;
    accepted += tw_poll(tw, 50) != NULL;
    accepted += tw_foreach(tw, visit_nothing, NULL) != 0;
    accepted += tw_drain(tw, NULL, NULL) != 0;
    tw_trim(tw);
    tw_destroy(tw);
    is_inside = false;
    return false;
}

static void allocator_calls_back(void)
{
    set_up();
    RUN("start a 50, b 50");
    memory->refuses = calls_back;
    accepted = 0;
    RUN("start c 100000; allocations = 2; reserve 2^64-1; allocations = 8");
    memory->refuses = NULL;
    tw_move(tw, timer_of('p'), timer_of('z'));
    CHECK_EQUAL(accepted, 0);
    RUN("count = 3; state(z) = idle; cancel b; advance 50: a");
    RUN("advance 100000: c");
    tear_down();
}

static const tap_case cases[] = {
    {"TW_WHEEL_BYTES: a static pool of n wheels serves wheel_size^n ticks",
     static_pool},
    {"promise 9: a tick tries once for all timers that wait for memory",
     waiting_tries_once},
    {"TW_MALLOC must not use the timingwheel: calls are refused or ignored",
     allocator_calls_back},
};

TAP_MAIN_ROWS(rows, run_row, cases)
