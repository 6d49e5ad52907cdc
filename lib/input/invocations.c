/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/invocations.h"

#include <stdlib.h>
#include <string.h>

#include "input/csv.h"
#include "input/run_facts.h"

static void check_order(const struct invocation *invocation, struct faults *faults)
{
	const nsec_t times[] = {invocation->enqueued_ns, invocation->started_ns,
				invocation->ended_ns};
	nsec_t last = INVOCATION_UNKNOWN;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (times[i] == INVOCATION_UNKNOWN)
			continue;
		if (times[i] < last)
			faults_add(faults, "backward", invocation->line,
				   "enqueued, started and ended out of order");
		last = times[i];
	}
}

static void take(struct invocation *invocation, const json_t *record,
		 struct faults *faults)
{
	static const struct member known[] = {
	    {"name", MEMBER_TEXT, offsetof(struct invocation, name)},
	    {"node", MEMBER_TEXT, offsetof(struct invocation, node)},
	    {"pid", MEMBER_INTEGER, offsetof(struct invocation, pid)},
	    {"enqueued_ns", MEMBER_STAMP, offsetof(struct invocation, enqueued_ns)},
	    {"started_ns", MEMBER_STAMP, offsetof(struct invocation, started_ns)},
	    {"ended_ns", MEMBER_STAMP, offsetof(struct invocation, ended_ns)},
	    {"bytes", MEMBER_INTEGER, MEMBER_STAYS},
	    {"trace_id", MEMBER_TEXT, MEMBER_STAYS},
	    {"status", MEMBER_INTEGER_OR_TEXT, offsetof(struct invocation, status)},
	    {"argv", MEMBER_ARRAY, MEMBER_STAYS},
	    {"command", MEMBER_TEXT, MEMBER_STAYS},
	    {NULL, MEMBER_ANY, 0},
	};
	const json_t *argv = json_object_get(record, "argv");
	char *command;

	invocation->rest =
	    members_read(record, known, invocation, faults, invocation->line);
	if (json_is_array(argv) && !json_object_get(invocation->rest, "command")) {
		command = json_join(argv, " ");
		json_set_text(invocation->rest, "command", command);
		free(command);
	}
	check_order(invocation, faults);
}

/* The object of a line, or NULL with a fault where it is none. */
static json_t *parse(const struct line *line, struct faults *faults)
{
	struct error error = ERROR_INIT;
	json_t *record = json_parse_object(line->text, line->length, &error);

	if (!record && !line->ended)
		faults_add(faults, "truncated", line->number,
			   "the file ends within this line, left out");
	else if (!record)
		faults_add(faults, "broken", line->number, "%s, left out",
			   error_text(&error));
	error_clear(&error);
	return record;
}

int invocations_read(const char *path,
		     int (*task)(void *context, const struct invocation *invocation),
		     void *context, struct problem_list *problems)
{
	struct faults faults;
	struct lines *lines;
	struct line line;
	int status = 0;

	faults_init(&faults, path, problems);
	lines = lines_open(path, &faults);
	if (!lines)
		return -1;
	while (!status && lines_next(lines, &line)) {
		struct invocation invocation = {.pid = INVOCATION_UNKNOWN,
						.enqueued_ns = INVOCATION_UNKNOWN,
						.started_ns = INVOCATION_UNKNOWN,
						.ended_ns = INVOCATION_UNKNOWN,
						.status = INVOCATION_UNKNOWN,
						.line = line.number};
		json_t *record;

		if (line.text[strspn(line.text, " \t")] == '\0')
			continue;
		record = parse(&line, &faults);
		if (!record)
			continue;
		take(&invocation, record, &faults);
		status = task(context, &invocation);
		json_decref(invocation.rest);
		json_decref(record);
	}
	lines_close(lines);
	return status;
}
