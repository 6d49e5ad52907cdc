/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native_records.h"

/* Our own reader where it can read the trace, else libbabeltrace2. */
struct record_source *trace_records_open(const char *path, struct error *error)
{
	struct error why = ERROR_INIT;
	struct record_source *source = native_records_open(path, NATIVE_SOUND, &why);

	error_clear(&why);
	return source ? source : babeltrace2_records_open(path, error);
}
