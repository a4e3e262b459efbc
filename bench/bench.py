#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the bench: each cell is a workload with a number of timers, on every
engine, in turns. Prints a row per cell: the medians of the runs, and * at the
fastest and at all within its spread, the quartiles of the runs.

Without an option: a choice of cells in four minutes, written to .build/bench.
With --publish: all cells of the pages in a quarter of an hour, written to
.build/bench, then copied to bench/results; report.py then makes the tables and
plots of the pages.
`make bench` and `make bench-publish` build the bench and call this program."""

import argparse
import csv
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is written beside the sources
import report  # noqa: E402

TIMERS = '.build/bench/timers'
WORK = '.build/bench'
LEAST_RUNS = 5  # where a table is published
MOST_LOAD = 0.7  # of the last minute, in which this program was compiled
ALL_CORES = getattr(os, 'sched_getaffinity', lambda _: set())(0)
ONE_CORE = set(sorted(ALL_CORES)[-1:])

PACED_TIMERS = 1000000  # of calls-hour and calls-10-minutes

# The cells of a run without --publish, on every engine.
QUICK = {
    'hold': [100, 1000, 100000, 1000000], 'hold-ns': [1000],
    'restart': [1000, 1000000], 'postpone': [1000, 100000], 'burst': [1000],
    'sparse': [1000], 'idle': [1000], 'trace': ['asyncio-http', 'http-proxy'],
    'calls-minute': [100000]}

# The figures of cells.tsv, as the program `timers` prints them.
FIGURES = [report.NS, 'ns, start', 'ns, expire', 'ns, cancel', 'ns, pass',
           'ns, loop', 'ns, wall', 'fired', 'wake-ups', 'bytes per timer',
           'bytes in the timer'] + ['call, ' + q for q in report.QUANTILES]
COLUMNS = ['workload', 'input', 'engine', 'checksum']

# What hyperfine compares, with so many rounds that the set-up is small.
PROCESSES = ['hold 100000 --rounds 200', 'hold 1000 --rounds 20000',
             'restart 10000 --rounds 4000', 'cancel 10000 --rounds 4000',
             'trace bench/traces/http-proxy.txt.gz --rounds 2000']
HYPERFINE = ['hyperfine', '-N', '--warmup', '1', '--runs', '5']


def pin(cores):
    if cores:
        os.sched_setaffinity(0, cores)


# ----------------------------------------------------------------- cells ---

def listed(option):
    done = subprocess.run([TIMERS, option], check=True, text=True,
                          stdout=subprocess.PIPE)
    return [line.split('\t') for line in done.stdout.splitlines()]


def can(engine, workload, size):
    timers = PACED_TIMERS if report.is_paced(workload) else \
        int(size) if size.isdigit() else 1
    return int(engine[workload]) >= timers


def grid(args, engines):
    """The cells: workload, input, and the engines that can run it."""
    wanted = report.cells() if args.publish or args.workloads else {
        (w, str(size)): list(engines) for w in QUICK for size in QUICK[w]}
    if args.workloads and args.sizes:
        wanted = {(w, size): list(engines)
                  for w in args.workloads for size in args.sizes}
    for (workload, size), names in wanted.items():
        if args.workloads and workload not in args.workloads:
            continue
        able = [e for e in engines
                if e in names and can(engines[e], workload, size)]
        if able:
            yield workload, size, able


# ------------------------------------------------------------------ runs ---

def timers(arguments):
    """One run: the figures of each engine."""
    done = subprocess.run([TIMERS] + arguments, text=True,
                          stdout=subprocess.PIPE)
    if done.returncode != 0:
        report.fail('%s %s failed' % (TIMERS, ' '.join(arguments)))
    runs, figures = {}, {}
    for line in done.stdout.splitlines():
        if line[0] != ' ':
            figures = runs[line.split()[0]] = {}
            continue
        label, value = re.match(r'  (\S.*?) {2,}(\S+)', line).groups()
        figures[label] = value if label == 'checksum' else float(value)
    return runs


def measure(cell, args):
    """All runs of a cell, the engines in turns: rows of cells.tsv."""
    workload, size, engines = cell
    pin(ALL_CORES if workload.startswith('post-') else ONE_CORE)
    options = ['--seed', str(args.seed)]
    if args.rounds:
        options += ['--rounds', str(args.rounds)]
    what = 'bench/traces/%s.txt.gz' % size if workload == 'trace' else size
    together = report.is_calls(workload)  # the engines of one process
    runs = {}
    for _ in range(report.runs_of(workload, args.runs)):
        for some in [','.join(engines)] if together else engines:
            for engine, figures in timers([some, workload, what] +
                                          options).items():
                runs.setdefault(engine, []).append(figures)
    sums = {run.get('checksum') for of in runs.values() for run in of} - {None}
    if len(sums) > 1:
        report.fail('%s %s: the engines did not fire the same timers' %
                    (workload, size))
    rows = []
    for engine, of in runs.items():
        row = {'workload': workload, 'input': size, 'engine': engine,
               'checksum': of[0].get('checksum')}
        for name in FIGURES:
            values = [run[name] for run in of if name in run]
            if values:
                low, median, high = statistics.quantiles(
                    values * 2 if len(values) == 1 else values, n=4,
                    method='inclusive')
                row[name] = median, low, high
        rows.append(row)
    return rows


def field(value):
    """A figure as its median and quartiles, or as one number."""
    if not isinstance(value, tuple):
        return value
    return ' '.join('%.6g' % v for v in
                    (value if len(set(value)) > 1 else value[:1]))


def save(rows, path):
    with open(path, 'w', newline='') as out:
        writer = csv.DictWriter(out, COLUMNS + FIGURES, delimiter='\t',
                                restval='-', lineterminator='\n')
        writer.writeheader()
        writer.writerows({k: field(v) for k, v in row.items()
                          if v is not None} for row in rows)


def processes():
    """hyperfine compares the timingwheel with the heap."""
    pin(ONE_CORE)
    cells = []
    for arguments in PROCESSES:
        commands = ['%s %s %s' % (TIMERS, engine, arguments)
                    for engine in (report.OURS, 'heap')]
        with tempfile.NamedTemporaryFile() as export:
            subprocess.run(HYPERFINE + ['--style', 'none', '--export-json',
                                        export.name] + commands, check=True)
            cells.append(json.load(export))
    return {'hyperfine': ' '.join(HYPERFINE), 'cells': cells}


# --------------------------------------------------------------- machine ---

def cpuinfo():
    if not os.path.exists('/proc/cpuinfo'):
        return {}
    with open('/proc/cpuinfo') as info:
        return dict(re.findall(r'^(\S.*?)\s*: (.*)$', info.read(), re.M))


def caches():
    """The caches as the system tells them, which may be a virtual machine."""
    sizes = []
    for level, name in ('L1 data', 'LEVEL1_DCACHE_SIZE'), \
            ('L2', 'LEVEL2_CACHE_SIZE'), ('L3', 'LEVEL3_CACHE_SIZE'):
        done = subprocess.run(['getconf', name], text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        if done.stdout.strip().isdigit() and int(done.stdout) > 0:
            kib = int(done.stdout) // 1024
            sizes.append('%s %d KiB' % (level, kib) if kib < 1024 else
                         '%s %d MiB' % (level, kib // 1024))
    return 'caches ' + (', '.join(sizes) or 'unknown')


def machine(args, engines):
    info = cpuinfo()
    processor = info.get('model name', platform.machine())
    if 'cpu family' in info:
        processor += ' (family %s, model %s)' % (info['cpu family'],
                                                 info['model'])
    compiler = subprocess.run([os.environ.get('CC', 'cc'), '--version'],
                              stdout=subprocess.PIPE, text=True).stdout
    return {
        'processor': processor, 'processors': os.cpu_count(),
        'virtual': 'hypervisor' in info.get('flags', '').split(),
        'caches': caches(),
        'system': '%s %s' % (platform.system(),
                             platform.release().split('-')[0]),
        'compiler': compiler.splitlines()[0],
        'flags': os.environ.get('CFLAGS', '-O2'),
        'version': engines.get(report.OURS, {}).get('version', 'left out'),
        'engines': {name: {'version': engine['version']}
                    for name, engine in engines.items()},
        'cannot': ['%s %s %s' % (w, size, e)
                   for (w, size), names in report.cells().items()
                   for e in names
                   if e in engines and not can(engines[e], w, size)],
        'date': time.strftime('%Y-%m-%d %H:%M'),
        'load': '%.2f' % args.load, 'seed': args.seed, 'runs': args.runs}


def folder_of(processor):
    """The name of a machine's folder: its processor, in plain characters."""
    return re.sub(r'[^a-z0-9]+', '-',
                  re.sub(r'\((R|TM)\)', '', processor).lower()).strip('-')


