/* epoll.c - a server and its clients in one event loop, timed by the wheel.
 *
 *     cc -O2 epoll.c -o demo && ./demo --connections 2000 --seconds 10
 *
 * Everything runs in one thread, over TCP on the loopback interface. Clients
 * send requests and heartbeats, the server answers. Each connection has
 *
 *     an idle time-out      at the server; postponed at every message
 *     a request time-out    at the client; cancelled by the answer
 *     a heartbeat           at the client; periodic, skips missed periods
 *     a pause               at the client; before the next request or attempt
 *
 * On purpose the server withholds some answers, and some clients fall silent:
 * time-outs fire, and connections are closed and opened again.
 *
 * A program of yours needs only the loop in run_loop. The rest does the timed
 * work, and keeps books: a second record of every timer, made without the
 * library. If a timer fires early, late or never, the demo exits with 1.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* accept4 */
#define TW_STATIC
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* All times are in nanoseconds of CLOCK_MONOTONIC. */
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define TICK MS
#define IDLE_TIMEOUT (800 * MS)
#define REQUEST_TIMEOUT (300 * MS)
#define HEARTBEAT_PERIOD (250 * MS)
#define REQUEST_PAUSE (100 * MS)  /* a pause lasts 1 to 2 times this time */
#define REOPEN_PAUSE (20 * MS)    /* the same */
#define OPENING_SPREAD (400 * MS) /* in which the first connections open */
#define WITHHELD_ONE_IN 50
#define SILENT_ONE_IN 100
#define MOST 20000 /* connections; an address has 28,232 ports */

static uint64_t connections = 2000, seconds = 10; /* options */
static timingwheel wheel;
static uint64_t turn; /* the reading of this turn */
static int poller;    /* the epoll instance */
static volatile sig_atomic_t is_stopped;

static struct {
    uint64_t wake_ups, empty; /* empty: nothing to do */
    uint64_t opened, open, requests, answers, withheld, silences;
    uint64_t heartbeats, missed, idle_closes, request_closes;
} count;

static uint64_t read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Every run draws the same numbers, but not for the same connections. */
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

/* The books follow from the program's calls and from the callbacks. The books
 * never ask the library, except to compare. */

enum kind { IDLE, REQUEST, HEARTBEAT, PAUSE, KINDS };
static const char *const names[KINDS] = {"idle time-out", "request time-out",
                                         "heartbeat", "pause"};

struct record {
    tw_timer timer;
    uint64_t deadline;                /* the last requested deadline */
    struct record *next;              /* of all records */
    void (*action)(struct record *r); /* called when the timer fires */
    enum kind kind;
    bool is_armed; /* started, not yet cancelled or fired */
};

struct tally {
    uint64_t started, postponed, cancelled, fired;
};

static struct {
    struct record *records;
    struct tally tallies[KINDS];
    uint64_t advanced, advanced_before; /* times of the last two advances */
    uint64_t wrong;                     /* complaints */
    uint64_t late, latest; /* fired more than 2 ms late; the most, in ns */
} books;

/* Notes a broken promise of the library. Prints the first ten. */
static void complain(bool is_wrong, const struct record *r, const char *what)
{
    if (is_wrong && ++books.wrong <= 10)
        fprintf(stderr, "\ndemo: a timer (%s) %s\n", names[r->kind], what);
}

/* Returns the deadline rounded up to a tick. */
static uint64_t due_time(const struct record *r)
{
    return (r->deadline + TICK - 1) / TICK * TICK;
}

/* A timer must fire in the first advance that reaches its due time. */
static void book_fired(struct record *r, uint64_t now)
{
    uint64_t late = now > r->deadline ? now - r->deadline : 0;
    complain(!r->is_armed, r, "fired, and was not armed");
    complain(books.advanced < due_time(r), r, "fired early");
    complain(books.advanced_before >= due_time(r), r, "was due a call earlier");
    books.late += late > 2 * MS;
    books.latest = late > books.latest ? late : books.latest;
    books.tallies[r->kind].fired++;
    r->is_armed = false;
}

static struct tally book_total(void)
{
    struct tally all = {0, 0, 0, 0};
    for (const struct tally *t = books.tallies; t < books.tallies + KINDS;
         t++) {
        all.started += t->started, all.postponed += t->postponed;
        all.cancelled += t->cancelled, all.fired += t->fired;
    }
    return all;
}

/* Compares the books with the library. Not for callbacks: in a callback,
 * further timers may be due and not yet fired. */
