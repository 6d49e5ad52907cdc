/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static bool is_local(const struct sides *sides, uint8_t family, const uint8_t address[16])
{
	for (size_t i = 0; i < sides->locals; i++)
		if (sides->local[i].family == family &&
		    memcmp(sides->local[i].bytes, address, family == 4 ? 4 : 16) == 0)
			return true;
	return false;
}

/*
 * To whoever hears it. A subnet's broadcast address cannot be told from others without
 * its mask, but the link layer knows. Anyone may ask for an address of his own.
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
		to = is_local(sides, packet->family, packet->dst) ||
		     (!from && is_to_all(frame));
		break;
	case SIDES_BY_ETHERNET:
		from = frame->has_ethernet && !memcmp(frame->source, sides->ethernet, 6);
		/* The lowest bit of the first byte marks a group. */
		to = frame->has_ethernet && (!memcmp(frame->target, sides->ethernet, 6) ||
					     (!from && (frame->target[0] & 1)));
		break;
	case SIDES_BY_COOKED:
		from = frame->cooked == COOKED_OUTGOING;
		to = frame->cooked == COOKED_HOST || frame->cooked == COOKED_BROADCAST ||
		     frame->cooked == COOKED_MULTICAST;
		break;
	}
	if (from)
		return to ? SIDE_INSIDE : SIDE_SENT;
	return to ? SIDE_RECEIVED : SIDE_FOREIGN;
}

/* An Ethernet address, and the frames that it sent or received. */
struct host {
	uint8_t address[6];
	uint64_t paired;                    /* between two hosts */
	uint64_t checksums, open_checksums; /* of what it sent: any, left to hardware */
};

struct survey {
	struct host *host;
	size_t hosts, capacity;
	struct intmap index; /* address -> host */
	uint64_t paired;     /* frames between two hosts */
	bool has_packets;
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

void survey_add(struct survey *survey, const struct frame *frame,
		enum frame_status status)
{
	struct host *sender;

	if (status == FRAME_PACKET && packet_is_local(&frame->packet))
		return;
	survey->has_packets |= status == FRAME_PACKET;
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

/* The two that most frames are from or to; NULL where there are not so many. */
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

/* Whether checksums are open in most of what one sent and in hardly any of the other's.
 */
static bool is_local_by_checksums(const struct host *one, const struct host *other)
{
	return one->open_checksums > one->checksums / 2 && other->checksums &&
	       other->open_checksums <= other->checksums / 20;
}

/*
 * Who takes part in most of what goes between two hosts. A switch that does not
 * know yet where somebody is sends his frames to all, so a node with a single
 * partner may see a few of the partner's that it is not in. NULL: unknown.
 */
static const struct host *find_local(const struct survey *survey)
{
	const struct host *best[2];

	find_busiest(survey, best);
	if (!best[1] || best[0]->paired * 10 <= survey->paired * 6)
		return NULL;
	if (best[1]->paired < best[0]->paired - best[0]->paired / 50)
		return best[0];
	/* Of three that all talk to each other, it may be the third. */
	if (best[0]->paired * 10 <= survey->paired * 9)
		return NULL;
	if (is_local_by_checksums(best[0], best[1]))
		return best[0];
	return is_local_by_checksums(best[1], best[0]) ? best[1] : NULL;
}

int survey_decide(const struct survey *survey, struct sides *sides, struct error *error)
{
	const struct host *local = find_local(survey);

	if (!local)
		return survey->has_packets
			   ? error_set(error, "cannot tell which end is local, "
					      "name it with --local ADDR")
			   : 0;
	sides->rule = SIDES_BY_ETHERNET;
	memcpy(sides->ethernet, local->address, sizeof(sides->ethernet));
	return 0;
}
