/* script.h - runs the cases of the contract that are straight lines. The cases
 * are in the files *.script; scripts.c is the program.
 *
 *     case promise 2: a timer started again counts as started now
 *     start a 10, b 10
 *     start a 10
 *     advance 10: b a
 *
 * A case begins with a new timingwheel and idle timers: a to z, which are 0 to
 * 25, and more. The first statement that fails ends the case. A comment begins
 * with # and a space; a semicolon separates statements, and a comma repeats a
 * command. Commands:
 *
 *     timingwheel tick 10 start 5 size 4 max 3    instead of the old one
 *     start a 50          within a 10 20    postpone a 90
 *     start_after a 3 50  from 3 on; also postpone_after
 *     cancel a            move a b          init a
 *     reserve 1000        trim              destroy
 *     fail 2              the second allocation from now fails; fail 0: none
 *     fail                all allocations fail
 *     advance 100: a b    the clock goes to 100; a fires, then b, nothing else
 *     limit 2 100: a b    the same, with tw_advance_clock_limit
 *     poll 100: a b       two polls; without names, one poll that returns NULL
 *     sleep 100: a b      calls at the times that tw_wait says, until 100
 *     foreach: a b        visits; also drain
 *     line 1: 2 pending, 0 fired, 0 cascaded      a line of tw_dump, from 0
 *     in a: start b 50    the action of the callback of a, and of its polls
 *     visitor: cancel self    the action of each visit
 *     each S 2 4..6 9     runs the case for each value of S; at most four
 *     let D S*S           sets a variable
 *     repeat 5 advance now+10    repeats the rest of the line
 *
 * A start, a cancel and the like must succeed unless a result is given:
 * `start a 5 = TW_EFULL`, `cancel a = false`. In place of names, `= 3` gives
 * the number of timers. A name with a time, `a@50`, also checks the clock;
 * after the word `any`, the names may come in any order. Every other statement
 * compares: `count = 2`, `next < 50`, `next = none`, `wait(20, 99) > 0`,
 * `state(a) = fired`. script_value has all the functions. Numbers are modulo
 * 2^64, with + - * / % ^ and parentheses.
 *
 * Each case also checks that no timer fires early, that tw_check holds after
 * each statement, that only starts and reserves allocate, that a refused start
 * leaves its timer alone, and that all memory is given back.
 *
 * Include this file in one C or C++ file. A program with more commands, like
 * mailbox.c, misuse.c and work.c, defines SCRIPT_MORE, SCRIPT_TIMER,
 * SCRIPT_TIMER_INIT and SCRIPT_TIMERS, and has script_more, which must not use
 * the name of a command above: that one comes first.
 * scripts.c also calls script_more with "case" when a case begins, and "end".
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/heap.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#ifndef TIMINGWHEEL_H /* work.c has the header apart */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"
#endif

enum { SCRIPT_LINE = 200, SCRIPT_LOG = 5000, SCRIPT_PASSES = 1000000 };

#ifdef SCRIPT_MORE
static bool script_more(const char *name);
#else
#define SCRIPT_FILES "test/contract/*.script"
#define SCRIPT_TIMER tw_timer /* the type of the timers a to z */
#define SCRIPT_TIMER_INIT tw_timer_init
#define SCRIPT_TIMERS 220 /* those after z have numbers */
#define script_more(name) false
#endif

/* The names of states, statuses and truth values, in the order of the header.
 * Their numbers are far from all times and counts of the cases. */
static const uint64_t script_named = UINT64_C(0xa5c3e1f200000000);
static const char *const script_names[] = {
    "idle",      "fired",    "cancelled", "pending", "TW_OK", "TW_EINVAL",
    "TW_ENOMEM", "TW_EFULL", "TW_EBUSY",  "false",   "true",  "none"};
enum { SCRIPT_OK = 4, SCRIPT_FALSE = 9, SCRIPT_NONE = 11, SCRIPT_NAMES = 12 };
enum { SCRIPT_EACHES = 4 };
typedef char
    script_names_are_in_order[TW_PENDING == 3 && TW_EBUSY == -4 ? 1 : -1];

typedef struct script_timer {
    SCRIPT_TIMER timer; /* first: a pointer to the timer points here */
    const char *action; /* in the script; NULL without an action */
} script_timer;

typedef struct script_entry {
    char name; /* of a timer that fired or was visited */
    uint64_t clock;
} script_entry;

static const char *script_file, *script_text; /* name and text of the script */

