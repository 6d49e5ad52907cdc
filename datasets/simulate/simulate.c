/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/simulate.h"

#include <stdlib.h>
#include <time.h>

#include "simulate/directory.h"
#include "simulate/facts.h"
#include "simulate/messages.h"
#include "simulate/requests.h"
#include "simulate/run_files.h"
#include "simulate/spans.h"
#include "simulate/truth.h"
#include "simulate/world_init.h"
#include "simulate/world_run.h"

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int open_files(const struct simulation *simulation, struct world *world,
		      struct run_files *files, struct error *error)
{
	if (simulation->messages) {
		world->messages = message_sink_open(world, simulation->directory, error);
		if (!world->messages)
			return -1;
	}
	if (simulation->spans) {
		world->spans = spans_open(world, simulation->directory, error);
		if (!world->spans)
			return -1;
		world->requests = requests_open(world, simulation->directory, error);
		if (!world->requests)
			return -1;
	}
	if (simulation->traces || simulation->captures)
		return run_files_open(files, world,
				      simulation->captures ? RUN_CAPTURES : RUN_TRACES,
				      simulation->directory, error);
	return 0;
}

static int close_messages(struct world *world, struct simulation_counts *counts,
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

static int close_files(const struct simulation *simulation, struct world *world,
		       const struct sim_clock_plan *plans, struct run_files *files,
		       struct error *error)
{
	const char *directory = simulation->directory;

	if (world->messages)
		message_sink_flush(world);
	if (world->writer && run_files_close(files, world, directory, error))
		return -1;
	if (world->spans && spans_close(world, error))
		return -1;
	if (world->requests && requests_close(world, error))
		return -1;
	if (facts_write(world, plans, directory, error))
		return -1;
	return truth_write(world, directory, error);
}

int simulate(const struct simulation *simulation, struct simulation_counts *counts,
	     struct error *error)
{
	struct sim_clock_plan *plans;
	struct run_files files = {.format = simulation->format};
	struct world world;
	double begun = now_s();
	int status;

	*counts = (struct simulation_counts){0};
	if (directory_make(simulation->directory, error))
		return -1;
	plans = world_init(&world, simulation->scenario, simulation->seed);
	world.error = error;
	status = open_files(simulation, &world, &files, error);
	if (!status) {
		world_run(&world, simulation->quiet);
		status = world.failed ? -1 : 0;
	}
	if (!status)
		status = close_files(simulation, &world, plans, &files, error);
	if (!status)
		status = close_messages(&world, counts, error);
	counts->events = world.events;
	counts->seconds = now_s() - begun;
	run_files_discard(&files, &world);
	world_clear(&world);
	free(plans);
	return status;
}
