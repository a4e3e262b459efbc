#!/bin/sh
# coverage.sh - how much of timingwheel.h the tests reach: lines, regions,
# branches and MC/DC conditions, measured by clang-19. Prints TAP, and after it
# as comments what is not covered. Run from the top of the repository.
#
#     test/coverage/coverage.sh
#
# Every test program has the header's functions to itself. A region or branch
# counts if any of them reaches it; a condition if one of them alone shows that
# it decides, so the MC/DC figure is a lower bound.
#
# SPDX-License-Identifier: MIT
set -u

# Below these percentages it fails.
least=100

# Lines of test code to one of the header, comments and blank lines apart.
least_ratio=5

build=.build/coverage
programs=$(test/lib/programs.sh) || exit 2
programs="$programs test/targets/trace.c"

rm -rf "$build"
mkdir -p "$build"
. test/lib/tap.sh

for tool in clang-19 llvm-profdata-19 llvm-cov-19 python3; do
    if ! have "$tool"; then
        skip 'coverage of timingwheel.h' "$tool is missing"
        tap_end
        exit
    fi
done

# ------------------------------------------------------------- the tests ---

measuring='-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc'

# Fewer operations and states: more of them reach nothing more.
options_of() {
    case $1 in
    random) echo --operations 300000 ;;
    exhaustive | states) echo --quick ;;
    trace) echo 100000 ;;
    esac
}

# run_one SOURCE: builds and runs it; whether it passed is left in NAME.status.
run_one() {
    test=$(basename "$1" .c)
    # shellcheck disable=SC2046,SC2086
    clang-19 -std="$(test/lib/standard.sh "$1")" -O1 -w $measuring \
        -o "$build/$test" "$1" >"$build/$test.out" 2>&1 &&
        LLVM_PROFILE_FILE=$build/$test.profraw "$build/$test" \
            $(options_of "$test") >"$build/$test.out" 2>&1
    echo $? >"$build/$test.status"
}

passed() {
    [ "$(cat "$build/$1.status")" = 0 ] ||
        { grep '^not ok' "$build/$1.out" || tail -n 20 "$build/$1.out"; false; }
}

objects=
for source in $programs; do
    run_one "$source" &
    objects="$objects -object $build/$(basename "$source" .c)"
    pending="${pending:-} $source"
    # As many at a time as there are processors on a small machine.
    case $pending in *\ *\ *) wait && pending= ;; esac
done
wait
for source in $programs; do
    test=$(basename "$source" .c)
    expect "$test passes" passed "$test"
done

# --------------------------------------------------------------- figures ---

# What clang cannot measure it warns of, and leaves out.
unmeasured() {
    for debug in -UTW_DEBUG -DTW_DEBUG; do
        # shellcheck disable=SC2086
        clang-19 -std=c11 $measuring $debug -DTIMINGWHEEL_IMPLEMENTATION \
            -DTIMINGWHEEL_THREADS -x c -c \
            -o "$build/header.o" timingwheel.h
    done
}
expect_nothing 'every decision can be measured' unmeasured

merge() {
    # shellcheck disable=SC2086
    llvm-profdata-19 merge -sparse "$build"/*.profraw \
        -o "$build/profile" &&
        llvm-cov-19 export $objects -instr-profile="$build/profile" \
            >"$build/coverage.json"
}
expect 'the measurements can be merged' merge

# Prints `percent KIND PERCENT COVERED ALL` a kind, and a line for each gap.
cat >"$build/report.py" <<'EOF'
import json, re, sys

header = open('timingwheel.h').read().split('\n')
code, branches, conditions = {}, {}, {}

def text(at):
    first, begin, last, end = at
    if first == last:
        return header[first - 1][begin - 1:end - 1].strip()
    lines = [header[first - 1][begin - 1:]] + header[first:last - 1]
    return ' '.join(s.strip() for s in lines + [header[last - 1][:end - 1]])

# The conditions of a decision, as text, in the order of their evaluation.
def parts(at):
    return [s.strip() for s in re.split(r'&&|\|\|', text(at))]

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
        if files[record[4]] and files[0]:
            at = tuple(record[:4])
            was = conditions.get(at, [False] * len(record[-1]))
            conditions[at] = [a or b for a, b in zip(was, record[-1])]

gaps = []
wanted = []
for at, shown in conditions.items():
    names = parts(at)
    if len(names) != len(shown):
        gaps.append((at[0], 'cannot tell the conditions of: ' + text(at)))
        names = [text(at)] * len(shown)
    for name, done in zip(names, shown):
        wanted.append(done)
        if not done:
            gaps.append((at[0], 'does not decide: %s in: %s'
                         % (name, text(at))))

# A line counts as what the innermost region that holds its first character is.
lines = {}
for at in sorted(code, key=lambda at: (at[0], at[1], -at[2], -at[3])):
    for number in range(at[0], at[2] + 1):
        source = header[number - 1]
        first = len(source) - len(source.lstrip()) + 1
        if number > at[0] or at[1] <= first or number not in lines:
            if (number, first) <= (at[2], at[3]) and source.strip():
                lines[number] = code[at]

gaps += [(n, 'line') for n, hits in lines.items() if hits == 0]
gaps += [(at[0], 'region: ' + text(at)) for at in code if code[at] == 0]
for at, hits in branches.items():
    for side, count in zip(('true', 'false'), hits):
        if count == 0:
            gaps.append((at[0], 'branch never %s: %s' % (side, text(at))))

def report(kind, covered, total):
    print('percent', kind, '%.2f' % (100 * covered / total), covered, total)

report('lines', sum(h > 0 for h in lines.values()), len(lines))
report('regions', sum(h > 0 for h in code.values()), len(code))
report('branches', sum((a > 0) + (b > 0) for a, b in branches.values()),
       2 * len(branches))
report('mcdc', sum(wanted), len(wanted))
for number, what in sorted(gaps):
    print('# timingwheel.h:%d: %s' % (number, what))
EOF

python3 "$build/report.py" "$build/coverage.json" >"$build/report"

# reaches KIND: the case of one percentage.
reaches() {
    reached=$(awk -v kind="$1" '$2 == kind { print $3 }' "$build/report")
    counts=$(awk -v kind="$1" '$2 == kind { print $4 " of " $5 }' \
        "$build/report")
    expect "$1: ${reached:-none} % ($counts), at least $least %" \
        awk "BEGIN { exit !(${reached:-0} >= $least) }"
}

reaches lines
reaches regions
reaches branches
reaches mcdc

# ----------------------------------------------------------------- ratio ---

# lines_of_code FILE...: without comments and blank lines.
lines_of_code() {
    python3 - "$@" <<'EOF'
import re, sys

token = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//[^\n]*|/\*.*?\*/',
                   re.S)

def strip(match):
    return match[0] if match[0][0] in '"\'' else re.sub('[^\n]', '', match[0])

print(sum(bool(line.strip()) for name in sys.argv[1:]
          for line in token.sub(strip, open(name).read()).split('\n')))
EOF
}

header_lines=$(lines_of_code timingwheel.h)
# shellcheck disable=SC2046
test_lines=$(lines_of_code $(find test -name '*.[ch]'))
ratio=$(awk "BEGIN { printf \"%.1f\", $test_lines / $header_lines }")
expect "$ratio lines of test code to one of the header\
 ($test_lines to $header_lines), at least $least_ratio" \
    awk "BEGIN { exit !($ratio >= $least_ratio) }"

grep '^#' "$build/report"
tap_end
