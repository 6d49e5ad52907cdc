/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/records.h"

/* Our own reader where it can read the trace, else libbabeltrace2. */
static struct record_source *open_either(const char *path, struct reader_choice *choice,
					 struct error *error)
{
	struct error why = ERROR_INIT;
	struct record_source *source = native_records_open(path, &why);

	if (!source) {
		source = babeltrace2_records_open(path, error);
		if (source)
			reader_choice_tell(choice, error_text(&why));
	}
	error_clear(&why);
	return source;
}

struct record_source *trace_records_open(const char *path, struct reader_choice *choice,
					 struct error *error)
{
	switch (choice ? choice->kind : READER_AUTO) {
	case READER_NATIVE:
		return native_records_open(path, error);
	case READER_BABELTRACE2:
		return babeltrace2_records_open(path, error);
	case READER_AUTO:
		break;
	}
	return open_either(path, choice, error);
}
