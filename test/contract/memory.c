/* memory.c - promise 9: a static pool, many timers that wait for memory, and
 * calls in the allocator. memory.script has the rest.
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

static tw_timer crowd[4000];
static size_t misplaced; /* timers that did not fire at their deadline */

static void on_crowd(timingwheel *wheel, tw_timer *timer)
{
    misplaced += tw_now(wheel) != tw_deadline(timer);
}

/* While timers wait for memory, a tick at which one of them is due costs at
 * most one attempt to allocate, and moves each of them at most once. */
static void waiting_tries_once(void)
{
    const size_t count = LENGTH(crowd);
    uint64_t now;
    set_up();
    misplaced = 0;
    for (size_t i = 0; i < count; i++) {
        tw_timer_init(&crowd[i], on_crowd);
        if (i % 2 == 0)
            CHECK_EQUAL(tw_start(tw, &crowd[i], 100), TW_OK);
    }
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

TAP_MAIN(cases)
