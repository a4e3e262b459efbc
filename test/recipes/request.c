/* request.c - 1,000 UDP requests in flight, with back-off. Until its answer, a
 * request is sent again after 100, 200, 400, ... ms +- 20 %, for 2 s in all. An
 * answer that has come in time beats the timeout, even after a stall:
 *     cc -std=gnu99 -O2 -Wall -Wextra request.c -o request && ./request
 *
 * Only its answer ends a request: other bytes prove nothing about it.
 * Requests come back as answers, or are lost. SPDX-License-Identifier: MIT */
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
enum { REQUESTS = 1000, FIRST_MS = 100, LONGEST_MS = 1000, GIVE_UP_MS = 2000 };
static timingwheel timers;
static struct request {
    tw_timer timer;
    uint64_t give_up, pause; /* a time; the next pause */
    unsigned number, sent;
} requests[REQUESTS];
static int server; /* a socket, here connected to its own address */

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    struct request *r = TW_OWNER(timer, struct request, timer);
    if (tw_deadline(timer) == r->give_up) {
        printf("request %u: no answer to %u datagrams\n", r->number, r->sent);
        return;
    }
    r->sent += send(server, &r->number, sizeof(r->number), MSG_DONTWAIT) > 0;
    uint64_t percent = 80 + (uint64_t)rand() % 41; /* spreads the requests */
    uint64_t next = tw_after(clock_ns(), r->pause * percent / 100);
    tw_start(tw, timer, next < r->give_up ? next : r->give_up);
    r->pause = r->pause * 2 < LONGEST_MS * MS ? r->pause * 2 : LONGEST_MS * MS;
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
        connect(server, own, size) != 0 ||
        tw_reserve(&timers, UINT64_MAX) != TW_OK) /* no tw_start can fail */
        err(1, "request");
    for (unsigned i = 0; i < REQUESTS; i++) {
        requests[i] = (struct request){.number = i, .pause = FIRST_MS * MS};
        requests[i].give_up = tw_after(clock_ns(), GIVE_UP_MS * MS);
        tw_timer_init(&requests[i].timer, on_timer);
        tw_start(&timers, &requests[i].timer, 0); /* at once */
    }
    while (tw_count(&timers) > 0) {
        struct pollfd input = {.fd = server, .events = POLLIN};
        uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
        poll(&input, 1, (int)((wait + MS - 1) / MS)); /* rounded up */
        uint64_t now = clock_ns(); /* before all answers that came by then */
        while (recv(server, &number, sizeof(number), MSG_DONTWAIT) > 0)
            if (number < REQUESTS && rand() % 3 > 0) /* a third is lost */
                answered += tw_cancel(&timers, &requests[number].timer);
        tw_advance_clock(&timers, now);
    }
    printf("%u of %d answered\n", answered, REQUESTS);
    tw_destroy(&timers);
    close(server);
    return 0;
}
