#!/bin/sh
# interface.sh - the public interface is what interface.c lists, and a new
# function is everywhere where it must be. CC chooses the compiler. Prints TAP.
# Run from the top of the repository.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/interface
list=test/compile/interface.c
. test/lib/tap.sh
mkdir -p "$build"

# code FILE...: without comments.
code() {
    cat "$@" | sed 's/\/\*.*\*\///; /\/\*/,/\*\//d'
}

# The public names in a text.
names() {
    tr -c 'A-Za-z0-9_' '\n' | grep -E '^(tw|TW|TIMINGWHEEL)_[A-Za-z_]+$' |
        sort -u
}

unlisted() {
    names <"$list" >"$build/listed"
    code timingwheel.h | names | comm -23 - "$build/listed" |
        sed "s|^|$list lacks, after a line 'since' with the next version: |"
}

# Prints the functions that the text on standard input does not name.
unnamed() {
    names >"$build/named"
    grep '^[a-z].*[ *]tw_[a-z_]*(' "$list" | grep -v '^typedef' |
        sed 's/(.*//' | names | grep -v '^tw_timer$\|^tw_state$' |
        comm -23 - "$build/named"
}

ungrouped() {
    sed -n '/^\/\* -* functions -*$/,/\*\//p' timingwheel.h | unnamed
}

without_row() {
    grep '^| `tw_' README.md | unnamed
}

# Prints the versions of README.md that are neither released nor the header's.
old_versions() {
    released=$(sed -n 's/.*released: //p' "$list")
    grep -o 'timingwheel\.h [0-9][0-9.]*[0-9]' README.md |
        grep -vF -e "h $released." -e "h $version"
    true
}

# Prints the functions since a version that is not released, and `pointer` if
# one has a pointer. TW_VERSION_MINOR alone if the header has an older version.
new_functions() {
    awk -v version="$(awk '/^#define TW_VERSION_M/ { printf "%s.", $3 }' \
        timingwheel.h)" '
        function number(text,    part) {
            split(text, part, ".")
            return part[1] * 1000 + part[2]
        }
        $2 == "released:" { released = number($3) }
        $2 == "since" { since = number($3) }
        since > number(version) { print "TW_VERSION_MINOR"; exit }
        since > released && !/^typedef/ && match($0, /[ *]tw_[a-z_]*\(/) {
            print substr($0, RSTART + 1, RLENGTH - 2), \
                substr($0, RSTART + RLENGTH) ~ /\*/ ? "pointer" : ""
        }' "$list"
}

# stands NAME FILE...: the name is in the code of a file.
stands() {
    name=$1
    shift
    code "$@" | names | grep -qx "$name"
}

# Prints what a new function lacks, and the file to edit.
incomplete() {
    sed -n '/^\/\* CHANGES/,$p' timingwheel.h >"$build/changes"
    new_functions | while read -r name pointer; do
        if [ "$name" = TW_VERSION_MINOR ]; then
            echo "set $name in timingwheel.h to the latest of $list"
            continue
        fi
        names <"$build/changes" | grep -qx "$name" ||
            echo "$name: add a line to CHANGES in timingwheel.h"
        stands "$name" test/search/*.h test/threads/*.c ||
            echo "$name: no random operation: write one in test/search/rounds.h"
        stands "$name" test/contract/functions.c test/contract/mailbox.c ||
            [ -z "$pointer" ] ||
            echo "$name: no case with NULL: write one in functions.c"
        grep -qwE "(tw_)?${name#tw_}" test/contract/misuse.c ||
            [ -z "$pointer" ] ||
            echo "$name: no misuse: write a row in misuse.c"
    done
}

version=$(awk '/^#define TW_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' \
    timingwheel.h)
expect "the title has version $version" \
    grep -q "^/. timingwheel.h - v$version - " timingwheel.h
expect "CHANGES has version $version" grep -q "^   $version  20" timingwheel.h
expect 'each declaration is the one that interface.c lists' \
    "${CC:-cc}" -std=c11 -c -o "$build/interface.o" "$list"
expect_nothing 'interface.c lists each public name' unlisted
expect_nothing 'the list of functions in the header has each function' ungrouped
expect_nothing 'README.md has each function in a row' without_row
expect_nothing 'README.md names the latest version' old_versions
expect_nothing 'a new function has its tests and its line in CHANGES' incomplete
tap_end
