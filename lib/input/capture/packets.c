/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/capture/capture.h"
#include "input/capture/two_clocks.h"
#include "input/packet_source.h"

enum {
	STEP_PACKETS = 1024,
	SURVEY_PACKETS = 10000, /* at first; twice as many while it is not clear */
	CLOCK_PACKETS = 1000,   /* per step of the search for a second clock */
	UNDECODED_KINDS = 16,   /* kinds that are counted separately */
	DATA_LIMIT = 66 + FRAME_UDP_DATA, /* Ethernet with a tag, IPv6, UDP, data */
};

struct capture {
	struct packet_source base;
	packet_event_fn *give;
	void *context;
	struct capture_frames *frames;
	struct sides sides;
	struct second_stamps second; /* timestamps of received packets by another clock */
	uint64_t foreign, cut, malformed;
	struct undecoded {
		uint32_t kind; /* frame_undecoded(); 0 for all other kinds */
		uint64_t count;
	} undecoded[UNDECODED_KINDS];
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
static int survey(struct capture *capture, const struct capture_input *input,
		  struct error *error)
{
	struct trace_facts facts = {0};
	struct problem_list ignored = {NULL, 0, 0};
	struct capture_frames *frames = capture_frames_open(input, &facts, error);
	struct survey *survey;
	uint64_t packets = SURVEY_PACKETS;
	int status = -1;
	bool more = true;

