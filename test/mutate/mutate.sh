#!/bin/sh
# mutate.sh - puts mistakes into timingwheel.h, and looks whether the tests
# notice. Prints TAP. Run from the top of the repository. `make mutate` runs
# the first line:
#
#     test/mutate/mutate.sh              the planted bugs, then every mutant
#     test/mutate/mutate.sh --sample 100      100 mutants, chosen by the commit
#     test/mutate/mutate.sh --only tw_cancel  the mutants of one function
#     test/mutate/mutate.sh --bugs       the planted bugs, and stale reasons
#     test/mutate/mutate.sh --defects    does random.c find each `defect: `?
#
# Somebody who removes a test runs a sample with SEED=1 before and after: it has
# the same mutants.
#
# A mutant is the header with one small change, made by mutants.py. mutate.py
# says how a mutant is judged. At least 95 % of the mutants must be killed. Each
# survivor needs a row in survivors.tsv: function, line, changed line, and the
# reason why no test can notice. A line has no comment. `*` fits any function or
# line. A row without a survivor is an error. A run prints the missing rows.
#
# --only NAME and a sample skip the mutants in survivors.tsv, which count as
# killed. A line shows each mutant that is judged. SEED chooses another sample.
# --jobs is the number of processes.
#
# A planted bug is a mistake that a person makes. bugs.tsv has each bug with the
# case that must fail; those that this library once had are a `defect: `, which
# random operations must find, too.
#
# SPDX-License-Identifier: MIT
export PYTHONPATH=test/lib
exec python3 -B test/mutate/mutate.py --seed "$(test/lib/seed.sh)" "$@"
