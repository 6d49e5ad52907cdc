/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/arguments.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/names.h"
#include "input/declared.h"
#include "input/run_facts.h"

struct sync_arguments sync_arguments = {.drift_limit_ppm = 200, .max_rejected = 0.02};

const struct option_row sync_rows[] = {
    {'r', "reference", OPTION_STRING, &sync_arguments.reference, "NAME",
     "put every clock on the clock of this trace (default: the best connected one)", 0,
     0},
    {'j', "jobs", OPTION_INT, &sync_arguments.jobs, "N",
     "read with N threads (default: the number of processors)", 1, 1024},
    {0, "method", OPTION_STRING, &sync_arguments.method, "METHOD",
     "fit by hull, margin, joint or regression (default: hull for two clocks, joint for "
     "more)",
     0, 0},
    {0, "segments", OPTION_STRING, &sync_arguments.segments, "auto|N|SECONDSs",
     "line segments per clock: as few as its messages require (auto, the default), N, or "
     "one for every so many seconds, such as 60s",
     0, 0},
    {0, "drift-limit", OPTION_DOUBLE, &sync_arguments.drift_limit_ppm, "PPM",
     "assume that no clock drifts by more than this against the reference (default: 200)",
     0.001, 100000},
    {0, "bounds", OPTION_STRING, &sync_arguments.bounds, "limit|PPM|straight",
     "what a clock is assumed to do: anything within the drift limit (default), differ "
     "by at most PPM from its mean rate, or run straight",
     0, 0},
    {0, "trust", OPTION_WORDS, &sync_arguments.trust, "claims|NODE,...",
     "let the claims of all clock daemons, or those of these nodes, bound the clocks and "
     "put them on UTC, unless packets contradict them",
     0, 0},
    {0, "max-rejected", OPTION_DOUBLE, &sync_arguments.max_rejected, "SHARE",
     "leave out at most this share of a pair's messages as false matches (default: 0.02)",
     0, 1},
    {0, "local", OPTION_LIST, &sync_arguments.local, "[NAME=]ADDR|FILE",
     "an address of the node on which a capture was made, or a file of them (ip -j "
     "addr); "
     "NAME: of this capture or node only",
     0, 0},
    {0, "declare", OPTION_LIST, &sync_arguments.declare, "FILE",
     "a file that says which events of traces send and receive messages", 0, 0},
    {0, "in-flight", OPTION_INT, &sync_arguments.in_flight, "N",
     "let at most N packets wait for their other side (default: 262144, or 1024 per "
     "source if that is more)",
     64, 1 << 30},
    {0},
};

static int default_jobs(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return processors < 1 ? 1 : processors > 1024 ? 1024 : (int)processors;
}

/* Parse "auto", "3" or "60s". Return 0, or -1 with error. */
static int parse_segments(const char *text, struct piecewise_options *options,
			  struct error *error)
{
	char *end;
	double number;

	memset(options, 0, sizeof(*options));
	if (!text || strcmp(text, "auto") == 0)
		return 0;
	number = strtod(text, &end);
	if (end != text && strcmp(end, "s") == 0 && number > 0 && number < 1e9)
		options->length_ns = nsec_round(number * 1e9);
	else if (end != text && !*end && number >= 1 && number <= 4096 &&
		 number == (double)(int)number)
		options->segments = (size_t)number;
	else
		return error_misuse(
		    error,
		    "--segments: '%s' is neither auto, nor a number from 1 "
		    "to 4096, nor seconds such as 60s",
		    text);
	return 0;
}

/* Parse "limit", "straight" or "30". Return 0, or -1 with error. */
static int parse_bounds(const char *text, struct bounds_options *options,
			struct error *error)
{
	char *end;

	options->model = BOUNDS_LIMIT;
	if (!text || strcmp(text, "limit") == 0)
		return 0;
	options->model = BOUNDS_STRAIGHT;
	if (strcmp(text, "straight") == 0)
		return 0;
	options->model = BOUNDS_WANDER;
	options->wander_ppm = strtod(text, &end);
	if (end != text && !*end && options->wander_ppm >= 0 &&
	    options->wander_ppm <= 100000)
		return 0;
	return error_misuse(
	    error,
	    "--bounds: '%s' is neither limit, nor a number of ppm from 0 to "
	    "100000, nor straight",
	    text);
}

int sync_arguments_parse(struct sync_options *options, struct error *error)
{
	const struct sync_arguments *arguments = &sync_arguments;
	const int threads = arguments->jobs ? arguments->jobs : default_jobs();

	*options = (struct sync_options){
	    .observe = {.threads = threads, .in_flight = (size_t)arguments->in_flight},
	    .fit = {.drift_limit_ppm = arguments->drift_limit_ppm,
		    .max_rejected = arguments->max_rejected,
		    .reference = arguments->reference,
		    .trust = &arguments->trust,
		    .bounds.threads = threads},
	};
	if (arguments->method)
		options->fit.method = fit_method_find(arguments->method);
	if (arguments->method && !options->fit.method)
		return error_misuse(error,
				    "--method: invalid value '%s' (expected hull, "
				    "margin, joint or regression)",
				    arguments->method);
	if (options->fit.method && fit_method_missing(options->fit.method))
		return error_set(error, "--method %s: %s", arguments->method,
				 fit_method_missing(options->fit.method));
	if (parse_segments(arguments->segments, &options->fit.segments.given, error))
		return -1;
	return parse_bounds(arguments->bounds, &options->fit.bounds, error);
}