	if (!frames)
		return -1;
	survey = survey_new();
	for (size_t i = 0; i < input->others; i++)
		survey_exclude(survey, input->other[i]);
	for (; status && more; packets *= 2) {
		more = capture_frames_step(frames, packets, look, survey, &ignored);
		status = survey_decide(survey, input->name, &capture->sides, error);
	}
	if (status)
		error_prefix(error, "%s", capture->base.path);
	else
		error_clear(error);
	memcpy(capture->base.guessed_host, capture->sides.ethernet,
	       sizeof(capture->base.guessed_host));
	survey_free(survey);
	capture_frames_free(frames);
	problem_clear(&ignored);
	return status;
}

/* Make a packet event of a packet. Return false if the packet is not one. */
static bool make_packet_event(struct capture *capture, const struct captured *captured,
			      struct packet_event *packet_event)
{
	struct trace_facts *facts = &capture->base.facts;
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

static void count_undecoded(struct capture *capture, uint32_t kind)
{
	struct undecoded *undecoded = capture->undecoded;

	for (int i = 1; i < UNDECODED_KINDS; i++) {
		if (!undecoded[i].kind)
			undecoded[i].kind = kind;
		if (undecoded[i].kind == kind) {
			undecoded[i].count++;
			return;
		}
	}
	undecoded[0].count++;
}

/* Describe a kind of undecoded headers. The caller frees the result. */
static char *describe_undecoded(uint32_t kind)
{
	static const struct {
		uint16_t type;
		const char *name;
	} known[] = {
	    {0x22f3, " (TRILL)"}, {0x4305, " (B.A.T.M.A.N.)"}, {0x88e5, " (MACsec)"},
	    {0x88e7, " (PBB)"},   {0x892f, " (HSR)"},          {0x894f, " (NSH)"},
	    {0x88fb, " (PRP)"},   {0x8926, " (VN-Tag)"},
	};
	const uint32_t which = kind & 0xffffff;
	const char *name = "";

	switch (kind >> 24) {
	case UNDECODED_LINK:
		name = capture_link_name(which);
		return mem_printf("of link type %s (%u)", name ? name : "unknown", which);
	case UNDECODED_TYPE:
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			if (known[i].type == which)
				name = known[i].name;
		return mem_printf("of Ethernet type 0x%04x%s", which, name);
	case UNDECODED_PPP:
		return mem_printf("of PPP protocol 0x%04x", which);
	case UNDECODED_MPLS:
		return mem_strdup("with MPLS labels before something other than IP");
	case UNDECODED_DEPTH:
		return mem_strdup("with too many headers in each other");
	default:
		return mem_strdup("of other kinds");
	}
}

static void report_undecoded(struct capture *capture)
{
	for (int i = 0; i < UNDECODED_KINDS; i++) {
		const struct undecoded *undecoded = &capture->undecoded[i];
		AUTOFREE char *what = describe_undecoded(undecoded->kind);

		if (undecoded->count)
			problem_add(&capture->base.problems, capture->base.path,
				    PROBLEM_HEADERLESS, undecoded->count,
				    "%" PRIu64 " packets %s are not decoded",
				    undecoded->count, what);
	}
}

static void handle_packet(void *context, struct captured *captured)
{
	struct capture *capture = context;
	struct packet_event packet_event = {.stream = 0};

	if (captured->frame.undecoded)
		count_undecoded(capture, captured->frame.undecoded);
	capture->base.facts.network_events += captured->status != FRAME_OTHER;
	capture->cut += captured->status == FRAME_CUT;
	capture->malformed += captured->status == FRAME_MALFORMED;
	if (captured->status == FRAME_PACKET &&
	    make_packet_event(capture, captured, &packet_event)) {
		if (capture->second.clock.found)
			second_stamps_add(&capture->second, &packet_event, capture->give,
					  capture->context);
		else
			capture->give(capture->context, &packet_event);
	}
}

/* The context of look_at_clock(). */
struct clock_look {
	const struct sides *sides;
	struct clock_survey *survey;
};

static void look_at_clock(void *context, struct captured *captured)
{
	struct clock_look *look = context;
	enum side side = SIDE_FOREIGN;

	if (captured->status == FRAME_PACKET)
		side = sides_tell(look->sides, &captured->frame);
	if (side == SIDE_SENT || side == SIDE_RECEIVED)
		clock_survey_add(look->survey, side == SIDE_RECEIVED, captured->ns);
}

/* Determine whether a second clock stamps received packets. */
static void find_clocks(struct capture *capture, const struct capture_input *input)
{
	struct trace_facts facts = {0};
	struct problem_list ignored = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	struct capture_frames *frames = capture_frames_open(input, &facts, &error);
	struct clock_look look = {&capture->sides, clock_survey_new()};

	bool more = frames;

	if (frames)
		capture_frames_keep_stamps(frames);
	/* Continue only while packets are in an order that suggests two clocks. */
	for (int i = 0; more && i < SURVEY_PACKETS / CLOCK_PACKETS; i++) {
		more = capture_frames_step(frames, CLOCK_PACKETS, look_at_clock, &look,
					   &ignored) &&
		       clock_survey_has_signs(look.survey);
		capture->second.clock = clock_survey_decide(look.survey);
		more &= !capture->second.clock.found;
	}
	clock_survey_free(look.survey);
	capture_frames_free(frames);
	problem_clear(&ignored);
	error_clear(&error);
}

static void report_counts(struct capture *capture)
{
	const struct {
		uint64_t count;
		enum problem_kind kind;
		const char *text;
	} odd[] = {
	    {capture->foreign, PROBLEM_FOREIGN,
	     "packets are neither from nor to this node; skipped"},
	    {capture->cut, PROBLEM_CUT,
	     "packets were captured too short for their headers; skipped"},
	    {capture->malformed, PROBLEM_MALFORMED,
	     "packets have headers that cannot be right; skipped"},
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
	if (capture->second.begun) {
		source->facts.begin_ns = capture->second.begin_ns;
		source->facts.end_ns = capture->second.end_ns;
	}
	if (!more) {
		report_counts(capture);
		report_undecoded(capture);
		second_stamps_report(&capture->second, source->path, &source->problems);
	}
	return more;
}

static void capture_free(struct packet_source *source)
{
	struct capture *capture = (struct capture *)source;

	capture_frames_free(capture->frames);
	free(capture->second.held);
	free(capture);
}

struct packet_source *capture_packets_open(const struct capture_input *input,
					   struct error *error)
{
	struct capture *capture = mem_zalloc(sizeof(*capture));

	capture->base.step = capture_step;
	capture->base.free = capture_free;
	capture->base.path = mem_strdup(input->path);
	capture->frames = capture_frames_open(input, &capture->base.facts, error);
	if (input->locals)
		capture->sides =
		    (struct sides){SIDES_BY_ADDRESS, input->local, input->locals, {0}};
	if (!capture->frames || (!input->locals && survey(capture, input, error))) {
		packet_source_free(&capture->base);
		return NULL;
	}
	capture->base.facts.has_udp_data =
	    capture_frames_limit(capture->frames) >= DATA_LIMIT;
	find_clocks(capture, input);
	/* Times that seem to go back are those of the other clock. */
	capture->base.facts.has_second_clock = capture->second.clock.found;
	if (capture->second.clock.found)
		capture_frames_keep_stamps(capture->frames);
	return &capture->base;
}
