#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016,SC1010 # commands for nodes stay as they are
#
# Nothing that was started is lost sight of, and nothing that was recorded is lost: shells that
# talk, connections and collectors that break off, full disks, files that cannot be fetched.
load common

setup_file()
{
	cluster_begin
	export cluster namespaces bridge network
	node_with_hook alpha
	[ "$namespaces" = no ] || node_up small '' 8192
	[ "$namespaces" = no ] || node_up plain '' 0 user
}

setup()
{
	set +T # as in tests/golden/common.bash
	scratch=$(mktemp -d)
	cd "$scratch" || return
	rm -f "$cluster/alpha/before"
}

before()
{
	cat >"$cluster/alpha/before"
}

# Nothing but the sampler, so that starting and stopping are quick.
quick()
{
	recipe "$1" "${2:-alpha}" <<<'process: {interval_ms: 100, whitelist: true}'
}

private_directory()
{
	find "$cluster/$1/temp" -path '*/clustertrace-*/*/who' 2>/dev/null | sed 's|/who$||'
}

# set_back RUN: as if the last fetch had not come to its end.
set_back()
{
	mv "$1/alpha" "$1/.collect/nodes/alpha/data"
	echo 'not fetched' >"$1/.collect/nodes/alpha/state"
	rm -f "$1/.collect/fetched"
}

@test 'what a login shell prints is skipped, with and without a line feed' {
	recipe noisy alpha <<-'EOT'
		process: {interval_ms: 100, whitelist: true}
		execute: [{command: "echo said; exit 3", roles: alpha}]
		tasks: {command: "echo %(input)s", roles: all, inputs: [1]}
	EOT
	for noise in 'echo status 0; echo state clean; echo dir /var/x' 'printf "no line feed"' \
		'printf "\033]0;title\007"; yes noise | head -n 3000; printf 0; echo 12; printf end'; do
		printf '%s\n' "$noise" | before
		collect 3 run noisy.yaml
		run=$(the_run)
		holds "$run/run.json" '"status": "ok", "problems": \[\]'
		holds "$run/run.json" '"command": "echo said; exit 3", .*"status": 3}'
		holds "$run/alpha/commands/1.out" '^said$'
		holds "$run/alpha/commands/task-1-1.out" '^1$'
		collect 0 check noisy.yaml
		holds "$scratch/out" '^alpha: its login shell prints text before each answer, which is skipped ('
		lacks "$scratch/out" 'unreachable'
		left_clean alpha
		rm -r runs
	done
	rm "$cluster/alpha/before"
	collect 0 check noisy.yaml
	lacks "$scratch/out" 'its login shell'
}

@test 'a start whose answer is lost is stopped, at once or later' {
	quick lost
	# All of it is started there, and nothing is said.
	before <<<'case $cmd in *" start "*) /bin/sh -c "$cmd" >/dev/null; exit 255 ;; esac'
	collect 3 run lost.yaml
	said 'alpha: not started: no connection'
	[ -s "$(the_run)/alpha/node.json" ]
	rm "$cluster/alpha/before"
	left_clean alpha
	rm -r runs
	# And nothing can be asked then: what is noted here is enough later.
	before <<<'case $cmd in *" start "*) /bin/sh -c "$cmd" >/dev/null; touch "$here/gone"; exit 255 ;; esac
[ ! -f "$here/gone" ] || exit 255'
	collect 1 run lost.yaml
	said 'still collecting on alpha; run .ctcollect stop ./runs/lost-'
	rm "$cluster/alpha/before" "$cluster/alpha/gone"
	holds "$(the_run)/run.json" '"status": "not stopped"'
	[ -n "$(runs_on alpha)" ]
	collect 0 status lost.yaml
	holds "$scratch/out" '^alpha *running *2 '
	collect 3 stop lost.yaml
	[ -z "$(runs_on alpha)" ]
	collect 3 fetch lost.yaml
	[ -s "$(the_run)/alpha/node.json" ]
	left_clean alpha
}

@test 'a bundle that arrives in part is not started, and leaves nothing' {
	quick part
	for bytes in 100 13000 40000; do
		before <<<"case \$cmd in *' start '*) head -c $bytes | /bin/sh -c \"\$cmd\"; exit ;; esac"
		collect 1 run part.yaml
		said 'alpha: not started: '
		rm "$cluster/alpha/before"
		left_clean alpha
		rm -rf runs
	done
	# A full disk can take a part of a file, and awk not notice.
	before <<<"case \$cmd in *' start '*) sed 's/^# Run a task on a node,.*/#/' | /bin/sh -c \"\$cmd\"; exit ;; esac"
	collect 1 run part.yaml
	said 'alpha: not started: .*: cannot be written'
	rm "$cluster/alpha/before"
	left_clean alpha
	rm -rf runs
	collect 0 run part.yaml
}

