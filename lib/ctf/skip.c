/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/skip.h"

#include <string.h>

#include "ctf/trace.h"

static bool is_little_unsigned(const struct field_class *class)
{
	return class->type == FIELD_INTEGER && !class->is_signed &&
	       class->order == ORDER_LITTLE && !class->is_reversed &&
	       !class->is_boolean && !class->roles;
}

/* Where a field begins behind so many bits, the first of which begins a byte. */
static unsigned behind(unsigned bits, const struct field_class *class)
{
	return (bits + class->align - 1) / class->align * class->align;
}

/* Nothing but a stamp, which one word can hold behind an id of so many bits. */
static bool is_stamp(const struct field_class *class, unsigned id_size)
{
	return is_little_unsigned(class) && class->clock && !class->is_id &&
	       class->slot < 0 && class->align <= 8 &&
	       behind(id_size, class) % 8 + class->size <= 64;
}

/* The stamp of an option that is nothing else. */
static const struct field_class *find_stamp(const struct field_class *option,
					    unsigned id_size)
{
	if (option->type != FIELD_STRUCTURE || option->members != 1 ||
	    id_size % option->align)
		return NULL;
	option = option->member[0].class;
	return is_stamp(option, id_size) ? option : NULL;
}

/* The first option, so that no other one can be meant. */
static const struct field_class *find_short(const struct field_class *id,
					    const struct field_class *v)
{
	if (v->from < 0 || v->from != id->slot || v->members == 0 ||
	    v->member[0].ranges != 1 || v->member[0].range[0].first != 0)
		return NULL;
	return find_stamp(v->member[0].class, id->size);
}

void ctf_short_header_find(const struct field_class *header,
			   struct ctf_short_header *quick)
{
	const struct field_class *id, *next, *stamp;

	memset(quick, 0, sizeof(*quick));
	if (header->type != FIELD_STRUCTURE || header->members != 2 || header->align != 8)
		return;
	id = header->member[0].class;
	next = header->member[1].class;
	if (!is_little_unsigned(id) || !id->is_id || id->clock)
		return;
	if (next->type == FIELD_VARIANT)
		stamp = find_short(id, next);
	else
		stamp = is_stamp(next, id->size) ? next : NULL;
	if (!stamp)
		return;
	quick->id_size = id->size;
	quick->stamp_size = stamp->size;
	quick->stamp_at = behind(id->size, stamp);
	quick->size = quick->stamp_at + stamp->size;
	quick->last = next == stamp ? UINT64_MAX : next->member[0].range[0].last;
	quick->slot = id->slot;
}

/* A clock's value as an instant; of most clocks it is one addition. */
static inline bool find_instant(const struct ctf_clock *clock, uint64_t value,
				nsec_t *instant)
{
	if (value < clock->least || value > clock->most)
		return ctf_instant(clock, value, instant);
	*instant = clock->base_ns + (nsec_t)value;
	return true;
}

/* Where the way stands: of struct ctf_cursor, what changes. */
struct way {
	uint64_t at, clock, id;
};

/* The header that begins there, of a class to pass over; moves behind it. */
static inline const struct ctf_skip *read_header(const struct ctf_stream_class *stream,
						 const struct ctf_cursor *cursor,
						 struct way *way)
{
	const struct ctf_short_header *quick = &stream->quick;
	uint64_t byte = (way->at + 7) / 8, stamp;
	const struct ctf_event_class *class;

	if (cursor->end - way->at < quick->size + 7 ||
	    byte + CTF_SHORT_HEADER_BYTES > cursor->bytes.count)
		return NULL;
	ctf_short_header_load(quick, cursor->bytes.byte + byte, &way->id, &stamp);
	if (way->id > quick->last)
		return NULL;
	way->clock = ctf_clock_after(way->clock, stamp, quick->stamp_size);
	way->at = 8 * byte + quick->size;
	class = ctf_find_class(stream, way->id);
	return class ? &class->skip : NULL;
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
static inline bool skip_string(struct way *way, const struct ctf_cursor *cursor)
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

static inline bool skip_fields(struct way *way, const struct ctf_cursor *cursor,
			       const struct ctf_skip *skip)
{
	const struct ctf_stretches *of = &skip->of;

	if (!skip->can || !skip_bits(way, cursor->end, -way->at & (of->align - 1)) ||
	    !skip_bits(way, cursor->end, of->bits))
		return false;
	for (uint32_t i = 0; i < of->strings; i++)
		if (!skip_string(way, cursor) ||
		    !skip_bits(way, cursor->end, of->behind[i]))
			return false;
	return true;
}

static inline void note_stamp(struct ctf_pass *pass, nsec_t stamp)
{
	pass->backward += stamp < pass->last_ns;
	if (stamp < pass->least_ns)
		pass->least_ns = stamp;
	if (stamp > pass->most_ns)
		pass->most_ns = stamp;
	pass->last_ns = stamp;
	pass->events++;
}

void ctf_pass_run(const struct ctf_stream_class *stream, struct ctf_cursor *cursor,
		  struct ctf_pass *pass)
{
	/* Copies, so that the compiler knows that nothing else changes them. */
	const struct ctf_stream_class of = *stream;
	const struct ctf_cursor fixed = *cursor;
	struct way way = {cursor->at, cursor->clock, cursor->id};
	struct ctf_pass sum = *pass;

	sum.events = sum.backward = 0;
	sum.least_ns = NSEC_MAX;
	sum.most_ns = NSEC_MIN;
	while (of.quick.stamp_size && sum.events < sum.most) {
		struct way next = way;
		const struct ctf_skip *skip = read_header(&of, &fixed, &next);
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
