/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/order.h"
#include "input/csv.h"

/* The sources of claims that a node may have; a file that names more is damaged. */
enum { SOURCES_MOST = 64 };

bool claims_are_of_server(const char *source)
{
	return strchr(source, ':');
}

static struct clock_claims *find_claims(struct node_claims *claims, const char *source)
{
	for (size_t i = 0; i < claims->sources; i++)
		if (strcmp(claims->source[i].source, source) == 0)
			return &claims->source[i];
	return NULL;
}

static struct clock_claims *claims_of(struct node_claims *claims, const char *source)
{
	struct clock_claims *known = find_claims(claims, source);

	if (known)
		return known;
	*MEM_NEXT(claims->source, claims->sources, claims->capacity) =
	    (struct clock_claims){.source = mem_strdup(source)};
	return &claims->source[claims->sources - 1];
}

static void add_claim(struct clock_claims *claims, const struct clock_claim *claim)
{
	*MEM_NEXT(claims->claim, claims->count, claims->capacity) = *claim;
}

enum { AT, SOURCE, STATUS, TOOK, OFFSET, BOUND, FREQUENCY, ESTIMATE, COLUMNS };

static const struct csv_columns claim_columns = {
    (const struct csv_column[COLUMNS]){{"realtime_ns", CSV_STAMP},
				       {"source", CSV_TEXT},
				       {"status", CSV_TEXT},
				       {"took_ns", CSV_COUNT},
				       {"offset_ns", CSV_REAL},
				       {"bound_ns", CSV_COUNT},
				       {"frequency_ppb", CSV_REAL},
				       {"estimate_ns", CSV_COUNT}},
    COLUMNS, STATUS + 1, false, false};

/* Times that can be added up without overflow: 2.3 years. */
#define CLAIM_MOST ((nsec_t)1 << 56)

static bool is_possible(const struct clock_claim *claim)
{
	return claim->took_ns >= 0 && claim->took_ns <= CLAIM_MOST &&
	       claim->bound_ns >= 0 && claim->bound_ns <= CLAIM_MOST &&
	       claim->offset_ns >= -CLAIM_MOST && claim->offset_ns <= CLAIM_MOST;
}

/* Set a claim of a row with a bound. Return false if it states absurd times. */
static bool parse_claim(const struct csv_cell *cell, struct clock_claim *claim)
{
	*claim = (struct clock_claim){
	    .realtime_ns = cell[AT].integer,
	    .took_ns = cell[TOOK].text ? cell[TOOK].integer : 0,
	    .offset_ns = cell[OFFSET].text ? nsec_round(cell[OFFSET].real) : 0,
	    .bound_ns = cell[BOUND].integer,
	};
	return is_possible(claim);
}

/* Add what a row says of the offset and the frequency, if anything. */
static void add_steering(struct clock_claims *claims, const struct csv_cell *cell)
{
	struct clock_steering row = {cell[AT].integer, NSEC_MIN, NSEC_MIN};

	if (cell[OFFSET].text && fabs(cell[OFFSET].real) <= (double)CLAIM_MOST)
		row.offset_ns = nsec_round(cell[OFFSET].real);
	if (cell[FREQUENCY].text && fabs(cell[FREQUENCY].real) <= 1e9)
		row.frequency_ppb = nsec_round(cell[FREQUENCY].real);
	if (row.offset_ns != NSEC_MIN || row.frequency_ppb != NSEC_MIN)
		*MEM_NEXT(claims->steering, claims->steerings,
			  claims->steering_capacity) = row;
}

static void read_csv(struct node_claims *claims, const char *path,
		     struct problem_log *log)
{
	struct csv *csv = csv_open(path, &claim_columns, log);
	struct clock_claim claim;
	struct csv_row row;

	while (csv && csv_next(csv, &row)) {
		const char *source = row.cell[SOURCE].text;
		bool is_server = claims_are_of_server(source);
		struct clock_claims *of = claims->sources < SOURCES_MOST
					      ? claims_of(claims, source)
					      : find_claims(claims, source);

		if (of && !is_server)
			add_steering(of, row.cell);
		if (!of)
			problem_log_add(log, PROBLEM_BROKEN, row.line,
					"line skipped (more than %d sources)",
					SOURCES_MOST);
		else if (!is_server && strcmp(row.cell[STATUS].text, "synchronized"))
			of->unsynchronized++;
		else if (!row.cell[BOUND].text)
			of->unbounded++;
		else if (parse_claim(row.cell, &claim))
			add_claim(of, &claim);
		else
			problem_log_add(log, PROBLEM_BROKEN, row.line,
					"line skipped (expected took_ns, offset_ns and "
					"bound_ns within two years)");
	}
	if (csv)
		csv_close(csv);
}

