/* visiting.c - tw_foreach and tw_drain.
 *
 *     visiting [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/letters.h"

static char visited[64];

static void visit_log(tw_timer *timer, void *context)
{
    char name[2] = {TW_OWNER(timer, letter, timer)->name, '\0'};
    strcat(visited, name);
    ++*(int *)context;
}

static bool visited_all(const char *names)
{
    for (const char *name = names; *name != '\0'; name++)
        if (strchr(visited, *name) == NULL)
            return false;
    return strlen(visited) == strlen(names);
}

/* Starts timers in three wheels, an overdue timer and a postponed timer. */
static void start_some(void)
{
    static const uint64_t deadlines[] = {1, 60, 300, 300, 70000, 99};
    visited[0] = '\0';
    begin_at(50);
    for (int i = 0; i < 6; i++)
        start((char)('a' + i), deadlines[i]);
    postpone('f', 500);
}

static void foreach_visits_all(void)
{
    int calls = 0;
    start_some();
    remember();
    CHECK(tw_foreach(&tw, visit_log, &calls) == 6);
    CHECK(calls == 6);
    CHECK(visited_all("abcdef"));
    CHECK(unchanged());
    end();
}

/* The first and the last bucket of two wheels, of every size. */
static void foreach_to_the_last_bucket(void)
{
    for (uint64_t size = 2; size <= 4096; size *= 2) {
        int calls = 0;
        visited[0] = '\0';
        set_up(1, 0, (uint32_t)size, 0);
        start('a', size - 1);
        start('b', size);
        start('c', size * size - 1);
        start('d', size * size);
        CHECK(tw_foreach(&tw, visit_log, &calls) == 4);
        CHECK(visited_all("abcd"));
        tw_destroy(&tw);
        for (char name = 'a'; name <= 'd'; name++)
            CHECK(state_of(name) == TW_IDLE);
        CHECK(memory.blocks == 0);
    }
}

static void foreach_of_nothing(void)
{
    int calls = 0;
    begin();
    CHECK(tw_foreach(&tw, visit_log, &calls) == 0);
    CHECK(calls == 0);
    end();
}

static void visit_cancel(tw_timer *timer, void *context)
{
    *(int *)context += tw_cancel(&tw, timer);
}

static void foreach_cancels_all(void)
{
    int cancelled = 0;
    start_some();
    CHECK(tw_foreach(&tw, visit_cancel, &cancelled) == 6);
    CHECK(cancelled == 6);
    CHECK(tw_count(&tw) == 0);
    CHECK(state_of('a') == TW_CANCELLED && state_of('e') == TW_CANCELLED);
    FIRES(100000, "");
    end();
}

static void visit_cancel_odd(tw_timer *timer, void *context)
{
    if (TW_OWNER(timer, letter, timer)->name % 2 != 0)
        visit_cancel(timer, context);
}

static void foreach_cancels_some(void)
{
    int cancelled = 0;
    begin();
    for (char name = 'a'; name <= 'z'; name++)
        start(name, 700);
    CHECK(tw_foreach(&tw, visit_cancel_odd, &cancelled) == 26);
    CHECK(cancelled == 13);
    FIRES(700, "bdfhjlnprtvxz");
    end();
}

/* Tries every call that is forbidden to a visitor of tw_foreach. */
static void visit_misbehave(tw_timer *timer, void *context)
{
    int calls = 0;
    CHECK(tw_start(&tw, timer, 10) == TW_EBUSY);
    CHECK(tw_start(&tw, timer_of('z'), 10) == TW_EBUSY);
    CHECK(tw_start_within(&tw, timer_of('z'), 10, 20) == TW_EBUSY);
    CHECK(tw_postpone(&tw, timer_of('z'), 10) == TW_EBUSY);
    CHECK(tw_advance_clock(&tw, 1000000) == 0);
    CHECK(tw_advance_clock_limit(&tw, 1000000, 9) == 0);
    CHECK(tw_poll(&tw, 1000000) == NULL);
    CHECK(tw_foreach(&tw, visit_log, &calls) == 0);
    CHECK(tw_drain(&tw, visit_log, &calls) == 0);
    CHECK(calls == 0);
    tw_trim(&tw);
    tw_destroy(&tw);
    ++*(int *)context;
}

static void foreach_refuses(void)
{
    int calls = 0;
    start_some();
    remember();
    CHECK(tw_foreach(&tw, visit_misbehave, &calls) == 6);
    CHECK(calls == 6);
    CHECK(unchanged());
    CHECK(start('z', 10) == TW_OK); /* and afterwards all is as ever */
    FIRES(60, "azb");
    end();
}

