#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables and plots from bench/results, where bench.py puts a folder
per machine. Without an option: draws the plots again, and writes the blocks of
README.md and bench/README.md between <!-- begin NAME --> and <!-- end NAME -->,
from the machine that ran last."""

import argparse
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = 'bench/results'
PAGES = ['README.md', 'bench/README.md']
QUANTILES = ['p50', 'p99', 'p99.9', 'max']
NS, MAX = 'ns per operation', 'call, max'
CLOCK_NS = 50  # what the clock of calls-* cannot tell apart
PACES = {'1': '1 ms', '1000': '1 s', '60000': '1 min'}
OURS = 'timingwheel.h'


def is_calls(workload):
    return workload.startswith('calls-')


def runs_of(workload, runs):
    """Single calls are timed in two passes, and in fewer runs."""
    return (runs + 1) // 2 if is_calls(workload) else runs


def lines(workloads, sizes, figure=NS, suffix=''):
    """Lines of a table: name, workload, size, figure."""
    return [(w + suffix, w, str(s), figure) for w in workloads for s in sizes]


# What the pages show, and so what is measured: the first heading of a table,
# its lines, its engines.
TABLES = {
    'six': ('ns', [
        ('fire and start again, clock in ns', 'hold-ns', '10000', NS),
        ('fire and start again, clock in ticks', 'hold', '1000000', NS),
        ('p99.9 of a call each 1 ms', 'calls-minute', '100000',
         'call, p99.9'),
        ('cancel and start again', 'restart', '1000000', NS),
        ('recorded asyncio traffic', 'trace', 'asyncio-http', NS),
        ('all due at one tick', 'burst', '1000', NS)],
            [OURS, 'heap', 'tree', 'radix-heap']),
    'many': ('workload', lines(['hold', 'hold-ns'], [10000]) +
             lines(['hold'], [1000000]) + lines(['expire'], [100000]),
             [OURS, 'heap', 'tree', 'libuv', 'timeout.c', 'radix-heap']),
    'few': ('workload', lines(['hold', 'hold-ns', 'sparse'], [100]) +
            lines(['sparse'], [10000]) +
            lines(['startstop', 'burst', 'idle'], [1000]) +
            lines(['trace'], ['asyncio-http', 'http-proxy']),
            [OURS, 'heap', 'tree', 'radix-heap']),
    'restarts': ('workload',
                 lines(['restart', 'keepalive', 'cancel'], [1000, 1000000]),
                 [OURS, 'heap', 'tree', 'libuv', 'timeout.c', 'radix-heap',
                  'hashed-wheel']),
    'postpones': ('workload', lines(['postpone'], [1000, 1000000]),
                  [OURS, 'heap', 'tree', 'libuv', 'timeout.c', 'radix-heap',
                   'hashed-wheel']),
    'calls': ('us',
              lines(['calls-minute'], [1000, 100000], 'call, p99.9',
                    ', p99.9') + sum(
                  [lines([w], [1000000], 'call, ' + q, ', ' + q)
                   for w in ('calls-minute', 'calls-idle')
                   for q in QUANTILES[1:]], []),
              [OURS, 'heap', 'plain-heap', 'timeout.c', 'radix-heap']),
    'pace': ('the longest call',
             lines(['calls-hour', 'calls-10-minutes'], PACES, MAX),
             [OURS, 'heap'])}
PLOT = (lines(['hold'], [100, 1000, 10000, 100000, 1000000]),
        [OURS, 'heap', 'timeout.c', 'libuv'])
THREADS = (lines(['post-64', 'post-1024'], [2, 4]), ['mailbox', 'mutex'])


def cells():
    """What is measured: the engines of each workload and input."""
    wanted = {}
    for part in [PLOT, THREADS] + [t[1:] for t in TABLES.values()]:
        for _, workload, size, _ in part[0]:
            found = wanted.setdefault((workload, size), [])
            found += [e for e in part[1] if e not in found]
    return wanted


def fail(message):
    sys.exit('bench: ' + message)


# --------------------------------------------------------------- results ---

class Results:
    """One machine. A figure is the median of its runs and their quartiles,
    which are the spread: half of the runs lie between them."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = {}
        with open(os.path.join(folder, 'cells.tsv'), newline='') as rows:
            for row in csv.DictReader(rows, delimiter='\t'):
                key = row['workload'], row['input'], row['engine']
                self.rows[key] = {
                    name: ([float(v) for v in value.split()] * 3)[:3]
                    for name, value in row.items() if value != '-' and
                    name not in ('workload', 'input', 'engine', 'checksum')}
        with open(os.path.join(folder, 'machine.json')) as text_of:
            self.machine = json.load(text_of)

    def figure(self, workload, size, engine, name=NS):
        return self.rows.get((workload, size, engine), {}).get(name)


