/* mutants.c - what must hold where a mistake made in timingwheel.h on purpose
 * went unnoticed by the other tests: a case for each gap that was found so.
 *
 * SPDX-License-Identifier: MIT
 */
#include "recorder.h"

/* A chunk's ordinal has 16 bits, however many chunks there are already. */
static void slabs_fit_their_ordinals(void)
{
    world w;
    probe p = {0};
    const size_t there_already = 1000000;
    world_open(&w, 1, 4, 100);
    w.wheel.chunks = there_already;
    world_adopt(&w, &p);
    CHECK(tw_start(&w.wheel, &p.timer, 0) == TW_OK);
    CHECK(w.wheel.slabs->chunks == 0xffff);
    CHECK(tw_cancel(&w.wheel, &p.timer));
    w.wheel.chunks -= there_already;
    world_close(&w);
}

/* The chunks of cancelled timers are used again: a thousand of them take one
 * chunk more than the bucket's own, in the first bucket as in others. (Another
 * timer is started meanwhile, so that no slot is taken back.) */
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
        for (int i = 0; i < 1000; i++) {
            world_add(&w, &leaves, 100);
            world_add(&w, &last, 200);
            CHECK(world_cancel(&w, &leaves) && world_cancel(&w, &last));
        }
        world_add(&w, &leaves, 100);
        tw_get_stats(&w.wheel, &after);
        CHECK(after.bytes_used <= before.bytes_used + TWI_CHUNK_BYTES);
        CHECK(after.bytes_held <= before.bytes_held + 10 * TWI_CHUNK_BYTES);
        world_close(&w);
    }
}

/* Starts a timer into a bucket with `others`, cancels it and starts it again;
 * true if it has the same slot then. */
static bool is_taken_back(uint64_t tick, size_t others, uint64_t ticks,
                          uint64_t earlier)
{
    static world w;
    static probe first, leaves, p[2 * TWI_SLOTS];
    memset(p, 0, sizeof p);
    world_open(&w, tick, 256, 0);
    world_add(&w, &first, tick * earlier);
    for (size_t i = 0; i < others; i++)
        world_add(&w, &p[i], tick * (600 + i % ticks));
    world_add(&w, &leaves, tick * 600);
    uintptr_t place = leaves.timer.place;
    CHECK(world_cancel(&w, &leaves));
    world_add(&w, &leaves, tick * 600);
    bool is_same = leaves.timer.place == place;
    CHECK(world_exhaust(&w));
    world_close(&w);
    return is_same;
}

/* A timer that is cancelled right after its start leaves no empty slot, however
 * it was started; but where its chunk is full then, or its bucket is the first
 * one (and not empty then, since that is made new). */
static void slots_are_taken_back(void)
{
    for (uint64_t tick = 1; tick <= 10; tick += 9)
        for (uint64_t ticks = 1; ticks <= 3; ticks++)
            for (size_t others = 0; others <= 2 * TWI_SLOTS; others++) {
                bool fills = others % TWI_SLOTS == TWI_SLOTS - 1;
                CHECK(is_taken_back(tick, others, ticks, 300) == !fills);
                CHECK(is_taken_back(tick, others, ticks, 5) == (others == 0));
            }
}

/* The last timer was started last of all, and is cancelled after the others of
 * its bucket, which is the first one: that is empty then. */
