/* corners.c - what the other tests never or hardly come to: the largest slab,
 * a sort with exactly the memory that it needs, and the faults that tw_check
 * finds only after it has looked at nearly everything.
 *
 *     corners [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdlib.h>

#include "heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../timingwheel.h"

#include "tap.h"

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

/* A quarter of a million chunks, of which a quarter is more than a slab may
 * have: an ordinal has 16 bits. Then all memory goes back. */
static void largest_slab(void)
{
    const size_t reserved = 4 * ((size_t)TWI_MOST_CHUNKS + 1);
    const size_t most = reserved + 100;
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

/* -------------------------------------------------------------- sorting --- */

#define MOST_OVERDUE 150

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695041;
    return (random_state >> 33) % limit;
}

typedef struct overdue {
    tw_timer timer;
    uint64_t start_number;
} overdue;

static overdue late[MOST_OVERDUE];
static tw_timer fillers[64 * TWI_SLOTS];
static overdue *last_fired;
static uint64_t fired;
static bool in_order;

static void fires_in_order(timingwheel *wheel, tw_timer *timer)
{
    overdue *o = (overdue *)(void *)timer;
    (void)wheel;
    if (last_fired != NULL) {
        uint64_t before = last_fired->timer.deadline;
        in_order &= before < timer->deadline ||
                    (before == timer->deadline &&
                     last_fired->start_number < o->start_number);
    }
    last_fired = o;
    fired++;
}

/* Starts overdue timers in any order of their ticks and cancels some, so that
 * their chunks have holes; returns how many are left. */
static uint64_t start_overdue(uint64_t ticks, uint64_t cancelled_of_ten)
{
    uint64_t count = 2 + random_below(MOST_OVERDUE - 1), left = count;
    for (uint64_t i = 0; i < count; i++) {
        tw_timer_init(&late[i].timer, fires_in_order);
        late[i].start_number = i;
        tw_start(&tw, &late[i].timer, random_below(ticks));
    }
    for (uint64_t i = 0; i < count; i++)
        if (random_below(10) < cancelled_of_ten)
            left -= tw_cancel(&tw, &late[i].timer);
    return left;
}

/* Starts timers of one tick until `spare` chunks are left. */
static uint64_t leave_spare(size_t spare, uint64_t tick)
{
    uint64_t started = 0;
    while (twi_spare(&tw, SIZE_MAX) != spare) {
        tw_timer_init(&fillers[started], NULL);
        tw_start(&tw, &fillers[started], tick);
        started++;
    }
    return started;
}

/* Fires overdue timers with `spare` chunks left and no more memory. */
static void fire_overdue(size_t spare, uint64_t ticks, uint64_t holes)
{
    set_up();
    tw_advance_clock(&tw, UINT64_C(1) << 40);
    uint64_t left = start_overdue(ticks, holes);
    uint64_t others = leave_spare(spare, tw.clock + 1);
    last_fired = NULL;
    fired = 0;
    in_order = true;
    heap_fail(&memory, 1, true);
    CHECK(tw_advance_clock(&tw, tw_now(&tw)) == left);
    CHECK(fired == left && tw_count(&tw) == others);
    CHECK(in_order);
    heap_fail(&memory, 0, false);
    tear_down();
}

/* Every amount of spare memory, many ranges of ticks, few holes or many. */
static void sort_with_little_memory(void)
{
    static const uint64_t ranges[] = {2, 3, 16, 1000, UINT64_C(1) << 32};
    random_state = 1;
    for (size_t spare = 0; spare <= 5; spare++)
        for (size_t range = 0; range < 5; range++)
            for (uint64_t holes = 0; holes < 10; holes++)
                for (int round = 0; round < 10; round++)
                    fire_overdue(spare, ranges[range], holes);
}

/* With four chunks to spare it is a sort, which takes no memory; with three and
 * no memory the timers stay as they are, and are looked through for each
 * tick. */
