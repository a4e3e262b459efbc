#!/bin/sh
# soak.sh - runs random.c for long: random operations on the library and on the
# oracle, compared after every one. tw_check looks at every bucket: it is called
# after every operation on wheels of 2, and the more seldom the more it has.
# Prints TAP; run from the top of the repository.
#
#     test/search/soak.sh OPERATIONS SEED COMPILER [FLAG...]
#     test/search/soak.sh 1000000000 7 gcc -O2
#
# To repeat a failure, see the last line of what it says.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
operations=$1 seed=$2
shift 2

# One build for each way to compile, several of which may run at a time.
build=.build/soak/$(echo "$*" | tr -c 'A-Za-z0-9\n' _).$seed
mkdir -p "$build"
check_every='-DRANDOM_CHECK_EVERY(buckets)=(1 + (buckets) / 4)'
if ! "$@" -std=c99 -g "$check_every" -o "$build/random" test/search/random.c \
    >"$build/said" 2>&1; then
    fail "$operations random operations, $*" "$build/said"
    tap_end
    exit
fi

"$build/random" --seed "$seed" --operations "$operations" >"$build/log" 2>&1
status=$?
grep -v '^1\.\.' "$build/log"
tap_number=$(grep -c '^ok\|^not ok' "$build/log")
if [ "$status" != 0 ]; then
    tap_failed=1
    echo "# or, compiled as here: $build/random and the same arguments"
fi
judged=$(sed -n 's/^# \([0-9]*\) operations in .*/\1/p' "$build/log")
expect "${judged:-0} operations from seed $seed, at least $operations" \
    test "${judged:-0}" -ge "$operations"
tap_end
