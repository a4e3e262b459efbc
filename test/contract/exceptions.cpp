// exceptions.cpp - callbacks and visitors that throw. The exception passes
// through the call, the timer counts as fired or visited, and the call counts
// as stopped after the timer. The next call finishes it.
//
//     exceptions [CASE...]
//
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#define TW_STATIC
#include "../../timingwheel.h"

namespace
{
void run_callback(timingwheel *tw, tw_timer *timer);
}

#define TW_CALL(tw, timer) run_callback((tw), (timer))
#define TW_DEBUG
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

namespace
{

struct item {
    tw_timer timer;
    char name;
    bool throws; // when the timer fires or is visited
};

timingwheel tw;
item items[26];
std::string fired;         // names of timers fired or visited
bool catches;              // TW_CALL catches exceptions
std::exception_ptr caught; // the last exception that TW_CALL caught

// Calls a callback. May catch the exception, for the loop to throw later.
void run_callback(timingwheel *wheel, tw_timer *timer)
{
    if (!catches) {
        timer->callback(wheel, timer);
        return;
    }
    try {
        timer->callback(wheel, timer);
    } catch (...) {
        caught = std::current_exception();
    }
}

void note(const tw_timer *timer)
{
    const item *self = TW_OWNER(timer, const item, timer);
    fired += self->name;
    if (self->throws)
        throw self->name;
}

void on_fire(timingwheel *wheel, tw_timer *timer)
{
    CHECK(wheel == &tw && tw_timer_state(timer) == TW_FIRED);
    note(timer);
}

void visit(tw_timer *timer, void *context)
{
    CHECK(context == &tw);
    note(timer);
}

tw_timer *timer_of(char name)
{
    return &items[name - 'a'].timer;
}

void start(char name, std::uint64_t deadline, bool throws = false)
{
    CHECK(tw_start(&tw, timer_of(name), deadline) == TW_OK);
    items[name - 'a'].throws = throws;
}

void set_up()
{
    CHECK(tw_init(&tw, nullptr) == TW_OK);
    for (int i = 0; i < 26; i++) {
        tw_timer_init(&items[i].timer, on_fire);
        items[i].name = static_cast<char>('a' + i);
        items[i].throws = false;
    }
    fired.clear();
    catches = false;
}

void tear_down()
{
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
    for (const item &each : items)
        CHECK(!tw_is_pending(&each.timer));
}

enum call { ADVANCE, FOREACH, DRAIN };

// Makes a call that must throw the name `thrown`, or 0 for none; true if the
// timers of `expected` fired or were visited.
bool does(call what, std::uint64_t now, std::size_t limit, char thrown,
          const char *expected)
{
    char got = 0;
    fired.clear();
    try {
        if (what == ADVANCE)
            tw_advance_clock_limit(&tw, now, limit);
        else
            (what == FOREACH ? tw_foreach : tw_drain)(&tw, visit, &tw);
    } catch (char name) {
        got = name;
    }
    if (fired != expected)
        std::printf("# \"%s\", not \"%s\"\n", fired.c_str(), expected);
    return got == thrown && fired == expected && tw_check(&tw);
}

bool advances(std::uint64_t now, char thrown, const char *expected)
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
        CHECK(advances(70000, bad, all.substr(0, stop).c_str()));
        CHECK(tw_count(&tw) == all.size() - stop);
        CHECK(tw_timer_state(timer_of(bad)) == TW_FIRED);
        CHECK(tw_now(&tw) == deadlines[bad - 'a']);
        CHECK(tw_wait(&tw, 70000, 99) == 0); // the call is unfinished
        start('z', 0);                       // for the next call
        CHECK(advances(70000, 0, (all.substr(stop) + "z").c_str()));
        CHECK(tw_now(&tw) == 70000 && tw_count(&tw) == 0);
        tw_stats stats;
        tw_get_stats(&tw, &stats);
        CHECK(stats.fired == 8);
        tear_down();
    }
}

void every_timer_throws()
{
    set_up();
    for (char name = 'a'; name <= 'c'; name++)
        start(name, 5, true);
    start('d', 0);
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
    CHECK(tw_cancel(&tw, timer_of('e')));
    CHECK(advances(20, 0, "f") && tw_now(&tw) == 20);
    tear_down();
}

