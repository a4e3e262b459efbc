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
TRACES = {'asyncio-http': '90', 'http-proxy': '192'}  # timers at most
OURS = 'timingwheel.h'
SIZES = [100, 1000, 10000, 100000, 1000000]  # of the plot


def is_calls(workload):
    return workload.startswith('calls-')


def is_paced(workload):
    """The input is the pace of the loop, with a million timers."""
    return workload in ('calls-hour', 'calls-10-minutes')


def runs_of(workload, runs):
    """Single calls are timed in two passes, and in fewer runs."""
    return (runs + 1) // 2 if is_calls(workload) else runs


def lines(workloads, sizes, figure=NS, suffix=''):
    """Lines of a table: name, workload, size, figure."""
    return [(w + suffix, w, str(s), figure) for w in workloads for s in sizes]


def traces(name):
    return [(name + t, 'trace', t, NS) for t in TRACES]


def task(name, workload, *sizes, figure=NS):
    return [(name, workload, size, figure) for size in sizes]


# What the pages show, and so what is measured: the unit of a table, its lines,
# its engines.
TABLES = {
    'figures': (
        'ns',
        task('a timer fires and starts again', 'hold', '10000', '1000000') +
        task('a timer is cancelled and starts again', 'restart', '1000',
             '1000000') +
        task('a packet postpones a timer', 'postpone', '1000', '1000000') +
        task('a call each ms: 99.9 % are shorter than',
             'calls-minute', '100000', '1000000', figure='call, p99.9') +
        task('a timer starts and fires, all in one tick', 'burst', '1000',
             '100000') + traces('recorded traffic, '),
        [OURS, 'heap', 'tree']),
    'many': ('ns', lines(['hold', 'hold-ns'], [10000]) +
             lines(['hold'], [1000000]) + lines(['expire'], [100000]),
             [OURS, 'heap', 'tree', 'libuv', 'timeout.c', 'radix-heap']),
    'few': ('ns', lines(['hold'], [100, 1000]) + lines(['hold-ns'], [100]) +
            lines(['sparse'], [100, 10000]) +
            lines(['startstop', 'burst', 'idle'], [1000]) + traces('trace, '),
            [OURS, 'heap', 'tree', 'radix-heap']),
    'restarts': ('ns', lines(['restart', 'keepalive', 'cancel', 'postpone'],
                             [1000, 1000000]),
                 [OURS, 'heap', 'tree', 'libuv', 'timeout.c', 'radix-heap',
                  'hashed-wheel']),
    'calls': ('us',
              lines(['calls-minute'], [1000, 10000, 100000], 'call, p99.9',
                    ', p99.9') + sum(
                  [lines([w], [1000000], 'call, ' + q, ', ' + q)
                   for w in ('calls-minute', 'calls-idle')
                   for q in QUANTILES[1:]], []),
              [OURS, 'heap', 'plain-heap', 'timeout.c', 'radix-heap']),
    'pace': ('us',
             lines(['calls-hour'], ['1'], 'call, p99.9',
                   ', p99.9, a call each 1 ms') + sum(
                 [lines([w], [p], 'call, max', ', max, a call each ' + each)
                  for w in ('calls-hour', 'calls-10-minutes')
                  for p, each in PACES.items()], []),
             [OURS, 'heap']),
    'memory': ('bytes per timer',
               lines(['hold'], SIZES, 'bytes per timer'),
               [OURS, 'heap', 'timeout.c'])}
