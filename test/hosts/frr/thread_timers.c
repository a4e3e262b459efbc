/* thread_timers.c - FRRouting 8.4's timers on timingwheel.h, in place of the
 * heap. lib/thread.c includes this file. Every function runs with the lock of
 * the thread_master. README.md says what is the same and what is not.
 *
 * SPDX-License-Identifier: MIT */

DEFINE_MTYPE_STATIC(LIB, THREAD_WHEEL, "Thread timing wheel");

/* XMALLOC ends the program if memory is short, so no start can fail. */
#define TW_MALLOC(size, context) \
    ((void)(context), XMALLOC(MTYPE_THREAD_WHEEL, size))
#define TW_FREE(pointer, context) \
    ((void)(context), qfree(MTYPE_THREAD_WHEEL, pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

#define STARVING_MSEC 4000

static void thread_add_unuse(struct thread_master *m, struct thread *thread);
static void thread_free(struct thread_master *m, struct thread *thread);

static struct thread *thread_of(tw_timer *timer)
{
    return TW_OWNER(timer, struct thread, timeritem.timer);
}

/* Milliseconds, rounded down. */
static uint64_t msec_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000 + (uint64_t)time->tv_usec / 1000;
}

static struct timeval timeval_of(uint64_t msec)
{
    struct timeval time;
    time.tv_sec = (time_t)(msec / 1000);
    time.tv_usec = (suseconds_t)(msec % 1000 * 1000);
    return time;
}

static uint64_t now_in_msec(void)
{
    struct timeval now;
    monotime(&now);
    return msec_of(&now);
}

static void thread_timer_list_init(struct thread_timer_list_head *timers)
{
    tw_config config = {0};
    config.start = now_in_msec();
    tw_init(&timers->wheel, &config);
}

/* Adds a timer, and rounds the timer's time up to a millisecond. */
static void thread_timer_list_add(struct thread_timer_list_head *timers,
                                  struct thread *thread)
{
    struct timeval rounding = {0, 999};
    uint64_t next = UINT64_MAX, deadline;

    timeradd(&thread->u.sands, &rounding, &thread->u.sands);
    deadline = msec_of(&thread->u.sands);
    thread->u.sands = timeval_of(deadline);
    tw_next_deadline(&timers->wheel, &next);
    timers->is_earlier = deadline < next;
    if (tw_start(&timers->wheel, &thread->timeritem.timer, deadline) != TW_OK)
        abort();
}

static void thread_timer_list_del(struct thread_timer_list_head *timers,
                                  struct thread *thread)
{
    tw_cancel(&timers->wheel, &thread->timeritem.timer);
}

/* Returns the time to sleep, in whole milliseconds and rounded up, or NULL
 * without a timer. */
static struct timeval *thread_timer_wait(struct thread_timer_list_head *timers,
                                         struct timeval *wait)
{
    if (tw_count(&timers->wheel) == 0)
        return NULL;
    *wait = timeval_of(tw_wait(&timers->wheel, now_in_msec(), INT_MAX));
    return wait;
}

/* Warns once per call if a timer is more than 4 s late. */
static void warn_if_starved(struct thread *thread, uint64_t now, bool *warned)
{
    if (now <= msec_of(&thread->u.sands) + STARVING_MSEC)
        return;
    atomic_fetch_add_explicit(&thread->hist->total_starv_warn, 1,
                              memory_order_seq_cst);
    if (*warned || thread->ignore_timer_late)
        return;
    flog_warn(EC_LIB_STARVE_THREAD,
              "Thread Starvation: %pTHD was due more than 4s ago", thread);
    *warned = true;
}

/* Moves every timer that is due to the ready list. */
static unsigned int thread_process_timers(struct thread_master *m,
                                          struct timeval *time)
{
    uint64_t now = msec_of(time);
    bool warned = false;
    unsigned int ready = 0;
    tw_timer *timer;

    while ((timer = tw_poll(&m->timer.wheel, now)) != NULL) {
        struct thread *thread = thread_of(timer);
        warn_if_starved(thread, now, &warned);
        thread->type = THREAD_READY;
        thread_list_add_tail(&m->ready, thread);
        ready++;
    }
    return ready;
}

static void visit_to_show(tw_timer *timer, void *context)
{
    struct thread *thread = thread_of(timer);
    vty_out(context, "  %-50s%pTH\n", thread->hist->funcname, thread);
}

static void show_thread_timers_helper(struct vty *vty, struct thread_master *m)
{
    vty_out(vty, "\nShowing timers for %s\n", m->name ? m->name : "main");
    tw_foreach(&m->timer.wheel, visit_to_show, vty);
}

/* A visitor may cancel the visited timer, and free the timer then. */
static void visit_to_cancel(tw_timer *timer, void *argument)
{
    struct thread *thread = thread_of(timer);
    if (thread->arg != argument)
        return;
    tw_cancel(&thread->master->timer.wheel, timer);
    if (thread->ref)
        *thread->ref = NULL;
    thread_add_unuse(thread->master, thread);
}

static void cancel_timers_of(struct thread_master *m, void *argument)
{
    tw_foreach(&m->timer.wheel, visit_to_cancel, argument);
}

static void visit_to_free(tw_timer *timer, void *context)
{
    thread_free(context, thread_of(timer));
}

static void free_timers(struct thread_master *m)
{
    tw_drain(&m->timer.wheel, visit_to_free, m);
    tw_destroy(&m->timer.wheel);
}
