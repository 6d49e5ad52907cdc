/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_DECLARED_H
#define CT_INPUT_DECLARED_H

#include "base/error.h"
#include "base/options.h"
#include "input/packet.h"

/*
 * Declared messages: a YAML file says which events of traces send and receive a message,
 * and by which fields the two are one (docs/formats.md, Declared messages). Such events
 * become packet events, so all else treats them as packets.
 */
#define DECLARED_FILE "messages.yaml"

/* A comparison of a field with a constant. */
struct declared_condition {
	char *field;
	enum declared_test {
		TEST_EQUAL,
		TEST_UNEQUAL,
		TEST_LESS,
		TEST_LESS_EQUAL,
		TEST_GREATER,
		TEST_GREATER_EQUAL,
	} test;
	char *text;      /* the constant; NULL: it is the integer */
	int64_t integer; /* the constant */
};

/* The events that send, or those that receive. */
struct declared_end {
	char *event;
	struct text_list key; /* names of fields */
	struct declared_condition *where;
	size_t wheres, where_capacity;
};

struct declared_message {
	const char *path; /* borrowed from the list */
	size_t line;
	char *name;                 /* the protocol; at most PACKET_NAME_MOST bytes */
	uint8_t flags;              /* those of its packets: PACKET_COUNTED, ... */
	struct declared_end end[2]; /* sent, received */
};

/* The messages that files declare, each file once; an answer follows what it answers. */
struct declared_list {
	struct declared_message **item;
	size_t count, capacity;
	struct text_list files;
};

/*
 * Append the messages of a file, unless it was read before. Set `first` to the index of
 * its first message, and `end` to the one after its last. Return 0, or -1 with error,
 * which names the file and the line.
 */
int declared_list_read(struct declared_list *list, const char *path, size_t *first,
		       size_t *end, struct error *error);

void declared_list_clear(struct declared_list *list);

struct source_list;

/*
 * Give the traces the messages that are declared for them: by each of the files, and by
 * DECLARED_FILE in the run directory and in that of their node. Return 0, or -1 with
 * error, which names the file and the line.
 */
int source_list_declare(struct source_list *list, const struct text_list *files,
			struct error *error);

#endif