void restarts_then_throws()
{
    static bool again;
    again = true;
    set_up();
    tw_timer_init(timer_of('a'), [](timingwheel *wheel, tw_timer *timer) {
        tw_start(wheel, timer, tw_now(wheel) + 10);
        tw_start(wheel, timer_of('b'), tw_now(wheel));
        fired += 'a';
        if (again)
            throw 'a';
    });
    start('a', 5);
    CHECK(advances(16, 'a', "a") && tw_count(&tw) == 2);
    again = false;
    CHECK(advances(16, 0, "ab") && tw_is_pending(timer_of('a')));
    tear_down();
}

void foreach_throws()
{
    set_up();
    for (char name = 'a'; name <= 'd'; name++)
        start(name, 10, name == 'b');
    CHECK(does(FOREACH, 0, 0, 'b', "ab") && tw_count(&tw) == 4);
    items['b' - 'a'].throws = false;
    start('e', 10); // starts are allowed again
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
    start('e', 10);
    CHECK(tw_foreach(&tw, visit, &tw) == 3 && tw_drain(&tw, visit, &tw) == 3);
    CHECK(tw_count(&tw) == 0);
    tear_down();
}

// The timers that are left are pending, and fire in time and in order.
void drain_throws_then_fires()
{
    static const std::uint64_t deadlines[] = {0, 10, 10, 300, 300, 70000};
    set_up();
    for (char name = 'a'; name <= 'f'; name++)
        start(name, deadlines[name - 'a'], true);
    try {
        tw_drain(&tw, visit, &tw);
        CHECK(false);
    } catch (char name) {
        CHECK(!tw_is_pending(timer_of(name)) && tw_count(&tw) == 5);
    }
    std::uint64_t next = 0, now = 0;
    std::string all;
    for (item &each : items)
        each.throws = false;
    fired.clear();
    while (tw_next_deadline(&tw, &next) && next >= now) {
        for (char name = 'a'; name <= 'f'; name++)
            CHECK(!tw_is_pending(timer_of(name)) ||
                  deadlines[name - 'a'] >= next || next == now);
        tw_advance_clock(&tw, next);
        now = next + 1;
    }
    CHECK(fired.size() == 5 && std::is_sorted(fired.begin(), fired.end()));
    tear_down();
}

void drain_in_a_callback_throws()
{
    set_up();
    tw_timer_init(timer_of('a'), [](timingwheel *wheel, tw_timer *) {
        tw_drain(wheel, visit, &tw);
    });
    start('a', 10);
    start('b', 10, true);
    start('c', 20);
    CHECK(advances(30, 'b', "b"));
    start('d', 25);
    CHECK(tw_drain(&tw, visit, &tw) == 2);
    CHECK(advances(30, 0, "") && tw_now(&tw) == 30);
    tear_down();
}

void destroy_after_a_throw()
{
    set_up();
    start('a', 5, true);
    start('b', 5);
    start('c', 70000);
    CHECK(advances(10, 'a', "a"));
    tear_down();
}

// TW_CALL catches: no call is stopped, and the loop throws afterwards.
void call_catches()
{
    char got = 0;
    set_up();
    catches = true;
    for (char name = 'a'; name <= 'd'; name++)
        start(name, 5, name == 'b');
    CHECK(advances(10, 0, "abcd") && tw_now(&tw) == 10);
    try {
        std::rethrow_exception(caught);
    } catch (char name) {
        got = name;
    }
    caught = nullptr;
    CHECK(got == 'b');
    tear_down();
}

const tap_case cases[] = {
    {"throw: at each place of a call, the next call fires the rest",
     each_place_throws},
    {"a call in which every timer throws", every_timer_throws},
    {"limited calls, and a cancel in between", with_limits},
    {"a callback that starts timers, then throws", restarts_then_throws},
    {"a visitor of tw_foreach throws", foreach_throws},
    {"a visitor of tw_drain throws, the next tw_drain visits the rest",
     drain_throws},
    {"a visitor of tw_drain throws, the rest fires in time",
     drain_throws_then_fires},
    {"a visitor of tw_drain throws through a callback",
     drain_in_a_callback_throws},
    {"tw_destroy after an exception", destroy_after_a_throw},
    {"TW_CALL may catch the exception", call_catches},
};

} // namespace

TAP_MAIN(cases)
