/* structure.c - chunks, buckets, sorted buckets and wheels in rare situations.
 * Examples are the largest slab, a chunk that empties while another bucket
 * fires, and a bucket of hundreds that comes up without memory.
 *
 *     structure [CASE...]
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/recorder.h"

/* ------------------------------------------------- memory of the chunks --- */

/* Thousands of timers are cancelled, in the first bucket or in a later bucket.
 * The wheel takes few more chunks than may hold only dead slots. The start of
 * the timer `last` prevents that a cancel takes the slot of `leaves` back. */
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
        tw_trim(&w.wheel); /* the three timers left are in separate chunks */
        tw_get_stats(&w.wheel, &after);
        CHECK(after.bytes_held <= before.bytes_held);
        world_close(&w);
    }
}

static tw_timer *idle_timers(size_t count)
{
    tw_timer *timers = (tw_timer *)calloc(count, sizeof(*timers));
    if (timers == NULL)
        abort();
    return timers;
}

/* Fills a chunk, and cancels all timers of the chunk except the last,
 * `kept`. */
static void hold_chunk(timingwheel *tw, tw_timer *kept, tw_timer *others)
{
    for (size_t i = 0; i < TWI_SLOTS - 1; i++)
        tw_start(tw, &others[i], 1000);
    tw_start(tw, kept, 1000);
    for (size_t i = 0; i < TWI_SLOTS - 1; i++)
        tw_cancel(tw, &others[i]);
}

/* An eighth of the chunks reserved is more than a slab may have. At the end all
 * memory is returned. */
static void largest_slab(void)
{
    const size_t reserved = 10 * (size_t)TWI_MOST_CHUNKS;
    const size_t most = reserved + 2000; /* buckets may hold some */
    tw_timer *timers = idle_timers(most + TWI_SLOTS);
    static world w;
    world_open(&w, 1, 256, 0);
    CHECK(tw_reserve(&w.wheel, reserved, 1000) == TW_OK);
    size_t calls = w.memory.calls, bytes = w.memory.bytes, chunks = 0;
    while (w.memory.calls == calls && chunks < most)
        hold_chunk(&w.wheel, &timers[chunks++], &timers[most]);
    CHECK(chunks > reserved);
    CHECK(w.memory.calls == calls + 1);
    CHECK(w.memory.bytes - bytes ==
          (TWI_MOST_CHUNKS + 2) * (size_t)TWI_CHUNK_BYTES - 1);
    CHECK(tw_count(&w.wheel) == chunks);
    CHECK(tw_check(&w.wheel));

    for (size_t i = 0; i < chunks; i++)
        CHECK(tw_cancel(&w.wheel, &timers[i]));
    tw_trim(&w.wheel);
    CHECK(w.memory.blocks == 0);
    CHECK(tw_count(&w.wheel) == 0);
    world_close(&w);
    free(timers);
}

/* A timer goes from bucket to bucket on a reserve for one timer. The chunk of
 * the first bucket holds no timer, and the wheel uses the chunk for a later
 * bucket. The first bucket comes up nevertheless. */
static void first_bucket_is_swept(void)
{
    tw_timer *timers = idle_timers(1);
    static world w;
    world_open(&w, 1, 256, 0);
    CHECK(tw_reserve(&w.wheel, 1, 200) == TW_OK);
    size_t calls = w.memory.calls;
    for (uint64_t tick = 1; tick <= w.wheel.chunks + 3; tick++) {
        CHECK(tw_start(&w.wheel, &timers[0], tick) == TW_OK);
        CHECK(tw_check(&w.wheel));
    }
    CHECK(w.memory.calls == calls);
    CHECK(w.wheel.wheels[0]->first->back == NULL);
    CHECK(tw_advance_clock(&w.wheel, w.wheel.chunks + 2) == 0 &&
          tw_check(&w.wheel));
    CHECK(tw_advance_clock(&w.wheel, w.wheel.chunks + 3) == 1);
    world_close(&w);
    free(timers);
}

