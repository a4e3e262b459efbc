/* emptied.c - a call passes each emptied bucket once: the mark of the bucket is
 * cleared. Counts the searches for a bit, one per bucket passed.
 *
 *     emptied [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>

static unsigned long searches;

static inline unsigned search_bit(uint64_t bits)
{
    unsigned index = 63;
    for (searches++; bits >> index == 0; index--)
        ;
    return index;
}

#define TWI_PORTABLE
#define TWI_HIGHEST_BIT(bits) search_bit(bits)
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

#define TIMERS 500 /* in as many buckets */
#define CALLS 200

/* A timer that starts again and again fires before emptied buckets. */
static void passes_once(uint64_t step)
{
    static tw_timer timers[TIMERS], again;
    timingwheel tw;
    tw_init(&tw, NULL);
    for (uint64_t i = 0; i < TIMERS; i++) {
        tw_timer_init(&timers[i], NULL);
        CHECK_EQUAL(tw_start(&tw, &timers[i], (i + 2) * step), TW_OK);
    }
    for (size_t i = 1; i < TIMERS; i++) /* without the first of the wheel */
        tw_cancel(&tw, &timers[i]);
    tw_timer_init(&again, NULL);
    searches = 0;
    size_t fired = 0;
    for (uint64_t now = step; now <= CALLS * step; now += step) {
        CHECK_EQUAL(tw_start_after(&tw, &again, now - step, step), TW_OK);
        fired += tw_advance_clock(&tw, now);
    }
    CHECK_EQUAL(fired, CALLS + 1);
    if (!CHECK(searches <= 4 * CALLS + TIMERS))
        printf("# %lu searches\n", searches);
    tw_destroy(&tw);
}

static void each_wheel(void)
{
    passes_once(1);
    passes_once(256);
}

static const tap_case cases[] = {
    {"emptied buckets are passed once", each_wheel},
};

TAP_MAIN(cases)
