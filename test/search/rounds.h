/* rounds.h - random rounds of operations, for random.c and fuzz.c.
 *
 * The includer gives the source of numbers, draw(). A round sets up a wheel
 * with drawn settings and takes drawn steps. Callbacks and visitors take steps,
 * too.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "operations.h"

/* Returns a number from 0 to below - 1; any 64 bits if `below` is 0. */
static uint64_t draw(uint64_t below);

#ifndef SIZES /* how many sizes a wheel may have, from 2 on */
#define SIZES 12
#endif

/* How to draw a deadline. */
enum delay {
    DELAY_TINY,      /* some ticks */
    DELAY_BORDER,    /* near the border of a step of some wheel */
    DELAY_MAGNITUDE, /* of any magnitude */
    DELAY_EVEN,      /* evenly over some turns of wheel 0 */
    DELAY_SAME,      /* the last deadline again */
    DELAY_NEAR,      /* near the deadline of a second timer */
    DELAY_PAST,      /* now, or passed */
    DELAY_END,       /* near the end of time */
    DELAY_BLOCK,     /* in one block of ticks, with many timers */
    DELAYS
};

/* The habits of a round. */
static struct {
    unsigned steps;
    unsigned failing;     /* of 16 allocations, how many fail */
    unsigned active;      /* of 8 callbacks, how many take steps */
    unsigned throwing;    /* of 32 callbacks and visitors, how many throw */
    unsigned far;         /* of 64 advances, how many go far */
    uint64_t block;       /* length of a block in ticks */
    uint64_t block_start; /* its first tick */
    uint64_t last_deadline;
    unsigned calls_left;     /* callbacks that may still take steps */
    unsigned delays[DELAYS]; /* weights */
} habits;

static uint32_t draw_id(void)
{
    return (uint32_t)draw(run.s.items);
}

static bool draw_refusal(void)
{
    return draw(16) < habits.failing;
}

#ifdef __cplusplus
static bool draw_throw(void)
{
    return draw(32) < habits.throwing;
}
#endif

/* ------------------------------------------------------------- deadlines -- */

/* Returns the ticks of a step of some wheel. */
static uint64_t draw_step(void)
{
    bool near = draw(8) != 0;
    uint64_t shift = draw(near ? 3 : levels()) * size_bits();
    return shift < 64 ? UINT64_C(1) << shift : UINT64_C(1) << 63;
}

static uint64_t draw_magnitude(void)
{
    uint64_t shift = draw(64);
    return draw(0) >> shift;
}

/* Returns the time of a tick, or a little before or after. */
static uint64_t time_of(uint64_t tick)
{
    if (tick > UINT64_MAX / run.s.tick)
        return UINT64_MAX - draw(3);
    uint64_t time = tick * run.s.tick;
    uint64_t before = run.s.tick > 1 ? draw(2 * run.s.tick) : 0;
    return before > time ? 0 : time - before;
}

static uint64_t draw_any_deadline(void)
{
    const oracle *o = &run.oracle;
    unsigned sum = 0, kind = 0;
    for (unsigned i = 0; i < DELAYS; i++)
        sum += habits.delays[i];
    unsigned at = (unsigned)draw(sum);
    while (at >= habits.delays[kind])
        at -= habits.delays[kind++];
    uint64_t step, clock = o->clock, size = run.s.wheel_size;
    switch (kind) {
    case DELAY_TINY:
        return time_of(tw_after(clock, 1 + draw(4)));
    case DELAY_BORDER:
        step = draw_step();
        return time_of(
            tw_after((clock / step + draw(2 * size + 2)) * step, draw(3)) - 1);
    case DELAY_MAGNITUDE:
        return tw_after(o->now, draw_magnitude());
    case DELAY_EVEN:
        return time_of(tw_after(clock, draw(size * 4)));
    case DELAY_SAME:
        return habits.last_deadline;
    case DELAY_NEAR:
        return o->timers[draw(run.s.items)].deadline + draw(3) - 1;
    case DELAY_PAST:
        return draw(2) == 0 ? o->now : o->now - (o->now < 100 ? 0 : draw(100));
    case DELAY_END:
        return UINT64_MAX - draw_magnitude() / 2;
    default:
        if (habits.block_start <= clock)
            habits.block_start = tw_after(clock, draw(3 * size *
                                                      (!run.s.calm ? draw_step()
                                                       : size == 16 ? size
                                                                    : 1)));
        return time_of(tw_after(habits.block_start, draw(habits.block)));
    }
}

static uint64_t draw_deadline(void)
{
    return habits.last_deadline = draw_any_deadline();
}

