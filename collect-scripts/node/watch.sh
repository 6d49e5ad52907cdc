# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# What watches over a collection on the node: every 10 s it samples the clocks, and ends
# all when the disk gets full, or when the run's directory was removed: nothing can be
# recorded then, and nobody would find the processes any more.

watch()
{
	find_suspended
	trap 'clock_sample; exit 0' TERM INT
	trap '' HUP
	kept=
	# What belongs to the collection is known when it has started.
	watched=0
	until [ -f "$here/started" ] || [ "$watched" -ge "$step_seconds" ]; do
		nap 1
		is_there || abandon
		watched=$((watched + 1))
	done
	while :; do
		keep_in_mind
		nap 10
		is_there || abandon
		clock_sample
		guard_disk
	done
}

# A signal ends it early.
nap()
{
	sleep "$1" &
	wait $!
}

# The run's directory, with our mark in it.
is_there()
{
	mark=
	read -r mark 2>/dev/null <"$here/mine" || :
	[ "$mark" = "$run" ]
}

# The records of processes and sessions, for when they are gone. While they are being
# removed, those of before hold: ours is among them as long as none is missing.
keep_in_mind()
{
	found=
	for proc_file in "$here"/procs/*; do
		kept_process=
		read -r kept_process 2>/dev/null <"$proc_file" || continue
		found="$found${proc_file##*/} $kept_process$NL"
	done
	[ -f "$here/procs/clock" ] && is_there || return 0
	kept=$found
	kept_sessions=
	for domain in kernel user; do
		[ ! -f "$here/session-$domain" ] || kept_sessions="$kept_sessions $domain"
	done
}

# The directory is gone: from what we kept in mind the records are made anew elsewhere,
# by which all is ended as by a stop.
abandon()
{
	trap '' TERM INT
	here=$(mktemp -d "/tmp/clustertrace-$run.XXXXXX") || exit 1
	data=$here/data
	mkdir "$here/procs" "$data" "$data/log" || exit 1
	printf '%s' "$kept" | while read -r name kept_process; do
		printf '%s\n' "$kept_process" >"$here/procs/$name"
	done
	for domain in ${kept_sessions:-}; do
		: >"$here/session-$domain"
	done
	stop_sources clock
	release_active
	rmdir "$base" 2>/dev/null
	rm -rf "$here"
	exit 0
}

# KiB that stay free: 5 % of the file system, at most 64 MiB.
disk_reserve()
{
	# shellcheck disable=SC2046 # fields
	set -- $(df -P -k "$here" 2>/dev/null | tail -n 1)
	disk_free=${4:-}
	disk_keep=$((${2:-0} / 20))
	[ "$disk_keep" -le 65536 ] || disk_keep=65536
}

disk_is_full()
{
	disk_reserve
	[ -n "$disk_free" ] && [ "$disk_free" -le "$disk_keep" ]
}

# A tracer that finds the disk full loses what it has in hand, and leaves no
# room to convert: so end in time.
guard_disk()
{
	disk_is_full || return 0
	problem "disk full: $disk_free KiB left at $here, stopped early"
	trap '' TERM
	stop_sources clock
	exit 0
}
