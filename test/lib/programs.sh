#!/bin/sh
# programs.sh - prints the C files that are test programs: every C file in
# test/unit, test/regression and test/search. `make test`, `make check`,
# coverage, the gates and mutation take their tests from here. Run from the top
# of the repository.
#
#     test/lib/programs.sh             all of them
#     test/lib/programs.sh NAME...     those with these names, without .c
#
# SPDX-License-Identifier: MIT
set -eu
[ $# != 0 ] || set -- '*'
for name; do
    found=$(find test/unit test/regression test/search -name "$name.c" | sort)
    if [ -z "$found" ]; then
        echo "there is no test program $name" >&2
        exit 1
    fi
    echo "$found"
done
