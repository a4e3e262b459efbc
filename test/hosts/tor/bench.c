/* bench.c - nanoseconds of processor time of Tor's timer functions, with 1,000
 * and 100,000 timers. Each line of the output is "MEASURE|NUMBER".
 *
 * Scheduling and disabling read the real clock, as Tor does. Firing runs with a
 * clock that the program moves by a millisecond at a time.
 *
 * SPDX-License-Identifier: MIT */

#include "orconfig.h"

#define TOR_TIMERS_PRIVATE

#include "lib/evloop/compat_libevent.h"
#include "lib/evloop/timers.h"
#include "lib/log/log.h"
#include "lib/time/compat_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "../measure.h"

#define MOST 100000
#define OPERATIONS 1000000 /* of each kind and count */

static tor_timer_t *timers[MOST];
static int order[MOST];
static int count;
static unsigned long fired;

static void on_due(tor_timer_t *timer, void *argument, const monotime_t *now)
{
    (void)timer;
    (void)argument;
    (void)now;
    fired++;
}

static void schedule(int i, unsigned usec)
{
    struct timeval delay = {(time_t)(usec / 1000000), (int)(usec % 1000000)};
    timer_schedule(timers[order[i]], &delay);
}

/* 10 to 40 seconds: no timer fires while the program measures. */
static void schedule_all(void)
{
    for (int i = 0; i < count; i++)
        schedule(i, 10000000 + (unsigned)(next_random() % 30000000));
}

/* A time-out of 40 s that starts again: always later. */
static void push_all_back(void)
{
    for (int i = 0; i < count; i++)
        schedule(i, 40000000);
}

static void disable_all(void)
{
    for (int i = 0; i < count; i++)
        timer_disable(timers[order[i]]);
}

static double time_of(void (*function)(void))
{
    double before = processor_seconds();
    function();
    return processor_seconds() - before;
}

static void print(const char *measure, double sum, long operations)
{
    printf("%s, %d timers, ns|%.0f\n", measure, count,
           sum * 1e9 / (double)operations);
}

static void measure_scheduling(void)
{
    double first = 0, again = 0, back = 0, disabling = 0;

    for (int done = 0; done < OPERATIONS; done += count) {
        shuffle(order, count);
        first += time_of(schedule_all);
        shuffle(order, count);
        again += time_of(schedule_all);
        shuffle(order, count);
        back += time_of(push_all_back);
        shuffle(order, count);
        disabling += time_of(disable_all);
    }
    print("schedule", first, OPERATIONS);
    print("again, random", again, OPERATIONS);
    print("again, later", back, OPERATIONS);
    print("disable", disabling, OPERATIONS);
}

/* Fires all timers within 30 seconds of the moved clock. */
static double fire_all(void)
{
    static int64_t clock = 1000000000;
    double before;

    shuffle(order, count);
    for (int i = 0; i < count; i++)
        schedule(i, (unsigned)(next_random() % 30000000));
    before = processor_seconds();
    for (int step = 0; step <= 30000; step++) {
        monotime_set_mock_time_nsec(clock += 1000000);
        timers_run_pending();
    }
    return processor_seconds() - before;
}

static void measure_firing(void)
{
    int rounds = count > 10000 ? 3 : 10;
    double sum = 0;

    for (int i = 0; i < rounds; i++)
        sum += fire_all();
    print("fire, steps of 1 ms", sum, (long)rounds * count);
}

/* Returns whether every timer fired. */
static int measure_with(int timers_wanted)
{
    unsigned long expected;

    count = timers_wanted;
    timers_initialize();
    measure_scheduling();
    timers_shutdown();
    monotime_enable_test_mocking();
    monotime_set_mock_time_nsec(1000000000);
    timers_initialize();
    fired = 0;
    expected = (unsigned long)count * (count > 10000 ? 3 : 10);
    measure_firing();
    timers_shutdown();
    monotime_disable_test_mocking();
    return fired == expected;
}

int main(void)
{
    tor_libevent_cfg_t settings;
    int good;

    memset(&settings, 0, sizeof(settings));
    tor_libevent_initialize(&settings);
    init_logging(1);
    for (int i = 0; i < MOST; i++)
        timers[i] = timer_new(on_due, NULL);
    good = measure_with(1000);
    good = measure_with(MOST) && good;
    for (int i = 0; i < MOST; i++)
        timer_free(timers[i]);
    return !good;
}
