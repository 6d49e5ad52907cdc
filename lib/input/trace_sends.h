/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_TRACE_SENDS_H
#define CT_INPUT_TRACE_SENDS_H

#include "base/intmap.h"
#include "input/packet_source.h"

/*
 * When a packet left, from a kernel trace.
 *
 * net_dev_queue comes before the queueing discipline, which may hold the
 * packet long. net_dev_xmit is no answer: it is written after the driver
 * returned, when the other host may have the packet already. But one CPU
 * hands the packets of one device to its driver one after the other, so the
 * packet had surely not left before the *previous* net_dev_xmit of that CPU
 * and device. The later of that and net_dev_queue is the send's stamp.
 */
struct trace_sends {
	bool has_xmit;           /* net_dev_xmit is traced */
	struct intmap queued;    /* skb -> index of waiting */
	struct intmap last_xmit; /* CPU and device -> local time */
	struct waiting *waiting; /* packets between queue and xmit */
	size_t waitings, room;
	size_t free_list; /* index + 1 of a free one, or 0 */
	sighting_fn *give;
	void *context;
};

void trace_sends_init(struct trace_sends *sends, sighting_fn *give, void *context);

/* net_dev_queue of an skb; gives the send now or when it is transmitted. */
void trace_sends_queued(struct trace_sends *sends, uint64_t skb,
			const struct sighting *sighting);

/* net_dev_xmit; `taken` says that the driver took the packet. */
void trace_sends_transmitted(struct trace_sends *sends, uint64_t skb, uint32_t device,
			     unsigned cpu, nsec_t local_ns, bool taken);

/* Give what still waits, at its queueing time. */
void trace_sends_flush(struct trace_sends *sends);

void trace_sends_clear(struct trace_sends *sends);

#endif