static void audit(void)
{
    struct tally all = book_total();
    tw_stats stats;
    for (const struct record *r = books.records; r != NULL; r = r->next) {
        complain(r->is_armed && due_time(r) <= books.advanced, r, "is lost");
        complain(r->is_armed != tw_is_pending(&r->timer), r,
                 "is armed in the books or in the library, not in both");
        complain(r->is_armed && r->deadline != tw_deadline(&r->timer), r,
                 "has another deadline");
    }
    tw_get_stats(&wheel, &stats);
    complain(stats.fired != all.fired ||
                 all.started != all.cancelled + all.fired + tw_count(&wheel),
             books.records, "is missing in the counts");
    complain(!tw_check(&wheel), books.records, "has broken an invariant");
}

/* ---------------------------------------------------------------- calls --- */

/* The stopwatch reads CLOCK_MONOTONIC at each entry into the library and at
 * each exit: a thread's CPU clock would take longer than most calls. The cost
 * of the readings is measured first and subtracted. If another program
 * interrupts a call, the figure is too high, but never too low. */
static struct {
    uint64_t entered, total, visits, calls;
    uint64_t call, longest; /* this call so far; the longest call */
    double cost;            /* of an empty visit, in ns */
} watch;

static void enter(void)
{
    watch.entered = read_clock();
}

static uint64_t leave(void)
{
    uint64_t now = read_clock();
    watch.total += now - watch.entered;
    watch.visits++;
    watch.call += now - watch.entered;
    watch.longest = watch.call > watch.longest ? watch.call : watch.longest;
    return now;
}

#define TIMED(call_of_library) \
    (watch.calls++, watch.call = 0, enter(), (call_of_library), leave())

/* Takes the best of several rounds. Interrupts lengthen some rounds. */
static void calibrate(void)
{
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < 50; round++) {
        watch.total = 0;
        for (int i = 0; i < 400; i++)
            enter(), leave();
        best = watch.total < best ? watch.total : best;
    }
    watch.cost = (double)best / 400;
    watch.total = watch.visits = watch.longest = 0;
}

/* The callback of all timers. The stopwatch stands still during the action. */
static void on_fire(timingwheel *tw, tw_timer *timer)
{
    struct record *r = TW_OWNER(timer, struct record, timer);
    uint64_t now = leave(), call = watch.call;
    (void)tw;
    book_fired(r, now);
    r->action(r);
    watch.call = call;
    enter();
}

static void timer_init(struct record *r, enum kind kind,
                       void (*action)(struct record *r))
{
    r->kind = kind, r->action = action;
    r->next = books.records, books.records = r;
    tw_timer_init(&r->timer, on_fire);
}

/* Starts a timer. Without memory, the demo ends; a real server would refuse
 * the connection. */
static void timer_start(struct record *r, uint64_t deadline)
{
    int status;
    TIMED(status = tw_start(&wheel, &r->timer, deadline));
    if (status != TW_OK)
        die(tw_strerror(status));
    books.tallies[r->kind].started++;
    r->is_armed = true, r->deadline = deadline;
}

static void timer_postpone(struct record *r, uint64_t deadline)
{
    int status;
    TIMED(status = tw_postpone(&wheel, &r->timer, deadline));
    complain(status != TW_OK, r, "was not postponed");
    books.tallies[r->kind].postponed++;
    r->deadline = deadline;
}

static void timer_cancel(struct record *r)
{
    bool was_pending;
    if (!r->is_armed)
        return;
    TIMED(was_pending = tw_cancel(&wheel, &r->timer));
    complain(!was_pending, r, "was armed, but tw_cancel did not find it");
    books.tallies[r->kind].cancelled++;
    r->is_armed = false;
}

/* -------------------------------------------------------------- sockets --- */

/* One end of a connection, or the listener. */
struct endpoint {
    int fd; /* -1 while closed */
    void (*on_ready)(struct endpoint *end);
};

/* `operation` is EPOLL_CTL_ADD or EPOLL_CTL_MOD. */
static bool listen_for(struct endpoint *end, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = end};
    return epoll_ctl(poller, operation, end->fd, &event) == 0;
}

static void close_end(struct endpoint *end)
{
    if (end->fd >= 0)
        close(end->fd); /* also takes the socket out of epoll */
    end->fd = -1;
}

/* A message is one byte, and must not wait for further messages. */
static int new_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

/* Returns false if the connection is broken. A full socket buffer is no error:
 * a time-out handles the lost message. */
static bool send_message(struct endpoint *end, char message)
{
    return send(end->fd, &message, 1, MSG_NOSIGNAL) == 1 || errno == EAGAIN;
}

