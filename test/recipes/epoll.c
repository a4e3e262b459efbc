/* epoll.c - a server and its clients in one event loop, timed by the wheel.
 *
 *     cc -O2 epoll.c -o demo && ./demo --connections 2000 --seconds 10
 *
 * Everything runs in one thread, over TCP on the loopback interface. Clients
 * send requests and heartbeats, the server answers. Each connection has
 *
 *     an idle time-out      at the server; postponed at every message
 *     a request time-out    at the client; started when a request goes out,
 *                           cancelled by the answer
 *     a heartbeat           at the client; periodic, missed periods are
 *                           skipped
 *     a pause               at the client; before its next request, or
 *                           before it connects again
 *
 * On purpose the server withholds some answers, and some clients fall silent.
 * As a result, time-outs fire, and connections are closed and opened again.
 *
 * The loop itself is in run_loop. A program of yours needs only the loop:
 *
 *     sleep until a socket is ready, or for as long as tw_wait allows;
 *     read the clock: every delay in this turn counts from the reading;
 *     serve the sockets;
 *     tw_advance_clock to the reading, which fires all due timers.
 *
 * The rest of this file does the timed work, and keeps books: a second record
 * of every timer, made without the library. If a timer fires early, late or
 * never, the program prints the fault and exits with 1.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef __linux__
#error "This demonstration is made of epoll, which only Linux has."
#endif

#define _GNU_SOURCE /* accept4 */
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* All times are in nanoseconds of CLOCK_MONOTONIC. */
#define MILLISECOND UINT64_C(1000000)
#define SECOND (1000 * MILLISECOND)
#define TICK MILLISECOND

#define IDLE_TIMEOUT (800 * MILLISECOND)
#define REQUEST_TIMEOUT (300 * MILLISECOND)
#define HEARTBEAT_PERIOD (250 * MILLISECOND)

/* A pause is drawn from 1 to 2 times these times. */
#define REQUEST_PAUSE (100 * MILLISECOND)
#define REOPEN_PAUSE (20 * MILLISECOND)

/* The first connections open one after the other over this time. Opened at
 * once, the connections would overflow the listener's backlog. */
#define OPENING_SPREAD (400 * MILLISECOND)

/* Faults on purpose: one case in so many. */
#define WITHHELD_ONE_IN 50
#define SILENT_ONE_IN 100

/* A message is one byte. No message ever comes in two pieces. */
#define REQUEST_MESSAGE 'r'
#define ANSWER_MESSAGE 'a'
#define HEARTBEAT_MESSAGE 'h'

/* The bound on connections. By default, an address has 28,232 ports for its
 * clients. */
#define MOST_CONNECTIONS 20000
#define MOST_SECONDS 86400
#define FILES_PER_CONNECTION 2 /* the client's socket and the server's */
#define OTHER_FILES 8          /* the listener, epoll, some to spare */
#define EVENTS_PER_WAKE_UP 256

struct options {
    uint64_t connections;
    uint64_t seconds;
    bool dump;
};

static uint64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* A xorshift generator. Every run draws the same numbers, but not for the same
 * connections. */
static uint64_t random_below(uint64_t bound)
{
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % bound;
}

