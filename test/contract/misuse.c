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
 *     start_after a 10    and postpone_after: with the clock as `now`
 *     start_from a 9 5    and postpone_from: with 9 as `now`
 *     never_init a        a timer of any bytes; no_callback a; static_init a;
 *                         clear_wheel; fill_wheel; wait; next_deadline;
 *                         get_stats; dump; find; zero_timer a
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

/* TW_MALLOC and TW_FREE must make none of the calls. Callbacks and visitors
 * must make none of the REFUSED calls from the second on. The first two are
 * allowed before tw_init and after tw_destroy, if the timer is not pending. */
static const char *const calls[] = {
    "cancel a",           "destroy",        "advance 20",
    "limit 5 20",         "poll 20",        "trim",
    "start f 10",         "postpone a 500", "start_after f 10",
    "move a b",           "reserve 100000", "drain",
    "postpone_after a 9", "foreach"};
#define REFUSED 5
#define CALLS LENGTH(calls)

/* The last command of each has NULL in place of a timingwheel or a timer. */
enum { NULLS = 23 };
static const char nulls[] =
    "on none; tw_init 2\ninit none\non none; start a 10\nstart none 10\n"
    "on none; within a 5 9\nwithin none 5 9\non none; postpone a 10\n"
    "postpone none 10\non none; start_after a 10\nstart_after none 10\n"
    "on none; postpone_after a 5\npostpone_after none 10\n"
    "start a 10; on none; cancel a\nstart a 10; on none; move a b\n"
    "move none b\nstart a 10; move a none\non none; advance 10\n"
    "on none; limit 5 10\non none; poll 10\non none; reserve 10\n"
    "on none; trim\non none; foreach\non none; drain";

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

/* A kind of misuse, or of a hint. The line on standard error contains `words`;
 * NULL: there is no line. A row runs once per damage or per call, or once. */
typedef struct kind {
    const char *words;
    int marks;          /* TIMER, HINT, both or 0 */
    size_t runs, first; /* `first`: in `calls` */
} kind;

enum {
    TIMER = 1, /* the line names a timer and its callback */
    HINT = 2   /* the program goes on */
};