static void sort_takes_four_chunks(void)
{
    for (size_t spare = 3; spare <= 4; spare++) {
        random_state = 2;
        set_up();
        tw_advance_clock(&tw, UINT64_C(1) << 40);
        uint64_t left = start_overdue(1000, 3);
        leave_spare(spare, tw.clock + 1);
        heap_fail(&memory, 1, true);
        CHECK(left > 3);
        CHECK(tw.unsorted[TWI_OWED]);
        tw_advance_clock_limit(&tw, tw_now(&tw), 1);
        CHECK(tw.unsorted[TWI_OWED] == (spare == 3));
        CHECK((memory.failures != 0) == (spare == 3));
        CHECK(twi_spare(&tw, SIZE_MAX) >= spare);
        CHECK(tw_count(&tw) >= left - 1);
        heap_fail(&memory, 0, false);
        tear_down();
    }
}

/* Starts timers for a tick, more than one chunk of them, and cancels all: their
 * bucket holds a chunk for nothing. */
static void hold_a_chunk(tw_timer *timers, uint64_t tick)
{
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        CHECK(tw_start(&tw, &timers[i], tick) == TW_OK);
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        CHECK(tw_cancel(&tw, &timers[i]));
}

/* Where there are too few chunks to sort with, those held for nothing will do;
 * and where memory runs out after a reserve, a start is refused. */
static void after_a_reserve(void)
{
    tw_timer *timers = idle_timers(TWI_SLOTS + 1), *others = idle_timers(200);
    set_up();
    tw_advance_clock(&tw, 10);
    CHECK(tw_reserve(&tw, 10, 200) == TW_OK);
    heap_fail(&memory, 1, true);
    for (size_t i = 0; i < 4; i++)
        CHECK(tw_start(&tw, &others[i], 9 - i) == TW_OK);
    CHECK(tw_start(&tw, &others[4], 15) == TW_OK);
    for (uint64_t tick = 20; twi_spare(&tw, SIZE_MAX) >= 4; tick++)
        hold_a_chunk(timers, tick);
    tw_advance_clock_limit(&tw, 10, 1);
    CHECK(!tw.unsorted[TWI_OWED] && memory.failures == 0);
    size_t started = 5;
    while (started < 200 && tw_start(&tw, &others[started], 15) == TW_OK)
        started++;
    CHECK(started < 200 && memory.failures == 1 && tw_check(&tw));
    heap_fail(&memory, 0, false);
    CHECK(tw_start(&tw, &others[started], 15) == TW_OK);
    tear_down();
    free(timers);
    free(others);
}

#define STRANDED_BUCKETS 8

/* Timers that have been postponed to a wheel for which there is no memory are
 * met in their old buckets and kept aside; the sort that these call for runs
 * out of chunks. Still they fire in time and in order. */
static void sort_without_memory(void)
{
    const uint64_t far = UINT64_C(1) << 40;
    size_t count = STRANDED_BUCKETS * TWI_SLOTS, number = 0;
    overdue *stranded = (overdue *)calloc(count, sizeof(*stranded));
    if (stranded == NULL)
        abort();
    set_up();
    for (size_t i = 0; i < count; i++) {
        tw_timer_init(&stranded[i].timer, fires_in_order);
        tw_start(&tw, &stranded[i].timer, 1000 * (1 + i / TWI_SLOTS));
    }
    leave_spare(4, tw.clock + 1);
    size_t others = tw_count(&tw) - count;
    heap_fail(&memory, 1, true);
    for (size_t i = 0; i < count; i++)
        tw_postpone(&tw, &stranded[i].timer, far + i * 7919 % 1000);
    CHECK(tw_advance_clock(&tw, 1000 * (STRANDED_BUCKETS + 1)) == others);
    CHECK(tw_check(&tw) && tw_count(&tw) == count);
    last_fired = NULL;
    fired = 0;
    in_order = true;
    for (; number < 1000; number++)
        tw_advance_clock(&tw, far + number);
    CHECK(fired == count && in_order);
    heap_fail(&memory, 0, false);
    tear_down();
    free(stranded);
}

/* ------------------------------------------------------------- tw_check --- */

/* An empty wheel is not in the delay queue, and says so; its earliest tick is
 * the end of time. As long as it holds a timer it is that timer's. */
