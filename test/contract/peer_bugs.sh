#!/bin/sh
# peer_bugs.sh - checks that each case in peer_bugs.tsv exists. Prints TAP. Run
# from the top of the repository: test/contract/peer_bugs.sh
#
# SPDX-License-Identifier: MIT
set -u
. test/lib/tap.sh

missing=$(grep -v '^#' test/contract/peer_bugs.tsv |
    while IFS="$(printf '\t')" read -r row _ _ pinned; do
        grep -sqF -- "${pinned#*: }" "test/contract/${pinned%%: *}" ||
            echo "# $row: no case $pinned"
    done)
if [ -z "$missing" ]; then
    pass 'each bug of another library has its case'
else
    printf '%s\n' "$missing"
    fail 'each bug of another library has its case'
fi
tap_end
