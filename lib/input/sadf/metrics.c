/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/sadf/metrics.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Metrics that have everything but their names in common. */
struct group {
	struct sadf_metric metric;
	const char *names; /* with blanks between */
};

/* clang-format off */
#define GAUGE(activity, item, unit, names) {{activity, unit, item, METRIC_GAUGE}, names}
#define RATE(activity, item, unit, names)  {{activity, unit, item, METRIC_RATE}, names}
#define TEXT(activity, item, names)        {{activity, NULL, item, METRIC_TEXT}, names}

/*
 * sysstat 12, and names of versions 9 to 11 that differ. See sar(1) for what
 * each is.
 */
static const struct group groups[] = {
	GAUGE("cpu", "cpu", "percent",
	      "%user %usr %nice %system %sys %iowait %steal %irq %soft %guest %gnice %idle"),
	RATE("task", NULL, "/s", "proc/s cswch/s"),
	RATE("interrupt", "interrupt", "/s", "intr/s"),
	RATE("swap", NULL, "pages/s", "pswpin/s pswpout/s"),
	GAUGE("swap", NULL, "kB", "kbswpfree kbswpused kbswpcad"),
	GAUGE("swap", NULL, "percent", "%swpused %swpcad"),
	RATE("paging", NULL, "kB/s", "pgpgin/s pgpgout/s"),
	RATE("paging", NULL, "pages/s",
	     "pgfree/s pgscank/s pgscand/s pgsteal/s pgprom/s pgdem/s"),
	RATE("paging", NULL, "/s", "fault/s majflt/s"),
	GAUGE("paging", NULL, "percent", "%vmeff"),
	RATE("io", NULL, "/s", "tps rtps wtps dtps"),
	RATE("io", NULL, "blocks/s", "bread/s bwrtn/s bdscd/s"),
	RATE("memory", NULL, "pages/s", "frmpg/s bufpg/s campg/s"),
	GAUGE("memory", NULL, "kB",
	      "kbmemfree kbavail kbmemused kbbuffers kbcached kbcommit kbactive kbinact "
	      "kbdirty kbanonpg kbslab kbkstack kbpgtbl kbvmused"),
	GAUGE("memory", NULL, "percent", "%memused %commit"),
	GAUGE("hugepages", NULL, "kB", "kbhugfree kbhugused kbhugrsvd kbhugsurp"),
	GAUGE("hugepages", NULL, "percent", "%hugused"),
	GAUGE("files", NULL, "count", "dentunusd file-nr inode-nr pty-nr"),
	GAUGE("load", NULL, "count",
	      "runq-sz plist-sz ldavg-1 ldavg-5 ldavg-15 blocked"),
	RATE("tty", "tty", "/s",
	     "rcvin/s xmtin/s txmtin/s framerr/s prtyerr/s brk/s ovrun/s"),
	RATE("disk", "disk", "/s", "tps"),
	RATE("disk", "disk", "kB/s", "rkB/s wkB/s dkB/s"),
	RATE("disk", "disk", "sectors/s", "rd_sec/s wr_sec/s"),
	GAUGE("disk", "disk", "kB", "areq-sz"),
	GAUGE("disk", "disk", "sectors", "avgrq-sz"),
	GAUGE("disk", "disk", "count", "aqu-sz avgqu-sz"),
	GAUGE("disk", "disk", "ms", "await svctm"),
	GAUGE("disk", "disk", "percent", "%util"),
	RATE("net", "interface", "/s",
	     "rxpck/s txpck/s rxcmp/s txcmp/s rxmcst/s rxerr/s txerr/s coll/s rxdrop/s "
	     "txdrop/s txcarr/s rxfram/s rxfifo/s txfifo/s"),
	RATE("net", "interface", "kB/s", "rxkB/s txkB/s"),
	RATE("net", "interface", "bytes/s", "rxbyt/s txbyt/s"),
	GAUGE("net", "interface", "percent", "%ifutil"),
	RATE("nfs", NULL, "/s", "call/s retrans/s read/s write/s access/s getatt/s"),
	RATE("nfsd", NULL, "/s",
	     "scall/s badcall/s packet/s udp/s tcp/s hit/s miss/s sread/s swrite/s "
	     "saccess/s sgetatt/s"),
	GAUGE("socket", NULL, "count",
	      "totsck tcpsck udpsck rawsck ip-frag tcp-tw tcp6sck udp6sck raw6sck ip6-frag"),
	RATE("ip", NULL, "/s",
	     "irec/s fwddgm/s idel/s orq/s asmrq/s asmok/s fragok/s fragcrt/s ihdrerr/s "
	     "iadrerr/s iukwnpr/s idisc/s odisc/s onort/s asmf/s fragf/s"),
	RATE("ip6", NULL, "/s",
	     "irec6/s fwddgm6/s idel6/s orq6/s asmrq6/s asmok6/s imcpck6/s omcpck6/s "
	     "fragok6/s fragcr6/s ihdrer6/s iadrer6/s iukwnp6/s i2big6/s idisc6/s odisc6/s "
	     "inort6/s onort6/s asmf6/s fragf6/s itrpck6/s"),
	RATE("icmp", NULL, "/s",
	     "imsg/s omsg/s iech/s iechr/s oech/s oechr/s itm/s itmr/s otm/s otmr/s "
	     "iadrmk/s iadrmkr/s oadrmk/s oadrmkr/s ierr/s oerr/s idstunr/s odstunr/s "
	     "itmex/s otmex/s iparmpb/s oparmpb/s isrcq/s osrcq/s iredir/s oredir/s"),
	RATE("icmp6", NULL, "/s",
	     "imsg6/s omsg6/s iech6/s iechr6/s oechr6/s igmbq6/s igmbr6/s ogmbr6/s "
	     "igmbrd6/s ogmbrd6/s irtsol6/s ortsol6/s irtad6/s inbsol6/s onbsol6/s "
	     "inbad6/s onbad6/s ierr6/s idtunr6/s odtunr6/s itmex6/s otmex6/s iprmpb6/s "
	     "oprmpb6/s iredir6/s oredir6/s ipck2b6/s opck2b6/s"),
	RATE("tcp", NULL, "/s",
	     "active/s passive/s iseg/s oseg/s atmptf/s estres/s retrans/s isegerr/s "
	     "orsts/s"),
	RATE("udp", NULL, "/s", "idgm/s odgm/s noport/s idgmerr/s"),
	RATE("udp6", NULL, "/s", "idgm6/s odgm6/s noport6/s idgmer6/s"),
	RATE("softnet", "cpu", "/s", "total/s dropd/s squeezd/s rx_rps/s flw_lim/s"),
	GAUGE("softnet", "cpu", "count", "blg_len"),
	GAUGE("frequency", "cpu", "MHz", "MHz wghMHz"),
	GAUGE("pressure", NULL, "percent",
	      "%scpu-10 %scpu-60 %scpu-300 %scpu %sio-10 %sio-60 %sio-300 %sio %fio-10 "
	      "%fio-60 %fio-300 %fio %smem-10 %smem-60 %smem-300 %smem %fmem-10 %fmem-60 "
	      "%fmem-300 %fmem"),
	GAUGE("sensor", "sensor", "rpm", "rpm drpm"),
	GAUGE("sensor", "sensor", "celsius", "degC"),
	GAUGE("sensor", "sensor", "V", "inV"),
	GAUGE("sensor", "sensor", "percent", "%temp %in"),
	TEXT("sensor", "sensor", "DEVICE"),
	GAUGE("battery", "battery", "percent", "%cap"),
	RATE("battery", "battery", "percent/min", "cap/min"),
	TEXT("battery", "battery", "status"),
	GAUGE("usb", "usb", "mA", "maxpower"),
	TEXT("usb", "usb", "idvendor idprod manufact product"),
	GAUGE("filesystem", "filesystem", "MB", "MBfsfree MBfsused"),
	GAUGE("filesystem", "filesystem", "percent", "%fsused %ufsused %Iused"),
	GAUGE("filesystem", "filesystem", "count", "Ifree Iused"),
	RATE("fchost", "fchost", "/s", "fch_rxf/s fch_txf/s fch_rxw/s fch_txw/s"),
};
/* clang-format on */

