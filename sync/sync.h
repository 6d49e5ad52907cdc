/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_SYNC_H
#define CT_SYNC_SYNC_H

#include "base/options.h"
#include "sync/judge/judge.h"

/* Synchronization as a whole: from observations to clocks. */
struct fit_options {
	const struct fit_method *method; /* NULL: by the number of clocks */
	double drift_limit_ppm;
	double max_rejected;   /* share of a pair's messages that may be left out */
	const char *reference; /* name, or NULL: the best connected */
	const struct text_list *trust; /* "claims" or names of nodes; NULL or empty:
					  claims are only tested */
	struct segment_options segments;
	struct bounds_options bounds;
};

struct synchronization {
	struct network network;
	struct latencies latencies;
	struct verdict verdict;
};

/*
 * Find the clocks and the messages between them, mark false matches, and make the graph.
 * Takes the log of `seen`, and borrows its traces. Return 0, or -1 with error;
 * clear in any case.
 */
int network_find(struct observations *seen, const struct fit_options *how,
		 struct network *net, struct problem_list *problems, struct error *error);

/* Do the first step of network_find: find the clocks and the reference, which is -1 if
 * how->reference is NULL. Return 0, or -1 with error; clear in any case. */
int network_begin(struct observations *seen, const struct fit_options *how,
		  struct network *net, int *reference, struct problem_list *problems,
		  struct error *error);

/* Do the other steps of network_find. Return 0, or -1 with error. */
int network_refine(struct network *net, const struct fit_options *how, int reference,
		   struct problem_list *problems, struct error *error);

/* Do the steps after network_find, up to the verdict. Return 0, or -1 with error. */
int synchronize_network(const struct fit_options *how, struct synchronization *sync,
			struct problem_list *problems, struct error *error);

/* Undo the steps after network_begin: the messages are kept, and none is marked. Return
 * 0, or -1 with error. */
int synchronization_reset(struct synchronization *sync, struct error *error);

void synchronization_clear(struct synchronization *sync);

#endif
