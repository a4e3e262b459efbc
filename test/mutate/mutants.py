# mutants.py - makes the mutants of timingwheel.h. A mutant is the header with
# one small mistake in a function body, or in a macro of MACROS. Called
# directly, the script prints all mutants:
#
#     python3 test/mutate/mutants.py [HEADER]
#
# An operator, number or name is another; a condition is true, false or negated;
# a statement is missing; or a result is another.
#
# A mutant is known by its function and by the changed line before and after,
# both without comments, not by a line number. The list of mutants depends only
# on the header.
#
# SPDX-License-Identifier: MIT
import re
import sys

# Functions and lines that only prefetch. A mistake there has no effect.
ONLY_SPEED = re.compile(r'(?i)prefetch|hint|likely\(expr\)')

OPERATORS = {
    '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==',
    '&&': '||', '||': '&&', '+': '-', '-': '+', '*': '/', '/': '*', '%': '/',
    '<<': '>>', '>>': '<<', '&': '|', '|': '&', '^': '|', '+=': '-=',
    '-=': '+=', '|=': '=', '&=': '=', '^=': '=', '/=': '*=', '*=': '/=',
    '<<=': '>>=', '>>=': '<<=', '++': '--', '--': '++', '!': '', '~': '',
}

# A name is replaced by the next name of its row, the last by the first. A
# mutant with a name of the wrong type does not compile, and does not count.
# Macros that programs use.
MACROS = 'TW_TIMER_INIT TW_OWNER TW_WHEEL_BYTES TW_CALL'.split()

LOOKALIKES = [row.split() for row in '''
    true false
    next prev
    low high
    from to
    own next
    fired cascaded
    clock_tick ahead_tick moved_tick
    clock_time target_time next_time
    quiet_tick large_tick
    bucket_mask size_bits
    TWI_THIS_CALL TWI_NEXT_CALL TWI_OUTSIDE
    TWI_OPEN TWI_ALLOCATING TWI_VISITING
    TWI_DRAINING TWI_ADVANCING
    TW_OK TW_EINVAL TW_ENOMEM TW_EFULL TW_EBUSY
    TW_PENDING TW_IDLE TW_FIRED TW_CANCELLED
    UINT64_MAX 0
    UINT32_MAX 0
    SIZE_MAX 0
'''.strip().split('\n')]

TOKEN = re.compile(
    r'(?P<space>\s+)|(?P<string>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|'
    r'(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*)|(?P<name>[A-Za-z_]\w*)|'
    r'(?P<operator>->|<<=|>>=|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||.)', re.S)

# The comparison of a minimum or maximum: of equal numbers each may be chosen.
MINIMUM = re.compile(r'([\w.>-]+) ([<>]) ([\w.>-]+)(\s\? \1\s: \3\b|'
                     r'\)\s+\3 = \1;)')

DECLARATION = re.compile(
    r'(static |const |enum |struct |unsigned )*\w+ [*]*\w+(\[[^]]*\])?( =|;|,)')


class Mutant:
    """The header with text[start:end] replaced by `new`. `code` is the header
    with blank comments."""

    def __init__(self, code, function, start, end, new):
        self.start, self.end, self.new = start, end, new
        first = code.rfind('\n', 0, start) + 1
        last = code.find('\n', end)
        changed = code[first:start] + new + code[end:last]
        self.key = (function, ' '.join(code[first:last].split()),
                    ' '.join(changed.split()))

    def apply(self, source):
        return source[:self.start] + self.new + source[self.end:]


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def without_comments(source):
    """Returns a text of the same length, with blank comments."""
    return re.sub(r'/\*.*?\*/|//[^\n]*', blank, source, flags=re.S)


