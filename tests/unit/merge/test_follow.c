/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../draw.h"
#include "../scratch.h"

#include "lived.h"
#include "made_up_class.h"
#include "merge/processes.h"

CLASS(sched_switch, "sched_switch", COLUMN("prev_comm"), COLUMN("prev_tid"),
      COLUMN("next_tid"));
CLASS(plain, "irq_handler_entry", COLUMN("irq"));
CLASS(wakeup, "sched_wakeup", COLUMN("tid"), CONTEXT("tid"));
CLASS(other_context, "x", CONTEXT("tidy"), CONTEXT("tid_2"), COLUMN("tid"));
CLASS(user_context, "app:work", COLUMN("tid"), CONTEXT("vtid"));
CLASS(with_context, "y", CONTEXT("procname"), CONTEXT("tid"));

static struct event_class known; /* of the class at hand */

/* Eight sources, each of a node of its own, but for 4 and 5, which have the clock of 1.
 */
static struct merge_source sources[8] = {
    {.node = 0},
    {.node = 1, .facts.has_uuid = true},
    {.node = 2},
    {.node = 3},
    {.node = 1, .facts.has_uuid = true},
    {.node = 1, .facts.has_uuid = true},
    {.node = 6},
    {.node = 7},
};
static const struct merge_run run = {.source = sources, .count = 8};

static int end(void **state)
{
	(void)state;
	event_class_clear(&known);
	return 0;
}

/* The thread of a switch between two on a processor. */
static int64_t switched(struct follow *follow, int32_t cpu, int64_t prev, int64_t next)
{
	const struct cell cell[] = {STR("a"), INT(prev), INT(next)};
	struct trace_event record = {.class = 0, .cpu = cpu, .cell = cell};

	return follow_event(follow, 1, made_up(&sched_switch, &known), &record);
}

/* An event of another class with up to two cells. */
static int64_t other(struct follow *follow, const struct trace_class *class, int32_t cpu,
		     int64_t first, int64_t second)
{
	const struct cell cell[] = {INT(first), INT(second), INT(0)};
	const struct trace_event record = {.cpu = cpu, .cell = cell};

	return follow_event(follow, 1, made_up(class, &known), &record);
}

TEST(the_last_switch_tells)
{
	struct follow *follow = follow_new(&run);

	assert_int_equal(other(follow, &plain, 0, 7, 0), -1);
	assert_int_equal(switched(follow, 0, 10, 20), 10);
	assert_int_equal(other(follow, &plain, 0, 7, 0), 20);
	assert_int_equal(other(follow, &plain, 1, 7, 0), -1);
	assert_int_equal(switched(follow, 1, 30, 0), 30);
	assert_int_equal(other(follow, &plain, 1, 7, 0), 0);
	assert_int_equal(other(follow, &plain, 0, 7, 0), 20);
	assert_int_equal(other(follow, &other_context, 0, 7, 8), 20);
	follow_free(follow);
}

TEST(the_context_tells_more)
{
	struct follow *follow = follow_new(&run);

	switched(follow, 0, 10, 20);
	assert_int_equal(other(follow, &wakeup, 0, 7, 21), 21);
	assert_int_equal(other(follow, &plain, 0, 7, 0), 20);
	assert_int_equal(other(follow, &with_context, 0, 7, 22), 22);
	assert_int_equal(other(follow, &with_context, -1, 7, 23), 23);
	follow_free(follow);
}

TEST(sources_are_apart)
{
	struct follow *follow = follow_new(&run);
	const struct cell cell = INT(1);
	struct trace_event record = {.class = 3, .cpu = 0, .cell = &cell};

	switched(follow, 0, 10, 20);
	assert_int_equal(follow_event(follow, 0, made_up(&plain, &known), &record), -1);
	assert_int_equal(follow_event(follow, 7, made_up(&plain, &known), &record), -1);
	assert_int_equal(follow_event(follow, 1, made_up(&plain, &known), &record), 20);
	follow_free(follow);
	follow_free(NULL);
}

TEST(user_space_runs_where_its_kernel_says)
{
	struct follow *follow = follow_new(&run);
	const struct cell cell[] = {INT(1), INT(5)};
	struct trace_event record = {.class = 3, .cpu = 0, .cell = cell};

	assert_int_equal(follow_event(follow, 4, made_up(&plain, &known), &record), -1);
	switched(follow, 0, 10, 20);
	assert_int_equal(follow_event(follow, 4, made_up(&plain, &known), &record), 20);
	assert_int_equal(follow_event(follow, 5, made_up(&plain, &known), &record), 20);
	assert_int_equal(follow_event(follow, 3, made_up(&plain, &known), &record), -1);
	/* Its own number tells more. */
	record.class = 7;
	assert_int_equal(follow_event(follow, 5, made_up(&user_context, &known), &record),
			 5);
	follow_free(follow);
}

TEST(broken_streams_do_no_harm)
{
	struct follow *follow = follow_new(&run);
	const struct cell cell[] = {STR("a"), STR("b"), {.type = CELL_NULL}};
	struct trace_event record = {.class = 0, .cpu = 0, .cell = cell};

	assert_int_equal(switched(follow, INT32_MAX, 10, 20), 10);
	assert_int_equal(switched(follow, INT32_MIN, 10, 20), 10);
	assert_int_equal(other(follow, &plain, INT32_MAX, 7, 0), 20);
	assert_int_equal(other(follow, &plain, INT32_MIN, 7, 0), -1);
	assert_int_equal(other(follow, &plain, -1, 7, 0), -1);
	switched(follow, 0, 10, 20);
	assert_int_equal(follow_event(follow, 1, made_up(&sched_switch, &known), &record),
			 -1);
	assert_int_equal(other(follow, &plain, 0, 7, 0), -1);
	follow_free(follow);
}

struct followed {
	struct follow *follow;
	struct lived *lived;
	struct trace_reader *source;
	uint32_t node;
	uint64_t known, unknown;
};

static void follow_one(void *context, const struct trace_event *record)
{
	struct followed *followed = context;
	const struct trace_class *class =
	    trace_reader_class(followed->source, record->class);
	int64_t tid = follow_event(followed->follow, followed->node,
				   made_up(class, &known), record);

	if (tid < 0) {
		followed->unknown++;
		return;
	}
	followed->known++;
	assert_int_equal(tid, lived_event(followed->lived, followed->node, record)->tid);
}

/* Every event is of the thread that the model ran on that processor. */
SCRATCH_TEST(simulated_threads_are_followed)
{
	struct followed followed = {.follow = follow_new(&run),
				    .lived = lived_run(lived_text)};

	for (; followed.node < LIVED_NODES; followed.node++)
		lived_read(followed.node, &followed.source, follow_one, &followed);
	assert_true(followed.known > 10000);
	assert_true(followed.unknown < followed.known / 100);
	lived_free(followed.lived);
	follow_free(followed.follow);
}

GROUP_FIXTURE(NULL, end)
