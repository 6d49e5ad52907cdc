/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/events.h"
#include "timeline/query.h"

struct wishing {
	struct events_wishes *wishes;
	const struct text_list *globs;
};

static bool is_wanted(const struct text_list *globs, const char *class)
{
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->item[i], class, 0) == 0)
			return true;
	return globs->count == 0;
}

/* Takes the name. */
static struct events_wish *wish_of(struct events_wishes *wishes, char *class)
{
	for (size_t i = 0; i < wishes->count; i++)
		if (strcmp(wishes->item[i].class, class) == 0) {
			free(class);
			return &wishes->item[i];
		}
	wishes->item =
	    mem_grow(wishes->item, wishes->count, &wishes->room, sizeof(*wishes->item));
	wishes->item[wishes->count] =
	    (struct events_wish){.class = class, .tag = (int)wishes->count};
	return &wishes->item[wishes->count++];
}

/* A row: class, field or NULL, whether it is of the context. */
static int add_field(void *own, const struct cell *row, struct error *error)
{
	const struct wishing *wishing = own;
	char *class = cell_text(&row[0]), *field;
	struct events_wish *wish;
	size_t n = 0;

	if (!is_wanted(wishing->globs, class)) {
		free(class);
		return 0;
	}
	wish = wish_of(wishing->wishes, class);
	if (row[1].type != CELL_TEXT)
		return 0;
	field = mem_printf("%s%.*s", cell_integer(&row[2], 0) ? EVENTS_CONTEXT : "",
			   (int)row[1].size, row[1].bytes);
	while (n < EVENTS_FIELDS && wish->field[n] && strcmp(wish->field[n], field) != 0)
		n++;
	if (n == EVENTS_FIELDS) {
		free(field);
		return error_set(error, "%s: more than %d fields", wish->class,
				 EVENTS_FIELDS);
	}
	if (wish->field[n])
		free(field);
	else
		wish->field[n] = field;
	return 0;
}

int events_wish_all(struct events_wishes *wishes, struct timeline_reader *reader,
		    const struct text_list *globs, struct error *error)
{
	struct wishing wishing = {wishes, globs};

	return query_rows(reader,
			  "SELECT c.name, f.name, f.context FROM event_class AS c LEFT "
			  "JOIN event_column AS f ON f.class = c.id"
			  " ORDER BY c.id, f.context DESC, f.position",
			  NULL, add_field, &wishing, error);
}

void events_wishes_clear(struct events_wishes *wishes)
{
	for (size_t i = 0; i < wishes->count; i++) {
		for (size_t k = 0; k < EVENTS_FIELDS; k++)
			free((char *)wishes->item[i].field[k]);
		free((char *)wishes->item[i].class);
	}
	free(wishes->item);
	*wishes = (struct events_wishes){.item = NULL};
}