/* A block starts at a multiple of the chunk size, within the memory
 * allocated. */
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

/* ------------------------------------------------- chunks that empty --- */

static void cancel_other(probe *p)
{
    CHECK(world_cancel(p->world, p->other));
}

/* The timer in the last slot of a full chunk started last. An earlier timer of
 * the bucket, for an equal or an earlier tick, cancels the timer. */
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

/* A visitor that cancels every timer empties the first bucket. Then the wheel
 * frees the following chunk, in which all slots are dead. */
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

#define WAITING (2 * TWI_SLOTS + 4)

static probe waiting[WAITING];

static void cancel_a_chunk(probe *self)
{
    for (size_t i = 0; i < TWI_SLOTS; i++)
        world_cancel(self->world, &waiting[i]);
}

/* Two timers fire. The first timer empties a chunk of a bucket that is not due.
 * The timers behind the chunk keep their order. */
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

/* ------------------------------------------------------------ cascades --- */

/* Few timers never cascade, however far apart their ticks are. */
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

#define LARGE 20

/* A large bucket of wheel 2 comes up at 4200. The ticks are too far apart for a
 * sort. The timers go down to wheel 0, past a bucket of wheel 1 for the same
 * ticks. All timers of the wheel 1 bucket were cancelled. */
static void cascade_past_emptied_bucket(void)
{
    static world w;
    static tw_timer large[LARGE + 2], before, gone[2];
    tw_stats stats;
    world_open(&w, 1, 32, 0);
    tw_start(&w.wheel, &large[0], 4200);
    for (int i = 1; i <= LARGE; i++)
        tw_start(&w.wheel, &large[i], 4250 + (uint64_t)i % 2);
    tw_start(&w.wheel, &large[LARGE + 1], 4900);
    CHECK(w.wheel.wheels[2] != NULL && w.wheel.queued == 1);
    tw_advance_clock(&w.wheel, 4000);
    tw_start(&w.wheel, &before, 4202);
    tw_start(&w.wheel, &gone[0], 4250);
    tw_start(&w.wheel, &gone[1], 4251);
    tw_cancel(&w.wheel, &gone[0]);
    tw_cancel(&w.wheel, &gone[1]);
    CHECK(tw_advance_clock(&w.wheel, 4200) == 1);
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.cascaded >= LARGE);
    CHECK(tw_check(&w.wheel));
    CHECK(tw_advance_clock(&w.wheel, 4249) == 1);
    CHECK(tw_advance_clock(&w.wheel, 4250) == LARGE / 2);
    CHECK(tw_check(&w.wheel));
    CHECK(tw_advance_clock(&w.wheel, 4251) == LARGE / 2);
    CHECK(tw_advance_clock(&w.wheel, 4900) == 1);
    world_close(&w);
}

/* With ticks of two units, the time is twice the tick. A large time alone must
 * not put a near timer into wheel 7. */
static void reading_is_no_tick(void)
{
    static world w;
    static probe far[2], first, second;
    const uint64_t age = UINT64_C(1) << 56;
    world_open(&w, 2, 256, 0);
    world_add(&w, &far[0], 2 * (age + 50));
    world_add(&w, &far[1], 2 * (age + 70)); /* the wheel caches: wheel 7 reaches
                                             * the tick */
    world_advance(&w, 2 * (age + 1));
    world_add(&w, &first, 2 * (age + 61));
    world_add(&w, &first, 2 * (age + 60));
    world_add(&w, &second, 2 * (age + 60));
    CHECK(world_exhaust(&w));
    CHECK(far[0].fired == 1 && first.fired_as == 2 && second.fired_as == 3);
    world_close(&w);
}

/* ------------------------------------------------------ sorted buckets --- */

/* TWI_SLOTS + 1 timers need two chunks. The first timer is cancelled, and the
 * bucket is sorted into one chunk. Then all timers of the bucket are
 * cancelled. */
