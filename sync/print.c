/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/table.h"

enum { CELL = 64, MOST_REJECTED = 1000 };

/* A rate whose bounds reach this share of the drift limit's is no estimate. */
#define UNKNOWN_SHARE 0.9

/* "+-45.1 us" where both sides are about alike, else "-12.0 us +78.0 us". */
static void format_bound(char cell[CELL], const struct clock_bound *bound)
{
	char low[NSEC_TEXT] = "none", high[NSEC_TEXT] = "none";
	double least = (double)bound->low_ns, most = (double)bound->high_ns;

	if (bound->low_ns != NSEC_MIN)
		nsec_format_span(low, least);
	if (bound->high_ns != NSEC_MAX)
		nsec_format_span(high, most);
	if (bound->low_ns == NSEC_MIN || bound->high_ns == NSEC_MAX ||
	    fabs(most + least) > 0.1 * (most - least)) {
		snprintf(cell, CELL, "%.28s %s%.28s", low,
			 bound->high_ns != NSEC_MAX && most >= 0 ? "+" : "", high);
		return;
	}
	snprintf(cell, CELL, "+-%s", nsec_format_span(high, fabs(fmax(most, -least))));
}

static bool is_rate_known(const struct sync *sync, uint32_t clock)
{
	const struct region *region = &sync->region[clock];
	double limit = sync->options.drift_limit_ppm * 1e-6;

	return region->known &&
	       region->rate_high - region->rate_low < UNKNOWN_SHARE * 2 * limit;
}

static void format_drift(char drift[CELL], char bound[CELL], const struct sync *sync,
			 uint32_t clock)
{
	const struct region *region = &sync->region[clock];
	double rate = sync->clock[clock].rate;
	double most = fmax(region->rate_high - rate, rate - region->rate_low);

	if (!is_rate_known(sync, clock) && region->known)
		snprintf(drift, CELL, "unknown");
	else
		snprintf(drift, CELL, "%.4f ppm", rate * 1e6 + 0.0);
	if (!is_rate_known(sync, clock))
		snprintf(bound, CELL, "+-%g ppm", sync->options.drift_limit_ppm);
	else
		snprintf(bound, CELL, "+-%.4f ppm", most * 1e6);
}

static void add_clock_row(struct table *table, const struct sync *sync,
			  const struct clock_map *map, size_t index)
{
	const struct clock *clock = &map->clock[index];
	nsec_t middle = clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2;
	double offset = (double)nsec_sub(clock_correct(clock, middle), middle);
	char drift[CELL], drift_bound[CELL], at_middle[NSEC_TEXT], bound[CELL] = "none";
	char begin[NSEC_TEXT];
	const char *row[] = {clock->trace,
			     drift,
			     drift_bound,
			     at_middle,
			     bound,
			     begin,
			     clock_quality_name(clock->quality)};
	struct clock_bound here =
	    clock_bound_at(clock, middle, sync->options.drift_limit_ppm * 1e3);

	format_drift(drift, drift_bound, sync, sync->trace[index].clock);
	nsec_format_span(at_middle, offset);
	if (clock->bounds)
		format_bound(bound, &here);
	nsec_format_utc(begin, clock->begin_ns);
	table_add(table, row);
}

void print_clocks(const struct sync *sync, const struct clock_map *map, FILE *file)
{
	static const struct table_column column[] = {
	    {"TRACE", false}, {"DRIFT", true}, {"BOUND", true},    {"OFFSET", true},
	    {"BOUND", true},  {"BEGIN", true}, {"QUALITY", false},
	};
	struct table *table = table_new(column, sizeof(column) / sizeof(*column));

	for (size_t i = 0; i < map->clocks; i++)
		add_clock_row(table, sync, map, i);
	table_print(table, file);
	table_free(table);
}

static void format_latency(char cell[NSEC_TEXT], nsec_t latency)
{
	if (latency == NSEC_MAX)
		snprintf(cell, NSEC_TEXT, "-");
	else
		nsec_format_span(cell, (double)latency);
}

