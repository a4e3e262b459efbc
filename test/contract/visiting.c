/* visiting.c - tw_foreach and tw_drain, beyond visiting.script.
 *
 *     visiting [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/cases.h"

/* Saves all timers, and starts them again in a second wheel: the order of
 * firing is the same. `at` is the time of the saving. */
static numbered *saved[CROWD];
static size_t saved_count;

static void save(tw_timer *timer, void *context)
{
    (void)context;
    saved[saved_count++] = TW_OWNER(timer, numbered, timer);
}

static void save_and_load(uint32_t size, uint64_t at, bool drains)
{
    const size_t count = 3000;
    size_t pending;
    set_up_with(1, 0, size, 0);
    for (size_t i = 0; i < count; i++) { /* 20 ticks, from many distances */
        CHECK(start_numbered(i, 4000 + scatter(i, 20) * 97) == TW_OK);
        if (i % 60 == 59)
            tw_advance_clock(&tw, at * i / count);
    }
    tw_advance_clock(&tw, at);
    pending = tw_count(&tw);
    saved_count = 0;
    CHECK((drains ? tw_drain : tw_foreach)(&tw, save, NULL) == pending);
    CHECK(saved_count == pending);
    (void)tw_drain(&tw, NULL, NULL);
    for (size_t i = 0; i < saved_count; i++)
        tw_start(&tw, &saved[i]->timer, tw_deadline(&saved[i]->timer));
    fire_all(6000); /* in the order of the first starts */
    tear_down();
}

static void saved_timers_keep_the_order(void)
{
    static const uint32_t sizes[] = {2, 4, 16, 256};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (uint64_t at = 1000; at < 4000; at += 187) {
            save_and_load(sizes[i], at, false);
            save_and_load(sizes[i], at, true);
        }
}

/* Cancels the timer, or finds the timer idle, and wipes the timer as if the
 * visitor had freed the timer. */
static void visit_and_wipe(tw_timer *timer, void *context)
{
    bool is_drain = tw_timer_state(timer) == TW_IDLE;
    CHECK(is_drain || tw_cancel(&tw, timer));
    CHECK(tw_count(&tw) == (size_t)-- * (int *)context && tw_check(&tw));
    memset((void *)timer, 0xa5, sizeof *timer);
    tw_destroy(&tw); /* is refused */
}

static void visitors_may_free(void)
{
    for (int drains = 0; drains < 2; drains++) {
        int left = 26;
        set_up_at(50);
        for (int i = 0; i < 26; i++)
            start((char)('a' + i), UINT64_C(1) << i);
        CHECK((drains ? tw_drain : tw_foreach)(&tw, visit_and_wipe, &left) ==
              26);
        CHECK(left == 0 && tw_count(&tw) == 0);
        FIRES(UINT64_C(1) << 26, "");
        tear_down();
    }
}

static const tap_case cases[] = {
    {"timers that were saved and started again keep the order",
     saved_timers_keep_the_order},
    {"a visitor may free its timer", visitors_may_free},
};

TAP_MAIN(cases)
