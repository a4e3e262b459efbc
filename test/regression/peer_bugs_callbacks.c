/* peer_bugs_callbacks.c - the bugs of other timers, part 3: re-entrancy and
 * lifetime (E), periodic timers (F), clocks (G), thread bugs that concern a
 * single thread, too (H), and one bug of mutate/bugs.py (V).
 *
 * One case per bug. The case's name has the bug's letter and number. The
 * comment names the reports and the fault. If a V number is missing here, the
 * name of another case has the number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/recorder.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const uint32_t sizes[] = {2, 4, 8, 64, 256};

/* The timers of the running case, for callbacks that act on many timers. */
static struct {
    probe *p;
    size_t count;
    unsigned actions; /* bit i: the callback acts on p[i] */
    uint64_t delay;   /* delay of a timer that a callback starts */
    size_t seen;      /* counted by visitors */
} crew;

static void crew_is(probe *p, size_t count, void (*then)(probe *))
{
    memset(&crew, 0, sizeof crew);
    crew.p = p;
    crew.count = count;
    for (size_t i = 0; i < count; i++)
        p[i].then = then;
}

/* --------------------------------------------- E: re-entrancy, lifetime --- */

/* Starts itself for a time that has passed. */
static void start_for_now(probe *p)
{
    world_add(p->world, p, p->value != 0 ? p->fired_at : 0);
}

/* E1: joyent/libuv#1427, libuv/libuv#4245, envoyproxy/envoy#11823: a timer
 * started itself without a delay, and ran again in the same pass, for ever. */
static void e1_started_for_now_by_itself(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t count = 1; count <= 14; count++)
            for (uint64_t when = 0; when < 2; when++) {
                world w;
                probe p[14] = {0};
                crew_is(p, count, start_for_now);
                world_open(&w, 1, sizes[s], 0);
                for (size_t i = 0; i < count; i++) {
                    p[i].value = when;
                    world_add(&w, &p[i], 100 + i % 3);
                }
                CHECK(world_advance(&w, 102) == count);
                for (unsigned call = 0; call < 5; call++) {
                    CHECK(tw_wait(&w.wheel, 102, 99) == 0);
                    CHECK(world_advance(&w, 102 + call) == count);
                }
                for (size_t i = 0; i < count; i++)
                    CHECK(p[i].fired == 6);
                world_close(&w);
            }
}

/* Cancels `other` and frees its memory. */
static void cancel_and_free_other(probe *p)
{
    if (p->other == NULL)
        return;
    CHECK(world_cancel(p->world, p->other));
    memset(p->other, 0xEE, sizeof *p->other);
    free(p->other);
    p->other = NULL;
}

/* E2 (V16): libuv/libuv#4304: due timers had been moved to a separate list.
 * Stopping a due timer did not remove the timer from the separate list. */
static void e2_cancelled_after_it_was_collected(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 1; at < 3000; at = at * 3 + 1)
            for (uint64_t apart = 0; apart < 5; apart++)
                for (unsigned k = 0; k <= 16; k++) {
                    const unsigned between = k < 16 ? k : 260; /* cascade */
                    world w;
                    probe a = {0}, p[260] = {0};
                    probe *b = calloc(1, sizeof *b);
                    if (!CHECK(b != NULL))
                        return;
                    world_open(&w, 1, sizes[s], 0);
                    a.then = cancel_and_free_other;
                    a.other = b;
                    world_add(&w, &a, at);
                    for (unsigned i = 0; i < between; i++)
                        world_add(&w, &p[i], at);
                    world_add(&w, b, at + apart);
                    CHECK(world_advance(&w, at + 9) == 1u + between);
                    CHECK(a.other == NULL && w.count == 0);
                    world_close(&w);
                }
}

/* Cancels every crew timer with a bit in `actions`. */
static void cancel_crew(probe *p)
{
    world *w = p->world;
    for (size_t i = 0; i < crew.count; i++)
        if (crew.actions >> i & 1u)
            world_cancel(w, &crew.p[i]);
    CHECK(!tw_is_pending(&p->timer));
}

/* E3 (V11): npatrick04/timer-wheel#2, travelping/upg-vpp#286, #335: a callback
 * stopped another timer of its bucket. Here, the first of six timers in a
 * bucket cancels any set of the six, itself included. */
static void e3_siblings_cancelled(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 1; at < 70000; at = at * 40 + 3)
            for (unsigned set = 0; set < 64; set++)
                for (size_t first = 0; first < 6; first++) {
                    world w;
                    probe p[6] = {0};
                    crew_is(p, 6, NULL);
                    crew.actions = set;
                    world_open(&w, 1, sizes[s], 0);
                    for (size_t i = 0; i < 6; i++)
                        world_add(&w, &p[(first + i) % 6], at);
                    p[first].then = cancel_crew;
                    world_advance(&w, at);
                    for (size_t i = 0; i < 6; i++)
                        CHECK(p[i].fired == (i == first || !(set >> i & 1)));
                    CHECK(w.count == 0);
                    world_close(&w);
                }
}

/* Cancels its successor, and restarts the successor if there is a delay. */
static void cancel_successor(probe *p)
{
    world_cancel(p->world, p->other);
    if (crew.delay != 0)
        world_add(p->world, p->other, p->fired_at + crew.delay - 1);
}

/* E4: caffeine 3e66fe9de: the walk kept a pointer to the next timer. When the
 * callback removed the next timer, the rest of the bucket never fired. */
static void e4_successor_cancelled(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t count = 2; count <= 13; count++)
            for (size_t i = 0; i + 1 < count; i++)
                for (uint64_t delay = 0; delay < 9; delay++) {
                    world w;
                    probe p[13] = {0};
                    crew_is(p, count, NULL);
                    crew.delay = delay;
                    world_open(&w, 1, sizes[s], 0);
                    for (size_t k = 0; k < count; k++)
                        world_add(&w, &p[k], 300);
                    p[i].then = cancel_successor;
                    p[i].other = &p[i + 1];
                    world_advance(&w, 310);
                    world_advance(&w, 310); /* delay 1 is "now" */
                    CHECK(w.fired == count - (delay == 0));
                    CHECK(w.count == 0);
                    world_close(&w);
                }
}

