#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctsync --apply: captures with times of the reference clock. What stays is compared to the
# byte, as the copy on its own clock has the same times.
load common
load pcap

ab=(--local a=10.0.0.1 --local b=10.0.0.2)

# records FILE: SECONDS NANOSECONDS SENDER KEY of the packets of a pcap in nanoseconds, in
# either byte order, that carry TCP over IPv4 over Ethernet.
records()
{
	od -An -v -w1 -tu1 "$1" | awk '
	function u32(at) {
		return big ? ((byte[at] * 256 + byte[at + 1]) * 256 + byte[at + 2]) * 256 + byte[at + 3] \
			: ((byte[at + 3] * 256 + byte[at + 2]) * 256 + byte[at + 1]) * 256 + byte[at]
	}
	{ byte[NR - 1] = $1 }
	END {
		big = byte[0] == 161
		if (u32(0) != 2712812621)
			exit 1
		for (at = 24; at < NR; at += 16 + u32(at + 8)) {
			if (byte[at + 28] != 8 || byte[at + 29] != 0 || byte[at + 39] != 6)
				continue
			key = ""
			for (i = at + 46; i < at + 66; i++) # to the checksum, which the card makes
				key = key "." byte[i]
			print u32(at), u32(at + 4), byte[at + 45], byte[at + 34] "." byte[at + 35] key
		}
	}'
}

# early MINE THEIRS: of what `records` says of two hosts, given as NUMBER=FILE, the packets
# that both have, and those that are received before they were sent.
early()
{
	{
		records "${1#*=}" | sed "s/^/${1%%=*} /"
		records "${2#*=}" | sed "s/^/${2%%=*} /"
	} | awk '
	{ n[$5]++; of[$5, n[$5]] = $1; s[$5, n[$5]] = $2; ns[$5, n[$5]] = $3; sender[$5] = $4 }
	END {
		for (key in n) {
			if (n[key] != 2 || of[key, 1] == of[key, 2])
				continue
			both++
			late = (s[key, 2] - s[key, 1]) * 1e9 + ns[key, 2] - ns[key, 1]
			early += (of[key, 1] == sender[key] ? late : -late) < 0
		}
		print both + 0 " packets, " early + 0 " received before they were sent"
	}'
}

