/* exhaustive.c - small wheels, and every way to use one or two timers.
 *
 * Wheels of 2, 4 and 8 steps, every phase of the clock, and every delay up to
 * three turns of the second wheel. The expected result is simple and needs no
 * oracle. A timer fires at its deadline. Timers of one deadline fire in start
 * order. Overdue timers fire first. Buckets are sorted, cascade or move ahead
 * of time, by turns. Each scene is played in four manners: the clock moves tick
 * by tick, in one jump, from deadline to deadline, and with a limit of one per
 * call. With --quick, for sanitizers and valgrind, most scenes are left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../lib/arena.h"

#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#define TWI_CHUNK_BYTES (8 * sizeof(void *)) /* 4 slots */
#define TWI_LARGE_TIMERS few /* a bucket of `few` timers never cascades, */
#define TWI_LARGE_CHUNKS few_chunks /* unless it has more chunks */
#define TWI_BATCH 1 /* least number of chunks to move ahead at a time */
static unsigned few, few_chunks;
#include "../../timingwheel.h"
#include "../lib/tap.h"

enum manner { TICK_BY_TICK, ONE_JUMP, BY_DEADLINE, LIMITED, MANNERS };

#define TIMERS 2
#define COPIES 7
#define NEVER UINT64_MAX

/* A scene: a wheel, and the expected state of two timers. Each timer stands for
 * one or several copies, started one after the other. Buckets of several chunks
 * need copies. */
static struct {
    timingwheel tw;
    tw_timer timers[TIMERS][COPIES];
    unsigned left[TIMERS];  /* copies pending */
    unsigned next[TIMERS];  /* the first copy to fire */
    uint64_t due[TIMERS];   /* the deadline, rounded up to a tick */
    bool overdue[TIMERS];   /* overdue at the start */
    unsigned order[TIMERS]; /* number of earlier starts */
    unsigned copies;        /* of each timer */
    bool any_place;         /* postponed: no order within a tick */
    uint64_t stale;         /* time of an allowed useless wake-up; or NEVER */
    unsigned started;
    unsigned fired;
    uint32_t size;
    uint64_t tick;
    uint64_t phase;         /* start of the clock */
    uint64_t parameters[3]; /* of the scene, to print */
    enum manner manner;
    bool chains;      /* timer 0's callback starts timer 1 */
    uint64_t chained; /* deadline of timer 1 then */
    uint64_t reached; /* the clock when the call began */
    bool deferred;    /* timer 1 is for the next call */
} s;

static uint64_t scenes;       /* scenes played */
static uint64_t scenes_ahead; /* scenes in which timers moved ahead */
static uint64_t thin = 1;     /* --quick plays one scene of so many */

/* Fails the case and prints the scene. */
static bool expect_at(bool holds, const char *what, int line)
{
    static const char *const manners[MANNERS] = {
        "tick by tick", "in one jump", "from deadline to deadline", "limited"};
    if (holds)
        return true;
    if (tap_failed_checks < 3)
        printf("# wheels of %" PRIu32 ", tick %" PRIu64 ", start %" PRIu64
               ", parameters %" PRIu64 " %" PRIu64 " %" PRIu64
               ", %u of each, %s: clock %" PRIu64 "\n",
               s.size, s.tick, s.phase, s.parameters[0], s.parameters[1],
               s.parameters[2], s.copies, manners[s.manner], tw_now(&s.tw));
    return tap_check(false, what, __FILE__, line);
}

#define EXPECT(expr) expect_at((expr), #expr, __LINE__)

/* ---------------------------------------------------------------- scenes -- */

static uint64_t round_up(uint64_t deadline)
{
    return deadline / s.tick * s.tick + (deadline % s.tick != 0 ? s.tick : 0);
}

static bool is_before(unsigned a, unsigned b)
{
    if (s.overdue[a] || s.overdue[b])
        return s.overdue[a] && (!s.overdue[b] || s.order[a] < s.order[b]);
    if (s.due[a] != s.due[b])
        return s.due[a] < s.due[b];
    return s.any_place || s.order[a] < s.order[b];
}

static void play_start(unsigned which, uint64_t deadline);

