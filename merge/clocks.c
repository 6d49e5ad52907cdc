/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/same.h"

struct finding {
	struct merge_run *run;
	const struct merge_clock_wish *wish;
	struct sync sync;
	struct origins *origins;
	bool *is_set; /* by source: it has its correction */
};

static int64_t source_of(const struct merge_run *run, const char *name)
{
	for (size_t i = 0; i < run->count; i++)
		if (strcmp(run->sources.item[i].name, name) == 0)
			return (int64_t)i;
	return -1;
}

/* A clock map of this run, whose clocks go by the names of sources. */
static int read_map(struct merge_run *run, const char *path, struct error *error)
{
	if (clock_map_read(&run->map, path, error))
		return -1;
	for (size_t i = 0; i < run->map.clocks && !run->is_part; i++) {
		const struct clock *clock = &run->map.clock[i];

		if (source_of(run, clock->trace) < 0)
			problem_add(&run->problems, path, "clock", 1,
				    "has a clock of %s (%s), which is no source of the "
				    "run, left out",
				    clock->trace,
				    *clock->path ? clock->path : "of messages");
	}
	return 0;
}

static int keep_origin(void *context, const struct sync_end *send,
		       const struct sync_end *recv, const struct packet *packet,
		       struct error *error)
{
	const struct message_origin origin = {
	    .send = {(uint32_t)send->source, send->stream, send->ordinal, send->local_ns},
	    .recv = {(uint32_t)recv->source, recv->stream, recv->ordinal, recv->local_ns},
	    .packet = *packet,
	};

	return origins_add(context, &origin, error);
}

struct dropping {
	struct origins *origins;
	uint64_t index;
};

static int drop_rejected(void *context, struct message *message)
{
	struct dropping *dropping = context;

	if (message->rejected)
		origins_drop(dropping->origins, dropping->index);
	dropping->index++;
	return 0;
}

/* Which messages are false is known after the fit, whoever sets the clocks. */
static int fit(struct finding *finding, struct error *error)
{
	struct dropping dropping = {.origins = finding->origins};
	struct sync *sync = &finding->sync;

	if (sync_fit(sync, error) ||
	    (finding->origins &&
	     message_log_walk(&sync->log, false, drop_rejected, &dropping, error)))
		return -1;
	/* Nothing is to be said of a fit that is not used. */
	if (finding->wish->none || finding->wish->file)
		problem_clear(&sync->problems);
	return 0;
}

static bool is_user_trace(const struct merge_run *run, const char *path)
{
	for (size_t i = 0; i < run->count; i++)
		if (strcmp(run->sources.item[i].path, path) == 0)
			return run->source[i].kind &&
			       strcmp(run->source[i].kind, "user") == 0;
	return false;
}

/* That a user-space trace has no network event is no news. */
static void take_problems(struct merge_run *run, struct problem_list *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->item[i];

		if (strcmp(problem->kind, "silent") != 0 ||
		    !is_user_trace(run, problem->place))
			problem_add(&run->problems, problem->place, problem->kind,
				    problem->count, "%s", problem->text);
	}
	problem_clear(problems);
}

/* 0 also where no source could be read: then there is nothing to match. */
static int read_and_fit(struct finding *finding, struct progress *progress,
			struct error *error)
{
	struct sync *sync = &finding->sync;
	struct error cause = ERROR_INIT;
	int status = sync_read_sources(sync, &finding->run->sources, progress, &cause);

	take_problems(finding->run, &sync->problems);
	if (status && sync->traces)
		error_set(error, "%s", error_text(&cause));
	else
		status = sync->traces ? fit(finding, error) : 0;
	error_clear(&cause);
	return status;
}

static void copy_clock(struct clock *to, const struct clock *from, nsec_t shift_ns)
{
	nsec_t begin_ns = to->begin_ns, end_ns = to->end_ns;
	char *trace = to->trace, *path = to->path;

	to->trace = to->path = NULL;
	clock_clear(to);
	*to = *from;
	to->trace = trace;
	to->path = path;
	to->begin_ns = begin_ns;
	to->end_ns = end_ns;
	to->reference = mem_strdup(from->reference);
	to->segment = mem_realloc(NULL, from->segments, sizeof(*to->segment));
	memcpy(to->segment, from->segment, from->segments * sizeof(*to->segment));
	to->bound = mem_realloc(NULL, from->bounds, sizeof(*to->bound));
	if (from->bounds)
		memcpy(to->bound, from->bound, from->bounds * sizeof(*to->bound));
	for (size_t i = 0; i < to->segments; i++)
		to->segment[i].local_ns -= shift_ns;
	for (size_t i = 0; i < to->bounds; i++)
		to->bound[i].local_ns -= shift_ns;
}

