/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/messages_csv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/output.h"
#include "sync/observe/sources.h"

#define HEADER "send_node,send_ns,recv_node,recv_ns"

enum { WORDS = 4, SENDER = 0, SENT = 1, RECEIVER = 2, RECEIVED = 3 };

struct parsing {
	struct observations *seen;
	bool is_of_sources; /* names are those of traces that were read */
	bool keeps_ends;
	struct texts names;
	int64_t *trace; /* by the number of a name: its index, or -1 */
	size_t traces, capacity;
	const char *path;
	uint64_t line;
	uint64_t broken;    /* lines left out */
	struct error first; /* what was wrong with the first of them */
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

static int split_line(char *line, char *word[WORDS])
{
	int words = 0;

	while (words < WORDS && line) {
		word[words++] = line;
		line = strchr(line, ',');
		if (line)
			*line++ = '\0';
	}
	return words == WORDS && !line ? 0 : -1;
}

/* Return true if the first line is a header: it has columns, and none is a number. */
static bool is_header(const struct parsing *parsing, const char *line)
{
	if (parsing->line == 1 && !strpbrk(line, ",;\t"))
		return false;
	for (; parsing->line == 1 && line; line = strchr(line, ',')) {
		line += *line == ',';
		if (strchr("-0123456789", *line) && *line)
			return false;
	}
	return parsing->line == 1;
}

static int parse_line(const struct parsing *parsing, char *line, char *word[WORDS],
		      struct message *message, struct error *error)
{
	if (is_header(parsing, line))
		return error_set(error, "%s:1: the header is '%s', expected '" HEADER "'",
				 parsing->path, line);
	if (split_line(line, word) || !*word[0] || !*word[2])
		return error_set(error, "%s:%llu: expected " HEADER, parsing->path,
				 (unsigned long long)parsing->line);
	if (number_stamp(word[1], &message->send_ns) ||
	    number_stamp(word[3], &message->recv_ns))
		return error_set(error,
				 "%s:%llu: invalid time '%s' (expected nanoseconds "
				 "between 1967 and 2111)",
				 parsing->path, (unsigned long long)parsing->line,
				 number_stamp(word[1], &message->send_ns) ? word[1]
									  : word[3]);
	if (strcmp(word[0], word[2]) == 0)
		return error_set(error, "%s:%llu: '%s' sends to itself", parsing->path,
				 (unsigned long long)parsing->line, word[0]);
	return 0;
}

/* Find the two traces of a message, as indexes. Return 0, or -1 with error. */
static int find_ends(struct parsing *parsing, char *const word[WORDS], int64_t end[2],
		     struct error *error)
{
	const struct trace *trace;

	for (int received = 0; received < 2; received++) {
		const char *name = word[received ? RECEIVER : SENDER];

		end[received] = find_node(parsing, name);
		if (end[received] < 0)
			return error_set(error, "%s:%llu: no trace is named '%s'",
					 parsing->path, (unsigned long long)parsing->line,
					 name);
	}
	trace = parsing->seen->trace;
	if (trace[end[0]].clock_index == trace[end[1]].clock_index)
		return error_set(error, "%s:%llu: '%s' and '%s' have one clock",
				 parsing->path, (unsigned long long)parsing->line,
				 word[SENDER], word[RECEIVER]);
	return 0;
}

/* Add the ends of a message, which has no events. Return 0, or -1 with error. */
static int add_ends(const struct parsing *parsing, const struct trace *from,
		    const struct trace *to, const struct message *message,
		    struct error *error)
{
	static const uint64_t above_packets = UINT64_C(1) << 62;
	struct message_ends ends = {.send = {from->source_index, MESSAGES_NO_STREAM,
					     parsing->line, message->send_ns},
				    .recv = {to->source_index, MESSAGES_NO_STREAM,
					     parsing->line, message->recv_ns},
				    .first = {.local_ns = NSEC_MAX},
				    .packet = {.family = PACKET_DECLARED,
					       .protocol = PACKET_NO_PROTOCOL,
					       .dst = "csv"},
				    .number = above_packets + parsing->line};

