# redis.sed - takes the list of time events out of redis 7.0's ae.c, and
# includes ae_timers.h instead. SPDX-License-Identifier: MIT
/^aeEventLoop \*aeCreateEventLoop/i #include "ae_timers.h"
s/eventLoop->timeEventHead = NULL;/make_timers(eventLoop);/
/^    aeTimeEvent \*next_te/,/^    }/c\    free_timers(eventLoop);
/^long long aeCreateTimeEvent/,/^\/\* Process every pending time/ {
    /^\/\* Process/!d
}
