#!/usr/bin/env python3
"""defects.py - the random test must find each defect of this library by itself.

    SEED=7 test/search/defects.py [OPERATIONS]

The defects are the rows `defect: ` of test/mutate/bugs.tsv. Plants one defect
at a time into a copy of timingwheel.h, and runs random.c until it fails, for
OPERATIONS at most. random.c counts basic blocks, since some defects only cost
time or never end. Prints TAP; run from the top of the repository.

SPDX-License-Identifier: MIT
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, 'test/mutate')
from mutate import BUGS, plant, read_rows  # noqa: E402

BUILD = '.build/defects'
SEED = os.environ.get('SEED', '1')
COMPILE = 'gcc -std=c99 -O2 -w -fsanitize-coverage=trace-pc'.split()


def run_random(header, operations):
    """Returns what random.c prints with a header, and whether it failed."""
    shutil.rmtree(BUILD, ignore_errors=True)
    os.makedirs(BUILD + '/test')
    shutil.copytree('test/lib', BUILD + '/test/lib')
    shutil.copytree('test/search', BUILD + '/test/search')
    with open(BUILD + '/timingwheel.h', 'w') as file:
        file.write(header)
    program = BUILD + '/random'
    subprocess.run(COMPILE + ['-o', program, BUILD + '/test/search/random.c'],
                   check=True)
    done = subprocess.run([program, '--operations', operations, '--seed', SEED],
                          capture_output=True, text=True)
    return done.stdout, done.returncode != 0


def main():
    operations = sys.argv[1] if len(sys.argv) > 1 else '200000000'
    header = open('timingwheel.h').read()
    rows = [row for row in read_rows(BUGS) if row[0].startswith('defect: ')]
    failed = 0
    print('1..%d' % len(rows), flush=True)
    for number, (name, _, *changes) in enumerate(rows, 1):
        planted = plant(header, changes)
        said, found = planted and run_random(planted, operations) or ('', False)
        why = re.search(r'^# step (.*)', said, re.M)
        after = re.search(r'after (\d+) operations', said)
        print('%s %d - %s' % ('ok' if found else 'not ok', number, name))
        if found and why:
            print('# found after %s operations: %s' % (
                after.group(1) if after else '?', why.group(1)), flush=True)
        failed += not found
    return failed != 0


sys.exit(main())
