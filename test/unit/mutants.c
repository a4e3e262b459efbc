/* mutants.c - what must hold where a mistake made in timingwheel.h on purpose
 * went unnoticed by the other tests: a case for each gap that was found so.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/recorder.h"

/* The chunks of cancelled timers are used again: however many timers were
 * cancelled, in the first bucket as in others, they take few chunks more than
 * the library may leave unswept. (Another timer is started meanwhile, so that
 * no slot is taken back.) */
static void chunks_are_used_again(void)
{
    for (uint64_t earlier = 50; earlier <= 150; earlier += 100) {
        world w;
        probe other = {0}, stays = {0}, leaves = {0}, last = {0};
        tw_stats before, after;
        world_open(&w, 1, 256, 0);
        world_add(&w, &other, earlier);
        world_add(&w, &stays, 100);
        tw_get_stats(&w.wheel, &before);
        for (int i = 0; i < 20000; i++) {
            world_add(&w, &leaves, 100);
            world_add(&w, &last, 200);
            CHECK(world_cancel(&w, &leaves) && world_cancel(&w, &last));
        }
        world_add(&w, &leaves, 100);
        tw_get_stats(&w.wheel, &after);
        size_t most = (TWI_SPARE_CHUNKS + 4) * TWI_CHUNK_BYTES;
        CHECK(after.bytes_used <= before.bytes_used + most);
        CHECK(after.bytes_held <= before.bytes_held + most + most / 4);
        tw_trim(&w.wheel); /* three timers are left, in chunks of their own */
        tw_get_stats(&w.wheel, &after);
        CHECK(after.bytes_held <= before.bytes_held);
        world_close(&w);
    }
}

static void cancel_other(probe *p)
{
    CHECK(world_cancel(p->world, p->other));
}

/* The timer in the last slot of a full chunk was started last of all; one of
 * its bucket, that is of one tick or of several, cancels it when it fires. */
static void last_of_a_full_chunk(void)
{
    for (uint64_t apart = 0; apart <= 1; apart++)
        for (size_t i = 0; i < TWI_SLOTS - 1; i++) {
            static world w;
            static probe p[TWI_SLOTS];
            memset(p, 0, sizeof p);
            world_open(&w, 1, 256, 0);
            for (size_t k = 0; k < TWI_SLOTS; k++)
                world_add(&w, &p[k], 600 + k * apart);
            p[i].then = cancel_other;
            p[i].other = &p[TWI_SLOTS - 1];
            CHECK(world_exhaust(&w));
            CHECK(w.fired == TWI_SLOTS - 1);
            world_close(&w);
        }
}

static void cancel_it(tw_timer *timer, void *context)
{
    CHECK(world_cancel((world *)context, TW_OWNER(timer, probe, timer)));
}

/* A visitor that cancels what it is given empties the first bucket, and so
 * gives back the chunk behind, which is held for nothing. */
static void visitor_of_a_chunk_in_front(void)
{
    static world w;
    static probe p[TWI_SLOTS + 1];
    memset(p, 0, sizeof p);
    world_open(&w, 1, 256, 0);
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        world_add(&w, &p[i], 100);
    CHECK(world_cancel(&w, &p[TWI_SLOTS]));
    CHECK(tw_foreach(&w.wheel, cancel_it, &w) == TWI_SLOTS);
    CHECK(tw_count(&w.wheel) == 0 && tw_check(&w.wheel));
    world_close(&w);
}

/* Few timers never cascade, however far apart they are in their bucket. */
static void few_never_cascade(void)
{
    static world w;
    static probe p[TWI_SLOTS];
    tw_stats stats;
    memset(p, 0, sizeof p);
    world_open(&w, 1, 256, 0);
    for (size_t i = 0; i < TWI_SLOTS; i++)
        world_add(&w, &p[i], 65536 + i * 5000);
    CHECK(world_exhaust(&w));
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.fired == TWI_SLOTS && stats.cascaded == 0);
    world_close(&w);
}

/* A limit that is just enough for what is due leaves a small bucket with its
 * later timers, whose tick is then the next deadline. */
