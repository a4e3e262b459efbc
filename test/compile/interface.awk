# interface.awk - prints the public interface of timingwheel.h, without its
# macros: a line for each function, type, constant and public field. Reads the
# header as the preprocessor of C leaves it, with its line markers.
#
# SPDX-License-Identifier: MIT

/^# [0-9]/ {
    inside = /timingwheel\.h"/
    next
}

inside && !/^#/ {
    code = code " " $0
}

# Prints each part of `text` that the user may name. Only some fields are
# public.
function members(owner, text, separator,    part, i, count) {
    count = split(text, part, separator)
    for (i = 1; i <= count; i++) {
        gsub(/^ | $/, "", part[i])
        if (owner ~ /tw_(config|stats)$/ || owner ~ /^enum/ ||
            owner " " part[i] ~ /tw_timer tw_callback|tw_remote tw_timer/)
            if (part[i] != "")
                print owner ": " part[i]
    }
}

END {
    gsub(/[ \t]+/, " ", code)
    gsub(/_Bool/, "bool", code)
    while (match(code, /[^;{}]*;|[^;{}]*[{][^}]*[}][^;]*;/)) {
        text = substr(code, RSTART, RLENGTH - 1)
        code = substr(code, RSTART + RLENGTH)
        gsub(/^ | $|^ ?extern /, "", text)
        if (text ~ /^(typedef )?[a-z]* ?twi_/ ||
            text !~ /^(typedef|struct|enum) |[ *]tw_[a-z_]*\(/)
            continue
        at = index(text, "{")
        if (at == 0) {
            print text
            continue
        }
        owner = substr(text, 1, at - 2)
        print owner substr(text, index(text, "}") + 1)
        sub(/^typedef /, "", owner)
        sub(/[}].*/, "", text)
        members(owner, substr(text, at + 1), owner ~ /^enum/ ? "," : ";")
    }
}
