#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# collections.sh BUILD [COUNT [SEED]]: collect COUNT (500) times from a node, by hand, each time the
# sampler, two sensors, the clocks and three commands. In each ten, one collector gets SIGINT and
# one SIGKILL at a random moment; afterwards `stop` and `fetch` complete its work. A run
# is wrong if it takes more than a minute, if it has another exit status than it should, if anything
# of it is left on the node, or if what was recorded is not here.
set -u
CT_BUILD=$(cd "$1" && pwd) || exit 2
count=${2:-500}
seed=${3:-1}
CT_SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
export CT_SOURCE CT_BUILD CT_LOOPBACK=1 LC_ALL=C TZ=UTC PATH=$CT_BUILD/bin:$PATH
cluster=
BATS_TEST_DIRNAME=$CT_SOURCE/tests/collect
# shellcheck source=/dev/null # linted by itself
. "$BATS_TEST_DIRNAME/common.bash"
cluster_begin
here=$(mktemp -d)
trap 'cluster_end; rm -rf "$here"' EXIT
trap 'exit 1' HUP INT TERM
cd "$here" || exit 2
mkdir temp
node_up alpha || exit 2
recipe c alpha <<-'EOT'
	process: {interval_ms: 50, match: ['*']}
	sensors:
	    one: {command: "echo a 1", interval: 0.1}
	    slow: {command: "sleep 0.3; echo b 2", interval: 0.1}
	execute:
	    - {command: "while :; do sleep 0.05; done", roles: alpha, method: background}
	    - {command: "sleep 30 & echo begun", roles: alpha}
	    - {command: "sleep 0.2", roles: alpha}
EOT
RANDOM=$seed
wrong=0
longest=0
interrupted=0
killed=0

fault()
{
	wrong=$((wrong + 1))
	printf 'run %d: %s\n' "$i" "$*"
	cat err 2>/dev/null
}

# timed COMMAND...: sets status, and fails if it takes more than a minute.
timed()
{
	begun=$(date +%s%N)
	status=0
	TMPDIR=$here/temp timeout -k 5 60 ctcollect -q -F "$cluster/ssh_config" "$@" >out 2>err </dev/null || status=$?
	took=$((($(date +%s%N) - begun) / 1000000))
	[ "$took" -le "$longest" ] || longest=$took
	case $status in 124 | 137) fault "ctcollect $1: more than a minute" ;; esac
}

# at_random SIGNAL: to a collector, within 2.5 s, in which a run is at any of its steps.
at_random()
{
	delay=$((RANDOM % 2500))
	status=0
	TMPDIR=$here/temp timeout -s "$1" "$((delay / 1000)).$(printf '%03d' $((delay % 1000)))" \
		ctcollect -q -F "$cluster/ssh_config" run c.yaml >out 2>err </dev/null || status=$?
}

# complete: what a collector that was ended has left. Without notes nothing was begun.
complete()
{
	for run in runs/*/; do
		[ -f "$run/.collect/json" ] || continue
		# Its own sessions may still be at work.
		sleep 1
		timed stop "$run"
		case $status in 0 | 3) ;; *) fault "stop: exit status $status" ;; esac
		timed fetch "$run"
		case $status in 0 | 1 | 3) ;; *) fault "fetch: exit status $status" ;; esac
	done
}

for ((i = 1; i <= count; i++)); do
	rm -rf runs temp
	mkdir temp
	case $((i % 10)) in
	3)
		interrupted=$((interrupted + 1))
		at_random INT
		case $status in 0 | 1 | 3 | 124 | 130) ;; *) fault "SIGINT after $delay ms: exit status $status" ;; esac
		# If it was fetching already, that ended.
		complete
		;;
	7)
		killed=$((killed + 1))
		at_random KILL
		complete
		;;
	*)
		timed run c.yaml
		[ "$status" -eq 0 ] || fault "exit status $status"
		for file in proc.csv sensors.csv clock.csv node.json commands/2.out; do
			[ -s "$(echo runs/*/alpha/$file)" ] || fault "$file is missing"
		done
		;;
	esac
	left_clean alpha >left || {
		fault "left: $(head -n 5 left)"
		# shellcheck disable=SC2046 # pids
		kill -KILL $(grep -l -a -F "TMPDIR=$cluster/alpha/temp" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3) 2>/dev/null
		rm -rf "$cluster"/alpha/temp/*
	}
done
printf '%d collections, %d interrupted, %d killed: %d wrong; the longest command took %d ms\n' \
	"$count" "$interrupted" "$killed" "$wrong" "$longest"
[ "$wrong" -eq 0 ]
