# shellcheck shell=sh
# debian.sh - packages from the archive of this machine's own packages, checked
# against Debian's keys as apt always does. apt works with lists and settings of
# its own, so that nothing of the system changes and no root is needed.
#
#     . test/lib/debian.sh
#     use_debian FOLDER deb-src bookworm
#     apt-get -q source tor
#
# OFFLINE=1 in the environment refuses every download.
#
# SPDX-License-Identifier: MIT

give_up() {
    echo "$1" >&2
    exit 1
}

# use_debian FOLDER TYPE RELEASE: makes FOLDER, which holds the lists until the
# script ends.
use_debian() {
    [ -z "${OFFLINE:-}" ] || give_up 'OFFLINE is set: nothing is fetched'
    echo "fetches packages of Debian $3; OFFLINE=1 refuses that" >&2
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -e "$keys" ] || give_up 'the keys of the Debian archive are missing'
    # shellcheck disable=SC2016
    archive=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' \
        'Created-By: Packages' |
        awk '$2 == "Debian" && $3 == "Debian" { print $1; exit }')
    [ -n "$archive" ] || give_up 'apt knows no Debian archive'
    mkdir -p "$1/sources" "$1/lists/partial" "$1/archives/partial"
    apt=$(cd "$1" && pwd)
    trap 'rm -rf "$apt"' EXIT
    cat >"$apt/sources/archive.sources" <<END
Types: $2
URIs: $archive
Suites: $3
Components: main
Signed-By: $keys
END
    cat >"$apt/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt";
Acquire::Languages "none";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
APT::Sandbox::User "";
END
    export APT_CONFIG="$apt/apt.conf"
    apt-get -q update >&2
}
