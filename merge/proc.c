/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "input/proc_samples.h"
#include "merge/samples_private.h"

#define ACTIVITY "process"

struct proc {
	struct sampler *sampler;
	struct intmap parent; /* by pid: the one that was told last */
};

/* One number of a process; unknown ones have no row. */
struct proc_value {
	struct timeline_metric metric;
	int64_t value;
};

/* A parent hardly ever changes: it is told when it does. */
static int64_t new_parent(struct proc *proc, const struct proc_sample *sample)
{
	int64_t last;

	if (sample->ppid == PROC_UNKNOWN ||
	    (intmap_get(&proc->parent, (uint64_t)sample->pid, &last) &&
	     last == sample->ppid))
		return PROC_UNKNOWN;
	intmap_put(&proc->parent, (uint64_t)sample->pid, sample->ppid);
	return sample->ppid;
}

static int take_row(void *context, const struct proc_sample *sample)
{
	struct proc *proc = context;
	struct sampled sampled = {
	    .item_type = ACTIVITY,
	    .ts_ns = stamps_place(&proc->sampler->stamps, sample->realtime_ns),
	    .interval_ns = TIMELINE_NONE};
	char *item;
	int status = 0;

	if (!sampler_wants(proc->sampler, sampled.ts_ns))
		return 0;
	const struct proc_value values[] = {
	    {{0, "utime", "ns", "counter", ACTIVITY}, sample->utime_ns},
	    {{0, "stime", "ns", "counter", ACTIVITY}, sample->stime_ns},
	    {{0, "rss", "KiB", "gauge", ACTIVITY}, sample->rss_kib},
	    {{0, "read", "bytes", "counter", ACTIVITY}, sample->read_bytes},
	    {{0, "write", "bytes", "counter", ACTIVITY}, sample->write_bytes},
	    {{0, "ppid", NULL, "gauge", ACTIVITY}, new_parent(proc, sample)},
	    {{0, "state", "character", "gauge", ACTIVITY},
	     sample->state ? (unsigned char)sample->state : PROC_UNKNOWN},
	};
	item = sample->comm ? mem_printf("%" PRId64 " %s", sample->pid, sample->comm)
			    : mem_printf("%" PRId64, sample->pid);
	sampled.item = item;
	for (size_t i = 0; !status && i < sizeof(values) / sizeof(*values); i++) {
		if (values[i].value == PROC_UNKNOWN)
			continue;
		sampled.metric = values[i].metric;
		sampled.value = (double)values[i].value;
		status = sampler_add(proc->sampler, &sampled);
	}
	free(item);
	return status ? 1 : 0;
}

int sample_proc(struct sampler *sampler, const char *path)
{
	struct proc proc = {.sampler = sampler};
	int status = proc_samples_read(path, take_row, &proc, &sampler->run->problems);

	intmap_clear(&proc.parent);
	return status > 0 ? -1 : 0;
}
