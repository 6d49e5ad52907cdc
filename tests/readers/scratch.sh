#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# To be sourced by a reader's test, NAME.sh: its module NAME.mjs in a scratch directory, beside
# the readers that ./check installs. The test is skipped where they are not there.
modules=$CT_SOURCE/build-node/node_modules
if [ ! -d "$modules" ] || ! command -v node >/dev/null; then
	echo "no readers in $modules, want those that ./check installs"
	exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
module=${0##*/}
cp "$CT_SOURCE/tests/readers/${module%.sh}.mjs" "$scratch"
ln -s "$modules" "$scratch/node_modules"
cd "$scratch" || exit
