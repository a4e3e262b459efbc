#!/bin/sh
# lint.sh - the text of the repository: warnings of gcc and clang in each
# program, the format, line lengths, the licence; shellcheck for the scripts and
# static analysis for the header. Prints TAP. A case without its tool is skipped
# with a warning. Run from the top of the repository:
#
#     test/compile/lint.sh
#
# SPDX-License-Identifier: MIT
set -u

build=.build/lint
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
. test/lib/tap.sh
rm -rf "$build"
mkdir -p "$build"

# The program text of the repository, one file a line.
programs() {
    find timingwheel.h test bench -name '*.[ch]' -o -name '*.cpp'
}

scripts() {
    find test bench -name '*.sh'
    echo .ci/run
}

sources() {
    programs
    scripts
}

# ---------------------------------------------------------------- warnings ---

# Not here: recipes, hosts, bench engines and examples, which their own scripts
# compile with their libraries.
warned_of() {
    test/lib/programs.sh
    find test/fuzz test/threads test/targets bench -maxdepth 1 -name '*.c' \
        ! -name avr.c # for another compiler
}

# no_warning COMPILER: in any program.
no_warning() {
    for source in $(warned_of); do
        # shellcheck disable=SC2086
        test/lib/compile.sh "$build/none" "$source" "$1" $warnings -O2 \
            -fsyntax-only || echo "in $source"
    done
}

for compiler in gcc clang; do
    if have $compiler; then
        expect_nothing "$compiler, no warning in any program" \
            no_warning $compiler
    else
        skip "$compiler, warnings" "$compiler is missing"
    fi
done

# ------------------------------------------------------------------- style ---

# shellcheck disable=SC2016
long_lines() {
    sources | xargs awk 'length($0) > 80 { print FILENAME ":" FNR }'
}

odd_bytes() {
    sources | LC_ALL=C xargs grep -nE '[^ -~]| $' /dev/null || :
}

without_licence() {
    { sources && echo Makefile; } |
        xargs grep -L 'SPDX-License-Identifier: MIT' || :
}

# clang-format 14 is Debian 12's. Other versions format some lines otherwise.
not_formatted() {
    programs | xargs clang-format --dry-run -Werror 2>&1 |
        sed -n 's/^\([^ ].*\):[0-9]*:[0-9]*: error: .*/\1/p' | uniq -c
}

bad_scripts() {
    scripts | xargs shellcheck -x
}

expect_nothing 'no line over 80 columns' long_lines
expect_nothing 'no tab, trailing space or byte outside ASCII' odd_bytes
expect_nothing 'every file names its licence' without_licence
if have clang-format && clang-format --version | grep -q 'version 14\.'; then
    expect_nothing 'clang-format would change nothing' not_formatted
else
    skip 'clang-format' 'clang-format 14 is missing'
fi
if have shellcheck; then
    expect_nothing 'shellcheck finds nothing' bad_scripts
else
    skip 'shellcheck' 'shellcheck is missing'
fi

# --------------------------------------------------------- static analysis ---

# -Wno-analyzer-malloc-leak: a wheel stands in the memory that it points to, at
# an address that was rounded up through an integer, and gcc 12 loses sight of
# the wheel. LeakSanitizer and valgrind look for leaks in every test.
whole='-std=c11 -DTIMINGWHEEL_THREADS -DTIMINGWHEEL_IMPLEMENTATION -x c'
# shellcheck disable=SC2086
expect 'gcc -fanalyzer finds nothing' gcc -O1 -fanalyzer -Werror \
    -Wno-analyzer-malloc-leak $whole -c -o "$build/object.o" timingwheel.h
if have clang; then
    # shellcheck disable=SC2086
    expect 'clang --analyze finds nothing' clang --analyze -Werror \
        --analyzer-output text $whole timingwheel.h
else
    skip 'clang --analyze' 'clang is missing'
fi
tap_end