/* Counts a drained timer, and removes the timer from the oracle's list. */
static void forget(tw_timer *timer, void *context)
{
    world *w = (world *)context;
    probe *p = TW_OWNER(timer, probe, timer);
    CHECK(tw_timer_state(timer) == TW_IDLE);
    if (CHECK(p->pending))
        oracle_remove(w, p);
    crew.seen++;
}

static void drain_all(probe *p)
{
    world *w = p->world;
    size_t pending = w->count;
    CHECK(tw_drain(&w->wheel, forget, w) == pending);
    CHECK(tw_count(&w->wheel) == 0 && w->count == 0);
}

/* E5: folly 3a06d042d, 489a7f093, facebook/folly#397, #399: a callback
 * cancelled all timers. The cancel missed collected timers, or left a wrong
 * count. */
static void e5_all_cancelled_by_a_callback(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < 20; i++)
            for (uint64_t spread = 0; spread < 200; spread = spread * 3 + 1)
                for (unsigned way = 0; way < 2; way++) {
                    world w;
                    probe p[20] = {0};
                    crew_is(p, 20, NULL);
                    world_open(&w, 1, sizes[s], 0);
                    crew.actions = ~0u;
                    for (uint64_t k = 0; k < 20; k++)
                        world_add(&w, &p[k], 50 + k * spread);
                    p[i].then = way == 0 ? drain_all : cancel_crew;
                    world_advance(&w, 10000);
                    CHECK(w.fired == i + 1 && tw_count(&w.wheel) == 0);
                    p[i].then = NULL;
                    for (uint64_t k = 0; k < 20; k++)
                        world_add(&w, &p[k], 10001 + k);
                    world_advance(&w, 11000);
                    CHECK(w.fired == i + 21);
                    world_close(&w);
                }
}

static void destroy_own_wheel(probe *p)
{
    tw_destroy(&p->world->wheel);
    CHECK(tw_count(&p->world->wheel) == p->world->count);
    CHECK(!tw_is_pending(&p->timer));
}

/* E6: folly 3f6e3b45b: a callback destroyed its own wheel. Here the wheel
 * ignores the call, and works on. */
static void e6_wheel_destroyed_by_a_callback(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++) {
        world w;
        probe p[20] = {0};
        crew_is(p, 20, destroy_own_wheel);
        world_open(&w, 1, sizes[s], 0);
        for (uint64_t i = 0; i < 20; i++)
            world_add(&w, &p[i], 5 + i / 3 * 40);
        world_advance(&w, 100);
        world_sleep(&w, 1000);
        CHECK(w.fired == 20);
        world_close(&w);
    }
}

/* Calls every function that would move the clock or the memory under the
 * walk. */
static void advance_own_wheel(probe *p)
{
    timingwheel *tw = &p->world->wheel;
    uint64_t clock = tw_now(tw);
    size_t pending = tw_count(tw);
    CHECK(tw_advance_clock(tw, UINT64_MAX) == 0);
    CHECK(tw_advance_clock(tw, 0) == 0);
    CHECK(tw_advance_clock_limit(tw, UINT64_MAX, 3) == 0);
    CHECK(tw_poll(tw, UINT64_MAX) == NULL);
    tw_trim(tw);
    CHECK(tw_now(tw) == clock && tw_count(tw) == pending);
}

/* E7: caffeine 3e66fe9de: a callback advanced its own wheel, and the clock
 * moved during the pass. */
static void e7_wheel_advanced_by_a_callback(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t spread = 0; spread < 300; spread = spread * 3 + 1) {
            world w;
            probe p[20] = {0};
            crew_is(p, 20, advance_own_wheel);
            world_open(&w, 1, sizes[s], 0);
            for (uint64_t i = 0; i < 20; i++)
                world_add(&w, &p[i], 5 + i * spread);
            world_advance(&w, 500);
            CHECK(world_finish(&w, 3000, 2));
            world_sleep(&w, 10000);
            CHECK(w.fired == 20 && w.count == 0);
            world_close(&w);
        }
}

/* A periodic timer. The third firing ends the timer, in one of three ways. */
static void periodic_until_third(probe *p)
{
    world *w = p->world;
    CHECK(!world_cancel(w, p)); /* not pending in its own callback */
    if (p->fired == 3 && p->value == 0)
        return;
    world_add(w, p, p->fired_at + 10);
    if (p->fired == 3 && p->value == 1)
        CHECK(world_cancel(w, p));
    if (p->fired == 3 && p->value == 2)
        CHECK(tw_cancel(&w->wheel, &p->other->timer) == false);
}

/* E8 (V12): scylladb/seastar#2318, #3013, vibe-d/vibe-core#260, ETLCPP/etl#967:
 * a periodic timer cancelled itself in its own callback and fired again, or
 * later timers caused no wake-up. */
static void e8_periodic_cancels_itself(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t way = 0; way < 3; way++) {
            world w;
            probe p = {0}, later = {0};
            world_open(&w, 1, sizes[s], 0);
            p.then = periodic_until_third;
            p.value = way;
            p.other = &later;
            world_add(&w, &p, 10);
            for (uint64_t now = 0; now <= 35; now += 5)
                world_advance(&w, now);
            CHECK(p.fired == 3);
            if (way == 2)
                CHECK(world_cancel(&w, &p)); /* from outside */
            CHECK(w.count == 0);
            world_add(&w, &later, 77);
            world_sleep(&w, 200);
            CHECK(p.fired == 3 && later.fired == 1 && later.fired_at == 77);
            world_close(&w);
        }
}

/* Starts itself three times. The last start counts. */
static void start_thrice(probe *p)
{
    world_add(p->world, p, p->fired_at + 3 * p->value);
    world_add(p->world, p, p->fired_at + 1);
    world_add(p->world, p, p->fired_at + p->value);
    CHECK(tw_count(&p->world->wheel) == p->world->count);
}

/* E9 (V10): ETLCPP/etl#967, rtbrick/bngblaster#361: a timer started in its own
 * callback was linked twice, or into a bucket freed after the walk. */
