#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016,SC2289,SC1010 # commands for nodes stay as they are
#
# Scripts on a node: under each shell, beside what others run there, and with
# names that are meant to do harm.
load common

shells=(dash 'bash --posix' 'busybox sh')

setup_file()
{
	nodes_for_file alpha beta:/usr/bin/busybox
}

@test 'ctwrap: status, streams, record and whitelist, under each shell' {
	for shell in "${shells[@]}"; do
		rm -rf dir
		mkdir dir
		odd=$(printf 'a "b"\\\n\t\377\303\251')
		status=0
		# shellcheck disable=SC2086 # words
		echo in | $shell "$(command -v ctwrap)" --dir dir --name "$odd" --trace-id t-1 \
			--enqueue-ns 1700000000000000000 \
			sh -c 'cat; ls dir/pids; echo err >&2; exit 7' >out 2>err || status=$?
		[ "$status" -eq 7 ]
		printf 'err\n' | diff - err
		pid=$(sed -n 's/.*"pid": \([0-9]*\),.*/\1/p' dir/invocations.jsonl)
		printf 'in\n%s\n' "$pid" | diff - out
		[ -z "$(ls dir/pids)" ]
		holds dir/invocations.jsonl "$(printf '^{"name": "a \\\\"b\\\\"\\\\\\\\\\\\u000a\\\\u0009\357\277\275\303\251", "pid"')"
		holds dir/invocations.jsonl '"enqueued_ns": 1700000000000000000, "started_ns": [0-9]\{19\}, "ended_ns": [0-9]\{19\}, "status": 7, "argv": \["sh", "-c", "cat; ls dir/pids; echo err >&2; exit 7"\], "trace_id": "t-1", "bytes": [0-9]*'
	done
}

@test 'ctwrap: an enqueue after the start is the start; a signal is handed on' {
	ctwrap --dir . --enqueue-ns=9000000000000000000 true
	read -r enqueued started < <(sed 's/.*"enqueued_ns": \([0-9]*\), "started_ns": \([0-9]*\),.*/\1 \2/' invocations.jsonl)
	[ "$enqueued" = "$started" ]
	ctwrap --dir . sleep 1000 3>&- &
	wait_for 'the task' compgen -G 'pids/*' >/dev/null
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 143 ]
	holds invocations.jsonl '"status": 143, "argv": \["sleep", "1000"\]'
}

