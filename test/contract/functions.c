/* functions.c - init, NULL arguments and statuses, beyond
 * functions.script.
 *
 *     functions [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>

/* Rules are judged by TW_ASSERT alone. */
static size_t broken_rules;
#define TW_DEBUG
#undef TW_ASSERT
#define TW_ASSERT(expr) (void)(broken_rules += !(expr))

static size_t called_back;
#define TW_CALL(tw, timer) (called_back++, (timer)->callback((tw), (timer)))

#include "cases.h"

/* ----------------------------------- init, NULL and no timingwheel --- */

static void init_defaults(void)
{
    static const tw_config zero;
    for (int i = 0; i < 2; i++) {
        timingwheel wheel;
        tw_timer timers[20];
        memset((void *)&wheel, 0xa5, sizeof wheel); /* whatever was there */
        CHECK(tw_init(&wheel, i == 0 ? NULL : &zero) == TW_OK);
        CHECK(tw_now(&wheel) == 0 && tw_count(&wheel) == 0);
        for (uint64_t j = 0; j < 20; j++) {
            tw_timer_init(&timers[j], NULL);
            CHECK_EQUAL(tw_start(&wheel, &timers[j], j * j),
                        TW_OK); /* no limit */
        }
        CHECK_EQUAL(tw_advance_clock(&wheel, 100), 11); /* a tick is one unit */
        CHECK(tw_check(&wheel));
        tw_destroy(&wheel);
        CHECK_EQUAL(heap_by_default.blocks, 0);
    }
}

static void bad_wheel_sizes(void)
{
    static const uint32_t sizes[] = {
        1, 3, 5, 7, 100, 4095, 4097, 8192, 6000, 255, 1U << 31U, UINT32_MAX};
    set_up();
    RUN("start a 5");
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        tw_config config = {1, 0, sizes[i], 0, memory};
        CHECK_EQUAL(tw_init(tw, &config), TW_EINVAL);
    }
    RUN("advance 5: a");
    tear_down();
}

static void count_line(const char *line, void *lines)
{
    *(size_t *)lines += strstr(line, "no timingwheel") == line;
}

/* NULL, zero memory and a destroyed timingwheel refuse every call. */
static void refuses(timingwheel *wheel)
{
    uint64_t deadline = 42;
    static const tw_stats none;
    tw_stats s;
    size_t calls = memory->calls, lines = 0;
    script_wheel = wheel;
    RUN("start z 5 = TW_EINVAL; within z 5 9 = TW_EINVAL; reserve 5 = "
        "TW_EINVAL; "
        "start_after z 5 9 = TW_EINVAL; cancel z = false; state(z) = idle");
    RUN("postpone z 5 = TW_EINVAL; postpone_after z 5 9 = TW_EINVAL");
    RUN("advance 5; limit 5 5; poll 5; foreach; drain; trim; destroy");
    script_wheel = tw;
    CHECK(!tw_next_deadline(wheel, &deadline) && deadline == 42);
    CHECK_EQUAL(tw_wait(wheel, 5, 77), 77);
    CHECK(tw_now(wheel) == 0 && tw_count(wheel) == 0);
    CHECK(tw_find(wheel, script_matches, NULL) == NULL);
    tw_dump(wheel, count_line, &lines);
    CHECK_EQUAL(lines, 1);
    memset(&s, 1, sizeof s);
    tw_get_stats(wheel, &s);
    CHECK_EQUAL(memcmp(&s, &none, sizeof s), 0);
    CHECK(!tw_check(wheel) && memory->calls == calls);
}

static void no_wheel_refuses(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    set_up();
    CHECK(tw_init(NULL, NULL) == TW_EINVAL);
    refuses(NULL);
    CHECK_EQUAL(tw_start(tw, &timer, 5), TW_OK);
    CHECK(!tw_cancel(NULL, &timer) && tw_cancel(tw, &timer));
    RUN("start a 10, b 70000, c 0; advance 20: c a");
    tw_destroy(tw); /* the wheel forgets its clock and its timers */
    CHECK_EQUAL(memory->blocks, 0);
    refuses(tw);
    memset((void *)tw, 0, sizeof *tw);
    refuses(tw);
}

static void null_timer_or_result(void)
{
    uint64_t next;
    set_up();
    static timingwheel before;
    RUN("foreach; reserve 5; start a 5; wait(0, 9) = 5");
    memcpy((void *)&before, (void *)tw, sizeof *tw);
    RUN("start none 5 = TW_EINVAL; within none 5 9 = TW_EINVAL");
    RUN("postpone none 5 = TW_EINVAL; start_after none 5 9 = TW_EINVAL");
    RUN("postpone_after none 5 9 = TW_EINVAL; cancel none = false");
    RUN("is_pending(none) = false; state(none) = idle; deadline(none) = 0");
    RUN("remaining(none, 5) = 0; move none z; move a none; move a a");
    RUN("postpone a 5; line 1: 1 pending, 0 fired, 0 cascaded");
    tw_timer_init(NULL, NULL);
    tw_move(NULL, timer_of('a'), timer_of('z'));
    CHECK(tw_is_pending(timer_of('a')));
    CHECK(!tw_next_deadline(tw, NULL));
    CHECK(tw_next_period(100, 10, 125, NULL) == 130);
    CHECK(tw_foreach(tw, NULL, NULL) == 0);
    CHECK(tw_find(tw, NULL, NULL) == NULL);
    CHECK(tw_find(tw, script_matches, timer_of('a')) == timer_of('a'));
    tw_get_stats(tw, NULL);
    tw_dump(tw, NULL, NULL);
    CHECK_EQUAL(memcmp((void *)&before, (void *)tw, sizeof *tw), 0);
    /* With valid arguments, so that each argument alone makes a difference. */
    tw_move(tw, timer_of('a'), timer_of('z'));
    tw_trim(tw);
    CHECK(stats().wheels == 1 && tw_remaining(timer_of('z'), 2) == 3);
    CHECK(tw_next_deadline(tw, &next) && next == 5);
    CHECK(tw_drain(tw, NULL, NULL) == 1 && tw_count(tw) == 0);
    RUN("state(z) = idle");
    tear_down();
}

