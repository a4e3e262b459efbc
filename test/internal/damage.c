/* damage.c - tw_check returns false if a part of the structure is damaged. A
 * line DAMAGE damages one field, calls tw_check, and repairs the field. The
 * last cases look at what other functions do inside.
 *
 *     damage [CASE...]
 *
 * test/internal uses private names, and has to be written again when the core
 * changes. Beside damage.c, cache_lines.c checks addresses of fields.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/heap.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/inside.h"
#include "../lib/tap.h"

static timingwheel tw;
static tw_timer timers[40];

/* Three wheels, a bucket with several timers, overdue timers of the unfinished
 * call and of the next, and a timer that has found no wheel. */
static void set_up(void)
{
    static const tw_config config = {1, 900, 16, 0, NULL};
    CHECK_EQUAL(tw_init(&tw, &config), TW_OK);
    for (int i = 0; i < 40; i++)
        tw_timer_init(&timers[i], NULL);
    tw_start(&tw, &timers[39], 905);
    heap_fail(&heap_by_default, 1, true);
    tw_postpone(&tw, &timers[39], UINT64_C(1) << 40);
    tw_advance_clock(&tw, 1000);
    heap_fail(&heap_by_default, 0, false);
    tw_start(&tw, &timers[38], 990);
    tw_start(&tw, &timers[37], 991);
    CHECK_EQUAL(tw_advance_clock_limit(&tw, 1000, 1), 1);
    tw_start(&tw, &timers[36], 992);
    for (uint64_t i = 0; i < 30; i++)
        tw_start(&tw, &timers[i], 1010 + i % 3);
    tw_start(&tw, &timers[30], 1100);
    tw_start(&tw, &timers[31], 3000);
    CHECK(tw_check(&tw));
}

/* Damages a field, checks, and repairs. */
#define DAMAGE(field, value)                       \
    do {                                           \
        unsigned char kept[sizeof(field)];         \
        memcpy(kept, &(field), sizeof(field));     \
        (field) = (value);                         \
        if (!CHECK(!tw_check(&tw)))                \
            printf("# not noticed: " #field "\n"); \
        memcpy(&(field), kept, sizeof(field));     \
        CHECK(tw_check(&tw));                      \
    } while (0)

static twi_bucket *bucket_at(unsigned level, uint64_t tick)
{
    return twi_bucket_of(&tw, wheel_at(&tw, level), tick);
}

static void counters(void)
{
    set_up();
    DAMAGE(tw.count, tw.count + 1);
    DAMAGE(tw.count, tw.count - 1);
    DAMAGE(tw.queued, tw.queued + 1);
    DAMAGE(tw.queued, tw.queued - 1);
    tw_destroy(&tw);
}

static void pending_timers(void)
{
    static const int each[] = {0, 1, 5, 29, 30, 31, 36, 37, 39};
    set_up();
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        tw_timer *timer = &timers[each[i]];
        DAMAGE(timer->link.prev, &timers[35].link);
        DAMAGE(timer->state, TW_FIRED);
    }
    /* due before the bound of its bucket, or before the key of the list */
    DAMAGE(timers[0].deadline, timers[0].deadline - 5);
    DAMAGE(timers[39].deadline, timers[39].deadline - 5);
    DAMAGE(timers[0].link.next, timers[6].link.next); /* skips a timer */
    DAMAGE(timers[0].link.next, NULL);
    DAMAGE(timers[0].link.next, timers[0].link.prev); /* a short ring */
    DAMAGE(timers[3].link.next, &timers[0].link);     /* an endless ring */
    tw_destroy(&tw);
}

