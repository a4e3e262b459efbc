/* asio.cpp - timingwheel.h in standalone Asio: timers with RAII and lambdas, on
 * one asio::steady_timer that moves only when the next deadline changes.
 *
 * The example: a thread posts an event every 20 ms. Each event makes `soon`,
 * which deletes itself and throws, and postpones `silence`; each fifth cancels
 * `silence`. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
static void fire(struct timingwheel *tw, struct tw_timer *timer);
#define TW_CALL(tw, timer) fire(tw, timer)
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <asio.hpp>
#include <cstdio>
#include <thread>

using namespace std::chrono;
static asio::io_context io;
static asio::steady_timer wake(io);
static timingwheel wheel;
static uint64_t now; /* in ns, the last reading */
static int pending, fired, early, late, idle;

static uint64_t read_clock() /* a clock that steps back counts as standing */
{
    nanoseconds reading = steady_clock::now().time_since_epoch();
    return now = std::max(now, static_cast<uint64_t>(reading.count()));
}

static void move_wake(bool set = true)
{
    uint64_t deadline = UINT64_MAX;
    tw_next_deadline(&wheel, &deadline);
    steady_clock::time_point at{nanoseconds(deadline)};
    if (deadline > INT64_MAX || (set && deadline > now && at == wake.expiry()))
        return;
    wake.expires_at(at);
    wake.async_wait([](std::error_code moved) {
        if (!moved)
            idle += !tw_advance_clock(&wheel, read_clock()), move_wake(false);
    });
}

static void fire(timingwheel *tw, tw_timer *timer)
try {
    fired++, early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9000000;
    timer->callback(tw, timer), pending--;
} catch (...) { /* throw again, out of io_context::run, as a handler does */
    asio::post(io, [e = std::current_exception()] { rethrow_exception(e); });
}

struct timer : tw_timer {
    std::function<void()> call;
    timer(std::function<void()> f) : tw_timer(), call(std::move(f))
    {
        tw_timer_init(this, [](timingwheel *, tw_timer *t) {
            std::function(static_cast<timer *>(t)->call)(); /* may delete t */
        });
    }
    timer(timer &&) = delete;
    ~timer()
    {
        tw_cancel(&wheel, this);
    }
    void start(nanoseconds delay) /* or postpone */
    {
        uint64_t ns = static_cast<uint64_t>(std::max(delay, 0ns).count());
        if (tw_postpone(&wheel, this, tw_after(read_clock(), ns)) != TW_OK)
            throw std::bad_alloc();
        move_wake();
    }
};

int main()
{
    tw_config config = {50000, read_clock(), 0, 0, nullptr};
    tw_init(&wheel, &config);
    std::unique_ptr<timer> soon;
    timer silence([] {});
    std::thread sender([&, work = asio::make_work_guard(io)] {
        for (int i = 1; i <= 20; i++, std::this_thread::sleep_for(20ms))
            asio::post(io, [&, i] {
                late += !!soon, pending += !soon + !tw_is_pending(&silence);
                soon.reset(new timer([&, i] { throw(soon.reset(), i); }));
                soon->start(200us);
                silence.start(150ms);
                pending -= i % 5 == 0 && tw_cancel(&wheel, &silence);
            });
    });
    while (!io.stopped())
        try {
            io.run();
        } catch (int) {
            pending--;
        }
    sender.join();
    std::printf("asio: %d fired, %d early, %d lost, %d late, %d idle turns\n",
                fired, early, pending, late, idle);
    return (early || pending || late > 10) + 2 * (idle > 10);
}
