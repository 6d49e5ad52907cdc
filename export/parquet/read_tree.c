/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "export/parquet/read_private.h"

/* Levels fit a byte, and paths stay short enough to be told. */
enum { MOST_DEPTH = 16, MOST_NAME = 1 << 16, MOST_LENGTH = 1 << 29 };

struct tree {
	struct parquet_reader *reader;
	const struct parquet_read_element *element;
	size_t elements, at;
	const struct parquet_read_element *above[MOST_DEPTH]; /* without the root */
	unsigned depth;
};

/* Names are bytes of the file: a 0 among them ends the name. */
static char *path_of(const struct tree *tree)
{
	char *path = mem_strdup("");

	for (unsigned i = 0; i < tree->depth; i++) {
		const struct parquet_read_element *part = tree->above[i];
		char *longer = mem_printf("%s%s%.*s", path, i ? "." : "",
					  (int)part->name_size, (const char *)part->name);

		free(path);
		path = longer;
	}
	return path;
}

static int check_leaf(const struct parquet_read_element *element, struct error *error)
{
	if (element->type > PARQUET_FIXED_LEN_BYTE_ARRAY)
		return error_set(error, "type %d, which the format does not have",
				 element->type);
	if (element->type == PARQUET_FIXED_LEN_BYTE_ARRAY &&
	    (element->length < 1 || element->length > MOST_LENGTH))
		return error_set(error, "values of %d bytes, want 1 to 2^29",
				 (int)element->length);
	return 0;
}

static int add_leaf(struct tree *tree, struct error *error)
{
	struct parquet_reader *reader = tree->reader;
	const struct parquet_read_element *last = tree->above[tree->depth - 1];
	const struct parquet_read_element *top = tree->above[0];
	struct parquet_leaf leaf = {
	    .path = path_of(tree),
	    .name = mem_strndup((const char *)top->name, top->name_size),
	    .parts = tree->depth,
	    .type = last->type,
	    .length =
		last->type == PARQUET_FIXED_LEN_BYTE_ARRAY ? (uint32_t)last->length : 0,
	    .converted = last->converted,
	    .string = last->string,
	    .timestamp_milli = last->timestamp_milli,
	    .top = (enum parquet_repetition)top->repetition,
	    .last = (enum parquet_repetition)last->repetition,
	    .list = top->list && tree->depth > 1,
	};

	for (unsigned i = 0; i < tree->depth; i++) {
		leaf.most_definition += tree->above[i]->repetition != PARQUET_REQUIRED;
		leaf.most_repetition += tree->above[i]->repetition == PARQUET_REPEATED;
	}
	reader->leaf = mem_grow(reader->leaf, reader->leaves, &reader->leaf_room,
				sizeof(*reader->leaf));
	reader->leaf[reader->leaves++] = leaf;
	return check_leaf(last, error) ? error_prefix(error, "column %s", leaf.path) : 0;
}

/* The element at hand and what is below it. */
static int walk(struct tree *tree, struct error *error)
{
	const struct parquet_read_element *element;

	if (tree->at == tree->elements)
		return error_set(error, "the schema ends within a group");
	element = &tree->element[tree->at++];
	if (tree->depth == MOST_DEPTH)
		return error_set(error, "groups within groups, %d deep", MOST_DEPTH);
	if (element->repetition < PARQUET_REQUIRED ||
	    element->repetition > PARQUET_REPEATED || !element->name ||
	    element->name_size > MOST_NAME)
		return error_set(error, "element %zu of the schema is broken", tree->at);
	tree->above[tree->depth++] = element;
	if (element->type >= 0) {
		if (add_leaf(tree, error))
			return -1;
	} else if (element->children < 1) {
		return error_set(error, "element %zu of the schema is a group of nothing",
				 tree->at);
	}
	for (int32_t i = 0; element->type < 0 && i < element->children; i++)
		if (walk(tree, error))
			return -1;
	tree->depth--;
	return 0;
}

int parquet_read_tree(struct parquet_reader *reader,
		      const struct parquet_read_element *element, size_t elements,
		      struct error *error)
{
	struct tree tree = {
	    .reader = reader, .element = element, .elements = elements, .at = 1};

	if (elements == 0 || element[0].children < 1)
		return error_set(error, "the schema has no columns");
	for (int32_t i = 0; i < element[0].children; i++)
		if (walk(&tree, error))
			return -1;
	if (tree.at != elements)
		return error_set(error, "the schema has %zu elements too many",
				 elements - tree.at);
	return 0;
}
