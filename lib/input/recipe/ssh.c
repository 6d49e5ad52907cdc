/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How ssh gets to the nodes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "input/recipe/names.h"
#include "input/recipe/private.h"

/* Gateways: a text with commas or a list, as ssh -J takes them. */
void recipe_read_gateway(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, void *target)
{
	char **gateway = &((struct recipe *)target)->gateway;
	struct text_list hops = {0};
	bool well = recipe_take_list(reader, key, value, NULL, &hops);

	for (size_t i = 0; well && i < hops.count; i++) {
		char *rest = hops.item[i], *hop;

		while (well && (hop = strsep(&rest, ","))) {
			struct recipe_destination to;
			const char *wanted = recipe_parse_destination(hop, &to);
			char *longer = mem_printf("%s%s%s", *gateway ? *gateway : "",
						  *gateway ? "," : "", hop);

			recipe_destination_clear(&to);
			free(*gateway);
			*gateway = longer;
			well = !wanted;
			if (wanted)
				recipe_want(reader, key, value, wanted);
		}
	}
	text_list_clear(&hops);
}

/* What is wanted instead of an option of ssh, or NULL where it is well. */
static const char *check_option(const char *name, const char *value)
{
	static const char *const own[] = {"BatchMode", "ControlMaster", "ControlPath",
					  "ControlPersist", "RequestTTY"};
	static const char *const unchecked[] = {"no", "off", "false"};

	if (!*name || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
					"uvwxyz0123456789")])
		return "KEY=VALUE as in ssh_config";
	if (!*value || strpbrk(value, "\n\r"))
		return "KEY=VALUE on one line";
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strcasecmp(name, own[i]) == 0)
			return "another option: the collector sets this one itself";
	if (strcasecmp(name, "ProxyJump") == 0)
		return "that as ssh_gateway";
	if (strcasecmp(name, "UserKnownHostsFile") == 0 &&
	    strcmp(value, "/dev/null") == 0)
		return "a file: the keys of hosts are checked";
	for (size_t i = 0; strcasecmp(name, "StrictHostKeyChecking") == 0 &&
			   i < sizeof(unchecked) / sizeof(*unchecked);
	     i++)
		if (strcasecmp(value, unchecked[i]) == 0)
			return "yes or accept-new: the keys of hosts are checked";
	return NULL;
}

static void add_option(struct recipe_reader *reader, const char *key,
		       const struct recipe_value *value, const char *option)
{
	size_t length = strcspn(option, "= \t");
	char *name = mem_strndup(option, length), *text;
	const char *setting = option + length, *wanted;

	setting += strspn(setting, "= \t");
	text = mem_printf("%s=%s", name, setting);
	wanted = check_option(name, setting);
	if (wanted)
		recipe_mistake_add(reader->mistakes, value->place,
				   "%s: it is '%.80s', want %s", key, text, wanted);
	else
		text_list_add(&reader->recipe->ssh_options, text);
	free(name);
	free(text);
}

void recipe_read_ssh_options(struct recipe_reader *reader, const char *key,
			     const struct recipe_value *value, void *target)
{
	struct text_list options = {0};

	(void)target;
	for (size_t i = 0; value->kind == RECIPE_MAP && i < value->count; i++) {
		const struct recipe_entry *entry = &value->entry[i];
		char *option;

		if (!recipe_text(reader, entry->key, &entry->value))
			continue;
		option = mem_printf("%s=%s", entry->key, entry->value.text);
		add_option(reader, key, &entry->value, option);
		free(option);
	}
	if (value->kind != RECIPE_MAP)
		recipe_take_list(reader, key, value, NULL, &options);
	for (size_t i = 0; i < options.count; i++)
		add_option(reader, key, value, options.item[i]);
	text_list_clear(&options);
}
