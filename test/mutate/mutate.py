# mutate.py - runs the test programs on mutants of timingwheel.h, and on the
# planted bugs of bugs.tsv. Prints TAP. mutate.sh calls the script, and explains
# the options.
#
# Each program has one compiler: tcc, which takes milliseconds; gcc, if the
# program has threads or runs for long; g++ for C++. Without tcc, gcc compiles
# all. A program kills a mutant if a case fails, or if the program crashes or
# takes several times as long as on the true header. The measure is processor
# time, so a busy machine makes no difference. The programs that killed the last
# mutants of the same function come first, then the fastest.
#
# A survivor for which gcc -O2 and g++ -O2 make the same code as before does not
# count. Others, unless survivors.tsv has them or the run is a sample, also go
# through work.sh and the sanitizers, which takes a minute each.
#
# SPDX-License-Identifier: MIT
import argparse
import multiprocessing
import os
import random
import re
import resource
import shutil
import subprocess
import sys

import mutants
import tap

LEAST = 0.95  # of the mutants must be killed

BUILD = '.build/mutate'
SURVIVORS = 'test/mutate/survivors.tsv'
BUGS = 'test/mutate/bugs.tsv'

TCC = ['tcc' if shutil.which('tcc') else 'gcc', '-w', '-std=c99']
GCC = ['gcc', '-w', '-std=c11', '-O1', '-pthread']
GXX = ['g++', '-w', '-std=c++17', '-O1']
ASAN = ['gcc', '-w', '-std=c11', '-O1', '-fno-sanitize-recover=all',
        '-fsanitize=address,undefined']
MSAN = ['clang', '-w', '-std=c11', '-O1', '-fno-sanitize-recover=all',
        '-fsanitize=memory']
SANITIZED = [('scripts', ASAN), ('memory', ASAN), ('random', ASAN)] + [
    ('random', MSAN)] * bool(shutil.which('clang'))
os.environ['ASAN_OPTIONS'] = os.environ['MSAN_OPTIONS'] = \
    'hard_rss_limit_mb=2000'


class Work:
    """What every worker knows; set before the workers are created."""


class Program:
    """A test program with its compiler, a shell script (no compiler), or
    scripts.c with one file of cases."""

    def __init__(self, file, compiler=None):
        self.file, self.compiler, self.options = file, compiler, []
        self.label, suffix = os.path.splitext(os.path.basename(file))
        if self.label == 'random':  # else too long for thousands of runs
            self.options = ['--operations', '100000']
        if suffix == '.script':
            self.label, self.options = self.label + suffix, [file]
            self.file = 'test/contract/scripts.c'
        if compiler in (ASAN, MSAN):
            self.label += compiler[-1].replace('-fsanitize=', ' ')
        elif suffix == '.sh':
            self.label += suffix
        elif not compiler:
            by_gcc = '/cost/' in self.file or (
                'define TIMINGWHEEL_THREADS' in open(self.file).read())
            self.compiler = GXX if suffix == '.cpp' else GCC if by_gcc else TCC
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
        with open(self.folder + '/timingwheel.h', 'w') as file:
            file.write(header)

    def call(self, command):
        """True if the command succeeds in the folder."""
        return subprocess.call(command, cwd=self.folder,
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL) == 0

    def code(self):
        """Returns the object codes of the header; None for an error."""
        codes = []
        for command in ('gcc -O2 -DTIMINGWHEEL_THREADS', 'gcc -O2 -DTW_DEBUG',
                        'g++ -O2 -xc++'):
            if not self.call(command.split() + [
                    '-w', '-c', '-o', 'code.o', 'code.c']):
                return None
            with open(self.folder + '/code.o', 'rb') as file:
                codes.append(file.read())
        return codes

    def run(self, program, cases=(), seconds=None):
        """Returns what failed first, or None. Stores the processor time in
        self.used."""
        command = ['./' + program.file, *cases]
        memory = 4 << 30
        if program.compiler:
            if not self.call([*program.compiler, '-o', 'program',
                              program.file]):
                return 'does not compile'
            command = ['./program', *program.options, *cases]
            if program.compiler in (ASAN, MSAN):
                memory = resource.RLIM_INFINITY  # ASAN_OPTIONS has a limit
        limit = seconds or int(2 + 4 * program.seconds)

        def set_limits():
            for kind, most in ((resource.RLIMIT_CPU, limit),
                               (resource.RLIMIT_AS, memory),
                               (resource.RLIMIT_FSIZE, 16 << 20),
                               (resource.RLIMIT_CORE, 0)):
                resource.setrlimit(kind, (most, most))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(self.folder + '/said', 'w+b') as said:
            status = subprocess.call(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.DEVNULL, preexec_fn=set_limits)
            said.seek(0)
            failed = [line for line in said if line.startswith(b'not ok ')]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.used = (after.ru_utime + after.ru_stime -
                     before.ru_utime - before.ru_stime)
        if failed:
            first = failed[0].decode('ascii', 'replace').strip()
            return first.partition(' - ')[2]
        if status == 0:
            return None
        return 'no case has this name' if status == 2 else 'crashes or hangs'


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
        if failed:
            tap.case(False, '%s on the true header' % program.label, failed)
            continue
        program.seconds = shop.used
        good.append(program)
        tap.note('%-20s %6.2f s' % (program.label, program.seconds))
    return sorted(good, key=lambda program: program.seconds)


