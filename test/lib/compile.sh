#!/bin/sh
# compile.sh - compiles a test program in the language of its file: C99 like the
# library, C11 if the program has threads, and C++11. The C++ compiler is the
# one that belongs to COMPILER: g++ to gcc, clang++ to clang. Without the C++
# compiler, OUTPUT becomes a script that skips the program with a warning.
#
#     test/lib/compile.sh OUTPUT SOURCE COMPILER [FLAG...]
#
# SPDX-License-Identifier: MIT
set -eu
output=$1 source=$2 compiler=$3
shift 3
rm -f "$output" # an old program must not pass in place of this one
case $source in
*.cpp)
    standard=c++11
    # COMPILER may hold options too. Not every sed knows \b.
    compiler=$(echo "$compiler" | sed -E -e 's/clang/&++/;t' \
        -e 's/gcc/g++/;t' -e 's/(^|[^a-z])cc($|[^a-z])/\1c++\2/')
    if ! command -v "${compiler%% *}" >/dev/null; then
        printf '%s\n' '#!/bin/sh' '. test/lib/tap.sh' \
            "skip '$source' '$compiler is missing'" tap_end >"$output"
        chmod +x "$output"
        exit
    fi
    ;;
*)
    standard='c99'
    ! grep -q 'define TIMINGWHEEL_THREADS' "$source" || standard=c11
    ;;
esac
# shellcheck disable=SC2086
exec $compiler -std=$standard "$@" -MMD -MP -MF "$output.d" -MT "$output" \
    -o "$output" "$source" -pthread
