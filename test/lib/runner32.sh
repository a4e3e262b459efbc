#!/bin/sh
# runner32.sh - prints the command that runs a program compiled with -m32:
# nothing, or qemu-i386 where the kernel runs programs of 64 bits alone.
#
# SPDX-License-Identifier: MIT
set -u
build=.build/runner32
mkdir -p "$build"
! gcc -m32 -o "$build/empty" test/compile/empty.c >/dev/null 2>&1 ||
    "$build/empty" 2>/dev/null || echo qemu-i386
