/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/metadata.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "trace/ctf/metadata_private.h"
#include "trace/ctf/resolve.h"
#include "trace/ctf/tsdl.h"

enum {
	SEPARATOR = 0x1e, /* precedes each JSON text of CTF 2 (RFC 7464) */
	MOST_DEPTH = 512, /* nesting of JSON values; a field class needs four levels */
};

#define METADATA_MAGIC 0x75d11d57u

/*
 * Offsets and sizes in bytes; the packets contain sizes in bits. The header is not
 * aligned.
 */
enum {
	UUID_AT = 4,
	UUID_SIZE = 16,
	CONTENT_AT = 24,
	SIZE_AT = 28,
	CODED_AT = 32, /* compression, encryption and checksum, one byte each */
	MAJOR_AT = 35,
	MINOR_AT = 36,
	PACKET_HEADER = 37,
	MOST_MIB = 256,
};

static uint32_t number_at(const char *bytes, bool swap)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return swap ? __builtin_bswap32(number) : number;
}

/* Return what is wrong with a packet that has `left` bytes, or NULL. */
static const char *describe_packet_fault(const char *packet, const char *first,
					 size_t left, bool swap)
{
	size_t content, whole;

	if (left < PACKET_HEADER)
		return "cut short";
	content = number_at(packet + CONTENT_AT, swap);
	whole = number_at(packet + SIZE_AT, swap);
	if (number_at(packet, swap) != METADATA_MAGIC)
		return "no metadata packet";
	if (memcmp(packet + UUID_AT, first + UUID_AT, UUID_SIZE) != 0)
		return "another trace's uuid";
	if (packet[MAJOR_AT] != 1 || packet[MINOR_AT] != 8)
		return "unsupported version (expected CTF 1.8)";
	if (packet[CODED_AT] || packet[CODED_AT + 1] || packet[CODED_AT + 2])
		return "compressed, encrypted or with a checksum (expected plain)";
	if (content % 8 || whole % 8 || content / 8 < PACKET_HEADER || content > whole)
		return "impossible size";
	return content / 8 > left ? "cut short" : NULL;
}

/*
 * Move the text of all packets to the front of `bytes`. The last packet may lack part of
 * its padding.
 */
static int join_packets(char *bytes, size_t *size, struct error *error)
{
	bool swap = number_at(bytes, false) != METADATA_MAGIC;
	char first[PACKET_HEADER] = {0};
	size_t at = 0, text = 0;

	memcpy(first, bytes, *size < sizeof(first) ? *size : sizeof(first));
	while (at < *size) {
		const char *packet = bytes + at;
		size_t left = *size - at, content, whole;
		const char *fault = describe_packet_fault(packet, first, left, swap);

		if (fault)
			return error_set(error, "packet at byte %zu: %s", at, fault);
		content = number_at(packet + CONTENT_AT, swap) / 8 - PACKET_HEADER;
		whole = number_at(packet + SIZE_AT, swap) / 8;
		memmove(bytes + text, packet + PACKET_HEADER, content);
		text += content;
		at += whole < left ? whole : left;
	}
	*size = text;
	bytes[text] = '\0';
	return 0;
}

char *metadata_text(const char *path, size_t *size, struct error *error)
{
	char *text = file_read(path, MOST_MIB, "metadata", size, error);

	if (text && (*size < 4 || (number_at(text, false) != METADATA_MAGIC &&
				   number_at(text, true) != METADATA_MAGIC)))
		return text;
	if (text && !join_packets(text, size, error))
		return text;
	free(text);
	error_prefix(error, "%s", path);
	return NULL;
}

static struct ast *read_value(struct metadata *in, const char *name);

/* Read the rest of an object or an array, up to its closing bracket. */
static void read_list(struct metadata *in, struct ast *list, char end)
{
	struct ast **last = &list->first;

	if (metadata_accept(in, end))
		return;
	do {
		const char *name = end == '}' ? in->token.text : NULL;

		if (end == '}') {
			if (in->token.kind != AST_TEXT)
				metadata_wrong(&in->token, "expected a name");
			metadata_next(in);
			metadata_expect(in, ':');
		}
		*last = read_value(in, name);
		if (name && strcmp(name, "type") == 0)
			list->text = (*last)->text;
		last = &(*last)->next;
	} while (metadata_accept(in, ','));
	metadata_expect(in, end);
}

static struct ast *read_value(struct metadata *in, const char *name)
{
	struct ast *value = ast_copy(&in->token, name);
	bool is_word = value->kind == AST_WORD;

	if (in->depth++ >= MOST_DEPTH)
		metadata_wrong(value, "values nested too deeply");
	if (metadata_is_sign(in, '{'))
		value->kind = AST_OBJECT;
	else if (metadata_is_sign(in, '['))
		value->kind = AST_ARRAY;
	else if (is_word && strcmp(value->text, "null") == 0)
		value->kind = AST_NULL;
	else if (value->kind > AST_REAL || (is_word && strcmp(value->text, "true") != 0 &&
					    strcmp(value->text, "false") != 0))
		metadata_wrong(value, "expected a JSON value");
	metadata_next(in);
	if (value->kind == AST_OBJECT)
		read_list(in, value, '}');
	else if (value->kind == AST_ARRAY)
		read_list(in, value, ']');
	in->depth--;
	return value;
}

/* Read a fragment and free its values, unless it defines a type. */
static void read_fragment(struct metadata *in)
{
	struct metadata_mark mark = metadata_mark(in);
	const struct ast *fragment = read_value(in, NULL);

	in->fragments++;
	if (in->token.kind != AST_END && !metadata_is_sign(in, SEPARATOR))
		metadata_wrong(&in->token, "expected a record separator");
	if (!metadata_failed(in))
		schema_add(fragment);
	if (metadata_failed(in))
		error_prefix(in->error, "fragment %zu", in->fragments);
	if (in->types == mark.types)
		metadata_forget(in, mark);
}

struct schema *json_metadata_parse(const char *text, size_t size, struct error *error)
{
	struct metadata in;

	metadata_init(&in, text, size, true, error);
	in.schema->order = ORDER_LITTLE;
	in.schema->is_ctf2 = true;
	while (in.token.kind != AST_END && !metadata_failed(&in))
		if (!metadata_accept(&in, SEPARATOR))
			read_fragment(&in);
	if (!in.fragments)
		metadata_wrong(&in.token, "expected a preamble");
	return metadata_finish(&in);
}

/*
 * Parse metadata of either language. JSON text of CTF 2 starts with a record separator,
 * which TSDL cannot contain.
 */
static struct schema *parse_metadata(const char *text, size_t size, struct error *error)
{
	struct schema *schema = size && text[0] == SEPARATOR
				    ? json_metadata_parse(text, size, error)
				    : tsdl_parse(text, size, error);

	if (schema && (schema_resolve(schema, error) || schema_set_up(schema, error))) {
		schema_free(schema);
		schema = NULL;
	}
	return schema;
}

struct schema *schema_read(const char *path, struct error *error)
{
	size_t size;
	AUTOFREE char *text = metadata_text(path, &size, error);
	struct schema *schema = text ? parse_metadata(text, size, error) : NULL;

	if (text && !schema)
		error_prefix(error, "%s", path);
	return schema;
}
