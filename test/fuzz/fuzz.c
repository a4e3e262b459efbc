/* fuzz.c - any bytes as a program of calls, to the library and to the oracle.
 *
 * Built with clang's -fsanitize=fuzzer it is a libFuzzer target. Built with
 * -DFUZZ_REPLAY by any C compiler it takes files and folders' files as
 * arguments and runs each once: a test of the corpus, and the way to repeat a
 * finding.
 *
 * The first bytes choose the wheel, each following one an operation and its
 * operands; the callbacks take theirs from the same bytes, and so do the
 * allocations, of which an operation can make some fail. Where the bytes end
 * the input ends: all is fired and destroyed.
 *
 * The oracle judges what fires. The bounds on moved timers judge the work of
 * each call, up to the first allocation of the input that fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *fuzz_malloc(size_t size);
static void fuzz_free(void *pointer);

#define TW_STATIC
#define TW_MALLOC(size, context) ((void)(context), fuzz_malloc(size))
#define TW_FREE(pointer, context) ((void)(context), fuzz_free(pointer))
#define TIMINGWHEEL_IMPLEMENTATION
#define TWI_LARGE_TIMERS few /* a bucket of so few timers never cascades */
#define TWI_LARGE_CHUNKS few_chunks /* unless it has more chunks */
#define TWI_BATCH batch /* chunks that are moved ahead at a time, at least */
static unsigned few, few_chunks, batch;
#include "../../timingwheel.h"
#include "../lib/oracle.h"

#define TIMERS 48
#define MOST_CALLBACKS 200 /* that do something, in one input */

static const uint8_t *input, *input_end;

static timingwheel tw;
static oracle o;
static oracle_moves moves; /* for the calls before an allocation fails */
static tw_timer timers[TIMERS];
static uint64_t wheel_size;
static size_t max_pending;
static bool reached[TIMERS]; /* by the running visit */
static size_t fired;         /* in the running call */
static uint64_t fired_in_all;
static unsigned active; /* callbacks that may still do something */
static bool visiting, draining;
static unsigned failing; /* one bit an allocation, lowest first: fails */
static bool all_fail;
static size_t blocks, failed; /* allocations living, and refused */

static void expect(bool right, const char *what, int line)
{
    if (right)
        return;
    fprintf(stderr, "fuzz.c:%d: %s\n", line, what);
    abort();
}

#define EXPECT(expr) expect((expr), #expr, __LINE__)

/* A judgement of the oracle: NULL, or what is wrong. */
static void judge(const char *wrong, int line)
{
    expect(wrong == NULL, wrong, line);
}

#define JUDGE(call) judge((call), __LINE__)

/* ---------------------------------------------------------------- input -- */

static unsigned byte(void)
{
    return input == input_end ? 0 : *input++;
}

static uint64_t bytes(unsigned count)
{
    uint64_t value = 0;
    while (count-- > 0)
        value = value << 8 | byte();
    return value;
}

static uint32_t any_timer(void)
{
    return byte() % TIMERS;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a < b ? 0 : a - b;
}

