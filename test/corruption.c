/* corruption.c - tw_check answers false when any part of the structure is
 * broken: each case breaks one field, looks, and mends it again.
 *
 * SPDX-License-Identifier: MIT
 */
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../timingwheel.h"

#include "tap.h"

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

/* Adds `change` to the bytes of a field, with a look in between. */
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
    return twi_bucket_at(wheel, twi_index_of(&tw, wheel, tick));
}

static void counters(void)
{
    set_up();
    BREAKS(tw.count, 1);
    BREAKS(tw.chunks, 1);
    BREAKS(tw.slabs->chunks, 1);
    BREAKS(tw.slabs->cut, 1);
    tw_destroy(&tw);
}

static void timer_and_chunk(void)
{
    set_up();
    twi_chunk *chunk = bucket_at(1010)->head;
    BREAKS(timers[3].place, 8);
    BREAKS(timers[3].deadline, 0x40);
    BREAKS(chunk->live, 1);
    BREAKS(chunk->live, chunk->live);
    BREAKS(chunk->end, 0x40);
    BREAKS(chunk->first, 0x0f);
    BREAKS(chunk->level, 1);
    BREAKS(chunk->bucket, 1);
    BREAKS(chunk->next->prev, 8);
    tw_destroy(&tw);
}

static void buckets(void)
{
    set_up();
    twi_bucket *bucket = bucket_at(1010);
    BREAKS(bucket->room, 0x80);
    BREAKS(bucket->latest, 0x80);
    BREAKS(bucket->earliest, 1);
    BREAKS(tw.aside[TWI_OWED].latest, 0x80);
    BREAKS(tw.aside[TWI_OWED].room, 0x80);
    tw_destroy(&tw);
}

static void wheels(void)
{
    set_up();
    tw_start(&tw, &timers[29], 1020); /* a second bucket, or reach is 0 */
    twi_wheel *wheel = tw.wheels[0];
    uint64_t marks = wheel->marks[wheel->first / 64];
    wheel->marks[wheel->first / 64] = 0;
    CHECK(!tw_check(&tw));
    wheel->marks[wheel->first / 64] = marks;
    CHECK(tw_check(&tw));
    BREAKS(wheel->first, 1);
    BREAKS(wheel->earliest, 1);
    uint64_t reach = wheel->reach;
    wheel->reach = tw.clock + 256; /* all of the window */
    CHECK(tw_check(&tw));
    wheel->reach++;
    CHECK(!tw_check(&tw));
    wheel->reach = reach;
    BREAKS(wheel->queue_index, 1);
    BREAKS(wheel->queue_index, 0x40);
    tw_destroy(&tw);
}

/* Four timers of one bucket, of which the first has fired. */
static void order_of_a_bucket(void)
{
    set_up();
    for (uint64_t i = 0; i < 4; i++)
        tw_start(&tw, &timers[i], 1300 + 3 * (4 - i));
    tw_advance_clock(&tw, 1303);
    twi_wheel *wheel = tw.wheels[1];
    unsigned first = twi_first_of(wheel)->head->first;
    CHECK(wheel->sorted && wheel->ticks[first] == 1306);
    BREAKS(wheel->noted, 0xff);         /* no room behind it */
    BREAKS(wheel->ticks[first], 1);     /* after its timer's */
    BREAKS(wheel->ticks[first + 1], 4); /* before the one in front of it */
    CHECK(tw_cancel(&tw, &timers[1]));
    BREAKS(wheel->ticks[first + 2], 0x20);
    tw_destroy(&tw);
}

#if TWI_RUN_CHUNKS > 1
/* Twenty timers of one bucket, in two chunks, of which the first has fired. */
static void order_of_a_run(void)
{
    set_up();
    for (uint64_t i = 0; i < 20; i++)
        tw_start(&tw, &timers[i], 1319 - i);
    tw_advance_clock(&tw, 1300);
    twi_wheel *wheel = tw.wheels[1];
    unsigned second = wheel->noted + TWI_SLOTS;
    CHECK(wheel->sorted && wheel->is_run);
    CHECK(twi_noted_tick(&tw, wheel, second) == 1300 + TWI_SLOTS);
    BREAKS(wheel->last_bits[second], 0x40); /* after its timer's */
    BREAKS(wheel->last_bits[second + 1], 0x20); /* before the one in front */
    tw_destroy(&tw);
}
#endif

static void delay_queue(void)
{
    set_up();
    CHECK(tw.queued == 2);
    BREAKS(tw.queued, 1);
    BREAKS(tw.queue[0].tick, 1);
    BREAKS(tw.queue[1].tick, 1);
    twi_entry first = tw.queue[0], second = tw.queue[1];
    twi_queue_set(&tw, 0, second);
    twi_queue_set(&tw, 1, first);
    CHECK(!tw_check(&tw));
    twi_queue_set(&tw, 0, first);
    twi_queue_set(&tw, 1, second);
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static void clock_ahead(void)
{
    set_up();
    tw.clock += 100; /* past a timer that has not fired */
    CHECK(!tw_check(&tw));
    tw.clock -= 200; /* so far back that one is beyond its wheel's reach */
    tw.clock -= 200;
    CHECK(!tw_check(&tw));
    tw.clock += 300;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static const tap_case cases[] = {
    {"tw_check sees broken counters", counters},
    {"tw_check sees a broken timer or chunk", timer_and_chunk},
    {"tw_check sees a broken bucket", buckets},
    {"tw_check sees a broken wheel", wheels},
    {"tw_check sees a broken order within a bucket", order_of_a_bucket},
#if TWI_RUN_CHUNKS > 1
    {"tw_check sees a broken order within a run", order_of_a_run},
#endif
    {"tw_check sees a broken delay queue", delay_queue},
    {"tw_check sees a clock that left timers behind", clock_ahead},
};

int main(int argc, char **argv)
{
    return TAP_RUN(cases, argc, argv);
}
