#!/usr/bin/env python3
"""judge.py - takes each recipe home, as a user does, and judges what it does.

    test/recipes/judge/judge.py [NAME...]

Runs the command of a recipe's first lines in a folder of its own. Feeds the
program, stops it for a second as a busy machine may, and compares the times of
answers and input. strace counts sleeps, and makes single calls slow. The same
again with more warnings, sanitizers and TW_DEBUG, which must say nothing.
Prints TAP; run from the top of the repository. A timer that is early or lost is
a fault at once. The rest may be the machine's, and gets two more tries. A
recipe is skipped without its library.

SPDX-License-Identifier: MIT
"""
import concurrent.futures
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import http_clients

HERE, BUILD = os.path.abspath('test/recipes') + '/', '.build/recipes/'
TRAP = ' -O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error ' \
    '-Wconversion -Wshadow'
SANITIZE = ' -g -O1 -fno-sanitize-recover=all -fsanitize=address,undefined ' \
    '-Wconversion -Wshadow -Wpedantic -DTW_DEBUG'
SLEEPS = 'poll|ppoll|epoll_wait|epoll_pwait|epoll_pwait2|io_uring_enter'


class Run:
    """A program in progress. Its lines have the time in ms since its start."""

    def __init__(self, folder, command, how, slow):
        self.folder, self.command, self.how = folder, command, how
        if how == 'plain' and slow is not None and shutil.which('strace'):
            command = 'strace -D -f -q -ttt -T -e trace=?%s,recvfrom,close ' \
                '-o trace %s %s' % (SLEEPS.replace('|', ',?'), slow, command)
        self.begin, self.lines = time.monotonic(), []
        self.program = subprocess.Popen(
            'exec ' + command, shell=True, cwd=folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=open(folder + '/errors', 'w'))
        self.reader = threading.Thread(target=lambda: self.lines.extend(
            (self.now(), line.decode().strip())
            for line in self.program.stdout))
        self.reader.start()

    def now(self):
        return (time.monotonic() - self.begin) * 1000

    def text(self):
        return '\n'.join(text for _, text in self.lines)

    def say(self, text):
        """Returns the time before the program can have read the text."""
        before = self.now()
        with suppress(BrokenPipeError):
            os.write(self.program.stdin.fileno(), text.encode())
        return before

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
            time.sleep(0.003)

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

    def calls(self, pattern):
        """Returns what the pattern finds in the trace, if there is one."""
        trace = self.folder + '/trace'
        if not os.path.exists(trace):
            return []
        self.wait(lambda: '+++ exited' in open(trace).read(), 'the trace')
        return re.findall(pattern, open(trace).read())


