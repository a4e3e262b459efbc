#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh - runs the bench under hyperfine. Writes bench/results/: cells.tsv and
# the plots, and the tables in README.md. `make bench` calls run.sh, `make
# bench-full` with --full. `run.sh --report` runs nothing, and writes the plots
# and the tables again from cells.tsv.
#
#   RUNS=3 WARMUP=0 SEED=1      runs that count and runs that do not, per cell
#                               and engine; the seed of all random numbers
#   ROUNDS=1                    other rounds than the default: 1 tries the cells
#   SIZES='100 1000'            other numbers of timers
#   WORKLOADS='hold restart'    other workloads than all (see grid below)
#   ENGINES='wheel heap4'       only these engines
#   RESULTS=directory           where to write, instead of bench/results
#   ADD=1                       keeps the cells of other workloads, sizes and
#                               engines
#   CONTINUE=1                  keeps all cells, and runs only those that are
#                               missing: after an interruption
set -eu

case ${RESULTS:-} in
'' | /*) ;;
*) RESULTS=$PWD/$RESULTS ;;
esac
cd "$(dirname "$0")"
timers=./timers
results=${RESULTS:-$PWD/results}
cells=$results/cells.tsv
runs=${RUNS:-3}
warmup=${WARMUP:-0}
seed=${SEED:-1}
full=false
[ "${1:-}" != --full ] || full=true

# Prints the tables, and draws the plots. For bench/results, the tables go into
# README.md as well.
report() {
    machine=$(cat "$results/machine.txt")
    awk -v machine="$machine" -f report.awk "$cells" || exit 1
    if [ "$results" = "$PWD/results" ]; then
        awk -v machine="$machine" -f report.awk "$cells" README.md \
            >results/README.new
        cat results/README.new >README.md
        rm results/README.new
    fi
    if command -v gnuplot >/dev/null 2>&1; then
        gnuplot -c plot.gp "$results" "$machine"
    else
        echo 'No plots: apt-get install gnuplot-nox' >&2
    fi
}

if [ "${1:-}" = --report ]; then
    report
    exit 0
fi
if ! command -v hyperfine >/dev/null 2>&1; then
    echo 'hyperfine runs the bench: apt-get install hyperfine' >&2
    exit 1
fi
if [ ! -x $timers ]; then
    echo 'Build the bench first: make bench/timers' >&2
    exit 1
fi

work=$(mktemp -d)
child=
trap 'rm -rf "$work"' EXIT
trap 'interrupted' INT TERM

# Ends the line of the progress bar.
end_line() { [ ! -t 2 ] || echo >&2; }

interrupted() {
    end_line
    if [ -n "$child" ]; then
        pkill -TERM -P "$child" 2>/dev/null || :
        kill "$child" 2>/dev/null || :
    fi
    echo 'Interrupted. CONTINUE=1 goes on from here.' >&2
    exit 130
}

# ----------------------------------------------------------------- the grid --

# A cell is one workload with one input, and the engines to compare:
#   <workload> <size or trace> <rounds> <object> <engine>...
# Rounds and object may be 0, the default. All engines of a cell make the same
# rounds, because the checksums are compared.
$timers --engines >"$work/engines"

# can WORKLOAD: the engines that can run the workload. wheel-late is the wheel
# without a part, and only of interest in calls-*.
can() {
    awk -v workload="$1" '$1 != "wheel-late" {
        for (i = 2; i <= NF; i++)
            if ($i == workload)
                printf "%s ", $1
    }' "$work/engines"
}

# present ENGINE...: the engines that were built.
present() {
    for engine in "$@"; do
        ! grep -q "^$engine " "$work/engines" || printf '%s ' "$engine"
    done
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

# With more than 10,000 timers, list takes a minute per run. With more than a
# million, only the fast engines run.
cells_of() {
    for n in $(sizes); do
        if [ "$n" -le 10000 ]; then
            echo "$1 $n 0 0 $(can "$1")"
        elif [ "$n" -le 1000000 ]; then
            echo "$1 $n 0 0 $(can "$1" | sed 's/list //')"
        else
            echo "$1 $n 0 0 wheel heap4 heap4_lazy"
        fi
    done
}

# Small and large objects, for the wheel and for a wheel of linked lists.
object_cells() {
    for object in 64 128 512; do
        for n in ${SIZES:-10000 100000 1000000}; do
            for workload in hold restart cancel; do
                echo "$workload $n 0 $object wheel $(present timeout)"
            done
        done
    done
}

# What makes malloc ask for huge pages, where the system gives huge pages to
# programs that ask.
huge=GLIBC_TUNABLES=glibc.malloc.hugetlb=1
has_huge() {
    grep -q '\[madvise\]' /sys/kernel/mm/transparent_hugepage/enabled \
        2>/dev/null && getconf GNU_LIBC_VERSION >/dev/null 2>&1
}

# The same twice, one after the other: in small pages and in huge pages.
page_cells() {
    if ! has_huge; then
        echo 'pages is left out: the system gives no huge pages' >&2
        return
    fi
    for n in ${SIZES:-1000000 10000000}; do
        echo "expire-small-pages $n 0 0 wheel"
        echo "expire-huge-pages $n 0 0 wheel"
    done
}

# list would visit every microsecond.
trace_cells() {
    for trace in traces/*.txt.gz; do
        echo "trace $trace 0 0 $(can trace | sed 's/list //')"
    done
}

limit_cells() {
    for n in ${SIZES:-1000000}; do
        echo "limit $n 0 0 wheel"
    done
}

# The engines of these cells run in one process and take turns. libuv and
# libevent would take minutes per run with a million timers.
calls_cells() {
    engines="wheel heap4 heap4_lazy wheel-late $(present timeout radix)"
    for n in ${SIZES:-1000 1000000}; do
        if [ "$n" -le 10000 ]; then
            echo "calls-minute $n 8 0 $engines $(present libuv libevent)"
        else
            echo "calls-minute $n 2 0 $engines"
        fi
    done
    for n in ${SIZES:-1000000}; do
        echo "calls-hour $n 1 0 $engines"
        echo "calls-idle $n 2 0 $engines"
    done
}

# The size is the number of threads.
post_cells() {
    for threads in 1 2 4; do
        echo "post-64 $threads 0 0 mailbox mutex"
        echo "post-1024 $threads 0 0 mailbox mutex"
    done
    echo 'shard 1 0 0 wheel'
    echo 'shard 2 0 0 wheel'
}

full_cells() {
    echo 'limit 10000000 0 0 wheel'
    echo 'calls-hour 10000000 1 0 wheel heap4 heap4_lazy wheel-late'
    echo 'hold 100000000 1 0 wheel'
    echo 'expire 100000000 1 0 wheel'
}

grid() {
    for workload in ${WORKLOADS:-hold expire restart postpone cancel \
        startstop callback burst sparse trace calls limit object post pages \
        $($full && echo full)}; do
        case $workload in
        callback)
            cells_of callback-restart
            cells_of callback-postpone
            ;;
        object) object_cells ;;
        pages) page_cells ;;
        trace) trace_cells ;;
        limit) limit_cells ;;
        calls) calls_cells ;;
        post) post_cells ;;
        full) full_cells ;;
        *) cells_of "$workload" ;;
        esac
    done
}

# The cells on standard input with the wanted engines only.
chosen() {
    awk -v wanted=" ${ENGINES:-} " '{
        cell = $1 " " $2 " " $3 " " $4
        n = 0
        for (i = 5; i <= NF; i++)
            if (wanted ~ /^ *$/ || index(wanted, " " $i " ")) {
                cell = cell " " $i
                n++
            }
        if (n > 0)
            print cell
    }'
}

# 100 million timers take 10 GB with their objects.
fits() {
    kilobytes=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo 2>/dev/null)
    [ "$1" -lt 100000000 ] || [ "${kilobytes:-99999999}" -gt 10500000 ]
}

# ----------------------------------------------------------------- progress --

# progress DONE TOTAL WHAT: a bar on a terminal, else a line.
progress() {
    if [ ! -t 2 ]; then
        echo "$1/$2 $3" >&2
        return
    fi
    left=
    [ "$1" -lt 3 ] ||
        left=$((($(date +%s) - began) * ($2 - $1) / $1 / 60 + 1))
    bar=$(printf '%*s' $(($1 * 30 / $2)) '' | tr ' ' '#')
    printf '\r[%-30s] %d/%d  %-34s %s \033[K' "$bar" "$1" "$2" "$3" \
        "${left:+about $left min left}" >&2
}

# ----------------------------------------------------------------- one cell --

# command ENGINE WORKLOAD WHAT ROUNDS OBJECT: one run, as a command line.
command_of() {
    program=$timers workload=$2
    case $workload in
    *-huge-pages) program="env $huge $timers" workload=${2%-huge-pages} ;;
    *-small-pages) workload=${2%-small-pages} ;;
    esac
    case $workload in
    post-*) echo "$timers $1 post $3 ${workload#post-}" ;;
    shard) echo "$timers shard $3" ;;
    *)
        options=
        rounds=${ROUNDS:-$4}
        [ "$rounds" = 0 ] || options=" --rounds $rounds"
        [ "$5" = 0 ] || options="$options --object $5"
        echo "$program $1 $workload $3$options"
        ;;
    esac
}

# cell WORKLOAD WHAT ROUNDS OBJECT ENGINE...: every engine under hyperfine. Each
# run adds JSON lines to a log, one per engine; warm-up runs come first.
cell() {
    workload=$1 what=$2 rounds=$3 object=$4
    shift 4
    engines=$*
    case $workload in calls-*) engines=$(echo "$engines" | tr ' ' ,) ;; esac
    rm -f "$work"/log.*
    set --
    for engine in $engines; do
        set -- "$@" "$(command_of "$engine" "$workload" "$what" "$rounds" \
            "$object") --seed $seed --json --log $work/log.$engine"
    done
    hyperfine -N --style none --warmup "$warmup" --runs "$runs" "$@" \
        >"$work/hyperfine.out" 2>&1 &
    child=$!
    status=0
    wait "$child" || status=$?
    child=
    if [ $status != 0 ]; then
        end_line
        cat "$work/hyperfine.out" >&2
        echo "bench: $name failed" >&2
        exit 1
    fi
}

# collect WORKLOAD INPUT OBJECT: the runs of the cell become rows of cells.tsv,
# one per engine, in place of older rows with the same key.
collect() {
    for log in "$work"/log.*; do
        commas=$(basename "$log" | tr -dc ,)
        tail -n +$((warmup * (${#commas} + 1) + 1)) "$log"
    done | awk -v workload="$1" -v input="$2" -v object="$3" -f summary.awk \
        >"$work/rows" || exit 1
    awk -F '\t' -v OFS='\t' '
        { key = $1 FS $2 FS $3 FS $4 }
        NR == FNR { new[key]; next }
        !(key in new)' "$work/rows" "$cells" >"$work/cells"
    cat "$work/cells" "$work/rows" >"$cells"
}

# done_already WORKLOAD INPUT OBJECT ENGINE...: cells.tsv has all engines.
done_already() {
    done_cell=$(printf '%s\t%s\t%s' "$1" "$2" "$3")
    shift 3
    for engine in "$@"; do
        cut -f 1-4 "$cells" |
            grep -qxF "$(printf '%s\t%s' "$done_cell" "$engine")" || return 1
    done
}

# --------------------------------------------------------------------- main --

machine() {
    processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null |
        head -n 1)
    compiler=$(${CC:-cc} --version | head -n 1)
    system="$(uname -s) $(uname -r | sed 's/[^0-9.].*//')"
    echo "${processor:-$(uname -m)}, $(getconf _NPROCESSORS_ONLN) cores," \
        "$system; $compiler, ${CFLAGS:--O2}; $(date +%Y-%m-%d)," \
        "seed $seed, median of $runs runs"
}

mkdir -p "$results"
if [ -z "${ADD:-}${CONTINUE:-}" ] || [ ! -e "$cells" ]; then
    awk -v head=1 -f summary.awk >"$cells"
    machine >"$results/machine.txt"
fi
grid | chosen >"$work/grid"
total=$(wc -l <"$work/grid")
count=0
began=$(date +%s)
while read -r workload what rounds object engines <&3; do
    input=$(basename "$what" .txt.gz)
    name="$workload $input"
    [ "$object" = 0 ] || name="$name, objects of $object bytes"
    count=$((count + 1))
    if [ "$workload" != trace ] && ! fits "$what"; then
        end_line
        echo "$name is left out: needs 10 GB of memory" >&2
        continue
    fi
    # shellcheck disable=SC2086 # engines are words
    if [ -n "${CONTINUE:-}" ] &&
        done_already "$workload" "$input" "$object" $engines; then
        continue
    fi
    progress "$count" "$total" "$name"
    # shellcheck disable=SC2086
    cell "$workload" "$what" "$rounds" "$object" $engines
    collect "${name%% *}" "$input" "$object"
done 3<"$work/grid"
end_line
report