/* Checks a timer that fires. */
static void note_fired(unsigned which, unsigned copy)
{
    unsigned other = 1 - which;
    EXPECT(s.left[which] != 0);
    EXPECT(!tw_is_pending(&s.timers[which][copy]));
    EXPECT(s.left[other] == 0 || is_before(which, other) ||
           (s.deferred && other == 1));
    EXPECT(!(s.deferred && which == 1));
    EXPECT(s.any_place || copy == s.next[which]);
    if (s.due[which] / s.tick > s.reached / s.tick)
        EXPECT(tw_now(&s.tw) == s.due[which]);
    else
        EXPECT(tw_now(&s.tw) == s.reached);
    s.next[which]++;
    s.left[which]--;
    s.fired++;
}

static void on_fire(timingwheel *tw, tw_timer *timer)
{
    unsigned index = (unsigned)(timer - s.timers[0]);
    unsigned which = index / COPIES;
    EXPECT(tw == &s.tw);
    note_fired(which, index % COPIES);
    if (!s.chains || which != 0 || s.left[0] != 0)
        return;
    play_start(1, s.chained);
    s.deferred = s.due[1] <= tw_now(&s.tw);
}

/* Sets up a new wheel with its clock at `start`, and idle timers. */
static void begin(uint64_t start, enum manner manner)
{
    tw_config config = {0, 0, 0, 0, NULL};
    config.tick = s.tick;
    config.start = start;
    config.wheel_size = s.size;
    arena.used = 0;
    few = scenes / 3 % 3 == 0 ? TWI_SORT_CHUNKS * TWI_SLOTS : 0;
    few_chunks = TWI_SORT_CHUNKS;
    if (scenes / 3 % 3 == 1) {
        few_chunks = 2;
        few = 2 * TWI_SLOTS;
    }
    EXPECT(tw_init(&s.tw, &config) == TW_OK);
    for (unsigned i = 0; i < TIMERS; i++) {
        for (unsigned copy = 0; copy < s.copies; copy++)
            tw_timer_init(&s.timers[i][copy], on_fire);
        s.left[i] = 0;
    }
    s.phase = start;
    s.manner = manner;
    s.any_place = false;
    s.stale = NEVER;
    s.started = 0;
    s.fired = 0;
    s.chains = false;
    s.deferred = false;
    s.reached = start;
    scenes++;
}

/* All copies of a timer were started or postponed. */
static void note_started(unsigned which, uint64_t deadline)
{
    s.due[which] = round_up(deadline);
    s.overdue[which] = s.due[which] <= tw_now(&s.tw);
    s.order[which] = s.started++;
    s.next[which] = 0;
    s.left[which] = s.copies;
}

static void play_start(unsigned which, uint64_t deadline)
{
    for (unsigned copy = 0; copy < s.copies; copy++)
        EXPECT(tw_start(&s.tw, &s.timers[which][copy], deadline) == TW_OK);
    note_started(which, deadline);
}

/* When the next timer is due; NEVER if none is. */
static uint64_t next_due(void)
{
    uint64_t next = NEVER;
    for (unsigned i = 0; i < TIMERS; i++)
        if (s.left[i] != 0 && s.due[i] < next)
            next = s.due[i];
    return next;
}

/* Checks the wheel between two calls, at any clock. */
static void check_rest(void)
{
    uint64_t next = 0;
    unsigned count = s.left[0] + s.left[1];
    EXPECT(tw_count(&s.tw) == count);
    EXPECT(tw_next_deadline(&s.tw, &next) == (count != 0));
    if (count != 0 && next_due() <= tw_now(&s.tw))
        EXPECT(next <= tw_now(&s.tw));
    else if (count != 0)
        EXPECT(next == next_due() || (next < next_due() && next == s.stale));
    EXPECT(tw_check(&s.tw));
}

/* Makes one call, which must fire everything up to `now`. */
static void advance(uint64_t now)
{
    unsigned before = s.fired;
    s.reached = tw_now(&s.tw);
    s.deferred = false;
    size_t fired = tw_advance_clock(&s.tw, now);
    EXPECT(tw_now(&s.tw) == now);
    EXPECT(fired == s.fired - before);
    for (unsigned i = 0; i < TIMERS; i++)
        EXPECT(s.left[i] == 0 || s.due[i] > now || (s.deferred && i == 1));
    if (now >= s.stale)
        s.stale = NEVER;
    check_rest();
}

