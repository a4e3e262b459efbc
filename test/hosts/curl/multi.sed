# multi.sed - edits lib/multi.c of curl 7.88: timers.c in place of the splay
# tree. The script is for GNU sed.
#
# SPDX-License-Identifier: MIT

/^#include "memdebug.h"$/a #include "timers.c"

# Making and freeing a multi handle, and adding an easy handle.
s/^  multi->magic = CURL_MULTI_HANDLE;$/&\n  timers_init(multi);/
s/^    Curl_psl_destroy(&multi->psl);$/&\n    timers_destroy(multi);/
/^  \/\* Initialize timeout list for this handle \*\/$/i\
  if(timers_reserve(multi))\
    return CURLM_OUT_OF_MEMORY;\

# Taking out the handles that are due.
s/struct Curl_tree \*t;/struct Curl_easy *t;/
s/multi->timetree = Curl_splaygetbest(.*);/t = timers_poll(multi, now);/
s/t->payload/t/

# Starting a timer. tw_start moves a timer that is pending.
/multi->timetree = Curl_splayinsert(/ {
  N
  s/multi->timetree = .*&\([a-z]*\)->state.timenode);/timers_start(multi, \1);/
}
/state.timenode.payload = data;/d
/^void Curl_expire(/,/^}/ {
  /int rc;/d
  /rc = Curl_splayremove(/ {
    N
    N
    N
    d
  }
}

# Clearing a timer.
/^void Curl_expire_clear(/,/^}/ {
  /int rc;/d
  /rc = Curl_splayremove(/ {
    N
    N
    N
    s/rc = .*/timers_cancel(multi, data);/
  }
}

# Asking for the first timer.
s/if(multi->timetree) {/if(timers_next(multi)) {/
/static const struct curltime tv_zero/,+1d
/splay the lowest to the bottom/,+2d
s/multi->timetree->key/multi->timer_next/g
