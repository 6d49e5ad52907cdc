/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fnmatch.h>

#include "activity/activity_private.h"

/* What a timeline records, by the names of its classes. */
struct name {
	const char *glob;
	size_t at; /* of the flag */
};

#define FLAG(member) offsetof(struct activity_recorded, member)

static const struct name names[] = {
    {"sched_switch", FLAG(switches)},       {"sched_wakeup", FLAG(wakeups)},
    {"sched_waking", FLAG(wakeups)},        {"irq_handler_entry", FLAG(interrupts)},
    {"irq_softirq_entry", FLAG(softirqs)},  {"softirq_entry", FLAG(softirqs)},
    {"irq_softirq_raise", FLAG(raises)},    {"softirq_raise", FLAG(raises)},
    {"syscall_entry_*", FLAG(syscalls)},    {"compat_syscall_entry_*", FLAG(syscalls)},
    {"block_rq_complete", FLAG(disk)},      {"power_cpu_frequency", FLAG(frequency)},
    {"cpu_frequency", FLAG(frequency)},     {"timer_hrtimer_expire_entry", FLAG(timers)},
    {"hrtimer_expire_entry", FLAG(timers)}, {"net_if_receive_skb", FLAG(receives)},
    {"netif_receive_skb", FLAG(receives)},
};

static void note(struct activity_recorded *recorded, const char *class)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (fnmatch(names[i].glob, class, 0) == 0)
			*(bool *)((char *)recorded + names[i].at) = true;
}

int activity_recorded(struct activity_recorded *recorded, struct timeline_reader *reader,
		      struct error *error)
{
	struct timeline_query *query = timeline_query_new(
	    reader,
	    "SELECT name FROM event_class WHERE events > 0 AND typeof(name) = 'text'",
	    error);
	struct texts texts = {.count = 0};
	int more = -1;

	*recorded = (struct activity_recorded){.switches = false};
	if (!query || timeline_query_ask(query, NULL, 0, error))
		goto out;
	while ((more = timeline_query_next(query, error)) > 0)
		note(recorded, texts_keep(&texts, timeline_query_row(query)));
out:
	texts_clear(&texts);
	timeline_query_free(query);
	return more;
}