/* One --local argument. */
struct local_argument {
	const char *name; /* name of a capture or its node; NULL for all captures */
	size_t name_length;
	struct node_address *address;
	size_t addresses;
};

/*
 * Return true if the argument applies to a source: it names the source, or the node of a
 * source NAME:FILE, or nothing.
 */
static bool is_meant(const struct source *source, const struct local_argument *local)
{
	return !local->name ||
	       (source->name &&
		strncmp(source->name, local->name, local->name_length) == 0 &&
		(!source->name[local->name_length] ||
		 source->name[local->name_length] == ':'));
}

/*
 * Replace the addresses that the source had; those of further arguments are appended.
 * Return 0, or -1 with error (misuse).
 */
static int add_local(struct source *source, const struct local_argument *local,
		     size_t *capacity, struct error *error)
{
	/* --extract has already assigned the addresses. */
	if (source->extract && source->kind == SOURCE_CAPTURE)
		return error_misuse(error,
				    "--local: %s already says which packets were sent; "
				    "use --local when it is made",
				    source->path);
	if (!*capacity) {
		free(source->local);
		source->local = NULL;
		source->locals = 0;
	}
	for (size_t i = 0; i < local->addresses; i++)
		*MEM_NEXT(source->local, source->locals, *capacity) = local->address[i];
	return 0;
}

/*
 * Parse an argument's value: an address, or a file of addresses (a node.json or the
 * output of `ip -j addr`). Return 0, or -1 with error (misuse).
 */
static int parse_addresses(const char *text, struct local_argument *local,
			   struct error *error)
{
	struct problem_list ignored = {0};
	struct error cause = ERROR_INIT;
	struct node_facts facts;
	int status = 0;

	local->address = mem_alloc(sizeof(*local->address));
	local->addresses = 1;
	if (node_address_parse(text, local->address) == 0)
		return 0;
	if (access(text, F_OK))
		return error_misuse(
		    error, "--local: '%s' is neither an address nor a file", text);
	if (node_facts_read(&facts, text, &ignored, &cause)) {
		status = error_misuse(error, "--local: %s", error_text(&cause));
	} else if (!facts.addresses) {
		status = error_misuse(error, "--local: %s: no address in it", text);
	} else {
		free(local->address);
		local->address = facts.address;
		local->addresses = facts.addresses;
		facts.address = NULL;
	}
	node_facts_clear(&facts);
	error_clear(&cause);
	problem_clear(&ignored);
	return status;
}

static int refuse_name(const struct source_list *sources,
		       const struct local_argument *local, struct error *error)
{
	AUTOFREE char *name = mem_strndup(local->name, local->name_length);
	AUTOFREE const char **names = mem_zalloc((sources->count + 1) * sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; i < sources->count; i++)
		if (sources->item[i].kind == SOURCE_CAPTURE && sources->item[i].name)
			names[count++] = sources->item[i].name;
	return error_unknown_word(error, "--local: unknown capture", name, names, count,
				  NULL);
}

/* Apply an argument to its captures. Return 0, or -1 with error (misuse). */
static int set_local(struct source_list *sources, const struct local_argument *local,
		     size_t *capacity, struct error *error)
{
	bool found = !local->name;

	for (size_t i = 0; i < sources->count; i++) {
		struct source *source = &sources->item[i];

		if (source->kind != SOURCE_CAPTURE || !is_meant(source, local))
			continue;
		found = true;
		if (add_local(source, local, &capacity[i], error))
			return -1;
	}
	return found ? 0 : refuse_name(sources, local, error);
}

/*
 * Apply all --local arguments. They take precedence over node.json, and every "NAME="
 * must name a capture. Return 0, or -1 with error (misuse).
 */
static int set_locals(struct source_list *sources, struct error *error)
{
	const struct text_list *list = &sync_arguments.local;
	AUTOFREE size_t *capacity = mem_zalloc((sources->count + 1) * sizeof(*capacity));
	int status = 0;

	for (size_t i = 0; i < list->count && !status; i++) {
		const char *word = list->item[i], *equals = strchr(word, '=');
		struct local_argument local = {0};

		if (equals && equals > word) {
			local.name = word;
			local.name_length = (size_t)(equals - word);
		}
		status = parse_addresses(equals ? equals + 1 : word, &local, error);
		if (!status)
			status = set_local(sources, &local, capacity, error);
		free(local.address);
	}
	return status;
}

int sync_arguments_set_sources(struct source_list *sources, struct error *error)
{
	return set_locals(sources, error) ||
		       source_list_declare(sources, &sync_arguments.declare, error)
		   ? -1
		   : 0;
}
