/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECORD_H
#define CT_INPUT_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cell.h"
#include "base/error.h"
#include "base/nsec.h"
#include "base/problem.h"
#include "input/packet_source.h"

/*
 * Every event of one source with every field, flattened to the columns of a
 * table: members of structures are joined by `_`, each option of a variant
 * has columns of its own of which only the selected one's are filled,
 * enumerations are their label where there is one, arrays of bytes are blobs,
 * other arrays JSON text. Text that is not UTF-8 is a blob of the same bytes.
 * Several columns of a class may have one name.
 */
struct record_column {
	char *name;          /* as in the source, without LTTng's leading underscore */
	enum cell_type type; /* of its cells that are not null; an enumeration's may
				be text or, without a label, integer */
	bool context;        /* of the event or stream context, not of the payload */
};

struct record_class {
	char *name; /* of the event class, "packet" of a capture */
	struct record_column *column;
	size_t columns;
};

struct record {
	nsec_t local_ns;
	uint32_t class;          /* for record_source_class */
	uint32_t stream;         /* within the source */
	int32_t cpu;             /* -1: not recorded */
	uint64_t ordinal;        /* within its stream, from 0 */
	const struct cell *cell; /* one a column of its class; until record_fn returns.
				    NULL for classes that were not chosen */
};

typedef void record_fn(void *context, const struct record *record);

struct record_source;

/* Open one CTF trace: a directory that holds a file named metadata. */
struct record_source *trace_records_open(const char *path, enum ctf_reader_kind reader,
					 struct error *error);

/* Open a capture; every packet is a record of class "packet". */
struct record_source *capture_records_open(const char *path, struct error *error);

/*
 * Leave out the cells of the classes to which `wants` says no, which saves
 * decoding them. Called before the first step; it always gives the same answer.
 */
typedef bool record_wish_fn(void *context, const struct record_class *class);

void record_source_choose(struct record_source *source, record_wish_fn *wants,
			  void *context);

/* Of what use the records of a class are that lie before the begin. */
enum record_use {
	RECORD_NEEDED,  /* they are wanted */
	RECORD_COUNTED, /* but for the ordinals of those from the begin on */
	RECORD_UNUSED,
};

typedef enum record_use record_use_fn(void *context, const struct record_class *class);

/*
 * What lies before a local time may be left out but for what `use` says, up to the first
 * record of each stream that does not. Facts then tell of what was read. Called before
 * the first step.
 */
void record_source_begin(struct record_source *source, nsec_t local_ns,
			 record_use_fn *use, void *context);

/* Read about so many records a step, not more: a caller of many sources keeps a step of
 * each. */
void record_source_pace(struct record_source *source, uint64_t records);

/*
 * Read some more (milliseconds of work) and hand every record to `give`, in
 * the order of the source's clock; a stream whose own stamps go backwards
 * keeps its order. Input that breaks ends the source and becomes a problem.
 */
enum step record_source_step(struct record_source *source, record_fn *give,
			     void *context);

/* A class that a record named; it stays until the source is freed. */
const struct record_class *record_source_class(const struct record_source *source,
					       uint32_t index);

const struct packet_source_facts *record_source_facts(const struct record_source *source);

/* What was odd; the list belongs to the source, its caller may move it away. */
struct problem_list *record_source_problems(struct record_source *source);

void record_source_free(struct record_source *source);

#endif
