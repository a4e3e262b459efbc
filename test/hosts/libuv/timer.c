/* timer.c - libuv 1.44's timers on timingwheel.h, in place of src/timer.c: the
 * functions of docs/src/timer.rst, and three functions for the rest of libuv.
 * For Unix. README.md says what differs.
 *
 * SPDX-License-Identifier: MIT */

#include <limits.h>

#include "uv.h"
#include "uv-common.h"

#define TW_STATIC
#define TW_MALLOC(size, context) ((void)(context), uv__malloc(size))
#define TW_FREE(pointer, context) ((void)(context), uv__free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

/* The tw_timer takes the place of the fields heap_node, timeout and repeat, and
 * the field start_id keeps the repeat. So uv_timer_t keeps its size. (libuv is
 * compiled with -fno-strict-aliasing.) */
typedef char
    a_timer_fits[sizeof(tw_timer) <= offsetof(uv_timer_t, start_id) -
                                         offsetof(uv_timer_t, heap_node)
                     ? 1
                     : -1];

/* The timers of one loop, behind loop->timer_heap.min. The first start of a
 * timer allocates the struct, and closing the last handle frees the struct.
 * loop->timer_heap.nelts counts the handles. */
struct timers {
    timingwheel wheel;
    uint64_t firing_to; /* while `firing`: the time that fires */
    int firing;         /* inside uv__run_timers */
};

static struct timers *timers_of(const uv_loop_t *loop)
{
    return (struct timers *)loop->timer_heap.min;
}

static tw_timer *timer_of(uv_timer_t *handle)
{
    return (tw_timer *)(void *)handle->heap_node;
}

static uv_timer_t *handle_of(tw_timer *timer)
{
    return (uv_timer_t *)(void *)((char *)timer -
                                  offsetof(uv_timer_t, heap_node));
}

/* NULL if there is no memory. */
static struct timers *make_timers(uv_loop_t *loop)
{
    tw_config config = {0};
    struct timers *timers = (struct timers *)uv__calloc(1, sizeof(*timers));
    if (timers == NULL)
        return NULL;
    config.start = loop->time;
    tw_init(&timers->wheel, &config);
    loop->timer_heap.min = timers;
    return timers;
}

/* A timer's callback may close the last handle. The wheel must not go while
 * timers fire, so the wheel goes at the end of uv__run_timers. */
static void free_timers_if_last(uv_loop_t *loop)
{
    struct timers *timers = timers_of(loop);
    if (timers == NULL || timers->firing || loop->timer_heap.nelts != 0)
        return;
    tw_destroy(&timers->wheel);
    uv__free(timers);
    loop->timer_heap.min = NULL;
}

/* Starts a repeating timer again before the callback, so that the callback may
 * stop or change the timer. */
static void on_due(timingwheel *wheel, tw_timer *timer)
{
    uv_timer_t *handle = handle_of(timer);
    (void)wheel;
    uv__handle_stop(handle);
    uv_timer_again(handle);
    handle->timer_cb(handle);
}

int uv_timer_init(uv_loop_t *loop, uv_timer_t *handle)
{
    uv__handle_init(loop, (uv_handle_t *)handle, UV_TIMER);
    tw_timer_init(timer_of(handle), on_due);
    handle->timer_cb = NULL;
    handle->start_id = 0;
    loop->timer_heap.nelts++;
    return 0;
}

/* A timer started by a callback with a timeout of 0 waits for the next
 * iteration of the loop, as documented. A passed deadline, such as 0, does so.
 */
static uint64_t deadline_in_wheel(const struct timers *timers,
                                  uint64_t deadline)
{
    return timers->firing && deadline <= timers->firing_to ? 0 : deadline;
}

int uv_timer_start(uv_timer_t *handle, uv_timer_cb callback, uint64_t timeout,
                   uint64_t repeat)
{
    struct timers *timers = timers_of(handle->loop);
    uint64_t deadline = tw_after(handle->loop->time, timeout);

    if (uv__is_closing(handle) || callback == NULL)
        return UV_EINVAL;
    if (timers == NULL && (timers = make_timers(handle->loop)) == NULL)
        return UV_ENOMEM;
    (void)tw_start(&timers->wheel, timer_of(handle),
                   deadline_in_wheel(timers, deadline));
    handle->timer_cb = callback;
    handle->start_id = repeat;
    uv__handle_start(handle);
    return 0;
}

int uv_timer_stop(uv_timer_t *handle)
{
    if (uv__is_active(handle)) {
        tw_cancel(&timers_of(handle->loop)->wheel, timer_of(handle));
        uv__handle_stop(handle);
    }
    return 0;
}

int uv_timer_again(uv_timer_t *handle)
{
    if (handle->timer_cb == NULL)
        return UV_EINVAL;
    if (handle->start_id == 0)
        return 0;
    return uv_timer_start(handle, handle->timer_cb, handle->start_id,
                          handle->start_id);
}

void uv_timer_set_repeat(uv_timer_t *handle, uint64_t repeat)
{
    handle->start_id = repeat;
}

uint64_t uv_timer_get_repeat(const uv_timer_t *handle)
{
    return handle->start_id;
}

uint64_t uv_timer_get_due_in(const uv_timer_t *handle)
{
    uint64_t now = handle->loop->time;
    uint64_t deadline = tw_deadline((tw_timer *)(void *)handle->heap_node);
    return deadline > now ? deadline - now : 0;
}

/* Returns how long the loop may sleep, in milliseconds; -1 without a timer. */
int uv__next_timeout(const uv_loop_t *loop)
{
    const struct timers *timers = timers_of(loop);
    if (timers == NULL || tw_count(&timers->wheel) == 0)
        return -1;
    return (int)tw_wait(&timers->wheel, loop->time, INT_MAX);
}

void uv__run_timers(uv_loop_t *loop)
{
    struct timers *timers = timers_of(loop);
    if (timers == NULL || timers->firing)
        return;
    timers->firing = 1;
    timers->firing_to = loop->time;
    tw_advance_clock(&timers->wheel, loop->time);
    timers->firing = 0;
    free_timers_if_last(loop);
}

/* uv_close of a timer. */
void uv__timer_close(uv_timer_t *handle)
{
    uv_timer_stop(handle);
    handle->loop->timer_heap.nelts--;
    free_timers_if_last(handle->loop);
}
