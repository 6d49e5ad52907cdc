#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The outputs of ctmerge, and its errors when it cannot write them.
load common

net3=fixtures/net3

# Nothing is here but what was.
only()
{
	[ "$(echo *)" = "$(printf '%s\n' datasets fixtures "$@" | sort | xargs)" ]
}

# The last thing that was said.
last()
{
	[ "$(tail -n 1 "$scratch/stderr")" = "$1" ]
}

# A short merge, of what has no samples to talk about.
merge()
{
	ctmerge -q --no-sync --events net_dev_queue "$@"
}

@test "a file that is there is replaced only with --force" {
	merge $net3/node1/kernel -o run.db
	fails_with 1 'ctmerge: run.db: already exists; use --force to replace it' \
		merge $net3/node1/kernel -o run.db
	ends_with 0 merge $net3/node1/kernel -o run.db --force
	only run.db
}

@test "--force replaces timelines, and nothing else" {
	echo text >run.db
	fails_with 1 'ctmerge: run.db: not a timeline; --force replaces only timelines' \
		merge $net3/node1/kernel -o run.db --force
	[ "$(cat run.db)" = text ]
	rm run.db
	sqlite3 run.db 'CREATE TABLE a (b)'
	fails_with 1 'ctmerge: run.db: not a timeline; --force replaces only timelines' \
		merge $net3/node1/kernel -o run.db --force
	ln -s run.db link
	fails_with 1 'ctmerge: link: exists and is not a regular file' \
		merge $net3/node1/kernel -o link --force
	only run.db link
}

@test "events as Parquet files, in place of a timeline" {
	ends_with 0 merge $net3/node1/kernel --parquet out
	[ "$(ls out)" = "$(printf '%s.parquet\n' event event_class net_dev_queue node)" ]
	[ "$(tail -c 4 out/event.parquet)" = PAR1 ]
	ends_with 0 merge $net3/node1/kernel --no-payload --parquet out
	[ "$(ls out)" = "$(printf '%s.parquet\n' event event_class node)" ]
	mkdir full
	touch full/mine
	fails_with 1 'ctmerge: full: not empty; use one that ctmerge --parquet made, or a new directory' \
		merge $net3/node1/kernel --parquet full
	for other in '-o run.db' --describe; do
		# shellcheck disable=SC2086 # its words
		fails_with 2 'ctmerge: --parquet requires a directory, and cannot be used with --describe, --output or parts' \
			merge $net3/node1/kernel --parquet other $other
	done
	only full out
}

@test "into a directory that is not there, or onto one" {
	fails_with 1 'ctmerge: nowhere/run.db: No such file or directory' \
		merge $net3/node1/kernel -o nowhere/run.db
	mkdir out
	fails_with 1 'ctmerge: out: exists and is not a regular file' \
		merge $net3/node1/kernel -o out
	only out
}

@test "a full disk" {
	# shellcheck disable=SC2016 # the inner shell expands
	ends_with 1 bash -c 'ulimit -f 5000; exec ctmerge -q --no-sync "$1" -o run.db' - $net3
	tail -n 1 "$scratch/stderr" | grep '^ctmerge: run.db.*: File too large$'
	only
	# shellcheck disable=SC2016
	ends_with 1 \
		bash -c 'exec ctmerge -q --no-sync "$1" >/dev/full' - $net3
	last 'ctmerge: standard output: No space left on device'
}

@test "a terminal is refused" {
	# shellcheck disable=SC2016
	ends_with 2 script -qec "ctmerge $net3" /dev/null
	grep -q 'standard output is a terminal' "$scratch/stdout"
}

@test "a reader that goes away" {
	mkdir scratch
	# shellcheck disable=SC2016
	ends_with 141 bash -c \
		'TMPDIR=$PWD/scratch ctmerge -q --no-sync "$1" | false; exit ${PIPESTATUS[0]}' - $net3
	[ ! -s "$scratch/stderr" ]
	[ -z "$(ls -A scratch)" ]
}

@test "standard output that is closed" {
	# shellcheck disable=SC2016
	fails_with 2 'ctmerge: standard output is closed; use a file or a pipe, or --output FILE' \
		bash -c 'exec ctmerge -q --no-sync "$1" >&-' - $net3
}

# A run that takes a while, of links to one trace copied under many names.
long_run()
{
	local i
	for i in 1 2 3 4 5 6 7 8; do
		mkdir -p run/n$i
		cp -r $net3/node1/kernel run/n$i/kernel
	done
}

@test "a signal leaves nothing" {
	long_run
	mkdir scratch
	for signal in INT TERM; do
		for delay in 0.02 0.1 0.3; do
			# A shell lets what it starts behind & ignore SIGINT.
			status=0
			timeout --preserve-status -s $signal $delay \
				env TMPDIR="$PWD/scratch" ctmerge -q --no-sync run -o run.db ||
				status=$?
			[ $status -ne 0 ] || rm run.db
		done
	done
	[ -z "$(ls -A scratch)" ]
	only run scratch
}

@test "misuse" {
	fails_with 2 'ctmerge: missing RUN (expected one RUN, or traces and captures; see --help)' ctmerge -o run.db
	fails_with 2 "ctmerge: $net3: a directory, but not a trace (expected one RUN, or traces and captures)" \
		ctmerge $net3 $net3 -o run.db
	fails_with 2 "ctmerge: $net3/node1/kernel and $net3/node1/kernel would both be node node1; name them, as in NAME=$net3/node1/kernel" \
		ctmerge $net3/node1/kernel $net3/node1/kernel -o run.db
	fails_with 2 'ctmerge: --output: empty name (expected a file)' ctmerge $net3 -o ''
	fails_with 2 'ctmerge: --clocks and --no-sync cannot be used together' \
		ctmerge $net3 --no-sync --clocks a -o run.db
	fails_with 2 'ctmerge: --json and --local-time require --describe' ctmerge $net3 --json -o run.db
	fails_with 2 'ctmerge: --force requires --output FILE' ctmerge $net3 --force
	fails_with 2 'ctmerge: --describe cannot be used with --output' \
		ctmerge $net3 --describe -o run.db
	fails_with 2 "ctmerge: --begin: invalid time 'now' (expected nanoseconds, seconds, +seconds, or UTC such as 2026-11-21T02:38:57.7)" \
		ctmerge $net3 --begin now -o run.db
	fails_with 2 'ctmerge: --begin is after --end' \
		ctmerge $net3 --begin +2 --end +1 -o run.db
	fails_with 2 "ctmerge: --method: invalid value 'x' (expected hull, margin, joint or regression)" \
		ctmerge $net3 --method x -o run.db
	fails_with 2 "ctmerge: --local: 'x' is neither an address nor a file" ctmerge $net3 --local x -o run.db
	only
}

@test "a run that is none" {
	mkdir empty
	fails_with 1 'ctmerge: empty: no trace and no capture below it (expected NODE/.../metadata or NODE/*.pcap)' \
		ctmerge empty -o run.db
	fails_with 1 'ctmerge: nowhere: No such file or directory' ctmerge nowhere -o run.db
	only empty
}

@test "names of classes that the run does not have" {
	ends_with 0 ctmerge -q --no-sync --events 'shced_*' $net3 -o run.db
	last 'ctmerge: --events: no event of a class with a matching name'
	ends_with 0 ctmerge -q --no-sync --events 'sched_*' --end +0 $net3 -o early.db
	last 'ctmerge: --events: no event of a class with a matching name in that time'
	[ "$(sqlite3 run.db 'SELECT count(*) FROM event')" = 0 ]
}
