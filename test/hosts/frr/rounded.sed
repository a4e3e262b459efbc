# rounded.sed - makes FRRouting's heap round the wait for a timer up to a
# millisecond, as our adapter does. The rest of lib/thread.c stays.
#
# SPDX-License-Identifier: MIT

/^static struct timeval \*thread_timer_wait/,/^}/{
    s/^\treturn timer_val;/\ttimer_val->tv_usec += 999;\n&/
}
