# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2015,SC2034,SC2119,SC2120,SC2154
#
# ctcollect plan: what would run where, for each point. Nothing is touched.

do_plan()
{
	point=1
	point_count=1
	only=
	if given point; then
		only=$(option point)
		point=$only
	fi
	while [ "$point" -le "${only:-$point_count}" ]; do
		plan_of "$1" "$point" "$work/plan" || exit 1
		plan_point "$work/plan"
		show_point | plain_lines
		point=$((point + 1))
	done
	exit 0
}

show_point()
{
	plan_word "$work/plan" name
	[ "$point" -eq "${only:-1}" ] || printf '\n'
	printf 'point %s of %s: %s-YYYYmmdd-HHMMSS%s\n' "$point" "$point_count" "$answer" \
		"${suffix:+-$suffix}"
	while IFS= read -r plan_line; do
		with_words show_line "$plan_line"
	done <"$work/plan"
	show_events
}

# Events are many: as one list a domain.
show_events()
{
	for domain in kernel syscall userspace; do
		list=$(sed -n "s/^event $domain \\([^ ]*\\) .*/\\1/p" "$work/plan" | tr -d "'" | tr '\n' ' ')
		[ -z "$list" ] || {
			printf '  %s events:\n' "$domain"
			printf '%s\n' "${list% }" | fold -s -w 76 | sed 's/^/    /; s/ *$//'
		}
	done
}

show_line()
{
	kind=$1
	shift
	case $kind in
	node) show_node "$@" ;;
	ssh_gateway) [ -z "$1" ] || printf '  through %s\n' "$1" ;;
	channel) printf '  all nodes: lttng, %s channel, %s x %s bytes, %s\n' "$1" "$3" "$2" "$4" ;;
	sar) printf '  all nodes: sar every %s s%s\n' "$1" "${2:+, activities $2}" ;;
	capture) show_capture "$@" ;;
	process) printf '  all nodes: process samples every %s ms: %s\n' "$1" "$(shift; echo "$*")" ;;
	sensor) printf '  %s: sensor %s every %s ms: %s\n' "$1" "$2" "$3" "$4" ;;
	execute) printf '  %s: %s%s: %s\n' "${5:-this machine}" "${4:+sudo, }" "$2" "$6" ;;
	tasks) show_tasks "$@" ;;
	task) printf '    task %s: %s\n' "$2" "$4" ;;
	esac
}

show_node()
{
	node=$1
	where=${3:+$3@}$2${4:+:$4}
	shift 4
	printf '  node %s is %s%s\n' "$node" "$where" "${1:+, $*}"
}

show_capture()
{
	length=$1
	filter=$2
	shift 2
	printf '  all nodes: tcpdump of %s, %s bytes a packet%s\n' "$*" "$length" "${filter:+: $filter}"
}

show_tasks()
{
	name=$2
	policy=$3
	places=$4
	shift 7
	printf '  tasks %s, %s, %s at a time on each of: %s\n' "$name" "$policy" "$places" "$*"
}
