/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_LIVED_H
#define CT_TEST_LIVED_H

/*
 * Facts that a simulated kernel knows beyond its trace: which thread each event is of,
 * and the life of each process. A run is simulated twice with one seed, for a writer that
 * looks into the model, and into files. To be included behind draw.h and scratch.h.
 */
#include "../select.h"
#include "simulate/event.h"
#include "simulate/simulate.h"
#include "simulate/world.h"
#include "simulate/writer.h"

enum { LIVED_NODES = 2, LIVED_CPUS = 2 };

static const char lived_text[] = "nodes 2\ncpus 2\nseconds 2\nactivity full\nworkers 4\n"
				 "interval_ms 20\nspawn_ms 20\nsample_s 0.5\n";

struct life {
	uint32_t node;
	int64_t tid;
	int64_t begin_ns, end_ns; /* CLOCK_MONOTONIC, 0: never */
	int64_t status;
	char path[40];
};

struct lived {
	struct sim_writer base;
	struct world world;
	struct {
		struct lived_event {
			int64_t tid, mono_ns;
		} * item;
		size_t count, capacity;
	} at[LIVED_NODES][LIVED_CPUS];
	struct life *life;
	size_t lives, life_room;
};

static inline struct life *lived_find(struct lived *lived, uint32_t node, int64_t tid)
{
	for (size_t i = lived->lives; i-- > 0;)
		if (lived->life[i].node == node && lived->life[i].tid == tid)
			return &lived->life[i];
	return NULL;
}

static inline void lived_process(struct lived *lived, const struct sim_event *event,
				 int64_t tid)
{
	struct life *life = lived_find(lived, event->node, tid);

	if (event->class == event_class(EVENT_FORK)) {
		lived->life = mem_grow(lived->life, lived->lives, &lived->life_room,
				       sizeof(*lived->life));
		lived->life[lived->lives++] = (struct life){
		    event->node, event->value[5].i, event->mono_ns, 0, -1, ""};
	} else if (life && event->class == event_class(EVENT_EXEC)) {
		snprintf(life->path, sizeof(life->path), "%s", event->value[0].text);
	} else if (life && event->class == event_class(EVENT_EXIT_GROUP)) {
		life->status = event->value[0].i;
	} else if (life && event->class == event_class(EVENT_PROCESS_EXIT)) {
		life->end_ns = event->mono_ns;
	}
}

static inline int lived_add(struct sim_writer *base, const struct sim_event *event,
			    struct error *error)
{
	struct lived *lived = (struct lived *)base;
	const struct cpu *cpu = &lived->world.host[event->node].cpu[event->cpu];
	int64_t tid = tid_of(cpu->current);
	typeof(&lived->at[0][0]) list = &lived->at[event->node][event->cpu];

	(void)error;
	list->item =
	    mem_grow(list->item, list->count, &list->capacity, sizeof(*list->item));
	list->item[list->count++] = (struct lived_event){tid, event->mono_ns};
	lived_process(lived, event, tid);
	return 0;
}

/* Run it both ways; the traces are in run/nodeN/kernel. */
static inline struct lived *lived_run(const char *text)
{
	static const struct sim_writer_ops ops = {.add = lived_add};
	static const struct sim_node nodes[LIVED_NODES] = {
	    {.name = "n1", .cpus = LIVED_CPUS}, {.name = "n2", .cpus = LIVED_CPUS}};
	struct lived *lived = mem_zalloc(sizeof(*lived));
	struct scenario scenario;
	struct simulation_counts counts;
	struct error error = ERROR_INIT;
	struct simulation simulation = {
	    .scenario = &scenario, .seed = draw_seed, .directory = "run", .quiet = true};

	mkdir("run", 0777);
	scenario_init(&scenario);
	if (scenario_parse(&scenario, "test", text, &error) ||
	    scenario_check(&scenario, &error) || simulate(&simulation, &counts, &error))
		fail_msg("%s", error_text(&error));
	lived->base = (struct sim_writer){&ops, nodes, LIVED_NODES, false};
	world_init(&lived->world, &scenario, draw_seed);
	lived->world.writer = &lived->base;
	lived->world.error = &error;
	world_run(&lived->world, true);
	assert_false(lived->world.failed);
	world_clear(&lived->world);
	scenario_clear(&scenario);
	return lived;
}

static inline void lived_free(struct lived *lived)
{
	for (size_t i = 0; i < LIVED_NODES * LIVED_CPUS; i++)
		free(lived->at[i / LIVED_CPUS][i % LIVED_CPUS].item);
	free(lived->life);
	free(lived);
}

/* The same event of the model. */
static inline const struct lived_event *
lived_event(const struct lived *lived, uint32_t node, const struct trace_event *record)
{
	assert_in_range(record->cpu, 0, LIVED_CPUS - 1);
	assert_true(record->ordinal < lived->at[node][record->cpu].count);
	return &lived->at[node][record->cpu].item[record->ordinal];
}

/* Read a node's trace to its end. */
static inline void lived_read(uint32_t node, struct trace_reader **source,
			      trace_event_fn *give, void *context)
{
	char path[40];
	struct error error = ERROR_INIT;

	snprintf(path, sizeof(path), "run/node%u/kernel", (unsigned)node + 1);
	*source = open_columns(path, &error);
	assert_string_equal(error_text(&error), "");
	while (trace_reader_step(*source, UINT64_MAX, give, context))
		;
	assert_int_equal(trace_reader_problems(*source)->count, 0);
	trace_reader_free(*source);
}

#endif
