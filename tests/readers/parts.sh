#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# parts.sh: what ctmerge makes of the nodes of a run one by one, and joins, is what it makes
# of the whole run: row by row, by DuckDB.
set -eu
. "$(dirname "$0")/scratch.sh"

# part NODE: made where nothing of the other nodes is, under the run's name.
part()
{
	rm -rf alone
	mkdir alone
	ln -s "$run/$1" "alone/$1"
	! [ -e "$run/run.json" ] || ln -s "$run/run.json" alone
	ln -sfn alone cluster
	file=messages/$(printf %s "$1" | tr -c 'A-Za-z0-9.+-' _).messages
	node=$1
	set --
	[ ! -e "$file" ] || set -- --messages "$file"
	ctmerge -q cluster --node "$node" --clocks clocks.json "$@" --part "parts/$node" ||
		[ $? -eq 3 ]
}

# same RUN: islands, and samples without clock.csv, are told, and are no failure.
same()
{
	run=$(realpath "$1")
	rm -rf messages parts
	ln -sfn "$run" cluster
	ctsync -q cluster -o clocks.json --messages-out messages || [ $? -eq 3 ]
	ctmerge -q cluster --clocks clocks.json -o run.db --force || [ $? -eq 3 ]
	rm -rf whole
	ctexport parquet run.db -o whole
	for directory in "$run"/*/; do
		part "$(basename "$directory")"
	done
	ctmerge -q --join -o joined parts/*
	node parts.mjs whole joined
}

same "$CT_SOURCE/datasets/sample" # traces, and captures
same "$CT_SOURCE/tests/fixtures/requests/nat"
same "$CT_SOURCE/tests/fixtures/requests/wireguard"

# Islands, a node without messages, one that has samples alone, and names of all sorts.
ctsim -q --seed 3 --set seconds=2 islands -o run
mkdir run/logs
begin=$(ctmerge --describe --json run/node1 2>/dev/null |
	sed -n 's/.*"begin_ns":\([0-9]*\).*/\1/p' | head -n 1)
printf 'realtime_ns,sensor,metric,value\n%s,board,power,12.5\n' "$begin" >run/logs/sensors.csv
mv run/node2 "run/it's 100% a=b"
same run

# Declared messages, of which some are requests and answers.
cp -rL "$CT_SOURCE/tests/fixtures/mpi" declared
cat >>declared/messages.yaml <<-END
	- message: work
	  send:    {event: 'mpi:send', key: [comm, rank, seq], where: 'tag == 2'}
	  receive: {event: 'mpi:recv', key: [comm, source, seq], where: 'tag == 2'}
	  answer:
	    send:    {event: 'mpi:send', key: [comm, dest, seq], where: 'tag == 3'}
	    receive: {event: 'mpi:recv', key: [comm, rank, seq], where: 'tag == 3'}
END
for rank in 0 1 2 3; do
	cp declared/messages.yaml "declared/rank$rank"
done
same declared
