/* manual.c - runs the lines that the manual shows without a program around
 * them. examples.sh writes the lines after `example: NAME.c` to NAME.inc.
 *
 *     test/docs/examples.sh
 *
 * SPDX-License-Identifier: MIT
 */
#include "../../test/lib/heap.h"

#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../../test/lib/tap.h"

struct list {
    unsigned length;
};

struct server {
    int before;
    timingwheel timers;
    uint64_t now;
    tw_timer retry;
    struct list closed;
};

struct connection {
    bool closed;
    tw_timer idle;
};

struct peer {
    int before;
    struct retry {
        size_t index;
        tw_timer timer;
    } retries[3];
};

static struct server the_server;
static timingwheel *const tw = &the_server.timers;
static uint64_t period = 10, missed;
static unsigned fired;

static void count(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel;
    (void)timer;
    fired++;
}

/* The loop wakes for each of three timers, and for nothing else. The handlers
 * start a timer per turn. */
static const uint64_t ms = 1000000, one_second = 1000000000;
static uint64_t reading;

static uint64_t clock_ns(void)
{
    return reading;
}

static void wait_for_events(uint64_t longest)
{
    reading += longest;
}

static void loop(void)
{
    tw_timer timers[3];
    unsigned turns = 0;
    fired = 0;
    reading = 1000 * ms;
#define handle_events(now)                                  \
    do {                                                    \
        if (turns == 3)                                     \
            goto end;                                       \
        tw_timer_init(&timers[turns], count);               \
        tw_start_after(tw, &timers[turns++], now, 20 * ms); \
    } while (false)
#include "loop.inc"
end:
    CHECK(fired == 3 && reading == 1000 * ms + one_second + 3 * 20 * ms);
    tw_destroy(tw);
}

static uint64_t now; /* behind the loop, which has its own */

static void start_at_zero(void)
{
    fired = 0;
    now = 0;
    CHECK(tw_init(tw, NULL) == TW_OK);
}

static void list_add(struct list *list, struct connection *connection)
{
    list->length += connection->closed;
}

static void on_idle(timingwheel *wheel, tw_timer *timer)
{
    const uint64_t delay = 7;
    CHECK_EQUAL(wheel, tw);
#include "close.inc"
    CHECK(server == &the_server && tw_deadline(&server->retry) == 30 + 7);
}

static void close_in_callback(void)
{
    struct connection c = {false, TW_TIMER_INIT(on_idle)};
    start_at_zero();
    tw_timer_init(&the_server.retry, count);
    tw_start(tw, &c.idle, 30);
    tw_advance_clock(tw, the_server.now = 30);
    CHECK(c.closed && the_server.closed.length == 1);
    tw_destroy(tw);
}

static void on_retry(timingwheel *wheel, tw_timer *timer)
{
    static struct peer *fired_of;
    CHECK_EQUAL(wheel, tw);
#include "array.inc"
    CHECK(r->index == 2 && (fired_of == NULL || fired_of == peer));
    fired_of = peer;
    fired += peer->before == 5;
}

/* The third timer of an array leads to the object around the array. */
static void array(void)
{
    struct peer peer = {5,
                        {{0, TW_TIMER_INIT(NULL)},
                         {1, TW_TIMER_INIT(NULL)},
                         {2, TW_TIMER_INIT(on_retry)}}};
    start_at_zero();
    tw_start(tw, &peer.retries[2].timer, 30);
    tw_advance_clock(tw, 30);
    CHECK_EQUAL(fired, 1);
    tw_destroy(tw);
}

static void on_period(timingwheel *wheel, tw_timer *timer)
{
    uint64_t next;
    CHECK_EQUAL(wheel, tw);
#include "repeat.inc"
    fired++;
}

/* Two periods are missed, and the phase is kept. */
static void repeat(void)
{
    tw_timer timer = TW_TIMER_INIT(on_period);
    start_at_zero();
    tw_start(tw, &timer, 10);
    tw_advance_clock(tw, now = 35);
    CHECK(fired == 1 && missed == 2 && tw_deadline(&timer) == 40);
    tw_advance_clock(tw, now = 40);
    CHECK(fired == 2 && missed == 0 && tw_deadline(&timer) == 50);
    tw_destroy(tw);
}

static void release(tw_timer *timer, void *context)
{
    CHECK_EQUAL(tw_timer_state(timer), TW_IDLE);
    ((struct list *)context)->length++;
}

