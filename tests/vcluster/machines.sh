# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034,SC2154
#
# The machines of the virtual cluster under qemu; to be sourced. Uses $directory
# (what ./build left), $scratch, and the options $nodes, $processors, $memory, $port,
# $stagger, $boot_timeout, $offload, $network, $clock_step, $rates and $chrony. Machine N is `nodeN`,
# reached by ssh at 127.0.0.1, port $port + N.

# All machines have one memory of their own and share one with the host, of a
# size that must be a power of two: a page a machine.
shared_bytes=1048576
most_nodes=200
machine_pids=

# start_machine N: in the background. The counter's rate is given, for Linux
# measures it at boot, and wrongly on a busy host.
start_machine()
{
	n=$1
	hex=$(printf %02x "$n")
	# The list of rates begins anew at its end.
	rate=$(echo "$rates" | awk -F , -v n="$n" '{ print $((n - 1) % NF + 1) }')
	# The first time of its real-time clock: it is wrong by so many seconds a node, as the clocks of
	# a cluster that nobody set.
	first_time=$(date -u -d "@$(($(date +%s) + (n - 1) * clock_step))" +%Y-%m-%dT%H:%M:%S)
	words="root=/dev/vda rw init=/vcluster-init console=ttyS0 quiet net.ifnames=0
		mitigations=off audit=0 tsc=reliable clocksource=tsc tsc_early_khz=$khz
		node=$n nodes=$nodes ppm=$rate offload=$offload"
	# On a medium that all share, one hears what all send: the wire.
	set --
	[ "$n" -ne 1 ] || [ "$network" = plain ] ||
		set -- -object filter-dump,id=wire,netdev=cluster,queue=tx,file=wire.pcap,maxlen=160
	# A session of its own: Ctrl-C is for this script, which ends the machines itself.
	TMPDIR=$scratch setsid qemu-system-x86_64 -name "node$n" \
		-accel tcg,thread=multi,tb-size=128 -M pc -cpu qemu64 -smp "$processors" -m "$memory" \
		-nodefaults -no-user-config -no-reboot -display none \
		-rtc "base=$first_time,clock=host" \
		-kernel "$directory/vmlinuz" -initrd "$directory/initrd.img" \
		-append "$(echo "$words" | tr -s '\n\t' ' ')" \
		-drive "file=$directory/image,if=virtio,format=raw,snapshot=on,cache=unsafe" \
		-netdev "socket,id=cluster,mcast=230.0.7.1:$port,localaddr=127.0.0.1" \
		-device "virtio-net-pci,netdev=cluster,mac=52:54:00:07:00:$hex,romfile=" \
		-netdev "user,id=control,restrict=$([ -n "$chrony" ] && echo off || echo on),ipv6=off,net=10.8.$n.0/24,hostfwd=tcp:127.0.0.1:$((port + n))-10.8.$n.15:22" \
		-device "virtio-net-pci,netdev=control,mac=52:54:00:08:00:$hex,romfile=" \
		-device virtio-rng-pci -device virtio-serial-pci \
		-chardev "socket,id=clock,path=n$n.clock,server=on,wait=off" \
		-device virtserialport,chardev=clock,name=clock \
		-object "memory-backend-file,id=shared,share=on,mem-path=shared,size=$shared_bytes" \
		-device ivshmem-plain,memdev=shared \
		-serial "file:n$n.console" "$@" </dev/null >"n$n.qemu" 2>&1 &
	machine_pids="$machine_pids $!"
}

# start_machines: all, one after the other, as they take all processors to boot.
start_machines()
{
	khz=$("$programs/vctruth" --tick-rate) || fail "cannot measure the tick rate"
	truncate -s "$shared_bytes" shared
	for n in $(seq "$nodes"); do
		start_machine "$n"
		[ "$n" -eq "$nodes" ] || sleep "$stagger"
	done
}

# wait_for_machines: until all say that they are ready.
wait_for_machines()
{
	waited=0
	n=1
	while [ "$n" -le "$nodes" ]; do
		if grep -q 'vcluster: .* is ready' "n$n.console" 2>/dev/null; then
			n=$((n + 1))
			continue
		fi
		kill -0 "$(echo "$machine_pids" | cut -d ' ' -f $((n + 1)))" 2>/dev/null ||
			fail "node$n ended: $(tail -n 1 "n$n.qemu")"
		[ $((waited += 1)) -le "$boot_timeout" ] ||
			fail "node$n is not ready after $boot_timeout s: $(tail -n 1 "n$n.console")"
		sleep 1
	done
}

# stop_machines: what they wrote to their disks goes with them.
stop_machines()
{
	# shellcheck disable=SC2086 # one word each
	[ -z "$machine_pids" ] || kill $machine_pids 2>/dev/null || :
	for pid in $machine_pids; do
		wait "$pid" 2>/dev/null || :
	done
	machine_pids=
}
