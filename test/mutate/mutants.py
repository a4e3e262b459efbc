# mutants.py - makes the mutants of timingwheel.h. A mutant is the header with
# one small mistake. mutate.py runs the tests on the mutants. Called directly,
# the script lists all mutants:
#
#     python3 test/mutate/mutants.py [HEADER]
#
# Only function bodies and numeric constants of the implementation are changed.
# The key of a mutant is its function and the line before and after the change,
# not a line number. The list depends only on the header.
#
# SPDX-License-Identifier: MIT
import re
import sys

# Functions without a visible effect, or with an effect only in a debug build.
WITHOUT_EFFECT = {
    'twi_prefetch',  # prefetches into the cache
    'twi_prefetch_back',
    'tw_strerror',   # a test reads its sentences
    'twi_is_elsewhere',  # for TW_DEBUG
}

# A line with one of these words concerns prefetching, or only TW_DEBUG. The
# argument of TWI_UNLIKELY is changed like any code. TWI_UNLIKELY is not.
WORDS_WITHOUT_EFFECT = re.compile(
    r'\b(TWI_PREFETCH|twi_prefetch\w*|TWI_AHEAD|ahead = ahead|ahead != NULL|'
    r'TWI_RULE\w*)\b')

# A short cut returns false if it does not apply, and the general way follows.
# If a mutant makes a short cut apply less often, the mutant only costs time,
# and is not made. If the short cut applies too often or is wrong, the mutant is
# made.
SHORT_CUTS = {'tw_start', 'twi_is_wheel_for', 'twi_queue_later',
              'twi_free_last_slot'}
CALL_OF_SHORT_CUT = re.compile(r'if \((!?)(%s)\(' %
                               '|'.join(sorted(SHORT_CUTS)))

# A tick of one time unit saves a division. The division has the same result.
SAVES_DIVISION = ('tw->tick == 1', 'tw->tick != 1')

# The buckets outside of the wheels are mostly empty. A search in empty buckets
# only costs time.
SAVES_LOOK = 'tw->has_outside'

# Initial values that are set again before the first read. The initial values
# only prevent indeterminate memory.
FIRST_VALUES = re.compile(
    r'^ *(wheel->first = wheel->buckets|wheel->reach_end = 0);$')

# Constants that could have any value: the size of the first slab, the number
# of sparsely filled chunks at which sweeping begins, and the number of chunks
# swept before an allocation.
CONSTANTS_OF_CHOICE = {'TWI_LEAST_CHUNKS', 'TWI_SPARE_CHUNKS', 'TWI_LONG_SWEEP'}

OPERATORS = {
    '<': ['<='], '<=': ['<'], '>': ['>='], '>=': ['>'],
    '==': ['!='], '!=': ['=='], '&&': ['||'], '||': ['&&'],
    '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['/'],
    '<<': ['>>'], '>>': ['<<'], '&': ['|'], '|': ['&'], '^': ['|'],
    '+=': ['-='], '-=': ['+='], '|=': ['='], '&=': ['='],
    '/=': ['*='], '*=': ['/='], '<<=': ['>>='], '>>=': ['<<='],
    '++': ['--'], '--': ['++'], '!': [''], '~': [''],
}

# A name is replaced by the next name of its row.
LOOKALIKES = [
    ['true', 'false'],
    ['next', 'prev'],
    ['first', 'end'],
    ['earliest', 'latest'],
    ['low', 'high'],
    ['now', 'clock_tick'],
    ['bucket_mask', 'size_bits'],
    ['handled', 'cascaded'],
    ['TWI_DESTROYED', 'TWI_VISITING', 'TWI_LIVE', 'TWI_ADVANCING'],
    ['in_use', 'buckets_used'],
    ['TWI_OVERDUE', 'TWI_STUCK', 'TWI_DRAINED'],
    ['TWI_UNTOUCHED', 'TWI_SORTED', 'TWI_CASCADING'],
    ['TWI_MOVED_ALL', 'TWI_MOVED_SOME', 'TWI_NO_MEMORY'],
    ['TWI_NOT_DUE', 'TWI_BY_WHEEL', 'TWI_BY_OVERDUE', 'TWI_BY_STUCK'],
    ['TW_OK', 'TW_EINVAL', 'TW_ENOMEM', 'TW_EFULL', 'TW_EBUSY'],
    ['TW_IDLE', 'TW_FIRED', 'TW_CANCELLED'],
    ['UINT64_MAX', '0'],
    ['SIZE_MAX', '0'],
    ['twi_queue_up', 'twi_queue_down'],
    ['twi_push_back', 'twi_push_front'],
    ['twi_pop_back', 'twi_pop_front'],
    ['twi_queue_earlier', 'twi_queue_later'],
    ['twi_highest_bit', 'twi_lowest_bit'],
]

