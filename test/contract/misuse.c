/* misuse.c - misuse that a build with TW_DEBUG detects. Each kind of misuse
 * prints one line on standard error, which says the mistake and the remedy, and
 * ends in abort. What is allowed, but most likely a mistake, prints a hint, and
 * the program goes on. NDEBUG makes no difference.
 *
 *     misuse [CASE...]
 *
 * A row is a text in the language of script.h, with | between its lines. A
 * number up to 999 is a timer, too. More commands:
 *
 *     many 64 320         starts timers 0 to 63 at 320 to 327
 *     copy a h            copies the bytes of a timer
 *     damage b            one run for each way of `damages`
 *     call, null          one run for each line of `calls`, of `nulls`
 *     allocator: call     the action of TW_MALLOC and TW_FREE
 *     on other            the next commands are for a second timingwheel; on
 *                         none: for NULL; on first: for the usual one
 *     start none 10       NULL in place of a timer
 *     post 10             requests the start of a remote; post_cancel; collect
 *     never_init a        a timer of any bytes; initialiser a; zero_timer a;
 *                         no_callback a; clear_wheel; fill_wheel; wait;
 *                         next_deadline; get_stats; dump; find
 *     no_visitor          tw_foreach with NULL; no_matcher; no_deadline;
 *                         no_stats; no_writer
 *     leave_call a        its callback jumps out of the call
 *     tw_init 48          with this wheel_size
 *     swap_copies         `other` takes the place of `first`, now `copy`
 *
 * Here a handler of SIGABRT jumps out of the library. No case uses the
 * timingwheel afterwards, and the memory of the wheels is an array, so that
 * nothing leaks.
 *
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L
#define NDEBUG
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "../lib/tap.h"

static union {
    unsigned char bytes[1 << 20];
    uint64_t align;
} memory;
static size_t memory_used;
static const char *allocator; /* the action of TW_MALLOC and TW_FREE */
static void script_run_action(const char *action);

static void *take(size_t size)
{
    void *block = memory.bytes + memory_used;
    script_run_action(allocator);
    memory_used += (size + 63) / 64 * 64;
    return memory_used <= sizeof memory.bytes ? block : NULL;
}

#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) \
    ((void)(context), (void)(pointer), script_run_action(allocator))
#define TW_DEBUG
#undef TW_ASSERT
#define TW_STATIC
/* tcc has no atomics, and coverage measures the mailbox in one program. */
#if !defined(__TINYC__) && !defined(ONE_MAILBOX)
#define TIMINGWHEEL_THREADS
#endif
#define SCRIPT_MORE
#define SCRIPT_TIMER tw_timer
#define SCRIPT_TIMER_INIT tw_timer_init
#define SCRIPT_TIMERS 1000
#include "script.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static timingwheel other, copy;
#ifdef TIMINGWHEEL_THREADS
static tw_mailbox box;
static tw_remote remote;
#endif

static void set_up(void)
{
    static const tw_config config = {1, 0, 16, 0, NULL};
    memset(&script, 0, sizeof script);
    script_file = "misuse.c";
    script_wheel = &script.tw;
    allocator = NULL;
    memory_used = 0;
    tw_init(&script.tw, &config);
    tw_init(&other, &config);
#ifdef TIMINGWHEEL_THREADS
    tw_remote_init(&remote, script_on_fire);
#endif
    for (size_t i = 0; i < SCRIPT_TIMERS; i++)
        tw_timer_init(script_timer_at(i), script_on_fire);
}

/* ---------------------------------- what a row damages, and which calls --- */

static void zero(tw_timer *timer)
{
    memset(timer, 0, sizeof *timer);
}

static void initialise(tw_timer *timer)
{
    tw_timer_init(timer, NULL);
}

/* Overwrites a timer with another pending timer. */
static void overwrite(tw_timer *timer)
{
    tw_start(&script.tw, script_timer_at(999), 4000);
    *timer = *script_timer_at(999);
}

