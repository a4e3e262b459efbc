#!/bin/sh
# threads.sh - the mailbox under real threads. Prints TAP; run from the top of
# the repository.
#
#     test/threads/threads.sh tsan [SEED]   stress.c under ThreadSanitizer
#     test/threads/threads.sh asan [SEED]   under AddressSanitizer, UBSan
#     test/threads/threads.sh litmus        one memory order weakened: stress.c
#                                           must report a race
#     test/threads/threads.sh mistakes      one statement of the mailbox wrong:
#                                           test/contract/mailbox.c must fail
#
# A wheel belongs to one thread; other threads reach the wheel through the
# mailbox (TIMINGWHEEL_THREADS). model.sh visits every interleaving of a small
# model, mailbox.pml. Not shown: races that no run meets, processors with weaker
# memory than x86-64, and the time of a post among many threads.
#
# SPDX-License-Identifier: MIT
set -u

kind=${1:-tsan}
seed=${2:-1}
build=.build/threads-$kind
rm -rf "$build"
mkdir -p "$build/test/contract" "$build/test/lib"
. test/lib/tap.sh
export TSAN_OPTIONS='halt_on_error=1 exitcode=66'

# build_stress COMPILER SANITIZER HEADER
build_stress() {
    "$1" -std=c11 -O1 -g -pthread -fno-omit-frame-pointer -fsanitize="$2" \
        -fno-sanitize-recover=all -DHEADER="\"$PWD/$3\"" -o "$build/stress" \
        test/threads/stress.c
}

stress() { # SANITIZER POSTS
    for compiler in gcc clang; do
        if ! have "$compiler"; then
            skip "stress, $compiler" "$compiler is missing"
            continue
        fi
        expect "stress, $compiler, $1, compiles" \
            build_stress "$compiler" "$1" timingwheel.h
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
    changed "$1" "$2" && build_stress gcc thread "$build/timingwheel.h" ||
        return
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

# passes: mailbox.c, with the header in $build.
passes() {
    cp test/contract/mailbox.c "$build/test/contract"
    cp test/lib/*.h "$build/test/lib"
    rm -f "$build/mailbox"
    gcc -std=c11 -w -o "$build/mailbox" "$build/test/contract/mailbox.c" &&
        timeout 5 "$build/mailbox"
}

fails() {
    changed "$1" "$2" && ! passes >"$build/ran" 2>&1 && [ -x "$build/mailbox" ]
}

# The functions and the sed scripts that make a statement wrong.
mistakes() {
    cp timingwheel.h "$build"
    expect "test/contract/mailbox.c passes" passes
    while read -r function script; do
        expect "noticed in $function: $script" fails "$function" "$script"
    done <<'END'
twi_post s/!= TWI_NOTHING/== TWI_NOTHING/
twi_post s/box == NULL || //
twi_post s/ || remote == NULL//
twi_post s/remote->next = first/remote->next = NULL/
twi_post s/first == NULL && //
twi_post s/ && box->wake != NULL//
twi_post s/first == NULL/first != NULL/
twi_post s/box->wake(box->context)/box->wake(NULL)/
tw_post_start s/tw_after(deadline, TWI_START)/deadline + TWI_START/
tw_post_start s/TWI_START/TWI_CANCEL/
tw_post_cancel s/TWI_CANCEL/TWI_START/
twi_start_posted s/tw == NULL/false/
twi_start_posted s/>=/>/
twi_start_posted s/tw->count + 1/tw->count/
twi_start_posted s/tw->max_pending = max_pending/(void)0/
twi_apply s/request == TWI_CANCEL/request != TWI_CANCEL/
twi_apply /tw_cancel/d
twi_apply s/request == UINT64_MAX/false/
twi_apply s/request - TWI_START/request/
twi_apply s/== TW_OK/!= TW_EINVAL/
twi_apply s/return !atomic/return atomic/
twi_apply s/!atomic.*/atomic_store_explicit(/;s/&nothing, \(req.*\),.*/\1), 0;/
twi_apply s/nothing = TWI_NOTHING/nothing = TWI_CANCEL/
twi_reverse s/remote->next = turned/remote->next = NULL/
tw_collect s/box == NULL/false/
tw_collect s/box->tw != NULL &&//
tw_collect s/TWI_ALLOCATING/TWI_VISITING/
tw_collect s/at = &(\*at)->next/break/
tw_collect s/twi_reverse(/(/
tw_collect s/exchange_explicit(&box->posted, .*L,/load_explicit(\&box->posted,/
tw_collect s/^    at = &box->waiting/    (void)0/
tw_collect s/next = remote->next/next = NULL/
tw_collect s/\*at = next/*at = remote->next/
tw_collect s/\*at = next/(void)0/
tw_collect s/at = &remote->next/*at = next/
tw_collect s/waiting++/(void)0/
tw_remote_settled s/remote == NULL ||//
tw_remote_settled s/== TWI_NOTHING/!= TWI_NOTHING/
tw_remote_init s/TWI_NOTHING/TWI_CANCEL/
tw_remote_init s/remote == NULL/false/
tw_mailbox_init s/box == NULL/false/
tw_mailbox_init /&box->posted/d
tw_mailbox_init /box->waiting =/d
tw_mailbox_init /box->wake =/d
tw_mailbox_init /box->context =/d
tw_mailbox_init /box->tw =/d
END
}

case $kind in
tsan) stress thread 300000 ;;
asan) stress address,undefined 600000 ;;
litmus | mistakes)
    if have gcc; then
        $kind
    else
        skip "$kind" 'gcc is missing'
    fi
    ;;
*)
    echo "threads.sh: there is no '$kind'" >&2
    exit 2
    ;;
esac
tap_end
