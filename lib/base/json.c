/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

json_t *json_read_object(const char *path, struct error *error)
{
	json_error_t cause;
	json_t *root;
	FILE *file = fopen(path, "r");

	if (!file) {
		error_errno(error, path);
		return NULL;
	}
	root = json_loadf(file, JSON_REJECT_DUPLICATES, &cause);
	fclose(file);
	if (!root) {
		error_set(error, "%s:%d:%d: no JSON: %s", path, cause.line, cause.column,
			  cause.text);
		return NULL;
	}
	if (!json_is_object(root)) {
		error_set(error, "%s: no JSON object", path);
		json_decref(root);
		return NULL;
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
		error_set(error, "no JSON object");
	else
		error_set(error, "no JSON: %s at %d", cause.text, cause.position);
	json_decref(root);
	return NULL;
}

char *json_one_line(const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	/* It fails for what cannot be encoded, which was never read, and for memory. */
	return text ? text : mem_strdup("null");
}

const char *json_text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
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

void json_add_string(struct bytes *text, const char *string, size_t size)
{
	bytes_add_byte(text, '"');
	for (size_t i = 0, step; i < size; i += step) {
		unsigned char c = (unsigned char)string[i];
		char escape[8];

		step = utf8_length_within(string + i, size - i);
		if (!step) {
			step = 1;
			bytes_add(text, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
		} else if (c < 0x20) {
			snprintf(escape, sizeof(escape), "\\u%04x", c);
			bytes_add(text, escape, 6);
		} else {
			if (c == '"' || c == '\\')
				bytes_add_byte(text, '\\');
			bytes_add(text, string + i, step);
		}
	}
	bytes_add_byte(text, '"');
}
