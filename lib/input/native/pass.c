/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/pass.h"

#include "base/mem.h"

void native_pass_prepare(struct native_stream_class *stream)
{
	stream->skip = mem_zalloc(stream->ids * sizeof(*stream->skip) + 1);
	for (size_t id = 0; id < stream->ids; id++) {
		const struct native_class *class = native_find_class(stream, id);
		struct native_skip *skip = &stream->skip[id];

		skip->can =
		    class && class->is_passed &&
		    native_plan_is_constant(class->plan, &skip->align, &skip->bits);
	}
}

/* A clock's value as an instant; of most clocks it is one addition. */
static inline bool find_instant(const struct native_clock *clock, uint64_t value,
				nsec_t *instant)
{
	if (value < clock->least || value > clock->most)
		return native_instant(clock, value, instant);
	*instant = clock->base_ns + (nsec_t)value;
	return true;
}

/* Where the way stands: of struct native_cursor, what changes. */
struct way {
	uint64_t at, clock, id;
};

/* The header that begins there, of a class to pass over; moves behind it. */
static inline const struct native_skip *
read_header(const struct native_stream_class *stream, const struct native_cursor *cursor,
	    struct way *way)
{
	const struct native_quick *quick = &stream->quick;
	unsigned size = quick->id_size + quick->stamp_size;
	uint64_t byte = (way->at + 7) / 8, word;

	if (cursor->end - way->at < size + 7 || byte + sizeof(word) > cursor->bytes.count)
		return NULL;
	memcpy(&word, cursor->bytes.byte + byte, sizeof(word));
	word = le64toh(word);
	way->id = word & (((uint64_t)1 << quick->id_size) - 1);
	if (way->id > quick->last || way->id >= stream->ids)
		return NULL;
	word = word >> quick->id_size & (((uint64_t)1 << quick->stamp_size) - 1);
	way->clock = native_clock_after(way->clock, word, quick->stamp_size);
	way->at = 8 * byte + size;
	return &stream->skip[way->id];
}

static inline bool skip_fields(struct way *way, uint64_t end,
			       const struct native_skip *skip)
{
	uint64_t padding = -way->at & (skip->align - 1);

	if (!skip->can || padding > end - way->at || skip->bits > end - way->at - padding)
		return false;
	way->at += padding + skip->bits;
	return true;
}

static inline void note_stamp(struct native_pass *pass, nsec_t stamp)
{
	pass->backward += stamp < pass->last_ns;
	if (stamp < pass->least_ns)
		pass->least_ns = stamp;
	if (stamp > pass->most_ns)
		pass->most_ns = stamp;
	if (pass->stamp)
		pass->stamp[pass->events] = stamp;
	pass->last_ns = stamp;
	pass->events++;
}

void native_pass_run(const struct native_stream_class *stream,
		     struct native_cursor *cursor, struct native_pass *pass)
{
	/* Copies, so that the compiler knows that nothing else changes them. */
	const struct native_stream_class of = *stream;
	const struct native_cursor fixed = *cursor;
	struct way way = {cursor->at, cursor->clock, cursor->id};
	struct native_pass sum = *pass;

	sum.events = sum.backward = 0;
	sum.least_ns = NSEC_MAX;
	sum.most_ns = NSEC_MIN;
	while (of.quick.stamp_size && sum.events < sum.most) {
		struct way next = way;
		const struct native_skip *skip = read_header(&of, &fixed, &next);
		nsec_t stamp;

		if (!skip || !skip_fields(&next, fixed.end, skip) ||
		    !find_instant(&of.clock, next.clock, &stamp) || stamp > sum.until)
			break;
		note_stamp(&sum, stamp);
		way = next;
	}
	*pass = sum;
	if (!sum.events)
		return;
	cursor->at = way.at;
	cursor->clock = way.clock;
	cursor->id = cursor->slot[of.quick.slot] = way.id;
}
