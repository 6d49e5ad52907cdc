#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `cmake --install` puts everything where it belongs: sh install.sh CMAKE BUILD
# with the source tree in $CT_SOURCE.
set -eu

cmake=$1
build=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
"$cmake" --install "$build" --prefix "$root" >/dev/null

failed=0
want()
{
	if [ ! -s "$root/$1" ]; then
		printf '%s: not installed\n' "$1"
		failed=1
	fi
}

for program in ctsync ctmerge ctanalyze ctexport ctcollect ctbatch ctrecipe ctsample ctwrap ctsim; do
	want bin/$program
	"$root/bin/$program" --version || failed=1
done
want libexec/clustertrace/fetch.sh
for file in "$CT_SOURCE"/datasets/simulate/scenarios/*.scenario; do
	want "share/clustertrace/scenarios/$(basename "$file")"
done
for program in ctsync ctmerge ctanalyze ctexport ctcollect ctbatch ctrecipe ctsample ctwrap ctsim; do
	want share/bash-completion/completions/$program
	want share/fish/vendor_completions.d/$program.fish
done
want share/zsh/site-functions/_clustertrace
want libexec/clustertrace/complete
if command -v scdoc >/dev/null; then
	for file in "$CT_SOURCE"/man/*.1.scd; do
		want "share/man/man1/$(basename "$file" .scd)"
	done
fi
for file in LICENSE README.md docs/contributing.md; do
	want "share/doc/clustertrace/$file"
done
(cd "$root" && find . -type f | sort)
exit "$failed"