enum { LOG_DATE, LOG_TIME, LOG_ADDRESS, LOG_LEAP = 7, LOG_ERROR = 13, LOG_FIELDS };

/* Split a line at blanks. Return the number of fields, at most LOG_FIELDS + 1. */
static size_t split_line(char *line, char *field[LOG_FIELDS + 1])
{
	size_t count = 0;
	char *rest;

	for (char *word = strtok_r(line, " \t", &rest); word && count <= LOG_FIELDS;
	     word = strtok_r(NULL, " \t", &rest))
		field[count++] = word;
	return count;
}

/*
 * Read a line of chrony's tracking.log. Its Max. error includes the offset and the
 * correction that remains. Its time is that of a second. Return 0, or -1 if it is not
 * one.
 */
static int read_tracking_line(struct clock_claims *claims, char *line)
{
	struct clock_claim claim = {.took_ns = NSEC_PER_SEC};
	struct error ignored = ERROR_INIT;
	char *field[LOG_FIELDS + 1], *when;
	double error_s;
	int status;

	if (split_line(line, field) != LOG_FIELDS)
		return -1;
	when = mem_printf("%sT%s", field[LOG_DATE], field[LOG_TIME]);
	status = instant_parse(when, 0, &claim.realtime_ns, &ignored) ||
		 number_real(field[LOG_ERROR], &error_s) || error_s < 0 ||
		 error_s * 1e9 > (double)CLAIM_MOST;
	free(when);
	error_clear(&ignored);
	if (status)
		return -1;
	claim.bound_ns = nsec_round(error_s * 1e9);
	if (strcmp(field[LOG_LEAP], "?") == 0 ||
	    strcmp(field[LOG_ADDRESS], "127.127.1.1") == 0)
		claims->unsynchronized++;
	else
		add_claim(claims, &claim);
	return 0;
}

static void read_tracking(struct node_claims *claims, const char *path,
			  struct problem_log *log)
{
	struct line_reader *lines = line_reader_open(path, log);
	struct clock_claims *of = lines ? claims_of(claims, "tracking.log") : NULL;
	struct text_line line;

	while (lines && line_reader_next(lines, &line)) {
		/* The heading, and rules around it. */
		if (!line.length || line.text[0] == '=' ||
		    strstr(line.text, "Date (UTC)"))
			continue;
		if (!line.ended)
			problem_log_add(log, PROBLEM_TRUNCATED, line.number,
					"incomplete last line skipped");
		else if (read_tracking_line(of, line.text))
			problem_log_add(log, PROBLEM_BROKEN, line.number,
					"line skipped (expected the %d columns of "
					"chrony's tracking.log)",
					LOG_FIELDS);
	}
	if (lines)
		line_reader_close(lines);
}

/* Count the lines with an offset, of ptp4l and of phc2sys, which a journal may mix. */
static void read_ptp4l(struct node_claims *claims, const char *path,
		       struct problem_log *log)
{
	struct line_reader *lines = line_reader_open(path, log);
	struct text_line line;

	while (lines && line_reader_next(lines, &line)) {
		bool is_offset =
		    strstr(line.text, " offset ") && strstr(line.text, " freq ");
		bool is_summary =
		    strstr(line.text, " rms ") && strstr(line.text, " max ");
		struct clock_claims *of;

		if (!is_offset && !is_summary)
			continue;
		of = claims_of(claims, strstr(line.text, "phc2sys") ? "phc2sys.log"
								    : "ptp4l.log");
		/* s2 and s3: the servo follows the offsets. */
		if (is_summary || strstr(line.text, " s2 ") || strstr(line.text, " s3 "))
			of->unbounded++;
		else
			of->unsynchronized++;
	}
	if (lines)
		line_reader_close(lines);
}

static const struct {
	const char *name;
	void (*read)(struct node_claims *claims, const char *path,
		     struct problem_log *log);
} claims_file[] = {{"clock_claims.csv", read_csv},
		   {"tracking.log", read_tracking},
		   {"ptp4l.log", read_ptp4l},
		   {"phc2sys.log", read_ptp4l}};

