# mutate.py - runs the test programs on mutants of timingwheel.h, and on the
# planted bugs of bugs.tsv. Prints TAP. mutate.sh calls the script, and explains
# the options.
#
# A program kills a mutant if a case fails, or if the program crashes or takes
# several times as long as on the true header. The measure is processor time,
# so a busy machine makes no difference. A mutant goes through these stages:
#
#   fast    every program, by tcc, or by gcc if tcc cannot compile the program
#           or the program is slow. The programs that killed the last mutants
#           of the same function come first, then the fastest. If tcc does not
#           see the change (the mailbox, builtins, C++), gcc compiles all
#           programs.
#   same    if gcc -O2 and g++ -O2 make the same code as before, the mutant does
#           not count.
#   late    work.sh, which counts basic blocks; then the sanitizers. A survivor
#           takes a minute and more here, so all mutants go through the stages
#           before first. A sample has no late stage.
#
# Without tcc, gcc compiles all, which takes longer; without clang, no program
# runs under MemorySanitizer. --bugs needs gcc and g++ alone.
#
# SPDX-License-Identifier: MIT
import argparse
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading

import mutants
import tap

LEAST = 95.0  # per cent of the mutants that must be killed

BUILD = '.build/mutate'
SURVIVORS = 'test/mutate/survivors.tsv'
BUGS = 'test/mutate/bugs.tsv'
INTERFACE = 'test/compile/interface.c'

HAS_CLANG = shutil.which('clang') is not None
TCC = ['tcc' if shutil.which('tcc') else 'gcc', '-w', '-std=c99']
GCC = ['gcc', '-w', '-std=c11', '-O1']
GXX = ['g++', '-w', '-std=c++17', '-O1']
TOOLS = ['gcc', 'g++']
STOP = '-fno-sanitize-recover=all'
ASAN = GCC + ['-fsanitize=address,undefined', STOP]
MSAN = ['clang', '-w', '-std=c11', '-O1', '-fsanitize=memory', STOP]

# Options of programs that otherwise take too long for thousands of runs.
OPTIONS = {
    'random': ['--operations', '100000'],
}
SCRIPTS = ['test/cost/work.sh']
SANITIZED = [('scripts', ASAN), ('memory', ASAN), ('random', ASAN)] + [
    ('random', MSAN)] * HAS_CLANG
os.environ['ASAN_OPTIONS'] = os.environ['MSAN_OPTIONS'] = \
    'hard_rss_limit_mb=2000'


class Work:
    """What every worker knows; set before the workers are created."""


class Program:
    """A test program with its compiler, a shell script (no compiler), or
    scripts.c with one file of cases."""

    def __init__(self, file, compiler=None):
        self.file, self.compiler = file, compiler
        self.label, suffix = os.path.splitext(os.path.basename(file))
        self.options = OPTIONS.get(self.label, [])
        if suffix == '.script':
            self.label, self.options = self.label + suffix, [file]
            self.file = 'test/contract/scripts.c'
        if suffix == '.sh':
            self.label += suffix
        elif compiler is None:
            self.compiler = GXX if suffix == '.cpp' else TCC
        if STOP in (compiler or []):
            self.label += ' ' + ('msan' if compiler is MSAN else 'asan')
        self.seconds = 0.0  # on the true header


