#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The .deb has all that ./demo needs, and depends on what its programs are linked with; the .rpm has the
# same files. debian/control names the packages that packages.txt does. sh package.sh CMAKE BUILD with the
# source tree in $CT_SOURCE. rpm of Debian 13 compresses man pages by itself.
set -eu

cmake=$1
build=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# In every build there are gcc and make, and what ./demo alone asks is not for a package.
awk '$1 == "build" && $2 !~ /^(gcc|make|libc6-dev|sqlite3|openssh-client)$/ { print $2 }' \
	"$CT_SOURCE/packages.txt" | sort >"$root/listed"
sed -n '/^Build-Depends:/,/^$/s/^ \([a-z0-9-]*\),*$/\1/p' "$CT_SOURCE/debian/control" | sort | diff "$root/listed" -

(cd "$root" && "$(dirname "$cmake")/cpack" --config "$build/CPackConfig.cmake" -G 'DEB;RPM' -B "$root/made") \
	>"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
rpm --query --package --list --dbpath "$root/rpmdb" "$root"/made/*.rpm | sed 's/[.]gz$//' | sort >"$root/of_rpm"
dpkg-deb --fsys-tarfile "$root"/made/*.deb | tar -t | sed -n 's|^\.\(/.*[^/]\)$|\1|p' | sed 's/[.]gz$//' | sort >"$root/of_deb"
grep -q '^/usr/bin/ctsync$' "$root/of_rpm"
[ -z "$(comm -23 "$root/of_deb" "$root/of_rpm" | tee /dev/stderr)" ]
set -- "$root"/made/*.deb
[ $# -eq 1 ]
dpkg-deb --info "$1"
dpkg-deb --extract "$1" "$root/system"
dpkg-deb --field "$1" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | sort -u >"$root/depends"

# Each library that a program names itself is in a package that the .deb depends on.
for program in "$root"/system/usr/bin/*; do
	objdump -p "$program" 2>/dev/null | sed -n 's/^ *NEEDED *//p'
done | sort -u >"$root/needed"
[ -s "$root/needed" ]
while read -r library; do
	found=$(ldconfig -p | sed -n "s|^[[:space:]]*$library (.*) => ||p" | head -n 1)
	printf '%s %s\n' "$library" "$(readlink -f "$found")"
done <"$root/needed" >"$root/paths"
# By its name too: where /lib is a link, a path may be of no package.
sed 's|\(.*\) \(.*\)|\2 */\1|' "$root/paths" | xargs dpkg-query --search 2>/dev/null >"$root/owners" || :
while read -r library path; do
	sed -n "s,^\([^:]*\):.*/\($library\|${path##*/}\)\$,\1,p" "$root/owners" >"$root/found"
	grep -qxF -f "$root/found" "$root/depends" ||
		{ printf '%s: of %s, which the package does not depend on\n' "$library" "$(xargs <"$root/found")"; exit 1; }
done <"$root/paths"

# The steps of ./demo, by the programs of the package alone.
PATH=$root/system/usr/bin:$PATH
export PATH
cd "$CT_SOURCE"
AUTOPKGTEST_TMP=$root sh debian/tests/sample
[ "$(command -v ctsync)" = "$root/system/usr/bin/ctsync" ]
for page in "$CT_SOURCE"/man/*.1.scd; do
	! command -v scdoc >/dev/null || [ -s "$root/system/usr/share/man/man1/$(basename "$page" .scd).gz" ] ||
		[ -s "$root/system/usr/share/man/man1/$(basename "$page" .scd)" ]
done
