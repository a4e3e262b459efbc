/* timingwheel.h - v2.5.1 - timers for event loops, in one header

   A hierarchical timing wheel: starting, cancelling and postponing take a fixed
   number of steps however many timers wait, and timers fire in order of tick,
   never early. Loop, clock and memory stay yours. Only tw_advance_clock and
   tw_advance_clock_limit call callbacks: no start, cancel or destroy does.

   SPDX-License-Identifier: MIT (the text is at the end)

   CONTENTS

   SYNOPSIS        a program               COSTS           bytes, wheels, code
   WHICH START?    six ways                CONFIGURATION   macros, libraries
   YOUR LOOP       a loop, six rules       DEBUGGING       what TW_DEBUG finds
   WORDS           turn, tick, due ...     THREADS         a lock, or a mailbox
   HOW DO I ...    sixteen tasks           - functions -   a comment on each
   PROMISES        eleven, in order        HOW IT WORKS    before the code
                                           CHANGES         at the end
   The tests compile the code that is marked `example:`.


   SYNOPSIS

   Define TIMINGWHEEL_IMPLEMENTATION in one file, in C99 or C++11. Other files
   only include the header, in C90 with stdint.h and stdbool.h, too.
   Build this with cc -std=c99, and run it:                    example: synopsis
       #define TIMINGWHEEL_IMPLEMENTATION
       #include "timingwheel.h"
       #include <stdio.h>

       struct connection {
           int number;
           tw_timer idle; // nothing is allocated per timer
       };
       static void on_idle(timingwheel *tw, tw_timer *timer)
       {
           struct connection *c = TW_OWNER(timer, struct connection, idle);
           printf("%d: connection %d is idle\n", (int)tw_now(tw), c->number);
       }
       int main(void)
       {
           struct connection c = {7, TW_TIMER_INIT(on_idle)};
           timingwheel tw;
           uint64_t now = 0; // the reading of your clock, here simulated
           tw_init(&tw, NULL); // a tick is one unit, the clock stands at 0
           tw_start_after(&tw, &c.idle, now, 30000); // due at 30000
           now = 20000; // the loop wakes: the connection has sent a message
           tw_advance_clock(&tw, now);
           tw_postpone_after(&tw, &c.idle, now, 30000); // due at 50000
           // prints "50000: connection 7 is idle"
           while (tw_next_deadline(&tw, &now)) // a real loop sleeps until then
               tw_advance_clock(&tw, now);
           tw_destroy(&tw);
       }

   WHICH START?

   fire after a delay           tw_start_after(tw, timer, now, delay)
   at each packet: put it off   tw_postpone_after(tw, timer, now, delay)
   fire at a time               tw_start(tw, timer, deadline)
   at any time in a window      tw_start_within(tw, timer, earliest, latest)
   again, a period later        tw_start, with tw_next_period, in the callback
   in the next call             tw_start(tw, timer, 0)

   Each starts an idle timer, and moves a pending timer. But a postpone to a
   later deadline is only stored, and the timer moves when the old deadline
   comes, once or twice per timeout however many packets come: the cheapest way
   for a timeout that rarely fires. A delay counts from `now`, the latest
   reading of your clock.


   YOUR LOOP                                                       example: loop
       tw_config config = {.tick = 1000000, .start = clock_ns()}; // 1 ms
       tw_init(tw, &config);
       for (;;) {
           wait_for_events(tw_wait(tw, clock_ns(), 1000000000)); // at most 1 s
           tw_advance_clock(tw, clock_ns()); // fires all due timers
           handle_events(); // tw_start_after(tw, timer, clock_ns(), delay)
       }

   1. Data must beat a timeout. After a stall, the loop above fires timers
      before it has read the data that waits. So let the callback read once more
      before it closes a connection. A callback that cannot read needs another
      loop, which reads the clock after the wait, handles all waiting events,
      and then advances to that reading. See test/recipes/README.md.

   2. Read the clock where you start a timer, because the delay counts from
      there. One reading per turn saves 20 to 30 ns a start, but shortens delays
      by up to a turn. A delay given to tw_start fires too early, because
      tw_start takes a time.

   3. Count nanoseconds, with ticks of 1 ms. A clock that is cut off to a
      coarser unit r makes a delay too short by up to r, so add r to each delay:
      1 for milliseconds, the result of clock_getres for a coarse clock. Widen a
      32-bit counter that wraps, at least once per wrap:
          now += (uint32_t)(counter - (uint32_t)now);

   4. Take a monotonic clock. If a clock goes back, pending timers wait until
      the clock has caught up, and a timer started meanwhile may fire at once.
      For calendar dates the remedy is set_back in test/recipes/wall_clock.c.
      For delays, and in a process that is saved and restored, let a step back
      count as no time (test/recipes/adopt.c). Set `start` to the first reading,
      or the first timers lie far ahead, and start slowly.

   5. Round sleeps up to the unit of your wait function, or the loop spins: for
      poll and epoll_wait (wait + 999999) / 1000000, as an int.

   6. A start fails only with max_pending reached, in a visitor of tw_foreach,
      by misuse, or with `latest` before `earliest`. If nothing of this can
      happen, ignore the status.

   For stalls in which data is lost, leases, more work than time, several
   timeouts in one connection, calendar dates, sleeping machines, saved timers,
   threads, other languages and existing programs, see test/recipes/README.md.


   WORDS

   turn         a round of your loop
   call         of tw_advance_clock, tw_advance_clock_limit or tw_poll
   clock        how far the timingwheel has advanced. What you read is called
                your clock
   tick         tick n is the time n * `tick`, even if `start` is not 0; a
                timer's tick is the deadline, rounded up
   wheel        an array of buckets
   bucket       a list of timers whose ticks lie close together
   step         the ticks of one bucket: a single tick in the finest wheel, and
                in each coarser wheel wheel_size times as many
   to cascade   to move to another bucket
   due          the clock has reached the timer's tick
   overdue      the clock had reached the timer's tick before the start
   unfinished   a call that a limit or an exception has stopped, or a tw_poll
                that has returned a timer


   HOW DO I ...

   Close a connection in its callback, or start a timer there? Keep the
   timingwheel in a struct of yours.                              example: close
       struct connection *c = TW_OWNER(timer, struct connection, idle);
       struct server *server = TW_OWNER(tw, struct server, timers);
       c->closed = true; // cancel its other timers, skip its events,
       list_add(&server->closed, c); // and free it after the turn
       tw_start_after(tw, &server->retry, clock_ns(), delay);

   Repeat a timer? Start it again in its callback. This keeps the phase, and
   skips what was missed:                                        example: repeat
       next = tw_next_period(tw_deadline(timer), period, clock_ns(), &missed);
       tw_start(tw, timer, next);
   A period shorter than a tick fires at most once per tick, one shorter than a
   turn at most once per call, and each firing stands for `missed` + 1 periods.
   Instead, tw_after(now, period) drifts, and tw_after(tw_deadline(timer),
   period) makes up for what was missed: with periods of a tick or more, the
   timer fires for each of them in the same call, which tw_advance_clock_limit
   can bound.

   Stop everything? Call tw_destroy, then free the owners of the timers. In a
   callback call tw_drain instead.

   Free an object with a timer? Call tw_cancel first.

   Pause a timer? Ask tw_remaining, then call tw_cancel. To go on, start it with
   the remaining time as its delay.

   Move an object with a timer? Call tw_move.

   Hand a timer to another timingwheel? Call tw_cancel here, tw_start there.

   Find a timer? Call tw_find, which looks at all timers.

   Bound the work of a turn? Call tw_advance_clock_limit.

   Choose `tick`? Ticks of 1 ms suit network timeouts, with a clock in
   nanoseconds. Ticks of one nanosecond are exact to a nanosecond, but each
   timer then passes through more wheels, so that 100,000 timers take nearly
   twice as long. In a program that counts in a unit of its own, keep the unit,
   with tick 1.

   Choose wheel_size? A timer cascades not at all if its delay is at most
   wheel_size - 1 ticks, at most once if it is at most wheel_size^2 - 1, and so
   on, if the clock is up to date at the start, and nothing postpones the timer.
   So 256 suits delays of up to a minute, in ticks of 1 ms. Entries of a store
   live longer: take a coarser tick there, or 1,024. The same helps with 100,000
   requests that nearly all end before a timeout of half a second, because then
   none cascades in vain. Take 16 if a program has many timingwheels with few
   timers each, or if one lives only for a request, because each wheel of 256
   has 33 KB to clear. The least memory is wheel_size 4.

   Do without malloc? See CONFIGURATION, and test/recipes/static.c.

   Simulate? Go from deadline to deadline.                     example: simulate
       while (tw_next_deadline(tw, &now) && now <= end)
           tw_advance_clock(tw, now); // in callbacks and later use tw_now
   With one call for a longer span, or tw_poll with UINT64_MAX, a timer that a
   callback starts for "now" fires after all others. To order the events of one
   time, let the tick carry a priority: start at 4 * time + priority.

   Call handlers of my own, run the loop inside a handler, or switch stacks
   there? Poll: handlers then run outside of any call.         example: dispatch
       while ((timer = tw_poll(tw, now)) != NULL)
           dispatch(timer); // a start for "now" keeps this loop going
   If a handler runs the loop again, both loops must share `now`.

   Use C++? See test/recipes/timer.cpp. A callback may resume a coroutine, but
   must not be suspended.

   Find a mistake? See DEBUGGING. tw_dump prints a timingwheel.


   PROMISES

    1. Never early. A timer fires in the first call that reaches its tick, or,
       if a limit stops that call, in a later one.

    2. Order. Overdue timers fire first, in start order. Then timers fire in
       order of tick, and within a tick in start order. A timer may take any
       place within its tick if it was postponed, has waited for memory (promise
       9), or was left by an exception in tw_drain.

    3. In a callback the clock is the tick of the firing timer, not the `now` of
       the call. An overdue timer leaves the clock alone. A timer started in a
       callback for a later tick, up to the `now` of the call, fires within the
       same call, in order.

    4. Every uint64_t is a deadline, and nothing wraps. A timer whose tick lies
       beyond 64 bits never fires, and never wakes the loop. A `now` below the
       clock fires only overdue timers and what an unfinished call has left.

    5. Overdue timers fire in the next call, with any `now`. An overdue timer
       started in a callback waits for the next call, so a timer that starts
       itself for 0 again and again does not hold up the loop. With
       tw_next_period and a reading of your clock, a periodic timer fires at
       most once per call. But a call that first finishes an unfinished one
       counts as two.

    6. Waking up. The answer of tw_next_deadline is never late. It can be early
       only after a timer was cancelled, postponed, restarted or drained, and
       each such change costs at most one call that fires nothing. The answer is
       the same in an unfinished call as after a whole one, once no timer of the
       call is left. If the answer was right, and the timer due next is
       cancelled or restarted, the answer changes at once to the following
       deadline, provided that
       - the timer was not postponed before, or was alone in its bucket: so an
         idle timeout that is started, postponed and cancelled wakes nobody;
       - and the first bucket of each wheel has fewer than 44 timers (96 without
         64-bit pointers), none of them postponed out of the bucket's step.
       When another timer is cancelled or postponed, the loop may wake at that
       timer's old deadline. A program that computes the time from the sleep it
       planned goes wrong by an early answer: read the clock.

    7. O(1). Start, cancel, postpone and move take a fixed number of steps in
       every single call; only creating a wheel takes longer. A call that
       advances costs O(1) per timer fired or cascaded and per bucket emptied,
       for any span of time. A wait is O(1), too. But after the next timer has
       left, it looks at up to 44 timers (or 96) in each wheel, and at each
       bucket emptied by cancels.

    8. Limits. A limited call handles at most `limit` timers, fired or cascaded
       (timers that wait for memory come on top, promise 9), and tw_wait returns
       0 while timers of the call are left. The next call first finishes the old
       one, then begins its own work. For example, 250 timers of wheel 0 are due
       at 10, the limit is 100, and one timer more is due at 20:
           the call for 10     fires 100, and is unfinished
           the call for 20     fires 100 of those due at 10, and has not begun:
                               its 20 is forgotten
           the next one for 20 fires the last 50, begins, and fires the timer
       A call that uses up its limit exactly by finishing has begun, too.

    9. Memory is allocated for wheels alone, never per timer, and no start fails
       for want of memory. Without memory for its wheel, a timer waits outside
       of the wheels, and fires in time. While timers wait,
       - promise 7, promise 10 and the order within a tick do not hold,
       - a tick at which a waiting timer is due costs a step per waiting timer,
         which no limit bounds,
       - at most one attempt to allocate fails in a call, those of starts in its
         callbacks included. (Each tw_reserve in a callback asks by itself.)
       After tw_reserve no timer with a deadline up to the horizon waits, nor
       one started later with a delay up to the horizon minus what tw_now was at
       the reserve.

   10. No spikes, in a loop that wakes many times per step (of wheel 1, 256 ms
       by default). The longest call grows with the timers fired, the time
       passed in the call, and a wheel_size-th of the timers in one bucket, not
       with all timers pending. For a bucket of 32 timers or more cascades ahead
       of time, about 8 timers whenever so many are due to move.
       - A usual server: a million connections have a timeout of 30 s, each is
         postponed about once a second, and a call comes each ms. If the clients
         came evenly within 30 s, the longest call moves about 70 timers. If all
         came within one second, as after a restart, it moves about 1,800.
       - Of 100,000 timers due within the same 256 ticks, a call per tick moves
         391.
       - Whatever was restarted and cancelled, a call per tick moves at most B
         timers for each wheel that has such a bucket. B is 1 / wheel_size of
         the most timers that were pending at once since the bucket began to
         fill, rounded up to a multiple of 8: 80 with wheel_size 256 and never
         more than 20,000 pending.
       A smaller bucket moves in one call. So does any bucket after a loop has
       slept through the step before it, or after an exception has left
       tw_drain. Of wheel 0, timers of one tick that were all postponed are
       placed again in one call, too.

   11. Callbacks may start, cancel, postpone and move any timer, visit, find,
       drain, reserve and collect, and free the timer that fired, or a cancelled
       one, but not the timingwheel. Inside them advance, poll, trim and destroy
       do nothing, and are misuse for TW_DEBUG. If the implementation is C++,
       callbacks, visitors and matchers may throw. A call is then unfinished,
       and tw_foreach and tw_find have ended; for tw_drain see its comment. A
       longjmp, or a throw through C, breaks tw.


   COSTS

   bytes                       64 bits       Cortex-M3     AVR
   tw_timer                    40            32            22
   timingwheel                 1,432         776           463
   a wheel of 256, of 16       33 KB, 2,176  12 KB, 824    10 KB, 688
   code, gcc -Os               12 KB         10 KB         32 KB

   On i686 a tw_timer has 28 bytes, and a timingwheel 760.

   n wheels serve every deadline up to wheel_size^n ticks ahead. With wheel_size
   256 and ticks of 1 ms, two wheels reach 65 s ahead, and three 4.6 hours. Six
   serve every delay that a clock in nanoseconds can name.


   CONFIGURATION, by #define before the implementation

   TW_MALLOC(size, context)    define both, or neither for malloc. Align for
   TW_FREE(pointer, context)   uint64_t. context is alloc_context. Neither may
                               throw or use tw. A wheel: TW_WHEEL_BYTES(size)
   TW_STATIC                   static functions, in the implementing file only
   TW_DEF (*)                  any other linkage
   TW_TYPES_ONLY               types without functions, for a header of yours
   TIMINGWHEEL_THREADS (*)     the mailbox, for requests from other threads
   TW_CALL(tw, timer)          by default (timer)->callback((tw), (timer)). Not
                               called for NULL. The callback may free timer
   TW_DEBUG                    in each implementing file (see DEBUGGING)
   TW_ASSERT(expr)             with TW_DEBUG, in place of abort; no hints
   (*) Define the macro wherever this header is included.

   If TW_MALLOC needs a later header, include this one again after it, with
   TIMINGWHEEL_IMPLEMENTATION.

   In a library, define TW_STATIC and TIMINGWHEEL_IMPLEMENTATION in each file
   with calls, which the compiler may then inline. A shared library of many
   files may define TW_DEF as extern __attribute__((visibility("hidden")))
   everywhere instead. With neither, two libraries in one program share the
   functions, and TW_MALLOC, of the first library. If these are two *shared*
   libraries with implementations of two versions, they corrupt each other's
   memory, and nothing says so: a shared library hides its functions.

   Files of two versions do not link with one implementation. So in a public
   header of yours, define TW_TYPES_ONLY around the include. Otherwise every
   file that includes your header asks for an implementation of this version.


   DEBUGGING

   With TW_DEBUG, misuse aborts after a line on stderr, even with NDEBUG. What
   may be right only prints a hint, once per timingwheel and kind, and goes on.
   (To stop at a hint, break on twi_print.) A message looks like this:
       timingwheel.h: the timer was never initialised: call tw_timer_init
       first; timer 0x7ffe40, callback 0x401136 (tw_start)

   misuse                                hint
   ------------------------------------  -----------------------------------
   NULL where the comment on a function  a deadline that is not 0 and below
     does not allow it                     half of `start` (is it a delay?)
   a wrong wheel_size                    a delay above 2^63 (negative?),
   a timingwheel that was not set up,      except UINT64_MAX
     or was copied or moved              a first delay below 1/16 of a tick
   a timer with an impossible state, or    (another unit?)
     pending in another timingwheel      a `now`, not 0, over 1,000 ticks below
   tw_move into a pending timer            the latest, also of tw_wait (a clock
   advance, poll, trim or destroy in a     set back? another unit?)
     callback or visitor                 `latest` before `earliest`
   most calls in TW_MALLOC or TW_FREE    a zeroed timer fires (without
   a visitor of tw_foreach that cancels    tw_timer_init it has no callback)
     another timer
   a pending timer freed, copied, moved
     or overwritten, once a call finds
     the broken links

   -fsanitize=address finds a freed timer sooner, and -fsanitize=thread a second
   thread. With TW_DEBUG calls take 1.3 to 5 times as long.


   THREADS

   A timingwheel belongs to one thread, and two timingwheels share nothing.
   Functions of a const timingwheel only read, so that several threads may call
   them under a read lock (with TW_DEBUG, tw_wait notes its hint). A mutex
   around every call is enough to share a timingwheel.

   Or other threads post requests to a tw_mailbox, each for the timer of a
   tw_remote, with lock-free 64-bit atomics of C11 or C++11.    example: mailbox
       tw_mailbox_init(&box, &tw, wake, NULL);
       for (;;) {
           sleep_until_woken(tw_wait(&tw, clock_ns(), second));
           clear_wake_up(); // before tw_collect: a later post wakes again
           tw_advance_clock(&tw, clock_ns());
           tw_collect(&box);
       }

   Any thread may call tw_post_start(&box, &job->timeout, deadline) and
   tw_post_cancel(&box, &job->timeout). No post allocates or fails. A request
   replaces earlier requests for the same timer. A callback sees what was
   written before the post. Before this thread frees a job that nobody posts any
   more, it calls tw_collect, then tw_cancel, because a request may still be on
   its way. When to reuse a job, test/recipes/README.md says.
*/

