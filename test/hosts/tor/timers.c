/* timers.c - Tor 0.4's timers on timingwheel.h, in place of
 * src/lib/evloop/timers.c, which uses timeout.c. README.md says what is the
 * same and what is not.
 *
 * SPDX-License-Identifier: MIT */

#include "orconfig.h"

#define TOR_TIMERS_PRIVATE

#include "lib/evloop/compat_libevent.h"
#include "lib/evloop/timers.h"
#include "lib/log/util_bug.h"
#include "lib/malloc/malloc.h"
#include "lib/time/compat_time.h"

#ifdef HAVE_SYS_TIME_H
#include <sys/time.h>
#endif

#ifdef _WIN32
#include <winsock2.h>
#endif

/* tor_malloc ends the program if memory is short, so no start can fail. */
#define TW_STATIC
#define TW_MALLOC(size, context) ((void)(context), tor_malloc(size))
#define TW_FREE(pointer, context) ((void)(context), tor_free_(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

/* A tor_timer_t. timers.h names this struct, and the struct is private. */
struct timeout {
    tw_timer timer; /* first, so that the addresses are equal */
    timer_cb_fn_t callback;
    void *argument;
};

/* The wheel counts ticks of 100 us since `start_of_time`, as the host does. */
#define USEC_PER_TICK 100
#define USEC_PER_SEC 1000000
#define TICKS_PER_HOUR (3600ULL * (USEC_PER_SEC / USEC_PER_TICK))

static timingwheel wheel;
static monotime_t start_of_time;

/* libevent's only timer wakes the wheel. `alarm_tick` is the tick for which
 * libevent's timer is set, or UINT64_MAX. */
static mainloop_event_t *alarm_event;
static uint64_t alarm_tick = UINT64_MAX;

static uint64_t usec_since_start(const monotime_t *now)
{
    int64_t usec = monotime_diff_usec(&start_of_time, now);
    return usec > 0 ? (uint64_t)usec : 0;
}

/* Sets libevent's timer for the time of `tick`. */
static void set_alarm(uint64_t tick, uint64_t now_usec)
{
    struct timeval delay = {0, 0};
    uint64_t usec = tick * USEC_PER_TICK;

    if (usec > now_usec) {
        usec -= now_usec;
        delay.tv_sec = (time_t)(usec / USEC_PER_SEC);
        delay.tv_usec = (int)(usec % USEC_PER_SEC);
    }
    alarm_tick = tick;
    mainloop_event_schedule(alarm_event, &delay);
}

/* Sets libevent's timer for the next deadline, an hour away at most. */
static void set_alarm_for_wheel(void)
{
    monotime_t now;
    monotime_get(&now);

    uint64_t usec = usec_since_start(&now);
    uint64_t tick = usec / USEC_PER_TICK;
    set_alarm(tick + tw_wait(&wheel, tick, TICKS_PER_HOUR), usec);
}

/* Calls the callback of every timer that is due. */
STATIC void timers_run_pending(void)
{
    tw_timer *due;
    monotime_t now;
    monotime_get(&now);

    uint64_t tick = usec_since_start(&now) / USEC_PER_TICK;
    while ((due = tw_poll(&wheel, tick)) != NULL) {
        tor_timer_t *t = TW_OWNER(due, tor_timer_t, timer);
        t->callback(t, t->argument, &now);
    }
}

static void on_alarm(mainloop_event_t *event, void *argument)
{
    (void)event;
    (void)argument;
    timers_run_pending();
    set_alarm_for_wheel();
}

void timers_initialize(void)
{
    if (BUG(alarm_event))
        return;
    monotime_init();
    monotime_get(&start_of_time);
    tw_init(&wheel, NULL);
    alarm_event = mainloop_event_new(on_alarm, NULL);
    tor_assert(alarm_event);
    set_alarm_for_wheel();
}

/* Timers may be freed after this call: tw_destroy makes all timers idle. */
void timers_shutdown(void)
{
    if (alarm_event == NULL)
        return;
    mainloop_event_free(alarm_event);
    alarm_event = NULL;
    alarm_tick = UINT64_MAX;
    tw_destroy(&wheel);
}

tor_timer_t *timer_new(timer_cb_fn_t callback, void *argument)
{
    tor_timer_t *t = tor_malloc_zero(sizeof(tor_timer_t));
    timer_set_cb(t, callback, argument);
    return t;
}

void timer_free_(tor_timer_t *t)
{
    if (t == NULL)
        return;
    timer_disable(t);
    tor_free(t);
}

void timer_set_cb(tor_timer_t *t, timer_cb_fn_t callback, void *argument)
{
    t->callback = callback;
    t->argument = argument;
}

void timer_get_cb(const tor_timer_t *t, timer_cb_fn_t *callback_out,
                  void **argument_out)
{
    if (callback_out != NULL)
        *callback_out = t->callback;
    if (argument_out != NULL)
        *argument_out = t->argument;
}

/* Schedules a timer, or moves a timer that is scheduled. tw_postpone moves a
 * timer to a later time by one store, and starts any other timer. */
void timer_schedule(tor_timer_t *t, const struct timeval *delay)
{
    monotime_t now;
    monotime_get(&now);

    uint64_t now_usec = usec_since_start(&now);
    uint64_t usec = now_usec + (uint64_t)delay->tv_usec +
                    (uint64_t)delay->tv_sec * USEC_PER_SEC;
    uint64_t tick = (usec + USEC_PER_TICK - 1) / USEC_PER_TICK;

    int status = tw_postpone(&wheel, &t->timer, tick);
    tor_assert(status == TW_OK);
    if (tick < alarm_tick)
        set_alarm(tick, now_usec);
}

/* The alarm stays: an alarm that is early does no harm. */
void timer_disable(tor_timer_t *t)
{
    tw_cancel(&wheel, &t->timer);
}
