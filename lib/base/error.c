/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Takes ownership of `text`. */
static int replace_text(struct error *error, char *text, bool misuse)
{
	free(error->text);
	*error = (struct error){.text = text, .misuse = misuse};
	return -1;
}

int error_set(struct error *error, const char *format, ...)
{
	return replace_text(error, MEM_VPRINTF(format), false);
}

int error_misuse(struct error *error, const char *format, ...)
{
	return replace_text(error, MEM_VPRINTF(format), true);
}

int error_prefix(struct error *error, const char *format, ...)
{
	AUTOFREE char *place = MEM_VPRINTF(format);

	return replace_text(error, mem_printf("%s: %s", place, error_text(error)),
			    error->misuse);
}

int error_errno(struct error *error, const char *place)
{
	return error_set(error, "%s: %s", place, strerror(errno));
}

const char *error_text(const struct error *error)
{
	return error->text ? error->text : "";
}

void error_print(struct error *error, const char *program, FILE *file)
{
	if (error->text) {
		fprintf(file, "%s: ", program);
		utf8_print(file, error->text);
		fputc('\n', file);
	}
	error_clear(error);
}

void error_clear(struct error *error)
{
	free(error->text);
	*error = (struct error)ERROR_INIT;
}
