#!/bin/sh
# recipes.sh - builds and runs the recipes for event loops, test/recipes/*.c:
# plainly, under sanitizers, and with clocks that stand, step back or jump.
# Prints TAP; run from the top of the repository. A recipe without its library
# is skipped. Each judges itself; what it says is shown. (The demo, epoll.c, is
# no recipe.)
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/recipes
rm -rf "$build"
mkdir -p "$build"
: >"$build/runs"
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
sanitizers='-O1 -g -fno-sanitize-recover=all -fsanitize=address,undefined'
odd_clocks='stands steps-back jumps'

# What a recipe takes for its clock, changed on the way; a function of the time
# since the first reading, so that it stays the same all through a turn:
#
#   stands      for 10 ms of every 70, and catches up
#   steps-back  by 25 ms every 100 ms, further than to the last turn
#   jumps       by an hour every 100 ms
#
# Where the recipe hands a point in time of its clock to the system, that is
# brought back to what the system's clock will read then.
cat >"$build/odd_clock.c" <<'END'
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS INT64_C(1000000)

static int64_t offset;

static int64_t odd(int64_t real)
{
    static int64_t first;
    const char *clock = getenv("ODD_CLOCK");
    first = first == 0 ? real : first;
    int64_t passed = real - first;
    if (strcmp(clock, "stands") == 0)
        offset = passed % (70 * MS) < 10 * MS ? -(passed % (70 * MS)) : 0;
    else if (strcmp(clock, "steps-back") == 0)
        offset = -25 * MS * (passed / (100 * MS));
    else if (strcmp(clock, "jumps") == 0)
        offset = 3600000 * MS * (passed / (100 * MS));
    else
        abort();
    return real + offset;
}

#if defined(WRAP_clock_gettime)
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    int result = __real_clock_gettime(id, t);
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
    return odd((int64_t)__real_uv_now(loop) * MS) / MS;
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
    *now = odd((int64_t)*now * 1000) / 1000;
    return result;
}
int __real_sd_event_source_set_time(void *source, uint64_t at);
int __wrap_sd_event_source_set_time(void *source, uint64_t at)
{
    int64_t real = (int64_t)at - offset / 1000;
    return __real_sd_event_source_set_time(
        source, at == UINT64_MAX ? at : real > 0 ? (uint64_t)real : 1);
}
#endif
END

# The board of superloop.c: its vectors, a tick every millisecond, a device that
# interrupts 20 times, every 20 ticks, and the same odd clocks.
cat >"$build/board.c" <<'END'
#include <stdint.h>

extern void _start(void);
extern void on_tick(void);
extern void on_device(void);
extern volatile uint32_t ticks;

static void tick(void)
{
    static unsigned count;
    count++;
#if defined(STANDS)
    if (count % 70 >= 10)
        on_tick();
    if (count % 70 == 10)
        ticks += 10;
#else
    on_tick();
#endif
#if defined(STEPS_BACK)
    if (count % 100 == 0)
        ticks -= 25;
#elif defined(JUMPS)
    if (count % 100 == 0)
        ticks += 3600000;
#endif
    if (count % 20 == 0 && count <= 20 * 20)
        on_device();
}

__attribute__((section(".vectors"), used)) static void (*const vectors[])(void)
    = {[0] = (void (*)(void))0x20400000, [1] = _start, [15] = tick};
END

# ----------------------------------------------------------- to judge runs ---

# run NAME HOW COMMAND...: in the background, while the next one is compiled:
# most of the time it sleeps.
run() {
    run_file=$build/$1.$2
    echo "$1 $2" >>"$build/runs"
    shift 2
    {
        timeout 20 "$@" >"$run_file.said" 2>&1 </dev/null
        echo $? >"$run_file.end"
    } &
}

# judge NAME HOW: how it ended. An odd clock may wake the loop for nothing,
# which is status 2.
judge() {
    judged=$build/$1.$2
    status=$(cat "$judged.end")
    case $2-$status in
    *-0 | stands-2 | steps-back-2 | jumps-2)
        sed 's/^/# /' "$judged.said"
        pass "$1, $2: none early, none lost, clean exit"
        ;;
    *)
        echo "# exit status $status"
        fail "$1, $2: none early, none lost, clean exit" "$judged.said"
        ;;
    esac
}

judge_all() {
    wait
    while read -r name how; do
        judge "$name" "$how"
    done <"$build/runs"
}

# ------------------------------------------------------------- the recipes ---

at_most_100_lines() {
    awk 'FNR == 101 { print FILENAME }' "$@"
}

no_warning() {
    # shellcheck disable=SC2086
    "$@" -std=c99 $warnings -Wno-unused-command-line-argument -O2 \
        -fsyntax-only
}

