#!/usr/bin/env python3
"""judge.py - takes each recipe home, as a user does, and judges what it does.

    test/recipes/judge/judge.py [NAME...]

Runs the command of a recipe's first lines in a folder of its own, feeds the
program, and compares the times of answers and input. The same again with more
warnings, sanitizers and TW_DEBUG, which must say nothing. The recipe of a loop
is built once more in battery.c, which says what a loop must have; the rows
below say which cases a loop cannot do, and why.

Prints TAP; run from the top of the repository. A fault whose text says early or
lost counts at once. The rest gets two more tries, and one that begins with late
is then skipped on a loaded machine. A recipe is skipped without its library.

SPDX-License-Identifier: MIT
"""
import concurrent.futures
import glob
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import http_clients
sys.path.append('test/lib')
import tap

HERE, BUILD = os.path.abspath('test/recipes') + '/', '.build/recipes/'
TRAP = ' -O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error ' \
    '-Wconversion -Wshadow'
SANITIZE = ' -g -O1 -fno-sanitize-recover=all -fsanitize=address,undefined ' \
    '-Wconversion -Wshadow -Wpedantic -DTW_DEBUG'


def is_loaded():
    """Has somebody waited for a processor for a tenth of the last 10 s?"""
    with suppress(OSError):
        waited = open('/proc/pressure/cpu').read()
        return float(re.search(r'some avg10=([\d.]+)', waited)[1]) > 10
    return os.getloadavg()[0] > os.cpu_count()


class Run:
    """A program in progress. Its lines have the time in ms since its start."""

    def __init__(self, folder, command, how, slow):
        self.folder, self.command, self.how = folder, command, how
        if how == 'plain' and slow and shutil.which('strace'):
            command = 'strace -D -f -q -ttt -T -o trace %s %s' % (slow, command)
        self.begin, self.lines, self.said = time.monotonic(), [], 0.0
        self.program = subprocess.Popen(
            'exec ' + command, shell=True, cwd=folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=open(folder + '/errors', 'w'))
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.program.stdout:
            self.lines.append((self.now(), line.decode().strip()))

    def now(self):
        return (time.monotonic() - self.begin) * 1000

    def text(self):
        return '\n'.join(text for _, text in self.lines)

    def say(self, text):
        """`said`: the time before the program can have read the text."""
        self.said = self.now()
        with suppress(BrokenPipeError):
            os.write(self.program.stdin.fileno(), text.encode())

    def stop(self, seconds, meanwhile=lambda: None):
        """Stops the program, and lets it go on."""
        self.program.send_signal(signal.SIGSTOP)
        for _ in range(int(seconds * 10)):
            meanwhile()
            time.sleep(0.1)
        self.program.send_signal(signal.SIGCONT)

    def wait(self, done, what):
        """Waits until `done` comes true."""
        end = time.monotonic() + 20
        while not done():
            assert time.monotonic() < end, what + ' is lost'
            time.sleep(0.001)

    def end(self, kill=False):
        """Ends the input, and waits for the end of the program."""
        self.program.stdin.close()
        if kill:
            self.program.kill()
        status = self.program.wait(20)
        self.reader.join()
        errors = open(self.folder + '/errors').read()
        assert status == (-9 if kill else 0), 'status %d\n%s' % (status, errors)
        assert 'timingwheel.h' not in errors, errors


def silences(run, endless=False):
    """Prints `silence N` when no input came for 250 ms, also at its end. Before
    the third it is stopped, but the input goes on."""
    for silence in range(1, 5):
        for _ in range(silence):
            run.say('x\n')
            time.sleep(0.1)
        run.stop(silence == 3, lambda: run.say('x\n'))
        if silence == 4 and not endless:
            run.program.stdin.close()
        run.wait(lambda: len(run.lines) >= silence, 'silence %d' % silence)
        after = run.lines[-1][0] - run.said
        assert after >= 250, 'silence %d, %.1f ms after input: too soon, or ' \
            'the judge naps' % (silence, after)
    run.end(kill=endless)
    assert run.text().split('\n') == ['silence %d' % n for n in range(1, 5)], \
        'lost, or too many: ' + run.text()