static void e9_started_in_its_own_callback(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t period = 2; period < 700; period = period * 2 - 1)
            for (unsigned alone = 0; alone < 2; alone++) {
                world w;
                probe p = {0}, q[6] = {0};
                world_open(&w, 1, sizes[s], 0);
                p.then = start_thrice;
                p.value = period;
                world_add(&w, &p, 5);
                for (size_t i = 0; !alone && i < 6; i++)
                    world_add(&w, &q[i], 5);
                world_advance(&w, 5 + 9 * period);
                CHECK(p.fired == 10 && w.count == 1);
                CHECK(tw_deadline(&p.timer) == 5 + 10 * period);
                world_close(&w);
            }
}

/* Sets up the firing timer again, and starts it, before the callback
 * returns. */
static void reuse_at_once(probe *p)
{
    world *w = p->world;
    CHECK(!tw_is_pending(&p->timer) && !p->pending);
    CHECK(tw_timer_state(&p->timer) == TW_FIRED);
    CHECK(tw_count(&w->wheel) == w->count);
    tw_timer_init(&p->timer, recorder_callback);
    CHECK(tw_timer_state(&p->timer) == TW_IDLE);
    world_add(w, p->other, p->fired_at + 1);
    if (p->fired < 3)
        world_add(w, p, p->fired_at + p->value);
}

/* E10: agrona 164cc842, Aasim-A/AsyncTimer#12: the library updated the state
 * after the callback, and overwrote changes by the callback. */
static void e10_state_updated_after_the_callback(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t delay = 0; delay < 600; delay = delay * 2 + 1) {
            world w;
            probe a = {0}, b = {0};
            world_open(&w, 1, sizes[s], 0);
            a.then = reuse_at_once;
            a.other = &b;
            a.value = delay;
            world_add(&w, &a, 20);
            for (unsigned i = 0; i < 4; i++)
                world_sleep(&w, 25 + i * delay);
            CHECK(a.fired == 3 && b.fired >= 1 && w.count == 0);
            CHECK(tw_timer_state(&a.timer) == TW_IDLE); /* set by the last
                                                         * callback */
            world_close(&w);
        }
}

static void free_itself(probe *p)
{
    world *w = p->world;
    if (p->value == 1)
        world_add(w, p->other, p->fired_at + 2);
    memset(p, 0xEE, sizeof *p);
    free(p);
    crew.seen++;
}

/* E11: libevent/libevent#1287, flipperdevices/flipperzero-firmware#3431,
 * neovim/neovim#5190: a callback freed its own timer, and the library used the
 * timer afterwards. Here, whole buckets of timers free themselves, in every
 * wheel. */
static void e11_frees_itself(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 1; at < 100000; at = at * 7 + 2)
            for (size_t count = 1; count < 15; count++) {
                world w;
                probe last = {0};
                world_open(&w, 1, sizes[s], 0);
                crew_is(NULL, 0, NULL);
                for (size_t i = 0; i < count; i++) {
                    probe *p = calloc(1, sizeof *p);
                    if (!CHECK(p != NULL))
                        return;
                    p->then = free_itself;
                    p->other = &last;
                    p->value = i == 0;
                    world_add(&w, p, at + i % 3);
                }
                world_advance(&w, at + 2);
                CHECK(crew.seen == count && last.fired == 1);
                world_close(&w);
            }
}

/* Moves `other`, which is due in the same call, by `value`. */
static void move_other(probe *p)
{
    if (p->fired == 1)
        world_add(p->world, p->other, p->fired_at + p->value);
}

/* E12: tokio-rs/tokio#3270, libevent f9e0c449: a callback restarted a second
 * timer that was already due. The second timer ran at the old time, twice, or
 * never. */
static void e12_restarted_after_it_was_collected(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t delay = 0; delay < 700; delay = delay * 2 + 1)
            for (unsigned between = 0; between < 7; between++) {
                world w;
                probe a = {0}, b = {0}, p[7] = {0};
                world_open(&w, 1, sizes[s], 0);
                a.then = move_other;
                a.other = &b;
                a.value = delay;
                world_add(&w, &a, 100);
                for (unsigned i = 0; i < between; i++)
                    world_add(&w, &p[i], 100);
                world_add(&w, &b, 100);
                world_advance(&w, 100);
                CHECK(b.fired == 0 && tw_is_pending(&b.timer));
                world_sleep(&w, 100 + delay);
                CHECK(b.fired == 1 && b.fired_at == 100 + delay);
                world_close(&w);
            }
}

/* E13: ratas 816901d, rfyiamcool/go-timewheel#6, zeromicro/go-zero#205, libuv
 * 028fef84b: a pending timer was started again. The old link stayed, and the
 * timer ran at both times. */
static void e13_started_while_pending(void)
{
    static const uint64_t d[] = {1, 2, 5, 8, 9, 63, 64, 65, 300, 5000};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < 1000; i++)
            for (unsigned company = 0; company < 2; company++) {
                world w;
                probe p = {0}, q[10] = {0};
                world_open(&w, 1, sizes[s], 0);
                for (size_t k = 0; company && k < COUNT(d); k++)
                    world_add(&w, &q[k], d[k]);
                world_add(&w, &p, d[i / 100]);
                world_add(&w, &p, d[i / 10 % 10]);
                world_add(&w, &p, d[i % 10]);
                CHECK(tw_count(&w.wheel) == 1u + company * COUNT(d));
                world_sleep(&w, 6000);
                CHECK(p.fired == 1 && p.fired_at == d[i % 10]);
                world_close(&w);
            }
}

/* E14: F-Stack/f-stack#1040: a timer in a list was set up again, and pointed to
 * itself. The header forbids setting up a pending timer. After a cancel, a
 * firing or a drain, a timer is in no list and may be set up again. Here the
 * timer's neighbours stay. */
