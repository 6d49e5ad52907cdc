/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objects POINT COMMANDS: print what run.json gets from a run directory, which may be
 * another user's. POINT is what `ctrecipe json` printed; its name, run, parameters and
 * probes become an object without its closing brace on the first line, and its recipe the
 * second line. Each file in the directory COMMANDS is an object, which becomes an element
 * of a list. A file that is not valid is skipped.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { MOST_MIB = 64 };

/* Print JSON text with control characters beyond ASCII as \u0085; they are within
 * strings. */
static void print_json(const char *text)
{
	while (*text) {
		size_t length = utf8_length(text);

		if (length == 2 && utf8_is_control(text))
			printf("\\u%04x", (text[0] & 0x1f) << 6 | (text[1] & 0x3f));
		else
			fwrite(text, 1, length ? length : 1, stdout);
		text += length ? length : 1;
	}
}

/* Read a file that must be one object, and drop the control characters of ASCII from its
 * text. Return NULL with error; the caller frees both. */
static json_t *read_object(const char *path, char **text, struct error *error)
{
	size_t size, kept = 0;
	json_t *object;

	*text = file_read(path, MOST_MIB, NULL, &size, error);
	if (!*text) {
		error_prefix(error, "%s", path);
		return NULL;
	}
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)(*text)[i] >= ' ' && (*text)[i] != '\177')
			(*text)[kept++] = (*text)[i];
	(*text)[kept] = '\0';
	object = json_parse_object(*text, kept, error);
	if (!object)
		error_prefix(error, "%s", path);
	return object;
}

static void print_member(const char *before, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	AUTOFREE char *text = value ? json_one_line(value) : NULL;

	if (!text)
		return;
	printf("%s\"%s\":", before, name);
	print_json(text);
}

static void print_point(const json_t *point)
{
	const json_t *recipe = json_object_get(point, "recipe");
	AUTOFREE char *text = recipe ? json_one_line(recipe) : NULL;
	const char *before = "{";

	for (const char *const *name = (const char *const[]){"name", "run", NULL}; *name;
	     name++)
		if (json_text(point, *name)) {
			print_member(before, point, *name);
			before = ",";
		}
	if (json_is_object(json_object_get(point, "parameters")))
		print_member(before, point, "parameters");
	else
		printf("%s\"parameters\":{}", before);
	if (json_is_array(json_object_get(point, "probes")))
		print_member(",", point, "probes");
	putchar('\n');
	print_json(text ? text : "null");
	putchar('\n');
}

static bool print_error(struct error *error)
{
	error_print(error, "ctcollect", stderr);
	return false;
}

/* Print the objects of the directory in the order of their names. Return false if any was
 * skipped. */
static bool print_commands(const char *directory)
{
	struct error error = ERROR_INIT;
	const char *before = "\n  ";
	struct dirent **entry;
	int count = scandir(directory, &entry, NULL, alphasort);
	bool is_whole =
	    count >= 0 || print_error((error_errno(&error, directory), &error));

	for (int i = 0; i < count; i++) {
		AUTOFREE char *path = mem_printf("%s/%s", directory, entry[i]->d_name);
		AUTOFREE char *text = NULL;
		bool is_hidden = entry[i]->d_name[0] == '.';
		json_t *object = is_hidden ? NULL : read_object(path, &text, &error);

		if (object) {
			fputs(before, stdout);
			print_json(text);
			before = ",\n  ";
		} else if (!is_hidden) {
			is_whole = print_error(&error);
		}
		json_decref(object);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
	return is_whole;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;
	AUTOFREE char *text = NULL;
	json_t *point;
	bool is_whole;

	if (argc != 3)
		return 2;
	point = read_object(argv[1], &text, &error);
	is_whole = point || print_error(&error);
	print_point(point);
	json_decref(point);
	is_whole &= print_commands(argv[2]);
	return fflush(stdout) || ferror(stdout) || !is_whole;
}