def check_sleep(run, wakes):
    """For half a second, hardly a wake-up (of its own) or processor time."""
    def look():
        switches = ticks = awake = 0
        for task in glob.glob('/proc/%d/task/*/' % run.program.pid):
            stat = open(task + 'stat').read().rsplit(') ')[1].split()
            ticks += int(stat[11]) + int(stat[12])
            awake += stat[0] in 'RD'
            switches += int(re.search(r'^voluntary\S+\s+(\d+)', open(
                task + 'status').read(), re.M)[1])
        return switches, ticks, awake
    time.sleep(0.05)
    switches, ticks, _ = look()
    asleep = 0
    for _ in range(10):
        time.sleep(0.05)
        now = look()
        asleep += not now[2]
    sentence = '%d wake-ups, %d ticks of processor time, %d of 10 asleep' % (
        now[0] - switches, now[1] - ticks, asleep)
    assert asleep > 0 and now[0] - switches <= wakes and \
        now[1] - ticks < 10, 'it does not sleep: ' + sentence


def battery(run, cases, wakes, endless):
    """Obeys battery.c, which says what it needs."""
    feed, done, late = lambda: run.say('x'), [], []
    if 'server' in run.command or 'http' in run.command:
        peer = socket.create_connection(http_clients.wait_for(run))
        feed = lambda: peer.send(http_clients.GET)
    for number in range(1 << 30):
        run.wait(lambda: len(run.lines) > number or done == cases or
                 not run.reader.is_alive(),
                 'after "%s" an answer' % run.lines[-1][1] if number else 'it')
        if done == cases or len(run.lines) == number:
            break
        what, x, y, name = run.lines[number][1].split(maxsplit=3)
        if what == 'event':
            time.sleep(int(x) / 1000 + random.random() * 0.002)
            feed()
        elif what == 'quiet':
            check_sleep(run, wakes)
            feed()
        elif what == 'stall':
            run.stop(1, feed)
        elif what == 'done':
            done.append(int(name.split(':')[0]))
            if int(y) * 10 > int(x):
                late.append('%s: %s of %s' % (name, y, x))
        else:
            raise AssertionError('%s: %s' % (what, name))
    run.end(kill=endless)
    assert done == cases, 'cases %s are lost' % (set(cases) - set(done))
    assert not late, 'late: ' + ', '.join(late)


def timerfd(run):
    """Without a file for the timerfd, the program says so. Else as above."""
    lacking = subprocess.run(
        'ulimit -n 4; exec ' + run.command, shell=True, cwd=run.folder,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=5)
    assert lacking.returncode == 1 and lacking.stderr, 'a failure is ignored'
    silences(run)


def says(run, *patterns, times=(), timely=''):
    """A program without input prints what the patterns say, and no line before
    its time in ms. On a loaded machine `timely` may be missing."""
    run.end()
    for pattern in patterns:
        assert re.search(pattern, run.text(), re.M), '%s is missing in:\n%s' % (
            pattern, run.text())
    for at, text in run.lines:
        for start, earliest in times:
            assert not text.startswith(start) or at >= earliest, \
                '%s: early, at %.1f ms' % (text, at)
    assert re.search(timely, run.text(), re.M), 'late: ' + run.text()
    return run.lines[-1][1]


def game(run):
    """An attack every 300 ms of the game, at the speeds 100, 0 and 50 for 0.8 s
    each. A hitch of a second at full speed is worth 50 ms of the game."""
    counts = []
    for speed, hitch in (100, 0), (0, 0), (50, 0), (100, 1):
        run.say('%d\n' % speed)
        time.sleep(0.05)
        before = len(run.lines)
        run.stop(hitch)
        time.sleep(0.1 if hitch else 0.8)
        counts.append(len(run.lines) - before)
    run.end()
    for i, (_, text) in enumerate(run.lines):
        assert text == 'attack at %d' % (300 * i + 300), 'lost: ' + text
    assert 1 <= counts[0] <= 3 and counts[1] == 0 < counts[2] and \
        counts[3] <= 1, 'late: attacks %s' % counts


