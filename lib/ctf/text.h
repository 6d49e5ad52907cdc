/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_TEXT_H
#define CT_CTF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
void ctf_text_add_integer(struct ctf_text *text, uint64_t value, bool is_signed);

void ctf_text_clear(struct ctf_text *text);

#endif
