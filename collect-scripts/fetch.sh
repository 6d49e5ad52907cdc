# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2016,SC2034,SC2119,SC2120,SC2154
#
# What goes to the nodes, and what comes from them.

# What is sent to a node: one script for `sh -s` that makes the private directory
# and writes everything into it.

# The node's script, from its parts: functions, and the action at the end.
node_script()
{
	cat "$lib/node/base.sh" "$lib/common.sh" "$lib/node/sources.sh" "$lib/node/ask.sh" \
		"$lib/node/run.sh"
}

# What every node gets alike, made once a run.
write_bundle()
{
	{
		node_script | put_file node.sh
		for part in ctwrap ctsample; do
			put_file "bin/$part" <"$bin/$part"
		done
		for part in common options version; do
			put_file "libexec/clustertrace/$part.sh" <"$lib/$part.sh"
		done
	} >"$work/bundle"
}

# A here-document ends at a line that is in none of the files.
put_file()
{
	printf "put %s <<'END OF %s'\n" "$1" "$id"
	cat
	printf '\nEND OF %s\n' "$id"
}

# bundle_for NODE: all of it. The plan has the lines that concern this node.
bundle_for()
{
	printf 'NODE=%s\nRUN=%s\nBASE=%s\n' "$1" "$id" "$(quote "$tmpdir")"
	cat "$lib/node/base.sh"
	echo set_up
	cat "$work/bundle"
	grep -E "^(event|context|channel|sar|capture|process|sensor $1) " "$work/plan" | put_file plan
	echo begin
}

# Fetch what a node recorded. The node lists its files with size and checksum;
# what is missing comes as one stream of bytes, file after file, of which
# the listed files are made and nothing else: plain files of ours that
# nobody else may read and nobody execute. A file that came in part goes on where
# it ended; every file is checked against the list. After that, and only then,
# the node's copy may go. A fetch that broke off is taken up by the next try, or
# by the next `fetch`.
#
# What comes in is laid below .collect/nodes/NODE/data and moved to RUN/NODE when
# it is whole.

fetch_node()
{
	part=$state/nodes/$1/data
	(umask 077 && mkdir -p "$part") || {
		node_problem "$1" "not fetched: $part cannot be made"
		return
	}
	if [ -e "$run_dir/$1" ] || [ -L "$run_dir/$1" ]; then
		node_problem "$1" "not fetched: $run_dir/$1 is there already"
		return
	fi
	for attempt in 1 2 3 4 5; do
		fetch_once "$1"
		case $?-$attempt in
		0-*)
			put_in_place "$1"
			return
			;;
		2-* | *-5) break ;;
		esac
		[ ! -f "$work/interrupted" ] || break
		sleep "$attempt"
	done
	node_problem "$1" "not fetched: $fetch_why"
}

# One try; it says in $fetch_why what stopped it. 1: another may go better; 2: none will.
fetch_once()
{
	most_bytes=67108864
	action "$1" "$stop_seconds" list
	most_bytes=1048576
	if [ "$action_status" -ne 0 ] || ! grep -q -x end "$answers"; then
		fetch_why=$(why "$action_status" "$stop_seconds")
		[ "$action_status" -eq 255 ] && return 1
		return 2
	fi
	find_missing "$1"
	[ -s "$wanted" ] || return 0
	fetch_missing "$1" || return
	find_missing "$1"
	[ ! -s "$wanted" ] || {
		fetch_why="$(sed -n '1s/^[0-9]* [0-9]* //p' "$wanted"): came over damaged"
		return 1
	}
}

