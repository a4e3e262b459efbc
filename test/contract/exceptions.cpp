// exceptions.cpp - callbacks and visitors that throw. The exception passes
// through the call, the timer counts as fired or visited, and the call counts
// as stopped after the timer. The next call finishes it. throwing.cpp in
// test/search throws at random, also in nested and in limited calls.
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

// Makes a call that must throw the name `thrown`, or 0 for none; true if the
// timers of `expected` fired or were visited.
template <typename Call>
bool does(Call call, char thrown, const std::string &expected)
{
    char got = 0;
    fired_count = 0;
    fired[0] = '\0';
    try {
        call();
    } catch (char name) {
        got = name;
    }
    return has_fired(expected.c_str(), __LINE__) && got == thrown &&
           tw_check(&tw);
}

bool advances(std::uint64_t now, char thrown, const std::string &expected)
{
    return does([=] { tw_advance_clock(&tw, now); }, thrown, expected);
}

bool visits_each(char thrown, const std::string &expected)
{
    return does([] { tw_foreach(&tw, visit, &tw); }, thrown, expected);
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

void foreach_throws()
{
    set_up();
    for (char name = 'a'; name <= 'd'; name++)
        start(name, 10, name == 'b');
    CHECK(visits_each('b', "ab") && tw_count(&tw) == 4);
    named('b')->act = nullptr;
    start('e', 10, false); // starts are allowed again
    CHECK(visits_each(0, "abcde"));
    CHECK(advances(10, 0, "abcde"));
    tear_down();
}

// The next tw_drain visits the timers that are left.
void drain_throws()
{
    set_up();
    for (char name = 'a'; name <= 'd'; name++)
        start(name, 10, name == 'b');
    CHECK(does([] { tw_drain(&tw, visit, &tw); }, 'b', "ab") &&
          tw_count(&tw) == 2);
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

const tap_case cases[] = {
    {"throw: at each place of a call, the next call fires the rest",
     each_place_throws},
    {"a visitor of tw_foreach throws", foreach_throws},
    {"a visitor of tw_drain throws, the next tw_drain visits the rest",
     drain_throws},
    {"a visitor of tw_drain throws, the rest fires in time",
     drain_throws_then_fires},
};

} // namespace

TAP_MAIN(cases)