static void die(const char *what)
{
    fprintf(stderr, "demo: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---------------------------------------------------------------- books --- */

/* The books record for every timer if it is armed, and its deadline. The books
 * follow from the program's calls and from the callbacks. The books never ask
 * the library, so that a mistake of the library cannot spread to the books. */

enum kind { IDLE, REQUEST, HEARTBEAT, PAUSE, STATUS, KINDS };

static const char *const kind_names[KINDS] = {
    "idle time-out", "request time-out", "heartbeat", "pause", "status line"};

/* A timer with its page in the books. */
struct record {
    tw_timer timer;                   /* first: same address as the record */
    uint64_t deadline;                /* the last requested deadline */
    void (*action)(struct record *r); /* called when the timer fires */
    struct record *next;              /* of all records */
    enum kind kind;
    bool armed; /* started or postponed, not yet cancelled or fired */
};

struct tally {
    uint64_t started, postponed, cancelled, fired;
};

/* Lateness is counted in steps of 10 us, up to a second. A larger lateness
 * counts as a second, and shows in the maximum. */
#define LATENESS_STEP (MILLISECOND / 100)
#define LATENESS_STEPS (SECOND / LATENESS_STEP)

static struct {
    struct record *records;
    struct tally tallies[KINDS];
    uint64_t armed;         /* records armed now */
    uint64_t advanced;      /* the time of the latest tw_advance_clock */
    uint64_t advanced_prev; /* the time of the tw_advance_clock before */
    uint64_t wrong;         /* complaints */
    uint64_t max_lateness;
    uint64_t lateness[LATENESS_STEPS + 1];
} books;

/* Notes a broken promise of the library. Prints the first ten. */
static void complain(const char *format, ...)
{
    va_list arguments;
    if (++books.wrong > 10)
        return;
    va_start(arguments, format);
    fputs("\ndemo: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
}

static void record_init(struct record *r, enum kind kind,
                        void (*action)(struct record *r))
{
    r->kind = kind;
    r->action = action;
    r->armed = false;
    r->next = books.records;
    books.records = r;
}

/* The due time of a timer: its deadline rounded up to a tick. */
static uint64_t due_time(const struct record *r)
{
    return (r->deadline + TICK - 1) / TICK * TICK;
}

static void book_started(struct record *r, uint64_t deadline)
{
    books.tallies[r->kind].started++;
    books.armed++;
    r->armed = true;
    r->deadline = deadline;
}

static void book_postponed(struct record *r, uint64_t deadline)
{
    books.tallies[r->kind].postponed++;
    r->deadline = deadline;
}

static void book_cancelled(struct record *r)
{
    books.tallies[r->kind].cancelled++;
    books.armed--;
    r->armed = false;
}

static void book_lateness(uint64_t lateness)
{
    uint64_t step = lateness / LATENESS_STEP;
    books.lateness[step < LATENESS_STEPS ? step : LATENESS_STEPS]++;
    if (lateness > books.max_lateness)
        books.max_lateness = lateness;
}

/* Every timer here starts with a deadline ahead of the clock. The timer must
 * fire in the first call of tw_advance_clock that reaches its due time. An
 * earlier call is early, and a later call is late. */
static void book_fired(struct record *r, uint64_t now)
{
    const char *name = kind_names[r->kind];
    if (!r->armed) {
        complain("a timer (%s) fired that was not armed", name);
        return;
    }
    if (books.advanced < due_time(r))
        complain("a timer (%s) fired %" PRIu64 " ns early", name,
                 due_time(r) - books.advanced);
    else if (books.advanced_prev >= due_time(r))
        complain("a timer (%s) was due and fired only in a later call, "
                 "%" PRIu64 " ns after its time",
                 name, books.advanced - due_time(r));
    book_lateness(now > r->deadline ? now - r->deadline : 0);
    books.tallies[r->kind].fired++;
    books.armed--;
    r->armed = false;
}

/* A timer is lost if it is armed and its time has passed, or if it is not
 * pending in the library. */
static void check_record(const struct record *r)
{
    const char *name = kind_names[r->kind];
    if (r->armed && due_time(r) <= books.advanced)
        complain("a timer (%s) is lost: it was due %" PRIu64 " ns ago", name,
                 books.advanced - due_time(r));
    if (r->armed != tw_is_pending(&r->timer))
        complain("a timer (%s) is %s by the books, and %s by the library", name,
                 r->armed ? "armed" : "not armed",
                 r->armed ? "not pending" : "pending");
    if (r->armed && r->deadline != tw_deadline(&r->timer))
        complain("a timer (%s) lost its deadline", name);
}

/* Compares the books with themselves and with the library. Not for callbacks:
 * in a callback, further timers may be due and not yet fired. */
static void audit(const timingwheel *tw)
{
    struct tally all = {0, 0, 0, 0};
    tw_stats stats;
    for (const struct record *r = books.records; r != NULL; r = r->next)
        check_record(r);
    for (int kind = 0; kind < KINDS; kind++) {
        all.started += books.tallies[kind].started;
        all.cancelled += books.tallies[kind].cancelled;
        all.fired += books.tallies[kind].fired;
    }
    if (all.started != all.cancelled + all.fired + tw_count(tw))
        complain("%" PRIu64 " timers were started, but %" PRIu64
                 " cancelled + %" PRIu64 " fired + %zu pending",
                 all.started, all.cancelled, all.fired, tw_count(tw));
    tw_get_stats(tw, &stats);
    if (stats.fired != all.fired)
        complain("the library counts %" PRIu64 " timers fired, not %" PRIu64,
                 stats.fired, all.fired);
    if (!tw_check(tw))
        complain("tw_check finds an invariant of the wheel broken");
}

/* Returns the lateness not exceeded by `percent` of the fired timers. */
static uint64_t lateness_percentile(uint64_t percent)
{
    uint64_t count = 0, seen = 0, step;
    for (step = 0; step <= LATENESS_STEPS; step++)
        count += books.lateness[step];
    for (step = 0; step < LATENESS_STEPS; step++) {
        seen += books.lateness[step];
        if (seen * 100 >= count * percent)
            break;
    }
    uint64_t bound = (step + 1) * LATENESS_STEP;
    return bound < books.max_lateness ? bound : books.max_lateness;
}

/* ------------------------------------------------------------ stopwatch --- */

/* The stopwatch reads CLOCK_MONOTONIC at each entry into the library and at
 * each exit. A reading costs 20 to 50 ns. A thread's CPU clock would be a
 * system call of several hundred ns, longer than most measured calls. The cost
 * of the readings is measured first and subtracted. If a thread is preempted
 * inside the library, the absence counts as time in the library. The figure is
 * too high on a busy machine, but never too low. */
static struct {
    uint64_t entered;
    uint64_t total;
    uint64_t visits;
    uint64_t calls;
    double clock_cost; /* of an empty visit, in ns */
} stopwatch;

static void library_enter(void)
{
    stopwatch.entered = clock_now();
}

/* Returns the time of the exit. */
static uint64_t library_leave(void)
{
    uint64_t now = clock_now();
    stopwatch.total += now - stopwatch.entered;
    stopwatch.visits++;
    return now;
}

/* Takes the best of several rounds. Interrupts lengthen some rounds. */
static void stopwatch_calibrate(void)
{
    const int rounds = 50, visits = 400;
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < rounds; round++) {
        stopwatch.total = 0;
        for (int i = 0; i < visits; i++) {
            library_enter();
            library_leave();
        }
        if (stopwatch.total < best)
            best = stopwatch.total;
    }
    stopwatch.clock_cost = (double)best / visits;
    stopwatch.total = stopwatch.visits = 0;
}

static double library_time(void)
{
    double net = (double)stopwatch.total -
                 (double)stopwatch.visits * stopwatch.clock_cost;
    return net > 0 ? net : 0;
}

/* --------------------------------------------------------------- timers --- */

/* The calls of the library, each entered in the books and timed. */

static timingwheel wheel;
static uint64_t turn; /* the time of the wake-up of this turn */

/* The callback of all timers: first the books, then the timer's own action. The
 * stopwatch stands still during the action. */
static void on_fire(timingwheel *tw, tw_timer *timer)
{
    struct record *r = TW_OWNER(timer, struct record, timer);
    uint64_t now = library_leave();
    (void)tw;
    book_fired(r, now);
    r->action(r);
    library_enter();
}

static void timer_init(struct record *r, enum kind kind,
                       void (*action)(struct record *r))
{
    record_init(r, kind, action);
    tw_timer_init(&r->timer, on_fire);
}

/* Starts a timer that is not armed. Without memory, the demo ends. A real
 * server would refuse the connection. */
static void timer_start(struct record *r, uint64_t deadline)
{
    stopwatch.calls++;
    library_enter();
    int status = tw_start(&wheel, &r->timer, deadline);
    library_leave();
    if (status != TW_OK) {
        fprintf(stderr, "\ndemo: cannot start a timer: %s\n",
                tw_strerror(status));
        exit(1);
    }
    book_started(r, deadline);
}

/* Starts a timer. The delay counts from the reading of this turn. The wheel's
 * clock is still the reading from before the sleep. */
static void timer_start_after(struct record *r, uint64_t delay)
{
    timer_start(r, tw_after(turn, delay));
}

static void timer_postpone(struct record *r, uint64_t delay)
{
    uint64_t deadline = tw_after(turn, delay);
    stopwatch.calls++;
    library_enter();
    int status = tw_postpone(&wheel, &r->timer, deadline);
    library_leave();
    if (status != TW_OK)
        complain("cannot postpone a timer: %s", tw_strerror(status));
    else
        book_postponed(r, deadline);
}

/* Cancels a timer. Ignores a timer that is not armed. */
static void timer_cancel(struct record *r)
{
    if (!r->armed)
        return;
    stopwatch.calls++;
    library_enter();
    bool was_pending = tw_cancel(&wheel, &r->timer);
    library_leave();
    if (!was_pending)
        complain("a timer (%s) was armed, but tw_cancel did not find it",
                 kind_names[r->kind]);
    book_cancelled(r);
}

static uint64_t timers_wait(uint64_t now, uint64_t longest)
{
    stopwatch.calls++;
    library_enter();
    uint64_t wait = tw_wait(&wheel, now, longest);
    library_leave();
    return wait;
}

static size_t timers_advance(uint64_t now)
{
    books.advanced_prev = books.advanced;
    books.advanced = now;
    stopwatch.calls++;
    library_enter();
    size_t fired = tw_advance_clock(&wheel, now);
    library_leave();
    return fired;
}

/* -------------------------------------------------------------- sockets --- */

/* One end of a connection, or the listener. The handler of an event may close
 * its own end, but no further end. So the rest of a batch of events never
 * belongs to a closed socket. */
struct endpoint {
    int fd; /* -1 while closed */
    void (*on_ready)(struct endpoint *end);
};

static int poller; /* the epoll instance */

static struct {
    uint64_t opened, open;
    uint64_t requests, answers, withheld;
    uint64_t heartbeats, heartbeats_missed;
    uint64_t silences;
    uint64_t idle_closes, request_closes; /* by time-outs */
    uint64_t errors; /* connections failed, or not opened */
    int last_error;  /* errno of the latest error */
} traffic;

/* Asks for events of an endpoint: operation is EPOLL_CTL_ADD or _MOD. */
static bool endpoint_watch(struct endpoint *end, int operation, uint32_t events)
{
    struct epoll_event event = {0};
    event.events = events;
    event.data.ptr = end;
    return epoll_ctl(poller, operation, end->fd, &event) == 0;
}

static void endpoint_close(struct endpoint *end)
{
    close(end->fd); /* also takes the socket out of epoll */
    end->fd = -1;
}

/* Returns false if the connection is broken. A full socket buffer is no error:
 * the message is dropped, and a time-out handles the lost message. */
static bool endpoint_send(struct endpoint *end, char message)
{
    return send(end->fd, &message, 1, MSG_NOSIGNAL) == 1 || errno == EAGAIN ||
           errno == EINTR;
}

/* Returns how many messages came, 0 for none yet, -1 if the connection has
 * been closed or is broken. */
static ssize_t endpoint_receive(struct endpoint *end, char *messages,
                                size_t room)
{
    ssize_t count = recv(end->fd, messages, room, 0);
    if (count > 0)
        return count;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return -1;
}

/* Messages of one byte must not wait for further messages. */
static void socket_send_at_once(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Makes close() reset the connection, for clients. After an orderly close, the
 * port is blocked for a minute. After some thousand connections, repeated runs
 * would find no free port. */
static void socket_reset_at_close(int fd)
{
    struct linger at_once = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

/* ---------------------------------------------------------- server side --- */

struct session {
    struct endpoint end;
    struct record idle;
    struct session *next_free;
};

static struct {
    struct endpoint listener;
    struct sockaddr_in address;
    struct session *sessions;
    struct session *free_sessions;
    bool accepting;
} server;

/* Epoll reports a waiting connection until it is accepted. While the server
 * cannot accept, the listener must not be watched, or the loop would spin. */
static void server_accept_more(bool accepting)
{
    if (server.accepting != accepting &&
        endpoint_watch(&server.listener, EPOLL_CTL_MOD,
                       accepting ? EPOLLIN : 0))
        server.accepting = accepting;
}

static void session_close(struct session *s)
{
    timer_cancel(&s->idle);
    endpoint_close(&s->end);
    s->next_free = server.free_sessions;
    server.free_sessions = s;
    server_accept_more(true);
}

static void on_idle_timeout(struct record *r)
{
    traffic.idle_closes++;
    session_close(TW_OWNER(r, struct session, idle));
}

/* False if the connection is broken. */
static bool session_answer(struct session *s)
{
    if (random_below(WITHHELD_ONE_IN) == 0) {
        traffic.withheld++;
        return true;
    }
    return endpoint_send(&s->end, ANSWER_MESSAGE);
}

static void session_on_ready(struct endpoint *end)
{
    struct session *s = TW_OWNER(end, struct session, end);
    char messages[64];
    ssize_t count = endpoint_receive(end, messages, sizeof(messages));
    bool alive = count >= 0;
    for (ssize_t i = 0; alive && i < count; i++) {
        timer_postpone(&s->idle, IDLE_TIMEOUT);
        if (messages[i] == REQUEST_MESSAGE)
            alive = session_answer(s);
    }
    if (!alive)
        session_close(s);
}

static void session_open(int fd)
{
    struct session *s = server.free_sessions;
    s->end.fd = fd;
    if (!endpoint_watch(&s->end, EPOLL_CTL_ADD, EPOLLIN)) {
        endpoint_close(&s->end);
        return;
    }
    server.free_sessions = s->next_free;
    socket_send_at_once(fd);
    timer_start_after(&s->idle, IDLE_TIMEOUT);
}

/* Accepts up to 64 waiting connections. There are as many sessions as clients.
 * If all sessions are taken, some belong to reset connections, and the resets
 * are yet to be read. If files run out, the listener pauses until a session is
 * closed, or until the next status line. */
static void server_on_ready(struct endpoint *listener)
{
    for (int i = 0; i < 64 && server.free_sessions != NULL; i++) {
        int fd =
            accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            session_open(fd);
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR && errno != ECONNABORTED) {
            server_accept_more(false);
            return;
        }
    }
    server_accept_more(server.free_sessions != NULL);
}

static void server_init_sessions(size_t count)
{
    server.sessions = calloc(count, sizeof(*server.sessions));
    if (server.sessions == NULL)
        die("no memory for the sessions");
    for (size_t i = 0; i < count; i++) {
        struct session *s = &server.sessions[i];
        s->end.fd = -1;
        s->end.on_ready = session_on_ready;
        timer_init(&s->idle, IDLE, on_idle_timeout);
        s->next_free = server.free_sessions;
        server.free_sessions = s;
    }
}

/* Listens on a free port of 127.0.0.1. */
static void server_init(size_t connections)
{
    socklen_t size = sizeof(server.address);
    struct sockaddr *address = (struct sockaddr *)(void *)&server.address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        die("cannot make a socket");
    server.address.sin_family = AF_INET;
    server.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, address, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, address, &size) != 0)
        die("cannot listen on 127.0.0.1");
    server.listener.fd = fd;
    server.listener.on_ready = server_on_ready;
    server.accepting = true;
    if (!endpoint_watch(&server.listener, EPOLL_CTL_ADD, EPOLLIN))
        die("cannot watch the listener");
    server_init_sessions(connections);
}

/* ---------------------------------------------------------- client side --- */

struct client {
    struct endpoint end;
    struct record request;
    struct record heartbeat;
    struct record pause;
    bool connected;
};

static struct client *clients;

static void client_pause(struct client *c, uint64_t shortest)
{
    timer_start_after(&c->pause, shortest + random_below(shortest));
}

/* Closes the connection, if any, and opens a new connection after a pause. */
static void client_close(struct client *c)
{
    timer_cancel(&c->request);
    timer_cancel(&c->heartbeat);
    timer_cancel(&c->pause);
    if (c->end.fd >= 0)
        endpoint_close(&c->end);
    if (c->connected)
        traffic.open--;
    c->connected = false;
    client_pause(c, REOPEN_PAUSE);
}

static void client_fail(struct client *c, int error)
{
    traffic.errors++;
    traffic.last_error = error;
    client_close(c);
}

/* Connecting counts as a request, with the time-out of a request. */
static void client_open(struct client *c)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    c->end.fd = fd;
    if (fd < 0) {
        client_fail(c, errno);
        return;
    }
    socket_send_at_once(fd);
    socket_reset_at_close(fd);
    if ((connect(fd, (struct sockaddr *)(void *)&server.address,
                 sizeof(server.address)) != 0 &&
         errno != EINPROGRESS) ||
        !endpoint_watch(&c->end, EPOLL_CTL_ADD, EPOLLOUT))
        client_fail(c, errno);
    else
        timer_start_after(&c->request, REQUEST_TIMEOUT);
}

