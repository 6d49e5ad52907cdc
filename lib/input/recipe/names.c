/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/names.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

/* From `least` to `most` characters of `rest`, the first of them also in `first`. */
static bool is_made_of(const char *text, const char *first, const char *rest, size_t most)
{
	size_t length = strspn(text, rest);

	return length > 0 && length <= most && !text[length] &&
	       memchr(first, *text, strlen(first));
}

const char *recipe_check_file(const char *name)
{
	return is_made_of(name, LETTERS DIGITS "_", LETTERS DIGITS "_.-", 64)
		   ? NULL
		   : "up to 64 letters, digits, '.', '_' and '-', beginning with a "
		     "letter, digit or '_'";
}

const char *recipe_check_key(const char *name)
{
	return is_made_of(name, LETTERS "_", LETTERS DIGITS "_-", 40)
		   ? NULL
		   : "up to 40 letters, digits, '_' and '-', beginning with a letter";
}

const char *recipe_check_user(const char *name)
{
	return is_made_of(name, LETTERS DIGITS "_", LETTERS DIGITS "_.@+-", 64)
		   ? NULL
		   : "a user name";
}

static bool is_ipv6(const char *text)
{
	const char *zone = strchr(text, '%');
	char *bare = mem_strndup(text, zone ? (size_t)(zone - text) : strlen(text));
	struct in6_addr address;
	bool is =
	    inet_pton(AF_INET6, bare, &address) == 1 &&
	    (!zone || is_made_of(zone + 1, LETTERS DIGITS, LETTERS DIGITS "_.-", 15));

	free(bare);
	return is;
}

const char *recipe_check_address(const char *address)
{
	if (is_made_of(address, LETTERS DIGITS "_", LETTERS DIGITS "_.-", 253) ||
	    is_ipv6(address))
		return NULL;
	return *address == '-' ? "a host name or address, which never begins with '-'"
			       : "a host name or address";
}

const char *recipe_check_interface(const char *name)
{
	return is_made_of(name, LETTERS DIGITS "_", LETTERS DIGITS "_.:@-", 32)
		   ? NULL
		   : "the name of a network interface";
}

const char *recipe_check_event(const char *name)
{
	return is_made_of(name, LETTERS DIGITS "_*?", LETTERS DIGITS "_*?:.@$-", 255)
		   ? NULL
		   : "the name of an event or a pattern with '*'";
}

const char *recipe_check_device(const char *name)
{
	return is_made_of(name, LETTERS DIGITS "_/", LETTERS DIGITS "_./:@+-", 255)
		   ? NULL
		   : "the name of a device or the path of a file system";
}

const char *recipe_check_sensor(const char *name)
{
	return is_made_of(name, LETTERS DIGITS "_", LETTERS DIGITS "_./:-", 64)
		   ? NULL
		   : "up to 64 letters, digits, '.', '_', '/', ':' and '-'";
}

/* The host and the port after an '@', if there was one. */
static const char *parse_host(const char *text, struct recipe_destination *destination)
{
	const char *end, *port = NULL;
	int64_t number;

	if (*text == '[') {
		end = strchr(++text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return "an IPv6 address within '[' and ']'";
		port = end[1] ? end + 2 : NULL;
	} else {
		end = strchr(text, ':');
		if (end && !strchr(end + 1, ':'))
			port = end + 1;
		else
			end = text + strlen(text); /* none, or IPv6 */
	}
	destination->address = mem_strndup(text, (size_t)(end - text));
	if (port) {
		if (number_integer(port, &number) || number < 1 || number > 65535)
			return "a port from 1 to 65535 after the last ':'";
		destination->port = (int)number;
	}
	return recipe_check_address(destination->address);
}

const char *recipe_parse_destination(const char *text,
				     struct recipe_destination *destination)
{
	const char *at = strrchr(text, '@'), *wanted;

	memset(destination, 0, sizeof(*destination));
	if (at) {
		destination->user = mem_strndup(text, (size_t)(at - text));
		wanted = recipe_check_user(destination->user);
		if (wanted)
			return "a user name before the '@'";
		text = at + 1;
	}
	return parse_host(text, destination);
}

void recipe_destination_clear(struct recipe_destination *destination)
{
	free(destination->user);
	free(destination->address);
	memset(destination, 0, sizeof(*destination));
}
