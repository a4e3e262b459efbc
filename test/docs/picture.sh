#!/bin/sh
# picture.sh - draws the picture of README.md again, from a run of the library,
# and compares it byte for byte with wheels.svg. Prints TAP. CC and CFLAGS
# choose the compiler. Run from the top of the repository. After a change of
# the picture:
#
#     test/docs/picture.sh; cp .build/picture/wheels.svg test/docs
#
# SPDX-License-Identifier: MIT
set -u

build=.build/picture
. test/lib/tap.sh
rm -rf "$build"
mkdir -p "$build"
drawn=$build/wheels.svg

compiles() {
    # shellcheck disable=SC2086
    test/lib/compile.sh "$build/picture" test/docs/picture.c "${CC:-cc}" \
        ${CFLAGS:--O2 -Wall -Wextra}
}

# A false caption ends the program, and is the last line that it prints.
draws() {
    "$build/picture" >"$drawn" || {
        tail -n 1 "$drawn"
        return 1
    }
}

is_small() {
    wc -c <"$drawn"
    [ "$(wc -c <"$drawn")" -le 60000 ]
}

# A browser runs no script and fetches nothing for an image.
refers_outside() {
    grep -nE "<script|(href|src)='[^#]|url\\(|@import" "$drawn"
    [ -s "$drawn" ]
}

expect 'the drawing program compiles' compiles
expect 'each caption is true of the run' draws
expect 'test/docs/wheels.svg is what the run draws' \
    cmp "$drawn" test/docs/wheels.svg
expect 'the picture has at most 60 KB' is_small
expect_nothing 'it has no script, and needs no other file' refers_outside
tap_end
