/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/map.h"

#include <inttypes.h>

#include "base/utf8.h"

/* A JSON string. A path may hold any bytes; those that are no UTF-8 become U+FFFD. */
static void write_text(FILE *file, const char *text)
{
	size_t length;

	fputc('"', file);
	for (text = text ? text : ""; *text; text += length ? length : 1) {
		length = utf8_length(text);
		if (length == 0)
			fputs(UTF8_REPLACEMENT, file);
		else if (*text == '"' || *text == '\\')
			fprintf(file, "\\%c", *text);
		else if (length == 1 && *text < 0x20)
			fprintf(file, "\\u%04x", (unsigned)*text);
		else
			fwrite(text, 1, length, file);
	}
	fputc('"', file);
}

/* "name": "text", and what comes after it */
static void write_member(FILE *file, const char *name, const char *text,
			 const char *after)
{
	fprintf(file, "\"%s\": ", name);
	write_text(file, text);
	fputs(after, file);
}

/* "name": number, or null where there is none */
static void write_nsec(FILE *file, const char *name, nsec_t value, nsec_t none,
		       const char *after)
{
	if (value == none)
		fprintf(file, "\"%s\": null%s", name, after);
	else
		fprintf(file, "\"%s\": %" PRId64 "%s", name, value, after);
}

/* Six decimals, the same in every locale, and no minus before a zero. */
static void write_rate(FILE *file, double rate_ppb)
{
	nsec_t millionths = nsec_round(rate_ppb * 1e6);
	uint64_t size = millionths < 0 ? -(uint64_t)millionths : (uint64_t)millionths;

	fprintf(file, "\"rate_ppb\": %s%" PRIu64 ".%06" PRIu64, millionths < 0 ? "-" : "",
		size / 1000000, size % 1000000);
}

/* What stands before the k-th item of a list that has a line an item. */
static const char *item_line(size_t k)
{
	return k ? ",\n    " : "\n    ";
}

/* What closes such a list of count items, and what comes after it. */
static void end_list(FILE *file, size_t count)
{
	fputs(count ? "\n  ],\n" : "],\n", file);
}

static void write_islands(const struct clock_map *map, FILE *file)
{
	fputs("  \"islands\": [", file);
	for (size_t i = 0; i < map->islands; i++) {
		const struct clock_island *island = &map->island[i];

		fputs(item_line(i), file);
		fputc('{', file);
		write_member(file, "reference", island->reference, ", \"traces\": [");
		for (size_t k = 0; k < island->traces; k++) {
			fputs(k ? ", " : "", file);
			write_text(file, island->trace[k]);
		}
		fputs("]}", file);
	}
	end_list(file, map->islands);
}

static void write_segments(const struct clock *clock, FILE *file)
{
	fputs("\"segments\": [", file);
	for (size_t k = 0; k < clock->segments; k++) {
		const struct clock_segment *segment = &clock->segment[k];

		fprintf(file, "%s{\"local_ns\": %" PRId64 ", \"ref_ns\": %" PRId64 ", ",
			k ? ", " : "", segment->local_ns, segment->ref_ns);
		write_rate(file, segment->rate_ppb);
		fputc('}', file);
	}
	fputc(']', file);
}

static void write_bounds(const struct clock *clock, FILE *file)
{
	fputs("\"bounds\": [", file);
	for (size_t k = 0; k < clock->bounds; k++) {
		const struct clock_bound *bound = &clock->bound[k];

		fprintf(file, "%s{\"local_ns\": %" PRId64 ", ", k ? ", " : "",
			bound->local_ns);
		write_nsec(file, "low_ns", bound->low_ns, NSEC_MIN, ", ");
		write_nsec(file, "high_ns", bound->high_ns, NSEC_MAX, "}");
	}
	fputc(']', file);
}

