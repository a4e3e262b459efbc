/* script.h - runs the cases of the contract that are straight lines. The cases
 * are in the files *.script; scripts.c is the program.
 *
 *     case promise 8: a timer started again counts as started now
 *     start a 10, b 10
 *     start a 10
 *     advance 10: b a
 *
 * A case begins with a new wheel and the idle timers a to z. The first
 * statement that fails ends the case. A comment begins with #; a semicolon
 * separates statements, and a comma repeats a command. Commands:
 *
 *     wheel tick 10 start 5 size 4 max 3    a new wheel instead of the old one
 *     start a 50          within a 10 20    postpone a 90
 *     cancel a            move a b          init a          bare a (no callback)
 *     reserve 1000        trim
 *     fail 2              the second allocation from now fails; fail: all fail
 *     memory              allocations work again
 *     advance 100: a b    the clock goes to 100; a fires, then b, nothing else
 *     limit 2 100: a b    the same, with tw_advance_clock_limit
 *     poll 100: a b       two polls; without names, one poll that returns NULL
 *     sleep 100: a b      calls at the times that tw_wait says, until 100
 *     foreach: a b        visits; also drain
 *     in a: start b 50    the action of the callback of a, and of its polls
 *     visitor: cancel self    the action of each visit
 *     each S 2 4..6 9     runs the case for each value of the variable S
 *     let D S*S           sets a variable
 *     repeat 5 advance now+10    repeats the rest of the line
 *
 * A start, a cancel and the like must succeed unless a result is given:
 * `start a 5 = TW_EFULL`, `cancel a = false`. In place of names, `= 3` gives
 * the number of timers. A name with a time, `a@50`, also checks the clock; after
 * the word `any`, the names may come in any order. Every other statement
 * compares: `count = 2`, `next < 50`, `next = none`, `wait(20, 99) > 0`,
 * `state(a) = fired`. script_value has all the functions. Numbers are modulo 2^64,
 * with + - * / % ^ and parentheses.
 *
 * Each case also checks that no timer fires early, that tw_check holds after
 * each statement, that only starts and reserves allocate, that a refused start
 * leaves its timer alone, and that the wheel gives all memory back.
 *
 * Include this file in one C or C++ file. With SCRIPT_PORTABLE the header is
 * compiled without the builtins of gcc and clang.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "../lib/heap.h"
#include <stdint.h>

#ifdef SCRIPT_PORTABLE
#undef __GNUC__
#undef __clang__
#endif

#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

/* On the AVR, the text of the scripts is in flash memory, and a wheel of the
 * default size does not fit. */
#ifdef __AVR__
#include <avr/pgmspace.h>
#define SCRIPT_CHAR(pointer) ((char)pgm_read_byte(pointer))
#define SCRIPT_WHEEL_SIZE 4
enum { SCRIPT_LINE = 100, SCRIPT_LOG = 30 };
#else
#define SCRIPT_CHAR(pointer) (*(pointer))
#define SCRIPT_WHEEL_SIZE TW_DEFAULT_WHEEL_SIZE
enum { SCRIPT_LINE = 200, SCRIPT_LOG = 5000 };
#endif

/* Prints a line of a report. */
typedef void script_writer(const char *line);

/* How the result of an expression is printed. */
enum script_kind { SCRIPT_NUMBER, SCRIPT_STATUS, SCRIPT_STATE, SCRIPT_TRUTH };

static const struct {
    const char *name;
    enum script_kind kind;
    int value;
} script_constants[] = {
    {"TW_OK", SCRIPT_STATUS, TW_OK},
    {"TW_EINVAL", SCRIPT_STATUS, TW_EINVAL},
    {"TW_ENOMEM", SCRIPT_STATUS, TW_ENOMEM},
    {"TW_EFULL", SCRIPT_STATUS, TW_EFULL},
    {"TW_EBUSY", SCRIPT_STATUS, TW_EBUSY},
    {"idle", SCRIPT_STATE, TW_IDLE},
    {"pending", SCRIPT_STATE, TW_PENDING},
    {"fired", SCRIPT_STATE, TW_FIRED},
    {"cancelled", SCRIPT_STATE, TW_CANCELLED},
    {"true", SCRIPT_TRUTH, true},
    {"false", SCRIPT_TRUTH, false},
    {"none", SCRIPT_TRUTH, 2},
};
#define SCRIPT_CONSTANTS (sizeof script_constants / sizeof *script_constants)

