#!/usr/bin/env python3
"""judge.py - does with each recipe what a user does, and judges what it prints.

    python3 -B test/recipes/judge/judge.py [NAME...]

Copies a recipe and timingwheel.h into an empty folder, runs the command of the
recipe's first lines, feeds the program, and compares the times of its answers
with the times of its input. Builds the recipe again with more warnings and
sanitizers. Runs a recipe about clocks with clocks that step back or jump
(odd.c), too. Prints TAP; run from the top of the repository.
test/recipes/recipes.sh prepares wine and node.

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
import socket
import tempfile
import threading
import time

import tasks

HERE = 'test/recipes/'
BUILD = os.path.abspath('.build/recipes') + '/'
JUDGE = os.path.abspath(HERE + 'judge') + '/'
SANITIZE = ' -O1 -g -fno-sanitize-recover=all -fsanitize=address,undefined'
TRAP = ' -O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error'
SANITIZERS = {'emcc': SANITIZE + ' -sALLOW_MEMORY_GROWTH=1',
              'x86_64-w64-mingw32-gcc': TRAP, 'arm-none-eabi-gcc': TRAP}
STRICT = ' -Wpedantic -Wconversion -Wshadow'
PATIENCE = 20  # seconds until a program counts as hanging


class Run:
    """A program in progress: feed it with say, and take its lines with end."""

    def __init__(self, folder, command, odd=''):
        self.program_file = os.path.join(folder, command.split()[0])
        self.report = '%s/sleeps%s' % (folder, odd)
        env = dict(os.environ, LD_PRELOAD=BUILD + 'odd.so', ODD_CLOCK=odd,
                   ODD_REPORT=self.report,
                   ASAN_OPTIONS='verify_asan_link_order=0')
        self.odd = odd
        self.command = command
        self.begin = time.monotonic()
        self.lines = []  # (milliseconds since the begin, text)
        self.errors = tempfile.TemporaryFile('w+')
        self.program = subprocess.Popen(
            'exec ' + command, shell=True, cwd=folder, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
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
            self.program.kill()
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
        self.errors.seek(0)
        return [] if status == (-9 if stop else 0) else [
            'exit status %s' % status] + self.errors.read().splitlines()[:20]

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

BURSTS = 12
LATE = 12  # milliseconds; a third of all timers may be later


def silences(run, most=LATE, stop=False):
    """Programs that print `silence N` when no input came for 250 ms. Bursts of
    lines, 20 ms apart; with the last burst the input ends. The first answer is
    the sign of life: it may take a while, and its time does not count. A timer
    may be `most` ms late, and as late again as the judge's own sleeps. `stop`:
    a program without an end."""
    faults, soft, late, patience, naps = [], [], [], 250, []
    before = run.now()
    for burst in range(1, BURSTS + 1):
        for _ in range(1 + burst % 3):
            said = run.say('x' * burst + '\n')
            if len(run.lines) >= burst:
                slow = said - before > patience  # the judge was
                [faults, soft][slow].append('silence %d: too early' % burst)
            before = said
            time.sleep(0.02)
            naps.append(run.now() - said - 20)
        if burst == BURSTS and not stop:
            faults += run.end()
        end = time.monotonic() + (PATIENCE if burst == 1 else
                                  5 + max(naps) / 50)
        while len(run.lines) < burst and time.monotonic() < end:
            time.sleep(0.005)
        if len(run.lines) < burst:
            faults.append('silence %d is lost' % burst)
            break
        if burst > 1:
            late.append(run.lines[burst - 1][0] - said - patience)
    if run.program.poll() is None:
        faults += run.end(stop)
    texts = [text for _, text in run.lines]
    right = ['silence %d' % (i + 1) for i in range(len(texts))]
    if texts != right or len(texts) > BURSTS:
        [faults, soft][bool(soft)].append('it prints ' + ', '.join(texts[-25:]))
    late = sorted(late) or [0]
    if late[0] < 0:
        faults.append('%.3f ms early' % -late[0])
    usual = late[len(late) * 2 // 3]
    slack = 2 * sorted(naps)[len(naps) * 9 // 10]
    if usual > slack + most:
        soft.append('late by %.1f ms' % usual)
    # Each line and each timer takes a turn, and as many may have no work.
    if run.sleeps() > 8 * BURSTS and not stop:
        soft.append('%d turns' % run.sleeps())
    return faults, soft, 'late by %.1f ms, %d turns' % (usual, run.sleeps())


def says(run, patterns, never=()):
    """A program without input: what it prints must match each pattern, and it
    must not call the functions `never`."""
    faults = run.end()
    called = subprocess.run(['nm', '-u', run.program_file],
                            stdout=subprocess.PIPE).stdout.decode()
    faults += ['it calls ' + name for name in never
               if re.search(r'\b%s\b' % name, called)]
    faults += ['it prints no %s' % p for p in patterns
               if not re.search(p, run.text(), re.M)]
    return faults, [], run.lines[-1][1] if run.lines else ''


def simulation(run):
    """The mean wait has a standard error of 0.5 %, and may be 2 % off."""
    faults = run.end()
    mean = re.search(r'^1000000 served; .* ([\d.]+) services', run.text())
    if not mean or abs(float(mean.group(1)) - 1) > 0.02:
        faults.append('it prints ' + run.text())
    return faults, [], run.text()


def game(run):
    """The speeds 100, 0 and 50, for 0.8 s each: attacks every 300 ms of the
    game. The attacks come at the same times of the game, whatever the clock."""
    counts = []
    for speed in (100, 0, 50):
        if speed != 100:
            run.say('%d\n' % speed)
            time.sleep(0.05)
        before = len(run.lines)
        time.sleep(0.8)
        counts.append(len(run.lines) - before)
    faults = run.end()
    if [text for _, text in run.lines] != [
            'attack at %d' % (300 * i + 300) for i in range(len(run.lines))]:
        faults.append('it prints ' + run.text())
    if counts[1] != 0 or counts[0] > (4 if run.odd == 'jumps' else 2):
        faults.append('%d, %d, %d attacks' % tuple(counts))
    soft = []
    if counts[0] < 1 or counts[2] < 1:
        soft.append('%d, %d, %d attacks' % tuple(counts))
    return faults, soft, '%d, %d, %d attacks' % tuple(counts)


def alarms(run):
    """An alarm in 2 s, two in half an hour. Odd: set an hour back after 200 ms
    and two hours ahead after 400 ms, which rings all of them, in order."""
    start = time.time()
    soon, later = int(start) + 2, int(start) + 1800
    run.say('%d\n%d\n%d\n' % (later + 1, soon, later))
    time.sleep(3 if not run.odd else 1)
    rung = [text for _, text in run.lines]
    faults = run.end(stop=not run.odd)
    if rung != [str(soon), str(later), str(later + 1)][:3 if run.odd else 1]:
        faults.append('it rings ' + ', '.join(rung))
    at = run.lines[0][0] if rung else 0
    if at < (400 if run.odd else (soon - start) * 1000):
        faults.append('it rings too early')
    return faults, [], 'the first alarm after %.0f ms' % at


# -------------------------------------------------------------- the recipes ---

SLOW = {'stop': True, 'most': 60}  # without an end

# File, package, judge, its options, and odd clocks if the clock is the subject.
RECIPES = [
    ('poll.c', '', silences, {}),
    ('epoll_timerfd.c', '', silences,
     {'also': ' -DCLOCK=CLOCK_BOOTTIME'}),
    ('io_uring.c', 'liburing-dev', silences, {}),
    ('wall_clock.c', '', alarms, {}, 'set'),
    ('static.c', '', says,
     {'patterns': (r'^tick 100000: 50423 blinks', r'^2 wheels, \d+ bytes'),
      'never': ('malloc', 'calloc', 'realloc', 'free')}),
    ('simulation.c', '', simulation, {}),
    ('fixed_step.c', '', game, {}, 'steps-back', 'jumps'),
    ('lateness.c', '', says,
     {'patterns': (r'^2\^12 us: .* long', r'ms: on_slow$')}),
    ('kqueue.c', '', silences, {}),
    ('libuv.c', 'libuv1-dev', silences, {}),
    ('libev.c', 'libev-dev', silences, {}),
    ('libevent.c', 'libevent-dev', silences, {}),
    ('asio.cpp', 'libasio-dev', silences, {}),
    ('browser.c', 'emscripten or node', silences, SLOW),
    ('windows.c', 'gcc-mingw-w64 or wine64', silences, {'most': 60}),
    ('superloop.c', 'gcc-arm-none-eabi or qemu-system-arm', silences,
     dict(SLOW, most=1000)),  # on a busy machine the emulator loses ticks
    ('glib.c', 'libglib2.0-dev', silences, {}),
    ('sd_event.c', 'libsystemd-dev', silences, {}),
    ('server.c', '', tasks.server, {'arguments': ' PORT 500 1000'}),
    ('request.c', '', tasks.request, {}),
    ('cache.c', '', tasks.cache, {'arguments': ' 1500'}),
    ('periodic.c', '', tasks.periodic, {}),
    ('timer.cpp', '', tasks.timer, {}),
    ('scheduler.cpp', '', says, {'patterns': (r'^thrown: 5, [3-6]$',)}),
    ('save.c', '', says, {'patterns': (r'\Aegg\ntea\nbread\Z',)}),
    ('retries.c', '', says, {'patterns': (r'^hello: peer 1 after [12] tries$',
                                          r'^hello: peer 2 is lost$')}),
    ('jobs.c', '', says, {'patterns': (r'^\d+ answered, \d+ timed out$',),
                          'also': ' -g -fsanitize=thread'}),
    ('threads.c', '', tasks.threads, {'also': ' -g -fsanitize=thread'}),
    ('watch.c', '', tasks.watch, {}),
]

# What a system needs that is not this one: flags, and what runs the program.
STAND_INS = {
    'kqueue.c': (' -D_GNU_SOURCE -I' + JUDGE, ''),
    'windows.c': ('', 'wine64 '),
}


def commands(file):
    """Returns the commands of the first lines: to build, and to run."""
    text = open(HERE + file).read().split('*/')[0]
    text = re.sub(r'\\\n \*\s*', '', text)
    return re.search(r'^ \*     (\S.*) && (.*)', text, re.M).groups()


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


def strict(command):
    """Returns the command with more warnings and sanitizers, for clang instead
    of cc."""
    swap = {'cc': 'clang', 'c++': 'clang++'} if shutil.which('clang') else {}
    first, rest = command.split(' ', 1)
    also = ' -Wno-gnu-zero-variadic-macro-arguments' * (first == 'emcc')
    return ' '.join((swap.get(first, first), rest)) + STRICT + also + \
        SANITIZERS.get(first, SANITIZE)


def is_missing(said):
    return re.search(r"fatal error: '?<?(?!timingwheel)\S+:? .*(No such file|"
                     r"not found)|\d+: \S+: not found", said)


def try_run(folder, runs, judge, options, odd):
    """Returns the faults and a sentence about the last try."""
    options = dict(options, also='')
    options.pop('also')
    arguments = options.pop('arguments', '')
    for _ in range(3):
        command = runs.split()[0] + arguments if arguments else runs
        if 'PORT' in arguments:
            with socket.create_server(('127.0.0.1', 0)) as free:
                port = str(free.getsockname()[1])
            command = command.replace('PORT', port)
        faults, soft, sentence = judge(Run(folder, command, odd), **options)
        if faults or not soft:
            break
    return faults + soft, sentence


def recipe(row):
    """Returns the cases of a recipe: (name, faults, diagnostics); faults are
    None for a case that was skipped."""
    file, package, judge, options, *odd_clocks = row
    name = file.split('.')[0]
    folder = BUILD + name
    said, runs = build(folder, file, lambda command: command)
    missing = not runs.startswith('./') and not shutil.which(runs.split()[0])
    if missing or is_missing(said):
        return [(name, None, package + ' is missing')]
    cases = [('%s: builds as its first lines say' % name,
              said.splitlines(), '')]
    lines = len(open(HERE + file).readlines())
    limit = 130 if file == 'server.c' else 80
    cases.append(('%s: at most %d lines' % (name, limit),
                  ['%d lines' % lines] if lines > limit else [], ''))
    plans = [(folder, odd, odd or 'plain') for odd in ['', *odd_clocks]]
    said, _ = build(folder + '-sanitized', file, strict)
    cases.append(('%s: no further warning' % name, said.splitlines(), ''))
    plans.insert(1, (folder + '-sanitized', '', 'sanitized'))
    if 'also' in options:
        said, _ = build(folder + '-also', file,
                        lambda command: command + options['also'])
        cases.append(('%s: builds with%s' % (name, options['also']),
                      said.splitlines(), ''))
        plans.append((folder + '-also', '', options['also'].strip()))
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
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
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
