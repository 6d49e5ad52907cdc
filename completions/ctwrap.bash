# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Bash completion of ctwrap.

_ctwrap()
{
	local word=$2 before=$3
	COMPREPLY=()
	case $before in
	--name | --enqueue-ns | --trace-id) return ;;
	--dir)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		compopt -o filenames 2>/dev/null
		return
		;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W '--name --enqueue-ns --trace-id --dir --help
			--version' -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	fi
} &&
	complete -F _ctwrap ctwrap
