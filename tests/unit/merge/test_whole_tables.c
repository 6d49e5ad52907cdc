/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Whole runs, the recorded and simulated ones or those named as arguments: SQLite
 * finds the file sound, every packet of every capture is in it, and the values
 * of sar are those of the files, one by one.
 */
#include <arpa/inet.h>
#include <math.h>

#include "merged.h"

enum { FILE_HEADER = 24, PACKET_HEADER = 16, MOST_BYTES = 1 << 16, ETHERNET = 14 };

/* A classic capture, as the manual of pcap-savefile has it. */
struct capture_file {
	FILE *file;
	bool is_swapped;
	unsigned unit_ns; /* of the fractions of seconds */
	unsigned char packet[MOST_BYTES];
	uint32_t caplen, length;
	nsec_t ns;
};

static void capture_open(struct capture_file *capture, const char *path)
{
	uint32_t header[FILE_HEADER / 4], magic;

	capture->file = fopen(path, "rb");
	assert_non_null(capture->file);
	assert_int_equal(fread(header, 1, FILE_HEADER, capture->file), FILE_HEADER);
	magic = header[0];
	capture->is_swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
	if (capture->is_swapped)
		magic = __builtin_bswap32(magic);
	assert_true(magic == 0xa1b2c3d4 || magic == 0xa1b23c4d);
	capture->unit_ns = magic == 0xa1b23c4d ? 1 : 1000;
}

static bool capture_next(struct capture_file *capture)
{
	uint32_t header[PACKET_HEADER / 4];

	if (fread(header, 1, PACKET_HEADER, capture->file) != PACKET_HEADER)
		return false;
	for (int i = 0; capture->is_swapped && i < PACKET_HEADER / 4; i++)
		header[i] = __builtin_bswap32(header[i]);
	capture->ns = header[0] * NSEC_PER_SEC + (nsec_t)header[1] * capture->unit_ns;
	capture->caplen = header[2];
	capture->length = header[3];
	assert_true(capture->caplen <= MOST_BYTES);
	return fread(capture->packet, 1, capture->caplen, capture->file) ==
	       capture->caplen;
}

/* IPv4 in Ethernet as captured against its row; other packets by length alone. */
static void check_packet(const struct capture_file *capture,
			 const struct merged_class *class, const struct cell *cell)
{
	const unsigned char *ip = capture->packet + ETHERNET;
	char text[INET_ADDRSTRLEN];

	assert_int_equal(cell[merged_column(class, "caplen")].integer, capture->caplen);
	assert_int_equal(cell[merged_column(class, "len")].integer, capture->length);
	if (capture->packet[12] != 0x08 || capture->packet[13] != 0 || ip[0] != 0x45)
		return;
	inet_ntop(AF_INET, ip + 12, text, sizeof(text));
	assert_true(merged_is(&cell[merged_column(class, "src")], text));
	inet_ntop(AF_INET, ip + 16, text, sizeof(text));
	assert_true(merged_is(&cell[merged_column(class, "dst")], text));
	assert_int_equal(cell[merged_column(class, "id")].integer, ip[4] << 8 | ip[5]);
	assert_int_equal(cell[merged_column(class, "length")].integer,
			 ip[2] << 8 | ip[3]);
	if ((ip[9] != 6 && ip[9] != 17) || (ip[6] & 0x1f) || ip[7])
		return;
	assert_int_equal(cell[merged_column(class, "sport")].integer,
			 ip[20] << 8 | ip[21]);
	assert_int_equal(cell[merged_column(class, "dport")].integer,
			 ip[22] << 8 | ip[23]);
	if (ip[9] == 6)
		assert_int_equal(cell[merged_column(class, "seq")].integer,
				 (uint32_t)ip[24] << 24 | (uint32_t)ip[25] << 16 |
				     (uint32_t)ip[26] << 8 | ip[27]);
}

static int64_t check_capture(const struct merged *merged, int64_t id)
{
	const struct merged_source *source = &merged->source[id - 1];
	struct timeline_query *events = merged_ask(
	    merged, "SELECT id, ts_ns, class FROM event WHERE source = ? ORDER BY id",
	    id);
	struct capture_file *capture = mem_zalloc(sizeof(*capture));
	nsec_t latest = NSEC_MIN;
	const struct cell *cell;
	int64_t count = 0;

	capture_open(capture, source->path);
	for (; (cell = merged_next(events)); count++) {
		struct merged_class *class = &merged->class[cell[2].integer - 1];
		nsec_t ns;

		assert_true(capture_next(capture));
		ns = clock_correct(&source->clock, capture->ns);
		latest = ns > latest ? ns : latest;
		assert_int_equal(cell[1].integer, latest);
		check_packet(capture, class, merged_event(class, cell[0].integer));
	}
	assert_false(capture_next(capture));
	fclose(capture->file);
	free(capture);
	timeline_query_free(events);
	return count;
}

