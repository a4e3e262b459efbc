#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables and the plot from bench/results, with a folder per machine.
Without an option: draws the plot again, and writes the blocks of README.md and
bench/README.md between <!-- begin NAME --> and <!-- end NAME -->, from the
machine that ran last. Says which sentences of the pages are no longer true."""

import argparse
import csv
import json
import math
import os
import re
import statistics
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = 'bench/results'
PAGES = ['README.md', 'bench/README.md']
QUANTILES = ['p50', 'p99', 'p99.9', 'max']
NS, P999, MAX = 'ns per operation', 'call, p99.9', 'call, max'
BYTES = 'bytes per timer'
CLOCK_NS = 50  # what the clock of calls-* cannot tell apart
TRACES = {'asyncio-http': '90', 'http-proxy': '192'}  # timers at most
OURS = 'timingwheel.h'
OURS_16, OURS_1024 = OURS + '-16', OURS + '-1024'
HEAPS = 'heaps'  # the better of the engines heap and heap8
POSTS = ['post-64', 'post-1024']
THREE = [OURS, 'heap', 'heap8']
RIVALS = THREE + ['flat-wheel', 'radix-heap', 'tree']
SIZES = [100, 1000, 3000, 10000, 20000, 100000, 1000000]  # of the plot


def is_calls(workload):
    return workload.startswith('calls-')


def runs_of(workload, size, runs):
    """Single calls are timed in two passes, and in fewer runs, as is what takes
    long."""
    large = size.isdigit() and int(size) >= 1000000
    return (runs + 1) // 2 if large or is_calls(workload) else runs


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
    'million': (
        'ns',
        task('a timer fires and starts again', 'hold', '1000000') +
        task('a timer is cancelled and starts again', 'restart', '1000000') +
        task('a packet postpones a timer', 'postpone', '1000000'),
        [OURS, HEAPS, 'tree']),
    'figures': (
        'ns',
        task('a timer fires and starts again', 'hold', '100', '10000') +
        task('a timer is cancelled and starts again', 'restart', '1000') +
        task('a request starts, and is answered', 'requests', '10000') +
        task('a packet postpones a timer', 'postpone', '1000') +
        task('a call each ms: 99.9 % are shorter than',
             'calls-minute', '100000', '1000000', figure='call, p99.9') +
        task('a timer starts and fires, all in one tick', 'burst', '1000',
             '1000000') + traces('recorded traffic, '),
        [OURS, HEAPS, 'tree']),
    'many': ('ns', lines(['hold'], SIZES[3:]) + lines(['expire'], [100000]),
             RIVALS + ['timeout.c']),
    'few': ('ns', lines(['hold'], SIZES[:3]) + lines(['sparse'], [100, 10000]) +
            lines(['startstop', 'idle'], [1000]) + traces('trace, '), RIVALS),
    'requests': ('ns', lines(['requests'], [100, 10000, 100000]) +
                 lines(['calls-requests'], [100, 10000, 100000], P999,
                       ', p99.9'),
                 [OURS, OURS_1024] + RIVALS[1:5] + ['timeout.c']),
    'restarts': ('ns', lines(['restart', 'keepalive'], [1000, 1000000]) +
                 lines(['restart-64', 'keepalive-64'], [1000000]) +
                 lines(['cancel', 'postpone'], [1000, 1000000]),
                 RIVALS + ['timeout.c']),
    'calls': ('us',
              lines(['calls-minute'], SIZES[1:], P999, ', p99.9') +
              lines(['calls-minute'], [1000000], MAX, ', max'),
              THREE + ['radix-heap', 'flat-wheel', 'timeout.c']),
    'long': ('us', lines(['calls-idle'], [100000], P999, ', p99.9') +
             lines(['calls-hour', 'calls-10-minutes'], [1000000], P999,
                   ', p99.9'), THREE),
    'bursts': ('ns', lines(['burst'], [1000, 100000, 1000000]) +
               lines(['burst-random'], [1000, 100000, 1000000]), RIVALS),
    'ticks': ('ns', lines(['hold-ns', 'hold-tick-1'], [1000, 100000]),
              THREE + ['tree', 'radix-heap']),
    'cold': ('ns', [row for size in (1000, 10000, 100000)
                    for row in lines(['hold', 'cold'], [size])],
             THREE + ['tree', 'flat-wheel']),
    'loops': ('ns', lines(['loops'], [20000]) +
              [('loops, bytes per timer', 'loops', '20000', BYTES)],
              [OURS, OURS_16, 'heap', 'heap8', 'tree']),
    'store': ('ns', lines(['store'], [100000, 10000000]),
              [OURS, OURS_1024, 'seconds', 'heap', 'heap8']),
    'memory': ('bytes per timer', lines(['hold'], SIZES[:2] + SIZES[5:], BYTES),
               THREE + ['flat-wheel', 'radix-heap', 'timeout.c']),
    'threads': ('ns', lines(POSTS, [2, 4]) +
                lines(POSTS, [2, 4], 'ns, loop', ', the loop'),
                ['mailbox', 'mutex'])}
PLOT = (lines(['hold'], SIZES), [OURS, HEAPS, 'flat-wheel', 'tree'])

# What the pages say in words: in each of these cells the first engine is faster
# than the second.
CLAIMS = [
    (w, size, figure, first, second)
    for figure, first, second, claimed in (
        (NS, OURS, HEAPS, 'hold 100, hold 1000, hold 3000, hold 10000, hold '
         '20000, hold 100000, hold 1000000, expire 100000, sparse 10000, '
         'trace http-proxy, hold-tick-1 100000, cold 100000, cancel 1000000'),
        (NS, OURS, HEAPS, 'burst 1000000, burst-random 1000000'),
        (NS, HEAPS, OURS, 'trace asyncio-http, requests 100, burst 1000, '
         'burst 100000, cold 1000, cold 10000, loops 20000, idle 1000'),
        (NS, 'flat-wheel', OURS, 'requests 10000, restart 1000, restart '
         '1000000, keepalive 1000, hold 20000, hold 100000'),
        (NS, 'radix-heap', OURS, 'startstop 1000, restart 1000, idle 1000, '
         'trace http-proxy'),
        (NS, OURS, 'radix-heap', 'restart-64 1000000'),
        (NS, 'seconds', OURS_1024, 'store 100000, store 10000000'),
        (NS, OURS_1024, OURS, 'store 10000000, requests 100000'),
        (NS, OURS_16, OURS, 'loops 20000'),
        (NS, 'mailbox', 'mutex', 'post-64 2, post-1024 4'),
        ('ns, loop', 'mutex', 'mailbox', 'post-64 2, post-1024 2, post-1024 4'),
        (P999, OURS, HEAPS, 'calls-minute 10000, calls-minute 20000, '
         'calls-minute 100000, calls-minute 1000000'),
        (P999, HEAPS, OURS, 'calls-minute 3000, calls-hour 1000000, '
         'calls-requests 100, calls-requests 10000, calls-requests 100000'),
        (P999, OURS_1024, HEAPS, 'calls-requests 100000'))
    for w, size in (cell.split() for cell in claimed.split(', '))]


def forms_of(engine):
    return ['heap', 'heap8'] if engine == HEAPS else [engine]


def cells():
    """What is measured: the engines of each workload and input."""
    wanted = {}
    for part in [PLOT] + [t[1:] for t in TABLES.values()]:
        for _, workload, size, _ in part[0]:
            found = wanted.setdefault((workload, size), [])
            found += [e for name in part[1] for e in forms_of(name)
                      if e not in found]
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
        found = [self.rows.get((workload, size, e), {}).get(name)
                 for e in forms_of(engine)]
        return min((f for f in found if f), default=None)


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


def timers(size):
    """How many timers a cell has."""
    return TRACES.get(size) or short(size)


def called(engine):
    return engine if '.' in engine else 'the ' + engine.replace('-', ' ')


def titled(engine):
    """The head of a column."""
    return {HEAPS: 'heap', 'tree': 'tree (libbsd)', OURS_16: 'wheel_size 16',
            OURS_1024: 'wheel_size 1,024'}.get(engine, engine)


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
    name in TABLES."""

    def __init__(self, results):
        self._results = results

    def _note(self, of, sentence):
        runs = {runs_of(w, size, self._results.machine['runs'])
                for _, w, size, _ in of}
        return ['', '*Medians of %s runs. %s*' % (
            ' to '.join(str(r) for r in sorted(runs)), sentence)]

    def _engines(self, of, engines):
        return [e for e in engines
                if any(self._results.figure(w, s, e, f) for _, w, s, f in of)]

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
                print('bench: no results of %s %s' % (workload, size),
                      file=sys.stderr)
                continue
            best = leaders(found, clock_of(figure))
            scale = 1e-3 if unit == 'us' else 1
            shown = [text(found[e][0] * scale) if e in found else
                     'cannot' for e in engines]
            rows.append([label, timers(size)] +
                        ['**%s**' % t if e in best else t
                         for e, t in zip(engines, shown)])
            seen.update({'%s %s, %s' % (label, timers(size), e): f
                         for e, f in found.items()})
        counted = 'threads' if name == 'threads' else 'timers'
        return table([unit, counted] + [titled(e) for e in engines], rows) + \
            self._note(of, spread_of(seen))

    def figures(self):
        """The table of README.md."""
        m = self._results.machine
        return self._compare('figures')[:-1] + [
            '*timingwheel.h %s, %s, %s %s. Bold is the fastest of the three, '
            'or all whose quartiles overlap. The heap is the better of two '
            'forms.*' % (
                m['version'], m['processor'].split(' (')[0],
                re.sub(r'^.*\) (\d+)\..*', r'gcc \1', m['compiler']),
                m['flags'])]

    def million(self):
        """The table of the first screen of README.md."""
        return self._compare('million')[:-2]

    def counts(self):
        """Who is first, over all cells but those of threads."""
        of_cell, first = {}, {}
        for (workload, size, engine), row in self._results.rows.items():
            if engine not in TABLES['threads'][2] + [OURS_16, OURS_1024]:
                figure = P999 if is_calls(workload) else NS
                of_cell.setdefault((workload, size), {})[engine] = \
                    row[figure][0]
        for found in of_cell.values():
            best = min(found, key=found.get)
            best = 'heap' if best in forms_of(HEAPS) else best
            first[best] = first.get(best, 0) + 1
        others = ['%s in %d' % (called(e), first[e])
                  for e in sorted(first, key=first.get, reverse=True)
                  if e != OURS]
        won = {name: [found[OURS] < min(found[e] for e in forms)
                      for found in of_cell.values()
                      for forms in [[e for e in forms_of(name) if e in found]]
                      if forms] for name in (HEAPS, 'tree')}
        return ['This library is first in %d of the %d measurements of the '
                'bench, %s. A measurement is a workload with one number of '
                'timers, and first is who has the lowest median (in calls-* '
                'of p99.9), without the rows of other wheel sizes. This '
                'library is faster than the better heap in %d of %d, and than '
                'the tree in %d of %d.' %
                (first.get(OURS, 0), len(of_cell), listed(others),
                 sum(won[HEAPS]), len(won[HEAPS]),
                 sum(won['tree']), len(won['tree']))]

    def machine(self):
        m = self._results.machine
        parts = ['%s, %d processors%s, %s' % (
            m['processor'], m['processors'],
            ' of a virtual machine' * m['virtual'], m['caches']),
                 m['system'], '%s, %s' % (m['compiler'], m['flags']),
                 'timingwheel.h ' + m['version'],
                 '%s, seed %d, a load of %s before the run and %s after it' % (
                     m['date'], m['seed'], m['load'], m['load after'])]
        engines = ['%s %s' % (e, engine['version'])
                   for e, engine in m['engines'].items() if engine['version']
                   and engine['version'] != m['version']]
        return ['; '.join(parts) + '. Also: %s.' % ', '.join(engines)]

    def _block(self, name):
        """The lines of a block, or None."""
        if name in TABLES and not hasattr(self, name):
            return self._compare(name)
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


