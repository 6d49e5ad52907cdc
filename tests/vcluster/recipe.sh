# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
#
# The collector's recipe for the virtual cluster; to be sourced. Uses
# $directory, and the options $nodes, $port, $network, $seconds, $interval, $size,
# $bulk, $events, $tracer, $capture, $sar and $slew.

# Options with which ssh reaches the machines: their keys are those that ./build made, whatever
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
	for n in $(seq "$nodes"); do
		printf 'Host node%d\n    Port %d\n' "$n" $((port + n))
	done
}

node_list()
{
	for n in $(seq "$nodes"); do
		printf '%snode%d' "$([ "$n" -eq 1 ] || echo ', ')" "$n"
	done
}

# other_nodes [FORM]: for a shell on a machine, the addresses of all others. N stands for
# the node's number in their form.
other_nodes()
{
	cat <<-EOT
	\$(awk -v me="\$(hostname)" -v form=${1:-10.7.0.N} '
	    \$2 ~ /^node/ && \$2 != me { a = form; sub("N", substr(\$2, 5), a); print a }' /etc/hosts)
	EOT
}

# The flows on a network: where servers are, where clients are, what clients
# connect to. A dash is the node itself, a word its container.
exchanges()
{
	case $1 in
	plain) echo '- - 10.7.0.N' ;;
	routed) echo 'c1 c2 10.9.N.11' ;;
	node-container) printf '%s\n' 'c1 - 10.9.N.11' '- c2 10.7.0.N' ;;
	nat) echo 'c1 c2 10.7.0.N' ;;
	vxlan) echo 'c1 c2 10.10.N.11' ;;
	vlan) echo '- - 10.11.0.N' ;;
	wireguard) echo '- - 10.13.0.N' ;;
	macvlan) echo 'c1 c1 10.12.0.N' ;;
	bond) echo '- - 10.7.0.N' ;;
	esac
}

# The words before a command that choose where it runs.
inside()
{
	[ "$1" = - ] || printf 'ip netns exec %s ' "$1"
}

# Every node sends all others requests by TCP, and over a network of another kind by UDP, too,
# which they answer, and node1 a bulk to node2. On the plain network the last one sends a file to
# node1 by scp, as on the cluster of 2011.
load()
{
	exchanges "$network" | while read -r server client form; do
		serve=$(inside "$server")vctraffic ask=$(inside "$client")vctraffic
		pings="$seconds $((interval * 1000)) $size"
		others=$(other_nodes "$form" | tr -s '\n\t ' ' ')
		cat <<-EOT
		  - command: $serve echo 7001 & $serve sink 7002 & $serve echo-udp 7003
		    roles: all
		    method: background
		  - command: |
		      sleep $((seconds / 3)) &&
		      ctwrap --name bulk -- $ask send $(echo "$form" | tr N 2) 7002 $((bulk * 1000000))
		    roles: first
		    method: background
		  - command: |
		      ctwrap --name ping -- $ask ping $pings 7001 $others
		    roles: all
		    method: background
		EOT
		[ "$network" = plain ] || cat <<-EOT
		  - command: |
		      ctwrap --name ping-udp -- $ask ping-udp $pings 7003 $others
		    roles: all
		    method: background
		EOT
	done
	[ "$network" != plain ] || cat <<-EOT
	  - command: |
	      file=\$(mktemp) && head -c $((bulk * 500000)) /dev/urandom >"\$file" &&
	      sleep $((seconds / 2)) &&
	      ctwrap --name copy -- scp -B -q "\$file" node1:received
	    roles: last
	    method: background
	EOT
	slews
	cat <<-EOT
	  - command: sleep $((seconds + 2))
	    roles: all
	    timeout: $((seconds * 6 + 120))
	EOT
}

# Clocks that are slewed during the load.
slews()
{
	echo "$slew" | tr , '\n' | while IFS=: read -r node ppm after length; do
		[ -n "$node" ] || continue
		cat <<-EOT
		  - command: sleep $after && vcguest slew $ppm $length
		    roles: slewed$node
		    method: background
		EOT
	done
}

write_recipe()
{
	cat <<-EOT
	name: vcluster
	username: root
	hosts: [$(node_list)]
	roledefs:
	  first: node1
	  last: node$nodes
	$(echo "$slew" | tr , '\n' | awk -F : 'NF { print "  slewed" $1 ": node" $1 }' | sort -u)
	events:
	  kernel: [$(echo "$events" | tr , '\n' | grep -v -x syscalls | paste -s -d , | sed 's/,/, /g')]
	$(case ,$events, in *,syscalls,*) echo '  syscalls: all' ;; esac)
	tracer: $tracer
	contexts: [tid$([ "$network" = plain ] || echo ', net_ns')]
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
	if [ "$capture" = on ]; then
		echo "capture:"
		echo "  interfaces: eth0"
		[ "$network" != plain ] || echo "  filter: tcp"
		echo "  snaplen: 128"
	fi
	echo "execute:"
	load
}