static void sorted_bucket_is_emptied(void)
{
    tw_timer *timers = idle_timers(TWI_SLOTS + 2);
    static world w;
    world_open(&w, 1, 256, 0);
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        CHECK(tw_start(&w.wheel, &timers[i], 1024 + i) == TW_OK);
    CHECK(tw_start(&w.wheel, &timers[TWI_SLOTS + 1], 5000) == TW_OK);
    CHECK(tw_cancel(&w.wheel, &timers[0]));
    CHECK(tw_advance_clock(&w.wheel, 1024) == 0);
    for (size_t i = 1; i <= TWI_SLOTS; i++)
        CHECK(tw_cancel(&w.wheel, &timers[i]) && tw_check(&w.wheel));
    CHECK(tw_advance_clock(&w.wheel, 4999) == 0);
    CHECK(tw_advance_clock(&w.wheel, 5000) == 1);
    world_close(&w);
    free(timers);
}

/* Adds `count` timers to one bucket, `some` per tick from 512 on. The last tick
 * may have fewer timers. The starts are not in the order of ticks. */
static void open_run(world *w, probe *p, size_t count, size_t some)
{
    memset(p, 0, count * sizeof *p);
    world_open(w, 1, 256, 0);
    for (size_t i = 0; i < count; i++)
        world_add(w, &p[i], 512 + (i * 7 % count) / some);
}

/* A timer of a bucket is postponed, to a tick of the bucket or beyond. The
 * bucket is sorted before or after the postpone. */
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

/* Some timers are postponed by 256 ticks. The last byte of the tick stays
 * equal. */
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

/* The overdue ticks differ in the highest bit and in lower bits. */
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

#define MANY 400

static uint64_t not_in_time;
static uint64_t last_tick;
static bool in_order;

static void note(timingwheel *wheel, tw_timer *timer)
{
    not_in_time += tw_now(wheel) != timer->deadline;
    in_order &= last_tick <= tw_now(wheel);
    last_tick = tw_now(wheel);
}

/* A bucket of hundreds comes up without memory. A third of the timers were
 * postponed before, to many buckets. Each timer fires in time. Half of the
 * postponed timers move on when there is memory again. */
static void bucket_without_memory(void)
{
    tw_timer *timers = idle_timers(MANY);
    static world w;
    world_open(&w, 1, 256, 0);
    in_order = true;
    not_in_time = last_tick = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        tw_timer_init(&timers[i], note);
        CHECK(tw_start(&w.wheel, &timers[i], 1024 + i * 89 % 256) == TW_OK);
    }
    for (uint64_t i = 0; i < MANY; i += 3)
        CHECK(tw_postpone(&w.wheel, &timers[i], 70000 + i * 300) == TW_OK);
    w.wheel.unused = NULL; /* as if buckets had all chunks */
    w.wheel.in_use = w.wheel.chunks;
    heap_fail(&w.memory, 1, true);
    for (uint64_t now = 1024; now < 1280; now++)
        CHECK(tw_advance_clock_limit(&w.wheel, now, MANY) <= MANY);
    CHECK(tw_count(&w.wheel) == (MANY + 2) / 3);
    for (uint64_t now = 70000; now < 130000; now += 100)
        tw_advance_clock(&w.wheel, now);
    heap_fail(&w.memory, 0, false);
    CHECK(tw_advance_clock_limit(&w.wheel, 190000, 20) <= 20);
    while (tw_count(&w.wheel) != 0) {
        uint64_t next = 0;
        CHECK(tw_next_deadline(&w.wheel, &next));
        tw_advance_clock(&w.wheel, next > tw_now(&w.wheel) ? next : 190000);
    }
    CHECK(not_in_time == 0 && in_order);
    tw_destroy(&w.wheel); /* no tw_check: the counts were set by hand */
    CHECK(w.memory.blocks == 0);
    free(timers);
}

/* ------------------------------------------- overdue and out of memory --- */

