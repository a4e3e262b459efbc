#!/usr/bin/env python3
"""timers.py - does nginx keep its timeouts? SPDX-License-Identifier: MIT

    timers.py                 the names of the cases
    timers.py CASE NGINX...   one case, in several builds at the same time

A case passes if nginx takes the expected time: at most 30 ms less, because
nginx reads a coarse clock, and 700 ms more, because the machine may be busy.
"""
import concurrent.futures
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

CONFIG = """
daemon off; user root; pid pid; events {{ worker_connections 16384; }} {main}
http {{
    client_header_timeout {header}; client_body_timeout 1s; send_timeout 1s;
    keepalive_timeout {keepalive}; keepalive_requests 1000000; access_log off;
    lingering_timeout 1s; client_max_body_size 0; proxy_connect_timeout 1s;
    proxy_send_timeout 1s; proxy_read_timeout 1s; server {{
        listen unix:{folder}/socket backlog=4096; root .;
        location /log {{
            alias page; access_log log combined buffer=1k flush=1m; }}
        location /rate {{ alias part; limit_rate 5k; }}
        location /chain {{ proxy_pass http://unix:{folder}/socket:/rate;
            proxy_read_timeout 1500ms; proxy_buffer_size 1k; }}
        location /silent {{ proxy_pass http://unix:{folder}/silent; }}
        location /full {{ proxy_pass http://127.0.0.1:{port}; }} }} }}
"""
CLOSED, GONE = b'closed', b'gone'  # after the last byte; or without reading
LIMIT = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # of open files
THOUSANDS = min(6000, LIMIT // 2 - 500)  # there may be two builds
now = time.monotonic


def request(path, size=0, close=''):
    return (f'{"POST" if size else "GET"} {path} HTTP/1.1\r\nHost: a\r\n'
            f'{close}Content-Length: {size}\r\n\r\n').encode()


PAGE, BYTES, CLOSE = request('/page'), bytes(5), 'Connection: close\r\n'


class Nginx:
    def __init__(self, command, main='', header='1s', keepalive='1s'):
        """Starts nginx in a folder of its own, with a silent backend, and a
        port whose queue of connections is full."""
        self.made = tempfile.TemporaryDirectory()
        folder = self.folder = self.made.name
        for name, size in ('page', 5), ('part', 14 << 10), ('big', 1 << 23):
            with open(f'{folder}/{name}', 'wb') as file:
                file.truncate(size)
        silent = socket.socket(socket.AF_UNIX)
        silent.bind(folder + '/silent')
        silent.listen()
        full = socket.create_server(('127.0.0.1', 0), backlog=0)
        waits = socket.create_connection(full.getsockname())
        self.kept = silent, full, waits
        with open(folder + '/conf', 'w', encoding='ascii') as conf:
            conf.write(CONFIG.format(
                folder=folder, main=main, header=header, keepalive=keepalive,
                port=full.getsockname()[1]))
        self.process = subprocess.Popen([*command.split(), '-p', folder, '-c',
                                         'conf', '-e', 'errors'])
        while not os.path.exists(folder + '/pid'):
            time.sleep(0.01)
        wait(self.connect(PAGE), BYTES)

    def connect(self, sent=b''):
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.folder + '/socket')
        client.sendall(sent)
        return client

    def quit(self):
        """Returns how long a graceful shutdown takes."""
        began = now()
        self.process.send_signal(signal.SIGQUIT)
        assert self.process.wait(10) == 0
        return [now() - began]


def wait(client, until):
    """Waits until the client has read some bytes, or its connection ends."""
    poll, said = select.poll(), b''
    poll.register(client, 0 if until == GONE else select.POLLIN)
    while until not in said:
        assert poll.poll(5000), f'{until} never comes'
        piece = b'' if until == GONE else client.recv(1 << 20)
        assert piece or until in (CLOSED, GONE), f'ends without {until}'
        said += piece or until


