/* timingwheel.h - v1.2.0 - timers for event loops, in one header

   A hierarchical timing wheel for any number of timers. Starting, cancelling
   and postponing a timer take constant time. Timers fire in exact order and
   never early. There is no fixed-rate tick, and there are no latency spikes.
   You own the loop, the clock and the timers.

   SPDX-License-Identifier: MIT (the text is at the end)


   SYNOPSIS

   In one C or C++ file, define TIMINGWHEEL_IMPLEMENTATION before including this
   header. This file needs C99 or C++11. All other files include the header
   only, and need C90 with the types of stdint.h and stdbool.h.

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
           struct connection *c = TW_OWNER(timer, struct connection, idle);
           printf("%d: %d idle\n", (int)tw_now(tw), c->number);
       }

       int main(void)
       {
           timingwheel tw;
           struct connection a = {1, TW_TIMER_INIT(on_idle)};
           struct connection b = {2, TW_TIMER_INIT(on_idle)};
           uint64_t now = 0; // the reading of your clock, in milliseconds

           tw_init(&tw, NULL); // ticks of one unit, clock at 0
           tw_start(&tw, &a.idle, tw_after(now, 30000));
           tw_start(&tw, &b.idle, tw_after(now, 30000));

           now = 20000; // the loop wakes: b has sent something
           tw_postpone(&tw, &b.idle, tw_after(now, 30000));
           tw_advance_clock(&tw, now); // nothing is due

           while (tw_next_deadline(&tw, &now)) // a real loop sleeps here
               tw_advance_clock(&tw, now);
           tw_destroy(&tw);
           return 0; // the output: "30000: 1 idle" and "50000: 2 idle"
       }

   A real loop sleeps for the time that tw_wait returns, rounded up to the unit
   of the sleep. (Rounded down, the loop spins until the deadline.) The loop
   then reads the clock, handles events, and fires all due timers:

       for (;;) {
           wait_for_events(tw_wait(&tw, read_clock(), one_minute));
           now = read_clock();
           handle_events(now); // deadlines here are tw_after(now, delay)
           tw_advance_clock(&tw, now);
       }

   Set tw_config.start to the first reading of your clock. Count every delay
   from `now`, the latest reading. Pass `now` to event handlers, and store `now`
   for callbacks. Do not count a delay from tw_now: in handle_events, tw_now is
   still the reading from before the sleep. After a sleep of a minute, a
   time-out of 30 s counted from tw_now fires at once.

   tw_now returns the clock: the last reading passed to tw_advance_clock. After
   a step back, the clock keeps the later reading. After a call that stopped at
   its limit, the clock stays at the last timer handled. In a callback, the
   clock is the tick of the firing timer, and a simulation counts its delays
   from this tick. Step a simulation by tw_next_deadline, as above. A timer that
   a callback starts for the firing tick is overdue, and fires in the next call.
   In one long call, all later events would fire before such a timer.


   WHEN TO USE IT, AND WHEN NOT

   Use a wheel for many or busy timers. Examples are idle time-outs postponed at
   every packet, request time-outs of which one in a thousand fires, retries,
   heartbeats, and simulation events. The cost of an operation does not grow
   with the number of timers, except for cache misses. For a few hundred timers
   that are rarely postponed, a heap is simpler, about as fast, and takes less
   memory. The library reads no clock and keeps nothing across restarts.

   A timingwheel belongs to one thread, and two timingwheels share nothing. A
   lock around a wheel is allowed: the library never calls a callback from
   another thread. A timingwheel must not move from tw_init to tw_destroy. Do
   not copy a timingwheel, and do not keep a timingwheel in an array that grows.


   WORDS

   tick            the smallest step of the clock; `tick` time units long
   clock           the time that the library knows: the last reading that you
                   handed to tw_advance_clock, except as tw_now says
   deadline        absolute time, in your unit, from which a timer may fire
   timer           one tw_timer, embedded in a struct of yours
   timingwheel     all wheels together; "the wheel" where only one is meant
   wheel           a ring of buckets; wheel 0 has one bucket per tick
   step            the ticks that one bucket spans: wheel_size times the step of
                   the next finer wheel
   bucket          the timers of one step of one wheel
   overflow wheel  the next coarser wheel, created on demand
   cascade         to move timers from a bucket to finer wheels
   delay queue     the min-heap of wheels, each by its first bucket; its head
                   is the next tick to which the clock jumps
   overdue         started for a tick that the clock had reached


   COST

   Start, cancel and postpone are O(1), however many timers are pending. To
   advance over a span in which no timer is due is O(1). A timer cascades at
   most once per wheel on the way down; most timers never cascade.

   A timer takes 24 bytes in your struct, and 11 bytes in the chunks of the
   library when they are full. Each bucket in use has a chunk of 128 bytes. A
   wheel has 2 * wheel_size buckets of 32 bytes (24 bytes on a 32-bit machine):
   16 KiB with wheel_size 256. If memory is short, choose a smaller wheel_size.
   Advancing takes less than 4 KB of stack. How the library works is explained
   at the head of the implementation below.


   CONTRACT

   Time
    1. Never early. A timer fires in the first tw_advance_clock(now) with
       floor(now / tick) >= ceil(deadline / tick), and in no earlier call. (Only
       a timer that is started overdue fires without waiting for `now`.)
    2. No tick. Advancing costs the same over 2^63 ticks without due timers as
       over one tick.
    3. In a callback, the clock is the tick of the firing timer, not the target
       of the call. A timer started in a callback for a later tick, up to the
       target, fires within the same call, in order.
    4. Deadlines are absolute. Add a delay to the latest reading with
       tw_after, which saturates. Advance the wheel by the same clock, a clock
       that never jumps. The clock decides if time passes while the system is
       suspended. On Linux, CLOCK_BOOTTIME runs on, CLOCK_MONOTONIC stops.
    5. A passed deadline is no error. The timer is overdue, and fires in the
       next call, for any `now`, before all timers that are not overdue. A timer
       started overdue in a callback does not fire in the current call.
    6. A step back is harmless: only overdue timers fire. Widen a 32-bit counter
       that wraps to your uint64_t `now`, by
         now += (uint32_t)(counter - (uint32_t)now)
    7. Every uint64_t is a valid deadline and a valid clock. A timer whose tick
       is beyond 64 bits stays pending and never wakes the loop. If only such
       timers are pending, tw_next_deadline returns false.
   Order
    8. Timers fire in order of tick, and within a tick in start order. Overdue
       timers fire first, in start order, whatever their deadlines. A timer that
       was postponed, or started with a window, takes any place in its tick.
   Waking up
    9. tw_next_deadline is never late. The result can be early only after a
       timer of the earliest bucket was cancelled, postponed or restarted, even
       if the bucket has no timer left. Each such timer costs at most one call
       that fires nothing. Requests with one time-out, answered within half of
       the time-out, wake the loop at most once per bucket used. Up to ten such
       requests per time-out wake the loop at most twice per time-out. Requests
       answered later can wake the loop more often, at most once per answer.
       Cascading ahead of time wakes nothing.
   10. tw_wait returns 0 if a timer is due, else the time until the next
       deadline, at most `longest`. If the clock can reach no pending timer,
       tw_wait returns `longest`.
   Work
   11. Start, cancel and postpone are O(1). Postponing to a later time is one
       store and cannot fail. Only a timer whose bucket has come up and was
       sorted moves at once. To postpone a due timer is to start the timer.
   12. tw_start_within picks the roundest tick in the window.
   13. tw_advance_clock_limit handles at most `limit` timers, and leaves the
       rest for the next call, in order. A call costs O(1) per unit of the
       limit, for buckets of any size. Sorting up to 960 timers of a bucket (96
       on a 32-bit machine) does not count. Passing many slots of cancelled
       timers counts. Timers left due fire before timers that were started
       overdue since. So overdue timers that restart themselves starve no timer.
       After more than three limited calls in a row, the latest calls count as
       one call.
   14. Memory is allocated for wheels and chunks, never per timer, and never by
       tw_cancel. After tw_reserve, no covered operation allocates. A reserve
       may grow by one timer at a time. tw_trim leaves the wheels in use, and at
       most 1.5 times the memory that the pending timers need when packed.
   15. Without memory, a start is refused and changes no timer. The refused
       start may have allocated memory. Pending timers still fire in time and in
       order, but the loop may wake more often than needed.
   No spikes
   16. A bucket with too many timers to be sorted moves down before the bucket
       is due. Take a call that moves the clock by d ticks, to r ticks before
       the bucket's step. The call moves about the fraction d / (d + r) of the
       timers left, in batches of some 300 (50 on a 32-bit machine). The longest
       call grows with the timers that fire in the call and with the time
       passed, not with the number of pending timers. Moving ahead follows all
       due timers, counts towards a limit, and is left out if memory is short. A
       loop that slept through the step before moves the bucket in one call.

   Callbacks may start, cancel and postpone any timer, drain the wheel, and free
   the fired timer. A callback must not advance, poll, trim or destroy its own
   wheel: the call does nothing and returns 0 or NULL. A callback must not leave
   by longjmp or an exception (see TW_CALL). A timer is not pending while its
   callback runs. A tw_foreach visitor may cancel only the visited timer.

   Start a periodic timer again in its callback. After missed periods, line 1
   catches up on all periods, line 2 counts from `now`, and line 3 skips periods
   and keeps the phase. `now` is the latest reading, not tw_now.

       tw_start(tw, t, tw_after(tw_deadline(t), period));
       tw_start(tw, t, tw_after(now, period));
       tw_start(tw, t, tw_next_period(tw_deadline(t), period, now, &missed));


   IN A LARGER PROGRAM

   tw_poll fires timers through a dispatch of your own. tw_postpone schedules a
   timer again, whatever the state of the timer. If another thread runs the
   loop, wake that thread when a start makes tw_next_deadline earlier.

       while ((timer = tw_poll(&tw, now)) != NULL)
           dispatch(timer);

   A start cannot fail if a reserve covers the timer. If the
   start function of your program returns void, reserve when a handle is made,
   and report an error there. The reserve is a total: the memory of a closed
   handle serves the next handle.

   example: handles.c
       int handle_open(struct host *host, struct handle *handle)
       {
           int status = tw_reserve(&host->tw, host->handles + 1, UINT64_MAX);
           if (status != TW_OK)
               return status;
           host->handles++;
           tw_timer_init(&handle->timeout, on_timeout);
           return TW_OK;
       }

       void handle_start(struct host *host, struct handle *handle, uint64_t at)
       {
           (void)tw_start(&host->tw, &handle->timeout, at); // cannot fail
       }

       void handle_close(struct host *host, struct handle *handle)
       {
           (void)tw_cancel(&host->tw, &handle->timeout);
           host->handles--;
       }

   After tw_trim, reserve again for all handles.

   To pause a wheel, subtract the pauses from the clock. Line 1 begins a pause,
   line 2 ends the pause. In a pause do not advance the wheel. Lines 3 and 4
   pause and resume one pending timer.

   example: pause.c
       pause_began = clock_ms();
       paused += clock_ms() - pause_began; // and now = clock_ms() - paused
       left = tw_remaining(timer, now), tw_cancel(tw, timer);
       tw_start(tw, timer, tw_after(now, left));

   A struct timeval becomes microseconds, a struct timespec nanoseconds. A wheel
   has no negative time: count a negative difference as 0.

   example: timeval.c
       now = (uint64_t)tv.tv_sec * 1000000 + (uint64_t)tv.tv_usec;
       tv.tv_sec = (time_t)(wait / 1000000);
       tv.tv_usec = (suseconds_t)(wait % 1000000); // wait from tw_wait

   A program in C90 compiles the file with the implementation as C99. In its
   makefile: wheel.o: CFLAGS += -std=gnu99. All other files stay C90.


   TIMERS FROM OTHER THREADS, with TIMINGWHEEL_THREADS defined

   A wheel takes no locks and belongs to the thread of its loop. Other threads
   start and cancel timers by requests to the tw_mailbox of the wheel, and the
   loop collects the requests. The mailbox needs C11 or C++11 and lock-free
   64-bit atomics (missing on small and some 32-bit processors).

       struct job {
           tw_remote timeout; // begins with a tw_timer, which fires as usual
           ...
       };

       tw_post_start(&box, &job->timeout, tw_after(clock_ns(), second));
       tw_post_cancel(&box, &job->timeout); // both from any thread

       for (;;) {
           sleep_until_woken(tw_wait(&tw, clock_ns(), one_minute));
           clear_wake_up(); // before tw_collect: a later request wakes again
           tw_collect(&box);
           tw_advance_clock(&tw, clock_ns());
       }

   In the loop's own thread use tw_start, which is cheaper and returns a status.
   A callback of the same wheel may post, and the next tw_collect applies the
   request. Give each thread with many timers a wheel of its own.

   - Posting never waits, never allocates and cannot fail. Only the last request
     for a timer counts: a thousand requests before a tw_collect are one entry.
     tw_collect serves timers in order of first request.
   - If the mailbox was empty, the posting thread calls `wake`, which writes to
     an eventfd, calls uv_async_send, or the like.
   - A start that the wheel refuses (no memory, max_pending, destroyed) waits,
     and the timer stays as before. Each tw_collect tries waiting starts again,
     and returns how many still wait. While a start waits, collect often:
     posting the timer again does not wake the loop. A wheel that is set up
     again accepts waiting starts. tw_post_cancel takes a waiting start back.
   - A deadline that has passed at tw_collect is overdue: the timer fires in the
     next tw_advance_clock. UINT64_MAX - 2 and UINT64_MAX - 1 act as UINT64_MAX.
   - A cancel may be collected after the timer fired. Once the cancel is settled
     (tw_remote_settled), the timer will not fire.
   - The wheel's thread may use the tw_timer of a remote directly. That thread
     may free a remote, even in the callback, if the remote is settled, not
     pending, and will not be posted again. An earlier post never touches a
     settled remote, even if the post has yet to return. The callback sees all
     that the posting thread wrote before the post.
   - A remote belongs to one mailbox. Both must not move while in use. Keep the
     mailbox, and the data of `wake`, until each call with the mailbox has
     returned. Join the threads, collect once more, then destroy the wheel.
   - A thread held up inside a post delays requests for that timer. If the
     thread was about to wake the loop, later requests also wait, until the loop
     wakes by itself. The thread delays no other thread, and never the loop.


   CONFIGURATION, by #define before the implementation

   TW_MALLOC(size, context)    define both or neither; default malloc and free;
   TW_FREE(pointer, context)   `context` is alloc_context of tw_config
   TW_STATIC                   static functions, declared only in the file with
                               the implementation
   TW_DEF (*)                  any other linkage
   TW_TYPES_ONLY               the types without the functions, for a header of
                               yours
   TIMINGWHEEL_THREADS (*)     the mailbox, for requests from other threads
   TW_CALL(tw, timer)          fires a timer, see below; default
                               (timer)->callback((tw), (timer))
   TW_DEBUG                    misuse ends in TW_ASSERT
   TW_ASSERT(expr)             with TW_DEBUG only; default assert, which NDEBUG
                               turns off
   (*) Define the macro wherever this header is included.

   Redefine TW_CALL to measure lateness, find slow callbacks, take a lock, or
   catch an exception. The callback may free the timer, so read the timer first.

       #define TW_CALL(tw, timer) fire(tw, timer) // declared before
       static void fire(timingwheel *tw, tw_timer *timer)
       {
           note_lateness(clock_ms() - tw_deadline(timer));
           timer->callback(tw, timer);
       }

       #define TW_CALL(tw, timer) \
           try { (timer)->callback((tw), (timer)); } \
           catch (const std::exception &e) { report(e); }

   The version is semantic for source code. Structures may change in any
   version, so compile a whole program with one copy of this header.
*/
#ifndef TIMINGWHEEL_H
#define TIMINGWHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef TIMINGWHEEL_THREADS
#if defined(__cplusplus)
#include <atomic>
#define TWI_ATOMIC(type) std::atomic<type>
#define TWI_ORDER(order) std::order
#elif __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
#define TWI_ATOMIC(type) _Atomic(type)
#define TWI_ORDER(order) order
#else
#error "TIMINGWHEEL_THREADS needs the atomics of C11 or C++11"
#endif
#if ATOMIC_LLONG_LOCK_FREE != 2 || ATOMIC_POINTER_LOCK_FREE != 2
#error "TIMINGWHEEL_THREADS needs 64-bit atomics that take no lock"
#endif
#endif /* TIMINGWHEEL_THREADS */

#define TW_VERSION_MAJOR 1
#define TW_VERSION_MINOR 2
#define TW_VERSION_PATCH 0

/* Code that is right as it is gives no warning in programs with more warnings
 * than this project's. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpadded"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- types --- */

typedef struct timingwheel timingwheel;
typedef struct tw_timer tw_timer;

/* Called when `timer` fires. See "Callbacks" in the contract. */
typedef void tw_callback(timingwheel *tw, tw_timer *timer);

/* Called by tw_foreach and tw_drain, once per timer. */
typedef void tw_visitor(tw_timer *timer, void *context);

/* Called by tw_dump, once per line. */
typedef void tw_writer(const char *line, void *context);

/* The result of a function. After an error, no timer has changed. */
enum tw_status {
    TW_OK = 0,
    TW_EINVAL = -1, /* an argument is NULL or out of range */
    TW_ENOMEM = -2, /* TW_MALLOC failed */
    TW_EFULL = -3,  /* max_pending timers are pending already */
    TW_EBUSY = -4   /* a tw_foreach is running */
};

/* The state of a timer. Zero memory is an idle timer. */
typedef enum tw_state {
    TW_IDLE = 0,      /* never started, drained, or wheel destroyed */
    TW_FIRED = 1,     /* fired; the callback may still be running */
    TW_CANCELLED = 2, /* cancelled by tw_cancel */
    TW_PENDING = 3    /* waiting for its deadline */
} tw_state;

/* Settings of a wheel. A zero field means the default. */
typedef struct tw_config {
    uint64_t tick;       /* time units per tick; 0 = 1 */
    uint64_t start;      /* the first reading of the clock, in time units */
    uint32_t wheel_size; /* steps of a wheel per step of the next coarser
                            wheel, a power of two from 2 to 4096 (to 1024
                            if size_t has 16 bits);
                            0 = TW_DEFAULT_WHEEL_SIZE */
    size_t max_pending;  /* most timers pending at once; 0 = no limit */
    void *alloc_context; /* passed to TW_MALLOC and TW_FREE */
} tw_config;

#define TW_DEFAULT_WHEEL_SIZE 256
#if SIZE_MAX > 65535
#define TWI_MOST_STEPS 4096
#else
#define TWI_MOST_STEPS 1024 /* size_t has 16 bits */
#endif

/* The result of tw_get_stats. */
typedef struct tw_stats {
    size_t pending;    /* timers pending now */
    uint64_t fired;    /* timers fired since tw_init */
    uint64_t cascaded; /* moves to another bucket while advancing */
    size_t wheels;     /* wheels allocated */
    size_t buckets;    /* buckets that hold timers */
    size_t bytes_held; /* bytes from TW_MALLOC */
    size_t bytes_used; /* bytes of wheels, and of chunks in buckets */
} tw_stats;

/* A timer, to be embedded in a struct of yours. 24 bytes on a 64-bit machine.
 * The fields are private. A pending timer must not move or be freed. */
struct tw_timer {
    uintptr_t place;       /* address of the slot if pending, or a tw_state */
    tw_callback *callback; /* called to fire; NULL: only marked fired */
    uint64_t deadline;     /* in time units, not rounded to a tick */
};

/* An idle timer, as an initialiser. */
#define TW_TIMER_INIT(callback_function) \
    {                                    \
        0, (callback_function), 0        \
    }

/* Returns a pointer to the struct that contains a timer. TW_OWNER(timer, struct
 * connection, idle) points to the connection with the member `idle`. For a
 * const timer, name a const type. In C++, the type needs standard layout. For
 * any other type, embed a struct of the timer and a pointer to the object, and
 * follow the pointer. */
#ifdef __cplusplus
#define TW_OWNER(timer, type, member)                              \
    (reinterpret_cast<type *>(reinterpret_cast<uintptr_t>(timer) - \
                              offsetof(type, member)))
