/* fixed_step.c - timingwheel.h in a game loop with a fixed time step.
 *
 * Each step moves the virtual clock of the game by STEP. Real time pays for the
 * steps: at a speed of 25 percent, a step costs 4 * STEP. Speed 0 is a pause:
 * the clock and the timers of the game stand. The timers of the menu have a
 * wheel of real time. A long hitch pays for MOST_STEPS at most.
 *
 * The example: a monster attacks, while the menu pauses and slows the game. A
 * replay of the steps without a clock must come out equal.
 *
 * SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#define MS 1
#include "judge.h" /* `wheel`: the timers of the menu */
#include <poll.h>

#define STEP 10            /* in virtual milliseconds */
#define PRICE (100 * STEP) /* of a step: real ms, times the speed in percent */
#define MOST_STEPS 5       /* per turn */

static struct game {
    timingwheel wheel;
    tw_timer attack;
    uint64_t clock, record; /* virtual ms; hash of the times of the attacks */
    int late;               /* attacks that came too early or too late */
} game, replay;
static const uint64_t lengths[] = {100, 100, 160, 60000}; /* in real ms */
static const uint64_t speeds[] = {100, 0, 25, 100};       /* in percent */
static uint64_t phase, phase_start, phase_steps, credit;
static bool is_wrong;

static void on_attack(timingwheel *tw, tw_timer *timer)
{
    struct game *g = TW_OWNER(tw, struct game, wheel);
    uint64_t deadline = tw_deadline(timer);
    g->late += g->clock - deadline >= STEP; /* also if the attack is early */
    g->record = (g->record + g->clock) * UINT64_C(0x9e3779b97f4a7c15);
    tw_start(tw, timer, tw_after(deadline, 1 + (g->record >> 32) % 30));
}

static void start_game(struct game *g)
{
    tw_init(&g->wheel, NULL);
    tw_timer_init(&g->attack, on_attack);
    tw_start(&g->wheel, &g->attack, 7);
}

static void make_step(struct game *g)
{
    g->clock += STEP; /* the timers fire first, then all else moves */
    tw_advance_clock(&g->wheel, g->clock);
}

/* Checks the speed of the phase that ends, and starts the next phase. */
static void on_phase(timingwheel *tw, tw_timer *timer)
{
    uint64_t paid = (now - phase_start) * speeds[phase] + PRICE;
    is_wrong |= paid - phase_steps * PRICE - 1 >= 2 * PRICE - 1;
    judge_timer(tw, timer);
    phase++, phase_start = now, phase_steps = 0;
    judge_start(timer, tw_after(now, lengths[phase]));
}

int main(void)
{
    tw_timer next_phase = TW_TIMER_INIT(on_phase);
    start_game(&game), start_game(&replay);
    now = phase_start = read_clock();
    tw_init(&wheel, &(tw_config){.start = now});
    judge_start(&next_phase, tw_after(now, lengths[0]));
    while (judge_turn() && game.clock < 400) {
        uint64_t wait = tw_wait(&wheel, now, 60000), before = now;
        if (wait * speeds[phase] > PRICE - credit) /* a step comes first */
            wait = (PRICE - credit + speeds[phase] - 1) / speeds[phase];
        poll(NULL, 0, (int)wait);
        now = read_clock();
        credit += (now - before) * speeds[phase];
        uint64_t steps = credit / PRICE;
        for (uint64_t i = 0; i < steps && i < MOST_STEPS; i++)
            make_step(&game);
        credit %= PRICE, phase_steps += steps;
        judge.events += steps > 0;
        tw_advance_clock(&wheel, now);
    }
    while (replay.clock < game.clock)
        make_step(&replay);
    judge.armed -= tw_cancel(&wheel, &next_phase);
    is_wrong |= replay.record != game.record || game.late > 0;
    tw_destroy(&game.wheel), tw_destroy(&replay.wheel);
    return judge_end("fixed_step", !is_wrong);
}
