/* ahead.c - limits of moving buckets ahead of time, of sorting, of sweeping
 * chunks, and of packing memory.
 *
 *     ahead [CASE...]
 *
 * The wheels have 256 steps per turn. The large buckets are in wheel 1, with
 * steps of 256 ticks, unless a case says otherwise. TW_DEBUG is defined: a
 * failed assertion ends the program.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/heap.h"

#define TW_STATIC
#define TW_DEBUG
#define TW_ASSERT(expr) must_hold(expr)
static void must_hold(bool rule);
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

static void must_hold(bool rule)
{
    if (!rule)
        abort();
}

#define STEP 256
#define LARGE 2400 /* timers: 200 chunks on 64 bits, 600 on 32 bits */
#define TIMERS 8000

typedef struct item {
    tw_timer timer;
    uint64_t number; /* position in start order; 0: any place in its tick */
    uint64_t due;    /* the tick in which the timer fires */
} item;

static timingwheel tw;
static heap memory;
static item items[TIMERS];
static uint64_t starts; /* since set_up */

/* Counts of firings since set_up. */
static struct {
    uint64_t timers;
    uint64_t wrong;  /* timers fired in a wrong tick */
    uint64_t tick;   /* of the last fired timer */
    uint64_t number; /* of the last fired timer */
    uint64_t swaps;  /* timers fired behind a later timer in order */
} fired;

static void note(timingwheel *wheel, tw_timer *timer)
{
    const item *it = TW_OWNER(timer, item, timer);
    fired.timers++;
    fired.wrong += wheel->clock_tick != it->due;
    fired.swaps +=
        it->due < fired.tick ||
        (it->due == fired.tick && it->number != 0 && it->number < fired.number);
    if (it->due != fired.tick || it->number != 0)
        fired.number = it->number;
    fired.tick = it->due;
}

static void set_up_with(tw_config config)
{
    static const heap fresh;
    memory = fresh;
    config.alloc_context = &memory;
    CHECK(tw_init(&tw, &config) == TW_OK);
    for (size_t i = 0; i < TIMERS; i++)
        tw_timer_init(&items[i].timer, note);
    memset(&fired, 0, sizeof(fired));
    starts = 0;
}

static void set_up_at(uint64_t start)
{
    tw_config config = {0};
    config.start = start;
    set_up_with(config);
}

static void set_up(void)
{
    set_up_at(0);
}

/* Checks the firings, and that destroying the wheel frees all memory. */
static void tear_down(void)
{
    CHECK(tw_check(&tw));
    CHECK(fired.wrong == 0 && fired.swaps == 0);
    tw_destroy(&tw);
    CHECK(memory.blocks == 0 && memory.bytes == 0 && memory.strays == 0);
}

static int start(size_t i, uint64_t tick)
{
    int status = tw_start(&tw, &items[i].timer, tick);
    if (status == TW_OK) {
        items[i].due = tick;
        items[i].number = ++starts;
    }
    return status;
}

/* Starts `count` timers for the ticks from `first` to before first + span, each
 * tick several times. */
static void start_many(size_t from, size_t count, uint64_t first, uint64_t span)
{
    for (size_t i = 0; i < count; i++)
        CHECK(start(from + i, first + i * UINT64_C(7919) % span) == TW_OK);
}

static void cancel(size_t i)
{
    CHECK(tw_cancel(&tw, &items[i].timer));
}

static uint64_t cascaded(void)
{
    tw_stats stats;
    tw_get_stats(&tw, &stats);
    return stats.cascaded;
}

/* Returns the number of chunks in buckets. */
static size_t chunks_in_use(void)
{
    tw_stats stats;
    tw_get_stats(&tw, &stats);
    return (stats.bytes_used - stats.wheels * twi_wheel_bytes(&tw)) /
           TWI_CHUNK_BYTES;
}

/* Fires all timers, and moves the clock to each deadline and no further. */
static void fire_all(void)
{
    uint64_t next, calls = 0;
    while (tw_next_deadline(&tw, &next) && calls++ < 1000000)
        tw_advance_clock(&tw, next);
    CHECK(tw_count(&tw) == 0);
}

/* ----------------------------------------------------- in proportion --- */

/* `parts` of `whole` parts of `timers` have moved, give or take `chunks`. */
static bool has_moved(uint64_t parts, uint64_t whole, uint64_t timers,
                      uint64_t chunks)
{
    uint64_t slack = chunks * TWI_SLOTS;
    uint64_t exact = timers / whole * parts + timers % whole * parts / whole;
    return cascaded() <= exact + slack && cascaded() + slack >= exact;
}

/* Tick by tick: after each call, the share of moved timers is the share of time
 * passed, within one batch. */
static void tick_by_tick(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    tw_advance_clock(&tw, 3 * STEP);
    CHECK(cascaded() == 0);
    for (uint64_t i = 1; i < STEP; i++) {
        uint64_t before = cascaded();
        CHECK(tw_advance_clock(&tw, 3 * STEP + i) == 0);
        CHECK(has_moved(i, STEP, LARGE, TWI_BATCH + 1));
        CHECK(cascaded() - before <= (TWI_BATCH + 4) * TWI_SLOTS);
        CHECK(tw_check(&tw));
    }
    fire_all();
    CHECK(fired.timers == LARGE);
    tear_down();
}

/* A call after half of the time left moves half of the timers left, for every
 * bucket of the wheel. */
static void by_halves(void)
{
    for (uint64_t step = 4; step <= 512; step = step == 4 ? 511 : step + 1) {
        set_up_at((step - 4) * STEP);
        start_many(0, LARGE, step * STEP, STEP);
        for (uint64_t left = STEP / 2; left >= STEP / 8; left /= 2) {
            tw_advance_clock(&tw, step * STEP - left);
            CHECK(has_moved(STEP - left, STEP, LARGE, 2));
        }
        fire_all();
        tear_down();
    }
}

/* One timer more than can be sorted makes a bucket large. */
static void smallest_large_bucket(void)
{
    for (size_t more = 0; more < 2; more++) {
        set_up();
        start_many(0, TWI_LARGE_TIMERS + more, 4 * STEP, STEP);
        tw_advance_clock(&tw, 4 * STEP - 8);
        CHECK(more == 0 ? cascaded() == 0
                        : cascaded() >= TWI_LARGE_TIMERS * 9 / 10);
        fire_all();
        CHECK(more == 1 || cascaded() == 0);
        tear_down();
    }
}

/* A sweep removes most chunks of a large bucket, from the middle. The bucket is
 * no longer large, and its remaining timers are sorted. */
static void not_large_any_more(void)
{
    const size_t half = TWI_LARGE_TIMERS / 4;
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    for (size_t i = half; i < LARGE - half; i++)
        cancel(i);
    twi_sweep(&tw, 3 * tw.chunks, SIZE_MAX);
    CHECK(chunks_in_use() < TWI_SORT_CHUNKS && tw_check(&tw));
    for (uint64_t tick = 3 * STEP; tick < 4 * STEP; tick += 10)
        tw_advance_clock(&tw, tick);
    CHECK(tw_check(&tw));
    fire_all();
    CHECK(fired.timers == 2 * half && cascaded() == 0);
    tear_down();
}

/* A part of a large bucket came down from a coarser wheel, in front of the
 * other part. Neither part is large alone. */
static void part_from_above(size_t above, size_t later)
{
    const uint64_t step = STEP * STEP;
    set_up();
    start_many(0, above, 4 * step, STEP);
    start_many(above, LARGE, 4 * step + STEP, step - STEP); /* bring it down */
    tw_advance_clock(&tw, 4 * step - 2 * STEP);
    uint64_t before = cascaded();
    CHECK(before >= (above + LARGE) * 9 / 10);
    start_many(above + LARGE, later, 4 * step, STEP);
    tw_advance_clock(&tw, 4 * step - 16);
    CHECK(cascaded() - before >= (above + later) / 2);
    CHECK(tw_check(&tw));
    fire_all();
    tear_down();
}