static void buckets(void)
{
    set_up();
    twi_bucket *bucket = bucket_at(0, 1011);
    DAMAGE(bucket->quiet_tick, 1009); /* another bucket */
    DAMAGE(bucket->most, 0);
    DAMAGE(bucket->ring.prev, &timers[35].link);
    DAMAGE(bucket->quiet_tick, 1010 + 32); /* the same bucket, a later turn */
    bucket = bucket_at(0, 1005);           /* empty */
    DAMAGE(bucket->quiet_tick, 1005);
    DAMAGE(bucket->most, 1);
    bucket = bucket_at(2, 3000);
    DAMAGE(bucket->quiet_tick, 3000); /* after its only timer */
    DAMAGE(tw.clock_tick, 1300);      /* beyond the buckets of wheel 0 */
    bucket_at(0, 1011)->most = bucket_at(2, 3000)->most = TWI_LARGE;
    wheel_at(&tw, 2)->large_tick = 3000;
    CHECK(tw_check(&tw));
    DAMAGE(wheel_at(&tw, 2)->large_tick, 2000); /* before a large bucket */
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
        twi_wheel *wheel = wheel_at(&tw, level);
        DAMAGE(wheel->marks[0], 0);
        DAMAGE(wheel->queue_index, wheel->queue_index + 1);
        DAMAGE(wheel->quiet_tick, wheel->quiet_tick + 1000);
    }
    DAMAGE(tw.missing.queue_index, 0);
    DAMAGE(tw.missing.quiet_tick, tw.missing.quiet_tick + 1);
    tw.next_time = 0; /* timers wait, and their list is not in the queue */
    twi_queue_set(&tw, &tw.missing, UINT64_MAX);
    CHECK(!tw_check(&tw));
    twi_queue_set(&tw, &tw.missing, tw.lists[TWI_OUTSIDE].quiet_tick);
    CHECK(tw_check(&tw));
    DAMAGE(tw.missing.finer, wheel_at(&tw, 1));
    DAMAGE(tw.wheel_by_bit[4], &tw.missing);
    swap_heads(); /* no heap */
    CHECK(!tw_check(&tw));
    swap_heads();
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* A single timer, in the third wheel; then a second, overdue. */
static void idle_calls(void)
{
    static const tw_config config = {1, 0, 16, 0, NULL};
    CHECK_EQUAL(tw_init(&tw, &config), TW_OK);
    tw_timer_init(&timers[0], NULL);
    tw_timer_init(&timers[1], NULL);
    tw_start(&tw, &timers[0], 3000);
    DAMAGE(tw.clock_tick, 3001); /* after the key, in the same step */
    DAMAGE(wheel_at(&tw, 1)->finer, &tw.missing);
    tw_advance_clock(&tw, 1);
    DAMAGE(tw.next_time, 3001); /* after the key */
    DAMAGE(tw.unfinished, true);
    tw_start(&tw, &timers[1], 2000);
    tw_cancel(&tw, &timers[1]); /* next_time is 0 */
    CHECK(tw_check(&tw));
    tw_advance_clock(&tw, 2);
    tw_start(&tw, &timers[1], 0);
    DAMAGE(tw.next_time, 3000);
    twi_append_ring(&tw, &tw.lists[TWI_NEXT_CALL], &tw.lists[TWI_THIS_CALL]);
    DAMAGE(tw.next_time, 3000);
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

/* ------------------------------------------------------ other functions --- */

static size_t marks(void)
{
    size_t marked = 0;
    for (unsigned level = 0; level < 2; level++)
        for (uint32_t i = 0; i <= tw.bucket_mask; i++)
            marked += wheel_at(&tw, level)->marks[i / 64] >> i % 64 & 1;
    return marked;
}

static void visit(tw_timer *timer, void *context)
{
    (void)timer, (void)context;
}

static bool match_any(const tw_timer *timer, void *context)
{
    (void)context;
    return timer != NULL;
}

/* The marks of 39 emptied buckets. */
static void emptied_buckets(void)
{
    tw_stats stats;
    uint64_t next;
    CHECK_EQUAL(tw_init(&tw, NULL), TW_OK);
    for (uint64_t i = 0; i < 40; i++) {
        tw_timer_init(&timers[i], NULL);
        tw_start(&tw, &timers[i], 256 + i * (i < 20 ? 1 : 600));
    }
    for (uint64_t i = 0; i < 39; i++)
        tw_cancel(&tw, &timers[i]);
    size_t marked = marks();
    CHECK(marked > 30);
    CHECK(tw_next_deadline(&tw, &next) && tw_wait(&tw, 0, 9) == 9);
    CHECK(tw_find(&tw, match_any, NULL) == &timers[39] && tw_check(&tw));
    tw_get_stats(&tw, &stats);
    CHECK_EQUAL(marks(), marked); /* these only read */
    CHECK_EQUAL(tw_foreach(&tw, visit, NULL), 1);
    CHECK_EQUAL(marks(), 1);
    /* Without its mark, nobody looks at the last bucket. */
    twi_wheel *wheel = wheel_at(&tw, 1);
    uint32_t index = twi_index_of(&tw, wheel, timers[39].deadline);
    wheel->marks[index / 64] &= ~(UINT64_C(1) << index % 64);
    tw_get_stats(&tw, &stats);
    CHECK(stats.buckets == 0 && tw_foreach(&tw, visit, NULL) == 0);
    CHECK(tw_find(&tw, match_any, NULL) == NULL);
    wheel->marks[index / 64] |= UINT64_C(1) << index % 64;
    CHECK(tw_find(&tw, match_any, NULL) == &timers[39]);
    tw_destroy(&tw);
}

static const tap_case cases[] = {
    {"tw_check: is false for a damaged counter", counters},
    {"tw_check: is false for a damaged timer or ring", pending_timers},
    {"tw_check: is false for a damaged bucket", buckets},
    {"tw_check: is false for a damaged wheel or delay queue", wheels},
    {"tw_check: is false for a key or next_time that misses a timer",
     idle_calls},
    {"tw_check: is false for a copy, NULL and a destroyed wheel", no_wheel},
    {"visits look at marked buckets alone, and tw_foreach clears marks",
     emptied_buckets},
};

TAP_MAIN(cases)