/* The combination of the values of `each`: for each of them, in order, the
 * value of the running pass, and how many there are, which may depend on
 * earlier values. The last one changes first. */
static struct script_choice {
    unsigned long chosen, count;
} script_choices[SCRIPT_EACHES];

/* Where the interpreter is. An action of a timer changes the place, and then
 * sets the place back. */
static struct script_place {
    const char *line; /* in the script */
    const char *copy; /* of the line, without its comment */
    const char *at;   /* the rest of the statement, in the copy */
    uint64_t self;    /* the timer that fires or is visited */
    char command[16]; /* the command that runs */
} here;

/* The running pass of a case. */
static struct {
    timingwheel tw;
    heap memory;
    script_timer timers[SCRIPT_TIMERS];
    const char *visitor;    /* the action of each visit */
    uint64_t variables[26]; /* A to Z */
    uint32_t is_given;      /* a bit for each variable that has a value */
    unsigned eaches;        /* number of `each` so far */
    size_t allocations;     /* by starts and reserves */
    uint64_t wakes, idle;   /* calls of `sleep`; calls that fired nothing */
    uint64_t drawn;         /* lines of the last tw_dump */
    size_t logged;          /* timers fired or visited */
    script_entry log[SCRIPT_LOG];
    bool may_allocate; /* calls that advance, too: timers were postponed, or
                          wait for memory */
    bool has_failed;
} script;
static timingwheel *script_wheel = &script.tw; /* for the commands */

/* ------------------------------------------------------------ reporting --- */

static void script_put_number(uint64_t number)
{
    if (number - script_named < SCRIPT_NAMES)
        printf("%s", script_names[number - script_named]);
    else
        printf("%" PRIu64, number);
}

static void script_put_got(uint64_t number)
{
    printf("#   got:      ");
    script_put_number(number);
    puts("");
}

/* Ends the case, and prints what was expected. Returns true if the caller may
 * print what was got. */
static bool script_fail(const char *expected)
{
    if (script.has_failed)
        return false;
    unsigned number = 1;
    for (const char *c = script_text; c != NULL && c < here.line; c++)
        number += *c == '\n';
    script.has_failed = true;
    printf("# %s:%u\n#   line:     %s", script_file, number, here.copy);
    for (int i = 0; i < 26; i++)
        if ((script.is_given >> i & 1) != 0) {
            printf(", %c = ", 'A' + i);
            script_put_number(script.variables[i]);
        }
    printf("\n#   expected:%s%.*s\n",
           *expected == '\0'  ? " nothing"
           : *expected == ' ' ? ""
                              : " ",
           (int)strcspn(expected, ";"), expected);
    return true;
}

/* ---------------------------------------------------------- expressions --- */

static char script_peek(void)
{
    while (*here.at == ' ')
        here.at++;
    return *here.at;
}

static bool script_accept(const char *symbol)
{
    (void)script_peek();
    if (strncmp(here.at, symbol, strlen(symbol)) != 0)
        return false;
    here.at += strlen(symbol);
    return true;
}

static void script_expect(const char *symbol)
{
    if (!script_accept(symbol))
        script_fail(symbol);
}

static bool script_is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

/* Reads a word of at most 15 letters; returns "" if no word is next. */
static const char *script_word(char *word)
{
    size_t length = 0;
    (void)script_peek();
    for (; script_is_letter(*here.at); here.at++)
        if (length < 15)
            word[length++] = *here.at;
    word[length] = '\0';
    return word;
}

static tw_timer *script_timer_at(uint64_t index)
{
    return index == script_named + SCRIPT_NONE
               ? NULL
               : (tw_timer *)&script.timers[index % SCRIPT_TIMERS];
}

#define SCRIPT_IS(word) (strcmp(name, word) == 0)

static uint64_t script_looks; /* timers that the last tw_find looked at */

static bool script_matches(const tw_timer *timer, void *wanted)
{
    script_looks++;
    return timer == (const tw_timer *)wanted;
}

/* Returns the index of a timer that tw_find finds, or `none`. */
static uint64_t script_find(const timingwheel *tw, tw_timer *wanted)
{
    script_looks = 0;
    tw_timer *found = tw_find(tw, script_matches, wanted);
    return found == NULL
               ? script_named + SCRIPT_NONE
               : (uint64_t)((script_timer *)(void *)found - script.timers);
}

