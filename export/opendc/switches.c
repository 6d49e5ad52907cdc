/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/switches.h"

#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "base/mem.h"

enum { KHZ_PER_MHZ = 1000 };

struct step {
	nsec_t from_ns;
	double mhz;
};

/* Steps of one processor that what is still to come may need. */
struct pace {
	double first; /* MHz of the first step of all: it held before, too */
	struct step *step;
	size_t steps, room;
};

struct opendc_speed {
	struct opendc_cluster *cluster;
	struct pace *pace;
	size_t paces, room;
	struct intmap of_cpu; /* of a node and processor: index of its pace */
};

struct walk {
	struct opendc_charger *charger;
	struct opendc_speed *speed;
	double mhz; /* where nothing says it */
	struct export *export;
	uint64_t spans;
	struct error *error;
};

static uint64_t key_of(int64_t node, int64_t cpu)
{
	return (uint64_t)node << 32 | (uint32_t)cpu;
}

static struct pace *pace_of(const struct opendc_speed *speed, int64_t node, int64_t cpu)
{
	int64_t at;

	return speed && intmap_get(&speed->of_cpu, key_of(node, cpu), &at)
		   ? &speed->pace[at]
		   : NULL;
}

static int take_first(void *context, const struct frequency_step *step)
{
	struct opendc_speed *speed = context;
	int64_t node = opendc_node_of(speed->cluster, step->node);
	double mhz = (double)step->khz / KHZ_PER_MHZ;

	if (node < 0 || step->khz <= 0)
		return 0;
	if (!pace_of(speed, node, step->cpu)) {
		speed->pace = mem_grow(speed->pace, speed->paces, &speed->room,
				       sizeof(*speed->pace));
		intmap_put(&speed->of_cpu, key_of(node, step->cpu),
			   (int64_t)speed->paces);
		speed->pace[speed->paces++] = (struct pace){.first = mhz};
	}
	if (mhz > speed->cluster->node[node].mhz)
		speed->cluster->node[node].mhz = mhz;
	return 0;
}

int opendc_speed_load(struct opendc_speed **speed, struct opendc_cluster *cluster,
		      struct export *export, struct error *error)
{
	static const struct activity_ops ops = {.frequency = take_first};
	struct activity_recorded recorded;

	*speed = NULL;
	if (activity_recorded(&recorded, export->timeline, error))
		return -1;
	if (!recorded.frequency)
		return 0;
	*speed = mem_zalloc(sizeof(**speed));
	(*speed)->cluster = cluster;
	return activity_walk(export->timeline, &export->scope, &ops, *speed, error);
}

void opendc_speed_free(struct opendc_speed *speed)
{
	if (!speed)
		return;
	for (size_t i = 0; i < speed->paces; i++)
		free(speed->pace[i].step);
	free(speed->pace);
	intmap_clear(&speed->of_cpu);
	free(speed);
}

static int take_step(void *context, const struct frequency_step *step)
{
	struct walk *walk = context;
	int64_t node = opendc_node_of(walk->charger->cluster, step->node);
	struct pace *pace = node < 0 ? NULL : pace_of(walk->speed, node, step->cpu);

	if (!pace || step->khz <= 0)
		return 0;
	pace->step = mem_grow(pace->step, pace->steps, &pace->room, sizeof(*pace->step));
	pace->step[pace->steps++] =
	    (struct step){step->ts_ns, (double)step->khz / KHZ_PER_MHZ};
	return 0;
}

/* Speed at a time, and until when it holds. */
static double speed_at(const struct pace *pace, nsec_t when, nsec_t *until)
{
	double mhz = pace->first;

	for (size_t i = 0; i < pace->steps; i++) {
		if (pace->step[i].from_ns > when) {
			if (pace->step[i].from_ns < *until)
				*until = pace->step[i].from_ns;
			break;
		}
		mhz = pace->step[i].mhz;
	}
	return mhz;
}

/* What a processor ran before is done: of the steps before it the last one is left. */
static void forget_steps(struct pace *pace, nsec_t before)
{
	size_t gone = 0;

	while (gone + 1 < pace->steps && pace->step[gone + 1].from_ns <= before)
		gone++;
	pace->steps -= gone;
	memmove(pace->step, pace->step + gone, pace->steps * sizeof(*pace->step));
}

static int charge_span(struct walk *walk, int64_t node, const struct thread_span *span)
{
	const struct opendc_cluster *cluster = walk->charger->cluster;
	struct pace *pace = pace_of(walk->speed, node, span->cpu);
	struct opendc_stretch stretch = {
	    .node = node,
	    .process = opendc_process_of_thread(cluster, node, span->tid, span->begin_ns),
	    .share = 1,
	    .mhz = cluster->node[node].mhz > 0 ? cluster->node[node].mhz : walk->mhz};
	nsec_t at = span->begin_ns;

	while (at < span->end_ns) {
		stretch.begin_ns = at;
		stretch.end_ns = span->end_ns;
		if (pace)
			stretch.mhz = speed_at(pace, at, &stretch.end_ns);
		if (opendc_charge(walk->charger, &stretch, walk->error))
			return -1;
		at = stretch.end_ns;
	}
	if (pace && pace->steps)
		forget_steps(pace, span->end_ns);
	return 0;
}

static int take_span(void *context, const struct thread_span *span)
{
	struct walk *walk = context;
	struct opendc_cluster *cluster = walk->charger->cluster;
	int64_t node = opendc_node_of(cluster, span->node);

	if (node < 0 || span->state != ACTIVITY_RUNNING)
		return 0;
	walk->spans++;
	if (!cluster->node[node].fact->cpus && span->cpu >= cluster->node[node].cpus)
		cluster->node[node].cpus = span->cpu + 1;
	if (span->tid != 0)
		return charge_span(walk, node, span);
	cluster->node[node].account.idle_ns +=
	    (double)nsec_sub(span->end_ns, span->begin_ns);
	return 0;
}

static void tell_share(void *context, double share)
{
	struct walk *walk = context;

	(void)share;
	progress_update(&walk->export->progress, "scheduler", walk->spans, 0, 0);
}

int opendc_charge_switches(struct opendc_charger *charger, struct opendc_speed *speed,
			   const struct opendc_choice *choice, struct export *export,
			   struct error *error)
{
	const struct activity_ops ops = {.thread = take_span,
					 .frequency = speed ? take_step : NULL,
					 .share = tell_share,
					 .without = ACTIVITY_ONLY_RUNNING};
	struct walk walk = {.charger = charger,
			    .speed = speed,
			    .mhz = choice->cpu_mhz,
			    .export = export,
			    .error = error};

	return activity_walk(export->timeline, &export->scope, &ops, &walk, error) ? -1
										   : 0;
}