static void limit_met_in_a_small_bucket(void)
{
    world w;
    static probe now[2], later;
    uint64_t next = 0;
    world_open(&w, 1, 256, 0);
    world_add(&w, &now[0], 1000);
    world_add(&w, &now[1], 1000);
    world_add(&w, &later, 1001);
    CHECK(world_limited(&w, 1000, 2) == 2);
    CHECK(tw_next_deadline(&w.wheel, &next) && next == 1001);
    CHECK(tw_wait(&w.wheel, 1000, 50) == 1);
    world_close(&w);
}

/* ---------------------------------------------------------- random runs --- */

/* --------------------------------------------------- where timers stand --- */


/* With ticks of two units the clock and its reading are far apart. A timer is
 * not taken for one so far ahead that it belongs to the bucket of wheel 7. */
static void reading_is_no_tick(void)
{
    static world w;
    static probe far[2], first, second;
    const uint64_t age = UINT64_C(1) << 56;
    world_open(&w, 2, 256, 0);
    world_add(&w, &far[0], 2 * (age + 50));
    world_add(&w, &far[1], 2 * (age + 70)); /* wheel 7 is known to reach it */
    world_advance(&w, 2 * (age + 1));
    world_add(&w, &first, 2 * (age + 61));
    world_add(&w, &first, 2 * (age + 60));
    world_add(&w, &second, 2 * (age + 60));
    CHECK(world_exhaust(&w));
    CHECK(far[0].fired == 1 && first.fired_as == 2 && second.fired_as == 3);
    world_close(&w);
}

/* ------------------------------------------------------------- deferred --- */


/* Nothing that is overdue any more is sorted, which could take memory. */
static void no_sort_of_nothing(void)
{
    static world w;
    static probe p[2];
    world_open(&w, 1, 256, 100);
    world_add(&w, &p[0], 5);
    world_add(&w, &p[1], 3);
    CHECK(world_cancel(&w, &p[0]) && world_cancel(&w, &p[1]));
    tw_trim(&w.wheel);
    size_t calls = w.memory.calls;
    CHECK(world_advance(&w, 101) == 0);
    CHECK(w.memory.calls == calls);
    world_close(&w);
}

/* A reserve of long ticks has every wheel up to its horizon, also above ones
 * that were there. */
static void reserve_of_long_ticks(void)
{
    static const uint64_t horizons[] = {0,  1,  3,  7,  8,  15, 16,
                                        31, 32, 33, 63, 64, 100};
    for (uint64_t before = 0; before < 3; before++)
        for (size_t i = 0; i < 13; i++) {
            static world w;
            static probe p[10], early;
            memset(p, 0, sizeof p);
            memset(&early, 0, sizeof early);
            world_open(&w, 1000, 4, 5000000);
            if (before != 0)
                world_add(&w, &early, 5000000 + (before == 1 ? 8000 : 40000));
            CHECK(tw_reserve(&w.wheel, 11, 5000000 + 1000 * horizons[i]) ==
                  TW_OK);
            CHECK(w.wheel.wheels[1] != NULL || horizons[i] < 8);
            CHECK(w.wheel.wheels[1] == NULL || horizons[i] > 7 || before != 0);
            size_t calls = w.memory.calls;
            for (uint64_t j = 0; j < 10 && j <= horizons[i]; j++)
                world_add(&w, &p[j], 5000000 + 1000 * (horizons[i] - j));
            CHECK(w.memory.calls == calls);
            CHECK(world_exhaust(&w));
            CHECK(w.memory.calls == calls);
            world_close(&w);
        }
}

/* Memory wherever it comes from is used at multiples of a chunk, within what
 * was asked for. */
static void aligned_within_its_block(void)
{
    static world w;
    void *kept[64];
    world_open(&w, 1, 256, 0);
    for (size_t i = 0; i < 64; i++) {
        size_t bytes = 1 + 16 * (i + i / 8);
        char *start = (char *)twi_allocate(&w.wheel, bytes, &kept[i]);
        CHECK((uintptr_t)start % TWI_CHUNK_BYTES == 0);
        CHECK(start >= (char *)kept[i]);
        CHECK((size_t)(start - (char *)kept[i]) < TWI_CHUNK_BYTES);
    }
    for (size_t i = 0; i < 64; i++)
        twi_deallocate(&w.wheel, 1 + 16 * (i + i / 8), kept[i]);
    CHECK(w.wheel.bytes_held == 0);
    world_close(&w);
}