typedef struct script_line {
    const char *text; /* in the script */
    unsigned number;  /* from 1 */
} script_line;

typedef struct script_timer {
    tw_timer timer;     /* first: a pointer to the timer points here */
    script_line action; /* statements; .text is NULL without an action */
} script_timer;

/* The running case. */
static struct {
    const char *file;
    script_writer *write;
    timingwheel wheel;
    heap memory;
    script_timer timers[26];
    script_line visitor;
    uint64_t variables[26];     /* A to Z */
    uint32_t is_given;          /* a bit for each variable that has a value */
    unsigned long pass, passes; /* over the values of `each` */
    script_line line;           /* that runs */
    char *copy;                 /* of the line, without its comment */
    const char *at;             /* the rest of the statement, in the copy */
    enum script_kind kind;      /* of the last value */
    uint64_t self;              /* the timer that fires or is visited */
    size_t allocations;         /* by starts and reserves */
    uint64_t wakes, idle;       /* calls of `sleep`, and calls without effect */
    size_t logged;              /* timers fired or visited */
    char log[SCRIPT_LOG];
    uint64_t log_clock[SCRIPT_LOG];
    bool has_postponed;            /* so that calls that advance may allocate */
    bool has_failed, is_too_small; /* the machine has too little memory */
} script;

static bool script_has_ended(void)
{
    return script.has_failed || script.is_too_small;
}

/* ------------------------------------------------------------ reporting --- */

static char script_out[SCRIPT_LINE + 100];

static void script_put(const char *text)
{
    size_t length = strlen(script_out), more = strlen(text);
    if (length + more < sizeof script_out)
        memcpy(script_out + length, text, more + 1);
}

static void script_put_number(uint64_t number)
{
    char digits[21], *first = digits + 20;
    *first = '\0';
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    script_put(first);
}

static void script_put_value(uint64_t value)
{
    for (size_t i = 0; i < SCRIPT_CONSTANTS; i++)
        if (script.kind != SCRIPT_NUMBER &&
            script_constants[i].kind == script.kind &&
            (uint64_t)script_constants[i].value == value) {
            script_put(script_constants[i].name);
            return;
        }
    script_put_number(value);
}

static void script_put_log(size_t first, bool has_clocks)
{
    for (size_t i = first; i < script.logged; i++) {
        char name[3] = {' ', script.log[i], '\0'};
        script_put(i == first ? name + 1 : name);
        if (has_clocks) {
            script_put("@");
            script_put_number(script.log_clock[i]);
        }
    }
    script_put(first == script.logged ? "nothing" : "");
}

static void script_end_line(void)
{
    script.write(script_out);
    script_out[0] = '\0';
}

/* Ends the case. The caller may add lines about what was got. */
static bool script_fail(const char *expected)
{
    if (script_has_ended())
        return false;
    script.has_failed = true;
    script_out[0] = '\0';
    script_put("# ");
    script_put(script.file);
    script_put(":");
    script_put_number(script.line.number);
    script_put(": ");
    script_put(script.copy);
    script_end_line();
    for (unsigned i = 0; i < 26; i++)
        if ((script.is_given >> i & 1) != 0) {
            char name[] = "#   with A = ";
            name[9] = (char)('A' + i);
            script_put(name);
            script_put_number(script.variables[i]);
            script_end_line();
        }
    script_put("#   expected: ");
    script_put(expected[0] == '\0' ? "nothing" : expected);
    script_end_line();
    return true;
}

static void script_fail_value(const char *expected, uint64_t got)
{
    if (!script_fail(expected))
        return;
    script_put("#   got:      ");
    script_put_value(got);
    script_end_line();
}

/* ----------------------------------------------------------- expressions --- */

static char script_peek(void)
{
    while (*script.at == ' ')
        script.at++;
    return *script.at;
}

static bool script_accept(const char *symbol)
{
    (void)script_peek();
    if (strncmp(script.at, symbol, strlen(symbol)) != 0)
        return false;
    script.at += strlen(symbol);
    return true;
}

