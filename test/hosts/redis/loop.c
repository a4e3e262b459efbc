/* loop.c - redis's event loop alone, with a clock that moves by a millisecond
 * in each turn: its rules for time events, and their cost.
 *
 *     loop COUNT     with COUNT events, each due once a second
 *
 * SPDX-License-Identifier: MIT */
#include "ae.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static monotime now = 1000000;
static long long repeating; /* events with lower numbers repeat; the next one
                               ends itself, the last one fires in each turn */
static int fired, fired_once, fired_again, wrong;

static monotime read_clock(void)
{
    return now;
}

static int on_due(aeEventLoop *loop, long long id, void *context)
{
    (void)context;
    if (id < repeating) {
        wrong |= (long long)now / 1000 % 1000 != id % 1000;
        fired++;
        return 1000;
    } else if (id == repeating) {
        wrong |= aeDeleteTimeEvent(loop, id) != AE_OK;
        fired_once++;
        return 1;
    }
    fired_again++;
    return 0;
}

static void create(aeEventLoop *loop, long long delay)
{
    aeCreateTimeEvent(loop, delay, on_due, NULL, NULL);
}

/* Of the processor. */
static double milliseconds(clock_t begin)
{
    return (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC;
}

static double turns(aeEventLoop *loop, int count)
{
    clock_t begin = clock();
    for (; count > 0; count--, now += 1000)
        aeProcessEvents(loop, AE_TIME_EVENTS);
    return milliseconds(begin);
}

int main(int argc, char **argv)
{
    aeEventLoop *loop;
    long long deleted = 0, id;
    clock_t begin;
    getMonotonicUs = read_clock;
    loop = aeCreateEventLoop(64);
    aeSetDontWait(loop, 1);
    repeating = argc > 1 ? atoi(argv[1]) : 1000;
    for (id = 0; id < repeating; id++)
        create(loop, id % 1000);
    printf("3,000 turns: %.1f ms\n", turns(loop, 3000));
    wrong |= fired != 3 * repeating;

    begin = clock();
    for (id = 0; id < repeating; id += (repeating + 99) / 100, deleted++)
        wrong |= aeDeleteTimeEvent(loop, id) != AE_OK;
    printf("a deletion: %.4f ms\n", milliseconds(begin) / (double)deleted);
    wrong |= aeDeleteTimeEvent(loop, 0) != AE_ERR;

    create(loop, 0);
    create(loop, 0);
    turns(loop, 1000);
    wrong |= fired != 4 * repeating - deleted;
    wrong |= fired_once != 1 || fired_again != 1000;
    aeDeleteEventLoop(loop);
    return wrong;
}
