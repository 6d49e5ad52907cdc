/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "input/capture/outliers.h"

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

enum capture_format { CAPTURE_NONE, CAPTURE_MICRO, CAPTURE_NANO, CAPTURE_BLOCKS };

/*
 * How exact the stamps of a file are: they are cut off at the unit that they are written
 * in. A pcap has one unit; a pcapng has one an interface, so its blocks are walked along
 * with the packets. Never moves the descriptor's position.
 */
struct stamp_walk {
	int fd; /* borrowed */
	enum capture_format format;
	bool swapped;            /* the section's byte order is not ours */
	off_t at;                /* of the next block */
	struct stamp_unit *unit; /* of the section's interfaces */
	size_t count, capacity;
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

/* By what the file begins with. */
static enum capture_format capture_format_of(int fd)
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

	walk->unit =
	    mem_grow(walk->unit, walk->count, &walk->capacity, sizeof(*walk->unit));
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

/* Simple packets have no stamp. */
static struct stamp_unit next_block_unit(struct stamp_walk *walk)
{
	static const struct stamp_unit none = {0, 0, false};
	const uint8_t *block;

	while ((block = bytes_at(walk, walk->at, 12)) != NULL) {
		off_t begin = walk->at;
		uint32_t type = get32(walk, block), length, interface;

		if (type == BLOCK_SECTION) {
			walk->swapped = word(block + 8) != SECTION_ORDER;
			walk->count = 0;
		}
		length = get32(walk, block + 4);
		/* Of a packet. */
		interface = type == BLOCK_OLD_PACKET ? get16(walk, block + 8)
						     : get32(walk, block + 8);
		if (length < 12)
			break;
		walk->at += length;
		if (type == BLOCK_INTERFACE)
			add_interface(walk, begin + 16, walk->at - 4);
		else if (type == BLOCK_PACKET || type == BLOCK_OLD_PACKET)
			return interface < walk->count ? walk->unit[interface] : none;
		else if (type == BLOCK_SIMPLE_PACKET)
			return none;
	}
	return none;
}

/* The unit of the next packet's stamp. */
static struct stamp_unit stamp_walk_next(struct stamp_walk *walk)
{
	struct stamp_unit unit = {0, 0, true};

	if (walk->format == CAPTURE_BLOCKS)
		return next_block_unit(walk);
	if (walk->format != CAPTURE_NANO)
		unit.slack_ns = slack(MICRO_UNITS);
	return unit;
}

struct capture_frames {
	char *path;
	pcap_t *pcap;
	struct stamp_walk stamps;
	enum frame_link link;
	struct ctf_facts *facts;
	nsec_t last_ns;
	uint64_t packets; /* stamped or not */
	uint64_t unstamped, backward;
	struct outliers outliers;
	captured_fn *give; /* of the current step */
	void *context;
};

bool capture_probe(const char *path)
{
	struct error error = ERROR_INIT;
	int fd = file_open(path, NULL, &error);
	bool is_capture = fd >= 0 && capture_format_of(fd) != CAPTURE_NONE;

	error_clear(&error);
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
	FILE *file = file_open_stream(path, "a capture", error);
	pcap_t *pcap;

	if (!file) {
		error_prefix(error, "%s", path);
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
	static const struct {
		int type;
		enum frame_link link;
	} known[] = {
	    {DLT_EN10MB, FRAME_ETHERNET},    {DLT_LINUX_SLL, FRAME_COOKED},
	    {DLT_LINUX_SLL2, FRAME_COOKED2}, {DLT_RAW, FRAME_RAW},
	    {DLT_IPV4, FRAME_RAW},           {DLT_IPV6, FRAME_RAW},
	    {DLT_NULL, FRAME_LOOPBACK},      {DLT_LOOP, FRAME_LOOPBACK},
	};
	int type = pcap_datalink(pcap);
	const char *name = pcap_datalink_val_to_name(type);
	char number[16];

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].type == type) {
			*link = known[i].link;
			return 0;
		}
	snprintf(number, sizeof(number), "%d", type);
	return error_set(error,
			 "%s: link type %s is not supported, want Ethernet, "
			 "Linux cooked, raw IP or loopback",
			 path, name ? name : number);
}

struct capture_frames *capture_frames_open(const char *path, struct ctf_facts *facts,
					   struct error *error)
{
	struct capture_frames *frames = mem_zalloc(sizeof(*frames));
	struct stat status;
	int fd;