static void e14_set_up_again(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned way = 0; way < 3; way++)
            for (size_t i = 0; i < 12; i++) {
                world w;
                probe p[12] = {0};
                crew_is(p, 12, NULL);
                world_open(&w, 1, sizes[s], 0);
                for (size_t k = 0; k < 12; k++)
                    world_add(&w, &p[k], k == i && way == 1 ? 5 : 40);
                world_advance(&w, 5);
                if (way == 0)
                    world_cancel(&w, &p[i]);
                else if (way == 2)
                    CHECK(tw_drain(&w.wheel, forget, &w) == 12);
                tw_timer_init(&p[i].timer, recorder_callback);
                CHECK(tw_timer_state(&p[i].timer) == TW_IDLE);
                CHECK(tw_deadline(&p[i].timer) == 0 && tw_check(&w.wheel));
                CHECK(!world_cancel(&w, &p[i]));
                world_add(&w, &p[i], 60);
                world_sleep(&w, 100);
                CHECK(p[i].fired_at == 60 && w.count == 0);
                world_close(&w);
            }
}

/* E15: ratas ae07479: cancelling an idle timer, or cancelling twice, crashed or
 * corrupted the count. */
static void e15_cancelled_when_not_pending(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++) {
        world w;
        probe p = {0}, q = {0};
        crew_is(&p, 1, NULL);
        world_open(&w, 1, sizes[s], 0);
        world_add(&w, &q, 500);
        CHECK(!world_cancel(&w, &p)); /* all zero, never started */
        CHECK(!tw_cancel(&w.wheel, NULL) && !tw_cancel(NULL, &q.timer));
        world_add(&w, &p, 10);
        CHECK(world_cancel(&w, &p) && !world_cancel(&w, &p));
        CHECK(tw_timer_state(&p.timer) == TW_CANCELLED);
        world_add(&w, &p, 10);
        world_advance(&w, 10);
        CHECK(!world_cancel(&w, &p) && !world_cancel(&w, &p));
        CHECK(tw_timer_state(&p.timer) == TW_FIRED);
        CHECK(tw_count(&w.wheel) == 1);
        world_add(&w, &p, 20);
        CHECK(tw_drain(&w.wheel, forget, &w) == 2);
        CHECK(!world_cancel(&w, &p));
        CHECK(tw_timer_state(&p.timer) == TW_IDLE);
        CHECK(tw_count(&w.wheel) == 0);
        world_close(&w);
    }
}

/* Restarts the drained timer, and starts the partner of every second timer. */
static void forget_and_start(tw_timer *timer, void *context)
{
    world *w = (world *)context;
    probe *p = TW_OWNER(timer, probe, timer);
    forget(timer, context);
    CHECK(tw_start(&w->wheel, timer, w->clock + 10 + p->value) == TW_OK);
    oracle_start(w, p, w->clock + 10 + p->value, false);
    if (p->value % 2 == 0 && !p->other->pending) {
        world_adopt(w, p->other);
        CHECK(tw_start(&w->wheel, &p->other->timer, w->clock + 5) == TW_OK);
        oracle_start(w, p->other, w->clock + 5, false);
    }
}

/* E16: zeromicro/go-zero#5753, netty/netty#14081, tokio-rs/tokio#2789: after a
 * drain, the drained timers could not be started, or a start during the drain
 * failed. */
static void e16_started_during_and_after_a_drain(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t count = 0; count <= 30; count++) {
            world w;
            probe p[30] = {0}, q[30] = {0};
            crew_is(p, 30, NULL);
            world_open(&w, 1, sizes[s], 40);
            for (size_t i = 0; i < count; i++) {
                p[i].value = i;
                p[i].other = &q[i];
                world_add(&w, &p[i], 35 + i * i * i);
            }
            CHECK(tw_drain(&w.wheel, forget_and_start, &w) == count);
            CHECK(crew.seen == count); /* no timer was visited twice */
            world_compare(&w);
            CHECK(tw_count(&w.wheel) == count + (count + 1) / 2);
            world_sleep(&w, 100);
            CHECK(w.count == 0);
            for (size_t i = 0; i < count; i++)
                world_add(&w, &p[i], 101 + i);
            CHECK(tw_drain(&w.wheel, NULL, NULL) == count);
            for (size_t i = 0; i < count; i++)
                CHECK(tw_timer_state(&p[i].timer) == TW_IDLE);
            world_close(&w);
        }
}

/* E17: vpp ad099335c1c: a catch-up over several ticks returned the timers of
 * the first ticks again. */
static void e17_delivered_twice(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t ticks = 1; ticks < 600; ticks = ticks * 2 + 1)
            for (unsigned way = 0; way < 3; way++) {
                world w;
                probe p[64] = {0};
                world_open(&w, 1, sizes[s], 17);
                for (uint64_t i = 0; i < COUNT(p); i++)
                    world_add(&w, &p[i], 18 + i * ticks / COUNT(p));
                if (way == 0)
                    world_advance(&w, 18 + ticks);
                else if (way == 1)
                    CHECK(world_finish(&w, 18 + ticks, 5));
                else
                    while (world_poll(&w, 18 + ticks) != NULL)
                        continue;
                CHECK(world_advance(&w, 18 + ticks) == 0);
                CHECK(world_advance(&w, 5000) == 0);
                for (size_t i = 0; i < COUNT(p); i++)
                    CHECK(p[i].fired == 1);
                world_close(&w);
            }
}

/* Marks the visited timer, and cancels it if its number is in the chosen
 * class. */
static void look_at(tw_timer *timer, void *context)
{
    world *w = (world *)context;
    probe *p = TW_OWNER(timer, probe, timer);
    tw_timer other = TW_TIMER_INIT(NULL);
    CHECK(p->pending && p->value++ % 100 == 0); /* the first visit */
    CHECK(tw_start(&w->wheel, &other, 5) == TW_EBUSY);
    CHECK(tw_advance_clock(&w->wheel, UINT64_MAX) == 0);
    crew.seen++;
    if (p->value / 100 % 3 == crew.delay)
        CHECK(world_cancel(w, p));
}

/* E18: Metaswitch/chronos#342, aeron-io/agrona#346: the iterator treated the
 * ring as a line, and missed timers behind the wrap. Here: all clocks of a
 * turn, and visitors that cancel some timers. */
