#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# mutations.sh BUILD [COUNT [SEED [FINDINGS]]]: damaged input of every kind, by hand. BUILD is
# the build tree with sanitizers. A run of some hundred events is made; COUNT mutations (2000)
# of its files are read, each in turn by ctsync, ctmerge, an analysis and an export.
set -eu
build=$(cd "$1" && pwd)
count=${2:-2000}
seed=${3:-1}
findings=${4:-$PWD/mutations-findings}
source=$(cd "$(dirname "$0")/../.." && pwd)
sample=$source/datasets/sample/node1
PATH=$build/bin:$PATH
# Leaks of libbabeltrace2 when it refuses a trace cannot be told from leaks of ours, as its
# plugins are gone by then; the tests look for leaks.
export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1:detect_leaks=0
export UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
export LC_ALL=C TZ=UTC
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$findings"
findings=$(cd "$findings" && pwd)
cd "$here"

# The run: traces in both formats, a capture, and what else a node may have.
sim()
{
	ctsim -q --seed 7 "$@"
}
sim clients --nodes 2 --set seconds=1 --set begin_s=1795333000 --set events=600 -o run
sim clients --nodes 2 --set seconds=1 --set begin_s=1795333000 --set events=600 --format ctf2 -o two
sim drift1h --set seconds=1 --set interval_ms=5 --captures -o captures
sim drift1h --set seconds=1 --set interval_ms=5 --messages -o messages
mkdir -p packets
for node in captures/*/; do
	name=$(basename "$node")
	mkdir -p "packets/$name"
	cp "$node"/*.pcap "packets/$name/"
	[ ! -f "$node/node.json" ] || cp "$node/node.json" "packets/$name/"
done
for file in proc.csv sensors.csv invocations.jsonl; do
	head -n 40 "$sample/$file" >"run/node1/$file"
done
[ -f run/node1/clock.csv ] || head -n 40 "$sample/clock.csv" >run/node1/clock.csv
head -n 300 "$sample/sar.sadf" >run/node1/sar.sadf
[ -f run/node1/node.json ] || cp "$sample/node.json" run/node1/node.json
[ -f run/run.json ] || cp "$source/datasets/sample/run.json" run/run.json
ctsync -q run -o map.json || :
ctmerge -q run -o run.db || :
ctrecipe init -o recipe.yaml
recipe=recipe.yaml

# Claims of clock daemons, a recording of trace-cmd, and messages that a file declares.
printf '%s\n' 'nodes 3' 'seconds 20' 'topology ring' 'offset_s 0.01' 'interval_ms 50' 'claim_us 40' >claims.scenario
sim claims.scenario -o claims
awk -F , 'NR > 1 { printf "%s %s 192.0.2.1 3 0.1 0.2 1e-06 N 1 1e-06 0 1e-07 1e-04 2e-05\n", \
	strftime("%Y-%m-%d", $1 / 1e9, 1), strftime("%H:%M:%S", $1 / 1e9, 1) }' \
	claims/node2/clock_claims.csv >claims/node2/tracking.log
mkdir -p ftrace
cp -R "$source/tests/fixtures/ftrace/node1" "$source/tests/fixtures/ftrace/node2" ftrace
rm -rf ftrace/*/kernel
cp -R "$source/tests/fixtures/mpi" mpi

stream=$(find run/node1 -name 'ch*_0' -o -name 'stream*' -path '*node1*' | sort | head -n 1)
stream2=$(find two/node1 -name 'ch*_0' -o -name 'stream*' -path '*two/node1*' | sort | head -n 1)
metadata=$(find run/node1 -name metadata | head -n 1)
metadata2=$(find two/node1 -name metadata | head -n 1)
capture=$(find packets -name '*.pcap' | sort | head -n 1)
csv=$(find messages -name 'messages*.csv' | sort | head -n 1)

# all RUN ANALYSIS EXPORT: the four programs on a run.
all()
{
	printf 'ctsync -q --json %s;ctmerge -q %s -o x.db --force;ctanalyze -q %s x.db;ctexport %s -q x.db -o x.out' \
		"$1" "$1" "$2" "$3"
}
status=0
"$build/tests/campaign/mutations" "$count" "$seed" "$findings" \
	"stream=$stream:$(all run cpu perfetto)" \
	"metadata=$metadata:$(all run sched graphite)" \
	"stream2=$stream2:$(all two requests perfetto)" \
	"metadata2=$metadata2:$(all two nodes perfetto)" \
	"capture=$capture:$(all packets messages perfetto)" \
	"sadf=run/node1/sar.sadf:$(all run metrics graphite)" \
	"clock=run/node1/clock.csv:$(all run clocks perfetto)" \
	"proc=run/node1/proc.csv:$(all run proc perfetto);ctexport tracekit -q x.db -o x.dir --force" \
	"sensors=run/node1/sensors.csv:$(all run metrics graphite)" \
	"invocations=run/node1/invocations.jsonl:$(all run report perfetto);ctexport opendc -q x.db -o x.dir --force" \
	"node=run/node1/node.json:$(all run nodes perfetto)" \
	"run=run/run.json:$(all run problems perfetto)" \
	"map=map.json:ctmerge -q run --clocks map.json -o x.db --force;ctanalyze -q clocks x.db;ctexport perfetto -q x.db -o x.out" \
	"messages=$csv:ctsync -q --json --messages $csv" \
	"timeline=run.db:ctanalyze -q requests run.db;ctanalyze -q cpu run.db;ctanalyze -q report run.db -o x.html;ctexport perfetto -q run.db -o x.out;ctexport csv -q run.db -o x.dir --force;ctexport graphite -q run.db -o x.out" \
	"claims=claims/node1/clock_claims.csv:ctsync -q --json --trust claims claims;$(all claims clocks perfetto)" \
	"tracking=claims/node2/tracking.log:ctsync -q --json --trust claims claims;ctmerge -q claims -o x.db --force" \
	"ftrace=ftrace/node1/trace.dat:$(all ftrace cpu perfetto);rm -rf x.apply;ctsync -q ftrace --apply x.apply" \
	"declared=mpi/messages.yaml:$(all mpi messages perfetto)" \
	"corrected=$capture:rm -rf x.apply;ctsync -q packets --apply x.apply" \
	"recipe=$recipe:ctrecipe validate $recipe" || status=$?
left=$(find . -name '*.unfinished-*' | wc -l)
echo "$left temporaries left"
[ "$left" -eq 0 ] || status=1
exit $status
