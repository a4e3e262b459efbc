#!/bin/sh
# seed.sh - prints the number that everything random in `make check` begins
# with: SEED, if it is set, otherwise the first 28 bits of the commit that is
# checked out, so that every commit is tested with numbers of its own and the
# same commit with the same. Run from the top of the repository.
#
#     test/lib/seed.sh
#
# SPDX-License-Identifier: MIT
set -u
if [ -n "${SEED:-}" ]; then
    case $SEED in
    *[!0-9]*)
        echo "SEED=$SEED is not a number" >&2
        exit 2
        ;;
    esac
    echo $((SEED))
elif commit=$(git -c safe.directory="$PWD" rev-parse --verify HEAD \
    2>/dev/null); then
    echo $((0x$(printf '%.7s' "$commit")))
else
    echo 1 # no commit: an unpacked archive
fi
