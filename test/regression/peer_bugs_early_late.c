/* peer_bugs_early_late.c - the bugs of other timers, part 1: fired too early
 * (A), and fired too late or never (B).
 *
 * One case per bug. The case's name has the bug's letter and number. The
 * comment names the reports and the fault. V numbers are the numbers of
 * mutate/bugs.py.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../lib/recorder.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define FAR ((uint64_t)1 << 62)

static const uint32_t sizes[] = {2, 4, 8, 64, 256};

/* Checks that `p` does not fire one unit before it is due, and fires when
 * due. */
static void check_exact(world *w, probe *p)
{
    unsigned before = p->fired;
    uint64_t due = recorder_time(p->tick, w->tick);
    if (p->tick > UINT64_MAX / w->tick) {
        world_advance(w, UINT64_MAX);
        CHECK(p->fired == before);
        return;
    }
    if (due > w->clock) {
        world_advance(w, due - 1);
        CHECK(p->fired == before);
    }
    world_advance(w, due);
    CHECK(p->fired == before + 1);
}

/* Plays the whole life of one timer. The timer starts when the clock is
 * `at`. */
static void play_exact(uint64_t tick, uint32_t size, uint64_t start,
                       uint64_t at, uint64_t deadline)
{
    world w;
    probe p = {0};
    world_open(&w, tick, size, start);
    world_advance(&w, at);
    world_add(&w, &p, deadline);
    check_exact(&w, &p);
    world_close(&w);
}

/* --------------------------------------------------------------- A: early - */

/* A1: libuv/libuv#4773, libuv/libuv#1105, nodejs/node#26578: the clock was
 * truncated and then compared with >=. A timer ran up to one unit of the clock
 * before its delay had passed. */
static void a1_clock_truncated(void)
{
    static const uint64_t ticks[] = {1, 3, 10, 1000};
    static const uint64_t parts[] = {0, 1, 2, 4, 5, 9, 499, 500, 501, 999};
    for (size_t t = 0; t < COUNT(ticks); t++) {
        uint64_t tick = ticks[t];
        for (uint64_t phase = 0; phase < tick; phase++)
            for (uint64_t i = 0; i < 3 * COUNT(parts); i++) {
                uint64_t delay = i % 3 * tick + parts[i / 3] % tick;
                uint64_t now = 7 * tick + phase;
                world w;
                probe p = {0};
                world_open(&w, tick, 4, 0);
                world_advance(&w, now);
                world_add(&w, &p, tw_after(now, delay));
                check_exact(&w, &p);
                CHECK(p.fired == 1 && p.fired_at - now >= delay);
                CHECK(p.fired_at - now < delay + tick);
                world_close(&w);
            }
    }
}

/* A2: apache/kafka TimingWheel.java, RussellLuo/timingwheel: a bucket expired
 * at the start of its span, up to a tick minus one unit early. Here a hundred
 * neighbours share buckets, and the clock moves in units. */
static void a2_bucket_expires_at_its_start(void)
{
    static const uint64_t ticks[] = {2, 5, 10, 20};
    for (size_t t = 0; t < COUNT(ticks); t++)
        for (uint64_t phase = 0; phase < ticks[t]; phase++) {
            world w;
            probe p[100] = {0};
            uint64_t base = 3 * ticks[t] + phase;
            world_open(&w, ticks[t], 4, base);
            for (uint64_t i = 0; i < COUNT(p); i++)
                world_add(&w, &p[i], base + 17 * ticks[t] + i);
            for (uint64_t i = 0; w.count != 0 && i < 4000; i++)
                world_advance(&w, w.clock + 1);
            for (uint64_t i = 0; i < COUNT(p); i++) {
                CHECK(p[i].fired == 1);
                CHECK(p[i].fired_at >= tw_deadline(&p[i].timer));
                CHECK(p[i].fired_at < tw_deadline(&p[i].timer) + ticks[t]);
            }
            world_close(&w);
        }
}

/* A3: sozu-proxy/sozu#1369: the deadline was rounded to the nearest tick. A
 * timer ran up to half a tick early. */
static void a3_rounded_to_nearest(void)
{
    static const uint64_t ticks[] = {2, 3, 10, 100, 101};
    for (size_t t = 0; t < COUNT(ticks); t++)
        for (uint64_t laps = 0; laps < 40; laps += 3)
            for (uint64_t i = 0; i < 9; i++) {
                uint64_t tick = ticks[t], half = tick / 2;
                uint64_t now = 5 * tick + half + i % 3 - 1;
                uint64_t deadline = (6 + laps) * tick + half + i / 3 - 1;
                world w;
                probe p = {0};
                world_open(&w, tick, 8, now);
                world_add(&w, &p, deadline);
                while (p.fired == 0 && w.clock <= deadline + tick)
                    world_advance(&w, w.clock + 1);
                CHECK(p.fired == 1 && p.fired_at >= deadline);
                world_close(&w);
            }
}

/* Deadlines about one and two spans of every wheel, from `at`. */
static void play_spans(uint32_t size, uint64_t start, uint64_t at)
{
    for (uint64_t span = size; span <= FAR / size; span *= size)
        for (uint64_t i = 0; i < 6; i++) {
            uint64_t delay = (i / 3 + 1) * span + i % 3 - 1;
            play_exact(1, size, start, at, tw_after(at, delay));
        }
}

/* A4: twitter/rpc-perf#180, tokio-rs/tokio-timer#38, ApolloAuto/apollo#10872,
 * wahern/timeout#30: a delay longer than the wheel fired a lap early, in the
 * current bucket, or never. Every wheel, from every bucket of the first. */
static void a4_delay_longer_than_the_wheel(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++) {
        uint32_t turns = sizes[s] <= 8 ? sizes[s] : 1;
        for (uint64_t at = 0; at < sizes[s] * turns; at++)
            play_spans(sizes[s], 0, at);
    }
}

/* A5: linux 66e4b63624fc: the capacity check compared the expiry, and not its
 * distance to the clock. The check was right only with the clock at 0. */
static void a5_capacity_of_absolute_value(void)
{
    static const uint64_t starts[] = {0,
                                      1,
                                      3,
                                      7,
                                      63,
                                      255,
                                      1000000,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      0x100000001,
                                      0x7fffffffffffffff};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < COUNT(starts); i++)
            for (uint64_t at = 0; at < 3; at++)
                play_spans(sizes[s], starts[i], starts[i] + at);
}