class Shop:
    """The folder of a worker, with a copy of the tests and a header."""

    def __init__(self, name):
        self.folder = os.path.join(BUILD, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree('test', self.folder + '/test')
        os.symlink(os.path.abspath('bench'), self.folder + '/bench')  # traces
        with open(self.folder + '/code.c', 'w') as file:
            file.write('#define TIMINGWHEEL_IMPLEMENTATION\n'
                       '#include "timingwheel.h"\n')

    def take(self, header):
        self.compiled = set()
        with open(self.folder + '/timingwheel.h', 'w') as file:
            file.write(header)

    def call(self, command):
        """True if the command succeeds in the folder."""
        return subprocess.call(command, cwd=self.folder,
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL) == 0

    def objects(self, *commands):
        """Returns the object codes of the header; None for an error."""
        codes = []
        for command in commands:
            good = self.call(command.split() + ['-w', '-c', '-o', 'code.o'])
            codes.append(None)
            if good:
                with open(self.folder + '/code.o', 'rb') as file:
                    codes[-1] = file.read()
        return codes

    def seen_by_tcc(self):
        return self.objects(TCC[0] + ' code.c', TCC[0] + ' -DTW_DEBUG code.c')

    def optimised(self):
        return self.objects('gcc -O2 -DTIMINGWHEEL_THREADS code.c',
                            'gcc -O2 -DTW_DEBUG code.c', 'g++ -O2 -xc++ code.c')

    def run(self, program, compiler=None, cases=(), seconds=None):
        """Runs a program up to its first failure. Returns what failed, or
        None. Stores the processor time in self.used."""
        if compiler is None or program.compiler is GXX:
            compiler = program.compiler
        command, memory = ['./' + program.file], 4 << 30
        if compiler:
            built = '%s.%s' % (program.label.replace(' ', '.'), compiler[0])
            if built not in self.compiled:
                if not self.call([*compiler, '-o', built, program.file]):
                    return 'does not compile'
                self.compiled.add(built)
            command = ['./' + built, *program.options]
            if STOP in compiler:
                memory = resource.RLIM_INFINITY  # ASAN_OPTIONS has a limit
        limit = seconds or int(2 + 4 * program.seconds)

        def set_limits():
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        child = subprocess.Popen(
            [*command, *cases], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=set_limits, start_new_session=True)
        clock = threading.Timer(60 + 20 * limit, end, [child])
        clock.start()
        failed = None
        for line in child.stdout:
            line = line.decode('ascii', 'replace').strip()
            if line.startswith('not ok ') or (
                    '# skip' in line.lower() and compiler is TCC):
                failed = line.partition(' - ')[2] or line
                end(child)
                break
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        end(child)
        clock.cancel()
        child.stdout.close()
        self.used = usage.ru_utime + usage.ru_stime
        if failed is None and child.returncode != 0:
            failed = ('no case has this name' if child.returncode == 2
                      else 'crashes or hangs')
        return failed


def end(child):
    """Ends a child with all its own children."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def read_rows(file):
    return [line.rstrip('\n').split('\t') for line in open(file)
            if line.strip() and not line.startswith('#')]


# ------------------------------------------------------------------ judging --

def passing(shop, wanted):
    """Returns the programs that pass on the true header, the fastest first. A
    program that does not pass is a failure of the whole run."""
    good = []
    for program in wanted:
        failed = shop.run(program, seconds=200)
        if program.compiler is TCC and (failed or shop.used > 2):
            program.compiler = GCC
            failed = shop.run(program, seconds=200)
        if failed:
            tap.case(False, '%s on the true header' % program.label, failed)
            continue
        program.seconds = shop.used
        good.append(program)
        tap.note('%-20s %-5s %6.2f s' % (
            program.label, (program.compiler or ['sh'])[0], program.seconds))
    return sorted(good, key=lambda program: program.seconds)


def begin_worker():
    Work.shop = Shop('worker-%d' % os.getpid())
    Work.recent = {}  # by function: the programs that killed, the last first


def judge(mutant):
    """Returns [outcome, killers]. Outcomes: invalid, killed, same, survived.
    One kill is enough."""
    shop, compiler = Work.shop, None
    shop.take(mutant.apply(Work.header))
    seen = shop.seen_by_tcc()
    if None in seen:
        return ['invalid', []]
    if seen == Work.seen_by_tcc:
        codes = shop.optimised()
        if None in codes or codes == Work.optimised:
            return ['invalid' if None in codes else 'same', []]
    if seen == Work.seen_by_tcc:
        compiler = GCC
    recent = Work.recent.setdefault(mutant.key[0], [])
    order = recent + [p for p in Work.fast if p not in recent]
    if compiler:  # first the programs that tcc cannot compile
        order.sort(key=lambda p: p not in recent and p.compiler is TCC)
    for program in order:
        if not shop.run(program, compiler):
            continue
        recent[:] = [program] + [p for p in recent if p is not program]
        return ['killed', [program.label]]
    same = shop.optimised() == Work.optimised
    return ['same' if same else 'survived', []]


def judge_late(mutant):
    """Judges a mutant that no fast program has killed."""
    Work.shop.take(mutant.apply(Work.header))
    for program in Work.late:
        if Work.shop.run(program):
            return ['killed', [program.label]]
    return ['survived', []]


def judge_one(work):
    """Returns the mutant with its outcome."""
    judge_it, mutant = work
    return mutant, judge_it(mutant)


def new_functions():
    """Returns the public functions that no released version has."""
    def number(text):
        return [int(part) for part in re.match(r'(\d+)\.(\d+)', text).groups()]
    released, *sections = re.split(r'/\* since ', open(INTERFACE).read())
    released = re.search(r'released: (.*)', released).group(1)
    return [name for section in sections
            if number(section) > number(released)
            for name in re.findall(r'(?m)^(?!typedef).*?\b(tw_\w+)\(', section)]


def row_of(mutant, rows):
    """Returns the index of the first row that fits a mutant, or None."""
    for i, row in enumerate(rows):
        if all(row[k] in ('*', mutant.key[k]) for k in range(3)):
            return i
    return None


def report(options, chosen, known, rows):
    outcomes = [known[m.key][0] for m in chosen]
    survivors = [m for m in chosen if known[m.key][0] == 'survived']
    used = [row_of(m, rows) for m in survivors]
    for mutant, row in zip(survivors, used):
        if row is None:
            tap.note('no reason:\t' + '\t'.join(mutant.key[:3]))
    if None in used:
        tap.note('write cases that fail with these changes, or, if none can, '
                'rows of survivors.tsv')
    killed, listed = outcomes.count('killed'), len(used) - used.count(None)
    total = killed + len(survivors)
    late = [m for m in chosen if set(known[m.key][1]) &
            {program.label for program in Work.late}]
    tap.note('%d do not compile, %d have the same code, %d are killed late' %
            (outcomes.count('invalid'), outcomes.count('same'), len(late)))
    partial = options.sample or options.only
    if partial and total == 0:
        return tap.case(True, 'no mutant counts: none compiles to other code')
    share = 100.0 * (killed + (listed if partial else 0)) / total
    least = 100 if options.only else LEAST
    tap.case(share >= least, 'of %d mutants %d are killed, and %d more have a '
             'reason in survivors.tsv; at least %.0f %%' % (
                 total, killed, listed, least))
    if not partial:
        tap.case(None not in used,
                 'each of %d survivors has a reason' % len(used))
        unused = [row for i, row in enumerate(rows) if i not in used]
        for row in unused:
            tap.note('no survivor:\t' + '\t'.join(row))
        tap.case(not unused, 'each reason has a survivor')


def test_mutants(options):
    every, rows = mutants.mutants_of(Work.header), read_rows(SURVIVORS)
    chosen = [m for m in every
              if not options.only or m.key[0] in options.only]
    if options.sample and options.sample < len(chosen):
        picked = random.Random(options.seed).sample(chosen, options.sample)
        chosen = [m for m in chosen if m in picked]
    tap.note('%d mutants, %d of them chosen' % (len(every), len(chosen)))
    if not chosen:
        names = sorted({m.key[0] for m in every})
        return tap.case(False, 'there is a mutant of ' + ' '.join(options.only),
                        'those with mutants: ' + ' '.join(names))
    true = Shop('true')
    true.take(Work.header)
    files = subprocess.check_output('test/lib/programs.sh', text=True).split()
    late = [Program(file) for file in SCRIPTS] + [
        Program(file, compiler) for name, compiler in SANITIZED
        for file in files if file.endswith('/%s.c' % name)]
    Work.seen_by_tcc, Work.optimised = true.seen_by_tcc(), true.optimised()
    Work.fast = passing(true, [Program(file) for file in files])
    Work.late = passing(true, [] if options.sample else late)
    known, new = {}, chosen
    if options.sample or options.only:  # a survivor takes long: trust
        known = {m.key: ['survived', []] for m in chosen
                 if row_of(m, rows) is not None}
        new = [m for m in chosen if m.key not in known]
    with multiprocessing.Pool(options.jobs, begin_worker) as pool:
        for judge_it in judge, judge_late:
            work = [(judge_it, mutant) for mutant in new]
            for i, (mutant, outcome) in enumerate(
                    pool.imap_unordered(judge_one, work)):
                known[mutant.key] = outcome
                tap.note('%d of %d %s: %s' % (
                    i + 1, len(new), ' '.join(outcome[:1] + outcome[1]),
                    '  |  '.join(mutant.key[:3])))
            new = [m for m in new
                   if Work.late and known[m.key][0] == 'survived']
            if judge_it is judge and new:
                tap.note('%d survive the fast programs; work.sh and the '
                         'sanitizers take minutes' % len(new))
    report(options, chosen, known, rows)


# ------------------------------------------------------------- planted bugs --

def plant(header, changes):
    """Returns the header with a bug, or None. The text to replace stands once
    in the header. Any white space fits, and comments count as white space."""
    for old, new in zip(changes[::2], changes[1::2]):
        pattern = r'\s+'.join(map(re.escape, old.split()))
        code = mutants.without_comments(header)
        found = [match.span() for match in re.finditer(pattern, code)]
        if len(found) != 1:
            tap.note('%d times in the header: %s' % (len(found), old))
            return None
        header = header[:found[0][0]] + new + header[found[0][1]:]
    return header


def test_bugs():
    """Tests that the case that a bug names fails with the bug."""
    shop = Shop('bugs')
    for name, pinned, *changes in read_rows(BUGS):
        file, _, case = pinned.partition(': ')  # a path from test/contract
        program = Program(os.path.normpath('test/contract/' + file))
        header, failed = plant(Work.header, changes), None
        if header is not None:
            shop.take(header)
            cases = [] if '/search/' in file else [case]  # one case
            failed = shop.run(program, cases=cases, seconds=10)
        tap.case(failed is not None and ('hangs' in failed or case in failed),
            '%s: found by %s: %s' % (name, program.label, failed))


def test_defects(options):
    """Tests that random.c finds each defect of bugs.tsv by itself. random.c
    counts basic blocks, since some defects only cost time or never end."""
    shop = Shop('defects')
    for name, _, *changes in read_rows(BUGS):
        header = name.startswith('defect: ') and plant(Work.header, changes)
        if not header:  # --bugs reports a bug that does not fit the header
            continue
        shop.take(header)
        built = shop.call('gcc -std=c99 -O2 -w -fsanitize-coverage=trace-pc -o '
                          'random test/search/random.c'.split())
        done = built and subprocess.run(
            ['./random', '--seed', str(options.seed), '--operations',
             str(options.operations)],
            cwd=shop.folder, capture_output=True, text=True)
        for line in re.findall('(?m)^# step .*', done.stdout if done else ''):
            print(line)
        tap.case(done and done.returncode != 0, 'random.c finds: ' + name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--header', default='timingwheel.h')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--sample', type=int, default=0)
    parser.add_argument('--operations', type=int, default=200000000)
    parser.add_argument('--only', action='append')
    for flag in '--bugs', '--defects', '--new':
        parser.add_argument(flag, action='store_true')
    options = parser.parse_args()
    with open(options.header, encoding='ascii') as file:
        Work.header = file.read()
    if options.new:
        options.only = new_functions()
        if not options.only:
            tap.case(True, 'no function is new')
            return tap.end()
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        tap.skip('mutants', ' '.join(missing) + ' is missing')
    elif options.defects:
        test_defects(options)
    else:
        if options.bugs or not (options.sample or options.only):
            test_bugs()
        if not options.bugs:
            test_mutants(options)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
