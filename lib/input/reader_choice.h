/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_READER_CHOICE_H
#define CT_INPUT_READER_CHOICE_H

enum reader_kind {
	READER_AUTO, /* ours where it can read the trace, else libbabeltrace2 */
	READER_NATIVE,
	READER_BABELTRACE2,
};

/* Which reader is to read a trace, and what became of it. */
struct reader_choice {
	enum reader_kind kind;
	char *why; /* why libbabeltrace2 reads although READER_AUTO was asked for, or
		      NULL; for free() */
};

/* "auto", "native", "babeltrace2". 0, or -1 where the name is none. */
int reader_kind_find(const char *name, enum reader_kind *kind);

/* Keep the reason why libbabeltrace2 reads, unless there is one; copies it. NULL:
 * nothing. */
void reader_choice_tell(struct reader_choice *choice, const char *why);

#endif