#else
#define TW_OWNER(timer, type, member) \
    ((type *)((uintptr_t)(timer)-offsetof(type, member)))
#endif

/* The types from here to the functions are private. They are visible because
 * the compiler must know the size of a timingwheel. */

#define TWI_LEVELS 64 /* wheels of 2 buckets need 64 to reach 2^64 */
#ifndef TWI_CHUNK_BYTES
#define TWI_CHUNK_BYTES (16 * sizeof(void *)) /* two cache lines (64-bit) */
#endif
#define TWI_SLOTS (TWI_CHUNK_BYTES / sizeof(void *) - 4)

/* A bucket is large, with too many timers to be sorted, if the bucket has more
 * than TWI_LARGE_CHUNKS chunks or TWI_LARGE_TIMERS timers. The timers of a
 * large bucket move down ahead of time, in batches of TWI_BATCH chunks. The
 * limits are low on small machines, because a sort needs stack. */
#if UINTPTR_MAX > UINT32_MAX
#define TWI_SORT_CHUNKS 80
#define TWI_DEFAULT_BATCH 24
#else
#define TWI_SORT_CHUNKS 8
#define TWI_DEFAULT_BATCH 4
#endif
#ifndef TWI_LARGE_CHUNKS
#define TWI_LARGE_CHUNKS TWI_SORT_CHUNKS
#endif
#ifndef TWI_LARGE_TIMERS
#define TWI_LARGE_TIMERS (TWI_SORT_CHUNKS * TWI_SLOTS)
#endif
#ifndef TWI_BATCH
#define TWI_BATCH TWI_DEFAULT_BATCH
#endif

/* A block of 12 slots in a bucket. Chunks are aligned to their size, so that
 * the address of a slot gives the chunk. */
typedef struct twi_chunk {
    struct twi_chunk *next;     /* in the bucket or unused list; NULL: last */
    struct twi_chunk *prev;     /* in the bucket; NULL: first */
    struct twi_bucket *bucket;  /* NULL: the chunk is unused */
    size_t number;              /* rises along the bucket, gaps are possible */
    tw_timer *slots[TWI_SLOTS]; /* NULL: a dead slot */
} twi_chunk;

/* The timers of one step of a wheel. Timers of one tick are in start order. */
typedef struct twi_bucket {
    uint64_t earliest; /* first tick of a placed timer; UINT64_MAX if none */
    uint64_t latest;   /* last tick of a placed timer; 0 if none */
    tw_timer **front;  /* the first slot; equal to `back` in an empty bucket */
    tw_timer **back;   /* behind the last slot; NULL: no chunk */
} twi_bucket;

/* What has happened to the first bucket of a wheel. */
enum twi_progress {
    TWI_UNTOUCHED, /* the bucket has yet to be sorted or to cascade */
    TWI_SORTED,    /* sorted; timers fire from the front */
    TWI_CASCADING  /* a limit stopped a cascade; the rest is to move */
};

/* One wheel, followed in memory by its marks and its buckets. The delay queue
 * holds every wheel that has a mark, by the first bucket with a mark. */
typedef struct twi_wheel {
    uint64_t queue_tick;  /* key in the delay queue */
    uint64_t step;        /* ticks per bucket */
    uint64_t min_ahead;   /* distance in ticks that no finer wheel reaches */
    uint64_t reach_end;   /* every earlier tick is within reach */
    uint64_t moved_at;    /* the clock at the last move ahead, in ticks */
    size_t behind;        /* chunks that a limit kept from moving then */
    twi_bucket *buckets;  /* 2 * wheel_size buckets */
    void *memory;         /* address to free */
    unsigned level;       /* 0 for the finest wheel */
    unsigned shift;       /* log2 of step */
    twi_bucket *first;    /* the first bucket with a mark */
    uint32_t queue_index; /* index in the queue, or TWI_UNQUEUED */
    enum twi_progress progress; /* of `first` */
    bool may_have_large;        /* a bucket may be large */
} twi_wheel;

/* A block of memory, cut into chunks. The slab stands in place of chunk 0. */
typedef struct twi_slab {
    struct twi_slab *next; /* the next older slab; NULL: the last */
    void *memory;          /* address to free */
    size_t chunks;         /* chunks, not counting chunk 0 */
} twi_slab;

/* Buckets outside of the wheels. */
enum twi_outside {
    TWI_OVERDUE, /* timers started overdue, in start order */
    TWI_STUCK,   /* postponed timers that found no memory to move */
    TWI_DRAINED, /* timers that tw_drain has yet to visit */
    TWI_OUTSIDE_BUCKETS
};

/* A turn: what one call has to fire. See the section "overdue". */
typedef struct twi_turn {
    size_t overdue_until; /* overdue timers before this position */
    uint64_t due_until;   /* then timers of ticks up to this tick */
} twi_turn;

#define TWI_TURNS 4 /* most turns; a further turn extends the last turn */

/* What a timingwheel is doing. Zero memory counts as destroyed. */
enum twi_activity {
    /* Before TWI_LIVE in this order, no start is possible. */
    TWI_DESTROYED, /* or never initialised; starts get TW_EINVAL */
    TWI_VISITING,  /* inside tw_foreach; starts get TW_EBUSY */
    TWI_LIVE,      /* outside of calls that fire, visit or drain */
    TWI_ADVANCING  /* inside a call that fires, or inside tw_drain */
};

struct timingwheel {
    /* Configuration */
    uint64_t tick;           /* time units per tick */
    size_t max_pending;      /* most timers pending; SIZE_MAX if no limit */
    uint32_t bucket_mask;    /* buckets per wheel - 1: 2 * wheel_size - 1 */
    uint32_t size_bits;      /* log2 of wheel_size */
    uint8_t level_of[64];    /* [i]: level that spans a distance of 2^i ticks */
    void *alloc_context;     /* for TW_MALLOC and TW_FREE */
    const timingwheel *self; /* own address; NULL unless initialised */

    /* Clock */
    uint64_t clock_tick; /* the clock in ticks */
    uint64_t now;        /* the clock in time units, see tw_now */
    size_t count;        /* timers pending */
    uint64_t handled;    /* timers fired or cascaded since tw_init */
    uint64_t cascaded;   /* timers cascaded since tw_init */

    /* Delay queue */
    uint64_t next_tick;           /* queue[0]->queue_tick; UINT64_MAX if none */
    uint32_t queued;              /* wheels in `queue` */
    twi_wheel *queue[TWI_LEVELS]; /* min-heap of wheels, by `queue_tick` */
    twi_wheel *wheels[TWI_LEVELS];           /* by level; NULL: not created */
    twi_bucket outside[TWI_OUTSIDE_BUCKETS]; /* by enum twi_outside */
    bool has_outside; /* timers may be overdue or stuck */

    /* Memory */
    twi_chunk *unused;   /* list of chunks that are in no bucket */
    size_t chunks;       /* chunks in all slabs */
    size_t in_use;       /* chunks that are in buckets */
    size_t buckets_used; /* buckets that have a chunk */
    twi_slab *slabs;     /* newest first */
    twi_slab *swept;     /* the slab to sweep next; NULL: the first */
    size_t swept_chunks; /* chunks of `swept` that have been swept */
    size_t reserved;     /* timers that tw_reserve has provided for */
    size_t bytes_held;   /* bytes from TW_MALLOC */

    /* The call in progress */
    enum twi_activity activity;
    uint64_t handled_limit;    /* the call ends when `handled` is this */
    uint64_t ahead_at;         /* no timer moves ahead before this tick */
    unsigned turn_count;       /* turns in use; at least 1 */
    twi_turn turns[TWI_TURNS]; /* what to fire, in order */

    /* Caches: twi_clear_caches sets both to NULL. */
    twi_wheel *last_wheel; /* the wheel of the last start. NULL unless it is */
                           /* queued, tick is 1, and max_pending is SIZE_MAX */
    tw_timer **last_slot;  /* the slot of the last start; NULL: unknown */
};

#ifdef TIMINGWHEEL_THREADS

typedef struct tw_mailbox tw_mailbox;
typedef struct tw_remote tw_remote;

/* A timer that any thread may start and cancel. Only `timer` is public. */
struct tw_remote {
    tw_timer timer;               /* for the wheel's thread */
    TWI_ATOMIC(uint64_t) request; /* a deadline, TWI_CANCEL or TWI_NOTHING */
    tw_remote *next;              /* in a list of the mailbox */
};

/* Requests on their way to one wheel. Padding of two cache lines separates the
 * fields of the posting threads from the fields of the wheel's thread. */
struct tw_mailbox {
    char before[128];
    TWI_ATOMIC(tw_remote *) posted; /* newest first */
    void (*wake)(void *context);    /* tells the loop; NULL: no call */
    void *context;                  /* for wake */
    char between[128];
    timingwheel *tw;
    tw_remote *waiting; /* refused starts, newest first */
};

#endif /* TIMINGWHEEL_THREADS */

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif /* TIMINGWHEEL_H */

/* ------------------------------------------------------------ functions ---
 * Declared once. Not declared with TW_TYPES_ONLY. With TW_STATIC only declared
 * where they are implemented. */

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

/* Sets up `tw`, which may be uninitialised memory. `config` NULL means every
 * default. Allocates nothing. `tw` must not move from tw_init to tw_destroy.
 * Call tw_destroy first if `tw` has pending timers or memory. A deadline has
 * passed if the deadline, rounded up to a tick, is at most config->start.
 * TW_EINVAL: tw is NULL, or wheel_size is out of range or no power of two. */
TW_DEF int tw_init(timingwheel *tw, const tw_config *config);

/* Frees all memory. Pending timers become idle. Ignored inside a callback or
 * visitor of `tw`. Costs a write to every pending timer. */
TW_DEF void tw_destroy(timingwheel *tw);

/* Makes `timer` idle, and sets the callback. With `callback` NULL the timer is
 * only marked fired, for use with tw_poll. Not for a pending timer. */
TW_DEF void tw_timer_init(tw_timer *timer, tw_callback *callback);

/* Starts `timer`: the timer fires in the first tw_advance_clock that reaches
 * `deadline`, rounded up to a tick. If the deadline has passed, the timer fires
 * in the next call. A pending timer moves, and counts as started now. O(1).
 * TW_EINVAL: tw or timer is NULL, or tw is destroyed. TW_ENOMEM, TW_EFULL,
 * TW_EBUSY: see enum tw_status; a pending timer stays as before. */
TW_DEF int tw_start(timingwheel *tw, tw_timer *timer, uint64_t deadline);

/* Starts `timer` for a tick from `earliest` to `latest`: the roundest tick
 * ahead of the clock. The roundest tick costs the fewest cascades and is shared
 * with the most timers. tw_deadline then returns the chosen time. A window
 * without a tick acts like tw_start(earliest). O(1). Statuses as tw_start;
 * TW_EINVAL also if latest < earliest. */
TW_DEF int tw_start_within(timingwheel *tw, tw_timer *timer, uint64_t earliest,
                           uint64_t latest);

/* Moves the deadline of a pending timer. A later deadline is one store and
 * cannot fail: the timer moves when the timer's bucket comes up. If that bucket
 * has come up and was sorted, the timer moves at once. The same deadline
 * changes nothing. An earlier deadline, and a timer that is due or not pending,
 * act like tw_start, with its statuses. O(1). */
TW_DEF int tw_postpone(timingwheel *tw, tw_timer *timer, uint64_t deadline);

/* Cancels `timer`. Returns true if the timer was pending. The timer may then be
 * freed at once. Changes nothing if `timer` is NULL or not pending. O(1). */
TW_DEF bool tw_cancel(timingwheel *tw, tw_timer *timer);

/* Moves the clock to `now` and fires, in order, every timer due by then.
 * Returns the number of timers fired. If `now` is before the clock, the clock
 * stays, and only overdue timers fire. Does nothing inside a callback or
 * visitor (0). Costs O(1) per timer fired or cascaded, for any span of time. */
TW_DEF size_t tw_advance_clock(timingwheel *tw, uint64_t now);

/* Acts like tw_advance_clock, but handles at most `limit` timers, fired or
 * cascaded. The next call handles the rest, in order and before timers started
 * overdue meanwhile (promise 13). Meanwhile the clock stays at the last timer
 * handled, and tw_wait returns 0 for the same or a later `now`. Sorting up to
 * 960 timers of a bucket (96 on a 32-bit machine) does not count; skipping many
 * dead slots counts. Returns the number of timers fired, which may be 0 while
 * timers are left. limit 0 does nothing. */
TW_DEF size_t tw_advance_clock_limit(timingwheel *tw, uint64_t now,
                                     size_t limit);

/* Marks the next timer due at `now` as fired and returns the timer, without
 * calling the callback. Returns NULL if no timer is due; the clock is then
 * `now` or later. Each tw_poll is a call of its own: the next tw_poll returns
 * timers started overdue since. Returns NULL inside a callback or visitor.
 * Costs O(1) per call and per timer cascaded. */
TW_DEF tw_timer *tw_poll(timingwheel *tw, uint64_t now);

/* Writes the time at which the next timer is due: the deadline rounded up to a
 * tick. The time is never late, but may be early after a timer of the earliest
 * bucket was cancelled, postponed or restarted (promise 9). Returns false, and
 * leaves *deadline alone, if the clock can reach no pending timer. O(1). */
TW_DEF bool tw_next_deadline(const timingwheel *tw, uint64_t *deadline);

/* Returns how long a loop may sleep at `now`, in time units: 0 if a timer is
 * due, else the time to the next deadline, at most `longest`. Returns `longest`
 * if the clock can reach no pending timer. To sleep without end then, pass
 * UINT64_MAX. Turn the result UINT64_MAX into no time-out (-1 for epoll_wait),
 * and cap any other result to the type of the time-out. O(1). */
TW_DEF uint64_t tw_wait(const timingwheel *tw, uint64_t now, uint64_t longest);

/* Returns the clock: the last reading handed in. After a step back, the clock
 * keeps the later reading. After a call stopped by its limit, the clock is the
 * tick of the last timer handled. In a callback, the clock is the tick of the
 * firing timer, or the unmoved clock if the timer is overdue. Outside of
 * callbacks, do not count delays from tw_now: the reading is older than the
 * last sleep. */
TW_DEF uint64_t tw_now(const timingwheel *tw);

/* Returns the number of pending timers. */
TW_DEF size_t tw_count(const timingwheel *tw);

/* Returns true from tw_start until the timer fires, is cancelled or drained, or
 * the wheel is destroyed. False for NULL. */
TW_DEF bool tw_is_pending(const tw_timer *timer);

/* Returns the state of a timer; TW_IDLE for NULL. */
TW_DEF tw_state tw_timer_state(const tw_timer *timer);

/* Returns the deadline as given, not rounded; 0 if the timer never started. */
TW_DEF uint64_t tw_deadline(const tw_timer *timer);

/* Returns deadline - now, or 0 if the deadline has passed. Returns 0 for NULL
 * and for a timer that is not pending. */
TW_DEF uint64_t tw_remaining(const tw_timer *timer, uint64_t now);

/* Allocates memory in advance. After TW_OK, `timers` pending timers with
 * deadlines up to `horizon` (an absolute time) cannot fail. Starting, advancing
 * and sorting the timers allocates nothing. A reserve takes the wheels up to
 * `horizon`, 144 bytes per timer (each timer may need a chunk of its own), and
 * about 1 KB. A 32-bit machine needs half per timer, and three quarters per
 * wheel. `timers` is a total: if you need more later, pass the new total.
 * TW_ENOMEM changes nothing. TW_EINVAL: tw is NULL or destroyed.
 *
 * A reserve for one timer, in KB, with ticks of a millisecond and a new clock:
 *
 *     wheel_size   to a minute   an hour   a year   100 years   UINT64_MAX
 *     8                 5            7        11       12           18
 *     16                7            9        13       15           22
 *     64               14           19        28       32           49
 *     256              35           52        85      102          135
 *     timers            1           10       100    1,000       10,000
 *     KB more           0            1        14      147        1,479 */
TW_DEF int tw_reserve(timingwheel *tw, size_t timers, uint64_t horizon);

/* Frees memory that holds no timer, reserves included. If much can be saved,
 * packs the timers into new memory and frees the old memory. Packing is skipped
 * if memory is short. Ignored inside a callback or visitor. Costs a pass over
 * all memory held. */
TW_DEF void tw_trim(timingwheel *tw);

/* Calls `visit` for every pending timer, in no particular order. Returns the
 * number of timers visited. A visitor may cancel its own timer, and then free
 * the timer. A visitor may not cancel other timers, start timers (TW_EBUSY),
 * visit or drain (0). Costs a pass over all buckets and timers. */
TW_DEF size_t tw_foreach(timingwheel *tw, tw_visitor *visit, void *context);

/* Takes out every pending timer, in no particular order: each timer becomes
 * idle, then `visit` is called, unless `visit` is NULL. A visitor may start,
 * cancel and free timers. Timers started by a visitor are not visited. Timers
 * that await a visit are still pending, but tw_next_deadline and tw_wait ignore
 * such timers. Allowed in a callback. Returns the number of timers taken out.
 * Costs a pass over all slots. */
TW_DEF size_t tw_drain(timingwheel *tw, tw_visitor *visit, void *context);

/* Returns now + delay, or UINT64_MAX if the sum exceeds 64 bits. */
TW_DEF uint64_t tw_after(uint64_t now, uint64_t delay);

/* Returns the next deadline of a periodic timer that keeps its phase: the first
 * previous + k * period after `now`, with k at least 1. Returns UINT64_MAX if
 * the sum exceeds 64 bits. *missed (if not NULL) is the number of periods
 * skipped, k - 1. Period 0 acts as 1. */
TW_DEF uint64_t tw_next_period(uint64_t previous, uint64_t period, uint64_t now,
                               uint64_t *missed);

/* Returns a sentence on the meaning of a status and the remedy. Never NULL. */
TW_DEF const char *tw_strerror(int status);

/* Fills *stats. Costs a pass over all buckets and their leading dead slots. */
TW_DEF void tw_get_stats(const timingwheel *tw, tw_stats *stats);

/* Draws the wheels as text. Calls `write` once per line, at most 100 columns,
 * without line end. The lines show the clock, each wheel with its step and
 * ticks, the delay queue, and the memory held. A row per wheel shows the
 * buckets from the clock's own bucket on: . (empty), 1 to 9, + (ten or more) or
 * # (a hundred or more). If a wheel has more than 64 buckets, a sign stands for
 * several. If `tw` is NULL or destroyed, one line says so. Allocates nothing.
 * Allowed in callbacks and visitors; `write` must not change `tw`. Costs a pass
 * over all timers. */
TW_DEF void tw_dump(const timingwheel *tw, tw_writer *write, void *context);

/* Checks the structure, for tests and debugging. Returns false if a pass over
 * all buckets, chunks and timers finds an invariant broken (the invariants are
 * listed at the head of the implementation), or if `tw` is NULL or
 * destroyed. */
TW_DEF bool tw_check(const timingwheel *tw);

#ifdef TIMINGWHEEL_THREADS

/* Sets up a mailbox of `tw`, which may be set up later. A post into an empty
 * mailbox calls wake(context), unless wake is NULL. Ignored if box is NULL. */
TW_DEF void tw_mailbox_init(tw_mailbox *box, timingwheel *tw,
                            void (*wake)(void *context), void *context);

/* Makes `remote` idle and settled, and sets the callback. Zero memory is not a
 * valid remote. Ignored if remote is NULL. */
TW_DEF void tw_remote_init(tw_remote *remote, tw_callback *callback);

/* Any thread: requests tw_start(deadline). The request replaces an earlier
 * request for the same timer that has not been collected. Ignored if box or
 * remote is NULL. Lock-free: one exchange, then a compare and swap if no
 * request was pending. */
TW_DEF void tw_post_start(tw_mailbox *box, tw_remote *remote,
                          uint64_t deadline);

/* Any thread: requests tw_cancel in the same way. */
TW_DEF void tw_post_cancel(tw_mailbox *box, tw_remote *remote);

/* The wheel's thread: retries refused starts, then applies the requests posted
 * before this call. Returns the number of refused starts, now waiting; 0 for
 * NULL. Fires nothing and never waits. Allowed in a callback, not in a visitor
 * of tw_foreach. Costs an exchange, and a tw_start or tw_cancel per timer. */