/* ----------------------------------------------------- refusals, checks --- */

static void no_visit(tw_timer *timer, void *context)
{
    (void)context;
    CHECK(timer == NULL);
}

static void destroyed_is_refused(void)
{
    timingwheel tw;
    tw_timer timer = TW_TIMER_INIT(NULL);
    tw_stats stats, none;
    memset(&none, 0, sizeof none);
    memset(&stats, 1, sizeof stats);
    CHECK(tw_init(&tw, NULL) == TW_OK);
    tw_destroy(&tw);
    CHECK(tw_foreach(&tw, no_visit, NULL) == 0);
    CHECK(tw_start(&tw, &timer, 10) == TW_EINVAL);
    CHECK(tw_postpone(&tw, &timer, 10) == TW_EINVAL);
    CHECK(tw_start_within(&tw, &timer, 10, 20) == TW_EINVAL);
    CHECK(!tw_is_pending(&timer) && tw_count(&tw) == 0);
    tw_get_stats(NULL, &stats);
    CHECK(memcmp(&stats, &none, sizeof stats) == 0);
    tw_get_stats(&tw, &stats);
    CHECK(memcmp(&stats, &none, sizeof stats) == 0);
}

/* The run of the next cases: `count` timers, some of each tick (fewer of the
 * last one), not started in order of their ticks, of which the first is 512. */
static const twi_wheel *open_run(world *w, probe *p, size_t count, size_t some)
{
    memset(p, 0, count * sizeof *p);
    world_open(w, 1, 256, 0);
    for (size_t i = 0; i < count; i++)
        world_add(w, &p[i], 512 + (i * 7 % count) / some);
    return w->wheel.wheels[1];
}

/* One of a run is postponed: before it is sorted, to beyond the bucket or not,
 * or afterwards. */
static void postponed_in_a_run(void)
{
    static world w;
    static probe p[57];
    static const uint64_t to[] = {530, 700, 767, 768, 5000};
    for (size_t i = 0; i < 5; i++)
        for (size_t which = 0; which < 57; which += 7)
            for (uint64_t when = 0; when <= 520; when += 520) {
                open_run(&w, p, 57, 2);
                world_advance(&w, when);
                if (p[which].pending)
                    world_postpone(&w, &p[which], to[i]);
                CHECK(world_exhaust(&w));
                world_close(&w);
            }
}

/* Some are postponed by 256 ticks, so that all ticks end alike. */
static void postponed_by_a_turn(void)
{
    static world w;
    static probe p[256]; /* more than a byte can count */
    for (size_t count = 27; count <= 256; count += 229) {
        memset(p, 0, sizeof p);
        world_open(&w, 1, 256, 0);
        for (size_t i = 0; i < count; i++)
            world_add(&w, &p[i], 600 + i % 2);
        for (size_t i = 1; i < count; i += 2)
            world_postpone(&w, &p[i], 600 + 256);
        CHECK(world_advance(&w, 600) == (count + 1) / 2);
        CHECK(world_exhaust(&w));
        world_close(&w);
    }
}

/* Ticks that differ in the highest bit and in others are sorted by it last. */
static void sort_by_the_highest_bit(void)
{
    static world w;
    static probe p[6];
    const uint64_t half = UINT64_C(1) << 63;
    const uint64_t ticks[] = {half + 1, half, 1, half + 2, 0, 3};
    world_open(&w, 1, 256, UINT64_MAX);
    for (int i = 0; i < 6; i++)
        world_add(&w, &p[i], ticks[i]);
    CHECK(world_advance(&w, UINT64_MAX) == 6);
    world_close(&w);
}

/* A callback starts an overdue timer, postpones and cancels it: nothing is left
 * to look at, while others are owed. */
static void start_and_cancel(probe *p)
{
    world_add(p->world, p->other, 3);
    world_postpone(p->world, p->other, 60);
    CHECK(world_cancel(p->world, p->other));
}

