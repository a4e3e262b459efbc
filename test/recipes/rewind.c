/* rewind.c - a game that goes back in time, as rollback netcode or a search do.
 *     cc -std=c99 -O2 -Wall -Wextra rewind.c -o rewind && ./rewind
 * All that changes lies in one block: the timingwheel, its wheels, the timers
 * and the game. No pointer leads out of the block. So a copy of its bytes, put
 * back in the same place, brings back everything, with the order of each tick.
 * Do so between two calls, not in a callback. SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static void *take_wheel(size_t size, void *pool); /* defined below */
#define TW_MALLOC(size, context) take_wheel((size), (context))
#define TW_FREE(wheel, context) ((void)(wheel), (void)(context))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

enum { WHEEL_SIZE = 16, WHEELS = 8, UNITS = 100, SAVED = 8 };
struct pool {
    size_t used; /* 8 wheels: 16^8 frames ahead, two years at 60 Hz */
    uint64_t wheels[WHEELS][TW_WHEEL_BYTES(WHEEL_SIZE) / sizeof(uint64_t)];
};
static struct game {
    timingwheel timers;
    struct pool pool;
    tw_timer units[UNITS];
    uint64_t frame, random, sum; /* the sum stands for all that happened */
} game, saved[SAVED];            /* a ring of the last frames */

static void *take_wheel(size_t size, void *context)
{
    struct pool *pool = context;
    if (size > sizeof(pool->wheels[0]) || pool->used == WHEELS)
        return NULL; /* timers then wait outside of the wheels; none fails */
    return pool->wheels[pool->used++];
}

static void play_frame(void)
{
    saved[game.frame % SAVED] = game;
    tw_advance_clock(&game.timers, ++game.frame);
}

static void go_back(uint64_t frames) /* from 1 to SAVED; they must exist */
{
    game = saved[(game.frame - frames) % SAVED];
}

static uint64_t random_below(uint64_t n)
{
    game.random = game.random * UINT64_C(6364136223846793005) + 1;
    return (game.random >> 33) % n;
}

static void on_attack(timingwheel *tw, tw_timer *timer)
{
    tw_timer *other = &game.units[random_below(UNITS)];
    game.sum = game.sum * 31 + (uint64_t)(timer - game.units) + game.frame;
    tw_start_after(tw, timer, tw_now(tw), 1 + random_below(60));
    if (random_below(2) > 0)
        tw_postpone_after(tw, other, tw_now(tw), 1 + random_below(600));
    else if (other != timer)
        tw_cancel(tw, other); /* defeated, until another one frees it */
}

int main(void)
{
    unsigned wrong = 0;
    tw_init(&game.timers, &(tw_config){.wheel_size = WHEEL_SIZE,
                                       .alloc_context = &game.pool});
    for (int i = 0; i < UNITS; i++) {
        tw_timer_init(&game.units[i], on_attack);
        tw_start(&game.timers, &game.units[i], random_below(60));
    }
    for (unsigned i = 0; i < 10000; i++) {
        for (int frame = 0; frame < SAVED; frame++)
            play_frame();
        uint64_t sum = game.sum, back = 1 + i % SAVED;
        go_back(back);
        while (back-- > 0) /* here with the late input of the others */
            play_frame();
        wrong += game.sum != sum;
    }
    printf("frame %u of %u bytes, %u units fight; went back 10000 times, "
           "%u wrong\n",
           (unsigned)game.frame, (unsigned)sizeof(game),
           (unsigned)tw_count(&game.timers), wrong);
    tw_destroy(&game.timers);
    return wrong > 0;
}
