/* your_loop.c - runs the loop that README.md shows under "Your loop".
 * examples.sh writes these lines to your_loop.inc.
 *
 * A peer sends five messages, one per 10 ms, and each message postpones the
 * idle timeout of 25 ms. A heartbeat wakes the loop every 4 ms, also shortly
 * before the timeout is due. The timeout must fire 25 ms after the last
 * message. The loop must sleep: each turn is for a message or a timer, and
 * three turns move the postponed timeout. Only a sleep moves the clock.
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../../test/lib/tap.h"
#include <setjmp.h>

#define MS UINT64_C(1000000) /* in nanoseconds */
#define MESSAGES 5
#define PERIOD (10 * MS)
#define TIMEOUT (25 * MS)
#define HEARTBEAT (4 * MS)

struct epoll_event {
    unsigned message;
};

static timingwheel tw;
static unsigned received, beats, turns;
static uint64_t time_ns = 990 * MS;      /* the simulated clock */
static uint64_t last_message = 990 * MS; /* when the peer sent it */
static jmp_buf end;

static uint64_t clock_ns(void)
{
    return time_ns;
}

static void on_idle(timingwheel *wheel, tw_timer *timer)
{
    CHECK(tw_deadline(timer) == time_ns && received == MESSAGES);
    CHECK(time_ns == last_message + TIMEOUT);
    CHECK(tw_count(wheel) == 1); /* only the heartbeat is left */
}

static void on_heartbeat(timingwheel *wheel, tw_timer *timer)
{
    beats++;
    tw_start_after(wheel, timer, tw_deadline(timer), HEARTBEAT);
}

static tw_timer idle = TW_TIMER_INIT(on_idle);
static tw_timer heartbeat = TW_TIMER_INIT(on_heartbeat);

static void handle(const struct epoll_event *event, uint64_t now)
{
    CHECK(event->message == received++);
    tw_postpone_after(&tw, &idle, now, TIMEOUT);
}

/* Sleeps for `wait` ms, or until the next message. The loop of README.md has no
 * end, and is left after the timeout. */
static int epoll_wait(int epoll, struct epoll_event *events, int room, int wait)
{
    uint64_t wake = time_ns + (uint64_t)wait * MS, next = last_message + PERIOD;
    CHECK(epoll == 0 && room == 64);
    if (turns++ == 0) {
        tw_start_after(&tw, &idle, time_ns, TIMEOUT);
        tw_start_after(&tw, &heartbeat, time_ns, HEARTBEAT);
        return 0;
    }
    if (!CHECK(turns <= 2 * received + beats + 4) ||
        tw_timer_state(&idle) == TW_FIRED)
        longjmp(end, 1);
    if (received == MESSAGES || wake < next) {
        time_ns = wake;
        return 0;
    }
    time_ns = last_message = next;
    events[0].message = received;
    return 1;
}

static void your_loop(void)
{
    struct epoll_event events[64];
    const int epoll = 0;
    if (setjmp(end) == 0) {
#include "your_loop.inc"
    }
    CHECK(time_ns == 990 * MS + MESSAGES * PERIOD + TIMEOUT);
    tw_destroy(&tw);
}

static const tap_case cases[] = {{"the loop of README.md", your_loop}};

TAP_MAIN(cases)
