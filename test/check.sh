#!/bin/sh
# check.sh - what `make check` runs beyond `make test`: every test under
# sanitizers and valgrind, and what takes more tools or more time. The table in
# test/README.md says what each part shows. test/run.sh runs the parts and ends
# with the line `N passed, N failed`. Run from the top of the repository.
#
#     test/check.sh
#     ONLY='soak|asan' test/check.sh     only the parts whose names match
#     EXCEPT='^gates' test/check.sh      all others
#     STRICT=1 test/check.sh             a missing tool is a failure
#     SEED=7 test/check.sh               another seed; see test/lib/seed.sh
#
# A part without its tool is skipped with a warning, and listed at the end. The
# folder .build/check keeps what each part prints, also during a run with ONLY.
#
# SPDX-License-Identifier: MIT
set -u
SEED=$(test/lib/seed.sh) || exit 2
export SEED
operations=${SOAK:-200000000} # random operations; a tenth of them sanitized
address='-O1 -g -fno-sanitize-recover=all -fsanitize=address,undefined'
build=.build/check
[ -n "${ONLY:-}${EXCEPT:-}" ] || rm -rf "$build"
mkdir -p "$build"

# part NAME TOOL COMMAND
part() {
    if ! echo "$1" | grep -E "${ONLY:-.}" | grep -qvE "${EXCEPT:-^$}"; then
        return
    elif command -v "$2" >/dev/null; then
        echo "$1 $3"
    else
        echo "$1 . test/lib/tap.sh; skip '$1' '$2 is missing'; tap_end"
    fi
}

# soak NAME PART SEED COMPILER FLAGS: one PART of the operations.
soak() {
    part "soak.$1" "$4" "test/search/soak.sh $((operations / $2)) \
$((SEED * 16 + $3)) $4 $5"
}

# The longest parts are the first, so that no processor is idle at the end.
parts() {
    part fuzz sh test/fuzz/fuzz.sh
    part hosts sh test/hosts/hosts.sh
    for kind in m32 valgrind asan-gcc msan asan-clang integer portable; do
        part $kind sh "test/lib/variant.sh $kind"
    done
    part coverage sh test/coverage/coverage.sh
    part mutate python3 "test/mutate/mutate.sh --jobs 1 --sample ${SAMPLE:-100}"
    part mutate-bugs python3 'test/mutate/mutate.sh --bugs'
    part defects python3 'test/mutate/mutate.sh --defects'
    part gates sh test/compile/gates.sh
    part lint sh test/compile/lint.sh
    soak O2-1 2 1 gcc -O2
    soak O2-2 2 2 gcc -O2
    soak asan-gcc 20 3 gcc "$address"
    soak asan-clang 20 4 clang "$address"
    part recipes python3 test/recipes/judge/judge.py
    part targets sh test/targets/targets.sh
    for kind in tsan asan litmus; do
        part threads.$kind sh "test/threads/threads.sh $kind $SEED"
    done
    part work gcc test/cost/work.sh
    part examples gcc "CC='gcc $address' CFLAGS='-Wall -Wextra -Wpedantic \
-Wconversion -Wshadow -Werror' test/docs/examples.sh"
    part install sh test/docs/install.sh
    part library gcc test/compile/library.sh
}

parts >"$build.list"
if ! [ -s "$build.list" ]; then
    echo "no part has a name that matches ONLY='${ONLY:-}'" >&2
    exit 2
fi
! grep -q '^hosts ' "$build.list" || echo 'may fetch libuv, libevent, redis' \
    "and nginx from Debian, and runs their tests as $(id -un); OFFLINE=1" \
    'refuses to fetch'
processors=$(getconf _NPROCESSORS_ONLN)
[ -n "${ONLY:-}" ] || echo "$(grep -c . "$build.list") parts; they take" \
    "$((50 / processors)) minutes on $processors idle processors"
echo "seed $SEED; to repeat: SEED=$SEED make check"
LIMIT=1800 KEEP=$build test/run.sh <"$build.list"
