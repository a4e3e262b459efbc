/* windows.c - timingwheel.h in a loop around WaitForMultipleObjects.
 *
 * A waitable timer carries the wheel and moves only when the next deadline
 * changes. A high-resolution timer is exact to a millisecond; other sleeps may
 * end 16 ms late. For more than 63 handles use a completion port: give
 * SetWaitableTimer a completion routine, and wait for both, alertable, in
 * GetQueuedCompletionStatusEx. The tests run under wine, not on Windows.
 *
 * The example is in judge.h; a thread stands for the input.
 *
 * SPDX-License-Identifier: MIT */
#define _WIN32_WINNT 0x0600 /* Vista and later */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#include <windows.h>

#define PRECISE 2          /* a flag of Windows 10 and later; before: 0 */
#define MS UINT64_C(10000) /* in units of 100 ns, as a waitable timer's */
static uint64_t now;       /* the reading of this turn */
#include "judge.h"

static timingwheel tw;
static HANDLE wake;
static uint64_t wake_deadline; /* the deadline of `wake`; 0: not set */

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
    uint64_t deadline, wait = tw_wait(&tw, now, INT64_MAX);
    LARGE_INTEGER delay = {.QuadPart = -(LONGLONG)wait}; /* not a date */
    if (tw_next_deadline(&tw, &deadline) && deadline != wake_deadline) {
        SetWaitableTimer(wake, &delay, 0, NULL, NULL, FALSE);
        wake_deadline = deadline;
    }
}

static DWORD WINAPI send_events(void *semaphore)
{
    for (int i = 0; i < EVENTS; i++, Sleep(24))
        ReleaseSemaphore(semaphore, 1, NULL);
    return 0;
}

int main(void)
{
    tw_config config = {.start = now = read_clock(), .tick = MS / 2};
    HANDLE input = CreateSemaphoreW(NULL, 0, EVENTS, NULL);
    wake = CreateWaitableTimerExW(NULL, NULL, PRECISE, TIMER_ALL_ACCESS);
    if (wake == NULL || tw_init(&tw, &config) != TW_OK ||
        CreateThread(NULL, 0, send_events, input, 0, NULL) == NULL)
        return 1;
    HANDLE both[] = {input, wake};
    while (judge_turn(&tw)) {
        move_wake();
        DWORD ready = WaitForMultipleObjects(2, both, FALSE, INFINITE);
        now = read_clock();
        tw_advance_clock(&tw, now);
        if (ready == WAIT_OBJECT_0)
            judge_event(&tw);
        else
            wake_deadline = UINT64_MAX; /* gone off: to be set anew */
    }
    tw_destroy(&tw);
    return judge_end("windows", true);
}
