# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctanalyze.

_ctanalyze()
{
	local word=$2 before=$3
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
	--begin | --end | --timerange | --node | --cpu | --procname | --tid | --pid | --min | --max | \
		--group | --interval | --limit | --sort | --table)
		return
		;;
	-o | --output | --sql)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--begin --end --timerange --node --cpu --procname
			--tid --pid --min --max --group --interval --stats --top --freq --log --limit
			--sort --table --format --sql --output --quiet --help --version' -- "$word")
	elif ((COMP_CWORD == 1)); then
		# The program knows its analyses.
		mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null |
			sed -n '/^analyses/,/^$/s/^  \([a-z-]*\) .*/\1/p')" -- "$word")
	else
		compopt -o default 2>/dev/null
	fi
} &&
	complete -F _ctanalyze ctanalyze
