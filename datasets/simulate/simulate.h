/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SIMULATE_H
#define CT_SIMULATE_SIMULATE_H

#include "simulate/world.h"

/* One run: the scenario and the outputs. */
struct simulation {
	const struct scenario *scenario; /* checked */
	uint64_t seed;
	const char *directory;        /* an existing, empty directory */
	bool messages;                /* write messages.csv only */
	bool captures;                /* write NODE/NODE.pcap instead of NODE/kernel */
	enum sim_trace_format format; /* format of the traces */
	bool spans; /* spans.csv, requests.csv; with activity full and traces */
	bool quiet; /* no progress */
};

struct simulation_counts {
	uint64_t messages, events;
	double seconds; /* duration of the simulation itself */
};

/* Simulate a run. Return 0, or -1 with error; the output is then incomplete. */
int simulate(const struct simulation *simulation, struct simulation_counts *counts,
	     struct error *error);

#endif