/* The clock's own epoch. */
static void set_identity(struct clock *clock, const char *name, const char *path,
			 const struct ctf_facts *facts)
{
	clock_clear(clock);
	clock->trace = mem_strdup(name);
	clock->path = mem_strdup(path);
	clock->reference = mem_strdup(name);
	clock->quality = CLOCK_ABSENT;
	clock->begin_ns = facts->begin_ns;
	clock->end_ns = facts->end_ns;
	clock->segments = 1;
	clock->segment = mem_zalloc(sizeof(*clock->segment));
	clock->segment->local_ns = clock->segment->ref_ns = facts->begin_ns;
}

/* What synchronization does not read may be read as a timeline's events. */
static void probe(struct source *entry, struct merge_source *source)
{
	struct error error = ERROR_INIT;
	struct ctf_reader *records =
	    entry->kind == SOURCE_TRACE
		? ctf_reader_open(entry->path, entry->reader, &error)
		: capture_records_open(entry->path, &error);

	source->is_read = records;
	if (records)
		source->facts = *ctf_reader_facts(records);
	ctf_reader_free(records);
	error_clear(&error);
}

static bool was_given_twice(const struct problem_list *problems, const char *path)
{
	for (size_t i = 0; i < problems->count; i++)
		if (strcmp(problems->item[i].kind, "twice") == 0 &&
		    strcmp(problems->item[i].place, path) == 0)
			return true;
	return false;
}

/* Every source at its own epoch, with what is known of it. */
static void survey(struct finding *finding)
{
	struct merge_run *run = finding->run;

	for (size_t i = 0; i < finding->sync.traces; i++) {
		const struct sync_trace *trace = &finding->sync.trace[i];

		run->source[trace->source].is_read = true;
		run->source[trace->source].facts = trace->facts;
	}
	for (size_t i = 0; i < run->count; i++) {
		struct source *entry = &run->sources.item[i];
		struct merge_source *source = &run->source[i];

		source->is_twice =
		    !source->is_read && was_given_twice(&run->problems, entry->path);
		if (!source->is_read && !source->is_twice)
			probe(entry, source);
		source->island = -1;
		set_identity(&source->clock, entry->name, entry->path, &source->facts);
	}
}

static int64_t clock_index(const struct clock_map *map, const char *name)
{
	const struct clock *clock = clock_map_find(map, name);

	return clock ? clock - map->clock : -1;
}

/* How many sources of the run, or of what it is a part of, the map ties to a reference.
 */
static size_t tied_to(const struct merge_run *run, const char *reference)
{
	size_t count = 0;

	for (size_t i = 0; i < run->map.clocks; i++)
		count += strcmp(run->map.clock[i].reference, reference) == 0 &&
			 (run->is_part || source_of(run, run->map.clock[i].trace) >= 0);
	return count;
}

/* Of islands besides the first; a lone source is told of with those without one. */
static void tell_of_island(struct merge_run *run, const char *reference)
{
	int64_t at = source_of(run, reference);

	if (strcmp(reference, run->map.reference) != 0 && at >= 0)
		problem_add(&run->problems, run->sources.item[at].path, "clock", 1,
			    "its island of %zu is tied to nothing of the island of %s, "
			    "and stands on the epoch of this clock",
			    tied_to(run, reference), run->map.reference);
}

/*
 * Corrections to the reference of each island. The axes of islands are unrelated;
 * their clocks' own epochs are the best that there is to lay them side by side.
 */
static void apply_map(struct finding *finding)
{
	struct merge_run *run = finding->run;
	const struct clock_map *map = &run->map;

	for (size_t i = 0; i < map->clocks; i++) {
		const struct clock *clock = &map->clock[i];
		int64_t at = source_of(run, clock->trace);

		if (at < 0 || (strcmp(clock->reference, map->reference) != 0 &&
			       tied_to(run, clock->reference) < 2))
			continue;
		copy_clock(&run->source[at].clock, clock, 0);
		run->source[at].island = clock_index(map, clock->reference);
		finding->is_set[at] = true;
		if (strcmp(clock->trace, clock->reference) == 0)
			tell_of_island(run, clock->trace);
	}
}