static void stop(void)
{
    struct list list = {0};
    tw_timer timer = TW_TIMER_INIT(count);
    start_at_zero();
    tw_start(tw, &timer, 5);
#include "stop.inc"
    CHECK(list.length == 1 && tw_start(tw, &timer, 5) == TW_EINVAL);
}

static void limit(void)
{
    static tw_timer timers[1500];
    start_at_zero();
    for (int i = 0; i < 1500; i++) {
        tw_timer_init(&timers[i], count);
        tw_start(tw, &timers[i], 5);
    }
    tw_advance_clock(tw, 4);
    for (now = 5; tw_wait(tw, now, 60) == 0;) {
#include "limit.inc"
        CHECK(fired > 0 && fired % 500 == 0);
    }
    CHECK_EQUAL(fired, 1500);
    tw_destroy(tw);
}

/* After the reserve no start needs memory. */
static void reserve(void)
{
    tw_timer timers[64];
    heap memory = heap_by_default;
    tw_stats stats;
    int status;
    start_at_zero();
#include "reserve.inc"
    CHECK_EQUAL(status, TW_OK);
    tw_get_stats(tw, &stats);
    CHECK(sizeof(void *) != 8 || stats.bytes / 1000 == 263);
    memory = heap_by_default;
    heap_fail(&heap_by_default, 1, true);
    for (unsigned i = 0; i < 64; i++) {
        tw_timer_init(&timers[i], NULL);
        CHECK(tw_start(tw, &timers[i], UINT64_C(1) << i) == TW_OK);
    }
    heap_by_default = memory;
    tw_destroy(tw);
}

static void at_once(timingwheel *wheel, tw_timer *timer)
{
    CHECK_EQUAL(tw_now(wheel), tw_deadline(timer));
    if (++fired < 3)
        tw_start(wheel, timer, now);
}

/* Events "now" happen at once, and nothing happens after the end. */
static void simulate(void)
{
    uint64_t end = 20;
    tw_timer first = TW_TIMER_INIT(at_once), second = TW_TIMER_INIT(count);
    start_at_zero();
    tw_start(tw, &first, 10);
    tw_start(tw, &second, 21);
#include "simulate.inc"
    CHECK(fired == 3 && tw_now(tw) == 10 && tw_is_pending(&second));
    tw_destroy(tw);
}

static void move(void)
{
    struct connection first = {false, TW_TIMER_INIT(count)}, second = first;
    struct connection *old = &first, *copy = &second;
    start_at_zero();
    tw_start(tw, &old->idle, 10);
    *copy = *old;
#include "move.inc"
    CHECK(!tw_is_pending(&old->idle) && tw_is_pending(&copy->idle));
    CHECK(tw_advance_clock(tw, 10) == 1 && fired == 1);
    tw_destroy(tw);
}

static void dispatch(tw_timer *timer)
{
    CHECK_EQUAL(tw_timer_state(timer), TW_FIRED);
    fired++;
}

static void poll(void)
{
    tw_timer timers[2] = {TW_TIMER_INIT(NULL), TW_TIMER_INIT(NULL)}, *timer;
    start_at_zero();
    tw_start(tw, &timers[0], 5);
    tw_start(tw, &timers[1], 6);
    now = 5;
#include "dispatch.inc"
    CHECK(fired == 1 && tw_now(tw) == 5);
    tw_destroy(tw);
}

static tw_timer *saved[4];

static void list_append(struct list *list, tw_timer *timer)
{
    saved[list->length++] = timer;
}

/* In order of tick, and in start order within a tick. */
static void save(void)
{
    static const uint64_t deadlines[] = {2009, 2002, 3000, 2005};
    const tw_config config = {.tick = 10};
    struct list list = {0};
    tw_timer timers[4], *timer;
    CHECK_EQUAL(tw_init(tw, &config), TW_OK);
    for (int i = 0; i < 4; i++) {
        tw_timer_init(&timers[i], count);
        tw_start(tw, &timers[i], deadlines[i]);
    }
#include "save.inc"
    CHECK(list.length == 4 && saved[0] == &timers[0] &&
          saved[1] == &timers[1] && saved[2] == &timers[3] &&
          saved[3] == &timers[2] && tw_deadline(saved[2]) == 2005);
    tw_destroy(tw);
}

static const tap_case cases[] = {
    {"loop.c", loop},         {"array.c", array},
    {"save.c", save},         {"close.c", close_in_callback},
    {"repeat.c", repeat},     {"stop.c", stop},
    {"limit.c", limit},       {"reserve.c", reserve},
    {"simulate.c", simulate}, {"move.c", move},
    {"dispatch.c", poll},
};

TAP_MAIN(cases)
