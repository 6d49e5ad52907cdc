/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/blocks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	OPTION_PACKET_DROPS = 4,    /* an option of packet blocks */
	OPTION_INTERFACE_DROPS = 5, /* an option of interface statistics */
	OPTION_SYSTEM_DROPS = 7,
};

enum {
	LINK_DBUS = 231,
	LINK_USBPCAP = 249,
	MOST_CAPTURED = 262144, /* bytes of a packet, and of one of these two types: */
	MOST_CAPTURED_LARGE = 128 << 20,
};

#define MAGIC_MICRO 0xa1b2c3d4u
#define MAGIC_LONG  0xa1b2cd34u /* microseconds, with longer heads of packets */

enum {
	BLOCK_HEAD = 8, /* type and length */
	READ_AT_ONCE = 1 << 18,
	MOST_DECIMALS = 19, /* so that units per second fit in 64 bits */
};

#define MICRO_UNITS 1000000u /* per second; the default */

struct interface {
	uint32_t link, most_captured; /* 0: no limit */
	struct block_unit unit;
	nsec_t slack_ns;
	nsec_t packet_ns, statistics_ns; /* time of the last ones, or NSEC_MIN */
	uint64_t dropped;                /* according to the last statistics */
	uint64_t told; /* how many of `dropped` were reported with packets that came after
			  them */
};

struct block_reader {
	FILE *stream; /* borrowed */
	bool swapped; /* the section's byte order is not ours */
	bool in_section;
	bool is_pcap;
	struct pcap_head pcap;       /* all 0 until it is read */
	struct interface *interface; /* the interfaces of the section */
	size_t count, capacity;
	uint8_t *block; /* the current block, from its type on */
	size_t room;
	struct capture_losses losses; /* not fetched yet */
	char fault[96];
	bool is_cut;
};

static uint32_t get_u32(const struct block_reader *reader, const uint8_t *at)
{
	return block_get32(at, reader->swapped);
}

static uint16_t get_u16(const struct block_reader *reader, const uint8_t *at)
{
	return block_get16(at, reader->swapped);
}

bool block_section_probe(const uint8_t begin[12])
{
	/* The block type consists of line ends, with which a text file may begin, too. */
	return block_get32(begin, false) == BLOCK_SECTION &&
	       (block_get32(begin + 8, false) == SECTION_ORDER ||
		block_get32(begin + 8, true) == SECTION_ORDER);
}

/* Set `swapped` and return the magic number, or return 0 if it is not a pcap's. */
static uint32_t pcap_magic(const uint8_t *begin, bool *swapped)
{
	for (int i = 0; i < 2; i++) {
		uint32_t magic = block_get32(begin, *swapped = i > 0);

		if (magic == MAGIC_MICRO || magic == PCAP_MAGIC_NANO ||
		    magic == MAGIC_LONG)
			return magic;
	}
	return 0;
}

bool pcap_head_parse(struct pcap_head *head, const uint8_t bytes[PCAP_HEAD])
{
	uint32_t magic = pcap_magic(bytes, &head->swapped);

	head->is_micro = magic != PCAP_MAGIC_NANO;
	head->minor = block_get16(bytes + 6, head->swapped);
	head->record_head = magic == MAGIC_LONG ? LONG_RECORD_HEAD : RECORD_HEAD;
	head->snapshot = block_get32(bytes + 16, head->swapped);
	head->link = block_get32(bytes + 20, head->swapped) & 0xffff;
	head->most = head->link == LINK_DBUS || head->link == LINK_USBPCAP
			 ? MOST_CAPTURED_LARGE
			 : MOST_CAPTURED;
	return magic && block_get16(bytes + 4, head->swapped) == 2;
}

bool block_reader_probe(const uint8_t begin[12])
{
	bool swapped;

	return block_section_probe(begin) || pcap_magic(begin, &swapped);
}

static void reserve_bytes(struct block_reader *reader, size_t size)
{
	if (size <= reader->room)
		return;
	reader->room = size + size / 2;
	reader->block = mem_realloc(reader->block, reader->room, 1);
}

