# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154,SC2164
#
# To be sourced by a campaign: the programs of $build, and a directory of its own as the
# current one, with tmp/ for temporary files. Both go when the campaign ends.
PATH=$build/bin:$PATH
export LC_ALL=C TZ=UTC
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
trap 'exit 1' HUP INT TERM
cd "$here"
mkdir tmp
export TMPDIR="$here/tmp"
