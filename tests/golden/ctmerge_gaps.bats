#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Holes in the recording: rotated chunks, snapshots, packets and events that a tracer lost. No
# thread, call, interrupt or disk request goes on over a hole, and chunks without one are one recording.
load common
load ctf

# trace DIR [FIELD...]: a trace of a domain by a session, with these fields in the context of packets
# besides their sizes and processor. Channel 0 has threads, calls and a program's work, channel 1 disks
# and interrupts.
domain=kernel session=1 lost_bits=32
trace()
{
	local channel
	mkdir -p "$1"
	fields=" ${*:2} "
	{
		printf '/* CTF 1.8 */\n'
		printf 'typealias integer { size = %d; align = 8; } := uint%d_t;\n' 8 8 32 32 64 64
		cat <<-END
		typealias integer { size = 64; align = 8; signed = true; } := int64_t;
		typealias integer { size = 8; align = 8; encoding = UTF8; } := text_t;
		trace { major = 1; minor = 8; byte_order = le; uuid = "${session}2345678-1234-5678-1234-567812345678";
			packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; }; };
		env { hostname = "n1"; domain = "$domain"; tracer_name = "lttng"; };
		clock { name = c; uuid = "aaaaaaaa-1234-5678-1234-567812345678"; freq = 1000000000; };
		typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp_t;
		END
		for channel in 0 1; do
			printf 'stream { id = %d; event.header := struct { uint32_t id; stamp_t stamp; };\n' $channel
			printf 'packet.context := struct { uint64_t content_size; uint64_t packet_size; uint32_t cpu_id;'
			case $fields in *' times '*) printf ' stamp_t timestamp_begin; stamp_t timestamp_end;' ;; esac
			case $fields in *' number '*) printf ' uint32_t packet_seq_num;' ;; esac
			case $fields in *' lost '*) printf ' uint%d_t events_discarded;' "$lost_bits" ;; esac
			printf ' }; };\n'
		done
		ctf_event 0 sched_switch ' text_t prev_comm[2]; uint32_t prev_tid; int64_t prev_state;
			text_t next_comm[2]; uint32_t next_tid;'
		ctf_event 1 sched_waking ' text_t comm[2]; uint32_t tid; uint32_t target_cpu;'
		ctf_event 2 syscall_entry_read ' uint32_t fd;'
		ctf_event 3 syscall_exit_read ' int64_t ret;'
		ctf_event 4 block_rq_issue ' uint32_t dev; uint64_t sector; uint32_t nr_sector; uint32_t rwbs;' 1
		ctf_event 5 block_rq_complete ' uint32_t dev; uint64_t sector; uint32_t nr_sector; uint32_t rwbs;' 1
		ctf_event 6 irq_handler_entry ' uint32_t irq;' 1
		ctf_event 7 irq_handler_exit ' uint32_t irq;' 1
		ctf_event 8 app:work_begin ' uint32_t n;'
		ctf_event 9 app:work_end ' uint32_t n;'
	} >"$1/metadata"
	: >events
}

# Events of the next packet, at MS since an origin.
origin=1700000000000
at() { le 4 "$1"; le 8 $(((origin + $2) * 1000000)); }
# switched MS FROM TO [STATE]
switched() { { at 0 "$1"; printf 't%d' $(($2 % 10)); le 4 "$2"; le 8 "${4:-1}"; printf 't%d' $(($3 % 10)); le 4 "$3"; } >>events; }
woken() { { at 1 "$1"; printf 't%d' $(($2 % 10)); le 4 "$2" 0; } >>events; }
entered() { { at 2 "$1"; le 4 3; } >>events; }
returned() { { at 3 "$1"; le 8 10; } >>events; }
issued() { { at 4 "$1"; le 4 8; le 8 1000; le 4 8 1; } >>events; }
completed() { { at 5 "$1"; le 4 8; le 8 1000; le 4 8 1; } >>events; }
interrupted() { { at 6 "$1"; le 4 9; } >>events; }
resumed() { { at 7 "$1"; le 4 9; } >>events; }
# working MS N, worked MS N
working() { { at 8 "$1"; le 4 "$2"; } >>events; }
worked() { { at 9 "$1"; le 4 "$2"; } >>events; }

