#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsync --messages: the messages themselves, as CSV.
load common

head=send_node,send_ns,recv_node,recv_ns

# Three nodes; b is 5 s ahead of a and 100 ppm fast, c hears b only.
few()
{
	cat <<-END
	a,1700000000000000000,b,1700000005000300000
	b,1700000005000500000,a,1700000000000900000
	b,1700000005000600000,c,1700000001000900000
	c,1700000001001000000,b,1700000005001400000
	a,1700000010000000000,b,1700000015001300000
	b,1700000015001500000,a,1700000010000900000
	b,1700000015001600000,c,1700000011000900000
	c,1700000011001000000,b,1700000015002400000
	END
}

# Each pair has a line, but no lines of three clocks satisfy all: c is level with b, b with a,
# and c 150 us and more ahead of a, though messages between them and b take 50 us.
@test "straight clocks that cannot be" {
	awk 'function message(from, to, at, took) {
			printf "%s,1700000000%09d,%s,1700000000%09d\n", from, at, to, at + took
		}
		BEGIN {
			for (at = 1000000; at < 900000000; at += 10000000) {
				message("a", "b", at, 50000)
				message("b", "a", at, 50000)
				message("b", "c", at, 50000)
				message("c", "b", at, 50000)
				message("a", "c", at, 250000)
				message("c", "a", at, -150000)
			}
		}' >ring.csv
	for bounds in limit straight; do
		ctsync --segments 1 -r b --bounds "$bounds" --messages ring.csv >"$bounds.txt"
	done
	[ "$(grep -c approximate straight.txt)" -eq 2 ]
	sed 's/ *approximate$//; s/ *accurate$//; s/ *QUALITY$//' straight.txt >as_limit
	sed 's/ *approximate$//; s/ *accurate$//; s/ *QUALITY$//' limit.txt | diff - as_limit
}

@test "with a header, without one, and from standard input" {
	few >few.csv
	golden messages ctsync -r a --stats --messages few.csv
	{
		echo $head
		few
	} >headed.csv
	golden messages ctsync -r a --stats --messages headed.csv
	ctsync -r a --stats --messages - <headed.csv | cmp - "$CT_EXPECT/messages"
	golden messages.json ctsync -r a --json --messages few.csv
}

@test "lines may end as in DOS, and the last one nowhere" {
	few | sed 's/$/\r/' >dos.csv
	golden messages ctsync -r a --stats --messages dos.csv
	printf %s "$(few)" >end.csv
	golden messages ctsync -r a --stats --messages end.csv
}

@test "a broken line is left out and named" {
	local line expected
	while read -r line expected; do
		{
			echo "$line"
			few
			echo "$line"
		} | tr _ ' ' >broken.csv
		fails_with 1 "ctsync: broken.csv:1: $expected" ctsync --messages broken.csv
		grep '^messages  8,' "$scratch/stdout"
	done <<-END
	a,1,b line with 3 fields skipped (expected 4)
	a,1,b,2,3 line with 5 fields skipped (expected 4)
	,1,b,2 send_node is empty; skipped
	a,1,,2 recv_node is empty; skipped
	a_1_b_2 line with 1 fields skipped (expected 4)
	END
}

@test "what is no time" {
	for time in x 1.5 1e9 ' 1' - -- 0x10 9223372036854775808 \
		-9223372036854775808 99999999999999999999999 9223372036854775807 +1 18446744073709551617; do
		{
			few
			echo "a,$time,b,2"
			echo "a,2,b,$time"
			echo "$head"
		} >broken.csv
		fails_with 1 "ctsync: broken.csv:9: invalid send_ns '$time' (expected a time in nanoseconds); skipped
ctsync: broken.csv:10: invalid recv_ns '$time' (expected a time in nanoseconds); skipped
ctsync: broken.csv:11: invalid send_ns 'send_ns' (expected a time in nanoseconds); skipped" \
			ctsync --messages broken.csv
	done
}

@test "a zero byte hides nothing" {
	printf 'a,1,b,2\0garbage\nb,3,a,4\na,5,b,6\n' >zero.csv
	fails_with 1 'ctsync: zero.csv:1: line with a zero byte skipped' \
		ctsync --messages zero.csv
}

