/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SIMULATE_H
#define CT_SIMULATE_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "simulate/scenario.h"
#include "simulate/world.h"
#include "simulate/writer.h"

/* One run: what happens, and what is written about it. */
struct simulation {
	const struct scenario *scenario; /* checked */
	uint64_t seed;
	const char *directory;        /* which is there, and empty */
	bool messages;                /* messages.csv alone, or else: */
	bool captures;                /* NODE/NODE.pcap instead of NODE/kernel */
	enum sim_trace_format format; /* of traces */
	bool spans; /* spans.csv, requests.csv; with activity full and traces */
	bool quiet; /* no progress */
};

struct simulation_counts {
	uint64_t messages, events;
	double seconds; /* that it took */
};

/* 0, or -1 with error; then what was written is not complete. */
int simulate(const struct simulation *simulation, struct simulation_counts *counts,
	     struct error *error);

#endif