	frames->path = mem_strdup(path);
	frames->facts = facts;
	frames->pcap = open_file(path, error);
	if (!frames->pcap || find_link(path, frames->pcap, &frames->link, error)) {
		capture_frames_free(frames);
		return NULL;
	}
	fd = fileno(pcap_file(frames->pcap));
	frames->stamps.fd = fd;
	frames->stamps.format = capture_format_of(fd);
	if (fstat(fd, &status) == 0)
		facts->total_bytes = (uint64_t)status.st_size;
	return frames;
}

enum frame_link capture_frames_link(const struct capture_frames *frames)
{
	return frames->link;
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

static void note_stamp(struct capture_frames *frames, nsec_t ns)
{
	struct ctf_facts *facts = frames->facts;

	if (!facts->events || ns < facts->begin_ns)
		facts->begin_ns = ns;
	if (!facts->events || ns > facts->end_ns)
		facts->end_ns = ns;
	if (facts->events && ns < frames->last_ns)
		frames->backward++;
	frames->last_ns = ns;
	facts->events++;
}

static void deliver(void *context, struct captured *captured)
{
	struct capture_frames *frames = context;

	note_stamp(frames, captured->ns);
	frames->give(frames->context, captured);
}

static void give_frame(struct capture_frames *frames, const struct pcap_pkthdr *header,
		       const u_char *data)
{
	struct captured captured = {
	    .captured = header->caplen,
	    .wire = header->len,
	    .ordinal = frames->packets++,
	    .unit = stamp_walk_next(&frames->stamps),
	};

	if (!captured.unit.usable || find_stamp(header, &captured.ns)) {
		frames->unstamped++;
		return;
	}
	captured.status = frame_decode(&captured.frame, frames->link, data,
				       header->caplen, header->len);
	outliers_add(&frames->outliers, &captured, deliver, frames);
}

static void report_end(const struct capture_frames *frames, bool is_broken,
		       struct problem_list *problems)
{
	const char *cause = pcap_geterr(frames->pcap);
	char when[NSEC_TEXT];

	if (is_broken && strncmp(cause, "truncated", strlen("truncated")) == 0)
		problem_add(problems, frames->path, PROBLEM_TRUNCATED, 1,
			    "cut in the middle of a packet after %" PRIu64 " packets: %s",
			    frames->packets, cause);
	else if (is_broken)
		problem_add(problems, frames->path, PROBLEM_BROKEN, 1,
			    "cannot be read on after %" PRIu64 " packets: %s",
			    frames->packets, cause);
	if (frames->unstamped)
		problem_add(problems, frames->path, PROBLEM_UNSTAMPED, frames->unstamped,
			    "%" PRIu64 " packets have no usable stamp, left out",
			    frames->unstamped);
	if (frames->outliers.left_out)
		problem_add(
		    problems, frames->path, PROBLEM_UNSTAMPED, frames->outliers.left_out,
		    "%" PRIu64 " packets have a time far from that of the packets "
		    "around them, left out; the first is packet %" PRIu64 ", of %s",
		    frames->outliers.left_out, frames->outliers.first_index + 1,
		    nsec_format_utc(when, frames->outliers.first_ns));
	if (frames->backward)
		problem_add(problems, frames->path, PROBLEM_BACKWARD, frames->backward,
			    "%" PRIu64 " stamps lie before the one before",
			    frames->backward);
}

bool capture_frames_step(struct capture_frames *frames, uint64_t most, captured_fn *give,
			 void *context, struct problem_list *problems)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int status = 1;
	off_t at;

	frames->give = give;
	frames->context = context;
	for (; status == 1 && most; most--) {
		status = pcap_next_ex(frames->pcap, &header, &data);
		if (status == 1)
			give_frame(frames, header, data);
	}
	at = ftello(pcap_file(frames->pcap));
	if (at >= 0)
		frames->facts->bytes = (uint64_t)at;
	if (status != 1) {
		outliers_end(&frames->outliers, deliver, frames);
		report_end(frames, status == PCAP_ERROR, problems);
	}
	return status == 1;
}

void capture_frames_free(struct capture_frames *frames)
{
	if (!frames)
		return;
	if (frames->pcap)
		pcap_close(frames->pcap);
	free(frames->stamps.unit);
	free(frames->path);
	free(frames);
}
