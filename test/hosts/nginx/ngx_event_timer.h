/* ngx_event_timer.h - the functions of ngx_event_timer.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef NGX_EVENT_TIMER_H_INCLUDED
#define NGX_EVENT_TIMER_H_INCLUDED

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>

#define NGX_TIMER_INFINITE ((ngx_msec_t)-1)

ngx_int_t ngx_event_timer_init(ngx_log_t *log);
void ngx_event_add_timer(ngx_event_t *ev, ngx_msec_t delay);
void ngx_event_del_timer(ngx_event_t *ev);
ngx_msec_t ngx_event_find_timer(void);
void ngx_event_expire_timers(void);
ngx_int_t ngx_event_no_timers_left(void);

#endif
