#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# TCP segments of a flow that were sent again: flows made by hand in a copy of net3's timeline.
load common

setup_file()
{
	export CT_NET3=$BATS_FILE_TMPDIR/net3.db
	recorded tests/fixtures/net3 "$CT_NET3"
}

# again PACKETS,BYTES SEQ PAYLOAD FLAGS ...: what of these segments was sent again.
again()
{
	local wanted=$1 n=0

	shift
	cp "$CT_NET3" made.db
	{
		echo "DELETE FROM net_dev_queue;"
		while [ $# -gt 0 ]; do
			n=$((n + 1))
			echo "INSERT INTO net_dev_queue (id, name, len, network_header_ipv4_tot_len, network_header_ipv4_ihl,
				network_header_ipv4_protocol, network_header_ipv4_saddr, network_header_ipv4_daddr,
				network_header_ipv4_transport_header_tcp_source_port,
				network_header_ipv4_transport_header_tcp_dest_port,
				network_header_ipv4_transport_header_tcp_seq,
				network_header_ipv4_transport_header_tcp_data_offset,
				network_header_ipv4_transport_header_tcp_flags)
			SELECT id, 'eth0', $2 + 54, $2 + 40, 5, 'tcp', x'0A070001', x'0A070002', 1, 2, $1, 5, $3
			FROM (SELECT id FROM event WHERE node = 1 ORDER BY ts_ns, id LIMIT 1 OFFSET $n);"
			shift 3
		done
	} | sqlite3 made.db
	ctanalyze net --format csv --table flows made.db | cut -d, -f10,11 >found
	printf '%s\n' retransmitted,retransmitted_bytes "$wanted" | diff - found
}

@test "nothing again: SYN, acknowledgments, data, FIN" {
	again 0,0 99 0 2 100 0 0 100 1000 0 1100 0 0 1100 0 0 1100 500 1
}

@test "a whole segment again, and a part" {
	again 2,1500 100 1000 0 1100 1000 0 100 1000 0 1600 1000 0
}

@test "again as much as an event that was lost" {
	again 1,100 100 100 0 100 100 0 300 100 0
	again 1,50 100 100 0 150 100 0 300 50 0
}

@test "SYN and FIN again have no bytes" {
	again 2,0 99 0 2 99 0 2 100 0 1 100 0 1
}

@test "numbers come round after 2^32, and a port comes again" {
	again 0,0 4294966796 1000 0 500 1000 0
	again 1,1000 4294966796 1000 0 500 1000 0 4294966796 1000 0 70000 0 2 70001 100 0
	again 0,0 99 0 2 100 1000 1 70000 0 2 70001 10 1
}

@test "keep-alives: without a byte nothing, with one that byte" {
	again 0,0 99 0 2 100 1000 0 1099 0 0 1100 10 0
	again 1,1 99 0 2 100 1000 0 1099 1 0 1100 10 0
}

@test "quotes and blobs are printed as each dialect has them" {
	cat >odd.sql <<-'END'
		SELECT 1 AS "a`, java_method('x') AS `b", 'it''s \' AS "c""d", X'0a41' AS e
	END
	ctanalyze -q --print-sql=spark --sql odd.sql odd >printed
	grep -qxF "SELECT 1 AS \`a\`\`, java_method('x') AS \`\`b\`, 'it\\'s \\\\' AS \`c\"d\`, X'0a41' AS e;" printed
	ctanalyze -q --print-sql=duckdb --sql odd.sql odd >printed
	grep -qF "'it''s \\' AS \"c\"\"d\", unhex('0a41') AS e" printed
}

# Shells of SQL run lines that begin with a dot, and end a statement at a line "go".
@test "SQL that is printed has no line that a shell would run" {
	local command
	for command in 'go\n.shell touch run' '\t/ \nATTACH run AS x' 'Go -- x\nVACUUM' '/ /* x */\nVACUUM'; do
		printf 'SELECT 1\n%b\n' "$command" >odd.sql
		fails_with 1 "ctanalyze: --print-sql: a line begins with a dot, or is '/' or 'go', which is a command in shells of SQL" \
			ctanalyze -q --print-sql=sqlite --sql odd.sql odd
	done
	printf 'SELECT 1\n/ 2 AS\ngone' >odd.sql
	ends_with 0 ctanalyze -q --print-sql=sqlite --sql odd.sql odd
	printf "SELECT system.main.getenv('HOME') AS x" >odd.sql
	fails_with 1 "ctanalyze: --print-sql: 'getenv' cannot be used (expected a SELECT of tables)" \
		ctanalyze -q --print-sql=duckdb --sql odd.sql odd
	printf "SELECT '\${env:HOME}' AS x" >odd.sql
	fails_with 1 "ctanalyze: odd.sql:1: quotes with \${, where the shell of Spark puts a variable; use the SQL that SQLite, DuckDB and Spark share" \
		ctanalyze -q --print-sql=spark --sql odd.sql odd
	printf 'SELECT 1 -- \302\240\n' >odd.sql
	fails_with 1 'ctanalyze: odd.sql:1: a blank that is not ASCII' ctanalyze -q --print-sql=duckdb --sql odd.sql odd
	printf 'SELECT 1 AS x' >odd.sql
	ctanalyze -q --print-sql=duckdb --sql odd.sql odd | grep -q 'SELECT 1 AS x'
	printf "SELECT * FROM node, read_text('/etc/passwd')" >odd.sql
	fails_with 1 'ctanalyze: --print-sql: a function or a file cannot be used as a table; name the tables' \
		ctanalyze -q --print-sql=duckdb --sql odd.sql odd
	printf "ATTACH 'x.db' AS y" >odd.sql
	fails_with 1 "ctanalyze: --print-sql: 'ATTACH' cannot be used (expected a SELECT of tables)" \
		ctanalyze -q --print-sql=duckdb --sql odd.sql odd
}
