# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2016
#
# Command line tests of ctbatch on one machine; tests/slurm has those by Slurm.
load common

# A simulated run of nodes by these names: run_of NAME...
run_of()
{
	local number=0 name
	ctsim -q --seed 5 --nodes 3 --set seconds=1 chain4 -o made
	mkdir batch
	for name; do
		number=$((number + 1))
		mv "made/node$number" "batch/$name"
	done
	rm -r made
}

tables()
{
	(cd "$1" && find . -name '*.parquet' -exec cksum {} + | sort -k 3)
}

@test "a dry run prints the commands, and they can be typed" {
	run_of n1 "it's \$2"
	ctbatch -n -o 'o ut' batch >commands
	cat commands
	[ "$(wc -l <commands)" -eq 7 ]
	[ ! -e 'o ut.work' ]
	sh -e ./commands
	tables 'o ut' >by_hand
	rm -rf 'o ut' 'o ut.work'
	ends_with 0 ctbatch -j 2 -o 'o ut' batch
	tables 'o ut' | diff by_hand -
	[ "$(ls 'o ut/event')" = "part=it%27s \$2
part=n1" ]
}

@test "it does what is missing, and nothing else" {
	run_of n1 n2
	ends_with 0 ctbatch -o out batch
	tables out >first
	ends_with 0 ctbatch -n -o out batch
	[ ! -s "$scratch/stdout" ]
	rm -r out.work/parts/n2
	ends_with 0 ctbatch -n -o out batch
	diff - "$scratch/stdout" <<'COMMANDS'
ctmerge -q ./batch --node n2 --clocks ./out.work/clocks.json --part ./out.work/parts/n2 --messages ./out.work/messages/n2.messages
COMMANDS
	rm -r out
	ends_with 0 ctbatch -q -o out batch
	tables out | diff first -
	# Other options of ctsync make all anew that follows from them.
	ends_with 0 ctbatch -n --sync=--drift-limit=50 -o out batch
	grep -c drift-limit=50 "$scratch/stdout"
	[ "$(cut -d ' ' -f 1 "$scratch/stdout" | uniq -c | tr -s '\n ' '  ')" = ' 1 ctsync 3 ctmerge ' ]
	ends_with 0 ctbatch -q --sync=--drift-limit=50 -o out batch
	tables out >second
	run cmp -s first second
	[ "$status" -eq 1 ]
}

@test "other data, and a second call at the same time, are noticed" {
	run_of n1 n2
	mv batch one
	run_of n1 n2
	mv batch/n1 kept
	mv batch/n2 batch/n1
	mv kept batch/n2
	ends_with 0 ctbatch -q -o other batch
	ends_with 0 ctbatch -q -o out one
	tables out >first
	# Another run of the same nodes.
	ends_with 0 ctbatch -n -o out batch
	[ "$(cut -d ' ' -f 1 "$scratch/stdout" | uniq -c | tr -s '\n ' '  ')" = ' 3 ctsync 3 ctmerge ' ]
	ends_with 0 ctbatch -o out batch
	grep -x 'ctbatch: n1: its data, or the version, is not that of the last call; made anew' "$scratch/stderr"
	tables other >wanted
	tables out | grep -v meta | diff <(grep -v meta wanted) -
	run cmp -s first wanted
	[ "$status" -eq 1 ]
	# Data that changed.
	touch batch/n2/kernel/metadata
	ends_with 0 ctbatch -o out batch
	grep -c 'n2: its data' "$scratch/stderr"
	run grep 'n1: its data' "$scratch/stderr"
	[ "$status" -eq 1 ]
	# Another version.
	sed -i 1s/.*/0.0.9/ out.work/sources/n1
	ends_with 0 ctbatch -n -o out batch
	[ -s "$scratch/stdout" ]
	ends_with 0 ctbatch -q -o out batch
	ends_with 0 ctbatch -n -o out batch
	[ ! -s "$scratch/stdout" ]
	# A second one.
	fails_with 1 "ctbatch: ./out: in use by another ctbatch, process $$ on here; wait for its end" \
		flock out.work/lock sh -c "echo 'process $$ on here' >out.work/lock; ctbatch -o out batch"
}

@test "a node that fails is named, and the others go on" {
	run_of n1 n2 n3
	mv batch/n2/kernel/metadata kept
	echo '/* CTF 1.8 */ broken' >batch/n2/kernel/metadata
	ends_with 3 ctbatch -o out batch
	grep -q '^ctbatch: n2: extract failed: exit status 1$' "$scratch/stderr"
	grep -q '^ctbatch: 1 of 3 nodes are missing in ./out' "$scratch/stderr"
	[ "$(ls out/event)" = "part=n1
part=n3" ]
	mv kept batch/n2/kernel/metadata
	ends_with 0 ctbatch -o out batch
	tables out >again
	rm -rf out out.work
	ends_with 0 ctbatch -o out batch
	tables out | diff again -
}

@test "data of each node by itself, on paths with anything in them" {
	local dir="$PWD/it's \"here\" * = \$x"
	run_of n1 'a b'
	ends_with 0 ctbatch -o out batch
	mkdir "$dir"
	mv batch/n1 "$dir/x"
	mv 'batch/a b' "$dir/-y"
	ends_with 0 ctbatch -o two "n1=$dir/x" "a b=$dir/-y"
	[ "$(ls two/event)" = "$(ls out/event)" ]
	tables two | grep event_class >a
	tables out | grep event_class | diff a -
}

@test "the clocks are those of ctsync, however many nodes and in whatever order" {
	ctsim -q --nodes 11 --set seconds=2 mesh4 -o run
	ends_with 0 ctbatch -j 2 -o out run
	# Files are elsewhere; all else is the same to the byte.
	sed 's/"path": "[^"]*"/"path": ""/' out.work/clocks.json >by_batch
	grep -c '"trace": "node1[01]"' by_batch
	for of in run "$(ls -d run/node*)" "$(ls -dr run/node*)" "$(ls -d out.work/packets/*)" \
		"$(ls -dr out.work/packets/*)"; do
		# shellcheck disable=SC2086 # words
		ctsync -q -o clocks.json $of
		sed 's/"path": "[^"]*"/"path": ""/' clocks.json | cmp by_batch -
	done
}

@test "one node alone, and a node without packets" {
	mkdir -p batch/meter
	cp -R fixtures/net3/node1 batch/n1
	cp datasets/sample/node1/sar.sadf batch/meter
	ends_with 0 ctbatch -o out batch
	ls out/event/part=n1
	ls out/sample/part=meter
}

@test "a run of logs alone, as ctmerge merges it" {
	for node in node1 node2; do
		mkdir -p batch/$node
		cp "$CT_SOURCE/datasets/sample/$node/sar.sadf" batch/$node/
	done
	ctbatch -n -o out batch >commands
	[ "$(cut -d ' ' -f 1 commands | uniq -c | tr -s '\n ' '  ')" = ' 1 mkdir 3 ctmerge ' ]
	sh -e ./commands
	tables out >by_hand
	rm -rf out out.work
	ends_with 0 ctbatch -q -o out batch
	tables out | diff by_hand -
	ends_with 0 ctbatch -n -o out batch
	[ ! -s "$scratch/stdout" ]
	[ "$(ls out/sample)" = "part=node1
part=node2" ]
	# Packets of one of them make a map, and all is made anew by it.
	cp -R fixtures/net3/node1/kernel batch/node1/
	ends_with 0 ctbatch -q -o out batch
	[ -s out.work/clocks.json ]
	rm -r batch/node1/kernel
	ends_with 0 ctbatch -q -o out batch
	[ ! -e out.work/clocks.json ]
	tables out | diff by_hand -
}

@test "nodes that never met: the later steps run, it says so, and has not failed" {
	run_of n1
	cp -R datasets/sample/node1 batch/far
	ends_with 0 ctbatch -o out batch
	[ "$(cat out.work/log/sync.status)" -eq 3 ]
	diff - "$scratch/stderr" <<'TALK'
ctbatch: not all clocks are tied to each other: see ctmerge's notes, or ctsync --stats
ctbatch: 2 nodes in ./out; ./out.work is only used to run it again, and may be removed
TALK
	[ "$(ls out/event)" = "part=far
part=n1" ]
	# The work is done, but the command is still printed.
	ends_with 0 ctbatch -n -o out batch
	[ ! -s "$scratch/stdout" ]
	ends_with 0 ctbatch -q -o out batch
	grep -q '^ctbatch: not all clocks are tied to each other' "$scratch/stderr"
}

@test "what is wrong is said, and nothing is made" {
	fails_with 2 'ctbatch: expected -o OUT
Try "ctbatch --help"' ctbatch run
	fails_with 2 'ctbatch: --something: unknown option
Try "ctbatch --help"' ctbatch --something -o out run
	fails_with 2 'ctbatch: expected a run directory, or NODE=PATH...
Try "ctbatch --help"' ctbatch -o out
	fails_with 1 'ctbatch: ./nowhere: expected a run directory' ctbatch -o out nowhere
	mkdir nothing
	fails_with 1 "ctbatch: ./nothing: no node's directory in it" ctbatch -o out nothing
	fails_with 2 'ctbatch: n1: given twice
Try "ctbatch --help"' ctbatch -o out n1=a n1=b
	fails_with 2 'ctbatch: x/y: expected the name of a node
Try "ctbatch --help"' ctbatch -o out x/y=a n1=b
	[ ! -e out.work ]
}

@test "an interrupt ends it, and a later call goes on" {
	run_of n1 n2
	ends_with 130 timeout --preserve-status -s INT 0.3 ctbatch -j 1 -o out batch ||
		skip "it was faster"
	ends_with 0 ctbatch -o out batch
	[ "$(ls out/event)" = "part=n1
part=n2" ]
}

@test "captures and recordings of trace-cmd count, whatever their names" {
	local node
	for node in node1 node2; do
		mkdir -p run/$node
		cp "$CT_SOURCE/tests/fixtures/ftrace/$node"/{node.json,clock.csv,trace.dat} run/$node
		gzip -c "$CT_SOURCE/tests/fixtures/ftrace/$node/$node.pcap" >run/$node/$node.cap0
	done
	ends_with 0 ctmerge -q -o run.db run
	ends_with 0 ctbatch -o out run
	ctbatch -n -o dry run >commands
	[ "$(grep -c 'ctsync -q --extract' commands)" -eq 2 ]
	[ "$(sqlite3 run.db 'SELECT count(*) FROM message')" -gt 10 ]
	for node in node1 node2; do
		rm run/$node/$node.cap0
	done
	ends_with 0 ctbatch -o kernel run
}

@test "what is in the environment is not what ctbatch has in mind" {
	local names poison=() name
	run_of n1 n2
	ctbatch -q -o clean batch
	names=$(cat "$CT_SOURCE"/collect-scripts/{batch.sh,batch-job.sh,common.sh,options.sh,pool.sh,slurm.sh,ctbatch} |
		grep -o -E '(\b[a-z][a-z_]*=)|(\$\{?[a-z][a-z_]*)' | tr -d '=${' | sort -u)
	for name in $names; do
		poison+=("$name=/dev/null")
	done
	[ ${#poison[@]} -gt 80 ]
	env "${poison[@]}" ctbatch -q -o out batch
	diff -r --exclude meta.parquet clean out # it has the command
}

@test "the clocks of ten nodes are those of ctsync, whatever the order" {
	ctsim -q --seed 5 --nodes 10 --set seconds=1 chain4 -o run
	# Their paths are those of what was read.
	ctsync -q --json run | sed 's/"path": "[^"]*"/"path"/' >wanted
	[ "$(grep -c '"path"' wanted)" -eq 10 ]
	ends_with 0 ctbatch -q -o out run
	sed 's/"path": "[^"]*"/"path"/' out.work/clocks.json | diff wanted -
	# node10 before node2, as a shell sorts them; backward; anyhow.
	for order in '1 10 2 3 4 5 6 7 8 9' '10 9 8 7 6 5 4 3 2 1' '6 2 9 10 3 1 8 4 7 5'; do
		traces=() packets=()
		for number in $order; do
			traces+=(-t "node$number=run/node$number")
			packets+=(-t "out.work/packets/node$number.packets")
		done
		ctsync -q --json "${traces[@]}" | sed 's/"path": "[^"]*"/"path"/' | diff wanted -
		ctsync -q --json "${packets[@]}" | sed 's/"path": "[^"]*"/"path"/' | diff wanted -
	done
}
