/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/graphite/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/output.h"

#define FORMAT "clustertrace-graphite"

int graphite_state_read(const char *path, const char *key, uint64_t *points,
			struct error *error)
{
	json_t *state;
	const char *format, *wanted;
	nsec_t count = 0;
	int status = 0;

	*points = 0;
	if (access(path, F_OK) != 0)
		return 0;
	state = json_read_object(path, error);
	if (!state)
		return -1;
	format = json_text(state, "format");
	wanted = json_text(state, "export");
	if (!format || strcmp(format, FORMAT) != 0 || !wanted ||
	    json_nsec(state, "points", &count) || count < 0)
		status = error_set(error,
				   "%s: no state of an export to graphite, want "
				   "one or a name that is free",
				   path);
	else if (strcmp(wanted, key) != 0)
		status = error_set(error,
				   "%s: the state of another export (%s), want "
				   "the same one, or another file",
				   path, wanted);
	else
		*points = (uint64_t)count;
	json_decref(state);
	return status;
}

int graphite_state_write(const char *path, const char *key, uint64_t points,
			 struct error *error)
{
	json_t *state = json_pack("{s:s, s:s, s:I}", "format", FORMAT, "export", key,
				  "points", (json_int_t)points);
	char *line = state ? json_one_line(state) : NULL;
	struct output output;
	int status = -1;

	json_decref(state);
	if (!line)
		return error_set(error, "%s: the name of the export is no UTF-8", path);
	if (output_open(&output, path, error) == 0) {
		fprintf(output.file, "%s\n", line);
		status = output_commit(&output, error);
	}
	free(line);
	return status;
}
