/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/table.h"
#include "base/utf8.h"
#include "sync/observe/declared.h"
#include "sync/observe/steps.h"

enum {
	CELL = 64,
	MOST_REJECTED = 1000,
	DAY_END = 11, /* characters of zone_format before the hour */
	TENTHS = 21,  /* and up to the tenths of a second */
};

/* Latencies and bounds have digits down to a tenth of a microsecond at the most. */
struct unit {
	double ns;
	int digits;
	const char *name;
};

static const struct unit *unit_of(double span_ns)
{
	static const struct unit units[] = {
	    {1e9, 3, " s"}, {1e6, 2, " ms"}, {1e3, 1, " us"}, {1, 0, " ns"}};
	size_t k = 0;

	while (k < 3 && span_ns < units[k].ns)
		k++;
	return &units[k];
}

/* Return the number of decimals, up to `most`, that shows three digits of a bound. */
static int bound_digits(double bound, int most)
{
	int digits = bound > 0 ? 2 - (int)floor(log10(bound)) : most;

	return digits < 0 ? 0 : digits > most ? most : digits;
}

/* Away from zero, so that what is shown bounds as well; a share is for rounding errors.
 */
static double bound_shown(double bound, int digits)
{
	double scale = pow(10, digits);

	return copysign(ceil(fabs(bound) * scale * (1 - 1e-12)) / scale, bound);
}

/* A rate with a bound above this share of the drift limit is not estimated. */
#define UNKNOWN_SHARE 0.9

/* Return true if both sides are finite and about equal. */
static bool is_even(const struct clock_bound *bound)
{
	double least = (double)bound->low_ns, most = (double)bound->high_ns;

	return bound->low_ns != NSEC_MIN && bound->high_ns != NSEC_MAX &&
	       fabs(most + least) <= 0.1 * (most - least);
}

/* Its wider side, of those that are not open. */
static double widest_side(const struct clock_bound *bound)
{
	double low = bound->low_ns != NSEC_MIN ? fabs((double)bound->low_ns) : 0;
	double high = bound->high_ns != NSEC_MAX ? fabs((double)bound->high_ns) : 0;

	return fmax(low, high);
}

/* Format a bound: "+-45.1 us" if both sides are about equal, otherwise "-12.0/+78.0 us"
 * in the unit of the wider side. With `in_ns`, in ns without the unit, for a column with
 * one unit. */
static void format_bound(char cell[CELL], const struct clock_bound *bound, bool in_ns)
{
	double wide = widest_side(bound);
	const struct unit *unit = unit_of(in_ns ? 0 : wide);
	int digits = bound_digits(wide / unit->ns, unit->digits);
	const char *name = in_ns ? "" : unit->name;
	char low[24] = "none", high[24] = "none";

	if (bound->low_ns != NSEC_MIN)
		snprintf(low, sizeof(low), "%+.*f", digits,
			 bound_shown((double)bound->low_ns / unit->ns, digits));
	if (bound->high_ns != NSEC_MAX)
		snprintf(high, sizeof(high), "%+.*f", digits,
			 bound_shown((double)bound->high_ns / unit->ns, digits));
	if (bound->low_ns == NSEC_MIN && bound->high_ns == NSEC_MAX)
		snprintf(cell, CELL, "none");
	else if (is_even(bound))
		snprintf(cell, CELL, "+-%.*f%s", digits,
			 bound_shown(wide / unit->ns, digits), name);
	else
		snprintf(cell, CELL, "%s/%s%s", low, high, name);
}

/* The mean rate of a clock's correction, and how far it may be off. No unit. */
struct drift {
	double rate, bound;
	enum {
		DRIFT_KNOWN,
		DRIFT_LIMITED, /* by the drift limit only */
		DRIFT_UNBOUND, /* what is fitted breaks the limit, so it bounds nothing */
	} kind;
};

static struct drift drift_of(const struct synchronization *sync, uint32_t index)
{
	const struct rate_bound *rate = &sync->verdict.rate[index];
	const struct clock *clock = &sync->verdict.clock[index];
	struct drift drift = {.rate = clock_mean_rate(clock), .bound = HUGE_VAL};

	if (rate->known)
		drift.bound = fmax(rate->high - drift.rate, drift.rate - rate->low);
	if (!(drift.bound < UNKNOWN_SHARE * sync->network.limit))
		drift.kind = clock->bounds ? DRIFT_LIMITED : DRIFT_UNBOUND;
	return drift;
}

