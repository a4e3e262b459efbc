#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - runs the bench under hyperfine and writes what came of it to
# bench/results/. `make bench` calls it, `make bench-full` with --full.
#
#   RUNS=5 WARMUP=1 SEED=1      runs that count and runs that do not, of each
#                               command; the seed of all random numbers
#   SIZES='100 1000'            other numbers of timers than the usual ones
#   WORKLOADS='hold restart'    other workloads than all of them
#   ENGINES='wheel heap4'       these engines alone
#   RESULTS=directory           where to write, instead of bench/results
#   ADD=1                       adds to what is there, instead of replacing it
set -eu

case ${RESULTS:-} in
'' | /*) ;;
*) RESULTS=$PWD/$RESULTS ;;
esac
cd "$(dirname "$0")"
timers=./timers
results=${RESULTS:-results}
runs=${RUNS:-5}
warmup=${WARMUP:-1}
seed=${SEED:-1}
full=false
[ "${1:-}" = --full ] && full=true

if ! command -v hyperfine >/dev/null 2>&1; then
    echo 'The bench is timed by hyperfine: apt-get install hyperfine' >&2
    exit 1
fi
[ -x $timers ] || { echo 'Build it first: make bench/timers' >&2; exit 1; }

work=$(mktemp -d)
child=
trap 'rm -rf "$work"' EXIT
trap 'interrupted' INT TERM

# Ends the line on which the progress bar stands.
end_line() { [ ! -t 2 ] || echo >&2; }

interrupted() {
    end_line
    [ -z "$child" ] || kill "$child" 2>/dev/null
    echo 'Interrupted; nothing was written.' >&2
    exit 130
}

# ----------------------------------------------------------------- the grid --

# A cell is one workload, one size and the engines that are compared there:
#   <workload> <size or trace> <rounds, 0 for the usual number> <engine>...
# The slow engines run fewer rounds, and the wheel the same number beside them,
# because checksums are comparable only then.
has() { $timers --help | grep -q "^  $1 "; }

# present ENGINE PACKAGE...: those engines that were built.
present() {
    while [ $# != 0 ]; do
        if has "$1"; then
            printf '%s ' "$1"
        else
            echo "$1 is left out: apt-get install $2; make bench/timers" >&2
        fi
        shift 2
    done
}

slow="$(present rbtree libbsd-dev)list"
libraries=$(present libev libev-dev libuv libuv1-dev libevent libevent-dev \
    glib libglib2.0-dev)

# What makes malloc ask for huge pages, where the system gives them to those
# that ask.
huge=GLIBC_TUNABLES=glibc.malloc.hugetlb=1
has_huge() {
    grep -q '\[madvise\]' /sys/kernel/mm/transparent_hugepage/enabled \
        2>/dev/null && getconf GNU_LIBC_VERSION >/dev/null 2>&1
}

sizes() {
    if [ -n "${SIZES:-}" ]; then
        echo "$SIZES"
    elif $full; then
        echo 100 1000 10000 100000 1000000 10000000
    else
        echo 100 1000 10000 100000 1000000
    fi
}

# So few rounds that an engine of 1000 ns per operation takes about a second.
few_rounds() { echo $((1000000 > $1 ? 1000000 / $1 : 1)); }

# The workloads that the short bench runs on every engine.
is_main() {
    case $1 in hold | expire | postpone | sparse) ;; *) return 1 ;; esac
}

cells_of() {
    for n in $(sizes); do
        binary=
        if [ "$n" -le 1000000 ] && { $full || is_main "$1"; }; then
            binary=heap2
        fi
        echo "$1 $n 0 wheel heap4 $binary"
        others=$slow
        [ "$1" != sparse ] || others=${slow%list}
        [ "$n" -le 10000 ] || others=${others%list}
        [ "$n" -le 1000000 ] || others=
        $full || is_main "$1" || others=
        [ -z "${others% }" ] || echo "$1 $n $(few_rounds "$n") wheel $others"
    done
}

# What engines with a clock of their own can do, too: up to a million timers,
# and few rounds, as some take 100 times as long as the wheel.
still_cells() {
    [ -n "$libraries" ] || return 0
    for n in $(sizes); do
        [ "$n" -gt 1000000 ] || echo "$1 $n $((n > 100000 ? 2 : 3000000 / n))" \
            "wheel heap4 $libraries"
    done
}

# The same twice, one right after the other: in small pages and in huge ones.
page_cells() {
    if ! has_huge; then
        echo 'pages is left out: no huge pages for those that ask' >&2
        return
    fi
    for n in ${SIZES:-1000000 10000000}; do
        echo "expire-small-pages $n 0 wheel"
        echo "expire-huge-pages $n 0 wheel"
    done
}

trace_cells() {
    for trace in traces/*.txt.gz; do
        echo "trace $trace 0 wheel heap4 heap2 ${slow%list}"
    done
}

# What only the wheel is asked for.
wheel_cells() {
    if [ -n "${SIZES:-}" ]; then
        for n in $SIZES; do
            echo "limit $n 0 wheel"
        done
    elif $full; then
        echo 'limit 10000000 0 wheel'
        echo 'hold 100000000 1 wheel'
        echo 'expire 100000000 1 wheel'
    else
        echo 'limit 1000000 0 wheel'
    fi
}

# The engines of such a cell run in one process and take turns.
calls_cells() {
    for n in ${SIZES:-1000000}; do
        echo "calls-minute $n 8 wheel heap4 wheel-late"
        echo "calls-hour $n 1 wheel heap4 wheel-late"
        echo "calls-idle $n 2 wheel heap4 wheel-late"
    done
    [ -n "${SIZES:-}" ] || ! $full ||
        echo 'calls-hour 10000000 1 wheel heap4 wheel-late'
}

grid() {
    for workload in ${WORKLOADS:-hold expire restart postpone startstop \
        burst sparse trace limit calls still-restart still-postpone pages}; do
        case $workload in
        startstop) cells_of startstop && still_cells startstop ;;
        still-*) still_cells "$workload" ;;
        pages) page_cells ;;
        trace) trace_cells ;;
        limit) wheel_cells ;;
        calls) calls_cells ;;
        *) cells_of "$workload" ;;
        esac
    done
}

# Of the cells on standard input those in which engines that are wanted can be
# compared, or that have only one.
chosen() {
    awk -v wanted=" ${ENGINES:-} " '{
        cell = $1 " " $2 " " $3
        n = 0
        for (i = 4; i <= NF; i++)
            if (wanted ~ /^ *$/ || index(wanted, " " $i " ")) {
                cell = cell " " $i
                n++
            }
        if (n == NF - 3 || n > 1)
            print cell
    }'
}

# 100 million timers take 10 GB with the objects that they are in.
fits() {
    kilobytes=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo 2>/dev/null)
    [ "$1" -lt 100000000 ] || [ "${kilobytes:-99999999}" -gt 10500000 ]
}

# ----------------------------------------------------------------- progress --

# progress DONE TOTAL WHAT: a bar on a terminal, else nothing.
progress() {
    [ -t 2 ] || return 0
    now=$(date +%s)
    left=
    [ "$1" -lt 3 ] || [ "$1" = "$2" ] ||
        left=$(((now - began) * ($2 - $1) / $1 / 60 + 1))
    filled=$(($1 * 30 / $2))
    bar=$(printf '%*s' $filled '' | tr ' ' '#')
    printf '\r[%-30s] %d/%d runs  %-28s %s \033[K' "$bar" "$1" "$2" "$3" \
        "${left:+about $left min left}" >&2
}

# Runs that have been finished so far, in all cells.
finished() { cat "$work"/*.jsonl 2>/dev/null | wc -l; }

# ----------------------------------------------------------------- one cell --

# cell NAME WORKLOAD WHAT ROUNDS ENGINE...: every engine under hyperfine. Each
# run adds its own JSON line to a log; hyperfine's wall times go beside it.
# WORKLOAD-small-pages and -huge-pages are the same workload. In calls-* one
# process runs all engines and adds one line per engine.
cell() {
    name=$1 workload=$2 what=$3 rounds=$4
    shift 4
    [ "$rounds" = 0 ] && rounds= || rounds="--rounds $rounds"
    command=$timers
    [ "$workload" = "${workload%-huge-pages}" ] || command="env $huge $timers"
    case $workload in calls-*) set -- "$(echo "$@" | tr ' ' ,)" ;; esac
    count=$#
    for engine in "$@"; do
        set -- "$@" -n "$engine" "$command $engine ${workload%-*-pages} $what \
--seed $seed $rounds --json --log $work/$name.$engine.jsonl"
    done
    shift "$count"
    hyperfine -N --style none --warmup "$warmup" --runs "$runs" \
        --export-json "$work/$name.json" --export-markdown "$work/$name.md" \
        "$@" >"$work/hyperfine.out" 2>&1 &
    child=$!
    while kill -0 "$child" 2>/dev/null; do
        progress "$(finished)" "$total" "$workload $(basename "$what" .txt.gz)"
        sleep 0.3 || :
    done
    status=0
    wait "$child" || status=$?
    child=
    if [ $status != 0 ]; then
        end_line
        cat "$work/hyperfine.out" >&2
        echo "bench: $workload $what failed" >&2
        exit 1
    fi
}

# collect NAME WORKLOAD INPUT. Warm-up runs are the first lines of each log; a
# run adds a line per engine in the log's name. A trace is named by its file.
collect() {
    for log in "$work/$1".*.jsonl; do
        commas=$(basename "$log" | tr -dc ,)
        tail -n +$((warmup * (${#commas} + 1) + 1)) "$log" |
            sed "s|^{|{\"input\": \"$3\", |
            s|\"workload\": \"[^\"]*\"|\"workload\": \"$2\"|"
    done >>"$work/results.all"
    {
        printf '%s\n"%s": ' "$separator" "$1"
        cat "$work/$1.json"
    } >>"$work/hyperfine.all"
    separator=,
    printf '\n### %s\n\n' "$1" | cat - "$work/$1.md" >>"$work/markdown.all"
}

# --------------------------------------------------------------------- main --

machine() {
    processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    compiler=$(${CC:-cc} --version | head -n 1)
    system="$(uname -s) $(uname -r | sed 's/[^0-9.].*//')"
    echo "${processor:-$(uname -m)}, $(getconf _NPROCESSORS_ONLN) cores," \
        "$system; $compiler, ${CFLAGS:--O2}; $(date +%Y-%m-%d)," \
        "seed $seed, median of $runs runs"
}