static void last_of_the_first_bucket(void)
{
    for (size_t others = 1; others <= TWI_SLOTS + 1; others++) {
        static world w;
        static probe p[TWI_SLOTS + 1], last;
        memset(p, 0, sizeof p);
        world_open(&w, 1, 256, 0);
        for (size_t i = 0; i < others; i++)
            world_add(&w, &p[i], 600 + i);
        world_add(&w, &last, 700);
        for (size_t i = 0; i < others; i++)
            CHECK(world_cancel(&w, &p[i]));
        CHECK(world_cancel(&w, &last) && !twi_is_queued(w.wheel.wheels[1]));
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

/* The wheel into which the last timer was started is given back. */
static void last_home_given_back(void)
{
    static world w;
    static probe stays, last;
    world_open(&w, 1, 256, 0);
    world_add(&w, &stays, 600);
    world_add(&w, &last, 100000);
    CHECK(world_cancel(&w, &last));
    CHECK(w.wheel.last_home != NULL);
    tw_trim(&w.wheel);
    CHECK(w.wheel.last_home == NULL && w.wheel.wheels[2] == NULL);
    CHECK(world_cancel(&w, &stays));
    world_close(&w);
}

/* Fills a chunk of the bucket of ticks 512 to 767, and one slot of another, by
 * starts at two ticks in turn. */
static void fill_span(world *w, probe *p, uint64_t one, uint64_t other)
{
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        world_add(w, &p[i], i % 2 == 0 ? one : other);
}

/* Starts look at the span of their bucket first after one was as long as its
 * step, or lacked 3 ticks of 256, when it had filled a chunk; until one lacks
 * more then, or another wheel is the usual one. */
static void spans_are_noted(void)
{
    static world w;
    static probe p[4][TWI_SLOTS + 1], first, earlier, far[TWI_SLOTS + 1], last;
    memset(p, 0, sizeof p);
    world_open(&w, 1, 256, 0);
    world_add(&w, &first, 300);
    fill_span(&w, p[0], 512, 767);
    CHECK(w.wheel.span_above == 255);
    fill_span(&w, p[1], 768, 1023 - 4);
    CHECK(w.wheel.usual_above == 255 && w.wheel.span_above == UINT64_MAX);
    fill_span(&w, p[2], 1279 - 3, 1024);
    CHECK(w.wheel.span_above == 255);
    world_add(&w, &earlier, 290); /* for this alone it takes all of tw_start */
    CHECK(w.wheel.span_above == 255);
    world_add(&w, &far[0], 100000); /* the first of its wheel */
    CHECK(w.wheel.usual == NULL && w.wheel.span_above == UINT64_MAX);
    fill_span(&w, p[3], 1535, 1280);
    CHECK(w.wheel.span_above == 255);
    for (size_t i = 1; i <= TWI_SLOTS; i++) /* in its only bucket */
        world_add(&w, &far[i], 100000);
    CHECK(w.wheel.usual_above == 255 && w.wheel.span_above == 255);
    world_add(&w, &last, 200000);
    CHECK(w.wheel.usual_above == 65535 && w.wheel.span_above == UINT64_MAX);
    CHECK(world_exhaust(&w));
    world_close(&w);
}

/* The same where a tick is ten time units: there starts work out their tick. */
static void spans_of_long_ticks(void)
{
    static world w;
    static probe p[TWI_SLOTS + 1], first;
    memset(p, 0, sizeof p);
    world_open(&w, 10, 256, 0);
    world_add(&w, &first, 3000);
    fill_span(&w, p, 5120, 7670);
    CHECK(w.wheel.usual == NULL && w.wheel.span_above == UINT64_MAX);
    CHECK(world_exhaust(&w));
    world_close(&w);
}

/* Starts in a bucket with the span 900 to 1000, one before, at each end of,
 * within and behind that; and again where its chunk is full. */
static void starts_about_a_span(void)
{
    static const uint64_t ticks[] = {900, 1000, 950, 899, 1001, 1023, 768};
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++)
        for (size_t others = 2; others <= 2 * TWI_SLOTS; others++) {
            static world w;
            static probe p[TWI_SLOTS + 1], q[2 * TWI_SLOTS], first, last;
            memset(p, 0, sizeof p);
            memset(q, 0, sizeof q);
            world_open(&w, 1, 256, 0);
            world_add(&w, &first, 300);
            for (size_t k = 0; k < others; k++)
                world_add(&w, &q[k], 900 + k % 2 * 100);
            fill_span(&w, p, 512, 767);
            CHECK(w.wheel.span_above == 255);
            world_add(&w, &last, ticks[i]);
            CHECK(tw_check(&w.wheel));
            CHECK(world_exhaust(&w));
            world_close(&w);
        }
}

/* A bucket of which all timers were cancelled has its span still, and is the
 * only one of its wheel but the first. */
static void span_of_an_empty_bucket(void)
{
    static world w;
    static probe p[TWI_SLOTS + 1], first, last;
    memset(p, 0, sizeof p);
    world_open(&w, 1, 256, 0);
    world_add(&w, &first, 300);
    fill_span(&w, p, 512, 767);
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        CHECK(world_cancel(&w, &p[i]));
    CHECK(w.wheel.span_above == 255);
    world_add(&w, &last, 600);
    CHECK(tw_check(&w.wheel) && world_cancel(&w, &last));
    CHECK(world_cancel(&w, &first) && !twi_is_queued(w.wheel.wheels[1]));
    world_add(&w, &last, 600); /* there is no span any more */
    CHECK(tw_check(&w.wheel) && world_exhaust(&w));
    world_close(&w);
}

/* Leaves a bucket empty, but with a chunk that is cut off a slab; and another
 * with a timer in its own chunk and none in the one behind it. */
static void hold_chunks_for_nothing(world *w, probe *p, uint64_t tick)
{
    const size_t slots = TWI_SLOTS;
    for (size_t i = 0; i <= slots; i++)
        world_add(w, &p[i], tick);
    for (size_t i = slots + 1; i <= 2 * slots + 1; i++)
        world_add(w, &p[i], tick + 1);
    for (size_t i = 0; i <= 2 * slots; i++)
        CHECK(world_cancel(w, &p[i == slots + 1 ? 2 * slots + 1 : i]));
}

static void cancel_it(tw_timer *timer, void *context)
{
    CHECK(world_cancel((world *)context, (probe *)timer));
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

/* Adds timers for a tick, more than one chunk of them, and cancels all: their
 * bucket holds a chunk for nothing. */
static void hold_a_chunk(world *w, uint64_t tick)
{
    static probe p[TWI_SLOTS + 1];
    memset(p, 0, sizeof p);
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        world_add(w, &p[i], tick);
    for (size_t i = 0; i <= TWI_SLOTS; i++)
        CHECK(world_cancel(w, &p[i]));
}

/* What is held for nothing is there for sorting, too. */
static void sort_in_chunks_held(void)
{
    static world w;
    static probe overdue[4], first;
    memset(overdue, 0, sizeof overdue);
    world_open(&w, 1, 256, 10);
    CHECK(tw_reserve(&w.wheel, 20, 265) == TW_OK);
    size_t calls = w.mem.calls;
    for (uint64_t i = 0; i < 4; i++)
        world_add(&w, &overdue[i], 7 - i);
    world_add(&w, &first, 15);
    for (uint64_t tick = 20; tick < 200 && twi_spare(&w.wheel, 4) >= 4; tick++)
        hold_a_chunk(&w, tick);
    CHECK(twi_spare(&w.wheel, 4) < 4);
    CHECK(world_limited(&w, 10, 1) == 1);
    CHECK(!w.wheel.unsorted[TWI_OWED] && w.mem.calls == calls);
    CHECK(world_exhaust(&w));
    world_close(&w);
}

/* Wherever a bucket is, tw_trim finds the chunk that it holds for nothing. */
static void trimmed_everywhere(void)
{
    static const uint64_t ticks[] = {255, 256, 1000, 100000};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        static world w;
        static probe first;
        world_open(&w, 1, 256, 1);
        world_add(&w, &first, ticks[i] - 2);
        hold_a_chunk(&w, ticks[i] + (i > 1 ? 2000 : 0));
        CHECK(w.wheel.chunks != 0);
        tw_trim(&w.wheel);
        CHECK(w.wheel.chunks == 0);
        CHECK(world_exhaust(&w));
        world_close(&w);
    }
}

/* Where timers are few all are in their buckets' own chunks: when they were
 * started there after others had fired, and when they came down there. */
static void own_chunks_suffice(void)
{
    static world w;
    static probe p[TWI_RUN + TWI_SLOTS + 1];
    const size_t crowd = TWI_RUN + TWI_SLOTS + 1;
    tw_stats stats;
    memset(p, 0, sizeof p);
    world_open(&w, 1, 256, 0);
    world_add(&w, &p[0], 100);
    CHECK(world_advance(&w, 100) == 1);
    for (size_t i = 0; i < TWI_SLOTS; i++)
        world_add(&w, &p[i], 356);
    CHECK(w.wheel.chunks == 0);
    CHECK(world_exhaust(&w));
    for (size_t i = 0; i < crowd; i++)
        world_add(&w, &p[i], 1024 + i % 250);
    CHECK(world_advance(&w, 1024) != 0);
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.cascaded != 0);
    CHECK(stats.bytes_used == 2 * twi_wheel_bytes(&w.wheel));
    CHECK(world_exhaust(&w));
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

/* A chunk may wait for more timers after its last one was cancelled. But it
 * counts as unused, and is used, given back or done without when need be. */
static void chunks_held_for_nothing(void)
{
    static world w;
    static probe first, p[2 * TWI_SLOTS + 2];
    tw_stats before, after;
    memset(p, 0, sizeof p);
    world_open(&w, 1, 256, 0);
    CHECK(tw_reserve(&w.wheel, 2 * TWI_SLOTS + 3, 255) == TW_OK);
    world_add(&w, &first, 10);
    tw_get_stats(&w.wheel, &before);
    for (uint64_t tick = 20; tick < 200; tick += 2) {
        hold_chunks_for_nothing(&w, p, tick);
        tw_get_stats(&w.wheel, &after);
        CHECK(after.bytes_used == before.bytes_used && after.buckets == 2);
        CHECK(world_cancel(&w, &p[TWI_SLOTS + 1]));
        tw_get_stats(&w.wheel, &after);
        CHECK(after.bytes_used == before.bytes_used && after.buckets == 1);
        CHECK(after.bytes_held == before.bytes_held);
    }
    CHECK(w.wheel.reserved);
    tw_trim(&w.wheel);
    CHECK(!w.wheel.reserved);
    w.mem.sticky = true;
    for (uint64_t tick = 100; tick < 200; tick += 2) {
        w.mem.fail_at = tick >= 110 ? 1 : 0;
        hold_chunks_for_nothing(&w, p, tick);
        CHECK(world_cancel(&w, &p[TWI_SLOTS + 1]));
    }
    w.mem.fail_at = 0;
    hold_chunks_for_nothing(&w, p, 200);
    tw_trim(&w.wheel);
    CHECK(w.mem.blocks == 1 && w.wheel.chunks == 0);
    CHECK(tw_check(&w.wheel));
    CHECK(world_exhaust(&w));
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

static void count_visit(tw_timer *timer, void *context)
{
    size_t *visited = (size_t *)context;
    CHECK(tw_is_pending(timer));
    ++*visited;
}

static void count_idle(tw_timer *timer, void *context)
{
    size_t *visited = (size_t *)context;
    CHECK(tw_timer_state(timer) == TW_IDLE);
    ++*visited;
}

static void drain_world(world *w)
{
    size_t visited = 0, pending = w->count;
    CHECK(tw_drain(&w->wheel, count_idle, &visited) == pending);
    CHECK(visited == pending);
    while (w->head != NULL)
        oracle_remove(w, w->head);
    world_compare(w);
}

/* What stands still while the others run: looks, trims, polls and drains. */
static void look_around(world *w, uint64_t *seed)
{
    size_t visited = 0;
    tw_stats stats;
    tw_get_stats(&w->wheel, &stats);
    CHECK(stats.pending == w->count && stats.fired == w->fired);
    CHECK(stats.buckets <= stats.pending);
    CHECK((stats.buckets != 0) == (stats.pending != 0));
    CHECK(stats.bytes_used <= stats.bytes_held);
    CHECK(tw_foreach(&w->wheel, count_visit, &visited) == w->count);
    CHECK(visited == w->count);
    switch (draw_below(seed, 4)) {
    case 0:
        drain_world(w);
        break;
    case 1:
        tw_trim(&w->wheel);
        world_compare(w);
        break;
    default:
        world_poll(w, w->clock + draw_below(seed, 40));
        break;
    }
}

/* Every kind of call on small wheels, which notices most in the least time. */
static void short_random_runs(void)
{
    static const uint32_t sizes[] = {2, 4, 16, 256};
    uint64_t seed = 1;
    for (size_t round = 0; round < 16; round++) {
        static world w;
        static probe probes[40];
        memset(probes, 0, sizeof probes);
        world_open(&w, round % 3 == 2 ? 7 : 1, sizes[round % 4], round * 50);
        for (int i = 0; i < 120; i++) {
            world_random(&w, probes, 40, &seed, 4 + (unsigned)round % 9);
            if (i % 8 == 7)
                look_around(&w, &seed);
            CHECK(w.wheel.walk == NULL && !w.wheel.advancing);
            if (tap_failed_checks != 0)
                return;
        }
        world_close(&w);
    }
}

/* A bucket's span is that of its timers where none was cancelled or moved. */
static void check_span(const timingwheel *tw, const twi_bucket *bucket)
{
    uint64_t earliest = UINT64_MAX, latest = 0;
    if (twi_is_empty(bucket))
        return;
    for (twi_chunk *chunk = bucket->head; chunk != NULL; chunk = chunk->next)
        for (unsigned i = chunk->first; i < twi_end(bucket, chunk); i++) {
            if (chunk->slots[i] == NULL)
                continue;
            uint64_t tick = recorder_ceil(chunk->slots[i]->deadline, tw->tick);
            earliest = tick < earliest ? tick : earliest;
            latest = tick > latest ? tick : latest;
        }
    CHECK(bucket->earliest == earliest);
    CHECK(bucket->latest == latest);
}

/* The timers outside of the wheels are marked unsorted if they are. */
static void check_order(const timingwheel *tw, unsigned aside)
{
    uint64_t last = 0;
    bool sorted = true;
    const twi_bucket *bucket = &tw->aside[aside];
    for (twi_chunk *chunk = bucket->head; chunk != NULL; chunk = chunk->next)
        for (unsigned i = chunk->first; i < chunk->end; i++) {
            if (chunk->slots[i] == NULL)
                continue;
            uint64_t tick = recorder_ceil(chunk->slots[i]->deadline, tw->tick);
            sorted &= tick >= last;
            last = tick;
        }
    if (bucket->head != NULL)
        CHECK(tw->unsorted[aside] == !sorted);
}

static void check_spans(const timingwheel *tw)
{
    for (unsigned level = 0; level < TWI_LEVELS; level++)
        if (tw->wheels[level] != NULL)
            for (size_t i = 0; i <= tw->size_mask; i++)
                check_span(tw, twi_bucket_at(tw->wheels[level], i));
    for (unsigned i = 0; i < TWI_ASIDES; i++) {
        check_span(tw, &tw->aside[i]);
        check_order(tw, i);
    }
}

/* Starts another timer, ahead of its own tick or overdue. */
static void start_other(probe *p)
{
    world *w = p->world;
    uint64_t deadline = w->clock + p->value % 50;
    deadline -= deadline < 25 ? deadline : 25;
    if (!p->other->pending)
        world_add(w, p->other, deadline);
}

static void spans_are_exact(void)
{
    static const uint32_t sizes[] = {2, 4, 16, 64};
    uint64_t seed = 2;
    for (size_t round = 0; round < 12; round++) {
        static world w;
        static probe probes[100];
        memset(probes, 0, sizeof probes);
        world_open(&w, round % 3 == 2 ? 7 : 1, sizes[round % 4], 1000);
        for (int i = 0; i < 150; i++) {
            probe *p = &probes[draw_below(&seed, 100)];
            uint64_t ahead = draw_length(&seed, 4 + (unsigned)round % 7);
            p->then = draw_below(&seed, 2) == 0 ? start_other : NULL;
            p->other = &probes[draw_below(&seed, 100)];
            p->value = draw(&seed);
            if (draw_below(&seed, 8) == 0)
                world_advance(&w, w.clock + ahead);
            else if (!p->pending)
                world_add(&w, p, w.clock - 20 % (p->value % 8 + 1) + ahead);
            check_spans(&w.wheel);
            if (tap_failed_checks != 0)
                return;
        }
        world_close(&w);
    }
}

/* --------------------------------------------------- where timers stand --- */

#define CROWD (TWI_RUN + 7)

/* A crowd comes down at 1036. Wheel 1 has a timer for `older`, which is none of
 * the crowd's ticks, or had one that was cancelled, or (0) is not there: all go
 * to wheel 0 at once. */
static void pass_wheel_1(uint64_t older, bool cancelled)
{
    static world w;
    static probe crowd[CROWD + 1], before;
    tw_stats stats;
    memset(crowd, 0, sizeof crowd);
    memset(&before, 0, sizeof before);
    world_open(&w, 1, 16, 0);
    world_add(&w, &crowd[0], 1036);
    for (size_t i = 1; i <= CROWD; i++)
        world_add(&w, &crowd[i], 1046 + i % 2);
    world_advance(&w, 900);
    if (older != 0)
        world_add(&w, &before, older);
    if (cancelled) {
        const twi_bucket *bucket = &w.wheel.wheels[1]->buckets[older / 16 % 16];
        CHECK(world_cancel(&w, &before));
        CHECK(bucket->earliest == UINT64_MAX && bucket->latest == 0);
    }
    CHECK(world_advance(&w, 1036) == 1);
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.wheels == (older != 0 ? 3 : 2));
    CHECK(stats.cascaded == CROWD + 1);
    CHECK(world_exhaust(&w));
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.cascaded == CROWD + 1);
    world_close(&w);
}