/* On a terminal: whether the clock is fast, rather than what is added to correct it. */
static void format_drift(char text[CELL], char bound[CELL],
			 const struct synchronization *sync, uint32_t clock,
			 bool on_terminal)
{
	struct drift drift = drift_of(sync, clock);
	double ppm = drift.rate * 1e6;
	double bound_ppm =
	    drift.kind == DRIFT_KNOWN ? drift.bound * 1e6 : sync->network.limit_ppm;
	int digits = bound_digits(bound_ppm, 3);

	if (drift.kind == DRIFT_LIMITED)
		snprintf(text, CELL, "unknown");
	else if (on_terminal)
		snprintf(text, CELL, "%.*f%s", digits, fabs(ppm),
			 fabs(ppm) < 0.0005 ? "     "
			 : ppm < 0          ? " fast"
					    : " slow");
	else
		snprintf(text, CELL, "%.3f", ppm + 0.0);
	if (drift.kind == DRIFT_UNBOUND)
		snprintf(bound, CELL, "none");
	else
		snprintf(bound, CELL, "+-%.*f", digits, bound_shown(bound_ppm, digits));
}

/* Return true if all traces start on one day, so that it need not be repeated. */
static bool begin_on_one_day(const struct clock_map *map, const struct zone *zone)
{
	for (size_t i = 1; i < map->clocks; i++)
		if (!zone_is_one_day(zone, map->clock[i].begin_ns,
				     map->clock[0].begin_ns))
			return false;
	return true;
}

/* Return the time in a span at which the bounds of a clock are narrowest. */
static nsec_t best_known(const struct clock *clock, nsec_t from, nsec_t to)
{
	nsec_t at = from + nsec_sub(to, from) / 2, least = NSEC_MAX;

	for (size_t i = 0; i < clock->bounds; i++) {
		const struct clock_bound *bound = &clock->bound[i];
		nsec_t width = nsec_sub(bound->high_ns, bound->low_ns);

		if (bound->local_ns > from && bound->local_ns < to && width < least) {
			at = bound->local_ns;
			least = width;
		}
	}
	return at;
}

#define WORSE 4 /* times as wide as the narrowest bounds */

nsec_t offset_time(const struct synchronization *sync, const struct clock *clock)
{
	double limit_ppb = sync->network.limit_ppm * 1e3;
	nsec_t middle = clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2;
	nsec_t best = best_known(clock, clock->begin_ns, clock->end_ns);
	struct clock_bound here = clock_bound_at(clock, middle, limit_ppb);
	struct clock_bound there = clock_bound_at(clock, best, limit_ppb);

	return clock->steps && nsec_sub(here.high_ns, here.low_ns) / WORSE >
				   nsec_sub(there.high_ns, there.low_ns)
		   ? best
		   : middle;
}

static struct clock_bound bound_of(const struct synchronization *sync,
				   const struct clock *clock)
{
	return clock_bound_at(clock, offset_time(sync, clock),
			      sync->network.limit_ppm * 1e3);
}

/* Return the resolution (ns) of offsets: three digits of the narrowest bound. */
static double offset_resolution(const struct synchronization *sync,
				const struct clock_map *map)
{
	double least = 1e9;

	for (size_t i = 0; i < map->clocks; i++) {
		struct clock_bound bound = bound_of(sync, &map->clock[i]);
		double side = map->clock[i].bounds ? widest_side(&bound) : 0;

		if (side > 0 && side < least)
			least = side;
	}
	return fmax(1, pow(10, floor(log10(least)) - 2));
}

static void add_clock_row(struct table *table, const struct synchronization *sync,
			  const struct clock_map *map, size_t index,
			  const struct zone *zone, bool on_terminal)
{
	const struct clock *clock = &map->clock[index];
	const struct trace_clock *of = &sync->network.clocks.of_trace[index];
	nsec_t middle = offset_time(sync, clock);
	nsec_t offset =
	    nsec_sub(clock_correct(clock, middle), shown_at(&of->trace->facts, middle));
	char drift[CELL], drift_bound[CELL], at_middle[NSEC_TEXT], bound[CELL] = "none";
	char begin[NSEC_TEXT];
	const char *row[] = {clock->trace,
			     drift,
			     drift_bound,
			     at_middle,
			     bound,
			     begin,
			     clock_quality_name(clock->quality)};
	struct clock_bound here = bound_of(sync, clock);

	format_drift(drift, drift_bound, sync, of->clock_index, on_terminal);
	if (on_terminal)
		snprintf(at_middle, sizeof(at_middle), "%" PRId64, offset);
	else
		nsec_format_span(at_middle, (double)offset);
	if (clock->bounds)
		format_bound(bound, &here, on_terminal);
	zone_format(begin, zone, clock->begin_ns);
	begin[TENTHS] = '\0';
	if (begin_on_one_day(map, zone))
		row[5] += DAY_END;
	table_add(table, row);
}

