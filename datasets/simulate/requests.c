/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/requests.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/output.h"

/* Where a flow's request is. */
struct request_state {
	enum { ASKS_NOTHING, ASKED, TAKEN, REPLIED } phase;
	nsec_t came_ns[2], new_ns[2]; /* at each side: the last data, the last new data */
	nsec_t asked_ns, arrived_ns, taken_ns, replied_ns;
};

struct requests {
	struct output output;
	struct request_state *flow;
};

struct requests *requests_open(const struct world *world, const char *directory,
			       struct error *error)
{
	struct requests *requests = mem_zalloc(sizeof(*requests));
	char *path = mem_printf("%s/requests.csv", directory);

	if (output_open(&requests->output, path, error)) {
		free(requests);
		requests = NULL;
	} else {
		fputs("client,client_tid,server,server_tid,port,asked_ns,arrived_ns,"
		      "taken_ns,replied_ns,ended_ns\n",
		      requests->output.file);
		requests->flow = mem_zalloc((world->flows + 1) * sizeof(*requests->flow));
	}
	free(path);
	return requests;
}

static struct request_state *state_of(const struct now *now, uint32_t flow)
{
	struct requests *requests = now->world->requests;

	return requests && now->world->scenario->pattern == PATTERN_REQUEST
		   ? &requests->flow[flow]
		   : NULL;
}

void requests_sent(const struct now *now, uint32_t flow, int side)
{
	struct request_state *state = state_of(now, flow);

	if (!state)
		return;
	if (side == 0 && state->phase == ASKS_NOTHING) {
		state->phase = ASKED;
		state->asked_ns = now->ns;
	} else if (side == 1 && state->phase == TAKEN) {
		state->phase = REPLIED;
		state->replied_ns = now->ns;
	}
}

void requests_came(const struct now *now, uint32_t flow, int side)
{
	struct request_state *state = state_of(now, flow);

	if (state)
		state->came_ns[side] = now->ns;
}

void requests_is_new(const struct now *now, uint32_t number)
{
	const struct thread *thread = &now->world->thread[number];
	struct request_state *state = state_of(now, thread->flow);

	if (state)
		state->new_ns[thread->side] = state->came_ns[thread->side];
}

static void write_row(const struct now *now, const struct thread *thread,
		      const struct request_state *state)
{
	const struct world *world = now->world;
	const struct flow *flow = &world->flow[thread->flow];
	const struct endpoint *client = &flow->end[0], *server = &flow->end[1];

	fprintf(world->requests->output.file,
		"%s,%" PRId32 ",%s,%" PRId32 ",%u,%" PRId64 ",%" PRId64 ",%" PRId64
		",%" PRId64 ",%" PRId64 "\n",
		world->host[client->node].name, world->thread[client->writer].tid,
		world->host[server->node].name, world->thread[server->writer].tid,
		(unsigned)server->port, state->asked_ns, state->arrived_ns,
		state->taken_ns, state->replied_ns, state->new_ns[0]);
}

void requests_taken(const struct now *now, uint32_t number, bool whole)
{
	const struct thread *thread = &now->world->thread[number];
	struct request_state *state;

	if (thread->role != ROLE_CLIENT && thread->role != ROLE_SERVER)
		return;
	state = state_of(now, thread->flow);
	if (!state)
		return;
	if (thread->role == ROLE_SERVER && state->phase == ASKED && whole) {
		state->phase = TAKEN;
		state->arrived_ns = state->new_ns[1];
		state->taken_ns = now->ns;
	} else if (thread->role == ROLE_CLIENT) {
		if (whole && state->phase == REPLIED && !now->world->stopped)
			write_row(now, thread, state);
		state->phase = ASKS_NOTHING;
	}
}

int requests_close(struct world *world, struct error *error)
{
	int status = output_commit(&world->requests->output, error);

	requests_discard(world->requests);
	world->requests = NULL;
	return status;
}

void requests_discard(struct requests *requests)
{
	if (!requests)
		return;
	output_discard(&requests->output);
	free(requests->flow);
	free(requests);
}
