#!/usr/bin/env python3
"""judge.py - takes each recipe home, as a user does, and judges what it does.

    test/recipes/judge/judge.py [NAME...]

Copies a recipe and timingwheel.h into an empty folder, runs the command of its
first lines, feeds the program, stops it for a second as a busy machine may, and
compares the times of answers and input. strace counts sleeps, and makes single
calls slow. The same again with more warnings and sanitizers. Prints TAP; run
from the top of the repository.

A timer that is early or lost is a fault at once. The rest may be the machine's,
and gets two more tries. A new recipe is a file, a row in the table below and an
entry in the README. A recipe without its library or compiler is skipped. wine,
node and an emulated Cortex-M3 run what is not for Linux; sys/event.h is kqueue.

SPDX-License-Identifier: MIT
"""
import concurrent.futures
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HERE, BUILD = os.path.abspath('test/recipes') + '/', '.build/recipes/'
SANITIZE = ' -O1 -g -fno-sanitize-recover=all -fsanitize=address,undefined'
TRAP = ' -O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error'
SLEEPS = 'poll|ppoll|epoll_wait|epoll_pwait|epoll_pwait2|io_uring_enter'


class Run:
    """A program in progress. Its lines have the time in ms since its start."""

    def __init__(self, folder, command, how, slow):
        self.folder, self.command, self.how = folder, command, how
        self.lines, self.faults = [], []
        if how == 'plain' and slow is not None and shutil.which('strace'):
            command = 'strace -D -f -qq -ttt -T -e trace=?%s,recvfrom,close ' \
                '-o trace %s %s' % (SLEEPS.replace('|', ',?'), slow, command)
        self.begin, self.errors = time.monotonic(), open(folder + '/errors', 'w+')
        self.program = subprocess.Popen(
            'exec ' + command, shell=True, cwd=folder, stderr=self.errors,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=lambda: self.lines.extend(
            (self.now(), line.decode().strip()) for line in self.program.stdout))
        self.reader.start()

    def now(self):
        return (time.monotonic() - self.begin) * 1000

    def text(self):
        return '\n'.join(text for _, text in self.lines)

    def expect(self, right, what):
        if not right:
            self.faults.append(what)

    def say(self, text):
        """Returns the time before the program can have read the text."""
        before = self.now()
        try:
            os.write(self.program.stdin.fileno(), text.encode())
        except BrokenPipeError:
            pass  # judged by its exit status
        return before

    def stop(self, seconds, meanwhile=lambda: None):
        """Stops the program, and lets it go on."""
        self.program.send_signal(signal.SIGSTOP)
        for _ in range(int(seconds * 10)):
            meanwhile()
            time.sleep(0.1)
        self.program.send_signal(signal.SIGCONT)

    def wait(self, done, seconds=20):
        """Returns whether `done` comes true in time."""
        end = time.monotonic() + seconds
        while not done() and time.monotonic() < end:
            time.sleep(0.003)
        return done()

    def end(self, kill=False):
        """Ends the input, and waits for the end of the program."""
        self.program.stdin.close()
        if not kill and not self.wait(lambda: self.program.poll() is not None):
            self.faults.append('it hangs')
        self.program.kill()
        status = self.program.wait()
        self.reader.join()
        self.errors.seek(0)
        self.expect(status == (-9 if kill else 0), 'status %d\n%s' % (
            status, ''.join(self.errors.readlines()[:20])))

    def calls(self, pattern):
        """Returns what the pattern finds in the trace, if there is one."""
        trace = self.folder + '/trace'
        if not os.path.exists(trace):
            return []
        self.wait(lambda: '+++ exited' in open(trace).read(), 5)
        return re.findall(pattern, open(trace).read())


