/* scripts.c - runs the scripts of test/contract. script.h says how a case is
 * written.
 *
 *     scripts [FILE.script...] [WORD...]
 *
 * Without a file, all scripts in test/contract run. Words choose the cases
 * whose names contain at least one of the words. Prints TAP.
 *
 * test/contract tests each promise of the manual, by public names alone. A
 * script X.script has the cases that are straight lines. X.c has cases of the
 * same subject that need C. mailbox.c runs threads/mailbox.script. No script
 * belongs to misuse.c (TW_DEBUG).
 *
 * On a machine without files or glob, the text of the scripts is part of the
 * program: with -DSCRIPT_TEXT='"texts.h"', scripts.c includes texts.h, which
 * texts.sh writes. For each script, texts.h has
 *
 *     SCRIPT_FILE("order.script", "case one\n" "start a 50\n")
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SCRIPT_TEXT
#define _POSIX_C_SOURCE 200809L
#include <glob.h>
#endif

#include "script.h"

static int argument_count;
static char **arguments;
static unsigned ran, failed;

static bool is_file(const char *argument)
{
    return strstr(argument, ".script") != NULL;
}

static bool is_chosen(const char *name)
{
    bool has_words = false;
    for (int i = 1; i < argument_count; i++) {
        if (!is_file(arguments[i]) && strstr(name, arguments[i]) != NULL)
            return true;
        has_words |= !is_file(arguments[i]);
    }
    return !has_words;
}

/* Returns true if the line begins a case. Copies the name of the case. */
static bool script_is_case(const char *line, char *name)
{
    script_copy_line(name, line);
    if (strncmp(name, "case ", 5) != 0)
        return false;
    script_copy_line(name, line + 5);
    return true;
}

/* Fails after the line unless the promise holds. */
static void script_check(const char *line, const char *promise, bool holds)
{
    here.line = line;
    here.copy = "after this line";
    if (!holds)
        script_fail(promise);
}

/* Runs the case with the current combination of the values of `each`. */
static void script_run_pass(const char *line)
{
    char name[SCRIPT_LINE];
    const heap *memory = &script.memory;
    memset(&script, 0, sizeof script);
    here.line = line;
    here.copy = here.at = "";
    (void)tw_init(&script.tw, NULL);
    script_timingwheel();
    for (unsigned i = 0; i < SCRIPT_TIMERS; i++) {
        memset(script_timer_at(i), 0xa5, sizeof script.timers[i].timer);
        SCRIPT_TIMER_INIT(&script.timers[i].timer, script_on_fire);
    }
    (void)script_more("case");
    while (!script.has_failed && (line = script_next_line(line)) != NULL &&
           !script_is_case(line, name)) {
        script_run_line(line);
        script_check(line, "true from tw_check", tw_check(&script.tw));
        script_check(line, "allocations in starts and reserves alone",
                     memory->calls == script.allocations ||
                         script.may_allocate);
    }
    (void)script_more("end");
    if (!script.has_failed)
        tw_destroy(&script.tw);
    script_check(here.line, "all memory back from tw_destroy",
                 memory->blocks + memory->bytes + memory->strays == 0);
}

/* Goes to the next combination, like a counter with a digit per `each`. Returns
 * false after the last one. */
static bool script_next_choice(void)
{
    for (unsigned i = script.eaches; i != 0; i--) {
        struct script_choice *choice = &script_choices[i - 1];
        if (++choice->chosen < choice->count)
            return true;
        choice->chosen = 0;
    }
    return false;
}

/* Runs the case whose first line is `line`. Returns false if it failed. */
static bool script_run(const char *line)
{
    unsigned long passes = 0;
    memset(script_choices, 0, sizeof script_choices);
    do
        script_run_pass(line);
    while (++passes < SCRIPT_PASSES && !script.has_failed &&
           script_next_choice());
    script_check(line, "fewer passes", passes < SCRIPT_PASSES);
    return !script.has_failed;
}

/* Runs the chosen cases of a script. */
static void run_script(const char *file, const char *text)
{
    char name[SCRIPT_LINE];
    const char *line = text;
    script_file = file;
    script_text = text;
    do {
        if (!script_is_case(line, name) || !is_chosen(name))
            continue;
        printf("# case: %s\n", name); /* it may crash */
        fflush(stdout);
        bool has_passed = script_run(line);
        failed += !has_passed;
        printf("%sok %u - %s\n", has_passed ? "" : "not ", ++ran, name);
        fflush(stdout);
    } while ((line = script_next_line(line)) != NULL);
}

#ifdef SCRIPT_TEXT

static void run_all(void)
{
#define SCRIPT_FILE(name, ...)                  \
    {                                           \
        static const char text[] = __VA_ARGS__; \
        run_script(name, text);                 \
    }
#include SCRIPT_TEXT
}

#else

static void run_file(const char *name)
{
    static char text[1 << 18];
    FILE *file = fopen(name, "rb");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    if (length == 0) {
        fprintf(stderr, "%s: cannot be read, or is empty\n", name);
        exit(2);
    }
    fclose(file);
    text[length] = '\0';
    run_script(name, text);
}

static void run_all(void)
{
    bool has_files = false;
    glob_t found;
    for (int i = 1; i < argument_count; i++)
        if (is_file(arguments[i])) {
            has_files = true;
            run_file(arguments[i]);
        }
    if (has_files || glob(SCRIPT_FILES, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        run_file(found.gl_pathv[i]);
    globfree(&found);
}

#endif

int main(int argc, char **argv)
{
    argument_count = argc;
    arguments = argv;
    run_all();
    printf("1..%u\n", ran);
    if (ran == 0)
        puts("# no case has that in its name; run from the top");
    return ran == 0 ? 2 : failed != 0;
}
