/* timer.cpp - a Timer for C++17 that moves; std::function, chrono, exceptions.
 * When an object with a Timer moves, a captured `this` dangles. So capture a
 * number and look the object up, or keep the object in a std::unique_ptr.
 *
 *     c++ -std=c++17 -O2 -Wall -Wextra timer.cpp -o timer && ./timer
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION // in one file, of C++: C would not unwind
#include "timingwheel.h"
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>
using namespace std::chrono;
inline timingwheel timers; // for the Timers of one thread
inline uint64_t now()
{
    return uint64_t(steady_clock::now().time_since_epoch() / 1ns);
}

struct Timer : tw_timer { // tw_cancel and the like take a &timer
    std::shared_ptr<std::function<void()>> action;
    nanoseconds period{0};
    Timer(std::function<void()> f) : tw_timer TW_TIMER_INIT(fire)
    {
        action = std::make_shared<std::function<void()>>(std::move(f));
    }
    ~Timer()
    {
        tw_cancel(&timers, this);
    }
    Timer(Timer &&other) noexcept : tw_timer{} // so a Timer cannot be copied
    {
        *this = std::move(other);
    }
    Timer &operator=(Timer &&other) noexcept
    {
        tw_cancel(&timers, this);
        tw_move(&timers, &other, this);
        action = std::move(other.action);
        period = other.period;
        return *this;
    }
    void start(nanoseconds delay, nanoseconds repeat = 0ns)
    {
        period = repeat;
        if (int status = tw_start(&timers, this, now() + uint64_t(delay / 1ns)))
            throw std::runtime_error(tw_strerror(status));
    }
    static void fire(timingwheel *, tw_timer *timer)
    {
        auto self = static_cast<Timer *>(timer);
        auto copy = self->action; // the call may move or destroy the Timer
        if (self->period > 0ns)
            self->start(self->period, self->period); // drifts: periodic.c
        (*copy)();
    }
};

int main()
{
    tw_config config = {1000000, now(), 0, 0, nullptr}; // ticks of 1 ms
    tw_init(&timers, &config);
    std::vector<Timer> all;
    for (int i = 1; i <= 5; i++)
        all.emplace_back([i] { std::cout << "timer " << i << std::endl; })
            .start(200ms * i);
    all.emplace_back([] { throw std::logic_error("thrown"); }).start(700ms, 1s);
    all.erase(all.begin());       // timer 1 is cancelled, the others move
    while (tw_count(&timers) > 1) // all but the one that repeats
        try {
            nanoseconds wait(tw_wait(&timers, now(), 1000000000));
            std::this_thread::sleep_for(wait); // or ceil<milliseconds>(wait)
            tw_advance_clock(&timers, now());
        } catch (const std::exception &error) {
            std::cout << error.what() << std::endl;
        }
    tw_destroy(&timers); // the Timers may live longer
}
