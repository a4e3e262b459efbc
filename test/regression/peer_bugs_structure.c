/* peer_bugs_structure.c - the bugs of other timers, part 2: cascades, overflow
 * wheels and the delay queue (C), heap and order (D), memory, accounting and
 * portability (I), and five bugs of mutate/bugs.py (V).
 *
 * One case per bug. The case's name has the bug's letter and number. The
 * comment names the reports and the fault. If a V number is missing here, the
 * name of another case has the number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/recorder.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define FAR ((uint64_t)1 << 62)

static const uint32_t sizes[] = {2, 4, 8, 64, 256};

static tw_stats stats_of(const world *w)
{
    tw_stats stats;
    tw_get_stats(&w->wheel, &stats);
    return stats;
}

/* ------------------------------- C: cascade, overflow wheels, delay queue - */

/* Starts `other`, `value` ticks after the tick of the firing timer. */
static void start_other(probe *p)
{
    world_add(p->world, p->other, tw_after(p->fired_at, p->value));
}

/* Plays two timers in a bucket of `span` ticks. When the first timer fires, the
 * timer starts a third timer `laps` turns later, in the same bucket every other
 * time. */
static void play_next_lap(uint32_t size, uint64_t span, uint64_t laps,
                          uint64_t offset)
{
    world w;
    probe a = {0}, b = {0}, c = {0};
    uint64_t bucket = size * span / 2 / span * span + span;
    world_open(&w, 1, size, 0);
    a.then = start_other;
    a.other = &c;
    a.value = laps * size * span - offset;
    world_add(&w, &a, bucket + offset);
    world_add(&w, &b, bucket + span - 1);
    world_sleep(&w, bucket + offset);
    CHECK(tw_is_pending(&c.timer));
    world_sleep(&w, tw_deadline(&c.timer));
    CHECK(w.fired == 3 && w.idle_wakes == 0);
    world_close(&w);
}

/* C1: RussellLuo/timingwheel#53, #54: a timer started for the next lap of the
 * bucket being emptied. The start set a wrong clock, or hung. */
static void c1_same_bucket_next_lap(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t span = 1; span < 5000; span *= sizes[s])
            for (uint64_t laps = 1; laps <= 4; laps++)
                for (uint64_t offset = 0; offset < span; offset += span / 5 + 1)
                    play_next_lap(sizes[s], span, laps, offset);
}

/* C2: RussellLuo/timingwheel#35, #34: a timer was added to a bucket after the
 * emptying, but before the reset of the bucket's mark. The timer was forgotten
 * until the next start. */
static void c2_started_into_a_flushed_bucket(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 1; at < 2 * sizes[s]; at++)
            for (uint64_t delay = 0; delay < 2 * sizes[s] + 2;
                 delay += 1 + sizes[s] / 16) {
                world w;
                probe a = {0}, b = {0};
                world_open(&w, 1, sizes[s], 0);
                a.then = start_other;
                a.other = &b;
                a.value = delay;
                world_add(&w, &a, at);
                world_advance(&w, at);
                CHECK(w.count == 1 && tw_is_pending(&b.timer));
                world_sleep(&w, at + delay);
                CHECK(b.fired == 1 && w.count == 0);
                world_close(&w);
            }
}

/* C3: RussellLuo/timingwheel#29, #41: emptying walked a list and unlinked
 * timers from the list. Only the first timer of the bucket was handled. */
static void c3_only_the_first_of_a_bucket(void)
{
    static const size_t counts[] = {1, 2, 3, 5, 6, 10, 11, 12, 13, 100};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t span = 1; span < 100000; span *= sizes[s])
            for (size_t i = 0; i < 2 * COUNT(counts); i++) {
                world w;
                probe p[100] = {0};
                size_t count = counts[i / 2];
                uint64_t apart = i % 2 ? span / count : 0;
                world_open(&w, 1, sizes[s], 0);
                for (size_t k = 0; k < count; k++)
                    world_add(&w, &p[k], span + k * apart);
                world_advance(&w, span - 1);
                CHECK(w.fired == 0);
                world_sleep(&w, 2 * span);
                CHECK(w.fired == count && w.idle_wakes == 0);
                world_close(&w);
            }
}

/* C4: a model of Kafka's algorithm, vanus-labs/vanus#198: the clock stood still
 * while idle. Then a short timer built five wheels and cascaded three times.
 * The wheels were never given back. */
static void c4_coarse_wheels_after_idling(void)
{
    for (uint64_t idle = 1; idle < FAR; idle *= 10)
        for (unsigned told = 0; told < 2; told++) {
            world w;
            probe p = {0};
            world_open(&w, 1, 8, 0);
            if (told)
                world_advance(&w, idle);
            world_add(&w, &p, idle + 5);
            if (told)
                CHECK(stats_of(&w).wheels == 1);
            world_sleep(&w, idle + 5);
            CHECK(p.fired == 1 && w.wakes == 1);
            CHECK(stats_of(&w).cascaded == 0);
            tw_trim(&w.wheel);
            CHECK(stats_of(&w).wheels == 0 && stats_of(&w).bytes_held == 0);
            CHECK(w.memory.blocks == 0);
            world_add(&w, &p, idle + 10);
            CHECK(stats_of(&w).wheels == 1); /* as on a fresh wheel */
            world_close(&w);
        }
}