TOKEN = re.compile(
    r'(?P<space>\s+)|(?P<string>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|'
    r'(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*)|(?P<name>[A-Za-z_]\w*)|'
    r'(?P<operator>->|<<=|>>=|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||.)', re.S)

DECLARATION = re.compile(
    r'(static |const |enum |struct )*\w+ [*]*\w+(\[[^]]*\])?( =|;|,)')


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start = kind, text, start
        self.end = start + len(text)


class Mutant:
    """The header with text[start:end] replaced."""

    def __init__(self, function, start, end, new, compiler):
        self.function, self.start, self.end = function, start, end
        self.new, self.compiler = new, compiler
        self.before = self.after = self.key = None

    def describe(self, source):
        """Sets `before` and `after`: the changed lines, each as one line."""
        first = source.rfind('\n', 0, self.start) + 1
        last = source.find('\n', self.end)
        old = source[first:last]
        new = source[first:self.start] + self.new + source[self.end:last]
        self.before = ' '.join(old.split())
        self.after = ' '.join(new.split())

    def apply(self, source):
        return source[:self.start] + self.new + source[self.end:]


def blank(text):
    return re.sub(r'[^\n]', ' ', text)


def without_comments(source):
    """Returns a text of the same length, with blank comments."""
    return re.sub(r'/\*.*?\*/|//[^\n]*', lambda m: blank(m.group()), source,
                  flags=re.S)


def tokens_of(source, start, end):
    found = []
    for match in TOKEN.finditer(source, start, end):
        if match.lastgroup != 'space':
            found.append(Token(match.lastgroup, match.group(), match.start()))
    return found


def functions_of(source, begin):
    """Yields (name, returns, start, end) of each function's body. clang-format
    sets the braces of every function at the beginning of a line."""
    for match in re.finditer(r'\n\{\n', source[begin:]):
        start = begin + match.start() + 1
        end = source.index('\n}', start) + 2
        head = source[source.rfind('\n\n', 0, start):start]
        head = head[max(head.rfind(';'), head.rfind('}')) + 1:]
        found = re.search(r'([^\n#]*[ *])(\w+)\(', head)
        if found:
            yield found.group(2), found.group(1), start, end


def other_compilers(source):
    """Returns three lists of spans: branches only for GNU C, the mailbox, and
    branches only for TW_DEBUG. tcc does not compile the first two."""
    gnu, mailbox, debug, stack, at = [], [], [], [], 0
    for line in source.splitlines(True):
        word = line.replace(' ', '')
        if word.startswith('#if'):
            stack.append([word, at])
        elif word.startswith('#else') or word.startswith('#endif'):
            condition, since = stack[-1]
            if '__GNUC__' in condition and 'TW_STATIC' not in condition:
                gnu.append((since, at))
            elif condition.startswith('#ifdefTIMINGWHEEL_THREADS'):
                mailbox.append((since, at))
            elif condition.startswith('#ifdefTW_DEBUG'):
                debug.append((since, at))
            stack[-1] = ['', at]
            if word.startswith('#endif'):
                stack.pop()
        at += len(line)
    return gnu, mailbox, debug


def within(spans, place):
    return any(start <= place < end for start, end in spans)


