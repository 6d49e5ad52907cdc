/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_PAIR_H
#define CT_SYNC_PAIR_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/nsec.h"
#include "base/spill.h"
#include "clock/clock.h"
#include "input/packet_files.h"

/*
 * Half convex hulls of messages (Duda et al. 1987; Poirier, Roy and Dagenais
 * 2010).
 *
 * One point is one message between two clocks: x by the first, y by the
 * second. A message from the first to the second was received after it was
 * sent, so it lies on or above the clocks' true relation, and only the lower
 * hull of such messages can bound that relation; a message the other way lies
 * on or below it, and only their upper hull counts. Orientation is computed
 * in 128 bits and is exact for any stamps less than 146 years apart.
 */
struct hull_point {
	nsec_t x, y;
};

/* For qsort, by x and then y. */
int hull_point_compare(const void *a, const void *b);

/*
 * Orientation of three points: positive where the way from a over b to c
 * turns left, 0 where they are in line. Only the sign means something.
 */
int hull_turn(struct hull_point a, struct hull_point b, struct hull_point c);

/*
 * Reduce point[0..n), sorted by x and then y, to its lower (or upper) hull,
 * in place; returns how many points are left.
 */
size_t hull_reduce(struct hull_point *point, size_t n, bool upper);

/* A lower or upper hull that points are added to in any order. Zeroed is an empty lower
 * one. */
struct hull {
	bool upper;
	struct hull_point *point; /* corners by ascending x, then what was added since */
	size_t count, total, capacity;
};

/* Add a message. Amortized logarithmic in the corners. */
void hull_add(struct hull *hull, nsec_t x, nsec_t y);

/* Bring the corners up to date; to be called before they are read. */
void hull_settle(struct hull *hull);

/* Forget all points, keep the side. */
void hull_reset(struct hull *hull);

void hull_clear(struct hull *hull);

/*
 * A line between two clocks: y = y0 + (x - x0) + offset + rate * (x - x0),
 * with offset in nanoseconds and rate without unit. x0 and y0 are the pair's
 * own origin, so that no double ever holds an epoch time.
 */
struct line {
	nsec_t x0, y0;
	double offset, rate;
};

/* How far y lies above the line at x, in nanoseconds. */
double line_distance(const struct line *line, nsec_t x, nsec_t y);

/* The rate of a line along the edge that ends at the k-th corner. */
double hull_edge_rate(const struct hull *hull, size_t k);

/* Of a hull, the corner that lies farthest over to the other side of a line. */
struct hull_inner {
	double distance; /* as line_distance; infinite for an empty hull */
	double x;        /* since the line's origin */
};

struct hull_inner hull_innermost(const struct hull *hull, const struct line *line);

/*
 * The smallest distance by which the points lie on their side of the line:
 * negative where a point is on the wrong side. Infinite for an empty hull.
 */
double hull_slack(const struct hull *hull, const struct line *line);

/*
 * Of points in any order only those at the corners of their lower (upper) hull, by x;
 * returns how many. What a line does to these, it does to all.
 */
size_t hull_corners(struct hull_point *point, size_t n, bool upper);

/* The value that stands at a rank of them all, from the least; puts them in order. */
double ranked(double *value, size_t n, size_t rank);

/*
 * Whether each hull has a corner to the left and to the right of one of the other: else
 * lines that separate them may be as steep, or as flat, as can be.
 */
bool hulls_face(const struct hull *lower, const struct hull *upper);

/*
 * A message: sent by one host and received by another, each stamp on its own
 * host's clock. It is a constraint, not a sample: it was received after it
 * was sent.
 */
struct message {
	uint32_t pair;     /* index in the pair table */
	bool forward : 1;  /* from the pair's a to its b */
	bool rejected : 1; /* left out as a false match */
	uint8_t protocol;  /* of its packet: IPPROTO_TCP, ...; 0: not known */
	uint16_t port;     /* the lower one, mostly the server's; 0: not known */
	nsec_t send_ns, recv_ns;
};

/*
 * Every message of a run, in the order of matching. The first ones are kept
 * in memory, the rest in an unnamed file in $TMPDIR, so that memory does not
 * grow with the run.
 */
struct message_log {
	struct message *block; /* what is not in the file yet */
	size_t used;
	struct spill spill;
	uint64_t count;
	bool has_ends;           /* of each message, to be set before the first */
	struct packet_rows rows; /* of the last ones */
	struct spill_chain ends; /* of the ones before */
	struct spill ends_spill;
};