/* Starts `count` timers in shuffled order, and jumps over all timers. */
static void play_one_jump(uint32_t size, size_t count, uint64_t reach,
                          uint64_t *seed)
{
    static probe p[200];
    world w;
    memset(p, 0, sizeof p);
    world_open(&w, 1, size, draw_below(seed, 1000));
    for (size_t i = 0; i < count; i++) {
        world_add(&w, &p[i], w.clock + draw_below(seed, reach));
        if (i % 16 == 15)
            world_advance(&w, w.clock + draw_below(seed, reach / 50 + 1));
    }
    world_advance(&w, w.clock + reach);
    CHECK(w.fired == count && w.count == 0);
    world_close(&w);
}

/* C5: a model of Kafka's algorithm: the clock jumped to its target before the
 * buckets were emptied. Coarse buckets ran in the order of their lists. */
static void c5_clock_jumps_before_the_flush(void)
{
    uint64_t seed = 105;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t reach = 50; reach < 10000000; reach *= 11)
            for (unsigned run = 0; run < 8; run++)
                play_one_jump(sizes[s], 200, reach, &seed);
}

/* C6 (V17): linux 1bd04bf6f68d, a model of Kafka's algorithm: two timers had
 * one deadline. The older timer waited in a coarse bucket, and the younger
 * timer went into the fine bucket. The cascade put the older timer behind the
 * younger timer. */
static void c6_equal_deadlines_across_wheels(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t d = 5; d < 1200; d = d * 3 / 2)
            for (uint64_t c1 = 0; c1 < d; c1 += 1 + d / 9)
                for (uint64_t c2 = c1; c2 < d; c2 += 1 + d / 7)
                    for (uint64_t early = 0; early < 4; early++) {
                        world w;
                        probe p[7] = {0};
                        world_open(&w, 1, sizes[s], 0);
                        world_add(&w, &p[0], d);
                        world_add(&w, &p[1], d - early); /* splits the bucket */
                        world_add(&w, &p[2], d);
                        world_advance(&w, c1);
                        world_add(&w, &p[3], d);
                        world_add(&w, &p[4], d + early);
                        world_advance(&w, c2);
                        world_add(&w, &p[5], d);
                        world_add(&w, &p[6], d);
                        world_advance(&w, d + 9);
                        CHECK(w.fired == 7);
                        world_close(&w);
                    }
}

/* C7: a model of Kafka's algorithm, scylladb/seastar#2318: a coarse bucket was
 * due at its start, and the loop woke uselessly once per wheel. */
static void c7_next_deadline_is_a_buckets_start(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t d = 1; d < 3000; d += 7)
            for (uint64_t apart = 0; apart < 3; apart++) {
                world w;
                probe a = {0}, b = {0};
                world_open(&w, 1, sizes[s], 0);
                world_add(&w, &a, d);
                world_add(&w, &b, d + apart);
                world_sleep(&w, d + apart);
                CHECK(w.wakes == (apart == 0 ? 1u : 2u));
                CHECK(w.idle_wakes == 0 && w.fired == 2);
                CHECK(apart != 0 || stats_of(&w).cascaded == 0);
                world_close(&w);
            }
}

/* C8: caffeine 7cc9f1f41, vpp 217c62a53e5: the search for the next deadline
 * read only one wheel. No timer is cancelled here, so the deadline must be
 * exact. */
static void c8_next_deadline_of_all_buckets(void)
{
    uint64_t seed = 108;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned bits = 4; bits <= 40; bits += 6) {
            world w;
            probe p[40] = {0};
            world_open(&w, 1, sizes[s], 77);
            for (unsigned step = 0; step < 400; step++) {
                probe *one = &p[draw_below(&seed, COUNT(p))];
                if (!one->pending)
                    world_add(&w, one, w.clock + draw_length(&seed, bits));
                if (step % 3 == 0)
                    world_advance(&w, w.clock + draw_length(&seed, bits - 2));
                CHECK(!w.stale);
            }
            world_sleep(&w, w.clock + ((uint64_t)2 << bits));
            CHECK(w.count == 0 && w.idle_wakes == 0);
            world_close(&w);
        }
}

/* C9: derived from apache/kafka TimingWheel.java: the interval is multiplied by
 * the size at each wheel. One multiplication too many wraps. */
static void c9_span_of_a_wheel_overflows(void)
{
    static const uint64_t ticks[] = {
        1, 3, 1000, (uint64_t)1 << 40, (uint64_t)1 << 62, UINT64_MAX / 2};
    for (uint32_t size = 2; size <= 4096; size *= 2)
        for (size_t i = 0; i < COUNT(ticks); i++)
            for (uint64_t below = 0; below < 3; below++) {
                world w;
                probe p[3] = {0};
                world_open(&w, ticks[i], size, 0);
                for (uint64_t k = 0; k < 3; k++)
                    world_add(&w, &p[k], UINT64_MAX - below * (k + 1));
                CHECK(stats_of(&w).wheels <= 64);
                world_advance(&w, UINT64_MAX / 2);
                world_advance(&w, UINT64_MAX - 1);
                world_advance(&w, UINT64_MAX);
                for (unsigned k = 0; k < 3; k++) {
                    bool reached = p[k].tick <= UINT64_MAX / ticks[i];
                    CHECK(p[k].fired == reached);
                    CHECK(tw_is_pending(&p[k].timer) == !reached);
                }
                world_close(&w);
            }
}

/* C10 (V20): apache/kafka, libevent/libevent#1727: all timers of a bucket were
 * cancelled, and the bucket stayed in the queue. The loop woke uselessly. Here
 * one useless wake-up is allowed. */
