#!/bin/sh
# model.sh - every interleaving of the mailbox's model, mailbox.pml, by spin;
# each mistake of the model is found; and the model's steps are lines of the
# header. Prints TAP. Run from the top of the repository.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/threads-model
rm -rf "$build"
mkdir -p "$build"
. test/lib/tap.sh
model=test/threads/mailbox.pml

# function_of NAME: prints the function, on one line.
function_of() {
    sed -n "/^[a-zA-Z].* \**$1(.*[^;]\$/,/^}/p" timingwheel.h |
        tr -s '[:space:]' ' '
}

# Prints the lines that the model names and the header does not have.
differing_lines() {
    sed -n 's/.*\[\(tw[a-z_]*: .*\)\].*/\1/p' "$model" >"$build/lines"
    [ "$(wc -l <"$build/lines")" -ge 15 ] || echo 'hardly any line is named'
    while read -r line; do
        function_of "${line%%: *}" | grep -qF -- "${line#*: }" ||
            echo "not in the header: $line"
    done <"$build/lines"
}

expect_nothing 'the header has the lines that the model stands for' \
    differing_lines
if ! have spin || ! have gcc; then
    skip 'the model of the mailbox' 'spin or gcc is missing'
    tap_end
    exit
fi

# search NUMBER: goes through the model with this mistake; 0 is none.
search() {
    mkdir -p "$build/$1"
    cp "$model" "$build/$1"
    (cd "$build/$1" && spin -DBROKEN="$1" -a mailbox.pml &&
        gcc -O2 -w -DSAFETY -DCOLLAPSE -o pan pan.c &&
        ./pan -m3000 >found 2>&1) || return
    grep -E 'pan:1|errors:|states, stored|unreached|invalid|too small' \
        "$build/$1/found"
}

# Complete, without an error, and with every line of the model reached.
holds() {
    search 0 || return
    grep -q 'errors: 0$' "$build/0/found" &&
        ! grep -q 'Search not completed\|too small' "$build/0/found" &&
        ! grep '^.*state [0-9]*, ' "$build/0/found" | grep -v '"-end-"'
}

is_found() {
    search "$1" || return
    grep -q '^pan:1: assertion violated' "$build/$1/found"
}

expect 'no interleaving of 2 threads, 2 timers and 4 posts is wrong' holds
sed -n 's/^ *\([0-9]*\) states, stored.*/# \1 states/p' "$build/0/found"
# shellcheck disable=SC2013 # numbers are words
for number in $(sed -n 's/^#if BROKEN == \([0-9]*\) .*/\1/p' "$model" |
    sort -nu); do
    what=$(sed -n "s/^#if BROKEN == $number \/\* \(.*\) \*\//\1/p" "$model" |
        head -n 1)
    expect "found: $what" is_found "$number"
done
tap_end
