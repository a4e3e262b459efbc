#!/usr/bin/env python3
"""judge.py - does with each recipe what a user does, and judges what it prints.

    python3 -B test/recipes/judge/judge.py [NAME...]

Copies a recipe and timingwheel.h into an empty folder, runs the command of the
recipe's first lines, feeds the program, and compares the times of its answers
with the times of its input. Builds the recipe again under sanitizers, and runs
it with clocks that stand, step back or jump (odd.c). Prints TAP; run from the
top of the repository. test/recipes/recipes.sh prepares wine and node.

A timer that is early, lost or out of order is a fault at once. Lateness and
turns without work depend on the machine: such a run gets two more tries.

SPDX-License-Identifier: MIT
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import threading
import time

HERE = 'test/recipes/'
BUILD = os.path.abspath('.build/recipes') + '/'
JUDGE = os.path.abspath(HERE + 'judge') + '/'
SANITIZE = ' -O1 -g -fno-sanitize-recover=all -fsanitize=address,undefined'
STRICT = ' -O2 -Wpedantic -Wconversion -Wshadow'
PATIENCE = 20  # seconds until a program counts as hanging


class Run:
    """A program in progress: feed it with say, and take its lines with end."""

    def __init__(self, folder, command, odd=''):
        self.report = '%s/sleeps%s' % (folder, odd)
        env = dict(os.environ, LD_PRELOAD=BUILD + 'odd.so',
                   ODD_REPORT=self.report,
                   ASAN_OPTIONS='verify_asan_link_order=0')
        if odd:
            env['ODD_CLOCK'] = odd
        self.odd = odd
        self.begin = time.monotonic()
        self.lines = []  # (milliseconds since the begin, text)
        self.program = subprocess.Popen(
            'exec ' + command, shell=True, cwd=folder, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def now(self):
        return (time.monotonic() - self.begin) * 1000

    def read(self):
        for line in self.program.stdout:
            self.lines.append((self.now(), line.decode().strip()))

    def say(self, text):
        """Returns the time before the program can have read the text."""
        before = self.now()
        try:
            self.program.stdin.write(text.encode())
            self.program.stdin.flush()
        except BrokenPipeError:
            pass  # judged by its exit status
        return before

    def end(self, stop=False):
        """Ends the input, waits for the program, returns its faults."""
        if stop:  # a program without an end
            self.program.terminate()
        try:
            self.program.stdin.close()
        except BrokenPipeError:
            pass
        try:
            status = self.program.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.program.kill()
            status = 'none: it hangs'
        self.reader.join()
        return [] if status == 0 or stop else ['exit status %s' % status]

    def sleeps(self):
        try:
            return int(open(self.report).read())
        except OSError:
            return 0  # a program that the preloaded library does not count

    def text(self):
        return '\n'.join(text for _, text in self.lines)


# ------------------------------------------------------------------- judges ---

# A judge takes a running program and the options of the recipe. It returns the
# faults that depend on no machine, those that do, and a sentence.

# By how many milliseconds an odd clock can be ahead of the system's.
AHEAD = {'': 0, 'set': 0, 'stands': 10, 'steps-back': 25, 'jumps': 1e9}
LATE = 12  # milliseconds; a third of all timers may be later


def reminders(run, unit=0, stop=False, start=0):
    """Lines such as `250 tea`. Some are due before the sleep in progress would
    end, some are due together, and the last is due after the end of input."""
    time.sleep(start)
    asked = []  # (time, delay), by the number that is the text
    for turn in range(20):
        delays = [(2, 300, 45, 2, 7)[turn % 5]] * (3 if turn % 3 == 2 else 1)
        first = len(asked)
        said = run.say(''.join('%d n%d\n' % (delay, first + i)
                               for i, delay in enumerate(delays)))
        asked += [(said, delay) for delay in delays]
        time.sleep(0.02)
    asked += [(run.say('150 n%d\n' % len(asked)), 150)]
    if stop:
        time.sleep(0.5)
    faults = run.end(stop)
    order = [int(text[1:]) for _, text in run.lines
             if re.fullmatch(r'n\d+', text)]
    came = dict(zip(order, (at for at, text in run.lines
                            if re.fullmatch(r'n\d+', text))))
    lost = [i for i in range(len(asked)) if order.count(i) != 1]
    faults += ['n%d came %d times' % (i, order.count(i)) for i in lost]
    late = sorted(at - asked[i][0] - asked[i][1] for i, at in came.items())
    if late and late[0] < -unit - AHEAD[run.odd]:
        faults.append('%.3f ms early' % -late[0])
    if run.odd != 'steps-back':  # a line read earlier, due no later
        faults += ['n%d came before n%d' % (b, a) for a in came for b in came
                   if a < b and asked[a][1] <= asked[b][1]
                   and came[a] > came[b]]
    most = late[len(late) * 2 // 3] if late else 0
    soft = ['late by %.1f ms' % most] if most > LATE else []
    # Each line and each timer may take a turn, and as many may be idle.
    if run.sleeps() > 4 * len(asked) and not run.odd:
        soft.append('%d turns' % run.sleeps())
    return faults, soft, '%d timers, late by %.1f ms, %d turns' % (
        len(came), most, run.sleeps())


def says(run, *patterns, seconds=0):
    """Programs that need no input: what they print must match each pattern."""
    time.sleep(seconds)
    faults = run.end(stop=seconds > 0)
    faults += ['it prints no %s' % p for p in patterns
               if not re.search(p, run.text(), re.M)]
    return faults, [], '%d lines' % len(run.lines)


# -------------------------------------------------------------- the recipes ---

ODD = ('stands', 'steps-back', 'jumps')

# File, package, judge, its options, odd clocks.
RECIPES = [
    ('poll.c', '', reminders, {}, ODD),
    ('epoll.c', '', reminders, {}, ODD),
    ('epoll_timerfd.c', '', reminders, {}, ODD),
    ('io_uring.c', 'liburing-dev', reminders, {}, ODD),
    ('kqueue.c', '', reminders, {}, ODD),
    ('libuv.c', 'libuv1-dev', reminders, {}, ODD),
    ('libev.c', 'libev-dev', reminders, {}, ODD),
    ('libevent.c', 'libevent-dev', reminders, {}, ODD),
    ('glib.c', 'libglib2.0-dev', reminders, {}, ODD),
    ('sd_event.c', 'libsystemd-dev', reminders, {}, ODD),
    ('asio.cpp', 'libasio-dev', reminders, {}, ODD),
]

# What a system needs that is not this one: flags, and what runs the program.
STAND_INS = {
    'kqueue.c': (' -D_GNU_SOURCE -I' + JUDGE, ''),
}


def commands(file):
    """Returns the commands of the first lines: to build, and to run."""
    text = open(HERE + file).read().split('*/')[0]
    found = re.search(r'^ \*     (\S.* && (?:.*\\\n \* )*.*)', text, re.M)
    return re.sub(r'\\\n \*\s*', '', found.group(1)).split(' && ')


def build(folder, file, change):
    """Copies and builds a recipe. Returns what the compiler said, and the
    command that runs the recipe."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy('timingwheel.h', folder)
    shutil.copy(HERE + file, folder)
    command, runs = commands(file)
    flags, runner = STAND_INS.get(file, ('', ''))
    done = subprocess.run(change(command + flags), shell=True, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode()
    if done.returncode != 0 and not said:
        said = 'the compiler fails'
    return said, runner + runs


def with_clang(command):
    """Returns the command for clang, if it has gcc's and clang is there."""
    swap = {'cc': 'clang', 'c++': 'clang++'} if shutil.which('clang') else {}
    first, rest = command.split(' ', 1)
    return '%s %s' % (swap.get(first, first), rest)


def is_missing(said):
    return re.search(r"fatal error: '?<?(?!timingwheel)\S+:? .*(No such file|"
                     r"not found)|\d+: \S+: not found", said)


def try_run(folder, runs, judge, options, odd):
    """Returns the faults and a sentence about the last try."""
    for _ in range(3):
        faults, soft, sentence = judge(Run(folder, runs, odd), **options)
        if faults or not soft:
            break
    return faults + soft, sentence


def recipe(row):
    """Returns the cases of a recipe: (name, faults, diagnostics); faults are
    None for a case that was skipped."""
    file, package, judge, options, odd_clocks = row
    name = file.split('.')[0]
    folder = BUILD + name
    said, runs = build(folder, file, lambda command: command)
    if is_missing(said):
        return [(name, None, package + ' is missing')]
    cases = [('%s: builds as its first lines say' % name,
              said.splitlines(), '')]
    plans = [(folder, odd, odd or 'plain') for odd in ('',) + odd_clocks]
    said, _ = build(folder + '-strict', file,
                    lambda command: with_clang(command) + STRICT)
    cases.append(('%s: no further warning' % name, said.splitlines(), ''))
    said, _ = build(folder + '-sanitized', file,
                    lambda command: command + SANITIZE)
    cases.append(('%s: builds sanitized' % name, said.splitlines(), ''))
    plans.insert(1, (folder + '-sanitized', '', 'sanitized'))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        tried = list(pool.map(
            lambda plan: try_run(plan[0], runs, judge, options, plan[1]),
            plans))
    for (_, _, how), (faults, sentence) in zip(plans, tried):
        cases.append(('%s: %s' % (name, how), faults, sentence))
    return cases


def main():
    rows = [row for row in RECIPES
            if len(sys.argv) < 2 or row[0].split('.')[0] in sys.argv[1:]]
    os.makedirs(BUILD, exist_ok=True)
    subprocess.run(['gcc', '-O1', '-shared', '-fPIC', '-o', BUILD + 'odd.so',
                    JUDGE + 'odd.c'], check=True)
    number = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for cases in pool.map(recipe, rows):
            for name, faults, sentence in cases:
                skip = faults is None and not os.environ.get('STRICT')
                if faults is None:
                    print('*** SKIPPED: %s: %s ***' % (name, sentence),
                          file=sys.stderr)
                    faults = [] if skip else [sentence]
                number += 1
                failed += bool(faults)
                for fault in faults[:25]:
                    print('# ' + fault)
                print('%sok %d - %s%s%s' % (
                    'not ' if faults else '', number, name,
                    ' # SKIP ' if skip else ': ' if sentence else '', sentence),
                    flush=True)
    print('1..%d' % number)
    return failed != 0 or number == 0


if __name__ == '__main__':
    sys.exit(main())
