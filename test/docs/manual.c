/* manual.c - runs the lines that the manual shows without a program around
 * them. examples.sh writes the lines after `example: NAME.c` to NAME.inc.
 *
 *     test/docs/examples.sh
 *
 * SPDX-License-Identifier: MIT
 */
#include "../../test/lib/heap.h"

#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../../test/lib/tap.h"

static size_t dispatched;

static void dispatch(tw_timer *timer)
{
    dispatched += timer != NULL;
}

/* After the reserve no start needs memory; `server` is found by its wheel. */
static void program(void)
{
    struct server {
        int before;
        timingwheel wheel;
    } the_server;
    timingwheel *tw = &the_server.wheel;
    tw_timer timers[64], *timer;
    uint64_t now = 5;
    int status;
    CHECK(tw_init(tw, NULL) == TW_OK);
    {
#include "program.inc"
        CHECK(server == &the_server && status == TW_OK && dispatched == 0);
    }
    heap memory = heap_by_default;
    heap_fail(&heap_by_default, 1, true);
    for (unsigned i = 0; i < 64; i++) {
        tw_timer_init(&timers[i], NULL);
        CHECK(tw_start(tw, &timers[i], now + (UINT64_C(1) << i)) == TW_OK);
    }
    heap_by_default = memory;
    now = 5 + 16;
    while ((timer = tw_poll(tw, now)) != NULL)
        dispatch(timer);
    CHECK(dispatched == 5);
    tw_destroy(tw);
}

static uint64_t reading; /* of the wall clock */

static uint64_t wall_ms(void)
{
    return reading;
}

/* The wall clock is set back by 900, and goes on. */
static void wall_clock(void)
{
    static const uint64_t readings[] = {1000, 1010, 110, 130};
    static const uint64_t expected[] = {1000, 1010, 1010, 1030};
    uint64_t now, last = 0, offset = 0;
    for (int i = 0; i < 4; i++) {
        reading = readings[i];
#include "wall_clock.inc"
        CHECK(now == expected[i]);
    }
}

typedef struct timer_list {
    tw_timer *timers[3];
    size_t first, count;
} timer_list;

static void save(tw_timer *timer, void *context)
{
    timer_list *list = (timer_list *)context;
    list->timers[list->count++] = timer;
}

static tw_timer *take_first(timer_list *list)
{
    return list->first < list->count ? list->timers[list->first++] : NULL;
}

static uint64_t new_deadline(const tw_timer *timer)
{
    return tw_deadline(timer) - 1000;
}

static void set_time(void)
{
    tw_config config = {1, 1000, 0, 0, NULL};
    timingwheel wheel, *tw = &wheel;
    tw_timer timers[3], *timer;
    timer_list list = {{NULL}, 0, 0};
    CHECK(tw_init(tw, &config) == TW_OK);
    for (int i = 0; i < 3; i++) {
        tw_timer_init(&timers[i], NULL);
        CHECK(tw_start(tw, &timers[i], 1500) == TW_OK);
    }
    config.start = 400;
#include "set_time.inc"
    CHECK(tw_now(tw) == 400 && tw_poll(tw, 499) == NULL);
    for (int i = 0; i < 3; i++)
        CHECK(tw_poll(tw, 500) == &timers[i]);
    tw_destroy(tw);
}

/* Two steps of a counter, of which the second wraps, and a step back by 1. */
static void widen(void)
{
    static const uint32_t counters[] = {0xfffffff0, 5, 4, 6};
    static const uint64_t expected[] = {0xfffffff0, UINT64_C(0x100000005),
                                        UINT64_C(0x100000005),
                                        UINT64_C(0x100000006)};
    uint64_t now = 0xffffff00;
    for (int i = 0; i < 4; i++) {
        uint32_t counter = counters[i];
#include "widen.inc"
        CHECK(now == expected[i]);
    }
}

static const tap_case cases[] = {
    {"program.c", program},
    {"wall_clock.c", wall_clock},
    {"set_time.c", set_time},
    {"widen.c", widen},
};

TAP_MAIN(cases)
