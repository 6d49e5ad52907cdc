/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "input/run_facts.h"
#include "input/run_files.h"
#include "trace/ftrace/trace_dat.h"

static bool has_problem(const struct problem_list *list, const struct problem *problem)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct problem *other = &list->item[i];

		if (other->kind == problem->kind &&
		    strcmp(other->place, problem->place) == 0 &&
		    strcmp(other->text, problem->text) == 0)
			return true;
	}
	return false;
}

void merge_run_report(struct merge_run *run, struct problem_list *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->item[i];

		if (!has_problem(&run->problems, problem))
			problem_add(&run->problems, problem->place, problem->kind,
				    problem->count, "%s", problem->text);
	}
	problem_clear(problems);
}

/* The host that a trace recorded, or NULL. */
static char *recorded_host(const struct source *source)
{
	struct error error = ERROR_INIT;
	struct trace_reader *reader = NULL;
	char *host = NULL;

	if (source->kind == SOURCE_TRACE)
		reader = trace_reader_open(source->path, &error);
	if (reader && *trace_reader_facts(reader)->hostname)
		host = mem_strdup(trace_reader_facts(reader)->hostname);
	trace_reader_free(reader);
	error_clear(&error);
	return host;
}

/* Name a trace that was given alone by its host, or by its file if that is unknown. */
static void name_source(struct source *source)
{
	const char *slash = strrchr(source->path, '/');

	if (!source->name)
		source->name = recorded_host(source);
	if (!source->name)
		source->name = mem_strdup(slash && slash[1] ? slash + 1 : source->path);
}

int64_t merge_run_find_node(const struct merge_run *run, const char *name)
{
	for (size_t i = 0; i < run->nodes; i++)
		if (strcmp(run->node[i].name, name) == 0)
			return (int64_t)i;
	return -1;
}

static uint32_t add_node(struct merge_run *run, const char *name)
{
	int64_t found = merge_run_find_node(run, name);
	struct merge_node *node;

	if (found >= 0)
		return (uint32_t)found;
	run->node = mem_realloc(run->node, run->nodes + 1, sizeof(*run->node));
	node = &run->node[run->nodes];
	*node =
	    (struct merge_node){.id = (int64_t)run->nodes + 1, .name = mem_strdup(name)};
	return (uint32_t)run->nodes++;
}

/*
 * Return the tracer that made a trace: "kernel", "user", "ftrace", or "trace" if unknown.
 * LTTng names its tracer near the start of the metadata: TSDL has `domain = "ust"`, JSON
 * `"domain": "ust"`. No packet of the metadata splits these words.
 */
static const char *trace_kind(const char *path, struct problem_list *problems)
{
	enum { HEAD = 16384 };
	static const char word[] = "domain";
	AUTOFREE char *file = NULL, *head = NULL;
	const char *at, *kind = "trace";
	FILE *stream;
	size_t count;

	if (trace_dat_probe(path))
		return "ftrace";
	file = mem_printf("%s/metadata", path);
	head = mem_zalloc(HEAD + 1);
	stream = fopen(file, "rbe");
	count = stream ? fread(head, 1, HEAD, stream) : 0;
	if (!stream || ferror(stream))
		problem_add(problems, file, PROBLEM_UNREADABLE, 1,
			    "%s, so its tracer is unknown", strerror(errno));
	at = memmem(head, count, word, strlen(word));
	if (at) {
		at += strlen(word);
		at += strspn(at, " \":=");
		if (strncmp(at, "kernel\"", 7) == 0)
			kind = "kernel";
		else if (strncmp(at, "ust\"", 4) == 0)
			kind = "user";
	}
	if (stream)
		fclose(stream);
	return kind;
}

/* In a run directory a source's node is the directory; alone it is its own. */
static uint32_t node_of(struct merge_run *run, const struct source *source)
{
	for (uint32_t i = 0; i < run->files.nodes; i++) {
		const char *path = run->files.node[i].path;
		size_t length = strlen(path);

		if (strncmp(source->path, path, length) == 0 &&
		    source->path[length] == '/')
			return i;
	}
	return add_node(run, source->name);
}

bool merge_source_is(const struct merge_source *source, const char *kind)
{
	return strcmp(source->kind, kind) == 0;
}

