#!/usr/bin/env bash
#SBATCH --job-name=search
#SBATCH --array=1-8
#SBATCH --requeue
#SBATCH --open-mode=append
# A search of dpmcmc tune as a Slurm array, and what puts it together. The arguments are
# those of tune, and OUT is a folder that all nodes share (docs/sweeps.md). No record is read.
#
#   search="--records 30000 --features 6 --model logistic --epsilon 1 --delta 1e-6"
#   job=$(OUT=searches sbatch --parsable --export=ALL deploy/slurm-tune.sh shard $search)
#   OUT=searches sbatch --dependency=afterok:$job --array=1 --export=ALL deploy/slurm-tune.sh merge $search --out tuned.toml
set -euo pipefail
step=$1
shift
if [ "$step" = merge ]; then
  dpmcmc tune merge "$@" --journals "$OUT"
else
  dpmcmc tune "$@" --shard auto --journals "$OUT"
fi
