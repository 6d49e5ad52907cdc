#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctanalyze report from outside: one page, what it says, and what it must never do.
load common
load ctf

setup_file()
{
	export CT_NET3=$BATS_FILE_TMPDIR/net3.db CT_CLIENTS=$BATS_FILE_TMPDIR/clients.db
	recorded tests/fixtures/net3 "$CT_NET3"
	ctsim -q --seed 1 --set seconds=2 clients -o "$BATS_FILE_TMPDIR/clients" 2>/dev/null
	ctmerge -q "$BATS_FILE_TMPDIR/clients" -o "$CT_CLIENTS" 2>/dev/null
}

# has TEXT: the page has it.
has()
{
	grep -q -F -e "$1" report.html || {
		echo "the page has no: $1"
		return 1
	}
}

# lacks PATTERN: no line of the page matches.
lacks()
{
	if grep -n -i -E -e "$1" report.html; then
		echo "the page has: $1"
		return 1
	fi
}

# Well-formed enough: what is opened is closed.
is_balanced()
{
	for tag in section figure table tr td div svg p dl ul details main; do
		opened=$(grep -o "<${tag}[ >]" report.html | wc -l)
		closed=$(grep -o "</$tag>" report.html | wc -l)
		[ "$opened" -eq "$closed" ] || {
			echo "$tag: $opened opened, $closed closed"
			return 1
		}
	done
}

@test "the page has every section, and nothing from outside" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	for id in findings timeline requests messages clocks resources nodes; do
		has "<section id=\"$id\">"
	done
	for id in lost clocks request why message busiest; do
		has "id=\"finding-$id\""
	done
	has '<figure id="latency">'
	is_balanced
	lacks '(src|href|url)[ =(]*["'\'']?(https?:|//)|@import|<link|<iframe'
	has "default-src 'none'"
}

# sql QUERY: of the run of clients.
sql()
{
	sqlite3 -readonly "$CT_CLIENTS" "$1"
}

# finding ID TEXT: what the page opens with has it.
finding()
{
	sed -n "s/.*id=\"finding-$1\">\(.*\)/\1/p" report.html | grep -q -F -e "$2" || {
		echo "the finding $1 has no: $2"
		return 1
	}
}

@test "numbers and findings are the database's" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	has "<span data-v=\"$(sql 'SELECT sum(events) FROM event_class')\">"
	has "<span data-v=\"$(sql 'SELECT count(*) FROM message')\">"
	finding message "<b data-v=\"$(sql 'SELECT max(latency_ns) FROM message')\">"
	finding request "<b data-v=\"$(sql 'SELECT max(end_ns - begin_ns) FROM request')\">"
	finding request "#request-$(sql 'SELECT id FROM request ORDER BY end_ns - begin_ns DESC LIMIT 1')\""
	finding lost "<b data-v=\"$(sql 'SELECT sum(discarded) FROM source')\">"
	finding clocks "<b data-v=\"$(sql 'SELECT max(max(high_ns), -min(low_ns)) FROM clock_bound')\">"
	finding clocks "of <b data-v=\"$(sql 'SELECT count(*) FROM message')\">"
	finding busiest "<b data-v=\"$(sql "
		SELECT printf('%.6f', max(share)) FROM (
			SELECT 100.0 * sum(duration_ns) FILTER (WHERE tid > 0) / sum(duration_ns) AS share
			FROM thread_state WHERE state = 'running' GROUP BY node)")\">"
	finding busiest "$(sql "
		SELECT n.name || ' was busy' FROM thread_state AS s JOIN node AS n ON n.id = s.node
		WHERE state = 'running' GROUP BY s.node
		ORDER BY 1.0 * sum(duration_ns) FILTER (WHERE tid > 0) / sum(duration_ns) DESC LIMIT 1")"
}

