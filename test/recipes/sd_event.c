/* sd_event.c - timingwheel.h in systemd's loop, carried by one time source.
 *
 * The clock is the loop's own, sd_event_now: microseconds of CLOCK_MONOTONIC,
 * read once a turn. The source takes the deadline as it is, in the same clock:
 * no wait is computed. Its accuracy is set to 1 us; the default is 250 ms.
 *
 *     cc sd_event.c -lsystemd -o sd && ./sd    (the example is in judge.h)
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#define MS 1000
static uint64_t now; /* the reading of this turn, in microseconds */
#include "judge.h"

static timingwheel tw;
static sd_event *loop;

static void advance(void)
{
    uint64_t reading = 0;
    sd_event_now(loop, CLOCK_MONOTONIC, &reading);
    now = reading > now ? reading : now;
    tw_advance_clock(&tw, now);
}

static int on_wake(sd_event_source *source, uint64_t at, void *context)
{
    (void)source, (void)at, (void)context;
    advance();
    return 0;
}

/* Before each sleep: moves `wake` if the next deadline has changed. */
static int on_prepare(sd_event_source *wake, void *context)
{
    uint64_t deadline = UINT64_MAX, at = 0; /* at the most: never */
    (void)context;
    tw_next_deadline(&tw, &deadline);
    sd_event_source_get_time(wake, &at);
    return at == deadline ? 0 : sd_event_source_set_time(wake, deadline);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events,
                       void *context)
{
    (void)events, (void)context;
    advance(); /* costs little if on_wake has advanced the wheel */
    if (!judge_read(&tw, fd))
        sd_event_source_set_enabled(source, SD_EVENT_OFF);
    return 0;
}

int main(void)
{
    sd_event_source *wake, *input;
    if (sd_event_new(&loop) < 0 ||
        sd_event_now(loop, CLOCK_MONOTONIC, &now) < 0 ||
        tw_init(&tw, &(tw_config){.start = now}) != TW_OK)
        return 1;
    sd_event_add_time(loop, &wake, CLOCK_MONOTONIC, UINT64_MAX, 1, on_wake,
                      NULL);
    sd_event_source_set_enabled(wake, SD_EVENT_ON);
    sd_event_source_set_prepare(wake, on_prepare);
    sd_event_add_io(loop, &input, judge_input(), EPOLLIN, on_readable, NULL);
    while (judge_turn(&tw))
        sd_event_run(loop, UINT64_MAX);
    sd_event_source_unref(input);
    sd_event_source_unref(wake);
    sd_event_unref(loop);
    tw_destroy(&tw);
    return judge_end("sd_event", true);
}
