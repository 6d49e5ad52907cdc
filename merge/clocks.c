/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/capture/records.h"
#include "sync/claims.h"
#include "sync/observe/messages_csv.h"
#include "sync/trust.h"

struct finding {
	struct merge_run *run;
	const struct merge_clock_options *clock_options;
	struct observations seen;
	struct synchronization sync; /* with a file, only its network is found */
	struct problem_list problems;
};

/* Read a clock map of this run. Its clocks have the names of sources. */
static int read_map(struct merge_run *run, const char *path, struct error *error)
{
	if (clock_map_read(&run->map, path, error))
		return -1;
	for (size_t i = 0; i < run->map.clocks && !run->is_part; i++) {
		const struct clock *clock = &run->map.clock[i];

		/* UTC, a clock of claims, has no source. */
		if (merge_run_find(run, clock->trace) < 0 && !clock_is_utc(clock))
			problem_add(&run->problems, path, PROBLEM_CLOCK, 1,
				    "has a clock of %s (%s), which is not a source of "
				    "the run; skipped",
				    clock->trace,
				    *clock->path ? clock->path : "of messages");
	}
	for (size_t i = 0; i < run->map.claims; i++)
		if (merge_run_find_node(run, run->map.claim[i].node) >= 0)
			claim_report(&run->map.claim[i], &run->problems);
	return 0;
}

/* Return the source of a path, or NULL. */
static const struct merge_source *find_source(const struct merge_run *run,
					      const char *path)
{
	for (size_t i = 0; i < run->count; i++)
		if (strcmp(run->sources.item[i].path, path) == 0)
			return &run->source[i];
	return NULL;
}

/* Return true if missing network events need no report: the trace is of user space, or
 * they are already reported for its node, such as for another chunk of the recording. */
static bool is_known_silence(const struct merge_run *run, const struct problem *problem)
{
	const struct merge_source *source = find_source(run, problem->place), *told;

	if (problem->kind != PROBLEM_SILENT || !source)
		return false;
	if (merge_source_is(source, "user"))
		return true;
	for (size_t i = 0; i < run->problems.count; i++) {
		const struct problem *before = &run->problems.item[i];

		told = before->kind == PROBLEM_SILENT ? find_source(run, before->place)
						      : NULL;
		if (told && told->node == source->node &&
		    strcmp(before->text, problem->text) == 0)
			return true;
	}
	return false;
}

static void add_problems(struct merge_run *run, struct problem_list *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->item[i];

		if (!is_known_silence(run, problem))
			problem_add(&run->problems, problem->place, problem->kind,
				    problem->count, "%s", problem->text);
	}
	problem_clear(problems);
}

/* With a clock map, find out no more than which messages are false. */
static int find_clocks(struct finding *finding, const struct fit_options *how,
		       bool has_messages, struct error *error)
{
	if (!finding->clock_options->file)
		return synchronize_sources(&finding->seen, how, &finding->sync,
					   &finding->run->map, &finding->problems, error);
	return has_messages ? network_find(&finding->seen, how, &finding->sync.network,
					   &finding->problems, error)
			    : 0;
}

/* Read the sources and fit the clocks. If no source can be read, that is a success. */
static int read_and_fit(struct finding *finding, const struct sync_options *how,
			struct progress *progress, struct error *error)
{
	struct error cause = ERROR_INIT;
	int status =
	    observe_sources(&finding->run->sources, &how->observe, &finding->seen,
			    &finding->problems, progress, &cause);

	if (!status && finding->clock_options->messages)
		status = observe_more_messages(finding->clock_options->messages,
					       how->observe.keeps_ends, &finding->seen,
					       &finding->problems, &cause);
	add_problems(finding->run, &finding->problems);
	if (status && finding->seen.traces)
		error_set(error, "%s", error_text(&cause));
	else
		status =
		    finding->seen.traces
			? find_clocks(finding, &how->fit, how->observe.keeps_ends, error)
			: 0;
	error_clear(&cause);
	/* Problems of clocks that are not used are of no interest. */
	if (finding->clock_options->none || finding->clock_options->file)
		problem_clear(&finding->problems);
	return status;
}

static void clear_correction(struct clock *clock)
{
	free(clock->reference);
	free(clock->segment);
	free(clock->bound);
}

