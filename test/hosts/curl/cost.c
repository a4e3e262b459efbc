/* cost.c - what the timers of libcurl cost, in nanoseconds of processor time:
 *
 *     socket event, no read   curl_multi_socket_action for a writable socket,
 *                             while libcurl only wants to read: no system call
 *     socket event            the same for a readable socket: one recv
 *     clear and expire        the timer of a random handle is cleared and set
 *     push back               the timer of a random handle is set for later
 *     add and remove          a further handle
 *     one transfer's multi    a multi handle is made, gets its first handle,
 *                             and is freed
 *
 * Then the bytes that curl_multi_add_handle allocates per handle. Prints lines
 * "MEASURE|NUMBER".
 *
 *     cost HANDLES...
 *
 * SPDX-License-Identifier: MIT */
#include "handles.h"

static size_t bytes_allocated;

static void *count_malloc(size_t size)
{
    bytes_allocated += size;
    return malloc(size);
}

static void *count_calloc(size_t members, size_t size)
{
    bytes_allocated += members * size;
    return calloc(members, size);
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
    (void)multi;
    (void)timeout_ms;
    (void)context;
    return 0;
}

static CURL *random_handle(const struct handles *h)
{
    return h->easy[next_random() % h->count];
}

static void event_no_read(struct handles *h)
{
    int running;
    curl_multi_socket_action(h->multi, h->sockets[next_random() % h->connected],
                             CURL_CSELECT_OUT, &running);
}

static void event(struct handles *h)
{
    int running;
    curl_multi_socket_action(h->multi, h->sockets[next_random() % h->connected],
                             CURL_CSELECT_IN, &running);
}

static void clear_and_expire(struct handles *h)
{
    struct Curl_easy *easy = (struct Curl_easy *)random_handle(h);
    Curl_expire_clear(easy);
    Curl_expire(easy, (timediff_t)(60000 + next_random() % 60000),
                EXPIRE_TIMEOUT);
}

static void push_back(struct handles *h)
{
    Curl_expire((struct Curl_easy *)random_handle(h),
                (timediff_t)(120000 + next_random() % 60000), EXPIRE_TIMEOUT);
}

static void add_and_remove(struct handles *h)
{
    static CURL *further;
    if (further == NULL)
        further = new_handle(h);
    curl_multi_add_handle(h->multi, further);
    curl_multi_remove_handle(h->multi, further);
}

static void one_transfer(struct handles *h)
{
    static CURL *alone;
    CURLM *multi = curl_multi_init();
    if (alone == NULL)
        alone = new_handle(h);
    curl_multi_add_handle(multi, alone);
    curl_multi_remove_handle(multi, alone);
    curl_multi_cleanup(multi);
}

/* Prints the nanoseconds per call of `operation`, over a third of a second. */
static void measure(struct handles *h, const char *what,
                    void (*operation)(struct handles *))
{
    unsigned long calls = 0;
    double start;
    double end;
    for (int i = 0; i < 1000; i++)
        operation(h);
    start = processor_seconds();
    do {
        for (int i = 0; i < 1000; i++)
            operation(h);
        calls += 1000;
        end = processor_seconds();
    } while (end - start < 0.33);
    printf("%s, %lu, ns|%.0f\n", what, (unsigned long)h->count,
           (end - start) * 1e9 / (double)calls);
}

/* To remove a handle, libcurl walks a list of all waiting handles. */
static void measure_all(struct handles *h)
{
    for (size_t i = 0; i < h->count; i++)
        Curl_expire((struct Curl_easy *)h->easy[i],
                    (timediff_t)(60000 + next_random() % 60000),
                    EXPIRE_TIMEOUT);
    measure(h, "socket event, no read", event_no_read);
    measure(h, "socket event", event);
    measure(h, "clear and expire", clear_and_expire);
    measure(h, "push back", push_back);
    if (h->count > MAX_CONNECTED)
        return;
    measure(h, "add and remove", add_and_remove);
    measure(h, "one transfer's multi", one_transfer);
}

/* Counts bytes after all easy handles exist: the multi handle's bytes. */
static void measure_bytes(size_t count)
{
    struct handles h;
    size_t before;
    handles_init(&h);
    h.easy = (CURL **)malloc(count * sizeof(*h.easy));
    require(h.easy != NULL, "no memory for the handles");
    for (size_t i = 0; i < count; i++)
        h.easy[i] = new_handle(&h);
    before = bytes_allocated;
    for (; h.count < count; h.count++)
        curl_multi_add_handle(h.multi, h.easy[h.count]);
    printf("bytes per handle, of %lu|%lu\n", (unsigned long)count,
           (unsigned long)((bytes_allocated - before) / count));
    handles_destroy(&h);
}

/* The handles stay until the program ends. */
static void measure_handles(size_t count)
{
    struct handles *h = (struct handles *)malloc(sizeof(*h));
    require(h != NULL, "no memory");
    handles_init(h);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    add_handles(h, count);
    measure_all(h);
}

int main(int argc, char **argv)
{
    allow_sockets();
    curl_global_init_mem(CURL_GLOBAL_ALL, count_malloc, free, realloc, strdup,
                         count_calloc);
    measure_bytes(1);
    measure_bytes(1000);
    printf("struct Curl_easy, bytes|%lu\n",
           (unsigned long)sizeof(struct Curl_easy));
    printf("struct Curl_multi, bytes|%lu\n",
           (unsigned long)sizeof(struct Curl_multi));
    for (int i = 1; i < argc; i++)
        measure_handles(strtoul(argv[i], NULL, 10));
    return 0;
}