static void client_on_connected(struct client *c)
{
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(c->end.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0 || !endpoint_watch(&c->end, EPOLL_CTL_MOD, EPOLLIN)) {
        client_fail(c, error != 0 ? error : errno);
        return;
    }
    c->connected = true;
    traffic.opened++;
    traffic.open++;
    timer_cancel(&c->request);
    timer_start_after(&c->heartbeat, 1 + random_below(HEARTBEAT_PERIOD));
    client_pause(c, REQUEST_PAUSE);
}

static void client_on_ready(struct endpoint *end)
{
    struct client *c = TW_OWNER(end, struct client, end);
    char messages[64];
    ssize_t count;
    if (!c->connected) {
        client_on_connected(c);
        return;
    }
    count = endpoint_receive(end, messages, sizeof(messages));
    if (count < 0) {
        client_close(c);
    } else if (count > 0 && c->request.armed) {
        traffic.answers++;
        timer_cancel(&c->request);
        client_pause(c, REQUEST_PAUSE);
    }
}

static void on_request_timeout(struct record *r)
{
    traffic.request_closes++;
    client_close(TW_OWNER(r, struct client, request));
}

/* Starts again from the timer's own deadline, not from now. The heartbeat keeps
 * its phase, however late a single beat is. */
static void on_heartbeat(struct record *r)
{
    struct client *c = TW_OWNER(r, struct client, heartbeat);
    uint64_t missed;
    timer_start(r, tw_next_period(tw_deadline(&r->timer), HEARTBEAT_PERIOD,
                                  turn, &missed));
    traffic.heartbeats++;
    traffic.heartbeats_missed += missed;
    if (!endpoint_send(&c->end, HEARTBEAT_MESSAGE))
        client_fail(c, errno);
}