def alarms(run):
    """An alarm in 2 s, two in half an hour, one for ever. set_clock.h sets the
    clock back by an hour after 200 ms, and two hours ahead after 3 s. Or until
    200 ms the clock is days ahead, or the time zone is another one."""
    is_set = 'set_clock' in run.how
    soon = int(time.time()) + 2
    earliest = run.now() + (soon - time.time()) * 1000
    passed = '%d\n' % (soon - 3600)
    run.say('%d\n%d\n%d\n%d\n' % (soon + 1801, soon, soon + 1800, 2**64 - 1) +
            passed[:5])  # half a line
    time.sleep(0.3)
    if is_set:
        run.say(passed[5:])
    time.sleep(3.3)
    run.end(kill=True)
    rung = [int(text) - soon for _, text in run.lines]
    assert rung == ([-3600, 0, 1800, 1801] if is_set else [0]), rung
    assert run.lines[0][0] >= earliest, 'early'
    west = time.gmtime().tm_hour - 12  # a zone where it is noon, and in which
    day = time.gmtime(time.time() - west * 3600 + 86400).tm_yday - 1
    summer = 'DAYS=0 TZ=AAA%dBBB,%d/3,%d' % (west, day, (day + 99) % 365)
    for changed, west, wrong, length in [(summer, west, None, 23)] + [
            ('TZ=AAA0 DAYS=3', 0, 3 * 86400, 24),
            ('TZ=AAA1 ZONE=BBB0 DAYS=0', 0, 3600, 24)] * is_set:
        run = Run(run.folder, 'env %s ./alarms' % changed, run.how, '')
        soon = int(time.time()) + 2
        run.say(time.strftime('%T\n', time.gmtime(soon - west * 3600)))
        time.sleep(3.2)
        run.end(kill=True)
        right = 'next %d\n%d\nnext %d' % (soon, soon, soon + length * 3600)
        if wrong:
            right = 'next %d\n' % (soon + wrong) + right
        assert run.text() == right, 'early, or late: ' + changed + run.text()


def cache(run):
    """Entries live for 250 ms after their last use; a later look-up is a miss,
    even if the program was stopped meanwhile. Then look-ups without a pause, in
    which each key comes back long after its 5 ms."""
    run.say('5\n2000\n7\n')
    run.wait(lambda: len(run.lines) > 2, 'the first answer')
    used = run.now()
    run.stop(1, lambda: run.now() < used + 150 and run.say('7\n'))
    run.say('1')  # half a line
    run.wait(lambda: 'expired, 0 left' in run.text(), 'the last entry')
    run.end()
    answers = re.findall(r'^\d+: .*', run.text(), re.M)
    assert answers == ['5: hit', '2000: miss', '7: hit', '7: miss'] + \
        ['7: hit'] * (len(answers) - 4), str(answers)
    turns = [int(n) for n in re.findall(r'(\d+) expired', run.text())]
    assert 1001 <= sum(turns) <= 1002 and max(turns) <= 100, \
        'they expire by %s' % turns
    assert run.lines[-1][0] >= used + 1000 + 250, '7 expires early'
    flood = Run(run.folder, run.command.replace('250', '5'), run.how, None)
    for i in range(200):
        flood.say(''.join('%d\n' % (n * 7919 % 10000)
                          for n in range(i * 1000, i * 1000 + 1000)))
    flood.end()
    hits = flood.text().count(': hit')
    left = max(int(n) for n in re.findall(r'(\d+) left', flood.text()))
    assert hits < 2000 and left < 5000, '%d hits, %d left' % (hits, left)
    return '%d hits of 200000, at most %d left' % (hits, left)


def save(run):
    """Any text, and a timer that never fires, outlive runs of 100 ms. The time
    that the file lay there is taken off on demand. Files that are not whole, or
    have another form, are refused."""
    def go(file, option=''):
        done = subprocess.run('./save ' + option, shell=True, cwd=run.folder,
                              input=file.encode(), capture_output=True)
        return done.returncode, done.stderr.decode(), done.stdout.decode()
    never = '%d never\n' % (2**64 - 1)
    file = '5000000000 tea  pot\n0 now\n5000000000 \n%s6000000000  x\n' % never
    run.say('0\nend\n')
    run.end()
    longest = '5000000000 %s' % ('x' * 127)
    for bad in '0\n' + file, '', '0\nend\n' + file, 'tea\nend\n', \
            *('0\n%s\nend\n' % line for line in (
                ' tea', '-5 tea', '5tea', '%d tea' % 2**64, longest + 'x')):
        status, said, _ = go(bad)
        assert status == 1 and 'wheel.h' not in said, 'it loads ' + bad + said
    assert go('0\n%s\nend\n' % longest)[0] == 0, 'a long text is refused'
    status, fired, file = go('0\n%send\n' % file)
    assert (status, fired) == (0, 'now\n'), 'early, or lost: ' + fired
    saved, rest = file.split('\n', 1)
    assert abs(int(saved) / 1e9 - time.time()) < 20, saved
    assert go('0\n' + rest)[:2] == (0, ''), 'it fires early'
    _, fired, file = go('0\n' + rest, 'passed')  # since 1970
    assert fired == 'tea  pot\n\n x\n', 'lost, or not in order: ' + fired
    assert file.endswith('\n%send\n' % never), 'lost: ' + never


