/* scripts.c - runs the scripts of test/contract. script.h says how a case is
 * written.
 *
 *     scripts [FILE.script...] [WORD...]
 *
 * Without a file, all files in test/contract run. Words choose the cases whose
 * names contain at least one of the words. Prints TAP. A case is skipped if the
 * machine has too little memory for the case.
 *
 * On a machine without files, the text of the scripts is part of the program:
 * with -DSCRIPT_TEXT='"texts.h"', scripts.c includes texts.h. For each file,
 * texts.h has the line SCRIPT_FILE("order.script", "case ...\n" "start ...\n").
 * `scripts.c` needs no command line and no file then. On an AVR, SCRIPT_PRINT
 * is a function that prints a line, since stdio takes memory there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SCRIPT_TEXT
#define _POSIX_C_SOURCE 200809L
#include <glob.h>
#include <stdio.h>
#endif

#include "script.h"

#ifndef SCRIPT_PRINT
#include <stdio.h>
#define SCRIPT_PRINT(line) ((void)puts(line), (void)fflush(stdout))
#endif

/* What the command line chooses, and the cases that have run. */
static int word_count;
static char **words;
static const char *program = "scripts";
static unsigned chosen, failed;
static bool only_counts;

static void print(const char *line)
{
    SCRIPT_PRINT(line);
}

static bool is_chosen(const char *name)
{
    bool any_word = false;
    for (int i = 1; i < word_count; i++) {
        if (strstr(words[i], ".script") != NULL)
            continue;
        if (strstr(name, words[i]) != NULL)
            return true;
        any_word = true;
    }
    return !any_word;
}

static void put_case(const char *before, const char *name, const char *after)
{
    script_out[0] = '\0';
    script_put(before);
    script_put_number(chosen);
    script_put(" - ");
    script_put(name);
    script_put(after);
    script_end_line();
}

static void run_case(const char *file, script_line line, const char *name)
{
    chosen++;
    if (only_counts)
        return;
    bool passed = script_run(file, line, print);
    failed += !passed;
    if (!passed) {
        script_put("#   alone:    ");
        script_put(program);
        script_put(" \"");
        script_put(name);
        script_put("\"");
        script_end_line();
    }
    put_case(passed ? "ok " : "not ok ", name,
             script.is_too_small ? " # SKIP too little memory" : "");
}

/* Runs the chosen cases of a script. */
static void run_script(const char *file, const char *text)
{
    char name[SCRIPT_LINE];
    script_line line = {text, 1};
    do
        if (script_is_case(line, name) && is_chosen(name))
            run_case(file, line, name);
    while (script_next_line(&line));
}

#ifdef SCRIPT_TEXT

static void run_all(void)
{
#ifdef __AVR__
#define SCRIPT_FILE(name, text)                   \
    do {                                          \
        static const char flash[] PROGMEM = text; \
        run_script(name, flash);                  \
    } while (0);
#else
#define SCRIPT_FILE(name, text) run_script(name, text);
#endif
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
    bool any_file = false;
    for (int i = 1; i < word_count; i++)
        if (strstr(words[i], ".script") != NULL) {
            any_file = true;
            run_file(words[i]);
        }
    glob_t found;
    if (any_file || glob("test/contract/*.script", 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        run_file(found.gl_pathv[i]);
    globfree(&found);
}

#endif

int main(int argc, char **argv)
{
    word_count = argc;
    words = argv;
    program = argc > 0 ? argv[0] : program;
    script.write = print;
    only_counts = true;
    run_all();
    if (chosen == 0) {
        print("# no case has that in its name; run from the top");
        return 2;
    }
    script_put("1..");
    script_put_number(chosen);
    script_end_line();
    chosen = 0;
    only_counts = false;
    run_all();
    return failed != 0;
}
