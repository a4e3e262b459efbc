/* asio.cpp - many timers on one asio::steady_timer, in standalone Asio.
 *
 * Says when you have not typed for 250 ms. The one steady_timer moves after a
 * handler, if the next deadline has changed. See timer.cpp for a class.
 *
 *     c++ -std=c++17 -Wall -Wextra asio.cpp -o asio -pthread && ./asio
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <asio.hpp>
#include <iostream>

using namespace std::chrono;
constexpr std::uint64_t ms = 1000000; // in nanoseconds

struct session {
    tw_timer silence;
    unsigned count;
};

static timingwheel timers;
static asio::io_context loop;
static asio::steady_timer wake(loop);
static asio::posix::stream_descriptor input(loop, dup(0));

static std::uint64_t clock_ns()
{
    nanoseconds time = steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(time.count());
}

// Input that has come beats the timeout: after a stall its handler may not have
// run. So the session gets one more turn, between whose two advances Asio runs
// the handlers of up to 128 ready events.
static void on_silence(timingwheel *tw, tw_timer *timer)
{
    if (tw_deadline(timer) > 0) {
        tw_start(tw, timer, 0); // fires in the next turn, the second time
        return;
    }
    session *s = TW_OWNER(timer, session, silence);
    std::cout << "silence " << ++s->count << std::endl;
}

static void move_wake()
{
    std::uint64_t next;
    if (!tw_next_deadline(&timers, &next)) {
        wake.cancel();
        return;
    }
    steady_clock::time_point at{nanoseconds(next)};
    if (wake.expiry() == at)
        return;
    wake.expires_at(at); // ends the wait before
    wake.async_wait([](asio::error_code moved) {
        if (moved)
            return;
        tw_advance_clock(&timers, clock_ns());
        wake.expires_at({}); // gone off
        move_wake();
    });
}

static void read_input(session &s)
{
    static char bytes[4096];
    auto on_input = [&s](asio::error_code error, std::size_t) {
        if (error || tw_postpone_after(&timers, &s.silence, clock_ns(),
                                       250 * ms) != TW_OK)
            return; // the end of the input
        move_wake();
        read_input(s);
    };
    input.async_read_some(asio::buffer(bytes), on_input);
}

int main()
{
    session s{TW_TIMER_INIT(on_silence), 0};
    tw_config config{ms, clock_ns(), 0, 0, nullptr};
    tw_init(&timers, &config);
    read_input(s);
    loop.run(); // until the input has ended, and no timer is left
    tw_destroy(&timers);
}
