/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/csv_text.h"
#include "base/mem.h"
#include "simulate/dice.h"
#include "simulate/host.h"

/* Two messages that swap receive times are at most this many messages apart. */
enum { HELD_MOST = 100 };

struct message_sink {
	struct output all, false_ones;
	struct dice dice;
	uint64_t odds;      /* probability of starting a swap */
	uint32_t wait_most; /* most messages until it is completed */
	bool one_direction;
	uint64_t limit;
};

static const char header[] = "send_node,send_ns,recv_node,recv_ns\n";

/*
 * A swap makes two messages false, and the next swap starts only after it. With a mean
 * wait of w messages, a share s of all messages is false if swaps start 2/s - w messages
 * after the last one.
 */
static void init_swaps(struct message_sink *sink, double share)
{
	double wait;

	if (share <= 0)
		return;
	sink->wait_most = share * HELD_MOST < 1 ? HELD_MOST : (uint32_t)(1 / share);
	wait = 0.5 * (sink->wait_most + 1.0);
	sink->odds = dice_odds(1 / (2 / share - wait));
}

struct message_sink *message_sink_open(const struct world *world, const char *directory,
				       struct error *error)
{
	const struct scenario *scenario = world->scenario;
	struct message_sink *sink = mem_zalloc(sizeof(*sink));
	int status = sim_output_open(&sink->all, error, "%s/messages.csv", directory);

	dice_init(&sink->dice, world->seed, DICE_FALSE_MATCH, 0);
	init_swaps(sink, scenario->false_matches);
	sink->one_direction = scenario->false_direction == FALSE_ONE;
	sink->limit = scenario->messages > 0 ? (uint64_t)scenario->messages : UINT64_MAX;
	if (!status && sink->odds)
		status =
		    sim_output_open(&sink->false_ones, error, "%s/false.csv", directory);
	if (status) {
		message_sink_discard(sink);
		return NULL;
	}
	fputs(header, sink->all.file);
	if (sink->odds)
		fputs(header, sink->false_ones.file);
	return sink;
}

static void write_message(const struct endpoint *from, nsec_t send_ns, nsec_t recv_ns,
			  FILE *file)
{
	const struct cell sent = cell_of_integer(send_ns);
	const struct cell received = cell_of_integer(recv_ns);
	char line[160], *at = line;

	/* Without a library call a digit: there may be millions. */
	at = stpcpy(at, from->host->name);
	*at++ = ',';
	at += csv_number(at, &sent);
	*at++ = ',';
	at = stpcpy(at, from->peer->host->name);
	*at++ = ',';
	at += csv_number(at, &received);
	*at++ = '\n';
	fwrite_unlocked(line, 1, (size_t)(at - line), file);
}

static void write_false(struct world *world, const struct endpoint *from, nsec_t send_ns,
			nsec_t recv_ns)
{
	world->false_matches++;
	write_message(from, send_ns, recv_ns, world->messages->all.file);
	write_message(from, send_ns, recv_ns, world->messages->false_ones.file);
}

/* Return true if the message is part of a swap, which is written now or later. */
static bool swap_receipts(struct world *world, struct endpoint *from, nsec_t send_ns,
			  nsec_t recv_ns)
{
	struct message_sink *sink = world->messages;
	struct held_message *held = &from->held;

	if (held->wait) {
		if (--held->wait)
			return false;
		write_false(world, from, held->send_ns, recv_ns);
		write_false(world, from, send_ns, held->recv_ns);
		return true;
	}
	if (sink->one_direction && from->host > from->peer->host)
		return false;
	if (!dice_chance(&sink->dice, sink->odds))
		return false;
	held->send_ns = send_ns;
	held->recv_ns = recv_ns;
	held->wait = 1 + (uint32_t)dice_below(&sink->dice, sink->wait_most);
	return true;
}

void messages_add(struct world *world, const struct flight *flight, nsec_t received_ns)
{
	struct message_sink *sink = world->messages;
	struct endpoint *end = flight->from;
	struct host *from = end->host, *to = end->peer->host;
	nsec_t send_ns, recv_ns;

	if (world->messages_written >= sink->limit ||
	    !host_is_traced(from, flight->sent_ns) || !host_is_traced(to, received_ns))
		return;
	send_ns = sim_clock_real(&from->clock, flight->sent_ns);
	recv_ns = sim_clock_real(&to->clock, received_ns);
	if (!sink->odds || !swap_receipts(world, end, send_ns, recv_ns))
		write_message(end, send_ns, recv_ns, sink->all.file);
	world->stopped |= ++world->messages_written >= sink->limit;
}

int message_sink_close(struct world *world, struct error *error)
{
	struct message_sink *sink = world->messages;

	/* Messages without a partner are written unchanged. */
	for (size_t i = 0; i < 2 * world->flows; i++) {
		const struct endpoint *end = &world->flow[i / 2].end[i % 2];

		if (end->held.wait)
			write_message(end, end->held.send_ns, end->held.recv_ns,
				      sink->all.file);
	}
	if (output_commit(&sink->all, error))
		return -1;
	return sink->odds ? output_commit(&sink->false_ones, error) : 0;
}

void message_sink_discard(struct message_sink *sink)
{
	if (!sink)
		return;
	output_discard(&sink->all);
	output_discard(&sink->false_ones);
	free(sink);
}
