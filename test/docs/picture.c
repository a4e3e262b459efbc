/* picture.c - draws wheels.svg, the moving picture of README.md, on standard
 * output. picture.sh compares the two.
 *
 * The picture shows a real run. After each frame tw_dump gives the wheels,
 * their keys, and the number of timers in each bucket. To find the bucket of a
 * timer, the program runs everything again, cancels the timer, and looks for
 * the bucket that has lost one. check() compares the captions with the run: a
 * false caption ends the program.
 *
 * A picture has no room for many timers, so here every bucket cascades. Usually
 * a coarse bucket with few timers fires them in place, to save the move.
 *
 * SPDX-License-Identifier: MIT
 */
#define TWI_FEW 0 /* every bucket cascades */
#define TIMINGWHEEL_IMPLEMENTATION
#include "../../timingwheel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- the run --- */

enum { SIZE = 8, BUCKETS = 2 * SIZE, WHEELS = 3, NO_KEY = 9999 };

static const unsigned deadlines[] = {3,  4,  6,  9,  18,  21,
                                     23, 35, 36, 50, 300, 310};
enum { TIMERS = sizeof(deadlines) / sizeof(deadlines[0]), LATER = 29 };

static const struct frame {
    const char *caption, *second_line;
    enum { START, KEEP, JUMP, POSTPONE, CANCEL } action;
    unsigned first, last;         /* the timers of START, POSTPONE, CANCEL */
    unsigned limit, moves, fires; /* a JUMP: its limit and effect */
} frames[] = {
    {"A coloured box is a timer: it calls", "your code at the time on the box.",
     START, 0, 9, 0, 0, 0},
    {"Timers wait in buckets. Wheel 0 has one",
     "per tick; the clock is at the pink one.", KEEP, 0, 0, 0, 0, 0},
    {"Wheel 1 holds later timers:", "each of its buckets spans 8 ticks.", KEEP,
     0, 0, 0, 0, 0},
    {"For timers far ahead, a coarser wheel", "is created: an overflow wheel.",
     START, 10, 11, 0, 0, 0},
    {"The delay queue has a key per wheel:",
     "before that time no timer of it is due.", KEEP, 0, 0, 0, 0, 0},
    {"The clock jumps to the least key,", "and the timer there fires.", JUMP, 0,
     0, 99, 0, 1},
    {"A timer is postponed: it gets a later",
     "deadline, and stays where it is.", POSTPONE, 1, 1, 0, 0, 0},
    {"When the clock comes to the old bucket,",
     "the timer moves to its new bucket.", JUMP, 0, 0, 99, 1, 0},
    {"A timer is cancelled: it leaves", "at once, but the key stays.", CANCEL,
     2, 2, 0, 0, 0},
    {"The clock comes to the empty bucket:", "nothing fires, the key moves on.",
     JUMP, 0, 0, 99, 0, 0},
    {"The clock goes to 9, and timer 9 fires.",
     "Buckets 0 to 7 now stand for 16 to 23.", JUMP, 0, 0, 99, 0, 1},
    {"Now wheel 1 has the least key. Its bucket",
     "cascades: its timers move to wheel 0.", JUMP, 0, 0, 3, 3, 0},
    {"There each timer has a bucket of one", "tick, and the first timer fires.",
     JUMP, 0, 0, 99, 0, 1},
    {"The clock jumps again: between two", "keys there is nothing to do.", JUMP,
     0, 0, 99, 0, 1},
    {"However many timers wait, a program", "sleeps until the least key.", KEEP,
     0, 0, 0, 0, 0},
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
        if (f->action == CANCEL)
            EXPECT(tw_cancel(tw, &timers[i]));
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
    bool key_is_early = f->action == POSTPONE || f->action == CANCEL;
    unsigned least = least_of(before), moved = 0, earliest[WHEELS];
    for (unsigned wheel = 0; wheel < WHEELS; wheel++)
        earliest[wheel] = NO_KEY;
    for (unsigned i = 0; i < TIMERS; i++) {
        const struct place *was = &before->timers[i], *is = &after->timers[i];
        unsigned wheel = is->bucket / BUCKETS;
        bool is_named = f->action != JUMP && i >= f->first && i <= f->last;
        if (f->action == CANCEL && is_named)
            EXPECT(after->count[was->bucket] == 0);
        if (is->state != TW_PENDING)
            continue;
        if (f->action == START && is_named)
            EXPECT(before->wheels == 0 || wheel == before->wheels);
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
    if (f->action == JUMP && f->moves + f->fires == 0)
        EXPECT(before->count[after->clock % BUCKETS] == 0 && least == 0);
}

/* ---------------------------------------------------------- the drawing --- */

/* A frame has ten tenths. Captions change at 0, timers move from 3 to 6. */
enum { SECONDS = 3, TENTHS = 10, CHANGE = 3, MOVED = 6 };
enum { END = FRAMES * TENTHS, QUEUE = 4 };
enum { LEFT = 6, BOX = 36, HIGH = 70, CHIP = 22, KEY = 655 };

static unsigned top_of(unsigned wheel)
{
    return 142 + 120 * (WHEELS - 1 - wheel);
}

static void print_time(unsigned tenths)
{
    printf("%u.%02u%%", tenths * 100 / END, tenths * 10000 / END % 100);
}

/* Writes a part of the picture at a moment. */
typedef void part(char *to, const moment *m, unsigned number);

/* Prints the elements of a part, which take turns: from `change` in a frame,
 * but in the first frame at once. The attribute opacity is for readers who want
 * no motion. */
static void print_part(part *write, unsigned number, unsigned change)
{
    char is[2000] = "", next[2000] = "";
    write(next, moments, number);
    for (unsigned i = 0, from = 0, until; i <= FRAMES; i++) {
        strcpy(is, next);
        if (i < FRAMES)
            write(next, &moments[i + 1], number);
        if (i < FRAMES && strcmp(is, next) == 0)
            continue;
        until = i == 0 ? 0 : i < FRAMES ? i * TENTHS + change : END;
        if (from != until) {
            printf("<style>@keyframes s%u_%u{0%%{opacity:0}", from, until);
            print_time(from);
            printf("{opacity:1}");
            print_time(until);
            printf("{opacity:%d}}</style>\n<g class='turn' opacity='%d' "
                   "style='animation-name:s%u_%u'>%s</g>\n",
                   until == END, until == END, from, until, is);
        }
        from = until;
    }
}

static void write_caption(char *to, const moment *m, unsigned y)
{
    const struct frame *f = &frames[m == moments ? 0 : m - moments - 1];
    sprintf(to,
            "<text x='%d' y='%u' class='big'>%s</text>"
            "<text x='%d' y='%u' class='big'>%s</text>",
            LEFT, y, f->caption, LEFT, y + 31, f->second_line);
}

static void write_clock(char *to, const moment *m, unsigned y)
{
    sprintf(to, "<text x='%d' y='%u' class='big mark'>clock %u</text>", LEFT, y,
            m->clock);
}

/* The delay queue appears just before the frame that explains it. */
static void write_queue(char *to, const moment *m, unsigned y)
{
    *to = '\0';
    if (m - moments >= QUEUE)
        sprintf(to, "<text x='%d' y='%u' class='mid'>delay queue</text>", KEY,
                y);
}

/* A wheel: the boxes, the box of the clock, the first tick of each bucket. */
static void write_wheel(char *to, const moment *m, unsigned wheel)
{
    unsigned top = top_of(wheel);
    *to = '\0';
    if (wheel >= m->wheels)
        return;
    to += sprintf(to,
                  "<rect x='%u' y='%u' width='%d' height='%d' class='hand'/>"
                  "<use href='#boxes' y='%u'/><text x='%d' y='%u'>"
                  "wheel %u, %u tick%s per bucket</text>\n",
                  LEFT + m->clock / step_of(wheel) % BUCKETS * BOX, top, BOX,
                  HIGH, top, LEFT, top - 9, wheel, step_of(wheel),
                  wheel == 0 ? "" : "s");
    for (unsigned i = 0; i < BUCKETS; i++) {
        unsigned tick = tick_of(m, wheel * BUCKETS + i);
        bool past = tick + step_of(wheel) <= m->clock;
        to += sprintf(to, "<text x='%u' y='%u' class='mid tick%s'>%u</text>",
                      LEFT + BOX * i + BOX / 2, top + HIGH + 18,
                      past ? " past" : "", tick);
    }
}

static void write_key(char *to, const moment *m, unsigned wheel)
{
    char key[20] = "none";
    unsigned top = top_of(wheel);
    bool least = wheel == least_of(m);
    if (m->key[wheel] != NO_KEY)
        sprintf(key, "%u", m->key[wheel]);
    sprintf(to,
            "<rect x='%d' y='%u' width='118' height='%d' class='%s'/>"
            "<text x='%d' y='%u' class='big mid'>%s</text>"
            "<text x='%d' y='%u' class='mid %s'>%s</text>",
            KEY - 59, top, HIGH, least ? "ring" : "key", KEY, top + 33, key,
            KEY, top + HIGH - 12, least ? "mark" : "",
            least ? "least key" : "key");
    if (m - moments < QUEUE)
        *to = '\0';
}

static void write_deadline(char *to, const moment *m, unsigned i)
{
    sprintf(to, "<text x='16' y='16' class='number'>%u</text>",
            m->timers[i].deadline);
}

/* A ring round a timer that changes in the frame. */
static void write_ring(char *to, const moment *m, unsigned i)
{
    bool changes =
        m != moments && m[-1].timers[i].state != TW_IDLE &&
        memcmp(&m->timers[i], &m[-1].timers[i], sizeof(struct place)) != 0;
    strcpy(to,
           changes ? "<rect width='32' height='20' rx='4' class='ring'/>" : "");
}

/* The place of a timer in the picture. Hidden timers stand where they will
 * start, or where they were cancelled. */
typedef struct spot {
    unsigned x, y, seen;
} spot;

static spot spot_of(const moment *m, unsigned i)
{
    const struct place *timer = &m->timers[i];
    spot at = {LEFT + 70 + BOX * timer->order, top_of(0) + HIGH + 34, 1};
    if (timer->state == TW_IDLE || timer->state == TW_CANCELLED) {
        at = spot_of(timer->state == TW_IDLE ? m + 1 : m - 1, i);
        at.seen = 0;
    } else if (timer->state == TW_PENDING) {
        at.x = LEFT + 2 + BOX * (timer->bucket % BUCKETS);
        at.y = top_of(timer->bucket / BUCKETS) + HIGH - CHIP;
        for (unsigned lower = 0; lower < i; lower++)
            if (m->timers[lower].state == TW_PENDING &&
                m->timers[lower].bucket == timer->bucket)
                at.y -= CHIP;
    }
    return at;
}

static void print_spot(spot at)
{
    printf("{transform:translate(%upx,%upx);opacity:%u}", at.x, at.y, at.seen);
}

static void print_timer(unsigned i)
{
    spot at = spot_of(moments, i);
    printf("<style>@keyframes t%u{0%%", i);
    print_spot(at);
    for (unsigned f = 0; f < FRAMES; f++) {
        spot next = spot_of(&moments[f + 1], i);
        if (memcmp(&at, &next, sizeof(at)) == 0)
            continue;
        print_time(f * TENTHS + CHANGE);
        print_spot(at);
        print_time(f * TENTHS + MOVED);
        print_spot(at = next);
    }
    printf("}</style>\n<g transform='translate(%u %u)' opacity='%u' "
           "style='animation-name:t%u'>\n"
           "<rect width='32' height='20' rx='4' fill='hsl(%u,75%%,78%%)'/>\n",
           at.x, at.y, at.seen, i, 30 * i);
    print_part(write_deadline, i, CHANGE);
    print_part(write_ring, i, 0);
    printf("</g>\n");
}

static const char style[] =
    "text{font:17px Arial,Helvetica,sans-serif;fill:#1f2328}.paper{fill:#fff}\n"
    ".hand{fill:#d01c7d;opacity:.2}.mark,.bar{fill:#d01c7d}\n"
    ".ring{stroke:#d01c7d;stroke-width:3}.key,.boxes{stroke:#818b98}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}\n"
    ".paper{fill:#0d1117}.hand,.mark,.bar{fill:#ff6ac1}\n"
    ".ring{stroke:#ff6ac1}}\n"
    ".ring,.key,.boxes{fill:none}.big{font-size:26px;font-weight:bold}\n"
    ".number,.tick{font-size:16px}.number{fill:#1f2328;font-weight:bold}\n"
    ".number,.mid{text-anchor:middle}.past{opacity:.4}\n"
    "g,.bar{animation-duration:%us;animation-iteration-count:infinite}\n"
    ".turn{animation-timing-function:step-end}\n"
    ".bar{animation-name:bar;animation-timing-function:linear}\n"
    "@keyframes bar{0%%{transform:scaleX(0)}}\n"
    "@media(prefers-reduced-motion:reduce){*{animation:none!important}}\n";

int main(void)
{
    for (unsigned i = 0; i <= FRAMES; i++)
        moments[i] = run(i, NULL);
    for (unsigned i = 0; i < FRAMES; i++)
        check(&frames[i], &moments[i], &moments[i + 1]);
    unsigned bottom = top_of(0) + HIGH;
    printf("<svg xmlns='http://www.w3.org/2000/svg' width='720' height='%u' "
           "viewBox='0 0 720 %u'>\n<!-- drawn by test/docs/picture.c -->\n"
           "<title>Timers in a timing wheel. (Usually a bucket with few "
           "timers fires in place.)</title>\n<style>\n",
           bottom + 64, bottom + 64);
    printf(style, FRAMES * SECONDS);
    printf("</style>\n<defs><path id='boxes' class='boxes' d='M%d 0", LEFT);
    for (int i = 0; i < BUCKETS; i++)
        printf("v%dh%dv-%dh-%dm%d 0", HIGH, BOX, HIGH, BOX, BOX);
    printf("'/></defs>\n<rect width='720' height='%u' class='paper'/>\n"
           "<rect y='74' width='720' height='3' class='bar'/>\n"
           "<text x='%d' y='%u'>fired:</text>\n",
           bottom + 64, LEFT, bottom + 50);
    print_part(write_caption, 30, 0);
    print_part(write_clock, 106, CHANGE);
    print_part(write_queue, 106, MOVED);
    for (unsigned wheel = 0; wheel < WHEELS; wheel++) {
        print_part(write_wheel, wheel, CHANGE);
        print_part(write_key, wheel, MOVED);
    }
    for (unsigned i = 0; i < TIMERS; i++)
        print_timer(i);
    printf("</svg>\n");
    return fflush(stdout) != 0 || ferror(stdout) != 0;
}