/* A6: linux 30c66fc30e: the start of an already expired timer moved the clock
 * of the wheel back. Later timers were far too early. */
static void a6_overdue_start_moves_the_clock(void)
{
    static const uint64_t back[] = {0, 1, 2, 3, 4, 5, 16, 17, 64, 255, 1000};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < COUNT(back); i++)
            for (uint64_t clock = 1000; clock < 1000 + sizes[s]; clock++) {
                world w;
                probe p[12] = {0};
                world_open(&w, 1, sizes[s], 0);
                world_add(&w, &p[0], clock + 300);
                world_advance(&w, clock);
                world_add(&w, &p[1], clock - back[i]);
                CHECK(tw_now(&w.wheel) == clock);
                for (uint64_t k = 2; k < COUNT(p); k++)
                    world_add(&w, &p[k], clock + k * k * k / 4);
                world_sleep(&w, clock + 500);
                CHECK(w.fired == COUNT(p) && w.idle_wakes == 0);
                CHECK(p[1].fired_as == 1 && p[1].fired_at == clock);
                world_close(&w);
            }
}

/* A7: folly c53bda788, tgstation/tgstation#38994: with the wheel behind, a
 * bucket was reused for the next lap before the last lap was drained. */
static void a7_bucket_reused_while_behind(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t behind = 0; behind <= 3 * sizes[s]; behind++) {
            world w;
            probe p[16] = {0};
            uint64_t size = sizes[s], now = 1000 + behind;
            world_open(&w, 1, sizes[s], 1000);
            for (uint64_t i = 0; i < 8; i++) /* due while the wheel was
                                              * behind */
                world_add(&w, &p[i], 1000 + behind * i / 8);
            for (uint64_t i = 8; i < 16; i++)
                world_add(&w, &p[i], now + size + i - 12);
            world_advance(&w, now);
            world_sleep(&w, now + 2 * size + 8);
            CHECK(w.fired == 16 && w.idle_wakes == 0);
            world_close(&w);
        }
}

/* Restarts itself `value` later, until the fourth firing. */
static void start_again(probe *p)
{
    world *w = p->world;
    if (p->fired < 4)
        world_add(w, p, tw_after(p->fired_at, p->value));
}

/* A8: folly 09a84b282: a callback restarted its timer for the bucket being
 * emptied. The timer ran at once, in the same pass. */
static void a8_started_again_into_its_own_bucket(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t delay = 0; delay <= 2 * sizes[s] + 1; delay++)
            for (uint64_t at = 0; at < 9; at++) {
                world w;
                probe p = {0};
                world_open(&w, 1, sizes[s], at);
                p.then = start_again;
                p.value = delay;
                world_add(&w, &p, at + 5);
                CHECK(world_advance(&w, at + 5) == 1);
                for (unsigned i = 0; i < 3; i++)
                    CHECK(world_advance(&w, w.clock + delay) == 1);
                CHECK(p.fired == 4 && w.count == 0);
                world_close(&w);
            }
}

static const uint64_t extremes[] = {
    0x7ffffffe,         0x7fffffff,     0x80000000,         0xfffffffe,
    0xffffffff,         0x100000000,    0x7ffffffffffffffe, 0x7fffffffffffffff,
    0x8000000000000000, UINT64_MAX - 1, UINT64_MAX};

/* A9 (V5, V24): netty/netty#7760, libuv 9b619396d, akka/akka-core#867,
 * jetty/jetty.project#10148: now + delay overflowed and a very long delay ran
 * at once. As delays, as deadlines, and around UINT64_MAX - now. */
static void a9_now_plus_delay_overflows(void)
{
    static const uint64_t starts[] = {0, 1000, 0xfffffffb, UINT64_MAX - 5};
    static const uint64_t ticks[] = {1, 7, 1000, (uint64_t)1 << 40};
    for (size_t i = 0; i < COUNT(starts) * COUNT(ticks); i++)
        for (size_t k = 0; k < 2 * COUNT(extremes) + 3; k++) {
            uint64_t start = starts[i / 4], tick = ticks[i % 4];
            uint64_t value = extremes[k / 2 % COUNT(extremes)];
            uint64_t deadline = k % 2 ? tw_after(start, value) : value;
            if (k >= 2 * COUNT(extremes))
                deadline = tw_after(start, UINT64_MAX - start + k - 23);
            play_exact(tick, 256, start, start, deadline);
            play_exact(tick, 2, start, start, deadline);
        }
    CHECK(tw_after(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX - 5, 5) == UINT64_MAX);
    CHECK(tw_after(UINT64_MAX - 5, 4) == UINT64_MAX - 1);
}

/* Checks that a timer stays pending until the clock is `deadline`. */
static void check_far(world *w, probe *p, uint64_t deadline)
{
    uint64_t next = 0;
    CHECK(tw_is_pending(&p->timer));
    CHECK(tw_next_deadline(&w->wheel, &next) && next <= deadline);
    CHECK(world_advance(w, w->clock + 1000) == 0);
    CHECK(world_advance(w, deadline - 1) == 0);
    CHECK(world_advance(w, deadline) == 1);
    world_close(w);
}

/* A10: tokio-rs/tokio#5710, #6612: a clamped duration equalled the value for
 * "not registered". Here: every way to pass a deadline, and every value. */
static void a10_far_value_is_a_sentinel(void)
{
    for (size_t i = 3; i < COUNT(extremes); i++)
        for (unsigned way = 0; way < 6; way++) {
            world w;
            probe p = {0};
            uint64_t d = extremes[i];
            world_open(&w, 1, 64, 50);
            if (way == 1)
                world_within(&w, &p, d, d);
            else if (way == 2 || way == 3)
                world_add(&w, &p, way == 2 ? 100 : d);
            if (way == 2 || way == 4)
                world_postpone(&w, &p, d);
            if (way == 5)
                world_add(&w, &p, tw_next_period(50, d - 50, 50, NULL));
            if (way == 0 || way == 3)
                world_add(&w, &p, d);
            check_far(&w, &p, d);
        }
}

/* A long callback. Reads the user's clock, now 300 later, and starts `other`
 * with a delay from this reading. */
static void start_from_fresh_clock(probe *p)
{
    world_add(p->world, p->other, tw_after(p->fired_at + 300, p->value));
}

/* A11: tarantool/tarantool#9261, project-chip/connectedhomeip#28740,
 * zephyrproject-rtos/zephyr#12332: the delay was counted from a clock that was
 * stale by the length of a callback. Deadlines are absolute here: a delay
 * counts from the reading of the user. */
