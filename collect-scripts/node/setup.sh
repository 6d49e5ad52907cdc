# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Make the private directory of a run on a node and fill it. This comes first in what
# `sh -s` is sent; NODE, RUN and BASE were set before, `set_up` and `put` come after it.

umask 077
LC_ALL=C
NL='
'

give_up()
{
	printf 'failed %s\n' "$*"
	exit 1
}

# Where private directories are made: the recipe's tmpdir, or where this system has it.
find_base()
{
	[ -z "$BASE" ] || return 0
	for BASE in "${TMPDIR:-}" /var/tmp /tmp; do
		[ -z "$BASE" ] || [ ! -d "$BASE" ] || [ ! -w "$BASE" ] || break
	done
}

# The directory above is our own, and nobody else can look into it: it is neither a link nor
# one that somebody has laid out for us.
set_up()
{
	[ -z "$BASE" ] || mkdir -p "$BASE" 2>/dev/null
	find_base
	case $BASE in
	*[!A-Za-z0-9_./:=@%+,-]*) give_up "$BASE: has characters that are not safe, want a plain path" ;;
	/*) ;;
	*) give_up "$BASE: want an absolute path" ;;
	esac
	base=${BASE%/}/clustertrace-$(id -u)
	mkdir "$base" 2>/dev/null
	[ "$(find "$base" -prune -type d -user "$(id -un)" -perm 700 2>/dev/null)" = "$base" ] ||
		give_up "$base: want a directory of $(id -un) with mode 700, or a place to make it"
	here=$base/$RUN
	mkdir "$here" 2>/dev/null || give_up "$here: cannot be made, or is there already"
	printf 'dir %s\n' "$here"
	printf '%s\n%s\n' "$RUN" "$NODE" >"$here/who" &&
		mkdir -p "$here/bin" "$here/libexec/clustertrace" "$here/data/log" "$here/procs" \
			"$here/pids" "$here/sensors" "$here/exec" || cannot_write
}

cannot_write()
{
	rm -rf "$here"
	printf 'state clean\n'
	give_up "$here: cannot be written"
}

put()
{
	cat >"$here/$1" && [ -s "$here/$1" ] || cannot_write
}

# begin STEP_SECONDS: the collection; what fails leaves nothing.
begin()
{
	chmod 700 "$here/bin/ctwrap" "$here/bin/ctsample"
	/bin/sh "$here/node.sh" "$1" start </dev/null || {
		/bin/sh "$here/node.sh" "$1" stop </dev/null
		/bin/sh "$here/node.sh" "$1" clean </dev/null
		exit 1
	}
}
