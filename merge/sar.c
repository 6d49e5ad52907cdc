/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/sadf/sadf.h"
#include "merge/samples_private.h"

/* So many marks of a file are told one by one. */
enum { MARKS_TOLD = 1000 };

struct sar {
	struct sampler *sampler;
	const char *path;
	uint64_t texts; /* values that are no numbers */
	uint64_t marks;
};

static int take_row(void *context, const struct sadf_row *row)
{
	struct sar *sar = context;
	const char *kind = metric_kind_name(row->about.kind);
	bool has_item = strcmp(row->item, "-") != 0;
	struct sampled sampled = {
	    .metric = {.name = row->metric,
		       .unit = row->about.unit,
		       .kind = *kind ? kind : NULL,
		       .activity = row->about.activity},
	    .item_type = row->about.item_type,
	    .item = has_item ? row->item : NULL,
	    .ts_ns = stamps_place(&sar->sampler->stamps, row->realtime_ns),
	    .interval_ns = row->interval_ns > 0 ? row->interval_ns : TIMELINE_NONE,
	    .value = row->value};

	if (!sampler_wants(sar->sampler, sampled.ts_ns))
		return 0;
	sar->texts += row->about.kind == METRIC_TEXT;
	return sampler_add(sar->sampler, &sampled) ? 1 : 0;
}

/* What the file says ends at a terminal. */
static char *tamed(const char *text)
{
	char *copy = mem_strndup(text, 400);

	for (char *at = copy; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '\x7f')
			*at = '?';
	return copy;
}

static void tell_mark(struct sar *sar, const struct sadf_mark *mark, nsec_t ts_ns)
{
	bool is_restart = mark->kind == SADF_RESTART;
	char *place = mem_printf("%s:%" PRIu64, sar->path, mark->line);
	char *text = tamed(mark->text), time[NSEC_TEXT];

	problem_add(&sar->sampler->run->problems, place,
		    is_restart ? "restart" : "comment", 1, "%s: %s%s%s",
		    nsec_format_seconds(time, ts_ns),
		    is_restart ? "sar was started again" : "",
		    is_restart && *text ? ", " : "", text);
	free(text);
	free(place);
}

static int take_mark(void *context, const struct sadf_mark *mark)
{
	struct sar *sar = context;
	nsec_t ts_ns = stamps_place(&sar->sampler->stamps, mark->realtime_ns);

	if (sampler_wants(sar->sampler, ts_ns) && sar->marks++ < MARKS_TOLD)
		tell_mark(sar, mark, ts_ns);
	return 0;
}

int sample_sar(struct sampler *sampler, const char *path, bool is_binary)
{
	struct sar sar = {.sampler = sampler, .path = path};
	struct sadf_sink sink = {.row = take_row, .mark = take_mark, .context = &sar};
	struct problem_list *problems = &sampler->run->problems;
	int status = is_binary ? sadf_read_binary(path, &sink, problems)
			       : sadf_read(path, &sink, problems);

	if (sar.texts)
		problem_add(problems, path, "text", sar.texts,
			    "values that are no numbers, their samples have none");
	if (sar.marks > MARKS_TOLD)
		problem_add(problems, path, "comment", sar.marks - MARKS_TOLD,
			    "further restarts and comments, left out");
	return status > 0 ? -1 : 0;
}
