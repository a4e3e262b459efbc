// exceptions.cpp - callbacks and visitors that throw. The exception passes
// through the call, the timer counts as fired or visited, and the call counts
// as stopped after the timer. The next call finishes it. throwing.cpp in
// test/search throws at random.
//
//     exceptions [CASE...]
//
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string>

#define TW_DEBUG

#include "../lib/cases.h"

namespace
{

void act_throw(item *self)
{
    throw self->name;
}

void visit(tw_timer *timer, void *context)
{
    item *self = TW_OWNER(timer, item, timer);
    CHECK(context == &tw);
    note_fired(timer);
    if (self->act == act_throw)
        throw self->name;
}

// Starts a timer that may throw when it fires or is visited.
void start(char name, std::uint64_t deadline, bool throws)
{
    CHECK(::start(name, deadline) == TW_OK);
    named(name)->act = throws ? act_throw : nullptr;
}

enum call { ADVANCE, FOREACH, DRAIN };

// Makes a call that must throw the name `thrown`, or 0 for none; true if the
// timers of `expected` fired or were visited.
bool does(call what, std::uint64_t now, std::size_t limit, char thrown,
          const std::string &expected)
{
    char got = 0;
    fired_count = 0;
    fired[0] = '\0';
    try {
        if (what == ADVANCE)
            tw_advance_clock_limit(&tw, now, limit);
        else
            (what == FOREACH ? tw_foreach : tw_drain)(&tw, visit, &tw);
    } catch (char name) {
        got = name;
    }
    return has_fired(expected.c_str(), __LINE__) && got == thrown &&
           tw_check(&tw);
}

bool advances(std::uint64_t now, char thrown, const std::string &expected)
{
    return does(ADVANCE, now, SIZE_MAX, thrown, expected);
}

// A call that fires two timers of one tick in three buckets; the timers before
// and behind the one that throws fire once each, and in order.
void each_place_throws()
{
    static const std::uint64_t deadlines[] = {0, 0, 10, 10, 300, 300, 70000};
    for (char bad = 'a'; bad <= 'g'; bad++) {
        const std::string all = "abcdefg";
        const std::size_t stop = static_cast<std::size_t>(bad - 'a') + 1;
        set_up();
        for (char name = 'a'; name <= 'g'; name++)
            start(name, deadlines[name - 'a'], name == bad);
        CHECK(advances(70000, bad, all.substr(0, stop)));
        CHECK(tw_count(&tw) == all.size() - stop);
        CHECK(state_of(bad) == TW_FIRED);
        CHECK(tw_now(&tw) == deadlines[bad - 'a']);
        CHECK(tw_wait(&tw, 70000, 99) == 0); // the call is unfinished
        start('z', 0, false);                // for the next call
        CHECK(advances(70000, 0, all.substr(stop) + "z"));
        CHECK(tw_now(&tw) == 70000 && tw_count(&tw) == 0);
        CHECK(stats().fired == 8);
        tear_down();
    }
}

void every_timer_throws()
{
    set_up();
    for (char name = 'a'; name <= 'c'; name++)
        start(name, 5, true);
    start('d', 0, false);
    CHECK(advances(10, 'a', "da"));
    CHECK(advances(10, 'b', "b"));
    CHECK(tw_poll(&tw, 10) == timer_of('c') && tw_poll(&tw, 10) == nullptr);
    CHECK(tw_now(&tw) == 10);
    tear_down();
}

void with_limits()
{
    set_up();
    for (char name = 'a'; name <= 'f'; name++)
        start(name, 5, name == 'b');
    CHECK(does(ADVANCE, 10, 5, 'b', "ab"));
    CHECK(does(ADVANCE, 10, 2, 0, "cd"));
    CHECK(cancel('e'));
    tear_down(); // the call is unfinished
}

void act_restart_and_throw(item *self)
{
    const bool is_first = state_of('b') == TW_IDLE;
    ::start(self->name, tw_now(&tw) + 10);
    ::start('b', tw_now(&tw));
    if (is_first)
        throw self->name;
}

void restarts_then_throws()
{
    set_up();
    ::start('a', 5);
    named('a')->act = act_restart_and_throw;
    CHECK(advances(16, 'a', "a") && tw_count(&tw) == 2);
    CHECK(advances(16, 0, "ab") && tw_is_pending(timer_of('a')));
    tear_down();
}

void foreach_throws()
{
    set_up();
    for (char name = 'a'; name <= 'd'; name++)
        start(name, 10, name == 'b');
    CHECK(does(FOREACH, 0, 0, 'b', "ab") && tw_count(&tw) == 4);
    named('b')->act = nullptr;
    start('e', 10, false); // starts are allowed again
    CHECK(does(FOREACH, 0, 0, 0, "abcde"));
    CHECK(advances(10, 0, "abcde"));
    tear_down();
}

// The next tw_drain visits the timers that are left.
void drain_throws()
{
    set_up();
    for (char name = 'a'; name <= 'd'; name++)
        start(name, 10, name == 'b');
    CHECK(does(DRAIN, 0, 0, 'b', "ab") && tw_count(&tw) == 2);
    CHECK(!tw_is_pending(timer_of('b')));
    start('e', 10, false);
    CHECK(tw_foreach(&tw, visit, &tw) == 3 && tw_drain(&tw, visit, &tw) == 3);
    CHECK(tw_count(&tw) == 0);
    tear_down();
}

// A timer that awaits its visit wakes nobody.
void visit_and_ask(tw_timer *timer, void *context)
{
    std::uint64_t next = 0;
    CHECK(!tw_next_deadline(&tw, &next));
    visit(timer, context);
}

// The timers that are left are pending, and fire in time, in any place within
// their tick.
void drain_throws_then_fires()
{
    static const std::uint64_t deadlines[] = {0, 10, 10, 300, 300, 70000};
    std::uint64_t next = 0;
    set_up();
    for (char name = 'a'; name <= 'f'; name++)
        start(name, deadlines[name - 'a'], true);
    try {
        tw_drain(&tw, visit_and_ask, &tw);
        CHECK(false);
    } catch (char name) {
        CHECK(!tw_is_pending(timer_of(name)) && tw_count(&tw) == 5);
    }
    start('g', 10, false);
    for (item &each : items)
        each.act = nullptr;
    while (tw_next_deadline(&tw, &next)) {
        std::uint64_t last = tw_now(&tw);
        fired_count = 0;
        tw_advance_clock(&tw, next);
        for (std::size_t i = 0; i < fired_count; i++) {
            std::uint64_t deadline = tw_deadline(timer_of(fired[i]));
            CHECK(deadline == next || (deadline <= last && last == next));
        }
    }
    CHECK(tw_count(&tw) == 0 && tw_now(&tw) >= 300);
    tear_down();
}

void act_drain(item *)
{
    tw_drain(&tw, visit, &tw);
}

void drain_in_a_callback_throws()
{
    set_up();
    ::start('a', 10);
    named('a')->act = act_drain;
    start('b', 10, true);
    start('c', 20, false);
    CHECK(advances(30, 'b', "ab"));
    start('d', 25, false);
    CHECK(tw_drain(&tw, visit, &tw) == 2);
    CHECK(advances(30, 0, "") && tw_now(&tw) == 30);
    tear_down();
}

void act_drain_and_catch(item *)
{
    try {
        tw_drain(&tw, visit, &tw);
        CHECK(false);
    } catch (char) {
    }
}

// The timers that are not visited fire in the call that reaches them.
void drain_throws_inside_a_callback()
{
    set_up();
    ::start('a', 10);
    named('a')->act = act_drain_and_catch;
    start('b', 20, true);
    start('c', 25, false);
    start('d', 90, false);
    CHECK(advances(30, 0, "abc") && tw_count(&tw) == 1);
    CHECK(advances(90, 0, "d"));
    tear_down();
}

const tap_case cases[] = {
    {"throw: at each place of a call, the next call fires the rest",
     each_place_throws},
    {"a call in which every timer throws", every_timer_throws},
    {"limited calls, a cancel in between, and tw_destroy", with_limits},
    {"a callback that starts timers, then throws", restarts_then_throws},
    {"a visitor of tw_foreach throws", foreach_throws},
    {"a visitor of tw_drain throws, the next tw_drain visits the rest",
     drain_throws},
    {"a visitor of tw_drain throws, the rest fires in time",
     drain_throws_then_fires},
    {"a visitor of tw_drain throws through a callback",
     drain_in_a_callback_throws},
    {"a visitor of tw_drain throws inside a callback that catches",
     drain_throws_inside_a_callback},
};

} // namespace

TAP_MAIN(cases)
