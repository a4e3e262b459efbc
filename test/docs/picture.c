/* picture.c - draws wheels.svg, the moving picture of README.md, on standard
 * output. picture.sh compares the two.
 *
 * The picture shows a real run. After each frame tw_dump gives the wheels,
 * their keys, and the number of timers in each bucket. To find the bucket of a
 * timer, the program runs everything again, cancels the timer, and looks for
 * the bucket that has lost one. check() compares the captions with the run: a
 * false caption ends the program.
 *
 * SPDX-License-Identifier: MIT
 */
#define TWI_FEW 2 /* a bucket of 3 cascades: there is no room for 13 timers */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- the run --- */

enum { SIZE = 8, BUCKETS = 2 * SIZE, WHEELS = 3, NO_KEY = 9999 };

static const unsigned deadlines[] = {3, 9, 18, 21, 23, 35, 4, 36, 50, 300, 310};
enum { TIMERS = sizeof(deadlines) / sizeof(deadlines[0]), LATER = 29 };
enum { BEFORE = 6, MOVING = 6 }; /* timers there at first; the postponed one */

/* A person reads four words a second. A second line is a tspan. */
static const struct frame {
    const char *caption;
    enum { START, EXPLAIN, JUMP, POSTPONE } action;
    unsigned first, last;         /* the timers of START, POSTPONE */
    unsigned limit, moves, fires; /* a JUMP: its limit and effect */
} frames[] = {
    {"A timer for tick 4 goes to bucket 4: no search.", START, MOVING, MOVING,
     0, 0, 0},
    {"Wheel 1 holds later timers, 8 ticks per bucket.", START, 7, 8, 0, 0, 0},
    {"For timers far ahead, wheel 2 is created.", START, 9, 10, 0, 0, 0},
    {"The loop sleeps until the first tick in the delay queue.", EXPLAIN, 1, 0,
     0, 0, 0},
    {"The clock jumps to the first work: a timer fires.", JUMP, 1, 0, 99, 0, 1},
    {"Timer 4 is postponed to 29, and stays for now.", POSTPONE, MOVING, MOVING,
     0, 0, 0},
    {"The clock comes to its old bucket: the timer moves.", JUMP, 1, 0, 99, 1,
     0},
    {"The next one fires. Buckets of past ticks, 0 to 7,"
     "<tspan x='6' dy='31'>now stand for the ticks 16 to 23.</tspan>",
     JUMP, 1, 0, 99, 0, 1},
    {"A bucket of 3 cascades: its timers move to wheel 0."
     "<tspan x='6' dy='31'>(In the library, buckets below 13 fire in "
     "place.)</tspan>",
     JUMP, 1, 0, 3, 3, 0},
    {"The first of them fires. Timers were never sorted.", JUMP, 1, 0, 99, 0,
     1},
};
enum { FRAMES = sizeof(frames) / sizeof(frames[0]) };

/* The state after a frame. The first moment is before all frames. */
typedef struct moment {
    unsigned clock, wheels, fired;
    unsigned key[WHEELS], count[WHEELS * BUCKETS];
    struct place {
        tw_state state;
        unsigned deadline, bucket; /* buckets are counted through all wheels */
        unsigned order;            /* how many timers fired before */
    } timers[TIMERS];
} moment;

static moment moments[FRAMES + 1];
static tw_timer timers[TIMERS];
static moment *now; /* of the run that goes on */