#define GROUPS (sizeof(groups) / sizeof(*groups))
#define SLOTS  1024 /* a power of two, over twice the number of names */

/* Names of all groups by their hash; of one name the order is the table's. */
struct sadf_metrics {
	struct slot {
		const char *name; /* not terminated */
		size_t length;
		const struct sadf_metric *metric;
	} slot[SLOTS];
};

static size_t hash(const char *name, size_t length)
{
	uint32_t sum = 0x811c9dc5u; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ (unsigned char)name[i]) * 0x01000193u;
	return (sum ^ sum >> 15) % SLOTS;
}

static void add(struct sadf_metrics *metrics, const char *name, size_t length,
		const struct sadf_metric *metric)
{
	size_t at = hash(name, length);

	while (metrics->slot[at].name)
		at = (at + 1) % SLOTS;
	metrics->slot[at] = (struct slot){name, length, metric};
}

struct sadf_metrics *sadf_metrics_new(void)
{
	struct sadf_metrics *metrics = mem_zalloc(sizeof(*metrics));

	for (size_t i = 0; i < GROUPS; i++)
		for (const char *at = groups[i].names; *at; at += strspn(at, " ")) {
			size_t length = strcspn(at, " ");

			add(metrics, at, length, &groups[i].metric);
			at += length;
		}
	return metrics;
}

/* Interrupts have the item and the processor the other way round: 27, cpu0. */
static bool is_interrupt(const char *item, const char *name)
{
	if (strcmp(item, "-") == 0 || strcmp(item, "all") == 0)
		return false;
	if (strcmp(name, "all") == 0)
		return true;
	return strncmp(name, "cpu", 3) == 0 && isdigit((unsigned char)name[3]) &&
	       name[3 + strspn(name + 3, "0123456789")] == '\0';
}

static bool fits_better(const struct sadf_metric *metric, const struct sadf_metric *best,
			bool has_item, const char *before)
{
	if ((metric->item_type != NULL) != (best->item_type != NULL))
		return (metric->item_type != NULL) == has_item;
	return before && strcmp(metric->activity, before) == 0;
}

struct sadf_metric sadf_metrics_find(const struct sadf_metrics *metrics, const char *item,
				     const char *name, const char *activity_before)
{
	static const struct sadf_metric unknown = {NULL, NULL, NULL, METRIC_UNKNOWN};
	static const struct sadf_metric interrupt = {"interrupt", "/s", "interrupt",
						     METRIC_RATE};
	const struct sadf_metric *best = NULL;
	size_t length = strlen(name);

	for (size_t at = hash(name, length); metrics->slot[at].name;
	     at = (at + 1) % SLOTS) {
		const struct slot *slot = &metrics->slot[at];

		if (slot->length != length || memcmp(slot->name, name, length) != 0)
			continue;
		if (!best || fits_better(slot->metric, best, strcmp(item, "-") != 0,
					 activity_before))
			best = slot->metric;
	}
	if (best)
		return *best;
	return is_interrupt(item, name) ? interrupt : unknown;
}

const char *metric_kind_name(enum metric_kind kind)
{
	static const char *const names[] = {"", "gauge", "rate", "counter", "text"};

	return names[kind];
}

void sadf_metrics_free(struct sadf_metrics *metrics)
{
	free(metrics);
}