/* Silences warnings about correct code. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic ignored "-Winline"
#pragma GCC diagnostic ignored "-Wpadded"
#pragma GCC diagnostic ignored "-Wshadow"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#else
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wc99-extensions" /* bool, in C90 */
#pragma clang diagnostic ignored "-Wc++98-compat"   /* noexcept */
#endif
#endif

#ifndef TIMINGWHEEL_H

/* The version, from which names and numbers are made. It is compared below, so
 * that a file with two versions does not compile. */
#define TW_VERSION_MAJOR 2
#define TW_VERSION_MINOR 5
#define TW_VERSION_PATCH 1
#define TIMINGWHEEL_H \
    (TW_VERSION_MAJOR * 10000 + TW_VERSION_MINOR * 100 + TW_VERSION_PATCH)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef TIMINGWHEEL_THREADS
#if defined(__cplusplus)
extern "C++" { /* this header may be included inside extern "C" */
#include <atomic>
}
#define TWI_ATOMIC(type) std::atomic<type>
#define TWI_ORDER(order) std::order
#elif __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
#define TWI_ATOMIC(type) _Atomic(type)
#define TWI_ORDER(order) order
#else
#error "TIMINGWHEEL_THREADS needs the atomics of C11 or C++11"
#undef TIMINGWHEEL_THREADS /* else many errors would follow */
#endif
#if defined(TIMINGWHEEL_THREADS) && \
    (ATOMIC_LLONG_LOCK_FREE != 2 || ATOMIC_POINTER_LOCK_FREE != 2)
#error "TIMINGWHEEL_THREADS needs 64-bit atomics that take no lock"
#endif
#endif /* TIMINGWHEEL_THREADS */

/* The implementation defines a function of this name, which ends in the
 * version, and each file that declares functions refers to it: files of
 * two versions do not link. */
#define TWI_PASTE(major, minor, patch) timingwheel_h_##major##_##minor##_##patch
#define TWI_NAME(major, minor, patch) TWI_PASTE(major, minor, patch)
#define TWI_VERSION \
    TWI_NAME(TW_VERSION_MAJOR, TW_VERSION_MINOR, TW_VERSION_PATCH)

/* With /EHsc, Microsoft's compiler takes functions of extern "C" for ones that
 * never throw, unless they say otherwise. */
#ifdef __cplusplus
#define TWI_THROWS noexcept(false)
#else
#define TWI_THROWS
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types --- */

typedef struct timingwheel timingwheel;
typedef struct tw_timer tw_timer;

/* Called when `timer` fires. See promise 11. */
typedef void tw_callback(timingwheel *tw, tw_timer *timer);

/* Called by tw_foreach and tw_drain, once per timer. */
typedef void tw_visitor(tw_timer *timer, void *context);

/* Called by tw_find, once per timer, until it returns true. */
typedef bool tw_matcher(const tw_timer *timer, void *context);

/* Called by tw_dump, once per line. */
typedef void tw_writer(const char *line, void *context);

/* The status of a call. After an error, no timer has changed. */
enum tw_status {
    TW_OK = 0,
    TW_EINVAL = -1, /* an argument is NULL or out of range, or tw destroyed */
    TW_ENOMEM = -2, /* of tw_reserve alone: TW_MALLOC failed */
    TW_EFULL = -3,  /* max_pending timers are pending already */
    TW_EBUSY = -4   /* inside tw_foreach, TW_MALLOC or TW_FREE */
};

/* The state of a timer. Zero memory is an idle timer. */
typedef enum tw_state {
    TW_IDLE = 0,      /* never started, drained, moved away or destroyed */
    TW_FIRED = 1,     /* fired; the callback may still be running */
    TW_CANCELLED = 2, /* cancelled by tw_cancel */
    TW_PENDING = 3    /* waiting for its deadline */
} tw_state;

/* Settings of a timingwheel. A zero field means the default. C++ before C++20
 * has no names in braces: tw_config config = {}; config.start = now; */
typedef struct tw_config {
    uint64_t tick;       /* time units per tick; 0 = 1 */
    uint64_t start;      /* the first reading of the loop's clock, in time
                            units. With 0 for a clock far from 0, the first
                            timers need more wheels, and start slowly, and
                            TW_DEBUG gives no hints about deadlines */
    uint32_t wheel_size; /* how many times coarser each wheel is than the one
                            before; a wheel has twice as many buckets. A power
                            of two from 2 to 4096 (1024 if size_t has 16 bits);
                            0 = TW_DEFAULT_WHEEL_SIZE */
    size_t max_pending;  /* most timers pending at once, for tw_start: posted
                            starts are not limited; 0 = no limit */
    void *alloc_context; /* passed to TW_MALLOC and TW_FREE */
} tw_config;

#define TW_DEFAULT_WHEEL_SIZE 256
#define TWI_MOST_STEPS (1024u << 2 * (SIZE_MAX > 65535))

/* The bytes of a wheel, from TW_MALLOC, as a constant expression; a multiple
 * of the size of uint64_t. (TWI_LINE serves to align the buckets.) */
#define TW_WHEEL_BYTES(wheel_size)                              \
    (TWI_WORDS(sizeof(twi_wheel) + TWI_LINE +                   \
               2 * (size_t)(wheel_size) * sizeof(twi_bucket)) + \
     TWI_WORDS((2 * (size_t)(wheel_size) + 7) / 8))
#define TWI_WORDS(bytes) (((bytes) + 7) / 8 * sizeof(uint64_t))
#define TWI_LINE \
    (UINTPTR_MAX > UINT32_MAX ? 64 : 0) /* a small machine has no
                                                       cache lines to meet */

/* The result of tw_get_stats. */
typedef struct tw_stats {
    size_t pending;    /* timers pending now */
    uint64_t fired;    /* timers fired since tw_init */
    uint64_t cascaded; /* moves from bucket to bucket since tw_init */
    size_t wheels;     /* wheels allocated */
    size_t buckets;    /* buckets, and lists outside of wheels, with timers */
    size_t bytes;      /* bytes from TW_MALLOC */
} tw_stats;

/* Names that begin with twi_ or TWI_ are private, and so are the fields of all
 * structures from here on, unless said otherwise; compilers need the sizes. */

/* The neighbours of a timer in its ring. A ring is a doubly linked list whose
 * ends meet in the bucket. */
typedef struct twi_link {
    struct twi_link *next, *prev;
} twi_link;

/* A timer, to be embedded in a struct of yours. Do not free a pending timer,
 * and move one with tw_move alone, because neighbours point to it. */
struct tw_timer {
    twi_link link;         /* valid while pending */
    uint64_t deadline;     /* in time units, not rounded to a tick */
    tw_callback *callback; /* public: called to fire (NULL: only marked fired).
                              Read it to tell whose timer this is, and write it
                              while the timer is not pending */
    uint32_t hint;         /* address to prefetch, see "hints"; 1 at first.
                              With TW_DEBUG the timingwheel, in the same field:
                              all files agree on the size. With TW_STATIC,
                              define TW_DEBUG in all files that use it, or in
                              none */
    uint32_t state;        /* tw_state */
};

/* An idle timer, as an initialiser. */
#define TW_TIMER_INIT(callback_function)                 \
    {                                                    \
        {NULL, NULL}, 0, (callback_function), 1, TW_IDLE \
    }

/* Returns a pointer to the struct around a timer or a timingwheel:
 * TW_OWNER(timer, struct connection, idle) is the connection with the member
 * `idle`. The member may be an element with a constant index: timers[READ]. In
 * an array of structs, store the index: TW_OWNER(peer - peer->index, struct
 * message, peers) is the message. For a const timer, name a const type. In C++
 * the type needs standard layout; for any other type, embed a struct of the
 * timer and a pointer to the object. */
#ifdef __cplusplus
#define TW_OWNER(timer, type, member)                              \
    (reinterpret_cast<type *>(reinterpret_cast<uintptr_t>(timer) - \
                              offsetof(type, member)))
#else
#define TW_OWNER(timer, type, member) \
    ((type *)((uintptr_t)(timer)-offsetof(type, member)))
#endif

#ifdef TIMINGWHEEL_THREADS

typedef struct tw_mailbox tw_mailbox;
typedef struct tw_remote tw_remote;

/* A timer that any thread may start and cancel. Only `timer` is public: with
 * a tw_remote `timeout` in a struct job, the job of a callback is
 * TW_OWNER(timer, struct job, timeout.timer). Zero memory is a settled remote
 * with an idle timer and no callback. */
struct tw_remote {
    tw_timer timer;               /* for the timingwheel's thread */
    TWI_ATOMIC(uint64_t) request; /* TWI_NOTHING, TWI_CANCEL or a start */
    tw_remote *next;              /* in the list of posts; NULL: the last */
};

/* Requests on their way to one timingwheel. Padding of two cache lines on both
 * sides keeps the writes of posting threads away from the loop's memory. */
struct tw_mailbox {
    char before[128];
    TWI_ATOMIC(tw_remote *) posted; /* newest first; NULL: tw_collect has all */
    void (*wake)(void *context);    /* tells the loop; NULL: no call */
    void *context;                  /* for wake */
    timingwheel *tw;                /* NULL: every request stays in `posted` */
    char after[128];
};

#endif /* TIMINGWHEEL_THREADS */

#ifdef __cplusplus
}
#endif

#endif /* TIMINGWHEEL_H */

#if TIMINGWHEEL_H != 20501 /* the number of this file */
#error "two versions of timingwheel.h in one file: keep one of them"
#endif

/* ------------------------------------------------------------ functions ---
 *
 * set up     tw_init, tw_destroy, tw_reserve, tw_trim
 * a timer    tw_timer_init, tw_start, tw_start_after, tw_start_within,
 *            tw_postpone, tw_postpone_after, tw_cancel, tw_move
 * the loop   tw_wait, tw_next_deadline, tw_advance_clock,
 *            tw_advance_clock_limit, tw_poll
 * times      tw_after, tw_next_period
 * ask        tw_is_pending, tw_timer_state, tw_deadline, tw_remaining, tw_now,
 *            tw_count, tw_get_stats, tw_strerror
 * visit      tw_foreach, tw_find, tw_drain
 * debug      tw_check, tw_dump
 * threads    tw_mailbox_init, tw_remote_init, tw_post_start, tw_post_cancel,
 *            tw_collect, tw_remote_settled
 *
 * All are O(1), unless the comment says otherwise; "a pass" looks at all timers
 * and at all buckets that may have timers. Functions that only ask take NULL
 * for the timingwheel or timer, and answer as if nothing were pending. Those
 * that return a status return TW_EINVAL for NULL, which is misuse.
 * TW_STATIC declares functions only in the implementing file. */

#if !defined(TWI_DECLARED) &&               \
    (defined(TIMINGWHEEL_IMPLEMENTATION) || \
     !(defined(TW_TYPES_ONLY) || defined(TW_STATIC)))
#define TWI_DECLARED

#ifdef TW_STATIC
#define TWI_STATIC
#endif
#ifndef TW_DEF
#ifdef TW_STATIC
#define TW_DEF static inline /* no warnings about unused functions */
#else
#define TW_DEF extern
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TW_STATIC
#if defined(__GNUC__) || defined(__clang__)
#define TWI_KEPT __attribute__((used, retain)) /* even by --gc-sections */
#else
#define TWI_KEPT
#endif
TW_DEF void TWI_VERSION(void);
static void (*const twi_version)(void) TWI_KEPT = TWI_VERSION;
#endif /* TW_STATIC */

/* Sets up `tw`, which may be uninitialised memory, and returns TW_OK. `config`
 * NULL means all defaults. Do not move or copy `tw`: its lists point into it.
 * Do not call tw_init on a timingwheel in use: its timers and memory would be
 * lost. TW_EINVAL: tw is NULL, or wheel_size is wrong; `tw` is then unchanged.
 * Zero memory counts as destroyed. A fork copies pending timers, which fire in
 * both processes if both advance: set up after the fork, in each one, unless
 * the child only reads. */
TW_DEF int tw_init(timingwheel *tw, const tw_config *config);

/* Makes all pending timers idle and frees all memory. Costs a pass. Does
 * nothing inside a callback or visitor, after tw_destroy, or for NULL. */
TW_DEF void tw_destroy(timingwheel *tw);

/* Allocates the wheels for deadlines up to the time `horizon`, and returns
 * TW_OK. A reserve buys speed: no start fails without it, but a timer that
 * finds no memory for its wheel waits outside of the wheels, and costs more.
 * After TW_OK, until tw_trim, no timer with a deadline up to `horizon` waits
 * outside. Nor does one that starts later with a delay of at most `horizon`
 * minus the clock at the reserve, counted from the clock at the start, which
 * may lag by a sleep. So firmware calls once, at its start:
 *     tw_reserve(tw, tw_now(tw) + longest_delay + longest_sleep);
 * UINT64_MAX serves every deadline, for at most 264 KB with wheel_size 256, and
 * 35 KB with 16. Costs a step per timer that waits. TW_ENOMEM: the wheels
 * allocated so far stay. TW_EBUSY: inside a visitor of tw_foreach, TW_MALLOC or
 * TW_FREE. Or TW_EINVAL. */
TW_DEF int tw_reserve(timingwheel *tw, uint64_t horizon);

/* Frees the wheels coarser than every timer. Does nothing inside a callback or
 * visitor. Costs a pass over the marks of the freed wheels. */
TW_DEF void tw_trim(timingwheel *tw);

/* Makes `timer` idle and sets the callback, as TW_TIMER_INIT does. Do not call
 * it on a pending timer, whose list would break. A timer whose callback is NULL
 * is for tw_poll: tw_advance_clock only marks the timer fired. */
TW_DEF void tw_timer_init(tw_timer *timer, tw_callback *callback);

/* Starts `timer` and returns TW_OK. The timer fires in the first call that
 * reaches the tick of `deadline`, which is the deadline rounded up to a tick.
 * For a delay, call tw_start_after. If the clock has reached the tick already,
 * the timer is overdue, and fires in the next call, as with a deadline of 0. A
 * pending timer moves, and counts as started now. A start never fails for want
 * of memory (promise 9). It fails with TW_EFULL if max_pending are pending,
 * which limits neither posted starts nor the restart of a pending timer, with
 * TW_EBUSY in a visitor of tw_foreach, and with TW_EINVAL after tw_destroy. */
TW_DEF int tw_start(timingwheel *tw, tw_timer *timer, uint64_t deadline);

/* Starts `timer` for the roundest tick in the window from `earliest` to
 * `latest`: the tick whose binary number ends in the most zeros, of 1000 to
 * 1100 for example 1024. Timers of round ticks cascade less and wake the loop
 * together. tw_deadline then returns the chosen time, so keep the nominal time
 * of a periodic timer elsewhere, or the choices add up to a drift. An overdue
 * tick is chosen only if the window has no other. A window without a tick acts
 * like tw_start(earliest): the timer fires after `latest`. Statuses as
 * tw_start; TW_EINVAL: latest < earliest. */
TW_DEF int tw_start_within(timingwheel *tw, tw_timer *timer, uint64_t earliest,
                           uint64_t latest);

/* Sets the deadline of a pending timer, and returns TW_OK. A later deadline is
 * only stored, which cannot fail (but in TW_MALLOC), also in tw_foreach: the
 * timer moves when the clock reaches its old bucket. So the loop wakes for
 * nothing about once per timeout, not once per postpone. The same deadline
 * changes nothing. For an earlier deadline, or a timer that is due or not
 * pending, tw_postpone acts like tw_start, and can fail like it. */
TW_DEF int tw_postpone(timingwheel *tw, tw_timer *timer, uint64_t deadline);

/* Acts like tw_start(tw, timer, tw_after(now, delay)). `now` is the latest
 * reading of your clock, and `delay` counts time units from it. */
TW_DEF int tw_start_after(timingwheel *tw, tw_timer *timer, uint64_t now,
                          uint64_t delay);

/* Acts like tw_postpone(tw, timer, tw_after(now, delay)), so an idle timer
 * starts. */
TW_DEF int tw_postpone_after(timingwheel *tw, tw_timer *timer, uint64_t now,
                             uint64_t delay);

/* Cancels `timer` and returns true. Returns false if `timer` is NULL or not
 * pending, even after tw_destroy. Cancel a pending timer before freeing it. */
TW_DEF bool tw_cancel(timingwheel *tw, tw_timer *timer);

/* Moves a timer to another address: `to` gets all fields of `from`, and its
 * place in the firing order, and `from` becomes idle. A timer that is not
 * pending is only copied. `to` must be zeroed, not pending, or a byte copy
 * of `from`. Do not realloc, as both must be valid: allocate, move, free.
 * Cannot fail. */
TW_DEF void tw_move(timingwheel *tw, tw_timer *from, tw_timer *to);

/* Returns how long the loop may sleep at `now`, in time units: until the next
 * timer is due (at its deadline, rounded up to a tick), but at most `longest`.
 * Returns 0 if a timer is due at `now`, or if timers of an unfinished call are
 * left. Returns `longest` if the clock can reach no pending timer. Choose a
 * `longest` within the range of your wait function. A result of UINT64_MAX
 * means to sleep until an event: test for it before you round. Costs as much as
 * tw_next_deadline. */
TW_DEF uint64_t tw_wait(const timingwheel *tw, uint64_t now, uint64_t longest);

/* Writes the time at which the next timer is due, which is its deadline rounded
 * up to a tick, and returns true. Writes the clock if a timer is overdue.
 * Returns false if no timer is pending that the clock can reach; *deadline is
 * then unchanged. The time is never late, and only early after timers were
 * cancelled, postponed, restarted or drained (promise 6). After the next timer
 * has left, and until a call has ended, each answer costs a step per wheel, per
 * timer of the wheels' first buckets (of at most 44 in each, or 96), and per
 * bucket emptied by cancels. */
TW_DEF bool tw_next_deadline(const timingwheel *tw, uint64_t *deadline);

