/* mailbox.c - the section TIMINGWHEEL_THREADS, in a single thread. Hooks in the
 * middle of a post and of collecting do the work of another thread. So each
 * interleaving happens in every run. test/threads has real threads, and a model
 * with all interleavings of small cases.
 *
 *     mailbox [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#ifdef __TINYC__ /* no atomics */
#include <stdio.h>

int main(void)
{
    puts("1..0 # skipped: this compiler has no atomics");
    return 0;
}

#else
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Steps that run later, see run_step. */
typedef struct later {
    const char *begin, *end;
} later;
static later meanwhile;   /* of another thread, when a hook is next reached */
static later in_callback; /* in the next callback */
static void run_later(later *steps);

/* Between a post's exchange and its push. */
#undef atomic_compare_exchange_weak_explicit
#define atomic_compare_exchange_weak_explicit(object, expected, desired,      \
                                              success, failure)               \
    (run_later(&meanwhile),                                                   \
     atomic_compare_exchange_strong_explicit((object), (expected), (desired), \
                                             (success), (failure)))

#define TIMINGWHEEL_THREADS
#include "../lib/cases.h"

#define REMOTES 8

static tw_mailbox box;
static tw_remote remotes[REMOTES]; /* of the timers a to h */
static tw_remote *const a = &remotes[0], *const b = &remotes[1];
static unsigned wake_ups;
static int woken; /* the context of wake */
static bool out_of_memory;

/* While the timingwheel allocates memory for a posted start. */
static bool refuses(void)
{
    run_later(&meanwhile);
    return out_of_memory;
}

static void on_remote(timingwheel *wheel, tw_timer *timer)
{
    if (CHECK(wheel == &tw && fired_count < sizeof fired - 1)) {
        fired[fired_count++] = (char)('a' + ((tw_remote *)timer - remotes));
        fired[fired_count] = '\0';
    }
    run_later(&in_callback);
}

static void wake(void *context)
{
    CHECK(context == &woken);
    wake_ups++;
}

static void open_box(size_t max_pending)
{
    set_up_with(1, 0, 0, max_pending);
    memory.refuses = refuses;
    memset((void *)&box, 0xa5, sizeof(box));
    memset((void *)remotes, 0xa5, sizeof(remotes));
    tw_mailbox_init(&box, &tw, wake, &woken);
    for (size_t i = 0; i < REMOTES; i++)
        tw_remote_init(&remotes[i], on_remote);
    wake_ups = 0;
    meanwhile.begin = in_callback.begin = NULL;
    out_of_memory = false;
}

/* Checks that every request has been applied. */
static void close_box(void)
{
    CHECK(meanwhile.begin == NULL && in_callback.begin == NULL);
    CHECK(tw_collect(&box) == 0);
    size_t pending = tw_count(&tw);
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_count(&tw) == pending);
    for (size_t i = 0; i < REMOTES; i++)
        CHECK(tw_remote_settled(&remotes[i]));
    tear_down();
}

/* ------------------------------------------------------- cases as steps --- */

/* A step is a sign and its operands. +a10 posts a start of timer a at 10, -a
 * posts a cancel. !a10 starts timer a directly, /a10 is refused for
 * max_pending. ~a cancels, >a10 postpones. c2: two starts wait after a collect.
 * f10:ab: at 10, timer a fires, then b. w3: three wake-ups so far. sab: a and b
 * are settled; uab: they are not. pab: both are pending, iab: they are not.
 * =a10: the deadline of a is 10. M3 is the number UINT64_MAX - 3. d: the
 * timingwheel is destroyed, n: set up again. r: reserved. x: memory is out, o:
 * memory is back. za: a is zero memory with a callback. (...): the steps of the
 * next callback. [...]: the steps of another thread in the middle of the next
 * post, or of the next start that allocates memory. */
typedef struct row {
    const char *name;
    size_t max_pending;
    const char *steps;
} row;

