/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "input/capture/frames.h"
#include "input/capture/survey.h"
#include "input/packet_source.h"

enum {
	STEP_PACKETS = 1024,
	SURVEY_PACKETS = 10000, /* at first; doubled while it is not clear */
};

struct capture {
	struct packet_source base;
	struct capture_frames *frames;
	struct sides sides;
	uint64_t foreign, cut, malformed;
	bool ended;
};

/*
 * Read the capture as far as it takes to tell which node it is from. What
 * breaks here breaks again, and is reported, when it is read for its packets.
 */
static int survey(struct capture *capture, struct error *error)
{
	struct capture_frames *frames = capture_frames_open(capture->base.path, error);
	struct survey *survey;
	struct captured captured;
	uint64_t next = SURVEY_PACKETS;
	int status = -1;

	if (!frames)
		return -1;
	survey = survey_new();
	while (status && capture_frames_next(frames, &captured)) {
		if (captured.status == FRAME_PACKET || captured.status == FRAME_OTHER)
			survey_add(survey, &captured.frame, captured.status);
		if (captured.ordinal + 1 == next) {
			status = survey_decide(survey, &capture->sides, error);
			next *= 2;
		}
	}
	if (status)
		status = survey_decide(survey, &capture->sides, error);
	if (status)
		error_prefix(error, "%s", capture->base.path);
	else
		error_clear(error);
	survey_free(survey);
	capture_frames_free(frames);
	return status;
}

static int find_sides(struct capture *capture, const struct node_address *local,
		      size_t locals, struct error *error)
{
	enum frame_link link = capture_frames_link(capture->frames);

	if (locals) {
		sides_set_addresses(&capture->sides, local, locals);
		return 0;
	}
	if (link == FRAME_COOKED || link == FRAME_COOKED2) {
		capture->sides.rule = SIDES_BY_COOKED;
		return 0;
	}
	return survey(capture, error);
}

/* Whether a packet is a sighting, which `sighting` then is. */
static bool make_sighting(struct capture *capture, const struct captured *captured,
			  struct sighting *sighting)
{
	struct ctf_facts *facts = &capture->base.facts;
	const struct frame *frame = &captured->frame;

	/* The stamp was cut off; a receive needs the latest instant. */
	sighting->ns = captured->ns;
	sighting->whole_ns = nsec_add(captured->ns, captured->unit.slack_ns);
	switch (sides_tell(&capture->sides, frame)) {
	case SIDE_SENT:
		facts->sent++;
		break;
	case SIDE_RECEIVED:
		facts->received++;
		sighting->received = true;
		sighting->ns = sighting->whole_ns;
		break;
	case SIDE_FOREIGN:
		capture->foreign++;
		return false;
	case SIDE_INSIDE:
		return false;
	}
	sighting->event_ns = captured->ns;
	sighting->hops = frame->hops;
	sighting->packet = frame->packet;
	sighting->device = frame->device ? frame->device : captured->unit.interface;
	sighting->ordinal = captured->ordinal;
	return true;
}

static void handle_packet(struct capture *capture, struct captured *captured,
			  sighting_fn *give, void *context)
{
	struct ctf_facts *facts = &capture->base.facts;
	struct sighting sighting = {.stream = 0};

	if (!capture_frames_stamp(capture->frames, captured, facts))
		return;
	facts->network_events += captured->status != FRAME_OTHER;
	capture->cut += captured->status == FRAME_CUT;
	capture->malformed += captured->status == FRAME_MALFORMED;
	if (captured->status == FRAME_PACKET &&
	    make_sighting(capture, captured, &sighting))
		give(context, &sighting);
}

static void report_counts(struct capture *capture)
{
	const struct {
		uint64_t count;
		const char *kind, *text;
	} odd[] = {
	    {capture->foreign, "foreign",
	     "packets are neither from nor to this node, left out"},
	    {capture->cut, "cut",
	     "packets were captured too short for their headers, left out"},
	    {capture->malformed, "malformed",
	     "packets have headers that cannot be right, left out"},
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		if (odd[i].count)
			problem_add(&capture->base.problems, capture->base.path,
				    odd[i].kind, odd[i].count, "%" PRIu64 " %s",
				    odd[i].count, odd[i].text);
}

static bool capture_step(struct packet_source *source, sighting_fn *give, void *context)
{
	struct capture *capture = (struct capture *)source;
	struct captured captured;
	bool more = true;

	if (capture->ended)
		return false;
	for (int i = 0; i < STEP_PACKETS && more; i++) {
		more = capture_frames_next(capture->frames, &captured);
		if (more)
			handle_packet(capture, &captured, give, context);
	}
	capture_frames_progress(capture->frames, &source->facts);
	if (more)
		return true;
	capture->ended = true;
	capture_frames_report_end(capture->frames, &source->problems);
	report_counts(capture);
	capture_frames_report_stamps(capture->frames, &source->problems);
	return false;
}

static void capture_free(struct packet_source *source)
{
	struct capture *capture = (struct capture *)source;

	capture_frames_free(capture->frames);
	sides_clear(&capture->sides);
	free(capture);
}

struct packet_source *capture_packets_open(const char *path,
					   const struct node_address *local,
					   size_t locals, struct error *error)
{
	struct capture *capture = mem_zalloc(sizeof(*capture));

	capture->base.step = capture_step;
	capture->base.free = capture_free;
	capture->base.path = mem_strdup(path);
	capture->frames = capture_frames_open(path, error);
	if (!capture->frames || find_sides(capture, local, locals, error)) {
		packet_source_free(&capture->base);
		return NULL;
	}
	capture_frames_progress(capture->frames, &capture->base.facts);
	return &capture->base;
}
