#!/bin/sh
# programs.sh - prints the test programs: every C and C++ file in test/contract,
# test/internal, test/search and test/cost. `make test`, `make check`, coverage,
# the gates and mutation take their programs from here. Run from the top of the
# repository.
#
#     test/lib/programs.sh             all programs
#     test/lib/programs.sh NAME...     those with these names, without .c
#
# test/lib has what the tests share:
#
# - for test programs: tap.h, heap.h (memory), inside.h, random.h. tap.sh is for
#   test scripts, tap.py for those in Python. judge.awk reads the output of all
#   for test/run.sh.
# - builds: compile.sh compiles a program, variant.sh all programs in another
#   way. runner32.sh runs a program of 32 bits.
# - debian.sh gets packages that are not installed.
# - seed.sh prints the seed of `make check`. packages.txt lists Debian packages.
#
# SPDX-License-Identifier: MIT
set -eu
folders='test/contract test/internal test/search test/cost'
[ $# != 0 ] || set -- '*'
for name; do
    # shellcheck disable=SC2086
    found=$(find $folders -name "$name.c" -o -name "$name.cpp" | sort)
    if [ -z "$found" ]; then
        echo "there is no test program $name" >&2
        exit 1
    fi
    echo "$found"
done
