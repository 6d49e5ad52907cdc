# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Make the private directory of a run on a node and fill it. This comes first in
# what `sh -s` is sent; NODE, RUN and BASE were set before, `put` and `finish`
# come after it.

umask 077
LC_ALL=C
NL='
'

setup_failed()
{
	printf 'failed %s\n' "$*"
	exit 1
}

# A directory of our own, that nobody else can look into: neither a link nor
# one that somebody has laid out for us.
private_directory()
{
	mkdir "$1" 2>/dev/null
	[ "$(find "$1" -prune -type d -user "$(id -un)" -perm 700 2>/dev/null)" = "$1" ] ||
		setup_failed "$1: want a directory of $(id -un) with mode 700, or a place to make it"
}

if [ -n "$BASE" ]; then
	mkdir -p "$BASE" 2>/dev/null
else
	for BASE in "${TMPDIR:-}" /var/tmp /tmp; do
		[ -z "$BASE" ] || [ ! -d "$BASE" ] || [ ! -w "$BASE" ] || break
	done
fi
case $BASE in
*[!A-Za-z0-9_./:=@%+,-]*) setup_failed "$BASE: has characters that are not safe, want a plain path" ;;
/*) ;;
*) setup_failed "$BASE: want an absolute path" ;;
esac
base=${BASE%/}/clustertrace-$(id -u)
private_directory "$base"
here=$base/$RUN
mkdir "$here" 2>/dev/null || setup_failed "$here: cannot be made, or is there already"
printf '%s\n' "$RUN" >"$here/mine" || setup_failed "$here: cannot be written"
mkdir "$here/bin" "$here/libexec" "$here/libexec/clustertrace" "$here/data" "$here/procs" ||
	setup_failed "$here: cannot be written"
printf '%s\n%s\n' "$RUN" "$NODE" >"$here/who"

put()
{
	cat >"$here/$1" && [ -s "$here/$1" ] || {
		rm -rf "$here"
		setup_failed "$here: cannot be written"
	}
}

finish()
{
	chmod 700 "$here/bin/ctwrap" "$here/bin/ctsample"
	printf 'dir %s\nboot %s\n' "$here" "$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
}