/* Makes limited calls until nothing is left. Each call may fire or move one
 * timer. More than 200 calls count as endless cascades. */
static void advance_limited(uint64_t now)
{
    unsigned calls = 0;
    do {
        s.reached = tw_now(&s.tw);
        s.deferred = false;
        EXPECT(tw_advance_clock_limit(&s.tw, now, 1) <= 1);
        EXPECT(tw_check(&s.tw));
        if (!EXPECT(++calls < 200))
            return;
    } while (tw_now(&s.tw) != now ||
             (tw_count(&s.tw) != 0 && tw_wait(&s.tw, now, 1) == 0));
    EXPECT(next_due() > now || tw_count(&s.tw) == 0);
    /* The last call may have stopped at its limit, with nothing left due. */
    advance(now);
}

/* Sleeps until nothing is due up to `end`: as many wake-ups as due ticks. */
static void advance_by_deadline(uint64_t end)
{
    uint64_t next;
    while (tw_next_deadline(&s.tw, &next) && next <= end) {
        uint64_t now = tw_now(&s.tw);
        uint64_t wait = tw_wait(&s.tw, now, UINT64_MAX);
        EXPECT(next <= now ? wait == 0 : wait == next - now);
        bool in_vain = next == s.stale;
        unsigned fired = s.fired;
        advance(next <= now ? now : next);
        if (!EXPECT(s.fired > fired || in_vain))
            return;
    }
    advance(end);
}

/* Moves the clock to `end` in the manner of the scene. */
static void play_to(uint64_t end)
{
    switch (s.manner) {
    case TICK_BY_TICK:
        for (uint64_t now = tw_now(&s.tw); now < end; now++)
            advance(now);
        advance(end);
        break;
    case ONE_JUMP:
        advance(end);
        break;
    case BY_DEADLINE:
        advance_by_deadline(end);
        break;
    default:
        advance_limited(end);
        break;
    }
}

static bool has_moved_ahead(void)
{
    for (unsigned level = 1; level < TWI_LEVELS; level++)
        if (s.tw.wheels[level] != NULL && s.tw.wheels[level]->moved_at != 0)
            return true;
    return false;
}

/* Plays the rest of a scene: by `end` everything has to have fired. */
static void finish(uint64_t end)
{
    play_to(end);
    if (s.deferred)
        advance(end);
    EXPECT(tw_count(&s.tw) == 0);
    EXPECT(s.left[0] == 0 && s.left[1] == 0);
    scenes_ahead += has_moved_ahead();
    tw_destroy(&s.tw);
    EXPECT(arena.live == 0);
    arena.live = 0;
}

static bool has_failed(void)
{
    return tap_failed_checks != 0;
}

/* ----------------------------------------------------------------- cases -- */

static uint64_t turn(void)
{
    return (uint64_t)s.size * s.size;
}

/* Plays one timer, from every phase of the first three wheels, in time
 * units. */
static void one_timer(uint32_t size, uint64_t tick, uint64_t base)
{
    s.size = size;
    s.tick = tick;
    s.copies = 1;
    for (uint64_t phase = 0; phase < turn() * size * tick; phase += thin)
        for (uint64_t delay = 0; delay <= 3 * turn() * tick; delay++)
            for (int manner = 0; manner < MANNERS && !has_failed(); manner++) {
                /* Tick by tick takes too long from every phase of wheel 2. */
                if (manner == TICK_BY_TICK && phase >= turn() * tick)
                    continue;
                begin(base + phase, (enum manner)manner);
                s.parameters[0] = delay;
                play_start(0, base + phase + delay);
                check_rest();
                finish(round_up(base + phase + delay) + 1);
            }
}

/* Around zero, across 2^32 and up to the end of time. */
static void one_timer_everywhere(uint32_t size)
{
    uint64_t third = (uint64_t)size * size * size;
    s.parameters[1] = s.parameters[2] = 0;
    one_timer(size, 1, 0);
    one_timer(size, 1, (UINT64_C(1) << 32) - third / 2);
    one_timer(size, 1, UINT64_MAX - third - 3 * size * size);
    if (size < 8)
        one_timer(size, 3, 0);
}