static bool node_has(const struct merge_run *run, uint32_t node, const char *kind)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->source[i].node == node && merge_source_is(&run->source[i], kind))
			return true;
	return false;
}

/* Nodes in the order of their names, or a source by itself. */
static void add_all(struct merge_run *run)
{
	for (size_t i = 0; i < run->files.nodes; i++) {
		uint32_t node = add_node(run, run->files.node[i].name);

		run->node[node].files = &run->files.node[i];
		run->node[node].facts = run->files.node[i].facts;
	}
	run->count = run->sources.count;
	run->source = mem_zalloc(run->count * sizeof(*run->source));
	for (size_t i = 0; i < run->count; i++) {
		const struct source *entry = &run->sources.item[i];

		run->source[i] = (struct merge_source){
		    .id = (int64_t)i + 1,
		    .node = node_of(run, entry),
		    .kind = entry->kind == SOURCE_CAPTURE
				? "capture"
				: trace_kind(entry->path, &run->problems),
		    .island = -1};
	}
	/* Another tracer of the kernel, or the only one. */
	for (size_t i = 0; i < run->count; i++)
		if (merge_source_is(&run->source[i], "ftrace") &&
		    !node_has(run, run->source[i].node, "kernel"))
			run->source[i].kind = "kernel";
	for (size_t i = 0; i < run->count; i++) {
		struct merge_source *source = &run->source[i];
		bool beside = !merge_source_is(source, "kernel") &&
			      node_has(run, source->node, "kernel");

		source->is_mute = beside && (merge_source_is(source, "user") ||
					     merge_source_is(source, "ftrace"));
		source->makes_spans = !beside && !merge_source_is(source, "capture");
	}
}

static void read_facts(struct merge_run *run)
{
	struct error error = ERROR_INIT;

	if (run->files.run_json &&
	    run_facts_read(&run->facts, run->files.run_json, &run->problems, &error))
		problem_add(&run->problems, "", PROBLEM_UNREADABLE, 1, "%s; skipped",
			    error_text(&error));
	error_clear(&error);
}

bool merge_run_has_files(const struct merge_run *run)
{
	for (size_t i = 0; i < run->files.nodes; i++)
		if (run->files.node[i].files)
			return true;
	return false;
}

static bool is_node_there(const char *path, const char *node)
{
	AUTOFREE char *directory = mem_printf("%s/%s", path, node);
	struct stat about;

	return stat(directory, &about) == 0;
}

/* Add traces and captures, each as a node. Return 0, or -1 with error. */
static int add_traces(struct merge_run *run, const struct text_list *paths,
		      struct error *error)
{
	struct stat about;

	for (size_t i = 0; i < paths->count; i++) {
		const char *path = paths->item[i];

		if (stat(path, &about) == 0 && S_ISDIR(about.st_mode) &&
		    !is_trace_path(path))
			return error_misuse(error,
					    "%s: a directory, but not a trace (expected "
					    "one RUN, or traces and captures)",
					    path);
		if (source_add_trace(&run->sources, path, &run->problems, error))
			return -1;
	}
	return 0;
}

/* Return -1 with error if two traces or captures would be one node. */
static int check_names(const struct merge_run *run, struct error *error)
{
	const struct source *source = run->sources.item;

	for (size_t i = 0; i < run->sources.count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(source[i].name, source[k].name) == 0)
				return error_misuse(
				    error,
				    "%s and %s would both be node %s; name them, as in "
				    "NAME=%s",
				    source[k].path, source[i].path, source[i].name,
				    source[i].path);
	return 0;
}

/* Return the paths in one string. The caller frees it. */
static char *join_paths(const struct text_list *paths)
{
	char *text = path_trim(paths->item[0]);

	for (size_t i = 1; i < paths->count; i++) {
		AUTOFREE char *before = text;

		text = mem_printf("%s %s", before, paths->item[i]);
	}
	return text;
}

int merge_run_open(struct merge_run *run, const struct text_list *paths, const char *node,
		   struct error *error)
{
	struct stat about;
	int status;

