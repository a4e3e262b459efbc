/* reserve.c - promises 14 and 15: reserve, trim, starts without memory.
 *
 *     reserve [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

/* ----------------------------------------------------------- promise 14 --- */

static void never_one_block_a_timer(void)
{
    begin();
    random_state = 3;
    deal_tickets(60000);
    CHECK(memory.calls < TICKETS / 50);
    end();
}

static void cancel_allocates_nothing(void)
{
    begin();
    random_state = 3;
    deal_tickets(60000);
    size_t calls = memory.calls;
    for (size_t i = 0; i < TICKETS; i += 2)
        tw_postpone(&tw, &tickets[i].timer, 100000);
    for (size_t i = 0; i < TICKETS; i++)
        CHECK(tw_cancel(&tw, &tickets[i].timer));
    CHECK(memory.calls == calls);
    end();
}

static void reserve_then_no_malloc(void)
{
    begin();
    CHECK(tw_reserve(&tw, TICKETS, 100000) == TW_OK);
    size_t calls = memory.calls;
    CHECK(calls > 0);
    random_state = 3;
    deal_tickets(100000);
    CHECK(tw_advance_clock(&tw, 100000) == TICKETS);
    CHECK(memory.calls == calls);
    CHECK(misplaced == 0);
    end();
}

static void reserve_again_is_free(void)
{
    begin();
    CHECK(tw_reserve(&tw, 1000, 100000) == TW_OK);
    size_t calls = memory.calls;
    CHECK(tw_reserve(&tw, 1000, 100000) == TW_OK);
    CHECK(tw_reserve(&tw, 10, 1000) == TW_OK);
    CHECK(tw_reserve(&tw, 0, 0) == TW_OK);
    CHECK(memory.calls == calls);
    CHECK(tw_reserve(&tw, 2000, 100000) == TW_OK);
    CHECK(memory.calls > calls);
    end();
}

/* A reserve counts the pending timers. */
static void reserve_as_they_grow(void)
{
    set_up(1, 0, 4, 0);
    CHECK(tw_reserve(&tw, TICKETS, 100000) == TW_OK);
    size_t at_once = stats().bytes_held;
    end();
    set_up(1, 0, 4, 0);
    random_state = 9;
    for (size_t i = 0; i < TICKETS; i++) {
        CHECK(tw_reserve(&tw, tw_count(&tw) + 1, 100000) == TW_OK);
        size_t calls = memory.calls;
        tw_timer_init(&tickets[i].timer, NULL);
        CHECK(tw_start(&tw, &tickets[i].timer, random_below(100001)) == TW_OK);
        CHECK(memory.calls == calls);
    }
    CHECK(stats().bytes_held <= at_once + at_once / 2);
    size_t calls = memory.calls;
    CHECK(tw_advance_clock(&tw, 100000) == TICKETS);
    CHECK(tw_reserve(&tw, TICKETS, 100000) == TW_OK);
    CHECK(memory.calls == calls);
    end();
}

static void reserve_all_of_time(void)
{
    set_up(1, 0, 2, 0);
    CHECK(tw_reserve(&tw, 5, UINT64_MAX) == TW_OK);
    size_t calls = memory.calls;
    start('a', UINT64_MAX);
    start('b', 0);
    start('c', UINT64_C(1) << 40);
    start('d', 3);
    start('e', UINT64_C(1) << 63);
    FIRES(UINT64_MAX, "bdcea");
    CHECK(memory.calls == calls);
    end();
}

static void reserve_changes_no_timer(void)
{
    begin();
    start('a', 70);
    start('b', 70000);
    CHECK(tw_reserve(&tw, 500, 1000000) == TW_OK);
    CHECK(tw_count(&tw) == 2);
    CHECK(next() == 70);
    FIRES(70000, "ab");
    end();
}

static void trim_gives_everything_back(void)
{
    begin();
    random_state = 4;
    deal_tickets(60000);
    CHECK(tw_advance_clock(&tw, 60000) == TICKETS);
    CHECK(memory.bytes > 0);
    tw_trim(&tw);
    CHECK(memory.bytes == 0);
    CHECK(stats().bytes_held == 0);
    CHECK(start('a', 70000) == TW_OK); /* it works as before */
    FIRES(70000, "a");
    end();
}

static void trim_spares_timers(void)
{
    begin();
    start('a', 0);
    random_state = 4;
    deal_tickets(60000);
    start('b', 50000);
    for (size_t i = 0; i < TICKETS; i++)
        tw_cancel(&tw, &tickets[i].timer);
    size_t bytes = memory.bytes;
    tw_trim(&tw);
    CHECK(memory.bytes < bytes);
    CHECK(tw_count(&tw) == 2);
    FIRES(60000, "ab");
    end();
}

