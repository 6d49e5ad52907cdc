/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_MESSAGE_FILE_H
#define CT_TESTS_BENCH_MESSAGE_FILE_H

#include "base/error.h"
#include "clock/map.h"

/* A row of messages.csv; its names are borrowed until the next one is read. */
struct message_row {
	const char *send_node, *recv_node;
	nsec_t send_ns, recv_ns;
};

typedef void message_taker(void *own, const struct message_row *row);

/* Hand every row of a file to a function. 0, or -1 with error. */
int message_file_read(const char *path, message_taker *take, void *own,
		      struct error *error);

/*
 * Count the messages that were received before they were sent by the corrected clocks of
 * a map, without those between clocks that it does not tie.
 */
int message_file_inverted(const char *path, const struct clock_map *map, uint64_t *count,
			  struct error *error);

#endif
