/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/capture_sides.h"
#include "input/capture_stamps.h"
#include "input/capture_survey.h"
#include "input/headers.h"
#include "input/packet_source_private.h"

enum {
	STEP_PACKETS = 4096,
	SURVEY_PACKETS = 10000, /* at first; doubled while it is not clear */
};

struct capture {
	struct packet_source base;
	pcap_t *pcap;
	struct stamp_walk *stamps;
	enum frame_link link;
	struct sides sides;
	nsec_t last_ns;
	uint64_t packets; /* of any kind, stamped or not */
	uint64_t foreign, cut, malformed, unstamped, backward;
	bool ended;
};

/*
 * Open what can be read twice; -1 with errno. Of a pipe without a writer
 * neither this nor the look at what it is may hang.
 */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
		return fd;
	close(fd);
	errno = S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
	return -1;
}

bool capture_probe(const char *path)
{
	int fd = open_regular(path);
	bool is_capture = fd >= 0 && capture_format_of(fd) != CAPTURE_NONE;

	if (fd >= 0)
		close(fd);
	return is_capture;
}

const char *capture_library_version(void)
{
	return pcap_lib_version();
}

static pcap_t *open_file(const char *path, struct error *error)
{
	char cause[PCAP_ERRBUF_SIZE] = "";
	int fd = open_regular(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
	pcap_t *pcap;

	if (!file) {
		error_errno(error, path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO,
							cause);
	if (!pcap) {
		error_set(error, "%s: no capture: %s", path, cause);
		fclose(file);
	}
	return pcap;
}

static int find_link(const char *path, pcap_t *pcap, enum frame_link *link,
		     struct error *error)
{
	int type = pcap_datalink(pcap);
	const char *name = pcap_datalink_val_to_name(type);

	switch (type) {
	case DLT_EN10MB:
		*link = FRAME_ETHERNET;
		return 0;
	case DLT_LINUX_SLL:
		*link = FRAME_COOKED;
		return 0;
	case DLT_LINUX_SLL2:
		*link = FRAME_COOKED2;
		return 0;
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
		*link = FRAME_RAW;
		return 0;
	case DLT_NULL:
	case DLT_LOOP:
		*link = FRAME_LOOPBACK;
		return 0;
	}
	if (name)
		return error_set(error,
				 "%s: link type %s is not supported, want Ethernet, "
				 "Linux cooked, raw IP or loopback",
				 path, name);
	return error_set(
	    error,
	    "%s: link type %d is not supported, want Ethernet, Linux cooked, "
	    "raw IP or loopback",
	    path, type);
}

/*
 * Read the capture as far as it takes to tell which node it is from. What
 * breaks here breaks again, and is reported, when it is read for its packets.
 */
static int survey(struct capture *capture, struct error *error)
{
	pcap_t *pcap = open_file(capture->base.path, error);
	struct survey *survey;
	struct pcap_pkthdr *header;
	const u_char *data;
	uint64_t packets = 0, next = SURVEY_PACKETS;
	int status = -1;

	if (!pcap)
		return -1;
	survey = survey_new();
	while (status && pcap_next_ex(pcap, &header, &data) == 1) {
		struct frame frame;
		enum frame_status found = frame_decode(&frame, capture->link, data,
						       header->caplen, header->len);

		if (found == FRAME_PACKET || found == FRAME_OTHER)
			survey_add(survey, &frame, found);
		if (++packets == next) {
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
	pcap_close(pcap);
	return status;
}

static int find_sides(struct capture *capture, const struct node_address *local,
		      size_t locals, struct error *error)
{
	if (locals) {
		sides_set_addresses(&capture->sides, local, locals);
		return 0;
	}
	if (capture->link == FRAME_COOKED || capture->link == FRAME_COOKED2) {
		capture->sides.rule = SIDES_BY_COOKED;
		return 0;
	}
	return survey(capture, error);
}

/* The stamp in nanoseconds; -1 where there is none that can be one. */
static int find_stamp(const struct pcap_pkthdr *header, nsec_t *ns)
{
	nsec_t seconds;

	/* Opened with nanosecond precision, so tv_usec holds nanoseconds. */
	if (header->ts.tv_usec < 0 || header->ts.tv_usec >= NSEC_PER_SEC ||
	    __builtin_mul_overflow(header->ts.tv_sec, NSEC_PER_SEC, &seconds) ||
	    __builtin_add_overflow(seconds, header->ts.tv_usec, ns))
		return -1;
	return nsec_is_stamp(*ns) ? 0 : -1;
}

static void note_stamp(struct capture *capture, nsec_t ns)
{
	struct packet_source_facts *facts = &capture->base.facts;

	if (!facts->events || ns < facts->begin_ns)
		facts->begin_ns = ns;
	if (!facts->events || ns > facts->end_ns)
		facts->end_ns = ns;
	if (facts->events && ns < capture->last_ns)
		capture->backward++;
	capture->last_ns = ns;
	facts->events++;
}

/* A packet with its stamp; whether it is a sighting, which `sighting` then is. */
static bool make_sighting(struct capture *capture, const struct frame *frame,
			  const struct stamp_unit *unit, struct sighting *sighting)
{
	struct packet_source_facts *facts = &capture->base.facts;

	switch (sides_tell(&capture->sides, frame)) {
	case SIDE_SENT:
		facts->sent++;
		break;
	case SIDE_RECEIVED:
		facts->received++;
		sighting->received = true;
		/* The stamp was cut off; a receive needs the latest instant. */
		sighting->ns = nsec_add(sighting->ns, unit->slack_ns);
		break;
	case SIDE_FOREIGN:
		capture->foreign++;
		return false;
	case SIDE_INSIDE:
		return false;
	}
	sighting->whole_ns = sighting->ns;
	sighting->packet = frame->packet;
	sighting->device = frame->device ? frame->device : unit->interface;
	return true;
}

static void handle_packet(struct capture *capture, const struct pcap_pkthdr *header,
			  const u_char *data, sighting_fn *give, void *context)
{
	struct stamp_unit unit = stamp_walk_next(capture->stamps);
	struct sighting sighting = {.ns = 0};
	enum frame_status status;
	struct frame frame;

	capture->packets++;
	if (!unit.usable || find_stamp(header, &sighting.ns)) {
		capture->unstamped++;
		return;
	}
	note_stamp(capture, sighting.ns);
	status = frame_decode(&frame, capture->link, data, header->caplen, header->len);
	capture->base.facts.network_events += status != FRAME_OTHER;
	capture->cut += status == FRAME_CUT;
	capture->malformed += status == FRAME_MALFORMED;
	if (status == FRAME_PACKET && make_sighting(capture, &frame, &unit, &sighting))
		give(context, &sighting);
}

static void report_end(struct capture *capture)
{
	const char *cause = pcap_geterr(capture->pcap);

	if (strncmp(cause, "truncated", strlen("truncated")) == 0)
		problem_add(&capture->base.problems, capture->base.path, "truncated", 1,
			    "cut in the middle of a packet after %" PRIu64 " packets: %s",
			    capture->packets, cause);
	else
		problem_add(&capture->base.problems, capture->base.path, "broken", 1,
			    "cannot be read on after %" PRIu64 " packets: %s",
			    capture->packets, cause);
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
	    {capture->unstamped, "unstamped", "packets have no usable stamp, left out"},
	    {capture->backward, "backward", "stamps lie before the one before"},
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		if (odd[i].count)
			problem_add(&capture->base.problems, capture->base.path,
				    odd[i].kind, odd[i].count, "%" PRIu64 " %s",
				    odd[i].count, odd[i].text);
}

static enum step capture_step(struct packet_source *source, sighting_fn *give,
			      void *context)
{
	struct capture *capture = (struct capture *)source;
	struct pcap_pkthdr *header;
	const u_char *data;
	int status = 1;
	off_t at;

	if (capture->ended)
		return STEP_END;
	for (int i = 0; i < STEP_PACKETS && status == 1; i++) {
		status = pcap_next_ex(capture->pcap, &header, &data);
		if (status == 1)
			handle_packet(capture, header, data, give, context);
	}
	at = ftello(pcap_file(capture->pcap));
	if (at >= 0)
		source->facts.bytes = (uint64_t)at;
	if (status == 1)
		return STEP_MORE;
	capture->ended = true;
	if (status == PCAP_ERROR)
		report_end(capture);
	report_counts(capture);
	return STEP_END;
}

static void capture_free(struct packet_source *source)
{
	struct capture *capture = (struct capture *)source;

	if (capture->pcap)
		pcap_close(capture->pcap);
	stamp_walk_free(capture->stamps);
	sides_clear(&capture->sides);
	packet_source_release(source);
	free(capture);
}

struct packet_source *capture_packets_open(const char *path,
					   const struct node_address *local,
					   size_t locals, struct error *error)
{
	static const struct packet_source_ops ops = {capture_step, capture_free};
	struct capture *capture = mem_zalloc(sizeof(*capture));
	struct stat status;
	int fd;

	packet_source_init(&capture->base, &ops, path);
	capture->pcap = open_file(path, error);
	if (!capture->pcap || find_link(path, capture->pcap, &capture->link, error) ||
	    find_sides(capture, local, locals, error)) {
		capture_free(&capture->base);
		return NULL;
	}
	fd = fileno(pcap_file(capture->pcap));
	capture->stamps = stamp_walk_new(fd);
	if (fstat(fd, &status) == 0)
		capture->base.facts.total_bytes = (uint64_t)status.st_size;
	return &capture->base;
}
