/* misuse.c - misuse detected by a build with TW_DEBUG. Each kind of misuse ends
 * in TW_ASSERT, with a sentence about the misuse.
 *
 * Here TW_ASSERT jumps out of the library, because a failed assertion would end
 * the program. No case uses the wheel afterwards.
 *
 * SPDX-License-Identifier: MIT
 */
#include <setjmp.h>
#include <stddef.h>

#include "../lib/tap.h"

static jmp_buf caught;
static const char *sentence; /* of the failed assertion; NULL: none */

static void fail_assertion(const char *text)
{
    sentence = text;
    longjmp(caught, 1);
}

#define TW_DEBUG
#define TW_ASSERT(expr) ((expr) ? (void)0 : fail_assertion(#expr))
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

static timingwheel tw, other;
static tw_timer timers[64];

/* Runs `misuse` on a fresh wheel; true if an assertion with `words` failed. */
static bool is_caught(void (*misuse)(void), const char *words)
{
    sentence = NULL;
    tw_init(&tw, NULL);
    tw_init(&other, NULL);
    for (size_t i = 0; i < sizeof(timers) / sizeof(*timers); i++)
        tw_timer_init(&timers[i], NULL);
    if (setjmp(caught) == 0)
        misuse();
    if (sentence == NULL || strstr(sentence, words) == NULL) {
        printf("# wanted \"%s\", got \"%s\"\n", words,
               sentence == NULL ? "no assertion" : sentence);
        return false;
    }
    return true;
}

/* Frees the memory of a wheel that an assertion has left in any state. Without
 * an assertion, the wheel is sound. */
static void give_up(timingwheel *wheel)
{
    twi_slab *slab = wheel->slabs;
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (wheel->wheels[level] != NULL)
            TW_FREE(wheel->wheels[level]->memory, NULL);
    while (slab != NULL) {
        void *memory = slab->memory;
        slab = slab->next;
        TW_FREE(memory, NULL);
    }
}

static void expect(void (*misuse)(void), const char *words)
{
    CHECK(is_caught(misuse, words));
    give_up(&tw);
    give_up(&other);
}

/* ------------------------------------------------------- another's timer -- */

static void start_elsewhere(void)
{
    tw_start(&tw, &timers[0], 10);
    tw_start(&other, &timers[0], 10);
}

static void postpone_elsewhere(void)
{
    tw_start(&tw, &timers[0], 10);
    tw_postpone(&other, &timers[0], 20);
}

static void cancel_elsewhere(void)
{
    tw_start(&tw, &timers[0], 10);
    tw_cancel(&other, &timers[0]);
}

static void started_elsewhere(void)
{
    expect(start_elsewhere, "pending on another wheel");
}

static void postponed_elsewhere(void)
{
    expect(postpone_elsewhere, "pending on another wheel");
}

static void cancelled_elsewhere(void)
{
    expect(cancel_elsewhere, "pending on another wheel");
}

/* The timer is pending on a wheel. The second wheel has a pending timer in the
 * same place. */
static void start_overdue_elsewhere(void)
{
    tw_start(&other, &timers[1], 0);
    tw_start(&tw, &timers[0], 0);
    tw_start(&other, &timers[0], 10);
}

static void start_far_elsewhere(void)
{
    tw_start(&other, &timers[1], 100000);
    tw_start(&tw, &timers[0], 100000);
    tw_start_within(&other, &timers[0], 100000, 200000);
}

static void started_overdue_elsewhere(void)
{
    expect(start_overdue_elsewhere, "pending on another wheel");
}

static void started_far_elsewhere(void)
{
    expect(start_far_elsewhere, "pending on another wheel");
}

/* --------------------------------------------- a pending timer destroyed -- */

static void overwrite(tw_timer *timer)
{
    memset(timer, 0, sizeof(*timer));
}

static void fire_overwritten_alone(void)
{
    tw_start(&tw, &timers[0], 10);
    overwrite(&timers[0]);
    tw_advance_clock(&tw, 10);
}

static void fire_overwritten(void)
{
    tw_start(&tw, &timers[0], 10);
    tw_start(&tw, &timers[1], 10);
    overwrite(&timers[1]);
    tw_advance_clock(&tw, 10);
}

static void sort_overwritten(void)
{
    for (size_t i = 0; i < 64; i++)
        tw_start(&tw, &timers[i], 600 + i);
    overwrite(&timers[63]);
    tw_advance_clock(&tw, 600);
}

/* Overwrites the last timer of a bucket. The assertion fails before any timer
 * has cascaded. (The timers are few, and too far apart to be sorted. They are
 * due beyond the step after the clock's own step, and are therefore in wheel
 * 2.) */
static void cascade_overwritten(void)
{
    for (size_t i = 0; i < 63; i++)
        tw_start(&tw, &timers[i], 140000 + 10 * i);
    overwrite(&timers[62]);
    tw_advance_clock(&tw, 140000);
}

