/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/parcel.h"

#include "base/mem.h"

uint32_t parcel_new(struct world *world)
{
	uint32_t index;

	if (world->free_parcel) {
		index = world->free_parcel - 1;
		world->free_parcel = world->parcel[index].next_free;
		return index;
	}
	world->parcel = mem_grow(world->parcel, world->parcels, &world->parcel_room,
				 sizeof(*world->parcel));
	return (uint32_t)world->parcels++;
}

void parcel_free(struct world *world, uint32_t index)
{
	world->parcel[index].next_free = world->free_parcel;
	world->free_parcel = index + 1;
}
