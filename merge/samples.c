/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "merge/samples_private.h"

/* One text of several, which NULLs and separators do not make equal. For free(). */
static char *joined(const char *const part[], size_t parts)
{
	size_t size = 1;
	char *all, *at;

	for (size_t i = 0; i < parts; i++)
		size += 2 + (part[i] ? strlen(part[i]) : 0);
	all = at = mem_alloc(size);
	for (size_t i = 0; i < parts; i++) {
		*at++ = part[i] ? '=' : '-';
		at = stpcpy(at, part[i] ? part[i] : "");
		*at++ = '\n';
	}
	*at = '\0';
	return all;
}

/* The id of what these texts say, and whether it is new. */
static int64_t id_of(const struct sampler *sampler, struct texts *texts,
		     const char *const part[], size_t parts, bool *is_new)
{
	char *key = joined(part, parts);
	size_t before = texts->count;
	int64_t id = (int64_t)texts_put(texts, key) + 1;

	*is_new = texts->count > before;
	if (sampler->run->is_part)
		id = hash_id(hash_text(HASH_INIT, key));
	free(key);
	return id;
}

int64_t sampler_metric(struct sampler *sampler, const struct timeline_metric *metric)
{
	const char *part[] = {metric->name, metric->unit, metric->kind, metric->activity};
	struct timeline_metric row = *metric;
	bool is_new;

	row.id = id_of(sampler, &sampler->metrics, part, 4, &is_new);
	if (is_new && timeline_add_metric(sampler->writer, &row, sampler->error))
		return -1;
	return row.id;
}

int64_t sampler_item(struct sampler *sampler, const char *type, const char *name)
{
	const char *part[] = {type, name};
	struct timeline_item row = {.type = type, .name = name};
	bool is_new;

	row.id = id_of(sampler, &sampler->items, part, 2, &is_new);
	if (is_new && timeline_add_item(sampler->writer, &row, sampler->error))
		return -1;
	return row.id;
}

bool sampler_wants(struct sampler *sampler, nsec_t ts_ns)
{
	if (stamps_is_far(&sampler->stamps, ts_ns)) {
		sampler->far++;
		return false;
	}
	return selection_has_time(sampler->selection, ts_ns) &&
	       selection_has_node(sampler->selection,
				  sampler->run->node[sampler->node].name);
}

int sampler_add(struct sampler *sampler, const struct sampled *sampled)
{
	struct timeline_sample row = {.node = sampler->run->node[sampler->node].id,
				      .ts_ns = sampled->ts_ns,
				      .item = TIMELINE_NONE,
				      .value = sampled->value,
				      .interval_ns = sampled->interval_ns};

	row.metric = sampler_metric(sampler, &sampled->metric);
	if (sampled->item)
		row.item = sampler_item(sampler, sampled->item_type, sampled->item);
	if (row.metric == -1 || row.item == -1)
		return -1;
	return timeline_add_sample(sampler->writer, &row, sampler->error);
}

static int take_file(struct sampler *sampler, const struct run_file *file)
{
	switch (file->kind) {
	case RUN_FILE_SADF:
		return sample_sar(sampler, file->path, false);
	case RUN_FILE_SA:
		return sample_sar(sampler, file->path, true);
	case RUN_FILE_PROC:
		return sample_proc(sampler, file->path);
	case RUN_FILE_SENSORS:
		return sample_sensors(sampler, file->path);
	case RUN_FILE_INVOCATIONS:
		return sample_invocations(sampler, file->path);
	case RUN_FILE_NODE:
	case RUN_FILE_CLOCK:
		break;
	}
	return 0;
}

static int take_node(struct sampler *sampler)
{
	const struct run_node *files = sampler->run->node[sampler->node].files;
	int status = 0;

	if (!files)
		return 0;
	stamps_init(&sampler->stamps, sampler->run, sampler->node);
	for (size_t i = 0; !status && i < files->files; i++) {
		sampler->far = 0;
		status = take_file(sampler, &files->file[i]);
		if (sampler->far)
			problem_add(&sampler->run->problems, files->file[i].path, "stamp",
				    sampler->far,
				    "stamped more than two days before or after all "
				    "traces and captures of the run, left out");
	}
	stamps_clear(&sampler->stamps);
	return status;
}

int merge_samples(struct merge_run *run, const struct selection *selection,
		  const struct processes *processes, struct timeline_writer *writer,
		  struct error *error)
{
	struct sampler sampler = {.run = run,
				  .selection = selection,
				  .processes = processes,
				  .writer = writer,
				  .error = error};
	int status = 0;

	/* A node that is not wanted may still hold tasks that ran elsewhere. */
	for (; !status && sampler.node < run->nodes; sampler.node++)
		status = take_node(&sampler);
	texts_clear(&sampler.metrics);
	texts_clear(&sampler.items);
	return status;
}
