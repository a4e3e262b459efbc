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

/* While the wheel allocates memory for a posted start. */
static bool out_of_memory;

static bool refuses(void)
{
    if (out_of_memory)
        run_later(&meanwhile);
    return out_of_memory;
}

#include "../lib/heap.h"

#define TW_STATIC
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include "../lib/tap.h"

#define REMOTES 8

static timingwheel tw;
static tw_mailbox box;
static tw_remote remotes[REMOTES];
static tw_remote *const a = &remotes[0], *const b = &remotes[1];
static unsigned wake_ups;
static int woken; /* the context of wake */

/* The timers that fired, a letter per timer. */
static char fired[32];
static size_t fired_count;

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    if (CHECK(wheel == &tw && fired_count < sizeof(fired)))
        fired[fired_count++] = (char)('a' + ((tw_remote *)timer - remotes));
    run_later(&in_callback);
}

static void wake(void *context)
{
    CHECK(context == &woken);
    wake_ups++;
}

static void set_up(size_t max_pending)
{
    tw_config config = {0};
    heap_by_default.refuses = refuses;
    config.max_pending = max_pending;
    CHECK(tw_init(&tw, &config) == TW_OK);
    memset((void *)&box, 0xa5, sizeof(box));
    memset((void *)remotes, 0xa5, sizeof(remotes));
    tw_mailbox_init(&box, &tw, wake, &woken);
    for (size_t i = 0; i < REMOTES; i++)
        tw_remote_init(&remotes[i], on_fire);
    wake_ups = 0;
    fired_count = 0;
    meanwhile.begin = in_callback.begin = NULL;
    out_of_memory = false;
}

/* Checks that every request has been applied, and destroys the wheel. */
static void tear_down(void)
{
    CHECK(meanwhile.begin == NULL && in_callback.begin == NULL);
    CHECK(tw_collect(&box) == 0);
    size_t pending = tw_count(&tw);
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_count(&tw) == pending);
    for (size_t i = 0; i < REMOTES; i++)
        CHECK(tw_remote_settled(&remotes[i]));
    CHECK(tw_check(&tw));
    tw_destroy(&tw);
}

/* Advances. Returns true if exactly the timers in `which` fired, in order. */
static bool fires(uint64_t now, const char *which, size_t length)
{
    fired_count = 0;
    tw_advance_clock(&tw, now);
    return fired_count == length && memcmp(fired, which, length) == 0;
}

/* ------------------------------------------------------- cases as steps --- */

/* A step is a sign and its operands. +a10 posts a start of timer a at 10, -a
 * posts a cancel. !a10 starts timer a directly, ~a cancels, >a10 postpones. c2:
 * two starts wait after a collect. f10:ab: at 10, timer a fires, then b. w3:
 * three wake-ups so far. sab: a and b are settled; uab: they are not. pab: both
 * are pending, iab: they are not. =a10: the deadline of a is 10. M3 is the
 * number UINT64_MAX - 3. d: the wheel is destroyed, n: set up again. x: memory
 * is out, o: memory is back. za: a is zero memory with a callback. (...): the
 * steps of the next callback. [...]: the steps of another thread in the middle
 * of the next post, or of the next refused start. */
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
    {"a start refused for max_pending is kept, counted and tried again", 1,
     "+a10 +c20 +b20 c2 uc ub c2 f10:a c1 sc ub f20:c c0 f20:b"},
    {"a post about a start that waits replaces it and wakes nobody", 1,
     "+a10 +b20 +c20 c2 w1 -b +c30 w1 c1 sb f10:a c0 f29: f30:c"},
    {"starts that wait are applied first", 1,
     "+a10 +b20 c1 -a c1 +c20 c1 f20:b c0 f20:c"},
    {"a cancel by the wheel's thread makes room, in order", 1,
     "+a10 +b20 +c30 c2 ~a c1 pb ic ~b c0 f30:c"},
    {"a restart that waits is served in a full wheel", 1,
     "+a10 +b20 c1 x +a70000 c2 o c1 sa f69999: f70000:a c0 f70000:b"},
    {"a restart that waits before a start is served, too", 1,
     "+a10 c0 x +a70000 +b20 c2 o c1 sa f69999: f70000:a c0 f70000:b"},
    {"a start that waits for a timer that was used directly is served", 1,
     "+a10 +b20 c1 ~a !b90 ub ~b c0 sb pb f19: f20:b"},
    {"the first collect finds a full wheel", 1, "!a10 +b20 c1 f10:a c0 f20:b"},
    {"a start refused for memory is kept", 0, "x +a10 c1 ia ua o c0 f10:a"},
    {"a refused start leaves the timer as it was", 0,
     "+a10 c0 x +a1000 c1 pa f10:a o c0 f1000:a"},
    {"a start posted for a destroyed wheel waits for tw_init", 0,
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
     "x +a5 [+a9] c0 c1 o c0 f8: f9:a"},
    {"the wheel's thread uses the timer directly", 0,
     "+a5 c0 >a8 f7: ~a sa ia !a9 +a10 f9:a c0 f10:a"},
    {"every 64-bit deadline can be posted", 0,
     "+a0 +b1 +cM3 +dM2 +eM1 +fM0 c0 =a0 =b1 =cM3 =dM0 =eM0 =fM0 f0:a f1:b "
     "fM4: +a30 c0 fM3:ac fM1: fM0:def"},
    {"zero memory is a remote", 0, "za sa +a5 w1 ua c0 pa f5:a"},
    {"a callback may post to its own wheel", 0,
     "+a5 c0 (+b5 ib) f50:a w2 c0 f50:b"},
    {"a callback may collect", 0, "+a5 +c5 c0 -c +b6 (c0) f6:ab"},
};