/* Overwrites the last timer of a large bucket. The bucket moves ahead of
 * time. */
static void move_overwritten_ahead(void)
{
    static tw_timer many[TWI_LARGE_TIMERS + 2 * TWI_SLOTS];
    const size_t count = sizeof(many) / sizeof(*many);
    for (size_t i = 0; i < count; i++) {
        tw_timer_init(&many[i], NULL);
        tw_start(&tw, &many[i], 512 + i % 256);
    }
    overwrite(&many[count - 1]);
    tw_advance_clock(&tw, 500);
}

static void initialise_pending(void)
{
    tw_start(&tw, &timers[0], 10);
    tw_timer_init(&timers[0], NULL);
    tw_advance_clock(&tw, 10);
}

static void overwritten_alone(void)
{
    expect(fire_overwritten_alone, "freed, moved or overwritten");
}

static void overwritten_among_others(void)
{
    expect(fire_overwritten, "freed, moved or overwritten");
}

static void overwritten_and_sorted(void)
{
    expect(sort_overwritten, "freed, moved or overwritten");
}

static void overwritten_and_cascaded(void)
{
    expect(cascade_overwritten, "freed, moved or overwritten");
}

static void overwritten_and_moved_ahead(void)
{
    expect(move_overwritten_ahead, "freed, moved or overwritten");
}

static void initialised_again(void)
{
    expect(initialise_pending, "freed, moved or overwritten");
}

/* ----------------------------------------------------- inside a callback -- */

static void advance_own(timingwheel *wheel, tw_timer *timer)
{
    (void)timer;
    tw_advance_clock(wheel, 20);
}

static void poll_own(timingwheel *wheel, tw_timer *timer)
{
    (void)timer;
    tw_poll(wheel, 20);
}

static void trim_own(timingwheel *wheel, tw_timer *timer)
{
    (void)timer;
    tw_trim(wheel);
}

static void destroy_own(timingwheel *wheel, tw_timer *timer)
{
    (void)timer;
    tw_destroy(wheel);
}

static void run_callback(tw_callback *callback)
{
    tw_timer_init(&timers[0], callback);
    tw_start(&tw, &timers[0], 10);
    tw_advance_clock(&tw, 10);
}

static void callback_advances(void)
{
    run_callback(advance_own);
}

static void callback_polls(void)
{
    run_callback(poll_own);
}

static void callback_trims(void)
{
    run_callback(trim_own);
}

static void callback_destroys(void)
{
    run_callback(destroy_own);
}

static void advanced_inside(void)
{
    expect(callback_advances, "a callback or visitor must not");
}

static void polled_inside(void)
{
    expect(callback_polls, "a callback or visitor must not");
}

static void trimmed_inside(void)
{
    expect(callback_trims, "a callback or visitor must not");
}

static void advance_visited(tw_timer *timer, void *wheel)
{
    (void)timer;
    tw_advance_clock((timingwheel *)wheel, 20);
}

static void visitor_advances(void)
{
    tw_start(&tw, &timers[0], 10);
    tw_foreach(&tw, advance_visited, &tw);
}

static void advanced_in_visitor(void)
{
    expect(visitor_advances, "a callback or visitor must not");
}

static void destroyed_inside(void)
{
    expect(callback_destroys, "a callback or visitor must not");
}

/* ----------------------------------- before tw_init and after tw_destroy -- */

static void forget_init(void)
{
    memset(&tw, 0, sizeof(tw));
}

static void start_before_init(void)
{
    forget_init();
    tw_start(&tw, &timers[0], 10);
}

static void advance_before_init(void)
{
    forget_init();
    tw_advance_clock(&tw, 10);
}

static void start_after_destroy(void)
{
    tw_destroy(&tw);
    tw_start(&tw, &timers[0], 10);
}

static void advance_after_destroy(void)
{
    tw_destroy(&tw);
    tw_advance_clock(&tw, 10);
}

static void destroy_twice(void)
{
    tw_destroy(&tw);
    tw_destroy(&tw);
}

static void started_before_init(void)
{
    expect(start_before_init, "before tw_init or after tw_destroy");
}

static void advanced_before_init(void)
{
    expect(advance_before_init, "before tw_init or after tw_destroy");
}

static void started_after_destroy(void)
{
    expect(start_after_destroy, "before tw_init or after tw_destroy");
}

static void advanced_after_destroy(void)
{
    expect(advance_after_destroy, "before tw_init or after tw_destroy");
}

static void destroyed_twice(void)
{
    expect(destroy_twice, "before tw_init or after tw_destroy");
}

/* --------------------------------------------------------- moved, copied -- */

static timingwheel elsewhere;

static void move_it(void)
{
    tw_start(&tw, &timers[0], 10);
    elsewhere = tw;
}

static void start_on_copy(void)
{
    move_it();
    tw_start(&elsewhere, &timers[1], 20);
}