/* Returns the value of a function, of a state, a status or a truth value. */
static uint64_t script_value(const char *name, const uint64_t *argument)
{
    for (unsigned i = 0; i < SCRIPT_NAMES; i++)
        if (SCRIPT_IS(script_names[i]))
            return script_named + i;
    const timingwheel *tw = &script.tw;
    uint64_t a = argument[0], b = argument[1], c = argument[2];
    const tw_timer *timer = script_timer_at(a);
    uint64_t next = script_named + SCRIPT_NONE, missed = 0;
    uint64_t period = tw_next_period(a, b, c, &missed);
    uint64_t state = script_named + (uint64_t)tw_timer_state(timer);
    uint64_t is_pending = script_named + SCRIPT_FALSE + tw_is_pending(timer);
    tw_stats stats;
    tw_get_stats(tw, &stats);
    (void)tw_next_deadline(tw, &next);
    return SCRIPT_IS("now")           ? tw_now(tw)
           : SCRIPT_IS("next")        ? next
           : SCRIPT_IS("count")       ? tw_count(tw)
           : SCRIPT_IS("wait")        ? tw_wait(tw, a, b)
           : SCRIPT_IS("state")       ? state
           : SCRIPT_IS("is_pending")  ? is_pending
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
           : SCRIPT_IS("find")        ? script_find(tw, script_timer_at(a))
           : SCRIPT_IS("looks")       ? script_looks
           : SCRIPT_IS("wakes")       ? script.wakes
           : SCRIPT_IS("idle_wakes")  ? script.idle
           : SCRIPT_IS("drawn")       ? script.drawn
           : SCRIPT_IS("self")        ? here.self
                                      : script_fail("a command or a function");
}

static uint64_t script_sum(void);

/* Reads a timer, a variable, or a name with its arguments. The value of a
 * timer's name is the timer's index. */
static uint64_t script_name(void)
{
    char name[16];
    uint64_t arguments[3] = {0, 0, 0};
    size_t count = 0;
    (void)script_word(name);
    if (name[1] == '\0' && name[0] >= 'a')
        return (uint64_t)(name[0] - 'a');
    if (name[1] == '\0') {
        unsigned variable = (unsigned)(name[0] - 'A') % 26;
        if ((script.is_given >> variable & 1) == 0)
            script_fail("a variable with a value");
        return script.variables[variable];
    }
    if (*here.at == '(') {
        do {
            here.at++;
            arguments[count++] = script_sum();
        } while (count < 3 && script_peek() == ',');
        script_expect(")");
    }
    return script_value(name, arguments);
}

static uint64_t script_primary(void)
{
    uint64_t number = 0;
    if (script_accept("(")) {
        number = script_sum();
        script_expect(")");
        return number;
    }
    if (script_is_letter(script_peek()))
        return script_name();
    if (*here.at < '0' || *here.at > '9')
        script_fail("a number");
    for (; *here.at >= '0' && *here.at <= '9'; here.at++)
        number = number * 10 + (uint64_t)(*here.at - '0');
    return number;
}

/* Reads an expression with the operators of a level and of the levels above. */
static uint64_t script_operation(unsigned level)
{
    static const char *const operators[] = {"+-", "*/%", "^"};
    if (level == 3)
        return script_primary();
    uint64_t a = script_operation(level + 1);
    for (char next; (next = script_peek()) != '\0' &&
                    strchr(operators[level], next) != NULL;) {
        here.at++;
        uint64_t b = script_operation(level + 1), power = 1;
        if (b == 0 && (next == '/' || next == '%'))
            return (uint64_t)script_fail("no division by 0");
        for (uint64_t left = b; next == '^' && left != 0; left--)
            power *= a;
        a = next == '+'   ? a + b
            : next == '-' ? a - b
            : next == '*' ? a * b
            : next == '/' ? a / b
            : next == '%' ? a % b
                          : power;
    }
    return a;
}

static uint64_t script_sum(void)
{
    return script_operation(0);
}

/* -------------------------------------------------------------- results --- */

static bool script_is_comparison(void)
{
    return script_peek() == '=' || *here.at == '<' || *here.at == '>';
}

/* Compares a result with what the rest of the statement expects, or with
 * `usual` if the statement expects nothing. */
static void script_compare(uint64_t got, uint64_t usual)
{
    char operation = script_is_comparison() ? *here.at++ : '\0';
    const char *text = operation == '\0' ? "success" : here.at;
    uint64_t expected = operation == '\0' ? usual : script_sum();
    bool holds = operation == '<'   ? got < expected
                 : operation == '>' ? got > expected
                                    : got == expected;
    if (!holds && script_fail(text))
        script_put_got(got);
}

