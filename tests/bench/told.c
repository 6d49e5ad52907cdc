/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "told.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "sync/observe/observe.h"

enum kind {
	TCP_DATA,
	TCP_OPEN_CLOSE,
	TCP_ACK,
	UDP,
	ICMP,
	OTHER,
	KINDS,
};

static const char *const kind_name[KINDS] = {
    "tcp data", "tcp syn, fin, rst", "tcp ack", "udp", "icmp", "other"};

enum { TCP_SYN_FIN_RST = 7 };

struct told {
	const struct recorded *run;
	const struct source_list *sources;
	bool has_truth;
	uint64_t right[KINDS], reversed[KINDS];
};

static enum kind kind_of(const struct packet *packet)
{
	switch (packet->protocol) {
	case IPPROTO_TCP:
		if (packet->payload)
			return TCP_DATA;
		return packet->flags & TCP_SYN_FIN_RST ? TCP_OPEN_CLOSE : TCP_ACK;
	case IPPROTO_UDP:
		return UDP;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return ICMP;
	default:
		return OTHER;
	}
}

/* The host's time of one end, and how far that may be off. */
static nsec_t host_time(const struct told *told, const struct messages_end *end,
			nsec_t *uncertainty)
{
	const char *path = told->sources->item[end->source].path;

	for (size_t i = 0; told->has_truth && i < told->run->traces + told->run->captures;
	     i++) {
		const struct subject *subject = &told->run->subject[i];
		nsec_t host;

		if (strcmp(subject->path, path) != 0)
			continue;
		host = truth_to_host(subject->node, subject->clock, end->local_ns);
		*uncertainty += truth_uncertainty(subject->node, host);
		return host;
	}
	return end->local_ns;
}

static int take_message(void *context, const struct message_ends *ends,
			struct error *error)
{
	struct told *told = context;
	nsec_t uncertainty = 0, sent = host_time(told, &ends->send, &uncertainty),
	       received = host_time(told, &ends->recv, &uncertainty);

	(void)error;
	if (received + uncertainty > sent)
		told->right[kind_of(&ends->packet)]++;
	else
		told->reversed[kind_of(&ends->packet)]++;
	return 0;
}

static int read_messages(struct told *told, struct source_list *sources,
			 struct error *error)
{
	const struct observe_options options = {
	    .threads = 1, .in_flight = 1 << 18, .keeps_ends = true};
	struct progress progress = {.shown = false};
	struct problem_list problems = {NULL, 0, 0};
	struct observations seen = {NULL};
	int status = source_add_run(sources, told->run->path, &problems, error);

	told->sources = sources;
	if (!status)
		status = observe_sources(sources, &options, &seen, &problems, &progress,
					 error) ||
			 message_log_walk_ends(&seen.log, take_message, told, error);
	observations_clear(&seen);
	problem_clear(&problems);
	return status;
}

int told_add(struct table *table, const struct recorded *run, bool has_truth,
	     uint64_t *reversed, struct error *error)
{
	struct told told = {.run = run, .has_truth = has_truth};
	struct source_list sources = {0};
	int status = read_messages(&told, &sources, error);

	for (int i = 0; !status && i < KINDS; i++) {
		char right[24], wrong[24];
		const char *cell[] = {run->name, kind_name[i], right, wrong};

		if (!told.right[i] && !told.reversed[i])
			continue;
		snprintf(right, sizeof(right), "%llu", (unsigned long long)told.right[i]);
		snprintf(wrong, sizeof(wrong), "%llu",
			 (unsigned long long)told.reversed[i]);
		table_add(table, cell);
		*reversed += told.reversed[i];
	}
	source_list_clear(&sources);
	return status;
}
