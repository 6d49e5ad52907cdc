#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# syscalls.sh BUILD [MOST [RUN]]: let one system call of every program fail, by strace's
# injection, by hand: of each kind of call the first, the second and so on, up to MOST (20)
# of them, spread over all that the program makes. The program ends with 0 and its whole
# output, or with 1 and a message, and then there is no output, nor a temporary one. A source
# of a run that cannot be read is an exception: what is left of the run is used, with 1.
set -eu
build=$(cd "$1" && pwd)
most=${2:-20}
source=$(cd "$(dirname "$0")/../.." && pwd)
run=$(cd "${3:-"$source"/tests/fixtures/requests/wireguard}" && pwd)
PATH=$build/bin:$PATH
export LC_ALL=C TZ=UTC
command -v strace >/dev/null || {
	echo "syscalls.sh: strace is missing" >&2
	exit 1
}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
trap 'exit 1' HUP INT TERM
cd "$here"
mkdir tmp
export TMPDIR="$here/tmp"

ctmerge -q "$run" -o t.db || [ $? -eq 3 ]

# Every form: NAME OUTPUT COMMAND.
cat >forms <<END
map out.json ctsync -q $run -o out.json
plot plots ctsync -q $run --plot plots
apply applied ctsync -q $run --apply applied
messages-out said ctsync -q $run -o map.json --messages-out said
extract n.packets ctsync -q $run/node1 --extract n.packets
merge out.db ctmerge -q $run -o out.db
answer out.txt ctanalyze -q requests t.db -o out.txt
report out.html ctanalyze -q report t.db -o out.html
csv csv ctexport csv -q t.db -o csv
parquet parquet ctexport parquet -q t.db -o parquet
opendc opendc ctexport opendc -q t.db -o opendc
perfetto out.perfetto ctexport perfetto -q t.db -o out.perfetto
END

# Each kind of call with an error that it may have.
cat >faults <<'END'
openat EMFILE
openat EACCES
read EIO
pread64 EIO
write ENOSPC
pwrite64 ENOSPC
getdents64 EIO
fsync EIO
fdatasync EIO
renameat2 EIO
rename EIO
mkdir ENOSPC
ftruncate ENOSPC
END

calls=0 findings=0
finding()
{
	findings=$((findings + 1))
	printf '%s: %s %s, call %s: %s\n' "$name" "$call" "$error" "$n" "$1"
	sed 's/^/    /' said.txt | head -n 3
}

remove_outputs()
{
	rm -rf "$output" map.json tmp
	mkdir tmp
}

# A run was read without one of its files, which the message names.
is_partial()
{
	case $command in
	ctsync* | ctmerge*) grep -q -F "$run" said.txt ;;
	*) false ;;
	esac
}

# fail_call: run the command with the n-th call failing; false if it makes fewer.
fail_call()
{
	remove_outputs
	status=0
	# shellcheck disable=SC2086 # one word each
	timeout 60 strace -f -o trace -e "trace=$call" -e "inject=$call:error=$error:when=$n" \
		$command >/dev/null 2>said.txt </dev/null || status=$?
	grep -q INJECTED trace || return 1
	# What the loader and the C library open before main() is theirs.
	! grep INJECTED trace | grep -q -E '/etc/ld|\.so[".]|/proc/|/usr/(lib|share)|locale' || return 0
	calls=$((calls + 1))
	case $status in
	0 | 3)
		diff -r "whole/$name" "$output" >/dev/null 2>&1 || finding "ends with $status, but the output is not whole"
		;;
	1)
		[ -s said.txt ] || finding "ends with 1 and no message"
		[ ! -e "$output" ] || is_partial || finding "ends with 1 and leaves an output"
		;;
	127) ;; # the loader's
	*) finding "ends with $status" ;;
	esac
	left=$(find . tmp -name '.*unfinished*' | head -n 1)
	[ -z "$left" ] || grep -q unfinished said.txt || finding "leaves $left"
	[ -z "$left" ] || rm -rf .*unfinished*
}

mkdir whole
while read -r name output command; do
	remove_outputs
	# shellcheck disable=SC2086 # one word each
	$command >/dev/null 2>&1 </dev/null || [ $? -eq 3 ]
	cp -R "$output" "whole/$name"
	while read -r call error; do
		# shellcheck disable=SC2086 # one word each
		strace -f -o trace -e "trace=$call" $command >/dev/null 2>&1 </dev/null || :
		remove_outputs
		made=$(grep -c "$call(" trace) || continue
		step=$(((made + most - 1) / most))
		n=1
		while [ "$n" -le "$made" ] && fail_call; do
			n=$((n + step))
		done
	done <faults
	printf '%s: %d calls so far, %d findings\n' "$name" "$calls" "$findings" >&2
done <forms
printf '%d failing calls, %d findings\n' "$calls" "$findings"
[ "$findings" -eq 0 ]
