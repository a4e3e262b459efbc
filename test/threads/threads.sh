#!/bin/sh
# threads.sh - the mailbox under real threads: stress.c under ThreadSanitizer
# and AddressSanitizer. Also headers with a mistake in the mailbox: the tests
# must fail. Prints TAP. Run from the top of the repository.
#
#     test/threads/threads.sh tsan [SEED]
#     test/threads/threads.sh asan [SEED]
#     test/threads/threads.sh litmus      one memory order weakened:
#                                         ThreadSanitizer reports a race
#     test/threads/threads.sh mistakes    a statement wrong: mailbox.c fails
#
# SPDX-License-Identifier: MIT
set -u

kind=${1:-tsan}
seed=${2:-1}
build=.build/threads-$kind
rm -rf "$build"
mkdir -p "$build"
. test/lib/tap.sh

flags='-std=c11 -O1 -g -pthread -fno-omit-frame-pointer'
export TSAN_OPTIONS='halt_on_error=1 exitcode=66'

# build_stress COMPILER SANITIZER HEADER
build_stress() {
    # shellcheck disable=SC2086
    "$1" $flags -fsanitize="$2" -fno-sanitize-recover=all \
        -DHEADER="\"$PWD/$3\"" -o "$build/stress" test/threads/stress.c
}

# shows FILE: prints the comments of a program that passed.
shows() {
    sed -n 's/^#/#/p' "$1"
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
        shows "$build/said"
    done
}

# -------------------------------------------------------- with a mistake ---

# changed FUNCTION SED...: writes a header with a function changed by sed.
changed() {
    sed "/^[a-zA-Z].* \**$1(.*[^;]\$/,/^}/{$2;}" timingwheel.h \
        >"$build/timingwheel.h"
    if cmp -s timingwheel.h "$build/timingwheel.h"; then
        echo "nothing to change in $1: $2"
        return 1
    fi
}

races() {
    changed "$1" "$2" && build_stress gcc thread "$build/timingwheel.h" ||
        return
    "$build/stress" --posts 200000 >"$build/ran" 2>&1
    [ $? = 66 ] && grep -q 'WARNING: ThreadSanitizer: data race' "$build/ran"
}

# weakened FUNCTION FROM TO WHAT
weakened() {
    expect "$1, $2 as $3: a race is reported" races "$1" "s/$2\\b/$3/"
    grep -m 1 'Location\|^  Write of\|^  Read of' "$build/ran" | sed 's/^/# /'
}

litmus() {
    if ! have gcc; then
        skip 'memory orders' 'gcc is missing'
        return
    fi
    weakened twi_post TWI_ACQUIRE_RELEASE TWI_ACQUIRE
    weakened twi_post TWI_ACQUIRE_RELEASE TWI_RELEASE
    weakened twi_post TWI_RELEASE TWI_RELAXED
    weakened twi_apply TWI_ACQUIRE_RELEASE TWI_ACQUIRE
    weakened twi_apply TWI_ACQUIRE_RELEASE TWI_RELEASE
    weakened tw_collect TWI_ACQUIRE TWI_RELAXED
}

fails() {
    changed "$1" "$2" || return
    mkdir -p "$build/test/unit" "$build/test/lib"
    cp test/unit/mailbox.c "$build/test/unit"
    cp test/lib/*.h "$build/test/lib"
    gcc -std=c11 -w -o "$build/mailbox" "$build/test/unit/mailbox.c" || return
    ! timeout 10 "$build/mailbox" >"$build/ran" 2>&1
}

# mistake FUNCTION SED
mistake() {
    expect "noticed in $1: $(echo "$2" | tr -s '\n ' ' ')" fails "$1" "$2"
}

mistakes() {
    if ! have gcc; then
        skip 'mistakes in the mailbox' 'gcc is missing'
        return
    fi
    mistake twi_post 's/!= TWI_NOTHING/== TWI_NOTHING/'
    mistake twi_post 's/box == NULL || //'
    mistake twi_post 's/ || remote == NULL//'
    mistake twi_post 's/remote->next = first/remote->next = NULL/'
    mistake twi_post 's/first == NULL \&\& //'
    mistake twi_post 's/ \&\& box->wake != NULL//'
    mistake twi_post 's/first == NULL/first != NULL/'
    mistake twi_post 's/box->wake(box->context)/box->wake(NULL)/'
    mistake tw_post_start 's/deadline == TWI_CANCEL || //'
    mistake tw_post_start 's/ || deadline == TWI_NOTHING//'
    mistake tw_post_start 's/deadline = UINT64_MAX/deadline = 0/'
    mistake tw_post_cancel 's/TWI_CANCEL/0/'
    mistake twi_apply 's/request == TWI_CANCEL/request != TWI_CANCEL/'
    mistake twi_apply '/tw_cancel/d'
    mistake twi_apply 's/== TW_OK/!= TW_EINVAL/'
    mistake twi_apply 's/return !atomic/return atomic/'
    mistake twi_apply 's/!atomic_.*/(void)nothing, atomic_store_explicit(/
        s/&nothing, request, .*/request, TWI_RELAXED), false;/'
    mistake twi_apply 's/nothing = TWI_NOTHING/nothing = TWI_CANCEL/'
    mistake twi_reverse 's/remote->next = turned/remote->next = NULL/'
    mistake twi_apply_all 's/twi_reverse(last)/last/'
    mistake twi_apply_all 's/remote->next = box->waiting/remote->next = NULL/'
    mistake twi_apply_all 's/box->waiting = remote/(void)0/'
    mistake twi_apply_all 's/refused++/(void)0/'
    mistake tw_collect 's/box == NULL/false/'
    mistake tw_collect 's/box->waiting = NULL/(void)0/'
    mistake tw_collect \
        's/exchange_explicit(\(.*\), (tw_remote \*)NULL,/load_explicit(\1,/'
    mistake tw_collect 's/return waiting +/return/'
    mistake tw_remote_settled 's/remote == NULL ||//'
    mistake tw_remote_settled 's/== TWI_NOTHING/!= TWI_NOTHING/'
    mistake tw_remote_init 's/TWI_NOTHING/TWI_CANCEL/'
    mistake tw_remote_init 's/remote == NULL/false/'
    mistake tw_mailbox_init 's/box == NULL/false/'
    mistake tw_mailbox_init '/atomic_store_explicit/d'
    mistake tw_mailbox_init '/box->waiting/d'
    mistake tw_mailbox_init '/box->wake =/d'
    mistake tw_mailbox_init '/box->tw =/d'
}

case $kind in
tsan) stress thread 300000 ;;
asan) stress address,undefined 600000 ;;
litmus) litmus ;;
mistakes) mistakes ;;
*)
    echo "threads.sh: there is no '$kind'" >&2
    exit 2
    ;;
esac
tap_end