void node_claims_read(struct node_claims *claims, const char *directory,
		      struct problem_list *problems)
{
	memset(claims, 0, sizeof(*claims));
	for (size_t i = 0; i < sizeof(claims_file) / sizeof(*claims_file); i++) {
		AUTOFREE char *path = mem_printf("%s/%s", directory, claims_file[i].name);
		struct problem_log log;

		if (access(path, F_OK))
			continue;
		problem_log_init(&log, path, problems);
		claims_file[i].read(claims, path, &log);
	}
	for (size_t i = 0; i < claims->sources; i++) {
		struct clock_claims *of = &claims->source[i];

		/* Both begin with realtime_ns. */
		SORT(of->claim, of->count, nsec_compare);
		SORT(of->steering, of->steerings, nsec_compare);
	}
}

/* Rows of integers as an array of arrays. */
static json_t *rows_array(const nsec_t *number, size_t rows, size_t columns)
{
	json_t *array = json_array();

	for (size_t i = 0; i < rows; i++) {
		json_t *row = json_array();

		for (size_t k = 0; k < columns; k++)
			json_array_append_new(row, json_integer(number[i * columns + k]));
		json_array_append_new(array, row);
	}
	return array;
}

/* The rows of claims and of steering are nothing but their integers. */
enum {
	CLAIM_NUMBERS = sizeof(struct clock_claim) / sizeof(nsec_t),
	STEERING_NUMBERS = sizeof(struct clock_steering) / sizeof(nsec_t)
};

json_t *node_claims_array(const struct node_claims *claims)
{
	json_t *array = json_array();

	for (size_t i = 0; i < claims->sources; i++) {
		const struct clock_claims *of = &claims->source[i];
		json_t *object = json_object();

		json_set_text(object, "source", of->source);
		json_object_set_new(object, "unbounded",
				    json_integer((json_int_t)of->unbounded));
		json_object_set_new(object, "unsynchronized",
				    json_integer((json_int_t)of->unsynchronized));
		json_object_set_new(
		    object, "claims",
		    rows_array(&of->claim->realtime_ns, of->count, CLAIM_NUMBERS));
		json_object_set_new(object, "steering",
				    rows_array(&of->steering->realtime_ns, of->steerings,
					       STEERING_NUMBERS));
		json_array_append_new(array, object);
	}
	return array;
}

/* Read a row of integers, the first one a time. Return false if it is invalid. */
static bool parse_row(const json_t *row, nsec_t *number, size_t columns)
{
	for (size_t i = 0; i < columns; i++) {
		const json_t *value = json_array_get(row, i);

		if (!json_is_integer(value))
			return false;
		number[i] = json_integer_value(value);
	}
	return nsec_is_stamp(number[0]);
}

void node_claims_parse(struct node_claims *claims, const json_t *array)
{
	memset(claims, 0, sizeof(*claims));
	for (size_t i = 0; i < json_array_size(array) && i < SOURCES_MOST; i++) {
		const json_t *object = json_array_get(array, i);
		const json_t *rows = json_object_get(object, "claims");
		const json_t *steering = json_object_get(object, "steering");
		const char *source = json_text(object, "source");
		struct clock_claims *of = claims_of(claims, source ? source : "");
		nsec_t count;

		if (!json_nsec(object, "unbounded", &count) && count >= 0)
			of->unbounded = (uint64_t)count;
		if (!json_nsec(object, "unsynchronized", &count) && count >= 0)
			of->unsynchronized = (uint64_t)count;
		for (size_t k = 0; k < json_array_size(rows); k++) {
			struct clock_claim claim;

			if (parse_row(json_array_get(rows, k), &claim.realtime_ns,
				      CLAIM_NUMBERS) &&
			    is_possible(&claim))
				add_claim(of, &claim);
		}
		for (size_t k = 0; k < json_array_size(steering); k++) {
			struct clock_steering row;

			if (parse_row(json_array_get(steering, k), &row.realtime_ns,
				      STEERING_NUMBERS))
				*MEM_NEXT(of->steering, of->steerings,
					  of->steering_capacity) = row;
		}
	}
}

void node_claims_clear(struct node_claims *claims)
{
	for (size_t i = 0; i < claims->sources; i++) {
		free(claims->source[i].source);
		free(claims->source[i].claim);
		free(claims->source[i].steering);
	}
	free(claims->source);
	memset(claims, 0, sizeof(*claims));
}