static void wheel_gone_empty(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_start(&tw, &timer, 10) == TW_OK);
    twi_wheel *wheel = tw.wheels[0];
    CHECK(tw_check(&tw));
    wheel->earliest++;
    CHECK(!tw_check(&tw));
    wheel->earliest--;
    CHECK(tw_cancel(&tw, &timer));
    CHECK(tw.wheels[0] == wheel && !twi_is_queued(wheel));
    CHECK(tw_check(&tw));
    wheel->earliest--;
    CHECK(!tw_check(&tw));
    wheel->earliest++;
    wheel->queue_index = 0;
    CHECK(!tw_check(&tw));
    wheel->queue_index = TWI_UNQUEUED;
    CHECK(tw_check(&tw));
    tear_down();
}

/* A bucket that says it holds timers from a tick which belongs to another. */
static void bucket_of_another_tick(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_start(&tw, &timer, 10) == TW_OK);
    twi_bucket *bucket = &tw.wheels[0]->buckets[10];
    bucket->earliest = 9;
    tw.wheels[0]->earliest = 9;
    tw.queue[0].tick = 9;
    CHECK(!tw_check(&tw));
    bucket->earliest = 10;
    tw.wheels[0]->earliest = 10;
    tw.queue[0].tick = 10;
    tear_down();
}

/* A bucket that was emptied may keep its mark, unless it is the first. */
static void mark_of_nothing(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_start(&tw, &timer, 100) == TW_OK);
    tw.wheels[0]->marks[2] |= 1; /* of bucket 128 */
    CHECK(!tw_check(&tw)); /* for it is said that only the first has one */
    tw.wheels[0]->one_marked = false;
    CHECK(tw_check(&tw));
    tw.wheels[0]->marks[0] |= 1; /* of bucket 0, the clock's own */
    CHECK(!tw_check(&tw));
    tw.wheels[0]->marks[0] = 0;
    tear_down();
}

/* A bucket that was emptied keeps its span until it is made ready for new
 * timers, and its mark as long as that. */
static void mark_missing(void)
{
    tw_timer first = TW_TIMER_INIT(NULL), second = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_start(&tw, &first, 10) == TW_OK);
    CHECK(tw_start(&tw, &second, 200) == TW_OK);
    CHECK(tw_cancel(&tw, &second));
    CHECK(tw_check(&tw));
    tw.wheels[0]->marks[200 / 64] = 0;
    CHECK(!tw_check(&tw));
    twi_mark(tw.wheels[0], 200);
    CHECK(tw_check(&tw));
    tear_down();
}

/* A start may be put where it finds its tick within the span of a bucket, be it
 * empty, that has room. */
static void spans_for_starts(void)
{
    static const uint64_t wrong[][2] = {
        {1024, 1030},   /* in another step                                   */
        {66304, 66400}, /* in that bucket's step of the next turn            */
        {1000, 1024},   /* in two steps                                      */
    };
    tw_timer first = TW_TIMER_INIT(NULL), second = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_advance_clock(&tw, 300) == 0);
    CHECK(tw_start(&tw, &first, 600) == TW_OK);
    CHECK(tw_start(&tw, &second, 1000) == TW_OK);
    twi_bucket *bucket = &tw.wheels[1]->buckets[3];
    for (int is_empty = 0; is_empty <= 1; is_empty++) {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            bucket->earliest = wrong[i][0];
            bucket->latest = wrong[i][1];
            CHECK(!tw_check(&tw));
        }
        bucket->earliest = 1000;
        bucket->latest = 1000;
        CHECK(tw_check(&tw));
        CHECK(tw_cancel(&tw, &second) == (is_empty == 0));
    }
    tear_down();
}

/* A bucket whose time has come may have a span that ends in another step, if no
 * start can be put there. */
static void span_of_a_bucket_come_up(void)
{
    for (size_t count = TWI_SLOTS - 1; count <= TWI_SLOTS; count++) {
        tw_timer timers[TWI_SLOTS];
        set_up();
        for (size_t i = 0; i < count; i++) {
            tw_timer_init(&timers[i], NULL);
            CHECK(tw_start(&tw, &timers[i], 600) == TW_OK);
        }
        twi_bucket *bucket = &tw.wheels[1]->buckets[2];
        CHECK(twi_has_room(bucket) == (count < TWI_SLOTS));
        bucket->latest = 768;
        CHECK(!tw_check(&tw));
        bucket->latest = 600;
        CHECK(tw_advance_clock(&tw, 599) == 0);
        bucket->latest = 768;
        CHECK(tw_check(&tw) == (count == TWI_SLOTS));
        bucket->latest = 600;
        tear_down();
    }
}