@test "a message to itself" {
	echo a,1,a,2 >self.csv
	fails_with 1 "ctsync: self.csv:1: 'a' sends to itself; skipped
ctsync: self.csv: no messages" ctsync --messages self.csv
	few >>self.csv
	fails_with 1 "ctsync: self.csv:1: 'a' sends to itself; skipped" \
		ctsync --messages self.csv
	grep '^messages  8,' "$scratch/stdout"
}

@test "no message at all" {
	: >empty.csv
	fails_with 1 'ctsync: empty.csv: no messages' \
		ctsync --messages empty.csv
	echo $head >head.csv
	fails_with 1 'ctsync: head.csv: no messages' \
		ctsync --messages head.csv
	fails_with 1 'ctsync: -: no messages' ctsync --messages -
}

@test "no file of messages" {
	fails_with 1 'ctsync: nowhere.csv: No such file or directory' \
		ctsync --messages nowhere.csv
	fails_with 1 'ctsync: datasets:1: Is a directory; the rest skipped
ctsync: datasets: no messages' ctsync --messages datasets
}

@test "exit status 3 where not all is tied" {
	printf '%s\n' a,1,b,2 b,3,a,4 c,1,d,2 d,3,c,4 >islands.csv
	golden -s 3 messages_islands ctsync --messages islands.csv
	echo a,1,b,2 >one_way.csv
	ends_with 3 ctsync --messages one_way.csv
	ends_with 3 ctsync --json --messages one_way.csv
}

@test "times at the ends of what is taken" {
	printf '%s\n' a,-72057594037927936,b,4467570830351532032 \
		b,4467570830351532032,a,-72057594037927936 \
		a,4467570830351532032,b,-72057594037927936 \
		b,-72057594037927936,c,4467570830351532032 >ends.csv
	for method in hull margin joint regression; do
		ends_with 3 ctsync --method $method --messages ends.csv
		[ "$(wc -l <"$scratch/stdout")" -gt 4 ]
	done
}

@test "a reference is itself over decades" {
	awk 'BEGIN {
		for (i = 0; i < 2000; i++) {
			s = i * 604811
			printf "a,%d%09d,b,%d%09d\n", s + 1, 7, s + 1, 123600000 + i * 7919 % 40000
			printf "b,%d%09d,a,%d%09d\n", s + 2, 123456789, s + 2, 150000 + i * 104729 % 40000
		}
	}' >messages.csv
	ends_with 0 ctsync --json --messages messages.csv
	grep -qF '"segments": [{"local_ns": 1000000007, "ref_ns": 1000000007, "rate_ppb": 0.000000}]' "$scratch/stdout"
}

@test "a linear program that goes round in circles" {
	# GLPK did so on these, which are what is left of some random ones.
	cat >circle.csv <<-END
	c,1795229632400119975,b,1795228738740293191
	b,1795228742745298198,a,1795228742745298199
	d,1795228751760322217,b,1795228751760322217
	b,1795228752762324220,c,1795229646422152004
	é,1795228359302028402,a,1795228753762325220
	b,1795228753762325220,a,1795228753762325220
	d,1795228754762326221,é,1795228360302030404
	c,1795229658431161021,a,1795228764771334238
	a,1795228768778339244,é,1795228374318043426
	a,1795228768779339247,c,1795229662439167031
	c,4294967295,a,1795228769786346250
	a,1795228775798357260,b,1795228775798357260
	b,1795228776798357260,a,1795228776798357260
	c,1795229672459185044,é,1795228384339062442
	d,1795228779799358261,a,1795228779799358261
	é,1795228387339063443,a,1795228781799359262
	END
	ends_with 3 timeout 60 ctsync --messages circle.csv
}

# COUNT messages between two nodes, 0 to 33 us on the way; of SHARE of them
# each one was received 3 ms before it was sent.
contradictions()
{
	awk -v count="$1" -v share="$2" 'BEGIN {
		for (i = 100; i < count + 100; i++) {
			seed = (seed * 1103515245 + 12345) % 2147483648
			late = int(seed / 65536)
			received = i * 100000 + late - (late % share ? 0 : 3000000)
			printf "%s,1700000%012d,%s,1700000%012d\n", \
				i % 2 ? "a" : "b", i * 100000, i % 2 ? "b" : "a", received
		}
	}'
}

@test "messages that contradict each other end in time" {
	contradictions 20000 100 >few.csv
	golden contradictions timeout 60 ctsync -r a --stats --messages few.csv
	contradictions 20000 2 >many.csv
	ends_with 3 timeout 60 ctsync --messages many.csv
}

