/* sd_event.c - many timers on one time source, in the loop of systemd.
 * Says when you have not typed for 250 ms. The source takes the next deadline
 * as it is, to 1 us: its default accuracy of 250 ms would be late. sd_event_now
 * would make delays too short. No callback may run the loop, and `stop` ends it
 * for good: both are rules of systemd.
 *     cc -std=gnu99 -Wall -Wextra sd_event.c -lsystemd -o sd && ./sd
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000) /* in microseconds */
static timingwheel timers;
static sd_event *loop;
static sd_event_source *wake, *input;
static uint64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec / 1000;
}

static int on_wake(sd_event_source *source, uint64_t at, void *context)
{
    (void)source, (void)at, (void)context;
    return tw_advance_clock(&timers, clock_us()), 0;
}

/* systemd calls it before each sleep, as the source is always enabled. */
static int arm(sd_event_source *source, void *context)
{
    uint64_t deadline = UINT64_MAX; /* never */
    (void)context;
    tw_next_deadline(&timers, &deadline);
    return sd_event_source_set_time(source, deadline);
}

static bool init(void)
{
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_us()});
    return sd_event_new(&loop) == 0 &&
           !sd_event_add_time(loop, &wake, CLOCK_MONOTONIC, 0, 1, on_wake, 0) &&
           sd_event_source_set_prepare(wake, arm) >= 0 &&
           sd_event_source_set_enabled(wake, SD_EVENT_ON) >= 0;
}

static void run(void)
{
    sd_event_loop(loop);
}

static void stop(void)
{
    sd_event_exit(loop, 0);
}

static void destroy(void)
{
    sd_event_source_unref(wake), sd_event_source_unref(input);
    sd_event_unref(loop);
    tw_destroy(&timers);
}

/* The example. Input that has come beats the timeout, even after a stall. */
static tw_timer silence;
/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    if (poll(&(struct pollfd){0, POLLIN, 0}, 1, 0) <= 0)
        return false;
    if (read(0, bytes, sizeof(bytes)) > 0)
        return tw_postpone_after(&timers, &silence, clock_us(), 250 * MS), true;
    sd_event_source_set_enabled(input, SD_EVENT_OFF); /* has ended */
    if (!tw_is_pending(&silence))
        stop();
    return false;
}

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    (void)tw, (void)timer;
    if (!read_input()) /* input that came while the loop stood still */
        dprintf(1, "silence %u\n", ++count);
}

static int on_input(sd_event_source *source, int fd, uint32_t ev, void *context)
{
    (void)source, (void)fd, (void)ev, (void)context;
    return read_input(), 0;
}

static bool watch_input(void)
{
    tw_timer_init(&silence, on_silence);
    return sd_event_add_io(loop, &input, 0, POLLIN, on_input, NULL) >= 0;
}

int main(void)
{
    if (!init() || !watch_input())
        return dprintf(2, "no loop: is the input a file?\n"), 1;
    run();
    destroy();
}
