/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/bend/reject.h"

/* What the messages since the last step leave: bounds that open with time. */
struct opening {
	double at, high, low;
};

/* Whether a message agrees with them; then they are narrowed by it. */
static bool narrow(struct opening *opening, const struct suspect *one, double at,
		   double limit)
{
	double passed = limit * (at - opening->at);

	opening->at = at;
	opening->high += passed;
	opening->low -= passed;
	if (one->forward ? one->v < opening->low : one->v > opening->high)
		return false;
	if (one->forward)
		opening->high = fmin(opening->high, one->v);
	else
		opening->low = fmax(opening->low, one->v);
	return true;
}

/*
 * What contradicts nothing still does so with fewer messages, so to go on as far as
 * it does, again and again, takes the fewest steps.
 */
static size_t count_steps(const struct suspects *suspects, bool all, bool by_y,
			  double limit)
{
	const struct opening open = {0, INFINITY, -INFINITY};
	struct opening opening = open;
	size_t steps = 0;

	for (size_t i = 0; i < suspects->count; i++) {
		const struct suspect *one = &suspects->item[i];
		double at = by_y ? one->x + one->v : one->x;

		if ((one->rejected && !all) || narrow(&opening, one, at, limit))
			continue;
		steps++;
		opening = open;
		opening.at = at;
		narrow(&opening, one, at, limit);
	}
	return steps;
}

size_t reject_least_steps(struct suspects *suspects, bool all, double limit)
{
	size_t by_x, by_y;

	/* A clock that was set back mingles its messages in its own order alone. */
	qsort(suspects->item, suspects->count, sizeof(*suspects->item), reject_by_x);
	by_x = count_steps(suspects, all, false, limit);
	qsort(suspects->item, suspects->count, sizeof(*suspects->item), reject_by_y);
	by_y = count_steps(suspects, all, true, limit);
	return by_x < by_y ? by_x : by_y;
}

enum { KINDS = 64, KINDS_TOLD = 3 };

struct kind {
	uint8_t protocol;
	uint16_t port;
	size_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct kind *p = a, *q = b;

	if (p->count != q->count)
		return p->count > q->count ? -1 : 1;
	if (p->protocol != q->protocol)
		return p->protocol < q->protocol ? -1 : 1;
	return (p->port > q->port) - (p->port < q->port);
}

static size_t count_kinds(const struct suspects *suspects, struct kind kind[KINDS])
{
	size_t kinds = 0, k;

	for (size_t i = 0; i < suspects->count; i++) {
		const struct suspect *one = &suspects->item[i];

		if (!one->rejected || !one->protocol)
			continue;
		for (k = 0; k < kinds; k++)
			if (kind[k].protocol == one->protocol &&
			    kind[k].port == one->port)
				break;
		if (k == KINDS)
			continue;
		if (k == kinds)
			kind[kinds++] = (struct kind){one->protocol, one->port, 0};
		kind[k].count++;
	}
	qsort(kind, kinds, sizeof(*kind), by_count);
	return kinds;
}

static void format_kind(char text[REJECT_KIND], const struct kind *kind)
{
	switch (kind->protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
		snprintf(text, REJECT_KIND, "%zu of %s port %u", kind->count,
			 kind->protocol == IPPROTO_TCP ? "tcp" : "udp", kind->port);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		snprintf(text, REJECT_KIND, "%zu of %s", kind->count,
			 kind->protocol == IPPROTO_ICMP ? "icmp" : "icmp6");
		break;
	default:
		snprintf(text, REJECT_KIND, "%zu of IP protocol %u", kind->count,
			 kind->protocol);
	}
}

char *reject_kinds(const struct suspects *suspects)
{
	struct kind kind[KINDS];
	size_t kinds = count_kinds(suspects, kind);
	char *text = mem_strdup(""), one[REJECT_KIND];

	for (size_t k = 0; k < kinds && k < KINDS_TOLD; k++) {
		char *longer;

		format_kind(one, &kind[k]);
		longer = mem_printf("%s%s%s", text, k ? ", " : ": ", one);
		free(text);
		text = longer;
	}
	return text;
}
