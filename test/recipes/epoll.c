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
#define MS UINT64_C(1000000) /* all times are in ns of CLOCK_MONOTONIC */
#define SECOND (1000 * MS)
#include "judge.h" /* the wheel and the clock */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>

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
#define FILES(connections) (2 * (connections) + 64) /* two ends each */

static uint64_t connections = 2000, seconds = 10; /* options */
static uint64_t wake_ups, empty_wake_ups;
static int poller; /* the epoll instance */

static void die(const char *what)
{
    fprintf(stderr, "demo: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---------------------------------------------------------------- books --- */

/* The books follow from the program's calls and from the callbacks. The books
 * never ask the library, except to compare. */

enum kind { IDLE, REQUEST, HEARTBEAT, PAUSE, KINDS };
enum event { STARTED, POSTPONED, CANCELLED, FIRED, COLUMNS };
static const char *const names[] = {"idle time-out", "request time-out",
                                    "heartbeat", "pause", "total"};

struct record {
    tw_timer timer;
    uint64_t deadline, due;           /* last requested; rounded up to a tick */
    struct record *next;              /* of all records */
    void (*action)(struct record *r); /* called when the timer fires */
    enum kind kind;
    bool is_armed; /* started, not yet cancelled or fired */
};

static struct {
    struct record *records;
    uint64_t counts[KINDS + 1][COLUMNS]; /* the last row: of all kinds */
    uint64_t advanced, advanced_before;  /* times of the last two advances */
    uint64_t wrong;                      /* complaints */
    uint64_t late, latest; /* fired more than 2 ms late; the most, in ns */
} books;

static void note(struct record *r, enum event event)
{
    books.counts[r->kind][event]++;
    books.counts[KINDS][event]++;
    r->is_armed = event == STARTED || event == POSTPONED;
}

static uint64_t pending(const uint64_t *counts)
{
    return counts[STARTED] - counts[CANCELLED] - counts[FIRED];
}

/* Notes a broken promise of the library. Prints the first ten. */
static void complain(bool is_wrong, const struct record *r, const char *what)
{
    if (is_wrong && ++books.wrong <= 10)
        fprintf(stderr, "\ndemo: a timer (%s) %s\n", names[r->kind], what);
}

/* Compares the books with the library. Not for callbacks: in a callback,
 * further timers may be due and not yet fired. */
static void audit(void)
{
    const uint64_t *total = books.counts[KINDS];
    tw_stats stats;
    for (const struct record *r = books.records; r != NULL; r = r->next) {
        complain(r->is_armed && r->due <= books.advanced, r, "is lost");
        complain(r->is_armed != tw_is_pending(&r->timer), r,
                 "is armed in the books or in the library, not in both");
        complain(r->is_armed && r->deadline != tw_deadline(&r->timer), r,
                 "has another deadline");
    }
    tw_get_stats(&wheel, &stats);
    complain(stats.fired != total[FIRED] || tw_count(&wheel) != pending(total),
             books.records, "is missing in the counts");
    complain(!tw_check(&wheel), books.records, "has broken an invariant");
}

/* ---------------------------------------------------------------- calls --- */

/* The stopwatch reads CLOCK_MONOTONIC at each entry into the library and at
 * each exit: a thread's CPU clock would take longer than most calls. The cost
 * of the readings is measured first and subtracted. If another program
 * interrupts a call, the figure is too high, but never too low. */
static struct {
    uint64_t total, visits;
    uint64_t cost; /* of an empty visit */
} watch;

static void enter(void)
{
    watch.total -= system_clock();
}

static uint64_t leave(void)
{
    uint64_t at = system_clock();
    watch.total += at;
    watch.visits++;
    return at;
}

#define TIMED(call_of_library) (enter(), (call_of_library), leave())

/* Takes the shortest visit. Interrupts lengthen some visits. */
static void calibrate(void)
{
    for (watch.cost = UINT64_MAX; watch.visits < 20000; watch.total = 0) {
        TIMED((void)0);
        watch.cost = watch.total < watch.cost ? watch.total : watch.cost;
    }
    watch.visits = 0;
}

/* The callback of all timers. A timer must fire in the first advance that
 * reaches its due time. The stopwatch stands still during the action. */
static void on_fire(timingwheel *tw, tw_timer *timer)
{
    struct record *r = TW_OWNER(timer, struct record, timer);
    uint64_t at = leave(), late = at > r->deadline ? at - r->deadline : 0;
    (void)tw;
    complain(!r->is_armed, r, "fired, and was not armed");
    complain(books.advanced < r->due, r, "fired early");
    complain(books.advanced_before >= r->due, r, "was due a call earlier");
    books.late += late > 2 * MS;
    books.latest = late > books.latest ? late : books.latest;
    note(r, FIRED);
    r->action(r);
    enter();
}

static void timer_init(struct record *r, enum kind kind,
                       void (*action)(struct record *r))
{
    r->kind = kind, r->action = action;
    r->next = books.records, books.records = r;
    tw_timer_init(&r->timer, on_fire);
}

/* Starts a timer, or postpones a started timer. Without memory, the demo ends;
 * a real server would refuse the connection. */
static void timer_set(struct record *r, uint64_t deadline)
{
    int status;
    TIMED(status = r->is_armed ? tw_postpone(&wheel, &r->timer, deadline)
                               : tw_start(&wheel, &r->timer, deadline));
    if (status != TW_OK)
        die(tw_strerror(status));
    note(r, r->is_armed ? POSTPONED : STARTED);
    r->deadline = deadline, r->due = (deadline + TICK - 1) / TICK * TICK;
}

static void timer_cancel(struct record *r)
{
    bool was_pending;
    if (!r->is_armed)
        return;
    TIMED(was_pending = tw_cancel(&wheel, &r->timer));
    complain(!was_pending, r, "was armed, but tw_cancel did not find it");
    note(r, CANCELLED);
}

/* -------------------------------------------------------------- sockets --- */

/* One end of a connection, or the listener. */
struct endpoint {
    int fd; /* -1 while closed */
    void (*on_ready)(struct endpoint *end);
};

static bool listen_for(struct endpoint *end)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = end};
    return epoll_ctl(poller, EPOLL_CTL_ADD, end->fd, &event) == 0;
}

