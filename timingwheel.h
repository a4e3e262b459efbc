/* timingwheel.h - v1.0.0 - timers for event loops, in one header

   A hierarchical timing wheel: any number of timers, started, cancelled and
   put off in constant time, fired in exact order and never early, with no
   fixed-rate tick. You own the loop, the clock and the timers.

   SPDX-License-Identifier: MIT (the text is at the end)


   SYNOPSIS

   In one C or C++ file define TIMINGWHEEL_IMPLEMENTATION before including this
   header; include it plainly everywhere else.

   example: synopsis.c
       #define TIMINGWHEEL_IMPLEMENTATION
       #include "timingwheel.h"
       #include <stdio.h>

       struct connection {
           int number;
           tw_timer idle; // embedded: nothing is allocated per timer
       };

       static void on_idle(timingwheel *tw, tw_timer *timer)
       {
           char *start = (char *)timer - offsetof(struct connection, idle);
           struct connection *c = (struct connection *)start;
           printf("%d: %d idle\n", (int)tw_now(tw), c->number);
       }

       int main(void)
       {
           timingwheel tw;
           struct connection a = {1, TW_TIMER_INIT(on_idle)};
           struct connection b = {2, TW_TIMER_INIT(on_idle)};
           uint64_t deadline;

           tw_init(&tw, NULL);            // ticks of one unit, clock at 0
           tw_start(&tw, &a.idle, 30000); // say, milliseconds
           tw_start(&tw, &b.idle, 30000);
           tw_advance_clock(&tw, 20000);  // nothing is due
           tw_postpone(&tw, &b.idle, tw_after(tw_now(&tw), 30000));

           while (tw_next_deadline(&tw, &deadline))
               tw_advance_clock(&tw, deadline); // a real loop sleeps till then
           tw_destroy(&tw);
           return 0; // it has printed "30000: 1 idle" and "50000: 2 idle"
       }

   A real loop reads its clock, fires what is due and sleeps for as long as
   tw_wait says:

       for (;;) {
           uint64_t wait = tw_wait(&tw, read_clock(), one_minute);
           sleep_or_handle_events(wait);
           tw_advance_clock(&tw, read_clock());
       }

   Where the sleep counts in a coarser unit, round the wait up: rounded down,
   the loop spins until the deadline. Set tw_config.start to what the clock
   reads at first.


   WHEN TO USE IT, AND WHEN NOT

   Use it where timers are many or busy: idle time-outs pushed back at every
   packet, request time-outs of which one in a thousand fires, retries,
   heartbeats, events of a simulation. The cost of an operation does not grow
   with the number of timers, but for cache misses.

   With a few hundred timers that are hardly ever postponed a heap is simpler,
   about as fast, and takes less memory. The library reads no clock and keeps
   nothing across restarts. A timingwheel belongs to one thread; two of them
   share nothing.


   WORDS

   tick            the smallest step of the clock; `tick` time units long
   clock           the reading that you last handed to tw_advance_clock
   deadline        absolute time, in your unit, from which a timer may fire
   timer           one tw_timer, embedded in a struct of yours
   wheel           a ring of wheel_size buckets; wheel 0 has one per tick; also
                   the whole, the timingwheel that all of them belong to
   step            the ticks that one bucket spans: wheel_size times as many as
                   in the wheel below
   bucket          the timers of one step of one wheel
   chunk           a block of pointers to timers, of which buckets are made
   slot            the place of one such pointer
   overflow wheel  the next coarser wheel: one of its buckets spans a whole turn
                   of the wheel below; created on demand
   cascade         to move a bucket's timers down to finer wheels when its time
                   has come
   delay queue     the min-heap of non-empty buckets, each wheel's earliest; its
                   head, and nothing else, moves the clock on
   overdue         with a deadline that the clock has already reached


   HOW IT WORKS

   With 256 buckets per wheel a 64-bit tick has eight digits, one a wheel. A
   timer goes to the finest wheel whose window holds its tick: the 256 steps
   from the clock's own. Windows slide with the clock.

       tick  00 00 00 00 00 01 2c 05
                             |  |  '-- bucket of wheel 0, if within 256 ticks
                             |  '----- bucket of wheel 1, if within 256 steps
                             '-------- bucket of wheel 2, and so on

       wheel    a bucket spans           it reaches, at a tick of 1 ms
         0      1 tick                   256 ms
         1      256 ticks                65 s
         2      65,536 ticks             4.6 h
         3      2^24 ticks               49 days
        4..7    2^32 .. 2^56 ticks       35 years .. all of 64 bits

   The idea of hierarchical wheels is Varghese and Lauck's (1987), overflow
   wheels on demand and the delay queue are Kafka's. Unlike in Kafka's, a
   bucket's place in the delay queue is its earliest timer, not the start of its
   span, so that the clock jumps to the very tick at which something fires. Here
   is a toy with wheels of 4 buckets, where two timers are few; [5 6 7] is a
   bucket with timers for these ticks, * is the head of the delay queue:

       clock 0    wheel 0  [ ]  [1]* [ ]  [ ]         ticks 0..3
                  wheel 1       [5 6 7]  [9 10]  [ ]  ticks 4..7 8..11 12..15

       clock 1    1 has fired. Wheel 0 now reaches ticks 1..4, but 5, 6 and 7
                  stay where they are until the earliest of them is due.
                  wheel 1       [5 6 7]* [9 10]  [ ]

       clock 5    5 came up: its bucket has cascaded, and 5 has fired.
                  wheel 0  [6]* [7]                   ticks 5..8
                  wheel 1       [ ]      [9 10]  [ ]

   9 and 10 will fire straight from wheel 1: a bucket of few timers, or of one
   tick, never cascades. Few are 13, one chunk, or up to 1,040 if they are due
   within the same 256 ticks, not too many of them at once (on a 32-bit machine
   12, and no more): when the first of them is due they are sorted where they
   stand, which costs less than to move them down. Each wheel keeps a bitmap of
   its non-empty buckets and enters the delay queue with its earliest one, so
   that the heap has one entry a wheel and is tiny.

   A bucket is a queue of chunks, each of two cache lines with 13 pointers to
   timers. The next timers are known in advance and fetched while the current
   one is handled; that is what makes it fast with a million timers. One chunk
   is the bucket's own and always at hand, which makes it fast with a hundred.

       chunk  | next | prev | ordinal home live range | t1 | t2 | ... | t13 |

   Cost: start, cancel and postpone are O(1), whatever is pending. A timer
   cascades at most once a wheel on its way down, mostly once. Advancing over
   any span in which nothing is due is O(1). Memory: 24 bytes a timer in your
   own struct, and about 10 in the chunks when they are full. A wheel takes 160
   bytes a bucket and 1.3 KiB, with 256 of them 42 KiB (on a 32-bit machine 88 a
   bucket, 22 KiB in all): where memory is short, choose fewer. Advancing takes
   up to 10 KB of stack on a 64-bit machine, less than half of one on others.


   CONTRACT

   Time
    1. Never early: a timer fires in the first tw_advance_clock(now) for which
       floor(now / tick) >= ceil(deadline / tick), and in none before.
    2. No tick: advancing costs the same over one tick as over 2^63.
    3. Inside a callback the clock is the firing timer's own tick, not the
       target of the call. What is started there for a time up to the target
       fires within the same call, in its place in the order.
    4. Deadlines are absolute: add your delay to the time you just read, with
       tw_after, which saturates. Use the clock that you advance by: one that
       never jumps. Whether it runs on while the system is suspended is its
       affair (on Linux CLOCK_BOOTTIME does, CLOCK_MONOTONIC does not).
    5. A deadline that has passed is no error: the timer fires in the next call,
       whatever its argument; started from a callback, not in this one.
    6. Going backwards is harmless: it fires only what is overdue. A counter of
       32 bits that wraps has to be widened before: now += (uint32_t)(counter -
       (uint32_t)now), now being a uint64_t of yours.
    7. Any uint64_t is a deadline and a clock. A timer whose tick is beyond 64
       bits stays pending.
   Order
    8. Timers fire in order of their tick, within a tick in the order in which
       they were started, overdue ones included. A timer that was postponed or
       started with a window takes any place in its tick.
   Waking up
    9. tw_next_deadline is never late, and exact but for this: it can be early
       once after the timer that held the earliest place of its bucket was
       cancelled, postponed or started anew; waking then costs one call that
       fires nothing.
   10. tw_wait is 0 if something is due, else the time until the next deadline;
       longest if nothing is pending that the clock can reach.
   Work
   11. start, cancel and postpone are O(1); to postpone to a later time is one
       store.
   12. tw_start_within takes the roundest tick in its window.
   13. tw_advance_clock_limit leaves what it does not get to for the next call,
       in order.
   14. Memory is allocated for wheels and chunks, never per timer, and never by
       tw_cancel or by postponing to a later time. After tw_reserve nothing that
       it covers allocates.
   15. When memory runs out, a start is refused and changes nothing; a timer
       already pending still fires in time and in order, though the loop may
       be woken more often than needed. A timer that one callback starts for
       the past, and another postpones to the very tick that is firing, may
       then fire in that tick.

   Callbacks may start, cancel and postpone any timer, drain the wheel, and free
   the timer that fired. They may not advance, poll, trim or destroy the wheel
   that they run under, which does nothing and answers 0 or NULL, nor leave by
   longjmp or an exception. A timer is not pending while its callback runs. In a
   tw_foreach visitor only its own timer may be cancelled.

   Periodic timers are started again from their callback. Miss a few periods,
   and one of these lines decides: to catch up on all of them, to count from
   now, or to skip them and keep the phase. Here `now` is what your clock reads,
   not tw_now, which in a callback is the tick of the timer.

       tw_start(tw, t, tw_after(tw_deadline(t), period));
       tw_start(tw, t, tw_after(now, period));
       tw_start(tw, t, tw_next_period(tw_deadline(t), period, now, &missed));


   CONFIGURATION, by #define before the implementation

   TW_MALLOC(size, context)    both or neither; default malloc and free. context
   TW_FREE(pointer, context)   is alloc_context of tw_config.
   TW_STATIC                   every function is static: for files that have the
                               implementation, each its own
   TW_DEF                      any other linkage; defined wherever this header
                               is included, like TW_STATIC
   TW_DEBUG                    misuse ends in TW_ASSERT
   TW_ASSERT(expr)             with TW_DEBUG only; default assert, which NDEBUG
                               turns off

   The version is semantic, for the source: what a structure holds may change in
   any version, so compile all of a program with one copy.
*/
#ifndef TIMINGWHEEL_H
#define TIMINGWHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TW_VERSION_MAJOR 1
#define TW_VERSION_MINOR 0
#define TW_VERSION_PATCH 0

/* Linkage: TW_STATIC keeps every function inside the including file, without
 * warnings about those it does not call; TW_DEF may be anything else. */
#ifndef TW_DEF
#ifdef TW_STATIC
#define TW_DEF static inline
#else
#define TW_DEF extern
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types --- */

typedef struct timingwheel timingwheel;
typedef struct tw_timer tw_timer;

/* Called when `timer` fires; what it may do is under "Callbacks" above. */
typedef void tw_callback(timingwheel *tw, tw_timer *timer);

/* Called by tw_foreach and tw_drain, once a timer. */
typedef void tw_visitor(tw_timer *timer, void *context);

/* What a function answers: TW_OK, or why it changed nothing. */
enum tw_status {
    TW_OK = 0,
    TW_EINVAL = -1, /* an argument is NULL or out of its range             */
    TW_ENOMEM = -2, /* TW_MALLOC failed                                    */
    TW_EFULL = -3,  /* max_pending timers are pending already              */
    TW_EBUSY = -4   /* not while tw_foreach is visiting                    */
};

/* How a timer stands; TW_IDLE is what all zero and tw_timer_init make. */
typedef enum tw_state {
    TW_IDLE = 0,      /* never started, drained, or its wheel destroyed    */
    TW_FIRED = 1,     /* its callback has been called, or is running       */
    TW_CANCELLED = 2, /* tw_cancel took it out                             */
    TW_PENDING = 3    /* waiting for its deadline                          */
} tw_state;

/* How to set up a wheel; all zero is every default. */
typedef struct tw_config {
    uint64_t tick;       /* time units per tick; 0 = 1                     */
    uint64_t start;      /* the clock's first reading, in time units       */
    uint32_t wheel_size; /* buckets per wheel: a power of two from 2 to
                            4096; 0 = TW_DEFAULT_WHEEL_SIZE                */
    size_t max_pending;  /* most timers pending at once; 0 = no limit      */
    void *alloc_context; /* handed to TW_MALLOC and TW_FREE                */
} tw_config;

#define TW_DEFAULT_WHEEL_SIZE 256

/* What tw_get_stats tells. */
typedef struct tw_stats {
    size_t pending;    /* timers pending now                               */
    uint64_t fired;    /* timers fired since tw_init                       */
    uint64_t cascaded; /* moves to another bucket while advancing          */
    size_t wheels;     /* wheels that there are                            */
    size_t buckets;    /* non-empty buckets                                */
    size_t bytes_held; /* got from TW_MALLOC                               */
    size_t bytes_used; /* of these, wheels, and chunks with timers in them */
} tw_stats;

/* One timer, to be embedded in a struct of yours. It is visible only so that
 * you can place it: its fields are private. It must not move or be freed while
 * it is pending. 24 bytes on a 64-bit machine. */
struct tw_timer {
    uintptr_t place;       /* address of its pointer in a chunk, or a state */
    tw_callback *callback; /* may be NULL                                   */
    uint64_t deadline;     /* as it was asked for                           */
};

/* An idle timer, as an initialiser. */
#define TW_TIMER_INIT(callback_function) \
    {                                    \
        0, (callback_function), 0        \
    }

/* What follows up to the functions is private too; it stands here because
 * `timingwheel` must be complete for you to place one. */

#define TWI_LEVELS 64 /* wheels of 2 buckets need 64 to reach 2^64           */
#ifndef TWI_CHUNK_BYTES
#define TWI_CHUNK_BYTES (16 * sizeof(void *)) /* two lines on 64 bits        */
#endif
#define TWI_SLOTS ((TWI_CHUNK_BYTES - 2 * sizeof(void *) - 8) / sizeof(void *))

/* How many of them are in the first of the two lines. */
#define TWI_NEAR_SLOTS (TWI_SLOTS - TWI_CHUNK_BYTES / 2 / sizeof(void *))

/* Room to sort the timers of so many chunks; of one where memory is short. Up
 * to some four timers a tick that costs less than to cascade. */
#if UINTPTR_MAX > UINT32_MAX
#define TWI_RUN_CHUNKS 80
#else
#define TWI_RUN_CHUNKS 1
#endif
#define TWI_RUN (TWI_RUN_CHUNKS * TWI_SLOTS)

/* As many are sorted even by a call that may handle fewer. */
#define TWI_SHORT_RUN (16 * TWI_SLOTS)

/* Up to 13 timers of one bucket (12 on a 32-bit machine), and its place in the
 * bucket's doubly linked list. A chunk starts at a multiple of its size, so
 * that the address of a slot tells its chunk, and ends with its last slot. A
 * chunk whose last timer leaves is taken out of its list, unless it still has
 * room behind that (see TWI_WATCHED) or is filled anew (see twi_reopen). Of
 * one in the list of unused chunks only next and ordinal mean anything; of an
 * own chunk that is free, ordinal, bucket and live, which is 0. */
typedef struct twi_chunk {
    struct twi_chunk *next;
    struct twi_chunk *prev;
    uint16_t ordinal; /* its number in its slab, from 1; 0: a bucket's own   */
    uint16_t bucket;  /* home: which bucket ...                              */
    uint8_t live;     /* timers in it, and free slots: see TWI_WATCHED       */
    uint8_t level;    /* ... of which wheel, or TWI_LEVELS + a twi_aside     */
    uint8_t first;    /* slots first .. end-1 are in use; those of cancelled */
    uint8_t end;      /* timers among them hold NULL                         */
    tw_timer *slots[TWI_SLOTS];
} twi_chunk;

/* The timers of one step of one wheel, in start order (for one tick). It has a
 * chunk of its own, which stays in its list while it is empty. Whether it is
 * open or closed, and what that means, is told at TWI_WATCHED. */
typedef struct twi_bucket {
    uint64_t earliest; /* the span of ticks that its timers were placed for; */
    uint64_t latest;   /* earliest is its place in the delay queue           */
    twi_chunk *head;
    tw_timer **room; /* the next free slot of its last chunk; the end of     */
                     /* that chunk, if it is full or the bucket closed; NULL */
                     /* if it has no chunk                                   */
} twi_bucket;

/* One wheel. It enters the delay queue with its earliest non-empty bucket. */
typedef struct twi_wheel {
    uint64_t earliest;    /* of that bucket; UINT64_MAX if there is none     */
    uint64_t reach;       /* its window held all ticks ahead of the clock    */
                          /* below this one when last looked at, and still   */
                          /* does                                            */
    uint64_t *marks;      /* one bit a bucket, set if it may have timers     */
    twi_chunk *own;       /* the own chunks of its wheel_size buckets        */
    twi_bucket *buckets;  /* the buckets themselves                          */
    timingwheel *tw;      /* whose it is; for TW_DEBUG                       */
    void *memory;         /* as TW_MALLOC gave it                            */
    uint32_t first;       /* index of its earliest non-empty bucket          */
    uint32_t queue_index; /* where the delay queue has it, or TWI_UNQUEUED   */
    unsigned level;       /* a bucket spans wheel_size^level ticks ...       */
    unsigned shift;       /* ... which is 2^shift                            */
    bool one_marked;      /* no bucket but `first` has a mark; then reach is */
                          /* 0, so that no start at once adds another        */
    bool sorted;          /* its earliest bucket is: see twi_sort_first; ... */
    bool is_run;          /* ... and has several chunks, or had then         */
    unsigned noted;       /* the ticks of its first chunk's timers, slot by  */
                          /* slot, begin here ...                            */
    uint64_t ticks[TWI_SLOTS];  /* ... in these, or ...                      */
    uint8_t last_bits[TWI_RUN]; /* ... of a run, their last eight bits here  */
} twi_wheel;

