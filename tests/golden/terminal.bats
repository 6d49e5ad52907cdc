#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Output to a terminal, which script(1) makes.
load common

# on_terminal COLUMNS LOCALE COMMAND: what it leaves there; lines of progress are overwritten.
on_terminal()
{
	LC_ALL=$2 script -qec "stty cols $1; $3" /dev/null </dev/null | sed 's/\r*$//; s/.*\r//; s/\x1b\[[0-9;]*[A-Za-z]//g'
}

@test "a table that is too wide goes on below" {
	recorded datasets/sample sample.db
	golden terminal_wide on_terminal 80 C.UTF-8 'ctanalyze requests --table parts sample.db'
	on_terminal 80 C.UTF-8 'ctanalyze sched sample.db' >said
	LC_ALL=C.UTF-8 ends_with 1 grep -E '^.{81,}$' said
	# Nothing is lost: each number is that of the file, in its column's unit, as exactly as its digits tell.
	# Three columns that are 0 throughout are told above.
	ctanalyze requests --table parts --format csv sample.db >values
	on_terminal 300 C 'ctanalyze requests --table parts sample.db' | sed 's/+-//' >shown
	sed -n 2p shown | grep -qx 'in these rows: RESENT 0 ns, NODE 0 ns, AT SERVER 0 ns'
	awk -F , '
		function off(told, is, digits, most) {
			digits = index(told, ".") ? length(told) - index(told, ".") : 0
			most = 10 ^ -digits * 1.001
			return told < is - most || told > is + most
		}
		FNR == NR { for (i = 1; i <= NF; i++) value[FNR, i] = $i; rows = FNR; next }
		{ split($0, cell, / +/) }
		FNR == 4 { for (i in cell) if (cell[i] != "") unit[i] = cell[i] }
		FNR > 4 && FNR < 4 + rows {
			for (i = 5; i <= 14; i++) {
				column = i < 6 ? i : i < 11 ? i + 1 : i < 13 ? i + 2 : i + 3
				size = unit[i - 3] == "us" ? 1e3 : unit[i - 3] == "ms" ? 1e6 : 0
				if (!size && value[FNR - 3, column] != cell[i] || size && off(cell[i], value[FNR - 3, column] / size)) {
					print "row " FNR ", cell " i ": " cell[i] " is not " value[FNR - 3, column]
					bad = 1
				}
				seen++
			}
		}
		END { exit bad || seen != 100 }' values shown
}

@test "clocks for people" {
	golden terminal_clocks on_terminal 100 C.UTF-8 'ctsync datasets/sample'
}

@test "letters as the locale has them; files have ASCII" {
	on_terminal 200 C.UTF-8 'ctsync datasets/sample' >utf8
	grep -qE '^ +ppm +ppm +s +µs +UTC *$' utf8
	grep -q '^node2 .* ±595 .* accurate$' utf8
	on_terminal 200 C 'ctsync datasets/sample' >ascii
	grep -qE '^ +ppm +ppm +s +us +UTC *$' ascii
	grep -q '^node2 .* +-595 .* accurate$' ascii
	LC_ALL=C.UTF-8 ctsync datasets/sample >file
	ctsync datasets/sample | diff - file
}

@test "columns are told apart, and what is the same in all rows is told once" {
	recorded datasets/sample sample.db
	golden terminal_columns on_terminal 100 C.UTF-8 'ctanalyze net --table interfaces sample.db; ctanalyze cpu --table cpus sample.db'
	golden terminal_describe on_terminal 120 C.UTF-8 'ctmerge --describe datasets/sample'
}

