#!/bin/sh
# get-cbmc.sh - puts CBMC into .build/cbmc, where Debian has it and this release
# of Debian has not. Run from the top of the repository; `.build/cbmc/cbmc` is
# then the command, goto-cc and goto-instrument stand beside it.
#
#     test/proofs/get-cbmc.sh
#
# The packages are those of Debian 13. They are unpacked, not installed: their C
# library must not replace that of the system. 36 MB to fetch, 102 MB unpacked.
#
# SPDX-License-Identifier: MIT
set -eu
. test/lib/debian.sh

packages='cbmc minisat libc6 libstdc++6 libgcc-s1 zlib1g'
build=.build/cbmc

command -v dpkg-deb >/dev/null || give_up 'not a Debian system'
rm -rf "$build"
use_debian "$build/apt" deb trixie
top=$(cd "$build" && pwd)
# shellcheck disable=SC2086,SC2154
(cd "$apt/archives" && apt-get -q download $packages >&2)
for package in "$apt"/archives/*.deb; do
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
