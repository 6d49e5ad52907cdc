# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctexport.

# The options that a format has besides the common ones.
_ctexport_options()
{
	case $1 in
	opendc)
		echo '--tasks --interval --capacity --cpu-mhz --memory --no-kernel-threads'
		echo '--no-parents --schema --format'
		;;
	csv) echo '--table --query --partition --timestamps --jobs' ;;
	parquet) echo '--table --query --partition --timestamps --codec --level --row-group --jobs' ;;
	graphite)
		echo '--to --pickle --prefix --activity --interval --batch --retry --state'
		echo '--dashboard'
		;;
	json) echo '--events' ;;
	tracekit) echo '--stage' ;;
	perfetto) echo '--format --tracks' ;;
	esac
}

# The words that an option of a format may have.
_ctexport_words()
{
	case "$1 $2" in
	'opendc --tasks') echo 'invocation process cgroup session comm' ;;
	'opendc --capacity') echo 'max p95 allocated' ;;
	'opendc --schema') echo 'v1 v2 v3 v4 v5' ;;
	'opendc --format') echo 'parquet csv' ;;
	'parquet --codec') echo 'zstd snappy none' ;;
	'parquet --timestamps') echo 'ns utc' ;;
	'csv --timestamps') echo 'ns iso' ;;
	'parquet --partition' | 'csv --partition') echo 'node class node,class' ;;
	'perfetto --format') echo 'proto json' ;;
	'perfetto --tracks')
		echo 'states cpus interrupts syscalls disks messages samples clocks tasks'
		;;
	esac
}

_ctexport()
{
	local word=$2 before=$3 format=${COMP_WORDS[1]}
	# Bash has = as a word of its own: --codec=z.
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'opendc parquet csv json graphite perfetto tracekit' -- "$word")
		return
	fi
	local words
	words=$(_ctexport_words "$format" "$before")
	if [[ $words ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		return
	fi
	case $before in
	--begin | --end | --node | --query | --table | --level | --row-group | \
		-j | --jobs | --to | --prefix | --activity | --batch | --retry | --stage | \
		--interval | --cpu-mhz | --memory | --events)
		return
		;;
	-o | --output | --state | --dashboard)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		local common='--output --force --begin --end --node --quiet'
		((COMP_CWORD > 1)) || common=
		mapfile -t COMPREPLY < <(compgen -W "$common --help --version
			$(_ctexport_options "$format")" -- "$word")
	else
		compopt -o default 2>/dev/null
	fi
} &&
	complete -F _ctexport ctexport