# The tables that the timeline was summed from say what the analyses do.
@test "processors, threads and interrupts are those of cpu, sched and irq" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	ctanalyze cpu --table cpus --format csv "$CT_CLIENTS" | tail -n +2 | cut -d , -f 3 | sort -u >want
	[ -s want ]
	sed -n '/data-table="processors"/,/<\/table>/p' report.html | grep -o 'data-v="[0-9]*"' | tr -dc '0-9\n' >have
	while read -r number; do
		grep -q -x "$number" have || {
			echo "no $number"
			return 1
		}
	done <want
	top=$(ctanalyze irq --table interrupts --format csv --limit 1 "$CT_CLIENTS" | tail -n 1)
	sed -n '/data-table="interrupts"/,/<\/table>/p' report.html | grep '^<tr><th' | head -n 1 >first
	grep -q -F "$(echo "$top" | cut -d , -f 4)" first
	for column in $(sql "SELECT count(*) || ' ' || sum(duration_ns) || ' ' || max(duration_ns) FROM irq
			WHERE cut = 0 GROUP BY node, kind, number, name ORDER BY sum(duration_ns) DESC LIMIT 1"); do
		grep -q -F "data-v=\"$column\"" first
	done
}

# A thread that changes its name has one sum in every table, and is drawn under both names.
@test "a thread's time is the same in cpu, sched and the page" {
	local busiest="SELECT node, tid FROM thread_state WHERE tid > 0 AND state_code = 0 GROUP BY 1, 2
		ORDER BY count(*) DESC LIMIT 1"
	local waits="FROM thread_state WHERE (node, tid) = ($busiest) AND state_code = 0 AND preempted = 0 AND cut = 0"

	cp "$CT_CLIENTS" named.db
	chmod u+w named.db
	sqlite3 named.db "UPDATE thread_state SET comm = 'young' WHERE (node, tid) = ($busiest)
		AND begin_ns < (SELECT avg(begin_ns) $waits)"
	ctanalyze report named.db -o report.html
	sed -n '/data-table="threads"/,/<\/table>/p' report.html >threads
	[ "$(grep -c '>young<' threads)" = 0 ]
	for sum in "count(*) $waits" "sum(duration_ns) $waits" "max(duration_ns) $waits" \
		"sum(duration_ns) FROM thread_state WHERE (node, tid) = ($busiest) AND state_code = 1"; do
		grep -q -F "data-v=\"$(sqlite3 named.db "SELECT $sum")\"" threads
	done
	[ "$(data report.html "SELECT count(*) FROM d, json_each(j, '\$.threads') AS t
		WHERE json_extract(t.value, '\$[2]') = 'young'")" -eq 1 ]
	ctanalyze cpu --table threads --format csv --limit 0 named.db | tr -d '\r' |
		grep -q -F ",$(sqlite3 named.db "SELECT sum(duration_ns) FROM thread_state WHERE (node, tid) = ($busiest) AND state_code = 1"),"
	ctanalyze sched --table latencies --format csv --limit 0 named.db | tr -d '\r' |
		grep -q -F ",$(sqlite3 named.db "SELECT sum(duration_ns) $waits")"
}

# The card of the slowest request says what its path says.
@test "the headline is the critical path's" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	request=$(sql 'SELECT id FROM request ORDER BY end_ns - begin_ns DESC LIMIT 1')
	ctanalyze critical-path --request "$request" --format csv --table states "$CT_CLIENTS" | tr -d '\r' |
		awk -F, 'NR > 1 { sum[$2] += $4 } END { for (state in sum) printf "%.0f %s\n", sum[state], state }' | sort -rn | head -n 1 >most
	read -r ns state <most
	finding request "<b data-v=\"$ns\">"
	[ "$state" = running ]
	finding request ') running'
	# Without threads there is no path to link to.
	ctanalyze report "$CT_NET3" -o report.html
	finding request '<a href="#requests">Requests</a>'
	grep -o 'href="#[^"]*"' report.html | sort -u | while IFS='"#' read -r _ _ id _; do
		grep -q "id=\"$id\"" report.html || {
			echo "no place for #$id"
			exit 1
		}
	done
}

