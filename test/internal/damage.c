/* damage.c - tw_check returns false if a part of the structure is damaged. Each
 * row damages one field, calls tw_check, and repairs the field.
 *
 *     damage [CASE...]
 *
 * test/internal uses private names, and has to be written again when the core
 * changes. Beside damage.c, cache_lines.c checks addresses of fields.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdbool.h>
#include <stdlib.h>

static bool is_refused;

static void *refuse(size_t size)
{
    return is_refused ? NULL : malloc(size);
}

#define TW_MALLOC(size, context) ((void)(context), refuse(size))
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

static timingwheel tw;
static tw_timer timers[40];

/* Three wheels, a bucket with several timers, overdue timers of the unfinished
 * call and of the next, and a timer that has found no wheel. */
static void set_up(void)
{
    static const tw_config config = {1, 900, 16, 0, NULL};
    CHECK(tw_init(&tw, &config) == TW_OK);
    for (int i = 0; i < 40; i++)
        tw_timer_init(&timers[i], NULL);
    tw_start(&tw, &timers[39], 905);
    is_refused = true;
    tw_postpone(&tw, &timers[39], UINT64_C(1) << 40);
    tw_advance_clock(&tw, 1000);
    is_refused = false;
    tw_start(&tw, &timers[38], 990);
    tw_start(&tw, &timers[37], 991);
    CHECK(tw_advance_clock_limit(&tw, 1000, 1) == 1);
    tw_start(&tw, &timers[36], 992);
    for (uint64_t i = 0; i < 30; i++)
        tw_start(&tw, &timers[i], 1010 + i % 3);
    tw_start(&tw, &timers[30], 1100);
    tw_start(&tw, &timers[31], 3000);
    CHECK(tw_check(&tw));
}

/* Damages bytes, checks, and repairs. */
static void damage(void *field, size_t size, uint64_t change, const char *what)
{
    unsigned char kept[8];
    memcpy(kept, field, size);
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)field)[i] ^= (unsigned char)(change >> (8 * i));
    if (!CHECK(!tw_check(&tw)))
        printf("# not noticed: %s\n", what);
    memcpy(field, kept, size);
    CHECK(tw_check(&tw));
}

/* Changes the bits `change` of a field. */
#define DAMAGE(field, change) damage(&(field), sizeof(field), (change), #field)

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW(type) (UINT64_C(1) << (8 * sizeof(type) - 8))
#else
#define LOW(type) UINT64_C(1)
#endif

static twi_bucket *bucket_at(unsigned level, uint64_t tick)
{
    return twi_bucket_of(&tw, tw.wheels[level], tick);
}

static void counters(void)
{
    set_up();
    DAMAGE(tw.count, LOW(tw.count));
    DAMAGE(tw.next_tick, LOW(tw.next_tick));
    DAMAGE(tw.queued, LOW(tw.queued));
    tw_destroy(&tw);
}