/* Returns how many messages came, or -1 if the connection is broken. */
static ssize_t receive(struct endpoint *end, char *messages, size_t room)
{
    ssize_t length = recv(end->fd, messages, room, 0);
    return length > 0 ? length : length < 0 && errno == EAGAIN ? 0 : -1;
}

/* --------------------------------------------------------------- server --- */

static struct session {
    struct endpoint end;
    struct record idle;
    struct session *next_free;
} sessions[MOST], *free_sessions;
static struct endpoint listener;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void close_session(struct session *s)
{
    timer_cancel(&s->idle);
    close_end(&s->end);
    s->next_free = free_sessions, free_sessions = s;
}

static void on_idle(struct record *r)
{
    count.idle_closes++;
    close_session(TW_OWNER(r, struct session, idle));
}

static void on_messages(struct endpoint *end)
{
    struct session *s = TW_OWNER(end, struct session, end);
    char messages[64];
    ssize_t length = receive(end, messages, sizeof(messages));
    bool is_alive = length >= 0;
    for (ssize_t i = 0; is_alive && i < length; i++) {
        timer_postpone(&s->idle, tw_after(turn, IDLE_TIMEOUT));
        if (messages[i] == 'h')
            continue; /* a heartbeat */
        if (random_below(WITHHELD_ONE_IN) == 0)
            count.withheld++;
        else
            is_alive = send_message(end, 'a');
    }
    if (!is_alive)
        close_session(s);
}

/* There are as many sessions as clients. If all sessions are taken, some belong
 * to reset connections, and this turn will read the resets. */
static void on_connections(struct endpoint *end)
{
    for (int i = 0; i < 64 && free_sessions != NULL; i++) {
        struct session *s = free_sessions;
        s->end.fd = accept4(end->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (s->end.fd < 0 || !listen_for(&s->end, EPOLL_CTL_ADD, EPOLLIN))
            return;
        free_sessions = s->next_free;
        timer_start(&s->idle, tw_after(turn, IDLE_TIMEOUT));
    }
}

static void start_server(void)
{
    socklen_t size = sizeof(address);
    struct sockaddr *any = (struct sockaddr *)(void *)&address;
    listener = (struct endpoint){new_socket(), on_connections};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener.fd, any, size) != 0 ||
        listen(listener.fd, SOMAXCONN) != 0 ||
        getsockname(listener.fd, any, &size) != 0 ||
        !listen_for(&listener, EPOLL_CTL_ADD, EPOLLIN))
        die("cannot listen on 127.0.0.1");
    for (struct session *s = sessions; s < sessions + connections; s++) {
        s->end = (struct endpoint){-1, on_messages};
        timer_init(&s->idle, IDLE, on_idle);
        s->next_free = free_sessions, free_sessions = s;
    }
}

/* -------------------------------------------------------------- clients --- */

static struct client {
    struct endpoint end;
    struct record request, heartbeat, pause;
    bool is_connected;
} clients[MOST];

static void start_pause(struct client *c, uint64_t shortest)
{
    uint64_t pause = shortest + random_below(shortest);
    timer_start(&c->pause, tw_after(turn, pause));
}

/* Closes the connection, if any, and opens a new one after a pause. */
static void close_client(struct client *c)
{
    timer_cancel(&c->request);
    timer_cancel(&c->heartbeat);
    timer_cancel(&c->pause);
    close_end(&c->end);
    count.open -= c->is_connected;
    c->is_connected = false;
    start_pause(c, REOPEN_PAUSE);
}

/* Connecting counts as a request, with the time-out of a request. A client
 * resets its connection at close: an orderly close would block the port for a
 * minute, and some thousand connections later no port would be free. */
static void open_client(struct client *c)
{
    struct sockaddr *to = (struct sockaddr *)(void *)&address;
    struct linger reset = {1, 0};
    int fd = c->end.fd = new_socket();
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    if ((connect(fd, to, sizeof(address)) != 0 && errno != EINPROGRESS) ||
        !listen_for(&c->end, EPOLL_CTL_ADD, EPOLLOUT))
        close_client(c);
    else
        timer_start(&c->request, tw_after(turn, REQUEST_TIMEOUT));
}

static void on_connected(struct client *c)
{
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(c->end.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0 || !listen_for(&c->end, EPOLL_CTL_MOD, EPOLLIN)) {
        close_client(c);
        return;
    }
    uint64_t first_beat = 1 + random_below(HEARTBEAT_PERIOD);
    c->is_connected = true;
    count.opened++, count.open++;
    timer_cancel(&c->request);
    timer_start(&c->heartbeat, tw_after(turn, first_beat));
    start_pause(c, REQUEST_PAUSE);
}

