#!/usr/bin/env python3
"""gaps.py - how much of timingwheel.h was reached, from what llvm-cov-19
exports.

    test/coverage/gaps.py FILE

Prints each gap with its line in the header, and how many regions, branches and
MC/DC conditions are reached. Fails if there is a gap. If all regions are
reached, all lines are. A place is a tuple: first line, first column, last line,
last column. The report of llvm-cov itself counts every copy of a macro, and a
copy that another program leaves out.

SPDX-License-Identifier: MIT
"""
import json
import re
import sys

header = open('timingwheel.h').read().split('\n')

RULE = re.compile('!?TWI_(DEBUGGING|PRINTING)')


def text(place):
    first, begin, last, end = place
    if first == last:
        return header[first - 1][begin - 1:end - 1].strip()
    lines = [header[first - 1][begin - 1:]] + header[first:last - 1]
    return ' '.join(s.strip() for s in lines + [header[last - 1][:end - 1]])


def read(functions):
    """Returns for each (place, kind, fault) whether a copy of the header is
    free of the fault. Every test program has a copy. A copy that never ran says
    nothing if another copy ran: its macros may differ. A macro of another file,
    such as assert, leaves branches without width, and decisions that hold no
    branch of the header. A decision that begins with TWI_DEBUGGING or
    TWI_PRINTING, which are 0 or 1 in each copy, is left out, and so is what
    stands for a rule without TW_DEBUG."""
    reached = {}

    def add(place, kind, fault, hits):
        key = place, kind, fault
        reached[key] = reached.get(key, False) or hits > 0

    begins = [tuple(f['regions'][0][:2]) for f in functions]
    run = {begin for begin, f in zip(begins, functions) if f['count']}
    for begin, function in zip(begins, functions):
        if function['count'] == 0 and begin in run:
            continue
        files = [name.endswith('/timingwheel.h')
                 for name in function['filenames']]
        for region in function['regions']:
            if files[region[5]] and region[7] == 0 and \
                    not text(tuple(region[:4])).startswith('((void)(function)'):
                add(tuple(region[:4]), 'regions', 'never runs', region[4])
        own = []
        for branch in function['branches']:
            place = tuple(branch[:4])
            if files[branch[6]] and place[:2] != place[2:]:
                own.append(place)
                add(place, 'branches', 'never true', branch[4])
                add(place, 'branches', 'never false', branch[5])
        for record in function['mcdc_records']:
            place = tuple(record[:4])
            if not RULE.match(text(place)) and any(
                    place[:2] <= b[:2] and b[2:] <= place[2:] for b in own):
                for i, shown in enumerate(record[-1]):
                    add(place, 'conditions',
                        'condition %d never decides' % (i + 1), shown)
    return reached


reached = read(json.load(open(sys.argv[1]))['data'][0]['functions'])
for place, _, fault in sorted(key for key, hit in reached.items() if not hit):
    print('timingwheel.h:%d: %s: %s' % (place[0], fault, text(place)))
counts = []
for kind in 'regions', 'branches', 'conditions':
    hits = [hit for key, hit in reached.items() if key[1] == kind]
    counts.append('%d of %d %s' % (sum(hits), len(hits), kind))
print('# ' + ', '.join(counts))
sys.exit(not all(reached.values()))