class Maker:
    def __init__(self, header):
        self.header = header
        self.code = without_comments(header)
        self.source = re.sub(r'(?m)^ *#(.*\\\n)*.*$', blank, self.code)
        self.minima = {m.start(2) for m in MINIMUM.finditer(self.source)}
        self.mutants = []

    def functions(self):
        """Yields (name, type, start, end) of each function body. clang-format
        sets the braces of functions, and of nothing else, at the beginning of a
        line."""
        for match in re.finditer(r'\n\{\n', self.source):
            start = match.start() + 1
            end = self.source.index('\n}', start) + 2
            head = self.source[self.source.rfind('\n\n', 0, start):start]
            head = head[max(head.rfind(';'), head.rfind('}')) + 1:]
            found = re.search(r'([^\n#]*[ *\n])(\w+)\((.*)\)', head, re.S)
            if found:
                yield found.group(2), found.group(1).strip(), start, end

    def add(self, start, end, new):
        line = self.source[self.source.rfind('\n', 0, start) + 1:
                           self.source.find('\n', end)]
        if self.header[start:end] != new and not ONLY_SPEED.search(line):
            self.mutants.append(Mutant(self.code, self.function, start, end,
                                       new))

    # ------------------------------------------------------------- tokens --

    def change_token(self, kind, text, start, end):
        if kind == 'number':
            digits = re.match(r'0[xX][0-9a-fA-F]+|\d+', text).group()
            value = int(digits, 0)
            self.add(start, end, '%d%s' % (value - 1 if value else 1,
                                           text[len(digits):]))
        elif kind == 'name':
            for row in LOOKALIKES:
                if text in row:
                    self.add(start, end, row[(row.index(text) + 1) % len(row)])
        elif text in OPERATORS and start not in self.minima:
            # A unary *, & or - is followed by its operand, without a space, as
            # is a binary one behind a cast.
            if self.source[end].isspace() or self.source[start - 1] == ')' or \
                    text in ('++', '--', '!', '~'):
                self.add(start, end, OPERATORS[text])

    # --------------------------------------------------------- statements --

    def closing(self, i):
        """Returns the index of the bracket that closes bracket i."""
        depth = 0
        while True:
            depth += self.words[i] in ('(', '{', '[')
            depth -= self.words[i] in (')', '}', ']')
            if depth == 0:
                return i
            i += 1

    def change(self, first, last, *choices):
        """Replaces tokens; `?` in a choice stands for the old text."""
        start, end = self.tokens[first][2], self.tokens[last][3]
        for choice in choices:
            self.add(start, end, choice.replace('?', self.header[start:end]))

    def control(self, i):
        """Changes the condition of a statement. Returns the index behind."""
        close = self.closing(i + 1)
        if self.words[i] == 'if':
            self.change(i + 2, close - 1, 'true', 'false')
        elif self.words[i] == 'while':
            self.change(i + 2, close - 1, '!(?)')
        elif self.words[i] == 'for':
            stops = [k for k in range(i, close) if self.words[k] == ';']
            if stops[1] > stops[0] + 1:
                self.change(stops[0] + 1, stops[1] - 1, '!(?)')
        return close + 1

    def simple(self, i):
        """Changes a statement that ends with a semicolon. Returns the index of
        the semicolon."""
        last = i
        while self.words[last] != ';':
            last = self.closing(last) + 1
        start, end = self.tokens[i][2], self.tokens[last][3]
        text = ' '.join(self.header[start:end].split())
        if self.words[i] == 'return' and last != i + 1:
            if re.search(r'\bbool$', self.type):
                self.change(i + 1, last - 1, 'true', 'false')
            elif self.type.endswith('*') and text != 'return NULL;':
                self.change(i + 1, last - 1, 'NULL')
        elif not DECLARATION.match(text) and not text.startswith('(void)'):
            self.change(i, last, ';')
        if self.words[i:last].count('?') == 1:
            first, mark = i, self.words.index('?', i)
            for k in range(i, mark):
                if self.words[k] in ('=', 'return'):
                    first = k + 1
            inside = self.words[first:mark]
            if first > i and inside.count('(') == inside.count(')'):
                self.change(first, mark - 1, '!(?)')
        return last

    def change_body(self):
        for token in self.tokens:
            self.change_token(*token)
        i = 0
        while i < len(self.words):
            word = self.words[i]
            if word in ('if', 'while', 'for', 'switch', 'TWI_FOR_EACH'):
                i = self.control(i)
            elif word in ('case', 'default'):
                i = self.words.index(':', i) + 1
            elif word in ('{', '}', 'else', 'do', ';'):
                i += 1
            else:
                i = self.simple(i) + 1

    def make(self):
        for self.function, self.type, start, end in self.functions():
            if ONLY_SPEED.search(self.function):
                continue
            self.tokens = [(m.lastgroup, m.group(), m.start(), m.end())
                           for m in TOKEN.finditer(self.source, start, end)
                           if m.lastgroup != 'space']
            self.words = [token[1] for token in self.tokens]
            self.change_body()
        self.source = self.code
        for name in MACROS:
            self.function = name
            for macro in re.finditer(
                    r'(?m)^#define %s\b\(.*?\)((?:.*\\\n)*.*)$' % name,
                    self.code):
                self.add(*macro.span(1), ' ((void)0)')
                for m in TOKEN.finditer(self.code, *macro.span(1)):
                    self.change_token(m.lastgroup, m.group(), *m.span())
        return self.named()

    def named(self):
        """Returns the mutants, each text once. The fourth part of a key is a
        number that tells equal changes of equal lines apart."""
        texts, keys, found = set(), {}, []
        self.mutants.sort(key=lambda m: (m.start, m.end, m.new))
        for mutant in self.mutants:
            text = mutant.apply(self.header)
            if text in texts:
                continue
            texts.add(text)
            keys[mutant.key] = keys.get(mutant.key, 0) + 1
            mutant.key += (keys[mutant.key],)
            found.append(mutant)
        return found


def mutants_of(header):
    for name in sum(LOOKALIKES, []):
        assert re.search(r'\b%s\b' % name, header), name + ' is not there'
    return Maker(header).make()


if __name__ == '__main__':
    with open((sys.argv + ['timingwheel.h'])[1], encoding='ascii') as file:
        for one in mutants_of(file.read()):
            print('%s\n- %s\n+ %s' % one.key[:3])