struct block_reader *block_reader_new(FILE *stream, const uint8_t begin[12])
{
	struct block_reader *reader = mem_zalloc(sizeof(*reader));
	bool swapped;

	reader->is_pcap = pcap_magic(begin, &swapped) != 0;

	reader->stream = stream;
	reserve_bytes(reader, READ_AT_ONCE);
	return reader;
}

__attribute__((format(printf, 2, 3))) static int set_fault(struct block_reader *reader,
							   const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reader->fault, sizeof(reader->fault), format, arguments);
	va_end(arguments);
	return -1;
}

/* Read bytes of a block. Return 0, or -1 with the fault set. */
static int read_bytes(struct block_reader *reader, uint8_t *to, size_t count)
{
	size_t got;

	errno = 0;
	got = fread(to, 1, count, reader->stream);
	if (got == count)
		return 0;
	if (ferror(reader->stream))
		return set_fault(reader, "%s", strerror(errno));
	reader->is_cut = true;
	return set_fault(reader, "%zu of %zu bytes of a %s are there", got, count,
			 reader->is_pcap ? "packet" : "block");
}

static int skip_bytes(struct block_reader *reader, uint64_t count)
{
	while (count) {
		size_t some = count < reader->room ? (size_t)count : reader->room;

		if (read_bytes(reader, reader->block, some))
			return -1;
		count -= some;
	}
	return 0;
}

static bool is_read(uint32_t type)
{
	return type == BLOCK_SECTION || type == BLOCK_INTERFACE || type == BLOCK_PACKET ||
	       type == BLOCK_OLD_PACKET || type == BLOCK_SIMPLE_PACKET ||
	       type == BLOCK_STATISTICS;
}

/* Read the head of a block or packet. Return 1, 0 at the end of the file, or -1 with the
 * fault set. */
static int read_head(struct block_reader *reader, size_t size, const char *of)
{
	size_t got;

	errno = 0;
	got = fread(reader->block, 1, size, reader->stream);
	if (got == size || (got == 0 && !ferror(reader->stream)))
		return got == size;
	reader->is_cut = !ferror(reader->stream);
	return reader->is_cut ? set_fault(reader, "the head of a %s is truncated", of)
			      : set_fault(reader, "%s", strerror(errno));
}

/*
 * Read the next block, or skip its content if its type is not used. `length` does not
 * count the length field at the block's end. Return 1, 0 at the end of the file, or -1
 * with the fault set.
 */
static int read_block(struct block_reader *reader, uint32_t *type, size_t *length)
{
	size_t have = BLOCK_HEAD, padded;
	uint32_t said;
	int status;

	status = read_head(reader, BLOCK_HEAD, "block");
	if (status != 1)
		return status;
	*type = block_get32(reader->block, false);
	if (*type == BLOCK_SECTION) {
		if (read_bytes(reader, reader->block + have, 4))
			return -1;
		have += 4;
		reader->in_section = block_section_probe(reader->block);
		reader->swapped = block_get32(reader->block + 8, false) != SECTION_ORDER;
	}
	if (!reader->in_section)
		return set_fault(reader, "no section begins where one should");
	*type = get_u32(reader, reader->block);
	said = get_u32(reader, reader->block + 4);
	padded = ((size_t)said + 3) & ~(size_t)3;
	if (said < LEAST_BLOCK || padded < have + 4 ||
	    (is_read(*type) && padded > MOST_BLOCK))
		return set_fault(reader, "a block of %u bytes", said);
	*length = padded - 4;
	if (is_read(*type)) {
		reserve_bytes(reader, padded);
		if (read_bytes(reader, reader->block + have, padded - have))
			return -1;
		return get_u32(reader, reader->block + *length) == said
			   ? 1
			   : set_fault(reader,
				       "a block of %u bytes ends with another "
				       "length",
				       said);
	}
	return skip_bytes(reader, padded - have) ? -1 : 1;
}

/*
 * Return by how much a packet can be later than its timestamp, which is truncated to
 * units and then to nanoseconds.
 */
static nsec_t unit_slack(uint64_t units)
{
	uint64_t second = (uint64_t)NSEC_PER_SEC;

	if (!units)
		return 0;
	if (second % units == 0)
		return (nsec_t)(second / units) - 1;
	return units % second == 0 ? 0 : (nsec_t)(second / units) + 1;
}