static void close_end(struct endpoint *end)
{
    if (end->fd >= 0)
        close(end->fd); /* also takes the socket out of epoll */
    end->fd = -1;
}

/* A message is one byte, and must not wait for further messages. A connection
 * is reset at close: an orderly close would block the port for a minute, and
 * some thousand connections later no port would be free. */
static int new_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct linger reset = {1, 0};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    return fd;
}

/* Returns false if the connection is broken. A full socket buffer is no error:
 * a time-out handles the lost message. */
static bool send_message(struct endpoint *end, char message)
{
    return send(end->fd, &message, 1, MSG_NOSIGNAL) == 1 || errno == EAGAIN;
}

/* Returns the next message; 0: none has come; -1: the connection is broken. */
static int receive(struct endpoint *end)
{
    char message;
    ssize_t length = recv(end->fd, &message, 1, 0);
    return length == 1 ? message : length < 0 && errno == EAGAIN ? 0 : -1;
}

/* --------------------------------------------------------------- server --- */

static struct session {
    struct endpoint end;
    struct record idle;
} sessions[FILES(MOST)]; /* by file descriptor */
static struct endpoint listener;
static struct sockaddr_in address = {.sin_family = AF_INET};

static void close_session(struct session *s)
{
    timer_cancel(&s->idle);
    close_end(&s->end);
}

static void on_idle(struct record *r)
{
    close_session(TW_OWNER(r, struct session, idle));
}

static void on_message(struct endpoint *end)
{
    struct session *s = TW_OWNER(end, struct session, end);
    int message = receive(end);
    bool is_answered = message == 'r' && rand() % WITHHELD_ONE_IN > 0;
    if (message > 0)
        timer_set(&s->idle, tw_after(now, IDLE_TIMEOUT));
    if (message < 0 || (is_answered && !send_message(end, 'a')))
        close_session(s);
}