static void deferred_and_cancelled(void)
{
    static world w;
    static probe trigger, owed[2], other;
    trigger.then = start_and_cancel;
    trigger.other = &other;
    world_open(&w, 1, 256, 50);
    world_add(&w, &trigger, 1);
    world_add(&w, &owed[0], 2);
    world_add(&w, &owed[1], 50);
    CHECK(world_advance(&w, 55) == 3);
    world_add(&w, &owed[0], 70);
    CHECK(world_advance(&w, 70) == 1);
    world_close(&w);
}

static void start_one_more(probe *p)
{
    world_add(p->world, p->other, 3);
    p->world->memory.fail_at = 1;
    p->world->memory.for_ever = true;
}

static void check_inside(probe *p)
{
    tw_stats stats;
    tw_get_stats(&p->world->wheel, &stats);
    CHECK(stats.buckets == 2 && stats.pending == 2);
    CHECK(tw_check(&p->world->wheel));
}

/* In one call a timer is deferred, and another bucket's are owed for want of
 * memory: both are known. */
static void deferred_and_owed(void)
{
    static world w;
    static probe trigger, other, stranded, watcher;
    watcher.then = check_inside;
    trigger.then = start_one_more;
    trigger.other = &other;
    world_open(&w, 1, 256, 50);
    world_add(&w, &trigger, 60);
    world_add(&w, &stranded, 61);
    world_postpone(&w, &stranded, 100000);
    world_add(&w, &watcher, 62);
    CHECK(world_advance(&w, 70) == 2);
    CHECK(world_advance(&w, 70) == 1 && other.fired == 1);
    CHECK(world_advance(&w, 100000) == 1);
    world_close(&w);
}

#define STRANDED 8


/* The roundest tick of all is 0. */
static void window_in_the_past(void)
{
    static world w;
    static probe p;
    world_open(&w, 1, 256, UINT64_MAX);
    world_within(&w, &p, 0, UINT64_MAX);
    CHECK(tw_deadline(&p.timer) == 0);
    CHECK(world_advance(&w, UINT64_MAX) == 1);
    world_close(&w);
}

/* A timer that was stranded, for a tick beyond the clock and before the number
 * of the clock's reading, fires there. */
static void stranded_before_the_reading(void)
{
    static world w;
    static probe p[2];
    world_open(&w, 2, 256, 800);
    for (uint64_t i = 0; i < 2; i++) {
        world_add(&w, &p[i], 820);
        world_postpone(&w, &p[i], 1400 - 2 * i);
    }
    w.memory.fail_at = 1;
    w.memory.for_ever = true;
    CHECK(world_advance(&w, 820) == 0);
    w.memory.fail_at = 0;
    CHECK(world_advance(&w, 821) == 0);
    w.memory.fail_at = 1;
    CHECK(world_advance(&w, 1400) == 2);
    world_close(&w);
}

static void cancel_and_start(tw_timer *timer, void *context)
{
    timingwheel *tw = (timingwheel *)context;
    CHECK(tw_cancel(tw, timer));
    CHECK(tw_start(tw, timer, 10) == TW_EBUSY);
}


/* Even when the visitor has cancelled the last timer there is no start. */
static void visitor_of_the_last(void)
{
    static world w;
    static tw_timer timer;
    world_open(&w, 1, 256, 0);
    CHECK(tw_start(&w.wheel, &timer, 10) == TW_OK);
    CHECK(tw_foreach(&w.wheel, cancel_and_start, &w.wheel) == 1);
    CHECK(tw_count(&w.wheel) == 0 && tw_check(&w.wheel));
    world_close(&w);
}

static void no_deadline_left(tw_timer *timer, void *context)
{
    timingwheel *tw = (timingwheel *)context;
    uint64_t next = 0;
    CHECK(!tw_is_pending(timer));
    CHECK(!tw_next_deadline(tw, &next));
    CHECK(tw_wait(tw, 0, 99) == 99);
}

/* While a drain visits, what it has taken out has no deadline any more. */
static void drained_have_no_deadline(void)
{
    static world w;
    static tw_timer timers[5];
    world_open(&w, 1, 16, 0);
    for (uint64_t i = 0; i < 5; i++)
        CHECK(tw_start(&w.wheel, &timers[i], i * 30) == TW_OK);
    CHECK(tw_drain(&w.wheel, no_deadline_left, &w.wheel) == 5);
    world_close(&w);
}

