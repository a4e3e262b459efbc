# types.sed - edits lib/urldata.h and lib/multihandle.h of curl 7.88: the types
# of timingwheel.h in place of the splay tree's. The script is for GNU sed.
#
# SPDX-License-Identifier: MIT

/^#include "hash.h"$/a\
#define TW_TYPES_ONLY\
#include "timingwheel.h"

s/struct Curl_tree timenode;.*/tw_timer timer; \/* for expiretime *\//
s/struct Curl_tree \*timetree;/timingwheel timers;/
/timingwheel timers;/a\
  struct curltime timer_next; /* written by timers_next */