static void visit_reserve(tw_timer *timer, void *context)
{
    (void)timer;
    CHECK(tw_reserve(&tw, 100, UINT64_MAX) == TW_OK);
    ++*(int *)context;
}

static void foreach_may_reserve(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_foreach(&tw, visit_reserve, &calls) == 6);
    CHECK(calls == 6);
    CHECK(stats().wheels == 8);
    end();
}

static void act_foreach(letter *self)
{
    int calls = 0;
    self->status = (int)tw_foreach(&tw, visit_log, &calls);
}

static void foreach_in_a_callback(void)
{
    start_some();
    when_fired('b', act_foreach, 'b', 0);
    FIRES(60, "ab");
    CHECK(named('b')->status == 4);
    CHECK(visited_all("cdef"));
    end();
}

static void drain_takes_all(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_drain(&tw, visit_log, &calls) == 6);
    CHECK(calls == 6);
    CHECK(visited_all("abcdef"));
    CHECK(tw_count(&tw) == 0);
    for (char name = 'a'; name <= 'f'; name++)
        CHECK(state_of(name) == TW_IDLE);
    CHECK(tw_drain(&tw, visit_log, &calls) == 0);
    FIRES(100000, "");
    end();
}

static void drain_without_a_visitor(void)
{
    start_some();
    CHECK(tw_drain(&tw, NULL, NULL) == 6);
    CHECK(tw_count(&tw) == 0);
    CHECK(!tw_next_deadline(&tw, &(uint64_t){0}));
    end();
}

static void visit_idle(tw_timer *timer, void *context)
{
    CHECK(tw_timer_state(timer) == TW_IDLE);
    CHECK(tw_count(&tw) == (size_t)-- * (int *)context);
    CHECK(tw_check(&tw));
}

static void drain_idle_before_visit(void)
{
    int left = 6;
    start_some();
    CHECK(tw_drain(&tw, visit_idle, &left) == 6);
    CHECK(left == 0);
    end();
}

static void visit_start_again(tw_timer *timer, void *context)
{
    ++*(int *)context;
    CHECK(tw_start(&tw, timer, tw_deadline(timer)) == TW_OK);
}

static void drain_and_start_again(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_drain(&tw, visit_start_again, &calls) == 6);
    CHECK(calls == 6); /* none is visited twice */
    CHECK(tw_count(&tw) == 6);
    CHECK(tw_check(&tw));
    clear_log();
    CHECK(tw_advance_clock(&tw, 70000) == 6);
    CHECK(fired[0] == 'a' && fired[1] == 'b' && fired[5] == 'e');
    end();
}

static void visit_free(tw_timer *timer, void *context)
{
    ++*(int *)context;
    free(timer);
}

static void drain_frees(void)
{
    int calls = 0;
    begin();
    for (uint64_t i = 0; i < 100; i++) {
        tw_timer *timer = (tw_timer *)malloc(sizeof *timer);
        tw_timer_init(timer, NULL);
        tw_start(&tw, timer, i * i * 10);
    }
    CHECK(tw_drain(&tw, visit_free, &calls) == 100);
    CHECK(calls == 100);
    end();
}

/* The first visited timer's visitor cancels all remaining timers. */
static void visit_cancel_rest(tw_timer *timer, void *context)
{
    (void)timer;
    ++*(int *)context;
    for (char name = 'a'; name <= 'f'; name++)
        cancel(name);
}

static void drain_visitor_cancels(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_drain(&tw, visit_cancel_rest, &calls) == 1);
    CHECK(calls == 1);
    CHECK(tw_count(&tw) == 0);
    end();
}

static void visit_advance(tw_timer *timer, void *context)
{
    (void)timer;
    ++*(int *)context;
    CHECK(tw_advance_clock(&tw, 1000000) == 0);
    CHECK(tw_poll(&tw, 1000000) == NULL);
    tw_trim(&tw);
    tw_destroy(&tw);
}

static void drain_refuses(void)
{
    int calls = 0;
    start_some();
    CHECK(tw_drain(&tw, visit_advance, &calls) == 6);
    CHECK(calls == 6);
    CHECK(tw_now(&tw) == 50);
    CHECK(start('a', 60) == TW_OK);
    FIRES(60, "a");
    end();
}