TW_DEF size_t tw_collect(tw_mailbox *box);

/* The wheel's thread: returns true if the last request for `remote` has been
 * applied, or if remote is NULL. Returns false if a request is on its way, or
 * was refused and waits. */
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

   The words of this part:

       chunk           a block of 12 slots, with links to the next and the
                       previous chunk of its bucket
       slot            the place of one pointer to a timer
       dead slot       a slot that is NULL: its timer has left before the
                       timer's turn, by a cancel or a new start
       mark            the bit of a bucket in its wheel's bitmap: the bucket may
                       hold timers
       sorted bucket   a bucket that has come up and keeps its timers: they fire
                       from the front, in order of tick
       large bucket    a bucket with too many timers to be sorted: more than 80
                       chunks (8 on a 32-bit machine)
       come up         a bucket comes up when its earliest tick is the next tick
                       of all, and the clock reaches that tick

   LEVELS. With wheel_size 256 a 64-bit tick has eight digits, one per wheel.
   The digit of a wheel is the number of a bucket. One step of a wheel spans 256
   steps of the next finer wheel.

       tick  00 00 00 00 00 01 2c 05
                             |  |  '-- bucket of wheel 0
                             |  '----- bucket of wheel 1
                             '-------- bucket of wheel 2, and so on

       wheel    a bucket spans           reach, at a tick of 1 ms
         0      1 tick                   256 to 512 ms
         1      256 ticks                65 to 131 s
         2      65,536 ticks             4.6 to 9.3 h
         3      2^24 ticks               49 to 99 days
        4..7    2^32 .. 2^56 ticks       35 years .. all of 64 bits

   A timer goes into the finest wheel that reaches the timer's tick. Wheel 0
   reaches the clock's own step of wheel 1 and the step after. Wheel 1 reaches
   the clock's own step of wheel 2 and the step after, and so on. Therefore each
   wheel has 2 * wheel_size buckets. No timer starts in the bucket of the next
   step of a wheel, except in wheel 0. Only a cascade may add a timer there, to
   a bucket that holds timers of the same tick.

   Hierarchical wheels are an idea of Varghese and Lauck (1987). Overflow wheels
   on demand and the delay queue come from Kafka. Kafka enters each bucket in
   the delay queue, by the start of the bucket's span. Here each wheel enters
   its first bucket, by the earliest timer: the clock jumps to the very tick at
   which a timer fires, and the queue has one entry per wheel.

   A toy with wheel_size 4, in which three timers make a large bucket, so that
   the bucket cascades.
   [9 10 11] is a bucket with timers for these ticks, * is the head of the delay
   queue:

       clock 0    wheel 0  [ ]  [1]* [ ]  ...           ticks 0..7
                  wheel 1  [9 10 11]  [13 14]  ...      ticks 8..11  12..15

       clock 1    1 has fired. The clock is still in the step 0..3, so that the
                  step 8..11 is two steps ahead.
                  wheel 1  [9 10 11]* [13 14]  ...

       clock 9    9 came up: its bucket has cascaded, and 9 has fired.
                  wheel 0  [ ]  [10]* [11] ...          ticks 8..15
                  wheel 1             [13 14]  ...      ticks 12..15

   tw_dump draws the wheels, with a digit for the timers of each bucket, from
   the clock's own step on. This is the toy at clock 1 and at clock 9:

   prints: dump.c
       clock: 1 (tick 1, of 1 time units)
       5 pending, 1 fired, 0 cascaded
       wheel 0: step 1, ticks 1 to 8
       [........] holds 0
       wheel 1: step 4, ticks 0 to 31
       [..32....] holds 5
       queue: wheel 1 at tick 9
       in no wheel: 0, overdue or postponed
       clock: 9 (tick 9, of 1 time units)
       4 pending, 2 fired, 3 cascaded
       wheel 0: step 1, ticks 9 to 16
       [.11.....] holds 2
       wheel 1: step 4, ticks 8 to 39
       [.2......] holds 2
       queue: wheel 0 at tick 10
       queue: wheel 1 at tick 13
       in no wheel: 0, overdue or postponed

   13 and 14 will fire straight from wheel 1.

   BUCKETS. A bucket is a queue of pointers to timers, in chunks of two cache
   lines. Timers start at the back and fire from the front. The next timers are
   known in advance: they are fetched into the cache while the first one fires.

                   front                                     back
                     v                                         v
       | header | .  t1 t2 -  t3 ... t10 | <-> | header | t11 -  .  .  ... . |
                        dead slot                             free slots

   A cancel writes NULL into the timer's slot. (The slot of the last start is
   free again instead, if the slot is still the last.) Chunks without timers are
   found later: a start that needs a chunk while many slots are dead first looks
   at two other chunks, slab by slab.

   NO SPIKES. A large bucket moves down while the clock is in the step before
   the bucket's own step: some chunks per call, in proportion to the time that
   has passed. No timer starts in the bucket meanwhile, so that the bucket
   shrinks. Timers leave from the back and keep their order.

       wheel 2          | the clock's step   | the next step: |
                        |   ^                | a large bucket |
                            |                '--. moves down  |
       wheel 1          |...|...............|. . v . . . . . .|   ...

   FIRING, with the functions that do the work:

       while a timer is due by the target           twi_find_source
           if the timer is overdue: ready           twi_prepare_overdue
           wheel = head of the delay queue          twi_prepare_head
           clock = the wheel's queue_tick           twi_advance_to
           if its first bucket is not sorted:
               sort the bucket or move timers down  twi_sort_or_cascade
           else if the front timer was postponed:
               place the timer again                twi_defer_front
           else: ready
           if ready: take out, call the callback    twi_pop_next, TW_CALL
       clock = target; move timers ahead            twi_end_call

   A bucket with a single slot needs no sort, and fires at once.

   THE WAY OF A TIMER:

       tw_start         into the wheel of the last start, if that wheel is
                        certainly right; otherwise twi_slot_for finds the wheel
       twi_push_back    the back of its bucket
       twi_timer_added  the bucket gets a mark; the wheel moves up in the queue
       tw_postpone      a later deadline; the timer stays in its slot
       tw_cancel        a dead slot: the way ends here
       twi_move_ahead   its bucket is large and the next: down to a finer wheel
       twi_sort_or_cascade   its bucket has come up: sorted, or moved down
       twi_place_again  it was postponed: as if started now
       twi_pop_next     it is due

   ALWAYS TRUE between two calls and in every callback. (tw_check finds what a
   pass over the memory can find.)

   slot             From front to before back, through the chunks of the bucket:
                    a timer that knows the slot, or NULL (a dead slot). Other
                    slots are free. A free slot may hold anything, and is only
                    prefetched.
   chunk            Full, except for slots before front in the first chunk of a
                    bucket, and from back on in the last chunk. Numbers rise
                    from the first chunk to the last.
   bucket           Empty means front == back: the bucket has no chunk, or a
                    chunk without timers. Before a bucket comes up, all its
                    slots may be dead. earliest is not later than the tick of
                    any timer. latest is not earlier than the tick of any timer
                    that was not postponed. An empty bucket has a span only if
                    it has its mark.
   wheel            The buckets hold 2 * wheel_size steps, from the clock's own
                    step on. No bucket holds two steps. Timers start two or more
                    steps ahead, except in wheel 0. A bucket with timers has its
                    mark.
   wheel->progress  TWI_SORTED: the timers of the first bucket fire from the
                    front, in order of tick. A bucket of one tick needs no sort.
                    In any other bucket each timer has TWI_SORTED_BIT, and
                    timers beyond the bucket may have any place.
   wheel->          Not later than the tick of any timer in the wheel. The delay
     queue_tick     queue holds the wheel by this tick.
   delay queue      A heap of all wheels that have a mark. next_tick is the tick
                    of the head.
   ahead_at         Not after the next step of any wheel that may have a large
                    bucket.

   A FIRST BUCKET, from its first timer to its last (enum twi_progress):

     EMPTY ------> UNTOUCHED ------------------------------> SORTED
       ^    start      |      comes up: sorted, or one tick   ^ |
       |               |                                      | |
       |               |  comes up: moves down      no memory | |
       |               v                                      | |
       |           CASCADING (only if a limit stops the move)-' |
       |               |                                        |
       '---------------'---- the last timer leaves -------------'

   A bucket with a single slot fires while UNTOUCHED. A SORTED bucket is
   UNTOUCHED again if a cascade adds a timer in front, or if a postpone of one
   of its timers finds no memory.

   FOR SPEED ONLY: last_wheel with min_ahead and reach_end, and last_slot (the
   short ways of tw_start and tw_cancel); next_tick and level_of (which could be
   computed); twi_prefetch; twi_sort_few.
*/

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

/* TWI_RULE asserts a rule for callers, with TW_DEBUG. */
#ifdef TW_DEBUG
#ifndef TW_ASSERT
#include <assert.h>
#define TW_ASSERT(expr) assert(expr)
#endif
#define TWI_RULE(expr, sentence) TW_ASSERT(((void)(sentence), (expr)))
#else
#define TWI_RULE(expr, sentence) ((void)0)
#endif

/* Fires a timer. Afterwards `timer` may be freed memory. */
#ifndef TW_CALL
#define TW_CALL(tw, timer) ((timer)->callback((tw), (timer)))
#endif

/* Misuse that TW_DEBUG detects. */
#define TWI_RULE_READY(tw)                                               \
    TWI_RULE((tw)->self == (tw),                                         \
             "the wheel is used before tw_init or after tw_destroy, or " \
             "was moved or copied")
#define TWI_RULE_OWN(tw, timer)                \
    TWI_RULE(!twi_is_elsewhere((tw), (timer)), \
             "the timer is pending on another wheel: cancel it there first")
#define TWI_RULE_INTACT(timer, slot)       \
    TWI_RULE(twi_slot_of(timer) == (slot), \
             "a pending timer was freed, moved or overwritten")

/* TWI_COLD marks functions that are rarely called. TWI_NOINLINE keeps rare code
 * out of short functions. */
#if defined(__GNUC__) || defined(__clang__)
#define TWI_PREFETCH(address) __builtin_prefetch((address), 1)
#ifdef __OPTIMIZE_SIZE__
#define TWI_NOINLINE static
#else
#define TWI_NOINLINE static __attribute__((noinline))
#endif
#define TWI_COLD static __attribute__((cold))
#define TWI_ALWAYS_INLINE static inline __attribute__((always_inline))
#define TWI_UNLIKELY(expr) __builtin_expect(!!(expr), 0)
#else
#define TWI_PREFETCH(address) ((void)(address))
#define TWI_NOINLINE static
#define TWI_COLD static
#define TWI_ALWAYS_INLINE static inline
#define TWI_UNLIKELY(expr) (expr)
#endif

/* Silences warnings about code that is right as it is. */
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winline"
#pragma GCC diagnostic ignored "-Wshadow"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#else
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif
#endif

/* Marks a function in which unsigned numbers wrap on purpose. */
#if defined(__clang__)
#define TWI_WRAPS __attribute__((no_sanitize("integer")))
#else
#define TWI_WRAPS
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------- bits and ticks --- */

/* Returns the index of the highest bit set. `bits` is not 0. */
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

/* Returns the index of the lowest bit set. `bits` is not 0. */
static inline unsigned twi_lowest_bit(uint64_t bits)
{
#if defined(__GNUC__) || defined(__clang__)
    return (unsigned)__builtin_ctzll(bits);
#else
    return twi_highest_bit(bits & (~bits + 1));
#endif
}

/* Returns the tick at which a deadline is due: the deadline rounded up, so that
 * no timer fires early. */
static inline uint64_t twi_tick_of(const timingwheel *tw, uint64_t deadline)
{
    if (tw->tick == 1)
        return deadline;
    uint64_t tick = deadline / tw->tick;
    return tick + (tick * tw->tick != deadline);
}

static inline bool twi_is_pending(const tw_timer *timer)
{
    return timer->place > (uintptr_t)TW_CANCELLED;
}

/* Set in the `place` of each timer in a sorted bucket of several ticks. A
 * postpone has to move such a timer. */
#define TWI_SORTED_BIT 1u

/* Returns the slot of a pending timer. */
static inline tw_timer **twi_slot_of(const tw_timer *timer)
{
    return (tw_timer **)(timer->place & ~(uintptr_t)TWI_SORTED_BIT);
}

/* --------------------------------------------------------------- memory ---
 * Slabs are cut into chunks. A chunk is in a bucket, or in the list of unused
 * chunks. A new slab has at least an eighth of all chunks, up to a largest
 * size: so a reserve can grow by one timer at a time.
 *
 * A sweep finds chunks without timers. A caller that needs a chunk while many
 * slots are dead looks at a few more chunks, slab by slab. */

#define TWI_LEAST_CHUNKS 7   /* a first slab of 1 KiB */
#define TWI_MOST_CHUNKS 255  /* 32 KiB */
#define TWI_SPARE_CHUNKS 128 /* see twi_is_sparse */
#define TWI_SWEEP 2          /* chunks to look at for each chunk taken then, */
#define TWI_LONG_SWEEP 32    /* and before a slab is allocated */

typedef char
    twi_chunk_has_its_size[sizeof(twi_chunk) == TWI_CHUNK_BYTES ? 1 : -1];
typedef char
    twi_slab_fits_a_chunk[sizeof(twi_slab) <= TWI_CHUNK_BYTES ? 1 : -1];

/* Returns memory from TW_MALLOC, aligned to TWI_CHUNK_BYTES, or NULL. *memory
 * is the address to free. */
TWI_COLD void *twi_allocate(timingwheel *tw, size_t bytes, void **memory)
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

static inline twi_chunk *twi_chunk_of(tw_timer *const *slot)
{
    return (twi_chunk *)((uintptr_t)slot & ~(uintptr_t)(TWI_CHUNK_BYTES - 1));
}

/* Returns chunk `i` of a slab, counted from 1. */
static inline twi_chunk *twi_chunk_in(twi_slab *slab, size_t i)
{
    return (twi_chunk *)(void *)slab + i;
}

/* Adds a chunk that has left its bucket to the unused chunks. */
static inline void twi_free_chunk(timingwheel *tw, twi_chunk *chunk)
{
    chunk->bucket = NULL;
    chunk->next = tw->unused;
    tw->unused = chunk;
    tw->in_use--;
}

/* Adds the linked chunks from `first` to `last` to the unused chunks. */
static inline void twi_free_chunks(timingwheel *tw, twi_chunk *first,
                                   twi_chunk *last)
{
    size_t chunks = 1;
    for (twi_chunk *chunk = first; chunk != last; chunk = chunk->next) {
        chunk->bucket = NULL;
        chunks++;
    }
    last->bucket = NULL;
    last->next = tw->unused;
    tw->unused = first;
    tw->in_use -= chunks;
}

/* Allocates a slab with exactly `chunks` unused chunks, at most
 * TWI_MOST_CHUNKS. Returns false if memory has run out. */
TWI_COLD bool twi_add_exact_slab(timingwheel *tw, size_t chunks)
{
    void *memory;
    void *start = twi_allocate(tw, (chunks + 1) * TWI_CHUNK_BYTES, &memory);
    if (start == NULL)
        return false;
    twi_slab *slab = (twi_slab *)start;
    slab->next = tw->slabs;
    slab->memory = memory;
    slab->chunks = chunks;
    tw->slabs = slab;
    tw->chunks += chunks;
    for (size_t i = chunks; i != 0; i--) {
        twi_chunk *chunk = twi_chunk_in(slab, i);
        chunk->bucket = NULL;
        chunk->next = tw->unused;
        tw->unused = chunk;
        for (unsigned j = 0; j < TWI_SLOTS; j++)
            chunk->slots[j] = NULL; /* free slots are prefetched, too */
    }
    return true;
}

/* Allocates a slab with `chunks` unused chunks or more, within the limits of
 * the size of a slab. Returns false if memory has run out. */
TWI_COLD bool twi_add_slab(timingwheel *tw, size_t chunks)
{
    if (chunks < tw->chunks / 8)
        chunks = tw->chunks / 8;
    if (chunks < TWI_LEAST_CHUNKS)
        chunks = TWI_LEAST_CHUNKS;
    if (chunks > TWI_MOST_CHUNKS)
        chunks = TWI_MOST_CHUNKS;
    return twi_add_exact_slab(tw, chunks);
}

/* Frees the slab that *link points to. No bucket has a chunk of the slab, and
 * the caller makes the list of unused chunks anew. */
TWI_COLD void twi_remove_slab(timingwheel *tw, twi_slab **link)
{
    twi_slab *slab = *link;
    *link = slab->next;
    tw->chunks -= slab->chunks;
    tw->swept = NULL;
    twi_deallocate(tw, (slab->chunks + 1) * TWI_CHUNK_BYTES, slab->memory);
}

/* Takes a chunk without timers out of the chunk's bucket. */
static void twi_remove_chunk(timingwheel *tw, twi_chunk *chunk)
{
    twi_bucket *bucket = chunk->bucket;
    twi_chunk *next = chunk->next, *prev = chunk->prev;
    if (prev != NULL)
        prev->next = next;
    else
        bucket->front = next == NULL ? NULL : next->slots;
    if (next != NULL)
        next->prev = prev;
    else
        bucket->back = prev == NULL ? NULL : prev->slots + TWI_SLOTS;
    tw->buckets_used -= bucket->back == NULL;
    twi_free_chunk(tw, chunk);
}

/* True if the slots from `slot` to before `end` hold no timer. */
static inline bool twi_are_dead(tw_timer *const *slot, tw_timer *const *end)
{
    uintptr_t timers = 0;
    for (; slot != end; slot++)
        timers |= (uintptr_t)*slot;
    return timers == 0;
}

/* True if a chunk is in a bucket and holds no timer. False for the last chunk
 * of the overdue bucket: the next position follows from that chunk. */
static inline bool twi_is_dead(const timingwheel *tw, const twi_chunk *chunk)
{
    const twi_bucket *bucket = chunk->bucket;
    if (bucket == NULL)
        return false;
    if (chunk->prev != NULL && chunk->next != NULL)
        return twi_are_dead(chunk->slots, chunk->slots + TWI_SLOTS);
    if (chunk->next == NULL && bucket == &tw->outside[TWI_OVERDUE])
        return false;
    return twi_are_dead(chunk->prev == NULL ? bucket->front : chunk->slots,
                        chunk->next == NULL ? bucket->back
                                            : chunk->slots + TWI_SLOTS);
}

/* Visits the next `chunks` chunks of the slabs, and takes each chunk without a
 * timer out of the chunk's bucket. Stops when `wanted` chunks are unused. */
TWI_NOINLINE void twi_sweep(timingwheel *tw, size_t chunks, size_t wanted)
{
    for (; chunks != 0 && tw->chunks - tw->in_use < wanted; chunks--) {
        if (tw->swept == NULL || tw->swept_chunks == tw->swept->chunks) {
            tw->swept = tw->swept == NULL ? NULL : tw->swept->next;
            if (tw->swept == NULL)
                tw->swept = tw->slabs;
            tw->swept_chunks = 0;
        }
        twi_chunk *chunk = twi_chunk_in(tw->swept, ++tw->swept_chunks);
        TWI_PREFETCH((char *)chunk + 8 * TWI_CHUNK_BYTES);
        TWI_PREFETCH((char *)chunk + 17 * TWI_CHUNK_BYTES / 2);
        if (twi_is_dead(tw, chunk))
            twi_remove_chunk(tw, chunk);
    }
}

/* True if chunks hold few timers: less than a third of the slots on average.
 * The first chunk of each bucket does not count. */
static inline bool twi_is_sparse(const timingwheel *tw)
{
    return tw->in_use - tw->buckets_used > tw->count / 4 + TWI_SPARE_CHUNKS;
}

/* Makes `chunks` chunks unused, when fewer are. Sweeps, then allocates. If
 * memory has run out, sweeps all slabs, but only if at least one chunk in nine
 * must be without a timer: the chunks found pay for the sweep. After a reserve
 * a sweep of all slabs finds enough chunks, and comes first. Returns false if
 * too few chunks are unused. */