	*run = (struct merge_run){
	    .path = join_paths(paths), .is_part = node, .sources.only = node};
	run->sources.files = &run->files;
	if (node && (stat(run->path, &about) || !S_ISDIR(about.st_mode) ||
		     is_trace_path(run->path)))
		return error_set(error,
				 "%s: not a run directory (expected one with %s in it)",
				 run->path, node);
	status = paths->count > 1
		     ? add_traces(run, paths, error)
		     : source_add_run(&run->sources, run->path, &run->problems, error);
	if (status && merge_run_has_files(run)) {
		error_clear(error); /* samples alone make a timeline as well */
		status = 0;
	}
	for (size_t i = 0; i < run->sources.count; i++)
		name_source(&run->sources.item[i]);
	if (!status && paths->count > 1)
		status = check_names(run, error);
	add_all(run);
	if (status && node && is_node_there(run->path, node))
		return status;
	if (node && (status || run->nodes != 1 || strcmp(run->node[0].name, node) != 0))
		return error_misuse(error, "--node: no node %s in %s", node, run->path);
	if (!status)
		read_facts(run);
	return status;
}

int64_t merge_run_find(const struct merge_run *run, const char *name)
{
	for (size_t i = 0; i < run->count; i++)
		if (strcmp(run->sources.item[i].name, name) == 0)
			return (int64_t)i;
	return -1;
}

int64_t merge_run_source(const struct merge_run *run, const char *name)
{
	int64_t at = merge_run_find(run, name);

	if (at >= 0)
		return run->source[at].id;
	for (size_t i = 0; run->is_part && i < run->map.clocks; i++)
		if (strcmp(run->map.clock[i].trace, name) == 0 &&
		    !clock_is_utc(&run->map.clock[i]))
			return (int64_t)i + 1;
	return 0;
}

bool merge_run_extent(const struct merge_run *run, const struct merge_node *node,
		      nsec_t *first, nsec_t *last)
{
	*first = NSEC_MAX;
	*last = NSEC_MIN;
	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *source = &run->source[i];
		nsec_t begin = clock_correct(&source->clock, source->facts.begin_ns);
		nsec_t end = clock_correct(&source->clock, source->facts.end_ns);

		if (!source->facts.events ||
		    (node && (&run->node[source->node] != node || !source->makes_spans)))
			continue;
		*first = begin < *first ? begin : *first;
		*last = end > *last ? end : *last;
	}
	return *first <= *last;
}

bool merge_is_one_clock(const struct merge_source *a, const struct merge_source *b)
{
	return a == b ||
	       (a->node == b->node && same_clock_identity(&a->facts, &b->facts));
}

nsec_t merge_bound_side(nsec_t a, nsec_t b, nsec_t open)
{
	return a == NSEC_MIN || a == NSEC_MAX || b == NSEC_MIN || b == NSEC_MAX
		   ? open
		   : nsec_sub(a, b);
}

void merge_run_clear(struct merge_run *run)
{
	for (size_t i = 0; i < run->nodes; i++)
		free(run->node[i].name);
	for (size_t i = 0; i < run->count; i++) {
		clock_clear(&run->source[i].clock);
		free(run->source[i].loss);
	}
	free(run->node);
	free(run->source);
	free(run->path);
	run_files_clear(&run->files);
	run_facts_clear(&run->facts);
	source_list_clear(&run->sources);
	clock_map_clear(&run->map);
	problem_clear(&run->problems);
	memset(run, 0, sizeof(*run));
}

bool selection_has_class(const struct selection *selection, const char *name)
{
	return (!selection->events.count ||
		text_list_matches(&selection->events, name)) &&
	       !text_list_matches(&selection->skip, name);
}

bool selection_has_node(const struct selection *selection, const char *name)
{
	return !selection->nodes.count || text_list_matches(&selection->nodes, name);
}

int selection_check_nodes(const struct selection *selection, const struct merge_run *run,
			  struct error *error)
{
	AUTOFREE const char **names = mem_alloc((run->nodes + 1) * sizeof(*names));
	bool found = !selection->nodes.count;

	for (size_t i = 0; i < run->nodes; i++) {
		names[i] = run->node[i].name;
		found |= selection_has_node(selection, names[i]);
	}
	return found ? 0
		     : error_unknown_word(error, "--node: unknown node",
					  selection->nodes.item[0], names, run->nodes,
					  NULL);
}

bool selection_has_time(const struct selection *selection, nsec_t ts_ns)
{
	return ts_ns >= selection->begin_ns && ts_ns <= selection->end_ns;
}