/* What a start takes for granted: the wheels at hand, and the bucket of the
 * deadline that was started before. */
static void notes_for_starts(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL), later = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_start(&tw, &later, 20) == TW_OK);
    CHECK(tw.usual == NULL); /* it was the first of its wheel */
    CHECK(tw_start(&tw, &timer, 10) == TW_OK);
    twi_wheel *wheel = tw.wheels[0];
    twi_bucket *bucket = &wheel->buckets[10];
    for (unsigned level = 0; level < TWI_NEAR; level++) {
        twi_wheel *plain = tw.plain[level];
        CHECK(plain == tw.wheels[level]);
        tw.plain[level] = plain == NULL ? wheel : NULL;
        CHECK(!tw_check(&tw));
        tw.plain[level] = plain;
    }
    CHECK(tw.usual == wheel && tw.usual_above == 0);
    CHECK(tw.span_above == UINT64_MAX);
    tw.span_above = 1;
    CHECK(!tw_check(&tw));
    tw.span_above = 0;
    CHECK(tw_check(&tw));
    tw.span_above = UINT64_MAX;
    tw.usual_above = 1;
    CHECK(!tw_check(&tw));
    tw.usual = NULL;
    CHECK(!tw_check(&tw));
    tw.usual_above = UINT64_MAX;
    CHECK(tw_check(&tw));
    CHECK(tw.recent == 10 && tw.recent_clock == 0 && tw.recent_home == bucket);
    tw.recent_home = bucket + 1;
    CHECK(!tw_check(&tw));
    tw.recent_home = bucket;
    for (uint64_t recent = 0; recent <= 266; recent++) {
        tw.recent = recent;
        CHECK(tw_check(&tw) == (recent == 10));
    }
    tw.recent = 10;
    tw.recent_clock = 1; /* it is not relied on then */
    CHECK(tw_check(&tw));
    tw.recent_clock = 0;
    tw.recent_home = NULL;
    CHECK(tw_check(&tw));
    CHECK(tw_cancel(&tw, &timer));
    CHECK(tw_start(&tw, &later, 600) == TW_OK);
    CHECK(tw_start(&tw, &timer, 300) == TW_OK); /* in a bucket of 256 ticks */
    CHECK(tw.usual == tw.wheels[1] && tw.usual_above == 255);
    CHECK(tw.recent == 300 && tw_check(&tw));
    tw.recent = 299;
    CHECK(!tw_check(&tw));
    tw.recent = 301;
    CHECK(!tw_check(&tw));
    tw.recent = 300;
    tear_down();
}

/* The same where a tick is ten time units; and with a limit to the timers. */
static void notes_with_a_limit(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    tw_config config = {0};
    config.tick = 10;
    config.start = 50;
    CHECK(tw_init(&tw, &config) == TW_OK);
    CHECK(tw_start(&tw, &timer, 95) == TW_OK);
    CHECK(tw.recent == 95 && tw.recent_clock == 5 && tw_check(&tw));
    CHECK(tw.usual == NULL); /* a start has to work out its tick */
    tw.usual = tw.wheels[0];
    tw.usual_above = 0;
    CHECK(!tw_check(&tw));
    tw.usual = NULL;
    tw.usual_above = UINT64_MAX;
    tw.recent = 101;
    CHECK(!tw_check(&tw));
    tw.recent = 95;
    tw.most = 1; /* then nothing may be noted */
    CHECK(!tw_check(&tw));
    tw.most = SIZE_MAX;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
    config.max_pending = 2;
    CHECK(tw_init(&tw, &config) == TW_OK);
    CHECK(tw_start(&tw, &timer, 95) == TW_OK);
    CHECK(tw.recent_home == NULL && tw_check(&tw));
    tw_destroy(&tw);
}

/* The head of the delay queue stands for a bucket with timers, and will notice
 * when the last of them goes. */
