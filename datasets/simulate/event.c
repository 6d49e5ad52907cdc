/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/event.h"

#include <string.h>

#include "simulate/host.h"
#include "simulate/truth.h"

#define FIELD(name, type) {#name, SIM_##type},
#define CLASS(kind, captured, name, ...)                                                 \
	[EVENT_##kind] = {#name, (const struct sim_field[]){__VA_ARGS__{0}},             \
			  sizeof((const struct sim_field[]){__VA_ARGS__{0}}) /           \
				  sizeof(struct sim_field) -                             \
			      1,                                                         \
			  SIM_##captured},

static const struct sim_class classes[EVENT_KINDS] = {SIM_EVENTS(CLASS, FIELD)};

const struct sim_class *event_class(enum event_kind kind)
{
	return &classes[kind];
}

static void tell_call(struct now *now, enum event_kind kind, const union sim_value *value)
{
	if ((kind - EVENT_CALLS) % 2 == 0)
		spans_call(now, classes[kind].name + strlen("syscall_entry_"));
	else
		spans_call_end(now, value[0].i);
}

void event_add(struct now *now, enum event_kind kind, const union sim_value *value)
{
	struct world *world = now->world;
	struct host *host = now_host(now);

	if (kind >= EVENT_CALLS)
		tell_call(now, kind, value);
	if (world->writer && !world->failed && !world->stopped &&
	    host_is_traced(host, now->ns)) {
		struct sim_clock *clock = &host->clock;
		const struct sim_event event = {
		    .node = now->node,
		    .cpu = now->cpu,
		    .mono_ns = world->real_stamps
				   ? sim_clock_real(clock, now->ns) - clock->boot_ns
				   : sim_clock_mono(clock, now->ns),
		    .class = &classes[kind],
		    .value = value,
		    .routers = now->routers,
		};

		if (sim_writer_add(world->writer, &event, world->error))
			world->failed = true;
		spans_note_event(now, event.mono_ns);
		world->stopped |= ++world->events >= world->events_most;
	}
	now_pass(now, 200, 1000);
}