static void start_and_cancel(probe *p)
{
    world_add(p->world, p->other, 3);
    world_postpone(p->world, p->other, 60);
    CHECK(world_cancel(p->world, p->other));
}

/* A callback starts an overdue timer, postpones the timer and cancels it.
 * Further overdue timers are due in the same call. */
static void deferred_and_cancelled(void)
{
    static world w;
    static probe trigger, due[2], other;
    trigger.then = start_and_cancel;
    trigger.other = &other;
    world_open(&w, 1, 256, 50);
    world_add(&w, &trigger, 1);
    world_add(&w, &due[0], 2);
    world_add(&w, &due[1], 50);
    CHECK(world_advance(&w, 55) == 3);
    world_add(&w, &due[0], 70);
    CHECK(world_advance(&w, 70) == 1);
    world_close(&w);
}

static void start_one_more(probe *p)
{
    world_add(p->world, p->other, 3);
    p->world->memory.fail_at = 1;
    p->world->memory.for_ever = true;
}

static void check_in_callback(probe *p)
{
    tw_stats stats;
    tw_get_stats(&p->world->wheel, &stats);
    CHECK(stats.buckets == 2 && stats.pending == 2);
    CHECK(tw_check(&p->world->wheel));
}

/* In one call, a callback starts an overdue timer, and a timer of a second
 * bucket cannot move because memory has run out. */
static void overdue_beside_unmoved(void)
{
    static world w;
    static probe trigger, other, unmoved, watcher;
    watcher.then = check_in_callback;
    trigger.then = start_one_more;
    trigger.other = &other;
    world_open(&w, 1, 256, 50);
    world_add(&w, &trigger, 60);
    world_add(&w, &unmoved, 61);
    world_postpone(&w, &unmoved, 100000);
    world_add(&w, &watcher, 62);
    CHECK(world_advance(&w, 70) == 2);
    CHECK(world_advance(&w, 70) == 1 && other.fired == 1);
    CHECK(world_advance(&w, 100000) == 1);
    world_close(&w);
}

/* Two timers could not move because memory had run out. Their ticks are after
 * the clock, but below the time as numbers. The timers fire at their ticks. */
static void unmoved_before_the_time(void)
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

static const tap_case cases[] = {
    {"chunks: chunks of cancelled timers are used again",
     chunks_are_used_again},
    {"chunks: memory grows by at most the largest slab, and is returned",
     largest_slab},
    {"chunks: a bucket without timers gives its chunk away",
     first_bucket_is_swept},
    {"chunks: memory is aligned within its block", aligned_within_its_block},
    {"chunks: the last slot of a full chunk is cancelled while it fires",
     last_of_a_full_chunk},
    {"chunks: a chunk of dead slots is freed during tw_foreach",
     visitor_of_a_chunk_in_front},
    {"chunks: a callback empties a chunk of another bucket", emptied_elsewhere},
    {"cascade: few timers never cascade", few_never_cascade},
    {"cascade: past buckets that cancels have emptied",
     cascade_past_emptied_bucket},
    {"cascade: a timer is placed by its tick, not by its time",
     reading_is_no_tick},
    {"sorted bucket: every timer is cancelled", sorted_bucket_is_emptied},
    {"sorted bucket: one timer is postponed", postponed_in_a_run},
    {"sorted bucket: some timers are postponed by 256 ticks",
     postponed_by_a_turn},
    {"sorted bucket: overdue ticks that differ in their highest bit",
     sort_by_the_highest_bit},
    {"large bucket: hundreds of timers come up without memory",
     bucket_without_memory},
    {"overdue: started, postponed and cancelled in a callback",
     deferred_and_cancelled},
    {"overdue: started in a callback, while a bucket lacks memory to move",
     overdue_beside_unmoved},
    {"no memory: an unmoved timer with a tick below the time fires in time",
     unmoved_before_the_time},
};

TAP_MAIN(cases)
