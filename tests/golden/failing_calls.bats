#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs in which strace lets a single system call fail. The campaign syscalls.sh lets
# many more of them fail.
load common

run=fixtures/requests/wireguard

setup_file()
{
	command -v strace >/dev/null || skip 'no strace'
	export ASAN_OPTIONS=detect_leaks=0 # LeakSanitizer cannot work below strace
}

# failing CALL ERROR N COMMAND...: run the command with its N-th such call failing. Return its
# exit status, or 99 if it makes fewer of them, or 0 if it is one of the loader's.
failing()
{
	local call=$1 error=$2 n=$3 status=0
	shift 3
	strace -f --seccomp-bpf -o "$scratch/trace" -e "trace=$call" -e "inject=$call:error=$error:when=$n" "$@" \
		>"$scratch/stdout" 2>"$scratch/stderr" </dev/null || status=$?
	grep -q INJECTED "$scratch/trace" || return 99
	[ $status -ne 127 ] || return 0
	return "$status"
}

# listing DIR: all below it, with what the files contain.
listing()
{
	(cd "$1" && find . -printf '%y %p\n' | sort && find . -type f -exec cksum {} + | sort)
}

# undone CALL COMMAND...: with any such call failing, the command ends with 1, names the cause and
# leaves `there` as it was. Of the calls at least two are made.
undone()
{
	local call=$1 n=1 status
	shift
	listing there >before
	while :; do
		status=0
		failing "$call" EIO "$n" "$@" || status=$?
		[ $status -ne 99 ] || break
		[ $status -eq 1 ] && grep -q ': Input/output error$' "$scratch/stderr"
		# The user's path, not that of the stage.
		[ $status -eq 1 ] && ! grep -F .unfinished- "$scratch/stderr"
		listing there | diff before -
		n=$((n + 1))
	done
	[ $n -gt 2 ]
}

@test "traces that are applied are all in place or none" {
	mkdir there
	echo own >there/own
	undone rename ctsync -q $run --apply there
	[ "$(ls there)" = 'node1
node2
own' ]
}

@test "pictures and tables in a directory are all replaced or none" {
	mkdir there
	echo own >there/own
	undone rename ctsync -q $run --plot there
	undone rename ctsync -q fixtures/requests/nat --plot there
	ctmerge -q --events 'sched_process_*' $run -o t.db
	rm -r there
	mkdir there
	ctexport csv -q t.db -o there --table node --table source
	for call in rename fsync; do
		undone $call ctexport csv -q t.db -o there --table node --table thread --table process --force
	done
	[ ! -e there/source.csv ] && [ -e there/thread.csv ]
}

@test "a trace for Perfetto and its manifest are both in place or neither" {
	ctmerge -q --events 'sched_process_*' $run -o t.db
	mkdir there
	undone rename ctexport perfetto -q t.db -o there/run.pftrace --manifest there/own.json
	echo earlier | tee there/run.pftrace >there/own.json
	undone rename ctexport perfetto -q t.db -o there/run.pftrace --manifest there/own.json
	grep -q perfetto_manifest there/own.json && [ "$(wc -c <there/run.pftrace)" -gt 100 ]
}

@test "directories that were there stay, also empty ones, and new ones are removed" {
	mkdir -p run/node1 there/cpu there/own
	cp "$CT_SOURCE/datasets/sample/node1/sar.sadf" run/node1/
	ctmerge -q run -o t.db
	ctanalyze -q metrics --plot new t.db
	[ -d new/disk ] && [ -d new/cpu ]
	undone rename ctanalyze -q metrics --plot there t.db
}

@test "a directory is not written from a part of a run" {
	local n status refused=0
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		status=0
		rm -rf plots map.json messages applied
		failing getdents64 EIO "$n" ctsync -q $run --plot plots -o map.json --messages-out messages --apply applied ||
			status=$?
		case $status in
		0) [ -e map.json ] && [ -e plots/graph.svg ] && [ -e messages/node2.messages ] && [ -e applied/node2 ] ;;
		1)
			grep -q 'Input/output error' "$scratch/stderr"
			[ ! -e plots ] && [ ! -e map.json ] && [ ! -e messages ] && [ ! -e applied ]
			refused=$((refused + 1))
			;;
		99) break ;;
		*) false ;;
		esac
	done
	[ "$refused" -gt 4 ]
	status=0
	failing getdents64 EIO 5 ctsync -q $run -o map.json --messages-out messages || status=$?
	grep -qx 'ctsync: messages: not written, as some input cannot be read' "$scratch/stderr"
}

