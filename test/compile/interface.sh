#!/bin/sh
# interface.sh - the public interface is what interface.txt lists, and a new
# function is everywhere where it must be. CC chooses the compiler. Prints TAP.
# Run from the top of the repository.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/interface
list=test/compile/interface.txt
. test/lib/tap.sh
mkdir -p "$build"

version=$(awk '$2 ~ /^TW_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' \
    timingwheel.h)

# Prints what the header offers, as interface.txt has it.
interface() {
    ${CC:-cc} -std=c11 -E -DTIMINGWHEEL_THREADS -x c timingwheel.h |
        awk -f test/compile/interface.awk
    grep -E '^#((el)?if|define TW_)|defined\(' timingwheel.h |
        grep -oE '(TW|TIMINGWHEEL)_[A-Z_]+(\([a-z_, ]*\))?' |
        awk '{ name = $0; sub(/\(.*/, "", name) }
            length > length(macro[name]) { macro[name] = $0 }
            END { for (name in macro) print "macro " macro[name] }'
}

# Prints what a change of the interface lacks, and the file to edit.
incomplete_interface() {
    interface | sort >"$build/offered"
    sed '/^#/d; s/^[0-9.]* //' "$list" | sort >"$build/listed"
    comm -13 "$build/offered" "$build/listed" |
        sed 's|^|version 2 keeps this, but the header has it no more: |'
    comm -23 "$build/offered" "$build/listed" >"$build/new"
    sed "s|^|$list lacks: ${version%.*} |" "$build/new"
    sed '/^#/d' "$list" >"$build/versions"
    sed "s/^/${version%.*} /" "$build/new" >>"$build/versions"
    awk -v version="$version" '
        function number(text,    part) {
            split(text, part, ".")
            return part[1] * 1000 + part[2]
        }
        FNR == 1 { file++ }
        file == 1 && /^# released: / { released = $3; names = $4 }
        file == 2 { old += number($1) <= number(released) }
        file == 2 && number($1) > number(version) { later = $1 }
        END {
            if (old != names)
                print released " is released, with " names " names, not " old \
                    ": set the next version in the header and the list"
            if (later != "")
                print "set TW_VERSION_MINOR in timingwheel.h for " later
        }' "$list" "$build/versions"
    sed -n '/^\/\* -* functions -*$/,/\*\//p' timingwheel.h |
        tr -c 'a-z_' '\n' | grep '^tw_' | sort >"$build/grouped"
    changes=$(sed -n '/^\/\* CHANGES/,$p' timingwheel.h)
    cat test/contract/*.[ch]* test/search/*.[ch]* test/threads/*.c |
        sed 's/\/\*.*\*\///; /\/\*/,/\*\//d' >"$build/tests"
    grep -v typedef "$build/versions" |
        sed -n 's/^\([0-9.]*\) .*[ *]\(tw_[a-z_]*\)(.*/\1 \2/p' |
        while read -r since name; do
            [ "$(grep -cx "$name" "$build/grouped")" = 1 ] || echo \
                "$name: have it once in the list of functions in timingwheel.h"
            grep -q "[^a-z_]$name(" "$build/tests" ||
                echo "$name: no test calls it: write a case in test/contract"
            case $since-$changes in
            2.0-* | *"$name"*) ;;
            *) echo "$name: add a line to CHANGES in timingwheel.h" ;;
            esac
        done
}

# The version stands in six places. Prints those with another version.
other_versions() {
    number=$(echo "$version" | awk -F. '{ print $1 * 10000 + $2 * 100 + $3 }')
    for place in "^/. timingwheel.h - v$version - " \
        "defined(TIMINGWHEEL_H) && TIMINGWHEEL_H + 0 != $number\$" \
        "^#define TIMINGWHEEL_H $number\$" \
        "^#define TWI_VERSION timingwheel_h_$(echo "$version" | tr . _)\$" \
        "^   $version  20[0-9-]*  "; do
        grep -q "$place" timingwheel.h || echo "timingwheel.h lacks: $place"
    done
}

expect_nothing 'the interface is as listed, and each function has its places' \
    incomplete_interface
expect_nothing 'the version is the same in six places' other_versions
tap_end
