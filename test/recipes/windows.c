/* windows.c - timers in a loop around WaitForMultipleObjects.
 * Says when you have not typed for 250 ms. A high-resolution waitable timer
 * carries the next deadline: other sleeps may end 16 ms late. For more than 63
 * handles see CreateIoCompletionPort. A callback must not run the loop. The
 * tests run this file under wine.
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
static timingwheel timers;
static HANDLE wake, input; /* a timer, and an event */
static bool is_stopped;
static void on_input(void);
static uint64_t read_clock(void)
{
    LARGE_INTEGER count, per_second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_second);
    uint64_t c = (uint64_t)count.QuadPart, f = (uint64_t)per_second.QuadPart;
    return c / f * 1000 * MS + c % f * 1000 * MS / f;
}

static void init(void)
{
    wake = CreateWaitableTimerExW(NULL, NULL, PRECISE, TIMER_ALL_ACCESS);
    input = CreateEventW(NULL, FALSE, FALSE, NULL);
    tw_init(&timers, &(tw_config){.tick = MS, .start = read_clock()});
}

static void arm(void)
{
    LARGE_INTEGER delay; /* negative: from now */
    delay.QuadPart = -(LONGLONG)tw_wait(&timers, read_clock(), 60000 * MS);
    SetWaitableTimer(wake, &delay, 0, NULL, NULL, FALSE);
}

/* Ends `run` after this turn. */
static void stop(void)
{
    is_stopped = true;
}

static void run(void)
{
    HANDLE all[] = {input, wake}; /* of two, the first is reported */
    for (is_stopped = false; !is_stopped;) {
        arm();
        if (WaitForMultipleObjects(2, all, FALSE, INFINITE) == WAIT_OBJECT_0)
            on_input();
        tw_advance_clock(&timers, read_clock());
    }
}

/* The example. Input that has come beats the timeout: after a stall the reader
 * may not have run, and gets 10 ms for it. A socket can be read here. */
static tw_timer silence;
static bool is_asked;                  /* the reader has been given time */
static volatile LONG reads, is_closed; /* written by the reader */

static void on_silence(timingwheel *tw, tw_timer *timer)
{
    static unsigned count;
    is_asked = !is_asked;
    if (is_asked)
        tw_start_after(tw, timer, read_clock(), 10 * MS);
    else if (printf("silence %u\n", ++count), fflush(stdout), is_closed)
        stop();
}

static void on_input(void)
{
    if (InterlockedExchange(&reads, 0) > 0) {
        is_asked = false;
        tw_postpone_after(&timers, &silence, read_clock(), 250 * MS);
    }
    if (is_closed && tw_count(&timers) == 0)
        stop();
}

/* A thread, since no wait takes a pipe. */
static DWORD WINAPI read_input(void *file)
{
    char bytes[4096];
    DWORD count;
    while (ReadFile(file, bytes, sizeof(bytes), &count, NULL) && count > 0)
        InterlockedIncrement(&reads), SetEvent(input);
    InterlockedIncrement(&is_closed);
    return !SetEvent(input);
}

static void watch_input(void)
{
    HANDLE file = GetStdHandle(STD_INPUT_HANDLE);
    tw_timer_init(&silence, on_silence);
    CloseHandle(CreateThread(NULL, 0, read_input, file, 0, NULL));
}

int main(void)
{
    init();
    watch_input();
    run();
    tw_destroy(&timers);
}