/* A silent client only waits for the server to lose patience. */
static void client_fall_silent(struct client *c)
{
    traffic.silences++;
    timer_cancel(&c->heartbeat);
}

static void client_send_request(struct client *c)
{
    if (!endpoint_send(&c->end, REQUEST_MESSAGE)) {
        client_fail(c, errno);
        return;
    }
    traffic.requests++;
    timer_start_after(&c->request, REQUEST_TIMEOUT);
}

static void on_pause_over(struct record *r)
{
    struct client *c = TW_OWNER(r, struct client, pause);
    if (!c->connected)
        client_open(c);
    else if (random_below(SILENT_ONE_IN) == 0)
        client_fall_silent(c);
    else
        client_send_request(c);
}

static void clients_init(size_t count)
{
    clients = calloc(count, sizeof(*clients));
    if (clients == NULL)
        die("no memory for the clients");
    for (size_t i = 0; i < count; i++) {
        struct client *c = &clients[i];
        c->end.fd = -1;
        c->end.on_ready = client_on_ready;
        timer_init(&c->request, REQUEST, on_request_timeout);
        timer_init(&c->heartbeat, HEARTBEAT, on_heartbeat);
        timer_init(&c->pause, PAUSE, on_pause_over);
        timer_start_after(&c->pause, 1 + i * OPENING_SPREAD / count);
    }
}

