# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2016,SC2034,SC2119,SC2120,SC2154
#
# Transfers to and from the nodes.

# A node is sent hello, which asks for the path of the private directory, and then one script
# for `sh -s` that creates the directory and writes everything into it.

# The node's script, from its parts: functions, and the action at the end.
node_script()
{
	cat "$lib/node/base.sh" "$lib/common.sh" "$lib/node/sources.sh" "$lib/node/ask.sh" \
		"$lib/node/claims.sh" "$lib/node/recording.sh"
}

# Write what every node gets, once per run.
write_bundle()
{
	{
		printf 'BASE=%s\nRUN=%s\n' "$(quote "$tmpdir")" "$id"
		cat "$lib/node/base.sh"
		echo hello
	} >"$work/hello"
	{
		cat "$lib/node/base.sh"
		printf 'set_up "$2"\nunpack <<'\''END OF %s'\''\n' "$id"
		pack_file node.sh "$work/node.sh"
		for part in ctwrap ctsample; do
			pack_file "bin/$part" "$bin/$part"
		done
		for part in common options version; do
			pack_file "libexec/clustertrace/$part.sh" "$lib/$part.sh"
		done
		printf 'FILE OF %s plan\n' "$id"
	} >"$work/bundle.begin"
	make_bundle '' >"$work/bundle"
	has_own_lines=
	! grep -q -E '^(probe|sensor) ' "$work/plan" || has_own_lines=yes
}

# pack_file NAME PATH: a file for `unpack`. Its lines end at one that is in none of the files.
pack_file()
{
	printf 'FILE OF %s %s\n' "$id" "$1"
	cat "$2"
}

# make_bundle NODE: print all of it, with the lines of the plan that concern this node, and then
# how many bytes the files have.
make_bundle()
{
	NODE=$1 RUN=$id awk '
	BEGIN {
		mark = "FILE OF " ENVIRON["RUN"] " "
		n = split("tracer event context channel sar capture process", kind)
		for (i = 1; i <= n; i++)
			is_common[kind[i]]
	}
	NR > FNR && !($1 in is_common) && ($1 != "probe" && $1 != "sensor" || $2 != ENVIRON["NODE"]) { next }
	{ print }
	index($0, mark) == 1 { is_file = 1; next }
	is_file { bytes += length($0) + 1 }
	END { printf "END OF %s\nbegin %d\n", ENVIRON["RUN"], bytes }' "$work/bundle.begin" "$work/plan"
}

# bundle_for NODE: set sent to a file of all of it.
bundle_for()
{
	sent=$work/bundle
	[ -n "$has_own_lines" ] || return 0
	sent=$work/bundle.$1
	make_bundle "$1" >"$sent"
}

# Fetch what a node recorded. The node lists its files with size and checksum;
# what is missing comes as one stream of bytes, file after file, of which
# the listed files are made and nothing else: plain files of ours that
# nobody else may read and nobody execute. A file that came in part goes on where
# it ended; every file is checked against the list, where it is in the end. After that, and only
# then, the node's copy may go, and only if it has nothing else. A fetch that broke off is taken up
# by the next try, or by the next `fetch`.
#
# Fetched files are stored below .collect/nodes/NODE/data and moved to RUN/NODE when they are
# complete.

