#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A job of Slurm: one step of a batch, on the node that Slurm put it on.
#
#   batch-job.sh BIN LIB RUN OUT STEP [here | FILE FIRST]
#
# `here`: the node is that of Slurm's name, and its data on its own disk. Else its name is
# a line of FILE, FIRST and the number within the job array beyond.
# shellcheck disable=SC2034 # of batch.sh
set -u
LC_ALL=C
export LC_ALL
bin=$1
lib=$2
run=$3
out=$4
step=$5
shift 5
PATH=$bin:$PATH
export PATH
batch=$out.work
lists=$batch
perform=run_logged
# shellcheck source=/dev/null # linted by itself
. "$lib/batch.sh"

node=
case $step-${1:-} in
sync- | join-) ;;
*-here) node=${SLURMD_NODENAME:?} ;;
*) node=$(sed -n "$(($2 + SLURM_ARRAY_TASK_ID))p" "$1") ;;
esac
"step_$step" ${node:+"$node"}
