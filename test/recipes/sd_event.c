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
#define MS 1000
#include "judge.h"
#include <sys/epoll.h>
#include <systemd/sd-event.h>

static int on_wake(sd_event_source *source, uint64_t at, void *loop)
{
    (void)source;
    sd_event_now((sd_event *)loop, CLOCK_MONOTONIC, &at);
    now = steady(at);
    tw_advance_clock(&wheel, now);
    return 0;
}

/* Before each sleep. */
static int on_prepare(sd_event_source *wake, void *loop)
{
    uint64_t deadline = UINT64_MAX; /* never */
    (void)loop;
    tw_next_deadline(&wheel, &deadline);
    return sd_event_source_set_time(wake, system_time(deadline));
}

static int on_readable(sd_event_source *source, int fd, uint32_t events,
                       void *loop)
{
    (void)events;
    on_wake(source, 0, loop); /* costs little for a second event */
    judge_read(fd);
    return 0;
}

int main(void)
{
    sd_event *loop;
    sd_event_source *wake, *input;
    sd_event_new(&loop);
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now});
    sd_event_add_time(loop, &wake, CLOCK_MONOTONIC, UINT64_MAX, 1, on_wake,
                      loop);
    sd_event_source_set_enabled(wake, SD_EVENT_ON);
    sd_event_source_set_prepare(wake, on_prepare);
    sd_event_add_io(loop, &input, judge_input(), EPOLLIN, on_readable, loop);
    while (judge_turn())
        sd_event_run(loop, UINT64_MAX);
    sd_event_source_unref(input);
    sd_event_source_unref(wake);
    sd_event_unref(loop);
    return judge_end("sd_event", true);
}