# The lock lasts as long as what writes there, even if the collector was killed meanwhile.
fetch_node()
{
	part=$state/nodes/$1/data
	whole=$run_dir/$1
	exec 9>>"$state/nodes/$1/lock"
	take_lock 9 "$state/nodes/$1/lock" || {
		complain "$1: another ctcollect is fetching it"
		return
	}
	get_state "$1"
	if [ "$node_state" = partial ] && [ ! -e "$part" ]; then
		mv "$whole" "$part"
		set_state "$1" 'not fetched'
	fi
	(umask 077 && mkdir -p "$part") || {
		node_problem "$1" "not fetched: $part cannot be made"
		return
	}
	if [ -e "$whole" ] || [ -L "$whole" ]; then
		node_problem "$1" "not fetched: $whole exists already"
		return
	fi
	is_interruptible=yes
	for attempt in 1 2 3 4 5; do
		fetch_once "$1"
		case $?-$attempt in
		0-*)
			is_interruptible=
			settle_node "$1"
			return
			;;
		2-* | *-5) break ;;
		esac
		[ ! -f "$work/interrupted" ] || break
		sleep "$attempt"
	done
	[ ! -f "$work/interrupted" ] || fetch_why=interrupted
	node_problem "$1" "not fetched: $fetch_why"
}

# One try; it says in $fetch_why what stopped it. 1: another may go better; 2: none will.
fetch_once()
{
	most_bytes=67108864
	action "$1" "$stop_seconds" list
	[ "$action_status" -eq 0 ] || fetch_why=$(why "$action_status" "$stop_seconds")
	most_bytes=1048576
	if [ "$action_status" -ne 0 ]; then
		[ "$action_status" -eq 255 ] && return 1
		return 2
	fi
	find_missing "$1" "$part"
	if [ -s "$wanted" ]; then
		fetch_missing "$1" || return
	fi
	put_in_place "$1"
}

# find_missing NODE DIRECTORY: what is wanted of the files that the node listed and that are not
# there as they should be: lines HAVE SIZE PATH in $wanted, of all of it, or of the rest of what is
# there. A part that turns out wrong is of a whole file then, which the next try begins again. What
# is there and of no use is listed in $stale. Sets odd_files, how many cannot be made here: a path
# that leads elsewhere, is there twice, is too long or too deep, has characters that are not for
# people to read, or is both a file and a directory. All directories are counted before any is made.
find_missing()
{
	wanted=$work/wanted.$1
	stale=$work/stale.$1
	(cd "$2" && find . -type f -exec cksum {} +) >"$work/here.$1"
	tr -d '\000' <"$answers.raw" | LC_ALL=C WANTED=$wanted STALE=$stale FRAME=$frame awk '
	BEGIN {
		wanted = ENVIRON["WANTED"]
		stale = ENVIRON["STALE"]
		printf "" >wanted
		printf "" >stale
		most_directories = 10000
	}
	# Return true if the directories of a path can be created.
	function has_room(path,    n, part, i, above, new) {
		n = split(path, part, "/")
		if (n > 33)
			return 0
		above = "."
		for (i = 2; i <= n; i++) {
			if (length(part[i]) > 255)
				return 0
			if (i == n)
				break
			above = above "/" part[i]
			if (above in listed)
				return 0
			new += !(above in directory)
		}
		if (directories + new > most_directories)
			return 0
		above = "."
		for (i = 2; i < n; i++) {
			above = above "/" part[i]
			directories += !(above in directory)
			directory[above]
		}
		return 1
	}
	list && !is_open {
		is_open = $0 == ENVIRON["FRAME"]
		next
	}
	!/^(0|[1-9][0-9]*) [0-9]+ / { next }
	{ path = substr($0, length($1) + length($2) + 3) }
	!list {
		crc[path] = $1
		size[path] = $2
		next
	}
	path !~ /^[.]\// || path ~ /\/[.]?[.]?(\/|$)|[\001-\037\177\\]|\302[\200-\237]/ ||
	    length(path) > 1000 || length($1) > 10 || length($2) > 15 || $2 ~ /^0./ ||
	    path in listed || path in directory || !has_room(path) {
		odd++
		next
	}
	{ listed[path] }
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
		print odd + 0, directories + 0
	}' "$work/here.$1" list=1 - >"$work/odd.$1"
	read -r odd_files new_directories <"$work/odd.$1"
}