static void e18_iterated_after_the_wrap(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 0; at <= 2 * sizes[s]; at += 1 + sizes[s] / 40)
            for (uint64_t remove = 0; remove < 4; remove++) {
                world w;
                probe p[24] = {0};
                crew_is(p, 24, NULL);
                crew.delay = remove; /* 3: none */
                world_open(&w, 1, sizes[s], 0);
                world_advance(&w, at);
                for (uint64_t i = 0; i < 24; i++) {
                    p[i].value = 100 * i;
                    world_add(&w, &p[i], at + i * (i < 12 ? 1 : i * i));
                }
                w.inside = true; /* no comparing amid a visit */
                CHECK(tw_foreach(&w.wheel, look_at, &w) == 24);
                w.inside = false;
                CHECK(crew.seen == 24);
                CHECK(tw_count(&w.wheel) == (remove == 3 ? 24u : 16u));
                world_sleep(&w, at + 20000);
                CHECK(w.fired == (remove == 3 ? 24u : 16u));
                world_close(&w);
            }
}

/* ------------------------------------------------------ F: periodic ------- */

static uint64_t wall;        /* the user's clock, as read in the callback */
static uint64_t missed_sum;  /* periods passed over, by the skip policy */
static uint64_t runs_wanted; /* firings until the callback stops */

static void burst(probe *p)
{
    if (p->fired < runs_wanted)
        world_add(p->world, p, tw_after(tw_deadline(&p->timer), p->value));
}

static void delay(probe *p)
{
    if (p->fired < runs_wanted)
        world_add(p->world, p, tw_after(wall, p->value));
}

static void skip(probe *p)
{
    uint64_t missed = 0;
    if (p->fired == runs_wanted)
        return;
    world_add(p->world, p,
              tw_next_period(tw_deadline(&p->timer), p->value, wall, &missed));
    missed_sum += missed;
}

static uint64_t play_periodic(void (*policy)(probe *), uint32_t size,
                              uint64_t period, uint64_t jump, uint64_t *next)
{
    world w;
    probe p = {0};
    world_open(&w, 1, size, 0);
    p.then = policy;
    p.value = period;
    missed_sum = 0;
    runs_wanted = UINT64_MAX;
    world_add(&w, &p, period);
    wall = period;
    world_advance(&w, wall);
    CHECK(p.fired == 1 && tw_deadline(&p.timer) == 2 * period);
    wall = period + jump;
    uint64_t runs = world_advance(&w, wall);
    *next = tw_deadline(&p.timer);
    CHECK(*next > wall && w.count == 1);
    world_close(&w);
    return runs;
}

/* F1: libevent dfd808cb, tokio-rs/tokio#3574, nats-io/nats.rs#875: after a jump
 * of the clock a timer ran once for each passed period. Here the user chooses:
 * all periods, once and from now, or once and in phase. */
static void f1_burst_after_a_jump(void)
{
    uint64_t next;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t period = 2; period < 5000; period = period * 5 + 3) {
            uint64_t jump = 1000 * period + 1;
            CHECK(play_periodic(burst, sizes[s], period, jump, &next) == 1000);
            CHECK(next == 1002 * period);
            CHECK(play_periodic(delay, sizes[s], period, jump, &next) == 1);
            CHECK(next == 1002 * period + 1);
            CHECK(play_periodic(skip, sizes[s], period, jump, &next) == 1);
            CHECK(next == 1002 * period && missed_sum == 999);
        }
}

/* F2: wahern/timeout#8, #11: a timer late by more than a period lost its phase.
 * Here tw_next_period is compared with plain counting. */
static void f2_phase_lost(void)
{
    uint64_t missed = 99;
    CHECK(tw_next_period(222, 100, 250, NULL) == 322);
    for (uint64_t previous = 0; previous < 40; previous += 3)
        for (uint64_t period = 0; period < 20; period++)
            for (uint64_t now = 0; now < 120; now++) {
                uint64_t step = period == 0 ? 1 : period;
                uint64_t wanted = previous + step, passed = 0;
                while (wanted <= now) {
                    wanted += step;
                    passed++;
                }
                CHECK(tw_next_period(previous, period, now, &missed) == wanted);
                CHECK(missed == passed);
                for (unsigned bit = 8; bit < 63; bit += 18) {
                    uint64_t base = (uint64_t)1 << bit;
                    CHECK(tw_next_period(base + previous, period, base + now,
                                         &missed) == base + wanted);
                    CHECK(missed == passed);
                }
            }
}

/* F3: libevent e88079a8, sysprog21/linmo#59, nodejs/node#21822,
 * libuv/libuv#1381: each period began when the earlier period had been handled,
 * and the lateness added up. Here: 10^5 periods, advanced with jitter. */
static void f3_drift(void)
{
    uint64_t seed = 303;
    for (unsigned way = 0; way < 2; way++)
        for (uint64_t tick = 1; tick <= 10; tick += 9) {
            world w;
            probe p = {0};
            uint64_t worst = 0;
            const uint64_t period = 100;
            world_open(&w, tick, 64, 0);
            p.then = way == 0 ? burst : skip;
            p.value = period;
            runs_wanted = 100000;
            world_add(&w, &p, period);
            for (wall = 0; p.fired < runs_wanted;) {
                unsigned before = p.fired;
                wall += 1 + draw_below(&seed, 97);
                world_advance(&w, wall);
                if (p.fired != before && wall % period > worst)
                    worst = wall % period;
                if (!CHECK(wall < 101 * period * runs_wanted))
                    break;
            }
            CHECK(tw_deadline(&p.timer) == period * runs_wanted);
            CHECK(worst <= 97 + tick);
            world_close(&w);
        }
}

/* F4: libevent 38ec0a77: a periodic timer was started explicitly, and then took
 * its next deadline from the old schedule. Here an explicit start begins a new
 * phase at the given time. */
static void f4_schedule_after_an_explicit_start(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 1; at < 100; at++) {
            world w;
            probe p = {0};
            world_open(&w, 1, sizes[s], 0);
            p.then = burst;
            p.value = 100;
            runs_wanted = UINT64_MAX;
            world_add(&w, &p, 100);
            world_advance(&w, 300 + at);
            CHECK(p.fired == 3);
            world_add(&w, &p, tw_after(w.clock, 100));
            world_sleep(&w, 399 + at);
            CHECK(p.fired == 3);
            world_sleep(&w, 850 + at);
            CHECK(p.fired == 8 && p.fired_at == 800 + at);
            world_close(&w);
        }
}