static void parts_from_above(void)
{
    const size_t large = TWI_LARGE_CHUNKS * TWI_SLOTS;
    part_from_above(large * 5 / 8, large * 5 / 8);
    part_from_above(large * 7 / 8, large * 3 / 8);
    part_from_above(large * 3 / 8, large * 7 / 8);
}

/* A trim packs a bucket, part of which came down from a coarser wheel. Then the
 * bucket becomes large. */
static void packed_then_large(void)
{
    const uint64_t step = STEP * STEP;
    const size_t part = TWI_LARGE_CHUNKS * TWI_SLOTS * 7 / 16;
    const size_t others = TIMERS - LARGE - 2 * part;
    set_up();
    start_many(0, part, 4 * step, STEP);
    start_many(part, LARGE, 4 * step + STEP, step - STEP); /* bring it down */
    tw_advance_clock(&tw, 4 * step - 2 * STEP);
    start_many(part + LARGE, part, 4 * step, STEP);
    start_many(2 * part + LARGE, others, 8 * step, step);
    for (size_t i = 0; i < others; i++)
        if (i % 200 != 0) /* a timer in each slab, so that slabs stay */
            cancel(2 * part + LARGE + i);
    size_t calls = memory.calls;
    tw_trim(&tw);
    CHECK(memory.calls > calls && tw_check(&tw));
    start_many(2 * part + LARGE, part, 4 * step, STEP);
    uint64_t before = cascaded();
    tw_advance_clock(&tw, 4 * step - 16);
    CHECK(cascaded() - before >= 3 * part / 2 && tw_check(&tw));
    fire_all();
    tear_down();
}

/* A bucket of many chunks has fired. After a turn of the wheel the same bucket
 * becomes large. */
static void used_before(void)
{
    const uint64_t turn = 2 * STEP * STEP;
    set_up();
    start_many(0, TWI_LARGE_CHUNKS * TWI_SLOTS * 3 / 4, 4 * STEP, STEP);
    fire_all();
    tw_advance_clock(&tw, turn / 2);
    start_many(0, LARGE, turn + 4 * STEP, STEP);
    uint64_t before = cascaded();
    tw_advance_clock(&tw, turn + 4 * STEP - 16);
    CHECK(cascaded() - before >= LARGE * 8 / 10 && tw_check(&tw));
    fire_all();
    tear_down();
}

/* All timers of a large bucket came down from a coarser wheel. */
static void all_from_above(void)
{
    const uint64_t step = STEP * STEP;
    set_up();
    start_many(0, LARGE, 4 * step, STEP);
    tw_advance_clock(&tw, 4 * step - 2 * STEP);
    uint64_t before = cascaded();
    CHECK(before >= LARGE * 9 / 10);
    tw_advance_clock(&tw, 4 * step - 16);
    CHECK(cascaded() - before >= LARGE * 8 / 10);
    CHECK(tw_check(&tw));
    fire_all();
    CHECK(fired.timers == LARGE);
    tear_down();
}

/* One call moves timers as far down as they may move: over wheels that do not
 * exist, and past a bucket with a later timer. */
static void over_wheels(void)
{
    const uint64_t step = STEP * STEP;
    for (size_t beside = 0; beside < 2; beside++) {
        set_up();
        start_many(0, LARGE, 4 * step, 100);
        tw_advance_clock(&tw, 3 * step + 1);
        if (beside != 0)
            CHECK(start(LARGE, 4 * step + 200) == TW_OK);
        CHECK(cascaded() == 0);
        tw_advance_clock(&tw, 4 * step - 2);
        CHECK((tw.wheels[1] != NULL) == (beside != 0) && tw_check(&tw));
        fire_all();
        CHECK(fired.timers == LARGE + beside && cascaded() == LARGE);
        tear_down();
    }
}

/* No timer moves before the clock is in the step before the large bucket. */
static void no_earlier_than_the_next_step(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    for (uint64_t tick = 0; tick <= 3 * STEP; tick += STEP / 4) {
        tw_advance_clock(&tw, tick);
        CHECK(cascaded() == 0);
    }
    tw_advance_clock(&tw, 3 * STEP + STEP / 4);
    CHECK(has_moved(1, 4, LARGE, 2));
    fire_all();
    tear_down();
}

/* In wheel 4 a step has 2^32 ticks, in wheel 5 2^40. */
static void long_steps(void)
{
    for (unsigned bits = 32; bits <= 56; bits += 8) {
        const uint64_t step = UINT64_C(1) << bits;
        set_up();
        start_many(0, LARGE, 4 * step, step - 7);
        tw_advance_clock(&tw, 3 * step);
        CHECK(cascaded() == 0);
        tw_advance_clock(&tw, 3 * step + step / 4);
        CHECK(has_moved(1, 4, LARGE, 2));
        tw_advance_clock(&tw, 3 * step + step / 2);
        CHECK(has_moved(2, 4, LARGE, 4));
        CHECK(tw_check(&tw));
        fire_all();
        CHECK(fired.timers == LARGE);
        tear_down();
    }
}

/* Steps of 2^60 ticks, in wheel 30 of wheels with 4 steps per turn. Then ticks
 * of ten time units. */
static void other_wheels(void)
{
    tw_config config = {0};
    const uint64_t step = UINT64_C(1) << 60;
    config.wheel_size = 4;
    set_up_with(config);
    start_many(0, LARGE, 4 * step, step - 7);
    tw_advance_clock(&tw, 3 * step + step / 4 + 1);
    CHECK(has_moved(1, 4, LARGE, 2));
    tw_advance_clock(&tw, 3 * step + step / 2);
    CHECK(has_moved(2, 4, LARGE, 4));
    tw_destroy(&tw);

    config.wheel_size = 0;
    config.tick = 10;
    set_up_with(config);
    for (size_t i = 0; i < LARGE; i++) {
        items[i].due = 4 * STEP + i % STEP;
        items[i].number = i + 1;
        CHECK(tw_start(&tw, &items[i].timer, 10 * items[i].due) == TW_OK);
    }
    for (uint64_t left = STEP / 2; left >= STEP / 8; left /= 2) {
        tw_advance_clock(&tw, 10 * (4 * STEP - left));
        CHECK(has_moved(STEP - left, STEP, LARGE, 2));
        CHECK(tw_check(&tw));
    }
    tw_advance_clock(&tw, 10 * 5 * STEP);
    CHECK(fired.timers == LARGE);
    CHECK(fired.wrong == 0 && fired.swaps == 0);
    tw_destroy(&tw);
    CHECK(memory.blocks == 0);
}

/* Large buckets in two wheels, each ahead of the clock: each moves. */
static void two_wheels(void)
{
    const uint64_t step = STEP * STEP;
    set_up();
    start_many(0, LARGE, 4 * step, step);
    tw_advance_clock(&tw, 4 * step - 2 * STEP);
    uint64_t before = cascaded();
    CHECK(before > LARGE - LARGE / 16);
    start_many(LARGE, LARGE, 4 * step, STEP);
    tw_advance_clock(&tw, 4 * step - STEP);
    CHECK(tw_check(&tw));
    tw_advance_clock(&tw, 4 * step - STEP / 2);
    CHECK(tw_check(&tw));
    tw_advance_clock(&tw, 4 * step - 1);
    CHECK(tw_check(&tw));
    CHECK(cascaded() - before > LARGE - LARGE / 8);
    fire_all();
    CHECK(fired.timers == 2 * LARGE);
    tear_down();
}

