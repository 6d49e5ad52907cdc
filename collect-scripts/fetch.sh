# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Fetch what a node recorded. The node lists its files with size and checksum;
# what is missing comes as one tar stream; a file that came in part goes on where
# it ended; every file is checked against the list. After that, and only then,
# the node's copy may go. Nothing but ssh, tar, tail and cksum is needed, and a
# fetch that broke off is taken up by the next try, or by the next `fetch`.
#
# What comes in is laid below .collect/nodes/NODE/data and moved to RUN/NODE when
# it is whole. A node may send what it likes: only listed plain files are kept.

fetch_node()
{
	part=$state/nodes/$1/data
	part_is_new=no
	[ -d "$part" ] || part_is_new=yes
	mkdir -p "$part" || {
		node_problem "$1" "not fetched: $part cannot be made"
		return
	}
	for attempt in 1 2 3 4 5; do
		fetch_once "$1" && {
			put_in_place "$1"
			return
		}
		[ ! -f "$work/interrupted" ] || break
		[ "$attempt" -eq 5 ] || sleep "$attempt"
	done
	node_problem "$1" "not fetched: $fetch_why"
}

# One try; it says in $fetch_why what stopped it.
fetch_once()
{
	fetch_why='it broke off'
	list=$work/list.$1
	if ! action "$1" "$fetch_seconds" list || ! grep -q -x end "$answers"; then
		fetch_why=$(why "$action_status" "$fetch_seconds")
		return 1
	fi
	sed -n '/\/\.\.\//d; /^[0-9][0-9]* [0-9][0-9]* \.\//p' "$answers" | sort >"$list"
	list_odd=$(fact odd)
	still_missing "$1" || return 0
	fetch_rests "$1" || return 1
	fetch_missing "$1" || return 1
	if still_missing "$1"; then
		fetch_why="$(sed -n '1s/^[0-9]* [0-9]* //p' "$missing"): came over damaged"
		return 1
	fi
}

# The listed files that are not here as they should be; $missing lists them.
# Fails if there are none. Files that are not plain, or too long, are removed.
still_missing()
{
	missing=$work/missing.$1
	if [ "$part_is_new" = no ]; then
		find "$part" ! -type f ! -type d -exec rm -f {} +
		(cd "$part" && find . -type f -exec cksum {} +) | sort >"$work/here.$1"
	else
		part_is_new=no
		: >"$work/here.$1"
	fi
	comm -23 "$list" "$work/here.$1" >"$missing"
	[ -s "$missing" ]
}

# CRC SIZE PATH of $line; blanks at the end of a path are its own.
take_line()
{
	size=${line#* }
	path=${size#* }
	size=${size%% *}
}

size_of()
{
	wc -c 2>/dev/null <"$1" | tr -d ' '
}

# Files of which a part is here: the rest. A part that turns out wrong is of a
# whole file then, which the next try begins anew.
fetch_rests()
{
	while IFS= read -r line; do
		take_line
		have=$(size_of "$part/$path")
		[ "${have:-0}" -gt 0 ] || continue
		if [ "$have" -ge "$size" ]; then
			rm -f "$part/$path"
			continue
		fi
		printf '%s\n' "$path" | remote "$1" "$fetch_seconds" /bin/sh "$node_dir/node.sh" \
			tail "$have" >>"$part/$path" || return 1
	done <"$missing"
}

fetch_missing()
{
	while IFS= read -r line; do
		take_line
		[ -f "$part/$path" ] || printf '%s\n' "$path"
	done <"$missing" >"$missing.paths"
	[ -s "$missing.paths" ] || return 0
	# Both ends of the pipe count: the stream may be cut, or the disk here full.
	{
		remote "$1" "$fetch_seconds" /bin/sh "$node_dir/node.sh" pack <"$missing.paths"
		echo $? >"$missing.status"
	} | (cd "$part" && tar -xof -) 2>"$missing.tar" || {
		fetch_why="cannot unpack: $(tail -n 1 "$missing.tar")"
		return 1
	}
	[ "$(cat "$missing.status")" = 0 ]
}

# All is here: the node's directory appears whole. Files that a node put where
# they were not asked for stay behind.
put_in_place()
{
	comm -13 "$list" "$work/here.$1" | while IFS= read -r line; do
		take_line
		rm -f "$part/$path"
	done
	if ! mv "$part" "$run_dir/$1" 2>>"$errors"; then
		node_problem "$1" "not fetched: $run_dir/$1 is there already"
		return
	fi
	set_state "$1" fetched
	if [ -n "$list_odd" ]; then
		node_problem "$1" "$list_odd files with odd names were not fetched, they are in $node_dir/data there"
		return
	fi
	given keep || clean_node "$1"
}

clean_node()
{
	for attempt in 1 2 3; do
		action "$1" "$short_seconds" clean
		case $action_status-$attempt in
		# Where the answer was lost only, there is nothing any more.
		0-* | 2-[23] | 127-[23])
			set_state "$1" cleaned
			return
			;;
		255-[12]) sleep "$attempt" ;;
		*) break ;;
		esac
	done
	node_problem "$1" "not removed there: $(why "$action_status" "$short_seconds")"
}

# shellcheck disable=SC2046
fetch_all()
{
	bound=$parallel
	on_nodes fetch_node $(nodes_in stopped)
}
