/* wall_clock.c - alarms at a time of day, by a clock that people set. Type
 * "02:30:00" for each day, or the number that `date -d 17:30 +%s` prints:
 *     cc -std=gnu99 -Wall -Wextra wall_clock.c -o alarms && ./alarms
 * A clock set ahead rings what is in between at once. Set back, it would stop a
 * timingwheel, so the timers move to a new one. Daily alarms ring once a date,
 * and follow the time zone. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
#define SECOND (1000 * MS)
struct alarm {
    tw_timer timer;
    bool is_daily;
    int hour, minute, second, rang; /* rang: the day of the year, or -1 */
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
    time_t now = (time_t)(clock_ns() / SECOND), time = 0;
    struct tm date;
    for (int days = 0; time <= now || date.tm_yday == a->rang; days++) {
        date = *localtime(&now); /* today */
        date.tm_hour = a->hour, date.tm_min = a->minute;
        date.tm_sec = a->second, date.tm_mday += days;
        date.tm_isdst = -1; /* mktime finds out whether it is summer */
        time = mktime(&date);
    }
    tw_start(tw, &a->timer, (uint64_t)time * SECOND);
    dprintf(1, "next %ld\n", (long)time);
}

static void on_alarm(timingwheel *tw, tw_timer *timer)
{
    struct alarm *a = TW_OWNER(timer, struct alarm, timer);
    time_t time = (time_t)(tw_deadline(timer) / SECOND);
    dprintf(1, "%ld\n", (long)time);
    a->rang = localtime(&time)->tm_yday;
    a->is_daily ? start_next(tw, a) : free(a);
}

static void set_alarm(const char *line)
{
    uint64_t seconds = strtoull(line, NULL, 10);
    struct alarm *a = malloc(sizeof(*a));
    if (a == NULL)
        abort(); /* no memory */
    *a = (struct alarm){.timer = TW_TIMER_INIT(on_alarm), .rang = -1};
    if (sscanf(line, "%d:%d:%d", &a->hour, &a->minute, &a->second) == 3)
        a->is_daily = true, start_next(timers, a);
    else
        tw_start(timers, &a->timer,
                 seconds < UINT64_MAX / SECOND ? seconds * SECOND : UINT64_MAX);
}

static void start_again(tw_timer *timer, void *tw)
{
    struct alarm *a = TW_OWNER(timer, struct alarm, timer);
    uint64_t time = tw_deadline(timer);
    a->is_daily ? start_next(tw, a) : (void)tw_start(tw, timer, time);
}

/* Timers of one tick keep their order. Call it when nothing is due. */
static void set_back(uint64_t now)
{
    timingwheel *from = timers;
    timers = from == pair ? pair + 1 : pair;
    tw_init(timers, &(tw_config){.tick = MS, .start = now});
    tw_drain(from, start_again, timers);
    tw_destroy(from);
}

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char line[32] = ""; /* half a line waits for the other half */
    uint64_t now = clock_ns(), last;
    long zone = 0, before, typed = 0;
    tw_init(timers, &(tw_config){.tick = MS, .start = now});
    while (input.fd == 0 || tw_count(timers) > 0) {
        uint64_t wait = tw_wait(timers, clock_ns(), 100 * MS); /* see a step */
        int ready = poll(&input, 1, (int)((wait + MS - 1) / MS));
        last = now, before = zone; /* not tw_now, which may be behind */
        time_t time = (time_t)((now = clock_ns()) / SECOND);
        zone = localtime(&time)->tm_gmtoff;
        tw_advance_clock(timers, now);
        if (now < last || zone != before) /* also when summer time begins */
            set_back(now);
        if (ready > 0 && read(0, line + typed, 1) < 1)
            input.fd = -1;
        else if (ready > 0 && line[typed] != '\n')
            typed += typed < 30;
        else if (ready > 0)
            line[typed] = '\0', typed = 0, set_alarm(line);
    }
    tw_destroy(timers);
}