/* One call moves a large bucket in each of two wheels. */
static void two_wheels_at_once(void)
{
    const uint64_t step = STEP * STEP;
    set_up();
    start_many(0, LARGE, 4 * step, step);
    tw_advance_clock(&tw, 3 * step);
    start_many(LARGE, LARGE, 4 * step - STEP, STEP);
    CHECK(cascaded() == 0);
    tw_advance_clock(&tw, 4 * step - STEP - 2);
    CHECK(cascaded() >= 2 * LARGE * 9 / 10 && tw_check(&tw));
    fire_all();
    CHECK(fired.timers == 2 * LARGE);
    tear_down();
}

/* Two ticks before the step, all timers of a smaller large bucket have moved. A
 * timer of the bucket before still waits. */
static void all_of_it(void)
{
    const size_t count = 100 * TWI_SLOTS;
    set_up();
    start_many(0, count, 4 * STEP, STEP);
    CHECK(start(count, 3 * STEP + 10) == TW_OK);
    CHECK(start(count + 1, 4 * STEP - 1) == TW_OK);
    tw_advance_clock(&tw, 4 * STEP - 2);
    CHECK(cascaded() == count);
    CHECK(tw.wheels[1]->progress == TWI_SORTED && tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 4 * STEP - 1) == 1);
    CHECK(tw.queue[0]->level == 0 && tw.queued == 1);
    fire_all();
    CHECK(fired.timers == count + 2);
    tear_down();
}

/* A wheel leaves the delay queue after all timers of the wheel have moved
 * ahead. */
static void nothing_left(void)
{
    set_up();
    start_many(0, 100 * TWI_SLOTS, 4 * STEP, STEP);
    tw_advance_clock(&tw, 4 * STEP - 1);
    CHECK(cascaded() == 100 * TWI_SLOTS);
    CHECK(tw.queue[0]->level == 0 && tw.queued == 1 && tw_check(&tw));
    fire_all();
    tear_down();
}

/* One call from far away to the last tick but one before the step of the large
 * bucket. */
static void all_at_once(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    CHECK(start(LARGE, 3 * STEP + 250) == TW_OK);
    CHECK(start(LARGE + 1, 4 * STEP - 1) == TW_OK);
    CHECK(tw_advance_clock(&tw, 4 * STEP - 2) == 1);
    CHECK(cascaded() >= LARGE - TWI_SLOTS);
    CHECK(tw_check(&tw));
    fire_all();
    CHECK(fired.timers == LARGE + 2);
    tear_down();
}

/* The clock jumps from before a bucket's step into the middle of the step, and
 * over the step. */
static void jumps(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    start_many(LARGE, LARGE, 9 * STEP, STEP);
    start_many(2 * LARGE, LARGE, 10 * STEP, STEP);
    CHECK(tw_advance_clock(&tw, 4 * STEP + STEP / 2) >= LARGE / 2);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 9 * STEP + STEP / 2) >= LARGE);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 20 * STEP) >= LARGE);
    CHECK(fired.timers == 3 * LARGE);
    tear_down();
}

/* The last step before 2^64 has no next step. */
static void last_step(void)
{
    set_up_at(UINT64_MAX - 10 * STEP);
    start_many(0, LARGE, UINT64_MAX - STEP / 2, STEP / 2 + 1);
    tw_advance_clock(&tw, UINT64_MAX - STEP / 2 - 10);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, UINT64_MAX - 5) >= LARGE * 9 / 10);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, UINT64_MAX) > 0);
    CHECK(fired.timers == LARGE);
    tear_down();
}

/* Timers of one tick need no sorting, and never move, for any number of
 * timers. */
static void one_tick(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP + 10, 1);
    CHECK(tw_advance_clock(&tw, 4 * STEP - 1) == 0);
    CHECK(tw_advance_clock(&tw, 4 * STEP + 10) == LARGE);
    CHECK(cascaded() == 0);
    tear_down();
}

/* A timer postponed out of the large bucket moves to its new place in its
 * turn. */
static void postponed(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    for (size_t i = 0; i < LARGE; i += 3) {
        items[i].due = 20000 + i;
        CHECK(tw_postpone(&tw, &items[i].timer, items[i].due) == TW_OK);
    }
    for (uint64_t tick = 3 * STEP; tick < 4 * STEP; tick += 50) {
        tw_advance_clock(&tw, tick);
        CHECK(tw_check(&tw));
    }
    fire_all();
    CHECK(fired.timers == LARGE && cascaded() <= 2 * LARGE);
    tear_down();
}

/* Timers postponed beyond their bucket move once, to another bucket. They are
 * not stuck: there is memory. */
static void postpone_beyond(size_t count, uint64_t step)
{
    uint64_t next;
    set_up();
    start_many(0, count, 4 * step, step);
    for (size_t i = 0; i < count; i += 2) {
        items[i].due = 100 * step + i;
        items[i].number = 0;
        CHECK(tw_postpone(&tw, &items[i].timer, items[i].due) == TW_OK);
    }
    tw_advance_clock(&tw, 4 * step - step / 64);
    CHECK(cascaded() >= (count == LARGE ? count * 9 / 10 : 0));
    while (tw_next_deadline(&tw, &next)) {
        tw_advance_clock(&tw, next);
        CHECK(!tw.has_outside);
    }
    CHECK(fired.timers == count && cascaded() <= 2 * count);
    tear_down();
}

static void postponed_beyond(void)
{
    static const size_t counts[] = {10, 50, TWI_LARGE_TIMERS, LARGE};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        postpone_beyond(counts[i], STEP);
        postpone_beyond(counts[i], STEP * STEP);
    }
}

/* -------------------------------------------------------------- sorting --- */

/* Starts `count` timers in one bucket, in any order. Their ticks differ in the
 * bits of `low` and in the bit `high`. */
static void start_apart(size_t count, uint32_t wheel_size, uint64_t first,
                        uint64_t low, unsigned high)
{
    tw_config config = {0};
    config.wheel_size = wheel_size;
    set_up_with(config);
    for (size_t i = 0; i < count; i++)
        CHECK(start(i, first + i * 7919 % 16 * low +
                           ((uint64_t)(i % 2) << high)) == TW_OK);
}

/* Ticks that differ only in high bytes, or in the lowest and the highest. */
static void sorted_by_bytes(void)
{
    start_apart(64, 256, UINT64_C(4) << 40, UINT64_C(1) << 34, 39);
    fire_all();
    CHECK(fired.timers == 64 && cascaded() == 0);
    tear_down();
    start_apart(64, 4096, UINT64_C(4) << 60, 1, 59);
    fire_all();
    CHECK(fired.timers == 64 && cascaded() == 0);
    tear_down();
}

/* The same without memory to sort into or to cascade into. */
static void sorted_in_place(void)
{
    for (size_t count = 13; count <= 100; count += 29) {
        start_apart(count, 256, UINT64_C(4) << 40, UINT64_C(1) << 34, 39);
        heap_fail(&memory, 1, true);
        fire_all();
        CHECK(fired.timers == count);
        tear_down();
    }
}

/* --------------------------------------------------------------- limits --- */

/* A call that reaches its limit by firing moves no timer ahead. The next call
 * does. */
static void limit_reached(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    start_many(LARGE, 5, 3 * STEP + 128, 1);
    CHECK(tw_advance_clock_limit(&tw, 3 * STEP + 128, 5) == 5);
    CHECK(cascaded() == 0 && tw_now(&tw) == 3 * STEP + 128);
    CHECK(tw_wait(&tw, 3 * STEP + 128, 1000) != 0);
    CHECK(tw_advance_clock_limit(&tw, 3 * STEP + 128, SIZE_MAX) == 0);
    CHECK(has_moved(1, 2, LARGE, 2));
    fire_all();
    tear_down();
}

/* Timers moved ahead count towards the limit. The timers that the limit leaves
 * spread over the rest of the step. */