static void on_answer(struct endpoint *end)
{
    struct client *c = TW_OWNER(end, struct client, end);
    char messages[64];
    if (!c->is_connected) {
        on_connected(c);
        return;
    }
    ssize_t length = receive(end, messages, sizeof(messages));
    if (length < 0) {
        close_client(c);
    } else if (length > 0 && c->request.is_armed) {
        count.answers++;
        timer_cancel(&c->request);
        start_pause(c, REQUEST_PAUSE);
    }
}

static void on_request_timeout(struct record *r)
{
    count.request_closes++;
    close_client(TW_OWNER(r, struct client, request));
}

/* Starts again from the timer's own deadline, not from now. The heartbeat keeps
 * its phase, however late a single beat is. */
static void on_heartbeat(struct record *r)
{
    struct client *c = TW_OWNER(r, struct client, heartbeat);
    uint64_t last = tw_deadline(&r->timer), missed;
    timer_start(r, tw_next_period(last, HEARTBEAT_PERIOD, turn, &missed));
    count.heartbeats++, count.missed += missed;
    if (!send_message(&c->end, 'h'))
        close_client(c);
}

static void on_pause_over(struct record *r)
{
    struct client *c = TW_OWNER(r, struct client, pause);
    if (!c->is_connected) {
        open_client(c);
    } else if (random_below(SILENT_ONE_IN) == 0) {
        count.silences++; /* only waits for the server to lose patience */
        timer_cancel(&c->heartbeat);
    } else if (!send_message(&c->end, 'r')) {
        close_client(c);
    } else {
        count.requests++;
        timer_start(&c->request, tw_after(turn, REQUEST_TIMEOUT));
    }
}

static void start_clients(void)
{
    for (uint64_t i = 0; i < connections; i++) {
        struct client *c = &clients[i];
        c->end = (struct endpoint){-1, on_answer};
        timer_init(&c->request, REQUEST, on_request_timeout);
        timer_init(&c->heartbeat, HEARTBEAT, on_heartbeat);
        timer_init(&c->pause, PAUSE, on_pause_over);
        timer_start(&c->pause, turn + 1 + i * OPENING_SPREAD / connections);
    }
}

/* --------------------------------------------------------------- report --- */

/* Formats 1234567 as 1,234,567, in one of eight buffers that take turns. */
static const char *text(uint64_t number)
{
    static char buffers[8][32];
    static unsigned uses;
    char *at = buffers[uses++ % 8] + 31;
    for (int digits = 0; number > 0 || digits == 0; number /= 10) {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + number % 10), digits++;
    }
    return at;
}

/* Prints a line. On a terminal, the line replaces the line before. */
static void print_status(void)
{
    static uint64_t second, requests;
    char line[120];
    snprintf(line, sizeof(line),
             "%2d s  %s open  %s requests/s  %s timers pending, %s fired",
             (int)++second, text(count.open), text(count.requests - requests),
             text(tw_count(&wheel)), text(book_total().fired));
    printf(isatty(STDOUT_FILENO) ? "\r%-78s" : "%s\n", line);
    fflush(stdout);
    requests = count.requests;
}

static void print_tally(const char *name, struct tally t)
{
    printf("  %-18s%11s%11s%11s%11s%11s\n", name, text(t.started),
           text(t.postponed), text(t.cancelled), text(t.fired),
           text(t.started - t.cancelled - t.fired));
}

static void print_report(double ran)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    double process = (double)spent.tv_sec * 1e3 + (double)spent.tv_nsec / 1e6;
    double library = (double)watch.total - (double)watch.visits * watch.cost;
    printf("\n%.1f s with %s connections open at the end\n\n", ran,
           text(count.open));
    printf("  %-18s%11s%11s%11s%11s%11s\n", "timers", "started", "postponed",
           "cancelled", "fired", "pending");
    for (int kind = 0; kind < KINDS; kind++)
        print_tally(names[kind], books.tallies[kind]);
    print_tally("total", book_total());
    printf(
        "\n  traffic       %s requests, %s answered, %s withheld on purpose\n"
        "                %s heartbeats, %s skipped for being late\n",
        text(count.requests), text(count.answers), text(count.withheld),
        text(count.heartbeats), text(count.missed));
    printf("  connections   %s opened; closed %s idle, %s unanswered\n"
           "                %s clients fell silent on purpose\n",
           text(count.opened), text(count.idle_closes),
           text(count.request_closes), text(count.silences));
    printf("  wake-ups      %s, of which %s had nothing to do\n"
           "  lateness      %s timers more than 2 ms, at most %.1f ms\n",
           text(count.wake_ups), text(count.empty), text(books.late),
           (double)books.latest / (double)MS);
    printf(
        "  CPU time      %.1f ms in the library, %.1f %% of %.0f ms\n"
        "                %s calls at %.0f ns, without callbacks; the longest "
        "%.0f us\n\n",
        library / 1e6, library / 1e4 / process, process, text(watch.calls),
        library / (double)watch.calls, (double)watch.longest / 1e3);
}