static void no_needless_stop(void)
{
    pass_wheel_1(1042, false);
    pass_wheel_1(1050, false);
    pass_wheel_1(1050, true);
    pass_wheel_1(0, false);
}

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

/* A timer that was postponed to the tick which has the number of the clock's
 * reading does not stay in its bucket. */
static void postponed_to_the_reading(void)
{
    static world w;
    static probe due, postponed;
    world_open(&w, 2, 256, 0);
    world_add(&w, &due, 200);
    world_add(&w, &postponed, 200);
    world_postpone(&w, &postponed, 400);
    CHECK(world_advance(&w, 200) == 1);
    CHECK(w.wheel.nonempty_aside == 0);
    CHECK(world_advance(&w, 399) == 0);
    CHECK(world_advance(&w, 400) == 1);
    world_close(&w);
}

/* Thirteen timers fit into a bucket's own chunk, also when it is used again,
 * by whichever way they come. */
static void own_chunk_is_filled(void)
{
    static world w;
    static probe probes[TWI_SLOTS];
    memset(probes, 0, sizeof probes);
    world_open(&w, 1, 256, 0);
    for (uint64_t round = 0; round < 6; round++) {
        for (size_t i = 0; i < TWI_SLOTS; i++)
            world_add(&w, &probes[i], 100 + round / 2 * 5);
        CHECK(w.wheel.slabs == NULL && w.mem.calls == 1);
        if (round % 2 == 0)
            for (size_t i = 0; i < TWI_SLOTS; i++)
                CHECK(world_cancel(&w, &probes[i]));
        else
            world_advance(&w, 100 + round / 2 * 5);
    }
    world_close(&w);
}