static void add_pair_row(struct table *table, const struct clock_pair *pair)
{
	char messages[CELL], hulls[CELL], ab[NSEC_TEXT], ba[NSEC_TEXT];
	char violations[CELL], rejected[CELL];
	const char *row[] = {pair->a,    pair->b,  messages,
			     hulls,      ab,       ba,
			     violations, rejected, clock_quality_name(pair->quality)};

	snprintf(messages, CELL, "%" PRIu64 " / %" PRIu64, pair->messages_ab,
		 pair->messages_ba);
	snprintf(hulls, CELL, "%zu / %zu", pair->hull_ab, pair->hull_ba);
	format_latency(ab, pair->min_latency_ab_ns);
	format_latency(ba, pair->min_latency_ba_ns);
	snprintf(violations, CELL, "%" PRIu64 " > %" PRIu64, pair->violations_before,
		 pair->violations_after);
	snprintf(rejected, CELL, "%" PRIu64, pair->rejected);
	table_add(table, row);
}

void print_pairs(const struct clock_map *map, FILE *file)
{
	static const struct table_column column[] = {
	    {"A", false},         {"B", false},          {"MESSAGES A>B / B>A", true},
	    {"HULLS", true},      {"LATENCY A>B", true}, {"B>A", true},
	    {"VIOLATIONS", true}, {"REJECTED", true},    {"QUALITY", false},
	};
	struct table *table = table_new(column, sizeof(column) / sizeof(*column));

	for (size_t i = 0; i < map->pairs; i++)
		add_pair_row(table, &map->pair[i]);
	table_print(table, file);
	table_free(table);
}

static void print_islands(const struct clock_map *map, FILE *file)
{
	fprintf(file, "%zu islands without a message between them:\n", map->islands);
	for (size_t i = 0; i < map->islands; i++) {
		fprintf(file, "  reference %s:", map->island[i].reference);
		for (size_t k = 0; k < map->island[i].traces; k++)
			fprintf(file, " %s", map->island[i].trace[k]);
		fputc('\n', file);
	}
}

static void print_unknown_drifts(const struct sync *sync, FILE *file)
{
	for (uint32_t i = 0; i < sync->clocks; i++)
		if (sync->graph.node[i].parent >= 0 && sync->region[i].known &&
		    !is_rate_known(sync, i))
			fprintf(file,
				"%s: its messages do not tell its drift; the limit of %g "
				"ppm sets its bounds\n",
				sync_clock_name(sync, i), sync->options.drift_limit_ppm);
}

void print_matching(const struct sync *sync, const struct clock_map *map, FILE *file)
{
	const struct clock_matching *matching = &map->matching;
	uint64_t before = 0, after = 0;

	for (size_t i = 0; i < map->pairs; i++) {
		before += map->pair[i].violations_before;
		after += map->pair[i].violations_after;
	}
	fprintf(file,
		"%" PRIu64 " messages; packets: %" PRIu64 " sent (%" PRIu64
		" unmatched), %" PRIu64 " received (%" PRIu64 " unmatched), %" PRIu64
		" ambiguous\n",
		matching->matched, matching->sent, matching->unmatched_sent,
		matching->received, matching->unmatched_received, matching->ambiguous);
	fprintf(file,
		"received before sent: %" PRIu64 " by the clocks as they were, %" PRIu64
		" as corrected; %" PRIu64 " rejected as false matches\n",
		before, after, sync->rejected);
	print_unknown_drifts(sync, file);
	if (map->islands > 1)
		print_islands(map, file);
}

struct rejected_list {
	struct sync *sync;
	FILE *file;
	size_t count;
};

static int print_if_rejected(void *context, struct message *message)
{
	struct rejected_list *list = context;
	const struct pair *pair = &list->sync->pairs.pair[message->pair];
	uint32_t from = message->forward ? pair->a : pair->b;
	uint32_t to = message->forward ? pair->b : pair->a;
	char sent[NSEC_TEXT], received[NSEC_TEXT];

	if (!message->rejected)
		return 0;
	fprintf(
	    list->file, "rejected: %s %s > %s %s\n", sync_clock_name(list->sync, from),
	    nsec_format_seconds(sent, message->send_ns), sync_clock_name(list->sync, to),
	    nsec_format_seconds(received, message->recv_ns));
	return ++list->count == MOST_REJECTED;
}

int print_rejected(struct sync *sync, FILE *file, struct error *error)
{
	struct rejected_list list = {sync, file, 0};

	if (message_log_walk(&sync->log, false, print_if_rejected, &list, error))
		return -1;
	if (sync->rejected > list.count)
		fprintf(file, "rejected: %" PRIu64 " more\n",
			sync->rejected - list.count);
	return 0;
}