/* Moves the clock to `now` and fires, in order, every timer due by then.
 * Returns the number of timers fired. A `now` before the clock leaves the clock
 * alone. An unfinished call is finished first, which counts as a call of its
 * own (promises 5 and 8). A timer that a callback starts for a tick that the
 * clock has reached waits for the next call. Does nothing and returns 0 inside
 * a callback or visitor, but a callback may advance or poll a second
 * timingwheel, as for a second clock. Costs what promise 7 says. */
TW_DEF size_t tw_advance_clock(timingwheel *tw, uint64_t now) TWI_THROWS;

/* Acts like tw_advance_clock, but handles at most `limit` timers, fired or
 * cascaded. Returns the number fired, which may be 0 while timers are left. A
 * call stopped by the limit is unfinished: the clock stays at the tick that the
 * call has reached. The next call finishes this one first. If the limit does
 * not suffice for that, the new call has not begun, and its `now` is forgotten.
 * Else it begins, within what is left of its limit, even if that is nothing.
 * limit 0 does nothing. Costs O(1) per timer handled and per bucket emptied by
 * cancels. */
TW_DEF size_t tw_advance_clock_limit(timingwheel *tw, uint64_t now,
                                     size_t limit) TWI_THROWS;

/* Returns the next timer due at `now`, marked as fired, without calling the
 * callback. Returns NULL if no timer is due; the clock is then `now` or later.
 * A timer started for "now" meanwhile is returned, too: start a timer for the
 * next turn only after the NULL, or no NULL may come. Returns NULL inside a
 * callback or visitor. Take tw_poll for a loop with handlers of its own: a
 * handler runs outside of any call, and may poll, or run the whole loop again
 * (then both loops poll with the newest reading). A tw_poll that returns a
 * timer leaves the call unfinished. Costs as tw_advance_clock_limit. */
TW_DEF tw_timer *tw_poll(timingwheel *tw, uint64_t now);

/* Returns now + delay, or UINT64_MAX if the sum exceeds 64 bits. `now` is the
 * latest reading of your clock (see YOUR LOOP), not tw_now, which may lag by a
 * sleep. (A simulation has no other clock: its callbacks pass tw_now.)
 * `delay` is unsigned: a negative delay would never end, so pass 0 instead. */
TW_DEF uint64_t tw_after(uint64_t now, uint64_t delay);

/* Returns the next deadline of a periodic timer that keeps its phase: the first
 * previous + k * period after `now`, with k at least 1. Returns UINT64_MAX if
 * the sum exceeds 64 bits. Late calls add no drift, and missed periods do not
 * fire: *missed (if not NULL) is their number, k - 1. `previous` is
 * tw_deadline(timer), or the nominal time if the timer was started by
 * tw_start_within, or with a deadline of 0. Period 0 acts as 1. */
TW_DEF uint64_t tw_next_period(uint64_t previous, uint64_t period, uint64_t now,
                               uint64_t *missed);

/* Returns true from tw_start until the timer fires, is cancelled or drained, or
 * the timingwheel is destroyed. False for NULL, and in the timer's callback. */
TW_DEF bool tw_is_pending(const tw_timer *timer);

/* Returns the state of a timer; TW_IDLE for NULL. */
TW_DEF tw_state tw_timer_state(const tw_timer *timer);

/* Returns the deadline as given, not rounded; 0 if the timer never started. */
TW_DEF uint64_t tw_deadline(const tw_timer *timer);

/* Returns deadline - now, or 0 if the deadline has passed; the tick of the
 * deadline may come later. 0 for NULL and for a timer that is not pending. */
TW_DEF uint64_t tw_remaining(const tw_timer *timer, uint64_t now);

/* Returns the clock in time units: `start`, or the highest `now` of a call that
 * ended. In a callback, and while a call is unfinished, the clock is the tick
 * that the call has reached; an overdue timer leaves the clock alone. */
TW_DEF uint64_t tw_now(const timingwheel *tw);

/* Returns the number of pending timers. */
TW_DEF size_t tw_count(const timingwheel *tw);

/* Fills *stats. Costs a look at each bucket that may have timers, but at no
 * timer. */
TW_DEF void tw_get_stats(const timingwheel *tw, tw_stats *stats);

/* Returns a sentence: the meaning of a status, and the remedy. Never NULL. */
TW_DEF const char *tw_strerror(int status);

/* Calls `visit` for every pending timer, and returns the number of timers
 * visited. Timers of one tick are visited in start order (with the exceptions
 * of promise 2), ticks in no order. Allowed in a callback. A visitor may cancel
 * and free, move, or postpone to a later deadline the visited timer, but must
 * not touch another, which may be the next to visit. Inside a visitor tw_start
 * and tw_reserve return TW_EBUSY, and tw_foreach and tw_drain return 0. Costs a
 * pass. */
TW_DEF size_t tw_foreach(timingwheel *tw, tw_visitor *visit,
                         void *context) TWI_THROWS;

/* Returns the first pending timer, in the order of tw_foreach, for which
 * `match` returns true, or NULL: "the timer with this number", "any timer that
 * must be waited for". In a callback the firing timer is not pending, and is
 * not found. `match` must change nothing, which TW_DEBUG does not watch. Costs
 * a pass up to the timer, and no function is faster: with many timers, keep a
 * map from number to timer. */
TW_DEF tw_timer *tw_find(const timingwheel *tw, tw_matcher *match,
                         void *context) TWI_THROWS;

/* Takes out every pending timer, in the order of tw_foreach, and returns their
 * number. Each timer becomes idle, then `visit` is called, unless NULL:
 * tw_deadline is still there, but tw_remaining is 0. Ticks come in no order: to
 * take timers out in order, first call tw_poll(tw, UINT64_MAX) until it returns
 * NULL (the clock is then UINT64_MAX for good, and every later start overdue:
 * only before tw_destroy). A visitor may start, cancel and free timers; started
 * timers are not visited. Timers that await a visit are pending, but never wake
 * the loop. Allowed in a callback. Costs a pass.
 *
 * If a visitor throws, the timers not yet visited stay pending, and may fire
 * anywhere within their ticks. The next call places all of them again. The call
 * that runs may fire overdue timers that one of its callbacks has started. */
TW_DEF size_t tw_drain(timingwheel *tw, tw_visitor *visit,
                       void *context) TWI_THROWS;

/* Returns true if the structure is sound (see INVARIANTS), for tests and
 * debugging. Returns false for NULL and after tw_destroy. Costs a pass. */
TW_DEF bool tw_check(const timingwheel *tw);

/* Draws the wheels as text: calls `write` once per line of at most 100 columns,
 * without line end. With wheel_size 4, timers for 9, 11, 13 and 14 are drawn as
 *     wheel 1: step 4, from tick 0, key 9
 *     [..22....] holds 4
 * The key is the tick at which the wheel comes up next.
 * From the clock's bucket on, a sign stands for a bucket, or for several if
 * the wheel has more than 64: . (empty), 1 to 9, + (ten or more) or # (a
 * hundred or more). Allowed in callbacks and visitors; `write` must not change
 * `tw`. Costs a pass. */
TW_DEF void tw_dump(const timingwheel *tw, tw_writer *write,
                    void *context) TWI_THROWS;

#ifdef TIMINGWHEEL_THREADS

/* Sets up a mailbox of `tw`, and `tw` may be set up later. A post into an empty
 * mailbox calls wake(context), unless wake is NULL. Ignored if box is NULL.
 * Keep mailbox and remotes in place, because requests point to them. At the
 * end, join the threads, collect once more, drain and destroy. */
TW_DEF void tw_mailbox_init(tw_mailbox *box, timingwheel *tw,
                            void (*wake)(void *context), void *context);

/* Makes `remote` idle and settled, and sets the callback. Ignored if NULL. */
TW_DEF void tw_remote_init(tw_remote *remote, tw_callback *callback);

/* Any thread: requests a start for `deadline`, in place of any earlier request
 * for the timer not yet applied. Ignored if box or remote is NULL. UINT64_MAX -
 * 2 and UINT64_MAX - 1 act as UINT64_MAX, because a request is deadline + 2. */
TW_DEF void tw_post_start(tw_mailbox *box, tw_remote *remote,
                          uint64_t deadline);

/* Any thread: requests tw_cancel likewise. The timer may have fired before. */
TW_DEF void tw_post_cancel(tw_mailbox *box, tw_remote *remote);

/* The timingwheel's thread: applies all requests posted before this call, in
 * order of first post, and returns 0. Returns 1 where no timer can start:
 * inside tw_foreach, TW_MALLOC or TW_FREE, and while no timingwheel is set up.
 * Every request then stays. Returns 0 if box is NULL. Fires nothing and never
 * waits. Allowed in a callback. Costs one start or cancel per request. */
TW_DEF size_t tw_collect(tw_mailbox *box);

/* The timingwheel's thread: returns true if no request for `remote` is on its
 * way, or if remote is NULL. A cancelled timer will then not fire, and this
 * thread may use or free it, if it is not pending and nobody posts it again. */
TW_DEF bool tw_remote_settled(const tw_remote *remote);

#endif /* TIMINGWHEEL_THREADS */

#ifdef __cplusplus
}
#endif

#elif defined(TW_STATIC) && defined(TWI_DECLARED) && !defined(TWI_STATIC)
#error "define TW_STATIC before timingwheel.h declares its functions"
#endif /* declarations of the functions */

/* ====================================================== implementation ===

   HOW IT WORKS

   WHEELS. With wheel_size 256 a 64-bit tick has eight digits of base 256, here
   in hexadecimal:

       tick  00 00 00 00 00 01 2c 05
                             |  |  '-- wheel 0: bucket 005
                             |  '----- wheel 1: bucket 12c
                             '-------- wheel 2: bucket 001, and so on

       wheel    a bucket spans           reach, at a tick of 1 ms
         0      1 tick                   256 to 512 ms
         1      256 ticks                65 to 131 s
         2      65,536 ticks             4.6 to 9.3 h
         3      2^24 ticks               49 to 99 days
        4..7    2^32 .. 2^56 ticks       35 years .. all of 64 bits

   A *step* of a wheel is what one bucket spans. The wheel's *own step* is the
   step in which the clock is, and its *next step* is the step after. The
   *reach* of a wheel is the own step and the next step of the next coarser
   wheel. A timer starts in the finest wheel that reaches its tick.

   Which wheel reaches a tick follows from the highest bit of the distance: for
   a tick 2^i to 2^(i+1) - 1 ticks ahead of the clock it is wheel_by_bit[i]. The
   one exception is a tick in the next step of this wheel, which the next finer
   wheel reaches, too.

   A reach has 2 * wheel_size steps, each with a bucket of its own. So the
   number of a bucket is one digit of the tick, and the lowest bit of the digit
   to its left: for the digits 01 and 2c it is 0x100 + 0x2c.

   QUIET TICKS. A bucket notes a tick up to which none of its timers is due:

       bucket 12c of wheel 1      ticks 012c00 ......... 012cff
       its timers                          05   07        f0
       its quiet tick             012c04 --|
       it comes up at                      05

   The quiet tick of a wheel is that of its first bucket with timers, or lower.
   It is the wheel's *key* in the *delay queue*, a min-heap of wheels, whose
   head has the *first key*, and says what is due next. When the clock reaches
   the tick after a wheel's quiet tick, the wheel *comes up*, with the bucket
   of this tick. A quiet tick may be too low, after timers have left: then the
   wheel comes up for nothing, and its quiet tick rises. A quiet tick is never
   too high. (tw_dump prints the tick after.)

   WORDS, besides those of the manual

       move down       to cascade to the next finer wheel
       move ahead      to move down before the bucket comes up
       few             up to TWI_FEW timers (12, on small machines 64)
       most            an upper bound of the timers in a bucket
       large, a crowd  a bucket whose `most` is TWI_LARGE (32), or TWI_CROWD
                       (32,768), or higher
       handle          to fire a timer, or to place it in another bucket
       outside         the list of timers without memory for their wheel
       missing         a wheel without buckets, which stands for each wheel
                       that does not exist yet. Its timers are those outside.
                       It comes after the coarsest wheel, and wheel 0 leads back
                       to it
       hint            an address to prefetch (TW_DEBUG prints other hints)

   FUNCTIONS, from the outside in:

       twi_start       state and count; a rare case is twi_start_slow's
       twi_place       finds the wheel, or adds it, or puts the timer outside
       twi_put         bucket, mark, quiet ticks
       twi_insert      ring

       twi_remove      state and count
       twi_leave       next_time and key_in_doubt
       twi_unlink      ring

   THE LIFE OF A TIMER. With wheels of 256, the clock is at tick 0, and a timer
   starts for tick 0x012c05:

   - The highest bit of 0x012c05 is bit 16, and wheel_by_bit[16] is wheel 2,
     whose buckets span 65,536 ticks. But the tick lies in its next step, which
     wheel 1 reaches. So the timer goes to the end of bucket 12c of wheel 1, for
     the ticks 0x012c00 to 0x012cff. If the wheel has no earlier timer, its
     quiet tick becomes 0x012c04, and tw_wait says when to wake.
   - The bucket has 1,000 timers when the clock reaches 0x012b00, where the step
     before the bucket begins. Now its timers can move ahead. A call for
     0x012b40 is 64 ticks after that, and 192 before the bucket's step, and
     moves 1,000 * 64 / (64 + 192) = 250 timers to wheel 0, the last ones first.
     A call for 0x012b80 moves 64 / (64 + 128) of the 750 left, 250 again. If a
     call comes each tick, the bucket is empty at 0x012c00. If one comes each 64
     ticks, 250 timers are left, which move when the bucket comes up.
   - In wheel 0 the timer is in bucket 005, with the timers of its tick alone.
     Both wheels have the key 0x012c04 now. A call for a later time sets the
     clock to 0x012c05. Wheel 1 comes up first, being coarser. Its bucket is
     empty, and the wheel takes the quiet tick of its next bucket for its key.
     Then wheel 0 comes up. The call takes the first timer out of the bucket,
     calls back, and goes on with the next timer.
   - If bucket 12c has 12 timers or fewer when it comes up, none moves: they
     fire in place, each at its tick.

   THE DESIGN

   1. A bucket is a ring of timers in start order. Cancel and postpone never
      touch the delay queue, so they are short.
   2. In a coarse wheel, a bucket with few timers fires in place, and so do two
      timers or more, at its front, that are due at one tick. A bucket with more
      timers moves down one wheel. (A crowd of TWI_CROWD timers moves down in
      any case, which brings its timers into the cache.)
   3. At the same tick the coarser wheel comes first, because its timers were
      started first: as the clock approaches a tick, new timers for the tick go
      into ever finer wheels.
   4. A postpone only writes the deadline. When the bucket comes up, a timer
      whose tick lies outside of the bucket's step is placed again, as if
      started now.
   5. A timer that is overdue at its start goes to the list of the next call.
   6. Without memory for its wheel, a timer goes outside, where it waits until
      `missing` comes up, or tw_reserve adds wheels. Timers that are due go to
      the list of the call, and the others to their wheels, if there is memory
      now. Once TW_MALLOC has failed, the call does not ask again; a start
      outside of calls does.

   THE LIFE OF A CALL, in pseudo-code. twi_skip_call has the first case,
   twi_next_due the loop, twi_handle_bucket what is done with a bucket, and
   twi_end_call the end:

       now is before next_time, its tick is before ahead_tick, and it is not
       before the clock:
           the clock moves to now, and that is all
       finish the unfinished call, if there is one
       begin: target = now, this call's list += next call's list
       repeat:
           the list is empty, and all wheels are quiet up to the target: done
           the limit is reached:        the call is unfinished; stop
           the list has a timer:        fire it (not due: place it again)
           else the clock moves to the tick after the least quiet tick. What
           comes up is
           - `missing`:                 its due timers go to the list, others
                                        to their wheels
           - an empty bucket:           the wheel takes the quiet tick of its
                                        next bucket for its key
           - a crowd, in a coarse wheel: move all down one wheel
           - a bucket of wheel 0:       fire the first timer (not due: place
                                        it again)
           - one whose first two timers
             are due, or its only one:  fire the first
           - one with few timers:       fire the first due timer, if any; raise
                                        the quiet tick to before the earliest
                                        of the others
           - one with more timers, or with one that was postponed out of the
             step: move all down one wheel, and place the postponed ones again
       done: the clock moves to the target; large buckets move ahead; if timers
             have left, the first key is corrected; next_time becomes its time,
             unless a timer waits in the list of the next call

   MOVING DOWN KEEPS START ORDER. Timers leave a bucket from the back, and each
   goes to the front of a bucket below. So timers of one tick keep their order,
   and stand before timers started in the finer wheel.

   MOVING AHEAD keeps promise 10: without it a large bucket would move in one
   call. No timer starts in the bucket of a wheel's next step, because the next
   finer wheel reaches that step. So this bucket can move down in time:

                moved_tick       clock_tick
       own step    |------ d ------>|<-- r -->|
       next step                              |-- the bucket's ticks --|

   A call that moves the clock to d ticks after the wheel's last move, or after
   its own step began if that is later, and r ticks before its next step, moves
   most * d/(d+r) timers. So each call pays for the time passed. ahead_tick says
   when the next batch is due, and calls before that tick do not look. That is
   r / (most/8 + 1) ticks later: most/8 batches are left, which divide the rest
   of the step so that the last one comes before its end. If a bucket becomes
   large, ahead_tick becomes the clock, and the end of the call looks.

   A bucket that has begun goes on, however few are left, until its step begins:
   moved_tick tells that it has begun, because it lies after the first tick of
   the own step. If fewer than two batches are left, `most` is raised to two, so
   that the share does not shrink to single timers. With more than some thousand
   timers, a last share is still there when the step begins. It moves when the
   bucket comes up.

   A coarser wheel that moves ahead at the same time may add timers to the
   bucket. Wheels move ahead from the coarsest on, so that the share of the same
   call counts them. Restarts and cancels make `most` too high, and the share
   with it, so `most` is cut to the number of pending timers. A limit may cut a
   share short: what is left is counted in the calls that follow.

   Timers that move down may make the next step's bucket large. They must not
   pay for the time before they came, so moved_tick becomes the tick of
   clock_time. While a call fires, clock_time still is the `now` of the call
   before. twi_end_call sets it to the `now` of this call, before buckets move
   ahead.

   KEYS AFTER CANCELS. When a timer leaves its bucket, by a cancel, restart or
   drain, the quiet ticks stay. So the first key may be too low, and would wake
   the loop for nothing. The wait before the next call has one remedy, and the
   call another:

   - next_time, the time of the first key, becomes 0 if the timer may be the one
     that is due next. Then tw_wait searches the first buckets of the wheels,
     and changes nothing.
   - key_in_doubt makes the end of the next call look at the first key:
     1. If the first timer of the bucket is for the tick after the key, the key
        is right, and this call is done. The doubt stays, for later first keys.
     2. Else a walk through the bucket looks for its true quiet tick. If that is
        the key, the doubt ends.
     3. If it is higher, the key rises, and 1. follows for the wheel that has
        the first key now. (A key only rises here, so that a call makes a walk
        or two per wheel.)

   Keys after the first one may stay too low, and each may cost one call that
   fires nothing. For example, timers start for 100, for 700 and 600, in one
   bucket of wheel 1, and for 200000 and 210000, in one of wheel 2. The timer
   for 200000 is cancelled. The call that fires the timer for 100 looks at the
   first key, 599. The bucket begins with the timer for 700, and a walk finds
   599 again, so the doubt ends. After 700 the loop wakes at 200000, and that
   call fires nothing.

   A walk ends after TWI_FEW + TWI_LARGE timers, so that it is short; then the
   bucket's own quiet tick stands. If next_time does not become 0 although it
   should, a wait is too short, never too long. next_time becomes 0, too, when a
   call begins, a timer starts overdue, timers are drained, and waiting timers
   are placed: then work is left that no call may skip.

   WHERE IT IS FROM. The idea is of Varghese and Lauck (1987). Wheels on demand
   and the delay queue are Kafka's, whose queue has every bucket; here it has
   the first of each wheel. Linux gave up cascading, and fires a timer up to an
   eighth of its delay late. Here timers cascade, because deadlines are exact to
   a tick.

   INVARIANTS, of which tw_check checks 1 to 7:

   1. link.next->prev is the link itself, all the way round each ring. Each
      timer in a ring is pending. `count` is the number of timers in all rings.
   2. No timer of a bucket is due up to its quiet_tick. The tick after lies in
      the bucket's step, one of 2 * wheel_size steps from the own step on.
   3. A bucket with timers has its mark, and at most `most` timers. An empty
      bucket has quiet_tick UINT64_MAX and `most` 0.
   4. A wheel is not quiet for longer than any of its buckets.
   5. The delay queue is a heap of the wheels (and `missing`) whose quiet tick
      is below UINT64_MAX. The tick after the least one is not before the clock.
   6. next_time is 0; or no call is unfinished, the lists of this call and of
      the next are empty, and next_time is the time of the tick after the least
      quiet tick (UINT64_MAX if the clock cannot reach that tick).
   7. The wheels form a ring, from `missing` by way of the coarsest wheel to the
      finest. A wheel has no large bucket after the step of large_tick.
   8. Of two timers of one tick, the timer in the coarser wheel was started
      first, except timers that were postponed or have waited outside.

   WHAT MAY BE WRONG, within these invariants, and costs only time: a hint, a
   mark of an empty bucket, `recent`; a quiet tick, next_time or ahead_tick that
   is too low; `most` or large_tick that is too high; a moved_tick that is too
   low. But moved_tick must not lie after the clock.
*/

