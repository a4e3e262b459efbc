#!/bin/sh
# coverage.sh - how much of timingwheel.h the tests reach: lines, regions,
# branches and MC/DC conditions, measured by clang-19. Prints TAP, and after it
# as comments what is not covered. Run from the top of the repository.
#
#     test/coverage.sh
#
# Every test program has the header's functions to itself. A region or branch
# counts if any of them reaches it; a condition if one of them alone shows that
# it decides, so the MC/DC figure is a lower bound.
#
# SPDX-License-Identifier: MIT
set -u

# Below these percentages it fails; they only ever rise.
least_lines=99
least_regions=98
least_branches=94
least_mcdc=77

build=.build/coverage
tests='promises memory model exhaustive peer_bugs_early_late
       peer_bugs_structure peer_bugs_callbacks misuse'

rm -rf "$build"
mkdir -p "$build"
. test/tap.sh

for tool in clang-19 llvm-profdata-19 llvm-cov-19 python3; do
    if ! have "$tool"; then
        skip 'coverage of timingwheel.h' "$tool is missing"
        tap_end
        exit
    fi
done

# Builds and runs one test program; coverage needs no long runs.
measure() {
    options=
    case $1 in
    model) options='--operations 1000000' ;;
    exhaustive) options=--quick ;;
    esac
    # shellcheck disable=SC2086
    clang-19 -std=c99 -O1 -g -w -fprofile-instr-generate -fcoverage-mapping \
        -fcoverage-mcdc -o "$build/$1" "test/$1.c" &&
        LLVM_PROFILE_FILE=$build/$1.profraw "$build/$1" $options
}

objects=
for test in $tests; do
    expect "$test passes when it is measured" measure "$test"
    objects="$objects -object $build/$test"
done

merge() {
    llvm-profdata-19 merge -sparse "$build"/*.profraw -o "$build/profile" &&
        llvm-cov-19 export $objects -instr-profile="$build/profile" \
            >"$build/coverage.json"
}
expect 'the measurements can be merged' merge

# Prints `percent KIND PERCENT COVERED ALL` a kind, and a line for each gap.
cat >"$build/merge.py" <<'EOF'
import json, sys

header = open('timingwheel.h').read().split('\n')
code, branches, conditions = {}, {}, {}

def text(at):
    first, begin, last, end = at
    line = header[first - 1]
    return line[begin - 1:end - 1 if first == last else None].strip()

for function in json.load(open(sys.argv[1]))['data'][0]['functions']:
    files = [name.endswith('/timingwheel.h') for name in function['filenames']]
    for region in function['regions']:
        if files[region[5]] and region[7] == 0:
            at = tuple(region[:4])
            code[at] = code.get(at, 0) + region[4]
    for branch in function['branches']:
        if files[branch[6]]:
            at = tuple(branch[:4])
            was = branches.get(at, (0, 0))
            branches[at] = (was[0] + branch[4], was[1] + branch[5])
    for record in function['mcdc_records']:
        if files[record[4]]:
            at = tuple(record[:4])
            was = conditions.get(at, [False] * len(record[-1]))
            conditions[at] = [a or b for a, b in zip(was, record[-1])]

# The sentence of an assertion is no condition.
branches = {at: hits for at, hits in branches.items()
            if not text(at).startswith('"') and text(at) != 'sentence'}
conditions = {at: shown for at, shown in conditions.items()
              if not header[at[0] - 1].startswith('#define TWI_RULE')}

# A line counts as what the innermost region that holds its first character is.
lines = {}
for at in sorted(code, key=lambda at: (at[0], at[1], -at[2], -at[3])):
    for number in range(at[0], at[2] + 1):
        source = header[number - 1]
        first = len(source) - len(source.lstrip()) + 1
        if number > at[0] or at[1] <= first or number not in lines:
            if (number, first) <= (at[2], at[3]) and source.strip():
                lines[number] = code[at]

def report(kind, covered, total):
    print('percent', kind, '%.2f' % (100 * covered / total), covered, total)

gaps = []
gaps += [(n, 'line') for n, hits in lines.items() if hits == 0]
gaps += [(at[0], 'region: ' + text(at)) for at in code if code[at] == 0]
for at, hits in branches.items():
    for side, count in zip(('true', 'false'), hits):
        if count == 0:
            gaps.append((at[0], 'branch never %s: %s' % (side, text(at))))
for at, shown in conditions.items():
    for i, done in enumerate(shown):
        if not done:
            gaps.append((at[0], 'condition %d of: %s' % (i + 1, text(at))))

report('lines', sum(h > 0 for h in lines.values()), len(lines))
report('regions', sum(h > 0 for h in code.values()), len(code))
report('branches', sum((a > 0) + (b > 0) for a, b in branches.values()),
       2 * len(branches))
report('mcdc', sum(map(sum, conditions.values())),
       sum(map(len, conditions.values())))
for number, what in sorted(gaps):
    print('# timingwheel.h:%d: %s' % (number, what))
EOF

python3 "$build/merge.py" "$build/coverage.json" >"$build/report"

# at_least KIND LEAST: the case of one percentage.
at_least() {
    reached=$(awk -v kind="$1" '$2 == kind { print $3 }' "$build/report")
    counts=$(awk -v kind="$1" '$2 == kind { print $4 " of " $5 }' \
        "$build/report")
    expect "$1: ${reached:-none} % ($counts), at least $2 %" \
        awk "BEGIN { exit !(${reached:-0} >= $2) }"
}

at_least lines "$least_lines"
at_least regions "$least_regions"
at_least branches "$least_branches"
at_least mcdc "$least_mcdc"
grep '^#' "$build/report"
tap_end