/* What malloc writes into freed memory. */
static void scribble(tw_timer *timer)
{
    memset(timer, 0xa5, 2 * sizeof(void *));
}

static void initialise_and_start(tw_timer *timer)
{
    tw_timer_init(timer, NULL);
    tw_start(&script.tw, timer, 4000);
}

static void (*const damages[])(tw_timer *) = {zero, initialise, overwrite,
                                              scribble, initialise_and_start};
static void (*damage)(tw_timer *);

/* The timer that the line names: that of `damage`, `copy` or `post`, else a. */
static const tw_timer *blamed;

/* TW_MALLOC and TW_FREE must make none of the calls. Callbacks and visitors
 * must make none of the REFUSED calls from the second on. The first two are
 * allowed before tw_init and after tw_destroy, if the timer is not pending. */
static const char *const calls[] = {"cancel a",
                                    "destroy",
                                    "advance 20",
                                    "limit 5 20",
                                    "poll 20",
                                    "trim",
                                    "start f 10",
                                    "postpone a 500",
                                    "start_after f 0 10",
                                    "move a b",
                                    "reserve 100000",
                                    "drain",
                                    "postpone_after a 0 9",
                                    "foreach"};
#define REFUSED 5
#define CALLS LENGTH(calls)

/* The last command of each has NULL in place of a timingwheel or a timer. */
enum { NULL_WHEELS = 15, NULL_TIMERS = 8 };
static const char nulls[] =
    "on none; tw_init 2\non none; start a 10\non none; within a 5 9\n"
    "on none; postpone a 10\non none; start_after a 0 10\n"
    "on none; postpone_after a 0 5\nstart a 10; on none; cancel a\n"
    "start a 10; on none; move a b\non none; advance 10\n"
    "on none; limit 5 10\non none; poll 10\non none; reserve 10\n"
    "on none; trim\non none; foreach\non none; drain\n"
    "init none\nstart none 10\nwithin none 5 9\npostpone none 10\n"
    "start_after none 0 10\npostpone_after none 0 10\nmove none b\n"
    "start a 10; move a none";

static size_t call; /* in `calls`, or in `nulls` */

static jmp_buf left;

static void jump_out(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel, (void)timer;
    longjmp(left, 1);
}

/* A callback jumps out of the call. */
static void leave_call(timingwheel *wheel, tw_timer *timer)
{
    tw_timer_init(timer, jump_out);
    tw_start(wheel, timer, 10);
    if (setjmp(left) == 0)
        tw_advance_clock(wheel, 10);
}

/* ------------------------------------------------------------- the rows --- */

/* A kind of misuse, or of a hint. The line on standard error contains `words`,
 * the mistake and the remedy, where * stands for any text; NULL: there is no
 * line. A row runs once per damage or per call, or once. */
typedef struct kind {
    const char *words;
    int marks;          /* TIMER, HINT, both or 0 */
    size_t runs, first; /* `first`: in `calls`, or in `nulls` */
} kind;

enum {
    TIMER = 1, /* the line names a timer and its callback */
    HINT = 2   /* the program goes on */
};

