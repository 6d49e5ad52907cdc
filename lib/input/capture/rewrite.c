/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/output.h"
#include "input/capture/blocks.h"
#include "input/capture/records.h"
#include "input/capture/unpack.h"

enum {
	WINDOW = 1 << 18,    /* bytes that are read at once */
	NANO_RESOLUTION = 9, /* if_tsresol: 10^-9 s */
};

/*
 * A file on its way from input to output. Bytes before `at` are changed in place, and
 * written when more are needed.
 */
struct window {
	FILE *in;
	int out;
	uint8_t *data;
	size_t begin, at, end, capacity; /* [begin, at) is to be written */
	int failure;                     /* errno of a failed write, or 0 */
};

struct packet_time {
	uint64_t packet;
	nsec_t ns;
};

struct packet_times {
	struct trace_reader *reader;
	struct packet_time *next; /* those that were read and not used yet */
	size_t at, count, capacity;
	bool ended;
};

static void add_packet_time(void *context, const struct trace_event *event)
{
	struct packet_times *times = context;

	*MEM_NEXT(times->next, times->count, times->capacity) =
	    (struct packet_time){event->ordinal, event->local_ns};
}

void packet_times_free(struct packet_times *times)
{
	if (!times)
		return;
	trace_reader_free(times->reader);
	free(times->next);
	free(times);
}

struct packet_times *packet_times_open(const struct capture_input *input,
				       struct error *error)
{
	struct packet_times *times = mem_zalloc(sizeof(*times));

	times->reader = capture_records_open(input, error);
	/* Only if the node is known by an address, as when it was first read. */
	if (times->reader && !trace_reader_facts(times->reader)->has_second_clock)
		error_set(error,
			  "%s: cannot tell which packets have times of a second clock; "
			  "set --local %s=ADDRESS",
			  input->path, input->name);
	if (error->text) {
		packet_times_free(times);
		return NULL;
	}
	trace_reader_select(times->reader, 0,
			    &(struct trace_selection){.what = SELECT_EVENTS});
	return times;
}

/* Return the local time of a packet that follows all before, or -1. */
static nsec_t find_packet_time(struct packet_times *times, uint64_t packet)
{
	while (true) {
		while (times->at < times->count && times->next[times->at].packet < packet)
			times->at++;
		if (times->at < times->count)
			return times->next[times->at].packet == packet
				   ? times->next[times->at].ns
				   : -1;
		if (times->ended)
			return -1;
		times->at = times->count = 0;
		times->ended = !trace_reader_step(times->reader, WINDOW / RECORD_HEAD,
						  add_packet_time, times);
	}
}

struct copying {
	struct capture_rewrite *rewrite;
	struct window window;
	bool swapped, in_section;
	struct block_unit *unit; /* units of the section's interfaces */
	size_t units, capacity;
	nsec_t added_ns;  /* to recorded times, where the clock was set back */
	size_t set_backs; /* number of those passed */
};

static void window_flush(struct window *window)
{
	if (!window->failure && window->at > window->begin &&
	    output_write_all(window->out, window->data + window->begin,
			     window->at - window->begin, -1))
		window->failure = errno;
	window->begin = window->at;
}

/* Return the current bytes if there are as many as that, or NULL. */
static uint8_t *window_get(struct window *window, size_t count)
{
	size_t got;

	if (window->end - window->at >= count)
		return window->data + window->at;
	window_flush(window);
	memmove(window->data, window->data + window->at, window->end - window->at);
	window->end -= window->at;
	window->begin = window->at = 0;
	do { /* memory grows with what is there, not with what a length claims */
		if (window->end == window->capacity)
			window->data =
			    mem_realloc(window->data, window->capacity *= 2, 1);
		got = fread(window->data + window->end, 1, window->capacity - window->end,
			    window->in);
		window->end += got;
	} while (got && window->end < count);
	return window->failure || window->end < count ? NULL : window->data;
}

/* End the copy. Note bytes that are left but not a whole record or block. Return false.
 */
static bool end_copy(struct copying *copying)
{
	const struct window *window = &copying->window;

	copying->rewrite->is_cut |= window->end > window->at || ferror(window->in);
	return false;
}

static bool set_cut(struct copying *copying)
{
	copying->rewrite->is_cut = true;
	return false;
}

