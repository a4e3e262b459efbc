#!/bin/sh
# SPDX-License-Identifier: MIT
#
# insert.sh FILE RESULTS - writes parts of the report of RESULTS into FILE,
# between the lines `<!-- begin NAME -->` and `<!-- end NAME -->`. The names are
# those of report.awk. Run from bench/.
set -eu

file=$1 results=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
machine=$(cat "$results/machine.txt")

sed -n 's/^<!-- begin \(.*\) -->$/\1/p' "$file" >"$work/names"
while read -r name; do
    awk -v machine="$machine" -v only="$name" -f report.awk \
        "$results/cells.tsv" >"$work/$name"
done <"$work/names"
awk -v work="$work" '
    /^<!-- end / { skip = 0 }
    !skip { print }
    /^<!-- begin / {
        skip = 1
        path = work "/" $3
        while ((getline line < path) > 0)
            print line
    }' "$file" >"$work/new"
cat "$work/new" >"$file"
