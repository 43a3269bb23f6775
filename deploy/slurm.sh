#!/usr/bin/env bash
#SBATCH --job-name=sweep
#SBATCH --array=1-16
#SBATCH --requeue
#SBATCH --open-mode=append
# A sweep of dpmcmc compare as a Slurm array, and what puts it together. CONFIG is the
# experiment and OUT a folder that all nodes share. docs/sweeps.md says what private data
# need first.
#
#   job=$(CONFIG=exp.toml OUT=cmp sbatch --parsable --export=ALL deploy/slurm.sh)
#   CONFIG=exp.toml OUT=cmp sbatch --dependency=afterok:$job --array=1 --export=ALL deploy/slurm.sh merge
set -euo pipefail
if [ "${1:-shard}" = merge ]; then
  dpmcmc compare merge --config "$CONFIG" --out "$OUT"
else
  dpmcmc compare --config "$CONFIG" --shard auto --out "$OUT"
fi