static const kind
    damaged = {"freed, *moved or overwritten: cancel it first, or use tw_move",
               TIMER, LENGTH(damages), 0},
    elsewhere = {"pending on another timingwheel*: cancel it before that",
                 TIMER, 1, 0},
    no_wheel = {"the timingwheel is NULL: pass", 0, NULL_WHEELS, 0},
    no_timer = {"the timer is NULL: pass", 0, NULL_TIMERS, NULL_WHEELS},
    no_visitor = {"the visitor is NULL: pass", 0, 1, 0},
    no_matcher = {"the matcher is NULL: pass", 0, 1, 0},
    no_writer = {"the writer is NULL: pass", 0, 1, 0},
    no_result = {"the result is NULL: pass", 0, 1, 0},
    out_of_range = {"wheel_size must be a power of two", 0, 1, 0},
    set_up_again = {"tw_init was called again: *destroy", TIMER, 1, 0},
    into_pending = {"tw_move into a pending timer: cancel that timer", TIMER, 1,
                    0},
    uninitialised = {"was never initialised: call tw_timer_init", TIMER, 1, 0},
    other_cancelled = {"visitor has cancelled a timer that is not the visited "
                       "one: take tw_drain",
                       0, 1, 0},
    inside = {"must not advance, poll, trim or destroy*: do it after the call",
              0, REFUSED, 1},
    left_before = {"longjmp, or by an exception through C", 0, REFUSED, 1},
    allocating = {"TW_MALLOC or TW_FREE uses its timingwheel: do not call tw_ "
                  "functions from the allocator",
                  0, CALLS, 0},
    unready = {"before tw_init or after tw_destroy*: keep it where", 0,
               CALLS - 2, 2},
    copied = {"moved or copied: keep it where", 0, CALLS - 1, 1},
    astray = {"before tw_init or after tw_destroy, or was moved*: keep it", 0,
              1, 0},
    asking = {"do not call tw_ functions from the allocator", 0, 1, 0},
    delay = {"a delay? Add a reading", TIMER + HINT, 1, 0},
    old_now = {"an old `now`, or another unit? Pass the latest reading",
               TIMER + HINT, 1, 0},
    negative = {"a negative number? Pass 0", TIMER + HINT, 1, 0},
    too_short =
        {"far shorter than a tick*another unit? *shorter tw_config.tick",
         TIMER + HINT, 1, 0},
    window = {"`latest` lies before `earliest`: a difference below 0?",
              TIMER + HINT, 1, 0},
    set_back = {"set back? Read one monotonic clock", HINT, 1, 0},
    silent = {"without a callback has fired: call tw_timer_init", TIMER + HINT,
              1, 0},
    no_hint = {NULL, HINT, 1, 0};

/* The line on standard error ends with the function of the last command. */
typedef struct row {
    const kind *kind;
    const char *name; /* the lines, with | between them */
} row;

