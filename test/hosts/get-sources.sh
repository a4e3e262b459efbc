#!/bin/sh
# get-sources.sh - unpacks source packages of Debian, of the release that this
# machine runs, into FOLDER. Run from the top of the repository.
#
#     test/hosts/get-sources.sh FOLDER PACKAGE...
#
# SPDX-License-Identifier: MIT
set -eu
. test/lib/debian.sh

folder=$1
shift
command -v dpkg-source >/dev/null || give_up 'dpkg-source is missing'
rm -rf "$folder"
use_debian "$folder/apt" deb-src \
    "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)"
cd "$folder"
apt-get -q source "$@"
