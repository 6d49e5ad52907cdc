/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/capture/capture.h"
#include "input/packet_source.h"

enum {
	STEP_PACKETS = 1024,
	SURVEY_PACKETS = 10000, /* at first; twice as many while it is not clear */
};

struct capture {
	struct packet_source base;
	packet_event_fn *give;
	void *context;
	struct capture_frames *frames;
	struct sides sides;
	uint64_t foreign, cut, malformed;
};

static void look(void *context, struct captured *captured)
{
	if (captured->status == FRAME_PACKET || captured->status == FRAME_OTHER)
		survey_add(context, &captured->frame, captured->status);
}

/*
 * Read the capture as far as it takes to tell which node it is from. What
 * breaks here breaks again, and is reported, when it is read for its packets.
 */
static int survey(struct capture *capture, const char *name, struct error *error)
{
	struct ctf_facts facts = {0};
	struct problem_list ignored = {NULL, 0, 0};
	struct capture_frames *frames =
	    capture_frames_open(capture->base.path, &facts, error);
	struct survey *survey;
	uint64_t packets = SURVEY_PACKETS;
	int status = -1;
	bool more = true;

	if (!frames)
		return -1;
	survey = survey_new();
	for (; status && more; packets *= 2) {
		more = capture_frames_step(frames, packets, look, survey, &ignored);
		status = survey_decide(survey, name, &capture->sides, error);
	}
	if (status)
		error_prefix(error, "%s", capture->base.path);
	else
		error_clear(error);
	if (capture->sides.rule == SIDES_BY_ETHERNET)
		memcpy(capture->base.guessed_host, capture->sides.ethernet,
		       sizeof(capture->base.guessed_host));
	survey_free(survey);
	capture_frames_free(frames);
	problem_clear(&ignored);
	return status;
}

static int find_sides(struct capture *capture, const char *name,
		      const struct node_address *local, size_t locals,
		      struct error *error)
{
	enum frame_link link = capture_frames_link(capture->frames);

	if (locals) {
		capture->sides = (struct sides){SIDES_BY_ADDRESS, local, locals, {0}};
		return 0;
	}
	if (link == FRAME_COOKED || link == FRAME_COOKED2) {
		capture->sides.rule = SIDES_BY_COOKED;
		return 0;
	}
	return survey(capture, name, error);
}

/* Whether a packet is a packet event, which `packet event` then is. */
static bool make_packet_event(struct capture *capture, const struct captured *captured,
			      struct packet_event *packet_event)
{
	struct ctf_facts *facts = &capture->base.facts;
	const struct frame *frame = &captured->frame;

	/* The stamp was cut off; a receive needs the latest instant. */
	packet_event->ns = captured->ns;
	packet_event->whole_ns = nsec_add(captured->ns, captured->unit.slack_ns);
	switch (sides_tell(&capture->sides, frame)) {
	case SIDE_SENT:
		facts->sent++;
		break;
	case SIDE_RECEIVED:
		facts->received++;
		packet_event->received = true;
		packet_event->ns = packet_event->whole_ns;
		break;
	case SIDE_FOREIGN:
		capture->foreign++;
		return false;
	case SIDE_INSIDE:
		return false;
	}
	packet_event->event_ns = captured->ns;
	packet_event->hops = frame->hops;
	packet_event->packet = frame->packet;
	packet_event->device = frame->device ? frame->device : captured->unit.interface;
	packet_event->ordinal = captured->ordinal;
	return true;
}

static void handle_packet(void *context, struct captured *captured)
{
	struct capture *capture = context;
	struct packet_event packet_event = {.stream = 0};

	capture->base.facts.network_events += captured->status != FRAME_OTHER;
	capture->cut += captured->status == FRAME_CUT;
	capture->malformed += captured->status == FRAME_MALFORMED;
	if (captured->status == FRAME_PACKET &&
	    make_packet_event(capture, captured, &packet_event))
		capture->give(capture->context, &packet_event);
}

static void report_counts(struct capture *capture)
{
	const struct {
		uint64_t count;
		enum problem_kind kind;
		const char *text;
	} odd[] = {
	    {capture->foreign, PROBLEM_FOREIGN,
	     "packets are neither from nor to this node, left out"},
	    {capture->cut, PROBLEM_CUT,
	     "packets were captured too short for their headers, left out"},
	    {capture->malformed, PROBLEM_MALFORMED,
	     "packets have headers that cannot be right, left out"},
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		if (odd[i].count)
			problem_add(&capture->base.problems, capture->base.path,
				    odd[i].kind, odd[i].count, "%" PRIu64 " %s",
				    odd[i].count, odd[i].text);
}

static bool capture_step(struct packet_source *source, packet_event_fn *give,
			 void *context)
{
	struct capture *capture = (struct capture *)source;
	bool more;

	capture->give = give;
	capture->context = context;
	more = capture_frames_step(capture->frames, STEP_PACKETS, handle_packet, capture,
				   &source->problems);
	if (!more)
		report_counts(capture);
	return more;
}

static void capture_free(struct packet_source *source)
{
	struct capture *capture = (struct capture *)source;

	capture_frames_free(capture->frames);
	free(capture);
}

struct packet_source *capture_packets_open(const char *path, const char *name,
					   const struct node_address *local,
					   size_t locals, struct error *error)
{
	struct capture *capture = mem_zalloc(sizeof(*capture));

	capture->base.step = capture_step;
	capture->base.free = capture_free;
	capture->base.path = mem_strdup(path);
	capture->frames = capture_frames_open(path, &capture->base.facts, error);
	if (!capture->frames || find_sides(capture, name, local, locals, error)) {
		packet_source_free(&capture->base);
		return NULL;
	}
	return &capture->base;
}