# The page follows fewer requests than the analysis, and says the same of the slowest ones.
@test "where the slow ones lose their time is what why says" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	ctanalyze why --format json "$CT_CLIENTS" >why.json
	rows="FROM (SELECT value AS v FROM json_each(readfile('why.json'), '\$.tables"
	sqlite3 :memory: "SELECT printf('%.0f', v ->> 'more_ns') ${rows}[0].rows'))" >losses
	[ "$(wc -l <losses)" -eq 3 ]
	sed -n '/<ul class="why">/,/<\/ul>/s/^<li><b data-v="\([0-9]*\)">.*/\1/p' report.html | diff losses -
	finding why "<b data-v=\"$(head -n 1 losses)\">"
	finding why 'node1 server runs'
	sqlite3 :memory: "SELECT printf('%.3f', ns) FROM (
		SELECT v ->> 'more_ns' AS ns, row_number() OVER (PARTITION BY v ->> 'client' ORDER BY v ->> 'more_ns' DESC) AS n ${rows}[1].rows')))
		WHERE ns > 0 AND n <= 3 ORDER BY ns DESC" >parts
	[ "$(wc -l <parts)" -eq 9 ]
	sed -n '/data-table="lost"/,/<\/table>/s/.*data-v="\([0-9.]*\)"[^>]*>[^<]*<\/td><\/tr>$/\1/p' report.html | xargs printf '%.3f\n' | diff parts -
	# A single request has no others to hold it against.
	ctanalyze report --begin +0.1 --end +0.11 "$CT_CLIENTS" -o report.html
	lacks 'id="why"|finding-why|#why'
}

# The figures of the slowest requests, in order, and what each state had of it.
@test "critical paths are those of critical-path" {
	ctanalyze report "$CT_CLIENTS" -o report.html
	ctanalyze requests --top --limit 8 --format csv "$CT_CLIENTS" | cut -d , -f 2 | tail -n +2 >numbers
	[ "$(wc -l <numbers)" -eq 8 ]
	grep -o 'class="path" id="request-[0-9]*"' report.html | tr -dc '0-9\n' | diff numbers -
	running=$(ctanalyze critical-path --request "$(head -n 1 numbers)" --format csv --table states "$CT_CLIENTS" |
		awk -F, '$2 == "running" { sum += $4 } END { printf "%.0f", sum }')
	[ "$running" -gt 0 ]
	grep -A 1 "id=\"request-$(head -n 1 numbers)\"" report.html | grep -q "data-v=\"$running\">running "
	# Without threads in the recording there are only tables.
	ctanalyze report "$CT_NET3" -o report.html
	has '<section id="requests">'
	has 'what servers did: not recorded (enable sched_switch'
	has 'What processors did was not recorded'
	lacks 'class="path"'
	# The script's data is JSON all the same.
	[ "$(data report.html "SELECT json_valid(j), json_array_length(j, '\$.exact') FROM d")" = '1|0' ]
}

# data FILE QUERY: of what the page gives its script about the timeline, as d.j.
data()
{
	page_data "$1" >data.json
	sqlite3 :memory: "WITH d(j) AS (SELECT CAST(readfile('data.json') AS TEXT)) $2"
}

