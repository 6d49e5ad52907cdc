/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-messages COUNT NODES: messages between nodes whose clocks are straight
 * lines, as CSV for ctsync --messages; the same for the same arguments.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "random.h"

enum { EXIT_MISUSE = 2, MOST_NODES = 1000, RATE_PPB = 50000 };

#define BEGIN_NS      (1700000000 * NSEC_PER_SEC) /* November 2023 */
#define GAP_NS        (20 * NSEC_PER_USEC)        /* mean time between messages */
#define LEAST_WAY_NS  (50 * NSEC_PER_USEC)
#define QUEUE_TIME_NS (200 * NSEC_PER_USEC) /* mean */

struct node {
	nsec_t offset_ns, rate_ppb;
};

/* Exponentially distributed. */
static nsec_t draw_time(uint64_t *random, nsec_t mean)
{
	return nsec_round(-log(random_share(random)) * (double)mean);
}

static nsec_t local_time(const struct node *node, nsec_t elapsed)
{
	__int128 drift = (__int128)elapsed * node->rate_ppb / NSEC_PER_SEC;

	return BEGIN_NS + elapsed + node->offset_ns + (nsec_t)drift;
}

static void write_messages(const struct node *node, uint64_t nodes, uint64_t count,
			   uint64_t *random)
{
	nsec_t elapsed = 0;

	puts("send_node,send_ns,recv_node,recv_ns");
	for (uint64_t i = 0; i < count; i++) {
		uint64_t from = random_next(random) % nodes;
		uint64_t to = (from + 1 + random_next(random) % (nodes - 1)) % nodes;
		nsec_t way = LEAST_WAY_NS + draw_time(random, QUEUE_TIME_NS);

		elapsed += draw_time(random, GAP_NS);
		printf("node%llu,%lld,node%llu,%lld\n", (unsigned long long)from + 1,
		       (long long)local_time(&node[from], elapsed),
		       (unsigned long long)to + 1,
		       (long long)local_time(&node[to], elapsed + way));
	}
}

int main(int argc, char **argv)
{
	static struct node node[MOST_NODES];
	uint64_t random = RANDOM_SEED;
	nsec_t count, nodes;

	if (argc != 3 || number_integer(argv[1], &count) ||
	    number_integer(argv[2], &nodes) || count < 0 || nodes < 2 ||
	    nodes > MOST_NODES) {
		fprintf(stderr, "bench-messages: want COUNT NODES\n");
		return EXIT_MISUSE;
	}
	for (nsec_t i = 0; i < nodes; i++) {
		node[i].offset_ns = (nsec_t)(random_next(&random) % (10 * NSEC_PER_SEC));
		node[i].rate_ppb =
		    (nsec_t)(random_next(&random) % (2 * RATE_PPB)) - RATE_PPB;
	}
	write_messages(node, (uint64_t)nodes, (uint64_t)count, &random);
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
