/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TRANSPORT_H
#define CT_SIMULATE_TRANSPORT_H

#include "simulate/world.h"

/*
 * TCP, UDP and ICMP between the two ends of a flow, as far as packets show it.
 * TCP sends one window of up to 64 segments, waits until all of it was
 * acknowledged, and sends again what was not in time (RFC 6298) or what three
 * repeated acknowledgements ask for (RFC 5681). Connections stand before the
 * run begins.
 */

/* The most that transport_send takes at once. */
uint64_t transport_most(const struct flow *flow);

/* Whether all that this end sent was acknowledged; true but for TCP. */
bool transport_is_answered(const struct flow *flow, int side);

/* Send data; returns when the processor is done with it. */
nsec_t transport_send(struct world *world, uint32_t flow, int side, uint64_t bytes,
		      nsec_t now);

/*
 * Take a parcel at its destination, on behalf of the kernel there; with `more`
 * the next ones of the same flow come at once. Returns when it is done.
 */
nsec_t transport_receive(struct world *world, const struct parcel *parcel, bool more,
			 nsec_t now);

/* Time to look whether something must be sent again. */
nsec_t transport_resend(struct world *world, uint32_t what, nsec_t now);

void transport_init(const struct world *world, struct flow *flow);

#endif
