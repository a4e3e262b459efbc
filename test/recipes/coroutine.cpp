/* coroutine.cpp - C++20 coroutines that sleep, or wait for others up to a time.
 * A callback resumes them, which is allowed: no callback is suspended.
 *     c++ -std=c++20 -O2 -Wall -Wextra coroutine.cpp -o co && ./co 100000
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION // in one file, of C++: C would not unwind
#include "timingwheel.h"
#include <cassert>
#include <chrono>
#include <coroutine>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>
using namespace std::chrono;
static timingwheel timers;
static uint64_t now()
{
    return uint64_t(steady_clock::now().time_since_epoch() / 1ns);
}
// Any duration in nanoseconds: 0 if negative, UINT64_MAX (never) if too long.
template <class R, class P> uint64_t to_ns(duration<R, P> d)
{
    auto ns = duration<long double, std::nano>(d).count();
    return ns < 0 ? 0 : ns < 0x1p64L ? uint64_t(ns) : UINT64_MAX;
}

// `co_await sleep_for(1s)` is true, or false after wake(). The timer lives in
// the coroutine, and ends with it. (Do not destroy a coroutine that awaits one
// of another owner.) One coroutine at a time awaits a sleep_for, and wake()
// before the await does nothing.
class sleep_for : tw_timer, public std::suspend_always
{
    uint64_t delay;
    bool is_woken = false;
    std::coroutine_handle<> sleeper;

  public:
    template <class R, class P>
    [[nodiscard]] sleep_for(duration<R, P> d) : tw_timer{}, delay(to_ns(d))
    {
        tw_timer_init(this, [](timingwheel *, tw_timer *timer) {
            static_cast<sleep_for *>(timer)->sleeper.resume();
        });
    }
    sleep_for(sleep_for &&) = delete; // no copies, too
    ~sleep_for()
    {
        tw_cancel(&timers, this);
    }
    void await_suspend(std::coroutine_handle<> coroutine)
    {
        assert(!tw_is_pending(this)); // nobody else awaits it
        is_woken = false;
        sleeper = coroutine;
        tw_start(&timers, this, delay > 0 ? tw_after(now(), delay) : 0);
    }
    bool await_resume()
    {
        return !is_woken;
    }
    void wake() // in the next turn: the caller goes on first
    {
        is_woken = tw_is_pending(this) && tw_start(&timers, this, 0) == TW_OK;
    }
    std::coroutine_handle<> take() // to be resumed now, in place of the timer
    {
        return tw_cancel(&timers, this) ? sleeper : std::noop_coroutine();
    }
};

// A coroutine. It begins in a callback, because compilers destroy a coroutine
// twice if the call that creates it throws. What it throws goes to its waiter;
// if none waits yet, it also leaves through tw_advance_clock. Its task destroys
// it, even then, but not from inside: drop tasks that are done between turns.
struct [[nodiscard]] task {
    struct promise_type {
        sleep_for *waiter = nullptr;
        std::exception_ptr error;
        task get_return_object()
        {
            return {{this, [](auto p) { handle::from_promise(*p).destroy(); }}};
        }
        sleep_for initial_suspend()
        {
            return 0ns;
        }
        struct to_waiter : std::suspend_always {
            std::coroutine_handle<>
            await_suspend(std::coroutine_handle<promise_type> self) noexcept
            {
                sleep_for *waiter = self.promise().waiter;
                return waiter ? waiter->take() : std::noop_coroutine();
            }
        };
        to_waiter final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            error = std::current_exception();
            if (waiter == nullptr)
                throw;
        }
    };
    using handle = std::coroutine_handle<promise_type>;
    std::unique_ptr<promise_type, void (*)(promise_type *)> promise;
};

// `co_await with_timeout(f(), 1s)` is true if f ends in time, and throws what f
// throws. Otherwise f ends with its with_timeout, and what f still throws is
// lost. Once f runs, the earlier wins after a stall. (No `co_await f()` here.)
struct with_timeout : sleep_for {
    task work;
    [[nodiscard]] with_timeout(task &&t, auto d)
        : sleep_for(d), work(std::move(t))
    {
        assert(work.promise != nullptr); // a task that has not moved away
    }
    bool await_ready()
    {
        return task::handle::from_promise(*work.promise).done();
    }
    void await_suspend(std::coroutine_handle<> coroutine)
    {
        work.promise->waiter = this;
        sleep_for::await_suspend(coroutine);
    }
    bool await_resume()
    {
        if (work.promise->error)
            std::rethrow_exception(work.promise->error);
        return await_ready();
    }
};

static task nap(nanoseconds time, int &slept)
{
    if (time < 0ns)
        throw std::invalid_argument("a nap of less than nothing");
    co_await sleep_for(time);
    slept++;
}

static task outer_nap(nanoseconds time, int &slept)
{
    co_await with_timeout(nap(time, slept), hours::max());
}

static task show(int &slept, sleep_for &other)
{
    with_timeout work(nap(0ms, slept), 9ms); // begins now
    co_await sleep_for(3ms);
    bool early = co_await work;
    bool quick = co_await with_timeout(outer_nap(20ms, slept), 50ms);
    bool slow = co_await with_timeout(nap(1s, slept), 1ms);
    std::cout << "in time: " << early << quick << slow << std::endl;
    other.wake();
    co_await with_timeout(nap(-1ms, slept), 1h); // throws what nap throws
}

static task sleep_long(sleep_for &sleep)
{
    std::cout << "slept for ever: " << co_await sleep << std::endl;
}

int main(int argc, char **argv)
{
    int slept = 0, count = argc > 1 ? std::stoi(argv[1]) : 1000;
    tw_config config = {1000000, now(), 0, 0, nullptr}; // tick, start
    tw_init(&timers, &config);
    sleep_for forever(hours::max());
    std::vector<task> tasks;
    tasks.push_back(nap(1h, slept));
    tasks.push_back(sleep_long(forever));
    tasks.push_back(show(slept, forever));
    for (int i = 0; i < count; i++)
        tasks.push_back(nap(1ms * (i % 1000), slept));
    while (tw_count(&timers) > 1) { // all but the first
        std::this_thread::sleep_for(1ns * tw_wait(&timers, now(), 999999999));
        try {
            tw_advance_clock(&timers, now());
        } catch (const std::exception &e) { // the next call goes on
            std::cout << "thrown: " << e.what() << std::endl;
        }
    }
    tasks.clear(); // destroys the first in its sleep
    std::cout << slept << " slept, " << tw_count(&timers) << " pending\n";
    tw_destroy(&timers);
}