static const row rows[] = {
    {&damaged, "start a 10; damage a; advance 10"},
    {&damaged, "many 3 8; damage b; advance 10"},
    {&damaged, "start a 99, b 99; damage b; poll 99"},
    {&damaged, "start a 0, b 0; damage b; advance 0"},
    {&damaged, "start a 10, b 10; damage b; cancel a"},
    {&damaged, "start a 10, b 10; damage a; cancel b"},
    {&damaged, "start a 10, b 10; damage b; start a 12"},
    {&damaged, "start a 10, b 10; damage b; move a h"},
    {&damaged, "start a 10; damage a; start b 10"},
    {&damaged, "start a 10, b 10; damage b; foreach"},
    {&damaged, "start a 10; damage a; find"},
    {&damaged, "start a 10, b 10, c 10; damage b; find"},
    {&damaged, "many 8 304; damage a; foreach"},
    {&damaged, "many 8 304; damage e; foreach"},
    {&damaged, "visitor: damage b|many 9 304; drain"},
    {&damaged, "start a 10, b 10; damage b; drain"},
    {&damaged, "many 3 304; damage b; destroy"},
    {&damaged, "many 8 304; damage a; advance 320"},
    {&damaged, "many 8 304; damage e; advance 320"},
    {&damaged, "many 64 320; damage 62; advance 320"},
    {&damaged,
     "many 64 320; advance 312; start 64 320; damage 64; limit 8 320"},
    {&damaged,
     "many 990 512; damage 988; advance 256; repeat 3 advance now+80"},
    {&damaged,
     "many 990 512; damage 989; advance 256; repeat 3 advance now+80"},
    {&damaged, "in a: start f 20|start a 10, b 20; damage b; advance 10"},
    {&damaged, "in a: start f 20|start a 10, b 11; damage b; advance 11"},
    {&damaged, "visitor: start f 20; damage b|start a 10, b 10; drain"},
    {&elsewhere, "start a 10; on other; start a 10"},
    {&elsewhere,
     "start b 9999; on other; start a 9999; on first; within a 100000 200000"},
    {&elsewhere, "start a 0; on other; start a 10"},
    {&elsewhere, "start a 10; on other; postpone a 20"},
    {&elsewhere, "start a 10; on other; cancel a"},
    {&elsewhere, "start a 10; on other; move a b"},
    {&set_up_again, "start a 10; tw_init 2; start a 20"},
    {&set_up_again, "start a 10; tw_init 2; cancel a"},
    {&damaged, "start a 10, b 10; copy a h; cancel h"},
    {&damaged, "start a 10, b 10; copy a h; postpone h 20"},
    {&set_up_again, "start a 10; copy a h; advance 10: a; start h 20"},
    {&into_pending, "start a 10, b 10; move b a"},
    {&uninitialised, "never_init a; start a 10"},
    {&uninitialised, "never_init a; postpone a 10"},
    {&uninitialised, "never_init a; cancel a"},
    {&other_cancelled, "visitor: cancel b|start a 10, b 10; foreach"},
    {&other_cancelled, "visitor: cancel b; init b|start a 10, b 10; foreach"},
    {&other_cancelled, "visitor: cancel c|start a 10, b 10, c 10; foreach"},
    {&other_cancelled,
     "visitor: cancel self, c|start a 10, b 10, c 11; foreach"},
    {&other_cancelled, "visitor: cancel z|start z 20, a 10, b 10; foreach"},
    {&no_hint,
     "visitor: cancel self; init self|start a 10, b 10, c 5000; foreach = 3"},
    {&no_hint, "visitor: move self self+5; cancel self+5|start a 10, b 10, c "
               "5000; foreach = 3"},
    {&no_hint,
     "visitor: postpone self 9000|start a 10, b 10, c 5000; foreach = 3"},
    {&inside, "in a: call|start a 10; advance 10"},
    {&inside, "visitor: call|start a 10; foreach"},
    {&inside, "visitor: call|start a 10, b 10; drain"},
    {&left_before, "leave_call a; call"},
    {&allocating, "start a 10|allocator: call|start j 100"},
    {&allocating, "start a 10, j 100; cancel j|allocator: call|trim"},
    {&unready, "clear_wheel; call"},
    {&unready, "destroy; call"},
    {&copied, "start a 10; on other; start b 10; on first; swap_copies; call"},
    {&copied, "swap_copies; on copy; start a 10"},
    {&astray, "fill_wheel; start a 10"},
    {&astray, "fill_wheel; wait 0 5"},
    {&astray,
     "start a 10; on other; start b 10; on first; swap_copies; next_deadline"},
    {&astray, "fill_wheel; get_stats"},
    {&astray, "fill_wheel; dump"},
    {&astray, "fill_wheel; find"},
    {&asking, "start a 10|allocator: wait 0 5|start j 100"},
    {&out_of_range, "tw_init 1"},
    {&out_of_range, "tw_init 48"},
    {&out_of_range, "tw_init 8192"},
    {&no_wheel, "null # a timingwheel"},
    {&no_timer, "null # a timer"},
    {&no_visitor, "start a 10; no_visitor"},
    {&no_matcher, "start a 10; no_matcher"},
    {&no_result, "start a 10; no_deadline"},
    {&no_result, "start a 10; no_stats"},
    {&no_writer, "start a 10; no_writer"},
    {&delay, "timingwheel start 99; start a 30"},
    {&delay, "timingwheel start 99; within a 20 30"},
    {&delay, "timingwheel start 99; start a 200; postpone a 30"},
    {&delay, "timingwheel start 99; start a 0; postpone a 30 # tw_postpone to "
             "a later delay"},
    {&delay, "timingwheel start 99; within a 30 150 # a window is judged by "
             "its beginning"},
    {&delay, "timingwheel start 99; start a 20; postpone a 30; start b 49 # "
             "the second delay of a timingwheel says nothing"},
    {&old_now, "timingwheel start 99; start_after a 9 5"},
    {&old_now, "timingwheel start 99; postpone_after a 9 5"},
    {&negative, "start_after a 0 0-5"},
    {&negative, "postpone_after a 0 0-5"},
    {&negative, "timingwheel start 99; advance 2200; start_after a 150 0-5 # a "
                "negative delay, and nothing about an old `now`"},
    {&too_short, "timingwheel tick 320; start_after a 0 19"},
    {&too_short, "timingwheel tick 320; postpone_after a 0 1"},
    {&too_short,
     "timingwheel tick 320; start_after a 0 0; start_after a 0 19 # a "
     "delay in another unit after one of 0"},
    {&no_hint,
     "timingwheel tick 320; postpone_after b 0 0; start_after a 0 20; "
     "start_after a 0 19 # short delays after a longer one, and 0"},
    {&negative,
     "start_after a 0 0-5; start_after a 0 20; start_after a 0 0-5 # "
     "once, also around a delay in the right unit"},
    {&negative,
     "timingwheel tick 320; start_after a 0 20; start_after a 0 0-5; "
     "start_after a 0 19 # once, and the right unit is kept in mind"},
    {&no_hint,
     "timingwheel tick 15; start_after a 0 1 # short delays in ticks of 15"},
    {&window, "within a 30 29 = TW_EINVAL"},
    {&no_hint, "within a 30 30 # a window of one time"},
    {&set_back, "advance 2009; advance 1008"},
    {&set_back, "timingwheel start 2099; advance 97"},
    {&set_back, "advance 2009; limit 5 8"},
    {&set_back, "advance 2009; poll 8"},
    {&set_back, "advance 2009; wait 8 5; wait 8 5 # tw_wait back, once"},
    {&set_back,
     "timingwheel tick 10; advance 20090; advance 10070 # back in ticks of 10"},
    {&set_back, "start a 1, b 1; limit 1 2009: a; limit 1 1008: b"},
    {&set_back, "start a 1; poll 2009: a; poll 2009; advance 8"},
    {&set_back, "timingwheel start 99; advance 2200; start_after a 1199 5"},
    {&set_back, "timingwheel start 99; advance 2200; postpone_after a 99 9000"},
    /* Correct programs. */
    {&no_hint,
     "in a: start a now+700|many 64 600, 64 605; postpone a 900; cancel b; "
     "foreach = 63; advance 650 > 9; many 700 3000; advance 4000 > 699"},
    {&no_hint,
     "start a 10, b 10, c 70000; copy a z; move a z; advance 10: z b; "
     "trim; advance 70000: c # a copy before tw_move"},
    {&no_hint,
     "visitor: let M N; let N 0; repeat M start z 50, y 50; cancel y, b; "
     "foreach > 0|let N 1; start a 10, b 10, c 300; drain > 1"},
    {&no_hint,
     "start a 10; on other; start b 10; on first; destroy; destroy; wait 0 5; "
     "cancel a = false|on other; destroy; on none; destroy; wait 0 5; "
     "cancel none = false; state(none) = idle; remaining(none, 0) = 0"},
    {&no_hint, "in a: start_after b now 2^40|start a 2^40; advance 2^40: a; "
               "advance 2^41: b; "
               "start_after b 2^42 9 # a simulation from 0 that goes far"},
    {&no_hint, "timingwheel tick 10; start_after a 0 300; advance 2^40: a; "
               "start_after b now 300; poll 2^50: b # a fake clock that leaps"},
    {&no_hint, "timingwheel tick 10; start_after a 2^40 500, b 2^40 9000; "
               "advance 2^40+510: a # a game loaded at a late time"},
    {&no_hint, "advance 2^40; start a 2^40+30, b 2^39; advance 2^40+30: b a # "
               "a simulation resumed at a late time"},
    {&no_hint, "timingwheel tick 10; start a 30000; advance 20090; advance "
               "10090; poll 10090; limit 9 10090; wait 10090 9; start_after b "
               "10090 70 # a replay with stamps that step back"},
    {&no_hint,
     "timingwheel start 9; in a: start_after b 5 300; start_after c 0 "
     "300|start a 900; advance 1000: a # a reading kept over a "
     "callback, and an older one"},
    {&no_hint,
     "start a 30; poll 2^64-1: a; poll 2^64-1; start_after a 50 5; wait 50 5; "
     "advance 55: a; poll 60 # a start after a call with UINT64_MAX"},
    {&no_hint,
     "start_after a 0 2^64-1; postpone_after b 0 2^64-1; start c 2^64-1; "
     "wait 0 2^64-1 # UINT64_MAX means no timeout"},
    {&no_hint, "start_after a 0 9223372036854775808 # a delay of 2^63"},
    {&no_hint, "timingwheel start 99; start a 0, b 99; advance 200: a b; start "
               "b 150; postpone b 0 # deadline 0, and overdue"},
    {&no_hint,
     "timingwheel start 99; start_after a 99 0, b 99 30; postpone_after b 99 "
     "50; advance 200: a b # relative starts"},
    {&no_hint, "timingwheel start 99; start a 50; within b 60 200; postpone a "
               "60 # deadlines shortly before `start`"},
    {&no_hint,
     "timingwheel start 5000; advance 4999; advance 0; poll 0 # `now` is "
     "0, or a tick back"},
    {&no_hint, "in a: start_after a 5 300|advance 2009; start a 5; advance "
               "2010: a # an overdue timer that catches up"},
    {&silent, "zero_timer a; start a 9; advance 9 = 1"},
    {&silent, "zero_timer a; start a 5; start a 9; limit 3 9 = 1"},
    {&no_hint,
     "zero_timer a; start a 8; poll 9: a; zero_timer b; callback b; start b 9; "
     "advance 9: b # zero memory with a callback, or for tw_poll"},
    {&no_hint, "no_callback a; start a 9; advance 9 = 1 # a timer without "
               "callback is marked fired"},
    {&no_hint, "no_callback a; start a 9; poll 9: a; poll 9 # tw_poll takes a "
               "timer without callback"},
    {&no_hint,
     "initialiser a; start a 9; advance 9 = 1 # TW_TIMER_INIT, and no "
     "callback"},
    {&no_hint,
     "in a: on other; start b 5; advance 5: b; poll 9; on first|start "
     "a 10; advance 10: a # another timingwheel in a callback"},
    {&no_hint,
     "advance 9; advance 9; limit 5 9; poll 9 # the same `now` again"},
    {&no_hint, "start a 1, b 1; limit 1 9: a; limit 1 9: b; advance 9 # the "
               "same `now` for an unfinished call"},
#ifdef TIMINGWHEEL_THREADS
    {&damaged, "post 10; start a 10; damage a; collect"},
    {&damaged, "post 10; collect; start a 10; damage a; post_cancel; collect"},
    {&elsewhere, "post 10; collect; on other; post 10; collect"},
    {&allocating, "post 10; start a 10|allocator: collect|start j 100"},
    {&no_hint, "on none; post 10; collect # a mailbox without a timingwheel"},
    {&delay, "timingwheel start 99; post 30; collect"},
#endif
};

