/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/capture_writer_owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct sim_owner {
	uint8_t key[17]; /* family, address */
	const unsigned char *mac;
};

static int compare(const void *a, const void *b)
{
	const struct sim_owner *left = a, *right = b;

	return memcmp(left->key, right->key, sizeof(left->key));
}

static void set_key(struct sim_owner *owner, uint8_t family, const uint8_t address[16])
{
	owner->key[0] = family;
	memcpy(owner->key + 1, address, 16);
}

void sim_owners_init(struct sim_owners *owners, const struct sim_node *node, size_t nodes)
{
	size_t room = 0;

	memset(owners, 0, sizeof(*owners));
	for (size_t i = 0; i < nodes; i++)
		room += node[i].addresses;
	owners->item = mem_zalloc(room * sizeof(*owners->item));
	for (size_t i = 0; i < nodes; i++)
		for (size_t k = 0; k < node[i].addresses; k++) {
			struct sim_owner *owner = &owners->item[owners->count++];

			set_key(owner, node[i].family[k], node[i].address[k]);
			owner->mac = node[i].mac;
		}
	if (owners->count)
		qsort(owners->item, owners->count, sizeof(*owners->item), compare);
}

const unsigned char *sim_owners_mac(const struct sim_owners *owners, uint8_t family,
				    const uint8_t address[16])
{
	static const unsigned char router[6] = {0x02, 0xff, 0xff, 0xff, 0xff, 0xfe};
	struct sim_owner wanted, *found = NULL;

	set_key(&wanted, family, address);
	if (owners->count)
		found = bsearch(&wanted, owners->item, owners->count,
				sizeof(*owners->item), compare);
	return found ? found->mac : router;
}

void sim_owners_clear(struct sim_owners *owners)
{
	free(owners->item);
	memset(owners, 0, sizeof(*owners));
}
