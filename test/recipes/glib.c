/* glib.c - timingwheel.h in GLib's main loop, as a GSource of its own.
 *
 * The clock is the source's, g_source_get_time: microseconds, monotonic, read
 * once a turn. GLib sleeps in milliseconds, so the wait is rounded up: rounded
 * down, the loop spins until the deadline.
 *
 * The example: a child writes a byte every 20 ms. Each byte starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; every fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <glib-unix.h>
#include <stdio.h>

static timingwheel wheel;
static GSource *source;
static int bytes, pending, fired, early, late, idle;

static uint64_t time_of(GSource *self)
{
    static uint64_t now;
    uint64_t reading = (uint64_t)g_source_get_time(self);
    return now = reading > now ? reading : now;
}

/* Before the sleep: how long may it be? True if something is due already. */
static gboolean prepare(GSource *self, gint *timeout)
{
    uint64_t wait = tw_wait(&wheel, time_of(self), 60000000);
    *timeout = (gint)((wait + 999) / 1000);
    return wait == 0;
}

/* After it: is something due now? */
static gboolean check(GSource *self)
{
    return tw_wait(&wheel, time_of(self), 1) == 0;
}

static gboolean dispatch(GSource *self, GSourceFunc function, gpointer data)
{
    (void)function, (void)data;
    tw_advance_clock(&wheel, time_of(self));
    return G_SOURCE_CONTINUE;
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += time_of(source) < tw_deadline(timer);
    late += time_of(source) > tw_deadline(timer) + 9000;
}

static gboolean on_readable(gint fd, GIOCondition condition, gpointer data)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    uint64_t now = time_of(source);
    char byte;
    (void)condition, (void)data;
    gboolean more = read(fd, &byte, 1) == 1; /* not the end of the file */
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, 2000));
    tw_postpone(&wheel, &silence, tw_after(now, 150000));
    if (++bytes % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
    return more;
}

int main(void)
{
    FILE *child = popen("for i in $(seq 19); do sleep .02; echo; done", "r");
    GSourceFuncs functions = {
        .prepare = prepare, .check = check, .dispatch = dispatch};
    GMainContext *context = g_main_context_new();
    GSource *input = g_unix_fd_source_new(fileno(child), G_IO_IN | G_IO_HUP);
    source = g_source_new(&functions, sizeof(GSource));
    g_source_attach(source, context);
    if (tw_init(&wheel, &(tw_config){.start = time_of(source)}) != TW_OK)
        return 1;
    g_source_set_callback(input, G_SOURCE_FUNC(on_readable), NULL, NULL);
    g_source_set_can_recurse(input, TRUE); /* else GLib wakes after each call */
    g_source_attach(input, context);
    while (bytes < 20 || tw_count(&wheel) > 0) {
        int before = bytes + fired;
        g_main_context_iteration(context, TRUE);
        idle += bytes + fired == before;
    }
    g_source_unref(input);
    g_source_unref(source);
    g_main_context_unref(context);
    tw_destroy(&wheel);
    printf("glib: %d fired, %d early, %d lost, %d late, %d idle turns\n", fired,
           early, pending, late, idle);
    return (pclose(child) || early || pending || late > 10) + 2 * (idle > 10);
}
