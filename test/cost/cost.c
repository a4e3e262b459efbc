/* cost.c - what cost.sh counts instructions of: one kind of operation, many
 * times, in a function of its own named measured_KIND.
 *
 *     cost KIND       prints how many operations there were
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#define TW_STATIC
#include "../../timingwheel.h"
#include <stdio.h>
#include <string.h>

#define TIMERS 10000
#define MEASURED __attribute__((noinline)) static void

static timingwheel wheel;
static tw_timer timers[TIMERS];
static size_t fired;
static uint64_t waited;

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    (void)timer;
    fired++;
}

/* Spread over three wheels. */
static uint64_t deadline_of(size_t i)
{
    return 1 + i * 7919 % 200000;
}

static void start_all(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        (void)tw_start(&wheel, &timers[i], deadline_of(i));
}

MEASURED measured_start(void)
{
    start_all();
}

MEASURED measured_cancel(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        (void)tw_cancel(&wheel, &timers[i]);
}

/* A request that does not time out, again and again, beside the others. */
MEASURED measured_startstop(void)
{
    static tw_timer beside;
    for (size_t i = 0; i < TIMERS; i++) {
        (void)tw_start(&wheel, &beside, 1000 + i / 50);
        (void)tw_cancel(&wheel, &beside);
    }
}

MEASURED measured_postpone(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        (void)tw_postpone(&wheel, &timers[i], 300000);
}

/* As a packet does that comes in the same tick as the one before. */
MEASURED measured_again(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        (void)tw_postpone(&wheel, &timers[i], deadline_of(i));
}

/* No timer is due before 20000. */
static void start_late(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        (void)tw_start(&wheel, &timers[i], 20000 + i % 200);
}

/* What an event loop does in each turn. */
MEASURED measured_idle(void)
{
    for (size_t i = 0; i < TIMERS; i++) {
        waited += tw_wait(&wheel, i, 1000);
        (void)tw_advance_clock(&wheel, 1 + i);
    }
}

/* Ten timers a tick, all within reach of wheel 0: none cascades. */
static void start_near(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        (void)tw_start(&wheel, &timers[i], 1 + i % 200);
}

MEASURED measured_fire(void)
{
    (void)tw_advance_clock(&wheel, 200);
}

/* A hundred timers in each bucket of wheel 1, which are sorted there. */
static void start_runs(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        (void)tw_start(&wheel, &timers[i], 256 + i * 7919 % 25600);
}

MEASURED measured_sort(void)
{
    (void)tw_advance_clock(&wheel, 25900);
}

/* A crowd in one bucket of wheel 1; its first tick brings all of it down. */
static void start_crowd(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        (void)tw_start(&wheel, &timers[i], (i == 0 ? 512U : 513U + i % 200));
}

MEASURED measured_cascade(void)
{
    (void)tw_advance_clock(&wheel, 512);
}

static size_t measure(const char *kind)
{
    tw_stats stats;
    if (strcmp(kind, "start") == 0) {
        measured_start();
        return tw_count(&wheel);
    }
    if (strcmp(kind, "fire") == 0) {
        start_near();
        measured_fire();
        return fired;
    }
    if (strcmp(kind, "sort") == 0) {
        start_runs();
        measured_sort();
        tw_get_stats(&wheel, &stats);
        return stats.cascaded == 0 ? fired : 0;
    }
    if (strcmp(kind, "cascade") == 0) {
        start_crowd();
        measured_cascade();
        tw_get_stats(&wheel, &stats);
        return (size_t)stats.cascaded;
    }
    if (strcmp(kind, "idle") == 0) {
        start_late();
        measured_idle();
        return tw_count(&wheel);
    }
    start_all();
    if (strcmp(kind, "cancel") == 0) {
        measured_cancel();
        return TIMERS - tw_count(&wheel);
    }
    if (strcmp(kind, "postpone") == 0) {
        measured_postpone();
        return tw_count(&wheel);
    }
    if (strcmp(kind, "again") == 0) {
        measured_again();
        return tw_count(&wheel);
    }
    if (strcmp(kind, "startstop") == 0) {
        measured_startstop();
        return tw_count(&wheel);
    }
    return 0;
}

int main(int argc, char **argv)
{
    tw_init(&wheel, NULL);
    if (argc < 2 || tw_reserve(&wheel, TIMERS, 300000) != TW_OK)
        return 2;
    for (size_t i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_fire);
    size_t operations = measure(argv[1]);
    printf("%u\n", (unsigned)operations);
    tw_destroy(&wheel);
    return operations == 0;
}