static const kind
    damaged = {"moved or overwritten: cancel it", TIMER, LENGTH(damages), 0},
    elsewhere = {"pending on another timingwheel", TIMER, 1, 0},
    missing = {"is NULL", 0, NULLS, 0}, out_of_range = {"wheel_size", 0, 1, 0},
    set_up_again = {"tw_init was called again", TIMER, 1, 0},
    into_pending = {"tw_move into a pending timer", TIMER, 1, 0},
    uninitialised = {"was never initialised", TIMER, 1, 0},
    inside = {"must not advance, poll, trim or destroy", 0, REFUSED, 1},
    left_before = {"longjmp, or by an exception through C", 0, REFUSED, 1},
    allocating = {"TW_MALLOC or TW_FREE uses its timingwheel: do not call tw_ "
                  "functions from the allocator",
                  0, CALLS, 0},
    unready = {"before tw_init or after tw_destroy", 0, CALLS - 2, 2},
    copied = {"moved or copied", 0, CALLS - 1, 1},
    astray = {"before tw_init or after tw_destroy, or was moved", 0, 1, 0},
    asking = {"do not call tw_ functions from the allocator", 0, 1, 0},
    delay = {"a delay?", TIMER + HINT, 1, 0},
    old_now = {"an old `now`, or another unit", TIMER + HINT, 1, 0},
    negative = {"a negative number?", TIMER + HINT, 1, 0},
    too_short = {"far shorter than a tick", TIMER + HINT, 1, 0},
    window = {"`latest` lies before `earliest`", TIMER + HINT, 1, 0},
    set_back = {"set back?", HINT, 1, 0},
    silent = {"without a callback has fired", TIMER + HINT, 1, 0},
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
    {&into_pending, "start a 10, b 10; move a b"},
    {&uninitialised, "never_init a; start a 10"},
    {&uninitialised, "never_init a; postpone a 10"},
    {&uninitialised, "never_init a; cancel a"},
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
    {&missing, "null"},
    {&delay, "timingwheel start 99; start a 30"},
    {&delay, "timingwheel start 99; within a 20 30"},
    {&delay, "timingwheel start 99; start a 200; postpone a 30"},
    {&delay, "timingwheel start 99; start a 0; postpone a 30 # tw_postpone to "
             "a later delay"},
    {&delay, "timingwheel start 99; within a 30 150 # a window is judged by "
             "its beginning"},
    {&delay, "timingwheel start 99; start b 20; postpone b 30; start a 49 # "
             "the second delay of a timingwheel says nothing"},
    {&old_now, "timingwheel start 99; start_from a 9 5"},
    {&old_now, "timingwheel start 99; postpone_from a 9 5"},
    {&negative, "start_after a 0-5"},
    {&negative, "postpone_after a 0-5"},
    {&negative, "timingwheel start 99; advance 2200; start_from a 150 0-5 # a "
                "negative delay, and nothing about an old `now`"},
    {&too_short, "timingwheel tick 320; start_after a 19"},
    {&too_short, "timingwheel tick 320; postpone_after a 1"},
    {&too_short, "timingwheel tick 320; start_after a 0; start_after a 19 # a "
                 "delay in another unit after one of 0"},
    {&no_hint, "timingwheel tick 320; postpone_after b 0; start_after a 20; "
               "start_after a 19 # short delays after a longer one, and 0"},
    {&negative, "start_after a 0-5; start_after a 20; start_after a 0-5 # "
                "once, also around a delay in the right unit"},
    {&negative, "timingwheel tick 320; start_after a 20; start_after a 0-5; "
                "start_after a 19 # once, and the right unit is kept in mind"},
    {&no_hint,
     "timingwheel tick 15; start_after a 1 # short delays in ticks of 15"},
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
    {&set_back, "timingwheel start 99; advance 2200; start_from a 1199 5"},
    {&set_back, "timingwheel start 99; advance 2200; postpone_from a 99 9000"},
    /* Correct programs. */
    {&no_hint,
     "in a: start_after b 2^40|start a 2^40; advance 2^40: a; advance 2^41: b; "
     "start_from b 2^42 9 # a simulation from 0 that goes far"},
    {&no_hint, "timingwheel tick 10; start_after a 300; advance 2^40: a; "
               "start_after b 300; poll 2^50: b # a fake clock that leaps"},
    {&no_hint, "timingwheel tick 10; start_from a 2^40 500, b 2^40 9000; "
               "advance 2^40+510: a # a game loaded at a late time"},
    {&no_hint, "advance 2^40; start a 2^40+30, b 2^39; advance 2^40+30: b a # "
               "a simulation resumed at a late time"},
    {&no_hint, "timingwheel tick 10; start a 30000; advance 20090; advance "
               "10090; poll 10090; limit 9 10090; wait 10090 9; start_from b "
               "10090 70 # a replay with stamps that step back"},
    {&no_hint, "timingwheel start 9; in a: start_from b 5 300; start_from c 0 "
               "300|start a 900; advance 1000: a # a reading kept over a "
               "callback, and an older one"},
    {&no_hint,
     "start a 30; poll 2^64-1: a; poll 2^64-1; start_from a 50 5; wait 50 5; "
     "advance 55: a; poll 60 # a start after a call with UINT64_MAX"},
    {&no_hint, "start_after a 2^64-1; postpone_after b 2^64-1; start c 2^64-1; "
               "wait 0 2^64-1 # UINT64_MAX means no timeout"},
    {&no_hint, "start_after a 9223372036854775808 # a delay of 2^63"},
    {&no_hint, "timingwheel start 99; start a 0, b 99; advance 200: a b; start "
               "b 150; postpone b 0 # deadline 0, and overdue"},
    {&no_hint, "timingwheel start 99; start_after a 0, b 30; postpone_after b "
               "50; advance 200: a b # relative starts"},
    {&no_hint, "timingwheel start 99; start a 50; within b 60 200; postpone a "
               "60 # deadlines shortly before `start`"},
    {&no_hint, "timingwheel start 99; advance 98; advance 0; poll 0 # `now` is "
               "0, or a tick back"},
    {&no_hint, "in a: start_from a 5 300|advance 2009; start a 5; advance "
               "2010: a # an overdue timer that catches up"},
    {&silent, "zero_timer a; start a 9; advance 9 = 1"},
    {&silent, "zero_timer a; start a 5; start a 9; limit 3 9 = 1"},
    {&no_hint,
     "zero_timer a; start a 8; poll 9: a; zero_timer b; callback b; start b 9; "
     "advance 9: b # zero memory with a callback, or for tw_poll"},
    {&no_hint, "no_callback a; static_init b; start a 9, b 9; advance 9 = 2 # "
               "a timer without callback is marked fired"},
    {&no_hint, "no_callback a; start a 9; poll 9: a; poll 9 # tw_poll takes a "
               "timer without callback"},
    {&no_hint,
     "advance 9; advance 9; limit 5 9; poll 9 # the same `now` again"},
    {&no_hint, "start a 1, b 1; limit 1 9: a; limit 1 9: b; advance 9 # the "
               "same `now` for an unfinished call"},
