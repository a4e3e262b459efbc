/* corners.c - what the other tests never or hardly come to: the largest slab,
 * large buckets that come up when there is no memory, cascades past emptied
 * buckets.
 *
 *     corners [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

#include "../lib/heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

static timingwheel tw;
static heap memory;

static void set_up(void)
{
    static const heap fresh;
    tw_config config = {0};
    memory = fresh;
    config.alloc_context = &memory;
    CHECK(tw_init(&tw, &config) == TW_OK);
}

/* Nothing may be left after it. */
static void tear_down(void)
{
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
    CHECK(memory.blocks == 0 && memory.bytes == 0 && memory.strays == 0);
}

static tw_timer *idle_timers(size_t count)
{
    tw_timer *timers = (tw_timer *)calloc(count, sizeof(*timers));
    if (timers == NULL)
        abort();
    return timers;
}

/* -------------------------------------------------------------- memory --- */

/* Fills a whole chunk, then empties all but its last slot: `kept` holds it. */
static void hold_chunk(tw_timer *kept, tw_timer *others)
{
    for (size_t i = 0; i < TWI_SLOTS - 1; i++)
        tw_start(&tw, &others[i], 1000);
    tw_start(&tw, kept, 1000);
    for (size_t i = 0; i < TWI_SLOTS - 1; i++)
        tw_cancel(&tw, &others[i]);
}

/* So many chunks that an eighth of them is more than a slab may have. Then all
 * memory goes back. */
static void largest_slab(void)
{
    const size_t reserved = 10 * (size_t)TWI_MOST_CHUNKS;
    const size_t most = reserved + 2000; /* what buckets may hold, too */
    tw_timer *timers = idle_timers(most + TWI_SLOTS);
    set_up();
    CHECK(tw_reserve(&tw, reserved, 1000) == TW_OK);
    size_t calls = memory.calls, bytes = memory.bytes, chunks = 0;
    while (memory.calls == calls && chunks < most)
        hold_chunk(&timers[chunks++], &timers[most]);
    CHECK(chunks > reserved);
    CHECK(memory.calls == calls + 1);
    CHECK(memory.bytes - bytes ==
          (TWI_MOST_CHUNKS + 2) * (size_t)TWI_CHUNK_BYTES - 1);
    CHECK(tw_count(&tw) == chunks);
    CHECK(tw_check(&tw));

    for (size_t i = 0; i < chunks; i++)
        CHECK(tw_cancel(&tw, &timers[i]));
    tw_trim(&tw);
    CHECK(memory.blocks == 0);
    CHECK(tw_count(&tw) == 0);
    tear_down();
    free(timers);
}

/* ----------------------------------------------------------- cascading --- */

#define CROWD 20

/* A crowd in wheel 2 comes up at 4200. It is too wide to be sorted. On its way
 * down to wheel 0 it passes the bucket of wheel 1 where timers for the same
 * ticks were, until they were cancelled, and may be put there or pass it; it
 * fires in time. */
static void cascade_past_emptied_bucket(void)
{
    static tw_timer crowd[CROWD + 2], before, gone[2];
    tw_config config = {0};
    tw_stats stats;
    set_up();
    config.wheel_size = 32;
    config.alloc_context = &memory;
    tw_init(&tw, &config);
    tw_start(&tw, &crowd[0], 4200);
    for (int i = 1; i <= CROWD; i++)
        tw_start(&tw, &crowd[i], 4250 + (uint64_t)i % 2);
    tw_start(&tw, &crowd[CROWD + 1], 4900);
    CHECK(tw.wheels[2] != NULL && tw.queued == 1);
    tw_advance_clock(&tw, 4000);
    tw_start(&tw, &before, 4202);
    tw_start(&tw, &gone[0], 4250);
    tw_start(&tw, &gone[1], 4251);
    tw_cancel(&tw, &gone[0]);
    tw_cancel(&tw, &gone[1]);
    CHECK(tw_advance_clock(&tw, 4200) == 1);
    tw_get_stats(&tw, &stats);
    CHECK(stats.cascaded >= CROWD);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 4249) == 1);
    CHECK(tw_advance_clock(&tw, 4250) == CROWD / 2);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 4251) == CROWD / 2);
    CHECK(tw_advance_clock(&tw, 4900) == 1);
    tear_down();
}

/* -------------------------------------------------------- out of memory --- */

#define MANY 400

static uint64_t fired_late;
static uint64_t last_tick;
static bool in_order;

