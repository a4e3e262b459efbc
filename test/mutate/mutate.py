# mutate.py - runs the tests on mutants of timingwheel.h and on the bugs of
# bugs.py. mutate.sh calls the script, and turns the lines `pass NAME` and
# `fail NAME` into TAP. mutate.sh explains the purpose and the options.
#
# Every mutant goes through the tests of FAST until a test fails. (FOR_GCC and
# FOR_MAILBOX are for mutants of code that tcc does not compile.) If no test
# fails, gcc -O2 compiles the mutant. If the object is equal to the object of
# the true header, byte by byte, the mutant does not count. The remaining
# mutants go through SLOW and then through SANITIZED, except for the mutants of
# the mailbox. In a sample, a mutant that survives FAST counts as a survivor.
#
# A case hangs if it takes several times as long as on the true header. A case
# that hangs has failed. The measure is processor time, so that a busy machine
# makes no difference. A case of a script hangs if a process of the case takes
# two minutes.
#
# SPDX-License-Identifier: MIT
import argparse
import glob
import hashlib
import json
import math
import multiprocessing
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import textwrap

import bugs
import mutants

LEAST = 95.0  # per cent that must be killed

BUILD = '.build/mutate'
SURVIVORS = 'test/mutate/survivors.txt'

# Every test program: its name and its file.
PROGRAMS = {os.path.basename(file)[:-len('.c')]: file for file in
            subprocess.check_output('test/lib/programs.sh', text=True).split()}

TCC = ['tcc', '-w', '-std=c99']
GCC = ['gcc', '-w', '-std=c11', '-O1']
ASAN = ['gcc', '-w', '-std=c11', '-O1', '-fsanitize=address,undefined',
        '-fno-sanitize-recover=all']
MSAN = ['clang', '-w', '-std=c11', '-O1', '-fsanitize=memory',
        '-fno-sanitize-recover=all']
# The first flag that a compiler has names the kind of build.
KINDS = [('-fsanitize=memory', ' msan'),
         ('-fsanitize=address,undefined', ' asan'), ('-O1', ' -O1')]


class Test:
    """A test program with its compiler and options, and perhaps a selection of
    its cases. `times` has the time of each case on the true header."""

    def __init__(self, name, compiler, *options, cases=()):
        self.name, self.compiler, self.options = name, compiler, options
        self.cases = cases
        self.times = {}

    def label(self):
        for flag, kind in KINDS:
            if flag in self.compiler:
                return self.name + kind
        return self.name

    def command(self, shop, cases):
        return [shop.compile(self), *self.options, *cases]


class Script(Test):
    """A test that a script compiles and runs, with all its cases."""

    def __init__(self, name, *options):
        super().__init__(name, [], *options)

    def label(self):
        return os.path.basename(self.name)

    def command(self, shop, cases):
        return [self.name, *self.options]


def test_files():
    """Returns the files that the tests consist of."""
    files = [*PROGRAMS.values(), 'test/search/work.sh', 'test/compile/empty.c']
    for folder in 'lib', 'cost':
        files += glob.glob('test/%s/*.*' % folder)
    return sorted(files)


# `portable` is all programs with letters.h in one. With this flag, gcc compiles
# the code with builtins.
BUILTINS = '-DKEEP_BUILTINS'

FAST = [
    Test('corruption', TCC),
    Test('misuse', TCC),
    Test('portable', TCC),
    Test('ahead', TCC),
    Test('found', TCC),
    Test('random', TCC, '--operations', '20000'),
    Test('work', TCC, cases=[
        'moves: none', 'moves: 13', 'moves: large', 'moves: a large',
        'moves: no bucket', 'moves: only', 'moves: one']),
    Test('structure', TCC),
    Test('memory', GCC),
]
# The scripts count instructions and basic blocks.
SLOW = [
    Script('test/cost/cost.sh'),
    Script('test/search/work.sh', '--operations', '1000000'),
    Test('peer_bugs_callbacks', GCC),
    Test('peer_bugs_structure', GCC),
    Test('states', GCC, '--quick'),
    Test('exhaustive', GCC, '--quick'),
    Test('peer_bugs_early_late', GCC),
    Test('random', GCC, '--operations', '400000'),
]
SANITIZED = [
    Test('ahead', MSAN),
    Test('portable', ASAN + [BUILTINS]),
    Test('structure', ASAN + ['-DRECORDER_CHECK_EVERY=16']),
    Test('ahead', ASAN),
    Test('random', ASAN, '--operations', '100000'),
    Test('memory', ASAN, '--quick'),
]
# Not among the slow tests: `mailbox` is for mutants of the mailbox only, and
# `portable` has the cases of the programs with letters.h.
LEFT_OUT = {'mailbox'} | {
    name for name, file in PROGRAMS.items()
    if '"../lib/letters.h"' in open(file).read()}