# ------------------------------------------------------------------ main ---

def warn_of_load(args):
    """Before a run, and again where its last figures are read."""
    if args.load > MOST_LOAD:
        print('bench: the machine was busy (a load of %.1f) when the run '
              'began: the figures are too high, and differ from run to run' %
              args.load, file=sys.stderr)


class Table:
    """Prints a row per cell while the bench runs."""

    def __init__(self, about):
        self.about = about
        self.workload = None

    def head(self, workload, engines):
        if workload == self.workload:
            return
        self.workload = workload
        unit = 'us of the calls' if report.is_calls(workload) else 'ns'
        print('\n%s: %s (%s)' % (workload, self.about[workload], unit))
        print(' ' * 12 + ''.join(' %*s' % (self.width(e), e)
                                 for e in engines))
        self.engines = engines

    def width(self, engine):
        return max(len(engine), 5)

    def row(self, size, rows):
        figures = [(report.NS, '', 1)]
        if report.is_calls(self.workload):
            figures = [('call, ' + q, ' ' + q, 1e-3)
                       for q in report.QUANTILES[1:]
                       if q == 'max' or not report.is_paced(self.workload)]
        for name, suffix, scale in figures:
            found = {row['engine']: row[name] for row in rows if name in row}
            best = report.leaders(found, report.clock_of(name))
            paces = report.PACES if report.is_paced(self.workload) else {}
            line = '%-12s' % (paces.get(size, report.short(size)) + suffix)
            for e in self.engines:
                shown = ''
                if e in found:
                    shown = report.text(found[e][0] * scale).replace(',', '')
                    shown += '*' * (e in best)
                line += ' %*s' % (self.width(e), shown)
            print(line.rstrip(), flush=True)


