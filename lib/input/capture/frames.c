/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "input/capture/blocks.h"
#include "input/capture/outliers.h"
#include "input/capture/set_back.h"
#include "input/capture/unpack.h"

/* An open file of a capture. */
struct capture_file {
	char *path;
	struct unpacked *unpacked;
	FILE *stream;
	struct block_reader *blocks;
	uint32_t link_type;   /* link type of the last packet */
	enum frame_link link; /* the decoder for that type */
	/* The first packet, read early to learn the link types. */
	struct block_packet first;
	int first_status; /* result of reading it; FIRST_USED once it is delivered */
};

enum { PROBED = 12, FIRST_USED = 2 };

/* A capture of one or more files, which are read one after the other. */
struct capture_frames {
	struct capture_file file;
	struct capture_input input; /* borrowed */
	size_t next;                /* index of the next part */
	uint64_t bytes_before;      /* size of the files read before this one */
	struct trace_facts *facts;
	struct outliers outliers;
	struct set_back set_back;
	captured_fn *on_captured; /* callback of the current step */
	void *context;
	nsec_t last_ns;
	uint64_t packets; /* number in all files, with or without timestamp */
	uint64_t unstamped, backward;
	uint64_t first_unstamped; /* ordinal of the first packet without a usable time */
	struct capture_losses losses;
};

/* Read the first bytes of a file. Return false, with error if it cannot be read, unless
 * they are a capture's. */
static bool probe_file(const char *path, uint8_t begin[PROBED], struct error *error)
{
	FILE *stream;
	struct unpacked *unpacked = unpacked_open(path, &stream, error);

	if (!unpacked)
		return false;
	memset(begin, 0, PROBED);
	errno = 0;
	if (fread(begin, 1, PROBED, stream) < PROBED && ferror(stream))
		error_set(error, "%s",
			  unpacked_fault(unpacked) ? unpacked_fault(unpacked)
						   : strerror(errno));
	fclose(stream);
	unpacked_free(unpacked);
	return block_reader_probe(begin);
}

bool capture_probe(const char *path, struct error *error)
{
	uint8_t begin[PROBED];

	return probe_file(path, begin, error);
}

/* Link types that are decoded or named, by their numbers in files. */
static const struct {
	uint32_t type;
	enum frame_link link;
	const char *name;
} link_types[] = {
    {0, FRAME_LOOPBACK, NULL},
    {1, FRAME_ETHERNET, NULL},
    {9, FRAME_PPP, NULL},
    {12, FRAME_RAW, NULL}, /* as libpcap numbers it, and some files */
    {14, FRAME_RAW, NULL}, /* the same on OpenBSD */
    {50, FRAME_PPP, NULL},
    {101, FRAME_RAW, NULL},
    {104, FRAME_HDLC, NULL},
    {108, FRAME_LOOPBACK, NULL},
    {113, FRAME_COOKED, NULL},
    {228, FRAME_RAW, NULL}, /* IPv4 */
    {229, FRAME_RAW, NULL}, /* IPv6 */
    {276, FRAME_COOKED2, NULL},
    {6, FRAME_UNKNOWN, "IEEE802_5"},
    {10, FRAME_UNKNOWN, "FDDI"},
    {105, FRAME_UNKNOWN, "IEEE802_11"},
    {127, FRAME_UNKNOWN, "IEEE802_11_RADIOTAP"},
    {187, FRAME_UNKNOWN, "BLUETOOTH_HCI_H4"},
    {192, FRAME_UNKNOWN, "PPI"},
    {195, FRAME_UNKNOWN, "IEEE802_15_4_WITHFCS"},
    {201, FRAME_UNKNOWN, "BLUETOOTH_HCI_H4_WITH_PHDR"},
    {220, FRAME_UNKNOWN, "USB_LINUX_MMAPPED"},
    {227, FRAME_UNKNOWN, "CAN_SOCKETCAN"},
    {239, FRAME_UNKNOWN, "NFLOG"},
    {247, FRAME_UNKNOWN, "INFINIBAND"},
    {253, FRAME_UNKNOWN, "NETLINK"},
};

enum { LINK_TYPES = sizeof(link_types) / sizeof(*link_types) };

static enum frame_link find_link(uint32_t type)
{
	for (size_t i = 0; i < LINK_TYPES; i++)
		if (link_types[i].type == type)
			return link_types[i].link;
	return FRAME_UNKNOWN;
}

const char *capture_link_name(uint32_t type)
{
	for (size_t i = 0; i < LINK_TYPES; i++)
		if (link_types[i].type == type)
			return link_types[i].name;
	return NULL;
}

