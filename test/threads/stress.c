/* stress.c - four threads post to one mailbox, and one loop collects. At the
 * end, two threads read one timingwheel at once, without a lock.
 *
 *     stress [--posts N] [--seed S]
 *
 * threads.sh builds the program under ThreadSanitizer and AddressSanitizer.
 * Only an eventfd wakes the loop. A loop that sleeps for 5 s with requests in
 * the mailbox has lost a wake-up. The loop frees timers as soon as they are
 * settled. Memory is out at times, so that timers wait outside of the wheels:
 * wheels are small, and the loop trims them.
 *
 * Each start has a number of its own, in the low bits of its deadline. A start
 * fires at most once, and the start of a new timer, which nobody posts again,
 * fires once. The callback sees what the poster has written before. The counts
 * that the program takes are relaxed or belong to one thread, so they order
 * nothing for the sanitizer.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../lib/random.h"
#include "../lib/tap.h"

static void *take(size_t size);

#define TW_MALLOC(size, context) ((void)(context), take(size))
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#define TW_STATIC
#define TIMINGWHEEL_THREADS
#define TIMINGWHEEL_IMPLEMENTATION
#ifndef HEADER /* threads.sh sets a header with a mistake */
#define HEADER "../../timingwheel.h"
#endif
#include HEADER

#define PRODUCERS 4
#define SHARED 48  /* timers of one round, posted by all producers */
#define ROUND 2048 /* posts of a producer in a round */
#define ID_BITS 26 /* of a deadline; the rest is the tick before */
#define ID_OF(deadline) ((deadline) & ((UINT64_C(1) << ID_BITS) - 1))
#define LOST_AFTER 5000 /* ms without a wake-up while requests wait */

typedef struct item {
    tw_remote remote;
    bool once; /* posted once, and freed in the timer's callback */
} item;

static uint64_t posts = 500000; /* of each producer */
static uint64_t seed = 1;
static size_t rounds;
static item **shared;     /* rounds * SHARED items */
static atomic_uint *done; /* by round: producers that have finished it */
static item **owner;      /* by start: its timer, until the start fires */
static atomic_uint_fast64_t clock_now; /* in ticks, for the producers */
static atomic_uint running;            /* producers */
static timingwheel tw;
static tw_mailbox box;
static int event;

static atomic_uint_fast64_t posted_once; /* starts of new timers */

/* Counted by the loop. */
static struct {
    uint64_t fired, once, sleeps, turns, wrong, lost, takes, failures;
} seen;

/* Every eighth time there is no memory. */
static void *take(size_t size)
{
    seen.failures += ++seen.takes % 8 == 0;
    return seen.takes % 8 != 0 ? malloc(size) : NULL;
}

/* ------------------------------------------------------------- the loop --- */

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    item *it = (item *)timer;
    uint64_t id = ID_OF(tw_deadline(timer));
    seen.wrong += owner[id] != it || tw_now(wheel) < tw_deadline(timer);
    owner[id] = NULL;
    seen.fired++;
    if (it->once) {
        seen.wrong += !tw_remote_settled(&it->remote);
        seen.once++;
        free(it);
    }
}

static void wake(void *context)
{
    static const uint64_t one = 1;
    if (write(*(int *)context, &one, sizeof(one)) != sizeof(one))
        abort();
}

/* Sleeps until woken, at most LOST_AFTER ms. */
static void sleep_until_woken(bool poll_only)
{
    struct pollfd poller = {event, POLLIN, 0};
    uint64_t count;
    int ready = poll(&poller, 1, poll_only ? 0 : LOST_AFTER);
    if (ready > 0 && read(event, &count, sizeof(count)) < 0)
        abort();
    seen.sleeps += !poll_only;
    seen.lost +=
        ready == 0 && !poll_only &&
        atomic_load_explicit(&box.posted, memory_order_relaxed) != NULL;
}

/* Frees the timers of a round that every producer has finished. Returns true if
 * all are freed. */
static bool free_round(size_t round)
{
    bool all = true;
    if (atomic_load_explicit(&done[round], memory_order_acquire) != PRODUCERS)
        return false;
    for (item **it = shared + round * SHARED;
         it < shared + (round + 1) * SHARED; it++) {
        if (*it != NULL && tw_remote_settled(&(*it)->remote) &&
            !tw_is_pending(&(*it)->remote.timer)) {
            free(*it);
            *it = NULL;
        }
        all = all && *it == NULL;
    }
    return all;
}

/* Runs until every timer of every round is freed, or for a million turns after
 * the last post. The loop's time is the number
 * of its turns. Therefore the loop does not sleep while a timer is pending. */
static void run_loop(void)
{
    size_t round = 0, last = 0;
    while (round < rounds || tw_count(&tw) > 0 ||
           atomic_load(&box.posted) != NULL) {
        bool is_over =
            atomic_load_explicit(&running, memory_order_acquire) == 0;
        if (is_over && ++last > 1000000)
            return;
        sleep_until_woken(tw_count(&tw) > 0 || is_over);
        seen.wrong += tw_collect(&box) != 0;
        atomic_store_explicit(&clock_now, ++seen.turns, memory_order_relaxed);
        tw_advance_clock(&tw, seen.turns << ID_BITS);
        tw_trim(&tw);
        while (round < rounds && free_round(round))
            round++;
    }
}

/* -------------------------------------------------------- the producers --- */

static item *new_item(bool once)
{
    item *it = (item *)malloc(sizeof(*it));
    if (it == NULL)
        abort();
    tw_remote_init(&it->remote, on_fire);
    it->once = once;
    return it;
}

