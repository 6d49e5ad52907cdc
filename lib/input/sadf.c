/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/sadf.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"
#include "input/csv.h"

enum {
	COMMENTS_REMEMBERED = 65536,
	MOST_NAMES = 512, /* more than the table below has */
};

static const char is_text[] = "text";

/* Metrics that differ only in their names. */
struct group {
	struct sadf_metric metric;
	const char *names; /* separated by blanks */
};

/* clang-format off */
#define GAUGE(activity, item, unit, names) {{activity, unit, item, "gauge"}, names}
#define RATE(activity, item, unit, names)  {{activity, unit, item, "rate"}, names}
#define TEXT(activity, item, names)        {{activity, NULL, item, is_text}, names}

/* The metrics of sysstat 12, and names of versions 9 to 11 that differ; see sar(1). */
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

struct sadf {
	struct line_reader *lines;
	struct problem_log *log;
	struct texts names; /* the names of the table's metrics */
	struct {
		const struct sadf_metric *metric[2]; /* the second one is NULL unless two
							activities share the name */
	} known[MOST_NAMES];                         /* in the order of `names` */
	const char *activity;   /* activity of the previous row, or NULL */
	struct intmap comments; /* hashes of the comments that were delivered */
	bool has_rows;
	char *host; /* host of all rows, or NULL before the first */
};

static void learn_metrics(struct sadf *sadf)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		for (const char *at = groups[i].names; *at; at += strspn(at, " ")) {
			size_t length = strcspn(at, " ");
			size_t name = texts_put_bytes(&sadf->names, at, length);
			const struct sadf_metric **metric = sadf->known[name].metric;

			assert(name < MOST_NAMES && !metric[1]);
			metric[metric[0] != NULL] = &groups[i].metric;
			at += length;
		}
}

/*
 * Return true if a row is of an interrupt: item and processor are swapped, such as 27,
 * cpu0.
 */
static bool is_interrupt(const char *item, const char *name)
{
	if (strcmp(item, "-") == 0 || strcmp(item, "all") == 0)
		return false;
	if (strcmp(name, "all") == 0)
		return true;
	return strncmp(name, "cpu", 3) == 0 && isdigit((unsigned char)name[3]) &&
	       name[3 + strspn(name + 3, "0123456789")] == '\0';
}

/*
 * Find a metric by its name and item. If two activities share the name, the item decides
 * (tps is of all devices for the item "-", otherwise of that disk), and otherwise the
 * activity of the previous row (retrans/s is of NFS or of TCP).
 */
static struct sadf_metric find_metric(struct sadf *sadf, const char *item,
				      const char *name)
{
	static const struct sadf_metric unknown = {NULL, NULL, NULL, NULL};
	static const struct sadf_metric interrupt = {"interrupt", "/s", "interrupt",
						     "rate"};
	size_t number = texts_put(&sadf->names, name);
	const struct sadf_metric *one, *other;
	bool has_item = strcmp(item, "-") != 0, is_other;

	if (number >= MOST_NAMES || !sadf->known[number].metric[0])
		return is_interrupt(item, name) ? interrupt : unknown;
	one = sadf->known[number].metric[0];
	other = sadf->known[number].metric[1];
	if (!other)
		return *one;
	if ((one->item_type != NULL) != (other->item_type != NULL))
		is_other = (other->item_type != NULL) == has_item;
	else
		is_other = sadf->activity && strcmp(other->activity, sadf->activity) == 0;
	return is_other ? *other : *one;
}

/* Set a row's timestamps. Return false with a problem if they are invalid. */
static bool parse_stamps(struct sadf *sadf, const char *interval, const char *stamp,
			 struct sadf_row *row)
{
	if (number_seconds(stamp, &row->realtime_ns) ||
	    !nsec_is_stamp(row->realtime_ns)) {
		/* sadf prints dates without -U. */
		problem_log_add(sadf->log, PROBLEM_BROKEN, row->line,
				strspn(stamp, "0123456789.") == strlen(stamp)
				    ? "invalid time '%s' skipped (expected seconds "
				      "between 1967 and 2111)"
				    : "invalid time '%s' skipped; use sadf -U",
				stamp);
		return false;
	}
	if (number_seconds(interval, &row->interval_ns)) {
		problem_log_add(sadf->log, PROBLEM_BROKEN, row->line,
				"invalid interval '%s' skipped (expected seconds)",
				interval);
		return false;
	}
	return true;
}

/* Return true if a text is a number with a comma as its decimal point. */
static bool has_decimal_comma(const char *text)
{
	size_t whole = strspn(text, "-0123456789");

	return whole && text[whole] == ',' && text[whole + 1] &&
	       text[whole + 1 + strspn(text + whole + 1, "0123456789")] == '\0';
}

/*
 * Set the metric and the value of a row. Return false with a problem if the value is
 * invalid.
 */