static void close_file(struct capture_file *file)
{
	if (file->stream)
		fclose(file->stream);
	block_reader_free(file->blocks);
	unpacked_free(file->unpacked);
	free(file->path);
	memset(file, 0, sizeof(*file));
}

/* Read up to the first packet. */
static int begin_file(struct capture_file *file, const uint8_t begin[PROBED],
		      struct error *error)
{
	const char *fault;
	bool is_cut;

	file->blocks = block_reader_new(file->stream, begin);
	file->link_type = UINT32_MAX;
	file->first_status = block_reader_next(file->blocks, &file->first);
	if (file->first_status >= 0 || block_reader_link(file->blocks, 0) >= 0)
		return 0;
	fault = unpacked_fault(file->unpacked);
	return error_set(error, "no capture: %s",
			 fault ? fault : block_reader_fault(file->blocks, &is_cut));
}

static int open_file(struct capture_file *file, const char *path, struct error *error)
{
	uint8_t begin[PROBED];
	int status = -1;

	error_clear(error);
	memset(file, 0, sizeof(*file));
	file->path = mem_strdup(path);
	if (!probe_file(path, begin, error) && !error->text)
		error_set(error, "no capture: it begins with neither pcap's nor pcapng's "
				 "magic number");
	if (!error->text)
		file->unpacked = unpacked_open(path, &file->stream, error);
	if (file->unpacked)
		status = begin_file(file, begin, error);
	if (status) {
		error_prefix(error, "%s", path);
		close_file(file);
	}
	return status;
}

struct capture_frames *capture_frames_open(const struct capture_input *input,
					   struct trace_facts *facts, struct error *error)
{
	struct capture_frames *frames = mem_zalloc(sizeof(*frames));
	struct stat status;

	frames->facts = facts;
	frames->input = *input;
	frames->next = 1;
	if (open_file(&frames->file, input->parts ? input->part[0].path : input->path,
		      error)) {
		free(frames);
		return NULL;
	}
	if (stat(frames->file.path, &status) == 0)
		facts->total_bytes = (uint64_t)status.st_size;
	for (size_t i = 1; i < input->parts; i++)
		if (stat(input->part[i].path, &status) == 0)
			facts->total_bytes += (uint64_t)status.st_size;
	return frames;
}

uint32_t capture_frames_limit(const struct capture_frames *frames)
{
	return block_reader_limit(frames->file.blocks);
}

/* Read the file's next packet. Return 1, 0 at the end, or -1. */
static int read_packet(struct capture_file *file, struct block_packet *packet)
{
	int status = file->first_status;

	if (status == FIRST_USED)
		return block_reader_next(file->blocks, packet);
	*packet = file->first;
	file->first_status = FIRST_USED;
	return status;
}

static void note_stamp(struct capture_frames *frames, nsec_t ns)
{
	struct trace_facts *facts = frames->facts;

	if (!facts->events || ns < facts->begin_ns)
		facts->begin_ns = ns;
	if (!facts->events || ns > facts->end_ns)
		facts->end_ns = ns;
	if (facts->events && ns < frames->last_ns)
		frames->backward++;
	frames->last_ns = ns;
	facts->events++;
}

static void deliver_frame(void *context, struct captured *captured)
{
	struct capture_frames *frames = context;

	note_stamp(frames, captured->ns);
	frames->on_captured(frames->context, captured);
}

/* Deliver a packet if its time is plausible. */
static void deliver_sound(void *context, struct captured *captured)
{
	struct capture_frames *frames = context;

	if (set_back_pass(&frames->set_back, captured))
		deliver_frame(frames, captured);
	else
		set_back_add(&frames->set_back, captured, frames->facts, deliver_frame,
			     frames);
}

static void decode_packet(struct capture_frames *frames,
			  const struct block_packet *packet)
{
	struct captured captured = {
	    .captured = packet->captured,
	    .wire = packet->wire,
	    .ordinal = frames->packets++,
	    .unit = packet->unit,
	    .ns = packet->ns,
	};
	enum frame_link link;

	if (!captured.unit.usable) {
		if (!frames->unstamped++)
			frames->first_unstamped = captured.ordinal;
		return;
	}
	if (packet->link != frames->file.link_type) {
		frames->file.link_type = packet->link;
		frames->file.link = find_link(packet->link);
	}
	link = frames->file.link;
	captured.status = frame_decode(&captured.frame, link, packet->data,
				       packet->captured, packet->wire);
	if (link == FRAME_UNKNOWN)
		captured.frame.undecoded = frame_undecoded(UNDECODED_LINK, packet->link);
	if (outliers_pass(&frames->outliers, captured.ns))
		deliver_sound(frames, &captured);
	else
		outliers_add(&frames->outliers, &captured, deliver_sound, frames);
}

