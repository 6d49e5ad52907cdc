# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctanalyze.

_ctanalyze()
{
	local word=$2 before=$3 analysis=
	# Bash has = as a word of its own: --format=csv.
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	COMPREPLY=()
	case $before in
	--format)
		mapfile -t COMPREPLY < <(compgen -W 'table csv json markdown' -- "$word")
		return
		;;
	--begin | --end | --events | --timerange | --node | --cpu | --procname | --tid | --pid | --min | --max | \
		--minsize | --maxsize | --irq | --softirq | --group | --interval | --limit | --sort | --table | --metric | --item | --alias | --measure | \
		--from | --to | --request)
		return
		;;
	--print-sql)
		mapfile -t COMPREPLY < <(compgen -W 'sqlite duckdb spark' -- "$word")
		return
		;;
	-o | --output | --sql | --plot)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		# The program knows its analyses, and what each of them heeds.
		((COMP_CWORD == 1)) || analysis=${COMP_WORDS[1]}
		mapfile -t COMPREPLY < <(compgen -W "$("$1" ${analysis:+"$analysis"} --help 2>/dev/null |
			sed -n 's/^ .*\(--[a-z][a-z-]*\).*/\1/p')" -- "$word")
	elif ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null |
			sed -n '/^Analyses:/,/^$/s/^  \([a-z-]*\) .*/\1/p')" -- "$word")
	else
		compopt -o default 2>/dev/null
	fi
} &&
	complete -F _ctanalyze ctanalyze
