/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_DISK_NAMES_H
#define CT_ANALYZE_DISK_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "timeline/reader.h"

/* Names of disks, from lttng_statedump_block_device where that was recorded. Zeroed is
 * empty. */
struct disk_names {
	struct disk_name {
		int64_t node, dev;
		char *text;
	} * item;
	size_t count, room;
};

int disk_names_read(struct disk_names *names, struct timeline_reader *reader,
		    struct error *error);

/* "vda"; the numbers, as "254:0", where there is no name. Good as long as the names. */
const char *disk_names_find(struct disk_names *names, int64_t node, int64_t dev);

void disk_names_clear(struct disk_names *names);

#endif
