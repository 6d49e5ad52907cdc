/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/frames.h"

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
#include "input/capture/capture.h"

struct capture_frames {
	char *path;
	pcap_t *pcap;
	struct stamp_walk *stamps;
	enum frame_link link;
	const struct pcap_pkthdr *header; /* of the packet that came last */
	uint64_t total_bytes;
	nsec_t last_ns;
	uint64_t packets; /* stamped or not */
	uint64_t unstamped, backward;
	bool broken; /* the end was none */
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

struct capture_frames *capture_frames_open(const char *path, struct error *error)
{
	struct capture_frames *frames = mem_zalloc(sizeof(*frames));
	struct stat status;
	int fd;

	frames->path = mem_strdup(path);
	frames->pcap = open_file(path, error);
	if (!frames->pcap || find_link(path, frames->pcap, &frames->link, error)) {
		capture_frames_free(frames);
		return NULL;
	}
	fd = fileno(pcap_file(frames->pcap));
	frames->stamps = stamp_walk_new(fd);
	if (fstat(fd, &status) == 0)
		frames->total_bytes = (uint64_t)status.st_size;
	return frames;
}

enum frame_link capture_frames_link(const struct capture_frames *frames)
{
	return frames->link;
}

bool capture_frames_next(struct capture_frames *frames, struct captured *captured)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int status = pcap_next_ex(frames->pcap, &header, &data);

	if (status != 1) {
		frames->broken = status == PCAP_ERROR;
		return false;
	}
	frames->header = header;
	captured->status = frame_decode(&captured->frame, frames->link, data,
					header->caplen, header->len);
	captured->captured = header->caplen;
	captured->wire = header->len;
	captured->ordinal = frames->packets++;
	return true;
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

static void note_stamp(struct capture_frames *frames, struct ctf_facts *facts, nsec_t ns)
{
	if (!facts->events || ns < facts->begin_ns)
		facts->begin_ns = ns;
	if (!facts->events || ns > facts->end_ns)
		facts->end_ns = ns;
	if (facts->events && ns < frames->last_ns)
		frames->backward++;
	frames->last_ns = ns;
	facts->events++;
}

bool capture_frames_stamp(struct capture_frames *frames, struct captured *captured,
			  struct ctf_facts *facts)
{
	captured->unit = stamp_walk_next(frames->stamps);
	if (!captured->unit.usable || find_stamp(frames->header, &captured->ns)) {
		frames->unstamped++;
		return false;
	}
	note_stamp(frames, facts, captured->ns);
	return true;
}

void capture_frames_progress(const struct capture_frames *frames, struct ctf_facts *facts)
{
	off_t at = ftello(pcap_file(frames->pcap));

	if (at >= 0)
		facts->bytes = (uint64_t)at;
	facts->total_bytes = frames->total_bytes;
}

void capture_frames_report_end(const struct capture_frames *frames,
			       struct problem_list *problems)
{
	const char *cause = pcap_geterr(frames->pcap);

	if (!frames->broken)
		return;
	if (strncmp(cause, "truncated", strlen("truncated")) == 0)
		problem_add(problems, frames->path, "truncated", 1,
			    "cut in the middle of a packet after %" PRIu64 " packets: %s",
			    frames->packets, cause);
	else
		problem_add(problems, frames->path, "broken", 1,
			    "cannot be read on after %" PRIu64 " packets: %s",
			    frames->packets, cause);
}

void capture_frames_report_stamps(const struct capture_frames *frames,
				  struct problem_list *problems)
{
	if (frames->unstamped)
		problem_add(problems, frames->path, "unstamped", frames->unstamped,
			    "%" PRIu64 " packets have no usable stamp, left out",
			    frames->unstamped);
	if (frames->backward)
		problem_add(problems, frames->path, "backward", frames->backward,
			    "%" PRIu64 " stamps lie before the one before",
			    frames->backward);
}

void capture_frames_free(struct capture_frames *frames)
{
	if (!frames)
		return;
	if (frames->pcap)
		pcap_close(frames->pcap);
	stamp_walk_free(frames->stamps);
	free(frames->path);
	free(frames);
}