static bool parse_value(struct sadf *sadf, struct sadf_row *row)
{
	row->about = find_metric(sadf, row->item, row->metric);
	sadf->activity = row->about.activity;
	row->value = (double)NAN;
	if (row->about.kind == is_text || !number_real(row->text, &row->value))
		return true;
	if (has_decimal_comma(row->text))
		problem_log_add(
		    sadf->log, PROBLEM_LOCALE, row->line,
		    "number '%s' with a decimal comma skipped; use LC_ALL=C sadf",
		    row->text);
	else
		problem_log_add(sadf->log, PROBLEM_BROKEN, row->line,
				"invalid number '%s' skipped", row->text);
	return false;
}

/* Return true if a comment was delivered before; otherwise remember it. */
static bool is_repeated_comment(struct sadf *sadf, const struct sadf_row *row)
{
	uint64_t key = hash_text(HASH_INIT ^ (uint64_t)row->realtime_ns, row->text);
	int64_t value;

	if (intmap_get(&sadf->comments, key, &value))
		return true;
	if (sadf->comments.count < COMMENTS_REMEMBERED)
		intmap_put(&sadf->comments, key, 1);
	return false;
}

/* Set the kind of a row without a value, by the text after its timestamp. */
static void set_kind(struct sadf_row *row)
{
	static const char restart[] = "LINUX-RESTART", comment[] = "COM ";

	if (strncmp(row->text, comment, strlen(comment)) == 0) {
		row->kind = SADF_COMMENT;
		row->text += strlen(comment);
	} else if (strncmp(row->text, restart, strlen(restart)) == 0) {
		row->kind = SADF_RESTART;
		row->text += strlen(restart);
		row->text += *row->text == '\t';
	}
}

/* Split off a field at the front. Return NULL if no tab follows it. */
static char *split_field(char **text)
{
	char *field = *text, *end = strchr(field, '\t');

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return field;
}

/*
 * Return true if a row has the same host as the first one. Otherwise report it, because
 * sar records a single host.
 */
static bool check_host(struct sadf *sadf, const struct sadf_row *row)
{
	if (!sadf->host)
		sadf->host = mem_strdup(row->host);
	if (strcmp(sadf->host, row->host) == 0)
		return true;
	problem_log_add(sadf->log, PROBLEM_NODE, row->line,
			"a line of host '%s' in a text of '%s', skipped", row->host,
			sadf->host);
	return false;
}

/* Parse a line. Return true if it is a row to deliver. */
static bool parse_line(struct sadf *sadf, const struct text_line *line,
		       struct sadf_row *row)
{
	char *text = line->text, *interval, *stamp;

	*row = (struct sadf_row){.line = line->number, .host = split_field(&text)};
	interval = row->host ? split_field(&text) : NULL;
	stamp = interval ? split_field(&text) : NULL;
	row->text = text;
	if (!stamp) {
		problem_log_add(
		    sadf->log, PROBLEM_BROKEN, line->number,
		    strchr(line->text, ';')
			? "line of sadf -d skipped; use LC_ALL=C sadf -p -U FILE -- -A"
			: "not a line of sadf -p (expected HOST INTERVAL SECONDS ITEM "
			  "METRIC VALUE with tabs between); skipped");
		return false;
	}
	if (strcmp(interval, "-1") == 0)
		set_kind(row);
	sadf->has_rows |= row->kind != SADF_VALUE;
	if (!parse_stamps(sadf, interval, stamp, row) || !check_host(sadf, row))
		return false;
	if (row->kind != SADF_VALUE)
		return row->kind != SADF_COMMENT || !is_repeated_comment(sadf, row);
	row->item = split_field(&text);
	row->metric = row->item ? split_field(&text) : NULL;
	row->text = text;
	if (row->metric && !strchr(text, '\t'))
		return parse_value(sadf, row);
	problem_log_add(sadf->log, PROBLEM_BROKEN, row->line,
			"line skipped (expected HOST INTERVAL SECONDS ITEM METRIC VALUE "
			"with tabs between)");
	return false;
}

struct sadf *sadf_open(const char *path, struct problem_log *log)
{
	struct line_reader *lines = line_reader_open(path, log);
	struct sadf *sadf;

	if (!lines)
		return NULL;
	sadf = mem_zalloc(sizeof(*sadf));
	sadf->lines = lines;
	sadf->log = log;
	learn_metrics(sadf);
	return sadf;
}

bool sadf_next(struct sadf *sadf, struct sadf_row *row)
{
	struct text_line line;

	while (line_reader_next(sadf->lines, &line)) {
		if (!line.ended)
			problem_log_add(sadf->log, PROBLEM_TRUNCATED, line.number,
					"incomplete last line skipped");
		else if (line.length && parse_line(sadf, &line, row))
			return sadf->has_rows = true;
	}
	if (!sadf->has_rows)
		problem_log_add(sadf->log, PROBLEM_EMPTY, 0, "no sample in it");
	return false;
}

void sadf_close(struct sadf *sadf)
{
	if (!sadf)
		return;
	line_reader_close(sadf->lines);
	texts_clear(&sadf->names);
	intmap_clear(&sadf->comments);
	free(sadf->host);
	free(sadf);
}
