/* timer.cpp - a Timer for C++17 that moves; std::function, chrono, exceptions.
 *     c++ -std=c++17 -O2 -Wall -Wextra timer.cpp -o timer && ./timer
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION // in one C++ file: exceptions cannot cross C
#include "timingwheel.h"
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>
using namespace std::chrono;
inline uint64_t now()
{
    return uint64_t(steady_clock::now().time_since_epoch() / 1ns);
}
class Timer : tw_timer
{
    timingwheel *tw;
    std::shared_ptr<std::function<void()>> action;
    uint64_t period = 0;
    static void fire(timingwheel *tw, tw_timer *timer)
    {
        auto self = static_cast<Timer *>(timer);
        uint64_t last = tw_deadline(timer);
        auto copy = self->action; // the call may move or destroy the Timer
        if (self->period > 0)     // without drift; never fails, see main
            tw_start(tw, self, tw_next_period(last, self->period, now(), 0));
        (*copy)();
    }

  public:
    Timer(timingwheel &t, std::function<void()> f)
        : tw_timer TW_TIMER_INIT(fire), tw(&t)
    {
        action = std::make_shared<std::function<void()>>(std::move(f));
    }
    ~Timer()
    {
        tw_cancel(tw, this);
    }
    Timer(Timer &&other) noexcept : tw_timer{}, tw(other.tw) // no copies
    {
        *this = std::move(other);
    }
    Timer &operator=(Timer &&other) noexcept // `other` may start again
    {
        if (this == &other)
            return *this;
        tw_cancel(tw, this);
        tw_move(other.tw, &other, this);
        tw = other.tw, action = other.action, period = other.period;
        return *this;
    }
    void start(nanoseconds d, nanoseconds repeat = 0ns)
    {
        uint64_t delay = d > 0ns ? uint64_t(d / 1ns) : 0; // unsigned
        period = repeat > 0ns ? uint64_t(repeat / 1ns) : 0;
        if (int status = tw_start_after(tw, this, now(), delay))
            throw std::runtime_error(tw_strerror(status)); // no memory
    }
    void stop()
    {
        tw_cancel(tw, this);
    }
};
int main()
{
    timingwheel tw;
    tw_config config = {1000000, now(), 0, 0, nullptr}; // tick, start
    tw_init(&tw, &config);
    if (tw_reserve(&tw, UINT64_MAX) != TW_OK)
        return 1;
    std::vector<Timer> all;
    for (int i = 1; i <= 5; i++)
        all.emplace_back(tw, [=] { std::cout << "timer " << i << std::endl; })
            .start(200ms * i);
    all.emplace_back(tw, [] { throw std::logic_error("thrown"); })
        .start(700ms, 1s);
    all.erase(all.begin());   // timer 1 is cancelled, the others move
    while (tw_count(&tw) > 1) // all but the one that repeats
        try {
            std::this_thread::sleep_for(1ns * tw_wait(&tw, now(), 999999999));
            tw_advance_clock(&tw, now());
        } catch (const std::exception &error) {
            std::cout << error.what() << std::endl;
        }
    tw_destroy(&tw); // from here on, Timers may end, but not move
}
