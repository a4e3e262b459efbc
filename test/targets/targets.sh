#!/bin/sh
# targets.sh - runs trace.c on every machine there is a compiler and an emulator
# for, and compares what it prints with the native run. Prints TAP; run from the
# top of the repository. A target without its tools is skipped.
#
#     test/targets/targets.sh [OPERATIONS]     default 1000000
#
# The two without an operating system run TRACE_SMALL, which fits their memory,
# and fewer operations: 100,000 on the Cortex-M3, 3,000 on the AVR, whose
# simulation does some 1,000 a second.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
operations=${1:-1000000}
build=.build/targets
rm -rf "$build"
mkdir -p "$build"
flags='-std=c99 -O2 -Wall -Wextra'
m3_operations=100000
avr_operations=3000

# shellcheck disable=SC2086
gcc $flags -o "$build/native" test/targets/trace.c &&
    gcc $flags -DTRACE_SMALL -o "$build/native_small" test/targets/trace.c ||
    exit 1
expected=$(timeout 120 "$build/native" "$operations")
expected_m3=$(timeout 60 "$build/native_small" "$m3_operations")
expected_avr=$(timeout 60 "$build/native_small" "$avr_operations")
echo "# $operations operations: $expected"
echo "# small, $m3_operations operations: $expected_m3"
echo "# small, $avr_operations operations: $expected_avr"
detailed_32=

# judge NAME BITS EXPECTED FILE: the contract's hash is the native one; the
# detailed one that of the first target with pointers as wide.
judge() {
    name=$1 bits=$2 wanted=$3
    got=$(tr -d '\r' <"$4" | grep -ao 'promised [0-9a-f]* detailed [0-9a-f]*')
    if [ "${got% detailed*}" != "${wanted% detailed*}" ] || [ -z "$got" ]; then
        echo "# expected $wanted"
        fail "$name prints the native hash" "$4"
        return
    fi
    case $bits in
    64) same=${wanted#* detailed } ;;
    32) same=${detailed_32:=${got#* detailed }} ;;
    *) same=${got#* detailed } ;;
    esac
    if [ "${got#* detailed }" = "$same" ]; then
        pass "$name prints the native hash"
    else
        echo "# details: expected $same"
        fail "$name prints the native hash" "$4"
    fi
}

# target NAME BITS RUNNER COMPILER FLAG...: RUNNER is a command or nothing.
target() {
    name=$1 bits=$2 runner=$3
    shift 3
    if ! have "$1" || { [ -n "$runner" ] && ! have "${runner%% *}"; }; then
        skip "$name prints the native hash" "$1 or ${runner%% *} is missing"
        return
    fi
    if ! "$@" -o "$build/empty" test/compile/empty.c >/dev/null 2>&1; then
        skip "$name prints the native hash" "$* links no program"
        return
    fi
    binary=$build/$name
    # shellcheck disable=SC2086
    if ! "$@" $flags -o "$binary" test/targets/trace.c >"$build/said" 2>&1; then
        fail "$name prints the native hash" "$build/said"
        return
    fi
    # shellcheck disable=SC2086
    timeout 300 $runner "$binary" "$operations" >"$build/said" 2>&1
    judge "$name" "$bits" "$expected" "$build/said"
}

cortex_m3() {
    name=cortex-m3
    if ! have arm-none-eabi-gcc || ! have qemu-system-arm; then
        skip "$name prints the native hash" \
            'arm-none-eabi-gcc or qemu-system-arm is missing'
        return
    fi
    # shellcheck disable=SC2086
    if ! arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb $flags -DTRACE_SMALL \
        -DTRACE_OPERATIONS=$m3_operations --specs=rdimon.specs \
        -T test/targets/cortex-m3.ld -o "$build/m3.elf" test/targets/vectors.c \
        test/targets/trace.c >"$build/said" 2>&1; then
        fail "$name prints the native hash" "$build/said"
        return
    fi
    timeout 300 qemu-system-arm -M mps2-an385 -nographic -monitor none \
        -serial none -semihosting-config enable=on,target=native \
        -kernel "$build/m3.elf" >"$build/said" 2>&1 </dev/null
    judge "$name" small "$expected_m3" "$build/said"
}

avr() {
    name=avr
    if ! have avr-gcc || ! have simavr; then
        skip "$name prints the native hash" 'avr-gcc or simavr is missing'
        return
    fi
    if ! avr-gcc -mmcu=atmega2560 -std=c99 -Os -DTRACE_SMALL \
        -DTRACE_OPERATIONS=$avr_operations -o "$build/avr.elf" \
        test/targets/trace.c >"$build/said" 2>&1; then
        fail "$name prints the native hash" "$build/said"
        return
    fi
    timeout 300 simavr -m atmega2560 -f 16000000 "$build/avr.elf" \
        >"$build/said" 2>&1 </dev/null
    judge "$name" small "$expected_avr" "$build/said"
}

WINEDEBUG=-all
export WINEDEBUG
PATH=$PATH:/usr/lib/wine
target x86-64-glibc 64 '' gcc
target x86-64-musl 64 '' musl-gcc -static
target i686 32 "$(test/lib/runner32.sh)" \
    gcc -m32 -I/usr/include/x86_64-linux-gnu
target aarch64 64 qemu-aarch64 aarch64-linux-gnu-gcc -static
target armhf 32 qemu-arm arm-linux-gnueabihf-gcc -static
target riscv64 64 qemu-riscv64 riscv64-linux-gnu-gcc -static
target s390x 64 qemu-s390x s390x-linux-gnu-gcc -static
target ppc 32 qemu-ppc powerpc-linux-gnu-gcc -static
WINEPREFIX=$PWD/$build/wine
export WINEPREFIX
target windows.exe 64 wine64 x86_64-w64-mingw32-gcc -static
! have wineserver64 || wineserver64 -k || :
# Where Debian's emcc finds its parser; and without the option node prints the
# whole program in front of the first line.
NODE_PATH=/usr/share/nodejs
export NODE_PATH
target wasm32.js 32 'node --no-experimental-fetch' emcc -sENVIRONMENT=node \
    -sALLOW_MEMORY_GROWTH=1
cortex_m3
avr
tap_end
