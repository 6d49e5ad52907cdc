#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016 # commands for nodes stay as they are
#
# Kernels that are traced by ftrace: with a trace-cmd that writes down how it was called and
# delivers a file of the fixtures, and with the real one where this machine lets it.
load common

setup_file()
{
	cluster_begin
	export cluster namespaces bridge network
	node_with_hook alpha
	mkdir -p "$cluster/alpha/bin"
	cat >"$cluster/alpha/bin/trace-cmd" <<-EOT
		#!/bin/sh
		# Background commands of a shell ignore SIGINT; trace-cmd does not.
		[ -n "\${is_heard:-}" ] || is_heard=yes exec env --default-signal=INT "\$0" "\$@"
		case \$1 in
		--version) printf '\ntrace-cmd version 3.1.6 (none)\n' ;;
		list) cat "$cluster/alpha/events" ;;
		record)
			printf '%s\n' "\$*" >>"$cluster/alpha/recorded"
			[ ! -f "$cluster/alpha/refuse" ] || { cat "$cluster/alpha/refuse" >&2; exit 1; }
			for output; do :; done
			trap 'rm "\$output".*; cp "$CT_SOURCE/tests/fixtures/ftrace/plain.dat" "\$output"; exit' INT
			: >"\$output.\$3.cpu0"
			while :; do sleep 0.1; done
			;;
		esac
	EOT
	chmod 755 "$cluster/alpha/bin/trace-cmd"
	printf '%s\n' ftrace:function irq:irq_handler_entry irq:softirq_entry kmem:mm_page_alloc \
		net:net_dev_queue net:net_dev_xmit net:netif_receive_skb net:netif_rx net:napi_gro_receive_entry \
		raw_syscalls:sys_enter raw_syscalls:sys_exit sched:sched_switch sched:sched_waking \
		syscalls:sys_enter_read syscalls:sys_exit_read syscalls:sys_enter_readv tcp:tcp_probe \
		timer:hrtimer_expire_entry >"$cluster/alpha/events"
}

setup()
{
	set +T # as in tests/golden/common.bash
	[ "$(id -u)" = 0 ] || skip 'needs root'
	scratch=$(mktemp -d)
	cd "$scratch" || return
	echo 'PATH=$here/bin:$PATH' >"$cluster/alpha/before"
	rm -f "$cluster/alpha/recorded" "$cluster/alpha/refuse"
}

# recorded EVENT...: these and no others, once, in the order of the kernel's list.
recorded()
{
	sed 's/^.* -b [0-9]* //; s/ -o .*//; s/-e //g' "$cluster/alpha/recorded" >got
	printf '%s\n' "$*" | diff - got
}

@test 'events have the names of LTTng, and ftrace records them into a buffer of its own' {
	recipe named alpha <<-'EOT'
		tracer: ftrace
		events: {kernel: [network, irq, 'kmem_mm_*', 'tcp:tcp_probe', sched_switch]}
		channel: {kernel: {subbuf_size: 256k, num_subbuf: 4}}
		execute: [{command: "echo done", roles: all}]
	EOT
	collect 0 plan named.yaml
	holds "$scratch/out" '^  all nodes: the kernel is traced by ftrace$'
	collect 3 run named.yaml
	# The preset needs this one.
	said '^ctcollect: alpha: trace-cmd: the kernel has no event irq_handler_exit$'
	holds "$cluster/alpha/recorded" '^record -B clustertrace-[0-9a-f]* -C mono -b 1024 -e .* -o /.*/data/trace.dat$'
	recorded irq:irq_handler_entry irq:softirq_entry kmem:mm_page_alloc net:net_dev_queue \
		net:net_dev_xmit net:netif_receive_skb net:napi_gro_receive_entry sched:sched_switch \
		tcp:tcp_probe timer:hrtimer_expire_entry
	run=$(the_run)
	cmp "$run/alpha/trace.dat" "$CT_SOURCE/tests/fixtures/ftrace/plain.dat"
	holds "$run/alpha/node.json" '"trace-cmd": "3.1.6"'
	[ ! -e "$run/alpha/kernel" ]
	left_clean alpha
}