static void no_line(const char *line, void *context)
{
    (void)line, (void)context;
}

static bool script_more(const char *name)
{
    timingwheel *tw = script_wheel;
    uint64_t v[2] = {0, 0};
    tw_config config = {0, 0, 0, 0, NULL};
    static const tw_timer initialised = TW_TIMER_INIT(NULL);
    tw_stats stats;
#define TIMER_READ script_timer_at(v[0])
    if (SCRIPT_IS("on")) {
        name = script_word(here.command);
        script_wheel = SCRIPT_IS("first")   ? &script.tw
                       : SCRIPT_IS("other") ? &other
                       : SCRIPT_IS("copy")  ? &copy
                                            : NULL;
    } else if (SCRIPT_READ("tw_init", 1)) {
        config.wheel_size = (uint32_t)v[0];
        tw_init(tw, &config);
    } else if (SCRIPT_IS("swap_copies")) { /* `other` takes the place */
        copy = script.tw;
        script.tw = other;
        script.timers[0] = script.timers[1];
    } else if (SCRIPT_READ("many", 2))
        for (uint64_t i = 0; i < v[0]; i++)
            tw_start(tw, script_timer_at(i), v[1] + i % 8);
    else if (SCRIPT_READ("copy", 2))
        *(tw_timer *)(blamed = script_timer_at(v[1])) = *TIMER_READ;
    else if (SCRIPT_READ("damage", 1))
        damage((tw_timer *)(blamed = TIMER_READ));
    else if (SCRIPT_IS("call"))
        script_run_action(calls[call]);
    else if (SCRIPT_IS("null")) {
        const char *line = nulls;
        for (size_t i = 0; i < call; i++)
            line = script_next_line(line);
        script_run_action(line);
    } else if (SCRIPT_IS("allocator"))
        script_set_action(&allocator);
    else if (SCRIPT_READ("never_init", 1))
        memset(TIMER_READ, 0xa5, sizeof *TIMER_READ);
    else if (SCRIPT_READ("zero_timer", 1))
        memset(TIMER_READ, 0, sizeof *TIMER_READ);
    else if (SCRIPT_READ("initialiser", 1))
        *TIMER_READ = initialised;
    else if (SCRIPT_READ("callback", 1))
        TIMER_READ->callback = script_on_fire;
    else if (SCRIPT_READ("no_callback", 1))
        tw_timer_init(TIMER_READ, NULL);
    else if (SCRIPT_READ("leave_call", 1))
        leave_call(tw, TIMER_READ);
    else if (SCRIPT_IS("clear_wheel"))
        memset((void *)tw, 0, sizeof *tw);
    else if (SCRIPT_IS("fill_wheel")) /* as -fsanitize=address does */
        memset((void *)tw, 0xbe, sizeof *tw);
    else if (SCRIPT_READ("wait", 2))
        tw_wait(tw, v[0], v[1]);
    else if (SCRIPT_IS("get_stats"))
        tw_get_stats(tw, &stats);
    else if (SCRIPT_IS("dump"))
        tw_dump(tw, no_line, NULL);
    else if (SCRIPT_IS("find"))
        (void)script_find(tw, NULL);
    else if (SCRIPT_IS("next_deadline"))
        tw_next_deadline(tw, &v[0]);
    else if (SCRIPT_IS("no_visitor"))
        tw_foreach(tw, NULL, NULL);
    else if (SCRIPT_IS("no_matcher"))
        (void)tw_find(tw, NULL, NULL);
    else if (SCRIPT_IS("no_deadline"))
        tw_next_deadline(tw, NULL);
    else if (SCRIPT_IS("no_stats"))
        tw_get_stats(tw, NULL);
    else if (SCRIPT_IS("no_writer"))
        tw_dump(tw, NULL, NULL);
#ifdef TIMINGWHEEL_THREADS
    else if (SCRIPT_READ("post", 1)) {
        tw_mailbox_init(&box, tw, NULL, NULL);
        tw_post_start(&box, &remote, v[0]);
        blamed = &remote.timer;
    } else if (SCRIPT_IS("post_cancel"))
        tw_post_cancel(&box, &remote);
    else if (SCRIPT_IS("collect"))
        tw_collect(&box);
#endif
    else
        return false;
    return true;
}