static uint64_t product(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* An absolute time: around the clock, another timer, the end of a window of
 * some wheel, the end of time, or anything. */
static uint64_t any_time(void)
{
    unsigned choice = byte();
    uint64_t span = o.tick;
    switch (choice % 8) {
    case 0:
    case 1:
        return tw_after(o.now, product(o.tick, choice / 8));
    case 2:
        return tw_after(o.now, bytes(1 + choice / 8 % 3));
    case 3:
        for (unsigned level = choice / 8 % 16; level > 0; level--)
            span = product(span, wheel_size);
        return tw_after(o.now, minus(span + (byte() & 3) * o.tick, o.tick));
    case 4:
        return minus(o.now, bytes(choice / 8 % 3));
    case 5:
        return minus(tw_after(timers[any_timer()].deadline, choice / 8), 8);
    case 6:
        return choice / 8 == 0 ? bytes(8) : tw_after(o.now, bytes(4));
    default:
        return UINT64_MAX - product(o.tick, choice / 8);
    }
}

/* --------------------------------------------------------------- memory -- */

static void *fuzz_malloc(size_t size)
{
    bool fails = all_fail || (failing & 1) != 0;
    failing >>= 1;
    void *memory = fails ? NULL : malloc(size);
    if (memory == NULL) {
        failed++;
        o.moves = NULL;
        return NULL;
    }
    memset(memory, 0xa5, size);
    blocks++;
    return memory;
}

static void fuzz_free(void *pointer)
{
    blocks--;
    free(pointer);
}

/* -------------------------------------------------------------- judging -- */

static void check_timer(uint32_t id)
{
    EXPECT(tw_timer_state(&timers[id]) == o.timers[id].state);
    EXPECT(tw_is_pending(&timers[id]) == (o.timers[id].state == TW_PENDING));
    EXPECT(tw_deadline(&timers[id]) == o.timers[id].deadline);
}

static void check_summary(void)
{
    uint64_t next = 0;
    EXPECT(tw_now(&tw) == o.now);
    if (draining)
        return;
    EXPECT(tw_count(&tw) == o.count);
    bool found = tw_next_deadline(&tw, &next);
    JUDGE(oracle_judge_next(&o, found, next));
    EXPECT(tw_wait(&tw, o.now, 1000) ==
           oracle_wait(&o, found, next, o.now, 1000));
}

static void check_all(void)
{
    check_summary();
    EXPECT(tw_check(&tw));
    for (uint32_t id = 0; id < TIMERS; id++)
        check_timer(id);
}

/* True if the call has started the timer; a refusal must be right and has
 * changed nothing. */
static bool has_started(int status, uint32_t id, size_t failed_before)
{
    if (visiting || (max_pending != 0 && o.count >= max_pending &&
                     !oracle_is_pending(&o, id))) {
        EXPECT(status == (visiting ? TW_EBUSY : TW_EFULL));
    } else if (status == TW_ENOMEM) {
        EXPECT(failed != failed_before);
    } else {
        EXPECT(status == TW_OK);
        return true;
    }
    check_timer(id);
    return false;
}

/* ----------------------------------------------------------- operations -- */

static void start(uint32_t id)
{
    uint64_t deadline = any_time();
    size_t refused = failed;
    int status = tw_start(&tw, &timers[id], deadline);
    if (has_started(status, id, refused))
        oracle_start(&o, id, deadline, false);
    check_timer(id);
}

static void start_within(uint32_t id)
{
    uint64_t earliest = any_time(), latest = any_time();
    size_t refused = failed;
    int status = tw_start_within(&tw, &timers[id], earliest, latest);
    if (latest < earliest) {
        EXPECT(status == TW_EINVAL);
    } else if (has_started(status, id, refused)) {
        uint64_t chosen = tw_deadline(&timers[id]);
        JUDGE(oracle_judge_window(&o, earliest, latest, chosen,
                                  (uint32_t)wheel_size));
        oracle_start(&o, id, chosen,
                     oracle_tick_of(&o, earliest) <= latest / o.tick);
    }
    check_timer(id);
}

static void postpone(uint32_t id)
{
    uint64_t deadline = any_time();
    bool later = oracle_is_later(&o, id, deadline);
    size_t refused = failed;
    int status = tw_postpone(&tw, &timers[id], deadline);
    if (later)
        EXPECT(status == TW_OK);
    if (later || has_started(status, id, refused))
        oracle_postpone(&o, id, deadline);
    check_timer(id);
}

static void cancel(uint32_t id)
{
    bool pending = oracle_cancel(&o, id);
    EXPECT(tw_cancel(&tw, &timers[id]) == pending);
    check_timer(id);
}

/* All that a callback or visitor must not do, and that answers so. */
static void try_the_forbidden(void)
{
    EXPECT(tw_advance_clock(&tw, UINT64_MAX) == 0);
    EXPECT(tw_advance_clock_limit(&tw, UINT64_MAX, 1) == 0);
    EXPECT(tw_poll(&tw, UINT64_MAX) == NULL);
    tw_trim(&tw);
    tw_destroy(&tw);
    check_summary();
}

static uint32_t visited(tw_timer *timer, void *context)
{
    uint32_t id = (uint32_t)(timer - timers);
    EXPECT(context == (void *)&o && !reached[id]);
    reached[id] = true;
    return id;
}

static void on_each(tw_timer *timer, void *context)
{
    uint32_t id = visited(timer, context);
    EXPECT(oracle_is_pending(&o, id));
    switch (byte() % 8) {
    case 0:
        cancel(id);
        break;
    case 1:
        start(any_timer());
        break;
    case 2:
        try_the_forbidden();
        break;
    }
}

static void visit_all(void)
{
    size_t pending = o.count;
    memset(reached, 0, sizeof(reached));
    visiting = true;
    EXPECT(tw_foreach(&tw, on_each, &o) == pending);
    visiting = false;
}

static void on_drained(tw_timer *timer, void *context)
{
    uint32_t id = visited(timer, context);
    oracle_drain(&o, id);
    check_timer(id);
    switch (byte() % 8) {
    case 0:
    case 1:
        start(id);
        break;
    case 2:
        try_the_forbidden();
        break;
    case 3:
        cancel(id);
        break;
    }
}

static void drain(void)
{
    size_t pending = o.count;
    memset(reached, 0, sizeof(reached));
    oracle_begin_drain(&o);
    draining = true;
    EXPECT(tw_drain(&tw, on_drained, &o) == pending);
    draining = false;
}

static void reserve(void)
{
    size_t count = byte(), refused = failed, held = blocks;
    int status = tw_reserve(&tw, count, any_time());
    if (status == TW_OK)
        return;
    EXPECT(status == TW_ENOMEM && failed != refused && blocks == held);
}

/* What may be done anywhere but in a visitor. */
static void act(unsigned choice)
{
    uint32_t id = choice & 128 ? choice / 16 % TIMERS : any_timer();
    switch (choice % 16) {
    case 10:
        start_within(id);
        break;
    case 11:
    case 12:
        postpone(id);
        break;
    case 13:
    case 14:
        cancel(id);
        break;
    case 15:
        if (choice == 0xff)
            drain();
        else if (choice >= 0xe0)
            visit_all();
        else if (choice >= 0xc0)
            reserve();
        break;
    default:
        start(id);
        break;
    }
}

static void on_fire(timingwheel *wheel, tw_timer *timer)
{
    uint32_t id = (uint32_t)(timer - timers);
    EXPECT(wheel == &tw && o.in_call);
    JUDGE(oracle_fire(&o, id, tw_now(&tw)));
    fired++;
    fired_in_all++;
    check_timer(id);
    check_summary();
    if (active == 0)
        return;
    active--;
    unsigned choice = byte();
    if (choice % 4 == 0)
        start(id);
    else if (choice % 4 == 1)
        act(byte());
    else if (choice == 0xff)
        try_the_forbidden();
}

/* ------------------------------------------------------------ advancing -- */

/* Judges how many timers the call has handled and moved. The call has ended.
 * The oracle judges moves in every call before the first allocation that fails
 * in the input. tw_get_stats looks at every bucket, and would take too long. */
static void judge_work(void)
{
    EXPECT(tw.handled - tw.cascaded == fired_in_all);
    JUDGE(oracle_judge_moves(&o, tw.cascaded));
}

static void advance(uint64_t now)
{
    oracle_begin(&o, now);
    fired = 0;
    EXPECT(tw_advance_clock(&tw, now) == fired);
    JUDGE(oracle_finish(&o));
    judge_work();
}

/* The deadline that the library itself would wake up for. */
static void advance_to_next(void)
{
    uint64_t next = o.now;
    (void)tw_next_deadline(&tw, &next);
    advance(next);
}

static void advance_some(void)
{
    size_t limit = 1 + byte() % 8;
    uint64_t now = any_time(), cascaded = tw.cascaded;
    uint64_t stop = tw.handled + limit;
    oracle_begin(&o, now);
    fired = 0;
    EXPECT(tw_advance_clock_limit(&tw, now, limit) == fired);
    EXPECT(fired + (tw.cascaded - cascaded) <= limit);
    /* Slots of cancelled timers count towards the limit, too. */
    if (fired + (tw.cascaded - cascaded) < limit && tw.handled_limit == stop)
        JUDGE(oracle_finish(&o));
    else
        JUDGE(oracle_stop(&o, tw_now(&tw)));
    judge_work();
}

static void poll(void)
{
    uint64_t now = any_time();
    oracle_begin(&o, now);
    tw_timer *timer = tw_poll(&tw, now);
    if (timer == NULL) {
        JUDGE(oracle_finish(&o));
        judge_work();
        return;
    }
    JUDGE(oracle_fire(&o, (uint32_t)(timer - timers), tw_now(&tw)));
    fired_in_all++;
    o.in_call = false;
    judge_work();
}

/* ------------------------------------------------------------- an input -- */

static void step(void)
{
    unsigned choice = byte();
    if (choice < 128) {
        act(byte());
        return;
    }
    switch (choice % 16) {
    case 8:
    case 9:
        advance_some();
        break;
    case 10:
    case 11:
        poll();
        break;
    case 12:
    case 13:
        failing = byte();
        break;
    case 14:
        all_fail = !all_fail;
        break;
    case 15:
        tw_trim(&tw);
        break;
    case 0:
    case 1:
    case 2:
        advance(any_time());
        break;
    default:
        advance_to_next();
        break;
    }
}

/* No allocation has failed yet: the oracle judges moves, as in random.c. */
static void expect_plenty(void)
{
    uint64_t rest = TWI_SLOTS * (few_chunks + batch + 3) + few;
    uint64_t most = TWI_SLOTS * (batch + 2) + few;
    oracle_small small = {few, TWI_SLOTS * (few_chunks - 1) + 1, TWI_SLOTS};
    o.moves = &moves;
    oracle_moves_init(&moves, (uint32_t)wheel_size, oracle_clock(&o), rest,
                      most, small);
}

static void set_up(void)
{
    static const uint64_t ticks[] = {1, 1, 2, 3, 10, 1000, 0, 4096};
    static const struct {
        unsigned few, few_chunks, batch;
    } limits[] = {{TWI_SORT_CHUNKS * TWI_SLOTS, TWI_SORT_CHUNKS, 16},
                  {TWI_SORT_CHUNKS * TWI_SLOTS, 2, 1},
                  {0, TWI_SORT_CHUNKS, 16},
                  {0, 2, 1},
                  {1, 2, 1},
                  {5, 2, 2},
                  {12, 2, 1},
                  {20, 4, 1}};
    static const uint32_t sizes[] = {2,  2,  4,  4,  4,  8,   8,   16,
                                     16, 32, 64, 64, 64, 128, 256, 512};
    tw_config config = {0, 0, 0, 0, NULL};
    unsigned choice = byte();
    wheel_size = sizes[choice % 16];
    config.wheel_size = (uint32_t)wheel_size;
    config.tick = ticks[choice / 16 % 8];
    choice = byte();
    if (choice % 4 != 0)
        config.start = choice % 4 == 1   ? bytes(4)
                       : choice % 4 == 2 ? bytes(8)
                                         : UINT64_MAX - bytes(2);
    max_pending = config.max_pending = choice / 4 % 8 == 7 ? 5 : 0;
    few = limits[choice / 32].few;
    few_chunks = limits[choice / 32].few_chunks;
    batch = limits[choice / 32].batch;
    EXPECT(tw_init(&tw, &config) == TW_OK);
    oracle_init(&o, config.tick == 0 ? 1 : config.tick, config.start, TIMERS);
    expect_plenty();
    for (size_t i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_fire);
    active = MOST_CALLBACKS;
    fired_in_all = 0;
    failing = 0;
    all_fail = visiting = draining = false;
}

/* Adds up the timers that are drawn. */
static void add_drawn(const char *line, void *context)
{
    const char *holds = strstr(line, "] holds ");
    const char *aside = strstr(line, "in no wheel: ");
    EXPECT(strlen(line) <= 100);
    if (holds != NULL)
        *(uint64_t *)context += strtoull(holds + 8, NULL, 10);
    if (aside != NULL)
        *(uint64_t *)context += strtoull(aside + 13, NULL, 10);
}

static void tear_down(void)
{
    tw_stats stats;
    uint64_t drawn = 0;
    active = 0;
    tw_dump(&tw, add_drawn, &drawn);
    EXPECT(drawn == o.count);
    tw_get_stats(&tw, &stats);
    EXPECT(stats.pending == o.count && stats.fired == fired_in_all);
    EXPECT(stats.cascaded == tw.cascaded);
    EXPECT(stats.bytes_used <= stats.bytes_held);
    advance(UINT64_MAX);
    check_all();
    tw_destroy(&tw);
    EXPECT(blocks == 0);
    for (size_t i = 0; i < TIMERS; i++)
        EXPECT(!tw_is_pending(&timers[i]));
    oracle_free(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    input_end = data + size;
    set_up();
    for (unsigned steps = 1; input != input_end; steps++) {
        step();
        check_summary();
        if (steps % 16 == 0)
            check_all();
    }
    tear_down();
    return 0;
}

#ifdef FUZZ_REPLAY

static bool replay(const char *path)
{
    static uint8_t data[1 << 16];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    size_t size = fread(data, 1, sizeof(data), file);
    fclose(file);
    printf("# %s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    return true;
}

/* A failure aborts, after the name of its file: the plan is then unmet. */
int main(int argc, char **argv)
{
    bool all_read = argc > 1;
    printf("1..1\n");
    for (int i = 1; i < argc; i++)
        all_read &= replay(argv[i]);
    printf("%sok 1 - fuzz: %d inputs replayed\n", all_read ? "" : "not ",
           argc - 1);
    return !all_read;
}

#endif
