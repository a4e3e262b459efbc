/* http.c - a keep-alive HTTP server on epoll, with timeouts for the header of a
 * request, for idleness, and for a client that does not read its answers.
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
    int fd, phase;    /* 0: closed; HEADER, IDLE or WRITE */
    tw_timer timer;   /* the timeout of the phase */
    const char *rest; /* what is still to be sent of the answer */
    size_t size;
    char request[1024];
} clients[MOST_FILES]; /* by file descriptor */
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
static timingwheel timers;
static int poller, listener;
static bool is_ending;
static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}
static bool watch(int fd, uint32_t what)
{
    struct epoll_event event = {what, {.fd = fd}};
    return epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) == 0;
}
static void enter(struct client *c, int phase)
{
    c->phase = phase;
    if (phase == HEADER || !is_ending)
        tw_postpone_after(&timers, &c->timer, clock_ns(), delays[phase]);
}

/* Also called at a timeout: what can be read or sent restarts the timer. */
static void serve(timingwheel *tw, tw_timer *timer)
{
    struct client *c = TW_OWNER(timer, struct client, timer);
    ssize_t n = 1;
    while (n > 0) {
        char *end = memmem(c->request, c->size, "\r\n\r\n", 4);
        if (end == NULL) {
            n = read(c->fd, c->request + c->size, sizeof(c->request) - c->size);
            c->size += n > 0 ? (size_t)n : 0;
            if (n > 0 && c->phase == IDLE)
                enter(c, HEADER); /* which the rest does not put off */
            continue;
        }
        n = send(c->fd, c->rest, strlen(c->rest), MSG_NOSIGNAL);
        c->rest += n > 0 ? n : 0;
        if (*c->rest == '\0') {
            c->rest = answer;
            c->size -= (size_t)(end + 4 - c->request);
            memmove(c->request, end + 4, c->size);
            enter(c, c->size > 0 ? HEADER : IDLE);
            n = !is_ending; /* 0: that was the last answer */
        } else if (n > 0 || c->phase != WRITE) {
            enter(c, WRITE); /* which each part puts off */
        }
    }
    if (n < 0 && errno == EAGAIN && tw_is_pending(timer))
        return;
    tw_cancel(tw, timer);
    close(c->fd); /* this also ends the watch */
    c->fd = 0;
}

static void on_connection(void)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd >= MOST_FILES || fd + 1 >= sysconf(_SC_OPEN_MAX) ||
        !watch(fd, EPOLLIN | EPOLLOUT | EPOLLET)) {
        close(fd); /* full (the last number is for accept), or fd is -1 */
        return;
    }
    clients[fd] = (struct client){fd, 0, TW_TIMER_INIT(serve), answer, 0, {0}};
    enter(&clients[fd], HEADER);
}

/* Idle clients are closed after a last look, the others have a last time. */
static void end(void)
{
    close(listener);
    is_ending = true;
    for (struct client *c = clients; c < clients + MOST_FILES; c++)
        if (c->fd > 0)
            tw_start_after(&timers, &c->timer, clock_ns(),
                           c->phase == IDLE ? 0 : delays[LAST]);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    struct epoll_event events[64];
    sigset_t stop = {0};
    address.sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 8000));
    for (int i = 2; i < argc && i < 6; i++)
        delays[i - 2] = strtoull(argv[i], NULL, 10) * MS;
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    tw_init(&timers, &(tw_config){.tick = MS, .start = clock_ns()});
    int signals = signalfd(-1, &stop, SFD_CLOEXEC);
    poller = epoll_create1(EPOLL_CLOEXEC);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, SOMAXCONN) != 0 || !watch(listener, EPOLLIN) ||
        !watch(signals, EPOLLIN | EPOLLET))
        return perror("http"), 1;
    while (!is_ending || tw_count(&timers) > 0) {
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
    tw_destroy(&timers);
}
