#!/bin/sh
# recipes.sh - builds and runs the recipes for event loops, test/recipes/*.c:
# plainly, under sanitizers, and with clocks that stand, step back or jump.
# Prints TAP; run from the top of the repository:
#
#     test/recipes/recipes.sh [NAME...]
#
# A recipe is a complete program for one event loop, one small machine or one
# task, and judges itself (judge.h). A new recipe is a file here, a line in the
# table below, and an entry in the README. A recipe without its library is
# skipped. epoll.c is the larger server of `make demo`. stand_in replaces parts
# of the system: the board of superloop.c, kqueue. windows.c runs under wine,
# browser.c under node, superloop.c on an emulated Cortex-M3.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/recipes
stand_in=test/recipes/stand_in
rm -rf "$build"
mkdir -p "$build"
: >"$build/runs"
wanted=" $* "
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
glib=$(pkg-config --cflags --libs glib-2.0 2>/dev/null | sed 's/-I/-isystem /g')

# Name; package; flags; odd clocks, all if empty.
table() {
    cat <<END
poll|||
epoll_timerfd|||
io_uring|liburing-dev|-luring|
kqueue||-D_GNU_SOURCE -I$stand_in|
libuv|libuv1-dev|-luv|
libev|libev-dev|-lev|
libevent|libevent-dev|-levent|
glib|libglib2.0-dev|$glib|
sd_event|libsystemd-dev|-lsystemd|
asio|libasio-dev|-pthread|
suspend|||jumps
wall_clock|||none
fixed_step|||
lateness||-rdynamic|
simulation||-lm|none
static|||none
threads||-pthread|none
browser|emscripten||
windows|gcc-mingw-w64 or wine64||
END
}

# Debian's PATH lacks wine64. A new wine prefix takes seconds and 700 MB: it is
# made in the background and deleted at the end. Debian's emcc needs NODE_PATH.
PATH=$PATH:/usr/lib/wine
WINEDEBUG=-all WINEPREFIX=$PWD/$build/wine NODE_PATH=/usr/share/nodejs
export WINEDEBUG WINEPREFIX NODE_PATH

is_wanted() {
    case $wanted in '  ' | *" $1 "*) ;; *) false ;; esac
}

# tools_of NAME: sets the tools of a recipe. `compile` is the compiler, and
# `also` a second compiler that must not warn. `link` are options for the
# linker. `runner` runs a program.
tools_of() {
    source=test/recipes/$1.c program=$build/$1
    compile='gcc -std=c99' also='clang -std=c99'
    sanitizers='-fno-sanitize-recover=all -fsanitize=address,undefined'
    link='' suffix='' runner=''
    case $1 in
    threads) compile='gcc -std=c11' also='clang -std=c11' ;;
    asio)
        source=test/recipes/$1.cpp
        compile='g++ -std=c++17' also='clang++ -std=c++17'
        ;;
    windows)
        compile='x86_64-w64-mingw32-gcc -std=c99'
        also='clang --target=x86_64-w64-mingw32 -std=c99'
        sanitizers='-fsanitize=undefined -fsanitize-undefined-trap-on-error'
        link=-static suffix=.exe runner=wine64
        ;;
    browser)
        compile='emcc -std=c99' also=''
        link="-sENVIRONMENT=node -sALLOW_MEMORY_GROWTH=1 -sEXIT_RUNTIME=1
            --pre-js $stand_in/environment.js"
        suffix=.js runner='node --no-experimental-fetch'
        ;;
    esac
}

