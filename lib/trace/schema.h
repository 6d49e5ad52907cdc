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
 * What metadata says of a trace, whichever language says it: how wide fields are, how
 * aligned, how made up, and which of them tell how to read on. Fields are trees; every
 * use of a type has a tree of its own, as what a variant or a sequence refers to depends
 * on where it stands. Sizes and alignments are in bits.
 */
enum field_type {
	FIELD_INTEGER, /* of a fixed size: bit arrays and maps, booleans, enumerations,
			  too */
	FIELD_LEB128,  /* integers of a variable size */
	FIELD_REAL,
	FIELD_STRING, /* up to a zero */
	FIELD_STRUCTURE,
	FIELD_VARIANT,
	FIELD_OPTIONAL, /* a variant of one option or nothing */
	FIELD_ARRAY,    /* of `length` elements; strings and BLOBs of so many bytes */
	FIELD_SEQUENCE, /* of as many as a field before it says */
};

enum byte_order { ORDER_NATIVE, ORDER_LITTLE, ORDER_BIG };

/* What fields tell of their packet or event; a field may have several roles. */
enum field_role {
	ROLE_MAGIC,
	ROLE_UUID,
	ROLE_STREAM,   /* its class */
	ROLE_INSTANCE, /* the stream itself */
	ROLE_BEGIN,    /* of the packet; it is a stamp, too */
	ROLE_END,
	ROLE_CONTENT,
	ROLE_SIZE,
	ROLE_SEQUENCE,
	ROLE_DISCARDED,
	ROLE_CPU,
	ROLE_END_STAMP, /* besides ROLE_END: it is of the stream's clock */
	ROLE_ID,        /* of the event's class */
	ROLES,
};

/* Ends included, in two's complement of 64 bits. */
struct field_range {
	uint64_t first, last;
};

struct field_member {
	char *name;                /* as in the metadata, with leading underscores */
	struct field_class *class; /* NULL: it is a label */
	struct field_range *range; /* values that have the label or select the option */
	size_t ranges;
};

/*
 * Where the length or the selector is: from a scope on, or, with -1, from the structure
 * around, where NULL is the one around that. In CTF 1.8 the first name is looked up from
 * inside out, and labels select.
 */
struct field_location {
	int scope;
	char **step;
	size_t steps;
};

struct field_class {
	enum field_type type;
	enum byte_order order; /* of numbers */
	unsigned size;         /* of numbers */
	unsigned align;        /* a power of two */
	bool is_signed;
	bool is_label;    /* an enumeration */
	bool is_boolean;  /* any bit counts as 1 */
	bool is_reversed; /* its bits are in the order that its bytes are not */
	int text; /* of strings, and of the elements that are a string's bytes: bytes of a
		     character, below 0 where the highest is first; 0: it is no text */
	unsigned roles;              /* a bit each */
	char *clock;                 /* that the integer is a stamp of, or NULL */
	struct field_member *member; /* of a structure; options of a variant, an optional;
					labels of an enumeration, of different names */
	size_t members;
	struct field_class *element; /* of array and sequence */
	uint64_t length;
	struct field_location *location; /* of the length or the selector, or NULL */

	/* Set by schema_resolve. */
	bool is_known; /* it comes before the field at hand */
	int *slot;     /* where the integer's value is kept for others; one, as a rule */
	size_t slots;
	int from;            /* the slot of the length or selector, or -1 */
	bool is_from_signed; /* the selector */

	int place; /* where a program notes that the field stands, or -1 */
};

struct field_class *field_new(enum field_type type);

/* Takes the member's class; copies the name. */
struct field_member *field_add_member(struct field_class *class, const char *name,
				      struct field_class *member);

const struct field_class *field_member(const struct field_class *class, const char *name);

void field_add_range(struct field_member *member, uint64_t first, uint64_t last);

void field_add_slot(struct field_class *class, int slot);

/* Copies the step; NULL is the structure around. */
void field_add_step(struct field_location *location, const char *step);

