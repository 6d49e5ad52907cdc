/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/node.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "input/run.h"

static int add_address(struct node_facts *facts, const char *path, const json_t *text,
		       struct error *error)
{
	struct node_address address;
	char *plain;

	if (!json_is_string(text))
		return error_set(error, "%s: interfaces.addresses: want strings", path);
	/* "10.7.0.1/24" is as good as "10.7.0.1". */
	plain =
	    mem_strndup(json_string_value(text), strcspn(json_string_value(text), "/%"));
	if (node_address_parse(plain, &address)) {
		free(plain);
		return error_set(error, "%s: '%s' is no address", path,
				 json_string_value(text));
	}
	free(plain);
	facts->address = mem_grow(facts->address, facts->addresses, &facts->room,
				  sizeof(*facts->address));
	facts->address[facts->addresses++] = address;
	return 0;
}

static int read_members(struct node_facts *facts, const char *path, const json_t *root,
			struct error *error)
{
	const char *hostname = json_text(root, "hostname");
	const json_t *interface, *text;
	size_t i, k;

	if (hostname)
		facts->hostname = mem_strdup(hostname);
	json_array_foreach(json_object_get(root, "interfaces"), i, interface)
	    json_array_foreach(json_object_get(interface, "addresses"), k,
			       text) if (add_address(facts, path, text, error)) return -1;
	return 0;
}

int node_facts_read(struct node_facts *facts, const char *path, struct error *error)
{
	struct stat file;
	json_t *root;
	int status;

	memset(facts, 0, sizeof(*facts));
	if (stat(path, &file))
		return 0;
	if (!S_ISREG(file.st_mode))
		return error_set(error, "%s: no plain file", path);
	root = json_read_object(path, error);
	if (!root)
		return -1;
	status = read_members(facts, path, root, error);
	json_decref(root);
	if (status)
		node_facts_clear(facts);
	return status;
}

void node_facts_clear(struct node_facts *facts)
{
	free(facts->hostname);
	free(facts->address);
	memset(facts, 0, sizeof(*facts));
}