static const row rows[] = {
    {"a posted start fires", 0, "+a10 ia ua f5: c0 pa sa f9: f10:a f99:"},
    {"a posted cancel takes effect", 0, "+a10 c0 -a pa ua c0 sa ia f99:"},
    {"a posted cancel of an idle timer does nothing", 0, "-a c0 ia"},
    {"a posted cancel after the firing does nothing", 0,
     "+a10 c0 -a f10:a ua c0 sa f99:"},
    {"a posted start of a pending timer moves the timer", 0,
     "+a10 c0 +a20 c0 f19: f20:a"},
    {"the last request wins", 0,
     "+a10 -a +a30 +b10 -b -c +c20 w1 c0 f29:c f30:a"},
    {"requests are applied in the order of their first posts", 0,
     "+c5 +a5 +b5 +c5 c0 f5:cab"},
    {"a posted deadline that has passed is overdue", 0, "f99: +a30 c0 f99:a"},
    {"a post wakes the loop only if the mailbox was empty", 0,
     "+a5 w1 +b5 -a w1 c0 -b w2"},
    {"max_pending does not limit posted starts", 1,
     "+a10 +b20 +c20 c0 sabc pabc +a30 c0 f29:bc f30:a"},
    {"a posted start of a full timingwheel fires in time", 1,
     "+a10 +b100 c0 f10:a f99: f100:b"},
    {"a posted cancel makes no difference to a start beside it", 1,
     "+a1000 +b100 c0 f10: -a c0 pb f99: f100:b"},
    {"a posted start is not overtaken for lack of room", 1,
     "+a90 +b90 c0 pb -a +c90 c0 pb -c +d90 c0 pb f90:bd"},
    {"no posted start waits until one of many places is free", 2,
     "+a1 +b2 +c3 +d4 +e5 +f6 +g7 c0 f1:a c0 f2:b c0 f7:cdefg"},
    {"max_pending limits direct starts, posted timers included", 1,
     "+a10 +b10 c0 /c10 !a20 ~a /c10 ~b !c10 /a10 +a10 c0 f10:ca"},
    {"a start refused for memory is kept, counted and tried again", 0,
     "x +a10 +c20 c2 ia ua uc c2 o c0 sac f10:a f20:c"},
    {"a start without memory waits while others do not", 0,
     "+h5 c0 x +a70000 +b6 c1 ua sb f6:hb o c0 f70000:a"},
    {"starts that wait are applied first, oldest first", 0,
     "x +b5 +a5 c2 +d5 +c5 c4 o +e5 c0 f5:badce"},
    {"a request replaces a start that waits, and wakes nobody", 0,
     "x +a5 +b5 +c5 +d5 c4 w1 -b +c6 -d w1 c2 sbd o c0 f5:a f6:c"},
    {"the first, the last or all may end to wait", 0,
     "x +a5 +b5 +c5 c3 -a c2 sa -c c1 sc +d5 c2 -b -d c0 w2 o"},
    {"one in the middle may be started while others wait", 0,
     "+h5 c0 x +a70000 +b70000 +c70000 c3 +b9 c2 sb pb +b70000 c3 o c0 "
     "f70000:hacb"},
    {"a refused start leaves the timer as it was", 0,
     "+a10 c0 x +a1000 c1 pa f10:a o c0 f1000:a"},
    {"a timer whose start waits may be used directly", 0,
     "+a5 c0 x +a1000 c1 ~a !a7 c1 pa o c0 f999: f1000:a"},
    {"no posted start waits after tw_reserve", 1,
     "r x +a70000 +b1 +cM3 +dM0 c0 pabcd"},
    {"a start posted for a destroyed timingwheel waits for tw_init", 1,
     "d +a10 +b10 -c c2 sc -b c1 sb n c0 f10:a"},
    {"another push in the middle of a post loses nothing", 0,
     "[+b5] +a5 w1 c0 f5:ba"},
    {"a collect in the middle of a post loses nothing", 0,
     "+b5 [c0 ua] +a5 w2 c0 f5:ba"},
    {"a request in the middle of a post of its timer wins", 0,
     "[+a7 w0 c0 ua] +a5 w1 c0 f6: f7:a"},
    {"a post during a collect is applied in the next one", 0,
     "x +a5 [+b5] c1 w2 ub o c0 f5:ab"},
    {"a cancel while a start is refused wins", 0, "x +a5 [-a] c0 ua o c0 f99:"},
    {"a restart while a start is refused wins", 0,
     "x +a5 +b5 [+a9] c1 w2 c2 o c0 f8:b f9:a"},
    {"a cancel during a collect takes back a start behind", 0,
     "x +a5 +b5 +c5 c3 [-b] c2 sb o c0 f5:ac"},
    {"a collect inside TW_MALLOC does nothing", 0,
     "x +a5 +b6 [+c7 c0 ubc] c2 uc o c0 f7:abc"},
    {"the timingwheel's thread uses the timer directly", 0,
     "+a5 c0 >a8 f7: ~a sa ia !a9 +a10 f9:a c0 f10:a"},
    {"every 64-bit deadline can be posted", 0,
     "+a0 +b1 +cM3 +dM2 +eM1 +fM0 c0 =a0 =b1 =cM3 =dM0 =eM0 =fM0 f0:a f1:b "
     "fM4: +a30 c0 fM3:ac fM1: fM0:def"},
    {"zero memory is a remote", 0, "za sa +a5 w1 ua c0 pa f5:a"},
    {"a callback may post to its own timingwheel", 0,
     "+a5 c0 (+b5 ib) f50:a w2 c0 f50:b"},
    {"a callback may collect", 0, "+a5 +c5 c0 -c +b6 (c0) f6:ab"},
    {"reuse: a callback can tell that a later start was posted", 0,
     "+a100 c0 -a +a5000 (=a100 ua) f100:a c0 (=a5000 sa) f5000:a"},
};

