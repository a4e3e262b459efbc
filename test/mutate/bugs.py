# bugs.py - bugs of released timer libraries, made in timingwheel.h. Bugs 1 to
# 18 come from releases. Bugs 19 to 24 are likely mistakes in a hierarchy with a
# delay queue. Each bug names the test case that must fail.
# `test/mutate/mutate.sh --bugs` tries all bugs.
#
# A change is a tuple (function, text, new text). Blanks in the text match any
# white space. If the function no longer has the text, the script reports an
# error.
#
# SPDX-License-Identifier: MIT
import re

from mutants import functions_of, without_comments


class Bug:
    def __init__(self, number, name, where, test, case, *changes):
        self.number, self.name, self.where = number, name, where
        self.test, self.case, self.changes = test, case, changes

    def apply(self, header):
        for function, text, new in self.changes:
            start, end = body_of(header, function)
            pattern = re.escape(text).replace('\\ ', r'\s+')
            match = re.compile(pattern).search(header, start, end)
            if match is None:
                raise LookupError('%s in %s' % (text, function))
            header = header[:match.start()] + new + header[match.end():]
        return header


def body_of(header, function):
    begin = header.index('TWI_IMPLEMENTED\n')
    for name, _, start, end in functions_of(without_comments(header), begin):
        if name == function:
            return start, end
    raise LookupError('the function ' + function)


