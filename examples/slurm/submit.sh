#!/bin/bash
# Analyse all points of a list with Slurm, then put their results together.
#
#   submit.sh POINTS OUT [OPTION OF SBATCH...]
#
#   submit.sh points.txt /shared/results --partition=capture
#   submit.sh rack7.txt /shared/results --constraint=rack7     where the files of these points are
#   MERGE=no submit.sh rack7.txt ...                            no merge behind it: other lists follow
#   WAIT=yes submit.sh ...                                      wait, and exit as merge does
#
# merge begins when all tasks have ended, failed ones as well (afterany): it says which points have no
# result. At most AT_ONCE tasks, 100 if not set, run at the same time.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
POINTS=$(realpath "${1:?the list of points}") OUT=$(realpath -m "${2:?the folder for results}")
shift 2
export POINTS OUT
mkdir -p "$OUT/log"
count=$(grep -cE '^[[:space:]]*[^#[:space:]]' "$POINTS")
array=$(sbatch --parsable --array="0-$((count - 1))%${AT_ONCE:-100}" --output="$OUT/log/%A_%a.txt" "$@" "$here/analyze.sbatch")
echo "$count points: job $array"
[ "${MERGE:-yes}" = yes ] || exit 0
merge=(sbatch --parsable --dependency="afterany:${array%%;*}" --output="$OUT/log/merge-%j.txt")
if [ "${WAIT:-no}" = yes ]; then
	merge+=(--wait)
fi
"${merge[@]}" "$here/merge.sbatch"