static void post_start(item *it, uint64_t id, uint64_t random)
{
    uint64_t now = atomic_load_explicit(&clock_now, memory_order_relaxed);
    uint64_t tick = now + random % 20;
    tick = tick > 10 ? tick - 10 : 0;
    owner[id] = it; /* plain: the callback must see the write */
    tw_post_start(&box, &it->remote, tick << ID_BITS | id);
}

/* Waits for a turn of the loop, so that the producers do not finish before the
 * loop runs. Gives up after 100 looks, since the loop may be asleep. */
static void wait_for_turn(void)
{
    uint64_t then = atomic_load_explicit(&clock_now, memory_order_relaxed);
    for (int i = 0; i < 100; i++) {
        if (atomic_load_explicit(&clock_now, memory_order_relaxed) != then)
            return;
        sched_yield();
    }
}

/* Posts starts and cancels. In 1 of 32 posts the timer is a new timer. The loop
 * may free a new timer before the post returns. */
static void *produce(void *argument)
{
    uint64_t producer = (uint64_t)(uintptr_t)argument;
    uint64_t random = seed * PRODUCERS + producer, once = 0;
    for (uint64_t i = 0; i < posts; i++) {
        uint64_t choice = random_next(&random), id = 1 + producer * posts + i;
        item *it = shared[i / ROUND * SHARED + choice % SHARED];
        choice >>= 8;
        if (choice % 32 == 0) {
            once++;
            post_start(new_item(true), id, choice >> 8);
        } else if (choice % 32 < 10) {
            tw_post_cancel(&box, &it->remote);
        } else {
            post_start(it, id, choice >> 8);
        }
        if ((i + 1) % ROUND == 0 || i + 1 == posts)
            atomic_fetch_add_explicit(&done[i / ROUND], 1,
                                      memory_order_release);
        else if ((choice >> 32 & 31) == 0)
            wait_for_turn();
    }
    atomic_fetch_add_explicit(&posted_once, once, memory_order_relaxed);
    atomic_fetch_sub_explicit(&running, 1, memory_order_release);
    wake(&event);
    return NULL;
}

/* ---------------------------------------------------------------- cases --- */

static void all_at_once(void)
{
    pthread_t threads[PRODUCERS];
    tw_config config = {0};
    config.tick = UINT64_C(1) << ID_BITS;
    config.wheel_size = 2;
    config.max_pending = 1; /* does not limit posted starts */
    tw_init(&tw, &config);
    event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    tw_mailbox_init(&box, &tw, wake, &event);
    rounds = (size_t)((posts + ROUND - 1) / ROUND);
    shared = (item **)calloc(rounds * SHARED, sizeof(*shared));
    done = (atomic_uint *)calloc(rounds, sizeof(*done));
    owner = (item **)calloc(PRODUCERS * posts + 1, sizeof(*owner));
    if (event < 0 || !shared || !done || !owner)
        abort();
    for (size_t i = 0; i < rounds * SHARED; i++)
        shared[i] = new_item(false);
    atomic_store(&running, PRODUCERS);
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        if (pthread_create(&threads[i], NULL, produce, (void *)i) != 0)
            abort();
    run_loop();
    for (size_t i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(tw_check(&tw));
    CHECK_EQUAL(seen.wrong, 0);
    CHECK_EQUAL(seen.once, atomic_load(&posted_once));
    CHECK(seen.fired > seen.once && seen.failures > 0);
    CHECK_EQUAL(seen.lost, 0);
    CHECK(seen.sleeps > 0);
    for (size_t i = 0; i < rounds * SHARED; i++)
        CHECK(shared[i] == NULL);
    tw_destroy(&tw);
    free(shared), free(done), free(owner);
    close(event);
}

/* -------------------------------------------------------------- readers --- */

#define READ 200 /* timers */

static tw_timer timers[READ];

static bool match_none(const tw_timer *timer, void *context)
{
    return timer == context;
}

static void no_line(const char *line, void *context)
{
    (void)line, (void)context;
}

/* All functions of a const timingwheel. They only read. */
static void *read_all(void *unused)
{
    uint64_t next, sum = tw_now(&tw) + tw_count(&tw);
    tw_stats stats;
    sum += tw_next_deadline(&tw, &next) ? next : 0;
    sum += tw_wait(&tw, 0, 99) + tw_check(&tw);
    sum += tw_find(&tw, match_none, NULL) != NULL;
    tw_get_stats(&tw, &stats);
    tw_dump(&tw, no_line, NULL);
    for (unsigned i = 0; i < READ; i++)
        sum += tw_deadline(&timers[i]) + tw_remaining(&timers[i], 9) +
               (uint64_t)tw_timer_state(&timers[i]) + tw_is_pending(&timers[i]);
    return sum == 0 ? unused : NULL;
}

/* After most timers have been cancelled, so that a wait searches. */
static void two_readers(void)
{
    pthread_t threads[2];
    tw_init(&tw, NULL);
    for (uint64_t i = 0; i < READ; i++) {
        tw_timer_init(&timers[i], NULL);
        (void)tw_start(&tw, &timers[i], 5 + i * i);
    }
    for (unsigned i = 0; i < READ - 1; i += 1 + i % 3)
        CHECK(tw_cancel(&tw, &timers[i]));
    for (unsigned i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, read_all, NULL) != 0)
            abort();
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    tw_destroy(&tw);
}

static const tap_case cases[] = {
    {"four threads post: no post, wake-up or timer is lost", all_at_once},
    {"two threads read at once", two_readers},
};

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--posts") == 0 ? &posts : &seed) =
            strtoull(argv[i + 1], NULL, 10);
    if (posts == 0 || PRODUCERS * posts >= UINT64_C(1) << ID_BITS) {
        fputs("stress: --posts is out of range\n", stderr);
        return 2;
    }
    return TAP_RUN(cases, 1, argv);
}
