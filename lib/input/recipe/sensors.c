/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/near.h"
#include "input/recipe/presets.h"

/*
 * What sar does not have, or has only where it was built with libsensors. Each
 * command prints nothing where a node has no such thing. A metric's name is its
 * unit where it has one, which is how a timeline knows the unit.
 */
const struct recipe_sensor_preset recipe_sensor_presets[] = {
    {"battery", "charge, power and state of batteries", 30000,
     "for d in /sys/class/power_supply/*; do\n"
     "	[ -r \"$d/capacity\" ] || continue\n"
     "	n=${d##*/}\n"
     "	read -r v <\"$d/capacity\" && echo \"$n/percent $v\"\n"
     "	[ -r \"$d/power_now\" ] && read -r v <\"$d/power_now\" &&\n"
     "		echo \"$n/watts $((v / 1000000)).$((v / 100000 % 10))\"\n"
     "	s=\n"
     "	[ -r \"$d/status\" ] && read -r s <\"$d/status\"\n"
     "	case $s in Discharging) echo \"$n/discharging 1\" ;; *) echo \"$n/discharging "
     "0\" "
     ";; esac\n"
     "done\n"},
    {"boot", "when the node was booted, in seconds since the epoch", 300000,
     "awk '$1 == \"btime\" { print \"boot_seconds\", $2 }' /proc/stat\n"},
    {"connections", "TCP and UDP sockets by state", 20000,
     "cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '\n"
     "$4 == \"01\" { established++ } $4 == \"06\" { waiting++ } $4 == \"0A\" { "
     "listening++ }\n"
     "END {\n"
     "	print \"tcp_established\", established + 0\n"
     "	print \"tcp_time_wait\", waiting + 0\n"
     "	print \"tcp_listen\", listening + 0\n"
     "}'\n"
     "cat /proc/net/udp /proc/net/udp6 2>/dev/null | awk '$1 ~ /:$/ { n++ } END { print "
     "\"udp\", n + 0 }'\n"},
    {"disks", "how full file systems are", 30000,
     "df -P -k 2>/dev/null | awk 'NR > 1 && $1 ~ /^\\// && $(NF - 1) ~ /%$/ {\n"
     "	d = $1\n"
     "	sub(/^\\/dev\\//, \"\", d)\n"
     "	u = $(NF - 1)\n"
     "	sub(/%/, \"\", u)\n"
     "	print d \"/percent\", u\n"
     "	print d \"/free_kib\", $(NF - 2)\n"
     "}'\n"},
    {"energy", "energy used by processor packages and memory (RAPL)", 1000,
     "for d in /sys/class/powercap/intel-rapl:*; do\n"
     "	[ -r \"$d/energy_uj\" ] && [ -r \"$d/name\" ] || continue\n"
     "	n=${d##*/intel-rapl:}\n"
     "	read -r l <\"$d/name\" && read -r v <\"$d/energy_uj\" || continue\n"
     "	echo \"$l:$n/microjoules $v\"\n"
     "done\n"},
    {"fans", "speed of fans", 30000,
     "for f in /sys/class/hwmon/*/fan*_input; do\n"
     "	[ -r \"$f\" ] && read -r v <\"$f\" || continue\n"
     "	d=${f%/*} n=${f##*/}\n"
     "	read -r l <\"$d/name\" || l=${d##*/}\n"
     "	echo \"$l:${n%_input}/rpm $v\"\n"
     "done\n"},
    {"gpu", "NVIDIA GPUs by nvidia-smi: load, memory, temperature, power", 2000,
     "command -v nvidia-smi >/dev/null || exit 0\n"
     "nvidia-smi --query-gpu=index,utilization.gpu,utilization.memory,memory.used,"
     "memory.total,temperature.gpu,power.draw,clocks.sm,fan.speed "
     "--format=csv,noheader,nounits | awk -F ' *, *' '\n"
     "BEGIN { split(\"percent memory_busy_percent memory_used_mib memory_total_mib "
     "celsius watts sm_mhz fan_percent\", m, \" \") }\n"
     "$1 ~ /^[0-9]+$/ {\n"
     "	for (i = 2; i <= NF; i++)\n"
     "		if ($i ~ /^-?[0-9]+([.][0-9]+)?$/)\n"
     "			print $1 \"/\" m[i - 1], $i\n"
     "}'\n"},
    {"interfaces", "whether network interfaces are up, their speed and MTU", 30000,
     "for d in /sys/class/net/*; do\n"
     "	n=${d##*/}\n"
     "	[ -r \"$d/operstate\" ] && read -r s <\"$d/operstate\" || continue\n"
     "	case $s in up | unknown) echo \"$n/up 1\" ;; *) echo \"$n/up 0\" ;; esac\n"
     "	read -r v <\"$d/mtu\" && echo \"$n/mtu_bytes $v\"\n"
     "	{ read -r v <\"$d/speed\"; } 2>/dev/null && [ \"$v\" -gt 0 ] && echo "
     "\"$n/mbit_per_s $v\"\n"
     "done\n"
     ":\n"},
    {"slurm", "Slurm jobs by state, in all and on this node, by squeue", 30000,
     "command -v squeue >/dev/null || exit 0\n"
     "jobs=$(squeue -h -o %T 2>/dev/null) || exit 0\n"
     "printf '%s\\n' \"$jobs\" | awk 'NF { n[$1]++ }\n"
     "END {\n"
     "	n[\"RUNNING\"] += 0\n"
     "	n[\"PENDING\"] += 0\n"
     "	for (s in n)\n"
     "		print \"jobs_\" tolower(s), n[s]\n"
     "}' | sort\n"
     "squeue -h -t running -w \"$(uname -n | cut -d. -f1)\" -o %i 2>/dev/null |\n"
     "	awk 'END { print \"jobs_here\", NR }'\n"},
    {"temperatures", "temperatures of processors, disks and boards", 10000,
     "for f in /sys/class/hwmon/*/temp*_input; do\n"
     "	[ -r \"$f\" ] && { read -r v <\"$f\"; } 2>/dev/null || continue\n"
     "	d=${f%/*} n=${f##*/} s=\n"
     "	case $v in -*) s=- v=${v#-} ;; esac\n"
     "	read -r l <\"$d/name\" || l=${d##*/}\n"
     "	echo \"$l:${n%_input}/celsius $s$((v / 1000)).$((v / 100 % 10))\"\n"
     "done\n"
     "for d in /sys/class/thermal/thermal_zone*; do\n"
     "	[ -r \"$d/temp\" ] && { read -r v <\"$d/temp\"; } 2>/dev/null || continue\n"
     "	s=\n"
     "	case $v in -*) s=- v=${v#-} ;; esac\n"
     "	echo \"${d##*/}/celsius $s$((v / 1000)).$((v / 100 % 10))\"\n"
     "done\n"},
    {"users", "logged-in users and their sessions", 10000,
     "who | awk '{ n++; if (!($1 in u)) { u[$1]; m++ } }\n"
     "END { print \"sessions\", n + 0; print \"users\", m + 0 }'\n"},
    {0},
};

const struct recipe_sensor_preset *recipe_find_sensor(const char *name)
{
	const struct recipe_sensor_preset *preset = recipe_sensor_presets;

	for (; preset->name; preset++)
		if (strcmp(preset->name, name) == 0)
			return preset;
	return NULL;
}

const char *recipe_near_sensor(const char *name)
{
	const struct recipe_sensor_preset *preset = recipe_sensor_presets;
	enum { MOST = 32 };
	const char *names[MOST];
	size_t count = 0;

	for (; preset->name && count < MOST; preset++)
		names[count++] = preset->name;
	return near_find(name, names, count);
}