static void cancel_on_copy(void)
{
    move_it();
    tw_cancel(&elsewhere, &timers[0]);
}

static void postpone_on_copy(void)
{
    move_it();
    tw_postpone(&elsewhere, &timers[0], 20);
}

static void advance_copy(void)
{
    move_it();
    tw_advance_clock(&elsewhere, 20);
}

static void poll_copy(void)
{
    move_it();
    tw_poll(&elsewhere, 20);
}

static void drain_copy(void)
{
    move_it();
    tw_drain(&elsewhere, NULL, NULL);
}

static void trim_copy(void)
{
    move_it();
    tw_trim(&elsewhere);
}

static void reserve_on_copy(void)
{
    move_it();
    tw_reserve(&elsewhere, 10, 1000);
}

static void destroy_copy(void)
{
    move_it();
    tw_destroy(&elsewhere);
}

/* The moved wheel is empty, and the memory at its old place is cleared. */
static void start_where_it_went(void)
{
    elsewhere = tw;
    memset(&tw, 0, sizeof(tw));
    tw_start(&elsewhere, &timers[0], 10);
}

static void copied(void)
{
    static const char words[] = "was moved or copied";
    expect(start_on_copy, words);
    expect(cancel_on_copy, words);
    expect(postpone_on_copy, words);
    expect(advance_copy, words);
    expect(poll_copy, words);
    expect(drain_copy, words);
    expect(trim_copy, words);
    expect(reserve_on_copy, words);
    expect(destroy_copy, words);
}

static void moved(void)
{
    expect(start_where_it_went, "was moved or copied");
}

/* tw_check returns false without TW_DEBUG, too. */
static void checked_where_it_went(void)
{
    tw_init(&tw, NULL);
    elsewhere = tw;
    CHECK(tw_check(&tw) && !tw_check(&elsewhere));
    tw_destroy(&tw);
}

/* ------------------------------------------------------------ proper use -- */

static void count_fired(timingwheel *wheel, tw_timer *timer)
{
    if (tw_now(wheel) < 5000)
        tw_start(wheel, timer, tw_after(tw_now(wheel), 700));
}

/* No assertion fails in correct use. */
static void use_properly(void)
{
    for (size_t i = 0; i < 64; i++) {
        tw_timer_init(&timers[i], count_fired);
        tw_start(&tw, &timers[i], 600 + i);
        tw_start(&tw, &timers[i], 600 + i / 2);
        if (i % 3 == 0)
            tw_postpone(&tw, &timers[i], 900);
        if (i % 5 == 0)
            tw_cancel(&tw, &timers[i]);
    }
    tw_advance_clock(&tw, 10000);
    CHECK(tw_count(&tw) == 0 && tw_check(&tw));
    tw_cancel(&tw, &timers[0]);
    tw_start(&other, &timers[0], 10);
    tw_destroy(&tw);
    tw_destroy(&other);
}

static void used_properly(void)
{
    sentence = NULL;
    tw_init(&tw, NULL);
    tw_init(&other, NULL);
    if (setjmp(caught) == 0)
        use_properly();
    CHECK(sentence == NULL);
}

static const tap_case cases[] = {
    {"a start on a second wheel while pending asserts", started_elsewhere},
    {"a postpone on a second wheel while pending asserts", postponed_elsewhere},
    {"a cancel on a second wheel asserts", cancelled_elsewhere},
    {"a start on a second wheel while overdue asserts",
     started_overdue_elsewhere},
    {"a start on a second wheel with timers in that bucket asserts",
     started_far_elsewhere},
    {"an overwritten pending timer, alone in its bucket, asserts",
     overwritten_alone},
    {"an overwritten pending timer among others asserts",
     overwritten_among_others},
    {"an overwritten pending timer asserts when its bucket is sorted",
     overwritten_and_sorted},
    {"an overwritten pending timer asserts when its bucket cascades",
     overwritten_and_cascaded},
    {"an overwritten pending timer asserts when it moves ahead",
     overwritten_and_moved_ahead},
    {"a pending timer initialised again asserts", initialised_again},
    {"a callback that advances its own wheel asserts", advanced_inside},
    {"a callback that polls its own wheel asserts", polled_inside},
    {"a callback that trims its own wheel asserts", trimmed_inside},
    {"a callback that destroys its own wheel asserts", destroyed_inside},
    {"a visitor that advances its own wheel asserts", advanced_in_visitor},
    {"a start before tw_init asserts", started_before_init},
    {"an advance before tw_init asserts", advanced_before_init},
    {"a start after tw_destroy asserts", started_after_destroy},
    {"an advance after tw_destroy asserts", advanced_after_destroy},
    {"a second tw_destroy asserts", destroyed_twice},
    {"a copied wheel asserts", copied},
    {"a moved wheel asserts", moved},
    {"tw_check of a moved wheel asserts", checked_where_it_went},
    {"proper use asserts nothing", used_properly},
};

TAP_MAIN(cases)
