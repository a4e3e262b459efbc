/* ngx_event_timer.c - nginx 1.22's timers on timingwheel.h, in place of the
 * red-black tree.
 *
 * SPDX-License-Identifier: MIT */
#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

/* The timer takes the place of the tree's node, so ngx_event_t is unchanged. */
typedef char
    a_timer_fits[sizeof(tw_timer) <= sizeof(ngx_rbtree_node_t) ? 1 : -1];

static timingwheel timers; /* of this process, in milliseconds */

static tw_timer *timer_of(ngx_event_t *ev)
{
    return (tw_timer *)(void *)&ev->timer;
}

/* A worker calls this function before its first connection. */
ngx_int_t ngx_event_timer_init(ngx_log_t *log)
{
    tw_config config = {.start = ngx_current_msec};
    return tw_init(&timers, &config) == TW_OK ? NGX_OK : NGX_ERROR;
}

/* Starts the timer, or changes its time. A later time is only stored. */
void ngx_event_add_timer(ngx_event_t *ev, ngx_msec_t delay)
{
    (void)tw_postpone_after(&timers, timer_of(ev), ngx_current_msec, delay);
    ev->timer_set = 1;
}

void ngx_event_del_timer(ngx_event_t *ev)
{
    tw_cancel(&timers, timer_of(ev));
    ev->timer_set = 0;
}

/* Returns how long the loop may sleep. */
ngx_msec_t ngx_event_find_timer(void)
{
    return tw_wait(&timers, ngx_current_msec, NGX_TIMER_INFINITE);
}

/* A timer that a handler starts for now fires here, as in the tree. */
void ngx_event_expire_timers(void)
{
    tw_timer *timer;
    while ((timer = tw_poll(&timers, ngx_current_msec)) != NULL) {
        ngx_event_t *ev = ngx_rbtree_data(timer, ngx_event_t, timer);
        ev->timer_set = 0;
        ev->timedout = 1;
        ev->handler(ev);
    }
}

static bool counts(const tw_timer *timer, void *context)
{
    (void)context;
    return !TW_OWNER(timer, const ngx_event_t, timer)->cancelable;
}

/* A worker that shuts down asks in each turn whether it may exit. */
ngx_int_t ngx_event_no_timers_left(void)
{
    return tw_find(&timers, counts, NULL) == NULL ? NGX_OK : NGX_AGAIN;
}
