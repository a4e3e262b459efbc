#!/bin/sh
# examples.sh - compiles and runs every example of README.md and of the manual
# at the top of timingwheel.h, so that what a newcomer copies works. Prints TAP.
# CC and CFLAGS choose the compiler. Run from the top of the repository.
#
# What counts as an example:
#
#   README.md      every block fenced by ```c
#   timingwheel.h  after a line with `example: NAME.c`, the lines indented by
#                  four more spaces than it, up to the next line that is
#                  indented less
#
# One with `int main` in it is a program: it is built, run, and must end with
# 0. In README.md a block fenced by ```output that follows is what it prints,
# to the letter; in the header one after `prints: NAME.c`. Of such a text alone
# the program is test/docs/NAME.c. An example without `int main` is a
# fragment. If the fence says ```c statements, or the marker `example: NAME.c
# (statements)`, it is compiled as the body of a callback with
#
#     timingwheel *tw, tw_timer *timer, uint64_t now, uint64_t period
#
# in scope, else at file scope, after the header.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/examples
. test/lib/tap.sh

# Writes each example of README.md to readme-N.c (readme-N.statements.c), and
# what it prints to readme-N.expected.
extract_readme() {
    awk -v folder="$build" '
        /^```c$/ || /^```c statements$/ {
            file = folder "/readme-" ++number
            file = file ($2 == "" ? ".c" : ".statements.c")
            printf "" > file
            next
        }
        /^```output$/ {
            file = folder "/readme-" number ".expected"
            printf "" > file
            next
        }
        /^```/ { file = ""; next }
        file != "" { print > file }
    ' README.md
}

# The same for the header. A manual whose lines begin with " * " is read as if
# they did not.
extract_header() {
    awk -v folder="$build" '
        { sub(/^ \*( |$)/, "") }
        /(example|prints): *[A-Za-z0-9_-]+\.c/ {
            name = $0
            sub(/.*(example|prints): */, "", name)
            sub(/\.c.*/, "", name)
            kind = ".c"
            if ($0 ~ /prints: /)
                kind = ".expected"
            else if ($0 ~ /\(statements\)/)
                kind = ".statements.c"
            file = folder "/header-" name kind
            printf "" > file
            match($0, /^ */)
            indent = RLENGTH + 4
            blank = 0
            next
        }
        file == "" { next }
        /^ *$/ { blank++; next }
        {
            match($0, /^ */)
            if (RLENGTH < indent) { file = ""; next }
            for (; blank > 0; blank--)
                if (begun[file]) print "" > file
            blank = 0
            begun[file] = 1
            print substr($0, indent + 1) > file
        }
    ' timingwheel.h
}

# The programs of which the header has only what they print.
add_programs() {
    for text in "$build"/header-*.expected; do
        program=${text%.expected}.c
        source=test/docs/${program##*/header-}
        if [ -f "$source" ]; then
            cp "$source" "$program"
        elif [ -f "$text" ] && ! [ -f "$program" ]; then
            echo "#error $source, which is to print this, is missing" \
                >"$program"
        fi
    done
}

# compile EXAMPLE: what is compiled is the example as it stands, or, for a
# fragment, what it needs around it. #line makes errors name the example.
compile() {
    main=${1%.c}.main.c
    if is_program "$1"; then
        main=$1
    else
        {
            echo '#define TIMINGWHEEL_IMPLEMENTATION'
            echo '#include "timingwheel.h"'
            case $1 in
            *.statements.c)
                echo 'void statements(timingwheel *tw, tw_timer *timer,'
                echo '                uint64_t now, uint64_t period);'
                echo 'void statements(timingwheel *tw, tw_timer *timer,'
                echo '                uint64_t now, uint64_t period)'
                echo '{'
                echo '(void)tw, (void)timer, (void)now, (void)period;'
                echo "#line 1 \"${1##*/}\""
                cat "$1"
                echo '}'
                ;;
            *)
                echo "#line 1 \"${1##*/}\""
                cat "$1"
                ;;
            esac
            echo 'int main(void) { return 0; }'
        } >"$main"
    fi
    # CC may hold options too.
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c99 ${CFLAGS:--O2 -Wall -Wextra} -I. \
        -o "${1%.c}.program" "$main"
}

is_program() {
    grep -q 'int main' "$1"
}

run() {
    if have timeout; then
        timeout 20 "./${1%.c}.program"
    else
        "./${1%.c}.program"
    fi
}

runs_as_promised() {
    run "$1" >"${1%.c}.actual" || {
        echo "it ended with $?"
        cat "${1%.c}.actual"
        return 1
    }
    if [ -f "${1%.c}.expected" ]; then
        diff "${1%.c}.expected" "${1%.c}.actual"
    fi
}

# has_examples PLACE: a manual without examples would pass unread.
has_examples() {
    ls "$build/$1"-*.c >/dev/null 2>&1
}

rm -rf "$build"
mkdir -p "$build"
extract_readme
extract_header
add_programs
examples=$(ls "$build"/*.c 2>/dev/null)

for place in readme header; do
    expect "found in the $place" has_examples "$place"
done
for example in $examples; do
    name=$(basename "$example" .c)
    expect "$name compiles" compile "$example"
    if is_program "$example" && [ -f "${example%.c}.program" ]; then
        expect "$name runs" runs_as_promised "$example"
    fi
done
tap_end