TWI_COLD bool twi_find_chunks(timingwheel *tw, size_t chunks)
{
    bool is_found = true;
    if (tw->count <= tw->reserved)
        twi_sweep(tw, tw->chunks, chunks);
    else if (twi_is_sparse(tw))
        twi_sweep(tw, TWI_LONG_SWEEP, chunks);
    while (is_found && tw->chunks - tw->in_use < chunks)
        is_found = twi_add_slab(tw, chunks - (tw->chunks - tw->in_use));
    if (is_found || tw->chunks / 9 * 8 < tw->count + chunks)
        return is_found;
    twi_sweep(tw, tw->chunks, chunks);
    return true;
}

/* Makes sure that `chunks` chunks are unused. Returns false if memory has run
 * out. May take chunks without timers out of any bucket: callers read their own
 * bucket after this call. */
static inline bool twi_provide(timingwheel *tw, size_t chunks)
{
    if (TWI_UNLIKELY(twi_is_sparse(tw)))
        twi_sweep(tw, TWI_SWEEP, SIZE_MAX);
    return tw->chunks - tw->in_use >= chunks || twi_find_chunks(tw, chunks);
}

/* Takes an unused chunk for a bucket. The caller has called twi_provide, and
 * links the chunk. */
static inline twi_chunk *twi_take_chunk(timingwheel *tw, twi_bucket *bucket)
{
    twi_chunk *chunk = tw->unused;
    tw->unused = chunk->next;
    tw->in_use++;
    TWI_PREFETCH(tw->unused);
    chunk->next = NULL;
    chunk->prev = NULL;
    chunk->bucket = bucket;
    chunk->number = 0;
    return chunk;
}

/* Prefetches the timers of a chunk, so that cache misses overlap. Always
 * inline: gcc removes calls of functions that gcc takes to have no effect. */
TWI_ALWAYS_INLINE void twi_prefetch(const twi_chunk *chunk)
{
    if (chunk != NULL)
        for (unsigned i = 0; i < TWI_SLOTS; i++)
            TWI_PREFETCH(chunk->slots[i]);
}

/* -------------------------------------------------------------- buckets ---
 * A bucket is a queue of slots; the oldest timer of each tick is nearest to the
 * front. A chunk leaves the bucket when `front` has passed the chunk, or when a
 * sweep finds no timer in the chunk. The last chunk of an emptied bucket stays,
 * so that a bucket which fills and empties again and again needs no chunks. */

static inline twi_chunk *twi_last_chunk(const twi_bucket *bucket)
{
    return twi_chunk_of(bucket->back - 1);
}

/* True for the address behind the last slot of a chunk, and for NULL. */
static inline bool twi_is_chunk_end(tw_timer *const *slot)
{
    return (uintptr_t)slot % TWI_CHUNK_BYTES == 0;
}

static inline bool twi_is_empty(const twi_bucket *bucket)
{
    return bucket->front == bucket->back;
}

/* Returns the slot behind `slot` in the same bucket. */
static inline tw_timer **twi_next_slot(tw_timer **slot)
{
    if (!twi_is_chunk_end(slot + 1))
        return slot + 1;
    twi_chunk *next = twi_chunk_of(slot)->next;
    return next == NULL ? slot + 1 : next->slots;
}

/* Puts a timer into a slot. Each of the two knows the other then. */
static inline void twi_fill(tw_timer **slot, tw_timer *timer)
{
    *slot = timer;
    timer->place = (uintptr_t)slot;
}

/* Puts a timer into a slot of a bucket that is being sorted. */
static inline void twi_fill_sorted(tw_timer **slot, tw_timer *timer)
{
    *slot = timer;
    timer->place = (uintptr_t)slot | TWI_SORTED_BIT;
}

/* True if a timer with the tick `tick` was postponed beyond the span of the
 * timer's bucket. Such a timer is placed again when the bucket comes up. */
static inline bool twi_is_beyond(const twi_bucket *bucket, uint64_t tick)
{
    return tick > bucket->latest;
}

/* Extends the span of a bucket to a tick. */
static inline void twi_widen_span(twi_bucket *bucket, uint64_t tick)
{
    bucket->earliest = tick < bucket->earliest ? tick : bucket->earliest;
    bucket->latest = tick > bucket->latest ? tick : bucket->latest;
}

/* Makes a bucket empty, without a chunk. */
static inline void twi_init_bucket(twi_bucket *bucket)
{
    bucket->earliest = UINT64_MAX;
    bucket->latest = 0;
    bucket->front = bucket->back = NULL;
}

/* True if the address `bucket` is that of a bucket of `wheel`, which may be
 * NULL. */
TWI_WRAPS static inline bool twi_has_bucket(const timingwheel *tw,
                                            const twi_wheel *wheel,
                                            const twi_bucket *bucket)
{
    return wheel != NULL && (uintptr_t)bucket - (uintptr_t)wheel->buckets <=
                                tw->bucket_mask * sizeof(twi_bucket);
}

/* Notes that a bucket may become too large to be sorted. */
TWI_COLD void twi_expect_large(timingwheel *tw, const twi_bucket *bucket)
{
    for (unsigned level = 1; level < TWI_LEVELS; level++)
        if (twi_has_bucket(tw, tw->wheels[level], bucket)) {
            tw->wheels[level]->may_have_large = true;
            tw->ahead_at = 0;
        }
}

/* Links an unused chunk behind the last chunk of a bucket. The caller has
 * called twi_provide. */
TWI_WRAPS static inline void twi_link_chunk(timingwheel *tw, twi_bucket *bucket)
{
    twi_chunk *chunk = twi_take_chunk(tw, bucket);
    if (bucket->back == NULL) {
        bucket->front = chunk->slots;
    } else {
        chunk->prev = twi_last_chunk(bucket);
        chunk->number = chunk->prev->number + 1;
        chunk->prev->next = chunk;
        if (TWI_UNLIKELY(chunk->number == TWI_LARGE_CHUNKS / 2))
            twi_expect_large(tw, bucket);
    }
    bucket->back = chunk->slots;
}

/* Adds a chunk at the back of a bucket. Returns false if memory has run out. */
static inline bool twi_add_chunk(timingwheel *tw, twi_bucket *bucket)
{
    if (TWI_UNLIKELY(!twi_provide(tw, 1)))
        return false;
    tw->buckets_used += bucket->back == NULL;
    twi_link_chunk(tw, bucket);
    return true;
}

/* Returns a new slot at the back of a bucket; NULL if memory has run out. */
static inline tw_timer **twi_push_back(timingwheel *tw, twi_bucket *bucket)
{
    if (twi_is_chunk_end(bucket->back) && !twi_add_chunk(tw, bucket))
        return NULL;
    return bucket->back++;
}

/* Adds a chunk in front of a bucket. Returns false if memory has run out. */
TWI_WRAPS static inline bool twi_add_front_chunk(timingwheel *tw,
                                                 twi_bucket *bucket)
{
    if (TWI_UNLIKELY(!twi_provide(tw, 1)))
        return false;
    twi_chunk *chunk = twi_take_chunk(tw, bucket);
    if (bucket->back == NULL) {
        bucket->back = chunk->slots + TWI_SLOTS;
        tw->buckets_used++;
    } else {
        chunk->next = twi_chunk_of(bucket->front);
        chunk->number = chunk->next->number - 1;
        chunk->next->prev = chunk;
        if (TWI_UNLIKELY(chunk->number + TWI_LARGE_CHUNKS / 2 == 0))
            twi_expect_large(tw, bucket);
    }
    bucket->front = chunk->slots + TWI_SLOTS;
    return true;
}

/* Returns a new slot in front of a bucket; NULL if memory has run out. The
 * first chunk fills from the end. */
static inline tw_timer **twi_push_front(timingwheel *tw, twi_bucket *bucket)
{
    if (bucket->back != NULL && twi_is_empty(bucket))
        bucket->front = bucket->back =
            twi_last_chunk(bucket)->slots + TWI_SLOTS;
    else if ((bucket->back == NULL ||
              bucket->front == twi_chunk_of(bucket->front)->slots) &&
             !twi_add_front_chunk(tw, bucket))
        return NULL;
    return --bucket->front;
}

/* Removes the front slot, which is the last slot of its chunk or bucket.
 * Returns false if the bucket is empty then. The bucket keeps its last chunk,
 * under the next number, so that no position in the bucket comes twice. */
TWI_WRAPS TWI_NOINLINE bool twi_pop_front_slow(timingwheel *tw,
                                               twi_bucket *bucket)
{
    twi_chunk *chunk = twi_chunk_of(bucket->front), *next = chunk->next;
    if (bucket->front + 1 == bucket->back) {
        bucket->front = bucket->back = chunk->slots;
        chunk->number++;
        return false;
    }
    bucket->front = next->slots;
    next->prev = NULL;
    twi_free_chunk(tw, chunk);
    twi_prefetch(next->next);
    return true;
}

/* Removes the front slot, whose timer has left. Returns false if the bucket is
 * empty then. */
static inline bool twi_pop_front(timingwheel *tw, twi_bucket *bucket)
{
    tw_timer **next = bucket->front + 1;
    if (TWI_UNLIKELY(next == bucket->back) ||
        TWI_UNLIKELY(twi_is_chunk_end(next)))
        return twi_pop_front_slow(tw, bucket);
    bucket->front = next;
    return true;
}

#define TWI_SKIP (2 * TWI_SLOTS) /* most dead slots to skip at a time */

/* Removes up to TWI_SKIP dead slots from the front. Returns false if the bucket
 * is empty then. The front slot may still be dead. */
static inline bool twi_skip_dead(timingwheel *tw, twi_bucket *bucket)
{
    for (size_t left = TWI_SKIP; TWI_UNLIKELY(*bucket->front == NULL); left--) {
        if (left == 0)
            return true;
        if (!twi_pop_front(tw, bucket))
            return false;
    }
    return true;
}

/* Removes the last slot, which is dead or whose timer has left. Returns false
 * if the bucket is empty then. */
static inline bool twi_pop_back(timingwheel *tw, twi_bucket *bucket)
{
    tw_timer **slot = bucket->back - 1;
    twi_chunk *chunk = twi_chunk_of(slot);
    bucket->back = slot;
    if (slot == bucket->front)
        return false;
    if (slot == chunk->slots) {
        chunk->prev->next = NULL;
        bucket->back = chunk->prev->slots + TWI_SLOTS;
        twi_free_chunk(tw, chunk);
    }
    return true;
}

/* Makes `slot` the last slot of a bucket. Frees the chunks behind. */
static void twi_truncate(timingwheel *tw, twi_bucket *bucket, tw_timer **slot)
{
    twi_chunk *last = twi_chunk_of(slot);
    if (last->next != NULL)
        twi_free_chunks(tw, last->next, twi_last_chunk(bucket));
    last->next = NULL;
    bucket->back = slot + 1;
}

/* Moves all timers of `from` behind the timers of `to`, which is outside of the
 * wheels. Unused slots between the two become dead slots. */
TWI_WRAPS TWI_COLD void twi_append_bucket(timingwheel *tw, twi_bucket *from,
                                          twi_bucket *to)
{
    if (twi_is_empty(from))
        return;
    twi_chunk *first = twi_chunk_of(from->front);
    for (twi_chunk *chunk = first; chunk != NULL; chunk = chunk->next)
        chunk->bucket = to;
    if (twi_is_empty(to)) {
        if (to->back != NULL) {
            twi_free_chunk(tw, twi_last_chunk(to));
            tw->buckets_used--;
        }
        *to = *from;
    } else {
        tw->buckets_used--;
        twi_chunk *last = twi_last_chunk(to);
        while (!twi_is_chunk_end(to->back))
            *to->back++ = NULL;
        while (from->front != first->slots)
            *--from->front = NULL;
        last->next = first;
        first->prev = last;
        to->back = from->back;
        twi_widen_span(to, from->earliest);
        for (size_t gap = last->number + 1 - first->number; first != NULL;
             first = first->next)
            first->number += gap;
    }
    twi_init_bucket(from);
}

/* ---------------------------------------------------------- delay queue ---
 * A binary min-heap of the wheels that hold timers, by the tick of each wheel's
 * first bucket. At the same tick the coarser wheel comes first: its timers were
 * started (or placed again) first. The clock jumps from head to head. */

#define TWI_UNQUEUED UINT32_MAX

/* True if wheel `a` comes up before wheel `b`. */
static inline bool twi_is_before(const twi_wheel *a, const twi_wheel *b)
{
    return a->queue_tick < b->queue_tick ||
           (a->queue_tick == b->queue_tick && a->level > b->level);
}

/* Writes a wheel into position `i` of the heap. */
static inline void twi_queue_set(timingwheel *tw, uint32_t i, twi_wheel *wheel)
{
    tw->queue[i] = wheel;
    wheel->queue_index = i;
    if (i == 0)
        tw->next_tick = wheel->queue_tick;
}

/* Puts a wheel at position `i`, or as far up as the wheel belongs. */
static void twi_queue_up(timingwheel *tw, uint32_t i, twi_wheel *wheel)
{
    for (; i > 0 && twi_is_before(wheel, tw->queue[(i - 1) / 2]);
         i = (i - 1) / 2)
        twi_queue_set(tw, i, tw->queue[(i - 1) / 2]);
    twi_queue_set(tw, i, wheel);
}

/* Puts a wheel at position `i`, or as far down as the wheel belongs. */
static void twi_queue_down(timingwheel *tw, uint32_t i, twi_wheel *wheel)
{
    for (uint32_t child; (child = 2 * i + 1) < tw->queued; i = child) {
        if (child + 1 < tw->queued &&
            twi_is_before(tw->queue[child + 1], tw->queue[child]))
            child++;
        if (!twi_is_before(tw->queue[child], wheel))
            break;
        twi_queue_set(tw, i, tw->queue[child]);
    }
    twi_queue_set(tw, i, wheel);
}

/* Enters a wheel, or moves a queued wheel up to an earlier tick. */
static void twi_queue_earlier(timingwheel *tw, twi_wheel *wheel, uint64_t tick)
{
    wheel->queue_tick = tick;
    if (wheel->queue_index == TWI_UNQUEUED)
        wheel->queue_index = tw->queued++;
    twi_queue_up(tw, wheel->queue_index, wheel);
}

/* Moves a queued wheel down to a later tick. */
static inline void twi_queue_later(timingwheel *tw, twi_wheel *wheel,
                                   uint64_t tick)
{
    wheel->queue_tick = tick;
    if (wheel->queue_index == 0 &&
        (tw->queued < 2 || tick < tw->queue[1]->queue_tick) &&
        (tw->queued < 3 || tick < tw->queue[2]->queue_tick))
        tw->next_tick = tick;
    else
        twi_queue_down(tw, wheel->queue_index, wheel);
}

/* Removes a wheel without timers from the delay queue. */
static void twi_unqueue(timingwheel *tw, twi_wheel *wheel)
{
    uint32_t i = wheel->queue_index;
    twi_wheel *last = tw->queue[--tw->queued];
    wheel->queue_index = TWI_UNQUEUED;
    wheel->may_have_large = false;
    if (tw->last_wheel == wheel)
        tw->last_wheel = NULL;
    if (tw->queued == 0) {
        tw->next_tick = UINT64_MAX;
    } else if (last != wheel) {
        twi_queue_up(tw, i, last);
        twi_queue_down(tw, last->queue_index, last);
    }
}

/* --------------------------------------------------------------- wheels ---
 * Bucket b of a wheel holds the ticks t with t >> shift = b, modulo the number
 * of buckets, from the clock's own step on. This window moves with the clock. A
 * wheel has 2 * wheel_size buckets. A tick in the clock's own step of the next
 * coarser wheel, or in the step after, is within reach; so a coarser wheel
 * takes ticks from two steps ahead on. No timer starts in the bucket of the
 * next step, so that moving ahead can empty that bucket in time. */

/* Returns the marks of a wheel: one bit per bucket, set if the bucket may hold
 * timers. */
static inline uint64_t *twi_marks(twi_wheel *wheel)
{
    return (uint64_t *)(void *)(wheel + 1);
}

/* Returns the size of a wheel with its marks and buckets. The buckets begin at
 * a cache line. */
static size_t twi_wheel_bytes(const timingwheel *tw)
{
    size_t buckets = (size_t)tw->bucket_mask + 1;
    size_t head = sizeof(twi_wheel) + (buckets + 63) / 64 * sizeof(uint64_t);
    return (head + 63) / 64 * 64 + buckets * sizeof(twi_bucket);
}

/* Creates a wheel without timers; NULL if memory has run out. */
TWI_COLD twi_wheel *twi_add_wheel(timingwheel *tw, unsigned level)
{
    size_t buckets = (size_t)tw->bucket_mask + 1;
    void *memory, *start = twi_allocate(tw, twi_wheel_bytes(tw), &memory);
    if (start == NULL)
        return NULL;
    twi_wheel *wheel = (twi_wheel *)start;
    wheel->queue_tick = UINT64_MAX;
    wheel->step = UINT64_C(1) << level * tw->size_bits;
    wheel->min_ahead = level == 0 ? 1 : 2 * wheel->step;
    wheel->reach_end = 0;
    wheel->moved_at = 0;
    wheel->behind = 0;
    wheel->buckets =
        (twi_bucket *)(void *)((char *)start + twi_wheel_bytes(tw)) - buckets;
    wheel->memory = memory;
    wheel->first = wheel->buckets;
    wheel->queue_index = TWI_UNQUEUED;
    wheel->level = level;
    wheel->shift = level * tw->size_bits;
    wheel->progress = TWI_UNTOUCHED;
    wheel->may_have_large = false;
    for (size_t i = 0; i < buckets; i++) {
        twi_init_bucket(&wheel->buckets[i]);
        twi_marks(wheel)[i / 64] = 0;
    }
    tw->wheels[level] = wheel;
    return wheel;
}

/* Clears the caches. */
static void twi_clear_caches(timingwheel *tw)
{
    tw->last_wheel = NULL;
    tw->last_slot = NULL;
}

/* Frees a wheel without timers. No chunk refers to the wheel's buckets. */
TWI_COLD void twi_remove_wheel(timingwheel *tw, unsigned level)
{
    void *memory = tw->wheels[level]->memory;
    twi_clear_caches(tw);
    tw->wheels[level] = NULL;
    twi_deallocate(tw, twi_wheel_bytes(tw), memory);
}

/* Returns the index of the bucket for a tick. */
static inline uint32_t twi_index_of(const timingwheel *tw,
                                    const twi_wheel *wheel, uint64_t tick)
{
    return (uint32_t)(tick >> wheel->shift & tw->bucket_mask);
}

/* Returns the level of the wheel for a tick that is not behind the clock. The
 * distance gives the level. If the tick is in the clock's own step at that
 * level or in the step after, the next finer wheel reaches the tick. */
static inline unsigned twi_level_of(const timingwheel *tw, uint64_t tick)
{
    uint64_t distance = tick - tw->clock_tick;
    unsigned level = tw->level_of[twi_highest_bit(distance | 1)];
    unsigned shift = level * tw->size_bits;
    uint64_t steps = (tick >> shift) - (tw->clock_tick >> shift);
    return level - (level != 0 && steps <= 1);
}

/* Finds the first bucket with a mark, from the clock's own step on. Returns
 * false if there is none. */
TWI_WRAPS static inline bool twi_find_mark(const timingwheel *tw,
                                           twi_wheel *wheel, uint32_t *index)
{
    const uint64_t *marks = twi_marks(wheel);
    uint32_t from = twi_index_of(tw, wheel, tw->clock_tick);
    uint32_t last = tw->bucket_mask / 64, word = from / 64;
    uint64_t bits = marks[word] & (~UINT64_C(0) << (from % 64));
    for (uint32_t left = last + 1; bits == 0; left--) {
        if (left == 0)
            return false;
        word = (word + 1) & last;
        bits = marks[word];
    }
    *index = word * 64 + twi_lowest_bit(bits);
    return true;
}

/* Sets the mark of a bucket. */
static inline void twi_mark(twi_wheel *wheel, uint32_t index)
{
    twi_marks(wheel)[index / 64] |= UINT64_C(1) << (index % 64);
}

/* Clears the mark and the span of an empty bucket. */
static inline void twi_clear_bucket(twi_wheel *wheel, twi_bucket *bucket)
{
    uint32_t index = (uint32_t)(bucket - wheel->buckets);
    twi_marks(wheel)[index / 64] &= ~(UINT64_C(1) << (index % 64));
    bucket->earliest = UINT64_MAX;
    bucket->latest = 0;
    if (bucket->back != NULL) {
        twi_chunk *chunk = twi_last_chunk(bucket);
        chunk->number = 0;
        bucket->front = bucket->back = chunk->slots;
    }
}

