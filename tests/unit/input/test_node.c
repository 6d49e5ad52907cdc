/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/run_facts.h"

#include "input/run.h"

#include "rows.h"

static int read_told(struct node_facts *facts, const char *text, const char *wanted,
		     const char *told)
{
	struct problem_list problems = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	int status;

	scratch_text("node.json", text);
	status = node_facts_read(facts, "node.json", &problems, &error);
	assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
	assert_problems(&problems, told);
	return status;
}

static int read_node(struct node_facts *facts, const char *text, const char *wanted)
{
	return read_told(facts, text, wanted, "");
}

SCRATCH_TEST(addresses_of_all_interfaces_are_taken)
{
	struct node_facts facts;

	assert_int_equal(
	    read_node(&facts,
		      "{\"hostname\": \"web\", \"cpus\": 4, \"interfaces\": [\n"
		      " {\"name\": \"lo\"},\n"
		      " {\"name\": \"eth0\", \"addresses\": [\"10.7.0.1/24\","
		      " \"fe80::1%eth0\"]},\n"
		      " {\"name\": \"eth1\", \"addresses\": [\"10.8.0.1\"]}]}",
		      ""),
	    0);
	assert_string_equal(facts.hostname, "web");
	assert_int_equal(facts.addresses, 3);
	assert_int_equal(facts.address[0].family, 4);
	assert_memory_equal(facts.address[0].bytes, "\x0a\x07\0\x01", 4);
	assert_int_equal(facts.address[1].family, 6);
	assert_int_equal(facts.address[1].bytes[0], 0xfe);
	assert_int_equal(facts.address[1].bytes[15], 1);
	assert_int_equal(facts.address[2].bytes[1], 8);
	node_facts_clear(&facts);
	assert_int_equal(facts.addresses, 0);
	node_facts_clear(&facts);
}

TEST(the_output_of_ip_is_as_good)
{
	struct node_facts facts;

	assert_int_equal(
	    read_node(&facts,
		      "[{\"ifname\": \"lo\", \"addr_info\": [{\"local\": \"127.0.0.1\"},"
		      " {\"local\": \"::1\"}]}, {}, {\"addr_info\": [{}, {\"family\":"
		      " \"inet\", \"local\": \"10.7.0.1\", \"prefixlen\": 24}]}]",
		      ""),
	    0);
	assert_int_equal(facts.addresses, 3);
	assert_memory_equal(facts.address[2].bytes, "\x0a\x07\0\x01", 4);
	node_facts_clear(&facts);
}

SCRATCH_TEST(a_missing_file_is_no_failure)
{
	struct error error = ERROR_INIT;
	struct node_facts facts;

	memset(&facts, 0xff, sizeof(facts));
	assert_int_equal(node_facts_read(&facts, "node.json", NULL, &error), 0);
	assert_null(facts.hostname);
	assert_int_equal(facts.addresses, 0);
	assert_int_equal(read_node(&facts, "{}", ""), 0);
	assert_null(facts.hostname);
	assert_int_equal(facts.addresses, 0);
	node_facts_clear(&facts);
}

static void assert_broken(const char *text, const char *wanted)
{
	struct node_facts facts;

	assert_int_equal(read_node(&facts, text, wanted), -1);
	assert_null(facts.hostname);
	assert_int_equal(facts.addresses, 0);
}

SCRATCH_TEST(broken_facts_are_none)
{
	assert_broken("[]", "node.json: not a JSON object");
	assert_broken("{\"hostname\": \"a\", \"interfaces\": [{\"addresses\": [7]}]}",
		      "node.json: interfaces.addresses: expected strings");
	assert_broken("{\"hostname\": \"a\", \"interfaces\": [{\"addresses\":"
		      " [\"10.0.0.1\", \"10.0.0\"]}]}",
		      "node.json: invalid address '10.0.0'");
	assert_broken("{\"interfaces\": [{\"addresses\": [\"\"]}]}",
		      "node.json: invalid address ''");
}

/* Members of other types are as good as none, but not silently. */
SCRATCH_TEST(odd_members_are_told)
{
	struct node_facts facts;

	assert_int_equal(
	    read_told(
		&facts,
		"{\"hostname\": 7, \"cpus\": \"4\", \"cpu_mhz\": \"fast\","
		" \"boot_id\": null, \"tools\": [], \"interfaces\": 5}",
		"",
		"node.json: hostname: ignored (expected a string) (malformed, 1)\n"
		"node.json: cpus: ignored (expected an integer) (malformed, 1)\n"
		"node.json: cpu_mhz: ignored (expected a number) (malformed, 1)\n"
		"node.json: interfaces: ignored (expected an array) (malformed, 1)\n"),
	    0);
	assert_null(facts.hostname);
	assert_int_equal(facts.cpus, 0);
	assert_string_equal(facts.extra,
			    "{\"hostname\":7,\"cpus\":\"4\",\"cpu_mhz\":\"fast\","
			    "\"tools\":[],\"interfaces\":5}");
	node_facts_clear(&facts);
	assert_int_equal(
	    read_node(&facts, "{\"interfaces\": [1, {\"addresses\": 2}]}", ""), 0);
	assert_int_equal(facts.addresses, 0);
	node_facts_clear(&facts);
}

SCRATCH_TEST(all_facts_are_taken)
{
	struct node_facts facts;

	assert_int_equal(
	    read_node(&facts,
		      "{\"hostname\": \"web\", \"kernel\": \"6.1.0\", \"cpus\": 4,"
		      " \"cpu_mhz\": 2400.5, \"mem_kib\": 524288, \"boot_id\": \"b\","
		      " \"clock_source\": \"tsc\", \"rack\": {\"row\": 7},"
		      " \"tools\": {\"lttng\": \"2.13\", \"sysstat\": 12.5}}",
		      ""),
	    0);
	assert_string_equal(facts.kernel, "6.1.0");
	assert_string_equal(facts.boot_id, "b");
	assert_int_equal(facts.cpus, 4);
	assert_int_equal(facts.mem_kib, 524288);
	assert_true(facts.cpu_mhz == 2400.5);
	assert_string_equal(facts.extra,
			    "{\"clock_source\":\"tsc\",\"rack\":{\"row\":7},"
			    "\"tools\":{\"lttng\":\"2.13\",\"sysstat\":12.5}}");
	node_facts_clear(&facts);
}

static void assert_address(const char *text, int family)
{
	struct node_address address;

	memset(&address, 0xff, sizeof(address));
	assert_int_equal(node_address_parse(text, &address), family ? 0 : -1);
	assert_int_equal(address.family, family);
}

TEST(addresses_are_of_two_families)
{
	assert_address("10.7.0.1", 4);
	assert_address("fe80::1", 6);
	assert_address("::ffff:10.7.0.1", 6);
	assert_address("", 0);
	assert_address("10.7.0", 0);
	assert_address("10.7.0.256", 0);
	assert_address("10.7.0.1/24", 0);
	assert_address("web", 0);
	assert_address("fe80:::1", 0);
}
