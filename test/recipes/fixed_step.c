/* fixed_step.c - timers of a game that runs in fixed steps, faster or slower.
 *
 * A monster attacks every 300 ms of the game. A line sets the speed in percent:
 * 50 is slow, 0 a pause, in which the clock of the game and its timers stand.
 * A turn makes MOST_STEPS steps at most: after a long hitch the rest is lost,
 * and the highest speed is just below 500 %. For replays do not postpone: a
 * postponed timer may change places within its tick.
 *
 *     cc -std=c99 -Wall -Wextra fixed_step.c -o game && ./game
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>

#define MS UINT64_C(1000000) /* in nanoseconds */
#define STEP 10              /* ms of the game */
#define MOST_STEPS 5

struct game {
    timingwheel timers;
    tw_timer attack;
    uint64_t clock; /* ms, moves by STEP */
};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void on_attack(timingwheel *tw, tw_timer *timer)
{
    struct game *g = TW_OWNER(tw, struct game, timers);
    dprintf(1, "attack at %u\n", (unsigned)g->clock);
    tw_start(tw, timer, tw_after(tw_deadline(timer), 300));
}

static void make_step(struct game *g)
{
    g->clock += STEP;
    tw_advance_clock(&g->timers, g->clock); /* then move all else */
}

int main(void)
{
    static struct game game = {.attack = TW_TIMER_INIT(on_attack)};
    struct pollfd input = {.fd = 0, .events = POLLIN};
    uint64_t last = clock_ns(), credit = 0; /* ns, times the speed */
    int speed = 100, percent;
    char line[80];
    setvbuf(stdin, NULL, _IONBF, 0); /* a buffer would hide lines from poll */
    tw_init(&game.timers, NULL);
    tw_start(&game.timers, &game.attack, 300);
    for (;;) {
        int ready = poll(&input, 1, speed == 0 ? -1 : STEP);
        uint64_t now = clock_ns();
        credit += (now - last) * (unsigned)speed;
        last = now;
        for (int i = 0; i < MOST_STEPS && credit >= 100 * STEP * MS; i++) {
            credit -= 100 * STEP * MS;
            make_step(&game);
        }
        credit %= 100 * STEP * MS; /* the rest of a hitch is forgotten */
        if (ready > 0 && fgets(line, sizeof(line), stdin) == NULL)
            break;
        if (ready > 0 && sscanf(line, "%d", &percent) == 1)
            speed = percent < 0 ? 0 : percent > 500 ? 500 : percent;
    }
    tw_destroy(&game.timers);
    return 0;
}
