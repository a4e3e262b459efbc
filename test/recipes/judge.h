/* judge.h - the example that the recipes run, and the judge of the example.
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
 * The recipe defines two names first: MS, a millisecond in units of the clock,
 * and `now`, the reading of this turn.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#ifndef SOON
#define SOON (2 * MS)
#endif
#ifndef MOST_LATE
#define MOST_LATE (9 * MS)
#endif
#define EVENTS 20

/* `armed` counts the pending timers without asking the library. At the end, an
 * armed timer is lost. */
static struct {
    int events, armed, fired, early, late, idle;
} judge;

/* The callback of `soon` and `silence`. Other callbacks call this function. */
static inline void judge_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    judge.fired++, judge.armed--;
    judge.early += now < tw_deadline(timer);
    judge.late += now > tw_after(tw_deadline(timer), MOST_LATE);
}

/* Handles an event of the example. */
static inline void judge_event(timingwheel *tw)
{
    static tw_timer soon = TW_TIMER_INIT(judge_timer);
    static tw_timer silence = TW_TIMER_INIT(judge_timer);
    judge.late += tw_is_pending(&soon);
    judge.armed += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(tw, &soon, tw_after(now, SOON));
    tw_postpone(tw, &silence, tw_after(now, 150 * MS));
    if (++judge.events % 5 == 0)
        judge.armed -= tw_cancel(tw, &silence);
}

/* Begins a turn. Returns false after the last turn. Counts idle turns. */
static inline bool judge_turn(timingwheel *tw)
{
    static int before = -1;
    judge.idle += before == judge.events + judge.fired;
    before = judge.events + judge.fired;
    return judge.events < EVENTS || tw_count(tw) > 0;
}

/* Prints the verdict, and returns the exit code. `is_right` is the recipe's own
 * part of the verdict. */
static inline int judge_end(const char *name, bool is_right)
{
#ifdef ODD_CLOCK
    bool is_odd = true;
#else
    bool is_odd = getenv("ODD_CLOCK") != NULL;
#endif
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

/* Returns the time in units of the recipe. A clock that steps back counts as
 * standing. */
static inline uint64_t read_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK, &t);
    uint64_t units = (uint64_t)t.tv_sec * 1000 * MS;
    units += (uint64_t)t.tv_nsec / (1000000 / MS);
    return units > now ? units : now;
}

/* Returns a pipe from a child that writes a byte every 20 ms. */
static inline int judge_input(void)
{
    FILE *child = popen("for i in $(seq 19); do sleep .02; echo; done", "r");
    return child != NULL ? fileno(child) : -1;
}

/* Reads a byte. Returns false at the end of the input, the last event. */
static inline bool judge_read(timingwheel *tw, int fd)
{
    char byte;
    bool more = read(fd, &byte, 1) == 1;
    judge_event(tw);
    return more;
}
#endif
