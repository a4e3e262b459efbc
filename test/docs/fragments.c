/* fragments.c - runs the lines that README.md and the manual show without a
 * program around them: the first lines, and the three loops, which a user
 * pastes. A clock that only work and sleeps move shows that no timer is early,
 * and that a loop wakes for its timers alone. The lines of four answers of the
 * manual are only compiled, because recipes run what they show. examples.sh
 * writes the lines of each example to NAME.inc, and compiles this file as C and
 * as C++.
 *
 *     test/docs/examples.sh
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../../test/lib/tap.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
enum { TIMERS = 300, BURST = 5 };

struct list {
    unsigned length;
};

struct server {
    timingwheel timers;
    tw_timer retry;
    struct list closed;
};

struct connection {
    tw_timer idle, request;
    uint64_t started, timeout;
    bool has_data, closed;
};

static uint64_t reading; /* of the clock */
static unsigned turns, fired;

static uint64_t clock_ns(void)
{
    return reading;
}

static void count(timingwheel *tw, tw_timer *timer)
{
    fired += tw_now(tw) >= tw_deadline(timer);
}

/* -------------------------------------------------- lines of the manual --- */

void list_add(struct list *list, const struct connection *connection)
{
    list->length += connection->closed;
}

void dispatch(tw_timer *timer)
{
    tw_timer_init(timer, NULL);
}

void on_close(timingwheel *tw, tw_timer *timer, uint64_t delay)
{
#include "close.inc"
}

void on_period(timingwheel *tw, tw_timer *timer, uint64_t period)
{
    uint64_t next, missed;
#include "repeat.inc"
}

void others(timingwheel *tw, tw_timer *timer, uint64_t now, uint64_t end)
{
#include "simulate.inc"
#include "dispatch.inc"
}

/* The handlers start a timer per turn. C++ before C++20 has no such config. */
static void manual_loop(void)
{
#ifndef __cplusplus
#define wait_for_events(longest) reading += (longest)
    timingwheel wheel, *tw = &wheel;
    const uint64_t delay = 20 * MS, begin = SECOND;
    tw_timer timers[3];
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
    CHECK(fired == 3 && reading == begin + SECOND + 3 * delay);
    tw_destroy(tw);
#endif
}

/* ------------------------------------------------ the loop with threads --- */

static timingwheel tw;
static tw_mailbox box;
static tw_remote kept, cancelled;
static unsigned wakes;

static void begin(void)
{
    tw_config config = {MS, 0, 0, 0, NULL};
    config.start = reading = SECOND;
    CHECK_EQUAL(tw_init(&tw, &config), TW_OK);
    turns = fired = 0;
}

static void wake(void *context)
{
    wakes += context == NULL;
}

/* A post wakes the loop at once. */
static void sleep_until_woken(uint64_t longest)
{
    if (turns++ == 0) {
        tw_post_start(&box, &kept, SECOND + 3 * MS / 2); /* tick: 2 ms */
        tw_post_start(&box, &cancelled, SECOND + 3 * MS / 2);
        CHECK(longest == SECOND && wakes == 1);
    } else if (turns == 2) {
        tw_post_cancel(&box, &cancelled);
        CHECK_EQUAL(wakes, 2);
    } else {
        reading += longest;
    }
}

static void mailbox_loop(void)
{
    const uint64_t second = SECOND;
    begin();
    tw_remote_init(&kept, count);
    tw_remote_init(&cancelled, count);
#define clear_wake_up() \
    if (turns == 4)     \
    break
#include "mailbox.inc"
    CHECK(fired == 1 && reading == 2 * SECOND + 2 * MS && tw_count(&tw) == 0);
    tw_destroy(&tw);
}

/* --------------------------------------------------- lines of README.md --- */

struct epoll_event {
    struct connection *connection;
};

static struct connection connections[TIMERS], quiet;
static int started, early, sleeps, closed;
static bool is_stalled;

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
    if (is_stalled || started == TIMERS) {
        quiet.has_data = is_stalled;
        reading += is_stalled ? 10 * MS : (uint64_t)wait * MS + 1000;
        sleeps++;
        return 0;
    }
    reading += 370000;
    for (int i = 0; i < BURST; i++)
        events[i].connection = &connections[started++];
    return BURST;
}

/* Each event is work of 0.2 ms. */
static void handle(const struct epoll_event *event)
{
    reading += 200000;
    tw_timer_init(&event->connection->idle, on_idle);
    event->connection->started = reading;
    put_off(&event->connection->idle, 5 * MS);
}

static bool read_data(struct connection *c)
{
    bool has_data = c->has_data;
    c->has_data = false;
    return has_data;
}

static void close_connection(const struct connection *c)
{
    early += reading - c->started < 5 * MS;
    closed++;
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
    started = TIMERS;
    closed = 0;
    handle(&first);
    is_stalled = true;
    turn(0, events);
    CHECK(closed == 0 && tw_is_pending(&quiet.idle));
    is_stalled = false;
    put_off(&quiet.idle, 5 * MS); /* not half a minute */
    while (tw_count(&tw) > 0)
        turn(0, events);
    CHECK_EQUAL(closed, 1);
    tw_destroy(&tw);
}

static void first_lines(void)
{
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
    {"the loop of README.md: data beats a timeout", data_beats_timeout},
    {"the loop of the manual: each timer fires, and it sleeps", manual_loop},
    {"the loop with a mailbox: each post wakes it", mailbox_loop}};

TAP_MAIN(cases)