static void one_timer_of_2(void)
{
    one_timer_everywhere(2);
}

static void one_timer_of_4(void)
{
    one_timer_everywhere(4);
}

static void one_timer_of_8(void)
{
    one_timer_everywhere(8);
}

/* A scene with two timers. `first` is the delay of the first timer. The second
 * act comes after `later`, with the delay `second`. All count from the
 * phase. */
typedef void scene(uint64_t first, uint64_t later, uint64_t second);

static void play_two(uint64_t first, uint64_t later, uint64_t second)
{
    play_start(0, s.phase + first);
    play_to(s.phase + later);
    play_start(1, s.phase + later + second);
}

/* A pending timer will leave its place. */
static void may_go_stale(void)
{
    if (s.left[0] != 0)
        s.stale = s.due[0];
}

/* The first timer is started again, beside a second timer. */
static void play_moved(uint64_t first, uint64_t later, uint64_t second)
{
    play_two(first, 0, first + 1);
    play_to(s.phase + later);
    may_go_stale();
    play_start(0, s.phase + later + second);
}

static void play_postponed(uint64_t first, uint64_t later, uint64_t second)
{
    uint64_t deadline = s.phase + later + second;
    play_two(first, 0, first + 1);
    play_to(s.phase + later);
    bool changes = s.left[0] == 0 || deadline != s.due[0];
    s.any_place = s.left[0] != 0 && deadline > s.due[0];
    if (changes)
        may_go_stale();
    for (unsigned copy = 0; copy < s.copies; copy++)
        EXPECT(tw_postpone(&s.tw, &s.timers[0][copy], deadline) == TW_OK);
    if (changes)
        note_started(0, deadline);
}

static void play_cancelled(uint64_t first, uint64_t later, uint64_t second)
{
    play_start(0, s.phase + first);
    play_start(1, s.phase + second);
    play_to(s.phase + later);
    may_go_stale();
    for (unsigned copy = 0; copy < s.copies; copy++)
        EXPECT(tw_cancel(&s.tw, &s.timers[0][copy]) == (s.left[0] != 0));
    s.left[0] = 0;
}

/* The second act is the first timer's callback. The callback may run up to
 * `later` after the second deadline. */
static void play_chained(uint64_t first, uint64_t later, uint64_t second)
{
    s.chains = true;
    s.chained = s.phase + first - later + second;
    play_start(0, s.phase + first);
}

/* Plays a scene. No deadline is later than the sum of all delays plus one. */
static void play_scene(scene *play, enum manner manner, uint64_t phase)
{
    begin(phase, manner);
    play(s.parameters[0], s.parameters[1], s.parameters[2]);
    check_rest();
    finish(phase + s.parameters[0] + s.parameters[2] + 2);
}

/* Tick by tick takes long on wheels of 8. Returns it for one scene in 128. */
static enum manner next_manner(void)
{
    if (scenes % 128 == 0)
        return TICK_BY_TICK;
    return (enum manner)(ONE_JUMP + scenes % 3);
}

/* Plays a scene from every phase of the first two wheels, with all delays up to
 * three turns of the second wheel. With stride 1, the second act comes at every
 * moment up to the first deadline, in each manner. (Tick by tick, wheels of 4
 * only use every fourth moment.) With a larger stride, one moment in `stride`
 * is used, and manners take turns. */
static void every_scene(scene *play, uint32_t size, uint64_t stride,
                        unsigned copies)
{
    s.size = size;
    s.tick = 1;
    s.copies = copies;
    uint64_t longest = 3 * turn(), *p = s.parameters;
    if (size != 2)
        stride *= thin;
    for (uint64_t phase = 0; phase < turn(); phase++)
        for (p[0] = 0; p[0] <= longest; p[0]++)
            for (p[2] = 0; p[2] <= longest; p[2]++) {
                if (has_failed())
                    return;
                p[1] = (phase + p[0] * 7 + p[2] * 5) % stride;
                for (; p[1] <= p[0]; p[1] += stride) {
                    if (stride > 1)
                        play_scene(play, next_manner(), phase);
                    for (int i = 0; stride == 1 && i < MANNERS; i++)
                        if (i != TICK_BY_TICK || size == 2 || p[1] % 4 == 0)
                            play_scene(play, (enum manner)i, phase);
                }
            }
}