# A program in none of the lists is slow.
SLOW += [Test(name, GCC) for name in sorted(
    PROGRAMS.keys() - LEFT_OUT - {test.name for test in FAST + SLOW})]
# For branches that tcc does not compile.
FOR_GCC = [
    Test('portable', GCC + [BUILTINS]),
    Test('random', GCC, '--operations', '20000'),
]
# For the mailbox. test/threads has mistakes that need several threads.
FOR_MAILBOX = [
    Test('mailbox', GCC),
    Test('mailbox', ASAN),
]


# ------------------------------------------------------------------ running --

def set_limits():
    """Bounds the child process, in case that the script ends first."""
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def processor_time(process):
    with open('/proc/%d/stat' % process) as file:
        fields = file.read().rpartition(')')[2].split()
    ticks = sum(int(field) for field in fields[11:15])  # with ended children
    return ticks / os.sysconf('SC_CLK_TCK')


class Run:
    """A run of a test program, up to its first failure. `passed` has the time
    of each passed case. `failed` is the failed case, or None."""

    def __init__(self, command, times, folder):
        self.times = times  # of the cases on the true header, by name
        self.names = list(times)
        self.passed, self.failed = {}, None
        self.since, self.rest = 0.0, b''
        self.child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, preexec_fn=set_limits, cwd=folder,
            start_new_session=True)
        self.follow()
        try:
            os.killpg(self.child.pid, signal.SIGKILL)  # scripts have children
        except ProcessLookupError:
            pass
        self.child.stdout.close()
        self.child.wait()

    def running(self):
        """Returns the name of the running case."""
        number = len(self.passed)
        return self.names[number] if number < len(self.names) else 'the end'

    def follow(self):
        source = self.child.stdout.fileno()
        while self.failed is None:
            ready, _, _ = select.select([source], [], [], 0.05)
            data = os.read(source, 65536) if ready else None
            if data is None:
                self.lose_patience()
            elif data:
                self.read(data)
            else:
                self.ended(self.child.wait())
                return

    def read(self, data):
        now = processor_time(self.child.pid)
        *lines, self.rest = (self.rest + data).split(b'\n')
        for line in lines:
            line = line.decode('ascii', 'replace')
            name = line.partition(' - ')[2]
            if line.startswith('ok '):
                self.passed[name] = now - self.since
                self.since = now
            elif line.startswith('not ok '):
                self.failed = (name, 'fails')
                return

    def lose_patience(self):
        """Fails a case that takes several times its usual time."""
        usual = self.times.get(self.running(), 0.0 if self.times else math.inf)
        used = processor_time(self.child.pid) - self.since
        if used > 0.15 + 3 * usual:
            self.failed = (self.running(), 'hangs')

    def ended(self, status):
        if status != 0 and self.failed is None:
            self.failed = (self.running(), 'crashes')