#ifndef TWI_STRUCTS
#define TWI_STRUCTS

/* ------------------------------------------------------------- structs --- */

#if UINTPTR_MAX > UINT32_MAX
#define TWI_HINTS 8 /* how many timers ahead to prefetch: a power of two */
#else
#define TWI_HINTS 0 /* no hints: a small machine has no use for them */
#endif

/* The timers of one step of a wheel, or a list outside of the wheels. */
typedef struct twi_bucket {
    twi_link ring;       /* the timers, in start order */
    uint64_t quiet_tick; /* no timer is due up to this tick, which may be too
                            low; UINT64_MAX: empty. Of the lists only
                            TWI_OUTSIDE has one */
    uint64_t most;       /* an upper bound of the timers; 0: empty. Timers that
                            were restarted, cancelled or fired still count. A
                            bucket moves ahead in shares of it, and the last
                            shares raise it. Of no use in lists */
#if TWI_HINTS != 0
    uint32_t recent[TWI_HINTS]; /* hints of the last timers added; the next to
                                   be replaced is [most % TWI_HINTS] */
#endif
} twi_bucket;

/* One wheel: a block of memory, with the buckets and the marks. */
typedef struct twi_wheel {
    uint64_t quiet_tick;     /* the key in the delay queue: no timer of the
                                wheel is due up to this tick, which may be too
                                low; UINT64_MAX: not in the queue */
    twi_bucket *buckets;     /* 2 * wheel_size buckets */
    struct twi_wheel *finer; /* the next finer wheel; of wheel 0: `missing` */
    unsigned shift;          /* a bucket spans 2^shift ticks */
    unsigned queue_index;    /* position in the delay queue, if there */
    uint64_t large_tick;     /* no large bucket lies after this tick's step; 0
                                in wheel 0, where nothing moves down. Without
                                it each look at the next step's bucket waits for
                                memory: programs with few timers take a third
                                longer */
    uint64_t moved_tick;     /* from here d counts (see MOVING AHEAD): the clock
                                when timers last moved ahead, or clock_time when
                                moves made the next step's bucket large. After
                                the first tick of the own step: the bucket of
                                the next step has begun to move */
    uint64_t *marks;         /* one bit per bucket: it may hold timers */
} twi_wheel;

/* The lists of timers outside of the wheels. */
enum twi_list {
    TWI_THIS_CALL, /* due, and first in the running or unfinished call. tw_drain
                      collects timers here, too: one that an exception leaves,
                      and that is not due, is placed again */
    TWI_OUTSIDE,   /* wait outside of the wheels: no memory for their wheel */
    TWI_NEXT_CALL, /* started overdue: fire in the next call */
    TWI_LISTS
};

/* What runs now: bits, because a visitor may run in a callback.
 * Zero memory counts as destroyed, or never set up. */
enum twi_activity {
    TWI_OPEN = 1,       /* starts are allowed; not in tw_foreach or TW_MALLOC */
    TWI_ADVANCING = 2,  /* inside a call that fires, or tw_collect */
    TWI_DRAINING = 4,   /* inside tw_drain */
    TWI_VISITING = 8,   /* inside tw_foreach: starts return TW_EBUSY */
    TWI_ALLOCATING = 16 /* inside TW_MALLOC or TW_FREE: nothing changes */
};

/* Names that end in _tick count ticks, names that end in _time time units. */
struct timingwheel {
    /* Configuration */
    uint64_t tick_length; /* time units per tick */
    uint64_t last_tick;   /* the last tick with a time in 64 bits */
    size_t max_pending;   /* SIZE_MAX: no limit */
    uint32_t bucket_mask; /* buckets per wheel - 1 */
    unsigned size_bits;   /* log2 of wheel_size */
    /* Clock and counters */
    uint64_t clock_tick; /* the clock; in a call the tick that it has reached */
    uint64_t clock_time; /* `start`, or the highest `now` of a call that ended:
                            not cut to a tick; behind clock_tick in a call */
    uint64_t next_time;  /* when the next timer is due, or too early, never too
                            late. UINT64_MAX: never, or at the last time of all.
                            0: not known, or work is left, so that no call is
                            skipped (invariant 6) */
    size_t count;        /* timers pending */
    uint64_t fired;      /* timers fired since tw_init */
    uint64_t cascaded;   /* timers cascaded since tw_init */
    /* The call in progress, or stopped by a limit */
    uint64_t target_time; /* the `now` of the call */
    uint64_t spent_at;    /* the sum of fired and cascaded that ends the call */
    uint64_t ahead_tick;  /* before this tick no bucket has to move ahead */
    unsigned activity;    /* bits of enum twi_activity; 0: destroyed */
    bool unfinished;      /* has begun, and not ended */
    bool refused;         /* TW_MALLOC has failed in this call, which asks no
                             more. (tw_reserve always asks) */
    bool key_in_doubt;    /* timers have left since the first key was corrected:
                             it may be too low (see KEYS AFTER CANCELS) */
    /* Wheels and lists */
    unsigned queued;             /* wheels in the delay queue */
    twi_wheel missing;           /* a wheel coarser than all others, without
                                    buckets: stands for each wheel that does
                                    not exist. Its timers are those outside of
                                    the wheels, and `buckets` are the lists.
                                    shift is the next wheel's, if one is added;
                                    the finest wheel leads back to it. Unused
                                    places of the arrays below lead here */
    twi_bucket lists[TWI_LISTS]; /* by enum twi_list */
    twi_wheel *wheel_by_bit[64]; /* [i]: the wheel for ticks 2^i to 2^(i+1) - 1
                                    ahead of the clock (see twi_wheel_for);
                                    `missing` if it is not there */
    twi_wheel *queue[65];        /* the delay queue: a min-heap by quiet_tick;
                                    unused places up to [2]: `missing` */
    void *alloc_context;
    /* For the messages of TW_DEBUG */
    uint64_t start_time; /* `start` */
    const char *called;  /* the public function that runs */
    unsigned advised;    /* bits: the kinds of advice printed so far */
};

#endif /* TWI_STRUCTS */

#if defined(TIMINGWHEEL_IMPLEMENTATION) && !defined(TWI_IMPLEMENTED)
#define TWI_IMPLEMENTED

#if defined(TW_MALLOC) != defined(TW_FREE)
#error "TW_MALLOC and TW_FREE must be defined both or neither"
#endif
#ifndef TW_MALLOC
#include <stdlib.h>
#define TW_MALLOC(size, context) ((void)(context), malloc(size))
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#endif

#ifndef TW_CALL
#define TW_CALL(tw, timer) ((timer)->callback((tw), (timer)))
#endif

/* Limits, which tests change all together. */
#ifndef TWI_FEW
/* A bucket with more timers moves down to fire. Without a cache a look at a
 * timer costs far less than a move. */
#if UINTPTR_MAX > UINT32_MAX
#define TWI_FEW 12
#else
#define TWI_FEW 64
#endif
#define TWI_LARGE 32 /* a bucket with as many moves down ahead of time */
/* So many timers move down even if they are all due: on the way they are
 * fetched from memory ahead. Without it a million timers of one tick, in random
 * memory order, take four times as long. */
#define TWI_CROWD 32768
#endif
/* A large bucket moves ahead in batches of so many timers, as many as a hint
 * reaches ahead, so that each batch is fetched from memory in time. */
#define TWI_BATCH 8

/* TWI_PORTABLE switches the builtins and attributes of gcc and clang off.
 * TWI_NOINLINE keeps rare code out of short functions. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(TWI_PORTABLE)
#define TWI_HIGHEST_BIT(bits) (63u ^ (unsigned)__builtin_clzll(bits))
#define TWI_NOINLINE static __attribute__((noinline))
#define TWI_UNLIKELY(expr) __builtin_expect(!!(expr), 0)
#else
#define TWI_NOINLINE static
#define TWI_UNLIKELY(expr) (expr)
#endif

/* Marks a function in which unsigned numbers wrap on purpose. */
#if defined(__clang__)
#define TWI_WRAPS __attribute__((no_sanitize("integer")))
#else
#define TWI_WRAPS
#endif

/* Bits 3 to 34 of an address (see "hints"). */
#define TWI_HINT_OF(address) \
    ((uint32_t)((uintptr_t)(address) >> 3 & UINT32_MAX))

/* ------------------------------------------------------------- TW_DEBUG ---
 * Not needed to follow a timer: the functions twi_rule_... report misuse and
 * abort, and twi_advise_... print what is allowed, but most likely a mistake.
 * They do nothing without TW_DEBUG. `function` is the public function that the
 * user has called. */

#if !defined(TW_DEBUG)
#define TWI_DEBUGGING 0
#define TWI_REPORT(function, timer, sentence) ((void)(function), (void)(timer))
#elif defined(TW_ASSERT)
#define TWI_DEBUGGING 1
#define TWI_REPORT(function, timer, sentence) \
    do {                                      \
        (void)(function), (void)(timer);      \
        TW_ASSERT(0 && sentence);             \
    } while (0)
#else
#include <stdio.h>
#include <stdlib.h>
#define TWI_DEBUGGING 1
#define TWI_PRINTING 1
#define TWI_REPORT(function, timer, sentence) \
    (twi_print("", sentence, function, timer), abort())

TWI_NOINLINE void twi_print(const char *mark, const char *sentence,
                            const char *function, const tw_timer *timer)
{
    fprintf(stderr, "timingwheel.h: %s%s", mark, sentence);
    if (timer != NULL)
        fprintf(stderr, "; timer %p, callback %p", (const void *)timer,
                (const void *)(uintptr_t)timer->callback);
    fprintf(stderr, " (%s)\n", function);
    fflush(stderr); /* abort does not, and stderr may be a file */
}
#endif
#ifndef TWI_PRINTING
#define TWI_PRINTING 0
#define twi_print(mark, sentence, function, timer) ((void)(timer))
#endif

static void twi_set_called(timingwheel *tw, const char *function)
{
    if (TWI_PRINTING)
        tw->called = function;
}

/* A statement: reports the misuse, if there is one. TW_ASSERT is given the
 * sentence. Without TW_DEBUG nothing is evaluated. */
#define TWI_MISUSE(misused, function, timer, sentence) \
    do {                                               \
        if (TWI_DEBUGGING && (misused))                \
            TWI_REPORT(function, timer, sentence);     \
    } while (0)

#define TWI_RULE_GIVEN(function, argument, noun)   \
    TWI_MISUSE((argument) == NULL, function, NULL, \
               "the " noun " is NULL: pass the address of one of yours")

/* The timingwheel may be used, and is where it was set up: `missing` points
 * into it. */
static void twi_rule_set_up(const char *function, const timingwheel *tw)
{
    TWI_RULE_GIVEN(function, tw, "timingwheel");
    TWI_MISUSE(tw != NULL && tw->missing.buckets != tw->lists, function, NULL,
               "the timingwheel is used before tw_init or after tw_destroy, "
               "or was moved or copied: keep it where tw_init has set it up");
    TWI_MISUSE(tw != NULL && (tw->activity & TWI_ALLOCATING) != 0, function,
               NULL,
               "TW_MALLOC or TW_FREE uses its timingwheel: do not call tw_ "
               "functions from the allocator");
}

/* For functions that allow NULL and zero memory. */
static void twi_rule_in_place(const char *function, const timingwheel *tw)
{
    if (TWI_DEBUGGING && tw != NULL && tw->activity != 0)
        twi_rule_set_up(function, tw);
}

static void twi_rule_ready(const char *function, timingwheel *tw)
{
    twi_rule_set_up(function, tw);
    twi_set_called(tw, function);
}

static void twi_rule_live(const char *function, timingwheel *tw)
{
    twi_rule_ready(function, tw);
    TWI_MISUSE(tw != NULL && tw->activity != TWI_OPEN, function, NULL,
               "a callback or visitor must not advance, poll, trim or "
               "destroy its timingwheel: do it after the call (or a callback "
               "has left an earlier call by longjmp, or by an exception "
               "through C)");
}

/* The neighbours of a link lead back to it. Names the one that does not; if
 * none does, `link` may be a copy, and `suspect` is named. */
static void twi_rule_neighbours(const char *function, const twi_link *link,
                                const twi_link *suspect)
{
    if (TWI_DEBUGGING && link->next->prev == link)
        suspect = link->prev;
    else if (TWI_DEBUGGING && link->prev->next == link)
        suspect = link->next;
    TWI_MISUSE(link->next->prev != link || link->prev->next != link, function,
               (const tw_timer *)(const void *)suspect,
               "a pending timer, this timer or a neighbour in its bucket, "
               "was freed, initialised again, copied, moved or overwritten: "
               "cancel it first, or use tw_move; -fsanitize=address finds "
               "the line that freed it (or a second thread uses the "
               "timingwheel: -fsanitize=thread finds the thread)");
}

static void twi_rule_ring(const char *function, const twi_bucket *bucket)
{
    twi_rule_neighbours(function, &bucket->ring, bucket->ring.next);
}

static void twi_rule_link(const char *function, const twi_link *link)
{
    twi_rule_neighbours(function, link, link);
}

static void twi_rule_initialised(const char *function, const tw_timer *timer)
{
    TWI_MISUSE(timer->state > TW_PENDING, function, timer,
               "the timer was never initialised: call tw_timer_init first");
}

/* A timer to be started, moved or cancelled is idle, or pending here. */
static void twi_rule_timer(const timingwheel *tw, const tw_timer *timer)
{
    twi_rule_initialised(tw->called, timer);
    if (!TWI_DEBUGGING || timer->state != TW_PENDING)
        return;
    TWI_MISUSE((timer->hint | 1) != (TWI_HINT_OF(tw) | 1), tw->called, timer,
               "the timer is pending on another timingwheel, or was moved "
               "with its timingwheel, or was never initialised: cancel it "
               "before that, and call tw_timer_init first");
    TWI_MISUSE(tw->count == 0, tw->called, timer,
               "the timer looks pending, but no timer is: it is a copy of a "
               "pending timer, or tw_init was called again: use tw_move, or "
               "destroy the timingwheel first");
    twi_rule_link(tw->called, &timer->link);
}

static void twi_rule_use(const char *function, timingwheel *tw,
                         const tw_timer *timer)
{
    twi_rule_ready(function, tw);
    TWI_RULE_GIVEN(function, timer, "timer");
    if (TWI_DEBUGGING && tw != NULL && timer != NULL)
        twi_rule_timer(tw, timer);
}

/* The kinds of advice: each is printed once per timingwheel. */
enum twi_advice {
    TWI_DELAY = 1,
    TWI_AFTER = 2,
    TWI_NEGATIVE = 4,
    TWI_SHORT = 8,
    TWI_WINDOW = 16,
    TWI_NOW = 32,
    TWI_SILENT = 64
};

static void twi_advise(timingwheel *tw, const char *function, unsigned kind,
                       const tw_timer *timer, const char *sentence)
{
    (void)function, (void)sentence;
    if ((tw->advised & kind) == 0)
        twi_print("hint: ", sentence, function, timer);
    tw->advised |= kind;
}

/* Far before `start`: a deadline shortly before `start` may be one that a
 * program restores. 0 is "at once". */
static bool twi_is_long_ago(const timingwheel *tw, uint64_t deadline)
{
    return deadline != 0 && deadline < tw->start_time - tw->start_time / 2;
}

static void twi_advise_delay(timingwheel *tw, const tw_timer *timer,
                             uint64_t deadline)
{
    if (TWI_PRINTING && twi_is_long_ago(tw, deadline))
        twi_advise(
            tw, tw->called, TWI_DELAY, timer,
            "the deadline lies far before the first reading of the clock: "
            "a delay? Add a reading of the clock, as tw_start_after does");
}

