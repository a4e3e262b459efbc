#!/bin/sh
# threads.sh - the mailbox under real threads. Prints TAP; run from the top of
# the repository.
#
#     test/threads/threads.sh tsan [SEED]   stress.c under ThreadSanitizer
#     test/threads/threads.sh asan [SEED]   under AddressSanitizer, UBSan
#     test/threads/threads.sh litmus        one memory order weakened: stress.c
#                                           must report a race
#
# A wheel belongs to one thread; other threads reach the wheel through the
# mailbox (TIMINGWHEEL_THREADS). Two threads may read at once: tsan reports a
# write. test/contract/mailbox.c plays interleavings without threads. Not shown:
# races that no run meets, processors with weaker memory than x86-64, and the
# time of a post among many threads.
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

# build_stress COMPILER SANITIZER HEADER
build_stress() {
    "$1" -std=c11 -O1 -g -pthread -fno-omit-frame-pointer -fsanitize="$2" \
        -fno-sanitize-recover=all -DHEADER="\"$PWD/$3\"" -o "$build/stress" \
        test/threads/stress.c
}

# stress SANITIZER POSTS
stress() {
    for compiler in gcc clang; do
        if ! have "$compiler"; then
            skip "stress, $compiler" "$compiler is missing"
            continue
        fi
        expect "stress, $compiler, $1, compiles" \
            build_stress "$compiler" "$1" timingwheel.h
        expect "stress, $compiler, $1, 4 producers of $2 posts" \
            "$build/stress" --posts "$2" --seed "$seed"
    done
}

# races FUNCTION ORDER WEAKER: with the weaker order, a race is reported.
races() {
    sed "/^[a-zA-Z].* \**$1(.*[^;]\$/,/^}/s/TWI_$2\b/TWI_$3/" timingwheel.h \
        >"$build/timingwheel.h"
    if cmp timingwheel.h "$build/timingwheel.h"; then
        echo "$1 has no $2"
        return 1
    fi
    build_stress gcc thread "$build/timingwheel.h" || return
    "$build/stress" --posts 200000 >"$build/ran" 2>&1
    [ $? = 66 ] && grep -q 'WARNING: ThreadSanitizer: data race' "$build/ran"
}

# The functions and the orders that are weakened.
litmus() {
    while read -r function order weaker; do
        expect "$function, $order as $weaker: a race is reported" \
            races "$function" "$order" "$weaker"
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
tsan) stress thread 300000 ;;
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