PLOT = (lines(['hold'], SIZES),
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
        else format(value if value < 10000 else float('%.3g' % value), ',.0f')


def timers(workload, size):
    """How many timers a cell has."""
    return '1 M' if is_paced(workload) else TRACES.get(size) or short(size)


def called(engine):
    return engine if '.' in engine or engine == 'libuv' else \
        'the ' + engine.replace('-', ' ')


def listed(parts):
    return ', '.join(parts[:-1]) + ' and ' + parts[-1] if parts[1:] else \
        ''.join(parts)


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
    return ('Spread: up to %.0f %% in half of the cells, %.0f %% at most '
            '(%s).' %
            (100 * statistics.median(a for a, _ in apart), 100 * apart[-1][0],
             apart[-1][1]))


# ---------------------------------------------------------------- blocks ---

class Report:
    """Each method without an underscore is a block of a page, and so is each
    name in TABLES; first_NAME says who is first in table NAME."""

    def __init__(self, results):
        self._results = results

    def _note(self, workloads, sentence):
        runs = {runs_of(w, self._results.machine['runs']) for w in workloads}
        return ['', '*Medians of %s runs. %s*' % (
            ' to '.join(str(r) for r in sorted(runs)), sentence)]

    def _engines(self, of, engines):
        return [e for e in engines
                if any(self._results.figure(w, s, e, f) for _, w, s, f in of)]

    def _missing(self, workload, size, engine):
        """What stands in a cell without a figure."""
        cell = '%s %s %s' % (workload, size, engine)
        if cell in self._results.machine.get('cannot', []):
            return 'cannot'
        print('bench: not measured: ' + cell, file=sys.stderr)
        return ''

    def _value(self, workload, size, engine, figure=NS, scale=1):
        found = self._results.figure(workload, size, engine, figure)
        return text(found[0] * scale) if found else '?'

    def _compare(self, name):
        """A line per cell, a column per engine."""
        unit, of, engines = TABLES[name]
        engines = self._engines(of, engines)
        rows, seen = [], {}
        for label, workload, size, figure in of:
            found = {e: self._results.figure(workload, size, e, figure)
                     for e in engines}
            found = {e: f for e, f in found.items() if f is not None}
            if not found:
                continue
            best = leaders(found, clock_of(figure))
            scale = 1e-3 if unit == 'us' else 1
            shown = [text(found[e][0] * scale) if e in found else
                     self._missing(workload, size, e) for e in engines]
            rows.append([label, timers(workload, size)] +
                        ['**%s**' % t if e in best else t
                         for e, t in zip(engines, shown)])
            seen.update({'%s %s, %s' % (label, timers(workload, size), e): f
                         for e, f in found.items()})
        return table([unit, 'timers'] + engines, rows) + self._note(
            [w for _, w, _, _ in of], spread_of(seen))

    def _first(self, name):
        """Counts the rows of a table in which an engine is bold."""
        _, of, engines = TABLES[name]
        rows = [{e: f for e in engines
                 for f in [self._results.figure(w, size, e, figure)] if f}
                for _, w, size, figure in of]
        best = [leaders(found, clock_of(row[3]))
                for found, row in zip(rows, of) if found]
        won = {e: sum(e in b for b in best) for e in self._engines(of, engines)}
        others = ['%s in %d' % (called(e), won[e])
                  for e in sorted(won, key=won.get, reverse=True)
                  if e != OURS and won[e]]
        heap = [found[OURS][0] < found['heap'][0] for found in rows
                if OURS in found and 'heap' in found]
        return ['This library is the fastest in %d of %d rows of the table '
                'below%s. The heap is slower than this library in %d.%s' %
                (won[OURS], len(best),
                 ', ' * bool(others) + listed(others), sum(heap),
                 ' Several are the fastest where quartiles overlap.' *
                 (sum(won.values()) > len(best)))]

    def answers(self):
        """What bench/README.md says first."""
        def both(workload, size, *more):
            return tuple(self._value(workload, size, e)
                         for e in (OURS, 'heap') + more)

        longest = tuple(self._value('calls-minute', '1000000', e, MAX, 1e-3)
                        for e in (OURS, 'heap', 'radix-heap'))
        return [
            '- **Many timers.** A timer among ten thousand fires and starts '
            'again in %s ns, and in a heap in %s ns. Among a million, the '
            'figures are %s and %s ns. [Many timers](#many-timers)' %
            (both('hold', '10000') + both('hold', '1000000')),
            '- **Few timers.** A timer among a hundred takes %s ns here and %s '
            'ns in a heap. If delays reach from 1 us to 1 h, it takes %s ns '
            'here and %s ns in a heap. [Few timers]'
            '(#few-timers-and-recorded-traffic)' %
            (both('hold', '100') + both('sparse', '100')),
            '- **Timers that hardly ever fire.** A timer among a million '
            'restarts in %s ns, in a heap in %s ns, and in a radix heap in %s '
            'ns. [Restarts](#restarts-and-postpones)' %
            both('restart', '1000000', 'radix-heap'),
            '- **The longest call.** With a million timers, in a loop that '
            'wakes each millisecond, the longest call took %s us, that of a '
            'heap %s us, and that of a radix heap %s us. [The longest call]'
            '(#the-longest-call)' % longest]

    def figures(self):
        """The table of README.md, and what stands below it."""
        m, value = self._results.machine, self._value
        made = self._compare('figures')
        made[0] = made[0].replace('| tree |', '| tree (libbsd) |')
        made[-1] = '*timingwheel.h %s, %s, %s %s. Bold is the fastest, or ' \
            'all whose quartiles overlap.*' % (
                m['version'], m['processor'].split(' (')[0],
                re.sub(r'^.*\) (\d+)\..*', r'gcc \1', m['compiler']),
                m['flags'])
        return made + [
            '', 'A radix heap, as in Seastar, restarts one of a million timers '
            'in %s ns, but needs %s ns until one has fired and started again. '
            'With a hundred timers all are close: this library needs %s ns '
            'for that, and the heap %s ns. If delays reach from 1 us to 1 h, '
            'they need %s and %s ns.' %
            (value('restart', '1000000', 'radix-heap'),
             value('hold', '1000000', 'radix-heap'),
             value('hold', '100', OURS), value('hold', '100', 'heap'),
             value('sparse', '100', OURS), value('sparse', '100', 'heap')),
            ''] + self.sample()

    def million(self):
        """The figure of the first screen of README.md."""
        return ['Among a million timers, one fires and starts again in %s ns '
                'of processor time. With a heap in an array this takes %s ns, '
                'and with a tree like that of nginx %s ns.' %
                tuple(self._value('hold', '1000000', e)
                      for e in (OURS, 'heap', 'tree'))]

    def sample(self):
        """Who is first, over all cells but those of threads."""
        of_cell, first = {}, {}
        for (workload, size, engine), row in self._results.rows.items():
            if engine not in THREADS[1]:
                of_cell.setdefault((workload, size), {})[engine] = row[NS][0]
        for found in of_cell.values():
            best = min(found, key=found.get)
            first[best] = first.get(best, 0) + 1
        others = ['%s in %d' % (called(e), first[e])
                  for e in sorted(first, key=first.get, reverse=True)
                  if e != OURS]
        won = {e: [found[OURS] < found[e] for found in of_cell.values()
                   if e in found] for e in ('heap', 'tree')}
        return ['By the median time per operation or call, this library is '
                'first in %d of the %d measurements of the bench (a workload '
                'at one size), %s. It is faster than the heap in %d of %d, '
                'and than the tree in %d of %d.' %
                (first.get(OURS, 0), len(of_cell), listed(others),
                 sum(won['heap']), len(won['heap']),
                 sum(won['tree']), len(won['tree']))]

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

    def threads(self):
        rows, seen = [], {}
        columns = [(e, n) for n in ('2', '4') for e in THREADS[1]]
        for what, figure in (('a post', NS), ('the loop, per post', 'ns, loop'),
                             ('p99.9 of a turn', 'call, p99.9'),
                             ('longest turn', 'call, max')):
            for workload in 'post-64', 'post-1024':
                found = {c: self._results.figure(workload, c[1], c[0], figure)
                         for c in columns}
                rows.append(['%s, %s' % (what, workload)] + [
                    text(f[0]) if f else '' for f in found.values()])
                seen.update({'%s, %s %s, %s' % (what, workload, c[1], c[0]): f
                             for c, f in found.items() if f})
        reach = [' to '.join(text(v) for v in (min(of), max(of)))
                 for name in (NS, 'ns, loop') for e in THREADS[1]
                 for of in [[f[0] for w in ('post-64', 'post-1024')
                             for n in ('2', '4')
                             for f in [self._results.figure(w, n, e, name)]
                             if f]] if of]
        return ['A post takes a thread %s ns by the mailbox '
                '(`TIMINGWHEEL_THREADS`), and %s ns by a mutex around a '
                'timingwheel. The loop then takes %s ns and %s ns for each '
                'post.' % tuple(reach or ['?'] * 4), ''] + table(
                    ['ns'] + ['%s, %s threads' % c for c in columns],
                    rows) + self._note(
                        ['post-64'], 'The threads and the loop share %d '
                        'processors. %s' % (self._results.machine[
                            'processors'], spread_of(seen)))

    def processes(self):
        path = os.path.join(self._results.folder, 'processes.json')
        if not os.path.exists(path):
            return []
        with open(path) as measured_by:
            measured = json.load(measured_by)
        ratios = ['%.2f times with `%s`' % (
            heap['mean'] / ours['mean'], ours['command'].split(None, 2)[2])
                  for ours, heap in (c['results'] for c in measured['cells'])]
        return ['Timed as whole processes, by `%s`, the heap takes %s.' % (
            measured['hyperfine'], listed(ratios).replace(
                'times', 'times as long as this library', 1))]

    def _block(self, name):
        """The lines of a block, or None."""
        if name in TABLES and not hasattr(self, name):
            return self._compare(name)
        if name.startswith('first_'):
            return self._first(name[len('first_'):])
        return None if name.startswith('_') else getattr(
            self, name, lambda: None)()


def write(report, path):
    """Puts new blocks between the markers of a page."""
    def new_block(match):
        lines_of = report._block(match[2])
        if lines_of is None:
            print('bench: %s keeps its block %s' % (path, match[2]),
                  file=sys.stderr)
            return match[0]
        return match[1] + '\n'.join(lines_of + ['']) + match[3]

    with open(path) as page:
        old = page.read()
    new = re.sub(r'(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)', new_block,
                 old, flags=re.S)
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
        print(*Report(all_machines(args.results)[0])._block(name) or
              fail('no block is called ' + name), sep='\n')


if __name__ == '__main__':
    main()