def simple(nginx, until, *pieces):
    """Sends pieces, half a second apart."""
    client, began = nginx.connect(pieces[0]), now()
    for piece in pieces[1:]:
        time.sleep(0.5)
        client.sendall(piece)
    wait(client, until)
    return [now() - began]


def many(nginx):
    """Every second client asks again, and so cancels a timer."""
    clients, asked, seconds = [nginx.connect() for _ in range(400)], {}, []
    for client in clients + clients[::2]:
        client.sendall(PAGE)
        wait(client, BYTES)
        asked[client] = now()
    for client in clients[1::2] + clients[::2]:
        wait(client, CLOSED)
        seconds.append(now() - asked[client])
    return seconds


def quit_after(nginx, path, count=1):
    """Each client asks twice, and waits most of the time."""
    clients = [nginx.connect() for _ in range(count)]
    for client in 2 * clients:
        client.sendall(request(path))
        wait(client, BYTES)
    return nginx.quit()


def quit_with_thousands(nginx):
    """A slow request makes nginx ask again and again whether it may exit."""
    clients = [nginx.connect(b'GET') for _ in range(THOUSANDS)]
    slow = nginx.connect(request('/silent', 9999))
    wait(nginx.connect(PAGE), BYTES)  # nginx has accepted all by now
    began = now()
    nginx.process.send_signal(signal.SIGQUIT)
    while now() < began + 1.5:
        slow.sendall(b'x')
        time.sleep(0.001)
    nginx.quit()
    wait(clients[-1], CLOSED)
    return [now() - began]


CASES = {  # the expected seconds, settings of nginx, the case
    'many': (1, {}, many),
    'keepalive': (1, {}, simple, CLOSED, PAGE),
    'keepalive_in_use': (2.5, {}, simple, CLOSED, PAGE, PAGE, PAGE, PAGE),
    'header': (1, {}, simple, CLOSED, b'GET', b' '),
    'body': (1.5, {}, simple, CLOSED, request('/silent', 9), b'part'),
    'send': (1, {}, simple, GONE, request('/big')),
    'lingering': (1, {}, simple, GONE, request('/page', 9)),
    'limit_rate': (2, {}, simple, CLOSED, request('/rate', close=CLOSE)),
    'proxy_connect': (1, {}, simple, b' 504 ', request('/full')),
    'proxy_send': (1, {}, simple, b' 504 ',
                   request('/silent', 1 << 22) + bytes(1 << 22)),
    'proxy_read': (1, {}, simple, b' 504 ', request('/silent')),
    'proxy_in_pieces': (2, {}, simple, CLOSED, request('/chain', close=CLOSE)),
    'quit': (0, {}, quit_after, '/log'),  # the log has a timer of a minute
    'quit_with_timeout': (1, {'main': 'worker_shutdown_timeout 1s;'},
                          quit_after, '/rate'),
    'quit_with_thousands': (2.8, {'header': '3s'}, quit_with_thousands),
    'idle': (0, {'main': 'master_process off;', 'header': '1m',
                 'keepalive': '1m'}, quit_after, '/page', THOUSANDS),
}


def run(program):
    expected, settings, case, *arguments = CASES[sys.argv[1]]
    nginx = Nginx(program, **settings)
    try:
        seconds = case(nginx, *arguments)
    finally:
        nginx.process.terminate()
        nginx.process.wait(10)
    print(f'{program}: {min(seconds):.3f} to {max(seconds):.3f} s')
    assert expected - 0.03 <= min(seconds), f'sooner than {expected} s'
    assert max(seconds) <= expected + 0.7, f'later than {expected} s'


if len(sys.argv) == 1:
    sys.exit(print(*CASES, sep='\n'))
resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
with concurrent.futures.ThreadPoolExecutor() as threads:
    list(threads.map(run, sys.argv[2:]))
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f'processor: {usage.ru_utime:.3f} s, kernel {usage.ru_stime:.3f} s')