static bool fires(uint64_t now, const char *which, size_t length)
{
    char expected[REMOTES + 1];
    snprintf(expected, sizeof expected, "%.*s", (int)length, which);
    return advance_fires(now, expected, __LINE__);
}

static void zero(tw_remote *remote)
{
    memset((void *)remote, 0, sizeof *remote);
    remote->timer.callback = on_remote;
}

static bool all(char sign, const char *names, const char *end)
{
    for (; names < end; names++) {
        const tw_remote *remote = &remotes[*names - 'a'];
        bool what = sign == 's' || sign == 'u' ? tw_remote_settled(remote)
                                               : tw_is_pending(&remote->timer);
        if (what != (sign == 's' || sign == 'p'))
            return false;
    }
    return true;
}

/* Runs one step; `end` is the end of the step. */
static bool run_step(char sign, const char *at, const char *end)
{
    tw_remote *remote = &remotes[(size_t)(*at - 'a') % REMOTES];
    tw_timer *timer = &remote->timer;
    const char *digits = at + (strchr("+!/>=", sign) != NULL);
    bool from_end = *digits == 'M';
    char *names;
    uint64_t number = strtoull(digits + from_end, &names, 10);
    number = from_end ? UINT64_MAX - number : number;
#define STEP(letter, result) \
    if (sign == (letter))    \
    return result
#define STEP_DOES(letter, statement) STEP(letter, ((void)(statement), true))
    STEP_DOES('+', tw_post_start(&box, remote, number));
    STEP_DOES('-', tw_post_cancel(&box, remote));
    STEP('!', tw_start(&tw, timer, number) == TW_OK);
    STEP('/', tw_start(&tw, timer, number) == TW_EFULL);
    STEP('>', tw_postpone(&tw, timer, number) == TW_OK);
    STEP('~', tw_cancel(&tw, timer));
    STEP('c', tw_collect(&box) == number);
    STEP('f', fires(number, names + 1, (size_t)(end - names - 1)));
    STEP('w', wake_ups == number);
    STEP_DOES('d', tw_destroy(&tw));
    STEP('n', tw_init(&tw, NULL) == TW_OK);
    STEP('r', tw_reserve(&tw, UINT64_MAX) == TW_OK);
    STEP_DOES('x', out_of_memory = true);
    STEP_DOES('o', out_of_memory = false);
    STEP('=', tw_deadline(timer) == number);
    STEP_DOES('z', zero(remote));
    STEP_DOES('[', (meanwhile = (later){at, end}));
    STEP_DOES('(', (in_callback = (later){at, end}));
    return all(sign, at, end);
}

