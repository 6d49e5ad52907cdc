/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/faults.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FAULTS_TOLD    4   /* different texts of one sort */
#define FAULTS_LONGEST 400 /* bytes of a text: it quotes what may be a megabyte */

void faults_init(struct faults *faults, const char *path, struct problem_list *problems)
{
	memset(faults, 0, sizeof(*faults));
	faults->problems = problems;
	faults->path = path;
}

/* The problem that this one is counted with, or NULL where it is a new one. */
static struct problem *counted_with(const struct faults *faults, const char *format,
				    const char *text, size_t most)
{
	const size_t room = sizeof(faults->seen) / sizeof(*faults->seen);
	struct problem *last = NULL;
	size_t told = 0;

	for (size_t i = 0; i < faults->seens; i++) {
		if (faults->seen[i].format != format)
			continue;
		last = &faults->problems->item[faults->seen[i].problem];
		if (strcmp(last->text, text) == 0)
			return last;
		told++;
	}
	if (told < most && faults->seens < room)
		return NULL;
	return last ? last : &faults->problems->item[faults->seen[room - 1].problem];
}

/*
 * What is quoted comes from a file and ends at somebody's terminal: no control
 * characters, and no endless lines.
 */
static void tame(char *text)
{
	size_t length = strlen(text);

	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '\x7f')
			*at = '?';
	if (length < FAULTS_LONGEST + 3)
		return;
	/* Not within a character of UTF-8. */
	for (length = FAULTS_LONGEST; length && (text[length] & 0xc0) == 0x80;)
		length--;
	strcpy(text + length, "...");
}

void faults_add(struct faults *faults, const char *kind, uint64_t line,
		const char *format, ...)
{
	struct problem *with;
	va_list arguments;
	char *text, *place;

	va_start(arguments, format);
	text = mem_vprintf(format, arguments);
	va_end(arguments);
	tame(text);
	/* Of a file as a whole there is no endless number of faults. */
	with = counted_with(faults, format, text, line ? FAULTS_TOLD : SIZE_MAX);
	if (with) {
		with->count++;
	} else {
		faults->seen[faults->seens++] =
		    (struct fault_seen){format, faults->problems->count};
		place = line ? mem_printf("%s:%" PRIu64, faults->path, line)
			     : mem_strdup(faults->path);
		problem_add(faults->problems, place, kind, 1, "%s", text);
		free(place);
	}
	free(text);
}
