/* interface.c - every public name, with its types, arguments and values: what a
 * program may contain. The file may only grow: a line that no longer compiles
 * means that the header breaks programs. interface.sh compiles and runs the
 * file as C99, C11 and C++11, without a warning.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#define TW_TYPES_ONLY
#include "timingwheel.h"
#undef TW_TYPES_ONLY

struct owner {
    timingwheel tw;
    tw_timer timer;
};

static int asserted; /* how often TW_ASSERT found misuse */

#define TW_DEF static inline
#define TW_MALLOC(size, context) ((void)(context), malloc(size))
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#define TW_CALL(tw, timer) ((timer)->callback((tw), (timer)))
#define TW_ASSERT(expr) ((void)(asserted += !(expr)))
#define TW_DEBUG
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

#if TW_VERSION_MAJOR != 2 || TW_VERSION_MINOR < 0 || TW_VERSION_PATCH < 0
#error "another major version"
#endif

/* Every function again: a compiler refuses another type. */
static int tw_init(timingwheel *, const tw_config *);
static void tw_destroy(timingwheel *);
static void tw_timer_init(tw_timer *, tw_callback *);
static int tw_start(timingwheel *, tw_timer *, uint64_t);
static int tw_start_within(timingwheel *, tw_timer *, uint64_t, uint64_t);
static int tw_postpone(timingwheel *, tw_timer *, uint64_t);
static bool tw_cancel(timingwheel *, tw_timer *);
static void tw_move(timingwheel *, tw_timer *, tw_timer *);
static size_t tw_advance_clock(timingwheel *, uint64_t);
static size_t tw_advance_clock_limit(timingwheel *, uint64_t, size_t);
static tw_timer *tw_poll(timingwheel *, uint64_t);
static bool tw_next_deadline(const timingwheel *, uint64_t *);
static uint64_t tw_wait(const timingwheel *, uint64_t, uint64_t);
static uint64_t tw_now(const timingwheel *);
static size_t tw_count(const timingwheel *);
static bool tw_is_pending(const tw_timer *);
static tw_state tw_timer_state(const tw_timer *);
static uint64_t tw_deadline(const tw_timer *);
static uint64_t tw_remaining(const tw_timer *, uint64_t);
static int tw_reserve(timingwheel *, uint64_t);
static void tw_trim(timingwheel *);
static size_t tw_foreach(timingwheel *, tw_visitor *, void *);
static size_t tw_drain(timingwheel *, tw_visitor *, void *);
static uint64_t tw_after(uint64_t, uint64_t);
static uint64_t tw_next_period(uint64_t, uint64_t, uint64_t, uint64_t *);
static const char *tw_strerror(int);
static void tw_get_stats(const timingwheel *, tw_stats *);
static void tw_dump(const timingwheel *, tw_writer *, void *);
static bool tw_check(const timingwheel *);
static int tw_start_after(timingwheel *, tw_timer *, uint64_t, uint64_t);
static int tw_postpone_after(timingwheel *, tw_timer *, uint64_t, uint64_t);

static int wakes, fires, visits, lines;

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    struct owner *owner = TW_OWNER(timer, struct owner, timer);
    const tw_timer *view = timer;
    fires += &owner->tw == tw && TW_OWNER(tw, struct owner, tw) == owner &&
             TW_OWNER(view, const struct owner, timer) == owner;
    if (asserted == 0)
        tw_advance_clock(tw, 1000); /* misuse in a callback */
}

static void visit(tw_timer *timer, void *context)
{
    visits += TW_OWNER(timer, struct owner, timer) == (struct owner *)context;
}

static void write_line(const char *line, void *context)
{
    lines += line[0] != '\0' && context == NULL;
}

/* The kinds of initialisers, the tags, and the fields with their types. */
static int types(void)
{
    static const struct tw_config config = {1, 0, TW_DEFAULT_WHEEL_SIZE, 0,
                                            NULL};
    static tw_timer zeroed, initialised = TW_TIMER_INIT(on_timer);
    const uint64_t *tick = &config.tick, *start = &config.start;
    const uint32_t *wheel_size = &config.wheel_size;
    const size_t *max_pending = &config.max_pending;
    void *const *alloc_context = &config.alloc_context;
    struct tw_stats stats = {0, 0, 0, 0, 0, 0};
    size_t *sizes[4];
    uint64_t *counts[2];
    struct tw_timer *timer = &zeroed;
    struct timingwheel *none = NULL;
    enum tw_state state = tw_timer_state(timer);
    enum tw_status status = TW_OK;
    tw_callback *callback = on_timer;
    sizes[0] = &stats.pending;
    sizes[1] = &stats.wheels;
    sizes[2] = &stats.buckets;
    sizes[3] = &stats.bytes;
    counts[0] = &stats.fired;
    counts[1] = &stats.cascaded;
    return *tick == 1 && *start == 0 && *wheel_size == 256 &&
           *max_pending == 0 && *alloc_context == NULL && *sizes[3] == 0 &&
           *counts[1] == 0 && none == NULL && state == TW_IDLE &&
           status == TW_OK && callback != NULL && !tw_is_pending(&initialised);
}