def begin_worker():
    Work.shop = Shop('worker-%d' % os.getpid())
    Work.recent = {}  # by function: the programs that killed, the last first


def judge(mutant):
    """Returns the mutant with its outcome: invalid, same, survived, or the
    program that has killed it. One kill is enough."""
    shop = Work.shop
    shop.take(mutant.apply(Work.header))
    recent = Work.recent.setdefault(mutant.key[0], [])
    for program in recent + [p for p in Work.fast if p not in recent]:
        failed = shop.run(program)
        if failed == 'does not compile':
            return mutant, 'invalid'
        if failed:
            recent[:] = [program] + [p for p in recent if p is not program]
            return mutant, program.label
    if shop.code() == Work.code:
        return mutant, 'same'
    if row_of(mutant) is None:
        for program in Work.slow:
            if shop.run(program):
                return mutant, program.label
    return mutant, 'survived'


def row_of(mutant):
    """Returns the row of survivors.tsv that fits a mutant, or None."""
    return next((row for row in Work.rows if all(
        part in ('*', key) for part, key in zip(row, mutant.key[:3]))), None)


def test_reasons(mutants_left):
    """Tests that each row of survivors.tsv fits one of the mutants."""
    used = [row_of(mutant) for mutant in mutants_left]
    unused = ['\t'.join(row[:3]) for row in Work.rows if row not in used]
    tap.case(not unused, 'each row of survivors.tsv fits a mutant',
             '\n'.join(unused))


def report(partial, least, outcomes):
    """`outcomes` has each mutant that was judged, or that a partial run trusts
    to survive."""
    counts = [o for _, o in outcomes if o not in ('invalid', 'same')]
    survivors = [m for m, outcome in outcomes if outcome == 'survived']
    bare = [m for m in survivors if row_of(m) is None]
    for mutant in bare:
        tap.note('no reason:\t' + '\t'.join(mutant.key[:3]))
    listed, killed = len(survivors) - len(bare), len(counts) - len(survivors)
    share = (killed + listed * bool(partial)) / max(len(counts), 1)
    tap.case(share >= least or not counts, '%d mutants, of which %d count: '
             '%d are killed, %d have a reason, %d none; at least %.0f %%' % (
                 len(outcomes), len(counts), killed, listed, len(bare),
                 100 * least))
    if not partial:
        tap.case(not bare, 'each survivor has a reason: write cases that fail, '
                 'or rows of survivors.tsv')
        test_reasons(survivors)


def test_mutants(options):
    every = mutants.mutants_of(Work.header)
    chosen = [m for m in every
              if not options.only or m.key[0] in options.only]
    if options.sample and options.sample < len(chosen):
        chosen = random.Random(options.seed).sample(chosen, options.sample)
    tap.note('%d mutants, %d of them chosen' % (len(every), len(chosen)))
    if not chosen:
        return tap.case(False, 'there is a mutant of ' + ' '.join(options.only))
    true = Shop('true')
    true.take(Work.header)
    Work.code = true.code()
    files = subprocess.check_output('test/lib/programs.sh', text=True).split()
    Work.fast = passing(true, [Program(file) for file in files])
    Work.slow = passing(true, [] if options.sample else [
        Program('test/cost/work.sh')] + [
            Program(file, compiler) for name, compiler in SANITIZED
            for file in files if file.endswith('/%s.c' % name)])
    partial = options.sample or options.only
    outcomes = [(m, 'survived') for m in chosen if partial and row_of(m)]
    chosen = [m for m in chosen if not (partial and row_of(m))]
    with multiprocessing.Pool(options.jobs, begin_worker) as pool:
        for mutant, outcome in pool.imap_unordered(judge, chosen):
            outcomes.append((mutant, outcome))
            tap.note('%d %s: %s' % (len(outcomes), outcome,
                                    '  |  '.join(mutant.key[:3])))
    report(partial, 1 if options.only else LEAST, outcomes)


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
    """Tests that random.c finds each defect of bugs.tsv by itself. The limit is
    five times what the true header takes; one defect never ends."""
    shop = Shop('defects')
    program = Program('test/search/random.c', GCC)
    program.options = ['--seed', str(options.seed), '--operations', '20000000']
    for name, _, *changes in read_rows(BUGS):
        header = name.startswith('defect: ') and plant(Work.header, changes)
        if header:  # --bugs reports a bug that does not fit the header
            shop.take(header)
            failed = shop.run(program, seconds=150)
            tap.case(failed and failed != 'does not compile',
                     'random.c finds: ' + name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--sample', type=int, default=0)
    parser.add_argument('--only', action='append')
    for flag in '--bugs', '--defects':
        parser.add_argument(flag, action='store_true')
    options = parser.parse_args()
    with open('timingwheel.h', encoding='ascii') as file:
        Work.header = file.read()
    Work.rows = read_rows(SURVIVORS)
    missing = [tool for tool in ('gcc', 'g++') if not shutil.which(tool)]
    if missing:
        tap.skip('mutants', ' '.join(missing) + ' is missing')
    elif options.defects:
        test_defects(options)
    else:
        if options.bugs or not (options.sample or options.only):
            test_bugs()
            test_reasons(mutants.mutants_of(Work.header))
        if not options.bugs:
            test_mutants(options)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