def all_machines(root):
    """The machines, the last run first."""
    folders = [os.path.join(root, name) for name in sorted(os.listdir(root))]
    machines = [Results(folder) for folder in folders
                if os.path.exists(os.path.join(folder, 'machine.json'))]
    return sorted(machines, key=lambda r: r.machine['date'], reverse=True)


def is_faster(a, b, clock=0):
    """Beyond the spread: the quartiles of a and b do not overlap."""
    return a[2] < b[1] - clock


def clock_of(figure):
    return CLOCK_NS if figure.startswith('call, ') else 0


def leaders(figures, clock=0):
    """The engines with the least median, or quartiles that overlap with its."""
    best = min(figures.values())
    return {e for e, f in figures.items() if not is_faster(best, f, clock)}


# ------------------------------------------------------------------ text ---

def short(size):
    if not size.isdigit() or int(size) < 1000:
        return size
    size = int(size)
    return '%d k' % (size // 1000) if size < 1000000 else '%d M' % (
        size // 1000000)


def text(value):
    return '%.2f' % value if value < 1 else '%.1f' % value if value < 10 \
        else format(round(value), ',')


def duration(ns):
    """Two digits and a unit: 25 us."""
    for unit, scale in ('ns', 1), ('us', 1e3), ('ms', 1e6), ('s', 1e9):
        if float('%.2g' % (ns / scale)) < 1000 or unit == 's':
            return '%g %s' % (float('%.2g' % (ns / scale)), unit)


def table(head, rows, align='--:|'):
    return ['| %s |' % ' | '.join(head),
            '|---|' + align * (len(head) - 1)] + [
                '| %s |' % ' | '.join(row) for row in rows]


def spread_of(figures):
    """Says how far the quartiles of some cells lie apart: {name: figure}."""
    apart = sorted(((f[2] - f[1]) / f[0], name)
                   for name, f in figures.items() if f[0] > 0)
    if not apart or apart[-1][0] == 0:
        return 'The runs do not differ.'
    return ('Spread: up to %.0f %% in half of the cells, %.0f %% at most (%s).' %
            (100 * statistics.median(a for a, _ in apart), 100 * apart[-1][0],
             apart[-1][1]))


# ---------------------------------------------------------------- blocks ---

class Report:
    """Each method without an underscore is a block of a page, and so is each
    name in TABLES."""

    def __init__(self, results):
        self._results = results

    def _note(self, workloads, sentence):
        runs = {runs_of(w, self._results.machine['runs']) for w in workloads}
        return ['', '*Medians of %s runs. %s*' % (
            ' to '.join(str(r) for r in sorted(runs)), sentence)]

    def _engines(self, of, engines):
        return [e for e in engines
                if any(self._results.figure(w, s, e, f) for _, w, s, f in of)]

    def _compare(self, name):
        """A line per cell, a column per engine."""
        head, of, engines = TABLES[name]
        engines = self._engines(of, engines)
        rows, seen = [], {}
        for label, workload, size, figure in of:
            found = {e: self._results.figure(workload, size, e, figure)
                     for e in engines}
            found = {e: f for e, f in found.items() if f is not None}
            if not found:
                continue
            best = leaders(found, clock_of(figure))
            scale = 1e-3 if head == 'us' else 1
            shown = [text(found[e][0] * scale) if e in found else ''
                     for e in engines]
            rows.append([label, short(size)] +
                        ['**%s**' % t if e in best else t
                         for e, t in zip(engines, shown)])
            seen.update({'%s %s, %s' % (label, short(size), e): f
                         for e, f in found.items()})
        return table([head, 'timers'] + engines, rows) + self._note(
            [w for _, w, _, _ in of], spread_of(seen))

    def six(self):
        """The short table of README.md."""
        names = {'tree': 'tree, as in nginx',
                 'radix-heap |': 'radix heap, as in Seastar |'}
        m = self._results.machine
        made = self._compare('six')
        made[0] = ' | '.join(names.get(n, n) for n in made[0].split(' | '))
        at_once = '| 90 |'
        made = [line.replace('| asyncio-http |', at_once) for line in made]
        made[-1] = ('*%s, %s %s. Bold: fastest, or quartiles overlap.*'
                    % (
                        m['processor'].split(' (')[0], re.sub(
                            r'^.*\) (\d+)\..*', r'gcc \1', m['compiler']),
                        m['flags']))
        return made

    def machine(self):
        m = self._results.machine
        parts = ['%s, %d processors%s, %s' % (
            m['processor'], m['processors'],
            ' of a virtual machine' * m['virtual'], m['caches']),
                 m['system'], '%s, %s' % (m['compiler'], m['flags']),
                 'timingwheel.h ' + m['version'],
                 '%s, seed %d, a load of %s' % (m['date'], m['seed'],
                                                m.get('load', 'unknown'))]
        engines = ['%s %s' % (e, engine['version'])
                   for e, engine in m['engines'].items() if engine['version']
                   and e not in (OURS, 'mailbox', 'mutex')]
        return ['; '.join(parts) + '. Also: %s.' % ', '.join(engines)]

    def pace(self):
        """The longest call, a column per pace of the loop."""
        _, of, engines = TABLES['pace']
        rows, seen = [], {}
        for workload, delays in (('calls-hour', 'up to an hour'),
                                 ('calls-10-minutes', '10 to 11 minutes')):
            for engine in self._engines(of, engines):
                found = {p: self._results.figure(workload, p, engine, MAX)
                         for p in PACES}
                rows.append([delays, engine] + [
                    duration(f[0]) if f else '' for f in found.values()])
                seen.update({'%s, %s, %s' % (delays, PACES[p], engine): f
                             for p, f in found.items() if f})
        return table(['delays', 'longest call of'] + [
            'a call each ' + p for p in PACES.values()], rows) + self._note(
                ['calls-hour'], 'A million timers. ' + spread_of(seen))

    def longest(self):
        """The same for README.md, in a sentence."""
        found = [self._results.figure(w, p, e, MAX)
                 for w, paces in (('calls-hour', PACES),
                                  ('calls-10-minutes', list(PACES)[-1:]))
                 for p in paces for e in (OURS, 'heap')]
        if None in found:
            return []
        return ['Longest call (heap), a million timers within an hour, '
                'one call each millisecond: %s (%s), second: %s (%s), minute: '
                '%s (%s). All due in that minute: %s (%s).' %
                tuple(duration(f[0]) for f in found)]

    def memory(self):
        """Bytes per timer, with the timer itself."""
        rows, sizes = [], [line[2] for line in PLOT[0]]
        for engine in OURS, 'heap', 'timeout.c':
            found = [self._results.figure('hold', s, engine, 'bytes per timer')
                     for s in sizes]
            if any(found):
                rows.append([engine] + [text(f[0]) if f else '' for f in found])
        return table(['bytes per timer'] + ['%s timers' % short(s)
                                            for s in sizes], rows)

    def threads(self):
        rows, seen = [], {}
        for _, workload, size, _ in THREADS[0]:
            row = [workload, size]
            for name, what in (('ns, wall', 'posts'), (NS, 'a post'),
                               ('ns, loop', 'the loop')):
                for engine in THREADS[1]:
                    f = self._results.figure(workload, size, engine, name)
                    row.append('' if f is None else text(
                        1e3 / f[0] if name == 'ns, wall' else f[0]))
                    if f is not None:
                        seen['%s of %s %s, %s' % (what, workload, size,
                                                  engine)] = f
            rows.append(row)
        return table(['workload', 'threads', 'million posts/s: mailbox',
                      'mutex', 'ns of a post: mailbox', 'mutex',
                      'ns of the loop: mailbox', 'mutex'], rows) + self._note(
                          ['post-64'], 'The threads and the loop share '
                          '%d processors. %s' %
                          (self._results.machine['processors'],
                           spread_of(seen)))

    def processes(self):
        path = os.path.join(self._results.folder, 'processes.json')
        if not os.path.exists(path):
            return []
        with open(path) as measured_by:
            measured = json.load(measured_by)
        rows = []
        for cell in measured['cells']:
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
        return ['    %s \\' % measured['hyperfine'],
                "        '.build/bench/timers %s WORKLOAD' "
                "'.build/bench/timers heap WORKLOAD'" % OURS, ''] + table(
                    ['', 'WORKLOAD', OURS, 'heap', 'heap / ' + OURS,
                     'set-up'], rows)

    def block(self, name):
        if name.startswith('_') or not hasattr(self, name):
            if name not in TABLES:
                fail('no block is called ' + name)
            return self._compare(name)
        return getattr(self, name)()


def write(report, path):
    """Puts new blocks between the markers of a page."""
    with open(path) as page:
        old = page.read()
    new = re.sub(
        r'(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)',
        lambda m: m[1] + '\n'.join(report.block(m[2]) + ['']) + m[3], old,
        flags=re.S)
    if new != old:
        with open(path + '.new', 'w') as out:
            out.write(new)
        os.replace(path + '.new', path)


def plot(results, folder):
    """Draws hold-light.svg and hold-dark.svg, with the engines that ran."""
    if not shutil.which('gnuplot'):
        print('bench: no plots, because gnuplot is missing', file=sys.stderr)
        return
    engines = [e for e in PLOT[1] if any(
        results.figure(w, s, e) for _, w, s, _ in PLOT[0])]
    if not engines:
        return
    with tempfile.NamedTemporaryFile('w') as data:
        for _, workload, size, _ in PLOT[0]:
            values = [results.figure(workload, size, e) for e in engines]
            print(size, *[v[0] if v else 'NaN' for v in values], file=data)
        data.flush()
        for theme in 'light', 'dark':
            path = os.path.join(folder, 'hold-%s.svg' % theme)
            done = subprocess.run(
                ['gnuplot', '-c', 'bench/plot.gp', data.name, path + '.new',
                 theme, ' '.join(engines)])
            if done.returncode != 0:
                print('bench: gnuplot failed', file=sys.stderr)
                return
            os.replace(path + '.new', path)


def check(results):
    """A heap wakes its loop exactly when a timer is due."""
    for workload, size in cells():
        ours = results.figure(workload, size, OURS, 'wake-ups')
        heap = results.figure(workload, size, 'heap', 'wake-ups')
        if workload in ('hold', 'hold-ns', 'expire', 'burst', 'sparse') and \
                ours and heap and ours[0] > heap[0]:
            fail('%s %s: the wheel wakes its loop more often' %
                 (workload, size))


def publish(root):
    """Tables and plots of the machine that ran last."""
    machines = all_machines(root)
    if not machines:
        fail('no results in ' + root)
    plot(machines[0], root)
    if root == RESULTS:
        for page in PAGES:
            write(Report(machines[0]), page)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add('--print', metavar='BLOCK', nargs='+', help='print these blocks')
    add('--results', default=RESULTS, help='default: ' + RESULTS)
    args = parser.parse_args()
    os.chdir(TOP)
    if not args.print:
        publish(args.results)
        return
    for name in args.print:
        print(*Report(all_machines(args.results)[0]).block(name), sep='\n')


if __name__ == '__main__':
    main()