@test 'system calls are raw ones, or those that the recipe names' {
	recipe calls alpha <<-'EOT'
		tracer: ftrace
		events: {syscalls: all}
	EOT
	collect 0 run calls.yaml
	recorded raw_syscalls:sys_enter raw_syscalls:sys_exit
	rm "$cluster/alpha/recorded"
	sed -i 's/syscalls: all/syscalls: [read, nosuch]/' calls.yaml
	collect 3 run calls.yaml
	said 'alpha: trace-cmd: the kernel has no event nosuch$'
	recorded syscalls:sys_enter_read syscalls:sys_exit_read
}

@test 'auto is ftrace where LTTng has no modules' {
	[ ! -d /sys/module/lttng_tracer ] && ! modinfo lttng-tracer >/dev/null 2>&1 ||
		skip 'this kernel has modules of LTTng'
	recipe auto alpha <<-'EOT'
		tracer: auto
		events: {kernel: [sched_switch], syscalls: none}
	EOT
	collect 3 check auto.yaml
	holds "$scratch/out" '^alpha: missing: a capture: ftrace records no headers of packets, .*; fix: capture: true in the recipe'
	echo 'capture: {interfaces: lo}' >>auto.yaml
	collect 0 check auto.yaml
	holds "$scratch/out" '^alpha .* ftrace '
	collect 0 run auto.yaml
	recorded sched:sched_switch
	# Both: what LTTng lacks is a problem then.
	rm "$cluster/alpha/recorded"
	sed -i 's/auto$/both/' auto.yaml
	collect 3 check auto.yaml
	holds "$scratch/out" '^alpha: missing: the kernel tracer for '
	collect 3 run auto.yaml
	said 'alpha: lttng: the kernel tracer is not loaded'
	recorded sched:sched_switch
}

ftrace_works()
{
	command -v trace-cmd >/dev/null || return
	trace-cmd record -B clustertrace-test -C mono -e sched:sched_switch -o probe.dat true >/dev/null 2>&1 || {
		rmdir /sys/kernel/tracing/instances/clustertrace-test 2>/dev/null
		return 1
	}
}

@test 'the real one, where it may' {
	rm "$cluster/alpha/before"
	ftrace_works || skip 'trace-cmd cannot record here'
	recipe real alpha <<-'EOT'
		tracer: ftrace
		events: {kernel: [sched, network], syscalls: all}
		execute: [{command: "sleep 1", roles: all}]
	EOT
	collect 0 run real.yaml
	run=$(the_run)
	[ -z "$(ls -d /sys/kernel/tracing/instances/clustertrace-* 2>/dev/null)" ]
	ctmerge -q -o run.db "$run" || [ $? -eq 3 ]
	[ "$(sqlite3 run.db "SELECT count(*) > 0 FROM thread_state WHERE state = 'running'")" = 1 ]
	[ "$(sqlite3 run.db 'SELECT count(*) > 0 FROM syscall')" = 1 ]
	left_clean alpha
}

@test 'a trace-cmd that is missing, or cannot trace' {
	recipe missing alpha <<-'EOT'
		tracer: ftrace
		events: {kernel: [sched_switch]}
	EOT
	printf "%s\n  %s\n" 'trace-cmd: Operation not permitted' "Can't enable ftrace" >"$cluster/alpha/refuse"
	collect 1 run missing.yaml
	said "alpha: ftrace: ended at once:   *Can't enable ftrace"
	said 'no node records anything that the recipe asks for'
	left_clean alpha
	[ "$namespaces" = yes ] || return 0
	rm "$cluster/alpha/before"
	# For good, on this node.
	! real=$(command -v trace-cmd) || nsenter -t "$(cat "$cluster/alpha/init")" -m mount --bind /dev/null "$real"
	collect 1 run missing.yaml
	said 'alpha: trace-cmd: not installed, no kernel tracing'
	collect 3 check missing.yaml
	holds "$scratch/out" '^alpha: missing: trace-cmd; fix: '
	collect 0 -n install missing.yaml
}