	return message_log_add_ends(&parsing->seen->log, &ends, error);
}

/* Add a message by the local times of its traces. */
static int add_message(struct parsing *parsing, const int64_t end[2],
		       const struct message *message, struct error *error)
{
	struct observations *seen = parsing->seen;
	struct trace *from = &seen->trace[end[0]], *to = &seen->trace[end[1]];
	struct message by_clocks = *message;

	by_clocks.send_ns = nsec_add(message->send_ns, from->shift_ns);
	by_clocks.recv_ns = nsec_add(message->recv_ns, to->shift_ns);
	if (!parsing->is_of_sources) {
		note_stamp(&from->facts, message->send_ns);
		note_stamp(&to->facts, message->recv_ns);
	}
	seen->matching.sent++;
	seen->matching.received++;
	seen->matching.matched++;
	if (message_log_add(&seen->log, from->clock_index, to->clock_index, &by_clocks,
			    error))
		return -1;
	return parsing->keeps_ends ? add_ends(parsing, from, to, message, error) : 0;
}

static int read_lines(struct parsing *parsing, FILE *file, struct error *error)
{
	struct error later = ERROR_INIT; /* for lines after the first broken one */
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	int status = 0;

	while (!status && (length = getline(&line, &capacity, file)) > 0) {
		struct message message = {0};
		int64_t end[2] = {-1, -1};
		char *word[WORDS];

		parsing->line++;
		while (length && strchr("\r\n", line[length - 1]))
			line[--length] = '\0';
		/* A zero byte would hide the rest of its line. */
		if (strlen(line) != (size_t)length)
			*line = '\0';
		if (!length || (parsing->line == 1 && strcmp(line, HEADER) == 0))
			continue;
		if (parse_line(parsing, line, word, &message,
			       parsing->broken ? &later : &parsing->first) ||
		    find_ends(parsing, word, end,
			      parsing->broken ? &later : &parsing->first))
			parsing->broken++;
		else
			status = add_message(parsing, end, &message, error);
	}
	if (!status && ferror(file))
		status = error_errno(error, parsing->path);
	error_clear(&later);
	free(line);
	return status;
}

static int read_file(struct parsing *parsing, struct problem_list *problems,
		     struct error *error)
{
	bool standard = strcmp(parsing->path, "-") == 0;
	FILE *file = standard ? stdin : fopen(parsing->path, "r");
	int status;

	if (!file)
		return error_errno(error, parsing->path);
	if (!standard)
		output_protect(parsing->path);
	status = read_lines(parsing, file, error);
	if (!standard)
		fclose(file);
	if (parsing->broken)
		problem_add(problems, "", PROBLEM_BROKEN, parsing->broken,
			    "%s (%llu line%s left out)", error_text(&parsing->first),
			    (unsigned long long)parsing->broken,
			    parsing->broken == 1 ? "" : "s");
	error_clear(&parsing->first);
	texts_clear(&parsing->names);
	return status;
}

int observe_messages(const char *path, struct observations *seen,
		     struct problem_list *problems, struct error *error)
{
	struct parsing parsing = {.seen = seen, .path = path};
	int status;

	observations_init(seen);
	status = read_file(&parsing, problems, error);
	free(parsing.trace);
	if (!status && seen->traces < 2)
		status = error_set(error, "%s: no messages", path);
	return status;
}

int observe_more_messages(const char *path, bool keeps_ends, struct observations *seen,
			  struct problem_list *problems, struct error *error)
{
	struct parsing parsing = {
	    .seen = seen, .path = path, .is_of_sources = true, .keeps_ends = keeps_ends};
	int status = read_file(&parsing, problems, error);

	for (size_t i = 0; i < parsing.traces; i++)
		if (parsing.trace[i] >= 0)
			problem_drop(problems, seen->trace[parsing.trace[i]].path,
				     PROBLEM_SILENT);
	free(parsing.trace);
	return status;
}
