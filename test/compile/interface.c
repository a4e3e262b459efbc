/* interface.c - the public interface, each name with the version since which it
 * exists. The compiler refuses a declaration here that is not the header's, and
 * interface.sh says what a change of the header lacks. A name that is not
 * released may still change.
 *
 * released: 2.5
 *
 * SPDX-License-Identifier: MIT
 */
#define TIMINGWHEEL_THREADS
#include "../../timingwheel.h"

/* since 2.0 */
int tw_init(timingwheel *, const tw_config *);
void tw_destroy(timingwheel *);
int tw_reserve(timingwheel *, uint64_t horizon);
void tw_trim(timingwheel *);
void tw_timer_init(tw_timer *, tw_callback *);
int tw_start(timingwheel *, tw_timer *, uint64_t deadline);
int tw_start_within(timingwheel *, tw_timer *, uint64_t earliest, uint64_t);
int tw_postpone(timingwheel *, tw_timer *, uint64_t deadline);
bool tw_cancel(timingwheel *, tw_timer *);
void tw_move(timingwheel *, tw_timer *from, tw_timer *to);
uint64_t tw_wait(const timingwheel *, uint64_t now, uint64_t longest);
bool tw_next_deadline(const timingwheel *, uint64_t *deadline);
size_t tw_advance_clock(timingwheel *, uint64_t now);
size_t tw_advance_clock_limit(timingwheel *, uint64_t now, size_t limit);
tw_timer *tw_poll(timingwheel *, uint64_t now);
uint64_t tw_after(uint64_t now, uint64_t delay);
uint64_t tw_next_period(uint64_t, uint64_t period, uint64_t now, uint64_t *);
bool tw_is_pending(const tw_timer *);
tw_state tw_timer_state(const tw_timer *);
uint64_t tw_deadline(const tw_timer *);
uint64_t tw_remaining(const tw_timer *, uint64_t now);
uint64_t tw_now(const timingwheel *);
size_t tw_count(const timingwheel *);
void tw_get_stats(const timingwheel *, tw_stats *);
const char *tw_strerror(int status);
size_t tw_foreach(timingwheel *, tw_visitor *, void *context);
size_t tw_drain(timingwheel *, tw_visitor *, void *context);
bool tw_check(const timingwheel *);
void tw_dump(const timingwheel *, tw_writer *, void *context);
void tw_mailbox_init(tw_mailbox *, timingwheel *, void (*wake)(void *), void *);
void tw_remote_init(tw_remote *, tw_callback *);
void tw_post_start(tw_mailbox *, tw_remote *, uint64_t deadline);
void tw_post_cancel(tw_mailbox *, tw_remote *);
size_t tw_collect(tw_mailbox *);
bool tw_remote_settled(const tw_remote *);
typedef void tw_callback(timingwheel *, tw_timer *);
typedef void tw_visitor(tw_timer *, void *context);
typedef void tw_writer(const char *line, void *context);
_Static_assert(sizeof(enum tw_status) != 0 && TW_OK == 0 && TW_EINVAL == -1 &&
                   TW_ENOMEM == -2 && TW_EFULL == -3 && TW_EBUSY == -4 &&
                   TW_IDLE == 0 && TW_FIRED == 1 && TW_CANCELLED == 2 &&
                   TW_PENDING == 3,
               "programs may store statuses and states");
tw_config config = {.tick = 1,
                    .start = 0,
                    .wheel_size = TW_DEFAULT_WHEEL_SIZE,
                    .max_pending = SIZE_MAX,
                    .alloc_context = NULL};
tw_stats stats = {.pending = SIZE_MAX,
                  .fired = UINT64_MAX,
                  .cascaded = UINT64_MAX,
                  .wheels = SIZE_MAX,
                  .buckets = SIZE_MAX,
                  .bytes = SIZE_MAX};
static tw_remote remote;
tw_callback **callback = &remote.timer.callback;
/* TIMINGWHEEL_H TIMINGWHEEL_IMPLEMENTATION TIMINGWHEEL_THREADS TW_ASSERT
   TW_CALL TW_DEBUG TW_DEF TW_DEFAULT_WHEEL_SIZE TW_FREE TW_MALLOC TW_OWNER
   TW_STATIC TW_TIMER_INIT TW_TYPES_ONLY TW_VERSION_MAJOR TW_VERSION_MINOR
   TW_VERSION_PATCH */

/* since 2.2: TW_WHEEL_BYTES */
int tw_start_after(timingwheel *, tw_timer *, uint64_t now, uint64_t delay);
int tw_postpone_after(timingwheel *, tw_timer *, uint64_t now, uint64_t delay);

/* since 2.3 */
typedef bool tw_matcher(const tw_timer *, void *context);
tw_timer *tw_find(const timingwheel *, tw_matcher *, void *context);
