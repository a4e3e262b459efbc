/* cases.h - cases that need C, in the words of script.h: its timingwheel, its
 * heap, and its timers a to z.
 *
 * A case begins with set_up() and ends with tear_down(). RUN("advance 10: a b")
 * runs statements of a script, and LET('N', 5) sets a variable for them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CASES_H
#define CASES_H

#define TW_STATIC
#include "script.h"

#include "../lib/tap.h"

#include <limits.h>

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define LET(name, value) script_let((name) - 'A', (value))
#define RUN(text) CHECK((script_run_line(text), !script.has_failed))

static timingwheel *const tw = &script.tw;
static heap *const memory = &script.memory;

static inline tw_timer *timer_of(char name)
{
    return script_timer_at((uint64_t)(name - 'a'));
}

static inline tw_stats stats(void)
{
    tw_stats s;
    tw_get_stats(tw, &s);
    return s;
}

/* Begins a case with a fresh timingwheel and idle timers. */
static inline void set_up_with(uint64_t tick, uint64_t clock,
                               uint32_t wheel_size, size_t max_pending)
{
    tw_config config = {tick, clock, wheel_size, max_pending, memory};
    memset(&script, 0, sizeof script);
    script_file = "a case in C";
    CHECK_EQUAL(tw_init(tw, &config), TW_OK);
    for (char name = 'a'; name <= 'z'; name++)
        tw_timer_init(timer_of(name), script_on_fire);
}

static inline void set_up(void)
{
    set_up_with(1, 0, 0, 0);
}

/* Ends a case: the timingwheel is sound and gives all memory back. */
static inline void tear_down(void)
{
    CHECK(tw_check(tw));
    tw_destroy(tw);
    CHECK_EQUAL(memory->blocks, 0);
    CHECK_EQUAL(memory->bytes, 0);
    CHECK_EQUAL(memory->strays, 0);
}

#endif
