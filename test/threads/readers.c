/* readers.c - functions of a const timingwheel only read: two threads call them
 * at once, without a lock. threads.sh builds the program under ThreadSanitizer,
 * which reports a write.
 *
 *     readers
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#ifndef HEADER /* threads.sh sets a header with a mistake */
#define HEADER "../../timingwheel.h"
#endif
#include HEADER

#include "../lib/tap.h"

static timingwheel tw;
static tw_timer timers[200];

static bool match_none(const tw_timer *timer, void *context)
{
    (void)timer, (void)context;
    return false;
}

static void no_line(const char *line, void *context)
{
    (void)line, (void)context;
}

static void *read_all(void *unused)
{
    uint64_t next, seen = tw_now(&tw) + tw_count(&tw);
    tw_stats stats;
    seen += tw_next_deadline(&tw, &next) ? next : 0;
    seen += tw_wait(&tw, 0, 99) + tw_check(&tw);
    seen += tw_find(&tw, match_none, NULL) != NULL;
    tw_get_stats(&tw, &stats);
    tw_dump(&tw, no_line, NULL);
    for (unsigned i = 0; i < 200; i++)
        seen += tw_deadline(&timers[i]) + tw_remaining(&timers[i], 9) +
                (uint64_t)tw_timer_state(&timers[i]) +
                tw_is_pending(&timers[i]);
    return seen == 0 ? unused : NULL;
}

/* After most timers have been cancelled, so that a wait searches. */
static void two_readers(void)
{
    pthread_t threads[2];
    tw_init(&tw, NULL);
    for (uint64_t i = 0; i < 200; i++) {
        tw_timer_init(&timers[i], NULL);
        CHECK_EQUAL(tw_start(&tw, &timers[i], 5 + i * i), TW_OK);
    }
    for (unsigned i = 0; i < 199; i += 1 + i % 3)
        CHECK(tw_cancel(&tw, &timers[i]));
    for (unsigned i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, read_all, NULL) != 0)
            abort();
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    tw_destroy(&tw);
}

static const tap_case cases[] = {
    {"two threads read at once", two_readers},
};

TAP_MAIN(cases)
