/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "message_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static int parse(char *line, struct message_row *row)
{
	char *rest = line, *send, *recv;

	row->send_node = strsep(&rest, ",");
	send = strsep(&rest, ",");
	row->recv_node = strsep(&rest, ",");
	recv = strsep(&rest, ",");
	return rest || !recv || number_integer(send, &row->send_ns) ||
		       number_integer(recv, &row->recv_ns)
		   ? -1
		   : 0;
}

int message_file_read(const char *path, message_taker *take, void *own,
		      struct error *error)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t capacity = 0;
	int status = 0;

	if (!file)
		return error_errno(error, path);
	for (unsigned long n = 1; !status && getline(&line, &capacity, file) > 0; n++) {
		struct message_row row;

		if (n == 1)
			continue;
		line[strcspn(line, "\r\n")] = '\0';
		if (parse(line, &row))
			status = error_set(error, "%s:%lu: no message", path, n);
		else
			take(own, &row);
	}
	free(line);
	fclose(file);
	return status;
}

struct inversions {
	const struct clock_map *map;
	uint64_t count;
};

static void look(void *own, const struct message_row *row)
{
	struct inversions *inversions = own;
	const struct clock *send = clock_map_find(inversions->map, row->send_node);
	const struct clock *recv = clock_map_find(inversions->map, row->recv_node);

	if (send && recv && strcmp(send->reference, recv->reference) == 0)
		inversions->count +=
		    clock_correct(send, row->send_ns) > clock_correct(recv, row->recv_ns);
}

int message_file_inverted(const char *path, const struct clock_map *map, uint64_t *count,
			  struct error *error)
{
	struct inversions inversions = {map, 0};
	int status = message_file_read(path, look, &inversions, error);

	*count = inversions.count;
	return status;
}
