/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vcluster/clock.h"

#include <unistd.h>

static void answer(struct clock_page *page, uint64_t ask)
{
	atomic_store_explicit(&page->mono0_ns, clock_read(CLOCK_MONOTONIC),
			      memory_order_relaxed);
	atomic_store_explicit(&page->real_ns, clock_read(CLOCK_REALTIME),
			      memory_order_relaxed);
	atomic_store_explicit(&page->mono1_ns, clock_read(CLOCK_MONOTONIC),
			      memory_order_relaxed);
	atomic_store(&page->answer, ask);
}

/* Answer until the host has enough, or is silent for too long. */
static void spin(struct clock_page *page)
{
	int64_t last_ns = clock_read(CLOCK_MONOTONIC);
	uint64_t answered = atomic_load(&page->answer);

	for (unsigned int idle = 1;; idle++) {
		uint64_t ask = atomic_load(&page->ask);

		if (ask == CLOCK_ENOUGH)
			return;
		if (ask != answered) {
			answer(page, ask);
			answered = ask;
			last_ns = clock_read(CLOCK_MONOTONIC);
		} else if (idle % 256 == 0 &&
			   clock_read(CLOCK_MONOTONIC) - last_ns > CLOCK_PATIENCE_NS) {
			return;
		}
	}
}

int clock_answer(int port, struct clock_page *page)
{
	const char sleeps = CLOCK_SLEEPS;
	char word;
	ssize_t length;

	while ((length = read(port, &word, 1)) > 0) {
		if (word != CLOCK_WAKE)
			continue;
		spin(page);
		if (write(port, &sleeps, 1) != 1)
			return -1;
	}
	return (int)length;
}