/* Returns the `now` of the unfinished call, or the latest of the others. */
static inline uint64_t twi_latest_time(const timingwheel *tw)
{
    return tw->unfinished ? tw->target_time : tw->clock_time;
}

/* Small steps back harm nobody, and every `now` lies before UINT64_MAX, which
 * takes out all timers. TW_DEBUG may write `advised` of a const timingwheel. */
static void twi_advise_now(const char *function, const timingwheel *tw,
                           uint64_t now, uint64_t latest)
{
    if (now != 0 && now < latest && tw->target_time != UINT64_MAX &&
        (latest - now) / tw->tick_length > 1000)
        twi_advise((timingwheel *)(uintptr_t)tw, function, TWI_NOW, NULL,
                   "`now` lies far before the latest one: an old reading, "
                   "another unit, or a clock that was set back? Read one "
                   "monotonic clock, in one unit, at each call");
}

static void twi_advise_after(timingwheel *tw, const tw_timer *timer,
                             uint64_t now, uint64_t delay)
{
    if (!TWI_PRINTING)
        return;
    if (twi_is_long_ago(tw, tw_after(now, delay)))
        twi_advise(
            tw, tw->called, TWI_AFTER, timer,
            "now + delay lies far before the first reading of the clock: "
            "an old `now`, or another unit? Pass the latest reading");
    if (delay == UINT64_MAX) /* no timeout */
        return;
    if (delay > UINT64_C(1) << 63) {
        twi_advise(tw, tw->called, TWI_NEGATIVE, timer,
                   "the delay is above 2^63, practically for ever: a "
                   "negative number? Pass 0 to fire at once; without a "
                   "timeout, do not start the timer");
        return;
    }
    if (delay != 0 && delay < tw->tick_length / 16)
        twi_advise(tw, tw->called, TWI_SHORT, timer,
                   "the delay is far shorter than a tick, and takes one: "
                   "another unit? If not, set a shorter tw_config.tick");
    else if (delay != 0)
        tw->advised |= TWI_SHORT; /* the unit is right: no advice later */
    if (now >= tw->start_time &&
        now != timer->deadline) /* equal: a timer that catches up */
        twi_advise_now(tw->called, tw, now, tw_now(tw));
}

static void twi_advise_callback(timingwheel *tw, const tw_timer *timer)
{
    if (TWI_PRINTING && timer->callback == NULL && (timer->hint & 1) == 0)
        twi_advise(tw, tw->called, TWI_SILENT, timer,
                   "a timer without a callback has fired: call tw_timer_init, "
                   "or take the timer by tw_poll");
}

/* ------------------------------------------------------- bits and ticks --- */

/* Returns the index of the highest bit set. `bits` is not 0. */
static inline unsigned twi_highest_bit(uint64_t bits)
{
#ifdef TWI_HIGHEST_BIT
    return TWI_HIGHEST_BIT(bits);
#else
    unsigned index = 0;
    while ((bits >>= 1) != 0)
        index++;
    return index;
#endif
}

/* Returns the deadline rounded up to a tick, so that no timer is early. A
 * division is slow, even by 1. In zero memory tick_length is 0. */
static inline uint64_t twi_tick_of(const timingwheel *tw, uint64_t deadline)
{
    if (tw->tick_length <= 1)
        return deadline;
    uint64_t tick = deadline / tw->tick_length;
    return tick + (tick * tw->tick_length != deadline);
}

/* Returns the tick that `now` has reached: rounded down, so that none is early.
 */
static inline uint64_t twi_tick_reached(const timingwheel *tw, uint64_t now)
{
    return tw->tick_length <= 1 ? now : now / tw->tick_length;
}

/* ---------------------------------------------------------------- hints ---
 * A walk through a ring waits for each timer to come from memory. So a timer
 * that enters a bucket notes the timer that entered TWI_HINTS before: a walk
 * from the last entered meets it later. (Without hints a hundred thousand
 * timers take half as long again, and a million three times as long.) A wrong
 * hint costs only speed, because hints are prefetched and never followed. A
 * hint has bits 3 to 34 of an address; the bits above are those of the timer.
 * With TW_DEBUG it names the timingwheel, and bit 0 is clear if the timer began
 * as zero memory. */

/* A macro, because gcc -Os takes such a function for one without effect. The
 * builtin is there if TWI_HIGHEST_BIT is. */
#if TWI_HINTS != 0 && !defined(TW_DEBUG) && defined(TWI_HIGHEST_BIT)
#define TWI_PREFETCH_HINT(timer)                                 \
    __builtin_prefetch((void *)((uintptr_t)(timer) >> 35 << 35 | \
                                (uintptr_t)(timer)->hint << 3),  \
                       1)
#else
#define TWI_PREFETCH_HINT(timer) ((void)0)
#endif

static inline void twi_set_hint(const timingwheel *tw, tw_timer *timer,
                                twi_bucket *bucket)
{
    (void)tw, (void)timer, (void)bucket; /* no build uses all */
#if defined(TW_DEBUG)
    timer->hint = (TWI_HINT_OF(tw) & ~1u) | (timer->hint & 1);
#elif TWI_HINTS != 0
    uint32_t *recent = &bucket->recent[bucket->most % TWI_HINTS];
    timer->hint = *recent;
    *recent = TWI_HINT_OF(timer);
#endif
}

/* ---------------------------------------------------------------- rings --- */

/* A link is the first member of a timer and of a bucket, so one address serves
 * both. If a timer has equal links before and after, they are the bucket, and
 * the timer is alone. */
typedef char twi_link_leads_a_timer[offsetof(tw_timer, link) == 0 ? 1 : -1];
typedef char twi_ring_leads_a_bucket[offsetof(twi_bucket, ring) == 0 ? 1 : -1];

static inline tw_timer *twi_timer_of(twi_link *link)
{
    return (tw_timer *)(void *)link;
}

/* The timers of a bucket from the last to the first, which is where hints lead;
 * none may leave meanwhile. */
#define TWI_FROM_BACK(link, bucket)                                     \
    for (twi_link *link = (bucket)->ring.prev; link != &(bucket)->ring; \
         link = link->prev)

static inline bool twi_is_pending(const tw_timer *timer)
{
    return timer->state == TW_PENDING;
}

static inline bool twi_is_empty(const twi_bucket *bucket)
{
    return bucket->ring.next == &bucket->ring;
}

static inline void twi_note_emptied(twi_bucket *bucket)
{
    bucket->quiet_tick = UINT64_MAX;
    bucket->most = 0;
}

static inline void twi_init_bucket(twi_bucket *bucket)
{
    bucket->ring.next = bucket->ring.prev = &bucket->ring;
    twi_note_emptied(bucket);
}

static inline void twi_unlink(const timingwheel *tw, twi_link *link)
{
    twi_link *next = link->next, *prev = link->prev;
    twi_rule_link(tw->called, link);
    next->prev = prev;
    prev->next = next;
    if (next == prev) /* the bucket, now empty */
        twi_note_emptied((twi_bucket *)(void *)next);
}

/* Appends the timers of `from`, which is then empty, to those of `to`. */
static void twi_append_ring(const timingwheel *tw, twi_bucket *from,
                            twi_bucket *to)
{
    if (twi_is_empty(from))
        return;
    twi_rule_ring(tw->called, from);
    from->ring.next->prev = to->ring.prev;
    to->ring.prev->next = from->ring.next;
    from->ring.prev->next = &to->ring;
    to->ring.prev = from->ring.prev;
    twi_init_bucket(from);
}

/* ---------------------------------------------------------- delay queue --- */

static inline bool twi_is_before(const twi_wheel *a, const twi_wheel *b)
{
    return a->quiet_tick < b->quiet_tick ||
           (a->quiet_tick == b->quiet_tick && a->shift > b->shift);
}

static inline void twi_queue_put(timingwheel *tw, unsigned i, twi_wheel *wheel)
{
    tw->queue[i] = wheel;
    wheel->queue_index = i;
}

/* Brings the wheel at position i to its place, after a change of key. */
static void twi_queue_sift(timingwheel *tw, unsigned i)
{
    twi_wheel *wheel = tw->queue[i];
    for (; i > 0 && twi_is_before(wheel, tw->queue[(i - 1) / 2]);
         i = (i - 1) / 2)
        twi_queue_put(tw, i, tw->queue[(i - 1) / 2]);
    for (unsigned child; (child = 2 * i + 1) < tw->queued; i = child) {
        if (child + 1 < tw->queued &&
            twi_is_before(tw->queue[child + 1], tw->queue[child]))
            child++;
        if (!twi_is_before(tw->queue[child], wheel))
            break;
        twi_queue_put(tw, i, tw->queue[child]);
    }
    twi_queue_put(tw, i, wheel);
}

/* Sets the key of a wheel, which enters, moves in or leaves the delay queue. */
static void twi_queue_set(timingwheel *tw, twi_wheel *wheel, uint64_t quiet)
{
    uint64_t before = wheel->quiet_tick;
    wheel->quiet_tick = quiet;
    if (before == quiet)
        return;
    unsigned i = wheel->queue_index;
    if (quiet == UINT64_MAX) { /* the last wheel takes the place */
        twi_queue_put(tw, i, tw->queue[--tw->queued]);
        tw->queue[tw->queued] = &tw->missing;
        if (i != tw->queued)
            twi_queue_sift(tw, i);
        return;
    }
    if (before == UINT64_MAX)
        twi_queue_put(tw, i = tw->queued++, wheel);
    if (i != 0 || quiet >= tw->queue[1]->quiet_tick ||
        quiet >= tw->queue[2]->quiet_tick) /* else the head stays the head */
        twi_queue_sift(tw, i);
}

/* --------------------------------------------------------------- wheels --- */

/* Returns the finest wheel for a tick after the clock; it may be `missing`. */
static inline twi_wheel *twi_wheel_for(const timingwheel *tw, uint64_t tick)
{
    unsigned bit = twi_highest_bit(tick - tw->clock_tick);
    twi_wheel *wheel = tw->wheel_by_bit[bit];
    /* The exception: the tick lies in the wheel's next step (see WHEELS). */
    if (bit == wheel->shift && bit != 0 &&
        (tick >> bit) - (tw->clock_tick >> bit) == 1)
        wheel = wheel->finer;
    return wheel;
}

static inline uint32_t twi_index_of(const timingwheel *tw,
                                    const twi_wheel *wheel, uint64_t tick)
{
    return (uint32_t)(tick >> wheel->shift & tw->bucket_mask);
}

static inline twi_bucket *twi_bucket_of(const timingwheel *tw,
                                        const twi_wheel *wheel, uint64_t tick)
{
    return &wheel->buckets[twi_index_of(tw, wheel, tick)];
}

/* Returns the first bucket with timers, from the clock on; NULL without one.
 * With `clear`, clears the marks of emptied buckets on the way, each once. */
static inline twi_bucket *twi_first_bucket(const timingwheel *tw,
                                           const twi_wheel *wheel, bool clear)
{
    uint32_t from = twi_index_of(tw, wheel, tw->clock_tick);
    uint32_t last = tw->bucket_mask / 64, word = from / 64;
    uint64_t bits = wheel->marks[word] >> from % 64 << from % 64;
    for (uint32_t words = last + 1;; words--) {
        for (; bits != 0; bits &= bits - 1) {
            uint64_t lowest = bits & ~(bits - 1);
            twi_bucket *bucket =
                &wheel->buckets[word * 64 + twi_highest_bit(lowest)];
            if (!twi_is_empty(bucket))
                return bucket;
            if (clear)
                wheel->marks[word] ^= lowest;
        }
        if (words == 0)
            return NULL;
        word = (word + 1) & last;
        bits = wheel->marks[word];
    }
}

/* Takes the quiet tick of the wheel's first bucket for its key. */
TWI_NOINLINE void twi_requeue(timingwheel *tw, twi_wheel *wheel)
{
    const twi_bucket *first = twi_first_bucket(tw, wheel, true);
    twi_queue_set(tw, wheel, first == NULL ? UINT64_MAX : first->quiet_tick);
}

/* A timer for `tick` is the first of its wheel, or of those that wait outside
 * (then the wheel is `missing`): sets the key and next_time. */
static void twi_note_first(timingwheel *tw, twi_wheel *wheel, uint64_t tick)
{
    twi_queue_set(tw, wheel, tick - 1);
    if (tick <= tw->last_tick && tick * tw->tick_length < tw->next_time)
        tw->next_time = tick * tw->tick_length;
}

/* A bucket of a coarse wheel, that of `tick`, has become large: the end of this
 * call looks at it, or of the next call. If it is the bucket of the next step,
 * its timers have moved down into it, and pay for no time before this call. */
static void twi_note_large(timingwheel *tw, twi_wheel *wheel, uint64_t tick)
{
    if (tick > wheel->large_tick)
        wheel->large_tick = tick;
    if (tick >> wheel->shift == (tw->clock_tick >> wheel->shift) + 1)
        wheel->moved_tick = twi_tick_reached(tw, tw->clock_time);
    tw->ahead_tick = tw->clock_tick;
}

/* --------------------------------------------------- setting up, memory --- */

/* What a timingwheel did before. In C++ the destructor goes back to that, also
 * when a callback throws. */
typedef struct twi_scope {
    timingwheel *tw;
    unsigned before;
#ifdef __cplusplus
    ~twi_scope()
    {
        tw->activity = before;
    }
#endif
} twi_scope;

#define TWI_ENTER(tw, bit)                  \
    twi_scope scope = {tw, (tw)->activity}; \
    (tw)->activity |= (bit)
/* The same, and starts are refused. */
#define TWI_ENTER_CLOSED(tw, bit) \
    TWI_ENTER(tw, bit);           \
    (tw)->activity &= ~(unsigned)TWI_OPEN
#define TWI_LEAVE() (scope.tw->activity = scope.before) /* ~twi_scope, too */

TWI_NOINLINE void twi_clear(void *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)memory)[i] = 0;
}

/* Enters a wheel, or `missing` in its place, into wheel_by_bit. */
static void twi_enter_wheel(timingwheel *tw, unsigned shift, twi_wheel *wheel)
{
    for (unsigned bit = shift; bit < shift + tw->size_bits && bit < 64; bit++)
        tw->wheel_by_bit[bit] = wheel;
}

/* Adds the next coarser wheel. Returns false without memory. */
static bool twi_add_wheel(timingwheel *tw)
{
    size_t buckets = (size_t)tw->bucket_mask + 1;
    size_t bytes = TW_WHEEL_BYTES((tw->bucket_mask + 1) / 2);
    TWI_ENTER_CLOSED(tw, TWI_ALLOCATING);
    twi_wheel *wheel = (twi_wheel *)TW_MALLOC(bytes, tw->alloc_context);
    TWI_LEAVE();
    if (wheel == NULL) {
        tw->refused = true;
        return false;
    }
    twi_clear(wheel, bytes);
    char *end = (char *)(wheel + 1);
    if (TWI_LINE != 0) /* a bucket is one cache line */
        end += (64 - (uintptr_t)end % 64) % 64;
    wheel->buckets = (twi_bucket *)(void *)end;
    wheel->marks = (uint64_t *)(void *)(wheel->buckets + buckets);
    for (size_t i = 0; i < buckets; i++)
        twi_init_bucket(&wheel->buckets[i]);
    wheel->quiet_tick = UINT64_MAX;
    wheel->shift = tw->missing.shift;
    wheel->finer = tw->missing.finer;
    tw->missing.shift += tw->size_bits;
    tw->missing.finer = wheel;
    twi_enter_wheel(tw, wheel->shift, wheel);
    return true;
}

/* A call, or a function that may need memory, begins. Inside of a call or a
 * drain, which has begun itself, an older refusal stays. */
static inline void twi_begin_asking(timingwheel *tw)
{
    if (tw->activity == TWI_OPEN)
        tw->refused = false;
}

/* Frees wheels from the coarsest on, until one has timers. */
TW_DEF void tw_trim(timingwheel *tw)
{
    twi_rule_live(__func__, tw);
    if (tw == NULL || tw->activity != TWI_OPEN)
        return;
    TWI_ENTER_CLOSED(tw, TWI_ALLOCATING);
    twi_wheel *wheel;
    tw->next_time = 0;
    while ((wheel = tw->missing.finer) != &tw->missing &&
           twi_first_bucket(tw, wheel, true) == NULL) {
        twi_queue_set(tw, wheel, UINT64_MAX);
        tw->missing.shift = wheel->shift;
        tw->missing.finer = wheel->finer;
        twi_enter_wheel(tw, wheel->shift, &tw->missing);
        TW_FREE(wheel, tw->alloc_context);
    }
    TWI_LEAVE();
}

TW_DEF int tw_init(timingwheel *tw, const tw_config *config)
{
    static const tw_config defaults = {0, 0, 0, 0, NULL};
    if (config == NULL)
        config = &defaults;
    uint32_t size = config->wheel_size;
    if (size == 0)
        size = TW_DEFAULT_WHEEL_SIZE;
    bool fits = size >= 2 && size <= TWI_MOST_STEPS && (size & (size - 1)) == 0;
    TWI_RULE_GIVEN(__func__, tw, "timingwheel");
    TWI_MISUSE(!fits, __func__, NULL,
               "wheel_size must be a power of two from 2 to 4096, or 0");
    if (tw == NULL || !fits)
        return TW_EINVAL;
    twi_clear(tw, sizeof(*tw));
    tw->tick_length = config->tick == 0 ? 1 : config->tick;
    tw->last_tick = UINT64_MAX / tw->tick_length;
    tw->start_time = tw->clock_time = config->start;
    tw->clock_tick = twi_tick_reached(tw, config->start);
    tw->next_time = tw->ahead_tick = UINT64_MAX;
    tw->max_pending = config->max_pending == 0 ? SIZE_MAX : config->max_pending;
    tw->alloc_context = config->alloc_context;
    tw->bucket_mask = 2 * size - 1;
    tw->size_bits = twi_highest_bit(size);
    for (unsigned i = 0; i < TWI_LISTS; i++)
        twi_init_bucket(&tw->lists[i]);
    tw->missing.quiet_tick = UINT64_MAX;
    tw->missing.buckets = tw->lists;
    tw->missing.finer = &tw->missing;
    for (unsigned i = 0; i < 64; i++)
        tw->wheel_by_bit[i] = tw->queue[i] = &tw->missing;
    tw->activity = TWI_OPEN;
    return TW_OK;
}