static void a11_delay_from_a_stale_clock(void)
{
    for (uint64_t delay = 0; delay < 700; delay += 7)
        for (uint64_t late = 0; late < 400; late += 37) {
            world w;
            probe a = {0}, b = {0};
            world_open(&w, 1, 16, 0);
            a.then = start_from_fresh_clock;
            a.other = &b;
            a.value = delay;
            world_add(&w, &a, 1000);
            world_advance(&w, 1000 + late);
            CHECK(a.fired == 1);
            CHECK(b.fired == (late >= 300 + delay));
            world_advance(&w, 1299 + delay);
            CHECK(b.fired == (late >= 300 + delay));
            world_advance(&w, 1300 + delay);
            CHECK(b.fired == 1 && b.fired_at == 1300 + delay);
            world_close(&w);
        }
}

/* A12: contrem/arduino-timer#7, JChristensen/Timer#13: a timer made inside a
 * handler began later than the cached clock. The unsigned difference wrapped,
 * and the timer ran at once. */
static void a12_start_in_the_future_of_the_clock(void)
{
    for (uint64_t now = 0; now <= 1300; now += 13) {
        world w;
        probe a = {0}, b = {0};
        world_open(&w, 1, 16, 0);
        a.then = start_from_fresh_clock;
        a.other = &b;
        a.value = 1;
        world_add(&w, &a, 1000);
        world_advance(&w, 1000);
        CHECK(a.fired == 1 && b.fired == 0);
        CHECK(world_advance(&w, now) == 0);
        CHECK(b.fired == 0 && tw_is_pending(&b.timer));
        CHECK(world_advance(&w, 1301) == 1);
        world_close(&w);
    }
}

/* Returns the deadline of timer i in one of five arrangements: one bucket, one
 * wheel, several wheels, from the far end, in pairs. */
static uint64_t arranged(unsigned arrangement, uint64_t i)
{
    switch (arrangement) {
    case 0:
        return 30;
    case 1:
        return 1 + i;
    case 2:
        return 1 + i * i * i * 7;
    case 3:
        return 100000 - i * i * 11;
    default:
        return 20 + i / 2 * 90;
    }
}

/* A13: ETLCPP/etl#1484: in a list of differences, removing any timer except the
 * last made all later timers early. Here: each of 20 timers, and every pair. */
static void a13_removal_shifts_the_others(void)
{
    for (unsigned arrangement = 0; arrangement < 5; arrangement++)
        for (size_t i = 0; i < 20; i++)
            for (size_t k = i; k < 20; k++) {
                world w;
                probe p[20] = {0};
                world_open(&w, 1, 8, 0);
                for (size_t n = 0; n < 20; n++)
                    world_add(&w, &p[n], arranged(arrangement, n));
                world_cancel(&w, &p[i]);
                if (k != i)
                    world_cancel(&w, &p[k]);
                world_sleep(&w, 100000);
                for (size_t n = 0; n < 20; n++)
                    CHECK(p[n].fired == (n != i && n != k));
                world_close(&w);
            }
}

/* A14: element-hq/synapse#17850: a second bucket with the same key at the end
 * of the structure made time-outs early. The order was far, farther, then
 * between. */
static void a14_same_key_twice_at_the_end(void)
{
    static const uint64_t d[] = {3, 9, 17, 31, 32, 65, 255, 256, 257, 1300};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < 1000; i++) {
            world w;
            probe p[3] = {0};
            world_open(&w, 1, sizes[s], 13);
            world_add(&w, &p[0], 13 + d[i / 100]);
            world_add(&w, &p[1], 13 + d[i / 10 % 10]);
            world_add(&w, &p[2], 13 + d[i % 10]);
            world_sleep(&w, 2000);
            CHECK(w.fired == 3 && w.idle_wakes == 0);
            world_close(&w);
        }
}

/* A15: nodejs/node-v0.x-archive#8960, libuv 427e4c9d4: the system woke the loop
 * some milliseconds early. The loop fired timers early, or did not sleep
 * again. */
static void a15_woken_a_bit_early(void)
{
    static const uint64_t early[] = {300, 15, 2, 1};
    uint64_t seed = 15;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned run = 0; run < 50; run++) {
            world w;
            probe p[10] = {0};
            uint64_t next = 0, again = 0;
            world_open(&w, 1 + run % 3, sizes[s], 5);
            for (size_t i = 0; i < COUNT(p); i++)
                world_add(&w, &p[i], 6 + draw_length(&seed, 14));
            while (tw_next_deadline(&w.wheel, &next)) {
                for (size_t i = 0; i < COUNT(early); i++) {
                    if (next < w.clock + early[i])
                        continue;
                    CHECK(world_advance(&w, next - early[i]) == 0);
                    CHECK(tw_next_deadline(&w.wheel, &again));
                    CHECK(again == next && again > w.clock);
                    CHECK(tw_wait(&w.wheel, w.clock, 999) != 0);
                }
                if (!CHECK(world_advance(&w, next) > 0))
                    break;
            }
            world_close(&w);
        }
}

/* ---------------------------------------------------- B: late, or never --- */

/* B1 (V4): tokio-rs/tokio#8334, pgdogdev/pgdog#1290, tokio-rs/tokio#5630: the
 * uptime crossed the span of the top wheel. Short timers went behind the only
 * far timer of the top wheel, and the loop overslept. */
static void b1_uptime_reaches_the_horizon(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t span = sizes[s]; span <= FAR / sizes[s]; span *= sizes[s])
            for (uint64_t below = 1; below < 4 && below < span; below++) {
                world w;
                probe far = {0}, p[12] = {0};
                uint64_t start = span - below;
                world_open(&w, 1, sizes[s], start);
                world_add(&w, &far, tw_after(start, 3 * span));
                for (uint64_t i = 0; i < 9; i++)
                    world_add(&w, &p[i], start + i);
                world_add(&w, &p[9], start + sizes[s] - 1);
                world_add(&w, &p[10], start + sizes[s]);
                world_add(&w, &p[11], start + sizes[s] + 1);
                world_sleep(&w, start + sizes[s] + 8);
                world_sleep(&w, tw_deadline(&far.timer));
                CHECK(w.fired == 13 && w.idle_wakes == 0);
                world_close(&w);
            }
}

