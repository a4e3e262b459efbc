/* measure.c - libcurl, as measure.h wants it. Each timer is an easy handle with
 * a transfer that waits for a response for ever. A handle that is due calls its
 * progress function. Compiled with the private headers of libcurl.
 *
 * SPDX-License-Identifier: MIT */
#define HOST_MOST 8000
#define HOST_TICK 1
#define HOST_STEP 1
#define HOST_DELAY 1000

#include "curl_setup.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include "urldata.h"
#include "multiif.h"

#undef malloc
#undef free

#include "../measure.h"

static CURLM *multi;
static CURL *handles[HOST_MOST];
static unsigned long last_turn[HOST_MOST]; /* in which the handle ran */
static unsigned long turn;
static int sockets[2];

/* A run calls this function several times. */
static int on_progress(void *index, curl_off_t total, curl_off_t now,
                       curl_off_t upload_total, curl_off_t upload_now)
{
    int timer = (int)(intptr_t)index;
    (void)total, (void)now, (void)upload_total, (void)upload_now;
    if (turn != 0 && last_turn[timer] != turn) {
        last_turn[timer] = turn;
        host_fired(timer);
    }
    return 0;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    (void)context, (void)purpose, (void)address;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0 ? sockets[0] : -1;
}

/* Takes the place of the C library's function. The socket has its peer. */
int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
    (void)fd, (void)address, (void)size;
    return 0;
}

static void make_handle(int i)
{
    CURL *easy = handles[i] = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1/");
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 1024L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, (void *)(intptr_t)i);
    curl_multi_add_handle(multi, easy);
}

static void host_begin(void)
{
    struct rlimit limit;
    int running, waiting = 0;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    curl_global_init(CURL_GLOBAL_ALL);
    multi = curl_multi_init();
    for (int i = 0; i < HOST_MOST; i++)
        make_handle(i);
    for (int i = 0; i < 10; i++)
        curl_multi_socket_all(multi, &running);
    for (int i = 0; i < HOST_MOST; i++) {
        struct Curl_easy *easy = (struct Curl_easy *)handles[i];
        waiting += easy->mstate == MSTATE_PERFORMING;
        Curl_expire_clear(easy);
    }
    if (waiting != HOST_MOST) {
        printf("# %d transfers of %d wait for a response\n", waiting,
               HOST_MOST);
        exit(1);
    }
}

static void host_start(int timer, uint64_t delay)
{
    struct Curl_easy *easy = (struct Curl_easy *)handles[timer];
    Curl_expire_clear(easy);
    Curl_expire(easy, (timediff_t)(delay / 1000), EXPIRE_TIMEOUT);
}

static void host_cancel(int timer)
{
    Curl_expire_clear((struct Curl_easy *)handles[timer]);
}

static void host_run(void)
{
    int running;
    turn++;
    curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
}

static int host_end(void)
{
    for (int i = 0; i < HOST_MOST; i++) {
        curl_multi_remove_handle(multi, handles[i]);
        curl_easy_cleanup(handles[i]);
    }
    curl_multi_cleanup(multi);
    return 0;
}
