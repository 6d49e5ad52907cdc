/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_COMPARE_RUNS_H
#define CT_ANALYZE_COMPARE_RUNS_H

#include "analyze/analysis.h"

/* The runs of a comparison, and what sets them apart. */
struct parameter {
	char *name, *value;
};

struct run {
	const char *path;
	char *name;
	struct parameter *parameter;
	size_t parameters, parameter_room;
	nsec_t begin_ns, end_ns;
	int64_t events;
	size_t setting;
};

/* Runs with the same parameters repeat one setting. */
struct setting {
	size_t first; /* run */
	size_t runs;
};

struct runs {
	const struct analysis *analysis;
	struct request request; /* of each run: as asked, without order and limit */
	struct run *run;
	size_t count;
	struct setting *setting;
	size_t settings, setting_room;
	struct text_list names; /* of parameters that differ */
};

/* Read the facts of each timeline, and find the settings. 0, or -1 with error. */
int runs_read(struct runs *runs, struct error *error);

/* Open one of them for the analysis. */
int runs_open(const struct runs *runs, const struct run *run, struct question *question,
	      struct error *error);

/* The value of a parameter; NULL: it has none. */
const char *run_parameter(const struct run *run, const char *name);

void runs_clear(struct runs *runs);

#endif
