/* cost.c - runs one kind of operation 10,000 times. cost.sh counts the
 * instructions of the function measured_KIND.
 *
 *     cost          prints the kinds
 *     cost KIND     prints the number of operations
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#define TW_STATIC
#include "../../timingwheel.h"
#include <stdio.h>
#include <string.h>

#define TIMERS 10000
#define MEASURED __attribute__((noinline)) static void

static timingwheel wheel;
static tw_timer timers[TIMERS];
static tw_timer beside; /* one more timer */
static size_t done;     /* successful operations, or timers fired */
static uint64_t waited;

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    (void)timer;
    done++;
}

/* ------------------------------------------- deadlines of the timers ------ */

/* Over three wheels. */
static uint64_t spread(size_t i)
{
    return 1 + i * 7919 % 200000;
}

/* No timer is due before 20000. */
static uint64_t late(size_t i)
{
    return 20000 + i % 200;
}

/* Fifty timers per tick, all within reach of wheel 0: no timer cascades. */
static uint64_t near(size_t i)
{
    return 1 + i % 200;
}

/* A hundred timers in each bucket of wheel 1, which are sorted there. */
static uint64_t hundreds(size_t i)
{
    return 256 + i * 7919 % 25600;
}

/* A large bucket of wheel 1. Its first tick brings all timers down. */
static uint64_t one_bucket(size_t i)
{
    return i == 0 ? 512 : 513 + i % 200;
}

/* ------------------------------------------------------- operations ------- */

MEASURED measured_start(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        done += tw_start(&wheel, &timers[i], spread(i)) == TW_OK;
}

MEASURED measured_cancel(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        done += tw_cancel(&wheel, &timers[i]);
}

/* A request that does not time out, again and again, beside the others. */
MEASURED measured_startstop(void)
{
    for (size_t i = 0; i < TIMERS; i++) {
        (void)tw_start(&wheel, &beside, 1000 + i / 50);
        done += tw_cancel(&wheel, &beside);
    }
}

MEASURED measured_postpone(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        done += tw_postpone(&wheel, &timers[i], 300000) == TW_OK;
}

/* Like a second packet in the same tick: the deadline does not change. */
MEASURED measured_again(void)
{
    for (size_t i = 0; i < TIMERS; i++)
        done += tw_postpone(&wheel, &timers[i], late(i)) == TW_OK;
}

/* What an event loop does in each turn. */
MEASURED measured_idle(void)
{
    for (size_t i = 0; i < TIMERS; i++) {
        waited += tw_wait(&wheel, i, 1000);
        (void)tw_advance_clock(&wheel, 1 + i);
    }
    done += waited == (uint64_t)TIMERS * 1000 ? TIMERS : 0;
}

MEASURED measured_fire(void)
{
    (void)tw_advance_clock(&wheel, 200);
}

MEASURED measured_sort(void)
{
    (void)tw_advance_clock(&wheel, 25900);
}

MEASURED measured_cascade(void)
{
    (void)tw_advance_clock(&wheel, 512);
}

/* A kind of operation, and the deadlines of the timers that are started
 * before. */
typedef struct kind {
    const char *name;
    uint64_t (*deadline)(size_t); /* NULL: no timer is started before */
    void (*measured)(void);
} kind;

static const kind kinds[] = {
    {"start", NULL, measured_start},
    {"cancel", spread, measured_cancel},
    {"startstop", spread, measured_startstop},
    {"postpone", spread, measured_postpone},
    {"again", late, measured_again},
    {"idle", late, measured_idle},
    {"fire", near, measured_fire},
    {"sort", hundreds, measured_sort},
    {"cascade", one_bucket, measured_cascade},
};

/* Returns the number of operations: 0 if another number of timers moved down
 * than the kind says. */
static size_t measure(const kind *k)
{
    tw_stats stats;
    for (size_t i = 0; k->deadline != NULL && i < TIMERS; i++)
        (void)tw_start(&wheel, &timers[i], k->deadline(i));
    k->measured();
    tw_get_stats(&wheel, &stats);
    if (k->measured == measured_cascade)
        return (size_t)stats.cascaded;
    return stats.cascaded == 0 ? done : 0;
}

int main(int argc, char **argv)
{
    size_t operations = 0;
    tw_init(&wheel, NULL);
    if (tw_reserve(&wheel, TIMERS + 1, 300000) != TW_OK)
        return 2;
    for (size_t i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_fire);
    tw_timer_init(&beside, on_fire);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (argc < 2)
            puts(kinds[i].name);
        else if (strcmp(argv[1], kinds[i].name) == 0)
            operations = measure(&kinds[i]);
    if (argc >= 2)
        printf("%u\n", (unsigned)operations);
    tw_destroy(&wheel);
    return argc >= 2 && operations == 0;
}