static bool script_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Reads a word of at most 15 letters; returns "" if no word is next. */
static const char *script_word(char *word)
{
    size_t length = 0;
    (void)script_peek();
    for (; script_is_letter(*script.at); script.at++)
        if (length < 15)
            word[length++] = *script.at;
    word[length] = '\0';
    return word;
}

static tw_timer *script_timer_at(uint64_t index)
{
    return &script.timers[index % 26].timer;
}

static uint64_t script_of_kind(enum script_kind kind, uint64_t value)
{
    script.kind = kind;
    return value;
}

#define SCRIPT_IS(word) (strcmp(name, word) == 0)

static uint64_t script_constant(const char *name)
{
    for (size_t i = 0; i < SCRIPT_CONSTANTS; i++)
        if (SCRIPT_IS(script_constants[i].name))
            return script_of_kind(script_constants[i].kind,
                                  (uint64_t)script_constants[i].value);
    script_fail("a command or a function");
    return 0;
}

/* Returns the value of a function or of a constant. */
static uint64_t script_value(const char *name, uint64_t a, uint64_t b,
                             uint64_t c)
{
    const timingwheel *tw = &script.wheel;
    const tw_timer *timer = script_timer_at(a);
    uint64_t next = 0, missed = 0, period = tw_next_period(a, b, c, &missed);
    bool has_next = tw_next_deadline(tw, &next);
    tw_stats stats;
    tw_get_stats(tw, &stats);
    script.kind = SCRIPT_NUMBER;
    if (SCRIPT_IS("next") && !has_next)
        return script_of_kind(SCRIPT_TRUTH, 2);
    if (SCRIPT_IS("state"))
        return script_of_kind(SCRIPT_STATE, (uint64_t)tw_timer_state(timer));
    if (SCRIPT_IS("is_pending"))
        return script_of_kind(SCRIPT_TRUTH, tw_is_pending(timer));
    return SCRIPT_IS("now")           ? tw_now(tw)
           : SCRIPT_IS("next")        ? next
           : SCRIPT_IS("count")       ? tw_count(tw)
           : SCRIPT_IS("wait")        ? tw_wait(tw, a, b)
           : SCRIPT_IS("deadline")    ? tw_deadline(timer)
           : SCRIPT_IS("remaining")   ? tw_remaining(timer, b)
           : SCRIPT_IS("after")       ? tw_after(a, b)
           : SCRIPT_IS("period")      ? period
           : SCRIPT_IS("missed")      ? missed
           : SCRIPT_IS("fires")       ? stats.fired
           : SCRIPT_IS("cascaded")    ? stats.cascaded
           : SCRIPT_IS("wheels")      ? stats.wheels
           : SCRIPT_IS("buckets")     ? stats.buckets
           : SCRIPT_IS("bytes")       ? stats.bytes
           : SCRIPT_IS("allocated")   ? script.memory.bytes
           : SCRIPT_IS("allocations") ? script.memory.calls
           : SCRIPT_IS("wakes")       ? script.wakes
           : SCRIPT_IS("idle_wakes")  ? script.idle
           : SCRIPT_IS("self")        ? script.self
                                      : script_constant(name);
}

static uint64_t script_sum(void);

/* Reads a timer, a variable, a constant, or a function with its arguments. The
 * value of a timer's name is the timer's index. */
static uint64_t script_name(void)
{
    char name[16];
    uint64_t arguments[3] = {0, 0, 0};
    size_t count = 0;
    (void)script_word(name);
    if (name[1] == '\0')
        return name[0] >= 'a' ? (uint64_t)(name[0] - 'a')
                              : script.variables[(name[0] - 'A') % 26];
    if (*script.at == '(') {
        do {
            script.at++;
            arguments[count++] = script_sum();
        } while (count < 3 && script_peek() == ',');
        if (!script_accept(")"))
            script_fail("a closing parenthesis");
    }
    return script_value(name, arguments[0], arguments[1], arguments[2]);
}

