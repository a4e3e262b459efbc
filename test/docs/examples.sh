#!/bin/sh
# examples.sh - compiles and runs every example of README.md and of the manual
# at the top of timingwheel.h, and looks for the target of every link in the
# README files. A newcomer can copy each example and follow each link. Also
# compares the list of functions in README.md with the header. Prints TAP. CC
# and CFLAGS choose the compiler. Run from the top of the repository.
#
# These are examples:
#
#   README.md      every block fenced by ```c
#   timingwheel.h  after a line with `example: NAME.c`, the lines indented by
#                  four more spaces than this line, up to the next line with
#                  less indentation
#
# An example with `int main` is a program: the script builds and runs it, and
# the program must return 0. These texts are the exact output of the program:
#
#   README.md      the quoted part of each line that ends in: // prints "TEXT"
#   timingwheel.h  the lines after `prints: NAME.c`. If the manual shows only
#                  the output, the program is test/docs/NAME.c.
#
# An example without `int main` is a fragment. test/docs/NAME.c, if there is
# such a file, includes the fragment `example: NAME.c` of the header as
# header-NAME.inc, and is run. The script compiles any other fragment at file
# scope, after the header, with these exceptions:
#
#   ```c NAME             test/docs/NAME.c includes the fragment as
#                         readme-NAME.inc, and is run
#   ```c statements, or   the fragment is the body of a callback, with
#   example: NAME.c       timingwheel *tw, tw_timer *timer, uint64_t now and
#   (statements)          uint64_t period in scope
#
# SPDX-License-Identifier: MIT
set -u

build=.build/examples
. test/lib/tap.sh

# Writes each example of README.md to readme-N.c (or readme-N.statements.c, or
# readme-NAME.inc), and the expected output to readme-N.expected.
extract_readme() {
    awk -v folder="$build" '
        /^```c$/ || /^```c [a-z_]+$/ {
            number++
            file = folder "/readme-" number ".c"
            expected = folder "/readme-" number ".expected"
            if ($2 == "statements")
                file = folder "/readme-" number ".statements.c"
            else if ($2 != "")
                file = folder "/readme-" $2 ".inc"
            printf "" > file
            next
        }
        /^```/ { file = ""; next }
        file == "" { next }
        { print > file }
        /\/\/ prints ".*"$/ {
            sub(/.*\/\/ prints "/, "")
            sub(/"$/, "")
            print > expected
        }
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
            else if (system("test -f test/docs/" name ".c") == 0)
                kind = ".inc"
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

# add_program NAME.c AS: copies a program that shows a text of the manual or
# includes a fragment of README.md.
add_program() {
    if [ -f "test/docs/$1" ]; then
        cp "test/docs/$1" "$2"
    elif ! [ -f "$2" ]; then
        echo "#error test/docs/$1 is missing" >"$2"
    fi
}

add_programs() {
    for text in "$build"/header-*.expected; do
        name=${text##*/header-}
        [ -f "$text" ] &&
            add_program "${name%.expected}.c" "${text%.expected}.c"
    done
    for fragment in "$build"/readme-*.inc "$build"/header-*.inc; do
        name=${fragment##*/readme-}
        name=${name##*/header-}
        [ -f "$fragment" ] &&
            add_program "${name%.inc}.c" "${fragment%.inc}.c"
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
    ${CC:-cc} -std=c99 ${CFLAGS:--O2 -Wall -Wextra} -I. -I"$build" \
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

# has_examples PLACE: without this case, a text without examples would pass.
has_examples() {
    ls "$build/$1"-*.c >/dev/null 2>&1
}

# headings FILE: the anchor of each heading, made as GitHub makes anchors.
headings() {
    awk '
        /^```/ { code = !code }
        !code && /^#+ / {
            sub(/^#+ /, "")
            $0 = tolower($0)
            gsub(/[^a-z0-9 _-]/, "")
            gsub(/ /, "-")
            print
        }
    ' "$1"
}

# links FILE: the target of each link and image in FILE, except web addresses.
# Code and comments have no links.
links() {
    awk '
        /^```/ { code = !code }
        /^<!--/ { comment = 1 }
        !code && !comment && !/^    / {
            gsub(/`[^`]*`/, "")
            while (match($0, /\]\([^)]*\)/)) {
                print substr($0, RSTART + 2, RLENGTH - 3)
                $0 = substr($0, RSTART + RLENGTH)
            }
        }
        /-->$/ { comment = 0 }
    ' "$1" | grep -v '^https\{0,1\}:'
}

# broken_links FILE: prints the links of FILE that lead nowhere.
broken_links() {
    links "$1" >"$build/links" || echo "$1 has no links"
    while read -r link; do
        target=$1
        case $link in
        \#*) ;;
        *) target=$(dirname "$1")/${link%%#*} ;;
        esac
        if ! [ -e "$target" ]; then
            echo "$link: no such file"
        elif [ "${link#*#}" != "$link" ] &&
            ! headings "$target" | grep -qxF -e "${link#*#}"; then
            echo "$link: no such heading"
        fi
    done <"$build/links"
}

# functions_differ: compares the functions that the header declares with the
# functions that README.md lists.
functions_differ() {
    sed -n 's/^TW_DEF .*[ *]\(tw_[a-z_]*\)(.*/\1/p' timingwheel.h | sort -u \
        >"$build/declared"
    sed -n '/^## Functions/,/^$/p' README.md | tr '`' '\n' |
        grep '^tw_[a-z_]*$' | sort >"$build/listed"
    grep -q '^tw_start$' "$build/declared" || echo "tw_start is missing"
    diff "$build/declared" "$build/listed"
}

rm -rf "$build"
mkdir -p "$build"
extract_readme
extract_header
add_programs
examples=$(ls "$build"/*.c 2>/dev/null)

for file in README.md bench/README.md test/README.md test/*/README.md \
    test/hosts/*/README.md; do
    expect_nothing "$file: every link leads to a file" broken_links "$file"
done
expect_nothing "README.md lists every function, once" functions_differ
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
