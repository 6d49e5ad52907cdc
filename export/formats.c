/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"

const struct export_format *const export_formats[] = {
    &export_opendc,   &export_parquet,  &export_csv,      &export_json,
    &export_graphite, &export_perfetto, &export_tracekit, NULL,
};

const struct export_format *export_format_find(const char *name, struct error *error)
{
	enum { MOST = sizeof(export_formats) / sizeof(*export_formats) };
	const char *names[MOST];
	const char *meant;
	char *all;
	size_t count = 0;

	for (; export_formats[count]; count++) {
		names[count] = export_formats[count]->name;
		if (strcmp(name, names[count]) == 0)
			return export_formats[count];
	}
	all = mem_strdup("");
	for (size_t i = 0; i < count; i++) {
		char *more = mem_printf("%s%s%s", all, i ? ", " : "", names[i]);

		free(all);
		all = more;
	}
	meant = near_find(name, names, count);
	if (meant)
		error_set(error, "%s: no such format, do you mean %s?", name, meant);
	else
		error_set(error, "%s: no such format, want one of %s", name, all);
	free(all);
	return NULL;
}

void *export_options_new(const struct export_format *format)
{
	void *options = format->rows ? mem_zalloc(format->options_size) : NULL;

	if (format->defaults)
		format->defaults(options);
	return options;
}

void export_options_free(const struct export_format *format, void *options)
{
	struct option_row row[EXPORT_OPTION_ROWS] = {{0}};
	size_t rows = options ? format->rows(options, row) : 0;

	for (size_t i = 0; i < rows; i++) {
		if (row[i].kind == OPTION_STRING)
			free(*(char **)row[i].target);
		else if (row[i].kind == OPTION_LIST)
			text_list_clear(row[i].target);
	}
	free(options);
}
