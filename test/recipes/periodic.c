/* periodic.c - four ways to repeat a timer every 200 ms, and what each does
 * after the program hung from 500 to 1500 ms. keep_phase is the usual way.
 *
 *     cc -std=gnu99 -O2 -Wall -Wextra periodic.c -o periodic && ./periodic
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>

enum { PERIOD = 200, SLACK = 50 };
static uint64_t begin, now, nominal; /* in ms; nominal: of with_slack */

static uint64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void report(const char *way, const tw_timer *timer)
{
    int due = (int)(tw_deadline(timer) - begin);
    printf("%4d ms: %-10s due at %d\n", (int)(now - begin), way, due);
}

static void catch_up(timingwheel *tw, tw_timer *timer)
{
    report("catch up", timer); /* once for each period that was missed */
    tw_start(tw, timer, tw_after(tw_deadline(timer), PERIOD));
}

static void drift(timingwheel *tw, tw_timer *timer)
{
    report("drift", timer); /* `now` is later than the deadline, each time */
    tw_start(tw, timer, tw_after(now, PERIOD));
}

static void keep_phase(timingwheel *tw, tw_timer *timer)
{
    uint64_t next = tw_next_period(tw_deadline(timer), PERIOD, now, NULL);
    report("keep phase", timer); /* once, and then at multiples of 200 ms */
    tw_start(tw, timer, next);
}

/* Counts from a nominal time: counted from the deadline, slack would add up. */
static void with_slack(timingwheel *tw, tw_timer *timer)
{
    report("with slack", timer);
    nominal = tw_next_period(nominal, PERIOD, now, NULL);
    tw_start_within(tw, timer, nominal, tw_after(nominal, SLACK));
}

static void hang(timingwheel *tw, tw_timer *timer)
{
    (void)tw, (void)timer;
    poll(NULL, 0, 1000);
}

int main(void)
{
    tw_callback *callbacks[] = {catch_up, drift, keep_phase, with_slack, hang};
    tw_timer timers[5];
    timingwheel tw;
    now = begin = nominal = clock_ms();
    tw_init(&tw, &(tw_config){.start = now});
    for (int i = 0; i < 5; i++) {
        tw_timer_init(&timers[i], callbacks[i]);
        if (tw_start(&tw, &timers[i], tw_after(now, i < 4 ? 0 : 500)) != TW_OK)
            return 1;
    }
    while (now < begin + 2500) {
        poll(NULL, 0, (int)tw_wait(&tw, clock_ms(), 60000));
        now = clock_ms();
        tw_advance_clock(&tw, now);
    }
    tw_destroy(&tw);
    return 0;
}
