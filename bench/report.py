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
TRACES = ['asyncio-http', 'http-proxy']
CALLS = ['calls-minute', 'calls-hour', 'calls-idle']
QUANTILES = ['p50', 'p99', 'p99.9', 'max']
NS = 'ns per operation'
CLOCK_NS = 50  # what the clock of calls-* cannot tell apart
MOST_APART = 1.2  # two machines agree if their ratios differ by less

NAMES = {'wheel': 'timingwheel.h', 'plain': 'plain heap',
         'rbtree': 'red-black tree', 'list': 'hashed wheel',
         'timeout': 'timeout.c'}


def fail(message):
    sys.exit('bench: ' + message)


# --------------------------------------------------------------- results ---

class Results:
    """One machine. A figure is the median of its runs and their quartiles,
    which are the spread: half of the runs lie between them."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = {}
        with open(os.path.join(folder, 'cells.tsv'), newline='') as lines:
            for row in csv.DictReader(lines, delimiter='\t'):
                key = row['workload'], row['input'], row['engine']
                self.rows[key] = {
                    name: ([float(v) for v in value.split()] * 3)[:3]
                    for name, value in row.items() if value != '-' and
                    name not in ('workload', 'input', 'engine', 'checksum')}
        with open(os.path.join(folder, 'machine.json')) as lines:
            self.machine = json.load(lines)

    def figure(self, workload, size, engine, name=NS):
        return self.rows.get((workload, str(size), engine), {}).get(name)

    def cells(self):
        """Each workload and input, once, in the order of the file."""
        return list(dict.fromkeys(key[:2] for key in self.rows))

    def inputs(self, workload):
        return [size for kind, size in self.cells() if kind == workload]

    def engines(self, workload, size, name=NS):
        """The figure of each engine of a cell."""
        return {key[2]: row[name] for key, row in self.rows.items()
                if key[:2] == (workload, size) and name in row and
                key[2] != 'waiting'}


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
    """The engines with the least median, or within its spread."""
    best = min(figures.values())
    return {e for e, f in figures.items() if not is_faster(best, f, clock)}


# ------------------------------------------------------------------ text ---

def short(size):
    if not str(size).isdigit() or int(size) < 1000:
        return str(size)
    size = int(size)
    return '%d k' % (size // 1000) if size < 1000000 else '%d M' % (
        size // 1000000)


def text(value):
    return '%.2f' % value if value < 1 else '%.1f' % value if value < 10 \
        else format(round(value), ',')


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
    return ('Between the quartiles of the runs: %.0f %% of the median in half '
            'of the cells, at most %.0f %% (%s).' %
            (100 * statistics.median(a for a, _ in apart), 100 * apart[-1][0],
             apart[-1][1]))


# ---------------------------------------------------------------- blocks ---

class Report:
    """Each method without an underscore is a block of a page."""

    def __init__(self, results, others):
        self._results = results
        self._others = others

    def _note(self, sentence):
        return ['', '*%s %s*' % ('Medians of %d runs.' %
                                 self._results.machine['runs'], sentence)]

    def _compare(self, head, lines, engines, scale=1):
        """A line per cell, a column per engine. `lines` are name, workload,
        size and figure."""
        rows, seen = [], {}
        engines = [e for e in engines if any(
            self._results.figure(w, s, e, f) for _, w, s, f in lines)]
        for name, workload, size, figure in lines:
            found = {e: self._results.figure(workload, size, e, figure)
                     for e in engines}
            found = {e: f for e, f in found.items() if f is not None}
            rivals = {e: f for e, f in found.items() if e != 'waiting'}
            if not rivals:
                continue
            best = leaders(rivals, clock_of(figure))
            shown = [text(found[e][0] * scale) if e in found else ''
                     for e in engines]
            rows.append([name, short(size)] +
                        ['**%s**' % t if e in best else t
                         for e, t in zip(engines, shown)])
            seen.update({'%s %s, %s' % (name, short(size), NAMES.get(e, e)): f
                         for e, f in rivals.items()})
        if not rows:
            return []
        said = 'Bold: the fastest, and all whose quartiles overlap its own. '
        known = self._results.machine['engines']
        said += ''.join('%s: %s. ' % (NAMES.get(e, e), known[e]['note'])
                        for e in engines if known.get(e, {}).get('note'))
        return (table(head + [NAMES.get(e, e) for e in engines], rows) +
                self._note(said + spread_of(seen)))

    def machine(self):
        m = self._results.machine
        parts = ['%s, %d processors%s, %s' % (
            m['processor'], m['processors'],
            ' of a virtual machine' * m['virtual'], m['caches']),
                 m['system'], '%s, %s' % (m['compiler'], m['flags']),
                 'timingwheel.h ' + m['version'],
                 '%s, seed %d, medians of %d runs' % (m['date'], m['seed'],
                                                      m['runs'])]
        engines = ['%s %s' % (NAMES.get(e, e), engine['version'])
                   for e, engine in m['engines'].items() if engine['version']
                   and e not in ('wheel', 'mailbox', 'mutex')]
        return ['; '.join(parts) + '.', 'Engines: %s.' % ', '.join(engines)]

    def summary(self):
        lines = [(name, workload, size, NS)
                 for name, workload in (('a timer fires and starts again',
                                         'hold'),
                                        ('cancel and start again', 'restart'),
                                        ('postpone', 'postpone'))
                 for size in (1000, 1000000)]
        lines += [('recorded traffic', 'trace', t, NS) for t in TRACES]
        lines += [('%s of %s' % (q, w), w, 1000000, 'call, ' + q)
                  for q in ('p99.9', 'max') for w in CALLS]
        return self._compare(['ns per operation', 'timers'], lines,
                             ['wheel', 'heap', 'libuv', 'timeout', 'radix'])

    def six(self):
        """The short table of README.md."""
        lines = self._compare(
            ['ns per operation', 'timers'],
            [('a timer fires and starts again, clock in ns', 'hold-ns', 10000,
              NS),
             ('the same, clock in ticks', 'hold', 1000000, NS),
             ('99.9 % of calls of 1 ms take at most', 'calls-minute', 100000,
              'call, p99.9'),
             ('cancel and start again', 'restart', 1000000, NS),
             ('recorded traffic', 'trace', 'asyncio-http', NS),
             ('all timers are due at one tick', 'burst', 1000, NS)],
            ['wheel', 'heap', 'libuv', 'timeout', 'radix'])
        note = ('*ns; medians of %d runs. Bold: the fastest, and all whose '
                'quartiles overlap its own. libuv includes a turn of its '
                'loop.*' % self._results.machine['runs'])
        return lines[:-1] + [note]

    def few(self):
        lines = [(w, w, size, NS) for w in ('hold', 'hold-ns', 'sparse')
                 for size in (100, 10000)]
        lines += [(w, w, 1000, NS) for w in ('startstop', 'burst', 'idle')]
        lines += [('trace', 'trace', t, NS) for t in TRACES]
        return self._compare(['workload', 'timers'], lines,
                             ['wheel', 'heap', 'rbtree', 'radix'])

    def restarts(self):
        return self._compare(
            ['workload', 'timers'],
            [(w, w, size, NS)
             for w in ('restart', 'keepalive', 'postpone', 'cancel')
             for size in (1000, 1000000)],
            ['wheel', 'heap', 'rbtree', 'timeout', 'radix', 'libuv'])

    def calls(self):
        return self._compare(
            ['us', 'timers'],
            [('calls-minute, p99.9', 'calls-minute', 1000, 'call, p99.9')] +
            [('%s, %s' % (w, q), w, 1000000, 'call, ' + q)
             for w in CALLS for q in QUANTILES[1:]
             if (w, q) != ('calls-idle', 'p99')],
            ['wheel', 'heap', 'plain', 'timeout', 'radix', 'waiting'], 1e-3)

    def threads(self):
        rows, seen = [], {}
        for workload in 'post-64', 'post-1024':
            for size in self._results.inputs(workload)[1:]:
                row = [workload, size]
                for name in 'ns, wall', NS, 'ns, loop':
                    for engine in 'mailbox', 'mutex':
                        f = self._results.figure(workload, size, engine, name)
                        row.append('' if f is None else text(
                            1e3 / f[0] if name == 'ns, wall' else f[0]))
                        if f is not None:
                            seen['%s %s, %s' % (workload, size, engine)] = f
                rows.append(row)
        if not rows:
            return []
        return table(['workload', 'threads', 'million posts/s: mailbox',
                      'mutex', 'ns of a post: mailbox', 'mutex',
                      'ns of the loop: mailbox', 'mutex'], rows) + self._note(
                          'The threads and the loop share %d processors. %s' %
                          (self._results.machine['processors'],
                           spread_of(seen)))

    def _rivals(self):
        """Each figure of another engine, beside that of this library."""
        for workload, size in self._results.cells():
            names = ['call, ' + q for q in QUANTILES] if workload in CALLS \
                else [NS]
            for name in names:
                figures = self._results.engines(workload, size, name)
                ours = figures.pop('wheel', None)
                for engine, theirs in figures.items():
                    if ours:
                        yield workload, size, name, engine, theirs, ours

    def faster(self):
        """Per engine: in how many figures it is faster than this library."""
        rows = {}
        for workload, size, name, engine, theirs, ours in self._rivals():
            row = rows.setdefault(engine, {'all': 0, 'faster': 0, 'slower': 0,
                                           'most': (0, ''), 'where': {}})
            row['all'] += 1
            row['slower'] += is_faster(ours, theirs, clock_of(name))
            if is_faster(theirs, ours, clock_of(name)):
                row['faster'] += 1
                row['most'] = max(row['most'], (ours[0] / theirs[0], '%s %s' % (
                    workload, short(size))))
                row['where'][workload] = True
        lines = [[NAMES.get(e, e), str(row['all']), str(row['faster']),
                  str(row['slower']), '%.1f times (%s)' % row['most'],
                  ', '.join(row['where'])]
                 for e, row in sorted(rows.items(),
                                      key=lambda item: -item[1]['faster'])
                 if row['faster']][:5]
        return table(['engine', 'figures', 'faster', 'slower', 'by at most',
                      'where faster'], lines) + self._note(
                          'Faster and slower begin where the quartiles of the '
                          'runs do not overlap.')

    def _write_faster(self):
        """The list of which the block `faster` is the sum."""
        path = os.path.join(self._results.folder, 'faster.tsv')
        with open(path + '.new', 'w') as out:
            print('workload', 'input', 'figure', 'engine', 'ns',
                  'ns of timingwheel.h', sep='\t', file=out)
            for *cell, theirs, ours in self._rivals():
                if is_faster(theirs, ours, clock_of(cell[2])):
                    print(*cell, '%.6g' % theirs[0], '%.6g' % ours[0],
                          sep='\t', file=out)
        os.replace(path + '.new', path)

    def machines(self):
        """The cells where two machines disagree about the heap."""
        lines = [] if self._others else ['Only one machine has results.']
        for other in self._others:
            rows = []
            for workload, size in self._results.cells():
                name = 'call, p99.9' if workload in CALLS else NS
                ratios = []
                for results in self._results, other:
                    wheel = results.figure(workload, size, 'wheel', name)
                    heap = results.figure(workload, size, 'heap', name)
                    if wheel and heap and heap[0] > 0:
                        ratios.append(wheel[0] / heap[0])
                if len(ratios) == 2 and min(ratios) > 0 and \
                        max(ratios) / min(ratios) > MOST_APART:
                    cell = '%s: %.2f, %.2f' % (short(size), *ratios)
                    if rows and rows[-1][0] == workload:
                        rows[-1][1] += '; ' + cell
                    else:
                        rows.append([workload, cell])
            heads = ['%s (version %s)' % (r.machine['processor'],
                                          r.machine['version'])
                     for r in (self._results, other)]
            lines += table(['workload', 'timers: %s; %s' % tuple(heads)], rows,
                           '---|') + ['', '*%s: the 99.9th percentile.*' %
                                      ', '.join(CALLS)]
        return lines

    def processes(self):
        path = os.path.join(self._results.folder, 'processes.json')
        if not os.path.exists(path):
            return []
        with open(path) as lines:
            measured = json.load(lines)
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
                "        '.build/bench/timers wheel WORKLOAD' "
                "'.build/bench/timers heap WORKLOAD'", ''] + table(
                    ['', 'WORKLOAD', 'wheel', 'heap', 'heap / wheel',
                     'set-up'], rows)

    def block(self, name):
        if name.startswith('_') or not hasattr(self, name):
            fail('no block is called ' + name)
        return getattr(self, name)()


def write(report, path):
    """Puts new blocks between the markers of a page."""
    with open(path) as lines:
        old = lines.read()
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
    engines = [e for e in ('wheel', 'heap', 'timeout', 'libuv')
               if any(results.figure('hold', s, e)
                      for s in results.inputs('hold'))]
    if not engines:
        return
    with tempfile.NamedTemporaryFile('w') as data:
        for size in results.inputs('hold'):
            values = [results.figure('hold', size, e) for e in engines]
            print(size, *[v[0] if v else 'NaN' for v in values], file=data)
        data.flush()
        for theme in 'light', 'dark':
            path = os.path.join(folder, 'hold-%s.svg' % theme)
            done = subprocess.run(
                ['gnuplot', '-c', 'bench/plot.gp', data.name, path + '.new',
                 theme, ' '.join(NAMES.get(e, e) for e in engines)])
            if done.returncode != 0:
                print('bench: gnuplot failed', file=sys.stderr)
                return
            os.replace(path + '.new', path)


def check(results):
    """A heap wakes its loop exactly when a timer is due."""
    for workload, size in results.cells():
        ours = results.figure(workload, size, 'wheel', 'wake-ups')
        heap = results.figure(workload, size, 'plain', 'wake-ups')
        if workload in ('hold', 'hold-ns', 'expire', 'burst', 'sparse') and \
                ours and heap and ours[0] > heap[0]:
            fail('%s %s: the wheel wakes its loop more often' %
                 (workload, size))


def publish(root):
    """Tables and plots of the machine that ran last."""
    machines = all_machines(root)
    if not machines:
        fail('no results in ' + root)
    report = Report(machines[0], machines[1:])
    report._write_faster()
    plot(machines[0], root)
    if root == RESULTS:
        for page in PAGES:
            write(report, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add('--compare', action='store_true',
        help='print the cells in which two machines disagree, and nothing else')
    add('--print', metavar='BLOCK', nargs='+', help='print these blocks')
    add('--results', default=RESULTS, help='default: ' + RESULTS)
    args = parser.parse_args()
    os.chdir(TOP)
    if not args.compare and not args.print:
        publish(args.results)
        return
    machines = all_machines(args.results)
    if not machines:
        fail('no results in ' + args.results)
    report = Report(machines[0], machines[1:])
    for name in args.print or ['machines']:
        print(*report.block(name), sep='\n')


if __name__ == '__main__':
    main()