# What is wanted of the files that the node listed and that are not here as they should be:
# lines HAVE SIZE PATH in $wanted, of all of it, or of the rest of what is here. A part that
# turns out wrong is of a whole file then, which the next try begins anew. What is here and
# of no use goes. Sets odd_files, how many may not be made here: a path that leads elsewhere,
# is there twice, or has what is not for people to read.
find_missing()
{
	wanted=$work/wanted.$1
	(cd "$part" && find . -type f -exec cksum {} +) >"$work/here.$1"
	stale=$work/stale.$1
	tr -d '\000' <"$answers.raw" | LC_ALL=C WANTED=$wanted STALE=$stale awk '
	BEGIN {
		wanted = ENVIRON["WANTED"]
		stale = ENVIRON["STALE"]
		printf "" >wanted
		printf "" >stale
	}
	!/^[0-9]+ [0-9]+ / { next }
	{ path = substr($0, length($1) + length($2) + 3) }
	!list {
		crc[path] = $1
		size[path] = $2
		next
	}
	path !~ /^[.]\// || path ~ /\/[.]?[.]?(\/|$)|[\001-\037\177\\]|\302[\200-\237]/ ||
	    length(path) > 1000 || length($1) > 10 || length($2) > 15 || listed[path]++ {
		odd++
		next
	}
	path in size && crc[path] == $1 && size[path] == $2 { next }
	{
		have = path in size && size[path] + 0 < $2 + 0 ? size[path] : 0
		print have, $2, path >wanted
		if (have == 0 && path in size)
			print path >stale
	}
	END {
		for (path in size)
			if (!(path in listed))
				print path >stale
		print odd + 0
	}' "$work/here.$1" list=1 - >"$work/odd.$1"
	odd_files=$(fact odd)
	odd_files=$((${odd_files:-0} + $(cat "$work/odd.$1")))
	while IFS= read -r path; do
		rm -f "$part/$path"
	done <"$stale"
}

fetch_missing()
{
	fits_on_disk || return 2
	transfer_seconds=$((wanted_kib / 64 + stop_seconds))
	# shellcheck disable=SC2094 # both read it
	# Both ends of the pipe count: the stream may be cut, or the disk here full.
	stream "$1" "$transfer_seconds" /bin/sh "$node_dir/node.sh" send <"$wanted" |
		receive 8<"$wanted" 2>"$wanted.errors"
	received=$?
	read -r stream_status <"$errors.status"
	if [ "$stream_status" -ne 0 ]; then
		fetch_why=$(why "$stream_status" "$transfer_seconds")
	elif [ "$received" -ne 0 ]; then
		fetch_why="it cannot be written: $(head -n 1 "$wanted.errors")"
	fi
	[ "$stream_status" -eq 0 ] && [ "$received" -eq 0 ]
}

# The wanted files, of the bytes that come in. dd takes no byte of the next file.
receive()
{
	umask 077
	cd "$part" || return
	while IFS= read -r line <&8; do
		have=${line%% *}
		line=${line#* }
		size=${line%% *}
		path=${line#* }
		{ [ -d "${path%/*}" ] || mkdir -p "${path%/*}"; } &&
			dd bs=65536 iflag=fullblock,count_bytes count=$((size - have)) >>"$path" || return
	done
}

# A node may list more than there is room for. Sets wanted_kib.
fits_on_disk()
{
	wanted_kib=$(awk '{ sum += $2 - $1 } END { printf "%.0f", sum / 1024 }' "$wanted")
	free_kib=$(df -P -k "$part" | awk 'END { print $4 }')
	case $free_kib in
	'' | *[!0-9]*) return 0 ;;
	esac
	[ "$wanted_kib" -ge $((free_kib - 65536)) ] || return 0
	fetch_why="it has $wanted_kib KiB, and $free_kib are free here"
	return 1
}

# All is here: the node's directory appears whole.
put_in_place()
{
	mv "$part" "$run_dir/$1" 2>>"$errors" || {
		node_problem "$1" "not fetched: $(last_error)"
		return
	}
	set_state "$1" ok
	if [ "$odd_files" -gt 0 ]; then
		node_problem "$1" "$odd_files files with odd names were not fetched, they are in $node_dir/data there"
	elif ! is_set keep; then
		clean_node "$1"
	fi
}

clean_node()
{
	patiently "$1" "$short_seconds" clean
	case $action_status-$attempt in
	# Where the answer was lost only, there is nothing any more.
	0-* | 2-[23] | 127-[23]) [ -d "$run_dir/$1" ] || set_state "$1" removed ;;
	*) node_problem "$1" "not removed there: $(why "$action_status" "$short_seconds")" ;;
	esac
}
