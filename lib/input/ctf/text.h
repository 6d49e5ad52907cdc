/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_TEXT_H
#define CT_INPUT_CTF_TEXT_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes that grow, and are used again for the next event. Zeroed is empty. */
struct ctf_text {
	char *data;
	size_t size, room;
};

/* So many more bytes, to be filled in. */
char *ctf_text_more(struct ctf_text *text, size_t size);

void ctf_text_add(struct ctf_text *text, const char *bytes, size_t size);

/* As JSON: a string with its quotes, a number with so many digits. */
void ctf_text_add_string(struct ctf_text *text, const char *bytes, size_t size);
void ctf_text_add_real(struct ctf_text *text, double real, int digits);

/*
 * Append a field of any class as JSON: numbers, labels and strings, arrays,
 * structures as objects, and of a variant the selected option. JSON has no
 * infinite numbers and no text that is not UTF-8: those become null, and U+FFFD
 * for each byte that fits nowhere.
 */
void ctf_text_add_json(struct ctf_text *text, const bt_field *field);

void ctf_text_clear(struct ctf_text *text);

#endif
