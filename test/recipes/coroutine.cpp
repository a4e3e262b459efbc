/* coroutine.cpp - C++20 coroutines that sleep, are stopped, time out and race.
 *     c++ -std=c++20 -O2 -Wall -Wextra -pthread coroutine.cpp -o co && ./co
 * g++ 12 breaks a coroutine that has `if (co_await f())` and no local variable:
 * write `bool b = co_await f(); if (b)`. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION // one C++ file
#include "timingwheel.h"
#include <chrono>
#include <coroutine>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <poll.h>
#include <stop_token>
#include <sys/eventfd.h>
#include <thread>
#include <vector>
using namespace std::chrono;
static timingwheel timers;
static tw_mailbox mailbox;

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

// `bool slept = co_await sleep_for(1s, token);` is false if any thread has
// requested the stop. For coroutines of every type, also of other libraries. A
// coroutine may be destroyed in its sleep.
class [[nodiscard]] sleep_for : tw_remote, public std::suspend_always
{
    uint64_t deadline;
    std::stop_token token;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
    std::coroutine_handle<> sleeper;

  public:
    template <class D>
    explicit sleep_for(D delay, std::stop_token stop = {})
        : deadline(tw_after(now(), to_ns(delay))), token(std::move(stop))
    {
        tw_remote_init(this, [](timingwheel *, tw_timer *t) {
            tw_remote *remote = TW_OWNER(t, tw_remote, timer);
            static_cast<sleep_for *>(remote)->sleeper.resume();
        });
    }
    ~sleep_for()
    {
        await_resume();
    }
    void await_suspend(std::coroutine_handle<> coroutine)
    {
        sleeper = coroutine;
        tw_start(&timers, &timer, deadline);
        on_stop.emplace(token, [this] { tw_post_start(&mailbox, this, 0); });
    }
    bool await_resume()
    {
        on_stop.reset(); // waits for a thread that is posting
        if (!tw_remote_settled(this))
            tw_collect(&mailbox);
        tw_cancel(&timers, &timer);
        return !token.stop_requested();
    }
};

// The least that a coroutine needs. It begins in the next turn of `run`, and is
// destroyed with its task. Exceptions come out of `run`, which may go on.
struct [[nodiscard]] task {
    struct promise_type {
        using handle = std::coroutine_handle<promise_type>;
        task get_return_object()
        {
            return {{this, [](auto p) { handle::from_promise(*p).destroy(); }}};
        }
        sleep_for initial_suspend()
        {
            return sleep_for(0ns);
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            throw;
        }
    };
    std::unique_ptr<promise_type, void (*)(promise_type *)> coroutine;
};

// Until nobody sleeps. The mailbox writes to wake_fd.
static void run(int wake_fd)
{
    while (tw_count(&timers) > 0) {
        tw_collect(&mailbox); // first, because an exception may have left posts
        eventfd_t wait = tw_wait(&timers, now(), 999999999);
        pollfd input = {wake_fd, POLLIN, 0};
        poll(&input, 1, int((wait + 999999) / 1000000));
        eventfd_read(wake_fd, &wait); // before tw_collect: later posts wake
        tw_advance_clock(&timers, now());
    }
}

static task nap(auto time, std::stop_token stop, int &slept, int &stopped)
{
    bool has_slept = co_await sleep_for(time, stop);
    (has_slept ? slept : stopped)++;
}

// The first of a race stops the others: `request_stop` returns true once. So a
// timeout is a sleep that races with the work.
static task race(nanoseconds time, std::stop_source stop, const char *name)
{
    co_await sleep_for(time, stop.get_token());
    if (stop.request_stop())
        throw name;
}

int main()
{
    int slept = 0, stopped = 0, fd = eventfd(0, EFD_NONBLOCK);
    tw_config config = {1000000, now(), 0, 0, nullptr}; // tick, start
    auto wake = [](void *to) { eventfd_write(*static_cast<int *>(to), 1); };
    tw_init(&timers, &config);
    tw_mailbox_init(&mailbox, &timers, wake, &fd);
    std::stop_source other, quick, slow, last;
    std::jthread thread([&] {
        std::this_thread::sleep_for(1500ms);
        other.request_stop();
    });
    std::vector<task> tasks;
    for (int i = 0; i < 1000; i++) {
        tasks.push_back(nap(1ms * i, {}, slept, stopped));
        tasks.push_back(nap(hours::max(), other.get_token(), slept, stopped));
    }
    tasks.push_back(race(20ms, quick, "quick work"));
    tasks.push_back(race(1h, quick, "timeout of quick work"));
    tasks.push_back(race(1h, slow, "slow work"));
    tasks.push_back(race(50ms, slow, "timeout of slow work"));
    tasks.push_back(race(2500ms, last, "hare"));
    tasks.push_back(race(1h, last, "tortoise"));
    for (int races = 0; races < 3; races++)
        try {
            run(fd);
        } catch (const char *name) {
            std::cout << name << std::endl;
        }
    tasks.clear(); // the tortoise is asleep, and its stop is on the way
    tasks.push_back(nap(1ms, {}, slept, stopped));
    run(fd);
    std::cout << slept << " slept, " << stopped << " stopped, "
              << tw_count(&timers) << " pending" << std::endl;
    tw_destroy(&timers);
}