TW_DEF void tw_timer_init(tw_timer *timer, tw_callback *callback)
{
    TWI_RULE_GIVEN(__func__, timer, "timer");
    if (timer == NULL)
        return;
    twi_clear(timer, sizeof(*timer));
    timer->callback = callback;
    timer->hint = 1;
}

/* ------------------------------------------------- starting, cancelling --- */

/* Takes a pending timer out of its ring, to cancel, restart or drain it. If it
 * may be the next one, the next wait searches. This is only so that the wait is
 * not too short: a next_time that stays is too low, never too late. Of a lone
 * timer the bucket tells, even if the timer was postponed; of others the
 * deadline, which misses a postponed one. */
static inline void twi_leave(timingwheel *tw, tw_timer *timer)
{
    twi_link *next = timer->link.next;
    tw->key_in_doubt = true;
    if (next == timer->link.prev) { /* alone: both are the bucket */
        const twi_bucket *bucket = (const twi_bucket *)(const void *)next;
        if (TWI_UNLIKELY(bucket->quiet_tick <= tw->queue[0]->quiet_tick))
            tw->next_time = 0;
    } else if (TWI_UNLIKELY(timer->deadline <= tw->next_time)) {
        tw->next_time = 0;
    }
    twi_unlink(tw, &timer->link);
}

/* Takes a pending timer out of its ring, or counts a new one; sets state and
 * deadline. */
static inline void twi_begin_start(timingwheel *tw, tw_timer *timer,
                                   uint64_t deadline)
{
    if (TWI_UNLIKELY(twi_is_pending(timer)))
        twi_leave(tw, timer);
    else
        tw->count++;
    timer->state = TW_PENDING;
    timer->deadline = deadline;
}

static inline void twi_insert(const timingwheel *tw, tw_timer *timer,
                              twi_bucket *bucket, bool at_front)
{
    twi_link *link = &timer->link, *ring = &bucket->ring;
    twi_rule_ring(tw->called, bucket);
    twi_link *prev = at_front ? ring : ring->prev;
    twi_link *next = at_front ? ring->next : ring;
    /* In this order a compiler does not join the stores to link->next and
     * link->prev: a load of one of them shortly after would have to wait. */
    link->next = next;
    prev->next = link;
    next->prev = link;
    link->prev = prev;
    twi_set_hint(tw, timer, bucket);
}

/* A timer for `tick` is the first of its wheel, or has made its bucket large.
 */
TWI_NOINLINE void twi_note_put(timingwheel *tw, twi_wheel *wheel,
                               const twi_bucket *bucket, uint64_t tick)
{
    if (tick - 1 < wheel->quiet_tick)
        twi_note_first(tw, wheel, tick);
    if (bucket->most == TWI_LARGE && wheel->shift != 0)
        twi_note_large(tw, wheel, tick);
}

/* Puts a timer for `tick` into its bucket of a wheel. */
static inline void twi_put(timingwheel *tw, tw_timer *timer, twi_wheel *wheel,
                           uint64_t tick, bool at_front)
{
    uint32_t index = twi_index_of(tw, wheel, tick);
    twi_bucket *bucket = &wheel->buckets[index];
    uint64_t quiet = tick - 1;
    twi_insert(tw, timer, bucket, at_front);
    wheel->marks[index / 64] |= UINT64_C(1) << index % 64;
    bucket->most++;
    bucket->quiet_tick =
        quiet < bucket->quiet_tick ? quiet : bucket->quiet_tick;
    if (TWI_UNLIKELY(quiet < wheel->quiet_tick) ||
        TWI_UNLIKELY(bucket->most == TWI_LARGE))
        twi_note_put(tw, wheel, bucket, tick);
}

/* Puts a timer for a tick after the clock into its wheel. A missing wheel is
 * added, after all finer ones, which timers pass on the way down. If there is
 * no memory, or was none before in this call, the timer waits outside. */
static void twi_place(timingwheel *tw, tw_timer *timer, uint64_t tick)
{
    twi_wheel *wheel = twi_wheel_for(tw, tick);
    while (wheel == &tw->missing && !tw->refused && twi_add_wheel(tw))
        wheel = twi_wheel_for(tw, tick);
    if (wheel != &tw->missing) {
        twi_put(tw, timer, wheel, tick, false);
        return;
    }
    twi_bucket *outside = &tw->lists[TWI_OUTSIDE];
    twi_insert(tw, timer, outside, false);
    if (tick - 1 < outside->quiet_tick)
        outside->quiet_tick = tick - 1;
    if (tick - 1 < wheel->quiet_tick)
        twi_note_first(tw, wheel, tick);
}

/* All cases of a start, for the rare ones and for posted starts, which have no
 * max_pending. twi_start has the usual case, and stays short. */
TWI_NOINLINE int twi_start_slow(timingwheel *tw, tw_timer *timer,
                                uint64_t deadline, size_t max_pending)
{
    if ((tw->activity & TWI_OPEN) == 0)
        return tw->activity == 0 ? TW_EINVAL : TW_EBUSY;
    if (tw->count >= max_pending && !twi_is_pending(timer))
        return TW_EFULL;
    uint64_t tick = twi_tick_of(tw, deadline);
    if (tick <= tw->clock_tick) {
        twi_begin_start(tw, timer, deadline);
        twi_insert(tw, timer, &tw->lists[TWI_NEXT_CALL], false);
        tw->next_time = 0;
        return TW_OK;
    }
    twi_begin_start(tw, timer, deadline);
    twi_begin_asking(tw);
    twi_place(tw, timer, tick);
    return TW_OK;
}

static inline int twi_start(timingwheel *tw, tw_timer *timer, uint64_t deadline)
{
    if (tw == NULL || timer == NULL)
        return TW_EINVAL;
    uint64_t tick = twi_tick_of(tw, deadline);
    if (tw->count >= tw->max_pending || (tw->activity & TWI_OPEN) == 0 ||
        tick <= tw->clock_tick)
        return twi_start_slow(tw, timer, deadline, tw->max_pending);
    twi_wheel *wheel = twi_wheel_for(tw, tick);
    if (wheel == &tw->missing)
        return twi_start_slow(tw, timer, deadline, tw->max_pending);
    twi_begin_start(tw, timer, deadline);
    twi_put(tw, timer, wheel, tick, false);
    return TW_OK;
}

TW_DEF int tw_start(timingwheel *tw, tw_timer *timer, uint64_t deadline)
{
    twi_rule_use(__func__, tw, timer);
    twi_advise_delay(tw, timer, deadline);
    return twi_start(tw, timer, deadline);
}

TW_DEF int tw_start_after(timingwheel *tw, tw_timer *timer, uint64_t now,
                          uint64_t delay)
{
    twi_rule_use(__func__, tw, timer);
    twi_advise_after(tw, timer, now, delay);
    return twi_start(tw, timer, tw_after(now, delay));
}

/* Returns the roundest number in low..high (see tw_start_within). */
static uint64_t twi_roundest(uint64_t low, uint64_t high)
{
    if (low == 0)
        return 0;
    unsigned bit = twi_highest_bit((low - 1) ^ high);
    return high >> bit << bit;
}

TW_DEF int tw_start_within(timingwheel *tw, tw_timer *timer, uint64_t earliest,
                           uint64_t latest)
{
    twi_rule_use(__func__, tw, timer);
    twi_advise_delay(tw, timer, earliest);
    if (TWI_PRINTING && latest < earliest)
        twi_advise(tw, tw->called, TWI_WINDOW, timer,
                   "the timer does not start, because `latest` lies before "
                   "`earliest`: a difference below 0?");
    if (tw == NULL || latest < earliest)
        return TW_EINVAL;
    uint64_t low = twi_tick_of(tw, earliest);
    uint64_t high = twi_tick_reached(tw, latest);
    if (low > high) /* the window has no tick */
        return twi_start(tw, timer, earliest);
    if (low <= tw->clock_tick && high > tw->clock_tick)
        low = tw->clock_tick + 1;
    return twi_start(tw, timer, twi_roundest(low, high) * tw->tick_length);
}

static inline bool twi_is_due(const timingwheel *tw, const tw_timer *timer)
{
    return timer->deadline <= tw->clock_tick * tw->tick_length;
}

static inline int twi_postpone(timingwheel *tw, tw_timer *timer,
                               uint64_t deadline)
{
    if (tw == NULL || timer == NULL || !twi_is_pending(timer) ||
        deadline < timer->deadline ||
        (twi_is_due(tw, timer) && deadline != timer->deadline))
        return twi_start(tw, timer, deadline);
    if ((tw->activity & TWI_ALLOCATING) != 0)
        return TW_EBUSY;
    timer->deadline = deadline; /* the timer moves when its bucket comes up */
    return TW_OK;
}

TW_DEF int tw_postpone(timingwheel *tw, tw_timer *timer, uint64_t deadline)
{
    twi_rule_use(__func__, tw, timer);
    twi_advise_delay(tw, timer, deadline);
    return twi_postpone(tw, timer, deadline);
}

TW_DEF int tw_postpone_after(timingwheel *tw, tw_timer *timer, uint64_t now,
                             uint64_t delay)
{
    twi_rule_use(__func__, tw, timer);
    twi_advise_after(tw, timer, now, delay);
    return twi_postpone(tw, timer, tw_after(now, delay));
}

static inline void twi_remove(timingwheel *tw, tw_timer *timer, tw_state state)
{
    twi_leave(tw, timer);
    timer->state = (uint32_t)state;
    tw->count--;
}

TW_DEF bool tw_cancel(timingwheel *tw, tw_timer *timer)
{
    if (timer == NULL)
        return false;
    twi_rule_initialised(__func__, timer);
    if (!twi_is_pending(timer))
        return false; /* also allowed after tw_destroy */
    twi_rule_use(__func__, tw, timer);
    if (tw == NULL || (tw->activity & TWI_ALLOCATING) != 0)
        return false;
    twi_remove(tw, timer, TW_CANCELLED);
    return true;
}

TW_DEF void tw_move(timingwheel *tw, tw_timer *from, tw_timer *to)
{
    twi_rule_use(__func__, tw, from);
    TWI_RULE_GIVEN(__func__, to, "timer");
    if (tw == NULL || from == NULL || to == NULL || from == to ||
        (tw->activity & TWI_ALLOCATING) != 0)
        return;
    TWI_MISUSE(twi_is_pending(to) && to->link.next->prev == &to->link, __func__,
               to, "tw_move into a pending timer: cancel that timer first");
    *to = *from;
    if (!twi_is_pending(from))
        return;
    to->link.prev->next = to->link.next->prev = &to->link;
    from->state = TW_IDLE;
}

/* ------------------------------------------------------------ cascading --- */

/* Places a timer that is not due, and counts it as cascaded. */
static void twi_place_again(timingwheel *tw, tw_timer *timer)
{
    twi_unlink(tw, &timer->link);
    twi_place(tw, timer, twi_tick_of(tw, timer->deadline));
    tw->cascaded++;
}

/* `missing` has come up, or tw_reserve has added wheels: timers that are due go
 * to the list of the call, others to their wheels, and the rest waits on. Its
 * key may be lower than the quiet tick of the list, never higher. */
TWI_NOINLINE void twi_place_waiting(timingwheel *tw)
{
    const twi_link *ring = &tw->lists[TWI_OUTSIDE].ring;
    const twi_link *last = ring->prev; /* those that wait on come after it */
    tw->lists[TWI_OUTSIDE].quiet_tick = UINT64_MAX;
    twi_queue_set(tw, &tw->missing, UINT64_MAX);
    tw->next_time = 0;
    for (const twi_link *link = ring; link != last;) {
        tw_timer *timer = twi_timer_of(ring->next);
        link = &timer->link;
        twi_unlink(tw, &timer->link);
        if (twi_is_due(tw, timer))
            twi_insert(tw, timer, &tw->lists[TWI_THIS_CALL], false);
        else
            twi_place(tw, timer, twi_tick_of(tw, timer->deadline));
    }
}

TW_DEF int tw_reserve(timingwheel *tw, uint64_t horizon)
{
    twi_rule_ready(__func__, tw);
    if (tw == NULL || tw->activity == 0)
        return TW_EINVAL;
    if ((tw->activity & TWI_OPEN) == 0)
        return TW_EBUSY;
    uint64_t now = tw_now(tw), delay = horizon > now ? horizon - now : 1;
    /* The most ticks that the delay can span, wherever the clock stands later.
     * A timer 2^n ticks ahead is one of the next step, so a finer wheel has it.
     */
    uint64_t ticks = twi_tick_of(tw, tw_after(delay, tw->tick_length - 1));
    unsigned bit = twi_highest_bit((ticks - 1) | 1);
    while (tw->wheel_by_bit[bit] == &tw->missing)
        if (!twi_add_wheel(tw))
            return TW_ENOMEM;
    twi_place_waiting(tw);
    return TW_OK;
}

/* True if the call has handled as many timers as its limit allows. */
static inline bool twi_is_spent(const timingwheel *tw)
{
    return tw->fired + tw->cascaded == tw->spent_at;
}

/* Moves the last `timers` timers of the bucket of `tick`, if it has so many, to
 * the next finer wheel (see MOVING DOWN), until the limit is reached. */
TWI_NOINLINE void twi_move_down(timingwheel *tw, const twi_wheel *wheel,
                                uint64_t tick, uint64_t timers)
{
    twi_bucket *from = twi_bucket_of(tw, wheel, tick);
    for (; timers != 0 && !twi_is_spent(tw) && !twi_is_empty(from); timers--) {
        twi_rule_ring(tw->called, from);
        tw_timer *timer = twi_timer_of(from->ring.prev);
        uint64_t its_tick = twi_tick_of(tw, timer->deadline);
        TWI_PREFETCH_HINT(timer);
        from->most--;
        if ((its_tick ^ tick) >> wheel->shift != 0) { /* was postponed */
            twi_place_again(tw, timer);
            continue;
        }
        twi_unlink(tw, &timer->link);
        twi_put(tw, timer, wheel->finer, its_tick, true);
        tw->cascaded++;
    }
}

/* Handles the first timer of a list, or of a bucket whose timers are due. Takes
 * the timer out and returns it, to fire. But a timer that is not due, because
 * it was postponed, is placed again, and the result is NULL. */
static inline tw_timer *twi_handle_first(timingwheel *tw, twi_bucket *bucket)
{
    twi_rule_ring(tw->called, bucket);
    tw_timer *timer = twi_timer_of(bucket->ring.next);
    if (!twi_is_due(tw, timer)) {
        twi_place_again(tw, timer);
        return NULL;
    }
    TWI_PREFETCH_HINT(timer);
    twi_unlink(tw, &timer->link);
    return timer;
}

/* Handles a coarse bucket. If it has few timers, takes out the first due one
 * and returns it, to fire, and sets the quiet tick to before the earliest of
 * the others. The result is NULL if none is due, or if all timers have moved
 * down, because there are more, or one was postponed. Not for a lone due timer:
 * there is no earliest of the others. The walk begins at the back, so that the
 * first due timer is the last one found. It has no branch that depends on a
 * deadline: with branches a thousand timers take a fifth longer. */
TWI_WRAPS TWI_NOINLINE tw_timer *
twi_handle_coarse(timingwheel *tw, twi_wheel *wheel, twi_bucket *bucket)
{
    uint64_t last = tw->clock_tick | ((UINT64_C(1) << wheel->shift) - 1);
    uint64_t end = last * tw->tick_length; /* may wrap, and be too low: then
                                              timers move down all the same */
    uint64_t later = tw->clock_tick * tw->tick_length + 1;
    uint64_t earliest = UINT64_MAX; /* of the timers not due, from `later` on */
    unsigned timers = 0, due = 0;
    twi_link *first = NULL;
    twi_rule_ring(tw->called, bucket);
    TWI_FROM_BACK (link, bucket) {
        twi_rule_link(tw->called, link);
        uint64_t deadline = twi_timer_of(link)->deadline;
        if (TWI_UNLIKELY(deadline > end) || TWI_UNLIKELY(timers++ == TWI_FEW)) {
            twi_move_down(tw, wheel, tw->clock_tick, UINT64_MAX);
            return NULL;
        }
        first = deadline < later ? link : first;
        due += deadline < later;
        deadline -= later; /* due: wraps to a large number */
        earliest = deadline < earliest ? deadline : earliest;
    }
    if (first != NULL)
        twi_unlink(tw, first);
    uint64_t quiet = tw->clock_tick - 1;
    if (due < 2)
        quiet = twi_tick_of(tw, earliest + later) - 1;
    bucket->quiet_tick = quiet;
    twi_queue_set(tw, wheel, quiet);
    return (tw_timer *)(void *)first;
}

/* True if the first two timers of a bucket are due, or the only one. */
static inline bool twi_first_two_are_due(const timingwheel *tw,
                                         const twi_bucket *bucket)
{
    twi_link *first = bucket->ring.next;
    twi_rule_ring(tw->called, bucket);
    twi_rule_link(tw->called, first);
    return twi_is_due(tw, twi_timer_of(first)) &&
           (first == bucket->ring.prev ||
            twi_is_due(tw, twi_timer_of(first->next)));
}

/* Handles the bucket that has come up: takes out one timer and returns it, to
 * fire, or returns NULL if none was due, or timers have moved. If the first two
 * are due, or the only one, no other needs a look, because the quiet tick stays
 * right. */
static inline tw_timer *twi_handle_bucket(timingwheel *tw, twi_wheel *wheel)
{
    uint32_t index = twi_index_of(tw, wheel, tw->clock_tick);
    twi_bucket *bucket = &wheel->buckets[index];
    tw_timer *timer = NULL;
    if (!twi_is_empty(bucket)) {
        if (wheel->shift != 0 && bucket->most >= TWI_CROWD)
            twi_move_down(tw, wheel, tw->clock_tick, UINT64_MAX);
        else if (wheel->shift == 0 || twi_first_two_are_due(tw, bucket))
            timer = twi_handle_first(tw, bucket);
        else
            timer = twi_handle_coarse(tw, wheel, bucket);
    }
    if (twi_is_empty(bucket)) {
        wheel->marks[index / 64] &= ~(UINT64_C(1) << index % 64);
        twi_requeue(tw, wheel);
    }
    return timer;
}

/* --------------------------------------------------------- moving ahead --- */

/* Moves the share for the time passed of the next step's bucket, and returns
 * the tick at which its next batch is due. `own` and `next` are the first ticks
 * of the two steps. */