static void put_u32(uint8_t *at, uint32_t value, bool swapped)
{
	value = swapped ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof(value));
}

static void put_stamp(uint8_t *at, uint64_t value, bool swapped)
{
	put_u32(at, (uint32_t)(value >> 32), swapped);
	put_u32(at + 4, (uint32_t)value, swapped);
}

/* Count a packet. From some on, recorded times have to be added to. */
static void note_packet(struct copying *copying)
{
	struct capture_rewrite *rewrite = copying->rewrite;

	while (copying->set_backs < rewrite->set_backs &&
	       rewrite->set_back[copying->set_backs].packet <= rewrite->packets)
		copying->added_ns += rewrite->set_back[copying->set_backs++].size_ns;
	rewrite->packets++;
}

/*
 * Return the corrected time of a recorded one. Return -1 for a packet before or after
 * all those that were used: its time is absurd, and no clock showed it.
 */
static nsec_t correct_time(const struct copying *copying, nsec_t ns, bool is_packet)
{
	const struct capture_rewrite *rewrite = copying->rewrite;

	if (is_packet && rewrite->times)
		ns = find_packet_time(rewrite->times, rewrite->packets - 1);
	else
		ns = nsec_add(ns, copying->added_ns);
	if (is_packet && (ns < rewrite->begin_ns || ns > rewrite->end_ns))
		return -1;
	return rewrite->correct(rewrite->context, ns);
}

static bool copy_record(struct copying *copying, const struct pcap_head *head)
{
	const bool swapped = copying->swapped;
	uint8_t *record = window_get(&copying->window, RECORD_HEAD);
	uint64_t seconds, part;
	uint32_t size;
	nsec_t ns;

	if (!record)
		return end_copy(copying);
	size = block_get32(record + 8, swapped);
	record =
	    size > head->most ? NULL : window_get(&copying->window, RECORD_HEAD + size);
	if (!record)
		return set_cut(copying);
	seconds = block_get32(record, swapped);
	part = (uint64_t)block_get32(record + 4, swapped) *
	       (head->is_micro ? (uint64_t)NSEC_PER_USEC : 1);
	note_packet(copying);
	ns = (nsec_t)(seconds * (uint64_t)NSEC_PER_SEC + part);
	if (part < (uint64_t)NSEC_PER_SEC && nsec_is_stamp(ns))
		ns = correct_time(copying, ns, true);
	else
		ns = -1;
	if (ns >= 0 && ns / NSEC_PER_SEC <= UINT32_MAX) {
		seconds = (uint64_t)(ns / NSEC_PER_SEC);
		part = (uint64_t)(ns % NSEC_PER_SEC);
	} else {
		copying->rewrite->kept++;
	}
	put_u32(record, (uint32_t)seconds, swapped);
	put_u32(record + 4, part > UINT32_MAX ? UINT32_MAX : (uint32_t)part, swapped);
	copying->window.at += RECORD_HEAD + size;
	return true;
}

/* Return 0, or -1 with error if such a file cannot have nanoseconds. */
static int copy_pcap(struct copying *copying, struct error *error)
{
	uint8_t *bytes = window_get(&copying->window, PCAP_HEAD);
	struct pcap_head head;

	if (!bytes)
		return error_set(error, "no capture: the file header is truncated");
	if (!pcap_head_parse(&head, bytes) || head.minor != 4 ||
	    head.record_head != RECORD_HEAD)
		return error_set(error,
				 "a pcap of an old or modified format, which has no "
				 "nanoseconds; convert it with editcap first");
	put_u32(bytes, PCAP_MAGIC_NANO, head.swapped);
	copying->swapped = head.swapped;
	copying->window.at += PCAP_HEAD;
	while (copy_record(copying, &head))
		;
	return 0;
}

/* Convert a timestamp of a pcapng to the corrected one in nanoseconds. */
static void convert_stamp(struct copying *copying, const struct block_unit *unit,
			  uint8_t *at, bool is_packet)
{
	__extension__ typedef __int128 wide;
	uint64_t count = block_get_stamp(at, copying->swapped);
	nsec_t ns;
	wide whole;

	if (unit->units && block_unit_instant(unit, count, &ns) &&
	    (ns = correct_time(copying, ns, is_packet)) >= 0) {
		put_stamp(at, (uint64_t)ns, copying->swapped);
		return;
	}
	copying->rewrite->kept += is_packet;
	if (!unit->units) /* the interface keeps its resolution, too */
		return;
	whole = (wide)count * NSEC_PER_SEC / (wide)unit->units +
		(wide)unit->offset_s * NSEC_PER_SEC;
	whole = whole < 0 ? 0 : whole > (wide)UINT64_MAX ? (wide)UINT64_MAX : whole;
	put_stamp(at, (uint64_t)whole, copying->swapped);
}

