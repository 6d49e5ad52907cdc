# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
#
# The steps of a batch: extract and merge on each node, sync and join once. Each is one
# command, which $perform is called with: perform LOG RESULT COMMAND... prints it, runs
# it here, or runs it as a job of Slurm.
#
#   $run    the run directory, $run/NODE is a node's data (NODE=PATH: links)
#   $out    the tables
#   $batch  $out.work, what comes between; all of it is made by these steps:
#     sources/NODE          what its packets and its part are made of: see list_sources
#     packets/NODE.packets  NODE.none: nothing there has packets
#     clocks.json messages/ made of what `synced` tells; absent if no node has packets
#     parts/NODE/           made by that map; done when it has a part.db
#     log/STEP-NODE         what a command said, and LOG.status
#   $lists  also $batch, but in a dry run:
#     nodes                 their names, a line each
#     sync.words merge.words declare.words  options for ctsync, for ctmerge, and for
#                           reading packets, a line each
#
# In a dry run that prints sync, $dry_map is its map or `none`, and it would remove the parts.
#
# Files that exist are complete; those made from other inputs are removed before they are made
# again. $changed has the nodes whose files a dry run would remove.

changed=
dry_map=

# has_sources DIRECTORY: whether there is a trace in it or, by its first bytes, a capture or a
# recording of trace-cmd, whatever its name.
has_sources()
{
	[ -n "$(find -L "$1" -name metadata -print 2>/dev/null | head -n 1)" ] ||
		[ -n "$(find -L "$1" -type f -exec sh -c '
			first_bytes() { od -An -N 4 -t x1 | tr -d " \n"; }
			bytes=$(first_bytes <"$1")
			case $bytes in 1f8b*) bytes=$(gzip -dc <"$1" | first_bytes) ;; esac
			case $bytes in
			a1b2c3d4 | d4c3b2a1 | a1b23c4d | 4d3cb2a1 | a1b2cd34 | 34cdb2a1 | 0a0d0d0a | 28b52ffd | 17084474) ;;
			*) false ;;
			esac' sh {} \; -print 2>/dev/null | head -n 1)" ]
}

# Set message_name to ctsync's name for the file of a node's messages.
message_file()
{
	message_name=$(printf '%s' "$1" | LC_ALL=C tr -c 'A-Za-z0-9._+\200-\377-' _)
	case $message_name in
	.*) message_name=_${message_name#.} ;;
	esac
	printf '%s\n' "$batch/messages/$message_name.messages"
}

# Return 0 if a node is known to have no packets.
lacks_packets()
{
	[ -e "$batch/packets/$1.none" ] ||
		{ [ ! -e "$batch/packets/$1.packets" ] && [ -d "$run/$1" ] && ! has_sources "$run/$1"; }
}

# list_declarations: the checksums of the files that declare messages for all nodes.
list_declarations()
{
	while IFS= read -r declare_word; do
		cksum <"${declare_word#*=}" || return
	done <"$lists/declare.words"
	[ ! -e "$run/messages.yaml" ] || cksum <"$run/messages.yaml"
}

# list_sources NODE: the version of the programs, the declared messages, and the files of the
# node's data with their sizes and times; only its path if the data is not on this machine.
list_sources()
{
	printf '%s\n' "$version" && list_declarations && readlink -f "$run/$1" || return
	[ ! -d "$run/$1" ] || find -L "$run/$1/" -type f -printf '%s %T@ %P\n' | LC_ALL=C sort
}

is_changed()
{
	case $NL$changed in
	*"$NL$1$NL"*) return 0 ;;
	esac
	return 1
}

is_extracted()
{
	! is_changed "$1" || return 1
	[ -e "$batch/packets/$1.packets" ] || [ -e "$batch/packets/$1.none" ]
}

is_merged()
{
	[ -z "$dry_map" ] && ! is_changed "$1" && [ -e "$batch/parts/$1/part.db" ]
}

step_extract()
{
	! is_extracted "$1" || return 0
	if lacks_packets "$1"; then
		[ "$perform" = print_step ] || : >"$batch/packets/$1.none"
		return
	fi
	with_options "$lists/declare.words" "extract-$1" "$batch/packets/$1.packets" \
		ctsync -q --extract "$batch/packets/$1.packets" "$run/$1"
}

# with_options FILE COMMAND...: the command with the words of the file behind it.
with_options()
{
	option_file=$1
	shift
	while IFS= read -r option_word; do
		set -- "$@" "$option_word"
	done <"$option_file"
	"$perform" "$@"
}