static void run_steps(const char *at, const char *end)
{
    while (at < end) {
        char last = *at == '[' ? ']' : *at == '(' ? ')' : ' ';
        const char *next = strchr(at, last);
        if (next == NULL || next > end)
            next = end;
        if (!CHECK(run_step(*at, at + 1, next)))
            printf("# the step %.*s\n", (int)(next - at), at);
        at = next + strspn(next, " ])");
    }
}

static void run_later(later *steps)
{
    const char *at = steps->begin;
    steps->begin = NULL;
    if (at != NULL)
        run_steps(at, steps->end);
}

static void run_row(void)
{
    const row *this_row = &rows[tap_case_index];
    open_box(this_row->max_pending);
    run_steps(this_row->steps, this_row->steps + strlen(this_row->steps));
    close_box();
}

/* ---------------------------------------------------------- other cases --- */

/* No more attempts than starts that wait. */
static void tries_once(void)
{
    open_box(0);
    out_of_memory = true;
    for (size_t i = 0; i < REMOTES; i++)
        tw_post_start(&box, &remotes[i], 5);
    for (size_t i = 1; i <= 3; i++) {
        CHECK(tw_collect(&box) == REMOTES);
        CHECK(memory.calls == i * REMOTES);
    }
    out_of_memory = false;
    CHECK(tw_collect(&box) == 0);
    FIRES(5, "abcdefgh");
    close_box();
}

static void free_remote(timingwheel *wheel, tw_timer *timer)
{
    (void)wheel;
    CHECK(tw_remote_settled((tw_remote *)timer));
    free(timer);
}

static void freed_in_its_callback(void)
{
    tw_remote *own = (tw_remote *)malloc(sizeof(*own));
    if (!CHECK(own != NULL))
        return;
    open_box(0);
    tw_remote_init(own, free_remote);
    tw_post_start(&box, own, 5);
    tw_post_start(&box, a, 5);
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_advance_clock(&tw, 5) == 2);
    close_box();
}

static void nothing_given(void)
{
    open_box(0);
    tw_mailbox_init(NULL, &tw, wake, &woken);
    tw_remote_init(NULL, on_remote);
    tw_post_start(NULL, a, 5);
    tw_post_start(&box, NULL, 5);
    tw_post_cancel(NULL, a);
    tw_post_cancel(&box, NULL);
    CHECK(wake_ups == 0 && tw_remote_settled(a));
    CHECK(tw_remote_settled(NULL));
    CHECK(tw_collect(NULL) == 0);
    close_box();
}

static void no_timingwheel(void)
{
    open_box(0);
    tw_mailbox_init(&box, NULL, NULL, NULL);
    tw_post_start(&box, a, 5);
    tw_post_cancel(&box, b);
    CHECK(tw_collect(&box) == 1);
    tw_post_cancel(&box, a);
    close_box();
}

static void no_callback(void)
{
    open_box(0);
    tw_mailbox_init(&box, &tw, NULL, NULL);
    tw_remote_init(a, NULL);
    tw_post_start(&box, a, 5);
    tw_collect(&box);
    CHECK(tw_poll(&tw, 5) == &a->timer);
    close_box();
}

static const tap_case cases[] = {
    {"each collect tries a start that waits once", tries_once},
    {"a callback may free its remote timer", freed_in_its_callback},
    {"NULL arguments do nothing", nothing_given},
    {"a mailbox without a timingwheel keeps a start waiting", no_timingwheel},
    {"a remote timer without a callback is polled, and no `wake` is called",
     no_callback},
};

TAP_MAIN_ROWS(rows, run_row, cases)

#endif
