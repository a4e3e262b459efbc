/* timer.cpp - a Timer for C++17 that moves, with anything that can be called,
 * also if it only moves; with chrono and exceptions.
 *     c++ -std=c++17 -O2 -Wall -Wextra timer.cpp -o timer && ./timer
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION // in one C++ file: exceptions cannot cross C
#include "timingwheel.h"
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>
using namespace std::chrono;
inline uint64_t now()
{
    return uint64_t(steady_clock::now().time_since_epoch() / 1ns);
}
// Any duration in nanoseconds, rounded up. A negative one is 0, a very long one
// UINT64_MAX, which means never.
template <class R, class P> uint64_t to_ns(duration<R, P> d)
{
    if (!(d < duration<long double, std::nano>(0x1p64L)))
        return UINT64_MAX;
    return d > d.zero() ? ceil<duration<uint64_t, std::nano>>(d).count() : 0;
}
class Timer : tw_timer
{
    timingwheel *tw;
    std::shared_ptr<void> action; // null after a move
    void (*call)(void *action);
    uint64_t period = 0;
    static void fire(timingwheel *tw, tw_timer *timer)
    {
        auto self = static_cast<Timer *>(timer);
        auto copy = self->action; // the call may move or destroy the Timer
        uint64_t last = tw_deadline(timer);
        if (self->period > 0) // without drift
            tw_start(tw, self, tw_next_period(last, self->period, now(), 0));
        if (copy)
            self->call(copy.get());
    }

  public: // TW_TIMER_INIT is {...}, which initialises the base class
    template <class F>
    Timer(timingwheel &t, F f)
        : tw_timer TW_TIMER_INIT(fire), tw(&t), action(new F(std::move(f))),
          call([](void *f) { (*static_cast<F *>(f))(); })
    {
    }
    ~Timer()
    {
        tw_cancel(tw, this);
    }
    Timer(Timer &&other) noexcept : tw_timer{}, tw(other.tw) // no copies
    {
        *this = std::move(other);
    }
    Timer &operator=(Timer &&other) noexcept
    {
        if (this != &other) {
            tw_cancel(tw, this);
            tw_move(other.tw, &other, this);
            tw = other.tw, call = other.call, period = other.period;
            action = std::move(other.action);
        }
        return *this;
    }
    template <class D, class E = nanoseconds> void start(D delay, E repeat = {})
    {
        period = to_ns(repeat);
        tw_start_after(tw, this, now(), to_ns(delay));
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
    std::vector<Timer> all;
    for (int i = 1; i <= 5; i++)
        all.emplace_back(tw,
                         [number = std::make_unique<int>(i)] {
                             std::cout << "timer " << *number << std::endl;
                         })
            .start(200ms * i);
    all.emplace_back(tw, [] { throw std::logic_error("thrown"); })
        .start(700ms, hours::max()); // never again
    all.erase(all.begin());          // timer 1 is cancelled, the others move
    Timer moved = std::move(all[0]); // timer 2
    while (tw_count(&tw) > 1)        // all but the one that throws
        try {
            std::this_thread::sleep_for(1ns * tw_wait(&tw, now(), 999999999));
            tw_advance_clock(&tw, now());
        } catch (const std::exception &error) {
            std::cout << error.what() << std::endl;
        }
    tw_destroy(&tw); // from here on, Timers may end, but not move
}
