/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/invocations.h"

#include <stdlib.h>
#include <string.h>

#include "input/csv.h"
#include "input/run_facts.h"

static void take_command(struct invocation *invocation, struct members *members)
{
	const json_t *argv = members_array(members, "argv");

	members_text(members, "command", &invocation->command);
	if (!argv)
		return;
	invocation->argv = json_one_line(argv);
	if (!invocation->command)
		invocation->command = json_join(argv, " ");
}

static void take_status(struct invocation *invocation, struct members *members)
{
	if (json_is_string(json_object_get(members->object, "status")))
		members_text(members, "status", &invocation->status_text);
	else
		members_integer(members, "status", &invocation->status);
}

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
	struct members members;

	members_init(&members, record, faults, invocation->line);
	members_text(&members, "name", &invocation->name);
	members_text(&members, "node", &invocation->node);
	members_integer(&members, "pid", &invocation->pid);
	members_stamp(&members, "enqueued_ns", &invocation->enqueued_ns);
	members_stamp(&members, "started_ns", &invocation->started_ns);
	members_stamp(&members, "ended_ns", &invocation->ended_ns);
	members_integer(&members, "bytes", &invocation->bytes);
	members_text(&members, "trace_id", &invocation->trace_id);
	take_status(invocation, &members);
	take_command(invocation, &members);
	invocation->extra = members_end(&members);
	check_order(invocation, faults);
}

static void clear(struct invocation *invocation)
{
	free(invocation->name);
	free(invocation->node);
	free(invocation->status_text);
	free(invocation->trace_id);
	free(invocation->command);
	free(invocation->argv);
	free(invocation->extra);
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
						.bytes = INVOCATION_UNKNOWN,
						.line = line.number};
		json_t *record;

		if (line.text[strspn(line.text, " \t")] == '\0')
			continue;
		record = parse(&line, &faults);
		if (!record)
			continue;
		take(&invocation, record, &faults);
		json_decref(record);
		status = task(context, &invocation);
		clear(&invocation);
	}
	lines_close(lines);
	return status;
}
