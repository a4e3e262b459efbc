/* request.c - 1,000 UDP requests in flight, with back-off. Until its answer, a
 * request is sent again after 100, 200, 400 and 800 ms +- 20 %, and has failed
 * 1.6 s later. Each datagram has its whole pause, and an answer that has come
 * in time beats the timeout, also after a stall:
 *     cc -std=gnu99 -O2 -Wall -Wextra request.c -o request && ./request
 *
 * Only its answer ends a request: other bytes prove nothing about it. Datagrams
 * come back as answers, and a third is lost: so 1,000 requests need about 1,490
 * datagrams, and about 4 have no answer. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
/* A turn sends BURST at most, and then reads: the buffer of a socket takes some
 * 250 small datagrams, and the kernel drops the rest. */
enum { REQUESTS = 1000, FIRST_MS = 100, TRIES = 5, BURST = 100 };
static timingwheel timers;
static struct request {
    tw_timer timer;
    unsigned number, tries;
} requests[REQUESTS];
static unsigned sent; /* datagrams */
static int server;    /* a socket, here connected to its own address */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    struct request *r = TW_OWNER(timer, struct request, timer);
    if (r->tries == TRIES) {
        printf("request %u: no answer\n", r->number);
        return;
    }
    if (send(server, &r->number, sizeof(r->number), MSG_DONTWAIT) < 0)
        perror("send"); /* as if the datagram were lost */
    sent++;
    uint64_t pause = (FIRST_MS * MS) << r->tries++;
    uint64_t percent = 80 + (uint64_t)rand() % 41; /* spreads the requests */
    tw_start_after(tw, timer, clock_ns(), pause * percent / 100);
}

int main(void)
{
    struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    struct sockaddr *own = (struct sockaddr *)&address;
    socklen_t size = sizeof(address);
    unsigned answered = 0, number;
    server = socket(AF_INET, SOCK_DGRAM, 0);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    srand((unsigned)clock_ns()); /* or all machines would pause alike */
    if (bind(server, own, size) != 0 || getsockname(server, own, &size) != 0 ||
        connect(server, own, size) != 0)
        err(1, "request");
    for (unsigned i = 0; i < REQUESTS; i++) {
        requests[i].number = i;
        tw_timer_init(&requests[i].timer, on_timer);
        tw_start(&timers, &requests[i].timer, 0); /* at once */
    }
    while (tw_count(&timers) > 0) {
        struct pollfd input = {.fd = server, .events = POLLIN};
        uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
        poll(&input, 1, (int)((wait + MS - 1) / MS)); /* rounded up */
        uint64_t now = clock_ns(); /* first: answers up to now are read next */
        for (int i = 0; i < REQUESTS; i++) { /* no flood may stop the timers */
            ssize_t n = recv(server, &number, sizeof(number), MSG_DONTWAIT);
            if (n < 0)
                break;
            if (n != sizeof(number) || number >= REQUESTS)
                continue;       /* not an answer */
            if (rand() % 3 > 0) /* a third is lost */
                answered += tw_cancel(&timers, &requests[number].timer);
        }
        tw_advance_clock_limit(&timers, now, BURST);
    }
    printf("%u of %d answered, by %u datagrams\n", answered, REQUESTS, sent);
    tw_destroy(&timers);
    close(server);
    return 0;
}
