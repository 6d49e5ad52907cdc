/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/survey.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "input/capture/frames.h"

static bool is_local(const struct sides *sides, uint8_t family, const uint8_t address[16])
{
	for (size_t i = 0; i < sides->locals; i++)
		if (sides->local[i].family == family &&
		    memcmp(sides->local[i].bytes, address, family == 4 ? 4 : 16) == 0)
			return true;
	return false;
}

/*
 * Return true if a frame is for all hosts. Without the mask, a subnet's broadcast address
 * looks like others, but the link layer's shows it. Packets of a host that has no address
 * yet do not count.
 */
static bool is_to_all(const struct frame *frame)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	bool on_link =
	    frame->has_ethernet
		? memcmp(frame->target, broadcast, sizeof(broadcast)) == 0
		: frame->cooked == COOKED_BROADCAST || frame->cooked == COOKED_MULTICAST;

	return !packet_is_anonymous(&frame->packet) &&
	       (on_link || packet_is_to_many(&frame->packet));
}

enum side sides_tell(const struct sides *sides, const struct frame *frame)
{
	const struct packet *packet = &frame->packet;
	bool from = false, to = false;

	if (frame->loopback || packet_is_local(packet))
		return SIDE_INSIDE;
	switch (sides->rule) {
	case SIDES_BY_ADDRESS:
		from = is_local(sides, packet->family, packet->src);
		to = is_local(sides, packet->family, packet->dst);
		/* The node may have only the addresses of a tunnel's ends. */
		if (!from && !to && frame->carrier.family) {
			from = is_local(sides, frame->carrier.family, frame->carrier.src);
			to = is_local(sides, frame->carrier.family, frame->carrier.dst);
		}
		to = to || (!from && is_to_all(frame));
		break;
	case SIDES_BY_LINK:
		if (frame->cooked != FRAME_UNCOOKED) {
			from = frame->cooked == COOKED_OUTGOING;
			to = frame->cooked == COOKED_HOST ||
			     frame->cooked == COOKED_BROADCAST ||
			     frame->cooked == COOKED_MULTICAST;
			break;
		}
		from = frame->has_ethernet && !memcmp(frame->source, sides->ethernet, 6);
		/* The lowest bit of the first byte marks a group. */
		to = frame->has_ethernet && (!memcmp(frame->target, sides->ethernet, 6) ||
					     (!from && (frame->target[0] & 1)));
		break;
	}
	if (from)
		return to ? SIDE_INSIDE : SIDE_SENT;
	return to ? SIDE_RECEIVED : SIDE_FOREIGN;
}

/* An Ethernet address, and the frames that it sent or received. */
struct host {
	uint8_t address[6];
	uint64_t paired; /* between two hosts */
	uint64_t checksums,
	    open_checksums; /* packets it sent with a checksum; those left to hardware */
	bool has_capture;   /* another capture was made on it */
};

/* An IP address, and the number of packets from and to it. */
struct ip_count {
	struct node_address address;
	uint64_t packets;
};

struct survey {
	struct host *host;
	size_t hosts, capacity;
	struct intmap index; /* address -> host */
	uint64_t paired;     /* frames between two hosts */
	struct texts ips;    /* family and address; indexes are those of `ip` */
	struct ip_count *ip;
	size_t ip_capacity;
};

struct survey *survey_new(void)
{
	return mem_zalloc(sizeof(struct survey));
}

void survey_free(struct survey *survey)
{
	if (!survey)
		return;
	intmap_clear(&survey->index);
	free(survey->host);
	texts_clear(&survey->ips);
	free(survey->ip);
	free(survey);
}

/* Valid until the next call. */
static struct host *host_of(struct survey *survey, const uint8_t address[6])
{
	uint64_t key = 0;
	struct host *host;
	int64_t at;

	memcpy(&key, address, sizeof(host->address));
	if (intmap_get(&survey->index, key, &at))
		return &survey->host[at];
	intmap_put(&survey->index, key, (int64_t)survey->hosts);
	host = MEM_NEXT(survey->host, survey->hosts, survey->capacity);
	*host = (struct host){.paired = 0};
	memcpy(host->address, address, sizeof(host->address));
	return host;
}

static void count_ip(struct survey *survey, uint8_t family, const uint8_t bytes[16])
{
	struct node_address address = {.family = family};
	size_t count = survey->ips.count, at;

	memcpy(address.bytes, bytes, sizeof(address.bytes));
	at = texts_put_bytes(&survey->ips, (const char *)&address, sizeof(address));
	if (at == count)
		*MEM_NEXT(survey->ip, count, survey->ip_capacity) =
		    (struct ip_count){address, 0};
	survey->ip[at].packets++;
}

void survey_add(struct survey *survey, const struct frame *frame,
		enum frame_status status)
{
	struct host *sender;

	/* Cooked frames record their direction. */
	if (frame->cooked != FRAME_UNCOOKED ||
	    (status == FRAME_PACKET && packet_is_local(&frame->packet)))
		return;
	if (status == FRAME_PACKET) {
		count_ip(survey, frame->packet.family, frame->packet.src);
		if (!packet_is_to_many(&frame->packet))
			count_ip(survey, frame->packet.family, frame->packet.dst);
	}
	if (!frame->has_ethernet || memcmp(frame->source, frame->target, 6) == 0)
		return;
	/* The lowest bit of the first byte marks a group. */
	if (!(frame->target[0] & 1)) {
		host_of(survey, frame->target)->paired++;
		host_of(survey, frame->source)->paired++;
		survey->paired++;
	}
	sender = host_of(survey, frame->source);
	sender->checksums += frame->checksum != CHECKSUM_UNKNOWN;
	sender->open_checksums += frame->checksum == CHECKSUM_PARTIAL;
}

