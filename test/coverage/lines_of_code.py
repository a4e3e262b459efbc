#!/usr/bin/env python3
"""lines_of_code.py - counts the lines of C files without comments and blank
lines.

    test/coverage/lines_of_code.py FILE...

SPDX-License-Identifier: MIT
"""
import re
import sys

# A string or a character may hold what looks like a comment.
TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//[^\n]*|/\*.*?\*/', re.S)


def without_comment(match):
    text = match[0]
    return text if text[0] in '"\'' else re.sub('[^\n]', '', text)


print(sum(bool(line.strip()) for name in sys.argv[1:]
          for line in TOKEN.sub(without_comment,
                                open(name).read()).split('\n')))
