/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

/* Jansson's callers do not check each call: what it cannot allocate would be missing from
 * the output. */
__attribute__((constructor)) static void set_allocator(void)
{
	json_set_alloc_funcs(mem_alloc, free);
}

struct json_file {
	FILE *file;
	int cause; /* errno of a read that failed, which jansson treats as the end */
};

static size_t read_file(void *buffer, size_t size, void *context)
{
	struct json_file *in = context;
	size_t count = in->cause ? 0 : fread(buffer, 1, size, in->file);

	if (ferror(in->file) && !in->cause)
		in->cause = errno;
	return count;
}

json_t *json_read(const char *path, struct error *error)
{
	json_error_t cause;
	json_t *root;
	FILE *file = fopen(path, "r");
	struct json_file in = {file, 0};

	if (!file) {
		error_errno(error, path);
		return NULL;
	}
	root = json_load_callback(read_file, &in, JSON_REJECT_DUPLICATES, &cause);
	if (in.cause) {
		error_set(error, "%s: %s", path, strerror(in.cause));
		json_decref(root);
		root = NULL;
	} else if (!root) {
		error_set(error, "%s:%d:%d: invalid JSON: %s", path, cause.line,
			  cause.column, cause.text);
	}
	fclose(file);
	return root;
}

json_t *json_read_object(const char *path, struct error *error)
{
	json_t *root = json_read(path, error);

	if (root && !json_is_object(root)) {
		error_set(error, "%s: not a JSON object", path);
		json_decref(root);
		root = NULL;
	}
	return root;
}

json_t *json_parse_object(const char *text, size_t length, struct error *error)
{
	json_error_t cause;
	json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &cause);

	if (root && json_is_object(root))
		return root;
	if (root)
		error_set(error, "not a JSON object");
	else
		error_set(error, "invalid JSON: %s at byte %d", cause.text,
			  cause.position);
	json_decref(root);
	return NULL;
}

char *json_one_line(const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	/* json_dumps() fails for values that cannot be encoded, which were never read. */
	return text ? text : mem_strdup("null");
}

void json_write_lines(FILE *file, const json_t *value, size_t indent)
{
	json_dumpf(value, file, JSON_INDENT(indent) | JSON_REAL_PRECISION(15));
	fputc('\n', file);
}

const char *json_text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

void json_set_text(json_t *object, const char *name, const char *text)
{
	AUTOFREE char *clean = text ? utf8_clean(text) : NULL;

	json_object_set_new(object, name, clean ? json_string(clean) : json_null());
}

int json_nsec(const json_t *object, const char *name, nsec_t *value)
{
	const json_t *member = json_object_get(object, name);

	if (!json_is_integer(member))
		return -1;
	*value = json_integer_value(member);
	return 0;
}

const char *json_library_version(void)
{
	return jansson_version_str();
}

/* Return how many of the first characters need no escape. */
static size_t plain_length(const char *text, size_t size)
{
	size_t length = 0;

	while (length < size && (unsigned char)text[length] >= 0x20 &&
	       (unsigned char)text[length] < 0x80 && text[length] != '"' &&
	       text[length] != '\\')
		length++;
	return length;
}

static void add_escape(struct bytes *out, unsigned char byte)
{
	if (byte == '"' || byte == '\\')
		bytes_print(out, "\\%c", byte);
	else if (byte < 0x20)
		bytes_print(out, "\\u%04x", byte);
	else
		bytes_add_byte(out, byte);
}

void json_add_text(struct bytes *out, const char *text, size_t size)
{
	bytes_add_byte(out, '"');
	while (size) {
		size_t length = plain_length(text, size);

		bytes_add(out, text, length);
		text += length;
		size -= length;
		if (!size)
			break;
		length = utf8_length_within(text, size);
		if (!length)
			bytes_add_text(out, UTF8_REPLACEMENT);
		else if (length > 1)
			bytes_add(out, text, length);
		else
			add_escape(out, (unsigned char)*text);
		text += length ? length : 1;
		size -= length ? length : 1;
	}
	bytes_add_byte(out, '"');
}

void json_add_word(struct bytes *out, const char *text)
{
	json_add_text(out, text, strlen(text));
}

void json_add_real(struct bytes *out, double number)
{
	char text[NUMBER_TEXT];

	bytes_add_text(out, number_print(text, number));
}