static void c10_cancelled_bucket_stays_queued(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t d = 1; d < 2000; d = d * 2 + 1)
            for (size_t count = 1; count <= 12; count++)
                for (size_t first = 0; first < count; first += 2) {
                    world w;
                    probe p[12] = {0}, later = {0};
                    world_open(&w, 1, sizes[s], 0);
                    world_add(&w, &later, d + 100000);
                    for (size_t i = 0; i < count; i++)
                        world_add(&w, &p[i], d);
                    for (size_t i = 0; i < count; i++)
                        world_cancel(&w, &p[(first + i) % count]);
                    CHECK(stats_of(&w).buckets == 1);
                    world_add(&w, &p[0], d + sizes[s]); /* the next lap of the
                                                         * bucket */
                    world_compare(&w);
                    world_sleep(&w, d + 100000);
                    CHECK(w.fired == 2 && w.idle_wakes <= 1);
                    CHECK(w.wakes == 2 + w.idle_wakes);
                    world_close(&w);
                }
}

/* C11: tokio-rs/tokio#6584, h2o timerwheel.c: a timer beyond the horizon was
 * put back into the bucket being emptied, and emptying never ended. Here:
 * timers whole turns ahead, some of them postponed by whole turns. */
static void c11_put_back_into_the_bucket_being_emptied(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t turn = sizes[s]; turn < FAR / sizes[s] / 4;
             turn *= sizes[s])
            for (unsigned postponed = 0; postponed < 8; postponed++) {
                world w;
                probe p[8] = {0};
                world_open(&w, 1, sizes[s], 3);
                for (uint64_t i = 0; i < 8; i++)
                    world_add(&w, &p[i], 3 + (i / 4 + 1) * turn + i % 2);
                for (uint64_t i = 0; i < postponed; i++)
                    world_postpone(&w, &p[i], tw_deadline(&p[i].timer) + turn);
                world_sleep(&w, 10 + 4 * turn);
                CHECK(w.fired == 8 && w.count == 0);
                world_close(&w);
            }
}

/* C12: h2o timerwheel.c: a timer cascaded to its own bucket when the clocks of
 * the wheels disagreed. Here tw_check runs after each timer handled. */
static void c12_cascade_to_its_own_bucket(void)
{
    uint64_t seed = 112;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t phase = 0; phase < 40; phase++) {
            world w;
            probe p[30] = {0};
            world_open(&w, 1, sizes[s], phase * 7);
            for (size_t i = 0; i < COUNT(p); i++)
                world_add(&w, &p[i], w.clock + draw_length(&seed, 14));
            uint64_t end = w.clock + 40000;
            CHECK(world_finish(&w, end, 1)); /* world_compare runs tw_check */
            CHECK(w.fired == COUNT(p));
            world_close(&w);
        }
}

/* Plays a scenario with a memory failure at the k-th allocation. A refused
 * start changes nothing. All timers are started again afterwards. Returns true
 * if the allocation was reached. */
static bool play_out_of_memory(size_t k, bool for_ever)
{
    world w;
    probe p[24] = {0};
    world_open(&w, 1, 4, 0);
    w.memory.fail_at = k;
    w.memory.for_ever = for_ever;
    for (uint64_t i = 0; i < 48; i++) { /* each is started, then moved */
        probe *one = &p[i % 24];
        uint64_t deadline = w.clock + (i * i * i * 37) % 70000;
        uint64_t before = tw_deadline(&one->timer);
        size_t buckets = stats_of(&w).buckets;
        int status = world_start(&w, one, deadline);
        CHECK(status == TW_OK || status == TW_ENOMEM);
        if (status == TW_ENOMEM) {
            CHECK(tw_deadline(&one->timer) == before);
            CHECK(stats_of(&w).buckets == buckets);
        }
        w.stale = w.count != 0; /* a cascade may have been cut short */
        if (i % 8 == 7)
            world_advance(&w, w.clock + i * 9);
    }
    bool failed = k != 0 && w.memory.calls >= k;
    w.memory.fail_at = 0;
    for (size_t i = 0; i < 24; i++)
        world_add(&w, &p[i], w.clock + 5 + i);
    CHECK(world_exhaust(&w) && tw_check(&w.wheel));
    world_close(&w);
    return failed;
}

/* C13 (V22): derived: memory runs out while an overflow wheel or a bucket is
 * made. The start is refused, and a pending timer stays pending. */
static void c13_out_of_memory_for_a_wheel(void)
{
    size_t injected = 0;
    for (unsigned for_ever = 0; for_ever < 2; for_ever++)
        for (size_t k = 1; play_out_of_memory(k, for_ever != 0); k++)
            injected++;
    CHECK(injected >= 6);
    CHECK(!play_out_of_memory(0, false));
}

/* ----------------------------------------------------- D: heap and order -- */

/* Fills the longest delay queue: wheels of two steps, one entry per wheel. The
 * clock moves in between, so that coarse entries become early entries. */
static size_t fill_queue(world *w, probe *p, size_t count, uint64_t seed)
{
    world_open(w, 1, 2, 0);
    for (size_t i = 0; i < count; i++) {
        world_add(w, &p[i], w->clock + draw_length(&seed, 45));
        if (i % 4 == 3 && w->head->tick > w->clock)
            world_advance(w, w->clock + (w->head->tick - w->clock) / 2);
    }
    return stats_of(w).wheels;
}