/* Looks for the first bucket of a queued wheel again, and enters the wheel in
 * the delay queue with that bucket. Removes the wheel from the queue if no
 * bucket holds timers. Clears the marks of emptied buckets on the way. */
static void twi_requeue(timingwheel *tw, twi_wheel *wheel)
{
    uint32_t index;
    wheel->progress = TWI_UNTOUCHED;
    while (twi_find_mark(tw, wheel, &index)) {
        twi_bucket *bucket = &wheel->buckets[index];
        if (!twi_is_empty(bucket) && twi_skip_dead(tw, bucket)) {
            wheel->first = bucket;
            twi_queue_later(tw, wheel, bucket->earliest);
            return;
        }
        twi_clear_bucket(wheel, bucket);
    }
    twi_unqueue(tw, wheel);
}

/* Notes that bucket `index` of a wheel has gained a timer for `tick`: sets the
 * mark, extends the span, and enters the wheel in the delay queue if the bucket
 * is the wheel's first. */
static inline void twi_timer_added(timingwheel *tw, twi_wheel *wheel,
                                   uint32_t index, uint64_t tick)
{
    twi_bucket *bucket = &wheel->buckets[index];
    twi_mark(wheel, index);
    twi_widen_span(bucket, tick);
    if (wheel->queue_index == TWI_UNQUEUED || tick < wheel->queue_tick) {
        wheel->first = bucket;
        wheel->progress = TWI_UNTOUCHED;
        twi_queue_earlier(tw, wheel, tick);
    }
}

/* ---------------------------------------------------------- all buckets ---
 * Passes over every bucket, for functions outside of the hot paths: tw_destroy,
 * tw_foreach, tw_trim. */

/* Calls `visit` for the timers of one bucket. Returns how many. A visitor may
 * cancel the visited timer. The end of each chunk is read before its visits. */
TWI_COLD size_t twi_visit_bucket(const twi_bucket *bucket, tw_visitor *visit,
                                 void *context)
{
    size_t visited = 0;
    tw_timer **slot = twi_is_empty(bucket) ? NULL : bucket->front;
    for (twi_chunk *next; slot != NULL; slot = next ? next->slots : NULL) {
        next = twi_chunk_of(slot)->next;
        tw_timer **end =
            next ? twi_chunk_of(slot)->slots + TWI_SLOTS : bucket->back;
        for (; slot != end; slot++)
            if (*slot != NULL) {
                visited++;
                visit(*slot, context);
            }
    }
    return visited;
}

/* Returns all buckets one after the other: first of the wheels, then outside of
 * the wheels. Returns NULL at the end. `*at` is 0 at first. */
TWI_COLD twi_bucket *twi_next_bucket(timingwheel *tw, size_t *at)
{
    size_t buckets = (size_t)tw->bucket_mask + 1;
    size_t end = (tw->level_of[63] + (size_t)1) * buckets;
    while (*at < end && tw->wheels[*at / buckets] == NULL)
        *at += buckets;
    size_t i = (*at)++;
    if (i < end)
        return &tw->wheels[i / buckets]->buckets[i % buckets];
    return i - end < TWI_OUTSIDE_BUCKETS ? &tw->outside[i - end] : NULL;
}

/* Calls `visit` for every timer. Returns how many. */
TWI_COLD size_t twi_visit_all(timingwheel *tw, tw_visitor *visit, void *context)
{
    size_t visited = 0, at = 0;
    for (twi_bucket *bucket; (bucket = twi_next_bucket(tw, &at)) != NULL;)
        visited += twi_visit_bucket(bucket, visit, context);
    return visited;
}

/* ---------------------------------------------- setting up, destroying --- */

TW_DEF int tw_init(timingwheel *tw, const tw_config *config)
{
    static const tw_config defaults = {0, 0, 0, 0, NULL};
    if (config == NULL)
        config = &defaults;
    uint32_t size = config->wheel_size;
    if (size == 0)
        size = TW_DEFAULT_WHEEL_SIZE;
    if (tw == NULL || size < 2 || size > TWI_MOST_STEPS ||
        (size & (size - 1)) != 0)
        return TW_EINVAL;
    for (size_t i = 0; i < sizeof(*tw); i++)
        ((unsigned char *)tw)[i] = 0;
    tw->tick = config->tick == 0 ? 1 : config->tick;
    tw->now = config->start;
    tw->clock_tick = config->start / tw->tick;
    tw->next_tick = UINT64_MAX;
    tw->max_pending = config->max_pending == 0 ? SIZE_MAX : config->max_pending;
    tw->bucket_mask = 2 * size - 1;
    tw->size_bits = twi_highest_bit(size);
    tw->alloc_context = config->alloc_context;
    tw->self = tw;
    tw->activity = TWI_LIVE;
    tw->turn_count = 1;
    for (unsigned i = 0; i < 64; i++)
        tw->level_of[i] = (uint8_t)(i / tw->size_bits);
    for (unsigned i = 0; i < TWI_OUTSIDE_BUCKETS; i++)
        twi_init_bucket(&tw->outside[i]);
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

/* A visitor that makes a timer idle. */
static void twi_make_idle(tw_timer *timer, void *context)
{
    (void)context;
    timer->place = TW_IDLE;
}

/* True if the clock must not move: inside a callback or visitor, and after
 * tw_destroy. With TW_DEBUG either is an assertion. */
static bool twi_is_busy(const timingwheel *tw)
{
    bool busy = tw->activity != TWI_LIVE;
    TWI_RULE_READY(tw);
    TWI_RULE(!busy,
             "a callback or visitor must not advance, poll, trim or destroy "
             "the wheel that it runs under");
    return busy;
}

TW_DEF void tw_destroy(timingwheel *tw)
{
    if (tw == NULL || twi_is_busy(tw))
        return;
    (void)twi_visit_all(tw, twi_make_idle, NULL);
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (tw->wheels[level] != NULL)
            twi_remove_wheel(tw, level);
    while (tw->slabs != NULL)
        twi_remove_slab(tw, &tw->slabs);
    (void)tw_init(tw, NULL);
    tw->activity = TWI_DESTROYED;
    tw->self = NULL;
}

/* ------------------------------------------------------------- starting ---
 * A timer goes to the back of its bucket in the finest wheel that reaches the
 * timer's tick. An overdue timer goes into the overdue bucket, for the next
 * call. The short way is for the wheel of the last start. */

#ifdef TW_DEBUG
/* True if `timer` is pending, but in no bucket of this timingwheel. */
TWI_WRAPS static inline bool twi_is_elsewhere(const timingwheel *tw,
                                              const tw_timer *timer)
{
    if (!twi_is_pending(timer))
        return false;
    const twi_bucket *bucket = twi_chunk_of(twi_slot_of(timer))->bucket;
    if ((uintptr_t)bucket - (uintptr_t)tw->outside < sizeof(tw->outside))
        return false;
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (twi_has_bucket(tw, tw->wheels[level], bucket))
            return false;
    return true;
}
#endif

/* True if `wheel` is certainly the wheel for `tick`: the tick is at least
 * min_ahead ticks ahead of the clock, and before reach_end. A tick behind the
 * clock wraps to a large distance. */
TWI_WRAPS static inline bool
twi_is_wheel_for(const timingwheel *tw, const twi_wheel *wheel, uint64_t tick)
{
    return tick - tw->clock_tick - wheel->min_ahead <= UINT64_MAX / 2 &&
           tick < wheel->reach_end;
}

/* Returns the first tick beyond the reach of a wheel; UINT64_MAX if none. */
TWI_WRAPS static uint64_t twi_end_of_reach(const timingwheel *tw,
                                           const twi_wheel *wheel)
{
    unsigned shift = wheel->shift + tw->size_bits;
    uint64_t end = shift < 64 ? ((tw->clock_tick >> shift) + 2) << shift : 0;
    return end > tw->clock_tick ? end : UINT64_MAX;
}

/* Returns a slot for a tick ahead of the clock, at the back of the bucket in
 * the finest wheel that reaches the tick. Creates the wheel if necessary.
 * Remembers the wheel for the next start. NULL if memory has run out. */
TWI_NOINLINE tw_timer **twi_slot_for(timingwheel *tw, uint64_t tick)
{
    unsigned level = twi_level_of(tw, tick);
    twi_wheel *wheel = tw->wheels[level];
    if (wheel == NULL)
        wheel = twi_add_wheel(tw, level);
    if (wheel == NULL)
        return NULL;
    uint32_t index = twi_index_of(tw, wheel, tick);
    tw_timer **slot = twi_push_back(tw, &wheel->buckets[index]);
    if (slot == NULL)
        return NULL;
    twi_timer_added(tw, wheel, index, tick);
    if (tw->tick == 1 && tw->max_pending == SIZE_MAX) {
        tw->last_wheel = wheel;
        wheel->reach_end = twi_end_of_reach(tw, wheel);
    }
    tw->last_slot = slot;
    return slot;
}

/* Returns a slot for an overdue timer; NULL if memory has run out. The slot is
 * not remembered as last_slot: a position must not be used twice. */
static tw_timer **twi_slot_for_overdue(timingwheel *tw, uint64_t tick)
{
    twi_bucket *overdue = &tw->outside[TWI_OVERDUE];
    bool is_first = twi_is_empty(overdue);
    tw_timer **slot = twi_push_back(tw, overdue);
    if (slot == NULL)
        return NULL;
    if (is_first)
        overdue->earliest = tick;
    twi_widen_span(overdue, tick);
    tw->has_outside = true;
    tw->last_slot = NULL;
    return slot;
}

/* Moves a timer into a new slot, with a new deadline. */
static inline void twi_set_slot(timingwheel *tw, tw_timer *timer,
                                uint64_t deadline, tw_timer **slot)
{
    if (twi_is_pending(timer))
        *twi_slot_of(timer) = NULL;
    else
        tw->count++;
    twi_fill(slot, timer);
    timer->deadline = deadline;
}

/* Returns why a timer cannot be started, or TW_OK. */
TWI_COLD int twi_refusal(const timingwheel *tw, const tw_timer *timer)
{
    if (tw->activity == TWI_VISITING)
        return TW_EBUSY;
    if (tw->activity == TWI_DESTROYED)
        return TW_EINVAL;
    return twi_is_pending(timer) ? TW_OK : TW_EFULL;
}

/* Does what tw_start does, for every case. */
TWI_NOINLINE int twi_start_slow(timingwheel *tw, tw_timer *timer,
                                uint64_t deadline)
{
    if (TWI_UNLIKELY(tw->activity < TWI_LIVE) ||
        TWI_UNLIKELY(tw->count >= tw->max_pending)) {
        int status = twi_refusal(tw, timer);
        if (status != TW_OK)
            return status;
    }
    uint64_t tick = twi_tick_of(tw, deadline);
    tw_timer **slot = tick > tw->clock_tick ? twi_slot_for(tw, tick)
                                            : twi_slot_for_overdue(tw, tick);
    if (slot == NULL)
        return TW_ENOMEM;
    twi_set_slot(tw, timer, deadline, slot);
    return TW_OK;
}

/* Starts a timer in bucket `index` of a wheel. The bucket has a free slot, and
 * `tick` is not before the wheel's queue_tick. */
static inline int twi_start_in(timingwheel *tw, tw_timer *timer, uint64_t tick,
                               twi_wheel *wheel, uint32_t index)
{
    twi_bucket *bucket = &wheel->buckets[index];
    tw_timer **slot = bucket->back++;
    tw->last_slot = slot;
    twi_mark(wheel, index);
    twi_widen_span(bucket, tick);
    twi_set_slot(tw, timer, tick, slot);
    return TW_OK;
}

/* Does the same in a bucket without a free slot. */
TWI_NOINLINE int twi_start_in_new_chunk(timingwheel *tw, tw_timer *timer,
                                        uint64_t tick, twi_wheel *wheel)
{
    uint32_t index = twi_index_of(tw, wheel, tick);
    return twi_add_chunk(tw, &wheel->buckets[index])
               ? twi_start_in(tw, timer, tick, wheel, index)
               : TW_ENOMEM;
}

TW_DEF int tw_start(timingwheel *tw, tw_timer *timer, uint64_t deadline)
{
    if (tw == NULL || timer == NULL)
        return TW_EINVAL;
    TWI_RULE_READY(tw);
    TWI_RULE_OWN(tw, timer);
    uint64_t tick = deadline; /* last_wheel is NULL if a tick is more units */
    twi_wheel *wheel = tw->last_wheel;
    if (wheel == NULL || TWI_UNLIKELY(tick < wheel->queue_tick) ||
        TWI_UNLIKELY(!twi_is_wheel_for(tw, wheel, tick)))
        return twi_start_slow(tw, timer, deadline);
    uint32_t index = twi_index_of(tw, wheel, tick);
    if (TWI_UNLIKELY(twi_is_chunk_end(wheel->buckets[index].back)))
        return twi_start_in_new_chunk(tw, timer, tick, wheel);
    return twi_start_in(tw, timer, tick, wheel, index);
}

/* Returns the multiple of the highest power of two in low..high, low <=
 * high. */
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
    if (tw->activity == TWI_DESTROYED)
        return TW_EINVAL;
    uint64_t low = twi_tick_of(tw, earliest);
    uint64_t high = latest / tw->tick;
    if (low > high)
        return tw_start(tw, timer, earliest);
    if (low <= tw->clock_tick && high > tw->clock_tick)
        low = tw->clock_tick + 1;
    return tw_start(tw, timer, twi_roundest(low, high) * tw->tick);
}

/* ----------------------------------------------- cancelling, postponing ---
 * A cancelled timer leaves a dead slot. A postponed timer keeps its slot, with
 * a later deadline. Both are found when the bucket comes up. */

/* Frees the slot of the last start, if the slot is still the last slot of its
 * bucket. So a timer that starts and stops over and over fills no chunks. Uses
 * `&` instead of `&&` to avoid a branch that is hard to predict. */
static inline bool twi_free_last_slot(tw_timer **slot)
{
    const twi_chunk *chunk = twi_chunk_of(slot);
    bool is_first = (slot == chunk->slots) & (chunk->prev != NULL);
    if (chunk->bucket->back != slot + 1 || is_first)
        return false;
    chunk->bucket->back = slot;
    return true;
}

TW_DEF bool tw_cancel(timingwheel *tw, tw_timer *timer)
{
    if (tw == NULL || timer == NULL || !twi_is_pending(timer))
        return false;
    TWI_RULE_READY(tw);
    TWI_RULE_OWN(tw, timer);
    tw_timer **last = tw->last_slot;
    if (timer->place != (uintptr_t)last || !twi_free_last_slot(last))
        *twi_slot_of(timer) = NULL;
    timer->place = TW_CANCELLED;
    tw->count--;
    return true;
}

/* Does what tw_postpone does, for every case. If memory has run out, a timer of
 * a sorted bucket gets the later deadline all the same, and the bucket has to
 * be sorted again. */
TWI_COLD int twi_postpone_slow(timingwheel *tw, tw_timer *timer,
                               uint64_t deadline)
{
    bool is_pending = twi_is_pending(timer);
    if (is_pending && deadline == timer->deadline)
        return TW_OK;
    bool is_later = is_pending && deadline > timer->deadline &&
                    twi_tick_of(tw, timer->deadline) > tw->clock_tick;
    if (!is_later || (timer->place & TWI_SORTED_BIT) != 0) {
        int status = tw_start(tw, timer, deadline);
        if (status == TW_OK || !is_later)
            return status;
        const twi_bucket *bucket = twi_chunk_of(twi_slot_of(timer))->bucket;
        for (uint32_t i = 0; i < tw->queued; i++)
            if (tw->queue[i]->first == bucket)
                tw->queue[i]->progress = TWI_UNTOUCHED;
    }
    timer->deadline = deadline;
    return TW_OK;
}

TW_DEF int tw_postpone(timingwheel *tw, tw_timer *timer, uint64_t deadline)
{
    if (tw == NULL || timer == NULL)
        return TW_EINVAL;
    TWI_RULE_READY(tw);
    TWI_RULE_OWN(tw, timer);
    if (!twi_is_pending(timer) || deadline < timer->deadline ||
        timer->deadline <= tw->now || (timer->place & TWI_SORTED_BIT) != 0)
        return twi_postpone_slow(tw, timer, deadline);
    timer->deadline = deadline;
    return TW_OK;
}

/* ---------------------------------------------------------------- limit ---
 * A call ends when `handled` has come to handled_limit. */

/* Returns how many timers the call may still handle. */
TWI_WRAPS static inline uint64_t twi_limit_left(const timingwheel *tw)
{
    return tw->handled_limit - tw->handled;
}

/* Counts an action that handles no timer towards the limit. */
TWI_WRAPS static inline void twi_count_action(timingwheel *tw)
{
    if (twi_limit_left(tw) != 0)
        tw->handled_limit--;
}

/* -------------------------------------------------------------- sorting ---
 * A bucket that comes up is sorted, unless cascading costs less. Then each
 * timer fires from where it stands. Timers of one tick keep their order.
 *
 *     the bucket has                           what happens to the bucket
 *     timers of one tick                       nothing; timers fire as they are
 *     1 to 12 timers                           sorted by counting
 *     13 to 63 timers, whose ticks differ      cascades, if the limit allows;
 *         in more than the lowest byte         otherwise sorted by bytes
 *     other numbers up to 960 timers           sorted by bytes
 *     more, or more than 80 chunks (large)     cascades
 *
 * On 32-bit machines 8 chunks are the limit. */

/* Returns the tick by which a timer is sorted. A timer beyond its bucket sorts
 * first: such a timer has to leave the bucket before the others fire. */
static inline uint64_t twi_key_of(const timingwheel *tw,
                                  const twi_bucket *bucket,
                                  const tw_timer *timer)
{
    uint64_t tick = twi_tick_of(tw, timer->deadline);
    return twi_is_beyond(bucket, tick) ? bucket->earliest : tick;
}

/* True if a bucket has too many chunks to be sorted. Chunks that left the
 * bucket leave gaps between the numbers of the others. This function closes the
 * gaps as far as it looks. */
TWI_WRAPS static bool twi_is_large(const twi_bucket *bucket)
{
    twi_chunk *chunk = twi_chunk_of(bucket->front);
    const twi_chunk *last = twi_last_chunk(bucket);
    size_t number = chunk->number, limit = number + TWI_LARGE_CHUNKS;
    if (last->number - number < TWI_LARGE_CHUNKS)
        return false;
    for (; number != limit; chunk = chunk->next) {
        chunk->number = number++;
        if (chunk == last)
            return false;
    }
    return true;
}

/* Returns the number of timers in a bucket, and prefetches the timers. */
static size_t twi_count_timers(const twi_bucket *bucket)
{
    size_t count = 0;
    tw_timer *const *slot = bucket->front;
    for (const twi_chunk *chunk = twi_chunk_of(slot); chunk != NULL;
         chunk = chunk->next, slot = chunk == NULL ? NULL : chunk->slots) {
        tw_timer *const *end =
            chunk->next == NULL ? bucket->back : chunk->slots + TWI_SLOTS;
        for (; slot != end; slot++) {
            TWI_PREFETCH(*slot);
            count += *slot != NULL;
        }
    }
    return count;
}

/* Sorts up to TWI_SLOTS timers into the first chunk. The place of a timer is
 * the number of timers before it: counting needs no branch that is hard to
 * predict. */
static void twi_sort_few(timingwheel *tw, twi_bucket *bucket)
{
    tw_timer *timers[TWI_SLOTS], **slot = bucket->front;
    uint64_t keys[TWI_SLOTS];
    unsigned places[TWI_SLOTS], count = 0;
    for (; slot != bucket->back; slot = twi_next_slot(slot)) {
        unsigned place = 0;
        if (*slot == NULL)
            continue;
        TWI_RULE_INTACT(*slot, slot);
        uint64_t key = twi_key_of(tw, bucket, *slot);
        for (unsigned i = 0; i < count; i++) {
            unsigned is_before = keys[i] <= key;
            place += is_before;
            places[i] += 1 - is_before;
        }
        timers[count] = *slot;
        keys[count] = key;
        places[count++] = place;
    }
    slot = twi_chunk_of(bucket->front)->slots;
    for (unsigned i = 0; i < count; i++)
        twi_fill_sorted(slot + places[i], timers[i]);
    bucket->front = slot;
    twi_truncate(tw, bucket, slot + count - 1);
}