/* B2: tokio-rs/tokio#854, vpp fa5231d75e1, apache/storm#4830: a new timer, due
 * before all pending timers, did not shorten the wait. */
static void b2_earlier_timer_does_not_shorten_the_wait(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t factor = 2; factor < 9; factor++) {
            world w;
            probe p[40] = {0};
            uint64_t next, deadline = 4000000000u;
            size_t started = 0;
            world_open(&w, 1, sizes[s], 3);
            for (; started < COUNT(p) && deadline > 3; started++) {
                world_add(&w, &p[started], deadline);
                CHECK(tw_next_deadline(&w.wheel, &next) && next == deadline);
                CHECK(tw_wait(&w.wheel, 3, UINT64_MAX) == deadline - 3);
                deadline = deadline * (factor - 1) / factor;
            }
            world_sleep(&w, 4000000000u);
            CHECK(w.fired == started && w.idle_wakes == 0);
            CHECK(w.wakes == started);
            world_close(&w);
        }
}

/* B3 (V8): glommio#44, caffeine 7cc9f1f41, vpp 217c62a53e5: the search for the
 * next deadline stopped at the first bucket with a timer. A timer in a fine
 * wheel hid an earlier timer in a coarse wheel. */
static void b3_one_bucket_hides_another(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t far = 2; far < 600; far = far * 5 / 4 + 1)
            for (uint64_t near = 1; near <= far && near < 40; near += 3)
                for (uint64_t apart = 0; apart < 12; apart++) {
                    world w;
                    probe a = {0}, b = {0}, c = {0};
                    world_open(&w, 1, sizes[s], 1000);
                    world_add(&w, &a, 1000 + far);
                    world_advance(&w, 1000 + far - near);
                    world_add(&w, &b, 1000 + far + apart);
                    world_add(&w, &c, 1000 + far - apart % near);
                    world_sleep(&w, 3000);
                    CHECK(w.fired == 3 && w.idle_wakes == 0);
                    world_close(&w);
                }
}

/* A random step: start, cancel, later, earlier, past, postpone, advance or
 * clear. */
static void queue_step(world *w, probe *p, size_t count, uint64_t *seed)
{
    probe *one = &p[draw_below(seed, count)];
    uint64_t at = w->clock + draw_length(seed, 12);
    switch (draw_below(seed, 10)) {
    case 0:
        world_cancel(w, one);
        break;
    case 1: /* later than before */
        world_add(w, one, tw_deadline(&one->timer) + draw_length(seed, 9));
        break;
    case 2: /* earlier than before */
        world_add(w, one, tw_deadline(&one->timer) / 2 + w->clock / 2);
        break;
    case 3:
        world_add(w, one, w->clock - draw_below(seed, 50));
        break;
    case 4:
        if (draw_below(seed, 8) == 0)
            for (size_t i = 0; i < count; i++)
                world_cancel(w, &p[i]);
        break;
    case 5: /* the first due timer */
        if (w->head != NULL)
            world_cancel(w, w->head);
        break;
    case 6:
        if (w->head != NULL)
            world_postpone(w, w->head, at);
        break;
    case 7:
        world_advance(w, w->clock + draw_length(seed, 8));
        break;
    default:
        world_add(w, one, at);
    }
}

/* B4: tokio-rs/tokio#849, #871, #1700, #4178, #6751, #8274, #8320,
 * microsoft/msquic#3206, libevent/libevent#1727: the next deadline was wrong
 * after a timer had been removed, reset, or all had been cleared. */
static void b4_next_deadline_after_changes(void)
{
    uint64_t seed = 4;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t count = 1; count <= 9; count += 2) {
            world w;
            probe p[9] = {0};
            world_open(&w, 1, sizes[s], 100);
            for (size_t i = 0; i < count; i++)
                world_add(&w, &p[i], 200 + i);
            for (unsigned step = 0; step < 1500; step++)
                queue_step(&w, p, count, &seed);
            for (size_t i = 0; i < count; i++)
                world_cancel(&w, &p[i]);
            CHECK(!tw_next_deadline(&w.wheel, &seed));
            world_close(&w);
        }
}

/* B5: linux 46c8f0b077a8, floodlight/indigo#227, #245: "nothing pending",
 * "overdue" and "very far" were told apart by odd numbers, and mixed up. */
static void b5_nothing_overdue_and_far(void)
{
    world w;
    probe p = {0};
    uint64_t next = 42;
    world_open(&w, 1, 16, 1000);
    CHECK(!tw_next_deadline(&w.wheel, &next) && next == 42);
    CHECK(tw_wait(&w.wheel, 1000, UINT64_MAX) == UINT64_MAX);
    CHECK(tw_wait(&w.wheel, 1000, 0) == 0);
    world_add(&w, &p, 1500);
    CHECK(tw_wait(&w.wheel, 1400, UINT64_MAX) == 100);
    CHECK(tw_wait(&w.wheel, 1400, 60) == 60);
    CHECK(tw_wait(&w.wheel, 1500, 60) == 0);
    CHECK(tw_wait(&w.wheel, 1501, 60) == 0);
    CHECK(tw_wait(&w.wheel, UINT64_MAX, 60) == 0);
    world_cancel(&w, &p); /* emptied */
    next = 42;
    CHECK(!tw_next_deadline(&w.wheel, &next) && next == 42);
    CHECK(tw_wait(&w.wheel, 1000, 60) == 60);
    world_add(&w, &p, 3); /* overdue */
    CHECK(tw_next_deadline(&w.wheel, &next) && next <= 1000);
    CHECK(tw_wait(&w.wheel, 1000, UINT64_MAX) == 0);
    world_advance(&w, 1500);       /* past the deadline of the cancelled
                                    * timer */
    world_add(&w, &p, UINT64_MAX); /* very far */
    CHECK(tw_next_deadline(&w.wheel, &next) && next == UINT64_MAX);
    CHECK(tw_wait(&w.wheel, 1000, UINT64_MAX) == UINT64_MAX - 1000);
    CHECK(tw_wait(&w.wheel, 0, UINT64_MAX) == UINT64_MAX);
    world_close(&w);
}

/* Plays one timer in every wheel. The clock moves by `step`. */
static void play_one_per_wheel(uint32_t size, uint64_t start, uint64_t step)
{
    world w;
    probe p[12] = {0};
    uint64_t reach = 1, last = start;
    world_open(&w, 1, size, start);
    for (size_t i = 0; i < COUNT(p) && reach < 3000; i++, reach *= size) {
        last = start + reach + reach / 2;
        world_add(&w, &p[i], last);
    }
    while (w.clock < last)
        world_advance(&w, tw_after(w.clock, step));
    CHECK(w.count == 0);
    world_close(&w);
}