/* A timer in each bucket. The reserve has few chunks more than the timers need,
 * so tw_trim does not touch the heap. */
static void trim_of_a_full_slab(void)
{
    begin();
    CHECK(tw_reserve(&tw, 100, 100) == TW_OK);
    for (size_t i = 0; i < 100; i++) {
        tw_timer_init(&tickets[i].timer, NULL);
        CHECK(tw_start(&tw, &tickets[i].timer, 1 + i) == TW_OK);
    }
    size_t calls = memory.calls;
    tw_trim(&tw);
    CHECK(memory.calls == calls);
    end();
}

static void trim_of_nothing(void)
{
    begin();
    tw_trim(&tw);
    CHECK(tw_reserve(&tw, 100, 1000) == TW_OK);
    tw_trim(&tw);
    CHECK(memory.bytes == 0); /* a reserve included */
    end();
}

/* ----------------------------------------------------------- promise 15 --- */

static void start_without_memory(void)
{
    begin();
    heap_fail(&memory, 1, true);
    remember();
    CHECK(start('a', 10) == TW_ENOMEM);
    CHECK(start_within('a', 10, 20) == TW_ENOMEM);
    CHECK(postpone('a', 10) == TW_ENOMEM);
    CHECK(start('a', 0) == TW_ENOMEM);
    CHECK(tw_reserve(&tw, 5, 5) == TW_ENOMEM);
    before.memory.calls = memory.calls;
    CHECK(unchanged());
    heap_fail(&memory, 0, false);
    CHECK(start('a', 10) == TW_OK);
    FIRES(10, "a");
    end();
}

static void restart_without_memory(void)
{
    begin();
    start('a', 10);
    heap_fail(&memory, 1, true);
    remember();
    CHECK(start('a', 100000) == TW_ENOMEM); /* needs a wheel */
    before.memory.calls = memory.calls;
    CHECK(unchanged());
    heap_fail(&memory, 0, false);
    CHECK(state_of('a') == TW_PENDING);
    FIRES(10, "a");
    end();
}

static void postponing_needs_no_memory(void)
{
    begin();
    start('a', 10);
    heap_fail(&memory, 1, true);
    CHECK(postpone('a', 100000) == TW_OK);
    FIRES(99999, ""); /* it cannot be moved, and is not lost */
    FIRES(100000, "a");
    end();
}

/* An overdue timer that cannot start again for want of memory stays overdue. */
static void overdue_postponed_without_memory(void)
{
    begin_at(100);
    start('a', 90);
    start('b', 91);
    heap_fail(&memory, 1, true);
    CHECK(postpone('a', 100000) == TW_ENOMEM);
    CHECK(tw_deadline(timer_of('a')) == 90);
    FIRES(100, "ab");
    heap_fail(&memory, 0, false);
    end();
}

static void put_off_the_others(letter *self)
{
    (void)self;
    heap_fail(&memory, 1, true);
    CHECK(postpone('c', 900) == TW_OK);
    CHECK(postpone('d', 100000) == TW_OK);
}

/* The timers are in a sorted bucket that fires, and cannot leave the bucket. */
static void sorted_postponed_without_memory(void)
{
    begin();
    for (char name = 'a'; name <= 'f'; name++)
        start(name, 520 + (uint64_t)(name - 'a') * 2);
    when_fired('a', put_off_the_others, 'a', 0);
    FIRES(521, "a");
    FIRES(600, "bef");
    CHECK(tw_count(&tw) == 2);
    FIRES(899, "");
    FIRES(900, "c");
    heap_fail(&memory, 0, false);
    FIRES(99999, "");
    FIRES(100000, "d");
    end();
}

static void reserved_one_by_one(void)
{
    begin();
    CHECK(tw_reserve(&tw, 20000, 100000) == TW_OK);
    size_t at_once = stats().bytes_held;
    end();
    begin();
    for (size_t i = 1; i <= 20000; i++)
        CHECK(tw_reserve(&tw, i, 100000) == TW_OK);
    CHECK(stats().bytes_held <= at_once + at_once / 2);
    end();
}

#if UINTPTR_MAX > UINT32_MAX
static void on_rearm(timingwheel *wheel, tw_timer *timer)
{
    uint64_t deadline = tw_after(tw_now(wheel), 1 + random_below(60000));
    CHECK(tw_start(wheel, timer, deadline) == TW_OK);
}

