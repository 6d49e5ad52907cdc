/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_SCHEMA_H
#define CT_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "trace/reader.h"

/*
 * The contents of a trace's metadata, independent of its language.
 *
 * Fields are trees. Each use of a type has its own tree, because what a variant or a
 * sequence refers to depends on its position. Sizes and alignments are in bits.
 */
enum field_type {
	FIELD_INTEGER, /* fixed size: also bit arrays, bit maps, booleans and enumerations
			*/
	FIELD_LEB128,  /* integer of variable size */
	FIELD_REAL,
	FIELD_STRING, /* ends with a NUL */
	FIELD_STRUCTURE,
	FIELD_VARIANT,
	FIELD_OPTIONAL, /* one option or nothing */
	FIELD_ARRAY,    /* `length` elements; also strings and BLOBs of fixed length */
	FIELD_SEQUENCE, /* length given by an earlier field */
};

enum byte_order { ORDER_NATIVE, ORDER_LITTLE, ORDER_BIG };

/* The meaning of a field for its packet or event; a field may have several roles. */
enum field_role {
	ROLE_MAGIC,
	ROLE_UUID,
	ROLE_STREAM,   /* id of the stream class */
	ROLE_INSTANCE, /* id of the stream */
	ROLE_BEGIN,    /* start of the packet, also a timestamp */
	ROLE_END,
	ROLE_CONTENT,
	ROLE_SIZE,
	ROLE_SEQUENCE,
	ROLE_DISCARDED,
	ROLE_CPU,
	ROLE_END_STAMP, /* in addition to ROLE_END: the field is a timestamp of the
			   stream's clock */
	ROLE_ID,        /* id of the event class */
	ROLES,
};

/* A range of values, both ends included, in two's complement of 64 bits. */
struct field_range {
	uint64_t first, last;
};

struct field_member {
	char *name;                /* as in the metadata, with leading underscores */
	struct field_class *class; /* NULL for a label */
	struct field_range *range; /* values that have the label or select the option */
	size_t ranges;
};

/*
 * The location of a length or a selector: a path from a scope, or, if `scope` is -1, from
 * the enclosing structure, with a NULL step for the next outer one. In CTF 1.8 the first
 * name is looked up from inside out, and labels select.
 */
struct field_location {
	int scope;
	char **step;
	size_t steps;
};

struct field_class {
	enum field_type type;
	enum byte_order order; /* byte order of a number */
	unsigned size;         /* size of a number */
	unsigned align;        /* power of two */
	bool is_signed;
	bool is_label;    /* enumeration */
	bool is_boolean;  /* any bit counts as 1 */
	bool is_reversed; /* bit order is opposite to byte order */
	int text; /* in strings, and in the elements of arrays that are strings: bytes of
		     a character, negative if big-endian; 0 if not text */
	unsigned roles; /* bit mask of enum field_role */
	char *clock;    /* clock, if the integer is its timestamp; or NULL */
	struct field_member
	    *member; /* members of a structure; options of a variant or optional; labels
			of an enumeration, with different names */
	size_t members;
	struct field_class *element; /* element of an array or sequence */
	uint64_t length;
	struct field_location
	    *location; /* location of the length or the selector, or NULL */

	/* Set by schema_resolve. */
	bool is_known; /* it precedes the field that is being resolved */
	int *slot;     /* slots that store the integer for later fields; usually one */
	size_t slots;
	int from;            /* slot of the length or selector, or -1 */
	bool is_from_signed; /* signedness of the selector */

	int place; /* index of the place where a program stores the field's position, or
		      -1 */
};

struct field_class *field_new(enum field_type type);

/* Add a member, an option or a label. Takes ownership of `member`; copies the name. */
struct field_member *field_add_member(struct field_class *class, const char *name,
				      struct field_class *member);

const struct field_class *field_member(const struct field_class *class, const char *name);

void field_add_range(struct field_member *member, uint64_t first, uint64_t last);

void field_add_slot(struct field_class *class, int slot);

/* Add a step to a location; NULL is the next outer structure. Copies the step. */
void field_add_step(struct field_location *location, const char *step);

/*
 * Return the part of a member's name that users see. In CTF 1.8 LTTng puts an underscore
 * before each name, and a second one before members that it adds itself, such as a
 * sequence's length.
 */
const char *field_name(const char *name);

/* Return the bytes of the smallest character; `text` is that of struct field_class. */
static inline unsigned text_unit(int text)
{
	return text ? (unsigned)abs(text) : 1;
}

/*
 * Return the length in bytes of the text that ends before the first NUL or after `most`.
 */
size_t text_size(const char *bytes, size_t most, unsigned unit);

/* Return true if an array or a sequence is a string. */
bool field_is_string(const struct field_class *class);

/* Return the distance between the starts of two consecutive elements of `bits` bits. */
static inline uint64_t field_stride(const struct field_class *element, uint64_t bits)
{
	return (bits + element->align - 1) & ~(uint64_t)(element->align - 1);
}

/* Return the label of an enumeration's value, without leading underscores, or NULL. */
const char *field_label(const struct field_class *class, uint64_t value);

/* Return the option that a variant's or optional's selector selects, or NULL. */
struct field_class *field_option(const struct field_class *class, uint64_t selector);

void field_free(struct field_class *class);

