#!/bin/sh
# get-sources.sh - unpacks source packages of Debian into FOLDER. Run from the
# top of the repository.
#
#     test/hosts/get-sources.sh FOLDER PACKAGE...
#
# They are of the release that this machine runs, from the archive of its own
# packages, and checked against Debian's keys as apt always does. apt works with
# lists and settings of its own in FOLDER, so that nothing of the system
# changes and no root is needed.
#
# SPDX-License-Identifier: MIT
set -eu

folder=$1
shift
keys=/usr/share/keyrings/debian-archive-keyring.gpg

give_up() {
    echo "$1" >&2
    exit 1
}

command -v dpkg-source >/dev/null || give_up 'dpkg-source is missing'
[ -e "$keys" ] || give_up 'the keys of the Debian archive are missing'
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

# shellcheck disable=SC2016
archive=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' \
    'Created-By: Packages' |
    awk '$2 == "Debian" && $3 == "Debian" { print $1; exit }')
[ -n "$archive" ] || give_up 'apt knows no Debian archive'

rm -rf "$folder"
mkdir -p "$folder/apt/sources" "$folder/apt/lists/partial" \
    "$folder/apt/archives/partial"
apt=$(cd "$folder/apt" && pwd)
trap 'rm -rf "$apt"' EXIT

cat >"$apt/sources/archive.sources" <<END
Types: deb-src
URIs: $archive
Suites: $release
Components: main
Signed-By: $keys
END
cat >"$apt/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt";
Acquire::Languages "none";
APT::Sandbox::User "";
END
export APT_CONFIG="$apt/apt.conf"
apt-get -q update
cd "$folder"
apt-get -q source "$@"
