/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/survey.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"

/* Block and option types of pcapng (draft-ietf-opsawg-pcapng). */
enum {
	BLOCK_INTERFACE = 1,
	BLOCK_OLD_PACKET = 2,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
	OPTION_END = 0,
	OPTION_RESOLUTION = 9,
};

#define SECTION_ORDER 0x1a2b3c4du
#define MICRO_UNITS   1000000u /* a second: pcapng's default */

enum { WINDOW = 65536 };

struct stamp_walk {
	int fd;
	enum capture_format format;
	bool swapped;            /* the section's byte order is not ours */
	off_t at;                /* of the next block */
	struct stamp_unit *unit; /* of the section's interfaces */
	size_t count, room;
	off_t window_at;
	size_t window_bytes;
	uint8_t window[WINDOW];
};

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

enum capture_format capture_format_of(int fd)
{
	static const struct {
		uint32_t magic;
		enum capture_format format;
	} known[] = {
	    {0xa1b2c3d4, CAPTURE_MICRO},
	    {0xa1b23c4d, CAPTURE_NANO},
	    {0xa1b2cd34, CAPTURE_MICRO}, /* with more in each packet's header */
	};
	uint8_t begin[12];
	ssize_t bytes = pread(fd, begin, sizeof(begin), 0);

	if (bytes < 4)
		return CAPTURE_NONE;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (word(begin) == known[i].magic ||
		    __builtin_bswap32(word(begin)) == known[i].magic)
			return known[i].format;
	/* A text may begin with the type of this block, which are line ends. */
	if (bytes < 12 || word(begin) != BLOCK_SECTION ||
	    (word(begin + 8) != SECTION_ORDER &&
	     __builtin_bswap32(word(begin + 8)) != SECTION_ORDER))
		return CAPTURE_NONE;
	return CAPTURE_BLOCKS;
}

struct stamp_walk *stamp_walk_new(int fd)
{
	struct stamp_walk *walk = mem_zalloc(sizeof(*walk));

	walk->fd = fd;
	walk->format = capture_format_of(fd);
	return walk;
}

/* Bytes of the file, or NULL where it ends before. */
static const uint8_t *bytes_at(struct stamp_walk *walk, off_t at, size_t bytes)
{
	off_t end = walk->window_at + (off_t)walk->window_bytes;
	ssize_t got;

	if (at < walk->window_at || at + (off_t)bytes > end) {
		got = pread(walk->fd, walk->window, WINDOW, at);
		walk->window_at = at;
		walk->window_bytes = got < 0 ? 0 : (size_t)got;
		if (walk->window_bytes < bytes)
			return NULL;
	}
	return walk->window + (at - walk->window_at);
}

static uint32_t get32(const struct stamp_walk *walk, const uint8_t *at)
{
	return walk->swapped ? __builtin_bswap32(word(at)) : word(at);
}

static uint16_t get16(const struct stamp_walk *walk, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return walk->swapped ? __builtin_bswap16(value) : value;
}

/*
 * The unit is one second over `units`. libpcap cuts it off again at whole
 * nanoseconds where it is none, hence one more for units that do not divide.
 */
static nsec_t slack(uint64_t units)
{
	uint64_t second = (uint64_t)NSEC_PER_SEC;

	if (second % units == 0)
		return (nsec_t)(second / units) - 1;
	return units % second == 0 ? 0 : (nsec_t)(second / units) + 1;
}

/* if_tsresol: a negative power of ten, or of two with the highest bit set. */
static void set_resolution(struct stamp_unit *unit, uint8_t resolution)
{
	uint64_t units = 1;

	if (resolution & 0x80) {
		resolution &= 0x7f;
		/* libpcap multiplies the part of a second by 1e9 in 64 bits. */
		unit->usable = resolution <= 34;
		units <<= unit->usable ? resolution : 0;
	} else {
		unit->usable = resolution <= 19;
		while (unit->usable && resolution-- > 0)
			units *= 10;
	}
	unit->slack_ns = slack(units);
}

static void add_interface(struct stamp_walk *walk, off_t at, off_t end)
{
	struct stamp_unit *unit;
	const uint8_t *option;

	walk->unit = mem_grow(walk->unit, walk->count, &walk->room, sizeof(*walk->unit));
	unit = &walk->unit[walk->count];
	*unit = (struct stamp_unit){slack(MICRO_UNITS), (uint32_t)walk->count, true};
	walk->count++;
	while (at + 8 <= end && (option = bytes_at(walk, at, 8)) != NULL) {
		uint16_t code = get16(walk, option);

		if (code == OPTION_END)
			break;
		if (code == OPTION_RESOLUTION)
			set_resolution(unit, option[4]);
		at += 4 + ((get16(walk, option + 2) + 3) & ~3);
	}
}

/* The interface that a block's packet came in by, or -1 for no packet. */
static int64_t packet_interface(const struct stamp_walk *walk, uint32_t type,
				const uint8_t *block)
{
	switch (type) {
	case BLOCK_PACKET:
		return get32(walk, block + 8);
	case BLOCK_OLD_PACKET:
		return get16(walk, block + 8);
	case BLOCK_SIMPLE_PACKET:
		return 0;
	default:
		return -1;
	}
}

static struct stamp_unit next_block_unit(struct stamp_walk *walk)
{
	static const struct stamp_unit none = {0, 0, false};
	const uint8_t *block;

	while ((block = bytes_at(walk, walk->at, 12)) != NULL) {
		off_t begin = walk->at;
		uint32_t type = get32(walk, block), length;
		int64_t interface;

		if (type == BLOCK_SECTION) {
			walk->swapped = word(block + 8) != SECTION_ORDER;
			walk->count = 0;
		}
		length = get32(walk, block + 4);
		interface = packet_interface(walk, type, block);
		if (length < 12)
			break;
		walk->at += length;
		if (type == BLOCK_INTERFACE)
			add_interface(walk, begin + 16, walk->at - 4);
		if (interface < 0)
			continue;
		if (type == BLOCK_SIMPLE_PACKET || (size_t)interface >= walk->count)
			return none;
		return walk->unit[interface];
	}
	return none;
}

struct stamp_unit stamp_walk_next(struct stamp_walk *walk)
{
	struct stamp_unit unit = {0, 0, true};

	if (walk->format == CAPTURE_BLOCKS)
		return next_block_unit(walk);
	if (walk->format != CAPTURE_NANO)
		unit.slack_ns = slack(MICRO_UNITS);
	return unit;
}

void stamp_walk_free(struct stamp_walk *walk)
{
	if (!walk)
		return;
	free(walk->unit);
	free(walk);
}

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
	size_t count, room;
	struct intmap index; /* hash of the key -> place in item */
	uint64_t paired;     /* packets between two hosts */
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
	intmap_clear(&list->index);
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
	uint64_t hash = hash_bytes(HASH_INIT, key->bytes, sizeof(key->bytes));
	int64_t place;

	for (; intmap_get(&list->index, hash, &place); hash++)
		if (memcmp(&list->item[place].key, key, sizeof(*key)) == 0)
			return (size_t)place;
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count] = (struct tally){.key = *key};
	intmap_put(&list->index, hash, (int64_t)list->count);
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
