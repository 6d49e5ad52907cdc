/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SADF_METRICS_H
#define CT_INPUT_SADF_METRICS_H

/*
 * What is known of the metrics of sysstat (sar, sadf), by their names. The
 * texts are constants.
 */
enum metric_kind {
	METRIC_UNKNOWN,
	METRIC_GAUGE,   /* a level: at the instant, or a mean of the interval */
	METRIC_RATE,    /* so many a second, over the interval */
	METRIC_COUNTER, /* a total that grows; sar has none, others do */
	METRIC_TEXT,    /* no number */
};

struct sadf_metric {
	const char *activity; /* "cpu", "memory", "disk", ...; NULL: unknown */
	const char *unit;     /* "percent", "kB", "/s", ...; NULL: unknown */
	const char
	    *item_type; /* "cpu", "disk", "interface", ...; NULL: unknown or none */
	enum metric_kind kind;
};

/* "gauge", "rate", "counter", "text"; "" for unknown. */
const char *metric_kind_name(enum metric_kind kind);

struct sadf_metrics;

struct sadf_metrics *sadf_metrics_new(void);

/*
 * What a metric of an item is; all unknown where the table has no such name.
 * Some names belong to two activities: the item tells (tps is of all devices
 * for the item "-", else of that disk), else the activity of the row before
 * (retrans/s is of NFS or of TCP), which must be one of the table's or NULL.
 */
struct sadf_metric sadf_metrics_find(const struct sadf_metrics *metrics, const char *item,
				     const char *name, const char *activity_before);

void sadf_metrics_free(struct sadf_metrics *metrics);

#endif
