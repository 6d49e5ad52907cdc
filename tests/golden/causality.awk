# SPDX-License-Identifier: GPL-3.0-or-later
#
# Reads what `babeltrace2 --clock-seconds TRACE...` prints. Prints how many TCP
# packets were both sent and received in it, and how many of them were received
# before they were sent. A packet is what both hosts see alike, and of a packet
# seen twice the first send and the first receive count.

function value(name,    rest)
{
	rest = $0
	if (!sub(".*[{,] " name " = ", "", rest))
		return ""
	sub(/ [,}].*|, [a-z].*/, "", rest)
	return rest
}

/ (net_dev_queue|net_if_receive_skb): .* ack_seq = / {
	# Nanoseconds since the epoch do not fit into a double.
	split(substr($1, 2), stamp, /[].]/)
	if (!base)
		base = stamp[1]
	at = (stamp[1] - base) * 1000000000 + stamp[2]
	packet = value("saddr") value("daddr") value("id") " " value("tot_len") " " \
		value("source_port") " " value("dest_port") " " value("seq") " " \
		value("ack_seq") " " value("flags") " " value("window_size")
	if (/ net_dev_queue: /) {
		if (!(packet in sent) || at < sent[packet])
			sent[packet] = at
	} else if (!(packet in received) || at < received[packet]) {
		received[packet] = at
	}
}

END {
	for (packet in received)
		if (packet in sent) {
			both++
			early += received[packet] < sent[packet]
		}
	printf "%d packets, %d received before they were sent\n", both, early
}
