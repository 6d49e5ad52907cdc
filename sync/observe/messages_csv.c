/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/messages_csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/output.h"
#include "input/csv.h"
#include "sync/observe/sources.h"

enum { SENDER, SENT, RECEIVER, RECEIVED, COLUMNS };

static const struct csv_columns message_columns = {
    (const struct csv_column[COLUMNS]){{"send_node", CSV_TEXT},
				       {"send_ns", CSV_STAMP},
				       {"recv_node", CSV_TEXT},
				       {"recv_ns", CSV_STAMP}},
    COLUMNS, COLUMNS, true, true};

struct parsing {
	struct observations *seen;
	bool is_of_sources; /* names are those of traces that were read */
	bool keeps_ends;
	struct texts names;
	int64_t *trace; /* by the number of a name: its index, or -1 */
	size_t traces, capacity;
	struct problem_log log;
};

static int64_t find_trace(const struct observations *seen, const char *name)
{
	for (size_t i = 0; i < seen->traces; i++)
		if (strcmp(seen->trace[i].name, name) == 0)
			return (int64_t)i;
	return -1;
}

/* Return the index of a node's trace; one that no source has is added, or -1. */
static int64_t find_node(struct parsing *parsing, const char *name)
{
	struct observations *seen = parsing->seen;
	size_t number = texts_put(&parsing->names, name);

	if (number < parsing->traces)
		return parsing->trace[number];
	if (!parsing->is_of_sources)
		observations_add_node(seen, mem_strdup(name));
	return *MEM_NEXT(parsing->trace, parsing->traces, parsing->capacity) =
		   find_trace(seen, name);
}

static void note_stamp(struct trace_facts *facts, nsec_t ns)
{
	if (!facts->events++ || ns < facts->begin_ns)
		facts->begin_ns = ns;
	if (facts->events == 1 || ns > facts->end_ns)
		facts->end_ns = ns;
}

/* Find the two traces of a message, as indexes. Return 0, or -1 with a problem. */
static int find_ends(struct parsing *parsing, const struct csv_row *row, int64_t end[2])
{
	const char *name[] = {row->cell[SENDER].text, row->cell[RECEIVER].text};
	const struct trace *trace;

	for (int received = 0; received < 2; received++) {
		end[received] = find_node(parsing, name[received]);
		if (end[received] >= 0)
			continue;
		problem_log_add(&parsing->log, PROBLEM_BROKEN, row->line,
				"no trace is named '%s'; skipped", name[received]);
		return -1;
	}
	trace = parsing->seen->trace;
	if (trace[end[0]].clock_index != trace[end[1]].clock_index)
		return 0;
	if (end[0] == end[1])
		problem_log_add(&parsing->log, PROBLEM_BROKEN, row->line,
				"'%s' sends to itself; skipped", name[0]);
	else
		problem_log_add(&parsing->log, PROBLEM_BROKEN, row->line,
				"'%s' and '%s' have one clock; skipped", name[0],
				name[1]);
	return -1;
}

/* Add the ends of a message, which has no events. Return 0, or -1 with error. */
static int add_ends(struct message_log *log, const struct trace *from,
		    const struct trace *to, const struct message *message, uint64_t line,
		    struct error *error)
{
	static const uint64_t above_packets = UINT64_C(1) << 62;
	struct message_ends ends = {
	    .send = {from->source_index, MESSAGES_NO_STREAM, line, message->send_ns},
	    .recv = {to->source_index, MESSAGES_NO_STREAM, line, message->recv_ns},
	    .first = {.local_ns = NSEC_MAX},
	    .packet = {.family = PACKET_DECLARED,
		       .protocol = PACKET_NO_PROTOCOL,
		       .dst = "csv"},
	    .number = above_packets + line};

	return message_log_add_ends(log, &ends, error);
}

/* Add a message by the local times of its traces. */
static int add_message(struct parsing *parsing, const int64_t end[2],
		       const struct csv_row *row, struct error *error)
{
	struct observations *seen = parsing->seen;
	struct trace *from = &seen->trace[end[0]], *to = &seen->trace[end[1]];
	const struct message message = {.send_ns = row->cell[SENT].integer,
					.recv_ns = row->cell[RECEIVED].integer};
	struct message by_clocks = message;

	by_clocks.send_ns = nsec_add(message.send_ns, from->shift_ns);
	by_clocks.recv_ns = nsec_add(message.recv_ns, to->shift_ns);
	if (!parsing->is_of_sources) {
		note_stamp(&from->facts, message.send_ns);
		note_stamp(&to->facts, message.recv_ns);
	}
	seen->matching.sent++;
	seen->matching.received++;
	seen->matching.matched++;
	if (message_log_add(&seen->log, from->clock_index, to->clock_index, &by_clocks,
			    error))
		return -1;
	return parsing->keeps_ends
		   ? add_ends(&seen->log, from, to, &message, row->line, error)
		   : 0;
}

static int read_file(struct parsing *parsing, const char *path,
		     struct problem_list *problems, struct error *error)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "re");
	struct csv_row row;
	struct csv *csv;
	int status = 0;

	if (!file)
		return error_errno(error, path);
	if (!standard)
		output_protect(path);
	problem_log_init(&parsing->log, path, problems);
	csv = csv_read(file, &message_columns, &parsing->log);
	while (csv && !status && csv_next(csv, &row)) {
		int64_t end[2] = {-1, -1};

		if (!find_ends(parsing, &row, end))
			status = add_message(parsing, end, &row, error);
	}
	csv_close(csv);
	texts_clear(&parsing->names);
	return status;
}

int observe_messages(const char *path, struct observations *seen,
		     struct problem_list *problems, struct error *error)
{
	struct parsing parsing = {.seen = seen};
	int status;

	observations_init(seen);
	status = read_file(&parsing, path, problems, error);
	free(parsing.trace);
	if (!status && seen->traces < 2)
		status = error_set(error, "%s: no messages", path);
	return status;
}

int observe_more_messages(const char *path, bool keeps_ends, struct observations *seen,
			  struct problem_list *problems, struct error *error)
{
	struct parsing parsing = {
	    .seen = seen, .is_of_sources = true, .keeps_ends = keeps_ends};
	int status = read_file(&parsing, path, problems, error);

	for (size_t i = 0; i < parsing.traces; i++)
		if (parsing.trace[i] >= 0)
			problem_drop(problems, seen->trace[parsing.trace[i]].path,
				     PROBLEM_SILENT);
	free(parsing.trace);
	return status;
}
