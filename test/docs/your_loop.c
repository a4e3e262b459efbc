/* your_loop.c - runs the fragments of README.md, the loop in real time. A
 * clock of its own, in nanoseconds, measures that no timer is early: 300 timers
 * of 5 ms start in bursts, each after work of 0.2 ms. After the last event the
 * loop must sleep until a timer is due. Then data comes while the loop stalls,
 * and beats the timeout. examples.sh writes the lines of the loop to
 * your_loop.inc, and compiles this file as C and as C++.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../../test/lib/tap.h"
#include <time.h>

#define MS UINT64_C(1000000)
enum { TIMERS = 300, BURST = 5 };

struct connection {
    tw_timer idle, request;
    uint64_t started, timeout;
    bool has_data;
};

struct epoll_event {
    struct connection *connection;
};

static timingwheel tw;
static struct connection connections[TIMERS], quiet;
static int started, early, sleeps, closed;
static bool is_stalled;

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void work(uint64_t ns)
{
    for (uint64_t until = clock_ns() + ns; clock_ns() < until;)
        continue;
}

static int epoll_wait(int epoll, struct epoll_event *events, int room,
                      int wait);
static void handle(const struct epoll_event *event);
static bool read_data(struct connection *c);
static void close_connection(const struct connection *c);
#include "your_loop.inc"

/* A burst of events after 0.37 ms, then none. While `quiet` waits for data, the
 * loop stalls past the timeout, and the data comes without an event. */
static int epoll_wait(int epoll, struct epoll_event *events, int room, int wait)
{
    CHECK(epoll == 0 && room >= BURST && wait >= 0);
    if (is_stalled) {
        quiet.has_data = true;
        work(10 * MS);
        return 0;
    }
    if (started == TIMERS) {
        sleeps++;
        work((uint64_t)wait * MS);
        return 0;
    }
    work(370000);
    for (int i = 0; i < BURST; i++)
        events[i].connection = &connections[started++];
    return BURST;
}

static void handle(const struct epoll_event *event)
{
    work(200000);
    tw_timer_init(&event->connection->idle, on_idle);
    event->connection->started = clock_ns();
    start(&event->connection->idle, 5 * MS);
}

static bool read_data(struct connection *c)
{
    bool has_data = c->has_data;
    c->has_data = false;
    return has_data;
}

static void close_connection(const struct connection *c)
{
    early += clock_ns() - c->started < 5 * MS;
    closed++;
}

static void begin(void)
{
    tw_config config = {MS, clock_ns(), 0, 0, NULL};
    CHECK_EQUAL(tw_init(&tw, &config), TW_OK);
    closed = sleeps = 0;
}

static void none_is_early(void)
{
    struct epoll_event events[64];
    begin();
    while (closed < TIMERS)
        turn(0, events);
    if (!CHECK(early == 0 && sleeps <= 10))
        printf("# %d of %d timers are early, the loop slept %d times\n", early,
               closed, sleeps);
    tw_destroy(&tw);
}

static void data_beats_timeout(void)
{
    struct epoll_event events[64], first = {&quiet};
    begin();
    handle(&first);
    is_stalled = true;
    turn(0, events);
    CHECK(closed == 0 && tw_is_pending(&quiet.idle));
    is_stalled = false;
    start(&quiet.idle, 5 * MS); /* not half a minute */
    while (tw_count(&tw) > 0)
        turn(0, events);
    CHECK_EQUAL(closed, 1);
    tw_destroy(&tw);
}

static void first_lines(void)
{
    const uint64_t SECOND = 1000 * MS;
    struct connection *c = &quiet;
    uint64_t wait;
    begin();
    c->timeout = 5 * SECOND;
    tw_start(&tw, &c->request, clock_ns() + 9 * SECOND);
#include "first_lines.inc"
    CHECK(wait == SECOND && tw_is_pending(&c->idle));
    CHECK(!tw_is_pending(&c->request));
    tw_destroy(&tw);
}

static const tap_case cases[] = {
    {"the first lines of README.md", first_lines},
    {"the loop of README.md: no timer is early, and it sleeps", none_is_early},
    {"the loop of README.md: data beats a timeout", data_beats_timeout}};

TAP_MAIN(cases)
