#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libraries.sh - prints what the compiler must be told of the libraries that the
# bench compares, on one line: how to link those that $CC $CFLAGS can link here,
# and that the others are to be done without.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try NAME HEADER PACKAGE FLAGS: pkg-config knows the flags, or those given are
# tried.
try() {
    flags=$(pkg-config --cflags --libs "$3" 2>/dev/null) || flags=$4
    printf '#include <%s>\nint main(void)\n{\n    return 0;\n}\n' "$2" \
        >"$work/try.c"
    # shellcheck disable=SC2086 # flags are words
    if ${CC:-cc} ${CFLAGS:-} -o "$work/try" "$work/try.c" $flags \
        >"$work/log" 2>&1; then
        echo "$flags"
    else
        echo "-DBENCH_WITHOUT_$1"
    fi
}

# libevent first: libev has functions of the same names, to stand in for it.
{
    try LIBEVENT event2/event.h libevent_core -levent_core
    try LIBEV ev.h libev -lev
    try LIBUV uv.h libuv -luv
    try GLIB glib.h glib-2.0 -lglib-2.0
} | tr '\n' ' '
echo