INK = {'ink': '#1f2328 #e6edf3', 'rule': '#d1d9e0 #30363d',
       'e0': '#d01c7d #ff6ac1', 'e1': '#0b5cad #6cb6ff',
       'e2': '#b54708 #f0883e', 'e3': '#0f7b6c #56d4bc'}  # light and dark


def style():
    """Both colours of a class, of which the viewer selects one."""
    rules = [''.join('.%s{stroke:%s}text.%s{fill:%s;stroke:none}' % (
        name, ink.split()[dark], name, ink.split()[dark])
                     for name, ink in INK.items()) for dark in (0, 1)]
    return ('<style>text{font:14px sans-serif}path{fill:none}.paper{fill:#fff}'
            '%s@media(prefers-color-scheme:dark){.paper{fill:#0d1117}%s}'
            '</style>' % tuple(rules))


def plot(results, folder):
    """Draws hold.svg, with the engines that ran. Both axes are logarithmic."""
    def x_of(n):
        return 60 + 125 * (math.log10(n) - 2)

    def y_of(ns):
        return 330 - 130 * (math.log10(ns) - math.log10(20))

    def label(x, y, shown, name, more=''):
        made.append('<text x="%.0f" y="%.0f" class="%s"%s>%s</text>' % (
            x, y + 5, name, more, shown))

    def path(points, name, width):
        made.append('<path class="%s" stroke-width="%s" d="M%s"/>' % (
            name, width, ' '.join('%.1f,%.1f' % p for p in points)))

    made = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 380">',
            '<title>Nanoseconds until a timer has fired and started again'
            '</title>', style(),
            '<rect class="paper" width="720" height="380"/>']
    label(60, 25, 'Nanoseconds until a timer has fired and started again',
          'ink')
    for ns in 20, 50, 100, 200, 500, 1000, 2000:
        path([(60, y_of(ns)), (560, y_of(ns))], 'rule', 1)
        label(52, y_of(ns), format(ns, ','), 'ink', ' text-anchor="end"')
    for n in 100, 1000, 10000, 100000, 1000000:
        label(x_of(n), 350, short(str(n)), 'ink', ' text-anchor="middle"')
    label(310, 370, 'timers pending', 'ink', ' text-anchor="middle"')
    for i, engine in enumerate(PLOT[1]):
        points = [(x_of(int(size)), y_of(found[0])) for _, w, size, _ in PLOT[0]
                  for found in [results.figure(w, size, engine)] if found]
        if points:
            path(points, 'e%d' % i, 3 if engine == OURS else 1.7)
            label(points[-1][0] + 8, points[-1][1], titled(engine), 'e%d' % i)
    with open(os.path.join(folder, 'hold.svg'), 'w') as out:
        out.write('\n'.join(made + ['</svg>', '']))


