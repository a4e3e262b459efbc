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

struct server {
    timingwheel timers;
    uint64_t now; /* the latest reading, for the callbacks */
};
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
    struct server *server = TW_OWNER(tw, struct server, timers);
    struct peer *peer = TW_OWNER(timer, struct peer, retry);
    struct message *m = TW_OWNER(peer - peer->index, struct message, peers);
    if (peer->tries == TRIES) {
        printf("%s: peer %d is lost\n", m->text, peer->index);
        return;
    }
    uint64_t pause = (UINT64_C(10) << peer->tries++) * MS; /* doubles */
    if (tw_start_after(tw, timer, server->now, pause) != TW_OK)
        printf("%s: no memory for peer %d\n", m->text, peer->index);
}

static void send_message(struct server *server, struct message *m)
{
    for (int i = 0; i < PEERS; i++) {
        m->peers[i].index = i;
        m->peers[i].tries = 0;
        tw_timer_init(&m->peers[i].retry, on_retry);
        on_retry(&server->timers, &m->peers[i].retry); /* the first try */
    }
}

static void on_answer(struct server *server, struct message *m, int peer)
{
    if (tw_cancel(&server->timers, &m->peers[peer].retry))
        printf("%s: peer %d after %d tries\n", m->text, peer,
               m->peers[peer].tries);
}

int main(void)
{
    struct server server = {.now = clock_ns()};
    struct message hello = {.text = "hello"};
    tw_init(&server.timers, &(tw_config){.tick = MS, .start = server.now});
    send_message(&server, &hello);
    for (uint64_t begin = server.now; tw_count(&server.timers) > 0;) {
        uint64_t wait = tw_wait(&server.timers, clock_ns(), 5 * MS);
        nanosleep(&(struct timespec){0, (long)wait}, NULL);
        server.now = clock_ns();
        tw_advance_clock(&server.timers, server.now);
        if (server.now > begin + 15 * MS) /* as if its answer came */
            on_answer(&server, &hello, 1);
    }
    tw_destroy(&server.timers);
    return 0;
}