#define TWI_EACH UINT64_C(0x0001000100010001)

/* Replaces each of 256 counts by the sum of the counts before. A word holds
 * four counts of 16 bits, the first in the lowest bits. The product of the
 * counts a, b, c, d with TWI_EACH is a, a + b, a + b + c, a + b + c + d. */
TWI_WRAPS static void twi_sum_counts(uint64_t *counts)
{
    uint64_t before = 0;
    for (unsigned i = 0; i < 64; i++) {
        uint64_t sums = counts[i] * TWI_EACH;
        counts[i] = sums - counts[i] + before * TWI_EACH;
        before += sums >> 48;
    }
}

/* Sorts `count` timers by eight bits of their ticks, into new chunks (a
 * counting sort). Returns false if memory has run out. */
static bool twi_sort_pass(timingwheel *tw, twi_bucket *bucket, size_t count,
                          unsigned shift)
{
    tw_timer **slots[TWI_SORT_CHUNKS], **slot;
    uint8_t keys[TWI_SORT_CHUNKS * TWI_SLOTS], *key = keys;
    uint64_t counts[64] = {0};
    size_t chunks = (count + TWI_SLOTS - 1) / TWI_SLOTS;
    if (!twi_provide(tw, chunks))
        return false;
    const twi_bucket old = *bucket; /* a copy that no store can change */
    bucket->back = NULL;
    for (size_t i = 0; i < chunks; i++) {
        twi_link_chunk(tw, bucket);
        slots[i] = bucket->back;
        bucket->back += TWI_SLOTS;
    }
    bucket->back -= chunks * TWI_SLOTS - count;
    for (slot = old.front; slot != old.back; slot = twi_next_slot(slot))
        if (*slot != NULL) {
            TWI_RULE_INTACT(*slot, slot);
            *key = (uint8_t)(twi_key_of(tw, &old, *slot) >> shift);
            counts[*key / 4] += UINT64_C(1) << (*key % 4 * 16);
            key++;
        }
    twi_sum_counts(counts);
    key = keys;
    for (slot = old.front; slot != old.back; slot = twi_next_slot(slot))
        if (*slot != NULL) {
            unsigned bit = *key % 4 * 16;
            unsigned rank = (unsigned)(counts[*key / 4] >> bit) & UINT16_MAX;
            counts[*key++ / 4] += UINT64_C(1) << bit;
            twi_fill_sorted(&slots[rank / TWI_SLOTS][rank % TWI_SLOTS], *slot);
        }
    twi_free_chunks(tw, twi_chunk_of(old.front), twi_last_chunk(&old));
    return true;
}

/* Sorts a bucket, as the table above says. Returns false if the bucket has to
 * cascade instead, holds no timer, or if memory has run out. */
TWI_NOINLINE bool twi_sort(timingwheel *tw, twi_bucket *bucket)
{
    if (twi_is_large(bucket))
        return false;
    size_t count = twi_count_timers(bucket);
    if (count == 0 || count > TWI_LARGE_TIMERS)
        return false;
    if (count <= TWI_SLOTS) {
        twi_sort_few(tw, bucket);
        return true;
    }
    uint64_t differ = bucket->earliest ^ bucket->latest;
    if (differ >= 256 && count < 64 && count <= twi_limit_left(tw))
        return false;
    for (unsigned shift = 0; differ != 0; differ >>= 8, shift += 8)
        if (!twi_sort_pass(tw, bucket, count, shift))
            return false;
    return true;
}

/* Moves a wheel in the delay queue to the tick of the front timer of the
 * wheel's sorted first bucket, which is then the bucket's earliest tick. The
 * wheel stays if the front slot is dead, and if the front timer is beyond the
 * bucket: both leave the bucket at once. */
static inline void twi_queue_by_front(timingwheel *tw, twi_wheel *wheel,
                                      twi_bucket *bucket)
{
    const tw_timer *timer = *bucket->front;
    uint64_t tick = timer == NULL ? 0 : twi_tick_of(tw, timer->deadline);
    if (tick > wheel->queue_tick && !twi_is_beyond(bucket, tick)) {
        bucket->earliest = tick;
        twi_queue_later(tw, wheel, tick);
    }
}

/* ------------------------------------------------------------ cascading ---
 * Cascading moves the timers of a bucket down to finer wheels. Timers of one
 * tick that wait in several wheels were started (or placed again) in order from
 * the coarsest wheel to the finest: a later start is nearer to the tick. So
 * timers leave from the back, and each goes in front of its new bucket. That
 * bucket is in the coarsest wheel on the way down that may hold timers of the
 * same tick. */

#define TWI_AHEAD 3 /* chunks to prefetch while cascading */

/* True if a wheel may hold timers of a tick. */
static inline bool twi_may_have(const timingwheel *tw, const twi_wheel *wheel,
                                uint64_t tick)
{
    if (wheel == NULL)
        return false;
    const twi_bucket *bucket = &wheel->buckets[twi_index_of(tw, wheel, tick)];
    return bucket->earliest <= tick && bucket->latest >= tick;
}

/* Returns a slot for a timer that moves down from `bucket` of the wheel `from`;
 * NULL if memory has run out. A timer beyond the bucket is placed again. Any
 * other timer goes in front of its bucket in the coarsest finer wheel that may
 * hold the same tick, or else in the finest wheel that reaches the tick. May
 * create a wheel, and enters the wheel in the delay queue. */
static inline tw_timer **twi_slot_below(timingwheel *tw, const twi_wheel *from,
                                        const twi_bucket *bucket, uint64_t tick)
{
    if (twi_is_beyond(bucket, tick))
        return twi_slot_for(tw, tick);
    unsigned level = from->level - 1;
    if (level != 0)
        for (unsigned finest = twi_level_of(tw, tick);
             level > finest && !twi_may_have(tw, tw->wheels[level], tick);)
            level--;
    twi_wheel *wheel = tw->wheels[level];
    if (wheel == NULL)
        wheel = twi_add_wheel(tw, level);
    if (wheel == NULL)
        return NULL;
    uint32_t index = twi_index_of(tw, wheel, tick);
    tw_timer **slot = twi_push_front(tw, &wheel->buckets[index]);
    if (slot == NULL)
        return NULL;
    if (wheel->first == &wheel->buckets[index])
        wheel->progress = TWI_UNTOUCHED;
    twi_timer_added(tw, wheel, index, tick);
    return slot;
}

/* Moves a timer into `slot`, and counts the move. Returns false if `slot` is
 * NULL: memory has run out. */
static inline bool twi_move_to(timingwheel *tw, tw_timer *timer,
                               tw_timer **slot)
{
    if (slot == NULL)
        return false;
    twi_fill(slot, timer);
    tw->handled++;
    tw->cascaded++;
    return true;
}

/* Prefetches the timers of the last TWI_AHEAD chunks of a bucket, within the
 * limit of the call. Returns the chunk before these chunks, or NULL. */
static inline const twi_chunk *twi_prefetch_back(const timingwheel *tw,
                                                 const twi_bucket *bucket)
{
    const twi_chunk *chunk = twi_last_chunk(bucket);
    for (unsigned i = 0; i < TWI_AHEAD && chunk != NULL; i++) {
        if (i * TWI_SLOTS >= twi_limit_left(tw))
            break;
        twi_prefetch(chunk);
        chunk = chunk->prev;
    }
    return chunk;
}

enum twi_moved { TWI_MOVED_ALL, TWI_MOVED_SOME, TWI_NO_MEMORY };

/* Moves timers of the bucket of a step down to finer wheels, from the back.
 * TWI_MOVED_ALL: the bucket is empty. TWI_MOVED_SOME: *chunks chunks have been
 * emptied, or the limit of the call is reached. TWI_NO_MEMORY: memory has run
 * out. Reduces *chunks by the number of chunks that have been emptied. */
TWI_WRAPS TWI_NOINLINE enum twi_moved twi_move_down(timingwheel *tw,
                                                    twi_wheel *wheel,
                                                    uint64_t step_number,
                                                    size_t *chunks)
{
    twi_bucket *bucket = &wheel->buckets[step_number & tw->bucket_mask];
    const twi_chunk *chunk = NULL, *ahead = twi_prefetch_back(tw, bucket);
    uint64_t moved = tw->cascaded;
    do {
        tw_timer *timer = bucket->back[-1];
        if (chunk != twi_last_chunk(bucket)) {
            if (chunk != NULL && tw->cascaded == moved)
                twi_count_action(tw); /* that chunk had no timer */
            if ((chunk != NULL && --*chunks == 0) || twi_limit_left(tw) == 0)
                return TWI_MOVED_SOME;
            chunk = twi_last_chunk(bucket);
            moved = tw->cascaded;
            if (ahead != NULL) {
                twi_prefetch(ahead);
                ahead = ahead->prev;
                TWI_PREFETCH(ahead);
            }
        }
        if (timer == NULL)
            continue;
        if (twi_limit_left(tw) == 0)
            return TWI_MOVED_SOME;
        TWI_RULE_INTACT(timer, bucket->back - 1);
        uint64_t tick = twi_tick_of(tw, timer->deadline);
        if (!twi_move_to(tw, timer, twi_slot_below(tw, wheel, bucket, tick)))
            return TWI_NO_MEMORY;
    } while (twi_pop_back(tw, bucket));
    if (bucket == wheel->first)
        twi_requeue(tw, wheel);
    else
        twi_clear_bucket(wheel, bucket);
    return TWI_MOVED_ALL;
}

/* Places a postponed timer again, by its new deadline. Returns false if memory
 * has run out. */
static bool twi_place_again(timingwheel *tw, tw_timer *timer)
{
    return twi_move_to(tw, timer,
                       twi_slot_for(tw, twi_tick_of(tw, timer->deadline)));
}

/* --------------------------------------------- when memory has run out ---
 * A bucket that needs chunks to be sorted or to cascade is sorted in place
 * instead, which needs no memory but is slow. Timers beyond the bucket cannot
 * wait there. If only such timers are left, they are stuck: they wait outside
 * of the wheels until there is memory, or until they are due. */

/* Sorts any bucket that holds a timer, without memory. The timers are linked
 * through their `place` fields. For each bit that differs, the list is split
 * into the timers without that bit and the timers with that bit (`ones`), and
 * joined again in this order. `end` and `ones_end` are the addresses of the
 * last links. At the end the timers return into the slots. */
TWI_COLD void twi_sort_in_place(timingwheel *tw, twi_bucket *bucket)
{
    uintptr_t list = 0, ones, *end = &list, *ones_end;
    uint64_t differ = 0;
    tw_timer *timer, *next;
    tw_timer **slot;
    for (slot = bucket->front; slot != bucket->back; slot = twi_next_slot(slot))
        if (*slot != NULL) {
            *end = (uintptr_t)*slot;
            end = &(*slot)->place;
            differ |= twi_tick_of(tw, (*slot)->deadline) ^
                      twi_tick_of(tw, ((tw_timer *)list)->deadline);
        }
    *end = 0;
    for (unsigned bit = 0; differ != 0; differ >>= 1, bit++) {
        timer = (tw_timer *)list;
        for (end = &list, ones_end = &ones; timer != NULL; timer = next) {
            bool is_one = twi_tick_of(tw, timer->deadline) >> bit & 1;
            next = (tw_timer *)timer->place;
            *(is_one ? ones_end : end) = (uintptr_t)timer;
            *(is_one ? &ones_end : &end) = &timer->place;
        }
        *ones_end = 0;
        *end = ones;
    }
    timer = (tw_timer *)list;
    bucket->earliest = twi_tick_of(tw, timer->deadline);
    for (slot = bucket->front;; slot = twi_next_slot(slot), timer = next) {
        next = (tw_timer *)timer->place;
        twi_fill_sorted(slot, timer);
        if (next == NULL)
            break;
    }
    bucket->latest = twi_tick_of(tw, timer->deadline);
    twi_truncate(tw, bucket, slot);
}

/* Handles the first bucket of a wheel when memory has run out. */
TWI_COLD void twi_do_without_memory(timingwheel *tw, twi_wheel *wheel)
{
    twi_bucket *bucket = wheel->first;
    uint64_t last = tw->clock_tick | ((UINT64_C(1) << wheel->shift) - 1);
    twi_sort_in_place(tw, bucket);
    if (bucket->earliest > last) {
        twi_append_bucket(tw, bucket, &tw->outside[TWI_STUCK]);
        tw->has_outside = true;
        twi_requeue(tw, wheel);
    } else {
        if (bucket->latest > last)
            bucket->latest = last;
        wheel->progress = TWI_SORTED;
        twi_queue_later(tw, wheel, bucket->earliest);
    }
}

/* --------------------------------------------------------------- firing ---
 * A timer leaves its bucket, and every invariant holds again, before the
 * callback runs. The callback may free the timer. */

/* Sets the clock, in ticks and in time units. */
static inline void twi_set_clock(timingwheel *tw, uint64_t tick, uint64_t now)
{
    tw->clock_tick = tick;
    tw->now = now;
}

/* Moves the clock forward to `tick`; a clock beyond that stays. */
static inline void twi_advance_to(timingwheel *tw, uint64_t tick)
{
    if (tick > tw->clock_tick)
        twi_set_clock(tw, tick, tick * tw->tick);
}

/* Sorts the first bucket of a wheel, or moves the bucket's timers down. */
TWI_NOINLINE void twi_sort_or_cascade(timingwheel *tw, twi_wheel *wheel,
                                      twi_bucket *bucket)
{
    bool is_one_tick = bucket->earliest == bucket->latest;
    if (wheel->progress != TWI_CASCADING &&
        (is_one_tick || twi_sort(tw, bucket))) {
        wheel->progress = TWI_SORTED;
        if (!is_one_tick)
            twi_queue_by_front(tw, wheel, bucket);
        return;
    }
    size_t all = SIZE_MAX;
    enum twi_moved moved =
        twi_move_down(tw, wheel, tw->clock_tick >> wheel->shift, &all);
    if (moved == TWI_MOVED_SOME)
        wheel->progress = TWI_CASCADING;
    else if (moved == TWI_NO_MEMORY)
        twi_do_without_memory(tw, wheel);
}

/* Enters a wheel in the delay queue again after the front slot of the wheel's
 * first bucket has left, or if that slot is dead. `has_more` is false if the
 * bucket is empty. Removes a wheel without timers from the queue. */
static inline void twi_next_front(timingwheel *tw, twi_wheel *wheel,
                                  twi_bucket *bucket, bool has_more)
{
    if (has_more && twi_skip_dead(tw, bucket))
        twi_queue_by_front(tw, wheel, bucket);
    else
        twi_requeue(tw, wheel);
}

/* Handles a front timer that is not due, in a sorted bucket. A timer that was
 * postponed beyond the bucket is placed again. Any other timer has come to the
 * front because timers left: the wheel waits for that timer. */
TWI_NOINLINE void twi_defer_front(timingwheel *tw, twi_wheel *wheel,
                                  twi_bucket *bucket)
{
    tw_timer *timer = *bucket->front;
    if (!twi_is_beyond(bucket, twi_tick_of(tw, timer->deadline)))
        twi_queue_by_front(tw, wheel, bucket);
    else if (twi_place_again(tw, timer))
        twi_next_front(tw, wheel, bucket, twi_pop_front(tw, bucket));
    else
        twi_do_without_memory(tw, wheel);
}

/* Brings the wheel at the head of the delay queue closer to firing.
 * Returns true if the front timer of the wheel's first bucket is due and may
 * fire now. A bucket of one slot needs no sort. Moves the clock; may sort or
 * cascade the bucket, or change the delay queue. */
static inline bool twi_prepare_head(timingwheel *tw, twi_wheel *wheel)
{
    twi_bucket *bucket = wheel->first;
    twi_advance_to(tw, wheel->queue_tick);
    if (twi_is_empty(bucket)) {
        twi_requeue(tw, wheel);
        return false;
    }
    tw_timer *timer = *bucket->front;
    bool is_due = timer != NULL && timer->deadline <= tw->now;
    if (is_due &&
        (wheel->progress == TWI_SORTED || bucket->front + 1 == bucket->back)) {
        TWI_RULE_INTACT(timer, bucket->front);
        return true;
    }
    if (wheel->progress != TWI_SORTED)
        twi_sort_or_cascade(tw, wheel, bucket);
    else if (timer == NULL)
        twi_next_front(tw, wheel, bucket, true);
    else
        twi_defer_front(tw, wheel, bucket);
    return false;
}

/* Takes the front timer out of the first bucket of a wheel, and returns the
 * timer. */
static inline tw_timer *twi_pop_head(timingwheel *tw, twi_wheel *wheel)
{
    twi_bucket *bucket = wheel->first;
    tw_timer *timer = *bucket->front;
    if (bucket->front + 1 == bucket->back) {
        bucket->front++;
        twi_clear_bucket(wheel, bucket);
        twi_requeue(tw, wheel);
    } else {
        twi_next_front(tw, wheel, bucket, twi_pop_front(tw, bucket));
    }
    return timer;
}

/* -------------------------------------------------------------- overdue ---
 * Overdue timers stand in one bucket, in start order. The position of a slot is
 * the number of its chunk times TWI_SLOTS, plus its index.
 *
 * A turn is what one call has to fire: the overdue timers before a position,
 * then the timers of ticks up to `due_until`. Timers that callbacks start
 * overdue stand behind the call's turn, and wait for the next call. What a call
 * with a limit leaves due is a turn of its own, before the turn of the next
 * call. If there are more than TWI_TURNS turns, the last turns become one. */

/* Returns the position of a slot in the overdue bucket. */
TWI_WRAPS static inline size_t twi_position(tw_timer *const *slot)
{
    const twi_chunk *chunk = twi_chunk_of(slot);
    return chunk->number * TWI_SLOTS + (size_t)(slot - chunk->slots);
}

/* True if a slot stands before a position. Positions may wrap. */
TWI_WRAPS static inline bool twi_is_before_position(tw_timer *const *slot,
                                                    size_t position)
{
    return position - twi_position(slot) - 1 < SIZE_MAX / 2;
}

/* True if the first overdue timer stands before a position. */
static inline bool twi_is_overdue_before(const timingwheel *tw, size_t position)
{
    const twi_bucket *overdue = &tw->outside[TWI_OVERDUE];
    return !twi_is_empty(overdue) &&
           twi_is_before_position(overdue->front, position);
}

/* Begins a call that fires up to `target`, while timers may be overdue or
 * stuck. Adds a turn for the call behind the turns that earlier calls have
 * left. */
TWI_COLD void twi_add_turn(timingwheel *tw, uint64_t target)
{
    const twi_bucket *overdue = &tw->outside[TWI_OVERDUE];
    twi_turn *last = &tw->turns[tw->turn_count - 1];
    size_t end = last->overdue_until;
    if (!twi_is_empty(overdue))
        end = twi_position(overdue->back - 1) + 1;
    for (twi_turn *turn = tw->turns; turn <= last; turn++)
        if (turn->due_until > target)
            turn->due_until = target;
    if (last->overdue_until != end && tw->turn_count < TWI_TURNS)
        last = &tw->turns[tw->turn_count++];
    last->overdue_until = end;
    last->due_until = target;
}

enum twi_source { TWI_NOT_DUE, TWI_BY_WHEEL, TWI_BY_OVERDUE, TWI_BY_STUCK };

/* Returns where the next due timer is, while timers may be overdue or stuck.
 * Drops turns of which every timer has fired. */
TWI_COLD enum twi_source twi_find_source_slow(timingwheel *tw)
{
    const twi_bucket *stuck = &tw->outside[TWI_STUCK];
    for (;;) {
        if (twi_is_overdue_before(tw, tw->turns[0].overdue_until))
            return TWI_BY_OVERDUE;
        uint64_t until = tw->turns[0].due_until;
        if (!twi_is_empty(stuck) && stuck->earliest <= until &&
            stuck->earliest <= tw->next_tick)
            return TWI_BY_STUCK;
        if (tw->queued != 0 && tw->next_tick <= until)
            return TWI_BY_WHEEL;
        if (tw->turn_count == 1)
            break;
        tw->turn_count--;
        for (unsigned i = 0; i < tw->turn_count; i++)
            tw->turns[i] = tw->turns[i + 1];
    }
    tw->has_outside =
        !twi_is_empty(&tw->outside[TWI_OVERDUE]) || !twi_is_empty(stuck);
    return TWI_NOT_DUE;
}