@test "nothing is applied if the summary cannot be printed" {
	ends_with 1 failing write ENOSPC 1 ctsync $run --apply applied -o map.json --plot plots
	grep -qx 'ctsync: standard output: No space left on device' "$scratch/stderr"
	[ ! -e applied ] && [ ! -e map.json ] && [ ! -e plots ]
}

@test "a write that failed is named by its cause, and the rest is cut off" {
	ctmerge -q $run -o t.db
	ends_with 1 failing write ENOSPC 1 ctanalyze -q requests t.db
	[ "$(cat "$scratch/stderr")" = 'ctanalyze: standard output: No space left on device' ]
	[ ! -s "$scratch/stdout" ]
	ends_with 1 failing write ENOSPC 1 ctanalyze -q requests t.db -o out.txt
	[ "$(cat "$scratch/stderr")" = 'ctanalyze: out.txt: No space left on device' ]
	[ ! -e out.txt ]
}

# Heads of packets, and the kind of the tracer, are read apart from the events.
@test "a read of a trace that fails once is told, or makes no difference" {
	local file n status told=0
	ctmerge -q $run -o t.db
	mv t.db whole.db
	for file in $run/node1/kernel/metadata $run/node1/kernel/ch_0; do
		for n in 1 2 3 4 5 6 7 8; do
			status=0
			rm -f t.db
			failing read,pread64 EIO "$n" -P "$file" ctmerge -q $run -o t.db || status=$?
			case $status in
			0) cmp whole.db t.db ;;
			1)
				grep "$file.*Input/output error" "$scratch/stderr"
				told=$((told + 1))
				;;
			99) break ;;
			*) false ;;
			esac
		done
		[ "$n" -gt 1 ]
	done
	[ $told -gt 4 ]
}

@test "a read of a capture that fails is told with its cause, or makes no difference" {
	local file n status told command
	cp -L fixtures/net3/node2/node2.pcap fixtures/net3/node3/node3.pcap .
	gzip -k node2.pcap
	for file in node2.pcap node2.pcap.gz; do
		command="ctsync -q -t a=node3.pcap -t b=$file --local a=10.7.0.3 --local b=10.7.0.2 -o map.json"
		$command
		mv map.json whole.json
		told=0
		# The second read looks only for what kind of file it is.
		for n in 1 3 4 5 6 7 8; do
			status=0
			# shellcheck disable=SC2086 # words
			failing read,pread64 EIO "$n" -P "$file" $command || status=$?
			case $status in
			0) cmp whole.json map.json ;;
			1)
				grep "$file.*Input/output error" "$scratch/stderr"
				told=$((told + 1))
				;;
			99) continue ;;
			*) false ;;
			esac
		done
		[ $told -gt 1 ]
	done
}

@test "metadata that stat(2) fails on is not called missing" {
	local n status
	ctmerge -q $run -o t.db
	mv t.db whole.db
	for n in $(seq 20); do
		status=0
		rm -f t.db
		failing newfstatat,stat,statx EIO "$n" -P $run/node1/kernel/metadata ctmerge -q $run -o t.db || status=$?
		case $status in
		0) cmp whole.db t.db ;;
		1) grep 'metadata: Input/output error' "$scratch/stderr" ;;
		99) break ;;
		*) false ;;
		esac
	done
	[ "$n" -gt 1 ]
	# A file that is not a trace does not count as one without metadata.
	rm t.db
	failing newfstatat,stat,statx EIO 1 -P $run/node1/metadata ctmerge -q $run -o t.db
	cmp whole.db t.db
	cp -rL $run run
	ln -sf metadata run/node1/kernel/metadata
	ends_with 1 ctmerge -q run -o u.db
	grep -qx 'ctmerge: run/node1/kernel/metadata: Too many levels of symbolic links' "$scratch/stderr"
	[ "$(grep -c 'without its metadata' "$scratch/stderr")" -eq 0 ]
}

@test "facts that cannot be read are not called broken" {
	cp -rL $run run
	echo '{"name": "own"}' >run/run.json
	ends_with 1 failing read EIO 1 -P run/run.json ctmerge -q --describe run
	grep -qx 'ctmerge: run/run.json: Input/output error; skipped' "$scratch/stderr"
}

@test "a file system without locks is no other ctbatch" {
	[ "$(failing flock ENOSYS 1 ctbatch -q -o there $run || echo $?)" = 1 ]
	grep -q '^ctbatch: .*/lock: cannot be locked; use a directory on another file system$' "$scratch/stderr"
	[ ! -e there ]
}

