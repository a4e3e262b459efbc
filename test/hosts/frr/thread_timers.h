/* thread_timers.h - the timers of a thread_master, as a timing wheel in place
 * of a heap. FRRouting's lib/thread.h includes this file.
 *
 * SPDX-License-Identifier: MIT */

#ifndef THREAD_TIMERS_H
#define THREAD_TIMERS_H

#include "timingwheel.h"

/* The two structs have the names of the heap's structs. */
struct thread_timer_list_item {
    tw_timer timer;
};

struct thread_timer_list_head {
    timingwheel wheel; /* counts milliseconds of monotime() */
    bool is_earlier;   /* the last timer added moved the next wake-up */
};

#endif