/* Returns true if an overdue timer is at the front. Otherwise skips dead slots:
 * the timer behind the dead slots may belong to a later turn. */
TWI_COLD bool twi_prepare_overdue(timingwheel *tw)
{
    twi_bucket *overdue = &tw->outside[TWI_OVERDUE];
    if (*overdue->front != NULL)
        return true;
    (void)twi_skip_dead(tw, overdue);
    return false;
}

/* Brings a stuck timer that is due to the front, and returns true. If none is
 * due, places one stuck timer again if there is memory, and notes when the next
 * stuck timer is due. */
TWI_COLD bool twi_prepare_stuck(timingwheel *tw)
{
    twi_bucket *stuck = &tw->outside[TWI_STUCK];
    bool is_ready = false, is_placed = false;
    uint64_t earliest = UINT64_MAX;
    if (!twi_skip_dead(tw, stuck))
        return false;
    twi_advance_to(tw, stuck->earliest);
    for (tw_timer **slot = stuck->front; slot != stuck->back;
         slot = twi_next_slot(slot)) {
        tw_timer *timer = *slot;
        if (timer == NULL)
            continue;
        TWI_RULE_INTACT(timer, slot);
        uint64_t tick = twi_tick_of(tw, timer->deadline);
        if (!is_ready && !is_placed && tick <= tw->clock_tick) {
            *slot = *stuck->front;
            if (*slot != NULL)
                twi_fill(slot, *slot);
            twi_fill(stuck->front, timer);
            is_ready = true;
        } else if (!is_ready && !is_placed && twi_place_again(tw, timer)) {
            *slot = NULL;
            is_placed = true;
        } else if (tick < earliest) {
            earliest = tick;
        }
        if (earliest <= tw->clock_tick) {
            earliest = stuck->earliest; /* more timers are due */
            break;
        }
    }
    stuck->earliest = earliest;
    return is_ready;
}

/* ------------------------------------------------------------ no spikes ---
 * A large bucket moves down while the clock is in the step before the bucket's
 * own step, in proportion to the time that has passed. So no call has to move
 * the whole bucket, and the rest is small enough to be sorted when the bucket
 * comes up. No timer starts in the bucket meanwhile (see "wheels"). Timers
 * leave from the back, in batches, and keep their order. If the loop sleeps
 * for a whole step, the bucket moves when it comes up. */

/* Returns left * passed / span, rounded up. `passed` is less than `span`. */
static size_t twi_share_of(size_t left, uint64_t passed, uint64_t span)
{
    unsigned bits = twi_highest_bit(span);
    if (bits > 31) { /* 32 bits are exact enough */
        passed >>= bits - 31;
        span >>= bits - 31;
    }
    return (size_t)(((uint64_t)left * passed + span - 1) / span);
}

/* Returns how many chunks of the bucket of a wheel's next step have to be moved
 * down by now. Reduces *look_at to the tick at which to ask again. */
TWI_WRAPS static size_t twi_chunks_ahead(const timingwheel *tw,
                                         const twi_wheel *wheel,
                                         uint64_t *look_at)
{
    uint64_t step_number = (tw->clock_tick >> wheel->shift) + 1;
    uint64_t start = step_number << wheel->shift, at = start;
    const twi_bucket *bucket = &wheel->buckets[step_number & tw->bucket_mask];
    size_t chunks = 0;
    if (!wheel->may_have_large || start < tw->clock_tick)
        return 0; /* there is no next step beyond 64 bits */
    uint64_t from = start - wheel->step;
    bool is_begun = from < wheel->moved_at;
    if (is_begun)
        from = wheel->moved_at;
    if (!twi_is_empty(bucket) && bucket->earliest != bucket->latest) {
        size_t left = twi_last_chunk(bucket)->number -
                      twi_chunk_of(bucket->front)->number + 1;
        if (is_begun || twi_is_large(bucket)) {
            uint64_t span = start - from;
            size_t behind = is_begun ? wheel->behind : 0;
            if (behind > left)
                behind = left;
            chunks = behind +
                     twi_share_of(left - behind, tw->clock_tick - from, span);
            if (chunks < TWI_BATCH && behind == 0)
                chunks = 0;
            if (left > TWI_BATCH) /* after span * TWI_BATCH / left ticks */
                at = from + span / left * TWI_BATCH +
                     span % left * TWI_BATCH / left;
        }
    }
    if (at < *look_at)
        *look_at = at;
    return chunks;
}

/* Moves timers of large buckets down before the buckets come up. A call works
 * on a second wheel only if that wheel is two batches behind. */
TWI_NOINLINE void twi_move_ahead(timingwheel *tw)
{
    uint64_t look_at = UINT64_MAX;
    size_t least = 1;
    for (uint32_t i = 0; i < tw->queued;) {
        twi_wheel *wheel = tw->queue[i++];
        size_t chunks = twi_chunks_ahead(tw, wheel, &look_at);
        if (chunks < least)
            continue;
        uint64_t step_number = (tw->clock_tick >> wheel->shift) + 1;
        if (twi_limit_left(tw) != 0) {
            (void)twi_move_down(tw, wheel, step_number, &chunks);
            wheel->moved_at = tw->clock_tick;
            wheel->behind = twi_limit_left(tw) == 0 ? chunks : 0;
        }
        if (twi_limit_left(tw) == 0)
            return; /* the next call goes on */
        look_at = UINT64_MAX;
        least = (size_t)2 * TWI_BATCH;
        i = 0; /* the queue may have changed */
    }
    tw->ahead_at = look_at;
}

/* --------------------------------------------------- calls that advance ---
 * A call fires overdue timers, then the first timer of the head of the delay
 * queue, again and again, until no timer is due. Then the call moves timers of
 * large buckets ahead. */

/* Returns where the next timer due by the tick `target` is. */
static inline enum twi_source twi_find_source(timingwheel *tw, uint64_t target)
{
    if (TWI_UNLIKELY(tw->has_outside))
        return twi_find_source_slow(tw);
    return tw->next_tick <= target && tw->queued != 0 ? TWI_BY_WHEEL
                                                      : TWI_NOT_DUE;
}

/* The first actions between two timers do not count towards the limit. An
 * action sorts a bucket, for example, or skips dead slots. */
#define TWI_FREE_ACTIONS 4

enum twi_ready { TWI_READY, TWI_ALL_FIRED, TWI_LIMIT_REACHED };

/* Works until the next timer due by `target` is at the front of *source:
 * TWI_READY. TWI_ALL_FIRED: no timer is due. TWI_LIMIT_REACHED: the call may do
 * no more. */
static inline enum twi_ready twi_prepare_next(timingwheel *tw, uint64_t target,
                                              enum twi_source *source)
{
    bool is_ready = false;
    unsigned actions = 0;
    do {
        *source = twi_find_source(tw, target);
        if (*source == TWI_NOT_DUE)
            return TWI_ALL_FIRED;
        if (TWI_UNLIKELY(++actions > TWI_FREE_ACTIONS))
            twi_count_action(tw);
        if (twi_limit_left(tw) == 0)
            return TWI_LIMIT_REACHED;
        if (*source == TWI_BY_WHEEL)
            is_ready = twi_prepare_head(tw, tw->queue[0]);
        else if (*source == TWI_BY_OVERDUE)
            is_ready = twi_prepare_overdue(tw);
        else
            is_ready = twi_prepare_stuck(tw);
    } while (!is_ready);
    return TWI_READY;
}

/* Takes out the timer that is ready, marks the timer fired, and returns it. */
static inline tw_timer *twi_pop_next(timingwheel *tw, enum twi_source source)
{
    tw_timer *timer;
    if (TWI_UNLIKELY(source != TWI_BY_WHEEL)) {
        twi_bucket *bucket =
            &tw->outside[source == TWI_BY_STUCK ? TWI_STUCK : TWI_OVERDUE];
        timer = *bucket->front;
        TWI_RULE_INTACT(timer, bucket->front);
        (void)twi_pop_front(tw, bucket);
    } else {
        timer = twi_pop_head(tw, tw->queue[0]);
    }
    timer->place = TW_FIRED;
    tw->count--;
    tw->handled++;
    return timer;
}

/* Begins a call that handles up to `limit` timers. Returns the tick up to which
 * the call fires. */
TWI_WRAPS static inline uint64_t twi_begin_call(timingwheel *tw, uint64_t now,
                                                size_t limit)
{
    uint64_t target = TWI_UNLIKELY(tw->tick != 1) ? now / tw->tick : now;
    if (target < tw->clock_tick)
        target = tw->clock_tick;
    tw->handled_limit = tw->handled + limit;
    if (TWI_UNLIKELY(tw->has_outside))
        twi_add_turn(tw, target);
    else
        tw->turns[0].due_until = target;
    return target;
}

/* Ends a call that has fired every due timer. Sets the clock to `now`, unless
 * the clock is later. Moves timers ahead, unless no bucket can be large: that
 * takes more timers than can be sorted, or many dead slots. */
static inline void twi_end_call(timingwheel *tw, uint64_t now, uint64_t target)
{
    twi_set_clock(tw, target, now > tw->now ? now : tw->now);
    if (target >= tw->ahead_at &&
        (tw->count > TWI_LARGE_TIMERS || twi_is_sparse(tw)))
        twi_move_ahead(tw);
}

/* Fires the timers due by the tick `target`, and adds their number to *fired.
 * Returns NULL. If `fired` is NULL, takes out one due timer and returns it. */
TWI_NOINLINE tw_timer *twi_run_call(timingwheel *tw, uint64_t now,
                                    uint64_t target, size_t *fired)
{
    enum twi_source source;
    enum twi_ready ready;
    tw->activity = TWI_ADVANCING;
    while ((ready = twi_prepare_next(tw, target, &source)) == TWI_READY) {
        tw_timer *timer = twi_pop_next(tw, source);
        if (fired == NULL) {
            tw->activity = TWI_LIVE;
            return timer;
        }
        ++*fired;
        if (timer->callback != NULL)
            TW_CALL(tw, timer);
    }
    tw->activity = TWI_LIVE;
    if (ready == TWI_ALL_FIRED)
        twi_end_call(tw, now, target);
    return NULL;
}

TW_DEF size_t tw_advance_clock_limit(timingwheel *tw, uint64_t now,
                                     size_t limit)
{
    if (tw == NULL || limit == 0 || twi_is_busy(tw))
        return 0;
    size_t fired = 0;
    uint64_t target = twi_begin_call(tw, now, limit);
    if (twi_find_source(tw, target) != TWI_NOT_DUE)
        (void)twi_run_call(tw, now, target, &fired);
    else
        twi_end_call(tw, now, target);
    return fired;
}

TW_DEF size_t tw_advance_clock(timingwheel *tw, uint64_t now)
{
    return tw_advance_clock_limit(tw, now, SIZE_MAX);
}

TW_DEF tw_timer *tw_poll(timingwheel *tw, uint64_t now)
{
    if (tw == NULL || twi_is_busy(tw))
        return NULL;
    return twi_run_call(tw, now, twi_begin_call(tw, now, SIZE_MAX), NULL);
}

/* -------------------------------------------- next deadline and periods --- */

/* Finds the time at which the next timer is due. Returns false if no timer
 * is pending that the clock can reach. Timers that are being drained do not
 * count. */
static inline bool twi_find_next(const timingwheel *tw, uint64_t *deadline)
{
    uint64_t tick = tw->next_tick;
    if (TWI_UNLIKELY(tw->has_outside))
        for (unsigned i = 0; i < TWI_DRAINED; i++)
            if (!twi_is_empty(&tw->outside[i]) &&
                tw->outside[i].earliest < tick)
                tick = tw->outside[i].earliest;
    if (tw->tick != 1 && tick > UINT64_MAX / tw->tick)
        return false;
    *deadline = tick * tw->tick;
    return tw->count != 0 && (tw->has_outside || tw->queued != 0);
}

TW_DEF bool tw_next_deadline(const timingwheel *tw, uint64_t *deadline)
{
    uint64_t next;
    if (tw == NULL || deadline == NULL || !twi_find_next(tw, &next))
        return false;
    *deadline = next;
    return true;
}