def run(args, engines):
    """Makes all cells. Returns the folder with the results."""
    folder = os.path.join(WORK, 'publish' if args.publish else 'quick')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    about = dict(listed('--workloads'))
    table, rows, spreads = Table(about), [], {}
    cells = list(grid(args, engines))
    for done, cell in enumerate(cells):
        everyone = [e for e in engines if any(
            e in other[2] for other in cells if other[0] == cell[0])]
        table.head(cell[0], everyone)
        of_cell = measure(cell, args)
        table.row(cell[1], of_cell)
        rows += of_cell
        spreads.update({'%s %s, %s' % (cell[0], report.short(cell[1]),
                                       row['engine']): row[report.NS]
                        for row in of_cell if report.NS in row})
        save(rows, os.path.join(folder, 'cells.tsv'))
    with open(os.path.join(folder, 'machine.json'), 'w') as out:
        json.dump(machine(args, engines), out, indent=1)
        out.write('\n')
    print('\nMedians of %d runs (calls-*: %d); * the fastest, and all within '
          'its spread.\n%s\nThe figures: %s/cells.tsv; how to read them: '
          'bench/README.md' %
          (args.runs, report.runs_of('calls-', args.runs),
           report.spread_of(spreads), folder))
    warn_of_load(args)
    return folder


def publish(folder, root):
    """Replaces the files of this machine, all of them complete."""
    results = report.Results(folder)
    report.check(results)
    if shutil.which('hyperfine'):
        with open(os.path.join(folder, 'processes.json'), 'w') as out:
            json.dump(processes(), out, indent=1)
            out.write('\n')
    else:
        print('bench: no whole processes, because hyperfine is missing',
              file=sys.stderr)
    place = os.path.join(root, folder_of(results.machine['processor']))
    os.makedirs(place, exist_ok=True)
    for name in os.listdir(folder):
        new = os.path.join(place, name + '.new')
        shutil.copy(os.path.join(folder, name), new)
        os.replace(new, os.path.join(place, name))
    report.publish(root)
    print('Published in %s.' % place)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add('--publish', action='store_true', help='all cells, to bench/results')
    add('--runs', type=int, help='default: 3, and %d to publish' % LEAST_RUNS)
    add('--seed', type=int, default=1)
    add('--rounds', type=int, help='other rounds than the default')
    add('--workloads', nargs='+')
    add('--sizes', nargs='+', help='of --workloads, on every engine')
    add('--engines', nargs='+')
    add('--results', metavar='FOLDER', default=report.RESULTS,
        help='publish there, which changes no page')
    args = parser.parse_args()
    args.runs = args.runs or (LEAST_RUNS if args.publish else 3)
    os.chdir(report.TOP)
    if args.publish and args.results == report.RESULTS and (
            args.runs < LEAST_RUNS or args.rounds or args.sizes or
            args.workloads or args.engines):
        report.fail('what is published is complete: use --results FOLDER')
    engines = {}
    for name, version, *most in listed('--engines'):
        if not args.engines or name in args.engines:
            engines[name] = dict(each.split('=') for each in most)
            engines[name]['version'] = version
    # This library stands first.
    engines = dict(sorted(engines.items(), key=lambda e: e[0] != report.OURS))
    if args.publish and args.results == report.RESULTS:
        try:
            os.nice(-20)
        except OSError:
            print('bench: no right to nice -n -20', file=sys.stderr)
    args.load = os.getloadavg()[0]
    warn_of_load(args)
    try:
        folder = run(args, engines)
        if args.publish:
            publish(folder, args.results)
    except KeyboardInterrupt:
        report.fail('interrupted; nothing is changed outside of ' + WORK)


if __name__ == '__main__':
    main()