class Maker:
    def __init__(self, header):
        self.header = header
        source = without_comments(header)
        self.gnu, self.mailbox, self.debug = other_compilers(source)
        self.source = re.sub(r'(?m)^#.*(?:\\\n.*)*$',
                             lambda m: blank(m.group()), source)
        self.mutants = []
        self.made = set()
        self.dull = self.dull_spans()

    def dull_spans(self):
        """Returns the spans of lines without effect, by rule."""
        spans, at = [], 0
        for line in self.source.splitlines(True):
            if (WORDS_WITHOUT_EFFECT.search(line) or
                    FIRST_VALUES.match(line.rstrip())):
                spans.append((at, at + len(line)))
            at += len(line)
        return spans

    def add(self, start, end, new):
        text = self.header[:start] + new + self.header[end:]
        if hash(text) in self.made or self.header[start:end] == new:
            return
        if any(start < b and a < end for a, b in self.dull + self.debug):
            return
        self.made.add(hash(text))
        compiler = 'tcc'
        if within(self.mailbox, start):
            compiler = 'threads'
        elif within(self.gnu, start):
            compiler = 'gcc'
        self.mutants.append(Mutant(self.function, start, end, new, compiler))

    # ------------------------------------------------------------- tokens --

    def change_number(self, token):
        digits = re.match(r'0[xX][0-9a-fA-F]+|\d+', token.text).group()
        suffix = token.text[len(digits):]
        value = int(digits, 0)
        value = value - 1 if value > 0 else 1
        if not self.source.endswith(SAVES_DIVISION, 0, token.end):
            self.add(token.start, token.end, '%d%s' % (value, suffix))

    def change_name(self, token):
        for row in LOOKALIKES:
            if token.text in row[:-1] or (token.text == row[-1] != '0'):
                other = row[(row.index(token.text) + 1) % len(row)]
                self.add(token.start, token.end, other)

    def change_operator(self, token):
        after = self.source[token.end]
        binary = after.isspace()
        step = token.text in ('++', '--', '!', '~')
        if token.text in ('<', '>') and self.is_extreme(token):
            return
        if token.text in OPERATORS and (binary or step):
            for other in OPERATORS[token.text]:
                self.add(token.start, token.end, other)

    def is_extreme(self, token):
        """True in `a < b ? a : b`: for equal a and b the choice makes no
        difference."""
        line = self.source[self.source.rfind('=', 0, token.start) + 1:]
        return re.match(r' ([\w.>-]+) [<>] ([\w.>-]+) \? \1 : \2;', line)

    def change_tokens(self, tokens):
        for token in tokens:
            if token.kind == 'number':
                self.change_number(token)
            elif token.kind == 'name':
                self.change_name(token)
            elif token.kind == 'operator':
                self.change_operator(token)

    # --------------------------------------------------------- statements --

    def closing(self, i):
        """Returns the index of the bracket that closes bracket i."""
        depth = 0
        while True:
            depth += self.tokens[i].text in ('(', '{', '[')
            depth -= self.tokens[i].text in (')', '}', ']')
            if depth == 0:
                return i
            i += 1

    def text(self, first, last):
        start, end = self.tokens[first].start, self.tokens[last].end
        return self.header[start:end]

    def change_condition(self, first, last, choices):
        start, end = self.tokens[first].start, self.tokens[last].end
        text = self.header[start:end]
        for choice in choices:
            self.add(start, end, choice.replace('?', text))

    def controlled(self, i):
        """Changes an if, while, for or switch; returns the next index."""
        word = self.tokens[i].text
        close = self.closing(i + 1)
        if word == 'if':
            self.change_condition(i + 2, close - 1, self.outcomes(i, close))
        elif word == 'while':
            self.change_condition(i + 2, close - 1, ['!(?)'])
        elif word == 'for':
            stops = [k for k in range(i + 2, close)
                     if self.tokens[k].text == ';']
            if stops[1] > stops[0] + 1:
                self.change_condition(stops[0] + 1, stops[1] - 1,
                                      ['!(?)'])
        i = self.statement(close + 1)
        if word == 'if' and self.tokens[i].text == 'else':
            i = self.statement(i + 1)
        return i

    def outcomes(self, i, close):
        """Returns the replacements of a condition; fewer for short cuts."""
        call = CALL_OF_SHORT_CUT.match(self.text(i, close))
        if call:
            return ['false' if call.group(1) else 'true']
        if self.text(i + 2, close - 1) in SAVES_DIVISION:
            return ['true']
        if self.text(i + 2, close - 1) == SAVES_LOOK:
            return ['false']
        if (self.function in SHORT_CUTS and
                self.text(close + 1, close + 3) == 'return false;'):
            return ['false']
        return ['true', 'false']

    def returned(self, i, last):
        if last == i + 1:
            return
        text = self.text(i + 1, last - 1)
        if self.function in SHORT_CUTS:
            if text != 'false':
                return
            self.change_condition(i + 1, last - 1, ['true'])
        elif 'bool ' in self.returns:
            self.change_condition(i + 1, last - 1, ['true', 'false'])
        elif self.returns.rstrip().endswith('*') and text != 'NULL':
            self.change_condition(i + 1, last - 1, ['NULL'])

    def chosen(self, first, last):
        """Negates the condition of `... = condition ? a : b;`."""
        marks = [k for k in range(first, last) if self.tokens[k].text == '?']
        if len(marks) != 1:
            return
        begin = first + (self.tokens[first].text == 'return')
        for k in range(first, marks[0]):
            if self.tokens[k].text in ('=', '('):
                begin = k + 1
                if self.tokens[k].text == '=':
                    break
        inside = [t.text for t in self.tokens[begin:marks[0]]]
        if inside.count('(') == inside.count(')'):
            self.change_condition(begin, marks[0] - 1, ['!(?)'])

    def simple(self, i):
        """Changes a statement that ends with a semicolon."""
        last = i
        while self.tokens[last].text != ';':
            if self.tokens[last].text in ('(', '{', '['):
                last = self.closing(last)
            last += 1
        start, end = self.tokens[i].start, self.tokens[last].end
        word = self.tokens[i].text
        text = ' '.join(self.header[start:end].split())
        if word == 'return':
            self.returned(i, last)
            if text == 'return;':
                self.add(start, end, ';')
        elif word == 'break':
            self.add(start, end, ';')
            self.add(start, end, 'continue;')
        elif word == 'continue':
            self.add(start, end, ';')
            self.add(start, end, 'break;')
        elif not DECLARATION.match(text) and not text.startswith('(void)'):
            self.add(start, end, ';')
        self.chosen(i, last)
        return last + 1

    def statement(self, i):
        word = self.tokens[i].text
        if word == '{':
            close = self.closing(i)
            i += 1
            while i < close:
                i = self.statement(i)
            return close + 1
        if word in ('if', 'while', 'for', 'switch'):
            return self.controlled(i)
        if word in ('case', 'default'):
            while self.tokens[i].text != ':':
                i += 1
            return self.statement(i + 1)
        if word == 'do':
            return self.statement(self.statement(i + 1))
        return self.simple(i)

    # ------------------------------------------------------------ all of it --

    def make(self):
        begin = self.header.index('TWI_IMPLEMENTED\n')
        for name, returns, start, end in functions_of(self.source, begin):
            if name in WITHOUT_EFFECT:
                continue
            self.function, self.returns = name, returns
            self.tokens = tokens_of(self.source, start, end)
            self.change_tokens(self.tokens)
            self.statement(0)
        constant = re.compile(r'#define (TWI_[A-Z_]+) +(0x\w+|\d+)\b')
        for match in constant.finditer(self.header, begin):
            if (match.group(1) not in CONSTANTS_OF_CHOICE and
                    not WORDS_WITHOUT_EFFECT.search(match.group())):
                self.function = match.group(1)
                self.change_number(Token('number', match.group(2),
                                         match.start(2)))
        self.name_all()
        return self.mutants

    def name_all(self):
        """Sets the keys. Equal keys of a function get numbers."""
        self.mutants.sort(key=lambda m: (m.start, m.end, m.new))
        seen = {}
        for mutant in self.mutants:
            mutant.describe(self.header)
            key = (mutant.function, mutant.before, mutant.after)
            seen[key] = seen.get(key, 0) + 1
            number = '' if seen[key] == 1 else ' #%d' % seen[key]
            mutant.key = (mutant.function + number,) + key[1:]


def mutants_of(header):
    return Maker(header).make()


if __name__ == '__main__':
    path = sys.argv[1] if len(sys.argv) > 1 else 'timingwheel.h'
    with open(path, encoding='ascii') as file:
        for one in mutants_of(file.read()):
            print('%s\n- %s\n+ %s' % one.key)
