/* callbacks.c - what a callback may do and may not do.
 *
 *     callbacks [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

static void act_drain(letter *self)
{
    self->status = (int)tw_drain(&tw, NULL, NULL);
}

static void act_advance(letter *self)
{
    self->status = (int)tw_advance_clock(&tw, self->value);
}

static void act_advance_limit(letter *self)
{
    self->status = (int)tw_advance_clock_limit(&tw, self->value, 5);
}

static void act_poll(letter *self)
{
    self->status = tw_poll(&tw, self->value) != NULL;
}

static void act_destroy(letter *self)
{
    (void)self;
    tw_destroy(&tw);
}

static void act_trim(letter *self)
{
    (void)self;
    tw_trim(&tw);
}

static void act_read_state(letter *self)
{
    self->status = (int)tw_timer_state(&self->other->timer);
}

static void act_count(letter *self)
{
    self->status = (int)tw_count(&tw);
}

static void cb_not_pending(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_read_state, 'a', 0);
    FIRES(10, "a");
    CHECK(named('a')->status == TW_FIRED);
    end();
}

static void cb_count(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 20);
    when_fired('a', act_count, 'a', 0);
    when_fired('c', act_count, 'a', 0);
    FIRES(20, "abc");
    CHECK(named('a')->status == 2);
    CHECK(named('c')->status == 0);
    end();
}

static void cb_restarts_itself(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_start_after, 'a', 10);
    FIRES(10, "a");
    CHECK(state_of('a') == TW_PENDING);
    FIRES(19, "");
    FIRES(45, "aaa");
    end();
}

static void cb_postpones_itself(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_postpone, 'a', 30); /* not pending: starts */
    FIRES(29, "a");
    FIRES(30, "a");
    end();
}

static void cb_cancels_itself(void)
{
    begin();
    start('a', 10);
    when_fired('a', act_cancel, 'a', 0);
    FIRES(10, "a");
    CHECK(named('a')->status == 0);
    CHECK(state_of('a') == TW_FIRED);
    end();
}

static void cb_cancels_same_tick(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 10);
    when_fired('a', act_cancel, 'b', 0);
    FIRES(10, "ac");
    CHECK(named('a')->status == 1);
    CHECK(state_of('b') == TW_CANCELLED);
    end();
}

static void cb_cancels_the_last(void)
{
    begin();
    start('a', 300);
    start('b', 300);
    when_fired('a', act_cancel, 'b', 0);
    FIRES(300, "a");
    CHECK(tw_count(&tw) == 0);
    end();
}

static void cb_cancels_a_later_tick(void)
{
    begin();
    start('a', 10);
    start('b', 11);
    start('c', 100000);
    when_fired('a', act_cancel, 'b', 0);
    FIRES(100000, "ac");
    end();
}

static void cb_cancels_what_has_fired(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    when_fired('b', act_cancel, 'a', 0);
    FIRES(10, "ab");
    CHECK(named('b')->status == 0);
    CHECK(state_of('a') == TW_FIRED);
    end();
}

/* Every pair of twelve timers in one tick: the first timer cancels the
 * second. */
static void cb_cancels_every_pair(void)
{
    for (char from = 'a'; from < 'a' + 12; from++)
        for (char to = 'a'; to < 'a' + 12; to++) {
            char expected[13] = "";
            begin();
            for (char name = 'a'; name < 'a' + 12; name++) {
                char text[2] = {name, '\0'};
                start(name, 300);
                if (name != to || to <= from)
                    strcat(expected, text);
            }
            when_fired(from, act_cancel, to, 0);
            FIRES(300, expected);
            end();
        }
}

/* Every pair again: the first timer starts the second for a later tick. */
static void cb_moves_every_pair(void)
{
    for (char from = 'a'; from < 'a' + 12; from++)
        for (char to = 'a'; to < 'a' + 12; to++) {
            char expected[15] = "", moved[2] = {to, '\0'};
            set_up(1, 0, 4, 0);
            for (char name = 'a'; name < 'a' + 12; name++) {
                char text[2] = {name, '\0'};
                start(name, 300);
                if (name != to || to <= from)
                    strcat(expected, text);
            }
            when_fired(from, act_start, to, 301);
            FIRES(300, expected);
            named(from)->act = NULL;
            FIRES(301, moved);
            end();
        }
}

static void cb_postpones_same_tick(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 10);
    when_fired('a', act_postpone, 'b', 20);
    FIRES(19, "ac");
    FIRES(20, "b");
    end();
}