def check(results):
    """A heap wakes its loop exactly when a timer is due."""
    for workload, size in cells():
        ours = results.figure(workload, size, OURS, 'wake-ups')
        heap = results.figure(workload, size, 'heap', 'wake-ups')
        if workload in ('hold', 'hold-ns', 'hold-tick-1', 'store',
                        'expire', 'burst', 'burst-random', 'sparse') and \
                ours and heap and ours[0] > heap[0]:
            fail('%s %s: the wheel wakes its loop more often' %
                 (workload, size))


def doubts(results):
    """The claims that are false on this machine."""
    for workload, size, figure, first, second in CLAIMS:
        a, b = (results.figure(workload, size, e, figure)
                for e in (first, second))
        if a and b and a[0] >= b[0]:
            print('bench: a page says that %s is faster than %s: %s %s, %s' %
                  (first, second, workload, short(size), figure),
                  file=sys.stderr)


def publish(root):
    """Tables and plots of the machine that ran last."""
    machines = all_machines(root)
    if not machines:
        fail('no results in ' + root)
    plot(machines[0], root)
    if root == RESULTS:
        for page in PAGES:
            write(Report(machines[0]), page)
        doubts(machines[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add('--results', default=RESULTS, help='default: ' + RESULTS)
    args = parser.parse_args()
    os.chdir(TOP)
    publish(args.results)


if __name__ == '__main__':
    main()