#ifdef TIMINGWHEEL_THREADS
    {&damaged, "start a 10; damage a; post 10; collect"},
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
    uint64_t v[3] = {0, 0, 0}, now = tw == NULL ? 0 : tw_now(tw);
    tw_config config = {0, 0, 0, 0, NULL};
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
        *script_timer_at(v[1]) = *TIMER_READ;
    else if (SCRIPT_READ("damage", 1))
        damage(TIMER_READ);
    else if (SCRIPT_IS("call"))
        script_run_action(calls[call]);
    else if (SCRIPT_IS("null")) {
        const char *line = nulls;
        for (size_t i = 0; i < call; i++)
            line = script_next_line(line);
        script_run_action(line);
    } else if (SCRIPT_IS("allocator"))
        script_set_action(&allocator);
    else if (SCRIPT_READ("start_after", 2))
        script_compare_status(tw_start_after(tw, TIMER_READ, now, v[1]), 0);
    else if (SCRIPT_READ("postpone_after", 2))
        script_compare_status(tw_postpone_after(tw, TIMER_READ, now, v[1]), 0);
    else if (SCRIPT_READ("start_from", 3))
        script_compare_status(tw_start_after(tw, TIMER_READ, v[1], v[2]), 0);
    else if (SCRIPT_READ("postpone_from", 3))
        script_compare_status(tw_postpone_after(tw, TIMER_READ, v[1], v[2]), 0);
    else if (SCRIPT_READ("never_init", 1))
        memset(TIMER_READ, 0xa5, sizeof *TIMER_READ);
    else if (SCRIPT_READ("zero_timer", 1))
        memset(TIMER_READ, 0, sizeof *TIMER_READ);
    else if (SCRIPT_READ("callback", 1))
        TIMER_READ->callback = script_on_fire;
    else if (SCRIPT_READ("no_callback", 1))
        tw_timer_init(TIMER_READ, NULL);
    else if (SCRIPT_READ("static_init", 1))
        *TIMER_READ = (tw_timer)TW_TIMER_INIT(NULL);
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
#ifdef TIMINGWHEEL_THREADS
    else if (SCRIPT_READ("post", 1)) {
        tw_mailbox_init(&box, tw, NULL, NULL);
        tw_post_start(&box, &remote, v[0]);
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

static void run_lines(const char *line)
{
    for (; line != NULL; line = script_next_line(line))
        script_run_line(line);
}

/* Runs lines, or else proper use. True if they ended in abort. */
static bool aborts(const char *lines, void (*proper_use)(void))
{
    static FILE *file;
    volatile bool aborted = false;
    int standard_error = dup(2);
    if (file == NULL)
        file = tmpfile();
    if (file == NULL || ftruncate(fileno(file), 0) != 0 ||
        lseek(fileno(file), 0, SEEK_SET) != 0)
        abort();
    dup2(fileno(file), 2);
    signal(SIGABRT, on_abort);
    if (sigsetjmp(caught, 1) != 0)
        aborted = true;
    else if (lines != NULL)
        run_lines(lines);
    else
        proper_use();
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
    static const char *const functions[][2] = {
        {"within", "start_within"},
        {"advance", "advance_clock"},
        {"limit", "advance_clock_limit"},
        {"init", "timer_init"},
        {"tw_init", "init"},
        {"post", "post_start"},
        {"start_from", "start_after"},
        {"postpone_from", "postpone_after"}};
    char end[100];
    const char *name = here.command, *function = strrchr(said, '(');
    for (size_t i = 0; i < LENGTH(functions); i++)
        if (SCRIPT_IS(functions[i][0]))
            name = functions[i][1];
    snprintf(end, sizeof end, "(tw_%s)\n", name);
    return function != NULL && strcmp(function, end) == 0 &&
           strchr(said, '\n')[1] == '\0';
}

/* True if the line names one of the timers, and its callback. */
static bool names_a_timer(void)
{
    void *timer, *callback;
    const char *names = strstr(said, "; timer ");
    if (names == NULL ||
        sscanf(names, "; timer %p, callback %p (", &timer, &callback) != 2)
        return false;
    /* One of the timers, or that of a remote. */
    size_t number = (size_t)((script_timer *)timer - script.timers);
    return callback ==
           (void *)(uintptr_t)(number < SCRIPT_TIMERS
                                   ? script_timer_at(number)->callback
                                   : script_on_fire);
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
           strstr(said, k->words) != NULL && ends_right() &&
           (strstr(said, "; timer ") != NULL) == names_timer &&
           (!names_timer || names_a_timer());
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
        if (!CHECK(aborts(lines, NULL) == ((k->marks & HINT) == 0)) ||
            !CHECK(is_right(k)) || !CHECK(!script.has_failed))
            printf("# run %u: \"%s\"\n", (unsigned)run, said);
    }
}