/* What the README says of memory, on 64 bits. */
static void memory_of_few_and_many(void)
{
    random_state = 5;
    CHECK(sizeof(tw_timer) == 24 && sizeof(timingwheel) <= 1500);
    begin();
    start('a', 30000);
    CHECK(stats().bytes_held <= 18000);
    end();
    begin();
    for (size_t i = 0; i < 100; i++) {
        tw_timer_init(&tickets[i].timer, on_rearm);
        on_rearm(&tw, &tickets[i].timer);
    }
    CHECK(tw_advance_clock(&tw, 3000000) > 1000);
    CHECK(stats().bytes_held <= 128000);
    tw_drain(&tw, NULL, NULL);
    end();
    begin();
    tw_timer *many = (tw_timer *)calloc(1000000, sizeof *many);
    if (!CHECK(many != NULL))
        return;
    for (size_t i = 0; i < 1000000; i++)
        CHECK(tw_start(&tw, &many[i], 1 + random_below(60000)) == TW_OK);
    CHECK(stats().bytes_held / 1000000 + sizeof(tw_timer) <= 36);
    end();
    free(many);
}
#endif

static void put_off_three(letter *self)
{
    uint64_t other = 0;
    (void)self;
    heap_fail(&memory, 1, true);
    do /* until no chunk is left */
        tw_timer_init(&tickets[other].timer, NULL);
    while (tw_start(&tw, &tickets[other].timer, 5000 + 256 * other) == TW_OK &&
           ++other < 100);
    CHECK(other < 100);
    CHECK(postpone('c', 900) == TW_OK);
    CHECK(postpone('d', 900) == TW_OK);
    CHECK(postpone('e', 900) == TW_OK);
}

/* Three timers c, d and e could not move, and share a tick. Timers that a poll
 * left fire before a timer started overdue since, and after timers started
 * overdue before. */
static void overdue_beside_stuck(void)
{
    begin();
    for (char name = 'a'; name <= 'f'; name++)
        start(name, 520 + (uint64_t)(name - 'a') * 2);
    when_fired('a', put_off_three, 'a', 0);
    FIRES(521, "a");
    FIRES(600, "bf");
    heap_fail(&memory, 0, false);
    start('b', 550);
    heap_fail(&memory, 1, true);
    CHECK(tw_poll(&tw, 1000) == timer_of('b'));
    CHECK(tw_poll(&tw, 1000) == timer_of('c'));
    heap_fail(&memory, 0, false);
    start('a', 850);
    CHECK(tw_poll(&tw, 1000) == timer_of('d'));
    CHECK(tw_poll(&tw, 1000) == timer_of('e'));
    CHECK(tw_poll(&tw, 1000) == timer_of('a'));
    CHECK(tw_poll(&tw, 1000) == NULL);
    end();
}

static void too_many_to_reserve(void)
{
    begin();
    start('a', 10);
    remember();
    CHECK(tw_reserve(&tw, SIZE_MAX, 100) == TW_ENOMEM);
    CHECK(tw_reserve(&tw, SIZE_MAX / 2, 100) == TW_ENOMEM);
    CHECK(unchanged());
    FIRES(10, "a");
    end();
}

/* Ten timers of the last ten ticks up to `horizon` need no more memory. With
 * `above`, a coarser wheel exists before the reserve. */
static void reserve_up_to(uint64_t horizon, uint64_t above)
{
    const uint64_t now = 5000000, tick = 1000;
    size_t started = 0;
    set_up(tick, now, 4, 0);
    if (above != 0)
        start('z', now + above);
    CHECK(tw_reserve(&tw, 11, now + tick * horizon) == TW_OK);
    CHECK(tw.wheels[1] != NULL || horizon < 8);
    CHECK(tw.wheels[1] == NULL || horizon > 7 || above != 0);
    size_t calls = memory.calls;
    for (; started < 10 && started <= horizon; started++)
        start((char)('a' + started), now + tick * (horizon - started));
    CHECK(memory.calls == calls);
    clear_log();
    CHECK(tw_advance_clock(&tw, now + tick * 100) == started + (above != 0));
    for (size_t i = 1; i < fired_count; i++)
        CHECK(fired_at[i - 1] <= fired_at[i]);
    CHECK(memory.calls == calls);
    end();
}

static void reserve_with_long_ticks(void)
{
    static const uint64_t horizons[] = {0,  1,  3,  7,  8,  15, 16,
                                        31, 32, 33, 63, 64, 100};
    for (size_t i = 0; i < sizeof horizons / sizeof *horizons; i++) {
        reserve_up_to(horizons[i], 0);
        reserve_up_to(horizons[i], 8000);
        reserve_up_to(horizons[i], 40000);
    }
}