@test "a clock map that cannot be read is named with the cause" {
	local n status
	ctsync -q $run -o clocks.json
	for n in 1 2 3; do
		status=0
		failing read EIO "$n" -P clocks.json ctmerge -q $run --clocks clocks.json -o t.db || status=$?
		[ "$status" -eq 1 ]
		grep -qx 'ctmerge: clocks.json: Input/output error' "$scratch/stderr"
		[ ! -e t.db ]
	done
}

@test "a part is whole, or not there, whichever sync or read fails" {
	local call n status failed=0
	local part=(ctmerge -q --clocks clocks.json --node node1 --messages messages/node1.messages "$run" --part=part)
	ctsync -q $run -o clocks.json --messages-out messages
	"${part[@]}"
	mv part whole
	for call in $(seq -f fdatasync:%g 20) $(seq -f pread64:%g 400 5 460); do
		n=${call#*:}
		status=0
		rm -rf part
		failing "${call%:*}" EIO "$n" "${part[@]}" || status=$?
		case $status in
		0) diff -r whole part ;;
		1)
			[ ! -e part ] && grep 'Input/output error' "$scratch/stderr"
			failed=$((failed + 1))
			;;
		99) ;;
		*) false ;;
		esac
	done
	[ "$failed" -gt 1 ]
}

@test "a timeline that cannot be read gives no report, picture or export that lacks data" {
	local n status command output
	ctmerge -q $run -o run.db
	while read -r output command; do
		# shellcheck disable=SC2086 # words
		failing pread64 EIO 60000 -P run.db $command || [ $? -eq 99 ]
		cp -r "$output" whole
		for n in 1 2 9 20 40 89 90 91 1+ 30+; do
			rm -rf "$output"
			status=0
			# shellcheck disable=SC2086 # words
			failing pread64 EIO "$n" -P run.db $command || status=$?
			case $status in
			0 | 99) diff -r whole "$output" ;;
			1) [ ! -e "$output" ] && grep 'run.db: Input/output error$' "$scratch/stderr" ;;
			*) false ;;
			esac
		done
		[ "$n" = 30+ ] && rm -rf whole
	done <<-'END'
		report.html ctanalyze -q report run.db -o report.html
		run.perfetto ctexport perfetto -q run.db -o run.perfetto
		tables ctexport csv -q run.db -o tables
		nodes.txt ctanalyze -q nodes run.db -o nodes.txt
	END
}

@test "without descriptors nothing is left behind, or told" {
	local n command
	ctmerge -q $run -o run.db
	for n in 4 5 6 7 8 9 10 11 12 14; do
		for command in "ctmerge -q $run -o new.db" 'ctexport csv -q run.db -o tables' 'ctanalyze -q report run.db -o report.html'; do
			# shellcheck disable=SC2086 # words
			if (ulimit -n $n && exec $command) 2>"$scratch/stderr"; then
				rm -rf new.db tables report.html
			else
				[ ! -e new.db ] && [ ! -e tables ] && [ ! -e report.html ]
			fi
			[ -z "$(find . -name '*unfinished*')" ] || grep 'unfinished-......: cannot remove' "$scratch/stderr"
			find . -name '*unfinished*' -prune -exec rm -r {} +
		done
	done
}

@test "a temporary directory that cannot be removed is told" {
	mkdir own
	TMPDIR=$PWD/own failing unlinkat EACCES 1+ ctmerge -q $run
	grep -x "ctmerge: $PWD/own/.clustertrace.unfinished-......: cannot remove this temporary directory" \
		"$scratch/stderr"
}

@test "the cause is told if SQLite cannot create its temporary file" {
	local cause n status
	ctmerge -q $run -o run.db
	# 8 MiB to sort, of which 4 are kept in memory.
	cat >large.sql <<-'END'
		SELECT a.id AS n, b.ts_ns AS m FROM event AS a JOIN event AS b ON b.id < a.id
		WHERE a.id < 1000 ORDER BY b.id * a.id % 10007, m
	END
	strace -f --seccomp-bpf -o calls -e trace=openat ctanalyze -q --sql large.sql large run.db >/dev/null
	n=$(grep 'openat(' calls | grep -n -m 1 /etilqs_)
	[ -n "$n" ]
	for cause in 'EMFILE Too many open files' 'EACCES Permission denied' 'ENOSPC No space left on device'; do
		status=0
		failing openat "${cause%% *}" "${n%%:*}" ctanalyze -q --sql large.sql large run.db || status=$?
		[ $status -eq 1 ]
		grep INJECTED "$scratch/trace" | grep -q /etilqs_
		grep -x "ctanalyze: run.db: a temporary file of SQLite: ${cause#* }" "$scratch/stderr"
	done
}