/* F5: zeek/zeek#1689: a period of 0 never ended. tw_next_period treats 0 as 1.
 * With tw_after, a period of 0 gives a timer for "now". */
static void f5_period_of_zero(void)
{
    uint64_t next, missed;
    CHECK(tw_next_period(5, 0, 5, &missed) == 6 && missed == 0);
    CHECK(tw_next_period(5, 0, 9, &missed) == 10 && missed == 4);
    CHECK(tw_next_period(5, 0, 0, &missed) == 6 && missed == 0);
    for (size_t s = 0; s < COUNT(sizes); s++) {
        world w;
        probe p = {0};
        world_open(&w, 1, sizes[s], 0);
        p.then = burst; /* period 0: overdue again and again */
        runs_wanted = UINT64_MAX;
        world_add(&w, &p, 50);
        for (unsigned call = 1; call < 20; call++) {
            CHECK(world_advance(&w, 60) == 1);
            CHECK(p.fired == call);
        }
        p.then = skip;
        wall = 60;
        CHECK(world_advance(&w, wall) == 1);
        CHECK(tw_next_deadline(&w.wheel, &next) && next == 61);
        CHECK(world_advance(&w, wall) == 0);
        world_close(&w);
    }
}

/* F6: tokio-rs/tokio#6487, #6612: the next deadline exceeded the greatest time.
 * Here the deadline saturates, for any three numbers. */
static void f6_period_overflows(void)
{
    static const uint64_t v[] = {0,
                                 1,
                                 2,
                                 0xffffffff,
                                 UINT64_MAX / 2,
                                 UINT64_MAX / 2 + 1,
                                 UINT64_MAX - 2,
                                 UINT64_MAX - 1,
                                 UINT64_MAX};
    for (size_t i = 0; i < COUNT(v) * COUNT(v) * COUNT(v); i++) {
        uint64_t previous = v[i % 9], period = v[i / 9 % 9], now = v[i / 81];
        uint64_t missed = 7, step = period == 0 ? 1 : period;
        uint64_t next = tw_next_period(previous, period, now, &missed);
        uint64_t k = now < previous ? 0 : (now - previous) / step;
        CHECK(missed == k);
        CHECK(next > now || next == UINT64_MAX);
        CHECK(next > previous || next == UINT64_MAX);
        if (next != UINT64_MAX) {
            CHECK((next - previous) % step == 0);
            CHECK((next - previous) / step == k + 1);
        } else {
            CHECK(previous + k * step >= UINT64_MAX - step);
        }
    }
    world w;
    probe p = {0};
    world_open(&w, 1, 64, UINT64_MAX - 10);
    p.then = skip;
    p.value = 7;
    runs_wanted = 3;
    wall = UINT64_MAX - 3;
    world_add(&w, &p, UINT64_MAX - 4);
    CHECK(world_advance(&w, wall) == 1);
    CHECK(tw_deadline(&p.timer) == UINT64_MAX);
    wall = UINT64_MAX;
    CHECK(world_advance(&w, wall) == 1 && tw_is_pending(&p.timer));
    CHECK(world_advance(&w, wall) == 1 && p.fired == 3);
    world_close(&w);
}

/* F7: rfyiamcool/go-timewheel#13: from the second time on, a period that did
 * not divide the number of buckets was early or late. Here: all periods up to
 * three turns, nine times each, in single steps of the loop and in one jump. */
static void f7_second_and_later_fires(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t period = 1; period <= 3 * sizes[s]; period++)
            for (unsigned way = 0; way < 2; way++) {
                world w;
                probe p = {0};
                world_open(&w, 1, sizes[s], 0);
                p.then = burst;
                p.value = period;
                runs_wanted = 9;
                world_add(&w, &p, period);
                if (way == 0)
                    world_sleep(&w, 9 * period);
                else
                    world_advance(&w, 9 * period);
                CHECK(p.fired == 9 && p.fired_at == 9 * period);
                CHECK(way == 1 || w.wakes == 9);
                world_close(&w);
            }
}

/* ------------------------------------------------------- G: clocks -------- */

/* G1 (V23): apache/kafka KAFKA-4051, mwarning/KadNode#158, h2o/h2o#2321: the
 * wall clock was stepped. Backwards by any amount: nothing fires, the clock
 * stays, and going forward works as before. */
static void g1_clock_stepped_backwards(void)
{
    static const uint64_t back[] = {0, 5, 100, 4000, 1000000};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < COUNT(back); i++)
            for (uint64_t tick = 1; tick <= 10; tick += 9) {
                world w;
                probe p[20] = {0};
                const uint64_t at = 1000000;
                world_open(&w, tick, sizes[s], at);
                for (uint64_t k = 0; k < COUNT(p); k++)
                    world_add(&w, &p[k], at + 1 + k * k * 11);
                for (uint64_t now = at; now < at + 4500; now += 133) {
                    world_advance(&w, now);
                    uint64_t behind = now > back[i] ? now - back[i] : 0;
                    CHECK(world_advance(&w, behind) == 0);
                    CHECK(tw_now(&w.wheel) == now);
                    CHECK(world_limited(&w, behind, 5) == 0);
                    CHECK(world_poll(&w, behind) == NULL);
                    CHECK(tw_now(&w.wheel) == now);
                }
                CHECK(w.fired == COUNT(p));
                world_close(&w);
            }
}

/* G2 (V23): tokio-rs/tokio#684: the clock went back slightly, and an assertion
 * that time passes failed. */
static void g2_clock_slightly_backwards(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++) {
        world w;
        probe p = {0};
        world_open(&w, 1, sizes[s], 1000);
        for (uint64_t now = 1000; now < 1600; now++) {
            if (!p.pending)
                world_add(&w, &p, now + now % 40);
            world_advance(&w, now);
            for (unsigned again = 0; again < 3; again++) {
                CHECK(world_advance(&w, now - 1) == 0);
                CHECK(tw_now(&w.wheel) == now);
            }
            CHECK(p.pending == (tw_deadline(&p.timer) > now));
        }
        CHECK(p.fired > 20);
        world_close(&w);
    }
}

