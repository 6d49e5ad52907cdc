/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_TOLD_H
#define CT_TEST_TOLD_H

/* truth.csv and messages.csv, read back. To be included behind simulated.h. */

enum { MOST_NODES = 20, MOST_ROWS = 20000 };

struct truth {
	struct truth_row {
		int64_t true_ns, mono_ns, real_ns;
	} row[MOST_NODES + 1][MOST_ROWS];
	size_t rows[MOST_NODES + 1];
};

struct message {
	int from, to;
	int64_t send_ns, recv_ns;
};

struct messages {
	struct message *item;
	size_t count, capacity;
};

static inline struct truth *read_truth(const char *path)
{
	struct truth *truth = mem_zalloc(sizeof(*truth));
	char *text = scratch_read(path, NULL), *at = text;

	assert_int_equal(strncmp(text, "node,host_ns,mono_ns,real_ns\n", 29), 0);
	for (at += 29; *at; at++) {
		int node = next_node(&at);
		struct truth_row row;

		row.true_ns = next_number(&at);
		row.mono_ns = next_number(&at);
		row.real_ns = next_number(&at);
		assert_int_equal(*at, '\n');
		assert_true(truth->rows[node] < MOST_ROWS);
		truth->row[node][truth->rows[node]++] = row;
	}
	free(text);
	return truth;
}

static inline struct messages read_messages(const char *path)
{
	struct messages messages = {0};
	char *text = scratch_read(path, NULL), *at = text;

	assert_int_equal(strncmp(text, "send_node,send_ns,recv_node,recv_ns\n", 36), 0);
	for (at += 36; *at; at++) {
		struct message message;

		message.from = next_node(&at);
		message.send_ns = next_number(&at);
		assert_int_equal(*at++, ',');
		message.to = next_node(&at);
		message.recv_ns = next_number(&at);
		assert_int_equal(*at, '\n');
		messages.item = mem_grow(messages.item, messages.count,
					 &messages.capacity, sizeof(*messages.item));
		messages.item[messages.count++] = message;
	}
	free(text);
	return messages;
}

#endif
