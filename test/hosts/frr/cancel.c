/* cancel.c - asks FRRouting to cancel 200 timers by their argument, among 1,000
 * timers, and counts the cancelled timers. Fails unless exactly the 200 timers
 * are cancelled.
 *
 * SPDX-License-Identifier: MIT */

#include <zebra.h>

#include "thread.h"

#define TIMERS 1000
#define WANTED 200

static void never_called(struct thread *thread)
{
    (void)thread;
    abort();
}

/* Pseudo-random numbers with a fixed seed, so that both builds see the same. */
static unsigned next_random(void)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return state >> 16;
}

int main(void)
{
    struct thread_master *master = thread_master_create(NULL);
    struct thread *timers[TIMERS] = {NULL};
    static char wanted, other;
    int cancelled = 0, mistaken = 0;

    for (int i = 0; i < TIMERS; i++)
        thread_add_timer_msec(master, never_called,
                              i % (TIMERS / WANTED) == 0 ? &wanted : &other,
                              100000 + next_random() % 5000, &timers[i]);
    thread_cancel_event(master, &wanted);
    for (int i = 0; i < TIMERS; i++) {
        if (timers[i] != NULL)
            continue;
        if (i % (TIMERS / WANTED) == 0)
            cancelled++;
        else
            mistaken++;
    }
    thread_master_free(master);
    printf("cancelled %d of %d, and %d others\n", cancelled, WANTED, mistaken);
    return cancelled != WANTED || mistaken != 0;
}