/* The two events that a message was made of, and its packet as the receiver saw it. */
struct message_ends {
	struct messages_end send, recv; /* their sources: indexes, the caller's */
	struct messages_end first;      /* as in struct node_message */
	struct packet packet;
	struct packet_names sent; /* as in struct node_message */
	uint64_t number;          /* as in struct node_message */
	uint32_t offset;
};

/* Return a message as its receiver's node stores it. */
struct node_message message_of_receiver(const struct message_ends *ends);

void message_log_init(struct message_log *log);

/* 0, or -1 with error when the file cannot be made or written. */
int message_log_add(struct message_log *log, const struct message *message,
		    struct error *error);

/* The last message was added: all go to the file. 0, or -1 with error. */
int message_log_put_away(struct message_log *log, struct error *error);

/* Of a message more, where the log has ends; not after a walk. 0, or -1 with error. */
int message_log_add_ends(struct message_log *log, const struct message_ends *ends,
			 struct error *error);

/*
 * Hand the ends of every message that is not rejected to `look`, in order. 0, or -1 with
 * error, also where `look` returned other than 0.
 */
int message_log_walk_ends(struct message_log *log,
			  int (*look)(void *context, const struct message_ends *ends,
				      struct error *error),
			  void *context, struct error *error);

/*
 * Hand every message to `look`, in order, until it returns other than 0. With
 * `changed`, what look did to the message is kept. 0, or -1 with error.
 */
int message_log_walk(struct message_log *log, bool changed,
		     int (*look)(void *context, struct message *message), void *context,
		     struct error *error);

void message_log_clear(struct message_log *log);

/*
 * An even choice of a pair's messages, at most so many each way: those whose
 * stamps' hash is divisible by a power of two that is doubled whenever the
 * capacity is reached. The same messages give the same choice in whatever order
 * they come.
 */
struct sample_side {
	struct hull_point *point; /* in the pair's plane, by ascending x */
	size_t count, capacity;
	uint64_t every;
};

struct pair_sample {
	struct sample_side ab, ba;
};

/*
 * Choose from the log, at most `most` each way a pair; an array by pair, for
 * pair_samples_free. NULL with error on failure.
 */
struct pair_sample *pair_samples_new(struct message_log *log, size_t pairs, size_t most,
				     struct error *error);
void pair_samples_free(struct pair_sample *samples, size_t pairs);

/*
 * Two traces that exchange messages, reduced to what bounds their clocks. In
 * the plane of the pair x is a's local time and y is b's.
 */
struct pair {
	uint32_t a, b; /* indices of traces, a < b */
	uint64_t messages_ab, messages_ba;
	uint64_t rejected;
	struct hull lower;        /* of messages from a to b */
	struct hull upper;        /* of messages from b to a */
	struct hull_point origin; /* the first message, for differences */
	uint64_t violations_before, violations_after;
	nsec_t min_latency_ab_ns, min_latency_ba_ns; /* corrected; NSEC_MAX: none */
	enum clock_quality quality;
	struct line line;   /* the pair's own largest-margin line */
	double margin_ns;   /* its slack to both hulls; negative: contradiction */
	bool too_fast;      /* only lines beyond the drift limit satisfy its messages */
	bool is_doubtful;   /* many messages contradict others, but none was rejected */
	bool contradictory; /* no possible clocks do: its messages tie nothing */
};

struct pair_table {
	struct pair *pair;
	size_t count, capacity;
	struct intmap index; /* a and b -> index */
};

/* The pair of two traces, made when it is new; borrowed until the next call. */
uint32_t pair_table_find(struct pair_table *table, uint32_t a, uint32_t b);

/* The indices of the pairs by their traces, whatever order they were found in. */
uint32_t *pair_table_order(const struct pair_table *pairs);

/* Count a message in, and add it to its hull. */
void pair_add(struct pair *pair, const struct message *message);

/* The message as a point of its pair's plane. */
static inline struct hull_point pair_point(const struct message *message)
{
	return message->forward ? (struct hull_point){message->send_ns, message->recv_ns}
				: (struct hull_point){message->recv_ns, message->send_ns};
}

void pair_table_settle(struct pair_table *table);
void pair_table_clear(struct pair_table *table);

#endif