/* --------------------------------------------------------------- report --- */

static struct {
    uint64_t wake_ups;
    uint64_t empty; /* wake-ups with nothing to do */
    uint64_t started_at;
    uint64_t reported_at; /* when the latest status line was printed */
    uint64_t ended_at;
} run;

static volatile sig_atomic_t stopped; /* by Ctrl-C */

/* Formats 1234567 as 1,234,567, in one of eight buffers that take turns. */
static const char *grouped(uint64_t number)
{
    static char buffers[8][32];
    static unsigned uses;
    char *at = buffers[uses++ % 8] + 31;
    *at = '\0';
    for (unsigned digits = 0; number > 0 || digits == 0; digits++) {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10);
        number /= 10;
    }
    return at;
}

static double in_milliseconds(uint64_t nanoseconds)
{
    return (double)nanoseconds / (double)MILLISECOND;
}

static uint64_t fired_so_far(void)
{
    uint64_t fired = 0;
    for (int kind = 0; kind < KINDS; kind++)
        fired += books.tallies[kind].fired;
    return fired;
}

/* Returns the width of the status line, or 0 if standard output is no terminal.
 * The "^C" echoed by the terminal must fit beside the line. */
static int status_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 4)
        return 77;
    return size.ws_col - 3;
}

/* Prints a line. On a terminal, the line replaces the line before. */
static void print_status(uint64_t now)
{
    static uint64_t requests_before;
    char line[160];
    int width = status_width();
    double rate = (double)(traffic.requests - requests_before) /
                  (double)(now - run.reported_at) * (double)SECOND;
    snprintf(line, sizeof(line),
             "%2.0f s  %s open  %s req/s  p99 %.1f ms late  "
             "%s pending  %s fired",
             (double)(now - run.started_at) / (double)SECOND,
             grouped(traffic.open), grouped((uint64_t)rate),
             in_milliseconds(lateness_percentile(99)), grouped(books.armed),
             grouped(fired_so_far()));
    if (width > 0)
        printf("\r%-*.*s", width, width, line);
    else
        printf("%s\n", line);
    fflush(stdout);
    requests_before = traffic.requests;
    run.reported_at = now;
}