static uint64_t script_primary(void)
{
    uint64_t number = 0;
    if (script_accept("(")) {
        number = script_sum();
        if (!script_accept(")"))
            script_fail("a closing parenthesis");
        return number;
    }
    if (script_is_letter(script_peek()))
        return script_name();
    if (*script.at < '0' || *script.at > '9')
        script_fail("a number");
    script.kind = SCRIPT_NUMBER;
    for (; *script.at >= '0' && *script.at <= '9'; script.at++)
        number = number * 10 + (uint64_t)(*script.at - '0');
    return number;
}

static uint64_t script_power(void)
{
    uint64_t number = script_primary(), base = number, exponent;
    if (!script_accept("^"))
        return number;
    exponent = script_primary();
    for (number = 1; exponent != 0; exponent--)
        number *= base;
    return number;
}

static uint64_t script_product(void)
{
    uint64_t number = script_power();
    for (;;) {
        bool is_product = script_accept("*");
        bool is_quotient = !is_product && script_accept("/");
        uint64_t other;
        if (!is_product && !is_quotient && !script_accept("%"))
            return number;
        other = script_power();
        if (is_product)
            number *= other;
        else if (other == 0)
            script_fail("no division by 0");
        else
            number = is_quotient ? number / other : number % other;
    }
}

static uint64_t script_sum(void)
{
    uint64_t number = script_product();
    for (;;)
        if (script_accept("+"))
            number += script_product();
        else if (script_accept("-"))
            number -= script_product();
        else
            return number;
}

/* --------------------------------------------------------------- results --- */

/* Compares a result with what the rest of the statement expects, or with
 * `usual` if the statement expects nothing. */
static void script_compare(uint64_t got, uint64_t usual)
{
    enum script_kind kind = script.kind;
    bool is_less = script_accept("<"), is_greater = script_accept(">");
    bool is_equal = script_accept("=");
    const char *text = script.at;
    bool is_usual = !is_less && !is_greater && !is_equal;
    uint64_t expected = is_usual ? usual : script_sum();
    bool same_kind =
        is_usual || (script.kind == kind) || script.kind == SCRIPT_NUMBER;
    if (same_kind &&
        ((got == expected && (is_equal || is_usual)) ||
         (is_less && got < expected) || (is_greater && got > expected)))
        return;
    script.kind = kind;
    script_fail_value(is_usual ? "success" : text, got);
}

/* Compares a result of a start or of a reserve, which may allocate. */
static void script_compare_status(int status, size_t calls_before)
{
    script.allocations += script.memory.calls - calls_before;
    if (status == TW_ENOMEM && script.memory.fail_at == 0)
        script.is_too_small = true;
    script_compare(script_of_kind(SCRIPT_STATUS, (uint64_t)status), TW_OK);
}

/* True if `names` of the rest of the statement are in the log from `first`
 * on. */
static bool script_names_match(size_t first, bool in_any_order)
{
    size_t at = first;
    for (; script_peek() != '\0' && *script.at != ';'; at++) {
        char name = *script.at++;
        size_t i = at;
        while (in_any_order && i < script.logged && script.log[i] != name)
            i++;
        if (i >= script.logged || script.log[i] != name)
            return false;
        if (script_accept("@") && script.log_clock[i] != script_sum())
            return false;
        script.log[i] = script.log[at];
        script.log_clock[i] = script.log_clock[at];
        script.log[at] = name;
    }
    return at == script.logged;
}

/* Compares the timers in the log from `first` on with the rest of the
 * statement, and clears this part of the log. */
static void script_compare_log(size_t first, uint64_t count)
{
    bool in_any_order = script_accept("any");
    script.kind = SCRIPT_NUMBER;
    if (script_peek() != '\0' && strchr("=<>", *script.at) != NULL) {
        script_compare(count, 0);
    } else {
        const char *names = script_accept(":") ? script.at : "";
        bool has_clocks = strchr(names, '@') != NULL;
        if ((!script_names_match(first, in_any_order) ||
             count != script.logged - first) &&
            script_fail(names + (*names == ' '))) {
            script_put("#   got:      ");
            script_put_log(first, has_clocks);
            script_end_line();
            if (count != script.logged - first)
                script_fail_value("that number of timers as result", count);
        }
    }
    script.logged = first;
}

/* ------------------------------------------------------------- callbacks --- */

