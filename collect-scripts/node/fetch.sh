# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Handing over what was recorded. Paths are relative to data/.

# CRC SIZE PATH of each file. A path with a line feed, another control character or
# a backslash would not survive the lists; we make none, so these are counted and
# left here.
do_list()
{
	cd "$data" 2>/dev/null || give_up "no data at $data"
	find . -type f ! -path '*[[:cntrl:]]*' ! -path '*\\*' -exec cksum {} +
	odd=$(find . -type f \( -path '*[[:cntrl:]]*' -o -path '*\\*' \) -exec echo x \; | wc -l)
	[ "$odd" -eq 0 ] || tell "odd $odd"
	tell end
}

# Of each HAVE SIZE PATH that comes in the bytes from HAVE up to SIZE, one after the other.
do_send()
{
	cd "$data" || give_up "no data at $data"
	while IFS= read -r line; do
		have=${line%% *}
		line=${line#* }
		size=${line%% *}
		path=${line#* }
		tail -c +$((have + 1)) -- "$path" | head -c $((size - have)) || return
	done
}

# Remove this run from the node: only what is surely ours.
do_clean()
{
	case ${base##*/} in
	clustertrace-*) ;;
	*) give_up "$here: not ours, left as it is" ;;
	esac
	if [ -L "$here" ] || [ "$(cat "$here/mine" 2>/dev/null)" != "$run" ]; then
		give_up "$here: not ours, left as it is"
	fi
	for name in $(recorded); do
		! is_running "$name" || give_up "$here: $name still runs, want stop first"
	done
	release_active
	cd / && rm -rf -- "$here" || give_up "$here: cannot be removed"
	rmdir "$base" 2>/dev/null || :
	tell 'state clean'
}