/*
 * Return the units per second for an if_tsresol: a negative power of ten or, with the
 * highest bit set, of two. Return 0 if they do not fit in 64 bits.
 */
static uint64_t units_of(uint8_t resolution)
{
	uint64_t units = 1;

	if (resolution & 0x80)
		return (resolution & 0x7f) < 64 ? units << (resolution & 0x7f) : 0;
	if (resolution > MOST_DECIMALS)
		return 0;
	while (resolution-- > 0)
		units *= 10;
	return units;
}

static uint64_t get_u64(const uint8_t *at, bool swapped)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swapped ? __builtin_bswap64(value) : value;
}

bool block_option_next(struct block_option *option)
{
	size_t left;

	if (option->end - option->at < 4)
		return false;
	option->code = block_get16(option->at, option->swapped);
	option->size = block_get16(option->at + 2, option->swapped);
	option->value = option->at += 4;
	left = (size_t)(option->end - option->at);
	if (option->code == OPTION_END || option->size > left)
		return false;
	left = left < ((option->size + 3) & ~(size_t)3) ? left
							: (option->size + 3) & ~(size_t)3;
	option->at += left;
	return true;
}

struct block_unit block_unit_parse(struct block_option option)
{
	struct block_unit unit = {.units = MICRO_UNITS};

	while (block_option_next(&option)) {
		if (option.code == OPTION_RESOLUTION && option.size >= 1)
			unit.units = units_of(*option.value);
		if (option.code == OPTION_OFFSET && option.size >= 8)
			unit.offset_s = (int64_t)get_u64(option.value, option.swapped);
	}
	return unit;
}

static int add_interface(struct block_reader *reader, size_t length)
{
	struct interface *interface;
	struct block_option option = {.at = reader->block + 16,
				      .end = reader->block + length,
				      .swapped = reader->swapped};

	if (length < 16)
		return set_fault(reader, "an interface of %zu bytes", length);
	interface = MEM_NEXT(reader->interface, reader->count, reader->capacity);
	*interface = (struct interface){
	    .link = get_u16(reader, reader->block + 8),
	    .most_captured = get_u32(reader, reader->block + 12),
	    .unit = block_unit_parse(option),
	    .packet_ns = NSEC_MIN,
	    .statistics_ns = NSEC_MIN,
	};
	interface->slack_ns = unit_slack(interface->unit.units);
	return 0;
}

bool block_unit_instant(const struct block_unit *unit, uint64_t count, nsec_t *ns)
{
	__extension__ typedef unsigned __int128 wide;
	int64_t seconds;
	nsec_t part;

	if (!unit->units || count / unit->units > INT64_MAX)
		return false;
	seconds = (int64_t)(count / unit->units);
	part =
	    (nsec_t)((wide)(count % unit->units) * (uint64_t)NSEC_PER_SEC / unit->units);
	return !__builtin_add_overflow(seconds, unit->offset_s, &seconds) &&
	       !__builtin_mul_overflow(seconds, NSEC_PER_SEC, ns) &&
	       !__builtin_add_overflow(*ns, part, ns) && nsec_is_stamp(*ns);
}

static void add_loss(struct block_reader *reader, nsec_t begin_ns, nsec_t end_ns,
		     uint64_t packets)
{
	struct capture_losses *losses = &reader->losses;

	*MEM_NEXT(losses->item, losses->count, losses->capacity) =
	    (struct capture_loss){begin_ns, end_ns, packets};
}

/* Note the packets that were lost after the interface's previous packet, if the options
 * of this one, from `from` on, count them. */
static void note_packet_drops(struct block_reader *reader, size_t from, size_t length,
			      const struct block_packet *packet)
{
	struct interface *interface = &reader->interface[packet->unit.interface];
	struct block_option option = {.at = reader->block + from,
				      .end = reader->block + length,
				      .swapped = reader->swapped};
	nsec_t ns = packet->unit.usable ? packet->ns : NSEC_MAX;
	uint64_t drops = 0;

	while (from < length && block_option_next(&option))
		if (option.code == OPTION_PACKET_DROPS && option.size >= 8)
			drops = get_u64(option.value, option.swapped);
	if (drops)
		add_loss(reader, interface->packet_ns, ns, drops);
	interface->told += drops;
	if (packet->unit.usable)
		interface->packet_ns = ns;
}