/* B6 (V9): Yiling-J/theine-go#64, #65: advancing visited the bucket left, and
 * not the bucket entered. Timers were late by one unit of the wheel. */
static void b6_bucket_entered_is_not_looked_at(void)
{
    static const uint64_t steps[] = {1, 2, 3, 7, 64, 100, 257, 5000};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < COUNT(steps); i++)
            for (uint64_t start = 0; start < 9; start++)
                play_one_per_wheel(sizes[s], start * 31, steps[i]);
}

/* B7 (V6): folly 67cb8eed5, iqiyi/dpvs#339, akka/akka-core#1016,
 * zeromicro/go-zero#5510, netty/netty#1959: a timer due exactly at the border
 * between two turns was late by a tick, or by a turn. */
static void b7_due_at_the_border_of_a_turn(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t span = sizes[s]; span < 70000; span *= sizes[s])
            for (uint64_t phase = 0; phase < sizes[s] + 2; phase++) {
                world w;
                probe p[6] = {0};
                world_open(&w, 1, sizes[s], phase);
                for (uint64_t i = 0; i < 4; i++)
                    world_add(&w, &p[i], (i + 1) * span);
                world_add(&w, &p[4], phase + span);
                world_add(&w, &p[5], phase + 3 * span);
                world_advance(&w, span - 1);
                world_advance(&w, span);
                world_sleep(&w, 5 * span);
                CHECK(w.fired == 6 && w.idle_wakes == 0);
                world_close(&w);
            }
}

static void chain_from_clock(probe *p)
{
    if (p->fired < 1000)
        world_add(p->world, p, tw_after(p->fired_at, p->value));
}

static void chain_from_deadline(probe *p)
{
    uint64_t previous = tw_deadline(&p->timer);
    CHECK(p->fired_at - previous <= p->world->tick);
    if (p->fired < 1000)
        world_add(p->world, p, tw_after(previous, p->value));
}

/* B8: rfyiamcool/go-timewheel#28, siddontang/go#4, #5: every wait was one tick
 * too long. A chain of timers drifted without bound. */
static void b8_each_wait_one_tick_longer(void)
{
    static const uint64_t steps[] = {1, 3, 64, 1000, 1000000};
    for (size_t i = 0; i < COUNT(steps); i++)
        for (uint64_t delay = 1; delay < 700; delay = delay * 3 + 1) {
            world w;
            probe p = {0};
            world_open(&w, 1, 64, 0);
            p.then = chain_from_clock;
            p.value = delay;
            world_add(&w, &p, delay);
            while (w.clock < 1000 * delay)
                world_advance(&w, w.clock + steps[i]);
            CHECK(p.fired == 1000 && p.fired_at == 1000 * delay);
            world_close(&w);
        }
    for (uint64_t delay = 10; delay < 100; delay += 7) {
        world w;
        probe p = {0};
        world_open(&w, 10, 64, 0);
        p.then = chain_from_deadline;
        p.value = delay;
        world_add(&w, &p, delay);
        world_sleep(&w, 1000 * delay + 10);
        CHECK(p.fired == 1000);
        CHECK(p.fired_at >= 1000 * delay && p.fired_at < 1000 * delay + 10);
        world_close(&w);
    }
}

/* B9: camunda/camunda#767, aeron-io/agrona#73: advancing visited only the
 * present tick. A longer step left due timers unfired. */
static void b9_only_the_present_tick(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned jump = 0; jump < 7; jump++)
            for (uint64_t phase = 0; phase < 8; phase++) {
                uint64_t size = sizes[s];
                uint64_t jumps[] = {0,        1,         size - 1,  size,
                                    size + 1, 10 * size, 1000000000};
                world w;
                probe p[30] = {0};
                world_open(&w, 1, sizes[s], phase);
                for (uint64_t i = 0; i < 30; i++)
                    world_add(&w, &p[i], phase + jumps[jump] * i / 29);
                CHECK(world_advance(&w, phase + jumps[jump]) == 30);
                world_close(&w);
            }
}

/* Starts a timer `delay` ahead of `clock`, on a wheel that was idle since 0.
 * With `told` the wheel was advanced to `clock` before. Returns the number of
 * wheels, and stores the number of allocations. */
static size_t wheels_after_idling(uint64_t clock, bool told, uint64_t delay,
                                  size_t *calls)
{
    world w;
    probe p = {0};
    tw_stats stats;
    world_open(&w, 1, 16, 0);
    if (told)
        world_advance(&w, clock);
    size_t before = w.memory.calls;
    world_add(&w, &p, clock + delay);
    *calls = w.memory.calls - before;
    tw_get_stats(&w.wheel, &stats);
    CHECK(stats.buckets == 1);
    if (!told && delay != 0)
        CHECK(world_advance(&w, clock) == 0);
    check_exact(&w, &p);
    world_close(&w);
    return stats.wheels;
}

/* B10: mozilla/neqo#319, agrona 283c4db4: after an idle time longer than the
 * wheel, the wheel failed. Or the clock had stayed behind, and the next timer
 * was misplaced. */
static void b10_idle_longer_than_the_wheel(void)
{
    static const uint64_t idle[] = {15,   16,         17,      255,    256,
                                    4096, 1000000000, FAR / 3, FAR * 3};
    for (size_t i = 0; i < COUNT(idle); i++)
        for (uint64_t delay = 0; delay < 40; delay++) {
            size_t fresh, told, untold;
            size_t wheels = wheels_after_idling(0, true, delay, &fresh);
            CHECK(wheels_after_idling(idle[i], true, delay, &told) == wheels);
            CHECK(told == fresh);
            CHECK(wheels_after_idling(idle[i], false, delay, &untold) >=
                  wheels);
        }
}

/* B11: vpp 3d9f134e778, taken back in 7a91b0e264d: a guard against great
 * jumps of the clock dropped the timers. */
