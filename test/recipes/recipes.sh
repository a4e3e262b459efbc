#!/bin/sh
# recipes.sh - builds and runs the recipes for event loops, test/recipes/*.c:
# plainly, under sanitizers, and with clocks that stand, step back or jump.
# Prints TAP; run from the top of the repository. A recipe without its library
# is skipped. Each recipe judges itself; this script shows what the recipe says.
# (The demo, epoll.c, is no recipe.) test/recipes/stand_in replaces parts of the
# system: odd clocks, a board, kqueue.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/recipes
rm -rf "$build"
mkdir -p "$build"
: >"$build/runs"
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
address='-fno-sanitize-recover=all -fsanitize=address,undefined'
trap='-fsanitize=undefined -fsanitize-undefined-trap-on-error'
odd_clocks='stands steps-back jumps'
stand_in=test/recipes/stand_in

# Debian's PATH lacks wine64. A new wine prefix takes seconds and 700 MB: it is
# made in the background and deleted at the end. Debian's emcc needs NODE_PATH.
PATH=$PATH:/usr/lib/wine
WINEDEBUG=-all WINEPREFIX=$PWD/$build/wine NODE_PATH=/usr/share/nodejs
export WINEDEBUG WINEPREFIX NODE_PATH
if have wine64; then
    wine64 wineboot -i >"$build/wineboot" 2>&1 &
    wineboot=$!
fi

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

# tools_of NAME: sets the tools of a recipe. `compile` is the compiler, and
# `also` a second compiler that must not warn. `c` compiles the odd clock.
# `link` and `odd_link` are options for the linker. `runner` runs a program.
tools_of() {
    source=test/recipes/$1.c
    compile='gcc -std=c99' also='clang -std=c99' c=gcc sanitizers=$address
    link='' odd_link='' suffix='' runner=''
    case $1 in
    asio)
        source=test/recipes/$1.cpp
        compile='g++ -std=c++17' also='clang++ -std=c++17'
        odd_link=-static-libstdc++ # or the wrapper misses its clock_gettime
        ;;
    windows)
        c=x86_64-w64-mingw32-gcc
        compile="$c -std=c99" also='clang --target=x86_64-w64-mingw32 -std=c99'
        sanitizers=$trap link=-static suffix=.exe runner=wine64
        ;;
    browser)
        c=emcc compile='emcc -std=c99' also=''
        link='-sENVIRONMENT=node -sALLOW_MEMORY_GROWTH=1 -sEXIT_RUNTIME=1'
        odd_link="--pre-js $stand_in/environment.js"
        suffix=.js runner='node --no-experimental-fetch'
        ;;
    esac
}

# compiles COMMAND...: succeeds if the compiler finds the headers of the recipe,
# and if programs run here.
compiles() {
    includes=$build/includes.${source##*.}
    grep '^#include <' "$source" >"$includes"
    have "$1" && { [ -z "$runner" ] || have "${runner%% *}"; } &&
        "$@" -D_GNU_SOURCE -fsyntax-only "$includes" >/dev/null 2>&1
}

# no_warning COMMAND...
no_warning() {
    # shellcheck disable=SC2086
    "$@" $warnings -Wno-unused-command-line-argument -O2 -fsyntax-only
}

# recipe NAME PACKAGE FLAGS WRAPPED...: FLAGS find and link its library; WRAPPED
# are the functions through which the recipe reads the clock.
recipe() {
    name=$1 package=$2 flags=$3
    shift 3
    tools_of "$name"
    program=$build/$name
    # shellcheck disable=SC2086
    if ! compiles $compile $flags; then
        skip "$name" "$package is missing"
        return
    fi
    for compiler in "$compile" "$also"; do
        # shellcheck disable=SC2086
        ! have "${compiler%% *}" ||
            expect "$name, ${compiler%% *}, no warning" \
                no_warning $compiler $source $flags
    done
    # shellcheck disable=SC2086
    {
        expect "$name compiles" $compile -O1 -g -c -o "$program.o" \
            "$source" $flags
        expect "$name links" $compile -o "$program$suffix" "$program.o" \
            $link $flags
        expect "$name compiles with sanitizers" $compile -O1 -g $sanitizers \
            -o "$program-sanitized$suffix" "$source" $link $flags
        run "$name" plain $runner "$program$suffix"
        run "$name" sanitized $runner "$program-sanitized$suffix"
        [ $# = 0 ] || odd_recipe "$@"
    }
}

# odd_recipe WRAPPED...: links the recipe with an odd clock, and runs the recipe
# with each.
odd_recipe() {
    defines='' wraps=''
    for function; do
        defines="$defines -DWRAP_$function"
        wraps="$wraps -Wl,--wrap=$function"
    done
    # shellcheck disable=SC2086
    {
        expect "$name: the odd clock compiles" $c -std=c99 $warnings -O1 \
            $defines -c -o "$program-clock.o" "$stand_in/odd_clock.c"
        expect "$name links with an odd clock" $compile \
            -o "$program-odd$suffix" "$program.o" "$program-clock.o" \
            $wraps $link $odd_link $flags
        for odd in $odd_clocks; do
            run "$name" "$odd" env ODD_CLOCK="$odd" $runner \
                "$program-odd$suffix"
        done
    }
}

# kqueue_library: a kqueue for Linux, to link with -lkqueue.
kqueue_library() {
    # shellcheck disable=SC2086
    expect 'the stand-in for kqueue compiles' gcc -std=c99 $warnings -O1 -g \
        -I$stand_in -c -o "$build/kqueue_stand_in.o" $stand_in/kqueue.c
    ar rcs "$build/libkqueue.a" "$build/kqueue_stand_in.o"
}

# superloop HOW FLAG...: builds and runs it on the board.
superloop() {
    how=$1
    shift
    # shellcheck disable=SC2086
    expect "superloop compiles, $how" arm-none-eabi-gcc -mcpu=cortex-m3 \
        -mthumb -std=c99 -O2 $warnings "$@" --specs=rdimon.specs \
        -T test/targets/cortex-m3.ld -o "$build/superloop-$how" \
        "$stand_in/board.c" test/recipes/superloop.c
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
        "$stand_in/sleeping_clock.c"
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
        -T test/targets/cortex-m3.ld -o "$build/static-$how" \
        "$stand_in/board.c" "$stand_in/bare_start.c" test/recipes/static.c
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
    $(find test/recipes -maxdepth 1 -name '*.c*' ! -name epoll.c)
glib=$(pkg-config --cflags --libs glib-2.0 2>/dev/null | sed 's/-I/-isystem /g')
kqueue="-D_POSIX_C_SOURCE=200809L -I$stand_in -L$build -lkqueue"
kqueue_library
recipe poll '' '' clock_gettime
recipe epoll_timerfd '' '' clock_gettime timerfd_settime
recipe io_uring liburing-dev -luring clock_gettime
recipe libuv libuv1-dev -luv uv_now
recipe libev libev-dev -lev clock_gettime
recipe libevent libevent-dev -levent clock_gettime
recipe glib libglib2.0-dev "$glib" g_source_get_time
recipe sd_event libsystemd-dev -lsystemd sd_event_now sd_event_source_set_time
recipe simulation '' -lm
recipe kqueue '' "$kqueue" clock_gettime
recipe asio libasio-dev -pthread clock_gettime
[ -z "${wineboot:-}" ] || wait "$wineboot"
recipe windows 'gcc-mingw-w64 or wine64' '' __imp_QueryPerformanceCounter
recipe browser emscripten '' emscripten_get_now
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
if have wineserver64; then
    wineserver64 -k
    rm -rf "$WINEPREFIX"
fi
tap_end
