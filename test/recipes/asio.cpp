/* asio.cpp - timingwheel.h in standalone Asio: timers with RAII and lambdas, on
 * one asio::steady_timer that moves only when the next deadline changes. An
 * exception of a callback leaves io_context::run, as out of any handler.
 *
 *     c++ -std=c++17 asio.cpp -pthread && ./a.out
 *
 * The example is that of judge.h; `soon` deletes itself and throws.
 * SPDX-License-Identifier: MIT */
static void fire(struct timingwheel *tw, struct tw_timer *timer);
#define TW_CALL(tw, timer) fire(tw, timer)
#define MS 1000000
#include "judge.h"
#include <asio.hpp>

using namespace std::chrono;
static asio::io_context io;
static asio::steady_timer wake(io);

static size_t advance()
{
    nanoseconds reading = steady_clock::now().time_since_epoch();
    now = steady(static_cast<uint64_t>(reading.count()));
    return tw_advance_clock(&wheel, now);
}

static void move_wake(bool is_set = true)
{
    uint64_t deadline = INT64_MAX;
    tw_next_deadline(&wheel, &deadline);
    steady_clock::time_point at{nanoseconds(system_time(deadline))};
    if (is_set && deadline > now && at == wake.expiry())
        return;
    wake.expires_at(at);
    wake.async_wait([](std::error_code moved) {
        if (!moved)
            judge.idle += advance() == 0, move_wake(false);
    });
}

/* Without the catch, the event that has called advance would be lost. */
static void fire(timingwheel *tw, tw_timer *timer)
try {
    judge_timer(tw, timer);
    timer->callback(tw, timer);
} catch (...) { /* throw again, out of io_context::run */
    asio::post(io, [e = std::current_exception()] { rethrow_exception(e); });
}

struct timer : tw_timer {
    std::function<void()> call;
    explicit timer(std::function<void()> f) : tw_timer(), call(std::move(f))
    {
        tw_timer_init(this, [](timingwheel *, tw_timer *t) {
            std::function(static_cast<timer *>(t)->call)(); /* may delete t */
        });
    }
    timer(timer &&) = delete;
    ~timer()
    {
        judge.armed -= tw_cancel(&wheel, this);
    }
    void start(uint64_t delay) /* or postpone */
    {
        judge.armed += !tw_is_pending(this);
        if (tw_postpone(&wheel, this, tw_after(now, delay)) != TW_OK)
            throw std::bad_alloc();
        move_wake();
    }
};

int main()
{
    tw_config config = {50000, 0, 0, 0, nullptr};
    int thrown = 0;
    char byte;
    tw_init(&wheel, &config);
    std::unique_ptr<timer> soon;
    timer silence([] {});
    asio::posix::stream_descriptor input(io, judge_input());
    std::function<void()> read_event = [&] {
        async_read(input, asio::buffer(&byte, 1), [&](std::error_code, size_t) {
            advance();
            judge.events++, judge.late += !!soon;
            soon.reset(new timer([&] { throw(soon.reset(), 1); }));
            soon->start(MS / 5);
            silence.start(150 * MS);
            judge.armed -= judge.events % 5 == 0 && tw_cancel(&wheel, &silence);
            if (judge.events < EVENTS)
                read_event();
        });
    };
    read_event();
    while (thrown < EVENTS || tw_count(&wheel) > 0)
        try {
            io.run_one();
        } catch (int) {
            thrown++;
        }
    return judge_end("asio", thrown == EVENTS);
}