static void limit_in_the_middle(void)
{
    for (size_t limit = 1; limit < 600; limit += limit + 6) {
        set_up();
        start_many(0, LARGE, 4 * STEP, STEP);
        for (uint64_t tick = 3 * STEP; tick < 4 * STEP; tick += 16) {
            uint64_t before = cascaded();
            CHECK(tw_advance_clock_limit(&tw, tick, limit) == 0);
            CHECK(cascaded() - before <= limit);
            CHECK(tw_now(&tw) == tick && tw_check(&tw));
        }
        for (int calls = 0; tw_count(&tw) != 0 && calls < 10 * LARGE; calls++) {
            uint64_t before = cascaded() + fired.timers;
            tw_advance_clock_limit(&tw, 5 * STEP, limit);
            CHECK(cascaded() + fired.timers - before <= limit);
        }
        CHECK(fired.timers == LARGE && cascaded() <= LARGE);
        tear_down();
    }
}

/* Calls with a limit of 1 leave nearly all the work of their time. A call
 * without a limit, in the middle of the step, moves half of the bucket: no
 * timer counts twice. Each limited call may round up by one chunk. */
static void limit_counts_once(void)
{
    set_up();
    start_many(0, TIMERS, 4 * STEP, STEP);
    tw_advance_clock(&tw, 3 * STEP);
    uint64_t half = cascaded() + (TIMERS - cascaded()) / 2;
    for (uint64_t tick = 3 * STEP + 8; tick < 3 * STEP + 128; tick += 8)
        CHECK(tw_advance_clock_limit(&tw, tick, 1) == 0);
    CHECK(tw_advance_clock(&tw, 3 * STEP + 128) == 0);
    CHECK(cascaded() >= half && cascaded() <= half + 16 * TWI_SLOTS);
    fire_all();
    CHECK(fired.timers == TIMERS);
    tear_down();
}

/* A limited call leaves many chunks to move. Most timers are cancelled, and a
 * trim packs the rest into fewer chunks: the next call moves all of them. */
static void limit_then_packed(void)
{
    set_up();
    start_many(0, TIMERS, 4 * STEP, STEP);
    tw_advance_clock(&tw, 3 * STEP);
    CHECK(tw_advance_clock_limit(&tw, 4 * STEP - 16, 1) == 0);
    for (size_t i = 0; i < TIMERS; i++)
        if (i % 8 != 0)
            tw_cancel(&tw, &items[i].timer);
    tw_trim(&tw);
    CHECK(chunks_in_use() < TIMERS / 80);
    uint64_t before = cascaded();
    CHECK(tw_advance_clock(&tw, 4 * STEP - 8) == 0);
    CHECK(cascaded() - before >= TIMERS / 8 - 1 && tw_check(&tw));
    fire_all();
    CHECK(fired.timers == TIMERS / 8);
    tear_down();
}

/* A due large bucket moves down in parts, one part per call. All parts move
 * before the first timer of the bucket fires. */
static void limit_in_a_cascade(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    for (uint64_t parts = 1; parts <= LARGE / 100; parts++) {
        CHECK(tw_advance_clock_limit(&tw, 5 * STEP, 100) == 0);
        CHECK(cascaded() == 100 * parts && tw_check(&tw));
    }
    CHECK(tw_advance_clock_limit(&tw, 5 * STEP, 100) == 100);
    CHECK(tw_advance_clock(&tw, 5 * STEP) == LARGE - 100);
    tear_down();
}

/* Thousands of dead slots. A limited call passes a bounded number of dead
 * slots, and each call gets further. With `until` before the step, the bucket
 * moves ahead. */
static void dead_slots(uint64_t until, size_t limit)
{
    int calls = 0;
    set_up();
    CHECK(start(0, 1) == TW_OK);
    CHECK(tw_advance_clock(&tw, 1) == 1);
    start_many(0, TIMERS, 4 * STEP, STEP);
    for (size_t i = 1; i < TIMERS - 1; i++)
        cancel(i);
    CHECK(tw_count(&tw) == 2);
    for (; tw_now(&tw) < until && calls < TIMERS; calls++) {
        (void)tw_advance_clock_limit(&tw, until, limit);
        if (calls % 64 == 0)
            CHECK(tw_check(&tw));
    }
    for (; tw_count(&tw) != 0 && calls < TIMERS; calls++)
        (void)tw_advance_clock_limit(&tw, 5 * STEP, limit);
    CHECK((size_t)calls * limit > TIMERS / 20);
    CHECK(fired.timers == 3);
    tear_down();
}

static void dead_slots_due(void)
{
    for (size_t limit = 1; limit <= 4; limit++)
        dead_slots(5 * STEP, limit);
}

static void dead_slots_ahead(void)
{
    for (size_t limit = 1; limit <= 4; limit++)
        dead_slots(4 * STEP - 1, limit);
}

/* Thousands of dead slots of one tick, and of overdue timers. */
static void dead_slots_of_one_tick(void)
{
    for (uint64_t tick = 0; tick <= 4 * STEP; tick += 4 * STEP) {
        set_up();
        start_many(0, TIMERS, tick, 1);
        for (size_t i = 0; i < TIMERS - 1; i++)
            cancel(i);
        CHECK(tw_advance_clock_limit(&tw, 5 * STEP, 1) == 0);
        CHECK(tw_wait(&tw, 5 * STEP, 1000) == 0 && tw_check(&tw));
        int calls = 0;
        while (fired.timers == 0 && calls++ < TIMERS)
            (void)tw_advance_clock_limit(&tw, 5 * STEP, 1);
        CHECK(calls > 1 && calls <= TIMERS / 50);
        CHECK(tw_count(&tw) == 0);
        tear_down();
    }
}

/* --------------------------------------------------------------- memory --- */

/* Memory runs out while a large bucket moves ahead, for good or for a while.
 * Each timer fires in its turn. */
static void no_memory_ahead(void)
{
    for (size_t nth = 1; nth < 20; nth += 3)
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            set_up();
            CHECK(start(LARGE, 2 * STEP) == TW_OK);
            start_many(0, LARGE, 4 * STEP, STEP);
            tw_advance_clock(&tw, 2 * STEP);
            heap_fail(&memory, nth, for_ever);
            for (uint64_t tick = 3 * STEP; tick < 4 * STEP; tick += 20) {
                tw_advance_clock(&tw, tick);
                CHECK(tw_check(&tw));
            }
            fire_all();
            CHECK(fired.timers == LARGE + 1);
            heap_fail(&memory, 0, false);
            tear_down();
        }
}

/* Postponed timers are stuck without memory when their bucket comes up. One
 * call fires stuck timers and timers of wheels, in order. */
static void stuck_in_order(void)
{
    size_t others = 0;
    set_up();
    CHECK(start(TIMERS - 1, 5) == TW_OK && start(TIMERS - 2, 140000) == TW_OK);
    for (size_t i = 0; i < 30; i++)
        CHECK(start(i, 4 * STEP + 2 * i) == TW_OK);
    for (size_t i = 0; i < 30; i += 5) {
        items[i].due = 100000 + 17000 * i;
        items[i].number = 0;
        CHECK(tw_postpone(&tw, &items[i].timer, items[i].due) == TW_OK);
    }
    while (tw.in_use < tw.chunks)
        CHECK(start(100 + others, 150000 + 40000 * others) == TW_OK), others++;
    heap_fail(&memory, 1, true);
    CHECK(tw_advance_clock(&tw, 5 * STEP) == 25);
    CHECK(tw_check(&tw) && !twi_is_empty(&tw.outside[TWI_STUCK]));
    CHECK(tw_advance_clock(&tw, 1000000) == 7 + others);
    heap_fail(&memory, 0, false);
    tear_down();
}

/* Sets up a wheel with ticks of `unit` time units and six stuck timers. The
 * timers are due from tick 175000 to 200000. Then there is memory again. */
