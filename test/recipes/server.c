/* server.c - an echo server on epoll with a timeout for the first data, and
 * one for idleness. For other machines, write INADDR_ANY for INADDR_LOOPBACK.
 *     cc -std=gnu99 -O2 -Wall -Wextra server.c -o server && ./server
 *     nc 127.0.0.1 7000    (in a second terminal; Ctrl-C ends the server)
 * Other values: ./server PORT FIRST_MS IDLE_MS. A callback must not run the
 * loop. SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
#define MS UINT64_C(1000000) /* in nanoseconds */
enum { MOST_FILES = 10000 };
static struct client {
    int fd;            /* 0: closed */
    tw_timer timer;    /* the timeout for the first data, then for more */
} clients[MOST_FILES]; /* by file descriptor */
static timingwheel timers;
static uint64_t first = 5000 * MS, idle = 30000 * MS;
static int poller, listener;
static volatile sig_atomic_t is_stopped;
static void serve(timingwheel *tw, tw_timer *timer), on_connection(void);

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static bool watch(int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Returns false if the port is taken. */
static bool init(uint16_t port)
{
    struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    address.sin_port = htons(port);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    poller = epoll_create1(EPOLL_CLOEXEC);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    return bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           listen(listener, SOMAXCONN) == 0 && watch(listener);
}

/* In a handler of signals, too: then it takes up to a second. */
static void stop(void)
{
    is_stopped = 1;
}

static void run(void)
{
    struct epoll_event events[64];
    for (is_stopped = 0; !is_stopped;) {
        uint64_t wait = tw_wait(&timers, clock_ns(), 1000 * MS);
        int ready = epoll_wait(poller, events, 64, (int)((wait + MS - 1) / MS));
        tw_advance_clock(&timers, clock_ns()); /* calls serve */
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listener)
                on_connection();
            else if (clients[fd].fd > 0)            /* 0: closed in this turn */
                serve(&timers, &clients[fd].timer); /* or new: harmless */
        }
    }
}

/* The example: an echo of what has come. Also reads at a timeout, since data
 * that has come beats it, even after a stall. One reading of the clock for a
 * whole turn would save 20 ns, and make delays shorter by that turn. */
static void serve(timingwheel *tw, tw_timer *timer)
{
    struct client *c = TW_OWNER(timer, struct client, timer);
    char text[512];
    ssize_t n = recv(c->fd, text, sizeof(text), MSG_DONTWAIT);
    if (n > 0) /* any byte: for requests, start only where one is complete */
        tw_postpone_after(tw, timer, clock_ns(), idle);
    if (n == 0 || (n > 0 && send(c->fd, text, (size_t)n, MSG_DONTWAIT) != n))
        tw_cancel(tw, timer); /* the client has gone, or reads too slowly */
    if (!tw_is_pending(timer)) {
        close(c->fd); /* this also ends the watch */
        c->fd = 0;
    }
}

static void on_statistic(timingwheel *tw, tw_timer *timer)
{
    dprintf(1, "%zu clients\n", tw_count(tw)); /* each has one timer */
    tw_start_after(tw, timer, clock_ns(), 1000 * MS);
}

static void on_connection(void)
{
    int fd = accept(listener, NULL, NULL);
    if (fd >= MOST_FILES || fd + 1 >= sysconf(_SC_OPEN_MAX) || !watch(fd)) {
        close(fd); /* full (the last number is for accept), or fd is -1 */
        return;
    }
    clients[fd] = (struct client){.fd = fd, .timer = TW_TIMER_INIT(serve)};
    tw_start_after(&timers, &clients[fd].timer, clock_ns(), first);
}

static void on_signal(int number)
{
    (void)number;
    stop();
}

int main(int argc, char **argv)
{
    tw_timer statistic = TW_TIMER_INIT(on_statistic);
    first = argc > 2 ? strtoull(argv[2], NULL, 10) * MS : first;
    idle = argc > 3 ? strtoull(argv[3], NULL, 10) * MS : idle;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, on_signal);
    if (!init((uint16_t)(argc > 1 ? atoi(argv[1]) : 7000)))
        return perror("server"), 1;
    tw_start_after(&timers, &statistic, clock_ns(), 1000 * MS);
    run();
    tw_destroy(&timers); /* all timers are idle: their owners may be freed */
}
