/* exact.c - Tor's timers with a clock that the test moves. Schedules, moves and
 * disables 2,000 timers at random. Every timer must fire once, in the first run
 * in which the timer's tick of 100 us has come, and in no other run.
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

#define TIMERS 2000
#define TICK 100 /* us */
#define NEVER UINT64_MAX

static tor_timer_t *timers[TIMERS];
static uint64_t due[TIMERS];   /* us, or NEVER */
static uint64_t now, last_run; /* us */
static unsigned long early, late, unwanted, fired, lost;

static unsigned next_random(void)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return state >> 8;
}

static void set_time(uint64_t usec)
{
    now = usec;
    monotime_set_mock_time_nsec((int64_t)(1000000000 + usec * 1000));
}

/* Returns the first moment at which a timer may fire. */
static uint64_t rounded_up(uint64_t usec)
{
    return (usec + TICK - 1) / TICK * TICK;
}

static void on_due(tor_timer_t *timer, void *argument, const monotime_t *time)
{
    uint64_t *mine = argument;
    (void)timer;
    (void)time;

    fired++;
    unwanted += *mine == NEVER;
    early += *mine != NEVER && now < *mine;
    late += *mine != NEVER && last_run >= rounded_up(*mine);
    *mine = NEVER;
}

static void schedule(int i)
{
    unsigned usec = next_random() % (i % 10 == 0 ? 60000000 : 300000);
    struct timeval delay = {(time_t)(usec / 1000000), (int)(usec % 1000000)};

    due[i] = now + usec;
    timer_schedule(timers[i], &delay);
}

static void disable(int i)
{
    due[i] = NEVER;
    timer_disable(timers[i]);
}

static void run(void)
{
    timers_run_pending();
    last_run = now;
}

static void begin(void)
{
    tor_libevent_cfg_t settings;

    memset(&settings, 0, sizeof(settings));
    tor_libevent_initialize(&settings);
    init_logging(1);
    monotime_init();
    monotime_enable_test_mocking();
    set_time(0);
    timers_initialize();
    for (int i = 0; i < TIMERS; i++)
        timers[i] = timer_new(on_due, &due[i]);
}

static void end(void)
{
    set_time(now + 61000000);
    run();
    for (int i = 0; i < TIMERS; i++)
        lost += due[i] != NEVER;
    for (int i = 0; i < TIMERS / 2; i++)
        timer_free(timers[i]);
    schedule(TIMERS - 1);
    timers_shutdown(); /* with a timer pending */
    for (int i = TIMERS / 2; i < TIMERS; i++)
        timer_free(timers[i]);
}

int main(void)
{
    begin();
    for (int i = 0; i < TIMERS; i++)
        schedule(i);
    for (int step = 0; step < 100000; step++) {
        set_time(now + 1 + next_random() % 60);
        schedule((int)(next_random() % TIMERS));
        if (step % 8 == 0)
            disable((int)(next_random() % TIMERS));
        run();
    }
    end();
    printf("%lu fired, %lu early, %lu late, %lu unwanted, %lu lost\n", fired,
           early, late, unwanted, lost);
    return fired == 0 || early != 0 || late != 0 || unwanted != 0 || lost != 0;
}