static void pending_timers(void)
{
    static const int each[] = {0, 1, 5, 29, 30, 31, 36, 37, 39};
    set_up();
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        tw_timer *timer = &timers[each[i]];
        DAMAGE(timer->link.prev, 64);
        DAMAGE(timer->state, LOW(timer->state)); /* no longer pending */
    }
    timers[0].deadline -= 5; /* due before the bound of its bucket */
    CHECK(!tw_check(&tw));
    timers[0].deadline += 5;
    timers[39].deadline -= 5;
    CHECK(!tw_check(&tw));
    timers[39].deadline += 5;
    twi_link *second = timers[0].link.next;
    timers[0].link.next = timers[6].link.next; /* skips a timer */
    CHECK(!tw_check(&tw));
    timers[0].link.next = NULL;
    CHECK(!tw_check(&tw));
    timers[0].link.next = timers[0].link.prev; /* a short ring */
    CHECK(!tw_check(&tw));
    timers[3].link.next = &timers[0].link; /* an endless ring */
    timers[0].link.next = second;
    CHECK(!tw_check(&tw));
    timers[3].link.next = &timers[6].link;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static void buckets(void)
{
    set_up();
    twi_bucket *bucket = bucket_at(0, 1011);
    DAMAGE(bucket->not_before, LOW(uint64_t)); /* another bucket */
    DAMAGE(bucket->ring.prev, 64);
    bucket->not_before += 32; /* the same bucket, a later turn */
    CHECK(!tw_check(&tw));
    bucket->not_before -= 32;
    bucket = bucket_at(0, 1005); /* empty */
    DAMAGE(bucket->not_before, LOW(uint64_t));
    DAMAGE(bucket->at_most, LOW(bucket->at_most));
    bucket = bucket_at(2, 3000);
    bucket->not_before++; /* after its only timer */
    CHECK(!tw_check(&tw));
    bucket->not_before--;
    tw.clock += 300; /* beyond the buckets of wheel 0 */
    CHECK(!tw_check(&tw));
    tw.clock -= 300;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static void swap_heads(void)
{
    twi_wheel *head = tw.queue[0];
    tw.queue[0] = tw.queue[1];
    tw.queue[1] = head;
    tw.queue[0]->queue_index = 0;
    tw.queue[1]->queue_index = 1;
}

static void wheels(void)
{
    set_up();
    for (unsigned level = 0; level < 3; level++) {
        twi_wheel *wheel = tw.wheels[level];
        DAMAGE(wheel->marks[0], level == 0 ? 0xffffffff : ~UINT64_C(0));
        DAMAGE(wheel->queue_index, LOW(wheel->queue_index));
        wheel->queue_tick += 1000; /* after its first timer */
        CHECK(!tw_check(&tw));
        wheel->queue_tick -= 1000;
        twi_bucket *first = wheel->first;
        wheel->first = NULL;
        CHECK(!tw_check(&tw));
        wheel->first = first;
    }
    tw.wheels[2] = NULL;
    CHECK(!tw_check(&tw));
    tw.wheels[2] = tw.queue[0]->shift == 8   ? tw.queue[0]
                   : tw.queue[1]->shift == 8 ? tw.queue[1]
                                             : tw.queue[2];
    swap_heads(); /* no heap */
    CHECK(!tw_check(&tw));
    swap_heads();
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* A single timer, in the third wheel. */
static void keys_and_finer_wheels(void)
{
    static const tw_config config = {1, 0, 16, 0, NULL};
    CHECK(tw_init(&tw, &config) == TW_OK);
    tw_timer_init(&timers[0], NULL);
    tw_start(&tw, &timers[0], 3000);
    CHECK(tw_check(&tw));
    tw.clock = 3001; /* after the key, in the same step */
    CHECK(!tw_check(&tw));
    tw.clock = 0;
    twi_wheel *finest = tw.wheels[0];
    tw.wheels[0] = NULL;
    CHECK(!tw_check(&tw));
    tw.wheels[0] = finest;
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

static void no_wheel(void)
{
    static timingwheel copy;
    set_up();
    copy = tw;
    CHECK(!tw_check(&copy) && !tw_check(NULL) && tw_check(&tw));
    tw_destroy(&tw);
    CHECK(!tw_check(&tw));
    CHECK(tw_init(&tw, NULL) == TW_OK);
    copy = tw; /* empty */
    CHECK(tw_check(&tw) && !tw_check(&copy));
    tw_destroy(&tw);
}

static const tap_case cases[] = {
    {"tw_check: is false for a damaged counter", counters},
    {"tw_check: is false for a damaged timer or ring", pending_timers},
    {"tw_check: is false for a damaged bucket", buckets},
    {"tw_check: is false for a damaged wheel or delay queue", wheels},
    {"tw_check: is false for a key before the clock, or a gap in the wheels",
     keys_and_finer_wheels},
    {"tw_check: is false for a copy, NULL and a destroyed wheel", no_wheel},
};

TAP_MAIN(cases)