static void cb_postpones_into_this_call(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 15);
    when_fired('a', act_postpone, 'b', 20);
    FIRES(30, "acb");
    CHECK(fired_at[2] == 20);
    end();
}

static void cb_postpones_to_the_same(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    when_fired('a', act_postpone, 'b', 10);
    FIRES(10, "ab");
    end();
}

static void cb_restarts_same_tick_for_now(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 10);
    when_fired('a', act_start, 'b', 10); /* started in a callback: next call */
    FIRES(50, "ac");
    FIRES(50, "b");
    end();
}

static void cb_pulls_a_later_one_forward(void)
{
    begin();
    start('a', 10);
    start('b', 100000);
    when_fired('a', act_start, 'b', 11);
    FIRES(20, "ab");
    FIRES(100000, "");
    end();
}

static void cb_pings_and_pongs(void)
{
    begin();
    start('a', 1);
    when_fired('a', act_start_after, 'b', 3);
    when_fired('b', act_start_after, 'a', 400);
    FIRES(1000, "ababab");
    end();
}

static void cb_refused(void (*act)(letter *), bool overdue)
{
    begin();
    start('a', overdue ? 0 : 10);
    start('b', 20);
    start('c', 100);
    when_fired('a', act, 'a', 50);
    named('a')->status = -99;
    FIRES(30, "ab"); /* the outer call goes on undisturbed */
    CHECK(named('a')->status == 0 || named('a')->status == -99);
    CHECK(tw_now(&tw) == 30);
    CHECK(tw_count(&tw) == 1);
    FIRES(100, "c");
    end();
}

static void cb_advance_refused(void)
{
    cb_refused(act_advance, false);
    cb_refused(act_advance, true);
    CHECK(named('a')->status == 0);
}

static void cb_limit_refused(void)
{
    cb_refused(act_advance_limit, false);
    cb_refused(act_advance_limit, true);
    CHECK(named('a')->status == 0);
}

static void cb_poll_refused(void)
{
    cb_refused(act_poll, false);
    cb_refused(act_poll, true);
    CHECK(named('a')->status == 0);
}

static void cb_destroy_refused(void)
{
    cb_refused(act_destroy, false);
    cb_refused(act_destroy, true);
}

static void cb_trim_refused(void)
{
    cb_refused(act_trim, false);
    cb_refused(act_trim, true);
}

static void cb_drains(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 11);
    start('d', 100000);
    when_fired('a', act_drain, 'a', 0);
    FIRES(20, "a");
    CHECK(named('a')->status == 3);
    CHECK(tw_count(&tw) == 0);
    CHECK(state_of('b') == TW_IDLE && state_of('d') == TW_IDLE);
    CHECK(tw_now(&tw) == 20);
    end();
}

/* Drains and then starts a timer for a time within the call. */
static void act_drain_and_start(letter *self)
{
    tw_drain(&tw, NULL, NULL);
    act_start(self);
}

static void cb_drains_and_starts(void)
{
    begin();
    start('a', 10);
    start('b', 10);
    start('c', 15);
    when_fired('a', act_drain_and_start, 'c', 17);
    FIRES(20, "ac");
    CHECK(fired_at[1] == 17);
    end();
}

static void cb_drains_overdue(void)
{
    begin_at(50);
    start('a', 1);
    start('b', 2);
    start('c', 60);
    when_fired('a', act_drain, 'a', 0);
    FIRES(100, "a");
    CHECK(named('a')->status == 2);
    end();
}

/* Timers freed by their callbacks. Each timer has separate memory. */
static size_t freed;

static void on_fire_free(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel;
    freed++;
    free(timer);
}

static void cb_frees_its_timer(void)
{
    begin();
    freed = 0;
    for (uint64_t i = 0; i < 300; i++) {
        tw_timer *timer = (tw_timer *)malloc(sizeof *timer);
        tw_timer_init(timer, on_fire_free);
        CHECK(tw_start(&tw, timer, i / 3 * 100) == TW_OK);
    }
    CHECK(tw_advance_clock(&tw, 20000) == 300);
    CHECK(freed == 300);
    end();
}

static void act_cancel_and_wipe(letter *self)
{
    tw_cancel(&tw, &self->other->timer);
    memset(&self->other->timer, 0xa5, sizeof self->other->timer);
}

static void cb_frees_another(void)
{
    begin();
    start('a', 10);
    start('b', 10); /* wiped, as if freed by its owner */
    start('c', 10);
    when_fired('a', act_cancel_and_wipe, 'b', 0);
    FIRES(10, "ac");
    end();
}