static void drain_at_max_pending(void)
{
    int calls = 0;
    set_up(1, 0, 0, 3);
    start('a', 5);
    start('b', 5);
    start('c', 5);
    CHECK(tw_drain(&tw, visit_start_again, &calls) == 3);
    CHECK(tw_count(&tw) == 3);
    CHECK(start('d', 5) == TW_EFULL);
    end();
}

static void visit_cancel_and_start(tw_timer *timer, void *context)
{
    (void)context;
    CHECK(tw_cancel(&tw, timer));
    CHECK(tw_start(&tw, timer, 10) == TW_EBUSY);
}

static void foreach_cancels_the_last(void)
{
    begin();
    start('a', 10);
    CHECK(tw_foreach(&tw, visit_cancel_and_start, NULL) == 1);
    CHECK(tw_count(&tw) == 0);
    end();
}

static void visit_no_deadline(tw_timer *timer, void *context)
{
    uint64_t deadline;
    (void)context;
    CHECK(!tw_is_pending(timer));
    CHECK(!tw_next_deadline(&tw, &deadline));
    CHECK(tw_wait(&tw, 0, 99) == 99);
}

static void drain_leaves_no_deadline(void)
{
    set_up(1, 0, 16, 0);
    for (char name = 'a'; name <= 'e'; name++)
        start(name, (uint64_t)(name - 'a') * 30);
    CHECK(tw_drain(&tw, visit_no_deadline, NULL) == 5);
    end();
}

static void visit_start_overdue(tw_timer *timer, void *context)
{
    (void)context;
    if (timer == timer_of('a')) {
        start('z', 60);
        CHECK(next() == 60);
    }
}

/* The visitor starts an overdue timer. Drained timers with earlier deadlines
 * still wait for the visitor. */
static void drain_shows_new_deadline(void)
{
    begin_at(100);
    start('a', 5);
    start('b', 7);
    start('c', 200);
    CHECK(tw_drain(&tw, visit_start_overdue, NULL) == 3);
    FIRES(100, "z");
    end();
}

static void visit_start_due(tw_timer *timer, void *context)
{
    (void)context;
    if (timer == timer_of('c')) {
        start('d', 80);
        start('e', 5);
    }
}

static void act_drain_in_call(letter *self)
{
    (void)self;
    CHECK(tw_drain(&tw, visit_start_due, NULL) == 1);
}

/* A call with a limit has left timer b. In the next call, the callback of b
 * drains the wheel. The visitor starts a timer that is due in that call, and an
 * overdue timer, which waits for the next call. */
static void drain_in_a_later_call(void)
{
    begin();
    start('a', 60);
    start('b', 60);
    FIRES_AT_MOST(1, 60, "a");
    start('c', 5);
    when_fired('b', act_drain_in_call, 'b', 0);
    FIRES(100, "bd");
    FIRES(100, "e");
    end();
}

static const tap_case visiting_cases[] = {
    {"tw_foreach: visits every pending timer once", foreach_visits_all},
    {"tw_foreach: visits the first bucket and the last",
     foreach_to_the_last_bucket},
    {"tw_foreach: visits nothing if nothing is pending", foreach_of_nothing},
    {"tw_foreach: a visitor may cancel its timer", foreach_cancels_all},
    {"tw_foreach: a visitor may cancel every other timer",
     foreach_cancels_some},
    {"tw_foreach: a visitor's start is TW_EBUSY, other calls are refused",
     foreach_refuses},
    {"tw_foreach: a visitor may reserve", foreach_may_reserve},
    {"tw_foreach: works in a callback", foreach_in_a_callback},
    {"tw_drain: removes every timer", drain_takes_all},
    {"tw_drain: works without a visitor", drain_without_a_visitor},
    {"tw_drain: a timer is idle before the visit", drain_idle_before_visit},
    {"tw_drain: a timer that its visitor starts is not visited twice",
     drain_and_start_again},
    {"tw_drain: a visitor may free its timer", drain_frees},
    {"tw_drain: a visitor may cancel other timers", drain_visitor_cancels},
    {"tw_drain: a visitor may not advance, poll, trim or destroy",
     drain_refuses},
    {"tw_drain: makes room below max_pending", drain_at_max_pending},
    {"tw_foreach: a visitor that cancels the last timer cannot start it",
     foreach_cancels_the_last},
    {"tw_drain: a visitor sees no deadline of drained timers",
     drain_leaves_no_deadline},
    {"tw_drain: a timer that a visitor starts can fire in the same call",
     drain_in_a_later_call},
    {"tw_drain: a visitor sees the deadline of a timer that it starts",
     drain_shows_new_deadline},
};

TAP_MAIN(visiting_cases)