/* Compares the result of a start or of a reserve, which may allocate. */
static void script_compare_status(int status, size_t calls_before)
{
    script.allocations += script.memory.calls - calls_before;
    script_compare(script_named + SCRIPT_OK + (uint64_t)-status,
                   script_named + SCRIPT_OK);
}

/* True if the rest of the statement names the timers logged from `first` on. */
static bool script_names_match(size_t first, bool in_any_order)
{
    size_t at = first;
    for (; script_peek() != '\0' && *here.at != ';'; at++) {
        size_t i = at;
        while (in_any_order && i < script.logged &&
               script.log[i].name != *here.at)
            i++;
        if (i >= script.logged || script.log[i].name != *here.at++ ||
            (script_accept("@") && script.log[i].clock != script_sum()))
            return false;
        script_entry found = script.log[i];
        script.log[i] = script.log[at];
        script.log[at] = found;
    }
    return at == script.logged;
}

/* Compares the timers in the log from `first` on, and the number of timers that
 * the library counted, with the rest of the statement. Clears this part of the
 * log. */
static void script_compare_log(size_t first, uint64_t count)
{
    bool in_any_order = script_accept("any");
    if (script_is_comparison()) {
        script_compare(count, 0);
    } else {
        const char *names = script_accept(":") ? here.at : "";
        if (!script_names_match(first, in_any_order) && script_fail(names)) {
            printf("#   got:     ");
            for (size_t i = first; i < script.logged; i++)
                printf(" %c@%" PRIu64, script.log[i].name, script.log[i].clock);
            puts(first == script.logged ? " nothing" : "");
        }
        if (count != script.logged - first &&
            script_fail("that number of timers from the call"))
            script_put_got(count);
    }
    script.logged = first;
}

/* ------------------------------------------------------------ callbacks --- */

static void script_run_line(const char *line);

/* Runs an action, or nothing for NULL. */
static void script_run_action(const char *action)
{
    struct script_place before = here;
    if (action != NULL && !script.has_failed)
        script_run_line(action);
    here = before;
}

/* Runs the action of a timer that fires, is polled or is visited. */
static void script_act(const char *action, const tw_timer *timer)
{
    uint64_t before = here.self;
    here.self = (uint64_t)((const script_timer *)timer - script.timers);
    if (script.logged < SCRIPT_LOG) {
        script_entry *entry = &script.log[script.logged++];
        entry->name = (char)('a' + here.self);
        entry->clock = tw_now(&script.tw);
    }
    script_run_action(action);
    here.self = before;
}

static void script_on_fire(timingwheel *tw, tw_timer *timer)
{
    if (tw_deadline(timer) > tw_now(tw) || tw_timer_state(timer) != TW_FIRED)
        script_fail("a fired timer, and no earlier than its deadline");
    script_act(((const script_timer *)timer)->action, timer);
}

static void script_on_visit(tw_timer *timer, void *context)
{
    if (context != &script)
        script_fail("the context for the visitor");
    script_act(script.visitor, timer);
}

/* Compares the line of tw_dump with the wanted number. */
static void script_see_line(const char *line, void *wanted)
{
    bool is_wanted = script.drawn++ == *(const uint64_t *)wanted;
    size_t length = strcspn(here.at, ";");
    bool is_equal =
        strlen(line) == length && strncmp(line, here.at, length) == 0;
    if (strlen(line) > 100)
        script_fail("at most 100 columns");
    if (is_wanted && !is_equal && script_fail(here.at))
        printf("#   got:      %s\n", line);
}

/* ------------------------------------------------------------- commands --- */

/* Begins with a timingwheel as configured by the rest of the statement. */
static void script_timingwheel(void)
{
    static const char *const names[] = {"tick", "start", "size", "max"};
    uint64_t values[] = {0, 0, 0, 0};
    char name[16];
    while (script_word(name)[0] != '\0') {
        unsigned i = 0;
        while (i < 3 && !SCRIPT_IS(names[i]))
            i++;
        if (!SCRIPT_IS(names[i]))
            script_fail("tick, start, size or max");
        values[i] = script_sum();
    }
    tw_config config = {values[0], values[1], (uint32_t)values[2],
                        (size_t)values[3], &script.memory};
    tw_destroy(&script.tw);
    script_compare_status(tw_init(&script.tw, &config), script.memory.calls);
}

