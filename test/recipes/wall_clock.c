/* wall_clock.c - timingwheel.h by a wall clock, which people set.
 *
 * A delay must not count from a clock that can be set. Set back by an hour, the
 * clock of the wheel would stand for an hour; one wrong reading far ahead would
 * fire every timer. Where no monotonic clock exists, `now` adds up the steps of
 * the wall clock, except steps back and steps that no sleep takes.
 *
 * An alarm at a time of day must follow the wall clock, in a wheel of its own.
 * After the clock was set, set the wheel to another time: drain and initialise
 * the wheel, and start the timers again. Timers of one tick keep their order.
 *
 * The example: three alarms, a time-out that starts itself again, and a clock
 * that is set back by an hour, and later ahead by two.
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define MS 1
#include "judge.h" /* `now`: milliseconds that have passed */
#include <poll.h>

#define LONGEST 20 /* of a sleep; a real program takes a second */
#define HOUR 3600000
static uint64_t wall;  /* the reading of this turn, for alarms */
static int64_t set_by; /* the example sets the clock */
static timingwheel calendar;
static tw_timer alarms[3];

static void keep(tw_timer *timer, void *context)
{
    tw_timer ***end = (tw_timer ***)context;
    *(*end)++ = timer;
}

static void set_calendar(uint64_t time)
{
    tw_timer *drained[3], **end = drained;
    tw_drain(&calendar, keep, &end);
    tw_destroy(&calendar);
    tw_init(&calendar, &(tw_config){.start = time});
    for (tw_timer **timer = drained; timer < end; timer++)
        tw_start(&calendar, *timer, tw_deadline(*timer));
}

static void read_clocks(void)
{
    struct timespec t;
    uint64_t before = wall;
    clock_gettime(CLOCK_REALTIME, &t);
    wall = (uint64_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000 + set_by);
    if (wall - before <= LONGEST + 1000)
        now += wall - before;
    else /* the clock was set, back or ahead */
        set_calendar(wall);
}

static void on_alarm(timingwheel *tw, tw_timer *timer)
{
    static int rung;
    (void)tw;
    judge.fired++, judge.armed -= timer == &alarms[rung++]; /* in order */
    judge.early += wall < tw_deadline(timer) || judge.events < 10;
}

static void on_timeout(timingwheel *tw, tw_timer *timer)
{
    judge_timer(tw, timer);
    judge.events++;
    set_by = judge.events < 5 ? 0 : judge.events < 10 ? -HOUR : HOUR;
    if (judge.events < EVENTS)
        judge_start(timer, tw_after(now, 20 * MS));
}

int main(void)
{
    tw_timer timeout = TW_TIMER_INIT(on_timeout);
    tw_init(&wheel, NULL);
    tw_init(&calendar, NULL);
    read_clocks(); /* sets the calendar for the first time */
    for (int i = 0; i < 3; i++, judge.armed++) {
        tw_timer_init(&alarms[i], on_alarm);
        tw_start(&calendar, &alarms[i], wall + HOUR / 2);
    }
    judge_start(&timeout, 20 * MS);
    while (judge_turn()) {
        uint64_t wait = tw_wait(&wheel, now, LONGEST);
        poll(NULL, 0, (int)tw_wait(&calendar, wall, wait));
        read_clocks();
        tw_advance_clock(&calendar, wall);
        tw_advance_clock(&wheel, now);
    }
    tw_destroy(&calendar);
    return judge_end("wall_clock", true);
}
