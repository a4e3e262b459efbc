/* your_loop.c - runs the clock and the loop that README.md shows under "Your
 * loop". examples.sh writes these lines to your_clock.inc and your_loop.inc.
 *
 * A connection is a pipe. A peer sends five messages, one per 10 ms, and each
 * message postpones the connection's idle timeout of 25 ms. A heartbeat wakes
 * the loop every 4 ms, also shortly before the timeout is due. The timeout
 * must fire 25 ms after the last message. The loop must sleep: each turn is for
 * a message or a timer, and three turns move the postponed timeout. Only a
 * sleep moves the clock, so that a busy machine makes no difference.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <stdio.h>

#ifndef __linux__
int main(void)
{
    puts("not run: only Linux has epoll");
    return 0;
}
#else

#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define MESSAGES 5
#define PERIOD 10 /* all times in milliseconds */
#define TIMEOUT 25
#define HEARTBEAT 4

static timingwheel tw;
static int pipe_ends[2];
static unsigned sent, received, beats, turns;
static uint64_t time_ms = 990; /* the simulated clock */
static uint64_t now;           /* the latest reading */
static uint64_t last_message;  /* when the last message was handled */

static void check(bool good, const char *sentence)
{
    if (!good) {
        printf("failed: %s\n", sentence);
        exit(1);
    }
}

static void simulate_clock(struct timespec *reading)
{
    reading->tv_sec = (time_t)(time_ms / 1000);
    reading->tv_nsec = (long)(time_ms % 1000) * 1000000 + 999999;
}
#define clock_gettime(clock, now) simulate_clock(now)

#include "your_clock.inc"

static void on_idle(timingwheel *wheel, tw_timer *timer)
{
    (void)timer;
    check(received == MESSAGES, "the timeout fires after the last message");
    check(time_ms == last_message + TIMEOUT, "the timeout is in time");
    check(tw_count(wheel) == 1, "only the heartbeat is left");
    tw_destroy(wheel);
    exit(0);
}

static void on_send(timingwheel *wheel, tw_timer *timer)
{
    check(write(pipe_ends[1], "m", 1) == 1, "a message can be sent");
    if (++sent < MESSAGES)
        tw_start(wheel, timer, tw_after(tw_deadline(timer), PERIOD));
}

static void on_heartbeat(timingwheel *wheel, tw_timer *timer)
{
    beats++;
    tw_start(wheel, timer, tw_after(tw_deadline(timer), HEARTBEAT));
}

static tw_timer idle = TW_TIMER_INIT(on_idle);
static tw_timer heartbeat = TW_TIMER_INIT(on_heartbeat);
static tw_timer send_next = TW_TIMER_INIT(on_send);

static void handle(const struct epoll_event *event)
{
    char message;
    check(read(event->data.fd, &message, 1) == 1, "a message can be read");
    received++;
    last_message = time_ms;
    tw_postpone(&tw, &idle, tw_after(now, TIMEOUT));
}

/* The loop of README.md has no end: starting the timers, counting the turns and
 * moving the clock take the place of epoll_wait. */
static int simulate_sleep(int epoll, struct epoll_event *events, int room,
                          int wait)
{
    int ready = epoll_wait(epoll, events, room, 0);
    check(turns <= sent + received + beats + 3,
          "each turn is for a message or a timer");
    if (turns++ == 0) {
        tw_start(&tw, &idle, tw_after(clock_ms(), TIMEOUT));
        tw_start(&tw, &send_next, tw_after(clock_ms(), PERIOD));
        tw_start(&tw, &heartbeat, tw_after(clock_ms(), HEARTBEAT));
    } else if (ready == 0) {
        time_ms += (uint64_t)wait;
    }
    return ready;
}
#define epoll_wait simulate_sleep

static void run(int epoll)
{
    struct epoll_event events[64];
#include "your_loop.inc"
}

int main(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);

    check(epoll >= 0 && pipe(pipe_ends) == 0, "there are epoll and a pipe");
    event.data.fd = pipe_ends[0];
    check(epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_ends[0], &event) == 0,
          "the pipe can be watched");
    run(epoll);
}
#endif
