/* static.c - timers without malloc, for small machines.
 *
 * An array holds two wheels of 64. They serve 64 * 64 ticks, so no timer up
 * to REACH ahead needs more, once tw_reserve has taken both.
 *
 *     cc -std=c99 -Wall -Wextra static.c -o static && ./static
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#define WHEEL_SIZE 64
#define REACH 4000 /* ticks */

static void *take(size_t bytes); /* defined below, where the size is known */

#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(context), (void)(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>

/* n wheels serve WHEEL_SIZE^n ticks. A second tw_init would take more memory:
 * set `taken` to 0 first. */
static uint64_t memory[2 * TW_WHEEL_BYTES(WHEEL_SIZE) / sizeof(uint64_t)];
static size_t taken; /* bytes, with those that were refused */

static void *take(size_t bytes)
{
    taken += bytes;
    return taken <= sizeof(memory) ? memory + (taken - bytes) / 8 : NULL;
}

struct lamp {
    tw_timer blink;
    uint32_t random;
};

static unsigned blinks;

/* Starts again, each time with another delay; cannot fail. */
static void on_blink(timingwheel *tw, tw_timer *timer)
{
    struct lamp *lamp = TW_OWNER(timer, struct lamp, blink);
    lamp->random = lamp->random * 1664525 + 1013904223;
    blinks++;
    tw_start_after(tw, timer, tw_now(tw), (lamp->random >> 8) % REACH);
}

int main(void)
{
    static struct lamp lamps[1000];
    timingwheel timers;
    tw_stats stats;
    tw_init(&timers, &(tw_config){.wheel_size = WHEEL_SIZE});
    if (tw_reserve(&timers, REACH) != TW_OK)
        return 1;
    for (uint32_t i = 0; i < 1000; i++) {
        lamps[i].random = i;
        tw_timer_init(&lamps[i].blink, on_blink);
        tw_start(&timers, &lamps[i].blink, i);
    }
    for (uint64_t now = 0; now <= 100000; now++) { /* a tick of your clock */
        tw_advance_clock(&timers, now);
        if (now % 10000 == 0)
            printf("tick %u: %u blinks\n", (unsigned)now, blinks);
    }
    tw_get_stats(&timers, &stats);
    printf("%u wheels, %u bytes\n", (unsigned)stats.wheels,
           (unsigned)stats.bytes);
    tw_destroy(&timers);
    return 0;
}