/* ------------------------------------------------- what comes of misuse --- */

static sigjmp_buf caught;
static char said[1000]; /* on standard error */

static void on_abort(int number)
{
    (void)number;
    siglongjmp(caught, 1);
}

static void run_lines(const char *lines)
{
    for (; lines != NULL; lines = script_next_line(lines))
        script_run_line(lines);
}

/* Runs lines. True if they ended in abort. */
static bool aborts(const char *lines)
{
    static FILE *file;
    volatile bool aborted = false;
    int standard_error = dup(2);
    if (file == NULL) {
        file = tmpfile();
        setvbuf(stderr, NULL, _IOFBF, BUFSIZ); /* as if it were a file */
    }
    if (file == NULL || ftruncate(fileno(file), 0) != 0 ||
        lseek(fileno(file), 0, SEEK_SET) != 0)
        abort();
    dup2(fileno(file), 2);
    signal(SIGABRT, on_abort);
    if (sigsetjmp(caught, 1) != 0)
        aborted = true;
    else
        run_lines(lines);
    signal(SIGABRT, SIG_DFL);
    dup2(standard_error, 2);
    close(standard_error);
    ssize_t length = pread(fileno(file), said, sizeof said - 1, 0);
    said[length < 0 ? 0 : length] = '\0';
    return aborted;
}

