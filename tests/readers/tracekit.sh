#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tracekit.sh: ctexport tracekit of a run made here, every member read by Node.js.
set -eu
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/programs.sh"
need_programs node
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir -p run/a run/b
echo '{"name": "job \"7\""}' >run/run.json
echo '{"hostname": "host-a", "cpus": 4, "cpu_mhz": 2399.5, "mem_kib": 16381952,
	"cpu_model": "Model X"}' >run/a/node.json
cat >run/a/invocations.jsonl <<'END'
{"name": "encode", "pid": 17, "enqueued_ns": 1795228730000400000, "started_ns": 1795228730100600000, "ended_ns": 1795228732200700000, "status": 0, "trace_id": "t-1", "bytes": 77, "span_id": "s1", "method": "POST", "path": "/x", "bytes_in": 5, "bytes_out": 9, "parent_id": "p0"}
{"name": "encode", "pid": 18, "started_ns": 1795228730500000000, "status": "failed", "bytes": 77}
END
header=realtime_ns,pid,comm,utime_ns,stime_ns,rss_kib
cat >run/a/proc.csv <<END
$header
1795228730200000000,17,enc,123400000,30000000,1000
1795228730400000000,17,enc,223900000,50200000,1100
1795228730400000000,18,enc,0,0,
1795228730600000000,17,other,10000000,0,900
END
cat >run/b/proc.csv <<END
$header
1795228730200000000,17,x,1000000,0,1
1795228730400000000,17,x,8000000,0,1
END
printf '%s\t1\t%s\t%s\t%s\t%s\n' \
	a 1795228731 all %idle 75 \
	a 1795228731 cpu0 %idle 1 \
	a 1795228731 - kbmemfree 512000 \
	a 1795228731 lo rxkB/s 99999 \
	a 1795228731 lo txkB/s 99999 \
	a 1795228731 eth0 rxkB/s 0 \
	a 1795228731 eth0 txkB/s 1 \
	a 1795228731 eth1 rxkB/s 2.5 \
	a 1795228731 eth1 txkB/s 10 \
	a 1795228732 all %idle 9.5 >run/a/sar.sadf
ctmerge -q run -o run.db 2>said || [ -s run.db ] || { cat said; exit 1; }
ctexport tracekit --stage edge run.db -o out
node "$CT_SOURCE/tests/readers/tracekit.mjs" out