# packet DIR CHANNEL CPU FROM TO [NUMBER [LOST]]: with the events since the one before.
packet()
{
	local size=$((44 + $(stat -c %s events)))
	case $fields in *' times '*) size=$((size + 16)) ;; esac
	case $fields in *' number '*) size=$((size + 4)) ;; esac
	case $fields in *' lost '*) size=$((size + lost_bits / 8)) ;; esac
	{
		le 4 0xc1fc1fc1
		be 1 "0x${session}2"
		be 7 0x34567812345678
		be 8 0x1234567812345678
		le 4 "$2"
		le 8 $((8 * size)) $((8 * size))
		le 4 "$3"
		case $fields in *' times '*) le 8 $(((origin + $4) * 1000000)) $(((origin + $5) * 1000000)) ;; esac
		case $fields in *' number '*) le 4 "${6:-0}" ;; esac
		case $fields in *' lost '*) le $((lost_bits / 8)) "${7:-0}" ;; esac
		cat events
	} >>"$1/ch$2_$3"
	: >events
}

# merged [SQL]: merge the run, and ask the timeline, or for all of its spans and periods: times in
# ms, with what is cut there.
merged()
{
	ends_with 0 ctmerge --force -o run.db run || return
	sqlite3 -separator ' ' run.db "${1:-
		SELECT 'recorded', coalesce(cpu, kind), begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin, '' FROM recorded;
		SELECT 't' || tid, state, begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin, cut
			FROM thread_state ORDER BY tid, begin_ns, cpu;
		SELECT 't' || tid, name, begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin, cut FROM syscall ORDER BY 1, 3;
		SELECT 'irq', number, begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin, cut FROM irq ORDER BY 3;
		SELECT 'disk', operation, begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin, cut FROM block_request ORDER BY 3}"
}

# same TEXT: as merged gives it.
same()
{
	diff -u <(printf '%s\n' "$1") <(merged "${@:2}")
}

