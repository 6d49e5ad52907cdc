/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_NAMES_H
#define CT_EXPORT_PERFETTO_NAMES_H

#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/*
 * What threads and disks are called: the timeline's tables of threads and processes, and
 * the statedump's names of disks, in memory.
 */
struct perfetto_names;

struct perfetto_name {
	int64_t node, tid;
	nsec_t begin_ns; /* NSEC_MIN: before the recording */
	int64_t life;    /* how many threads with this tid were before it */
	int64_t pid;     /* of its process; -1: not known */
	char *comm;      /* "" if not known */
	char *process;   /* comm of its process; "" if not known */
};

/* NULL with error. */
struct perfetto_names *perfetto_names_new(struct timeline_reader *reader,
					  const struct scope *scope, struct error *error);

/* The thread that had this tid then; NULL if the timeline does not know of it. */
const struct perfetto_name *perfetto_names_find(const struct perfetto_names *names,
						int64_t node, int64_t tid, nsec_t at_ns);

/* "vda"; NULL if the timeline does not know of it. `dev` is the kernel's number. */
const char *perfetto_names_disk(const struct perfetto_names *names, int64_t node,
				int64_t dev);

void perfetto_names_free(struct perfetto_names *names);

#endif
