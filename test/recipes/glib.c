/* glib.c - timingwheel.h in GLib's main loop, as a GSource of its own.
 *
 * The clock is the source's, g_source_get_time: microseconds, monotonic, read
 * once a turn. GLib sleeps in milliseconds, so the wait is rounded up: rounded
 * down, the loop spins until the deadline. The source is attached first, so the
 * wheel advances before the input is read. A higher priority would be wrong:
 * GLib then leaves the input for later turns.
 *
 *     cc glib.c $(pkg-config --cflags --libs glib-2.0) -o glib && ./glib
 *
 * The example is in judge.h.
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define MS 1000
#include "judge.h"
#include <glib-unix.h>

/* Before the sleep. Returns true if a timer is due already. */
static gboolean prepare(GSource *self, gint *timeout)
{
    now = steady((uint64_t)g_source_get_time(self));
    uint64_t wait = tw_wait(&wheel, now, 60000000);
    *timeout = (gint)((wait + 999) / 1000);
    return wait == 0;
}

/* After the sleep. Returns true to advance the wheel in each turn. */
static gboolean check(GSource *self)
{
    now = steady((uint64_t)g_source_get_time(self));
    return TRUE;
}

static gboolean dispatch(GSource *self, GSourceFunc function, gpointer data)
{
    (void)self, (void)function, (void)data;
    tw_advance_clock(&wheel, now);
    return G_SOURCE_CONTINUE;
}

static gboolean on_readable(gint fd, GIOCondition condition, gpointer data)
{
    (void)condition, (void)data;
    judge_read(fd);
    return G_SOURCE_CONTINUE;
}

int main(void)
{
    GSourceFuncs functions = {
        .prepare = prepare, .check = check, .dispatch = dispatch};
    GMainContext *context = g_main_context_new();
    GSource *input = g_unix_fd_source_new(judge_input(), G_IO_IN);
    GSource *source = g_source_new(&functions, sizeof(GSource));
    g_source_set_can_recurse(source, TRUE); /* saves a wake-up per dispatch */
    g_source_attach(source, context);
    now = steady((uint64_t)g_source_get_time(source));
    tw_init(&wheel, &(tw_config){.start = now});
    g_source_set_callback(input, G_SOURCE_FUNC(on_readable), NULL, NULL);
    g_source_set_can_recurse(input, TRUE);
    g_source_attach(input, context);
    while (judge_turn())
        g_main_context_iteration(context, TRUE);
    g_source_unref(input);
    g_source_unref(source);
    g_main_context_unref(context);
    return judge_end("glib", true);
}