static void script_run_line(script_line line);

static void script_log_timer(uint64_t index)
{
    if (script.logged == SCRIPT_LOG)
        return;
    script.log_clock[script.logged] = tw_now(&script.wheel);
    script.log[script.logged++] = (char)('a' + index);
}

/* Runs the action of a timer that fires, is polled or is visited. */
static void script_act(script_line action, uint64_t index)
{
    uint64_t self = script.self;
    script_log_timer(index);
    if (action.text == NULL || script_has_ended())
        return;
    script.self = index;
    script_run_line(action);
    script.self = self;
}

static void script_on_fire(timingwheel *tw, tw_timer *timer)
{
    const script_timer *self = (const script_timer *)timer;
    if (tw_deadline(timer) > tw_now(tw) || tw_timer_state(timer) != TW_FIRED)
        script_fail("a callback at or after its deadline");
    script_act(self->action, (uint64_t)(self - script.timers));
}

static void script_on_visit(tw_timer *timer, void *context)
{
    const script_timer *self = (const script_timer *)timer;
    if (context != &script)
        script_fail("a visit with its context");
    script_act(script.visitor, (uint64_t)(self - script.timers));
}

/* -------------------------------------------------------------- commands --- */

/* Begins with a wheel as configured by the rest of the statement. */
static void script_wheel(void)
{
    char name[16];
    tw_config config = {0, 0, SCRIPT_WHEEL_SIZE, 0, &script.memory};
    while (script_word(name)[0] != '\0')
        if (SCRIPT_IS("tick"))
            config.tick = script_sum();
        else if (SCRIPT_IS("start"))
            config.start = script_sum();
        else if (SCRIPT_IS("size"))
            config.wheel_size = (uint32_t)script_sum();
        else if (SCRIPT_IS("max"))
            config.max_pending = (size_t)script_sum();
        else
            script_fail("tick, start, size or max");
    tw_destroy(&script.wheel);
    (void)script_of_kind(SCRIPT_STATUS, 0);
    script_compare((uint64_t)tw_init(&script.wheel, &config), TW_OK);
}

/* Starts, starts within a window, or postpones. */
static void script_start(const char *name)
{
    timingwheel *tw = &script.wheel;
    tw_timer *timer = script_timer_at(script_sum()), before = *timer;
    uint64_t deadline = script_sum();
    size_t calls = script.memory.calls;
    int status = SCRIPT_IS("start") ? tw_start(tw, timer, deadline)
                 : SCRIPT_IS("postpone")
                     ? tw_postpone(tw, timer, deadline)
                     : tw_start_within(tw, timer, deadline, script_sum());
    if (status != TW_OK && memcmp(&before, timer, sizeof before) != 0)
        script_fail("a refused start that changes no timer");
    script.has_postponed |= SCRIPT_IS("postpone");
    script_compare_status(status, calls);
}

static void script_poll(void)
{
    uint64_t now = script_sum(), count = 0, wanted = 0;
    size_t first = script.logged;
    for (const char *c = script.at; *c != '\0' && *c != ';'; c++)
        wanted += *c == ' ' && c[1] >= 'a' && c[1] <= 'z';
    do {
        const tw_timer *timer = tw_poll(&script.wheel, now);
        const script_timer *self = (const script_timer *)timer;
        if (timer == NULL)
            break;
        count++;
        script_act(self->action, (uint64_t)(self - script.timers));
    } while (count < wanted);
    script_compare_log(first, count);
}

static void script_sleep(void)
{
    uint64_t until = script_sum(), now = tw_now(&script.wheel), count = 0;
    size_t first = script.logged;
    uint64_t turns = 0;
    do {
        now += tw_wait(&script.wheel, now, until - now);
        size_t fired = tw_advance_clock(&script.wheel, now);
        count += fired;
        script.wakes += fired != 0 || now < until;
        script.idle += fired == 0 && now < until;
    } while (now < until && ++turns < 10000 && !script_has_ended());
    script_compare_log(first, count);
}

/* Sets an action: the rest of the line. */
static void script_set_action(script_line *action)
{
    (void)script_accept(":");
    *action = script.line;
    action->text += script.at - script.copy;
    if (script_peek() == '\0')
        action->text = NULL;
    script.at += strlen(script.at);
}

