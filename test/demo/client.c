/* client.c - starts test/recipes/server.c, and connects to the server 2,000
 * times. A client sends a request, waits for the answer, and pauses. 1 of 100
 * requests is lost, and a timeout of the client fires. After 1 of 100 a client
 * falls silent, and a timeout of the server fires.
 *
 *     client SERVER [--connections 1..9000] [--seconds N]
 *
 * SPDX-License-Identifier: MIT */
#define CALLBACKS(row) row(on_pause) row(on_no_answer)
#include "books.h"
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 9000 };
static struct client {
    int fd; /* -1 while closed */
    tw_timer pause, no_answer;
} clients[MOST];

static timingwheel timers;
static uint64_t now;
static int poller;
static struct sockaddr_in address = {.sin_family = AF_INET};
static unsigned long silent;

static void begin_pause(struct client *c, int shortest)
{
    uint64_t ms = (uint64_t)(shortest + rand() % shortest);
    tw_start_after(&timers, &c->pause, now, ms * TICK);
}

static void reopen(struct client *c)
{
    tw_cancel(&timers, &c->pause);
    tw_cancel(&timers, &c->no_answer);
    close(c->fd);
    c->fd = -1;
    begin_pause(c, 20);
}

static void open_client(struct client *c)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    struct linger reset = {1, 0}; /* an orderly close blocks the port longer */
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    connect(c->fd, (struct sockaddr *)&address, sizeof(address));
    if (epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event) != 0)
        err(1, "demo");
    begin_pause(c, 100);
}

static void on_pause(timingwheel *tw, tw_timer *timer)
{
    struct client *c = TW_OWNER(timer, struct client, pause);
    int chance = rand() % 100;
    if (c->fd < 0) {
        open_client(c);
    } else if (chance == 0) {
        silent++; /* until the server hangs up */
    } else {
        if (chance > 1)
            send(c->fd, "hello\n", 6, MSG_NOSIGNAL);
        tw_start_after(tw, &c->no_answer, now, (uint64_t)300 * TICK);
    }
}

static void on_no_answer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    reopen(TW_OWNER(timer, struct client, no_answer));
}

static void on_data(struct client *c)
{
    char answer[64];
    ssize_t size = recv(c->fd, answer, sizeof(answer), 0);
    if (size == 0 || (size < 0 && errno != EAGAIN)) {
        reopen(c);
    } else if (size > 0 && tw_cancel(&timers, &c->no_answer)) {
        begin_pause(c, 100);
    }
}

/* Returns a process that only sleeps, and notes how late the sleeps end. */
static pid_t start_sleeper(struct lateness *sleeps)
{
    pid_t child = fork();
    while (child == 0) {
        int ms = 1 + rand() % 20;
        uint64_t deadline = books_clock() + (uint64_t)ms * TICK;
        poll(NULL, 0, ms);
        note_lateness(sleeps, deadline);
    }
    return child;
}

/* Returns the server, which listens on a port that was free. */
static pid_t start_server(const char *program)
{
    socklen_t size = sizeof(address);
    char port[8];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        err(1, "demo: no free port");
    close(fd);
    snprintf(port, sizeof(port), "%d", ntohs(address.sin_port));
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, port, "400", "800", (char *)NULL);
        err(1, "%s", program);
    }
    return child;
}

int main(int argc, char **argv)
{
    int connections = 2000, seconds = 10, status = 1;
    for (int i = 2; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--seconds") == 0 ? &seconds : &connections) =
            atoi(argv[i + 1]);
    if (argc % 2 != 0 || connections < 1 || connections > MOST || seconds < 1)
        errx(2, "usage: client SERVER [--connections 1..9000] [--seconds N]");
    rlim_t files = (rlim_t)connections + 100;
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, files}) != 0)
        err(1, "so many connections need more open files (ulimit -n)");
    printf("%d clients talk to test/recipes/server.c for %d s. Each request "
           "postpones the\ntimeout of its connection (serve, 0.8 s). One "
           "request in 100 is lost, and\nafter one in 100 the client falls "
           "silent, and the server must cut it. Every\ndeadline is noted a "
           "second time, and compared. The server says each second:\n\n",
           connections, seconds);
    fflush(stdout);
    struct lateness *sleeps = mmap(NULL, sizeof(*sleeps), PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t sleeper = start_sleeper(sleeps), server = start_server(argv[1]);
    now = books_clock();
    uint64_t end = now + (uint64_t)seconds * 1000 * TICK;
    poller = epoll_create1(EPOLL_CLOEXEC);
    tw_init(&timers, &(tw_config){.tick = TICK, .start = now});
    for (int i = 0; i < connections; i++) {
        clients[i].fd = -1;
        tw_timer_init(&clients[i].pause, on_pause);
        tw_timer_init(&clients[i].no_answer, on_no_answer);
        begin_pause(&clients[i], 200);
    }
    while (now < end) {
        struct epoll_event events[256];
        uint64_t wait = tw_wait(&timers, books_clock(), 100 * TICK);
        int ready =
            epoll_wait(poller, events, 256, (int)((wait + TICK - 1) / TICK));
        now = books_clock();
        tw_advance_clock(&timers, now);
        for (int i = 0; i < ready; i++) {
            struct client *c = events[i].data.ptr;
            if (c->fd >= 0) /* not closed by a timer of this turn */
                on_data(c);
        }
    }
    kill(sleeper, SIGKILL);
    kill(server, SIGINT); /* which has live connections */
    waitpid(server, &status, 0);
    tw_destroy(&timers);
    printf("\n%lu clients fell silent: the server has cut all but the latest.\n"
           "A timer fires in the next tick of 1 ms, once the kernel has woken "
           "the process.\nWhat the kernel adds:\n",
           silent);
    print_lateness("a process that only sleeps", sleeps);
    if (sleeps->most > 100 * TICK)
        printf("The machine stood still: a sleep ended %.0f ms late.\n",
               (double)sleeps->most / TICK);
    bool is_right = status == 0 && rows[1].counts[CANCELLED] > 0;
    puts(is_right ? "\nPASSED: no timer fired early, and none was lost."
                  : "FAILED: the server ended badly, or answered nothing.");
    return !is_right;
}