/* Append an option of at most 65535 bytes in the section's byte order. */
static void add_option(struct bytes *bytes, uint16_t code, const void *value, size_t size,
		       bool swapped)
{
	const uint16_t head[2] = {code, (uint16_t)size};

	for (int i = 0; i < 2; i++) {
		uint16_t half = swapped ? __builtin_bswap16(head[i]) : head[i];

		bytes_add(bytes, &half, sizeof(half));
	}
	bytes_add(bytes, value, size);
	memset(bytes_extend(bytes, -size & 3), 0, -size & 3);
}

/* Write the current block with one more option, as the first. */
static void add_to_block(struct copying *copying, size_t head, size_t length,
			 uint16_t code, const char *value, size_t size)
{
	struct window *window = &copying->window;
	const uint8_t *block = window->data + window->at;
	struct bytes made = {0};
	const bool swapped = copying->swapped;
	uint8_t total[4]; /* the block's length, which is its last word, too */

	bytes_add(&made, block, head);
	add_option(&made, code, value, size, swapped);
	bytes_add(&made, block + head, length - head);
	if (length == head)
		add_option(&made, OPTION_END, NULL, 0, swapped);
	put_u32(total, (uint32_t)(made.size + sizeof(total)), swapped);
	memcpy(made.data + 4, total, sizeof(total));
	bytes_add(&made, total, sizeof(total));
	window_flush(window);
	if (!window->failure && output_write_all(window->out, made.data, made.size, -1))
		window->failure = errno;
	window->at += length + 4;
	window->begin = window->at;
	bytes_clear(&made);
}

static bool copy_section(struct copying *copying, uint8_t *block, size_t length)
{
	enum { HEAD = 24, VERSION = 12, LENGTH = 16 };
	const char *comment = copying->rewrite->comment;
	size_t size = strlen(comment);

	if (length < HEAD || block_get16(block + VERSION, copying->swapped) != 1)
		return set_cut(copying);
	copying->units = 0;
	memset(block + LENGTH, 0xff, 8); /* unspecified, because blocks grow */
	add_to_block(copying, HEAD, length, OPTION_COMMENT, comment,
		     size < UINT16_MAX ? size : UINT16_MAX);
	return true;
}

static bool copy_interface(struct copying *copying, uint8_t *block, size_t length)
{
	enum { HEAD = 16 };
	struct block_option option = {
	    .at = block + HEAD, .end = block + length, .swapped = copying->swapped};
	struct block_unit *unit;
	bool has_resolution = false;

	if (length < HEAD)
		return set_cut(copying);
	unit = MEM_NEXT(copying->unit, copying->units, copying->capacity);
	*unit = block_unit_parse(option);
	while (unit->units && block_option_next(&option)) {
		uint8_t *change = block + (option.value - block);

		if (option.code == OPTION_RESOLUTION && option.size >= 1) {
			*change = NANO_RESOLUTION;
			has_resolution = true;
		}
		if (option.code == OPTION_OFFSET && option.size >= 8)
			memset(change, 0, 8);
	}
	if (unit->units && !has_resolution)
		add_to_block(copying, HEAD, length, OPTION_RESOLUTION,
			     (const char[]){NANO_RESOLUTION}, 1);
	else
		copying->window.at += length + 4;
	return true;
}

static const struct block_unit *find_unit(const struct copying *copying, uint32_t number)
{
	return number < copying->units ? &copying->unit[number] : NULL;
}

static bool copy_packet(struct copying *copying, uint32_t type, uint8_t *block,
			size_t length)
{
	enum { HEAD = 28, SIMPLE_HEAD = 12, STAMP = 12, CAPTURED = 20 };
	const bool swapped = copying->swapped, is_simple = type == BLOCK_SIMPLE_PACKET;
	const struct block_unit *unit;

	if (length < (is_simple ? SIMPLE_HEAD : HEAD))
		return set_cut(copying);
	unit =
	    find_unit(copying, is_simple              ? 0
			       : type == BLOCK_PACKET ? block_get32(block + 8, swapped)
						      : block_get16(block + 8, swapped));
	if (!unit ||
	    (!is_simple && block_get32(block + CAPTURED, swapped) > length - HEAD))
		return set_cut(copying);
	note_packet(copying);
	if (!is_simple)
		convert_stamp(copying, unit, block + STAMP, true);
	copying->window.at += length + 4;
	return true;
}