/* D1 (V19): libuv e002340e5, libevent 8b7a3b36: a removal from the middle of
 * the heap only sifted down. But the last leaf may be less than its new
 * parent. */
static void d1_removal_from_the_middle(void)
{
    size_t most = 0;
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (size_t victim = 0; victim < 60; victim++) {
            static probe p[60];
            world w;
            memset(p, 0, sizeof p);
            size_t wheels = fill_queue(&w, p, 60, seed);
            most = wheels > most ? wheels : most;
            world_cancel(&w, &p[victim]);
            world_cancel(&w, &p[(victim * 7 + 3) % 60]);
            world_sleep(&w, FAR);
            CHECK(w.count == 0 && w.idle_wakes <= 2);
            world_close(&w);
        }
    CHECK(most >= 20); /* a short queue would prove little */
}

/* A timer of play_many, which has too many timers for the list of the
 * oracle. */
typedef struct member {
    tw_timer timer;
    uint64_t order;
    bool done;
} member;

static struct {
    uint64_t tick, order; /* of the last fired timer */
    size_t fired;
} seen;

static void member_fires(timingwheel *tw, tw_timer *timer)
{
    member *m = TW_OWNER(timer, member, timer);
    uint64_t tick = tw_deadline(timer);
    CHECK(!m->done && tw_now(tw) == tick);
    CHECK(tick > seen.tick || (tick == seen.tick && m->order > seen.order));
    m->done = true;
    seen.tick = tick;
    seen.order = m->order;
    seen.fired++;
}

/* Starts 30,000 timers, moves and cancels a third each, and lets the rest
 * expire. */
static void play_many(uint32_t size, uint64_t reach, uint64_t seed)
{
    enum { members = 30000 };
    static member m[members];
    timingwheel tw;
    heap memory = {0};
    tw_config config = {0, 0, size, 0, &memory};
    size_t cancelled = 0;
    memset(m, 0, sizeof m);
    memset(&seen, 0, sizeof seen);
    CHECK(tw_init(&tw, &config) == TW_OK);
    for (uint64_t i = 0; i < 2 * members; i++) {
        member *one = &m[i < members ? i : draw_below(&seed, members)];
        if (i % 3 == 2 && i >= members) {
            cancelled += tw_cancel(&tw, &one->timer);
            continue;
        }
        if (one->done || tw_timer_state(&one->timer) == TW_CANCELLED)
            continue;
        if (i < members)
            tw_timer_init(&one->timer, member_fires);
        one->order = i;
        CHECK(tw_start(&tw, &one->timer, 1 + draw_below(&seed, reach)) ==
              TW_OK);
    }
    CHECK(tw_check(&tw));
    for (uint64_t now = 0; tw_count(&tw) != 0; now += reach / 100) {
        tw_advance_clock(&tw, now);
        CHECK(tw_check(&tw));
    }
    CHECK(seen.fired + cancelled == members);
    tw_destroy(&tw);
    CHECK(memory.blocks == 0);
}

/* D2: libuv d4f904b0e, libuv/libuv#1286, #1439: crashes after removals with
 * some thousand timers. */
static void d2_thirty_thousand_timers(void)
{
    play_many(2, 1000, 1);
    play_many(8, 100000, 2);
    play_many(64, 10000000, 3);
    play_many(256, 50000, 4);
}

/* D3: libevent cc32570a, RussellLuo/timingwheel#54: the key changed while the
 * timer was in the tree. Here each of twenty timers moves before, between and
 * behind all remaining timers. */
static void d3_key_changed_in_place(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < 20; i++)
            for (uint64_t to = 0; to <= 20; to++) {
                world w;
                probe p[20] = {0};
                world_open(&w, 1, sizes[s], 0);
                for (uint64_t k = 0; k < 20; k++)
                    world_add(&w, &p[k], 10 + k * k * k);
                world_add(&w, &p[i], 5 + to * to * to);
                if (to % 4 == 0)
                    world_postpone(&w, &p[(i + 7) % 20], 9000);
                CHECK(tw_count(&w.wheel) == 20);
                world_sleep(&w, 10000);
                CHECK(w.fired == 20 && w.idle_wakes <= 2);
                world_close(&w);
            }
}

/* D4: libevent 176fd566, libevent/libevent#1800: the heap grew with the timers,
 * and never gave memory back. */
static void d4_queue_grows_with_the_timers(void)
{
    static member m[50000];
    for (uint32_t size = 2; size <= 512; size *= 4) {
        timingwheel tw;
        heap memory = {0};
        tw_config config = {0, 0, size, 0, &memory};
        tw_stats stats;
        uint64_t seed = size;
        memset(m, 0, sizeof m);
        CHECK(tw_init(&tw, &config) == TW_OK);
        for (size_t i = 0; i < COUNT(m); i++)
            tw_start(&tw, &m[i].timer, draw_length(&seed, 30));
        tw_get_stats(&tw, &stats);
        CHECK(stats.pending == COUNT(m) && tw_count(&tw) == COUNT(m));
        CHECK(stats.buckets <= stats.wheels * 2 * size + 1);
        for (size_t i = 0; i < COUNT(m); i++)
            CHECK(tw_cancel(&tw, &m[i].timer));
        tw_trim(&tw);
        tw_get_stats(&tw, &stats);
        CHECK(stats.buckets == 0 && stats.bytes_used == 0);
        CHECK(stats.bytes_held == 0 && memory.blocks == 0);
        tw_destroy(&tw);
    }
}

