/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_FRAMES_H
#define CT_INPUT_CAPTURE_FRAMES_H

#include "base/error.h"
#include "input/headers.h"
#include "input/packet_source.h"

/*
 * Whether a file begins as a capture does, pcap or pcapng. What does and still
 * cannot be opened is a broken capture; what does not is something else.
 */
bool capture_probe(const char *path);

/* The name and version of the library that reads captures. */
const char *capture_library_version(void);

/* The frames of a capture file, one after the other, whatever becomes of them. */
struct capture_frames;

struct stamp_unit {
	nsec_t slack_ns;    /* the packet came at most this after its stamp */
	uint32_t interface; /* of a pcapng section, from 0 */
	bool usable;        /* the stamp is there, and libpcap can convert it */
};

struct captured {
	struct frame frame;
	enum frame_status status;
	uint32_t captured, wire; /* bytes in the file, and as it was sent */
	uint64_t ordinal;        /* among all packets of the file, from 0 */
	nsec_t ns;               /* these two are set by capture_frames_stamp */
	struct stamp_unit unit;
};

/* NULL with error where it is no capture, or of links that are not known. */
struct capture_frames *capture_frames_open(const char *path, struct error *error);

enum frame_link capture_frames_link(const struct capture_frames *frames);

/* The next frame. False at the end, which capture_frames_report tells of. */
bool capture_frames_next(struct capture_frames *frames, struct captured *captured);

/*
 * The stamp of the frame that came last, to be asked for once for every frame
 * or for none. Where it has one it is noted in the facts, as how far the file
 * is read; one that has none is counted.
 */
bool capture_frames_stamp(struct capture_frames *frames, struct captured *captured,
			  struct ctf_facts *facts);

/* Bytes read so far and in all. */
void capture_frames_progress(const struct capture_frames *frames,
			     struct ctf_facts *facts);

/* Tell how the file ended, if that was not its end. */
void capture_frames_report_end(const struct capture_frames *frames,
			       struct problem_list *problems);

/* Tell of frames without a stamp, and of stamps that went backwards. */
void capture_frames_report_stamps(const struct capture_frames *frames,
				  struct problem_list *problems);

void capture_frames_free(struct capture_frames *frames);

#endif