#define EXPECT(expr) \
    ((expr) ? (void)0 : (printf("%d: not %s\n", __LINE__, #expr), exit(1)))

static void on_timer(timingwheel *tw, tw_timer *timer)
{
    EXPECT(tw_now(tw) == tw_deadline(timer));
    now->timers[timer - timers].order = now->fired++;
}

static void act(timingwheel *tw, const struct frame *f)
{
    uint64_t time;
    if (f->action == JUMP) {
        EXPECT(tw_next_deadline(tw, &time));
        tw_advance_clock_limit(tw, time, f->limit);
    }
    for (unsigned i = f->first; i <= f->last; i++) {
        if (f->action == START)
            EXPECT(tw_start(tw, &timers[i], deadlines[i]) == TW_OK);
        if (f->action == POSTPONE)
            EXPECT(tw_postpone(tw, &timers[i], LATER) == TW_OK);
    }
}

static unsigned step_of(unsigned wheel)
{
    return wheel == 0 ? 1 : SIZE * step_of(wheel - 1);
}

/* Reads a line of tw_dump: a wheel, or its buckets from the clock's own on. */
static void read_line(const char *line, void *context)
{
    static unsigned wheel, step, from;
    moment *m = (moment *)context;
    unsigned key = NO_KEY;
    if (sscanf(line, "wheel %u: step %u, from tick %u, key %u", &wheel, &step,
               &from, &key) >= 3) {
        EXPECT(wheel < WHEELS && wheel == m->wheels++ &&
               step == step_of(wheel));
        m->key[wheel] = key;
    }
    for (unsigned i = 0; line[0] == '[' && i < BUCKETS; i++)
        m->count[wheel * BUCKETS + (from / step + i) % BUCKETS] =
            line[1 + i] == '.' ? 0 : (unsigned)(line[1 + i] - '0');
}

/* Runs the first frames. Then cancels the timer `without`, or finds the bucket
 * of each timer. */
static moment run(unsigned count, tw_timer *without)
{
    static const tw_config config = {1, 0, SIZE, 0, NULL};
    timingwheel tw;
    moment m;
    memset(&m, 0, sizeof(m));
    now = &m;
    EXPECT(tw_init(&tw, &config) == TW_OK);
    for (unsigned i = 0; i < TIMERS; i++)
        tw_timer_init(&timers[i], on_timer);
    for (unsigned i = 0; i < BEFORE; i++)
        EXPECT(tw_start(&tw, &timers[i], deadlines[i]) == TW_OK);
    for (unsigned i = 0; i < count; i++)
        act(&tw, &frames[i]);
    EXPECT(without == NULL || tw_cancel(&tw, without));
    m.clock = (unsigned)tw_now(&tw);
    tw_dump(&tw, read_line, &m);
    for (unsigned i = 0; i < TIMERS; i++) {
        struct place *place = &m.timers[i];
        place->state = tw_timer_state(&timers[i]);
        place->deadline = (unsigned)tw_deadline(&timers[i]);
        if (place->state == TW_IDLE)
            place->deadline = deadlines[i];
    }
    tw_destroy(&tw);
    for (unsigned i = 0; without == NULL && i < TIMERS; i++) {
        if (m.timers[i].state != TW_PENDING)
            continue;
        moment less = run(count, &timers[i]);
        unsigned found = 0;
        for (unsigned bucket = 0; bucket < WHEELS * BUCKETS; bucket++)
            if (m.count[bucket] != less.count[bucket]) {
                m.timers[i].bucket = bucket;
                found++;
            }
        EXPECT(found == 1);
    }
    return m;
}

/* Returns the first tick of a bucket. A wheel reaches the clock's own step of
 * the next coarser wheel, and the step after. */
static unsigned tick_of(const moment *m, unsigned bucket)
{
    unsigned wheel = bucket / BUCKETS;
    unsigned own = m->clock / step_of(wheel + 1) * SIZE;
    return step_of(wheel) *
           (own + (bucket + BUCKETS - own % BUCKETS) % BUCKETS);
}

static unsigned least_of(const moment *m)
{
    unsigned least = 0;
    for (unsigned wheel = 1; wheel < m->wheels; wheel++)
        if (m->key[wheel] < m->key[least])
            least = wheel;
    return least;
}

/* ----------------------------------------------- are the captions true? --- */

static bool has_moved(const struct place *was, const struct place *is)
{
    return was->state == TW_PENDING && is->state == TW_PENDING &&
           was->bucket != is->bucket;
}

static void check(const struct frame *f, const moment *before,
                  const moment *after)
{
    bool key_is_early = f->action == POSTPONE;
    unsigned least = least_of(before), moved = 0, earliest[WHEELS];
    for (unsigned wheel = 0; wheel < WHEELS; wheel++)
        earliest[wheel] = NO_KEY;
    for (unsigned i = 0; i < TIMERS; i++) {
        const struct place *was = &before->timers[i], *is = &after->timers[i];
        unsigned wheel = is->bucket / BUCKETS;
        bool is_named = i >= f->first && i <= f->last;
        if (is->state != TW_PENDING)
            continue;
        if (f->action == START && is_named)
            EXPECT(wheel == (unsigned)(f - frames));
        if (is->deadline < earliest[wheel])
            earliest[wheel] = is->deadline;
        unsigned past = is->deadline - tick_of(after, is->bucket);
        EXPECT((past < step_of(wheel)) != (f->action == POSTPONE && is_named));
        if (!has_moved(was, is))
            continue;
        moved++;
        EXPECT(f->action == JUMP && was->bucket / BUCKETS == least);
        EXPECT(is->deadline == LATER ? before->key[least] == deadlines[i]
                                     : wheel == least - 1);
    }
    for (unsigned wheel = 0; wheel < after->wheels; wheel++)
        EXPECT((after->key[wheel] == earliest[wheel]) !=
               (key_is_early && wheel == least));
    EXPECT(!key_is_early || after->key[least] == before->key[least]);
    EXPECT(moved == f->moves && after->fired == before->fired + f->fires);
    EXPECT(after->clock ==
           (f->action == JUMP ? before->key[least] : before->clock));
}

/* ---------------------------------------------------------- the drawing --- */

/* Within a frame, captions change at 0, the rest from 3 to 6, unless the frame
 * only explains. */
enum { CHANGE = 3, MOVED = 6, QUEUE = 4 }; /* when the queue is explained */
#define END begin_of(FRAMES)
enum { LEFT = 6, BOX = 36, HIGH = 70, CHIP = 22, KEY = 655 };

static unsigned top_of(unsigned wheel)
{
    return 142 + 120 * (WHEELS - 1 - wheel);
}

/* Two lines of a caption stand for longer than one. */
static unsigned begin_of(unsigned frame)
{
    unsigned time = 0;
    for (unsigned i = 0; i < frame; i++)
        time += strchr(frames[i].caption, '<') == NULL ? 10 : 18;
    return time;
}

static unsigned change_of(unsigned frame)
{
    return begin_of(frame) + (frames[frame].action == EXPLAIN ? 0 : CHANGE);
}

static void print_time(unsigned time)
{
    printf("%u.%02u%%", time * 100 / END, time * 10000 / END % 100);
}

/* Begins a group that is seen from one time to another. The attribute opacity
 * is for readers who want no motion: they see the end. */
static void print_turn(unsigned from, unsigned until)
{
    printf("<style>@keyframes s%u_%u{0%%{opacity:0}", from, until);
    print_time(from);
    printf("{opacity:1}");
    print_time(until);
    printf("{opacity:%d}}</style>\n<g class='turn' opacity='%d' "
           "style='animation-name:s%u_%u'>\n",
           until == END, until == END, from, until);
}

/* The boxes, the box of the clock, the first tick of each bucket. */
static void print_wheel(const moment *m, unsigned wheel)
{
    unsigned top = top_of(wheel), step = step_of(wheel);
    printf("<rect x='%u' y='%u' width='%d' height='%d' class='hand'/>"
           "<use href='#boxes' y='%u'/>"
           "<text x='%d' y='%u'>wheel %u, %u tick%s per bucket</text>\n",
           LEFT + m->clock / step % BUCKETS * BOX, top, BOX, HIGH, top, LEFT,
           top - 9, wheel, step, wheel == 0 ? "" : "s");
    printf("<g class='tick'>");
    for (unsigned i = 0; i < BUCKETS; i++) {
        unsigned tick = tick_of(m, wheel * BUCKETS + i);
        printf("<text x='%u' y='%u'%s>%u</text>", LEFT + BOX * i + BOX / 2,
               top + HIGH + 18, tick + step <= m->clock ? " class='past'" : "",
               tick);
    }
    printf("</g>\n");
}

static void print_key(const moment *m, unsigned wheel)
{
    unsigned top = top_of(wheel);
    bool least = wheel == least_of(m);
    printf("<rect x='%d' y='%u' width='118' height='%d' class='%s'/>"
           "<text x='%d' y='%u' class='big mid'>",
           KEY - 59, top, HIGH, least ? "least" : "key", KEY, top + 33);
    printf(m->key[wheel] == NO_KEY ? "none" : "%u", m->key[wheel]);
    printf("</text><text x='%d' y='%u' class='mid %s'>%s</text>\n", KEY,
           top + HIGH - 12, least ? "mark" : "", least ? "first" : "next work");
}

/* What stands still from the change in a frame to the next change. */
static void print_moment(unsigned i)
{
    const moment *m = &moments[i];
    print_turn(i == 0 ? 0 : change_of(i - 1), i == FRAMES ? END : change_of(i));
    printf("<text x='%d' y='106'><tspan class='big mark'>clock %u</tspan> "
           "pink: now</text>",
           LEFT, m->clock);
    for (unsigned wheel = 0; wheel < m->wheels; wheel++)
        print_wheel(m, wheel);
    for (unsigned wheel = 0; i >= QUEUE && wheel < m->wheels; wheel++)
        print_key(m, wheel);
    if (i >= QUEUE)
        printf("<text x='%d' y='106' class='mid'>delay queue</text>", KEY);
    printf("</g>\n");
}

static void print_caption(unsigned i)
{
    print_turn(begin_of(i), begin_of(i + 1));
    printf("<text x='%d' y='30' class='big'>%s</text></g>\n", LEFT,
           frames[i].caption);
}

/* Prints the place of a timer. Hidden timers stand where they will start. */
static void print_place(const moment *m, unsigned i, bool ring)
{
    bool is_seen = m->timers[i].state != TW_IDLE;
    while (m->timers[i].state == TW_IDLE)
        m++;
    const struct place *timer = &m->timers[i];
    unsigned x = LEFT + 70 + BOX * timer->order, y = top_of(0) + HIGH + 34;
    if (timer->state == TW_PENDING) {
        x = LEFT + 2 + BOX * (timer->bucket % BUCKETS);
        y = top_of(timer->bucket / BUCKETS) + HIGH - CHIP;
        for (unsigned lower = 0; lower < i; lower++)
            if (m->timers[lower].state == TW_PENDING &&
                m->timers[lower].bucket == timer->bucket)
                y -= CHIP;
    }
    printf("transform:translate(%upx,%upx);opacity:%d;stroke-width:%d", x, y,
           is_seen, 3 * ring);
}

static void print_step(unsigned time, const moment *m, unsigned i, bool ring)
{
    print_time(time);
    printf("{");
    print_place(m, i, ring);
    printf("}");
}

/* A timer moves where a frame changes it, with a ring if it was there. */
static void print_timer(unsigned i)
{
    printf("<style>@keyframes t%u{", i);
    print_step(0, moments, i, false);
    for (unsigned f = 0; f < FRAMES; f++) {
        const moment *m = &moments[f];
        bool ring = m->timers[i].state != TW_IDLE;
        if (memcmp(&m[0].timers[i], &m[1].timers[i], sizeof(struct place)) == 0)
            continue;
        print_step(begin_of(f), m, i, false);
        print_step(begin_of(f) + CHANGE, m, i, ring);
        print_step(begin_of(f) + MOVED, m + 1, i, ring);
        print_step(begin_of(f + 1), m + 1, i, false);
    }
    printf("}</style>\n<g class='timer' style='animation-name:t%u;", i);
    print_place(&moments[FRAMES], i, false);
    printf("'><rect width='32' height='20' rx='4' "
           "fill='hsl(%u,75%%,78%%)'/>\n",
           30 * i);
    for (unsigned k = 0, from = 0; k <= FRAMES; k++) {
        unsigned deadline = moments[k].timers[i].deadline;
        unsigned until = k == FRAMES ? END : begin_of(k) + CHANGE;
        if (k < FRAMES && deadline == moments[k + 1].timers[i].deadline)
            continue;
        print_turn(from, until);
        printf("<text x='16' y='16' class='number'>%u</text></g>\n", deadline);
        from = until;
    }
    printf("</g>\n");
}

static const char style[] =
    "text{font:17px Arial,Helvetica,sans-serif;fill:#1f2328;stroke:none}\n"
    ".paper{fill:#fff}.hand{fill:#d01c7d;opacity:.2}.mark,.bar{fill:#d01c7d}\n"
    ".least,.timer{stroke:#d01c7d}.key,.boxes{stroke:#818b98}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}\n"
    ".paper{fill:#0d1117}.hand,.mark,.bar{fill:#ff6ac1}\n"
    ".least,.timer{stroke:#ff6ac1}}\n"
    ".least,.key,.boxes{fill:none}.least{stroke-width:3}\n"
    ".big{font-size:26px;font-weight:bold}.past{opacity:.4}\n"
    ".number,.tick text{font-size:16px}\n"
    ".number{fill:#1f2328;font-weight:bold}\n"
    ".number,.mid,.tick{text-anchor:middle}\n"
    ".turn,.timer,.bar{animation-duration:30s;"
    "animation-iteration-count:infinite}\n"
    ".turn{animation-timing-function:step-end}\n"
    ".bar{animation-name:bar;animation-timing-function:linear}\n"
    "@keyframes bar{0%{transform:scaleX(0)}}\n"
    "@media(prefers-reduced-motion:reduce){*{animation:none!important}}\n";

int main(void)
{
    unsigned bottom = top_of(0) + HIGH;
    for (unsigned i = 0; i <= FRAMES; i++)
        moments[i] = run(i, NULL);
    for (unsigned i = 0; i < FRAMES; i++)
        check(&frames[i], &moments[i], &moments[i + 1]);
    printf("<svg xmlns='http://www.w3.org/2000/svg' width='720' height='%u' "
           "viewBox='0 0 720 %u'>\n<!-- drawn by test/docs/picture.c -->\n"
           "<title>Timers in a timing wheel</title>\n<style>\n%s</style>\n"
           "<defs><path id='boxes' class='boxes' d='M%d 0",
           bottom + 64, bottom + 64, style, LEFT);
    for (int i = 0; i < BUCKETS; i++)
        printf("v%dh%dv-%dh-%dm%d 0", HIGH, BOX, HIGH, BOX, BOX);
    printf("'/></defs>\n<rect width='720' height='%u' class='paper'/>\n"
           "<rect y='74' width='720' height='3' class='bar'/>\n"
           "<text x='%d' y='%u'>fired:</text>\n",
           bottom + 64, LEFT, bottom + 50);
    for (unsigned i = 0; i < FRAMES; i++)
        print_caption(i);
    for (unsigned i = 0; i <= FRAMES; i++)
        print_moment(i);
    for (unsigned i = 0; i < TIMERS; i++)
        print_timer(i);
    printf("</svg>\n");
    return fflush(stdout) != 0 || ferror(stdout) != 0;
}