/* G3: libevent/libevent#46, #48, libuv/libuv#962, tokio-rs/tokio#2784: after a
 * suspend the loop waited for the old time-out. Here the loop resumes hours
 * later, with an overdue timer, a far timer and a new short timer. */
static void g3_resume_after_a_suspend(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t hours = 1; hours < 20000; hours = hours * 3 + 1) {
            world w;
            probe overdue = {0}, late = {0}, far = {0}, near = {0};
            uint64_t next, woken = 1000 + hours * 3600000;
            world_open(&w, 1, sizes[s], 1000);
            world_add(&w, &overdue, 1500);
            world_add(&w, &far, woken + 7200000);
            CHECK(tw_wait(&w.wheel, woken, 99999) == 0); /* not yet told */
            CHECK(world_advance(&w, woken) == 1);
            world_add(&w, &near, woken + 20);
            CHECK(tw_next_deadline(&w.wheel, &next) && next == woken + 20);
            CHECK(tw_wait(&w.wheel, woken, 99999) == 20);
            world_add(&w, &late, 2000);
            CHECK(tw_wait(&w.wheel, woken, 99999) == 0);
            CHECK(world_advance(&w, woken) == 1);
            CHECK(tw_wait(&w.wheel, woken, 99999) == 20);
            world_sleep(&w, woken + 7200000);
            CHECK(w.fired == 4 && w.idle_wakes == 0 && w.wakes == 2);
            world_close(&w);
        }
}

/* G4: luanti-org/luanti#4009, vpp 3d9f134e778: the first step was counted from
 * zero and everything expired at once. */
static void g4_first_call(void)
{
    static const uint64_t starts[] = {1, 1000000000000000, (uint64_t)1 << 63,
                                      UINT64_MAX - 1000};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < COUNT(starts); i++)
            for (uint64_t delay_by = 1; delay_by < 900;
                 delay_by = delay_by * 2 + 1) {
                world w;
                probe p = {0};
                world_open(&w, 1, sizes[s], starts[i]);
                CHECK(tw_now(&w.wheel) == starts[i]);
                world_add(&w, &p, starts[i] + delay_by);
                CHECK(world_advance(&w, starts[i]) == 0);
                CHECK(world_advance(&w, starts[i] + delay_by - 1) == 0);
                CHECK(world_advance(&w, starts[i] + delay_by) == 1);
                world_close(&w);
            }
}

/* Starts itself, with a clock that was read `value` ago. */
static void start_by_cached_clock(probe *p)
{
    world_add(p->world, p, wall - p->value + 10);
}

/* G5: grpc/grpc#26079, #26086: deadlines came from a cached clock. A timer was
 * due at once, always, and the loop was busy. Here a call fires the timer once,
 * or twice if the new deadline is the clock, and then returns. */
static void g5_deadline_from_a_cached_clock(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t age = 0; age < 40; age++) {
            world w;
            probe p = {0};
            world_open(&w, 1, sizes[s], 0);
            p.then = start_by_cached_clock;
            p.value = age;
            world_add(&w, &p, 50);
            for (wall = 50; wall < 90; wall++) /* overdue, then at `wall` */
                CHECK(world_advance(&w, wall) <= (age < 10 ? 1u : 2u));
            CHECK(age >= 10 ? p.fired >= 40 : p.fired == 1 + 39 / (10 - age));
            world_close(&w);
        }
}

/* ---------------------- H: what is left of the threads for one thread ----- */

/* H1: RussellLuo/timingwheel#31: during a flush a timer was in no bucket for a
 * moment. Stopping the timer reported nothing, and the timer fired. Here a
 * coarse bucket cascades, and the callback of the bucket's first timer cancels
 * the rest. Or a limited call stops during the cascade, and the test cancels
 * the rest. */
static void h1_cancelled_while_its_bucket_cascades(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 3; at < 70000; at = at * 5 + 1)
            for (size_t limit = 0; limit < 14; limit++) {
                world w;
                probe p[12] = {0}, more[260] = {0};
                crew_is(p, 12, NULL);
                crew.actions = 0xaaa; /* odd indices */
                world_open(&w, 1, sizes[s], 0);
                for (uint64_t i = 0; i < 12; i++)
                    world_add(&w, &p[i], at + i / 3);
                for (uint64_t i = 0; limit % 2 == 0 && i < COUNT(more); i++)
                    world_add(&w, &more[i], at + 3);
                p[0].then = cancel_crew;
                if (limit > 0) {
                    world_limited(&w, at, limit);
                    for (size_t i = 1; i < 12; i += 2)
                        world_cancel(&w, &p[i]);
                    CHECK(world_finish(&w, at + 3, limit));
                }
                world_advance(&w, at + 4);
                for (size_t i = 0; i < 12; i += 2)
                    CHECK(p[i].fired == 1);
                for (size_t i = 3; i < 12; i += 2)
                    CHECK(p[i].fired == 0 || limit > 0);
                CHECK(w.count == 0);
                world_close(&w);
            }
}

static unsigned locked; /* a lock of the user, never to be taken twice */

static void take_lock_and_start(probe *p)
{
    CHECK(locked == 0);
    locked++;
    if (p->fired < 4) {
        world_add(p->world, p, 0); /* overdue: must not be fired in here */
        world_add(p->world, p, p->fired_at);
        world_add(p->world, p->other, p->fired_at + 1);
        world_add(p->world, p, p->fired_at + p->value);
    }
    locked--;
}

/* H2: RussellLuo/timingwheel#25, #53: a start during the flush took a lock that
 * was already held. Here a start never calls a callback, for any deadline. So a
 * lock that the user holds around a start is never taken twice. */