/* Replace a clock's correction by another's, whose local times are `shift_ns` later. */
static void set_correction(struct clock *clock, const struct clock *from, nsec_t shift_ns)
{
	clear_correction(clock);
	clock->reference = mem_strdup(from->reference);
	clock->quality = from->quality;
	clock_copy_correction(clock, from, shift_ns);
}

/* The clock's own epoch. */
static void set_identity(struct clock *clock)
{
	clear_correction(clock);
	clock->reference = mem_strdup(clock->trace);
	clock->quality = CLOCK_ABSENT;
	clock->segments = 1;
	clock->segment = mem_zalloc(sizeof(*clock->segment));
	clock->segment->local_ns = clock->segment->ref_ns = clock->begin_ns;
	clock->bounds = 0;
	clock->bound = NULL;
}

/* Read the facts of a source. A capture has events even if it is unknown which of its
 * ends is the node's. */
static void read_capture_facts(const struct source *entry, struct merge_source *source)
{
	const struct capture_input input = source_capture(entry);
	struct error error = ERROR_INIT;
	struct trace_reader *reader =
	    entry->kind == SOURCE_CAPTURE ? capture_records_open(&input, &error) : NULL;

	source->is_read = reader;
	if (reader)
		source->facts = *trace_reader_facts(reader);
	trace_reader_free(reader);
	error_clear(&error);
}

static bool is_repeated(const struct problem_list *problems, const char *path)
{
	for (size_t i = 0; i < problems->count; i++)
		if (problems->item[i].kind == PROBLEM_TWICE &&
		    strcmp(problems->item[i].place, path) == 0)
			return true;
	return false;
}

/* Every source at its own epoch, with what is known of it. */
static void set_own_epochs(struct finding *finding)
{
	struct merge_run *run = finding->run;

	for (size_t i = 0; i < observations_read(&finding->seen); i++) {
		const struct trace *trace = &finding->seen.trace[i];

		run->source[trace->source_index].is_read = true;
		run->source[trace->source_index].facts = trace->facts;
	}
	for (size_t i = 0; i < run->count; i++) {
		const struct source *entry = &run->sources.item[i];
		struct merge_source *source = &run->source[i];

		source->is_twice =
		    !source->is_read && is_repeated(&run->problems, entry->path);
		if (!source->is_read && !source->is_twice)
			read_capture_facts(entry, source);
		source->island = -1;
		source->clock = (struct clock){.trace = mem_strdup(entry->name),
					       .path = mem_strdup(entry->path),
					       .begin_ns = source->facts.begin_ns,
					       .end_ns = source->facts.end_ns};
		set_identity(&source->clock);
	}
}

static int64_t clock_index(const struct clock_map *map, const char *name)
{
	const struct clock *clock = clock_map_find(map, name);

	return clock ? clock - map->clock : -1;
}

/* Return the number of sources, of the run or of the run it is a part of, that the map
 * ties to a reference. */
static size_t tied_to(const struct merge_run *run, const char *reference)
{
	size_t count = 0;

	for (size_t i = 0; i < run->map.clocks; i++)
		count +=
		    strcmp(run->map.clock[i].reference, reference) == 0 &&
		    (run->is_part || merge_run_find(run, run->map.clock[i].trace) >= 0);
	return count;
}

/* Report an island other than the first. A source that is alone in its island is reported
 * with those that have none. */
static void report_island(struct merge_run *run, const char *reference)
{
	int64_t at = merge_run_find(run, reference);

	if (strcmp(reference, run->map.reference) != 0 && at >= 0)
		problem_add(&run->problems, run->sources.item[at].path, PROBLEM_CLOCK, 1,
			    "its island of %zu is tied to nothing of the island of %s, "
			    "and has the epoch of this clock",
			    tied_to(run, reference), run->map.reference);
}

/*
 * Set corrections to the reference of each island. The axes of islands are unrelated, so
 * the epochs of their reference clocks are used to place them on one axis.
 */
static void apply_map(struct merge_run *run)
{
	const struct clock_map *map = &run->map;

	for (size_t i = 0; i < map->clocks; i++) {
		const struct clock *clock = &map->clock[i];
		int64_t at = merge_run_find(run, clock->trace);

		if (at < 0 || (strcmp(clock->reference, map->reference) != 0 &&
			       tied_to(run, clock->reference) < 2))
			continue;
		set_correction(&run->source[at].clock, clock, 0);
		run->source[at].island = clock_index(map, clock->reference);
		run->source[at].is_corrected = true;
		if (strcmp(clock->trace, clock->reference) == 0)
			report_island(run, clock->trace);
	}
}

