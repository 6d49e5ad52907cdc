/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/pass.h"

#include <stdlib.h>

#include "base/mem.h"

void native_pass_prepare(struct native_stream_class *stream)
{
	free(stream->skip);
	stream->skip = mem_zalloc(stream->ids * sizeof(*stream->skip) + 1);
	for (size_t id = 0; id < stream->ids; id++) {
		const struct native_class *class = native_find_class(stream, id);
		struct native_skip *skip = &stream->skip[id];

		skip->can = class && class->is_passed &&
			    native_plan_skips(class->plan, &skip->of);
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
	uint64_t byte = (way->at + 7) / 8, stamp;

	if (cursor->end - way->at < quick->size + 7 ||
	    byte + NATIVE_QUICK_BYTES > cursor->bytes.count)
		return NULL;
	native_quick_load(quick, cursor->bytes.byte + byte, &way->id, &stamp);
	if (way->id > quick->last || way->id >= stream->ids)
		return NULL;
	way->clock = native_clock_after(way->clock, stamp, quick->stamp_size);
	way->at = 8 * byte + quick->size;
	return &stream->skip[way->id];
}

static inline bool skip_bits(struct way *way, uint64_t end, uint64_t bits)
{
	if (bits > end - way->at)
		return false;
	way->at += bits;
	return true;
}

/*
 * A string that begins with this byte, eight bytes at a time: they are short, and a
 * call for each would cost more. The first byte of a word that is zero is the lowest
 * one from which subtracting 1 borrows (Mycroft 1987).
 */
static inline bool skip_string(struct way *way, const struct native_cursor *cursor)
{
	const uint64_t low = UINT64_C(0x0101010101010101), high = low << 7;

	for (;;) {
		uint64_t word, zero;

		if (cursor->bytes.count - way->at / 8 < sizeof(word))
			return false;
		memcpy(&word, cursor->bytes.byte + way->at / 8, sizeof(word));
		word = le64toh(word);
		zero = (word - low) & ~word & high;
		if (zero)
			return skip_bits(way, cursor->end,
					 (uint64_t)__builtin_ctzll(zero) + 1);
		if (!skip_bits(way, cursor->end, 64))
			return false;
	}
}

static inline bool skip_fields(struct way *way, const struct native_cursor *cursor,
			       const struct native_skip *skip)
{
	const struct native_stretches *of = &skip->of;

	if (!skip->can || !skip_bits(way, cursor->end, -way->at & (of->align - 1)) ||
	    !skip_bits(way, cursor->end, of->bits))
		return false;
	for (uint32_t i = 0; i < of->strings; i++)
		if (!skip_string(way, cursor) ||
		    !skip_bits(way, cursor->end, of->behind[i]))
			return false;
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

		if (!skip || !skip_fields(&next, &fixed, skip) ||
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
	cursor->id = way.id;
	if (of.quick.slot >= 0)
		cursor->slot[of.quick.slot] = way.id;
}
