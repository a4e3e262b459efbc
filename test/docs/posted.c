/* posted.c - runs the loop that the manual shows for requests from other
 * threads. examples.sh writes these lines to mailbox.inc.
 *
 * The clock counts sleeps. A job is posted for 1.5 ms, and the tick of a
 * millisecond makes 2 ms of it. A second job is posted, and cancelled when the
 * loop wakes.
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../../test/lib/tap.h"

struct job {
    int number;
    tw_remote timeout;
};

static const uint64_t ms = 1000000, second = 1000000000;
static uint64_t time_ns = 5;
static unsigned wakes, turns, fired;
static struct job first, second_job;
static tw_mailbox box;

static uint64_t clock_ns(void)
{
    return time_ns;
}

static void wake(void *context)
{
    CHECK(context == NULL);
    wakes++;
}

static void on_timeout(timingwheel *tw, tw_timer *timer)
{
    CHECK(TW_OWNER(timer, struct job, timeout.timer) == &first);
    CHECK_EQUAL(tw_now(tw), 2 * ms);
    fired++;
}

/* A post wakes the loop at once. */
static void sleep_until_woken(uint64_t longest)
{
    if (turns++ == 0) {
        tw_post_start(&box, &first.timeout, 3 * ms / 2);
        tw_post_start(&box, &second_job.timeout, 3 * ms / 2);
        CHECK(longest == second && wakes == 1);
    } else if (turns == 2) {
        tw_post_cancel(&box, &second_job.timeout);
        CHECK_EQUAL(wakes, 2);
    } else {
        time_ns += longest;
    }
}

static void loop(void)
{
    tw_config config = {.tick = 1000000, .start = clock_ns()};
    timingwheel tw;
    tw_init(&tw, &config);
    tw_remote_init(&first.timeout, on_timeout);
    tw_remote_init(&second_job.timeout, on_timeout);
#define clear_wake_up() \
    if (turns == 4)     \
    break
#include "mailbox.inc"
    CHECK(fired == 1 && time_ns == 2 * ms + second);
    CHECK(tw_remote_settled(&first.timeout) && tw_count(&tw) == 0);
    tw_destroy(&tw);
}

static const tap_case cases[] = {{"posted.c", loop}};

TAP_MAIN(cases)