static void set_up_stuck(uint64_t unit)
{
    tw_config config = {0};
    config.tick = unit;
    set_up_with(config);
    for (size_t i = 0; i < 30; i++) {
        items[i].due = 4 * STEP + 2 * i;
        CHECK(tw_start(&tw, &items[i].timer, unit * items[i].due) == TW_OK);
    }
    for (size_t i = 0; i < 30; i += 5) {
        items[i].due = 200000 - 1000 * i;
        CHECK(tw_postpone(&tw, &items[i].timer, unit * items[i].due) == TW_OK);
    }
    heap_fail(&memory, 1, true);
    CHECK(tw_advance_clock(&tw, unit * 5 * STEP) == 24);
    CHECK(tw_check(&tw) && !twi_is_empty(&tw.outside[TWI_STUCK]));
    tw.has_outside = false; /* no call would find the stuck timers */
    CHECK(!tw_check(&tw));
    tw.has_outside = true;
    heap_fail(&memory, 0, false);
}

/* The stuck timers that are due first leave, by a restart. The next call finds
 * that no stuck timer is due, and puts one of them back into a wheel. */
static void stuck_until_memory(void)
{
    for (uint64_t unit = 1; unit <= 10; unit += 9) {
        set_up_stuck(unit);
        for (size_t i = 15; i < 30; i += 5) {
            items[i].due += 100000;
            CHECK(tw_start(&tw, &items[i].timer, unit * items[i].due) == TW_OK);
        }
        uint64_t before = cascaded();
        CHECK(tw_advance_clock(&tw, unit * 185000) == 0);
        CHECK(cascaded() - before == 1 && tw_check(&tw));
        fire_all();
        CHECK(fired.timers == 30);
        tear_down();
    }
}

/* Stuck timers fire in their ticks, for long ticks, too. */
static void stuck_and_long_ticks(void)
{
    set_up_stuck(10);
    fire_all();
    CHECK(fired.timers == 30);
    tear_down();
    set_up_stuck(10);
    heap_fail(&memory, 1, true);
    fire_all();
    CHECK(fired.timers == 30);
    heap_fail(&memory, 0, false);
    tear_down();
}

static void note_six(const char *line, void *context)
{
    if (strcmp(line, "in no wheel: 6, overdue or postponed") == 0)
        *(bool *)context = true;
}

static void stuck_in_dump(void)
{
    bool are_shown = false;
    set_up_stuck(1);
    tw_dump(&tw, note_six, &are_shown);
    CHECK(are_shown);
    fire_all();
    tear_down();
}

/* Reserves for `count` timers. Memory is out from then on, and the timers
 * restart over and over. No start fails, and each timer fires in time. Buckets
 * are sorted, cascade, or move ahead. */
static void restart_for_ever(size_t count)
{
    const uint64_t horizon = 70000;
    uint64_t random = 88172645463325252U;
    set_up();
    CHECK(tw_reserve(&tw, count, UINT64_C(1) << 40) == TW_OK);
    heap_fail(&memory, 1, true);
    for (size_t i = 0; i < 12 * count + 300; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t delay = random % (random >> 32 & 1 ? horizon : 2 * STEP);
        CHECK(start(random % count, tw_now(&tw) + 1 + delay) == TW_OK);
        if (i % 7 == 0 && random >> 33 & 1)
            tw_cancel(&tw, &items[(random >> 40) % count].timer);
        if (i % 64 == 0)
            tw_advance_clock(&tw, tw_now(&tw) + (random >> 40) % 40);
        if (i % 1024 == 0)
            CHECK(tw_check(&tw));
    }
    fire_all();
    CHECK(memory.failures == 0);
    tear_down();
}

static void restart_reserved(void)
{
    static const size_t counts[] = {1, 2, 7, 12, 13, 40, 200, 1000, 3000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        restart_for_ever(counts[i]);
}

/* A large bucket under a reserve. Each timer is alone in its chunk when the
 * bucket moves ahead and is sorted. */
static void reserved_large_bucket(void)
{
    set_up();
    CHECK(tw_reserve(&tw, TIMERS, 8 * STEP) == TW_OK);
    heap_fail(&memory, 1, true);
    for (size_t round = 0; round < TWI_SLOTS; round++)
        for (size_t i = 0; i < TIMERS; i++)
            if (i % TWI_SLOTS >= round)
                CHECK(start(i, 4 * STEP + i % STEP) == TW_OK);
    CHECK(tw_check(&tw));
    for (uint64_t tick = 3 * STEP; tick < 4 * STEP; tick += 16)
        tw_advance_clock(&tw, tick);
    CHECK(tw_check(&tw));
    fire_all();
    CHECK(fired.timers == TIMERS && memory.failures == 0);
    tear_down();
}

/* Timers that restart over and over leave dead slots. Sweeps find the chunks
 * with only dead slots, and memory stays bounded. */
static void swept(void)
{
    const size_t most = 1000 / 3 + TWI_SPARE_CHUNKS; /* sweeps keep up */
    uint64_t random = 88172645463325252U;
    size_t above = 0;
    set_up();
    for (size_t i = 0; i < 60000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        CHECK(start(random % 1000, 600 + (random >> 32) % 60000) == TW_OK);
        above += tw.in_use - tw.buckets_used > most;
    }
    CHECK(above == 0);
    CHECK(tw.chunks <= tw.buckets_used + most + 16);
    CHECK(tw_check(&tw));
    fire_all();
    CHECK(fired.timers == 1000);
    tear_down();
}

/* Well filled chunks are not swept: hundreds of chunks in one bucket, or one
 * chunk in each of hundreds of buckets. */
static void not_swept(void)
{
    for (uint64_t span = 1; span <= STEP; span += STEP - 1) {
        set_up();
        start_many(0, TIMERS / 8, 50, span);
        start_many(TIMERS / 8, 600 / span, 4 * STEP, span);
        CHECK(tw.swept == NULL);
        fire_all();
        CHECK(tw.swept == NULL);
        tear_down();
    }
}

/* Without memory, a start sweeps if more than one chunk in nine has no
 * timer. */
static void swept_without_memory(void)
{
    const size_t count = 100 * TWI_SLOTS;
    set_up();
    start_many(0, count, 4 * STEP, STEP);
    for (size_t i = 1; i < count; i++)
        cancel(i);
    CHECK(start(count, 5) == TW_OK); /* wheel 0 exists from now on */
    heap_fail(&memory, 1, true);
    for (size_t i = 1; i < 80; i++)
        CHECK(start(count + i, 5 + i) == TW_OK);
    CHECK(tw_check(&tw));
    heap_fail(&memory, 0, false);
    fire_all();
    tear_down();
}

/* If hardly one chunk in ten has no timer, no chunk is swept. A refused start
 * costs no more than a successful start. */
static void refused_at_once(void)
{
    size_t count = 0;
    set_up();
    CHECK(start(TIMERS - 1, 5) == TW_OK);
    while (tw.in_use < 100 || tw.in_use < tw.chunks || count % TWI_SLOTS != 0)
        CHECK(start(count, 4 * STEP + count % STEP) == TW_OK), count++;
    for (size_t i = 0; i < count; i++)
        if (i % TWI_SLOTS != 0 || i >= count - count / 11)
            cancel(i);
    heap_fail(&memory, 1, true);
    CHECK(start(TIMERS - 2, 6) == TW_ENOMEM);
    CHECK(tw.swept == NULL && tw_check(&tw));
    heap_fail(&memory, 0, false);
    fire_all();
    tear_down();
}

/* Sorting allocates one slab, with only the missing chunks. */
static void sorts_in_one_slab(void)
{
    const size_t chunks = TWI_SORT_CHUNKS;
    if (chunks <= TWI_LEAST_CHUNKS + 1)
        return; /* a slab is never as small */
    set_up();
    CHECK(start(0, 4 * STEP) == TW_OK);
    start_many(1, chunks * TWI_SLOTS - 1, 4 * STEP + 1, STEP - 1);
    size_t unused = tw.chunks - tw.in_use;
    size_t calls = memory.calls, bytes = memory.bytes;
    CHECK(tw.in_use == chunks && unused < chunks / 2);
    CHECK(tw_advance_clock(&tw, 4 * STEP) == 1);
    CHECK(memory.calls == calls + 1);
    CHECK(memory.bytes - bytes == (chunks - unused + 2) * TWI_CHUNK_BYTES - 1);
    CHECK(cascaded() == 0);
    fire_all();
    tear_down();
}

/* A sweep removes the first chunk of a sorted bucket, after all its timers were
 * cancelled. The wheel comes up too early, and then waits for the timer that is
 * now first. */
static void front_swept(void)
{
    set_up();
    for (size_t i = 0; i < 3 * TWI_SLOTS; i++)
        CHECK(start(i, 4 * STEP + 7 * i) == TW_OK);
    CHECK(tw_advance_clock(&tw, 4 * STEP) == 1);
    for (size_t i = 1; i < TWI_SLOTS; i++)
        cancel(i);
    twi_sweep(&tw, 3 * tw.chunks, SIZE_MAX);
    CHECK(tw_check(&tw) && chunks_in_use() == 2);
    CHECK(tw_advance_clock(&tw, 4 * STEP + 7) == 0);
    uint64_t next = 0;
    CHECK(tw_next_deadline(&tw, &next));
    CHECK(next == 4 * STEP + 7 * TWI_SLOTS);
    fire_all();
    CHECK(fired.timers == 1 + 2 * TWI_SLOTS && cascaded() == 0);
    tear_down();
}

/* The last chunk of a bucket is swept, with any content of its free slots. */
static void end_swept(void)
{
    set_up();
    start_many(0, 6 * TWI_SLOTS, 2 * STEP, STEP);
    fire_all(); /* the slots of the freed chunks keep their content */
    start_many(0, TWI_SLOTS + 3, 6 * STEP, STEP);
    size_t chunks = chunks_in_use();
    for (size_t i = 0; i < 3; i++)
        cancel(TWI_SLOTS + i);
    twi_sweep(&tw, 3 * tw.chunks, SIZE_MAX);
    CHECK(tw_check(&tw));
    CHECK(chunks_in_use() == 1 && chunks > 1);
    fire_all();
    tear_down();
}

/* A bucket without chunks comes up, after a sweep took the only chunk. */
static void swept_empty(void)
{
    set_up();
    start_many(0, 20, 4 * STEP, 40);
    CHECK(start(20, 9 * STEP) == TW_OK);
    for (size_t i = 0; i < 20; i++)
        cancel(i);
    twi_sweep(&tw, 3 * tw.chunks, SIZE_MAX);
    CHECK(tw_check(&tw) && chunks_in_use() == 1);
    CHECK(tw_advance_clock(&tw, 5 * STEP) == 0);
    CHECK(tw_advance_clock(&tw, 9 * STEP) == 1);
    CHECK(tw_check(&tw));
    tear_down();
}

/* --------------------------------------------------------------- random --- */

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 16) % limit;
}

