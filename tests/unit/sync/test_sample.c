/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include "../draw.h"

enum { MESSAGES = 20000, MOST = 500, PAIRS = 3 };

/* Two busy pairs and one with few messages, each message once. */
static void draw_messages(struct message *message)
{
	for (size_t i = 0; i < MESSAGES; i++)
		message[i] = (struct message){
		    .pair = i < 50 ? 2 : i % 2,
		    .forward = draw() % 3 == 0,
		    .rejected = draw() % 10 == 0,
		    .send_ns = (nsec_t)i * 1000 + draw_between(0, 999),
		    .recv_ns = draw_between(0, NSEC_MAX),
		};
}

static void shuffle(struct message *message)
{
	for (size_t i = MESSAGES; i > 1; i--) {
		size_t k = (size_t)draw_between(0, (int64_t)i - 1);
		struct message other = message[k];

		message[k] = message[i - 1];
		message[i - 1] = other;
	}
}

static struct pair_sample *choose(const struct message *message)
{
	struct error error = ERROR_INIT;
	struct pair_sample *samples;
	struct message_log log;

	message_log_init(&log);
	for (uint32_t i = 0; i < PAIRS; i++)
		assert_int_equal(pair_number(&log.numbers, 0, i + 1), i);
	for (size_t i = 0; i < MESSAGES; i++) {
		uint32_t other = message[i].pair + 1;

		assert_int_equal(message_log_add(&log, message[i].forward ? 0 : other,
						 message[i].forward ? other : 0,
						 &message[i], &error),
				 0);
	}
	samples = pair_samples_new(&log, PAIRS, MOST, &error);
	assert_non_null(samples);
	message_log_clear(&log);
	return samples;
}

static size_t kept_messages(const struct message *message, uint32_t pair, bool forward)
{
	size_t count = 0;

	for (size_t i = 0; i < MESSAGES; i++)
		count += message[i].pair == pair && message[i].forward == forward &&
			 !message[i].rejected;
	return count;
}

/* Check that the points are some of the messages, in order, each once. */
static void check_side(const struct sample_side *side, const struct message *message,
		       uint32_t pair, bool forward)
{
	size_t all = kept_messages(message, pair, forward);

	assert_true(side->count <= MOST);
	assert_true(all <= MOST ? side->count == all : side->count > MOST / 4);
	for (size_t i = 0; i < side->count; i++) {
		struct hull_point point = side->point[i];
		size_t at = (size_t)((forward ? point.x : point.y) / 1000);
		struct hull_point own = pair_point(&message[at]);

		assert_int_equal(message[at].pair, pair);
		assert_false(message[at].rejected);
		assert_true(own.x == point.x && own.y == point.y);
		assert_true(!i || side->point[i - 1].x < point.x);
	}
}

TEST(a_choice_is_even_and_of_true_messages)
{
	struct message *message = mem_alloc(MESSAGES * sizeof(*message));
	struct pair_sample *samples;

	draw_messages(message);
	samples = choose(message);
	for (uint32_t i = 0; i < PAIRS; i++) {
		check_side(&samples[i].ab, message, i, true);
		check_side(&samples[i].ba, message, i, false);
	}
	/* Messages of both halves of the run. */
	for (size_t i = 0, first = 0; i < samples[0].ab.count; i++) {
		first += samples[0].ab.point[i].x < MESSAGES * 500;
		if (i + 1 == samples[0].ab.count)
			assert_true(first > i / 3 && first < i - i / 3);
	}
	pair_samples_free(samples, PAIRS);
	free(message);
}

TEST(any_order_gives_the_same)
{
	struct message *message = mem_alloc(MESSAGES * sizeof(*message));
	struct pair_sample *first, *again;

	draw_messages(message);
	first = choose(message);
	shuffle(message);
	again = choose(message);
	for (size_t i = 0; i < PAIRS; i++) {
		assert_int_equal(first[i].ab.count, again[i].ab.count);
		assert_int_equal(first[i].ba.count, again[i].ba.count);
		assert_memory_equal(first[i].ab.point, again[i].ab.point,
				    first[i].ab.count * sizeof(struct hull_point));
		assert_memory_equal(first[i].ba.point, again[i].ba.point,
				    first[i].ba.count * sizeof(struct hull_point));
	}
	pair_samples_free(first, PAIRS);
	pair_samples_free(again, PAIRS);
	free(message);
}

TEST(no_message_gives_no_point)
{
	struct error error = ERROR_INIT;
	struct pair_sample *samples;
	struct message_log log;

	message_log_init(&log);
	samples = pair_samples_new(&log, 2, MOST, &error);
	assert_non_null(samples);
	assert_int_equal(samples[1].ab.count + samples[1].ba.count, 0);
	pair_samples_free(samples, 2);
	pair_samples_free(NULL, 2);
	message_log_clear(&log);
}