static void script_set_variable(char name, uint64_t value)
{
    if (name < 'A' || name > 'Z') {
        script_fail("a variable");
        return;
    }
    script.variables[name - 'A'] = value;
    script.is_given |= UINT32_C(1) << (name - 'A');
}

/* Sets a variable to its value for the current pass. */
static void script_each(char variable)
{
    const char *values = script.at;
    uint64_t count = 1, chosen = UINT64_MAX;
    for (int round = 0; round < 2; round++) {
        script.at = values;
        if (round == 1)
            chosen = script.pass / script.passes % count;
        for (count = 0; script_peek() != '\0' && !script.has_failed;) {
            uint64_t from = script_sum();
            uint64_t to = script_accept("..") ? script_sum() : from;
            if (chosen >= count && chosen - count <= to - from)
                script_set_variable(variable, from + (chosen - count));
            count += to - from + 1;
        }
    }
    script.passes *= (unsigned long)count;
}

static void script_statements(void);

static void script_repeat(uint64_t times)
{
    const char *rest = script.at;
    for (; times != 0 && !script_has_ended(); times--) {
        script.at = rest;
        script_statements();
    }
}

/* Runs the command `name`, up to its comma or its end. Returns false if there
 * is no such command. */
static bool script_command(const char *name)
{
    timingwheel *tw = &script.wheel;
    size_t first = script.logged, calls = script.memory.calls;
    char variable[16];
    if (SCRIPT_IS("start") || SCRIPT_IS("within") || SCRIPT_IS("postpone")) {
        script_start(name);
    } else if (SCRIPT_IS("cancel")) {
        bool was_pending = tw_cancel(tw, script_timer_at(script_sum()));
        script_compare(script_of_kind(SCRIPT_TRUTH, was_pending), true);
    } else if (SCRIPT_IS("advance")) {
        script_compare_log(first, tw_advance_clock(tw, script_sum()));
    } else if (SCRIPT_IS("limit")) {
        size_t limit = (size_t)script_sum();
        uint64_t now = script_sum();
        script_compare_log(first, tw_advance_clock_limit(tw, now, limit));
    } else if (SCRIPT_IS("poll")) {
        script_poll();
    } else if (SCRIPT_IS("sleep")) {
        script_sleep();
    } else if (SCRIPT_IS("foreach")) {
        script_compare_log(first, tw_foreach(tw, script_on_visit, &script));
    } else if (SCRIPT_IS("drain")) {
        script_compare_log(first, tw_drain(tw, script_on_visit, &script));
    } else if (SCRIPT_IS("in")) {
        script_set_action(&script.timers[script_sum() % 26].action);
    } else if (SCRIPT_IS("visitor")) {
        script_set_action(&script.visitor);
    } else if (SCRIPT_IS("move")) {
        tw_timer *from = script_timer_at(script_sum());
        tw_move(tw, from, script_timer_at(script_sum()));
    } else if (SCRIPT_IS("init")) {
        tw_timer_init(script_timer_at(script_sum()), script_on_fire);
    } else if (SCRIPT_IS("bare")) {
        tw_timer_init(script_timer_at(script_sum()), NULL);
    } else if (SCRIPT_IS("reserve")) {
        script_compare_status(tw_reserve(tw, script_sum()), calls);
    } else if (SCRIPT_IS("trim")) {
        tw_trim(tw);
    } else if (SCRIPT_IS("fail")) {
        bool for_ever = script_peek() < '0' || *script.at > '9';
        heap_fail(&script.memory, for_ever ? 1 : (size_t)script_sum(),
                  for_ever);
    } else if (SCRIPT_IS("memory")) {
        heap_fail(&script.memory, 0, false);
    } else if (SCRIPT_IS("wheel")) {
        script_wheel();
    } else if (SCRIPT_IS("each")) {
        script_each(script_word(variable)[0]);
    } else if (SCRIPT_IS("let")) {
        (void)script_word(variable);
        script_set_variable(variable[0], script_sum());
    } else if (SCRIPT_IS("repeat")) {
        script_repeat(script_sum());
    } else {
        return false;
    }
    return true;
}

