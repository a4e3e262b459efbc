#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the bench: every workload on every engine, in turns, and the median of
the runs. Writes results/cells.tsv, results/processes.json and the plots, and
the blocks of README.md between <!-- begin NAME --> and <!-- end NAME -->.
`make bench` builds the bench and calls this program."""

import argparse
import csv
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = [100, 1000, 10000, 100000, 1000000]
WORKLOADS = ('hold expire restart postpone cancel startstop burst sparse idle '
             'trace calls post processes').split()
TRACES = ['asyncio-http', 'http-proxy']
QUANTILES = ['p50', 'p99', 'p99.9', 'max']
LOOPS = ('libuv', 'libevent', 'libev')
ALL_CORES = getattr(os, 'sched_getaffinity', lambda _: set())(0)
ONE_CORE = set(sorted(ALL_CORES)[-1:])

# The figures of cells.tsv, as bench/timers prints them: medians of the runs.
FIGURES = ['ns per operation', 'ns, start', 'ns, expire', 'ns, cancel',
           'ns, pass', 'ns, loop', 'ns, wall', 'fired', 'wake-ups',
           'bytes per timer', 'bytes in the timer', 'call, p50', 'call, p99',
           'call, p99.9', 'call, max']
COLUMNS = ['workload', 'input', 'engine', 'runs', 'checksum', 'least', 'most']

NAMES = {'wheel': 'timingwheel.h', 'heap4_lazy': 'heap',
         'heap4': 'plain heap', 'rbtree': 'red-black tree',
         'list': 'hashed wheel', 'timeout': 'timeout.c'}

# What hyperfine compares: whole processes, whose set-up must not count.
PROCESSES = [('many timers', 'hold 100000 --rounds 200'),
             ('few timers', 'hold 1000 --rounds 20000'),
             ('restart', 'restart 10000 --rounds 4000'),
             ('cancel', 'cancel 10000 --rounds 4000'),
             ('recorded traffic',
              'trace bench/traces/http-proxy.txt.gz --rounds 2000')]
HYPERFINE = ['hyperfine', '-N', '--warmup', '1', '--runs', '5']
MOST_SETUP = 0.05
CLOCK_NS = 50  # what the clock cannot tell apart


def fail(message):
    sys.exit('bench: ' + message)


# ------------------------------------------------------------------ runs ---

def quiet():
    """The highest priority and one core, where the system allows that."""
    try:
        os.nice(-20)
    except OSError:
        print('bench: no right to nice -n -20', file=sys.stderr)


def pin(cores):
    if cores:
        os.sched_setaffinity(0, cores)


def timers(arguments):
    """One run: the figures of each engine."""
    done = subprocess.run(['bench/timers'] + arguments, text=True,
                          stdout=subprocess.PIPE)
    if done.returncode != 0:
        fail('bench/timers %s failed' % ' '.join(arguments))
    runs, figures = {}, {}
    for line in done.stdout.splitlines():
        if line[0] != ' ':
            figures = runs[line.split()[0]] = {}
            continue
        label, value = re.match(r'  (\S.*?) {2,}(\S+)', line).groups()
        if label.startswith('waiting, '):
            if figures is runs.get('wheel'):
                waiting = runs.setdefault('waiting', {})
                waiting[label.replace('waiting', 'call')] = float(value)
        else:
            figures[label] = value if label == 'checksum' else float(value)
    return runs


def measure(cell, args):
    """All runs of a cell, the engines in turns: rows of cells.tsv."""
    workload, size, engines = cell
    calls = workload.startswith('calls-')
    pin(ALL_CORES if workload.startswith('post-') else ONE_CORE)
    options = ['--seed', str(args.seed)]
    if args.rounds:
        options += ['--rounds', str(args.rounds)]
    what = 'bench/traces/%s.txt.gz' % size if workload == 'trace' else size
    runs = {}
    for _ in range(1 if calls else args.runs):  # calls-* has passes of its own
        for some in [','.join(engines)] if calls else engines:
            for engine, figures in timers([some, workload, str(what)] +
                                          options).items():
                runs.setdefault(engine, []).append(figures)
    sums = {run.get('checksum') for of in runs.values() for run in of} - {None}
    if len(sums) > 1:
        fail('%s %s: the engines did not fire the same timers' % cell[:2])
    rows = []
    for engine, of in runs.items():
        times = [run.get('ns per operation', 0) for run in of]
        row = {'workload': workload, 'input': str(size), 'engine': engine,
               'runs': len(of), 'checksum': of[0].get('checksum'),
               'least': min(times), 'most': max(times)}
        for figure in FIGURES:
            if figure in of[0]:
                row[figure] = statistics.median(run[figure] for run in of)
        rows.append(row)
    return rows


def processor_time(command):
    """Seconds of a process that makes one round: its set-up, and little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = command.split()[:4] + ['--rounds', '1']
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime -
            before.ru_utime - before.ru_stime)


