# shellcheck shell=sh disable=SC2154
# tap.sh - the test harness of the shell scripts: TAP on standard output.
#
#     . test/lib/tap.sh
#     build=.build/name; mkdir -p "$build" # expect writes there
#     expect "two and two are four" test $((2 + 2)) = 4
#     tap_end
#
# SPDX-License-Identifier: MIT

tap_number=0
tap_failed=0

# pass NAME
pass() {
    tap_number=$((tap_number + 1))
    printf 'ok %d - %s\n' "$tap_number" "$1"
}

# fail NAME [FILE]: with the first lines of FILE as diagnostics.
fail() {
    if [ -s "${2:-}" ]; then
        head -n 25 "$2" | sed 's/^/# /'
    fi
    tap_number=$((tap_number + 1))
    tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' "$tap_number" "$1"
}

# skip NAME REASON: loud, because what was skipped was not checked. With STRICT
# set (CI has every tool) it is a failure.
skip() {
    printf '*** SKIPPED: %s: %s ***\n' "$1" "$2" >&2
    if [ -n "${STRICT:-}" ]; then
        echo "# $2, and STRICT is set"
        fail "$1"
        return
    fi
    tap_number=$((tap_number + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_number" "$1" "$2"
}

# expect NAME COMMAND...: passes if the command does; what it says is shown if
# it does not.
expect() {
    tap_name=$1
    shift
    if "$@" >"$build/said" 2>&1; then
        pass "$tap_name"
    else
        fail "$tap_name" "$build/said"
    fi
}

# expect_nothing NAME COMMAND...: passes if the command prints nothing and
# succeeds: whatever it finds is a fault.
expect_nothing() {
    tap_name=$1
    shift
    if "$@" >"$build/said" 2>&1 && ! [ -s "$build/said" ]; then
        pass "$tap_name"
    else
        fail "$tap_name" "$build/said"
    fi
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# Prints the plan last, as TAP allows. Returns the exit code of the script.
tap_end() {
    printf '1..%d\n' "$tap_number"
    [ "$tap_number" != 0 ] || echo 'no case was chosen' >&2
    [ "$tap_number" != 0 ] && [ "$tap_failed" = 0 ]
}