/* ------------------------------------- which timer a message is about --- */

/* The timer's link back leads to timer 999. */
static void mislead(tw_timer *timer)
{
    timer->link.prev = &script_timer_at(999)->link;
}

static void damaged_timer_is_named(void)
{
    static const struct {
        const char *lines;
        uint64_t timer;
    } messages[] = {
        {"start a 10; on other; start a 20", 0},
        {"start a 10; on other; cancel a", 0},
        {"start a 10, b 10; damage b; advance 10", 1},
        {"start a 10, b 10; damage b; limit 5 10", 1},
        {"start a 10, b 10; damage b; poll 10", 1},
        {"start a 10, b 10; damage b; drain", 1},
        {"start a 10, b 10; damage b; foreach", 1},
        {"start a 10, b 10; damage a; start_after c 10", 0},
        {"start a 10, b 10; damage b; cancel a", 1},
        {"start a 10, b 10; copy a h; cancel h", 7},
        {"start a 10, b 10; move a b", 1},
        {"visitor: start f 20 = TW_EBUSY; damage b\nstart a 10, b 10; foreach",
         999},
    };
    damage = mislead;
    for (size_t i = 0; i < LENGTH(messages); i++) {
        char expected[40];
        snprintf(expected, sizeof expected, "; timer %p,",
                 (const void *)script_timer_at(messages[i].timer));
        set_up();
        CHECK(aborts(messages[i].lines, NULL) && ends_right());
        if (!CHECK(strstr(said, expected) != NULL && names_a_timer()))
            printf("# \"%s\"\n", said);
    }
}

/* ------------------------------------------------------------- proper use */

static void restart(timingwheel *wheel, tw_timer *timer)
{
    if (tw_now(wheel) < 5000)
        tw_start(wheel, timer, tw_after(tw_now(wheel), 700));
}

static void visit_cancel(tw_timer *timer, void *context)
{
    (void)context;
    tw_cancel(&script.tw, timer);
}

/* Visits and cancels the timers that wait for this visitor. */
static void visit_nested(tw_timer *timer, void *context)
{
    tw_start(&script.tw, timer, 20000);
    tw_foreach(&script.tw, context == NULL ? script_on_visit : visit_cancel,
               &script);
}

static void use_properly(void)
{
    static tw_timer moved;
    for (size_t i = 0; i < 64; i++) {
        tw_timer_init(script_timer_at(i), restart);
        tw_start(&script.tw, script_timer_at(i), 600 + i);
        tw_start(&script.tw, script_timer_at(i), 600 + i / 2);
        if (i % 3 == 0)
            tw_postpone(&script.tw, script_timer_at(i), 900);
        if (i % 5 == 0)
            tw_cancel(&script.tw, script_timer_at(i));
    }
    moved = *script_timer_at(1); /* the object was copied before tw_move */
    tw_move(&script.tw, script_timer_at(1), &moved);
    tw_foreach(&script.tw, script_on_visit, &script);
    tw_advance_clock(&script.tw, 650);
    run_lines("many 700 3000; advance 10000 > 699");
    CHECK(tw_count(&script.tw) == 0 && tw_check(&script.tw));
    for (size_t i = 0; i < 20; i++)
        tw_start(&script.tw, script_timer_at(i), 10000 + i * 50);
    tw_drain(&script.tw, visit_nested, NULL);
    tw_drain(&script.tw, visit_nested, &script.tw);
    CHECK(tw_drain(&script.tw, NULL, NULL) == 0 && tw_check(&script.tw));
    tw_trim(&script.tw);
    tw_start(&other, script_timer_at(0), 10);
    tw_destroy(&script.tw);
    tw_destroy(&script.tw);
    CHECK(tw_wait(&script.tw, 0, 5) == 5 && tw_wait(NULL, 0, 5) == 5);
    tw_cancel(&script.tw, script_timer_at(1));
    tw_cancel(&script.tw, NULL);
    tw_destroy(&other);
    tw_destroy(NULL);
    CHECK(!tw_is_pending(NULL) && tw_timer_state(NULL) == TW_IDLE);
    CHECK(tw_remaining(NULL, 0) == 0);
}

static void proper_use(void)
{
    set_up();
    if (!CHECK(!aborts(NULL, use_properly) && said[0] == '\0'))
        printf("# \"%s\"\n", said);
}

static const tap_case cases[] = {
    {"proper use says nothing", proper_use},
    {"a message names the damaged timer", damaged_timer_is_named}};

TAP_MAIN_ROWS(rows, run_row, cases)
