/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/output.h"

struct parsing {
	struct sync *sync;
	struct texts names; /* by the number of their trace */
	const char *path;
	uint64_t line;
	uint64_t broken;    /* lines left out */
	struct error first; /* what was wrong with the first of them */
};

struct fields {
	char *send_node, *recv_node;
	nsec_t send_ns, recv_ns;
};

static uint32_t find_node(struct parsing *parsing, const char *name)
{
	struct sync *sync = parsing->sync;
	size_t number = texts_put(&parsing->names, name);
	struct sync_trace *trace;

	if (number < sync->traces)
		return (uint32_t)number;
	sync->trace =
	    mem_grow(sync->trace, sync->traces, &sync->room, sizeof(*sync->trace));
	trace = &sync->trace[sync->traces++];
	memset(trace, 0, sizeof(*trace));
	trace->name = mem_strdup(name);
	trace->path = mem_strdup("");
	trace->clock = (uint32_t)number;
	return trace->clock;
}

static void note_stamp(struct ctf_facts *facts, nsec_t ns)
{
	if (!facts->events++ || ns < facts->begin_ns)
		facts->begin_ns = ns;
	if (facts->events == 1 || ns > facts->end_ns)
		facts->end_ns = ns;
}

/* A decimal integer up to the comma or the end, without a library call a digit. */
static int parse_stamp(const char *text, nsec_t *value)
{
	bool negative = *text == '-';
	nsec_t number = 0;

	text += negative;
	if (!*text)
		return -1;
	for (; *text; text++) {
		int digit = *text - '0';

		if (digit < 0 || digit > 9 ||
		    __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_sub_overflow(number, digit, &number))
			return -1;
	}
	if (!negative && number == NSEC_MIN)
		return -1;
	*value = negative ? number : -number;
	return nsec_is_stamp(*value) ? 0 : -1;
}

static int split(char *line, char *word[4])
{
	int words = 0;

	while (words < 4 && line) {
		word[words++] = line;
		line = strchr(line, ',');
		if (line)
			*line++ = '\0';
	}
	return words == 4 && !line ? 0 : -1;
}

static int parse_line(const struct parsing *parsing, char *line, struct fields *fields,
		      struct error *error)
{
	char *word[4];

	if (split(line, word) || !*word[0] || !*word[2])
		return error_set(error,
				 "%s:%llu: want send_node,send_ns,recv_node,recv_ns",
				 parsing->path, (unsigned long long)parsing->line);
	if (parse_stamp(word[1], &fields->send_ns) ||
	    parse_stamp(word[3], &fields->recv_ns))
		return error_set(
		    error,
		    "%s:%llu: '%s' is no time in nanoseconds between 1933 and 2070",
		    parsing->path, (unsigned long long)parsing->line,
		    parse_stamp(word[1], &fields->send_ns) ? word[1] : word[3]);
	if (strcmp(word[0], word[2]) == 0)
		return error_set(error, "%s:%llu: '%s' sends to itself", parsing->path,
				 (unsigned long long)parsing->line, word[0]);
	fields->send_node = word[0];
	fields->recv_node = word[2];
	return 0;
}

static int add_message(struct parsing *parsing, const struct fields *fields,
		       struct error *error)
{
	struct sync *sync = parsing->sync;
	uint32_t from = find_node(parsing, fields->send_node);
	uint32_t to = find_node(parsing, fields->recv_node);
	struct message message = {
	    .forward = from < to, .send_ns = fields->send_ns, .recv_ns = fields->recv_ns};

	note_stamp(&sync->trace[from].facts, message.send_ns);
	note_stamp(&sync->trace[to].facts, message.recv_ns);
	message.pair = pair_table_find(&sync->pairs, from, to);
	pair_add(&sync->pairs.pair[message.pair], &message);
	sync->matching.sent++;
	sync->matching.received++;
	sync->matching.matched++;
	return message_log_add(&sync->log, &message, error);
}

static int read_lines(struct parsing *parsing, FILE *file, struct error *error)
{
	struct error later = ERROR_INIT; /* of lines after the first broken one */
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int status = 0;

	while (!status && (length = getline(&line, &room, file)) > 0) {
		struct fields fields = {NULL, NULL, 0, 0};

		parsing->line++;
		while (length && strchr("\r\n", line[length - 1]))
			line[--length] = '\0';
		/* A zero byte would hide the rest of its line. */
		if (strlen(line) != (size_t)length)
			*line = '\0';
		if (!length || (parsing->line == 1 &&
				strcmp(line, "send_node,send_ns,recv_node,recv_ns") == 0))
			continue;
		if (parse_line(parsing, line, &fields,
			       parsing->broken ? &later : &parsing->first))
			parsing->broken++;
		else
			status = add_message(parsing, &fields, error);
	}
	if (!status && ferror(file))
		status = error_errno(error, parsing->path);
	error_clear(&later);
	free(line);
	return status;
}

static void number_clocks(struct sync *sync)
{
	sync->clocks = sync->traces;
	sync->clock_trace =
	    mem_realloc(sync->clock_trace, sync->clocks, sizeof(*sync->clock_trace));
	for (uint32_t i = 0; i < sync->clocks; i++)
		sync->clock_trace[i] = i;
}

int sync_read_messages(struct sync *sync, const char *path, struct error *error)
{
	struct parsing parsing = {.sync = sync, .path = path};
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "r");
	int status;

	if (!file)
		return error_errno(error, path);
	if (!standard)
		output_protect(path);
	status = read_lines(&parsing, file, error);
	if (!standard)
		fclose(file);
	if (parsing.broken)
		problem_add(&sync->problems, "", "broken", parsing.broken,
			    "%s (%llu line%s left out)", error_text(&parsing.first),
			    (unsigned long long)parsing.broken,
			    parsing.broken == 1 ? "" : "s");
	error_clear(&parsing.first);
	texts_clear(&parsing.names);
	number_clocks(sync);
	if (!status && sync->traces < 2)
		status = error_set(error, "%s: no message, want 1 or more", path);
	return status;
}