TW_DEF uint64_t tw_wait(const timingwheel *tw, uint64_t now, uint64_t longest)
{
    uint64_t next;
    if (tw == NULL || !twi_find_next(tw, &next))
        return longest;
    if (next <= now || next <= tw->now)
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

/* ------------------------------------------------ visiting and draining ---
 * tw_drain first moves all timers into one bucket outside of the wheels. Timers
 * that a visitor starts go into other buckets. */

TW_DEF size_t tw_foreach(timingwheel *tw, tw_visitor *visit, void *context)
{
    if (tw == NULL || visit == NULL || tw->activity == TWI_VISITING)
        return 0;
    TWI_RULE_READY(tw);
    enum twi_activity before = tw->activity;
    twi_clear_caches(tw); /* tw_start then checks the state */
    tw->activity = TWI_VISITING;
    size_t visited = twi_visit_all(tw, visit, context);
    tw->activity = before;
    return visited;
}

TW_DEF size_t tw_drain(timingwheel *tw, tw_visitor *visit, void *context)
{
    if (tw == NULL || tw->activity == TWI_VISITING)
        return 0;
    TWI_RULE_READY(tw);
    enum twi_activity before = tw->activity;
    size_t drained = 0;
    twi_bucket *bucket = &tw->outside[TWI_DRAINED];
    tw->activity = TWI_ADVANCING;
    while (tw->queued != 0) {
        twi_wheel *wheel = tw->queue[0];
        twi_append_bucket(tw, wheel->first, bucket);
        twi_requeue(tw, wheel);
    }
    for (unsigned i = 0; i < TWI_DRAINED; i++)
        twi_append_bucket(tw, &tw->outside[i], bucket);
    tw->has_outside = false;
    tw->turns[0].due_until = tw->turns[tw->turn_count - 1].due_until;
    tw->turns[0].overdue_until = 0; /* positions start at 0 again */
    tw->turn_count = 1;
    while (!twi_is_empty(bucket)) {
        tw_timer *timer = *bucket->front;
        (void)twi_pop_front(tw, bucket);
        if (timer == NULL)
            continue;
        timer->place = TW_IDLE;
        tw->count--;
        drained++;
        if (visit != NULL)
            visit(timer, context);
    }
    tw->activity = before;
    return drained;
}

/* ---------------------------------------------- trimming and reserving --- */

/* Takes chunks without timers out of their buckets. Frees every slab that has
 * no chunk in a bucket. The caller has cleared the caches. An empty overdue
 * bucket loses its last chunk first, because twi_is_dead is false for that
 * chunk. */
TWI_COLD void twi_trim_slabs(timingwheel *tw)
{
    twi_bucket *overdue = &tw->outside[TWI_OVERDUE];
    while (!twi_is_empty(overdue) && *overdue->front == NULL)
        (void)twi_pop_front(tw, overdue);
    if (twi_is_empty(overdue) && overdue->back != NULL) {
        twi_free_chunk(tw, twi_last_chunk(overdue));
        twi_init_bucket(overdue);
        tw->buckets_used--;
        for (unsigned i = 0; i < tw->turn_count; i++)
            tw->turns[i].overdue_until = 0; /* positions start at 0 again */
    }
    for (twi_slab *slab = tw->slabs; slab != NULL; slab = slab->next)
        for (size_t i = 1; i <= slab->chunks; i++)
            if (twi_is_dead(tw, twi_chunk_in(slab, i)))
                twi_remove_chunk(tw, twi_chunk_in(slab, i));
    tw->unused = NULL;
    for (twi_slab **link = &tw->slabs; *link != NULL;) {
        twi_slab *slab = *link;
        twi_chunk *unused = tw->unused;
        size_t in_use = 0;
        for (size_t i = slab->chunks; i != 0; i--) {
            twi_chunk *chunk = twi_chunk_in(slab, i);
            in_use += chunk->bucket != NULL;
            if (chunk->bucket == NULL) {
                chunk->next = tw->unused;
                tw->unused = chunk;
            }
        }
        if (in_use != 0) {
            link = &slab->next;
        } else {
            tw->unused = unused;
            twi_remove_slab(tw, link);
        }
    }
}

/* Moves the timers of a bucket into unused chunks, in the same order, without
 * dead slots. The caller has provided the chunks, has set in_use and
 * buckets_used to 0, and frees the old chunks. The positions of turns move with
 * the timers. */
TWI_COLD void twi_pack(timingwheel *tw, twi_bucket *bucket)
{
    twi_bucket packed = *bucket;
    size_t before[TWI_TURNS] = {0};
    packed.front = packed.back = NULL;
    for (tw_timer **slot = bucket->front; slot != bucket->back;
         slot = twi_next_slot(slot)) {
        if (*slot == NULL)
            continue;
        if (twi_is_chunk_end(packed.back)) {
            twi_link_chunk(tw, &packed);
            twi_last_chunk(&packed)->bucket = bucket;
        }
        for (unsigned i = 0; i < tw->turn_count; i++)
            before[i] +=
                twi_is_before_position(slot, tw->turns[i].overdue_until);
        (*slot)->place =
            (uintptr_t)packed.back | ((*slot)->place & TWI_SORTED_BIT);
        *packed.back++ = *slot;
    }
    for (unsigned i = 0; i < tw->turn_count; i++)
        if (bucket == &tw->outside[TWI_OVERDUE])
            tw->turns[i].overdue_until = before[i]; /* counted from 0 again */
    if (packed.back != NULL) {
        tw->buckets_used++;
        if (twi_last_chunk(&packed)->number >= TWI_LARGE_CHUNKS / 2)
            twi_expect_large(tw, bucket);
    }
    *bucket = packed;
}

/* Moves all timers into new slabs of the size needed. Changes nothing if
 * every chunk is needed, or if the slabs hold at most 1.4 times the chunks
 * needed (promise 14 allows 1.5). Changes nothing either if there is no memory
 * for the new slabs. */
TWI_COLD void twi_pack_all(timingwheel *tw)
{
    size_t needed = 0, held = 0, at = 0, left, chunks;
    twi_slab *old = tw->slabs, **link = &tw->slabs;
    twi_chunk *unused = tw->unused;
    for (twi_bucket *bucket; (bucket = twi_next_bucket(tw, &at)) != NULL;)
        needed += (twi_count_timers(bucket) + TWI_SLOTS - 1) / TWI_SLOTS;
    for (const twi_slab *slab = old; slab != NULL; slab = slab->next)
        held += slab->chunks + 2; /* plus the slab itself, and alignment */
    if (tw->chunks == needed || held * 5 <= needed * 7)
        return;
    tw->unused = NULL;
    for (left = needed; left != 0; left -= chunks) {
        chunks = left < TWI_MOST_CHUNKS ? left : TWI_MOST_CHUNKS;
        if (twi_add_exact_slab(tw, chunks))
            continue;
        while (tw->slabs != old)
            twi_remove_slab(tw, &tw->slabs);
        tw->unused = unused;
        return;
    }
    tw->in_use = tw->buckets_used = at = 0;
    for (twi_bucket *bucket; (bucket = twi_next_bucket(tw, &at)) != NULL;)
        twi_pack(tw, bucket);
    while (*link != old)
        link = &(*link)->next;
    while (*link != NULL)
        twi_remove_slab(tw, link);
}

TW_DEF void tw_trim(timingwheel *tw)
{
    if (tw == NULL || twi_is_busy(tw))
        return;
    twi_clear_caches(tw);
    tw->reserved = 0;
    twi_trim_slabs(tw); /* now every chunk of a wheel has a timer */
    for (unsigned level = 0; level < TWI_LEVELS; level++) {
        twi_wheel *wheel = tw->wheels[level];
        if (wheel != NULL && wheel->queue_index != TWI_UNQUEUED)
            twi_requeue(tw, wheel);
        if (wheel != NULL && wheel->queue_index == TWI_UNQUEUED)
            twi_remove_wheel(tw, level);
    }
    twi_pack_all(tw);
}

/* Allocates the wheels up to level `top`, and chunks for `timers` timers.
 * Returns false if memory has run out; the caller frees the new memory. Each
 * timer may need a chunk of its own. Sorting needs an eighth more chunks; the
 * extra chunks let a sweep find unused chunks soon. A few more are needed
 * because a moving timer is in two chunks for a moment, and because the overdue
 * bucket keeps a chunk. */
TWI_COLD bool twi_reserve_all(timingwheel *tw, size_t timers, unsigned top)
{
    size_t chunks = timers + timers / 8 + 8;
    for (unsigned level = 0; level <= top; level++)
        if (tw->wheels[level] == NULL && twi_add_wheel(tw, level) == NULL)
            return false;
    while (tw->chunks < chunks)
        if (!twi_add_slab(tw, chunks - tw->chunks))
            return false;
    return true;
}

TW_DEF int tw_reserve(timingwheel *tw, size_t timers, uint64_t horizon)
{
    if (tw == NULL || tw->activity == TWI_DESTROYED)
        return TW_EINVAL;
    TWI_RULE_READY(tw);
    if (timers > SIZE_MAX / TWI_CHUNK_BYTES / 2)
        return TW_ENOMEM;
    uint64_t tick = twi_tick_of(tw, horizon), had = 0;
    twi_chunk *unused = tw->unused;
    const twi_slab *slabs = tw->slabs;
    for (unsigned level = 0; level <= tw->level_of[63]; level++)
        had |= (uint64_t)(tw->wheels[level] != NULL) << level;
    if (twi_reserve_all(tw, timers,
                        tick <= tw->clock_tick ? 0 : twi_level_of(tw, tick))) {
        if (tw->reserved < timers)
            tw->reserved = timers;
        return TW_OK;
    }
    while (tw->slabs != slabs)
        twi_remove_slab(tw, &tw->slabs);
    tw->unused = unused;
    for (unsigned level = 0; level <= tw->level_of[63]; level++)
        if (tw->wheels[level] != NULL && (had >> level & 1) == 0)
            twi_remove_wheel(tw, level);
    return TW_ENOMEM;
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

TW_DEF uint64_t tw_remaining(const tw_timer *timer, uint64_t now)
{
    if (timer == NULL || !twi_is_pending(timer) || timer->deadline <= now)
        return 0;
    return timer->deadline - now;
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

/* True if a bucket holds a timer. */
TWI_COLD bool twi_has_timers(const twi_bucket *bucket)
{
    tw_timer **slot = bucket->front;
    while (slot != bucket->back && *slot == NULL)
        slot = twi_next_slot(slot);
    return slot != bucket->back;
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
    stats->fired = tw->handled - tw->cascaded;
    stats->cascaded = tw->cascaded;
    stats->bytes_held = tw->bytes_held;
    stats->bytes_used = tw->in_use * TWI_CHUNK_BYTES;
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (tw->wheels[level] != NULL) {
            stats->wheels++;
            stats->bytes_used += twi_wheel_bytes(tw);
            for (size_t i = 0; i <= tw->bucket_mask; i++)
                stats->buckets +=
                    twi_has_timers(&tw->wheels[level]->buckets[i]);
        }
    for (unsigned i = 0; i < TWI_OUTSIDE_BUCKETS; i++)
        stats->buckets += twi_has_timers(&tw->outside[i]);
}

/* Passes the line `words` to `write`, with the next of `numbers` in place of
 * each %. The caller's line has at most 100 columns, even with numbers of 20
 * digits. */
TWI_COLD void twi_write_line(tw_writer *write, void *context, const char *words,
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

/* Draws a wheel in two lines. The first line shows the wheel's step and ticks.
 * The second line shows the buckets from the clock's own on, and the number of
 * timers. With more than 64 buckets one sign stands for several. */
TWI_WRAPS TWI_COLD void twi_draw_wheel(const timingwheel *tw,
                                       const twi_wheel *wheel, tw_writer *write,
                                       void *context)
{
    static const char signs[] = ".123456789+#", tail[] = "] holds %";
    char row[1 + 64 + sizeof(tail)] = "[";
    uint32_t i = 0, from = twi_index_of(tw, wheel, tw->clock_tick), end = 1;
    uint64_t step = (uint64_t)1 << wheel->shift;
    uint64_t own = tw->clock_tick & ~(step - 1);
    uint64_t span = (uint64_t)tw->bucket_mask << wheel->shift | (step - 1);
    uint64_t numbers[] = {wheel->level, step, own, tw_after(own, span)};
    twi_write_line(write, context, "wheel %: step %, ticks % to %", numbers);
    for (numbers[0] = 0; i <= tw->bucket_mask;) {
        size_t count = 0;
        do {
            const twi_bucket *bucket =
                &wheel->buckets[(from + i++) & tw->bucket_mask];
            count += twi_count_timers(bucket);
        } while (i % (tw->bucket_mask / 64 + 1) != 0);
        row[end++] = signs[count < 10 ? count : count < 100 ? 10 : 11];
        numbers[0] += count;
    }
    for (i = 0; i < sizeof(tail); i++)
        row[end++] = tail[i];
    twi_write_line(write, context, row, numbers);
}

TW_DEF void tw_dump(const timingwheel *tw, tw_writer *write, void *context)
{
    tw_stats stats;
    if (write == NULL)
        return;
    if (tw == NULL || tw->activity == TWI_DESTROYED) {
        write("no wheel: NULL, or destroyed", context);
        return;
    }
    tw_get_stats(tw, &stats);
    uint64_t numbers[] = {tw->now,          tw->clock_tick,   tw->tick,
                          stats.pending,    stats.fired,      stats.cascaded,
                          stats.bytes_held, stats.bytes_used, stats.buckets};
    twi_write_line(write, context, "clock: % (tick %, of % time units)",
                   numbers);
    twi_write_line(write, context, "% pending, % fired, % cascaded",
                   numbers + 3);
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (tw->wheels[level] != NULL)
            twi_draw_wheel(tw, tw->wheels[level], write, context);
    for (uint32_t rank = 0; rank < tw->queued; rank++)
        for (uint32_t i = 0, j, before = 0; i < tw->queued; i++, before = 0) {
            for (j = 0; j < tw->queued; j++)
                before += twi_is_before(tw->queue[j], tw->queue[i]);
            numbers[0] = tw->queue[i]->level;
            numbers[1] = tw->queue[i]->queue_tick;
            if (before == rank)
                twi_write_line(write, context, "queue: wheel % at tick %",
                               numbers);
        }
    numbers[0] = 0;
    for (unsigned i = 0; i < TWI_OUTSIDE_BUCKETS; i++)
        numbers[0] += twi_count_timers(&tw->outside[i]);
    twi_write_line(write, context, "in no wheel: %, overdue or postponed",
                   numbers);
    twi_write_line(write, context, "memory: % bytes, % used; % buckets",
                   numbers + 6);
}

/* What tw_check has counted, to compare with the fields of the timingwheel. */
typedef struct twi_seen {
    size_t timers;
    size_t chunks;  /* in buckets */
    size_t buckets; /* with a chunk */
} twi_seen;

/* True if each timer in the slots from `slot` to before `end` knows its slot,
 * and no timer's tick is before `earliest`. Counts the timers in *seen. */
TWI_COLD bool twi_slots_are_sound(const timingwheel *tw, tw_timer **slot,
                                  tw_timer **end, uint64_t earliest,
                                  twi_seen *seen)
{
    for (; slot != end; slot++) {
        if (*slot == NULL)
            continue;
        if (twi_slot_of(*slot) != slot ||
            twi_tick_of(tw, (*slot)->deadline) < earliest)
            return false;
        seen->timers++;
    }
    return true;
}

/* True if the slots of a bucket are sound, its chunks are linked correctly, and
 * the numbers of the chunks rise. Only a chunk that is alone may have no slot
 * in use. A bucket without a chunk must have no front. Counts timers, chunks
 * and buckets in *seen. */
TWI_WRAPS TWI_COLD bool twi_bucket_is_sound(const timingwheel *tw,
                                            const twi_bucket *bucket,
                                            uint64_t earliest, twi_seen *seen)
{
    const twi_chunk *prev = NULL;
    if (bucket->back == NULL || twi_is_chunk_end(bucket->front))
        return bucket->front == NULL;
    seen->buckets++;
    for (twi_chunk *chunk = twi_chunk_of(bucket->front), *next; chunk != NULL;
         prev = chunk, chunk = next) {
        tw_timer **slot = prev == NULL ? bucket->front : chunk->slots;
        tw_timer **end = chunk->slots + TWI_SLOTS;
        next = chunk->next;
        if (next == NULL)
            end = bucket->back;
        if (chunk->prev != prev || chunk->bucket != bucket ||
            twi_chunk_of(end - 1) != chunk || end < slot ||
            (prev != NULL && (end == slot || chunk->number - prev->number - 1 >=
                                                 SIZE_MAX / 2)) ||
            !twi_slots_are_sound(tw, slot, end, earliest, seen))
            return false;
        seen->chunks++;
    }
    return true;
}

/* True if the timers of a sorted bucket are in order of tick. Timers beyond the
 * bucket may have any tick. Each timer needs TWI_SORTED_BIT, unless the bucket
 * has one tick. */
TWI_COLD bool twi_order_is_sound(const timingwheel *tw,
                                 const twi_bucket *bucket)
{
    uint64_t last = 0;
    for (tw_timer **slot = bucket->front; slot != bucket->back;
         slot = twi_next_slot(slot)) {
        if (*slot == NULL)
            continue;
        uint64_t tick = twi_tick_of(tw, (*slot)->deadline);
        if (bucket->earliest < bucket->latest &&
            ((*slot)->place & TWI_SORTED_BIT) == 0)
            return false;
        if (tick > bucket->latest)
            continue;
        if (tick < last)
            return false;
        last = tick;
    }
    return true;
}

/* True if bucket `index` fits its wheel. A bucket without a span must be empty.
 * A bucket with a span needs its mark. The span must be in one step of the
 * wheel's window, and not before queue_tick. A first bucket must be sorted if
 * the wheel's progress is TWI_SORTED. */
TWI_COLD bool twi_bucket_fits(const timingwheel *tw, twi_wheel *wheel,
                              uint32_t index)
{
    const twi_bucket *bucket = &wheel->buckets[index];
    uint64_t ahead =
        (bucket->earliest >> wheel->shift) - (tw->clock_tick >> wheel->shift);
    if (bucket->earliest > bucket->latest)
        return twi_is_empty(bucket);
    if (bucket == wheel->first && wheel->progress == TWI_SORTED &&
        !twi_order_is_sound(tw, bucket))
        return false;
    return (twi_marks(wheel)[index / 64] >> (index % 64) & 1) != 0 &&
           twi_index_of(tw, wheel, bucket->earliest) == index &&
           (bucket->earliest ^ bucket->latest) >> wheel->shift == 0 &&
           ahead <= tw->bucket_mask && bucket->earliest >= wheel->queue_tick;
}

/* True if the buckets of a wheel are sound, and the wheel is in the delay queue
 * with the first bucket that has a mark. A wheel without marks must not be in
 * the queue, and must not be the wheel of the last start. If a bucket may be
 * large, timers must move ahead by the wheel's next step. */
TWI_WRAPS TWI_COLD bool twi_wheel_is_sound(const timingwheel *tw,
                                           twi_wheel *wheel, twi_seen *seen)
{
    uint32_t first;
    for (uint32_t i = 0; i <= tw->bucket_mask; i++) {
        const twi_bucket *bucket = &wheel->buckets[i];
        if (!twi_bucket_is_sound(tw, bucket, bucket->earliest, seen) ||
            !twi_bucket_fits(tw, wheel, i))
            return false;
    }
    uint64_t next_step = ((tw->clock_tick >> wheel->shift) + 1) << wheel->shift;
    if (!twi_find_mark(tw, wheel, &first))
        return wheel->queue_index == TWI_UNQUEUED && tw->last_wheel != wheel;
    if (wheel->may_have_large && next_step > tw->clock_tick &&
        tw->ahead_at > next_step)
        return false;
    return wheel->first == &wheel->buckets[first] &&
           wheel->queue_index < tw->queued &&
           tw->queue[wheel->queue_index] == wheel;
}

/* True if the delay queue is a heap of `wheels` wheels, and next_tick is the
 * tick of its head. */
TWI_COLD bool twi_queue_is_sound(const timingwheel *tw, size_t wheels)
{
    if (tw->queued != wheels)
        return false;
    for (uint32_t i = 1; i < tw->queued; i++)
        if (twi_is_before(tw->queue[i], tw->queue[(i - 1) / 2]))
            return false;
    return tw->next_tick ==
           (wheels == 0 ? UINT64_MAX : tw->queue[0]->queue_tick);
}

TW_DEF bool tw_check(const timingwheel *tw)
{
    twi_seen seen = {0, 0, 0};
    size_t wheels = 0;
    bool has_outside = false;
    if (tw == NULL || tw->self != tw)
        return false;
    for (unsigned level = 0; level < TWI_LEVELS; level++) {
        twi_wheel *wheel = tw->wheels[level];
        if (wheel == NULL)
            continue;
        if (!twi_wheel_is_sound(tw, wheel, &seen))
            return false;
        wheels += wheel->queue_index != TWI_UNQUEUED;
    }
    for (unsigned i = 0; i < TWI_OUTSIDE_BUCKETS; i++)
        if (!twi_bucket_is_sound(tw, &tw->outside[i], 0, &seen))
            return false;
    for (unsigned i = 0; i < TWI_DRAINED; i++)
        has_outside |= !twi_is_empty(&tw->outside[i]);
    if (seen.timers != tw->count || seen.chunks != tw->in_use ||
        seen.buckets != tw->buckets_used)
        return false;
    for (const twi_chunk *chunk = tw->unused; chunk; chunk = chunk->next) {
        seen.chunks++;
        if (chunk->bucket != NULL)
            return false;
    }
    if (tw->last_wheel != NULL &&
        (tw->tick != 1 || tw->max_pending != SIZE_MAX))
        return false;
    return seen.chunks == tw->chunks && twi_queue_is_sound(tw, wheels) &&
           (tw->has_outside || (!has_outside && tw->turn_count == 1));
}

/* -------------------------------------------------------------- mailbox ---
 *
 * A request is one word of a remote: the deadline of a start, a cancel, or
 * nothing. Only an atomic exchange changes the word. So each request is taken
 * once. Either a later post replaces the request, or the collector applies the
 * request. Cancel and nothing take two of the 2^64 values. A start for either
 * value is rounded up.
 *
 *              post; the poster pushes           post, not pushed
 *     NOTHING ----------------------------> ON ITS WAY <------.
 *        '----------------------------------'      '----------'
 *              the collector, off the list
 *
 * A remote with a request is in a list, or one thread is about to push the
 * remote. A poster that finds a pending request must not touch the remote
 * again.
 *
 * NO REQUEST IS LOST. A post and the collector may meet at a remote. If the
 * post exchanges first, the collector applies the request of the post. If the
 * collector exchanges first, the post finds nothing, and pushes the remote for
 * the next tw_collect. A refused start returns into the word if the word is
 * still nothing. Otherwise a later post has replaced the start.
 *
 * MEMORY ORDERS. The exchange of a request acquires and releases, with
 * two effects:
 *
 *   - A post publishes all earlier writes of its thread to the collector, even
 *     if later posts replace the request.
 *   - The collector reads `next` before its exchange. So the read comes before
 *     the next poster that finds nothing writes `next`.
 *
 * A push releases `next`. The collector acquires `next` with the list: each
 * push is a read-modify-write, and continues the release sequence. The return
 * of a refused start publishes nothing.
 *
 * NO WAKE-UP IS LOST. `posted` changes in one order. The first push after the
 * collector has taken the list finds NULL, so the pushing thread wakes the
 * loop. The loop clears the wake-up before the loop takes the list. So either
 * the wake-up is still there, or the loop is about to collect. The wake-up (a
 * write to an eventfd, and the read) orders the push before the collecting. */
#ifdef TIMINGWHEEL_THREADS

#define TWI_CANCEL (UINT64_MAX - 1) /* requests other than starts */
#define TWI_NOTHING (UINT64_MAX - 2)

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
    box->waiting = NULL;
}

TW_DEF void tw_remote_init(tw_remote *remote, tw_callback *callback)
{
    if (remote == NULL)
        return;
    tw_timer_init(&remote->timer, callback);
    atomic_store_explicit(&remote->request, TWI_NOTHING, TWI_RELAXED);
    remote->next = NULL;
}

/* Exchanges the request of a remote. If there was no request, pushes the remote
 * onto the mailbox. The push into an empty mailbox wakes the loop. Ignored if
 * `box` or `remote` is NULL. After the push, or if there was a request, the
 * poster must not touch the remote again: the remote may be freed. */
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
    if (deadline == TWI_CANCEL || deadline == TWI_NOTHING)
        deadline = UINT64_MAX;
    twi_post(box, remote, deadline);
}

TW_DEF void tw_post_cancel(tw_mailbox *box, tw_remote *remote)
{
    twi_post(box, remote, TWI_CANCEL);
}

/* Applies the request of a remote that has left its list. Returns false if the
 * wheel refused the start, and no request was posted meanwhile: the start is
 * again the remote's request, and waits. */
static bool twi_apply(timingwheel *tw, tw_remote *remote)
{
    uint64_t nothing = TWI_NOTHING;
    uint64_t request = atomic_exchange_explicit(&remote->request, nothing,
                                                TWI_ACQUIRE_RELEASE);
    if (request == TWI_CANCEL) {
        (void)tw_cancel(tw, &remote->timer);
        return true;
    }
    if (tw_start(tw, &remote->timer, request) == TW_OK)
        return true;
    return !atomic_compare_exchange_strong_explicit(
        &remote->request, &nothing, request, TWI_RELAXED, TWI_RELAXED);
}

/* Reverses a list. Returns the new first remote. */
static tw_remote *twi_reverse(tw_remote *remote)
{
    tw_remote *turned = NULL;
    while (remote != NULL) {
        tw_remote *next = remote->next;
        remote->next = turned;
        turned = remote;
        remote = next;
    }
    return turned;
}

/* Applies the requests of a list that is newest first, from the oldest on. Adds
 * refused starts to box->waiting. Returns how many starts were added. */
static size_t twi_apply_all(tw_mailbox *box, tw_remote *last)
{
    size_t refused = 0;
    tw_remote *remote = twi_reverse(last);
    while (remote != NULL) {
        /* After twi_apply a poster may push the remote again. */
        tw_remote *next = remote->next;
        if (!twi_apply(box->tw, remote)) {
            remote->next = box->waiting;
            box->waiting = remote;
            refused++;
        }
        remote = next;
    }
    return refused;
}

TW_DEF size_t tw_collect(tw_mailbox *box)
{
    if (box == NULL)
        return 0;
    tw_remote *refused = box->waiting;
    tw_remote *posted =
        atomic_exchange_explicit(&box->posted, (tw_remote *)NULL, TWI_ACQUIRE);
    box->waiting = NULL;
    size_t waiting = twi_apply_all(box, refused);
    return waiting + twi_apply_all(box, posted);
}

TW_DEF bool tw_remote_settled(const tw_remote *remote)
{
    return remote == NULL ||
           atomic_load_explicit(&remote->request, TWI_RELAXED) == TWI_NOTHING;
}

#endif /* TIMINGWHEEL_THREADS */

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif /* TIMINGWHEEL_IMPLEMENTATION */

/* CHANGES

   1.2.0  2026-11-25  No spikes: large buckets cascade ahead of time. A cancel
                      is one store. What a limited call leaves due fires before
                      timers that were started overdue since. A timer that the
                      clock cannot reach wakes nobody. tw_trim packs. tw_reserve
                      takes less memory. New: tw_remaining, TW_CALL, TW_OWNER
                      for const.
   1.1.0  2026-11-24  Overdue timers fire first, in the order in which they were
                      started. To postpone an overdue timer is to start the
                      timer. The next deadline may be early after a cancel. New:
                      TW_OWNER, tw_dump, the mailbox. tw_next_deadline and
                      tw_wait take a const timingwheel. The core is rewritten.
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
