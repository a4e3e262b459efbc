/* static.c - timers without malloc, for small machines.
 *
 * An array holds two wheels of 64. They serve timers up to about 64 * 64 ticks
 * ahead of the last call. A timer that lies further ahead, because the program
 * stood still, waits outside of the wheels, and fires in time all the same: an
 * array that is too small costs speed, not timers.
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
static size_t taken; /* bytes */

static void *take(size_t bytes)
{
    if (bytes > sizeof(memory) - taken)
        return NULL;
    taken += bytes;
    return memory + (taken - bytes) / 8;
}

struct lamp {
    tw_timer blink;
    uint32_t random;
};

static uint64_t now; /* your clock, in ticks */
static unsigned blinks;

/* Starts again, each time with another delay. */
static void on_blink(timingwheel *tw, tw_timer *timer)
{
    struct lamp *lamp = TW_OWNER(timer, struct lamp, blink);
    lamp->random = lamp->random * 1664525 + 1013904223;
    blinks++;
    tw_start_after(tw, timer, now, (lamp->random >> 8) % REACH);
}

int main(void)
{
    static struct lamp lamps[1000];
    timingwheel timers;
    tw_stats stats;
    tw_init(&timers, &(tw_config){.wheel_size = WHEEL_SIZE});
    for (uint32_t i = 0; i < 1000; i++) {
        lamps[i].random = i;
        tw_timer_init(&lamps[i].blink, on_blink);
        tw_start(&timers, &lamps[i].blink, i);
    }
    while (now < 100000) { /* stands still each second, as to erase flash */
        now += now % 1000 == 0 ? 200 : 1;
        tw_advance_clock(&timers, now);
        if (now % 10000 == 0)
            printf("tick %u: %u blinks of %u lamps\n", (unsigned)now, blinks,
                   (unsigned)tw_count(&timers));
    }
    tw_get_stats(&timers, &stats);
    printf("%u wheels, %u bytes\n", (unsigned)stats.wheels,
           (unsigned)stats.bytes);
    tw_destroy(&timers);
    return 0;
}
