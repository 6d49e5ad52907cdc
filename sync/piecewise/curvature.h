/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_CURVATURE_H
#define CT_SYNC_PIECEWISE_CURVATURE_H

#include "sync/network/network.h"

/*
 * Detection of clocks whose rate changes, though some line satisfies all their messages.
 *
 * Relative to that line, the shortest latency of a piece of time is that of the network
 * and the load, plus the curve in one direction and minus the curve in the other. So a
 * curve shows in both directions with opposite signs, while load lengthens one of them,
 * or both.
 */
enum { PIECES_LEAST = 8, PIECES_MOST = 64 };

/* The least slack to the line of the messages in a piece of time. */
struct piece {
	double above, below; /* distance of those above and below the line, or INFINITY */
};

/* Pieces without messages yet. */
void pieces_init(struct piece *piece, size_t pieces);

/* Take in a message's distance from the line; its time as a share of all pieces. */
void piece_note(struct piece *piece, size_t pieces, double share, bool above,
		double slack);

/*
 * Return true if the pieces, which are in order and of equal length, prove a curve that
 * the latencies do not explain, either at their own length or joined by twos, fours and
 * so on. `slack_ns` is the least slack of all. With `has_events`, steps and slews count
 * as well: they leave a few pieces less slack than the rest. Overwrites the pieces; their
 * number is a power of two.
 */
bool curvature_is_proved(struct piece *piece, size_t pieces, double slack_ns,
			 bool has_events);

/*
 * Find the tree's pairs of clocks whose rates change, though some line satisfies all of
 * their messages, and set curved[pair]. Walks over the messages once. Return 0, or -1
 * with error.
 */
int curvature_find(const struct network *net, bool *curved, struct error *error);

#endif