static uint64_t draw_now(void)
{
    const oracle *o = &run.oracle;
    const oracle_timer *first = oracle_first(o);
    uint64_t deadline = o->now, step;
    switch (draw(habits.far != 0 && draw(64) < habits.far ? 8 : 6)) {
    case 0:
        (void)tw_next_deadline(&run.tw, &deadline);
        return deadline + (draw(4) == 0 ? draw(3) - (deadline != 0) : 0);
    case 1:
        return tw_after(o->now, draw(3 * run.s.tick));
    case 2:
        step = draw_step();
        if (step > (uint64_t)run.s.wheel_size * run.s.wheel_size)
            step = run.s.wheel_size;
        return time_of(tw_after(o->clock / step * step, step) - draw(2));
    case 3:
        return tw_after(o->now, draw(run.s.wheel_size) * run.s.tick);
    case 4:
        return o->now - (o->now < 1000 ? 0 : draw(1000));
    case 5: /* to the timer that fires after some others */
        if (first == NULL)
            return o->now;
        return o->timers[o->waiting[draw(o->waiting_count)]].deadline;
    case 6:
        return tw_after(o->now, draw_magnitude());
    default:
        return first == NULL ? o->now : first->deadline;
    }
}

/* ------------------------------------------------------------ operations -- */

static void op_start(void)
{
    uint32_t id = draw_id();
    start(id, draw_deadline());
    check_timer(id);
}

/* Starts many timers for near ticks. */
static void op_start_many(void)
{
    uint64_t deadline = draw_deadline(), width = draw(2) * draw(20);
    uint64_t count = 1 + draw(run.s.calm ? 300 : 40);
    for (; count != 0; count--)
        start(draw_id(), tw_after(deadline, draw(width + 1)));
}

static void op_within(void)
{
    uint64_t earliest = draw_deadline();
    start_within(draw_id(), earliest, tw_after(earliest, draw_magnitude()));
}

static void op_postpone(void)
{
    uint32_t id = draw_id();
    postpone(id, draw_deadline());
}

#define OPERATION(name, call)   \
    static void op_##name(void) \
    {                           \
        call;                   \
    }

OPERATION(cancel, cancel(draw_id()))
OPERATION(move, move(draw_id()))
OPERATION(replace, replace(draw_id()))
OPERATION(reserve, reserve(draw_deadline()))
OPERATION(foreach, visit.active ? (void)0 : foreach_timer())
OPERATION(drain, visit.active ? (void)0 : drain())
OPERATION(advance, advance(draw_now()))
OPERATION(poll, (void)poll_timer(draw_now()))
OPERATION(find, find(draw_id()))

static void op_cancel_many(void)
{
    uint32_t id = draw_id();
    for (uint64_t count = draw(run.s.items); count != 0; count--)
        cancel(id = (id + 1) % run.s.items);
}

static void op_advance_calmly(void)
{
    uint64_t ticks = draw(CALM_TICKS + 1);
    advance(tw_after(run.oracle.now, ticks * run.s.tick));
}

static void op_limit(void)
{
    uint64_t now = draw_now();
    advance_limit(now, (size_t)(draw(4) == 0 ? draw(40) : draw(5)));
}

/* An operation, with its weight outside of calls, in callbacks and visitors,
 * and in calm rounds. */
typedef struct operation {
    void (*run)(void);
    unsigned outside, inside, calm;
} operation;

static const operation operations[] = {
    {op_start, 24, 24, 1},         /* */
    {op_start_many, 2, 0, 2},      /* */
    {op_within, 4, 4, 0},          /* */
    {op_postpone, 10, 10, 0},      /* */
    {op_cancel, 8, 8, 0},          /* */
    {op_cancel_many, 1, 1, 0},     /* */
    {op_move, 2, 2, 0},            /* */
    {op_replace, 2, 2, 0},         /* */
    {op_reserve, 1, 1, 0},         /* */
    {op_foreach, 1, 1, 0},         /* */
    {op_drain, 1, 1, 0},           /* */
    {refused_calls, 0, 1, 0},      /* */
    {op_advance, 10, 0, 0},        /* */
    {op_limit, 8, 0, 0},           /* */
    {op_poll, 6, 0, 0},            /* */
    {trim, 1, 0, 0},               /* */
    {op_advance_calmly, 0, 0, 99}, /* */
    {op_find, 1, 1, 0}             /* */
};
#define OPERATIONS (sizeof operations / sizeof *operations)

/* The weights of a round: outside and inside. */
static unsigned weights[2][OPERATIONS], weight_sum[2];

static void draw_weights(bool is_calm)
{
    weight_sum[0] = weight_sum[1] = 0;
    for (size_t i = 0; i < OPERATIONS; i++) {
        unsigned usual = draw(4) == 0 ? (unsigned)draw(10) : 3;
        const operation *o = &operations[i];
        weights[0][i] = is_calm ? o->calm : o->outside * usual + (i == 0);
        weights[1][i] = o->inside * usual + (i == 0);
        weight_sum[0] += weights[0][i];
        weight_sum[1] += weights[1][i];
    }
}

