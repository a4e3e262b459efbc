#!/bin/sh
# SPDX-License-Identifier: MIT
#
# engines.sh - prints the engines that can be built here, and the flags of their
# libraries, on one line for the compiler. Run from the top of the repository.
#
# An engine that needs a library has two lines in its first comment:
#
#      * needs HEADER PACKAGE FLAGS
#      * from COMMAND
#
# pkg-config may know the flags of PACKAGE (- if there is no such package);
# otherwise FLAGS count. If a program with HEADER cannot be compiled and linked,
# the engine is left out, with a note on stderr that names COMMAND.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# line KEYWORD FILE: the rest of this line in the first comment of FILE.
line() {
    sed -n -e "s/^ \* $1 //p" -e '/^ \*\//q' "$2"
}

# links HEADER FLAGS: a program with HEADER compiles and links.
links() {
    printf '#include <%s>\nint main(void)\n{\n    return 0;\n}\n' "$1" \
        >"$work/try.c"
    # shellcheck disable=SC2086 # flags are words
    ${CC:-cc} ${CFLAGS:-} -o "$work/try" "$work/try.c" $2 >"$work/log" 2>&1
}

# try FILE HEADER PACKAGE FLAGS...: prints file and flags, or leaves a note.
try() {
    file=$1 header=$2 package=$3
    shift 3
    flags=$(pkg-config --cflags --libs "$package" 2>/dev/null) || flags=$*
    name=$(basename "$file" .c)
    if links "$header" "$flags"; then
        echo "$file $flags"
    else
        echo "bench: $name is left out; to have it: $(line from "$file")" >&2
    fi
}

for file in bench/engines/*.c; do
    needs=$(line needs "$file")
    if [ -z "$needs" ]; then
        echo "$file"
    else
        # shellcheck disable=SC2086 # header, package and flags are words
        try "$file" $needs
    fi
done | tr '\n' ' '
echo