static void note(timingwheel *wheel, tw_timer *timer)
{
    fired_late += tw_now(wheel) != timer->deadline;
    in_order &= last_tick <= tw_now(wheel);
    last_tick = tw_now(wheel);
}

/* Hundreds of timers in a bucket that comes up when there is no memory, a third
 * of which were postponed before, to many other buckets: each fires in time.
 * Half of these are moved on when there is memory again. */
static void bucket_without_memory(void)
{
    tw_timer *timers = idle_timers(MANY);
    set_up();
    in_order = true;
    fired_late = last_tick = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        tw_timer_init(&timers[i], note);
        CHECK(tw_start(&tw, &timers[i], 1024 + i * 89 % 256) == TW_OK);
    }
    for (uint64_t i = 0; i < MANY; i += 3)
        CHECK(tw_postpone(&tw, &timers[i], 70000 + i * 300) == TW_OK);
    tw.unused = NULL; /* as if buckets had all of them */
    tw.in_use = tw.chunks;
    heap_fail(&memory, 1, true);
    for (uint64_t now = 1024; now < 1280; now++)
        CHECK(tw_advance_clock_limit(&tw, now, MANY) <= MANY);
    CHECK(tw_count(&tw) == (MANY + 2) / 3);
    for (uint64_t now = 70000; now < 130000; now += 100)
        tw_advance_clock(&tw, now);
    heap_fail(&memory, 0, false);
    CHECK(tw_advance_clock_limit(&tw, 190000, 20) <= 20);
    while (tw_count(&tw) != 0) {
        uint64_t next = 0;
        CHECK(tw_next_deadline(&tw, &next));
        tw_advance_clock(&tw, next > tw_now(&tw) ? next : 190000);
    }
    CHECK(fired_late == 0 && in_order);
    tw_destroy(&tw);
    CHECK(memory.blocks == 0);
    free(timers);
}

/* Thirteen timers in one chunk, which was sorted too early since the fourteenth
 * was cancelled, leave their bucket all at once. */
static void sorted_bucket_is_emptied(void)
{
    tw_timer *timers = idle_timers(TWI_SLOTS + 2);
    set_up();
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        CHECK(tw_start(&tw, &timers[i], 1024 + i) == TW_OK);
    CHECK(tw_start(&tw, &timers[TWI_SLOTS + 1], 5000) == TW_OK);
    CHECK(tw_cancel(&tw, &timers[0]));
    CHECK(tw_advance_clock(&tw, 1024) == 0);
    for (size_t i = 1; i <= TWI_SLOTS; i++)
        CHECK(tw_cancel(&tw, &timers[i]) && tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 4999) == 0);
    CHECK(tw_advance_clock(&tw, 5000) == 1);
    tear_down();
    free(timers);
}

/* A timer goes from bucket to bucket, on a reserve for one: the chunk of the
 * first bucket is found without a timer, and taken. The bucket, which has none
 * then, comes up all the same. */
static void first_bucket_is_swept(void)
{
    tw_timer *timers = idle_timers(1);
    set_up();
    CHECK(tw_reserve(&tw, 1, 200) == TW_OK);
    size_t calls = memory.calls;
    for (uint64_t tick = 1; tick <= tw.chunks + 3; tick++) {
        CHECK(tw_start(&tw, &timers[0], tick) == TW_OK);
        CHECK(tw_check(&tw));
    }
    CHECK(memory.calls == calls);
    CHECK(tw.wheels[0]->first->back == NULL);
    CHECK(tw_advance_clock(&tw, tw.chunks + 2) == 0 && tw_check(&tw));
    CHECK(tw_advance_clock(&tw, tw.chunks + 3) == 1);
    tear_down();
    free(timers);
}

/* A wheel that has been destroyed does nothing. */
static void destroyed(void)
{
    set_up();
    tw_destroy(&tw);
    CHECK(tw_advance_clock(&tw, 5) == 0 && tw_now(&tw) == 0);
    CHECK(tw_poll(&tw, 5) == NULL && tw_now(&tw) == 0);
}

static const tap_case cases[] = {
    {"a sorted bucket is emptied by cancels", sorted_bucket_is_emptied},
    {"the first bucket loses its chunk to a sweep", first_bucket_is_swept},
    {"a destroyed wheel does nothing", destroyed},
    {"a bucket of hundreds comes up without memory", bucket_without_memory},
    {"memory grows by no more than the largest slab, and all goes back",
     largest_slab},
    {"a cascade meets buckets that cancels have emptied",
     cascade_past_emptied_bucket},
};

int main(int argc, char **argv)
{
    return TAP_RUN(cases, argc, argv);
}