def tickless(run):
    """A blink each 0.5 s, a key each 0.25 s, 20 ms after its edge. Each needs a
    sleep or two. The counter wraps after 2 s."""
    run.wait(lambda: run.text().count('b') > 9, 'a blink')
    run.end(kill=True)
    blinks = [at for at, text in run.lines if text[0] == 'b']
    late = [int(text[1:]) for _, text in run.lines if text[0] in 'bk']
    wakes = int(re.findall(r'w(\d+)', run.text())[-1])
    for number, at in enumerate(blinks, 1):
        assert at >= 500 * number, 'blink %d: early, at %d ms' % (number, at)
    assert max(late) < 99999, 'early'  # what is negative ends in 9xxxxx
    assert blinks[-1] - blinks[0] < 500 * len(blinks), 'the blinks are slow'
    assert 15 < len(late) - len(blinks) < 25, 'keys: %s' % run.text()
    assert 25 < wakes < 60, '%d wake-ups' % wakes
    return '%d wake-ups, at most %d us late' % (wakes, max(late) * 32)


# ---------------------------------------------------------------- recipes ---

RECIPES, LOOPS, PRINTING = [], {}, threading.Lock()


def row(file, judge, *patterns, also='', slow='', **options):
    """`also`: flags of one more build; `slow`: how strace slows calls of the
    plain one down."""
    RECIPES.append((file, lambda run: judge(run, *patterns, **options), also,
                    slow))


def loop(file, no, judge=silences, also='', wakes=10, options=(), **macros):
    """`no`: the cases of battery.c that the loop cannot do, and why. `macros`:
    see battery.c. The rest is a row for the recipe as it is."""
    macros = {'NOW': 'clock_ns()', 'RUN': 'run()', 'LATE': 12, 'WATCH': '',
              'AGAIN': '', 'PORT': '', 'SEED': os.environ.get('SEED', 1),
              **macros}
    LOOPS[file] = no, wakes, ''.join(
        " '-D%s=%s'" % macro for macro in macros.items())
    row(file, judge, also=also, **dict(options))


C = {8: 'C does not throw'}
CLOCK = {**C, 11: 'a callback must not advance the clock; see glib.c'}
BUSY = {**C, 11: 'the library refuses it'}
WATCHED = {'WATCH': 'watch_input()'}
ENDLESS = {'endless': True}
SERVER = {'SERVER': 1, 'PORT': '(uint16_t)atoi(argv[1])'}
loop('poll.c', CLOCK)
loop('epoll_timerfd.c', CLOCK, judge=timerfd, also=' -DCLOCK=CLOCK_BOOTTIME')
loop('io_uring.c', CLOCK, WATCH='start_reading()')
loop('kqueue.c', CLOCK)  # on the stand-in of judge/sys
loop('libuv.c', BUSY, NOW='uv_hrtime()', **WATCHED)
loop('libevent.c', BUSY, **WATCHED)
loop('sd_event.c', BUSY, NOW='clock_us()',
     AGAIN='destroy(); init(); watch_input()')
loop('libev.c', C, TURN='ev_run(EV_DEFAULT, EVRUN_ONCE)', **WATCHED)
loop('glib.c', C, NOW='clock_us()', TURN='g_main_context_iteration(NULL, TRUE)',
     **WATCHED)
loop('asio.cpp', {}, MS='ms', TURN='arm(), loop.run_one()',
     RERUN='(void)loop.run()',
     WATCH='input.assign(dup(0)); read_input()')
loop('condvar.c', {**C, 11: 'it would be a second thread that fires'}, GATE=1,
     RUN='run(NULL)', judge=says, also=' -g -fsanitize=thread',
     options={'timely': r'^400 jobs, (8|9|1[0-7])\d timeouts'},
     WATCH='pthread_t reader; pthread_create(&reader, NULL, read_events, NULL)')
loop('windows.c', CLOCK, NOW='read_clock()', LATE=60, **WATCHED)
loop('browser.c', {**C, 11: 'JavaScript has no such loop'}, NOW='clock_us()',
     LATE=60, options=ENDLESS, **WATCHED)