TWI_WRAPS static inline uint64_t
twi_move_share(timingwheel *tw, twi_wheel *wheel, uint64_t own, uint64_t next)
{
    twi_bucket *bucket = twi_bucket_of(tw, wheel, next);
    uint64_t from = wheel->moved_tick < own ? own : wheel->moved_tick;
    /* 24 bits of a time are exact enough, and leave 40 for timers. */
    unsigned cut = wheel->shift < 24 ? 0 : wheel->shift - 24;
    uint64_t passed = (tw->clock_tick - from) >> cut; /* d */
    uint64_t span = ((next - from - 1) >> cut) + 1;   /* d + r */
    if (passed != 0) { /* 0: moved_tick stays, so that short times add up */
        twi_move_down(tw, wheel, next,
                      (bucket->most * passed + span - 1) / span);
        wheel->moved_tick = tw->clock_tick;
    }
    if (twi_is_empty(bucket))
        return next;
    if (bucket->most < 2 * TWI_BATCH)
        bucket->most = 2 * TWI_BATCH; /* so that the rest moves in time */
    return tw->clock_tick +
           (next - tw->clock_tick) / (bucket->most / TWI_BATCH + 1);
}

/* Moves a share of each large bucket down early (see MOVING AHEAD), and sets
 * ahead_tick: when the next batch is due to move. If that makes a bucket of a
 * finer wheel large, ahead_tick becomes the clock, and stays that. */
TWI_WRAPS TWI_NOINLINE void twi_move_ahead(timingwheel *tw)
{
    tw->ahead_tick = UINT64_MAX;
    for (twi_wheel *wheel = tw->missing.finer; wheel->shift != 0;
         wheel = wheel->finer) {
        uint64_t own = tw->clock_tick >> wheel->shift << wheel->shift;
        uint64_t next = own + (UINT64_C(1) << wheel->shift), look_tick = next;
        if (wheel->large_tick < next || next == 0)
            continue; /* no large bucket, or no step beyond 64 bits */
        twi_bucket *bucket = twi_bucket_of(tw, wheel, next);
        if (bucket->most > tw->count)
            bucket->most = tw->count; /* restarts count, too */
        if (bucket->most >= TWI_LARGE || wheel->moved_tick > own)
            look_tick = twi_move_share(tw, wheel, own, next);
        if (look_tick < tw->ahead_tick)
            tw->ahead_tick = look_tick;
    }
}

/* --------------------------------------------------------------- firing --- */

/* Returns the quiet tick of a wheel, or of `missing`, after a walk through its
 * first bucket, or the list. It is exact, unless these have TWI_FEW + TWI_LARGE
 * timers or more: no walk is longer, and what they say themselves is never too
 * high. A timer postponed out of the step counts as due at the end of the step,
 * when its bucket must come up. With `correct`, the bucket or list keeps the
 * result, and marks of emptied buckets go. (`missing` has no step, and its
 * shift may be 64.) */
TWI_WRAPS static uint64_t
twi_true_quiet_tick(const timingwheel *tw, const twi_wheel *wheel, bool correct)
{
    bool is_missing = wheel == &tw->missing;
    twi_bucket *first = is_missing ? &wheel->buckets[TWI_OUTSIDE]
                                   : twi_first_bucket(tw, wheel, correct);
    if (first == NULL || twi_is_empty(first))
        return UINT64_MAX;
    unsigned timers = 0;
    uint64_t earliest = UINT64_MAX;
    if (!is_missing)
        earliest =
            (first->quiet_tick + 1) | ((UINT64_C(1) << wheel->shift) - 1);
    TWI_FROM_BACK (link, first) {
        uint64_t tick = twi_tick_of(tw, twi_timer_of(link)->deadline);
        TWI_PREFETCH_HINT(twi_timer_of(link));
        earliest = tick < earliest ? tick : earliest;
        if (++timers == TWI_FEW + TWI_LARGE)
            return first->quiet_tick;
    }
    if (correct)
        first->quiet_tick = earliest - 1;
    return earliest - 1;
}

/* Returns the least true quiet tick, for a wait after timers have left. */
TWI_NOINLINE uint64_t twi_search_quiet_tick(const timingwheel *tw)
{
    uint64_t least = UINT64_MAX;
    const twi_wheel *wheel = &tw->missing;
    do {
        if (wheel->quiet_tick < least) {
            uint64_t quiet = twi_true_quiet_tick(tw, wheel, false);
            least = quiet < least ? quiet : least;
        }
        wheel = wheel->finer;
    } while (wheel != &tw->missing);
    return least;
}

/* True if the key is seen to be right without a walk: its bucket begins with a
 * timer for the tick after. */
static inline bool twi_key_is_seen(const timingwheel *tw,
                                   const twi_wheel *wheel)
{
    if (wheel == &tw->missing)
        return false;
    uint64_t tick = wheel->quiet_tick + 1;
    const twi_bucket *bucket = twi_bucket_of(tw, wheel, tick);
    return !twi_is_empty(bucket) &&
           twi_tick_of(tw, twi_timer_of(bucket->ring.next)->deadline) == tick;
}

/* After timers have left: raises the first key until it is right (see KEYS
 * AFTER CANCELS). Other keys may stay too low, and each costs at most a call
 * that fires nothing. Without a look at the first timer, which costs no walk
 * and leaves the doubt, a loop wakes for nothing two to nine times as often. */
TWI_NOINLINE void twi_correct_keys(timingwheel *tw)
{
    uint64_t before, quiet;
    do {
        twi_wheel *first = tw->queue[0];
        if (twi_key_is_seen(tw, first))
            return;
        before = first->quiet_tick;
        quiet = twi_true_quiet_tick(tw, first, true);
        twi_queue_set(tw, first, quiet);
    } while (quiet != before);
    tw->key_in_doubt = false;
}

/* Nothing due is left: the clock goes to the target, and what other calls need
 * is put in order. */
static inline void twi_end_call(timingwheel *tw, uint64_t target_tick)
{
    tw->unfinished = false;
    tw->clock_tick = target_tick;
    tw->clock_time = tw->target_time; /* first: moved_tick counts from it */
    if (TWI_UNLIKELY(target_tick >= tw->ahead_tick))
        twi_move_ahead(tw);
    if (TWI_UNLIKELY(tw->key_in_doubt))
        twi_correct_keys(tw);
    uint64_t quiet = tw->queue[0]->quiet_tick;
    if (twi_is_empty(&tw->lists[TWI_NEXT_CALL]))
        tw->next_time =
            quiet < tw->last_tick ? (quiet + 1) * tw->tick_length : UINT64_MAX;
}

/* Takes out and returns the next timer due by the target, to fire. NULL: none
 * is left, and the call has ended, or its limit is reached. */
static inline tw_timer *twi_next_due(timingwheel *tw, uint64_t target_tick)
{
    twi_bucket *list = &tw->lists[TWI_THIS_CALL];
    tw_timer *timer = NULL;
    while (timer == NULL) {
        bool list_is_empty = twi_is_empty(list);
        twi_wheel *wheel = tw->queue[0];
        if (list_is_empty && wheel->quiet_tick >= target_tick) {
            twi_end_call(tw, target_tick);
            break;
        }
        if (twi_is_spent(tw))
            break;
        if (!list_is_empty) {
            timer = twi_handle_first(tw, list);
            continue;
        }
        tw->clock_tick = wheel->quiet_tick + 1;
        if (wheel != &tw->missing)
            timer = twi_handle_bucket(tw, wheel);
        else
            twi_place_waiting(tw);
    }
    return timer;
}

/* Goes on with the unfinished call, until it ends or its limit is reached. With
 * `one`, returns the first due timer instead of firing. */
TWI_WRAPS static tw_timer *twi_go_on(timingwheel *tw, bool one)
{
    tw_timer *timer;
    const char *called = tw->called;
    uint64_t target_tick = twi_tick_reached(tw, tw->target_time);
    TWI_ENTER(tw, TWI_ADVANCING);
    while ((timer = twi_next_due(tw, target_tick)) != NULL) {
        timer->state = TW_FIRED;
        tw->count--;
        tw->fired++;
        if (one)
            break;
        twi_advise_callback(tw, timer);
        if (timer->callback != NULL)
            TW_CALL(tw, timer);
        twi_set_called(tw, called);
    }
    TWI_LEAVE();
    return timer;
}

/* Finishes the older call, if it is unfinished; it keeps its own target_time.
 * If nothing of that is left, begins the call for `now`, within what is left of
 * the same limit. A call ends in twi_next_due alone: there `unfinished`
 * becomes false. */
TWI_WRAPS static inline tw_timer *twi_advance(timingwheel *tw, uint64_t now,
                                              uint64_t limit, bool one)
{
    tw->spent_at = tw->fired + tw->cascaded + limit;
    twi_begin_asking(tw);
    if (tw->unfinished) {
        tw_timer *timer = twi_go_on(tw, one);
        if (timer != NULL || tw->unfinished)
            return timer;
    }
    tw->target_time = now < tw->clock_time ? tw->clock_time : now;
    tw->next_time = 0;
    twi_append_ring(tw, &tw->lists[TWI_NEXT_CALL], &tw->lists[TWI_THIS_CALL]);
    tw->unfinished = true;
    return twi_go_on(tw, one);
}

/* Returns true if a call is refused, or has nothing to do but to move the
 * clock, which is then done. An unfinished call is never skipped, because its
 * next_time is 0. Nor is a `now` before the clock: twi_advance takes the clock
 * for it, which never goes back. */
static inline bool twi_skip_call(timingwheel *tw, uint64_t now)
{
    if (tw == NULL || tw->activity != TWI_OPEN)
        return true; /* refused */
    if (now >= tw->next_time || now < tw->clock_time)
        return false;
    uint64_t target_tick = twi_tick_reached(tw, now);
    if (target_tick >= tw->ahead_tick)
        return false;
    tw->clock_tick = target_tick;
    tw->clock_time = now;
    return true;
}

static inline size_t twi_fire(const char *function, timingwheel *tw,
                              uint64_t now, uint64_t limit)
{
    twi_rule_live(function, tw);
    if (TWI_PRINTING)
        twi_advise_now(function, tw, now, twi_latest_time(tw));
    if (limit == 0 || twi_skip_call(tw, now))
        return 0;
    uint64_t before = tw->fired;
    (void)twi_advance(tw, now, limit, false);
    return (tw->fired - before) & SIZE_MAX;
}

TW_DEF size_t tw_advance_clock(timingwheel *tw, uint64_t now) TWI_THROWS
{
    return twi_fire(__func__, tw, now, UINT64_MAX);
}

TW_DEF size_t tw_advance_clock_limit(timingwheel *tw, uint64_t now,
                                     size_t limit) TWI_THROWS
{
    return twi_fire(__func__, tw, now, limit);
}

TW_DEF tw_timer *tw_poll(timingwheel *tw, uint64_t now)
{
    twi_rule_live(__func__, tw);
    if (TWI_PRINTING)
        twi_advise_now(__func__, tw, now, twi_latest_time(tw));
    if (twi_skip_call(tw, now))
        return NULL;
    return twi_advance(tw, now, UINT64_MAX, true);
}

/* -------------------------------------------------- waiting and periods --- */

TW_DEF uint64_t tw_now(const timingwheel *tw)
{
    if (tw == NULL)
        return 0;
    uint64_t time = tw->clock_tick * tw->tick_length;
    return time < tw->clock_time ? tw->clock_time : time;
}

/* tw_next_deadline while next_time does not say it. In zero memory `count` is
 * 0, and no list is read. */
TWI_NOINLINE bool twi_search_next(const timingwheel *tw, uint64_t *deadline)
{
    if (tw->count == 0)
        return false;
    if (((tw->activity & TWI_DRAINING) == 0 &&
         !twi_is_empty(&tw->lists[TWI_THIS_CALL])) ||
        !twi_is_empty(&tw->lists[TWI_NEXT_CALL])) {
        *deadline = tw_now(tw);
        return true;
    }
    uint64_t quiet =
        tw->key_in_doubt ? twi_search_quiet_tick(tw) : tw->queue[0]->quiet_tick;
    if (quiet >= tw->last_tick)
        return false;
    *deadline = (quiet + 1) * tw->tick_length;
    return true;
}

TWI_WRAPS TW_DEF bool tw_next_deadline(const timingwheel *tw,
                                       uint64_t *deadline)
{
    twi_rule_in_place(__func__, tw);
    TWI_RULE_GIVEN(__func__, deadline, "result");
    if (tw == NULL || deadline == NULL)
        return false;
    if (tw->count == 0 ||
        tw->next_time - 1 >= UINT64_MAX - 1) /* 0, or the most */
        return twi_search_next(tw, deadline);
    *deadline = tw->next_time;
    return true;
}

TW_DEF uint64_t tw_wait(const timingwheel *tw, uint64_t now, uint64_t longest)
{
    uint64_t next;
    twi_rule_in_place(__func__, tw);
    if (TWI_PRINTING && tw != NULL)
        twi_advise_now(__func__, tw, now, tw_now(tw));
    if (!tw_next_deadline(tw, &next))
        return longest;
    if (next <= now || next <= twi_latest_time(tw))
        return 0;
    return next - now < longest ? next - now : longest;
}

TW_DEF uint64_t tw_after(uint64_t now, uint64_t delay)
{
    return delay > UINT64_MAX - now ? UINT64_MAX : now + delay;
}

TW_DEF uint64_t tw_next_period(uint64_t previous, uint64_t period, uint64_t now,
                               uint64_t *missed)
{
    if (period == 0)
        period = 1;
    uint64_t passed = now < previous ? 0 : (now - previous) / period;
    if (missed != NULL)
        *missed = passed;
    /* passed * period <= now - previous, so that only the last period can
     * reach beyond 64 bits. */
    return tw_after(previous + passed * period, period);
}

/* ------------------------------------------------ visiting and draining --- */

/* A walk over the lists, and over the buckets that may have timers. */
typedef struct twi_walk {
    const twi_wheel *wheel; /* NULL: begins; `missing`: at the last lists */
    uint32_t index;         /* of the next bucket of the wheel, or list */
    bool clear;             /* clears the marks of empty buckets */
} twi_walk;

/* Returns the next bucket; NULL at the end. TWI_THIS_CALL comes before the
 * wheels, from the coarsest on, and the other lists after them, so that timers
 * of one tick come in start order. (`missing` leads from a const timingwheel to
 * lists that may change.) */
static twi_bucket *twi_next_bucket(const timingwheel *tw, twi_walk *at)
{
    if (at->wheel == NULL) {
        at->wheel = tw->missing.finer;
        return &tw->missing.buckets[TWI_THIS_CALL];
    }
    for (; at->wheel != &tw->missing; at->wheel = at->wheel->finer) {
        while (at->index <= tw->bucket_mask) {
            uint32_t index = at->index;
            uint64_t bits = at->wheel->marks[index / 64] >> index % 64;
            at->index = bits == 0 ? (index / 64 + 1) * 64 : index + 1;
            if ((bits & 1) == 0)
                continue;
            if (!twi_is_empty(&at->wheel->buckets[index]))
                return &at->wheel->buckets[index];
            if (at->clear)
                at->wheel->marks[index / 64] &= ~(UINT64_C(1) << index % 64);
        }
        at->index = 0;
    }
    return ++at->index < TWI_LISTS ? &tw->missing.buckets[at->index] : NULL;
}

TW_DEF size_t tw_foreach(timingwheel *tw, tw_visitor *visit,
                         void *context) TWI_THROWS
{
    size_t visited = 0;
    twi_walk at = {NULL, 0, true};
    twi_rule_ready(__func__, tw);
    TWI_RULE_GIVEN(__func__, visit, "visitor");
    if (tw == NULL || visit == NULL || (tw->activity & TWI_OPEN) == 0)
        return 0;
    TWI_ENTER_CLOSED(tw, TWI_VISITING);
    for (twi_bucket *bucket; (bucket = twi_next_bucket(tw, &at)) != NULL;) {
        twi_rule_ring(__func__, bucket);
        for (twi_link *link = bucket->ring.next, *next; link != &bucket->ring;
             link = next) {
            twi_rule_link(__func__, link);
            next = link->next; /* the visitor may cancel and free the timer */
            visited++;
            const twi_link *prev = link->prev;
            size_t pending = tw->count;
            visit(twi_timer_of(link), context);
            /* prev->next tells whether the visited timer has left. */
            TWI_MISUSE(pending - tw->count > (prev->next != link), __func__,
                       NULL,
                       "the visitor has cancelled a timer that is not the "
                       "visited one: take tw_drain, whose visitor "
                       "may, or note the timer until tw_foreach has returned");
        }
    }
    TWI_LEAVE();
    return visited;
}

TW_DEF tw_timer *tw_find(const timingwheel *tw, tw_matcher *match,
                         void *context) TWI_THROWS
{
    twi_walk at = {NULL, 0, false};
    twi_rule_in_place(__func__, tw);
    TWI_RULE_GIVEN(__func__, match, "matcher");
    if (tw == NULL || match == NULL || tw->activity == 0)
        return NULL;
    for (twi_bucket *bucket; (bucket = twi_next_bucket(tw, &at)) != NULL;) {
        twi_rule_ring(__func__, bucket);
        for (twi_link *link = bucket->ring.next; link != &bucket->ring;
             link = link->next) {
            twi_rule_link(__func__, link);
            if (match(twi_timer_of(link), context))
                return twi_timer_of(link);
        }
    }
    return NULL;
}

static size_t twi_drain(timingwheel *tw, tw_visitor *visit, void *context)
{
    const char *called = tw->called;
    size_t timers = 0;
    twi_walk at = {NULL, 0, true};
    twi_begin_asking(tw);
    TWI_ENTER(tw, TWI_DRAINING);
    twi_bucket *drained = twi_next_bucket(tw, &at); /* TWI_THIS_CALL */
    for (twi_bucket *bucket; (bucket = twi_next_bucket(tw, &at)) != NULL;)
        twi_append_ring(tw, bucket, drained);
    while (tw->queued != 0)
        twi_queue_set(tw, tw->queue[0], UINT64_MAX);
    tw->next_time = 0; /* a visitor may throw: then timers are left */
    for (; !twi_is_empty(drained); timers++) {
        twi_rule_ring(called, drained);
        tw_timer *timer = twi_timer_of(visit != NULL ? drained->ring.next
                                                     : drained->ring.prev);
        TWI_PREFETCH_HINT(timer); /* of use from the back */
        twi_remove(tw, timer, TW_IDLE);
        if (visit != NULL)
            visit(timer, context);
        twi_set_called(tw, called);
    }
    TWI_LEAVE();
    return timers;
}

