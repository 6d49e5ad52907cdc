/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/critical/request_path.h"

const char assumed_note[] =
    "interrupts are not recorded: what follows a packet's receive on its processor, "
    "within 500 us and before a switch, is taken to be its doing, other waits stay "
    "unknown (enable irq_handler_entry and _exit, irq_softirq_entry and _exit)";

int scope_of_all_nodes(struct scope *scope, struct question *question,
		       struct error *error)
{
	const struct text_list none = {0};

	if (scope_init(scope, question->reader, question->request->begin,
		       question->request->end, &none, error))
		return error_prefix(error, "%s", question->path);
	return 0;
}

void request_path_walk(struct path *path, const struct past *past,
		       const struct exchange *exchange)
{
	const struct path_start start = {
	    .node = exchange->client,
	    .tid = exchange->client_tid,
	    .begin_ns = exchange->begin_ns,
	    .end_ns = exchange->end_ns,
	    .message = past_find_message(past, exchange->last_message),
	};

	path_walk(path, past, &start);
}

int request_path(struct path *path, struct question *question, const struct scope *scope,
		 const struct exchange *exchange, struct error *error)
{
	struct scope part = *scope; /* its nodes stay the scope's */
	struct past *past;

	part.begin_ns = exchange->begin_ns;
	part.end_ns = exchange->end_ns;
	part.all_time = false;
	past = past_read(question->reader, &part, NULL, error);
	if (!past)
		return -1;
	request_path_walk(path, past, exchange);
	past_free(past);
	return 0;
}
