/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/capture/frames.h"
#include "input/capture/survey.h"
#include "input/capture/two_clocks.h"
#include "input/packet_source.h"

enum {
	STEP_PACKETS = 1024,
	UNDECODED_KINDS = 16,             /* kinds that are counted separately */
	DATA_LIMIT = 66 + FRAME_UDP_DATA, /* Ethernet with a tag, IPv6, UDP, data */
};

struct capture {
	struct packet_source base;
	packet_event_fn *on_packet;
	void *context;
	struct capture_frames *frames;
	struct sides sides;
	struct second_clock second; /* it stamps received packets */
	uint64_t foreign, cut, malformed;
	struct undecoded {
		uint32_t kind; /* frame_undecoded(); 0 for all other kinds */
		uint64_t count;
	} undecoded[UNDECODED_KINDS];
};

/* Make a packet event of a packet. Return false if the packet is not one. */
static bool make_packet_event(struct capture *capture, const struct captured *captured,
			      struct packet_event *packet_event)
{
	struct packet_counts *counts = &capture->base.counts;
	const struct frame *frame = &captured->frame;
	nsec_t ns;

	switch (sides_tell(&capture->sides, frame)) {
	case SIDE_SENT:
		counts->sent++;
		break;
	case SIDE_RECEIVED:
		counts->received++;
		packet_event->received = true;
		break;
	case SIDE_FOREIGN:
		capture->foreign++;
		return false;
	case SIDE_INSIDE:
		return false;
	}
	ns = second_clock_convert(&capture->second, packet_event->received, captured->ns);
	/* The timestamp is truncated; a receive needs the latest instant. */
	packet_event->whole_ns = nsec_add(ns, captured->unit.slack_ns);
	packet_event->ns = packet_event->received ? packet_event->whole_ns : ns;
	packet_event->event_ns = ns;
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
	capture->base.counts.network_events += captured->status != FRAME_OTHER;
	capture->cut += captured->status == FRAME_CUT;
	capture->malformed += captured->status == FRAME_MALFORMED;
	if (captured->status == FRAME_PACKET &&
	    make_packet_event(capture, captured, &packet_event))
		capture->on_packet(capture->context, &packet_event);
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

static bool capture_step(struct packet_source *source, packet_event_fn *on_packet,
			 void *context)
{
	struct capture *capture = (struct capture *)source;
	bool more;

	capture->on_packet = on_packet;
	capture->context = context;
	more = capture_frames_step(capture->frames, STEP_PACKETS, handle_packet, capture,
				   &source->problems);
	second_clock_span(&capture->second, &source->facts);
	if (!more) {
		report_counts(capture);
		report_undecoded(capture);
		second_clock_report(&capture->second, source->path, &source->problems);
	}
	return more;
}

static void capture_free(struct packet_source *source)
{
	struct capture *capture = (struct capture *)source;

	capture_frames_free(capture->frames);
	second_clock_clear(&capture->second);
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
	if (!capture->frames || sides_find(&capture->sides, input, error)) {
		packet_source_free(&capture->base);
		return NULL;
	}
	memcpy(capture->base.guessed_host, capture->sides.ethernet,
	       sizeof(capture->base.guessed_host));
	capture->base.facts.has_udp_data =
	    capture_frames_limit(capture->frames) >= DATA_LIMIT;
	second_clock_find(&capture->second, input, &capture->sides);
	/* Times that seem to go back are those of the other clock. */
	capture->base.facts.has_second_clock = capture->second.found;
	capture->base.facts.second_clock = second_clock_describe(&capture->second);
	if (capture->second.found)
		capture_frames_keep_stamps(capture->frames);
	return &capture->base;
}