/* D5: libuv fadfeaf6e, LadybirdBrowser/ladybird#6260, r-lib/later#69,
 * urbit/urbit#2941: equal deadlines ran in any order. Here thirty timers with
 * one deadline start while the clock comes nearer. Further timers have nearby
 * deadlines, and some timers are cancelled. */
static void d5_equal_deadlines_in_any_order(void)
{
    uint64_t seed = 5;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned run = 0; run < 200; run++) {
            world w;
            probe p[30] = {0}, q[20] = {0};
            uint64_t at = 1 + draw_length(&seed, 16);
            world_open(&w, 1, sizes[s], 0);
            for (size_t i = 0; i < 30; i++) {
                world_add(&w, &p[i], at);
                if (i % 3 == 0)
                    world_add(&w, &q[i / 3],
                              at - draw_below(&seed, at / 20 + 1));
                if (i % 4 == 0)
                    world_cancel(&w, &p[draw_below(&seed, i + 1)]);
                if (i % 5 == 0)
                    world_advance(&w, w.clock + (at - w.clock) / 4);
            }
            world_advance(&w, at);
            CHECK(w.count == 0);
            world_close(&w);
        }
}

/* D6: PerryTS/perry#6287, openthread/openthread#11: of several due timers, the
 * first created ran first: a 5 ms timer after a 10 ms timer. */
static void d6_due_timers_in_order_of_creation(void)
{
    uint64_t seed = 6;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t count = 2; count <= 34; count += 4) {
            play_one_jump(sizes[s], count, 20, &seed);
            play_one_jump(sizes[s], count, 500, &seed);
            play_one_jump(sizes[s], count, 1000000, &seed);
        }
    for (uint64_t k = 0; k < 24; k++) { /* overdue timers: in start order */
        world w;
        probe p[4] = {0};
        world_open(&w, 1, 16, 1000);
        world_add(&w, &p[0], 900 + k % 4);
        world_add(&w, &p[1], 900 + k / 4 % 3);
        world_add(&w, &p[2], 900 + k / 12);
        world_add(&w, &p[3], 1001);
        CHECK(world_advance(&w, 1001) == 4);
        world_close(&w);
    }
}

/* D7: libevent 8c36acd0, 09cbc3dc: moving a timer from one container to a
 * second container corrupted both. Here a timer moves up and down through the
 * wheels. The bucket left and the bucket entered have further timers. */
static void d7_move_between_wheels(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t from = 1; from < 70000; from = from * 3 + 1)
            for (uint64_t to = 1; to < 70000; to = to * 4 + 3) {
                world w;
                probe p = {0}, q[8] = {0};
                world_open(&w, 1, sizes[s], 0);
                for (uint64_t i = 0; i < 8; i++) {
                    world_add(&w, &q[i], (i % 2 ? from : to) + i / 4);
                    if (i == 3)
                        world_add(&w, &p, from);
                }
                for (unsigned turn = 0; turn < 5; turn++)
                    world_add(&w, &p, turn % 2 ? from : to);
                CHECK(tw_count(&w.wheel) == 9);
                world_sleep(&w, 80000);
                CHECK(w.fired == 9 && p.fired_at == to);
                world_close(&w);
            }
}

/* ------------------------------- I: memory, accounting, portability ------- */

/* I1: netty/netty#2541, apache/kafka KAFKA-16663, apache/dubbo#12022: a
 * cancelled timer was held until its deadline. Here the timer may be freed at
 * once. Ten million starts and cancels take no more memory than the first
 * 100,000. */
static void i1_cancelled_timers_are_kept(void)
{
    world w;
    world_open(&w, 1, 256, 0);
    for (uint64_t i = 0; i < 20000; i++) {
        probe *p = calloc(1, sizeof *p);
        if (!CHECK(p != NULL))
            break;
        world_add(&w, p, w.clock + 1 + i * 37 % 100000);
        CHECK(world_cancel(&w, p));
        memset(p, 0xEE, sizeof *p);
        free(p);
        if (i % 64 == 0)
            world_advance(&w, w.clock + 5);
    }
    tw_timer timer = TW_TIMER_INIT(NULL);
    size_t held = 0, failed = 0;
    for (uint64_t i = 0; i < 10000000; i++) {
        failed += tw_start(&w.wheel, &timer, w.clock + 1 + i % 100000) != 0;
        failed += !tw_cancel(&w.wheel, &timer);
        if (i == 100000)
            held = stats_of(&w).bytes_held; /* each bucket has had a timer */
    }
    CHECK(failed == 0 && tw_count(&w.wheel) == 0);
    CHECK(stats_of(&w).bytes_held == held);
    world_close(&w);
}

static probe *victims; /* of the callback below */

/* Cancels itself and two timers, which may be due in the same call or fired. */
static void cancel_some(probe *p)
{
    world_cancel(p->world, &victims[p->value]);
    world_cancel(p->world, p);
    world_cancel(p->world, &victims[0]);
}

/* I2: netty/netty#14959, facebook/folly#397: cancelling a timer after it had
 * been collected made the count of pending timers wrong. */