# reversed EVERY: of the messages on standard input every so manieth is told as if
# its receive were its send.
reversed()
{
	awk -F, -v every="$1" 'NR % every { print; next } { print $3 "," $4 "," $1 "," $2 }'
}

@test "a contradiction is no bend: wrong matches tie nothing" {
	# Clocks 5000 s apart, 200 to 500 us on the way.
	awk 'BEGIN {
		for (i = 100; i < 4100; i++) {
			seed = (seed + 1) * 16807 % 2147483647
			late = 200000 + int(seed / 2147483647 * 300000)
			sent = i * 5000000
			if (i % 2)
				printf "a,1700000%012.0f,b,1700005%012.0f\n", sent, sent + late
			else
				printf "b,1700005%012.0f,a,1700000%012.0f\n", sent, sent + late
		}
	}' >right.csv
	ends_with 0 ctsync --messages right.csv
	for every in 19 5 1; do
		reversed "$every" <right.csv >wrong.csv
		ends_with 3 ctsync --stats -o wrong.json --messages wrong.csv
		grep -Eq '^a b .* contradictory$|^b a .* contradictory$' "$scratch/stdout"
		grep -q 'packets were matched wrongly' "$scratch/stderr"
		[ "$(grep -c 'segments;\|, 0 as corrected' "$scratch/stdout")" -eq 0 ]
		[ "$(grep -c stepped "$scratch/stderr")" -eq 0 ]
		grep -q '"low_ns": null, "high_ns": null' wrong.json
	done
	# A few are found and left out; the clocks are as without them.
	reversed 97 <right.csv >few.csv
	ends_with 0 ctsync --stats --messages few.csv
	grep -q ' exact$' "$scratch/stdout"
	grep -q ' accurate$' "$scratch/stdout"
	grep -q ', 0 as corrected' "$scratch/stdout"
	[ "$(grep -c 'segments;' "$scratch/stdout")" -eq 0 ]
	# The results of other pairs hold.
	{
		reversed 5 <right.csv
		sed 's/a,/c,/' right.csv
		sed 's/b,/c,/' right.csv | sed 's/1700005/1700000/'
	} >three.csv
	ends_with 3 ctsync --stats -o three.json --messages three.csv
	grep -c '"quality": "accurate"' three.json
	[ "$(grep -c '"low_ns": null' three.json)" -eq 0 ]
}

# paced EVERY_MS SLOW_US: messages both ways for 20 s; those from 5 s to 15 s are slower.
paced()
{
	awk -v every="$1" -v slow="$2" 'function message(from, to, at) {
			printf "%s,17000000%02d%09d,%s,17000000%02d%09d\n", from, at / 1000, at % 1000 * 1000000, to,
				at / 1000, at % 1000 * 1000000 + 50000 + (at > 5000 && at < 15000 ? slow * 1000 : 0)
		}
		BEGIN {
			for (at = 3; at < 20000; at += every) {
				message("a", "b", at)
				message("b", "a", at + 1)
			}
		}'
}

@test "what limits a bound" {
	paced 2000 0 >seldom.csv
	ends_with 0 ctsync -r a --stats --messages seldom.csv
	grep -Ex 'b     a +50.0 us +-?[0-9.]+ (m?s) a +50.0 us +-?[0-9.]+ (m?s) +([5-9].|100)% +0% probe' "$scratch/stdout"
	paced 10 300 >load.csv
	ends_with 0 ctsync -r a --stats --messages load.csv
	grep -Ex 'b     a +350.0 us +-?[0-9.]+ ms a +350.0 us +-?[0-9.]+ ms +[0-2]% +0% probe' "$scratch/stdout"
	paced 10 0 >steady.csv
	ends_with 0 ctsync -r a --stats --json --messages steady.csv
	grep '"help": ""' "$scratch/stdout"
	{
		cat steady.csv
		paced 1300 0 | sed 's/a,/c,/'
	} >chain.csv
	ends_with 0 ctsync -r c --stats --messages chain.csv
	grep -E '^a .* others$' "$scratch/stdout"
	grep -E '^b .* probe$' "$scratch/stdout"
	grep '^a,' steady.csv >one.csv
	ends_with 3 ctsync -r a --stats --messages one.csv
	grep -Ex 'b     - +- +- a .* +- +- messages' "$scratch/stdout"
}