static void first_bucket_unwatched(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_start(&tw, &timer, 10) == TW_OK);
    twi_bucket *bucket = &tw.wheels[0]->buckets[10], was = *bucket;
    bucket->head->live %= TWI_WATCHED;
    CHECK(!tw_check(&tw));
    bucket->head->live |= TWI_WATCHED;
    CHECK(tw_check(&tw));
    bucket->room--; /* as if it had no timer */
    CHECK(!tw_check(&tw));
    *bucket = was;
    tear_down();
}

/* A bucket whose own chunk is lent to those owed has none. */
static void bucket_without_chunk(void)
{
    tw_timer stranded = TW_TIMER_INIT(NULL), other = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_start(&tw, &stranded, 20) == TW_OK);
    CHECK(tw_postpone(&tw, &stranded, 100000) == TW_OK);
    heap_fail(&memory, 1, true);
    CHECK(tw_advance_clock(&tw, 30) == 0);
    heap_fail(&memory, 0, false);
    CHECK(tw_start(&tw, &other, 50) == TW_OK);
    CHECK(tw.wheels[0]->buckets[20].head == NULL);
    CHECK(tw_check(&tw));
    tear_down();
}

/* Only the last chunk of a wheel's first bucket is watched. */
static void wrong_chunk_watched(void)
{
    tw_timer *timers = idle_timers(TWI_SLOTS + 2);
    set_up();
    tw_advance_clock(&tw, 1);
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        CHECK(tw_start(&tw, &timers[i], 10) == TW_OK);
    CHECK(tw_start(&tw, &timers[TWI_SLOTS + 1], 1) == TW_OK);
    twi_chunk *own = tw.wheels[0]->buckets[10].head;
    twi_chunk *overdue_one = tw.aside[TWI_OWED].head;
    CHECK(own->next != NULL && overdue_one->next == NULL);
    own->live |= TWI_WATCHED;
    CHECK(!tw_check(&tw));
    own->live %= TWI_WATCHED;
    CHECK(tw_check(&tw));
    overdue_one->live |= TWI_WATCHED;
    CHECK(!tw_check(&tw));
    overdue_one->live %= TWI_WATCHED;
    static const uint64_t ticks[] = {20, 255, 256};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        CHECK(tw_start(&tw, &timers[TWI_SLOTS + 1], ticks[i]) == TW_OK);
        twi_chunk *later_one = tw.wheels[0]->buckets[ticks[i] % 256].head;
        later_one->live |= TWI_WATCHED;
        CHECK(!tw_check(&tw));
        later_one->live %= TWI_WATCHED;
        CHECK(tw_check(&tw));
    }
    tear_down();
    free(timers);
}

static void aside_unnoticed(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_start(&tw, &timer, 0) == TW_OK);
    tw.nonempty_aside ^= UINT32_C(1) << TWI_OWED;
    CHECK(!tw_check(&tw));
    tw.nonempty_aside ^= UINT32_C(1) << TWI_OWED;
    tear_down();
}

/* A slab that has been cut up says it had one more chunk, and cut that too. */
static void slab_of_another_size(void)
{
    size_t started = 0;
    tw_timer *timers = idle_timers(64 * TWI_SLOTS);
    set_up();
    while (tw.slabs == NULL || tw.slabs->next == NULL)
        CHECK(tw_start(&tw, &timers[started++], 10) == TW_OK);
    twi_slab *older = tw.slabs->next;
    CHECK(older->cut == older->chunks);
    older->chunks++;
    older->cut++;
    CHECK(!tw_check(&tw));
    older->chunks--;
    older->cut--;
    tear_down();
    free(timers);
}

/* ----------------------------------------------------------- cascading --- */

#define CROWD 20

/* A crowd in wheel 2 comes up at 1036. On its way down to wheel 0 it passes the
 * bucket of wheel 1 where timers for the same ticks were, until they were
 * cancelled, and may be put there or pass it; it fires in time. */
