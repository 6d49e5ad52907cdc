# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Small CTF 1.8 traces made by hand: `load ctf`. One packet a stream, and of
# the fields of lttng-modules 2.13 only those that are read.

# le SIZE VALUE..., be SIZE VALUE...: integers of SIZE bytes.
le()
{
	local size=$1 value i byte bytes=
	shift
	for value; do
		for ((i = 0; i < size; i++)); do
			printf -v byte '\\x%02x' $((value >> 8 * i & 255))
			bytes+=$byte
		done
	done
	# shellcheck disable=SC2059 # the format is the bytes
	printf "$bytes"
}

be()
{
	local size=$1 value i byte bytes=
	shift
	for value; do
		for ((i = size - 1; i >= 0; i--)); do
			printf -v byte '\\x%02x' $((value >> 8 * i & 255))
			bytes+=$byte
		done
	done
	# shellcheck disable=SC2059
	printf "$bytes"
}

packet_fields='
	uint64_t _skbaddr;
	string _name;
	enum : uint8_t { "_unknown" = 0, "_ipv4" = 1 } _network_header_type;
	variant <_network_header_type> {
		struct { } _unknown;
		struct {
			uint8_t _ihl;
			net16_t _tot_len;
			net16_t _id;
			net16_t _frag_off;
			uint8_t _protocol;
			uint8_t _saddr[4];
			uint8_t _daddr[4];
			enum : uint8_t { "_unknown" = 0, "_tcp" = 1 } _transport_header_type;
			variant <_transport_header_type> {
				struct { } _unknown;
				struct {
					net16_t _source_port;
					net16_t _dest_port;
					net32_t _seq;
					net32_t _ack_seq;
					uint8_t _data_offset;
					uint8_t _flags;
					net16_t _window_size;
				} _tcp;
			} _transport_header;
		} _ipv4;
	} _network_header;'

# ctf_metadata HOST: all but the events, of a clock that begins at the epoch.
ctf_metadata()
{
	cat <<-END
	/* CTF 1.8 */
	typealias integer { size = 8; align = 8; } := uint8_t;
	typealias integer { size = 16; align = 8; } := uint16_t;
	typealias integer { size = 32; align = 8; } := uint32_t;
	typealias integer { size = 64; align = 8; } := uint64_t;
	typealias integer { size = 16; align = 8; byte_order = be; } := net16_t;
	typealias integer { size = 32; align = 8; byte_order = be; } := net32_t;
	trace {
		major = 1; minor = 8; byte_order = le;
		packet.header := struct { uint32_t magic; uint32_t stream_id; };
	};
	env { hostname = "$1"; };
	clock { name = c; freq = 1000000000; };
	typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp_t;
	stream { id = 0; event.header := struct { uint16_t id; stamp_t stamp; }; };
	END
}

# ctf_event ID NAME FIELDS [STREAM]
ctf_event()
{
	printf 'event { name = "%s"; id = %d; stream_id = %d; fields := struct {%s }; };\n' \
		"$2" "$1" "${4:-0}" "$3"
}

# ctf_trace DIRECTORY HOST: a trace with the two events that matter.
ctf_trace()
{
	mkdir -p "$1"
	{
		ctf_metadata "$2"
		ctf_event 0 net_dev_queue "$packet_fields"
		ctf_event 1 net_if_receive_skb "$packet_fields"
	} >"$1/metadata"
	le 4 0xc1fc1fc1 0 >"$1/stream"
}

# ctf_packet DIRECTORY queue|receive NS FROM TO NUMBER: one more event, of the
# TCP packet with that number from 10.0.0.FROM to 10.0.0.TO.
ctf_packet()
{
	local id=0
	[ "$2" = queue ] || id=1
	{
		le 2 $id
		le 8 "$3" "$6"
		printf 'eth0\0'
		le 1 1 5
		be 2 140 "$6" 0
		le 1 6 10 0 0 "$4" 10 0 0 "$5" 1
		be 2 7000 7001
		be 4 $((100 * $6)) 0
		le 1 5 16
		be 2 500
	} >>"$1/stream"
}

# ctf_bare DIRECTORY queue|receive NS: an event without headers.
ctf_bare()
{
	local id=0
	[ "$2" = queue ] || id=1
	{
		le 2 $id
		le 8 "$3" 7
		printf 'eth0\0'
		le 1 0
	} >>"$1/stream"
}

# ctf_talk A B OFFSET COUNT: packets there and back, 1 ms on the way, once a
# second, between 10.0.0.1 in A and 10.0.0.2 in B, whose clock is OFFSET ns ahead.
ctf_talk()
(
	for ((i = 0; i < $4; i++)); do
		at=$(((1700000000 + i) * 1000000000))
		ctf_packet "$1" queue $at 1 2 $((2 * i))
		ctf_packet "$2" receive $((at + $3 + 1000000)) 1 2 $((2 * i))
		ctf_packet "$2" queue $((at + $3 + 2000000)) 2 1 $((2 * i + 1))
		ctf_packet "$1" receive $((at + 3000000)) 2 1 $((2 * i + 1))
	done
)
