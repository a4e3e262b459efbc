/* client.c - the demo: runs test/recipes/server.c, and connects to the server
 * 2,000 times. A client sends a request, waits for the answer, and pauses. 1 of
 * 100 requests is lost, and a timeout of the client fires. After 1 of 100 a
 * client falls silent, and a timeout of the server fires.
 *
 *     client [--connections 1..9000] [--seconds N]
 *
 * The server and the clients run in a process each, with variables of their
 * own, such as `timers` and `poller`. SPDX-License-Identifier: MIT */
#include "books.h"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type" /* which main may do */
#define main unused_main
#include "test/recipes/server.c"
#undef main
#pragma GCC diagnostic pop
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { MOST = 9000 };
static struct peer {
    int fd; /* -1 while closed */
    tw_timer pause, no_answer;
} peers[MOST]; /* the clients */

static uint64_t now;
static struct sockaddr_in address = {.sin_family = AF_INET};
static struct shared {
    struct books server, client;
    struct lateness sleeps;
    bool is_silent[1 << 16]; /* by the port of the client */
    unsigned long cut_silent, answers;
} * shared;

/* `name` is getsockname in the client, and getpeername in the server. */
static bool *is_silent(int fd, int (*name)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in client = {.sin_port = 0};
    name(fd, (struct sockaddr *)&client, &(socklen_t){sizeof(client)});
    return &shared->is_silent[client.sin_port];
}

static void before_callback(tw_timer *timer)
{
    if (timer->callback == serve)
        shared->cut_silent +=
            *is_silent(TW_OWNER(timer, struct client, timer)->fd, getpeername);
}

static void begin_pause(struct peer *p, int shortest)
{
    uint64_t ms = (uint64_t)(shortest + rand() % shortest);
    tw_start_after(&timers, &p->pause, now, ms * TICK);
}

static void reopen(struct peer *p)
{
    tw_cancel(&timers, &p->pause);
    tw_cancel(&timers, &p->no_answer);
    close(p->fd);
    p->fd = -1;
    begin_pause(p, 20);
}

static void open_peer(struct peer *p)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};
    struct linger reset = {1, 0}; /* an orderly close blocks the port longer */
    p->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    connect(p->fd, (struct sockaddr *)&address, sizeof(address));
    if (epoll_ctl(poller, EPOLL_CTL_ADD, p->fd, &event) != 0)
        err(1, "demo");
    *is_silent(p->fd, getsockname) = false;
    begin_pause(p, 100);
}

static void on_pause(timingwheel *tw, tw_timer *timer)
{
    struct peer *p = TW_OWNER(timer, struct peer, pause);
    int chance = rand() % 100;
    if (p->fd < 0) {
        open_peer(p);
    } else if (chance == 0) {
        *is_silent(p->fd, getsockname) = true; /* until the server hangs up */
    } else {
        if (chance > 1)
            send(p->fd, "hello\n", 6, MSG_NOSIGNAL);
        tw_start_after(tw, &p->no_answer, now, (uint64_t)300 * TICK);
    }
}

/* Reads an answer. A client without timers asked in vain. */
static void on_data(struct peer *p)
{
    char answer[64];
    ssize_t size = recv(p->fd, answer, sizeof(answer), 0);
    bool speaks = tw_is_pending(&p->pause) || tw_is_pending(&p->no_answer);
    if (size == 0 || (size < 0 && (errno != EAGAIN || !speaks)))
        reopen(p);
    else if (size > 0) {
        shared->answers++;
        tw_cancel(&timers, &p->no_answer);
        begin_pause(p, 100);
    }
}

static void on_no_answer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    on_data(TW_OWNER(timer, struct peer, no_answer)); /* which may have come */
}

static void run_clients(int connections)
{
    books = &shared->client;
    now = books_clock();
    poller = epoll_create1(EPOLL_CLOEXEC);
    tw_init(&timers, &(tw_config){.tick = TICK, .start = now});
    for (int i = 0; i < connections; i++) {
        peers[i].fd = -1;
        tw_timer_init(&peers[i].pause, on_pause);
        tw_timer_init(&peers[i].no_answer, on_no_answer);
        begin_pause(&peers[i], 200);
    }
    while (!is_stopped) {
        struct epoll_event events[256];
        uint64_t wait = tw_wait(&timers, books_clock(), 100 * TICK);
        int ready =
            epoll_wait(poller, events, 256, (int)((wait + TICK - 1) / TICK));
        now = books_clock();
        tw_advance_clock(&timers, now);
        for (int i = 0; i < ready && !is_stopped; i++) {
            struct peer *p = events[i].data.ptr;
            if (p->fd >= 0) /* not closed by a timer of this turn */
                on_data(p);
        }
    }
    tw_destroy(&timers);
}