@test 'a collector that is killed while it starts leaves nothing that cannot be stopped' {
	quick killed
	for delay in 0.1 0.2 0.3 0.4 0.5 0.6 0.8 1.0 1.3 1.6; do
		rm -rf runs
		mkdir -p temp
		TMPDIR=$PWD/temp timeout -s KILL "$delay" ctcollect -F "$cluster/ssh_config" start killed.yaml \
			>/dev/null 2>&1 </dev/null 3>&- || :
		# Killed before it had a run, it has sent nothing.
		if [ -z "$(find runs -mindepth 1 2>found)" ]; then
			[ -z "$(runs_on alpha)" ]
			continue
		fi
		run=$(the_run)
		# Its sessions go on, until what was sent is at its end.
		sleep 2
		[ -f "$run/.collect/plan" ] || continue
		collect 0 stop "$run" || collect 3 stop "$run"
		[ -z "$(runs_on alpha)" ]
		collect 0 fetch "$run" || collect 1 fetch "$run" || collect 3 fetch "$run"
		left_clean alpha
	done
	rm -rf runs
	collect 0 run killed.yaml
}

@test 'a place at / or by way of .. is found again' {
	for place in "$cluster/alpha/temp/a/../b" "$cluster/alpha/temp//c/./" /; do
		quick place
		echo "tmpdir: $place" >>place.yaml
		collect 0 start place.yaml
		collect 0 status place.yaml
		holds "$scratch/out" '^alpha *running *2 '
		collect 0 stop place.yaml
		collect 0 fetch place.yaml
		rm -r runs
		[ ! -e "/clustertrace-$(id -u)" ]
		rm -rf "$cluster"/alpha/temp/*
	done
	[ -z "$(runs_on alpha)" ]
}

@test 'a disk that is full to the last byte: the recording ends, and that is told' {
	need_namespaces
	recipe full small <<-'EOT'
		process: {interval_ms: 100, match: ['*']}
		sensors: {one: {command: "echo a 1", interval: 0.1}}
	EOT
	# The watcher sees it, or stop comes first.
	for watched in no yes; do
		rm -rf runs
		collect 0 start full.yaml
		here=$(on_node small "echo $cluster/small/temp/clustertrace-*/*")
		[ "$watched" = yes ] || on_node small "pid=\$(cut -d ' ' -f 1 $here/procs/clock); kill -STOP \$pid"
		on_node small "cat /dev/zero >$cluster/small/temp/fill" 2>/dev/null || :
		if [ "$watched" = yes ]; then
			wait_for 'the watcher' on_node small "test -e $here/stopped"
		else
			on_node small "kill -CONT \$(cut -d ' ' -f 1 $here/procs/clock)"
		fi
		collect 3 stop full.yaml
		said 'small: disk full'
		[ -z "$(runs_on small)" ]
		collect 3 fetch full.yaml
		holds "$(the_run)/run.json" 'disk full'
		holds "$(the_run)/small/proc.csv" '^realtime_ns'
		on_node small "rm -f $cluster/small/temp/fill"
		left_clean small
	done
}

# killed_at FILE COMMAND...: run ctcollect, and kill all of it when FILE is there.
killed_at()
{
	local file=$1
	shift
	KILLED_HERE=$PWD ctcollect -F "$cluster/ssh_config" "$@" >/dev/null 2>&1 </dev/null 3>&- &
	for _ in {1..600}; do
		[ ! -e "$file" ] || break
		sleep 0.05
	done
	[ -e "$file" ]
	# The collector first: nobody else goes on to the next step.
	kill -KILL $!
	# shellcheck disable=SC2046 # pids
	kill -KILL $(grep -l -a -F "KILLED_HERE=$PWD" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3) || :
	wait || :
}

@test 'a collector that is killed when a node was just fetched is made up for by fetch' {
	quick moved
	mkdir bin
	cat >bin/mv <<-EOT
		#!/bin/sh
		/bin/mv "\$@"
		case \$1 in */nodes/alpha/data) : >$PWD/moved; sleep 60 ;; esac
	EOT
	chmod +x bin/mv
	PATH=$PWD/bin:$PATH killed_at moved run moved.yaml
	[ -d "$(the_run)/alpha" ]
	collect 0 fetch moved.yaml
	[ -s "$(the_run)/alpha/proc.csv" ]
	left_clean alpha
	rm -r runs
	before <<<"case \$cmd in *' clean') : >$PWD/cleaning; sleep 60; exit 255 ;; esac"
	killed_at cleaning run moved.yaml
	rm "$cluster/alpha/before"
	collect 0 fetch moved.yaml
	[ -s "$(the_run)/alpha/proc.csv" ]
	left_clean alpha
}

@test 'a long list that breaks off is a lost connection, not a shell that talks' {
	quick long
	before <<<'case $cmd in *" list") printf "\n%s\n" "$(expr "$cmd" : ".*\(frame[.][A-Za-z0-9]*\)")"
		yes "1 2 ./a" | head -c 2000000; exit 255 ;; esac'
	collect 1 run long.yaml
	said 'alpha: not fetched: no connection: '
	rm "$cluster/alpha/before"
	collect 3 fetch "$(the_run)"
	left_clean alpha
}