def silences(run, late=12, endless=False):
    """Prints `silence N` when no input came for 250 ms. Bursts of lines, 20 ms
    apart. In the fifth the program is stopped, but the input goes on. With the
    last one the input ends. A third may be later than `late`, in ms."""
    lateness, naps, said = [], [], []

    def type_line(pause=0.0):
        said.append(run.say('x\n'))
        time.sleep(pause)
        naps.append(run.now() - said[-1] - pause * 1000)
    for burst in range(1, 9):
        for _ in range(1 + burst % 3):
            type_line(0.02)
        if burst == 5:
            type_line(0.1)  # the program sleeps
            run.stop(1, type_line)
            type_line()
        if burst == 8 and not endless:
            run.program.stdin.close()
        run.wait(lambda: len(run.lines) >= burst, 'silence %d' % burst)
        lateness.append(run.lines[burst - 1][0] - said[-1] - 250)
        assert lateness[-1] >= 0, 'silence %d: %.1f ms %s' % (
            burst, -lateness[-1], 'early' if max(naps) < 200 else 'too soon')
    run.end(kill=endless)
    assert run.text().split('\n') == ['silence %d' % n for n in range(1, 9)], \
        'lost, or too many: ' + run.text()
    sleeps = run.calls(r' (%s)\(.*= (\d+)' % SLEEPS)
    usual, slack = sorted(lateness)[5], 2 * sorted(naps)[len(naps) * 9 // 10]
    vain = [result for _, result in sleeps].count('0')
    sentence = 'late by %.1f ms, %d sleeps, %d without an event' % (
        usual, len(sleeps), vain)
    assert usual <= late + slack and len(sleeps) < 140 and vain < 45, sentence
    if sleeps:  # once more, and each sleep is followed by 300 ms of work
        names = {name for name, _ in sleeps}
        names -= {'poll'} if len(names) > 1 else set()  # poll only asks then
        slow = Run(run.folder, run.command, run.how,
                   '-e inject=%s:delay_exit=300000' % ','.join(names))
        time.sleep(0.3)
        slow.say('x\n')
        time.sleep(0.8)
        said = slow.say('x\n')  # after a sleep, and before the timers
        slow.wait(lambda: slow.lines, 'the silence after slow sleeps')
        slow.end()
        assert slow.lines[0][0] >= said + 250, 'after slow sleeps: early'
    return sentence


def timerfd(run):
    """Without a file for the timerfd, the program says so. Else as above."""
    lacking = subprocess.run(
        'ulimit -n 4; exec ' + run.command, shell=True, cwd=run.folder,
        input=b'x\n', stderr=subprocess.PIPE, timeout=5)
    assert lacking.returncode == 1 and lacking.stderr, 'a failure is ignored'
    return silences(run)


def says(run, *patterns, times=()):
    """A program without input prints what the patterns say, and no line before
    its time in ms."""
    run.end()
    for pattern in patterns:
        assert re.search(pattern, run.text(), re.M), '%s is missing in:\n%s' % (
            pattern, run.text())
    for at, text in run.lines:
        for start, earliest in times:
            assert not text.startswith(start) or at >= earliest, \
                '%s: early, at %.1f ms' % (text, at)
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
        counts[3] <= 1, 'attacks: %s' % counts


def alarms(run):
    """An alarm in 2 s, two in half an hour, one for ever. set_clock.h sets the
    clock back by an hour after 200 ms, and two hours ahead after 3 s. Or until
    200 ms the clock is days ahead, or the time zone is another one."""
    soon = int(time.time()) + 2
    earliest = run.now() + (soon - time.time()) * 1000
    passed = '%d\n' % (soon - 3600)
    run.say('%d\n%d\n%d\n%d\n' % (soon + 1801, soon, soon + 1800, 2**64 - 1) +
            passed[:5])  # half a line
    time.sleep(0.3)
    if 'set_clock' in run.how:
        run.say(passed[5:])
    run.program.stdin.close()
    time.sleep(3.3)
    rung = [int(text) - soon for _, text in run.lines]
    run.end(kill=True)
    right = [-3600, 0, 1800, 1801] if 'set_clock' in run.how else [0]
    assert rung == right, 'it rings %s' % rung
    assert run.lines[0][0] >= earliest, 'early'
    west = time.gmtime().tm_hour - 12  # a zone where it is noon, and in which
    day = time.gmtime(time.time() - west * 3600 + 86400).tm_yday - 1
    run = Run(run.folder, 'env DAYS=0 TZ=AAA%dBBB,%d/3,%d %s' % (  # to summer
        west, day, (day + 99) % 365, run.command), run.how, None)
    soon = int(time.time()) + 2
    run.say(time.strftime('%T\n', time.gmtime(soon - west * 3600)))
    run.wait(lambda: len(run.lines) == 3, 'the second day')
    run.end(kill=True)
    assert run.text() == 'next %d\n%d\nnext %d' % (
        soon, soon, soon + 23 * 3600), 'early, or late: ' + run.text()
    for changed, wrong in ('TZ=AAA0 DAYS=3', 3 * 86400), \
            ('TZ=AAA1 ZONE=BBB0 DAYS=0', 3600):
        if 'set_clock' in run.how:
            run = Run(run.folder, 'env %s ./alarms' % changed, run.how, None)
            soon = int(time.time()) + 2
            run.say(time.strftime('%T\n', time.gmtime(soon)))
            time.sleep(3.2)
            run.end(kill=True)
            assert run.text() == 'next %d\nnext %d\n%d\nnext %d' % (
                soon + wrong, soon, soon, soon + 86400), changed + run.text()


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


def server(run):
    """The first data must come in 500 ms, more within 1000 ms. A stop cuts no
    client that sends. recv is slow: each delay must count from its start."""
    address = '127.0.0.1', int(run.command.split()[1])

    def send(peers):
        for peer in peers:
            with suppress(OSError):  # it is closed
                peer.send(b'hello\n')

    def closed(peers):
        poller = select.poll()
        for peer in peers:
            poller.register(peer, select.POLLRDHUP)
        return len(poller.poll(0))
    run.wait(lambda: not socket.socket().connect_ex(address), 'the server')
    opened = run.now()
    silent, *idle = [socket.create_connection(address) for _ in range(21)]
    used = run.now()
    send(idle)
    run.wait(lambda: closed([silent]), 'the silent one')
    assert run.now() >= opened + 500, 'the silent one is closed early'
    run.wait(lambda: closed(idle), 'an idle one')
    assert run.now() >= used + 1000, 'an idle one is closed early'
    busy = [socket.create_connection(address) for _ in range(20)]
    send(busy)
    time.sleep(0.2)
    run.stop(1.2, lambda: send(busy))
    for _ in range(3):
        send(busy)
        time.sleep(0.1)
    assert not closed(busy), '%d are cut, early' % closed(busy)
    assert closed(idle) == 20, 'idle ones are lost'
    run.program.send_signal(signal.SIGINT)
    run.end()
    assert closed(busy) == 20 and 'clients' in run.text(), 'a bad end'
    since = {}
    for at, call, fd, result, took in run.calls(
            r'([\d.]+) (recvfrom|close)\((\d+).* = (-?\d+).*<([\d.]+)>'):
        if call == 'recvfrom' and int(result) > 0:
            since[fd] = float(at) + float(took) + 0.002
        elif call == 'close' and fd in since:
            lived = float(at) - since.pop(fd)
            assert lived > 0.999, 'a delay of 1 s: early, %.3f s' % lived


def save(run):
    """Any text, and a timer that never fires, outlive runs of 100 ms. The time
    that the file lay there is taken off on demand. Files that are not whole, or
    have another form, are refused."""
    def go(file, option=''):
        done = subprocess.run('./save ' + option, shell=True, cwd=run.folder,
                              input=file.encode(), capture_output=True)
        said = done.stderr.decode()
        assert 'timingwheel.h' not in said, said
        return done.returncode, said, done.stdout.decode()
    never = '%d never\n' % (2**64 - 1)
    file = '5000000000 tea  pot\n0 now\n5000000000 \n%s6000000000  x\n' % never
    run.say('0\nend\n')
    run.end()
    longest = '5000000000 %s' % ('x' * 127)
    for bad in '0\n' + file, '', '0\nend\n' + file, 'tea\nend\n', \
            *('0\n%s\nend\n' % line for line in (
                ' tea', '-5 tea', '5tea', '%d tea' % 2**64, longest + 'x')):
        assert go(bad)[0] == 1, 'it loads ' + bad
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


def condvar(run):
    """Each fifth of 400 jobs must time out, and most of them cannot. A thread
    that does not sleep would call futex without pause."""
    run.end()
    timeouts = int(re.search(r'^400 jobs, (\d+)', run.text())[1])
    assert timeouts >= 80, '%d timeouts: some are lost' % timeouts
    assert timeouts <= 180, '%d timeouts: some are too soon' % timeouts
    calls = len(run.calls('futex'))
    assert calls < 3000, '%d calls of futex' % calls
    return '%d timeouts, %d calls of futex' % (timeouts, calls)


# ---------------------------------------------------------------- recipes ---

RECIPES = []


def row(file, judge, *patterns, also='', slow='', **options):
    """`also`: flags of one more build; `slow`: how strace changes the calls of
    the plain one, or None if strace would see the emulator."""
    RECIPES.append((file, judge, patterns, also, slow, options))


for easy in ('poll.c', 'io_uring.c', 'kqueue.c', 'libuv.c', 'libev.c', 'glib.c',
             'libevent.c', 'asio.cpp', 'sd_event.c'):
    row(easy, silences)
row('epoll_timerfd.c', timerfd, also=' -DCLOCK=CLOCK_BOOTTIME')
row('windows.c', silences, late=60, slow=None)
row('browser.c', silences, late=60, slow=None, endless=True)
row('superloop.c', silences, late=1000, slow=None, endless=True)
row('tickless.c', tickless, slow=None)
row('wall_clock.c', alarms, also=' -include set_clock.h')
row('fixed_step.c', game)
row('server.c', server, slow='-e inject=recvfrom:delay_exit=2000:when=1..21')
row('http.c', http_clients.judge, slow=None)
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
row('workers.c', says, r'^\d{4,} moves, \d{3,} timeouts, 0 wrong$', slow=None,
    also=' -g -fsanitize=thread')
# The loop is slow to see that four jobs have ended in time.
row('threads.c', says, r'\A((in time|too late), \d left\n?){10}\Z', 'too late',
    r'(in time(.|\n)*){4}', also=' -g -fsanitize=thread',
    slow='-e trace=read -e inject=read:delay_exit=60000:when=2+')
row('condvar.c', condvar, also=' -g -fsanitize=thread',
    slow='-e trace=futex')
row('timer.cpp', says, r'\Atimer 2\ntimer 3\nthrown\ntimer 4\ntimer 5\Z',
    times=[('timer 2', 400), ('thrown', 700), ('timer 5', 1000)])
row('scheduler.cpp', says, r'\Athrown: 5, [3-6]\Z')
row('coroutine.cpp', says, '^in time: 42, too late: 0, for ever: 0$',
    '^thrown, 1000 slept, 0 pending$', slow=None, also=' -g -fsanitize=thread')
row('adopt.c', says, r'\A301, way 0, 0 left\n3012, way 1, 0 left\Z',
    times=[('3', 520)], also=' -include set_clock.h')
row('watch.c', says, r'\[[.0-9+#]{32}\] holds \d')


def build(file, folder, flags):
    """Returns what the compiler says, and the command that runs the recipe."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in 'timingwheel.h', HERE + file, HERE + 'judge/set_clock.h':
        shutil.copy(name, folder)
    text = re.sub(r'\\\n \*\s*', '', open(HERE + file).read())
    command, runs = re.search(r'^ \*     (\S.*) && (.*)', text, re.M).groups()
    if flags == SANITIZE and not command.startswith('c'):
        flags = TRAP
    elif flags == SANITIZE and shutil.which('clang') and 'c++20' not in command:
        command = re.sub(r'^cc ', 'clang ', command)  # 14 knows no coroutines
        command = re.sub(r'^c\+\+ ', 'clang++ ', command)
    if file == 'kqueue.c':
        flags += ' -D_GNU_SOURCE -I%sjudge' % HERE
    done = subprocess.run(command + flags, shell=True, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode() or 'it fails' * (done.returncode != 0)
    return said, 'wine64 ' * (file == 'windows.c') + runs


def try_run(folder, how, runs, judge, patterns, slow, options):
    """Returns the fault and a sentence of the last of three tries."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    for usual, quick in (('server', 'server %d 500 1000' % port),
                         ('http 8000', 'http %d 500 1000 500 400' % port),
                         ('cache 3000', 'cache 250'), ('watch 20', 'watch 1')):
        runs = re.sub(usual + '$', quick, runs)
    for _ in range(3):
        run = Run(folder, runs, how, slow)
        try:
            return '', judge(run, *patterns, **options) or ''
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            fault = str(error)
        run.program.kill()
        if re.search('early|lost', fault):
            break
    return fault, ''