# 07:38 there is 13:08 half a world away; a rule of POSIX needs no list of zones.
@test "times of day are UTC, or the user's" {
	local away=IST-5:30
	recorded datasets/sample sample.db
	TZ=$away on_terminal 200 C 'ctsync datasets/sample' | grep -qE '^node1 .* 07:38:16\.5 exact$'
	TZ=$away on_terminal 200 C 'ctsync --local-time datasets/sample' >shown
	grep -qE '^ .* UTC\+05:30' shown
	grep -qE '^node1 .* 13:08:16\.5 exact$' shown
	# A file says so as well, if it was asked for.
	TZ=$away ctsync datasets/sample | diff - <(ctsync datasets/sample)
	TZ=$away ctsync --local-time datasets/sample | grep -qE '^TRACE .* BEGIN/UTC\+05:30 '
	TZ=$away ctsync --json --local-time datasets/sample | diff - <(ctsync --json datasets/sample)
	TZ=$away ctmerge --describe --local-time datasets/sample | grep -qE '^node1 +kernel +2026-11-22 13:08:16\.5'
	fails_with 2 'ctmerge: --json and --local-time require --describe' ctmerge --local-time datasets/sample -o other.db
	set -- ctanalyze messages --table slowest --limit 1 sample.db
	TZ=$away "$@" | diff - <("$@")
	TZ=$away "$@" --local-time >shown
	grep -qE '^ *SENT/UTC\+05:30 ' shown
	grep -q '^13:08:35.215587557 ' shown
	TZ=$away "$@" --local-time --format markdown | grep -q '^| SENT/UTC+05:30 |'
	TZ=$away "$@" --local-time --format csv | diff - <("$@" --format csv)
	TZ=$away "$@" --local-time --format json | diff - <("$@" --format json)
	# If midnight is within the run, dates are shown.
	TZ=XXX-16:21 "$@" --local-time | grep -q '^2026-11-22 23:59:35.215587557 '
	set -- ctanalyze events --limit 1 sample.db
	TZ=$away "$@" | diff - <("$@")
	TZ=$away "$@" --local-time >shown
	[ "$(head -n 1 shown)" = 'times of day are UTC+05:30' ]
	grep -q '^\[13:0[78]:' shown
	TZ=$away on_terminal 200 C "$*" | head -n 1 | grep -qx 'times of day are UTC'
}

@test "ctmerge says what it has made" {
	on_terminal 200 C 'ctmerge datasets/sample -o made.db' >said
	grep -qE '^made.db: 150159 events of 3 nodes, clocks within \+-8\.[0-9]* ms, [0-9.]+ MB, [0-9.]+ s$' said
	ctmerge datasets/sample -o quiet.db 2>said
	[ ! -s said ]
}

# U+2066, U+200E, U+061C, U+FEFF, U+E0041, U+0085, U+202E
@test "characters that hide or reorder text are shown as their bytes" {
	local odd word
	odd=$(printf 'n\342\201\246\342\200\216\330\234\357\273\277\363\240\201\201\302\205\342\200\256x')
	raw=$'\xe2\x81\xa6|\xe2\x80\x8e|\xd8\x9c|\xef\xbb\xbf|\xf3\xa0\x81\x81|\xc2\x85|\xe2\x80\xae'
	ctsim -q clients --nodes 2 --set seconds=1 --set events=100 -o run
	mv run/node1 "run/$odd"
	echo x >"run/$odd/$odd.unknown"
	ctmerge -q run -o t.db 2>said || true
	ctsync -v run >>said 2>&1 || true
	ctmerge --describe run >>said 2>&1 || true
	for word in cpu messages nodes clocks; do
		ctanalyze "$word" t.db >>said
	done
	ctanalyze -q report t.db -o report.html
	for word in ctsim ctmerge ctsync ctanalyze ctexport ctrecipe ctbatch ctcollect ctsample ctwrap; do
		! "$word" "--$odd" x >>said 2>&1
	done
	[ "$(grep -c 'n\\xe2\\x81\\xa6\|n\\u2066' said)" -gt 20 ]
	[ "$(LC_ALL=C grep -caE "$raw" said)" -eq 0 ]
	[ "$(LC_ALL=C grep -caE "$raw" report.html)" -eq 0 ]
}
