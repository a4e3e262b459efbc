# shellcheck shell=sh disable=SC2154
# subjects.sh - the ways to include the header, as small files for gates.sh.
# write_subjects writes the files to $build.
#
# SPDX-License-Identifier: MIT

# The name of the file, then its lines: `include` includes the header, other
# words are macros that the file defines.
subjects='
declarations          include
implementation        TIMINGWHEEL_IMPLEMENTATION include
twice                 include TIMINGWHEEL_IMPLEMENTATION include
thrice                include TIMINGWHEEL_IMPLEMENTATION include include
static                TW_STATIC TIMINGWHEEL_IMPLEMENTATION include
static_twice          TW_STATIC include TIMINGWHEEL_IMPLEMENTATION include
static_types          TW_STATIC include
static_in_struct      static in_struct
types_only            types_only
types_then_static     types_only static
threads               TIMINGWHEEL_THREADS implementation
threads_declarations  TIMINGWHEEL_THREADS include
threads_static        TIMINGWHEEL_THREADS static
extern_c              TIMINGWHEEL_THREADS extern_c include end
own_memory            own_memory implementation
threads_own_memory    TIMINGWHEEL_THREADS own_memory implementation
malloc_only           TW_MALLOC implementation
free_only             TW_FREE implementation
static_late           include static
threads_lock          locks TIMINGWHEEL_THREADS include
host_types            types_of_host TIMINGWHEEL_THREADS implementation
host_variables        variables_of_host TIMINGWHEEL_THREADS implementation
host_functions        functions_of_host TIMINGWHEEL_THREADS implementation
'

# of_host PREFIX SUFFIX: global names of common words, before the header.
of_host() {
    for name in bit count index list memory now step; do
        echo "$1 $name$2;"
    done
}

# lines WORD...: prints the lines of a file.
lines() {
    for word; do
        case $word in
        include) echo '#include "timingwheel.h"' ;;
        implementation) lines TIMINGWHEEL_IMPLEMENTATION include ;;
        static) lines TW_STATIC implementation ;;
        types_only)
            lines TW_TYPES_ONLY include
            echo 'struct host { timingwheel tw; tw_timer idle; };'
            echo '#undef TW_TYPES_ONLY'
            ;;
        in_struct) # in one struct with a timer, as in a library
            echo 'struct lib { timingwheel tw; tw_timer retry; };'
            echo 'void set_up(struct lib *lib);'
            echo 'void set_up(struct lib *lib)'
            echo '{ tw_init(&lib->tw, NULL); tw_timer_init(&lib->retry, NULL);'
            echo 'tw_start(&lib->tw, &lib->retry, 1); }'
            ;;
        own_memory)
            echo '#include <stddef.h>'
            echo 'extern void *take(size_t size, void *context);'
            echo 'extern void give(void *pointer, void *context);'
            echo '#define TW_MALLOC(size, context) take((size), (context))'
            echo '#define TW_FREE(pointer, context) give((pointer), (context))'
            ;;
        locks) # a processor whose atomics take a lock
            echo '#include <stdatomic.h>'
            echo '#undef ATOMIC_LLONG_LOCK_FREE'
            echo '#define ATOMIC_LLONG_LOCK_FREE 1'
            ;;
        types_of_host) of_host 'typedef unsigned' '' ;;
        variables_of_host) of_host 'extern int' '' ;;
        functions_of_host) of_host int '(int)' ;;
        extern_c) echo 'extern "C" {' ;;
        end) echo '}' ;;
        *) echo "#define $word" ;;
        esac
    done
}

write_subjects() {
    echo "$subjects" | while read -r subject words; do
        [ -n "$subject" ] || continue
        # shellcheck disable=SC2086
        lines $words >"$build/$subject.c"
    done
    # Compiles only if TW_TYPES_ONLY gives no prototypes.
    echo 'double tw_start(struct host *host);' >>"$build/types_only.c"
}
