# tap.py - the test harness of the scripts in Python: TAP on standard output.
#
#     tap.case(1 + 1 == 2, 'two is even')
#     sys.exit(tap.end())
#
# SPDX-License-Identifier: MIT
import os
import sys

said = []  # for each case: did it pass?


def note(text):
    for line in text.splitlines()[:25]:
        print('# ' + line, flush=True)


def case(passed, name, fault=''):
    """Prints a case, after its fault if it has failed."""
    note('' if passed else fault)
    said.append(bool(passed))
    print('%sok %d - %s' % ('' if passed else 'not ', len(said), name),
          flush=True)


def skip(name, reason):
    """Loud, because what was skipped was not checked. A failure with STRICT."""
    print('*** SKIPPED: %s: %s ***' % (name, reason), file=sys.stderr)
    if os.environ.get('STRICT'):
        case(False, name, reason + ', and STRICT is set')
    else:
        case(True, '%s # SKIP %s' % (name, reason))


def end():
    """Prints the plan. Returns the exit code."""
    print('1..%d' % len(said))
    return not (said and all(said))
