/* load.c - FRRouting's event loop with many periodic timers in real time.
 * Counts wake-ups, processor time and lateness. Fails if a timer is early, or
 * if a timer does not come.
 *
 *     load [TIMERS [PERIOD IN MS [SECONDS]]]
 *
 * Each line of the output is "MEASURE|NUMBER".
 *
 * SPDX-License-Identifier: MIT */

#include <zebra.h>

#include <dlfcn.h>

#include "thread.h"

#include "../measure.h"

struct periodic {
    struct thread *thread;
    struct timeval due; /* the time asked for */
    unsigned long fired;
};

static struct thread_master *master;
static struct periodic *periodics;
static int timers = 10000, period = 1000, seconds = 5;
static unsigned long wake_ups, fired, early;
static double lateness, latest; /* ms */
static bool is_over;

/* libfrr calls this function in place of the C library's. */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
          const sigset_t *signals)
{
    static int (*original)(struct pollfd *, nfds_t, const struct timespec *,
                           const sigset_t *);
    if (original == NULL)
        *(void **)&original = dlsym(RTLD_NEXT, "ppoll");
    wake_ups++;
    return original(fds, count, timeout, signals);
}

static void on_due(struct thread *thread);

static void start(struct periodic *p, int msec)
{
    struct timeval delay = {msec / 1000, msec % 1000 * 1000};
    monotime(&p->due);
    timeradd(&p->due, &delay, &p->due);
    thread_add_timer_msec(master, on_due, p, msec, &p->thread);
}

static void on_due(struct thread *thread)
{
    struct periodic *p = thread->arg;
    double late = (double)monotime_since(&p->due, NULL) / 1000;

    early += late < 0;
    lateness += late;
    latest = late > latest ? late : latest;
    fired++;
    p->fired++;
    start(p, period);
}

static void on_end(struct thread *thread)
{
    (void)thread;
    is_over = true;
}

/* Returns the number of timers that fired less often than they must. */
static unsigned long count_lost(void)
{
    unsigned long lost = 0;
    for (int i = 0; i < timers; i++)
        lost += (periodics[i].fired + 2) * (unsigned long)period <
                (unsigned long)seconds * 1000;
    return lost;
}

int main(int argc, char **argv)
{
    struct thread thread;
    double before;
    unsigned long lost;

    timers = argc > 1 ? atoi(argv[1]) : timers;
    period = argc > 2 ? atoi(argv[2]) : period;
    seconds = argc > 3 ? atoi(argv[3]) : seconds;
    master = thread_master_create(NULL);
    master->handle_signals = false;
    periodics = calloc((size_t)timers, sizeof(*periodics));
    srand(1);
    for (int i = 0; i < timers; i++)
        start(&periodics[i], 1 + rand() % period);
    thread_add_timer(master, on_end, NULL, seconds, NULL);
    wake_ups = 0;
    before = processor_seconds();
    while (!is_over && thread_fetch(master, &thread))
        thread_call(&thread);
    lost = count_lost();
    printf("%d timers, polls/s|%.0f\n", timers, (double)wake_ups / seconds);
    printf("%d timers, CPU %%|%.1f\n", timers,
           (processor_seconds() - before) * 100 / seconds);
    printf("%d timers, mean ms late|%.2f\n", timers,
           fired != 0 ? lateness / (double)fired : 0);
    printf("%d timers, most ms late|%.1f\n", timers, latest);
    thread_master_free(master);
    free(periodics);
    if (early != 0 || lost != 0)
        fprintf(stderr, "%lu early, %lu lost\n", early, lost);
    return early != 0 || lost != 0;
}
