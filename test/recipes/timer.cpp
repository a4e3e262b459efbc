/* timer.cpp - a class Timer for C++17: std::function, std::chrono, exceptions.
 * A Timer can move, as in a std::vector that grows. The destructor cancels.
 *
 *     c++ -std=c++17 -O2 -Wall -Wextra timer.cpp -o timer && ./timer
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION // in C++: C would not pass exceptions on
#include "timingwheel.h"
#include <chrono>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

using ms = std::chrono::duration<uint64_t, std::milli>;
static timingwheel timers;

static ms now()
{
    auto reading = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<ms>(reading);
}

class Timer : tw_timer
{
    std::function<void()> action;
    static void fire(timingwheel *, tw_timer *timer)
    {
        auto copy = static_cast<Timer *>(timer)->action;
        copy(); // `action` itself may be moved or destroyed in the call
    }

  public:
    Timer(std::function<void()> f) : tw_timer TW_TIMER_INIT(fire), action(f)
    {
    }
    ~Timer()
    {
        tw_cancel(&timers, this);
    }
    Timer(const Timer &) = delete; // its destructor would unlink the original
    Timer(Timer &&other) noexcept : tw_timer{}, action(std::move(other.action))
    {
        tw_move(&timers, &other, this);
    }
    Timer &operator=(Timer &&other) noexcept
    {
        tw_cancel(&timers, this);
        tw_move(&timers, &other, this);
        action = std::move(other.action);
        return *this;
    }
    void start(ms delay)
    {
        if (int status = tw_start(&timers, this, (now() + delay).count()))
            throw std::runtime_error(tw_strerror(status));
    }
};

int main()
{
    std::vector<Timer> list;
    tw_config config = {1, now().count(), 0, 0, nullptr};
    tw_init(&timers, &config);
    for (uint64_t i = 1; i <= 5; i++) {
        auto action = [i] { std::cout << "timer " << i << std::endl; };
        list.emplace_back(action).start(ms(200 * i));
    }
    list.emplace_back([] { throw std::logic_error("thrown"); }).start(ms(700));
    list.erase(list.begin()); // timer 1 is cancelled, the others move
    while (tw_count(&timers) > 0)
        try {
            ms wait(tw_wait(&timers, now().count(), 1000));
            std::this_thread::sleep_for(wait);
            tw_advance_clock(&timers, now().count());
        } catch (const std::exception &error) {
            std::cout << error.what() << std::endl;
        }
    tw_destroy(&timers);
}
