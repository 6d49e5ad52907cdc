/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/simulate.h"

#include <stdlib.h>
#include <time.h>

#include "base/progress.h"
#include "simulate/directory.h"
#include "simulate/facts.h"
#include "simulate/host.h"
#include "simulate/messages.h"
#include "simulate/thread.h"
#include "simulate/transport.h"
#include "simulate/truth.h"
#include "simulate/world_init.h"

static void happen(struct world *world, const struct occasion *occasion)
{
	switch ((enum occasion_kind)occasion->kind) {
	case OCCASION_TIMER:
		thread_timer(world, occasion->what, occasion->age, occasion->at);
		break;
	case OCCASION_ARRIVAL:
		host_arrive(world, occasion->what, occasion->at);
		break;
	case OCCASION_RESEND:
		transport_resend(world, occasion->what, occasion->at);
		break;
	case OCCASION_POLL:
		host_poll(world, occasion->what, occasion->at);
		break;
	}
}

static uint64_t count_written(const struct world *world)
{
	return world->messages ? message_sink_counts(world->messages).messages
			       : world->events;
}

static void run(struct world *world, bool quiet)
{
	struct progress progress;
	struct occasion occasion;
	uint64_t done = 0;

	progress_init(&progress, quiet);
	for (uint32_t i = 0; i < world->threads; i++)
		thread_run(world, i, world->begin_ns);
	while (!world->stopped && !world->failed && queue_take(&world->queue, &occasion) &&
	       occasion.at <= world->end_ns) {
		world->now = occasion.at;
		happen(world, &occasion);
		if (++done % 65536 == 0)
			progress_update(&progress, "ctsim", count_written(world), 0, 0);
	}
	progress_end(&progress);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int write_messages(struct world *world, struct simulation_counts *counts,
			  struct error *error)
{
	struct message_counts count;
	int status;

	if (!world->messages)
		return 0;
	count = message_sink_counts(world->messages);
	counts->messages = count.messages;
	counts->false_matches = count.false_ones;
	status = message_sink_close(world->messages, error);
	world->messages = NULL;
	return status;
}

int simulate(const struct simulation *simulation, struct simulation_counts *counts,
	     struct error *error)
{
	const char *directory = simulation->directory;
	struct sim_clock_plan *plans;
	struct world world;
	double begun = now_s();
	int status = directory_make(directory, error);

	if (status)
		return -1;
	*counts = (struct simulation_counts){0};
	plans = world_init(&world, simulation->scenario, simulation->seed);
	world.error = error;
	if (simulation->messages) {
		world.messages = message_sink_open(&world, directory, error);
		status = world.messages ? 0 : -1;
	}
	if (!status) {
		run(&world, simulation->quiet);
		status = world.failed ? -1 : 0;
	}
	if (!status && world.messages)
		message_sink_flush(&world);
	if (!status)
		status = facts_write(&world, plans, directory, error);
	if (!status)
		status = truth_write(&world, directory, error);
	if (!status)
		status = write_messages(&world, counts, error);
	counts->events = world.events;
	counts->seconds = now_s() - begun;
	world_clear(&world);
	free(plans);
	return status;
}
