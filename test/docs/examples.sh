#!/bin/sh
# examples.sh - compiles and runs every example of README.md and of the manual
# at the top of timingwheel.h, and looks for the target of every link in the
# README files and in CONTRIBUTING. A reader can copy each example and follow
# each link. Also runs the demo for two seconds. Prints TAP. CC and CFLAGS
# choose the compiler. Run from the top of the repository:
#
#     test/docs/examples.sh
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

# Writes each example to a file: NAME.c, if it has an `int main`, or NAME.inc.
extract() {
    awk -v folder="$build" '
        /^```c( [a-z_]+)?$/ {
            name = $2 != "" ? $2 : "readme_" ++number
            indent = 0
            next
        }
        / example: [a-z_]+$/ {
            name = $NF
            match($0, /^ */)
            indent = RLENGTH + 4
            next
        }
        /^```/ || (/[^ ]/ && match($0, /^ */) && RLENGTH < indent) { name = "" }
        name != "" { print substr($0, indent + 1) >(folder "/" name ".inc") }
    ' README.md timingwheel.h
    grep -l 'int main' "$build"/*.inc | while read -r example; do
        mv "$example" "${example%.inc}.c"
    done
}

# compile FILE: a wrong argument is an error.
compile() {
    strict=
    [ "${1%.c}" = "$1" ] || strict=-Werror=incompatible-pointer-types # no C++
    # shellcheck disable=SC2086
    test/lib/compile.sh "$build/$(basename "${1%.*}")" "$1" "${CC:-cc}" \
        ${CFLAGS:--O2 -Wall -Wextra} $strict -I. -I"$build"
}

# runs FILE: the program ends well. An example prints what its comments say.
runs() {
    program=$build/$(basename "${1%.*}")
    ${limit:-} "$program" >"$program.printed" || {
        cat "$program.printed"
        return 1
    }
    ! [ "$1" = "$program.c" ] ||
        sed -n 's|.*// prints "\(.*\)"$|\1|p' "$1" | diff - "$program.printed"
}

# not_included: the fragments that no file here includes.
not_included() {
    for fragment in "$build"/*.inc; do
        grep -qF "#include \"${fragment##*/}\"" test/docs/*.c ||
            echo "$fragment"
    done
}

# broken_links FILE...: prints each link and image that leads nowhere, except
# web addresses. Code and comments have no links.
broken_links() {
    awk '
        FNR == 1 { folder = FILENAME; sub(/[^\/]*$/, "", folder) }
        /^```/ { code = !code }
        /^<!--/ { comment = 1 }
        /-->$/ { comment = 0 }
        code || comment || /^    / { next }
        /^#+ / { # the anchor of a heading, made as GitHub makes anchors
            anchor = tolower($0)
            sub(/^#+ /, "", anchor)
            gsub(/[^a-z0-9 _-]/, "", anchor)
            gsub(/ /, "-", anchor)
            anchors[FILENAME "#" anchor]
        }
        {
            gsub(/`[^`]*`/, "")
            while (match($0, /\]\([^)]*\)/)) {
                link = substr($0, RSTART + 2, RLENGTH - 3)
                $0 = substr($0, RSTART + RLENGTH)
                target = (link ~ /^#/ ? FILENAME : folder) link
                while (sub(/[^\/]+\/\.\.\//, "", target))
                    ;
                if (link !~ /^https?:/)
                    targets[FILENAME ": " link] = target
            }
        }
        END {
            for (link in targets) {
                file = target = targets[link]
                sub(/#.*/, "", file)
                if (system("test -e \"" file "\"") != 0)
                    print link ": no such file"
                else if (target ~ /#/ && !(target in anchors))
                    print link ": no such heading"
            }
        }
    ' "$@"
}

! have timeout || limit='timeout 20'
extract
# shellcheck disable=SC2046
expect_nothing 'every link leads to a file' broken_links README.md \
    .github/CONTRIBUTING.md $(find test bench -name README.md)
expect_nothing 'every fragment is compiled' not_included
expect 'README.md and the manual have examples' \
    test -f "$build/readme_1.c" -a -f "$build/synopsis.c"
echo '#include "../../test/docs/fragments.c"' >"$build/fragments_in_cpp.cpp"
for example in "$build"/*.c "$build"/*.cpp test/docs/*.c; do
    name=$(basename "${example%.*}")
    expect "$name compiles" compile "$example"
    ! [ -f "$build/$name" ] || expect "$name runs" runs "$example"
done
if echo '#include <sys/epoll.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
    expect 'demo, two seconds: no timer is early or lost' "${MAKE:-make}" -s \
        BUILD="$build" CC="${CC:-cc}" CFLAGS="${CFLAGS:--O2}" demo \
        DEMO_OPTIONS='--connections 200 --seconds 2'
fi
tap_end