static void on_connections(struct endpoint *end)
{
    for (int fd; (fd = accept4(end->fd, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
        struct session *s = &sessions[fd];
        s->end.fd = fd;
        timer_set(&s->idle, tw_after(now, IDLE_TIMEOUT));
        if (!listen_for(&s->end))
            close_session(s);
    }
}

static void start_server(void)
{
    socklen_t size = sizeof(address);
    struct sockaddr *any = (struct sockaddr *)&address;
    listener = (struct endpoint){new_socket(), on_connections};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener.fd, any, size) != 0 ||
        listen(listener.fd, SOMAXCONN) != 0 ||
        getsockname(listener.fd, any, &size) != 0 || !listen_for(&listener))
        die("cannot listen on 127.0.0.1");
    for (uint64_t fd = 0; fd < FILES(connections); fd++) {
        sessions[fd].end = (struct endpoint){-1, on_message};
        timer_init(&sessions[fd].idle, IDLE, on_idle);
    }
}

/* -------------------------------------------------------------- clients --- */

static struct client {
    struct endpoint end;
    struct record request, heartbeat, pause;
} clients[MOST];

static void start_pause(struct client *c, uint64_t shortest)
{
    uint64_t pause = shortest + (uint64_t)rand() % shortest;
    timer_set(&c->pause, tw_after(now, pause));
}

/* Closes the connection, if any, and opens a new one after a pause. */
static void close_client(struct client *c)
{
    timer_cancel(&c->request);
    timer_cancel(&c->heartbeat);
    timer_cancel(&c->pause);
    close_end(&c->end);
    start_pause(c, REOPEN_PAUSE);
}

/* The client need not wait for the connection: epoll reports a failed attempt,
 * and a request sent too early times out. */
static void open_client(struct client *c)
{
    uint64_t first_beat = now + 1 + (uint64_t)rand() % HEARTBEAT_PERIOD;
    c->end.fd = new_socket();
    connect(c->end.fd, (struct sockaddr *)&address, sizeof(address));
    if (!listen_for(&c->end)) {
        close_client(c);
        return;
    }
    timer_set(&c->heartbeat, first_beat);
    start_pause(c, REQUEST_PAUSE);
}

static void on_answer(struct endpoint *end)
{
    struct client *c = TW_OWNER(end, struct client, end);
    int message = receive(end);
    if (message < 0) {
        close_client(c);
    } else if (message > 0 && c->request.is_armed) {
        timer_cancel(&c->request);
        start_pause(c, REQUEST_PAUSE);
    }
}

static void on_request_timeout(struct record *r)
{
    close_client(TW_OWNER(r, struct client, request));
}

/* Starts again from the timer's own deadline, not from now. The heartbeat keeps
 * its phase, however late a single beat is. */
static void on_heartbeat(struct record *r)
{
    struct client *c = TW_OWNER(r, struct client, heartbeat);
    timer_set(
        r, tw_next_period(tw_deadline(&r->timer), HEARTBEAT_PERIOD, now, NULL));
    if (!send_message(&c->end, 'h'))
        close_client(c);
}