/*
 * Find the two hosts that most frames are from or to; NULL for those that do not exist.
 */
static void find_busiest(const struct survey *survey, const struct host *best[2])
{
	best[0] = best[1] = NULL;
	for (size_t i = 0; i < survey->hosts; i++) {
		const struct host *host = &survey->host[i];

		if (!best[0] || host->paired > best[0]->paired) {
			best[1] = best[0];
			best[0] = host;
		} else if (!best[1] || host->paired > best[1]->paired) {
			best[1] = host;
		}
	}
}

/*
 * Return true if most frames that a host sent have unfinished checksums or, with `few`,
 * if hardly any have.
 */
static bool leaves_open(const struct host *host, bool few)
{
	return few ? host->open_checksums <= host->checksums / 20
		   : host->open_checksums > host->checksums / 2;
}

/* Return the only host that leaves checksums unfinished while others do not, or NULL. */
static const struct host *find_by_checksums(const struct survey *survey)
{
	const struct host *found = NULL;
	size_t others = 0;

	for (size_t i = 0; i < survey->hosts; i++) {
		const struct host *host = &survey->host[i];

		if (leaves_open(host, false) && !found)
			found = host;
		else if (!leaves_open(host, true))
			return NULL;
		else
			others += host->checksums > 0;
	}
	return others ? found : NULL;
}

/*
 * Return the host that is an end of nearly all frames between two hosts, or NULL if
 * unknown. A switch floods frames to a host that it has not learned yet, so a node with a
 * single partner may capture a few frames between that partner and others. On a hub every
 * host receives all frames, so the busiest host may be another one.
 */
static const struct host *find_local(const struct survey *survey)
{
	const struct host *by_checksums = find_by_checksums(survey), *best[2];

	find_busiest(survey, best);
	if (by_checksums || !best[1] || best[0]->paired * 10 < survey->paired * 9)
		return by_checksums;
	if (best[1]->paired < best[0]->paired - best[0]->paired / 50)
		return best[0];
	/* Exactly one of the two hosts of this capture must have another capture. */
	if (best[0]->has_capture == best[1]->has_capture)
		return NULL;
	return best[best[0]->has_capture];
}

static int by_packets(const void *a, const void *b)
{
	const struct ip_count *p = a, *q = b;

	return COMPARE(q->packets, p->packets)
		   ?: memcmp(&p->address, &q->address, sizeof(p->address));
}

/* Set an error that lists the addresses with the most packets. Return -1. */
static int error_unknown_sides(struct survey *survey, const char *name,
			       struct error *error)
{
	enum { MOST_NAMED = 8 };
	size_t count = survey->ips.count, named = count < MOST_NAMED ? count : MOST_NAMED;
	char text[INET6_ADDRSTRLEN];
	struct bytes all = {0};

	SORT(survey->ip, count, by_packets);
	for (size_t i = 0; i < named; i++) {
		int family = survey->ip[i].address.family == 4 ? AF_INET : AF_INET6;

		inet_ntop(family, survey->ip[i].address.bytes, text, sizeof(text));
		bytes_print(&all, "%s%s", i ? ", " : "", text);
	}
	if (named < count)
		bytes_print(&all, " and %zu more", count - named);
	bytes_add_byte(&all, 0);
	error_set(error,
		  "cannot tell which addresses are the node's own; name each with "
		  "--local %s=ADDR, from %s",
		  name, (const char *)all.data);
	bytes_clear(&all);
	return -1;
}

int survey_decide(struct survey *survey, const char *name, struct sides *sides,
		  struct error *error)
{
	const struct host *local = find_local(survey);

	if (!local)
		return survey->ips.count ? error_unknown_sides(survey, name, error) : 0;
	memcpy(sides->ethernet, local->address, sizeof(sides->ethernet));
	return 0;
}

static void survey_packet(void *context, struct captured *captured)
{
	if (captured->status == FRAME_PACKET || captured->status == FRAME_OTHER)
		survey_add(context, &captured->frame, captured->status);
}

/*
 * Read the capture until it is clear which node it is from. Errors are ignored: reading
 * its packets reports them.
 */
static int survey_capture(struct sides *sides, const struct capture_input *input,
			  struct error *error)
{
	struct trace_facts facts = {0};
	struct problem_list ignored = {NULL, 0, 0};
	struct capture_frames *frames = capture_frames_open(input, &facts, error);
	struct survey *survey;
	uint64_t packets = 10000; /* twice as many while it is not clear */
	int status = -1;
	bool more = true;

	if (!frames)
		return -1;
	survey = survey_new();
	for (size_t i = 0; i < input->others; i++)
		host_of(survey, input->other[i])->has_capture = true;
	for (; status && more; packets *= 2) {
		more =
		    capture_frames_step(frames, packets, survey_packet, survey, &ignored);
		status = survey_decide(survey, input->name, sides, error);
	}
	if (status)
		error_prefix(error, "%s", input->path);
	else
		error_clear(error);
	survey_free(survey);
	capture_frames_free(frames);
	problem_clear(&ignored);
	return status;
}

int sides_find(struct sides *sides, const struct capture_input *input,
	       struct error *error)
{
	*sides = (struct sides){.rule = SIDES_BY_LINK};
	if (!input->locals)
		return survey_capture(sides, input, error);
	sides->rule = SIDES_BY_ADDRESS;
	sides->local = input->local;
	sides->locals = input->locals;
	return 0;
}