static void print_tally(const char *name, const struct tally *t)
{
    printf("  %-16s%12s%12s%12s%12s%12s\n", name, grouped(t->started),
           grouped(t->postponed), grouped(t->cancelled), grouped(t->fired),
           grouped(t->started - t->cancelled - t->fired));
}

static void print_timers(void)
{
    struct tally all = {0, 0, 0, 0};
    printf("  %-16s%12s%12s%12s%12s%12s\n", "timers", "started", "postponed",
           "cancelled", "fired", "pending");
    for (int kind = 0; kind < KINDS; kind++) {
        const struct tally *t = &books.tallies[kind];
        print_tally(kind_names[kind], t);
        all.started += t->started;
        all.postponed += t->postponed;
        all.cancelled += t->cancelled;
        all.fired += t->fired;
    }
    print_tally("total", &all);
}

static void print_traffic(void)
{
    printf("  %-16s%s requests, %s answered, %s withheld on purpose\n",
           "traffic", grouped(traffic.requests), grouped(traffic.answers),
           grouped(traffic.withheld));
    printf("  %-16s%s heartbeats, %s skipped for being late\n", "",
           grouped(traffic.heartbeats), grouped(traffic.heartbeats_missed));
    printf("  %-16s%s opened; closed %s idle, %s unanswered, %s failed\n",
           "connections", grouped(traffic.opened), grouped(traffic.idle_closes),
           grouped(traffic.request_closes), grouped(traffic.errors));
    if (traffic.errors > 0)
        printf("  %-16slatest failure: %s\n", "", strerror(traffic.last_error));
    printf("  %-16s%s clients fell silent on purpose\n", "",
           grouped(traffic.silences));
}

static void print_loop(void)
{
    printf("  %-16s%s, of which %s had nothing to do (%.2f %%)\n", "wake-ups",
           grouped(run.wake_ups), grouped(run.empty),
           100.0 * (double)run.empty /
               (double)(run.wake_ups > 0 ? run.wake_ups : 1));
    printf("  %-16sp50 %.2f ms, p99 %.2f ms, max %.2f ms after the deadline\n",
           "lateness", in_milliseconds(lateness_percentile(50)),
           in_milliseconds(lateness_percentile(99)),
           in_milliseconds(books.max_lateness));
}

static void print_cpu(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    double process = (double)spent.tv_sec * 1e9 + (double)spent.tv_nsec;
    double library = library_time();
    printf("  %-16s%.1f ms in the library, %.1f %% of the process's %.0f ms\n",
           "CPU time", library / 1e6, 100 * library / process, process / 1e6);
    printf("  %-16s%s calls at %.0f ns, callbacks not counted\n", "",
           grouped(stopwatch.calls),
           library / (double)(stopwatch.calls > 0 ? stopwatch.calls : 1));
}

static void print_notes(void)
{
    printf("\n"
           "A wake-up has nothing to do when the timer that it was for has been"
           " cancelled\n"
           "or postponed; it is still made, so that those two cost next to"
           " nothing.\n"
           "Lateness: up to 2 ms are in the nature of this loop, which rounds"
           " deadlines up\n"
           "to a tick of 1 ms and sleeps up to the next; the rest is a machine"
           " kept busy.\n"
           "CPU time in the library: CLOCK_MONOTONIC around every call, less"
           " the %.0f ns that\n"
           "this takes; too high if another program interrupted a call.\n",
           stopwatch.clock_cost);
}

static void print_table(void)
{
    printf(status_width() > 0 ? "\n\n" : "\n"); /* ends the status line */
    printf("%.1f s with %s connections open at the end\n\n",
           (double)(run.ended_at - run.started_at) / (double)SECOND,
           grouped(traffic.open));
    print_timers();
    printf("\n");
    print_traffic();
    print_loop();
    print_cpu();
    print_notes();
}

/* The exit code. */
static int print_verdict(void)
{
    fflush(stdout);
    if (books.wrong > 0) {
        fprintf(stderr,
                "\ndemo: FAILED: the books disagree with the library "
                "%s times (see above)\n",
                grouped(books.wrong));
        return 1;
    }
    if (traffic.opened == 0 && !stopped) {
        fprintf(stderr, "\ndemo: FAILED: no connection could be opened: %s\n",
                traffic.errors > 0 ? strerror(traffic.last_error)
                                   : "the listener does not answer");
        return 1;
    }
    printf("\nNo timer fired early, and none was lost.\n");
    if (fflush(stdout) != 0 || ferror(stdout))
        die("cannot write the table");
    return 0;
}