/*
 * A member's name as readers give it, part of the name: LTTng puts an underscore
 * before each in CTF 1.8, and one more before what it adds itself, a sequence's length.
 */
const char *field_name(const char *name);

/* How many bytes the smallest character has, of field_class.text. */
static inline unsigned text_unit(int text)
{
	return text ? (unsigned)abs(text) : 1;
}

/* How many of these bytes are text: all before a zero. */
size_t text_size(const char *bytes, size_t most, unsigned unit);

/* Whether an array or a sequence is one text. */
bool field_is_string(const struct field_class *class);

/* From the begin of an element of so many bits to that of the next. */
static inline uint64_t field_stride(const struct field_class *element, uint64_t bits)
{
	return (bits + element->align - 1) & ~(uint64_t)(element->align - 1);
}

/* The label of an enumeration's value, as field_name has it, or NULL. */
const char *field_label(const struct field_class *class, uint64_t value);

/* The option of a variant or an optional for its selector, or NULL. */
struct field_class *field_option(const struct field_class *class, uint64_t selector);

void field_free(struct field_class *class);

/* The structures that hold fields, in their order in packets and events. */
enum field_scope {
	SCOPE_PACKET_HEADER,
	SCOPE_PACKET_CONTEXT,
	SCOPE_EVENT_HEADER,
	SCOPE_COMMON_CONTEXT, /* of all events of a stream */
	SCOPE_SPECIFIC_CONTEXT,
	SCOPE_PAYLOAD,
	SCOPES,
};

/* Of a clock that counts nanoseconds: what values are instants; none if least > most. */
struct clock_range {
	nsec_t base_ns; /* since the epoch, at value 0, of any clock */
	uint64_t least, most;
};

/* The name of the clock of a TSDL trace that has timestamps but declares no clock. */
#define SCHEMA_DEFAULT_CLOCK "default"

struct schema_clock {
	char *name; /* in CTF 2 the id that streams refer to */
	unsigned char uuid[16];
	bool has_uuid;  /* in CTF 2, made of the clock's identity where that is none */
	char *identity; /* its own name, or NULL */
	uint64_t frequency;
	int64_t offset_s;
	uint64_t offset; /* in cycles, besides */

	struct clock_range range; /* set by schema_set_up */
};

/*
 * The event headers that LTTng and sink.ctf.fs write, read at once: a little-endian id
 * and the low bits of the stamp behind it, or the whole stamp. An id of LTTng's may say
 * instead that a longer header follows. Every event has one, so a program for it would
 * cost more than all else of an event that nobody wants.
 */
struct short_header {
	unsigned id_size, stamp_size; /* bits; stamp 0: the header is another one */
	unsigned stamp_at, size;      /* from its begin: bits, bits in all */
	uint64_t last;                /* id that is no sign of a longer header */
	int slot;                     /* of the id; -1: nobody refers to it */
};

struct schema_stream {
	uint64_t id;
	struct field_class *scope[SCOPES]; /* those of packets and of all events */

	/* Set by schema_resolve. */
	const char *clock_name; /* of all stamps in its headers, or NULL */
	unsigned stamp_size;    /* of the first in the event header, or 0 */
	bool has_stamps;        /* there is one */
	bool has_id;            /* the event header says the class */
	unsigned sequence_size, discarded_size; /* bits of the packets' counters */

	/* Set by schema_set_up. */
	const struct schema_clock *clock; /* NULL where events have no stamps */
	struct ctf_program *packet_program, *header_program;
	struct short_header short_header;  /* as the program, most often */
	struct schema_event_class **by_id; /* NULL: none has the id */
	size_t ids;

	bool can_skip; /* its packets before the reader's begin, whole */
};

/*
 * What an event's program does if it only skips, wherever it begins: padding up to
 * `align`, so many bits, and then a few times a string, which begins with a byte, and so
 * many bits.
 */
enum { CTF_STRINGS = 3 };