/* The structures that hold fields, in their order in packets and events. */
enum field_scope {
	SCOPE_PACKET_HEADER,
	SCOPE_PACKET_CONTEXT,
	SCOPE_EVENT_HEADER,
	SCOPE_COMMON_CONTEXT, /* context of all events of a stream */
	SCOPE_SPECIFIC_CONTEXT,
	SCOPE_PAYLOAD,
	SCOPES,
};

/* The values of a clock in nanoseconds that are valid instants; none if least > most. */
struct clock_range {
	nsec_t base_ns; /* since the epoch, at value 0; valid for any clock */
	uint64_t least, most;
};

/* The name of the clock of a TSDL trace that has timestamps but declares no clock. */
#define SCHEMA_DEFAULT_CLOCK "default"

struct schema_clock {
	char *name; /* in CTF 2 the id that streams refer to */
	unsigned char uuid[16];
	bool has_uuid; /* in CTF 2, derived from the clock's identity if it has no uuid */
	char *identity; /* name of its own, or NULL */
	uint64_t frequency;
	int64_t offset_s;
	uint64_t offset; /* cycles, in addition to offset_s */

	struct clock_range range; /* set by schema_set_up() */
};

/*
 * The event headers of LTTng and sink.ctf.fs, in a form that can be read directly: a
 * little-endian id, followed by the low bits of the timestamp or by the whole timestamp.
 * In LTTng's headers, an id above `last` means that a longer header follows. Every event
 * has a header, and a program for it would cost more than the rest of an unselected
 * event.
 */
struct short_header {
	unsigned id_size,
	    stamp_size;          /* bits; stamp_size 0: the headers have another form */
	unsigned stamp_at, size; /* bits: offset of the timestamp, and total */
	uint64_t last;           /* largest id that does not announce a longer header */
	int slot; /* slot that stores the id; -1 if no field refers to it */
};

struct schema_stream {
	uint64_t id;
	struct field_class *scope[SCOPES]; /* packet header up to common context */

	/* Set by schema_resolve. */
	const char *clock_name; /* clock of all timestamps in its headers, or NULL */
	unsigned stamp_size; /* bits of the first timestamp in the event header, or 0 */
	bool has_stamps;     /* event headers have timestamps */
	bool has_id;         /* event headers have the id of the class */
	unsigned sequence_size, discarded_size; /* bits of the packets' counters */

	/* Set by schema_set_up. */
	const struct schema_clock *clock; /* NULL if events have no timestamps */
	struct ctf_program *packet_program, *header_program;
	struct short_header
	    short_header; /* equivalent to header_program for most events */
	struct schema_event_class **by_id; /* NULL for unused ids */
	size_t ids;

	bool can_skip; /* packets before the reader's start can be skipped unread */
};

/*
 * The effect of an event program that only skips, for any starting position: padding up
 * to `align`, `bits`, and then up to CTF_STRINGS times a byte-aligned string and a number
 * of bits.
 */
enum { CTF_STRINGS = 3 };

struct ctf_stretches {
	uint64_t bits;
	uint32_t align, strings;
	uint64_t behind[CTF_STRINGS]; /* bits after each string */
};

struct schema_event_class {
	struct trace_class known; /* the part that the reader's caller sees; first */
	struct field_class
	    *scope[SCOPES]; /* only the event's own scopes; any may be NULL */
	enum trace_selected selected;
	enum trace_use before;
	struct trace_fields *fields; /* fields to deliver as cells, or NULL */

	/* Only for CTF. */
	uint64_t id, stream_id;
	uint32_t index; /* index among all classes of the reader */
	struct schema_stream *stream;
	struct ctf_program
	    *program; /* program of its scopes, compiled when selecting is over */
	struct ctf_stretches skip; /* effect of its program, if that only skips */
	bool can_pass;    /* that is so, and its events need not be delivered, at least
			     before the start */
	bool is_constant; /* that is so, and its fields include no string: they have
			     constant places, and are read without the program */
};

/*
 * Free the members of an event class, except the common context, which the stream owns.
 */
void schema_event_class_clear(struct schema_event_class *class);

/* The contents of a trace's metadata. */
struct schema {
	bool is_ctf2;
	enum byte_order order;  /* default byte order of CTF 1.8 */
	unsigned char uuid[16]; /* uuid that packets must have */
	bool has_uuid;
	struct field_class *packet_header;
	struct schema_clock *clock;
	struct schema_stream *stream;
	struct schema_event_class *event; /* events of all streams */
	size_t clocks, clock_capacity, streams, stream_capacity, events, event_capacity;
	char *hostname;      /* host of the environment, or NULL */
	bool is_barectf;     /* the tracer is barectf */
	uint64_t version[3]; /* barectf's version; unset for other tracers */
	size_t ignored;      /* number of ignored attributes, unknown in TSDL */
	char *ignored_name;  /* the first one with its location, or NULL */

	/* Set by schema_resolve. */
	int slots; /* number of slots: one for each role, and those for later fields */
	unsigned header_roles; /* roles in the packet header */
	uint64_t
	    matches; /* total of option and label comparisons that variants can need */

	/* Set by schema_set_up. */
	struct ctf_program *packet_program; /* reads the packet header */
	bool has_magic,
	    is_magic_big;      /* packets start with a magic number; it is big-endian */
	bool has_early_events; /* timestamps can be earlier than the start of their packet
				*/
};

void schema_free(struct schema *schema);

#endif