static void i2_count_of_pending_timers(void)
{
    uint64_t seed = 202;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned run = 0; run < 150; run++) {
            world w;
            probe p[24] = {0};
            victims = p;
            world_open(&w, 1, sizes[s], 0);
            for (size_t i = 0; i < COUNT(p); i++) {
                p[i].then = cancel_some;
                p[i].value = draw_below(&seed, COUNT(p));
                world_add(&w, &p[i], 1 + draw_length(&seed, 1 + run % 9));
            }
            world_limited(&w, 1000, draw_below(&seed, 9));
            for (size_t i = 0; i < COUNT(p); i += 5)
                world_cancel(&w, &p[i]);
            world_finish(&w, 1000, 3);
            CHECK(tw_count(&w.wheel) == 0 && w.count == 0);
            world_close(&w);
        }
}

/* I3: RussellLuo/timingwheel#49, microsoft/msquic#619, #962: destroying the
 * wheel left buckets, queue or timers behind. world_close checks that all
 * timers are idle and all memory is back. */
static void i3_destroyed_with_pending_timers(void)
{
    uint64_t seed = 203;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t left = 0; left < 40; left++) {
            world w;
            probe p[40] = {0};
            world_open(&w, 1, sizes[s], 0);
            for (unsigned round = 0; round < 2; round++) {
                for (size_t i = 0; i < 40; i++)
                    world_add(&w, &p[i], w.clock + draw_length(&seed, 30));
                world_limited(&w, UINT64_MAX / 2, 39 - left);
                if (left > 0)
                    world_add(&w, &p[0], 0); /* one timer is overdue */
                world_close(&w);
                CHECK(tw_start(&w.wheel, &p[0].timer, 5) == TW_EINVAL);
                tw_destroy(&w.wheel); /* twice is harmless */
                world_open(&w, 1, sizes[s], 100);
            }
            world_close(&w);
        }
}

/* I4: netty/netty#5647, apache/dubbo#3449: pending timers had no bound. Here
 * max_pending is a bound, and a refused start changes nothing. */
static void i4_bound_on_pending_timers(void)
{
    for (size_t most = 1; most < 20; most++) {
        world w;
        probe p[20] = {0}, extra = {0};
        world_open_limited(&w, 1, 16, 0, most);
        for (size_t i = 0; i < most; i++)
            world_add(&w, &p[i], 10 + i);
        CHECK(world_start(&w, &extra, 5) == TW_EFULL);
        CHECK(world_start(&w, &extra, 0) == TW_EFULL);
        CHECK(tw_timer_state(&extra.timer) == TW_IDLE);
        CHECK(tw_postpone(&w.wheel, &extra.timer, 50) == TW_EFULL);
        CHECK(tw_start_within(&w.wheel, &extra.timer, 5, 9) == TW_EFULL);
        world_add(&w, &p[0], 7); /* a pending timer may move */
        CHECK(world_advance(&w, 7) == 1);
        world_add(&w, &extra, 8);
        CHECK(world_start(&w, &p[0], 9) == TW_EFULL);
        CHECK(world_advance(&w, 100) == most);
        world_close(&w);
    }
}

/* I5: grpc/grpc#14894, RIOT-OS/RIOT#9211, #7114, #4902: the time type had 32
 * bits. Larger deadlines were clamped to one value, or wrapped. */
static void i5_time_of_32_bits(void)
{
    static const unsigned bits[] = {15, 16, 31, 32, 33, 48, 63};
    uint64_t seed = 205;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t b = 0; b < COUNT(bits); b++)
            for (uint64_t tick = 1; tick <= 1000; tick *= 1000) {
                world w;
                probe p[20] = {0};
                uint64_t at = ((uint64_t)1 << bits[b]) - 500;
                world_open(&w, tick, sizes[s], at);
                for (unsigned step = 0; step < 300; step++)
                    world_random(&w, p, COUNT(p), &seed, 8);
                for (uint64_t i = 0; i < COUNT(p); i++)
                    world_add(&w, &p[i], at + 2000 * (i + 1));
                CHECK(world_exhaust(&w));
                world_close(&w);
            }
}

/* How many times two divides a tick; 64 for tick 0. */
static unsigned roundness(uint64_t tick)
{
    unsigned twos = 0;
    if (tick == 0)
        return 64;
    for (; tick % 2 == 0; tick /= 2)
        twos++;
    return twos;
}

/* The roundest tick of a window, found by looking at each. */
static unsigned roundest_in(uint64_t low, uint64_t high)
{
    unsigned most = 0;
    for (uint64_t tick = low;; tick++) {
        if (roundness(tick) > most)
            most = roundness(tick);
        if (tick == high)
            return most;
    }
}

/* I6: wahern/timeout d9d3e5d, folly fae10d940: counting of leading or trailing
 * zeros was wrong on some machines. Every bit position, against plain loops:
 * the roundest tick of a window, and the wheel of a deadline. */
static void i6_bit_tricks(void)
{
    for (unsigned bit = 0; bit < 64; bit++)
        for (uint64_t before = 0; before < 12; before++)
            for (uint64_t length = 0; length < 24; length++) {
                uint64_t base = (uint64_t)1 << bit;
                if (base <= before)
                    continue;
                uint64_t low = base - before, high = low + length;
                world w;
                probe p = {0};
                world_open(&w, 1, 2, 0);
                world_within(&w, &p, low, high);
                CHECK(roundness(tw_deadline(&p.timer)) ==
                      roundest_in(low, high));
                CHECK(world_exhaust(&w) && p.fired == 1);
                world_add(&w, &p, high); /* overdue unless round */
                CHECK(world_exhaust(&w) && p.fired == 2);
                world_close(&w);
            }
}

/* I7: libuv/libuv#3020, libuv 77cb29a72: queries about a timer before its first
 * start read uninitialised memory. */
