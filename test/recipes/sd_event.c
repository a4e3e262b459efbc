/* sd_event.c - timingwheel.h in systemd's loop, carried by one time source.
 *
 * The clock is the loop's own, sd_event_now: microseconds of CLOCK_MONOTONIC,
 * read once a turn. The source takes the deadline as it is, in the same clock:
 * no wait is computed. Its accuracy is set to 1 us; the default is 250 ms.
 *
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; every fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <stdio.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

static timingwheel wheel;
static sd_event *loop;
static sd_event_source *wake, *input;
static int bytes, pending, fired, early, late, idle;

static uint64_t read_clock(void)
{
    static uint64_t now;
    uint64_t reading = 0;
    sd_event_now(loop, CLOCK_MONOTONIC, &reading);
    return now = reading > now ? reading : now;
}

static int on_wake(sd_event_source *source, uint64_t at, void *context)
{
    (void)source, (void)at, (void)context;
    idle += tw_advance_clock(&wheel, read_clock()) == 0;
    return 0;
}

/* Before each sleep: moves `wake` if the next deadline has changed. */
static int on_prepare(sd_event_source *source, void *context)
{
    uint64_t deadline = UINT64_MAX, at = 0; /* at the most: never */
    (void)context;
    tw_next_deadline(&wheel, &deadline);
    sd_event_source_get_time(source, &at);
    return at == deadline ? 0 : sd_event_source_set_time(source, deadline);
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += read_clock() < tw_deadline(timer);
    late += read_clock() > tw_deadline(timer) + 9000;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events,
                       void *context)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    uint64_t now = read_clock();
    char byte;
    (void)events, (void)context;
    if (read(fd, &byte, 1) != 1)
        sd_event_source_set_enabled(source,
                                    SD_EVENT_OFF); /* the end of the file */
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, 2000));
    tw_postpone(&wheel, &silence, tw_after(now, 150000));
    if (++bytes % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
    return 0;
}

int main(void)
{
    FILE *child = popen("for i in $(seq 19); do sleep .02; echo; done", "r");
    if (child == NULL || sd_event_new(&loop) < 0 ||
        tw_init(&wheel, &(tw_config){.start = read_clock()}) != TW_OK)
        return 1;
    sd_event_add_time(loop, &wake, CLOCK_MONOTONIC, UINT64_MAX, 1, on_wake,
                      NULL);
    sd_event_source_set_enabled(wake, SD_EVENT_ON);
    sd_event_source_set_prepare(wake, on_prepare);
    sd_event_add_io(loop, &input, fileno(child), EPOLLIN, on_readable, NULL);
    while (bytes < 20 || tw_count(&wheel) > 0)
        sd_event_run(loop, UINT64_MAX);
    sd_event_source_unref(input);
    sd_event_source_unref(wake);
    sd_event_unref(loop);
    tw_destroy(&wheel);
    printf("sd_event: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