# with_packets FUNCTION: the function with the files of packets that are there.
with_packets()
{
	packets_function=$1
	set --
	while IFS= read -r packets_node; do
		packets_file=$batch/packets/$packets_node.packets
		if [ -e "$packets_file" ] ||
			{ [ "$perform" = print_step ] && ! lacks_packets "$packets_node"; }; then
			set -- "$@" "$packets_file"
		fi
	done <"$lists/nodes"
	"$packets_function" "$@"
}

# List the inputs of the clock map.
list_packets()
{
	cat "$lists/sync.words" "$lists/merge.words" || return
	[ $# -eq 0 ] || cksum "$@"
}

# Return 0 unless there is nothing to compare clocks by: no node has packets.
needs_map()
{
	with_packets any_word || grep -q '^--messages' "$lists/sync.words"
}

any_word()
{
	[ $# -gt 0 ]
}

is_synced()
{
	[ -z "$changed" ] && [ -e "$batch/synced" ] &&
		{ [ -e "$batch/clocks.json" ] || ! needs_map; } &&
		with_packets list_packets 2>/dev/null | cmp -s - "$batch/synced"
}

step_sync()
{
	! is_synced || return 0
	if [ "$perform" != print_step ]; then
		rm -rf "$batch/synced" "$batch/clocks.json" "$batch/messages" \
			"$batch/parts" "$batch/joined" "$batch/log"/sync* "$batch/log"/merge-* &&
			mkdir "$batch/parts" &&
			with_packets list_packets >"$batch/syncing" || return
	fi
	synced_map=none
	! needs_map || synced_map=clocks.json
	[ "$synced_map" = none ] || with_packets sync_packets || return
	if [ "$perform" = print_step ]; then
		dry_map=$synced_map
	else
		mv "$batch/syncing" "$batch/synced"
	fi
}

sync_packets()
{
	for packets_file; do
		shift
		set -- "$@" -t "$packets_file"
	done
	with_options "$lists/sync.words" sync "$batch/messages" \
		ctsync -q -o "$batch/clocks.json" --messages-out "$batch/messages" "$@"
}

step_merge()
{
	! is_merged "$1" || return 0
	set -- "$1" "merge-$1" "$batch/parts/$1/part.db" ctmerge -q "$run" --node "$1"
	if [ "${dry_map:-none}" != none ] || { [ -z "$dry_map" ] && [ -e "$batch/clocks.json" ]; }; then
		set -- "$@" --clocks "$batch/clocks.json"
	else
		set -- "$@" --no-sync
	fi
	set -- "$@" --part "$batch/parts/$1"
	[ "$perform" = print_step ] || is_extracted "$1" || return
	lacks_packets "$1" || set -- "$@" --messages "$(message_file "$1")"
	shift
	with_options "$lists/merge.words" "$@"
}

# with_parts FUNCTION: the function with the parts that are there.
with_parts()
{
	parts_function=$1
	set --
	while IFS= read -r part_node; do
		if [ "$perform" = print_step ] || is_merged "$part_node"; then
			set -- "$@" "$batch/parts/$part_node"
		fi
	done <"$lists/nodes"
	"$parts_function" "$@"
}

# List the inputs of the tables.
list_parts()
{
	cat "$batch/synced" || return
	printf '%s\n' "$out" "$@"
}

is_joined()
{
	[ -z "$dry_map" ] && [ -e "$batch/joined" ] && [ -e "$out/meta.parquet" ] &&
		with_parts list_parts 2>/dev/null | cmp -s - "$batch/joined"
}

step_join()
{
	! is_joined || return 0
	if [ "$perform" != print_step ]; then
		rm -f "$batch/joined"
		with_parts list_parts >"$batch/joining" || return
	fi
	with_parts join_parts || return
	[ "$perform" = print_step ] || mv "$batch/joining" "$batch/joined"
}

join_parts()
{
	[ $# -gt 0 ] || return 1
	"$perform" join "$out/meta.parquet" ctmerge -q --join -o "$out" "$@"
}

# log_status LOG: what the command ended with; empty: it did not.
log_status()
{
	logged=
	! read -r logged 2>/dev/null <"$batch/log/$1.status"
	printf '%s' "$logged"
}

# run_logged LOG RESULT COMMAND...: run it, by $runner, and keep what it said. It did its
# work where the result is there: a program that did not use all of its input says 1.
run_logged()
{
	log=$batch/log/$1
	result=$2
	shift 2
	rm -f "$log.status"
	"${runner:-env}" "$@" >"$log" 2>&1 </dev/null
	command_status=$?
	echo "$command_status" >"$log.status"
	[ -e "$result" ]
}