void print_clocks(const struct synchronization *sync, const struct clock_map *map,
		  bool is_local, FILE *file)
{
	struct zone zone = zone_at(is_local, map->clocks ? map->clock[0].begin_ns : 0);
	bool on_terminal = table_on_terminal(file), has_zone = is_local && !on_terminal;
	char begin[CELL];
	const struct table_column column[] = {
	    {.title = "TRACE"},
	    {on_terminal ? "DRIFT" : "DRIFT/PPM", .right = true, .unit = "ppm"},
	    {on_terminal ? "DRIFT BOUND" : "BOUND", .right = true, .unit = "ppm"},
	    {"OFFSET", .right = true, .units = table_spans,
	     .resolution = offset_resolution(sync, map)},
	    {on_terminal ? "OFFSET BOUND" : "BOUND", .right = true, .units = table_spans,
	     .is_bound = true},
	    {begin, .right = true, .unit = zone.name},
	    {.title = "QUALITY"},
	};
	struct table *table;

	snprintf(begin, sizeof(begin), "BEGIN%s%s", has_zone ? "/" : "",
		 has_zone ? zone.name : "");
	table = table_new(column, sizeof(column) / sizeof(*column));
	for (size_t i = 0; i < map->clocks; i++)
		add_clock_row(table, sync, map, i, &zone, on_terminal);
	table_print(table, file);
	table_free(table);
}

static void format_latency(char cell[NSEC_TEXT], nsec_t latency, bool on_terminal)
{
	const struct unit *unit = unit_of(fabs((double)latency));

	if (latency == NSEC_MAX)
		snprintf(cell, NSEC_TEXT, "-");
	else if (on_terminal)
		snprintf(cell, NSEC_TEXT, "%" PRId64, latency);
	else
		snprintf(cell, NSEC_TEXT, "%.*f%s", unit->digits,
			 (double)latency / unit->ns, unit->name);
}

static void add_pair_row(struct table *table, const struct clock_pair *pair,
			 bool on_terminal)
{
	char name[2 * CELL], messages[CELL], hulls[CELL], ab[NSEC_TEXT], ba[NSEC_TEXT];
	char violations[CELL], rejected[CELL];
	const char *row[] = {
	    name, messages,   hulls,    ab,
	    ba,   violations, rejected, clock_quality_name(pair->quality)};

	snprintf(name, sizeof(name), "%s %s", pair->a, pair->b);
	snprintf(messages, CELL, "%" PRIu64 "/%" PRIu64, pair->messages_ab,
		 pair->messages_ba);
	snprintf(hulls, CELL, "%" PRIu64 "/%" PRIu64, pair->hull_ab, pair->hull_ba);
	format_latency(ab, pair->min_latency_ab_ns, on_terminal);
	format_latency(ba, pair->min_latency_ba_ns, on_terminal);
	snprintf(violations, CELL, "%" PRIu64 ">%" PRIu64, pair->violations_before,
		 pair->violations_after);
	snprintf(rejected, CELL, "%" PRIu64, pair->rejected);
	table_add(table, row);
}

void print_pairs(const struct clock_map *map, FILE *file)
{
	static const struct table_column column[] = {
	    {.title = "A B"},
	    {.title = "MESSAGES", .right = true},
	    {.title = "HULLS", .right = true},
	    {.title = "MIN A>B", .right = true, .units = table_spans},
	    {.title = "MIN B>A", .right = true, .units = table_spans},
	    {.title = "VIOLATED", .right = true},
	    {.title = "FALSE", .right = true},
	    {.title = "QUALITY"},
	};
	struct table *table = table_new(column, sizeof(column) / sizeof(*column));
	bool on_terminal = table_on_terminal(file);

	for (size_t i = 0; i < map->pairs; i++)
		add_pair_row(table, &map->pair[i], on_terminal);
	table_print(table, file);
	table_free(table);
}

