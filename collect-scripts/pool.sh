# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2030,SC2031,SC2034,SC2119,SC2120,SC2154
#
# Many jobs at once. Each is a subshell that says on a pipe that it has ended; so up to
# $bound of them run, and none is waited for by its turn.
#
# A signal (Ctrl-C) sets $interrupted and ends what jobs wait for, by the pids in
# $work/waiting; jobs themselves do not see it.

interrupted=
interrupt_text='interrupted: stopping, and fetching what there is'

make_pool()
{
	mkdir "$work/waiting" "$work/words" && mkfifo "$work/pool" ||
		fail "cannot write at $work"
	exec 7<>"$work/pool"
	trap 'interrupt' INT TERM HUP
}

interrupt()
{
	[ -f "$work/interrupted" ] || complain "$interrupt_text"
	interrupted=yes
	: >"$work/interrupted"
	for waiting_file in "$work"/waiting/*; do
		read -r waiting_pid 2>/dev/null <"$waiting_file" || continue
		kill -s TERM "$waiting_pid" 2>/dev/null
	done
}

# begin_job NAME FUNCTION ARGUMENT...: behind us, with $errors and $answers files of its own.
begin_job()
{
	(
		trap '' INT HUP
		# A signal to the whole group must not keep the word of its end.
		trap 'exit 143' TERM
		job_name=$1
		trap 'echo "end $job_name" >&7' EXIT
		exec 9>&-
		errors=$work/errors.$1
		answers=$work/answers.$1
		: >"$errors"
		known=
		shift
		"$@" </dev/null
	) &
}

# on_nodes FUNCTION NODE...: FUNCTION NODE for each; what they print comes in the order of the
# nodes. With bound=0 all at once.
on_nodes()
{
	job_function=$1
	shift
	running=0
	for job_node; do
		while [ "$bound" -gt 0 ] && [ "$running" -ge "$bound" ]; do
			end_of_job
		done
		begin_job "$job_node" "$job_function" "$job_node" >"$work/said.$job_node"
		running=$((running + 1))
	done
	while [ "$running" -gt 0 ]; do
		end_of_job
	done
	wait
	for job_node; do
		shift
		set -- "$@" "$work/said.$job_node"
	done
	[ $# -eq 0 ] || cat "$@"
}

# A signal ends the reading; then it is done again.
end_of_job()
{
	until read -r event _ <&7 && [ "$event" = end ]; do
		:
	done
	running=$((running - 1))
}

# Something long that an interrupt is to end: interruptible NAME COMMAND...
# The command has our standard input, which the shell takes from background jobs.
interruptible()
{
	waiting_file=$work/waiting/$1
	shift
	exec 3<&0
	"$@" <&3 3<&- &
	waiting_pid=$!
	exec 3<&-
	echo "$waiting_pid" >"$waiting_file"
	[ ! -f "$work/interrupted" ] || kill -s TERM "$waiting_pid" 2>/dev/null
	wait "$waiting_pid"
	interruptible_status=$?
	rm -f "$waiting_file"
	return "$interruptible_status"
}