# The script draws each of few spans; of more, sums by steps and windows.
@test "detail is what was asked for" {
	local states="SELECT sum((json_array_length(s.value) - 1) / 5) FROM d,
		json_each(j, '\$.exact') AS w, json_each(w.value, '\$.states') AS s"
	local irqs="SELECT sum((json_array_length(s.value) - 2) / 2) FROM d,
		json_each(j, '\$.exact') AS w, json_each(w.value, '\$.irqs') AS s"

	ctanalyze report "$CT_CLIENTS" -o report.html
	[ "$(data report.html "SELECT json_array_length(j, '\$.exact') FROM d")" -eq 1 ]
	[ "$(data report.html "$states")" -eq "$(sql 'SELECT count(*) FROM thread_state
		WHERE state_code < 5 AND (node, tid) IN (SELECT node, tid FROM thread_state
		WHERE state_code = 1 AND cpu IS NOT NULL AND tid > 0)')" ]
	[ "$(data report.html "$irqs")" -eq "$(sql 'SELECT count(*) FROM irq')" ]
	lacks 'spans are summed by steps'
	ctanalyze report --detail 2000 "$CT_CLIENTS" -o report.html
	[ "$(data report.html "SELECT json_array_length(j, '\$.exact') FROM d")" -gt 0 ]
	[ "$(data report.html "SELECT ($states) + ($irqs)")" -le 2000 ]
	has 'spans are summed by steps of'
	[ "$(wc -c <report.html)" -lt 1000000 ]
}

@test "the same timeline gives the same page" {
	ctanalyze report "$CT_NET3" -o report.html
	ctanalyze report "$CT_NET3" >again.html
	cmp report.html again.html
	[ "$(wc -c <report.html)" -lt 3000000 ]
}

@test "texts from traces are no HTML" {
	cp "$CT_CLIENTS" bad.db
	chmod u+w bad.db
	sqlite3 bad.db <<-'SQL'
		UPDATE node SET name = '</script><img src=x onerror=alert(1)>"''' || char(1) WHERE id = 1;
		UPDATE meta SET value = '<b>&"' WHERE key = 'name';
		UPDATE sched_switch SET next_comm = '"><script>', prev_comm = '"><script>'
			WHERE id % 2;
		UPDATE sched_switch SET next_comm = CAST(x'ff3c2f7376673e' AS TEXT) WHERE id % 3 = 0;
		UPDATE thread SET comm = '"><script>' || char(8232);
		UPDATE process SET comm = '</td><svg/onload=alert(1)>';
		INSERT INTO problem(id, source, kind, count, text, place)
			VALUES (999, NULL, 'x', 1, '<script>alert(1)</script>', '"><i>');
	SQL
	ctanalyze report bad.db -o report.html
	has '&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;'
	has '&quot;&gt;&lt;script&gt;'
	has '\u003c/script\u003e\u003cimg src=x onerror=alert(1)\u003e\"\u0027�'
	[ "$(grep -o '<script' report.html | wc -l)" -eq 3 ]
	[ "$(grep -o '</script' report.html | wc -l)" -eq 3 ]
	[ "$(data report.html "SELECT substr(json_extract(j, '\$.nodes[0]'), 1, 13) FROM d")" = '</script><img' ]
	[ "$(data report.html "SELECT count(*) FROM d, json_each(j, '\$.threads') AS t
		WHERE json_extract(t.value, '\$[2]') = '\"><script>' || char(65533)")" -gt 0 ]
	lacks '<img|<svg/|<i>"|<b>&'
	lacks "$(printf '\001')"
	iconv -f UTF-8 -t UTF-8 report.html >/dev/null
	is_balanced
}

# For times that it shows twice, the bound is the wider of both, and open if one of them is.
@test "the bound of a clock that was set back" {
	local curve="SELECT json_extract(c.value, '\$[2]') AS at, json_extract(c.value, '\$[4]') AS bound FROM d, json_each(j, '\$.curves') AS c
		WHERE json_extract(c.value, '\$[0]') = 0 AND json_extract(c.value, '\$[1]') = 1"
	cp -L "$CT_CLIENTS" back.db
	chmod u+w back.db
	# From the middle of the source on, the clock shows a fifth of the time again.
	sqlite3 back.db "CREATE TEMP TABLE half AS SELECT c.source, s.begin_ns - c.ref_ns + c.local_ns AS local_ns, s.begin_ns AS ref_ns,
			s.end_ns - s.begin_ns AS span_ns, c.rate_ppb FROM clock AS c JOIN source AS s ON s.id = c.source WHERE s.name = 'node2';
		INSERT INTO clock (source, local_ns, ref_ns, rate_ppb)
			SELECT source, local_ns + span_ns * 6 / 10, ref_ns + span_ns * 4 / 10, rate_ppb FROM half;
		DELETE FROM clock_bound WHERE source = (SELECT source FROM half);
		INSERT INTO clock_bound (source, local_ns, low_ns, high_ns)
			WITH RECURSIVE part AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM part WHERE n < 100)
			SELECT source, local_ns + span_ns * n / 100, -iif(n < 60, 1000, 7000), iif(n < 60, 1000, 7000) FROM half, part"
	ctanalyze report back.db -o report.html
	[ "$(data report.html "SELECT count(*) - count(DISTINCT at), sum(bound = 1000) > 40, sum(bound = 7000) > 40,
		sum(bound = 7000 AND at < 850000000) > 0 FROM ($curve)")" = '0|1|1|1' ]
	sqlite3 back.db "UPDATE clock_bound SET high_ns = NULL WHERE low_ns = -7000"
	ctanalyze report back.db -o report.html
	[ "$(data report.html "SELECT count(*) > 40, count(*) = sum(bound = 1000), max(at) < 850000000 FROM ($curve)")" = '1|1|1' ]
}