/*
 * Note the packets that an interface lost since its previous statistics, without those
 * that packets count. Nobody knows when that was in the meantime.
 */
static void note_statistics(struct block_reader *reader, size_t length)
{
	enum { FIXED = 20 };
	const uint8_t *block = reader->block;
	struct block_option option = {
	    .at = block + FIXED, .end = block + length, .swapped = reader->swapped};
	struct interface *interface;
	uint64_t dropped = 0, growth;
	nsec_t ns;

	if (length < FIXED || get_u32(reader, block + 8) >= reader->count)
		return;
	interface = &reader->interface[get_u32(reader, block + 8)];
	if (!block_unit_instant(&interface->unit,
				block_get_stamp(block + 12, reader->swapped), &ns))
		ns = NSEC_MAX;
	while (block_option_next(&option))
		if ((option.code == OPTION_INTERFACE_DROPS ||
		     option.code == OPTION_SYSTEM_DROPS) &&
		    option.size >= 8)
			dropped += get_u64(option.value, option.swapped);
	growth = dropped > interface->dropped ? dropped - interface->dropped : 0;
	if (growth > interface->told)
		add_loss(reader, interface->statistics_ns, ns, growth - interface->told);
	interface->dropped = dropped;
	interface->told = 0;
	interface->statistics_ns = ns == NSEC_MAX ? NSEC_MIN : ns;
}

/*
 * Parse a packet block. Its fields start at byte 8, its data after them, at `from`.
 * Return 1, or -1 with the fault set.
 */
static int read_packet(struct block_reader *reader, uint32_t type, size_t length,
		       struct block_packet *packet)
{
	const uint8_t *block = reader->block;
	const size_t from = type == BLOCK_SIMPLE_PACKET ? 12 : 28;
	const struct interface *interface;
	uint32_t number = 0;

	if (length < from)
		return set_fault(reader, "a packet block of %zu bytes", length);
	if (type != BLOCK_SIMPLE_PACKET)
		number = type == BLOCK_PACKET ? get_u32(reader, block + 8)
					      : get_u16(reader, block + 8);
	if (number >= reader->count)
		return set_fault(
		    reader, "a packet of interface %u, which is not declared", number);
	interface = &reader->interface[number];
	*packet = (struct block_packet){
	    .data = block + from,
	    .link = interface->link,
	    .unit = {interface->slack_ns, number, false},
	};
	if (type == BLOCK_SIMPLE_PACKET) {
		packet->captured = packet->wire = get_u32(reader, block + 8);
		if (interface->most_captured &&
		    packet->captured > interface->most_captured)
			packet->captured = interface->most_captured;
		if (packet->captured > length - from)
			packet->captured = (uint32_t)(length - from);
		return 1;
	}
	packet->captured = get_u32(reader, block + 20);
	packet->wire = get_u32(reader, block + 24);
	if (packet->captured > length - from)
		return set_fault(reader, "a packet of %u bytes in a block of %zu",
				 packet->captured, length);
	packet->unit.usable = block_unit_instant(
	    &interface->unit, block_get_stamp(block + 12, reader->swapped), &packet->ns);
	if (type == BLOCK_PACKET)
		note_packet_drops(reader,
				  from + (((size_t)packet->captured + 3) & ~(size_t)3),
				  length, packet);
	return 1;
}

/* Read the file's head. Return 1, or -1 with the fault set. */
static int read_pcap_head(struct block_reader *reader)
{
	struct interface *interface;
	int status = read_head(reader, PCAP_HEAD, "file");

	if (status != 1)
		return -1;
	if (!pcap_head_parse(&reader->pcap, reader->block))
		return set_fault(reader, "a pcap of an unknown version");
	reader->swapped = reader->pcap.swapped;
	interface = MEM_NEXT(reader->interface, reader->count, reader->capacity);
	*interface = (struct interface){
	    .link = reader->pcap.link,
	    .most_captured = reader->pcap.snapshot,
	    .slack_ns = reader->pcap.is_micro ? NSEC_PER_USEC - 1 : 0,
	};
	return 1;
}