# blocks ORDER MODE: a pcapng, `little` or `big` endian, of the lines on standard input that
# `captured` takes: of an interface of microseconds and one of nanoseconds with an offset.
# With MODE `new`, as ctsync writes it: nanoseconds without an offset, and a COMMENT. Among
# the packets are other blocks, and packets of the obsolete kind and of one without a time.
blocks()
{
	local hex
	hex=$(awk -v big="$([ "$1" = big ] && echo 1)" -v new="$([ "$2" = new ] && echo 1)" \
		-v comment="${COMMENT-}" '
	BEGIN { for (i = 1; i < 256; i++) code[sprintf("%c", i)] = i }
	function number(value, size,  text, i) {
		for (i = 0; i < size; i++) {
			text = big ? sprintf("%02x", value % 256) text : text sprintf("%02x", value % 256)
			value = int(value / 256)
		}
		return text
	}
	function padded(hex) { while (length(hex) % 8) hex = hex "00"; return hex }
	function hex_of(text,  hex, i) {
		for (i = 1; i <= length(text); i++)
			hex = hex sprintf("%02x", code[substr(text, i, 1)])
		return hex
	}
	function option(type, hex) { return number(type, 2) number(length(hex) / 2, 2) padded(hex) }
	function block(type, body,  size) {
		size = 12 + length(padded(body)) / 2
		printf "%s%s%s%s", number(type, 4), number(size, 4), padded(body), number(size, 4)
	}
	# A time: in microseconds, or in nanoseconds from 1700000000 s on; new ones since 1970.
	function stamp(seconds, ns, interface,  high, low, factor) {
		if (!new && interface) { seconds -= 1700000000 }
		factor = new || interface ? 1e9 : 1e6
		low = seconds % 65536 * factor + (factor == 1e9 ? ns : int(ns / 1000))
		high = int(seconds / 65536) * factor # times 2^16
		low += high % 65536 * 65536
		return number(int(high / 65536) + int(low / 4294967296), 4) number(low % 4294967296, 4)
	}
	NR == 1 {
		block(168627466, number(439041101, 4) number(1, 2) number(0, 2) "ffffffffffffffff" \
			(new ? option(1, hex_of(comment)) : "") option(1, hex_of("a comment")) "00000000")
		block(1, number(1, 2) "0000" number(0, 4) (new ? option(9, "09") "00000000" : ""))
		block(1, number(1, 2) "0000" number(0, 4) option(2, hex_of("eth1")) option(9, "09") \
			option(14, number(new ? 0 : 1700000000, 8)) "00000000")
		block(305419896, hex_of("of no known type, nor its length"))
		block(4, hex_of("names"))
	}
	{
		seconds = substr($1, 1, 10); ns = substr($1, 11); interface = NR % 3 == 0
		if (!interface) ns = int(ns / 1000) * 1000
		packet = sprintf("0200000000%02x0200000000%02x0800", $3, $2) \
			sprintf("45000032%04x4000400600000a0000%02x0a0000%02x", $4, $2, $3) \
			($2 < $3 ? "03e80050" : "005003e8") \
			sprintf("%08x0000000150182000000000000000000000000000000000", 10 * $4)
		size = number(length(packet) / 2, 4) number(length(packet) / 2, 4)
		if (NR % 7 == 0)
			block(2, number(interface, 2) "ffff" stamp(seconds, ns, interface) size padded(packet))
		else
			block(6, number(interface, 4) stamp(seconds, ns, interface) size padded(packet) \
				option(1, hex_of("packet " NR)) "00000000")
		if (NR % 20 == 0)
			block(3, number(length(packet) / 2, 4) packet)
	}
	END {
		block(5, number(0, 4) stamp(seconds, ns - ns % 1000, 0) \
			option(3, stamp(seconds, ns - ns % 1000, 0)) option(4, number(NR, 8)) "00000000")
	}')
	# shellcheck disable=SC2059 # the format is the bytes
	printf "$(printf '%s' "$hex" | sed 's/../\\x&/g')"
}

version=$(ctsync --version | sed -n '1s/.*) //p')

@test "captures of a run: no packet is received before it was sent" {
	net3=fixtures/net3
	ctsync -q $net3 --apply out
	[ "$(echo out/*)" = 'out/node1 out/node2 out/node2_node2.pcap out/node3 out/node3_node3.pcap' ]
	early 2=out/node2_node2.pcap 3=out/node3_node3.pcap
	[ "$(early 2=out/node2_node2.pcap 3=out/node3_node3.pcap)" = \
		'3579 packets, 0 received before they were sent' ]
	# All but the times, of each packet's head, is as it was.
	cmp -l out/node2_node2.pcap $net3/node2/node2.pcap | wc -l
	[ "$(stat -c %s out/node2_node2.pcap)" = "$(stat -c %s $net3/node2/node2.pcap)" ]
	# Without the traces, by packets alone.
	ctsync -q -t a=$net3/node2/node2.pcap -t b=$net3/node3/node3.pcap \
		--local a=10.7.0.2 --local b=10.7.0.3 --apply two
	[ "$(echo two/*)" = 'two/a.pcap two/b.pcap' ]
	[ "$(early 2=two/a.pcap 3=two/b.pcap)" = '3579 packets, 0 received before they were sent' ]
}

# tshark_early NODE=ADDRESS=FILE...: the same of captures of hosts with these addresses, as tshark
# reads them. Without an address the capture itself says what its host sent (`-i any`).
tshark_early()
{
	local each node address
	for each; do
		node=${each%%=*} address=${each#*=}
		tshark -r "${address#*=}" -T fields -E separator=, -e frame.time_epoch -e ip.src -e ip.dst \
			-e sll.pkttype -e ip.ttl -e ip.id -e tcp.srcport -e udp.srcport -e tcp.seq_raw -e tcp.ack_raw \
			-e tcp.flags -e tcp.len '(tcp or udp) and ip and not icmp' |
			sed "s/^/$node,${address%%=*},/"
	done | awk -F , '
	{
		sent = $2 == "" ? $6 == 4 : $4 == $2
		if (!sent && ($2 == "" ? $6 != 0 : $5 != $2))
			next # heard of others
		node = $1; stamp = $3
		$1 = $2 = $3 = $6 = ""
		n[$0, sent]++; of[$0, sent] = node; at[$0, sent] = stamp; keys[$0]
	}
	END {
		for (key in keys) {
			if (n[key, 0] != 1 || n[key, 1] != 1 || of[key, 0] == of[key, 1])
				continue
			both++
			split(at[key, 1], s, "."); split(at[key, 0], r, ".")
			early += r[1] < s[1] || (r[1] == s[1] && r[2] < s[2])
		}
		print both + 0 " packets, " early + 0 " received before they were sent"
	}'
}

@test "tshark: of recorded runs no packet is received before it was sent" {
	ctsync -q fixtures/net3 --apply net3
	[ "$(tshark_early 2=10.7.0.2=net3/node2_node2.pcap 3=10.7.0.3=net3/node3_node3.pcap)" = \
		'3579 packets, 0 received before they were sent' ]
	[ "$(tshark_early 2=10.7.0.2=fixtures/net3/node2/node2.pcap 3=10.7.0.3=fixtures/net3/node3/node3.pcap |
		cut -d ' ' -f 1-3)" = '3579 packets, 1788' ]
	ctsync -q "$CT_SOURCE/datasets/sample" --apply sample
	[ "$(tshark_early 2=10.7.0.2=sample/node2_node2.pcap 3=10.7.0.3=sample/node3_node3.pcap)" = \
		'788 packets, 0 received before they were sent' ]
	ctsync -q fixtures/containers/any --apply any
	[ "$(tshark_early A==any/nodeA.pcap B==any/nodeB.pcap)" = '236 packets, 0 received before they were sent' ]
	# A trace.dat keeps its times; the captures beside it are written.
	mkdir run
	cp -rL fixtures/ftrace/node1 fixtures/ftrace/node2 run
	rm -r run/*/kernel
	ends_with 1 ctsync -q run --apply ftrace
	[ "$(cat "$scratch/stderr")" = \
		"$(printf 'ctsync: run/%s/trace.dat: a trace.dat keeps its times (only CTF traces and captures get corrected ones)\n' node1 node2)" ]
	[ "$(tshark_early 1=10.7.0.1=ftrace/node1_node1.pcap 2=10.7.0.2=ftrace/node2_node2.pcap)" = \
		'15 packets, 0 received before they were sent' ]
}

@test "a pcapng keeps all but its times, in either byte order" {
	talk 50 1 0 >a
	talk 50 2 3000123456 >b
	for order in little big; do
		blocks $order old <a >a.pcapng
		blocks $order old <b >b.pcapng
		for own in a b; do
			ends_with 0 ctsync -q a.pcapng b.pcapng -r $own "${ab[@]}" --apply out
			grep -q "^out/$own.pcapng: on the clock of $own, off by at most 0 ns (exact)$" "$scratch/stdout"
			COMMENT="clustertrace $version, ctsync --apply: on the clock of $own, off by at most 0 ns (exact)" \
				blocks $order new <$own >wanted
			cmp wanted out/$own.pcapng
			# The other one is on that clock now.
			ends_with 0 ctsync --stats out/a.pcapng out/b.pcapng "${ab[@]}"
			grep -q '^a b  *50/50 .* 0>0 ' "$scratch/stdout"
			rm -r out
		done
	done
}

@test "a pcap of microseconds becomes one of nanoseconds" {
	talk 50 1 0 >a
	awk '{ $1 = substr($1, 1, 16) "000" } 1' a | captured wanted
	talk 50 2 3000123456 | captured b.pcap
	awk '{ print substr($1, 1, 10) "000" substr($1, 11, 6), $2, $3, $4 }' a | captured a.pcap
	printf '\xa1\xb2\xc3\xd4' | dd of=a.pcap conv=notrunc status=none
	ends_with 0 ctsync -q a.pcap b.pcap -r a "${ab[@]}" --apply out
	cmp wanted out/a.pcap
	[ "$(early 1=out/a.pcap 2=out/b.pcap)" = '100 packets, 0 received before they were sent' ]
	[ "$(early 1=wanted 2=b.pcap)" = '100 packets, 50 received before they were sent' ]
}

@test "compressed and rotated captures" {
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 >b
	captured b.pcap <b
	ctsync -q a.pcap b.pcap -r a "${ab[@]}" --apply plain
	gzip -k a.pcap
	zstd -q b.pcap
	ctsync -q a.pcap.gz b.pcap.zst -r a "${ab[@]}" --apply out
	cmp out/a.pcap plain/a.pcap
	cmp out/b.pcap plain/b.pcap
	# Parts stay files of their own.
	mkdir -p run/a run/b
	mv a.pcap run/a
	head -n 60 b | captured run/b/b.pcap0
	tail -n +61 b | captured run/b/b.pcap1
	ctsync -q run -r a --local a=10.0.0.1 --local b=10.0.0.2 --apply parts
	[ "$(echo parts/* parts/b/*)" = 'parts/a.pcap parts/b parts/b/b.pcap0 parts/b/b.pcap1' ]
	{
		cat parts/b/b.pcap0
		tail -c +25 parts/b/b.pcap1
	} | cmp - plain/b.pcap
}

@test "a capture that is broken is written up to the break" {
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 >b
	captured b.pcap <b
	size=$(stat -c %s b.pcap)
	head -n 99 b | captured whole
	truncate -s $((size - 5)) b.pcap
	ends_with 1 ctsync -q a.pcap b.pcap -r b "${ab[@]}" --apply out
	grep -q '^out/b.pcap: on the clock of b, .*; packets after its break are omitted$' "$scratch/stdout"
	grep -q '^ctsync: b.pcap: cut in the middle of a packet after 99 packets' "$scratch/stderr"
	cmp whole out/b.pcap
	blocks little old <b >b.pcapng
	ctsync -q a.pcap b.pcapng -r b "${ab[@]}" --apply blocks
	size=$(stat -c %s b.pcapng)
	# A block that claims more than there is.
	printf '\x06\0\0\0\xff\xff\xff\x7f' >>b.pcapng
	ends_with 1 ctsync -q a.pcap b.pcapng -r b "${ab[@]}" --apply out2
	cmp blocks/b.pcapng out2/b.pcapng
}

@test "captures that nothing ties" {
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 >b
	# One direction only: the bound is open.
	awk '$2 == 1' b | captured b.pcap
	ends_with 3 ctsync -q a.pcap b.pcap -r a "${ab[@]}" --apply one
	grep -q '^one/b.pcap: on the clock of a, off by an unknown time (incomplete)$' "$scratch/stdout"
	# Other packets: times stay.
	awk '{ $4 += 1000 } 1' b | captured b.pcap
	ends_with 3 ctsync -q a.pcap b.pcap -r a "${ab[@]}" --apply other
	grep -q '^other/b.pcap: times as recorded, because no message ties its clock to another one$' "$scratch/stdout"
	cmp b.pcap other/b.pcap
	# No packet at all.
	head -c 24 a.pcap >b.pcap
	ends_with 3 ctsync -q a.pcap b.pcap -r a "${ab[@]}" --apply none
	cmp b.pcap none/b.pcap
}

@test "times that are absurd, or of a clock that was set" {
	talk 50 1 0 | captured a.pcap
	talk 50 2 3000123456 >b
	sed '50i 0000000000000000001 1 2 999' b | captured b.pcap
	ends_with 0 ctsync -q a.pcap b.pcap -r a "${ab[@]}" --apply out
	grep -q '^out/b.pcap: .*; 1 packets keep their time, which is invalid$' "$scratch/stdout"
	[ "$(early 1=out/a.pcap 2=out/b.pcap)" = '100 packets, 0 received before they were sent' ]
	# Set back by 4 s: each packet at its time, though recorded times come twice.
	awk 'NR > 60 { $1 = substr($1, 1, 10) - 4 substr($1, 11) } 1' b | captured b.pcap
	ends_with 0 ctsync -q a.pcap b.pcap -r a "${ab[@]}" --apply set
	[ "$(early 1=set/a.pcap 2=set/b.pcap)" = '100 packets, 0 received before they were sent' ]
	records set/b.pcap | sort -c -k 1,1n -k 2,2n
}

@test "received packets by another clock than sent ones" {
	scenario=$(sed '/^card/d' "$CT_SOURCE/datasets/simulate/scenarios/cardfree.scenario")
	printf '%s\n' "$scenario" >one.scenario
	ctsim -q --seed 1 --captures one.scenario -o one
	ctsync -q one -o one.json --apply one.out
	! grep -q second_clocks one.json || false
	for card in 'card_s 37' 'card_s -1000.25,card_free yes,card_ppm 80'; do
		rm -rf two two.out
		{ cat one.scenario; tr , '\n' <<<"$card"; } >two.scenario
		ctsim -q --seed 1 --captures two.scenario -o two
		ends_with 0 ctsync -q two -o two.json --apply two.out
		grep -q 'two clocks in one capture' "$scratch/stderr"
		# Times are those of one clock, but for what the order of packets leaves open: a
		# received packet has at most the time at which the node sends again.
		for node in node1 node2; do
			records two.out/$node.pcap >two.times
			records one.out/$node.pcap | paste -d ' ' - two.times |
				awk -v most="$([ "$card" = 'card_s 37' ] && echo 0 || echo 25000)" '
				{ late = ($5 - $1) * 1e9 + $6 - $2; odd += $4 != $8 || late < 0 || late > most }
				END { if (NR < 1000 || odd) { print NR " packets, " odd " odd"; exit 1 } }'
		done
		early 1=two.out/node1.pcap 2=two.out/node2.pcap | grep -q '^[1-9][0-9]* packets, 0 received before they were sent$'
		# Packets files have the second clocks, too.
		for node in node1 node2 node3; do
			ctsync -q --extract $node.packets two/$node
		done
		ends_with 0 ctsync -q node?.packets -o packets.json
		sed -n '/"second_clocks"/,/\]/p' two.json >wanted
		[ "$(wc -l <wanted)" = 5 ]
		sed -n '/"second_clocks"/,/\]/p' packets.json | cmp - wanted
	done
	# The card is 80 ppm fast, and node1 1 ppm.
	grep -q '{"trace": "node1", "scale": "", "local_ns": [0-9]*, "ahead_ns": -1001779[0-9]*, "high_ns": [0-9]\{5\}, "fast_ppb": 788[0-9.]*}' wanted
}

# editcap names itself in the section's header, whose copy is larger than what was reserved.
@test "a section with long options is copied with its length at both ends" {
	local node length
	for node in node1 node2; do
		mkdir -p run/$node
		cp "$CT_SOURCE/tests/fixtures/ftrace/$node"/{node.json,$node.pcap} run/$node
	done
	ends_with 0 ctsync -q run --apply out
	for node in node1 node2; do
		length=$(od -An -t u4 -j 4 -N 4 out/$node.pcap)
		[ "$length" -gt 150 ]
		[ "$(od -An -t u4 -j $((length - 4)) -N 4 out/$node.pcap)" -eq "$length" ]
	done
}
