#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The archive of static programs: small enough, and the sample run is synchronized, merged, analyzed and
# exported by it in a root directory where there is nothing else. sh static.sh CMAKE, with the source tree
# in $CT_SOURCE. The programs are not optimized here, which takes a quarter of the time to compile.
set -eu

cmake=$1
most=15000000 # bytes of the archive
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
if [ "$(id -u)" -eq 0 ]; then
	enter=chroot
elif unshare --user --map-root-user true 2>/dev/null; then
	enter='unshare --user --map-root-user chroot'
else
	echo "cannot change the root directory: neither root nor a user namespace"
	exit 77
fi

# logged COMMAND...: what it prints, only if it fails.
logged()
{
	"$@" >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
}
logged "$cmake" -S "$CT_SOURCE" -B "$root/build" -G Ninja -DCT_STATIC=ON -DBUILD_TESTING=OFF \
	-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0
logged "$cmake" --build "$root/build" --target all package

set -- "$root"/build/clustertrace-*.tar.xz
[ $# -eq 1 ] && [ "$(wc -c <"$1")" -le "$most" ]
mkdir "$root/empty" "$root/empty/out" "$root/empty/tmp"
tar -x -J -C "$root/empty" --strip-components 1 -f "$1"
for program in ctsync ctmerge ctanalyze ctexport ctrecipe ctsim; do
	if objdump -p "$root/empty/bin/$program" | grep NEEDED; then
		exit 1
	fi
done
cp -r "$CT_SOURCE/datasets/sample" "$root/empty/sample"
# inside COMMAND...: in the root directory that has the archive and the sample run.
inside()
{
	$enter "$root/empty" "$@"
}
inside /bin/ctsync /sample >"$root/clocks"
(cd "$CT_SOURCE/datasets" && "$root/empty/bin/ctsync" sample) | diff "$root/clocks" -
inside /bin/ctmerge -q -o /out/sample.db /sample
inside /bin/ctanalyze requests --table parts /out/sample.db
inside /bin/ctanalyze report -q /out/sample.db -o /out/report.html
inside /bin/ctexport parquet -q /out/sample.db -o /out/tables
inside /bin/ctexport opendc -q /out/sample.db -o /out/opendc
[ -s "$root/empty/out/report.html" ] && [ -s "$root/empty/out/tables/event.parquet" ]