/* True if the line ends with the function that the last command has called. */
static bool ends_right(void)
{
    static const char *const functions[][2] = {{"within", "start_within"},
                                               {"advance", "advance_clock"},
                                               {"limit", "advance_clock_limit"},
                                               {"init", "timer_init"},
                                               {"tw_init", "init"},
                                               {"post", "post_start"},
                                               {"no_visitor", "foreach"},
                                               {"no_matcher", "find"},
                                               {"no_deadline", "next_deadline"},
                                               {"no_stats", "get_stats"},
                                               {"no_writer", "dump"}};
    char end[100];
    const char *name = here.command, *function = strrchr(said, '(');
    for (size_t i = 0; i < LENGTH(functions); i++)
        if (SCRIPT_IS(functions[i][0]))
            name = functions[i][1];
    snprintf(end, sizeof end, "(tw_%s)\n", name);
    return function != NULL && strcmp(function, end) == 0 &&
           strchr(said, '\n')[1] == '\0';
}

/* True if the line names the timer that is to blame, and its callback. */
static bool names_the_timer(void)
{
    char names[100];
    snprintf(names, sizeof names, "; timer %p, callback %p (",
             (const void *)blamed, (void *)(uintptr_t)blamed->callback);
    return strstr(said, names) != NULL;
}

