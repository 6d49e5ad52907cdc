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
	trap - DEBUG # bats looks at every command, which takes seconds here
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
