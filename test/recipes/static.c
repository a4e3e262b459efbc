/* static.c - timers without malloc, for small machines.
 *
 * An array holds two wheels of 64. Two always reach 64 * 64 ticks ahead, so no
 * timer up to REACH ahead needs more, once tw_reserve has taken both.
 *
 *     cc -std=c99 -Wall -Wextra static.c -o static && ./static
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#define WHEEL_SIZE 64
#define REACH 4000 /* ticks */

/* A wheel has twice WHEEL_SIZE buckets of at most 64 bytes; tw_get_stats tells
 * the exact number. A second tw_init would take more: reset `taken` first. */
static uint64_t memory[2 * (2 * WHEEL_SIZE * 65 + 192) / sizeof(uint64_t)];
static size_t taken; /* words, with those that were refused */

static void *take(size_t bytes)
{
    size_t start = taken;
    taken += (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    return taken <= sizeof(memory) / sizeof(uint64_t) ? &memory[start] : NULL;
}

#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(context), (void)(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>

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
    tw_start(tw, timer, tw_after(tw_now(tw), (lamp->random >> 8) % REACH));
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