/* Each allocation of the reserve fails in turn: wheels 0, 1 and 3, a slab. */
static void reserve_or_nothing(void)
{
    for (size_t fail_at = 1; fail_at <= 5; fail_at++) {
        set_up(1, 0, 4, 0);
        start('a', 40); /* in wheel 2 */
        size_t held = stats().bytes_held, blocks = memory.blocks;
        heap_fail(&memory, fail_at, false);
        int status = tw_reserve(&tw, 100, 200);
        CHECK(status == (fail_at < 5 ? TW_ENOMEM : TW_OK));
        if (status == TW_OK) {
            CHECK(tw.chunks >= 100);
        } else {
            CHECK(stats().bytes_held == held && memory.blocks == blocks);
            CHECK(tw.wheels[2] != NULL && tw.wheels[0] == NULL);
        }
        CHECK(tw_check(&tw));
        FIRES(40, "a");
        end();
    }
}

static size_t bytes_of_reserve(uint32_t wheel_size, size_t timers,
                               uint64_t horizon)
{
    set_up(1, 0, wheel_size, 0);
    CHECK(tw_reserve(&tw, timers, horizon) == TW_OK);
    size_t bytes = stats().bytes_held;
    end();
    return bytes;
}

static size_t in_kb(size_t bytes)
{
    return (bytes + 500) / 1000;
}

/* The numbers are those of the comment above tw_reserve, in KB of 1,000 bytes.
 * A 32-bit machine needs less. */
static void reserve_as_in_the_table(void)
{
    static const uint64_t horizons[] = {60000, 3600000, 31536000000,
                                        3153600000000, UINT64_MAX};
    static const uint32_t sizes[] = {8, 16, 64, 256};
    static const size_t one[4][5] = {{5, 7, 11, 12, 18},
                                     {7, 9, 13, 15, 22},
                                     {14, 19, 28, 32, 49},
                                     {35, 52, 85, 102, 135}};
    static const size_t more[5] = {0, 1, 14, 147, 1479};
    bool is_64_bit = sizeof(void *) == 8;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 5; j++) {
            size_t kb = in_kb(bytes_of_reserve(sizes[i], 1, horizons[j]));
            CHECK(is_64_bit ? kb == one[i][j] : kb <= one[i][j]);
        }
    size_t timers = 1, least = bytes_of_reserve(256, 1, 60000);
    for (size_t i = 0; i < 5; i++, timers *= 10) {
        size_t kb = in_kb(bytes_of_reserve(256, timers, 60000) - least);
        CHECK(is_64_bit ? kb == more[i] : kb <= more[i]);
    }
}

static const tap_case reserve_cases[] = {
    {"promise 14: no start allocates a block per timer",
     never_one_block_a_timer},
    {"promise 14: cancel and postpone allocate nothing",
     cancel_allocates_nothing},
    {"promise 14: nothing is allocated after tw_reserve",
     reserve_then_no_malloc},
    {"promise 14: a reserve takes what the table of tw_reserve says",
     reserve_as_in_the_table},
    {"promise 14: a reserve that is already there allocates nothing",
     reserve_again_is_free},
    {"promise 14: a reserve for one more before each start costs at most half "
     "more",
     reserve_as_they_grow},
    {"promise 14: a reserve up to 2^64 - 1 holds", reserve_all_of_time},
    {"promise 14: tw_reserve changes no timer", reserve_changes_no_timer},
    {"promise 14: tw_trim frees all memory if nothing is pending",
     trim_gives_everything_back},
    {"promise 14: tw_trim keeps pending timers", trim_spares_timers},
    {"promise 14: tw_trim leaves slabs alone that are nearly full",
     trim_of_a_full_slab},
    {"promise 14: tw_trim frees a reserve", trim_of_nothing},
    {"promise 15: without memory a start changes nothing",
     start_without_memory},
    {"promise 15: without memory a pending timer stays as it was",
     restart_without_memory},
    {"promise 15: postponing to a later time needs no memory",
     postponing_needs_no_memory},
    {"promise 14: reserves one by one cost at most half more than one reserve",
     reserved_one_by_one},
#if UINTPTR_MAX > UINT32_MAX
    {"promise 14: one, a hundred and a million timers take the memory "
     "documented",
     memory_of_few_and_many},
#endif
    {"promise 15: overdue timers postponed without memory stay overdue",
     overdue_postponed_without_memory},
    {"promise 15: timers postponed in a sorted bucket without memory fire in "
     "time",
     sorted_postponed_without_memory},
    {"promise 15: timers left by a poll without memory fire before overdue "
     "timers",
     overdue_beside_stuck},
    {"promise 15: a reserve for more timers than memory can hold is refused",
     too_many_to_reserve},
    {"promise 14: a reserve with long ticks has every wheel up to its horizon",
     reserve_with_long_ticks},
    {"promise 15: a reserve succeeds or changes nothing", reserve_or_nothing},
};

TAP_MAIN(reserve_cases)