static void h2_started_with_a_lock_held(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t again = 0; again < 300; again = again * 2 + 1) {
            world w;
            probe p = {0}, q = {0};
            world_open(&w, 1, sizes[s], 10);
            p.then = take_lock_and_start;
            p.other = &q;
            p.value = again;
            locked = 1;
            world_add(&w, &p, 5); /* overdue as well */
            locked = 0;
            for (unsigned call = 0; call < 4; call++)
                world_advance(&w, 10 + call * again);
            world_sleep(&w, 2000);
            CHECK(p.fired == 4 && q.fired >= 1 && locked == 0);
            world_close(&w);
        }
}

/* H3: RussellLuo/timingwheel#5, tokio-rs/tokio#6683, grpc/grpc#11684: a timer
 * started between the reading of the wait and the sleep, and the loop
 * overslept. The recipe is to call tw_wait again after every start. Here a
 * start as if from another thread comes at each point of the sleep. */
static void h3_started_between_peek_and_sleep(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 0; at < 400; at += 3) {
            world w;
            probe p = {0}, submitted = {0};
            world_open(&w, 1, sizes[s], 0);
            world_add(&w, &p, 400);
            uint64_t wait = tw_wait(&w.wheel, 0, 1000);
            CHECK(wait == 400);
            world_add(&w, &submitted, at + 50); /* at time `at`, untold */
            wait = tw_wait(&w.wheel, at, 1000); /* woken: calls tw_wait again */
            CHECK(wait == (at + 50 < 400 ? 50 : 400 - at));
            world_advance(&w, at + wait);
            CHECK(w.fired >= 1);
            world_sleep(&w, 500);
            CHECK(submitted.fired_at == at + 50 && w.fired == 2);
            world_close(&w);
        }
}

/* ----------------------------------------- V: from the seeded-bug list ---- */

/* V18: tass-belgium/picotcp#308: the memory of an expired timer became a new
 * timer. A cancel for the old timer hit the new timer, or nothing. Here a fired
 * or cancelled timer has left the wheel entirely. Its memory can become a new
 * timer at once. */
static void v18_memory_used_again(void)
{
    uint64_t seed = 418;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        world w;
        probe p[8] = {0};
        unsigned cancelled = 0, fired = 0;
        world_open(&w, 1, sizes[s], 0);
        for (unsigned step = 0; step < 4000; step++) {
            probe *one = &p[draw_below(&seed, 8)];
            if (!one->pending) {
                fired += one->fired;
                memset(one, 0, sizeof *one); /* a new life */
                CHECK(!world_cancel(&w, one));
                world_add(&w, one, w.clock + draw_length(&seed, 11));
            } else if (step % 3 == 0) {
                cancelled += world_cancel(&w, one);
                CHECK(!world_cancel(&w, one));
            }
            world_advance(&w, w.clock + draw_below(&seed, 60));
        }
        CHECK(cancelled > 100 && fired > 100);
        world_close(&w);
    }
}

static const tap_case cases[] = {
    {"E1 a timer that starts itself for now runs once a call",
     e1_started_for_now_by_itself},
    {"E2 (V16) cancelled and freed after it was collected",
     e2_cancelled_after_it_was_collected},
    {"E3 (V11) a callback cancels any set of timers of its tick",
     e3_siblings_cancelled},
    {"E4 a callback cancels or restarts the next timer",
     e4_successor_cancelled},
    {"E5 everything cancelled from a callback", e5_all_cancelled_by_a_callback},
    {"E6 the wheel is not destroyed by its callback",
     e6_wheel_destroyed_by_a_callback},
    {"E7 the wheel is not advanced by its callback",
     e7_wheel_advanced_by_a_callback},
    {"E8 (V12) a periodic timer cancels itself", e8_periodic_cancels_itself},
    {"E9 (V10) a timer starts itself in its callback three times",
     e9_started_in_its_own_callback},
    {"E10 the state is right when the callback begins",
     e10_state_updated_after_the_callback},
    {"E11 a callback frees its own timer", e11_frees_itself},
    {"E12 restarted by another's callback after it was collected",
     e12_restarted_after_it_was_collected},
    {"E13 started while pending: runs once, at the last deadline",
     e13_started_while_pending},
    {"E14 set up again after cancel, fire and drain", e14_set_up_again},
    {"E15 cancelled when not pending: false, and nothing else",
     e15_cancelled_when_not_pending},
    {"E16 started during and after a drain",
     e16_started_during_and_after_a_drain},
    {"E17 a catch-up delivers each timer once", e17_delivered_twice},
    {"E18 foreach after the wrap, cancelling as it goes",
     e18_iterated_after_the_wrap},
    {"F1 a jump of 1000 periods: burst, delay, skip", f1_burst_after_a_jump},
    {"F2 the next period keeps its phase", f2_phase_lost},
    {"F3 10^5 periods with jitter do not drift", f3_drift},
    {"F4 an explicit start begins a new phase",
     f4_schedule_after_an_explicit_start},
    {"F5 a period of zero ends", f5_period_of_zero},
    {"F6 a period near 2^64 saturates", f6_period_overflows},
    {"F7 all periods up to three turns, nine times each",
     f7_second_and_later_fires},
    {"G1 (V23) the clock is stepped backwards", g1_clock_stepped_backwards},
    {"G2 (V23) the clock goes back by one, again and again",
     g2_clock_slightly_backwards},
    {"G3 a jump of hours, then a short timer", g3_resume_after_a_suspend},
    {"G4 the first call fires nothing that is not due", g4_first_call},
    {"G5 deadlines from a cached clock: the call ends",
     g5_deadline_from_a_cached_clock},
    {"H1 cancelled while its bucket cascades",
     h1_cancelled_while_its_bucket_cascades},
    {"H2 no start calls back under a lock of the user's",
     h2_started_with_a_lock_held},
    {"H3 a start between tw_wait and the sleep shortens the next wait",
     h3_started_between_peek_and_sleep},
    {"V18 a timer's memory is used again", v18_memory_used_again},
};

/* Rows without a case:
 *   H4  a race in creating the overflow wheel: a wheel belongs to one thread
 *   H5  races in unlinking: likewise
 *   E10, second half: the header forbids leaving a callback by longjmp
 *   E14, second half: setting up a pending timer is misuse */

TAP_MAIN(cases)
