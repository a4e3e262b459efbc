#!/bin/sh
# threads.sh - the mailbox under real threads. Prints TAP; run from the top of
# the repository.
#
#     test/threads/threads.sh tsan [SEED]   stress.c and readers.c under
#                                           ThreadSanitizer
#     test/threads/threads.sh asan [SEED]   under AddressSanitizer, UBSan
#     test/threads/threads.sh litmus        one memory order weakened: stress.c
#                                           must report a race
#
# A wheel belongs to one thread; other threads reach the wheel through the
# mailbox (TIMINGWHEEL_THREADS). test/contract/mailbox.c plays interleavings
# without threads. Not shown: races that no run meets, processors with weaker
# memory than x86-64, and the time of a post among many threads.
#
# SPDX-License-Identifier: MIT
set -u

kind=${1:-tsan}
seed=${2:-1}
build=.build/threads-$kind
rm -rf "$build"
mkdir -p "$build"
. test/lib/tap.sh
export TSAN_OPTIONS='halt_on_error=1 exitcode=66'

# build_program NAME COMPILER SANITIZER HEADER
build_program() {
    "$2" -std=c11 -O1 -g -pthread -fno-omit-frame-pointer -fsanitize="$3" \
        -fno-sanitize-recover=all -DHEADER="\"$PWD/$4\"" -o "$build/$1" \
        "test/threads/$1.c"
}

# readers HEADER
readers() {
    build_program readers gcc thread "$1" && "$build/readers"
}

stress() { # SANITIZER POSTS
    for compiler in gcc clang; do
        if ! have "$compiler"; then
            skip "stress, $compiler" "$compiler is missing"
            continue
        fi
        expect "stress, $compiler, $1, compiles" \
            build_program stress "$compiler" "$1" timingwheel.h
        expect "stress, $compiler, $1, 4 producers of $2 posts" \
            "$build/stress" --posts "$2" --seed "$seed"
        sed -n 's/^#/#/p' "$build/said"
    done
}

# changed FUNCTION SED...: writes a header with a function changed by sed.
changed() {
    sed "/^[a-zA-Z].* \**$1(.*[^;]\$/,/^}/{$2;}" timingwheel.h \
        >"$build/timingwheel.h"
    ! cmp -s timingwheel.h "$build/timingwheel.h" ||
        { echo "nothing to change in $1: $2" && false; }
}

races() {
    changed "$1" "$2" &&
        build_program stress gcc thread "$build/timingwheel.h" || return
    "$build/stress" --posts 200000 >"$build/ran" 2>&1
    [ $? = 66 ] && grep -q 'WARNING: ThreadSanitizer: data race' "$build/ran"
}

# The functions and the orders that are weakened.
litmus() {
    while read -r function order weaker; do
        expect "$function, $order as $weaker: a race is reported" \
            races "$function" "s/TWI_$order\\b/TWI_$weaker/"
    done <<END
twi_post ACQUIRE_RELEASE ACQUIRE
twi_post ACQUIRE_RELEASE RELEASE
twi_post RELEASE RELAXED
twi_apply ACQUIRE_RELEASE ACQUIRE
twi_apply ACQUIRE_RELEASE RELEASE
tw_collect ACQUIRE RELAXED
END
}

case $kind in
tsan)
    stress thread 300000
    if have gcc; then
        expect 'readers, gcc' readers timingwheel.h
    else
        skip readers 'gcc is missing'
    fi
    ;;
asan) stress address,undefined 600000 ;;
litmus)
    if have gcc; then litmus; else skip litmus 'gcc is missing'; fi
    ;;
*)
    echo "threads.sh: there is no '$kind'" >&2
    exit 2
    ;;
esac
tap_end
