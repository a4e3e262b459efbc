/* windows.c - timers in a loop around WaitForMultipleObjects.
 *
 * Says when you have not typed for 250 ms. A high-resolution waitable timer
 * carries the next deadline: other sleeps may end 16 ms late. For more than 63
 * handles see CreateIoCompletionPort. The tests run this file under wine.
 *
 *     x86_64-w64-mingw32-gcc -Wall -Wextra windows.c -o windows.exe \
 *         && ./windows.exe
 * SPDX-License-Identifier: MIT */
#define _WIN32_WINNT 0x0600 /* Vista and later */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <stdio.h>
#include <windows.h>

#define MS UINT64_C(10000) /* in units of 100 ns, as a waitable timer's */
#define PRECISE 2          /* a flag of Windows 10 and later; before: 0 */

struct session {
    tw_timer silence;
    bool is_asked; /* the reader has been given time */
    unsigned count;
};

static uint64_t read_clock(void)
{
    LARGE_INTEGER count, per_second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_second);
    uint64_t c = (uint64_t)count.QuadPart, f = (uint64_t)per_second.QuadPart;
    return c / f * 1000 * MS + c % f * 1000 * MS / f;
}

/* Input that has come beats the timeout: after a stall the reader may not have
 * run, and gets 10 ms for it. A socket can be read here instead. */
static void on_silence(timingwheel *tw, tw_timer *timer)
{
    struct session *s = TW_OWNER(timer, struct session, silence);
    s->is_asked = !s->is_asked;
    if (s->is_asked) {
        tw_start_after(tw, timer, read_clock(), 10 * MS);
        return;
    }
    printf("silence %u\n", ++s->count);
    fflush(stdout);
}

/* A thread, since no wait takes a pipe. Ends with the input. */
static DWORD WINAPI read_input(void *event)
{
    char bytes[4096];
    DWORD count;
    HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    while (ReadFile(input, bytes, sizeof(bytes), &count, NULL) && count > 0)
        SetEvent(event);
    return 0;
}

int main(void)
{
    timingwheel timers;
    struct session session = {TW_TIMER_INIT(on_silence), false, 0};
    HANDLE wake = CreateWaitableTimerExW(NULL, NULL, PRECISE, TIMER_ALL_ACCESS);
    HANDLE input = CreateEventW(NULL, FALSE, FALSE, NULL);
    HANDLE reader = CreateThread(NULL, 0, read_input, input, 0, NULL);
    HANDLE all[] = {input, wake, reader}; /* of two, the first is reported */
    DWORD ready = 0, watched = 3;
    tw_init(&timers, &(tw_config){.tick = MS, .start = read_clock()});
    while (watched == 3 || tw_count(&timers) > 0) {
        uint64_t wait = tw_wait(&timers, read_clock(), 1000 * MS);
        LARGE_INTEGER delay = {.QuadPart = -(LONGLONG)wait}; /* from now */
        SetWaitableTimer(wake, &delay, 0, NULL, NULL, FALSE);
        ready = WaitForMultipleObjects(watched, all, FALSE, INFINITE);
        if (ready == WAIT_OBJECT_0) {
            session.is_asked = false;
            tw_postpone_after(&timers, &session.silence, read_clock(),
                              250 * MS);
        }
        tw_advance_clock(&timers, read_clock());
        if (ready == WAIT_OBJECT_0 + 2)
            watched = 2;
    }
    tw_destroy(&timers);
    CloseHandle(reader), CloseHandle(input), CloseHandle(wake);
    return 0;
}