loop('superloop.c', CLOCK, NOW='read_clock()', LATE=60, wakes=10000, BARE=1,
     options=ENDLESS)
loop('server.c', CLOCK, judge=http_clients.judge, **SERVER)
loop('http.c', CLOCK, judge=http_clients.judge, **SERVER)
row('tickless.c', tickless)
row('wall_clock.c', alarms, also=' -include set_clock.h')
row('fixed_step.c', game)
row('cache.c', cache)
row('request.c', says, r'^(9[89].|1000) of 1000 answered, by 1[45]\d\d',
    times=[('request', 2000)])
row('periodic.c', says, 'catch up +due at 1000', r'drift +due at 1[7-9]\d[^0]$',
    r'\A(?!(.|\n)*phase +due at 1000)', 'phase +due at 1600',
    r'\A(?!(.|\n)*slack +due at \d*([13579].|[02468][5-9])\d$)')
row('simulation.c', says, r'^1000000 served; .* of (1\.0[01]|0\.9[89])')
row('rewind.c', says, r'^frame 80000 .* \d\d units .* 10000 times, 0 wrong$')
row('static.c', says, '^tick 100000: 49911 blinks of 1000 lamps',
    r'^2 wheels, \d+ bytes')
row('lateness.c', says, r'^2\^12 us: .* long', r'ms: on_slow, offset 0x')
row('save.c', save)
row('retries.c', says, '^hello: peer 1 after [12] tries$', 'peer 2 is lost$')
row('jobs.c', says, r'^\d+ answered, \d+ timed', also=' -g -fsanitize=thread')
row('workers.c', says, r'^\d{4,} moves, \d{3,} timeouts, 0 wrong$',
    also=' -g -fsanitize=thread')
# The loop is slow to see that four jobs have ended in time.
row('threads.c', says, r'\A((in time|too late), \d left\n?){10}\Z',
    timely=r'\A(?=(.|\n)*too late)((.|\n)*in time){4}',
    also=' -g -fsanitize=thread',
    slow='-e trace=read -e inject=read:delay_exit=60000:when=2+')
row('timer.cpp', says, r'\Atimer 2\ntimer 3\nthrown\ntimer 4\ntimer 5\Z',
    times=[('timer 2', 400), ('thrown', 700), ('timer 5', 1000)])
row('scheduler.cpp', says, r'\Athrown: 5, [3-6]\Z')
row('coroutine.cpp', says, r'\Aquick work\ntimeout of slow work\nhare\n',
    '^1001 slept, 1000 stopped, 0 pending$', also=' -g -fsanitize=thread',
    times=[('timeout', 50), ('hare', 2500)])
row('adopt.c', says, r'\A301, way 0, 0 left\n3012, way 1, 0 left\Z',
    times=[('3', 520)], also=' -include set_clock.h')
row('watch.c', says, r'\[[.0-9+#]{32}\] holds \d')


def build(file, folder, command, flags, macros):
    """Returns what the compiler says. The macros are those of battery.c, or
    empty without it."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in ('timingwheel.h', 'test/lib/random.h', HERE + file,
                 HERE + 'judge/set_clock.h'):
        shutil.copy(name, folder)
    if flags == SANITIZE and not command.startswith('c'):
        flags = TRAP
    elif flags == SANITIZE and shutil.which('clang') and 'c++20' not in command:
        command = re.sub('^cc?', 'clang', command)  # 14 knows no coroutines
    if file == 'kqueue.c':
        flags += ' -D_GNU_SOURCE -I%sjudge' % HERE
    if macros:
        source = 'battery' + os.path.splitext(file)[1]
        shutil.copy(HERE + 'judge/battery.c', folder + '/' + source)
        command = command.replace(' ' + file, ' ' + source)
        flags += ' -Wno-unused -Wno-return-type -Wno-unused-parameter ' \
            "'-DRECIPE=\"%s\"'%s" % (file, macros)
    status, said = subprocess.getstatusoutput(
        'cd %s; %s' % (folder, command + flags))
    return said or 'it fails' * (status != 0)


def try_run(folder, how, judge, runs, slow):
    """Returns the fault, or None if it is late on a loaded machine, and a
    sentence, both of the last of three tries."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    for usual, quick in (('server', 'server %d 500 1000' % port),
                         ('http 8000', 'http %d 500 1000 500 400' % port),
                         ('cache 3000', 'cache 250'), ('watch 20', 'watch 1')):
        runs = re.sub(usual + '$', quick, runs)
    for _ in range(3):
        run = Run(folder, runs, how, slow)
        try:
            return '', judge(run) or ''
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            fault = error
        run.program.kill()
        if re.search('early|lost', str(fault)):
            break
    if str(fault).startswith('late') and is_loaded():
        return None, str(fault)
    return str(fault), ''