@test 'ctsample: what is asked for and nothing else, under each shell' {
	cp "$(command -v sleep)" 'o,d"d
(1) S 2'
	for shell in "${shells[@]}"; do
		./'o,d"d
(1) S 2' 60 3>&- &
		odd=$!
		sh -c 'sleep 61; :' 3>&- &
		parent=$!
		mkdir -p pids
		: >"pids/$parent"
		echo 1 >pids/4194304
		echo 1 >"pids/$$"
		# shellcheck disable=SC2086 # words
		$shell "$(command -v ctsample)" --match 'o,d*' --interval 20 --count 3 >match.csv 2>err
		# shellcheck disable=SC2086
		$shell "$(command -v ctsample)" --whitelist pids -i 20 -n 3 -o white.csv 2>>err
		# shellcheck disable=SC2086
		$shell "$(command -v ctsample)" --all -n 1 >all.csv 2>>err
		kill "$odd"
		pkill -P "$parent"
		kill "$parent" 2>/dev/null || :
		holds match.csv '^realtime_ns,pid,ppid,comm,state,utime_ns,stime_ns,rss_kib,read_bytes,write_bytes$'
		[ "$(grep -c "^[0-9]\{19\},$odd,$$,\"o,d\"\"d\$" match.csv)" -eq 3 ]
		[ "$(grep -c '^(1) S 2",[A-Z],[0-9]*,[0-9]*,[1-9][0-9]*,' match.csv)" -eq 3 ]
		[ "$(wc -l <match.csv)" -eq 7 ]
		# The child counts; a pid of long ago and one that is another's now do not.
		[ "$(grep -c ",$parent,sleep," white.csv)" -eq 3 ]
		[ "$(grep -c "^[0-9]*,$parent," white.csv)" -eq 3 ]
		[ "$(wc -l <white.csv)" -eq 7 ]
		[ "$(ls pids)" = "$parent" ]
		[ "$(grep -c '^ctsample: [13] samples, [0-9.]* % of a processor$' err)" -eq 3 ]
		holds all.csv "^[0-9]*,$$,"
		lacks all.csv ',kthreadd,'
		rm -r pids
	done
}

@test 'the clocks of a node, as each shell reads them' {
	for shell in "${shells[@]}"; do
		rm -rf run
		mkdir -p run/data run/procs
		printf 'test\nnode\n' >run/who
		(cd "$CT_SOURCE/collect-scripts" &&
			cat node/base.sh common.sh node/sources.sh node/ask.sh node/claims.sh node/recording.sh) >run/node.sh
		# shellcheck disable=SC2086 # words
		$shell run/node.sh clock 3>&- &
		wait_for 'a sample' grep -q '^[0-9]' run/data/clock.csv
		kill -TERM $!
		wait $! || :
		[ "$(grep -c '^[0-9]\{19\},[0-9]*,[0-9]*$' run/data/clock.csv)" -eq 2 ]
		# The kernel says when it was booted, to the second.
		booted=$(sed -n 's/^btime //p' /proc/stat)
		while IFS=, read -r real mono boot; do
			[ "$real" != realtime_ns ] || continue
			apart=$((real - boot - booted * 1000000000))
			[ "$apart" -gt -2000000000 ] && [ "$apart" -lt 2000000000 ] || {
				printf '%s: %s %s %s, booted %s\n' "$shell" "$real" "$mono" "$boot" "$booted"
				return 1
			}
		done <run/data/clock.csv
	done
}

# says NAME: a program in bin/ that prints its input, and notes each call in calls.
says()
{
	{
		printf '#!/bin/sh\necho %s "$*" >>"%s/calls"\ncat <<"TEXT"\n' "$1" "$PWD"
		cat
		echo TEXT
	} >"bin/$1"
	chmod +x "bin/$1"
}

# rows: those of clock_claims.csv without their times.
rows()
{
	holds "$1" '^realtime_ns,took_ns,source,offset_ns,bound_ns,frequency_ppb,estimate_ns,status$'
	grep -v '^realtime_ns' "$1" | grep -x '[0-9]\{19\},[0-9]\{1,10\},.*' | cut -d , -f 3-
}

# clock_claims SHELL SOURCE [PROGRAM]: what the node's script makes of the programs in bin/, once this
# source has answered and this program was called, and once more at the end.
clock_claims()
{
	rm -rf run calls
	mkdir -p run/data run/procs
	printf 'test\nnode\n' >run/who
	(cd "$CT_SOURCE/collect-scripts" &&
		cat node/base.sh common.sh node/sources.sh node/ask.sh node/claims.sh node/recording.sh) |
		sed "s|/dev/ptp|$PWD/dev/ptp|" >run/node.sh
	# shellcheck disable=SC2086 # words
	PATH=$PWD/bin:$PATH $1 run/node.sh clock 3>&- &
	wait_for 'the first sample' grep -q -s "^[0-9,]*,$2," run/data/clock_claims.csv
	[ -z "${3:-}" ] || wait_for "a call of $3" grep -q "^$3 " calls
	kill -TERM $!
	wait $! || :
}

@test 'the words of a line of a plan' {
	cat >words <<-'END'
		NL='
		'
		show() { printf '%s' $#; printf '[%s]' "$@"; echo; }
		with_words show one
		with_words show "a 'x y'\\''z' '' c"
		with_words show "a 'l1'\"\$NL\"'l2' '* '"
		with_words show "a it's * \"q\" \\n"
		with_words show "a ''\\'''"
	END
	for shell in "${shells[@]}"; do
		# shellcheck disable=SC2086 # words
		cat "$CT_SOURCE/collect-scripts/common.sh" words | $shell >said
		diff - said <<-'END'
			1[one]
			4[a][x y'z][][c]
			3[a][l1
			l2][* ]
			5[a][it's][*]["q"][\n]
			2[a][']
		END
	done
}

@test 'what the daemons of Debian 12 and 13 print' {
	mkdir bin dev
	: >dev/ptp0
	: >dev/ptp1
	for release in 12 13; do
		for program in chronyc ntpq timedatectl pmc adjtimex phc_ctl; do
			says "$program" <"$CT_SOURCE/tests/fixtures/claims/debian$release/$program"
		done
		clock_claims dash phc:ptp1
		rows run/data/clock_claims.csv | sort -u
		echo
	done >claims
	diff - claims <<-'END'
		adjtimex,0,57016000,0,16000,synchronized
		chrony,1287,6988,-3,801,synchronized
		chrony:127.0.0.1,1459,4572,,,combined
		chrony:127.0.0.2,1768,6917,,,selected
		chrony:127.0.0.3,1890,7059,,,combined
		chrony:127.0.0.4,-19997940,9205,,,falseticker
		chrony:127.0.0.5,,,,,unusable
		ntpd,-6684,11085000,-64,0,synchronized
		phc:ptp0,-37000000412,,,,measured
		phc:ptp1,-37000000412,,,,measured
		ptp4l,-570,,,,synchronized
		timesyncd,,,0,,synchronized

		adjtimex,0,13665516000,0,16000,synchronized
		chrony,2182,4606,-23,97,synchronized
		chrony:127.0.0.1,1773,5852,,,selected
		chrony:127.0.0.2,2276,6505,,,combined
		chrony:127.0.0.3,2443,8319,,,combined
		chrony:127.0.0.4,-19997777,6349,,,falseticker
		chrony:127.0.0.5,,,,,unusable
		ntpd,-12109,10530000,-37,0,synchronized
		phc:ptp0,-37000000387,,,,measured
		phc:ptp1,-37000000387,,,,measured
		ptp4l,-1657,,,,synchronized
		timesyncd,,,0,,synchronized

	END
}

# Their forms with values that tell the units apart, and with an ntpd that may set the clock.
@test 'what clock daemons claim, as each shell asks them' {
	mkdir bin
	says chronyc <<-'END'
		0A000001,10.0.0.1,3,1795923148.730386773,0.009998909,-0.000000008,0.000000196,0.027,-0.250,0.027,0.000005441,0.000000581,0.3,Normal
		^,*,10.0.0.1,2,6,377,63,0.000012000,-0.009990000,0.000003000
		=,~,2001:db8::2,2,6,377,0,-0.000000500,-0.000000500,0.000100000
		#,-,GP,S,0,4,17,4294967295,0.000000000,0.000000000,0.000000000
		#,-,G;P,0,4,17,4294967295,0.000000000,0.000000000,0.000000000
	END
	says ntpq <<-'END'
		associd=0 status=0615 leap_none, sync_ntp, 1 event, clock_sync,
		leap=00, stratum=3, precision=-23, rootdelay=11.193, rootdisp=23.516,
		refid=10.0.0.1, reftime=eeb61b4d.7e04b000 2026-11-29T03:32:29.492,
		tc=6, peer=31215, offset=0.123456, frequency=-12.345, sys_jitter=0.150000,
		clk_jitter=0.061, clock=eeb61b60.12345678 2026-11-29T03:32:48.071,
		processor="x86_64", system="Linux/6.1.0", version="ntpd ntpsec-1.2.2",
		clk_wander=0.004, tai=37, leapsec="2017-01-01T00:00Z"
	END
	says timedatectl <<-'END'
		SystemNTPServers=10.0.0.1
		ServerName=10.0.0.1
		PollIntervalUSec=1min 4s
		NTPMessage={ Leap=0, Version=4, Mode=4, Stratum=2, Precision=-25, RootDelay=11.108ms, RootDispersion=762us, Ignored=no, PacketCount=3, Jitter=97us }
		Frequency=-531200
	END
	says pmc <<-'END'
		sending: GET TIME_STATUS_NP
			0242ac.fffe.110002-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP
				master_offset              -57
				ingress_time               1795923149489567000
				cumulativeScaledRateOffset +0.000000012
				scaledLastGmPhaseChange    0
				gmTimeBaseIndicator        0
				lastGmPhaseChange          0x0000'0000000000000000.0000
				gmPresent                  true
				gmIdentity                 0242ac.fffe.110001
	END
	says adjtimex <<-'END'
		         mode: 0
		       offset: 250000
		    frequency: 655360
		     maxerror: 4250
		     esterror: 130
		       status: 8193
		time_constant: 7
		         tick: 10001
	END
	for shell in "${shells[@]}"; do
		clock_claims "$shell" adjtimex
		read_rows=$(rows run/data/clock_claims.csv)
		printf '%s\n' chrony,-9998909,3302,27,196,synchronized \
			chrony:10.0.0.1,-9986909,84728,,,selected chrony:2001:db8::2,-9999409,101277,,,variable \
			chrony:G_P,,,,,excluded ntpd,-123456,29112500,12345,150000,synchronized timesyncd,,,8105,,synchronized \
			ptp4l,-57,,,,synchronized adjtimex,-250000,4250000,-110000,130000,synchronized >want
		head -n 8 <<<"$read_rows" | diff - want
		[ "$(sort -u <<<"$read_rows" | wc -l)" -eq 8 ]
	done
}

@test 'a clock that no daemon vouches for is not claimed to be right; what is not there is not asked again' {
	mkdir bin
	says chronyc <<<'00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,0.0,Not synchronised'
	says ntpq <<<'***Server reports data not found'
	says timedatectl <<<'Frequency=0'
	: | says pmc
	printf '#!/bin/sh\nexit 1\n' >bin/adjtimex
	chmod +x bin/adjtimex
	clock_claims dash timesyncd pmc
	[ "$(rows run/data/clock_claims.csv | sort -u)" = 'chrony,0,1500000000,0,0,unsynchronized
timesyncd,,,0,,unsynchronized' ]
	[ "$(grep -c '^pmc' calls)" -eq 1 ]
	[ "$(grep -c '^chronyc -c -n -m tracking sources$' calls)" -ge 2 ]
	says chronyc <<<'7F7F0101,,1,1795923135.429789366,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,0.000000000,0.000000000,0.0,Normal'
	rm bin/adjtimex
	says ntptime <<-'END'
		ntp_gettime() returns code 5 (ERROR)
		  time eeb61b4d.7e04b000 2026-11-29T03:32:29.492Z, (.492259),
		  maximum error 16000000 us, estimated error 16000000 us, TAI offset 0
		ntp_adjtime() returns code 5 (ERROR)
		  modes 0x0 (),
		  offset 0.000 us, frequency 0.000 ppm, interval 1 s,
		  maximum error 16000000 us, estimated error 16000000 us,
		  status 0x40 (UNSYNC),
		  time constant 2, precision 1.000 us, tolerance 500 ppm,
	END
	says ntpq <<-'END'
		associd=0 status=c016 leap_alarm, sync_unspec, 1 event, restart,
		leap=11, stratum=16, precision=-24, rootdelay=0.0, rootdisp=1.095,
		refid=INIT, reftime=00000000.00000000 2036-02-07T06:28:16.000Z, tc=0, peer=0,
		offset=0.0, frequency=0.0, sys_jitter=0.0, clk_jitter=6e-05,
		clock=eeb6d2c7.9f65c134 2026-11-29T16:35:19.622Z, processor="x86_64",
		system="Linux/6.18.44-fc-v657", version="ntpd ntpsec-1.2.2", clk_wander=0.0,
		mintc=0
	END
	clock_claims dash adjtimex
	[ "$(rows run/data/clock_claims.csv | grep -v timesyncd | sort -u)" = 'adjtimex,0,16000000000,0,16000000000,unsynchronized
chrony,0,0,0,0,local
ntpd,0,1095000,0,0,unsynchronized' ]
	says ntpq <<-'END'
		associd=0 status=0514 leap_none, sync_local, 1 event, freq_mode,
		leap=00, stratum=6, precision=-24, rootdelay=0.0, rootdisp=10.146,
		refid=127.127.1.0, reftime=eeb6d320.495c938e 2026-11-29T16:36:48.286Z, tc=3,
		peer=17767, offset=0.0, frequency=0.0, sys_jitter=0.0, clk_jitter=3.1e-05,
		clock=eeb6d322.f03e3274 2026-11-29T16:36:50.938Z, processor="x86_64",
		system="Linux/6.18.44-fc-v657", version="ntpd ntpsec-1.2.2", clk_wander=0.0,
		mintc=0
	END
	clock_claims dash adjtimex
	[ "$(rows run/data/clock_claims.csv | grep ntpd | sort -u)" = 'ntpd,0,10146000,0,0,local' ]
}

@test 'sessions of others in LTTng stay as they are, and so does their daemon' {
	[ "$(id -u)" != 0 ] || need_namespaces
	on_node alpha 'lttng-sessiond --daemonize && lttng create theirs --output=$TMPDIR/theirs && lttng enable-event -u their_provider:* && lttng start' >/dev/null
	before=$(on_node alpha 'cat /run/lttng/lttng-sessiond.pid 2>/dev/null || cat $HOME/.lttng/lttng-sessiond.pid')
	recipe mine alpha beta <<<'events: {userspace: ["*"]}'
	collect 0 run mine.yaml
	on_node alpha 'lttng list theirs' >list
	holds list 'session theirs: \[active\]'
	on_node alpha 'lttng list' >list
	lacks list clustertrace
	after=$(on_node alpha 'cat /run/lttng/lttng-sessiond.pid 2>/dev/null || cat $HOME/.lttng/lttng-sessiond.pid')
	[ "$before" = "$after" ]
	# A daemon that did not run before does not run afterwards.
	collect 0 sessiond status mine.yaml
	holds "$scratch/out" "^alpha: running, pid $before, sessions: 1"
	holds "$scratch/out" '^beta: not running'
	collect 3 sessiond stop mine.yaml
	said 'alpha: the session daemon has 1 sessions, destroy them first'
	on_node alpha 'lttng destroy theirs' >/dev/null
	collect 0 sessiond restart mine.yaml
	holds "$scratch/out" '^beta: running, pid [0-9]*, sessions: 0'
	lacks "$scratch/out" "pid $before,"
	collect 0 sessiond stop mine.yaml
	holds "$scratch/out" '^alpha: not running'
	on_node alpha 'rm -r $TMPDIR/theirs'
}

@test 'a process that only has the pid of ours is not ended' {
	recipe foreign alpha <<<'sar: {interval: 1}'
	collect 0 start foreign.yaml
	here=$(dirname "$(find "$cluster/alpha/temp" -name node.sh)")
	on_node alpha 'sleep 1000 >/dev/null 2>&1 & echo $!' >pid
	read -r foreign <pid
	# As if sar had ended, and its pid were another's now.
	read -r pid _ <"$here/procs/sar"
	on_node alpha "kill -KILL $pid"
	echo "$foreign 1" >"$here/procs/sar"
	collect 3 stop "$(the_run)"
	said 'alpha: sar: ended before its time'
	on_node alpha "kill -0 $foreign && kill $foreign"
	# A directory that does not bear our mark is not removed.
	echo theirs >"$here/who"
	collect 3 fetch "$(the_run)"
	said 'alpha: not removed there: .*: not ours, left as it is'
	[ -f "$here/node.sh" ]
	rm -r "$(dirname "$here")"
}

@test 'a private directory that others may write to is refused' {
	recipe open alpha <<<'sar: {interval: 1}'
	place=$cluster/alpha/temp/clustertrace-$(id -u)
	mkdir -m 755 "$place"
	collect 1 run open.yaml
	said "alpha: not started: $place: expected a directory of .* with mode 700"
	rmdir "$place"
	mkdir elsewhere
	chmod 700 elsewhere
	ln -s "$PWD/elsewhere" "$place"
	collect 1 -o again run open.yaml
	[ -z "$(ls elsewhere)" ]
	rm "$place"
}

@test 'names that are meant to do harm are just names' {
	evil=$(printf "x; touch pwned \$(touch pwned) '\"\`touch pwned\`\n-rf")
	mkdir "$evil"
	recipe odd alpha beta <<-EOT
		sar: {interval: 1}
		execute:
		    - {command: "printf '%s' %(what)s", roles: all}
		    - roles: alpha
		      command: |
		        cd "\$CLUSTERTRACE_DIR/data" && mkdir 'a b' && echo 1 >'a b/c d;e'
		        echo 2 >--x && echo 3 >'q"uote'
		        echo 5 >'blank ' && echo 6 >.dot
		        echo 4 >"new
		        line"
		tasks: {command: "printf '%s' %(input)s", roles: all, inputs: ["-n", "\$(touch pwned)", "a'b\"c", "x\ny"]}
		parameters: {what: ["'; touch pwned; '\n\$(touch pwned)"]}
	EOT
	mv odd.yaml "$evil/-n o'dd.yaml"
	collect 3 -o "$evil/ru ns" run "$evil/-n o'dd.yaml"
	(cd "$evil" && collect 0 -o "-n" start -- "-n o'dd.yaml")
	(cd "$evil" && collect 0 -o "-n" stop -- "-n o'dd.yaml" && collect 0 -o "-n" fetch -- "-n o'dd.yaml")
	run=$(echo "$evil/ru ns"/*)
	for node in alpha beta; do
		printf "'; touch pwned; '\n\$(touch pwned)" | diff - "$run/$node/commands/1.out"
	done
	cat "$run"/*/commands/task-*.out >tasks
	[ "$(wc -c <tasks)" -eq $((2 + 14 + 5 + 3)) ]
	holds "$run/run.json" '"name": "alpha", .*"problems": \["1 files with odd names were not fetched, they are in '
	printf "%s\n" 1 2 3 5 6 | diff - <(cat "$run/alpha/a b/c d;e" "$run/alpha/--x" "$run/alpha/q\"uote" "$run/alpha/blank " "$run/alpha/.dot")
	[ -z "$(find . "$cluster" -name pwned)" ]
	rm -r "$cluster"/alpha/temp/clustertrace-*
	left_clean beta
}

@test 'a host name is what it is' {
	need_namespaces
	recipe named alpha <<<'process: {interval_ms: 100, whitelist: true}'
	for name in 'two words,' '*'; do
		printf %s "$name" | nsenter -t "$(cat "$cluster/alpha/init")" -m -p -u tee /proc/sys/kernel/hostname
		collect 0 run named.yaml
		grep -F "\"hostname\": \"$name\", \"kernel\": \"$(uname -r)\", \"machine\": \"$(uname -m)\"" \
			"$(the_run)/alpha/node.json"
		rm -r runs
	done
}

@test 'fetch: none leaves the data on the nodes, until it is removed' {
	recipe left alpha beta <<-'EOT'
		fetch: none
		sar: {interval: 1}
		execute:
		    - {command: "sleep 1.2; echo of %(node)s", roles: all}
	EOT
	collect 1 --with-merge run left.yaml
	said 'fetch: none leaves nothing here to merge'
	collect 0 run left.yaml
	run=$(the_run)
	[ ! -e "$run/alpha" ]
	# The end names each node's data, as ctbatch takes it, and run.json does, too.
	sed -n 's/^.*`ctbatch -o OUT \(.*\)` works on it.*$/\1/p' "$scratch/err" >left
	read -r alpha beta rest <left
	[ -z "$rest" ]
	holds "${alpha#alpha=}/commands/1.out" '^of alpha$'
	holds "${beta#beta=}/sar.sadf" idle
	holds "$run/run.json" "\"name\": \"alpha\", .*\"status\": \"left\", \"data\": \"${alpha#alpha=}\", \"problems\": \[\]"
	# Nothing collects there any more, and one of them may still be wanted here.
	collect 0 run left.yaml
	collect 0 clean left.yaml
	collect 0 fetch "$run"
	holds "$run/alpha/commands/1.out" '^of alpha$'
	left_clean alpha
	left_clean beta
	collect 1 clean "$run/alpha"
}

@test 'what is misused is refused' {
	recipe plain alpha <<<'sar: {interval: 1}'
	collect 2
	said 'expected a command'
	collect 2 nosuch
	collect 2 run
	collect 2 run plain.yaml plain.yaml
	collect 2 -p 0 run plain.yaml
	said 'parallel 0: expected a number from 1 to 10000'
	collect 2 --nosuch run plain.yaml
	collect 2 sessiond plain.yaml
	collect 1 run nosuch.yaml
	collect 1 stop plain.yaml
	said 'no run of it in runs that is not fetched yet'
	collect 1 stop .
	[ ! -e runs ] || [ -z "$(ls runs)" ]
	collect 0 -n run plain.yaml
	holds "$scratch/out" '^  all nodes: sar every 1 s'
	collect 0 init
	cp "$scratch/out" init.yaml
	collect 0 validate init.yaml
	[ ! -e runs ] || [ -z "$(ls runs)" ]
}

@test 'check says what is there, and what is missing' {
	recipe look alpha beta <<-EOT
		sar: {interval: 1}
		events: {kernel: [network], userspace: ["*"]}
	EOT
	status=0
	ctcollect -F "$cluster/ssh_config" check look.yaml >table 2>err </dev/null || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	holds table '^NODE *USER *SHELL *RIGHTS *LTTNG *TRACER'
	for node in alpha beta; do
		holds table "^$node *$(id -un) .* $(lttng --version | sed -n 's/.* \([0-9.]*\) .*/\1/p') .* $(LC_ALL=C sar -V | sed -n 's/.* \([0-9.]*\)$/\1/p;q') "
	done
	[ -d /sys/module/lttng_tracer ] || modinfo lttng-tracer >/dev/null 2>&1 ||
		holds table '^alpha, beta: missing: the kernel tracer for .*; fix: '
	# It leaves nothing, and neither does a command without work.
	[ -z "$(find "$cluster/alpha/temp" "$cluster/beta/temp" -mindepth 1)" ]
	recipe sar alpha beta <<<'sar: {interval: 1}'
	collect 0 install sar.yaml
	printf '%s\n' 'alpha: nothing to install' 'beta: nothing to install' | diff - <(sort "$scratch/out")
	echo 'echo "$(hostname) $# it'\''s"; [ "$TMPDIR" != '"$cluster/beta/temp"' ]' >script
	collect 3 --script script install sar.yaml
	holds "$scratch/out" "^alpha: .* 0 it's\$"
	said 'beta: not installed: '
}

@test 'through a gateway, with one connection to it' {
	recipe through beta <<-EOT
		ssh_gateway: $(cat "$cluster/alpha/address"):$(cat "$cluster/alpha/port")
		sar: {interval: 1}
		execute:
		    - {command: "echo \$SSH_CONNECTION", roles: all}
	EOT
	before=$(grep -c 'Accepted publickey' "$cluster/alpha/log")
	collect 0 run through.yaml
	holds "$(the_run)/beta/commands/1.out" "^$(cat "$cluster/alpha/address") "
	[ "$(grep -c 'Accepted publickey' "$cluster/alpha/log")" -eq $((before + 1)) ]
	left_clean beta
}

@test 'tasks go to whom has a free place, and no more wait than may' {
	recipe queue alpha beta <<-EOT
		process: {interval_ms: 100, whitelist: true}
		tasks:
		    name: odd
		    command: "case %(input)s in 1) sleep 3 ;; *) sleep 0.1 ;; esac; echo %(input)s"
		    inputs: [1, 2, 3, 4, 5, 6, 7, 8]
		    roles: all
		    policy: least-busy
		    pending: 2
		    interval: 0
	EOT
	collect 0 --with-merge --with-report run queue.yaml
	run=$(the_run)
	cat "$run"/*/commands/task-*.out | sort | diff - <(seq 8)
	# The long one keeps its node busy; the others go elsewhere meanwhile.
	[ "$(cat "$run/alpha/invocations.jsonl" "$run/beta/invocations.jsonl" | wc -l)" -eq 8 ]
	long=alpha
	[ -f "$run/alpha/commands/task-1-1.out" ] || long=beta
	[ "$(wc -l <"$run/$long/invocations.jsonl")" -lt 4 ]
	holds "$run/$long/proc.csv" ',sleep,'
	[ -f "$run/run.db" ]
	holds "$run/report.html" '</html>'
}

@test 'a directory for temporary files may be as deep as it likes' {
	recipe deep alpha <<<'sar: {interval: 1}'
	deep=$PWD/$(printf '%0100d' 0)
	mkdir "$deep"
	TMPDIR=$deep collect 0 -q install deep.yaml
	[ -z "$(ls -A "$deep")" ]
}
