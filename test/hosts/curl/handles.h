/* handles.h - easy handles of libcurl whose transfers never end. The first
 * MAX_CONNECTED handles are connected, on the loopback interface, to a server
 * that never responds. Further handles wait for a connection.
 *
 * Programs with this file are compiled with the private headers of libcurl.
 *
 * SPDX-License-Identifier: MIT */
#ifndef HANDLES_H
#define HANDLES_H

#include "curl_setup.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <unistd.h>

#include "urldata.h"
#include "multiif.h"

#include "../measure.h"

#undef malloc
#undef calloc
#undef realloc
#undef free
#undef strdup

#define MAX_CONNECTED 1000

/* All handles of one multi handle. */
struct handles {
    CURLM *multi;
    CURL **easy;
    size_t count;
    size_t connected;           /* handles with a socket, from the first */
    int sockets[MAX_CONNECTED]; /* by handle */
    int listener;
    char url[40];
};

static void require(bool holds, const char *what)
{
    if (!holds) {
        printf("# %s\n", what);
        exit(1);
    }
}

/* Opens a socket for the next handle, and keeps the descriptor. */
static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct handles *h = (struct handles *)context;
    int fd = socket(address->family, address->socktype, address->protocol);
    (void)purpose;
    require(fd >= 0 && h->connected < MAX_CONNECTED, "no socket");
    h->sockets[h->connected++] = fd;
    return fd;
}

/* Listens on a free port of the loopback interface. The kernel completes the
 * connections without a call of accept. */
static void listen_on_loopback(struct handles *h)
{
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    h->listener = socket(AF_INET, SOCK_STREAM, 0);
    require(h->listener >= 0 &&
                bind(h->listener, (struct sockaddr *)&address, size) == 0 &&
                listen(h->listener, 2 * MAX_CONNECTED) == 0 &&
                getsockname(h->listener, (struct sockaddr *)&address, &size) ==
                    0,
            "no listener on the loopback interface");
    snprintf(h->url, sizeof(h->url), "http://127.0.0.1:%d/",
             ntohs(address.sin_port));
}

static CURL *new_handle(struct handles *h)
{
    CURL *easy = curl_easy_init();
    require(easy != NULL, "no memory for a handle");
    curl_easy_setopt(easy, CURLOPT_URL, h->url);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, h);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 1024L);
    return easy;
}

static CURLMstate state_of(const struct handles *h, size_t i)
{
    return ((const struct Curl_easy *)h->easy[i])->mstate;
}

static void allow_sockets(void)
{
    struct rlimit limit;
    require(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
}

static void handles_init(struct handles *h)
{
    memset(h, 0, sizeof(*h));
    listen_on_loopback(h);
    h->multi = curl_multi_init();
    require(h->multi != NULL, "no memory for a multi handle");
    curl_multi_setopt(h->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                      (long)MAX_CONNECTED);
}

static size_t waiting_for_response(const struct handles *h)
{
    size_t n = 0;
    while (n < h->connected && state_of(h, n) == MSTATE_PERFORMING)
        n++;
    return n;
}

/* Adds handles until `count` handles exist. Returns when all connected handles
 * wait for a response. */
static void add_handles(struct handles *h, size_t count)
{
    size_t expected;
    int running;
    h->easy = (CURL **)realloc(h->easy, count * sizeof(*h->easy));
    require(h->easy != NULL, "no memory for the handles");
    for (; h->count < count; h->count++) {
        h->easy[h->count] = new_handle(h);
        require(curl_multi_add_handle(h->multi, h->easy[h->count]) == CURLM_OK,
                "curl_multi_add_handle");
    }
    expected = count < MAX_CONNECTED ? count : MAX_CONNECTED;
    for (int i = 0; i < 1000 && waiting_for_response(h) < expected; i++)
        curl_multi_socket_all(h->multi, &running);
    require(waiting_for_response(h) == expected, "a handle is not connected");
}

static void handles_destroy(struct handles *h)
{
    for (size_t i = 0; i < h->count; i++) {
        curl_multi_remove_handle(h->multi, h->easy[i]);
        curl_easy_cleanup(h->easy[i]);
    }
    curl_multi_cleanup(h->multi);
    close(h->listener);
    free(h->easy);
}

#endif /* HANDLES_H */
