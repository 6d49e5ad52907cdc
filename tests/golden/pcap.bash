# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Captures made by hand: `load pcap`.

# captured FILE: write a capture, with nanoseconds, of the lines on standard input:
# NANOSECONDS FROM TO NUMBER [VLAN]. Each is ten bytes of TCP data from 10.0.0.FROM to
# 10.0.0.TO, and the NUMBER gives its IPv4 identification and sequence number.
captured()
{
	local hex
	hex=$(
		printf 'a1b23c4d0002000400000000000000000000008000000001'
		awk '{
			split_at = length($1) - 9
			tag = $5 == "" ? "" : sprintf("8100%04x", $5)
			size = 64 + length(tag) / 2
			printf "%08x%08x%08x%08x", substr($1, 1, split_at), substr($1, split_at + 1), size, size
			printf "0200000000%02x0200000000%02x%s0800", $3, $2, tag
			printf "45000032%04x400040060000" "0a0000%02x0a0000%02x", $4, $2, $3
			printf $2 < $3 ? "03e80050" : "005003e8"
			printf "%08x00000001501820000000000000000000000000000000", 10 * $4
		}'
	)
	# shellcheck disable=SC2059 # the format is the bytes
	printf "$(printf '%s' "$hex" | sed 's/../\\x&/g')" >"$1"
}

# talk COUNT HOST SKEW [MORE]: for `captured`, what host 1 or 2 has of COUNT packets from
# 1 to 2 and as many back, 50 ms apart, by a clock that is SKEW ns ahead. They take 100 us
# and some. Stamps of received packets are MORE ns later than that.
talk()
{
	awk -v count="$1" -v me="$2" -v skew="$3" -v rx="${4:-0}" 'BEGIN {
		for (i = 0; i < 2 * count; i++) {
			from = 1 + i % 2
			ns = i * 50000000 + skew + (from == me ? 0 : 100000 + i * 7919 % 30000)
			s = int(ns / 1e9)
			if (from != me) {
				ns += rx % 1e9
				s = int(ns / 1e9) + int(rx / 1e9)
			}
			ns = (ns % 1e9 + 1e9) % 1e9
			printf "%d%09d %d %d %d\n", 1700000000 + s, ns, from, 3 - from, 1 + i
		}
	}'
}