/* Plays a scene on wheels of one size, as far as time allows. Each timer has
 * one copy, and then COPIES copies. */
static void of_2(scene *play)
{
    every_scene(play, 2, 1, 1);
    every_scene(play, 2, 1, COPIES);
}

static void of_4(scene *play, uint64_t stride)
{
    every_scene(play, 4, stride, 1);
    every_scene(play, 4, 24, COPIES);
}

static void of_8(scene *play, uint64_t stride)
{
    every_scene(play, 8, stride, 1);
    every_scene(play, 8, 997, COPIES);
}

static void two_timers_of_2(void)
{
    uint64_t ahead = scenes_ahead;
    of_2(play_two);
    EXPECT(scenes_ahead > ahead || thin != 1);
}

static void two_timers_of_4(void)
{
    uint64_t ahead = scenes_ahead;
    of_4(play_two, 1);
    EXPECT(scenes_ahead > ahead || thin != 1);
}

static void two_timers_of_8(void)
{
    uint64_t ahead = scenes_ahead;
    of_8(play_two, 149);
    EXPECT(scenes_ahead > ahead || thin != 1);
}

/* Both started at once: every phase and every pair of delays. */
static void together_of_8(void)
{
    uint64_t *p = s.parameters;
    s.size = 8;
    s.tick = 1;
    s.copies = 1;
    p[1] = 0;
    for (uint64_t phase = 0; phase < turn(); phase += thin)
        for (p[0] = 0; p[0] <= 3 * turn(); p[0]++)
            for (p[2] = 0; p[2] <= 3 * turn() && !has_failed(); p[2]++)
                play_scene(play_two, next_manner(), phase);
}

static void moved_of_2(void)
{
    of_2(play_moved);
}

static void moved_of_4(void)
{
    of_4(play_moved, 5);
}

static void moved_of_8(void)
{
    of_8(play_moved, 447);
}

static void postponed_of_2(void)
{
    of_2(play_postponed);
}

static void postponed_of_4(void)
{
    of_4(play_postponed, 5);
}

static void postponed_of_8(void)
{
    of_8(play_postponed, 447);
}

static void cancelled_of_2(void)
{
    of_2(play_cancelled);
}

static void cancelled_of_4(void)
{
    of_4(play_cancelled, 5);
}

static void cancelled_of_8(void)
{
    of_8(play_cancelled, 447);
}

static void chained_of_2(void)
{
    of_2(play_chained);
}

static void chained_of_4(void)
{
    of_4(play_chained, 5);
}

static void chained_of_8(void)
{
    of_8(play_chained, 447);
}

static const tap_case cases[] = {
    {"one timer, wheels of 2", one_timer_of_2},
    {"one timer, wheels of 4", one_timer_of_4},
    {"one timer, wheels of 8", one_timer_of_8},
    {"two timers, wheels of 2", two_timers_of_2},
    {"two timers, wheels of 4", two_timers_of_4},
    {"two timers, wheels of 8", two_timers_of_8},
    {"two timers started together, wheels of 8", together_of_8},
    {"one of two started again, wheels of 2", moved_of_2},
    {"one of two started again, wheels of 4", moved_of_4},
    {"one of two started again, wheels of 8", moved_of_8},
    {"one of two postponed, wheels of 2", postponed_of_2},
    {"one of two postponed, wheels of 4", postponed_of_4},
    {"one of two postponed, wheels of 8", postponed_of_8},
    {"one of two cancelled, wheels of 2", cancelled_of_2},
    {"one of two cancelled, wheels of 4", cancelled_of_4},
    {"one of two cancelled, wheels of 8", cancelled_of_8},
    {"one started by the other, wheels of 2", chained_of_2},
    {"one started by the other, wheels of 4", chained_of_4},
    {"one started by the other, wheels of 8", chained_of_8},
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
        thin = 53;
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    int status = TAP_RUN(cases, argc, argv);
    printf("# %" PRIu64 " scenes; in %" PRIu64
           " of them timers were moved ahead\n",
           scenes, scenes_ahead);
    return status;
}