static void add_limit_row(struct table *table, const struct clock_limit *limit,
			  bool on_terminal)
{
	char sent[NSEC_TEXT], received[NSEC_TEXT], sent_away[NSEC_TEXT],
	    received_away[NSEC_TEXT], drift[CELL] = "-", others[CELL] = "-";
	const char *row[] = {limit->trace,
			     limit->sent_to ? limit->sent_to : "-",
			     sent,
			     sent_away,
			     limit->received_from ? limit->received_from : "-",
			     received,
			     received_away,
			     drift,
			     others,
			     *limit->help ? limit->help : "-"};
	double width = (double)limit->sent_latency_ns +
		       (double)limit->received_latency_ns + (double)limit->drift_ns +
		       (double)limit->others_ns;

	format_latency(sent, limit->sent_latency_ns, on_terminal);
	format_latency(sent_away, limit->sent_away_ns, on_terminal);
	format_latency(received, limit->received_latency_ns, on_terminal);
	format_latency(received_away, limit->received_away_ns, on_terminal);
	if (limit->drift_ns != NSEC_MAX && width > 0) {
		snprintf(drift, CELL, "%.0f%%", 100 * (double)limit->drift_ns / width);
		snprintf(others, CELL, "%.0f%%", 100 * (double)limit->others_ns / width);
	}
	table_add(table, row);
}

void print_limits(const struct clock_map *map, FILE *file)
{
	static const struct table_column column[] = {
	    {.title = "TRACE"},
	    {.title = "SENT TO"},
	    {.title = "LATENCY", .right = true, .units = table_spans},
	    {.title = "AGO", .right = true, .units = table_spans},
	    {.title = "RECEIVED FROM"},
	    {.title = "LATENCY", .right = true, .units = table_spans},
	    {.title = "AGO", .right = true, .units = table_spans},
	    {.title = "DRIFT", .right = true},
	    {.title = "OTHERS", .right = true},
	    {.title = "HELP"},
	};
	struct table *table = table_new(column, sizeof(column) / sizeof(*column));
	bool on_terminal = table_on_terminal(file);

	for (size_t i = 0; i < map->limits; i++)
		add_limit_row(table, &map->limit[i], on_terminal);
	table_print(table, file);
	table_free(table);
}

static void print_name(FILE *file, const char *before, const char *name)
{
	fputs(before, file);
	utf8_print(file, name);
}

static void print_islands(const struct synchronization *sync, const struct clock_map *map,
			  FILE *file)
{
	fprintf(file, "%zu islands without %s between them:\n", map->islands,
		pairs_have_contradictory(&sync->network.pairs)
		    ? "messages that can be true"
		    : "a message");
	for (size_t i = 0; i < map->islands; i++) {
		print_name(file, "  reference ", map->island[i].reference);
		fputc(':', file);
		for (size_t k = 0; k < map->island[i].traces; k++)
			print_name(file, " ", map->island[i].trace[k]);
		fputc('\n', file);
	}
}

static void print_drift_remark(const struct synchronization *sync, uint32_t clock,
			       FILE *file)
{
	struct drift drift = drift_of(sync, clock);
	bool is_limited = drift.kind == DRIFT_LIMITED;

	if (!is_limited && drift.kind != DRIFT_UNBOUND)
		return;
	print_name(file, "", network_clock_name(&sync->network, clock));
	fprintf(file,
		is_limited
		    ? ": its messages do not tell its drift; the limit of %g ppm "
		      "sets its bounds\n"
		    : ": no drift within the limit of %g ppm satisfies its messages, "
		      "so nothing bounds it\n",
		sync->network.limit_ppm);
}

enum { PARTS_MOST = 9 }; /* parts between steps that are printed */

/* Print the offset in each part of a clock's time between steps, where it is known best.
 */
static void print_parts(const struct synchronization *sync, uint32_t index, FILE *file)
{
	const struct clock *clock = &sync->verdict.clock[index];
	const struct run_clock *of = &sync->network.clocks.clock[index];
	const struct trace_facts *facts = &of->trace->facts;
	nsec_t from = clock->begin_ns;

	for (size_t k = 0; clock->steps && k <= clock->steps && k < PARTS_MOST; k++) {
		nsec_t to = k == clock->steps ? clock->end_ns : clock->step[k].local_ns;
		nsec_t at = best_known(clock, from, to);
		char offset[NSEC_TEXT], bound[CELL] = "none";
		struct clock_bound here =
		    clock_bound_at(clock, at, sync->network.limit_ppm * 1e3);

		nsec_format_span(offset, (double)nsec_sub(clock_correct(clock, at),
							  shown_at(facts, at)));
		if (clock->bounds)
			format_bound(bound, &here, false);
		print_name(file, "", of->name);
		fprintf(file, ": offset %s %s %s step %zu\n", offset, bound,
			k ? "after" : "before", k ? k : 1);
		from = to;
	}
}