static void script_statement(void)
{
    char name[16];
    const char *begin = script.at;
    bool is_command;
    (void)script_word(name);
    do
        is_command = script_command(name);
    while (is_command && script_accept(","));
    if (!is_command) {
        script.at = begin;
        uint64_t value = script_sum();
        if (strchr("=<>", script_peek()) == NULL || *script.at == '\0')
            script_fail("=, < or >");
        else
            script_compare(value, 0);
    }
    if (script_peek() != '\0' && *script.at != ';')
        script_fail("the end of the statement");
}

static void script_statements(void)
{
    while (script_peek() != '\0' && !script_has_ended()) {
        script_statement();
        (void)script_accept(";");
    }
}

/* ----------------------------------------------------------------- cases --- */

/* Copies a line without its comment. False if the line is too long. */
static bool script_copy_line(char *copy, const char *text)
{
    size_t length = 0;
    for (char c; (c = SCRIPT_CHAR(text)) != '\0' && c != '\n' && c != '#' &&
                 c != '\r' && length < SCRIPT_LINE - 1;
         text++)
        copy[length++] = c;
    while (length != 0 && copy[length - 1] == ' ')
        length--;
    copy[length] = '\0';
    return length < SCRIPT_LINE - 1;
}

/* Runs a line, which may be the action of a timer while a line runs. */
static void script_run_line(script_line line)
{
    char copy[SCRIPT_LINE], *copy_before = script.copy;
    const char *at_before = script.at;
    script_line line_before = script.line;
    script.line = line;
    script.at = script.copy = copy;
    if (!script_copy_line(copy, line.text))
        script_fail("a shorter line");
    script_statements();
    script.line = line_before;
    script.copy = copy_before;
    script.at = at_before;
}

/* Moves to the next line. Returns false at the end of the script. */
static bool script_next_line(script_line *line)
{
    while (SCRIPT_CHAR(line->text) != '\0' && SCRIPT_CHAR(line->text) != '\n')
        line->text++;
    if (SCRIPT_CHAR(line->text) == '\0')
        return false;
    line->text++;
    line->number++;
    return true;
}

/* True if the line begins a case. Copies the name of the case. */
static bool script_is_case(script_line line, char *name)
{
    for (const char *word = "case "; *word != '\0'; word++, line.text++)
        if (SCRIPT_CHAR(line.text) != *word)
            return false;
    (void)script_copy_line(name, line.text);
    return true;
}

static void script_begin_pass(void)
{
    const char *file = script.file;
    script_writer *write = script.write;
    unsigned long pass = script.pass;
    memset(&script, 0, sizeof script);
    script.file = file;
    script.write = write;
    script.pass = pass;
    script.passes = 1;
    script.copy = script_out;
    script.at = "";
    script_wheel();
    for (int i = 0; i < 26; i++)
        tw_timer_init(&script.timers[i].timer, script_on_fire);
}

/* Checks what must hold after each line. */
static void script_check(script_line line, const char *what, bool holds)
{
    static char after[] = "(after this line)";
    script.line = line;
    script.copy = after;
    if (!holds)
        script_fail(what);
}

/* Runs the case whose first line is `line`. Returns true unless it failed. If
 * the machine has too little memory, script.is_too_small is set. */
static bool script_run(const char *file, script_line line, script_writer *write)
{
    const script_line first = line;
    char name[SCRIPT_LINE];
    script.file = file;
    script.write = write;
    script.pass = 0;
    do {
        const heap *memory = &script.memory;
        script_begin_pass();
        line = first;
        while (script_next_line(&line) && !script_is_case(line, name) &&
               !script_has_ended()) {
            script_run_line(line);
            script_check(line, "true from tw_check", tw_check(&script.wheel));
            script_check(line, "allocations in starts and reserves alone",
                         memory->calls == script.allocations ||
                             script.has_postponed);
        }
        if (!script.has_failed)
            tw_destroy(&script.wheel);
        script_check(line, "all memory back from tw_destroy",
                     memory->blocks == 0 && memory->bytes == 0 &&
                         memory->strays == 0);
        script.pass++;
    } while (script.pass < script.passes && !script_has_ended());
    return !script.has_failed;
}

#endif
