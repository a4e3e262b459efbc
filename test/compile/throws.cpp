// throws.cpp - an exception of a callback, a visitor, a matcher or a writer
// passes through the call. gates.sh also compiles the program for a compiler
// that takes functions of extern "C" for ones that never throw, as Microsoft's
// does with /EHsc.
//
// SPDX-License-Identifier: MIT
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

static timingwheel tw;
static tw_timer timer;

static void visit(tw_timer *, void *)
{
    throw 1;
}

// Returns true if the call throws, and leaves the timingwheel sound.
template <typename Call> static bool throws(Call call)
{
    tw_start(&tw, &timer, 5);
    try {
        call();
    } catch (int) {
        return tw_check(&tw);
    }
    return false;
}

int main()
{
    auto on_fire = [](timingwheel *, tw_timer *) { throw 1; };
    auto match = [](const tw_timer *, void *) -> bool { throw 1; };
    auto write_line = [](const char *, void *) { throw 1; };
    tw_init(&tw, nullptr);
    tw_timer_init(&timer, on_fire);
    bool good = throws([] { tw_foreach(&tw, visit, nullptr); }) &&
                throws([=] { tw_find(&tw, match, nullptr); }) &&
                throws([=] { tw_dump(&tw, write_line, nullptr); }) &&
                throws([] { tw_drain(&tw, visit, nullptr); }) &&
                throws([] { tw_advance_clock_limit(&tw, 5, 1); }) &&
                throws([] { tw_advance_clock(&tw, 5); });
    tw_destroy(&tw);
    return !good;
}