static void b11_great_jump_refused(void)
{
    uint64_t seed = 11;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (unsigned bits = 33; bits < 64; bits += 5) {
            world w;
            probe p[64] = {0};
            tw_stats stats;
            uint64_t jump = (uint64_t)1 << bits;
            world_open(&w, 1, sizes[s], 12345);
            for (size_t i = 0; i < COUNT(p); i++)
                world_add(&w, &p[i], 12345 + draw_below(&seed, jump));
            CHECK(world_advance(&w, 12345 + jump) == COUNT(p));
            tw_get_stats(&w.wheel, &stats);
            CHECK(stats.cascaded <= COUNT(p) * stats.wheels);
            world_close(&w);
        }
}

/* B12: vpp fa5231d75e1: in a long catch-up, timers due exactly at the cursor
 * were put back as pending. Here each bucket on the way has a timer at its
 * start. With `twice` a second timer is due one tick later. */
static void b12_put_back_while_catching_up(void)
{
    for (uint32_t size = 2; size <= 16; size *= 2)
        for (uint64_t phase = 0; phase < size; phase++)
            for (unsigned twice = 0; twice < 2; twice++) {
                world w;
                probe p[200] = {0};
                uint64_t end = 3 * (uint64_t)size * size;
                size_t used = 0;
                world_open(&w, 1, size, phase);
                for (uint64_t at = end; at > 0 && used < 199; at -= size) {
                    world_add(&w, &p[used++], at);
                    if (twice)
                        world_add(&w, &p[used++], at + 1);
                }
                CHECK(world_advance(&w, end + 1) == used);
                world_close(&w);
            }
}

/* B13: caffeine 7fa11d4bc, b7e10e34c, 94636fd69: the clock was signed, and the
 * wheel failed when the sign changed. Here the clock is unsigned. The case
 * crosses the middle and plays at both ends. */
static void b13_clock_changes_its_sign(void)
{
    static const uint64_t around[] = {
        0, 40, 0x80000000, 0x100000000, (uint64_t)1 << 63, UINT64_MAX - 40};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < COUNT(around); i++)
            for (uint64_t below = 0; below < 40; below++) {
                world w;
                probe p[20] = {0};
                uint64_t start = around[i] - (i == 0 ? 0 : below);
                world_open(&w, 1, sizes[s], start);
                for (uint64_t k = 0; k < COUNT(p); k++)
                    world_add(&w, &p[k], start + k * 4);
                world_sleep(&w, start + 40);
                world_sleep(&w, start + 80 > start ? start + 80 : UINT64_MAX);
                CHECK(w.idle_wakes == 0);
                CHECK(w.fired == COUNT(p) || w.clock == UINT64_MAX);
                world_close(&w);
            }
}

/* B14: caffeine b7e10e34c, agrona c79a4b8f, 25095763: the step was narrowed to
 * 32 bits, and a large step had no effect. */
static void b14_step_narrowed_to_32_bits(void)
{
    static const unsigned bits[] = {31, 32, 33, 48, 63};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < COUNT(bits); i++)
            for (uint64_t tick = 1; tick <= 1000; tick *= 10) {
                world w;
                probe p[3] = {0};
                uint64_t step = ((uint64_t)1 << bits[i]) / tick * tick;
                world_open(&w, tick, sizes[s], 0);
                world_add(&w, &p[0], step);
                world_add(&w, &p[1], step + tick);
                world_add(&w, &p[2], 5 * tick);
                CHECK(world_advance(&w, step) == 2);
                CHECK(tw_now(&w.wheel) == step);
                CHECK(world_advance(&w, step + tick) == 1);
                world_close(&w);
            }
}

/* Starts 10,000 timers around the border at 65,536, and 20 far timers. */
static void start_many(world *w, probe *p)
{
    for (uint64_t i = 0; i < 10000; i++)
        world_add(w, &p[i], 65536 - 2500 + i / 2);
    for (uint64_t i = 0; i < 20; i++)
        world_add(w, &p[10000 + i], 1000000 + i * i * i * 99);
}

/* B15: Erlang OTP-17253: long timers and many near timers were pending. An
 * expiry pass that had to yield delayed its timers until another timer
 * fired. */
static void b15_long_timers_and_a_yielding_pass(void)
{
    static probe p[10020];
    static const size_t limits[] = {1, 17, 64, 1000};
    for (size_t i = 0; i < COUNT(limits); i++) {
        world w;
        memset(p, 0, sizeof p);
        world_open(&w, 1, 256, 0);
        start_many(&w, p);
        world_limited(&w, 65536, limits[i]);
        CHECK(world_finish(&w, 65536, limits[i])); /* up to the border */
        CHECK(w.fired == 5002);
        for (uint64_t now = 65537; now < 68100; now += limits[i])
            world_limited(&w, now, limits[i]); /* falls behind, or not */
        CHECK(world_finish(&w, 70000, limits[i]));
        CHECK(w.fired == 10000);
        CHECK(world_finish(&w, 2000000, limits[i]));
        CHECK(w.fired == 10020);
        world_close(&w);
    }
}

/* B16: agrona 8d05ce12, 38ad7a8e, vpp 954898f9453: at the limit the rest of the
 * bucket was skipped or starved. Or the clock moved on. */
static void b16_limit_loses_its_place(void)
{
    static const size_t limits[] = {1, 2, 3, 7};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t i = 0; i < COUNT(limits); i++)
            for (uint64_t spread = 0; spread < 300; spread = spread * 3 + 1) {
                world w;
                probe p[40] = {0};
                world_open(&w, 1, sizes[s], 9);
                for (uint64_t k = 0; k < 40; k++)
                    world_add(&w, &p[k], 20 + k / 5 * spread);
                uint64_t now = 20 + 7 * spread;
                CHECK(world_limited(&w, 19, 100) == 0);
                world_limited(&w, now, limits[i]);
                world_advance(&w, 0); /* fires only the timers left at this
                                       * tick */
                CHECK(tw_now(&w.wheel) <= now);
                CHECK(world_finish(&w, now, limits[i]));
                CHECK(w.fired == 40 && tw_now(&w.wheel) == now);
                CHECK(world_limited(&w, now, limits[i]) == 0);
                world_close(&w);
            }
}

static void start_again_for_ever(probe *p)
{
    world_add(p->world, p, tw_after(p->fired_at, p->value));
}

/* B17: zeek/zeek#1689, #1711: a budget counted down to 0 meant "no limit" and
 * expiry never ended. */