/* An entry of the delay queue: a wheel, by the tick of its earliest bucket. */
typedef struct twi_entry {
    uint64_t tick;
    twi_wheel *wheel;
} twi_entry;

/* A piece of memory cut into chunks; it stands in the place of chunk 0. */
typedef struct twi_slab {
    struct twi_slab *next;
    void *memory;    /* as TW_MALLOC gave it                                 */
    timingwheel *tw; /* whose it is; for TW_DEBUG                            */
    uint32_t chunks; /* how many follow                                      */
    uint32_t cut;    /* how many of them have been handed out so far         */
    uint32_t idle;   /* how many of them hold no timer; for tw_trim only     */
} twi_slab;

#define TWI_NEAR 4 /* wheels whose level a start finds by comparing          */

/* Buckets outside of the wheels. */
enum twi_aside {
    TWI_OWED,     /* overdue: to be fired by the next call; and what could   */
                  /* not be placed for want of memory: see twi_keep_rest     */
    TWI_DEFERRED, /* started overdue in a callback: owed after this call     */
    TWI_STUCK,    /* all of these, while postponed ones among them are fired */
    TWI_DRAINED,  /* taken out by tw_drain, not visited yet                  */
    TWI_ASIDES
};

struct timingwheel {
    uint64_t clock;      /* in ticks                                         */
    uint64_t tick;       /* time units per tick                              */
    uint64_t last_tick;  /* that the clock can reach                         */
    size_t count;        /* timers pending                                   */
    size_t most;         /* how many may be; 0 while tw_foreach visits, and  */
                         /* after tw_destroy                                 */
    twi_chunk *unused;   /* chunks that have been given back                 */
    uint32_t size_mask;  /* wheel_size - 1                                   */
    uint32_t size_bits;  /* log2 of wheel_size                               */
    uint32_t per_bit;    /* 65536 / size_bits + 1, to divide by size_bits    */
    uint32_t queued;     /* entries in the delay queue                       */
    twi_wheel *usual;    /* where starts more ticks ahead than `usual_above` */
    uint64_t usual_above; /* are likely to go; or NULL, and UINT64_MAX       */
    uint64_t span_above; /* usual_above while it is likely that such a start */
                         /* is within the span of its bucket, or UINT64_MAX  */
    uint64_t turns[TWI_NEAR]; /* ticks in a turn of each near wheel          */
    twi_wheel *plain[TWI_NEAR]; /* these wheels; NULL, all of them, where a  */
                                /* start has to mind `tick` or `most`        */
    uint64_t now;        /* the clock in time units, as it was handed in     */
    size_t work;         /* timers that the call under way may still fire or */
                         /* cascade                                          */
    tw_timer *pulled;    /* by the tw_poll under way, for its caller         */
    twi_chunk *walk;     /* where firing has got to in a bucket              */
    uint64_t fired;      /* since tw_init                                    */
    uint64_t cascaded;   /* since tw_init                                    */
    twi_slab *slabs;     /* newest first                                     */
    twi_slab *cutting;   /* those before it are all cut                      */
    uint64_t recent;     /* a deadline for which a timer was started ...     */
    uint64_t recent_clock; /* ... when the clock was this ...                */
    twi_bucket *recent_home; /* ... into this bucket; or NULL                */
    twi_bucket *last_home; /* the bucket of a wheel that was the last to get */
                           /* a timer behind its others; NULL if it may be   */
                           /* gone                                           */
    uint32_t nonempty_aside; /* one bit a twi_aside                          */
    bool advancing;      /* inside tw_advance_clock, tw_poll or tw_drain     */
    bool polling;        /* inside tw_poll                                   */
    uint32_t seal;       /* TWI_SEAL from tw_init to tw_destroy; for TW_DEBUG */
    bool visiting;       /* inside tw_foreach; not beside `advancing`, lest  */
                         /* one load takes both: it would have to wait for  */
                         /* the last store to either                        */
    bool revisit;        /* one that was deferred may have been postponed    */
    bool reserved;       /* tw_reserve has seen to it that there are chunks  */
    bool unsorted[TWI_ASIDES]; /* a tick stands behind a later one           */
    twi_bucket aside[TWI_ASIDES];
    twi_wheel *wheels[TWI_LEVELS]; /* NULL until one is needed               */
    twi_entry queue[TWI_LEVELS];   /* the delay queue: a binary min-heap     */
    size_t chunks;       /* in all slabs                                     */
    size_t bytes_held;   /* got from TW_MALLOC                               */
    void *alloc_context; /* as configured                                    */
};

/* ------------------------------------------------------------ functions --- */

/* Sets up `tw`, whatever it held before; `config` NULL means every default.
 * Allocates nothing. TW_EINVAL: tw is NULL, or wheel_size is not a power of two
 * from 2 to 4096. */
TW_DEF int tw_init(timingwheel *tw, const tw_config *config);

/* Gives all memory back; timers still pending become idle. Refused inside a
 * callback or visitor of `tw`. Costs a write to every pending timer. */
TW_DEF void tw_destroy(timingwheel *tw);

/* Makes `timer` idle, to be fired by calling `callback` (NULL: it is only
 * marked fired, as tw_poll wants it). Not for a timer that is pending. */
TW_DEF void tw_timer_init(tw_timer *timer, tw_callback *callback);

/* Starts `timer`: it fires in the first tw_advance_clock that reaches
 * `deadline` rounded up to a tick, or in the next one if that has passed. A
 * timer that is pending is moved, and counts as started now. O(1).
 * TW_EINVAL: tw or timer is NULL, or tw has been destroyed. TW_ENOMEM,
 * TW_EFULL, TW_EBUSY: as above; a timer that was pending then stays pending as
 * it was. */
TW_DEF int tw_start(timingwheel *tw, tw_timer *timer, uint64_t deadline);

/* Starts `timer` to fire at any tick from `earliest` to `latest`: at the
 * roundest one still ahead of the clock, which costs the fewest cascades and
 * is shared with the most other timers. tw_deadline then tells which. A window
 * without a tick in it acts like tw_start(earliest). O(1). Statuses as
 * tw_start; TW_EINVAL also if latest < earliest. */
TW_DEF int tw_start_within(timingwheel *tw, tw_timer *timer, uint64_t earliest,
                           uint64_t latest);

/* Puts the deadline of a pending timer off. To the same or a later time this
 * is one store and cannot fail: the timer moves when its old bucket comes up.
 * To an earlier time, or of a timer that is not pending, it is tw_start. */
TW_DEF int tw_postpone(timingwheel *tw, tw_timer *timer, uint64_t deadline);

/* Takes `timer` out; true if it was pending. It may then be freed at once. Of
 * a timer that is not pending (or NULL) nothing changes. O(1). */
TW_DEF bool tw_cancel(timingwheel *tw, tw_timer *timer);

/* Moves the clock to `now` and fires, in order, every timer due by then;
 * returns how many. `now` below the clock leaves the clock and fires only what
 * is overdue. Inside a callback or visitor of `tw`: refused, 0. Costs O(1) a
 * timer fired or cascaded, and nothing for the time that passes; but what is
 * overdue is sorted first, if it was not started in order. */
TW_DEF size_t tw_advance_clock(timingwheel *tw, uint64_t now);

/* The same, but handles at most `limit` timers, fired or cascaded; what is left
 * waits for the next call, in order. (To sort a bucket does not count: it has
 * no more than `limit` timers then, or than 208. That is done once, or again if
 * many of them are cancelled.) The clock stays with the last timer handled
 * until all are; tw_wait, asked with the same `now` or a later one, answers 0
 * meanwhile. Returns how many fired, which may be 0 while there is more to do.
 * limit 0 does nothing. */
TW_DEF size_t tw_advance_clock_limit(timingwheel *tw, uint64_t now,
                                     size_t limit);

/* Pull mode: marks the next timer due at `now` fired and returns it instead of
 * calling its callback; NULL when there is none, and the clock is then `now`
 * (if it was not further on). Each tw_poll is a call of its own: a timer
 * started with a deadline that has passed comes out of the next one. NULL
 * inside a callback or visitor. */
TW_DEF tw_timer *tw_poll(timingwheel *tw, uint64_t now);

/* Tells when the next timer is due: its deadline rounded up to a tick, in time
 * units (UINT64_MAX if that tick is beyond 64 bits). False if none is pending;
 * *deadline is then left alone. O(1). */
TW_DEF bool tw_next_deadline(timingwheel *tw, uint64_t *deadline);

/* How long a loop may sleep at `now`, in time units: 0 if something is due,
 * never more than `longest`, and `longest` if nothing is pending. O(1). */
TW_DEF uint64_t tw_wait(timingwheel *tw, uint64_t now, uint64_t longest);

/* The clock: the reading last handed to tw_advance_clock; inside a callback,
 * the tick of the timer that fires (if it fires late: the clock, unmoved). */
TW_DEF uint64_t tw_now(const timingwheel *tw);

/* How many timers are pending. */
TW_DEF size_t tw_count(const timingwheel *tw);

/* True from tw_start until the timer fires, is cancelled or drained, or its
 * wheel destroyed. */
TW_DEF bool tw_is_pending(const tw_timer *timer);

/* How the timer stands. */
TW_DEF tw_state tw_timer_state(const tw_timer *timer);

/* The deadline last asked for, not rounded; 0 if never started. */
TW_DEF uint64_t tw_deadline(const tw_timer *timer);

/* Allocates now what could be needed later: after TW_OK, `timers` timers
 * pending at once with deadlines up to `horizon` (an absolute time) cannot
 * fail, nor does starting, advancing or sorting them allocate. Takes 128 bytes
 * a timer (64 on a 32-bit machine), the price of the worst case. TW_ENOMEM
 * changes nothing. TW_EINVAL: tw is NULL or has been destroyed. */
TW_DEF int tw_reserve(timingwheel *tw, size_t timers, uint64_t horizon);

/* Gives back memory that holds no timer, a reserve included. Does nothing
 * inside a callback or visitor. Costs a walk over the unused memory. */
TW_DEF void tw_trim(timingwheel *tw);

/* Calls `visit` for every pending timer, in no particular order; returns how
 * many. A visitor may cancel the timer it is given, and no other; it may start
 * none (TW_EBUSY), nor visit or drain (0). Costs a look at every bucket and
 * timer. */
TW_DEF size_t tw_foreach(timingwheel *tw, tw_visitor *visit, void *context);

/* Takes every pending timer out, in no particular order: each becomes idle and
 * is then visited (`visit` may be NULL). A visitor may start, cancel and free
 * timers; one that it starts is not visited again. Those not visited yet are
 * pending still, but tw_next_deadline and tw_wait take no notice of them.
 * Allowed in a callback. Returns how many were taken. */
TW_DEF size_t tw_drain(timingwheel *tw, tw_visitor *visit, void *context);

/* now + delay; UINT64_MAX where the sum is beyond 64 bits. */
TW_DEF uint64_t tw_after(uint64_t now, uint64_t delay);

/* The next deadline of a periodic timer that keeps its phase: the first
 * previous + k * period above `now`, k at least 1; UINT64_MAX where that is
 * beyond 64 bits. *missed (if not NULL) is the number of periods passed over,
 * k - 1. Period 0 acts as 1. */
TW_DEF uint64_t tw_next_period(uint64_t previous, uint64_t period,
                               uint64_t now, uint64_t *missed);

/* A sentence on what a status means and what to do about it. Never NULL. */
TW_DEF const char *tw_strerror(int status);

/* Fills *stats. Costs a look at every bucket and all unused memory. */
TW_DEF void tw_get_stats(const timingwheel *tw, tw_stats *stats);

/* Checks every invariant of the structure, for tests and debugging; false if
 * one is broken. Costs a look at every bucket, chunk and pending timer. */
TW_DEF bool tw_check(const timingwheel *tw);

#ifdef __cplusplus
}
#endif

#endif /* TIMINGWHEEL_H */

/* ====================================================== implementation ===
 * In the order in which a timer meets it: the memory that chunks come from;
 * buckets, which are made of chunks; the delay queue; wheels, and how their
 * buckets are filled and emptied; start, cancel and postpone; advancing, which
 * cascades and fires; overdue timers, which are outside of the wheels; the
 * calls that advance. Then what looks at all of it: the next deadline, visiting
 * and draining, setting up and giving back, inspection. */

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

/* What a build with TW_DEBUG does about misuse. */
#ifdef TW_DEBUG
#ifndef TW_ASSERT
#include <assert.h>
#define TW_ASSERT(expr) assert(expr)
#endif
#define TWI_RULE(expr, sentence) TW_ASSERT(((void)(sentence), (expr)))
#else
#define TWI_RULE(expr, sentence) ((void)0)
#endif

/* What is provided for although it cannot happen. A release tests the condition
 * all the same, a build with TWI_TEST asserts it, and one with TWI_COVERAGE,
 * which cannot be made to see it fail, takes it for granted. */
#if defined(TWI_COVERAGE)
#define TWI_ALWAYS(expr) true
#elif defined(TWI_TEST)
#include <assert.h>
#define TWI_ALWAYS(expr) (assert(expr), (expr))
#else
#define TWI_ALWAYS(expr) (expr)
#endif

/* Misuse of a wheel or timer, as far as it can be noticed. */
#define TWI_SEAL UINT32_C(0x7717ee15)
#define TWI_RULE_READY(tw)              \
    TWI_RULE((tw)->seal == TWI_SEAL,    \
             "the wheel is used before tw_init or after tw_destroy")
#define TWI_RULE_OWN(tw, timer)                                           \
    TWI_RULE(!twi_is_elsewhere((tw), (timer)),                            \
             "the timer is pending on another wheel: cancel it there first")
#define TWI_RULE_INTACT(timer, slot)                                      \
    TWI_RULE((timer)->place == (uintptr_t)(slot),                         \
             "a pending timer was freed, moved or overwritten")

/* TWI_COLD: hardly ever called. TWI_APART: kept out of its callers, so that
 * their short way stays short. TWI_INSIDE: made part of them. TWI_RARE: mostly
 * false. */
#if defined(__GNUC__) || defined(__clang__)
#define TWI_PREFETCH(address) __builtin_prefetch((address), 1)
#define TWI_COLD static __attribute__((noinline, cold))
#define TWI_APART static __attribute__((noinline))
#define TWI_INSIDE static inline __attribute__((always_inline))
#define TWI_RARE(expr) __builtin_expect(!!(expr), 0)
#else
#define TWI_PREFETCH(address) ((void)(address))
#define TWI_COLD static
#define TWI_APART static
#define TWI_INSIDE static inline
#define TWI_RARE(expr) (expr)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------- bits and ticks --- */

/* Index of the highest bit set; `bits` is not 0. */
static inline unsigned twi_highest_bit(uint64_t bits)
{
#if defined(__GNUC__) || defined(__clang__)
    return 63U ^ (unsigned)__builtin_clzll(bits);
#else
    unsigned index = 0;
    for (unsigned step = 32; step != 0; step /= 2)
        if (bits >> step != 0) {
            bits >>= step;
            index += step;
        }
    return index;
#endif
}

/* Index of the lowest bit set; `bits` is not 0. */
static inline unsigned twi_lowest_bit(uint64_t bits)
{
#if defined(__GNUC__) || defined(__clang__)
    return (unsigned)__builtin_ctzll(bits);
#else
    return twi_highest_bit(bits & (~bits + 1));
#endif
}

/* The tick at which a deadline is due: rounded up, so that none is early. */
static inline uint64_t twi_tick_of(const timingwheel *tw, uint64_t deadline)
{
    if (tw->tick == 1)
        return deadline;
    uint64_t tick = deadline / tw->tick;
    return tick + (tick * tw->tick != deadline);
}

/* When a tick begins, in time units; saturates. */
static inline uint64_t twi_time_of(const timingwheel *tw, uint64_t tick)
{
    return tick > tw->last_tick ? UINT64_MAX : tick * tw->tick;
}

static inline bool twi_is_pending(const tw_timer *timer)
{
    return timer->place > (uintptr_t)TW_CANCELLED;
}

/* ---------------------------------------------------- memory and chunks ---
 * Each bucket of a wheel has a chunk of its own. More are cut from slabs, each
 * a quarter of what there is already. Such a chunk goes to a list of unused
 * ones when its last timer leaves and is taken from there first, so that there
 * is never more than one of them per pending timer, and one per bucket that
 * waits for more timers. */

#define TWI_LEAST_CHUNKS 7     /* a first slab of 1 KiB                      */
#define TWI_MOST_CHUNKS 0xffff /* what an ordinal can count                  */
#define TWI_SORT_CHUNKS 4      /* what sorting overdue timers takes          */

/* The room, in chunks, of a twi_wheel in front of its own chunks. */
#define TWI_WHEEL_CHUNKS \
    ((sizeof(twi_wheel) + sizeof(twi_chunk) - 1) / sizeof(twi_chunk))

typedef char twi_chunk_has_its_size
    [sizeof(twi_chunk) == TWI_CHUNK_BYTES ? 1 : -1];
typedef char twi_run_fits_16_bits[TWI_RUN <= UINT16_MAX ? 1 : -1];
typedef char twi_slab_fits_a_chunk
    [sizeof(twi_slab) <= TWI_CHUNK_BYTES ? 1 : -1];