/* Starts up to `most` timers for nearby ticks. */
static void start_cluster(uint64_t most, uint64_t horizon)
{
    uint64_t first = tw.clock_tick + 1 + random_below(horizon);
    uint64_t span = 1 + random_below(UINT64_C(1) << random_below(14));
    for (uint64_t left = random_below(most); left != 0; left--)
        (void)start(random_below(TIMERS), first + random_below(span));
}

/* Makes a random call. */
static void any_call(uint64_t horizon)
{
    size_t i = random_below(TIMERS);
    uint64_t delay = random_below(UINT64_C(1) << random_below(15));
    switch (random_below(12)) {
    case 0:
        start_cluster(3000, horizon);
        break;
    case 1:
        for (size_t end = i + random_below(2000); i < end; i++)
            (void)tw_cancel(&tw, &items[i % TIMERS].timer);
        break;
    case 2:
        for (size_t end = i + random_below(300); i < end; i++) {
            item *it = &items[i % TIMERS];
            if (tw_is_pending(&it->timer) && it->due > tw.clock_tick) {
                it->due += delay;
                it->number = 0;
                CHECK(tw_postpone(&tw, &it->timer, it->due) == TW_OK);
            }
        }
        break;
    case 3:
        if (random_below(8) == 0)
            tw_trim(&tw);
        break;
    case 4:
        heap_fail(&memory, 1 + random_below(4), random_below(2) == 0);
        break;
    case 5:
        heap_fail(&memory, 0, false);
        break;
    case 6:
        (void)tw_advance_clock(&tw, tw.clock_tick + delay);
        break;
    case 7:
        (void)tw_advance_clock(&tw,
                               tw.next_tick == UINT64_MAX ? 0 : tw.next_tick);
        break;
    default:
        delay /= 16;
        size_t before = fired.timers + cascaded(), limit = 1 + delay * delay;
        (void)tw_advance_clock_limit(&tw, tw.clock_tick + delay, limit);
        CHECK(fired.timers + cascaded() - before <= limit);
    }
}

/* Large buckets: starts, cancels, postpones, moves ahead, sorts and fires
 * timers, by calls with and without limits. Memory comes and goes. */
static void any_calls(uint32_t size, uint64_t horizon)
{
    tw_config config = {0};
    set_up();
    config.wheel_size = size;
    config.start = random_below(1000000);
    config.alloc_context = &memory;
    tw_init(&tw, &config);
    for (int calls = 0; calls < 100; calls++) {
        any_call(horizon);
        if (!CHECK(tw_check(&tw)))
            break;
    }
    fire_all();
    heap_fail(&memory, 0, false);
    tear_down();
}

static void random_calls(void)
{
    random_state = 88172645463325252U;
    for (int round = 0; round < 3; round++)
        for (uint32_t size = 2; size <= 512; size *= 4)
            any_calls(size, UINT64_C(1) << (6 + 4 * round));
}

/* ----------------------------------------------------------------- trim --- */

/* Starts timers in all wheels, and cancels all except one in `every`. */
static void thin_out(size_t every)
{
    start_many(0, TIMERS, 3, 200000);
    for (size_t i = 0; i < TIMERS; i++)
        if (i % every != 0)
            cancel(i);
}

/* Returns the number of chunks for all timers, if each bucket is packed. */
static size_t chunks_needed(void)
{
    size_t needed = 0, at = 0;
    for (twi_bucket *bucket; (bucket = twi_next_bucket(&tw, &at)) != NULL;)
        needed += (twi_count_timers(bucket) + TWI_SLOTS - 1) / TWI_SLOTS;
    return needed;
}

/* After a trim, the memory beside the wheels is at most 1.5 times the need of
 * the timers. The timers fire as before. */
static void trimmed(void)
{
    for (size_t every = 1; every < TIMERS; every += every + 1) {
        set_up();
        thin_out(every);
        size_t left = tw_count(&tw);
        tw_trim(&tw);
        CHECK(tw_check(&tw) && tw_count(&tw) == left);
        tw_stats stats;
        tw_get_stats(&tw, &stats);
        size_t chunks =
            stats.bytes_held -
            stats.wheels * (twi_wheel_bytes(&tw) + TWI_CHUNK_BYTES - 1);
        CHECK(chunks <= (chunks_needed() + 2) * TWI_CHUNK_BYTES * 3 / 2);
        size_t calls = memory.calls;
        tw_trim(&tw); /* finds nothing more to do */
        CHECK(memory.calls == calls && tw_check(&tw));
        fire_all();
        CHECK(fired.timers == left);
        tear_down();
    }
}

/* A trim fails to allocate, at the first slab or at a later slab. All timers
 * stay. */
