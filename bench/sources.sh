#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sources.sh - fetches timeout.c for the engine of this name: unpacks Debian's
# source package of tor, and keeps src/ext/timeouts in .build/bench/sources. Run
# from the top of the repository. Fails, with a note, if the package cannot be
# had; the bench then leaves the engine out.
set -u

folder=.build/bench
[ ! -e $folder/sources/ext/timeouts/timeout.c ] || exit 0
mkdir -p $folder
[ -n "${OFFLINE:-}" ] ||
    echo "bench: fetches 21 MB for timeout.c, once: Debian's list of source" \
        "packages, and that of tor; OFFLINE=1 refuses that" >&2
if ! test/hosts/get-sources.sh $folder/tor tor >$folder/sources.log 2>&1 ||
    ! [ -e "$(echo $folder/tor/tor-*/src/ext/timeouts/timeout.c)" ]; then
    echo "bench: no source package of tor, see $folder/sources.log" >&2
    rm -rf $folder/tor
    exit 1
fi
mkdir -p $folder/sources/ext
cp $folder/tor/tor-*/src/ext/tor_queue.h $folder/sources/ext
cp -r $folder/tor/tor-*/src/ext/timeouts $folder/sources/ext
rm -rf $folder/tor