static void cb_none(void)
{
    tw_timer timer = TW_TIMER_INIT(NULL);
    begin();
    CHECK(tw_start(&tw, &timer, 10) == TW_OK);
    CHECK(tw_advance_clock(&tw, 10) == 1); /* counted, and only marked */
    CHECK(tw_timer_state(&timer) == TW_FIRED);
    end();
}

static timingwheel other_wheel;
static tw_timer other_timer;

static void act_advance_other(letter *self)
{
    self->status = (int)tw_advance_clock(&other_wheel, 100);
}

static void cb_advances_another_wheel(void)
{
    begin();
    tw_config config = {1, 0, 0, 0, &memory};
    tw_init(&other_wheel, &config);
    tw_timer_init(&other_timer, NULL);
    tw_start(&other_wheel, &other_timer, 50);
    start('a', 10);
    when_fired('a', act_advance_other, 'a', 0);
    FIRES(10, "a");
    CHECK(named('a')->status == 1);
    CHECK(tw_now(&other_wheel) == 100);
    tw_destroy(&other_wheel);
    end();
}

static uint64_t seen_next, seen_wait;

static void act_ask(letter *self)
{
    (void)self;
    seen_next = next();
    seen_wait = tw_wait(&tw, tw_now(&tw), 1000);
}

static void cb_asks_for_the_next(void)
{
    begin();
    start('a', 10);
    start('b', 25);
    when_fired('a', act_ask, 'a', 0);
    FIRES(10, "a");
    CHECK(seen_next == 25);
    CHECK(seen_wait == 15);
    end();
}

static void act_reserve(letter *self)
{
    self->status = tw_reserve(&tw, 1000, self->value);
}

static void cb_reserves(void)
{
    begin();
    start('a', 300);
    start('b', 300);
    start('c', 301);
    when_fired('a', act_reserve, 'a', 1000000);
    FIRES(400, "abc");
    CHECK(named('a')->status == TW_OK);
    end();
}

static const tap_case callbacks_cases[] = {
    {"callbacks: a timer is not pending while its callback runs",
     cb_not_pending},
    {"callbacks: tw_count leaves out the timer that fires", cb_count},
    {"callbacks: may start the timer that fired", cb_restarts_itself},
    {"callbacks: may postpone the timer that fired", cb_postpones_itself},
    {"callbacks: cancelling the timer that fired returns false",
     cb_cancels_itself},
    {"callbacks: a timer of the same tick cancelled does not fire",
     cb_cancels_same_tick},
    {"callbacks: the last timer of the bucket cancelled does not fire",
     cb_cancels_the_last},
    {"callbacks: a timer of a later tick cancelled does not fire",
     cb_cancels_a_later_tick},
    {"callbacks: cancelling a timer that has fired returns false",
     cb_cancels_what_has_fired},
    {"callbacks: any timer of a bucket may cancel any other one",
     cb_cancels_every_pair},
    {"callbacks: any timer of a bucket may restart any other one",
     cb_moves_every_pair},
    {"callbacks: may postpone a timer of the same tick",
     cb_postpones_same_tick},
    {"callbacks: a timer postponed to a time within the call fires in the call",
     cb_postpones_into_this_call},
    {"callbacks: a timer postponed to its own deadline stays in its tick",
     cb_postpones_to_the_same},
    {"callbacks: a timer of the same tick restarted for now fires in the next "
     "call",
     cb_restarts_same_tick_for_now},
    {"callbacks: a later timer restarted earlier fires earlier",
     cb_pulls_a_later_one_forward},
    {"callbacks: two timers may start each other", cb_pings_and_pongs},
    {"callbacks: tw_advance_clock is refused", cb_advance_refused},
    {"callbacks: tw_advance_clock_limit is refused", cb_limit_refused},
    {"callbacks: tw_poll is refused", cb_poll_refused},
    {"callbacks: tw_destroy is refused", cb_destroy_refused},
    {"callbacks: tw_trim is refused", cb_trim_refused},
    {"callbacks: may drain the wheel", cb_drains},
    {"callbacks: may drain the wheel and start a timer", cb_drains_and_starts},
    {"callbacks: may drain overdue timers", cb_drains_overdue},
    {"callbacks: may free the timer that fired", cb_frees_its_timer},
    {"callbacks: may cancel another timer and free it", cb_frees_another},
    {"callbacks: a timer without a callback is only marked fired", cb_none},
    {"callbacks: may advance another wheel", cb_advances_another_wheel},
    {"callbacks: may ask for the next deadline", cb_asks_for_the_next},
    {"callbacks: may reserve", cb_reserves},
};

TAP_MAIN(callbacks_cases)
