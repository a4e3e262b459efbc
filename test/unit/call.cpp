// call.cpp - TW_CALL in C++: measures lateness and callback time, and catches
// an exception. call.sh compiles and runs this program.
//
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

#define TW_STATIC
#include "../../timingwheel.h"

namespace
{

struct report {
    std::uint64_t fired;
    std::uint64_t most_late;      // the longest time from deadline to callback
    std::uint64_t longest;        // the longest time of a callback
    std::exception_ptr exception; // the first exception of a call
    std::uint64_t exceptions;
};

report measured;
std::uint64_t clock_now; // the reading of the loop's clock

void call(timingwheel *tw, tw_timer *timer) noexcept;

} // namespace

#define TW_CALL(tw, timer) call((tw), (timer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

namespace
{

// Runs one callback. No exception may pass through the wheel.
void call(timingwheel *tw, tw_timer *timer) noexcept
{
    std::uint64_t began = clock_now, late = began - tw_deadline(timer);
    try {
        timer->callback(tw, timer); // may free the timer
    } catch (...) {
        measured.exceptions++;
        if (!measured.exception)
            measured.exception = std::current_exception();
    }
    measured.fired++;
    if (late > measured.most_late)
        measured.most_late = late;
    if (clock_now - began > measured.longest)
        measured.longest = clock_now - began;
}

// A timer that runs a function object, as C++ programs have them.
struct task {
    tw_timer timer;
    std::function<void()> *run;
};

void on_fire(timingwheel *, tw_timer *timer)
{
    (*TW_OWNER(timer, task, timer)->run)();
}

timingwheel tw;

void set_up()
{
    measured = report();
    clock_now = 0;
    CHECK(tw_init(&tw, nullptr) == TW_OK);
}

void tear_down()
{
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

void start(task &some, std::function<void()> &run, std::uint64_t deadline)
{
    tw_timer_init(&some.timer, on_fire);
    some.run = &run;
    CHECK(tw_start(&tw, &some.timer, deadline) == TW_OK);
}

// What a loop does: advances, and throws what a callback has thrown.
std::size_t advance(std::uint64_t now)
{
    std::size_t fired = tw_advance_clock(&tw, clock_now = now);
    std::exception_ptr thrown;
    std::swap(thrown, measured.exception);
    if (thrown)
        std::rethrow_exception(thrown);
    return fired;
}

void measures()
{
    task tasks[3];
    std::function<void()> quick = [] { clock_now += 1; };
    std::function<void()> slow = [] { clock_now += 70; };
    set_up();
    start(tasks[0], quick, 100);
    start(tasks[1], slow, 110);
    start(tasks[2], quick, 120);
    CHECK(advance(150) == 3);
    CHECK(measured.fired == 3 && measured.longest == 70);
    CHECK(measured.most_late == 150 + 1 + 70 - 120);
    tear_down();
}

void catches()
{
    task tasks[30];
    unsigned ran = 0;
    std::string what;
    std::function<void()> good = [&] { ran++; };
    std::function<void()> bad = [&] { throw std::runtime_error("number 7"); };
    set_up();
    for (unsigned i = 0; i < 30; i++)
        start(tasks[i], i == 7 ? bad : good, 100 + i / 5);
    try {
        advance(200);
    } catch (const std::runtime_error &error) {
        what = error.what();
    }
    CHECK(what == "number 7" && measured.exceptions == 1);
    CHECK(ran == 29 && measured.fired == 30 && tw_count(&tw) == 0);
    CHECK(tw_now(&tw) == 200);
    CHECK(tw_timer_state(&tasks[7].timer) == TW_FIRED);
    CHECK(tw_check(&tw));
    start(tasks[7], good, 300);
    CHECK(advance(300) == 1 && ran == 30);
    tear_down();
}

// A callback starts timers, then throws: the timers that it started stay.
void catches_after_start()
{
    task first, second;
    unsigned ran = 0;
    bool caught = false;
    std::function<void()> good = [&] { ran++; };
    std::function<void()> bad = [&] {
        start(second, good, 150);
        CHECK(tw_start(&tw, &first.timer, 400) == TW_OK);
        throw 5;
    };
    set_up();
    start(first, bad, 100);
    try {
        advance(200);
    } catch (int value) {
        caught = value == 5;
    }
    CHECK(caught && ran == 1 && tw_is_pending(&first.timer));
    CHECK(tw_cancel(&tw, &first.timer));
    tear_down();
}

const tap_case cases[] = {
    {"TW_CALL in C++: measures lateness and callback time", measures},
    {"TW_CALL in C++: an exception: all other timers fire", catches},
    {"TW_CALL in C++: an exception after a start", catches_after_start},
};

} // namespace

int main(int argc, char **argv)
{
    return TAP_RUN(cases, argc, argv);
}