/* The correction of another source with the same clock, if one has any. */
static bool share_clock(struct merge_run *run, size_t index)
{
	struct merge_source *source = &run->source[index];
	const struct source *entry = run->sources.item;

	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *other = &run->source[i];

		if (!other->is_corrected ||
		    same_clock(&entry[index], &source->facts, &entry[i], &other->facts) !=
			SAME_CLOCK)
			continue;
		set_correction(&source->clock, &other->clock,
			       nsec_sub(other->facts.clock_offset_ns,
					source->facts.clock_offset_ns));
		source->clock.quality = CLOCK_EXACT;
		source->island = other->island;
		source->is_corrected = true;
		return true;
	}
	return false;
}

/* Sources that have no correction yet; `file`: the clock map's, or NULL. */
static void settle_rest(struct merge_run *run, const char *file)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *source = &run->source[i];
		const char *path = run->sources.item[i].path;

		if (source->is_corrected || !source->is_read || share_clock(run, i))
			continue;
		if (file)
			problem_add(&run->problems, path, PROBLEM_CLOCK, 1,
				    "%s has no correction to the clock of %s for it, "
				    "kept at its own epoch",
				    file, run->map.reference);
		else if (run->map.reference)
			problem_add(&run->problems, path, PROBLEM_CLOCK, 1,
				    "its clock is tied to nothing of the island of %s, "
				    "kept at its own epoch",
				    run->map.reference);
		else
			problem_add(&run->problems, path, PROBLEM_CLOCK, 1,
				    "it has no packets that could be matched, so its "
				    "clock is kept at its own epoch");
	}
}

/* Reduce a map to what remains true if its synchronization is not used. */
static void leave_clocks(struct clock_map *map)
{
	for (size_t i = 0; i < map->clocks; i++)
		set_identity(&map->clock[i]);
	for (size_t i = 0; i < map->pairs; i++) {
		struct clock_pair *pair = &map->pair[i];

		pair->violations_after = pair->violations_before;
		pair->min_latency_ab_ns = pair->min_latency_ba_ns = NSEC_MAX;
	}
}

static void set_clocks(struct finding *finding)
{
	struct merge_run *run = finding->run;

	run->map.matching = finding->seen.matching;
	set_own_epochs(finding);
	if (finding->clock_options->none) {
		leave_clocks(&run->map);
		return;
	}
	apply_map(run);
	settle_rest(run, finding->clock_options->file);
}

int merge_clocks_find(struct merge_run *run,
		      const struct merge_clock_options *clock_options,
		      struct message_log *messages, struct progress *progress,
		      struct error *error)
{
	struct finding finding = {.run = run, .clock_options = clock_options};
	struct message_log *log = &finding.sync.network.log;
	struct sync_options how = clock_options->sync;
	int status;

	clock_map_clear(&run->map);
	if (clock_options->file && read_map(run, clock_options->file, error))
		return -1;
	how.observe.alone = true;
	how.observe.keeps_ends = messages;
	if (clock_options->file || clock_options->none)
		how.fit.reference = NULL;
	status = read_and_fit(&finding, &how, progress, error);
	if (!status)
		set_clocks(&finding);
	problem_move(&run->problems, &finding.problems);
	/* If no clocks were found, the observations still have their log. */
	if (!log->block)
		log = &finding.seen.log;
	if (messages) {
		*messages = *log;
		*log = (struct message_log){0};
	}
	synchronization_clear(&finding.sync);
	observations_clear(&finding.seen);
	return status;
}

bool merge_clocks_are_tied(const struct merge_run *run)
{
	if (run->count < 2)
		return true;
	for (size_t i = 0; i < run->count; i++)
		if (!run->source[i].is_twice &&
		    (run->source[i].island < 0 ||
		     run->source[i].island != run->source[0].island ||
		     run->source[i].clock.quality == CLOCK_INCOMPLETE))
			return false;
	for (size_t i = 0; i < run->map.pairs; i++)
		if (run->map.pair[i].quality == CLOCK_CONTRADICTORY)
			return false;
	return true;
}
