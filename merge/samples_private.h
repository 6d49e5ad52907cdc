/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SAMPLES_PRIVATE_H
#define CT_MERGE_SAMPLES_PRIVATE_H

/* For the files that take in what nodes sampled; everybody else: samples.h. */
#include "base/texts.h"
#include "merge/samples.h"
#include "merge/stamps.h"

/* What all of them share, and which node's file is read. */
struct sampler {
	struct merge_run *run;
	const struct selection *selection;
	const struct processes *processes;
	struct timeline_writer *writer;
	struct error *error;
	struct texts metrics, items; /* those that have rows; a number + 1 is the id */
	uint32_t node;
	struct stamps stamps;
	uint64_t far; /* of the file at hand: stamps outside of the run */
};

/*
 * The id of a metric or of an item of that type; adds its row where it is new. The
 * id in the struct is not looked at. -1 with the sampler's error.
 */
int64_t sampler_metric(struct sampler *sampler, const struct timeline_metric *metric);
int64_t sampler_item(struct sampler *sampler, const char *type, const char *name);

/* Whether the user wants what a node has at a time; one outside of the run is counted,
 * and not wanted. */
bool sampler_wants(struct sampler *sampler, nsec_t ts_ns);

/* Add one; NULL item type: it is the node's as a whole. 0, or -1 with error. */
struct sampled {
	struct timeline_metric metric;
	const char *item_type, *item;
	nsec_t ts_ns, interval_ns;
	double value;
};
int sampler_add(struct sampler *sampler, const struct sampled *sampled);

/*
 * Take in one file. 0, also where it cannot be read, which is a problem of the
 * run; -1 with the sampler's error where writing failed.
 */
int sample_sar(struct sampler *sampler, const char *path, bool is_binary);
int sample_proc(struct sampler *sampler, const char *path);
int sample_sensors(struct sampler *sampler, const char *path);
int sample_invocations(struct sampler *sampler, const char *path);

#endif
