/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_TEXTS_H
#define CT_BASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/intmap.h"

/* Texts that come again and again, each kept once and numbered. Zeroed is empty. */
struct texts {
	struct texts_entry {
		char *text;
		size_t size;
		int64_t next; /* another with its hash, or -1 */
	} * entry;
	size_t count, room;
	struct intmap first; /* by hash: the latest entry with it */
};

/* The number of a text, from 0 on in the order of their coming; copies it. */
size_t texts_put(struct texts *texts, const char *text);

/* The same of any bytes. */
size_t texts_put_bytes(struct texts *texts, const char *bytes, size_t size);

/* The text of a number; borrowed until the clear. */
const char *texts_get(const struct texts *texts, size_t number);

void texts_clear(struct texts *texts);

#endif