/* Polls once per name in the rest of the statement, and at least once. */
static void script_poll(uint64_t now)
{
    uint64_t count = 0, wanted = 0;
    size_t first = script.logged;
    const tw_timer *timer;
    for (const char *c = here.at; *c != '\0' && *c != ';'; c++)
        wanted += *c == ' ' && c[1] >= 'a' && c[1] <= 'z';
    do {
        if ((timer = tw_poll(script_wheel, now)) == NULL)
            break;
        script_act(((const script_timer *)timer)->action, timer);
    } while (++count < wanted);
    script_compare_log(first, count);
}

static void script_sleep(uint64_t until)
{
    uint64_t now = tw_now(&script.tw), count = 0;
    size_t first = script.logged, turns = 0;
    do {
        now += tw_wait(&script.tw, now, until - now);
        size_t fired = tw_advance_clock(&script.tw, now);
        count += fired;
        script.wakes += fired != 0 || now < until;
        script.idle += fired == 0 && now < until;
        if (++turns == 10000)
            script_fail("fewer than 10,000 wake-ups");
    } while (now < until && !script.has_failed);
    script_compare_log(first, count);
}

/* Sets an action: the rest of the line. */
static void script_set_action(const char **action)
{
    script_expect(":");
    *action = script_peek() == '\0' ? NULL : here.line + (here.at - here.copy);
    here.at += strlen(here.at);
}

static unsigned script_variable(void)
{
    unsigned index = (unsigned)(script_peek() - 'A') % 26;
    if (*here.at != (char)('A' + index))
        script_fail("a variable");
    here.at++;
    return index;
}

static void script_let(unsigned index, uint64_t value)
{
    script.variables[index] = value;
    script.is_given |= UINT32_C(1) << index;
}

/* Sets a variable to its value for the current pass, and counts the values. */
static void script_each(void)
{
    if (script.eaches == SCRIPT_EACHES) {
        script_fail("at most four `each`");
        return;
    }
    struct script_choice *choice = &script_choices[script.eaches++];
    unsigned variable = script_variable();
    uint64_t count = 0, chosen = choice->chosen;
    while (script_peek() != '\0' && !script.has_failed) {
        uint64_t from = script_sum();
        uint64_t to = script_accept("..") ? script_sum() : from;
        if (chosen >= count && chosen - count <= to - from)
            script_let(variable, from + (chosen - count));
        count += to - from + 1;
    }
    choice->count = (unsigned long)count;
}

static void script_statements(void);

/* Returns true if the command is `word`. Then also reads the arguments. */
static bool script_is(const char *name, const char *word, unsigned count,
                      uint64_t *arguments)
{
    if (!SCRIPT_IS(word))
        return false;
    for (unsigned i = 0; i < count; i++)
        arguments[i] = script_sum();
    return true;
}

/* Runs the command `name`, up to its comma or its end. Returns false if there
 * is no such command. */
