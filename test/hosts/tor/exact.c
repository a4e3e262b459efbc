/* exact.c - Tor, as exact.h wants it. SPDX-License-Identifier: MIT */
#define HOST_TICK 100
#define HOST_STEP 1
#define HOST_DELAY 1

#include "../exact.h"

#include "orconfig.h"

#define TOR_TIMERS_PRIVATE

#include "lib/evloop/compat_libevent.h"
#include "lib/evloop/timers.h"
#include "lib/log/log.h"
#include "lib/time/compat_time.h"

#include <sys/time.h>

static tor_timer_t *timers[TIMERS];

static void on_due(tor_timer_t *timer, void *index, const monotime_t *now)
{
    (void)timer;
    (void)now;
    host_fired((int)(intptr_t)index);
}

static void host_begin(void)
{
    tor_libevent_cfg_t settings;

    memset(&settings, 0, sizeof(settings));
    tor_libevent_initialize(&settings);
    init_logging(1);
    monotime_init();
    timers_initialize();
    for (int i = 0; i < TIMERS; i++)
        timers[i] = timer_new(on_due, (void *)(intptr_t)i);
}

static void host_start(int timer, uint64_t delay)
{
    struct timeval after = {(time_t)(delay / 1000000),
                            (suseconds_t)(delay % 1000000)};
    timer_schedule(timers[timer], &after);
}

static void host_cancel(int timer)
{
    timer_disable(timers[timer]);
}

static void host_run(void)
{
    timers_run_pending();
}

static int host_end(void)
{
    for (int i = 0; i < TIMERS; i++)
        timer_free(timers[i]);
    timers_shutdown();
    return 0;
}