TW_DEF size_t tw_drain(timingwheel *tw, tw_visitor *visit,
                       void *context) TWI_THROWS
{
    twi_rule_ready(__func__, tw);
    if (tw == NULL || (tw->activity & TWI_OPEN) == 0)
        return 0;
    return twi_drain(tw, visit, context);
}

TW_DEF void tw_destroy(timingwheel *tw)
{
    if (tw == NULL || tw->activity == 0)
        return;
    twi_rule_live(__func__, tw);
    if (tw->activity != TWI_OPEN)
        return;
    (void)twi_drain(tw, NULL, NULL);
    tw_trim(tw);
    twi_clear(tw, sizeof(*tw));
}

/* ----------------------------------------------------------- inspection --- */

TW_DEF size_t tw_count(const timingwheel *tw)
{
    return tw == NULL ? 0 : tw->count;
}

TW_DEF bool tw_is_pending(const tw_timer *timer)
{
    return timer != NULL && twi_is_pending(timer);
}

TW_DEF tw_state tw_timer_state(const tw_timer *timer)
{
    return timer == NULL ? TW_IDLE : (tw_state)timer->state;
}

TW_DEF uint64_t tw_deadline(const tw_timer *timer)
{
    return timer == NULL ? 0 : timer->deadline;
}

TW_DEF uint64_t tw_remaining(const tw_timer *timer, uint64_t now)
{
    return tw_is_pending(timer) && timer->deadline > now ? timer->deadline - now
                                                         : 0;
}

#ifndef TWI_STATIC
TW_DEF void TWI_VERSION(void)
{
}
#endif

TW_DEF const char *tw_strerror(int status)
{
    static const char sentences[][64] = {
        "Done.",
        "NULL, out of range, or destroyed: see the function's comment.",
        "No memory for all wheels: timers fire in time, but cost more.",
        "max_pending timers are pending: cancel one, or raise the limit.",
        "Inside tw_foreach, TW_MALLOC or TW_FREE: start it afterwards."};
    if (status > TW_OK || status < TW_EBUSY)
        return "Not a status of this library: pass what a function returned.";
    return sentences[-status];
}

TW_DEF void tw_get_stats(const timingwheel *tw, tw_stats *stats)
{
    twi_rule_in_place(__func__, tw);
    TWI_RULE_GIVEN(__func__, stats, "result");
    if (stats == NULL)
        return;
    twi_clear(stats, sizeof(*stats));
    if (tw == NULL || tw->activity == 0)
        return;
    stats->pending = tw->count;
    stats->fired = tw->fired;
    stats->cascaded = tw->cascaded;
    stats->wheels = tw->missing.shift / tw->size_bits;
    stats->bytes = stats->wheels * TW_WHEEL_BYTES((tw->bucket_mask + 1) / 2);
    twi_walk at = {NULL, 0, false};
    for (twi_bucket *bucket; (bucket = twi_next_bucket(tw, &at)) != NULL;)
        stats->buckets += !twi_is_empty(bucket);
}

/* Writes a line, with the next of `numbers` in place of each %. The caller's
 * line has at most 100 columns, even with numbers of 20 digits. */
static void twi_write_line(tw_writer *write, void *context, const char *words,
                           const uint64_t *numbers)
{
    char line[101];
    size_t end = 0;
    for (; *words != '\0'; words++) {
        uint64_t unit = 1;
        if (*words != '%') {
            line[end++] = *words;
            continue;
        }
        while (*numbers / unit >= 10)
            unit *= 10;
        for (; unit != 0; unit /= 10)
            line[end++] = (char)('0' + *numbers / unit % 10);
        numbers++;
    }
    line[end] = '\0';
    write(line, context);
}

static size_t twi_ring_length(const twi_bucket *bucket)
{
    size_t timers = 0;
    TWI_FROM_BACK (link, bucket) {
        TWI_PREFETCH_HINT(twi_timer_of(link));
        timers++;
    }
    return timers;
}

/* Draws the buckets of a wheel (see tw_dump). */
TWI_WRAPS static void twi_draw_wheel(const timingwheel *tw,
                                     const twi_wheel *wheel, tw_writer *write,
                                     void *context)
{
    static const char signs[] = ".123456789+#", tail[] = "] holds %";
    char row[1 + 64 + sizeof(tail)] = "[";
    uint64_t step = tw->clock_tick >> wheel->shift, timers = 0;
    uint64_t numbers[] = {wheel->shift / tw->size_bits,
                          UINT64_C(1) << wheel->shift, step << wheel->shift,
                          wheel->quiet_tick + 1};
    uint32_t i = 0, end = 1;
    while (i <= tw->bucket_mask) {
        uint64_t before = timers;
        do {
            timers += twi_ring_length(
                &wheel->buckets[(step + i++) & tw->bucket_mask]);
        } while (i % (tw->bucket_mask / 64 + 1) != 0);
        uint64_t here = timers - before;
        row[end++] = signs[here < 10 ? here : here < 100 ? 10 : 11];
    }
    for (i = 0; i < sizeof(tail); i++)
        row[end++] = tail[i];
    twi_write_line(write, context,
                   wheel->quiet_tick == UINT64_MAX
                       ? "wheel %: step %, from tick %"
                       : "wheel %: step %, from tick %, key %",
                   numbers);
    twi_write_line(write, context, row, &timers);
}

TW_DEF void tw_dump(const timingwheel *tw, tw_writer *write,
                    void *context) TWI_THROWS
{
    tw_stats stats;
    twi_rule_in_place(__func__, tw);
    TWI_RULE_GIVEN(__func__, write, "writer");
    if (write == NULL)
        return;
    if (tw == NULL || tw->activity == 0) {
        write("no timingwheel: NULL, or destroyed", context);
        return;
    }
    tw_get_stats(tw, &stats);
    uint64_t clock[] = {tw_now(tw), tw->clock_tick, tw->tick_length};
    uint64_t counts[] = {stats.pending, stats.fired, stats.cascaded, 0};
    twi_write_line(write, context, "clock: % (tick %, of % time units)", clock);
    twi_write_line(write, context, "% pending, % fired, % cascaded", counts);
    for (unsigned bit = 0; bit < tw->missing.shift; bit += tw->size_bits)
        twi_draw_wheel(tw, tw->wheel_by_bit[bit], write, context);
    for (unsigned i = 0; i < TWI_LISTS; i++)
        counts[3] += twi_ring_length(&tw->lists[i]);
    twi_write_line(write, context, "in no wheel: %", counts + 3);
}

/* True if the ring is sound, and no timer is due before `first`. */
static bool twi_ring_is_sound(const timingwheel *tw, const twi_bucket *bucket,
                              uint64_t first, size_t *timers)
{
    const twi_link *prev = &bucket->ring;
    for (twi_link *link = bucket->ring.next; link != &bucket->ring;
         prev = link, link = link->next) {
        if (link == NULL || link->prev != prev || *timers == tw->count)
            return false;
        const tw_timer *timer = twi_timer_of(link);
        if (!twi_is_pending(timer) || twi_tick_of(tw, timer->deadline) < first)
            return false;
        ++*timers;
    }
    return bucket->ring.prev == prev;
}

TWI_WRAPS static bool twi_bucket_is_sound(const timingwheel *tw,
                                          const twi_wheel *wheel,
                                          uint32_t index)
{
    const twi_bucket *bucket = &wheel->buckets[index];
    uint64_t step = (bucket->quiet_tick + 1) >> wheel->shift;
    if (twi_is_empty(bucket))
        return bucket->quiet_tick == UINT64_MAX && bucket->most == 0;
    return (wheel->marks[index / 64] >> index % 64 & 1) != 0 &&
           (step & tw->bucket_mask) == index &&
           step - (tw->clock_tick >> wheel->shift) <= tw->bucket_mask &&
           bucket->quiet_tick >= wheel->quiet_tick &&
           (bucket->most < TWI_LARGE || wheel->shift == 0 ||
            step <= wheel->large_tick >> wheel->shift);
}

/* True if invariants 5 and 6 hold. */
static bool twi_queue_is_sound(const timingwheel *tw, size_t queued)
{
    for (unsigned i = 0; i < tw->queued; i++)
        if (tw->queue[i]->queue_index != i ||
            (i != 0 && twi_is_before(tw->queue[i], tw->queue[(i - 1) / 2])))
            return false;
    uint64_t quiet = tw->queue[0]->quiet_tick;
    return tw->queued == queued &&
           (quiet == UINT64_MAX || quiet + 1 >= tw->clock_tick) &&
           (tw->next_time == 0 ||
            (tw->next_time == (quiet < tw->last_tick
                                   ? (quiet + 1) * tw->tick_length
                                   : UINT64_MAX) &&
             !tw->unfinished && twi_is_empty(&tw->lists[TWI_THIS_CALL]) &&
             twi_is_empty(&tw->lists[TWI_NEXT_CALL])));
}

TWI_WRAPS TW_DEF bool tw_check(const timingwheel *tw)
{
    if (tw == NULL || tw->activity == 0)
        return false;
    unsigned shift = tw->missing.shift;
    size_t timers = 0, queued = tw->missing.quiet_tick != UINT64_MAX;
    for (const twi_wheel *wheel = tw->missing.finer; wheel != &tw->missing;
         wheel = wheel->finer) {
        shift -= tw->size_bits;
        if (wheel->shift != shift || tw->wheel_by_bit[shift] != wheel)
            return false;
        queued += wheel->quiet_tick != UINT64_MAX;
        for (uint32_t i = 0; i <= tw->bucket_mask; i++) {
            const twi_bucket *bucket = &wheel->buckets[i];
            size_t before = timers;
            if (!twi_bucket_is_sound(tw, wheel, i) ||
                !twi_ring_is_sound(tw, bucket, bucket->quiet_tick + 1,
                                   &timers) ||
                timers - before > bucket->most)
                return false;
        }
    }
    for (unsigned i = 0; i < TWI_LISTS; i++)
        if (!twi_ring_is_sound(
                tw, &tw->lists[i],
                i == TWI_OUTSIDE ? tw->missing.quiet_tick + 1 : 0, &timers))
            return false;
    return shift == 0 && timers == tw->count &&
           twi_queue_is_sound(tw, queued) &&
           (tw->missing.quiet_tick != UINT64_MAX ||
            twi_is_empty(&tw->lists[TWI_OUTSIDE]));
}

/* -------------------------------------------------------------- mailbox ---
 *
 * A request is one word of a remote: nothing (0), a cancel (1), or a start (the
 * deadline plus 2, at most UINT64_MAX). Only an atomic read-modify-write
 * changes the word, so each request is taken once.
 *
 *     posted ---> c ---> b ---> a       newest first, for all threads
 *     oldest ---> a ---> b ---> c       for tw_collect
 *
 * A post that finds nothing pushes the remote onto `posted`. tw_collect takes
 * the whole list, reverses it, and applies the requests.
 *
 * NO REQUEST IS LOST. A remote with a request is in one of the lists, or one
 * thread is about to push it. So a post that finds a request only replaces it.
 * If a post and the collector meet at a remote and the post exchanges first,
 * the collector applies the post's request. If the collector exchanges first,
 * the post finds nothing, and pushes the remote for the next tw_collect.
 *
 * MEMORY ORDERS. The exchange of a request acquires and releases, so a post
 * publishes all earlier writes of its thread, and the collector has read `next`
 * before the next poster that finds nothing writes `next`. A push releases
 * `next`, and the collector acquires `next` with the list: each push is a
 * read-modify-write, and continues the release sequence.
 *
 * NO WAKE-UP IS LOST. The first push after the collector has taken the list
 * finds NULL and wakes the loop. The loop clears the wake-up before taking the
 * list. Either the wake-up is still there, or the loop is about to collect. */
#ifdef TIMINGWHEEL_THREADS

#define TWI_NOTHING UINT64_C(0)
#define TWI_CANCEL UINT64_C(1)
#define TWI_START UINT64_C(2) /* added to the deadline of a start */

#define TWI_RELAXED TWI_ORDER(memory_order_relaxed)
#define TWI_ACQUIRE TWI_ORDER(memory_order_acquire)
#define TWI_RELEASE TWI_ORDER(memory_order_release)
#define TWI_ACQUIRE_RELEASE TWI_ORDER(memory_order_acq_rel)

TW_DEF void tw_mailbox_init(tw_mailbox *box, timingwheel *tw,
                            void (*wake)(void *context), void *context)
{
    if (box == NULL)
        return;
    atomic_store_explicit(&box->posted, (tw_remote *)NULL, TWI_RELAXED);
    box->wake = wake;
    box->context = context;
    box->tw = tw;
}

TW_DEF void tw_remote_init(tw_remote *remote, tw_callback *callback)
{
    if (remote == NULL)
        return;
    tw_timer_init(&remote->timer, callback);
    atomic_store_explicit(&remote->request, TWI_NOTHING, TWI_RELAXED);
}

/* Posts a request. After the push, or if there was a request, the poster must
 * not touch the remote again: the remote may be freed. */
static void twi_post(tw_mailbox *box, tw_remote *remote, uint64_t request)
{
    if (box == NULL || remote == NULL)
        return;
    if (atomic_exchange_explicit(&remote->request, request,
                                 TWI_ACQUIRE_RELEASE) != TWI_NOTHING)
        return;
    tw_remote *first = atomic_load_explicit(&box->posted, TWI_RELAXED);
    do
        remote->next = first;
    while (!atomic_compare_exchange_weak_explicit(&box->posted, &first, remote,
                                                  TWI_RELEASE, TWI_RELAXED));
    if (first == NULL && box->wake != NULL)
        box->wake(box->context);
}

TW_DEF void tw_post_start(tw_mailbox *box, tw_remote *remote, uint64_t deadline)
{
    twi_post(box, remote, tw_after(deadline, TWI_START));
}

TW_DEF void tw_post_cancel(tw_mailbox *box, tw_remote *remote)
{
    twi_post(box, remote, TWI_CANCEL);
}

/* Applies the request of a remote. */
static void twi_apply(timingwheel *tw, tw_remote *remote)
{
    tw_timer *timer = &remote->timer;
    uint64_t request = atomic_exchange_explicit(&remote->request, TWI_NOTHING,
                                                TWI_ACQUIRE_RELEASE);
    twi_rule_timer(tw, timer);
    if (request != TWI_CANCEL) {
        uint64_t deadline =
            request == UINT64_MAX ? request : request - TWI_START;
        twi_advise_delay(tw, timer, deadline);
        (void)twi_start_slow(tw, timer, deadline, SIZE_MAX);
    } else if (twi_is_pending(timer)) {
        twi_remove(tw, timer, TW_CANCELLED);
    }
}

TW_DEF size_t tw_collect(tw_mailbox *box)
{
    if (box == NULL)
        return 0;
    if (box->tw == NULL || box->tw->activity == 0)
        return 1;
    twi_rule_ready(__func__, box->tw);
    if ((box->tw->activity & TWI_OPEN) == 0)
        return 1;
    tw_remote *oldest = NULL, *next;
    tw_remote *remote =
        atomic_exchange_explicit(&box->posted, (tw_remote *)NULL, TWI_ACQUIRE);
    twi_begin_asking(box->tw);
    TWI_ENTER(box->tw, TWI_ADVANCING);
    for (; remote != NULL; remote = next) {
        next = remote->next;
        remote->next = oldest;
        oldest = remote;
    }
    for (; oldest != NULL; oldest = next) {
        next = oldest->next; /* later a poster may push the remote again */
        twi_apply(box->tw, oldest);
    }
    TWI_LEAVE();
    return 0;
}

TW_DEF bool tw_remote_settled(const tw_remote *remote)
{
    return remote == NULL ||
           atomic_load_explicit(&remote->request, TWI_RELAXED) == TWI_NOTHING;
}

#endif /* TIMINGWHEEL_THREADS */

#endif /* TIMINGWHEEL_IMPLEMENTATION */

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* CHANGES

   2.5.1  2026-11-29  Messages of TW_DEBUG reach a stderr that is a file. The
                      manual and comments are mended.
   2.5.0  2026-11-29  A wait after a cancel is short, also if the timer had been
                      postponed. Buckets of 32 timers move early. A reserve for
                      a delay lasts; tw_reserve in a visitor is refused. In one
                      call at most one attempt to allocate fails. Timers of one
                      tick fire faster if they are many. Small machines: smaller
                      wheels, shorter calls. TW_DEBUG names a NULL visitor,
                      matcher or result, and a visitor that cancels another
                      timer. Callbacks may throw with /EHsc, too.
   2.4.0  2026-11-28  No start fails for want of memory. A cancelled timer that
                      was the next no longer wakes the loop. Waits do not depend
                      on whether a call is unfinished. tw_collect applies every
                      request. Large buckets move until they are empty. Versions
                      are told apart by a plain reference. Fewer false hints.
   2.3.0  2026-11-28  Names in object files are those of the source. A file that
                      declares functions needs an implementation of its version.
                      tw_find. Large buckets move early in batches, and restarts
                      no longer speed that up. Hints: each once, fewer that
                      are wrong, and new ones (see DEBUGGING).
   2.2.0  2026-11-27  tw_start_after, tw_postpone_after, TW_WHEEL_BYTES. Hints
                      of TW_DEBUG, which names timers and callbacks. Most files
                      of two versions do not link. Shorter longest calls:
                      buckets of 128 timers move early, until they are empty.
   2.1.0  2026-11-27  Calls with nothing due are half as long. max_pending does
                      not limit posted starts; tw_collect tries waiting starts
                      again: call tw_advance_clock before it. TW_DEBUG prints a
                      line and aborts, also with NDEBUG, and finds NULL. The
                      allocator's calls are refused. tw_dump shows keys.
   2.0.0  2026-11-26  A new core: 40 bytes per timer, nothing else allocated.
                      tw_reserve(tw, horizon); `bytes` of tw_stats; tw_move.
   1.2.0  2026-11-25  No spikes. tw_remaining, TW_CALL.
   1.1.0  2026-11-24  Overdue timers fire first. TW_OWNER, tw_dump, the mailbox.
   1.0.0  2026-11-21  The first version.

   LICENCE: MIT License

   Copyright (c) 2026 the timingwheel.h authors

   Permission is hereby granted, free of charge, to any person obtaining a copy
   of this software and associated documentation files (the "Software"), to deal
   in the Software without restriction, including without limitation the rights
   to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
   copies of the Software, and to permit persons to whom the Software is
   furnished to do so, subject to the following conditions:

   The above copyright notice and this permission notice shall be included in
   all copies or substantial portions of the Software.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
   IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
   FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
   AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
   LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
   OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
   SOFTWARE.
*/
