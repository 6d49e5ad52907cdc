#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016 # commands for nodes stay as they are
#
# The rights of an ordinary user on the nodes, with sudo and without.
load common

setup_file()
{
	cluster_begin
	export cluster namespaces bridge network
	[ "$namespaces" = yes ] && command -v sudo >/dev/null || return 0
	node_up able '' 0 sudo
	node_up plain '' 0 user
}

need_users()
{
	need_namespaces
	command -v sudo >/dev/null || skip 'needs sudo'
}

# Connections to the other node's sshd, which greets.
talk()
{
	printf 'for i in 1 2 3 4 5; do bash -c '\''exec 3<>/dev/tcp/%s/22 && read -r line <&3'\''; sleep 0.1; done' \
		"$(cat "$cluster/plain/address")"
}

@test 'a user with sudo captures, runs commands as root, and gets what root left' {
	need_users
	recipe sudo able plain <<-EOT
		    worker: able
		username: collector
		sar: {interval: 1}
		capture: {interfaces: eth0, filter: tcp}
		execute:
		    - {command: "sleep 1000", roles: able, method: background, use_sudo: true}
		    - command: "id -u; umask 077; mkdir \$CLUSTERTRACE_DIR/data/root; echo secret >\$CLUSTERTRACE_DIR/data/root/file"
		      roles: able
		      use_sudo: true
		    - {command: "id -u; echo 7 packets dropped by kernel >>\$CLUSTERTRACE_DIR/data/log/capture-able.pcap.log", roles: able}
		    - {command: "$(talk | sed 's/"/\\"/g')", roles: able}
		    - {command: "sleep 3", roles: plain}
	EOT
	collect 3 check sudo.yaml
	holds "$scratch/out" '^able *collector .* sudo '
	holds "$scratch/out" '^plain *collector .* none '
	holds "$scratch/out" '^plain: missing: the right to capture; fix: as root: setcap '
	lacks "$scratch/out" '^able: missing: the right'
	collect 3 run sudo.yaml
	run=$(the_run)
	holds "$run/run.json" '"name": "able", .*"status": "ok", "problems": \["capture-able.pcap: lacks 7 packets that were dropped while it was written"\]'
	holds "$run/run.json" '"name": "plain", .*"problems": \["capture-plain.pcap: ended at once: .*permitted)"\]'
	holds "$run/able/commands/2.out" '^0$'
	holds "$run/able/commands/3.out" '^4242$'
	holds "$run/able/root/file" '^secret$'
	[ "$(tcpdump -nr "$run/able/able.pcap" 'tcp port 22' 2>/dev/null | wc -l)" -gt 20 ]
	holds "$run/plain/sar.sadf" idle
	left_clean able
	left_clean plain
	[ -z "$(find_sleeper)" ]
}

# Find the process that the background command left, whichever user runs it.
find_sleeper()
{
	nsenter -t "$(cat "$cluster/able/init")" -p -m pgrep -f '^sleep 1000' || :
}

@test 'a command that wants sudo where there is none fails, and the rest goes on' {
	need_users
	recipe nosudo plain <<-EOT
		username: collector
		sar: {interval: 1}
		execute:
		    - {command: "true", roles: plain, use_sudo: true}
		    - {command: "id -un", roles: plain}
	EOT
	collect 3 run nosudo.yaml
	said 'plain: command 1: .*sudo needs a password here'
	holds "$(the_run)/plain/commands/2.out" '^collector$'
	left_clean plain
}

@test 'install says what it would do, and does it by the script of the user' {
	need_users
	# As if it were not installed on one node.
	nsenter -t "$(cat "$cluster/able/init")" -m mount --bind /dev/null "$(command -v tcpdump)"
	recipe lack able plain <<-EOT
		username: collector
		capture: {interfaces: eth0}
	EOT
	collect 0 -n install lack.yaml
	holds "$scratch/out" '^able: sudo [a-z-]* install .*tcpdump$'
	holds "$scratch/out" '^plain: nothing to install$'
	echo 'sudo -n sh -c "umount /usr/bin/tcpdump" 2>/dev/null; id -un' >script
	collect 0 --script script install lack.yaml
	holds "$scratch/out" '^able: collector$'
	collect 0 -n install lack.yaml
	holds "$scratch/out" '^able: nothing to install$'
}
