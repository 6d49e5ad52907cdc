/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/survey.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

void sides_set_addresses(struct sides *sides, const struct node_address *local,
			 size_t locals)
{
	sides_clear(sides);
	sides->rule = SIDES_BY_ADDRESS;
	sides->local = mem_alloc(locals * sizeof(*local));
	memcpy(sides->local, local, locals * sizeof(*local));
	sides->locals = locals;
}

void sides_clear(struct sides *sides)
{
	free(sides->local);
	memset(sides, 0, sizeof(*sides));
}

static bool is_local(const struct sides *sides, uint8_t family, const uint8_t address[16])
{
	for (size_t i = 0; i < sides->locals; i++)
		if (sides->local[i].family == family &&
		    memcmp(sides->local[i].bytes, address, family == 4 ? 4 : 16) == 0)
			return true;
	return false;
}

/*
 * A subnet's broadcast address cannot be told from others without its mask,
 * but the link layer knows.
 */
static bool is_link_broadcast(const struct frame *frame)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	if (frame->has_ethernet)
		return memcmp(frame->target, broadcast, sizeof(broadcast)) == 0;
	return frame->cooked == COOKED_BROADCAST || frame->cooked == COOKED_MULTICAST;
}

static enum side by_address(const struct sides *sides, const struct frame *frame)
{
	const struct packet *packet = &frame->packet;
	bool from = is_local(sides, packet->family, packet->src);
	bool to = is_local(sides, packet->family, packet->dst);

	if (from)
		return to ? SIDE_INSIDE : SIDE_SENT;
	if (to)
		return SIDE_RECEIVED;
	/* Anyone may ask for an address of his own. */
	if (packet_is_anonymous(packet))
		return SIDE_FOREIGN;
	if (packet_is_to_many(packet) || is_link_broadcast(frame))
		return SIDE_RECEIVED;
	return SIDE_FOREIGN;
}

static enum side by_ethernet(const struct sides *sides, const struct frame *frame)
{
	bool from = memcmp(frame->source, sides->ethernet, 6) == 0;
	bool to = memcmp(frame->target, sides->ethernet, 6) == 0;

	if (!frame->has_ethernet)
		return SIDE_FOREIGN;
	if (from)
		return to ? SIDE_INSIDE : SIDE_SENT;
	/* The lowest bit of the first byte marks a group. */
	return to || (frame->target[0] & 1) ? SIDE_RECEIVED : SIDE_FOREIGN;
}

static enum side by_cooked(const struct frame *frame)
{
	switch (frame->cooked) {
	case COOKED_OUTGOING:
		return SIDE_SENT;
	case COOKED_HOST:
	case COOKED_BROADCAST:
	case COOKED_MULTICAST:
		return SIDE_RECEIVED;
	default:
		return SIDE_FOREIGN;
	}
}

enum side sides_tell(const struct sides *sides, const struct frame *frame)
{
	if (frame->loopback || packet_is_local(&frame->packet))
		return SIDE_INSIDE;
	switch (sides->rule) {
	case SIDES_BY_ADDRESS:
		return by_address(sides, frame);
	case SIDES_BY_ETHERNET:
		return by_ethernet(sides, frame);
	case SIDES_BY_COOKED:
		return by_cooked(frame);
	}
	return SIDE_FOREIGN;
}

/* How many had a property, of those that could have it. */
struct share {
	uint64_t marked, of;
};

struct tally {
	struct node_address key; /* family 0: an Ethernet address */
	uint64_t seen;           /* in packets of any kind */
	uint64_t paired;         /* in packets between two hosts */
	/* Of what came from it. */
	struct share padded, partial, routed;
};

struct tally_list {
	struct tally *item;
	size_t count, capacity;
	struct texts keys; /* by their places */
	uint64_t paired;   /* packets between two hosts */
};

struct survey {
	struct tally_list ethernet, ipv4, ipv6;
	uint64_t packets;
};

struct survey *survey_new(void)
{
	return mem_zalloc(sizeof(struct survey));
}

static void tally_list_clear(struct tally_list *list)
{
	texts_clear(&list->keys);
	free(list->item);
}

void survey_free(struct survey *survey)
{
	if (!survey)
		return;
	tally_list_clear(&survey->ethernet);
	tally_list_clear(&survey->ipv4);
	tally_list_clear(&survey->ipv6);
	free(survey);
}

static size_t tally_place(struct tally_list *list, const struct node_address *key)
{
	size_t place = texts_put_bytes(&list->keys, (const char *)key, sizeof(*key));

	if (place < list->count)
		return place;
	list->item =
	    mem_grow(list->item, list->count, &list->capacity, sizeof(*list->item));
	list->item[list->count] = (struct tally){.key = *key};
	return list->count++;
}

static void share_add(struct share *share, bool marked)
{
	share->marked += marked;
	share->of++;
}

/* Systems begin with one of these, and every router takes one off. */
static bool is_fresh(uint8_t hops)
{
	return hops == 64 || hops == 128 || hops == 255;
}

/* Count a frame to both its ends. Places, because the array moves as it grows. */
static void tally_add(struct tally_list *list, const struct frame *frame,
		      const struct node_address end[2], bool to_many)
{
	size_t from = tally_place(list, &end[0]);
	struct tally *sender;

	list->item[from].seen++;
	if (!to_many) {
		size_t to = tally_place(list, &end[1]);

		list->item[to].seen++;
		list->item[to].paired++;
		list->item[from].paired++;
		list->paired++;
	}
	sender = &list->item[from];
	if (frame->padding != PADDING_UNKNOWN)
		share_add(&sender->padded, frame->padding == PADDED);
	if (frame->checksum != CHECKSUM_UNKNOWN)
		share_add(&sender->partial, frame->checksum == CHECKSUM_PARTIAL);
	if (frame->hops && !to_many)
		share_add(&sender->routed, !is_fresh(frame->hops));
}

