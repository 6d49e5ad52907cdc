# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Nodes for the tests of ctcollect: a real sshd each, with keys of its own.
#
# As root each is in namespaces of its own (network, processes, mounts, host name),
# joined by a bridge, so that what they send each other is real traffic, and a
# node can be restarted. Otherwise, or where there are no namespaces, each is an
# sshd of the current user on a port of the loopback device.
#
#   cluster_begin               in $cluster, a new directory
#   node_up NAME [SHELL [KIB [USER]]]
#                               start one; namespaces only: its /bin/sh, the size of
#                               its place for temporary files, and see node-init
#                               a script $cluster/NAME/answer, if it is there before,
#                               is what the node runs for each command ($SSH_ORIGINAL_COMMAND)
#   node_with_hook NAME         start one whose commands $cluster/NAME/before can see and replace
#   node_down NAME              kill it with all of its processes
#   hosts_yaml NAME...          the recipe's lines to reach them
#   cluster_end
#
# $namespaces is `yes` or `no`.

cluster_begin()
{
	cluster=$(mktemp -d)
	chmod 755 "$cluster"
	ssh-keygen -q -t ed25519 -N '' -C test -f "$cluster/key"
	cat >"$cluster/ssh_config" <<-EOT
		Host *
		IdentityFile "$cluster/key"
		IdentitiesOnly yes
		UserKnownHostsFile "$cluster/known_hosts"
		GlobalKnownHostsFile none
		StrictHostKeyChecking yes
	EOT
	: >"$cluster/known_hosts"
	node_count=0
	namespaces=no
	if [ "$(id -u)" = 0 ] && [ -z "${CT_LOOPBACK:-}" ] && unshare -m -n -p -u -i -f --mount-proc \
		sh -c 'mount -t tmpfs none /run && ip link set lo up' >/dev/null 2>&1; then
		bridge_up && namespaces=yes
	fi
	# A directory that root's sshd needs, and that only a service manager makes.
	if [ "$namespaces" = no ] && [ "$(id -u)" = 0 ]; then
		mkdir -p /run/sshd
	fi
}

# A bridge with a network that nobody uses here.
bridge_up()
{
	local _
	bridge=ctb$$
	for _ in 1 2 3 4 5 6 7 8 9; do
		network=10.$((RANDOM % 120 + 100)).$((RANDOM % 256))
		ip route 2>/dev/null | grep -q -F "$network." && continue
		ip link add "$bridge" type bridge && ip addr add "$network.254/24" dev "$bridge" &&
			ip link set "$bridge" up && return
	done
	return 1
}