# The number of their events is unknown, which is not zero.
@test "packets that were lost" {
	cp -L "$CT_NET3" lost.db
	chmod u+w lost.db
	ctanalyze report lost.db -o report.html
	has 'Nothing was lost'
	sqlite3 lost.db "INSERT INTO problem (source, kind, count, text, place) SELECT id, 'discarded', 3,
		'the tracer discarded 3 packets of events', path FROM source LIMIT 1"
	ctanalyze report lost.db -o report.html
	has 'Something was lost'
	finding lost '<b data-v="3">'
}

@test "part of a run" {
	ctanalyze report --node 'node[12]' --timerange '+0.2,+0.6' "$CT_CLIENTS" -o report.html
	has 'the selected part of the run'
	[ "$(data report.html "SELECT json_extract(j, '\$.nodes') || json_extract(j, '\$.span') FROM d")" = '["node1","node2"]400000000' ]
	is_balanced
}

@test "what cannot be done is told" {
	ctanalyze report "$CT_NET3" -o report.html
	ends_with 1 ctanalyze report "$CT_NET3" -o no/such/report.html
	grep -q -F 'no/such/report.html' "$scratch/stderr"
	fails_with 2 'ctanalyze: --format does not apply to report; see ctanalyze report --help' \
		ctanalyze report --format csv "$CT_NET3"
	echo no >none.db
	cp report.html before.html
	ends_with 1 ctanalyze report none.db -o report.html
	grep -q -F 'none.db' "$scratch/stderr"
	cmp report.html before.html
}

# For 30 of 40 seconds the processors were never idle. The axis begins with the first sample, so its
# second is not shown.
@test "sar alone: nothing was lost, and what it says of the processors" {
	mkdir -p run/a
	{
		for ((i = 1; i <= 40; i++)); do
			idle=$((i <= 30 ? 0 : 60))
			printf 'a\t1\t%d\tall\t%%user\t%d\na\t1\t%d\tall\t%%idle\t%d\n' $((1795229160 + i)) $((100 - idle)) $((1795229160 + i)) $idle
		done
	} >run/a/sar.sadf
	ctmerge -q --no-sync run -o run.db 2>/dev/null
	ctanalyze report run.db -o report.html
	grep -q '<li class="[a-z]*"[^>]* id="finding-lost"><h3><span class="sr"></span>Nothing was lost' report.html
	finding lost 'no kernel was traced'
	finding clocks 'placed by the clock of their own node'
	grep -q '<li class="bad"[^>]* id="finding-busiest">' report.html
	finding busiest '<b data-v="84.615385">84'
	finding busiest '<b data-v="29000000000">'
	ctanalyze cpu run.db | grep -q 'sar sampled it, see ctanalyze metrics'
	is_balanced
}

