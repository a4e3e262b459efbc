/* cost.c - runs one kind of operation many times. cost.sh counts the
 * instructions of the function `measured`.
 *
 *     cost          prints the names of the kinds
 *     cost NAME     prints the number of operations
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_IMPLEMENTATION
#define TW_STATIC
#ifndef HEADER
#define HEADER "../../timingwheel.h"
#endif
#include HEADER
#include <stdio.h>
#include <string.h>

#define MANY 10000
#define MOST 100000

static timingwheel wheel;
static tw_timer timers[MOST];
static size_t count;    /* timers of the running kind */
static size_t fired;    /* so far */
static bool is_holding; /* timers that fire start again */

/* Returns a delay up to a minute, another one for each i. */
static uint64_t minute(size_t i)
{
    return 1 + i * UINT64_C(7919) % 60000;
}

static uint64_t half_minute(size_t i)
{
    return 30000 + i;
}

/* Fifty timers per tick, all in wheel 0. */
static uint64_t near(size_t i)
{
    return 1 + i % 200;
}

/* Hundreds of timers in each bucket of wheel 1, which move down. */
static uint64_t large(size_t i)
{
    return 512 + i * 7919 % 5120;
}

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    fired++;
    if (is_holding)
        tw_start(tw, timer, tw_now(tw) + minute(fired));
}

#define FOR_EACH(name, call)               \
    static void name(void)                 \
    {                                      \
        for (size_t i = 0; i < count; i++) \
            (void)(call);                  \
    }

FOR_EACH(start, tw_start(&wheel, &timers[i], minute(i)))
FOR_EACH(restart, tw_start(&wheel, &timers[i], minute(i + 1)))
FOR_EACH(cancel, tw_cancel(&wheel, &timers[i]))
FOR_EACH(postpone, tw_postpone(&wheel, &timers[i], 300000))
/* A second packet in the same tick: the deadline does not change. */
FOR_EACH(postpone_again, tw_postpone(&wheel, &timers[i], half_minute(i)))
/* A request that does not time out, beside other timers. */
FOR_EACH(start_cancel, tw_start(&wheel, &timers[0], 1000 + i / 50) != TW_OK ||
                           tw_cancel(&wheel, &timers[0]))
/* What an event loop does in a turn without due timers. */
FOR_EACH(idle, (tw_wait(&wheel, i, 1000), tw_advance_clock(&wheel, 1 + i)))

static void fire(void)
{
    (void)tw_advance_clock(&wheel, 10000);
}

static void fire_one_by_one(void)
{
    while (tw_advance_clock_limit(&wheel, 10000, 1) != 0)
        ;
}

/* A loop that sleeps until the next deadline. */
static void hold(void)
{
    is_holding = true;
    for (uint64_t next; fired < MOST && tw_next_deadline(&wheel, &next);)
        (void)tw_advance_clock(&wheel, next);
}

/* A kind of operation, with the deadlines of the timers started before. */
static const struct {
    const char *name;
    void (*run)(void);
    size_t count;
    uint64_t (*deadline)(size_t); /* NULL: no timer is started before */
} kinds[] = {
    {"start", start, MANY, NULL},
    {"restart", restart, MANY, minute},
    {"cancel", cancel, MANY, minute},
    {"start-cancel", start_cancel, MANY, minute},
    {"postpone", postpone, MANY, minute},
    {"postpone-again", postpone_again, MANY, half_minute},
    {"idle", idle, MANY, half_minute},
    {"fire", fire, MANY, near},
    {"fire-limit-1", fire_one_by_one, MANY, near},
    {"fire-large", fire, MANY, large},
    {"hold-100", hold, 100, minute},
    {"hold-1000", hold, 1000, minute},
    {"hold-10000", hold, 10000, minute},
    {"hold-100000", hold, 100000, minute},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

__attribute__((noinline)) static void measured(size_t kind)
{
    kinds[kind].run();
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (argc < 2)
            puts(kinds[i].name);
        if (argc < 2 || strcmp(argv[1], kinds[i].name) != 0)
            continue;
        tw_init(&wheel, NULL);
        count = kinds[i].count;
        for (size_t j = 0; j < count; j++) {
            tw_timer_init(&timers[j], on_fire);
            if (kinds[i].deadline != NULL)
                tw_start(&wheel, &timers[j], kinds[i].deadline(j));
        }
        measured(i);
        printf("%u\n", (unsigned)(fired != 0 ? fired : count));
        tw_destroy(&wheel);
    }
    return 0;
}