# recipe NAME PACKAGE FLAGS WRAPPED...: FLAGS find and link its library; WRAPPED
# are the functions through which it has to do with the clock.
recipe() {
    name=$1 package=$2 flags=$3
    shift 3
    source=test/recipes/$name.c
    # shellcheck disable=SC2086
    if ! grep '^#include <' "$source" | gcc -fsyntax-only $flags -xc - \
        >/dev/null 2>&1; then
        skip "$name" "$package is missing"
        return
    fi
    for compiler in gcc clang; do
        # shellcheck disable=SC2086
        ! have $compiler || expect "$name, $compiler, no warning" \
            no_warning $compiler $source $flags
    done
    # shellcheck disable=SC2086
    {
        expect "$name compiles" gcc -std=c99 -O1 -g -c -o "$build/$name.o" \
            "$source" $flags
        expect "$name links" gcc -o "$build/$name" "$build/$name.o" $flags
        expect "$name compiles with sanitizers" gcc -std=c99 $sanitizers \
            -o "$build/$name-sanitized" "$source" $flags
        run "$name" plain "$build/$name"
        run "$name" sanitized "$build/$name-sanitized"
        if [ $# != 0 ]; then
            wrapped=
            for function; do
                wrapped="$wrapped -DWRAP_$function -Wl,--wrap=$function"
            done
            expect "$name links with an odd clock" gcc $wrapped \
                -o "$build/$name-odd" "$build/$name.o" "$build/odd_clock.c" \
                $flags
            for odd in $odd_clocks; do
                run "$name" "$odd" env ODD_CLOCK="$odd" "$build/$name-odd"
            done
        fi
    }
}

# superloop HOW FLAG...: builds and runs it on the board.
superloop() {
    how=$1
    shift
    # shellcheck disable=SC2086
    expect "superloop compiles, $how" arm-none-eabi-gcc -mcpu=cortex-m3 \
        -mthumb -std=c99 -O2 $warnings "$@" --specs=rdimon.specs \
        -T test/targets/cortex-m3.ld -o "$build/superloop-$how" \
        "$build/board.c" test/recipes/superloop.c
    run superloop "$how" qemu-system-arm -M mps2-an385 -nographic \
        -monitor none -serial none \
        -semihosting-config enable=on,target=native \
        -kernel "$build/superloop-$how"
}

# suspend: also with a machine that sleeps, and with the odd clocks of its own.
suspended() {
    recipe suspend '' ''
    wrapped=
    for function in clock_gettime timerfd_create timerfd_settime epoll_wait \
        read; do
        wrapped="$wrapped -Wl,--wrap=$function"
    done
    # shellcheck disable=SC2086
    expect "suspend links with a clock that sleeps" gcc -std=c99 $warnings -O1 \
        $wrapped -o "$build/suspend-odd" "$build/suspend.o" \
        test/recipes/stand_in/sleeping_clock.c
    for odd in sleeps $odd_clocks; do
        run "$name" "$odd" env ODD_CLOCK="$odd" "$build/suspend-odd"
    done
}

# allocators FILE: prints the functions of malloc that a program contains.
allocators() {
    symbols=$(arm-none-eabi-nm "$1") || return
    echo "$symbols" |
        awk '$NF ~ /^_*(malloc|calloc|realloc|free|sbrk)(_r)?$/ { print $NF }'
}

# without_malloc HOW SIZE FLAG...: builds static.c with wheels of that size,
# prints how much memory the program takes, and runs it on the board.
without_malloc() {
    how=$1 size=$2
    shift 2
    # shellcheck disable=SC2086
    expect "static compiles, $how" arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb \
        -std=c99 -Os $warnings "$@" -DSIZE="$size" -nostartfiles \
        -T test/targets/cortex-m3.ld -o "$build/static-$how" "$build/board.c" \
        test/recipes/stand_in/bare_start.c test/recipes/static.c
    expect_nothing "static, $how: no malloc is linked in" \
        allocators "$build/static-$how"
    arm-none-eabi-size "$build/static-$how" |
        awk -v how="$how" 'NR == 2 {
            printf "# static, %s: %d bytes of code, %d bytes of RAM\n", how,
                $1, $2 + $3 }'
    run static "$how" qemu-system-arm -M mps2-an385 -nographic \
        -monitor none -serial none \
        -semihosting-config enable=on,target=native \
        -kernel "$build/static-$how"
}

# shellcheck disable=SC2046
expect_nothing "no recipe has more than 100 lines" at_most_100_lines \
    $(find test/recipes -maxdepth 1 -name '*.c' ! -name epoll.c)
glib=$(pkg-config --cflags --libs glib-2.0 2>/dev/null | sed 's/-I/-isystem /g')
recipe poll '' '' clock_gettime
recipe epoll_timerfd '' '' clock_gettime timerfd_settime
recipe io_uring liburing-dev -luring clock_gettime
recipe libuv libuv1-dev -luv uv_now
recipe libev libev-dev -lev clock_gettime
recipe libevent libevent-dev -levent clock_gettime
recipe glib libglib2.0-dev "$glib" g_source_get_time
recipe sd_event libsystemd-dev -lsystemd sd_event_now sd_event_source_set_time
recipe simulation '' -lm
suspended
recipe fixed_step '' '' clock_gettime
recipe lateness '' -rdynamic clock_gettime
if have arm-none-eabi-gcc && have qemu-system-arm; then
    superloop plain
    superloop sanitized -fsanitize=undefined -fsanitize-undefined-trap-on-error
    superloop stands -DSTANDS
    superloop steps-back -DSTEPS_BACK
    superloop jumps -DJUMPS
    for size in 8 16 32 64; do
        without_malloc "wheel-size-$size" "$size"
    done
    # shellcheck disable=SC2086
    ! have clang || expect "static, clang, no warning" clang -std=c99 \
        --target=thumbv7m-none-eabi -ffreestanding $warnings -fsyntax-only \
        test/recipes/static.c
    without_malloc sanitized 16 -fsanitize=undefined \
        -fsanitize-undefined-trap-on-error
    without_malloc stands 16 -DSTANDS
    without_malloc steps-back 16 -DSTEPS_BACK
    without_malloc jumps 16 -DJUMPS
else
    skip 'superloop and static' 'arm-none-eabi-gcc or qemu-system-arm is missing'
fi
judge_all
tap_end