/* A limit is used up to the last timer: of a crowd, by cascading. */
static void limit_is_used_up(void)
{
    static world w;
    static probe crowd[CROWD];
    tw_stats stats;
    memset(crowd, 0, sizeof crowd);
    world_open(&w, 1, 16, 0);
    for (uint64_t i = 0; i < CROWD; i++)
        world_add(&w, &crowd[i], 1030 + i % 5);
    for (uint64_t i = 1; i <= 4; i++) {
        CHECK(world_limited(&w, 1030, 1) == 0);
        tw_get_stats(&w.wheel, &stats);
        CHECK(stats.cascaded == i);
    }
    CHECK(world_finish(&w, 2000, 3));
    CHECK(w.count == 0);
    world_close(&w);
}

/* ------------------------------------------------------------- deferred --- */

static tw_timer deferred[30], *postponed_one;
static uint64_t fired_at[30], postponed_to;

static void note_fired(timingwheel *tw, tw_timer *timer)
{
    fired_at[timer - deferred] = tw_now(tw);
}

static void start_deferred(timingwheel *tw, tw_timer *timer)
{
    (void)timer;
    for (int i = 1; i < 30; i++) {
        tw_timer_init(&deferred[i], note_fired);
        CHECK(tw_start(tw, &deferred[i], i % 2 == 0 ? 5 : 50) == TW_OK);
    }
    CHECK(tw_cancel(tw, postponed_one - 1));
    CHECK(tw_postpone(tw, postponed_one, postponed_to) == TW_OK);
    CHECK(tw_postpone(tw, &deferred[0], 6) == TW_OK);
}

/* Of many timers started overdue by a callback one is put off to a tick within
 * the same call, wherever it stands, and then an overdue one too. */
static void deferred_and_postponed(void)
{
    for (int i = 2; i < 30; i++) {
        static world w;
        timingwheel *tw = &w.wheel;
        tw_timer trigger = TW_TIMER_INIT(start_deferred);
        world_open(&w, 1, 256, 50);
        memset(fired_at, 0, sizeof fired_at);
        postponed_one = &deferred[i];
        postponed_to = i % 2 == 0 ? 51 : 150;
        tw_timer_init(&deferred[0], note_fired);
        tw_start(tw, &trigger, 1);
        tw_start(tw, &deferred[0], 5);
        CHECK(tw_advance_clock(tw, 200) == 3);
        CHECK(fired_at[i] == postponed_to && tw_count(tw) == 27);
        CHECK(tw_check(tw));
        CHECK(tw_advance_clock(tw, 200) == 27);
        world_close(&w);
    }
}

static probe late[3];

static void start_late(probe *p)
{
    for (uint64_t i = 0; i < 3; i++)
        world_add(p->world, &late[i], 20 + 10 * i);
    world_postpone(p->world, &late[0], 70);
}

/* Deferred and then postponed within the past, a timer fires in its place. */
static void deferred_and_out_of_order(void)
{
    for (uint64_t tick = 1; tick <= 10; tick += 9) {
        static world w;
        static probe trigger;
        memset(late, 0, sizeof late);
        memset(&trigger, 0, sizeof trigger);
        trigger.then = start_late;
        world_open(&w, tick, 256, 0);
        world_add(&w, &trigger, 100);
        CHECK(world_advance(&w, 100) == 1);
        CHECK(w.wheel.unsorted[TWI_OWED]);
        CHECK(world_advance(&w, 100) == 3);
        CHECK(late[1].fired_as == 2 && late[0].fired_as == 4);
        world_close(&w);
    }
}

/* Appends what is deferred to what is owed; what that says of itself is true.
 * Each row: ticks owed, and ticks deferred. */
static void appended_spans(void)
{
    static const uint64_t rows[][4] = {
        {10, 10, 30, 30}, {30, 30, 10, 10}, {10, 50, 20, 20}, {10, 10, 20, 40},
        {10, 20, 20, 20}, {20, 20, 20, 20}, {20, 30, 10, 30}, {10, 30, 20, 50},
        {30, 10, 40, 40}, {10, 20, 40, 30},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        static world w;
        static probe p[4];
        memset(p, 0, sizeof p);
        world_open(&w, 1, 256, 100);
        world_add(&w, &p[0], 5);
        world_add(&w, &p[1], 3);
        CHECK(world_cancel(&w, &p[0]) && world_cancel(&w, &p[1]));
        CHECK(w.wheel.unsorted[TWI_OWED]); /* of nothing */
        for (int i = 0; i < 4; i++) {
            w.wheel.advancing = i >= 2; /* as inside a callback */
            world_add(&w, &p[i], rows[row][i]);
        }
        twi_end_call(&w.wheel);
        CHECK(w.wheel.aside[TWI_DEFERRED].head == NULL);
        CHECK(w.wheel.nonempty_aside == 1);
        check_span(&w.wheel, &w.wheel.aside[TWI_OWED]);
        check_order(&w.wheel, TWI_OWED);
        CHECK(tw_check(&w.wheel));
        CHECK(world_advance(&w, 100) == 4);
        world_close(&w);
    }
}

/* -------------------------------------------------------------- memory --- */

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
    size_t calls = w.mem.calls;
    CHECK(world_advance(&w, 101) == 0);
    CHECK(w.mem.calls == calls);
    world_close(&w);
}

/* Timers that cannot be moved for want of memory are owed from the bucket's own
 * chunk. Its wheel is not trimmed away, and the chunk comes back to it. */
static void own_chunk_aside(uint64_t tick, size_t count)
{
    static world w;
    static probe p[2 * TWI_SLOTS];
    memset(p, 0, sizeof p);
    world_open(&w, 1, 256, 10);
    for (size_t i = 0; i < count; i++)
        world_add(&w, &p[i], tick);
    for (size_t i = 0; i < count; i++)
        world_postpone(&w, &p[i], 100000 - i);
    w.mem.fail_at = 1;
    w.mem.sticky = true;
    CHECK(world_advance(&w, tick) == 0);
    twi_bucket *bucket = &w.wheel.wheels[0]->buckets[tick % 256];
    CHECK(bucket->head == NULL);
    CHECK(w.wheel.aside[TWI_OWED].head != NULL);
    CHECK(w.wheel.unsorted[TWI_OWED] || count == 1);
    tw_stats stats;
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.buckets == 1);
    tw_trim(&w.wheel);
    if (CHECK(w.wheel.wheels[0] != NULL)) {
        for (size_t i = 0; i < count && i < TWI_SLOTS; i++)
            CHECK(world_cancel(&w, &p[i]));
        CHECK(bucket->head == &w.wheel.wheels[0]->own[tick % 256]);
        CHECK(w.wheel.wheels[0]->own[tick % 256].level == 0);
        CHECK(w.wheel.wheels[0]->own[tick % 256].live == TWI_SLOTS);
        CHECK(world_exhaust(&w));
    }
    tw_trim(&w.wheel);
    CHECK(w.mem.blocks == 0);
    world_close(&w);
}

