/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_IDS_H
#define CT_EXPORT_OPENDC_IDS_H

#include "base/bytes.h"
#include "base/cell.h"
#include "base/intmap.h"

/* Ids of tasks, numbers or texts, to their indexes in the order of coming. */
struct opendc_ids {
	struct intmap first; /* of a number, or of a text's hash: index */
	struct opendc_id *id;
	size_t ids, room;
	struct bytes text;
};

enum { OPENDC_NO_ID = -1 };

/* Add one; its index, or OPENDC_NO_ID where it is there already. */
int64_t opendc_ids_add(struct opendc_ids *ids, const struct cell *cell);

/* Its index; OPENDC_NO_ID: not there. */
int64_t opendc_ids_find(const struct opendc_ids *ids, const struct cell *cell);

/* An id in words; for free(). */
char *opendc_id_text(const struct cell *cell);
char *opendc_ids_text(const struct opendc_ids *ids, int64_t index);

void opendc_ids_clear(struct opendc_ids *ids);

#endif
