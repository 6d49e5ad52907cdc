/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/matcher_private.h"

#include <netinet/in.h>
#include <stdlib.h>

#include "base/mem.h"

#include "../draw.h"

static const struct sent_place no_place = {.ns = NSEC_MAX};

static struct packet numbered(uint32_t n)
{
	return (struct packet){.known = PACKET_NETWORK | PACKET_TRANSPORT,
			       .family = 4,
			       .protocol = IPPROTO_UDP,
			       .src = {10, 0, 0, 1},
			       .dst = {10, 0, 0, 2},
			       .id = n};
}

static struct entry *find(struct entry_table *table, const struct packet *packet)
{
	return entry_table_find(table, packet, packet_hash(packet));
}

static size_t length(const struct entry_queue *queue)
{
	const struct entry *last = NULL;
	size_t count = 0;

	for (struct entry *at = queue->oldest; at; at = at->newer) {
		assert_ptr_equal(at->older, last);
		last = at;
		count++;
	}
	assert_ptr_equal(queue->newest, last);
	assert_int_equal(queue->count, count);
	return count;
}

static void a_packet_is_found_again(void **state)
{
	struct entry_table table;
	struct entry **entry = mem_alloc(20000 * sizeof(*entry));

	(void)state;
	entry_table_init(&table);
	for (uint32_t i = 0; i < 20000; i++) {
		struct packet packet = numbered(i);

		entry[i] = find(&table, &packet);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		struct packet packet = numbered(i);

		assert_ptr_equal(find(&table, &packet), entry[i]);
		assert_int_equal(entry[i]->packet.id, i);
	}
	assert_int_equal(length(&table.waiting), 20000);
	entry_table_clear(&table);
	free(entry);
}

/* What the table should hold of each packet. */
enum state { NOWHERE, WAITING, MATCHED };

static void move_one(struct entry_table *table, enum state *at, uint32_t n)
{
	struct packet packet = numbered(n);
	struct entry *entry = find(table, &packet);

	assert_int_equal(entry->seens, at[n] == NOWHERE ? 0 : 1);
	assert_int_equal(entry->matched, at[n] == MATCHED);
	if (at[n] == NOWHERE) {
		entry_add_seen(entry, n, 0, &(struct packet_event){.ns = n}, &no_place);
		at[n] = WAITING;
	} else if (at[n] == WAITING && draw() % 2) {
		entry_table_match(table, entry);
		entry_table_match(table, entry);
		at[n] = MATCHED;
	} else {
		assert_int_equal(entry->seen->clock_index, n);
		entry_table_remove(table, entry);
		at[n] = NOWHERE;
	}
}

static void entries_come_and_go(void **unused)
{
	enum { PACKETS = 6000 };
	enum state *at = mem_zalloc(PACKETS * sizeof(*at));
	struct entry_table table;
	size_t count[3] = {0, 0, 0};

	(void)unused;
	entry_table_init(&table);
	for (int i = 0; i < 60000; i++)
		move_one(&table, at, (uint32_t)draw_between(0, PACKETS - 1));
	for (size_t i = 0; i < PACKETS; i++)
		count[at[i]]++;
	assert_int_equal(length(&table.waiting), count[WAITING]);
	assert_int_equal(length(&table.matched), count[MATCHED]);
	entry_table_clear(&table);
	free(at);
}

static void every_source_and_side_is_kept(void **state)
{
	struct packet packet = numbered(1);
	struct entry_table table;
	struct entry *entry;

	(void)state;
	entry_table_init(&table);
	entry = find(&table, &packet);
	for (uint32_t i = 0; i < 100; i++) {
		struct packet_event packet_event = {
		    .ns = i, .whole_ns = i + 1, .device = 2 * i, .received = i % 2};

		assert_true(entry_add_seen(entry, i / 2, 0, &packet_event, &no_place));
		packet_event.ns += 1000;
		assert_false(entry_add_seen(entry, i / 2, 0, &packet_event, &no_place));
	}
	assert_int_equal(entry->seens, 100);
	for (uint32_t i = 0; i < 100; i++) {
		const struct seen *seen = &entry->seen[i];

		assert_true(seen->clock_index == i / 2 && seen->received == i % 2);
		assert_true(seen->ns == i && seen->whole_ns == i + 1);
		assert_true(seen->device == 2 * i && seen->count == 2 && !seen->used);
		assert_true(seen->first_ns == i && seen->last_ns == i + 1000);
	}
	entry_table_clear(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_packet_is_found_again),
	    DRAW_TEST(entries_come_and_go),
	    cmocka_unit_test(every_source_and_side_is_kept),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
