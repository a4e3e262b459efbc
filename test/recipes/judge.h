/* judge.h - the wheel of a recipe, an example for the recipe's loop, and the
 * judge of the example.
 *
 * A recipe shows a loop, and this file gives the loop work. 20 events come, one
 * every 20 ms. Each event starts `soon`, due before the sleep in progress would
 * end, and postpones `silence`. Every fifth event cancels `silence`.
 *
 * The judge prints one TAP line. A recipe fails if a timer was early or lost,
 * or if ten timers were late. A recipe also fails if more turns of the
 * loop had no work than events came: each postponed or cancelled timer may cost
 * one such turn. An odd clock may wake the loop for nothing, and makes timers
 * late.
 *
 * The recipe defines MS first, a millisecond in units of the clock.
 *
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SOON
#define SOON (2 * MS)
#endif
#ifndef MOST_LATE
#define MOST_LATE (9 * MS)
#endif
#ifndef ODD_CLOCK
#define ODD_CLOCK getenv("ODD_CLOCK")
#endif
#define EVENTS 20

static timingwheel wheel;
static uint64_t now; /* the reading of this turn */

/* `armed` counts the pending timers without asking the library. At the end, an
 * armed timer is lost. An odd clock shows `offset` more than the system's
 * clock, which showed `first` at the first reading. */
static struct {
    int events, armed, fired, early, late, idle;
    uint64_t first, offset;
} judge;

/* ---------------------------------------------------------------- clock --- */

#define JUDGE_PERIOD (100 * MS) /* of steps and jumps */

/* Returns a reading of the system's clock as the odd clock would show it:
 *
 *     stands      stands for 10 ms of every 70, and catches up
 *     steps-back  steps back by 25 ms every 100 ms, to before the last turn
 *     jumps       jumps by an hour every 100 ms
 */
static inline uint64_t judge_odd(uint64_t reading)
{
    const char *clock = ODD_CLOCK;
    judge.first = judge.first == 0 ? reading : judge.first;
    uint64_t passed = reading - judge.first, pause = passed % (70 * MS);
    if (clock == NULL)
        return reading;
    if (strcmp(clock, "stands") == 0)
        judge.offset = pause < 10 * MS ? 0 - pause : 0;
    else if (strcmp(clock, "steps-back") == 0)
        judge.offset = 0 - passed / JUDGE_PERIOD * 25 * MS;
    else
        judge.offset = passed / JUDGE_PERIOD * 3600000 * MS;
    return reading + judge.offset;
}

/* Returns the reading for `now`. A clock that steps back counts as standing. */
static inline uint64_t steady(uint64_t reading)
{
    reading = judge_odd(reading);
    return reading > now ? reading : now;
}

/* Returns a deadline for a timer of the system: the deadline itself, unless the
 * clock is odd. If the clock jumps over the deadline, the timer goes off at the
 * jump. */
static inline uint64_t system_time(uint64_t deadline)
{
    uint64_t at = deadline - judge.offset;
    uint64_t jump = judge.offset / 3600000 / MS + 1;
    jump = judge.first + jump * JUDGE_PERIOD;
    if (ODD_CLOCK == NULL || deadline >= INT64_MAX) /* never */
        return deadline;
    at = at > INT64_MAX ? 1 : at;
    return strcmp(ODD_CLOCK, "jumps") == 0 && at > jump ? jump : at;
}

/* -------------------------------------------------------------- example --- */

/* The callback of `soon` and `silence`. Other callbacks call this function. */
static inline void judge_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    judge.fired++, judge.armed--;
    judge.early += now < tw_deadline(timer);
    judge.late += now > tw_after(tw_deadline(timer), MOST_LATE);
}

/* Starts a timer, which must not be pending. */
static inline void judge_start(tw_timer *timer, uint64_t deadline)
{
    judge.armed += tw_start(&wheel, timer, deadline) == TW_OK;
}

/* Handles an event of the example. */
static inline void judge_event(void)
{
    static tw_timer soon = TW_TIMER_INIT(judge_timer);
    static tw_timer silence = TW_TIMER_INIT(judge_timer);
    judge.late += tw_is_pending(&soon);
    judge.armed += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, SOON));
    tw_postpone(&wheel, &silence, tw_after(now, 150 * MS));
    if (++judge.events % 5 == 0)
        judge.armed -= tw_cancel(&wheel, &silence);
}

/* Begins a turn. Returns false after the last turn. Counts idle turns. */
static inline bool judge_turn(void)
{
    static int before = -1;
    judge.idle += before == judge.events + judge.fired;
    before = judge.events + judge.fired;
    return judge.events < EVENTS || tw_count(&wheel) > 0;
}

/* Destroys the wheel, prints the verdict, and returns the exit code. `is_right`
 * is the recipe's own part of the verdict. */
static inline int judge_end(const char *name, bool is_right)
{
    bool is_odd = ODD_CLOCK != NULL;
    tw_destroy(&wheel);
    is_right = is_right && judge.early == 0 && judge.armed == 0 &&
               judge.late < (is_odd ? EVENTS : EVENTS / 2) &&
               (judge.idle <= EVENTS || is_odd);
    printf("%sok 1 - %s: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           is_right ? "" : "not ", name, judge.fired, judge.early, judge.armed,
           judge.late, judge.idle);
    return !is_right;
}

/* On POSIX systems; a loop around kqueue has no feature macro. */
#if defined(_POSIX_C_SOURCE) || defined(EVFILT_READ)
#include <time.h>
#include <unistd.h>

#ifndef CLOCK
#define CLOCK CLOCK_MONOTONIC
#endif

/* Returns the time in units of the recipe, without ODD_CLOCK. */
static inline uint64_t system_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK, &t);
    return (uint64_t)t.tv_sec * 1000 * MS +
           (uint64_t)t.tv_nsec / (1000000 / MS);
}

/* Returns the time for `now`. */
static inline uint64_t read_clock(void)
{
    return steady(system_clock());
}

/* Returns a pipe from a child that writes a byte every 20 ms. */
static inline int judge_input(void)
{
    static const struct timespec interval = {0, 20000000};
    int ends[2];
    if (pipe(ends) != 0 || fork() != 0)
        return ends[0];
    for (int i = 0; i < EVENTS; i++) {
        nanosleep(&interval, NULL);
        if (write(ends[1], "", 1) != 1)
            break;
    }
    _exit(0);
}

/* Reads an event, and handles the event. */
static inline void judge_read(int fd)
{
    char byte;
    if (read(fd, &byte, 1) == 1)
        judge_event();
}
#endif