/* ------------------------------------------------------------- timers --- */

static size_t of_owner[2];

static void on_other(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    of_owner[1] += 100;
}

static void timer_initialisers(void)
{
    static const tw_timer zero;
    tw_timer timer = zero, other = TW_TIMER_INIT(on_other);
    set_up();
    of_owner[1] = 0;
    CHECK(tw_timer_state(&timer) == TW_IDLE && !tw_is_pending(&timer));
    CHECK(tw_deadline(&timer) == 0 && !tw_cancel(tw, &timer));
    CHECK(tw_start(tw, &timer, 5) == TW_OK && tw_poll(tw, 5) == &timer);
    CHECK(tw_timer_state(&other) == TW_IDLE && tw_deadline(&other) == 0);
    CHECK_EQUAL(tw_start(tw, &other, 6), TW_OK);
    CHECK(tw_advance_clock(tw, 6) == 1 && of_owner[1] == 100);
    tw_timer_init(&other, on_other); /* a fired timer becomes idle */
    CHECK_EQUAL(tw_timer_state(&other), TW_IDLE);
    CHECK_EQUAL(tw_deadline(&other), 0);
    tear_down();
}

/* Tells the owner by the callback, and takes another one for the next start. */
static void visit_owner(tw_timer *timer, void *context)
{
    (void)context;
    CHECK(timer->callback == script_on_fire || timer->callback == on_other);
    of_owner[timer->callback == on_other]++;
    timer->callback = on_other;
}

static void callback_is_public(void)
{
    set_up();
    of_owner[0] = of_owner[1] = 0;
    tw_timer_init(timer_of('y'), on_other);
    RUN("start a 5, b 5, c 6, d 70000, y 6");
    tw_move(tw, timer_of('y'), timer_of('z')); /* z had another callback */
    CHECK(tw_cancel(tw, timer_of('b')));
    timer_of('b')->callback = NULL;
    CHECK(tw_drain(tw, visit_owner, NULL) == 4);
    CHECK(of_owner[0] == 3 && of_owner[1] == 1);
    RUN("start a 5, b 5, c 6, d 70000");
    CHECK(tw_advance_clock(tw, 6) == 3 && script.logged == 0);
    RUN("state(b) = fired");
    CHECK_EQUAL(of_owner[1], 201);
    tear_down();
}

static void only_callbacks_are_called(void)
{
    set_up();
    tw_timer_init(timer_of('y'), NULL);
    RUN("start a 5, b 5, y 5, c 6, d 7, e 8");
    called_back = 0;
    RUN("poll 5: a; cancel e");
    CHECK_EQUAL(called_back, 0);
    RUN("advance 6 = 3");
    CHECK_EQUAL(called_back, 2);
    RUN("state(y) = fired; drain: d");
    CHECK_EQUAL(called_back, 2);
    tear_down();
}

/* What prints a hint is no broken rule. */
static void mistakes_break_no_rule(void)
{
    set_up_with(1, 1000, 0, 0);
    size_t broken = broken_rules;
    tw_timer_init(timer_of('y'), NULL);
    RUN("start a 30, b 999, c 2000; postpone c 5; start y 0");
    RUN("advance 1500 = 4; advance 1499 = 0; poll 7");
    CHECK_EQUAL(broken_rules, broken);
    CHECK(tw_start(tw, NULL, 5) == TW_EINVAL && broken_rules > broken);
    tear_down();
}

static void strerror_sentences(void)
{
    static const char *const words[] = {"Done", "destroyed", "No memory",
                                        "cancel one", "tw_foreach"};
    static const int others[] = {1, -5, 42, INT_MAX, INT_MIN};
    for (int i = 0; i < 5; i++) {
        CHECK(strstr(tw_strerror(-i), words[i]) != NULL);
        CHECK(strstr(tw_strerror(others[i]), "Not a status") != NULL);
    }
}

static const tap_case cases[] = {
    {"tw_init: NULL and zeros mean the defaults, in any memory", init_defaults},
    {"tw_init: any other size is refused", bad_wheel_sizes},
    {"NULL, zero memory and a destroyed timingwheel refuse every call",
     no_wheel_refuses},
    {"NULL for a timer, a result or a visitor does nothing",
     null_timer_or_result},
    {"tw_timer: {0}, TW_TIMER_INIT and tw_timer_init", timer_initialisers},
    {"tw_timer: the callback is public", callback_is_public},
    {"TW_CALL: is for callbacks alone", only_callbacks_are_called},
    {"TW_ASSERT: what prints a hint breaks no rule", mistakes_break_no_rule},
    {"tw_strerror: returns a sentence for each status", strerror_sentences},
};

TAP_MAIN(cases)