/* A program may have stored these numbers, or compare with them in #if. */
static int values(void)
{
    return TW_OK == 0 && TW_EINVAL == -1 && TW_ENOMEM == -2 && TW_EFULL == -3 &&
           TW_EBUSY == -4 && TW_IDLE == 0 && TW_FIRED == 1 &&
           TW_CANCELLED == 2 && TW_PENDING == 3 &&
           sizeof(tw_timer) <= 3 * sizeof(void *) + 16;
}

/* Calls each function once. */
static int calls(void)
{
    static struct owner owner, moved;
    timingwheel *tw = &owner.tw;
    tw_timer *timer = &owner.timer;
    tw_stats stats;
    uint64_t due = 0, missed = 0;
    int good = tw_init(tw, NULL) == TW_OK;
    tw_timer_init(timer, on_timer);
    good &= tw_reserve(tw, tw_after(0, 1000)) == TW_OK;
    good &= tw_start_within(tw, timer, 60, 70) == TW_OK;
    good &= tw_start(tw, timer, 50) == TW_OK;
    good &= tw_foreach(tw, visit, &owner) == 1 && visits == 1;
    tw_move(tw, timer, &moved.timer);
    tw_move(tw, &moved.timer, timer);
    good &= tw_next_deadline(tw, &due) && due == 50;
    good &= tw_wait(tw, 0, 99) == 50 && tw_remaining(timer, 20) == 30;
    good &= tw_advance_clock(tw, 50) == 1 && fires == 1;
    good &= asserted != 0;
    good &= tw_postpone(tw, timer, 60) == TW_OK;
    good &= tw_timer_state(timer) == TW_PENDING && tw_is_pending(timer);
    good &= tw_advance_clock_limit(tw, 60, 9) == 1 && tw_now(tw) == 60;
    good &= tw_start(tw, timer, 70) == TW_OK && tw_poll(tw, 70) == timer;
    good &= tw_start(tw, timer, 80) == TW_OK && tw_cancel(tw, timer);
    good &= tw_start(tw, timer, 90) == TW_OK && tw_deadline(timer) == 90;
    tw_dump(tw, write_line, NULL);
    tw_get_stats(tw, &stats);
    good &= lines != 0 && stats.pending == tw_count(tw) && tw_check(tw);
    good &= tw_drain(tw, NULL, NULL) == 1;
    good &= tw_start_after(tw, timer, 60, 10) == TW_OK;
    good &= tw_postpone_after(tw, timer, 60, 20) == TW_OK;
    good &= tw_deadline(timer) == 80 && tw_cancel(tw, timer);
    good &= tw_next_period(0, 10, 25, &missed) == 30 && missed == 2;
    good &= tw_strerror(TW_EFULL) != NULL;
    tw_trim(tw);
    tw_destroy(tw);
    return good;
}

#ifdef TIMINGWHEEL_THREADS
static const struct mailbox_functions {
    void (*init)(tw_mailbox *, timingwheel *, void (*)(void *), void *);
    void (*remote_init)(tw_remote *, tw_callback *);
    void (*start)(tw_mailbox *, tw_remote *, uint64_t);
    void (*cancel)(tw_mailbox *, tw_remote *);
    size_t (*collect)(tw_mailbox *);
    bool (*settled)(const tw_remote *);
} box_ = {tw_mailbox_init, tw_remote_init, tw_post_start,
          tw_post_cancel,  tw_collect,     tw_remote_settled};

static void wake(void *context)
{
    wakes += context == NULL;
}

static int posts(void)
{
    static timingwheel tw;
    static struct tw_mailbox box;
    static struct tw_remote remote;
    tw_timer *timer = &remote.timer;
    int good = tw_init(&tw, NULL) == TW_OK;
    box_.init(&box, &tw, wake, NULL);
    box_.remote_init(&remote, NULL);
    box_.start(&box, &remote, 50);
    good &= wakes == 1 && !box_.settled(&remote);
    good &= box_.collect(&box) == 0 && tw_is_pending(timer);
    box_.cancel(&box, &remote);
    good &= box_.collect(&box) == 0 && !tw_is_pending(timer);
    tw_destroy(&tw);
    return good;
}
#else
static int posts(void)
{
    return wakes == 0;
}
#endif

int main(void)
{
    int good = types() && values() && calls() && posts();
    puts(good ? "the interface of 2.0.0" : "not the interface of 2.0.0");
    return !good;
}
