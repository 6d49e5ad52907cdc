/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/event.h"

#include "simulate/host.h"
#include "simulate/truth.h"

#define FIELD(name, type) {#name, SIM_##type},
#define CAPTURE(kind)                                                                    \
	(kind) == EVENT_NET_DEV_QUEUE ? SIM_CAPTURED_SENT                                \
	: (kind) == EVENT_NET_RECEIVE ? SIM_CAPTURED_RECEIVED                            \
				      : SIM_NOT_CAPTURED
#define CLASS(kind, name, ...)                                                           \
	[EVENT_##kind] = {#name, (const struct sim_field[]){__VA_ARGS__{0}},             \
			  sizeof((const struct sim_field[]){__VA_ARGS__{0}}) /           \
				  sizeof(struct sim_field) -                             \
			      1,                                                         \
			  CAPTURE(EVENT_##kind)},

static const struct sim_class classes[EVENT_KINDS] = {SIM_EVENTS(CLASS, FIELD)};

const struct sim_class *event_class(enum event_kind kind)
{
	return &classes[kind];
}

/* Write an arriving packet to the promiscuous captures of the other nodes as well. */
static void write_overheard(const struct context *ctx, const struct sim_event *event)
{
	struct world *world = ctx->world;

	for (uint32_t i = 0; i < world->hosts && !world->failed; i++) {
		struct sim_clock *clock = &world->host[i].clock;
		struct sim_event heard = *event;

		if (i == event->node || !host_is_traced(&world->host[i], ctx->ns))
			continue;
		heard.node = i;
		heard.true_ns = ctx->ns;
		heard.mono_ns = sim_clock_real(clock, ctx->ns) - clock->boot_ns;
		heard.overheard = true;
		if (sim_writer_add(world->writer, &heard, world->error))
			world->failed = true;
	}
}

void event_add(struct context *ctx, enum event_kind kind, const union sim_value *value)
{
	struct world *world = ctx->world;
	struct sim_clock *clock = &ctx->host->clock;
	bool written = world->writer && !world->failed && !world->stopped &&
		       host_is_traced(ctx->host, ctx->ns);
	nsec_t mono_ns = NSEC_MIN;

	if (written)
		mono_ns = world->real_stamps
			      ? sim_clock_real(clock, ctx->ns) - clock->boot_ns
			      : sim_clock_mono(clock, ctx->ns);
	if (world->truth)
		spans_note(ctx, kind, value, mono_ns);
	if (written) {
		const struct sim_event event = {
		    .node = ctx->host->number,
		    .cpu = ctx->cpu->number,
		    .mono_ns = mono_ns,
		    .true_ns = ctx->ns,
		    .class = &classes[kind],
		    .value = value,
		    .routers = ctx->routers,
		};

		if (sim_writer_add(world->writer, &event, world->error))
			world->failed = true;
		if (world->promiscuous && classes[kind].capture == SIM_CAPTURED_RECEIVED)
			write_overheard(ctx, &event);
		world->stopped |= ++world->events >= world->events_most;
	}
	pass_time(ctx, 200, 1000);
}

void event_of_thread(struct context *ctx, enum event_kind kind,
		     const struct thread *thread)
{
	EVENT(ctx, kind, {.text = thread->name}, {.i = thread->tid}, {.i = PRIORITY},
	      {.i = (int32_t)thread->cpu->number});
}
