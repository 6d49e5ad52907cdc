/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/world_run.h"

#include "base/progress.h"
#include "simulate/card.h"
#include "simulate/cpu.h"
#include "simulate/interrupt.h"
#include "simulate/messages.h"
#include "simulate/thread.h"

static void happen(struct world *world, const struct occasion *occasion)
{
	uint32_t cpus = (uint32_t)world->scenario->cpus;

	switch ((enum occasion_kind)occasion->kind) {
	case OCCASION_TIMER:
		interrupt_timer(world, occasion->what, occasion->age);
		break;
	case OCCASION_ARRIVAL:
		card_arrive(world, occasion->what);
		break;
	case OCCASION_RESEND:
		interrupt_resend(world, occasion->what / 2, (int)(occasion->what & 1));
		break;
	case OCCASION_POLL:
		interrupt_card(world, occasion->what / cpus, occasion->what % cpus);
		break;
	case OCCASION_CPU:
		interrupt_cpu(world, occasion->what / cpus, occasion->what % cpus,
			      occasion->age);
		break;
	case OCCASION_KICK:
		interrupt_kick(world, occasion->what / cpus, occasion->what % cpus);
		break;
	case OCCASION_DISK:
		interrupt_disk(world, occasion->what);
		break;
	case OCCASION_DUMP:
		interrupt_dump(world, occasion->what);
		break;
	case OCCASION_FREE:
		interrupt_free(world, occasion->what);
		break;
	}
}

/* What a node's tracer begins with is over after so long. */
static nsec_t dump_span(const struct world *world, const struct host *host)
{
	return NSEC_PER_USEC *
	       (nsec_t)(host->threads + (uint32_t)world->scenario->cpus + 4);
}

/* With activity full all threads begin at once, and wait for their turn. */
static void begin_full(struct world *world)
{
	uint32_t cpus = (uint32_t)world->scenario->cpus;

	for (uint32_t i = 0; i < world->hosts; i++) {
		const struct host *host = &world->host[i];
		nsec_t begin = world->begin_ns;

		if (host->trace_from > begin) {
			queue_add(&world->queue, host->trace_from, OCCASION_DUMP, i, 0);
		} else {
			queue_add(&world->queue, begin, OCCASION_DUMP, i, 0);
			begin += dump_span(world, host);
		}
		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			queue_add(&world->queue, begin, OCCASION_KICK, i * cpus + cpu, 0);
	}
	for (uint32_t i = 0; i < world->threads; i++)
		if (world->thread[i].wait != WAIT_FOREVER)
			cpu_add(world, i);
}

static void begin(struct world *world)
{
	if (world->full)
		begin_full(world);
	else
		for (uint32_t i = 0; i < world->threads; i++)
			thread_await(world, i, WAIT_TIME, world->begin_ns);
}

static uint64_t count_written(const struct world *world)
{
	return world->messages ? message_sink_counts(world->messages).messages
			       : world->events;
}

void world_run(struct world *world, bool quiet)
{
	struct progress progress;
	struct occasion occasion;
	uint64_t done = 0;

	progress_init(&progress, quiet);
	begin(world);
	while (!world->stopped && !world->failed &&
	       queue_take(&world->queue, &occasion) && occasion.at < world->end_ns) {
		world->now = occasion.at;
		happen(world, &occasion);
		if (++done % 65536 == 0)
			progress_update(&progress, "ctsim", count_written(world), 0, 0);
	}
	progress_end(&progress);
}
