/* measure.c - FRRouting, as measure.h wants it. SPDX-License-Identifier: MIT */
#define HOST_MOST 100000
#define HOST_TICK 1000
#define HOST_STEP 1
#define HOST_DELAY 1000

#include <zebra.h>

#include "thread.h"

#include "../measure.h"

static struct thread_master *master;
static struct thread *timers[HOST_MOST];
static int is_done;

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
          const sigset_t *signals)
{
    (void)timeout;
    (void)signals;
    for (nfds_t i = 0; i < count; i++)
        fds[i].revents = 0;
    return 0;
}

static void on_due(struct thread *thread)
{
    host_fired((int)(intptr_t)thread->arg);
}

static void host_begin(void)
{
    master = thread_master_create(NULL);
    master->handle_signals = false;
}

static void host_start(int timer, uint64_t delay)
{
    thread_cancel(&timers[timer]);
    thread_add_timer_msec(master, on_due, (void *)(intptr_t)timer,
                          (long)(delay / 1000), &timers[timer]);
}

static void host_cancel(int timer)
{
    thread_cancel(&timers[timer]);
}

static void on_second(struct thread *thread)
{
    (void)thread;
    is_done = 1;
}

/* The loop looks at events again after it has called all due timers. */
static void on_first(struct thread *thread)
{
    (void)thread;
    thread_add_event(master, on_second, NULL, 0, NULL);
}

static void host_run(void)
{
    struct thread thread;
    is_done = 0;
    thread_add_event(master, on_first, NULL, 0, NULL);
    while (!is_done && thread_fetch(master, &thread))
        thread_call(&thread);
}

/* Cancels 200 of 1,000 timers by argument. Returns the number of timers that
 * stay, although they should not, or go, although they should not. */
static int host_end(void)
{
    static char wanted, other;
    int faults = 0;

    for (int i = 0; i < HOST_MOST; i++)
        thread_cancel(&timers[i]);
    for (int i = 0; i < 1000; i++)
        thread_add_timer_msec(master, on_due, i % 5 == 0 ? &wanted : &other,
                              100000 + (long)(next_random() % 5000),
                              &timers[i]);
    thread_cancel_event(master, &wanted);
    for (int i = 0; i < 1000; i++)
        faults += (timers[i] == NULL) != (i % 5 == 0);
    if (is_exact)
        printf("%d faults of thread_cancel_event\n", faults);
    thread_master_free(master);
    return is_exact ? faults : 0;
}