static void trimmed_without_memory(void)
{
    for (size_t nth = 1; nth < 5; nth++) {
        set_up();
        start_many(0, TIMERS, 4 * STEP, 40);
        for (size_t i = 0; i < TIMERS; i++)
            if (i % 2 != 0)
                cancel(i);
        CHECK(chunks_needed() > TWI_MOST_CHUNKS);
        size_t bytes = memory.bytes;
        heap_fail(&memory, nth, true);
        tw_trim(&tw);
        CHECK(tw_check(&tw));
        CHECK(memory.failures == 0 ? memory.bytes < bytes
                                   : memory.bytes <= bytes);
        heap_fail(&memory, 0, false);
        fire_all();
        CHECK(fired.timers == TIMERS / 2);
        tear_down();
    }
}

/* Slabs without a timer are freed, without memory to pack the rest into. */
static void trimmed_slabs(void)
{
    set_up();
    start_many(0, TIMERS, 4 * STEP, 40);
    for (size_t i = TIMERS / 8; i < TIMERS; i++)
        cancel(i);
    size_t bytes = memory.bytes;
    heap_fail(&memory, 1, true);
    tw_trim(&tw);
    CHECK(tw_check(&tw) && memory.bytes <= bytes / 2);
    heap_fail(&memory, 0, false);
    fire_all();
    CHECK(fired.timers == TIMERS / 8);
    tear_down();
}

/* After an overdue timer has fired, its chunk is freed. */
static void trimmed_after_overdue(void)
{
    set_up_at(100);
    CHECK(start(0, 50) == TW_OK);
    items[0].due = 100;
    CHECK(tw_advance_clock(&tw, 100) == 1);
    tw_trim(&tw);
    CHECK(memory.blocks == 0 && tw_check(&tw));
    tear_down();
}

/* A trim packs a bucket that is sorted and has fired some timers. Then a timer
 * of the bucket is postponed. */
static void trimmed_when_sorted(void)
{
    set_up();
    start_many(0, 900, 4 * STEP, STEP);
    CHECK(tw_advance_clock(&tw, 4 * STEP + 9) > 10);
    for (size_t i = 0; i < 900; i++)
        if (i % 8 != 0)
            tw_cancel(&tw, &items[i].timer);
    size_t calls = memory.calls;
    tw_trim(&tw);
    CHECK(memory.calls > calls && tw_check(&tw));
    size_t i = 0;
    while (!tw_is_pending(&items[i].timer))
        i++;
    items[i].due = 5 * STEP + 3;
    CHECK(tw_postpone(&tw, &items[i].timer, items[i].due) == TW_OK);
    CHECK(tw_check(&tw));
    fire_all();
    tear_down();
}

/* ------------------------------------------------------- overdue timers --- */

static char order[100]; /* letters of the fired timers */
static size_t ends;

static void say(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel;
    if (ends < sizeof(order) - 1)
        order[ends++] = (char)('a' + (TW_OWNER(timer, item, timer) - items));
}

/* True if a call with a limit fires exactly the timers of `letters`, in
 * order. */
static bool call_fires(uint64_t now, size_t limit, const char *letters)
{
    memset(order, 0, sizeof(order));
    ends = 0;
    (void)tw_advance_clock_limit(&tw, now, limit);
    if (strcmp(order, letters) != 0)
        printf("# the call fired %s, not %s\n", order, letters);
    return strcmp(order, letters) == 0;
}

/* Limited calls leave overdue timers and due timers. Timers started overdue
 * between the calls come after all timers left. Calls `between` after each
 * call. */
static void generations(void (*between)(void))
{
    set_up_at(100);
    for (size_t i = 0; i < 26; i++)
        tw_timer_init(&items[i].timer, say);
    for (size_t i = 0; i < 4; i++)
        CHECK(start(i, 50) == TW_OK); /* a b c d: overdue */
    CHECK(start(4, 110) == TW_OK && start(5, 120) == TW_OK); /* e f */
    CHECK(start(6, 130) == TW_OK);                           /* g */
    CHECK(call_fires(120, 2, "ab"));
    between();
    CHECK(start(7, 90) == TW_OK && start(8, 40) == TW_OK); /* h i: overdue */
    CHECK(call_fires(125, 3, "cde"));
    between();
    CHECK(tw_wait(&tw, 125, 1000) == 0);
    CHECK(start(9, 10) == TW_OK); /* j: overdue */
    CHECK(call_fires(130, 1, "f"));
    between();
    CHECK(call_fires(130, 2, "hi"));
    between();
    CHECK(start(10, 10) == TW_OK); /* k: overdue */
    CHECK(call_fires(130, 2, "jg"));
    between();
    CHECK(start(11, 10) == TW_OK && start(12, 131) == TW_OK); /* l m */
    CHECK(call_fires(130, SIZE_MAX, "kl"));
    between();
    CHECK(start(13, 130) == TW_OK); /* n: overdue */
    CHECK(call_fires(0, SIZE_MAX, "n"));
    CHECK(call_fires(131, SIZE_MAX, "m"));
    CHECK(tw_count(&tw) == 0);
    tear_down();
}

static void nothing(void)
{
}

static void trim(void)
{
    tw_trim(&tw);
    CHECK(tw_check(&tw));
}

static void sweep(void)
{
    twi_sweep(&tw, 3 * tw.chunks, SIZE_MAX);
    CHECK(tw_check(&tw));
}

static void generations_plain(void)
{
    generations(nothing);
}

static void generations_trimmed(void)
{
    generations(trim);
}

static void generations_swept(void)
{
    generations(sweep);
}

static size_t last_index;

static void climb(timingwheel *wheel, tw_timer *timer)
{
    size_t index = (size_t)(TW_OWNER(timer, item, timer) - items);
    (void)wheel;
    fired.swaps += index < last_index;
    fired.timers++;
    last_index = index;
}

/* A limited call ends among hundreds of overdue timers, and leaves a due timer.
 * Hundreds of timers become overdue afterwards. Most overdue timers are
 * cancelled. A trim packs the rest and keeps their order. */
static void overdue_packed(void)
{
    set_up_at(100);
    last_index = 0;
    for (size_t i = 0; i < 2000; i++)
        tw_timer_init(&items[i].timer, climb);
    CHECK(start(1000, 110) == TW_OK);
    for (size_t i = 0; i < 1000; i++)
        CHECK(start(i, 50) == TW_OK);
    CHECK(tw_advance_clock_limit(&tw, 110, 100) == 100);
    for (size_t i = 1001; i < 2000; i++)
        CHECK(start(i, 50) == TW_OK);
    for (size_t i = 100; i < 2000; i++)
        if (i % 10 != 0)
            cancel(i);
    size_t left = tw_count(&tw), bytes = memory.bytes;
    trim();
    CHECK(bytes - memory.bytes > 100 * TWI_CHUNK_BYTES);
    CHECK(tw_advance_clock_limit(&tw, 110, 90) == 90);
    trim();
    CHECK(tw_advance_clock_limit(&tw, 110, 1) == 1 && last_index == 1000);
    CHECK(tw_advance_clock(&tw, 110) == left - 91);
    CHECK(fired.timers == left + 100);
    trim();
    CHECK(memory.blocks == 0);
    CHECK(start(1, 50) == TW_OK);
    last_index = 0;
    CHECK(tw_advance_clock(&tw, 110) == 1);
    tear_down();
}

static void start_overdue(timingwheel *wheel, tw_timer *timer)
{
    say(wheel, timer);
    CHECK(start(0, 10) == TW_OK);
}

/* All overdue timers have fired, and a sweep has passed their chunk. A timer
 * that a callback starts overdue still waits for the next call. */
