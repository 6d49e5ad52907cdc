/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_CURVATURE_H
#define CT_SYNC_BEND_CURVATURE_H

#include "sync/sync.h"

/*
 * Whether a clock bends, though some line satisfies all of its messages.
 *
 * About that line, the shortest latency of a piece of time is what it is by the
 * network and the load, plus the bend in the one direction, less the bend in the
 * other. So a bend shows in both directions with opposite signs, while load
 * lengthens one of them, or both.
 */
enum { PIECES_LEAST = 8, PIECES_MOST = 64 };

/* Of a piece of time: the least slack of its messages to the line. */
struct piece {
	double above, below; /* of those above the line, and below; INFINITY: none */
};

/* Pieces without messages yet. */
void pieces_init(struct piece *piece, size_t pieces);

/* Take in a message's distance from the line; its time as a share of all pieces. */
void piece_note(struct piece *piece, size_t pieces, double share, bool above,
		double slack);

/*
 * Whether the pieces, of one length and in their order, prove a bend that the
 * latencies do not explain; at their own length, and joined by twos, fours and so on.
 * `room_ns` is the least slack of all. Overwrites the pieces; their number is a
 * power of two.
 */
bool curvature_is_proved(struct piece *piece, size_t pieces, double room_ns);

/* Whether values at some times, of which the last is `last`, lie on a line. */
bool curvature_is_none(const double *at, const double *value, size_t last,
		       double tolerance);

/*
 * Which of the tree's pairs, though some line satisfies all of their messages,
 * are of clocks that bend. One walk over the messages. Sets curved[pair]. 0, or -1
 * with error.
 */
int curvature_find(struct sync *sync, bool *curved, struct error *error);

#endif