def recipe(file, judge, patterns, also, slow, options):
    """Returns the cases of a recipe: (name, fault, sentence). The fault is None
    for a case that was skipped."""
    lines = len(open(HERE + file).readlines())
    most = {'server.c': 130, 'coroutine.cpp': 288, 'http.c': 135,
            'tickless.c': 135, 'workers.c': 130, 'rewind.c': 90}.get(file, 110)
    cases = [('at most %d lines' % most, '%d' % lines * (lines > most), '')]
    plans = []
    for how, flags in ('plain', ''), ('sanitized', SANITIZE), (also, also):
        if how or not plans:
            folder = BUILD + file + str(len(plans))
            said, runs = build(file, folder, flags)
            lack = re.search(r"fatal error: '?<?(?!timingwheel)\S+:? .*(No such"
                             r" file|not found)|\d+: \S+: not found", said)
            program = runs.split()[0]
            if lack or not runs.startswith('./') and not shutil.which(program):
                return [(file, None, lack[0] if lack else program)]
            cases.append(('builds ' + how.strip(), said, ''))
            plans.append((folder, how.strip()))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        tried = pool.map(lambda plan: try_run(*plan, runs, judge, patterns,
                                              slow, options), plans)
        cases += [(how, *result) for (_, how), result in zip(plans, tried)]
    return [('%s: %s' % (file, name), *rest) for name, *rest in cases]


