"""tasks.py - judges of the recipes by task; judge.py says what a judge returns.

SPDX-License-Identifier: MIT
"""
import re
import signal
import socket
import time


def wait_for(run, pattern):
    """Returns the time of the first line that matches; None after 10 s."""
    end = time.monotonic() + 10
    while time.monotonic() < end and run.program.poll() is None:
        for at, text in list(run.lines):
            if re.search(pattern, text):
                return at
        time.sleep(0.005)
    return None


def early(what, at, due, tolerated=0):
    return ['%s: %.1f ms early' % (what, due - at)] if at < due - tolerated \
        else []


def numbers(run, pattern):
    """Returns the numbers in each line that matches."""
    found = (re.search(pattern, text) for _, text in run.lines)
    return [[int(group) for group in match.groups()]
            for match in found if match]


def cache(run):
    """The entries live for 1.5 s after their last use."""
    run.say('5\n2000\n')
    time.sleep(0.3)
    used = run.say('2000\n')
    at = wait_for(run, r'expired, 0 left')
    faults = run.end()
    answers = [text for _, text in run.lines if ': ' in text]
    soft = [] if answers == ['5: hit', '2000: miss', '2000: hit'] else answers
    turns = [n for n, _ in numbers(run, r'(\d+) expired, (\d+) left')]
    entries = 1000 + sum('miss' in answer for answer in answers)
    if at is None or sum(turns) != entries:
        faults.append('%d of %d entries expire' % (sum(turns), entries))
    elif max(turns) > 100:
        faults.append('%d entries expire in one turn' % max(turns))
    elif not soft:
        faults += early('2000', at, used + 1500 - 1)
    return faults, soft, '%d turns' % len(turns)


def request(run):
    at = wait_for(run, 'no answer')
    faults = run.end() + (early('it gives up', at, 2000) if at else [])
    given_up = len(numbers(run, r'no answer to (\d) datagrams'))
    answered = sum(n for n, in numbers(run, r'(\d+) of 1000 answered'))
    if given_up + answered != 1000:
        faults.append('%d given up, %d answered' % (given_up, answered))
    soft = [] if answered > 900 else ['%d answered' % answered]
    return faults, soft, '%d of 1000 answered' % answered


def periodic(run):
    faults = run.end()
    sentence = []
    for way in 'catch up', 'drift', 'keep phase', 'with slack':
        fired = numbers(run, r'^ *(\d+) ms: %s +due at (\d+)' % way)
        sentence.append('%s %d' % (way, len(fired)))
        faults += ['%s: fires at %d before %d' % (way, at, due)
                   for at, due in fired if at < due]
        for (at, due), (_, after) in zip(fired, fired[1:]):
            right = {'catch up': after == due + 200,
                     'drift': after == at + 200,
                     'keep phase': after == (at // 200 + 1) * 200,
                     'with slack': at // 200 * 200 < after and
                                   after % 200 <= 50}[way]
            if not right:
                faults.append('%s: at %d for %d, then for %d'
                              % (way, at, due, after))
    if len(sentence) != 4 or 'catch up 1' not in sentence[0]:
        faults.append('missing: ' + ', '.join(sentence))
    return faults, [], ', '.join(sentence)


def timer(run):
    faults = run.end()
    times = {'timer 2': 400, 'timer 3': 600, 'thrown': 700, 'timer 4': 800,
             'timer 5': 1000}
    lines = [text for _, text in run.lines]
    soft = []
    if lines != list(times):  # a start that was held up changes the order
        [faults, soft][sorted(lines) == sorted(times)] += lines
    for at, text in run.lines:
        faults += early(text, at, times.get(text, 0))
    return faults, soft, '%d lines' % len(lines)


def threads(run):
    faults = run.end()
    left = [n for n, in numbers(run, r'^(?:in time|too late), (\d) left$')]
    if left != list(range(9, -1, -1)):
        faults.append('jobs left: %s' % left)
    soft = [] if 'in time' in run.text() and 'too late' in run.text() \
        else ['every job has the same fate']
    return faults, soft, '%d jobs' % len(left)


def watch(run):
    """Ends with Ctrl-C."""
    time.sleep(1.5)
    run.program.send_signal(signal.SIGINT)
    faults = run.end()
    fired = [n for n, in numbers(run, r'pending, (\d+) fired')]
    drawings = len(numbers(run, r'\[[.0-9+#]{32}\] holds (\d+)'))
    if drawings < 2 * len(fired) or fired != sorted(fired):
        faults.append('%d wheels, fired: %s' % (drawings, fired))
    soft = [] if len(set(fired)) > 2 else ['%d frames' % len(fired)]
    return faults, soft, '%d frames' % len(fired)


class Peer:
    """A connection to the server, and when its end came."""

    def __init__(self, run):
        self.run = run
        port = int(run.command.split()[1])
        end = time.monotonic() + 10
        while True:
            self.opened = run.now()
            try:
                self.socket = socket.create_connection(('127.0.0.1', port), 10)
                break
            except OSError:  # the server is about to start
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def is_answered(self):
        self.said = self.run.now()
        self.socket.sendall(b'hello\n')
        return self.socket.recv(100) == b'hello\n'

    def lived(self, since):
        try:
            rest = self.socket.recv(100)
        except ConnectionResetError:
            rest = b''
        return self.run.now() - since if rest == b'' else 0


def server(run):
    """The first data must come in 500 ms, more within 1000 ms."""
    try:
        silent = Peer(run)
        late = [silent.lived(silent.opened) - 500]
        idle = Peer(run)
        right = idle.is_answered()
        late.append(idle.lived(idle.said) - 1000)
        busy = Peer(run)
        for _ in range(4):
            right = busy.is_answered() and right
            time.sleep(0.4)
        late.append(busy.lived(busy.said) - 1000)
        live = [Peer(run) for _ in range(20)]
        right = live[0].is_answered() and right
        run.program.send_signal(signal.SIGTERM)
        right = all(peer.lived(0) > 0 for peer in live) and right
    except OSError as error:
        return run.end(True), [str(error)], ''
    faults = run.end()
    soft = [] if right else ['an answer is missing']
    for what, value in zip(('silent', 'idle', 'busy'), late):
        # A delay counts from the beginning of the turn, which the machine may
        # have drawn out.
        [soft, faults][value < -200] += early(what, value, 0, 2)
    if numbers(run, r'^(\d+) clients$')[-1:] == []:
        soft.append('no statistic')
    return faults, soft, 'late by at most %.1f ms' % max(late)