static void cascade_past_emptied_bucket(void)
{
    static tw_timer crowd[CROWD + 1], before, gone[2];
    tw_config config = {0};
    set_up();
    config.wheel_size = 16;
    config.alloc_context = &memory;
    tw_init(&tw, &config);
    tw_start(&tw, &crowd[0], 1036);
    for (int i = 1; i <= CROWD; i++)
        tw_start(&tw, &crowd[i], 1050 + (uint64_t)i % 2);
    tw_advance_clock(&tw, 900);
    tw_start(&tw, &before, 1038);
    tw_start(&tw, &gone[0], 1050);
    tw_start(&tw, &gone[1], 1051);
    tw_cancel(&tw, &gone[0]);
    tw_cancel(&tw, &gone[1]);
    CHECK(tw_advance_clock(&tw, 1036) == 1);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 1049) == 1);
    CHECK(tw_advance_clock(&tw, 1050) == CROWD / 2);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 1051) == CROWD / 2);
    tear_down();
}

/* The last of a crowd cascades into a bucket that cancels have emptied, when no
 * chunk is left and the bucket's own is lent to those owed: the one that it
 * holds for nothing is reclaimed, and it has no mark meanwhile. */
static void cascade_into_reclaimed_bucket(void)
{
    static tw_timer crowd[TWI_RUN + 2], stranded, before, gone;
    const size_t last = TWI_RUN + 1;
    const uint64_t tick = 2 * TW_DEFAULT_WHEEL_SIZE + 10;
    set_up();
    for (size_t i = 0; i < last; i++)
        tw_start(&tw, &crowd[i], tick - 10 + 100 * (i % 2));
    tw_start(&tw, &crowd[last], tick);
    tw_start(&tw, &stranded, tick % TW_DEFAULT_WHEEL_SIZE);
    heap_fail(&memory, 1, true);
    tw_postpone(&tw, &stranded, UINT64_C(1) << 40);
    CHECK(tw_advance_clock(&tw, tick - 100) == 0);
    CHECK(tw.wheels[0]->buckets[10].head == NULL);
    heap_fail(&memory, 0, false);
    tw_start(&tw, &before, tick - 5);
    tw_start(&tw, &gone, tick);
    tw_cancel(&tw, &gone);
    CHECK(twi_is_held_for_nothing(&tw.wheels[0]->buckets[10]));
    leave_spare(0, UINT64_C(1) << 20);

    heap_fail(&memory, 1, true);
    CHECK(tw_advance_clock(&tw, tick - 10) == (last + 1) / 2);
    CHECK(memory.failures != 0);
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, tick) == 2);
    CHECK(tw_timer_state(&crowd[last]) == TW_FIRED);
    heap_fail(&memory, 0, false);
    tear_down();
}

static const tap_case cases[] = {
    {"memory grows by no more than the largest slab, and all goes back",
     largest_slab},
    {"overdue timers fire in order, however little memory there is",
     sort_with_little_memory},
    {"sorting overdue timers takes four chunks and no memory",
     sort_takes_four_chunks},
    {"what is reserved, and held for nothing, is used up first",
     after_a_reserve},
    {"a bucket whose own chunk is lent is sound", bucket_without_chunk},
    {"a sort that runs out of memory loses and confuses nothing",
     sort_without_memory},
    {"tw_check is content with a wheel that has become empty",
     wheel_gone_empty},
    {"tw_check sees a bucket with a tick that is another's",
     bucket_of_another_tick},
    {"tw_check minds the mark of an empty bucket only if it is the first",
     mark_of_nothing},
    {"tw_check sees that a mark is missing", mark_missing},
    {"tw_check sees a span that is out of place", spans_for_starts},
    {"tw_check lets a span end behind a bucket that has come up",
     span_of_a_bucket_come_up},
    {"tw_check sees what a start must not rely on", notes_for_starts},
    {"nor where there is a limit, or another tick", notes_with_a_limit},
    {"tw_check sees that the emptying of a first bucket would go unnoticed",
     first_bucket_unwatched},
    {"tw_check sees a watched chunk that should not be", wrong_chunk_watched},
    {"tw_check sees overdue timers that would go unnoticed", aside_unnoticed},
    {"tw_check sees a slab of another size", slab_of_another_size},
    {"a cascade meets buckets that cancels have emptied",
     cascade_past_emptied_bucket},
    {"a cascade takes back the chunk of the bucket that it fills",
     cascade_into_reclaimed_bucket},
};

int main(int argc, char **argv)
{
    return TAP_RUN(cases, argc, argv);
}