# A port that is free now, below those that Linux gives to who connects; sshd says if it was
# taken meanwhile.
free_port()
{
	local port
	while :; do
		port=$((RANDOM % 12000 + 20000))
		(exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null || break
	done
	printf '%s\n' "$port"
}

# wait_for WHAT COMMAND...: up to a minute.
wait_for()
{
	local what=$1 i
	shift
	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep 0.1
	done
	printf 'waited in vain for %s\n' "$what" >&2
	return 1
}

# node_with_hook NAME: bring up a node that reads the file $cluster/NAME/before, if it exists,
# in front of each command. It sees the command as $cmd, and may exit instead of it.
node_with_hook()
{
	mkdir -p "$cluster/$1"
	cat >"$cluster/$1/answer" <<-'EOT'
		here=${0%/*}
		cmd=$SSH_ORIGINAL_COMMAND
		[ ! -f "$here/before" ] || . "$here/before"
		exec /bin/sh -c "$cmd"
	EOT
	node_up "$1"
}

node_up()
{
	local name=$1 shell=${2:-} kib=${3:-0} user=${4:-} dir=$cluster/$1
	if [ ! -f "$dir/host_key" ]; then
		mkdir -p "$dir/temp" "$dir/home"
		ssh-keygen -q -t ed25519 -N '' -f "$dir/host_key"
		cp "$cluster/key.pub" "$dir/authorized_keys"
		node_count=$((node_count + 1))
		if [ "$namespaces" = yes ]; then
			printf '%s\n' "$network.$node_count" >"$dir/address"
			printf '22\n' >"$dir/port"
		else
			printf '127.0.0.1\n' >"$dir/address"
			free_port >"$dir/port"
		fi
		sshd_config "$dir" >"$dir/sshd_config"
		know_host "$dir"
	fi
	rm -f "$dir/up" "$dir/wired"
	[ -z "$user" ] || echo collector >"$dir/user"
	if [ "$namespaces" = yes ]; then
		unshare -m -n -p -u -i -f --kill-child --mount-proc \
			"$CT_SOURCE/tests/collect/node-init" "$dir" "$shell" "$kib" "$user" \
			>>"$dir/log" 2>&1 3>&- &
		printf '%s\n' $! >"$dir/pid"
		wait_for "namespaces of $name" [ -e "$dir/up" ] || return
		wire "$name"
	else
		/usr/sbin/sshd -D -e -f "$dir/sshd_config" >>"$dir/log" 2>&1 3>&- &
		printf '%s\n' $! >"$dir/pid"
	fi
	wait_for "sshd of $name" node_answers "$name"
}

sshd_config()
{
	cat <<-EOT
		ListenAddress $(cat "$1/address"):$(cat "$1/port")
		HostKey $1/host_key
		PidFile none
		AuthorizedKeysFile $1/authorized_keys
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		StrictModes no
		UsePAM no
		PermitRootLogin prohibit-password
		UseDNS no
		PrintMotd no
		MaxStartups 200
		LogLevel INFO
		SetEnv TMPDIR=$1/temp HOME=$1/home LTTNG_HOME=$1/home CLUSTERTRACE_WATCH_SECONDS=${CT_WATCH_SECONDS-1}
	EOT
	[ ! -f "$1/answer" ] || printf 'ForceCommand /bin/sh %s/answer\n' "$1"
}

know_host()
{
	local address port
	address=$(cat "$1/address")
	port=$(cat "$1/port")
	[ "$port" = 22 ] || address="[$address]:$port"
	printf '%s %s\n' "$address" "$(cut -d ' ' -f 1,2 "$1/host_key.pub")" >>"$cluster/known_hosts"
}

# The node's end of a pair of virtual devices is called eth0.
wire()
{
	local dir=$cluster/$1 number init
	number=$(cut -d . -f 4 "$dir/address")
	init=$(pgrep -P "$(cat "$dir/pid")")
	printf '%s\n' "$init" >"$dir/init"
	ip link del "$bridge.$number" 2>/dev/null || :
	ip link add "$bridge.$number" type veth peer name eth0 netns "$init" || return
	ip link set "$bridge.$number" master "$bridge" up
	nsenter -t "$init" -n ip addr add "$(cat "$dir/address")/24" dev eth0
	nsenter -t "$init" -n ip link set eth0 up
	# A node that is back has a new device: without this, packets go to the old one for 20 s.
	ip neigh flush to "$(cat "$dir/address")" dev "$bridge"
	: >"$dir/wired"
}

node_answers()
{
	ssh -F "$cluster/ssh_config" -o BatchMode=yes -o ConnectTimeout=5 \
		-l "$(cat "$cluster/$1/user" 2>/dev/null || id -un)" -p "$(cat "$cluster/$1/port")" "$(cat "$cluster/$1/address")" true 2>/dev/null
}

# A command on a node, as the tests' own; not through ctcollect.
on_node()
{
	local name=$1
	shift
	ssh -n -F "$cluster/ssh_config" -o BatchMode=yes -p "$(cat "$cluster/$name/port")" \
		"$(cat "$cluster/$name/address")" "$@"
}

# With namespaces the first process takes all others along. Otherwise the
# sshd and the sessions that it started go.
node_down()
{
	local dir=$cluster/$1 pid
	pid=$(cat "$dir/pid" 2>/dev/null) || return 0
	if [ "$namespaces" = yes ]; then
		kill -KILL "$(cat "$dir/init")" 2>/dev/null || :
	else
		# shellcheck disable=SC2046
		kill -KILL $(descendants "$pid") 2>/dev/null || :
	fi
	wait "$pid" 2>/dev/null || :
	rm -f "$dir/pid"
}

descendants()
{
	local child
	printf '%s\n' "$1"
	for child in $(pgrep -P "$1"); do
		descendants "$child"
	done
}

hosts_yaml()
{
	local name
	printf 'hosts:\n'
	for name; do
		printf '    - "%s:%s": %s\n' "$(cat "$cluster/$name/address")" \
			"$(cat "$cluster/$name/port")" "$name"
	done
}

cluster_end()
{
	local dir
	for dir in "$cluster"/*/; do
		[ ! -f "$dir/pid" ] || node_down "$(basename "$dir")"
	done
	[ "$namespaces" = no ] || ip link del "$bridge" 2>/dev/null || :
	rm -rf "$cluster"
}
