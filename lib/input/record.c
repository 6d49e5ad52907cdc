/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/record_private.h"
#include "input/trace_facts.h"

void record_source_init(struct record_source *source, const struct record_source_ops *ops,
			const char *path)
{
	memset(source, 0, sizeof(*source));
	source->ops = ops;
	source->path = mem_strdup(path);
	source->pace = UINT64_MAX;
}

struct record_class *record_source_add(struct record_source *source, const char *name)
{
	struct record_class *class = mem_zalloc(sizeof(*class));

	class->name = mem_strdup(name);
	source->class = mem_grow(source->class, source->classes, &source->room,
				 sizeof(struct record_class *));
	source->class[source->classes++] = class;
	return class;
}

void record_class_add(struct record_class *class, const char *name, enum cell_type type,
		      bool context)
{
	struct record_column *column;

	class->column =
	    mem_realloc(class->column, class->columns + 1, sizeof(*class->column));
	column = &class->column[class->columns++];
	column->name = mem_strdup(name);
	column->type = type;
	column->context = context;
}

bool record_class_equal(const struct record_class *a, const struct record_class *b)
{
	if (a->columns != b->columns || strcmp(a->name, b->name) != 0)
		return false;
	for (size_t i = 0; i < a->columns; i++)
		if (a->column[i].type != b->column[i].type ||
		    a->column[i].context != b->column[i].context ||
		    strcmp(a->column[i].name, b->column[i].name) != 0)
			return false;
	return true;
}

uint32_t record_source_merge(struct record_source *source)
{
	struct record_class *last = source->class[source->classes - 1];

	for (size_t i = 0; i + 1 < source->classes; i++) {
		if (!record_class_equal(source->class[i], last))
			continue;
		record_class_free(last);
		source->classes--;
		return (uint32_t)i;
	}
	return (uint32_t)source->classes - 1;
}

void record_class_free(struct record_class *class)
{
	if (!class)
		return;
	for (size_t i = 0; i < class->columns; i++)
		free(class->column[i].name);
	free(class->column);
	free(class->name);
	free(class);
}

enum step record_source_stepped(struct record_source *source, bool more,
				const struct ctf_facts *facts,
				struct problem_list *problems)
{
	trace_facts_copy(&source->facts, facts);
	problem_move(&source->problems, problems);
	if (more)
		return STEP_MORE;
	trace_facts_report(facts, source->path, &source->problems);
	return STEP_END;
}

void record_source_release(struct record_source *source)
{
	for (size_t i = 0; i < source->classes; i++)
		record_class_free(source->class[i]);
	free(source->class);
	problem_clear(&source->problems);
	free(source->path);
}

void record_source_choose(struct record_source *source, record_wish_fn *wants,
			  void *context)
{
	source->wants = wants;
	source->wish_context = context;
}

bool record_source_wants(const struct record_source *source,
			 const struct record_class *class)
{
	return !source->wants || source->wants(source->wish_context, class);
}

void record_source_begin(struct record_source *source, nsec_t local_ns,
			 record_use_fn *use, void *context)
{
	if (source->ops->begin)
		source->ops->begin(source, local_ns, use, context);
}

void record_source_pace(struct record_source *source, uint64_t records)
{
	source->pace = records ? records : 1;
}

enum step record_source_step(struct record_source *source, record_fn *give, void *context)
{
	return source->ops->step(source, give, context);
}

const struct record_class *record_source_class(const struct record_source *source,
					       uint32_t index)
{
	assert(index < source->classes);
	return source->class[index];
}

const struct packet_source_facts *record_source_facts(const struct record_source *source)
{
	return &source->facts;
}

struct problem_list *record_source_problems(struct record_source *source)
{
	return &source->problems;
}

void record_source_free(struct record_source *source)
{
	if (source)
		source->ops->free(source);
}
