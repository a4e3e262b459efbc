/* eva.c - seeded operations on timingwheel.h for Frama-C's EVA. EVA runs the
 * operations in a model of C and reports undefined behaviour; see prove.sh.
 *
 * SPDX-License-Identifier: MIT
 *
 * OPERATIONS is the number of operations, over five wheels. With SCARCE memory
 * runs out all the time. With BREAK there is a fault, and EVA must report it.
 *
 * A wheel finds an aligned place in its memory by the number of the address, so
 * addresses must be numbers. Memory comes from a range that EVA takes as valid
 * (-absolute-valid-range). EVA knows nothing of a place in the range before the
 * first write. EVA follows every pointer into the range exactly, but does not
 * report a pointer that strays from a block into the next block.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef OPERATIONS
#define OPERATIONS 1000
#endif
#define ROUNDS 5
#define TIMERS 24

#define FROM 0x10000 /* the range, as in prove.sh */
#define UP_TO 0x7ffff

static uintptr_t free_from;
static uint32_t seed = 12345;
static struct {
    unsigned refused, fired, postponed;
} tally;

/* A random number below `limit`. */
static uint32_t any_below(uint32_t limit)
{
    seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (seed >> 16) % limit;
}

/* Has EVA check that `holds` is true at every call. */
static void must(bool holds)
{
    //@ assert holds: holds == 1;
    (void)holds;
}

static void *take(size_t size)
{
#ifdef SCARCE
    if (any_below(4) == 0)
        return NULL;
#endif
    if (size > UP_TO - free_from)
        return NULL;
    void *block = (void *)free_from;
    free_from += (size + 7) & ~(uintptr_t)7;
    return block;
}

#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(context), (void)(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

/* The timers and the wheel are in the range, too: hints are made of addresses. */
#define timers ((tw_timer *)FROM)
#define WHEEL_AT (FROM + TIMERS * sizeof(tw_timer))

static tw_timer *any_timer(void)
{
    return &timers[any_below(TIMERS)];
}

/* Mostly near, sometimes far, also across all of 64 bits. */
static uint64_t any_delay(void)
{
    return (uint64_t)any_below(64) << any_below(any_below(8) == 0 ? 58 : 6);
}

static void start(timingwheel *tw, tw_timer *timer)
{
    uint64_t deadline = tw_after(tw_now(tw), any_delay());
    int status = any_below(4) == 0
                     ? tw_start_within(tw, timer, deadline,
                                       tw_after(deadline, any_delay()))
                     : tw_start(tw, timer, deadline);
    tally.refused += status == TW_ENOMEM;
    must(status == TW_OK || status == TW_ENOMEM);
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    must(tw->now >= timer->deadline);
    must(tw_timer_state(timer) == TW_FIRED);
    tally.fired++;
    switch (any_below(6)) {
    case 0:
        start(tw, timer);
        break;
    case 1:
        start(tw, any_timer());
        break;
    case 2:
        tw_cancel(tw, any_timer());
        break;
    default:
        break;
    }
}

static void on_visit(tw_timer *timer, void *tw)
{
    if (any_below(2) == 0)
        tw_cancel((timingwheel *)tw, timer);
}

/* Calls one of the functions that fire timers. */
static void advance(timingwheel *tw)
{
    uint64_t now = tw_after(tw_now(tw), any_delay());
    uint64_t deadline = 0;
    bool found = tw_next_deadline(tw, &deadline);
    if (found && any_below(2) == 0)
        now = deadline;
    if (any_below(8) == 0)
        now = now / 2;
    switch (any_below(4)) {
    case 0:
        tw_advance_clock_limit(tw, now, any_below(4));
        break;
    case 1:
        tally.fired += tw_poll(tw, now) != NULL;
        break;
    default:
        tw_advance_clock(tw, now);
        break;
    }
    now = tw_wait(tw, tw_now(tw), 1000);
    must(now <= 1000);
}

/* Calls one of the rarely used functions. */
static void look_after(timingwheel *tw)
{
    tw_stats stats;
    switch (any_below(8)) {
    case 0:
        tw_trim(tw);
        break;
    case 1:
        tw_foreach(tw, on_visit, tw);
        break;
    case 2:
        if (any_below(4) == 0)
            tw_drain(tw, NULL, NULL);
        break;
    case 3:
        if (tw_reserve(tw, tw_after(tw_now(tw), 50)) != TW_OK)
            tally.refused++;
        break;
    default:
        tw_get_stats(tw, &stats);
        must(stats.pending == tw->count);
        break;
    }
}

static void operate(timingwheel *tw)
{
    tw_timer *timer = any_timer();
    switch (any_below(8)) {
    case 0:
    case 1:
    case 2:
        start(tw, timer);
        break;
    case 3:
        tw_cancel(tw, timer);
        break;
    case 4:
        tally.postponed += tw_is_pending(timer);
        tw_postpone(tw, timer, tw_after(tw_deadline(timer), any_delay()));
        break;
    case 5:
        look_after(tw);
        break;
    default:
        advance(tw);
        break;
    }
}

#ifdef BREAK
static void stray(timingwheel *tw)
{
    uint64_t ticks[2] = {0, 0};
    tw->cascaded += ticks[2 * (tw->count <= TIMERS)];
}
#endif

static void run_round(unsigned round)
{
    static const uint32_t sizes[ROUNDS] = {2, 4, 8, 16, 64};
    static const uint64_t ticks[ROUNDS] = {1, 3, 1, 10, 1};
    timingwheel *tw = (timingwheel *)WHEEL_AT;
    tw_config config = {ticks[round], 100, sizes[round], 0, NULL};
    free_from = WHEEL_AT + sizeof(*tw) + round; /* at no multiple of anything */
    tw_init(tw, &config);
    for (int i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], any_below(8) == 0 ? NULL : on_timer);
    for (int i = 0; i < OPERATIONS / ROUNDS; i++)
        operate(tw);
    must(tw_check(tw));
#ifdef BREAK
    stray(tw);
#endif
    tw_destroy(tw);
    for (int i = 0; i < TIMERS; i++)
        must(!tw_is_pending(&timers[i]));
}

/* EVA prints the arguments of this function when EVA reaches the call. */
extern void Frama_C_show_each_end(int);

int main(void)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        run_round(round);
#ifdef SCARCE
    must(tally.refused > 0);
#endif
    must(tally.fired > 0 && tally.postponed > 0);
    Frama_C_show_each_end(OPERATIONS);
    return 0;
}