static void add_ethernet(struct survey *survey, const struct frame *frame)
{
	struct node_address end[2];

	memset(end, 0, sizeof(end));
	memcpy(end[0].bytes, frame->source, sizeof(frame->source));
	memcpy(end[1].bytes, frame->target, sizeof(frame->target));
	if (memcmp(frame->source, frame->target, sizeof(frame->source)) != 0)
		tally_add(&survey->ethernet, frame, end, frame->target[0] & 1);
}

void survey_add(struct survey *survey, const struct frame *frame,
		enum frame_status status)
{
	const struct packet *packet = &frame->packet;
	struct node_address end[2];

	if (status == FRAME_PACKET && packet_is_local(packet))
		return;
	if (frame->has_ethernet)
		add_ethernet(survey, frame);
	if (status != FRAME_PACKET)
		return;
	survey->packets++;
	for (int i = 0; i < 2; i++) {
		end[i].family = packet->family;
		memcpy(end[i].bytes, i ? packet->dst : packet->src, 16);
	}
	tally_add(packet->family == 4 ? &survey->ipv4 : &survey->ipv6, frame, end,
		  packet_is_to_many(packet));
}

static bool is_busier(const struct tally *a, const struct tally *b)
{
	if (!b || a->paired != b->paired)
		return !b || a->paired > b->paired;
	return a->seen > b->seen;
}

/* The two that most packets are from or to; NULL where there are not so many. */
static void busiest(const struct tally_list *list, const struct tally *best[2])
{
	best[0] = best[1] = NULL;
	for (size_t i = 0; i < list->count; i++) {
		const struct tally *tally = &list->item[i];

		if (is_busier(tally, best[0])) {
			best[1] = best[0];
			best[0] = tally;
		} else if (is_busier(tally, best[1])) {
			best[1] = tally;
		}
	}
}

static bool is_most(const struct share *share)
{
	return share->of && share->marked > share->of / 2;
}

static bool is_hardly(const struct share *share)
{
	return share->of && share->marked <= share->of / 20;
}

/* 1 if nearly all of a and hardly any of b has it, -1 the other way, else 0. */
static int compare(const struct share *a, const struct share *b)
{
	return (is_most(a) && is_hardly(b)) - (is_most(b) && is_hardly(a));
}

/* Which of two that take part in the same packets is the node? NULL: unknown. */
static const struct tally *tell_apart(const struct tally *a, const struct tally *b)
{
	int told = -compare(&a->padded, &b->padded);

	if (!told)
		told = compare(&a->partial, &b->partial);
	if (!told)
		told = -compare(&a->routed, &b->routed);
	if (!told)
		return NULL;
	return told > 0 ? a : b;
}

/*
 * Who takes part in most of what goes between two hosts. A switch that does not
 * know yet where somebody is sends his frames to all, so a node with a single
 * partner may see a few of the partner's that it is not in.
 */
static const struct tally *decide(const struct tally_list *list)
{
	const struct tally *best[2];

	busiest(list, best);
	if (!best[1] || best[0]->paired * 10 <= list->paired * 6)
		return NULL;
	if (best[1]->paired < best[0]->paired - best[0]->paired / 50)
		return best[0];
	/* Of three that all talk to each other, it may be the third. */
	if (best[0]->paired * 10 <= list->paired * 9)
		return NULL;
	return tell_apart(best[0], best[1]);
}

static int refuse(const struct survey *survey, struct error *error)
{
	const struct tally_list *list = &survey->ipv4;
	const struct tally *best[2];
	char name[2][INET6_ADDRSTRLEN];

	if (!list->count || survey->ipv6.paired > list->paired)
		list = &survey->ipv6;
	busiest(list, best);
	for (int i = 0; i < 2 && best[i]; i++)
		inet_ntop(best[i]->key.family == 4 ? AF_INET : AF_INET6,
			  best[i]->key.bytes, name[i], sizeof(name[i]));
	if (!best[1])
		return error_set(error,
				 "cannot tell whether %s is local, name what is with "
				 "--local ADDR",
				 name[0]);
	return error_set(error,
			 "cannot tell which end is local (%s or %s), name it with "
			 "--local ADDR",
			 name[0], name[1]);
}

/* By IP addresses, one of each version. */
static int decide_addresses(const struct survey *survey, struct sides *sides)
{
	const struct tally *own[2] = {decide(&survey->ipv4), decide(&survey->ipv6)};
	struct node_address local[2];
	size_t locals = 0;

	for (int i = 0; i < 2; i++)
		if (own[i])
			local[locals++] = own[i]->key;
	if (!locals)
		return -1;
	sides_set_addresses(sides, local, locals);
	return 0;
}

int survey_decide(const struct survey *survey, struct sides *sides, struct error *error)
{
	const struct tally *own = decide(&survey->ethernet);

	if (own) {
		sides_clear(sides);
		sides->rule = SIDES_BY_ETHERNET;
		memcpy(sides->ethernet, own->key.bytes, sizeof(sides->ethernet));
		return 0;
	}
	if (!survey->packets)
		return 0;
	/* Behind one gateway the partner with one address is not the node. */
	if (survey->ethernet.count || decide_addresses(survey, sides))
		return refuse(survey, error);
	return 0;
}
