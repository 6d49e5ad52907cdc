/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/spill.h"

#include "../scratch.h"

SCRATCH_TEST(it_keeps_what_is_written_and_has_no_name)
{
	struct spill spill = {.what = "of a test"};
	struct error error = ERROR_INIT;
	char text[8] = "";

	assert_int_equal(setenv("TMPDIR", scratch, 1), 0);
	assert_int_equal(spill_add(&spill, "spilled", 7, &error), 0);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(spill_read(&spill, 0, text, 7, &error), 0);
	assert_string_equal(text, "spilled");
	/* Nothing is there that would have to be removed. */
	assert_int_equal(rmdir(scratch), 0);
	assert_int_equal(mkdir(scratch, 0777), 0);
	spill_clear(&spill);
}

SCRATCH_TEST(what_was_added_is_read_and_changed)
{
	struct spill spill = {.what = "of a test"};
	struct error error = ERROR_INIT;
	char text[12] = "";

	assert_int_equal(spill_add(&spill, "hello ", 6, &error), 0);
	assert_int_equal(spill_add(&spill, "world", 6, &error), 0);
	assert_int_equal(spill.size, 12);
	assert_int_equal(spill_change(&spill, 6, "W", 1, &error), 0);
	assert_int_equal(spill_read(&spill, 0, text, 12, &error), 0);
	assert_string_equal(text, "hello World");
	assert_int_equal(spill_read(&spill, 11, text, 2, &error), -1);
	assert_string_equal(error_text(&error), "cannot read the temporary file of a "
						"test: Input/output error");
	error_clear(&error);
	spill_clear(&spill);
	assert_int_equal(setenv("TMPDIR", "none/here", 1), 0);
	assert_int_equal(spill_add(&spill, "x", 1, &error), -1);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_string_equal(error_text(&error), "cannot make a temporary file of a test: "
						"No such file or directory");
	error_clear(&error);
}

/* Two chains in one file, the last chunk of each in memory. */
SCRATCH_TEST(chains_are_read_chunk_by_chunk)
{
	struct spill spill = {.what = "of a test"};
	struct spill_chain chain[2] = {{.first = 0}};
	struct bytes memory = {0};
	struct bytes_cursor chunk;
	struct error error = ERROR_INIT;

	for (unsigned n = 0; n < 20; n++) {
		struct spill_chain *to = &chain[n % 2];

		if (to->open.size == 3)
			assert_int_equal(spill_chain_close(to, &spill, &error), 0);
		if (!to->open.size)
			to->first = n;
		bytes_add_byte(&to->open, (uint8_t)n);
	}
	assert_int_equal(chain[1].chunks, 3);
	for (size_t n = 0; n <= 3; n++) {
		assert_int_equal(
		    spill_chain_read(&chain[1], &spill, n, &memory, &chunk, &error), 0);
		assert_int_equal(chunk.end - chunk.at, n < 3 ? 3 : 1);
		for (uint8_t i = 0; chunk.at < chunk.end; i++)
			assert_int_equal(*chunk.at++, 6 * n + 2u * i + 1);
		assert_int_equal(n < 3 ? chain[1].chunk[n].first : chain[1].first,
				 6 * n + 1);
	}
	spill_chain_clear(&chain[0]);
	assert_int_equal(
	    spill_chain_close(&(struct spill_chain){.first = 1}, &spill, &error), 0);
	spill_chain_clear(&chain[1]);
	bytes_clear(&memory);
	spill_clear(&spill);
}
