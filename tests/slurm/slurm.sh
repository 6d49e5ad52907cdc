#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# slurm.sh [RUN]: ctbatch by a real Slurm: munged, slurmctld and three slurmd of our own, on
# this machine, in a directory for temporary files. The data of each node is in a folder
# of its own. Extract is killed on one node, and the batch begun again. What comes out is
# what ctmerge makes of the whole run, and what ctbatch makes without Slurm.
# RUN has three nodes (default: net3 of the fixtures).
set -eu
run=${1:-$CT_SOURCE/tests/fixtures/net3}

skip()
{
	echo "skipped: $*"
	exit 77
}

for tool in munged slurmctld slurmd sbatch scancel sqlite3; do
	command -v "$tool" >/dev/null || skip "no $tool, want the packages slurm-wlm and munge"
done
[ "$(id -u)" -eq 0 ] || skip 'slurmd wants root'

scratch=$(mktemp -d)
unset SLURM_CONF
started=

# Only what we started, by its pid files.
leave()
{
	status=$?
	trap '' INT TERM
	[ "$status" -eq 0 ] || tail -n 20 "$scratch"/cluster/log/* "$scratch"/*.work/log/* 2>/dev/null
	for file in "$scratch"/cluster/*/*.pid; do
		! read -r pid 2>/dev/null <"$file" || kill "$pid" 2>/dev/null || :
	done
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		alive=
		for pid in $started; do
			! kill -0 "$pid" 2>/dev/null || alive=yes
		done
		[ -n "$alive" ] || break
		sleep 0.2
	done
	for pid in $started; do
		kill -KILL "$pid" 2>/dev/null || :
	done
	rm -rf "$scratch"
	exit "$status"
}
trap leave EXIT
trap 'exit 1' INT TERM

# Ports of which nobody listens to any of four.
find_port()
{
	port=$((20000 + ($$ * 7) % 20000))
	while awk -v first="$port" 'NR > 1 {
		split($2, address, ":"); n = 0; hex = address[2]
		for (i = 1; i <= 4; i++)
			n = n * 16 + index("123456789ABCDEF", substr(hex, i, 1))
		if (n >= first && n <= first + 3) found = 1
	} END { exit !found }' /proc/net/tcp /proc/net/tcp6 2>/dev/null; do
		port=$((port + 4))
	done
}

# begin NAME COMMAND...: a daemon in the foreground, as a process of ours.
begin()
{
	name=$1
	shift
	"$@" >"$scratch/cluster/log/$name.out" 2>&1 &
	started="$started $!"
}

start_cluster()
{
	cluster=$scratch/cluster
	mkdir -p "$cluster/munge" "$cluster/socket" "$cluster/state" "$cluster/spool" "$cluster/log"
	chmod 755 "$scratch" "$cluster" "$cluster/socket"
	chmod 700 "$cluster/munge"
	head -c 1024 /dev/urandom >"$cluster/munge/key"
	chmod 400 "$cluster/munge/key"
	begin munged munged --foreground --force --key-file="$cluster/munge/key" \
		--socket="$cluster/socket/munge" --pid-file="$cluster/munge/munged.pid" \
		--log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" --num-threads=1
	find_port
	cat >"$cluster/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/socket/munge
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmctldPort=$port
SlurmctldPidFile=$cluster/state/slurmctld.pid
SlurmctldLogFile=$cluster/log/slurmctld
StateSaveLocation=$cluster/state
SlurmdPidFile=$cluster/spool/%n.pid
SlurmdSpoolDir=$cluster/spool/%n
SlurmdLogFile=$cluster/log/%n
ReturnToService=2
MinJobAge=300
KillWait=2
NodeName=n[1-3] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 3))] CPUs=1 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes=ALL MaxTime=INFINITE State=UP
CONF
	SLURM_CONF=$cluster/slurm.conf
	export SLURM_CONF
	begin slurmctld slurmctld -D -f "$SLURM_CONF"
	for node in n1 n2 n3; do
		begin $node slurmd -D -f "$SLURM_CONF" -N $node
	done
	tries=0
	until [ "$(sinfo -h -t idle -o %D 2>/dev/null | head -n 1)" = 3 ]; do
		tries=$((tries + 1))
		[ "$tries" -le 150 ] || skip 'three slurmd do not become idle here'
		sleep 0.2
	done
}

wrong()
{
	echo "$*"
	exit 1
}

# ends_with STATUS COMMAND...: what it said is in $scratch/said.
ends_with()
{
	wanted=$1
	shift
	ended=0
	"$@" >"$scratch/said" 2>&1 </dev/null || ended=$?
	cat "$scratch/said"
	[ "$ended" -eq "$wanted" ] || wrong "$*: exit status $ended, want $wanted"
}

says()
{
	grep -qF -- "$1" "$scratch/said" || wrong "it does not say: $1"
}

# same_tables KEPT: what is in $out now is the same to the byte as what is kept there. Both
# were made by the same command lines, which stand in it.
same_tables()
{
	(cd "$1" && find . -name '*.parquet' -exec cksum {} + | sort -k 3) >kept
	(cd "$out" && find . -name '*.parquet' -exec cksum {} + | sort -k 3) >now
	[ -s now ] || wrong "$out: no tables"
	diff -u kept now || wrong "$1 and $out are not the same"
}

# keep NAME: make room for tables that are made anew.
keep()
{
	mv "$out" "$1"
	mv "$out.work" "$1.work"
}

# Each node has its data where no other one looks. The nodes of the run are named as
# Slurm's; beside them stands the whole run with these names, for one machine.
set --
number=0
for directory in "$run"/*/; do
	number=$((number + 1))
	node=n$number
	mkdir -p "$scratch/disk $number" "$scratch/whole"
	cp -R "$directory" "$scratch/disk $number/it's data"
	ln -s "$scratch/disk $number/it's data" "$scratch/whole/$node"
	set -- "$@" "$node=$scratch/disk $number/it's data"
done
[ "$number" -eq 3 ] || wrong "$run: $number nodes, want 3"
start_cluster
cd "$scratch"

# A stand-in for ctsync on n2, which is killed as by the out-of-memory killer.
mkdir killing
cat >killing/env <<'ENV'
#!/bin/sh
if [ "${SLURMD_NODENAME:-}" = n2 ] && [ "$3" = --extract ]; then
	scancel --signal=KILL --full "$SLURM_JOB_ID"
	sleep 60
fi
exec /usr/bin/env "$@"
ENV
chmod +x killing/env
out="$scratch/it's out"
PATH=$scratch/killing:$PATH ends_with 3 ctbatch --slurm --partition other --time 5 \
	--sbatch=--comment="it's a \$test" -o "$out" "$@"
says 'ctbatch: n2: extract failed: '
says '1 of 3 nodes are missing'
for node in n1 n3; do
	[ -e "$out/event/part=$node" ] || wrong "$node is not there"
done
[ ! -e "$out/event/part=n2" ] || wrong 'n2 is there'
ends_with 0 ctbatch --slurm -o "$out" "$@"
says '3 nodes in '
ends_with 0 ctbatch -n --slurm -o "$out" "$@"
[ ! -s said ] || wrong 'it is done, and something is missing'
keep by-node
ends_with 0 ctbatch -o "$out" "$@"
same_tables by-node
keep here

# By job arrays, over what all nodes see.
ends_with 0 ctbatch --slurm -o "$out" "$scratch/whole"
keep by-array
ends_with 0 ctbatch -o "$out" "$scratch/whole"
same_tables by-array
