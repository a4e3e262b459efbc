# thread.sed - puts the calls of thread_timers.c into FRRouting's lib/thread.c.
#
# SPDX-License-Identifier: MIT

# The heap's functions.
s/^DECLARE_HEAP(thread_timer_list, .*/#include "thread_timers.c"/
/^static int thread_timer_cmp/,/^}/d

# These functions are in thread_timers.c.
/^static void show_thread_timers_helper/,/^}/d
/^static struct timeval \*thread_timer_wait/,/^}/d
/^static unsigned int thread_process_timers/,/^}/d

# Freeing a thread_master frees its timers.
/while ((t = thread_timer_list_pop(&m->timer)))/{
    N
    s/.*/\tfree_timers(m);/
}
/^void thread_master_free(struct/,/^}/{
    /^\tstruct thread \*t;$/d
}

# Cancelling by argument.
/t = thread_timer_list_first(&master->timer);/,/^}/c\
\tcancel_timers_of(master, cr->eventobj);\
}

# Another thread wakes the loop if the first deadline is earlier.
s/if (thread_timer_list_first(&m->timer) == thread)/if (m->timer.is_earlier)/