def report(name, fault='', sentence=''):
    """Prints a case at once. The fault is None for a case that was skipped."""
    with PRINTING:
        if fault is not None:
            name += ': ' * (sentence != '') + sentence
            tap.case(not fault, name, fault)
        elif sentence.startswith('late'):  # no failure with STRICT
            tap.note(sentence)
            tap.case(True, name + ' # SKIP the machine is loaded')
        else:
            tap.skip(name, sentence)


def recipe(file, judge, also, slow):
    """Builds and runs a recipe in each way, and prints the cases."""
    lines = open(HERE + file).readlines()
    most = {'server.c': 135, 'coroutine.cpp': 165, 'http.c': 157,
            'tickless.c': 133, 'workers.c': 130, 'rewind.c': 90}.get(file, 110)
    report('%s: %d of at most %d lines' % (file, len(lines), most),
           'longer files are in `most` of judge.py' * (len(lines) > most))
    text = re.sub(r'\\\n \*\s*', '', ''.join(lines))
    found = re.search(r'^ \*     (\S.*) && (.*)', text, re.M)
    if not found:
        return report(file, 'no line is like " *     cc a.c -o a && ./a"')
    command, runs = found.groups()
    runs = 'wine64 ' * (file == 'windows.c') + runs
    no, wakes, macros = LOOPS.get(file, ({}, 0, ''))
    right = [number for number in range(1, 13) if number not in no]
    judges = judge, lambda run: battery(run, right, wakes, 'BARE' in macros)
    plans = []
    for how, flags in [('plain', ''), ('sanitized', SANITIZE)] + \
            [(also, also)] * (also != ''):
        for inside in range(1 + (file in LOOPS)):
            folder = BUILD + file + str(len(plans))
            said = build(file, folder, command, flags, macros * inside)
            lack = re.search(r"fatal error: '?<?(?!timingwheel)\S+:? .*(No such"
                             r" file|not found)|\d+: \S+: not found", said)
            program = runs.split()[0]
            if lack or not runs.startswith('./') and not shutil.which(program):
                return report(file, None, 'no %s' % (lack or [program])[0])
            name = how.strip() + ' in the battery' * inside
            report('%s: builds %s' % (file, name), said)
            plans.append((folder, name, judges[inside], runs, slow))
    for case in no.items():
        report('%s: no case %d: %s' % (file, *case))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(lambda plan: report('%s: %s' % (file, plan[1]),
                                          *try_run(*plan)), plans))


def main():
    links = re.findall(r'\(test/recipes/(\w+\.c\w*)', open('README.md').read())
    places = {'a file': glob.glob('*.c*', root_dir=HERE),
              'a row in judge.py': [row[0] for row in RECIPES],
              'an entry in README.md': links}
    files = sorted(set(sum(places.values(), [])))
    chosen = {name.split('.')[0] for name in sys.argv[1:] or files}
    if unknown := chosen - {name.split('.')[0] for name in files}:
        return 'no recipe is called ' + ', '.join(unknown)
    for place, have in places.items():
        report('every recipe has ' + place, '\n'.join(
            file + ' has none' for file in files if file not in have))
    rows = [row for row in RECIPES if row[0].split('.')[0] in chosen and
            os.path.exists(HERE + row[0])]
    files = min(20000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))  # for http.c
    os.makedirs(BUILD, exist_ok=True)
    prefix = os.path.abspath(BUILD + 'wine')  # takes 700 MB
    os.environ['PATH'] += ':/usr/lib/wine'  # Debian's lacks wine64
    os.environ.update(WINEDEBUG='-all', WINEPREFIX=prefix,
                      NODE_PATH='/usr/share/nodejs')  # for Debian's emcc
    if 'windows.c' in str(rows):
        subprocess.run('wine64 wineboot -i >/dev/null 2>&1', shell=True)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: recipe(*row), rows))
    if os.path.exists(prefix):
        subprocess.run(['wineserver64', '-k'])
        shutil.rmtree(prefix)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
