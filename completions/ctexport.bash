# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctexport.

# The options that a format has besides the common ones.
_ctexport_options()
{
	case $1 in
	csv) echo '--query' ;;
	perfetto) echo '--format --tracks' ;;
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
		mapfile -t COMPREPLY < <(compgen -W 'csv perfetto' -- "$word")
		return
	fi
	case $before in
	--begin | --end | --node | --query)
		return
		;;
	--format)
		mapfile -t COMPREPLY < <(compgen -W 'proto json' -- "$word")
		return
		;;
	--tracks)
		mapfile -t COMPREPLY < <(compgen -W 'states cpus interrupts syscalls disks
			messages samples clocks tasks' -- "$word")
		return
		;;
	-o | --output)
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
