/* corruption.c - tw_check returns false if any part of the structure is broken.
 * Each case breaks one field, calls tw_check, and repairs the field.
 *
 * SPDX-License-Identifier: MIT
 */
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

static timingwheel tw;
static tw_timer timers[40];

/* Two wheels, a bucket with several chunks, and overdue timers. */
static void set_up(void)
{
    tw_init(&tw, NULL);
    tw_advance_clock(&tw, 1000);
    for (int i = 0; i < 40; i++)
        tw_timer_init(&timers[i], NULL);
    for (uint64_t i = 0; i < 30; i++)
        tw_start(&tw, &timers[i], 1010);
    for (uint64_t i = 30; i < 36; i++)
        tw_start(&tw, &timers[i], 1000 * i);
    for (uint64_t i = 36; i < 40; i++)
        tw_start(&tw, &timers[i], 900 + i);
    CHECK(tw_check(&tw));
}

/* Changes a field, calls tw_check, and restores the field. */
static void breaks(void *field, size_t size, unsigned change)
{
    unsigned char *bytes = (unsigned char *)field, kept[8];
    memcpy(kept, field, size);
    bytes[0] = (unsigned char)(bytes[0] ^ change);
    CHECK(!tw_check(&tw));
    memcpy(field, kept, size);
    CHECK(tw_check(&tw));
}

#define BREAKS(field, change) breaks(&(field), sizeof(field), (change))

static twi_bucket *bucket_at(uint64_t tick)
{
    twi_wheel *wheel = tw.wheels[twi_level_of(&tw, tick)];
    return &wheel->buckets[twi_index_of(&tw, wheel, tick)];
}

