#!/bin/sh
# runner32.sh - prints the command that runs a program compiled with -m32:
# nothing, or qemu-i386 if the kernel runs only 64-bit programs. Fails if such a
# program cannot be compiled or run, for example because qemu-i386 is missing.
#
# SPDX-License-Identifier: MIT
set -u
build=.build/runner32.$$
mkdir -p "$build"
trap 'rm -rf "$build"' EXIT
gcc -m32 -o "$build/empty" test/compile/empty.c >/dev/null 2>&1 || exit
"$build/empty" 2>/dev/null || {
    echo qemu-i386
    qemu-i386 "$build/empty" 2>/dev/null
}