static void b17_limit_counted_down_to_zero(void)
{
    for (size_t due = 1; due <= 12; due++)
        for (uint64_t delay = 0; delay < 20; delay++) {
            world w;
            probe p[12] = {0};
            world_open(&w, 1, 8, 0);
            for (size_t i = 0; i < due; i++) {
                p[i].then = start_again_for_ever;
                p[i].value = delay;
                world_add(&w, &p[i], 100);
            }
            for (unsigned i = 0; i < 3; i++) {
                uint64_t clock = w.clock;
                CHECK(world_limited(&w, 1000000, 0) == 0);
                CHECK(tw_now(&w.wheel) == clock && w.count == due);
            }
            CHECK(world_limited(&w, 100, 12) <= due);
            for (unsigned i = 0; i < 9; i++)
                CHECK(world_limited(&w, UINT64_MAX, due) <= due);
            CHECK(w.count == due);
            world_close(&w);
        }
}

/* B18 (V3): netty/netty#1953, folly 055fce5f7, tokio-rs/tokio#2473: a delay of
 * zero or less ran much later, or got a negative tick. Or an assertion failed
 * because the deadline was equal to the clock. */
static void b18_deadline_not_after_the_clock(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t clock = 600; clock < 600 + 2 * sizes[s]; clock++)
            for (uint64_t back = 0; back <= 600; back = back * 2 + 1) {
                world w;
                probe a = {0}, b = {0};
                world_open(&w, 1, sizes[s], 599);
                world_advance(&w, clock);
                world_add(&w, &a, clock - back);
                CHECK(world_advance(&w, clock) == 1);
                world_add(&w, &a, clock - back);
                world_add(&w, &b, clock);
                CHECK(tw_wait(&w.wheel, clock, 100) == 0);
                CHECK(world_advance(&w, 0) == 2); /* for any argument */
                CHECK(a.fired == 2 && b.fired == 1);
                CHECK(tw_now(&w.wheel) == clock);
                world_close(&w);
            }
}

/* B19: slackhq/nebula#801, tokio-rs/tokio#2184, #3270, #2473: an index was out
 * of range, or an assertion failed. The causes were the last bucket, the
 * greatest delay, bucket 0, and a deadline equal to the clock. Here: every
 * clock and delay. */
static void b19_every_bucket_every_delay(void)
{
    for (uint32_t size = 2; size <= 8; size *= 2) {
        uint64_t square = (uint64_t)size * size;
        uint64_t delays = size == 2 ? 40 : size == 4 ? 140 : 150;
        world w;
        probe p = {0};
        world_open(&w, 1, size, 0);
        for (uint64_t at = 0; at < square; at++)
            for (uint64_t delay = 0; delay <= delays; delay++) {
                play_exact(1, size, 0, at, at + delay);
                /* again on a wheel in use, from the same bucket */
                world_advance(&w, (w.clock / square + 1) * square + at);
                world_add(&w, &p, w.clock + delay);
                check_exact(&w, &p);
            }
        world_close(&w);
    }
}

static probe followers[2];

/* Starts two timers just beyond one turn of the first wheel. */
static void start_followers(probe *p)
{
    world_add(p->world, &followers[0], p->fired_at + p->value + 1);
    world_add(p->world, &followers[1], p->fired_at + p->value + 2);
}

/* B20: ratas 290f5d3, folly 6ea3ec050, b57596185: the wheels disagreed about
 * the time during a cascade. A timer started by a callback went into the wrong
 * bucket. Here: every bucket of two turns, in single steps and in jumps. */
static void b20_wheels_disagree_about_the_time(void)
{
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t at = 1; at <= 2 * sizes[s]; at++)
            for (unsigned way = 0; way < 3; way++) {
                world w;
                probe p = {0};
                uint64_t end = at + sizes[s] + 2;
                memset(followers, 0, sizeof followers);
                world_open(&w, 1, sizes[s], 0);
                p.then = start_followers;
                p.value = sizes[s];
                world_add(&w, &p, at);
                if (way == 0)
                    world_advance(&w, end);
                else if (way == 1)
                    world_sleep(&w, end);
                while (w.clock < end)
                    world_advance(&w, w.clock + 1);
                CHECK(w.fired == 3 && w.count == 0);
                world_close(&w);
            }
}

/* B21: wahern/timeout bafeec9: the test for "empty" ran before the unlinking,
 * and the bit of an empty bucket stayed set. tw_check after every step. */
static void b21_bit_of_an_empty_bucket(void)
{
    uint64_t seed = 21;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t count = 1; count <= 4; count++) {
            world w;
            probe p[4] = {0};
            world_open(&w, 1, sizes[s], 0);
            for (unsigned step = 0; step < 1500; step++) {
                world_random(&w, p, count, &seed, 10);
                tw_stats stats;
                tw_get_stats(&w.wheel, &stats);
                CHECK(stats.pending == w.count);
                CHECK(stats.buckets <= w.count);
                CHECK((stats.buckets == 0) == (w.count == 0));
            }
            world_close(&w);
        }
}

/* B22: wahern/timeout f301bdf: a step longer than a turn of a wheel was not
 * taken apart rightly and the error added up. */
static void b22_step_longer_than_a_turn(void)
{
    uint64_t seed = 22;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (uint64_t turns = 1; turns <= 64; turns *= 4) {
            world w;
            probe p[20] = {0};
            world_open(&w, 1, sizes[s], 0);
            for (unsigned step = 0; step < 300; step++) {
                uint64_t reach = 3 * turns * sizes[s];
                for (unsigned i = 0; i < 3; i++)
                    world_add(&w, &p[draw_below(&seed, COUNT(p))],
                              w.clock + draw_below(&seed, reach));
                world_advance(&w, w.clock + turns * sizes[s] +
                                      draw_below(&seed, 2 * sizes[s]));
            }
            world_close(&w);
        }
}

/* B23: netty/netty#1246, #9710, sofastack/sofa-jraft#344: with less than one
 * unit left, the wait was 0, and the loop ran without sleeping. */
static void b23_wait_rounds_to_zero(void)
{
    uint64_t seed = 23;
    for (uint64_t tick = 1; tick <= 1000; tick *= 10)
        for (unsigned run = 0; run < 40; run++) {
            world w;
            probe p[20] = {0};
            uint64_t next;
            world_open(&w, tick, 16, 0);
            for (size_t i = 0; i < COUNT(p); i++)
                world_add(&w, &p[i], draw_below(&seed, 300 * tick));
            while (w.count != 0) {
                world_advance(&w, w.clock + draw_below(&seed, 3 * tick));
                if (!tw_next_deadline(&w.wheel, &next))
                    break;
                CHECK(next > w.clock);
                uint64_t wait = tw_wait(&w.wheel, w.clock, UINT64_MAX);
                CHECK(wait != 0 && w.clock + wait == next);
            }
            world_close(&w);
        }
}