/* ----------------------------------------------------------------- loop --- */

static struct record status;
static bool status_due;
static volatile sig_atomic_t dump_due;

static void on_dump_signal(int number)
{
    (void)number;
    dump_due = 1;
}

static void print_line(const char *line, void *context)
{
    fprintf((FILE *)context, "  %s\n", line);
}

/* Draws the wheels. */
static void print_dump(void)
{
    dump_due = 0;
    printf("\n");
    tw_dump(&wheel, print_line, stdout);
    fflush(stdout);
}

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* A second Ctrl-C ends the program as usual. A signal just before the sleep
 * takes effect after the sleep, at most a second later. So the loop needs no
 * signal mask. */
static void catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_dump_signal;
    action.sa_flags = 0;
    sigaction(SIGUSR1, &action, NULL);
}

static void on_hang(int number)
{
    static const char message[] =
        "\ndemo: FAILED: the loop is stuck, most likely inside the library\n";
    (void)number;
    if (write(STDERR_FILENO, message, sizeof(message) - 1) >= 0)
        _exit(1);
    abort(); /* no way to report the hang */
}

/* A thread cannot use more CPU time than time passes. A loop with more CPU time
 * than the run plus 10 s is stuck. Suspended time does not count. */
static void catch_hang(uint64_t seconds)
{
    struct itimerval allowance = {{0, 0}, {0, 0}};
    allowance.it_value.tv_sec = (time_t)seconds + 10;
    signal(SIGPROF, on_hang);
    setitimer(ITIMER_PROF, &allowance, NULL);
}

static void report_status(uint64_t now)
{
    status_due = false;
    audit(&wheel);
    print_status(now);
    server_accept_more(true);
}

/* The report waits until tw_advance_clock has returned. Before the return, the
 * books and the library differ. */
static void on_status(struct record *r)
{
    timer_start(r, tw_next_period(tw_deadline(&r->timer), SECOND, turn, NULL));
    status_due = true;
}

/* Rounds up to the whole milliseconds of epoll_wait. Rounded down, the loop
 * would wake before the deadline, find nothing due, and spin with sleeps of 0
 * for the rest of the millisecond. */
static int sleep_milliseconds(uint64_t wait)
{
    return (int)((wait + MILLISECOND - 1) / MILLISECOND);
}

/* How long to sleep: never past the end, nor longer than a second. */
static uint64_t longest_sleep(uint64_t now, uint64_t end)
{
    uint64_t left = end > now ? end - now : 0;
    return left < SECOND ? left : SECOND;
}

/* Sleeps until a socket is ready or a timer is due, and serves the sockets.
 * Returns how many were ready. */
static int serve_sockets(uint64_t end)
{
    struct epoll_event events[EVENTS_PER_WAKE_UP];
    uint64_t now = clock_now();
    uint64_t wait = timers_wait(now, longest_sleep(now, end));
    int count = epoll_wait(poller, events, EVENTS_PER_WAKE_UP,
                           sleep_milliseconds(wait));
    turn = clock_now();
    if (count < 0 && errno != EINTR)
        die("cannot wait for events");
    for (int i = 0; i < count; i++) {
        struct endpoint *ready = events[i].data.ptr;
        ready->on_ready(ready);
    }
    return count > 0 ? count : 0;
}

/* The sockets come before the timers. An answer that arrived in time, but was
 * not yet read, still cancels its time-out. */
static void run_loop(uint64_t end)
{
    while (!stopped && turn < end) {
        int ready = serve_sockets(end);
        size_t fired = timers_advance(turn);
        run.wake_ups++;
        if (ready == 0 && fired == 0 && turn < end && !stopped)
            run.empty++; /* the last wake-up has to end the run */
        if (status_due)
            report_status(turn);
        if (dump_due)
            print_dump();
    }
    run.ended_at = clock_now();
    if (run.ended_at - run.reported_at > SECOND / 10)
        report_status(run.ended_at);
}

static void run_start(size_t connections)
{
    tw_config config = {0};
    int result;
    config.tick = TICK;
    config.start = turn = clock_now();
    stopwatch_calibrate();
    result = tw_init(&wheel, &config);
    if (result != TW_OK) {
        fprintf(stderr, "demo: tw_init: %s\n", tw_strerror(result));
        exit(1);
    }
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0)
        die("cannot make an epoll instance");
    run.started_at = run.reported_at = books.advanced = config.start;
    server_init(connections);
    clients_init(connections);
    timer_init(&status, STATUS, on_status);
    timer_start(&status, run.started_at + SECOND);
}

/* Closes clients first: a connection reset by its client leaves nothing
 * behind. */
static void run_end(size_t connections)
{
    for (size_t i = 0; i < connections; i++)
        if (clients[i].end.fd >= 0)
            endpoint_close(&clients[i].end);
    for (size_t i = 0; i < connections; i++)
        if (server.sessions[i].end.fd >= 0)
            endpoint_close(&server.sessions[i].end);
    endpoint_close(&server.listener);
    close(poller);
    tw_destroy(&wheel);
    free(clients);
    free(server.sessions);
}

/* -------------------------------------------------------------- options --- */