/* A reserve for which there is not enough memory says so and leaves all as it
 * was, whichever allocation fails. */
static void reserve_or_nothing(void)
{
    int status = TW_ENOMEM;
    for (size_t fail_at = 1; status != TW_OK && fail_at < 20; fail_at++) {
        static world w;
        static probe p;
        memset(&p, 0, sizeof p);
        world_open(&w, 1, 4, 0);
        world_add(&w, &p, 40); /* in wheel 2 */
        size_t held = w.wheel.bytes_held, blocks = w.memory.blocks;
        w.memory.fail_at = w.memory.calls + fail_at;
        status = tw_reserve(&w.wheel, 100, 200);
        if (status != TW_OK) {
            CHECK(status == TW_ENOMEM);
            CHECK(w.wheel.bytes_held == held && w.memory.blocks == blocks);
            CHECK(w.wheel.wheels[2] != NULL && w.wheel.wheels[0] == NULL);
        } else {
            CHECK(fail_at == 5); /* wheels 0, 1 and 3, and a slab */
            CHECK(w.wheel.chunks >= 100);
        }
        CHECK(tw_check(&w.wheel));
        CHECK(world_exhaust(&w));
        world_close(&w);
    }
    CHECK(status == TW_OK);
}

#define WAITING (2 * TWI_SLOTS + 4)

static probe waiting[WAITING];

static void cancel_a_chunk(probe *self)
{
    for (size_t i = 0; i < TWI_SLOTS; i++)
        world_cancel(self->world, &waiting[i]);
}

/* Two fire, and the first of them empties a chunk of a bucket that is not due:
 * those behind it there stay in their order. */
static void emptied_elsewhere(void)
{
    static world w;
    static probe fires[2];
    memset(fires, 0, sizeof fires);
    memset(waiting, 0, sizeof waiting);
    world_open(&w, 1, 256, 0);
    fires[0].then = cancel_a_chunk;
    for (size_t i = 0; i < 2; i++)
        world_add(&w, &fires[i], 10);
    for (size_t i = 0; i < WAITING; i++)
        world_add(&w, &waiting[i], 300);
    CHECK(world_advance(&w, 10) == 2);
    CHECK(world_advance(&w, 300) == WAITING - TWI_SLOTS);
    world_close(&w);
}

static const tap_case cases[] = {
    {"chunks of cancelled timers are used again", chunks_are_used_again},
    {"the last slot of a full chunk is left while its bucket fires",
     last_of_a_full_chunk},
    {"chunks held for nothing may go while others are visited",
     visitor_of_a_chunk_in_front},
    {"few timers never cascade", few_never_cascade},
    {"a limit met in a small bucket leaves the next deadline exact",
     limit_met_in_a_small_bucket},
    {"the clock's reading is not taken for its tick", reading_is_no_tick},
    {"cancelled overdue timers are not sorted", no_sort_of_nothing},
    {"a reserve of long ticks has all the wheels", reserve_of_long_ticks},
    {"memory is aligned within its block", aligned_within_its_block},
    {"a wheel that was destroyed refuses starts", destroyed_is_refused},
    {"one of a run is postponed", postponed_in_a_run},
    {"some of a run are postponed by 256 ticks", postponed_by_a_turn},
    {"overdue ticks that differ in their highest bit", sort_by_the_highest_bit},
    {"deferred, postponed and cancelled", deferred_and_cancelled},
    {"deferred and owed in one call", deferred_and_owed},
    {"a window in the past has tick 0 for its roundest", window_in_the_past},
    {"stranded before the number of the clock's reading",
     stranded_before_the_reading},
    {"a visitor that cancels the last timer starts none", visitor_of_the_last},
    {"drained timers have no deadline", drained_have_no_deadline},
    {"a reserve succeeds or changes nothing", reserve_or_nothing},
    {"a chunk of another bucket is emptied while timers fire",
     emptied_elsewhere},
};

int main(int argc, char **argv)
{
    return TAP_RUN(cases, argc, argv);
}