def processes():
    """hyperfine compares the timingwheel with the heap."""
    pin(ONE_CORE)
    results = []
    for name, arguments in PROCESSES:
        commands = ['bench/timers %s %s' % (engine, arguments)
                    for engine in ('wheel', 'heap4_lazy')]
        with tempfile.NamedTemporaryFile() as export:
            subprocess.run(HYPERFINE + ['--export-json', export.name] +
                           commands, check=True)
            both = json.load(export)['results']
        for command, result in zip(commands, both):
            result['setup'] = (min(processor_time(command) for _ in range(3)) /
                               (result['user'] + result['system']))
            if result['setup'] > MOST_SETUP:
                print('bench: set-up takes %.0f %% of %s' %
                      (100 * result['setup'], command), file=sys.stderr)
        results.append({'name': name, 'results': both})
    return results


# ------------------------------------------------------------------ grid ---

def grid(args):
    """The cells: workload, size or trace, engines."""
    engines = {}
    listed = subprocess.run(['bench/timers', '--engines'], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    for line in listed.splitlines():
        name, *can = line.split()
        for workload in can:
            if not args.engines or name in args.engines:
                engines.setdefault(workload, []).append(name)

    def cell(workload, size, without=()):
        chosen = [e for e in engines.get(workload, []) if e not in without]
        if isinstance(size, int) and size > 1000000:
            chosen = [e for e in chosen if e in ('wheel', 'heap4_lazy')]
        if 'wheel' in chosen:  # first, so that calls-* prints the waiting
            chosen.sort(key=lambda e: e != 'wheel')
        return [(workload, size, chosen)] if chosen else []

    sizes = args.sizes or SIZES + ([10000000] if args.full else [])
    cells = []
    for workload in args.workloads:
        if workload == 'trace':
            for trace in TRACES:
                cells += cell(workload, trace)
        elif workload == 'calls':
            slow = ('list', 'rbtree')
            for size in args.sizes or [1000, 1000000]:
                cells += cell('calls-minute', size, slow)
                for kind in 'calls-hour', 'calls-idle':
                    cells += cell(kind, size, slow + LOOPS)
        elif workload == 'post':
            for threads in 1, 2, 4:
                for kind in 'post-64', 'post-1024':
                    cells += cell(kind, threads)
        elif workload != 'processes':
            for size in sizes:  # list would take a minute a run
                cells += cell(workload, size, ('list',) * (size > 10000))
    return cells


def run(args):
    path = os.path.join(args.results, 'cells.tsv')
    rows = read(path) if args.missing else []
    have = {(row['workload'], row['input'], row['engine']) for row in rows}
    cells = []
    for workload, size, engines in grid(args):
        engines = [e for e in engines if (workload, str(size), e) not in have]
        if engines:
            cells.append((workload, size, engines))
    write_json(args, 'machine.json', machine(args))
    quiet()
    began = time.time()
    for done, cell in enumerate(cells):
        left = (time.time() - began) * (len(cells) - done) / max(done, 1) / 60
        print('%d/%d %s %s%s' % (done + 1, len(cells), cell[0], cell[1],
                                 ', about %d min left' % left if done else ''),
              file=sys.stderr)
        rows += measure(cell, args)
        with open(path, 'w', newline='') as out:
            writer = csv.DictWriter(out, COLUMNS + FIGURES, delimiter='\t',
                                    restval='-', lineterminator='\n')
            writer.writeheader()
            writer.writerows({k: '%.6g' % v if isinstance(v, float) else v
                              for k, v in row.items() if v is not None}
                             for row in rows)
    if 'processes' in args.workloads and shutil.which('hyperfine'):
        write_json(args, 'processes.json', processes())


def write_json(args, name, what):
    with open(os.path.join(args.results, name), 'w') as out:
        json.dump(what, out, indent=1)
        out.write('\n')


def machine(args):
    processor = platform.machine()
    if os.path.exists('/proc/cpuinfo'):
        with open('/proc/cpuinfo') as info:
            model = re.search(r'model name\s*: (.*)', info.read())
        processor = model.group(1) if model else processor
    compiler = subprocess.run([os.environ.get('CC', 'cc'), '--version'],
                              stdout=subprocess.PIPE, text=True).stdout
    return '%s, %d cores, %s %s; %s, %s; %s, seed %d, medians of %d runs' % (
        processor, os.cpu_count(), platform.system(),
        platform.release().split('-')[0], compiler.splitlines()[0],
        os.environ.get('CFLAGS', '-O2'), time.strftime('%Y-%m-%d'), args.seed,
        args.runs)


# ---------------------------------------------------------------- report ---

def read(path):
    with open(path, newline='') as lines:
        return [{k: v for k, v in row.items() if v != '-'}
                for row in csv.DictReader(lines, delimiter='\t')]


def short(size):
    if not str(size).isdigit() or int(size) < 1000:
        return str(size)
    size = int(size)
    return '%d k' % (size // 1000) if size < 1000000 else '%d M' % (
        size // 1000000)


def text(value, scale=1):
    if value is None:
        return ''
    value *= scale
    return '%.2f' % value if value < 1 else '%.1f' % value if value < 10 \
        else format(round(value), ',')


def table(head, rows, align='--:|'):
    return ['| %s |' % ' | '.join(head),
            '|---|' + align * (len(head) - 1)] + [
                '| %s |' % ' | '.join(row) for row in rows]


def place(row):
    """Sorts by workload and size; an engine keeps its place."""
    size = row['input']
    return (WORKLOADS.index(row['workload'].split('-')[0]), row['workload'],
            int(size) if size.isdigit() else 0)


class Report:
    def __init__(self, results):
        self.results = results
        self.rows = {}
        for row in sorted(read(os.path.join(results, 'cells.tsv')),
                          key=place):
            key = row['workload'], row['input'], row['engine']
            self.rows[key] = row
        with open(os.path.join(results, 'machine.json')) as lines:
            self.machine = [json.load(lines) + '.']

    def figure(self, workload, size, engine, figure='ns per operation'):
        value = self.rows.get((workload, str(size), engine), {}).get(figure)
        return None if value is None else float(value)

    def inputs(self, workload):
        return list(dict.fromkeys(
            size for kind, size, _ in self.rows if kind == workload))

    def compare(self, head, lines, engines, bold=True):
        """A line per cell, a column per engine, the least one in bold."""
        rows = []
        for name, workload, size, figure, scale in lines:
            values = [self.figure(workload, size, e, figure) for e in engines]
            shown = [text(value, scale) for value in values]
            known = [v for v, e in zip(values, engines)
                     if v is not None and e != 'waiting']
            if not known:
                continue
            if bold:
                least = text(min(known), scale)
                shown = ['**%s**' % t if t == least and e != 'waiting' else t
                         for t, e in zip(shown, engines)]
            rows.append([name, short(size)] + shown)
        return table(head + [NAMES.get(e, e) for e in engines], rows)

    def summary(self):
        ns = 'ns per operation'
        lines = [(name, workload, size, ns, 1)
                 for name, workload in (('a timer fires and starts again',
                                         'hold'),
                                        ('cancel and start again', 'restart'),
                                        ('postpone', 'postpone'))
                 for size in (1000, 1000000)]
        lines += [('recorded traffic', 'trace', t, ns, 1) for t in TRACES]
        lines += [('%sth percentile of a call, us' % q[1:], 'calls-minute',
                   1000000, 'call, ' + q, 1e-3) for q in ('p99', 'p99.9')]
        return self.compare(['ns per operation', 'timers'], lines,
                            ['wheel', 'heap4_lazy', 'libuv', 'timeout',
                             'radix'])

    def few(self):
        lines = [(w, w, size, 'ns per operation', 1)
                 for w in ('hold', 'sparse') for size in (100, 1000, 10000)]
        lines += [(w, w, 1000, 'ns per operation', 1)
                  for w in ('startstop', 'burst', 'idle')]
        lines += [('trace', 'trace', t, 'ns per operation', 1) for t in TRACES]
        return self.compare(['workload', 'timers'], lines,
                            ['wheel', 'heap4_lazy', 'rbtree', 'radix'])

    def restarts(self):
        return self.compare(
            ['workload', 'timers'],
            [(w, w, size, 'ns per operation', 1)
             for w in ('restart', 'postpone', 'cancel')
             for size in (1000, 100000, 1000000)],
            ['wheel', 'heap4_lazy', 'rbtree', 'timeout', 'radix', 'libuv'])

    def calls(self):
        return self.compare(
            ['us', 'timers'],
            [('%s, %s' % (w, q), w, size, 'call, ' + q, 1e-3)
             for size in (1000, 1000000)
             for w in ('calls-minute', 'calls-hour', 'calls-idle')
             for q in (QUANTILES[1:] if size > 1000 else ['max'])],
            ['wheel', 'heap4_lazy', 'heap4', 'timeout', 'radix', 'waiting'])

    def memory(self):
        return self.compare(
            ['bytes per timer', 'timers'],
            [('hold', 'hold', size, 'bytes per timer', 1) for size in SIZES],
            ['wheel', 'heap4_lazy', 'rbtree', 'timeout', 'radix'])

    def threads(self):
        rows = []
        for workload in 'post-64', 'post-1024':
            for size in self.inputs(workload):
                row = [workload, size]
                for figure in 'ns, wall', 'ns per operation', 'ns, loop':
                    for engine in 'mailbox', 'mutex':
                        value = self.figure(workload, size, engine, figure)
                        row.append(text(1e3 / value if figure == 'ns, wall'
                                        else value))
                rows.append(row)
        return table(['workload', 'threads',
                      'million posts/s: mailbox', 'mutex',
                      'ns of a post: mailbox', 'mutex',
                      'ns of the loop: mailbox', 'mutex'], rows)

    def faster(self):
        """Every cell in which an engine takes 5 % less than this library. In
        calls-*, differences that the clock cannot show do not count."""
        lists = {}
        for workload, size, _ in [k for k in self.rows if k[2] == 'wheel']:
            figures = {'ns per operation': ''}
            if workload.startswith('calls-'):
                figures = {'call, ' + q: ' ' + q for q in QUANTILES}
            for figure, name in figures.items():
                ours = self.figure(workload, size, 'wheel', figure)
                most = min(0.95 * ours, ours - CLOCK_NS * bool(name))
                others = {
                    key[2]: self.figure(*key, figure) for key in self.rows
                    if key[:2] == (workload, size) and key[2] != 'waiting'}
                names = sorted((e for e in others if others[e] < most),
                               key=others.get)
                if names:
                    lists.setdefault(workload, []).append(
                        '%s%s: %s; %s' % (short(size), name, text(ours),
                                          ', '.join(NAMES.get(e, e) + ' ' +
                                                    text(others[e])
                                                    for e in names)))
        return table(['workload', 'timers: ns of timingwheel.h; who is faster'],
                     [[w, '<br>'.join(lines)] for w, lines in lists.items()],
                     '---|')

    def processes(self):
        path = os.path.join(self.results, 'processes.json')
        if not os.path.exists(path):
            return []
        with open(path) as lines:
            cells = json.load(lines)
        rows = []
        for cell in cells:
            ours, heap = cell['results']
            ratio = heap['mean'] / ours['mean']
            spread = ratio * ((ours['stddev'] / ours['mean']) ** 2 +
                              (heap['stddev'] / heap['mean']) ** 2) ** 0.5
            rows.append(
                [cell['name'], '`%s`' % ours['command'].split(None, 2)[2]] +
                ['%.0f ± %.0f ms' % (1e3 * r['mean'], 1e3 * r['stddev'])
                 for r in (ours, heap)] +
                ['%.2f ± %.2f' % (ratio, spread),
                 '%.1f %%' % (100 * max(ours['setup'], heap['setup']))])
        return ['    ' + ' '.join(HYPERFINE) + ' \\',
                "        'bench/timers wheel WORKLOAD' "
                "'bench/timers heap4_lazy WORKLOAD'", ''] + table(
                    ['', 'WORKLOAD', 'wheel', 'heap4_lazy',
                     'heap4_lazy / wheel', 'set-up'], rows)

    def check(self):
        """A heap wakes its loop exactly when a timer is due."""
        for workload in 'hold', 'expire', 'burst', 'sparse':
            for size in self.inputs(workload):
                ours = self.figure(workload, size, 'wheel', 'wake-ups')
                heap = self.figure(workload, size, 'heap4', 'wake-ups')
                if None not in (ours, heap) and ours > heap:
                    fail('%s %s: the wheel wakes its loop more often' %
                         (workload, size))

    def block(self, name):
        return self.machine if name == 'machine' else getattr(self, name)()

    def write(self, path):
        """Puts new blocks between the markers of a file."""
        with open(path) as lines:
            old = lines.read()
        new = re.sub(
            r'(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)',
            lambda m: m[1] + '\n'.join(self.block(m[2]) + ['']) + m[3], old,
            flags=re.S)
        if new != old:
            with open(path, 'w') as out:
                out.write(new)

    def plot(self):
        if not self.inputs('hold'):
            return
        if not shutil.which('gnuplot'):
            print('bench: no plots without gnuplot', file=sys.stderr)
            return
        engines = ['wheel', 'heap4_lazy', 'timeout', 'libuv']
        with tempfile.NamedTemporaryFile('w') as data:
            for size in self.inputs('hold'):
                values = [self.figure('hold', size, e) for e in engines]
                print(size, *[v or 'NaN' for v in values], file=data)
            data.flush()
            for theme in 'light', 'dark':
                subprocess.run(
                    ['gnuplot', '-c', 'bench/plot.gp', data.name,
                     os.path.join(self.results, 'hold-%s.svg' % theme), theme,
                     ' '.join(NAMES.get(e, e) for e in engines)], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add('--full', action='store_true', help='10 million timers as well')
    add('--report', action='store_true', help='only tables and plots')
    add('--missing', action='store_true',
        help='keep the results, and run only what is missing')
    add('--runs', type=int, default=5)
    add('--seed', type=int, default=1)
    add('--rounds', type=int, help='other rounds than the default')
    add('--sizes', type=int, nargs='+')
    add('--workloads', nargs='+', choices=WORKLOADS, default=WORKLOADS)
    add('--engines', nargs='+')
    add('--results', default=os.path.join(HERE, 'results'))
    args = parser.parse_args()
    args.results = os.path.abspath(args.results)
    os.chdir(os.path.dirname(HERE))
    os.makedirs(args.results, exist_ok=True)
    try:
        if not args.report:
            run(args)
    except KeyboardInterrupt:
        fail('interrupted; --missing goes on from here')
    report = Report(args.results)
    report.check()
    report.plot()
    if args.results == os.path.join(HERE, 'results'):
        report.write('bench/README.md')
        report.write('README.md')
    else:
        for name in ('machine summary few restarts calls memory threads '
                     'faster processes').split():
            print('\n## %s\n' % name, *report.block(name), sep='\n')


main()
