#!/bin/sh
# examples.sh - compiles and runs every example of README.md and of the manual
# at the top of timingwheel.h, and looks for the target of every link in the
# README files and in CONTRIBUTING. A reader can copy each example and follow
# each link. Also runs the demo for two seconds. Prints TAP. CC and CFLAGS
# choose the compiler.
#
# test/docs tests what the documents show. Beside this script, install.sh tests
# the ways to install. fragments.c has the examples that are no programs.
#
# These are examples:
#
#   README.md      every block fenced by ```c or ```c NAME
#   timingwheel.h  after a line that ends with `example: NAME`, the lines
#                  indented by four more spaces, up to the next line with less
#
# An example with `int main` is a program: the script builds and runs it, and
# the program must return 0 and print what is in a comment `// prints "..."`.
# Lines without `int main` are written to NAME.inc, which a file here includes.
#
# SPDX-License-Identifier: MIT
set -u

build=.build/examples
. test/lib/tap.sh
rm -rf "$build"
mkdir -p "$build"

# Writes the examples of README.md.
extract_readme() {
    awk -v folder="$build" '
        /^```c( [a-z_]+)?$/ {
            name = folder "/" ($2 != "" ? $2 ".inc" : "readme-" ++number ".c")
            inside = 1
            next
        }
        /^```/ { inside = 0 }
        inside { print >name }
    ' README.md
}

# The same for the header. What has no `int main` becomes NAME.inc.
extract_header() {
    awk -v folder="$build" '
        /^ .* example: [a-z_]+$/ {
            name = $NF
            match($0, /^ */)
            indent = RLENGTH + 4
            blank = ""
            inside = 1
            next
        }
        !inside { next }
        /^ *$/ { blank = blank "\n"; next }
        {
            match($0, /^ */)
            if (RLENGTH < indent) { inside = 0; next }
            printf "%s%s\n", blank, substr($0, indent + 1) \
                >(folder "/" name ".lines")
            blank = ""
        }
    ' timingwheel.h
    for lines in "$build"/*.lines; do
        if grep -q 'int main' "$lines"; then
            mv "$lines" "${lines%.lines}.c"
        else
            mv "$lines" "${lines%.lines}.inc"
        fi
    done
}

# expected FILE: what the comments of a program say that it prints.
expected() {
    sed -n 's|.*// prints "\(.*\)"$|\1|p' "$1"
}

# compile FILE: a wrong argument is an error.
compile() {
    strict=
    [ "${1%.c}" = "$1" ] || strict=-Werror=incompatible-pointer-types # no C++
    # shellcheck disable=SC2086
    test/lib/compile.sh "$build/$(basename "${1%.*}")" "$1" "${CC:-cc}" \
        ${CFLAGS:--O2 -Wall -Wextra} $strict -I. -I"$build"
}

# runs NAME: the program ends well, and prints what is expected.
runs() {
    program=$build/$1
    ${limit:-} "$program" >"$program.printed" || {
        cat "$program.printed"
        return 1
    }
    ! [ -f "$program.expected" ] ||
        diff "$program.expected" "$program.printed"
}

# not_included: the fragments that no file here includes.
not_included() {
    for fragment in "$build"/*.inc; do
        grep -qF "#include \"${fragment##*/}\"" test/docs/*.c ||
            echo "$fragment"
    done
}

# ------------------------------------------------------------------- links ---

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
    links "$1" | while read -r link; do
        target=$1
        case $link in
        \#*) ;;
        *) target=$(dirname "$1")/${link%%#*} ;;
        esac
        if ! [ -e "$target" ]; then
            echo "$1: $link: no such file"
        elif [ "${link#*#}" != "$link" ] &&
            ! headings "$target" | grep -qxF -e "${link#*#}"; then
            echo "$1: $link: no such heading"
        fi
    done
}

all_broken_links() {
    for file in README.md .github/CONTRIBUTING.md \
        $(find test bench -name README.md); do
        broken_links "$file"
    done
}

# ---------------------------------------------------------------- pictures ---

# A browser runs no script and fetches nothing for an image.
more_than_pictures() {
    grep -nE "<script|(href|src)=['\"][^#]|url\\(|@import" test/docs/*.svg
    find test/docs -name '*.svg' -size +60k
}

! have timeout || limit='timeout 20'
extract_readme
extract_header
expect_nothing 'every link leads to a file' all_broken_links
expect_nothing 'every fragment is compiled' not_included
expect_nothing 'pictures are small, and need nothing' more_than_pictures
expect 'README.md and the manual have examples' \
    test -f "$build/readme-1.c" -a -f "$build/synopsis.c"
for example in "$build"/readme-1.c "$build"/synopsis.c; do
    expected "$example" >"${example%.c}.expected"
done
echo '#include "../../test/docs/fragments.c"' >"$build/fragments_in_cpp.cpp"
for example in "$build"/*.c "$build"/*.cpp test/docs/*.c; do
    name=$(basename "${example%.*}")
    expect "$name compiles" compile "$example"
    ! [ -f "$build/$name" ] || expect "$name runs" runs "$name"
done
if echo '#include <sys/epoll.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
    expect 'demo, two seconds: no timer is early or lost' "${MAKE:-make}" -s \
        BUILD="$build" CC="${CC:-cc}" CFLAGS="${CFLAGS:--O2}" demo \
        DEMO_OPTIONS='--connections 200 --seconds 2'
fi
tap_end