static void print_help(void)
{
    printf(
        "usage: demo [--connections N] [--seconds N] [--dump]\n"
        "\n"
        "Runs a server and its clients over loopback TCP in one event loop\n"
        "timed by timingwheel.h, and prints what became of the timers.\n"
        "\n"
        "  --connections N  how many at a time, 1 to %d (default 2000)\n"
        "  --seconds N      for how long, 1 to %d (default 10); Ctrl-C ends\n"
        "                   the run earlier and prints the table all the same\n"
        "  --dump           draw the wheels at the end; at any time SIGUSR1\n"
        "                   does so\n"
        "  --help           this text\n"
        "\n"
        "Exit code 0 if no timer fired early or was lost, 1 if one did or the\n"
        "system did not let it run, 2 if the command line makes no sense.\n",
        MOST_CONNECTIONS, MOST_SECONDS);
}

static void refuse(const char *word, const char *what)
{
    fprintf(stderr, "demo: '%s' %s; --help tells what there is.\n", word, what);
    exit(2);
}

/* A number of digits only, from 1 to `most`. */
static uint64_t parse_number(const char *option, const char *word,
                             uint64_t most)
{
    uint64_t number = 0;
    for (const char *at = word; *at != '\0' && number <= most; at++) {
        if (*at < '0' || *at > '9') {
            number = 0;
            break;
        }
        number = number * 10 + (uint64_t)(*at - '0');
    }
    if (number < 1 || number > most) {
        fprintf(stderr,
                "demo: %s takes a whole number from 1 to %" PRIu64
                ", not '%s'.\n",
                option, most, word);
        exit(2);
    }
    return number;
}

/* Returns the value of the option `name` if argv[*i] is the option. The value
 * follows an equals sign, or is the next word. Returns NULL for a different
 * word. */
static const char *option_value(const char *name, char **argv, int *i)
{
    const char *word = argv[*i];
    size_t length = strlen(name);
    if (strncmp(word, name, length) != 0)
        return NULL;
    if (word[length] == '=')
        return word + length + 1;
    if (word[length] != '\0')
        return NULL;
    if (argv[*i + 1] == NULL)
        refuse(word, "needs a number after it");
    return argv[++*i];
}

static struct options parse_options(char **argv)
{
    struct options options = {2000, 10, false};
    const char *value;
    for (int i = 1; argv[i] != NULL; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help();
            exit(0);
        }
        if ((value = option_value("--connections", argv, &i)) != NULL)
            options.connections =
                parse_number("--connections", value, MOST_CONNECTIONS);
        else if ((value = option_value("--seconds", argv, &i)) != NULL)
            options.seconds = parse_number("--seconds", value, MOST_SECONDS);
        else if (strcmp(argv[i], "--dump") == 0)
            options.dump = true;
        else
            refuse(argv[i], "is not an option");
    }
    return options;
}

/* How many files below the number `limit` were open when the program began. */
static uint64_t inherited_files(uint64_t limit)
{
    uint64_t count = 0;
    for (uint64_t fd = 0; fd < limit; fd++)
        count += fcntl((int)fd, F_GETFD) != -1;
    return count;
}

/* Raises the limit of open files to `files`, or as far as the system allows:
 * the superuser may raise the hard limit as well. Returns the limit. */
static uint64_t raise_file_limit(uint64_t files)
{
    struct rlimit limit, wanted;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("cannot read the limit of open files");
    if (limit.rlim_cur >= files)
        return files;
    wanted = limit;
    wanted.rlim_cur = files;
    if (limit.rlim_max < files)
        wanted.rlim_max = files;
    if (setrlimit(RLIMIT_NOFILE, &wanted) == 0)
        return files;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

/* Returns the number of requested connections for which there are files. */
static uint64_t connections_allowed(uint64_t asked)
{
    uint64_t needed = asked * FILES_PER_CONNECTION + OTHER_FILES;
    uint64_t taken = inherited_files(needed) + OTHER_FILES;
    uint64_t limit = raise_file_limit(asked * FILES_PER_CONNECTION + taken);
    uint64_t allowed =
        limit > taken ? (limit - taken) / FILES_PER_CONNECTION : 0;
    if (allowed >= asked)
        return asked;
    if (allowed == 0) {
        fprintf(stderr,
                "demo: the system allows %" PRIu64 " open files (ulimit -n), "
                "too few for even one connection.\n",
                limit);
        exit(1);
    }
    printf("The system allows %s open files (ulimit -n): "
           "%s connections instead of %s.\n",
           grouped(limit), grouped(allowed), grouped(asked));
    return allowed;
}

int main(int argc, char **argv)
{
    (void)argc; /* argv ends with NULL */
    struct options options = parse_options(argv);
    uint64_t connections = connections_allowed(options.connections);
    printf("Connections over loopback TCP: %s, for %s s; Ctrl-C ends it.\n",
           grouped(connections), grouped(options.seconds));
    fflush(stdout);
    catch_signals();
    catch_hang(options.seconds);
    run_start((size_t)connections);
    run_loop(run.started_at + options.seconds * SECOND);
    audit(&wheel);
    if (options.dump)
        print_dump();
    print_table();
    run_end((size_t)connections);
    return print_verdict();
}
