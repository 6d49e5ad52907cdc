#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctexport graphite to files, and what it refuses. tests/readers/graphite.sh has a server.
load common

setup_file()
{
	CT_TIMELINE=$BATS_FILE_TMPDIR/run.db
	export CT_TIMELINE
	ctsim -q --seed 1 --set seconds=5 clients -o "$BATS_FILE_TMPDIR/run"
	ctmerge -q "$BATS_FILE_TMPDIR/run" -o "$CT_TIMELINE" 2>/dev/null
}

graphite()
{
	ctexport graphite "$CT_TIMELINE" "$@"
}

@test "points of a node" {
	golden ctexport_graphite.txt graphite --prefix lab.a --node node1 --activity net \
		--activity memory --begin +1 --end +3
	ends_with 0 graphite --activity 'mess*'
	[ "$(cut -d . -f 3 "$scratch/stdout" | sort -u)" = messages ]
}

@test "busy processors are those of sched_switch" {
	ends_with 0 graphite --activity events --prefix c
	sort "$scratch/stdout" >have
	sqlite3 "$CT_TIMELINE" >wanted <<-'END'
		CREATE TEMP TABLE run AS SELECT e.node, e.cpu, s.next_tid AS tid, e.ts_ns AS a,
			lead(e.ts_ns) OVER (PARTITION BY e.node, e.cpu ORDER BY e.id) AS b
			FROM sched_switch AS s JOIN event AS e ON e.id = s.id;
		CREATE TEMP TABLE second AS WITH RECURSIVE n(s) AS (
			SELECT min(a) / 1000000000 + 1 FROM run
			UNION ALL SELECT s + 1 FROM n WHERE s < (SELECT max(b) FROM run) / 1000000000 - 1)
			SELECT s FROM n;
		SELECT 'c.' || (SELECT name FROM node WHERE id = node) || '.events.cpu' || cpu
			|| '.percent_busy', s + 1, round(sum(iif(tid = 0, 0,
			min(b, (s + 1) * 1000000000) - max(a, s * 1000000000))) / 1e7, 6)
			FROM run JOIN second ON a < (s + 1) * 1000000000 AND b > s * 1000000000
			GROUP BY node, cpu, s
			HAVING min(a) <= s * 1000000000 AND max(b) >= (s + 1) * 1000000000;
	END
	[ "$(wc -l <wanted)" -gt 10 ]
	while IFS='|' read -r name second percent; do
		grep -F "$name " have | awk -v second="$second" -v percent="$percent" '
			$3 == second { found++; off = $2 - percent }
			END { exit !(found == 1 && off < 2e-6 && off > -2e-6) }' || {
			echo "$name at $second: $percent"
			grep -F "$name " have
			return 1
		}
	done <wanted
}

@test "samples of processes are left out, and told" {
	cp "$CT_TIMELINE" run.db
	chmod u+w run.db
	sqlite3 run.db "INSERT INTO metric VALUES (9001, 'rss', 'KiB', 'gauge', 'process');
		INSERT INTO metric_item VALUES (9001, 'process', '17 a.b c');
		INSERT INTO sample SELECT 1, max(ts_ns), 9001, 9001, 5, NULL FROM event"
	ends_with 0 ctexport graphite run.db -o out
	grep -q "^ctexport: run.db: 1 samples of processes are left out, --activity '\*' has them$" \
		"$scratch/stderr"
	! grep process out || return 1
	ends_with 0 ctexport graphite run.db --activity process -o out
	[ "$(cut -d . -f 3-5 out | cut -d ' ' -f 1,2)" = 'process.17_a_b_c.rss 5' ]
}

@test "what cannot be" {
	fails_with 2 'ctexport: --to and --output cannot be used together' graphite --to x -o y
	fails_with 2 'ctexport: --state requires --to' graphite --state x
	fails_with 2 "ctexport: --prefix: invalid value 'a..b' (expected letters, digits, - and _, with dots between parts)" \
		graphite --prefix a..b
	fails_with 2 'ctexport: --to: missing host in the address (expected HOST:PORT)' graphite --to :2003
	fails_with 2 "ctexport: --to: missing port after the colon in 'host:'" graphite --to host:
	echo '{}' >state
	fails_with 1 'ctexport: state: not the state of an export to graphite; use another name' \
		graphite --to 127.0.0.1:1 --state state
	# shellcheck disable=SC2016
	ends_with 1 bash -c 'exec ctexport graphite "$1" >/dev/full' - "$CT_TIMELINE"
	grep -q 'standard output: No space left on device$' "$scratch/stderr"
}