/* B24: RussellLuo/timingwheel#19: an eight-day timer fired the next day, with
 * some 200 far timers and a wall clock that steps. Here: two years in
 * milliseconds. */
static void b24_far_timers_and_a_stepping_clock(void)
{
    const uint64_t hour = 3600000, day = 24 * hour;
    uint64_t seed = 24;
    for (size_t s = 1; s < COUNT(sizes); s++) {
        world w;
        probe p[200] = {0};
        uint64_t wall = 1500000000000u, begin = wall;
        world_open(&w, 1 + 9 * (s % 2), sizes[s], wall);
        for (size_t i = 0; i < COUNT(p); i++)
            world_add(&w, &p[i], wall + hour * (1 + i * i / 2));
        while (wall < begin + 900 * day) {
            wall += draw_below(&seed, day);
            if (draw_below(&seed, 4) == 0)
                wall -= draw_below(&seed, 2 * hour);
            world_advance(&w, wall);
        }
        CHECK(w.fired == COUNT(p) && w.count == 0);
        world_close(&w);
    }
}

/* B25: tokio-rs/tokio#6682, #6715, #7226: timers were lost after the wheel
 * had been made faster. Random runs on fixed seeds, to be kept for ever. */
static void b25_lost_after_an_optimisation(void)
{
    static const uint64_t starts[] = {0, 0x7ffffff0, 0xffffff00,
                                      UINT64_MAX / 2 - 99,
                                      UINT64_MAX - ((uint64_t)1 << 40)};
    static const uint64_t ticks[] = {1, 2, 10, 1000, 1000000};
    for (uint64_t i = 0; i < 125; i++) {
        world w;
        probe p[24] = {0};
        uint64_t seed = 2500 + i;
        world_open(&w, ticks[i % 5], sizes[i / 5 % 5], starts[i / 25]);
        for (unsigned step = 0; step < 1200; step++)
            world_random(&w, p, COUNT(p), &seed, 12 + 4 * (step % 3));
        world_exhaust(&w);
        world_close(&w);
    }
}

/* Every row of A and B applies to this library. */

static const tap_case cases[] = {
    {"A1 clock truncated: no timer before its delay has passed",
     a1_clock_truncated},
    {"A2 a bucket does not expire at its start",
     a2_bucket_expires_at_its_start},
    {"A3 deadlines are not rounded to the nearest tick", a3_rounded_to_nearest},
    {"A4 (V7) delays about every span, from every bucket",
     a4_delay_longer_than_the_wheel},
    {"A5 (V2) reach is measured by the distance, whatever the clock",
     a5_capacity_of_absolute_value},
    {"A6 (V1) an overdue start does not move the clock back",
     a6_overdue_start_moves_the_clock},
    {"A7 a bucket is not reused while the wheel is behind",
     a7_bucket_reused_while_behind},
    {"A8 started again by its callback into the bucket being emptied",
     a8_started_again_into_its_own_bucket},
    {"A9 (V5, V24) now + delay saturates; UINT64_MAX is a deadline",
     a9_now_plus_delay_overflows},
    {"A10 no far value is a sentinel, however it is given",
     a10_far_value_is_a_sentinel},
    {"A11 a delay counts from the clock that the user read",
     a11_delay_from_a_stale_clock},
    {"A12 a start computed from a later clock does not wrap",
     a12_start_in_the_future_of_the_clock},
    {"A13 removing any timer leaves the others exact",
     a13_removal_shifts_the_others},
    {"A14 far, farther, between: every order of three",
     a14_same_key_twice_at_the_end},
    {"A15 woken early: nothing fires, the next deadline stays",
     a15_woken_a_bit_early},
    {"B1 (V4) uptime crosses the span of every wheel",
     b1_uptime_reaches_the_horizon},
    {"B2 an earlier timer shortens the wait",
     b2_earlier_timer_does_not_shorten_the_wait},
    {"B3 (V8) no bucket hides an earlier deadline elsewhere",
     b3_one_bucket_hides_another},
    {"B4 (V14) next deadline after remove, reset and clear",
     b4_next_deadline_after_changes},
    {"B5 nothing pending, overdue and far are told apart",
     b5_nothing_overdue_and_far},
    {"B6 (V9) the bucket that is entered is looked at",
     b6_bucket_entered_is_not_looked_at},
    {"B7 (V6) a timer due exactly at the end of a turn fires in time",
     b7_due_at_the_border_of_a_turn},
    {"B8 a thousand chained waits do not drift", b8_each_wait_one_tick_longer},
    {"B9 one call fires everything that is due", b9_only_the_present_tick},
    {"B10 idle longer than the wheel, then a short timer",
     b10_idle_longer_than_the_wheel},
    {"B11 large jumps fire all timers, at a bounded cost",
     b11_great_jump_refused},
    {"B12 due at each bucket's start during a jump",
     b12_put_back_while_catching_up},
    {"B13 the clock crosses 2^31, 2^32, 2^63 and ends at 2^64 - 1",
     b13_clock_changes_its_sign},
    {"B14 single steps of 2^31 ticks and more", b14_step_narrowed_to_32_bits},
    {"B15 limited calls about a cascade, with far timers",
     b15_long_timers_and_a_yielding_pass},
    {"B16 limits of 1, 2, 3, 7: each timer once, in order",
     b16_limit_loses_its_place},
    {"B17 limit 0 and limit = due, callbacks adding due timers",
     b17_limit_counted_down_to_zero},
    {"B18 (V3) a deadline not after the clock fires in the next call",
     b18_deadline_not_after_the_clock},
    {"B19 every bucket x every delay of small wheels",
     b19_every_bucket_every_delay},
    {"B20 started at the border from a callback, every bucket",
     b20_wheels_disagree_about_the_time},
    {"B21 no bit stays set for an empty bucket", b21_bit_of_an_empty_bucket},
    {"B22 random steps longer than a turn", b22_step_longer_than_a_turn},
    {"B23 no wait of 0 unless something is due", b23_wait_rounds_to_zero},
    {"B24 200 timers of hours to years, the clock stepping",
     b24_far_timers_and_a_stepping_clock},
    {"B25 random runs on fixed seeds", b25_lost_after_an_optimisation},
};

TAP_MAIN(cases)
