#!/bin/sh
# targets.sh - the contract on other machines, emulated: the scripts of
# test/contract, and random operations against the oracle. Prints TAP. Run from
# the top of the repository. A target without its tools is skipped with a
# warning. The programs stay in .build/targets.
#
#     test/targets/targets.sh [WORD...]      targets whose names have the word
#
# The AVR has 8 KB of memory, and a program of its own, avr.c. cortex-m3.ld and
# vectors.c start a program on the Cortex-M3.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/targets
rm -rf "$build"
mkdir -p "$build"
operations=300000
seed=$(test/lib/seed.sh) || exit 2
chosen=$(echo "$*" | tr ' ' '|')

test/contract/texts.sh >"$build/texts.h"

# judge TARGET WHAT: what the program printed to $build/said is TAP without a
# failure. simavr adds colours.
judge() {
    sed -i 's/\r//g; s/\x1b\[[0-9]*m//g' "$build/said"
    passed=$(grep -ac '^ok ' "$build/said")
    if [ "$passed" != 0 ] && ! grep -aq 'not ok ' "$build/said" &&
        grep -aq '1\.\.[0-9]' "$build/said"; then
        pass "$1: $2"
        echo "# $passed cases"
    else
        grep -a -B 9 'not ok ' "$build/said" >"$build/why" ||
            tail -n 20 "$build/said" >"$build/why"
        fail "$1: $2" "$build/why"
    fi
}

# compile TARGET WHAT COMPILER FLAG...
compile() {
    target=$1 what=$2
    shift 2
    "$@" -std=c99 -I. "-I$build" '-DSCRIPT_TEXT="texts.h"' \
        >"$build/said" 2>&1 && return
    fail "$target: $what compiles" "$build/said"
    return 1
}

# missing TARGET TOOL...: skips the target if it was not chosen, or if one of
# the tools is missing.
missing() {
    echo "$1" | grep -qE "${chosen:-.}" || return 0
    target=$1
    shift
    for tool; do
        if [ -n "$tool" ] && ! have "$tool"; then
            skip "$target" "$tool is missing"
            return 0
        fi
    done
    return 1
}

# target NAME RUNNER COMPILER FLAG...: RUNNER is a command or nothing.
target() {
    name=$1 runner=$2
    shift 2
    ! missing "$name" "$1" "${runner%% *}" || return
    if ! "$@" -o "$build/empty" test/compile/empty.c >/dev/null 2>&1; then
        skip "$name" "$* links no program"
        return
    fi
    for program in contract/scripts search/random; do
        what=${program#*/} options=
        [ "$what" = scripts ] || options="--seed $seed --operations $operations"
        compile "$name" "$what" "$@" -O2 -o "$build/$what-$name" \
            "test/$program.c" || continue
        # shellcheck disable=SC2086
        timeout 300 $runner "$build/$what-$name" $options >"$build/said" 2>&1
        judge "$name" "$what"
    done
}

# Debian's newlib has PRIu64 only if it thinks that the compiler has int64_t.
cortex_m3() {
    ! missing cortex-m3 arm-none-eabi-gcc qemu-system-arm || return
    for program in contract/scripts search/random; do
        compile cortex-m3 $program arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb \
            -O2 -D__int64_t_defined=1 --specs=rdimon.specs \
            -T test/targets/cortex-m3.ld -o "$build/m3.elf" \
            test/targets/vectors.c "test/$program.c" ||
            continue
        arguments=arg=random,arg=--seed,arg=$seed,arg=--operations
        arguments=$arguments,arg=$((operations / 3))
        [ $program = search/random ] || arguments=arg=scripts
        timeout 300 qemu-system-arm -M mps2-an385 -nographic -monitor none \
            -serial none -kernel "$build/m3.elf" -semihosting-config \
            "enable=on,target=native,$arguments" >"$build/said" 2>&1 </dev/null
        judge cortex-m3 ${program#*/}
    done
}

avr() {
    ! missing avr avr-gcc simavr || return
    compile avr timers avr-gcc -mmcu=atmega2560 -Os -o "$build/avr.elf" \
        test/targets/avr.c || return
    timeout 300 simavr -m atmega2560 -f 16000000 "$build/avr.elf" \
        >"$build/said" 2>&1 </dev/null
    judge avr timers
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
cortex_m3
avr
tap_end
