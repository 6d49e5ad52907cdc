/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/markup.h"

const char *markup_entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

bool markup_allows(const char *character, size_t length)
{
	const unsigned char *byte = (const unsigned char *)character;

	switch (length) {
	case 1:
		return byte[0] == '\t' || byte[0] == '\n' ||
		       (byte[0] >= ' ' && byte[0] != 0x7f);
	case 2:
		return byte[0] != 0xc2 || byte[1] >= 0xa0;
	case 3:
		return byte[0] != 0xef || byte[1] != 0xbf || byte[2] < 0xbe;
	default:
		return true;
	}
}
