/* fixed_step.c - timingwheel.h in a game loop with a fixed time step.
 *
 * Each step moves the virtual clock of the game by STEP. Real time pays for the
 * steps: at a speed of 25 percent, a step costs 4 * STEP. Speed 0 is a pause:
 * the clock and the timers of the game stand. The timers of the menu have a
 * wheel of real time. A long hitch pays for MOST_STEPS at most.
 *
 * The example: a monster attacks, while the menu pauses and slows the game. A
 * replay of the steps without a clock comes out equal. Exit code: 1 for early,
 * lost or late timers, or a wrong speed or replay; 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <poll.h>
#include <stdio.h>
#include <time.h>
#define STEP 10            /* in virtual ms */
#define PRICE (100 * STEP) /* of a step: real ms, times the speed in percent */
#define MOST_STEPS 5       /* per turn */

static struct game {
    timingwheel wheel; /* first: the wheel's address is the game's address */
    tw_timer attack;
    uint64_t clock, record; /* virtual ms; hash of the steps with attacks */
} game, replay;
static const uint64_t lengths[] = {100, 100, 160, UINT64_MAX}; /* in real ms */
static const uint64_t speeds[] = {100, 0, 25, 100};            /* in percent */
static timingwheel menu;
static uint64_t now, phase, phase_start, phase_steps, credit;
static int fired, early, lost, late, idle, wrong;

static uint64_t read_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    return ms > now ? ms : now;
}

static void on_attack(timingwheel *tw, tw_timer *timer)
{
    struct game *g = (struct game *)tw;
    uint64_t deadline = tw_deadline(timer);
    fired++, early += g->clock < deadline, late += g->clock - deadline >= STEP;
    g->record = (g->record + g->clock) * UINT64_C(0x9e3779b97f4a7c15);
    tw_start(tw, timer, tw_after(deadline, 1 + (g->record >> 32) % 30));
}

static void game_start(struct game *g)
{
    tw_init(&g->wheel, NULL);
    tw_timer_init(&g->attack, on_attack);
    tw_start(&g->wheel, &g->attack, 7);
}

static void game_step(struct game *g)
{
    g->clock += STEP; /* a game moves all that moves here */
    tw_advance_clock(&g->wheel, g->clock);
    lost += tw_remaining(&g->attack, g->clock) == 0;
}

/* Checks the speed of the phase that ends, and starts the next phase. */
static void on_phase(timingwheel *tw, tw_timer *timer)
{
    uint64_t paid = (now - phase_start) * speeds[phase] + PRICE;
    wrong += paid - phase_steps * PRICE - 1 >= 2 * PRICE - 1;
    early += tw_deadline(timer) > now, late += now > tw_deadline(timer) + 9;
    fired++, phase++, phase_start = now, phase_steps = 0;
    tw_start(tw, timer, tw_after(now, lengths[phase]));
}

int main(void)
{
    static tw_timer next_phase = TW_TIMER_INIT(on_phase);
    game_start(&game), game_start(&replay);
    tw_init(&menu, &(tw_config){.start = phase_start = now = read_clock()});
    tw_start(&menu, &next_phase, tw_after(now, lengths[0]));
    while (game.clock < 400) {
        uint64_t wait = tw_wait(&menu, now, 60000), before = now;
        if (wait * speeds[phase] > PRICE - credit) /* a step comes first */
            wait = (PRICE - credit + speeds[phase] - 1) / speeds[phase];
        poll(NULL, 0, (int)wait);
        now = read_clock();
        credit += (now - before) * speeds[phase];
        uint64_t steps = credit / PRICE;
        for (uint64_t i = 0; i < steps && i < MOST_STEPS; i++)
            game_step(&game);
        credit %= PRICE, phase_steps += steps, late += steps > 2;
        idle += tw_advance_clock(&menu, now) + steps == 0;
    }
    while (replay.clock < game.clock)
        game_step(&replay);
    wrong += replay.record != game.record;
    tw_destroy(&menu), tw_destroy(&game.wheel), tw_destroy(&replay.wheel);
    printf("game: %d fired, %d early, %d lost, %d late, %d idle, %d wrong\n",
           fired, early, lost, late, idle, wrong);
    return (early || lost || wrong || late > 10) + 2 * (idle > 10);
}