static void overdue_swept(void)
{
    set_up_at(100);
    tw_timer_init(&items[0].timer, say);
    tw_timer_init(&items[1].timer, start_overdue);
    for (size_t i = 0; i < 3 * TWI_SLOTS; i++)
        CHECK(start(2 + i, 100) == TW_OK);
    CHECK(tw_advance_clock(&tw, 100) == 3 * TWI_SLOTS);
    sweep();
    CHECK(start(1, 101) == TW_OK);
    CHECK(call_fires(101, SIZE_MAX, "b"));
    CHECK(call_fires(101, SIZE_MAX, "a"));
    tear_down();
}

/* A limited call leaves overdue timers. The last of these are cancelled and
 * swept. A timer started overdue later still comes after the timers left. */
static void overdue_end_swept(void)
{
    set_up_at(100);
    tw_timer_init(&items[1].timer, say);
    tw_timer_init(&items[2].timer, say);
    CHECK(start(1, 105) == TW_OK);
    for (size_t i = 0; i < 2 * TWI_SLOTS; i++)
        CHECK(start(100 + i, 50) == TW_OK);
    CHECK(tw_advance_clock_limit(&tw, 105, 1) == 1);
    for (size_t i = TWI_SLOTS; i < 2 * TWI_SLOTS; i++)
        cancel(100 + i);
    sweep();
    CHECK(start(2, 50) == TW_OK);
    CHECK(call_fires(105, SIZE_MAX, "bc"));
    fired.wrong = 0; /* overdue timers, at 100 */
    tear_down();
}

/* ------------------------------------------------ a timer's own wheel --- */

/* A debug build searches all wheels and all outside buckets for a timer. Each
 * timer here is pending on this wheel, and may be started and cancelled. */
static void own_timers(void)
{
    static const uint64_t ticks[] = {5, 5000, 200000, UINT64_MAX, 100, 0};
    set_up_at(100);
    for (size_t i = 0; i < sizeof(ticks) / sizeof(*ticks); i++)
        CHECK(start(i, ticks[i]) == TW_OK);
    for (size_t i = 0; i < sizeof(ticks) / sizeof(*ticks); i++)
        CHECK(start(i, ticks[i]) == TW_OK);
    for (size_t i = 0; i < sizeof(ticks) / sizeof(*ticks); i++)
        cancel(i);
    tear_down();
}

/* tw_check detects an ahead_at that is too late, and a timer of a sorted bucket
 * without the sorted bit. A bucket of one tick needs no sorting. */
static void inspection(void)
{
    set_up();
    start_many(0, LARGE, 4 * STEP, STEP);
    uint64_t at = tw.ahead_at;
    tw.ahead_at = UINT64_MAX;
    CHECK(!tw_check(&tw));
    tw.ahead_at = at;
    tw_destroy(&tw);

    set_up();
    start_many(0, 10, 4 * STEP, 1);
    start_many(10, 10, 6 * STEP, STEP);
    CHECK(tw_advance_clock_limit(&tw, 4 * STEP, 5) == 5);
    CHECK(tw.wheels[1]->progress == TWI_SORTED && tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 6 * STEP) == 6);
    tw_timer *front = *tw.wheels[1]->first->front;
    CHECK(tw.wheels[1]->progress == TWI_SORTED && tw_check(&tw));
    front->place ^= TWI_SORTED_BIT;
    CHECK(!tw_check(&tw));
    front->place ^= TWI_SORTED_BIT;
    fire_all();
    tear_down();
}

static const tap_case cases[] = {
    {"moving ahead: timers move in proportion to the time", tick_by_tick},
    {"moving ahead: half of the time left moves half of a large bucket",
     by_halves},
    {"moving ahead: the smallest large bucket moves", smallest_large_bucket},
    {"moving ahead: the few timers left of a large bucket stay",
     not_large_any_more},
    {"moving ahead: a bucket that a cascade makes large moves",
     parts_from_above},
    {"moving ahead: a large bucket that came down moves again", all_from_above},
    {"moving ahead: a bucket that is used again moves", used_before},
    {"moving ahead: a bucket that becomes large after a trim moves",
     packed_then_large},
    {"moving ahead: passes over wheels that hold none of the ticks",
     over_wheels},
    {"moving ahead: begins one step before the bucket",
     no_earlier_than_the_next_step},
    {"moving ahead: works for steps of 2^32 ticks and more", long_steps},
    {"moving ahead: works for other wheel sizes and ticks", other_wheels},
    {"moving ahead: large buckets in two wheels move", two_wheels},
    {"moving ahead: one call moves large buckets of two wheels",
     two_wheels_at_once},
    {"moving ahead: the last tick before the bucket moves the rest", all_of_it},
    {"moving ahead: an emptied wheel leaves the delay queue", nothing_left},
    {"moving ahead: one call may move the whole bucket", all_at_once},
    {"moving ahead: the clock may jump into the bucket and over it", jumps},
    {"moving ahead: ends with the last step of 64 bits", last_step},
    {"moving ahead: timers of one tick do not move", one_tick},
    {"moving ahead: postponed timers move once more", postponed},
    {"moving: timers postponed beyond their bucket move once",
     postponed_beyond},
    {"sorting: ticks that differ in high bytes", sorted_by_bytes},
    {"sorting: without memory, ticks that differ in high bits",
     sorted_in_place},
    {"limit: timers that fire use up the limit first", limit_reached},
    {"limit: moving ahead stops at the limit", limit_in_the_middle},
    {"limit: what limited calls leave counts once", limit_counts_once},
    {"limit: what a limited call leaves may be packed", limit_then_packed},
    {"limit: a large bucket that has come up moves in parts",
     limit_in_a_cascade},
    {"limit: dead slots of a due bucket count", dead_slots_due},
    {"limit: dead slots of a bucket moved ahead count", dead_slots_ahead},
    {"limit: dead slots of one tick and of overdue timers count",
     dead_slots_of_one_tick},
    {"memory: moving ahead stops if memory runs out", no_memory_ahead},
    {"memory: timers that could not move fire in order", stuck_in_order},
    {"memory: a stuck timer goes back into a wheel", stuck_until_memory},
    {"memory: stuck timers fire in time with long ticks", stuck_and_long_ticks},
    {"memory: tw_dump counts stuck timers", stuck_in_dump},
    {"memory: a reserve is enough for restarts without end", restart_reserved},
    {"memory: a reserve is enough for a large bucket, one timer per chunk",
     reserved_large_bucket},
    {"memory: chunks without timers are swept", swept},
    {"memory: chunks that are well filled are not swept", not_swept},
    {"memory: chunks without timers are swept if memory is out",
     swept_without_memory},
    {"memory: a start is refused at once if every chunk has timers",
     refused_at_once},
    {"memory: sorting takes one slab", sorts_in_one_slab},
    {"memory: the first chunk of a sorted bucket is swept", front_swept},
    {"memory: the last chunk of a bucket is swept", end_swept},
    {"memory: the only chunk of a bucket is swept", swept_empty},
    {"random: large buckets, limits and memory that comes and goes: in order",
     random_calls},
    {"trim: the wheel holds at most 1.5 times what the timers need", trimmed},
    {"trim: without memory to pack into, timers stay", trimmed_without_memory},
    {"trim: without memory, slabs without timers are freed", trimmed_slabs},
    {"trim: the chunk of fired overdue timers is freed", trimmed_after_overdue},
    {"trim: a sorted bucket keeps its order", trimmed_when_sorted},
    {"overdue: timers left by a limited call fire first", generations_plain},
    {"overdue: a trim between limited calls keeps the order",
     generations_trimmed},
    {"overdue: a sweep between limited calls keeps the order",
     generations_swept},
    {"overdue: packing between limited calls keeps the order", overdue_packed},
    {"overdue: a start in a callback after a sweep fires in the next call",
     overdue_swept},
    {"overdue: timers left may lose their last chunk", overdue_end_swept},
    {"inspection: tw_check is false for each broken field", inspection},
    {"debug: a timer in any bucket belongs to the wheel", own_timers},
};

TAP_MAIN(cases)
