/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/presets.h"

#include <string.h>

#include "base/near.h"

const struct recipe_preset recipe_presets[] = {
    {"network", "packets sent and received: what ctsync needs, and tightens bounds with",
     false},
    {"sched", "which thread runs where, wakeups, processes that begin and end", false},
    {"disk", "requests to block devices", false},
    {"irq", "interrupts, soft interrupts and timers", false},
    {"memory", "pages given out and taken back", false},
    {"full", "all of these and more, with all system calls", true},
    {0},
};

/*
 * Names are those of lttng-modules. The state dump is what is there when tracing
 * begins (processes, files, interfaces, disks); it comes only where it is enabled
 * by name, too.
 */
const struct recipe_preset_event recipe_preset_events[] = {
    {"network", "net_dev_queue", true},
    {"network", "net_if_receive_skb", true},
    {"network", "net_dev_xmit", false},
    {"network", "net_napi_gro_receive_entry", false},
    {"network", "net_napi_gro_receive_exit", false},
    {"network", "net_napi_gro_frags_entry", false},
    {"network", "net_napi_gro_frags_exit", false},
    {"network", "lttng_statedump_*", false},
    {"sched", "sched_switch", true},
    {"sched", "sched_waking", false},
    {"sched", "sched_wakeup", false},
    {"sched", "sched_wakeup_new", false},
    {"sched", "sched_migrate_task", false},
    {"sched", "sched_pi_setprio", false},
    {"sched", "sched_process_fork", false},
    {"sched", "sched_process_exec", false},
    {"sched", "sched_process_exit", false},
    {"sched", "sched_process_free", false},
    {"sched", "lttng_statedump_*", false},
    {"disk", "block_rq_issue", true},
    {"disk", "block_rq_complete", true},
    {"disk", "block_rq_insert", false},
    {"disk", "block_rq_requeue", false},
    {"disk", "block_rq_merge", false},
    {"disk", "block_getrq", false},
    {"disk", "block_bio_queue", false},
    {"disk", "block_bio_complete", false},
    {"disk", "block_bio_frontmerge", false},
    {"disk", "block_bio_backmerge", false},
    {"disk", "lttng_statedump_*", false},
    {"irq", "irq_handler_entry", true},
    {"irq", "irq_handler_exit", true},
    {"irq", "irq_softirq_raise", false},
    {"irq", "irq_softirq_entry", false},
    {"irq", "irq_softirq_exit", false},
    {"irq", "timer_hrtimer_expire_entry", false},
    {"irq", "timer_hrtimer_expire_exit", false},
    {"irq", "lttng_statedump_*", false},
    {"memory", "kmem_mm_page_alloc", true},
    {"memory", "kmem_mm_page_free", true},
    {"memory", "lttng_statedump_*", false},
    {"full", "net_*", true},
    {"full", "sched_*", true},
    {"full", "block_*", false},
    {"full", "irq_*", false},
    {"full", "timer_*", false},
    {"full", "power_*", false},
    {"full", "signal_*", false},
    {"full", "skb_*", false},
    {"full", "napi_*", false},
    {"full", "workqueue_*", false},
    {"full", "kmem_mm_page_*", false},
    {"full", "lttng_statedump_*", false},
    {0},
};

const struct recipe_preset *recipe_find_preset(const char *name)
{
	for (const struct recipe_preset *preset = recipe_presets; preset->name; preset++)
		if (strcmp(preset->name, name) == 0)
			return preset;
	return NULL;
}

const char *recipe_near_preset(const char *name)
{
	enum { MOST = 16 };
	const char *names[MOST];
	size_t count = 0;

	for (const struct recipe_preset *preset = recipe_presets; preset->name; preset++)
		names[count++] = preset->name;
	return near_find(name, names, count);
}

/* Those that take a name of their own are told by how they begin. */
const char *recipe_check_context(const char *name)
{
	static const char *const names[] = {
	    "cgroup_ns",
	    "cpu_id",
	    "egid",
	    "euid",
	    "gid",
	    "hostname",
	    "interruptible",
	    "ip",
	    "ipc_ns",
	    "migratable",
	    "mnt_ns",
	    "need_reschedule",
	    "net_ns",
	    "nice",
	    "pid",
	    "pid_ns",
	    "ppid",
	    "preemptible",
	    "prio",
	    "procname",
	    "pthread_id",
	    "sgid",
	    "suid",
	    "tid",
	    "time_ns",
	    "uid",
	    "user_ns",
	    "uts_ns",
	    "vegid",
	    "veuid",
	    "vgid",
	    "vpid",
	    "vppid",
	    "vsgid",
	    "vsuid",
	    "vtid",
	    "vuid",
	    "callstack-kernel",
	    "callstack-user",
	};
	static const char *const beginnings[] = {"perf:", "$app."};
	size_t count = sizeof(names) / sizeof(*names);

	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return NULL;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		size_t length = strlen(beginnings[i]), rest;

		if (strncmp(name, beginnings[i], length) != 0)
			continue;
		rest = strspn(name + length, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm"
					     "nopqrstuvwxyz0123456789_:.-");
		if (rest > 0 && !name[length + rest])
			return NULL;
	}
	if (strcmp(name, "comm") == 0)
		return "procname";
	name = near_find(name, names, count);
	return name ? name : "a context of LTTng, such as tid, procname or vtid";
}
