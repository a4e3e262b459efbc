/* coroutine.cpp - C++20 coroutines that sleep, are stopped, and return values.
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
#include <list>
#include <memory>
#include <optional>
#include <poll.h>
#include <stop_token>
#include <sys/eventfd.h>
#include <thread>
using namespace std::chrono;
using stop_callback = std::stop_callback<std::function<void()>>;
static timingwheel timers;
static tw_mailbox mailbox;

static uint64_t now()
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

// `bool slept = co_await sleeper(time, token);` is false if any thread has
// requested the stop. With UINT64_MAX it waits for the stop alone.
class [[nodiscard]] sleeper : tw_remote, public std::suspend_always
{
    uint64_t deadline;
    std::stop_token token;
    std::optional<stop_callback> on_stop;
    std::coroutine_handle<> coroutine;

  public:
    sleeper(uint64_t ns, std::stop_token s) : deadline(ns), token(std::move(s))
    {
        tw_remote_init(this, [](timingwheel *, tw_timer *t) {
            tw_remote *remote = TW_OWNER(t, tw_remote, timer);
            static_cast<sleeper *>(remote)->coroutine.resume();
        });
    }
    sleeper(sleeper &&) = delete; // no copies, too
    ~sleeper()
    {
        await_resume();
    }
    void await_suspend(std::coroutine_handle<> c)
    {
        coroutine = c;
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
inline sleeper sleep_until(steady_clock::time_point t,
                           std::stop_token stop = {})
{
    return {to_ns(t.time_since_epoch()), stop};
}
template <class D> sleeper sleep_for(D delay, std::stop_token stop = {})
{
    return {tw_after(now(), to_ns(delay)), stop};
}

// `int i = co_await f();` A task begins when it is awaited. What it throws goes
// to its waiter. It may be destroyed in its sleep.
template <class T> struct result {
    std::optional<T> value;
    void return_value(T v)
    {
        value.emplace(std::move(v));
    }
};
template <> struct result<void> {
    void return_void()
    {
    }
};
template <class T = void> struct [[nodiscard]] task : std::suspend_always {
    struct promise_type;
    using handle = std::coroutine_handle<promise_type>;
    struct to_waiter : std::suspend_always {
        std::coroutine_handle<> await_suspend(handle self) noexcept
        {
            return self.promise().waiter;
        }
    };
    struct promise_type : result<T> {
        std::coroutine_handle<> waiter = std::noop_coroutine();
        std::exception_ptr error;
        task get_return_object()
        {
            return {{},
                    {this, [](auto p) { handle::from_promise(*p).destroy(); }}};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        to_waiter final_suspend() noexcept
        {
            return {};
        }
        void unhandled_exception()
        {
            error = std::current_exception();
        }
    };
    std::unique_ptr<promise_type, void (*)(promise_type *)> promise{{}, {}};
    handle coroutine()
    {
        return handle::from_promise(*promise);
    }
    handle await_suspend(std::coroutine_handle<> waiter)
    {
        promise->waiter = waiter;
        return coroutine();
    }
    T await_resume()
    {
        if (promise->error)
            std::rethrow_exception(promise->error);
        if constexpr (!std::is_void_v<T>)
            return std::move(*promise->value);
    }
};

// Tasks that run at the same time. `scope s(token); s.spawn(f(s.token()));
// co_await s;` waits for all. If one throws, the others are stopped, and the
// first exception goes to the waiter.
struct scope : std::suspend_always {
    std::stop_source stop;
    std::list<task<>> children; // some of them have ended
    size_t running = 0;
    std::coroutine_handle<> waiter = std::noop_coroutine();
    std::exception_ptr error;
    stop_callback parent;
    explicit scope(std::stop_token token = {})
        : parent(std::move(token), [this] { stop.request_stop(); })
    {
    }
    task<> run(task<> child, task<> &self)
    {
        try {
            co_await child;
        } catch (...) {
            error = error ? error : std::current_exception();
            stop.request_stop();
        }
        if (--running == 0) // the waiter may destroy the scope and `self`
            std::swap(self.promise->waiter, waiter);
    }
    void spawn(task<> child) // begins at once
    {
        if (children.size() > 2 * running + 9)
            children.remove_if([](auto &c) { return c.coroutine().done(); });
        task<> &self = children.emplace_back();
        self = run(std::move(child), self);
        running++;
        self.coroutine().resume();
    }
    bool await_suspend(std::coroutine_handle<> coroutine)
    {
        if (running > 0)
            waiter = coroutine;
        return running > 0;
    }
    void await_resume()
    {
        if (error)
            std::rethrow_exception(error);
    }
};

// The number of the f(stop_token) that ends first, or their count after a stop.
// The first stops the others, and all have ended.
template <class... F> task<size_t> when_any(std::stop_token token, F... f)
{
    scope s(std::move(token));
    size_t first = sizeof...(f), i = 0;
    auto run = [&](auto &child, size_t number) -> task<> {
        co_await child(s.stop.get_token());
        if (!s.stop.stop_requested())
            first = number, s.stop.request_stop();
    };
    (s.spawn(run(f, i++)), ...);
    co_await s;
    co_return first;
}

// The value of f(stop_token), or none if it has not ended in time.
template <class F, class D, class T = std::stop_token>
auto with_timeout(F f, D delay, T token = {})
    -> task<std::optional<decltype(f(token).await_resume())>>
{
    std::optional<decltype(f(token).await_resume())> value;
    auto work = [&](T stop) -> task<> { value.emplace(co_await f(stop)); };
    auto time = [&](T stop) -> task<> { co_await sleep_for(delay, stop); };
    size_t first = co_await when_any(token, work, time);
    if (first > 0)
        value.reset();
    co_return value;
}

static void run(scope &root, int fd) // fd: the mailbox writes to it
{
    while (root.running > 0) {
        eventfd_t wait = tw_wait(&timers, now(), 999999999);
        pollfd input = {fd, POLLIN, 0};
        poll(&input, 1, int((wait + 999999) / 1000000));
        eventfd_read(fd, &wait); // before tw_collect: later posts wake
        tw_advance_clock(&timers, now());
        tw_collect(&mailbox);
    }
    root.await_resume(); // throws what a task has thrown
}

static task<> nap(nanoseconds time, std::stop_token stop, int &slept)
{
    slept += co_await sleep_for(time, stop);
}

static task<> show(std::stop_token other)
{
    auto work = [](std::stop_token stop) -> task<int> {
        co_await sleep_for(20ms, stop);
        co_return 42;
    };
    auto quick = co_await with_timeout(work, 50ms);
    auto slow = co_await with_timeout(work, 1ms);
    bool end = co_await sleep_until(steady_clock::time_point::max(), other);
    std::cout << "in time: " << quick.value_or(0)
              << ", too late: " << slow.value_or(0) << ", for ever: " << end
              << std::endl;
    throw std::runtime_error("thrown"); // stops the others
}

int main()
{
    int slept = 0, fd = eventfd(0, EFD_NONBLOCK);
    tw_config config = {1000000, now(), 0, 0, nullptr}; // tick, start
    auto wake = [](void *to) { eventfd_write(*static_cast<int *>(to), 1); };
    tw_init(&timers, &config);
    tw_mailbox_init(&mailbox, &timers, wake, &fd);
    std::stop_source other;
    std::jthread thread([&] {
        std::this_thread::sleep_for(2s);
        other.request_stop();
    });
    try {
        scope root;
        for (int i = 0; i < 1000; i++)
            root.spawn(nap(1ms * i, root.stop.get_token(), slept));
        root.spawn(nap(1h, root.stop.get_token(), slept));
        root.spawn(show(other.get_token()));
        run(root, fd);
    } catch (const std::exception &e) {
        std::cout << e.what() << ", " << slept << " slept, "
                  << tw_count(&timers) << " pending" << std::endl;
    }
    tw_destroy(&timers);
}
