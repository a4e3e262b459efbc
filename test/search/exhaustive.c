/* exhaustive.c - small wheels, and every way to use one or two timers.
 *
 *     .build/exhaustive [--quick] [CASE...]
 *
 * Wheels of 2, 4 and 8 steps, every phase of the clock, and every pair of
 * delays up to three turns of the second wheel. A case is a scene: what happens
 * to the timers before the clock moves on. Each timer stands for some copies,
 * started one after the other, so that buckets of several timers fire in place,
 * move down or move ahead of time. Each scene is played in five manners: tick
 * by tick, in one jump, from deadline to deadline, with a limit of one per
 * call, and by polling. oracle.h judges. Scenes beyond the budget of a case are
 * left out evenly.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/operations.h"
#include "../lib/tap.h"

enum manner { TICK_BY_TICK, ONE_JUMP, BY_DEADLINE, LIMITED, POLLING, MANNERS };

/* The running scene. */
static struct {
    uint64_t a, b; /* the delays in ticks; the scene uses them as it likes */
    unsigned copies;
    enum manner manner;
    uint64_t callback_starts; /* delay of timers that callbacks start; or 0 */
    bool no_memory;
} scene;

static uint64_t budget = 150000; /* scenes of a case */

static void give_up(void)
{
    printf("# scene: delays %" PRIu64 " and %" PRIu64 ", %u copies, manner %d\n"
           "not ok %zu - %s\n",
           scene.a, scene.b, scene.copies, (int)scene.manner,
           tap_case_index + 1, tap_case_name);
    exit(1);
}

static bool no_memory(void)
{
    return scene.no_memory;
}

static uint64_t at(uint64_t ticks)
{
    return tw_after(run.oracle.now, ticks * run.s.tick);
}

/* Starts timer 0 or 1, all copies of it. */
static void start_copies(unsigned which, uint64_t ticks)
{
    for (unsigned i = 0; i < scene.copies; i++)
        start(which * scene.copies + i, at(ticks));
}

/* ---------------------------------------------------------------- scenes -- */

static void start_both(void)
{
    start_copies(0, scene.a);
    start_copies(1, scene.b);
}

static void start_later(void)
{
    start_copies(0, scene.a);
    advance(at(scene.a / 2));
    start_copies(1, scene.b);
}

static void start_again(void)
{
    start_copies(0, scene.a);
    start_copies(1, scene.b);
    start_copies(0, scene.b);
}

static void cancel_one(void)
{
    start_both();
    advance(at(scene.a / 3));
    for (unsigned i = 0; i < scene.copies; i++)
        cancel(i);
    start(0, at(scene.b / 2));
}

static void postpone_both(void)
{
    start_both();
    for (unsigned i = 0; i < scene.copies; i++)
        postpone(i, at(scene.b));
    advance(at(scene.a / 2));
    for (unsigned i = 0; i < 2 * scene.copies; i += 2)
        postpone(i, at(scene.a));
}

static void postpone_without_memory(void)
{
    start_both();
    scene.no_memory = true;
    for (unsigned i = 0; i < scene.copies; i++)
        postpone(i, at(scene.a + 4 * scene.b));
    start(0, at(scene.a));
}

static void callbacks_start(void)
{
    scene.callback_starts = scene.b + 1;
    start_copies(0, scene.a);
}

static void callbacks_start_overdue(void)
{
    scene.callback_starts = UINT64_MAX;
    start_copies(0, scene.a);
    start_copies(1, scene.b);
}

static void save_and_restore(void)
{
    start_both();
    advance(at(scene.a / 2));
    drain();
    trim();
    for (size_t i = 0; i < visit.count; i++)
        start(visit.ids[i], run.oracle.timers[visit.ids[i]].deadline);
}

static void move_and_visit(void)
{
    start_both();
    foreach_timer();
    for (unsigned i = 0; i < scene.copies; i++)
        move(i);
    advance_limit(at(scene.b / 2), scene.copies);
    foreach_timer();
}

static void limit_then_limit(void)
{
    start_both();
    advance_limit(at(scene.b), 1);
    start_copies(1, 0);
    advance_limit(at(scene.a), scene.copies);
}

static void within(void)
{
    start_within(0, at(scene.a), at(scene.a + scene.b));
    start_within(1, at(scene.b), at(scene.a + scene.b));
}

/* --------------------------------------------------------------- playing -- */

