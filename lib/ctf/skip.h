/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_SKIP_H
#define CT_CTF_SKIP_H

#include "base/nsec.h"
#include "ctf/program.h"

/*
 * The event headers that LTTng and sink.ctf.fs write, read at once: a little-endian id
 * and the low bits of the stamp behind it, or the whole stamp. An id of LTTng's may say
 * instead that a longer header follows. Every event has one, so a program for it would
 * cost more than all else of an event that nobody wants.
 */
struct ctf_short_header {
	unsigned id_size, stamp_size; /* bits; stamp 0: the header is another one */
	unsigned stamp_at, size;      /* from its begin: bits, bits in all */
	uint64_t last;                /* id that is no sign of a longer header */
	int slot;                     /* of the id; -1: nobody refers to it */
};

void ctf_short_header_find(const struct field_class *header,
			   struct ctf_short_header *quick);

/* The header that begins with a byte: 16 bytes or more from there must be to be had. */
static inline void ctf_short_header_load(const struct ctf_short_header *quick,
					 const unsigned char *byte, uint64_t *id,
					 uint64_t *stamp)
{
	memcpy(id, byte, sizeof(*id));
	memcpy(stamp, byte + quick->stamp_at / 8, sizeof(*stamp));
	*id = le64toh(*id) & (UINT64_MAX >> (64 - quick->id_size));
	*stamp = le64toh(*stamp) >> quick->stamp_at % 8 &
		 (UINT64_MAX >> (64 - quick->stamp_size));
}

enum { CTF_SHORT_HEADER_BYTES = 16 }; /* that ctf_short_header_load looks at, at most */

/* False with nothing done where the header's program has to be run. */
static inline bool ctf_short_header_read(const struct ctf_short_header *quick,
					 struct ctf_cursor *cursor)
{
	uint64_t byte = (cursor->at + 7) / 8, id, stamp;

	if (!quick->stamp_size || cursor->end - cursor->at < quick->size + 7 ||
	    cursor->bytes.count - byte < CTF_SHORT_HEADER_BYTES)
		return false;
	ctf_short_header_load(quick, cursor->bytes.byte + byte, &id, &stamp);
	if (id > quick->last)
		return false;
	cursor->id = id;
	if (quick->slot >= 0)
		cursor->slot[quick->slot] = id;
	cursor->clock = ctf_clock_after(cursor->clock, stamp, quick->stamp_size);
	cursor->at = 8 * byte + quick->size;
	return true;
}

/* How events of one class are passed over. */
struct ctf_skip {
	struct ctf_stretches of; /* all fields */
	bool can;
};

struct ctf_stream_class;

/*
 * Going over events that nobody wants, most of a trace for ctsync: a header that
 * is short, then fields of constant size with a few strings among them. Each
 * costs a class's entry and two additions, and a look at its strings; whatever is not so
 * ends the way and is for programs.
 */
struct ctf_pass {
	nsec_t until;              /* no event after this is passed over, */
	uint64_t most;             /* nor more than so many */
	nsec_t last_ns;            /* of the event before; NSEC_MIN: there is none */
	uint64_t events, backward; /* passed over; of them before the one before */
	nsec_t least_ns, most_ns;  /* their stamps; valid if events */
};

/*
 * Pass over as many events of the packet as are like that; sets all below
 * last_ns. The cursor is then behind the last of them, as if programs had been run.
 */
void ctf_pass_run(const struct ctf_stream_class *stream, struct ctf_cursor *cursor,
		  struct ctf_pass *pass);

#endif
