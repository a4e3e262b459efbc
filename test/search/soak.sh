#!/bin/sh
# soak.sh - runs random.c for long. Prints TAP; run from the top of the
# repository. A failure prints the command that repeats the round.
#
#     test/search/soak.sh OPERATIONS SEED COMPILER [FLAG...]
#     test/search/soak.sh 1000000000 7 gcc -O2
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
operations=$1 seed=$2
shift 2
# If random.c aborts, the program prints the command that repeats the round.
export ASAN_OPTIONS=abort_on_error=1 UBSAN_OPTIONS=abort_on_error=1

# glibc keeps freed memory for the next round, which halves the time.
export MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_MMAP_THRESHOLD_=1000000000
export MALLOC_TOP_PAD_=50000000

# One build for each way to compile: several may run at a time.
build=.build/soak/$(echo "$*" | tr -c 'A-Za-z0-9\n' _).$seed
mkdir -p "$build"
expect "random.c compiles with $*" \
    "$@" -std=c99 -g -o "$build/random" test/search/random.c
"$build/random" --seed "$seed" --operations "$operations" >"$build/log" 2>&1
sed '/^Shadow bytes/,/Right alloca/d
    s/^\(1\.\.\|ok\|not ok\)/# &/' "$build/log" | tail -n 40
judged=$(sed -n 's/^# \([0-9]*\) operations in .*/\1/p' "$build/log")
expect "${judged:-0} operations from seed $seed, at least $operations" \
    test "${judged:-0}" -ge "$operations"
tap_end
