# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Captures made by hand: `load capture`, after `load ctf`. Hosts have a number: host 7 is
# 10.0.0.7 and 02:00:00:00:00:07. Times are nanoseconds after 2023-11-14T22:13:20Z.

# pcap_head: of a pcap of nanoseconds and Ethernet.
pcap_head()
{
	le 4 0xa1b23c4d
	le 2 2 4
	le 4 0 0 65535 1
}

# pcap_packet TIME FROM TO ID: UDP, without data.
pcap_packet()
{
	le 4 $((1700000000 + $1 / 1000000000)) $(($1 % 1000000000)) 42 42
	be 2 0x0200 0 "$3" 0x0200 0 "$2" 0x0800
	be 2 0x4500 28 "$4" 0 0x4011 0 0x0a00 "$2" 0x0a00 "$3"
	be 2 1000 2000 8 0
}

# pcap_talk NODE OTHER FIRST LAST LATE: messages in turns, one every 10 ms; each takes 1 ms.
# The packets as NODE saw them, whose clock is ahead by LATE ns; even ones are its own.
pcap_talk()
(
	pcap_head
	for ((i = $3; i <= $4; i++)); do
		at=$((i * 10000000 + $5))
		if ((i % 2 == ($1 > $2))); then
			pcap_packet "$at" "$1" "$2" "$i"
		else
			pcap_packet $((at + 1000000)) "$2" "$1" "$i"
		fi
	done
)

# pcap_data TIME FROM TO PROTOCOL ID SEQUENCE ACKNOWLEDGED BYTES: a packet without its data.
# PROTOCOL is 6 or 17; FROM and TO are 10.0.X.Y:PORT as X.Y:PORT.
pcap_data()
{
	local from=${2%:*} to=${3%:*} header=8
	[ "$4" = 17 ] || header=20
	le 4 $((1700000000 + $1 / 1000000000)) $(($1 % 1000000000)) $((34 + header)) $((34 + header + $8))
	be 2 0x0200 0 2 0x0200 0 1 0x0800
	be 2 0x4500 $((20 + header + $8)) "$5" 0x4000 $((0x4000 + $4)) 0
	be 2 0x0a00 $((${from%.*} * 256 + ${from#*.})) 0x0a00 $((${to%.*} * 256 + ${to#*.})) "${2#*:}" "${3#*:}"
	if [ "$4" = 17 ]; then
		be 2 $((8 + $8)) 0
	else
		be 4 "$6" "$7"
		be 2 0x5018 500 0 0
	fi
}

# pcap_translated KIND PROTOCOL COUNT: a run of two clients with port 5000, which in turns send COUNT
# requests each to port 80 of the server, one every 10 ms. Each packet takes 1 ms; the server 2 ms. With
# KIND snat clients are 10.0.1.9, with dnat the server is 10.0.1.8:8080, with both either.
pcap_translated()
(
	for node in 1 2 3; do
		mkdir -p "run/n$node"
		pcap_head >"run/n$node/a.pcap"
		printf '{"interfaces": [{"addresses": ["10.0.0.%d"]}]}' "$node" >"run/n$node/node.json"
	done
	for ((i = 0; i < 2 * $3; i++)); do
		client=$((i % 2 + 1)) at=$((i * 10000000)) n=$((i / 2)) given=0.3:80
		own=0.$client:5000
		seen=$own
		[ "$1" = snat ] || given=1.8:8080
		[ "$1" = dnat ] || seen=1.9:$((40000 + client))
		asked=("$2" $((100 * client + n)) $((1000 * client + n * 10)) $((n * 20)) 10)
		given_back=("$2" $((7000 + i)) $((n * 20)) $((1000 * client + n * 10 + 10)) 20)
		pcap_data "$at" "$own" "$given" "${asked[@]}" >>"run/n$client/a.pcap"
		pcap_data $((at + 1000000)) "$seen" 0.3:80 "${asked[@]}" >>run/n3/a.pcap
		pcap_data $((at + 3000000)) 0.3:80 "$seen" "${given_back[@]}" >>run/n3/a.pcap
		pcap_data $((at + 4000000)) "$given" "$own" "${given_back[@]}" >>"run/n$client/a.pcap"
	done
)

# pcapng_head: of a pcapng of one interface, Ethernet and nanoseconds.
pcapng_head()
{
	le 4 0x0a0d0d0a 28 0x1a2b3c4d
	le 2 1 0
	le 4 0xffffffff 0xffffffff 28
	le 4 1 32
	le 2 1 0
	le 4 0
	le 2 9 1
	le 4 9
	le 2 0 0
	le 4 32
}

# pcapng_packet DROPPED TIME FROM TO ID: as pcap_packet, after DROPPED packets that are missing.
pcapng_packet()
{
	local at=$((1700000000000000000 + $2))
	le 4 6 92 0 $((at >> 32)) $((at & 0xffffffff)) 42 42
	be 2 0x0200 0 "$4" 0x0200 0 "$3" 0x0800
	be 2 0x4500 28 "$5" 0 0x4011 0 0x0a00 "$3" 0x0a00 "$4"
	be 2 1000 2000 8 0 0
	le 2 4 8
	le 4 "$1" 0
	le 2 0 0
	le 4 92
}

# pcapng_statistics TIME DROPPED-BY-INTERFACE DROPPED-BY-SYSTEM
pcapng_statistics()
{
	local at=$((1700000000000000000 + $1))
	le 4 5 52 0 $((at >> 32)) $((at & 0xffffffff))
	le 2 5 8
	le 4 "$2" 0
	le 2 7 8
	le 4 "$3" 0
	le 2 0 0
	le 4 52
}