@test 'two that fetch one run at once: one does, the other says so' {
	recipe twice alpha <<-'EOT'
		process: {interval_ms: 100, whitelist: true}
		execute: [{command: "head -c 30000000 /dev/urandom >$CLUSTERTRACE_DIR/data/big; cksum <$CLUSTERTRACE_DIR/data/big", roles: alpha}]
	EOT
	collect 0 --keep run twice.yaml
	run=$(the_run)
	for _ in 1 2 3; do
		set_back "$run"
		rm -rf "$run/.collect/nodes/alpha/data"
		for i in 1 2 3; do
			(ctcollect -F "$cluster/ssh_config" --keep fetch "$run" >/dev/null 2>"err.$i" </dev/null 3>&-; echo $? >"status.$i") &
		done
		wait
		grep -l -x 0 status.* >done
		cat err.* >err
		[ "$(wc -l <done)" -eq 1 ] || grep -q 'nothing to do\|at work' err
		said 'another ctcollect is at work on it, pid '
		cksum <"$run/alpha/big" | diff - "$run/alpha/commands/1.out"
	done
	collect 0 clean "$run"
	left_clean alpha
	# One that was killed may still have something that writes there.
	exec 8>>"$run/.collect/nodes/alpha/lock"
	flock -n 8
	set_back "$run"
	collect 1 fetch "$run"
	said 'alpha: another ctcollect is fetching it'
	exec 8>&-
}

@test 'what cannot be read there is told, and stays until it was fetched' {
	need_namespaces
	recipe unread plain <<-'EOT'
		username: collector
		process: {interval_ms: 100, whitelist: true}
		execute:
		    - command: "cd $CLUSTERTRACE_DIR/data && echo 1 >shut && mkdir closed && echo 2 >closed/in && chmod 000 shut closed && ln -s /etc/passwd link"
		      roles: plain
	EOT
	collect 3 run unread.yaml
	said 'plain: files that cannot be read there were not fetched, they are in .*: 2: .*Permission denied'
	said 'plain: 1 links or special files were not fetched'
	run=$(the_run)
	holds "$run/run.json" '"status": "partial", "data": "/'
	[ -s "$run/plain/node.json" ]
	here=$(private_directory plain)
	chmod 700 "$here/data/shut" "$here/data/closed"
	rm "$here/data/link"
	collect 3 fetch unread.yaml
	holds "$run/run.json" '"status": "ok"'
	holds "$run/plain/shut" 1
	holds "$run/plain/closed/in" 2
	left_clean plain
}

@test 'what a command leaves running is ended with the run' {
	recipe child alpha <<-'EOT'
		process: {interval_ms: 100, whitelist: true}
		execute:
		    - {command: "(while :; do date +%N >$CLUSTERTRACE_DIR/data/busy; done) & sleep 1000 & setsid sleep 1001 & exit 0", roles: alpha}
	EOT
	collect 0 run child.yaml
	[ -e "$(the_run)/alpha/busy" ]
	left_clean alpha
}

@test 'a file that something still writes costs that file only' {
	recipe busy alpha <<-'EOT'
		process: {interval_ms: 100, whitelist: true}
		execute:
		    - {command: "file=$CLUSTERTRACE_DIR/data/busy; env -i setsid sh -c 'while [ ! -e '$TMPDIR'/enough ]; do date +%N >'$TMPDIR'/new; mv '$TMPDIR'/new '$file'; sleep 0.01; done' >/dev/null 2>&1 & sleep 0.5", roles: alpha}
	EOT
	collect 3 run busy.yaml
	said 'alpha: 1 files arrived damaged 5 times, .*: ./busy'
	run=$(the_run)
	[ -s "$run/alpha/node.json" ]
	[ ! -e "$run/alpha/busy" ]
	holds "$run/run.json" '"status": "partial"'
	touch "$cluster/alpha/temp/enough"
	sleep 0.5
	rm -f "$cluster/alpha/temp/enough" "$cluster/alpha/temp/new"
	collect 3 fetch "$run"
	[ -s "$run/alpha/busy" ]
	left_clean alpha
}

@test 'a removal that failed, or was not wanted, can be made up for' {
	quick kept
	collect 0 --keep run kept.yaml
	run=$(the_run)
	collect 1 fetch kept.yaml
	said 'no run of it in runs that is not fetched yet'
	[ -n "$(private_directory alpha)" ]
	collect 0 clean kept.yaml
	left_clean alpha
	collect 1 clean kept.yaml
	rm -r runs
	before <<<'case $cmd in *" clean") exit 255 ;; esac'
	collect 3 run kept.yaml
	said 'alpha: not removed there: no connection'
	collect 3 clean kept.yaml
	# The answer is lost, after it was done.
	before <<<'case $cmd in *" clean") /bin/sh -c "$cmd" >/dev/null; exit 255 ;; esac'
	collect 3 clean kept.yaml
	rm "$cluster/alpha/before"
	collect 0 clean kept.yaml
	left_clean alpha
}