static void on_pause_over(struct record *r)
{
    struct client *c = TW_OWNER(r, struct client, pause);
    if (c->end.fd < 0) {
        open_client(c);
    } else if (rand() % SILENT_ONE_IN == 0) {
        timer_cancel(&c->heartbeat); /* silent until the server closes */
    } else if (!send_message(&c->end, 'r')) {
        close_client(c);
    } else {
        timer_set(&c->request, tw_after(now, REQUEST_TIMEOUT));
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
        timer_set(&c->pause, now + 1 + i * OPENING_SPREAD / connections);
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

static void print_report(void)
{
    double process = (double)clock() * 1e3 / CLOCKS_PER_SEC;
    double library = (double)(watch.total - watch.visits * watch.cost);
    printf("\n  %-18s%11s%11s%11s%11s%11s\n", "", "started", "postponed",
           "cancelled", "fired", "pending");
    for (int kind = 0; kind <= KINDS; kind++) {
        printf("  %-18s", names[kind]);
        for (int event = 0; event < COLUMNS; event++)
            printf("%11s", text(books.counts[kind][event]));
        printf("%11s\n", text(pending(books.counts[kind])));
    }
    printf("  wake-ups      %s, of which %s had nothing to do\n"
           "  lateness      %s timers more than 2 ms, at most %.1f ms: a long\n"
           "                turn of the loop, or other programs, delay timers\n"
           "  CPU time      %.1f ms in the library, %.1f %% of %.0f ms\n",
           text(wake_ups), text(empty_wake_ups), text(books.late),
           (double)books.latest / 1e6, library / 1e6, library / 1e4 / process,
           process);
}

/* ----------------------------------------------------------------- loop --- */

/* The loop: sleep until a socket is ready, or for as long as tw_wait allows.
 * Read the clock: every delay in this turn counts from the reading. Advance to
 * the reading, which fires all due timers. Then serve the sockets.
 *
 * The wait is rounded up to the milliseconds of epoll_wait: rounded down, the
 * loop would wake before the deadline, find nothing due, and spin. */
static void run_loop(uint64_t end)
{
    struct epoll_event events[256];
    uint64_t next_status = now + SECOND;
    while (now < end) {
        uint64_t wait;
        size_t fired;
        now = read_clock(); /* the last turn took time */
        uint64_t longest = next_status > now ? next_status - now : 0;
        TIMED(wait = tw_wait(&wheel, now, longest));
        int ready =
            epoll_wait(poller, events, 256, (int)((wait + MS - 1) / MS));
        now = read_clock();
        books.advanced_before = books.advanced, books.advanced = now;
        TIMED(fired = tw_advance_clock(&wheel, now));
        for (int i = 0; i < ready; i++) {
            struct endpoint *e = (struct endpoint *)events[i].data.ptr;
            if (e->fd >= 0) /* not closed by a timer of this turn */
                e->on_ready(e);
        }
        wake_ups++;
        empty_wake_ups += ready <= 0 && fired == 0 && now < next_status;
        if (now < next_status)
            continue;
        audit();
        printf("%s open, %s requests, %s timers pending, %s fired\n",
               text(pending(books.counts[IDLE])),
               text(books.counts[REQUEST][STARTED]), text(tw_count(&wheel)),
               text(books.counts[KINDS][FIRED]));
        fflush(stdout);
        next_status += SECOND;
    }
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2)
        if (strcmp(argv[i], "--connections") == 0 && i + 1 < argc)
            connections = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = strtoull(argv[i + 1], NULL, 10);
        else
            seconds = 0;
    if (connections - 1 < MOST && seconds - 1 < 86400)
        return;
    fprintf(stderr, "usage: demo [--connections 1..%d] [--seconds N]\n", MOST);
    exit(2);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    rlim_t files = FILES(connections);
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, files}) != 0)
        die("so many connections need more open files (ulimit -n)");
    printf("Connections over loopback TCP: %s, for %s s. Some clients fall\n"
           "silent, and some answers never come, so that time-outs fire.\n",
           text(connections), text(seconds));
    calibrate();
    now = books.advanced = read_clock();
    poller = epoll_create1(EPOLL_CLOEXEC);
    tw_init(&wheel, &(tw_config){.tick = TICK, .start = now});
    start_server();
    start_clients();
    run_loop(now + seconds * SECOND);
    audit();
    print_report();
    tw_destroy(&wheel);
    if (books.counts[IDLE][STARTED] == 0)
        die("no connection could be opened");
    puts(books.wrong == 0 ? "No timer fired early, and none was lost."
                          : "FAILED: the books and the library differ.");
    return books.wrong > 0;
}