/* True if the text contains the words, in which * stands for any text. */
static bool has_words(const char *text, const char *words)
{
    char part[100];
    for (size_t length; *words != '\0';
         words += length + (words[length] == '*')) {
        length = strcspn(words, "*");
        snprintf(part, sizeof part, "%.*s", (int)length, words);
        if ((text = strstr(text, part)) == NULL)
            return false;
        text += length;
    }
    return true;
}

/* True if the line on standard error is right for a row. */
static bool is_right(const kind *k)
{
    static const char mark[] = "timingwheel.h: ", hint[] = "hint: ";
    bool is_hint = (k->marks & HINT) != 0,
         names_timer = (k->marks & TIMER) != 0;
    if (k->words == NULL)
        return said[0] == '\0';
    return strncmp(said, mark, sizeof mark - 1) == 0 &&
           is_hint ==
               (strncmp(said + sizeof mark - 1, hint, sizeof hint - 1) == 0) &&
           has_words(said, k->words) && ends_right() &&
           (strstr(said, "; timer ") != NULL) == names_timer &&
           (!names_timer || names_the_timer());
}

static void run_row(void)
{
    static char lines[400];
    const kind *k = rows[tap_case_index].kind;
    strcpy(lines, rows[tap_case_index].name);
    for (char *bar; (bar = strchr(lines, '|')) != NULL;)
        *bar = '\n';
    for (size_t run = 0; run < k->runs; run++) {
        set_up();
        damage = damages[run % LENGTH(damages)];
        call = k->first + run;
        blamed = script_timer_at(0);
        if (!CHECK(aborts(lines) == ((k->marks & HINT) == 0)) ||
            !CHECK(is_right(k)) || !CHECK(!script.has_failed))
            printf("# run %u: \"%s\"\n", (unsigned)run, said);
    }
}

TAP_MAIN_ROWS(rows, run_row)