static void i7_asked_before_started(void)
{
    tw_timer *timer = malloc(sizeof *timer); /* rubbish, for valgrind */
    world w;
    uint64_t next = 9;
    if (!CHECK(timer != NULL))
        return;
    tw_timer_init(timer, NULL);
    CHECK(!tw_is_pending(timer) && tw_deadline(timer) == 0);
    CHECK(tw_timer_state(timer) == TW_IDLE);
    world_open(&w, 7, 16, 50);
    CHECK(!tw_cancel(&w.wheel, timer));
    CHECK(tw_timer_state(timer) == TW_IDLE);
    CHECK(tw_count(&w.wheel) == 0 && tw_now(&w.wheel) == 50);
    CHECK(!tw_next_deadline(&w.wheel, &next) && next == 9);
    CHECK(tw_poll(&w.wheel, 50) == NULL && tw_check(&w.wheel));
    CHECK(tw_foreach(&w.wheel, NULL, NULL) == 0);
    CHECK(tw_drain(&w.wheel, NULL, NULL) == 0);
    CHECK(stats_of(&w).bytes_held == 0 && stats_of(&w).fired == 0);
    tw_trim(&w.wheel);
    world_close(&w);
    free(timer);
}

/* I8: vpp 7fd73afc60d, ratas 396a5ae, wahern/timeout 671d204: copied include
 * guards, and definitions that clash. recorder.h includes the header twice,
 * first without the implementation. The test is that this file compiles. All
 * ways to make an idle timer must have the same result. */
static void i8_header_hygiene(void)
{
    static const tw_timer zero = {0};
    tw_timer macro = TW_TIMER_INIT(NULL), call;
    tw_timer_init(&call, NULL);
    CHECK(tw_timer_state(&zero) == TW_IDLE && tw_deadline(&zero) == 0);
    CHECK(tw_timer_state(&macro) == TW_IDLE && tw_deadline(&macro) == 0);
    CHECK(tw_timer_state(&call) == TW_IDLE && tw_deadline(&call) == 0);
    CHECK(sizeof(tw_timer) <= 32);
#if TW_VERSION_MAJOR * 10000 + TW_VERSION_MINOR * 100 + TW_VERSION_PATCH < 10000
    CHECK(sizeof(tw_timer) == 0); /* the version is no number */
#endif
}

/* I9: netty/netty#12888 and its two reverts, wahern/timeout#29,
 * lpereira/lwan#310: clever new slot arithmetic was early or late. Here fixed
 * seeds are compared with the slow list, for every wheel size, with few and
 * many timers. */
static void i9_clever_arithmetic(void)
{
    for (uint32_t size = 2; size <= 4096; size *= 2)
        for (uint64_t run = 0; run < 4; run++) {
            world w;
            probe p[60] = {0};
            uint64_t seed = 209 + run * 1000 + size;
            world_open(&w, 1 + run, size, run * 0x3fffffff);
            w.deep = size > 512 ? 8 : 64; /* tw_check looks at each bucket */
            for (unsigned step = 0; step < 600; step++)
                world_random(&w, p, 4 + 18 * run, &seed, 6 + step / 20);
            world_exhaust(&w);
            world_close(&w);
        }
}

/* I10: libevent 77a96fd9: the loop woke because its first timer had been
 * postponed. Here postponing touches neither memory nor queue. There is at most
 * one useless wake-up, for any number of postpones. */
static void i10_first_timer_put_off(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t step = 0; step < 40; step += 3) {
            world w;
            probe p = {0}, q = {0};
            uint64_t first = 0, next = 0;
            world_open(&w, 1, sizes[s], 0);
            world_add(&w, &p, 1000);
            world_add(&w, &q, 5000);
            CHECK(tw_next_deadline(&w.wheel, &first));
            size_t calls = w.memory.calls;
            for (uint64_t i = 1; i <= 100; i++) {
                world_postpone(&w, &p, 1000 + i * step);
                CHECK(tw_next_deadline(&w.wheel, &next) && next == first);
            }
            CHECK(w.memory.calls == calls && stats_of(&w).cascaded == 0);
            world_sleep(&w, 1000 + 100 * step);
            CHECK(p.fired == 1 && p.fired_at == 1000 + 100 * step);
            CHECK(w.idle_wakes <= 1);
            if (sizes[s] == 2 && step > 5) /* moved to a new bucket */
                CHECK(stats_of(&w).cascaded == 1);
            world_sleep(&w, 5000);
            CHECK(w.fired == 2 && w.idle_wakes <= 1);
            world_close(&w);
        }
}

/* ----------------------------------------- V: from the seeded-bug list ---- */

/* V13: scylladb/seastar#2318: removing the last timer of a bucket cleared the
 * wrong occupancy bit after a wrap of the wheel. Here: clocks of three turns
 * and pairs of buckets. The case empties the first bucket of each pair. */
static void v13_wrong_bit_after_the_wrap(void)
{
    for (uint32_t size = 2; size <= 128; size *= 4)
        for (uint64_t at = 0; at < 3 * size; at += 1 + size / 20)
            for (uint64_t a = 1; a < size; a += 1 + size / 30)
                for (uint64_t b = 1; b < size; b += 1 + size / 15) {
                    world w;
                    probe p = {0}, q = {0};
                    world_open(&w, 1, size, 0);
                    world_advance(&w, at);
                    world_add(&w, &p, at + a);
                    world_add(&w, &q, at + b);
                    world_cancel(&w, &p);
                    world_sleep(&w, at + size);
                    CHECK(q.fired == 1 && p.fired == 0);
                    CHECK(w.wakes == 1 + w.idle_wakes && w.idle_wakes <= 1);
                    world_close(&w);
                }
}

