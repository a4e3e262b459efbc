#!/bin/sh
# programs.sh - prints the test programs: every C and C++ file in test/contract,
# test/internal and test/search. `make test`, `make check`, coverage, the gates
# and mutation take their programs from here. Run from the top of the
# repository.
#
#     test/lib/programs.sh             all programs
#     test/lib/programs.sh NAME...     those with these names, without .c
#
# SPDX-License-Identifier: MIT
set -eu
folders='test/contract test/internal test/search'
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