def main():
    rows = [row for row in RECIPES
            if len(sys.argv) < 2 or row[0].split('.')[0] in sys.argv[1:]]
    files = min(20000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))  # for http.c
    os.makedirs(BUILD, exist_ok=True)
    prefix = os.path.abspath(BUILD + 'wine')  # takes 700 MB
    os.environ['PATH'] += ':/usr/lib/wine'  # Debian's lacks wine64
    os.environ.update(WINEDEBUG='-all', WINEPREFIX=prefix,
                      NODE_PATH='/usr/share/nodejs')  # for Debian's emcc
    if 'windows.c' in str(rows):
        subprocess.run('wine64 wineboot -i >/dev/null 2>&1', shell=True)
    number = failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for cases in pool.map(lambda row: recipe(*row), rows):
            for name, fault, sentence in cases:
                number += 1
                if fault is None:
                    print('*** SKIPPED: %s: no %s ***' % (name, sentence),
                          file=sys.stderr)
                    name += ' # SKIP'
                    fault = sentence if 'STRICT' in os.environ else ''
                failed += fault != ''
                for line in fault.splitlines()[:25]:
                    print('# ' + line)
                print('%sok %d - %s%s' % ('not ' if fault else '', number, name,
                      sentence and ': ' + sentence), flush=True)
    if os.path.exists(prefix):
        subprocess.run(['wineserver64', '-k'])
        shutil.rmtree(prefix)
    print('1..%d' % number)
    return failed != 0 or number == 0


if __name__ == '__main__':
    sys.exit(main())
