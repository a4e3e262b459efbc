/* timers.c - seconds of processor time for a million events in libevent:
 *
 *     add        adds every event, for a random time within a second
 *     dispatch   a second later, calls every event
 *     put off    adds every event twice more, for a random time within a minute
 *     delete     deletes every event
 *
 * The program uses public functions of libevent only, so the program measures
 * any libevent. Fails unless every event fires once, in order of time.
 *
 *     timers [EVENTS]
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* nanosleep, clock_gettime */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "event2/event.h"
#include "event2/event_struct.h"
#include "event2/util.h"

#include "../measure.h"

static unsigned long fired;
static unsigned long out_of_order;
static struct timeval latest;

static void on_timeout(evutil_socket_t fd, short what, void *argument)
{
    const struct event *event = (const struct event *)argument;
    (void)fd;
    (void)what;
    fired++;
    out_of_order += evutil_timercmp(&event->ev_timeout, &latest, <) ? 1 : 0;
    latest = event->ev_timeout;
}

static void add_all(struct event *events, unsigned long count, uint64_t longest)
{
    for (unsigned long i = 0; i < count; i++) {
        uint64_t time = next_random() % longest;
        struct timeval after;
        after.tv_sec = (time_t)(time / 1000000);
        after.tv_usec = (suseconds_t)(time % 1000000);
        if (event_add(&events[i], &after) != 0)
            exit(1);
    }
}

/* Prints how much processor time has passed since the call before. */
static void lap(const char *what)
{
    static double before;
    double now = processor_seconds();
    if (what != NULL)
        printf("%s %.2f\n", what, now - before);
    before = now;
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    struct event_base *base = event_base_new();
    struct event *events = calloc(count, sizeof(*events));
    struct timespec second = {1, 0};

    if (base == NULL || events == NULL || count == 0)
        return 1;
    for (unsigned long i = 0; i < count; i++)
        event_assign(&events[i], base, -1, 0, on_timeout, &events[i]);

    lap(NULL);
    add_all(events, count, 1000000);
    lap("add");
    nanosleep(&second, NULL);
    lap(NULL);
    event_base_dispatch(base);
    lap("dispatch");
    add_all(events, count, 60000000);
    add_all(events, count, 60000000);
    lap("put off");
    for (unsigned long i = 0; i < count; i++)
        event_del(&events[i]);
    lap("delete");

    event_base_free(base);
    free(events);
    printf("fired %lu of %lu, %lu out of order\n", fired, count, out_of_order);
    return fired == count && out_of_order == 0 ? 0 : 1;
}
