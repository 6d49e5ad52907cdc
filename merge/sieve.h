/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SIEVE_H
#define CT_MERGE_SIEVE_H

#include "ctf/reader.h"
#include "merge/select.h"

/*
 * What becomes of a source's events: which are selected, which others are still
 * needed to follow threads and processes, and whose cells are of use. Asked for
 * each event, so what is known of a class is kept by its index.
 */
enum sieve_use {
	SIEVE_NOTHING = 0,
	SIEVE_SELECTED = 1, /* becomes a row */
	SIEVE_FOLLOWED = 2, /* threads or processes are followed by it */
	SIEVE_CELLS = 4,    /* its cells are of use */
};

struct sieve {
	const struct selection *selection;
	bool payload;
	unsigned char *use; /* by class; 0: not asked yet */
	size_t uses, room;
};

void sieve_init(struct sieve *sieve, const struct selection *selection, bool payload);

enum sieve_use sieve_use(struct sieve *sieve, const struct ctf_class *class,
			 uint32_t index, nsec_t ts_ns);

/* Whether a class's cells are of use, whatever the time. */
bool sieve_wants_cells(const struct sieve *sieve, const struct ctf_class *class);

/* Of what use a class is before the selection's begin. */
enum ctf_use sieve_use_before(const struct sieve *sieve, const struct ctf_class *class);

/* Whether nothing of use can come any more of a source that has come so far. */
bool sieve_is_past(const struct sieve *sieve, nsec_t ts_ns);

void sieve_clear(struct sieve *sieve);

#endif
