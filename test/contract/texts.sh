#!/bin/sh
# texts.sh - prints the scripts as text in C, for machines without files or
# without glob. scripts.c says how a program includes the text. Run from the top
# of the repository.
#
# SPDX-License-Identifier: MIT
for script in test/contract/*.script; do
    echo "SCRIPT_FILE(\"$script\","
    sed 's/ *# .*//; s/["\\]/\\&/g; s/^.*$/"&\\n"/' "$script"
    echo ')'
done