static void own_chunks_aside(void)
{
    static const uint64_t ticks[] = {11, 255, 256, 264, 265};
    for (size_t i = 0; i < 5; i++) {
        own_chunk_aside(ticks[i], 1);
        own_chunk_aside(ticks[i], 2);
        own_chunk_aside(ticks[i], TWI_SLOTS + 2);
    }
}

/* A reserve of long ticks has every wheel up to its horizon, also above ones
 * that were there. */
static void reserve_of_long_ticks(void)
{
    static const uint64_t horizons[] = {0, 1, 3, 4, 15, 16, 17, 63, 64, 100};
    for (uint64_t before = 0; before < 3; before++)
        for (size_t i = 0; i < 10; i++) {
            static world w;
            static probe p[10], early;
            memset(p, 0, sizeof p);
            memset(&early, 0, sizeof early);
            world_open(&w, 1000, 4, 5000000);
            if (before != 0)
                world_add(&w, &early, 5000000 + 4000 * before);
            CHECK(tw_reserve(&w.wheel, 11, 5000000 + 1000 * horizons[i]) ==
                  TW_OK);
            CHECK(w.wheel.wheels[1] != NULL || horizons[i] < 4);
            CHECK(w.wheel.wheels[1] == NULL || horizons[i] > 3 || before != 0);
            size_t calls = w.mem.calls;
            for (uint64_t j = 0; j < 10 && j <= horizons[i]; j++)
                world_add(&w, &p[j], 5000000 + 1000 * (horizons[i] - j));
            CHECK(w.mem.calls == calls);
            CHECK(world_exhaust(&w));
            CHECK(w.mem.calls == calls);
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

/* What wheels take is what the header says, and no more. */
static void bytes_of_a_wheel(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2) {
        static world w;
        static probe p;
        tw_stats stats;
        memset(&p, 0, sizeof p);
        world_open(&w, 1, size, 0);
        size_t a_bucket = TWI_CHUNK_BYTES + sizeof(twi_bucket);
        size_t words = size < 64 ? 1 : size / 64;
        world_add(&w, &p, 1);
        tw_get_stats(&w.wheel, &stats);
        CHECK(stats.wheels == 1 && stats.buckets == 1);
        size_t front = (sizeof(twi_wheel) + TWI_CHUNK_BYTES - 1) /
                       TWI_CHUNK_BYTES * TWI_CHUNK_BYTES;
        CHECK(stats.bytes_used == size * a_bucket + front + words * 8);
        CHECK(stats.bytes_held == stats.bytes_used + TWI_CHUNK_BYTES - 1);
        const unsigned char *wheel = (unsigned char *)w.wheel.wheels[0];
        CHECK(wheel[stats.bytes_used] == 0xA5); /* not written */
        world_close(&w);
    }
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

/* A bucket's mark goes with its last timer, if its chunk was full; and the span
 * of timers at tick 0 is just that. */
static void marks_and_spans(void)
{
    static world w;
    static probe first, p[TWI_SLOTS], zero;
    world_open(&w, 1, 256, 5);
    world_add(&w, &first, 70);
    for (size_t i = 0; i < TWI_SLOTS; i++)
        world_add(&w, &p[i], 80);
    const twi_wheel *wheel = w.wheel.wheels[0];
    CHECK((wheel->marks[1] >> (80 % 64) & 1) == 1);
    for (size_t i = 0; i < TWI_SLOTS; i++)
        CHECK(world_cancel(&w, &p[i]));
    CHECK((wheel->marks[1] >> (80 % 64) & 1) == 0);
    world_add(&w, &zero, 0);
    w.wheel.aside[TWI_OWED].latest = 99;
    twi_measure(&w.wheel, &w.wheel.aside[TWI_OWED]);
    check_span(&w.wheel, &w.wheel.aside[TWI_OWED]);
    world_close(&w);
}

/* Faults of a chunk, a bitmap and a queue that hardly show. */
static void faults_that_hardly_show(void)
{
    static world w;
    static probe p[TWI_SLOTS + 2];
    world_open(&w, 1, 256, 0);
    world_add(&w, &p[0], 100);
    twi_wheel *wheel = w.wheel.wheels[0];
    wheel->own[7].first = 1; /* behind its end: the bucket is empty */
    CHECK(!tw_check(&w.wheel));
    wheel->own[7].first = 0;
    for (size_t i = 1; i < TWI_SLOTS + 2; i++)
        world_add(&w, &p[i], 110);
    wheel->own[110].live |= TWI_WATCHED; /* with another chunk behind it */
    CHECK(!tw_check(&w.wheel));
    wheel->own[110].live %= TWI_WATCHED;
    wheel->marks[1] &= ~(UINT64_C(1) << (110 % 64)); /* not the first bucket */
    CHECK(!tw_check(&w.wheel));
    wheel->marks[1] |= UINT64_C(1) << (110 % 64);
    w.wheel.queue[1] = w.wheel.queue[0]; /* behind the end of the queue */
    wheel->queue_index = 1;
    CHECK(!tw_check(&w.wheel));
    wheel->queue_index = 0;
    w.wheel.queued = 2; /* the same entry twice */
    CHECK(!tw_check(&w.wheel));
    w.wheel.queued = 1;
    CHECK(tw_check(&w.wheel));
    world_close(&w);
}

/* A bucket whose span begins before the clock, in the clock's own step. */
static void span_before_the_clock(void)
{
    static world w;
    static probe p;
    world_open(&w, 1, 16, 0);
    world_add(&w, &p, 108);
    world_advance(&w, 100);
    twi_wheel *wheel = w.wheel.wheels[1];
    wheel->buckets[6].earliest = 97;
    wheel->earliest = 97;
    w.wheel.queue[0].tick = 97;
    CHECK(!tw_check(&w.wheel));
    wheel->buckets[6].earliest = 108;
    wheel->earliest = 108;
    w.wheel.queue[0].tick = 108;
    CHECK(tw_check(&w.wheel));
    world_close(&w);
}

/* An empty chunk outside of the wheels, which should have been given back. */
static void empty_chunk_aside(void)
{
    static world w;
    static probe p;
    world_open(&w, 1, 256, 10);
    world_add(&w, &p, 5);
    twi_chunk *chunk = w.wheel.aside[TWI_OWED].head, was = *chunk;
    chunk->live = TWI_WATCHED;
    chunk->first = 0;
    chunk->end = 0;
    w.wheel.count = 0;
    CHECK(!tw_check(&w.wheel));
    *chunk = was;
    w.wheel.count = 1;
    CHECK(tw_check(&w.wheel));
    world_close(&w);
}

/* A bucket's span is exact after a fire although another timer of it was
 * postponed, and a postponed one of a crowd does not stop the cascade. */
static void spans_after_postponing(void)
{
    static world w;
    static probe p[3], crowd[CROWD];
    tw_stats stats;
    world_open(&w, 1, 16, 0);
    for (uint64_t i = 0; i < 3; i++)
        world_add(&w, &p[i], 100 + i);
    world_postpone(&w, &p[1], 109);
    CHECK(world_advance(&w, 100) == 1);
    twi_bucket *bucket = &w.wheel.wheels[1]->buckets[6];
    CHECK(!twi_is_empty(bucket));
    check_span(&w.wheel, bucket);
    for (uint64_t i = 0; i < CROWD; i++)
        world_add(&w, &crowd[i], 1030 + i % 5);
    world_advance(&w, 500);
    world_postpone(&w, &crowd[10], 5000);
    world_advance(&w, 1030);
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.cascaded == CROWD);
    CHECK(stats.buckets == 5); /* four ticks, and the postponed one */
    CHECK(world_exhaust(&w));
    world_close(&w);
}

/* A few timers of one bucket are sorted when the first of them fires, and only
 * then. */
static void sorted_once(void)
{
    static world w;
    static probe p[5];
    memset(p, 0, sizeof p);
    world_open(&w, 10, 256, 0);
    for (uint64_t i = 0; i < 5; i++)
        world_add(&w, &p[i], 10 * (300 + i * 3 % 5) - i);
    const twi_wheel *wheel = w.wheel.wheels[1];
    CHECK(!wheel->sorted);
    for (uint64_t fired = 1; fired < 5; fired++) {
        CHECK(world_advance(&w, 10 * (299 + fired) + 3) == 1);
        CHECK(wheel->sorted && wheel->buckets[1].head->first == fired);
        for (unsigned i = (unsigned)fired; i < 5; i++)
            CHECK(wheel->ticks[i] == 300 + i);
    }
    CHECK(world_advance(&w, 5000) == 1);
    CHECK(!wheel->sorted);
    world_close(&w);
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

/* Timers of several chunks are sorted when the first of them fires, and anew
 * only if all of a chunk that is not the first are cancelled; the chunks are
 * then full again. None of them cascades. */
static void run_of_chunks(void)
{
    static world w;
    static probe p[57];
    tw_stats stats;
    if (TWI_RUN == TWI_SLOTS)
        return; /* where memory is short there are no runs */
    const twi_wheel *wheel = open_run(&w, p, 57, 2);
    const twi_chunk *head = wheel->buckets[2].head;
    size_t cancelled = 0;
    CHECK(!wheel->sorted);
    CHECK(world_advance(&w, 512) == 2);
    CHECK(wheel->sorted && wheel->is_run);
    CHECK(wheel->noted == 0 && head->first == 2);
    for (unsigned i = 0; i < 57; i++)
        CHECK(twi_noted_tick(&w.wheel, wheel, i) == 512 + i / 2);
    CHECK(head->end == TWI_SLOTS && head->next->live == TWI_SLOTS);
    CHECK(world_advance(&w, 519) == 14);
    CHECK(wheel->sorted && wheel->noted == TWI_SLOTS);
    head = wheel->buckets[2].head;
    CHECK(head->first == 3 && head->prev == NULL);
    for (size_t i = 0; i < TWI_SLOTS; i++) /* the second chunk from here */
        cancelled += world_cancel(&w, (probe *)head->next->slots[i]);
    CHECK(cancelled == TWI_SLOTS && !wheel->sorted);
    CHECK(world_advance(&w, 520) == 2 && wheel->sorted && wheel->noted == 0);
    head = wheel->buckets[2].head;
    for (unsigned i = head->first; i < TWI_SLOTS; i++)
        CHECK(world_cancel(&w, (probe *)head->slots[i])); /* all of the first */
    CHECK(wheel->sorted && wheel->noted == TWI_SLOTS);
    CHECK(world_exhaust(&w));
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.cascaded == 0);
    world_close(&w);
}

/* Ends a round of the next cases: true if timers had cascaded by now. */
static bool ends_cascaded(world *w)
{
    tw_stats stats;
    tw_get_stats(&w->wheel, &stats);
    CHECK(world_exhaust(w));
    world_close(w);
    return stats.cascaded != 0;
}

/* As many timers as there is room for are sorted; one more, or a full chunk
 * more, cascade. */
static void most_of_a_run(void)
{
    static world w;
    static probe p[TWI_RUN + TWI_SLOTS];
    for (size_t more = 0; more <= TWI_SLOTS; more = more == 0 ? 1 : more + 6) {
        open_run(&w, p, TWI_RUN + more, 1 + TWI_RUN / 200);
        world_advance(&w, 512);
        CHECK(ends_cascaded(&w) == (more != 0));
    }
}

/* So do more than a call may handle, but for a short run. */
static void run_beyond_a_limit(void)
{
    static world w;
    static probe p[TWI_SHORT_RUN + 2];
    if (TWI_RUN == TWI_SLOTS)
        return; /* where memory is short there are no runs */
    for (size_t count = TWI_SHORT_RUN; count <= TWI_SHORT_RUN + 2; count++)
        for (size_t less = 0; less < 2; less++) {
            open_run(&w, p, count, 2);
            world_limited(&w, 512, count - less);
            CHECK(ends_cascaded(&w) == (less != 0 && count > TWI_SHORT_RUN));
        }
}

/* Up to 255 of a run are due within eight ticks, in whatever way they are
 * spread over these. */
static void eight_ticks_of_a_run(void)
{
    static world w;
    static probe p[300];
    if (TWI_RUN < 300)
        return; /* where memory is short there are no runs */
    for (size_t ticks = 1; ticks <= 8; ticks++)
        for (size_t count = 255; count <= 256; count++) {
            memset(p, 0, sizeof p);
            world_open(&w, 1, 256, 0);
            for (size_t i = 0; i < count; i++)
                world_add(&w, &p[i], 520 + (i * i + 7 * i) % ticks);
            for (size_t i = count; i < 300; i++)
                world_add(&w, &p[i], i % 2 == 0 ? 519 : 528 + i % 100);
            CHECK(world_advance(&w, 519) == (300 - count) / 2);
            CHECK(ends_cascaded(&w) == (count > 255));
        }
}

/* All are due within the same 256 ticks; if not, they cascade. */
static void ticks_of_a_run(void)
{
    static world w;
    static probe p[TWI_SLOTS + 1];
    for (uint64_t tick = 0x2eff; tick <= 0x2f00; tick++) {
        memset(p, 0, sizeof p);
        world_open(&w, 1, 4096, 0);
        world_add(&w, &p[0], 0x2fff);
        for (size_t i = 1; i <= TWI_SLOTS; i++)
            world_add(&w, &p[i], tick);
        CHECK(world_advance(&w, tick) == TWI_SLOTS);
        CHECK(ends_cascaded(&w) == (tick < 0x2f00 || TWI_RUN == TWI_SLOTS));
    }
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

/* A bucket that spans fewer than 256 ticks is sorted as well. */
static void run_of_a_few_ticks(void)
{
    static world w;
    static probe p[2 * TWI_SLOTS];
    tw_stats stats;
    memset(p, 0, sizeof p);
    world_open(&w, 10, 16, 0);
    for (size_t i = 0; i < 2 * TWI_SLOTS; i++)
        world_add(&w, &p[i], 480 + 10 * (i % 3));
    world_advance(&w, 480);
    CHECK(w.wheel.wheels[1]->sorted || TWI_RUN == TWI_SLOTS);
    CHECK(world_exhaust(&w));
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.cascaded == 0 || TWI_RUN == TWI_SLOTS);
    world_close(&w);
}

/* A bucket's own chunk, when it is left without timers by sorting, is free. */
static void own_chunk_after_a_run(void)
{
    static world w;
    static probe p[3 * TWI_SLOTS];
    const size_t slots = TWI_SLOTS;
    if (TWI_RUN == TWI_SLOTS)
        return; /* where memory is short there are no runs */
    memset(p, 0, sizeof p);
    world_open(&w, 1, 256, 0);
    for (size_t i = 0; i < 2 * slots; i++)
        world_add(&w, &p[i], 600 + i % 3);
    for (size_t i = 0; i < slots; i++) /* the own chunk is free again ... */
        CHECK(world_cancel(&w, &p[i]));
    for (size_t i = 2 * slots; i < 3 * slots; i++)
        world_add(&w, &p[i], 600 + i % 3);
    const twi_wheel *wheel = w.wheel.wheels[1];
    const twi_bucket *bucket = &wheel->buckets[2];
    CHECK(twi_tail(bucket) == &wheel->own[2]); /* ... and comes last */
    for (size_t i = slots; i < 3 * slots; i += 2)
        CHECK(world_cancel(&w, &p[i]));
    world_advance(&w, 600);
    CHECK(twi_has_one_chunk(bucket) && wheel->own[2].live == 0);
    CHECK(world_exhaust(&w));
    world_close(&w);
}

/* Chunks have no gaps, whether they were filled by starts or by cascades. Only
 * the first one that a cascade fills begins in its first line. */
static void chunks_are_filled(void)
{
    for (size_t size = 16; size <= 256; size *= 16) {
        static world w;
        static probe p[TWI_RUN + TWI_SLOTS + 1];
        const size_t crowd = TWI_RUN + TWI_SLOTS;
        const size_t chunks = crowd / TWI_SLOTS;
        tw_stats stats;
        memset(p, 0, sizeof p);
        world_open(&w, 1, (uint32_t)size, 0);
        for (size_t i = 0; i < crowd; i++)
            world_add(&w, &p[i + 1], 1007);
        tw_get_stats(&w.wheel, &stats);
        CHECK(stats.bytes_used ==
              twi_wheel_bytes(&w.wheel) + (chunks - 1) * TWI_CHUNK_BYTES);
        world_add(&w, &p[0], 1005);
        world_advance(&w, 1005);
        tw_get_stats(&w.wheel, &stats);
        CHECK(stats.bytes_used ==
              2 * twi_wheel_bytes(&w.wheel) + chunks * TWI_CHUNK_BYTES);
        CHECK(world_advance(&w, 1007) == crowd);
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
    p->world->mem.fail_at = 1;
    p->world->mem.sticky = true;
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

/* Cuts off all chunks but so many, which become unused ones. */
static void leave_uncut(timingwheel *tw, size_t uncut)
{
    twi_chunk *cut = NULL;
    while (twi_uncut(tw) > uncut) {
        twi_chunk *chunk = twi_any_chunk(tw);
        chunk->next = cut;
        cut = chunk;
    }
    while (cut != NULL) {
        twi_chunk *next = cut->next;
        twi_give_back(tw, cut);
        cut = next;
    }
}

/* Overdue timers, and before them stranded ones in chunks of buckets, which a
 * sort without memory cannot use: it fails, and yet all fire in order. */
static void sort_that_fails(void)
{
    static world w;
    static probe stranded[STRANDED][TWI_SLOTS], overdue[20];
    for (size_t spare = 3; spare <= 5; spare++) {
        memset(stranded, 0, sizeof stranded);
        memset(overdue, 0, sizeof overdue);
        world_open(&w, 1, 256, 10);
        for (size_t i = 0; i < STRANDED; i++)
            for (size_t j = 0; j < TWI_SLOTS; j++) {
                world_add(&w, &stranded[i][j], 20 + i);
                world_postpone(&w, &stranded[i][j], 100000 + i * 37 + j * 11);
            }
        w.mem.fail_at = 1;
        w.mem.sticky = true;
        CHECK(world_advance(&w, 40) == 0);
        w.mem.fail_at = 0;
        for (uint64_t i = 0; i < 20; i++)
            world_add(&w, &overdue[i], i * 7 % 20);
        leave_uncut(&w.wheel, spare);
        w.mem.fail_at = 1;
        CHECK(world_advance(&w, 41) == 20);
        CHECK(world_exhaust(&w));
        world_close(&w);
    }
}

/* What was said of overdue timers that are cancelled is not said of others. */
static void order_is_forgotten(void)
{
    static world w;
    static probe p[4];
    world_open(&w, 1, 256, 100);
    world_add(&w, &p[0], 5);
    world_add(&w, &p[1], 3);
    CHECK(w.wheel.unsorted[TWI_OWED]);
    CHECK(world_cancel(&w, &p[0]) && world_cancel(&w, &p[1]));
    w.wheel.advancing = true; /* as inside a callback */
    world_add(&w, &p[2], 10);
    world_add(&w, &p[3], 20);
    twi_end_call(&w.wheel);
    CHECK(!w.wheel.unsorted[TWI_OWED]);
    CHECK(world_advance(&w, 100) == 2);
    world_close(&w);
}

static tw_timer put_off[3];

static void put_off_all(timingwheel *tw, tw_timer *timer)
{
    (void)timer;
    for (int i = 0; i < 3; i++) {
        CHECK(tw_start(tw, &put_off[i], 5) == TW_OK);
        CHECK(tw_postpone(tw, &put_off[i], 150) == TW_OK);
    }
}

/* Placing deferred timers anew counts as work. */
static void deferred_within_a_limit(void)
{
    static world w;
    tw_timer trigger = TW_TIMER_INIT(put_off_all);
    tw_stats stats;
    memset(put_off, 0, sizeof put_off);
    world_open(&w, 1, 256, 50);
    CHECK(tw_start(&w.wheel, &trigger, 60) == TW_OK);
    CHECK(tw_advance_clock_limit(&w.wheel, 200, 3) == 1);
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.fired == 1 && stats.cascaded == 2);
    CHECK(!w.wheel.revisit && w.wheel.walk == NULL);
    CHECK(tw_advance_clock(&w.wheel, 200) == 3);
    CHECK(tw_count(&w.wheel) == 0);
    world_close(&w);
}

/* Chunks that were given back are as good for sorting as new ones. */
static void sort_in_used_chunks(void)
{
    static world w;
    static probe p[20];
    world_open(&w, 1, 256, 50);
    for (uint64_t i = 0; i < 20; i++)
        world_add(&w, &p[i], i * 7 % 20);
    leave_uncut(&w.wheel, 0);
    size_t calls = w.mem.calls;
    CHECK(world_limited(&w, 50, 3) == 3);
    CHECK(w.mem.calls == calls && !w.wheel.unsorted[TWI_OWED]);
    CHECK(world_advance(&w, 50) == 17);
    world_close(&w);
}

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

/* A slab has a quarter of the chunks that there are. */
static void slabs_are_quarters(void)
{
    static world w;
    static probe p[402 * TWI_SLOTS];
    size_t i = 0;
    world_open(&w, 1, 4, 0);
    w.deep = 0;
    CHECK(tw_reserve(&w.wheel, 395, 3) == TW_OK);
    CHECK(w.wheel.chunks == 400);
    while (w.wheel.chunks == 400 && i < 402 * TWI_SLOTS)
        world_add(&w, &p[i++], 1);
    CHECK(w.wheel.slabs->chunks == 100 && w.wheel.chunks == 500);
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
    w.mem.fail_at = 1;
    w.mem.sticky = true;
    CHECK(world_advance(&w, 820) == 0);
    w.mem.fail_at = 0;
    CHECK(world_advance(&w, 821) == 0);
    w.mem.fail_at = 1;
    CHECK(world_advance(&w, 1400) == 2);
    world_close(&w);
}

static void cancel_and_start(tw_timer *timer, void *context)
{
    timingwheel *tw = (timingwheel *)context;
    CHECK(tw_cancel(tw, timer));
    CHECK(tw_start(tw, timer, 10) == TW_EBUSY);
}

static probe stranded[3];

static void postpone_the_second(probe *self)
{
    world_postpone(self->world, &stranded[1], 90000);
}

/* Three were stranded ahead of the clock, for want of a wheel. The first one's
 * callback postpones the second, which is at their head then, beyond the
 * third: that is the next one all the same. */
static void stranded_and_postponed(void)
{
    static const uint64_t deadlines[] = {10000, 50000, 60000};
    static world w;
    uint64_t next = 0;
    memset(stranded, 0, sizeof stranded);
    world_open(&w, 10, 4, 0);
    CHECK(tw_reserve(&w.wheel, 8, 20) == TW_OK);
    w.mem.fail_at = 1;
    w.mem.sticky = true;
    for (size_t i = 0; i < 3; i++) {
        world_add(&w, &stranded[i], 20);
        world_postpone(&w, &stranded[i], deadlines[i]);
    }
    CHECK(world_advance(&w, 20) == 0);
    CHECK(w.wheel.aside[TWI_OWED].head != NULL);
    stranded[0].then = postpone_the_second;
    CHECK(world_advance(&w, 10000) == 1);
    CHECK(!w.wheel.unsorted[TWI_OWED]);
    CHECK(tw_next_deadline(&w.wheel, &next) && next == 60000);
    CHECK(world_advance(&w, 60000) == 1 && stranded[2].fired == 1);
    CHECK(world_advance(&w, 90000) == 1);
    world_close(&w);
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
        world_add(&w, &p, 20); /* in wheel 2 */
        size_t held = w.wheel.bytes_held, blocks = w.mem.blocks;
        w.mem.fail_at = w.mem.calls + fail_at;
        status = tw_reserve(&w.wheel, 100, 200);
        if (status != TW_OK) {
            CHECK(status == TW_ENOMEM);
            CHECK(w.wheel.bytes_held == held && w.mem.blocks == blocks);
            CHECK(w.wheel.wheels[2] != NULL && w.wheel.wheels[0] == NULL);
        } else {
            CHECK(fail_at == 5); /* wheels 0, 1 and 3, and a slab */
            CHECK(w.wheel.chunks == 105);
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
    {"random operations of all kinds on small wheels", short_random_runs},
    {"a bucket's span is that of its timers", spans_are_exact},
    {"no slab has more chunks than an ordinal can count",
     slabs_fit_their_ordinals},
    {"chunks of cancelled timers are used again", chunks_are_used_again},
    {"slots of timers cancelled at once are taken back", slots_are_taken_back},
    {"the last timer of a wheel's first bucket is cancelled",
     last_of_the_first_bucket},
    {"the last slot of a full chunk is left while its bucket fires",
     last_of_a_full_chunk},
    {"the wheel of the last start is given back", last_home_given_back},
    {"when starts look at spans is noted", spans_are_noted},
    {"starts at long ticks do not look at spans", spans_of_long_ticks},
    {"starts before, at, in and behind a span", starts_about_a_span},
    {"an empty bucket has its span until it is made new",
     span_of_an_empty_bucket},
    {"chunks held for nothing count as unused", chunks_held_for_nothing},
    {"chunks held for nothing are found everywhere", trimmed_everywhere},
    {"chunks held for nothing are of use for sorting", sort_in_chunks_held},
    {"chunks held for nothing may go while others are visited",
     visitor_of_a_chunk_in_front},
    {"where timers are few own chunks suffice", own_chunks_suffice},
    {"few timers never cascade", few_never_cascade},
    {"a limit met in a small bucket leaves the next deadline exact",
     limit_met_in_a_small_bucket},
    {"a cascade stops only where timers of the same tick may be",
     no_needless_stop},
    {"the clock's reading is not taken for its tick", reading_is_no_tick},
    {"postponed to the tick with the number of the clock's reading",
     postponed_to_the_reading},
    {"a bucket's own chunk takes as many timers as it has slots",
     own_chunk_is_filled},
    {"a limit is used up by cascading", limit_is_used_up},
    {"deferred and postponed within the call, wherever it stands",
     deferred_and_postponed},
    {"deferred and postponed within the past", deferred_and_out_of_order},
    {"what is owed knows its span and its order", appended_spans},
    {"cancelled overdue timers are not sorted", no_sort_of_nothing},
    {"a bucket's own chunk comes back from those owed", own_chunks_aside},
    {"a reserve of long ticks has all the wheels", reserve_of_long_ticks},
    {"memory is aligned within its block", aligned_within_its_block},
    {"a wheel takes as many bytes as it should", bytes_of_a_wheel},
    {"a wheel that was destroyed refuses starts", destroyed_is_refused},
    {"spans and cascades where timers were postponed", spans_after_postponing},
    {"a small bucket is sorted once", sorted_once},
    {"a run of several chunks is sorted once", run_of_chunks},
    {"a run has so many timers at most", most_of_a_run},
    {"a run is no longer than a call may handle", run_beyond_a_limit},
    {"a run has up to 255 timers in eight ticks", eight_ticks_of_a_run},
    {"a run is due within the same 256 ticks", ticks_of_a_run},
    {"one of a run is postponed", postponed_in_a_run},
    {"some of a run are postponed by 256 ticks", postponed_by_a_turn},
    {"a bucket of fewer ticks is sorted as a run", run_of_a_few_ticks},
    {"a bucket's own chunk is free after a run", own_chunk_after_a_run},
    {"chunks are filled without gaps", chunks_are_filled},
    {"overdue ticks that differ in their highest bit", sort_by_the_highest_bit},
    {"deferred, postponed and cancelled", deferred_and_cancelled},
    {"deferred and owed in one call", deferred_and_owed},
    {"a sort of overdue timers that fails confuses nothing", sort_that_fails},
    {"placing deferred timers anew is within the limit",
     deferred_within_a_limit},
    {"the order of cancelled timers is forgotten", order_is_forgotten},
    {"sorting makes use of chunks given back", sort_in_used_chunks},
    {"a window in the past has tick 0 for its roundest", window_in_the_past},
    {"a slab has a quarter of the chunks there are", slabs_are_quarters},
    {"stranded before the number of the clock's reading",
     stranded_before_the_reading},
    {"stranded, and postponed by the first of them that fires",
     stranded_and_postponed},
    {"a visitor that cancels the last timer starts none", visitor_of_the_last},
    {"drained timers have no deadline", drained_have_no_deadline},
    {"a reserve succeeds or changes nothing", reserve_or_nothing},
    {"a chunk of another bucket is emptied while timers fire",
     emptied_elsewhere},
    {"an emptied bucket has no mark", marks_and_spans},
    {"tw_check sees faults that hardly show", faults_that_hardly_show},
    {"tw_check sees a span that begins before the clock",
     span_before_the_clock},
    {"tw_check sees an empty chunk among those owed", empty_chunk_aside},
};

int main(int argc, char **argv)
{
    return TAP_RUN(cases, argc, argv);
}
