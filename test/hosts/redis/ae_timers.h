/* ae_timers.h - redis 7.0's time events on timingwheel.h. redis.sed takes the
 * list of events out of ae.c, and includes this file instead.
 *
 * SPDX-License-Identifier: MIT */
#define TW_STATIC
#define TW_MALLOC(size, context) ((void)(context), zmalloc(size))
#define TW_FREE(pointer, context) ((void)(context), zfree(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

struct time_event {
    tw_timer timer;
    long long id; /* AE_DELETED_EVENT_ID: freed when its handler ends */
    aeTimeProc *handler;
    aeEventFinalizerProc *finalizer;
    void *context;
};

/* The time events of one loop, behind loop->timeEventHead. */
struct timers {
    timingwheel wheel; /* in microseconds */
    aeEventLoop *loop;
    struct time_event *firing; /* its handler runs; or NULL */
};

static struct timers *timers_of(const aeEventLoop *loop)
{
    return (struct timers *)(void *)loop->timeEventHead;
}

/* Allocates all wheels (35 KB) at once, so that no later start does. */
static void make_timers(aeEventLoop *loop)
{
    struct timers *timers = (struct timers *)zcalloc(sizeof(*timers));
    tw_config config = {.start = getMonotonicUs(), .wheel_size = 16};
    tw_init(&timers->wheel, &config);
    (void)tw_reserve(&timers->wheel, UINT64_MAX);
    timers->loop = loop;
    loop->timeEventHead = (aeTimeEvent *)(void *)timers;
}

static void free_event(tw_timer *timer, void *context)
{
    (void)context;
    zfree(TW_OWNER(timer, struct time_event, timer));
}

static void free_timers(aeEventLoop *loop)
{
    tw_drain(&timers_of(loop)->wheel, free_event, NULL);
    tw_destroy(&timers_of(loop)->wheel);
    zfree(timers_of(loop));
}

static void end(aeEventLoop *loop, struct time_event *event)
{
    if (event->finalizer != NULL)
        event->finalizer(loop, event->context);
    zfree(event);
}

/* A delay of 0 means the next turn of the loop: a passed deadline, such as 0,
 * waits for the next call, also if a handler starts it. */
static void start(aeEventLoop *loop, struct time_event *event, long long delay)
{
    uint64_t deadline = 0;
    if (delay > 0)
        deadline = tw_after(getMonotonicUs(), (uint64_t)delay * 1000);
    (void)tw_start(&timers_of(loop)->wheel, &event->timer, deadline);
}

static void on_due(timingwheel *wheel, tw_timer *timer)
{
    struct timers *timers = TW_OWNER(wheel, struct timers, wheel);
    struct time_event *event = TW_OWNER(timer, struct time_event, timer);
    timers->firing = event;
    int delay = event->handler(timers->loop, event->id, event->context);
    timers->firing = NULL;
    if (delay == AE_NOMORE || event->id == AE_DELETED_EVENT_ID)
        end(timers->loop, event);
    else
        start(timers->loop, event, delay);
}

long long aeCreateTimeEvent(aeEventLoop *loop, long long milliseconds,
                            aeTimeProc *handler, void *context,
                            aeEventFinalizerProc *finalizer)
{
    struct time_event *event = (struct time_event *)zmalloc(sizeof(*event));
    *event = (struct time_event){TW_TIMER_INIT(on_due), loop->timeEventNextId++,
                                 handler, finalizer, context};
    start(loop, event, milliseconds);
    return event->id;
}

static bool has_id(const tw_timer *timer, void *id)
{
    return TW_OWNER(timer, const struct time_event, timer)->id ==
           *(const long long *)id;
}

int aeDeleteTimeEvent(aeEventLoop *loop, long long id)
{
    struct timers *timers = timers_of(loop);
    tw_timer *timer = tw_find(&timers->wheel, has_id, &id);
    if (timers->firing != NULL && timers->firing->id == id) {
        timers->firing->id = AE_DELETED_EVENT_ID;
    } else if (timer != NULL) {
        tw_cancel(&timers->wheel, timer);
        end(loop, TW_OWNER(timer, struct time_event, timer));
    } else {
        return AE_ERR;
    }
    return AE_OK;
}

/* Returns how long the loop may sleep, in microseconds; -1 without an event. */
static int64_t usUntilEarliestTimer(aeEventLoop *loop)
{
    const timingwheel *wheel = &timers_of(loop)->wheel;
    if (tw_count(wheel) == 0)
        return -1;
    return (int64_t)tw_wait(wheel, getMonotonicUs(), INT64_MAX);
}

static int processTimeEvents(aeEventLoop *loop)
{
    return (int)tw_advance_clock(&timers_of(loop)->wheel, getMonotonicUs());
}
