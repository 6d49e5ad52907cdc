/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "truth.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

#define HEADER "node,host_ns,mono_ns,real_ns"

/*
 * A recorded row is good to half a microsecond, the line between two of them to
 * LINE_NS; a simulated clock is a polygon, whose rows and lines are rounded.
 */
enum { ROW_NS = 500, LINE_NS = 150, ROUNDING_NS = 1 };

static struct truth_node *node_of(struct truth *truth, const char *name)
{
	struct truth_node *node = truth_find(truth, name, strlen(name));

	if (node)
		return node;
	truth->node =
	    mem_grow(truth->node, truth->nodes, &truth->capacity, sizeof(*truth->node));
	node = &truth->node[truth->nodes++];
	memset(node, 0, sizeof(*node));
	node->name = mem_strdup(name);
	return node;
}

/* The host's clock must ascend, else there is no line between two rows. */
static int add_row(struct truth_node *node, const struct truth_row *row)
{
	if (node->rows && row->host_ns <= node->row[node->rows - 1].host_ns)
		return -1;
	node->row = mem_grow(node->row, node->rows, &node->capacity, sizeof(*node->row));
	node->row[node->rows++] = *row;
	return 0;
}

static int parse_row(struct truth *truth, char *line)
{
	char *word[4], *rest = line;
	struct truth_row row;

	for (int i = 0; i < 4; i++)
		word[i] = strsep(&rest, ",");
	if (rest || !word[3] || number_integer(word[1], &row.host_ns) ||
	    number_integer(word[2], &row.local_ns[TRUTH_TRACE]) ||
	    number_integer(word[3], &row.local_ns[TRUTH_CAPTURE]))
		return -1;
	return add_row(node_of(truth, word[0]), &row);
}

static int read_rows(struct truth *truth, FILE *file, const char *path,
		     struct error *error)
{
	char *line = NULL;
	size_t capacity = 0;
	int status = 0;

	for (unsigned long number = 1; !status && getline(&line, &capacity, file) > 0;
	     number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (number == 1 ? strcmp(line, HEADER) != 0 : parse_row(truth, line) != 0)
			status = error_set(error, "%s:%lu: want %s, in the order of time",
					   path, number, HEADER);
	}
	free(line);
	return status;
}

int truth_read(struct truth *truth, const char *path, struct error *error)
{
	FILE *file = fopen(path, "r");
	int status;

	memset(truth, 0, sizeof(*truth));
	if (!file)
		return error_errno(error, path);
	status = read_rows(truth, file, path, error);
	fclose(file);
	for (size_t i = 0; !status && i < truth->nodes; i++)
		if (truth->node[i].rows < 2)
			status = error_set(error, "%s: one row of %s, want 2 or more",
					   path, truth->node[i].name);
	return status;
}

struct truth_node *truth_find(const struct truth *truth, const char *name, size_t length)
{
	for (size_t i = 0; i < truth->nodes; i++)
		if (strlen(truth->node[i].name) == length &&
		    strncmp(truth->node[i].name, name, length) == 0)
			return &truth->node[i];
	return NULL;
}

bool truth_ascends(const struct truth_node *node, enum truth_clock clock)
{
	for (size_t i = 1; i < node->rows; i++)
		if (node->row[i].local_ns[clock] <= node->row[i - 1].local_ns[clock])
			return false;
	return true;
}

static nsec_t column(const struct truth_row *row, int clock)
{
	return clock < 0 ? row->host_ns : row->local_ns[clock];
}

/* The row at or before a value of a column, but for the last row. */
static const struct truth_row *row_before(const struct truth_node *node, int clock,
					  nsec_t value)
{
	size_t low = 0, high = node->rows - 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (column(&node->row[middle], clock) <= value)
			low = middle;
		else
			high = middle;
	}
	return &node->row[low];
}

/* From one column to another; -1 is the host's. */
static nsec_t convert(const struct truth_node *node, int from, int to, nsec_t value)
{
	const struct truth_row *a = row_before(node, from, value), *b = a + 1;
	__int128 run = (__int128)column(b, from) - column(a, from);
	__int128 rise = ((__int128)value - column(a, from)) *
			((__int128)column(b, to) - column(a, to));
	__int128 half = rise < 0 ? -run / 2 : run / 2;

	return nsec_add(column(a, to), (nsec_t)((rise + half) / run));
}

/* Return what a clock's epoch time is ahead of its column. */
static nsec_t ahead(const struct truth_node *node, enum truth_clock clock)
{
	return clock == TRUTH_TRACE ? node->offset_ns : 0;
}

nsec_t truth_to_host(const struct truth_node *node, enum truth_clock clock, nsec_t local)
{
	return convert(node, (int)clock, -1, local - ahead(node, clock));
}

nsec_t truth_from_host(const struct truth_node *node, enum truth_clock clock,
		       nsec_t host_ns)
{
	return convert(node, -1, (int)clock, host_ns) + ahead(node, clock);
}

/* The rate of a node's monotonic clock against the host's after a row, without unit. */
static double rate_after(const struct truth_row *row)
{
	double host = (double)(row[1].host_ns - row->host_ns);

	return ((double)(row[1].local_ns[TRUTH_TRACE] - row->local_ns[TRUTH_TRACE]) -
		host) /
	       host;
}

/*
 * Return how far a clock may be off the line between a row and the next one because its
 * rate changed in between, such as at the end of a slew: it was between the rates before
 * and after, give or take what the rows' own errors explain.
 */
static double bend(const struct truth_node *node, const struct truth_row *row,
		   nsec_t host_ns)
{
	const struct truth_row *last = &node->row[node->rows - 1];
	double rate = rate_after(row), faster = 0, slower = 0;
	double since = fmax(0, (double)(host_ns - row->host_ns));
	double until = fmax(0, (double)(row[1].host_ns - host_ns));

	for (const struct truth_row *by = row - 1; by <= row + 1; by++) {
		double excess, error;

		if (by < node->row || by >= last || by == row)
			continue;
		error = 2 * ROW_NS / (double)(by[1].host_ns - by->host_ns) +
			2 * ROW_NS / (double)(row[1].host_ns - row->host_ns);
		excess = rate_after(by) - rate;
		faster = fmax(faster, excess - error);
		slower = fmax(slower, -excess - error);
	}
	return fmax(fmin(faster * since, slower * until),
		    fmin(slower * since, faster * until));
}

nsec_t truth_uncertainty(const struct truth_node *node, nsec_t host_ns)
{
	const struct truth_row *a = row_before(node, -1, host_ns), *b = a + 1;
	nsec_t outside = 0;

	if (node->simulated)
		return ROUNDING_NS;
	if (host_ns < a->host_ns)
		outside = a->host_ns - host_ns;
	if (host_ns > b->host_ns)
		outside = host_ns - b->host_ns;
	/* Past the last row both rows' errors count, by the lever that they make. */
	return ROW_NS + LINE_NS + nsec_round(ceil(bend(node, a, host_ns))) +
	       (nsec_t)((__int128)2 * ROW_NS * outside / (b->host_ns - a->host_ns));
}

void truth_clear(struct truth *truth)
{
	for (size_t i = 0; i < truth->nodes; i++) {
		free(truth->node[i].name);
		free(truth->node[i].row);
	}
	free(truth->node);
	memset(truth, 0, sizeof(*truth));
}
