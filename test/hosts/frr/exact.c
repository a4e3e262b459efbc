/* exact.c - FRRouting's timers with a clock that the test moves. Each poll
 * moves the clock by the time-out of the poll, and by 3 us at least. 2,000
 * timers start again at random, and some are cancelled. A timer must not fire
 * early, nor 2 ms late. The tick and the poll each round up to a millisecond.
 * With --few-polls, the loop must not poll more than once a millisecond.
 *
 * SPDX-License-Identifier: MIT */

#include <zebra.h>

#include <dlfcn.h>

#include "thread.h"

#define TIMERS 2000
#define MSEC_OF_TEST 20000

struct entry {
    struct thread *thread;
    int64_t due; /* us, or -1 */
};

static struct thread_master *master;
static struct entry entries[TIMERS];
static int64_t now = 1000000000000; /* us */
static unsigned long fired, cancelled, early, late, unwanted, lost;
static unsigned long polls;

/* libfrr calls these two functions in place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*original)(clockid_t, struct timespec *);
    if (original == NULL)
        *(void **)&original = dlsym(RTLD_NEXT, "clock_gettime");
    if (clock != CLOCK_MONOTONIC)
        return original(clock, time);
    time->tv_sec = now / 1000000;
    time->tv_nsec = now % 1000000 * 1000;
    return 0;
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
          const sigset_t *signals)
{
    int64_t usec = 0;
    (void)signals;
    polls++;
    if (timeout != NULL)
        usec = timeout->tv_sec * 1000000 + timeout->tv_nsec / 1000;
    now += usec > 3 ? usec : 3;
    for (nfds_t i = 0; i < count; i++)
        fds[i].revents = 0;
    return 0;
}

static int next_random(int limit)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return (int)(state >> 8) % limit;
}

static void on_due(struct thread *thread);

static void start(struct entry *entry)
{
    int msec = next_random(next_random(10) == 0 ? 10000 : 300);
    entry->due = now + msec * 1000;
    thread_add_timer_msec(master, on_due, entry, msec, &entry->thread);
}

static void cancel(struct entry *entry)
{
    if (entry->thread == NULL)
        return;
    thread_cancel(&entry->thread);
    entry->due = -1;
    cancelled++;
}

static void on_due(struct thread *thread)
{
    struct entry *entry = thread->arg;

    fired++;
    unwanted += entry->due < 0;
    early += now < entry->due;
    late += entry->due >= 0 && now >= entry->due + 2000;
    start(entry);
    entry = &entries[next_random(TIMERS)];
    if (next_random(10) == 0) {
        cancel(entry);
        start(entry);
    }
    now += next_random(3);
}

int main(int argc, char **argv)
{
    struct thread thread;
    int64_t end = now + MSEC_OF_TEST * 1000;

    master = thread_master_create(NULL);
    master->handle_signals = false;
    for (int i = 0; i < TIMERS; i++)
        start(&entries[i]);
    while (now < end && thread_fetch(master, &thread))
        thread_call(&thread);
    for (int i = 0; i < TIMERS; i++)
        lost += entries[i].due + 2000 <= now || entries[i].thread == NULL;
    thread_master_free(master);
    printf("%lu fired, %lu cancelled, %lu early, %lu late, %lu unwanted, "
           "%lu lost, %lu polls\n",
           fired, cancelled, early, late, unwanted, lost, polls);
    if (argc > 1 && strcmp(argv[1], "--few-polls") == 0 && polls > MSEC_OF_TEST)
        return 1;
    return fired == 0 || early + late + unwanted + lost != 0;
}
