# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# Options of a script, from one table. A script defines
#
#   options     a function that prints the table, a line an option:
#               LETTER NAME ARGUMENT HELP..., "-" where there is no letter or
#               no argument
#   usage_line, about
#
# calls `parse_options "$@"`, and asks `option NAME [DEFAULT]`. --help and
# --version are answered here. What is no option is in $operands, a word each,
# quoted (common.sh) for `eval "set -- $operands"`. With operands_end=yes the first operand
# ends the options: $parsed words are to be shifted then.

program=${0##*/}
operands_end=no

fail()
{
	printf '%s: %s\n' "$program" "$(plain_text "$*")" >&2
	exit 1
}

misuse()
{
	printf '%s: %s\n' "$program" "$(plain_text "$*")" >&2
	printf 'Try "%s --help"\n' "$program" >&2
	exit 2
}

# Sets option_key, the variable of an option, without a process.
name_option()
{
	option_key=opt_${1%%-*}
	case $1 in
	*-*) option_key=${option_key}_${1#*-} ;;
	esac
}

# option NAME [DEFAULT]: what was given last.
option()
{
	name_option "$1"
	eval "printf '%s\\n' \"\${$option_key-\${2-}}\""
}

is_set()
{
	name_option "$1"
	eval "[ -n \"\${$option_key-}\" ]"
}

# The row of an option: sets row_name and row_argument.
find_row()
{
	while read -r row_letter row_name row_argument _; do
		[ "--$row_name" != "$1" ] && [ "-$row_letter" != "$1" ] || return 0
	done <<EOT
$option_table
EOT
	return 1
}

# A script may have an option_seen of its own: NAME VALUE, of each as it comes.
option_seen()
{
	:
}

set_option()
{
	name_option "$1"
	option_value=$2
	eval "$option_key=\$option_value"
	option_seen "$1" "$2"
}

# want_number NAME FROM TO [DEFAULT]: sets number.
want_number()
{
	number=$(option "$1" "${4:-}")
	case $number in
	'' | *[!0-9]* | 0?* | ??????????*) number=-1 ;;
	esac
	[ "$number" -ge "$2" ] && [ "$number" -le "$3" ] ||
		misuse "--$1 $(option "$1"): expected a number from $2 to $3"
}

# -p N, -pN, -nq, --name VALUE, --name=VALUE
parse_options()
{
	option_table=$(options)
	# The environment may have such variables.
	while read -r _ row_name _; do
		name_option "$row_name"
		unset "$option_key"
	done <<EOT
$option_table
EOT
	operands=
	parsed=$#
	while [ $# -gt 0 ]; do
		word=$1
		value=
		case $word in
		--)
			shift
			break
			;;
		--*=*)
			value="=${word#*=}"
			word=${word%%=*}
			;;
		--*) ;;
		-?*)
			value=${word#-?}
			word=${word%"$value"}
			;;
		*)
			[ "$operands_end" = no ] || break
			operands="$operands $(quote "$word")"
			shift
			continue
			;;
		esac
		shift
		find_row "$word" || misuse "$word: unknown option"
		case $row_argument,$word,$value in
		-,*,) set_option "$row_name" yes ;;
		-,--*) misuse "$word: takes no value" ;;
		-,*)
			set_option "$row_name" yes
			set -- "-$value" "$@"
			;;
		*,)
			[ $# -gt 0 ] || misuse "$word: expected a value"
			set_option "$row_name" "$1"
			shift
			;;
		*,--*) set_option "$row_name" "${value#=}" ;;
		*) set_option "$row_name" "$value" ;;
		esac
	done
	parsed=$((parsed - $#))
	for word; do
		operands="$operands $(quote "$word")"
	done
	! is_set help || show_help
	! is_set version || show_version
}

show_help()
{
	{
		printf 'Usage: %s\n%s\n\nOptions:\n' "$usage_line" "$about"
		options | while read -r letter name argument text; do
			case $letter in
			-) left="      --$name" ;;
			*) left="  -$letter, --$name" ;;
			esac
			[ "$argument" = - ] || left="$left=$argument"
			printf '%-30s %s\n' "$left" "$text"
		done
	} || fail 'cannot write the help'
	exit 0
}

show_version()
{
	# shellcheck disable=SC2154 # of version.sh
	printf '%s (clustertrace) %s\n' "$program" "$version" || fail 'cannot write the version'
	exit 0
}