class Workshop:
    """The folder of a worker, with the header and copies of the tests."""

    def __init__(self, name):
        self.folder = os.path.join(BUILD, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        for file in test_files():
            os.makedirs(self.folder + '/' + os.path.dirname(file),
                        exist_ok=True)
            shutil.copy(file, self.folder + '/' + file)
        with open(self.folder + '/code.c', 'w') as file:
            file.write('#define TIMINGWHEEL_IMPLEMENTATION\n'
                       '#define TIMINGWHEEL_THREADS\n'
                       '#include "timingwheel.h"\n')
        self.compiled = set()

    def take(self, header):
        with open(self.folder + '/timingwheel.h', 'w') as file:
            file.write(header)
        self.compiled.clear()

    def compile(self, test):
        """Returns the compiled program. Raises SyntaxError if the program does
        not compile."""
        kind = test.label().replace(' ', '')
        if kind not in self.compiled:
            command = test.compiler + ['-o', kind, PROGRAMS[test.name]]
            if subprocess.call(command, cwd=self.folder,
                               stderr=subprocess.DEVNULL) != 0:
                raise SyntaxError(test.label())
            self.compiled.add(kind)
        return './' + kind

    def run(self, test, case=None):
        """Runs a test, or one case of a test."""
        cases, times = test.cases, test.times
        if case is not None:
            cases = [case]
            times = {name: times[name] for name in times if case in name}
        return Run(test.command(self, cases), times, self.folder)

    def object(self):
        """Returns the object file of the header, by gcc -O2."""
        subprocess.check_call(
            ['gcc', '-w', '-std=c11', '-O2', '-c', 'code.c'], cwd=self.folder)
        with open(self.folder + '/code.o', 'rb') as file:
            return file.read()


def measure(shop, test, case=None):
    """Runs a test on the true header. The test must pass."""
    try:
        run = shop.run(test, case)
    except SyntaxError:
        sys.exit('%s does not compile' % test.label())
    if run.failed is not None:
        sys.exit('%s: "%s" %s on the true header' %
                 (test.label(), *run.failed))
    if any('# SKIP' in name for name in run.passed):
        sys.exit('%s is skipped: see its README' % test.label())
    if not run.passed:
        sys.exit('%s has no case "%s"' % (test.label(), case))
    test.times = run.passed
    if case is None:
        print('# %-24s %3d cases in %5.2f s, the longest takes %.2f s' %
              (test.label(), len(run.passed), sum(run.passed.values()),
               max(run.passed.values())), flush=True)


# ------------------------------------------------------------------ mutants --

shop = header = true_object = listed = None


def begin_worker(*given):
    global shop, header, true_object, listed
    header, true_object, listed = given
    shop = Workshop('worker-%d' % os.getpid())


TESTS_FOR = {'tcc': FAST, 'gcc': FOR_GCC, 'threads': FOR_MAILBOX}
recent = {}  # by function: the last cases that noticed a mutant


def first_to_notice(tests, mutant):
    """Returns the first case that fails, and how it fails. A case that has
    noticed a mutant of the same function goes first."""
    cases = recent.setdefault(mutant.function, [])
    for test, case in cases + [(test, None) for test in tests]:
        if test not in tests:
            continue
        failed = shop.run(test, case).failed
        if failed is not None:
            if failed[0] in test.times and not isinstance(test, Script):
                note_recent(cases, test, failed[0])
            return '%s: %s' % (test.label(), failed[0]), failed[1]
    return None


def note_recent(cases, *new):
    if new in cases:
        cases.remove(new)
    cases.insert(0, new)
    del cases[4:]


def judge(mutant):
    """Returns the outcome of a mutant in the fast tests, with the test."""
    if mutant.key in listed:
        return 'survived', None
    shop.take(mutant.apply(header))
    try:
        found = first_to_notice(TESTS_FOR[mutant.compiler], mutant)
        if found is not None:
            return 'killed', found
    except SyntaxError:
        return 'invalid', None
    return 'survived', None


def judge_again(mutant):
    """Returns the outcome of a survivor of the fast tests."""
    shop.take(mutant.apply(header))
    try:
        if shop.object() == true_object:
            return 'same', None
        found = None
        if mutant.compiler != 'threads':
            found = first_to_notice(SLOW + SANITIZED, mutant)
    except SyntaxError:
        return 'invalid', None
    return ('survived', None) if found is None else ('killed late', found)


def read_survivors():
    """Returns the recorded survivors, {key: reason}. A reason is for all
    following survivors. A line that begins with spaces continues a line."""
    entries, reason, parts = {}, None, []
    with open(SURVIVORS) as file:
        text = file.read().replace('\n  ', ' ')
    for line in text.split('\n'):
        line = ' '.join(line.split())
        if line.startswith('reason: '):
            reason = line[len('reason: '):]
        elif line and not line.startswith('#'):
            parts.append(line[2:] if parts else line)
            if len(parts) == 3:
                entries[tuple(parts)] = reason
                parts = []
    return entries


def entry(key):
    """Returns the lines of a mutant in survivors.txt."""
    lines = [key[0]]
    for mark, line in zip('-+', key[1:]):
        lines += textwrap.wrap('%s %s' % (mark, line), 78,
                               subsequent_indent='  ', break_long_words=False,
                               break_on_hyphens=False)
    return lines


def say(good, name):
    print('%s %s' % ('pass' if good else 'fail', name), flush=True)


def comment(lines):
    for line in lines:
        print('# ' + line)


def report(options, chosen, outcomes, recorded):
    """Reports the cases about mutants. For a sample only the share counts."""
    strict = options.sample == 1
    by = {}
    for mutant, (outcome, found) in zip(chosen, outcomes):
        by.setdefault(outcome, []).append((mutant, found))
    killed = len(by.get('killed', [])) + len(by.get('killed late', []))
    survivors = [mutant for mutant, _ in by.get('survived', [])]
    total = killed + len(survivors)
    new = [m for m in survivors if m.key not in recorded]
    noticed = [(m, found) for outcome in ('killed', 'killed late')
               for m, found in by.get(outcome, []) if m.key in recorded]
    share = 100.0 * killed / max(total, 1)
    comment(['%d do not compile, %d yield the same code' %
             (len(by.get('invalid', [])), len(by.get('same', []))),
             '%d are killed by the slow tests or the sanitizers only' %
             len(by.get('killed late', []))])
    if options.listed:
        pass
    elif strict:
        say(share >= LEAST, 'mutants: %d of %d killed (%.1f %%), '
            'at least %.0f %%' % (killed, total, share, LEAST))
    else:
        known = 100.0 * (total - len(new)) / max(total, 1)
        say(known >= LEAST, 'sample: of %d mutants %d killed (%.1f %%), '
            '%d more listed, together at least %.0f %%' %
            (total, killed, share, len(survivors) - len(new), LEAST))
    for mutant in new:
        comment(entry(mutant.key) + ['  is not listed'])
    for mutant, found in noticed:
        comment(entry(mutant.key) + ['  is killed by %s' % found[0]])
    if not strict:
        comment(['%d survivors, %d of them not listed' %
                 (len(survivors), len(new))])
        return
    say(not new, 'survivors: %d, each with its reason in survivors.txt' %
        len(survivors))
    say(not noticed, 'no recorded survivor is killed')


def workers(options, *given):
    return multiprocessing.Pool(options.jobs, begin_worker, given)


class Notes:
    """A file of outcomes, to resume a run. A killed mutant stays killed while
    the code of the header is the same. A survivor is tried again when the
    tests have changed."""

    def __init__(self, name, text):
        self.name, self.outcomes = name, {}
        code = mutants.without_comments(text)
        self.code = digest(' '.join(code.split()))
        self.tests = digest(''.join(
            open(file).read() for file in test_files() + [__file__]))
        if name and os.path.exists(name):
            with open(name) as file:
                for line in file:
                    self.read(json.loads(line))

    def read(self, note):
        survived = note['outcome'] == 'survived'
        if note['code'] == self.code and (
                note['tests'] == self.tests or not survived):
            stage = self.outcomes.setdefault(note['stage'], {})
            stage[tuple(note['mutant'])] = (note['outcome'], note['found'])

    def add(self, stage, mutant, outcome):
        if self.name:
            with open(self.name, 'a') as file:
                file.write(json.dumps(
                    {'code': self.code, 'tests': self.tests, 'stage': stage,
                     'mutant': mutant.key, 'outcome': outcome[0],
                     'found': outcome[1]}) + '\n')

    def judge_all(self, stage, function, pool, chosen):
        """Yields the outcome of each mutant, from the file or by `function`."""
        known = self.outcomes.get(stage, {})
        new = (m for m in chosen if m.key not in known)
        found = pool.imap(function, new)
        for mutant in chosen:
            outcome = known.get(mutant.key)
            if outcome is None:
                outcome = next(found)
                self.add(stage, mutant, outcome)
            yield outcome


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def logged(options, chosen, outcomes):
    """Yields the outcomes, and writes the outcomes to options.log, if set."""
    for mutant, outcome in zip(chosen, outcomes):
        if options.log:
            with open(options.log, 'a') as file:
                file.write('%s\n- %s\n+ %s\n' % mutant.key)
                file.write('= %s %s\n' % (outcome[0], outcome[1] or ''))
        yield outcome


def run_all(options, text, recorded, chosen):
    """Returns the outcomes of the chosen mutants."""
    true_shop = Workshop('true')
    true_shop.take(text)
    for compiler in sorted({mutant.compiler for mutant in chosen}):
        for test in TESTS_FOR[compiler]:
            measure(true_shop, test)
    # A listed mutant runs every fast test, which would take most of the time of
    # a sample. Therefore a sample does not try the listed mutants.
    known = recorded if options.sample > 1 else {}
    notes = Notes(options.resume if options.sample == 1 else None, text)
    with workers(options, text, None, known) as pool:
        outcomes = list(logged(options, chosen, notes.judge_all(
            'fast', judge, pool, chosen)))
    if options.sample > 1:
        return outcomes
    left = [i for i, mutant in enumerate(chosen)
            if outcomes[i][0] == 'survived']
    print('# %d go through the slow tests' % len(left), flush=True)
    if left:
        for test in SLOW + SANITIZED:
            measure(true_shop, test)
        again = [chosen[i] for i in left]
        with workers(options, text, true_shop.object(), recorded) as pool:
            late = list(logged(options, again, notes.judge_all(
                'slow', judge_again, pool, again)))
        for i, outcome in zip(left, late):
            outcomes[i] = outcome
    return outcomes


def test_mutants(options, text):
    every = mutants.mutants_of(text)
    recorded = read_survivors()
    chosen = [m for m in every
              if (not options.only or m.function in options.only) and
              (not options.listed or m.key in recorded)]
    chosen = chosen[options.seed % options.sample::options.sample]
    print('# %d mutants, %d of them chosen' % (len(every), len(chosen)),
          flush=True)
    report(options, chosen, run_all(options, text, recorded, chosen), recorded)
    if options.sample > 1:
        return
    stale = set(recorded) - {mutant.key for mutant in every}
    for key in sorted(stale):
        comment(entry(key))
    say(not stale, 'every recorded survivor is still a mutant')


# --------------------------------------------------------------------- bugs --

def test_bugs(text):
    """Tests that each bug fails in the case that the bug names."""
    true_shop, bug_shop = Workshop('true'), Workshop('bugs')
    true_shop.take(text)
    for bug in bugs.BUGS:
        test = Test(bug.test, TCC)
        measure(true_shop, test, bug.case)
        say(*judge_bug(bug, bug_shop, text, test))


def judge_bug(bug, bug_shop, text, test):
    name = 'bug %d, %s: ' % (bug.number, bug.name)
    try:
        bug_shop.take(bug.apply(text))
        failed = bug_shop.run(test, bug.case).failed
    except LookupError as missing:
        comment(['it would have to change: ' + ' '.join(str(missing).split())])
        return False, name + 'cannot be made'
    except SyntaxError:
        return False, name + 'does not compile'
    if failed is None or bug.case not in failed[0]:
        return False, name + 'not killed by "%s"' % bug.case
    return True, name + 'killed by "%s: %s"' % (test.name, failed[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--header', default='timingwheel.h')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--sample', type=int, default=1)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--bugs', action='store_true')
    parser.add_argument('--only', action='append')
    parser.add_argument('--listed', action='store_true')
    parser.add_argument('--log')
    parser.add_argument('--resume')
    options = parser.parse_args()
    with open(options.header, encoding='ascii') as file:
        text = file.read()
    if options.bugs or not (
            options.only or options.listed or options.sample > 1):
        test_bugs(text)
    if not options.bugs:
        test_mutants(options, text)


if __name__ == '__main__':
    main()
