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

struct parsing {
	struct observations *seen;
	struct texts names; /* by the number of their trace */
	const char *path;
	uint64_t line;
	uint64_t broken;    /* lines left out */
	struct error first; /* what was wrong with the first of them */
};

static uint32_t find_node(struct parsing *parsing, const char *name)
{
	struct observations *seen = parsing->seen;
	size_t number = texts_put(&parsing->names, name);

	if (number == seen->traces)
		observations_add_node(seen, mem_strdup(name));
	return (uint32_t)number;
}

static void note_stamp(struct trace_facts *facts, nsec_t ns)
{
	if (!facts->events++ || ns < facts->begin_ns)
		facts->begin_ns = ns;
	if (facts->events == 1 || ns > facts->end_ns)
		facts->end_ns = ns;
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

static int parse_line(const struct parsing *parsing, char *line, char *word[4],
		      struct message *message, struct error *error)
{
	if (split(line, word) || !*word[0] || !*word[2])
		return error_set(error,
				 "%s:%llu: want send_node,send_ns,recv_node,recv_ns",
				 parsing->path, (unsigned long long)parsing->line);
	if (number_stamp(word[1], &message->send_ns) ||
	    number_stamp(word[3], &message->recv_ns))
		return error_set(
		    error,
		    "%s:%llu: '%s' is no time in nanoseconds between 1967 and 2111",
		    parsing->path, (unsigned long long)parsing->line,
		    number_stamp(word[1], &message->send_ns) ? word[1] : word[3]);
	if (strcmp(word[0], word[2]) == 0)
		return error_set(error, "%s:%llu: '%s' sends to itself", parsing->path,
				 (unsigned long long)parsing->line, word[0]);
	return 0;
}

static int add_message(struct parsing *parsing, char *const word[4],
		       const struct message *message, struct error *error)
{
	struct observations *seen = parsing->seen;
	uint32_t from = find_node(parsing, word[0]), to = find_node(parsing, word[2]);

	note_stamp(&seen->trace[from].facts, message->send_ns);
	note_stamp(&seen->trace[to].facts, message->recv_ns);
	seen->matching.sent++;
	seen->matching.received++;
	seen->matching.matched++;
	return message_log_add(&seen->log, from, to, message, error);
}

static int read_lines(struct parsing *parsing, FILE *file, struct error *error)
{
	struct error later = ERROR_INIT; /* of lines after the first broken one */
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	int status = 0;

	while (!status && (length = getline(&line, &capacity, file)) > 0) {
		struct message message = {0};
		char *word[4];

		parsing->line++;
		while (length && strchr("\r\n", line[length - 1]))
			line[--length] = '\0';
		/* A zero byte would hide the rest of its line. */
		if (strlen(line) != (size_t)length)
			*line = '\0';
		if (!length || (parsing->line == 1 &&
				strcmp(line, "send_node,send_ns,recv_node,recv_ns") == 0))
			continue;
		if (parse_line(parsing, line, word, &message,
			       parsing->broken ? &later : &parsing->first))
			parsing->broken++;
		else
			status = add_message(parsing, word, &message, error);
	}
	if (!status && ferror(file))
		status = error_errno(error, parsing->path);
	error_clear(&later);
	free(line);
	return status;
}

int observe_messages(const char *path, struct observations *seen,
		     struct problem_list *problems, struct error *error)
{
	struct parsing parsing = {.seen = seen, .path = path};
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "r");
	int status;

	observations_init(seen);
	if (!file)
		return error_errno(error, path);
	if (!standard)
		output_protect(path);
	status = read_lines(&parsing, file, error);
	if (!standard)
		fclose(file);
	if (parsing.broken)
		problem_add(problems, "", PROBLEM_BROKEN, parsing.broken,
			    "%s (%llu line%s left out)", error_text(&parsing.first),
			    (unsigned long long)parsing.broken,
			    parsing.broken == 1 ? "" : "s");
	error_clear(&parsing.first);
	texts_clear(&parsing.names);
	if (!status && seen->traces < 2)
		status = error_set(error, "%s: no message, want 1 or more", path);
	return status;
}
