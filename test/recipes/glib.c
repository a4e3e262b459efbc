/* glib.c - many timers in one GSource, in the main loop of GLib.
 *
 * Says when you have not typed for 250 ms. Shows a source of one's own:
 * `prepare` says how long GLib may sleep, `check` if a timer is due.
 * g_source_get_time is read once a turn, and would make delays too short.
 *
 *     cc -std=gnu99 -Wall -Wextra glib.c -o glib \
 *         $(pkg-config --cflags --libs glib-2.0) && ./glib
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <glib-unix.h>
#include <stdio.h>

#define MS UINT64_C(1000) /* in microseconds */

static struct session {
    tw_timer silence;
    unsigned count;
} session;

static timingwheel timers;
static bool is_open = true;

static uint64_t clock_us(void)
{
    return (uint64_t)g_get_monotonic_time();
}

/* Returns true if there was input: the silence begins anew. */
static bool read_input(void)
{
    char bytes[4096];
    if (g_poll(&(GPollFD){0, G_IO_IN, 0}, 1, 0) <= 0)
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

static gboolean dispatch(GSource *source, GSourceFunc function, gpointer data)
{
    (void)source, (void)function, (void)data;
    tw_advance_clock(&timers, clock_us());
    return G_SOURCE_CONTINUE;
}

static gboolean on_input(gint fd, GIOCondition condition, gpointer data)
{
    (void)fd, (void)condition, (void)data;
    return read_input() || is_open;
}

int main(void)
{
    GSourceFuncs functions = {prepare, check, dispatch, NULL, NULL, NULL};
    GSource *source = g_source_new(&functions, sizeof(GSource));
    tw_timer_init(&session.silence, on_silence);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_us()});
    g_source_attach(source, NULL);
    g_unix_fd_add(0, G_IO_IN | G_IO_HUP, on_input, NULL);
    while (is_open || tw_count(&timers) > 0)
        g_main_context_iteration(NULL, TRUE);
    g_source_unref(source);
    tw_destroy(&timers);
    return 0;
}
