-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- The event classes that queries name, with the columns that they name. Their tables are
-- there in every timeline, empty where the class was not recorded, and have these
-- columns, NULL where it was recorded without them. A column is declared as the tracer's
-- field comes: enumerations are TEXT.

CREATE TABLE sched_switch (prev_comm TEXT, prev_tid INTEGER, prev_prio INTEGER,
	prev_state INTEGER, next_comm TEXT, next_tid INTEGER, next_prio INTEGER, cgroup_ns INTEGER);
CREATE TABLE sched_process_fork (parent_comm TEXT, parent_tid INTEGER, parent_pid INTEGER,
	child_comm TEXT, child_tid INTEGER, child_pid INTEGER);
CREATE TABLE sched_process_exec (filename TEXT, tid INTEGER, old_tid INTEGER);
CREATE TABLE sched_process_exit (comm TEXT, tid INTEGER, prio INTEGER);
CREATE TABLE power_cpu_frequency (state INTEGER, cpu_id INTEGER);
CREATE TABLE cpu_frequency (state INTEGER, cpu_id INTEGER);
CREATE TABLE kmem_mm_page_alloc (pfn INTEGER, page INTEGER, "order" INTEGER);
CREATE TABLE kmem_mm_page_free (pfn INTEGER, page INTEGER, "order" INTEGER);
CREATE TABLE mm_page_alloc (pfn INTEGER, page INTEGER, "order" INTEGER);
CREATE TABLE mm_page_free (pfn INTEGER, page INTEGER, "order" INTEGER);
CREATE TABLE kmem_rss_stat (curr INTEGER, member TEXT, size INTEGER);
CREATE TABLE rss_stat (curr INTEGER, member TEXT, size INTEGER);
CREATE TABLE syscall_exit_setsid (ret INTEGER);
CREATE TABLE lttng_statedump_process_cgroup_ns (tid INTEGER, ns_inum INTEGER);
CREATE TABLE net_dev_queue (skbaddr INTEGER, len INTEGER, name TEXT,
	network_header_ipv4_ihl INTEGER,
	network_header_ipv4_tot_len INTEGER,
	network_header_ipv4_id INTEGER,
	network_header_ipv4_ttl INTEGER,
	network_header_ipv4_protocol TEXT,
	network_header_ipv4_saddr BLOB,
	network_header_ipv4_daddr BLOB,
	network_header_ipv4_transport_header_tcp_source_port INTEGER,
	network_header_ipv4_transport_header_tcp_dest_port INTEGER,
	network_header_ipv4_transport_header_tcp_seq INTEGER,
	network_header_ipv4_transport_header_tcp_data_offset INTEGER,
	network_header_ipv4_transport_header_tcp_flags INTEGER,
	network_header_ipv4_transport_header_udp_source_port INTEGER,
	network_header_ipv4_transport_header_udp_dest_port INTEGER,
	network_header_ipv6_payload_len INTEGER,
	network_header_ipv6_hop_limit INTEGER,
	network_header_ipv6_nexthdr TEXT,
	network_header_ipv6_saddr TEXT,
	network_header_ipv6_daddr TEXT,
	network_header_ipv6_transport_header_tcp_source_port INTEGER,
	network_header_ipv6_transport_header_tcp_dest_port INTEGER,
	network_header_ipv6_transport_header_tcp_seq INTEGER,
	network_header_ipv6_transport_header_tcp_data_offset INTEGER,
	network_header_ipv6_transport_header_tcp_flags INTEGER,
	network_header_ipv6_transport_header_udp_source_port INTEGER,
	network_header_ipv6_transport_header_udp_dest_port INTEGER);
CREATE TABLE net_if_receive_skb (skbaddr INTEGER, len INTEGER, name TEXT);
CREATE TABLE netif_receive_skb (skbaddr INTEGER, len INTEGER, name TEXT);
CREATE TABLE packet (interface INTEGER, ttl INTEGER, id_2 INTEGER, src TEXT, dst TEXT, protocol TEXT, length INTEGER, sport INTEGER,
	dport INTEGER, seq INTEGER, flags INTEGER, payload INTEGER);