static void counters(void)
{
    set_up();
    BREAKS(tw.count, 1);
    BREAKS(tw.chunks, 1);
    BREAKS(tw.next_tick, 1);
    BREAKS(tw.in_use, 1);
    BREAKS(tw.buckets_used, 1);
    BREAKS(tw.unused->bucket, 0x80); /* an unused chunk in a bucket */
    twi_chunk *unused = tw.unused;
    tw.unused = unused->next;
    CHECK(!tw_check(&tw));
    tw.unused = unused;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* The second of three chunks, and the last chunk, which has free slots. */
static void timer_and_chunk(void)
{
    set_up();
    twi_bucket *bucket = bucket_at(1010);
    twi_chunk *chunk = twi_chunk_of(bucket->front)->next;
    twi_chunk *last = twi_last_chunk(bucket);
    CHECK(chunk != last && chunk->number == 1 && last->number == 2);
    BREAKS(timers[3].place, 8);
    BREAKS(timers[3].deadline, 0x10); /* before the bucket's span */
    BREAKS(chunk->bucket, sizeof(twi_bucket));
    BREAKS(chunk->prev, 0x80);
    BREAKS(chunk->number, 1); /* the number of the chunk before */
    BREAKS(chunk->number, 3); /* the number of the chunk behind */
    BREAKS(last->number, 2);
    BREAKS(last->prev, 0x80);
    tw_timer *kept = chunk->slots[5];
    chunk->slots[5] = NULL; /* an empty slot of a pending timer */
    CHECK(!tw_check(&tw));
    chunk->slots[5] = kept;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* Numbers of chunks may have gaps, left by removed chunks, and may wrap. */
static void numbers_of_chunks(void)
{
    set_up();
    twi_bucket *bucket = bucket_at(1010);
    twi_chunk *first = twi_chunk_of(bucket->front);
    first->number = SIZE_MAX - 5;
    CHECK(tw_check(&tw));
    first->number = 1;
    CHECK(!tw_check(&tw));
    first->number = 10;
    CHECK(!tw_check(&tw));
    first->number = 0;
    twi_last_chunk(bucket)->number = 1000;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static void buckets(void)
{
    set_up();
    twi_bucket *bucket = bucket_at(1010);
    BREAKS(bucket->latest, 0x80);
    bucket->latest += 1024; /* in another step */
    CHECK(!tw_check(&tw));
    bucket->latest -= 1024;
    BREAKS(bucket->earliest, 1);
    BREAKS(bucket->back, 0x80); /* in another chunk */
    tw_timer **room = bucket->back;
    bucket->back--; /* leaves out the last timer */
    CHECK(!tw_check(&tw));
    bucket->back = twi_last_chunk(bucket)->slots; /* a chunk without slots */
    CHECK(!tw_check(&tw));
    bucket->back = room;
    CHECK(tw_check(&tw));
    twi_bucket *overdue = &tw.outside[TWI_OVERDUE];
    BREAKS(twi_last_chunk(overdue)->bucket, sizeof(twi_bucket));
    tw_timer **front = overdue->front;
    overdue->front = overdue->back + 1;
    CHECK(!tw_check(&tw));
    overdue->front = front;
    bucket = bucket_at(33000);
    bucket->earliest = 31000; /* in the step of another bucket */
    CHECK(!tw_check(&tw));
    bucket->earliest = 33000;
    CHECK(tw_check(&tw));
    bucket->latest = 33300; /* in the next step */
    CHECK(!tw_check(&tw));
    bucket->latest = 33000;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static void empty_bucket(void)
{
    set_up();
    CHECK(tw_start(&tw, &timers[0], 1020) == TW_OK);
    CHECK(tw_cancel(&tw, &timers[0]));
    twi_bucket *bucket = bucket_at(1020);
    twi_chunk *chunk = twi_last_chunk(bucket);
    CHECK(twi_is_empty(bucket) && bucket->back != NULL);
    BREAKS(bucket->earliest, 0x80); /* in the step of another bucket */
    BREAKS(chunk->bucket, sizeof(twi_bucket));
    BREAKS(chunk->next, 0x80);
    BREAKS(chunk->prev, 0x80);
    bucket->front = bucket->back = chunk->slots + TWI_SLOTS; /* full */
    CHECK(!tw_check(&tw));
    bucket->front = bucket->back = chunk->slots;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* Buckets that never had a timer: in a wheel, and outside. */
static void unused_bucket(void)
{
    set_up();
    twi_bucket *unused[] = {bucket_at(1200), &tw.outside[TWI_STUCK]};
    for (int i = 0; i < 2; i++) {
        CHECK(unused[i]->back == NULL && unused[i]->front == NULL);
        unused[i]->front = bucket_at(1010)->front;
        CHECK(!tw_check(&tw));
        unused[i]->front = NULL;
        CHECK(tw_check(&tw));
    }
    tw_destroy(&tw);
}

static void wheels(void)
{
    set_up();
    tw_start(&tw, &timers[29], 1020);
    twi_wheel *wheel = tw.wheels[0];
    size_t first = (size_t)(wheel->first - wheel->buckets);
    uint64_t marks = twi_marks(wheel)[first / 64];
    twi_marks(wheel)[first / 64] = 0;
    CHECK(!tw_check(&tw));
    twi_marks(wheel)[first / 64] = marks;
    CHECK(tw_check(&tw));
    uint32_t second = twi_index_of(&tw, wheel, 1020);
    marks = twi_marks(wheel)[second / 64];
    twi_marks(wheel)[second / 64] ^= UINT64_C(1) << (second % 64);
    CHECK(!tw_check(&tw));
    twi_marks(wheel)[second / 64] = marks;
    CHECK(tw_check(&tw));
    BREAKS(wheel->first, sizeof(twi_bucket));
    BREAKS(wheel->queue_tick, 1);
    BREAKS(wheel->queue_index, 1);
    BREAKS(wheel->queue_index, 0x40);
    wheel = tw.wheels[1];
    CHECK(wheel->first->earliest == 30000 && wheel->queue_tick == 30000);
    BREAKS(wheel->first->earliest, 0x10); /* 29984: not in the delay queue */
    tw_destroy(&tw);
}

/* A wheel without timers is neither in the delay queue nor cached as
 * last_wheel. */
static void empty_wheel(void)
{
    tw_init(&tw, NULL);
    CHECK(tw_reserve(&tw, 1, 100000) == TW_OK);
    CHECK(tw_check(&tw));
    tw.last_wheel = tw.wheels[0];
    CHECK(!tw_check(&tw));
    tw.last_wheel = NULL;
    tw.wheels[0]->queue_index = 0;
    CHECK(!tw_check(&tw));
    tw.wheels[0]->queue_index = TWI_UNQUEUED;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* With ticks of several units, or with max_pending, no wheel is cached. */
static void unusual_wheel(void)
{
    for (uint64_t tick = 1; tick <= 2; tick++) {
        tw_config config = {tick, 0, 0, 2 - tick, NULL};
        tw_init(&tw, &config);
        CHECK(tw_start(&tw, &timers[0], 1000) == TW_OK);
        CHECK(tw.last_wheel == NULL && tw_check(&tw));
        tw.last_wheel = tw.queue[0];
        CHECK(!tw_check(&tw));
        tw_destroy(&tw);
    }
}

/* Four timers of one bucket. The first timer has fired. */
static void order_of_a_bucket(void)
{
    set_up();
    for (uint64_t i = 0; i < 4; i++)
        tw_start(&tw, &timers[i], 1300 + 3 * (4 - i));
    tw_advance_clock(&tw, 1303);
    twi_wheel *wheel = tw.wheels[1];
    CHECK(wheel->progress == TWI_SORTED);
    BREAKS(timers[2].place, TWI_SORTED_BIT); /* not marked as sorted */
    timers[2].deadline = 1310;               /* behind the timer of 1309 */
    CHECK(!tw_check(&tw));
    timers[2].deadline = 1313; /* postponed, and yet to move */
    CHECK(tw_check(&tw));
    timers[1].deadline = 1311; /* behind the beyond timer, two out of order */
    timers[0].deadline = 1309;
    CHECK(!tw_check(&tw));
    timers[2].deadline = 1306;
    timers[1].deadline = 1312; /* the last tick, before an earlier one */
    timers[0].deadline = 1309;
    CHECK(!tw_check(&tw));
    timers[1].deadline = 1309;
    timers[0].deadline = 1312;
    CHECK(tw_check(&tw));
    CHECK(tw_cancel(&tw, &timers[1]) && tw_check(&tw));
    timers[2].deadline = 1311;
    timers[0].deadline = 1309; /* behind the dead slot */
    CHECK(!tw_check(&tw));
    timers[0].deadline = 1312;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static void delay_queue(void)
{
    set_up();
    CHECK(tw.queued == 2);
    BREAKS(tw.queued, 1);
    twi_wheel *first = tw.queue[0], *second = tw.queue[1];
    twi_queue_set(&tw, 0, second);
    twi_queue_set(&tw, 1, first);
    CHECK(!tw_check(&tw));
    twi_queue_set(&tw, 0, first);
    twi_queue_set(&tw, 1, second);
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* A wheel that was moved, copied or never set up. */
static void not_at_home(void)
{
    static timingwheel moved;
    set_up();
    BREAKS(tw.self, 0x40);
    moved = tw;
    CHECK(!tw_check(&moved));
    tw_destroy(&tw);
    CHECK(!tw_check(&tw));
    CHECK(!tw_check(NULL));
}

/* Starts the timers of a large bucket. A tick is `unit` time units. */
static void start_large_bucket(uint64_t unit)
{
    static tw_timer many[(TWI_LARGE_CHUNKS + 4 * TWI_BATCH) * TWI_SLOTS];
    for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++) {
        tw_timer_init(&many[i], NULL);
        CHECK(tw_start(&tw, &many[i], unit * (1536 + i % 256)) == TW_OK);
    }
}

/* A bucket that may be large. No call would move its timers before it comes
 * up. */
static void large_unnoticed(void)
{
    set_up();
    start_large_bucket(1);
    CHECK(tw.wheels[1]->may_have_large && tw.ahead_at == 0);
    CHECK(tw_advance_clock(&tw, 1020) == 34);
    CHECK(tw_check(&tw));
    CHECK(tw.ahead_at > 1020 && tw.ahead_at <= 1024);
    tw.ahead_at = 1025; /* beyond the start of the next step */
    CHECK(!tw_check(&tw));
    tw.ahead_at = 1024;
    CHECK(tw_check(&tw));
    CHECK(tw_advance_clock(&tw, 1400) == 0); /* within the step before */
    tw_stats stats;
    tw_get_stats(&tw, &stats);
    CHECK(stats.cascaded > 0);
    CHECK(tw_check(&tw) && tw.ahead_at > 1400 && tw.ahead_at <= 1536);
    tw.ahead_at = 1537;
    CHECK(!tw_check(&tw));
    tw.ahead_at = 1536;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* The same with ticks of ten time units. */
static void large_unnoticed_in_long_ticks(void)
{
    tw_config config = {0};
    config.tick = 10;
    tw_init(&tw, &config);
    start_large_bucket(10);
    CHECK(tw_advance_clock(&tw, 10 * 1020) == 0 && tw_check(&tw));
    tw.ahead_at = 1025; /* beyond the start of the next step */
    CHECK(!tw_check(&tw));
    tw.ahead_at = 1024;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* Overdue timers that no call would find. */
static void overdue_unnoticed(void)
{
    set_up();
    CHECK(tw_advance_clock_limit(&tw, 1000, 1) == 1);
    CHECK(tw.has_outside && tw_check(&tw));
    tw.has_outside = false;
    CHECK(!tw_check(&tw));
    tw.has_outside = true;
    (void)tw_advance_clock(&tw, 1000);
    (void)tw_advance_clock(&tw, 1000);
    CHECK(!tw.has_outside && tw_check(&tw));
    tw.turn_count = 2; /* a turn without a call that left timers */
    CHECK(!tw_check(&tw));
    tw.turn_count = 1;
    tw_destroy(&tw);
}

static void clock_ahead(void)
{
    set_up();
    tw.clock_tick += 100; /* past a pending timer */
    CHECK(!tw_check(&tw));
    tw.clock_tick -= 700; /* so far back that a timer is beyond its wheel's
                           * reach */
    CHECK(!tw_check(&tw));
    tw.clock_tick += 600;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static const tap_case cases[] = {
    {"tw_check: is false for a broken counter", counters},
    {"tw_check: is false for a broken timer or chunk", timer_and_chunk},
    {"tw_check: is false for a broken bucket", buckets},
    {"tw_check: is false for a broken empty bucket", empty_bucket},
    {"tw_check: is false for a broken unused bucket", unused_bucket},
    {"tw_check: is false for a broken wheel", wheels},
    {"tw_check: is false for a wheel without timers in the delay queue",
     empty_wheel},
    {"tw_check: is false for a cached wheel that must not be cached",
     unusual_wheel},
    {"tw_check: is false for a broken order within a bucket",
     order_of_a_bucket},
    {"tw_check: is false for a broken delay queue", delay_queue},
    {"tw_check: is false for chunks whose numbers are out of order",
     numbers_of_chunks},
    {"tw_check: is false for a wheel that was moved", not_at_home},
    {"tw_check: is false if no call would move a large bucket ahead",
     large_unnoticed},
    {"tw_check: is false if no call would move it, with long ticks",
     large_unnoticed_in_long_ticks},
    {"tw_check: is false if no call would find the overdue timers",
     overdue_unnoticed},
    {"tw_check: is false for a clock beyond a pending timer", clock_ahead},
};

TAP_MAIN(cases)