static bool holds(char sign, const tw_remote *remote)
{
    bool what = sign == 's' || sign == 'u' ? tw_remote_settled(remote)
                                           : tw_is_pending(&remote->timer);
    return what == (sign == 's' || sign == 'p');
}

/* Runs one step; `end` is the end of the step. */
static bool run_step(char sign, const char *at, const char *end)
{
    tw_remote *remote = &remotes[(size_t)(*at - 'a') % REMOTES];
    const char *digits = at + (strchr("+!>=", sign) != NULL);
    bool from_end = *digits == 'M';
    char *names;
    uint64_t number = strtoull(digits + from_end, &names, 10);
    number = from_end ? UINT64_MAX - number : number;
    switch (sign) {
    case '+':
        tw_post_start(&box, remote, number);
        return true;
    case '-':
        tw_post_cancel(&box, remote);
        return true;
    case '!':
        return tw_start(&tw, &remote->timer, number) == TW_OK;
    case '>':
        return tw_postpone(&tw, &remote->timer, number) == TW_OK;
    case '~':
        return tw_cancel(&tw, &remote->timer);
    case 'c':
        return tw_collect(&box) == number;
    case 'f':
        return fires(number, names + 1, (size_t)(end - names - 1));
    case 'w':
        return wake_ups == number;
    case 'd':
        tw_destroy(&tw);
        return true;
    case 'n':
        return tw_init(&tw, NULL) == TW_OK;
    case 'x':
    case 'o':
        out_of_memory = sign == 'x';
        return true;
    case '=':
        return tw_deadline(&remote->timer) == number;
    case 'z':
        memset((void *)remote, 0, sizeof *remote);
        remote->timer.callback = on_fire;
        return true;
    case '[':
    case '(':
        *(sign == '[' ? &meanwhile : &in_callback) = (later){at, end};
        return true;
    default:
        while (at < end && holds(sign, &remotes[*at - 'a']))
            at++;
        return at == end;
    }
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
    set_up(this_row->max_pending);
    run_steps(this_row->steps, this_row->steps + strlen(this_row->steps));
    tear_down();
}

/* ---------------------------------------------------------- other cases --- */

/* While the wheel is full, a collect without news touches no waiting start:
 * here the memory of the waiting remotes is zero meanwhile. */
static void waiting_costs_nothing(void)
{
    static tw_remote kept[REMOTES];
    set_up(1);
    for (size_t i = 0; i < REMOTES; i++)
        tw_post_start(&box, &remotes[i], 20 + i);
    CHECK(tw_collect(&box) == REMOTES - 1);
    memcpy((void *)kept, (void *)remotes, sizeof kept);
    memset((void *)(remotes + 1), 0, sizeof remotes - sizeof *remotes);
    CHECK(tw_collect(&box) == REMOTES - 1);
    memcpy((void *)remotes, (void *)kept, sizeof kept);
    tw_post_cancel(&box, &remotes[4]);
    CHECK(tw_collect(&box) == REMOTES - 2 && tw_remote_settled(&remotes[4]));
    for (size_t i = 0; i < REMOTES; i++) { /* each in its turn */
        char name[2] = {(char)('a' + i), '\0'};
        CHECK(i == 4 || fires(20 + i, name, 1));
        tw_collect(&box);
    }
    tear_down();
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
    set_up(0);
    tw_remote_init(own, free_remote);
    tw_post_start(&box, own, 5);
    tw_post_start(&box, a, 5);
    CHECK(tw_collect(&box) == 0);
    CHECK(tw_advance_clock(&tw, 5) == 2);
    tear_down();
}

static void nothing_given(void)
{
    set_up(0);
    tw_mailbox_init(NULL, &tw, wake, &woken);
    tw_remote_init(NULL, on_fire);
    tw_post_start(NULL, a, 5);
    tw_post_start(&box, NULL, 5);
    tw_post_cancel(NULL, a);
    tw_post_cancel(&box, NULL);
    CHECK(wake_ups == 0 && tw_remote_settled(a));
    CHECK(tw_remote_settled(NULL));
    CHECK(tw_collect(NULL) == 0);
    tear_down();
}

static void no_wheel(void)
{
    set_up(0);
    tw_mailbox_init(&box, NULL, NULL, NULL);
    tw_post_start(&box, a, 5);
    tw_post_cancel(&box, b);
    CHECK(tw_collect(&box) == 1);
    tw_post_cancel(&box, a);
    tear_down();
}

static void no_callback(void)
{
    set_up(0);
    tw_mailbox_init(&box, &tw, NULL, NULL);
    tw_remote_init(a, NULL);
    tw_post_start(&box, a, 5);
    tw_collect(&box);
    CHECK(tw_poll(&tw, 5) == &a->timer);
    tear_down();
}

static const tap_case cases[] = {
    {"starts that wait cost nothing while the wheel is full",
     waiting_costs_nothing},
    {"a callback may free its remote timer", freed_in_its_callback},
    {"NULL arguments do nothing", nothing_given},
    {"a mailbox without a wheel keeps a start waiting", no_wheel},
    {"a remote timer without a callback is polled, and no `wake` is called",
     no_callback},
};

TAP_MAIN_ROWS(rows, run_row, cases)

#endif