/* TW_MALLOC, at a multiple of TWI_CHUNK_BYTES; *memory is what to free. */
static void *twi_allocate(timingwheel *tw, size_t bytes, void **memory)
{
    bytes += TWI_CHUNK_BYTES - 1;
    *memory = TW_MALLOC(bytes, tw->alloc_context);
    if (*memory == NULL)
        return NULL;
    tw->bytes_held += bytes;
    uintptr_t start = (uintptr_t)*memory + (TWI_CHUNK_BYTES - 1);
    return (void *)(start & ~(uintptr_t)(TWI_CHUNK_BYTES - 1));
}

static void twi_deallocate(timingwheel *tw, size_t bytes, void *memory)
{
    tw->bytes_held -= bytes + TWI_CHUNK_BYTES - 1;
    TW_FREE(memory, tw->alloc_context);
}

static size_t twi_slab_bytes(size_t chunks)
{
    return (chunks + 1) * TWI_CHUNK_BYTES;
}

static inline twi_chunk *twi_chunk_of(tw_timer *const *slot)
{
    return (twi_chunk *)((uintptr_t)slot & ~(uintptr_t)(TWI_CHUNK_BYTES - 1));
}

static twi_slab *twi_slab_of(twi_chunk *chunk)
{
    return (twi_slab *)(void *)(chunk - chunk->ordinal);
}

static inline bool twi_is_own(const twi_chunk *chunk)
{
    return chunk->ordinal == 0;
}

/* The wheel to whose buckets an own chunk belongs; it stands before the first
 * of them. */
static twi_wheel *twi_wheel_of(twi_chunk *own)
{
    return (twi_wheel *)(void *)(own - own->bucket - TWI_WHEEL_CHUNKS);
}

static inline twi_bucket *twi_bucket_at(const twi_wheel *wheel, size_t index)
{
    return &wheel->buckets[index];
}

#ifdef TW_DEBUG
/* True if `timer` is pending, but on another wheel. */
static inline bool twi_is_elsewhere(const timingwheel *tw,
                                    const tw_timer *timer)
{
    if (!twi_is_pending(timer))
        return false;
    twi_chunk *chunk = twi_chunk_of((tw_timer **)timer->place);
    return tw != (twi_is_own(chunk) ? twi_wheel_of(chunk)->tw
                                    : twi_slab_of(chunk)->tw);
}
#endif

/* A chunk that holds no timer and is in no list. */
static void twi_give_back(timingwheel *tw, twi_chunk *chunk)
{
    if (twi_is_own(chunk))
        return; /* its bucket will find it */
    chunk->next = tw->unused;
    tw->unused = chunk;
}

TWI_COLD bool twi_add_slab(timingwheel *tw, size_t chunks)
{
    void *memory;
    void *start = twi_allocate(tw, twi_slab_bytes(chunks), &memory);
    if (start == NULL)
        return false;
    twi_slab *slab = (twi_slab *)start;
    slab->next = tw->slabs;
    slab->memory = memory;
    slab->tw = tw;
    slab->chunks = (uint32_t)chunks;
    slab->cut = 0;
    slab->idle = 0;
    tw->slabs = slab;
    tw->cutting = slab;
    tw->chunks += chunks;
    return true;
}

/* Frees the slab that *link leads to; no chunk of it may be in use or among
 * the unused. */
static void twi_remove_slab(timingwheel *tw, twi_slab **link)
{
    twi_slab *slab = *link;
    *link = slab->next;
    tw->cutting = tw->slabs;
    tw->chunks -= slab->chunks;
    twi_deallocate(tw, twi_slab_bytes(slab->chunks), slab->memory);
}

/* How many chunks of all slabs have not been cut yet. */
static size_t twi_uncut(const timingwheel *tw)
{
    size_t uncut = 0;
    for (const twi_slab *slab = tw->cutting; slab != NULL; slab = slab->next)
        uncut += slab->chunks - slab->cut;
    return uncut;
}

/* How many are unused or have not been cut yet. Those unused are counted one
 * by one, until there are `enough`. */
static size_t twi_spare(const timingwheel *tw, size_t enough)
{
    size_t spare = twi_uncut(tw);
    for (const twi_chunk *chunk = tw->unused; chunk != NULL && spare < enough;
         chunk = chunk->next)
        spare++;
    return spare;
}

/* The timers of a chunk will be wanted soon. Misses that overlap are what
 * makes chunks faster than a linked list of timers. (Left to itself gcc may
 * take this for a function without effect, and leave out its calls.) */
TWI_INSIDE void twi_prefetch(const twi_chunk *chunk)
{
    if (chunk == NULL)
        return;
    tw_timer *const *end = &chunk->slots[chunk->end];
    for (tw_timer *const *i = &chunk->slots[chunk->first]; i < end; i++)
        TWI_PREFETCH(*i);
}

/* -------------------------------------------------------------- buckets ---
 * A bucket is open until its time comes: the free slots of its last chunk, from
 * `room` on, count in the chunk's `live` and `end` as if they held timers. So a
 * start writes the slot and `room`, and nothing else of a chunk; and where
 * timers are few it need not know whether it meets any, nor a cancel whether it
 * leaves any, which would be jumps that are mispredicted. Only a bucket's last
 * chunk can be left without timers, and an empty bucket with its mark and span.
 *
 * When the bucket comes up it is closed: `live` and `end` are then exact. So
 * they always are in the buckets outside of the wheels.
 *
 * For the emptying of a wheel's first bucket the delay queue waits. While that
 * is open its last chunk is watched: TWI_WATCHED is added to `live`, and each
 * timer that leaves the chunk makes us look. */

#define TWI_WATCHED 0x80

/* No ticks at all, for twi_widen to begin with. */
static inline void twi_clear_span(twi_bucket *bucket)
{
    bucket->earliest = UINT64_MAX;
    bucket->latest = 0;
}

/* Then it has no timers, and no mark. */
static inline bool twi_is_clear(const twi_bucket *bucket)
{
    return bucket->earliest > bucket->latest;
}

/* The last chunk of a bucket that has any. */
static inline twi_chunk *twi_tail(const twi_bucket *bucket)
{
    return twi_chunk_of(bucket->room - 1);
}

static inline void twi_set_tail(twi_bucket *bucket, twi_chunk *chunk)
{
    bucket->room = chunk == NULL ? NULL : chunk->slots + TWI_SLOTS;
}

/* True if it has one chunk, no more and no less. */
static inline bool twi_has_one_chunk(const twi_bucket *bucket)
{
    uintptr_t last = (uintptr_t)bucket->room - sizeof(tw_timer *);
    return (uintptr_t)bucket->head == last / TWI_CHUNK_BYTES * TWI_CHUNK_BYTES;
}

/* True if the next timer of a bucket has its slot already; false if its last
 * chunk is full, or it is closed. */
static inline bool twi_has_room(const twi_bucket *bucket)
{
    return (uintptr_t)bucket->room % TWI_CHUNK_BYTES != 0;
}

/* How many such slots there are. */
static inline unsigned twi_free_slots(const twi_bucket *bucket)
{
    uintptr_t bytes = (0 - (uintptr_t)bucket->room) % TWI_CHUNK_BYTES;
    return (unsigned)(bytes / sizeof(tw_timer *));
}

/* How many timers a chunk of `bucket` holds. */
static inline unsigned twi_live(const twi_bucket *bucket,
                                const twi_chunk *chunk)
{
    unsigned live = chunk->live % TWI_WATCHED;
    return chunk == twi_tail(bucket) ? live - twi_free_slots(bucket) : live;
}

/* Its slots from `first` on that are in use end before this one. */
static inline unsigned twi_end(const twi_bucket *bucket,
                               const twi_chunk *chunk)
{
    unsigned end = chunk->end;
    return chunk == twi_tail(bucket) ? end - twi_free_slots(bucket) : end;
}

static inline bool twi_is_empty(const twi_bucket *bucket)
{
    return bucket->head == NULL || (twi_has_one_chunk(bucket) &&
                                    twi_live(bucket, bucket->head) == 0);
}

/* Opens a bucket: its last chunk, in which there are no timers, will be filled
 * from slot `start` on, or back from before it. */
static inline void twi_open(twi_bucket *bucket, twi_chunk *tail, unsigned start)
{
    bucket->room = &tail->slots[start];
    tail->live = (uint8_t)(TWI_SLOTS - start);
    tail->first = (uint8_t)start;
    tail->end = TWI_SLOTS;
}

/* Takes its last chunk, in which there are no timers, out of a bucket that has
 * others. */
static void twi_drop_tail(timingwheel *tw, twi_bucket *bucket)
{
    twi_chunk *tail = twi_tail(bucket);
    tail->prev->next = NULL;
    twi_set_tail(bucket, tail->prev);
    twi_give_back(tw, tail);
}

/* Closes a bucket that has timers. */
static inline void twi_close(timingwheel *tw, twi_bucket *bucket)
{
    twi_chunk *tail = twi_tail(bucket);
    unsigned free_slots = twi_free_slots(bucket);
    bucket->room += free_slots;
    tail->end = (uint8_t)(tail->end - free_slots);
    tail->live = (uint8_t)(tail->live % TWI_WATCHED - free_slots);
    if (TWI_RARE(tail->live == 0))
        twi_drop_tail(tw, bucket);
}

/* From now on it matters when a last chunk loses its last timer, ... */
static inline void twi_watch(twi_chunk *tail)
{
    tail->live |= TWI_WATCHED;
}

/* ... or no longer. */
static inline void twi_unwatch(twi_chunk *tail)
{
    tail->live %= TWI_WATCHED;
}

static inline bool twi_is_watched(const twi_chunk *chunk)
{
    return chunk->live >= TWI_WATCHED;
}

/* The timers of a bucket's first chunk, mostly one or two, will be wanted; it
 * is open. */
TWI_INSIDE void twi_prefetch_few(const twi_bucket *bucket)
{
    tw_timer *const *i = &bucket->head->slots[bucket->head->first];
    tw_timer *const *end = bucket->room;
    if (TWI_RARE(!twi_has_one_chunk(bucket)))
        end = bucket->head->slots + TWI_SLOTS;
    TWI_PREFETCH(*i);
    TWI_PREFETCH(end[-1]);
    if (TWI_RARE(end - i > 2))
        while (++i < end)
            TWI_PREFETCH(*i);
}

/* ---------------------------------------------------------- delay queue ---
 * A binary min-heap with one entry a wheel: its earliest non-empty bucket. The
 * head is the next moment at which anything has to happen. At the same tick
 * coarser wheels come first, since their timers were started first. */

#define TWI_UNQUEUED UINT32_MAX /* the queue_index of a wheel without timers */

static inline bool twi_is_queued(const twi_wheel *wheel)
{
    return wheel->queue_index != TWI_UNQUEUED;
}

static inline bool twi_is_before(twi_entry a, twi_entry b)
{
    return a.tick < b.tick ||
           (a.tick == b.tick && a.wheel->level > b.wheel->level);
}

static inline void twi_queue_set(timingwheel *tw, uint32_t index,
                                 twi_entry entry)
{
    tw->queue[index] = entry;
    entry.wheel->queue_index = index;
}

