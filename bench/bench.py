#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the bench: each cell is a workload with a number of timers, on every
engine, in turns. Prints a row per cell: the medians of the runs, and * at the
fastest and at all within its spread, the quartiles of the runs.

Without an option: a choice of cells in five minutes, written to .build/bench.
With --publish: all cells of the pages in twenty minutes, written to
.build/bench, then copied to bench/results; report.py then makes the tables and
the plot of the pages.
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
import time

sys.dont_write_bytecode = True  # nothing is written beside the sources
import report  # noqa: E402

TIMERS = '.build/bench/timers'
WORK = '.build/bench'
LEAST_RUNS = 5  # where a table is published
MOST_SECONDS = 600  # of a run: an engine that loses a timer may never end
MOST_LOAD = 0.7  # of the last minute, in which this program was compiled
ALL_CORES = getattr(os, 'sched_getaffinity', lambda _: set())(0)
ONE_CORE = set(sorted(ALL_CORES)[-1:])

# The cells of a run without --publish, a choice from the tables of report.py.
QUICK = {
    'hold': [100, 1000, 20000, 100000, 1000000], 'hold-ns': [1000],
    'hold-tick-1': [100000], 'cold': [1000, 100000], 'loops': [20000],
    'store': [100000], 'sparse': [100], 'burst': [1000],
    'burst-random': [100000], 'requests': [10000], 'restart': [1000],
    'restart-64': [1000000], 'postpone': [1000], 'idle': [1000],
    'trace': ['asyncio-http', 'http-proxy'], 'calls-minute': [20000, 100000],
    'calls-requests': [10000]}

# The figures of cells.tsv, as the program `timers` prints them.
FIGURES = [report.NS, 'ns, loop', 'fired', 'wake-ups', report.BYTES,
           'bytes in the timer'] + ['call, ' + q for q in report.QUANTILES]
COLUMNS = ['workload', 'input', 'engine', 'checksum']


def pin(cores):
    if cores:
        os.sched_setaffinity(0, cores)


# ----------------------------------------------------------------- cells ---

def can(engine, workload, size):
    return int(engine[workload]) >= (int(size) if size.isdigit() else 1)


def grid(args, engines):
    """The cells: workload, input, and the engines that can run it."""
    wanted = report.cells()
    if not args.publish and not args.workloads:
        wanted = {(w, str(size)): wanted[w, str(size)]
                  for w in QUICK for size in QUICK[w]}
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
    """The figures of one run."""
    try:
        done = subprocess.run([TIMERS] + arguments, text=True, check=True,
                              stdout=subprocess.PIPE, timeout=MOST_SECONDS)
    except subprocess.SubprocessError as error:
        report.fail(str(error))
    found = re.findall(r'^  (\S.*?) {2,}(\S+)', done.stdout, re.M)
    return {label: value if label == 'checksum' else float(value)
            for label, value in found}


def measure(cell, args):
    """All runs of a cell, the engines in turns: rows of cells.tsv."""
    workload, size, engines = cell
    pin(ALL_CORES if workload.startswith('post-') else ONE_CORE)
    what = 'bench/traces/%s.txt.gz' % size if workload == 'trace' else size
    runs = {engine: [] for engine in engines}
    for _ in range(report.runs_of(workload, size, args.runs)):
        for engine in engines:
            runs[engine].append(timers([engine, workload, what, '--seed',
                                        str(args.seed)]))
    sums = {run.get('checksum') for of in runs.values() for run in of}
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
        'date': time.strftime('%Y-%m-%d %H:%M'),
        'load': '%.2f' % args.load,
        'load after': '%.2f' % os.getloadavg()[0],
        'seed': args.seed, 'runs': args.runs}


def folder_of(processor):
    """The name of a machine's folder: its processor, in plain characters."""
    return re.sub(r'[^a-z0-9]+', '-',
                  re.sub(r'\((R|TM)\)', '', processor).lower()).strip('-')


# ------------------------------------------------------------------ main ---