/* Report why a file could not be read to its end. */
static void report_break(struct capture_frames *frames, struct problem_list *problems)
{
	const struct capture_file *file = &frames->file;
	const char *fault = unpacked_fault(file->unpacked), *cause;
	bool is_cut = false;

	cause = block_reader_fault(file->blocks, &is_cut);
	if (is_cut && !fault)
		problem_add(problems, file->path, PROBLEM_TRUNCATED, 1,
			    "cut in the middle of a packet after %" PRIu64 " packets: %s",
			    frames->packets, cause);
	else
		problem_add(problems, file->path, PROBLEM_BROKEN, 1,
			    "cannot be read on after %" PRIu64 " packets: %s",
			    frames->packets, fault ? fault : cause);
}

static void report_stamps(const struct capture_frames *frames,
			  struct problem_list *problems)
{
	char when[NSEC_TEXT];

	if (frames->unstamped)
		problem_add(problems, frames->file.path, PROBLEM_UNSTAMPED,
			    frames->unstamped,
			    "%" PRIu64
			    " packets have no timestamp between 1967 and 2111; skipped, "
			    "the first is packet %" PRIu64,
			    frames->unstamped, frames->first_unstamped + 1);
	if (frames->outliers.left_out)
		problem_add(
		    problems, frames->file.path, PROBLEM_UNSTAMPED,
		    frames->outliers.left_out,
		    "%" PRIu64 " packets have a time far from that of the packets "
		    "around them; skipped, the first is packet %" PRIu64 ", of %s",
		    frames->outliers.left_out, frames->outliers.first_index + 1,
		    nsec_format_utc(when, frames->outliers.first_ns));
	if (frames->backward && !frames->set_back.is_off)
		problem_add(problems, frames->file.path, PROBLEM_BACKWARD,
			    frames->backward,
			    "%" PRIu64 " timestamps are earlier than the one before",
			    frames->backward);
}

static void report_losses(struct capture_frames *frames, struct problem_list *problems)
{
	uint64_t packets = 0;

	for (size_t i = 0; i < frames->losses.count; i++)
		packets += frames->losses.item[i].packets;
	frames->facts->discarded_events = packets;
	if (packets)
		problem_add(problems, frames->file.path, PROBLEM_DISCARDED, packets,
			    "the capture dropped %" PRIu64 " packets", packets);
}

/* Fetch the losses of the current file. A loss without a time is within the file. */
static void fetch_losses(struct capture_frames *frames)
{
	block_reader_losses(frames->file.blocks, &frames->losses);
}

const struct capture_losses *capture_frames_losses(const struct capture_frames *frames)
{
	return &frames->losses;
}

/* Switch to the next file that can be opened. Return false if there is none. */
static bool open_next(struct capture_frames *frames, struct problem_list *problems)
{
	while (frames->next < frames->input.parts) {
		struct error error = ERROR_INIT;
		struct capture_file file;
		int status =
		    open_file(&file, frames->input.part[frames->next++].path, &error);

		if (status)
			problem_add(problems, "", PROBLEM_UNREADABLE, 1, "%s, skipped",
				    error_text(&error));
		error_clear(&error);
		if (status)
			continue;
		fetch_losses(frames);
		frames->bytes_before += unpacked_bytes(frames->file.unpacked);
		close_file(&frames->file);
		frames->file = file;
		return true;
	}
	return false;
}

bool capture_frames_step(struct capture_frames *frames, uint64_t most,
			 captured_fn *on_captured, void *context,
			 struct problem_list *problems)
{
	struct block_packet packet;
	int status = 1;

	frames->on_captured = on_captured;
	frames->context = context;
	while (status == 1 && most--) {
		status = read_packet(&frames->file, &packet);
		if (status == 1) {
			decode_packet(frames, &packet);
			continue;
		}
		if (status < 0)
			report_break(frames, problems);
		status = open_next(frames, problems);
	}
	frames->facts->bytes =
	    frames->bytes_before + unpacked_bytes(frames->file.unpacked);
	if (status != 1) {
		outliers_end(&frames->outliers, deliver_sound, frames);
		set_back_end(&frames->set_back, frames->facts, deliver_frame, frames);
		report_stamps(frames, problems);
		fetch_losses(frames);
		report_losses(frames, problems);
	}
	return status == 1;
}

void capture_frames_keep_stamps(struct capture_frames *frames)
{
	frames->set_back.is_off = true;
}

void capture_frames_free(struct capture_frames *frames)
{
	if (!frames)
		return;
	close_file(&frames->file);
	free(frames->losses.item);
	free(frames);
}
