#!/bin/sh
# call.sh - compiles and runs call.cpp. Without a C++ compiler the test is
# skipped with a warning. Prints TAP. CXX chooses the compiler. Run from the top
# of the repository.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/call.cpp
. test/lib/tap.sh

rm -rf "$build"
mkdir -p "$build"

# The first C++ compiler that there is.
for compiler in ${CXX:-c++ g++ clang++}; do
    if have "$compiler"; then
        break
    fi
    compiler=
done
if [ -z "$compiler" ]; then
    skip "TW_CALL in C++" "no C++ compiler"
    tap_end
    exit
fi

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
# shellcheck disable=SC2086
expect "call.cpp compiles" "$compiler" -std=c++11 -O2 -g $warnings \
    -o "$build/call" test/unit/call.cpp
expect "TW_CALL measures and catches an exception" "$build/call"
tap_end