@test "user space and tasks alone" {
	mkdir -p run/a/app
	{
		ctf_metadata a | sed 's/env { /&domain = "ust"; tracer_name = "lttng"; /
			s/stream { id = 0; /&event.context := struct { uint32_t vtid; }; /'
		ctf_event 0 app:work_begin ' uint8_t i; '
		ctf_event 1 app:work_end ' uint8_t i; '
	} >run/a/app/metadata
	{
		le 4 0xc1fc1fc1 0
		le 2 0; le 8 1000; le 4 7; le 1 1
		le 2 0; le 8 2000; le 4 8; le 1 2
		le 2 1; le 8 5000; le 4 7; le 1 1
		le 2 1; le 8 9000; le 4 8; le 1 2
		le 2 0; le 8 9500; le 4 8; le 1 3
	} >run/a/app/stream
	echo '{"node": "a", "name": "job", "started_ns": 1500, "ended_ns": 8500, "status": 0}' >run/a/invocations.jsonl
	ctmerge -q --no-sync run -o run.db 2>"$scratch/notes" || cat "$scratch/notes"
	ctanalyze --table periods --format csv run.db | tr -d '\r' | tail -n 1 | grep -q '^app:work_begin,app:work_end,2,4000,5500,5500,.*,7000,11000$'
	ctanalyze --table tasks --format csv run.db | tr -d '\r' | tail -n 1 | grep -q '^job,1,1,0,7000,'
	ctanalyze run.db | grep -q '^periods '
	ctanalyze report run.db -o report.html
	[ "$(data report.html "SELECT json_extract(j, '\$.periods') || json_extract(j, '\$.tasks') FROM d")" = \
		'[[0,8,"",1000,8000,"app:work_begin","app:work_end"],[0,7,"",0,4000,"app:work_begin","app:work_end"]][[0,500,7500,"job",0,-1]]' ]
	[ "$(data report.html "SELECT sum(json_extract(c.value, '\$[2]')) FROM d, json_each(j, '\$.density') AS c")" = 5 ]
	has '<section id="user">'
	has 'data-table="periods"'
	[ "$(grep -c '<li class="bad"' report.html)" = 0 ]
	is_balanced
}

@test "captures alone" {
	ctmerge -q fixtures/containers/any -o run.db 2>/dev/null || [ "$?" = 3 ]
	ctanalyze report run.db -o report.html
	finding lost 'no kernel was traced'
	[ "$(data report.html "SELECT sum(json_extract(c.value, '\$[2]')) FROM d, json_each(j, '\$.density') AS c")" = \
		"$(sqlite3 run.db 'SELECT count(*) FROM event')" ]
	is_balanced
}

# Six hogs for a second and a half: where, when, and who ran. The report says the same.
@test "findings: as a table and in the report" {
	printf 'nodes 3\nseconds 6\nactivity full\nspawn_ms 0\nhog 2 2 3.5 6\n' >hog.scenario
	ctsim -q --seed 3 hog.scenario -o run
	ctmerge -q run -o run.db
	ctanalyze findings --format json run.db >findings.json
	sqlite3 :memory: "SELECT v ->> 'finding' || ' ' || (v ->> 'node') || ' ' || ((v ->> 'begin_ns') - f.b >= 1.8e9) || ((v ->> 'begin_ns') - f.b < 2.2e9)
		|| (abs((v ->> 'span_ns') / 1e9 - 1.5) > 0.3) || ((v ->> 'text') LIKE '%most of it ran hog%')
		FROM (SELECT value AS v FROM json_each(readfile('findings.json'), '\$.tables[0].rows')), (SELECT readfile('findings.json') ->> 'begin_ns' AS b) AS f
		WHERE v ->> 'finding' = 'Processors saturated'" | diff - <(echo 'Processors saturated node2 1101')
	ctanalyze report run.db -o report.html
	finding saturated 'node2: its processors were busy'
	finding saturated '" data-m="busy">'
	ctanalyze findings --table findings --sort -finding --format csv run.db | sed '1d' | cut -d , -f 2 | sort -cr
}