/* Read the next packet of a pcap. Return 1, 0 at the end, or -1 with the fault set. */
static int read_record(struct block_reader *reader, struct block_packet *packet)
{
	const struct pcap_head *pcap = &reader->pcap;
	const struct interface *interface;
	uint32_t captured, wire;
	uint64_t part;
	int status;

	if (!pcap->record_head && read_pcap_head(reader) < 0)
		return -1;
	status = read_head(reader, pcap->record_head, "packet");
	if (status != 1)
		return status;
	interface = &reader->interface[0];
	part = (uint64_t)get_u32(reader, reader->block + 4) *
	       (pcap->is_micro ? (uint64_t)NSEC_PER_USEC : 1);
	captured = get_u32(reader, reader->block + 8);
	wire = get_u32(reader, reader->block + 12);
	/* Versions before 2.3 have the two lengths the other way round; some of 2.3, too.
	 */
	if (pcap->minor < 3 || (pcap->minor == 3 && captured > wire)) {
		uint32_t first = captured;

		captured = wire;
		wire = first;
	}
	if (captured > pcap->most)
		return set_fault(reader, "a packet of %u bytes, the most is %u", captured,
				 pcap->most);
	*packet = (struct block_packet){
	    .captured = captured,
	    .wire = wire,
	    .link = interface->link,
	    .unit = {.slack_ns = interface->slack_ns},
	    .ns = (nsec_t)get_u32(reader, reader->block) * NSEC_PER_SEC + (nsec_t)part,
	};
	packet->unit.usable = part < (uint64_t)NSEC_PER_SEC && nsec_is_stamp(packet->ns);
	reserve_bytes(reader, captured);
	if (read_bytes(reader, reader->block, captured))
		return -1;
	packet->data = reader->block;
	if (interface->most_captured && captured > interface->most_captured)
		packet->captured = interface->most_captured;
	return 1;
}

int block_reader_next(struct block_reader *reader, struct block_packet *packet)
{
	enum { MAJOR_VERSION_AT = 12, LEAST_SECTION = 24 };
	uint32_t type = 0;
	size_t length = 0;
	int status;

	if (reader->is_pcap)
		return read_record(reader, packet);
	while ((status = read_block(reader, &type, &length)) == 1) {
		if (type == BLOCK_SECTION) {
			reader->count = 0;
			if (length < LEAST_SECTION ||
			    get_u16(reader, reader->block + MAJOR_VERSION_AT) != 1)
				return set_fault(reader,
						 "a section of an unknown version");
		} else if (type == BLOCK_INTERFACE) {
			if (add_interface(reader, length))
				return -1;
		} else if (type == BLOCK_STATISTICS) {
			note_statistics(reader, length);
		} else if (is_read(type)) {
			return read_packet(reader, type, length, packet);
		}
	}
	return status;
}

const char *block_reader_fault(const struct block_reader *reader, bool *is_cut)
{
	*is_cut = reader->is_cut;
	return reader->fault;
}

void block_reader_losses(struct block_reader *reader, struct capture_losses *losses)
{
	for (size_t i = 0; i < reader->losses.count; i++)
		*MEM_NEXT(losses->item, losses->count, losses->capacity) =
		    reader->losses.item[i];
	reader->losses.count = 0;
}

int64_t block_reader_link(const struct block_reader *reader, size_t interface)
{
	return interface < reader->count ? (int64_t)reader->interface[interface].link
					 : -1;
}

uint32_t block_reader_limit(const struct block_reader *reader)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < reader->count; i++) {
		uint32_t limit = reader->interface[i].most_captured;

		if (limit && limit < least)
			least = limit;
	}
	return least;
}

void block_reader_free(struct block_reader *reader)
{
	if (!reader)
		return;
	free(reader->interface);
	free(reader->losses.item);
	free(reader->block);
	free(reader);
}
