# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctexport.

# The options that a format has besides the common ones.
_ctexport_options()
{
	case $1 in
	csv) echo '--table --query --partition --timestamps --jobs' ;;
	parquet) echo '--table --query --partition --timestamps --codec --level --row-group --jobs' ;;
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
		mapfile -t COMPREPLY < <(compgen -W 'parquet csv' -- "$word")
		return
	fi
	case $before in
	--codec)
		mapfile -t COMPREPLY < <(compgen -W 'zstd snappy none' -- "$word")
		return
		;;
	--timestamps)
		mapfile -t COMPREPLY < <(compgen -W 'ns iso utc' -- "$word")
		return
		;;
	--partition)
		mapfile -t COMPREPLY < <(compgen -W 'node class node,class' -- "$word")
		return
		;;
	--begin | --end | --node | --query | --table | --level | --row-group | -j | --jobs)
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