static bool script_command(const char *name)
{
    timingwheel *tw = script_wheel;
    size_t first = script.logged, calls = script.memory.calls;
    uint64_t v[3];
#define SCRIPT_READ(word, count) script_is(name, word, count, v)
    if (SCRIPT_READ("start", 2) || SCRIPT_READ("postpone", 2) ||
        SCRIPT_READ("within", 3) || SCRIPT_READ("start_after", 3) ||
        SCRIPT_READ("postpone_after", 3)) {
        tw_timer *timer = script_timer_at(v[0]);
        const tw_timer *kept = timer == NULL ? script_timer_at(0) : timer;
        tw_timer before = *kept;
        int status = SCRIPT_IS("start")      ? tw_start(tw, timer, v[1])
                     : SCRIPT_IS("postpone") ? tw_postpone(tw, timer, v[1])
                     : SCRIPT_IS("within")
                         ? tw_start_within(tw, timer, v[1], v[2])
                     : SCRIPT_IS("start_after")
                         ? tw_start_after(tw, timer, v[1], v[2])
                         : tw_postpone_after(tw, timer, v[1], v[2]);
        if (status != TW_OK && memcmp(&before, kept, sizeof before) != 0)
            script_fail("a refused start that changes no timer");
        script.may_allocate |=
            SCRIPT_IS("postpone") || SCRIPT_IS("postpone_after");
        script_compare_status(status, calls);
    } else if (SCRIPT_READ("cancel", 1)) {
        bool was_pending = tw_cancel(tw, script_timer_at(v[0]));
        script_compare(script_named + SCRIPT_FALSE + was_pending,
                       script_named + SCRIPT_FALSE + true);
    } else if (SCRIPT_READ("advance", 1)) {
        script_compare_log(first, tw_advance_clock(tw, v[0]));
    } else if (SCRIPT_READ("limit", 2)) {
        script_compare_log(first,
                           tw_advance_clock_limit(tw, v[1], (size_t)v[0]));
    } else if (SCRIPT_READ("poll", 1)) {
        script_poll(v[0]);
    } else if (SCRIPT_READ("sleep", 1)) {
        script_sleep(v[0]);
    } else if (SCRIPT_IS("foreach")) {
        script_compare_log(first, tw_foreach(tw, script_on_visit, &script));
    } else if (SCRIPT_IS("drain")) {
        script_compare_log(first, tw_drain(tw, script_on_visit, &script));
    } else if (SCRIPT_READ("line", 1)) {
        script_expect(":");
        (void)script_peek();
        script.drawn = 0;
        tw_dump(tw, script_see_line, v);
        if (script.drawn <= v[0])
            script_fail("so many lines");
        here.at += strcspn(here.at, ";");
    } else if (SCRIPT_READ("in", 1)) {
        script_set_action(&script.timers[v[0] % SCRIPT_TIMERS].action);
    } else if (SCRIPT_IS("visitor")) {
        script_set_action(&script.visitor);
    } else if (SCRIPT_READ("move", 2)) {
        tw_move(tw, script_timer_at(v[0]), script_timer_at(v[1]));
    } else if (SCRIPT_READ("init", 1)) {
        SCRIPT_TIMER_INIT((SCRIPT_TIMER *)script_timer_at(v[0]),
                          script_on_fire);
    } else if (SCRIPT_READ("reserve", 1)) {
        script_compare_status(tw_reserve(tw, v[0]), calls);
    } else if (SCRIPT_IS("trim")) {
        tw_trim(tw);
    } else if (SCRIPT_IS("destroy")) {
        tw_destroy(tw);
    } else if (SCRIPT_IS("fail")) {
        bool for_ever = script_peek() == '\0' || *here.at == ';';
        size_t nth = for_ever ? 1 : (size_t)script_sum();
        heap_fail(&script.memory, nth, for_ever);
        script.may_allocate = true;
    } else if (SCRIPT_IS("timingwheel")) {
        script_timingwheel();
    } else if (SCRIPT_IS("each")) {
        script_each();
    } else if (SCRIPT_IS("let")) {
        unsigned variable = script_variable();
        script_let(variable, script_sum());
    } else if (SCRIPT_READ("repeat", 1)) {
        const char *rest = here.at;
        for (; v[0] != 0 && !script.has_failed; v[0]--) {
            here.at = rest;
            script_statements();
        }
        here.at += strlen(here.at);
    } else {
        return script_more(name);
    }
    return true;
}

static void script_statements(void)
{
    while (script_peek() != '\0' && !script.has_failed) {
        const char *begin = here.at, *name = script_word(here.command);
        if (script_command(name)) {
            while (script_accept(","))
                script_command(name);
        } else {
            here.at = begin;
            uint64_t value = script_sum();
            if (!script_is_comparison())
                script_fail("=, < or >");
            script_compare(value, 0);
        }
        if (script_peek() != '\0')
            script_expect(";");
    }
}

/* ---------------------------------------------------------------- lines --- */

/* Copies a line without its comment. */
static void script_copy_line(char *copy, const char *text)
{
    size_t length = 0;
    for (char c; (c = *text) != '\0' && c != '\n' && c != '\r' &&
                 strncmp(text, "# ", 2) != 0 && length < SCRIPT_LINE - 1;
         text++)
        copy[length++] = c;
    while (length != 0 && copy[length - 1] == ' ')
        length--;
    copy[length] = '\0';
}

static void script_run_line(const char *line)
{
    char copy[SCRIPT_LINE];
    script_copy_line(copy, line);
    here.line = line;
    here.at = here.copy = copy;
    if (strlen(copy) == SCRIPT_LINE - 1)
        script_fail("a shorter line");
    script_statements();
}

/* Returns the next line; NULL at the end of the script. */
static inline const char *script_next_line(const char *line)
{
    while (*line != '\0' && *line != '\n')
        line++;
    return *line == '\0' ? NULL : line + 1;
}
