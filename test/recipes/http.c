/* http.c - a keep-alive HTTP server on epoll, with timeouts for the header of a
 * request, for idleness, and for an answer that the client does not read.
 *     cc -std=gnu99 -O2 -Wall -Wextra http.c -o http && ./http 8000
 * Other values: ./http PORT HEADER_MS IDLE_MS WRITE_MS LAST_MS. SIGTERM leaves
 * LAST_MS to requests that have begun. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* for memmem and accept4 */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
enum { HEADER, IDLE, WRITE, LAST, MOST_FILES = 10000 };
static uint64_t delays[] = {5000 * MS, 30000 * MS, 10000 * MS, 5000 * MS};
static struct client {
    int fd, phase;    /* HEADER, IDLE or WRITE */
    tw_timer timer;   /* its timeout; pending while the client is connected */
    const char *rest; /* what is still to be sent of the answer */
    size_t size;
    char request[1024];
} clients[MOST_FILES]; /* by file descriptor */
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
static timingwheel timers;
static int poller, listener, signals;
static uint64_t last; /* the time at which a server that ends cuts; or 0 */
static bool is_stopped;
static void serve(timingwheel *tw, tw_timer *timer), on_connection(void),
    end(void); /* of the example below */
static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}
static bool watch(int how, int fd, uint32_t what)
{
    struct epoll_event event = {what, {.fd = fd}};
    return epoll_ctl(poller, how, fd, &event) == 0;
}

/* Returns false if the port is taken. */
static bool init(uint16_t port)
{
    struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    sigset_t term = {0};
    address.sin_port = htons(port);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    signals = signalfd(-1, &term, SFD_CLOEXEC);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    poller = epoll_create1(EPOLL_CLOEXEC);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    return bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           listen(listener, SOMAXCONN) == 0 &&
           watch(EPOLL_CTL_ADD, listener, EPOLLIN) &&
           watch(EPOLL_CTL_ADD, signals, EPOLLIN | EPOLLET);
}

void stop(void)
{
    is_stopped = true;
}

static void run(void)
{
    struct epoll_event events[64];
    is_stopped = false;
    while (!is_stopped && (last == 0 || tw_count(&timers) > 0)) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
        int ready = epoll_wait(poller, events, 64, (int)((wait + MS - 1) / MS));
        for (int i = 0; i < ready; i++)
            if (events[i].data.fd == listener)
                on_connection();
            else if (events[i].data.fd == signals)
                end();
            else
                serve(&timers, &clients[events[i].data.fd].timer);
        tw_advance_clock(&timers, clock_ns()); /* calls serve */
    }
}

/* Reads once, and answers what is whole: then others have their turn. Also runs
 * at a timeout. Only a whole answer, or a new phase, restarts the timer. */
static void serve(timingwheel *tw, tw_timer *timer)
{
    struct client *c = TW_OWNER(timer, struct client, timer);
    char *end = NULL;
    ssize_t n = 1;
    if (c->phase != WRITE) {
        n = read(c->fd, c->request + c->size, sizeof(c->request) - c->size);
        c->size += n > 0 ? (size_t)n : 0;
    }
    bool is_sent = false;
    while (n > 0 && (end = memmem(c->request, c->size, "\r\n\r\n", 4))) {
        n = send(c->fd, c->rest, strlen(c->rest), MSG_NOSIGNAL);
        c->rest += n > 0 ? n : 0;
        if (*c->rest != '\0')
            break;
        is_sent = true;
        c->rest = answer;
        c->size -= (size_t)(end + 4 - c->request);
        memmove(c->request, end + 4, c->size);
    }
    int old = c->phase;
    c->phase = end != NULL ? WRITE : c->size > 0 ? HEADER : IDLE;
    if (n < 0 ? errno != EAGAIN : n == 0 || (is_sent && last > 0))
        tw_cancel(tw, timer);
    else if (last > 0 && c->phase != old)
        tw_postpone(tw, timer, last);
    else if (is_sent || c->phase != old)
        tw_postpone_after(tw, timer, clock_ns(), delays[c->phase]);
    if (!tw_is_pending(timer))
        close(c->fd); /* this also ends the watch */
    else if ((c->phase == WRITE) != (old == WRITE))
        watch(EPOLL_CTL_MOD, c->fd, old == WRITE ? EPOLLIN : EPOLLOUT);
}

static void on_connection(void)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < MOST_FILES && fd + 1 < sysconf(_SC_OPEN_MAX) &&
        watch(EPOLL_CTL_ADD, fd, EPOLLIN)) {
        clients[fd] =
            (struct client){fd, IDLE, TW_TIMER_INIT(serve), answer, 0, ""};
        tw_postpone_after(&timers, &clients[fd].timer, clock_ns(),
                          delays[HEADER]);
    } else
        close(fd); /* full (the last number is for accept), or fd is -1 */
}

/* Idle clients are closed after a last look, the others have a last time. */
static void end(void)
{
    close(listener);
    last = tw_after(clock_ns(), delays[LAST]);
    for (struct client *c = clients; c < clients + MOST_FILES; c++)
        if (tw_is_pending(&c->timer))
            tw_start(&timers, &c->timer, c->phase == IDLE ? 0 : last);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc && i < 6; i++)
        delays[i - 2] = strtoull(argv[i], NULL, 10) * MS;
    if (!init((uint16_t)(argc > 1 ? atoi(argv[1]) : 8000)))
        return perror("http"), 1;
    run();
    tw_destroy(&timers);
}
