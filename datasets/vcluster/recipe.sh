# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
#
# What the collector is told of the virtual cluster; to be sourced. Uses
# $directory, and the options $nodes, $port, $seconds, $interval, $size, $bulk,
# $events, $capture and $sar.

# How ssh reaches the machines: their keys are those that ./build made, whatever
# the user's own configuration says.
write_ssh_config()
{
	cat <<-EOT
	Host node*
	    HostName 127.0.0.1
	    User root
	    HostKeyAlias vcluster
	    UserKnownHostsFile "$directory/keys/known_hosts"
	    GlobalKnownHostsFile none
	    StrictHostKeyChecking yes
	    IdentityFile "$directory/keys/id_ed25519"
	    IdentitiesOnly yes
	    IdentityAgent none
	EOT
	n=0
	while [ $((n += 1)) -le "$nodes" ]; do
		printf 'Host node%d\n    Port %d\n' "$n" $((port + n))
	done
}

node_list()
{
	n=0
	while [ $((n += 1)) -le "$nodes" ]; do
		printf '%snode%d' "$([ "$n" -eq 1 ] || echo ', ')" "$n"
	done
}

# For a shell on a machine: the addresses of all others.
other_nodes()
{
	cat <<-'EOT'
	$(awk -v me="$(hostname)" '$2 ~ /^node/ && $2 != me { print $1 }' /etc/hosts)
	EOT
}

# Every node sends small messages to all others, as on the cluster of 2011, node1 a
# bulk to node2, and the last one a file to node1 by scp.
write_recipe()
{
	cat <<-EOT
	name: vcluster
	username: root
	hosts: [$(node_list)]
	roledefs:
	  first: node1
	  last: node$nodes
	events:
	  kernel: [$(echo "$events" | sed 's/,/, /g')]
	contexts: [tid]
	channel:
	  subbuf_size: 1M
	  num_subbuf: 8
	sar:
	  interval: $sar
	  activities: all
	process:
	  interval_ms: $((sar * 1000))
	  whitelist: true
	EOT
	[ "$capture" = off ] || cat <<-EOT
	capture:
	  interfaces: eth0
	  filter: tcp
	  snaplen: 128
	EOT
	cat <<-EOT
	execute:
	  - command: vctraffic echo 7001 & vctraffic sink 7002
	    roles: all
	    method: background
	  - command: |
	      sleep $((seconds / 5)) &&
	      ctwrap --name bulk -- vctraffic send 10.7.0.2 7002 $((bulk * 1000000))
	    roles: first
	    method: background
	  - command: |
	      head -c $((bulk * 500000)) /dev/urandom >/var/tmp/file &&
	      sleep $((seconds / 2)) &&
	      ctwrap --name copy -- scp -B -q /var/tmp/file node1:/var/tmp/received
	    roles: last
	    method: background
	  - command: |
	      ctwrap --name ping -- vctraffic ping $seconds $((interval * 1000)) $size 7001 $(other_nodes)
	    roles: all
	    timeout: $((seconds * 6 + 120))
	EOT
}