def silences(run, late=12, endless=False):
    """Prints `silence N` when no input came for 250 ms. Bursts of lines, 20 ms
    apart. In the fifth the program is stopped, but the input goes on. With the
    last one the input ends. A third may be later than `late`, in ms."""
    lateness, naps, said = [0], [0], [0]

    def type_line(pause=0):
        said.append(run.say('x\n'))
        time.sleep(pause)
        naps.append(run.now() - said[-1] - pause * 1000)
    for burst in range(1, 9):
        first = len(said)
        for _ in range(1 + burst % 3):
            type_line(0.02)
        if burst == 5:
            run.stop(1, type_line)
            type_line()
        if burst == 8 and not endless:
            run.program.stdin.close()
        if not run.wait(lambda: len(run.lines) >= burst):
            run.faults.append('silence %d is lost' % burst)
            break
        lateness.append(run.lines[burst - 1][0] - said[-1] - 250)
        gaps = [b - a for a, b in zip(said[first:], said[first + 1:])]
        run.expect(lateness[-1] >= 0, 'silence %d: %.1f ms %s' % (
            burst, -lateness[-1], 'early' if max(gaps + [0]) < 250 else
            'too soon, but the judge slept'))
    run.end(kill=endless)
    run.expect(run.text() == '\n'.join('silence %d' % n for n in range(1, 9)),
               'it prints ' + run.text())
    usual = sorted(lateness)[len(lateness) * 2 // 3]
    slack = late + 2 * sorted(naps)[len(naps) * 9 // 10]
    run.expect(usual <= slack, 'late by %.1f ms' % usual)
    turns = len(run.calls(r'(%s)\(' % SLEEPS))
    run.expect(turns <= 5 * len(said), '%d turns' % turns)
    return 'late by %.1f ms, %d turns, %d lines' % (usual, turns, len(said) - 1)


def says(run, *patterns, never='no function', interrupt=0, times=()):
    """A program without input prints what the patterns say, no line before its
    time in ms, and does not call the functions `never`."""
    if interrupt:
        time.sleep(interrupt)
        run.program.send_signal(signal.SIGINT)
    run.end()
    called = subprocess.run(['nm', '-u', run.command.split()[0]],
                            stdout=subprocess.PIPE, cwd=run.folder).stdout
    called = re.findall(r'\b(?:%s)\b' % never, called.decode())
    run.expect(not called, 'it calls %s' % called)
    for pattern in patterns:
        run.expect(re.search(pattern, run.text(), re.M),
                   '%s is missing in:\n%s' % (pattern, run.text()))
    for at, text in run.lines:
        for start, earliest in times:
            run.expect(not text.startswith(start) or at >= earliest,
                       '%s: early, at %.1f ms' % (text, at))
    return run.lines[-1][1] if run.lines else ''


def game(run):
    """An attack every 300 ms of the game, at the speeds 100, 0 and 50, for 0.8 s
    each. A hitch of a second at full speed is worth 50 ms of the game."""
    counts = []
    for speed, hitch in ((100, 0), (0, 0), (50, 0), (100, 1)):
        run.say('%d\n' % speed)
        time.sleep(0.05)
        before = len(run.lines)
        run.stop(hitch)
        time.sleep(0.1 if hitch else 0.8)
        counts.append(len(run.lines) - before)
    run.end()
    for i, (_, text) in enumerate(run.lines):
        run.expect(text == 'attack at %d' % (300 * i + 300), 'lost: ' + text)
    run.expect(1 <= counts[0] <= 3 and counts[1] == 0 < counts[2] and
               counts[3] <= 1, 'attacks: %s' % counts)
    return 'attacks: %s' % counts


def alarms(run):
    """An alarm in 2 s, two in half an hour. set_clock.h sets the clock back by
    an hour after 200 ms, and two hours ahead after 400 ms: all ring."""
    is_set, soon = 'set_clock' in run.how, int(time.time()) + 2
    earliest = 400 if is_set else (soon - time.time()) * 1000
    run.say('%d\n%d\n%d\n' % (soon + 1801, soon, soon + 1800))
    time.sleep(1 if is_set else 3)
    rung = [int(text) - soon for _, text in run.lines]
    run.end(kill=not is_set)
    run.expect(rung == [0, 1800, 1801][:3 if is_set else 1], 'rung: %s' % rung)
    run.expect(rung and run.lines[0][0] >= earliest, 'early: %s' % run.lines)


def cache(run):
    """Entries live for 1.5 s after their last use. A look-up that comes in time
    is a hit, even if the program is stopped meanwhile."""
    run.say('5\n2000\n')
    time.sleep(0.7)
    used = run.now()
    run.stop(1.4, lambda: run.now() < used + 100 and run.say('2000\n'))
    run.expect(run.wait(lambda: 'expired, 0 left' in run.text()), 'some stay')
    run.end()
    answers = re.findall(r'^\d+: .*', run.text(), re.M)
    run.expect(answers == ['5: hit', '2000: miss', '2000: hit'], str(answers))
    turns = [int(n) for n in re.findall(r'(\d+) expired', run.text())]
    run.expect(sum(turns) == 1001, '%d expire, the rest is lost' % sum(turns))
    run.expect(max(turns) <= 100, '%d expire in one turn' % max(turns))
    run.expect(run.lines[-1][0] >= used + 1500, '2000 expires early')


def server(run):
    """The first data must come in 500 ms, more within 1000 ms. A stop cuts no
    client that sends. recv is slow: each delay must count from its start."""
    made, address = [], ('127.0.0.1', int(run.command.split()[1]))

    def is_connected():
        made.append(socket.socket())
        return made[-1].connect_ex(address) == 0

    def send(peers):
        for peer in peers:
            try:
                peer.send(b'hello\n', socket.MSG_DONTWAIT)
            except OSError:
                pass  # it is closed

    def closed(peers):
        ends = 0
        for peer in peers:
            try:
                while peer.recv(4096, socket.MSG_DONTWAIT):
                    pass
                ends += 1
            except BlockingIOError:
                pass
            except OSError:
                ends += 1
        return ends
    opened = run.now()
    peers = [run.wait(is_connected) and made[-1] for _ in range(41)]
    silent, idle, busy = peers[:1], peers[1:21], peers[21:]
    send(idle + busy)
    used = run.now()
    run.expect(run.wait(lambda: send(busy) or time.sleep(0.1) or
                        closed(silent)), 'the silent one is lost')
    run.expect(run.now() >= opened + 500, 'the silent one is closed early')
    run.expect(run.now() > used + 1000 or not closed(idle), 'idle: early')
    run.stop(1.2, lambda: send(busy))
    for _ in range(3):
        send(busy)
        time.sleep(0.1)
    run.expect(not closed(busy), '%d are cut, early' % closed(busy))
    run.expect(run.wait(lambda: closed(idle) == 20), 'idle ones are lost')
    run.program.send_signal(signal.SIGINT)
    run.end()
    run.expect(closed(busy) == 20 and 'clients' in run.text(), 'a bad end')
    since = {}
    for at, call, fd, result, took in run.calls(
            r'([\d.]+) (recvfrom|close)\((\d+).* = (-?\d+).*<([\d.]+)>'):
        if call == 'recvfrom' and int(result) > 0:
            since[fd] = float(at) + float(took)
        elif call == 'close' and fd in since:
            lived = float(at) - since.pop(fd)
            run.expect(lived > 0.999, 'a delay of 1 s: early, %.3f s' % lived)


# File, judge, its patterns and options. `also`: flags of one more build; `slow`:
# how strace changes the calls of the plain one; None: not for strace.
EMULATED = {'late': 60, 'endless': True, 'slow': None}
RECIPES = [(file, silences) for file in (
    'poll.c', 'io_uring.c', 'kqueue.c', 'libuv.c', 'libev.c', 'libevent.c',
    'asio.cpp', 'glib.c', 'sd_event.c')] + [
    ('epoll_timerfd.c', silences, {'also': ' -DCLOCK=CLOCK_BOOTTIME'}),
    ('windows.c', silences, {'late': 60, 'slow': None}),
    ('browser.c', silences, EMULATED),
    ('superloop.c', silences, dict(EMULATED, late=1000)),
    ('wall_clock.c', alarms, {'also': ' -include set_clock.h'}),
    ('fixed_step.c', game),
    ('server.c', server, {'slow': '-e inject=recvfrom:delay_exit=2000'}),
    ('cache.c', cache),
    # Answers wait while the program does: 277, as many as the socket takes.
    ('request.c', says, '^(2[789]|[3-9].)[0-9] of 1000 answered',
     {'slow': '-e inject=poll:delay_exit=600000', 'times': [('request', 2000)]}),
    ('periodic.c', says, 'catch up +due at 1000', r'drift +due at 1[7-9]\d[^0]$',
     r'\A(?!(.|\n)*phase +due at 1000)', 'phase +due at 1600',
     r'\A(?!(.|\n)*slack +due at \d*([13579].|[02468][5-9])\d$)'),
    ('simulation.c', says, r'^1000000 served; .* of (1\.0[01]|0\.9[89])'),
    ('static.c', says, '^tick 100000: 50423 blinks', r'^2 wheels, \d+ bytes',
     {'never': 'malloc|calloc|realloc|free'}),
    ('lateness.c', says, r'^2\^12 us: .* long', 'ms: on_slow$'),
    ('save.c', says, r'\Aegg\ntea\nbread\Z'),
    ('retries.c', says, '^hello: peer 1 after [12] tries$',
     '^hello: peer 2 is lost$'),
    ('jobs.c', says, r'^\d+ answered, \d+ timed out$',
     {'also': ' -g -fsanitize=thread'}),
    # The loop is slow to see that four jobs have ended in time.
    ('threads.c', says, r'\A((in time|too late), \d left\n?){10}\Z', 'too late',
     r'(in time(.|\n)*){3}', {'also': ' -g -fsanitize=thread',
                              'slow': '-e inject=read:delay_exit=150000:when=4+'}),
    ('timer.cpp', says, r'\Atimer 2\ntimer 3\nthrown\ntimer 4\ntimer 5\Z', {
        'times': [('timer 2', 400), ('thrown', 700), ('timer 5', 1000)]}),
    ('scheduler.cpp', says, '^thrown: 5, [3-6]$'),
    ('coroutine.cpp', says, '^in time: 1, 0$', '^slept an hour: 0$',
     '^100001 slept, 0 pending$'),
    ('adopt.c', says, r'^event 0 at 4294967\d+(\n.*)*\nevent 0 at \d\d?\n'),
    ('watch.c', says, r'\[[.0-9+#]{32}\] holds \d', {'interrupt': 1.5},
     r'pending, (\d+) fired(.|\n)*pending, (?!\1 )\d+ fired')]


def build(file, folder, flags=''):
    """Returns what the compiler says, and the command that runs the recipe."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in 'timingwheel.h', HERE + file, HERE + 'judge/set_clock.h':
        shutil.copy(name, folder)
    command, runs = re.search(
        r'^ \*     (\S.*) && (.*)',
        re.sub(r'\\\n \*\s*', '', open(HERE + file).read()), re.M).groups()
    if flags == SANITIZE:  # clang 14 has no coroutines
        flags += ' -Wpedantic -Wconversion -Wshadow'
        if shutil.which('clang') and 'c++20' not in command:
            command = re.sub(r'^c(c|\+\+) ', lambda found: {
                'cc ': 'clang '}.get(found[0], 'clang++ '), command)
        if command.startswith('emcc'):
            flags += ' -sALLOW_MEMORY_GROWTH=1 ' \
                '-Wno-gnu-zero-variadic-macro-arguments'
        elif '-gcc ' in command:
            flags = flags.replace(SANITIZE, TRAP)
    if file == 'kqueue.c':
        flags += ' -D_GNU_SOURCE -I%sjudge' % HERE
    done = subprocess.run(command + flags, shell=True, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode() or 'it fails' * (done.returncode != 0)
    return said, 'wine64 ' * (file == 'windows.c') + runs


def try_run(folder, how, runs, judge, patterns, slow='', **options):
    """Returns the faults and a sentence about the last of three tries."""
    if judge is server:
        with socket.create_server(('127.0.0.1', 0)) as free:
            runs += ' %d 500 1000' % free.getsockname()[1]
    for _ in range(3):
        run = Run(folder, runs.replace('cache 3000', 'cache 1500'), how, slow)
        sentence = judge(run, *patterns, **options)
        if not run.faults or re.search('early|lost', ''.join(run.faults)):
            break
    return run.faults, sentence or ''


def recipe(file, judge, *rest):
    """Returns the cases of a recipe: (name, faults, sentence). The faults are
    None for a case that was skipped."""
    options = {key: value for more in rest if isinstance(more, dict)
               for key, value in more.items()}
    patterns = [more for more in rest if isinstance(more, str)]
    also, folder = options.pop('also', ''), BUILD + file.split('.')[0]
    said, runs = build(file, folder)
    lack = re.search(r"fatal error: '?<?(?!timingwheel)\S+:? .*(No such file|"
                     r"not found)|\d+: \S+: not found", said)
    if lack or not runs.startswith('./') and not shutil.which(runs.split()[0]):
        return [(file, None, lack[0] if lack else runs + ' is missing')]
    lines = len(open(HERE + file).readlines())
    most = {'server.c': 130, 'coroutine.cpp': 150}.get(file, 90)
    cases = [('builds as its first lines say', said.splitlines(), ''),
             ('at most %d lines' % most, ['%d' % lines] * (lines > most), '')]
    plans = [(folder, 'plain')]
    for how, flags in ('sanitized', SANITIZE), (also.strip(), also):
        if how:
            said, _ = build(file, folder + flags[-3:], flags)
            cases.append(('builds ' + how, said.splitlines(), ''))
            plans.append((folder + flags[-3:], how))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        tried = pool.map(lambda plan: try_run(*plan, runs, judge, patterns,
                                              **options), plans)
        cases += [(how, *result) for (_, how), result in zip(plans, tried)]
    return [('%s: %s' % (file, name), *rest) for name, *rest in cases]


def main():
    rows = [row for row in RECIPES
            if len(sys.argv) < 2 or row[0].split('.')[0] in sys.argv[1:]]
    # Debian's PATH lacks wine64, and its emcc needs NODE_PATH. A new prefix of
    # wine takes 700 MB.
    os.makedirs(BUILD, exist_ok=True)
    os.environ['PATH'] += ':/usr/lib/wine'
    os.environ.update(WINEDEBUG='-all', NODE_PATH='/usr/share/nodejs',
                      WINEPREFIX=os.path.abspath(BUILD + 'wine'))
    has_wine = shutil.which('wineserver64') and 'windows.c' in dict(
        (row[0], row) for row in rows)
    if has_wine:
        subprocess.run('wine64 wineboot -i >%swineboot 2>&1' % BUILD, shell=True)
    number = failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for name, faults, sentence in (case for cases in pool.map(
                lambda row: recipe(*row), rows) for case in cases):
            number += 1
            if faults is None:
                print('*** SKIPPED: %s: %s ***' % (name, sentence),
                      file=sys.stderr)
                name += ' # SKIP'
                faults = [sentence] * ('STRICT' in os.environ)
            failed += bool(faults)
            for line in '\n'.join(faults).splitlines()[:25]:
                print('# ' + line)
            print('%sok %d - %s%s' % ('not ' * bool(faults), number, name,
                                      sentence and ': ' + sentence), flush=True)
    if has_wine:
        subprocess.run(['wineserver64', '-k'])
        shutil.rmtree(os.environ['WINEPREFIX'])
    print('1..%d' % number)
    return failed != 0 or number == 0


if __name__ == '__main__':
    sys.exit(main())