/* The times of interface statistics count what the interface's timestamps count. */
static void copy_statistics(struct copying *copying, uint8_t *block, size_t length)
{
	enum { HEAD = 20, STAMP = 12, OPTION_BEGIN = 2, OPTION_FINISH = 3 };
	const struct block_unit *unit = NULL;
	struct block_option option = {
	    .at = block + HEAD, .end = block + length, .swapped = copying->swapped};

	if (length >= HEAD)
		unit = find_unit(copying, block_get32(block + 8, copying->swapped));
	if (unit)
		convert_stamp(copying, unit, block + STAMP, false);
	while (unit && block_option_next(&option))
		if ((option.code == OPTION_BEGIN || option.code == OPTION_FINISH) &&
		    option.size >= 8)
			convert_stamp(copying, unit, block + (option.value - block),
				      false);
	copying->window.at += length + 4;
}

/* Copy one block. Return false at the end, or at a broken one. */
static bool copy_block(struct copying *copying)
{
	struct window *window = &copying->window;
	uint8_t *block = window_get(window, LEAST_BLOCK);
	uint32_t said, type;
	size_t length;

	if (!block)
		return end_copy(copying);
	if (block_get32(block, false) == BLOCK_SECTION) {
		copying->in_section = block_section_probe(block);
		copying->swapped = block_get32(block + 8, false) != SECTION_ORDER;
	}
	type = block_get32(block, copying->swapped);
	said = block_get32(block + 4, copying->swapped);
	length =
	    (((size_t)said + 3) & ~(size_t)3) - 4; /* without the length at its end */
	if (!copying->in_section || said < LEAST_BLOCK ||
	    !(block = window_get(window, length + 4)))
		return set_cut(copying);
	if (type != BLOCK_SECTION && type != BLOCK_INTERFACE && type != BLOCK_PACKET &&
	    type != BLOCK_OLD_PACKET && type != BLOCK_SIMPLE_PACKET &&
	    type != BLOCK_STATISTICS) {
		window->at += length + 4;
		return true;
	}
	if (length > MOST_BLOCK || block_get32(block + length, copying->swapped) != said)
		return set_cut(copying);
	if (type == BLOCK_SECTION)
		return copy_section(copying, block, length);
	if (type == BLOCK_INTERFACE)
		return copy_interface(copying, block, length);
	if (type != BLOCK_STATISTICS)
		return copy_packet(copying, type, block, length);
	copy_statistics(copying, block, length);
	return true;
}

/* Return 0, or -1 with error if the file is not of a kind that can be copied. */
static int copy_capture(struct copying *copying, struct error *error)
{
	uint8_t *begin = window_get(&copying->window, LEAST_BLOCK);

	if (!begin || !block_section_probe(begin))
		return copy_pcap(copying, error);
	while (copy_block(copying))
		;
	return 0;
}

int capture_rewrite_file(struct capture_rewrite *rewrite, const char *from,
			 const char *to, struct error *error)
{
	struct copying copying = {.rewrite = rewrite};
	struct window *window = &copying.window;
	struct unpacked *unpacked = unpacked_open(from, &window->in, error);
	int status = 0;

	if (!unpacked) {
		error_prefix(error, "%s", from);
		return 1;
	}
	window->out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	window->failure = window->out < 0 ? errno : 0;
	window->capacity = WINDOW;
	window->data = mem_alloc(WINDOW);
	if (!window->failure) {
		status = copy_capture(&copying, error) ? 1 : 0;
		window_flush(window);
	}
	if (window->out >= 0 && close(window->out) && !window->failure)
		window->failure = errno;
	if (window->failure)
		status = error_set(error, "%s: %s", to, strerror(window->failure));
	else if (status)
		error_prefix(error, "%s", from);
	free(window->data);
	free(copying.unit);
	fclose(window->in);
	unpacked_free(unpacked);
	return status;
}
