#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016 # commands for nodes stay as they are
#
# Nodes that do not let a collector work: each with a message of its own, and what to do.
load common

setup_file()
{
	cluster_begin
	export cluster namespaces bridge network
	node_with_hook alpha
	if [ "$namespaces" = yes ] && command -v sudo >/dev/null; then
		node_up able '' 0 sudo
	fi
}

setup()
{
	set +T # as in tests/golden/common.bash
	scratch=$(mktemp -d)
	cd "$scratch" || return
	rm -f "$cluster/alpha/before"
	recipe words alpha <<<'process: {interval_ms: 100, whitelist: true}'
}

# Let the node run another program in place of the command.
instead()
{
	cat >"$cluster/alpha/before"
}

# both REASON FIX: patterns, by check and by run; nothing is left.
both()
{
	collect 3 check words.yaml
	holds "$scratch/out" "^alpha: missing: a connection ($1); fix: $2"
	collect 1 run words.yaml
	said "^ctcollect: alpha: not started: $1; fix: $2"
	left_clean alpha
}

@test 'a login shell that runs no commands' {
	instead <<<'echo "This account is currently not available."; exit 1'
	both 'the login shell of this user there is nologin, which runs no commands' '.*chsh -s'
	instead <<<'echo "This service allows sftp connections only."; exit 1'
	both 'its sshd runs no commands for this user, only sftp' '.*ForceCommand internal-sftp'
	instead <<<'head -c 100 >/dev/null; echo "fish: Unsupported use of '\''='\''" >&2; echo "frame=" >&2; echo "^~~~^" >&2; exit 127'
	both 'its login shell becomes fish instead of running the command' 'in its .bashrc'
	if [ -x /usr/bin/fish ]; then
		instead <<<'exec /usr/bin/fish'
		both 'its login shell becomes fish instead of running the command' 'in its .bashrc'
	fi
	instead <<<'echo "Choose a terminal:" >&2; exit 0'
	both 'its login shell or sshd did not run the command: Choose a terminal:' '.*echo works'
	for shell in 'exit 1' 'exec cat >/dev/null' 'exec /usr/lib/openssh/sftp-server' 'exec sh'; do
		instead <<<"$shell"
		both 'its login shell or sshd did not run the command: .*' '.*exec in .bashrc'
	done
	instead <<<'head -c 3000000 /dev/zero | tr "\\0" x'
	both 'it answers with more than 1048576 bytes' 'its login shell'
	instead <<<'[ "$cmd" = true ] || read -r answer'
	both 'its login shell reads input that is for the command' 'in its .bashrc'
}

@test 'a host key that has changed' {
	sed "s|$cluster/known_hosts|$PWD/known|" "$cluster/ssh_config" >config
	ssh-keygen -q -t ed25519 -N '' -f other
	sed "s|ssh-ed25519 .*|$(cut -d ' ' -f 1,2 other.pub)|" "$cluster/known_hosts" >known
	status=0
	ctcollect -F config run words.yaml >out 2>err </dev/null || status=$?
	[ "$status" -eq 1 ]
	holds err '^ctcollect: alpha: not started: no connection: its host key has changed, .*; fix: .*ssh-keygen -R'
	: >known
	ctcollect -F config run words.yaml >out 2>err </dev/null || status=$?
	holds err '^ctcollect: alpha: not started: no connection: Host key verification failed: its key is not known here; fix: log in once by hand'
}

@test 'a node whose clock is hours off' {
	# Its date is three hours behind.
	mkdir -p "$cluster/alpha/bin"
	cat >"$cluster/alpha/bin/date" <<-'EOT'
		#!/bin/sh
		exec /bin/date -d '3 hours ago' "$@"
	EOT
	chmod 755 "$cluster/alpha/bin/date"
	instead <<<'PATH=$here/bin:$PATH'
	collect 0 run words.yaml
	said '^ctcollect: alpha: its clock is -1\(07\|08\)[0-9][0-9] s off; .*NTP'
	collect 0 check words.yaml
	holds "$scratch/out" '^alpha: its clock is -1\(07\|08\)[0-9][0-9][.][0-9] s off'
}

@test 'sudo that wants a terminal' {
	need_namespaces
	command -v sudo >/dev/null || skip 'needs sudo'
	# As sudo says it where requiretty is set, in versions that read no input first.
	printf '#!/bin/sh\necho "sudo: sorry, you must have a tty to run sudo" >&2\nexit 1\n' >"$cluster/able/sudo"
	chmod 755 "$cluster/able/sudo"
	nsenter -t "$(cat "$cluster/able/init")" -m mount --bind "$cluster/able/sudo" "$(readlink -f "$(command -v sudo)")"
	recipe tty able <<-'EOT'
		username: collector
		process: {interval_ms: 100, whitelist: true}
		execute: [{command: "id -u", roles: able, use_sudo: true}]
	EOT
	collect 3 run tty.yaml
	said 'able: command 1: .*sudo needs a terminal (requiretty); as root: "Defaults:collector !requiretty" in sudoers'
	collect 0 check tty.yaml
	holds "$scratch/out" '^able: sudo needs a terminal (requiretty); as root: '
	left_clean able
}

@test 'a recipe whose events no node can trace ends before its first command' {
	[ ! -d /sys/module/lttng_tracer ] || skip 'this kernel can be traced'
	recipe kernel alpha <<-'EOT'
		events: {kernel: [network]}
		execute: [{command: "echo never", roles: all}]
	EOT
	collect 1 run kernel.yaml
	said 'alpha: lttng: the kernel tracer is not loaded'
	said 'no node records anything that the recipe asks for'
	lacks "$scratch/err" 'foreground'
	[ -z "$(ls -A runs)" ]
	left_clean alpha
	# With anything else it goes on.
	echo 'process: {interval_ms: 100, whitelist: true}' >>kernel.yaml
	collect 3 run kernel.yaml
	holds "$(the_run)/alpha/commands/1.out" never
	left_clean alpha
}
