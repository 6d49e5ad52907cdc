# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
#
# The steps of a batch as jobs of Slurm. Where a run directory is on a file system that all
# nodes have, extract and merge are job arrays, a task a node of the run. With NODE=PATH
# they are a job a node, which runs there (-w) and goes by Slurm's name of it.
#
# Between extract and sync stands afterany: a node that fails must not keep the others, and
# sync takes what is there. Between sync and merge stands afterok: without a clock map there
# is nothing to do. join is afterany again.

slurm_all()
{
	command -v sbatch >/dev/null 2>&1 || fail 'sbatch: not found; install Slurm'
	slurm_jobs=
	slurm_on_nodes extract is_extracted ''
	extracting=$submitted
	if [ -n "$extracting" ] || ! is_synced; then
		submit sync "${extracting:+afterany:$extracting}" ''
		syncing=$submitted
		slurm_on_nodes merge is_never "afterok:$syncing"
		submitted=$submitted:$syncing
	else
		slurm_on_nodes merge is_merged ''
	fi
	if [ -n "$submitted" ] || ! is_joined; then
		slurm_wait=--wait
		submit join "${submitted:+afterany:$submitted}" ''
	fi
	rm -f "$batch"/list.??????
	[ -z "$interrupted" ] || cancel_jobs
	end_if_interrupted
}

# After sync everything is made anew.
is_never()
{
	return 1
}

# slurm_on_nodes STEP DONE AFTER: for the nodes of which DONE is not true. Sets submitted.
slurm_on_nodes()
{
	slurm_list=$(mktemp "$batch/list.XXXXXX") || fail "cannot write at $batch"
	list_missing "$2" >"$slurm_list"
	slurm_count=$(wc -l <"$slurm_list")
	slurm_ids=
	slurm_first=1
	while [ "$slurm_first" -le "$slurm_count" ]; do
		if [ -n "$links" ]; then
			submit "$1" "$3" "--nodelist=$(sed -n "${slurm_first}p" "$slurm_list")" here
			slurm_first=$((slurm_first + 1))
		else
			find_array_size
			slurm_tasks=$((slurm_count - slurm_first + 1))
			[ "$slurm_tasks" -le "$array_size" ] || slurm_tasks=$array_size
			submit "$1" "$3" "--array=0-$((slurm_tasks - 1))" "$slurm_list" "$slurm_first"
			slurm_first=$((slurm_first + slurm_tasks))
		fi
		slurm_ids=$slurm_ids:$submitted
	done
	submitted=${slurm_ids#:}
}

# Set array_size to the limit of tasks in a job array.
find_array_size()
{
	array_size=$(scontrol show config 2>/dev/null |
		awk '$1 == "MaxArraySize" { print $3 }')
	case $array_size in
	'' | 0 | *[!0-9]*) array_size=1000 ;;
	esac
}

# submit STEP AFTER OPTION [ARGUMENT...]: sets submitted, the job's number.
submit()
{
	submit_step=$1
	submit_after=$2
	submit_option=$3
	shift 3
	set -- "$lib/batch-job.sh" "$bin" "$lib" "$run" "$out" "$submit_step" "$@"
	[ -z "$submit_option" ] || set -- "$submit_option" "$@"
	[ -z "$submit_after" ] ||
		set -- "--dependency=$submit_after" --kill-on-invalid-dep=yes "$@"
	eval "set -- $sbatch_words \"\$@\""
	interruptible submit sbatch --parsable ${slurm_wait:+"$slurm_wait"} \
		"--job-name=ctbatch-$submit_step" --nodes=1 --ntasks=1 "--chdir=$batch/log" \
		--output=slurm-%x-%A-%a.log "$@" >"$work/submitted" 2>"$work/sbatch.errors"
	submitted=
	! read -r submitted <"$work/submitted"
	submitted=${submitted%%;*}
	case $submitted in
	'' | *[!0-9]*)
		cancel_jobs
		end_if_interrupted
		fail "sbatch: $submit_step was not submitted: $(plain_lines <"$work/sbatch.errors")"
		;;
	esac
	slurm_jobs="$slurm_jobs $submitted"
}

cancel_jobs()
{
	# shellcheck disable=SC2086 # numbers
	[ -z "$slurm_jobs" ] || scancel $slurm_jobs 2>/dev/null
}
