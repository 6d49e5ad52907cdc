/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How LTTng records: contexts and channels. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "input/recipe/presets.h"
#include "input/recipe/private.h"

static const char *const domain_names[] = {"kernel", "userspace"};

static void read_domain_contexts(struct recipe_reader *reader, const char *key,
				 const struct recipe_value *value, void *target)
{
	text_list_clear(target);
	recipe_take_list(reader, key, value, recipe_check_context, target);
}

static void read_kernel_contexts(struct recipe_reader *reader, const char *key,
				 const struct recipe_value *value, void *target)
{
	struct recipe *recipe = target;

	read_domain_contexts(reader, key, value, &recipe->context[RECIPE_KERNEL]);
}

static void read_userspace_contexts(struct recipe_reader *reader, const char *key,
				    const struct recipe_value *value, void *target)
{
	struct recipe *recipe = target;

	read_domain_contexts(reader, key, value, &recipe->context[RECIPE_USERSPACE]);
}

static const struct recipe_field context_fields[] = {
    {"kernel", read_kernel_contexts},
    {"userspace", read_userspace_contexts},
};

void recipe_read_contexts(struct recipe_reader *reader, const char *key,
			  const struct recipe_value *value, void *target)
{
	if (value->kind == RECIPE_MAP)
		recipe_map(reader, key, value, context_fields,
			   sizeof(context_fields) / sizeof(*context_fields), target);
	else
		read_kernel_contexts(reader, key, value, target);
}

/* A number of bytes, with k, M or G as lttng takes them. -1 where it is none. */
static int parse_size(const char *text, int64_t *size)
{
	static const char units[] = "kMG";
	size_t length = strlen(text);
	const char *unit = length ? strchr(units, text[length - 1]) : NULL;
	char *number = mem_strndup(text, length - (unit != NULL));
	int status = number_integer(number, size);

	for (const char *u = units; status == 0 && unit && u <= unit; u++)
		if (__builtin_mul_overflow(*size, 1024, size))
			status = -1;
	free(number);
	return status;
}

static bool is_power_of_two(int64_t number)
{
	return number > 0 && (number & (number - 1)) == 0;
}

static void read_subbuf_size(struct recipe_reader *reader, const char *key,
			     const struct recipe_value *value, void *target)
{
	struct recipe_channel *channel = target;
	int64_t size;

	if (value->kind == RECIPE_TEXT && parse_size(value->text, &size) == 0 &&
	    size >= 4096 && size <= (int64_t)1 << 30 && is_power_of_two(size))
		channel->subbuf_size = size;
	else
		recipe_want(reader, key, value,
			    "a power of two of bytes from 4k to 1G, such as 16384 or 1M");
}

static void read_num_subbuf(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	struct recipe_channel *channel = target;
	int64_t number;

	if (value->kind == RECIPE_TEXT && number_integer(value->text, &number) == 0 &&
	    number >= 2 && number <= 65536 && is_power_of_two(number))
		channel->num_subbuf = number;
	else
		recipe_want(reader, key, value, "a power of two from 2 to 65536");
}

static void read_mode(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, void *target)
{
	static const char *const modes[] = {"discard", "overwrite", NULL};
	struct recipe_channel *channel = target;
	size_t mode;

	if (recipe_take_word(reader, key, value, modes, &mode))
		channel->overwrite = mode == 1;
}

static const int64_t timer_range[] = {0, 3600 * (int64_t)1000000};

static void read_switch_timer(struct recipe_reader *reader, const char *key,
			      const struct recipe_value *value, void *target)
{
	recipe_take_integer(reader, key, value, timer_range,
			    &((struct recipe_channel *)target)->switch_us);
}

static void read_read_timer(struct recipe_reader *reader, const char *key,
			    const struct recipe_value *value, void *target)
{
	recipe_take_integer(reader, key, value, timer_range,
			    &((struct recipe_channel *)target)->read_us);
}

static const struct recipe_field channel_fields[] = {
    {"subbuf_size", read_subbuf_size},
    {"num_subbuf", read_num_subbuf},
    {"mode", read_mode},
    {"switch_timer_us", read_switch_timer},
    {"read_timer_us", read_read_timer},
};

enum { CHANNEL_FIELDS = sizeof(channel_fields) / sizeof(*channel_fields) };

/* What is for both domains first, so that a domain's own settings stand over it. */
void recipe_read_channel(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	struct recipe *recipe = target;
	struct recipe_value common = {.kind = RECIPE_MAP, .place = value->place};
	const struct recipe_value *own[RECIPE_DOMAINS] = {NULL};

	if (value->kind != RECIPE_MAP) {
		recipe_want(reader, key, value, "a map");
		return;
	}
	for (size_t i = 0; i < RECIPE_DOMAINS; i++)
		own[i] = recipe_value_find(value, domain_names[i]);
	/* The entries are borrowed, so only the array is freed. */
	common.entry = mem_alloc((value->count + 1) * sizeof(*common.entry));
	for (size_t i = 0; i < value->count; i++)
		if (&value->entry[i].value != own[RECIPE_KERNEL] &&
		    &value->entry[i].value != own[RECIPE_USERSPACE])
			common.entry[common.count++] = value->entry[i];
	for (size_t i = 0; i < RECIPE_DOMAINS; i++) {
		/* What is wrong in the common part is told once. */
		struct recipe_mistakes silent = {0};
		struct recipe_reader again = {.recipe = recipe, .mistakes = &silent};

		recipe_map(i == 0 ? reader : &again, key, &common, channel_fields,
			   CHANNEL_FIELDS, &recipe->channel[i]);
		recipe_mistakes_clear(&silent);
		if (own[i] && !recipe_value_is_null(own[i]))
			recipe_map(reader, domain_names[i], own[i], channel_fields,
				   CHANNEL_FIELDS, &recipe->channel[i]);
	}
	free(common.entry);
}
