#!/bin/sh
# targets.sh - the contract on other machines, emulated: the scripts of
# test/contract, and random operations against the oracle. Prints TAP. Run from
# the top of the repository. A target without its tools is skipped with a
# warning. The programs stay in .build/targets.
#
#     test/targets/targets.sh [WORD...]      targets whose names have the word
#
# The AVR has 8 KB of memory, and a program of its own, avr.c.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/targets
rm -rf "$build"
mkdir -p "$build"
seed=$(test/lib/seed.sh) || exit 2
chosen=$(echo "$*" | tr ' ' '|')
# shellcheck disable=SC3045
ulimit -t 300 # seconds of a processor, for each program

test/contract/texts.sh >"$build/texts.h"

is_chosen() {
    echo "$1" | grep -qE "${chosen:-.}"
}

# runs TARGET PROGRAM COMPILER FLAG...: compiles a program, and runs it by
# $runner with $options. The program must print TAP without a failure. simavr
# adds colours.
runs() {
    title="$1: ${2#*/}" binary=$build/${2#*/}-$1 program=test/$2.c
    shift 2
    if ! "$@" -std=c99 -I. "-I$build" '-DSCRIPT_TEXT="texts.h"' \
        -o "$binary" "$program" >"$build/said" 2>&1; then
        fail "$title compiles" "$build/said"
        return
    fi
    # shellcheck disable=SC2086
    $runner "$binary" $options >"$build/said" 2>&1 </dev/null
    sed -i 's/\r//g; s/\x1b\[[0-9]*m//g' "$build/said"
    passed=$(grep -ac '^ok ' "$build/said")
    if [ "$passed" != 0 ] && ! grep -aq 'not ok ' "$build/said" &&
        grep -aq '1\.\.[0-9]' "$build/said"; then
        pass "$title"
        echo "# $passed cases"
    else
        grep -a -B 9 'not ok ' "$build/said" >"$build/why" ||
            tail -n 20 "$build/said" >"$build/why"
        fail "$title" "$build/why"
    fi
}

# target NAME RUNNER COMPILER FLAG...: RUNNER is a command or nothing.
target() {
    name=$1 runner=$2
    shift 2
    is_chosen "$name" || return
    if ! "$@" -o "$build/empty-$name" test/compile/empty.c >/dev/null 2>&1 ||
        ! $runner "$build/empty-$name" >/dev/null 2>&1; then
        skip "$name" "$1 or ${runner:-its program} does not work here"
        return
    fi
    options=
    runs "$name" contract/scripts "$@" -O2
    options="--seed $seed --operations 300000"
    runs "$name" search/random "$@" -O2
}

# The Cortex-M3 begins with two addresses at 0: the stack, and the C library.
# Debian's newlib has PRIu64 only if it thinks that the compiler has int64_t.
cortex_m3_gcc() {
    printf '.section .vectors, "a"\n.word 0x400000, _start\n' |
        arm-none-eabi-as -o "$build/vectors.o" &&
        arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -D__int64_t_defined=1 \
            --specs=rdimon.specs -Wl,--section-start=.vectors=0 \
            "$build/vectors.o" "$@"
}

# cortex_m3 PROGRAM ARGUMENT...: runs the program on a board.
cortex_m3() {
    qemu-system-arm -M mps2-an385 -nographic -monitor none -serial none \
        -kernel "$1" -semihosting-config \
        "enable=on,target=native$(printf ',arg=%s' "$@")"
}

# Debian's PATH lacks wine64, and its emcc needs NODE_PATH. Without the option,
# node prints the whole program in front of the first line.
PATH=$PATH:/usr/lib/wine
WINEDEBUG=-all WINEPREFIX=$PWD/$build/wine NODE_PATH=/usr/share/nodejs
export WINEDEBUG WINEPREFIX NODE_PATH
target x86-64-glibc '' gcc
target x86-64-musl '' musl-gcc -static
target i686 "$(test/lib/runner32.sh)" gcc -m32 -I/usr/include/x86_64-linux-gnu
target aarch64 qemu-aarch64 aarch64-linux-gnu-gcc -static
target armhf qemu-arm arm-linux-gnueabihf-gcc -static
target riscv64 qemu-riscv64 riscv64-linux-gnu-gcc -static
target s390x qemu-s390x s390x-linux-gnu-gcc -static
target ppc qemu-ppc powerpc-linux-gnu-gcc -static
target windows.exe wine64 x86_64-w64-mingw32-gcc -static
! have wineserver64 || wineserver64 -k || :
target wasm32.js 'node --no-experimental-fetch' emcc -sENVIRONMENT=node \
    -sALLOW_MEMORY_GROWTH=1
target cortex-m3 cortex_m3 cortex_m3_gcc

if is_chosen avr && have avr-gcc && have simavr; then
    runner='simavr -m atmega2560 -f 16000000' options=
    runs avr targets/avr avr-gcc -mmcu=atmega2560 -Os
elif is_chosen avr; then
    skip avr 'avr-gcc or simavr is missing'
fi
tap_end
