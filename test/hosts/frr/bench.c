/* bench.c - nanoseconds of processor time for FRRouting's timers, with 1,000,
 * 100,000 and 1,000,000 timers. Each line of the output is "MEASURE|NUMBER".
 *
 * SPDX-License-Identifier: MIT */

#include <zebra.h>

#include <malloc.h>

#include "thread.h"

#include "../measure.h"

#define MOST 1000000

static struct thread_master *master;
static struct thread *timers[MOST];
static int order[MOST];
static int count;

static void on_due(struct thread *thread)
{
    (void)thread;
}

/* 10 to 10,000 seconds, or `msec` from now. */
static void schedule_all(long msec)
{
    for (int i = 0; i < count; i++)
        thread_add_timer_msec(
            master, on_due, NULL,
            msec ? msec : 10000 + (long)(next_random() % 10000000), &timers[i]);
}

static void cancel_all(void)
{
    for (int i = 0; i < count; i++)
        thread_cancel(&timers[order[i]]);
}

/* All timers are due when this function begins. */
static void fire_all(void)
{
    struct thread thread;
    for (int i = 0; i < count && thread_fetch(master, &thread); i++)
        thread_call(&thread);
}

static void print(const char *measure, double sum, int rounds)
{
    printf("%s, %d timers, ns|%.0f\n", measure, count,
           sum * 1e9 / ((double)rounds * count));
}

static void measure_with(int timers_wanted, int rounds)
{
    double scheduling = 0, cancelling = 0, firing = 0, begin;

    count = timers_wanted;
    shuffle(order, count);
    schedule_all(0); /* so that the memory is there */
    cancel_all();
    for (int i = 0; i < rounds; i++) {
        shuffle(order, count);
        begin = processor_seconds();
        schedule_all(0);
        scheduling += processor_seconds() - begin;
        begin = processor_seconds();
        cancel_all();
        cancelling += processor_seconds() - begin;
        schedule_all(1);
        usleep(10000);
        begin = processor_seconds();
        fire_all();
        firing += processor_seconds() - begin;
    }
    print("schedule", scheduling, rounds);
    print("cancel", cancelling, rounds);
    print("fire", firing, rounds);
}

int main(void)
{
    mallopt(M_TRIM_THRESHOLD, INT_MAX); /* memory stays with the program */
    master = thread_master_create(NULL);
    master->handle_signals = false;
    measure_with(1000, 100);
    measure_with(100000, 3);
    measure_with(MOST, 2);
    thread_master_free(master);
    return 0;
}