/* Print a clock's properties that the table cannot show. */
static void print_remarks(const struct synchronization *sync, FILE *file)
{
	const struct network *net = &sync->network;

	for (uint32_t i = 0; i < net->clocks.count; i++) {
		if (net->graph.node[i].parent < 0)
			continue;
		if (sync->verdict.clock[i].segments > 1) {
			print_name(file, "", network_clock_name(net, i));
			fprintf(file, ": %zu segments%s\n",
				sync->verdict.clock[i].segments,
				drift_of(sync, i).kind == DRIFT_LIMITED
				    ? ""
				    : "; the drift is their mean");
			print_parts(sync, i, file);
		}
		print_drift_remark(sync, i, file);
	}
}

/* Sources that share a host's oscillator, and how well that is known. */
static void print_ties(const struct clock_map *map, FILE *file)
{
	for (size_t i = 0; i < map->ties; i++) {
		const struct clock_tie *tie = &map->tie[i];
		struct clock_bound widest = {0, 0, 0};
		char bound[CELL];

		for (size_t k = 0; k < tie->offsets; k++)
			clock_bound_widen(&widest,
					  &(struct clock_bound){0, tie->offset[k].low_ns,
								tie->offset[k].high_ns});
		print_name(file, "", tie->b);
		print_name(file, ": tied to ", tie->a);
		if (!tie->packets && !tie->samples) {
			fputs(" as captures of one node\n", file);
			continue;
		}
		format_bound(bound, &widest, false);
		fprintf(file, " within %s by %" PRIu64 " %s\n", bound,
			tie->packets + tie->samples,
			tie->samples ? "samples of clock.csv" : "packets that both sent");
	}
}

void print_matching(const struct synchronization *sync, const struct clock_map *map,
		    FILE *file)
{
	const struct clock_matching *matching = &map->matching;
	uint64_t before = 0, after = 0;

	for (size_t i = 0; i < map->pairs; i++) {
		before += map->pair[i].violations_before;
		after += map->pair[i].violations_after;
	}
	fprintf(file,
		"messages  %" PRIu64 ", %" PRIu64 " rejected as false matches\n"
		"sent      %" PRIu64 ", %" PRIu64 " unmatched\n"
		"received  %" PRIu64 ", %" PRIu64 " unmatched\n"
		"ambiguous %" PRIu64 "\n"
		"received before sent: %" PRIu64 " by the clocks as they were, %" PRIu64
		" as corrected\n",
		matching->matched, pairs_rejected(&sync->network.pairs), matching->sent,
		matching->unmatched_sent, matching->received,
		matching->unmatched_received, matching->ambiguous, before, after);
	declared_print(sync->network.clocks.seen, file);
	print_ties(map, file);
	print_remarks(sync, file);
	if (map->islands > 1)
		print_islands(sync, map, file);
}

struct rejected_list {
	const struct network *net;
	FILE *file;
	uint64_t count;
};

static int print_if_rejected(void *context, const struct message *message)
{
	struct rejected_list *list = context;
	const struct network *net = list->net;
	char sent[NSEC_TEXT], received[NSEC_TEXT];

	if (!message->rejected)
		return 0;
	print_name(list->file, "rejected: ",
		   network_clock_name(net, message_from(&net->log, message)));
	fprintf(list->file, " %s", nsec_format_seconds(sent, message->send_ns));
	print_name(list->file, " > ",
		   network_clock_name(net, message_to(&net->log, message)));
	fprintf(list->file, " %s\n", nsec_format_seconds(received, message->recv_ns));
	return ++list->count == MOST_REJECTED;
}

int print_rejected(const struct network *net, FILE *file, struct error *error)
{
	struct rejected_list list = {net, file, 0};

	if (message_log_each(&net->log, print_if_rejected, &list, error))
		return -1;
	if (pairs_rejected(&net->pairs) > list.count)
		fprintf(file, "rejected: %" PRIu64 " more\n",
			pairs_rejected(&net->pairs) - list.count);
	return 0;
}