static void run_server(void)
{
    books = &shared->server;
    tw_timer statistic = TW_TIMER_INIT(on_statistic);
    tw_start_after(&timers, &statistic, clock_ns(), 1000 * MS);
    run();
    tw_destroy(&timers);
}

/* Starts a process: the clients, or the server if there are none. */
static pid_t start(int connections, int seconds)
{
    pid_t process = fork();
    if (process < 0)
        err(1, "demo");
    if (process > 0)
        return process;
    alarm((unsigned)seconds + 5); /* ends a process that hangs */
    if (connections > 0)
        run_clients(connections);
    else
        run_server();
    exit(0);
}

/* Sleeps again and again, and notes how late the sleeps end. */
static void sleep_until(uint64_t end)
{
    while (!is_stopped && books_clock() < end) {
        int ms = 1 + rand() % 20;
        uint64_t deadline = books_clock() + (uint64_t)ms * TICK;
        if (poll(NULL, 0, ms) == 0)
            note_lateness(&shared->sleeps, deadline);
    }
}

static void print_verdict(const char *failure)
{
    const unsigned long *fired = shared->server.counts[0]; /* timers of serve */
    unsigned long cuts = fired[FIRED] - fired[AGAIN];
    if (failure != NULL)
        printf("\nFAILED: %s.\n", failure);
    else
        printf(
            "\nPASSED: no timer was early or lost, and no wait was too long, "
            "as a second list\nof all deadlines shows (test/demo/books.h). "
            "The server cut %lu connections:\n%lu of silent clients, and %lu "
            "of clients that spoke too late because the\nmachine was busy.\n",
            cuts, shared->cut_silent, cuts - shared->cut_silent);
}

static void print_books(void)
{
    const struct books *server = &shared->server, *client = &shared->client;
    printf("\n  %-16s%12s%12s%12s%12s%12s\n", "callback", "started",
           "postponed", "cancelled", "fired", "pending");
    for (size_t i = 0; i < ROWS; i++) {
        const unsigned long *n = (i < 2 ? server : client)->counts[i];
        printf("  %-16s%12lu%12lu%12lu%12lu%12ld\n", rows[i].name, n[STARTED],
               n[POSTPONED], n[CANCELLED], n[FIRED],
               (long)(n[STARTED] - n[CANCELLED] - n[FIRED]));
    }
    printf("\n  %-28s%15s%15s%15s\n", "late by at most", "half", "99 %", "all");
    print_lateness("timers of the server", &server->lateness);
    print_lateness("timers of the clients", &client->lateness);
    print_lateness("a process that only sleeps", &shared->sleeps);
    printf("\n%lu postpones wrote a deadline each; later the server moved "
           "timers %llu times.\nA timer fires after its tick of 1 ms, when the "
           "loop runs, which a busy machine\ndelays. serve: the timeout of a "
           "connection. on_pause: a client's next request.\non_no_answer: a "
           "client waits for an answer.\n",
           server->counts[0][POSTPONED], server->moves);
}

int main(int argc, char **argv)
{
    int connections = 2000, seconds = 10, client_status, server_status;
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--seconds") == 0 ? &seconds : &connections) =
            atoi(argv[i + 1]);
    if (argc % 2 != 1 || connections < 1 || connections > MOST || seconds < 1)
        errx(2, "usage: client [--connections 1..9000] [--seconds N]");
    rlim_t files = (rlim_t)connections + 100;
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, files}) != 0)
        err(1, "so many connections need more open files (ulimit -n)");
    printf("%d clients talk to test/recipes/server.c for %d s. Each request "
           "postpones the\ntimeout of its connection (0.8 s). One request in "
           "100 is lost, and after one in\n100 the client falls silent, and "
           "the server must cut it. The server says\neach second how many are "
           "connected; who was cut comes back:\n\n",
           connections, seconds);
    fflush(stdout);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, on_signal);
    first = idle = 800 * MS;
    if (!init(0) || getsockname(listener, (struct sockaddr *)&address,
                                &(socklen_t){sizeof(address)}) != 0)
        err(1, "demo");
    pid_t client = start(connections, seconds), server = start(0, seconds);
    sleep_until(books_clock() + (uint64_t)seconds * 1000 * TICK);
    kill(client, SIGINT); /* first: the server has live connections */
    kill(server, SIGINT);
    waitpid(client, &client_status, 0);
    waitpid(server, &server_status, 0);
    const char *failure =
        shared->server.wrong + shared->client.wrong > 0
            ? "a timer was early or lost, or a wait was too long"
        : client_status != 0 || server_status != 0
            ? "the server or the clients crashed, or did not end"
        : shared->answers == 0 ? "no request was answered"
                               : NULL;
    print_verdict(failure);
    print_books();
    return failure != NULL;
}
