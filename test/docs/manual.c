/* manual.c - compiles the lines that the manual shows without a program around
 * them, and runs the two loops, which a user pastes. Recipes run most of what
 * the other lines show. examples.sh writes the lines after `example: NAME` to
 * NAME.inc.
 *
 *     test/docs/examples.sh
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../../test/lib/tap.h"

static const uint64_t ms = 1000000, second = 1000000000;
static uint64_t reading;

static uint64_t clock_ns(void)
{
    return reading;
}

/* ----------------------------------------------------- compiled alone --- */

struct list {
    unsigned length;
};

struct server {
    timingwheel timers;
    tw_timer retry;
    struct list closed;
};

struct connection {
    bool closed;
    tw_timer idle;
};

void list_add(struct list *list, const struct connection *connection)
{
    list->length += connection->closed;
}

void dispatch(tw_timer *timer)
{
    tw_timer_init(timer, NULL);
}

void on_idle(timingwheel *tw, tw_timer *timer)
{
    uint64_t delay = 7;
#include "close.inc"
}

void on_period(timingwheel *tw, tw_timer *timer)
{
    uint64_t next, missed, period = 10;
#include "repeat.inc"
}

void others(timingwheel *tw, tw_timer *timer)
{
    uint64_t now = 0, end = 10;
#include "simulate.inc"
#include "dispatch.inc"
}

/* ------------------------------------------------------ loops that run --- */

/* Each loop wakes for its timers, and for nothing else. A sleep moves the
 * clock. */
static timingwheel *tw;
static unsigned turns, wakes, fired;

static void wait_for_events(uint64_t longest)
{
    reading += longest;
}

static void count(timingwheel *wheel, tw_timer *timer)
{
    fired += wheel == tw && tw_timer_state(timer) == TW_FIRED;
}

/* The handlers start a timer per turn. */
static void loop(void)
{
    static timingwheel wheel;
    const uint64_t delay = 20000000, begin = 1000000000;
    tw_timer timers[3];
    tw = &wheel;
    reading = begin;
    turns = fired = 0;
#define handle_events()                                          \
    do {                                                         \
        if (turns == 3)                                          \
            goto end;                                            \
        tw_timer_init(&timers[turns], count);                    \
        tw_start_after(tw, &timers[turns++], clock_ns(), delay); \
    } while (false)
#include "loop.inc"
end:
    CHECK(fired == 3 && reading == begin + second + 3 * delay);
    tw_destroy(tw);
}

static tw_mailbox box;
static tw_remote kept, cancelled;

static void wake(void *context)
{
    wakes += context == NULL;
}

/* A post wakes the loop at once. */
static void sleep_until_woken(uint64_t longest)
{
    if (turns++ == 0) {
        tw_post_start(&box, &kept, 3 * ms / 2); /* the tick is 2 ms */
        tw_post_start(&box, &cancelled, 3 * ms / 2);
        CHECK(longest == second && wakes == 1);
    } else if (turns == 2) {
        tw_post_cancel(&box, &cancelled);
        CHECK_EQUAL(wakes, 2);
    } else {
        reading += longest;
    }
}

static void mailbox(void)
{
    static timingwheel wheel;
    tw = &wheel;
    tw_config config = {.tick = 1000000, .start = reading = 5};
    turns = fired = 0;
    tw_init(tw, &config);
    tw_remote_init(&kept, count);
    tw_remote_init(&cancelled, count);
#define clear_wake_up() \
    if (turns == 4)     \
    break
#define tw wheel /* in the manual, a struct */
#include "mailbox.inc"
#undef tw
    CHECK(fired == 1 && reading == 2 * ms + second && tw_count(tw) == 0);
    tw_destroy(tw);
}

static const tap_case cases[] = {{"loop.c", loop}, {"mailbox.c", mailbox}};

TAP_MAIN(cases)
