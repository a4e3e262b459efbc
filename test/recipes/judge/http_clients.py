"""http_clients.py - two thousand clients of http.c and server.c.

SPDX-License-Identifier: MIT
"""
import random
import select
import shutil
import signal
import socket
import time
from contextlib import suppress

GET = b'GET / HTTP/1.1\r\n\r\n'
HEADER, IDLE, WRITE, LAST = 0.5, 1.0, 0.5, 0.4  # the timeouts
clock = time.monotonic


class Client(socket.socket):
    """`due`: the time at which it must be cut, or 0. Its plan is a generator
    that sends, and yields pauses. Without `reads` only the plan reads."""

    def __init__(self, crowd, plan, due=0.0, reads=True):
        super().__init__()
        if not reads:  # small buffers, which are soon full
            self.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            self.setsockopt(socket.SOL_TCP, socket.TCP_MAXSEG, 536)
        self.crowd, self.plan, self.said = crowd, plan(self), clock()
        self.name = plan.__name__
        self.due = due and self.said + due
        self.next = self.asked = self.got = self.cut = 0
        self.most, self.is_late = HEADER, False  # late: the judge is slow
        self.connect(crowd.address)
        self.setblocking(False)
        crowd.clients[self.fileno()] = self
        crowd.poller.register(self, select.EPOLLIN if reads else 0)

    def look(self):
        """Is its next data, or a cut, too late?"""
        self.is_late |= clock() - self.said > self.most * 0.9

    def say(self, data, most=9.0):
        """More data must come within so many seconds."""
        before = clock()
        with suppress(OSError):  # it is cut
            self.send(data)
        self.look()
        self.said, self.most = before, most

    def read(self, size=9999):
        data = b''
        with suppress(ConnectionError):
            data = self.recv(size)
        self.got += len(data)
        if not data and not self.cut:
            self.cut = clock()
            self.look()
            self.crowd.poller.unregister(self)


class Crowd:
    def __init__(self, address):
        self.address, self.poller = address, select.epoll()
        self.clients, self.longest, self.is_busy = {}, 0.0, True

    def turns(self, seconds=0.0):
        end = clock() + seconds
        while True:
            begin = clock()
            for client in self.clients.values():
                if client.next <= begin and not client.cut:
                    client.next = clock() + next(client.plan, 9)
            for fd, _ in self.poller.poll(0):
                self.clients[fd].read()
            self.longest = max(self.longest, clock() - begin)
            if clock() >= end:
                return
            time.sleep(0.003)


def good(client):
    """Asks, at first at once, then in halves."""
    while client.crowd.is_busy:
        client.say(GET[:9], HEADER)
        yield 0.1 if client.asked else 0
        client.say(GET[9:], IDLE)
        client.asked += 1
        yield 0.4 + random.random() * 0.2


def slow(client):
    """Takes 24 answers each 60 ms, of 3000 asked for at once."""
    client.say(GET * 3000)
    while True:
        begin = clock()
        yield 0.06
        client.is_late |= clock() - begin > WRITE * 0.5
        with suppress(BlockingIOError):
            client.read(1000)


def mute(client):
    client.say(GET * 3000)
    yield 9


def silent(client):
    yield 9


def drip(client):
    while True:
        client.say(b'x')
        yield 0.05


def idle(client):
    client.say(GET)
    yield 9


def half(client):
    """Half a request, and the other one 200 ms after SIGTERM."""
    client.say(GET[:9], HEADER)
    yield 0.3
    client.say(GET[9:])
    client.asked = 1


def wait_for(run):
    """Returns the address of a server."""
    address = '127.0.0.1', int(run.command.split()[1])
    run.wait(lambda: not socket.socket().connect_ex(address), 'the server')
    return address


def judge(run):
    """The server is stopped for 1 and 3 s, and ended by a signal. Whoever is in
    time is answered. Whoever is late is cut, within 100 ms and what the judge
    takes: a turn or two, and, for a mute client, until its buffers are full. At
    last, strace makes a send a byte in 50 ms, and no byte may put off the cut.
    For server.c any data is a request, and an answer is an echo."""
    is_http, crowd, stops = 'http' in run.command, Crowd(wait_for(run)), []
    end = signal.SIGTERM if is_http else signal.SIGINT
    answer = 41 if is_http else len(GET)
    for i in range(1900):
        Client(crowd, good)
        if i % 100 == 0:
            crowd.turns()
    for stop in 0, 1, 3:
        for _ in range(10):
            Client(crowd, silent, HEADER)
            Client(crowd, idle, IDLE)
        for _ in range(3 * is_http):
            Client(crowd, drip, HEADER)
            Client(crowd, mute, WRITE, False)
            Client(crowd, slow, 0, False)
        crowd.turns(0.3)
        begin = clock()
        run.stop(stop, crowd.turns)
        stops.append((begin, clock()))
        crowd.turns(1.3)
    crowd.is_busy = False
    for _ in range(9 * is_http):
        Client(crowd, half)
        Client(crowd, drip, 0.15 + LAST)
    crowd.turns(0.15)
    everybody = list(crowd.clients.values())
    late, ended = sum(c.is_late for c in everybody), clock()
    run.program.send_signal(end)
    crowd.turns(0.9)
    run.end()
    crowd.turns(0.1)  # what is left to read
    assert is_http or '\n19' in run.text() or late > 50, \
        'clients are lost: ' + run.text()
    for c in everybody:
        most = 0.1 + 2 * crowd.longest + WRITE * (c.name == 'mute')
        if c.due:  # or the end of the stop in which it was due
            c.due = max([c.due] + [go_on for stop, go_on in stops
                                   if stop < c.due < go_on])
            assert not 0 < c.cut < c.due, '%s: cut early' % c.name
            assert 0 < c.cut < c.due + most, 'late: %s is cut after %.0f ms' % (
                c.name, (c.cut - c.due) * 1000)
        elif not c.is_late:
            assert not 0 < c.cut < ended, '%s: cut early' % c.name
            assert c.name != 'good' or c.cut < ended + most, 'late: idle'
            assert c.name == 'slow' or c.got == c.asked * answer, \
                '%s: %d of %d answers, the rest is lost' % (
                    c.name, c.got // answer, c.asked)
    if is_http and run.how == 'plain' and shutil.which('strace'):
        run = type(run)(run.folder, run.command, run.how,
                        '-e trace=sendto '
                        '-e inject=sendto:retval=1:delay_exit=50000')
        with socket.create_connection(wait_for(run), 3) as sip:
            begin = clock()
            sip.send(GET)
            with suppress(socket.timeout):
                sip.recv(1)
            taken = clock() - begin
        run.program.send_signal(end)
        run.end()
        assert WRITE <= taken, 'sip: cut early'
        assert taken < 1.5, 'late: sip is cut after %.1f s' % taken
    return '%d answers, %d clients say too late, a turn takes %.0f ms' % (
        sum(c.got for c in everybody) // answer,
        sum(c.is_late for c in everybody), crowd.longest * 1000)
