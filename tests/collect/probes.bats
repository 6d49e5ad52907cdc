#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Probes: nodes that ping each other while they record.
load common

setup_file()
{
	nodes_for_file alpha beta:/usr/bin/busybox gamma:/bin/bash
}

# with_probe_address NODE ADDRESS: in the recipe on standard input.
with_probe_address()
{
	sed "s/\(^    - .*: \)$1\$/\1{alias: $1, probe_address: $2}/"
}

@test 'probes tie the clocks of nodes that send each other nothing else' {
	need_namespaces
	recipe ring alpha beta gamma <<-'EOT'
		capture: {interfaces: [eth0], filter: tcp port 1}
		probe: {interval: 20ms}
		execute:
		    - {command: "sleep 2", roles: alpha}
	EOT
	collect 0 run ring.yaml
	run=$(the_run)
	holds "$run/run.json" '"status": "ok", "problems": \[\]'
	holds "$run/run.json" '"probes":\[{"node":"alpha","neighbor":"beta","address":"[0-9.]*","interval_ms":20}'
	for pair in alpha/beta beta/alpha beta/gamma gamma/beta gamma/alpha alpha/gamma; do
		log=$run/${pair%/*}/log/probe-${pair#*/}.log
		[ "$(sed -n 's/ packets transmitted.*//p' "$log")" -ge 90 ]
		holds "$log" ', 0% packet loss'
	done
	ctsync "$run" >clocks
	[ "$(grep -c -E ' (exact|accurate)$' clocks)" -eq 3 ]
	for node in alpha beta gamma; do
		left_clean "$node"
	done
}

@test 'check shows the round trip of each probe, and the bound to expect' {
	need_namespaces
	recipe look alpha beta gamma <<-'EOT'
		capture: true
		probe: {interval: 2s, chords: 0}
	EOT
	collect 0 check look.yaml
	holds "$scratch/out" '^PROBE *NEIGHBOR *ADDRESS *ROUND TRIP MS *BOUND US$'
	# Half of the round trip, and 200 ppm of half of the interval.
	grep -E '^(alpha +(beta|gamma)|beta +(alpha|gamma)|gamma +(alpha|beta)) ' "$scratch/out" | awk '
		{ bound = $4 * 500 + 200; off = substr($5, 3) - bound }
		$4 <= 0 || off < -1 || off > 1 { print "wrong: " $0; bad = 1 }
		END { exit bad || NR != 6 }'
}

@test 'a neighbor that does not answer or has no address' {
	need_namespaces
	recipe plain alpha beta gamma <<-'EOT'
		sar: {interval: 1}
		capture: {interfaces: [eth0]}
		probe: true
		execute:
		    - {command: "sleep 1", roles: alpha}
	EOT
	with_probe_address beta nosuch.invalid <plain.yaml | with_probe_address gamma "$network.200" >missing.yaml
	collect 3 check missing.yaml
	holds "$scratch/out" '^alpha, gamma: missing: an answer to ping from beta at nosuch.invalid (ping: .*); fix: '
	for node in 'alpha[a-z, ]*' '[a-z, ]*beta'; do
		holds "$scratch/out" "^$node: missing: an answer to ping from gamma at $network.200 (.* packet loss.*); fix: a probe_address of gamma in hosts"
	done
	holds "$scratch/out" '^gamma *alpha *[0-9.]* *[0-9.]* *+-[0-9]*$'
	sed -i 's/^name: plain/name: missing/' missing.yaml
	collect 3 run missing.yaml
	run=$(echo runs/missing-*)
	holds "$run/run.json" '"probe-beta: ended .*: ping: .*nosuch.invalid'
	holds "$run/run.json" '"probe of gamma: no answer"'
	# The rest of the run is as it was.
	for node in alpha beta gamma; do
		[ -s "$run/$node/sar.sadf" ] && [ -s "$run/$node/$node.pcap" ]
		left_clean "$node"
	done
}

@test 'a node whose name matches that of another has its own probes only' {
	need_namespaces
	recipe dots alpha beta <<-'EOT'
		capture: {interfaces: [eth0]}
		probe: true
	EOT
	sed -i 's/: alpha$/: n-1/; s/: beta$/: n.1/; /^    [a-z]/d; /roledefs/d' dots.yaml
	collect 0 run dots.yaml
	run=$(the_run)
	[ "$(cd "$run" && echo n*/log/probe-*)" = 'n-1/log/probe-n.1.log n.1/log/probe-n-1.log' ]
	holds "$run/run.json" '"node":"n-1","neighbor":"n.1"'
}

@test 'a node without ping' {
	need_namespaces
	recipe without alpha beta <<-'EOT'
		sar: {interval: 1}
		capture: {interfaces: [eth0]}
		probe: true
	EOT
	# The last test: the node stays without.
	nsenter -t "$(cat "$cluster/alpha/init")" -m mount --bind /dev/null "$(command -v ping)"
	collect 3 check without.yaml
	holds "$scratch/out" '^alpha: missing: iputils-ping; fix: .* install iputils-ping$'
	collect 3 run without.yaml
	holds "$(the_run)/run.json" '"ping: not installed, no probes"'
	left_clean alpha
}