@test "rotated chunks whose packets follow each other are one recording" {
	trace run/n1/a/kernel times number lost
	switched 0 0 5
	switched 100 5 6
	packet run/n1/a/kernel 0 0 0 5000 0
	trace run/n1/b/kernel times number lost
	switched 9900 6 7
	switched 10000 7 0
	packet run/n1/b/kernel 0 0 5000 10000 1
	same "recorded kernel 0 10000 
recorded 0 0 10000 
t5 running 0 100 0
t5 interruptible 100 10000 2
t6 running 100 9900 0
t6 interruptible 9900 10000 2
t7 running 9900 10000 0"
	[ "$(ctanalyze cpu run.db --table threads --format csv | tail -n +2 | cut -d, -f 2,7)" = '6,98
5,1
7,1' ]
}

# chunk DIR: events of the time from 1000 on.
first_half()
{
	switched 0 0 5
	switched 100 5 6
	entered 200
	woken 950 7
	packet "$1" 0 0 0 1000 0
	issued 900
	packet "$1" 1 0 0 1000 0
}

second_half()
{
	returned 1400
	switched 1500 6 7
	switched 1800 7 0
	switched 2000 0 6
	packet "$1" 0 0 1010 2000 1
	completed 1100
	packet "$1" 1 0 1000 2000 1
}

# The names of the chunks are not in their order of time, and a packet begins with its first event.
@test "chunks give the rows of one trace" {
	trace run/n1/kernel times number lost
	first_half run/n1/kernel
	second_half run/n1/kernel
	merged >one
	grep -qx 't6 running 100 1500 0' one
	grep -qx 't6 read 200 1400 0' one
	grep -qx 'disk write 900 1100 0' one
	rm -r run
	trace run/n1/b/kernel times number lost
	first_half run/n1/b/kernel
	trace run/n1/a/kernel times number lost
	second_half run/n1/a/kernel
	merged | diff one -
	[ "$(sqlite3 run.db "SELECT count(*) FROM problem WHERE kind = 'discarded'")" = 0 ]
}

snapshot()
{
	switched 0 0 5
	switched 10 5 6
	entered 20
	woken 40 5
	switched 60 6 0
	packet "$1" 0 0 0 100 "$2"
	issued 30
	interrupted 70
	packet "$1" 1 0 0 100 "$2"
}

later_snapshot()
{
	switched 9850 0 6
	returned 9860
	switched 9900 6 5
	switched 10000 5 0
	packet "$1" 0 0 9800 10000 "$2"
	completed 9870
	resumed 9880
	packet "$1" 1 0 9800 10000 "$2"
}

hole="recorded kernel 0 100 
recorded kernel 9800 10000 
recorded 0 0 100 
recorded 0 9800 10000 
t0 running 60 100 2
t0 running 9800 9850 1
t5 running 0 10 0
t5 interruptible 10 40 0
t5 runnable 40 100 2
t5 running 9900 10000 0
t6 running 10 60 0
t6 interruptible 60 100 2
t6 running 9850 9900 0
t6 interruptible 9900 10000 2
t6 read 20 100 2
t6 read 9800 9860 1
irq 9 70 100 2
irq 9 9870 9880 1
disk write 30 100 2
disk write 9800 9870 1"

@test "nothing goes on from one snapshot to the next" {
	trace run/n1/1/kernel times number lost
	snapshot run/n1/1/kernel 0
	trace run/n1/2/kernel times number lost
	later_snapshot run/n1/2/kernel 900
	same "$hole"
	[ "$(sqlite3 run.db "SELECT sum(count) FROM problem WHERE kind = 'discarded'")" = 1798 ]
}

@test "nothing goes on over lost packets, nor without sequence numbers" {
	for fields in 'times number lost' 'times'; do
		rm -rf run
		# shellcheck disable=SC2086
		trace run/n1/kernel $fields
		snapshot run/n1/kernel 0
		later_snapshot run/n1/kernel 900
		same "$hole"
	done
}

# Then the first event after the hole, and the last one before it, are all that is known.
@test "packets without times have holes by their sequence numbers" {
	trace run/n1/kernel number lost
	snapshot run/n1/kernel 0
	later_snapshot run/n1/kernel 900
	same "recorded kernel 0 60 
recorded kernel 9870 10000 
recorded 0 0 60 
recorded 0 9850 10000 
t5 running 0 10 0
t5 interruptible 10 40 0
t5 runnable 40 60 2
t5 running 9900 10000 0
t6 running 10 60 0
t6 running 9850 9900 0
t6 interruptible 9900 10000 2
t6 read 20 60 2
t6 read 9850 9860 1
irq 9 70 70 2
irq 9 9870 9880 1
disk write 30 70 2
disk write 9870 9870 1"
}

@test "a packet without events was recorded" {
	trace run/n1/kernel times number lost
	packet run/n1/kernel 0 0 0 1000 0
	switched 1100 0 5
	packet run/n1/kernel 0 0 1000 2000 1
	packet run/n1/kernel 0 0 2000 3000 2
	packet run/n1/kernel 0 1 0 3000 0
	same "recorded kernel 0 3000 
recorded 0 0 3000 
recorded 1 0 3000 
t0 running 0 1100 1
t5 running 1100 3000 2"
}

# The chunk has the clock of the others, whether it is the first one by name or not.
@test "a chunk without streams is no clock of its own" {
	for empty in a z; do
		rm -rf run
		trace run/n1/b/kernel times number lost
		switched 0 0 5
		packet run/n1/b/kernel 0 0 0 1000 0
		trace run/n1/$empty/kernel times number lost
		trace run/n1/c/kernel times number lost
		switched 2500 5 0
		packet run/n1/c/kernel 0 0 2000 3000 1
		same "recorded kernel 0 2500 
recorded 0 0 2500 
t5 running 0 2500 0"
		[ "$(sqlite3 run.db "SELECT count(*), min(text LIKE 'no network event%') FROM problem")" = '1|1' ]
	done
}

# Snapshots overlap: packets 1 and 2 are in both.
@test "packets that two snapshots have are read once" {
	trace run/n1/1/kernel times number lost
	switched 100 0 5
	packet run/n1/1/kernel 0 0 0 1000 0
	for trace in 1 2; do
		[ $trace = 1 ] || trace run/n1/2/kernel times number lost
		switched 1100 5 6
		packet run/n1/$trace/kernel 0 0 1000 2000 1 3
		switched 2100 6 5
		packet run/n1/$trace/kernel 0 0 2000 3000 2 3
	done
	switched 3100 5 6
	packet run/n1/2/kernel 0 0 3000 4000 3 3
	same '4 3' "SELECT (SELECT count(*) FROM sched_switch), (SELECT sum(discarded) FROM source)"
	# The snapshot's own counters show its losses after such packets.
	trace run/n1/3/kernel times number lost
	switched 3100 5 6
	packet run/n1/3/kernel 0 0 3000 4000 3 3
	switched 6100 6 5
	packet run/n1/3/kernel 0 0 6000 7000 6 5
	same '5 2' "SELECT sum(discarded), (SELECT sum(count) FROM problem WHERE text LIKE '%packet%') FROM source"
	same '5 100 1100 4
5 2100 3100 0
6 1100 2100 4
6 3100 4000 2
6 6000 6100 5' "SELECT tid, begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin, cut FROM thread_state
		WHERE state = 'running' AND tid > 0 ORDER BY 1, 2"
}

@test "counters of losses go on from chunk to chunk" {
	trace run/n1/1/kernel times number lost
	switched 100 0 5
	packet run/n1/1/kernel 0 0 0 1000 0 7
	trace run/n1/2/kernel times number lost
	switched 1100 5 6
	packet run/n1/2/kernel 0 0 1000 2000 1 7
	trace run/n1/3/kernel times number lost
	switched 2100 6 5
	packet run/n1/3/kernel 0 0 2000 3000 2 9
	switched 3100 5 6
	packet run/n1/3/kernel 0 0 3000 4000 3 10
	same '7
0
3' 'SELECT discarded FROM source ORDER BY path'
}

# Each chunk has a packet for each LOST, with packet numbers from FIRST on.
lost_chunks=0
lost_chunk()
{
	local name=run/n1/$((++lost_chunks))/kernel number=$1 lost at
	# shellcheck disable=SC2086 # several
	trace "$name" $given
	for lost in "${@:2}"; do
		at=$((1000 * (lost_chunks * 10 + number % 10)))
		switched $((at + 100)) 0 5
		packet "$name" 0 0 $at $((at + 1000)) $((number & 0xffffffff)) "$lost"
		number=$((number + 1))
	done
}

# lost_is LOST...: of each chunk, and in problems of all.
lost_is()
{
	[ "$(merged 'SELECT discarded FROM source ORDER BY path' | paste -sd' ')" = "$1" ]
	[ "$(merged "SELECT total(count) FROM problem WHERE kind = 'discarded'")" = "$((${1// /+})).0" ]
}

@test "counters of losses of any width go on, with numbers of packets or without" {
	for lost_bits in 8 32 64; do
		for given in 'times lost' 'times number lost'; do
			rm -rf run
			lost_chunks=0
			lost_chunk 0 7
			lost_chunk 1 7
			lost_chunk 2 9
			lost_is '7 0 2'
			ctsync -q run 2>err >/dev/null || [ $? -eq 3 ]
			[ "$(grep discarded err | sort)" = 'ctsync: run/n1/1/kernel: the tracer discarded 7 events
ctsync: run/n1/3/kernel: the tracer discarded 2 events between the trace before and this one' ]
			[ "$(merged 'SELECT place, text FROM problem WHERE kind = '"'discarded'"' ORDER BY place')" = \
				'run/n1/1/kernel the tracer discarded 7 events
run/n1/3/kernel the tracer discarded 2 events between the trace before and this one' ]
			rm -rf run
			lost_chunks=0
			quarter=$((1 << (lost_bits - 2)))
			# Up to 3 before it wraps, and then to exactly 0.
			lost_chunk 0 $quarter $((2 * quarter)) $((3 * quarter)) -3
			lost_chunk 4 0
			lost_chunk 5 1
			[ "$(merged 'SELECT discarded FROM source ORDER BY path' | tail -n +2 | paste -sd' ')" = '3 1' ]
			# One that falls began anew.
			rm -rf run
			lost_chunks=0
			lost_chunk 0 9
			lost_chunk 1 4 5
			lost_is '9 5'
		done
	done
}

# The number of packets, too, is 0 again where it wraps.
@test "a number of packets that wraps to 0 at a chunk's begin begins nothing anew" {
	given='times number lost'
	lost_chunk 0xfffffffe 7 7
	lost_chunk 0 7
	lost_chunk 1 9
	lost_is '0 0 2'
	# But one that falls to 0 does, whatever the losses.
	rm -rf run
	lost_chunks=0
	lost_chunk 0 1 2
	lost_chunk 0 5
	lost_is '2 5'
}

# Processor 1 loses a packet: who runs on 0 goes on, who sleeps may have been woken on 1. Between
# two events of 0 what lasted then is uncertain.
@test "one of two processors loses packets" {
	trace run/n1/kernel times number lost
	switched 0 0 5
	switched 500 5 6
	switched 2500 6 7
	woken 2600 6
	switched 2700 7 6
	switched 5000 6 0
	packet run/n1/kernel 0 0 0 6000 0
	switched 0 0 8
	switched 1500 8 0
	packet run/n1/kernel 0 1 0 2000 0
	switched 4500 8 0
	packet run/n1/kernel 0 1 4000 6000 2
	same "t5 interruptible 500 2000 2
t5 running 0 500 0
t6 interruptible 2500 2600 4
t6 runnable 2600 2700 4
t6 running 500 2500 0
t6 running 2700 5000 0
t7 running 2500 2700 0
t8 interruptible 1500 2000 2
t8 interruptible 4500 5000 2
t8 running 0 1500 0
t8 running 4000 4500 1" "SELECT 't' || tid, state, begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin, cut
		FROM thread_state WHERE tid > 0 ORDER BY tid, state, begin_ns"
}

# Processor 1 says nothing from 2 s to 4 s.
@test "an export says which processor was not recorded" {
	trace run/n1/kernel times number lost
	switched 0 0 5
	switched 6000 5 0
	packet run/n1/kernel 0 0 0 6000 0
	switched 0 0 8
	packet run/n1/kernel 0 1 0 2000 0
	switched 6000 8 0
	packet run/n1/kernel 0 1 4000 6000 2
	merged >said
	ctexport perfetto --format json --tracks cpus run.db -o run.json 2>/dev/null
	[ "$(sqlite3 :memory: "SELECT count(*), max(v ->> 'dur') FROM (SELECT value AS v
		FROM json_each(readfile('run.json'), '\$.traceEvents')) WHERE v ->> 'name' = 'not recorded'")" = '1|2000000.0' ]
	# So does the page: of node 0 processor 1, which it tells was recorded for 4 s and busy.
	ctanalyze report run.db -o run.html
	page_data run.html >run.json
	[ "$(sqlite3 :memory: "SELECT json(json_extract(CAST(readfile('run.json') AS TEXT), '\$.gaps'))")" = \
		'[[0,1,2000000000,4000000000]]' ]
	grep -q '<td class="n" data-v="1">1</td><td class="n" data-v="4000000000">[^<]*</td><td class="n" data-v="4000000000">' run.html
}

@test "two sessions of one kernel, one of which has a hole" {
	trace run/n1/threads/kernel times number lost
	switched 0 0 5
	switched 6000 5 0
	packet run/n1/threads/kernel 0 0 0 6000 0
	session=2 trace run/n1/disks/kernel times number lost
	issued 500
	session=2 packet run/n1/disks/kernel 1 0 0 1000 0
	completed 5500
	session=2 packet run/n1/disks/kernel 1 0 5000 6000 5
	same "recorded kernel 0 6000 
recorded 0 0 6000 
t5 running 0 6000 0
disk write 500 1000 2
disk write 5000 5500 1"
	rm -r run
	trace run/n1/threads/kernel times number lost
	switched 0 0 5
	packet run/n1/threads/kernel 0 0 0 1000 0
	switched 6000 5 0
	packet run/n1/threads/kernel 0 0 5000 6000 5
	session=2 trace run/n1/disks/kernel times number lost
	issued 500
	completed 5500
	session=2 packet run/n1/disks/kernel 1 0 0 6000 0
	same "recorded kernel 0 6000 
recorded 0 0 1000 
recorded 0 5000 6000 
t5 running 0 1000 2
t5 running 5000 6000 1
disk write 500 5500 0"
}

# Processor 1 of a program's trace has a hole from 2 s to 4 s, whether a kernel was traced or not.
@test "no period of user space goes on over a hole of its trace" {
	for kernel in yes no; do
		rm -rf run
		if [ $kernel = yes ]; then
			trace run/n1/kernel times number lost
			switched 0 0 5
			switched 6000 5 0
			packet run/n1/kernel 0 0 0 6000 0
			switched 0 0 8
			switched 6000 8 0
			packet run/n1/kernel 0 1 0 6000 0
		fi
		domain=ust session=3 trace run/n1/ust times number lost
		working 0 1
		worked 1000 1
		working 1500 2
		worked 4500 2
		working 5000 3
		worked 6000 3
		session=3 packet run/n1/ust 0 0 0 6000 0
		working 500 4
		worked 900 4
		working 1900 5
		session=3 packet run/n1/ust 0 1 0 2000 0
		worked 4100 5
		working 4200 6
		worked 5900 6
		session=3 packet run/n1/ust 0 1 4000 6000 2
		same '- 0 6000
0 0 6000
1 0 2000
1 4000 6000' "SELECT coalesce(cpu, '-'), begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin
			FROM recorded WHERE kind = 'user' ORDER BY cpu, begin_ns"
		ctanalyze periods run.db --from app:work_begin --to app:work_end --group n --log --format csv >said
		[ "$(tail -n +2 said | cut -d, -f 1,4 | sort)" = 'n=1,1000000000
n=3,1000000000
n=4,400000000
n=6,1700000000' ]
		ctanalyze periods run.db --from app:work_begin --to app:work_end --group n |
			grep -q '^2 begins and ends with a time between them in which not all was recorded'
	done
}

# Events are lost between 2 and 3 s, in the packet that ends then.
@test "no period of user space goes on over a packet that lost events" {
	domain=ust session=3 trace run/n1/ust times number lost
	working 500 1
	worked 900 1
	working 1800 2
	session=3 packet run/n1/ust 0 0 0 2000 0
	worked 2100 2
	working 2200 3
	worked 2800 3
	session=3 packet run/n1/ust 0 0 2000 3000 1 7
	working 3100 4
	worked 3900 4
	session=3 packet run/n1/ust 0 0 3000 4000 2 7
	same '- 500 4000
0 500 2000
0 3000 4000' "SELECT coalesce(cpu, '-'), begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin
		FROM recorded WHERE kind = 'user' ORDER BY cpu, begin_ns"
	ctanalyze periods run.db --from app:work_begin --to app:work_end --group n --log --format csv >said
	[ "$(tail -n +2 said | cut -d, -f 1,4 | sort)" = 'n=1,400000000
n=4,800000000' ]
	ctanalyze periods run.db --from app:work_begin --to app:work_end --group n |
		grep -q '^2 begins and ends with a time between them in which not all was recorded'
}

# Another program's trace on processor 1 says nothing of the hole of the first.
@test "another trace of user space does not fill a hole" {
	domain=ust session=3 trace run/n1/a times number lost
	working 1000 1
	session=3 packet run/n1/a 0 0 0 2000 0
	worked 5000 1
	session=3 packet run/n1/a 0 0 4000 6000 2
	domain=ust session=4 trace run/n1/b times number lost
	working 1000 2
	worked 5000 2
	session=4 packet run/n1/b 0 0 0 6000 0
	same '0 1000 2000
0 4000 6000' "SELECT cpu, begin_ns / 1000000 - $origin, end_ns / 1000000 - $origin
		FROM recorded WHERE kind = 'user' AND cpu IS NOT NULL ORDER BY begin_ns"
}

# All work is of thread 5, which runs on processor 0 by the kernel's trace.
@test "what an overview and a report suggest as periods goes on over no hole" {
	trace run/n1/kernel times number lost
	switched 0 0 5
	switched 9000 5 0
	packet run/n1/kernel 0 0 0 9000 0
	domain=ust session=3 trace run/n1/ust times number lost
	working 1000 1
	worked 1500 1
	working 1800 2
	session=3 packet run/n1/ust 0 0 0 2000 0
	worked 5000 2
	session=3 packet run/n1/ust 0 0 4000 9000 2
	merged >said
	[ "$(ctanalyze overview run.db --table periods --format csv | tail -n +2 | cut -d, -f 3,9)" = '1,500000000' ]
	ctanalyze report run.db -o run.html
	page_data run.html >run.json
	[ "$(sqlite3 :memory: "SELECT json(json_extract(CAST(readfile('run.json') AS TEXT), '\$.periods'))")" = \
		'[[0,5,"t5",1000000000,1500000000,"app:work_begin","app:work_end"]]' ]
}

# Disks and interrupts are of another channel than threads.
@test "a hole in one channel says nothing of another" {
	trace run/n1/kernel times number lost
	switched 0 0 5
	entered 100
	returned 5000
	switched 6000 5 0
	packet run/n1/kernel 0 0 0 6000 0
	issued 500
	packet run/n1/kernel 1 0 0 1000 0
	completed 5500
	packet run/n1/kernel 1 0 5000 6000 5
	same "recorded kernel 0 6000 
recorded 0 0 6000 
t5 running 0 6000 0
t5 read 100 5000 0
disk write 500 1000 2
disk write 5000 5500 1"
}

@test "what lasted while the tracer discarded events is uncertain" {
	trace run/n1/kernel times number lost
	switched 0 0 5
	switched 500 5 6
	packet run/n1/kernel 0 0 0 1000 0
	switched 1500 6 5
	entered 1600
	returned 1700
	packet run/n1/kernel 0 0 1000 2000 1 3
	switched 2500 5 6
	entered 2600
	returned 2700
	switched 2800 6 5
	packet run/n1/kernel 0 0 2000 3000 2 3
	same "recorded kernel 0 2800 
recorded 0 0 2800 
t5 running 0 500 0
t5 interruptible 500 1500 4
t5 running 1500 2500 4
t5 interruptible 2500 2800 0
t6 running 500 1500 4
t6 interruptible 1500 2500 4
t6 running 2500 2800 0
t5 read 1600 1700 4
t6 read 2600 2700 0"
}

@test "shares of a processor are of its own recorded time" {
	trace run/n1/kernel times number lost
	switched 0 0 5
	switched 4000 5 0
	packet run/n1/kernel 0 0 0 4000 0
	switched 0 0 6
	packet run/n1/kernel 0 1 0 1000 0
	interrupted 500
	resumed 600
	packet run/n1/kernel 1 1 0 1000 0
	interrupted 500
	resumed 600
	packet run/n1/kernel 1 0 0 4000 0
	merged >said
	[ "$(ctanalyze irq run.db --table cpus --format csv | tail -n +2 | cut -d, -f 2,5)" = '0,2.5
1,10' ]
}

# Chunks and snapshots are several traces, here each with a clock of its own.
@test "that a node has no network events is told once" {
	for chunk in a b c; do
		trace run/n1/$chunk/kernel times
		sed -i "s/uuid = \"aaaaaaaa/uuid = \"${chunk}aaaaaaa/" run/n1/$chunk/kernel/metadata
		switched 0 0 5
		switched 100 5 6
		packet run/n1/$chunk/kernel 0 0 0 5000
	done
	ends_with 3 ctmerge -q -o run.db run
	[ "$(grep -c 'no network event' "$scratch/stderr")" = 1 ]
	[ "$(sqlite3 run.db "SELECT count(*) FROM problem WHERE kind = 'silent'")" = 1 ]
}