static void write_clocks(const struct clock_map *map, FILE *file)
{
	const char *const next = ",\n     ";

	fputs("  \"clocks\": [", file);
	for (size_t i = 0; i < map->clocks; i++) {
		const struct clock *clock = &map->clock[i];

		fputs(item_line(i), file);
		fputc('{', file);
		write_member(file, "trace", clock->trace, ", ");
		write_member(file, "path", clock->path, ", ");
		write_member(file, "reference", clock->reference, next);
		write_member(file, "quality", clock_quality_name(clock->quality), ", ");
		fprintf(file, "\"begin_ns\": %" PRId64 ", \"end_ns\": %" PRId64 "%s",
			clock->begin_ns, clock->end_ns, next);
		write_segments(clock, file);
		fputs(next, file);
		write_bounds(clock, file);
		fputc('}', file);
	}
	end_list(file, map->clocks);
}

static void write_pairs(const struct clock_map *map, FILE *file)
{
	fputs("  \"pairs\": [", file);
	for (size_t i = 0; i < map->pairs; i++) {
		const struct clock_pair *pair = &map->pair[i];

		fputs(item_line(i), file);
		fputc('{', file);
		write_member(file, "a", pair->a, ", ");
		write_member(file, "b", pair->b, ", ");
		fprintf(file,
			"\"messages_ab\": %" PRIu64 ", \"messages_ba\": %" PRIu64
			", \"rejected\": %" PRIu64
			",\n     \"hull_ab\": %zu, \"hull_ba\": %zu, ",
			pair->messages_ab, pair->messages_ba, pair->rejected,
			pair->hull_ab, pair->hull_ba);
		write_member(file, "quality", clock_quality_name(pair->quality),
			     ",\n     ");
		fprintf(file,
			"\"violations_before\": %" PRIu64
			", \"violations_after\": %" PRIu64 ",\n     ",
			pair->violations_before, pair->violations_after);
		write_nsec(file, "min_latency_ab_ns", pair->min_latency_ab_ns, NSEC_MAX,
			   ", ");
		write_nsec(file, "min_latency_ba_ns", pair->min_latency_ba_ns, NSEC_MAX,
			   "}");
	}
	end_list(file, map->pairs);
}

static void write_tie(const struct clock_tie *tie, FILE *file)
{
	fputc('{', file);
	write_member(file, "a", tie->a, ", ");
	write_member(file, "b", tie->b, ", ");
	fprintf(file,
		"\"packets\": %" PRIu64 ", \"rejected\": %" PRIu64
		",\n     \"offsets\": [",
		tie->packets, tie->rejected);
	for (size_t k = 0; k < tie->offsets; k++) {
		const struct clock_offset *offset = &tie->offset[k];

		fprintf(file,
			"%s{\"local_ns\": %" PRId64 ", \"offset_ns\": %" PRId64
			", \"low_ns\": %" PRId64 ", \"high_ns\": %" PRId64 "}",
			k ? ", " : "", offset->local_ns, offset->offset_ns,
			offset->low_ns, offset->high_ns);
	}
	fputs("]}", file);
}

/* Left out where there is none. */
static void write_ties(const struct clock_map *map, FILE *file)
{
	if (!map->ties)
		return;
	fputs("  \"ties\": [", file);
	for (size_t i = 0; i < map->ties; i++) {
		fputs(item_line(i), file);
		write_tie(&map->tie[i], file);
	}
	end_list(file, map->ties);
}

static void write_matching(const struct clock_matching *matching, FILE *file)
{
	fprintf(file,
		"  \"matching\": {\"sent\": %" PRIu64 ", \"received\": %" PRIu64
		", \"matched\": %" PRIu64 ", \"ambiguous\": %" PRIu64
		",\n    \"unmatched_sent\": %" PRIu64 ", \"unmatched_received\": %" PRIu64
		", \"inside\": %" PRIu64 "}\n",
		matching->sent, matching->received, matching->matched,
		matching->ambiguous, matching->unmatched_sent,
		matching->unmatched_received, matching->inside);
}

void clock_map_write(const struct clock_map *map, FILE *file)
{
	fputs("{\n  \"format\": \"clustertrace-clocks\",\n  \"version\": 1,\n  ", file);
	write_member(file, "reference", map->reference, ",\n");
	write_islands(map, file);
	write_clocks(map, file);
	write_pairs(map, file);
	write_ties(map, file);
	write_matching(&map->matching, file);
	fputs("}\n", file);
}
