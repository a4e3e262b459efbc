/* static.c - timingwheel.h without malloc, for small machines.
 *
 * All memory is an array with room for two wheels. Two wheels of 64 reach 4,096
 * ticks ahead. tw_reserve takes the wheels at the start, and later starts need
 * no memory: no start with a delay up to REACH fails, for any number of timers.
 * A second tw_init would take the wheels again: set `taken` to 0 first.
 *
 * The example is in judge.h, in virtual time; superloop.c has the loop of a
 * small machine. Then a thousand timers of random delays start over and over.
 *
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#define WHEEL_SIZE 64
#define WHEELS 2
#define REACH 4000 /* ticks */
/* A bucket has at most 64 bytes on a machine of 64 bits. A wheel has twice
 * WHEEL_SIZE buckets. tw_get_stats returns the exact number of bytes. */
#define WHEEL_BYTES (2 * WHEEL_SIZE * 65 + 192)

static uint64_t memory[WHEELS * WHEEL_BYTES / sizeof(uint64_t)];
static size_t taken; /* words, with refused requests */

static void *take(size_t bytes)
{
    size_t start = taken;
    taken += (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    return taken <= sizeof(memory) / sizeof(uint64_t) ? &memory[start] : NULL;
}
#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(context), (void)(pointer))
#define MS 1
#define MOST_LATE 0
#include "judge.h"

/* A timer that starts itself again, each time with another delay. */
static void on_timer(timingwheel *tw, tw_timer *timer)
{
    static uint32_t random = 1;
    judge_timer(tw, timer);
    random = random * 1664525 + 1013904223;
    if (judge.fired < 100000)
        judge_start(timer, tw_after(now, (random >> 8) % REACH));
}

int main(void)
{
    static tw_timer timers[1000];
    tw_stats stats;
    tw_init(&wheel, &(tw_config){.wheel_size = WHEEL_SIZE});
    if (tw_reserve(&wheel, REACH) != TW_OK)
        return 1;
    size_t reserved = taken;
    for (int i = 0; i < 1000; i++) {
        tw_timer_init(&timers[i], on_timer);
        judge_start(&timers[i], 4 * (uint64_t)i);
    }
    while (judge_turn()) {
        uint64_t event = 20 * (uint64_t)(judge.events + 1);
        now += tw_wait(&wheel, now, event > now ? event - now : REACH);
        tw_advance_clock(&wheel, now);
        if (now == event && judge.events < EVENTS)
            judge_event();
    }
    tw_get_stats(&wheel, &stats);
    printf("# %zu bytes for %zu wheels\n", stats.bytes, stats.wheels);
    return judge_end("static", taken == reserved && judge.fired >= 100000);
}
