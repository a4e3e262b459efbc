#!/usr/bin/env python3
"""report.py - how much of timingwheel.h was reached, from what llvm-cov-19
exports.

    test/coverage/report.py FILE

Prints `percent KIND PERCENT COVERED ALL` for lines, regions, branches and MC/DC
conditions, and a comment for each gap, with its line in the header. A place is
a tuple: first line, first column, last line, last column.

SPDX-License-Identifier: MIT
"""
import json
import re
import sys

header = open('timingwheel.h').read().split('\n')


def text(place):
    first, begin, last, end = place
    if first == last:
        return header[first - 1][begin - 1:end - 1].strip()
    lines = [header[first - 1][begin - 1:]] + header[first:last - 1]
    return ' '.join(s.strip() for s in lines + [header[last - 1][:end - 1]])


def parts(place):
    """The conditions of a decision, in the order of their evaluation."""
    return [s.strip() for s in re.split(r'&&|\|\|', text(place))]


def read(functions):
    """Sums up the regions, branches and conditions of all copies of the header:
    every test program has one. A copy that never ran says nothing if another
    copy ran: its macros may differ. A macro of another file, such as assert,
    leaves branches without width, and decisions that hold no branch of the
    header. A decision that is the argument of a macro, as of TWI_RULE, has the
    place of its parameter, and each use has other conditions: it is left out."""
    regions, branches, conditions = {}, {}, {}
    begins = [tuple(f['regions'][0][:2]) for f in functions]
    run = {begin for begin, f in zip(begins, functions) if f['count']}
    for begin, function in zip(begins, functions):
        if function['count'] == 0 and begin in run:
            continue
        files = [name.endswith('/timingwheel.h')
                 for name in function['filenames']]
        for region in function['regions']:
            if files[region[5]] and region[7] == 0:
                place = tuple(region[:4])
                regions[place] = regions.get(place, 0) + region[4]
        own = []
        for branch in function['branches']:
            place = tuple(branch[:4])
            if files[branch[6]] and place[:2] != place[2:]:
                own.append(place)
                true, false = branches.get(place, (0, 0))
                branches[place] = (true + branch[4], false + branch[5])
        for record in function['mcdc_records']:
            place = tuple(record[:4])
            if text(place) != 'expr' and any(
                    place[:2] <= b[:2] and b[2:] <= place[2:] for b in own):
                shown = conditions.get(place, [False] * len(record[-1]))
                conditions[place] = [a or b for a, b in zip(shown, record[-1])]
    return regions, branches, conditions


def lines_of(regions):
    """A line was reached as often as the innermost region that holds its first
    character."""
    lines = {}
    for place in sorted(regions, key=lambda p: (p[0], p[1], -p[2], -p[3])):
        for number in range(place[0], place[2] + 1):
            source = header[number - 1]
            first = len(source) - len(source.lstrip()) + 1
            if number > place[0] or place[1] <= first or number not in lines:
                if (number, first) <= (place[2], place[3]) and source.strip():
                    lines[number] = regions[place]
    return lines


def condition_gaps(conditions):
    for place, shown in conditions.items():
        names = parts(place)
        if len(names) != len(shown):
            yield place[0], 'cannot tell the conditions of: ' + text(place)
            names = [text(place)] * len(shown)
        for name, done in zip(names, shown):
            if not done:
                yield place[0], ('does not decide: %s in: %s'
                                 % (name, text(place)))


def branch_gaps(branches):
    for place, hits in branches.items():
        for side, count in zip(('true', 'false'), hits):
            if count == 0:
                yield place[0], 'branch never %s: %s' % (side, text(place))


def report(kind, reached):
    covered, total = sum(reached), len(reached)
    print('percent', kind, '%.2f' % (100 * covered / total), covered, total)


def main():
    data = json.load(open(sys.argv[1]))['data'][0]
    regions, branches, conditions = read(data['functions'])
    lines = lines_of(regions)
    report('lines', [hits > 0 for hits in lines.values()])
    report('regions', [hits > 0 for hits in regions.values()])
    report('branches', [hits > 0 for sides in branches.values()
                        for hits in sides])
    report('mcdc', [done for shown in conditions.values() for done in shown])
    gaps = [(number, 'line') for number, hits in lines.items() if hits == 0]
    gaps += [(place[0], 'region: ' + text(place))
             for place, hits in regions.items() if hits == 0]
    gaps += [*branch_gaps(branches), *condition_gaps(conditions)]
    for number, what in sorted(gaps):
        print('# timingwheel.h:%d: %s' % (number, what))


main()
