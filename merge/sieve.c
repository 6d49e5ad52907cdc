/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/sieve.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/links.h"
#include "merge/process_plan.h"

enum { ASKED = 128, TELLS = 64 }; /* TELLS: its context tells of the thread */

/* Contexts such as `tid` tell the thread without the rest of the payload. */
static bool has_context(const struct ctf_class *class)
{
	for (size_t i = 0; i < class->columns; i++)
		if (class->column[i].context)
			return true;
	return false;
}

static unsigned char ask(const struct sieve *sieve, const struct ctf_class *class)
{
	unsigned use = ASKED, tells = process_class_tells(class);

	if (selection_has_class(sieve->selection, class->name))
		use |= SIEVE_SELECTED;
	if (tells & PROCESS_TELLS_FIELDS)
		use |= SIEVE_FOLLOWED;
	if (tells & PROCESS_TELLS_CONTEXT)
		use |= TELLS;
	if (sieve->payload || use & SIEVE_FOLLOWED || has_context(class))
		use |= SIEVE_CELLS;
	return (unsigned char)use;
}

void sieve_init(struct sieve *sieve, const struct selection *selection, bool payload)
{
	memset(sieve, 0, sizeof(*sieve));
	sieve->selection = selection;
	sieve->payload = payload;
}

enum sieve_use sieve_use(struct sieve *sieve, const struct ctf_class *class,
			 uint32_t index, nsec_t ts_ns)
{
	unsigned use;

	while (index >= sieve->uses) {
		sieve->use = mem_grow(sieve->use, sieve->uses, &sieve->room, 1);
		sieve->use[sieve->uses++] = 0;
	}
	if (!sieve->use[index])
		sieve->use[index] = ask(sieve, class);
	use = sieve->use[index];
	if (ts_ns < sieve->selection->begin_ns) {
		/* What selected events tell of processes holds before them, too. */
		if (use & SIEVE_SELECTED && use & TELLS)
			use |= SIEVE_FOLLOWED;
		use &= ~(unsigned)SIEVE_SELECTED;
	}
	use &= SIEVE_SELECTED | SIEVE_FOLLOWED | SIEVE_CELLS;
	if (ts_ns > sieve->selection->end_ns ||
	    !(use & (SIEVE_SELECTED | SIEVE_FOLLOWED)))
		return SIEVE_NOTHING;
	return (enum sieve_use)use;
}

bool sieve_wants_cells(const struct sieve *sieve, const struct ctf_class *class)
{
	unsigned use = ask(sieve, class);

	return use & SIEVE_CELLS && use & (SIEVE_SELECTED | SIEVE_FOLLOWED);
}

enum ctf_use sieve_use_before(const struct sieve *sieve, const struct ctf_class *class)
{
	unsigned use = ask(sieve, class);

	if (use & SIEVE_FOLLOWED || (use & SIEVE_SELECTED && use & TELLS))
		return CTF_NEEDED;
	return links_wants(class) ? CTF_COUNTED : CTF_UNUSED;
}

bool sieve_is_past(const struct sieve *sieve, nsec_t ts_ns)
{
	return ts_ns > sieve->selection->end_ns;
}

void sieve_clear(struct sieve *sieve)
{
	free(sieve->use);
	memset(sieve, 0, sizeof(*sieve));
}
