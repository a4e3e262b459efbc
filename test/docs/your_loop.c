/* your_loop.c - runs the loop that README.md shows under "Your loop", in real
 * time: 300 timers of 5 ms, and events so often that the loop wakes in every
 * part of a millisecond. A clock of its own, in nanoseconds, measures that no
 * timer is early. After the last event the loop must sleep until a timer is
 * due. examples.sh writes the lines of the loop to your_loop.inc.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../../test/lib/tap.h"
#include <setjmp.h>
#include <time.h>

enum { TIMERS = 300 };

struct epoll_event {
    struct connection {
        tw_timer timer;
        uint64_t started;
    } * connection;
};

static timingwheel tw;
static struct connection connections[TIMERS];
static unsigned started, fired, early, sleeps;
static jmp_buf end;

static uint64_t full_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The clock of the loop. Notes when it was read: a delay counts from there. */
static uint64_t last_reading;
static uint64_t clock_ns(void)
{
    return last_reading = full_clock();
}

static void on_timer(timingwheel *wheel, tw_timer *timer)
{
    const struct connection *c = TW_OWNER(timer, struct connection, timer);
    (void)wheel;
    early += full_clock() - c->started < 5000000;
    fired++;
}

static void handle(const struct epoll_event *event, uint64_t now)
{
    tw_timer_init(&event->connection->timer, on_timer);
    event->connection->started = last_reading;
    CHECK(tw_start_after(&tw, &event->connection->timer, now, 5000000) ==
          TW_OK);
}

/* An event after 0.37 ms, however long the loop would sleep. Then no event. */
static int epoll_wait(int epoll, struct epoll_event *events, int room, int wait)
{
    CHECK(epoll == 0 && room == 64 && wait >= 0);
    if (fired == TIMERS)
        longjmp(end, 1);
    uint64_t sleep = started < TIMERS ? 370000 : (uint64_t)wait * 1000000;
    sleeps += started == TIMERS;
    for (uint64_t until = full_clock() + sleep; full_clock() < until;)
        continue;
    if (started == TIMERS)
        return 0;
    events[0].connection = &connections[started++];
    return 1;
}

static void none_is_early(void)
{
    struct epoll_event events[64];
    const int epoll = 0;
    if (setjmp(end) == 0) {
#include "your_loop.inc"
    }
    if (!CHECK(early == 0 && sleeps <= 10))
        printf("# %u of %u timers are early, the loop slept %u times\n", early,
               fired, sleeps);
    tw_destroy(&tw);
}

static const tap_case cases[] = {
    {"the loop of README.md: no timer is early, and it sleeps", none_is_early}};

TAP_MAIN(cases)
