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

static void on_fire(timingwheel *, tw_timer *)
{
    throw 1;
}

static void visit(tw_timer *, void *)
{
    throw 1;
}

static bool match(const tw_timer *, void *)
{
    throw 1;
}

static void write_line(const char *, void *)
{
    throw 1;
}

// Returns true if the call throws, and leaves the timingwheel sound.
static bool throws(int call)
{
    tw_start(&tw, &timer, 5);
    try {
        switch (call) {
        case 0:
            tw_foreach(&tw, visit, nullptr);
            break;
        case 1:
            tw_find(&tw, match, nullptr);
            break;
        case 2:
            tw_dump(&tw, write_line, nullptr);
            break;
        case 3:
            tw_drain(&tw, visit, nullptr);
            break;
        case 4:
            tw_advance_clock_limit(&tw, 5, 1);
            break;
        default:
            tw_advance_clock(&tw, 5);
            break;
        }
    } catch (int) {
        return tw_check(&tw);
    }
    return false;
}

int main()
{
    tw_init(&tw, nullptr);
    tw_timer_init(&timer, on_fire);
    for (int call = 0; call < 6; call++)
        if (!throws(call))
            return 1 + call;
    tw_destroy(&tw);
    return 0;
}