/* ----------------------------------------------------------------- loop --- */

static void on_signal(int number)
{
    (void)number;
    is_stopped = 1;
}

/* The loop: sleep until a socket is ready, or for as long as tw_wait allows.
 * Read the clock: every delay in this turn counts from the reading. Advance to
 * the reading, which fires all due timers. Then serve the sockets.
 *
 * The wait is rounded up to the milliseconds of epoll_wait: rounded down, the
 * loop would wake before the deadline, find nothing due, and spin. */
static void run_loop(uint64_t end)
{
    struct epoll_event events[256];
    uint64_t next_status = turn + SECOND;
    while (!is_stopped && turn < end) {
        uint64_t now = read_clock(), wait;
        uint64_t longest = next_status > now ? next_status - now : 0;
        size_t fired;
        TIMED(wait = tw_wait(&wheel, now, longest));
        int ready =
            epoll_wait(poller, events, 256, (int)((wait + MS - 1) / MS));
        turn = read_clock();
        books.advanced_before = books.advanced, books.advanced = turn;
        TIMED(fired = tw_advance_clock(&wheel, turn));
        for (int i = 0; i < ready; i++) {
            struct endpoint *e = (struct endpoint *)events[i].data.ptr;
            if (e->fd >= 0) /* not closed by a timer of this turn */
                e->on_ready(e);
        }
        count.wake_ups++;
        count.empty += ready <= 0 && fired == 0 && turn < next_status;
        if (turn >= next_status)
            audit(), print_status(), next_status += SECOND;
    }
    audit();
}

static void print_line(const char *line, void *context)
{
    (void)context;
    printf("  %s\n", line);
}

/* Reads the command line. Returns true for --dump. */
static bool read_options(int argc, char **argv)
{
    bool dump = false, is_right = true;
    for (int i = 1; i < argc && is_right; i++) {
        if (strcmp(argv[i], "--connections") == 0 && i + 1 < argc)
            connections = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = strtoull(argv[++i], NULL, 10);
        else
            is_right = dump = strcmp(argv[i], "--dump") == 0;
    }
    if (is_right && connections - 1 < MOST && seconds - 1 < 86400)
        return dump;
    fprintf(stderr,
            "usage: demo [--connections 1..%d] [--seconds 1..86400] "
            "[--dump]\n--dump draws the wheels at the end.\n",
            MOST);
    exit(2);
}

int main(int argc, char **argv)
{
    bool dump = read_options(argc, argv);
    rlim_t files = 2 * connections + 64; /* a connection has two ends */
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = files;
    limit.rlim_max = limit.rlim_max > files ? limit.rlim_max : files;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("so many connections need more open files (ulimit -n)");
    printf("Connections over loopback TCP: %s, for %s s; Ctrl-C ends it.\n",
           text(connections), text(seconds));
    signal(SIGINT, on_signal);
    calibrate();
    uint64_t began = turn = books.advanced = read_clock();
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (tw_init(&wheel, &(tw_config){.tick = TICK, .start = turn}) != TW_OK)
        die("cannot make a wheel");
    start_server();
    start_clients();
    run_loop(began + seconds * SECOND);
    printf(isatty(STDOUT_FILENO) ? "\n" : "");
    if (dump)
        tw_dump(&wheel, print_line, NULL);
    print_report((double)(turn - began) / 1e9);
    for (uint64_t i = 0; i < connections; i++)
        close_end(&clients[i].end); /* first, so that no port stays blocked */
    tw_destroy(&wheel);
    if (books.wrong > 0 || (count.opened == 0 && !is_stopped)) {
        puts(books.wrong > 0 ? "FAILED: the books and the library differ."
                             : "FAILED: no connection could be opened.");
        return 1;
    }
    puts("No timer fired early, and none was lost.");
    return 0;
}
