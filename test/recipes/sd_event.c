/* sd_event.c - many timers on one time source, in the loop of systemd.
 *
 * Says when you have not typed for 250 ms. The source takes the next deadline
 * as it is, to 1 us: its default accuracy of 250 ms would be late. The time of
 * sd_event_now is read once a turn, and would make delays too short.
 *
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

static struct session {
    tw_timer silence;
    unsigned count;
} session;

static timingwheel timers;
static bool is_open = true;

static uint64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec / 1000;
}

/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    if (poll(&(struct pollfd){0, POLLIN, 0}, 1, 0) <= 0)
        return false;
    is_open = read(0, bytes, sizeof(bytes)) > 0;
    if (is_open)
        tw_postpone_after(&timers, &session.silence, clock_us(), 250 * MS);
    return is_open;
}

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    struct session *s = TW_OWNER(timer, struct session, silence);
    (void)tw;
    if (read_input()) /* input that came while the loop stood still */
        return;
    dprintf(1, "silence %u\n", ++s->count);
}

static int on_wake(sd_event_source *source, uint64_t at, void *context)
{
    (void)source, (void)at, (void)context;
    tw_advance_clock(&timers, clock_us());
    return 0;
}

static int on_input(sd_event_source *source, int fd, uint32_t ev, void *context)
{
    (void)fd, (void)ev, (void)context;
    read_input();
    return is_open ? 0 : sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

int main(void)
{
    sd_event *loop = NULL;
    sd_event_source *wake;
    tw_timer_init(&session.silence, on_silence);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_us()});
    if (sd_event_new(&loop) < 0 ||
        sd_event_add_time(loop, &wake, CLOCK_MONOTONIC, 0, 1, on_wake, 0) < 0 ||
        sd_event_add_io(loop, NULL, 0, POLLIN, on_input, NULL) < 0)
        return fprintf(stderr, "no loop: is the input a file?\n"), 1;
    while (is_open || tw_count(&timers) > 0) {
        uint64_t deadline = UINT64_MAX; /* never */
        tw_next_deadline(&timers, &deadline);
        sd_event_source_set_time(wake, deadline);
        sd_event_source_set_enabled(wake, SD_EVENT_ONESHOT);
        sd_event_run(loop, UINT64_MAX);
    }
    sd_event_source_unref(wake);
    sd_event_unref(loop);
    tw_destroy(&timers);
    return 0;
}