static void take_steps(unsigned count)
{
    bool inside = run.depth != 0;
    for (; count != 0; count--) {
        unsigned at = (unsigned)draw(weight_sum[inside]);
        size_t i = 0;
        while (at >= weights[inside][i])
            at -= weights[inside][i++];
        run.total++;
        if (!inside)
            habits.calls_left = 20;
        operations[i].run();
    }
}

/* What a callback does. */
static void random_callback(uint32_t id)
{
    if (habits.calls_left == 0 || draw(8) >= habits.active)
        return;
    habits.calls_left--;
    take_steps(1 + (unsigned)draw(2));
    if (draw(3) == 0)
        start(id, draw_deadline());
}

/* What a visitor does: tw_foreach allows less than tw_drain. */
static void random_visitor(uint32_t id)
{
    if (!visit.drains && draw(16) == 0) {
        cancel(id);
        if (draw(2) == 0)
            replace(id);
    } else if (visit.drains && habits.active != 0 && draw(8) == 0) {
        take_steps(1);
    }
}

static uint64_t draw_tick(void)
{
    static const uint64_t ticks[] = {1, 1, 1, 1, 3, 10, 1000};
    uint64_t i = draw(9);
    return i < 7 ? ticks[i] : i == 7 ? UINT64_C(1) << draw(40) : 1 + draw(999);
}

static uint64_t draw_start(uint64_t tick)
{
    static const uint64_t bases[] = {0, UINT64_C(1) << 32, UINT64_C(1) << 63};
    uint64_t i = draw(6), off = draw(3000) * tick;
    if (i < 3)
        return bases[i] + draw(2) * draw(100);
    return i == 3   ? draw(0) >> draw(20)
           : i == 4 ? UINT64_MAX - off
                    : UINT64_C(0) - off * 100;
}

/* Hundreds of timers in blocks of near ticks, and a clock that seldom leaps. */
static void draw_calm(settings *s)
{
    s->calm = true;
    s->start = draw(2) == 0 ? 0 : draw(0) >> (1 + draw(40));
    s->wheel_size = UINT32_C(16) << draw(4);
    s->items = (uint32_t)(ITEMS / 2 + draw(ITEMS / 2));
    s->max_pending = 0;
    habits.steps = 4000;
    habits.failing = habits.active = 0;
    habits.block = 1 + draw(s->wheel_size * 2);
    large = (unsigned)(draw(2) == 0 ? 4 + draw(4) : 60 + draw(60));
    memset(habits.delays, 0, sizeof habits.delays);
    habits.delays[DELAY_BLOCK] = 1;
}

static void draw_settings(settings *s)
{
    memset(s, 0, sizeof *s);
    memset(&habits, 0, sizeof habits);
    s->in_callback = random_callback;
    s->in_visitor = random_visitor;
    s->refuses = draw_refusal;
    s->tick = draw_tick();
    s->start = draw_start(s->tick);
    s->wheel_size = UINT32_C(2) << (draw(3) == 0 ? draw(SIZES) : draw(6));
    s->items = (uint32_t)(draw(3) != 0 ? 1 + draw(30) : 1 + draw(ITEMS / 2));
    s->max_pending = draw(6) == 0 ? 1 + draw(s->items) : 0;
    habits.steps = 100 + (unsigned)draw(draw(4) == 0 ? 3000 : 600);
    habits.failing = draw(10) == 0 ? 1 + (unsigned)draw(16) : 0;
    habits.active = (unsigned)(draw(2) * draw(8));
    habits.far = (unsigned)(draw(2) * draw(20));
    habits.block = 1 + draw(s->wheel_size * (1 + draw(8)));
    few = draw(3) == 0 ? (unsigned)draw(13) : 12;
    large = draw(2) == 0 ? 512 : 4 + (unsigned)draw(30);
    for (unsigned i = 0; i < DELAYS; i++)
        habits.delays[i] = draw(3) == 0 ? 0 : (unsigned)draw(8);
    habits.delays[DELAY_TINY]++;
    habits.delays[DELAY_END] = draw(4) == 0 ? 1 : 0;
    if (draw(16) == 0)
        draw_calm(s);
#ifdef __cplusplus
    s->throws = draw_throw;
    habits.throwing = s->calm ? 0 : 1 + (unsigned)draw(8);
#endif
    draw_weights(s->calm);
}

/* Plays one round, while goes_on() is true. */
static void play_round(bool (*goes_on)(void))
{
    unsigned long long unchecked = 0;
    draw_settings(&run.s);
    for (uint32_t id = 0; id < run.s.items; id++)
        run.items[id] = make_item(id);
    set_up();
    for (; run.step < habits.steps && goes_on(); run.step++) {
        take_steps(1);
        check_quickly();
        if (++unchecked >= run.check_every) {
            check_fully();
            unchecked = 0;
        }
    }
    tear_down();
}

#endif
