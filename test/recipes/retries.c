/* retries.c - an object with several timers of one kind, in an array: a message
 * goes to three peers, and again to each that has not answered.
 *
 *     cc -std=gnu99 -O2 -Wall -Wextra retries.c -o retries && ./retries
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>
#include <time.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
enum { PEERS = 3, TRIES = 4 };

struct message {
    const char *text;
    struct peer {
        tw_timer retry;
        int index, tries;
    } peers[PEERS];
};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* From the timer to its element, from there to the object. */
static void on_retry(timingwheel *tw, tw_timer *timer)
{
    struct peer *peer = TW_OWNER(timer, struct peer, retry);
    struct message *m = TW_OWNER(peer - peer->index, struct message, peers);
    if (peer->tries == TRIES) {
        printf("%s: peer %d is lost\n", m->text, peer->index);
        return;
    }
    uint64_t pause = (UINT64_C(10) << peer->tries++) * MS; /* doubles */
    tw_start_after(tw, timer, clock_ns(), pause);
}

static void send_message(timingwheel *tw, struct message *m)
{
    for (int i = 0; i < PEERS; i++) {
        m->peers[i].index = i;
        m->peers[i].tries = 0;
        tw_timer_init(&m->peers[i].retry, on_retry);
        on_retry(tw, &m->peers[i].retry); /* the first try */
    }
}

static void on_answer(timingwheel *tw, struct message *m, int peer)
{
    if (tw_cancel(tw, &m->peers[peer].retry))
        printf("%s: peer %d after %d tries\n", m->text, peer,
               m->peers[peer].tries);
}

int main(void)
{
    timingwheel timers;
    struct message hello = {.text = "hello"};
    uint64_t begin = clock_ns();
    tw_init(&timers, &(tw_config){.tick = MS, .start = begin});
    send_message(&timers, &hello);
    while (tw_count(&timers) > 0) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 5 * MS), now;
        nanosleep(&(struct timespec){0, (long)wait}, NULL);
        now = clock_ns();          /* read before the answers */
        if (now > begin + 15 * MS) /* as if an answer came */
            on_answer(&timers, &hello, 1);
        tw_advance_clock(&timers, now);
    }
    tw_destroy(&timers);
    return 0;
}
