#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# syscalls.sh BUILD [MOST [RUN]]: let one system call of every program fail, by strace's
# injection, by hand: of each kind of call the first, the second and so on, up to MOST (20)
# of them, spread over all that the program makes. The program ends with 0 and its whole
# output, also on standard output, or with 1 and a message that has the error's name, and
# then there is no output, nor a temporary one. A source of a run that cannot be read is an
# exception: what is left of the run is used, with 1, but for no directory of ctsync.
# shellcheck disable=SC2034,SC2154 # variables for forms.sh, and from it
set -eu
most=${2:-20}
command -v strace >/dev/null || {
	echo "syscalls.sh: strace is missing" >&2
	exit 1
}
# shellcheck source=/dev/null # linted by itself
. "$(dirname "$0")/forms.sh"

# Each kind of call with an error that it may have.
cat >faults <<'END'
openat EMFILE
openat EACCES
read EIO
pread64 EIO
lseek EIO
fstat EIO
statx EIO
newfstatat EIO
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

calls=0

# A run was read without one of its files, which the message names.
is_partial()
{
	case $command in
	*--plot* | *--apply* | *--messages-out*) false ;;
	ctsync* | ctmerge*) grep -q -F "$run" said.txt ;;
	*) false ;;
	esac
}

# names_cause: a line of the message ends with the error's name.
names_cause()
{
	case $error in
	EMFILE) grep -q -E 'Too many open files|readonly database' said.txt ;; # as SQLite has it
	EACCES) grep -q -E 'Permission denied|readonly database' said.txt ;;
	EIO) grep -q -i -E 'input/output error|disk i/o error' said.txt ;;
	ENOSPC) grep -q -i -E 'no space left|disk is full' said.txt ;;
	esac
}

# fail_call: run the command with the n-th call failing; false if it makes fewer.
fail_call()
{
	remove_outputs
	status=0
	# shellcheck disable=SC2086 # one word each
	timeout 60 strace -f -o trace -e "trace=$call" -e "inject=$call:error=$error:when=$n" \
		$command >printed 2>said.txt </dev/null || status=$?
	grep -q INJECTED trace || return 1
	# Ignore files that the loader and the C library open before main().
	! grep INJECTED trace | grep -q -E '/etc/ld|\.so[".]|/proc/|/usr/(lib|share)|locale' || return 0
	# A message may be what cannot be printed: the n-th call of each thread fails.
	! grep -q 'write(2,.*INJECTED' trace || return 0
	calls=$((calls + 1))
	place="$call $error, call $n"
	case $status in
	0 | 3) is_whole || finding "ends with $status, but the output is not whole" ;;
	1)
		names_cause || finding "ends with 1 and no message that has the cause"
		is_absent || is_partial || finding "ends with 1 and leaves an output"
		;;
	127) ;; # the loader's
	*) finding "ends with $status" ;;
	esac
	left=$(find . tmp -name '.*unfinished*' | head -n 1)
	[ -z "$left" ] || grep -q unfinished said.txt || finding "leaves $left"
	[ -z "$left" ] || rm -rf .*unfinished*
}

while read -r name output command; do
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
