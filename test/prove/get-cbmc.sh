#!/bin/sh
# get-cbmc.sh - puts CBMC into .build/cbmc, where Debian has it and this release
# of Debian has not. Run from the top of the repository; `.build/cbmc/cbmc` is
# then the command, goto-cc and goto-instrument stand beside it.
#
#     test/prove/get-cbmc.sh
#
# The packages are those of Debian 13, from the same archive as this machine's
# own packages, checked against Debian's keys as apt always does. They are
# unpacked, not installed: their C library must not replace that of the system.
# 36 MB to fetch, 102 MB unpacked; no root is needed.
#
# SPDX-License-Identifier: MIT
set -eu

release=trixie
packages='cbmc minisat libc6 libstdc++6 libgcc-s1 zlib1g'
keys=/usr/share/keyrings/debian-archive-keyring.gpg
build=.build/cbmc

give_up() {
    echo "$1" >&2
    exit 1
}

command -v dpkg-deb >/dev/null || give_up 'not a Debian system'
[ -e "$keys" ] || give_up 'the keys of the Debian archive are missing'

# The archive that this machine installs Debian's own packages from.
# shellcheck disable=SC2016
archive=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' \
    'Created-By: Packages' |
    awk '$2 == "Debian" && $3 == "Debian" { print $1; exit }')
[ -n "$archive" ] || give_up 'apt knows no Debian archive'

rm -rf "$build"
mkdir -p "$build/sources" "$build/lists/partial" \
    "$build/archives/partial" "$build/unpacked"
top=$(cd "$build" && pwd)
trap 'rm -rf "$top/sources" "$top/lists" "$top/archives" "$top"/*.bin' EXIT

cat >"$build/sources/archive.sources" <<END
Types: deb
URIs: $archive
Suites: $release
Components: main
Signed-By: $keys
END
cat >"$build/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$top/sources";
Dir::State::lists "$top/lists";
Dir::Cache "$top";
Acquire::Languages "none";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
APT::Sandbox::User "";
END
export APT_CONFIG="$top/apt.conf"
apt-get -q update >&2
# shellcheck disable=SC2086
(cd "$build/archives" && apt-get -q download $packages >&2)
for package in "$build"/archives/*.deb; do
    dpkg-deb -x "$package" "$build/unpacked"
done

machine=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null ||
    gcc -dumpmachine)
libraries=$top/unpacked/usr/lib/$machine
loader=$(find "$libraries" -name 'ld-linux*' | head -n 1)
[ -x "$loader" ] || give_up 'the C library has no loader'
for tool in cbmc goto-cc goto-instrument; do
    cat >"$build/$tool" <<END
#!/bin/sh
exec '$loader' --library-path '$libraries:$top/unpacked/usr/lib' \\
    '$top/unpacked/usr/bin/$tool' "\$@"
END
    chmod +x "$build/$tool"
done
"$build/cbmc" --version