fetch_missing()
{
	while IFS= read -r path; do
		rm -f "$part/$path"
	done <"$stale"
	fits_on_disk || return 2
	transfer_seconds=$((wanted_kib / 64 + stop_seconds))
	# shellcheck disable=SC2094 # both read it
	# Both ends of the pipe count: the stream may be cut, or the disk here full.
	stream "$1" "$transfer_seconds" /bin/sh "$node_dir/node.sh" "$frame" send <"$wanted" |
		"$lib/receive" "$frame" "$wanted" "$part" $((transfer_seconds + 30)) "$work/interrupted" \
			2>"$wanted.errors"
	received=$?
	read -r stream_status <"$errors.status"
	if [ "$received" -ne 0 ]; then
		fetch_why=$(sed -n '$s/^receive: //p' "$wanted.errors" | plain_lines)
	elif [ "$stream_status" -ne 0 ]; then
		fetch_why=$(why "$stream_status" "$transfer_seconds")
	fi
	[ "$stream_status" -eq 0 ] && [ "$received" -eq 0 ]
}

# A node may list more than there is room for, where every file and directory takes a block. Sets
# wanted_kib.
fits_on_disk()
{
	wanted_kib=$(awk '{ sum += $2 - $1 } END { printf "%.0f", sum / 1024 }' "$wanted")
	free_kib=$(df -P -k "$part" | awk 'END { print $4 }')
	case $free_kib in
	'' | *[!0-9]*) return 0 ;;
	esac
	[ $((wanted_kib + 4 * (new_directories + $(wc -l <"$wanted")))) -ge $((free_kib - 65536)) ] || return 0
	fetch_why="needs $wanted_kib KiB, but only $free_kib KiB are free here"
	return 1
}

# All is here: the node's directory appears whole, and is verified there. What comes out damaged in
# the last attempt too, such as a file that something on the node still writes, is left there.
put_in_place()
{
	# Noted first: a collector that is killed after the move can go on.
	set_state "$1" partial
	mv "$part" "$whole" 2>>"$errors" || {
		set_state "$1" 'not fetched'
		fetch_why=$(last_error)
		return 2
	}
	find_missing "$1" "$whole"
	damaged=$(wc -l <"$wanted")
	[ "$damaged" -gt 0 ] || return 0
	first_damaged=$(sed -n '1s/^[0-9]* [0-9]* //p' "$wanted")
	fetch_why="$first_damaged: arrived damaged"
	if [ "$attempt" -lt 5 ]; then
		mv "$whole" "$part"
		set_state "$1" 'not fetched'
		return 1
	fi
	while read -r _ _ path; do
		rm -f "$whole/$path"
	done <"$wanted"
}

# The node's copy may go if all of it is here; otherwise what is missing is reported.
settle_node()
{
	get_fact odd
	odd=$((odd_files + ${fact:-0}))
	get_fact special
	special=$fact
	get_fact unread
	unread=$fact
	[ "$odd" -eq 0 ] ||
		node_problem "$1" "$odd files with odd names were not fetched, they are in $node_dir/data there"
	[ "${special:-0}" -eq 0 ] ||
		node_problem "$1" "$special links or special files were not fetched, they are in $node_dir/data there"
	[ -z "$unread" ] ||
		node_problem "$1" "files that cannot be read there were not fetched, they are in $node_dir/data there: $unread"
	[ "$damaged" -eq 0 ] ||
		node_problem "$1" "$damaged files arrived damaged 5 times, perhaps because something still writes them; they are in $node_dir/data there: $first_damaged"
	[ "$odd$unread${special:-0}$damaged" = 000 ] || return
	set_state "$1" ok
	is_set keep || clean_node "$1"
}

clean_node()
{
	sent=$work/node.sh
	if ! patiently "$1" "$short_seconds" clean; then
		node_problem "$1" "not removed there: $(why "$action_status" "$short_seconds")"
		return
	fi
	forget_dir "$1"
	[ -d "$run_dir/$1" ] || set_state "$1" removed
}
