/* glib.c - many timers in one GSource, in the main loop of GLib.
 * Says when you have not typed for 250 ms. Shows a source of one's own:
 * `prepare` says how long GLib may sleep. A callback may run a dialog's loop.
 * g_source_get_time is read once a turn, and would make delays too short.
 *     cc -std=gnu99 -Wall -Wextra glib.c -o glib \
 *         $(pkg-config --cflags --libs glib-2.0) && ./glib
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <glib-unix.h>
#include <stdio.h>
#define MS UINT64_C(1000) /* in microseconds */
static timingwheel timers;
static GMainLoop *loop;
static uint64_t clock_us(void)
{
    return (uint64_t)g_get_monotonic_time();
}

static gboolean prepare(GSource *source, gint *timeout)
{
    uint64_t wait = tw_wait(&timers, clock_us(), 1000 * MS);
    (void)source;
    *timeout = (gint)((wait + MS - 1) / MS); /* rounded down, the loop spins */
    return wait == 0;
}

static gboolean check(GSource *source)
{
    return prepare(source, &(gint){0});
}

/* Callbacks run outside of any call, so they may run a loop. At most 100: one
 * that starts its timer again for the time 0 does not hold the loop. */
static gboolean dispatch(GSource *source, GSourceFunc function, gpointer data)
{
    static uint64_t now; /* a loop in a callback moves it on */
    tw_timer *timer;
    (void)source, (void)function, (void)data;
    now = clock_us();
    for (int i = 0; i < 100 && (timer = tw_poll(&timers, now)) != NULL; i++)
        timer->callback(&timers, timer);
    return G_SOURCE_CONTINUE;
}

static void init(void)
{
    static GSourceFuncs all = {prepare, check, dispatch, NULL, NULL, NULL};
    GSource *source = g_source_new(&all, sizeof(GSource));
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_us()});
    loop = g_main_loop_new(NULL, FALSE);
    g_source_set_can_recurse(source, TRUE); /* for loops in callbacks */
    g_source_attach(source, NULL);
    g_source_unref(source); /* GLib keeps it */
}

static void run(void)
{
    g_main_loop_run(loop);
}

static void stop(void)
{
    g_main_loop_quit(loop);
}

/* The example. Input that has come beats the timeout, even after a stall. */
static tw_timer silence;
static bool is_closed;
/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    if (g_poll(&(GPollFD){0, G_IO_IN, 0}, 1, 0) <= 0)
        return false;
    if (read(0, bytes, sizeof(bytes)) > 0)
        return tw_postpone_after(&timers, &silence, clock_us(), 250 * MS), true;
    is_closed = true;
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

static gboolean on_input(gint fd, GIOCondition condition, gpointer data)
{
    (void)fd, (void)condition, (void)data;
    return read_input() || !is_closed;
}

static void watch_input(void)
{
    tw_timer_init(&silence, on_silence);
    g_unix_fd_add(0, G_IO_IN | G_IO_HUP, on_input, NULL);
}

int main(void)
{
    init();
    watch_input();
    run();
    tw_destroy(&timers);
}
