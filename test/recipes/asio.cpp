/* asio.cpp - many timers on one asio::steady_timer, in standalone Asio.
 * Says when you have not typed for 250 ms. The one steady_timer moves after a
 * handler, if the next deadline has changed. A callback may throw, or run the
 * loop (after `arm`). If several threads run the loop, construct `wake` from an
 * asio::strand, to which all handlers that touch timers belong. See timer.cpp.
 *     c++ -std=c++17 -Wall -Wextra asio.cpp -o asio -pthread && ./asio
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <asio.hpp>
#include <iostream>
using namespace std::chrono;
constexpr std::uint64_t ms = 1000000; // in nanoseconds
static timingwheel timers;
static asio::io_context loop;
static asio::steady_timer wake(loop); // its expiry is 0 while it does not wait
static std::uint64_t clock_ns()
{
    return std::uint64_t(steady_clock::now().time_since_epoch() / 1ns);
}

static void init()
{
    tw_config config{ms, clock_ns(), 0, 0, nullptr};
    tw_init(&timers, &config);
}

static void on_wake(asio::error_code moved);
// Call it at the end of each handler that has started or cancelled a timer.
static void arm()
{
    std::uint64_t next = 0;
    if (!tw_next_deadline(&timers, &next) || next > INT64_MAX)
        next = 0; // none, or one in centuries
    steady_clock::time_point at{nanoseconds(next)};
    if (wake.expiry() == at)
        return;
    wake.expires_at(at); // ends the wait before
    if (next > 0)
        wake.async_wait(on_wake);
}

// Callbacks run outside of any call, so they may run the loop. At most 100: one
// that starts its timer again for the time 0 does not hold the loop.
static void on_wake(asio::error_code moved)
{
    static std::uint64_t now; // a loop in a callback moves it on
    if (moved)
        return;
    now = clock_ns();
    wake.expires_at({}); // gone off
    try {
        for (int i = 0;
             tw_timer *timer = i < 100 ? tw_poll(&timers, now) : nullptr; i++)
            timer->callback(&timers, timer);
    } catch (...) {
        arm(); // the other timers go on when the loop runs again
        throw;
    }
    arm();
}

static void run()
{
    loop.restart(); // after a stop
    arm();
    loop.run();
}

void stop()
{
    loop.stop();
}

// The example. Input that has come beats the timeout: after a stall its handler
// may wait behind this one, so the callback posts the rest.
static tw_timer silence;
static asio::posix::stream_descriptor input(loop);

static void on_silence(timingwheel *, tw_timer *)
{
    static unsigned count;
    asio::post(loop, [] {
        if (!tw_is_pending(&silence))
            std::cout << "silence " << ++count << std::endl;
    });
}

static void read_input()
{
    static char bytes[4096];
    auto on_input = [](asio::error_code error, std::size_t) {
        if (error)
            return; // the end of the input
        tw_postpone_after(&timers, &silence, clock_ns(), 250 * ms);
        arm();
        read_input();
    };
    input.async_read_some(asio::buffer(bytes), on_input);
}

int main()
{
    init();
    tw_timer_init(&silence, on_silence);
    input.assign(dup(0));
    read_input();
    run();
    tw_destroy(&timers);
}