def check_load(args):
    """A busy machine makes figures that are too high, and differ from run to
    run."""
    args.load = os.getloadavg()[0]
    if args.load <= MOST_LOAD:
        return
    message = 'the machine is busy: a load of %.2f in the last minute' % \
        args.load
    if args.publish and not args.busy:
        report.fail(message + "; wait until it is below %.1f, or say "
                    "BENCH_OPTIONS=--busy" % MOST_LOAD)
    print('bench: ' + message + ': the figures are too high',
          file=sys.stderr)


def show(cell, rows):
    """A line: the figure of each engine, and * at the fastest."""
    figure = report.P999 if report.is_calls(cell[0]) else report.NS
    found = {r['engine']: r[figure] for r in rows}
    best = report.leaders(found, report.clock_of(figure))
    print('%-14s %-12s %s' % (cell[0], report.short(cell[1]), '  '.join(
        '%s %s%s' % (e, report.text(f[0]), '*' * (e in best))
        for e, f in found.items())), flush=True)


def run(args, engines):
    """Makes all cells. Returns the folder with the results."""
    folder = os.path.join(WORK, 'publish' if args.publish else 'quick')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    rows, spreads = [], {}
    print('ns per operation; of calls-*, p99.9 of the calls')
    for cell in grid(args, engines):
        of_cell = measure(cell, args)
        show(cell, of_cell)
        rows += of_cell
        spreads.update({'%s %s, %s' % (cell[0], report.short(cell[1]),
                                       row['engine']): row[report.NS]
                        for row in of_cell if report.NS in row})
        save(rows, os.path.join(folder, 'cells.tsv'))
    with open(os.path.join(folder, 'machine.json'), 'w') as out:
        json.dump(machine(args, engines), out, indent=1)
        out.write('\n')
    print('\nMedians of %d runs (calls-* and 1 M: %d); * the fastest, and all '
          'within its spread.\n%s\nThe figures: %s/cells.tsv; how to read '
          'them: bench/README.md' %
          (args.runs, report.runs_of('calls-', '', args.runs),
           report.spread_of(spreads), folder))
    return folder


def publish(folder, root):
    """Replaces the files of this machine, all of them complete."""
    results = report.Results(folder)
    report.check(results)
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
    add('--workloads', nargs='+')
    add('--sizes', nargs='+', help='of --workloads, on every engine')
    add('--engines', nargs='+')
    add('--busy', action='store_true', help='publish from a busy machine')
    add('--results', metavar='FOLDER', default=report.RESULTS,
        help='publish there, which changes no page')
    args = parser.parse_args()
    args.runs = args.runs or (LEAST_RUNS if args.publish else 3)
    os.chdir(report.TOP)
    if args.publish and args.results == report.RESULTS and (
            args.runs < LEAST_RUNS or args.sizes or args.workloads or
            args.engines):
        report.fail('what is published is complete: use --results FOLDER')
    engines = {}
    listed = subprocess.run([TIMERS, '--engines'], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    for line in listed.splitlines():
        name, version, *most = line.split('\t')
        if not args.engines or name in args.engines:
            engines[name] = dict(each.split('=') for each in most)
            engines[name]['version'] = version
    missing = {e for names in report.cells().values()
               for e in names} - set(engines)
    if missing and not args.engines:
        print('bench: left out: %s (make deps-bench)' %
              ', '.join(sorted(missing)), file=sys.stderr)
    # This library stands first.
    engines = dict(sorted(engines.items(), key=lambda e: e[0] != report.OURS))
    if args.publish and args.results == report.RESULTS:
        try:
            os.nice(-20)
        except OSError:
            print('bench: no right to nice -n -20', file=sys.stderr)
    check_load(args)
    try:
        folder = run(args, engines)
        if args.publish:
            publish(folder, args.results)
    except KeyboardInterrupt:
        report.fail('interrupted; nothing is changed outside of ' + WORK)


if __name__ == '__main__':
    main()
