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
#define MS UINT64_C(10000)  /* in units of 100 ns, as a waitable timer's */
#include "judge.h"
#include <windows.h>

#define PRECISE 2 /* a flag of Windows 10 and later; before: 0 */

static uint64_t read_clock(void)
{
    LARGE_INTEGER count, per_second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_second);
    uint64_t c = (uint64_t)count.QuadPart, f = (uint64_t)per_second.QuadPart;
    return steady(c / f * 1000 * MS + c % f * 1000 * MS / f);
}

static DWORD WINAPI send_events(void *semaphore)
{
    for (int i = 0; i < EVENTS; i++, Sleep(24))
        ReleaseSemaphore(semaphore, 1, NULL);
    return 0;
}

int main(void)
{
    HANDLE input = CreateSemaphoreW(NULL, 0, EVENTS, NULL);
    HANDLE wake = CreateWaitableTimerExW(NULL, NULL, PRECISE, TIMER_ALL_ACCESS);
    HANDLE both[] = {input, wake};
    uint64_t wake_deadline = 0, deadline; /* the deadline of `wake`; 0: none */
    now = read_clock();
    tw_init(&wheel, &(tw_config){.start = now, .tick = MS / 2});
    CreateThread(NULL, 0, send_events, input, 0, NULL);
    while (judge_turn()) {
        if (tw_next_deadline(&wheel, &deadline) && deadline != wake_deadline) {
            uint64_t wait = tw_wait(&wheel, now, INT64_MAX);
            LARGE_INTEGER delay = {.QuadPart = -(LONGLONG)wait}; /* no date */
            SetWaitableTimer(wake, &delay, 0, NULL, NULL, FALSE);
            wake_deadline = deadline;
        }
        DWORD ready = WaitForMultipleObjects(2, both, FALSE, INFINITE);
        now = read_clock();
        tw_advance_clock(&wheel, now);
        if (ready == WAIT_OBJECT_0)
            judge_event();
        else
            wake_deadline = 0; /* gone off: to be set anew */
    }
    return judge_end("windows", true);
}
