#!/bin/sh
# recipes.sh - takes each recipe home, as a user does, and judges what it does:
# judge/judge.py says how. Prints TAP; run from the top of the repository:
#
#     test/recipes/recipes.sh [NAME...]
#
# A new recipe is a file here, a line in the table of judge.py, and an entry in
# the README. A recipe without its library is skipped. windows.c runs under
# wine, browser.c under node, superloop.c on an emulated Cortex-M3, and kqueue.c
# on judge/sys/event.h.
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh
build=.build/recipes
rm -rf "$build"
mkdir -p "$build"

# Debian's PATH lacks wine64. A new wine prefix takes 700 MB: it is deleted at
# the end. Debian's emcc needs NODE_PATH.
PATH=$PATH:/usr/lib/wine
WINEDEBUG=-all WINEPREFIX=$PWD/$build/wine NODE_PATH=/usr/share/nodejs
export WINEDEBUG WINEPREFIX NODE_PATH

if ! have python3; then
    skip 'every recipe' 'python3 is missing'
    tap_end
    exit
fi
case " $* " in '  ' | *' windows '*)
    ! have wine64 || wine64 wineboot -i >"$build/wineboot" 2>&1
    ;;
esac
python3 -B test/recipes/judge/judge.py "$@"
status=$?
if have wineserver64; then
    wineserver64 -k
    rm -rf "$WINEPREFIX"
fi
exit $status