/* The correction of another source with the same clock, if one has any. */
static bool share_clock(struct finding *finding, size_t index)
{
	struct merge_source *source = &finding->run->source[index];
	const struct source *entry = finding->run->sources.item;

	for (size_t i = 0; i < finding->run->count; i++) {
		const struct merge_source *other = &finding->run->source[i];

		if (!finding->is_set[i] ||
		    same_clock(&entry[index], &source->facts, &entry[i], &other->facts) !=
			SAME_CLOCK)
			continue;
		copy_clock(&source->clock, &other->clock,
			   nsec_sub(other->facts.clock_offset_ns,
				    source->facts.clock_offset_ns));
		source->clock.quality = CLOCK_EXACT;
		source->island = other->island;
		finding->is_set[index] = true;
		return true;
	}
	return false;
}

/* Sources that have no correction yet. */
static void settle_rest(struct finding *finding)
{
	struct merge_run *run = finding->run;

	for (size_t i = 0; i < run->count; i++) {
		const char *path = run->sources.item[i].path;

		if (finding->is_set[i] || !run->source[i].is_read ||
		    share_clock(finding, i))
			continue;
		if (finding->wish->file)
			problem_add(
			    &run->problems, path, "clock", 1,
			    "%s has no correction to the clock of %s for it, kept "
			    "at its own epoch",
			    finding->wish->file, run->map.reference);
		else if (run->map.reference)
			problem_add(&run->problems, path, "clock", 1,
				    "its clock is tied to nothing of the island of %s, "
				    "kept at its own epoch",
				    run->map.reference);
		else
			problem_add(
			    &run->problems, path, "clock", 1,
			    "it has no packets that could be matched, so its clock "
			    "is kept at its own epoch");
	}
}

/* Of a map by synchronization that is not to be used: what remains true. */
static void leave_clocks(struct clock_map *map)
{
	for (size_t i = 0; i < map->clocks; i++) {
		struct clock *clock = &map->clock[i];
		const struct ctf_facts facts = {.begin_ns = clock->begin_ns,
						.end_ns = clock->end_ns};
		char *name = mem_strdup(clock->trace), *path = mem_strdup(clock->path);

		set_identity(clock, name, path, &facts);
		free(name);
		free(path);
	}
	for (size_t i = 0; i < map->pairs; i++) {
		struct clock_pair *pair = &map->pair[i];

		pair->violations_after = pair->violations_before;
		pair->min_latency_ab_ns = pair->min_latency_ba_ns = NSEC_MAX;
	}
}

static void set_clocks(struct finding *finding)
{
	struct merge_run *run = finding->run;

	if (!finding->wish->file && finding->sync.traces)
		sync_describe(&finding->sync, &run->map);
	run->map.matching = finding->sync.matching;
	survey(finding);
	if (finding->wish->none) {
		leave_clocks(&run->map);
		return;
	}
	apply_map(finding);
	settle_rest(finding);
}

int merge_clocks_find(struct merge_run *run, const struct merge_clock_wish *wish,
		      struct origins *origins, struct progress *progress,
		      struct error *error)
{
	struct finding finding = {.run = run, .wish = wish, .origins = origins};
	struct sync_options options = wish->sync;
	int status;

	clock_map_clear(&run->map);
	if (wish->file && read_map(run, wish->file, error))
		return -1;
	options.alone = true;
	if (wish->file || wish->none)
		options.reference = NULL;
	finding.is_set = mem_zalloc(run->count * sizeof(*finding.is_set));
	sync_init(&finding.sync, &options);
	if (origins) {
		finding.sync.on_message = keep_origin;
		finding.sync.message_context = origins;
	}
	status = read_and_fit(&finding, progress, error);
	if (!status)
		set_clocks(&finding);
	problem_move(&run->problems, &finding.sync.problems);
	sync_clear(&finding.sync);
	free(finding.is_set);
	return status;
}

bool merge_clocks_are_tied(const struct merge_run *run)
{
	if (run->count < 2)
		return true;
	for (size_t i = 0; i < run->count; i++)
		if (run->source[i].island < 0 ||
		    run->source[i].island != run->source[0].island ||
		    run->source[i].clock.quality == CLOCK_INCOMPLETE)
			return false;
	for (size_t i = 0; i < run->map.pairs; i++)
		if (run->map.pair[i].quality == CLOCK_CONTRADICTORY)
			return false;
	return true;
}