# shellcheck disable=SC2086
{
# Succeeds if the compiler finds the headers of the recipe, and programs run.
is_possible() {
    grep '^#include <' "$source" >"$program.includes.${source##*.}"
    have ${compile%% *} && { [ -z "$runner" ] || have ${runner%% *}; } &&
        $compile $flags -D_GNU_SOURCE -fsyntax-only \
            "$program.includes.${source##*.}" >/dev/null 2>&1
}

# Builds the recipe without warnings, and sanitized.
build_recipe() {
    $compile $warnings -O1 -g -o "$program$suffix" $source $link $flags &&
        $compile -O1 -g $sanitizers -o "$program-sanitized$suffix" \
            $source $link $flags || return
    ! have "${also%% *}" ||
        $also $warnings -Wno-unused-command-line-argument -O2 -fsyntax-only \
            $source $flags
}

# run NAME HOW COMMAND...: in the background, since most runs sleep.
run() {
    run_file=$build/$1.$2
    echo "$1 $2" >>"$build/runs"
    shift 2
    echo "timeout 20 $*" >"$run_file.command"
    { sh "$run_file.command" >"$run_file.said" 2>&1 </dev/null || :; } &
}

recipe() {
    tools_of $name
    if ! is_possible; then
        skip $name "$package is missing"
        return
    fi
    expect "$name: builds without a warning" build_recipe
    [ -e "$program-sanitized$suffix" ] || return 0
    run $name plain $runner $program$suffix
    run $name sanitized $runner $program-sanitized$suffix
    for odd in ${odd_clocks:-stands steps-back jumps}; do
        [ $odd = none ] ||
            run $name $odd env ODD_CLOCK=$odd $runner $program$suffix
    done
}

# superloop HOW FLAG...: builds and runs superloop.c on the board.
superloop() {
    how=$1
    shift
    expect "superloop: builds, $how" arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb \
        -std=c99 -O2 $warnings "$@" --specs=rdimon.specs \
        -T test/targets/cortex-m3.ld -o $build/superloop-$how \
        $stand_in/board.c test/recipes/superloop.c
    [ -e $build/superloop-$how ] || return 0
    run superloop $how qemu-system-arm -M mps2-an385 -nographic \
        -monitor none -serial none -kernel $build/superloop-$how \
        -semihosting-config enable=on,target=native
}
}

# Prints the functions of malloc that static.c calls on a Cortex-M3.
calls_of_malloc() {
    # shellcheck disable=SC2086
    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -std=c99 -Os $warnings -c \
        -o "$build/static.arm.o" test/recipes/static.c &&
        arm-none-eabi-nm "$build/static.arm.o" |
        grep -w 'malloc\|calloc\|realloc\|free'
    arm-none-eabi-size "$build/static.arm.o" >/dev/null
}

# Prints the verdict of a recipe as a line of TAP. Timers are late on a busy
# machine, so a run that fails gets two more tries, alone.
judge() {
    said=$build/$1.$2.said
    for try in 2 3 4; do
        verdict=$(sed -n 's/^ok 1 - //p' "$said" | tr -d '\r')
        if [ -n "$verdict" ] || [ $try = 4 ]; then break; fi
        sh "$build/$1.$2.command" >"$said" 2>&1 </dev/null
    done
    if [ -n "$verdict" ]; then
        grep '^#' "$said"
        pass "$verdict ($2)"
    else
        fail "$1 ($2)" "$said"
    fi
}

if is_wanted windows && have wine64; then
    wine64 wineboot -i >"$build/wineboot" 2>&1 &
    wineboot=$!
fi
table >"$build/table"
while IFS='|' read -r name package flags odd_clocks; do
    [ "$name" != windows ] || [ -z "${wineboot:-}" ] || wait "$wineboot"
    ! is_wanted "$name" || recipe
done <"$build/table"
if ! is_wanted superloop; then
    :
elif ! have arm-none-eabi-gcc || ! have qemu-system-arm; then
    skip superloop 'arm-none-eabi-gcc or qemu-system-arm is missing'
else
    superloop plain
    superloop sanitized -fsanitize=undefined -fsanitize-undefined-trap-on-error
    for odd in stands steps-back jumps; do
        superloop $odd "-DODD_CLOCK=\"$odd\""
    done
    expect_nothing 'static: calls no malloc' calls_of_malloc
fi
if is_wanted epoll; then
    # shellcheck disable=SC2086
    expect 'the demo builds' gcc -std=c99 $warnings -O1 -g -fsanitize=address \
        -fsanitize=undefined -fno-sanitize-recover=all -o "$build/demo" \
        test/recipes/epoll.c
    expect 'the demo: no timer early, none lost' timeout 60 "$build/demo" \
        --connections 200 --seconds 2
fi
wait
while read -r name how; do
    judge "$name" "$how"
done <"$build/runs"
if have wineserver64; then
    wineserver64 -k
    rm -rf "$WINEPREFIX"
fi
tap_end
