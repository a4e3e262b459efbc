# timingwheel.py - shows timers and wheels of timingwheel.h in gdb:
#
#     (gdb) source test/gdb/timingwheel.py
#     (gdb) print connection->idle
#     (gdb) print tw
#
# A timer is shown by its state, its callback, its deadline and, if it is
# pending, how many timers its bucket has, and from which tick on. A wheel is
# shown by its clock, its buckets with timers, the delay queue, and timers that
# are in no wheel. Nothing is called in the program, so that a core file will
# do, or the middle of a call. `print/r` shows the fields.
#
# SPDX-License-Identifier: MIT

import gdb
import gdb.printing

STATES = ("idle", "fired", "cancelled")
ASIDES = ("overdue", "stuck without memory", "to be drained")
LEVELS = 64  # TWI_LEVELS
SORTED_BIT = 1  # TWI_SORTED_BIT, of tw_timer.place


def chunk_of(slot):
    """The chunk of a slot, given by its address: as twi_chunk_of finds it."""
    chunk = gdb.lookup_type("twi_chunk")
    return gdb.Value(slot - slot % chunk.sizeof).cast(chunk.pointer())


def count_timers(bucket):
    """How many timers a twi_bucket has: slots that are not dead."""
    slot, room = int(bucket["front"]), int(bucket["back"])
    count = 0
    while slot != room:
        chunk = chunk_of(slot)
        slots = chunk["slots"]
        size = slots[0].type.sizeof
        first = int(slots.address)
        is_last = int(chunk["next"]) == 0
        end = room if is_last else first + slots.type.sizeof
        for i in range((slot - first) // size, (end - first) // size):
            count += int(slots[i]) != 0
        slot = room if is_last else int(chunk["next"]["slots"].address)
    return count


def place_of(timer):
    """Where a pending timer is, as its chunk knows it; None if its slot is not
    its own."""
    slot = int(timer["place"]) & ~SORTED_BIT
    holder = gdb.lookup_type("tw_timer").pointer().pointer()
    held = gdb.Value(slot).cast(holder).dereference()
    if timer.address is not None and int(held) != int(timer.address):
        return None
    bucket = chunk_of(slot)["bucket"]
    return "one of %d from tick %d" % (
        count_timers(bucket), int(bucket["earliest"]))


def is_set_up(tw):
    return int(tw["activity"]) != 0


class TimerPrinter:
    """A tw_timer."""

    def __init__(self, timer):
        self.timer = timer

    def to_string(self):
        place = int(self.timer["place"])
        if place < len(STATES):
            said = STATES[place]
        else:
            try:
                place = place_of(self.timer)
            except gdb.error:
                place = None
            said = "pending (%s)" % (place or "in no bucket: overwritten?")
        return "%s, deadline %d, callback %s" % (
            said, int(self.timer["deadline"]),
            self.timer["callback"].format_string(symbols=True))


class WheelPrinter:
    """A timingwheel: its clock, its wheels and its delay queue."""

    def __init__(self, tw):
        self.tw = tw

    def to_string(self):
        if not is_set_up(self.tw):
            return "not set up, or destroyed"
        return "clock %d (tick %d, of %d time units), %d pending, %d fired" % (
            int(self.tw["now"]), int(self.tw["clock_tick"]), int(self.tw["tick"]),
            int(self.tw["count"]),
            int(self.tw["handled"]) - int(self.tw["cascaded"]))

    def buckets(self, wheel):
        """The buckets with timers, by the earliest tick of each."""
        found = []
        for i in range(int(self.tw["bucket_mask"]) + 1):
            bucket = wheel["buckets"][i]
            count = count_timers(bucket)
            if count != 0:
                found.append((int(bucket["earliest"]), count))
        return ", ".join("%d from tick %d" % (count, tick)
                         for tick, count in sorted(found))

    def children(self):
        if not is_set_up(self.tw):
            return
        for level in range(LEVELS):
            wheel = self.tw["wheels"][level]
            if int(wheel) != 0:
                yield "wheel %d" % level, self.buckets(wheel) or "empty"
        queue = [self.tw["queue"][i] for i in range(int(self.tw["queued"]))]
        queue.sort(key=lambda w: (int(w["queue_tick"]), -int(w["level"])))
        yield "queue", ", ".join(
            "wheel %d at tick %d" % (int(w["level"]), int(w["queue_tick"]))
            for w in queue) or "empty"
        for i, name in enumerate(ASIDES):
            count = count_timers(self.tw["outside"][i])
            if count != 0:
                yield name, str(count)


def printers():
    found = gdb.printing.RegexpCollectionPrettyPrinter("timingwheel.h")
    found.add_printer("tw_timer", "^tw_timer$", TimerPrinter)
    found.add_printer("timingwheel", "^timingwheel$", WheelPrinter)
    return found


gdb.printing.register_pretty_printer(None, printers(), replace=True)