struct ctf_stretches {
	uint64_t bits;
	uint32_t align, strings;
	uint64_t behind[CTF_STRINGS]; /* bits after each string */
};

struct schema_event_class {
	struct trace_class known;          /* first; to the reader's caller */
	struct field_class *scope[SCOPES]; /* those of events; any may be NULL */
	enum trace_selected selected;
	enum trace_use before;
	struct trace_fields *fields; /* that are selected as cells, or NULL */

	/* For our own reader. */
	uint64_t id, stream_id;
	uint32_t index; /* among all classes of the reader */
	struct schema_stream *stream;
	struct ctf_program *program; /* of its scopes, once selecting is over */
	bool can_pass;             /* nobody wants its events, or those before a begin */
	struct ctf_stretches skip; /* its program, if so */
};

/* But for the context of the stream, which is others', too. */
void schema_event_class_clear(struct schema_event_class *class);

/* All that is known of a trace before any stream file is opened. */
struct schema {
	bool is_ctf2;
	enum byte_order order;  /* of CTF 1.8, of what does not say its own */
	unsigned char uuid[16]; /* that packets bear */
	bool has_uuid;
	struct field_class *packet_header;
	struct schema_clock *clock;
	struct schema_stream *stream;
	struct schema_event_class *event; /* of all streams */
	size_t clocks, clock_capacity, streams, stream_capacity, events, event_capacity;
	char *hostname;      /* of the environment, or NULL */
	bool is_barectf;     /* the tracer, */
	uint64_t version[3]; /* and its version; of others it does not matter */
	size_t ignored;      /* number of ignored attributes, unknown in TSDL */
	char *ignored_name;  /* the first one with its location, or NULL */

	/* Set by schema_resolve. */
	int slots; /* of roles, and of values that are kept for later fields */
	unsigned header_roles; /* that the packet header has */
	uint64_t matches;      /* of options with labels, that programs will look for */

	/* Set by schema_set_up. */
	struct ctf_program *packet_program; /* of the packet header */
	bool has_magic, is_magic_big; /* packets begin with it, and so it is written */
	bool has_early_events;        /* stamps before the begin of their packet */
};

/*
 * Find what each variant, optional and sequence refers to. -1 with error where it is not
 * there, not before it, or not an integer that can serve.
 */
int schema_resolve(struct schema *schema, struct error *error);

/* Clocks, ids of events, programs of headers. -1 with error. */
int schema_set_up(struct schema *schema, struct error *error);

void schema_free(struct schema *schema);

/*
 * The schema that a metadata file says, TSDL in packets or without, or JSON texts; what
 * it is, its content says. NULL with error.
 */
struct schema *schema_read(const char *path, struct error *error);

/*
 * The text of a metadata file, of its packets where it has some, for free(). A NUL stands
 * behind it. NULL with error.
 */
char *metadata_text(const char *path, size_t *size, struct error *error);

/*
 * The languages of metadata, CTF 1.8's and CTF 2's: NULL with error, which names the
 * place. A NUL stands behind the text.
 */
struct schema *tsdl_parse(const char *text, size_t size, struct error *error);
struct schema *json_metadata_parse(const char *text, size_t size, struct error *error);

/* A clock's value as an instant. False where it is none that can be. */
bool schema_clock_instant_slow(const struct schema_clock *clock, uint64_t value,
			       nsec_t *instant);

static inline bool clock_range_instant(const struct clock_range *range, uint64_t value,
				       nsec_t *instant)
{
	*instant = (nsec_t)((uint64_t)range->base_ns + value);
	return value >= range->least && value <= range->most;
}

static inline bool schema_clock_instant(const struct schema_clock *clock, uint64_t value,
					nsec_t *instant)
{
	return clock_range_instant(&clock->range, value, instant) ||
	       schema_clock_instant_slow(clock, value, instant);
}

/* The instant of value 0, in whole nanoseconds. False where it is none that can be. */
bool schema_clock_base(const struct schema_clock *clock, nsec_t *base_ns);

#endif
