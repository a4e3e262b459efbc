/* wall_clock.c - alarms at a time of day, by a clock that people set. Type
 * "02:30:00" for each day, or the number that `date -d 17:30 +%s` prints:
 *     cc -std=gnu99 -Wall -Wextra wall_clock.c -o alarms && ./alarms
 * A clock set ahead rings what is in between at once. Set back, it would stop a
 * timingwheel, so the timers move to a new one. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
#define SECOND (1000 * MS)
struct alarm {
    tw_timer timer;
    bool is_daily;
    struct tm next; /* local time */
};
static timingwheel pair[2], *timers = pair; /* one is in use */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* A day in which the clocks change has 23 or 25 hours: ask the calendar. */
static void start_next(timingwheel *tw, struct alarm *a)
{
    time_t time = 0;
    struct tm date; /* a copy: mktime changes it */
    for (; (uint64_t)time * SECOND <= clock_ns(); a->next.tm_mday++)
        date = a->next, time = mktime(&date);
    tw_start(tw, &a->timer, (uint64_t)time * SECOND);
    dprintf(1, "next %ld\n", (long)time);
}

static void on_alarm(timingwheel *tw, tw_timer *timer)
{
    struct alarm *a = TW_OWNER(timer, struct alarm, timer);
    dprintf(1, "%ld\n", (long)(tw_deadline(timer) / SECOND));
    a->is_daily ? start_next(tw, a) : free(a);
}

static bool read_alarm(void)
{
    char line[32];
    time_t now = (time_t)(clock_ns() / SECOND);
    struct alarm *a = malloc(sizeof(*a));
    if (a == NULL || fgets(line, sizeof(line), stdin) == NULL)
        return free(a), false;
    *a = (struct alarm){TW_TIMER_INIT(on_alarm), false, *localtime(&now)};
    a->next.tm_isdst = -1; /* mktime finds out whether it is summer */
    a->is_daily = sscanf(line, "%d:%d:%d", &a->next.tm_hour, &a->next.tm_min,
                         &a->next.tm_sec) == 3;
    if (a->is_daily)
        start_next(timers, a);
    else
        tw_start(timers, &a->timer, strtoull(line, NULL, 10) * SECOND);
    return true;
}

/* Takes the timers out in order, so that they keep their order. */
static void set_back(uint64_t now)
{
    timingwheel *from = timers;
    timers = from == pair ? pair + 1 : pair;
    tw_init(timers, &(tw_config){.tick = MS, .start = now});
    for (tw_timer *timer; (timer = tw_poll(from, UINT64_MAX)) != NULL;)
        tw_start(timers, timer, tw_deadline(timer));
    tw_destroy(from);
}

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    setvbuf(stdin, NULL, _IONBF, 0); /* a buffer would hide lines from poll */
    tw_init(timers, &(tw_config){.tick = MS, .start = clock_ns()});
    while (input.fd == 0 || tw_count(timers) > 0) {
        uint64_t wait = tw_wait(timers, clock_ns(), 100 * MS); /* see a step */
        int ready = poll(&input, 1, (int)((wait + MS - 1) / MS));
        if (clock_ns() < tw_now(timers))
            set_back(clock_ns());
        tw_advance_clock(timers, clock_ns());
        if (ready > 0 && !read_alarm())
            input.fd = -1;
    }
    tw_destroy(timers);
}
