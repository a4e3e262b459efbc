/* timers.c - the timers of libcurl 7.88's multi handles on timingwheel.h.
 *
 * lib/multi.c includes this file behind its other includes. curl.patch replaces
 * the calls of the splay tree by calls of the functions below. Every easy
 * handle has one tw_timer, for the first of its time-outs. README.md says how
 * the adapter works, and what differs.
 *
 * SPDX-License-Identifier: MIT */

/* malloc and free are libcurl's. Its test 1132 wants the two lines. */
#include "curl_memory.h"
#include "memdebug.h"

#define TW_STATIC
#define TW_MALLOC(size, context) ((void)(context), malloc(size))
#define TW_FREE(pointer, context) ((void)(context), free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"

/* A small wheel, because every curl_easy_perform has a multi handle of its own:
 * the wheels for all deadlines take 40 KB. */
#define TIMERS_WHEEL_SIZE 16

/* The wheel counts microseconds, like struct curltime. */
#define TIMERS_SECOND UINT64_C(1000000)

static uint64_t timers_reading(struct curltime time)
{
    return (uint64_t)time.tv_sec * TIMERS_SECOND + (uint64_t)time.tv_usec;
}

/* Reserves the wheels for all deadlines, because Curl_expire cannot fail. */
static CURLMcode timers_init(struct Curl_multi *multi)
{
    tw_config config = {0};
    config.start = timers_reading(Curl_now());
    config.wheel_size = TIMERS_WHEEL_SIZE;
    tw_init(&multi->timers, &config);
    if (tw_reserve(&multi->timers, UINT64_MAX) == TW_OK)
        return CURLM_OK;
    tw_destroy(&multi->timers);
    return CURLM_OUT_OF_MEMORY;
}

/* Pending timers become idle. The easy handles must still exist. */
static void timers_destroy(struct Curl_multi *multi)
{
    tw_destroy(&multi->timers);
}

/* Starts the timer of `data` for state.expiretime. A pending timer moves. */
static void timers_start(struct Curl_multi *multi, struct Curl_easy *data)
{
    uint64_t deadline = timers_reading(data->state.expiretime);
    int status = tw_start(&multi->timers, &data->state.timer, deadline);
    DEBUGASSERT(status == TW_OK);
    (void)status;
}

static void timers_cancel(struct Curl_multi *multi, struct Curl_easy *data)
{
    tw_cancel(&multi->timers, &data->state.timer);
}

/* Takes out the next easy handle that is due at `now`; NULL if none is. */
static struct Curl_easy *timers_poll(struct Curl_multi *multi,
                                     struct curltime now)
{
    tw_timer *timer = tw_poll(&multi->timers, timers_reading(now));
    return timer ? TW_OWNER(timer, struct Curl_easy, state.timer) : NULL;
}

/* Writes the time of the first timer to multi->timer_next. That time may be too
 * early, but not too late. Returns false if no timer is pending. */
static bool timers_next(struct Curl_multi *multi)
{
    uint64_t deadline;
    if (!tw_next_deadline(&multi->timers, &deadline))
        return false;
    multi->timer_next.tv_sec = (time_t)(deadline / TIMERS_SECOND);
    multi->timer_next.tv_usec = (int)(deadline % TIMERS_SECOND);
    return true;
}
