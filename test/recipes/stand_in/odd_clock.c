/* odd_clock.c - wraps the clock of a recipe, by ld's --wrap. WRAP_NAME compiles
 * the wrapper of the function NAME. ODD_CLOCK names the odd clock:
 *
 *     stands      stands for 10 ms of every 70, and catches up
 *     steps-back  steps back by 25 ms every 100 ms, to before the last turn
 *     jumps       jumps by an hour every 100 ms
 *     sleeps      as jumps, for CLOCK_BOOTTIME alone: the machine was asleep,
 *                 and a timerfd that is due goes off at the jump
 *
 * The odd reading is a function of the time since the first reading. If the
 * recipe hands a point in time to the system, the wrapper moves the point back
 * to the system's clock.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS INT64_C(1000000)
#define PERIOD (100 * MS) /* of steps and jumps */
#define HOUR (3600000 * MS)

static int64_t first, offset;

static bool is(const char *clock)
{
    return strcmp(getenv("ODD_CLOCK"), clock) == 0;
}

static int64_t odd(int64_t real)
{
    first = first == 0 ? real : first;
    int64_t passed = real - first;
    if (is("stands"))
        offset = passed % (70 * MS) < 10 * MS ? -(passed % (70 * MS)) : 0;
    else if (is("steps-back"))
        offset = -25 * MS * (passed / PERIOD);
    else
        offset = HOUR * (passed / PERIOD);
    return real + offset;
}

#if defined(WRAP_clock_gettime)
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    int result = __real_clock_gettime(id, t);
    if (is("sleeps") && id != CLOCK_BOOTTIME)
        abort();
    int64_t now = odd(t->tv_sec * 1000 * MS + t->tv_nsec);
    t->tv_sec = now / (1000 * MS);
    t->tv_nsec = now % (1000 * MS);
    return result;
}
#endif
#if defined(WRAP_timerfd_settime)
#include <sys/timerfd.h>
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *new,
                           struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new,
                           struct itimerspec *old)
{
    struct itimerspec moved = *new;
    int64_t at = new->it_value.tv_sec * 1000 * MS + new->it_value.tv_nsec;
    if (at != 0) {
        at = at > offset ? at - offset : 1;
        int64_t jump = first + (offset / HOUR + 1) * PERIOD;
        if (is("sleeps") && at > jump)
            at = jump;
        moved.it_value.tv_sec = at / (1000 * MS);
        moved.it_value.tv_nsec = at % (1000 * MS);
    }
    return __real_timerfd_settime(fd, flags, &moved, old);
}
#endif
#if defined(WRAP_uv_now)
uint64_t __real_uv_now(const void *loop);
uint64_t __wrap_uv_now(const void *loop)
{
    return (uint64_t)(odd((int64_t)__real_uv_now(loop) * MS) / MS);
}
#endif
#if defined(WRAP_g_source_get_time)
int64_t __real_g_source_get_time(void *source);
int64_t __wrap_g_source_get_time(void *source)
{
    return odd(__real_g_source_get_time(source) * 1000) / 1000;
}
#endif
#if defined(WRAP_sd_event_now)
int __real_sd_event_now(void *loop, clockid_t id, uint64_t *now);
int __wrap_sd_event_now(void *loop, clockid_t id, uint64_t *now)
{
    int result = __real_sd_event_now(loop, id, now);
    *now = (uint64_t)(odd((int64_t)*now * 1000) / 1000);
    return result;
}
int __real_sd_event_source_set_time(void *source, uint64_t at);
int __wrap_sd_event_source_set_time(void *source, uint64_t at)
{
    int64_t real = (int64_t)at - offset / 1000;
    if (at != UINT64_MAX)
        at = real > 0 ? (uint64_t)real : 1;
    return __real_sd_event_source_set_time(source, at);
}
#endif
#if defined(WRAP_emscripten_get_now)
double __real_emscripten_get_now(void);
double __wrap_emscripten_get_now(void)
{
    double real = __real_emscripten_get_now();
    return (double)odd((int64_t)(real * (double)MS)) / (double)MS;
}
#endif
#if defined(WRAP___imp_QueryPerformanceCounter)
/* A function of a DLL is called through a pointer; the pointer is wrapped. */
#include <windows.h>
typedef BOOL WINAPI counter(LARGE_INTEGER *count);
extern counter *__real___imp_QueryPerformanceCounter;
static BOOL WINAPI odd_counter(LARGE_INTEGER *count)
{
    LARGE_INTEGER per_second;
    BOOL result = __real___imp_QueryPerformanceCounter(count);
    QueryPerformanceFrequency(&per_second);
    int64_t unit = 1000 * MS / per_second.QuadPart;
    count->QuadPart = odd(count->QuadPart * unit) / unit;
    return result;
}
counter *__wrap___imp_QueryPerformanceCounter = odd_counter;
#endif