BUGS = [
    Bug(1, 'an overdue start moves the clock backwards', 'Linux, July 2020',
        'peer_bugs_early_late', 'A6 (V1)',
        ('twi_slot_for_overdue', 'tw_timer **slot =',
         'tw->clock_tick = tick; tw->now = tick * tw->tick; '
         'tw_timer **slot =')),
    Bug(2, 'reach is judged by the deadline, not by the distance',
        'Linux, July 2020',
        'peer_bugs_early_late', 'B22 ',
        ('twi_slot_for', 'wheel->reach_end = twi_end_of_reach(tw, wheel);',
         'unsigned shift = wheel->shift + tw->size_bits; '
         'wheel->reach_end = ((tick >> shift) + 2) << shift;')),
    Bug(3, 'a deadline equal to the clock is taken for one ahead of it',
        'tokio issue 2473',
        'overdue', 'a deadline at the callback\'s own clock has passed',
        ('twi_start_slow', 'tick > tw->clock_tick', 'tick >= tw->clock_tick')),
    Bug(4, 'after enough uptime a bucket wraps onto the clock\'s own',
        'tokio pull 8334',
        'peer_bugs_early_late', 'B1 (V4)',
        ('twi_level_of', '<= 1', '<= 2')),
    Bug(5, 'a huge delay overflows the deadline', 'netty issue 7760',
        'peer_bugs_early_late', 'A9 (V5',
        ('tw_after', 'delay > UINT64_MAX - now ? UINT64_MAX : now + delay',
         'now + delay')),
    Bug(6, 'a delay of exactly a turn of the wheel is a turn wrong',
        'akka pull 1016',
        'peer_bugs_early_late', 'B7 (V6)',
        ('twi_level_of', '(tick >> shift) -', '((tick - 1) >> shift) -')),
    Bug(7, 'a delay longer than the wheel fires early', 'rpc-perf issue 180',
        'peer_bugs_early_late', 'A2 ',
        ('twi_prepare_head', 'timer->deadline <= tw->now', 'true'),
        ('twi_timer_added', 'twi_queue_earlier(tw, wheel, tick);',
         'twi_queue_earlier(tw, wheel, tick >> wheel->shift << '
         'wheel->shift);')),
    Bug(8, 'the search for the next bucket passes over the clock\'s own',
        'glommio pull 44',
        'peer_bugs_early_late', 'B3 (V8)',
        ('twi_find_mark', 'twi_index_of(tw, wheel, tw->clock_tick)',
         '(twi_index_of(tw, wheel, tw->clock_tick) + 1) & tw->bucket_mask')),
    Bug(9, 'off by one: not fired when its deadline has come',
        'theine-go issue 64',
        'peer_bugs_early_late', 'B6 (V9)',
        ('twi_find_source', 'tw->next_tick <= target',
         'tw->next_tick < target')),
    Bug(10, 'a bucket is released while it is being walked',
        'bngblaster issue 361',
        'peer_bugs_structure', 'C1 ',
        ('twi_pop_head', 'twi_clear_bucket(wheel, bucket);',
         'twi_free_chunk(tw, twi_last_chunk(bucket)); '
         'twi_clear_bucket(wheel, bucket);')),
    Bug(11, 'a sibling cancelled by a callback still fires',
        'timer-wheel issue 2, iotivity-lite 7, muduo 668',
        'peer_bugs_callbacks', 'E3 (V11)',
        ('tw_cancel', '*twi_slot_of(timer) = NULL;', ';')),
    Bug(12, 'a periodic timer\'s cancel in its own callback is ignored',
        'seastar issue 2318',
        'peer_bugs_callbacks', 'E8 (V12)',
        ('twi_run_call', 'TW_CALL(tw, timer);',
         '{ TW_CALL(tw, timer); tw_cancel(tw, timer); }')),
    Bug(13, 'the wrong bit is cleared once the wheel has wrapped',
        'seastar issue 2318',
        'peer_bugs_structure', 'V13',
        ('twi_clear_bucket',
         'twi_marks(wheel)[index / 64] &= ~(UINT64_C(1) << (index % 64));',
         'index ^= 1; twi_marks(wheel)[index / 64] &= '
         '~(UINT64_C(1) << (index % 64));')),
    Bug(14, 'moving the first timer later leaves the cached minimum stale',
        'msquic issue 3206',
        'peer_bugs_early_late', 'B4 (V14)',
        ('twi_queue_later', 'wheel->queue_tick = tick;',
         'tick += 2; wheel->queue_tick = tick;')),
    Bug(15, 'one timer, started again and again, starves the others',
        'genode issue 1646',
        'peer_bugs_structure', 'V15',
        ('tw_start', 'tick < wheel->queue_tick', 'true'),
        ('twi_timer_added', 'tick < wheel->queue_tick', 'true')),
    Bug(16, 'a timer taken out of its bucket keeps the old link',
        'moka issue 565',
        'peer_bugs_callbacks', 'E2 (V16)',
        ('tw_drain', 'timer->place = TW_IDLE;', ''),
        ('twi_pop_next', 'timer->place = TW_FIRED;', '')),
    Bug(17, 'cascading turns the order within a tick around',
        'zephyr issue 111746',
        'peer_bugs_structure', 'D5 (V17)',
        ('twi_slot_below', 'twi_push_front(tw,', 'twi_push_back(tw,')),
    Bug(18, 'a timer that has fired still claims its place, which is reused',
        'picotcp issue 308',
        'peer_bugs_callbacks', 'V18',
        ('twi_pop_next', 'timer->place = TW_FIRED;', '')),
    Bug(19, 'an entry of the delay queue moves without knowing it', None,
        'peer_bugs_structure', 'D1 (V19)',
        ('twi_queue_set', 'wheel->queue_index = i;', '')),
    Bug(20, 'a bucket that was emptied stays in the delay queue', None,
        'peer_bugs_structure', 'C10 (V20)',
        ('twi_requeue', 'twi_unqueue(tw, wheel);', ';')),
    Bug(21, 'a new wheel is not cleared', None,
        'peer_bugs_structure', 'V21',
        ('twi_add_wheel', 'twi_marks(wheel)[i / 64] = 0;', ';')),
    Bug(22, 'a start that fails loses the timer that was pending', None,
        'peer_bugs_structure', 'C13 (V22)',
        ('twi_start_slow', 'uint64_t tick =',
         '(void)tw_cancel(tw, timer); uint64_t tick =')),
    Bug(23, 'a reading below the clock moves it backwards', None,
        'peer_bugs_callbacks', 'G1 (V23)',
        ('twi_begin_call', 'target < tw->clock_tick', 'false')),
    Bug(24, 'the deadline 2^64 - 1 is never reached', None,
        'peer_bugs_early_late', 'V24)',
        ('twi_find_source', 'tw->next_tick <= target',
         'tw->next_tick <= target && tw->next_tick != UINT64_MAX')),
]
