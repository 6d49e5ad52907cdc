/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Load and memory by sar. */
#include "../draw.h"

#include "simulate/host.h"

static double average(const struct load *load, int which)
{
	return (double)load->average[which] / LOAD_ONE;
}

TEST(test_load_approaches_what_runs)
{
	struct load load = {0};

	/* After the time constant all but 1/e of it. */
	load_advance(&load, 60 * NSEC_PER_SEC, 4);
	assert_true(fabs(average(&load, 0) - 4 * (1 - exp(-1))) < 0.15);
	load_advance(&load, 900 * NSEC_PER_SEC, 4);
	assert_true(fabs(average(&load, 0) - 4) < 0.02);
	assert_true(fabs(average(&load, 1) - 4 * (1 - exp(-3))) < 0.1);
	assert_true(fabs(average(&load, 2) - 4 * (1 - exp(-1))) < 0.1);
	load_advance(&load, 7200 * NSEC_PER_SEC, 0);
	for (int i = 0; i < LOAD_AVERAGES; i++)
		assert_true(average(&load, i) < 0.05);
}

TEST(test_load_in_one_step_or_many)
{
	struct load once = {0}, often = {0};

	load_advance(&once, 300 * NSEC_PER_SEC, 3);
	for (int i = 0; i <= 300; i++)
		load_advance(&often, i * NSEC_PER_SEC, 3);
	assert_memory_equal(&once, &often, sizeof(once));
}

static void assert_adds_up(const struct host *host)
{
	struct memory memory = memory_now(host);

	/* As sysstat counts: what is used is neither cache, buffers nor slab. */
	assert_int_equal(memory.free + memory.used + memory.buffers + memory.cached +
			     memory.slab,
			 MEMORY_KIB);
	assert_true(memory.free > 0 && memory.used > 0);
	assert_true(memory.available > 0 && memory.available < MEMORY_KIB);
	assert_true(memory.dirty >= 0 && memory.dirty <= memory.cached);
}

TEST(test_memory_adds_up)
{
	struct host host = {.alive = 5, .cached_kib = BOOT_CACHED_KIB};
	int64_t cached, used;

	assert_adds_up(&host);
	cached = memory_now(&host).cached;
	used = memory_now(&host).used;
	for (int i = 0; i < 100000; i++) {
		uint64_t bytes = 4096 * (uint64_t)draw_between(1, 32);

		memory_cache(&host, bytes);
		host.dirty_kib = bytes / 1024;
		assert_adds_up(&host);
	}
	assert_true(memory_now(&host).cached > cached);
	host.alive = 1000;
	host.programs = 1;
	assert_true(memory_now(&host).used > used);
}