/* V15: genodelabs/genode#1646: a timer, programmed again and again, starved all
 * further timers. */
static void v15_reprogramming_starves_the_others(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned way = 0; way < 3; way++) {
            world w;
            probe busy = {0}, p[20] = {0};
            world_open(&w, 1, sizes[s], 0);
            for (uint64_t i = 0; i < COUNT(p); i++)
                world_add(&w, &p[i], 1 + i * i * 3);
            for (uint64_t now = 0; now < 1200; now++) {
                if (way == 0)
                    world_add(&w, &busy, now + 2);
                else if (way == 1)
                    world_postpone(&w, &busy, now + 2);
                else
                    world_add(&w, &busy, now + 1 + 300 * (now % 2));
                world_advance(&w, now);
            }
            for (size_t i = 0; i < COUNT(p); i++)
                CHECK(p[i].fired == 1);
            CHECK(busy.fired == 0 || way == 2);
            world_close(&w);
        }
}

/* V21: derived: the array of a new wheel was not set to zero. New memory is
 * full of rubbish here; every wheel is made, filled, given back, made again. */
static void v21_new_wheel_not_zeroed(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++) {
        world w;
        probe p[3] = {0};
        world_open(&w, 1, sizes[s], 0);
        for (uint64_t span = 1; span < FAR / 8 / sizes[s]; span *= sizes[s]) {
            for (uint64_t i = 0; i < 3; i++)
                world_add(&w, &p[i], w.clock + span + i * (span / 2));
            world_sleep(&w, w.clock + 3 * span);
            CHECK(w.count == 0 && w.idle_wakes == 0);
            tw_trim(&w.wheel);
            CHECK(tw_check(&w.wheel) && w.memory.blocks == 0);
        }
        world_close(&w);
    }
}

static const tap_case cases[] = {
    {"C1 started for the bucket being emptied, next lap",
     c1_same_bucket_next_lap},
    {"C2 started into a bucket just emptied", c2_started_into_a_flushed_bucket},
    {"C3 all timers of a bucket are handled, in every wheel",
     c3_only_the_first_of_a_bucket},
    {"C4 a short timer after idling needs one wheel",
     c4_coarse_wheels_after_idling},
    {"C5 one big step fires in order of ticks",
     c5_clock_jumps_before_the_flush},
    {"C6 (V17) equal deadlines across wheels: start order",
     c6_equal_deadlines_across_wheels},
    {"C7 (V17) no wake-up at the start of a coarse bucket",
     c7_next_deadline_is_a_buckets_start},
    {"C8 the next deadline is the earliest of all buckets",
     c8_next_deadline_of_all_buckets},
    {"C9 spans of wheels do not overflow", c9_span_of_a_wheel_overflows},
    {"C10 (V20) an emptied bucket leaves the delay queue",
     c10_cancelled_bucket_stays_queued},
    {"C11 whole turns ahead: emptying a bucket ends",
     c11_put_back_into_the_bucket_being_emptied},
    {"C12 every invariant after every cascade", c12_cascade_to_its_own_bucket},
    {"C13 (V22) out of memory at each allocation changes nothing",
     c13_out_of_memory_for_a_wheel},
    {"D1 (V19) removal from the middle of the delay queue",
     d1_removal_from_the_middle},
    {"D2 30,000 timers moved, cancelled, expired", d2_thirty_thousand_timers},
    {"D3 moving a pending timer keeps the queue in order",
     d3_key_changed_in_place},
    {"D4 the delay queue is bounded, memory comes back",
     d4_queue_grows_with_the_timers},
    {"D5 (V17) equal deadlines with cancels: start order",
     d5_equal_deadlines_in_any_order},
    {"D6 due timers fire by deadline, not by creation",
     d6_due_timers_in_order_of_creation},
    {"D7 moves up and down between wheels, with neighbours",
     d7_move_between_wheels},
    {"I1 cancelled timers may be freed; no growth in 10^7 cycles",
     i1_cancelled_timers_are_kept},
    {"I2 the count is right after cancels of collected timers",
     i2_count_of_pending_timers},
    {"I3 destroyed with pending timers: idle, no leak",
     i3_destroyed_with_pending_timers},
    {"I4 max_pending bounds the timers", i4_bound_on_pending_timers},
    {"I5 starts near 2^15 to 2^63", i5_time_of_32_bits},
    {"I6 bit tricks against plain loops, every bit", i6_bit_tricks},
    {"I7 every query works before the first start", i7_asked_before_started},
    {"I8 header included twice, every initialiser", i8_header_hygiene},
    {"I9 every wheel size against the list, fixed seeds", i9_clever_arithmetic},
    {"I10 postponing the first timer costs one wake-up at most",
     i10_first_timer_put_off},
    {"V13 the bit cleared is the bucket's own, after the wrap too",
     v13_wrong_bit_after_the_wrap},
    {"V15 one timer started again and again starves no other timer",
     v15_reprogramming_starves_the_others},
    {"V21 new wheels do not trust new memory", v21_new_wheel_not_zeroed},
};

/* Compile-time checks are gates of `make check`: I5 and I6 with -m32, and the
 * languages and compilers of I8. */

TAP_MAIN(cases)