/* What a callback does: each timer is started again once. */
static void in_callback(uint32_t id)
{
    uint64_t delay = scene.callback_starts;
    if (delay == 0 || run.oracle.starts >= 4 * scene.copies)
        return;
    uint32_t other = (id + scene.copies) % (2 * scene.copies);
    start(other, delay == UINT64_MAX ? run.oracle.now : at(delay));
    start(id, delay == UINT64_MAX ? run.oracle.now : at(delay / 2));
}

/* Moves the clock on in the manner of the scene, to beyond all timers. */
static void play_on(uint64_t end)
{
    uint64_t deadline;
    check_quickly();
    for (unsigned calls = 0; oracle_pending(&run.oracle) != 0; calls++) {
        uint64_t now = end + calls; /* callbacks may have started timers */
        REQUIRE(calls < 100000);
        switch (scene.manner) {
        case TICK_BY_TICK:
            advance(at(1));
            break;
        case BY_DEADLINE:
            REQUIRE(tw_next_deadline(&run.tw, &deadline));
            advance(deadline);
            break;
        case LIMITED:
            advance_limit(now, 1);
            break;
        case POLLING:
            (void)poll_timer(now);
            break;
        default:
            advance(now);
        }
        check_quickly();
    }
}

static void play(void (*prepare)(void), uint64_t end)
{
    scene.no_memory = false;
    scene.callback_starts = 0;
    run.s.items = 2 * scene.copies;
    run.s.in_callback = in_callback;
    run.s.refuses = no_memory;
    for (uint32_t id = 0; id < run.s.items; id++)
        run.items[id] = make_item(id, false);
    set_up();
    prepare();
    play_on(end);
    tear_down();
}

/* Plays a scene with every setting, as far as the budget allows. */
static void play_all(void (*prepare)(void))
{
    static const unsigned copies[] = {1, 1, 2, 3, 5, 14};
    uint64_t played = 0;
    for (uint32_t size = 2; size <= 8; size *= 2) {
        uint64_t phases = 2 * size * size, delays = 3 * size * size;
        uint64_t all = phases * delays * delays * 6 * MANNERS * 2;
        uint64_t step = 3 * all / budget + 1;
        step += step % 2 == 0 && step > 1; /* prime to most ranges */
        step += step % 3 == 0 ? 2 : 0;
        for (uint64_t i = 0; i < all; i += step, played++) {
            uint64_t rest = i;
            scene.a = rest % delays;
            rest /= delays;
            scene.b = rest % delays;
            rest /= delays;
            uint64_t phase = rest % phases;
            rest /= phases;
            scene.manner = (enum manner)(rest % MANNERS);
            rest /= MANNERS;
            scene.copies = copies[rest % 6];
            run.s.tick = rest / 6 % 2 == 0 ? 1 : 3;
            few = i % 2 == 0 ? 12 : 1;
            large = i % 3 == 0 ? 2 : 512;
            run.s.wheel_size = size;
            run.s.start = phase * run.s.tick + i % run.s.tick;
            play(prepare, run.s.start + 8 * (delays + 1) * run.s.tick);
        }
    }
    printf("# %" PRIu64 " scenes\n", played);
}

#define SCENE(name)               \
    static void play_##name(void) \
    {                             \
        play_all(name);           \
    }
SCENE(start_both)
SCENE(start_later)
SCENE(start_again)
SCENE(cancel_one)
SCENE(postpone_both)
SCENE(postpone_without_memory)
SCENE(callbacks_start)
SCENE(callbacks_start_overdue)
SCENE(save_and_restore)
SCENE(move_and_visit)
SCENE(limit_then_limit)
SCENE(within)

static const tap_case cases[] = {
    {"two timers", play_start_both},
    {"the second is started later", play_start_later},
    {"started again", play_start_again},
    {"cancelled and started again", play_cancel_one},
    {"postponed", play_postpone_both},
    {"postponed without memory", play_postpone_without_memory},
    {"callbacks start timers", play_callbacks_start},
    {"callbacks start overdue timers", play_callbacks_start_overdue},
    {"drained, trimmed and started again", play_save_and_restore},
    {"moved and visited", play_move_and_visit},
    {"a limit after a limit", play_limit_then_limit},
    {"started within a window", play_within},
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
        budget /= 30;
        argv++, argc--;
    }
    return TAP_RUN(cases, argc, argv);
}
