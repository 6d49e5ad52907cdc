/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_GRAPHITE_GRAPHITE_H
#define CT_EXPORT_GRAPHITE_GRAPHITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/problem.h"

struct graphite_point {
	const char *path; /* borrowed for the call */
	int64_t seconds;  /* since the epoch */
	double value;     /* finite */
};

/* Host and port of an address; `port` stays where there is none in it. For free(). -1
 * with error where it is none. */
int graphite_split(const char *address, char **host, char **port, struct error *error);

/*
 * Points as carbon reads them: a line "PATH VALUE SECONDS" each; or messages of a length
 * in 4 bytes, highest first, and a pickle of a list of (path, (seconds, value)), by the
 * second of Python's pickle protocols (PEP 307), up to 500 points each.
 *
 * They go to a file, or to a carbon server, so that none is lost.
 *
 * carbon acknowledges nothing, and what TCP took may be lost with the connection. So each
 * batch has a connection of its own: when it is sent our side is closed, and carbon,
 * which reads up to that end, closes its own. Only then the batch counts as delivered.
 * If the connection breaks before, or there is none, the batch is sent again, after
 * pauses that grow, for as long as `patience` says. A point that comes twice is no harm:
 * it has the same time and value.
 *
 * The state, a file, says how many points were delivered: an export that gave up, or was
 * killed, goes on from there.
 */
struct graphite_sender {
	bool pickle;
	unsigned batch; /* points */
	FILE *file;     /* NULL: to a server */
	const char *file_name;
	const char *address; /* for messages */
	const char *host, *port;
	double patience_s;          /* how long to try to deliver a batch */
	const char *state;          /* file, or NULL */
	const char *key;            /* what is exported; a state of another is refused */
	struct problem_list *notes; /* of connections that were lost */
	/* Its own. */
	struct bytes bytes; /* the batch */
	size_t message;     /* where the open message begins */
	unsigned points;    /* in it, 0: none is open */
	unsigned waiting;   /* points in the batch */
	uint64_t skip;      /* points yet to come that were delivered before */
	uint64_t delivered;
};

/* Read the state. 0, or -1 with error. */
int graphite_sender_begin(struct graphite_sender *sender, struct error *error);

/* Connects when there is a batch. */
int graphite_send(struct graphite_sender *sender, const struct graphite_point *point,
		  struct error *error);

/* Deliver the rest, and remove the state: all is there. 0, or -1 with error. */
int graphite_sender_end(struct graphite_sender *sender, struct error *error);

#endif