/* Split a line of sadf's text. Return true if it is a value. */
static bool split(char *line, char *field[6])
{
	line[strcspn(line, "\n")] = '\0';
	for (int i = 0; i < 6; i++) {
		field[i] = line ? strsep(&line, "\t") : NULL;
		if (!field[i])
			return false;
	}
	return line == NULL;
}

/* A row (ts_ns, interval_ns, metric, item, value) against a line of the file. */
static void check_sample(const struct cell *cell, char *field[6],
			 const struct clock *clock)
{
	nsec_t interval = strtoll(field[1], NULL, 10) * NSEC_PER_SEC;
	char *end;
	double value = strtod(field[5], &end);

	if (clock)
		assert_int_equal(
		    cell[0].integer,
		    clock_correct(clock, strtoll(field[2], NULL, 10) * NSEC_PER_SEC));
	if (interval > 0)
		assert_int_equal(cell[1].integer, interval);
	else
		assert_int_equal(cell[1].type, CELL_NULL);
	assert_true(merged_is(&cell[2], field[4]));
	if (strcmp(field[3], "-") == 0)
		assert_int_equal(cell[3].type, CELL_NULL);
	else
		assert_true(merged_is(&cell[3], field[3]));
	if (*end) { /* a text */
		assert_int_equal(cell[4].type, CELL_NULL);
	} else {
		assert_int_equal(cell[4].type, CELL_REAL);
		assert_true(cell[4].real == value);
	}
}

/* The clock that places a node's samples, where it has no clock.csv. */
static const struct clock *clock_of(const struct merged *merged, int64_t node,
				    const char *directory)
{
	char *path = mem_printf("%s/clock.csv", directory);
	bool has_samples = access(path, F_OK) == 0;

	free(path);
	for (size_t i = 0; !has_samples && i < merged->sources; i++)
		if (merged->source[i].node == node && !merged->source[i].is_capture)
			return &merged->source[i].clock;
	return NULL;
}

static int64_t check_node(const struct merged *merged, int64_t node,
			  const char *directory)
{
	struct timeline_query *samples = merged_ask(
	    merged,
	    "SELECT s.ts_ns, s.interval_ns, m.name, i.name, s.value FROM sample s "
	    "JOIN metric m ON m.id = s.metric "
	    "LEFT JOIN metric_item i ON i.id = s.item WHERE s.node = ? "
	    "AND m.activity NOT IN ('process', 'sensor') ORDER BY s.rowid",
	    node);
	const struct clock *clock = clock_of(merged, node, directory);
	char *path = mem_printf("%s/sar.sadf", directory), *line = NULL, *field[6];
	FILE *file = fopen(path, "r");
	const struct cell *cell;
	size_t capacity = 0;
	int64_t count = 0;

	while (file && getline(&line, &capacity, file) > 0) {
		if (!split(line, field))
			continue;
		cell = merged_next(samples);
		if (!cell)
			fail_msg("%s: value %" PRId64 " is not there", path, count + 1);
		check_sample(cell, field, clock);
		count++;
	}
	assert_null(merged_next(samples));
	if (file)
		fclose(file);
	free(line);
	free(path);
	timeline_query_free(samples);
	return count;
}

static int64_t check_samples(const struct merged *merged, const char *run)
{
	struct timeline_query *nodes =
	    merged_ask(merged, "SELECT id, name FROM node ORDER BY id", 0);
	const struct cell *cell;
	int64_t count = 0;

	while ((cell = merged_next(nodes))) {
		char *name = merged_text(&cell[1]);
		char *directory = mem_printf("%s/%s", run, name);

		count += check_node(merged, cell[0].integer, directory);
		free(directory);
		free(name);
	}
	timeline_query_free(nodes);
	return count;
}

static void check_sound(const struct merged *merged)
{
	struct timeline_query *query = merged_ask(merged, "PRAGMA integrity_check", 0);
	const struct cell *cell = merged_next(query);

	assert_non_null(cell);
	assert_true(merged_is(cell, "ok"));
	assert_null(merged_next(query));
	timeline_query_free(query);
	query = merged_ask(merged, "PRAGMA foreign_key_check", 0);
	assert_null(merged_next(query));
	timeline_query_free(query);
}

static void check_run(const char *run)
{
	struct merged merged;
	int64_t packets = 0, samples;

	merged_open(&merged, run);
	check_sound(&merged);
	for (size_t i = 0; i < merged.sources; i++)
		if (merged.source[i].is_capture)
			packets += check_capture(&merged, (int64_t)i + 1);
	samples = check_samples(&merged, run);
	print_message("%s: %" PRId64 " packets of captures, %" PRId64 " values of sar\n",
		      run, packets, samples);
	merged_close(&merged);
}

SCRATCH_TEST(captures_and_samples_are_there)
{
	static const char *const simulated[] = {
	    "--seed 3 --set seconds=2 clients",
	    "--seed 7 --set seconds=2 --captures mixed", NULL};

	merged_check_each(simulated, check_run);
}