grid | chosen >"$work/grid"
separator='{'
if [ -n "${ADD:-}" ]; then
    cp "$results/results.jsonl" "$work/results.all"
    cp "$results/hyperfine.md" "$work/markdown.all"
    sed '$d' "$results/hyperfine.json" >"$work/hyperfine.all"
    separator=,
fi
total=$(awk -v each=$((runs + warmup)) '{ n += (NF - 3) * each }
    END { print n }' "$work/grid")
began=$(date +%s)

while read -r workload what rounds engines <&3; do
    input=$(basename "$what" .txt.gz)
    name=$workload-$input
    [ "$rounds" = 0 ] || name=$name-$rounds
    if [ "$workload" != trace ] && ! fits "$what"; then
        end_line
        echo "$workload $what is left out: it takes 10 GB of memory" >&2
        continue
    fi
    [ -t 2 ] || echo "$workload $input: $engines" >&2
    # shellcheck disable=SC2086 # engines are words
    cell "$name" "$workload" "$what" "$rounds" $engines
    collect "$name" "$workload" "$input"
done 3<"$work/grid"
progress "$total" "$total" "that is all"
end_line

mkdir -p "$results"
cp "$work/results.all" "$results/results.jsonl"
{ cat "$work/hyperfine.all"; echo '}'; } >"$results/hyperfine.json"
cp "$work/markdown.all" "$results/hyperfine.md"
if [ -n "${ADD:-}" ]; then
    sed "s/\$/; added to on $(date +%Y-%m-%d)/" "$results/machine.txt" \
        >"$work/machine"
    cp "$work/machine" "$results/machine.txt"
else
    machine >"$results/machine.txt"
fi
awk -v machine="$(cat "$results/machine.txt")" \
    -v medians="$results/medians.tsv" -v calls="$results/calls.tsv" \
    -f report.awk \
    "$results/results.jsonl" >"$results/table.md" ||
    { cat "$results/table.md"; exit 1; }
if command -v gnuplot >/dev/null 2>&1; then
    ./plot.sh "$results"
else
    echo 'No plots: apt-get install gnuplot-nox' >&2
fi
cat "$results/table.md"