/* Puts `entry` at `index` or as far up as it belongs. */
static void twi_queue_up(timingwheel *tw, uint32_t index, twi_entry entry)
{
    while (index > 0 && twi_is_before(entry, tw->queue[(index - 1) / 2])) {
        twi_queue_set(tw, index, tw->queue[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    twi_queue_set(tw, index, entry);
}

/* Puts `entry` at `index` or as far down as it belongs. */
static void twi_queue_down(timingwheel *tw, uint32_t index, twi_entry entry)
{
    for (uint32_t child; (child = 2 * index + 1) < tw->queued; index = child) {
        if (child + 1 < tw->queued &&
            twi_is_before(tw->queue[child + 1], tw->queue[child]))
            child++;
        if (!twi_is_before(tw->queue[child], entry))
            break;
        twi_queue_set(tw, index, tw->queue[child]);
    }
    twi_queue_set(tw, index, entry);
}

/* True if neither of the two below `index` comes before `entry`. */
static inline bool twi_queue_may_stay(const timingwheel *tw, uint32_t index,
                                      twi_entry entry)
{
    uint32_t child = 2 * index + 1;
    if (child < tw->queued && twi_is_before(tw->queue[child], entry))
        return false;
    return child + 1 >= tw->queued ||
           !twi_is_before(tw->queue[child + 1], entry);
}

/* The entry of a wheel has a later tick now: it is `entry`. */
TWI_INSIDE void twi_queue_later(timingwheel *tw, uint32_t index,
                                twi_entry entry)
{
    if (twi_queue_may_stay(tw, index, entry))
        tw->queue[index].tick = entry.tick;
    else
        twi_queue_down(tw, index, entry);
}

static void twi_queue_remove(timingwheel *tw, uint32_t index)
{
    twi_entry last = tw->queue[--tw->queued];
    if (index == tw->queued)
        return;
    if (twi_is_before(last, tw->queue[index]))
        twi_queue_up(tw, index, last);
    else
        twi_queue_down(tw, index, last);
}

/* --------------------------------------------------- wheels and buckets ---
 * Bucket b of the wheel at a level holds the ticks t with t >> shift = b modulo
 * wheel_size, for the wheel_size steps from the clock's own step on: the window
 * slides with the clock, and no bucket holds two turns. */

static size_t twi_wheel_bytes(const timingwheel *tw)
{
    size_t size = (size_t)tw->size_mask + 1;
    return TWI_WHEEL_CHUNKS * sizeof(twi_chunk) +
           (size + 63) / 64 * sizeof(uint64_t) +
           size * (sizeof(twi_chunk) + sizeof(twi_bucket));
}

/* Makes a bucket empty, with its own chunk ready for the next timer. If that is
 * still among those aside it has to do without. */
static inline void twi_clear_bucket(const twi_wheel *wheel, uint32_t index)
{
    twi_chunk *own = &wheel->own[index];
    twi_bucket *bucket = twi_bucket_at(wheel, index);
    twi_clear_span(bucket);
    if (TWI_RARE(bucket->head != own)) {
        bucket->head = own->live == 0 ? own : NULL;
        bucket->room = NULL;
        if (bucket->head == NULL)
            return;
        own->next = NULL;
        own->prev = NULL;
        own->level = (uint8_t)wheel->level;
    }
    twi_open(bucket, own, 0);
}

/* What tw->plain[level] has to be. */
static twi_wheel *twi_plain_of(const timingwheel *tw, unsigned level)
{
    bool is_plain = tw->tick == 1 && tw->most == SIZE_MAX;
    return is_plain ? tw->wheels[level] : NULL;
}

/* The wheels have changed, or what a start has to mind. */
static void twi_note_plain(timingwheel *tw)
{
    for (unsigned level = 0; level < TWI_NEAR; level++)
        tw->plain[level] = twi_plain_of(tw, level);
    tw->usual = NULL;
    tw->usual_above = UINT64_MAX;
    tw->span_above = UINT64_MAX;
}

/* Lets `most` timers be pending. */
static void twi_allow(timingwheel *tw, size_t most)
{
    tw->most = most;
    tw->recent_home = NULL;
    twi_note_plain(tw);
}

TWI_COLD twi_wheel *twi_add_wheel(timingwheel *tw, unsigned level)
{
    size_t size = (size_t)tw->size_mask + 1;
    void *memory, *start = NULL;
    /* Only where addresses have 16 bits can a wheel be too large for them. */
    if (TWI_ALWAYS(size <= SIZE_MAX / 4 / sizeof(twi_chunk)))
        start = twi_allocate(tw, twi_wheel_bytes(tw), &memory);
    if (start == NULL)
        return NULL;
    twi_wheel *wheel = (twi_wheel *)start;
    wheel->earliest = UINT64_MAX;
    wheel->reach = 0;
    wheel->one_marked = false;
    wheel->sorted = false;
    wheel->is_run = false;
    wheel->noted = 0;
    wheel->own = (twi_chunk *)start + TWI_WHEEL_CHUNKS;
    wheel->buckets = (twi_bucket *)(void *)(wheel->own + size);
    wheel->marks = (uint64_t *)(void *)(wheel->buckets + size);
    wheel->memory = memory;
    wheel->tw = tw;
    wheel->first = 0;
    wheel->queue_index = TWI_UNQUEUED;
    wheel->level = level;
    wheel->shift = level * tw->size_bits;
    for (uint32_t i = 0; i < size; i++) {
        wheel->own[i].ordinal = 0;
        wheel->own[i].bucket = (uint16_t)i;
        wheel->own[i].live = 0;
        wheel->buckets[i].head = NULL;
        twi_clear_bucket(wheel, i);
    }
    for (uint32_t i = 0; i < (size + 63) / 64; i++)
        wheel->marks[i] = 0;
    tw->wheels[level] = wheel;
    twi_note_plain(tw);
    return wheel;
}

static void twi_remove_wheel(timingwheel *tw, unsigned level)
{
    void *memory = tw->wheels[level]->memory;
    tw->wheels[level] = NULL;
    tw->last_home = NULL;
    twi_note_plain(tw);
    twi_deallocate(tw, twi_wheel_bytes(tw), memory);
}

/* log2(distance) / size_bits, where that is below TWI_NEAR. */
static inline unsigned twi_near_level(const timingwheel *tw, uint64_t distance)
{
    return (unsigned)(distance >= tw->turns[0]) +
           (unsigned)(distance >= tw->turns[1]) +
           (unsigned)(distance >= tw->turns[2]);
}

/* The finest level whose window holds `tick`, which is not behind the clock.
 * log2(distance) / size_bits can be one too low, when the window's last step
 * is not whole. (Not all machines are quick to find the highest bit.) */
static inline unsigned twi_level_of(const timingwheel *tw, uint64_t tick)
{
    uint64_t distance = tick - tw->clock;
    unsigned level = twi_near_level(tw, distance);
    if (TWI_RARE(distance >= tw->turns[3]))
        level = (twi_highest_bit(distance) * tw->per_bit) >> 16;
    unsigned shift = level * tw->size_bits;
    return level + ((tick >> shift) - (tw->clock >> shift) > tw->size_mask);
}

/* The first tick beyond the window of a wheel (or one tick less, at the end of
 * time). */
static inline uint64_t twi_reach_of(const timingwheel *tw,
                                    const twi_wheel *wheel)
{
    uint64_t step = tw->clock >> wheel->shift;
    if ((UINT64_MAX >> wheel->shift) - step <= tw->size_mask)
        return UINT64_MAX;
    return (step + tw->size_mask + 1) << wheel->shift;
}

static inline uint32_t twi_index_of(const timingwheel *tw,
                                    const twi_wheel *wheel, uint64_t tick)
{
    return (uint32_t)((tick >> wheel->shift) & tw->size_mask);
}

/* The earliest bucket of a wheel that has one. */
static inline twi_bucket *twi_first_of(const twi_wheel *wheel)
{
    return twi_bucket_at(wheel, wheel->first);
}

/* The most ticks ahead for which a finer wheel may be the one. */
static inline uint64_t twi_before_turn(const twi_wheel *wheel)
{
    return (UINT64_C(1) << wheel->shift) - 1;
}

static inline bool twi_same_step(uint64_t a, uint64_t b, unsigned shift)
{
    return (a >> shift) == (b >> shift);
}

/* The first bucket with a mark at or after the clock's own, going round; false
 * if no bucket has one. */
static inline bool twi_find_mark(const timingwheel *tw, const twi_wheel *wheel,
                                 uint32_t *index)
{
    uint32_t from = twi_index_of(tw, wheel, tw->clock);
    uint32_t last = tw->size_mask / 64, word = from / 64;
    uint64_t bits = wheel->marks[word] & (~UINT64_C(0) << (from % 64));
    for (uint32_t left = last + 1; bits == 0; left--) {
        if (left == 0)
            return false;
        word = (word + 1) & last;
        bits = wheel->marks[word];
    }
    *index = word * 64 + twi_lowest_bit(bits);
    return true;
}

/* The wheel's entry in the delay queue as it has to be: by bucket `index`,
 * whose first timer is due at `tick`. */
static inline twi_entry twi_entry_by(twi_wheel *wheel, uint32_t index,
                                     uint64_t tick)
{
    twi_entry entry;
    entry.tick = tick;
    entry.wheel = wheel;
    twi_watch(twi_tail(twi_bucket_at(wheel, index)));
    wheel->first = index;
    wheel->earliest = tick;
    return entry;
}

/* Bucket `index` has become the earliest of its wheel, or stays it with a tick
 * that is no later: it is `tick`. */
TWI_APART void twi_offer(timingwheel *tw, twi_wheel *wheel, uint32_t index,
                         uint64_t tick)
{
    if (!twi_is_queued(wheel))
        wheel->queue_index = tw->queued++;
    else
        twi_unwatch(twi_tail(twi_first_of(wheel)));
    twi_queue_up(tw, wheel->queue_index, twi_entry_by(wheel, index, tick));
}

/* The earliest bucket of a wheel, which is at `queue_index` in the delay queue,
 * is another, or has a later tick. */
TWI_INSIDE void twi_offer_later(timingwheel *tw, twi_wheel *wheel,
                                uint32_t queue_index, uint32_t index)
{
    uint64_t tick = twi_bucket_at(wheel, index)->earliest;
    twi_queue_later(tw, queue_index, twi_entry_by(wheel, index, tick));
}

static inline void twi_mark(twi_wheel *wheel, uint32_t index)
{
    wheel->marks[index / 64] |= UINT64_C(1) << (index % 64);
}

static inline void twi_unmark(twi_wheel *wheel, uint32_t index)
{
    wheel->marks[index / 64] &= ~(UINT64_C(1) << (index % 64));
}

/* Makes bucket `index`, which has no timers, ready for new ones. The bucket
 * known for a deadline is forgotten, since it may be this one. */
static void twi_renew(timingwheel *tw, twi_wheel *wheel, uint32_t index)
{
    twi_chunk *chunk = twi_bucket_at(wheel, index)->head;
    if (chunk != NULL)
        twi_give_back(tw, chunk);
    tw->recent_home = NULL;
    twi_clear_bucket(wheel, index);
}

/* The next bucket with timers after the first one, which has lost its mark;
 * those on the way that were emptied before lose theirs. False if there is
 * none. */
static bool twi_find_next(timingwheel *tw, twi_wheel *wheel, uint32_t *index)
{
    while (twi_find_mark(tw, wheel, index)) {
        if (!twi_is_empty(twi_bucket_at(wheel, *index)))
            return true;
        twi_renew(tw, wheel, *index);
        twi_unmark(wheel, *index);
    }
    return false;
}

/* The first bucket of a wheel has been cleared: the next one takes its place,
 * which is seldom far. */
TWI_INSIDE void twi_offer_next(timingwheel *tw, twi_wheel *wheel,
                               uint32_t queue_index)
{
    uint32_t index = wheel->first;
    wheel->sorted = false;
    twi_unmark(wheel, index);
    uint64_t ahead = wheel->marks[index / 64] >> (index % 64);
    if (ahead != 0)
        index += twi_lowest_bit(ahead);
    bool is_far = ahead == 0 || twi_is_empty(twi_bucket_at(wheel, index));
    if (is_far && (wheel->one_marked || !twi_find_next(tw, wheel, &index))) {
        twi_queue_remove(tw, queue_index);
        wheel->queue_index = TWI_UNQUEUED;
        wheel->earliest = UINT64_MAX;
        return;
    }
    twi_offer_later(tw, wheel, queue_index, index);
    twi_prefetch_few(twi_bucket_at(wheel, index));
}

/* Bucket `index` has lost its last timer. */
static void twi_bucket_emptied(timingwheel *tw, twi_wheel *wheel,
                               uint32_t index)
{
    twi_renew(tw, wheel, index);
    if (wheel->first == index)
        twi_offer_next(tw, wheel, wheel->queue_index);
    else
        twi_unmark(wheel, index);
}

/* ------------------------------------------------- filling and emptying ---
 * How a slot is emptied and filled, a chunk taken and released, and timers are
 * put behind the others of a bucket, in front of them, or aside. */

/* The bucket that a chunk is in. */
static inline twi_bucket *twi_home(timingwheel *tw, const twi_chunk *chunk)
{
    return chunk->level < TWI_LEVELS
               ? twi_bucket_at(tw->wheels[chunk->level], chunk->bucket)
               : &tw->aside[chunk->level - TWI_LEVELS];
}

/* The own chunk of a bucket comes back from aside: an empty bucket wants it. */
static void twi_return_own(twi_chunk *own)
{
    const twi_wheel *wheel = twi_wheel_of(own);
    if (twi_bucket_at(wheel, own->bucket)->head == NULL)
        twi_clear_bucket(wheel, own->bucket);
}

/* Takes a chunk without timers out of its bucket. */
static void twi_release_chunk(timingwheel *tw, twi_chunk *chunk)
{
    twi_bucket *bucket = twi_home(tw, chunk);
    bool was_head = chunk->prev == NULL;
    if (tw->walk == chunk)
        tw->walk = chunk->next;
    if (!was_head)
        chunk->prev->next = chunk->next;
    else
        bucket->head = chunk->next;
    if (chunk->next != NULL)
        chunk->next->prev = chunk->prev;
    else
        twi_set_tail(bucket, chunk->prev);
    twi_give_back(tw, chunk);
    if (chunk->level < TWI_LEVELS) {
        twi_wheel *wheel = tw->wheels[chunk->level];
        bool is_first = wheel->first == chunk->bucket;
        if (bucket->head == NULL || (is_first && twi_is_empty(bucket))) {
            twi_bucket_emptied(tw, wheel, chunk->bucket);
        } else if (is_first) {
            wheel->noted += TWI_SLOTS;
            wheel->sorted &= was_head;
        }
    } else {
        if (bucket->head == NULL)
            tw->nonempty_aside &= ~(UINT32_C(1) << (chunk->level - TWI_LEVELS));
        if (twi_is_own(chunk))
            twi_return_own(chunk);
    }
}

/* The last timer of a full chunk has left: true if it will be filled anew where
 * it is, as the last of several of a bucket whose time has not come. */
static inline bool twi_reopen(const timingwheel *tw, twi_chunk *chunk)
{
    if (chunk->next != NULL || chunk->prev == NULL ||
        chunk->level >= TWI_LEVELS)
        return false;
    const twi_wheel *wheel = tw->wheels[chunk->level];
    if (chunk->bucket == wheel->first)
        return false;
    twi_open(twi_bucket_at(wheel, chunk->bucket), chunk, 0);
    return true;
}

/* The last timer of a chunk has left, or one of a chunk that is watched. */
TWI_APART void twi_look_after(timingwheel *tw, twi_chunk *chunk)
{
    if (chunk->live % TWI_WATCHED == 0) {
        if (twi_reopen(tw, chunk))
            return;
        chunk->live = 0;
        twi_release_chunk(tw, chunk);
        return;
    }
    twi_wheel *wheel = tw->wheels[chunk->level];
    if (twi_is_empty(twi_first_of(wheel)))
        twi_bucket_emptied(tw, wheel, wheel->first);
}

/* Empties a slot. */
static inline void twi_clear_slot(timingwheel *tw, tw_timer **slot)
{
    twi_chunk *chunk = twi_chunk_of(slot);
    *slot = NULL;
    chunk->live--;
    if (TWI_RARE(chunk->live == 0 || chunk->live >= TWI_WATCHED))
        twi_look_after(tw, chunk);
}

static inline void twi_fill_slot(tw_timer **slot, tw_timer *timer)
{
    *slot = timer;
    timer->place = (uintptr_t)slot;
}

/* The first slot of a chunk with a timer in it; `first` is moved up to it. */
static inline tw_timer **twi_first_slot(twi_chunk *chunk)
{
    while (chunk->slots[chunk->first] == NULL)
        chunk->first++;
    return &chunk->slots[chunk->first];
}

/* True if the last chunk of a bucket is cut off a slab and holds no timer. */
static bool twi_is_held_for_nothing(const twi_bucket *bucket)
{
    return bucket->head != NULL && !twi_is_own(twi_tail(bucket)) &&
           twi_live(bucket, twi_tail(bucket)) == 0;
}

/* Gives back the chunks that open buckets hold for nothing: one each, at most.
 * Costs a look at every bucket. */
static void twi_reclaim(timingwheel *tw)
{
    for (unsigned level = 0; level < TWI_LEVELS; level++) {
        twi_wheel *wheel = tw->wheels[level];
        for (uint32_t i = 0; wheel != NULL && i <= tw->size_mask; i++) {
            twi_bucket *bucket = twi_bucket_at(wheel, i);
            if (!twi_is_held_for_nothing(bucket))
                continue;
            if (twi_has_one_chunk(bucket))
                twi_bucket_emptied(tw, wheel, i);
            else
                twi_drop_tail(tw, bucket);
        }
    }
}

/* Sees to it that a chunk is unused or not cut yet; false if it cannot. More
 * memory costs less time than to reclaim what is held for nothing, but after
 * tw_reserve none may be taken that is not needed. */
TWI_COLD bool twi_find_chunk(timingwheel *tw)
{
    while (tw->cutting != NULL && tw->cutting->cut == tw->cutting->chunks)
        tw->cutting = tw->cutting->next;
    if (tw->cutting != NULL)
        return true;
    size_t chunks = tw->chunks / 4;
    if (chunks < TWI_LEAST_CHUNKS)
        chunks = TWI_LEAST_CHUNKS;
    if (chunks > TWI_MOST_CHUNKS)
        chunks = TWI_MOST_CHUNKS;
    if (!tw->reserved && twi_add_slab(tw, chunks))
        return true;
    twi_reclaim(tw);
    if (tw->unused != NULL)
        return true;
    return tw->reserved && twi_add_slab(tw, chunks);
}

/* A test may have chunks reclaimed before they are lacking. */
#ifndef TWI_RECLAIM_EARLY
#define TWI_RECLAIM_EARLY false
#endif

/* A chunk that is unused or else cut off a slab; NULL if memory has run out. */
static inline twi_chunk *twi_any_chunk(timingwheel *tw)
{
    if (TWI_RECLAIM_EARLY)
        twi_reclaim(tw);
    if (TWI_RARE(tw->unused == NULL) && !twi_find_chunk(tw))
        return NULL;
    twi_chunk *chunk = tw->unused;
    if (chunk != NULL) {
        tw->unused = chunk->next;
        return chunk;
    }
    uint32_t ordinal = ++tw->cutting->cut;
    chunk = (twi_chunk *)(void *)tw->cutting + ordinal;
    chunk->ordinal = (uint16_t)ordinal;
    return chunk;
}

/* A chunk for bucket `index` of the wheel at `level`, for timers to go in from
 * the first slot on or, if `in_front`, from the last one back; the caller links
 * it. The bucket's own, if that is free; NULL if memory has run out. */
static inline twi_chunk *twi_take_chunk(timingwheel *tw, unsigned level,
                                        uint32_t index, bool in_front)
{
    twi_chunk *own =
        level < TWI_LEVELS ? &tw->wheels[level]->own[index] : NULL;
    bool is_own_free = own != NULL && own->live == 0;
    twi_chunk *chunk = is_own_free ? own : twi_any_chunk(tw);
    unsigned start = in_front ? TWI_SLOTS : 0;
    if (chunk == NULL)
        return NULL;
    chunk->next = NULL;
    chunk->prev = NULL;
    chunk->bucket = (uint16_t)index;
    chunk->level = (uint8_t)level;
    chunk->live = 0;
    chunk->first = (uint8_t)start;
    chunk->end = (uint8_t)start;
    return chunk;
}

/* Puts a new chunk behind all others of `bucket`; false for want of memory. */
static inline bool twi_add_last(timingwheel *tw, twi_bucket *bucket,
                                unsigned level, uint32_t index)
{
    twi_chunk *chunk = twi_take_chunk(tw, level, index, false);
    if (chunk == NULL)
        return false;
    chunk->prev = bucket->head == NULL ? NULL : twi_tail(bucket);
    if (chunk->prev != NULL)
        chunk->prev->next = chunk;
    else
        bucket->head = chunk;
    twi_set_tail(bucket, chunk);
    return true;
}

/* Puts a new chunk in front of all others; the same otherwise. */
static inline bool twi_add_first(timingwheel *tw, twi_bucket *bucket,
                                 unsigned level, uint32_t index)
{
    twi_chunk *chunk = twi_take_chunk(tw, level, index, true);
    if (chunk == NULL)
        return false;
    chunk->next = bucket->head;
    if (bucket->head != NULL)
        bucket->head->prev = chunk;
    else
        twi_set_tail(bucket, chunk);
    bucket->head = chunk;
    return true;
}

/* Of a closed bucket. */
static inline bool twi_lacks_room_behind(const twi_bucket *bucket)
{
    return bucket->head == NULL || twi_tail(bucket)->end == TWI_SLOTS;
}

static inline bool twi_lacks_room_in_front(const twi_bucket *bucket)
{
    const twi_chunk *chunk = bucket->head;
    return chunk == NULL || chunk->first == 0;
}

/* The next slot behind all timers of a closed bucket that has room there. */
static inline tw_timer **twi_slot_behind(twi_bucket *bucket)
{
    twi_chunk *chunk = twi_tail(bucket);
    unsigned end = chunk->end;
    chunk->live++;
    chunk->end = (uint8_t)(end + 1);
    return &chunk->slots[end];
}

/* The next slot in front of them. */
static inline tw_timer **twi_slot_in_front(twi_bucket *bucket)
{
    twi_chunk *chunk = bucket->head;
    unsigned first = chunk->first - 1U;
    chunk->live++;
    chunk->first = (uint8_t)first;
    return &chunk->slots[first];
}

static inline void twi_widen(twi_bucket *bucket, uint64_t tick)
{
    bucket->earliest = tick < bucket->earliest ? tick : bucket->earliest;
    bucket->latest = tick > bucket->latest ? tick : bucket->latest;
}

/* Hands all chunks of `from` to an aside bucket, behind what that has. */
static void twi_append(timingwheel *tw, enum twi_aside aside, twi_bucket *from)
{
    twi_bucket *to = &tw->aside[aside];
    if (from->head == NULL)
        return;
    tw->nonempty_aside |= UINT32_C(1) << aside;
    for (twi_chunk *chunk = from->head; chunk != NULL; chunk = chunk->next)
        chunk->level = (uint8_t)(TWI_LEVELS + aside);
    if (to->head == NULL) {
        *to = *from;
    } else {
        tw->unsorted[aside] |= from->earliest < to->latest;
        twi_widen(to, from->earliest);
        twi_widen(to, from->latest);
        from->head->prev = twi_tail(to);
        from->head->prev->next = from->head;
        to->room = from->room;
    }
    from->head = NULL;
}

/* The same for all chunks of another aside bucket. */
TWI_COLD void twi_hand_over(timingwheel *tw, enum twi_aside from,
                            enum twi_aside to)
{
    if (tw->aside[from].head == NULL)
        return;
    if (tw->aside[to].head == NULL)
        tw->unsorted[to] = false;
    twi_append(tw, to, &tw->aside[from]);
    tw->unsorted[to] |= tw->unsorted[from];
    tw->nonempty_aside &= ~(UINT32_C(1) << from);
}

/* ---------------------------------------------- start, cancel, postpone ---
 * A timer ahead of the clock goes behind the others in the bucket of the finest
 * wheel that reaches it; one that is not, to those that the next call owes. One
 * that is cancelled leaves an empty slot until its chunk is empty; but if it
 * was started last of all, its slot mostly is free for the next one. */

/* A slot for a tick that is not ahead of the clock. */
TWI_COLD tw_timer **twi_place_overdue(timingwheel *tw, uint64_t tick)
{
    enum twi_aside aside = tw->advancing ? TWI_DEFERRED : TWI_OWED;
    twi_bucket *bucket = &tw->aside[aside];
    bool was_empty = bucket->head == NULL;
    if (twi_lacks_room_behind(bucket) &&
        !twi_add_last(tw, bucket, TWI_LEVELS + (unsigned)aside, 0))
        return NULL;
    if (was_empty) {
        bucket->earliest = tick;
        bucket->latest = tick;
        tw->unsorted[aside] = false;
    }
    tw->nonempty_aside |= UINT32_C(1) << aside;
    tw->unsorted[aside] |= tick < bucket->latest;
    twi_widen(bucket, tick);
    return twi_slot_behind(bucket);
}

/* A bucket of a wheel, which has its mark, takes in a timer for `tick`. */
TWI_INSIDE void twi_account(timingwheel *tw, twi_wheel *wheel,
                            uint32_t index, uint64_t tick)
{
    twi_widen(twi_bucket_at(wheel, index), tick);
    if (TWI_RARE(tick <= wheel->earliest) &&
        (tick < wheel->earliest || !twi_is_queued(wheel)))
        twi_offer(tw, wheel, index, tick);
}

/* The next slot of an open bucket that has room for it. */
TWI_INSIDE tw_timer **twi_next_slot(timingwheel *tw, twi_bucket *bucket)
{
    tw->last_home = bucket;
    return bucket->room++;
}

/* Puts a new chunk behind all others of a wheel's bucket and opens it; false
 * for want of memory. */
static bool twi_add_open(timingwheel *tw, twi_wheel *wheel, uint32_t index)
{
    twi_bucket *bucket = twi_bucket_at(wheel, index);
    if (!twi_add_last(tw, bucket, wheel->level, index))
        return false;
    twi_chunk *chunk = twi_tail(bucket);
    twi_open(bucket, chunk, 0);
    if (twi_is_queued(wheel) && wheel->first == index) {
        twi_unwatch(chunk->prev);
        twi_watch(chunk);
    }
    return true;
}

/* A slot behind all others in the bucket of `wheel` that holds `tick`. */
TWI_INSIDE tw_timer **twi_place_last(timingwheel *tw, twi_wheel *wheel,
                                     uint64_t tick)
{
    uint32_t index = twi_index_of(tw, wheel, tick);
    twi_bucket *bucket = twi_bucket_at(wheel, index);
    if (!twi_has_room(bucket) && !twi_add_open(tw, wheel, index))
        return NULL;
    wheel->one_marked = !twi_is_queued(wheel);
    wheel->reach = wheel->one_marked ? 0 : twi_reach_of(tw, wheel);
    twi_mark(wheel, index);
    twi_account(tw, wheel, index, tick);
    return twi_next_slot(tw, bucket);
}

/* A slot in front of all others there. In an own chunk it lies in the line that
 * has to be written anyway. */
static inline tw_timer **twi_place_first(timingwheel *tw, twi_wheel *wheel,
                                         uint64_t tick)
{
    uint32_t index = twi_index_of(tw, wheel, tick);
    twi_bucket *bucket = twi_bucket_at(wheel, index);
    if (twi_is_clear(bucket) && bucket->head != NULL)
        twi_open(bucket, bucket->head, TWI_NEAR_SLOTS);
    if (twi_lacks_room_in_front(bucket) &&
        !twi_add_first(tw, bucket, wheel->level, index))
        return NULL;
    /* To find a chunk may have reclaimed its own: then it is clear by now. */
    if (twi_is_clear(bucket))
        twi_mark(wheel, index);
    wheel->one_marked = false;
    twi_account(tw, wheel, index, tick);
    wheel->sorted = false;
    return twi_slot_in_front(bucket);
}

/* The wheel for a tick ahead of the clock; it is made if need be. NULL if
 * memory has run out. */
static inline twi_wheel *twi_wheel_for(timingwheel *tw, uint64_t tick)
{
    unsigned level = twi_level_of(tw, tick);
    twi_wheel *wheel = tw->wheels[level];
    if (TWI_RARE(wheel == NULL))
        wheel = twi_add_wheel(tw, level);
    return wheel;
}

/* A slot for a timer that has been postponed to a tick ahead of the clock: the
 * last of that tick. NULL if memory has run out; nothing has changed then. */
static inline tw_timer **twi_place(timingwheel *tw, uint64_t tick)
{
    twi_wheel *wheel = twi_wheel_for(tw, tick);
    return wheel == NULL ? NULL : twi_place_last(tw, wheel, tick);
}

/* A wheel took in a timer, with no limit to mind. If it has others already it
 * is likely to take the next ones too: those at least a turn of the next finer
 * wheel ahead, which is as long as a bucket spans. */
static inline void twi_note_usual(timingwheel *tw, twi_wheel *wheel)
{
    if (tw->tick != 1 || wheel->one_marked)
        return;
    if (tw->usual != wheel)
        tw->span_above = UINT64_MAX;
    tw->usual = wheel;
    tw->usual_above = twi_before_turn(wheel);
}

/* A bucket of `wheel` has filled a chunk. If by now its span is its whole step,
 * or all but a 64th, few starts will be outside of the span of theirs. */
static inline void twi_note_span(timingwheel *tw, const twi_wheel *wheel,
                                 const twi_bucket *bucket)
{
    if (tw->usual != wheel)
        return;
    uint64_t missing = tw->usual_above - (bucket->latest - bucket->earliest);
    bool is_likely = missing <= tw->usual_above / 64;
    tw->span_above = is_likely ? tw->usual_above : UINT64_MAX;
}

/* What the next starts can use of one that went the general way, where there is
 * no limit to mind. Timers are often started many at a time for one deadline:
 * in the same turn of an event loop, to wait for as long. The bucket is known
 * for the others until some bucket is renewed or the clock has moved. */
static inline void twi_note_start(timingwheel *tw, twi_wheel *wheel,
                                  uint64_t tick, uint64_t deadline)
{
    tw->recent = deadline;
    tw->recent_clock = tw->clock;
    tw->recent_home = twi_bucket_at(wheel, twi_index_of(tw, wheel, tick));
    twi_note_usual(tw, wheel);
}

/* True if the bucket for such a deadline is known. */
static inline bool twi_knows_home(const timingwheel *tw)
{
    return tw->recent_clock == tw->clock && tw->recent_home != NULL;
}

/* Writes one more timer for such a deadline to where it belongs; false if the
 * bucket has no room: it is *full. */
TWI_INSIDE bool twi_start_likewise(timingwheel *tw, tw_timer *timer,
                                   twi_bucket **full)
{
    twi_bucket *bucket = tw->recent_home;
    if (!twi_has_room(bucket)) {
        *full = bucket;
        return false;
    }
    twi_fill_slot(twi_next_slot(tw, bucket), timer);
    timer->deadline = tw->recent;
    return true;
}

/* Writes a timer to where it belongs, if its bucket in the usual wheel has room
 * and a span with its tick in it, which is more than `usual_above` ticks ahead.
 * Such a bucket has its mark, and its wheel reaches that far and has no later
 * tick for its earliest. (The span of one that has come up may end in another
 * step, but that is closed: it has no room.) False otherwise; nothing has
 * changed then. Saves a third of a start; but where it is tried in vain every
 * now and then, the jumps that are mispredicted cost more. */
TWI_INSIDE bool twi_start_in_span(timingwheel *tw, tw_timer *timer,
                                  uint64_t tick)
{
    const twi_wheel *wheel = tw->usual;
    twi_bucket *bucket = twi_bucket_at(wheel, twi_index_of(tw, wheel, tick));
    if (TWI_RARE(tick < bucket->earliest || tick > bucket->latest ||
                 !twi_has_room(bucket)))
        return false;
    twi_fill_slot(twi_next_slot(tw, bucket), timer);
    timer->deadline = tick;
    return true;
}

/* Writes a timer that is started now to where it belongs, if that is all there
 * is to do: its tick is within the span of its bucket in the usual wheel; or
 * the bucket is known, from a start for the same deadline; or the usual wheel,
 * or else a near one, reaches that far and has an earlier tick. False if it is
 * none of these, or the bucket has no room; nothing has changed then. If all
 * that is lacking is room, *full tells where; else it is left alone. */
TWI_INSIDE bool twi_start_at_once(timingwheel *tw, tw_timer *timer,
                                  uint64_t deadline, twi_bucket **full)
{
    uint64_t tick = deadline, distance = tick - tw->clock;
    if (distance > tw->span_above && twi_start_in_span(tw, timer, tick))
        return true;
    if (deadline == tw->recent && twi_knows_home(tw))
        return twi_start_likewise(tw, timer, full);
    twi_wheel *wheel = tw->usual;
    if (TWI_RARE(distance <= tw->usual_above || tick >= wheel->reach)) {
        wheel = tw->plain[twi_near_level(tw, distance)];
        if (wheel == NULL || tick >= wheel->reach)
            return false;
    }
    if (tick <= wheel->earliest) /* or overdue: the clock is not later */
        return false;
    uint32_t index = twi_index_of(tw, wheel, tick);
    twi_bucket *bucket = twi_bucket_at(wheel, index);
    if (!twi_has_room(bucket)) {
        *full = bucket;
        return false;
    }
    twi_mark(wheel, index);
    tw_timer **slot = twi_next_slot(tw, bucket);
    twi_widen(bucket, tick);
    twi_fill_slot(slot, timer);
    timer->deadline = deadline;
    return true;
}

/* Writes a timer into the slot found for it, and out of the one it had. */
static inline void twi_put_in(timingwheel *tw, tw_timer *timer,
                              uint64_t deadline, tw_timer **slot)
{
    bool was_pending = twi_is_pending(timer);
    tw_timer **before = (tw_timer **)timer->place;
    twi_fill_slot(slot, timer);
    timer->deadline = deadline;
    if (was_pending)
        twi_clear_slot(tw, before);
    else
        tw->count++;
}

/* Why this timer cannot be started, now that `most` are pending; TW_OK if it
 * can, being one of them. */
TWI_COLD int twi_refusal(const timingwheel *tw, const tw_timer *timer)
{
    if (tw->visiting)
        return TW_EBUSY;
    if (tw->most == 0)
        return TW_EINVAL; /* destroyed */
    return twi_is_pending(timer) ? TW_OK : TW_EFULL;
}

/* tw_start in every case: the tick may have to be worked out, the wheel be far
 * or new, a chunk be needed, or another place in the delay queue; and there may
 * be something to refuse. */
TWI_APART int twi_start_anyhow(timingwheel *tw, tw_timer *timer,
                               uint64_t deadline)
{
    if (TWI_RARE(tw->count >= tw->most)) {
        int status = twi_refusal(tw, timer);
        if (status != TW_OK)
            return status;
    }
    uint64_t tick = twi_tick_of(tw, deadline);
    tw_timer **slot;
    if (TWI_RARE(tick <= tw->clock)) {
        slot = twi_place_overdue(tw, tick);
    } else {
        twi_wheel *wheel = twi_wheel_for(tw, tick);
        slot = wheel == NULL ? NULL : twi_place_last(tw, wheel, tick);
        if (slot != NULL && tw->most == SIZE_MAX)
            twi_note_start(tw, wheel, tick, deadline);
    }
    if (TWI_RARE(slot == NULL))
        return TW_ENOMEM;
    twi_put_in(tw, timer, deadline, slot);
    return TW_OK;
}

/* tw_start where all that is lacking is room in bucket `full`, which has timers
 * if it has a chunk. */
TWI_APART int twi_start_in_new_chunk(timingwheel *tw, tw_timer *timer,
                                     uint64_t deadline, twi_bucket *full)
{
    if (TWI_RARE(full->head == NULL))
        return twi_start_anyhow(tw, timer, deadline);
    const twi_chunk *tail = twi_tail(full);
    twi_wheel *wheel = tw->wheels[tail->level];
    if (!twi_add_open(tw, wheel, tail->bucket))
        return TW_ENOMEM;
    twi_widen(full, twi_tick_of(tw, deadline));
    twi_note_usual(tw, wheel);
    twi_note_span(tw, wheel, full);
    twi_put_in(tw, timer, deadline, twi_next_slot(tw, full));
    return TW_OK;
}

/* tw_start where twi_start_at_once has not done it, and has left `full`. */
static inline int twi_start_otherwise(timingwheel *tw, tw_timer *timer,
                                      uint64_t deadline, twi_bucket *full)
{
    return full != NULL ? twi_start_in_new_chunk(tw, timer, deadline, full)
                        : twi_start_anyhow(tw, timer, deadline);
}

/* tw_start of a timer that is pending. */
TWI_APART int twi_start_again(timingwheel *tw, tw_timer *timer,
                              uint64_t deadline)
{
    tw_timer **before = (tw_timer **)timer->place;
    twi_bucket *full = NULL;
    if (twi_start_at_once(tw, timer, deadline, &full)) {
        twi_clear_slot(tw, before);
        return TW_OK;
    }
    return twi_start_otherwise(tw, timer, deadline, full);
}

TW_DEF int tw_start(timingwheel *tw, tw_timer *timer, uint64_t deadline)
{
    if (tw == NULL || timer == NULL)
        return TW_EINVAL;
    TWI_RULE_READY(tw);
    TWI_RULE_OWN(tw, timer);
    if (twi_is_pending(timer))
        return twi_start_again(tw, timer, deadline);
    twi_bucket *full = NULL;
    if (twi_start_at_once(tw, timer, deadline, &full)) {
        tw->count++;
        return TW_OK;
    }
    return twi_start_otherwise(tw, timer, deadline, full);
}

/* The multiple of the highest power of two in low..high, low <= high. */
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
    if (tw == NULL || timer == NULL || latest < earliest)
        return TW_EINVAL;
    TWI_RULE_READY(tw);
    uint64_t low = twi_tick_of(tw, earliest);
    uint64_t high = latest / tw->tick;
    if (low > high)
        return tw_start(tw, timer, earliest);
    if (low <= tw->clock && high > tw->clock)
        low = tw->clock + 1;
    return tw_start(tw, timer, twi_roundest(low, high) * tw->tick);
}

/* A timer is to be postponed that is due already. Those outside of the wheels
 * are kept in order of ticks, which that breaks: if it stays overdue, even for
 * those that are being fired. And one that was deferred to the next call may
 * now be due in this one. */
TWI_COLD void twi_postpone_overdue(timingwheel *tw, const tw_timer *timer,
                                   uint64_t deadline)
{
    unsigned level = twi_chunk_of((tw_timer **)timer->place)->level;
    if (level < TWI_LEVELS)
        return;
    unsigned aside = level - TWI_LEVELS;
    tw->unsorted[aside] = true;
    if (aside != TWI_OWED)
        tw->revisit = true;
    else if (twi_tick_of(tw, deadline) <= tw->clock)
        tw->walk = NULL;
}

TW_DEF int tw_postpone(timingwheel *tw, tw_timer *timer, uint64_t deadline)
{
    if (tw == NULL || timer == NULL)
        return TW_EINVAL;
    TWI_RULE_READY(tw);
    TWI_RULE_OWN(tw, timer);
    if (!twi_is_pending(timer) || deadline < timer->deadline)
        return tw_start(tw, timer, deadline);
    if (TWI_RARE(timer->deadline <= tw->now))
        twi_postpone_overdue(tw, timer, deadline);
    timer->deadline = deadline;
    return TW_OK;
}

/* Empties a slot by giving its bucket room there again. False if it is not the
 * last one of the bucket that was filled last, or if there is more to it: the
 * chunk is full or watched, or the bucket closed. */
static inline bool twi_take_back(const timingwheel *tw, tw_timer **slot)
{
    twi_bucket *bucket = tw->last_home;
    if (bucket == NULL || bucket->room != slot + 1 || !twi_has_room(bucket) ||
        twi_is_watched(twi_chunk_of(slot)))
        return false;
    bucket->room = slot;
    return true;
}

TW_DEF bool tw_cancel(timingwheel *tw, tw_timer *timer)
{
    if (tw == NULL || timer == NULL || !twi_is_pending(timer))
        return false;
    TWI_RULE_READY(tw);
    TWI_RULE_OWN(tw, timer);
    tw_timer **slot = (tw_timer **)timer->place;
    if (!twi_take_back(tw, slot))
        twi_clear_slot(tw, slot);
    timer->place = TW_CANCELLED;
    tw->count--;
    return true;
}

/* ---------------------------------------------- advancing and cascading ---
 * The clock jumps from one head of the delay queue to the next. What is done
 * when a bucket comes up at tick c, step by step:
 *
 * 1. If it is a crowd - timers of several ticks, in more than one chunk or more
 *    than TWI_CROWD, and not sorted as in 2 - it cascades, after the finer
 *    wheels' crowds that come up at c too: from its last timer to its first,
 *    each goes in front of its new bucket, which is the coarsest one on the way
 *    down that may hold a timer of the same tick (which is younger), else the
 *    one by distance. So timers of one tick stay in start order. Those of tick
 *    c are then in a finer wheel, mostly wheel 0, which comes up next.
 * 2. Otherwise those of tick c fire where they stand, in order, and the bucket
 *    waits for its next tick. Timers of several ticks are sorted by tick once,
 *    the first time: those of one chunk, or up to TWI_RUN that are due within
 *    the same 256 ticks, though no more than the call may handle (or than
 *    TWI_SHORT_RUN), nor than 255 of eight ticks. A lone timer an hour away is
 *    never moved.
 * 3. A timer that was postponed is met in its old bucket and placed anew.
 * 4. If memory runs out, the rest of a crowd stays and is handled as in 2. */

/* Most timers of several ticks worth firing where they stand; up to TWI_RUN. */
#ifndef TWI_CROWD
#define TWI_CROWD TWI_RUN
#endif
#define TWI_AHEAD 3 /* chunks whose timers are prefetched while cascading    */

static void twi_set_clock(timingwheel *tw, uint64_t tick)
{
    if (tick > tw->clock) {
        tw->clock = tick;
        tw->now = tick * tw->tick;
    }
}

/* A slot for a timer on its way down from the wheel `from`: in front of all
 * others of a bucket; behind them, if it was postponed beyond its step. NULL if
 * memory has run out. */
static inline tw_timer **twi_place_below(timingwheel *tw,
                                         const twi_wheel *from, uint64_t tick)
{
    if (!twi_same_step(tick, tw->clock, from->shift))
        return twi_place(tw, tick); /* it was postponed */
    unsigned level = from->level - 1;
    unsigned finest = level == 0 ? 0 : twi_level_of(tw, tick);
    twi_wheel *wheel;
    for (; level > finest; level--) {
        wheel = tw->wheels[level];
        if (wheel == NULL)
            continue;
        const twi_bucket *bucket =
            twi_bucket_at(wheel, twi_index_of(tw, wheel, tick));
        if (bucket->earliest <= tick && bucket->latest >= tick)
            break;
    }
    wheel = tw->wheels[level];
    if (TWI_RARE(wheel == NULL))
        wheel = twi_add_wheel(tw, level);
    return wheel == NULL ? NULL : twi_place_first(tw, wheel, tick);
}

/* Cascades the timers of the last chunk of a bucket; false if it had to stop,
 * for want of memory or because it may do no more. */
static bool twi_cascade_chunk(timingwheel *tw, const twi_wheel *wheel,
                              twi_chunk *chunk)
{
    unsigned end = chunk->end, live = chunk->live;
    while (live != 0 && tw->work != 0) {
        tw_timer *timer = chunk->slots[end - 1];
        if (timer == NULL) {
            end--;
            continue;
        }
        TWI_RULE_INTACT(timer, &chunk->slots[end - 1]);
        uint64_t tick = twi_tick_of(tw, timer->deadline);
        tw_timer **slot = twi_place_below(tw, wheel, tick);
        if (slot == NULL)
            break;
        twi_fill_slot(slot, timer);
        end--;
        live--;
        tw->work--;
        tw->cascaded++;
    }
    chunk->end = (uint8_t)end;
    chunk->live = (uint8_t)live;
    if (live != 0)
        return false;
    twi_release_chunk(tw, chunk);
    return true;
}

/* Cascades the earliest bucket of a wheel, with the timers of the next few
 * chunks on their way into the cache. */
static void twi_cascade(timingwheel *tw, twi_wheel *wheel)
{
    twi_bucket *bucket = twi_first_of(wheel);
    twi_close(tw, bucket);
    const twi_chunk *ahead = twi_tail(bucket);
    for (unsigned i = 0; i < TWI_AHEAD && ahead != NULL; i++) {
        twi_prefetch(ahead);
        ahead = ahead->prev;
    }
    while (!twi_is_empty(bucket)) {
        if (ahead != NULL) {
            twi_prefetch(ahead);
            ahead = ahead->prev;
            TWI_PREFETCH(ahead);
        }
        if (!twi_cascade_chunk(tw, wheel, twi_tail(bucket)))
            return;
    }
}

/* Fires a timer that is in no bucket any more. It is not touched after its
 * callback, which may have freed it. */
static inline void twi_fire(timingwheel *tw, tw_timer *timer)
{
    timer->place = TW_FIRED;
    tw->count--;
    tw->fired++;
    tw->work--;
    if (TWI_RARE(tw->polling)) {
        tw->pulled = timer;
        tw->work = 0;
    } else if (timer->callback != NULL) {
        timer->callback(tw, timer);
    }
}

/* Places a timer anew that was postponed beyond the step of its bucket. */
static bool twi_move_on(timingwheel *tw, tw_timer *timer, unsigned shift)
{
    uint64_t tick = twi_tick_of(tw, timer->deadline);
    if (tick <= tw->clock || twi_same_step(tick, tw->clock, shift))
        return false;
    tw_timer **slot = twi_place(tw, tick);
    if (slot == NULL)
        return false;
    twi_fill_slot(slot, timer);
    tw->work--;
    tw->cascaded++;
    return true;
}

/* Fires or moves on one timer of a chunk; false if all it has stay there. */
static bool twi_handle_one(timingwheel *tw, twi_chunk *chunk, unsigned shift,
                           uint64_t due)
{
    twi_first_slot(chunk); /* the next one of the bucket need not search */
    for (unsigned i = chunk->first; i < chunk->end; i++) {
        tw_timer *timer = chunk->slots[i];
        if (timer == NULL)
            continue;
        TWI_RULE_INTACT(timer, &chunk->slots[i]);
        bool is_due = timer->deadline <= due;
        if (!is_due && !twi_move_on(tw, timer, shift))
            continue;
        twi_clear_slot(tw, &chunk->slots[i]);
        if (is_due)
            twi_fire(tw, timer);
        return true;
    }
    return false;
}

/* Fires, in order, the timers of a bucket that are due at `tick`; false if it
 * may do no more before it has been through. A callback can empty any slot and
 * release any chunk: tw->walk follows. */
static bool twi_fire_bucket(timingwheel *tw, const twi_bucket *bucket,
                            unsigned shift, uint64_t tick)
{
    uint64_t due = tick * tw->tick;
    tw->walk = bucket->head;
    while (tw->walk != NULL && tw->work != 0) {
        twi_chunk *chunk = tw->walk;
        twi_prefetch(chunk->next);
        do {
            tw_timer *timer = chunk->slots[chunk->first];
            if (timer != NULL && timer->deadline <= due) {
                TWI_RULE_INTACT(timer, &chunk->slots[chunk->first]);
                chunk->first++;
                if (--chunk->live == 0)
                    twi_release_chunk(tw, chunk);
                twi_fire(tw, timer);
            } else if (!twi_handle_one(tw, chunk, shift, due)) {
                tw->walk = chunk->next;
            }
        } while (tw->walk == chunk && tw->work != 0);
    }
    bool is_through = tw->walk == NULL;
    tw->walk = NULL;
    return is_through;
}

/* Finds the span of ticks of a bucket that has been left with timers. */
static void twi_measure(const timingwheel *tw, twi_bucket *bucket)
{
    twi_clear_span(bucket);
    for (twi_chunk *chunk = bucket->head; chunk != NULL; chunk = chunk->next)
        for (unsigned i = chunk->first; i < chunk->end; i++)
            if (chunk->slots[i] != NULL)
                twi_widen(bucket, twi_tick_of(tw, chunk->slots[i]->deadline));
}

/* What is left in a bucket whose time has come waits there for its new earliest
 * tick; or, if that is in another step (all of it was postponed, and could not
 * be moved for want of memory), with those owed. */
static void twi_keep_rest(timingwheel *tw, twi_wheel *wheel)
{
    twi_bucket *bucket = twi_first_of(wheel);
    wheel->sorted = false;
    twi_measure(tw, bucket);
    if (twi_same_step(bucket->earliest, tw->clock, wheel->shift)) {
        twi_offer_later(tw, wheel, wheel->queue_index, wheel->first);
        return;
    }
    twi_append(tw, TWI_OWED, bucket);
    tw->unsorted[TWI_OWED] = true;
    twi_bucket_emptied(tw, wheel, wheel->first);
}

/* True if a bucket has so few timers that all are in one chunk. */
static inline bool twi_is_small(const twi_bucket *bucket)
{
    return twi_has_one_chunk(bucket) &&
           twi_live(bucket, bucket->head) <= TWI_CROWD;
}

/* True if it has one timer only. */
static inline bool twi_is_lone(const twi_bucket *bucket)
{
    return twi_has_one_chunk(bucket) && twi_live(bucket, bucket->head) == 1;
}

static inline bool twi_is_crowd(const twi_bucket *bucket)
{
    return bucket->earliest != bucket->latest && !twi_is_small(bucket);
}

/* The first bucket of a wheel has been sorted: its ticks are noted. They are in
 * order unless a timer has been postponed beyond the step of the bucket. */
static void twi_note_sorted(const timingwheel *tw, twi_wheel *wheel,
                            uint64_t latest, bool is_run)
{
    twi_first_of(wheel)->latest = latest;
    wheel->is_run = is_run;
    wheel->noted = 0;
    wheel->sorted = twi_same_step(latest, tw->clock, wheel->shift);
}

/* Sorts the timers of one chunk. They are so few that to count how many come
 * before each is the quickest: it takes no jump that is hard to predict. */
static void twi_sort_few(const timingwheel *tw, twi_wheel *wheel)
{
    twi_chunk *chunk = twi_first_of(wheel)->head;
    tw_timer *timers[TWI_SLOTS];
    uint64_t ticks[TWI_SLOTS];
    unsigned places[TWI_SLOTS], count = 0;
    for (unsigned i = chunk->first; i < chunk->end; i++) {
        tw_timer *timer = chunk->slots[i];
        if (timer == NULL)
            continue;
        TWI_RULE_INTACT(timer, &chunk->slots[i]);
        timers[count] = timer;
        ticks[count] = twi_tick_of(tw, timer->deadline);
        places[count] = chunk->first;
        for (unsigned j = 0; j < count; j++) {
            unsigned is_before = ticks[j] <= ticks[count];
            places[count] += is_before;
            places[j] += 1 - is_before;
        }
        count++;
    }
    for (unsigned i = 0; i < count; i++) {
        twi_fill_slot(&chunk->slots[places[i]], timers[i]);
        wheel->ticks[places[i]] = ticks[i];
    }
    chunk->end = (uint8_t)(chunk->first + count);
    twi_note_sorted(tw, wheel, wheel->ticks[chunk->end - 1], false);
}

#if TWI_RUN_CHUNKS > 1
/* True if a bucket has no more timers than are worth sorting; nor than the call
 * under way may still handle, but for a short run. (If it has, it cascades from
 * the last one on: they are on their way into the cache now.) */
static bool twi_is_run(const timingwheel *tw, const twi_bucket *bucket)
{
    size_t live = 0, most = tw->work;
    if (most < TWI_SHORT_RUN)
        most = TWI_SHORT_RUN;
    if (most > TWI_CROWD)
        most = TWI_CROWD;
    const twi_chunk *chunk = twi_tail(bucket);
    for (; chunk != NULL && live <= most; chunk = chunk->prev) {
        live += chunk->live;
        twi_prefetch(chunk);
    }
    return live <= most;
}

/* What it takes to sort a run. */
typedef struct twi_run {
    uint64_t counts[32];       /* of the timers due at each of 256 ticks, a  */
                               /* byte a tick, the first of eight the least  */
    uint16_t before[32];       /* how many come before those of eight ticks  */
    uint8_t ticks[TWI_RUN];    /* their last eight bits, in order of slots   */
    tw_timer *timers[TWI_RUN]; /* in order of ticks                          */
} twi_run;

/* The count of a tick, by its last eight bits. */
static inline uint8_t *twi_count_of(twi_run *run, unsigned tick)
{
    static const uint64_t least = 7;
    uint8_t *bytes = (uint8_t *)run->counts;
    unsigned flip = 7U - *(const uint8_t *)&least; /* 0, if it comes first */
    return &bytes[tick ^ flip];
}

/* Counts the timers of a bucket by the last eight bits of their tick. How many
 * there are in all; 0 if the other bits are not all alike. */
static size_t twi_count_ticks(const timingwheel *tw, const twi_bucket *bucket,
                              twi_run *run)
{
    uint64_t differ = 0;
    size_t count = 0;
    for (unsigned i = 0; i < 32; i++)
        run->counts[i] = 0;
    for (twi_chunk *chunk = bucket->head; chunk != NULL; chunk = chunk->next)
        for (unsigned i = chunk->first; i < chunk->end; i++)
            if (chunk->slots[i] != NULL) {
                TWI_RULE_INTACT(chunk->slots[i], &chunk->slots[i]);
                uint64_t tick = twi_tick_of(tw, chunk->slots[i]->deadline);
                differ |= tick ^ bucket->earliest;
                run->ticks[count++] = (uint8_t)tick;
                ++*twi_count_of(run, (uint8_t)tick);
            }
    return differ < 256 ? count : 0;
}

/* Turns each count into the sum of those before it among eight: a word times
 * 0x01..01 has in each byte the sum of its bytes up to there. False if more
 * timers are due within eight ticks than a byte can count: then some are
 * missing from the sum of all. */
static bool twi_add_up(twi_run *run, size_t count)
{
    size_t before = 0;
    for (unsigned i = 0; i < 32; i++) {
        uint64_t sums = run->counts[i] * UINT64_C(0x0101010101010101);
        run->counts[i] = sums - run->counts[i];
        run->before[i] = (uint16_t)before;
        before += (size_t)(sums >> 56);
    }
    return before == count;
}

/* Puts `count` timers, and no others, into the chunks of a bucket that had as
 * many, without gaps. */
static void twi_repack(timingwheel *tw, twi_bucket *bucket,
                       tw_timer *const *timers, size_t count)
{
    twi_chunk *chunk = bucket->head;
    for (;; chunk = chunk->next) {
        size_t here = count < TWI_SLOTS ? count : TWI_SLOTS;
        for (size_t i = 0; i < here; i++)
            twi_fill_slot(&chunk->slots[i], timers[i]);
        chunk->first = 0;
        chunk->end = (uint8_t)here;
        chunk->live = (uint8_t)here;
        timers += here;
        count -= here;
        if (count == 0)
            break;
    }
    while (twi_tail(bucket) != chunk) {
        twi_tail(bucket)->live = 0;
        twi_release_chunk(tw, twi_tail(bucket));
    }
}

/* Sorts the timers of several chunks, if all are due within the same 256 ticks:
 * they are counted tick by tick, and then each has its place. */
static void twi_sort_run(timingwheel *tw, twi_wheel *wheel)
{
    twi_bucket *bucket = twi_first_of(wheel);
    twi_run run;
    size_t count = twi_count_ticks(tw, bucket, &run), done = 0;
    if (count == 0 || !twi_add_up(&run, count))
        return;
    for (twi_chunk *chunk = bucket->head; chunk != NULL; chunk = chunk->next)
        for (unsigned i = chunk->first; i < chunk->end; i++)
            if (chunk->slots[i] != NULL) {
                unsigned tick = run.ticks[done++];
                size_t place = run.before[tick / 8];
                place += (*twi_count_of(&run, tick))++;
                run.timers[place] = chunk->slots[i];
                wheel->last_bits[place] = (uint8_t)tick;
            }
    twi_repack(tw, bucket, run.timers, count);
    uint64_t latest = bucket->earliest & ~UINT64_C(255);
    latest |= wheel->last_bits[count - 1];
    twi_note_sorted(tw, wheel, latest, true);
}
#endif /* TWI_RUN_CHUNKS > 1 */

/* Puts the timers of a wheel's first bucket in order of their ticks, those of
 * one tick staying in theirs, if they are few enough for that to cost less than
 * to cascade. False if not, or if one has been postponed beyond the step of the
 * bucket. Now that the clock is in that step no timer is started into it, since
 * a finer wheel reaches as far. One that is postponed stays in its slot: it is
 * known by the tick noted for that. */
TWI_APART bool twi_sort_first(timingwheel *tw, twi_wheel *wheel)
{
    twi_bucket *bucket = twi_first_of(wheel);
    twi_close(tw, bucket);
    if (twi_is_lone(bucket))
        return false;
    if (twi_is_small(bucket))
        twi_sort_few(tw, wheel);
#if TWI_RUN_CHUNKS > 1
    else if ((bucket->earliest ^ bucket->latest) < 256 &&
             twi_is_run(tw, bucket))
        twi_sort_run(tw, wheel);
#endif
    return wheel->sorted;
}

/* The tick noted for a slot of the first bucket of a wheel, which is sorted.
 * The clock is in the same 256 ticks as all of a run. */
static inline uint64_t twi_noted_tick(const timingwheel *tw,
                                      const twi_wheel *wheel, unsigned slot)
{
#if TWI_RUN_CHUNKS > 1
    if (wheel->is_run)
        return (tw->clock & ~UINT64_C(255)) | wheel->last_bits[slot];
#endif
    (void)tw;
    return wheel->ticks[slot];
}

/* Fires the timer that is alone in the first bucket of a wheel; false if it was
 * postponed meanwhile. All is in order again before the callback. */
static inline bool twi_fire_lone(timingwheel *tw, twi_wheel *wheel,
                                 twi_chunk *chunk)
{
    tw_timer **slot = twi_first_slot(chunk);
    tw_timer *timer = *slot;
    TWI_RULE_INTACT(timer, slot);
    if (timer->deadline > tw->now)
        return false;
    if (TWI_RARE(!twi_is_own(chunk))) {
        twi_bucket_emptied(tw, wheel, wheel->first);
    } else {
        twi_clear_span(twi_first_of(wheel));
        twi_open(twi_first_of(wheel), chunk, 0);
        twi_offer_next(tw, wheel, 0);
    }
    twi_fire(tw, timer);
    return true;
}

/* The first bucket of the wheel at the head of the delay queue waits for `tick`
 * from now on. */
static inline void twi_wait_for(timingwheel *tw, twi_wheel *wheel,
                                uint64_t tick)
{
    twi_entry entry = {tick, wheel};
    twi_first_of(wheel)->earliest = tick;
    wheel->earliest = tick;
    twi_queue_later(tw, 0, entry);
}

/* Fires the first of several timers in the first bucket of a wheel, which is
 * sorted; or none, if the one that was first has been cancelled. False if one
 * of the first two was postponed meanwhile, or if there is but one left. All is
 * in order again before the callback. */
static inline bool twi_fire_first(timingwheel *tw, twi_wheel *wheel,
                                  twi_chunk *chunk)
{
    unsigned noted = wheel->noted;
    tw_timer *timer = *twi_first_slot(chunk);
    unsigned i = chunk->first;
    TWI_RULE_INTACT(timer, &chunk->slots[i]);
    if (timer->deadline > tw->now) {
        uint64_t tick = twi_noted_tick(tw, wheel, noted + i);
        if (twi_tick_of(tw, timer->deadline) != tick)
            return false;
        twi_wait_for(tw, wheel, tick);
        return true;
    }
    const twi_chunk *with_next = chunk;
    if (TWI_RARE(chunk->live == 1)) {
        with_next = chunk->next;
        if (with_next == NULL)
            return false;
        (void)twi_first_slot(chunk->next);
        i = with_next->first;
        noted += TWI_SLOTS;
    } else {
        do
            i++;
        while (chunk->slots[i] == NULL);
    }
    uint64_t tick = twi_noted_tick(tw, wheel, noted + i);
    if (twi_tick_of(tw, with_next->slots[i]->deadline) != tick)
        return false;
    if (TWI_RARE(--chunk->live == 0))
        twi_release_chunk(tw, chunk);
    else
        chunk->first = (uint8_t)i;
    twi_wait_for(tw, wheel, tick);
    twi_fire(tw, timer);
    return true;
}

/* The same for all that are due at the tick of the clock. The delay queue need
 * not be asked between them: whatever a callback starts comes later. */
static inline bool twi_fire_sorted(timingwheel *tw, twi_wheel *wheel,
                                   const twi_bucket *bucket)
{
    do
        if (!twi_fire_first(tw, wheel, bucket->head))
            return false;
    while (wheel->earliest == tw->clock && wheel->sorted && tw->work != 0);
    return true;
}

/* The commonest cases where timers are few, without the detours of the others;
 * false if it was none of them. */
static inline bool twi_fire_quickly(timingwheel *tw, twi_wheel *wheel)
{
    const twi_bucket *bucket = twi_first_of(wheel);
    if (twi_is_lone(bucket))
        return twi_fire_lone(tw, wheel, bucket->head);
    if (bucket->earliest == bucket->latest)
        return false; /* several of one tick */
    if (!wheel->sorted && !twi_sort_first(tw, wheel))
        return false;
    return twi_fire_sorted(tw, wheel, bucket);
}

/* Handles the first bucket of a wheel, which comes up at `tick`, where that
 * takes more than to fire one timer. */
TWI_APART void twi_come_up(timingwheel *tw, twi_wheel *wheel, uint64_t tick)
{
    twi_bucket *bucket = twi_first_of(wheel);
    twi_close(tw, bucket);
    if (twi_is_crowd(bucket)) {
        for (unsigned level = 1; level <= wheel->level; level++) {
            twi_wheel *other = tw->wheels[level];
            if (other != NULL && twi_is_queued(other) &&
                other->earliest == tick && twi_is_crowd(twi_first_of(other)))
                twi_cascade(tw, other);
        }
        if (twi_is_empty(bucket) || tw->work == 0)
            return;
    }
    bool is_through = twi_fire_bucket(tw, bucket, wheel->shift, tick);
    if (!twi_is_empty(bucket) && (is_through || twi_is_small(bucket)))
        twi_keep_rest(tw, wheel);
}

/* Handles the head of the delay queue, as said above. */
static inline void twi_handle_head(timingwheel *tw)
{
    uint64_t tick = tw->queue[0].tick;
    twi_wheel *wheel = tw->queue[0].wheel;
    twi_set_clock(tw, tick);
    if (!twi_fire_quickly(tw, wheel))
        twi_come_up(tw, wheel, tick);
}

/* ------------------------------------------------------- overdue timers ---
 * Outside of the wheels wait the timers that are owed, those that callbacks
 * have deferred to the next call, and, where memory has run out, those that are
 * stuck. They fire between the heads of the delay queue, by their ticks. */

/* One pass of twi_sort_owed: timers whose tick has that bit go behind the
 * others. False if memory ran out. */
static bool twi_split_owed(timingwheel *tw, unsigned bit)
{
    twi_bucket halves[2] = {{0, 0, NULL, NULL}, {0, 0, NULL, NULL}}, rest;
    twi_bucket *owed = &tw->aside[TWI_OWED];
    twi_chunk *chunk;
    bool fits = true;
    while (fits && (chunk = owed->head) != NULL) {
        tw_timer **from = twi_first_slot(chunk);
        tw_timer *timer = *from;
        uint64_t tick = twi_tick_of(tw, timer->deadline);
        twi_bucket *half = &halves[tick >> bit & 1];
        fits = !twi_lacks_room_behind(half) ||
               twi_add_last(tw, half, TWI_LEVELS + TWI_OWED, 0);
        if (fits) {
            twi_fill_slot(twi_slot_behind(half), timer);
            twi_clear_slot(tw, from);
        }
    }
    rest = *owed;
    owed->head = NULL;
    twi_append(tw, TWI_OWED, &halves[0]);
    twi_append(tw, TWI_OWED, &halves[1]);
    twi_append(tw, TWI_OWED, &rest);
    return fits;
}

/* Sorts the overdue timers by tick, those of one tick staying in order: radix
 * sort, least bit first. Without memory for the chunks that it takes the timers
 * stay unsorted, which costs time when they fire. */
TWI_COLD void twi_sort_owed(timingwheel *tw)
{
    twi_bucket *owed = &tw->aside[TWI_OWED];
    if (twi_spare(tw, TWI_SORT_CHUNKS) < TWI_SORT_CHUNKS) {
        twi_reclaim(tw);
        if (twi_spare(tw, TWI_SORT_CHUNKS) < TWI_SORT_CHUNKS &&
            !twi_add_slab(tw, TWI_LEAST_CHUNKS))
            return;
    }
    twi_measure(tw, owed);
    uint64_t differ = owed->earliest ^ owed->latest;
    for (unsigned bit = 0; bit < 64 && differ >> bit != 0; bit++)
        if (!twi_split_owed(tw, bit))
            return;
    twi_measure(tw, owed);
    tw->unsorted[TWI_OWED] = false;
}

/* Fires what is owed: in order of ticks, up to the head of the delay queue.
 * Unsorted, it takes one round for each tick. */
TWI_COLD void twi_fire_owed(timingwheel *tw)
{
    twi_bucket *owed = &tw->aside[TWI_OWED];
    if (tw->unsorted[TWI_OWED]) {
        twi_sort_owed(tw);
        if (!tw->unsorted[TWI_OWED])
            return; /* now the head of the delay queue may come first */
    }
    uint64_t tick = owed->earliest;
    if (!tw->unsorted[TWI_OWED] && tick < tw->clock) {
        tick = tw->clock;
        if (tw->queued != 0 && tw->queue[0].tick == tick)
            tick--;
    }
    twi_set_clock(tw, tick);
    (void)twi_fire_bucket(tw, owed, 0, tick);
    if (owed->head == NULL)
        return;
    tick = twi_tick_of(tw, (*twi_first_slot(owed->head))->deadline);
    if (tw->unsorted[TWI_OWED] || tick > tw->clock)
        twi_measure(tw, owed);
    else
        owed->earliest = tick;
}

/* Places those deferred timers anew that have been postponed meanwhile. If
 * memory has run out some are stuck where they are, and looked at again. */
TWI_COLD void twi_revisit_deferred(timingwheel *tw)
{
    twi_bucket *stuck = &tw->aside[TWI_STUCK];
    twi_chunk *next;
    tw->revisit = false;
    stuck->earliest = UINT64_MAX;
    for (twi_chunk *chunk = tw->aside[TWI_DEFERRED].head; chunk != NULL;
         chunk = next) {
        unsigned left = chunk->live;
        next = chunk->next;
        for (unsigned i = chunk->first; left != 0; i++) {
            if (chunk->slots[i] == NULL)
                continue;
            left--;
            uint64_t tick = twi_tick_of(tw, chunk->slots[i]->deadline);
            if (tick <= tw->clock)
                continue;
            if (tw->work == 0 || !twi_move_on(tw, chunk->slots[i], 0)) {
                tw->revisit = true;
                if (tick < stuck->earliest)
                    stuck->earliest = tick;
                continue;
            }
            twi_clear_slot(tw, &chunk->slots[i]);
        }
    }
}

/* The slot of the first timer of a bucket that is due at `tick`, or NULL. */
static tw_timer **twi_slot_due_at(const timingwheel *tw,
                                  const twi_bucket *bucket, uint64_t tick)
{
    for (twi_chunk *chunk = bucket->head; chunk != NULL; chunk = chunk->next)
        for (unsigned i = chunk->first; i < chunk->end; i++)
            if (chunk->slots[i] != NULL &&
                twi_tick_of(tw, chunk->slots[i]->deadline) == tick)
                return &chunk->slots[i];
    return NULL;
}

/* Fires those of the deferred timers that are stuck and due next. All deferred
 * stand apart meanwhile from those that their callbacks defer. */
TWI_COLD void twi_fire_stuck(timingwheel *tw)
{
    twi_bucket *stuck = &tw->aside[TWI_STUCK];
    uint64_t tick = stuck->earliest;
    tw_timer **slot;
    twi_set_clock(tw, tick);
    twi_hand_over(tw, TWI_DEFERRED, TWI_STUCK);
    while (tw->work != 0 &&
           (slot = twi_slot_due_at(tw, stuck, tick)) != NULL) {
        tw_timer *timer = *slot;
        twi_clear_slot(tw, slot);
        twi_fire(tw, timer);
    }
    twi_hand_over(tw, TWI_DEFERRED, TWI_STUCK);
    twi_hand_over(tw, TWI_STUCK, TWI_DEFERRED);
}

/* Looks at the timers outside of the wheels. If some of them come next, before
 * the head of the delay queue: where they are; else NULL. */
TWI_COLD twi_bucket *twi_look_aside(timingwheel *tw, uint64_t target)
{
    twi_bucket *owed = &tw->aside[TWI_OWED], *stuck = &tw->aside[TWI_STUCK];
    if (tw->revisit)
        twi_revisit_deferred(tw);
    if (tw->queued != 0 && tw->queue[0].tick < target)
        target = tw->queue[0].tick;
    bool is_owed = owed->head != NULL && owed->earliest <= target;
    if (tw->revisit && stuck->earliest <= target &&
        (!is_owed || stuck->earliest <= owed->earliest))
        return stuck;
    if (is_owed && (tw->queued == 0 || owed->earliest < tw->queue[0].tick))
        return owed;
    return NULL;
}

/* --------------------------------------------------- calls that advance ---
 * They handle one head of the delay queue after the other, and what is overdue
 * between them. */

/* Handles what is due up to the tick `target`; false if it had to stop before,
 * because it may do no more. */
static bool twi_handle_due(timingwheel *tw, uint64_t target)
{
    for (;;) {
        const twi_bucket *aside = NULL;
        if (TWI_RARE(tw->nonempty_aside != 0))
            aside = twi_look_aside(tw, target);
        if (aside == NULL && (tw->queued == 0 || tw->queue[0].tick > target))
            return true;
        if (tw->work == 0)
            return false;
        if (aside == NULL)
            twi_handle_head(tw);
        else if (aside == &tw->aside[TWI_OWED])
            twi_fire_owed(tw);
        else
            twi_fire_stuck(tw);
    }
}

/* Ends a call. What was deferred in it is owed by the next one. */
static inline void twi_end_call(timingwheel *tw)
{
    tw->advancing = false;
    if (TWI_RARE(tw->nonempty_aside != 0)) {
        tw->revisit = false;
        twi_hand_over(tw, TWI_DEFERRED, TWI_OWED);
    }
}

/* What a call of tw_advance_clock or tw_poll does. */
static inline void twi_advance(timingwheel *tw, uint64_t now, size_t limit)
{
    uint64_t target = TWI_RARE(tw->tick != 1) ? now / tw->tick : now;
    if (target < tw->clock)
        target = tw->clock;
    tw->work = limit;
    tw->advancing = true;
    if (twi_handle_due(tw, target) && tw->pulled == NULL) {
        tw->clock = target;
        if (now > tw->now)
            tw->now = now;
    }
    twi_end_call(tw);
}

/* True, and an assertion in a debug build, where the clock must not move. */
static bool twi_is_busy(const timingwheel *tw)
{
    bool busy = tw->advancing || tw->visiting;
    TWI_RULE_READY(tw);
    TWI_RULE(!busy,
             "a callback or visitor must not advance, poll, trim or destroy "
             "the wheel that it runs under");
    return busy;
}

TW_DEF size_t tw_advance_clock_limit(timingwheel *tw, uint64_t now,
                                     size_t limit)
{
    if (tw == NULL || limit == 0 || twi_is_busy(tw))
        return 0;
    uint64_t fired = tw->fired;
    twi_advance(tw, now, limit);
    return (size_t)(tw->fired - fired);
}

TW_DEF size_t tw_advance_clock(timingwheel *tw, uint64_t now)
{
    return tw_advance_clock_limit(tw, now, SIZE_MAX);
}

TW_DEF tw_timer *tw_poll(timingwheel *tw, uint64_t now)
{
    if (tw == NULL || twi_is_busy(tw))
        return NULL;
    tw->polling = true;
    twi_advance(tw, now, SIZE_MAX);
    tw->polling = false;
    tw_timer *timer = tw->pulled;
    tw->pulled = NULL;
    return timer;
}

/* -------------------------------------------- next deadline and periods --- */

/* The earliest tick of an aside bucket that has timers: where they are in order
 * that of the first. (Of those ahead of the clock any may have been postponed
 * unnoticed.) */
TWI_COLD uint64_t twi_earliest_aside(const timingwheel *tw, unsigned aside)
{
    const twi_bucket *bucket = &tw->aside[aside];
    uint64_t tick = twi_tick_of(tw, (*twi_first_slot(bucket->head))->deadline);
    return tw->unsorted[aside] || tick > tw->clock ? bucket->earliest : tick;
}

/* The tick of the next timer where some are outside of the wheels; false if
 * there is none. */
TWI_COLD bool twi_next_of_all(const timingwheel *tw, uint64_t *tick)
{
    bool found = tw->queued != 0;
    if (found)
        *tick = tw->queue[0].tick;
    for (unsigned i = TWI_OWED; i <= TWI_STUCK; i++) {
        if (tw->aside[i].head == NULL)
            continue;
        uint64_t earliest = twi_earliest_aside(tw, i);
        if (!found || earliest < *tick)
            *tick = earliest;
        found = true;
    }
    return found;
}

/* The tick of the next timer; false if none is pending. */
static inline bool twi_next_tick(const timingwheel *tw, uint64_t *tick)
{
    if (TWI_RARE(tw->nonempty_aside != 0))
        return twi_next_of_all(tw, tick);
    *tick = tw->queue[0].tick;
    return tw->queued != 0;
}

TW_DEF bool tw_next_deadline(timingwheel *tw, uint64_t *deadline)
{
    uint64_t tick;
    if (tw == NULL || deadline == NULL || !twi_next_tick(tw, &tick))
        return false;
    *deadline = twi_time_of(tw, tick);
    return true;
}

TW_DEF uint64_t tw_wait(timingwheel *tw, uint64_t now, uint64_t longest)
{
    uint64_t tick;
    if (tw == NULL || !twi_next_tick(tw, &tick))
        return longest;
    if (tick <= tw->clock)
        return 0;
    if (tick > tw->last_tick)
        return longest; /* the clock cannot reach it */
    uint64_t deadline = tick * tw->tick;
    if (deadline <= now)
        return 0;
    return deadline - now < longest ? deadline - now : longest;
}

TW_DEF uint64_t tw_after(uint64_t now, uint64_t delay)
{
    return delay > UINT64_MAX - now ? UINT64_MAX : now + delay;
}

TW_DEF uint64_t tw_next_period(uint64_t previous, uint64_t period,
                               uint64_t now, uint64_t *missed)
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

/* Calls `visit` for the timers of one bucket. A visitor may cancel its timer,
 * which may release the chunk, with the last timer of all also one behind it
 * that has none: nothing of it is read after the last visit. */
static size_t twi_visit_bucket(const twi_bucket *bucket, tw_visitor *visit,
                               void *context)
{
    size_t visited = 0;
    twi_chunk *next;
    for (twi_chunk *chunk = bucket->head; chunk != NULL; chunk = next) {
        unsigned left = twi_live(bucket, chunk);
        next = chunk->next;
        if (next != NULL && twi_live(bucket, next) == 0)
            next = NULL;
        visited += left;
        for (unsigned i = chunk->first; left != 0; i++)
            if (chunk->slots[i] != NULL) {
                left--;
                visit(chunk->slots[i], context);
            }
    }
    return visited;
}

static size_t twi_visit_all(timingwheel *tw, tw_visitor *visit, void *context)
{
    size_t visited = 0;
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (tw->wheels[level] != NULL)
            for (size_t i = 0; i <= tw->size_mask; i++)
                visited += twi_visit_bucket(twi_bucket_at(tw->wheels[level], i),
                                            visit, context);
    for (unsigned i = 0; i < TWI_ASIDES; i++)
        visited += twi_visit_bucket(&tw->aside[i], visit, context);
    return visited;
}

TW_DEF size_t tw_foreach(timingwheel *tw, tw_visitor *visit, void *context)
{
    if (tw == NULL || visit == NULL || tw->visiting)
        return 0;
    size_t most = tw->most;
    tw->visiting = true;
    twi_allow(tw, 0); /* so that tw_start looks for the reason */
    size_t visited = twi_visit_all(tw, visit, context);
    twi_allow(tw, most);
    tw->visiting = false;
    return visited;
}

/* Hands every pending timer to the bucket of those drained. */
static void twi_gather(timingwheel *tw)
{
    while (tw->queued != 0) {
        twi_wheel *wheel = tw->queue[0].wheel;
        twi_close(tw, twi_first_of(wheel));
        twi_append(tw, TWI_DRAINED, twi_first_of(wheel));
        twi_bucket_emptied(tw, wheel, wheel->first);
    }
    for (unsigned i = TWI_OWED; i <= TWI_STUCK; i++)
        twi_hand_over(tw, (enum twi_aside)i, TWI_DRAINED);
    tw->walk = NULL;
}

TW_DEF size_t tw_drain(timingwheel *tw, tw_visitor *visit, void *context)
{
    if (tw == NULL || tw->visiting)
        return 0;
    bool was_advancing = tw->advancing;
    size_t drained = 0;
    twi_chunk *chunk;
    tw->advancing = true;
    twi_gather(tw);
    while ((chunk = tw->aside[TWI_DRAINED].head) != NULL) {
        tw_timer **slot = twi_first_slot(chunk);
        tw_timer *timer = *slot;
        twi_clear_slot(tw, slot);
        timer->place = TW_IDLE;
        tw->count--;
        drained++;
        if (visit != NULL)
            visit(timer, context);
    }
    if (!was_advancing)
        twi_end_call(tw);
    return drained;
}

/* ------------------------------------------- setting up and giving back --- */

TW_DEF int tw_init(timingwheel *tw, const tw_config *config)
{
    static const tw_config defaults = {0, 0, 0, 0, NULL};
    if (config == NULL)
        config = &defaults;
    uint32_t size = config->wheel_size;
    if (size == 0)
        size = TW_DEFAULT_WHEEL_SIZE;
    if (tw == NULL || size < 2 || size > 4096 || (size & (size - 1)) != 0)
        return TW_EINVAL;
    for (size_t i = 0; i < sizeof(*tw); i++)
        ((unsigned char *)tw)[i] = 0;
    tw->tick = config->tick == 0 ? 1 : config->tick;
    tw->last_tick = UINT64_MAX / tw->tick;
    tw->now = config->start;
    tw->clock = config->start / tw->tick;
    tw->seal = TWI_SEAL;
    tw->alloc_context = config->alloc_context;
    tw->size_mask = size - 1;
    tw->size_bits = twi_highest_bit(size);
    tw->per_bit = 65536 / tw->size_bits + 1;
    tw->turns[0] = size;
    tw->turns[1] = tw->turns[0] * size;
    tw->turns[2] = tw->turns[1] * size;
    tw->turns[3] = tw->turns[2] * size;
    twi_allow(tw, config->max_pending == 0 ? SIZE_MAX : config->max_pending);
    return TW_OK;
}

TW_DEF void tw_timer_init(tw_timer *timer, tw_callback *callback)
{
    if (timer == NULL)
        return;
    timer->place = TW_IDLE;
    timer->deadline = 0;
    timer->callback = callback;
}

static void twi_make_idle(tw_timer *timer, void *context)
{
    (void)context;
    timer->place = TW_IDLE;
}

TW_DEF void tw_destroy(timingwheel *tw)
{
    if (tw == NULL || twi_is_busy(tw))
        return;
    twi_visit_all(tw, twi_make_idle, NULL);
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (tw->wheels[level] != NULL)
            twi_remove_wheel(tw, level);
    while (tw->slabs != NULL)
        twi_remove_slab(tw, &tw->slabs);
    (void)tw_init(tw, NULL);
    twi_allow(tw, 0);
    tw->seal = 0;
}

/* Adds the wheels that ticks up to `tick` need and that are missing, and tells
 * which; false if memory ran out. */
static bool twi_reserve_wheels(timingwheel *tw, uint64_t tick, uint64_t *added)
{
    unsigned top = tick <= tw->clock ? 0 : twi_level_of(tw, tick);
    *added = 0;
    for (unsigned level = 0; level <= top; level++) {
        if (tw->wheels[level] != NULL)
            continue;
        if (twi_add_wheel(tw, level) == NULL)
            return false;
        *added |= UINT64_C(1) << level;
    }
    return true;
}

static bool twi_reserve_chunks(timingwheel *tw, size_t chunks)
{
    while (tw->chunks < chunks) {
        size_t missing = chunks - tw->chunks;
        if (missing > TWI_MOST_CHUNKS)
            missing = TWI_MOST_CHUNKS;
        if (!twi_add_slab(tw, missing))
            return false;
    }
    return true;
}

TW_DEF int tw_reserve(timingwheel *tw, size_t timers, uint64_t horizon)
{
    if (tw == NULL || (tw->most == 0 && !tw->visiting))
        return TW_EINVAL;
    /* One chunk a timer, one for a timer on its way from one to another, and
     * some to sort with. A slab takes two more: itself and its alignment. */
    const size_t more = 1 + TWI_SORT_CHUNKS;
    if (timers > SIZE_MAX / TWI_CHUNK_BYTES - more - 2)
        return TW_ENOMEM;
    uint64_t added;
    const twi_slab *before = tw->slabs;
    if (twi_reserve_wheels(tw, twi_tick_of(tw, horizon), &added) &&
        twi_reserve_chunks(tw, timers + more)) {
        tw->reserved = true;
        return TW_OK;
    }
    while (tw->slabs != before)
        twi_remove_slab(tw, &tw->slabs);
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if ((added >> level & 1) != 0)
            twi_remove_wheel(tw, level);
    return TW_ENOMEM;
}

/* True if a wheel holds no timer, and none of its chunks are aside. */
static bool twi_is_idle(const timingwheel *tw, const twi_wheel *wheel)
{
    bool has_own = true;
    for (uint32_t i = 0; i <= tw->size_mask; i++)
        has_own &= twi_bucket_at(wheel, i)->head != NULL;
    return !twi_is_queued(wheel) && has_own;
}

/* Counts for each slab how many of its chunks are unused. */
static void twi_count_idle(timingwheel *tw)
{
    for (twi_slab *slab = tw->slabs; slab != NULL; slab = slab->next)
        slab->idle = slab->chunks - slab->cut;
    for (twi_chunk *chunk = tw->unused; chunk != NULL; chunk = chunk->next)
        twi_slab_of(chunk)->idle++;
}

/* Takes the chunks of slabs without a timer off the list of unused ones. */
static void twi_forget_idle(timingwheel *tw)
{
    twi_chunk **link = &tw->unused;
    while (*link != NULL) {
        const twi_slab *slab = twi_slab_of(*link);
        if (slab->idle == slab->chunks)
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
}

TW_DEF void tw_trim(timingwheel *tw)
{
    if (tw == NULL || twi_is_busy(tw))
        return;
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (tw->wheels[level] != NULL && twi_is_idle(tw, tw->wheels[level]))
            twi_remove_wheel(tw, level);
    tw->reserved = false;
    twi_reclaim(tw);
    twi_count_idle(tw);
    twi_forget_idle(tw);
    for (twi_slab **link = &tw->slabs; *link != NULL;)
        if ((*link)->idle == (*link)->chunks)
            twi_remove_slab(tw, link);
        else
            link = &(*link)->next;
}

/* ----------------------------------------------------------- inspection --- */

TW_DEF uint64_t tw_now(const timingwheel *tw)
{
    return tw == NULL ? 0 : tw->now;
}

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
    if (timer == NULL)
        return TW_IDLE;
    return twi_is_pending(timer) ? TW_PENDING : (tw_state)timer->place;
}

TW_DEF uint64_t tw_deadline(const tw_timer *timer)
{
    return timer == NULL ? 0 : timer->deadline;
}

TW_DEF const char *tw_strerror(int status)
{
    switch (status) {
    case TW_OK:
        return "Done.";
    case TW_EINVAL:
        return "An argument is NULL or out of range, or the wheel has been "
               "destroyed: see the function's comment for what it takes.";
    case TW_ENOMEM:
        return "Memory has run out and nothing has changed: free some and try "
               "again, or set it aside beforehand with tw_reserve.";
    case TW_EFULL:
        return "max_pending timers are pending already: cancel one, wait until "
               "one fires, or raise the limit in tw_config.";
    case TW_EBUSY:
        return "The wheel is in the middle of a tw_foreach: start the timer "
               "after it.";
    default:
        return "Not a status of this library: pass what a tw_ function "
               "returned.";
    }
}

TW_DEF void tw_get_stats(const timingwheel *tw, tw_stats *stats)
{
    static const tw_stats none = {0, 0, 0, 0, 0, 0, 0};
    if (stats == NULL)
        return;
    *stats = none;
    if (tw == NULL)
        return;
    stats->pending = tw->count;
    stats->fired = tw->fired;
    stats->cascaded = tw->cascaded;
    stats->bytes_held = tw->bytes_held;
    size_t used = tw->chunks - twi_spare(tw, SIZE_MAX);
    for (unsigned level = 0; level < TWI_LEVELS; level++) {
        const twi_wheel *wheel = tw->wheels[level];
        if (wheel == NULL)
            continue;
        stats->wheels++;
        for (size_t i = 0; i <= tw->size_mask; i++) {
            const twi_bucket *bucket = twi_bucket_at(wheel, i);
            stats->buckets += !twi_is_empty(bucket);
            used -= twi_is_held_for_nothing(bucket);
        }
    }
    for (unsigned i = 0; i < TWI_ASIDES; i++)
        stats->buckets += tw->aside[i].head != NULL;
    stats->bytes_used =
        used * TWI_CHUNK_BYTES + stats->wheels * twi_wheel_bytes(tw);
}

/* True if a chunk stands right in its list and its timers know their places;
 * adds them to *timers. */
static bool twi_chunk_is_sound(const timingwheel *tw, const twi_bucket *bucket,
                               const twi_chunk *chunk, size_t *timers)
{
    unsigned live = 0, end = twi_end(bucket, chunk);
    if (chunk->end > TWI_SLOTS || chunk->first > end ||
        chunk->live % TWI_WATCHED == 0)
        return false;
    for (unsigned i = chunk->first; i < end; i++) {
        const tw_timer *timer = chunk->slots[i];
        if (timer == NULL)
            continue;
        live++;
        if (timer->place != (uintptr_t)&chunk->slots[i] ||
            twi_tick_of(tw, timer->deadline) < bucket->earliest)
            return false;
    }
    *timers += live;
    return live == twi_live(bucket, chunk);
}

/* The same for all chunks of a bucket, which they must know as their home. */
static bool twi_bucket_is_sound(const timingwheel *tw, const twi_bucket *bucket,
                                unsigned level, uint32_t index, size_t *timers,
                                size_t *chunks)
{
    const twi_chunk *prev = NULL, *may_be_watched = NULL;
    if (level < TWI_LEVELS && bucket->head != NULL)
        may_be_watched = twi_tail(bucket);
    for (const twi_chunk *chunk = bucket->head; chunk != NULL;
         chunk = chunk->next) {
        if (chunk->prev != prev || chunk->level != level ||
            (level < TWI_LEVELS && chunk->bucket != index) ||
            (twi_is_watched(chunk) && chunk != may_be_watched) ||
            !twi_chunk_is_sound(tw, bucket, chunk, timers))
            return false;
        prev = chunk;
        *chunks += !twi_is_own(chunk);
    }
    return (prev == NULL || twi_tail(bucket) == prev) &&
           (twi_is_empty(bucket) || bucket->earliest <= bucket->latest);
}

/* The first bucket of a wheel is watched, if it is open; no other is. */
static bool twi_watch_is_sound(const timingwheel *tw, const twi_wheel *wheel)
{
    const twi_bucket *first = twi_first_of(wheel);
    for (uint32_t i = 0; i <= tw->size_mask; i++) {
        const twi_bucket *bucket = twi_bucket_at(wheel, i);
        if (i != wheel->first && bucket->head != NULL &&
            twi_is_watched(twi_tail(bucket)))
            return false;
    }
    return !twi_has_room(first) || twi_is_watched(twi_tail(first));
}

/* What twi_sort_first leaves: each timer of the first bucket waits for a tick
 * that is not after its own, in order. */
static bool twi_order_is_sound(const timingwheel *tw, const twi_wheel *wheel)
{
    const twi_bucket *bucket = twi_first_of(wheel);
    const twi_chunk *chunk = bucket->head;
    unsigned noted = wheel->noted;
    uint64_t tick = 0;
    for (; chunk != NULL; chunk = chunk->next, noted += TWI_SLOTS) {
        if (noted > (wheel->is_run ? TWI_RUN : TWI_SLOTS) - TWI_SLOTS)
            return false;
        for (unsigned i = chunk->first; i < twi_end(bucket, chunk); i++) {
            const tw_timer *timer = chunk->slots[i];
            if (timer == NULL)
                continue;
            uint64_t next = twi_noted_tick(tw, wheel, noted + i);
            if (next < tick || next > twi_tick_of(tw, timer->deadline))
                return false;
            tick = next;
        }
    }
    return true;
}

/* True if the span of a bucket is within its step of the wheel's window. (Once
 * the clock has come to that, and the bucket been closed, it may end with a
 * tick that a timer was postponed to.) */
static bool twi_span_is_sound(const timingwheel *tw, const twi_wheel *wheel,
                              uint32_t index)
{
    const twi_bucket *bucket = twi_bucket_at(wheel, index);
    uint64_t step = bucket->earliest >> wheel->shift;
    return twi_index_of(tw, wheel, bucket->earliest) == index &&
           (twi_same_step(bucket->earliest, bucket->latest, wheel->shift) ||
            (twi_same_step(bucket->earliest, tw->clock, wheel->shift) &&
             !twi_has_room(bucket))) &&
           bucket->earliest >= tw->clock &&
           step - (tw->clock >> wheel->shift) <= tw->size_mask;
}

/* True if the buckets of a wheel are sound and in its window, and its bitmap
 * and its place in the delay queue agree with them. */
static bool twi_wheel_is_sound(const timingwheel *tw, const twi_wheel *wheel,
                               size_t *timers, size_t *chunks)
{
    for (uint32_t i = 0; i <= tw->size_mask; i++) {
        const twi_bucket *bucket = twi_bucket_at(wheel, i);
        bool is_marked = (wheel->marks[i / 64] >> (i % 64) & 1) != 0;
        if (!twi_is_clear(bucket) &&
            (!is_marked || !twi_span_is_sound(tw, wheel, i)))
            return false;
        if (is_marked && wheel->one_marked && i != wheel->first)
            return false;
        if (!twi_bucket_is_sound(tw, bucket, wheel->level, i, timers, chunks))
            return false;
    }
    if (wheel->reach > (wheel->one_marked ? 0 : twi_reach_of(tw, wheel)))
        return false;
    uint32_t first;
    if (!twi_find_mark(tw, wheel, &first))
        return !twi_is_queued(wheel) && wheel->earliest == UINT64_MAX;
    return wheel->first == first && !twi_is_empty(twi_first_of(wheel)) &&
           twi_watch_is_sound(tw, wheel) &&
           (!wheel->sorted || twi_order_is_sound(tw, wheel)) &&
           wheel->earliest == twi_first_of(wheel)->earliest &&
           wheel->queue_index < tw->queued &&
           tw->queue[wheel->queue_index].wheel == wheel &&
           tw->queue[wheel->queue_index].tick == wheel->earliest;
}

/* True if a start can rely on what is noted for it. */
static bool twi_notes_are_sound(const timingwheel *tw)
{
    for (unsigned level = 0; level < TWI_NEAR; level++)
        if (tw->plain[level] != twi_plain_of(tw, level))
            return false;
    const twi_wheel *usual = tw->usual;
    if (usual != NULL && twi_plain_of(tw, usual->level) != usual)
        return false;
    if (tw->usual_above !=
        (usual != NULL ? twi_before_turn(usual) : UINT64_MAX))
        return false;
    if (tw->span_above != UINT64_MAX && tw->span_above != tw->usual_above)
        return false;
    if (!twi_knows_home(tw))
        return true;
    uint64_t tick = twi_tick_of(tw, tw->recent);
    if (tick <= tw->clock || tw->most != SIZE_MAX)
        return false;
    const twi_wheel *wheel = tw->wheels[twi_level_of(tw, tick)];
    return wheel != NULL &&
           tw->recent_home ==
               twi_bucket_at(wheel, twi_index_of(tw, wheel, tick)) &&
           tw->recent_home->earliest <= tick &&
           tw->recent_home->latest >= tick;
}

/* True if the delay queue is a heap of `wheels` entries. */
static bool twi_queue_is_sound(const timingwheel *tw, size_t wheels)
{
    for (uint32_t i = 1; i < tw->queued; i++)
        if (twi_is_before(tw->queue[i], tw->queue[(i - 1) / 2]))
            return false;
    return tw->queued == wheels;
}

TW_DEF bool tw_check(const timingwheel *tw)
{
    size_t timers = 0, chunks = 0, wheels = 0, capacity = 0;
    if (tw == NULL)
        return false;
    for (unsigned level = 0; level < TWI_LEVELS; level++) {
        if (tw->wheels[level] == NULL)
            continue;
        if (!twi_wheel_is_sound(tw, tw->wheels[level], &timers, &chunks))
            return false;
        wheels += twi_is_queued(tw->wheels[level]);
    }
    for (unsigned i = 0; i < TWI_ASIDES; i++)
        if ((tw->nonempty_aside >> i & 1) != (tw->aside[i].head != NULL) ||
            !twi_bucket_is_sound(tw, &tw->aside[i], TWI_LEVELS + i, 0, &timers,
                                 &chunks))
            return false;
    for (const twi_slab *slab = tw->slabs; slab != NULL; slab = slab->next)
        capacity += slab->chunks;
    chunks += twi_spare(tw, SIZE_MAX);
    return timers == tw->count && chunks == tw->chunks &&
           capacity == tw->chunks && twi_queue_is_sound(tw, wheels) &&
           twi_notes_are_sound(tw);
}

#ifdef __cplusplus
}
#endif

#endif /* TIMINGWHEEL_IMPLEMENTATION */

/* CHANGES

   1.0.0  2026-11-21  The first version.

   LICENCE

   MIT License

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
