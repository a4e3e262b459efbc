/* windows.c - timingwheel.h in a loop around WaitForMultipleObjects.
 *
 * A waitable timer carries the wheel and moves only when the next deadline
 * changes. A high-resolution timer is exact to a millisecond; other sleeps may
 * end 16 ms late. For more than 63 handles use a completion port: give
 * SetWaitableTimer a completion routine, and wait for both, alertable, in
 * GetQueuedCompletionStatusEx. The tests run under wine, not on Windows.
 *
 * The example: a thread sends an event every 24 ms. Each starts `soon`, due
 * before the sleep in progress would end, and postpones `silence`; each fifth
 * cancels it. Exit code: 1 for early, lost or late timers, 2 for idle turns.
 * SPDX-License-Identifier: MIT */
#define _WIN32_WINNT 0x0600 /* Vista and later */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <stdio.h>
#include <windows.h>

#define PRECISE 2          /* a flag of Windows 10 and later; before: 0 */
#define MS UINT64_C(10000) /* in units of 100 ns, as a waitable timer's */

static timingwheel wheel;
static uint64_t now; /* the reading of this turn */
static HANDLE wake;
static uint64_t wake_deadline; /* what `wake` is set to; 0: nothing yet */
static int events, pending, fired, early, late, idle;

/* Returns units of 100 ns. A clock that steps back counts as standing. */
static uint64_t read_clock(void)
{
    LARGE_INTEGER count, per_second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_second);
    uint64_t c = (uint64_t)count.QuadPart, f = (uint64_t)per_second.QuadPart;
    uint64_t reading = c / f * 1000 * MS + c % f * 1000 * MS / f;
    return reading > now ? reading : now;
}

static void move_wake(void)
{
    uint64_t deadline, wait = tw_wait(&wheel, now, INT64_MAX);
    LARGE_INTEGER delay = {.QuadPart = -(LONGLONG)wait}; /* not a date */
    if (tw_next_deadline(&wheel, &deadline) && deadline != wake_deadline) {
        SetWaitableTimer(wake, &delay, 0, NULL, NULL, FALSE);
        wake_deadline = deadline;
    }
}

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    (void)tw;
    fired++, pending--;
    early += now < tw_deadline(timer);
    late += now > tw_deadline(timer) + 9 * MS;
}

static void on_input(void)
{
    static tw_timer soon = TW_TIMER_INIT(on_timer);
    static tw_timer silence = TW_TIMER_INIT(on_timer);
    late += tw_is_pending(&soon);
    pending += !tw_is_pending(&soon) + !tw_is_pending(&silence);
    tw_start(&wheel, &soon, tw_after(now, 2 * MS));
    tw_postpone(&wheel, &silence, tw_after(now, 150 * MS));
    if (++events % 5 == 0)
        pending -= tw_cancel(&wheel, &silence);
}

static DWORD WINAPI sender(void *semaphore)
{
    for (int i = 0; i < 20; i++, Sleep(24))
        ReleaseSemaphore(semaphore, 1, NULL);
    return 0;
}

int main(void)
{
    tw_config config = {.start = now = read_clock(), .tick = MS / 2};
    HANDLE input = CreateSemaphoreW(NULL, 0, 20, NULL);
    wake = CreateWaitableTimerExW(NULL, NULL, PRECISE, TIMER_ALL_ACCESS);
    if (wake == NULL || tw_init(&wheel, &config) != TW_OK ||
        CreateThread(NULL, 0, sender, input, 0, NULL) == NULL)
        return 1;
    HANDLE both[] = {input, wake};
    while (events < 20 || tw_count(&wheel) > 0) {
        move_wake();
        DWORD ready = WaitForMultipleObjects(2, both, FALSE, INFINITE);
        now = read_clock();
        if (ready == WAIT_OBJECT_0)
            on_input();
        else
            wake_deadline = UINT64_MAX; /* gone off: to be set anew */
        size_t count = tw_advance_clock(&wheel, now);
        idle += ready != WAIT_OBJECT_0 && count == 0;
    }
    tw_destroy(&wheel);
    printf("windows: %d fired, %d early, %d lost, %d late, %d idle turns\n",
           fired, early, pending, late, idle);
    return (early || pending || late > 10) + 2 * (idle > 10);
}
